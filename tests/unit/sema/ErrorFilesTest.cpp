#include "compiler/diag/Kinds.h"
#include "tests/unit/Catch.h"
#include "tests/unit/sema/Elaborated.h"

#include "compiler/diag/Verifier.h"

#include <algorithm>
#include <filesystem>
#include <set>

using namespace planc;

namespace {

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> out;
  for (const auto &entry : std::filesystem::directory_iterator(PLANC_ERRORS))
    if (entry.path().extension() == ".plan")
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

TEST_CASE("each file of mistakes gives what it says", "[errors]") {
  REQUIRE(files().size() > 50);
  for (const auto &path : files()) {
    auto found = Elaborated::file(path.string());
    CAPTURE(path, found->text());
    std::vector<diag::Diagnostic> reported = found->captured.diagnostics;
    CHECK(diag::compare(found->id, found->sources, reported) ==
          std::vector<std::string>());
  }
}

TEST_CASE("every kind of sema has a file that shows it", "[errors]") {
  // Overrides stand in no file: OverridesTest.
  std::set<diag::Kind> shown = {diag::Kind::UnknownParameter,
                                diag::Kind::BadOverride};
  for (const auto &path : files()) {
    auto found = Elaborated::file(path.string());
    for (const diag::Diagnostic &d : found->captured.diagnostics)
      shown.insert(d.kind);
  }
  std::string missing;
  for (std::size_t i = 0; i < diag::kindCount(); ++i) {
    const diag::KindInfo &info = diag::infoOf(static_cast<diag::Kind>(i));
    if (info.stage == diag::Stage::Sema && !shown.contains(info.kind))
      missing += std::string(info.name) + " ";
  }
  CHECK(missing == "");
}
