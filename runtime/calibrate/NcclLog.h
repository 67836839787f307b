// Logs of nccl-tests and rccl-tests: the tables they print, old and new, and
// the files they write with --json.
//
// A log may hold several tests, whatever mpirun or a shell printed around and
// before their lines, and be cut: what is not told by it stays 0 or None.
#pragma once

#include "runtime/calibrate/LogProblem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::calibrate {

enum class Test : std::uint8_t {
  Unknown,
#define PLANC_NCCL_TEST(NAME, PROGRAM, FACTOR, INSTRUCTION) NAME,
#include "runtime/calibrate/NcclTests.def"
};
/// `all_reduce`.
std::string_view nameOf(Test test);
/// Bus bandwidth over algorithm bandwidth of n ranks, as the tests define it.
double busFactor(Test test, std::int64_t ranks);

struct LogRow {
  std::int64_t bytes = 0; ///< the test's `size`
  std::int64_t line = 0;
  double seconds = 0; ///< mean of out of place and in place
  double algorithmBandwidth = 0, busBandwidth = 0; ///< bytes a second
};

/// One table.
struct LogTable {
  std::string log; ///< name of the file
  Test test = Test::Unknown;
  std::string device; ///< `NVIDIA H100 80GB HBM3`
  std::string date;   ///< as the log says it; mostly empty
  std::int64_t ranks = 0;
  /// Of one host, where the log tells hosts apart or a device's number says.
  std::int64_t ranksOfHost = 0;
  std::vector<LogRow> rows; ///< sizes ascending, each once
};

struct LogText {
  std::string name;
  std::string_view text;
};

struct ReadLog {
  std::vector<LogTable> tables;
  std::vector<LogProblem> warnings;
  std::optional<LogProblem> error; ///< tables are empty then
};

inline constexpr std::size_t kLargestLog = 16u << 20;
inline constexpr std::size_t kMostRows = 100'000;

/// Tables with rows; an error where there is none, where the log is too large
/// or a row is damaged.
ReadLog readNcclLog(const LogText &log);

} // namespace planc::calibrate
