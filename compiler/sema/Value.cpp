#include "compiler/sema/Value.h"

#include <fmt/core.h>

namespace planc::sema {

namespace {

template <class... Ts> struct Overloaded : Ts... { using Ts::operator()...; };
template <class... Ts> Overloaded(Ts...) -> Overloaded<Ts...>;

std::string describeList(const std::vector<Value> &items) {
  constexpr std::size_t kShown = 8;
  std::string out = "[";
  for (std::size_t i = 0; i < items.size() && i < kShown; ++i)
    out += (i ? ", " : "") + describe(items[i]);
  return out + (items.size() > kShown ? ", …]" : "]");
}

std::string_view nameOfDecl(ast::DeclKind kind) {
  switch (kind) {
  case ast::DeclKind::Import:
    return "an import";
  case ast::DeclKind::Let:
    return "a constant";
  case ast::DeclKind::Param:
    return "a parameter";
  case ast::DeclKind::Accelerator:
    return "an accelerator";
  case ast::DeclKind::Cluster:
    return "a cluster";
  case ast::DeclKind::Block:
    return "a block";
  case ast::DeclKind::Op:
    return "an operator";
  case ast::DeclKind::Model:
    return "a model";
  case ast::DeclKind::Plan:
    return "a plan";
  case ast::DeclKind::Target:
    return "a target";
  }
  return "a declaration";
}

} // namespace

std::string counted(std::int64_t count, std::string_view noun,
                    std::string_view plural) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : plural);
}

std::string describeType(const Value &value) {
  return std::visit(
      Overloaded{
          [](const Poison &) -> std::string { return "nothing"; },
          [](std::int64_t) -> std::string { return "an integer"; },
          [](double) -> std::string { return "a real number"; },
          [](bool) -> std::string { return "true or false"; },
          [](const std::string &) -> std::string { return "a text"; },
          [](const Quantity &q) { return toString(q.dimension); },
          [](const Word &) -> std::string { return "a word"; },
          [](const List &) -> std::string { return "a list"; },
          [](const Range &) -> std::string { return "a range"; },
          [](const Tensor &) -> std::string { return "a tensor"; },
          [](const Tuple &) -> std::string { return "several tensors"; },
          [](const ModelValue &) -> std::string { return "a model"; },
          [](const ClusterValue &) -> std::string { return "a cluster"; },
          [](const DeclValue &d) {
            return std::string(nameOfDecl(d.decl->kind));
          },
      },
      value.v);
}

std::string describe(const Value &value) {
  return std::visit(
      Overloaded{
          [](std::int64_t n) { return fmt::format("{}", n); },
          [](double r) {
            std::string text = fmt::format("{:.6g}", r);
            bool whole = text.find_first_of(".en") == std::string::npos;
            return whole ? text + ".0" : text;
          },
          [](bool b) -> std::string { return b ? "true" : "false"; },
          [](const std::string &t) { return fmt::format("\"{}\"", t); },
          [](const Quantity &q) {
            return formatQuantity(q.value, q.dimension);
          },
          [](const Word &w) { return std::string(w.text); },
          [](const List &l) { return describeList(*l.items); },
          [](const Range &r) { return fmt::format("{}..{}", r.low, r.high); },
          [](const DeclValue &d) { return std::string(d.decl->name.text); },
          [&](const auto &) { return describeType(value); },
      },
      value.v);
}

std::optional<double> numberOf(const Value &value) {
  if (auto *n = value.as<std::int64_t>())
    return static_cast<double>(*n);
  if (auto *r = value.as<double>())
    return *r;
  if (auto *q = value.as<Quantity>())
    return q->value;
  return std::nullopt;
}

Dimension dimensionOf(const Value &value) {
  auto *q = value.as<Quantity>();
  return q ? q->dimension : kNoDimension;
}

bool sameValue(const Value &a, const Value &b) {
  if (a.isNumber() && b.isNumber()) {
    auto *x = a.as<std::int64_t>();
    auto *y = b.as<std::int64_t>();
    if (x && y)
      return *x == *y;
    return dimensionOf(a) == dimensionOf(b) && *numberOf(a) == *numberOf(b);
  }
  if (a.v.index() != b.v.index())
    return false;
  if (auto *x = a.as<bool>())
    return *x == *b.as<bool>();
  if (auto *x = a.as<std::string>())
    return *x == *b.as<std::string>();
  if (auto *x = a.as<Word>())
    return x->text == b.as<Word>()->text;
  if (auto *x = a.as<Range>())
    return x->low == b.as<Range>()->low && x->high == b.as<Range>()->high;
  auto *x = a.as<List>();
  if (!x || x->items->size() != b.as<List>()->items->size())
    return false;
  for (std::size_t i = 0; i < x->items->size(); ++i)
    if (!sameValue((*x->items)[i], (*b.as<List>()->items)[i]))
      return false;
  return true;
}

} // namespace planc::sema
