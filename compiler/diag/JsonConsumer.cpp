#include "compiler/diag/Consumers.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace planc::diag {

namespace {

/// JSON is UTF-8; a message may quote a byte of the user's that is not.
std::string utf8(const std::string &text) {
  return llvm::json::isUTF8(text) ? text : llvm::json::fixUTF8(text);
}

void addPlace(llvm::json::Object &object, SourceSpan span,
              const source::SourceSet &sources) {
  if (!span.isValid())
    return;
  object["file"] = utf8(sources[span.file].name());
  object["line"] = static_cast<std::int64_t>(sources.lineColumn(span).line);
  object["column"] = static_cast<std::int64_t>(sources.lineColumn(span).column);
}

llvm::json::Object noteToJson(const Note &note,
                              const source::SourceSet &sources) {
  llvm::json::Object out{{"text", utf8(note.text)}};
  addPlace(out, note.span, sources);
  return out;
}

} // namespace

std::string toJson(const Diagnostic &d, const source::SourceSet &sources) {
  llvm::json::Array notes;
  for (const Label &label : d.labels)
    notes.push_back(noteToJson({label.text, label.span}, sources));
  for (const Note &note : d.notes)
    notes.push_back(noteToJson(note, sources));
  for (const Note &context : d.contexts)
    notes.push_back(noteToJson(context, sources));
  llvm::json::Array helps;
  for (const std::string &help : d.helps)
    helps.push_back(utf8(help));
  llvm::json::Object out{{"code", std::string(infoOf(d.kind).name)},
                         {"severity", std::string(spelling(d.severity()))},
                         {"message", utf8(d.message)},
                         {"notes", std::move(notes)},
                         {"help", std::move(helps)}};
  addPlace(out, d.span, sources);
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::json::Value(std::move(out));
  return stream.str();
}

void JsonConsumer::handle(const Diagnostic &diagnostic) {
  sink_(context_, toJson(diagnostic, *sources_));
}

} // namespace planc::diag
