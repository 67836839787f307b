#include "compiler/driver/Explain.h"

#include "compiler/driver/MakeReport.h"
#include "runtime/report/RankTime.h"

#include <map>
#include <tuple>

namespace planc::driver {

namespace {

constexpr std::int64_t kWhole = 1'000'000;
constexpr int kMostSteps = 140; // 1.02^140 is 16
constexpr int kMostEvaluations = 128;

/// Evaluations of one resource at one factor, each made once.
class Search {
public:
  Search(const Compilation &compilation, const Options &options)
      : compilation_(compilation), evaluator_(compilation, options) {}

  void fill(report::Exposure &exposure) {
    const hardware::Cluster &cluster = compilation_.module->cluster;
    for (std::size_t level = 0; level < cluster.levels.size(); ++level)
      trySwitch(exposure, level);
    for (Resource resource : resourcesOf(cluster))
      if (resource.kind == Resource::Kind::Bandwidth ||
          resource.kind == Resource::Kind::Latency ||
          resource.kind == Resource::Kind::HostLink)
        tryMore(exposure, resource);
  }

  bool isCut() const { return isCut_; }

private:
  using Found = std::optional<Evaluation>;
  using Key = std::tuple<Resource::Kind, std::size_t, int>;

  static std::int64_t shareAt(Resource resource, int k) {
    const std::int64_t factor = millionthsAt(k);
    return resource.kind == Resource::Kind::Latency ? kWhole * kWhole / factor
                                                    : factor;
  }

  Found evaluate(const hardware::Cluster &cluster) {
    if (evaluations_ == kMostEvaluations) {
      isCut_ = true;
      return std::nullopt;
    }
    ++evaluations_;
    Result<std::optional<Evaluation>> found = evaluator_.on(cluster);
    return found ? *found : std::nullopt;
  }

  const Found &at(Resource resource, int k) {
    const auto [place, isNew] =
        known_.try_emplace(Key{resource.kind, resource.level, k});
    if (isNew)
      place->second = evaluate(withShare(compilation_.module->cluster, resource,
                                         shareAt(resource, k)));
    return place->second;
  }

  Int128 exposed(const report::Exposure &exposure,
                 const Evaluation &evaluation) const {
    return evaluation.waits[report::exposedBy(exposure.kind)];
  }
  bool hides(const report::Exposure &exposure,
             const Evaluation &evaluation) const {
    return report::isHidden(exposed(exposure, evaluation),
                            Int128(compilation_.module->accelerators) *
                                evaluation.stepTime.value);
  }

  /// Three digits of what is needed, rounded to the side that hides.
  std::string needed(Resource resource, std::int64_t share) const {
    hardware::Cluster changed =
        withShare(compilation_.module->cluster, resource, share);
    const bool isLatency = resource.kind == Resource::Kind::Latency;
    std::int64_t &value = isLatency
                              ? changed.levels[resource.level].latency.value
                          : resource.kind == Resource::Kind::HostLink
                              ? changed.host.link.value
                              : changed.levels[resource.level].link.value;
    std::int64_t digit = 1;
    while (value / digit >= 1000)
      digit *= 10;
    value = (value + (isLatency ? 0 : digit - 1)) / digit * digit;
    return amountOf(changed, resource);
  }

  void trySwitch(report::Exposure &exposure, std::size_t level) {
    hardware::Cluster cluster = compilation_.module->cluster;
    hardware::Level &changed = cluster.levels[level];
    if (changed.inNetworkReduction ||
        changed.wiring != hardware::Wiring::Switched)
      return;
    changed.inNetworkReduction = true;
    auto place = switches_.find(level);
    if (place == switches_.end())
      place = switches_.emplace(level, evaluate(cluster)).first;
    if (place->second && hides(exposure, *place->second))
      exposure.ways.push_back(
          {"`in_network_reduction` were true at " + changed.name, "", "", 0});
  }

  void tryMore(report::Exposure &exposure, Resource resource) {
    const hardware::Cluster &cluster = compilation_.module->cluster;
    const Found &most = at(resource, kMostSteps);
    if (!most)
      return;
    if (!hides(exposure, *most)) {
      // Where it does little, it is not what the exposure hangs on.
      const Int128 left = exposed(exposure, *most);
      if (left * 10 < exposure.rankTime * 9)
        exposure.notEnough.push_back(
            {nameOf(cluster, resource), shareAt(resource, kMostSteps),
             report::perRank(left, compilation_.module->accelerators)});
      return;
    }
    int low = 0, high = kMostSteps; // exposed at low, hidden at high
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      const Found &found = at(resource, middle);
      if (!found && evaluations_ == kMostEvaluations)
        return;
      // Nothing where so small a change changes no cost.
      (found && hides(exposure, *found) ? high : low) = middle;
    }
    const std::int64_t share = shareAt(resource, high);
    exposure.ways.push_back({nameOf(cluster, resource),
                             amountOf(cluster, resource),
                             needed(resource, share), share});
  }

  const Compilation &compilation_;
  Evaluator evaluator_;
  int evaluations_ = 0;
  bool isCut_ = false;
  std::map<Key, Found> known_;
  std::map<std::size_t, Found> switches_;
};

std::vector<report::Sensitivity> sensitivitiesOf(const Compilation &compilation,
                                                 const Options &options) {
  std::vector<report::Sensitivity> out;
  const hardware::Cluster &cluster = compilation.module->cluster;
  const Evaluator evaluator(compilation, options);
  for (Resource resource : resourcesOf(cluster)) {
    Result<std::optional<Evaluation>> found =
        evaluator.on(withShare(cluster, resource, kWhole + kWhole / 100));
    if (found && *found)
      out.push_back({nameOf(cluster, resource), amountOf(cluster, resource),
                     (*found)->stepTime - compilation.runs->chosen.stepTime});
  }
  return out;
}

} // namespace

std::int64_t millionthsAt(int k) {
  std::int64_t out = kWhole;
  for (int i = 0; i < k; ++i)
    out = (out * 102 + 99) / 100;
  return out;
}

report::Explanation explain(const Compilation &compilation,
                            const Options &options) {
  const report::Report &report = *compilation.report;
  const report::ReportInputs inputs = reportInputs(compilation, options);
  report::Explanation out;
  out.status = report.status();
  out.planned = report.planned;
  out.stepTime = report.stepTime;
  if (report.orders)
    out.aboveBound = report.orders->aboveBound();
  out.path = report::pathRows(inputs);
  out.exposures = report::exposuresOf(inputs, report);
  Search search(compilation, options);
  for (report::Exposure &exposure : out.exposures)
    search.fill(exposure);
  out.isCut = search.isCut();
  out.sensitivities = sensitivitiesOf(compilation, options);
  return out;
}

} // namespace planc::driver
