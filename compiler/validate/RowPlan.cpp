#include "compiler/validate/RowPlan.h"

#include "compiler/schedules/Schedules.h"
#include "compiler/validate/RowClauses.h"
#include "compiler/validate/RowMesh.h"

#include "runtime/base/Checked.h"
#include "runtime/hardware/AttentionKernel.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::validate {

namespace {

bool isTrue(const std::string &text) {
  const std::string word = wordOf(text);
  return word == "1" || word == "true" || word == "yes" || word == "on";
}
bool isFalse(const std::string &text) {
  const std::string word = wordOf(text);
  return word == "0" || word == "false" || word == "no" || word == "off" ||
         word == "none";
}

/// A number format as a plan has it, whatever a framework calls it.
std::string formatOf(const std::string &text) {
  const std::string word = wordOf(text);
  if (word == "float16" || word == "half")
    return "fp16";
  if (word == "bfloat16")
    return "bf16";
  return word == "float32" || word == "float" ? "fp32" : word;
}

/// What frameworks call AdamW, and Adam, which is as large and as long.
bool isAdam(std::string_view word) {
  for (std::string_view name :
       {"adam", "adamw", "adam_w", "fused_adam", "fusedadam", "fused_adamw",
        "distributed_adam", "distributed_fused_adam"})
    if (name == word)
      return true;
  return false;
}

class Writer {
public:
  explicit Writer(const MeasuredRow &row)
      : row_(row), habits_(habitsOf(row)), clauses_(row.text(Column::Clauses)) {
  }

  std::variant<RowPlan, NotExpressed> write() {
    if (!row_.has(Column::Accelerators))
      return NotExpressed{"the number of accelerators is not in the row"};
    if (!row_.has(Column::Sequence))
      return NotExpressed{"the length of sequences is not in the row"};
    auto model = modelOf(row_);
    if (auto *no = std::get_if<NotExpressed>(&model))
      return *no;
    model_ = std::get<RowModel>(std::move(model));
    auto cluster = clusterOf(row_);
    if (auto *no = std::get_if<NotExpressed>(&cluster))
      return *no;
    cluster_ = std::get<RowCluster>(std::move(cluster));
    auto mesh = meshOf(row_);
    if (auto *no = std::get_if<NotExpressed>(&mesh))
      return *no;
    mesh_ = std::get<Mesh>(mesh);
    for (auto step : {&Writer::addBatch, &Writer::addMesh, &Writer::addShards,
                      &Writer::addPipeline, &Writer::addRecompute,
                      &Writer::addFormats, &Writer::addRest})
      if (auto reason = (this->*step)())
        return NotExpressed{*reason};
    clauses_.addOwn();
    return RowPlan{text(), "measured", notes(), ""};
  }

private:
  using Refusal = std::optional<std::string>;

  void add(std::string word, std::string rest) {
    clauses_.add(std::move(word), std::move(rest));
  }
  void note(std::string text) { notes_.push_back(std::move(text)); }

  Refusal addBatch() {
    const std::int64_t sequence = *row_.count(Column::Sequence);
    const std::int64_t micro = ways(row_, Column::MicroBatch);
    if (!row_.has(Column::MicroBatch))
      note("micro-batches of 1 assumed");
    auto batch = row_.count(Column::GlobalBatch);
    if (const auto tokens = row_.count(Column::GlobalBatchTokens);
        !batch && tokens && *tokens >= sequence)
      batch = *tokens / sequence;
    if (const auto times = row_.count(Column::MicroBatches); !batch && times)
      batch = product(*times, micro, mesh_.ranks());
    if (!batch && mesh_.pp == 1) {
      batch = product(1, micro, mesh_.ranks());
      note("one micro-batch a step assumed");
    }
    if (!batch)
      return "the batch is not in the row";
    add("batch", fmt::format("{} sequences of {} tokens, micro {} sequence{}",
                             *batch, sequence, micro, micro == 1 ? "" : "s"));
    return std::nullopt;
  }

  /// Nothing past 64 bits.
  static std::optional<std::int64_t> product(std::int64_t a, std::int64_t b,
                                             std::int64_t c) {
    const auto ab = checkedMul(a, b);
    return ab ? checkedMul(*ab, c) : std::nullopt;
  }

  Refusal addMesh() {
    const auto zero = zeroOf(row_.text(Column::Zero));
    if (!zero)
      return fmt::format("`{}` says nothing of how state is cut",
                         row_.text(Column::Zero));
    zero_ = *zero;
    if (zero_.within > 1 && zero_.within < mesh_.dp) {
      if (mesh_.dp % zero_.within != 0)
        return fmt::format("{} copies are not cut {} ways", mesh_.dp,
                           zero_.within);
      mesh_.replica = mesh_.dp / zero_.within;
      mesh_.dp = zero_.within;
    }
    std::string axes;
    auto axis = [&](std::string_view name, std::int64_t size) {
      if (size > 1)
        axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ", name, size);
    };
    axis("pp", mesh_.pp);
    axis("replica", mesh_.replica);
    axis("dp", mesh_.dp);
    axis("ep", mesh_.ep);
    axis("cp", mesh_.cp);
    axis("tp", mesh_.tp);
    add("mesh", axes.empty() ? "dp = 1" : axes);
    isAlone_ = axes.empty();
    return std::nullopt;
  }

  /// Names of the axes that are there.
  std::string
  axes(std::initializer_list<std::pair<std::string_view, std::int64_t>> wanted)
      const {
    std::string out;
    for (const auto &[name, size] : wanted)
      if (size > 1)
        out += fmt::format("{}{}", out.empty() ? "" : ", ", name);
    return out;
  }

  Refusal addShards() {
    if (const std::string over =
            isAlone_ ? "dp"
                     : axes({{"replica", mesh_.replica}, {"dp", mesh_.dp}});
        !over.empty())
      add("shard", "batch over " + over);
    if (mesh_.ep > 1)
      add("shard", "experts, batch over ep");
    if (mesh_.cp > 1)
      add("shard", "seq over cp");
    if (mesh_.tp > 1)
      addTensor();
    constexpr std::string_view kState[] = {
        "", "optimizer", "gradients, optimizer",
        "parameters, gradients, optimizer", "parameters, optimizer"};
    const std::string over =
        axes({{"dp", mesh_.dp}, {"ep", mesh_.ep}, {"cp", mesh_.cp}});
    if (zero_.stage > 0 && !over.empty())
      add("shard", fmt::format("{} over {}", kState[zero_.stage], over));
    return std::nullopt;
  }

  void addTensor() {
    const std::string &said = row_.text(Column::SequenceParallel);
    bool isSequence = habits_.sequenceParallel;
    if (isTrue(said) || isFalse(said))
      isSequence = isTrue(said);
    else
      note(fmt::format("sequence parallelism {}",
                       isSequence ? "assumed" : "assumed to be off"));
    std::string list = "heads";
    list += model_.hasKeyHeads ? ", kv_heads, ffn, vocab" : ", ffn, vocab";
    if (ways(row_, Column::Ep) > 1 && model_.hasExperts)
      list += ", experts";
    add("shard", list + (isSequence ? ", seq" : "") + " over tp");
  }

  Refusal addPipeline() {
    if (mesh_.pp == 1)
      return std::nullopt;
    const std::int64_t chunks = ways(row_, Column::Virtual);
    std::string schedule = row_.text(Column::Schedule);
    if (schedule.empty())
      schedule = chunks > 1 ? "Interleaved1F1B" : "1F1B";
    // Zero bubble, as its paper names what is scheduled by a solver: by hand.
    constexpr std::pair<std::string_view, std::string_view> kAlike[] = {
        {"ZB1P", "ZBH1"},   {"ZB-1p", "ZBH1"},
        {"ZB2P", "ZBH2"},   {"ZB-2p", "ZBH2"},
        {"ZB-V", "ZBV"},    {"interleaved", "Interleaved1F1B"},
        {"gpipe", "GPipe"}, {"1f1b", "1F1B"}};
    for (const auto &[theirs, ours] : kAlike)
      if (schedule == theirs) {
        if (wordOf(theirs) != wordOf(ours))
          note(fmt::format("{} by {}", theirs, ours));
        schedule = ours;
      }
    if (chunks > 1 && schedule == "1F1B")
      schedule = "Interleaved1F1B";
    std::string fields = "schedule " + schedule;
    using Chunks = schedules::ChunksPerRank;
    const schedules::ScheduleInfo *info = schedules::findSchedule(schedule);
    const bool isFixed = info != nullptr && (info->chunks == Chunks::One ||
                                             info->chunks == Chunks::Two);
    if (chunks > 1 && !isFixed)
      fields += fmt::format(", virtual {}", chunks);
    if (const std::string even = evenLayers(!isFixed ? chunks
                                            : info->chunks == Chunks::Two ? 2
                                                                          : 1);
        !even.empty())
      fields += ", " + even;
    add("pipeline", fmt::format("over pp {{ {} }}", fields));
    return std::nullopt;
  }

  /// What stages hold without being told: as many layers each, embedding and
  /// head not counted. Empty where the framework counts otherwise, where layers
  /// do not divide, and where the row says it.
  std::string evenLayers(std::int64_t chunks) {
    const auto layers = row_.count(Column::Layers);
    const auto stages = checkedMul(mesh_.pp, chunks);
    if (!habits_.evenLayers || !layers || !stages || *layers % *stages != 0 ||
        clauses_.hasOwn("pipeline", "layers"))
      return "";
    note("as many layers on every stage assumed");
    return fmt::format("layers {} * [{}]", *stages, *layers / *stages);
  }

  Refusal addRecompute() {
    const std::string word = wordOf(row_.text(Column::Recompute));
    if (word.empty() || word == "none" || word == "no" || word == "false" ||
        word == "0" || word == "off")
      return std::nullopt;
    // Every second product and all that is no product (torchtitan,
    // apply_ac: per-operator selective checkpointing), not attention's core.
    if (word == "selective" && model_.family == "llama" &&
        wordOf(row_.text(Column::Framework)) == "torchtitan")
      add("recompute", "wk, wo, up, silu, mul, rms_norm, rope");
    else if (word == "selective" || word == "attention" ||
             word == "selective_attention")
      add("recompute", "attention");
    else if (word == "full" || word == "all" || word == "true" || word == "1" ||
             word == "yes" || word == "full_block" || word == "uniform")
      add("recompute", "all");
    else if (word.rfind("full_", 0) == 0 && word.size() < 14 &&
             word.find_first_not_of("0123456789", 5) == std::string::npos)
      add("recompute", fmt::format("all for {} layers", word.substr(5)));
    else if (word == "auto")
      add("recompute", "auto");
    else
      return fmt::format("`{}` says nothing of what is made again",
                         row_.text(Column::Recompute));
    return std::nullopt;
  }

  Refusal addFormats() {
    std::string list;
    auto format = [&](std::string_view key, const std::string &value) {
      list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", key, value);
    };
    std::string compute = formatOf(row_.text(Column::Precision));
    const bool isOld =
        lettersOf(row_.text(Column::Accelerator)).rfind("v100", 0) == 0;
    if (compute.empty()) {
      compute = isOld ? "fp16" : "bf16";
      if (!clauses_.hasOwn("precision", "compute"))
        note("products in " + compute + " assumed");
    }
    const auto says = [&](std::string_view part) {
      return compute.find(part) != std::string::npos;
    };
    if (says("nvfp4"))
      compute = "nvfp4";
    else if (says("fp8"))
      compute = says("mx") ? "mxfp8" : "fp8";
    if (compute == "fp16" || compute == "fp32")
      format("compute", compute);
    else if (compute == "fp8" || compute == "mxfp8" || compute == "nvfp4") {
      format("compute", compute);
      format("attention", "bf16");
    } else if (!says("bf16")) {
      return fmt::format("`{}` is no precision", row_.text(Column::Precision));
    }
    const std::string sums = formatOf(row_.text(Column::Gradients));
    isReducedNarrow_ = sums == "bf16" || sums == "fp16" || compute == "fp16";
    if (sums == "bf16" || sums == "fp16")
      format("gradients", sums);
    else if (sums.empty() && !clauses_.hasOwn("precision", "gradients"))
      note("gradients in fp32 assumed");
    else if (!sums.empty() && sums != "fp32")
      return fmt::format("`{}` is no format of gradients",
                         row_.text(Column::Gradients));
    if (!list.empty())
      add("precision", list);
    return std::nullopt;
  }

  Refusal addRest() {
    if (auto reason = addKernels())
      return reason;
    if (auto reason = addOptimizer())
      return reason;
    const std::string &offload = row_.text(Column::Offload);
    if (const std::string word = wordOf(offload);
        word == "optimizer" || word == "activations" || word == "parameters")
      add("offload", word + " to host");
    else if (!word.empty() && !isFalse(offload))
      return "what moves to the host is not in the row";
    if (!habits_.overlap.empty())
      add("overlap", std::string(habits_.overlap));
    // No framework of these holds reductions back for a pipeline's sake.
    if (habits_.bucket > 0)
      add("bucket",
          fmt::format("{}MB",
                      habits_.bucket * (isReducedNarrow_ ? 2 : 4) / 1'000'000));
    else if (mesh_.pp > 1)
      add("bucket", "eager");
    return std::nullopt;
  }

  Refusal addOptimizer() {
    const std::string optimizer = wordOf(row_.text(Column::Optimizer));
    if (optimizer == "adafactor" || optimizer == "sgd" || optimizer == "muon")
      add("optimizer", optimizer);
    else if (optimizer.empty() && !clauses_.hasOwn("optimizer", ""))
      note("optimizer adamw assumed");
    else if (!optimizer.empty() && !isAdam(optimizer))
      return fmt::format("the library has no optimizer `{}`",
                         row_.text(Column::Optimizer));
    return std::nullopt;
  }

  Refusal addKernels() {
    std::string kernel = wordOf(row_.text(Column::Attention));
    const std::int64_t year = row_.count(Column::Year).value_or(9999);
    if (kernel.empty()) {
      // Training stacks took up fused attention in the course of 2023.
      kernel = year <= 2022 ? "unfused" : year <= 2023 ? "flash2" : "";
      if (!kernel.empty())
        note(fmt::format("attention {} assumed", kernel));
    }
    if (isFalse(kernel) || kernel == "eager" || kernel == "math")
      kernel = "unfused";
    if (isTrue(kernel) || kernel == "flash" || kernel == "sdpa")
      kernel = year <= 2023 ? "flash2" : "";
    if (kernel == "triton")
      kernel = "flash1";
    std::string list(habits_.kernels);
    const auto &known = hardware::kAttentionKernelNames;
    if (std::find(known.begin(), known.end(), kernel) != known.end())
      list = "attention = " + kernel + (list.empty() ? "" : ", ") + list;
    else if (!kernel.empty() && kernel != "te" && kernel != "fused")
      return fmt::format("`{}` is no kernel of attention",
                         row_.text(Column::Attention));
    if (!list.empty())
      add("kernels", list);
    return std::nullopt;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> all = model_.notes;
    all.insert(all.end(), cluster_.notes.begin(), cluster_.notes.end());
    all.insert(all.end(), notes_.begin(), notes_.end());
    return all;
  }

  std::string text() const {
    std::string out = "language 1\n\n";
    for (Column column : {Column::Id, Column::Reference, Column::Note})
      if (row_.has(column))
        out +=
            commentOf(fmt::format("{}: {}", nameOf(column), row_.text(column)));
    for (const std::string &note : notes())
      out += commentOf("assumed: " + note);
    out += "\n" + model_.imports + cluster_.imports;
    for (const std::string *declaration :
         {&cluster_.declaration, &model_.declaration})
      if (!declaration->empty())
        out += "\n" + *declaration;
    out += fmt::format("\nplan measured for {} on {}[{}] {{\n", model_.name,
                       cluster_.name, *row_.count(Column::Accelerators));
    return out + clauses_.text() + "}\n";
  }

  const MeasuredRow &row_;
  FrameworkHabits habits_;
  RowModel model_;
  RowCluster cluster_;
  Mesh mesh_;
  Zero zero_;
  bool isAlone_ = false; ///< one accelerator
  /// Gradients are reduced in two bytes each: fp16 stays so, sums in fp32 are
  /// four.
  bool isReducedNarrow_ = false;
  RowClauses clauses_;
  std::vector<std::string> notes_;
};

} // namespace

std::variant<RowPlan, NotExpressed> planOf(const MeasuredRow &row) {
  return Writer(row).write();
}

} // namespace planc::validate
