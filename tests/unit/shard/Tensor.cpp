#include "tests/unit/shard/Tensor.h"

namespace planc::oracle {

Tensor Tensor::zeros(ops::Dims dims, std::vector<int> whole,
                     std::vector<Places> places) {
  Tensor t;
  t.dims = std::move(dims);
  t.whole = std::move(whole);
  t.places = std::move(places);
  t.offsets_.resize(t.dims.size());
  long stride = 1;
  for (std::size_t d = t.dims.size(); d-- > 0;) {
    t.offsets_[d].assign(static_cast<std::size_t>(t.whole[d]), -1);
    for (std::size_t i = 0; i < t.places[d].size(); ++i)
      t.offsets_[d][static_cast<std::size_t>(t.places[d][i])] =
          stride * static_cast<long>(i);
    stride *= static_cast<long>(t.places[d].size());
  }
  t.data.assign(static_cast<std::size_t>(stride), 0.0);
  return t;
}

long Tensor::find(const std::vector<int> &at) const {
  long offset = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    long part = offsets_[d][static_cast<std::size_t>(at[d])];
    if (part < 0)
      return -1;
    offset += part;
  }
  return offset;
}

double Tensor::get(const std::vector<int> &at) const {
  long offset = find(at);
  if (offset >= 0)
    return data[static_cast<std::size_t>(offset)];
  complain("read of an element that the rank does not hold");
  return 0;
}

void Tensor::forEach(
    const std::function<void(const std::vector<int> &, double &)> &f) {
  std::vector<std::size_t> counter(dims.size(), 0);
  std::vector<int> at(dims.size(), 0);
  for (double &element : data) {
    for (std::size_t d = 0; d < dims.size(); ++d)
      at[d] = places[d][counter[d]];
    f(at, element);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++counter[d] < places[d].size())
        break;
      counter[d] = 0;
    }
  }
}

std::vector<std::int64_t> Tensor::flatPlaces() const {
  std::vector<std::int64_t> out;
  Tensor copy = *this;
  copy.forEach([&](const std::vector<int> &at, double &) {
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < dims.size(); ++d)
      flat = flat * whole[d] + at[d];
    out.push_back(flat);
  });
  return out;
}

std::vector<std::string> &complaints() {
  static std::vector<std::string> all;
  return all;
}

void complain(const std::string &what) {
  if (complaints().size() < 20)
    complaints().push_back(what);
}

} // namespace planc::oracle
