#include "compiler/compare/Hybrids.h"

#include "compiler/compare/ClusterFields.h"
#include "runtime/base/Parallel.h"
#include "runtime/report/NumberText.h"

#include <algorithm>

namespace planc::compare {

namespace {

const Setting *find(const Side &side, std::string_view key) {
  for (const Setting &setting : side.settings)
    if (setting.key == key)
      return &setting;
  return nullptr;
}

std::vector<std::string> axesOf(const Side &side) {
  std::vector<std::string> out;
  for (const sema::Axis &axis : side.compilation->module->plan.mesh.axes)
    out.push_back(axis.name);
  return out;
}

} // namespace

Parts partsOf(const report::Report &report) {
  return report::apportion(report.waterfall.rankTime, report.waterfall.total(),
                           report.stepTime.value);
}

Hybrids::Hybrids(const Side &before, const Side &after,
                 const std::vector<Change> &changes)
    : before_(before), after_(after), changes_(changes),
      units_(unitsOf(changes)),
      oldGround_(sema::groundOf(*before.compilation->module)),
      newGround_(sema::groundOf(*after.compilation->module)) {}

bool Hybrids::isApplied(std::string_view unit, Units applied) const {
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (units_[i] == unit)
      return (applied & Units(1) << i) != 0;
  return false;
}

std::string_view Hybrids::unitOf(std::string_view key) const {
  for (const Change &change : changes_)
    if (change.key == key)
      return change.unit;
  return "";
}

std::string Hybrids::textOf(Units applied) const {
  std::vector<std::string> keys[2];
  for (const Setting &setting : before_.settings)
    keys[0].push_back(setting.key);
  for (const Setting &setting : after_.settings)
    keys[1].push_back(setting.key);
  std::vector<Setting> out;
  for (const std::string &key : mergedKeys(keys[0], keys[1])) {
    const std::string_view unit = unitOf(key);
    const bool isNew = isApplied(unit, applied);
    const Setting *setting = find(isNew ? after_ : before_, key);
    if (setting == nullptr)
      continue;
    out.push_back(*setting);
    // Axes that only one side has keep their place among the others.
    if (key == "mesh.order" && unit.empty()) {
      std::string order;
      for (const std::string &axis :
           mergedKeys(axesOf(before_), axesOf(after_)))
        order += (order.empty() ? "" : ", ") + axis;
      out.back().text = order;
    }
  }
  return fileOf(out);
}

sema::Ground Hybrids::groundOf(Units applied) const {
  sema::Ground out;
  out.model = (isApplied("model", applied) ? newGround_ : oldGround_).model;
  out.accelerators =
      (isApplied("accelerators", applied) ? newGround_ : oldGround_)
          .accelerators;
  out.cluster = oldGround_.cluster;
  if (isApplied("accelerator", applied))
    out.cluster.accelerator = newGround_.cluster.accelerator;
  if (isApplied("cluster", applied))
    out.cluster.levels = newGround_.cluster.levels;
  for (const ClusterField &field : fieldsOf(newGround_.cluster)) {
    const std::string_view unit = unitOf(field.key);
    const bool isOfLevels =
        unit == "cluster" &&
        out.cluster.levels.size() != newGround_.cluster.levels.size();
    if (!unit.empty() && isApplied(unit, applied) && !isOfLevels)
      field.copy(out.cluster, newGround_.cluster);
  }
  return out;
}

std::optional<Parts> Hybrids::compile(Units applied) const {
  driver::Options options;
  options.file = "hybrid.plan";
  options.text = textOf(applied);
  options.ground = std::make_shared<const sema::Ground>(groundOf(applied));
  options.firstOrigin = after_.compilation->origins.size();
  options.asides = driver::Options::Asides::Skipped;
  driver::Session session(std::move(options));
  session.run();
  const report::Report *report = session.report();
  return report ? std::optional(partsOf(*report)) : std::nullopt;
}

std::vector<std::optional<Parts>>
Hybrids::play(const std::vector<Units> &sets) const {
  std::vector<std::optional<Parts>> out(sets.size());
  forEachOnThreads(sets.size(), threadsFor(sets.size()),
                   [&](std::size_t i) { out[i] = compile(sets[i]); });
  return out;
}

} // namespace planc::compare
