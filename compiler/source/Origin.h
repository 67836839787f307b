// Where something came from: a span, and what asked for it.
#pragma once

#include "compiler/source/SourceFile.h"
#include "runtime/base/Table.h"

namespace planc::source {

/// A chain of places: a bucket ← `decoder[17].wq` ← `llama.plan:12:5` ← the
/// plan's own line. `parent` is the place that asked for this one.
struct Origin {
  SourceSpan span;
  OriginId parent;
};

/// Every place one compile refers to. Append-only; not thread-safe to add to.
class OriginTable {
public:
  OriginId add(SourceSpan span, OriginId parent = OriginId()) {
    return origins_.add({span, parent});
  }
  const Origin &operator[](OriginId id) const { return origins_[id]; }
  std::size_t size() const { return origins_.size(); }

private:
  Table<OriginId, Origin> origins_;
};

} // namespace planc::source
