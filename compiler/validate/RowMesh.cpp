#include "compiler/validate/RowMesh.h"

#include "runtime/base/Quantity.h"

#include <fmt/format.h>

namespace planc::validate {

std::int64_t ways(const MeasuredRow &row, Column column) {
  return row.count(column).value_or(1);
}

std::variant<Mesh, NotExpressed> meshOf(const MeasuredRow &row) {
  Mesh mesh;
  mesh.pp = ways(row, Column::Pp);
  mesh.cp = ways(row, Column::Cp);
  mesh.tp = ways(row, Column::Tp);
  const std::int64_t ep = ways(row, Column::Ep);
  const std::int64_t all = *row.count(Column::Accelerators);
  const Int128 model = Int128(mesh.pp) * mesh.cp * mesh.tp;
  if (model > all || all % static_cast<std::int64_t>(model) != 0)
    return NotExpressed{
        fmt::format("tp {} × cp {} × pp {} do not divide {} accelerators",
                    mesh.tp, mesh.cp, mesh.pp, all)};
  mesh.dp = all / static_cast<std::int64_t>(model);
  if (const auto dp = row.count(Column::Dp); dp && *dp != mesh.dp)
    return NotExpressed{
        fmt::format("dp {} × tp {} × cp {} × pp {} are not {} accelerators",
                    *dp, mesh.tp, mesh.cp, mesh.pp, all)};
  // Experts are not cut by tensor parallelism here (its size for them is 1), so
  // that a group of experts spans that axis first.
  if (ep > 1 && ep % mesh.tp != 0)
    return NotExpressed{fmt::format(
        "ep {} is no multiple of tp {}: experts that span part of the tensor "
        "axis cannot be written",
        ep, mesh.tp)};
  mesh.ep = ep > 1 ? ep / mesh.tp : 1;
  if (mesh.dp % mesh.ep != 0)
    return NotExpressed{
        fmt::format("ep {} does not fold out of dp {}", ep, mesh.dp)};
  mesh.dp /= mesh.ep;
  return mesh;
}

std::optional<Zero> zeroOf(const std::string &text) {
  const std::string word = wordOf(text);
  if (word.empty() || word == "0" || word == "none" || word == "no" ||
      word == "ddp" || word == "false")
    return Zero{};
  if (word == "1" || word == "zero1" || word == "zero_1" || word == "true")
    return Zero{1, 0};
  if (word == "2" || word == "zero2" || word == "zero_2")
    return Zero{2, 0};
  if (word == "3" || word == "zero3" || word == "zero_3" || word == "fsdp" ||
      word == "full_shard")
    return Zero{3, 0};
  // Gradients are whole while micro-batches are added up: torch's FSDP with
  // set_requires_gradient_sync(False) until the last.
  if (word == "fsdp_no_sync")
    return Zero{4, 0};
  constexpr std::string_view kHybrid = "hybrid_";
  if (word.rfind(kHybrid, 0) != 0 || word.size() > kHybrid.size() + 9)
    return std::nullopt;
  Zero zero{3, 0};
  for (char c : word.substr(kHybrid.size())) {
    if (c < '0' || c > '9')
      return std::nullopt;
    zero.within = 10 * zero.within + (c - '0');
  }
  return zero.within > 0 ? std::optional(zero) : std::nullopt;
}

} // namespace planc::validate
