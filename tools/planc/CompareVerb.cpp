// planc compare FILE…: many plans side by side.
#include "compiler/compare/Table.h"
#include "tools/planc/CommandLine.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <array>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Markdown, Json, Csv };

constexpr std::array<Choice<Format>, 4> kFormats = {
    {{"text", Format::Text},
     {"markdown", Format::Markdown},
     {"json", Format::Json},
     {"csv", Format::Csv}}};

struct CompareOptions {
  cl::SubCommand verb{"compare", "many plans side by side, the best first"};
  cl::list<std::string> files{cl::Positional, cl::desc("FILE…"), cl::ZeroOrMore,
                              cl::sub(verb), cl::cat(options())};
  cl::list<std::string> defines{"D",
                                cl::Prefix,
                                cl::desc("set a `param` of every file"),
                                cl::value_desc("name=value"),
                                cl::sub(verb),
                                cl::cat(options())};
  TextOption plan{verb, "plan", "one plan of each file; all, if not given",
                  "NAME"};
  TextOption sort{verb, "sort", "by what: step_time, mfu, memory, …", "KEY"};
  TextOption format{verb, "format", "text, markdown, json or csv", "FORM"};
  OutputOption output{verb};
  ColorOption color{verb};
};

std::string write(Format format, const compare::Table &table,
                  report::Color color) {
  switch (format) {
  case Format::Text:
    return compare::toText(table, color);
  case Format::Markdown:
    return compare::toMarkdown(table);
  case Format::Json:
    return compare::toJson(table);
  case Format::Csv:
    return compare::toCsv(table);
  }
  return "";
}

} // namespace

int runCompare(Arguments arguments) {
  static CompareOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto format =
      chooseForm(options.format, options.output.getValue(), kFormats);
  const auto color =
      format ? colorOf(options.color, options.output) : std::nullopt;
  if (!color)
    return kUsage;
  auto by = std::optional(compare::Column::Step);
  if (options.sort.getNumOccurrences() > 0)
    by = compare::columnFromKey(options.sort.getValue());
  if (!by)
    return refuseWord(options.sort, compare::columnKeys());
  auto overrides = overridesOf(options.defines);
  if (!overrides)
    return kUsage;
  if (options.files.empty())
    return usageError("no FILE given");
  std::vector<compare::SessionPtr> sessions;
  for (const std::string &file : options.files) {
    if (const std::string why = whyUnreadable(file); !why.empty())
      return usageError("cannot read '" + file + "': " + why);
    driver::Options one;
    one.file = file;
    one.planName = options.plan;
    one.overrides = *overrides;
    for (compare::SessionPtr &session : compare::runPlans(one))
      sessions.push_back(std::move(session));
  }
  std::vector<std::string> read;
  for (const compare::SessionPtr &session : sessions) {
    if (session->report() == nullptr)
      printDiagnostics(*session);
    for (std::string &name : session->files())
      read.push_back(std::move(name));
  }
  const compare::Table table = compare::tableOf(sessions, *by);
  if (!writeResult(options.output, write(*format, table, *color), read))
    return kUsage;
  // One that does not fit is a row, not a failure.
  return driver::exitCode(compare::mistakeOf(sessions));
}

} // namespace planc::tool
