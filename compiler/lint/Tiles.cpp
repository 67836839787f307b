#include "compiler/diag/Kinds.h"
#include "compiler/lint/Lints.h"

#include <algorithm>
#include <set>

namespace planc::lint {

using diag::Kind;

namespace {

/// The head size that a fused kernel computes for one it is given; 0: not
/// known. flash3: sizes it is compiled for (Dao-AILab/flash-attention,
/// hopper/flash_api.cpp, round_up_headdim). flash1 and flash2: multiples of 32,
/// above 192 256 (csrc/flash_attn/flash_api.cpp, head_size_rounded).
std::int64_t computedHead(hardware::AttentionKernel kernel, std::int64_t size) {
  using hardware::AttentionKernel;
  if (size > 256)
    return 0;
  if (kernel == AttentionKernel::Flash3) {
    for (std::int64_t compiled : {64, 96, 128, 192, 256})
      if (size <= compiled)
        return compiled;
  }
  if (kernel == AttentionKernel::Flash1 || kernel == AttentionKernel::Flash2)
    return size > 192 ? 256 : (size + 31) / 32 * 32;
  return 0;
}

class Tiles {
public:
  Tiles(const Subject &subject, diag::Emitter &emitter)
      : subject_(subject), emitter_(emitter) {}

  void run() {
    const auto &model = subject_.module.model;
    std::set<std::uint32_t> seen;
    for (const ops::Segment &segment : model.segments)
      if (segment.isRepeat)
        for (ops::BodyId body : segment.iterations)
          if (seen.insert(static_cast<std::uint32_t>(body.index())).second)
            look(body);
    report();
  }

private:
  void look(ops::BodyId id) {
    const auto &ops = subject_.sharded.graph->bodies[id].forward.forward;
    double whole = 0;
    for (const shard::Step &step : subject_.sharded.bodies[id].forward)
      whole += step.work.flops.toDouble();
    for (const shard::Step &step : subject_.sharded.bodies[id].forward) {
      // What hardly takes time wastes none: routers, gates.
      if (step.kind != shard::StepKind::Compute ||
          step.work.flops.toDouble() < kWorthSaying * whole)
        continue;
      const ops::Op &op = ops[step.op];
      if (op.kind == ops::OpKind::Attention)
        lookAtHeads(step, subject_.sharded.bodies[id]);
      else if (op.kind == ops::OpKind::MatMul)
        lookAtColumns(step, op);
    }
  }

  /// Keys' and values' heads may differ in size.
  void lookAtHeads(const shard::Step &step, const shard::ShardedBody &body) {
    const auto kernel = subject_.module.plan.kernels.attention;
    for (const std::size_t operand : {1, 2}) {
      const std::int64_t size =
          body.values[step.operands[operand]].sizes.back();
      const std::int64_t computed = computedHead(kernel, size);
      if (isWasted(size, computed) && said_.insert("heads").second)
        add("heads of {} fill {:.0f} % of the {} that {} computes", size,
            100.0 * static_cast<double>(size) / static_cast<double>(computed),
            computed, hardware::toString(kernel));
    }
  }

  /// Columns are what the weight keeps: `ffn`, as it is cut. Of the smallest
  /// tile that the cost model tries, a quarter of the largest.
  void lookAtColumns(const shard::Step &step, const ops::Op &op) {
    const auto tile = static_cast<std::int64_t>(
        subject_.module.cluster.accelerator.constants.tileColumns / 4);
    const std::int64_t columns = step.work.n;
    if (tile < 1 || columns < 1)
      return;
    const std::int64_t computed = (columns + tile - 1) / tile * tile;
    if (!isWasted(columns, computed) || !said_.insert(op.name).second)
      return;
    add("`{}` has {} columns a rank, {:.0f} % of the {} that its tiles have",
        op.name, columns,
        100.0 * static_cast<double>(columns) / static_cast<double>(computed),
        computed);
  }

  static bool isWasted(std::int64_t used, std::int64_t computed) {
    return computed > 0 && static_cast<double>(computed - used) >
                               kWorthSaying * static_cast<double>(computed);
  }

  template <class... Args>
  void add(fmt::format_string<Args...> text, Args &&...args) {
    found_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  /// At the plan, whose model it is: one warning, what else there is as notes.
  void report() {
    if (found_.empty())
      return;
    diag::Builder made =
        emitter_.report(subject_.span(subject_.module.plan.origin),
                        Kind::WastedTiles, "{}", found_.front());
    for (std::size_t i = 1; i < found_.size(); ++i)
      made.note("{}", found_[i]);
    made.note("the model is `{}`", subject_.module.model.name);
  }

  const Subject &subject_;
  diag::Emitter &emitter_;
  std::set<std::string> said_;
  std::vector<std::string> found_;
};

} // namespace

void lintTiles(const Subject &subject, diag::Emitter &emitter) {
  Tiles(subject, emitter).run();
}

} // namespace planc::lint
