#include "compiler/syntax/AstBuilder.h"

#include "compiler/diag/Kinds.h"

namespace planc::syntax {

using diag::Kind;
using source::SourceSpan;

SourceSpan AstBuilder::spanOf(const Context *context) const {
  const antlr4::Token *stop = context->stop ? context->stop : context->start;
  return places_.span(*context->start, *stop);
}

SourceSpan AstBuilder::spanOf(antlr4::tree::TerminalNode *node) const {
  return places_.span(*node->getSymbol());
}

ast::Name AstBuilder::name(PlanParser::NameContext *context) {
  if (!context)
    return {};
  SourceSpan span = spanOf(context);
  return {text(span), span};
}

std::span<const ast::Name>
AstBuilder::names(PlanParser::NameListContext *context) {
  return each<ast::Name>(context->name(), [&](auto *c) { return name(c); });
}

ast::QualifiedName
AstBuilder::qualified(PlanParser::QualifiedNameContext *context) {
  return {each<ast::Name>(context->name(), [&](auto *c) { return name(c); }),
          spanOf(context)};
}

ast::Dimensions AstBuilder::dimensions(PlanParser::DimensionsContext *context) {
  std::vector<ast::Name> names;
  std::size_t barAt = 0;
  for (PlanParser::DimensionListContext *list : context->dimensionList()) {
    barAt = names.size();
    for (PlanParser::ExprContext *item : list->expr()) {
      auto *named = dynamic_cast<PlanParser::NameExprContext *>(item);
      if (!named) {
        emitter_
            .report(spanOf(item), Kind::ExpressionAsDimension,
                    "`{}` stands where a dimension's name should",
                    text(spanOf(item)))
            .help("name it first: `let wide = {}`, then `[wide]`",
                  text(spanOf(item)));
        continue;
      }
      ast::QualifiedName path = qualified(named->qualifiedName());
      if (!path.isSimple())
        emitter_.report(path.span, Kind::DottedName,
                        "a dimension of a tensor has a name without dots");
      names.push_back(path.parts.front());
    }
  }
  return {arena_.copy(names), barAt, spanOf(context)};
}

std::string_view AstBuilder::unquoted(SourceSpan span) {
  std::string_view inner = text({span.file, span.begin + 1, span.end - 1});
  if (inner.find('\\') == std::string_view::npos)
    return inner;
  std::string out;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    char c = inner[i];
    if (c != '\\' || i + 1 == inner.size()) {
      out += c;
      continue;
    }
    char escaped = inner[++i];
    if (escaped == 'n' || escaped == 't') {
      out += escaped == 'n' ? '\n' : '\t';
    } else {
      auto at = static_cast<std::uint32_t>(span.begin + i);
      if (escaped != '"' && escaped != '\\') {
        emitter_
            .report({span.file, at, at + 2}, Kind::UnknownEscape,
                    "a backslash stands before `\"`, `\\`, `n` or `t` only")
            .fix({span.file, at, at + 1}, "\\\\");
        return inner;
      }
      out += escaped;
    }
  }
  return arena_.copy(std::string_view(out));
}

ast::File *AstBuilder::build(PlanParser::FileContext *context,
                             const std::vector<SourceSpan> &comments) {
  auto *file = arena_.make<ast::File>();
  file->file = places_.file();
  std::vector<const ast::Decl *> decls;
  bool isFirst = true;
  for (PlanParser::TopLevelContext *item : context->topLevel()) {
    if (auto *line = dynamic_cast<PlanParser::LanguageLineContext *>(item))
      language(line, isFirst, *file);
    else
      decls.push_back(decl(item));
    isFirst = false;
  }
  file->decls = arena_.copy(decls);
  std::vector<ast::Comment> trivia;
  for (SourceSpan span : comments)
    trivia.push_back({span});
  file->comments = arena_.copy(trivia);
  return file;
}

} // namespace planc::syntax
