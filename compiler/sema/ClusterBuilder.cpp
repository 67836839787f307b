#include "compiler/sema/ClusterBuilder.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/Fields.h"
#include "runtime/base/Checked.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace planc::sema {

using diag::Kind;
using hardware::Accelerator;
using hardware::Cluster;
using hardware::Level;
using hardware::Wiring;

namespace {

std::int64_t whole(double value) { return std::llround(value); }

/// Constants.def says the unit of a constant in its help text.
Bounds boundsOf(std::string_view name, double neutral, std::string_view help) {
  Bounds bounds;
  constexpr std::string_view kInSeconds = "; seconds";
  if (help.size() > kInSeconds.size() &&
      help.substr(help.size() - kInSeconds.size()) == kInSeconds) {
    bounds.dimension = kSeconds;
    bounds.most = 1;
  } else if (help.substr(0, 5) == "bytes")
    bounds.dimension = kBytes;
  if (name.find("efficiency") != std::string_view::npos) {
    bounds.most = 1;
    // Of a kernel 0 says that there is none.
    bounds.excludesLeast = neutral > 0 && name.substr(0, 5) != "flash";
  }
  if (name == "tile_rows" || name == "tile_columns")
    bounds.least = 1;
  return bounds;
}

class ClusterBuilder {
public:
  ClusterBuilder(Elaboration &elaboration, const FileScope &home)
      : elaboration_(elaboration), evaluator_(elaboration, home, nullptr) {}

  std::optional<Cluster> build(const ast::ClusterDecl &decl);
  std::optional<Accelerator> build(const ast::AcceleratorDecl &decl);

private:
  FieldReader number(std::string_view name, double &out, Bounds bounds);
  FieldReader unsupported(std::string_view name);
  bool readPeaks(const ast::Field &field, Accelerator &out);
  struct SizeAtSpeed {
    Bytes &size;
    ByteRate &speed;
  };
  bool readMemory(const ast::Field &field, std::string_view example,
                  SizeAtSpeed out);
  bool readAccelerator(const ast::Field &field, Cluster &out);
  bool readFailures(const ast::Field &field, Cluster &out);
  bool checkHost(const ast::ClusterDecl &decl, const hardware::Host &host);
  std::optional<Level> buildLevel(const ast::Level &level);
  FieldReader flag(std::string_view name, bool &out);
  bool checkWiring(const ast::ClusterDecl &decl, const Cluster &cluster);
  bool require(std::span<const ast::Field> fields, std::string_view name,
               const ast::Name &where);
  bool checkWhole(const ast::ClusterDecl &decl, const Cluster &cluster);

  diag::Emitter &emitter() { return elaboration_.emitter(); }

  Elaboration &elaboration_;
  Evaluator evaluator_;
};

FieldReader ClusterBuilder::number(std::string_view name, double &out,
                                   Bounds bounds) {
  return {name, [this, &out, bounds](const ast::Field &field) {
            auto value = readNumber(evaluator_, field, bounds);
            out = value.value_or(out);
            return value.has_value();
          }};
}

FieldReader ClusterBuilder::unsupported(std::string_view name) {
  return {name, [this](const ast::Field &field) {
            emitter().report(field.span, Kind::Unsupported,
                             "planc does not take `{}` into account yet",
                             field.name.text);
            return false;
          }};
}

bool ClusterBuilder::require(std::span<const ast::Field> fields,
                             std::string_view name, const ast::Name &where) {
  for (const ast::Field &field : fields)
    if (field.name.text == name)
      return true;
  emitter().report(where.span, Kind::MissingField, "`{}` has no `{}`",
                   where.text, name);
  return false;
}

// --- accelerators ------------------------------------------------------------

bool ClusterBuilder::readPeaks(const ast::Field &field, Accelerator &out) {
  for (const ast::Argument &argument : field.values) {
    auto precision = precisionFromName(argument.name.text);
    if (!argument.name.isPresent() || argument.isDropped() || !precision) {
      emitter()
          .report(argument.span, Kind::UnknownWord,
                  "`{}` is no number format with its peak",
                  elaboration_.text(argument.span))
          .help("as in `peak bf16 = 989.4TFLOP/s`; formats are fp32, bf16, "
                "fp16, fp8, mxfp8, fp4, int8");
      return false;
    }
    auto known = std::find_if(out.peaks.begin(), out.peaks.end(),
                              [&](const hardware::Peak &peak) {
                                return peak.precision == *precision;
                              });
    if (known != out.peaks.end()) {
      emitter().report(argument.span, Kind::DuplicateField,
                       "the peak of `{}` stands twice", argument.name.text);
      return false;
    }
    auto rate =
        readNumber(evaluator_, *argument.value, "a peak", {kFlopRate, 1});
    if (!rate)
      return false;
    out.peaks.push_back({*precision, FlopRate(whole(*rate))});
  }
  return true;
}

/// `SIZE at SPEED`.
bool ClusterBuilder::readMemory(const ast::Field &field,
                                std::string_view example, SizeAtSpeed out) {
  const ast::Expr *value = singleValue(elaboration_, field);
  if (!value)
    return false;
  auto *at = llvm::dyn_cast<ast::AtExpr>(value);
  if (!at) {
    emitter()
        .report(value->span, Kind::TypeMismatch,
                "`{}` takes a size and a speed", field.name.text)
        .help("as in `{}`", example);
    return false;
  }
  auto size = readNumber(evaluator_, *at->value, "a memory", {kBytes, 1});
  auto speed =
      readNumber(evaluator_, *at->at, "a memory's speed", {kByteRate, 1});
  if (!size || !speed)
    return false;
  out.size = Bytes(whole(*size));
  out.speed = ByteRate(whole(*speed));
  return true;
}

std::optional<Accelerator>
ClusterBuilder::build(const ast::AcceleratorDecl &decl) {
  Accelerator out;
  out.name = std::string(decl.name.text);
  std::vector<FieldReader> readers = {
      {"peak", [&](const ast::Field &f) { return readPeaks(f, out); }},
      {"memory",
       [&](const ast::Field &f) {
         return readMemory(f, "memory 79.6GiB at 3.35TB/s",
                           {out.memory, out.bandwidth});
       }},
      {"units",
       [&](const ast::Field &f) {
         const ast::Expr *value = singleValue(elaboration_, f);
         auto units = value ? evaluator_.atLeast(*value, "`units`", 1)
                            : std::optional<std::int64_t>();
         out.units = units.value_or(out.units);
         return units.has_value();
       }},
      number("power", out.watts, {kPower}),
#define PLANC_ACCELERATOR_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                \
  number(NAME, out.constants.MEMBER, boundsOf(NAME, DEFAULT, HELP)),
#include "runtime/hardware/Constants.def"
  };
  std::string where = fmt::format("the accelerator `{}`", out.name);
  bool isSound = readFields(elaboration_, where, decl.fields, readers);
  isSound = require(decl.fields, "peak", decl.name) && isSound;
  isSound = require(decl.fields, "memory", decl.name) && isSound;
  return isSound ? std::optional(out) : std::nullopt;
}

// --- clusters ----------------------------------------------------------------

bool ClusterBuilder::readAccelerator(const ast::Field &field, Cluster &out) {
  const ast::Expr *value = singleValue(elaboration_, field);
  if (!value)
    return false;
  Value found = evaluator_.evaluate(*value);
  if (found.isPoison())
    return false;
  auto *decl = found.as<DeclValue>();
  auto *accelerator =
      decl ? llvm::dyn_cast<ast::AcceleratorDecl>(decl->decl) : nullptr;
  if (!accelerator) {
    emitter().report(value->span, Kind::WrongKind,
                     "`{}` is {}, not an accelerator",
                     elaboration_.text(value->span), describeType(found));
    return false;
  }
  auto built = ClusterBuilder(elaboration_, *decl->home).build(*accelerator);
  if (built)
    out.accelerator = *built;
  return built.has_value();
}

bool ClusterBuilder::readFailures(const ast::Field &field, Cluster &out) {
  const ast::Expr *value = singleValue(elaboration_, field);
  if (!value)
    return false;
  auto *per = llvm::dyn_cast<ast::PerExpr>(value);
  if (!per || !per->population) {
    emitter()
        .report(value->span, Kind::TypeMismatch,
                "`failures` takes a count, a time and a number of "
                "accelerators")
        .help("as in `failures 419 per 54d of 16384`");
    return false;
  }
  auto count = readNumber(evaluator_, *per->count, "a count of failures", {});
  auto time = readNumber(evaluator_, *per->time, "the time of failures",
                         {kSeconds, 0, 9.2e18, true});
  auto of = readNumber(evaluator_, *per->population,
                       "the accelerators of failures", {kNoDimension, 1});
  if (!count || !time || !of)
    return false;
  out.failures = hardware::Failures{*count, *time, *of};
  return true;
}

FieldReader ClusterBuilder::flag(std::string_view name, bool &out) {
  return {name, [this, name, &out](const ast::Field &field) {
            const ast::Expr *value = singleValue(elaboration_, field);
            auto on =
                value ? evaluator_.boolean(*value, fmt::format("`{}`", name))
                      : std::optional<bool>();
            out = on.value_or(out);
            return on.has_value();
          }};
}

std::optional<Level> ClusterBuilder::buildLevel(const ast::Level &level) {
  Level out;
  out.name = std::string(level.name.text);
  std::string where = fmt::format("the level `{}`", out.name);
  auto size = evaluator_.atLeast(*level.size, where, 1);
  double link = 0, latency = 0;
  bool isTorus = false, isFullMesh = false;
  std::vector<FieldReader> readers = {
      number("link", link, {kByteRate, 1}),
      number("latency", latency, {kSeconds, 0, 1e6}),
      flag("in_network_reduction", out.inNetworkReduction),
      flag("torus", isTorus),
      flag("full_mesh", isFullMesh),
      number("oversubscription", out.oversubscription, {kNoDimension, 1, 1e6}),
      unsupported("rails"),
      unsupported("algorithms"),
      unsupported("jitter"),
#define PLANC_LEVEL_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                      \
  number(NAME, out.constants.MEMBER, boundsOf(NAME, DEFAULT, HELP)),
#include "runtime/hardware/Constants.def"
  };
  bool isSound = readFields(elaboration_, where, level.fields, readers);
  isSound = require(level.fields, "link", level.name) && isSound;
  if (!isSound || !size)
    return std::nullopt;
  if (isTorus && isFullMesh) {
    emitter().report(level.name.span, Kind::ValueOutOfRange,
                     "the level `{}` is a torus and a full mesh", out.name);
    return std::nullopt;
  }
  out.of = *size;
  out.wiring = isTorus      ? Wiring::Torus
               : isFullMesh ? Wiring::FullMesh
                            : Wiring::Switched;
  out.link = ByteRate(whole(link));
  constexpr double kPicoseconds = 1e12;
  out.latency = Duration(whole(latency * kPicoseconds));
  return out;
}

std::optional<Cluster> ClusterBuilder::build(const ast::ClusterDecl &decl) {
  Cluster out;
  out.name = std::string(decl.name.text);
  double reserve = 0, pricePerSecond = 0, hostLink = 0, hostLatency = 0;
  std::vector<FieldReader> readers = {
      {"accelerator",
       [&](const ast::Field &f) { return readAccelerator(f, out); }},
      {"failures", [&](const ast::Field &f) { return readFailures(f, out); }},
      number("reserve", reserve, {kBytes}),
      number("price", pricePerSecond, {kPricePerTime}),
      {"host_memory",
       [&](const ast::Field &f) {
         return readMemory(f, "host_memory 2TiB at 400GB/s",
                           {out.host.memory, out.host.bandwidth});
       }},
      number("host_link", hostLink, {kByteRate, 1}),
      number("host_latency", hostLatency, {kSeconds, 0, 1e6}),
      {"host_accelerators",
       [&](const ast::Field &f) {
         const ast::Expr *value = singleValue(elaboration_, f);
         auto count = value
                          ? evaluator_.atLeast(*value, "`host_accelerators`", 1)
                          : std::optional<std::int64_t>();
         out.host.accelerators = count.value_or(0);
         return count.has_value();
       }},
      unsupported("jitter"),
  };
  std::string where = fmt::format("the cluster `{}`", out.name);
  bool isSound = readFields(elaboration_, where, decl.fields, readers);
  isSound = require(decl.fields, "accelerator", decl.name) && isSound;
  std::set<std::string_view> names;
  for (const ast::Level &level : decl.levels) {
    if (!names.insert(level.name.text).second) {
      emitter().report(level.name.span, Kind::DuplicateField,
                       "two levels are called `{}`", level.name.text);
      isSound = false;
    }
    auto built = buildLevel(level);
    isSound = isSound && built;
    if (built)
      out.levels.push_back(*built);
  }
  if (decl.levels.empty()) {
    emitter()
        .report(decl.name.span, Kind::MissingField, "`{}` has no level",
                out.name)
        .help("as in `level node of 8 {{ link 450GB/s, latency 1.5us }}`");
    isSound = false;
  }
  out.reserve = Bytes(whole(reserve));
  constexpr double kSecondsPerHour = 3600, kPicoseconds = 1e12;
  out.pricePerHour = pricePerSecond * kSecondsPerHour;
  out.host.link = ByteRate(whole(hostLink));
  out.host.latency = Duration(whole(hostLatency * kPicoseconds));
  if (!isSound || !checkHost(decl, out.host) || !checkWhole(decl, out) ||
      !checkWiring(decl, out))
    return std::nullopt;
  return out;
}

/// A torus is made of the innermost levels, a full mesh of accelerators;
/// neither has a switch that sums or that is shared.
bool ClusterBuilder::checkWiring(const ast::ClusterDecl &decl,
                                 const Cluster &cluster) {
  for (std::size_t l = 0; l < cluster.levels.size(); ++l) {
    const Level &level = cluster.levels[l];
    if (level.wiring == Wiring::Switched)
      continue;
    const char *word = level.wiring == Wiring::Torus ? "torus" : "full_mesh";
    const ast::Name &name = decl.levels[l].name;
    if (level.inNetworkReduction || level.oversubscription > 1) {
      emitter()
          .report(name.span, Kind::ValueOutOfRange,
                  "the level `{}` is a `{}` and says what a switch does",
                  level.name, word)
          .help("leave out `in_network_reduction` and `oversubscription`");
      return false;
    }
    const bool isInside =
        level.wiring == Wiring::Torus ? l < cluster.torusLevels() : l == 0;
    if (!isInside) {
      emitter()
          .report(name.span, Kind::Unsupported,
                  "`{}` on the level `{}`, which has the level `{}` inside it",
                  word, level.name, cluster.levels[l - 1].name)
          .help("the dimensions of a torus come first, a full mesh is the "
                "innermost level");
      return false;
    }
  }
  return true;
}

bool ClusterBuilder::checkHost(const ast::ClusterDecl &decl,
                               const hardware::Host &host) {
  if ((host.memory.value > 0) == (host.link.value > 0))
    return true;
  emitter()
      .report(decl.name.span, Kind::MissingField, "`{}` has a `{}` and no `{}`",
              decl.name.text, host.link.value > 0 ? "host_link" : "host_memory",
              host.link.value > 0 ? "host_memory" : "host_link")
      .help("as in `host_memory 2TiB at 400GB/s`, `host_link 55GB/s`");
  return false;
}

bool ClusterBuilder::checkWhole(const ast::ClusterDecl &decl,
                                const Cluster &cluster) {
  std::optional<std::int64_t> size = 1;
  for (const Level &level : cluster.levels)
    if (size)
      size = checkedMul(*size, level.of);
  if (!size) {
    emitter().report(decl.name.span, Kind::NumberOutOfRange,
                     "`{}` has more accelerators than 64 bits count",
                     cluster.name);
    return false;
  }
  if (cluster.reserve > cluster.accelerator.memory) {
    emitter().report(
        decl.name.span, Kind::ValueOutOfRange,
        "the reserve of `{}` is more than the accelerator's {}", cluster.name,
        formatQuantity(cluster.accelerator.memory.toDouble(), kBytes));
    return false;
  }
  return true;
}

} // namespace

std::optional<Cluster> buildCluster(Elaboration &elaboration,
                                    const ast::ClusterDecl &cluster,
                                    const FileScope &home) {
  return ClusterBuilder(elaboration, home).build(cluster);
}

std::optional<Taken> takeFirst(Elaboration &elaboration, const Cluster &cluster,
                               std::optional<std::int64_t> count,
                               source::SourceSpan span) {
  std::int64_t size = cluster.size();
  std::int64_t wanted = count.value_or(size);
  if (wanted < 1) {
    elaboration.emitter().report(span, Kind::ValueOutOfRange,
                                 "{} accelerators; a plan takes at least 1",
                                 wanted);
    return std::nullopt;
  }
  if (wanted > size) {
    elaboration.emitter()
        .report(span, Kind::TooFewAccelerators,
                "{} accelerators of `{}`, which has {}", wanted, cluster.name,
                size)
        .help("take {} or fewer, or give its outermost level more groups",
              size);
    return std::nullopt;
  }
  std::size_t reached = 0;
  while (cluster.groupSize(reached) < wanted)
    ++reached;
  // Groups of the level inside the outermost one reached; the last may be
  // taken in part, but only in whole groups of the level inside it.
  std::int64_t group =
      reached == 0 ? cluster.groupSize(0) : cluster.groupSize(reached - 1);
  std::int64_t inner = reached < 2 ? 1 : cluster.groupSize(reached - 2);
  if (wanted % inner != 0) {
    std::int64_t below = wanted / inner * inner;
    elaboration.emitter()
        .report(span, Kind::PartialGroup,
                "{} accelerators are no whole `{}`s of {}", wanted,
                cluster.levels[reached - 2].name, inner)
        .help("{} or {} would be", below, below + inner);
    return std::nullopt;
  }
  return Taken{wanted, ceilDiv(wanted, group) * group - wanted};
}

} // namespace planc::sema
