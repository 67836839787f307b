// A vector indexed by a typed id.
#pragma once

#include "runtime/base/Id.h"

#include <cassert>
#include <utility>
#include <vector>

namespace planc {

/// Owns the values of one kind; `add` gives the id of the new one. Iteration is
/// in order of creation.
template <class IdT, class T> class Table {
public:
  Table() = default;
  explicit Table(std::size_t count, const T &value = T())
      : values_(count, value) {}

  IdT add(T value) {
    values_.push_back(std::move(value));
    return IdT(values_.size() - 1);
  }

  T &operator[](IdT id) {
    assert(id.index() < values_.size());
    return values_[id.index()];
  }
  const T &operator[](IdT id) const {
    assert(id.index() < values_.size());
    return values_[id.index()];
  }

  bool contains(IdT id) const { return id.index() < values_.size(); }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  void resize(std::size_t count) { values_.resize(count); }
  bool operator==(const Table &) const = default;

  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  /// Range over the ids, for loops that need the id and the value.
  class Ids {
  public:
    class Iterator {
    public:
      explicit Iterator(std::size_t at) : at_(at) {}
      IdT operator*() const { return IdT(at_); }
      Iterator &operator++() {
        ++at_;
        return *this;
      }
      bool operator!=(const Iterator &other) const { return at_ != other.at_; }

    private:
      std::size_t at_;
    };
    explicit Ids(std::size_t count) : count_(count) {}
    Iterator begin() const { return Iterator(0); }
    Iterator end() const { return Iterator(count_); }

  private:
    std::size_t count_;
  };
  Ids ids() const { return Ids(values_.size()); }

private:
  std::vector<T> values_;
};

} // namespace planc
