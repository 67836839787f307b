#include "compiler/lower/ProductParts.h"

#include "compiler/ops/Work.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace planc::lower {

using program::Instruction;
using program::InstructionKind;
using program::Stream;
using shard::ShardedValueId;
using shard::Step;

namespace {

using Way = PartsSite::Way;

/// The `part`-th of `parts`; all together are `whole`.
std::int64_t shareOf(std::int64_t whole, std::int64_t part,
                     std::int64_t parts) {
  const auto upTo = [&](std::int64_t n) {
    return static_cast<std::int64_t>(Int128(whole) * n / parts);
  };
  return upTo(part + 1) - upTo(part);
}

/// One pass and what is known of its operators.
class Pass {
public:
  explicit Pass(const PartsRequest &request)
      : graph_(*request.graph), sharded_(graph_.bodies[request.body]),
        body_(graph_.graph->bodies[request.body]), pass_(*request.pass) {}

  const std::vector<Instruction> &all() const { return pass_.instructions; }
  const LoweredPass &lowered() const { return pass_; }
  const Step *step(std::uint32_t i) const { return pass_.steps[i]; }

  bool isProduct(std::uint32_t i) const {
    return all()[i].kind == InstructionKind::MatMul && step(i) &&
           step(i)->results.size() == 1;
  }

  /// Products that each add themselves to those before, and their sum.
  bool isSum(std::uint32_t i) const {
    return all()[i].kind == InstructionKind::Memory && step(i) &&
           step(i)->kind == shard::StepKind::Compute &&
           opOf(*step(i)).attributes.accumulated;
  }

  std::vector<std::uint32_t> readersOf(std::uint32_t of) const {
    std::vector<std::uint32_t> readers;
    for (std::uint32_t i = of + 1; i < all().size(); ++i)
      if (reads(i, of))
        readers.push_back(i);
    return readers;
  }
  bool reads(std::uint32_t i, std::uint32_t of) const {
    const std::vector<std::uint32_t> &deps = all()[i].deps;
    return std::find(deps.begin(), deps.end(), of) != deps.end();
  }

  const ops::Op &opOf(const Step &step) const {
    return step.phase == program::Phase::Forward
               ? body_.forward.forward[step.op]
               : body_.backward[step.op];
  }
  const ops::ResultRule &ruleOf(std::uint32_t i) const {
    return opOf(*step(i)).rules[0];
  }

  /// The dimension of the result that a product makes of `dim` of an operand;
  /// none where it sums over it, or reads the operand not as it was gathered.
  std::optional<ops::DimId> keeps(std::uint32_t product, ShardedValueId operand,
                                  ops::DimId dim) const {
    const std::vector<ShardedValueId> &operands = step(product)->operands;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      if (operands[o] != operand)
        continue;
      for (const ops::DimUse &use : ruleOf(product).operands[o].dims)
        if (use.dim == dim && use.role == ops::Role::Map)
          return use.as;
      return std::nullopt;
    }
    return std::nullopt;
  }

  /// Size of a dimension of the result on one rank; 0: it has none such.
  std::int64_t sizeOf(std::uint32_t product, ops::DimId dim) const {
    const ops::Dims &dims = ruleOf(product).dims;
    const auto at = std::find(dims.begin(), dims.end(), dim);
    if (at == dims.end() || std::count(dims.begin(), dims.end(), dim) != 1)
      return 0;
    return sharded_.values[step(product)->results[0]]
        .sizes[static_cast<std::size_t>(at - dims.begin())];
  }

  bool canCut(std::uint32_t product, ops::DimId dim, std::int64_t parts) const {
    const std::int64_t size = sizeOf(product, dim);
    return size > 0 && size % parts == 0;
  }

  /// Of the first factor, on one rank the longest; of equal ones the first.
  std::optional<ops::DimId> rowsOf(std::uint32_t product) const {
    std::optional<ops::DimId> best;
    for (const ops::DimUse &use : ruleOf(product).operands[0].dims)
      if (use.role == ops::Role::Map &&
          (!best || sizeOf(product, use.as) > sizeOf(product, *best)))
        best = use.as;
    return best;
  }

  program::Work productPart(std::uint32_t product, ops::DimId dim,
                            std::int64_t parts) const {
    const Step &whole = *step(product);
    const ops::ResultRule &rule = ruleOf(product);
    ops::WorkRequest request;
    request.op = &opOf(whole);
    request.model = &graph_.graph->model;
    for (std::size_t o = 0; o < whole.operands.size(); ++o) {
      std::vector<std::int64_t> sizes =
          sharded_.values[whole.operands[o]].sizes;
      const std::vector<ops::DimUse> &uses = rule.operands[o].dims;
      for (std::size_t d = 0; d < uses.size() && d < sizes.size(); ++d)
        if (uses[d].role == ops::Role::Map && uses[d].as == dim)
          sizes[d] /= parts;
      request.addOperand(sourceOf(whole.operands[o]), std::move(sizes));
    }
    std::vector<std::int64_t> sizes = sharded_.values[whole.results[0]].sizes;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (rule.dims[d] == dim)
        sizes[d] /= parts;
    request.addResult(sourceOf(whole.results[0]), std::move(sizes));
    return ops::workOf(request);
  }

private:
  const ops::Value &sourceOf(ShardedValueId id) const {
    return body_.forward.values[sharded_.values[id].source];
  }

  const shard::ShardedGraph &graph_;
  const shard::ShardedBody &sharded_;
  const graph::Body &body_;
  const LoweredPass &pass_;
};

// --- What may be cut ---------------------------------------------------------

std::vector<PartsSite> gathered(const Pass &pass, std::uint32_t collective) {
  const Step &gather = *pass.step(collective);
  PartsSite site{Way::Gathered, collective, {}, {}, 1};
  site.parts = pass.all()[collective].message.members();
  for (std::uint32_t reader : pass.readersOf(collective)) {
    if (!pass.isProduct(reader))
      continue;
    const auto dim = pass.keeps(reader, gather.results[0], gather.from);
    // Products run from where the first stood: what they read is there.
    const std::uint32_t first =
        site.kernels.empty() ? reader : site.kernels.front();
    const std::vector<std::uint32_t> &deps = pass.all()[reader].deps;
    if (dim && pass.canCut(reader, *dim, site.parts) &&
        std::all_of(deps.begin(), deps.end(),
                    [&](std::uint32_t dep) { return dep < first; })) {
      site.kernels.push_back(reader);
      site.dims.push_back(*dim);
    }
  }
  if (site.kernels.empty() || site.parts < 2)
    return {};
  return {site};
}

/// The products whose results, added up, a collective reduces; the sum last.
std::vector<std::uint32_t> madeBy(const Pass &pass, std::uint32_t collective) {
  const std::vector<std::uint32_t> &deps = pass.all()[collective].deps;
  if (deps.size() != 1 || !pass.step(deps[0]) ||
      pass.step(deps[0])->results != pass.step(collective)->operands)
    return {};
  if (pass.isProduct(deps[0]))
    return deps;
  if (!pass.isSum(deps[0]))
    return {};
  std::vector<std::uint32_t> kernels = pass.all()[deps[0]].deps;
  for (std::uint32_t product : kernels)
    if (!pass.isProduct(product) || pass.readersOf(product).size() != 1)
      return {};
  if (kernels.size() != pass.step(deps[0])->operands.size())
    return {};
  kernels.push_back(deps[0]);
  return kernels;
}

bool cutAlong(const Pass &pass, PartsSite &site, ops::DimId dim) {
  site.dims.assign(site.kernels.size(), dim);
  return std::all_of(
      site.kernels.begin(), site.kernels.end(), [&](std::uint32_t kernel) {
        return pass.isSum(kernel) || pass.canCut(kernel, dim, site.parts);
      });
}

std::vector<PartsSite> reduced(const Pass &pass, std::uint32_t collective) {
  PartsSite site{Way::Scattered, collective, madeBy(pass, collective), {}, 1};
  if (site.kernels.empty())
    return {};
  std::vector<PartsSite> sites;
  if (pass.all()[collective].kind == InstructionKind::ReduceScatter) {
    site.parts = pass.all()[collective].message.members();
    if (site.parts > 1 && cutAlong(pass, site, pass.step(collective)->to))
      sites.push_back(site);
    return sites;
  }
  site.way = Way::Reduced;
  const auto rows = pass.rowsOf(site.kernels.front());
  for (std::int64_t parts : {2, 4, 8}) {
    site.parts = parts;
    if (rows && cutAlong(pass, site, *rows))
      sites.push_back(site);
  }
  return sites;
}

// --- The pass with one of them cut -------------------------------------------

class Cutter {
public:
  Cutter(const PartsRequest &request, const PartsSite &site)
      : pass_(request), site_(site), all_(pass_.all()),
        collective_(all_[site.collective]) {
    made_.resize(all_.size());
  }

  CutPass run() {
    const std::uint32_t at = site_.way == Way::Gathered ? site_.kernels.front()
                                                        : site_.kernels.back();
    const std::uint32_t sumAt = firstReader();
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      if (site_.way == Way::Scattered && i == sumAt)
        addUp();
      if (i == at)
        addParts();
      if (i == site_.collective && site_.way == Way::Gathered)
        for (std::int64_t t = 1; t < site_.parts; ++t)
          addStep(t);
      if (i != site_.collective && !isKernel(i))
        copy(i);
    }
    if (site_.way == Way::Scattered && sumAt == all_.size())
      addUp();
    moveSlots();
    for (const std::vector<std::uint32_t> &made : made_)
      out_.place.push_back(made.back());
    return std::move(out_);
  }

private:
  bool isKernel(std::uint32_t i) const {
    return std::find(site_.kernels.begin(), site_.kernels.end(), i) !=
           site_.kernels.end();
  }

  std::uint32_t firstReader() const {
    const std::vector<std::uint32_t> readers =
        pass_.readersOf(site_.collective);
    return readers.empty() ? static_cast<std::uint32_t>(all_.size())
                           : readers.front();
  }

  std::uint32_t push(Instruction instruction, const Step *step) {
    std::sort(instruction.deps.begin(), instruction.deps.end());
    instruction.deps.erase(
        std::unique(instruction.deps.begin(), instruction.deps.end()),
        instruction.deps.end());
    out_.pass.instructions.push_back(std::move(instruction));
    out_.pass.steps.push_back(step);
    return static_cast<std::uint32_t>(out_.pass.instructions.size() - 1);
  }

  /// All of what an instruction has become.
  void await(Instruction &instruction, std::uint32_t dep) const {
    instruction.deps.insert(instruction.deps.end(), made_[dep].begin(),
                            made_[dep].end());
  }
  void awaitAll(Instruction &instruction,
                const std::vector<std::uint32_t> &deps) const {
    for (std::uint32_t dep : deps)
      await(instruction, dep);
  }

  void copy(std::uint32_t i) {
    Instruction instruction = all_[i];
    instruction.deps.clear();
    awaitAll(instruction, all_[i].deps);
    made_[i] = {push(std::move(instruction), pass_.step(i))};
  }

  /// A message of the collective's group.
  Instruction message(InstructionKind kind, std::int64_t part) const {
    Instruction out = collective_;
    out.kind = kind;
    out.name = fmt::format("{} {}", collective_.name, part);
    out.message.bytes =
        Bytes(shareOf(collective_.message.bytes.value, part - 1, site_.parts));
    out.makes = Bytes(shareOf(collective_.makes.value, part - 1, site_.parts));
    out.deps.clear();
    return out;
  }

  /// Step `t`, from 1, of a gather or a scatter.
  void addStep(std::int64_t t) {
    Instruction step = message(InstructionKind::CollectiveStep, t);
    if (site_.way == Way::Scattered) {
      step.makes = collective_.makes.value > 0 ? step.message.bytes : Bytes(0);
      step.deps = {made_[site_.kernels.back()].back()};
    } else if (t > 1) {
      step.deps = {steps_.back()};
    } else {
      // One's own part has its place among the others.
      step.makes +=
          Bytes(shareOf(collective_.makes.value, site_.parts - 1, site_.parts));
      awaitAll(step, collective_.deps);
    }
    steps_.push_back(push(std::move(step), nullptr));
    if (site_.way == Way::Gathered)
      made_[site_.collective] = steps_;
  }

  void addParts() {
    for (std::int64_t t = 0; t < site_.parts; ++t) {
      for (std::size_t k = 0; k < site_.kernels.size(); ++k)
        addPart(k, t);
      if (site_.way == Way::Scattered && t + 1 < site_.parts)
        addStep(t + 1);
      if (site_.way == Way::Reduced) {
        Instruction part = message(collective_.kind, t + 1);
        part.deps = {made_[site_.kernels.back()].back()};
        made_[site_.collective].push_back(push(std::move(part), nullptr));
      }
    }
  }

  void addPart(std::size_t k, std::int64_t t) {
    const std::uint32_t kernel = site_.kernels[k];
    Instruction part = all_[kernel];
    part.name = fmt::format("{} part {}", part.name, t + 1);
    part.work = workOf(k, t);
    part.makes = Bytes(shareOf(part.makes.value, t, site_.parts));
    part.deps.clear();
    for (std::uint32_t dep : all_[kernel].deps)
      if (isKernel(dep)) // what this sum adds up
        part.deps.push_back(made_[dep].back());
      else if (dep != site_.collective)
        await(part, dep);
      else if (t > 0)
        part.deps.push_back(steps_[static_cast<std::size_t>(t - 1)]);
      else // one's own part
        awaitAll(part, collective_.deps);
    made_[kernel].push_back(push(std::move(part), nullptr));
  }

  program::Work workOf(std::size_t k, std::int64_t t) const {
    const std::uint32_t kernel = site_.kernels[k];
    const program::Work &whole = all_[kernel].work;
    const auto share = [&](std::int64_t value) {
      return shareOf(value, t, site_.parts);
    };
    program::Work work = whole;
    if (pass_.isSum(kernel)) {
      work.bytesRead = Bytes(share(whole.bytesRead.value));
      work.bytesWritten = Bytes(share(whole.bytesWritten.value));
    } else {
      work = pass_.productPart(kernel, site_.dims[k], site_.parts);
    }
    work.flops = Flops(share(whole.flops.value));
    work.modelFlops = Flops(share(whole.modelFlops.value));
    work.modelFlopsFull = Flops(share(whole.modelFlopsFull.value));
    return work;
  }

  /// What has arrived, and one's own.
  void addUp() {
    Instruction sum;
    sum.phase = collective_.phase;
    sum.name = collective_.name + " sum";
    sum.origin = collective_.origin;
    sum.clause = collective_.clause;
    sum.work.bytesRead = collective_.message.bytes;
    sum.work.bytesWritten =
        Bytes(collective_.message.bytes.value / site_.parts);
    sum.makes = collective_.makes;
    sum.deps = steps_;
    sum.deps.push_back(made_[site_.kernels.back()].back());
    out_.received = collective_.message.bytes - sum.work.bytesWritten;
    made_[site_.collective] = {push(std::move(sum), nullptr)};
  }

  void moveSlots() {
    const LoweredPass &before = pass_.lowered();
    for (const LoweredPass::SlotUse &read : before.reads) {
      if (read.instruction != site_.collective || site_.way != Way::Gathered) {
        out_.pass.reads.push_back({read.slot, made_[read.instruction][0]});
        continue;
      }
      // What leaves first, and the parts made of one's own.
      out_.pass.reads.push_back({read.slot, steps_.front()});
      for (std::uint32_t kernel : site_.kernels)
        out_.pass.reads.push_back({read.slot, made_[kernel][0]});
    }
    for (const LoweredPass::SlotUse &write : before.writes)
      out_.pass.writes.push_back({write.slot, made_[write.instruction].back()});
  }

  const Pass pass_;
  const PartsSite &site_;
  const std::vector<Instruction> &all_;
  const Instruction &collective_;
  /// By instruction before: what it has become, in order.
  std::vector<std::vector<std::uint32_t>> made_;
  std::vector<std::uint32_t> steps_;
  CutPass out_;
};

} // namespace

std::vector<PartsSite> partsSites(const PartsRequest &request,
                                  std::uint32_t collective) {
  const Pass pass(request);
  const Instruction &instruction = pass.all()[collective];
  if (instruction.stream != Stream::Tensor || !pass.step(collective))
    return {};
  switch (instruction.kind) {
  case InstructionKind::AllGather:
    return gathered(pass, collective);
  case InstructionKind::ReduceScatter:
  case InstructionKind::AllReduce:
    return reduced(pass, collective);
  default:
    return {};
  }
}

CutPass cutInParts(const PartsRequest &request, const PartsSite &site) {
  return Cutter(request, site).run();
}

} // namespace planc::lower
