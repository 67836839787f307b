#include "compiler/lower/HideExchanges.h"

#include <algorithm>

namespace planc::lower {

using program::Instruction;
using program::Stream;

namespace {

/// The order of one pass: by position, the instruction that stands there.
class Ordering {
public:
  explicit Ordering(const std::vector<Instruction> &instructions)
      : all_(instructions), leads_(all_.size(), false), left_(all_.size(), 0),
        readers_(all_.size()) {
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      left_[i] = all_[i].deps.size();
      for (std::uint32_t dep : all_[i].deps)
        readers_[dep].push_back(i);
    }
    for (std::size_t i = all_.size(); i-- > 0;)
      for (std::uint32_t reader : readers_[i])
        leads_[i] = leads_[i] || leads_[reader] || isExchange(reader);
  }

  std::vector<std::uint32_t> find() {
    std::vector<std::uint32_t> order;
    std::vector<bool> taken(all_.size(), false);
    while (order.size() < all_.size()) {
      std::uint32_t next = best(taken);
      taken[next] = true;
      order.push_back(next);
      for (std::uint32_t reader : readers_[next])
        --left_[reader];
      std::erase_if(underWay_, [&](std::uint32_t exchange) {
        return waitsFor(next, exchange);
      });
      if (isExchange(next))
        underWay_.push_back(next);
    }
    return order;
  }

private:
  bool isExchange(std::size_t i) const {
    return all_[i].stream == Stream::Experts;
  }
  bool waitsFor(std::uint32_t i, std::uint32_t exchange) const {
    return std::find(all_[i].deps.begin(), all_[i].deps.end(), exchange) !=
           all_[i].deps.end();
  }

  /// Exchanges, then what leads to one, then the rest; behind them all what
  /// waits for an exchange under way.
  int rank(std::uint32_t i) const {
    bool waits = std::any_of(
        underWay_.begin(), underWay_.end(),
        [&](std::uint32_t exchange) { return waitsFor(i, exchange); });
    if (waits)
      return leads_[i] ? 3 : 4;
    return isExchange(i) ? 0 : leads_[i] ? 1 : 2;
  }

  /// Of those whose dependences are met, the first of the lowest rank. What
  /// leads to no exchange waits for one to run under as long as another leads
  /// to one.
  std::uint32_t best(const std::vector<bool> &taken) const {
    std::uint32_t best = 0;
    int least = 5;
    for (std::uint32_t i = 0; i < all_.size(); ++i)
      if (!taken[i] && left_[i] == 0 && rank(i) < least) {
        best = i;
        least = rank(i);
      }
    return best;
  }

  const std::vector<Instruction> &all_;
  std::vector<bool> leads_; ///< an exchange waits for it
  std::vector<std::size_t> left_;
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<std::uint32_t> underWay_;
};

/// Where every instruction has gone.
std::vector<std::uint32_t> reorder(LoweredPass &pass) {
  std::vector<std::uint32_t> order = Ordering(pass.instructions).find();
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t p = 0; p < order.size(); ++p)
    place[order[p]] = p;
  std::vector<Instruction> laid;
  std::vector<const shard::Step *> steps;
  laid.reserve(order.size());
  for (std::uint32_t old : order) {
    steps.push_back(pass.steps[old]);
    laid.push_back(std::move(pass.instructions[old]));
    for (std::uint32_t &dep : laid.back().deps)
      dep = place[dep];
    std::sort(laid.back().deps.begin(), laid.back().deps.end());
  }
  pass.instructions = std::move(laid);
  pass.steps = std::move(steps);
  for (std::uint32_t &copy : pass.copies)
    copy = place[copy];
  for (auto *uses : {&pass.reads, &pass.writes})
    for (LoweredPass::SlotUse &use : *uses)
      use.instruction = place[use.instruction];
  return place;
}

bool hasExchange(const LoweredPass &pass) {
  return std::any_of(pass.instructions.begin(), pass.instructions.end(),
                     [](const Instruction &instruction) {
                       return instruction.stream == Stream::Experts;
                     });
}

/// A pass that completes gradients.
void reorder(LoweredPass &pass, std::vector<LoweredBody::Gradient> &gradients,
             std::vector<LoweredBody::Scatter> &scatters) {
  if (!hasExchange(pass))
    return;
  std::vector<std::uint32_t> place = reorder(pass);
  for (LoweredBody::Gradient &gradient : gradients)
    gradient.instruction = place[gradient.instruction];
  std::stable_sort(gradients.begin(), gradients.end(),
                   [](const auto &a, const auto &b) {
                     return a.instruction < b.instruction;
                   });
  for (LoweredBody::Scatter &scatter : scatters)
    scatter.instruction = place[scatter.instruction];
}

} // namespace

void hideExchanges(LoweredBody &body) {
  if (hasExchange(body.forward))
    reorder(body.forward);
  reorder(body.backward, body.gradients, body.scatters);
  std::vector<LoweredBody::Scatter> none;
  reorder(body.split.input, body.split.inputGradients, none);
  reorder(body.split.weight, body.split.weightGradients, body.split.scatters);
}

} // namespace planc::lower
