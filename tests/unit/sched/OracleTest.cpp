// Buckets against tests/data/bucket_oracle.json, which tests/oracle computes
// by looking at every partition.
#include "tests/unit/Catch.h"

#include "runtime/sched/TwoLinks.h"

#include <llvm/Support/JSON.h>

#include <fstream>
#include <sstream>

using namespace planc;
using namespace planc::sched;

namespace {

struct Case {
  std::string name;
  std::vector<Item> items;
  TwoLinks links;
  bool two = false;
  const llvm::json::Object *object = nullptr;

  std::int64_t number(llvm::StringRef key) const {
    auto value = object->getInteger(key);
    REQUIRE(value);
    return *value;
  }
  /// Sizes under `key` as ends.
  Buckets ends(llvm::StringRef key) const {
    Buckets out;
    for (const llvm::json::Value &size : *object->getArray(key))
      out.push_back((out.empty() ? 0 : out.back()) +
                    static_cast<std::size_t>(*size.getAsInteger()));
    return out;
  }
  Duration finish(const Buckets &buckets) const {
    return two ? finishOf(items, buckets, links)
               : finishOf(items, buckets, links.first);
  }
  Buckets optimal() const {
    return two ? bucketsOptimal(items, links)
               : bucketsOptimal(items, links.first);
  }
  Duration bound() const {
    return two ? bucketLowerBound(items, links)
               : bucketLowerBound(items, links.first);
  }
};

LinkCost link(std::int64_t latency, std::int64_t perByte) {
  return {Duration(latency), perByte << 30};
}

Case caseOf(const llvm::json::Object &object) {
  Case out;
  out.object = &object;
  out.name = object.getString("name")->str();
  const llvm::json::Array &ready = *object.getArray("ready");
  const llvm::json::Array &bytes = *object.getArray("bytes");
  for (std::size_t i = 0; i < ready.size(); ++i)
    out.items.push_back(
        {Duration(*ready[i].getAsInteger()), Bytes(*bytes[i].getAsInteger())});
  out.links.first = link(out.number("alpha"), out.number("beta"));
  out.two = object.getInteger("alpha2") ? true : false;
  if (out.two)
    out.links.second = link(out.number("alpha2"), out.number("beta2"));
  return out;
}

} // namespace

TEST_CASE("buckets are those of the oracle") {
  std::ifstream file(PLANC_BUCKET_ORACLE);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  llvm::Expected<llvm::json::Value> root = llvm::json::parse(text.str());
  REQUIRE(static_cast<bool>(root));
  int unique = 0, two = 0;
  for (const llvm::json::Value &value : *root->getAsArray()) {
    Case each = caseOf(*value.getAsObject());
    INFO(each.name);
    Buckets found = each.optimal();
    Duration optimum(each.number("optimum"));
    CHECK(each.finish(found) == optimum);
    CHECK(each.bound() <= optimum);
    CHECK(each.finish(bucketsOne(each.items)) ==
          Duration(each.number("one bucket")));
    if (each.object->getArray("buckets")) {
      CHECK(found == each.ends("buckets"));
      ++unique;
    }
    if (each.object->getArray("given"))
      CHECK(each.finish(each.ends("given")) ==
            Duration(each.number("given finish")));
    two += each.two;
  }
  CHECK(unique > 50);
  CHECK(two > 50);
}
