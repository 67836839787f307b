#include "runtime/calibrate/Knobs.h"

#include <algorithm>
#include <cmath>

namespace planc::calibrate {

namespace {

constexpr int kDecade = 90; // two digits, 10 to 99
constexpr int kByteDecades = 8, kTimeDecades = 5;
/// Of the first decade's values: 10 · 100 B and 10 · 10 ns.
constexpr double kByteUnit = 100, kTimeUnit = 1e-8;

double decimal(int index, double unit) {
  if (index <= 0)
    return 0;
  double scale = unit;
  for (int decade = (index - 1) / kDecade; decade > 0; --decade)
    scale *= 10;
  return scale * (10 + (index - 1) % kDecade);
}

} // namespace

int Knob::last() const {
  switch (grid) {
  case Grid::Share:
    return 999;
  case Grid::Bytes:
    return kDecade * kByteDecades;
  case Grid::Time:
    return kDecade * kTimeDecades;
  }
  return 0;
}

double Knob::valueAt(int index) const {
  switch (grid) {
  case Grid::Share:
    return (index + 1) / 1000.0;
  case Grid::Bytes:
    return decimal(index, kByteUnit);
  case Grid::Time:
    return decimal(index, kTimeUnit);
  }
  return 0;
}

int Knob::indexOf(double value) const {
  int best = 0;
  for (int index = 1; index <= last(); ++index)
    if (std::abs(valueAt(index) - value) < std::abs(valueAt(best) - value))
      best = index;
  return best;
}

double Knob::read(const hardware::Level &level) const {
  return constant != nullptr ? level.constants.*constant
                             : toSeconds(level.latency);
}

void Knob::write(hardware::Level &level, double value) const {
  if (constant != nullptr)
    level.constants.*constant = value;
  else
    level.latency = Duration(static_cast<std::int64_t>(
        std::round(value * static_cast<double>(kPicosecondsPerSecond))));
}

std::vector<Knob> knobsOf(KnobSet set) {
  using C = hardware::LevelConstants;
  const Knob latency{"latency", Grid::Time, nullptr};
  switch (set) {
  case KnobSet::Ring:
    return {{"efficiency", Grid::Share, &C::efficiency},
            latency,
            {"message_half", Grid::Bytes, &C::messageHalf},
            {"message_ramp", Grid::Bytes, &C::messageRamp}};
  case KnobSet::Switch:
    return {{"reduction_efficiency", Grid::Share, &C::reductionEfficiency},
            latency,
            {"reduction_half", Grid::Bytes, &C::reductionHalf},
            {"reduction_ramp", Grid::Bytes, &C::reductionRamp}};
  case KnobSet::Transfer:
    return {{"transfer_efficiency", Grid::Share, &C::transferEfficiency}};
  }
  return {};
}

} // namespace planc::calibrate
