#include "compiler/compare/Diff.h"

#include "runtime/base/Parallel.h"
#include "runtime/report/BuildReport.h"

#include <algorithm>

namespace planc::compare {

namespace {

std::string nameOf(const driver::Session *session) {
  return session == nullptr ? "" : session->planName();
}

double priceOf(const driver::Session &session) {
  const auto &module = session.compilation().module;
  return module ? module->cluster.pricePerHour : 0;
}

std::vector<Number> numbersOf(const driver::Session *session) {
  if (session == nullptr || session->report() == nullptr)
    return {};
  return compare::numbersOf(*session->report(), priceOf(*session));
}

bool hasModule(const driver::Session *session) {
  return session != nullptr && session->compilation().module.has_value();
}

void explain(PlanDiff &out, const Side &before, const Side &after) {
  const Parts from = partsOf(*out.oldReport()), to = partsOf(*out.newReport());
  const Hybrids hybrids(before, after, out.changes);
  Game game{hybrids.units(), from, to,
            [&](const std::vector<Units> &sets) { return hybrids.play(sets); }};
  const Attribution shares = attribute(game);
  out.isEveryOrder = shares.isEveryOrder;
  for (const Group &group : shares.groups) {
    GroupChange change;
    for (std::size_t unit : group.units)
      change.units.push_back(hybrids.names()[unit]);
    for (std::int64_t part : group.parts)
      change.picoseconds += part;
    out.groups.push_back(std::move(change));
  }
  for (std::size_t c = 0; c < from.size(); ++c) {
    CauseChange change{static_cast<report::Cause>(c), to[c] - from[c], {}};
    bool isAny = change.picoseconds != 0;
    for (const Group &group : shares.groups) {
      change.byGroup.push_back(group.parts[c]);
      isAny = isAny || group.parts[c] != 0;
    }
    if (isAny)
      out.because.push_back(std::move(change));
  }
}

/// Each once, on whichever thread comes to it first.
void runAll(const std::vector<SessionPtr> &sessions) {
  forEachOnThreads(sessions.size(), threadsFor(sessions.size()),
                   [&](std::size_t i) { sessions[i]->run(); });
}

class Matcher {
public:
  Matcher(std::vector<driver::Session *> before,
          std::vector<driver::Session *> after)
      : before_(std::move(before)), after_(std::move(after)),
        partner_(after_.size()) {}

  std::vector<PlanDiff> run() {
    std::vector<PlanDiff> out;
    // A file that cannot be read has every plan and none.
    if (isUnread(after_) && !isUnread(before_)) {
      for (const driver::Session *old : before_)
        out.push_back(diffOf(old, after_.front()));
      return out;
    }
    if (isUnread(before_) && !isUnread(after_)) {
      for (const driver::Session *fresh : after_)
        out.push_back(diffOf(before_.front(), fresh));
      return out;
    }
    byName();
    bySettings();
    byBeingAlone();
    for (std::size_t i = 0; i < after_.size(); ++i)
      out.push_back(diffOf(partner_[i], after_[i]));
    for (const driver::Session *left : before_)
      if (left != nullptr)
        out.push_back(diffOf(left, nullptr));
    return out;
  }

private:
  static bool isUnread(const std::vector<driver::Session *> &side) {
    return side.size() == 1 && side.front()->compilation().program == nullptr;
  }

  void pair(std::size_t before, std::size_t after) {
    partner_[after] = before_[before];
    before_[before] = nullptr;
  }

  void byName() {
    for (std::size_t i = 0; i < after_.size(); ++i)
      for (std::size_t j = 0; j < before_.size(); ++j)
        if (before_[j] != nullptr && !partner_[i] &&
            nameOf(before_[j]) == nameOf(after_[i]))
          pair(j, i);
  }

  void bySettings() {
    for (std::size_t i = 0; i < after_.size(); ++i)
      for (std::size_t j = 0; j < before_.size(); ++j)
        if (!partner_[i] && hasModule(before_[j]) && hasModule(after_[i]) &&
            changesBetween(sideOf(before_[j]->compilation()),
                           sideOf(after_[i]->compilation()))
                .empty())
          pair(j, i);
  }

  /// A file with one plan, and another with one.
  void byBeingAlone() {
    if (before_.size() == 1 && after_.size() == 1 && before_.front() != nullptr)
      pair(0, 0);
  }

  std::vector<driver::Session *> before_, after_;
  std::vector<driver::Session *> partner_;
};

std::vector<driver::Session *> pointers(const std::vector<SessionPtr> &from) {
  std::vector<driver::Session *> out;
  for (const SessionPtr &session : from)
    out.push_back(session.get());
  return out;
}

} // namespace

driver::Outcome mistakeOf(const std::vector<SessionPtr> &sessions) {
  driver::Outcome found = driver::Outcome::Ok;
  for (const SessionPtr &session : sessions)
    if (driver::isMistake(session->outcome()))
      found = driver::worse(found, session->outcome());
  return found;
}

bool PlanDiff::isSame() const {
  return hasBoth() && changes.empty() && oldReport() && newReport() &&
         std::none_of(numbers.begin(), numbers.end(),
                      [](const Number &number) { return number.isChanged(); });
}

PlanDiff diffOf(const driver::Session *before, const driver::Session *after) {
  PlanDiff out;
  out.before = before;
  out.after = after;
  out.oldName = nameOf(before);
  out.newName = nameOf(after);
  out.numbers = paired(numbersOf(before), numbersOf(after));
  if (!hasModule(before) || !hasModule(after))
    return out;
  const Side from = sideOf(before->compilation()),
             to = sideOf(after->compilation());
  out.changes = changesBetween(from, to);
  if (out.oldReport() && out.newReport())
    explain(out, from, to);
  return out;
}

std::vector<SessionPtr> runPlans(const driver::Options &file) {
  std::vector<std::string> names;
  if (file.planName.empty()) {
    driver::Options options = file;
    names = driver::Session(std::move(options)).planNames();
  }
  if (names.empty())
    names.push_back(file.planName);
  std::vector<SessionPtr> out;
  for (const std::string &name : names) {
    driver::Options options = file;
    options.planName = name;
    options.asides = driver::Options::Asides::Skipped;
    out.push_back(std::make_unique<driver::Session>(std::move(options)));
  }
  runAll(out);
  return out;
}

namespace {

/// Read without a mistake, and no plan in it runs by itself.
bool hasNoPlan(const std::optional<driver::Options> &file) {
  if (!file)
    return true;
  driver::Session session(*file);
  return session.planNames().empty() &&
         session.compilation().program != nullptr;
}

} // namespace

Diff diff(const DiffRequest &request) {
  Diff out;
  if (request.withoutPlans == DiffRequest::WithoutPlans::LeftOut &&
      hasNoPlan(request.before) && hasNoPlan(request.after))
    return out;
  std::vector<SessionPtr> fresh;
  if (request.before) {
    driver::Options options = *request.before;
    options.planName = request.oldPlan;
    out.sessions = runPlans(options);
  }
  const std::vector<driver::Session *> before = pointers(out.sessions);
  if (request.after) {
    driver::Options options = *request.after;
    options.planName = request.newPlan;
    for (const driver::Session *session : before)
      options.firstOrigin =
          std::max(options.firstOrigin, session->compilation().origins.size());
    fresh = runPlans(options);
  }
  const std::vector<driver::Session *> after = pointers(fresh);
  for (SessionPtr &session : fresh)
    out.sessions.push_back(std::move(session));
  out.plans = Matcher(before, after).run();
  return out;
}

} // namespace planc::compare
