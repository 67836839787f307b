#include "runtime/hardware/Placement.h"
#include "tests/unit/Catch.h"

#include <set>

using namespace planc;
using namespace planc::hardware;

namespace {

Cluster cluster(std::vector<std::int64_t> sizes) {
  Cluster c;
  for (std::int64_t size : sizes) {
    Level level;
    level.of = size;
    level.link = ByteRate(1);
    c.levels.push_back(level);
  }
  return c;
}

using Shape = std::vector<std::int64_t>;

Shape shape(const Cluster &c, Shape sizes, Shape strides) {
  return shapeOf(c, {sizes, strides}).perLevel;
}

} // namespace

TEST_CASE("groups fill levels from the inside") {
  const Cluster c = cluster({8, 384, 8});
  CHECK(shape(c, {8}, {1}) == Shape{8, 1, 1});     // tensor
  CHECK(shape(c, {128}, {8}) == Shape{1, 128, 1}); // data
  CHECK(shape(c, {16}, {1}) == Shape{8, 2, 1});    // two nodes
  CHECK(shape(c, {4}, {2}) == Shape{4, 1, 1});     // every other
  CHECK(shape(c, {768}, {8}) == Shape{1, 384, 2}); // two pods
  CHECK(shape(c, {4}, {3072}) == Shape{1, 1, 4});  // one a pod
  CHECK(shape(c, {}, {}) == Shape{1, 1, 1});
}

TEST_CASE("axes of one group join where they are neighbours") {
  const Cluster c = cluster({8, 384});
  // 4 outside 3 next to each other are 12 next to each other.
  CHECK(shape(c, {4, 3}, {3, 1}) == shape(c, {12}, {1}));
  // replica outside fsdp with tensor parallelism between them and the chips
  CHECK(shape(c, {2, 4}, {64, 2}) == Shape{4, 2});
  CHECK(shape(c, {2, 1, 8}, {128, 128, 1}) == Shape{8, 2});
}

TEST_CASE("what straddles a boundary counts as crossing it") {
  const Cluster c = cluster({8, 384});
  CHECK(shape(c, {6}, {1}) == Shape{2, 3});
  CHECK(shape(c, {12}, {1}) == Shape{4, 3});
  CHECK(shape(c, {4}, {6}) == Shape{1, 4}); // 6 does not divide 8
  CHECK(shape(c, {3}, {12}) == Shape{1, 3});
}

TEST_CASE("a group larger than the cluster counts as crossing its last level") {
  CHECK(shape(cluster({8, 4}), {64}, {1}) == Shape{8, 8});
}

TEST_CASE("members and links of a shape") {
  const GroupShape s{{8, 16, 2}, {}};
  CHECK(s.members() == 256);
  CHECK(s.membersBelow(0) == 1);
  CHECK(s.membersBelow(1) == 8);
  CHECK(s.membersBelow(2) == 128);
  CHECK(s.outermost() == std::size_t{2});
  CHECK(GroupShape{{4, 1, 1}, {}}.outermost() == std::size_t{0});
  CHECK_FALSE(GroupShape{{1, 1}, {}}.outermost());
}

TEST_CASE("no group of a mesh touches more nodes than its shape says") {
  const Cluster c = cluster({8, 4, 8});
  for (std::int64_t size = 1; size <= 16; ++size)
    for (std::int64_t stride = 1; stride * size <= 256; ++stride) {
      const Shape sizes{size}, strides{stride};
      const GroupShape s = shapeOf(c, {sizes, strides});
      CHECK(s.members() == size);
      for (std::size_t l = 0; l < 2; ++l) {
        std::size_t most = 0;
        for (std::int64_t base = 0; base + (size - 1) * stride < 256; ++base) {
          if (base % (size * stride) >= stride)
            continue; // not a group's first member
          std::set<std::int64_t> groups;
          for (std::int64_t i = 0; i < size; ++i)
            groups.insert((base + i * stride) / c.groupSize(l));
          most = std::max(most, groups.size());
        }
        const std::int64_t says = size / s.membersBelow(l + 1);
        INFO("size " << size << " stride " << stride << " level " << l);
        CHECK(static_cast<std::int64_t>(most) <= says);
      }
    }
}

TEST_CASE("members lie apart in groups of the level inside") {
  const Cluster c = cluster({16, 16, 4});
  const auto apart = [&](Shape sizes, Shape strides) {
    return shapeOf(c, {sizes, strides}).apart;
  };
  CHECK(apart({16}, {1}) == Shape{1, 1, 1});
  CHECK(apart({4}, {4}) == Shape{4, 1, 1});
  CHECK(apart({16}, {16}) == Shape{1, 1, 1});
  CHECK(apart({8}, {32}) == Shape{1, 2, 1});
  CHECK(apart({32}, {4}) == Shape{4, 1, 1}); // 4 along x, then 8 along y
  CHECK(apart({2}, {256}) == Shape{1, 1, 1});
  // Two axes along one level, 0, 2, 8 and 10 of it: as if spread over all.
  CHECK(apart({2, 2}, {8, 2}) == Shape{4, 1, 1});
}
