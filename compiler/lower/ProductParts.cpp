#include "compiler/lower/ProductParts.h"

#include "compiler/lower/PassView.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::lower {

using program::Instruction;
using program::InstructionKind;
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
    if (pass_.isCopy(i))
      out_.pass.copies.push_back(made_[i][0]);
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
      if (isKernel(dep)) // the same part: what a sum adds up, or a narrow copy
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
    if (!pass_.isProduct(kernel)) {
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

  const PassView pass_;
  const PartsSite &site_;
  const std::vector<Instruction> &all_;
  const Instruction &collective_;
  /// By instruction before: what it has become, in order.
  std::vector<std::vector<std::uint32_t>> made_;
  std::vector<std::uint32_t> steps_;
  CutPass out_;
};

} // namespace

CutPass cutInParts(const PartsRequest &request, const PartsSite &site) {
  return Cutter(request, site).run();
}

} // namespace planc::lower
