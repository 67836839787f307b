// A diagnostic as a value: what is wrong, where, why, and the way out.
#pragma once

#include "compiler/source/SourceFile.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::diag {

using source::SourceSpan;

/// The enumerators stand in Kinds.h, for those who report: a new kind rebuilds
/// only these.
enum class Kind : std::uint16_t;

/// An error keeps the compile from going on past the stage; a warning is most
/// likely a mistake; a remark is worth knowing.
enum class Severity : std::uint8_t { Error, Warning, Remark };

enum class Stage : std::uint8_t {
  Source,
  Syntax,
  Sema,
  Graph,
  Shard,
  Pipeline,
  Lower,
  Driver,
};

/// What DiagnosticKinds.def says of a kind.
struct KindInfo {
  Kind kind;
  std::string_view name; ///< `not-divisible`
  Severity severity;
  FailureKind failure;
  Stage stage;
  std::string_view page; ///< without the blank line around it
};

const KindInfo &infoOf(Kind kind);
std::size_t kindCount();
/// `error`, `warning`, `remark`.
std::string_view spelling(Severity severity);
std::optional<Kind> kindByName(std::string_view name);
/// The page of `planc explain NAME`, headed by its name; nothing for an unknown
/// name.
std::optional<std::string> explainKind(std::string_view name);

/// A second place, with words to stand beside it.
struct Label {
  SourceSpan span;
  std::string text;
};

/// A reason. With a span, the place it is about.
struct Note {
  std::string text;
  SourceSpan span;
};

/// A change to the text that would mend it.
struct Fix {
  SourceSpan span; ///< replaced; empty to insert
  std::string replacement;
};

/// Messages: lower case first, no period, code in backticks, what was found
/// before what was expected.
struct Diagnostic {
  Kind kind;
  std::string message;
  SourceSpan span; ///< invalid where there is no place
  std::vector<Label> labels;
  std::vector<Note> notes;
  std::vector<std::string> helps;
  std::vector<Fix> fixes;
  std::vector<Note> contexts; ///< innermost first: "in instance of model `gpt`"

  Severity severity() const { return infoOf(kind).severity; }
};

} // namespace planc::diag
