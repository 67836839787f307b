#include "compiler/syntax/ParseFile.h"

#include "compiler/syntax/AstBuilder.h"
#include "compiler/syntax/CollectWritten.h"
#include "compiler/syntax/Prescan.h"
#include "compiler/syntax/SyntaxErrors.h"

namespace planc::syntax {

namespace {

using antlr4::atn::ParserATNSimulator;
using antlr4::atn::PredictionMode;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The lexer, parser and what they own, for one file.
class Parse {
public:
  Parse(source::FileId file, const source::SourceSet &sources,
        diag::Emitter &emitter)
      : sources_(sources), emitter_(emitter),
        text_(withoutMark(sources[file].text())),
        places_(file, text_,
                static_cast<std::uint32_t>(sources[file].text().size() -
                                           text_.size())),
        input_(std::string(text_)), lexer_(&input_) {}

  /// With every token as well, where `written` is asked for.
  const ast::File *run(ast::Arena &arena, WrittenFile *written) {
    std::size_t errorsBefore = emitter_.errorCount();
    lexer_.removeErrorListeners();
    FilteredTokens filtered =
        filterTokens(lexer_.getAllTokens(), places_, emitter_);
    antlr4::ListTokenSource list(std::move(filtered.tokens));
    antlr4::CommonTokenStream stream(&list);
    stream.fill();
    PlanParser parser(&stream);
    parser.removeErrorListeners();
    PlanParser::FileContext *tree = nullptr;
    if (emitter_.errorCount() == errorsBefore)
      tree = parseFast(parser);
    if (!tree)
      tree = parseReporting(parser, filtered);
    if (emitter_.errorCount() != errorsBefore)
      return nullptr;
    ast::File *built = AstBuilder(places_, sources_, arena, emitter_)
                           .build(tree, filtered.comments);
    if (emitter_.errorCount() != errorsBefore)
      return nullptr;
    if (written != nullptr)
      *written =
          collectWritten(tree, stream.getTokens(), filtered.comments, places_);
    return built;
  }

private:
  static std::string_view withoutMark(std::string_view text) {
    if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
      text.remove_prefix(kByteOrderMark.size());
    return text;
  }

  /// Null if the text is wrong or needs the slower prediction.
  static PlanParser::FileContext *parseFast(PlanParser &parser) {
    parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
    parser.getInterpreter<ParserATNSimulator>()->setPredictionMode(
        PredictionMode::SLL);
    try {
      return parser.file();
    } catch (const antlr4::ParseCancellationException &) {
      return nullptr;
    }
  }

  PlanParser::FileContext *parseReporting(PlanParser &parser,
                                          const FilteredTokens &filtered) {
    parser.getInterpreter<ParserATNSimulator>()->setPredictionMode(
        PredictionMode::LL);
    parser.reset();
    parser.setErrorHandler(
        std::make_shared<ErrorStrategy>(filtered, places_, emitter_));
    return parser.file();
  }

  const source::SourceSet &sources_;
  diag::Emitter &emitter_;
  std::string_view text_;
  TokenPlaces places_;
  antlr4::ANTLRInputStream input_;
  PlanLexer lexer_;
};

} // namespace

const ast::File *parseFile(source::FileId file,
                           const source::SourceSet &sources, ast::Arena &arena,
                           diag::Emitter &emitter) {
  if (prescan(file, sources, emitter) == PrescanVerdict::Refused)
    return nullptr;
  return Parse(file, sources, emitter).run(arena, nullptr);
}

std::optional<WrittenFile> parseWritten(source::FileId file,
                                        const source::SourceSet &sources,
                                        ast::Arena &arena,
                                        diag::Emitter &emitter) {
  if (prescan(file, sources, emitter) == PrescanVerdict::Refused)
    return std::nullopt;
  WrittenFile out;
  out.file = Parse(file, sources, emitter).run(arena, &out);
  if (out.file == nullptr)
    return std::nullopt;
  return out;
}

} // namespace planc::syntax
