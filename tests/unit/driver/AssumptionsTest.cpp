// What a page says that fields of the hardware rest on: the comments beside and
// above them.
#include "tests/unit/Catch.h"

#include "compiler/driver/Session.h"

#include <map>

using namespace planc;

namespace {

constexpr std::string_view kHead = R"(language 1
import std.models.gpt
)";

constexpr std::string_view kTail = R"(  units   108   # beside
  power   400W

  # After an empty line.
  matmul_efficiency  60%
}
cluster small {
  accelerator chip
  level node of 8 {
    link        300GB/s
    latency     1.9us
    efficiency  77.5%
  }
}
plan p for gpt2_small on small[8] {
  batch  64 sequences of 1024 tokens, micro 8 sequences
  mesh   dp = rest
  shard  batch over dp
}
)";

/// The comment of each field of `chip`, whose lines begin with `fields`.
std::map<std::string, std::string> sourcesOf(const std::string &fields) {
  driver::Options options;
  options.file = "assumptions.plan";
  options.text = std::string(kHead);
  *options.text += "accelerator chip {\n";
  *options.text += fields;
  *options.text += kTail;
  driver::Session session(options);
  session.run();
  for (const diag::Diagnostic &d : session.diagnostics())
    UNSCOPED_INFO(d.message);
  REQUIRE(session.outcome() == driver::Outcome::Ok);
  std::map<std::string, std::string> out;
  for (const report::Assumption &row : session.assumptions())
    if (row.of == "accelerator chip")
      out[row.name] = row.source;
  return out;
}

constexpr std::string_view kPeak = "  peak    bf16 = 312TFLOP/s\n";
constexpr std::string_view kMemory = "  memory  80GiB at 2TB/s\n";

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (std::string_view part : parts)
    out += part;
  return out;
}

} // namespace

TEST_CASE("assumptions: a comment speaks for the fields that follow") {
  auto found = sourcesOf(
      joined({"  # One,\n  #\n  # two.\n", kPeak, "  # Three.\n", kMemory}));
  CHECK(found["peak"] == "One, two.");
  CHECK(found["memory"] == "Three.");
  CHECK(found["units"] == "beside");
  CHECK(found["power"] == "Three.");
  CHECK(found["matmul_efficiency"] == "After an empty line.");

  found = sourcesOf(joined({kPeak, "  # {\n", kMemory}));
  CHECK(found["peak"].empty());
  CHECK(found["memory"].empty());
}

TEST_CASE("assumptions: a long comment is cut") {
  std::string lines;
  for (int i = 0; i < 40'000; ++i)
    lines += "  # é some of a long text\n";
  auto found = sourcesOf(joined({lines, kPeak, kMemory}));
  CHECK(found["peak"].starts_with("é some of a long text é some"));
  CHECK(found["peak"].ends_with("…"));
  CHECK(found["peak"].size() <= 403);
  CHECK(found["peak"].size() >= 398);
  CHECK(found["power"] == found["peak"]);

  const std::string beside(100'000, 'x');
  found = sourcesOf(
      joined({"  peak    bf16 = 312TFLOP/s  # ", beside, "\n", kMemory}));
  CHECK(found["peak"].size() == 403);
}
