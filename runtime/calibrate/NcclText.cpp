// The tables that nccl-tests prints. Since 2015: without and with `root`,
// `error` or `#wrong`, one of the two times missing, a timestamp at the end;
// with what mpirun puts before each line.
#include "runtime/calibrate/LogWords.h"
#include "runtime/calibrate/NcclTables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace planc::calibrate {

namespace {

constexpr std::size_t kMostWords = 40;

constexpr auto kTypes = std::to_array<std::string_view>(
    {"int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float",
     "double", "bfloat16", "fp16", "fp32", "bf16", "f8e4m3", "f8e5m2",
     "fp8_e4m3", "fp8_e5m2", "char"});

bool isType(std::string_view word) {
  return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
}

/// What the header of a table says about its rows.
struct Columns {
  bool isKnown = false, hasRoot = false, hasErrors = false;
};

class Reader {
public:
  Reader(NcclTables &tables) : tables_(tables) {}

  void line(std::int64_t number, std::string_view text) {
    if (tables_.failed())
      return;
    const std::vector<std::string_view> words = wordsOf(text, kMostWords);
    const std::size_t type = typeOf(words);
    if (type < words.size())
      row(number, words, type);
    else
      comment(text, words);
  }

private:
  /// The word that is a row's type, after size and count; words.size() where
  /// the line is no row.
  static std::size_t typeOf(const std::vector<std::string_view> &words) {
    for (std::size_t i = 2; i < std::min<std::size_t>(words.size(), 6); ++i)
      if (isType(words[i]) && integerOf(words[i - 1]) &&
          integerOf(words[i - 2]))
        return i;
    return words.size();
  }

  void row(std::int64_t number, const std::vector<std::string_view> &words,
           std::size_t type) {
    FoundRow row;
    row.line = number;
    row.bytes = *integerOf(words[type - 2]);
    std::size_t at = type + 1;
    if (at < words.size() && !numberOf(words[at]))
      row.reduction = words[at++];
    std::vector<std::string_view> rest(
        words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    readRoot(row, rest);
    readTimes(row, rest);
    if (!tables_.failed())
      tables_.row(row);
  }

  /// A root is a whole number, and no time: -1 and 0 show that by themselves.
  void readRoot(FoundRow &row, std::vector<std::string_view> &rest) const {
    const auto first = rest.empty() ? std::nullopt : integerOf(rest[0]);
    if (first && (columns_.isKnown ? columns_.hasRoot : *first <= 0)) {
      row.root = first;
      rest.erase(rest.begin());
    }
  }

  void readTimes(FoundRow &row, const std::vector<std::string_view> &rest) {
    std::size_t numbers = 0;
    while (numbers < rest.size() &&
           (numberOf(rest[numbers]) || rest[numbers] == "N/A"))
      ++numbers;
    const bool hasErrors =
        columns_.isKnown ? columns_.hasErrors : numbers % 4 == 0;
    const std::size_t width = hasErrors ? 4 : 3;
    for (std::size_t at = 0; at + 3 <= numbers && row.timed.size() < 2;
         at += width) {
      FoundRow::Timed timed;
      const auto time = numberOf(rest[at]), speed = numberOf(rest[at + 1]),
                 bus = numberOf(rest[at + 2]);
      if (!time || !speed || !bus)
        return fail(row, "a time or a bandwidth is no number");
      timed = {*time, *speed, *bus};
      if (auto why = whyUnsound(row.bytes, timed))
        return fail(row, std::move(*why));
      row.timed.push_back(timed);
    }
    if (row.timed.empty())
      fail(row, fmt::format("time, algbw and busbw are wanted after the type, "
                            "found {} numbers",
                            numbers));
  }

  void fail(const FoundRow &row, std::string text) {
    tables_.fail(LogProblemKind::BadRow, row.line, std::move(text));
  }

  void comment(std::string_view text,
               const std::vector<std::string_view> &words) {
    const auto has = [&](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (has("size") && has("count") && has("type")) {
      columns_ = {true, has("root"), has("#wrong") || has("error")};
      tables_.newTable();
    } else if (has("nThread") && has("minBytes")) {
      beginTest();
    } else if (has("Rank") && has("device")) {
      device(words);
    }
    const Test test = testIn(text);
    if (test == Test::Unknown)
      return;
    if (has("concluded:")) {
      tables_.ended(test);
      named_ = Test::Unknown;
    } else {
      named_ = test;
      tables_.test(test);
    }
  }

  /// The line that names a test comes before the one that begins it.
  void beginTest() {
    tables_.newTest();
    columns_ = {};
    tables_.test(named_);
  }

  void device(const std::vector<std::string_view> &words) {
    NcclTables::Device device;
    const auto after = [&](std::string_view word) {
      const auto at = std::find(words.begin(), words.end(), word);
      return at == words.end() || at + 1 == words.end() ? std::string_view()
                                                        : *(at + 1);
    };
    const auto rank = integerOf(after("Rank"));
    const auto number = integerOf(after("device"));
    if (!rank || !number)
      return;
    device.rank = *rank;
    device.number = *number;
    device.host = after("on");
    // The rest of the line after `[0000:1b:00]`.
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i].front() == '[' && words[i].back() == ']' &&
          words[i + 1].front() != '(')
        device.name = {words[i + 1].data(),
                       static_cast<std::size_t>(words.back().data() +
                                                words.back().size() -
                                                words[i + 1].data())};
    device.name = device.name.substr(0, device.name.find(" ("));
    tables_.device(device);
  }

  NcclTables &tables_;
  Columns columns_;
  Test named_ = Test::Unknown;
};

} // namespace

void readText(const LogText &log, NcclTables &tables) {
  Reader reader(tables);
  forEachLine(log.text, [&](std::int64_t number, std::string_view line) {
    if (line.find('\x1b') == std::string_view::npos)
      reader.line(number, line);
    else
      reader.line(number, withoutColours(line));
  });
}

} // namespace planc::calibrate
