// Work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace planc {

/// Threads that so many pieces of work may have: no more than the machine runs
/// at once, and than 16.
inline std::size_t threadsFor(std::size_t count) {
  constexpr std::size_t kMost = 16;
  return std::min<std::size_t>(
      {std::max(std::thread::hardware_concurrency(), 1U), count, kMost});
}

/// Calls `work` with each of 0 … count − 1, once, on up to `threads` threads,
/// this one among them; returns when all are done. Which thread takes which is
/// open: `work` writes to places of its own, and does not throw.
template <class Work>
void forEachOnThreads(std::size_t count, std::size_t threads,
                      const Work &work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::thread> pool;
  for (std::size_t i = 1; i < std::min(threads, count); ++i)
    pool.emplace_back(take);
  take();
  for (std::thread &thread : pool)
    thread.join();
}

} // namespace planc
