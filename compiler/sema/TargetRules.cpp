#include "compiler/sema/TargetRules.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/Fields.h"
#include "compiler/sema/TargetTrials.h"
#include "runtime/base/Checked.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

std::optional<TargetUse> findTarget(Elaboration &elaboration,
                                    const PlanText &text) {
  for (const Said<ast::Clause> &said : text.others) {
    auto *clause = llvm::dyn_cast<ast::TargetClause>(said.node);
    if (!clause)
      continue;
    Evaluator evaluator(elaboration, *said.scope.file, said.scope.locals.get());
    std::string_view name = evaluator.word(clause->name);
    if (name == "none")
      return TargetUse();
    Symbol symbol = said.scope.file->find(name);
    if (!symbol || !llvm::isa<ast::TargetDecl>(symbol.decl))
      symbol = elaboration.program().standardTarget(name);
    if (symbol)
      return TargetUse{llvm::cast<ast::TargetDecl>(symbol.decl), symbol.home,
                       clause->span};
    std::vector<std::string_view> names =
        elaboration.program().standardTargets();
    for (const Symbol &own : said.scope.file->own())
      if (llvm::isa<ast::TargetDecl>(own.decl))
        names.push_back(own.decl->name.text);
    std::string list;
    for (std::string_view each : names)
      list += fmt::format("{}{}", list.empty() ? "" : ", ", each);
    elaboration.emitter()
        .report(clause->name.span, Kind::UnknownName,
                "no target is called `{}`", name)
        .help("there are {}", list)
        .suggest(clause->name.span, diag::nearestName(name, names));
    return std::nullopt;
  }
  return TargetUse();
}

TargetRules::TargetRules(Elaboration &elaboration, const PlanText &text,
                         const ops::Model &model, const Plan &plan)
    : elaboration_(elaboration), text_(text), model_(model), plan_(plan) {
  auto use = findTarget(elaboration, text);
  if (!use || !*use)
    return;
  use_ = *use;
  subjects_ = targetSubjects(model);
  isRead_ = read();
}

// --- the declaration ---------------------------------------------------------

bool TargetRules::read() {
  std::vector<FieldReader> readers = {
      {"version",
       [&](const ast::Field &field) {
         const ast::Expr *value = singleValue(elaboration_, field);
         auto *version = llvm::dyn_cast_or_null<ast::TextExpr>(value);
         if (version)
           version_ = version->value;
         else if (value)
           elaboration_.emitter().report(value->span, Kind::TypeMismatch,
                                         "`version` takes a text");
         return version != nullptr;
       }},
      {"pads",
       [&](const ast::Field &field) {
         bool isSound = field.isKeyed();
         for (const ast::Argument &entry : field.values) {
           paddings_.push_back({entry.name.text, entry.value});
           isSound = isSound && entry.name.text == "vocab";
         }
         if (!isSound)
           elaboration_.emitter().report(field.span, Kind::TypeMismatch,
                                         "`pads` takes `vocab = MULTIPLE`");
         return isSound;
       }},
  };
  bool isSound =
      readFields(elaboration_, "a target", use_.decl->fields, readers);
  std::set<std::string_view> seen;
  for (const ast::Rule &rule : use_.decl->rules) {
    if (!seen.insert(rule.name.text).second) {
      elaboration_.emitter().report(rule.name.span, Kind::DuplicateField,
                                    "two rules of `{}` are called `{}`", name(),
                                    rule.name.text);
      isSound = false;
    }
    isSound = readRule(rule) && isSound;
  }
  return isSound;
}

bool TargetRules::readRule(const ast::Rule &rule) {
  RuleText out;
  out.rule = &rule;
  auto reader = [&](std::string_view name, const ast::Expr *&place) {
    return FieldReader{name, [&](const ast::Field &field) {
                         place = singleValue(elaboration_, field);
                         return place != nullptr;
                       }};
  };
  std::vector<FieldReader> readers = {
      reader("when", out.when), reader("needs", out.needs),
      reader("says", out.says), reader("help", out.help),
      reader("source", out.source)};
  if (!readFields(elaboration_, "a rule", rule.fields, readers))
    return false;
  for (auto [name, value] :
       {std::pair("needs", out.needs), std::pair("says", out.says)})
    if (!value) {
      elaboration_.emitter().report(rule.name.span, Kind::MissingField,
                                    "the rule `{}` has no `{}`", rule.name.text,
                                    name);
      return false;
    }
  rules_.push_back(out);
  return true;
}

// --- checking ----------------------------------------------------------------

bool TargetRules::check() {
  if (!use_)
    return true;
  if (!isRead_)
    return false;
  constexpr std::size_t kMostRefusals = 8;
  std::size_t before = elaboration_.emitter().reportedErrors(), refusals = 0;
  for (const RuleText &rule : rules_)
    if (refusals < kMostRefusals)
      refusals += !checkRule(rule);
  if (elaboration_.emitter().reportedErrors() != before)
    return false;
  sayPadding();
  return true;
}

std::optional<bool> TargetRules::holds(Elaboration &elaboration,
                                       const FileScope &home,
                                       const RuleText &rule, TargetHost &host) {
  Evaluator evaluator(elaboration, home, nullptr, &host);
  if (rule.when) {
    auto applies = evaluator.boolean(*rule.when, "`when`");
    if (!applies || !*applies || host.isAbsent())
      return std::nullopt;
  }
  auto isMet = evaluator.boolean(*rule.needs, "`needs`");
  return host.isAbsent() ? std::nullopt : isMet;
}

bool TargetRules::checkRule(const RuleText &rule) {
  for (const TargetSubject &subject : subjects_) {
    TargetHost host(elaboration_, subject, plan_);
    auto isMet = holds(elaboration_, *use_.home, rule, host);
    if (isMet && !*isMet) {
      report(rule, subject);
      return false;
    }
  }
  return true;
}

std::string TargetRules::textOf(const ast::Expr &expr, TargetHost &host) {
  Value value =
      Evaluator(elaboration_, *use_.home, nullptr, &host).evaluate(expr);
  auto one = [](const Value &part) {
    auto *text = part.as<std::string>();
    return text ? *text : describe(part);
  };
  auto *list = value.as<List>();
  if (!list)
    return value.isPoison() ? std::string() : one(value);
  std::string out;
  for (const Value &part : *list->items)
    out += one(part);
  return out;
}

/// The first thing that the rule asked for and that the plan's author wrote.
SourceSpan TargetRules::placeOf(const std::vector<TargetHost::Read> &reads) {
  for (const TargetTrials::Knob &knob : TargetTrials(*this).knobsOf(reads))
    if (knob.place.isValid() && places_.insert(knob.place.begin).second)
      return knob.place;
  return use_.clause;
}

void TargetRules::report(const RuleText &rule, const TargetSubject &subject) {
  TargetHost host(elaboration_, subject, plan_); // what `needs` alone asks for
  Evaluator(elaboration_, *use_.home, nullptr, &host)
      .boolean(*rule.needs, "`needs`");
  std::vector<TargetHost::Read> reads = host.reads();
  std::string numbers;
  for (const TargetHost::Read &read : reads)
    numbers += fmt::format("{}`{}` = {}", numbers.empty() ? "" : ", ",
                           read.text, read.value);
  TargetHost forTexts(elaboration_, subject, plan_);
  std::string says = textOf(*rule.says, forTexts);
  std::string help = rule.help ? textOf(*rule.help, forTexts) : "";
  std::string source = rule.source ? textOf(*rule.source, forTexts) : "";
  std::string version = version_.empty() ? std::string(name()) : version_;
  auto builder =
      elaboration_.emitter().report(placeOf(reads), Kind::TargetRefuses,
                                    "`{}` refuses this: {}", name(), says);
  builder.note(use_.clause, "the plan is for `{}`", name());
  if (!numbers.empty())
    builder.note("{}", numbers);
  builder.note(rule.rule->name.span, "rule `{}` of {}{}{}",
               rule.rule->name.text, version, source.empty() ? "" : ": ",
               source);
  TargetTrials trials(*this);
  for (const TargetTrials::Knob &knob : trials.knobsOf(reads))
    if (auto advice = trials.adviceOn(knob))
      builder.help("{}", *advice);
  if (!help.empty())
    builder.help("{}", help);
}

// --- padding -----------------------------------------------------------------

std::optional<std::int64_t> TargetRules::padded(ops::DimId dim) const {
  if (!use_ || !isRead_)
    return std::nullopt;
  const TargetSubject &subject = subjects_.front();
  if (!subject.vocab || *subject.vocab != dim)
    return std::nullopt;
  for (const Padding &padding : paddings_) {
    TargetHost host(elaboration_, subject, plan_);
    auto multiple = Evaluator(elaboration_, *use_.home, nullptr, &host)
                        .atLeast(*padding.multiple, "`pads`", 1);
    std::int64_t size = model_.dims[dim].size;
    auto above = multiple ? checkedAdd(size, *multiple - 1) : std::nullopt;
    if (above)
      return *above / *multiple * *multiple;
  }
  return std::nullopt;
}

void TargetRules::sayPadding() {
  const auto &vocab = subjects_.front().vocab;
  auto size = vocab ? padded(*vocab) : std::nullopt;
  if (!size || *size == model_.dims[*vocab].size)
    return;
  const ops::Dim &dim = model_.dims[*vocab];
  std::string name(ops::fullName(dim));
  elaboration_.emitter()
      .report(use_.clause, Kind::TargetPads,
              "`{}` pads `{}` from {} to {}, this plan does not",
              use_.decl->name.text, name, dim.size, *size)
      .help("give the model a `{}` of {} to count what it adds", name, *size);
}

} // namespace planc::sema
