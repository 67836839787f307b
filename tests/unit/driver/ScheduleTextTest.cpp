#include "tests/unit/Catch.h"

#include "compiler/diag/Consumers.h"
#include "compiler/driver/Session.h"
#include "compiler/syntax/ReadProgram.h"
#include "compiler/syntax/ReadSchedule.h"
#include "tests/unit/sim/RandomPrograms.h"

#include <algorithm>
#include <filesystem>
#include <random>

using namespace planc;

namespace {

struct Read {
  std::optional<sim::IssueOrder> order;
  diag::CaptureConsumer diagnostics;

  Read(const std::string &text, const program::ProgramSet &set) {
    source::SourceSet sources;
    const source::FileId file = sources.add("test.schedule", text);
    diag::Emitter emitter(diagnostics);
    order = syntax::readSchedule(file, sources, set, emitter);
  }
  std::string firstMessage() const {
    return diagnostics.diagnostics.empty() ? ""
                                           : diagnostics.diagnostics[0].message;
  }
};

void requireSame(const sim::IssueOrder &order, const program::ProgramSet &set) {
  const std::string text = toText(order, set);
  const Read read(text, set);
  INFO(read.firstMessage());
  REQUIRE(read.order);
  CHECK(toText(*read.order, set) == text);
  CHECK(read.order->overlap == order.overlap);
  CHECK(read.order->orders == order.orders);
  for (program::RankClassId id : set.classes.ids()) {
    const sim::ClassIssue &a = order.classes[id], &b = read.order->classes[id];
    CHECK(a.extra == b.extra);
    REQUIRE(a.forms.size() == b.forms.size());
    for (std::size_t i = 0; i < a.forms.size(); ++i)
      CHECK((a.forms[i].task == b.forms[i].task &&
             a.forms[i].order == b.forms[i].order));
    for (const auto &[one, other] : {std::pair(&a.reduces, &b.reduces),
                                     std::pair(&a.gathers, &b.gathers)}) {
      REQUIRE(one->size() == other->size());
      for (std::size_t i = 0; i < one->size(); ++i)
        CHECK(((*one)[i].pieces == (*other)[i].pieces &&
               (*one)[i].bytes == (*other)[i].bytes &&
               (*one)[i].after == (*other)[i].after &&
               (*one)[i].hold == (*other)[i].hold));
    }
  }
}

/// Each block in another order, about half of the runs in it.
sim::IssueOrder reordered(sim::IssueOrder order, const program::ProgramSet &set,
                          std::uint32_t seed) {
  std::mt19937 lot(seed);
  for (program::BlockId id : set.blocks.ids()) {
    const auto &code = set.blocks[id].instructions;
    std::vector<std::uint32_t> chosen;
    std::vector<char> done(code.size());
    while (chosen.size() < code.size()) {
      std::vector<std::uint32_t> ready;
      for (std::uint32_t i = 0; i < code.size(); ++i)
        if (!done[i] &&
            std::all_of(code[i].deps.begin(), code[i].deps.end(),
                        [&](std::uint32_t dep) { return done[dep] != 0; }))
          ready.push_back(i);
      chosen.push_back(ready[lot() % ready.size()]);
      done[chosen.back()] = 1;
    }
    order.orders.push_back({id, chosen});
  }
  for (program::RankClassId id : set.classes.ids()) {
    sim::ClassIssue &issue = order.classes[id];
    for (program::TaskId task : set.classes[id].tasks.ids())
      if (const program::Task &run = set.classes[id].tasks[task];
          run.kind == program::TaskKind::Run && lot() % 2 == 0)
        issue.forms.push_back({task, run.block.index()});
    issue.extra = extraOf(issue, order.orders, set);
  }
  return order;
}

planc::test::RandomProgram randomProgram(std::uint32_t seed) {
  planc::test::RandomPrograms random(seed, {});
  return random.make();
}

} // namespace

TEST_CASE("schedule text: what is printed reads as the same, at random") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    const auto program = randomProgram(seed);
    requireSame(sim::programIssue(program.set), program.set);
    requireSame(
        reordered(sim::frameworkIssue(program.set, {}), program.set, seed),
        program.set);
    requireSame(planc::test::withHolds(sim::frameworkIssue(program.set, {}),
                                       program.set, seed),
                program.set);
  }
}

TEST_CASE("schedule text: of every example, read under its program's text") {
  std::size_t found = 0;
  for (const auto &entry :
       std::filesystem::recursive_directory_iterator(PLANC_EXAMPLES)) {
    if (entry.path().extension() != ".plan" ||
        entry.path().parent_path().filename() == "common")
      continue;
    INFO(entry.path().string());
    driver::Options options;
    options.file = entry.path().string();
    driver::Session programs(options), schedules(options);
    const auto program = programs.emit(driver::Stage::Program);
    const auto schedule = schedules.emit(driver::Stage::Schedule);
    REQUIRE(program);
    REQUIRE(schedule);
    source::SourceSet sources;
    const source::FileId file = sources.add("example.prog", *program);
    diag::CaptureConsumer diagnostics;
    diag::Emitter emitter(diagnostics);
    const auto set = syntax::readProgram(file, sources, emitter);
    REQUIRE(set);
    const Read read(*schedule, *set);
    INFO(read.firstMessage());
    REQUIRE(read.order);
    CHECK(toText(*read.order, *set) == *schedule);
    ++found;
  }
  CHECK(found >= 12);
}

TEST_CASE("schedule text: cut, changed and mixed up, it reads or says why") {
  const auto program = randomProgram(7);
  const std::string text =
      toText(reordered(sim::frameworkIssue(program.set, {}), program.set, 7),
             program.set);
  const auto check = [&](const std::string &other) {
    const Read read(other, program.set);
    if (read.order.has_value() != read.diagnostics.diagnostics.empty())
      FAIL("neither an order nor an error, or both, for: " << other);
  };
  const std::size_t step = std::max<std::size_t>(1, text.size() / 300);
  std::mt19937 lot(7);
  for (std::size_t at = 0; at < text.size(); at += step) {
    check(text.substr(0, at));
    std::string changed = text;
    changed[at] = "0987[]{}=\"\n# a-:\\,"[lot() % 18];
    check(changed);
  }
  const auto says = [&](std::string from, const std::string &to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const Read read(changed, program.set);
    REQUIRE(!read.order);
    return read.firstMessage();
  };
  CHECK(says("schedule", "program") == "expected `schedule`, found `program`");
  CHECK(says("form ", "from ") == "there is no line of a class `from`");
  CHECK(says("overlap=allowed", "overlap=alowed") ==
        "there is no overlap `alowed`");
  CHECK(says(" index=0", " index=4000000000").substr(0, 2) == "I4");
  CHECK(says("task=", "task=99999").substr(0, 2) == "I5");
  CHECK(says("pieces=[0]", "pieces=[0] hold=99999").substr(0, 2) == "I7");
}
