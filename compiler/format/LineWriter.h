// Pieces of one item to lines.
#pragma once

#include "compiler/format/Line.h"
#include "compiler/syntax/Written.h"

#include <optional>

namespace planc::format {

/// A token or comment to be written.
struct Piece {
  std::string_view text;
  syntax::TokenRole role;
  std::size_t lineEnds = 0; ///< before it, as it was
  bool isBroken = false;    ///< the author's line ended before it
  std::size_t column = 0;   ///< where it stands, if there is room; 0: anywhere
  /// Of a line that it begins outside of brackets; else the flow's.
  std::optional<std::size_t> indent{};
};

enum class Filling {
  Off,
  On,   ///< break lines that are too long
  Never ///< the author's lines and no others
};

struct Flow {
  std::size_t indent = 0;       ///< of the first line
  std::size_t continuation = 0; ///< of those after it, outside of brackets
  std::size_t block = 0;
  bool isAfterBlank = false;
  Filling filling = Filling::Off;
};

void writeLines(const std::vector<Piece> &pieces, const Flow &flow,
                std::vector<Line> &out);

} // namespace planc::format
