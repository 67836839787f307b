#include "compiler/format/LineWriter.h"

#include "compiler/format/Format.h"
#include "compiler/format/Measure.h"

#include <algorithm>
#include <optional>

namespace planc::format {

using syntax::TokenRole;

namespace {

bool isOpen(TokenRole role) {
  return role == TokenRole::Open || role == TokenRole::OpenTight;
}

class LineWriter {
public:
  LineWriter(const std::vector<Piece> &pieces, const Flow &flow,
             std::vector<Line> &out)
      : pieces_(pieces), flow_(flow), out_(out) {
    begin(flow.indent);
    line_.isAfterBlank = flow.isAfterBlank;
  }

  void run() {
    std::size_t i = 0;
    while (i < pieces_.size())
      i = place(i);
    flush();
  }

private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// Never changed but for `isHanging`, which the piece after it decides, so
  /// that a line can be taken back.
  struct Bracket {
    std::size_t parent = kNone;
    std::size_t depth = 1;
    std::size_t column = 0; ///< after it
    std::size_t indent = 0; ///< of its line
    bool isHanging = false; ///< it ends its line
  };
  /// Where the line may end: before a piece. Those of low rank are better.
  struct Place {
    std::size_t piece = 0, bytes = 0, width = 0, bracket = kNone, rank = 0;
    TokenRole last = TokenRole::Comma;
  };

  std::size_t depthOf(std::size_t bracket) const {
    return bracket == kNone ? 0 : brackets_[bracket].depth;
  }

  /// Gives the piece to place next.
  std::size_t place(std::size_t i) {
    const Piece &piece = pieces_[i];
    if (piece.role == TokenRole::Comment) {
      placeComment(piece);
      return i + 1;
    }
    const bool hangs = piece.role == TokenRole::Close && top_ != kNone &&
                       brackets_[top_].isHanging &&
                       flow_.filling != Filling::Never;
    if (isStarted_ && (piece.isBroken || hangs))
      endLine();
    if (mustBreak_)
      beginFor(piece);
    append(i);
    if (flow_.filling == Filling::On && line_.width > kMaxColumns)
      if (const std::optional<std::size_t> again = takeBack())
        return *again;
    return i + 1;
  }

  void placeComment(const Piece &piece) {
    if (isStarted_ && piece.lineEnds == 0) {
      line_.comment = piece.text;
      return endLine();
    }
    if (isStarted_)
      endLine();
    if (mustBreak_)
      begin(continuation(piece));
    line_.code = piece.text;
    line_.isAfterBlank |= piece.lineEnds > 1;
    isStarted_ = true;
    endLine();
  }

  void endLine() {
    if (isOpen(last_) && top_ != kNone)
      brackets_[top_].isHanging = true;
    flush();
    mustBreak_ = true;
  }

  void beginFor(const Piece &piece) {
    if (piece.role != TokenRole::Close || top_ == kNone)
      begin(continuation(piece));
    else
      begin(brackets_[top_].isHanging ? brackets_[top_].indent
                                      : continuation(piece) - 1);
    line_.isAfterBlank = piece.lineEnds > 1 && piece.role != TokenRole::Close;
  }

  std::size_t continuation(const Piece &piece) const {
    if (top_ == kNone)
      return std::min(piece.indent.value_or(flow_.continuation), kMaxIndent);
    const Bracket &bracket = brackets_[top_];
    if (bracket.isHanging)
      return std::min(bracket.indent + 2, kMaxIndent);
    if (bracket.column > kMaxIndent)
      return std::min(bracket.indent + 4, kMaxIndent);
    return bracket.column;
  }

  void begin(std::size_t indent) {
    line_ = Line();
    line_.indent = line_.width = indent;
    line_.block = flow_.block;
    places_.clear();
    mustBreak_ = false;
    isStarted_ = false;
  }

  void flush() {
    if (isStarted_)
      out_.push_back(std::move(line_));
    isStarted_ = false;
  }

  void append(std::size_t i) {
    const Piece &piece = pieces_[i];
    if (isStarted_) {
      addPlace(i);
      std::size_t spaces = isSpaced(last_, piece.role);
      if (piece.column > line_.width + spaces)
        spaces = piece.column - line_.width;
      line_.code.append(spaces, ' ');
      line_.width += spaces;
    }
    line_.code += piece.text;
    line_.width += columnsOf(piece.text);
    isStarted_ = true;
    last_ = piece.role;
    if (isOpen(piece.role)) {
      brackets_.push_back(
          {top_, depthOf(top_) + 1, line_.width, line_.indent, false});
      top_ = brackets_.size() - 1;
    } else if (piece.role == TokenRole::Close && top_ != kNone) {
      top_ = brackets_[top_].parent;
    }
  }

  /// After a comma, before `then` and `else` in brackets, or after an operator;
  /// rather outside of brackets than inside.
  void addPlace(std::size_t i) {
    const bool isBranch = pieces_[i].role == TokenRole::Branch && top_ != kNone;
    const bool isOperator = last_ == TokenRole::Operator;
    if (!isBranch && !isOperator && last_ != TokenRole::Comma)
      return;
    places_.push_back({i, line_.code.size(), line_.width, top_,
                       2 * depthOf(top_) + (isOperator ? 1 : 0), last_});
  }

  /// The best place of those that leave the line neither short nor long, else
  /// of those that do not leave it long, else the first.
  const Place *bestPlace() const {
    const Place *best = nullptr;
    for (const std::size_t least : {kFillColumns / 2, std::size_t{0}}) {
      for (const Place &place : places_)
        if (place.width >= least && place.width <= kFillColumns &&
            (best == nullptr || place.rank <= best->rank))
          best = &place;
      if (best != nullptr)
        return best;
    }
    return places_.empty() ? nullptr : &places_.front();
  }

  /// Ends a line that is too long, and gives the piece that begins the next
  /// one.
  std::optional<std::size_t> takeBack() {
    const Place *best = bestPlace();
    if (best == nullptr)
      return std::nullopt;
    const std::size_t piece = best->piece;
    line_.code.resize(best->bytes);
    line_.width = best->width;
    top_ = best->bracket;
    last_ = best->last;
    endLine();
    return piece;
  }

  const std::vector<Piece> &pieces_;
  const Flow &flow_;
  std::vector<Line> &out_;
  Line line_;
  bool isStarted_ = false;
  bool mustBreak_ = false;
  TokenRole last_ = TokenRole::Word;
  std::vector<Bracket> brackets_;
  std::size_t top_ = kNone;
  std::vector<Place> places_;
};

} // namespace

void writeLines(const std::vector<Piece> &pieces, const Flow &flow,
                std::vector<Line> &out) {
  LineWriter(pieces, flow, out).run();
}

} // namespace planc::format
