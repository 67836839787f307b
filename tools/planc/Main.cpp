// planc: finds the verb and runs it. `planc FILE` is `planc report FILE`.
#include "compiler/diag/Emitter.h"
#include "tools/planc/Terminal.h"
#include "tools/planc/Verbs.h"

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <vector>

namespace planc::tool {

namespace {

constexpr auto kVerbs = std::to_array<Verb>({
    {"report", "FILE", "what a step costs and why; `planc FILE` is the same",
     runReport},
    {"check", "FILE…",
     "what is wrong, what does not hold, what is wasted; for machines too",
     runCheck},
    {"fmt", "FILE…",
     "write files in the one style: -d for a diff, -w in place, --check",
     runFmt},
    {"emit", "FILE", "what a stage made: --stage=ast|sema|graph|sharded|…",
     runEmit},
    {"mfu", "FILE",
     "the MFU of a measured run, by every convention: --step 5.18s", runMfu},
    {"calibrate", "cluster|step",
     "links from logs of nccl-tests; a training run's steps beside a plan's",
     runCalibrate},
    {"diff", "OLD NEW",
     "what a change of a plan does, and why; --against REF FILE in git",
     runDiff},
    {"compare", "FILE…", "many plans side by side, the best first", runCompare},
    {"trace", "FILE", "the timeline, for ui.perfetto.dev: -o t.json", runTrace},
    {"explain", "FILE",
     "what the step hangs on, what would hide the rest; or CODE, a "
     "diagnostic's "
     "page",
     runExplain},
    {"validate", "",
     "predictions beside measured runs: [--data FILE.csv] [--only GLOB]",
     runValidate},
    {"completions", "bash|zsh|fish", "what a shell completes of planc's words",
     runCompletions},
    {"man", "", "the manual page: planc man | man -l -", runMan},
    {"version", "", "the version of planc, its language and its reports",
     runVersion},
});

/// Verbs that the language and its documents know and planc does not have yet.
constexpr auto kPlanned = std::to_array<std::string_view>(
    {"export", "import", "lsp", "serve", "tune"});

constexpr int kUnsupported = 5;
constexpr int kInternalError = 70;

constexpr std::string_view kShortUsage =
    "usage: planc FILE              the report of the file's first plan\n"
    "       planc VERB …            planc --help lists the verbs\n";

constexpr std::string_view kOptions = R"(
options of most verbs
  -D name=value     set a `param` of the file; may be given several times
  --plan NAME       which plan of the file; its first, if not given
  --format FORM     text, json or markdown
  --peak RATE       print MFU against another peak, e.g. 2PFLOP/s
  --color WHEN      auto, always or never
  -o FILE           write there instead of to standard output

exit status
  0 fine    1 usage or environment    2 illegal    3 an expectation or threshold failed
  4 does not fit in memory    5 unsupported    70 internal error

`planc VERB --help` lists the options of one verb.
)";

std::string help() {
  std::string out = "planc: a compiler for plans that train large models\n\n";
  out += kShortUsage;
  out += "\nverbs\n";
  for (const Verb &verb : kVerbs) {
    std::string head = "  " + std::string(verb.name) + " ";
    head += verb.operand;
    const auto columns = static_cast<std::size_t>(std::count_if(
        head.begin(), head.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    head.append(columns + 2 < 20 ? 20 - columns : 2, ' ');
    out += head + std::string(verb.summary) + "\n";
  }
  out += kOptions;
  return out;
}

const Verb *find(std::string_view name) {
  for (const Verb &verb : kVerbs)
    if (verb.name == name)
      return &verb;
  return nullptr;
}

/// A bare word cannot be told from a file by its looks: what has no dot and no
/// slash is taken for a verb.
bool looksLikeVerb(std::string_view word) {
  return !word.empty() && word[0] != '-' &&
         word.find_first_of("./") == std::string_view::npos;
}

int noSuchVerb(std::string_view word) {
  if (std::find(kPlanned.begin(), kPlanned.end(), word) != kPlanned.end()) {
    usageError("`" + std::string(word) + "` is not supported yet");
    return kUnsupported;
  }
  std::vector<std::string_view> names;
  for (const Verb &verb : kVerbs)
    names.push_back(verb.name);
  const auto near = diag::nearestName(word, names);
  return usageError("no verb and no file '" + std::string(word) + "'" +
                    (near ? "; did you mean " + std::string(*near) + "?" : ""));
}

int runVerb(const Verb &verb, std::vector<const char *> arguments) {
  return verb.run({static_cast<int>(arguments.size()), arguments.data()});
}

int run(int count, const char *const *values) {
  std::vector<const char *> arguments(values, values + count);
  if (count < 2) {
    writeError(kShortUsage);
    return kUsage;
  }
  std::string_view first = arguments[1];
  if (first == "help" && count > 2) {
    arguments = {arguments[0], arguments[2], "--help"};
    first = arguments[1];
  } else if (first == "help" || first == "--help" || first == "-h") {
    return writeOutput("", help()) ? 0 : kUsage;
  }
  if (first == "--version")
    return runVersion({});
  if (const Verb *verb = find(first))
    return runVerb(*verb, std::move(arguments));
  if (looksLikeVerb(first) && !exists(arguments[1]))
    return noSuchVerb(first);
  arguments.insert(arguments.begin() + 1, "report");
  return runVerb(kVerbs[0], std::move(arguments));
}

} // namespace

std::vector<Verb> allVerbs() { return {kVerbs.begin(), kVerbs.end()}; }

int guarded(int count, const char *const *values) {
  try {
    return run(count, values);
  } catch (const std::exception &error) {
    usageError(std::string("internal error: ") + error.what());
  } catch (...) {
    usageError("internal error");
  }
  return kInternalError;
}

} // namespace planc::tool

int main(int argc, char **argv) { return planc::tool::guarded(argc, argv); }
