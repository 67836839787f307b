#include "compiler/driver/Drawing.h"

#include "compiler/driver/Costs.h"
#include "compiler/driver/MakeReport.h"
#include "compiler/lower/Memory.h"

#include <fmt/format.h>

namespace planc::driver {

namespace {

/// The text of a comment in a line, without its mark; nothing if there is none.
std::string commentIn(std::string_view line) {
  const std::size_t mark = line.find('#');
  if (mark == std::string_view::npos)
    return "";
  const std::size_t first = line.find_first_not_of("# \t", mark);
  return first == std::string_view::npos ? "" : std::string(line.substr(first));
}

bool isComment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '#';
}

bool isBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// Beside the field; else lines of comment above it, or above fields that stand
/// between: a comment speaks for what follows it, up to an empty line.
std::string sourceOf(const source::SourceFile &file, std::uint32_t line,
                     std::uint32_t first) {
  if (std::string beside = commentIn(file.line(line)); !beside.empty())
    return beside;
  std::string out;
  for (std::uint32_t at = line - 1; at > first; --at) {
    const std::string_view text = file.line(at);
    if (isBlank(text) || text.find('{') != std::string_view::npos)
      break;
    if (isComment(text))
      out = commentIn(text) + (out.empty() ? "" : " ") + out;
    else if (!out.empty())
      break;
  }
  return out;
}

class Reader {
public:
  explicit Reader(const Compilation &c) : c_(c) {}

  void read(const std::string &of, std::span<const ast::Field> fields,
            source::SourceSpan whole) {
    const source::SourceFile &file = c_.program->sources()[whole.file];
    const std::uint32_t first = file.lineColumn(whole.begin).line;
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
      row.source = sourceOf(file, line, first);
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
