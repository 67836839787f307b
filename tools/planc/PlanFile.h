// What the verbs that read a plan have in common: their options, their
// diagnostics, their outcome.
#pragma once

#include "compiler/diag/Consumers.h"
#include "compiler/driver/Session.h"
#include "runtime/report/Writers.h"
#include "tools/planc/CommandLine.h"

#include <llvm/Support/CommandLine.h>

#include <optional>
#include <string>
#include <vector>

namespace planc::tool {

/// -D, --plan and the switches for people who work on planc.
struct CompileOptions {
  explicit CompileOptions(llvm::cl::SubCommand &verb);

  llvm::cl::list<std::string> defines;
  llvm::cl::opt<std::string> plan;
  llvm::cl::opt<bool> verifyEach, flat;

  /// Nothing after a message: exit with kUsage.
  std::optional<driver::Options> session(const std::string &file) const;
};

/// The same with FILE.
struct PlanOptions : CompileOptions {
  explicit PlanOptions(llvm::cl::SubCommand &verb,
                       const char *operand = "FILE");

  llvm::cl::opt<std::string> file;

  std::optional<driver::Options> session() const {
    return CompileOptions::session(file);
  }
};

/// `-D name=value`, each; nothing after a message.
std::optional<std::vector<sema::Override>>
overridesOf(const llvm::cl::list<std::string> &defines);

/// `--color WHEN`.
struct ColorOption : TextOption {
  explicit ColorOption(llvm::cl::SubCommand &verb)
      : TextOption(verb, "color",
                   "colour: auto (on a terminal), always or never", "WHEN") {}
};
/// What it means for what goes to `output`; nothing after a message.
std::optional<report::Color> colorOf(const ColorOption &option,
                                     const OutputOption &output);

/// `--peak RATE`, where it was given; an exit code after a message.
std::optional<int> setPeak(driver::Options &session, const std::string &rate);

/// Why nothing can be read from the file; empty when something can.
std::string whyUnreadable(const std::string &path);

/// `writeOutput` to a file that is none of those that were read.
bool writeResult(const std::string &path, std::string_view text,
                 const std::vector<std::string> &read);
bool writeResult(const std::string &path, std::string_view text,
                 const driver::Session &session);

/// To standard error, as the console shows them.
void printDiagnostics(const driver::Session &session);
std::string diagnosticsText(const driver::Session &session);
std::vector<report::DiagnosticRow> rowsOf(const driver::Session &session);
std::vector<report::DiagnosticRow>
rowsOf(const std::vector<diag::Diagnostic> &diagnostics,
       const source::SourceSet &sources, const diag::Levels &levels);

} // namespace planc::tool
