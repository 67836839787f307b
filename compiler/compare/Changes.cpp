#include "compiler/compare/Changes.h"

#include "compiler/compare/ClusterFields.h"
#include "compiler/driver/MakeReport.h"
#include "runtime/report/NumberText.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace planc::compare {

namespace {

using Role = Setting::Role;

constexpr std::string_view kNothing = "–";
/// More units than these are applied clause by clause.
constexpr std::size_t kFineUnits = 8;

const Setting *find(const Side &side, std::string_view key) {
  for (const Setting &setting : side.settings)
    if (setting.key == key)
      return &setting;
  return nullptr;
}

std::vector<std::string> keysOf(const Side &side) {
  std::vector<std::string> out;
  for (const Setting &setting : side.settings)
    out.push_back(setting.key);
  return out;
}

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// `dp, pp, tp` without the axes that the other does not have.
std::string common(const std::string &order, const std::string &other) {
  std::string out;
  const std::string known = ", " + other + ",";
  for (std::size_t at = 0; at < order.size();) {
    const std::size_t end = std::min(order.find(", ", at), order.size());
    const std::string axis = order.substr(at, end - at);
    if (known.find(fmt::format(", {},", axis)) != std::string::npos)
      out += axis + " ";
    at = end + 2;
  }
  return out;
}

class Comparison {
public:
  Comparison(const Side &before, const Side &after)
      : before_(before), after_(after) {}

  std::vector<Change> run() {
    for (const std::string &key : mergedKeys(keysOf(before_), keysOf(after_)))
      compare(key);
    foldModel();
    foldPipeline();
    foldMachine();
    coarsen();
    return std::move(out_);
  }

private:
  const sema::Module &module(const Side &side) const {
    return *side.compilation->module;
  }

  report::Place placeOf(const Setting *after, const Setting *before) const {
    if (after != nullptr && after->origin.isValid()) {
      const auto line = driver::resolve(*after_.compilation, after->origin);
      return {line.file, line.line};
    }
    if (before != nullptr && before->origin.isValid()) {
      const auto line = driver::resolve(*before_.compilation, before->origin);
      return {line.file, line.line};
    }
    return {};
  }

  void compare(const std::string &key) {
    const Setting *before = find(before_, key), *after = find(after_, key);
    if (before != nullptr && after != nullptr &&
        (before->value == after->value ||
         (key == "mesh.order" && common(before->value, after->value) ==
                                     common(after->value, before->value))))
      return;
    if (key == "mesh.order" && (before == nullptr || after == nullptr))
      return;
    Change change;
    change.key = key;
    change.before = before ? before->value : kNothing;
    change.after = after ? after->value : kNothing;
    change.place = placeOf(after, before);
    const Setting &any = after ? *after : *before;
    const bool isSilent = any.role == Role::Clause &&
                          (!before || before->text.empty()) &&
                          (!after || after->text.empty());
    const bool isRest =
        before && after && before->text == "rest" && after->text == "rest";
    change.isFollowing = any.role == Role::Follows || isSilent || isRest;
    if (!change.isFollowing && any.role != Role::Expected)
      change.unit = any.role == Role::Model ? "model" : key;
    out_.push_back(std::move(change));
  }

  /// Puts one change before all those that `isOf` it, which become details.
  template <class Of> void fold(Change head, Of isOf) {
    auto first = std::find_if(out_.begin(), out_.end(), isOf);
    for (auto at = first; at != out_.end(); ++at)
      if (isOf(*at)) {
        at->unit = head.unit;
        at->isDetail = true;
      }
    out_.insert(first, std::move(head));
  }

  Change headOf(std::string key, std::string before, std::string after) const {
    Change head;
    head.unit = key;
    head.key = std::move(key);
    head.before = std::move(before);
    head.after = std::move(after);
    const auto line =
        driver::resolve(*after_.compilation, module(after_).plan.origin);
    head.place = {line.file, line.line};
    return head;
  }

  void foldModel() {
    const sema::Module &before = module(before_), &after = module(after_);
    const auto isOf = [](const Change &change) {
      return startsWith(change.key, "model.");
    };
    const bool isListed = std::any_of(out_.begin(), out_.end(), isOf);
    if (before.family != after.family) {
      if (!isListed && sameModel(before.model, after.model))
        return;
      fold(headOf("model", before.model.name, after.model.name), isOf);
      return;
    }
    if (isListed || sameModel(before.model, after.model))
      return;
    const auto size = [](const sema::Module &m) {
      return report::scaledCount(
                 static_cast<double>(ops::parameterCount(m.model))) +
             " parameters";
    };
    const bool isSized = size(before) != size(after);
    out_.insert(out_.begin(),
                headOf("model", isSized ? size(before) : before.family,
                       isSized ? size(after) : "other operators"));
  }

  /// A pipeline that only one side has is one change.
  void foldPipeline() {
    const Setting *before = find(before_, "pipeline.over"),
                  *after = find(after_, "pipeline.over");
    if ((before == nullptr) == (after == nullptr))
      return;
    const auto textOf = [](const Side &side) {
      const Setting *schedule = find(side, "pipeline.schedule");
      return fmt::format("over {}, {}", find(side, "pipeline.over")->value,
                         schedule->value);
    };
    Change head =
        headOf("pipeline", before ? textOf(before_) : std::string(kNothing),
               after ? textOf(after_) : std::string(kNothing));
    head.place = placeOf(after, before);
    fold(std::move(head), [](const Change &change) {
      return startsWith(change.key, "pipeline.");
    });
  }

  void foldMachine() {
    const hardware::Cluster &before = module(before_).cluster,
                            &after = module(after_).cluster;
    const auto has = [&](auto isOf) {
      return std::any_of(out_.begin(), out_.end(), isOf);
    };
    const auto isAccelerator = [](const Change &change) {
      return startsWith(change.key, "accelerator.");
    };
    const auto isCluster = [](const Change &change) {
      return startsWith(change.key, "cluster.");
    };
    if (before.accelerator.name != after.accelerator.name && has(isAccelerator))
      fold(headOf("accelerator", before.accelerator.name,
                  after.accelerator.name),
           isAccelerator);
    const bool isOther = levelNames(before) != levelNames(after);
    if (!has(isCluster) || (before.name == after.name && !isOther))
      return;
    const auto text = [&](const Side &side, const hardware::Cluster &cluster) {
      return before.name == after.name
                 ? levelsText(sema::groundOf(module(side)).cluster)
                 : cluster.name;
    };
    fold(headOf("cluster", text(before_, before), text(after_, after)),
         isCluster);
  }

  void coarsen() {
    if (unitsOf(out_).size() <= kFineUnits)
      return;
    for (Change &change : out_)
      change.unit = change.unit.substr(0, change.unit.find('.'));
  }

  const Side &before_, &after_;
  std::vector<Change> out_;
};

} // namespace

Side sideOf(const driver::Compilation &compilation) {
  return {&compilation, settingsOf(*compilation.module)};
}

std::vector<std::string> mergedKeys(const std::vector<std::string> &before,
                                    const std::vector<std::string> &after) {
  const std::set<std::string_view> known(before.begin(), before.end());
  std::vector<std::string> out = before;
  std::size_t at = 0; // behind the last key of `after`
  for (const std::string &key : after) {
    if (known.count(key) != 0) {
      at = static_cast<std::size_t>(std::find(out.begin(), out.end(), key) -
                                    out.begin()) +
           1;
      continue;
    }
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), key);
    ++at;
  }
  return out;
}

std::vector<Change> changesBetween(const Side &before, const Side &after) {
  return Comparison(before, after).run();
}

std::vector<std::string> unitsOf(const std::vector<Change> &changes) {
  std::vector<std::string> out;
  for (const Change &change : changes)
    if (!change.unit.empty() &&
        std::find(out.begin(), out.end(), change.unit) == out.end())
      out.push_back(change.unit);
  return out;
}

} // namespace planc::compare
