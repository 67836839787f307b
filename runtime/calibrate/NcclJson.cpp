// The file that nccl-tests writes with --json (version 1 of its format).
#include "runtime/calibrate/NcclTables.h"

#include <llvm/Support/Error.h>
#include <llvm/Support/JSON.h>

#include <fmt/format.h>

namespace planc::calibrate {

namespace {

namespace json = llvm::json;

/// The parser recurses; what nests deeper than a log ever does is refused
/// first.
constexpr int kDeepest = 64;

bool isTooDeep(std::string_view text) {
  int depth = 0;
  bool isString = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (isString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        isString = false;
    } else if (c == '"') {
      isString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest)
        return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

std::string_view textOf(const json::Object &object, llvm::StringRef key) {
  const auto text = object.getString(key);
  return text ? std::string_view(text->data(), text->size())
              : std::string_view();
}

void readDevices(const json::Object &config, NcclTables &tables) {
  const json::Array *devices = config.getArray("devices");
  if (devices == nullptr)
    return;
  for (const json::Value &value : *devices) {
    const json::Object *device = value.getAsObject();
    if (device == nullptr)
      continue;
    const auto rank = device->getInteger("rank");
    const auto number = device->getInteger("device");
    if (rank && number)
      tables.device({*rank, *number, textOf(*device, "hostname"),
                     textOf(*device, "device_info")});
  }
}

/// Nothing where the test did not run so.
void readTimes(const json::Object &result, llvm::StringRef key, FoundRow &row) {
  const json::Object *body = result.getObject(key);
  if (body == nullptr)
    return;
  const auto time = body->getNumber("time");
  const auto speed = body->getNumber("alg_bw");
  const auto bus = body->getNumber("bus_bw");
  if (time && speed && bus)
    row.timed.push_back({*time, *speed, *bus});
}

std::int64_t sizeOf(const json::Object &result) {
  const auto size = result.getInteger("size");
  return size ? *size : -1;
}

void readResults(const json::Array &results, NcclTables &tables) {
  std::int64_t number = 0;
  for (const json::Value &value : results) {
    ++number;
    const json::Object *result = value.getAsObject();
    FoundRow row;
    row.bytes = result == nullptr ? -1 : sizeOf(*result);
    if (row.bytes >= 0) {
      row.reduction = textOf(*result, "redop");
      const std::string_view root = textOf(*result, "root");
      if (root.find_first_of("0123456789") != std::string_view::npos)
        row.root = root.find('-') == std::string_view::npos ? 0 : -1;
      if (const Test test = testIn(textOf(*result, "experiment_name"));
          test != Test::Unknown)
        tables.test(test);
      readTimes(*result, "out_of_place", row);
      readTimes(*result, "in_place", row);
    }
    if (row.bytes < 0 || row.timed.empty())
      return tables.fail(
          LogProblemKind::BadRow, 0,
          fmt::format("result {} has no size, or no time, alg_bw and bus_bw",
                      number));
    for (const FoundRow::Timed &timed : row.timed)
      if (const auto why = whyUnsound(row.bytes, timed))
        return tables.fail(LogProblemKind::BadRow, 0,
                           fmt::format("result {}: {}", number, *why));
    tables.row(row);
  }
}

} // namespace

void readJson(const LogText &log, NcclTables &tables) {
  if (isTooDeep(log.text))
    return tables.fail(LogProblemKind::BadJson, 0,
                       fmt::format("nested more than {} deep", kDeepest));
  llvm::Expected<json::Value> parsed =
      json::parse({log.text.data(), log.text.size()});
  if (!parsed)
    return tables.fail(LogProblemKind::BadJson, 0,
                       llvm::toString(parsed.takeError()));
  const json::Object *root = parsed->getAsObject();
  const json::Array *results =
      root == nullptr ? nullptr : root->getArray("results");
  if (results == nullptr)
    return tables.fail(LogProblemKind::NoRows, 0,
                       "no `results` in the JSON object");
  tables.newTest();
  tables.date(textOf(*root, "start_time"));
  if (const json::Array *arguments = root->getArray("args");
      arguments != nullptr && !arguments->empty())
    if (const auto program = (*arguments)[0].getAsString())
      tables.test(testIn({program->data(), program->size()}));
  if (const json::Object *config = root->getObject("config"))
    readDevices(*config, tables);
  readDevices(*root, tables);
  readResults(*results, tables);
}

} // namespace planc::calibrate
