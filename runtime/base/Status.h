// Success or a reason, without exceptions.
#pragma once

#include "runtime/base/Id.h"

#include <string>
#include <utility>
#include <variant>

namespace planc {

/// The four ways a compile ends without a report; never mixed up with each
/// other.
enum class FailureKind {
  Illegal,     ///< the text or the plan can never run
  Infeasible,  ///< it does not fit the machine
  Unsupported, ///< planc cannot say
  Internal,    ///< planc's own bug
};

struct Failure {
  FailureKind kind = FailureKind::Internal;
  std::string text;
  OriginId origin;
};

/// A value of T, or the Failure that kept it from being made.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::move(value)) {}
  Result(Failure failure) : state_(std::move(failure)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T &operator*() { return std::get<0>(state_); }
  const T &operator*() const { return std::get<0>(state_); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }
  const Failure &failure() const { return std::get<1>(state_); }

private:
  std::variant<T, Failure> state_;
};

} // namespace planc
