#include "tests/unit/shard/AttentionKernels.h"

#include <algorithm>
#include <cmath>

namespace planc::oracle {

double keeps(const std::string &op, const std::vector<int> &at, double p) {
  std::uint64_t hash = 1469598103934665603ull;
  auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * 1099511628211ull;
    hash ^= hash >> 29;
  };
  for (char c : op)
    mix(static_cast<unsigned char>(c));
  for (int each : at)
    mix(static_cast<std::uint64_t>(each) + 17);
  return static_cast<double>(hash % 1000) < p * 1000 ? 0 : 1;
}

namespace {

/// Places are [batch, position, head, size], as the operands hold them.
class Scores {
public:
  Scores(const KernelCall &call, const Tensor &q, const Tensor &k,
         const Tensor &v)
      : call_(call), q_(q), k_(k), v_(v), keys_(k.whole[1]),
        group_(q.whole[2] / k.whole[2]),
        scale_(1 / std::sqrt(static_cast<double>(q.whole[3]))) {}

  int keys() const { return keys_; }
  int keyHead(int head) const { return head / group_; }
  double scale() const { return scale_; }

  bool counts(int query, int key) const {
    const ops::Attributes &a = call_.op->attributes;
    return (!a.causal || key <= query) &&
           (!a.window || key > query - *a.window) &&
           (!a.document || key / *a.document == query / *a.document);
  }

  double capped(double score) const {
    double cap = call_.op->attributes.softCap;
    return cap > 0 ? cap * std::tanh(score / cap) : score;
  }
  double capSlope(double score) const {
    double cap = call_.op->attributes.softCap;
    return cap > 0 ? 1 - (score / cap) * (score / cap) : 1;
  }

  /// S over all keys; masked ones far below.
  std::vector<double> row(int b, int p, int i) const {
    std::vector<double> s;
    for (int key = 0; key < keys_; ++key) {
      double sum = 0;
      for (int d = 0; d < q_.whole[3]; ++d)
        sum += q_.get({b, p, i, d}) * k_.get({b, key, keyHead(i), d});
      s.push_back(counts(p, key) ? capped(sum * scale_) : -1e300);
    }
    return s;
  }

  double kept(int b, int p, int i, int key) const {
    double rate = call_.op->attributes.dropout;
    return rate > 0 ? keeps(call_.op->name, {b, i, p, key}, rate) / (1 - rate)
                    : 1;
  }

  const Tensor &v() const { return v_; }

private:
  const KernelCall &call_;
  const Tensor &q_, &k_, &v_;
  int keys_, group_;
  double scale_;
};

double logSum(std::vector<double> s, const Tensor *sink, int head) {
  if (sink)
    s.push_back(sink->get({head}));
  double most = *std::max_element(s.begin(), s.end()), sum = 0;
  for (double each : s)
    sum += std::exp(each - most);
  return most + std::log(sum);
}

} // namespace

void attention(const KernelCall &call) {
  const Tensor &q = *call.operands[0], &k = *call.operands[1],
               &v = *call.operands[2];
  const Tensor *sink = call.operands.size() > 3 ? call.operands[3] : nullptr;
  Scores scores(call, q, k, v);
  auto probability = [&](int b, int p, int i, int key) {
    std::vector<double> s = scores.row(b, p, i);
    return std::exp(s[static_cast<std::size_t>(key)] - logSum(s, sink, i));
  };
  call.results[0]->forEach([&](const std::vector<int> &at, double &out) {
    std::vector<double> s = scores.row(at[0], at[1], at[2]);
    double lse = logSum(s, sink, at[2]);
    for (int key = 0; key < scores.keys(); ++key)
      out += std::exp(s[static_cast<std::size_t>(key)] - lse) *
             scores.kept(at[0], at[1], at[2], key) *
             v.get({at[0], key, scores.keyHead(at[2]), at[3]});
  });
  if (!call.op->attributes.unfused) {
    call.results[1]->forEach([&](const std::vector<int> &at, double &out) {
      out = logSum(scores.row(at[0], at[2], at[1]), sink, at[1]);
    });
    return;
  }
  for (std::size_t r = 1; r < call.results.size(); ++r)
    call.results[r]->forEach([&](const std::vector<int> &at, double &out) {
      double kept = scores.kept(at[0], at[2], at[1], at[3]);
      double p = r == 2 ? 1 : probability(at[0], at[2], at[1], at[3]);
      out = r == 1 ? p : r == 2 ? (kept > 0 ? 1 : 0) : p * kept;
    });
}

namespace {

/// P, dropped P and dS of one query head at one position.
struct GradientRow {
  std::vector<double> dropped, ds;
};

class AttentionGradient {
public:
  explicit AttentionGradient(const KernelCall &call)
      : call_(call), dout_(*call.operands[0]), q_(*call.operands[1]),
        k_(*call.operands[2]), v_(*call.operands[3]),
        scores_(call, q_, k_, v_) {}

  void run() {
    for (int b : q_.places[0])
      for (int p : q_.places[1])
        for (int i : q_.places[2])
          addRow(b, p, i, rowOf(b, p, i));
  }

private:
  double probability(int b, int p, int i, int key,
                     const std::vector<double> &s) const {
    if (call_.op->attributes.unfused)
      return call_.operands[4]->get({b, i, p, key});
    return std::exp(s[static_cast<std::size_t>(key)] -
                    call_.operands[5]->get({b, i, p}));
  }

  GradientRow rowOf(int b, int p, int i) const {
    std::vector<double> s = scores_.row(b, p, i), prob, dp;
    GradientRow row;
    double along = 0;
    for (int key = 0; key < scores_.keys(); ++key) {
      double sum = 0;
      for (int e = 0; e < v_.whole[3]; ++e)
        sum +=
            dout_.get({b, p, i, e}) * v_.get({b, key, scores_.keyHead(i), e});
      double kept = scores_.kept(b, p, i, key);
      prob.push_back(probability(b, p, i, key, s));
      dp.push_back(sum * kept);
      row.dropped.push_back(prob.back() * kept);
      along += prob.back() * dp.back();
    }
    if (!call_.op->attributes.unfused) {
      along = 0;
      for (int e = 0; e < v_.whole[3]; ++e)
        along += dout_.get({b, p, i, e}) * call_.operands[4]->get({b, p, i, e});
    }
    for (std::size_t key = 0; key < prob.size(); ++key)
      row.ds.push_back(prob[key] * (dp[key] - along) *
                       scores_.capSlope(s[key] < -1e299 ? 0 : s[key]));
    return row;
  }

  static void addTo(Tensor &t, const std::vector<int> &at, double value) {
    if (long offset = t.find(at); offset >= 0)
      t.data[static_cast<std::size_t>(offset)] += value;
  }

  void addRow(int b, int p, int i, const GradientRow &row) {
    int head = scores_.keyHead(i);
    for (int key = 0; key < scores_.keys(); ++key) {
      std::size_t n = static_cast<std::size_t>(key);
      for (int d = 0; d < q_.whole[3]; ++d) {
        double ds = row.ds[n] * scores_.scale();
        addTo(*call_.results[0], {b, p, i, d}, ds * k_.get({b, key, head, d}));
        addTo(*call_.results[1], {b, key, head, d}, ds * q_.get({b, p, i, d}));
      }
      for (int e = 0; e < v_.whole[3]; ++e)
        addTo(*call_.results[2], {b, key, head, e},
              row.dropped[n] * dout_.get({b, p, i, e}));
    }
  }

  const KernelCall &call_;
  const Tensor &dout_, &q_, &k_, &v_;
  Scores scores_;
};

} // namespace

void attentionGrad(const KernelCall &call) { AttentionGradient(call).run(); }

/// Over what this rank holds of batch and positions.
void sinkGrad(const KernelCall &call) {
  Tensor dout = *call.operands[0];
  const Tensor &sink = *call.operands[1], &out = *call.operands[2],
               &statistic = *call.operands[3];
  Tensor &dsink = *call.results[0];
  for (int b : dout.places[0])
    for (int p : dout.places[1])
      for (int i : dout.places[2]) {
        double along = 0, share = 0;
        for (int e = 0; e < dout.whole[3]; ++e)
          along += dout.get({b, p, i, e}) * out.get({b, p, i, e});
        if (call.op->attributes.unfused) {
          share = 1;
          for (int key = 0; key < statistic.whole[3]; ++key)
            share -= statistic.get({b, i, p, key});
        } else
          share = std::exp(sink.get({i}) - statistic.get({b, i, p}));
        if (long offset = dsink.find({i}); offset >= 0)
          dsink.data[static_cast<std::size_t>(offset)] -= share * along;
      }
}

} // namespace planc::oracle
