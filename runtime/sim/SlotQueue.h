// A heap of the few operations in flight, each with its place, so that an end
// can move when a rate changes. Ties go to the smaller slot.
#pragma once

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
  explicit SlotQueue(std::size_t slots) : place_(slots, kAbsent), key_(slots) {
    heap_.reserve(slots);
  }

  bool empty() const { return heap_.empty(); }
  bool contains(Slot slot) const { return place_[slot] != kAbsent; }
  Slot top() const { return heap_[0]; }
  Time timeOf(Slot slot) const { return key_[slot]; }

  void push(Slot slot, Time time) {
    key_[slot] = time;
    place_[slot] = static_cast<std::uint32_t>(heap_.size());
    heap_.push_back(slot);
    up(place_[slot]);
  }
  void move(Slot slot, Time time) {
    key_[slot] = time;
    up(place_[slot]);
    down(place_[slot]);
  }
  void remove(Slot slot) {
    std::uint32_t at = place_[slot];
    Slot last = heap_.back();
    heap_.pop_back();
    place_[slot] = kAbsent;
    if (last == slot)
      return;
    heap_[at] = last;
    place_[last] = at;
    up(at);
    down(place_[last]);
  }

private:
  static constexpr std::uint32_t kAbsent = 0xffff'ffff;

  bool before(Slot a, Slot b) const {
    return key_[a] != key_[b] ? key_[a] < key_[b] : a < b;
  }
  void put(std::uint32_t at, Slot slot) {
    heap_[at] = slot;
    place_[slot] = at;
  }
  void up(std::uint32_t at) {
    Slot slot = heap_[at];
    while (at > 0 && before(slot, heap_[(at - 1) / 2])) {
      put(at, heap_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    put(at, slot);
  }
  void down(std::uint32_t at) {
    Slot slot = heap_[at];
    auto size = static_cast<std::uint32_t>(heap_.size());
    for (std::uint32_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && before(heap_[child + 1], heap_[child]))
        ++child;
      if (!before(heap_[child], slot))
        break;
      put(at, heap_[child]);
      at = child;
    }
    put(at, slot);
  }

  std::vector<Slot> heap_;
  std::vector<std::uint32_t> place_; ///< by slot
  std::vector<Time> key_;            ///< by slot
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
