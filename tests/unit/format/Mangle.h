// Files as nobody writes them: items of real ones shuffled, left out and
// repeated, with white space, separators and comments at random.
#pragma once

#include "compiler/diag/Consumers.h"
#include "compiler/syntax/Written.h"

#include <fmt/format.h>

#include <random>

namespace planc {

/// A file of the corpus, parsed.
struct Pattern {
  source::SourceSet sources;
  ast::Arena arena;
  std::optional<syntax::WrittenFile> written;

  explicit Pattern(std::string text) {
    diag::CaptureConsumer captured;
    diag::Emitter emitter(captured);
    const auto id = sources.add("pattern.plan", std::move(text));
    written = syntax::parseWritten(id, sources, arena, emitter);
  }
};

class Mangler {
public:
  explicit Mangler(unsigned seed) : random_(seed) {}

  /// Some items of the pattern, and expressions of its own.
  std::string make(const Pattern &pattern) {
    pattern_ = &pattern;
    out_.clear();
    comments_ = 0;
    separate(true);
    items(pattern.written->items, 8);
    return std::move(out_);
  }

private:
  using Items = std::vector<syntax::WrittenItem>;
  using Role = syntax::TokenRole;

  bool chance(unsigned oneIn) { return random_() % oneIn == 0; }
  std::size_t below(std::size_t n) { return random_() % n; }

  Role role(std::size_t token) const {
    return pattern_->written->tokens[token].role;
  }
  std::string_view text(std::size_t token) const {
    return pattern_->sources.text(pattern_->written->tokens[token].span);
  }

  /// Spaces, at least one.
  void space() {
    static constexpr std::string_view kSpaces[] = {" ", " ", "  ", "\t",
                                                   "          "};
    out_ += kSpaces[below(5)];
  }

  void comment() {
    static constexpr std::string_view kWords[] = {
        "",     " why",       "# {",
        " ] )", "\té \"x",    " a, b ",
        "!",    " let a = 1", " planc: allow(bubble-large) why "};
    const std::string_view words = kWords[below(9)];
    out_ += fmt::format("#{}{}", words, ++comments_);
    if (chance(4))
      out_ += "  ";
  }

  void lineEnd() {
    static constexpr std::string_view kEnds[] = {"\n", "\n", "\n", "\r\n",
                                                 "\r"};
    out_ += kEnds[below(5)];
  }

  /// One line end, and whatever may stand between lines.
  void lineBreaks() {
    if (chance(4)) {
      space();
      comment();
    }
    lineEnd();
    while (chance(4)) {
      if (chance(2)) {
        space();
        comment();
      }
      lineEnd();
    }
    if (chance(2))
      space();
  }

  /// Between items; `edges`: before the first of a block or after its last.
  void separate(bool edges) {
    if (edges) {
      if (chance(2))
        lineBreaks();
      else
        space();
      return;
    }
    if (chance(3))
      out_ += chance(8) ? " , ," : ",";
    else
      lineBreaks();
    if (chance(2))
      lineBreaks();
    else
      space();
  }

  /// All of a block's items in some order, one of them perhaps again or not.
  void items(const Items &from, std::size_t most) {
    std::vector<const syntax::WrittenItem *> chosen;
    for (const syntax::WrittenItem &item : from)
      if (!chance(6))
        chosen.push_back(&item);
    if (chance(2))
      std::shuffle(chosen.begin(), chosen.end(), random_);
    if (chosen.size() > most) {
      const std::size_t first = below(chosen.size() - most);
      chosen = {chosen.begin() + static_cast<std::ptrdiff_t>(first),
                chosen.begin() + static_cast<std::ptrdiff_t>(first + most)};
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (i != 0)
        separate(false);
      item(*chosen[i]);
    }
    separate(true);
  }

  void item(const syntax::WrittenItem &item) {
    const bool hasBlock = item.open != syntax::WrittenItem::kNone;
    const std::size_t last = hasBlock ? item.open : item.last;
    std::size_t depth = 0;
    for (std::size_t i = item.first; i <= last; ++i) {
      if (role(i) == Role::Comment)
        continue;
      depth -= role(i) == Role::Close;
      if (i != item.first)
        between(i, depth);
      depth += role(i) == Role::Open || role(i) == Role::OpenTight;
      out_ += text(i);
      if (item.kind == syntax::ItemKind::ShardClause && i == item.cells[0] &&
          chance(3))
        dimensions();
    }
    if (!hasBlock)
      return;
    separate(true);
    items(item.items, 100);
    out_ += "}";
  }

  /// More than fit on a line, now and then.
  void dimensions() {
    const std::string before = ", dimension_";
    for (std::size_t i = 0, count = below(14); i < count; ++i)
      out_ += before + std::to_string(below(1000));
  }

  /// Before a token inside an item; in brackets lines may break anywhere.
  void between(std::size_t token, std::size_t depth) {
    const bool isInside = depth > 0 || role(token) == Role::Close;
    std::size_t before = token - 1;
    while (role(before) == Role::Comment)
      --before;
    const bool continues = role(before) == Role::Comma || text(before) == "=" ||
                           text(before) == "+";
    if (role(token) == Role::Close && role(before) != Role::Comma &&
        role(before) != Role::Open && role(before) != Role::OpenTight &&
        text(token) == "]" && chance(12))
      out_ += ",";
    if (isInside ? chance(12) : continues && chance(10))
      lineBreaks();
    else if (isWord(before) && isWord(token))
      space();
    else if (chance(2))
      space();
  }

  /// Must something stand between it and its like.
  bool isWord(std::size_t token) const {
    const Role is = role(token);
    return is == Role::Word || is == Role::Sign || is == Role::Point;
  }

  std::mt19937 random_;
  const Pattern *pattern_ = nullptr;
  std::string out_;
  std::size_t comments_ = 0;
};

/// An expression of every kind of operator, at random.
class RandomExpr {
public:
  explicit RandomExpr(unsigned seed) : random_(seed) {}

  std::string make(unsigned depth) {
    static constexpr std::string_view kOperators[] = {
        "+", "-", "*", "/", "//", "mod", "**", "..", "==", "<=", "and", "or"};
    const std::string gap = random_() % 2 == 0 ? " " : "\n   ";
    if (depth == 0)
      return leaf();
    switch (random_() % 7) {
    case 0:
      return "(" + make(depth - 1) + gap +
             std::string(kOperators[random_() % 12]) + " " + make(depth - 1) +
             ")";
    case 1:
      return "(-" + make(depth - 1) + ")";
    case 2:
      return "f(" + make(depth - 1) + "," + gap + "k = " + make(depth - 1) +
             ")";
    case 3:
      return "[" + make(depth - 1) + "," + make(depth - 1) +
             (random_() % 3 == 0 ? ",]" : gap + "]");
    case 4:
      return "(if " + make(depth - 1) + gap + "then " + make(depth - 1) +
             " else " + make(depth - 1) + ")";
    case 5:
      return "(not " + make(depth - 1) + ")";
    default:
      return leaf();
    }
  }

private:
  std::string leaf() {
    static constexpr std::string_view kLeaves[] = {
        "1",     "2.5",   "80GiB", "450GB/s",        "38%",
        "a.b.c", "batch", "true",  "\"t # \\\" é\"", "1F1B"};
    return std::string(kLeaves[random_() % 10]);
  }

  std::mt19937 random_;
};

} // namespace planc
