// planc version
#include "runtime/report/Report.h"
#include "tools/planc/Terminal.h"
#include "tools/planc/Verbs.h"

namespace planc::tool {

int runVersion(Arguments) {
  const std::string text = "planc " PLANC_VERSION
                           " (language 1, report schema " +
                           std::to_string(report::kSchemaVersion) + ")\n";
  return writeOutput("", text) ? 0 : kUsage;
}

} // namespace planc::tool
