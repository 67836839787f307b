// What is in flight on the streams and links of all rank classes, and how fast
// it goes. Knows rates, not programs.
#pragma once

#include "runtime/program/Instruction.h"
#include "runtime/sim/Costs.h"
#include "runtime/sim/Engine.h"
#include "runtime/sim/SlotQueue.h"

#include <span>
#include <vector>

namespace planc::sim {

/// Times from here on are taken for an overflow; durations stay below, so that
/// a time plus a duration fits.
inline constexpr Time kEndOfTime = Time(1) << 62;

/// A rank class that an operation holds links of. Directions: bit 0 outward,
/// bit 1 inward.
struct Member {
  static constexpr std::uint8_t kOut = 1, kIn = 2, kBoth = 3;
  std::uint32_t rankClass = 0;
  std::uint8_t directions = kBoth;
};

/// An operation in flight.
struct Flight {
  enum class Work : std::uint8_t { Kernel, Message, Timed } work = Work::Timed;
  bool loads = false; ///< counted in the loads of its members
  /// Levels whose links it uses, first to one past the last.
  std::uint8_t levelsAt = 0, levelsEnd = 0;
  Time last = 0;        ///< when `remaining` was true
  Int128 remaining = 0; ///< picoseconds · kWhole
  std::int64_t rate = cost::kWhole;
  const OpCost *cost = nullptr;
  std::span<const Member> members;
};

class Machine {
public:
  Machine(std::size_t classes, std::int64_t units, Contention contention);

  /// A kernel of the slot's class. The cost must outlive the flight.
  void startKernel(Slot slot, const OpCost &cost, Time now);
  /// A message or collective; holds its links for duration − latency. `members`
  /// must outlive the flight.
  void startMessage(Slot slot, const OpCost &cost,
                    std::span<const Member> members, Time now);
  /// Something that nothing slows.
  void startTimed(Slot slot, Time end);
  /// Takes the flight off, ended or not.
  void finish(Slot slot, Time now);

  bool idle() const { return queue_.empty(); }
  Slot next() const { return queue_.top(); }
  Time nextTime() const { return queue_.topTime(); }
  bool busy(Slot slot) const { return queue_.contains(slot) || held_[slot]; }
  /// A stream that is taken while nothing of its own is in flight.
  void hold(Slot slot) { held_[slot] = 1; }
  void letGo(Slot slot) { held_[slot] = 0; }
  Time endOf(Slot slot) const { return queue_.timeOf(slot); }

  /// True when something in flight on this class would change what `kernels`
  /// and messages on `levels` of it take, or be changed.
  bool touches(std::uint32_t rankClass, bool kernels,
               std::uint32_t levels) const;

  /// Moves a flight here from the only class of another machine, where it had
  /// the same rate; `shift` is added to its times.
  void adopt(Slot slot, const Machine &other, Slot otherSlot, Time shift,
             std::span<const Member> members);

private:
  struct ClassLoad {
    std::int64_t units = 0, memoryShare = 0;
    std::int64_t links[2][kLevels] = {};
    std::vector<Slot> messages;
  };

  void addLoads(Slot slot, const Flight &flight);
  void removeLoads(Slot slot, const Flight &flight);
  void changeLoads(const Flight &flight, std::int64_t sign);
  /// What the flight slows, or no longer does.
  void rerateBeside(const Flight &flight, Time now);
  void rerate(Slot slot, Time now);
  std::int64_t rateOf(Slot slot, const Flight &flight) const;
  std::int64_t messageRate(const Flight &flight) const;

  Contention contention_;
  std::int64_t units_;
  std::vector<Flight> flights_; ///< by slot
  std::vector<ClassLoad> loads_;
  std::vector<std::uint8_t> held_; ///< by slot
  SlotQueue queue_;
};

/// Levels whose links the operation uses, as bits.
std::uint32_t levelsOf(const OpCost &cost);
/// Takes anything from the kernels beside it.
inline bool slowsKernels(const OpCost &cost) {
  return cost.units > 0 || cost.memoryShare > 0;
}

} // namespace planc::sim
