// The verbs of the command line. Each parses its own arguments, so that only
// the options of the verb that runs exist.
#pragma once

#include <string_view>
#include <vector>

namespace planc::tool {

/// Everything after the program's name, the verb first, as llvm::cl wants it.
struct Arguments {
  int count = 0;
  const char *const *values = nullptr;
};

struct Verb {
  std::string_view name, operand, summary;
  int (*run)(Arguments arguments); ///< gives the exit code
};

/// All of them, as the help lists them.
std::vector<Verb> allVerbs();

int runReport(Arguments arguments);
int runCheck(Arguments arguments);
int runEmit(Arguments arguments);
int runMan(Arguments arguments);
int runMfu(Arguments arguments);
int runCalibrate(Arguments arguments);
int runDiff(Arguments arguments);
int runCompare(Arguments arguments);
int runTrace(Arguments arguments);
int runCompletions(Arguments arguments);
int runExplain(Arguments arguments);
int runFmt(Arguments arguments);
int runValidate(Arguments arguments);
int runVersion(Arguments arguments);

} // namespace planc::tool
