#include "compiler/diag/Emitter.h"

#include "compiler/diag/Kinds.h"
#include "compiler/source/Shorten.h"

namespace planc::diag {

namespace {

/// A name of a megabyte is the user's, not to be repeated whole.
void shorten(std::string &text) { source::shorten(text, 2000); }

void shortenTexts(Diagnostic &diagnostic) {
  shorten(diagnostic.message);
  for (Label &label : diagnostic.labels)
    shorten(label.text);
  for (Note &note : diagnostic.notes)
    shorten(note.text);
  for (std::string &help : diagnostic.helps)
    shorten(help);
  for (Note &context : diagnostic.contexts)
    shorten(context.text);
}

} // namespace

Builder::~Builder() {
  if (emitter_)
    emitter_->emit(std::move(diagnostic_));
}

Builder &Builder::suggest(SourceSpan span,
                          std::optional<std::string_view> near) {
  if (!near)
    return *this;
  return help("did you mean `{}`?", *near).fix(span, std::string(*near));
}

void Emitter::emit(Diagnostic diagnostic) {
  reportedErrors_ += diagnostic.severity() == Severity::Error;
  const SourceSpan &span = diagnostic.span;
  std::uint64_t range = (std::uint64_t(span.begin) << 32) | span.end;
  if (span.isValid() &&
      !seen_.insert({diagnostic.kind, {span.file, range}}).second)
    return;
  diagnostic.contexts.assign(contexts_.rbegin(), contexts_.rend());
  if (diagnostic.severity() == Severity::Error) {
    failures_.insert(infoOf(diagnostic.kind).failure);
    if (++errors_ > options_.maxErrors) {
      ++suppressed_;
      return;
    }
  }
  shortenTexts(diagnostic);
  consumer_->handle(diagnostic);
}

FailureKind Emitter::failure() const {
  for (FailureKind kind : {FailureKind::Internal, FailureKind::Illegal,
                           FailureKind::Unsupported, FailureKind::Infeasible})
    if (failures_.contains(kind))
      return kind;
  return FailureKind::Internal;
}

void Emitter::finish() {
  if (suppressed_ != 0)
    consumer_->handleSuppressed(std::exchange(suppressed_, 0));
}

ContextScope::ContextScope(Emitter &emitter, SourceSpan span, std::string text)
    : emitter_(&emitter) {
  emitter_->contexts_.push_back({std::move(text), span});
}

ContextScope::~ContextScope() { emitter_->contexts_.pop_back(); }

} // namespace planc::diag
