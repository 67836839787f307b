// Plans by hand: what sema makes of `mesh` and `shard` clauses.
#pragma once

#include "compiler/graph/OpGraph.h"
#include "compiler/sema/Plan.h"

#include <string>
#include <vector>

namespace planc::oracle {

struct AxisSpec {
  std::string name;
  std::int64_t size = 1;
  std::vector<std::string> list;
};

inline sema::Plan planOf(const graph::OpGraph &graph,
                         const std::vector<AxisSpec> &axes) {
  sema::Plan plan;
  for (const AxisSpec &spec : axes) {
    plan.mesh.axes.add({spec.name, spec.size, {}});
    sema::AxisList list;
    for (const std::string &word : spec.list) {
      sema::ListedDim listed{word, {}, {}};
      for (ops::DimId dim : graph.model.dims.ids())
        if (graph.model.dims[dim].name == word)
          listed.dims.push_back(dim);
      list.list.push_back(std::move(listed));
    }
    plan.lists.add(std::move(list));
  }
  return plan;
}

inline sema::AxisId axisOf(const sema::Plan &plan, const std::string &name) {
  for (sema::AxisId axis : plan.mesh.axes.ids())
    if (plan.mesh.axes[axis].name == name)
      return axis;
  return {};
}

} // namespace planc::oracle
