#include "compiler/ops/Work.h"

#include "compiler/ops/Roles.h"

#include <limits>

namespace planc::ops {
namespace {

using program::Phase;
using program::Work;
using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t clamp(Int128 value) {
  return value > kMost ? kMost : static_cast<std::int64_t>(value);
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  return clamp(static_cast<Int128>(a) * b);
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  return clamp(static_cast<Int128>(a) + b);
}

class Counting {
public:
  explicit Counting(const WorkRequest &request)
      : request_(request), op_(*request.op) {}

  Work run();

private:
  const Sizes &sizes(std::size_t i) const {
    return request_.shapes.operands[i];
  }
  std::int64_t elements(std::size_t operand) const;
  std::int64_t resultElements(std::size_t result) const;
  Fill operandFill(std::size_t i) const {
    const std::vector<Fill> &fills = request_.operandFills;
    return i < fills.size() ? fills[i] : Fill{};
  }
  Fill resultFill(std::size_t i) const {
    const std::vector<Fill> &fills = request_.resultFills;
    return i < fills.size() ? fills[i] : Fill{};
  }
  std::int64_t widthOf(std::size_t operand) const {
    return bytesOf(request_.operandPrecisions[operand]);
  }
  std::int64_t resultWidth(std::size_t result) const {
    return bytesOf(request_.resultPrecisions[result]);
  }
  void read(std::int64_t count, std::int64_t width) {
    work_.bytesRead.value = plus(work_.bytesRead.value, times(count, width));
  }
  void write(std::int64_t count, std::int64_t width) {
    work_.bytesWritten.value =
        plus(work_.bytesWritten.value, times(count, width));
  }
  void readOperands();
  void writeResults();

  void product();
  void embed();
  void embedGrad();
  void attention(std::size_t query);
  void unfusedScores(bool backward);
  void unfusedNorm();
  void eagerLoss();
  void sinkGrad();
  void inChunks();
  void accumulation();
  void unfusedSum();
  void user();
  Share userRows() const;
  std::optional<std::int64_t> localSize(DimId dim) const;
  double evaluate(const std::vector<Term> &terms) const;

  const WorkRequest &request_;
  const Op &op_;
  Work work_;
};

std::int64_t Counting::elements(std::size_t operand) const {
  const OperandUse &use = op_.rules[0].operands[operand];
  std::size_t count = use.dims.size() - (use.oneHot ? 1 : 0);
  std::int64_t product = 1;
  for (std::size_t i = 0; i < count && i < sizes(operand).size(); ++i)
    product = times(product, sizes(operand)[i]);
  return operandFill(operand).held.take(product);
}

std::int64_t Counting::resultElements(std::size_t result) const {
  std::int64_t product = 1;
  for (std::int64_t size : request_.shapes.results[result])
    product = times(product, size);
  return resultFill(result).held.take(product);
}

void Counting::readOperands() {
  for (std::size_t i = 0; i < request_.shapes.operands.size(); ++i)
    read(elements(i), widthOf(i));
}

void Counting::writeResults() {
  for (std::size_t i = 0; i < request_.shapes.results.size(); ++i) {
    write(resultElements(i), resultWidth(i));
    if (op_.phase == Phase::WeightGradient)
      read(resultElements(i), resultWidth(i));
  }
}

/// m: only the first factor has it; n: only the second; batch: both; k: summed.
/// Routed rows are m where the result has them (a product of every expert with
/// its tokens), else k (the gradient of the experts' weights).
void Counting::product() {
  const OperandUse &a = op_.rules[0].operands[0];
  const OperandUse &b = op_.rules[0].operands[1];
  auto maps = [](const OperandUse &use, DimId as) {
    for (const DimUse &dim : use.dims)
      if (dim.role == Role::Map && dim.as == as)
        return true;
    return false;
  };
  const Dims &result = op_.rules[0].dims;
  auto isBatch = [&](DimId as) {
    return maps(a, as) && maps(b, as) &&
           std::count(result.begin(), result.end(), as) == 1;
  };
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  for (std::size_t i = 0; i < a.dims.size(); ++i) {
    const DimUse &dim = a.dims[i];
    std::int64_t &into = dim.role == Role::Contract ? k
                         : isBatch(dim.as)          ? batch
                                                    : m;
    into = times(into, sizes(0)[i]);
  }
  for (std::size_t i = 0; i < b.dims.size(); ++i)
    if (b.dims[i].role != Role::Contract && !isBatch(b.dims[i].as))
      n = times(n, sizes(1)[i]);
  // As if every expert had every token, this may be past 63 bits.
  const Int128 all = static_cast<Int128>(2) * batch * n * m * k;
  const bool isSummed = resultFill(0).asked.isWhole();
  const Fill rows = isSummed ? operandFill(0) : resultFill(0);
  std::int64_t &routed = isSummed ? k : m;
  routed = rows.held.take(routed);
  work_.batch = batch;
  work_.m = m;
  work_.n = n;
  work_.k = k;
  work_.flops = Flops(rows.held.take(all));
  work_.modelFlops = work_.modelFlopsFull = Flops(rows.asked.take(all));
  readOperands();
  if (op_.attributes.unfused)
    unfusedSum();
  else
    writeResults();
}

/// Autograd: the product leaves its result in the operands' format, and a
/// kernel of its own adds that to the sum of the micro-batches before.
void Counting::unfusedSum() {
  const std::int64_t count = resultElements(0), sum = resultWidth(0);
  write(count, widthOf(0));
  work_.bytesAfter = Bytes(times(count, widthOf(0) + 2 * sum));
  work_.kernels = 2;
}

void Counting::embed() {
  read(elements(0), widthOf(0));
  read(resultElements(0), widthOf(1));
  writeResults();
}

void Counting::embedGrad() {
  readOperands();
  std::int64_t rows = std::min(elements(1), resultElements(0));
  read(rows, resultWidth(0));
  write(rows, resultWidth(0));
}

/// `query`: the operand that is q; k and v follow it.
void Counting::attention(std::size_t query) {
  const Sizes &q = sizes(query), &k = sizes(query + 1), &v = sizes(query + 2);
  const std::int64_t m = q[1], n = k[1];
  const bool backward = op_.kind == OpKind::AttentionGrad;
  work_.m = m;
  work_.n = n;
  work_.k = (q[3] + v[3]) / 2;
  work_.batch = times(q[0], q[2]);
  work_.keyHeads = times(k[0], k[2]);

  // Twice the pairs of positions, and the products' inner sizes.
  Int128 full = static_cast<Int128>(2) * m * n;
  const std::int64_t seen = std::min(n, op_.attributes.document.value_or(n));
  const Int128 square = static_cast<Int128>(2) * m * seen;
  Int128 exact = op_.attributes.causal ? square / 2 : square;
  if (op_.attributes.window && seen > 0) {
    std::int64_t w = std::clamp<std::int64_t>(*op_.attributes.window, 0, seen);
    Int128 oneSide = static_cast<Int128>(m) *
                     (static_cast<Int128>(2) * seen * w - Int128(w) * w) / seen;
    exact = op_.attributes.causal ? oneSide : std::min(square, 2 * oneSide);
  }
  const std::int64_t scores = q[3], values = v[3];
  auto flops = [&](Int128 pairs, std::int64_t inner) {
    Int128 one = static_cast<Int128>(clamp(pairs)) * inner;
    return Flops(times(clamp(one), work_.batch));
  };
  const std::int64_t modelInner = (backward ? 2 : 1) * (scores + values);
  const std::int64_t executedInner = backward && !op_.attributes.unfused
                                         ? 3 * scores + 2 * values
                                         : modelInner;
  work_.modelFlops = flops(exact, modelInner);
  work_.modelFlopsFull = flops(full, modelInner);
  work_.flops = flops(op_.attributes.unfused ? full : exact, executedInner);
  readOperands();
  writeResults();
  if (op_.attributes.unfused)
    unfusedScores(backward);
}

/// What an unfused attention moves beside its operands and results, in passes
/// over the scores [batch, heads, seq, keys] in the precision of q. Forward:
/// product (write), scale, mask and softmax (read), dropout (read), product
/// (read); the softmax's and dropout's writes are results. Backward: dP
/// (write), dropout (read, write), softmax (read, write), dq and dk (read
/// each).
void Counting::unfusedScores(bool backward) {
  std::size_t query = backward ? 1 : 0;
  std::int64_t square = times(times(work_.batch, work_.m), work_.n);
  std::int64_t width = widthOf(query);
  bool drops = op_.attributes.dropout > 0;
  std::int64_t reads = (backward ? 3 : 2) + (drops ? 1 : 0);
  std::int64_t writes = backward ? (drops ? 3 : 2) : 1;
  read(times(square, reads), width);
  write(times(square, writes), width);
  work_.kernels = (backward ? 5 : 3) + (drops ? 1 : 0);
}

/// Eager PyTorch: cast to fp32, square, mean, scale, cast back, gain; and the
/// derivative of each.
void Counting::unfusedNorm() {
  bool backward = op_.kind != OpKind::RmsNorm && op_.kind != OpKind::LayerNorm;
  std::int64_t count = elements(0), width = widthOf(0);
  readOperands();
  writeResults();
  read(count, backward ? 28 : 16);
  write(count, backward ? 20 + width : 12 + width);
  work_.kernels = backward ? 8 : 6;
}

/// Eager PyTorch: logits cast to fp32, log-softmax (read, write), then its
/// gradient (read twice, write) from a buffer of zeros, cast back.
void Counting::eagerLoss() {
  bool backward = op_.kind == OpKind::CrossEntropyGrad;
  std::int64_t count = elements(backward ? 1 : 0);
  readOperands();
  writeResults();
  read(count, backward ? 12 : 4);
  write(count, 8);
  work_.kernels = 3;
}

/// Of every row a sum that attention's backward has made anyway, and its
/// log-sum-exp.
void Counting::sinkGrad() {
  const std::vector<std::int64_t> &rows = sizes(0);
  read(times(2, times(times(rows[0], rows[1]), rows[2])),
       bytesOf(Precision::Fp32));
  writeResults();
}

/// A product of a fused linear loss: a launch a chunk, each of which adds to
/// the weight's gradient anew.
void Counting::inChunks() {
  const std::int64_t width = op_.attributes.chunkWidth;
  const std::int64_t columns =
      op_.phase == Phase::InputGradient ? work_.k : work_.n;
  const std::int64_t chunks =
      std::max<std::int64_t>(1, (columns + width - 1) / width);
  work_.kernels =
      static_cast<std::int32_t>(std::min<std::int64_t>(chunks, 1 << 20));
  if (op_.phase != Phase::WeightGradient)
    return;
  read(times(chunks - 1, resultElements(0)), resultWidth(0));
  write(times(chunks - 1, resultElements(0)), resultWidth(0));
}

void Counting::accumulation() {
  for (std::size_t i = 1; i < request_.shapes.operands.size(); ++i)
    read(elements(i), resultWidth(0));
  work_.kernels = 0;
}

std::optional<std::int64_t> Counting::localSize(DimId dim) const {
  const ResultRule &rule = op_.rules[0];
  for (std::size_t i = 0; i < rule.operands.size(); ++i)
    for (std::size_t d = 0; d < rule.operands[i].dims.size(); ++d)
      if (rule.operands[i].dims[d].dim == dim && d < sizes(i).size())
        return sizes(i)[d];
  for (std::size_t d = 0; d < rule.dims.size(); ++d)
    if (rule.dims[d] == dim)
      return request_.shapes.results[0][d];
  return std::nullopt;
}

double Counting::evaluate(const std::vector<Term> &terms) const {
  double sum = 0;
  for (const Term &term : terms) {
    double product = term.coefficient;
    for (DimId dim : term.factors)
      product *= static_cast<double>(
          localSize(dim).value_or(request_.model->dims[dim].size));
    sum += product;
  }
  return sum;
}

/// Formulas are in whole sizes, and straight in the number of rows.
Share Counting::userRows() const {
  for (std::size_t i = 0; i < request_.operandFills.size(); ++i)
    if (!operandFill(i).asked.isWhole())
      return operandFill(i).held;
  return {};
}

void Counting::user() {
  const UserOp &op = request_.model->userOps[op_.attributes.userOp];
  double scale = op_.kind == OpKind::UserGrad ? op.backward : 1.0;
  auto whole = [](double value) {
    return value >= 9.2e18 ? kMost
                           : static_cast<std::int64_t>(std::max(value, 0.0));
  };
  const Share rows = userRows();
  work_.flops = Flops(rows.take(whole(evaluate(op.flops) * scale)));
  if (op.bytes.empty()) {
    readOperands();
    writeResults();
    return;
  }
  std::int64_t bytes = rows.take(whole(evaluate(op.bytes) * scale));
  writeResults();
  work_.bytesWritten.value = std::min(work_.bytesWritten.value, bytes);
  work_.bytesRead = Bytes(bytes) - work_.bytesWritten;
}

Work Counting::run() {
  work_.precision = op_.attributes.compute.value_or(
      request_.operandPrecisions.empty() ? Precision::Bf16
                                         : request_.operandPrecisions[0]);
  if (op_.kind == OpKind::MatMul || op_.kind == OpKind::Router) {
    product();
    if (op_.attributes.chunkWidth > 0)
      inChunks();
  } else if (op_.kind == OpKind::Attention)
    attention(0);
  else if (op_.kind == OpKind::AttentionGrad)
    attention(1);
  else if (op_.kind == OpKind::SinkGrad)
    sinkGrad();
  else if (op_.kind == OpKind::Embed)
    embed();
  else if (op_.kind == OpKind::EmbedGrad)
    embedGrad();
  else if (op_.kind == OpKind::User || op_.kind == OpKind::UserGrad)
    user();
  else if (classOf(op_.kind) == OpClass::View)
    work_.kernels = 0;
  else if (op_.attributes.accumulated)
    accumulation();
  else if (op_.attributes.unfused && (op_.kind == OpKind::CrossEntropy ||
                                      op_.kind == OpKind::CrossEntropyGrad))
    eagerLoss();
  else if (op_.kind == OpKind::RmsNormWeightGrad ||
           op_.kind == OpKind::LayerNormWeightGrad) {
    if (op_.attributes.unfused)
      readOperands();
    writeResults();
  } else if (op_.attributes.unfused && classOf(op_.kind) == OpClass::Row)
    unfusedNorm();
  else {
    readOperands();
    writeResults();
  }
  if (op_.phase == Phase::Recompute || op_.again)
    work_.modelFlops = work_.modelFlopsFull = Flops();
  return work_;
}

} // namespace

Fill fillOf(const Value &value, const std::vector<std::int64_t> &sizes) {
  return {heldShare(value.route, value.dims, sizes), askedShare(value.route)};
}

void WorkRequest::addOperand(const Value &value,
                             std::vector<std::int64_t> sizes) {
  operandFills.push_back(fillOf(value, sizes));
  operandPrecisions.push_back(value.precision);
  shapes.operands.push_back(std::move(sizes));
}

void WorkRequest::addResult(const Value &value,
                            std::vector<std::int64_t> sizes) {
  resultFills.push_back(fillOf(value, sizes));
  resultPrecisions.push_back(value.precision);
  shapes.results.push_back(std::move(sizes));
}

Work workOf(const WorkRequest &request) { return Counting(request).run(); }

} // namespace planc::ops
