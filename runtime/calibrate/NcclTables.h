// Makes tables out of what the readers of text and of JSON find; for them
// alone.
#pragma once

#include "runtime/calibrate/NcclLog.h"

#include <map>
#include <set>

namespace planc::calibrate {

/// One row as the log says it.
struct FoundRow {
  std::int64_t bytes = 0, line = 0;
  std::optional<std::int64_t> root;
  std::string_view reduction; ///< `sum`, `none`; empty: no such column
  struct Timed {
    double microseconds = 0, algorithmGigabytes = 0, busGigabytes = 0;
  };
  std::vector<Timed> timed; ///< out of place, in place; at least one
};

/// `all_reduce_perf`, wherever it stands in the text; the first of several.
Test testIn(std::string_view text);

/// Why a time of a row cannot be; nothing where it can. nccl-tests prints the
/// bandwidth with two digits.
std::optional<std::string> whyUnsound(std::int64_t bytes,
                                      const FoundRow::Timed &timed);

/// Collects the rows of one log. After an error nothing more is taken.
class NcclTables {
public:
  explicit NcclTables(std::string name) : name_(std::move(name)) {}

  /// A new test begins; nothing is known of it.
  void newTest();
  /// The header of a table: rows after it are of a table of their own.
  void newTable();
  void test(Test test) { test_ = test; }
  /// The test that has just ended was this one.
  void ended(Test test);
  void date(std::string_view date) { date_ = date; }
  struct Device {
    std::int64_t rank = 0, number = 0;
    std::string_view host, name; ///< empty: not said
  };
  void device(const Device &device);
  void row(const FoundRow &row);
  void fail(LogProblemKind kind, std::int64_t line, std::string text);
  bool failed() const { return out_.error.has_value(); }

  ReadLog finish();

private:
  struct Reductions {
    bool reduces = false, isRooted = false;
  };
  void finishTable(LogTable &table, const Reductions &seen);
  void inferTest(LogTable &table, const Reductions &seen) const;
  void inferRanks(LogTable &table);

  std::string name_, date_, deviceName_;
  Test test_ = Test::Unknown;
  bool isOpen_ = false; ///< rows go to the last table
  std::int64_t lastRank_ = -1, lastDevice_ = -1, deviceLines_ = 0;
  std::map<std::string, std::int64_t, std::less<>> hosts_; ///< ranks of each
  std::vector<Reductions> seen_;
  std::size_t rows_ = 0;
  ReadLog out_;
};

void readJson(const LogText &log, NcclTables &tables);
void readText(const LogText &log, NcclTables &tables);

} // namespace planc::calibrate
