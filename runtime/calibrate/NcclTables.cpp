#include "runtime/calibrate/NcclTables.h"

#include "runtime/calibrate/LogWords.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace planc::calibrate {

namespace {

struct TestInfo {
  Test test;
  std::string_view name;
};
constexpr TestInfo kTests[] = {
#define PLANC_NCCL_TEST(NAME, PROGRAM, FACTOR, INSTRUCTION)                    \
  {Test::NAME, PROGRAM},
#include "runtime/calibrate/NcclTests.def"
};

/// Largest number of ranks anybody has; keeps what follows in 64 bits.
constexpr std::int64_t kMostRanks = 1 << 22;

/// Ranks that a table's bandwidths allow: bus bandwidth over algorithm
/// bandwidth is 2(n - 1)/n or (n - 1)/n, both printed with two digits.
struct RankBounds {
  double least = 1, most = std::numeric_limits<double>::infinity();

  bool allow(std::int64_t n) const {
    const double ranks = static_cast<double>(n);
    return ranks >= least - 0.01 && ranks <= most + 0.01;
  }
  /// The only whole number there is.
  std::optional<std::int64_t> only() const {
    if (!(most < static_cast<double>(kMostRanks)) || most < least - 0.02)
      return std::nullopt;
    const double low = std::ceil(least - 0.01), high = std::floor(most + 0.01);
    if (low != high || low < 2)
      return std::nullopt;
    return static_cast<std::int64_t>(low);
  }
};

/// Bandwidths are in bytes a second; their last printed digit.
constexpr double kDigit = 0.0051e9;

RankBounds boundsOf(const LogTable &table) {
  RankBounds bounds;
  const double twice = table.test == Test::AllReduce ? 2 : 1;
  for (const LogRow &row : table.rows) {
    if (row.algorithmBandwidth < 1e8)
      continue;
    const double low =
        (row.busBandwidth - kDigit) / (row.algorithmBandwidth + kDigit) / twice;
    const double high =
        (row.busBandwidth + kDigit) / (row.algorithmBandwidth - kDigit) / twice;
    if (low < 1)
      bounds.least = std::max(bounds.least, 1 / (1 - low));
    if (high < 1)
      bounds.most = std::min(bounds.most, 1 / (1 - high));
  }
  return bounds;
}

/// True where a test's bandwidths say how many ranks it had.
bool tellsRanks(Test test) { return busFactor(test, 2) != busFactor(test, 4); }

/// `nccl-2x8.AllReduce.txt` names all_reduce.
Test testOfName(std::string_view name) {
  const std::size_t slash = name.find_last_of('/');
  std::string plain;
  for (char c : slash == std::string_view::npos ? name : name.substr(slash + 1))
    if (c != '_' && c != '-')
      plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const TestInfo &info : kTests) {
    std::string word;
    for (char c : info.name)
      if (c != '_')
        word += c;
    if (plain.find(word) != std::string::npos)
      return info.test;
  }
  return Test::Unknown;
}

/// The row whose bandwidths have most digits.
const LogRow &fastest(const LogTable &table) {
  return *std::max_element(table.rows.begin(), table.rows.end(),
                           [](const LogRow &a, const LogRow &b) {
                             return a.algorithmBandwidth < b.algorithmBandwidth;
                           });
}

/// Ascending, equal sizes once with their mean.
void sortRows(std::vector<LogRow> &rows) {
  std::stable_sort(
      rows.begin(), rows.end(),
      [](const LogRow &a, const LogRow &b) { return a.bytes < b.bytes; });
  std::vector<LogRow> out;
  for (std::size_t i = 0; i < rows.size();) {
    LogRow row = rows[i];
    std::size_t end = i + 1;
    for (; end < rows.size() && rows[end].bytes == row.bytes; ++end)
      row.seconds += rows[end].seconds;
    row.seconds /= static_cast<double>(end - i);
    out.push_back(row);
    i = end;
  }
  rows = std::move(out);
}

} // namespace

Test testIn(std::string_view text) {
  Test found = Test::Unknown;
  std::size_t from = text.size() + 1;
  for (const TestInfo &info : kTests) {
    const std::size_t at = text.find(std::string(info.name) + "_perf");
    // `reduce_perf` also ends `all_reduce_perf`, which begins before it.
    if (at != std::string_view::npos && at < from) {
      from = at;
      found = info.test;
    }
  }
  return found;
}

std::optional<std::string> whyUnsound(std::int64_t bytes,
                                      const FoundRow::Timed &timed) {
  // No message takes less than a nanosecond, none takes weeks.
  const double us = timed.microseconds, said = timed.algorithmGigabytes;
  if (bytes < 0 || !(us >= 1e-3 && us <= 1e12) || !(said >= 0 && said <= 1e9) ||
      !(timed.busGigabytes >= 0 && timed.busGigabytes <= 2e9))
    return fmt::format("a size of {} B in {} us at {} GB/s cannot be", bytes,
                       us, said);
  const double speed = static_cast<double>(bytes) / us / 1e3;
  if (std::abs(speed - said) > 0.006 + speed * 0.03)
    return fmt::format("{} B in {} us are {:.2f} GB/s, algbw says {:.2f}",
                       bytes, us, speed, said);
  return std::nullopt;
}

std::string_view nameOf(Test test) {
  for (const TestInfo &info : kTests)
    if (info.test == test)
      return info.name;
  return "unknown";
}

double busFactor(Test test, std::int64_t ranks) {
  const double n = static_cast<double>(ranks);
  switch (test) {
  case Test::Unknown:
    return 1;
#define PLANC_NCCL_TEST(NAME, PROGRAM, FACTOR, INSTRUCTION)                    \
  case Test::NAME:                                                             \
    return FACTOR;
#include "runtime/calibrate/NcclTests.def"
  }
  return 1;
}

void NcclTables::newTest() {
  isOpen_ = false;
  test_ = Test::Unknown;
  date_.clear();
  deviceName_.clear();
  lastRank_ = lastDevice_ = -1;
  deviceLines_ = 0;
  hosts_.clear();
}

void NcclTables::newTable() { isOpen_ = false; }

void NcclTables::ended(Test test) {
  if (isOpen_ && out_.tables.back().test == Test::Unknown)
    out_.tables.back().test = test;
  newTest();
}

void NcclTables::device(const Device &device) {
  if (device.rank < 0 || device.rank >= kMostRanks || device.number < 0 ||
      device.number >= kMostRanks)
    return;
  ++deviceLines_;
  if (device.rank >= lastRank_) {
    lastRank_ = device.rank;
    lastDevice_ = device.number;
  }
  if (!device.host.empty())
    ++hosts_[std::string(device.host)];
  if (!device.name.empty())
    deviceName_ = device.name;
}

void NcclTables::row(const FoundRow &found) {
  if (failed())
    return;
  if (++rows_ > kMostRows)
    return fail(LogProblemKind::TooLarge, found.line,
                fmt::format("more than {} rows", kMostRows));
  if (!isOpen_) {
    LogTable table;
    table.log = name_;
    table.test = test_;
    table.device = deviceName_;
    table.date = date_;
    table.ranks = lastRank_ + 1;
    const bool isWhole = deviceLines_ > 0 && deviceLines_ == table.ranks;
    if (isWhole && !hosts_.empty())
      for (const auto &[host, ranks] : hosts_)
        table.ranksOfHost = std::max(table.ranksOfHost, ranks);
    else if (deviceLines_ > 0)
      table.ranksOfHost = lastDevice_ + 1;
    out_.tables.push_back(table);
    seen_.push_back({});
    isOpen_ = true;
  }
  LogRow row;
  row.bytes = found.bytes;
  row.line = found.line;
  const FoundRow::Timed *best = &found.timed.front();
  for (const FoundRow::Timed &timed : found.timed) {
    row.seconds +=
        timed.microseconds * 1e-6 / static_cast<double>(found.timed.size());
    if (timed.algorithmGigabytes > best->algorithmGigabytes)
      best = &timed;
  }
  row.algorithmBandwidth = best->algorithmGigabytes * 1e9;
  row.busBandwidth = best->busGigabytes * 1e9;
  Reductions &seen = seen_.back();
  seen.reduces = !found.reduction.empty() && found.reduction != "none";
  seen.isRooted = found.root && *found.root >= 0;
  // Less than a byte: nothing was sent.
  if (row.bytes > 0)
    out_.tables.back().rows.push_back(row);
}

void NcclTables::fail(LogProblemKind kind, std::int64_t line,
                      std::string text) {
  if (!failed())
    out_.error = LogProblem{kind, name_, line, std::move(text)};
}

void NcclTables::inferTest(LogTable &table, const Reductions &seen) const {
  if (table.test == Test::Unknown)
    table.test = testOfName(name_);
  const LogRow &row = fastest(table);
  if (table.test != Test::Unknown || row.algorithmBandwidth < 1e8)
    return;
  const double factor = row.busBandwidth / row.algorithmBandwidth;
  const bool isLess = factor < 0.995;
  if (seen.reduces)
    table.test = seen.isRooted ? Test::Reduce
                 : isLess      ? Test::ReduceScatter
                               : Test::AllReduce;
  else if (!isLess)
    table.test = seen.isRooted ? Test::Broadcast : Test::SendRecv;
}

void NcclTables::inferRanks(LogTable &table) {
  if (!tellsRanks(table.test))
    return;
  const RankBounds bounds = boundsOf(table);
  if (table.ranks > 0 && bounds.allow(table.ranks))
    return;
  const std::optional<std::int64_t> only = bounds.only();
  if (!only)
    return;
  if (table.ranks > 0)
    out_.warnings.push_back(
        {LogProblemKind::RanksDisagree, name_, table.rows.front().line,
         fmt::format("the lines of ranks name {} and the bandwidths say {}; "
                     "taken as {}",
                     table.ranks, *only, *only)});
  // The lines were cut: the last of them is not the last rank of its host.
  if (table.ranks > 0)
    table.ranksOfHost = 0;
  table.ranks = *only;
}

void NcclTables::finishTable(LogTable &table, const Reductions &seen) {
  sortRows(table.rows);
  inferTest(table, seen);
  if (table.test == Test::Unknown)
    return fail(LogProblemKind::UnknownCollective, table.rows.front().line,
                "nothing says which collective this table is of");
  inferRanks(table);
}

ReadLog NcclTables::finish() {
  for (std::size_t i = 0; i < out_.tables.size() && !failed(); ++i)
    if (!out_.tables[i].rows.empty())
      finishTable(out_.tables[i], seen_[i]);
  std::erase_if(out_.tables,
                [](const LogTable &table) { return table.rows.empty(); });
  if (out_.tables.empty())
    fail(LogProblemKind::NoRows, 0, "no row of a table in it");
  if (failed())
    out_.tables.clear();
  return std::move(out_);
}

ReadLog readNcclLog(const LogText &log) {
  NcclTables tables(log.name);
  const std::size_t first = log.text.find_first_not_of(" \t\r\n");
  if (log.text.size() > kLargestLog)
    tables.fail(
        LogProblemKind::TooLarge, 0,
        fmt::format("{} bytes, at most {}", log.text.size(), kLargestLog));
  else if (first != std::string_view::npos && log.text[first] == '{')
    readJson(log, tables);
  else
    readText(log, tables);
  return tables.finish();
}

} // namespace planc::calibrate
