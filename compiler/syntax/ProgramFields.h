// The fields of one line of a program text, read into the value they belong to
// by tables of (key, member).
#pragma once

#include "compiler/syntax/ProgramSyntax.h"
#include "runtime/program/Names.h"
#include "runtime/sim/IssueOrder.h"

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace planc::syntax {

using FieldContexts = std::vector<ProgramTextParser::FieldContext *>;

/// Reads the value of one field. `into` takes every type that a field may have;
/// what does not fit it is reported, and the target left as it was.
class FieldReader {
public:
  FieldReader(const ProgramSyntax &syntax, diag::Emitter &emitter)
      : syntax_(syntax), emitter_(emitter) {}

  void select(ProgramTextParser::FieldContext *field) { field_ = field; }

  void into(std::string &target);
  void into(std::int64_t &target);
  void into(std::int32_t &target);
  void into(std::uint32_t &target);
  void into(Flops &target) { into(target.value); }
  void into(Bytes &target);
  void into(std::optional<Duration> &target);
  void into(Precision &target);
  void into(program::InstructionKind &target);
  void into(program::CommunicationKind &target);
  void into(program::Phase &target);
  void into(program::PassKind &target);
  void into(program::Stream &target);
  void into(program::ProgramSet::StepEnd &target);
  void into(sim::Overlap &target);
  void into(std::vector<std::int64_t> &target);
  void into(std::vector<std::uint32_t> &target);
  void into(std::vector<program::TaskId> &target);
  void into(std::vector<program::PieceId> &target);
  void into(std::vector<program::Piece::Use> &target);
  template <class Tag> void into(Id<Tag> &target) {
    if (auto index = this->index(scalar(ProgramTextParser::NUMBER, "a number")))
      target = Id<Tag>(*index);
  }

private:
  const antlr4::Token *scalar(std::size_t type, std::string_view what);
  bool isList(std::size_t type, std::string_view what);
  template <class E, class Find>
  void word(E &target, Find find, std::string_view what, std::size_t count);
  void refuse(const antlr4::Token *token, std::string_view what);
  std::optional<std::int64_t> number(const antlr4::Token *token,
                                     std::string_view digits);
  std::optional<std::int64_t> quantity(std::string_view unit);
  std::optional<std::uint32_t> index(const antlr4::Token *token);
  std::optional<std::uint32_t> index(const antlr4::Token *token,
                                     std::string_view digits);

  const ProgramSyntax &syntax_;
  diag::Emitter &emitter_;
  ProgramTextParser::FieldContext *field_ = nullptr;
};

template <class T> struct FieldRule {
  std::string_view key;
  void (*read)(FieldReader &, T &);
};
template <class T> using FieldRules = std::span<const FieldRule<T>>;

/// A text in quotation marks without them, its escapes replaced.
std::string unquoted(const ProgramSyntax &syntax, const antlr4::Token *text,
                     diag::Emitter &emitter);

/// `a, b, c`.
std::string listed(const std::vector<std::string_view> &words);

void reportUnknownField(const ProgramSyntax &syntax, const antlr4::Token *key,
                        const std::vector<std::string_view> &known,
                        diag::Emitter &emitter);
void reportTwice(const ProgramSyntax &syntax, const antlr4::Token *key,
                 diag::Emitter &emitter);

/// Reads every field of a line by the first rule of its key.
template <class T>
void readFields(const ProgramSyntax &syntax, diag::Emitter &emitter,
                const FieldContexts &fields, T &target,
                std::initializer_list<FieldRules<T>> tables) {
  FieldReader reader(syntax, emitter);
  std::uint64_t seen = 0;
  for (ProgramTextParser::FieldContext *field : fields) {
    std::string_view key = syntax.text(field->key);
    key.remove_suffix(1); // its sign
    std::size_t at = 0;
    const FieldRule<T> *rule = nullptr;
    for (FieldRules<T> table : tables)
      for (const FieldRule<T> &one : table) {
        if (rule)
          break;
        if (one.key == key)
          rule = &one;
        else
          ++at;
      }
    if (!rule) {
      std::vector<std::string_view> known;
      for (FieldRules<T> table : tables)
        for (const FieldRule<T> &one : table)
          known.push_back(one.key);
      reportUnknownField(syntax, field->key, known, emitter);
      continue;
    }
    if (seen >> at & 1)
      reportTwice(syntax, field->key, emitter);
    seen |= std::uint64_t(1) << at;
    reader.select(field);
    rule->read(reader, target);
  }
}

} // namespace planc::syntax
