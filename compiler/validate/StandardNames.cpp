#include "compiler/validate/StandardNames.h"

#include "compiler/validate/Words.h"
#include "stdlib/EmbeddedFiles.h"

#include <algorithm>
#include <charconv>

namespace planc::validate {

namespace {

/// Without comments; what goes on after a comma is one line.
std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty())
      continue;
    if (!lines.empty() && lines.back().back() == ',')
      (lines.back() += ' ') += line;
    else
      lines.emplace_back(line);
  }
  return lines;
}

/// At commas outside brackets.
std::vector<std::string_view> splitList(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(')
      ++depth;
    if (i < text.size() && text[i] == ')')
      --depth;
    if (i < text.size() && (text[i] != ',' || depth != 0))
      continue;
    const std::string_view part = trimmed(text.substr(begin, i - begin));
    if (!part.empty())
      parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

/// `std.models.llama` of `models/llama.plan`.
std::string moduleOf(std::string_view file) {
  std::string out = "std.";
  for (char c : file.substr(0, file.rfind('.')))
    out.push_back(c == '/' ? '.' : c);
  return out;
}

/// `name(a = 1, b)`: what stands before the bracket and inside it.
std::pair<std::string_view, std::string_view> callOf(std::string_view text) {
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos)
    return {trimmed(text), ""};
  return {trimmed(text.substr(0, open)),
          text.substr(open + 1, close - open - 1)};
}

std::optional<StandardModel> modelOf(std::string_view line) {
  constexpr std::string_view kWord = "model ";
  if (line.substr(0, kWord.size()) != kWord)
    return std::nullopt;
  line.remove_prefix(kWord.size());
  StandardModel out;
  const std::size_t open = line.find('('), equals = line.find('=');
  const bool isFamily = open < equals;
  const auto [callee, list] = callOf(isFamily ? line : line.substr(equals + 1));
  std::string_view family = callee;
  family.remove_prefix(
      family.find('.') == std::string_view::npos ? 0 : family.find('.') + 1);
  out.family = family;
  out.name = isFamily ? family : trimmed(line.substr(0, equals));
  for (std::string_view part : splitList(list)) {
    const std::size_t at = part.find('=');
    out.arguments.emplace_back(
        trimmed(part.substr(0, at)),
        at == std::string_view::npos ? "" : trimmed(part.substr(at + 1)));
  }
  return out;
}

std::vector<StandardModel> readModels() {
  std::vector<StandardModel> out;
  for (const EmbeddedFile &file : standardLibrary())
    if (file.name.substr(0, 7) == "models/")
      for (const std::string &line : linesOf(file.text))
        if (std::optional<StandardModel> model = modelOf(line)) {
          model->module = moduleOf(file.name);
          out.push_back(std::move(*model));
        }
  return out;
}

/// `link 450GB/s` → {link, 450GB/s}.
std::pair<std::string, std::string> fieldOf(std::string_view line) {
  const std::size_t at = line.find(' ');
  if (at == std::string_view::npos)
    return {std::string(line), ""};
  return {std::string(line.substr(0, at)),
          std::string(trimmed(line.substr(at)))};
}

/// `level node of 8 {`; its fields may follow on the line.
StandardLevel levelOf(std::string_view line) {
  StandardLevel level;
  const std::size_t of = line.find(" of "), brace = line.find('{');
  level.name = trimmed(line.substr(6, of - 6));
  const std::string_view count = trimmed(line.substr(of + 4, brace - of - 4));
  std::from_chars(count.data(), count.data() + count.size(), level.of);
  return level;
}

std::vector<StandardCluster> readClusters() {
  std::vector<StandardCluster> out;
  for (const EmbeddedFile &file : standardLibrary()) {
    if (file.name.substr(0, 9) != "clusters/")
      continue;
    enum class In { Nothing, Cluster, Level, Other } in = In::Nothing;
    for (const std::string &whole : linesOf(file.text)) {
      const std::string_view line = whole;
      const bool isClosed = line == "}";
      if (in == In::Nothing && line.substr(0, 8) == "cluster ") {
        out.emplace_back();
        out.back().name = trimmed(line.substr(8, line.find('{') - 8));
        out.back().module = moduleOf(file.name);
        in = In::Cluster;
      } else if (in == In::Nothing && line.back() == '{') {
        in = In::Other;
      } else if (in == In::Cluster && line.substr(0, 6) == "level ") {
        out.back().levels.push_back(levelOf(line));
        in = In::Level;
      } else if (isClosed) {
        in = in == In::Level ? In::Cluster : In::Nothing;
      } else if (in == In::Level) {
        out.back().levels.back().fields.push_back(fieldOf(line));
      } else if (in == In::Cluster && line.substr(0, 12) == "accelerator ") {
        out.back().accelerator = trimmed(line.substr(12));
      } else if (in == In::Cluster) {
        out.back().rest.emplace_back(line);
      }
    }
  }
  return out;
}

const std::vector<StandardModel> &standardModels() {
  static const std::vector<StandardModel> models = readModels();
  return models;
}

} // namespace

const std::string *StandardModel::argument(std::string_view formal) const {
  for (const auto &[given, value] : arguments)
    if (given == formal)
      return &value;
  return nullptr;
}

std::string *StandardLevel::field(std::string_view wanted) {
  for (auto &[given, value] : fields)
    if (given == wanted)
      return &value;
  return nullptr;
}

const StandardModel *findModel(std::string_view name) {
  for (const StandardModel &model : standardModels())
    if (model.name == name)
      return &model;
  return nullptr;
}

const std::vector<StandardCluster> &standardClusters() {
  static const std::vector<StandardCluster> clusters = readClusters();
  return clusters;
}

const StandardCluster *findCluster(std::string_view name) {
  for (const StandardCluster &cluster : standardClusters())
    if (cluster.name == name)
      return &cluster;
  return nullptr;
}

std::string textOf(const StandardCluster &cluster) {
  std::string out = "cluster " + cluster.name + " {\n  accelerator " +
                    cluster.accelerator + "\n";
  for (const StandardLevel &level : cluster.levels) {
    out += "  level " + level.name + " of " + std::to_string(level.of) + " {\n";
    for (const auto &[name, value] : level.fields)
      out += "    " + name + " " + value + "\n";
    out += "  }\n";
  }
  for (const std::string &line : cluster.rest)
    out += "  " + line + "\n";
  return out + "}\n";
}

} // namespace planc::validate
