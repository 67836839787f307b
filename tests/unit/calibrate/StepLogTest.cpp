#include "runtime/calibrate/StepLog.h"
#include "tests/unit/Catch.h"

using namespace planc;
using namespace planc::calibrate;

namespace {
StepLog read(std::string_view text) { return readStepLog({"t.log", text}); }
} // namespace

TEST_CASE("steps of megatron-lm: milliseconds, and its own rate") {
  const StepLog log =
      read("iteration 1/ 9 | elapsed time per iteration (ms): 9000.0 | "
           "throughput per GPU (TFLOP/s/GPU): 20.0 |\n"
           "iteration 2/ 9 | elapsed time per iteration (ms): 500.0 | "
           "throughput per GPU (TFLOP/s/GPU): 401.5 |\n"
           "iteration 3/ 9 | elapsed time per iteration (ms): 520.0 | "
           "throughput per GPU (TFLOP/s/GPU): 400.5 |\n");
  REQUIRE_FALSE(log.error);
  CHECK(log.form == StepForm::Megatron);
  const Steps steps = stepsOf(log, 1);
  CHECK(steps.skipped == 1);
  CHECK(steps.counted == 2);
  CHECK(toSeconds(steps.median) == Approx(0.51));
  CHECK(*steps.teraflops == Approx(400.5));
}

TEST_CASE("steps of torchtitan: tokens a second and accelerator") {
  const StepLog log =
      read("\x1b[31mstep:  1  \x1b[34mtps: 5,000  \x1b[36mtflops: 1,033.50\n"
           "step:  2  loss: 1  tps: 10,000  tflops: 333.50  mfu: 33.7%\n");
  REQUIRE_FALSE(log.error);
  CHECK(log.areTokens);
  CHECK(log.values == std::vector<double>{5000, 10000});
  CHECK(toSeconds(stepsOf(log, 20000).median) == Approx(3));
  CHECK(log.teraflops[0] == 1033.5);
}

TEST_CASE("nemo and plain lines") {
  CHECK(read("| train_step_timing in s=5.18, loss=2\n").values ==
        std::vector<double>{5.18});
  CHECK(read("train_step_timing in s: 1.5\n").form == StepForm::Nemo);
  CHECK(read("step_time=820ms\n").values[0] == Approx(0.82));
  CHECK(read("step_time=1.5 tokens\nstep_time: 1.5\nstep_time=2s").values ==
        std::vector<double>{1.5, 2});
}

TEST_CASE("no steps, absurd ones, damaged lines") {
  for (std::string_view text :
       {"", "nothing\n", "step_time=\n", "step_time=abc\n", "step_time=-3\n",
        "step_time=nan\n", "step_time=1e300\n", " tps: ,,,\n",
        "elapsed time per iteration (ms):"}) {
    const StepLog log = read(text);
    REQUIRE(log.error);
    CHECK(codeOf(log.error->kind) == "log-no-steps");
  }
  CHECK(read(std::string(kLargestLog + 1, 'x')).error->kind ==
        LogProblemKind::TooLarge);
}
