// Helpers to look into a graph.
#pragma once

#include "compiler/graph/OpGraph.h"
#include "tests/unit/ops/TinyModels.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace planc::graph {

inline const Body &bodyOf(const OpGraph &graph, const std::string &name) {
  for (const Body &body : graph.bodies)
    if (body.forward.name == name)
      return body;
  std::abort();
}

inline ops::ValueId valueOf(const Body &body, const std::string &name) {
  for (ops::ValueId id : body.forward.values.ids())
    if (body.forward.values[id].name == name)
      return id;
  return {};
}

inline std::vector<std::string> namesOf(const Body &body,
                                        const std::vector<ops::ValueId> &ids) {
  std::vector<std::string> names;
  for (ops::ValueId id : ids)
    names.push_back(body.forward.values[id].name);
  return names;
}

inline std::int64_t bytesOf(const OpGraph &graph, const Body &body,
                            ops::ValueId id) {
  const ops::Value &value = body.forward.values[id];
  std::int64_t bytes = planc::bytesOf(value.precision);
  for (ops::DimId dim : value.dims)
    bytes *= graph.model.dims[dim].size;
  return bytes;
}

inline std::int64_t savedBytes(const OpGraph &graph, const Body &body) {
  std::int64_t bytes = 0;
  for (ops::ValueId id : body.saved)
    bytes += bytesOf(graph, body, id);
  return bytes;
}

/// Kernels, each as the results of its operators: "silu+u".
inline std::vector<std::string> kernelsOf(const Body &body,
                                          const std::vector<ops::Op> &ops) {
  std::vector<std::string> kernels;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    std::string name = body.forward.values[ops[i].results[0]].name;
    if (i > 0 && ops[i].kernel == ops[i - 1].kernel)
      kernels.back() += "+" + name;
    else
      kernels.push_back(name);
  }
  return kernels;
}

inline bool has(const std::vector<std::string> &list, const std::string &text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// GPT's proportions: heads · head size = hidden, ffn = 4 · hidden.
inline ops::tiny::Sizes gptSizes() {
  ops::tiny::Sizes sizes;
  sizes.layers = 3;
  sizes.batch = 2;
  sizes.seq = 64;
  sizes.heads = sizes.keyHeads = 4;
  sizes.headSize = 8;
  sizes.hidden = 32;
  sizes.ffn = 128;
  sizes.vocab = 96;
  sizes.dropout = 0.1;
  return sizes;
}

} // namespace planc::graph
