#include "compiler/format/Directives.h"

#include "compiler/format/Measure.h"

namespace planc::format {

using syntax::TokenRole;

namespace {

constexpr std::string_view kBlanks = " \t";

bool isDirective(std::string_view comment) {
  const std::size_t word = comment.find_first_not_of(kBlanks, 1);
  return word != std::string_view::npos &&
         comment.substr(word).substr(0, 6) == "planc:";
}

/// Is there nothing before it on its line.
bool isAlone(std::string_view text, std::size_t begin) {
  const std::size_t before = begin == 0
                                 ? std::string_view::npos
                                 : text.find_last_not_of(kBlanks, begin - 1);
  return before == std::string_view::npos || text[before] == '\n' ||
         text[before] == '\r';
}

/// Where nothing is reported.
bool isPunctuation(TokenRole role) {
  return role == TokenRole::Close || role == TokenRole::OpenBlock ||
         role == TokenRole::CloseBlock || role == TokenRole::Comma;
}

class Reader {
public:
  Reader(std::string_view text, const syntax::WrittenFile &written)
      : text_(text), written_(written), measure_(text, written) {}

  std::vector<Directive> run() {
    const std::size_t count = written_.tokens.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (measure_.lineEnds(i) != 0)
        endLine();
      if (measure_.isComment(i))
        comment(i);
      else
        code(i);
    }
    endLine();
    return std::move(out_);
  }

private:
  void comment(std::size_t i) {
    if (!isDirective(measure_.text(i)))
      return;
    if (hasCode_ || isAlone(text_, written_.tokens[i].span.begin))
      waiting_.push_back(out_.size());
    out_.emplace_back();
  }

  void code(std::size_t i) {
    if (!std::exchange(hasCode_, true))
      line_.line.first = i;
    line_.line.last = i;
    if (!isPunctuation(measure_.role(i))) {
      if (!line_.isAboutSomething())
        line_.firstWord = words_;
      line_.endWord = words_ + 1;
    }
    ++words_;
  }

  void endLine() {
    if (!std::exchange(hasCode_, false))
      return;
    for (const std::size_t directive : waiting_)
      out_[directive] = line_;
    waiting_.clear();
    line_ = Directive();
  }

  std::string_view text_;
  const syntax::WrittenFile &written_;
  Measure measure_;
  std::vector<Directive> out_;
  std::vector<std::size_t> waiting_; ///< for the next line with code to end
  Directive line_;
  bool hasCode_ = false;
  std::size_t words_ = 0;
};

} // namespace

std::vector<Directive> readDirectives(std::string_view text,
                                      const syntax::WrittenFile &written) {
  return Reader(text, written).run();
}

} // namespace planc::format
