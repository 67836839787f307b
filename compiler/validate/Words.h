// Words of a table and of the library's files, made comparable.
#pragma once

#include <string>
#include <string_view>

namespace planc::validate {

/// A name in lower case, `_` for what is neither letter nor digit: `Tokens/s`
/// as `tokens_s`.
std::string wordOf(std::string_view text);

/// An accelerator's letters and digits without its vendor: `NVIDIA
/// A100-SXM4-80GB` as `a100sxm480gb`.
std::string lettersOf(std::string_view text);

/// True if `words` stands in the text and is no part of longer words: `A100` in
/// `A100-SXM4`, not in `A1000`.
bool hasWords(std::string_view text, std::string_view words);

/// Without blanks and tabs at its ends.
std::string_view trimmed(std::string_view text);

/// A comment of a plan: lines of at most 90 bytes or so, broken at blanks.
std::string commentOf(std::string_view text);

} // namespace planc::validate
