#include "compiler/format/Layout.h"

#include "compiler/format/Format.h"
#include "compiler/format/LineWriter.h"
#include "compiler/format/Measure.h"

#include <algorithm>

namespace planc::format {

using syntax::ItemKind;
using syntax::TokenRole;
using syntax::WrittenItem;

namespace {

/// Clauses' values: `precision` and two spaces.
constexpr std::size_t kClauseColumn = 11;
/// Accelerators' fields at least: `memory` and two spaces.
constexpr std::size_t kAcceleratorColumn = 8;
/// A longer cell moves no other item's.
constexpr std::size_t kMaxCell = 60;

class Layout {
public:
  Layout(std::string_view text, const syntax::WrittenFile &written,
         const std::vector<KeptLine> &kept)
      : written_(written), measure_(text, written),
        isKept_(written.tokens.size()), isJoined_(written.tokens.size()) {
    for (const KeptLine &line : kept)
      keep(written.items, line);
  }

  std::vector<Line> run() {
    block({&written_.items, 0, written_.tokens.size(), 0});
    return std::move(lines_);
  }

private:
  /// `tokens[begin .. end)` are the items and the comments beside them.
  struct Block {
    const std::vector<WrittenItem> *items;
    std::size_t begin, end, indent;
  };
  struct Where {
    std::size_t indent, block;
  };
  using Columns = std::vector<std::size_t>; ///< of an item's cells
  /// What an item has in common with its neighbours.
  struct Shared {
    Columns columns;
    bool isRow = false; ///< a declaration beside others of its kind
  };

  // ---- What stays as it is

  /// The items of the innermost block that has the whole line.
  void keep(const std::vector<WrittenItem> &items, const KeptLine &line) {
    const auto isBefore = [](const WrittenItem &item, std::size_t token) {
      return item.last < token;
    };
    const auto begin =
        std::lower_bound(items.begin(), items.end(), line.first, isBefore);
    if (begin == items.end() || begin->first > line.last)
      return;
    if (begin->open < line.first && line.last < begin->last)
      return keep(begin->items, line);
    for (auto item = begin; item != items.end() && item->first <= line.last;
         ++item) {
      isKept_[item->first] = true;
      isJoined_[item->first] = isJoined_[item->first] || item != begin;
    }
  }

  /// One past the last of the items that are kept together with `items[i]`.
  std::size_t endOfKept(const std::vector<WrittenItem> &items,
                        std::size_t i) const {
    if (!isKept_[items[i].first])
      return i;
    for (++i; i < items.size() && isJoined_[items[i].first];)
      ++i;
    return i;
  }

  void keptItems(std::size_t first, std::size_t last, Where where) {
    Flow flow;
    flow.indent = where.indent;
    flow.continuation = where.indent + 4;
    flow.block = where.block;
    flow.isAfterBlank = isAfterBlank(first);
    flow.filling = Filling::Never;
    writeLines(keptPieces(first, last, where.indent), flow, lines_);
  }

  /// Every break is one. Lines are indented by the blocks they are in.
  std::vector<Piece> keptPieces(std::size_t first, std::size_t last,
                                std::size_t indent) const {
    std::vector<Piece> out;
    for (std::size_t i = first; i <= last; ++i) {
      const TokenRole role = measure_.role(i);
      const bool wasOpen =
          i != first && measure_.role(i - 1) == TokenRole::OpenBlock;
      const bool ends = role == TokenRole::CloseBlock;
      indent -= ends ? 2 : 0;
      Piece piece{measure_.text(i), role, measure_.lineEnds(i)};
      piece.isBroken =
          i != first &&
          (piece.lineEnds != 0 || (measure_.role(i - 1) == TokenRole::Comma &&
                                   measure_.lineEnds(i - 1) != 0));
      if (wasOpen || ends)
        piece.lineEnds = std::min(piece.lineEnds, std::size_t{1});
      if (i != first && measure_.isSeparated(i) && !piece.isBroken)
        out.push_back({",", TokenRole::Comma});
      if (wasOpen || ends || measure_.isSeparated(i) ||
          role == TokenRole::Comment)
        piece.indent = indent;
      add(piece, out);
      indent += role == TokenRole::OpenBlock ? 2 : 0;
    }
    return out;
  }

  /// A comma passes the comments before it, and leaves its break behind.
  static void add(Piece piece, std::vector<Piece> &out) {
    auto at = out.end();
    if (piece.role == TokenRole::Comma) {
      piece.isBroken = false;
      while (at != out.begin() && (at - 1)->role == TokenRole::Comment)
        --at;
    }
    out.insert(at, piece);
  }

  // ---- What is on one line

  bool isOneLine(const WrittenItem &item, std::size_t indent) const {
    if (item.items.empty())
      return !hasComment(item);
    return !measure_.hasOuterBreak(item.open, item.last) &&
           indent + measure_.width(item.first, item.last) <= kMaxColumns;
  }

  bool hasComment(const WrittenItem &item) const {
    for (std::size_t i = item.open + 1; i < item.last; ++i)
      if (measure_.isComment(i))
        return true;
    return false;
  }

  bool hasOpenBlock(const WrittenItem &item, std::size_t indent) const {
    return item.open != WrittenItem::kNone && !isOneLine(item, indent);
  }

  /// The last token of the item's own lines.
  std::size_t headEnd(const WrittenItem &item, std::size_t indent) const {
    return hasOpenBlock(item, indent) ? item.open : item.last;
  }

  /// Are its own lines broken after commas where they are too long. What shares
  /// its `=` with others is a row of a table.
  bool isFilled(const WrittenItem &item, const Shared &shared,
                std::size_t indent) const {
    const std::size_t end = headEnd(item, indent);
    return measure_.hasBreak(item.first, end) ||
           (!shared.isRow &&
            indent + measure_.width(item.first, end) > kMaxColumns);
  }

  // ---- Columns

  /// Is there a blank line between an item and the one before it.
  bool isApart(const WrittenItem &before, const WrittenItem &item) const {
    for (std::size_t i = before.last + 1; i <= item.first; ++i)
      if (measure_.lineEnds(i) > 1)
        return true;
    return false;
  }

  /// Kinds that make tables.
  static bool isDeclaration(ItemKind kind) {
    return kind == ItemKind::Let || kind == ItemKind::Param ||
           kind == ItemKind::ModelInstance || kind == ItemKind::PlanVariant;
  }

  std::vector<Shared> sharedOf(const Block &block) const {
    const std::vector<WrittenItem> &items = *block.items;
    std::vector<Shared> out(items.size());
    for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
      end = begin + 1;
      while (end < items.size() && items[end].kind == items[begin].kind &&
             !hasOpenBlock(items[end - 1], block.indent) &&
             !isApart(items[end - 1], items[end]))
        ++end;
      for (std::size_t i = begin; i < end; ++i)
        out[i].isRow = end - begin > 1 && isDeclaration(items[i].kind);
      for (std::size_t cell = 0; cell < 2; ++cell)
        addColumn(block, begin, end, out);
    }
    return out;
  }

  /// The next column of `items[begin .. end)`.
  void addColumn(const Block &block, std::size_t begin, std::size_t end,
                 std::vector<Shared> &out) const {
    std::size_t widest = 0;
    std::vector<std::size_t> own;
    for (std::size_t i = begin; i < end; ++i) {
      const Columns &columns = out[i].columns;
      own.push_back(ownColumn((*block.items)[i], out[i], block.indent));
      const std::size_t from = columns.empty() ? block.indent : columns.back();
      if (own.back() <= from + kMaxCell)
        widest = std::max(widest, own.back());
    }
    for (std::size_t i = begin; i < end; ++i)
      if (own[i - begin] != 0)
        out[i].columns.push_back(std::max(own[i - begin], widest));
  }

  /// Where the item's next cell would stand by itself; 0: it has none, or one
  /// that is not on its first line or might not stay there.
  std::size_t ownColumn(const WrittenItem &item, const Shared &shared,
                        std::size_t indent) const {
    const Columns &columns = shared.columns;
    const std::size_t cell = columns.size();
    if (cell >= item.cells.size())
      return 0;
    const std::size_t to = item.cells[cell];
    if (isKept_[item.first] || measure_.hasBreak(item.first, to) ||
        (isFilled(item, shared, indent) && measure_.hasPlace(item.first, to)))
      return 0;
    if (cell == 0 &&
        (item.kind == ItemKind::Clause || item.kind == ItemKind::ShardClause))
      return indent + kClauseColumn;
    const std::size_t from = cell == 0 ? item.first : item.cells[cell - 1];
    const std::size_t begin = cell == 0 ? indent : columns.back();
    const std::size_t least = item.kind == ItemKind::AcceleratorField
                                  ? indent + kAcceleratorColumn
                                  : 0;
    return std::max(begin + measure_.width(from, to - 1) + 1, least);
  }

  // ---- Lines

  void block(const Block &block) {
    const std::size_t id = blocks_++;
    const std::vector<Shared> shared = sharedOf(block);
    std::size_t token = block.begin;
    isFirst_ = true;
    for (std::size_t i = 0; i < block.items->size(); ++i) {
      const WrittenItem &item = (*block.items)[i];
      comments(token, item.first, {block.indent, id});
      if (const std::size_t end = endOfKept(*block.items, i); end != i) {
        i = end - 1;
        keptItems(item.first, (*block.items)[i].last, {block.indent, id});
        token = (*block.items)[i].last + 1;
        continue;
      }
      this->item(item, shared[i], {block.indent, id});
      token = item.last + 1;
    }
    comments(token, block.end, {block.indent, id});
  }

  /// A blank line stays, but not before the first line of a block.
  bool isAfterBlank(std::size_t token) {
    const bool isFirst = std::exchange(isFirst_, false);
    return !isFirst && measure_.lineEnds(token) > 1;
  }

  void comments(std::size_t begin, std::size_t end, Where where) {
    for (std::size_t i = begin; i < end; ++i) {
      if (measure_.lineEnds(i) == 0 && !lines_.empty()) {
        lines_.back().comment = measure_.text(i);
        continue;
      }
      Line line;
      line.indent = where.indent;
      line.code = measure_.text(i);
      line.block = where.block;
      line.isAfterBlank = isAfterBlank(i);
      lines_.push_back(std::move(line));
    }
  }

  void item(const WrittenItem &item, const Shared &shared, Where where) {
    const Columns &columns = shared.columns;
    Flow flow;
    flow.indent = where.indent;
    flow.continuation = continuationOf(item, columns, where.indent);
    flow.block = where.block;
    flow.isAfterBlank = isAfterBlank(item.first);
    flow.filling =
        isFilled(item, shared, where.indent) ? Filling::On : Filling::Off;
    writeLines(piecesOf(item, columns, headEnd(item, where.indent)), flow,
               lines_);
    if (!hasOpenBlock(item, where.indent))
      return;
    block({&item.items, item.open + 1, item.last,
           std::min(where.indent + 2, kMaxIndent)});
    isFirst_ = false;
    Line close;
    close.indent = where.indent;
    close.code = measure_.text(item.last);
    close.width = where.indent + 1;
    close.block = where.block;
    lines_.push_back(std::move(close));
  }

  static std::size_t continuationOf(const WrittenItem &item,
                                    const Columns &columns,
                                    std::size_t indent) {
    switch (item.kind) {
    case ItemKind::AcceleratorField:
    case ItemKind::Field:
    case ItemKind::Clause:
    case ItemKind::ShardClause:
      return columns.empty() ? indent + 4 : columns.front();
    default:
      return indent + 4;
    }
  }

  std::vector<Piece> piecesOf(const WrittenItem &item, const Columns &columns,
                              std::size_t last) const {
    std::vector<Piece> out;
    for (std::size_t i = item.first; i <= last; ++i) {
      if (i != item.first && measure_.isSeparated(i))
        out.push_back({",", TokenRole::Comma});
      Piece piece{measure_.text(i), measure_.role(i), measure_.lineEnds(i),
                  i != item.first && measure_.isBroken(i)};
      for (std::size_t cell = 0; cell < columns.size(); ++cell)
        if (item.cells[cell] == i)
          piece.column = columns[cell];
      add(piece, out);
    }
    return out;
  }

  const syntax::WrittenFile &written_;
  Measure measure_;
  /// By their first token: items that are kept, and together with the one
  /// before.
  std::vector<bool> isKept_, isJoined_;
  std::vector<Line> lines_;
  std::size_t blocks_ = 0;
  bool isFirst_ = true; ///< no line of the block that is written yet
};

} // namespace

std::vector<Line> layOut(std::string_view text,
                         const syntax::WrittenFile &written,
                         const std::vector<KeptLine> &kept) {
  return Layout(text, written, kept).run();
}

} // namespace planc::format
