#include "compiler/schedules/Schedules.h"

#include "compiler/schedules/Generators.h"
#include "compiler/schedules/Legality.h"

#include <algorithm>

namespace planc::schedules {

namespace {

using Form = std::optional<BubbleFormula>;

/// `idle` over `work` + `idle`, both of one rank.
Form form(std::int64_t idle, std::int64_t work) {
  return BubbleFormula{idle, work + idle};
}

Form noForm(const Shape &) { return std::nullopt; }

Form plainForm(const Shape &shape) {
  return form(shape.stages - 1, shape.microBatches);
}

/// Fill and drain each group.
Form groupedForm(const Shape &shape) {
  if (shape.group && shape.microBatches % shape.group != 0)
    return std::nullopt;
  return form(shape.stages - 1, shape.group ? shape.group : shape.microBatches);
}

Form unitsForm(const Shape &shape) {
  if (shape.group && shape.microBatches % shape.group != 0)
    return std::nullopt;
  return plainForm(shape);
}

/// A pair keeps the backward's result back until its forward ended too.
Form chunkedForm(const Shape &shape) {
  if (shape.hasPairs)
    return std::nullopt;
  return form(shape.stages - 1, shape.virtualStages * shape.microBatches);
}

/// With fewer micro-batches than stages a chunk waits for the one before it.
Form breadthForm(const Shape &shape) {
  const std::int64_t work = shape.virtualStages * shape.microBatches;
  if (shape.microBatches >= shape.stages)
    return form(shape.stages - 1, work);
  return form(shape.chunks() + shape.microBatches - 1 - work, work);
}

/// F = B = W: a third of a pass is the unit.
Form splitForm(const Shape &shape) {
  const std::int64_t p = shape.stages, m = shape.microBatches;
  if (shape.virtualStages == 1 && m <= p)
    return form(2 * p - 1 - m, 3 * m);
  return form(p - 1, 3 * m * shape.virtualStages);
}

Form zbH2Form(const Shape &shape) {
  if (shape.microBatches < 2 * shape.stages - 1)
    return std::nullopt;
  return form(shape.stages - 1, 3 * shape.microBatches);
}

Form zbVForm(const Shape &shape) {
  if (shape.microBatches < 2 * shape.stages)
    return std::nullopt;
  return form(shape.stages - 1, 6 * shape.microBatches);
}

/// (PP/2 − 1)(F&B + B − 3W), F&B = F + B (2412.19437, table 2).
Form dualPipeForm(const Shape &shape) {
  return form(2 * (shape.stages / 2 - 1), 3 * shape.microBatches);
}

Form dualPipeVForm(const Shape &shape) {
  return form(2 * (shape.stages - 1), 6 * shape.microBatches);
}

/// One wave and as many micro-batches as stages.
Form hanayoForm(const Shape &shape) {
  if (shape.virtualStages != 2 || shape.microBatches != shape.stages)
    return std::nullopt;
  return form(2 * (shape.stages - 1), 3 * shape.stages);
}

Form chimeraForm(const Shape &shape) {
  if (shape.microBatches != shape.stages)
    return std::nullopt;
  return form(2 * (shape.stages - 2), 3 * shape.stages);
}

Form slicedForm(const Shape &shape) {
  return form(shape.stages - 1, shape.microBatches * shape.slices);
}

const ScheduleInfo kSchedules[] = {
#define PLANC_SCHEDULE(NAME, TEXT, PLACEMENT, CHUNKS, TAKES, ORDERS, RULE,     \
                       BUBBLE)                                                 \
  {Schedule::NAME,                                                             \
   TEXT,                                                                       \
   Placement::PLACEMENT,                                                       \
   ChunksPerRank::CHUNKS,                                                      \
   TAKES,                                                                      \
   ORDERS,                                                                     \
   RULE.fits,                                                                  \
   RULE.text,                                                                  \
   BUBBLE},
#include "compiler/schedules/Schedules.def"
};

} // namespace

std::span<const ScheduleInfo> allSchedules() { return kSchedules; }

const ScheduleInfo &infoOf(Schedule schedule) {
  return kSchedules[static_cast<std::size_t>(schedule)];
}

const ScheduleInfo *findSchedule(std::string_view name) {
  auto found = std::find_if(
      std::begin(kSchedules), std::end(kSchedules),
      [name](const ScheduleInfo &info) { return info.name == name; });
  return found == std::end(kSchedules) ? nullptr : &*found;
}

std::string_view toString(Schedule schedule) {
  return schedule == Schedule::Own ? "order" : infoOf(schedule).name;
}

std::int64_t rankOf(Placement placement, std::int64_t stages, std::int64_t copy,
                    std::int64_t chunk) {
  const std::int64_t at = chunk % stages;
  switch (placement) {
  case Placement::Looped:
    return at;
  case Placement::Zigzag:
    return chunk / stages % 2 == 0 ? at : stages - 1 - at;
  case Placement::BothWays:
    return copy == 0 ? at : stages - 1 - at;
  }
  return at;
}

} // namespace planc::schedules
