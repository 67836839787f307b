#include "tests/unit/Catch.h"

#include "compiler/source/ImportResolver.h"

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

using namespace planc::source;
namespace fs = std::filesystem;

namespace {

/// A folder that is gone after the test.
class Folder {
public:
  Folder() {
    std::string path = (fs::temp_directory_path() / "planc-XXXXXX").string();
    if (::mkdtemp(path.data()))
      path_ = path;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string &name) const {
    return (path_ / name).string();
  }
  void write(const std::string &name, const std::string &text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }

private:
  fs::path path_;
};

LoadError errorOf(const LoadResult &result) {
  REQUIRE(std::holds_alternative<LoadFailure>(result));
  return std::get<LoadFailure>(result).error;
}

FileId fileOf(const LoadResult &result) {
  REQUIRE(std::holds_alternative<FileId>(result));
  return std::get<FileId>(result);
}

} // namespace

TEST_CASE("imports are found below the folder of the main file, each once") {
  Folder folder;
  folder.write("plans/main.plan", "main");
  folder.write("plans/common/c.plan", "common");
  SourceSet set;
  ImportResolver resolver(set);
  FileId main = fileOf(resolver.loadMain(folder / "plans/main.plan"));
  CHECK(set[main].text() == "main");
  CHECK(set[main].name() == folder / "plans/main.plan");
  FileId common = fileOf(resolver.loadFile("common/c.plan"));
  CHECK(set[common].text() == "common");
  CHECK(set[common].name() == folder / "plans/common/c.plan");
  CHECK(fileOf(resolver.loadFile("common/./c.plan")) == common);
  CHECK(fileOf(resolver.loadFile("main.plan")) == main);
}

TEST_CASE("nothing is read from outside the root") {
  Folder folder;
  folder.write("secret.plan", "secret");
  folder.write("root/main.plan", "main");
  fs::create_symlink(folder / "secret.plan", folder / "root/link.plan");
  fs::create_directory_symlink(folder / "", folder / "root/out");
  fs::create_symlink(folder / "root/main.plan", folder / "root/inside.plan");
  SourceSet set;
  ImportResolver resolver(set);
  fileOf(resolver.loadMain(folder / "root/main.plan"));
  for (std::string path :
       {std::string("../secret.plan"), std::string("a/../../secret.plan"),
        folder / "secret.plan", std::string("link.plan"),
        std::string("out/secret.plan"), std::string(""),
        std::string("a\0b", 3)})
    CHECK(errorOf(resolver.loadFile(path)) == LoadError::EscapesRoot);
  fileOf(resolver.loadFile("inside.plan"));
  CHECK(set.size() == 1);
}

TEST_CASE("only regular files of a sensible size are read") {
  Folder folder;
  folder.write("main.plan", "main");
  folder.write("folder/x.plan", "");
  folder.write("large.plan", std::string(SourceSet::kMaxFileBytes + 1, '#'));
  REQUIRE(::mkfifo((folder / "pipe.plan").c_str(), 0600) == 0);
  SourceSet set;
  ImportResolver resolver(set);
  fileOf(resolver.loadMain(folder / "main.plan"));
  CHECK(errorOf(resolver.loadFile("none.plan")) == LoadError::NotFound);
  CHECK(errorOf(resolver.loadFile("main.plan/x")) == LoadError::NotFound);
  CHECK(errorOf(resolver.loadFile("folder")) == LoadError::NotReadable);
  CHECK(errorOf(resolver.loadFile("pipe.plan")) == LoadError::NotReadable);
  CHECK(errorOf(resolver.loadFile("large.plan")) == LoadError::TooLarge);
  CHECK(errorOf(resolver.loadMain(folder / "gone.plan")) ==
        LoadError::NotFound);
}

TEST_CASE("files in memory come first and need no disk") {
  SourceSet set;
  ImportResolver resolver(set);
  resolver.addMemoryFile("lib/a.plan", "text");
  CHECK(set[fileOf(resolver.loadFile("lib/a.plan"))].text() == "text");
  CHECK(errorOf(resolver.loadFile("lib/b.plan")) == LoadError::NotFound);
  CHECK(errorOf(resolver.loadFile("../lib/a.plan")) == LoadError::EscapesRoot);
}

TEST_CASE("the standard library is inside") {
  SourceSet set;
  ImportResolver resolver(set);
  FileId llama = fileOf(resolver.loadStandard({"std", "models", "llama"}));
  CHECK(set[llama].name() == "std/models/llama.plan");
  CHECK(fileOf(resolver.loadStandard({"std", "models", "llama"})) == llama);
  CHECK(errorOf(resolver.loadStandard({"std", "models", "lama"})) ==
        LoadError::NotFound);
  CHECK(errorOf(resolver.loadStandard({"models", "llama"})) ==
        LoadError::NotFound);
  bool found = false;
  for (const std::string &name : ImportResolver::standardNames())
    found |= name == "std.models.llama";
  CHECK(found);
}
