#include "compiler/driver/Refine.h"

#include "compiler/driver/Costs.h"
#include "compiler/driver/RecomputeOptions.h"
#include "compiler/lower/Memory.h"
#include "compiler/pipeline/AssignStages.h"
#include "compiler/pipeline/ChooseRecompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace planc::driver {

using lower::RerunChoice;
using pipeline::RecomputeProblem;
using schedules::PassKind;

namespace {

/// The `nth` layer of a stage under the items of a `recompute` clause.
RerunChoice choiceOf(const sema::Recompute &recompute, std::int64_t nth) {
  RerunChoice choice;
  for (const sema::RecomputeItem &item : recompute.items) {
    if (item.layers && nth >= *item.layers)
      continue;
    if (item.what == sema::RecomputeItem::What::All)
      choice.all = true;
    else if (item.what == sema::RecomputeItem::What::Attention)
      choice.attention = true;
    else
      choice.paths.push_back(item.path);
  }
  return choice;
}

std::size_t add(std::vector<RerunChoice> &choices, RerunChoice choice) {
  auto at = std::find(choices.begin(), choices.end(), choice);
  if (at == choices.end())
    at = choices.insert(choices.end(), std::move(choice));
  return static_cast<std::size_t>(at - choices.begin());
}

/// Chunks that a stage holds, in model order.
std::vector<std::size_t> chunksOf(const pipeline::StageGraph &stages,
                                  std::int64_t stage) {
  std::vector<std::size_t> chunks;
  for (std::size_t c = 0; c < stages.chunks.size(); ++c)
    if (stages.holds(stage, static_cast<std::int64_t>(c)))
      chunks.push_back(c);
  return chunks;
}

class Refinement {
public:
  explicit Refinement(const LowerRequest &request)
      : request_(request), plan_(request.module->plan),
        model_(request.module->model) {}

  Refined run() {
    std::vector<RerunChoice> choices = findChoices();
    Refined first;
    first.bodies = lowerModel(request_, std::move(choices));
    const std::size_t units = pipeline::unitsOf(model_).size();
    first.bodies.choiceOf.assign(units, 0);
    assign(first);
    if (first.bodies.choices.size() == 1)
      return first;
    choose(first);
    Refined second = first;
    assign(second);
    // What is made again follows from the stages alone.
    if (second.stages.chunks == first.stages.chunks)
      return first;
    choose(second);
    return isBetter(second, first) ? std::move(second) : std::move(first);
  }

private:
  std::vector<RerunChoice> findChoices() {
    std::vector<RerunChoice> choices;
    if (plan_.recompute.isAuto) {
      add(choices, {});
      findOptions(choices);
      return choices;
    }
    std::vector<std::int64_t> bounds = {0};
    for (const sema::RecomputeItem &item : plan_.recompute.items)
      if (item.layers)
        bounds.push_back(*item.layers);
    std::sort(bounds.begin(), bounds.end());
    for (std::int64_t bound : bounds)
      add(choices, choiceOf(plan_.recompute, bound));
    return choices;
  }

  /// By body that is a layer: which of the choices are worth it.
  void findOptions(std::vector<RerunChoice> &choices) {
    lower::Scatters scatters =
        plan_.pipeline && plan_.pipeline->virtualStages > 1
            ? lower::Scatters::ByStage
            : lower::Scatters::InPass;
    for (const ops::Segment &segment : model_.segments) {
      if (!segment.isRepeat)
        continue;
      for (ops::BodyId body : segment.iterations) {
        if (options_.count(body))
          continue;
        std::vector<std::size_t> &mine = options_[body];
        for (const RerunChoice &choice : recomputeChoices(
                 {request_.sharded, body, scatters, request_.cost}))
          mine.push_back(add(choices, choice));
      }
    }
  }

  void assign(Refined &refined) const {
    refined.stages = pipeline::assignStages(
        {&model_, &plan_, unitCostsOf(model_, refined.bodies, *request_.cost)});
  }

  lower::EmitRequest emission(const Refined &refined) const {
    return {request_.sharded,
            &refined.stages,
            &plan_,
            &refined.bodies,
            request_.module->accelerators,
            plan_.name,
            nullptr};
  }

  void choose(Refined &refined) const {
    for (std::int64_t stage = 0; stage < refined.stages.stages; ++stage)
      if (plan_.recompute.isAuto)
        chooseAuto(refined, stage);
      else
        chooseGiven(refined, stage);
  }

  /// Layers are counted through the stage's chunks in model order.
  void chooseGiven(Refined &refined, std::int64_t stage) const {
    std::int64_t nth = 0;
    for (std::size_t c : chunksOf(refined.stages, stage)) {
      const pipeline::Chunk &chunk = refined.stages.chunks[c];
      for (std::size_t u = chunk.begin; u < chunk.end; ++u) {
        RerunChoice choice = choiceOf(plan_.recompute, nth);
        auto at = std::find(refined.bodies.choices.begin(),
                            refined.bodies.choices.end(), choice);
        refined.bodies.choiceOf[u] =
            static_cast<std::size_t>(at - refined.bodies.choices.begin());
        nth += refined.stages.units[u].isLayer;
      }
    }
  }

  /// What a unit keeps and takes under each choice open to it.
  struct UnitOptions {
    std::vector<std::size_t> choices;
    std::vector<pipeline::RecomputeOption> options;
  };

  UnitOptions optionsOf(const Refined &refined, std::size_t unit) const {
    UnitOptions out;
    out.choices = {0};
    const std::vector<ops::BodyId> &bodies = refined.stages.units[unit].bodies;
    for (ops::BodyId body : bodies)
      if (auto known = options_.find(body); known != options_.end())
        out.choices = known->second;
    for (std::size_t choice : out.choices) {
      pipeline::RecomputeOption option;
      for (ops::BodyId body : bodies) {
        const std::vector<lower::LoweredBody> &forms =
            refined.bodies.forms[body];
        const lower::LoweredBody &form = forms[forms.size() == 1 ? 0 : choice];
        option.saved += form.saved;
        option.transient = std::max(option.transient, form.transient);
        option.time += costOf(form.backward.instructions, *request_.cost);
      }
      out.options.push_back(option);
    }
    return out;
  }

  Bytes usable() const { return request_.module->cluster.usableMemory(); }

  void chooseAuto(Refined &refined, std::int64_t stage) const {
    const std::vector<std::size_t> chunks = chunksOf(refined.stages, stage);
    RecomputeProblem problem;
    std::vector<UnitOptions> units;
    std::vector<std::size_t> unitOf;
    std::map<std::vector<ops::BodyId>, std::size_t> kinds;
    for (std::size_t c = 0; c < chunks.size(); ++c)
      for (std::size_t u = refined.stages.chunks[chunks[c]].begin;
           u < refined.stages.chunks[chunks[c]].end; ++u) {
        auto [kind, isNew] = kinds.try_emplace(refined.stages.units[u].bodies,
                                               problem.options.size());
        if (isNew) {
          units.push_back(optionsOf(refined, u));
          problem.options.push_back(units.back().options);
        }
        problem.layers.push_back({c, kind->second});
        unitOf.push_back(u);
      }
    problem.moments = momentsOf(refined, stage, chunks);
    program::Memory memory = lower::memoryOf(emission(refined), stage);
    problem.budget = usable() - (memory.total() - memory.activations -
                                 memory.logits - memory.workspace);
    // A pass cut in two or run beside another holds more than the problem says:
    // where that overshoots, by so much the budget is less.
    const auto take = [&](const std::optional<std::vector<std::size_t>> &one) {
      for (std::size_t l = 0; l < unitOf.size(); ++l) {
        const UnitOptions &options = units[problem.layers[l].kind];
        refined.bodies.choiceOf[unitOf[l]] =
            options.choices[one ? (*one)[l] : leastOf(options)];
      }
    };
    constexpr int kMostTimes = 4;
    for (int times = 0; times < kMostTimes; ++times) {
      const auto chosen = pipeline::chooseRecompute(problem);
      if (!chosen)
        break;
      take(chosen);
      const Bytes over =
          lower::memoryOf(emission(refined), stage).total() - usable();
      if (over.value <= 0)
        return;
      problem.budget = problem.budget - over;
    }
    take(std::nullopt); // as little as can be kept
  }

  static std::size_t leastOf(const UnitOptions &options) {
    auto least = std::min_element(
        options.options.begin(), options.options.end(),
        [](const auto &a, const auto &b) { return a.saved < b.saved; });
    return static_cast<std::size_t>(least - options.options.begin());
  }

  /// A pass is in flight until the gradients of its weights are done: what
  /// those read stays that long, the rest, a little, no longer than the
  /// gradients of inputs.
  static std::vector<RecomputeProblem::Moment>
  momentsOf(const Refined &refined, std::int64_t stage,
            const std::vector<std::size_t> &chunks) {
    std::vector<RecomputeProblem::Moment> moments;
    RecomputeProblem::Moment now;
    now.inFlight.assign(chunks.size(), 0);
    for (const pipeline::Pass &pass :
         refined.stages.orders[static_cast<std::size_t>(stage)]) {
      now.chunk = static_cast<std::size_t>(
          std::find(chunks.begin(), chunks.end(),
                    static_cast<std::size_t>(pass.chunk)) -
          chunks.begin());
      now.inFlight[now.chunk] += pass.kind == PassKind::Forward;
      if (moments.empty() || !(moments.back() == now))
        moments.push_back(now);
      now.inFlight[now.chunk] -= schedules::completesWeights(pass.kind);
    }
    return pipeline::withoutDominated(moments);
  }

  /// Fits where the other does not, or its longest stage is shorter.
  bool isBetter(const Refined &a, const Refined &b) const {
    const bool fitsA = fits(a), fitsB = fits(b);
    return fitsA != fitsB ? fitsA : longest(a) < longest(b);
  }

  bool fits(const Refined &refined) const {
    for (std::int64_t stage = 0; stage < refined.stages.stages; ++stage)
      if (lower::memoryOf(emission(refined), stage).total() > usable())
        return false;
    return true;
  }

  Duration longest(const Refined &refined) const {
    std::vector<Duration> costs =
        unitCostsOf(model_, refined.bodies, *request_.cost);
    std::vector<Duration> byStage(
        static_cast<std::size_t>(refined.stages.stages));
    for (std::size_t stage = 0; stage < byStage.size(); ++stage)
      for (std::size_t c :
           chunksOf(refined.stages, static_cast<std::int64_t>(stage)))
        for (std::size_t u = refined.stages.chunks[c].begin;
             u < refined.stages.chunks[c].end; ++u)
          byStage[stage] += costs[u];
    return *std::max_element(byStage.begin(), byStage.end());
  }

  const LowerRequest &request_;
  const sema::Plan &plan_;
  const ops::Model &model_;
  std::map<ops::BodyId, std::vector<std::size_t>> options_;
};

} // namespace

Refined refine(const LowerRequest &request) {
  return Refinement(request).run();
}

std::optional<std::int64_t> recomputeSaves(const LowerRequest &request) {
  constexpr std::int64_t kMillion = 1'000'000;
  const sema::Plan &plan = request.module->plan;
  if (plan.recompute.items.empty())
    return std::nullopt;
  const lower::LoweredModel bodies =
      lowerModel(request, {RerunChoice(), choiceOf(plan.recompute, 0)});
  std::optional<std::int64_t> most;
  for (const std::vector<lower::LoweredBody> &forms : bodies.forms) {
    if (forms.size() < 2 || forms[0].saved.value == 0)
      continue;
    const Int128 saved = forms[0].saved.value - forms[1].saved.value;
    most = std::max<std::int64_t>(
        most.value_or(0),
        static_cast<std::int64_t>(saved * kMillion / forms[0].saved.value));
  }
  return most;
}

std::vector<std::string> recomputeByStage(const lower::LoweredModel &bodies,
                                          const pipeline::StageGraph &stages) {
  std::vector<std::string> out;
  if (bodies.choices.size() < 2)
    return out;
  for (std::int64_t stage = 0; stage < stages.stages; ++stage) {
    std::map<std::size_t, std::int64_t> counts;
    for (std::size_t c : chunksOf(stages, stage))
      for (std::size_t u = stages.chunks[c].begin; u < stages.chunks[c].end;
           ++u)
        if (stages.units[u].isLayer)
          ++counts[bodies.choiceOf[u]];
    std::string text;
    for (const auto &[choice, count] : counts)
      text += fmt::format("{}{} for {} layer{}", text.empty() ? "" : "; ",
                          toText(bodies.choices[choice]), count,
                          count == 1 ? "" : "s");
    out.push_back(std::move(text));
  }
  return out;
}

std::string recomputeText(const lower::LoweredModel &bodies,
                          const pipeline::StageGraph &stages) {
  std::string out;
  const std::vector<std::string> texts = recomputeByStage(bodies, stages);
  for (std::size_t stage = 0; stage < texts.size(); ++stage)
    out += fmt::format("recompute on stage {}: {}\n", stage, texts[stage]);
  return out;
}

} // namespace planc::driver
