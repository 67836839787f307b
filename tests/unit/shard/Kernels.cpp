#include "tests/unit/shard/Kernels.h"

#include "compiler/ops/Roles.h"
#include "tests/unit/shard/AttentionKernels.h"

#include <algorithm>
#include <cmath>

namespace planc::oracle {

using ops::DimId;
using ops::OpKind;
using ops::Role;

namespace {

constexpr double kEpsilon = 1e-5;

/// Loops over result dimensions, then contracted ones; every operand knows
/// where its element stands for each.
class Loops {
public:
  Loops(const KernelCall &call)
      : call_(call), rule_(call.op->rules[0]), result_(*call.results[0]) {
    for (const Places &places : result_.places)
      loops_.push_back(places);
    outer_ = loops_.size();
    for (std::size_t i = 0; i < call.operands.size(); ++i)
      addContracted(i);
    for (std::size_t i = 0; i < call.operands.size(); ++i)
      offsets_.push_back(offsetsOf(i));
  }

  std::size_t outerCount() const { return count(0, outer_); }
  std::size_t innerCount() const { return count(outer_, loops_.size()); }
  double read(std::size_t operand, std::size_t at) const {
    long offset = offsets_[operand][at];
    if (offset >= 0)
      return call_.operands[operand]->data[static_cast<std::size_t>(offset)];
    complain(call_.op->name + ": operand not held");
    return 0;
  }

private:
  std::size_t count(std::size_t from, std::size_t to) const {
    std::size_t n = 1;
    for (std::size_t i = from; i < to; ++i)
      n *= loops_[i].size();
    return n;
  }

  void addContracted(std::size_t operand) {
    const Tensor &tensor = *call_.operands[operand];
    const ops::OperandUse &use = rule_.operands[operand];
    for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
      if (use.dims[d].role != Role::Contract)
        continue;
      DimId name = ops::sumName(use.dims[d]);
      auto known = std::find(contracted_.begin(), contracted_.end(), name);
      if (known == contracted_.end()) {
        contracted_.push_back(name);
        loops_.push_back(tensor.places[d]);
      } else if (loops_[outer_ + static_cast<std::size_t>(
                                     known - contracted_.begin())] !=
                 tensor.places[d])
        complain(call_.op->name + ": summed dimension held differently");
    }
  }

  std::size_t loopOf(std::size_t operand, const ops::DimUse &use) const {
    if (use.role == Role::Contract)
      return outer_ + static_cast<std::size_t>(std::find(contracted_.begin(),
                                                         contracted_.end(),
                                                         ops::sumName(use)) -
                                               contracted_.begin());
    std::size_t first = result_.dims.size(), last = first;
    for (std::size_t d = 0; d < result_.dims.size(); ++d)
      if (result_.dims[d] == use.as) {
        first = std::min(first, d);
        last = d;
      }
    return operand == 0 ? first : last;
  }

  std::vector<long> offsetsOf(std::size_t operand) const {
    const Tensor &tensor = *call_.operands[operand];
    const ops::OperandUse &use = rule_.operands[operand];
    std::vector<std::size_t> loop;
    for (std::size_t d = 0; d < tensor.dims.size(); ++d)
      loop.push_back(loopOf(operand, use.dims[d]));
    std::vector<long> out;
    std::vector<std::size_t> counter(loops_.size(), 0);
    std::vector<int> at(tensor.dims.size(), 0);
    std::size_t all = count(0, loops_.size());
    for (std::size_t i = 0; i < all; ++i) {
      for (std::size_t d = 0; d < at.size(); ++d)
        at[d] = loops_[loop[d]][counter[loop[d]]];
      out.push_back(tensor.find(at));
      for (std::size_t l = loops_.size(); l-- > 0;) {
        if (++counter[l] < loops_[l].size())
          break;
        counter[l] = 0;
      }
    }
    return out;
  }

  const KernelCall &call_;
  const ops::ResultRule &rule_;
  const Tensor &result_;
  std::vector<Places> loops_;
  std::size_t outer_ = 0;
  ops::Dims contracted_;
  std::vector<std::vector<long>> offsets_;
};

/// Σ of `f` of the operands' elements over what is contracted.
template <class F> void sumOf(const KernelCall &call, F f) {
  Loops loops(call);
  std::size_t inner = loops.innerCount();
  for (std::size_t r = 0; r < loops.outerCount(); ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < inner; ++c) {
      std::vector<double> in;
      for (std::size_t i = 0; i < call.operands.size(); ++i)
        in.push_back(loops.read(i, r * inner + c));
      sum += f(in);
    }
    call.results[0]->data[r] = sum;
  }
}

void einsum(const KernelCall &call) {
  sumOf(call, [](const std::vector<double> &in) {
    double product = 1;
    for (double each : in)
      product *= each;
    return product;
  });
}

/// `f` of the operands' elements, broadcast.
template <class F> void pointwise(const KernelCall &call, F f) {
  Loops loops(call);
  for (std::size_t r = 0; r < loops.outerCount(); ++r) {
    std::vector<double> in;
    for (std::size_t i = 0; i < call.operands.size(); ++i)
      in.push_back(loops.read(i, r));
    call.results[0]->data[r] = f(in);
  }
}

void add(const KernelCall &call) {
  pointwise(call, [](const std::vector<double> &in) {
    double sum = 0;
    for (double each : in)
      sum += each;
    return sum;
  });
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
constexpr double kGelu = 0.7978845608028654; // √(2/π)

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(kGelu * (x + 0.044715 * x * x * x)));
}
double geluSlope(double x) {
  double t = std::tanh(kGelu * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * kGelu * (1 + 3 * 0.044715 * x * x);
}
double siluSlope(double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }

// --- lookups -----------------------------------------------------------------

void embed(const KernelCall &call) {
  const Tensor &tokens = *call.operands[0], &table = *call.operands[1];
  const ops::ResultRule &rule = call.op->rules[0];
  call.results[0]->forEach([&](const std::vector<int> &at, double &out) {
    auto place = [&](DimId dim) {
      const ops::Dims &dims = rule.dims;
      return at[static_cast<std::size_t>(
          std::find(dims.begin(), dims.end(), dim) - dims.begin())];
    };
    std::vector<int> where;
    for (DimId dim : tokens.dims)
      where.push_back(place(dim));
    std::vector<int> row{static_cast<int>(tokens.get(where))};
    for (std::size_t d = 1; d < table.dims.size(); ++d)
      row.push_back(place(table.dims[d]));
    long offset = table.find(row);
    out = offset < 0 ? 0 : table.data[static_cast<std::size_t>(offset)];
  });
}

void embedGrad(const KernelCall &call) {
  const Tensor &tokens = *call.operands[0];
  Tensor dy = *call.operands[1];
  Tensor &table = *call.results[0];
  dy.forEach([&](const std::vector<int> &at, double &value) {
    auto place = [&](DimId dim) {
      return at[static_cast<std::size_t>(
          std::find(dy.dims.begin(), dy.dims.end(), dim) - dy.dims.begin())];
    };
    std::vector<int> where;
    for (DimId dim : tokens.dims)
      where.push_back(place(dim));
    std::vector<int> row{static_cast<int>(tokens.get(where))};
    for (std::size_t d = 1; d < table.dims.size(); ++d)
      row.push_back(place(table.dims[d]));
    long offset = table.find(row);
    if (offset >= 0)
      table.data[static_cast<std::size_t>(offset)] += value;
  });
}

// --- rows --------------------------------------------------------------------

/// Calls for every row of `over`: the place of its first element, whose last
/// index is free.
void forEachRow(const Tensor &over,
                const std::function<void(std::vector<int>)> &f) {
  Tensor rows = over;
  if (!over.holdsAll(over.dims.size() - 1))
    complain("a row is not whole");
  rows.forEach([&](const std::vector<int> &at, double &) {
    if (at.back() == 0)
      f(at);
  });
}

std::vector<double> rowOf(const Tensor &t, std::vector<int> at) {
  std::vector<double> row;
  for (int h = 0; h < t.whole.back(); ++h) {
    at.back() = h;
    row.push_back(t.get(at));
  }
  return row;
}

void writeRow(Tensor &t, std::vector<int> at, const std::vector<double> &row) {
  for (std::size_t h = 0; h < row.size(); ++h) {
    at.back() = static_cast<int>(h);
    if (long offset = t.find(at); offset >= 0)
      t.data[static_cast<std::size_t>(offset)] = row[h];
  }
}

double mean(const std::vector<double> &row) {
  double sum = 0;
  for (double each : row)
    sum += each;
  return sum / static_cast<double>(row.size());
}

double meanProduct(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum / static_cast<double>(a.size());
}

struct Normed {
  std::vector<double> hat;
  double r = 0;
};
Normed normalise(std::vector<double> row, bool centred) {
  if (centred) {
    double m = mean(row);
    for (double &each : row)
      each -= m;
  }
  Normed out{row, 1 / std::sqrt(meanProduct(row, row) + kEpsilon)};
  for (double &each : out.hat)
    each *= out.r;
  return out;
}

std::vector<double> parameter(const KernelCall &call, std::size_t operand,
                              std::size_t size, double missing) {
  if (operand >= call.operands.size())
    return std::vector<double>(size, missing);
  return rowOf(*call.operands[operand], {0});
}

void norm(const KernelCall &call, bool centred) {
  const Tensor &x = *call.operands[0];
  forEachRow(x, [&](const std::vector<int> &at) {
    Normed n = normalise(rowOf(x, at), centred);
    std::vector<double> gain = parameter(call, 1, n.hat.size(), 1);
    std::vector<double> bias = parameter(call, 2, n.hat.size(), 0);
    for (std::size_t h = 0; h < n.hat.size(); ++h)
      n.hat[h] = n.hat[h] * gain[h] + bias[h];
    writeRow(*call.results[0], at, n.hat);
  });
}

void normGrad(const KernelCall &call, bool centred) {
  const Tensor &dy = *call.operands[0], &x = *call.operands[1];
  forEachRow(x, [&](const std::vector<int> &at) {
    Normed n = normalise(rowOf(x, at), centred);
    std::vector<double> gain = parameter(call, 2, n.hat.size(), 1);
    std::vector<double> g = rowOf(dy, at);
    for (std::size_t h = 0; h < g.size(); ++h)
      g[h] *= gain[h];
    double along = meanProduct(g, n.hat), level = centred ? mean(g) : 0;
    for (std::size_t h = 0; h < g.size(); ++h)
      g[h] = n.r * (g[h] - level - n.hat[h] * along);
    writeRow(*call.results[0], at, g);
  });
}

void normWeightGrad(const KernelCall &call, bool centred) {
  const Tensor &dy = *call.operands[0], &x = *call.operands[1];
  forEachRow(x, [&](const std::vector<int> &at) {
    Normed n = normalise(rowOf(x, at), centred);
    std::vector<double> g = rowOf(dy, at);
    for (std::size_t r = 0; r < call.results.size(); ++r)
      for (int h = 0; h < x.whole.back(); ++h) {
        std::size_t i = static_cast<std::size_t>(h);
        long offset = call.results[r]->find({h});
        if (offset >= 0)
          call.results[r]->data[static_cast<std::size_t>(offset)] +=
              r == 0 ? g[i] * n.hat[i] : g[i];
      }
  });
}

void softmax(const KernelCall &call) {
  const Tensor &x = *call.operands[0];
  forEachRow(x, [&](const std::vector<int> &at) {
    std::vector<double> row = rowOf(x, at);
    double most = *std::max_element(row.begin(), row.end()), sum = 0;
    for (double &each : row)
      sum += each = std::exp(each - most);
    for (double &each : row)
      each /= sum;
    writeRow(*call.results[0], at, row);
  });
}

void softmaxGrad(const KernelCall &call) {
  const Tensor &dy = *call.operands[0], &y = *call.operands[1];
  forEachRow(y, [&](const std::vector<int> &at) {
    std::vector<double> g = rowOf(dy, at), out = rowOf(y, at);
    double along = meanProduct(g, out) * static_cast<double>(out.size());
    for (std::size_t h = 0; h < g.size(); ++h)
      out[h] *= g[h] - along;
    writeRow(*call.results[0], at, out);
  });
}

void rope(const KernelCall &call, double direction) {
  const Tensor &x = *call.operands[0];
  std::size_t seq = static_cast<std::size_t>(
      std::find(x.dims.begin(), x.dims.end(), call.seq) - x.dims.begin());
  forEachRow(x, [&](const std::vector<int> &at) {
    std::vector<double> in = rowOf(x, at), out = in;
    std::size_t half = in.size() / 2;
    for (std::size_t j = 0; j < half; ++j) {
      double angle = direction * at[seq] *
                     std::pow(10000.0, -2.0 * static_cast<double>(j) /
                                           static_cast<double>(in.size()));
      out[j] = in[j] * std::cos(angle) - in[j + half] * std::sin(angle);
      out[j + half] = in[j + half] * std::cos(angle) + in[j] * std::sin(angle);
    }
    writeRow(*call.results[0], at, out);
  });
}

// --- the loss ----------------------------------------------------------------

void crossEntropy(const KernelCall &call) {
  const Tensor &logits = *call.operands[0], &targets = *call.operands[1];
  const Places &held = logits.places.back();
  auto at = [&](const std::vector<int> &row, int v) {
    std::vector<int> place = row;
    place.push_back(v);
    return logits.get(place);
  };
  auto most = [&](const std::vector<int> &row) {
    double m = -1e300;
    for (int v : held)
      m = std::max(m, at(row, v));
    return m;
  };
  auto sum = [&](const std::vector<int> &row) {
    double s = 0, m = most(row);
    for (int v : held)
      s += std::exp(at(row, v) - m);
    return s;
  };
  bool whole = logits.holdsAll(logits.dims.size() - 1);
  call.results[1]->forEach(
      [&](const std::vector<int> &row, double &out) { out = most(row); });
  call.results[2]->forEach(
      [&](const std::vector<int> &row, double &out) { out = sum(row); });
  call.results[0]->forEach([&](const std::vector<int> &row, double &out) {
    int target = static_cast<int>(targets.get(row));
    out = std::count(held.begin(), held.end(), target) ? -at(row, target) : 0;
    if (whole)
      out += std::log(sum(row)) + most(row);
  });
}

void crossEntropyGrad(const KernelCall &call) {
  const Tensor &dloss = *call.operands[0], &logits = *call.operands[1],
               &targets = *call.operands[2], &most = *call.operands[3],
               &sum = *call.operands[4];
  call.results[0]->forEach([&](const std::vector<int> &at, double &out) {
    std::vector<int> row(at.begin(), at.end() - 1);
    double p = std::exp(logits.get(at) - most.get(row)) / sum.get(row);
    bool hit = static_cast<int>(targets.get(row)) == at.back();
    out = dloss.get(row) * (p - (hit ? 1 : 0));
  });
}

/// The place in an operand of an element of the result; what the operator reads
/// whole stands at `whole`.
std::vector<int> placeIn(const ops::OperandUse &use, const ops::Dims &dims,
                         const std::vector<int> &at, int whole) {
  std::vector<int> out;
  for (const ops::DimUse &each : use.dims) {
    auto found = std::find(dims.begin(), dims.end(), each.as);
    out.push_back(each.role == Role::Map
                      ? at[static_cast<std::size_t>(found - dims.begin())]
                      : whole);
  }
  return out;
}

/// Where the dimension stands that no operand maps.
std::size_t joinedAt(const ops::ResultRule &rule) {
  for (std::size_t d = 0; d < rule.dims.size(); ++d) {
    bool mapped = false;
    for (const ops::OperandUse &use : rule.operands)
      for (const ops::DimUse &each : use.dims)
        mapped = mapped || (each.role == Role::Map && each.as == rule.dims[d]);
    if (!mapped)
      return d;
  }
  complain("nothing is joined");
  return 0;
}

void split(const KernelCall &call) {
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    const ops::ResultRule &rule = call.op->rules[r];
    std::size_t joined = joinedAt(rule);
    int from = static_cast<int>(call.op->attributes.offsets[r]);
    call.results[r]->forEach([&](const std::vector<int> &at, double &out) {
      out = call.operands[0]->get(
          placeIn(rule.operands[0], rule.dims, at, from + at[joined]));
    });
  }
}

/// What no operand gives is zero.
void concat(const KernelCall &call) {
  const ops::ResultRule &rule = call.op->rules[0];
  std::size_t joined = joinedAt(rule);
  call.results[0]->forEach([&](const std::vector<int> &at, double &out) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const ops::OperandUse &use = rule.operands[i];
      int place = at[joined] - static_cast<int>(call.op->attributes.offsets[i]);
      for (std::size_t d = 0; d < use.dims.size(); ++d)
        if (use.dims[d].role == Role::Gather && place >= 0 &&
            place < call.operands[i]->whole[d])
          out = call.operands[i]->get(placeIn(use, rule.dims, at, place));
    }
  });
}

void dropout(const KernelCall &call) {
  double p = call.op->attributes.dropout;
  if (p <= 0) {
    *call.results[0] = *call.operands[0];
    return;
  }
  auto keep = [&](const std::vector<int> &at) {
    return keeps(call.op->name, at, p);
  };
  call.results[0]->forEach([&](const std::vector<int> &at, double &out) {
    out = call.operands[0]->get(at) * keep(at) / (1 - p);
  });
  if (call.results.size() > 1)
    call.results[1]->forEach(
        [&](const std::vector<int> &at, double &out) { out = keep(at); });
}

// --- experts -----------------------------------------------------------------

/// Softmax over the largest `topK` scores, the first of equal ones; the others
/// get 0.
void topK(const KernelCall &call) {
  const Tensor &x = *call.operands[0];
  std::size_t count = static_cast<std::size_t>(call.op->attributes.route.topK);
  forEachRow(x, [&](const std::vector<int> &at) {
    std::vector<double> row = rowOf(x, at), out(row.size(), 0);
    std::vector<std::size_t> order(row.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return row[a] > row[b]; });
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i)
      sum += out[order[i]] = std::exp(row[order[i]] - row[order[0]]);
    for (double &each : out)
      each /= sum;
    writeRow(*call.results[0], at, out);
  });
}

/// Of experts that are not held the sum lacks its part.
void combineWeightGrad(const KernelCall &call) {
  const Tensor &dout = *call.operands[0], &y = *call.operands[1],
               &weights = *call.operands[2];
  const ops::Dims &dims = weights.dims;
  const DimId experts = call.op->attributes.route.experts;
  auto placeIn = [&](const Tensor &tensor, const std::vector<int> &token,
                     int expert, const std::vector<int> &rest) {
    std::vector<int> out;
    std::size_t next = 0;
    for (DimId dim : tensor.dims) {
      auto known = std::find(dims.begin(), dims.end() - 1, dim);
      out.push_back(dim == experts ? expert
                    : known != dims.end() - 1
                        ? token[static_cast<std::size_t>(known - dims.begin())]
                        : rest[next++]);
    }
    return out;
  };
  std::vector<std::size_t> summed;
  for (std::size_t d = 0; d < dout.dims.size(); ++d)
    if (std::find(dims.begin(), dims.end(), dout.dims[d]) == dims.end())
      summed.push_back(d);
  if (summed.size() != 1)
    return complain("one dimension of a token is summed");
  call.results[0]->forEach([&](const std::vector<int> &at, double &out) {
    if (weights.find(at) < 0 || weights.get(at) <= 0)
      return;
    for (int h : dout.places[summed[0]]) {
      long held = y.find(placeIn(y, at, at.back(), {h}));
      if (held >= 0)
        out += dout.get(placeIn(dout, at, -1, {h})) *
               y.data[static_cast<std::size_t>(held)];
    }
  });
}

/// The same for weights that were sent along.
void routeWeightsGrad(const KernelCall &call) {
  const Tensor &dw = *call.operands[0], &weights = *call.operands[1];
  const DimId experts = call.op->attributes.route.experts;
  call.results[0]->forEach([&](const std::vector<int> &at, double &out) {
    if (weights.find(at) < 0 || weights.get(at) <= 0)
      return;
    std::vector<int> place;
    for (DimId dim : dw.dims) {
      auto known = std::find(weights.dims.begin(), weights.dims.end() - 1, dim);
      place.push_back(
          dim == experts
              ? at.back()
              : at[static_cast<std::size_t>(known - weights.dims.begin())]);
    }
    long held = dw.find(place);
    if (held >= 0)
      out = dw.data[static_cast<std::size_t>(held)];
  });
}

using Values = std::vector<double>;

double whereSent(const Values &v) { return v[1] > 0 ? v[0] : 0; }

} // namespace

void runKernel(const KernelCall &call) {
  const double cap = call.op->attributes.softCap;
  const double keptScale = 1 / (1 - call.op->attributes.dropout);
  switch (call.op->kind) {
  case OpKind::MatMul:
  case OpKind::Mul:
  case OpKind::ReduceSum:
    return einsum(call);
  case OpKind::Add:
    return add(call);
  case OpKind::Embed:
    return embed(call);
  case OpKind::EmbedGrad:
    return embedGrad(call);
  case OpKind::Attention:
    return attention(call);
  case OpKind::AttentionGrad:
    return attentionGrad(call);
  case OpKind::SinkGrad:
    return sinkGrad(call);
  case OpKind::SoftCap:
    return pointwise(
        call, [&](const Values &v) { return cap * std::tanh(v[0] / cap); });
  case OpKind::SoftCapGrad:
    return pointwise(call, [&](const Values &v) {
      double t = std::tanh(v[1] / cap);
      return v[0] * (1 - t * t);
    });
  case OpKind::Rope:
    return rope(call, 1);
  case OpKind::RopeGrad:
    return rope(call, -1);
  case OpKind::RmsNorm:
    return norm(call, false);
  case OpKind::RmsNormGrad:
    return normGrad(call, false);
  case OpKind::RmsNormWeightGrad:
    return normWeightGrad(call, false);
  case OpKind::LayerNorm:
    return norm(call, true);
  case OpKind::LayerNormGrad:
    return normGrad(call, true);
  case OpKind::LayerNormWeightGrad:
    return normWeightGrad(call, true);
  case OpKind::Softmax:
    return softmax(call);
  case OpKind::SoftmaxGrad:
    return softmaxGrad(call);
  case OpKind::Silu:
    return pointwise(call,
                     [](const Values &v) { return v[0] * sigmoid(v[0]); });
  case OpKind::SiluGrad:
    return pointwise(call,
                     [](const Values &v) { return v[0] * siluSlope(v[1]); });
  case OpKind::Gelu:
    return pointwise(call, [](const Values &v) { return gelu(v[0]); });
  case OpKind::GeluGrad:
    return pointwise(call,
                     [](const Values &v) { return v[0] * geluSlope(v[1]); });
  case OpKind::Relu:
    return pointwise(call, [](const Values &v) { return std::max(v[0], 0.0); });
  case OpKind::ReluGrad:
    return pointwise(call, [](const Values &v) { return v[1] > 0 ? v[0] : 0; });
  case OpKind::SquaredRelu:
    return pointwise(call, [](const Values &v) {
      return std::max(v[0], 0.0) * std::max(v[0], 0.0);
    });
  case OpKind::SquaredReluGrad:
    return pointwise(
        call, [](const Values &v) { return 2 * v[0] * std::max(v[1], 0.0); });
  case OpKind::Dropout:
    return dropout(call);
  case OpKind::DropoutGrad:
    return pointwise(call,
                     [&](const Values &v) { return v[0] * v[1] * keptScale; });
  case OpKind::Split:
    return split(call);
  case OpKind::Concat:
    return concat(call);
  case OpKind::CrossEntropy:
    return crossEntropy(call);
  case OpKind::CrossEntropyGrad:
    return crossEntropyGrad(call);
  case OpKind::Router:
  case OpKind::RouterBiasGrad:
  case OpKind::Combine:
    return einsum(call);
  case OpKind::RouterBias:
    return add(call);
  case OpKind::TopK:
    return topK(call);
  case OpKind::TopKGrad:
    return softmaxGrad(call);
  case OpKind::Dispatch:
    return pointwise(call, whereSent);
  case OpKind::DispatchGrad:
  case OpKind::CombineSum:
    return sumOf(call, whereSent);
  case OpKind::RouteWeights:
    return pointwise(call, [](const Values &v) { return v[0]; });
  case OpKind::RouteWeightsGrad:
    return routeWeightsGrad(call);
  case OpKind::CombineGrad:
    return pointwise(call, [](const Values &v) { return v[0] * v[1]; });
  case OpKind::CombineWeightGrad:
    return combineWeightGrad(call);
  case OpKind::User:
  case OpKind::UserGrad:
    break;
  }
  complain("no kernel for " + call.op->name);
}

} // namespace planc::oracle
