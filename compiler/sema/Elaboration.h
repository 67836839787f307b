// What one elaboration shares between its parts: where it reports, where places
// go, and the values of the declarations it has looked at.
#pragma once

#include "compiler/sema/Elaborate.h"
#include "compiler/sema/Value.h"

#include <deque>
#include <map>
#include <optional>
#include <string>

namespace planc::sema {

/// What an integer is called where it is used inside `[ ]`: a name, and the
/// call it was passed to where it had none.
struct DimensionName {
  std::string name, scope;

  bool operator==(const DimensionName &) const = default;
};

/// A formal, a `let` of a body, an index: a name known further in.
struct Binding {
  std::string_view name;
  Value value;
  std::optional<DimensionName> dimension;
  source::SourceSpan origin; ///< where its value was written
  bool isOfData = false;     ///< `batch`, `seq`: a dimension without a size
  bool *used = nullptr;      ///< set when its value is read; may be null
};

/// Names of one body and of those around it, innermost first. Bindings never
/// move.
struct Locals {
  std::deque<Binding> bindings;
  const Locals *parent = nullptr;

  const Binding *find(std::string_view name) const;
  const Binding *findHere(std::string_view name) const;
};

/// A model whose formals have values: `model` has a body.
struct ModelInstance {
  std::string name; ///< as asked for: `llama3_405b`
  const ast::ModelDecl *model = nullptr;
  const FileScope *home = nullptr;
  Locals formals;
  source::SourceSpan span; ///< where it was asked for
};

class Elaboration {
public:
  Elaboration(const Program &program, source::OriginTable &origins,
              diag::Emitter &emitter);

  const Program &program() const { return program_; }
  diag::Emitter &emitter() { return emitter_; }

  OriginId origin(source::SourceSpan span, OriginId parent = OriginId());
  source::SourceSpan spanOf(OriginId origin) const;
  std::string_view text(source::SourceSpan span) const;
  std::uint32_t lineOf(source::SourceSpan span) const;
  /// `std/models/llama.plan:41`
  std::string place(source::SourceSpan span) const;

  /// Reads the overrides; what does not fit is reported.
  void setOverrides(const std::vector<Override> &overrides);
  /// Evaluates what they set, so that a bad one is said even where its
  /// parameter is not read.
  void checkOverrides();

  /// Evaluates every `let` and `param` of the main file, read or not.
  void checkConstants();

  /// Value of a `let` or `param`; DeclValue of anything else.
  Value valueOf(Symbol symbol, source::SourceSpan use);

  /// A model as an instance: a ModelValue, or a declaration that needs no
  /// arguments. Null after a report.
  std::shared_ptr<const ModelInstance> asModel(const Value &value,
                                               source::SourceSpan use);

  /// False, after a report, where a declaration asks for itself or stands at
  /// the end of too long a chain; else it is being worked on until leave().
  bool enter(const ast::Decl &decl, source::SourceSpan use);
  void leave(const ast::Decl &decl);

  /// False, after a report, where lists have grown beyond all bounds.
  bool spendListItems(std::int64_t count, source::SourceSpan span);

  /// The same for divisions that looking for divisors takes.
  bool spendDivisions(std::int64_t count, source::SourceSpan span);

  /// Expressions being evaluated inside each other, calls included.
  int depth = 0;
  static constexpr int kMaxDepth = 1500;
  static constexpr std::size_t kMaxActive = 256;

private:
  Value evaluateParam(const ast::ParamDecl &param, Symbol symbol);
  bool isInDomain(const ast::ParamDecl &param, Symbol symbol,
                  const Value &value);
  void setOverride(const Override &override);

  const Program &program_;
  source::OriginTable &origins_;
  diag::Emitter &emitter_;
  std::map<const ast::Decl *, Value> values_; ///< looked up, never walked
  std::map<const ast::Decl *, std::string> overrides_;
  std::vector<Symbol> overridden_; ///< in the order given
  std::vector<const ast::Decl *> active_;
  std::int64_t listItems_ = 0, divisions_ = 0;
};

/// A literal outside of any file: the value of `-D`. Nothing if it is none.
std::optional<Value> parseLiteral(std::string_view text);

} // namespace planc::sema
