#include "tools/planc/PlanFile.h"

#include "compiler/diag/Consumers.h"
#include "tools/planc/CommandLine.h"
#include "tools/planc/Quantities.h"
#include "tools/planc/Terminal.h"

#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

bool isSameFile(const std::string &a, const std::string &b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

} // namespace

std::optional<int> setPeak(driver::Options &session, const std::string &rate) {
  if (rate.empty())
    return std::nullopt;
  session.peakFlopsPerSecond = rateOf(rate);
  if (session.peakFlopsPerSecond)
    return std::nullopt;
  return usageError("--peak wants GFLOP/s, TFLOP/s or PFLOP/s, such as "
                    "989.4TFLOP/s, found '" +
                    rate + "'");
}

std::optional<std::vector<sema::Override>>
overridesOf(const cl::list<std::string> &defines) {
  std::vector<sema::Override> out;
  for (const std::string &define : defines) {
    const std::size_t equals = define.find('=');
    if (equals == std::string::npos || equals == 0) {
      usageError("-D wants name=value, found '" + define + "'");
      return std::nullopt;
    }
    out.push_back({define.substr(0, equals), define.substr(equals + 1)});
  }
  return out;
}

std::optional<report::Color> colorOf(const ColorOption &option,
                                     const OutputOption &output) {
  enum class When { Auto, Always, Never };
  constexpr std::array<Choice<When>, 3> kWhen = {
      {{"auto", When::Auto}, {"always", When::Always}, {"never", When::Never}}};
  const auto when = choose(option, kWhen);
  if (!when)
    return std::nullopt;
  const bool isColored =
      *when == When::Always ||
      (*when == When::Auto && output.empty() && wantsColor(Channel::Output));
  return isColored ? report::Color::Always : report::Color::Never;
}

std::string whyUnreadable(const std::string &path) {
  // Without O_NONBLOCK, opening a named pipe would wait for its other end.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return std::strerror(errno);
  struct stat status {};
  char first = 0;
  std::string why;
  if (::fstat(file, &status) != 0)
    why = std::strerror(errno);
  else if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    why = "it is not a regular file";
  else if (::read(file, &first, 1) < 0)
    why = std::strerror(errno);
  ::close(file);
  return why;
}

CompileOptions::CompileOptions(cl::SubCommand &verb)
    : defines("D", cl::Prefix, cl::desc("set a `param` of the file"),
              cl::value_desc("name=value"), cl::sub(verb), cl::cat(options())),
      plan("plan", cl::desc("the plan of the file; its first, if not given"),
           cl::value_desc("NAME"), cl::sub(verb), cl::cat(options())),
      verifyEach("verify-each", cl::Hidden,
                 cl::desc("check every stage's rules after every pass"),
                 cl::sub(verb), cl::cat(options())),
      flat("flat", cl::Hidden,
           cl::desc("simulate every instruction of every run"), cl::sub(verb),
           cl::cat(options())) {}

PlanOptions::PlanOptions(cl::SubCommand &verb, const char *operand)
    : CompileOptions(verb), file(cl::Positional, cl::desc(operand),
                                 cl::sub(verb), cl::cat(options())) {}

std::optional<driver::Options>
CompileOptions::session(const std::string &file) const {
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
  auto overrides = overridesOf(defines);
  if (!overrides)
    return std::nullopt;
  options.overrides = std::move(*overrides);
  if (verifyEach)
    options.verify = driver::Options::Verify::Each;
  if (flat)
    options.simulation = driver::Options::Simulation::Flat;
  return options;
}

bool writeResult(const std::string &path, std::string_view text,
                 const std::vector<std::string> &read) {
  const bool isFile = !path.empty() && path != "-";
  for (const std::string &name : read)
    if (isFile && isSameFile(path, name)) {
      usageError("cannot write '" + path +
                 "': it would overwrite a file that was read");
      return false;
    }
  return writeOutput(path, text);
}

bool writeResult(const std::string &path, std::string_view text,
                 const driver::Session &session) {
  return writeResult(path, text, session.files());
}

std::string diagnosticsText(const driver::Session &session) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  diag::ConsoleConsumer console(
      stream, session.sources(),
      wantsColor(Channel::Error) ? diag::Colour::Always : diag::Colour::Never);
  for (const diag::Diagnostic &diagnostic : session.diagnostics())
    console.handle(diagnostic);
  return std::move(stream.str());
}

void printDiagnostics(const driver::Session &session) {
  writeError(diagnosticsText(session));
}

std::vector<report::DiagnosticRow> rowsOf(const driver::Session &session) {
  return rowsOf(session.diagnostics(), session.sources(), {});
}

std::vector<report::DiagnosticRow>
rowsOf(const std::vector<diag::Diagnostic> &diagnostics,
       const source::SourceSet &sources, const diag::Levels &levels) {
  std::vector<report::DiagnosticRow> rows;
  for (const diag::Diagnostic &diagnostic : diagnostics) {
    report::DiagnosticRow row;
    row.code = diag::infoOf(diagnostic.kind).name;
    row.severity = diag::spelling(levels.of(diagnostic));
    row.message = diagnostic.message;
    if (diagnostic.span.isValid()) {
      row.file = sources[diagnostic.span.file].name();
      const auto at = sources.lineColumn(diagnostic.span);
      row.line = at.line;
      row.column = at.column;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace planc::tool
