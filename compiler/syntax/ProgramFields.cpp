#include "compiler/syntax/ProgramFields.h"

#include "compiler/diag/Kinds.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace planc::syntax {

using antlr4::Token;
using diag::Kind;
using P = ProgramTextParser;

namespace {

std::optional<program::ProgramSet::StepEnd>
stepEndFromName(std::string_view name) {
  if (name == "joined")
    return program::ProgramSet::StepEnd::Joined;
  if (name == "free")
    return program::ProgramSet::StepEnd::Free;
  return std::nullopt;
}
std::string_view toString(program::ProgramSet::StepEnd end) {
  return end == program::ProgramSet::StepEnd::Joined ? "joined" : "free";
}

std::optional<sim::Overlap> overlapFromName(std::string_view name) {
  for (auto overlap : {sim::Overlap::None, sim::Overlap::Reductions,
                       sim::Overlap::Gathers, sim::Overlap::Allowed})
    if (sim::toString(overlap) == name)
      return overlap;
  return std::nullopt;
}

/// Enumerators up to and with this one.
template <class E> constexpr std::size_t countTo(E last) {
  return static_cast<std::size_t>(last) + 1;
}

} // namespace

void FieldReader::refuse(const Token *token, std::string_view what) {
  std::string_view key = syntax_.text(field_->key);
  key.remove_suffix(1);
  const Token *at = token ? token : field_->key;
  if (token)
    emitter_.report(syntax_.span(at), Kind::ProgramValue,
                    "`{}` takes {}, not `{}`", key, what, syntax_.text(token));
  else
    emitter_.report(syntax_.span(at), Kind::ProgramValue,
                    "`{}` takes {}, not a list", key, what);
}

const Token *FieldReader::scalar(std::size_t type, std::string_view what) {
  const Token *token = field_->scalar;
  if (token && token->getType() == type)
    return token;
  refuse(token, what);
  return nullptr;
}

bool FieldReader::isList(std::size_t type, std::string_view what) {
  if (field_->scalar) {
    refuse(field_->scalar, what);
    return false;
  }
  for (const Token *value : field_->values)
    if (value->getType() != type) {
      refuse(value, what);
      return false;
    }
  return true;
}

std::optional<std::int64_t> FieldReader::number(const Token *token,
                                                std::string_view digits) {
  std::int64_t value = 0;
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end == digits.data() + digits.size())
    return value;
  emitter_.report(syntax_.span(token), Kind::NumberTooLarge,
                  "the number does not fit in 64 bits");
  return std::nullopt;
}

std::optional<std::uint32_t> FieldReader::index(const Token *token,
                                                std::string_view digits) {
  std::optional<std::int64_t> value = number(token, digits);
  if (!value)
    return std::nullopt;
  // The largest stands for "none".
  if (*value >= 0 && *value < std::numeric_limits<std::uint32_t>::max())
    return static_cast<std::uint32_t>(*value);
  refuse(token, "a number that counts from 0, of 32 bits");
  return std::nullopt;
}

std::optional<std::uint32_t> FieldReader::index(const Token *token) {
  if (!token)
    return std::nullopt;
  return index(token, syntax_.text(token));
}

std::optional<std::int64_t> FieldReader::quantity(std::string_view unit) {
  std::string what = fmt::format("a number with the unit {}", unit);
  const Token *token = scalar(P::QUANTITY, what);
  if (!token)
    return std::nullopt;
  std::string_view text = syntax_.text(token);
  std::string_view digits =
      text.substr(0, text.size() - std::min(text.size(), unit.size()));
  if (!text.ends_with(unit) ||
      digits.find_first_not_of("-0123456789") != std::string_view::npos) {
    refuse(token, what);
    return std::nullopt;
  }
  return number(token, digits);
}

void FieldReader::into(std::string &target) {
  if (const Token *token = scalar(P::TEXT, "a text in quotation marks"))
    target = unquoted(syntax_, token, emitter_);
}

void FieldReader::into(std::int64_t &target) {
  if (const Token *token = scalar(P::NUMBER, "a whole number"))
    target = number(token, syntax_.text(token)).value_or(target);
}

void FieldReader::into(std::int32_t &target) {
  using Limits = std::numeric_limits<std::int32_t>;
  std::int64_t wide = target;
  into(wide);
  if (wide < Limits::min() || wide > Limits::max())
    refuse(field_->scalar, "a whole number of 32 bits");
  else
    target = static_cast<std::int32_t>(wide);
}

void FieldReader::into(std::uint32_t &target) {
  target = index(scalar(P::NUMBER, "a number")).value_or(target);
}

void FieldReader::into(Bytes &target) {
  target = Bytes(quantity("B").value_or(target.value));
}

void FieldReader::into(std::optional<Duration> &target) {
  if (auto value = quantity("ps"))
    target = Duration(*value);
}

template <class E, class Find>
void FieldReader::word(E &target, Find find, std::string_view what,
                       std::size_t count) {
  const Token *token = scalar(P::WORD, what);
  if (!token)
    return;
  if (auto value = find(syntax_.text(token))) {
    target = *value;
    return;
  }
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < count; ++i)
    known.push_back(toString(static_cast<E>(i)));
  emitter_
      .report(syntax_.span(token), Kind::ProgramWord, "there is no {} `{}`",
              what.substr(what.find(' ') + 1), syntax_.text(token))
      .suggest(syntax_.span(token),
               diag::nearestName(syntax_.text(token), known))
      .note("known: {}", listed(known));
}

void FieldReader::into(Precision &target) {
  word(target, precisionFromName, "a precision", countTo(Precision::Int8));
}
void FieldReader::into(program::InstructionKind &target) {
  word(target, program::instructionKindFromName, "a kind of instruction",
       countTo(program::InstructionKind::HostUpdate));
}
void FieldReader::into(program::CommunicationKind &target) {
  word(target, program::communicationKindFromName, "a kind of communication",
       countTo(program::CommunicationKind::Host));
}
void FieldReader::into(program::Phase &target) {
  word(target, program::phaseFromName, "a phase",
       countTo(program::Phase::Update));
}
void FieldReader::into(program::PassKind &target) {
  word(target, program::passFromName, "a pass",
       countTo(program::PassKind::Update));
}
void FieldReader::into(program::Stream &target) {
  word(target, program::streamFromName, "a stream",
       static_cast<std::size_t>(program::kStreamCount));
}
void FieldReader::into(program::ProgramSet::StepEnd &target) {
  word(target, stepEndFromName, "an end of a step",
       countTo(program::ProgramSet::StepEnd::Joined));
}

void FieldReader::into(sim::Overlap &target) {
  word(target, overlapFromName, "an overlap", countTo(sim::Overlap::Allowed));
}

void FieldReader::into(std::vector<std::int64_t> &target) {
  if (!isList(P::NUMBER, "a list of numbers"))
    return;
  for (const Token *value : field_->values)
    if (auto one = number(value, syntax_.text(value)))
      target.push_back(*one);
}

void FieldReader::into(std::vector<std::uint32_t> &target) {
  if (!isList(P::NUMBER, "a list of numbers"))
    return;
  for (const Token *value : field_->values)
    if (auto one = index(value))
      target.push_back(*one);
}

void FieldReader::into(std::vector<program::TaskId> &target) {
  std::vector<std::uint32_t> indices;
  into(indices);
  for (std::uint32_t index : indices)
    target.push_back(program::TaskId(index));
}

void FieldReader::into(std::vector<program::PieceId> &target) {
  std::vector<std::uint32_t> indices;
  into(indices);
  for (std::uint32_t index : indices)
    target.push_back(program::PieceId(index));
}

void FieldReader::into(std::vector<program::Piece::Use> &target) {
  if (!isList(P::PAIR, "a list of pairs such as 3:0"))
    return;
  for (const Token *value : field_->values) {
    std::string_view text = syntax_.text(value);
    std::size_t colon = text.find(':');
    auto task = index(value, text.substr(0, colon));
    auto instruction = index(value, text.substr(colon + 1));
    if (task && instruction)
      target.push_back({program::TaskId(*task), *instruction});
  }
}

std::string listed(const std::vector<std::string_view> &words) {
  std::string out;
  for (std::string_view word : words) {
    if (!out.empty())
      out += ", ";
    out += word;
  }
  return out;
}

std::string unquoted(const ProgramSyntax &syntax, const Token *token,
                     diag::Emitter &emitter) {
  std::string_view text = syntax.text(token);
  text = text.substr(1, text.size() - 2);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    char escape = text[++i];
    if (escape == 'n')
      out += '\n';
    else if (escape == '"' || escape == '\\')
      out += escape;
    else
      emitter
          .report(syntax.span(token), Kind::UnknownEscape,
                  "a backslash stands before something else than `\"`, `\\` "
                  "and `n`")
          .help("write `\\\\` for a backslash");
  }
  return out;
}

void reportUnknownField(const ProgramSyntax &syntax, const Token *key,
                        const std::vector<std::string_view> &known,
                        diag::Emitter &emitter) {
  std::string_view name = syntax.text(key);
  name.remove_suffix(1);
  source::SourceSpan span = syntax.span(key);
  --span.end;
  auto report = emitter.report(span, Kind::ProgramWord,
                               "there is no field `{}` in this line", name);
  report.suggest(span, diag::nearestName(name, known));
  if (!known.empty())
    report.note("known: {}", listed(known));
}

void reportTwice(const ProgramSyntax &syntax, const Token *key,
                 diag::Emitter &emitter) {
  std::string_view name = syntax.text(key);
  name.remove_suffix(1);
  emitter.report(syntax.span(key), Kind::DuplicateArgument,
                 "`{}` is given twice in this line", name);
}

} // namespace planc::syntax
