#include "compiler/sema/TargetTrials.h"

#include "runtime/base/Checked.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::sema {

namespace {

constexpr std::size_t kMostShown = 6;
constexpr std::int64_t kMostKnobs = 8, kFarthest = 4096;

bool contains(const ops::Dims &dims, ops::DimId dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

/// The product of the axes that list a dimension.
std::int64_t waysOf(const Plan &plan, ops::DimId dim) {
  std::int64_t ways = 1;
  for (AxisId axis : plan.mesh.axes.ids())
    for (const ListedDim &listed : plan.lists[axis].list)
      if (contains(listed.dims, dim)) {
        ways *= plan.mesh.axes[axis].size;
        break;
      }
  return ways;
}

std::string listOf(const std::vector<std::int64_t> &values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out += fmt::format("{}{}",
                       i == 0                   ? ""
                       : i + 1 == values.size() ? " or "
                                                : ", ",
                       values[i]);
  return out;
}

} // namespace

TargetTrials::TargetTrials(const TargetRules &rules)
    : rules_(rules), emitter_(silence_),
      quiet_(rules.elaboration_.program(), origins_, emitter_) {
  // A search no longer than this is worth a better message; what one try costs
  // grows with the rules' texts, the kinds of attention, and the axes.
  constexpr std::int64_t kMost = 8192, kLeast = 128, kWork = 32'000'000;
  std::int64_t work = 1;
  for (const TargetRules::RuleText &rule : rules.rules_)
    work += rule.rule->span.end - rule.rule->span.begin;
  work *= std::ssize(rules.subjects_);
  work += 4 * static_cast<std::int64_t>(rules.plan_.mesh.axes.size()) *
          static_cast<std::int64_t>(rules.model_.dims.size());
  mostTries_ = std::clamp(kWork / work, kLeast, kMost);
}

/// Rules that fail by themselves (too long lists, say) end the search.
bool TargetTrials::mayTry() const {
  constexpr std::size_t kMostErrors = 16;
  return emitter_.reportedErrors() < kMostErrors;
}

std::vector<TargetTrials::Knob>
TargetTrials::knobsOf(const std::vector<TargetHost::Read> &reads) const {
  const Plan &plan = rules_.plan_;
  std::vector<Knob> out;
  auto add = [&](Knob knob) {
    auto isSame = [&](const Knob &other) {
      return other.kind == knob.kind && other.axis == knob.axis;
    };
    if (std::ssize(out) < kMostKnobs &&
        std::none_of(out.begin(), out.end(), isSame))
      out.push_back(knob);
  };
  auto spanOf = [&](OriginId origin) {
    return rules_.elaboration_.spanOf(origin);
  };
  auto addAxis = [&](AxisId id) {
    const Axis &axis = plan.mesh.axes[id];
    add({Knob::Kind::Axis, id, axis.size, spanOf(axis.origin)});
  };
  auto ofPipeline = [&](Knob::Kind kind, std::int64_t now, OriginId origin) {
    if (plan.pipeline)
      add({kind, AxisId(), now,
           spanOf(origin.isValid() ? origin : plan.pipeline->clause)});
  };
  source::SourceSpan batch = spanOf(plan.batch.clause);
  for (const TargetHost::Read &read : reads) {
    for (AxisId axis : read.axes)
      addAxis(axis);
    if (!read.quantity)
      continue;
    switch (*read.quantity) {
    case TargetQuantity::Stages:
      if (plan.pipeline)
        addAxis(plan.pipeline->axis);
      break;
    case TargetQuantity::Virtual:
      ofPipeline(Knob::Kind::Virtual,
                 plan.pipeline ? plan.pipeline->virtualStages : 1,
                 plan.pipeline ? plan.pipeline->virtualOrigin : OriginId());
      break;
    case TargetQuantity::Group:
      ofPipeline(Knob::Kind::Group,
                 plan.pipeline
                     ? plan.pipeline->group.value_or(plan.pipeline->stages)
                     : 1,
                 OriginId());
      break;
    case TargetQuantity::Micro:
      add({Knob::Kind::Micro, AxisId(), plan.batch.micro, batch});
      break;
    case TargetQuantity::Sequences:
    case TargetQuantity::MicroBatches:
      add({Knob::Kind::Sequences, AxisId(), plan.batch.microBatches, batch});
      break;
    case TargetQuantity::Seq:
      add({Knob::Kind::Length, AxisId(), plan.batch.sequenceLength, batch});
      break;
    default:
      break;
    }
  }
  return out;
}

/// The change and what follows from it; false if there is no such plan.
bool TargetTrials::set(const Knob &knob, std::int64_t value, Plan &plan) const {
  switch (knob.kind) {
  case Knob::Kind::Axis: {
    std::optional<AxisId> rest;
    for (const KeyedEntry &entry : rules_.text_.mesh) {
      auto *name = llvm::dyn_cast_or_null<ast::NameExpr>(entry.value);
      if (name && name->name.isSimple() && name->name.first() == "rest")
        for (AxisId id : plan.mesh.axes.ids())
          if (plan.mesh.axes[id].name == entry.key)
            rest = id;
    }
    plan.mesh.axes[knob.axis].size = value;
    if (rest && *rest == knob.axis)
      return false; // the accelerators give its size
    if (rest) {
      plan.mesh.axes[*rest].size = 1;
      std::int64_t others = plan.mesh.devices();
      if (rules_.plan_.mesh.devices() % others != 0)
        return false;
      plan.mesh.axes[*rest].size = rules_.plan_.mesh.devices() / others;
    }
    if (plan.pipeline && plan.pipeline->axis == knob.axis)
      plan.pipeline->stages = value;
    break;
  }
  case Knob::Kind::Virtual:
    plan.pipeline->virtualStages = value;
    break;
  case Knob::Kind::Group:
    plan.pipeline->group = value;
    break;
  case Knob::Kind::Micro:
    plan.batch.micro = value;
    break;
  case Knob::Kind::Sequences: {
    auto step = checkedMul(waysOf(plan, rules_.model_.batch), plan.batch.micro);
    auto sequences = step ? checkedMul(*step, value) : std::nullopt;
    if (!sequences)
      return false;
    plan.batch.sequences = *sequences;
    break;
  }
  case Knob::Kind::Length:
    plan.batch.sequenceLength = value;
    break;
  }
  return setMicroBatches(plan);
}

bool TargetTrials::setMicroBatches(Plan &plan) const {
  auto step = checkedMul(waysOf(plan, rules_.model_.batch), plan.batch.micro);
  if (!step || plan.batch.sequences % *step != 0)
    return false;
  plan.batch.microBatches = plan.batch.sequences / *step;
  return true;
}

/// What planc itself asks of sizes.
bool TargetTrials::divides(const Plan &plan) const {
  const ops::Model &model = rules_.model_;
  for (ops::DimId dim : model.dims.ids()) {
    if (dim == model.batch)
      continue;
    std::int64_t size =
        dim == model.seq ? plan.batch.sequenceLength : model.dims[dim].size;
    std::int64_t ways = waysOf(plan, dim);
    bool mayBeCopied = std::any_of(
        rules_.subjects_.begin(), rules_.subjects_.end(), [&](auto &subject) {
          return subject.attention && subject.attention->keyHeads == dim &&
                 subject.attention->heads != dim;
        });
    if (size % ways != 0 && !(mayBeCopied && ways % size == 0))
      return false;
  }
  return true;
}

bool TargetTrials::holdsAll(const Plan &plan) {
  for (const TargetRules::RuleText &rule : rules_.rules_)
    for (const TargetSubject &subject : rules_.subjects_) {
      std::size_t before = emitter_.reportedErrors();
      TargetHost host(quiet_, subject, plan);
      auto holds = TargetRules::holds(quiet_, *rules_.use_.home, rule, host);
      if ((holds && !*holds) || emitter_.reportedErrors() != before)
        return false;
    }
  return true;
}

bool TargetTrials::works(const Knob &knob, std::int64_t value) {
  Plan plan = rules_.plan_;
  return set(knob, value, plan) && divides(plan) && isScheduled(plan) &&
         holdsAll(plan);
}

bool TargetTrials::isScheduled(const Plan &plan) {
  if (!plan.pipeline)
    return true;
  const Pipeline &pipeline = *plan.pipeline;
  const Pipeline &own = *rules_.plan_.pipeline;
  // The passes of an order of the plan's own are what they are.
  if (pipeline.schedule == Schedule::Own)
    return pipeline.virtualStages == own.virtualStages &&
           pipeline.stages == own.stages &&
           plan.batch.microBatches == rules_.plan_.batch.microBatches;
  const schedules::ScheduleInfo &info = schedules::infoOf(pipeline.schedule);
  return (pipeline.virtualStages == own.virtualStages ||
          info.chunks == schedules::ChunksPerRank::AsAsked ||
          (info.chunks == schedules::ChunksPerRank::Waves &&
           pipeline.virtualStages % 2 == 0)) &&
         info.fits(pipeline.shape(plan.batch.microBatches));
}

/// The nearest first, above before below; then in order.
std::vector<std::int64_t> TargetTrials::valuesNear(const Knob &knob) {
  std::vector<std::int64_t> out;
  bool isOfBatch =
      knob.kind == Knob::Kind::Sequences || knob.kind == Knob::Kind::Length;
  std::int64_t farthest = isOfBatch ? knob.now + kFarthest : 4 * knob.now + 8;
  std::int64_t share = mostTries_ / kMostKnobs, tried = 0;
  for (std::int64_t by = 1;
       tried < share && knob.now + by <= farthest && mayTry(); ++by)
    for (std::int64_t value : {knob.now + by, knob.now - by}) {
      if (value < 1 || out.size() >= kMostShown)
        continue;
      ++tried;
      if (works(knob, value))
        out.push_back(value);
    }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<std::string> TargetTrials::adviceOn(const Knob &knob) {
  std::vector<std::int64_t> values = valuesNear(knob);
  if (values.empty())
    return std::nullopt;
  switch (knob.kind) {
  case Knob::Kind::Axis:
    return fmt::format("{} may be {}", rules_.plan_.mesh.axes[knob.axis].name,
                       listOf(values));
  case Knob::Kind::Virtual:
    return fmt::format("`virtual` may be {}", listOf(values));
  case Knob::Kind::Group:
    return fmt::format("`group` may be {}", listOf(values));
  case Knob::Kind::Micro:
    return fmt::format("micro may be {}", listOf(values));
  case Knob::Kind::Length:
    return fmt::format("sequences of {} tokens would do", listOf(values));
  case Knob::Kind::Sequences:
    break;
  }
  std::int64_t step =
      waysOf(rules_.plan_, rules_.model_.batch) * rules_.plan_.batch.micro;
  for (std::int64_t &value : values)
    value *= step;
  return fmt::format("{} sequences would do", listOf(values));
}

} // namespace planc::sema
