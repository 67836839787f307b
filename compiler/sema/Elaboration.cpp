#include "compiler/sema/Elaboration.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/Evaluate.h"
#include "compiler/sema/Words.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

const Binding *Locals::findHere(std::string_view name) const {
  // The last of a name wins; scopes are small.
  for (auto at = bindings.rbegin(); at != bindings.rend(); ++at)
    if (at->name == name)
      return &*at;
  return nullptr;
}

const Binding *Locals::find(std::string_view name) const {
  for (const Locals *at = this; at; at = at->parent)
    if (const Binding *found = at->findHere(name))
      return found;
  return nullptr;
}

Elaboration::Elaboration(const Program &program, source::OriginTable &origins,
                         diag::Emitter &emitter)
    : program_(program), origins_(origins), emitter_(emitter) {}

OriginId Elaboration::origin(SourceSpan span, OriginId parent) {
  return origins_.add(span, parent);
}

SourceSpan Elaboration::spanOf(OriginId origin) const {
  return origin.isValid() ? origins_[origin].span : SourceSpan();
}

std::string_view Elaboration::text(SourceSpan span) const {
  return program_.sources().text(span);
}

std::uint32_t Elaboration::lineOf(SourceSpan span) const {
  return program_.sources().lineColumn(span).line;
}

std::string Elaboration::place(SourceSpan span) const {
  return fmt::format("{}:{}", program_.sources()[span.file].name(),
                     lineOf(span));
}

bool Elaboration::spendListItems(std::int64_t count, SourceSpan span) {
  constexpr std::int64_t kBudget = 4'000'000;
  listItems_ += count;
  if (listItems_ <= kBudget)
    return true;
  emitter_.report(span, Kind::ListTooLong,
                  "all lists together have more than {} items", kBudget);
  return false;
}

bool Elaboration::spendDivisions(std::int64_t count, SourceSpan span) {
  constexpr std::int64_t kBudget = 32'000'000;
  divisions_ += count;
  if (divisions_ <= kBudget)
    return true;
  emitter_.report(span, Kind::NumberOutOfRange,
                  "all `divisors` together take more than {} divisions",
                  kBudget);
  return false;
}

bool Elaboration::enter(const ast::Decl &decl, SourceSpan use) {
  auto at = std::find(active_.begin(), active_.end(), &decl);
  if (at == active_.end() && active_.size() >= kMaxActive) {
    emitter_.report(use, Kind::TooDeep,
                    "`{}` is at the end of a chain of more than {} definitions",
                    decl.name.text, kMaxActive);
    return false;
  }
  if (at == active_.end()) {
    active_.push_back(&decl);
    return true;
  }
  std::string chain;
  for (; at != active_.end(); ++at)
    chain += fmt::format("{} → ", (*at)->name.text);
  emitter_
      .report(use, Kind::CyclicDefinition, "`{}` is defined by itself",
              decl.name.text)
      .note(decl.name.span, "{}{}", chain, decl.name.text);
  return false;
}

void Elaboration::leave(const ast::Decl &decl) {
  active_.erase(std::find(active_.begin(), active_.end(), &decl));
}

Value Elaboration::valueOf(Symbol symbol, SourceSpan use) {
  const ast::Decl *decl = symbol.decl;
  auto *let = llvm::dyn_cast<ast::LetDecl>(decl);
  auto *param = llvm::dyn_cast<ast::ParamDecl>(decl);
  if (!let && !param)
    return DeclValue{decl, symbol.home};
  if (auto at = values_.find(decl); at != values_.end())
    return at->second;
  if (!enter(*decl, use))
    return Poison();
  Value value =
      let ? Evaluator(*this, *symbol.home, nullptr).evaluate(*let->value)
          : evaluateParam(*param, symbol);
  leave(*decl);
  values_[decl] = value;
  return value;
}

namespace {

/// May an override of this value stand for that default?
std::optional<Value> adapt(const Value &value, const Value &model) {
  auto *whole = value.as<std::int64_t>();
  if (whole && model.as<double>())
    return Value(static_cast<double>(*whole));
  if (auto *text = value.as<Word>(); text && model.as<std::string>())
    return Value(std::string(text->text));
  // `none` may stand for a number, and a number for `none`.
  auto *word = value.as<Word>();
  bool mayDiffer = (word && isWord(word->text)) || model.as<Word>();
  if (value.v.index() == model.v.index()
          ? dimensionOf(value) == dimensionOf(model)
          : mayDiffer)
    return value;
  return std::nullopt;
}

} // namespace

Value Elaboration::evaluateParam(const ast::ParamDecl &param, Symbol symbol) {
  Evaluator evaluator(*this, *symbol.home, nullptr);
  Value value = evaluator.evaluate(*param.defaultValue);
  if (value.isPoison() || !isInDomain(param, symbol, value))
    return Poison();
  auto set = overrides_.find(&param);
  if (set == overrides_.end())
    return value;
  std::optional<Value> given = parseLiteral(set->second);
  std::optional<Value> fitting = given ? adapt(*given, value) : std::nullopt;
  if (!fitting) {
    emitter_
        .report(SourceSpan(), Kind::BadOverride, "{} = `{}` is not {}",
                param.name.text, set->second, describeType(value))
        .note(param.span, "`{}` is {} here", param.name.text, describe(value));
    return Poison();
  }
  return isInDomain(param, symbol, *fitting) ? *fitting : Value();
}

bool Elaboration::isInDomain(const ast::ParamDecl &param, Symbol symbol,
                             const Value &value) {
  if (!param.domain)
    return true;
  Value domain =
      Evaluator(*this, *symbol.home, nullptr).evaluate(*param.domain);
  if (domain.isPoison())
    return false;
  if (auto *word = domain.as<Word>(); word && word->text == "legal")
    return true;
  bool isInside = false;
  if (auto *range = domain.as<Range>()) {
    auto *n = value.as<std::int64_t>();
    isInside = n && *n >= range->low && *n <= range->high;
  } else if (auto *list = domain.as<List>()) {
    isInside =
        std::any_of(list->items->begin(), list->items->end(),
                    [&](const Value &item) { return sameValue(item, value); });
  } else {
    emitter_.report(param.domain->span, Kind::TypeMismatch,
                    "`{}` is {}; a domain is a list, a range or `legal`",
                    text(param.domain->span), describeType(domain));
    return false;
  }
  if (!isInside) {
    bool isDefault = !overrides_.contains(&param);
    emitter_
        .report(isDefault ? param.defaultValue->span : SourceSpan(),
                Kind::OutsideDomain, "{} = {} is not in {}", param.name.text,
                describe(value), describe(domain))
        .note(param.domain->span, "`{}` has its domain here", param.name.text);
  }
  return isInside;
}

void Elaboration::setOverrides(const std::vector<Override> &overrides) {
  for (const Override &override : overrides)
    setOverride(override);
}

void Elaboration::checkOverrides() {
  for (const Symbol &symbol : overridden_)
    valueOf(symbol, symbol.decl->span);
}

void Elaboration::checkConstants() {
  for (const Symbol &symbol : program_.main().own())
    if (llvm::isa<ast::LetDecl>(symbol.decl) ||
        llvm::isa<ast::ParamDecl>(symbol.decl))
      valueOf(symbol, symbol.decl->name.span);
}

void Elaboration::setOverride(const Override &override) {
  const FileScope &main = program_.main();
  std::size_t dot = override.name.find('.');
  std::vector<std::string_view> candidates;
  Symbol found;
  auto consider = [&](std::string_view name, Symbol symbol) {
    if (!symbol || !llvm::isa<ast::ParamDecl>(symbol.decl))
      return;
    candidates.push_back(name);
    if (name == override.name)
      found = symbol;
  };
  std::vector<std::string> qualified;
  if (dot == std::string::npos) {
    for (std::string_view name : main.names())
      consider(name, main.find(name));
  } else {
    std::string alias = override.name.substr(0, dot);
    for (std::string_view name : main.namesUnder(alias)) {
      ast::Name parts[] = {{alias, {}}, {name, {}}};
      qualified.push_back(fmt::format("{}.{}", alias, name));
      consider(qualified.back(), main.find({parts, {}}));
    }
  }
  if (!found) {
    emitter_
        .report(SourceSpan(), Kind::UnknownParameter,
                "there is no `param` called `{}`", override.name)
        .suggest(SourceSpan(), diag::nearestName(override.name, candidates));
    return;
  }
  overrides_[found.decl] = override.value;
  overridden_.push_back(found);
}

std::shared_ptr<const ModelInstance> Elaboration::asModel(const Value &value,
                                                          SourceSpan use) {
  if (value.isPoison())
    return nullptr;
  if (auto *model = value.as<ModelValue>())
    return model->instance;
  auto *decl = value.as<DeclValue>();
  if (decl && llvm::isa<ast::ModelDecl>(decl->decl)) {
    Evaluator outside(*this, *decl->home, nullptr);
    return instantiate(*decl, {}, outside, use);
  }
  emitter_.report(use, Kind::WrongKind, "`{}` is {}, not a model", text(use),
                  describeType(value));
  return nullptr;
}

} // namespace planc::sema
