#include "compiler/validate/Csv.h"

#include "compiler/diag/Kinds.h"
#include "compiler/source/SourceSet.h"
#include "compiler/validate/Words.h"

namespace planc::validate {

namespace {

class Reader {
public:
  Reader(source::FileId id, std::string_view text, diag::Emitter &emitter)
      : id_(id), text_(text), emitter_(&emitter) {}

  std::optional<CsvTable> read() {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF")
      at_ = 3;
    if (!isText())
      return std::nullopt;
    CsvTable table;
    bool hasHeader = false;
    while (skipToRow()) {
      std::vector<CsvField> row;
      if (!readRow(row))
        return std::nullopt;
      if (hasHeader)
        table.rows.push_back(std::move(row));
      else
        table.header = std::move(row);
      hasHeader = true;
    }
    if (!hasHeader) {
      emitter_->report(spanFrom(0), diag::Kind::CsvEmpty,
                       "there is no row of column names");
      return std::nullopt;
    }
    return table;
  }

private:
  bool isText() {
    std::size_t bad = text_.find('\0');
    if (const auto invalid = source::firstInvalidUtf8(text_))
      bad = std::min(bad, *invalid);
    if (bad == std::string_view::npos)
      return true;
    emitter_
        ->report(spanOf(bad, bad + 1), diag::Kind::CsvCharacter,
                 "a byte that is no text")
        .help("the table is read as UTF-8 without NUL");
    return false;
  }

  bool isEnd() const { return at_ >= text_.size(); }
  bool isLineEnd() const {
    return isEnd() || text_[at_] == '\n' || text_[at_] == '\r';
  }
  void skipLineEnd() {
    if (!isEnd() && text_[at_] == '\r')
      ++at_;
    if (!isEnd() && text_[at_] == '\n')
      ++at_;
  }

  /// To the first byte of the next row; false at the end of the text.
  bool skipToRow() {
    while (!isEnd()) {
      const std::size_t begin = at_;
      while (!isEnd() && (text_[at_] == ' ' || text_[at_] == '\t'))
        ++at_;
      if (!isEnd() && text_[at_] == '#')
        while (!isLineEnd())
          ++at_;
      if (!isLineEnd()) {
        at_ = begin;
        return true;
      }
      skipLineEnd();
    }
    return false;
  }

  bool readRow(std::vector<CsvField> &row) {
    while (true) {
      if (row.size() == kMostColumns) {
        emitter_->report(spanFrom(at_), diag::Kind::CsvTooLarge,
                         "more than {} columns", kMostColumns);
        return false;
      }
      CsvField field;
      if (!readField(field))
        return false;
      row.push_back(std::move(field));
      if (isLineEnd()) {
        skipLineEnd();
        return true;
      }
      ++at_; // the comma
    }
  }

  bool readField(CsvField &field) {
    const std::size_t begin = at_;
    std::size_t quote = at_;
    while (quote < text_.size() &&
           (text_[quote] == ' ' || text_[quote] == '\t'))
      ++quote;
    const bool isQuoted = quote < text_.size() && text_[quote] == '"';
    if (isQuoted) {
      at_ = quote;
      if (!readQuoted(field.text))
        return false;
    } else {
      while (!isLineEnd() && text_[at_] != ',')
        ++at_;
      field.text = std::string(trimmed(text_.substr(begin, at_ - begin)));
    }
    field.span = spanOf(begin, at_);
    if (field.text.size() <= kMostFieldBytes)
      return true;
    emitter_->report(field.span, diag::Kind::CsvTooLarge,
                     "a field of {} bytes, {} are read", field.text.size(),
                     kMostFieldBytes);
    return false;
  }

  /// From the quote that opens to the comma or line end after the one that
  /// closes.
  bool readQuoted(std::string &out) {
    const std::size_t open = at_++;
    while (true) {
      if (isEnd()) {
        emitter_
            ->report(spanOf(open, open + 1), diag::Kind::CsvNotClosed,
                     "this quote is not closed")
            .help("a quote inside quotes is written twice");
        return false;
      }
      if (text_[at_] != '"') {
        out.push_back(text_[at_++]);
        continue;
      }
      ++at_;
      if (isEnd() || text_[at_] != '"')
        break;
      out.push_back('"');
      ++at_;
    }
    while (!isLineEnd() && (text_[at_] == ' ' || text_[at_] == '\t'))
      ++at_;
    if (isLineEnd() || text_[at_] == ',')
      return true;
    emitter_
        ->report(spanOf(at_, at_ + 1), diag::Kind::CsvNotClosed,
                 "text after the quote that closes a field")
        .help("a quote inside quotes is written twice");
    return false;
  }

  source::SourceSpan spanOf(std::size_t begin, std::size_t end) const {
    return {id_, static_cast<std::uint32_t>(begin),
            static_cast<std::uint32_t>(std::min(end, text_.size()))};
  }
  source::SourceSpan spanFrom(std::size_t begin) const {
    return spanOf(begin, begin + 1);
  }

  source::FileId id_;
  std::string_view text_;
  diag::Emitter *emitter_;
  std::size_t at_ = 0;
};

} // namespace

std::optional<CsvTable> readCsv(source::FileId id,
                                const source::SourceFile &file,
                                diag::Emitter &emitter) {
  return Reader(id, file.text(), emitter).read();
}

std::string csvField(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos)
    return std::string(text);
  std::string out = "\"";
  for (char c : text) {
    if (c == '"')
      out.push_back('"');
    out.push_back(c);
  }
  return out + "\"";
}

} // namespace planc::validate
