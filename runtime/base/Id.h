// Typed 32-bit ids: an index into one table, which cannot be mistaken for an
// index into another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace planc {

/// An index into the table of `Tag`. Ordered by order of creation, which is the
/// only order planc ever lets decide anything.
template <class Tag> class Id {
public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index)
      : value_(static_cast<std::uint32_t>(index)) {}

  constexpr bool isValid() const { return value_ != kNone; }
  constexpr std::uint32_t index() const { return value_; }
  constexpr auto operator<=>(const Id &) const = default;

private:
  static constexpr std::uint32_t kNone =
      std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value_ = kNone;
};

/// The place in the user's text that something came from. Made and read by
/// compiler/source; everything else only carries it.
using OriginId = Id<struct OriginTag>;

} // namespace planc

template <class Tag> struct std::hash<planc::Id<Tag>> {
  std::size_t operator()(planc::Id<Tag> id) const noexcept {
    return id.index();
  }
};
