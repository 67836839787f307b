#include "compiler/validate/RowPlan.h"
#include "compiler/validate/StandardNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace planc::validate {

namespace {

struct Machine {
  std::string_view accelerator, cluster;
};
constexpr Machine kMachines[] = {
#define PLANC_MACHINE(ACCELERATOR, CLUSTER) {ACCELERATOR, CLUSTER},
#include "compiler/validate/Machines.def"
};

const StandardCluster *clusterNamed(const MeasuredRow &row) {
  if (const auto *cluster = findCluster(wordOf(row.text(Column::Cluster))))
    return cluster;
  const std::string letters = lettersOf(row.text(Column::Accelerator));
  for (const Machine &machine : kMachines)
    if (machine.accelerator == letters)
      return findCluster(machine.cluster);
  return nullptr;
}

/// The number before a unit: 50 of `50GB/s`; and the unit.
std::pair<double, std::string> partsOf(const std::string &quantity) {
  double value = 0;
  const char *end = quantity.data() + quantity.size();
  const auto [rest, error] = std::from_chars(quantity.data(), end, value);
  return {error == std::errc() ? value : 0, std::string(rest, end)};
}

/// Slices of a torus are as near to a cube as dimensions that are powers of two
/// or multiples of four allow (Cloud TPU documentation, topologies).
std::vector<std::int64_t> sliceOf(std::int64_t chips, std::size_t dimensions) {
  if (dimensions == 2) {
    for (auto a = static_cast<std::int64_t>(std::sqrt(chips)); a > 0; --a)
      if (chips % a == 0)
        return {a, chips / a};
    return {1, chips};
  }
  std::vector<std::int64_t> best;
  for (std::int64_t a = 4; a * a * a <= chips; a += 4)
    for (std::int64_t b = a; a * b * b <= chips; b += 4)
      if (chips % (a * b) == 0 && (chips / (a * b)) % 4 == 0)
        best = {a, b, chips / (a * b)};
  return best;
}

class Writer {
public:
  Writer(const MeasuredRow &row, const StandardCluster &standard)
      : row_(row), standard_(standard), cluster_(standard) {}

  std::variant<RowCluster, NotExpressed> write() {
    const bool isTorus = cluster_.levels.front().field("torus") != nullptr;
    if (isTorus) {
      if (auto reason = sizeTorus())
        return NotExpressed{*reason};
    } else {
      sizeNodes();
      setNetwork();
    }
    growOutermost();
    RowCluster out;
    out.imports = fmt::format("import {}\n", standard_.module);
    out.name = standard_.name;
    out.notes = notes_;
    if (!isChanged_)
      return out;
    out.name = cluster_.name = "measured_cluster";
    out.declaration = textOf(cluster_);
    return out;
  }

private:
  std::int64_t accelerators() const {
    return *row_.count(Column::Accelerators);
  }

  /// A slice of the pod, whole pods beyond it.
  std::optional<std::string> sizeTorus() {
    const std::size_t dimensions = cluster_.levels.size() - 1;
    std::int64_t pod = 1;
    for (std::size_t i = 0; i < dimensions; ++i)
      pod *= cluster_.levels[i].of;
    std::int64_t slice = row_.count(Column::PerNode).value_or(accelerators());
    if (slice > pod || accelerators() % slice != 0)
      slice = std::min(accelerators(), pod);
    if (slice == pod)
      return std::nullopt;
    std::vector<std::int64_t> sizes = sliceOf(slice, dimensions);
    if (sizes.empty())
      return fmt::format("a slice of {} chips has no closed torus", slice);
    for (std::size_t i = 0; i < dimensions; ++i)
      cluster_.levels[i].of = sizes[i];
    isChanged_ = true;
    return std::nullopt;
  }

  /// Nodes of another size than the usual one; of racks a job takes powers of
  /// two where its number is no multiple of the whole.
  void sizeNodes() {
    StandardLevel &node = cluster_.levels.front();
    const bool isRack = node.of > 16;
    std::int64_t size = row_.count(Column::PerNode).value_or(node.of);
    if (isRack && size == node.of && accelerators() > node.of &&
        accelerators() % node.of != 0 && accelerators() % 64 == 0)
      size = 64;
    // Nodes joined by a switch in them are taken as the standard's, with
    // another number; cards in pairs are not.
    if (size == node.of || cluster_.levels.size() != 2)
      return;
    node.of = size;
    isChanged_ = true;
  }

  /// One direction an accelerator. A link keeps the time that it loses to short
  /// messages, so the bytes that stand for it go with its rate.
  void setNetwork() {
    const auto gbps = row_.number(Column::NetworkGbps);
    if (!gbps)
      return;
    for (std::size_t i = 1; i < cluster_.levels.size(); ++i) {
      StandardLevel &level = cluster_.levels[i];
      std::string *link = level.field("link");
      const auto [rate, unit] = partsOf(link ? *link : "");
      if (unit != "GB/s" || rate <= 0 || std::abs(rate - *gbps / 8) < 1e-9)
        continue;
      const double times = *gbps / 8 / rate;
      *link = fmt::format("{:.6g}GB/s", *gbps / 8);
      if (std::string *half = level.field("message_half")) {
        const auto [bytes, bytesUnit] = partsOf(*half);
        *half = fmt::format("{:.6g}{}", bytes * times, bytesUnit);
      }
      isChanged_ = true;
    }
  }

  void growOutermost() {
    std::int64_t inner = 1;
    for (std::size_t i = 0; i + 1 < cluster_.levels.size(); ++i)
      inner *= cluster_.levels[i].of;
    const std::int64_t groups = (accelerators() + inner - 1) / inner;
    StandardLevel &outermost = cluster_.levels.back();
    if (groups <= outermost.of)
      return;
    notes_.push_back(fmt::format("{} of {} × {} in the library, {} here",
                                 outermost.name, outermost.of, inner, groups));
    outermost.of = groups;
    isChanged_ = true;
  }

  const MeasuredRow &row_;
  const StandardCluster &standard_;
  StandardCluster cluster_;
  std::vector<std::string> notes_;
  bool isChanged_ = false;
};

} // namespace

std::variant<RowCluster, NotExpressed> clusterOf(const MeasuredRow &row) {
  const StandardCluster *standard = clusterNamed(row);
  if (standard == nullptr)
    return NotExpressed{fmt::format("the library has no accelerator `{}`",
                                    row.text(Column::Accelerator))};
  return Writer(row, *standard).write();
}

} // namespace planc::validate
