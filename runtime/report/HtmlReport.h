// A report as one page that needs nothing else: no network, no server.
#pragma once

#include "runtime/report/Explanation.h"
#include "runtime/report/Picture.h"
#include "runtime/report/Report.h"

#include <optional>
#include <string>
#include <vector>

namespace planc::report {

/// A constant that a report rests on, and where it is from.
struct Assumption {
  std::string of;     ///< `accelerator h100_sxm`, `dgx_h100, level node`
  std::string name;   ///< `matmul_efficiency`
  std::string value;  ///< as written: `75.8%`
  std::string source; ///< what the comment beside or above it says
  Place place;
};

struct PageInputs {
  const Report &report;
  const Picture &picture; ///< limited to what a page takes
  std::vector<Assumption> assumptions;
  std::optional<Explanation> explanation; ///< none: its section is left out
};

/// The page's data are one block of JSON: `report` is toJson(report), beside it
/// `picture`, `assumptions` and `explanation`, its JSON or null. No `<` stands
/// in it but as an escape, so no text of a plan's ends the block.
std::string toHtml(const PageInputs &inputs);

} // namespace planc::report
