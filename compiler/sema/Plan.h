// A plan with its names bound and its values known.
#pragma once

#include "compiler/ops/LossKernel.h"
#include "compiler/ops/Op.h"
#include "compiler/schedules/Schedules.h"
#include "runtime/base/Precision.h"
#include "runtime/base/Quantity.h"
#include "runtime/base/Table.h"
#include "runtime/hardware/AttentionKernel.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::sema {

using AxisId = Id<struct AxisTag>;

struct Axis {
  std::string name;
  std::int64_t size = 1;
  OriginId origin;
  bool isRest = false; ///< written `rest`: the size follows from the others
};

/// Axes outermost first: the last sits closest together in the cluster.
struct Mesh {
  Table<AxisId, Axis> axes;

  std::int64_t devices() const;
  /// Accelerators between neighbours along `axis`.
  std::int64_t stride(AxisId axis) const;
};

/// One word of an axis's list: all dimensions it names (`ffn` may be several;
/// `decoder.ffn` fewer). Empty when no tensor of this model has it.
struct ListedDim {
  std::string text;
  ops::Dims dims;
  OriginId origin;
};

/// What an axis cuts: the first of its list that a tensor has.
struct AxisList {
  std::vector<ListedDim> list;
  OriginId clause; ///< the `shard` clause
};

/// How attention works over an axis that cuts the sequence.
enum class ContextMethod {
  Gather, ///< keys and values made whole before it
  Ring,   ///< they travel in steps, each beside a part of the attention
  Ulysses ///< the axis borrows heads: exchanged before and after
};
struct ContextAxis {
  ContextMethod method = ContextMethod::Gather;
  OriginId clause; ///< `attention over A using …`; none: by default
};

/// Axes over which optimizer states, gradients or parameters are cut as flat
/// buffers.
struct StateSharding {
  std::vector<AxisId> axes;
  OriginId clause;
};

struct Batch {
  std::int64_t sequences = 0;      ///< of one step, all ranks
  std::int64_t sequenceLength = 0; ///< tokens
  std::int64_t micro = 1;          ///< sequences of a micro-batch on a rank
  std::int64_t microBatches = 1;   ///< a step, on every rank
  /// Tokens of one document, where sequences are packed with several.
  std::optional<std::int64_t> documents;
  OriginId clause;
};

using schedules::Schedule;

/// Micro-batches × stages × chunks that planc follows one by one: time and
/// memory of a compile grow with them, to about a second at the limit.
inline constexpr std::int64_t kMostPasses = 100'000;

struct Pipeline {
  AxisId axis;
  std::int64_t stages = 1;
  Schedule schedule = Schedule::OneFOneB;
  /// Chunks a rank holds of one copy of the model: fixed by some schedules.
  std::int64_t virtualStages = 1;
  std::optional<std::int64_t> group; ///< micro-batches of a group
  bool hasPairs = false;             ///< forwards run together with backwards
  std::vector<std::int64_t>
      layers; ///< units per chunk, in model order; empty: balanced
  /// Schedule::Own: by stage, and where each pass is written.
  schedules::Orders order;
  std::vector<std::vector<OriginId>> orderOrigins;
  OriginId clause, scheduleOrigin, virtualOrigin, layersOrigin, orderOrigin;

  schedules::Shape shape(std::int64_t microBatches) const {
    return {stages,       virtualStages, microBatches, group.value_or(0),
            /*slices=*/1, hasPairs};
  }
};

/// One thing that the backward makes again.
struct RecomputeItem {
  enum class What {
    All,       ///< the whole of a layer
    Attention, ///< what the attention operator keeps besides its output
    Named      ///< operators by kind or path; what they make is dropped
  } what = What::All;
  std::string path; ///< Named: `silu`, `decoder.swiglu`
  /// Of each stage, the first so many; none: all layers.
  std::optional<std::int64_t> layers;
  OriginId origin;
};

struct Recompute {
  std::vector<RecomputeItem> items; ///< together; none: everything is kept
  bool isAuto = false; ///< whatever fits at the least cost, by stage
  OriginId clause;
};

enum class OptimizerKind { AdamW, Sgd, Adafactor, Muon };
struct Optimizer {
  OptimizerKind kind = OptimizerKind::AdamW;
  std::optional<Precision> master = Precision::Fp32; ///< none: no master copy
  Precision moments = Precision::Fp32;
  double clip = 1.0; ///< 0: no clipping, so no global norm
  OriginId clause;
};

struct PrecisionPlan {
  Precision compute = Precision::Bf16, logits = Precision::Fp32,
            parameters = Precision::Bf16, gradients = Precision::Fp32;
  std::optional<Precision> attention; ///< else as activations are held
  std::optional<Precision> router;    ///< of experts; else as activations
  /// Tokens on their way to experts, and gradients on theirs; else as
  /// activations.
  std::optional<Precision> dispatch;
  /// What elementwise operators read again in the backward; else as
  /// activations.
  std::optional<Precision> saved;
  OriginId clause;
};

using hardware::AttentionKernel;
/// Whose modules stand around products: what one takes the host.
enum class Modules {
#define PLANC_MODULES(NAME, TEXT, LAUNCHES) NAME,
#include "compiler/sema/Modules.def"
};
inline constexpr auto kModuleNames = std::to_array<std::string_view>({
#define PLANC_MODULES(NAME, TEXT, LAUNCHES) TEXT,
#include "compiler/sema/Modules.def"
});
/// In launches of a kernel.
inline constexpr auto kModuleLaunches = std::to_array<double>({
#define PLANC_MODULES(NAME, TEXT, LAUNCHES) LAUNCHES,
#include "compiler/sema/Modules.def"
});

using ops::LossKernel;
struct Kernels {
  AttentionKernel attention = AttentionKernel::Flash2;
  bool attentionGiven = false; ///< else the newest the accelerator has
  bool graphs = false;
  LossKernel loss = LossKernel::Fused;
  Modules modules = Modules::Torch;
  bool unfusedNorm = false;
  /// A kernel of its own adds a weight's gradient to those before.
  bool unfusedAccumulation = false;
  /// Every elementwise operator is a kernel, and its result a tensor.
  bool unfusedElementwise = false;
  /// What products read of a gathered tensor is kept so for the backward, which
  /// else gathers it again.
  bool keepsGathers = false;
  /// What a stage sent on is kept until its backward.
  bool keepsOutputs = false;
  /// Gradients are made in a place of their own, in the format of compute,
  /// before they are added up.
  bool gradientsApart = false;
  /// Before the update, gradients narrower than fp32 are joined and cast.
  bool castsGradients = false;
  /// The gradients of norms' weights are made by kernels of their own.
  bool normWeightsApart = false;
  /// The host launches nothing before the kernel before has ended.
  bool blocksLaunches = false;
  OriginId clause, lossClause;
};
/// Keys of `kernels` with two words: what holds if nothing is said, and the
/// other.
struct KernelChoice {
  std::string_view key, usual, other;
  bool Kernels::*member;
};
inline constexpr KernelChoice kKernelChoices[] = {
    {"norm", "fused", "unfused", &Kernels::unfusedNorm},
    {"accumulation", "fused", "unfused", &Kernels::unfusedAccumulation},
    {"elementwise", "fused", "unfused", &Kernels::unfusedElementwise},
    {"gathers", "again", "kept", &Kernels::keepsGathers},
    {"outputs", "freed", "kept", &Kernels::keepsOutputs},
    {"gradients", "summed", "apart", &Kernels::gradientsApart},
    {"update", "fused", "cast", &Kernels::castsGradients},
    {"norm_weights", "fused", "apart", &Kernels::normWeightsApart},
    {"launches", "queued", "blocking", &Kernels::blocksLaunches}};

struct Overlap {
  bool gradients = true, parameters = true, pipeline = true, tensor = false,
       context = false, experts = false;
  /// Weight gradients leave their places to run beneath communication.
  bool weights = false;
  OriginId clause;
};
/// The words of `overlap`, in the order in which they are printed.
struct OverlapWord {
  std::string_view name;
  bool Overlap::*member;
};
inline constexpr OverlapWord kOverlapWords[] = {
    {"gradients", &Overlap::gradients}, {"parameters", &Overlap::parameters},
    {"pipeline", &Overlap::pipeline},   {"tensor", &Overlap::tensor},
    {"context", &Overlap::context},     {"experts", &Overlap::experts},
    {"weights", &Overlap::weights}};

enum class BucketKind { Auto, Eager, Size, Layer, One, Ddp, Megatron };
/// What `bucket` may say besides a size.
struct BucketWord {
  std::string_view name;
  BucketKind kind;
};
inline constexpr BucketWord kBucketWords[] = {
    {"auto", BucketKind::Auto},   {"eager", BucketKind::Eager},
    {"layer", BucketKind::Layer}, {"one", BucketKind::One},
    {"ddp", BucketKind::Ddp},     {"megatron", BucketKind::Megatron}};
struct Bucket {
  BucketKind kind = BucketKind::Auto;
  Bytes size;
  OriginId clause;
};

/// When parameters that were gathered for a forward are let go.
enum class Reshard { AfterForward, Never };

/// What lies in the host's memory between its uses.
struct Offload {
  bool optimizer = false, activations = false, parameters = false;
  OriginId clause;

  bool any() const { return optimizer || activations || parameters; }
};

/// `mfu(full) >= 36%`: a metric of the report, compared.
struct Expectation {
  std::string metric;   ///< `mfu`, `memory`, `step_time`, …
  std::string argument; ///< `full`; empty
  enum class Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal
  } comparison = Comparison::GreaterEqual;
  double value = 0; ///< base units: seconds, bytes, 0–1
  std::string text; ///< as written
  OriginId origin;
};

struct Plan {
  std::string name;
  OriginId origin; ///< the `plan` line
  Mesh mesh;
  OriginId meshClause;
  Table<AxisId, AxisList> lists;      ///< by axis
  Table<AxisId, ContextAxis> context; ///< by axis; may be empty
  StateSharding optimizerState, gradients, parameters;
  Batch batch;
  std::optional<Pipeline> pipeline;
  Recompute recompute;
  Optimizer optimizer;
  PrecisionPlan precision;
  Kernels kernels;
  Overlap overlap;
  Bucket bucket;
  /// Layers whose parameters are gathered ahead; `auto`: 1 until
  /// driver/Prefetch.h has chosen.
  std::int64_t prefetch = 1;
  bool prefetchIsAuto = false;
  OriginId prefetchClause;
  Reshard reshard = Reshard::AfterForward;
  OriginId reshardClause;
  Offload offload;
  std::vector<ops::WeightId> frozen; ///< not trained
  std::vector<Expectation> expectations;
};

} // namespace planc::sema
