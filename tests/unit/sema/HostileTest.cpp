// Texts written to hurt: each ends soon, with a diagnostic.
#include "tests/unit/Catch.h"
#include "tests/unit/sema/Elaborated.h"

#include <fmt/core.h>

using namespace planc;

namespace {

constexpr const char *kMachine = R"(
accelerator chip {
  peak   bf16 = 1000TFLOP/s
  memory 80GiB at 3TB/s
}
cluster nodes {
  accelerator chip
  level node of 8 { link 400GB/s, latency 1us }
}
)";

std::string planFor(const std::string &model, const std::string &batch = "8",
                    const std::string &length = "16") {
  return "plan p for " + model + " on nodes {\n  batch " + batch +
         " sequences of " + length +
         " tokens\n  mesh dp = rest\n  shard batch over dp\n}\n";
}

std::string modelWith(const std::string &body) {
  return "model m(hidden, vocab) {\n  x = embed(tokens, table[vocab, "
         "hidden])\n" +
         body + "\n  loss = cross_entropy(matmul(x, table))\n}\n";
}

std::vector<std::string> kindsOf(const std::string &text) {
  Elaborated found(kMachine + text);
  CAPTURE(text.substr(0, 200), found.text());
  CHECK(found.module.has_value() == !found.emitter.hasErrors());
  return found.kinds();
}

const std::string kCall = "m(hidden = 8, vocab = 16)";
using Kinds = std::vector<std::string>;

} // namespace

TEST_CASE("runaway texts end", "[hostile]") {
  // Iterations that are told apart, each with 21 operators.
  std::string chain = "silu(x)";
  for (int i = 0; i < 20; ++i)
    chain += " * x";
  CHECK(kindsOf(modelWith("  repeat 5000 as d(i) {\n    x = if i < 5 then "
                          "silu(x) else " +
                          chain + "\n  }") +
                planFor(kCall)) == Kinds{"model-too-large"});
  CHECK(kindsOf(modelWith("  repeat 5000 as d { x = silu(x) }") +
                planFor(kCall)) == Kinds());
  // Blocks that double: 2^60 calls.
  std::string blocks = "block b0(x[batch, seq, hidden]) { return silu(x) }\n";
  for (int i = 1; i <= 60; ++i) {
    blocks += fmt::format(
        "block b{}(x[batch, seq, hidden]) {{ return b{}(b{}(x)) }}\n", i, i - 1,
        i - 1);
  }
  CHECK(kindsOf(blocks + modelWith("  x = b60(x)") + planFor(kCall)) ==
        Kinds{"model-too-large"});
  // Blocks that double and do nothing.
  std::string idle = "block b0(x[batch, seq, hidden]) { return x }\n" +
                     blocks.substr(blocks.find('\n') + 1);
  Kinds found = kindsOf(idle + modelWith("  x = b60(x)") + planFor(kCall));
  CHECK(found == Kinds{"model-too-large"});
  // Lists of lists.
  std::string lists = "let a0 = 1000 * [1]\n";
  for (int i = 1; i < 10; ++i)
    lists += fmt::format("let a{} = 1000 * [a{}]\n", i, i - 1);
  CHECK(kindsOf(lists + modelWith("") +
                "plan p for m(hidden = sum(a9), vocab = 16) on nodes { mesh "
                "a = 1 }\n") == Kinds{"list-too-long"});
}

TEST_CASE("deep texts end", "[hostile]") {
  std::string sum = "x", expr = "1";
  for (int i = 0; i < 400; ++i) {
    sum = fmt::format("silu({})", sum);
    expr = fmt::format("({} + 1)", expr);
  }
  CHECK(kindsOf(modelWith("  x = " + sum) + planFor(kCall)) == Kinds());
  CHECK(kindsOf(modelWith("") +
                planFor("m(hidden = " + expr + ", vocab = 16)")) == Kinds());
  // Deep expressions in blocks inside each other.
  std::string blocks = "block b0(x[batch, seq, hidden]) { return x }\n";
  for (int i = 1; i <= 50; ++i) {
    std::string inner = fmt::format("b{}(x)", i - 1);
    for (int j = 0; j < 400; ++j)
      inner = fmt::format("silu({})", inner);
    blocks += fmt::format("block b{}(x[batch, seq, hidden]) {{ return {} }}\n",
                          i, inner);
  }
  CHECK(kindsOf(blocks + modelWith("  x = b50(x)") + planFor(kCall)) ==
        Kinds{"too-deep"});
  // A chain of constants.
  auto constant = [](int i) {
    return "let a" + std::to_string(i) + " = a" + std::to_string(i - 1) +
           " + 0\n";
  };
  std::string last = modelWith("") + planFor("m(hidden = a400, vocab = 16)");
  std::string chain = "let a0 = 8\n";
  for (int i = 1; i <= 5000; ++i)
    chain += constant(i);
  // Each is known before the next asks for it.
  CHECK(kindsOf(chain + last) == Kinds());
  chain.clear();
  for (int i = 400; i >= 1; --i)
    chain += constant(i);
  CHECK(kindsOf(chain + "let a0 = 8\n" + last) == Kinds{"too-deep"});
}

TEST_CASE("sizes that do not fit are refused", "[hostile]") {
  CHECK(kindsOf(modelWith("") +
                planFor("m(hidden = 4000000000, vocab = 4000000000)")) ==
        Kinds{"number-out-of-range"});
  CHECK(kindsOf(modelWith("") + planFor(kCall, "9000000000000000000", "16")) ==
        Kinds{"number-out-of-range"});
  CHECK(kindsOf(modelWith("") + planFor(kCall, "8", "9000000000000000000")) ==
        Kinds{"number-out-of-range"});
  CHECK(kindsOf(modelWith("") + planFor("m(hidden = 0, vocab = 16)")) ==
        Kinds{"value-out-of-range"});
  CHECK(kindsOf(modelWith("") + planFor("m(hidden = -8, vocab = 16)")) ==
        Kinds{"value-out-of-range"});
  std::string levels;
  for (int i = 0; i < 10; ++i)
    levels += fmt::format(
        "  level l{} of 1000000 {{ link 1GB/s, latency 1us }}\n", i);
  CHECK(kindsOf("cluster huge {\n  accelerator chip\n" + levels + "}\n" +
                modelWith("") + "plan p for " + kCall +
                " on huge[8] {\n  batch 8 sequences of 8 tokens\n  mesh dp = "
                "rest\n  shard batch over dp\n}\n") ==
        Kinds{"number-out-of-range"});
  CHECK(kindsOf(modelWith("") + "plan p for " + kCall +
                " on nodes {\n  batch 8 sequences of 8 tokens\n  mesh a = "
                "9000000000, b = 9000000000, c = rest\n  shard batch over a, "
                "b, c\n}\n") == Kinds{"mesh-does-not-fill"});
}

TEST_CASE("one mistake is one message", "[hostile]") {
  CHECK(kindsOf(modelWith("  y = nothing(x)\n  x = x + y\n  z = y * x\n"
                          "  x = z") +
                planFor(kCall)) == Kinds{"unknown-name"});
  CHECK(kindsOf("let width = 1 // 0\n" + modelWith("") +
                planFor("m(hidden = width, vocab = width)")) ==
        Kinds{"division-by-zero"});
}
