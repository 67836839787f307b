// A cluster of round numbers whose constants claim nothing.
#pragma once

#include "runtime/cost/RooflineCostModel.h"

namespace planc::cost {

/// 100 TFLOP/s and 1 TB/s an accelerator of 100 units; nodes of 8 at 100 GB/s
/// and 1us, pods of 16 nodes at 10 GB/s and 10us, 4 pods joined 1:4.
inline hardware::Cluster testCluster() {
  hardware::Cluster c;
  hardware::Accelerator &a = c.accelerator;
  a.peaks = {{Precision::Bf16, FlopRate(100'000'000'000'000)},
             {Precision::Fp8, FlopRate(200'000'000'000'000)}};
  a.memory = Bytes(80'000'000'000);
  a.bandwidth = ByteRate(1'000'000'000'000);
  a.units = 100;
  hardware::Level node, pod, fabric;
  node.of = 8;
  node.link = ByteRate(100'000'000'000);
  node.latency = Duration(1'000'000);
  pod.of = 16;
  pod.link = ByteRate(10'000'000'000);
  pod.latency = Duration(10'000'000);
  fabric = pod;
  fabric.of = 4;
  fabric.oversubscription = 4;
  c.levels = {node, pod, fabric};
  return c;
}

inline program::Message message(std::int64_t bytes,
                                std::vector<std::int64_t> sizes,
                                std::vector<std::int64_t> strides) {
  program::Message m;
  m.bytes = Bytes(bytes);
  m.sizes = std::move(sizes);
  m.strides = std::move(strides);
  return m;
}

} // namespace planc::cost
