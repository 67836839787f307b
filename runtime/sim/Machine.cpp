#include "runtime/sim/Machine.h"

#include "runtime/base/Checked.h"

#include <algorithm>
#include <bit>

namespace planc::sim {

namespace {
Time clampTime(Int128 time) {
  return time >= kEndOfTime ? kEndOfTime : static_cast<Time>(time);
}
} // namespace

std::uint32_t levelsOf(const OpCost &cost) {
  std::uint32_t levels = 0;
  for (std::size_t level = 0; level < kLevels; ++level)
    if (cost.links[level] > 0)
      levels |= 1u << level;
  return levels;
}

Machine::Machine(std::size_t classes, std::int64_t units, Contention contention)
    : contention_(contention), units_(units),
      flights_(classes * program::kStreamCount), loads_(classes),
      held_(classes * program::kStreamCount),
      queue_(classes * program::kStreamCount) {}

void Machine::startKernel(Slot slot, const OpCost &cost, Time now) {
  Flight &flight = flights_[slot];
  flight.work = Flight::Work::Kernel;
  flight.loads = false;
  flight.last = now;
  flight.remaining = Int128(cost.duration.value) * cost::kWhole;
  flight.rate = cost::kWhole;
  flight.cost = &cost;
  queue_.push(slot, clampTime(Int128(now) + cost.duration.value));
  if (contention_ == Contention::On)
    rerate(slot, now);
}

void Machine::startMessage(Slot slot, const OpCost &cost,
                           std::span<const Member> members, Time now) {
  Flight &flight = flights_[slot];
  Time length = cost.duration.value - cost.latency.value;
  flight.work = Flight::Work::Message;
  flight.last = now;
  flight.remaining = Int128(length) * cost::kWhole;
  flight.rate = cost::kWhole;
  flight.cost = &cost;
  flight.members = members;
  const std::uint32_t levels = levelsOf(cost);
  flight.levelsAt =
      static_cast<std::uint8_t>(levels == 0 ? 0 : std::countr_zero(levels));
  flight.levelsEnd = static_cast<std::uint8_t>(std::bit_width(levels));
  flight.loads = contention_ == Contention::On && length > 0 &&
                 (slowsKernels(cost) || levels != 0);
  queue_.push(slot, clampTime(Int128(now) + length));
  if (!flight.loads)
    return;
  addLoads(slot, flight);
  rerateBeside(flight, now);
}

void Machine::startTimed(Slot slot, Time end) {
  flights_[slot].work = Flight::Work::Timed;
  flights_[slot].loads = false;
  queue_.push(slot, clampTime(end));
}

void Machine::finish(Slot slot, Time now) {
  queue_.remove(slot);
  Flight &flight = flights_[slot];
  if (!flight.loads)
    return;
  removeLoads(slot, flight);
  rerateBeside(flight, now);
}

bool Machine::touches(std::uint32_t rankClass, bool kernels,
                      std::uint32_t levels) const {
  const ClassLoad &load = loads_[rankClass];
  if (kernels && (load.units > 0 || load.memoryShare > 0))
    return true;
  for (std::size_t level = 0; level < kLevels; ++level)
    if ((levels >> level & 1) &&
        (load.links[0][level] > 0 || load.links[1][level] > 0))
      return true;
  return false;
}

void Machine::adopt(Slot slot, const Machine &other, Slot otherSlot, Time shift,
                    std::span<const Member> members) {
  Flight &flight = flights_[slot];
  flight = other.flights_[otherSlot];
  flight.last += shift;
  flight.members = members;
  queue_.push(slot, clampTime(Int128(other.endOf(otherSlot)) + shift));
  if (flight.loads)
    addLoads(slot, flight);
}

void Machine::addLoads(Slot slot, const Flight &flight) {
  changeLoads(flight, 1);
  for (const Member &member : flight.members)
    loads_[member.rankClass].messages.push_back(slot);
}

void Machine::removeLoads(Slot slot, const Flight &flight) {
  changeLoads(flight, -1);
  for (const Member &member : flight.members) {
    std::vector<Slot> &messages = loads_[member.rankClass].messages;
    messages.erase(std::find(messages.begin(), messages.end(), slot));
  }
}

void Machine::changeLoads(const Flight &flight, std::int64_t sign) {
  for (const Member &member : flight.members) {
    ClassLoad &load = loads_[member.rankClass];
    load.units += sign * flight.cost->units;
    load.memoryShare += sign * flight.cost->memoryShare;
    for (int direction = 0; direction < 2; ++direction)
      if (member.directions >> direction & 1)
        for (std::size_t level = flight.levelsAt; level < flight.levelsEnd;
             ++level)
          load.links[direction][level] += sign * flight.cost->links[level];
  }
}

void Machine::rerateBeside(const Flight &flight, Time now) {
  const bool links = flight.levelsEnd > 0, kernels = slowsKernels(*flight.cost);
  for (const Member &member : flight.members) {
    if (links)
      for (Slot message : loads_[member.rankClass].messages)
        rerate(message, now);
    if (!kernels)
      continue;
    Slot first = member.rankClass * program::kStreamCount;
    for (Slot slot = first; slot < first + program::kStreamCount; ++slot)
      if (queue_.contains(slot) && flights_[slot].work == Flight::Work::Kernel)
        rerate(slot, now);
  }
}

void Machine::rerate(Slot slot, Time now) {
  Flight &flight = flights_[slot];
  std::int64_t rate = rateOf(slot, flight);
  if (rate == flight.rate)
    return;
  flight.remaining -= Int128(now - flight.last) * flight.rate;
  // An end was rounded up, so the last picosecond may ask for more than is
  // left.
  flight.remaining = std::max(flight.remaining, Int128(0));
  flight.last = now;
  flight.rate = rate;
  queue_.move(slot,
              clampTime(now + (flight.remaining + rate - 1) / Int128(rate)));
}

std::int64_t Machine::rateOf(Slot slot, const Flight &flight) const {
  if (flight.work == Flight::Work::Message)
    return messageRate(flight);
  const ClassLoad &load = loads_[slot / program::kStreamCount];
  if (load.units == 0 && load.memoryShare == 0)
    return cost::kWhole;
  cost::ComputeCost kernel;
  kernel.total = flight.cost->duration;
  kernel.bound = flight.cost->bound;
  kernel.memoryShare = flight.cost->memoryShare;
  return cost::computeRate(kernel, {load.units, load.memoryShare}, units_);
}

std::int64_t Machine::messageRate(const Flight &flight) const {
  std::int64_t most = cost::kWhole;
  for (const Member &member : flight.members)
    for (int direction = 0; direction < 2; ++direction)
      if (member.directions >> direction & 1)
        for (std::size_t level = flight.levelsAt; level < flight.levelsEnd;
             ++level)
          if (flight.cost->links[level] > 0)
            most = std::max(most,
                            loads_[member.rankClass].links[direction][level]);
  if (most == cost::kWhole)
    return cost::kWhole;
  // Rounded up, so that shares that divide a duration divide it exactly.
  return ceilDiv(cost::kWhole * cost::kWhole, most);
}

} // namespace planc::sim
