// Where diagnostics are made. A stage gets an Emitter and reports as it goes:
//
//   emitter.report(span, diag::Kind::NotDivisible, "`{}` = {} cannot be cut {}
//   ways", name, size, ways)
//       .label(axisSpan, "{} = {}", axis, ways)
//       .note(model.span, "`{}` is {} in {}", name, size, model.name)
//       .help("{} may be {}", axis, list)
//       .fix(axisSpan, "4");
//
// Texts are checked against their arguments when planc is compiled.
#pragma once

#include "compiler/diag/Diagnostic.h"

#include <fmt/core.h>

#include <set>
#include <utility>

namespace planc::diag {

/// Takes diagnostics one at a time, in the order they are reported.
class Consumer {
public:
  virtual ~Consumer() = default;
  virtual void handle(const Diagnostic &diagnostic) = 0;
  /// Once, at the end, if `count` errors were left out.
  virtual void handleSuppressed(std::size_t count) = 0;
};

class Emitter;

/// A diagnostic being made; it is handed over when the statement that makes it
/// ends.
class Builder {
public:
  Builder(Emitter &emitter, Diagnostic diagnostic)
      : emitter_(&emitter), diagnostic_(std::move(diagnostic)) {}
  Builder(Builder &&other) noexcept
      : emitter_(std::exchange(other.emitter_, nullptr)),
        diagnostic_(std::move(other.diagnostic_)) {}
  Builder &operator=(Builder &&) = delete;
  ~Builder();

  template <class... Args>
  Builder &label(SourceSpan span, fmt::format_string<Args...> text,
                 Args &&...args) {
    diagnostic_.labels.push_back(
        {span, fmt::format(text, std::forward<Args>(args)...)});
    return *this;
  }
  template <class... Args>
  Builder &note(fmt::format_string<Args...> text, Args &&...args) {
    return note(SourceSpan(), text, std::forward<Args>(args)...);
  }
  template <class... Args>
  Builder &note(SourceSpan span, fmt::format_string<Args...> text,
                Args &&...args) {
    diagnostic_.notes.push_back(
        {fmt::format(text, std::forward<Args>(args)...), span});
    return *this;
  }
  template <class... Args>
  Builder &help(fmt::format_string<Args...> text, Args &&...args) {
    diagnostic_.helps.push_back(fmt::format(text, std::forward<Args>(args)...));
    return *this;
  }
  Builder &fix(SourceSpan span, std::string replacement) {
    diagnostic_.fixes.push_back({span, std::move(replacement)});
    return *this;
  }
  /// "did you mean `near`?" with its fix, if a candidate is near.
  Builder &suggest(SourceSpan span, std::optional<std::string_view> near);

private:
  Emitter *emitter_;
  Diagnostic diagnostic_;
};

struct EmitterOptions {
  std::size_t maxErrors = 20;
};

/// Numbers, limits and hands on what is reported. A second diagnostic of the
/// same kind at the same place is dropped. Not thread-safe.
class Emitter {
public:
  explicit Emitter(Consumer &consumer, EmitterOptions options = {})
      : consumer_(&consumer), options_(options) {}

  template <class... Args>
  Builder report(SourceSpan span, Kind kind, fmt::format_string<Args...> text,
                 Args &&...args) {
    return Builder(*this,
                   Diagnostic{kind,
                              fmt::format(text, std::forward<Args>(args)...),
                              span,
                              {},
                              {},
                              {},
                              {},
                              {}});
  }

  bool hasErrors() const { return errors_ != 0; }
  std::size_t errorCount() const { return errors_; }
  /// The same with those that were dropped as said before: it grows by every
  /// error, so that whoever reports can tell that something went wrong.
  std::size_t reportedErrors() const { return reportedErrors_; }
  /// What the errors so far amount to, the text's own mistakes first: Illegal
  /// before Unsupported before Infeasible. Only with hasErrors().
  FailureKind failure() const;
  /// Says how many errors were left out, if any. Call once, last.
  void finish();

private:
  friend class Builder;
  friend class ContextScope;
  void emit(Diagnostic diagnostic);

  Consumer *consumer_;
  EmitterOptions options_;
  std::size_t errors_ = 0;
  std::size_t reportedErrors_ = 0;
  std::size_t suppressed_ = 0;
  std::set<FailureKind> failures_;
  std::set<std::pair<Kind, std::pair<source::FileId, std::uint64_t>>> seen_;
  std::vector<Note> contexts_; ///< outermost first
};

/// Everything reported while it lives says that it happened here: "in instance
/// of model `gpt` with layers = 96".
class ContextScope {
public:
  ContextScope(Emitter &emitter, SourceSpan span, std::string text);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  Emitter *emitter_;
};

/// The candidate nearest to `name` by edit distance, if it is near enough to be
/// a slip (a third of the letters, at least 1); the first of equals.
std::optional<std::string_view>
nearestName(std::string_view name,
            const std::vector<std::string_view> &candidates);

/// The number of letters to insert, drop, change or swap with the next.
std::size_t editDistance(std::string_view a, std::string_view b);

} // namespace planc::diag
