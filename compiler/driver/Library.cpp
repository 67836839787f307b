#include "compiler/driver/Library.h"

#include "compiler/diag/Consumers.h"
#include "compiler/diag/Emitter.h"
#include "compiler/syntax/ParseFile.h"

namespace planc::driver {

Library::Library() {
  source::ImportResolver resolver(sources_);
  addTo(resolver);
  diag::CaptureConsumer captured;
  diag::Emitter emitter(captured);
  for (std::size_t i = 0; i < sources_.size(); ++i)
    files_.push_back(
        syntax::parseFile(source::FileId(i), sources_, arena_, emitter));
}

void Library::addTo(source::ImportResolver &resolver) {
  for (const std::string &name : source::ImportResolver::standardNames())
    resolver.loadDotted(name);
}

const ast::File *Library::find(source::FileId file) const {
  return file.index() < files_.size() ? files_[file.index()] : nullptr;
}

} // namespace planc::driver
