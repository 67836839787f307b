// One compile, from a file's name to a report. The whole flow stands in
// Pipeline.cpp; this is its door.
#pragma once

#include "compiler/diag/Diagnostic.h"
#include "compiler/driver/Outcome.h"
#include "compiler/sema/Module.h"
#include "compiler/source/ImportResolver.h"
#include "runtime/report/Explanation.h"
#include "runtime/report/HtmlReport.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace planc::driver {

/// Stages that print themselves: `planc emit FILE --stage=…`.
enum class Stage {
  Ast,
  Sema,
  Graph,
  Sharded,
  Stages,
  Program,
  Schedule,
  Timeline,
};
std::optional<Stage> stageFromName(std::string_view name);
/// All names, in order, for help texts.
std::vector<std::string_view> stageNames();

class Library;

struct Options {
  std::string file; ///< as the user named it
  /// Text instead of what the disk holds under `file` (tests, embedding).
  std::optional<std::string> text;
  /// Reads files of disk for it, where they are elsewhere: main file and
  /// imports, by their path below the root; nothing where there is none.
  source::FileReader reader;
  /// Parsed before, for many compiles; none: parsed as far as it is imported.
  const Library *library = nullptr;
  std::string root;     ///< imports stay inside; empty: the folder of `file`
  std::string planName; ///< empty: the first plan of the file
  std::vector<sema::Override> overrides; ///< `-D name=value`
  /// `--peak`: rescales the printed MFU only.
  std::optional<double> peakFlopsPerSecond;
  /// The first plan of the file is made on this, instead of on what its text
  /// says (sema::elaborateOn).
  std::shared_ptr<const sema::Ground> ground;
  /// Places of this compile get numbers from here on, so that values of
  /// several can be told apart.
  std::size_t firstOrigin = 0;
  enum class Verify { Off, Each } verify = Verify::Off;
  enum class Simulation { Reused, Flat } simulation = Simulation::Reused;
  /// What a report says besides of other runs: program order, the framework's
  /// and the bounds; ways out of what does not fit, a dozen compiles perhaps;
  /// the step where no switch sums; a recomputation that saves little.
  enum class Asides { Made, Skipped } asides = Asides::Made;
  /// Warnings of what is legal and wasted (compiler/lint), after run().
  enum class Lints { Off, On } lints = Lints::Off;
};

struct Compilation;

/// Owns everything of one compile. Not thread-safe; several may live side by
/// side.
class Session {
public:
  explicit Session(Options options);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Parses, binds and elaborates only: every plan of the file that can run by
  /// itself, or the one that is named.
  Outcome check();
  /// Plans of the file that can run by themselves, in order; none after a
  /// report.
  std::vector<std::string> planNames();
  /// Of the plan that was elaborated, else the name that was asked for.
  const std::string &planName() const;

  /// As far as names, units and the plan's own rules.
  Outcome elaborate();
  /// The whole compile. After Ok, ExpectationFailed and Infeasible, report() is
  /// there.
  Outcome run();
  const report::Report *report() const;
  /// After run(), where report() is there.
  report::Explanation explain() const;
  /// What other words of the plan would do, each compiled anew.
  std::vector<report::PlanChange> planChanges() const;

  /// Compiles as far as `stage` and prints it. Empty on failure; see
  /// diagnostics().
  std::optional<std::string> emit(Stage stage);

  /// The chosen schedule as a Chrome trace (JSON), after run().
  std::string trace() const;
  /// The same to draw, and what the report rests on, after run().
  report::Picture picture() const;
  std::vector<report::Assumption> assumptions() const;

  /// Every value of the compile, as far as it came: for benchmarks.
  const Compilation &compilation() const;

  const Options &options() const;
  const std::vector<diag::Diagnostic> &diagnostics() const;
  const source::SourceSet &sources() const;
  /// Names of its sources, but those of a library that it was given.
  std::vector<std::string> files() const;
  Outcome outcome() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace planc::driver
