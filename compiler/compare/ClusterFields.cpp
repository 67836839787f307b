#include "compiler/compare/ClusterFields.h"

#include "compiler/compare/Exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace planc::compare {

using hardware::Cluster;
using hardware::Level;

namespace {

/// A member by a path of members, and how it is written.
template <class Get, class Text>
ClusterField field(std::string key, Get get, Text text) {
  return {std::move(key),
          [get, text](const Cluster &c) { return text(get(c)); },
          [get](Cluster &to, const Cluster &from) { get(to) = get(from); }};
}

const auto kExact = [](const auto &value) { return exact(value); };
const auto kWhole = [](std::int64_t value) { return fmt::format("{}", value); };
const auto kNumber = [](double value) { return exact(value); };

constexpr auto kFormats = std::to_array<Precision>(
    {Precision::Fp32, Precision::Bf16, Precision::Fp16, Precision::Fp8,
     Precision::Mxfp8, Precision::Fp4, Precision::Int32, Precision::Int8});

/// A peak that the accelerator may not have.
ClusterField peakField(Precision format) {
  const auto text = [format](const Cluster &c) {
    const auto peak = c.accelerator.peak(format);
    return peak ? exact(*peak) : std::string("none");
  };
  const auto copy = [format](Cluster &to, const Cluster &from) {
    auto &peaks = to.accelerator.peaks;
    const auto at =
        std::find_if(peaks.begin(), peaks.end(), [&](const auto &peak) {
          return peak.precision == format;
        });
    const auto wanted = from.accelerator.peak(format);
    if (!wanted && at != peaks.end())
      peaks.erase(at);
    else if (wanted && at != peaks.end())
      at->rate = *wanted;
    else if (wanted)
      peaks.push_back({format, *wanted});
  };
  return {fmt::format("accelerator.peak {}", toString(format)), text, copy};
}

void addAccelerator(std::vector<ClusterField> &out) {
  [[maybe_unused]] const auto &[name, peaks, memory, bandwidth, units, watts,
                                constants] = hardware::Accelerator();
  for (Precision format : kFormats)
    out.push_back(peakField(format));
  out.push_back(field(
      "accelerator.memory",
      [](auto &c) -> auto & { return c.accelerator.memory; }, kExact));
  out.push_back(field(
      "accelerator.bandwidth",
      [](auto &c) -> auto & { return c.accelerator.bandwidth; }, kExact));
  out.push_back(field(
      "accelerator.units",
      [](auto &c) -> auto & { return c.accelerator.units; }, kWhole));
  out.push_back(field(
      "accelerator.power",
      [](auto &c) -> auto & { return c.accelerator.watts; },
      [](double value) { return exact(value) + "W"; }));
#define PLANC_ACCELERATOR_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                \
  out.push_back(field(                                                         \
      "accelerator." NAME,                                                     \
      [](auto &c) -> auto & { return c.accelerator.constants.MEMBER; },        \
      kNumber));
#include "runtime/hardware/Constants.def"
}

std::string wiringText(hardware::Wiring wiring) {
  switch (wiring) {
  case hardware::Wiring::Switched:
    return "switched";
  case hardware::Wiring::Torus:
    return "torus";
  case hardware::Wiring::FullMesh:
    return "full mesh";
  }
  return "";
}

void addLevel(std::size_t index, const std::string &key,
              std::vector<ClusterField> &out) {
  [[maybe_unused]] const auto &[name, of, link, wiring, latency,
                                inNetworkReduction, oversubscription,
                                constants] = Level();
  const auto add = [&](std::string_view field, auto get, auto text) {
    out.push_back(compare::field(fmt::format("{}.{}", key, field), get, text));
  };
  add(
      "of", [index](auto &c) -> auto & { return c.levels[index].of; }, kWhole);
  add(
      "link", [index](auto &c) -> auto & { return c.levels[index].link; },
      kExact);
  add(
      "wiring", [index](auto &c) -> auto & { return c.levels[index].wiring; },
      wiringText);
  add(
      "latency", [index](auto &c) -> auto & { return c.levels[index].latency; },
      kExact);
  add(
      "in_network_reduction",
      [index](auto &c) -> auto & { return c.levels[index].inNetworkReduction; },
      [](bool sums) { return std::string(sums ? "true" : "false"); });
  add(
      "oversubscription",
      [index](auto &c) -> auto & { return c.levels[index].oversubscription; },
      kNumber);
#define PLANC_LEVEL_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                      \
  add(                                                                         \
      NAME,                                                                    \
      [index](auto &c) -> auto & { return c.levels[index].constants.MEMBER; }, \
      kNumber);
#include "runtime/hardware/Constants.def"
}

void addHost(std::vector<ClusterField> &out) {
  [[maybe_unused]] const auto &[memory, bandwidth, link, latency,
                                accelerators] = hardware::Host();
  out.push_back(field(
      "cluster.host_memory", [](auto &c) -> auto & { return c.host.memory; },
      kExact));
  out.push_back(field(
      "cluster.host_bandwidth",
      [](auto &c) -> auto & { return c.host.bandwidth; }, kExact));
  out.push_back(field(
      "cluster.host_link", [](auto &c) -> auto & { return c.host.link; },
      kExact));
  out.push_back(field(
      "cluster.host_latency", [](auto &c) -> auto & { return c.host.latency; },
      kExact));
  out.push_back(field(
      "cluster.host_of", [](auto &c) -> auto & { return c.host.accelerators; },
      kWhole));
}

} // namespace

std::string levelsText(const Cluster &cluster) {
  std::string out;
  for (const Level &level : cluster.levels)
    out += fmt::format("{}{} of {}", out.empty() ? "" : ", ", level.name,
                       level.of);
  return out;
}

std::string levelNames(const Cluster &cluster) {
  std::string out;
  for (const Level &level : cluster.levels)
    out += (out.empty() ? "" : ", ") + level.name;
  return out;
}

std::vector<ClusterField> fieldsOf(const Cluster &cluster) {
  [[maybe_unused]] const auto &[name, accelerator, levels, host, reserve,
                                pricePerHour, failures] = cluster;
  std::vector<ClusterField> out;
  addAccelerator(out);
  for (std::size_t i = 0; i < levels.size(); ++i)
    addLevel(i, "cluster." + levels[i].name, out);
  addHost(out);
  out.push_back(field(
      "cluster.reserve", [](auto &c) -> auto & { return c.reserve; }, kExact));
  out.push_back(field(
      "cluster.price", [](auto &c) -> auto & { return c.pricePerHour; },
      [](double price) { return exact(price) + "USD/h"; }));
  out.push_back(field(
      "cluster.failures", [](auto &c) -> auto & { return c.failures; },
      [](const std::optional<hardware::Failures> &found) {
        return found ? fmt::format("{} per {}s of {}", found->count,
                                   found->seconds, found->accelerators)
                     : std::string("none");
      }));
  return out;
}

} // namespace planc::compare
