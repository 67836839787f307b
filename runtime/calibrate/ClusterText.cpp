// A fitted cluster as a .plan file.
#include "runtime/calibrate/Calibration.h"
#include "runtime/report/NumberText.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace planc::calibrate {

namespace {

using report::oneLine;
using report::percentage;

/// The largest unit in which the number is at least one; `digits` of them.
struct Unit {
  std::string_view word;
  double base;
};
constexpr auto kBytes = std::to_array<Unit>(
    {{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}});
constexpr auto kSeconds =
    std::to_array<Unit>({{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}});

template <std::size_t N>
std::string quantity(double value, const std::array<Unit, N> &units) {
  const auto unit =
      std::find_if(units.begin(), units.end(),
                   [&](const Unit &u) { return value >= u.base * 0.9999999; });
  const Unit &chosen = unit == units.end() ? units.back() : *unit;
  return fmt::format("{:.9g}{}", value / chosen.base, chosen.word);
}

/// Exact: in binary units where it is a whole number of them.
std::string bytesOf(Bytes bytes) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  if (bytes.value > 0 && bytes.value % (1024 * kMebibyte) == 0)
    return fmt::format("{}GiB", bytes.value / (1024 * kMebibyte));
  if (bytes.value > 0 && bytes.value % kMebibyte == 0)
    return fmt::format("{}MiB", bytes.value / kMebibyte);
  return quantity(bytes.toDouble(), kBytes);
}

struct Field {
  std::string_view name;
  double neutral = 0;
  double hardware::LevelConstants::*constant = nullptr;
};
constexpr auto kFields = std::to_array<Field>({
#define PLANC_LEVEL_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                      \
  {NAME, DEFAULT, &hardware::LevelConstants::MEMBER},
#include "runtime/hardware/Constants.def"
});

std::string valueText(std::string_view name, double value) {
  if (name.find("efficiency") != std::string_view::npos)
    return fmt::format("{:.6g}%", value * 100);
  if (name.ends_with("half") || name.ends_with("ramp"))
    return quantity(value, kBytes);
  return fmt::format("{:.9g}", value);
}

class Writer {
public:
  Writer(const Calibration &calibration, const WrittenCluster &written)
      : calibration_(calibration), written_(written) {}

  std::string write() {
    head();
    const hardware::Cluster &c = calibration_.cluster;
    line("import {}", written_.module);
    out_ += '\n';
    line("cluster {} {{", written_.name);
    line("  accelerator {}", c.accelerator.name);
    for (std::size_t l = 0; l < c.levels.size(); ++l)
      level(l);
    rest(c);
    line("}}");
    return std::move(out_);
  }

private:
  template <class... Args>
  void line(fmt::format_string<Args...> form, Args &&...args) {
    out_ += fmt::format(form, std::forward<Args>(args)...) + "\n";
  }

  void head() {
    line("language 1\n");
    line("# Fitted to measured collectives by planc calibrate, beginning with "
         "{}; what has no",
         calibration_.base);
    line("# comment is as it is there. Rows of 1 MiB and up, mean error:");
    for (const FittedTable &t : calibration_.tables) {
      const LogTable &table = t.placed.table;
      line("#   {}: {} of {} x {} {}{}, {:.1f} % ({:.1f} % before){}",
           oneLine(table.log), nameOf(table.test), t.placed.shape.groups,
           t.placed.shape.ranks,
           table.device.empty() ? "ranks" : oneLine(table.device),
           table.date.empty() ? "" : ", " + oneLine(table.date),
           t.fitted.mean * 100, t.before.mean * 100, heldOut(t));
    }
    for (const std::string &note : calibration_.notes)
      line("# {}", oneLine(note));
    out_ += '\n';
  }

  static std::string heldOut(const FittedTable &t) {
    if (t.left == FittedTable::Left::Nothing)
      return "";
    return fmt::format(
        ", {:.1f} % with {} left out", t.heldOut.mean * 100,
        t.left == FittedTable::Left::Table ? "this log" : "every second size");
  }

  const FittedConstant *fitted(std::size_t l, std::string_view name) const {
    for (const FittedConstant &c : calibration_.constants)
      if (c.level == l && c.knob.name == name)
        return &c;
    return nullptr;
  }

  void constant(std::size_t l, std::string_view name, const std::string &text) {
    const FittedConstant *c = fitted(l, name);
    if (c == nullptr)
      return line("    {} {}", name, text);
    const std::string before = name == "latency" ? quantity(c->before, kSeconds)
                                                 : valueText(name, c->before);
    line("    {:<30} # {}", fmt::format("{} {}", name, text),
         c->isTold ? "fitted; before: " + before
                   : "not told by the logs; before: " + before);
  }

  void level(std::size_t l) {
    const hardware::Level &level = calibration_.cluster.levels[l];
    line("\n  level {} of {} {{", level.name, level.of);
    line("    link {}/s", quantity(level.link.toDouble(), kBytes));
    constant(l, "latency", quantity(toSeconds(level.latency), kSeconds));
    if (level.inNetworkReduction)
      line("    in_network_reduction true");
    if (level.wiring != hardware::Wiring::Switched)
      line("    {} true",
           level.wiring == hardware::Wiring::Torus ? "torus" : "full_mesh");
    if (level.oversubscription != 1)
      line("    oversubscription {:.9g}", level.oversubscription);
    for (const Field &field : kFields) {
      const double value = level.constants.*field.constant;
      if (value != field.neutral || fitted(l, field.name) != nullptr)
        constant(l, field.name, valueText(field.name, value));
    }
    line("  }}");
  }

  void rest(const hardware::Cluster &c) {
    out_ += '\n';
    const hardware::Host &host = c.host;
    if (host.memory.value > 0)
      line("  host_memory {} at {}/s", bytesOf(host.memory),
           quantity(host.bandwidth.toDouble(), kBytes));
    if (host.link.value > 0)
      line("  host_link {}/s", quantity(host.link.toDouble(), kBytes));
    if (host.latency.value > 0)
      line("  host_latency {}", quantity(toSeconds(host.latency), kSeconds));
    if (host.accelerators > 0)
      line("  host_accelerators {}", host.accelerators);
    if (c.reserve.value > 0)
      line("  reserve {}", bytesOf(c.reserve));
    if (c.failures)
      line("  failures {:.9g} per {} of {:.9g}", c.failures->count,
           quantity(c.failures->seconds, kSeconds), c.failures->accelerators);
  }

  const Calibration &calibration_;
  const WrittenCluster &written_;
  std::string out_;
};

} // namespace

std::string toPlan(const Calibration &calibration,
                   const WrittenCluster &written) {
  return Writer(calibration, written).write();
}

} // namespace planc::calibrate
