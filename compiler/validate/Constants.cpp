#include "compiler/validate/Constants.h"

#include "compiler/validate/StandardNames.h"
#include "compiler/validate/Words.h"
#include "runtime/report/NumberText.h"
#include "stdlib/EmbeddedFiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace planc::validate {

namespace {

using report::cell;

constexpr auto kNames = std::to_array<std::string_view>({
#define PLANC_ACCELERATOR_CONSTANT(MEMBER, NAME, DEFAULT, HELP) NAME,
#define PLANC_LEVEL_CONSTANT(MEMBER, NAME, DEFAULT, HELP) NAME,
#include "runtime/hardware/Constants.def"
    "latency", "reserve"});

/// Reads a file of clusters line by line; what is open is a stack of names, and
/// each has the comment that stands above it.
class Reader {
public:
  explicit Reader(std::string_view file) : file_(file) {}

  void read(std::string_view text, std::vector<FreeConstant> &out) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end), out);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

private:
  struct Open {
    std::string name, comment;
  };

  void line(std::string_view text, std::vector<FreeConstant> &out) {
    const std::size_t hash = text.find('#');
    const std::string_view code = trimmed(text.substr(0, hash));
    const std::string_view comment =
        hash == std::string_view::npos ? "" : trimmed(text.substr(hash + 1));
    if (code.empty()) {
      // A blank line ends a comment; the next one says something else.
      if (!isAbove_)
        above_.clear();
      isAbove_ = !comment.empty();
      if (isAbove_)
        above_ += (above_.empty() ? "" : " ") + std::string(comment);
      return;
    }
    isAbove_ = false;
    if (code.back() == '{')
      open(code);
    else if (code == "}" && !open_.empty())
      open_.pop_back();
    else
      field(code, comment, out);
  }

  void open(std::string_view code) {
    const std::size_t first = code.find(' ');
    const std::string_view rest = trimmed(code.substr(first));
    open_.push_back({std::string(rest.substr(0, rest.find(' '))), above_});
    above_.clear();
  }

  void field(std::string_view code, std::string_view comment,
             std::vector<FreeConstant> &out) {
    const std::size_t space = code.find(' ');
    const std::string_view name = code.substr(0, space);
    if (space == std::string_view::npos ||
        std::find(kNames.begin(), kNames.end(), name) == kNames.end())
      return;
    FreeConstant made{file_, "", std::string(name),
                      std::string(trimmed(code.substr(space))),
                      std::string(comment)};
    for (const Open &open : open_)
      made.owner += (made.owner.empty() ? "" : ".") + open.name;
    if (made.source.empty())
      made.source = above_;
    for (auto open = open_.rbegin(); open != open_.rend(); ++open)
      if (made.source.empty())
        made.source = open->comment;
    out.push_back(std::move(made));
  }

  std::string file_;
  std::vector<Open> open_;
  std::string above_;
  bool isAbove_ = false;
};

} // namespace

bool FreeConstant::isCopy() const {
  std::string lower = source;
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  for (const StandardCluster &cluster : standardClusters())
    if (hasWords(lower, "as " + cluster.name) ||
        hasWords(lower, "as " + cluster.accelerator))
      return true;
  return false;
}

std::vector<FreeConstant> freeConstants() {
  std::vector<FreeConstant> out;
  for (const EmbeddedFile &file : standardLibrary())
    if (file.name.substr(0, 9) == "clusters/")
      Reader(file.name).read(file.text, out);
  return out;
}

std::string constantsPage() {
  const std::vector<FreeConstant> all = freeConstants();
  std::map<std::string_view, std::set<std::string>> values;
  std::size_t own = 0;
  for (const FreeConstant &constant : all) {
    values[constant.name].insert(constant.value);
    own += !constant.isCopy();
  }
  std::string out = fmt::format(
      "# Constants that a measurement gave\n\n"
      "Made by `planc validate --write`. Values of `stdlib/clusters` that no "
      "datasheet prints as\nsuch: {} of them, {} with a source of their own; "
      "the others are another accelerator's or\ncluster's, as their comments "
      "say, some in the ratio of two rates. Beside each is its\ncomment, or "
      "the nearest one above it, which may speak of several. How each is "
      "used:\n[cost.md](cost.md). None was fitted to a row of "
      "[validation.md](validation.md).\n\n"
      "| constant | values | different ones |\n|---|---:|---:|\n",
      all.size(), own);
  for (const auto &[name, different] : values)
    out += fmt::format(
        "| `{}` | {} | {} |\n", name,
        std::count_if(all.begin(), all.end(),
                      [&](const FreeConstant &c) { return c.name == name; }),
        different.size());
  std::string file;
  for (const FreeConstant &constant : all) {
    if (constant.file != file)
      out += fmt::format("\n## {}\n\n| of | constant | value | source "
                         "|\n|---|---|---|---|\n",
                         constant.file);
    file = constant.file;
    out += fmt::format("| {} | {} | {} | {} |\n", cell(constant.owner),
                       cell(constant.name), cell(constant.value),
                       cell(constant.source));
  }
  return out;
}

} // namespace planc::validate
