// planc completions SHELL: made from the tables of options.
#include "tools/planc/CommandLine.h"
#include "tools/planc/Terminal.h"
#include "tools/planc/VerbTexts.h"

#include <fmt/format.h>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

/// The words of `text, json or markdown`; nothing where the help is a sentence.
std::vector<std::string> wordsOf(const OptionText &option) {
  if (option.flag != "--format" && option.flag != "--color")
    return {};
  std::string text = option.help.substr(option.help.find(':') + 1);
  if (option.help.find(':') == std::string::npos)
    text = option.help;
  std::vector<std::string> out;
  std::string word;
  for (char c : text + " ") {
    if (c >= 'a' && c <= 'z') {
      word += c;
      continue;
    }
    if (c == '(') // what a word means
      break;
    if (!word.empty() && word != "or")
      out.push_back(word);
    word.clear();
  }
  if (option.flag == "--color")
    return {"auto", "always", "never"};
  return out;
}

std::string joined(const std::vector<std::string> &words,
                   std::string_view between) {
  std::string out;
  for (const std::string &word : words)
    out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text)
    out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string bash(const std::vector<VerbText> &verbs) {
  std::string names, flags, values;
  for (const VerbText &verb : verbs) {
    if (verb.name.find(' ') == std::string::npos)
      names += (names.empty() ? "" : " ") + verb.name;
    std::string words;
    for (const OptionText &option : verb.options) {
      words += " " + option.flag;
      if (const auto known = wordsOf(option); !known.empty())
        values += fmt::format("    '{} {}') words='{}' ;;\n", verb.name,
                              option.flag, joined(known, " "));
    }
    flags += fmt::format("    '{}') words='--help{}' ;;\n", verb.name, words);
  }
  return fmt::format(
      R"(# planc completions bash, made by `planc completions bash`
_planc() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local verb=${{COMP_WORDS[1]}} words=
  if [[ $verb == calibrate && $COMP_CWORD -gt 2 ]]; then
    verb="calibrate ${{COMP_WORDS[2]}}"
  fi
  if [[ $COMP_CWORD == 1 ]]; then
    COMPREPLY=($(compgen -W '{0}' -- "$current") $(compgen -f -X '!*.plan' -- "$current"))
    return
  fi
  case "$verb $before" in
{2}  esac
  if [[ -z $words && $current == -* ]]; then
    case "$verb" in
{1}    esac
  fi
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _planc planc
)",
      names, flags, values);
}

/// A text inside of `[ ]`, or before a `:`.
std::string zshText(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '[' || c == ']' || c == ':' || c == '\\'
               ? "\\" + std::string(1, c)
               : std::string(1, c);
  return out;
}

std::string zsh(const std::vector<VerbText> &verbs) {
  std::string names, cases;
  for (const VerbText &verb : verbs) {
    if (verb.name.find(' ') == std::string::npos)
      names += "    " + quoted(zshText(verb.name) + ":" + verb.summary) + "\n";
    std::string options;
    for (const OptionText &option : verb.options) {
      std::string one = "*" + option.flag + "[" + zshText(option.help) + "]";
      if (!option.value.empty()) {
        const auto words = wordsOf(option);
        one += ":" + zshText(option.value) + ":" +
               (words.empty() ? "_files" : "(" + joined(words, " ") + ")");
      }
      options += " \\\n        " + quoted(one);
    }
    cases +=
        fmt::format("    {}) _arguments{} \\\n        '*:file:_files' ;;\n",
                    quoted(verb.name), options);
  }
  return fmt::format(R"(#compdef planc
# made by `planc completions zsh`
_planc() {{
  local -a verbs
  verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    _files -g '*.plan'
    return
  fi
  local verb=$words[2]
  [[ $verb == calibrate ]] && verb="calibrate $words[3]"
  shift words
  (( CURRENT-- ))
  case $verb in
{}    *) _files ;;
  esac
}}
_planc "$@"
)",
                     names, cases);
}

std::string fish(const std::vector<VerbText> &verbs) {
  std::string out = "# made by `planc completions fish`\n";
  for (const VerbText &verb : verbs) {
    const std::size_t space = verb.name.find(' ');
    const std::string first = verb.name.substr(0, space);
    if (space == std::string::npos)
      out += fmt::format(
          "complete -c planc -n __fish_use_subcommand -a {} -d {}\n", verb.name,
          quoted(verb.summary));
    for (const OptionText &option : verb.options) {
      const bool isLong = option.flag.rfind("--", 0) == 0;
      const auto words = wordsOf(option);
      out += fmt::format(
          "complete -c planc -n '__fish_seen_subcommand_from {}' {} {} -d {}{}"
          "\n",
          first, isLong ? "-l" : "-s", option.flag.substr(isLong ? 2 : 1),
          quoted(option.help),
          option.value.empty() ? ""
          : words.empty()      ? " -r"
                               : " -x -a " + quoted(joined(words, " ")));
    }
  }
  return out;
}

struct CompletionsOptions {
  cl::SubCommand verb{"completions", "what a shell completes of planc's words"};
  cl::opt<std::string> shell{cl::Positional, cl::desc("bash|zsh|fish"),
                             cl::sub(verb), cl::cat(options())};
};

} // namespace

int runCompletions(Arguments arguments) {
  static CompletionsOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const std::string &shell = options.shell;
  if (shell != "bash" && shell != "zsh" && shell != "fish")
    return usageError(
        "completions wants bash, zsh or fish" +
        (shell.empty() ? std::string() : ", found '" + shell + "'"));
  const std::vector<VerbText> verbs = verbTexts();
  return writeOutput("", shell == "bash"  ? bash(verbs)
                         : shell == "zsh" ? zsh(verbs)
                                          : fish(verbs))
             ? 0
             : kUsage;
}

} // namespace planc::tool
