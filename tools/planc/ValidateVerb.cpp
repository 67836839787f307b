// planc validate: predictions beside measured runs.
#include "compiler/diag/Consumers.h"
#include "compiler/driver/Session.h"
#include "compiler/source/ImportResolver.h"
#include "compiler/validate/Constants.h"
#include "compiler/validate/Writers.h"
#include "tools/planc/CommandLine.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Json, Markdown, Csv, Svg };

struct VerbOptions {
  cl::SubCommand verb{"validate", "predictions beside measured runs"};
  cl::list<std::string> data{
      "data", cl::desc("a table of runs instead of the library's"),
      cl::value_desc("FILE.csv"), cl::sub(verb), cl::cat(tool::options())};
  TextOption only{verb, "only", "rows whose ids match", "GLOB"};
  TextOption format{verb, "format", "text, json, markdown, csv or svg", "FORM"};
  TextOption plans{verb, "plans", "write every row's plan below DIR", "DIR"};
  TextOption write{verb, "write",
                   "write the manual's page, its table and its picture", "DIR"};
  OutputOption output{verb, "write to FILE; .json, .md, .csv and .svg say the "
                            "form"};
  TextOption threads{
      verb, "threads",
      "rows at a time; as many as there are processors, if not given", "N"};
};

constexpr std::array<Choice<Format>, 5> kFormats = {
    {{"text", Format::Text},
     {"json", Format::Json},
     {"markdown", Format::Markdown},
     {"csv", Format::Csv},
     {"svg", Format::Svg}}};

std::optional<std::size_t> threadsOf(const std::string &text) {
  constexpr std::size_t kMost = 1024;
  if (text.empty())
    return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1,
                                   kMost);
  std::size_t value = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 1 || value > kMost)
    return std::nullopt;
  return value;
}

/// The table that was named; nothing after a message.
std::optional<validate::Table> tableOf(const std::string &path) {
  source::SourceSet sources;
  source::ImportResolver resolver(sources);
  const source::LoadResult loaded = resolver.loadMain(path);
  if (const auto *failure = std::get_if<source::LoadFailure>(&loaded)) {
    usageError("cannot read '" + path + "': " + failure->text);
    return std::nullopt;
  }
  std::string folder = std::filesystem::path(path).parent_path().string();
  return validate::Table{path, std::string(sources[std::get<0>(loaded)].text()),
                         folder.empty() ? "." : folder};
}

void printDiagnostics(const validate::Validated &validated) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  diag::ConsoleConsumer console(
      stream, validated.sources,
      wantsColor(Channel::Error) ? diag::Colour::Always : diag::Colour::Never);
  for (const diag::Diagnostic &diagnostic : validated.diagnostics)
    console.handle(diagnostic);
  writeError(stream.str());
}

/// An id as the name of a file that is not taken yet.
std::string fileOf(const std::string &id, std::set<std::string> &taken) {
  std::string out;
  for (char c : id.substr(0, 128)) {
    const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                         (c == '.' && !out.empty());
    out.push_back(isPlain ? c : '-');
  }
  std::string name = out + ".plan";
  for (std::size_t times = 2; !taken.insert(name).second; ++times)
    name = out + "-" + std::to_string(times) + ".plan";
  return name;
}

bool writePlans(const std::string &folder,
                const validate::Validated &validated) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    usageError("cannot write '" + folder + "': " + error.message());
    return false;
  }
  std::set<std::string> taken;
  for (const validate::RowResult &row : validated.result->rows)
    if (!row.planText.empty() &&
        !writeResult((std::filesystem::path(folder) /
                      fileOf(row.row.text(validate::Column::Id), taken))
                         .string(),
                     row.planText, validated.files))
      return false;
  return true;
}

/// `validation.md` with the tables between its marks made anew,
/// `validation.csv` and `validation.svg`.
bool writeManual(const std::string &folder, const validate::Validation &all) {
  constexpr std::string_view kBegin = "<!-- numbers -->\n",
                             kEnd = "\n<!-- end of numbers -->";
  const std::filesystem::path root(folder);
  const std::string path = (root / "validation.md").string();
  source::SourceSet sources;
  source::ImportResolver resolver(sources);
  const source::LoadResult loaded = resolver.loadMain(path);
  std::string page, before, after;
  if (const auto *id = std::get_if<source::FileId>(&loaded))
    page = sources[*id].text();
  const std::size_t begin = page.find(kBegin), end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    usageError("'" + path + "' has no `<!-- numbers -->` with an end");
    return false;
  }
  before = page.substr(0, begin + kBegin.size());
  after = page.substr(end);
  return writeOutput(path, before + validate::toMarkdown(all) + after) &&
         writeOutput((root / "validation.csv").string(),
                     validate::toCsv(all)) &&
         writeOutput((root / "validation.svg").string(),
                     validate::toSvg(all)) &&
         writeOutput((root / "constants.md").string(),
                     validate::constantsPage());
}

std::string write(Format format, const validate::Validation &all) {
  switch (format) {
  case Format::Text:
    return validate::toText(all);
  case Format::Json:
    return validate::toJson(all);
  case Format::Markdown:
    return validate::toMarkdown(all);
  case Format::Csv:
    return validate::toCsv(all);
  case Format::Svg:
    return validate::toSvg(all);
  }
  return "";
}

} // namespace

int runValidate(Arguments arguments) {
  static VerbOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto format =
      chooseForm(options.format, options.output.getValue(), kFormats);
  if (!format)
    return kUsage;
  if (!options.write.empty() && options.data.getNumOccurrences() +
                                        options.only.getNumOccurrences() +
                                        options.output.getNumOccurrences() +
                                        options.format.getNumOccurrences() >
                                    0)
    return usageError("--write makes the manual's page of all of the library's "
                      "rows: without --data, --only, --format and -o");
  const auto threads = threadsOf(options.threads);
  if (!threads)
    return usageError("--threads wants a number from 1 to 1024, found '" +
                      options.threads + "'");
  validate::ValidateOptions asked;
  asked.only = options.only;
  asked.threads = *threads;
  for (const std::string &path : options.data) {
    auto table = tableOf(path);
    if (!table)
      return kUsage;
    asked.tables.push_back(std::move(*table));
  }
  const validate::Validated validated = validate::validate(asked);
  printDiagnostics(validated);
  if (!validated.result)
    return driver::exitCode(driver::Outcome::Illegal);
  if (!options.only.empty() && validated.result->rows.empty())
    return usageError("--only '" + options.only + "' matches no row's id");
  if (!options.plans.empty() && !writePlans(options.plans, validated))
    return kUsage;
  if (!options.write.empty())
    return writeManual(options.write, *validated.result) ? 0 : kUsage;
  return writeResult(options.output, write(*format, *validated.result),
                     validated.files)
             ? 0
             : kUsage;
}

} // namespace planc::tool
