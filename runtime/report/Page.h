// Text for people: lines of at most 100 columns that know where they are.
#pragma once

#include "runtime/report/NumberText.h"
#include "runtime/report/Writers.h"

#include <string>
#include <string_view>
#include <vector>

namespace planc::report {

inline constexpr std::size_t kColumns = 100;
inline constexpr std::size_t kValueColumn = 12; ///< of what stands by a word

/// The three things that colour marks.
enum class Mark { None, Bad, Good, Name };

/// Lines that know their column and end at the last one.
class Page {
public:
  explicit Page(Color color) : color_(color) {}

  Page &put(std::string_view text, Mark mark = Mark::None);
  /// Blanks up to a column, at least `least`; none stay at the end of a line.
  Page &to(std::size_t column, std::size_t least = 2);
  Page &right(std::string_view text, std::size_t end, Mark mark = Mark::None) {
    const std::size_t width = columnsOf(text);
    return to(end > width ? end - width : 0, 1).put(text, mark);
  }
  void endLine() {
    out_ += '\n';
    column_ = blanks_ = 0;
  }
  /// How many columns the line has left.
  std::size_t room() const { return kColumns - column_; }
  std::string take() { return std::move(out_); }

private:
  Color color_;
  std::string out_;
  std::size_t column_ = 0, blanks_ = 0;
};

/// `examples/tour.plan:12`.
std::string placeText(const Place &place);

/// `shard   heads, … over tp`: the clause's first word in a column of its own,
/// comments left out.
std::string clauseText(std::string_view line);

/// Lines of at most `width` columns, broken at spaces; later ones stand a
/// little to the right.
std::vector<std::string> wrapped(const std::string &text, std::size_t width);

} // namespace planc::report
