// One thing a rank does: a kernel or a collective, with the work it is, not the
// time it takes. Times come from runtime/cost, unless the program states them.
#pragma once

#include "runtime/base/Id.h"
#include "runtime/base/Precision.h"
#include "runtime/base/Quantity.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::program {

enum class InstructionKind : std::uint8_t {
#define PLANC_INSTRUCTION(NAME, TEXT, CLASS) NAME,
#include "runtime/program/InstructionKinds.def"
};
enum class InstructionClass : std::uint8_t {
  Compute,
  Collective,
  Transfer,
  Host ///< copies to and from the host's memory, and what the host computes
};

std::string_view toString(InstructionKind kind);
InstructionClass classOf(InstructionKind kind);

/// What communication is for; the report's rows of exposed and hidden time.
enum class CommunicationKind : std::uint8_t {
  None,
  Tensor,     ///< activations re-laid inside a layer
  Context,    ///< keys and values brought to attention, and their gradients
  Experts,    ///< tokens exchanged between experts
  Gradients,  ///< weight gradients brought home
  Parameters, ///< parameters gathered from the shards of their owners
  Pipeline,   ///< activations and their gradients between stages
  Norm,       ///< scalars: the global gradient norm
  Host,       ///< what lies in the host's memory
};
std::string_view toString(CommunicationKind kind);

/// Which part of a step a kernel belongs to. Recomputed forward work is its
/// own.
enum class Phase : std::uint8_t {
  Forward,
  Recompute,
  InputGradient,
  WeightGradient,
  Update,
};
std::string_view toString(Phase phase);

/// What a kernel computes on one rank (local sizes).
/// Flops count a multiply and an add as two.
struct Work {
  Precision precision = Precision::Bf16;
  /// Matrix product: `batch` products of [m, k] × [k, n]; grouped: m rows on
  /// average, tokens of an expert, which differ from one to the next.
  /// Attention: m query positions, n key positions, k head size (the mean of
  /// keys' and values'), `batch` = sequences × query heads.
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t keyHeads = 0; ///< attention: sequences × key-value heads
  Flops flops;      ///< executed (attention kernels skip the masked part)
  Flops modelFlops; ///< asked for by the model's definition (METRICS M2, exact)
  Flops modelFlopsFull; ///< the same with attention counted as a full square
  Bytes bytesRead, bytesWritten; ///< memory traffic of the fused kernel
  /// Traffic of kernels among them that run after the main one: a weight's
  /// gradient added to those before it.
  Bytes bytesAfter;
  std::int32_t kernels = 1; ///< launches it takes
  /// How long they keep the accelerator waiting: launches of a pass that take
  /// the host longer than the pass (docs/cost.md, C17).
  Duration hostWait;
};

/// A collective or transfer on one rank. `bytes` is the size of the whole
/// tensor over the group: the result of a gather or all-reduce, the operand of
/// a reduce-scatter, what one rank sends to all in an all-to-all, the message
/// of a transfer, what each member passes on to the next in a permutation, or
/// in one of the n - 1 steps that a gather or a scatter over n members is done
/// in.
struct Message {
  Bytes bytes;
  /// Members are base + Σ i_a·strides[a], 0 ≤ i_a < sizes[a], in whole
  /// accelerators of the cluster, outermost first. Axes of size 1 are left out.
  std::vector<std::int64_t> sizes, strides;
  CommunicationKind kind = CommunicationKind::None;
  /// An all-to-all of tokens to experts and back: how many copies of a token
  /// there are among the bytes, and how many nodes a token goes to at most,
  /// travelling to each once. 0: every copy travels by itself.
  std::int64_t copies = 0, nodes = 0;

  std::int64_t members() const {
    std::int64_t n = 1;
    for (std::int64_t size : sizes)
      n *= size;
    return n;
  }
};

/// Streams of one rank. Instructions of one stream start in program order; a
/// stream holds one at a time.
enum class Stream : std::uint8_t {
  Compute,
  Tensor,     ///< collectives of activations
  Gradients,  ///< reductions of weight gradients
  Parameters, ///< gathers of parameters
  Send,
  Recv,
  HostOut, ///< copies to the host
  HostIn,  ///< copies from the host
  Host,    ///< what the host computes
  Context, ///< keys and values that travel beside attention
  Experts, ///< tokens to their experts and back
  Sums,    ///< second legs of reductions: over a second group
};
inline constexpr int kStreamCount = 12;
std::string_view toString(Stream stream);

/// An instruction of a Block. `deps` are earlier instructions of the same
/// block; the order on one stream is a dependence already and is not listed.
struct Instruction {
  InstructionKind kind = InstructionKind::Memory;
  Stream stream = Stream::Compute;
  Phase phase = Phase::Forward;
  Work work;       ///< Compute
  Message message; ///< Collective, Transfer, Host: bytes moved, no group
  std::optional<Duration> duration; ///< overrides the cost model
  std::vector<std::uint32_t> deps;
  /// Memory that its results take from its begin until all that depend on it
  /// have ended; to the block's end where nothing does. 0 in a forward, which
  /// nobody reorders.
  Bytes makes;
  /// Memory there before the block, let go when this and all instructions
  /// before it have ended.
  Bytes frees;
  std::string name; ///< `decoder.wq`, `decoder.ffn gather`
  OriginId origin;  ///< the place in the model
  OriginId clause;  ///< the clause of the plan that made it so (collectives)
};

} // namespace planc::program
