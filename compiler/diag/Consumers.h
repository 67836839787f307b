// Who takes diagnostics: a terminal, a program that reads JSON, a test.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"

#include <map>

namespace llvm {
class raw_ostream;
}

namespace planc::diag {

enum class Colour { Never, Always };

/// What users make of warnings and remarks; an error stays one.
class Levels {
public:
  void set(Kind kind, Severity severity) { given_[kind] = severity; }
  Severity of(const Diagnostic &diagnostic) const {
    const auto at = given_.find(diagnostic.kind);
    return at == given_.end() ? diagnostic.severity() : at->second;
  }

private:
  std::map<Kind, Severity> given_;
};

/// For people:
///
///   a.plan:19:13: error[not-divisible]: `heads` = 28 cannot be cut 8 ways
///      19 |   shard     heads, kv_heads over tp
///         |             ^^^^^                ^^ tp = 8 (line 17)
///      note: `heads` is 28 in qwen2_5_7b (std/models/qwen.plan:41)
///      help: tp may be 1, 2, 4, 7 or 14
///      more: planc explain not-divisible
///
/// Characters that a terminal would obey are written as escapes; of a long line
/// only what stands around the place is shown.
class ConsoleConsumer : public Consumer {
public:
  ConsoleConsumer(llvm::raw_ostream &out, const source::SourceSet &sources,
                  Colour colour, Levels levels = {})
      : out_(&out), sources_(&sources), colour_(colour),
        levels_(std::move(levels)) {}
  void handle(const Diagnostic &diagnostic) override;
  void handleSuppressed(std::size_t count) override;

private:
  llvm::raw_ostream *out_;
  const source::SourceSet *sources_;
  Colour colour_;
  Levels levels_;
};

/// One JSON object a diagnostic, handed to `sink` without a line break:
/// {"code","column","file","help":[…],"line","message",
///  "notes":[{"file"?,"line"?,"text"}],"severity"}
class JsonConsumer : public Consumer {
public:
  using Sink = void (*)(void *context, std::string object);
  JsonConsumer(const source::SourceSet &sources, Sink sink, void *context)
      : sources_(&sources), sink_(sink), context_(context) {}
  void handle(const Diagnostic &diagnostic) override;
  void handleSuppressed(std::size_t) override {}

private:
  const source::SourceSet *sources_;
  Sink sink_;
  void *context_;
};

/// The object JsonConsumer hands on.
std::string toJson(const Diagnostic &diagnostic,
                   const source::SourceSet &sources);

/// Keeps them.
class CaptureConsumer : public Consumer {
public:
  void handle(const Diagnostic &diagnostic) override {
    diagnostics.push_back(diagnostic);
  }
  void handleSuppressed(std::size_t count) override { suppressed += count; }

  std::vector<Diagnostic> diagnostics;
  std::size_t suppressed = 0;
};

/// `text` with control characters, invalid UTF-8 and characters without a width
/// written as escapes.
std::string printable(std::string_view text);

} // namespace planc::diag
