// The constants that nothing but a measurement gives: what a validation could
// have been fitted with, counted and listed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace planc::validate {

/// A value of the library that no datasheet prints as such.
struct FreeConstant {
  std::string file;  ///< `clusters/a100.plan`
  std::string owner; ///< `a100_sxm`, `dgx_a100.node`
  std::string name, value;
  /// The comment beside it, else the nearest above it, which may speak of
  /// several.
  std::string source;

  /// `as NAME`, its comment says, another machine's: no freedom of its own.
  bool isCopy() const;
};

/// In the order of the files; every field of runtime/hardware/Constants.def,
/// and latencies and reserves.
std::vector<FreeConstant> freeConstants();

/// The page of the manual that lists them.
std::string constantsPage();

} // namespace planc::validate
