#include "tools/planc/Findings.h"

#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace planc::tool {

namespace json = llvm::json;
namespace fs = std::filesystem;

namespace {

/// 1-based, in code points, of a byte column.
std::uint32_t codePointColumn(std::string_view line, std::uint32_t column) {
  std::uint32_t out = 1;
  for (std::size_t i = 0; i + 1 < column && i < line.size(); ++i)
    out += (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;
  return out;
}

source::LineColumn placeOf(const source::SourceFile &file,
                           std::uint32_t offset) {
  const source::LineColumn at = file.lineColumn(offset);
  return {at.line, codePointColumn(file.line(at.line), at.column)};
}

/// What a person reads besides the first sentence.
std::string details(const diag::Diagnostic &d) {
  std::string out;
  for (const diag::Note &note : d.notes)
    out += "\nnote: " + note.text;
  for (const diag::Note &context : d.contexts)
    out += "\nnote: " + context.text;
  for (const std::string &help : d.helps)
    out += "\nhelp: " + help;
  return out;
}

// ---- GitHub

/// `%`, CR and LF; in a property also `:` and `,` (GitHub, workflow commands).
std::string escaped(std::string_view text, std::string_view also) {
  std::string out;
  for (char c : text) {
    const bool isSpecial = c == '%' || c == '\r' || c == '\n' ||
                           also.find(c) != std::string_view::npos;
    out += isSpecial ? fmt::format("%{:02X}", static_cast<unsigned char>(c))
                     : std::string(1, c);
  }
  return out;
}

std::string_view commandOf(diag::Severity severity) {
  switch (severity) {
  case diag::Severity::Error:
    return "error";
  case diag::Severity::Warning:
    return "warning";
  case diag::Severity::Remark:
    return "notice";
  }
  return "error";
}

// ---- SARIF

std::string_view levelOf(diag::Severity severity) {
  return severity == diag::Severity::Remark ? "note" : diag::spelling(severity);
}

/// Relative to where planc runs, if it is below; every other byte than those of
/// plain names as %XX.
std::string uriOf(const std::string &file) {
  std::error_code error;
  fs::path path(file);
  const fs::path here = fs::current_path(error);
  if (path.is_absolute() && !error) {
    const fs::path inside = path.lexically_relative(here);
    if (!inside.empty() && *inside.begin() != "..")
      path = inside;
  }
  std::string out = path.is_absolute() ? "file://" : "";
  for (char c : path.lexically_normal().generic_string()) {
    const bool isPlain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        (c >= '0' && c <= '9') ||
        std::string_view("-._~/").find(c) != std::string_view::npos;
    out += isPlain ? std::string(1, c)
                   : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// FNV-1a, 64 bits.
std::uint64_t hashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::string utf8(const std::string &text) {
  return json::isUTF8(text) ? text : json::fixUTF8(text);
}

class Sarif {
public:
  explicit Sarif(const std::vector<Finding> &findings) : findings_(findings) {}

  std::string write() {
    json::Array results;
    for (const Finding &finding : findings_)
      results.push_back(result(finding));
    json::Object driver{{"name", "planc"},
                        {"version", PLANC_VERSION},
                        {"rules", std::move(rules_)}};
    json::Object run{{"tool", json::Object{{"driver", std::move(driver)}}},
                     {"columnKind", "unicodeCodePoints"},
                     {"results", std::move(results)}};
    json::Object log{
        {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
        {"version", "2.1.0"},
        {"runs", json::Array{std::move(run)}}};
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << llvm::formatv("{0:2}", json::Value(std::move(log)));
    return stream.str() + "\n";
  }

private:
  /// The rule's number; made when it is first asked for.
  std::int64_t ruleOf(const Finding &finding) {
    const std::string code(finding.code());
    const auto [at, isNew] = numbers_.emplace(code, rules_.size());
    if (isNew) {
      const diag::KindInfo &info = diag::infoOf(finding.diagnostic->kind);
      rules_.push_back(json::Object{
          {"id", code},
          {"shortDescription", json::Object{{"text", code}}},
          {"help", json::Object{{"text", std::string(info.page)}}},
          {"defaultConfiguration",
           json::Object{{"level", std::string(levelOf(info.severity))}}}});
    }
    return static_cast<std::int64_t>(at->second);
  }

  json::Object result(const Finding &finding) {
    json::Object out{
        {"ruleId", std::string(finding.code())},
        {"ruleIndex", ruleOf(finding)},
        {"level", std::string(levelOf(finding.severity))},
        {"message", json::Object{{"text", utf8(finding.diagnostic->message +
                                               details(*finding.diagnostic))}}},
        {"partialFingerprints",
         json::Object{{"plancLine/v1", fingerprint(finding)}}}};
    if (!finding.file.empty())
      out["locations"] = json::Array{json::Object{
          {"physicalLocation",
           json::Object{
               {"artifactLocation", json::Object{{"uri", uriOf(finding.file)}}},
               {"region", region(finding)}}}}};
    return out;
  }

  static json::Object region(const Finding &finding) {
    return json::Object{{"startLine", finding.begin.line},
                        {"startColumn", finding.begin.column},
                        {"endLine", finding.end.line},
                        {"endColumn", finding.end.column}};
  }

  /// The same while the rule, the file and the words of the line are; the
  /// line's number may change. Equal ones are counted.
  std::string fingerprint(const Finding &finding) {
    const std::string all = fmt::format("{}\n{}\n{}", finding.code(),
                                        uriOf(finding.file), finding.line);
    return fmt::format("{:016x}:{}", hashOf(all), ++seen_[all]);
  }

  const std::vector<Finding> &findings_;
  json::Array rules_;
  std::map<std::string, std::size_t> numbers_;
  std::map<std::string, int> seen_;
};

} // namespace

std::vector<Finding> findingsOf(const driver::CheckedFile &checked,
                                const diag::Levels &levels) {
  std::vector<Finding> out;
  for (const diag::Diagnostic &d : checked.diagnostics) {
    Finding finding;
    finding.diagnostic = &d;
    finding.severity = levels.of(d);
    if (d.span.isValid()) {
      const source::SourceFile &file = checked.sources()[d.span.file];
      finding.file = file.name();
      finding.begin = placeOf(file, d.span.begin);
      finding.end = placeOf(file, d.span.end);
      std::string_view line = file.line(finding.begin.line);
      while (!line.empty() && (line[0] == ' ' || line[0] == '\t'))
        line.remove_prefix(1);
      finding.line = line;
    }
    out.push_back(std::move(finding));
  }
  return out;
}

std::string toGitHub(const std::vector<Finding> &findings) {
  std::vector<const Finding *> order;
  for (const Finding &finding : findings)
    order.push_back(&finding);
  std::stable_sort(order.begin(), order.end(),
                   [](auto *a, auto *b) { return a->severity < b->severity; });
  std::string out;
  for (const Finding *finding : order) {
    out += fmt::format("::{} ", commandOf(finding->severity));
    if (!finding->file.empty())
      out += fmt::format("file={},line={},endLine={},col={},endColumn={},",
                         escaped(finding->file, ":,"), finding->begin.line,
                         finding->end.line, finding->begin.column,
                         finding->end.column);
    out += fmt::format(
        "title={}::{}\n", escaped(finding->code(), ":,"),
        escaped(finding->diagnostic->message + details(*finding->diagnostic),
                ""));
  }
  return out;
}

std::string toSarif(const std::vector<Finding> &findings) {
  return Sarif(findings).write();
}

} // namespace planc::tool
