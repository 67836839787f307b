// The arguments of a verb, refused in planc's own words.
#pragma once

#include "tools/planc/Verbs.h"

#include <llvm/Support/CommandLine.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::tool {

/// The category of every option of ours; the help shows no other.
llvm::cl::OptionCategory &options();

/// Parses the arguments of one verb against the options registered so far. An
/// exit code when there is nothing left to do: help was asked for, or a message
/// said what is wrong.
std::optional<int> parseArguments(Arguments arguments,
                                  llvm::cl::SubCommand &verb);

/// What a verb takes, in words.
struct OptionText {
  std::string flag;  ///< `--plan`, `-D`
  std::string value; ///< `NAME`; empty: none
  std::string help;
};
struct VerbText {
  std::string name, summary, operand;
  std::vector<OptionText> options; ///< by flag
};

/// The verb's table of options, without running it: `run` comes as far as
/// parseArguments(). `words` as on the command line, planc first.
VerbText describe(const Verb &verb, const std::vector<const char *> &words);

/// `--NAME VALUE` of one verb. The texts must outlive it.
struct TextOption : llvm::cl::opt<std::string> {
  TextOption(llvm::cl::SubCommand &verb, const char *name,
             const char *description, const char *value)
      : llvm::cl::opt<std::string>(
            llvm::StringRef(name), llvm::cl::desc(description),
            llvm::cl::value_desc(value), llvm::cl::sub(verb),
            llvm::cl::cat(options())) {}
};
/// `-o FILE`.
struct OutputOption : TextOption {
  explicit OutputOption(llvm::cl::SubCommand &verb,
                        const char *description = "write to FILE")
      : TextOption(verb, "o", description, "FILE") {}
};

/// A word that an option may be given, and what it means.
template <class Value> struct Choice {
  std::string_view word;
  Value value;
  std::string_view ending = {}; ///< of files' names, where not the word itself
};

/// `--format is text or json, found 'yaml'`; gives kUsage.
int refuseWord(const llvm::cl::opt<std::string> &option,
               const std::vector<std::string_view> &allowed);

/// What the option's word means, its first choice if it was not given; nothing
/// after a message.
template <class Value, std::size_t N>
std::optional<Value> choose(const llvm::cl::opt<std::string> &option,
                            const std::array<Choice<Value>, N> &choices) {
  if (option.getNumOccurrences() == 0)
    return choices[0].value;
  std::vector<std::string_view> allowed;
  for (const Choice<Value> &choice : choices) {
    if (choice.word == option.getValue())
      return choice.value;
    allowed.push_back(choice.word);
  }
  refuseWord(option, allowed);
  return std::nullopt;
}

/// The word that stands for the ending of a file's name, in either case: `html`
/// for `a.html`, `A.HTM`. Empty where it stands for none.
std::string_view formOfEnding(std::string_view path);

/// `-o t.html: this verb writes chrome (.json) or svg, not html`, with the way
/// out; gives kUsage.
int refuseEnding(std::string_view path,
                 const std::vector<std::string> &allowed);

/// As choose(); where the option was not given, what the ending of `path` says.
/// An ending that stands for a form which is none of the choices is refused;
/// one that stands for none leaves the first choice.
template <class Value, std::size_t N>
std::optional<Value> chooseForm(const llvm::cl::opt<std::string> &option,
                                std::string_view path,
                                const std::array<Choice<Value>, N> &choices) {
  const std::string_view form = formOfEnding(path);
  if (option.getNumOccurrences() > 0 || form.empty())
    return choose(option, choices);
  std::vector<std::string> allowed;
  for (const Choice<Value> &choice : choices) {
    if (form == (choice.ending.empty() ? choice.word : choice.ending))
      return choice.value;
    allowed.emplace_back(choice.word);
    if (!choice.ending.empty())
      allowed.back().append(" (.").append(choice.ending).append(")");
  }
  refuseEnding(path, allowed);
  return std::nullopt;
}

} // namespace planc::tool
