#include "tools/planc/PlanFile.h"

#include "compiler/diag/Consumers.h"
#include "tools/planc/Terminal.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

/// Why nothing can be read from the file; empty when something can.
std::string whyUnreadable(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return std::strerror(errno);
  errno = 0;
  char first = 0;
  const bool failed =
      std::fread(&first, 1, 1, file) == 0 && std::ferror(file) != 0;
  const int error = errno;
  std::fclose(file);
  return failed ? std::strerror(error) : "";
}

/// The lines of llvm::cl's message under our own name, without its hint to a
/// help that lists something else.
std::string plainMessage(const std::string &text) {
  std::string out = text;
  for (std::string_view hint : {"  Try: ", ": See: "}) {
    const std::size_t at = out.find(hint);
    if (at != std::string::npos)
      out.erase(at, out.find('\n', at) - at);
  }
  return out;
}

} // namespace

cl::OptionCategory &options() {
  static cl::OptionCategory category("options");
  return category;
}

namespace {

/// `--peak=RATE`, `-D name=value`.
std::string spellingOf(const cl::Option &option) {
  std::string out = option.ArgStr.size() == 1 ? "-" : "--";
  out += option.ArgStr.str();
  if (!option.ValueStr.empty())
    out += " " + option.ValueStr.str();
  return out;
}

std::string helpOf(cl::SubCommand &verb) {
  constexpr std::size_t kTextColumn = 20;
  std::string operand;
  std::map<std::string, std::string> rows;
  for (const auto &entry : cl::getRegisteredOptions(verb)) {
    const cl::Option &option = *entry.second;
    if (option.getOptionHiddenFlag() == cl::NotHidden &&
        llvm::is_contained(option.Categories, &options()))
      rows[spellingOf(option)] = option.HelpStr.str();
  }
  for (const cl::Option *option : verb.PositionalOpts)
    operand += " " + option->HelpStr.str();
  std::string out = "planc " + verb.getName().str() + ": " +
                    verb.getDescription().str() + "\n\nusage: planc " +
                    verb.getName().str() + operand +
                    (rows.empty() ? "\n" : " [options]\n\noptions\n");
  for (const auto &[spelling, text] : rows) {
    std::string head = "  " + spelling;
    head.resize(std::max(head.size() + 2, kTextColumn), ' ');
    out += head + text + "\n";
  }
  return out;
}

bool asksForHelp(Arguments arguments) {
  for (int i = 2; i < arguments.count; ++i) {
    const std::string_view argument = arguments.values[i];
    if (argument == "--help" || argument == "-h")
      return true;
  }
  return false;
}

} // namespace

std::optional<int> parseArguments(Arguments arguments, cl::SubCommand &verb) {
  if (asksForHelp(arguments))
    return writeOutput("", helpOf(verb)) ? 0 : kUsage;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (cl::ParseCommandLineOptions(arguments.count, arguments.values, "",
                                  &stream))
    return std::nullopt;
  writeError(plainMessage(stream.str()));
  return kUsage;
}

PlanOptions::PlanOptions(cl::SubCommand &verb)
    : file(cl::Positional, cl::desc("FILE"), cl::sub(verb), cl::cat(options())),
      defines("D", cl::Prefix, cl::desc("set a `param` of the file"),
              cl::value_desc("name=value"), cl::sub(verb), cl::cat(options())),
      plan("plan", cl::desc("the plan of the file; its first, if not given"),
           cl::value_desc("NAME"), cl::sub(verb), cl::cat(options())),
      verifyEach("verify-each", cl::Hidden,
                 cl::desc("check every stage's rules after every pass"),
                 cl::sub(verb), cl::cat(options())),
      flat("flat", cl::Hidden,
           cl::desc("simulate every instruction of every run"), cl::sub(verb),
           cl::cat(options())) {}

std::optional<driver::Options> PlanOptions::session() const {
  driver::Options options;
  options.file = file;
  options.planName = plan;
  if (options.file.empty()) {
    usageError("no FILE given");
    return std::nullopt;
  }
  if (const std::string why = whyUnreadable(options.file); !why.empty()) {
    usageError("cannot read '" + options.file + "': " + why);
    return std::nullopt;
  }
  for (const std::string &define : defines) {
    const std::size_t equals = define.find('=');
    if (equals == std::string::npos || equals == 0) {
      usageError("-D wants name=value, found '" + define + "'");
      return std::nullopt;
    }
    options.overrides.push_back(
        {define.substr(0, equals), define.substr(equals + 1)});
  }
  if (verifyEach)
    options.verify = driver::Options::Verify::Each;
  if (flat)
    options.simulation = driver::Options::Simulation::Flat;
  return options;
}

void printDiagnostics(const driver::Session &session) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  diag::ConsoleConsumer console(
      stream, session.sources(),
      wantsColor(Channel::Error) ? diag::Colour::Always : diag::Colour::Never);
  for (const diag::Diagnostic &diagnostic : session.diagnostics())
    console.handle(diagnostic);
  writeError(stream.str());
}

std::vector<report::DiagnosticRow> rowsOf(const driver::Session &session) {
  std::vector<report::DiagnosticRow> rows;
  for (const diag::Diagnostic &diagnostic : session.diagnostics()) {
    report::DiagnosticRow row;
    row.code = diag::infoOf(diagnostic.kind).name;
    row.severity = diag::spelling(diagnostic.severity());
    row.message = diagnostic.message;
    if (diagnostic.span.isValid()) {
      row.file = session.sources()[diagnostic.span.file].name();
      const auto at = session.sources().lineColumn(diagnostic.span);
      row.line = at.line;
      row.column = at.column;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string_view statusOf(driver::Outcome outcome) {
  using driver::Outcome;
  switch (outcome) {
  case Outcome::Ok:
    return "ok";
  case Outcome::Environment:
    return "environment";
  case Outcome::Illegal:
    return "illegal";
  case Outcome::ExpectationFailed:
    return "expectation_failed";
  case Outcome::Infeasible:
    return "infeasible";
  case Outcome::Unsupported:
    return "unsupported";
  case Outcome::Internal:
    return "internal_error";
  }
  return "internal_error";
}

} // namespace planc::tool
