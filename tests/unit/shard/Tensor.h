// Real tensors for the interpreter: the elements one rank holds of a tensor of
// the whole model, addressed by their place in the whole.
#pragma once

#include "compiler/ops/Op.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace planc::oracle {

using Places = std::vector<int>; ///< indices of the whole dimension, ascending

struct Tensor {
  ops::Dims dims;
  std::vector<int> whole;     ///< sizes in the model
  std::vector<Places> places; ///< held, by dimension
  std::vector<double> data;   ///< row by row over `places`

  /// All zeros.
  static Tensor zeros(ops::Dims dims, std::vector<int> whole,
                      std::vector<Places> places);

  std::size_t size() const { return data.size(); }
  /// Where an element stands in `data`; -1: not held.
  long find(const std::vector<int> &at) const;
  double get(const std::vector<int> &at) const;
  bool holdsAll(std::size_t dim) const {
    return static_cast<int>(places[dim].size()) == whole[dim];
  }
  /// Calls with the place of every element, in the order of `data`.
  void
  forEach(const std::function<void(const std::vector<int> &, double &)> &f);
  /// The place of element `i` of the whole tensor, flattened.
  std::vector<std::int64_t> flatPlaces() const;

private:
  std::vector<std::vector<long>> offsets_; ///< by dimension and place; -1
};

/// Collects what went wrong instead of stopping: a rank that reads what it does
/// not hold.
void complain(const std::string &what);
std::vector<std::string> &complaints();

} // namespace planc::oracle
