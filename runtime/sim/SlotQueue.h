// A heap of the few operations in flight, each with its place, so that an end
// can move when a rate changes. Ties go to the smaller slot.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace planc::sim {

/// Virtual time in whole picoseconds, unwrapped for the inner loop.
using Time = std::int64_t;
/// One stream of one rank class: class · kStreamCount + stream.
using Slot = std::uint32_t;

class SlotQueue {
public:
  explicit SlotQueue(std::size_t slots) : place_(slots, kAbsent) {
    heap_.reserve(slots);
  }

  bool empty() const { return heap_.empty(); }
  bool contains(Slot slot) const { return place_[slot] != kAbsent; }
  Slot top() const { return heap_[0].slot; }
  Time topTime() const { return heap_[0].time; }
  /// Of a slot that is there.
  Time timeOf(Slot slot) const { return heap_[place_[slot]].time; }

  void push(Slot slot, Time time) {
    const auto at = static_cast<std::uint32_t>(heap_.size());
    heap_.push_back({time, slot});
    up(at, {time, slot});
  }
  void move(Slot slot, Time time) { settle(place_[slot], {time, slot}); }
  void remove(Slot slot) {
    const std::uint32_t at = place_[slot];
    const Entry last = heap_.back();
    heap_.pop_back();
    place_[slot] = kAbsent;
    if (last.slot != slot)
      settle(at, last);
  }

private:
  static constexpr std::uint32_t kAbsent = 0xffff'ffff;
  static constexpr std::uint32_t kWays = 4;

  struct Entry {
    Time time;
    Slot slot;
    bool before(const Entry &other) const {
      return time != other.time ? time < other.time : slot < other.slot;
    }
  };

  void put(std::uint32_t at, const Entry &entry) {
    heap_[at] = entry;
    place_[entry.slot] = at;
  }
  void settle(std::uint32_t at, const Entry &entry) {
    if (at > 0 && entry.before(heap_[(at - 1) / kWays]))
      up(at, entry);
    else
      down(at, entry);
  }
  void up(std::uint32_t at, const Entry &entry) {
    while (at > 0 && entry.before(heap_[(at - 1) / kWays])) {
      put(at, heap_[(at - 1) / kWays]);
      at = (at - 1) / kWays;
    }
    put(at, entry);
  }
  void down(std::uint32_t at, const Entry &entry) {
    const auto size = static_cast<std::uint32_t>(heap_.size());
    for (std::uint32_t child = kWays * at + 1; child < size;
         child = kWays * at + 1) {
      std::uint32_t least = child;
      for (std::uint32_t other = child + 1;
           other < std::min(size, child + kWays); ++other)
        if (heap_[other].before(heap_[least]))
          least = other;
      if (!heap_[least].before(entry))
        break;
      put(at, heap_[least]);
      at = least;
    }
    put(at, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> place_; ///< by slot
};

/// A set of slots that is visited in ascending order and emptied on the way;
/// visiting costs what is in it, not what could be.
class SlotSet {
public:
  explicit SlotSet(std::size_t slots)
      : words_(slots / 64 + 1), used_(words_.size() / 64 + 1) {}

  void insert(Slot slot) {
    words_[slot / 64] |= 1ull << (slot % 64);
    used_[slot / 4096] |= 1ull << (slot / 64 % 64);
  }
  bool empty() const {
    for (std::uint64_t used : used_)
      if (used != 0)
        return false;
    return true;
  }
  /// `visit` must not change this set.
  template <class Visit> void drain(Visit visit) {
    for (std::size_t u = 0; u < used_.size(); ++u)
      for (; used_[u] != 0; used_[u] &= used_[u] - 1) {
        const std::size_t w =
            64 * u + static_cast<std::size_t>(std::countr_zero(used_[u]));
        for (; words_[w] != 0; words_[w] &= words_[w] - 1)
          visit(static_cast<Slot>(
              64 * w + static_cast<std::size_t>(std::countr_zero(words_[w]))));
      }
  }
  void swap(SlotSet &other) {
    words_.swap(other.words_);
    used_.swap(other.used_);
  }

private:
  std::vector<std::uint64_t> words_; ///< slots, as bits
  std::vector<std::uint64_t> used_;  ///< words that are not 0, as bits
};

} // namespace planc::sim
