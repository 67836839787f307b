#include "runtime/report/HtmlReport.h"

#include "runtime/report/JsonWriter.h"
#include "runtime/report/PageFiles.h"
#include "runtime/report/Svg.h"
#include "runtime/report/Writers.h"

#include <fmt/format.h>

namespace planc::report {

namespace {

std::string_view fileNamed(std::string_view name) {
  for (const EmbeddedFile &file : pageFiles())
    if (file.name == name)
      return file.text;
  return "";
}

/// What ends in `.js`, in the order of names.
std::string scripts() {
  std::string out;
  for (const EmbeddedFile &file : pageFiles())
    if (file.name.size() > 3 && file.name.substr(file.name.size() - 3) == ".js")
      out += file.text;
  return out;
}

/// `<` only stands in texts, where JSON may write it as an escape.
std::string withoutTags(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (char c : json)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

std::string assumptionsOf(const std::vector<Assumption> &rows) {
  return written([&](Json &json) {
    json.array("rows", rows, [&](const Assumption &row) {
      json.text("of", row.of);
      json.text("name", row.name);
      json.text("value", row.value);
      json.text("source", row.source);
      json.text("file", row.place.file);
      json.integer("line", row.place.line);
    });
  });
}

/// Words of causes and kinds, so that the script has no list of its own.
std::string wordsJson(const Report &report) {
  return written([&](Json &json) {
    json.object("causes", [&] {
      for (std::size_t i = 0; i < kCauseCount; ++i) {
        const auto cause = static_cast<Cause>(i);
        json.object(keyOf(cause), [&] {
          json.text("words", wordsOf(cause));
          json.text("group", barOf(cause).key);
          json.text("reason", report.reasons[i]);
        });
      }
    });
  });
}

/// Colours of bars and shades, as variables of the style.
std::string colourVariables() {
  std::string light, dark;
  for (const BarInfo &info : bars()) {
    light += fmt::format("--{}:{};", info.key, info.light);
    dark += fmt::format("--{}:{};", info.key, info.dark);
  }
  for (const ShadeInfo &info : shades()) {
    light += fmt::format("--shade-{}:{};", info.key, info.light);
    dark += fmt::format("--shade-{}:{};", info.key, info.dark);
  }
  return fmt::format(":root{{{}}}\n@media screen and "
                     "(prefers-color-scheme:dark){{:root{{{}}}}}\n",
                     light, dark);
}

} // namespace

std::string toHtml(const PageInputs &inputs) {
  const std::string data = fmt::format(
      "{{\"report\":{},\"words\":{},\"assumptions\":{},\"explanation\":{},"
      "\"picture\":{}}}",
      toJson(inputs.report), wordsJson(inputs.report),
      assumptionsOf(inputs.assumptions),
      inputs.explanation ? toJson(*inputs.explanation) : "null",
      toJson(inputs.picture));
  const std::string title =
      escapedXml(oneLine(inputs.report.planned.plan)) + " · planc";
  std::string out;
  std::string_view rest = fileNamed("report.html");
  while (!rest.empty()) {
    const std::size_t mark = rest.find("{{");
    out += rest.substr(0, mark);
    if (mark == std::string_view::npos)
      break;
    const std::size_t end = rest.find("}}", mark);
    const std::string_view name = rest.substr(mark + 2, end - mark - 2);
    if (name == "title")
      out += title;
    else if (name == "style")
      out += colourVariables() + std::string(fileNamed("report.css"));
    else if (name == "data")
      out += withoutTags(data);
    else if (name == "script")
      out += scripts();
    rest.remove_prefix(end + 2);
  }
  return out;
}

} // namespace planc::report
