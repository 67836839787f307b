// What the standard library declares, as text: models with their sizes,
// clusters with their levels. Rows are written on top of these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace planc::validate {

/// `model llama3_8b = llama(layers = 32, …)`, or a family `model llama(…) {`.
struct StandardModel {
  std::string name, module; ///< `llama3_8b`, `std.models.llama`
  std::string family;       ///< `llama`; its own name for a family
  /// Of a family its formals, empty where there is no default; else what the
  /// family is given.
  std::vector<std::pair<std::string, std::string>> arguments;

  bool isFamily() const { return family == name; }
  const std::string *argument(std::string_view formal) const;
};

struct StandardLevel {
  std::string name;
  std::int64_t of = 0;
  std::vector<std::pair<std::string, std::string>> fields; ///< as written

  std::string *field(std::string_view name);
};

struct StandardCluster {
  std::string name, module; ///< `dgx_h100`, `std.clusters.h100`
  std::string accelerator;
  std::vector<StandardLevel> levels; ///< innermost first
  std::vector<std::string> rest;     ///< fields besides, as written
};

/// Nothing if there is none of the name, exactly as written.
const StandardModel *findModel(std::string_view name);
const StandardCluster *findCluster(std::string_view name);
const std::vector<StandardCluster> &standardClusters();

/// A cluster as text of a plan's file.
std::string textOf(const StandardCluster &cluster);

} // namespace planc::validate
