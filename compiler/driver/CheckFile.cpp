#include "compiler/driver/CheckFile.h"

#include "compiler/diag/Consumers.h"
#include "compiler/diag/Kinds.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Library.h"
#include "compiler/lint/Silence.h"
#include "compiler/sema/Elaborate.h"
#include "compiler/syntax/ParseFile.h"

#include <llvm/Support/Casting.h>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace planc::driver {

namespace {

/// Lets the first few of each kind through, and counts the others.
class FirstOfEachKind : public diag::Consumer {
public:
  explicit FirstOfEachKind(std::map<diag::Kind, std::size_t> &unlisted)
      : unlisted_(unlisted) {}

  void handle(const diag::Diagnostic &d) override {
    if (d.severity() == diag::Severity::Error ||
        ++said_[d.kind] <= CheckedFile::kMostOfAKind)
      kept.push_back(d);
    else
      ++unlisted_[d.kind];
  }
  void handleSuppressed(std::size_t) override {}

  std::vector<diag::Diagnostic> kept;

private:
  std::map<diag::Kind, std::size_t> &unlisted_;
  std::map<diag::Kind, std::size_t> said_;
};

class Checker {
public:
  explicit Checker(const Options &options) : options_(options) {
    options_.asides = Options::Asides::Skipped;
    options_.lints = Options::Lints::On;
  }

  CheckedFile run() {
    out_.session = std::make_unique<Session>(options_);
    out_.outcome = out_.session->check();
    take(*out_.session, "");
    forgivePlanless();
    if (out_.outcome == Outcome::Ok)
      for (const std::string &name : names())
        compile(name);
    silence();
    std::stable_sort(
        out_.diagnostics.begin(), out_.diagnostics.end(),
        [](const auto &a, const auto &b) { return placeOf(a) < placeOf(b); });
    limit();
    return std::move(out_);
  }

private:
  /// What has no place comes first; then the file itself, then what it imports.
  static std::tuple<bool, std::size_t, std::uint32_t>
  placeOf(const diag::Diagnostic &d) {
    if (!d.span.isValid())
      return {false, 0, 0};
    return {true, d.span.file.index(), d.span.begin};
  }

  /// A file of clusters, models or recipes alone is there to be imported.
  void forgivePlanless() {
    const auto isPlanless = [](const diag::Diagnostic &d) {
      return d.kind == diag::Kind::NoPlan;
    };
    if (options_.planName.empty() &&
        std::erase_if(out_.diagnostics, isPlanless) != 0 &&
        std::none_of(out_.diagnostics.begin(), out_.diagnostics.end(),
                     [](const diag::Diagnostic &d) {
                       return d.severity() == diag::Severity::Error;
                     }))
      out_.outcome = Outcome::Ok;
  }

  std::vector<std::string> names() const {
    if (!options_.planName.empty())
      return {options_.planName};
    std::vector<std::string> out;
    source::OriginTable origins;
    for (const sema::PlanInfo &plan :
         sema::plansOf(*out_.session->compilation().program, origins))
      if (!plan.hasFormals)
        out.push_back(plan.name);
    return out;
  }

  void compile(const std::string &name) {
    Options options = options_;
    options.planName = name;
    Session session(options);
    out_.outcome = worse(out_.outcome, session.run());
    ++out_.plans;
    take(session, name);
  }

  /// Files have the same ids in every session: all import the same, in order.
  void take(const Session &session, const std::string &plan) {
    for (diag::Diagnostic d : session.diagnostics()) {
      const bool isError = d.severity() == diag::Severity::Error;
      if (!seen_
               .emplace(d.kind, d.span.file, d.span.begin, d.span.end,
                        isError ? plan : "")
               .second)
        continue;
      if (!plan.empty())
        d.contexts.push_back({"in plan `" + plan + "`", {}});
      out_.diagnostics.push_back(std::move(d));
    }
  }

  /// Users' files again, for their comments.
  void silence() {
    const source::SourceSet &sources = out_.sources();
    FirstOfEachKind said(out_.unlisted);
    diag::CaptureConsumer ignored;
    diag::Emitter emitter(said), parsing(ignored);
    ast::Arena arena;
    lint::Allowances allowances;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const source::FileId id(i);
      if (isLibrarys(id))
        continue;
      if (const auto *file = syntax::parseFile(id, sources, arena, parsing))
        allowances.read(*file, sources, emitter);
    }
    out_.silenced = std::erase_if(out_.diagnostics, [&](const auto &d) {
      return allowances.silences(d, sources);
    });
    if (!hasErrors())
      allowances.reportUnused(compiled(), sources, emitter);
    for (diag::Diagnostic &d : said.kept)
      out_.diagnostics.push_back(std::move(d));
  }

  /// The plans whose every diagnostic was asked for: those that run by
  /// themselves. Of one alone that is not known, as others may be made of it;
  /// nor of recipes and of what is imported, which other files compile.
  std::vector<source::SourceSpan> compiled() const {
    std::vector<source::SourceSpan> out;
    if (!options_.planName.empty())
      return out;
    const sema::Program &program = *out_.session->compilation().program;
    for (const ast::Decl *decl : program.main().file().decls)
      if (const auto *plan = llvm::dyn_cast<ast::PlanDecl>(decl);
          plan != nullptr && plan->formals.empty())
        out.push_back(plan->span);
    return out;
  }

  /// Of each kind the first few by place; the last of them says how many more
  /// there are.
  void limit() {
    FirstOfEachKind said(out_.unlisted);
    for (const diag::Diagnostic &d : out_.diagnostics)
      said.handle(d);
    out_.diagnostics = std::move(said.kept);
    std::map<diag::Kind, diag::Diagnostic *> last;
    for (diag::Diagnostic &d : out_.diagnostics)
      last[d.kind] = &d;
    for (const auto &[kind, count] : out_.unlisted)
      last.at(kind)->notes.push_back(
          {fmt::format("{} more `{}` {} not listed", count,
                       diag::infoOf(kind).name, count == 1 ? "is" : "are"),
           {}});
  }

  bool isLibrarys(source::FileId id) const {
    return options_.library != nullptr
               ? options_.library->find(id) != nullptr
               : out_.sources()[id].name().starts_with("std/");
  }

  bool hasErrors() const {
    return out_.outcome != Outcome::Ok &&
           out_.outcome != Outcome::ExpectationFailed;
  }

  Options options_;
  CheckedFile out_;
  std::set<std::tuple<diag::Kind, source::FileId, std::uint32_t, std::uint32_t,
                      std::string>>
      seen_;
};

} // namespace

CheckedFile checkFile(const Options &options) { return Checker(options).run(); }

} // namespace planc::driver
