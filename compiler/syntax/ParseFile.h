// From a file's text to its AST: the only door to ANTLR.
#pragma once

#include "compiler/ast/Ast.h"
#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"

namespace planc::syntax {

/// Null if anything was reported as an error; then as many mistakes as could be
/// told apart were reported, each once. Otherwise every node is complete. Takes
/// any bytes. `sources` and `arena` must outlive the AST.
const ast::File *parseFile(source::FileId file,
                           const source::SourceSet &sources, ast::Arena &arena,
                           diag::Emitter &emitter);

} // namespace planc::syntax
