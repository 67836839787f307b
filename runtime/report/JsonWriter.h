// What all JSON of planc's is written with.
#pragma once

#include "runtime/report/NumberText.h"

#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace planc::report {

/// llvm's stream with our rules for numbers, in the words of the schema.
class Json {
public:
  explicit Json(llvm::raw_ostream &out) : json_(out, 2) {}

  template <class Body> void object(Body body) { json_.object(body); }
  template <class Body> void object(std::string_view key, Body body) {
    json_.attributeObject(llvm::StringRef(key), body);
  }
  template <class Rows, class Body>
  void array(std::string_view key, const Rows &rows, Body body) {
    json_.attributeArray(llvm::StringRef(key), [&] {
      for (const auto &row : rows)
        json_.object([&] { body(row); });
    });
  }

  void text(std::string_view key, std::string_view value) {
    json_.attribute(llvm::StringRef(key),
                    llvm::json::fixUTF8(llvm::StringRef(value)));
  }
  void texts(std::string_view key, const std::vector<std::string> &values) {
    json_.attributeArray(llvm::StringRef(key), [&] {
      for (const std::string &value : values)
        json_.value(llvm::json::fixUTF8(llvm::StringRef(value)));
    });
  }
  void boolean(std::string_view key, bool value) {
    json_.attribute(llvm::StringRef(key), value);
  }
  void integer(std::string_view key, Int128 value) { raw(key, digits(value)); }
  void bytes(std::string_view key, Bytes value) { integer(key, value.value); }
  void seconds(std::string_view key, Duration value) {
    raw(key, exactSeconds(value));
  }
  void number(std::string_view key, double value) {
    raw(key, jsonNumber(value));
  }
  void raw(std::string_view key, const std::string &value) {
    json_.attributeBegin(llvm::StringRef(key));
    json_.rawValue(value);
    json_.attributeEnd();
  }

private:
  llvm::json::OStream json_;
};

/// One object, two spaces of indentation, ended by a newline.
template <class Body> std::string written(Body body) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  {
    Json json(stream);
    json.object([&] { body(json); });
  }
  stream << '\n';
  return std::move(stream.str());
}

} // namespace planc::report
