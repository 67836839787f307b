// Runs a ProgramSet in virtual time, exactly.
//
// - A stream of a rank is in order and holds one operation at a time. Where a
//   block and a bucket or task want one stream at the same moment, the block
//   goes first.
// - A Run holds the compute stream until all its instructions have ended.
// - A message starts when its Send heads the sender's Send stream with its
//   dependences ended, and the dependences of its Recv have ended: receives are
//   posted ahead. It holds the Send stream and the links of both ends for
//   duration − latency.
// - A Collective starts when its last member has joined, and holds the stream
//   of each member from the moment that one joined.
// - A reduction is ready when its last piece is, and the run that it is held
//   for has ended; where reductions overlap, second legs have a stream of their
//   own; the Update of a class waits for all reductions of the class, and with
//   StepEnd::Joined for all classes to come that far, unless the program has
//   its own Norm collective (which then waits for the reductions of its class).
// - Gathers of step s start when the update of step s has ended; the uses in
//   step s + 1 wait for them. In the first step parameters are there.
//
// With contention on, work is fluid: kernels go at cost::computeRate beside the
// collectives of their rank, and where the shares of one direction of one
// level's link add up to more than the whole, its messages go slower by that
// much, a message at the slower of its ends. Rates are whole millionths and
// change at starts and ends only; remaining work is a whole number, an end is
// rounded up to a picosecond.
#pragma once

#include "runtime/sim/IssueOrder.h"

#include <memory>

namespace planc::sim {

enum class Contention : std::uint8_t { Off, On };

enum class Mode : std::uint8_t {
  Reuse, ///< a run that nothing outside touches is one event
  Flat,  ///< every instruction is one: the same result, slower
};

struct Options {
  std::int32_t steps = 2; ///< at least 1
  Contention contention = Contention::On;
  Mode mode = Mode::Reuse;
};

struct CompiledProgram;
struct Snapshot;

/// What runs of one simulator have in common that differ in buckets alone: up
/// to the first piece of a class they do the same, which is done once. Of one
/// thread.
class Beginning {
public:
  Beginning();
  ~Beginning();
  Beginning(const Beginning &) = delete;
  Beginning &operator=(const Beginning &) = delete;
  /// Runs that went on from another's.
  std::size_t resumed() const { return resumed_; }

private:
  friend class Simulator;
  std::size_t resumed_ = 0;
  std::size_t instructions_ = 0; ///< the most that a timeline had
  std::unique_ptr<const Snapshot> snapshot_;
};

/// A program with its costs, ready to run in one order after another. Neither
/// is copied; both must pass their verifiers and outlive this. Calls of `run`
/// may share one from several threads.
class Simulator {
public:
  Simulator(const program::ProgramSet &set, const Costs &costs);
  ~Simulator();

  /// Illegal, with the tasks that wait, when the order can never run.
  /// Unsupported when virtual time would pass 64 bits. The order must pass its
  /// verifier.
  Result<timeline::Timeline> run(const IssueOrder &order,
                                 const Options &options) const;
  /// The same, sooner where the order begins like an earlier one.
  Result<timeline::Timeline> run(const IssueOrder &order,
                                 const Options &options,
                                 Beginning &beginning) const;

  const program::ProgramSet &set() const;
  const Costs &costs() const { return costs_; }
  const CompiledProgram &program() const { return *program_; }

private:
  Result<timeline::Timeline> run(const IssueOrder &order,
                                 const Options &options,
                                 Beginning *beginning) const;

  const Costs &costs_;
  std::unique_ptr<const CompiledProgram> program_;
};

/// One order alone.
Result<timeline::Timeline> simulate(const program::ProgramSet &set,
                                    const Costs &costs, const IssueOrder &order,
                                    const Options &options);

} // namespace planc::sim
