#include "compiler/driver/Session.h"

#include "compiler/diag/Consumers.h"
#include "compiler/diag/Kinds.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Drawing.h"
#include "compiler/driver/Explain.h"
#include "compiler/driver/Library.h"
#include "compiler/driver/PlanWords.h"
#include "compiler/driver/Refine.h"
#include "compiler/driver/Remedies.h"
#include "compiler/driver/Verdicts.h"
#include "compiler/lint/Lints.h"
#include "compiler/sema/Elaborate.h"
#include "compiler/sema/ModulePrinter.h"
#include "compiler/sema/Units.h"
#include "compiler/source/ImportResolver.h"
#include "compiler/syntax/ParseFile.h"
#include "runtime/report/Trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace planc::driver {

namespace {

struct StageName {
  Stage stage;
  std::string_view name;
};
constexpr std::array<StageName, 8> kStages = {{{Stage::Ast, "ast"},
                                               {Stage::Sema, "sema"},
                                               {Stage::Graph, "graph"},
                                               {Stage::Sharded, "sharded"},
                                               {Stage::Stages, "stages"},
                                               {Stage::Program, "program"},
                                               {Stage::Schedule, "schedule"},
                                               {Stage::Timeline, "timeline"}}};

} // namespace

std::optional<Stage> stageFromName(std::string_view name) {
  for (const StageName &stage : kStages)
    if (stage.name == name)
      return stage.stage;
  return std::nullopt;
}

std::vector<std::string_view> stageNames() {
  std::vector<std::string_view> names;
  for (const StageName &stage : kStages)
    names.push_back(stage.name);
  return names;
}

struct Session::State {
  explicit State(Options given)
      : options(std::move(given)), resolver(sources), emitter(captured) {
    if (options.library != nullptr)
      Library::addTo(resolver);
    for (std::size_t i = 0; i < options.firstOrigin; ++i)
      compilation.origins.add(source::SourceSpan());
  }

  Options options;
  source::SourceSet sources;
  source::ImportResolver resolver;
  ast::Arena arena;
  diag::CaptureConsumer captured;
  diag::Emitter emitter;
  const ast::File *mainFile = nullptr;
  Compilation compilation;
  Outcome outcome = Outcome::Ok;

  bool load();
  void compileTo(std::optional<Stage> last);
  /// On from the programs, which are there.
  void runPrograms();
  void lint();
  void reportFailure(diag::Kind kind, const Failure &failure);
  void conclude();
  void findRemedies();
  TryClauses trying();

private:
  std::optional<source::FileId> openMain();
  void concludeWith(const std::optional<Failure> &failure);
  Options variant(const std::string &clauses) const;
  static std::optional<report::Remedy> compileVariant(const Options &options);

  std::optional<source::FileId> mainId_;
};

std::optional<source::FileId> Session::State::openMain() {
  if (!options.root.empty())
    resolver.setRoot(options.root, options.root);
  if (options.reader)
    resolver.setReader(options.reader);
  if (options.text)
    resolver.addMemoryFile(options.file, *options.text);
  source::LoadResult loaded = options.text || options.reader
                                  ? resolver.loadFile(options.file)
                                  : resolver.loadMain(options.file);
  if (auto *id = std::get_if<source::FileId>(&loaded))
    return *id;
  const auto &failure = std::get<source::LoadFailure>(loaded);
  diag::Kind kind = failure.error == source::LoadError::NotFound
                        ? diag::Kind::FileNotFound
                    : failure.error == source::LoadError::TooLarge
                        ? diag::Kind::FileTooLarge
                        : diag::Kind::FileNotReadable;
  emitter.report({}, kind, "cannot read `{}`: {}", options.file, failure.text);
  outcome = kind == diag::Kind::FileTooLarge ? Outcome::Illegal
                                             : Outcome::Environment;
  return std::nullopt;
}

bool Session::State::load() {
  std::optional<source::FileId> main = openMain();
  if (!main)
    return false;
  mainId_ = main;
  auto parse = [&](source::FileId file) -> const ast::File * {
    const ast::File *parsed =
        options.library != nullptr ? options.library->find(file) : nullptr;
    if (parsed == nullptr)
      parsed = syntax::parseFile(file, sources, arena, emitter);
    if (file == *main)
      mainFile = parsed;
    return parsed;
  };
  compilation.program =
      sema::Program::load(*main, {&sources, &resolver, parse, &emitter});
  if (!compilation.program)
    conclude();
  return compilation.program != nullptr;
}

/// The outcome that the diagnostics and the report amount to.
void Session::State::conclude() {
  emitter.finish();
  if (emitter.hasErrors())
    outcome = outcomeOf(emitter.failure());
}

void Session::State::compileTo(std::optional<Stage> last) {
  concludeWith(compile(compilation, options, last, emitter));
}

void Session::State::runPrograms() {
  concludeWith(simulate(compilation, options, std::nullopt));
}

/// The bounds that a lint may need are made where it may have something to say.
void Session::State::lint() {
  Compilation &c = compilation;
  if (!c.report->orders &&
      lint::exposedShare(*c.report, program::CommunicationKind::Gradients) >=
          lint::kWorthSaying) {
    Options made = options;
    made.asides = Options::Asides::Made;
    if (const auto failure = simulate(c, made, std::nullopt))
      return concludeWith(failure);
  }
  lint::lint({*c.module, *c.sharded, *c.report, c.origins}, emitter);
}

void Session::State::concludeWith(const std::optional<Failure> &failure) {
  if (failure) {
    diag::Kind kind = failure->kind == FailureKind::Internal
                          ? diag::Kind::InternalError
                          : diag::Kind::CannotSimulate;
    reportFailure(kind, *failure);
  }
  conclude();
}

/// At its own place, else at the plan's; what virtual time could not count with
/// the numbers of the machine that make steps long.
void Session::State::reportFailure(diag::Kind kind, const Failure &failure) {
  const Compilation &c = compilation;
  OriginId origin = failure.origin;
  if (!origin.isValid() && c.module)
    origin = c.module->plan.origin;
  auto builder = emitter.report(origin.isValid() ? c.origins[origin].span
                                                 : source::SourceSpan(),
                                kind, "{}", failure.text);
  if (kind != diag::Kind::CannotSimulate || !c.module)
    return;
  const hardware::Cluster &cluster = c.module->cluster;
  const auto slowest =
      std::min_element(cluster.levels.begin(), cluster.levels.end(),
                       [](auto &a, auto &b) { return a.link < b.link; });
  if (slowest != cluster.levels.end())
    builder.note(
        "the slowest link of `{}` is that of `{}`: {}", cluster.name,
        slowest->name,
        sema::formatQuantity(slowest->link.toDouble(), sema::kByteRate));
  builder.help("look at units: `GB/s` is a thousand million bytes a second");
}

/// The plan with more clauses, as text: what a user would write.
Options Session::State::variant(const std::string &clauses) const {
  constexpr std::string_view kName = "planc_remedy";
  const std::filesystem::path path(options.file);
  Options out = options;
  out.file = path.filename().string();
  if (out.root.empty() && !options.text)
    out.root = path.has_parent_path() ? path.parent_path().string() : ".";
  out.text = fmt::format("{}\nplan {} = {} with {{\n{}\n}}\n",
                         sources[*mainId_].text(), kName,
                         compilation.module->plan.name, clauses);
  out.planName = kName;
  out.verify = Options::Verify::Off;
  out.asides = Options::Asides::Skipped;
  return out;
}

/// As far as its memory; to the end only where that fits.
std::optional<report::Remedy>
Session::State::compileVariant(const Options &options) {
  report::Remedy out;
  State state(options);
  if (!state.load())
    return std::nullopt;
  state.compileTo(Stage::Program);
  if (state.outcome != Outcome::Ok || !state.compilation.programs)
    return std::nullopt;
  const hardware::Cluster &cluster = state.compilation.module->cluster;
  for (const program::RankProgram &code : state.compilation.programs->classes)
    out.peak = std::max(out.peak, code.memory.total());
  if (out.peak > cluster.usableMemory())
    return out;
  state.runPrograms();
  if (state.outcome != Outcome::Ok || !state.compilation.report)
    return std::nullopt;
  // What no longer fits on the host is no way out.
  if (state.compilation.report->memory.fit == report::Fit::DoesNotFit)
    return std::nullopt;
  out.stepTime = state.compilation.report->stepTime;
  return out;
}

void Session::State::findRemedies() {
  report::MemoryReport &memory = compilation.report->memory;
  if (memory.fit != report::Fit::DoesNotFit || memory.hostOverflows() ||
      options.asides == Options::Asides::Skipped)
    return;
  driver::findRemedies(compilation, trying(), memory);
}

TryClauses Session::State::trying() {
  return [this](const std::string &clauses) {
    std::optional<report::Remedy> tried = compileVariant(variant(clauses));
    if (tried)
      tried->change = clauses;
    return tried;
  };
}

Session::Session(Options options)
    : state_(std::make_unique<State>(std::move(options))) {}
Session::~Session() = default;

std::vector<std::string> Session::planNames() {
  Compilation &c = state_->compilation;
  std::vector<std::string> names;
  if (!c.program && !state_->load())
    return names;
  for (const sema::PlanInfo &plan : sema::plansOf(*c.program, c.origins))
    if (!plan.hasFormals)
      names.push_back(plan.name);
  return names;
}

const std::string &Session::planName() const {
  const Compilation &c = state_->compilation;
  return c.module ? c.module->plan.name : state_->options.planName;
}

Outcome Session::check() {
  State &state = *state_;
  if (!state.load())
    return state.outcome;
  Compilation &c = state.compilation;
  std::vector<std::string> names;
  if (!state.options.planName.empty())
    names.push_back(state.options.planName);
  else
    names = planNames();
  if (names.empty())
    names.push_back(""); // says that there is no plan
  for (const std::string &name : names)
    c.module = sema::elaborate(*c.program, {name, state.options.overrides},
                               c.origins, state.emitter);
  state.conclude();
  return state.outcome;
}

Outcome Session::elaborate() {
  if (state_->load())
    state_->compileTo(Stage::Sema);
  return state_->outcome;
}

Outcome Session::run() {
  State &state = *state_;
  if (!state.load())
    return state.outcome;
  state.compileTo(std::nullopt);
  if (state.outcome != Outcome::Ok || !state.compilation.report)
    return state.outcome;
  state.findRemedies();
  state.outcome =
      reportVerdicts(state.compilation, state.options, state.emitter);
  if (state.options.lints == Options::Lints::On &&
      state.outcome != Outcome::Infeasible)
    state.lint();
  return state.outcome;
}

const report::Report *Session::report() const {
  return state_->compilation.report ? &*state_->compilation.report : nullptr;
}

report::Explanation Session::explain() const {
  return driver::explain(state_->compilation, state_->options);
}

std::vector<report::PlanChange> Session::planChanges() const {
  return changesThatHelp(state_->compilation, state_->trying());
}

std::optional<std::string> Session::emit(Stage stage) {
  State &state = *state_;
  if (!state.load())
    return std::nullopt;
  if (stage == Stage::Ast)
    return ast::printAst(*state.mainFile);
  state.compileTo(stage);
  if (state.outcome != Outcome::Ok)
    return std::nullopt;
  const Compilation &c = state.compilation;
  switch (stage) {
  case Stage::Ast:
    break;
  case Stage::Sema:
    return sema::printModule(*c.module);
  case Stage::Graph:
    return graph::toText(*c.graph);
  case Stage::Sharded:
    return shard::toText(*c.sharded);
  case Stage::Stages:
    return pipeline::toText(*c.stages) + recomputeText(c.bodies, *c.stages);
  case Stage::Program:
    return program::toText(*c.programs);
  case Stage::Schedule:
    return sim::toText(c.runs->order, *c.programs);
  case Stage::Timeline:
    return timeline::toText(c.runs->chosen, *c.programs);
  }
  return std::nullopt;
}

std::string Session::trace() const {
  const Compilation &c = state_->compilation;
  report::TraceOptions options;
  options.memory = memoryCurves(c);
  return report::toTrace(*c.programs, c.runs->chosen, options);
}

report::Picture Session::picture() const {
  return makePicture(state_->compilation, state_->options);
}

std::vector<report::Assumption> Session::assumptions() const {
  return assumptionsOf(state_->compilation);
}

const Compilation &Session::compilation() const { return state_->compilation; }

const Options &Session::options() const { return state_->options; }

const std::vector<diag::Diagnostic> &Session::diagnostics() const {
  return state_->captured.diagnostics;
}
const source::SourceSet &Session::sources() const { return state_->sources; }
std::vector<std::string> Session::files() const {
  std::vector<std::string> names;
  const Library *library = state_->options.library;
  for (std::size_t i = 0; i < sources().size(); ++i)
    if (const source::FileId id(i); library == nullptr || !library->find(id))
      names.push_back(sources()[id].name());
  return names;
}
Outcome Session::outcome() const { return state_->outcome; }

} // namespace planc::driver
