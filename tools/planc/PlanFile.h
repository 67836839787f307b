// What the verbs that read a plan have in common: their options, their
// diagnostics, their outcome.
#pragma once

#include "compiler/driver/Session.h"
#include "runtime/report/Report.h"
#include "tools/planc/Verbs.h"

#include <llvm/Support/CommandLine.h>

#include <optional>
#include <string>
#include <vector>

namespace planc::tool {

/// The category of every option of ours; the help shows no other.
llvm::cl::OptionCategory &options();

/// Parses the arguments of one verb against the options registered so far. An
/// exit code when there is nothing left to do: help was asked for, or a message
/// said what is wrong.
std::optional<int> parseArguments(Arguments arguments,
                                  llvm::cl::SubCommand &verb);

/// FILE, -D, --plan and the switches for people who work on planc.
struct PlanOptions {
  explicit PlanOptions(llvm::cl::SubCommand &verb);

  llvm::cl::opt<std::string> file;
  llvm::cl::list<std::string> defines;
  llvm::cl::opt<std::string> plan;
  llvm::cl::opt<bool> verifyEach, flat;

  /// Nothing after a message: exit with kUsage.
  std::optional<driver::Options> session() const;
};

/// To standard error, as the console shows them.
void printDiagnostics(const driver::Session &session);
std::vector<report::DiagnosticRow> rowsOf(const driver::Session &session);

/// `ok`, `illegal`, …: the word for an outcome in JSON.
std::string_view statusOf(driver::Outcome outcome);

} // namespace planc::tool
