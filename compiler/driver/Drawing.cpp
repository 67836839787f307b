#include "compiler/driver/Drawing.h"

#include "compiler/driver/Costs.h"
#include "compiler/driver/MakeReport.h"
#include "compiler/lower/Memory.h"
#include "compiler/source/Shorten.h"

#include <fmt/format.h>

namespace planc::driver {

namespace {

/// The text of a comment in a line, without its mark; nothing if there is none.
std::string_view commentIn(std::string_view line) {
  const std::size_t mark = line.find('#');
  if (mark == std::string_view::npos)
    return "";
  const std::size_t first = line.find_first_not_of("# \t", mark);
  return first == std::string_view::npos ? "" : line.substr(first);
}

bool isComment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '#';
}

bool isBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// Bytes: a line on what a value rests on, not a book.
constexpr std::size_t kLongest = 400;

/// Goes down the lines of a declaration and knows the comment that speaks for
/// what follows: lines of comment above it, or above fields that stand between,
/// up to an empty line.
class CommentsAbove {
public:
  /// From the line after `first`.
  CommentsAbove(const source::SourceFile &file, std::uint32_t first)
      : file_(file), next_(first + 1) {}

  /// Of lines in the order written.
  const std::string &of(std::uint32_t line) {
    for (; next_ < line; ++next_)
      pass(file_.line(next_));
    return text_;
  }

private:
  void pass(std::string_view line) {
    if (isBlank(line) || line.find('{') != std::string_view::npos) {
      text_.clear();
      isOpen_ = false;
    } else if (!isComment(line)) {
      isOpen_ = false;
    } else if (const std::string_view words = commentIn(line); !words.empty()) {
      if (!isOpen_)
        text_.clear();
      isOpen_ = true;
      add(words);
    }
  }

  void add(std::string_view words) {
    if (isFull_ && !text_.empty())
      return;
    text_ += text_.empty() ? "" : " ";
    text_ += words;
    isFull_ = text_.size() > kLongest;
    source::shorten(text_, kLongest);
  }

  const source::SourceFile &file_;
  std::uint32_t next_;
  std::string text_;    ///< shortened
  bool isOpen_ = false; ///< the line before belongs to the text
  bool isFull_ = false; ///< the text was shortened
};

class Reader {
public:
  explicit Reader(const Compilation &c) : c_(c) {}

  void read(const std::string &of, std::span<const ast::Field> fields,
            source::SourceSpan whole) {
    const source::SourceFile &file = c_.program->sources()[whole.file];
    CommentsAbove above(file, file.lineColumn(whole.begin).line);
    for (const ast::Field &field : fields) {
      report::Assumption row;
      row.of = of;
      row.name = std::string(field.name.text);
      const std::string_view text = file.text().substr(
          field.span.begin, field.span.end - field.span.begin);
      const std::size_t value = text.find_first_not_of(" \t", row.name.size());
      if (value != std::string_view::npos)
        row.value = std::string(text.substr(value));
      const std::uint32_t line = file.lineColumn(field.span.begin).line;
      row.source = commentIn(file.line(line));
      source::shorten(row.source, kLongest);
      if (const std::string &comment = above.of(line); row.source.empty())
        row.source = comment;
      row.place = {file.name(), line};
      rows.push_back(std::move(row));
    }
  }

  /// The first declaration of a kind and name in the order of imports.
  template <class Decl> const Decl *find(std::string_view name) const {
    for (const auto &file : c_.program->files())
      for (const sema::Symbol &symbol : file->own())
        if (symbol.decl->kind == Decl::kKind && symbol.decl->name.text == name)
          return static_cast<const Decl *>(symbol.decl);
    return nullptr;
  }

  std::vector<report::Assumption> rows;

private:
  const Compilation &c_;
};

} // namespace

std::vector<program::MemoryCurve> memoryCurves(const Compilation &c) {
  const lower::EmitRequest request{&*c.sharded,
                                   &*c.stages,
                                   &c.module->plan,
                                   &c.bodies,
                                   c.module->accelerators,
                                   c.module->plan.name,
                                   instructionTimes(*c.cost)};
  std::vector<program::MemoryCurve> curves;
  for (std::int64_t stage = 0; stage < c.stages->stages; ++stage) {
    curves.push_back(lower::memoryCurveOf(request, stage));
    const program::RankClassId id(static_cast<std::size_t>(stage));
    if (id.index() < c.runs->order.classes.size())
      curves.back().standing += c.runs->order.classes[id].extra;
  }
  return curves;
}

report::Picture makePicture(const Compilation &c, const Options &options) {
  return report::makePicture(reportInputs(c, options), memoryCurves(c));
}

std::vector<report::Assumption> assumptionsOf(const Compilation &c) {
  Reader reader(c);
  const hardware::Cluster &cluster = c.module->cluster;
  if (const auto *decl =
          reader.find<ast::AcceleratorDecl>(cluster.accelerator.name))
    reader.read("accelerator " + cluster.accelerator.name, decl->fields,
                decl->span);
  if (const auto *decl = reader.find<ast::ClusterDecl>(cluster.name)) {
    reader.read("cluster " + cluster.name, decl->fields, decl->span);
    for (const ast::Level &level : decl->levels)
      reader.read(
          fmt::format("cluster {}, level {}", cluster.name, level.name.text),
          level.fields, level.span);
  }
  return std::move(reader.rows);
}

} // namespace planc::driver
