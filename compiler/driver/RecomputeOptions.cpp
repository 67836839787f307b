#include "compiler/driver/RecomputeOptions.h"

#include "compiler/driver/Costs.h"
#include "compiler/ops/Paths.h"

#include <algorithm>
#include <optional>

namespace planc::driver {

using lower::RerunChoice;

namespace {

class Options {
public:
  explicit Options(const OptionsRequest &request) : request_(request) {}

  std::vector<RerunChoice> run() {
    findNames();
    Priced now = price({});
    std::vector<Priced> all = {now};
    while (std::optional<Priced> next = bestAfter(now)) {
      now = *next;
      all.push_back(now);
    }
    RerunChoice everything;
    everything.all = true;
    all.push_back(price(everything));
    return frontier(std::move(all));
  }

private:
  struct Priced {
    RerunChoice choice;
    std::int64_t saved = 0, time = 0;
  };

  Priced price(const RerunChoice &choice) const {
    lower::LoweredBody body = lower::lowerBody(*request_.sharded, request_.body,
                                               choice, {request_.scatters});
    return {choice, body.saved.value,
            costOf(body.backward.instructions, *request_.cost).value};
  }

  /// Operators by name; those that an earlier name means as well are not
  /// listed.
  void findNames() {
    const ops::Body &body =
        request_.sharded->graph->bodies[request_.body].forward;
    for (const ops::Op &op : body.forward)
      if (std::none_of(names_.begin(), names_.end(),
                       [&](const std::string &name) {
                         return ops::pathNames(name, op);
                       }))
        names_.push_back(op.name);
  }

  static RerunChoice with(RerunChoice choice, const std::string &name) {
    choice.paths.push_back(name);
    return choice;
  }

  /// One more operator, or attention's statistics: the most memory freed for
  /// its time.
  std::optional<Priced> bestAfter(const Priced &now) const {
    std::vector<RerunChoice> next;
    if (!now.choice.attention) {
      next.push_back(now.choice);
      next.back().attention = true;
    }
    for (const std::string &name : names_)
      if (std::find(now.choice.paths.begin(), now.choice.paths.end(), name) ==
          now.choice.paths.end())
        next.push_back(with(now.choice, name));
    std::optional<Priced> best;
    for (const RerunChoice &choice : next) {
      Priced priced = price(choice);
      if (priced.saved < now.saved && (!best || isBetter(now, priced, *best)))
        best = std::move(priced);
    }
    return best;
  }

  /// More bytes a picosecond; free ones first.
  static bool isBetter(const Priced &now, const Priced &a, const Priced &b) {
    auto gain = [&](const Priced &p) { return Int128(now.saved - p.saved); };
    auto time = [&](const Priced &p) {
      return Int128(std::max<std::int64_t>(p.time - now.time, 0));
    };
    return gain(a) * time(b) > gain(b) * time(a) ||
           (time(a) == 0 && time(b) == 0 && gain(a) > gain(b));
  }

  static std::vector<RerunChoice> frontier(std::vector<Priced> all) {
    std::vector<RerunChoice> out;
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool isWorse = false;
      for (std::size_t j = 0; j < all.size(); ++j)
        isWorse = isWorse || (j != i && all[j].saved <= all[i].saved &&
                              all[j].time <= all[i].time &&
                              (j < i || all[j].saved < all[i].saved ||
                               all[j].time < all[i].time));
      if (!isWorse)
        out.push_back(std::move(all[i].choice));
    }
    return out;
  }

  const OptionsRequest &request_;
  std::vector<std::string> names_;
};

} // namespace

std::vector<RerunChoice> recomputeChoices(const OptionsRequest &request) {
  return Options(request).run();
}

} // namespace planc::driver
