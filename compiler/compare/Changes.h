// Settings of two plans side by side.
#pragma once

#include "compiler/compare/Settings.h"
#include "compiler/driver/Compilation.h"
#include "runtime/report/Report.h"

namespace planc::compare {

struct Change {
  std::string key;
  std::string before, after; ///< `–` where a side does not have it
  report::Place place;       ///< where the new plan says it, else the old one
  /// What it is applied together with; empty: not applied, since it follows
  /// from others or no number depends on it.
  std::string unit;
  bool isDetail = false;    ///< of a change that stands before it
  bool isFollowing = false; ///< from others
};

struct Side {
  const driver::Compilation *compilation = nullptr; ///< with its module
  std::vector<Setting> settings;
};
Side sideOf(const driver::Compilation &compilation);

/// In the order of settings; empty: the plans say the same.
std::vector<Change> changesBetween(const Side &before, const Side &after);

/// The units of changes, each once, in order.
std::vector<std::string> unitsOf(const std::vector<Change> &changes);

/// The keys of both in one order: that of `before`, with those that only
/// `after` has behind what stands before them there.
std::vector<std::string> mergedKeys(const std::vector<std::string> &before,
                                    const std::vector<std::string> &after);

} // namespace planc::compare
