// planc check FILE…: everything that is wrong, expected in vain or wasted.
#include "compiler/driver/CheckFile.h"
#include "compiler/driver/Library.h"
#include "runtime/report/Writers.h"
#include "tools/planc/Findings.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <llvm/Support/raw_ostream.h>

#include <fmt/format.h>

#include <array>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Json, GitHub, Sarif };

/// `--deny NAME`, `--warn NAME`, `--allow NAME`.
struct NamesOption : cl::list<std::string> {
  NamesOption(cl::SubCommand &verb, const char *name, const char *text)
      : cl::list<std::string>(llvm::StringRef(name), cl::desc(text),
                              cl::value_desc("NAME"), cl::sub(verb),
                              cl::cat(options())) {}
};

struct CheckOptions {
  cl::SubCommand verb{"check", "what is wrong with plans, what does not hold, "
                               "what is wasted"};
  cl::list<std::string> files{cl::Positional, cl::ZeroOrMore, cl::desc("FILE…"),
                              cl::sub(verb), cl::cat(options())};
  CompileOptions compile{verb};
  TextOption format{verb, "format", "text, json, github or sarif", "FORM"};
  OutputOption output{verb, "write to FILE; .json and .sarif say the form"};
  NamesOption deny{verb, "deny", "a warning or remark that fails the check"};
  NamesOption warn{verb, "warn", "a remark that is to be a warning"};
  NamesOption allow{verb, "allow", "a warning or remark not to be said"};
};

constexpr std::array<Choice<Format>, 4> kFormats = {{{"text", Format::Text},
                                                     {"json", Format::Json},
                                                     {"github", Format::GitHub},
                                                     {"sarif", Format::Sarif}}};

std::optional<diag::Kind> lintNamed(const char *flag, const std::string &name) {
  const auto kind = diag::kindByName(name);
  if (kind && diag::infoOf(*kind).severity != diag::Severity::Error)
    return kind;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < diag::kindCount(); ++i)
    if (const auto &info = diag::infoOf(static_cast<diag::Kind>(i));
        info.severity != diag::Severity::Error)
      names.push_back(info.name);
  const auto near = diag::nearestName(name, names);
  usageError(fmt::format(
      "--{} {}: {}{}", flag, name,
      kind ? "it is an error, which stays one" : "no lint is called so",
      near && !kind ? fmt::format("; did you mean {}?", *near) : ""));
  return std::nullopt;
}

struct Choices {
  diag::Levels levels;
  std::set<diag::Kind> allowed;
};

/// Nothing after a message.
std::optional<Choices> choicesOf(const CheckOptions &options) {
  Choices out;
  const auto set = [&](const char *flag, const NamesOption &names,
                       diag::Severity severity) {
    for (const std::string &name : names) {
      const auto kind = lintNamed(flag, name);
      if (!kind)
        return false;
      out.levels.set(*kind, severity);
    }
    return true;
  };
  if (!set("warn", options.warn, diag::Severity::Warning) ||
      !set("deny", options.deny, diag::Severity::Error))
    return std::nullopt;
  for (const std::string &name : options.allow) {
    const auto kind = lintNamed("allow", name);
    if (!kind)
      return std::nullopt;
    out.allowed.insert(*kind);
  }
  return out;
}

/// Files one after the other, and all that was found.
class Check {
public:
  explicit Check(Choices choices) : choices_(std::move(choices)) {}

  void add(driver::Options options) {
    options.library = &library_;
    checked_.push_back(driver::checkFile(options));
    driver::CheckedFile &last = checked_.back();
    std::erase_if(last.diagnostics, [&](const diag::Diagnostic &d) {
      return choices_.allowed.contains(d.kind);
    });
    for (const diag::Kind kind : choices_.allowed)
      last.unlisted.erase(kind);
    outcome_ = driver::worse(outcome_, last.outcome);
    plans_ += last.plans;
    for (Finding &finding : findingsOf(last, choices_.levels)) {
      // A lint that was denied.
      if (finding.severity == diag::Severity::Error &&
          finding.diagnostic->severity() != diag::Severity::Error)
        outcome_ = driver::worse(outcome_, driver::Outcome::ExpectationFailed);
      findings_.push_back(std::move(finding));
    }
  }

  driver::Outcome outcome() const { return outcome_; }

  void print() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (const driver::CheckedFile &file : checked_) {
      diag::ConsoleConsumer console(stream, file.sources(),
                                    wantsColor(Channel::Error)
                                        ? diag::Colour::Always
                                        : diag::Colour::Never,
                                    choices_.levels);
      for (const diag::Diagnostic &diagnostic : file.diagnostics)
        console.handle(diagnostic);
    }
    writeError(stream.str());
  }

  std::string write(Format format) const {
    switch (format) {
    case Format::Text:
      return summary();
    case Format::Json:
      return report::toJson(driver::statusOf(outcome_), rows());
    case Format::GitHub:
      return toGitHub(findings_);
    case Format::Sarif:
      return toSarif(findings_);
    }
    return "";
  }

private:
  static std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  }

  /// `3 plans in 1 file: 1 error, 2 warnings, 1 silenced`.
  std::string summary() const {
    std::string out = counted(plans_, "plan") + " in " +
                      counted(checked_.size(), "file") + ": ";
    std::string found;
    for (const auto severity : {diag::Severity::Error, diag::Severity::Warning,
                                diag::Severity::Remark}) {
      const auto count = static_cast<std::size_t>(std::count_if(
          findings_.begin(), findings_.end(), [&](const Finding &finding) {
            return finding.severity == severity;
          }));
      if (count != 0)
        found += (found.empty() ? "" : ", ") +
                 counted(count, diag::spelling(severity));
    }
    std::size_t silenced = 0, unlisted = 0;
    for (const driver::CheckedFile &file : checked_) {
      silenced += file.silenced;
      for (const auto &[kind, count] : file.unlisted)
        unlisted += count;
    }
    out += found.empty() ? "fine" : found;
    out += unlisted ? fmt::format(", {} more not listed", unlisted) : "";
    return out + (silenced ? fmt::format(", {} silenced", silenced) : "") +
           "\n";
  }

  std::vector<report::DiagnosticRow> rows() const {
    std::vector<report::DiagnosticRow> out;
    for (const driver::CheckedFile &file : checked_)
      for (report::DiagnosticRow &row :
           rowsOf(file.diagnostics, file.sources(), choices_.levels))
        out.push_back(std::move(row));
    return out;
  }

  Choices choices_;
  driver::Library library_;
  /// Findings point into these, which moves of a CheckedFile keep.
  std::vector<driver::CheckedFile> checked_;
  std::vector<Finding> findings_;
  std::size_t plans_ = 0;
  driver::Outcome outcome_ = driver::Outcome::Ok;
};

} // namespace

int runCheck(Arguments arguments) {
  static CheckOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto format =
      chooseForm(options.format, options.output.getValue(), kFormats);
  const auto choices = format ? choicesOf(options) : std::nullopt;
  if (!choices)
    return kUsage;
  if (options.files.empty())
    return usageError("no FILE given");
  Check check(*choices);
  int code = 0;
  std::vector<std::string> read;
  for (const std::string &file : options.files) {
    read.push_back(file);
    if (auto session = options.compile.session(file))
      check.add(std::move(*session));
    else
      code = kUsage;
  }
  if (*format == Format::Text || *format == Format::Json)
    check.print();
  if (!writeResult(options.output, check.write(*format), read))
    code = kUsage;
  return driver::worseExit(code, driver::exitCode(check.outcome()));
}

} // namespace planc::tool
