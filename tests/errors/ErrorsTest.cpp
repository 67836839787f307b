// Every file of mistakes through the whole compile, and every table of runs
// through its reader: what it says about itself
// in its comments is what is found, and the outcome follows from the kinds.
// Then the other way round: every kind has a file that expects it.
//
// usage: errors_test FOLDER
#include "compiler/diag/Kinds.h"
#include "compiler/diag/Verifier.h"
#include "compiler/driver/CheckFile.h"
#include "compiler/driver/Session.h"
#include "compiler/validate/MeasuredRow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

using namespace planc;
namespace fs = std::filesystem;

namespace {

struct Elsewhere {
  std::string_view kind;
  std::string_view why;
};

/// Kinds that no committed file can show, and the test that does.
constexpr Elsewhere kElsewhere[] = {
    {"bad-override", "is about -D: tests/text/tool/define.plan"},
    {"cannot-simulate", "has no place: tests/text/tool/outcomes.plan"},
    {"file-too-large", "needs 4 MiB: tests/errors/HostileTest.py"},
    {"internal-error", "would be a bug of planc"},
    {"too-many-tokens", "needs a large file: tests/errors/HostileTest.py"},
    {"unknown-parameter", "is about -D: tests/text/tool/define.plan"},
};

std::vector<fs::path> filesBelow(const fs::path &folder,
                                 std::string_view extension) {
  std::vector<fs::path> out;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == extension &&
        entry.path().parent_path().filename() != "imports")
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

/// The text's own mistakes first: Illegal, Unsupported, then what only a
/// report shows. Written apart from the driver's.
driver::Outcome outcomeOf(const std::vector<diag::Diagnostic> &found) {
  std::set<driver::Outcome> seen;
  for (const diag::Diagnostic &d : found) {
    const diag::KindInfo &info = diag::infoOf(d.kind);
    if (info.severity != diag::Severity::Error)
      continue;
    if (info.kind == diag::Kind::ExpectationFailed)
      seen.insert(driver::Outcome::ExpectationFailed);
    else if (info.failure == FailureKind::Illegal)
      seen.insert(driver::Outcome::Illegal);
    else if (info.failure == FailureKind::Unsupported)
      seen.insert(driver::Outcome::Unsupported);
    else
      seen.insert(info.failure == FailureKind::Infeasible
                      ? driver::Outcome::Infeasible
                      : driver::Outcome::Internal);
  }
  for (driver::Outcome outcome :
       {driver::Outcome::Internal, driver::Outcome::Illegal,
        driver::Outcome::Unsupported, driver::Outcome::Infeasible,
        driver::Outcome::ExpectationFailed})
    if (seen.contains(outcome))
      return outcome;
  return driver::Outcome::Ok;
}

struct Found {
  std::unique_ptr<driver::Session> session; ///< owns the sources
  std::vector<diag::Diagnostic> diagnostics;
  driver::Outcome outcome;
};

/// Only what a report shows needs one; check() sees every plan of a file, and
/// checkFile() what is wasted as well.
Found foundIn(const fs::path &path, const driver::Options &options) {
  const fs::path folder = path.parent_path().filename();
  if (folder == "lint") {
    driver::CheckedFile checked = driver::checkFile(options);
    return {std::move(checked.session), std::move(checked.diagnostics),
            checked.outcome};
  }
  Found out{std::make_unique<driver::Session>(options), {}, {}};
  out.outcome = folder == "driver" ? out.session->run() : out.session->check();
  out.diagnostics = out.session->diagnostics();
  return out;
}

/// One line a difference. The kinds that the file expects go to `expected`.
std::vector<std::string> differencesOf(const fs::path &path,
                                       std::set<std::string> &expected) {
  driver::Options options;
  options.file = path.string();
  options.verify = driver::Options::Verify::Each;
  const Found found = foundIn(path, options);
  const source::SourceSet &sources = found.session->sources();
  std::vector<std::string> out =
      diag::compare(source::FileId(0), sources, found.diagnostics);
  const auto &file = sources[source::FileId(0)];
  for (const diag::Expectation &one : diag::readExpectations(file).list)
    expected.insert(one.kind);
  if (diag::readExpectations(file).list.empty())
    out.push_back("expects nothing: every file here has a mistake");
  driver::Outcome follows = outcomeOf(found.diagnostics);
  if (found.outcome != follows)
    out.push_back(fmt::format("exit code {}, its kinds say {}",
                              driver::exitCode(found.outcome),
                              driver::exitCode(follows)));
  return out;
}

std::string textOf(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Of a table of measured runs, as `planc validate` reads it.
std::vector<std::string> tableDifferencesOf(const fs::path &path,
                                            std::set<std::string> &expected) {
  source::SourceSet sources;
  const source::FileId id = sources.add(path.string(), textOf(path));
  diag::CaptureConsumer captured;
  diag::Emitter emitter(captured);
  const auto rows = validate::readRows(id, sources[id], emitter);
  for (const diag::Expectation &one : diag::readExpectations(sources[id]).list)
    expected.insert(one.kind);
  std::vector<std::string> out =
      diag::compare(id, sources, captured.diagnostics);
  if (rows.has_value() == emitter.hasErrors())
    out.push_back("rows are there where errors are, or the other way round");
  return out;
}

/// Program texts are compiled by a unit test; here only what they expect.
void addProgramKinds(const fs::path &path, std::set<std::string> &expected) {
  source::SourceSet sources;
  source::FileId id = sources.add(path.string(), textOf(path));
  for (const diag::Expectation &one : diag::readExpectations(sources[id]).list)
    expected.insert(one.kind);
}

std::size_t checkCoverage(const std::set<std::string> &expected) {
  std::size_t failures = 0;
  auto fail = [&](std::string_view kind, std::string_view what) {
    fmt::print("{}: {}\n", kind, what);
    ++failures;
  };
  for (std::size_t i = 0; i < diag::kindCount(); ++i) {
    std::string_view name = diag::infoOf(static_cast<diag::Kind>(i)).name;
    bool shown = expected.contains(std::string(name));
    bool elsewhere =
        std::any_of(std::begin(kElsewhere), std::end(kElsewhere),
                    [&](const Elsewhere &other) { return other.kind == name; });
    if (!shown && !elsewhere)
      fail(name, "no file in tests/errors expects it");
    if (shown && elsewhere)
      fail(name, "has a file now: drop it from kElsewhere");
  }
  for (const Elsewhere &other : kElsewhere)
    if (!diag::kindByName(other.kind))
      fail(other.kind, "is no kind: drop it from kElsewhere");
  return failures;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return 1;
  std::set<std::string> expected;
  std::size_t failures = 0;
  std::vector<fs::path> files = filesBelow(argv[1], ".plan");
  for (const fs::path &path : files)
    for (const std::string &line : differencesOf(path, expected)) {
      fmt::print("{}: {}\n", path.string(), line);
      ++failures;
    }
  for (const fs::path &path : filesBelow(argv[1], ".csv"))
    for (const std::string &line : tableDifferencesOf(path, expected)) {
      fmt::print("{}: {}\n", path.string(), line);
      ++failures;
    }
  for (const fs::path &path : filesBelow(argv[1], ".prog"))
    addProgramKinds(path, expected);
  failures += checkCoverage(expected);
  fmt::print("{} files, {} kinds, {} failures\n", files.size(), expected.size(),
             failures);
  return failures == 0 && files.size() > 100 ? 0 : 1;
}
