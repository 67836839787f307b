// Who takes diagnostics: a terminal, a program that reads JSON, a test.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"

namespace llvm {
class raw_ostream;
}

namespace planc::diag {

enum class Colour { Never, Always };

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
                  Colour colour)
      : out_(&out), sources_(&sources), colour_(colour) {}
  void handle(const Diagnostic &diagnostic) override;
  void handleSuppressed(std::size_t count) override;

private:
  llvm::raw_ostream *out_;
  const source::SourceSet *sources_;
  Colour colour_;
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
