// planc diff OLD NEW: what a change of a plan does, and why.
#include "compiler/compare/DiffWriters.h"
#include "runtime/report/NumberText.h"
#include "tools/planc/CommandLine.h"
#include "tools/planc/Git.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Markdown, Json };

constexpr std::array<Choice<Format>, 3> kFormats = {
    {{"text", Format::Text},
     {"markdown", Format::Markdown},
     {"json", Format::Json}}};

struct DiffOptions {
  cl::SubCommand verb{"diff", "what a change of a plan does, and why"};
  cl::list<std::string> files{cl::Positional, cl::desc("OLD NEW"),
                              cl::ZeroOrMore, cl::sub(verb),
                              cl::cat(options())};
  TextOption against{verb, "against",
                     "FILE as a commit of git has it is the old one", "REF"};
  TextOption plan{verb, "plan",
                  "the plan of both files; all of them, if not given", "NAME"};
  TextOption oldPlan{verb, "old-plan", "the plan of the old file", "NAME"};
  TextOption newPlan{verb, "new-plan", "the plan of the new file", "NAME"};
  cl::list<std::string> defines{"D",
                                cl::Prefix,
                                cl::desc("set a `param` of both files"),
                                cl::value_desc("name=value"),
                                cl::sub(verb),
                                cl::cat(options())};
  cl::list<std::string> thresholds{
      "fail-on",
      cl::desc("exit with 3 where it holds: 'mfu < -0.5pp', 'memory > 75GB'"),
      cl::value_desc("THRESHOLD"), cl::sub(verb), cl::cat(options())};
  TextOption format{verb, "format", "text, markdown or json", "FORM"};
  OutputOption output{verb};
  ColorOption color{verb};
};

/// `--fail-on A B`: what has a sign of comparison is one more threshold.
bool isThreshold(const std::string &word) {
  return word.find_first_of("<>") != std::string::npos;
}

/// Nothing after a message.
std::optional<std::vector<compare::Threshold>>
thresholdsOf(const std::vector<std::string> &texts) {
  std::vector<compare::Threshold> out;
  for (const std::string &text : texts) {
    auto read = compare::parseThreshold(text);
    if (const auto *error = std::get_if<compare::ThresholdError>(&read)) {
      usageError("--fail-on: " + error->message);
      const std::string shown = report::oneLine(text);
      writeError("  " + shown + "\n");
      if (shown == text)
        writeError("  " + std::string(error->begin, ' ') +
                   std::string(error->end - error->begin, '^') + "\n");
      return std::nullopt;
    }
    out.push_back(std::get<compare::Threshold>(std::move(read)));
  }
  return out;
}

/// `FILE::plan` where no file is called so.
struct NamedPlan {
  std::string file, plan;
};
NamedPlan namedPlan(const std::string &word) {
  const std::size_t at = word.rfind("::");
  if (at == std::string::npos || at == 0 || exists(word))
    return {word, ""};
  return {word.substr(0, at), word.substr(at + 2)};
}

/// What the user asked for, checked as far as names go.
class Asked {
public:
  explicit Asked(const DiffOptions &options) : options_(options) {}

  /// An exit code after a message.
  std::optional<int> read() {
    std::vector<std::string> texts(options_.thresholds.begin(),
                                   options_.thresholds.end());
    for (const std::string &word : options_.files)
      (isThreshold(word) && !texts.empty() ? texts : files_).push_back(word);
    auto found = thresholdsOf(texts);
    if (!found)
      return kUsage;
    thresholds = std::move(*found);
    auto defines = overridesOf(options_.defines);
    if (!defines)
      return kUsage;
    overrides_ = std::move(*defines);
    return options_.against.getNumOccurrences() > 0 ? readCommitted()
                                                    : readPair();
  }

  std::vector<compare::DiffRequest> requests;
  std::vector<compare::Threshold> thresholds;

private:
  std::optional<int> readPair() {
    if (files_.size() != 2)
      return usageError("planc diff takes an OLD and a NEW file, found " +
                        std::to_string(files_.size()) +
                        "; or --against REF FILE");
    const NamedPlan before = namedPlan(files_[0]), after = namedPlan(files_[1]);
    for (const NamedPlan &side : {before, after})
      if (const std::string why = whyUnreadable(side.file); !why.empty())
        return usageError("cannot read '" + side.file + "': " + why);
    compare::DiffRequest request = withNames(before.plan, after.plan);
    request.before = fileOf(before.file);
    request.after = fileOf(after.file);
    requests.push_back(std::move(request));
    return std::nullopt;
  }

  std::optional<int> readCommitted() {
    if (files_.empty())
      return usageError("no FILE given");
    for (const std::string &word : files_) {
      const NamedPlan named = namedPlan(word);
      if (const std::string why = whyUnreadable(named.file); !why.empty())
        return usageError("cannot read '" + named.file + "': " + why);
      auto found = fileAt(options_.against, named.file);
      if (const auto *message = std::get_if<std::string>(&found))
        return usageError("--against: " + *message);
      compare::DiffRequest request = withNames(named.plan, named.plan);
      request.before = std::get<CommittedFile>(found).options;
      if (request.before)
        request.before->overrides = overrides_;
      request.after = fileOf(named.file);
      request.withoutPlans = compare::DiffRequest::WithoutPlans::LeftOut;
      requests.push_back(std::move(request));
    }
    return std::nullopt;
  }

  compare::DiffRequest withNames(const std::string &before,
                                 const std::string &after) const {
    const auto pick = [&](const std::string &special, const std::string &own) {
      return !special.empty() ? special
             : !own.empty()   ? own
                              : options_.plan.getValue();
    };
    compare::DiffRequest request;
    request.oldPlan = pick(options_.oldPlan, before);
    request.newPlan = pick(options_.newPlan, after);
    return request;
  }

  driver::Options fileOf(const std::string &file) const {
    driver::Options out;
    out.file = file;
    out.overrides = overrides_;
    return out;
  }

  const DiffOptions &options_;
  std::vector<std::string> files_;
  std::vector<sema::Override> overrides_;
};

/// What is wrong outweighs what is found: 70, 1, 2, 5, then 3, then 4.
int exitCodeOf(const compare::Diff &diff,
               const std::vector<compare::Failed> &failed) {
  using driver::Outcome;
  if (const Outcome mistake = compare::mistakeOf(diff.sessions);
      mistake != Outcome::Ok)
    return driver::exitCode(mistake);
  const auto isNow = [&](Outcome outcome) {
    return std::any_of(diff.plans.begin(), diff.plans.end(),
                       [&](const compare::PlanDiff &plan) {
                         return plan.after && plan.after->outcome() == outcome;
                       });
  };
  if (!failed.empty() || isNow(Outcome::ExpectationFailed))
    return driver::exitCode(Outcome::ExpectationFailed);
  return driver::exitCode(isNow(Outcome::Infeasible) ? Outcome::Infeasible
                                                     : Outcome::Ok);
}

/// Why a plan has no report, each message once: plans of one file, or of both,
/// often fail alike.
void printErrors(const compare::Diff &diff) {
  std::vector<std::string> said;
  for (const compare::SessionPtr &session : diff.sessions) {
    if (session->report() != nullptr)
      continue;
    std::string text = diagnosticsText(*session);
    if (std::find(said.begin(), said.end(), text) != said.end())
      continue;
    writeError(text);
    said.push_back(std::move(text));
  }
}

std::string write(Format format, const compare::Diff &diff,
                  const std::vector<compare::Failed> &failed,
                  report::Color color) {
  switch (format) {
  case Format::Text:
    return compare::toText(diff, failed, color);
  case Format::Markdown:
    return compare::toMarkdown(diff, failed);
  case Format::Json:
    return compare::toJson(diff, failed);
  }
  return "";
}

} // namespace

int runDiff(Arguments arguments) {
  static DiffOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto format =
      chooseForm(options.format, options.output.getValue(), kFormats);
  const auto color =
      format ? colorOf(options.color, options.output) : std::nullopt;
  if (!color)
    return kUsage;
  Asked asked(options);
  if (const auto code = asked.read())
    return *code;
  compare::Diff diff;
  for (const compare::DiffRequest &request : asked.requests) {
    compare::Diff one = compare::diff(request);
    std::move(one.sessions.begin(), one.sessions.end(),
              std::back_inserter(diff.sessions));
    std::move(one.plans.begin(), one.plans.end(),
              std::back_inserter(diff.plans));
  }
  printErrors(diff);
  const auto failed = compare::failuresOf(diff, asked.thresholds);
  std::vector<std::string> read;
  for (const compare::SessionPtr &session : diff.sessions)
    for (std::string &name : session->files())
      read.push_back(std::move(name));
  if (!writeResult(options.output, write(*format, diff, failed, *color), read))
    return kUsage;
  return exitCodeOf(diff, failed);
}

} // namespace planc::tool
