// planc calibrate cluster --nccl-tests LOG…: a cluster's links from measured
// collectives. planc calibrate step FILE --log LOG: CalibrateStep.cpp.
#include "tools/planc/CalibrateVerb.h"

#include "compiler/diag/Consumers.h"
#include "compiler/driver/Compilation.h"
#include "compiler/format/Format.h"
#include "compiler/validate/StandardNames.h"
#include "compiler/validate/Words.h"
#include "runtime/calibrate/Calibration.h"
#include "tools/planc/CommandLine.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

struct KnownCluster {
  std::string_view name, device;
};
constexpr auto kClusters = std::to_array<KnownCluster>({
#define PLANC_KNOWN_CLUSTER(NAME, DEVICE) {NAME, DEVICE},
#include "tools/planc/KnownClusters.def"
});

enum class Format { Text, Json };
constexpr std::array<Choice<Format>, 2> kFormats = {
    {{"text", Format::Text}, {"json", Format::Json}}};

struct ClusterOptions {
  cl::SubCommand verb{"calibrate cluster",
                      "a cluster's links from logs of nccl-tests"};
  cl::list<std::string> logs{
      "nccl-tests",
      cl::desc("a log, text or --json; several may follow. LOG@12x8 says 12 "
               "groups of 8"),
      cl::value_desc("LOG"), cl::sub(verb), cl::cat(tool::options())};
  TextOption like{verb, "like",
                  "the library's cluster to begin with; that of the log's "
                  "device, if not given",
                  "NAME"};
  TextOption name{verb, "name", "of the cluster that is written", "NAME"};
  TextOption format{verb, "format", "text or json", "FORM"};
  OutputOption output{verb, "write a .plan file with the cluster to FILE"};
};

struct NamedLog {
  std::string path;
  calibrate::Shape shape;
};

/// `log.txt@12x8`.
NamedLog namedLog(const std::string &argument) {
  NamedLog log{argument, {}};
  const std::size_t at = argument.find_last_of('@');
  const std::size_t times =
      argument.find('x', at == std::string::npos ? 0 : at);
  if (at == std::string::npos || times == std::string::npos)
    return log;
  const auto number = [&](std::size_t from, std::size_t to) {
    std::int64_t value = 0;
    const char *end = argument.data() + to;
    const auto [rest, error] =
        std::from_chars(argument.data() + from, end, value);
    return error == std::errc() && rest == end && value > 0 && value < (1 << 22)
               ? value
               : std::int64_t{0};
  };
  const calibrate::Shape shape{number(at + 1, times),
                               number(times + 1, argument.size())};
  if (shape.groups == 0 || shape.ranks == 0)
    return log;
  return {argument.substr(0, at), shape};
}

const KnownCluster *clusterNamed(std::string_view name) {
  for (const KnownCluster &cluster : kClusters)
    if (cluster.name == name)
      return &cluster;
  return nullptr;
}

const KnownCluster *clusterOfDevice(std::string_view device) {
  const KnownCluster *best = nullptr;
  for (const KnownCluster &cluster : kClusters)
    if (!cluster.device.empty() && validate::hasWords(device, cluster.device) &&
        (best == nullptr || cluster.device.size() > best->device.size()))
      best = &cluster;
  return best;
}

/// A cluster of the library, read by the ordinary compiler.
std::optional<hardware::Cluster> load(const validate::StandardCluster &known) {
  driver::Options options;
  options.file = "calibrate.plan";
  options.text =
      "language 1\nimport std.models.gpt\nimport " + known.module +
      "\nplan p for gpt2_small on " + known.name +
      "[1] {\n  batch 1 sequences of 128 tokens\n  mesh data = rest\n"
      "  shard batch over data\n  precision compute = fp16\n}\n";
  driver::Session session(options);
  session.check();
  if (const auto &module = session.compilation().module)
    return module->cluster;
  printDiagnostics(session);
  return std::nullopt;
}

int refuse(const calibrate::LogProblem &problem) {
  writeError(calibrate::toText(problem, calibrate::ProblemIs::Error));
  return driver::exitCode(driver::Outcome::Illegal);
}

/// Tables with the shape that the user said of their log.
struct Read {
  std::vector<std::string> files;
  std::vector<calibrate::LogTable> tables;
  std::vector<calibrate::Shape> shapes;
};

/// An exit code after a message.
std::optional<int> readLogs(const std::vector<std::string> &arguments,
                            Read &out) {
  for (const std::string &argument : arguments) {
    const NamedLog log = namedLog(argument);
    std::string text;
    if (const std::string why = readFile(log.path, text); !why.empty())
      return usageError("cannot read '" + log.path + "': " + why);
    out.files.push_back(log.path);
    calibrate::ReadLog read = calibrate::readNcclLog({log.path, text});
    for (const calibrate::LogProblem &warning : read.warnings)
      writeError(calibrate::toText(warning, calibrate::ProblemIs::Warning));
    if (read.error)
      return refuse(*read.error);
    for (calibrate::LogTable &table : read.tables) {
      out.tables.push_back(std::move(table));
      out.shapes.push_back(log.shape);
    }
  }
  return std::nullopt;
}

const KnownCluster *clusterLike(const std::string &like) {
  std::vector<std::string_view> names;
  for (const KnownCluster &cluster : kClusters)
    names.push_back(cluster.name);
  const KnownCluster *known = clusterNamed(like);
  const auto near = diag::nearestName(like, names);
  if (known == nullptr && validate::findCluster(like) != nullptr)
    usageError("--like: neither NCCL nor RCCL runs on the library's cluster '" +
               like + "'");
  else if (known == nullptr)
    usageError("--like: the library has no cluster '" + like + "'" +
               (near ? "; did you mean " + std::string(*near) + "?" : ""));
  return known;
}

const KnownCluster *chooseBase(const std::string &like, const Read &read) {
  if (!like.empty())
    return clusterLike(like);
  std::string device;
  for (const calibrate::LogTable &table : read.tables) {
    if (const KnownCluster *known = clusterOfDevice(table.device))
      return known;
    device = device.empty() ? table.device : device;
  }
  usageError(device.empty()
                 ? "no log names its device: say --like CLUSTER, such as "
                   "--like dgx_h100"
                 : "no cluster of the library is of '" + device +
                       "': say --like CLUSTER, such as --like dgx_h100");
  return nullptr;
}

/// An exit code after a message. Tables of tests that are read only are left
/// out with a warning, unless nothing else is there.
std::optional<int> placeAll(const Read &read, const hardware::Cluster &base,
                            std::vector<calibrate::Placed> &out) {
  std::optional<calibrate::LogProblem> last;
  for (std::size_t i = 0; i < read.tables.size(); ++i) {
    calibrate::Placement placement =
        calibrate::place(read.tables[i], read.shapes[i], base);
    if (placement.placed) {
      out.push_back(std::move(*placement.placed));
      continue;
    }
    if (placement.error->kind != calibrate::LogProblemKind::NotFitted)
      return refuse(*placement.error);
    if (last)
      writeError(calibrate::toText(*last, calibrate::ProblemIs::Warning));
    last = placement.error;
  }
  if (last && out.empty())
    return refuse(*last);
  if (last)
    writeError(calibrate::toText(*last, calibrate::ProblemIs::Warning));
  return std::nullopt;
}

bool isName(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9');
         });
}

/// As `planc fmt` would leave it.
std::string inStyle(const std::string &plan) {
  source::SourceSet sources;
  diag::CaptureConsumer captured;
  diag::Emitter emitter(captured);
  const source::FileId file = sources.add("cluster", plan);
  return format::format(file, sources, emitter).value_or(plan);
}

int runCluster(Arguments arguments) {
  static ClusterOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto format = choose(options.format, kFormats);
  if (!format)
    return kUsage;
  if (options.logs.empty())
    return usageError("no log given: --nccl-tests LOG");
  if (!options.name.empty() && !isName(options.name))
    return usageError("--name wants a name, such as our_h100, found '" +
                      options.name + "'");
  Read read;
  if (const auto code =
          readLogs({options.logs.begin(), options.logs.end()}, read))
    return *code;
  const KnownCluster *known = chooseBase(options.like, read);
  if (known == nullptr)
    return kUsage;
  const validate::StandardCluster &standard =
      *validate::findCluster(known->name);
  const auto base = load(standard);
  if (!base)
    return driver::exitCode(driver::Outcome::Internal);
  std::vector<calibrate::Placed> placed;
  if (const auto code = placeAll(read, *base, placed))
    return *code;
  const calibrate::Calibration fitted = calibrate::fitCluster(*base, placed);
  const std::string name = options.name.empty() ? standard.name + "_measured"
                                                : options.name.getValue();
  if (!options.output.empty() &&
      !writeResult(options.output,
                   inStyle(calibrate::toPlan(fitted, {name, standard.module})),
                   read.files))
    return kUsage;
  const bool isShown = options.output != "-";
  const std::string text = *format == Format::Json ? calibrate::toJson(fitted)
                                                   : calibrate::toText(fitted);
  return !isShown || writeOutput("", text) ? 0 : kUsage;
}

/// `--nccl-tests a b`: every word after it is a log.
std::vector<std::string> spread(std::vector<std::string> words) {
  bool isLogs = false;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "--nccl-tests") {
      isLogs = true;
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i--));
    } else if (words[i].rfind('-', 0) == 0) {
      // The value of another option is a word of its own.
      isLogs = false;
    } else if (isLogs) {
      words[i] = "--nccl-tests=" + words[i];
    }
  }
  return words;
}

} // namespace

int runCalibrate(Arguments arguments) {
  const std::string_view what =
      arguments.count > 2 ? arguments.values[2] : std::string_view();
  const bool isCluster = what == "cluster";
  if (what == "--help" || what == "-h") {
    return writeOutput("", "planc calibrate: measured runs held against the "
                           "model\n\nusage: planc calibrate cluster "
                           "--nccl-tests LOG… [-o FILE]\n       planc "
                           "calibrate step FILE --log LOG\n\n`planc calibrate "
                           "cluster --help` and `planc calibrate step --help` "
                           "list the options.\n")
               ? 0
               : kUsage;
  }
  if (!isCluster && what != "step")
    return usageError(
        "planc calibrate wants cluster or step" +
        (what.empty() ? std::string() : ", found '" + std::string(what) + "'"));
  std::vector<std::string> words = {
      arguments.values[0], isCluster ? "calibrate cluster" : "calibrate step"};
  words.insert(words.end(), arguments.values + 3,
               arguments.values + arguments.count);
  if (isCluster)
    words = spread(std::move(words));
  std::vector<const char *> values;
  for (const std::string &word : words)
    values.push_back(word.c_str());
  const Arguments inner{static_cast<int>(values.size()), values.data()};
  return isCluster ? runCluster(inner) : runCalibrateStep(inner);
}

} // namespace planc::tool
