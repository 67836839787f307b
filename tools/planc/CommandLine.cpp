#include "tools/planc/CommandLine.h"

#include "compiler/diag/Emitter.h"
#include "tools/planc/Terminal.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <map>
#include <set>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

constexpr int kUnsupported = 5;

/// `--peak`, `-D`.
std::string flagOf(std::string_view name) {
  return (name.size() == 1 ? "-" : "--") + std::string(name);
}

/// `--peak RATE`, `-D name=value`.
std::string spellingOf(const cl::Option &option) {
  std::string out = flagOf(option.ArgStr.str());
  if (!option.ValueStr.empty())
    out += " " + option.ValueStr.str();
  return out;
}

/// `a, b or c`.
std::string oneOf(const std::vector<std::string_view> &words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0)
      out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

bool isOurs(const cl::Option &option) {
  return llvm::is_contained(option.Categories, &options());
}

/// Options by name, as a help or a message may list them.
std::map<std::string, const cl::Option *> visibleOptions(cl::SubCommand &verb) {
  std::map<std::string, const cl::Option *> out;
  for (const auto &entry : cl::getRegisteredOptions(verb)) {
    const cl::Option &option = *entry.second;
    if (option.getOptionHiddenFlag() == cl::NotHidden && isOurs(option))
      out[option.ArgStr.str()] = &option;
  }
  return out;
}

std::string helpOf(cl::SubCommand &verb) {
  constexpr std::size_t kTextColumn = 20;
  std::string operand;
  std::map<std::string, std::string> rows;
  for (const auto &[name, option] : visibleOptions(verb))
    rows[spellingOf(*option)] = option->HelpStr.str();
  for (const cl::Option *option : verb.PositionalOpts)
    operand += " " + option->HelpStr.str();
  std::string out = "planc " + verb.getName().str() + ": " +
                    verb.getDescription().str() + "\n\nusage: planc " +
                    verb.getName().str() + operand +
                    (rows.empty() ? "\n" : " [options]\n\noptions\n");
  for (const auto &[spelling, text] : rows) {
    std::string head = "  " + spelling;
    head.resize(std::max(head.size() + 2, kTextColumn), ' ');
    out += head + text + "\n";
  }
  return out;
}

/// Set while a verb is asked for its options instead of run.
VerbText *describing = nullptr;

VerbText textOf(cl::SubCommand &verb) {
  VerbText out{verb.getName().str(), verb.getDescription().str(), "", {}};
  for (const cl::Option *option : verb.PositionalOpts)
    out.operand += (out.operand.empty() ? "" : " ") + option->HelpStr.str();
  for (const auto &[name, option] : visibleOptions(verb))
    out.options.push_back(
        {flagOf(name), option->ValueStr.str(), option->HelpStr.str()});
  return out;
}

bool asksForHelp(Arguments arguments) {
  for (int i = 2; i < arguments.count; ++i) {
    const std::string_view argument = arguments.values[i];
    if (argument == "--help" || argument == "-h")
      return true;
  }
  return false;
}

/// Reads the arguments as llvm::cl will, only to say what is wrong with them.
class Reader {
public:
  Reader(Arguments arguments, cl::SubCommand &verb)
      : arguments_(arguments), verb_(verb),
        registered_(cl::getRegisteredOptions(verb)) {}

  /// An exit code after a message.
  std::optional<int> refuse() {
    bool optionsEnded = false;
    for (at_ = 2; at_ < arguments_.count; ++at_) {
      const std::string_view argument = arguments_.values[at_];
      std::optional<int> code;
      if (!optionsEnded && argument == "--")
        optionsEnded = true;
      else if (!optionsEnded && argument.size() > 1 && argument[0] == '-')
        code = refuseOption(argument);
      else
        code = refuseOperand(argument);
      if (code)
        return code;
    }
    return std::nullopt;
  }

private:
  const cl::Option *find(std::string_view name) const {
    const auto at = registered_.find(llvm::StringRef(name.data(), name.size()));
    return at != registered_.end() && isOurs(*at->second) ? at->second
                                                          : nullptr;
  }

  std::optional<int> refuseOption(std::string_view argument) {
    const std::string_view text = argument.substr(argument[1] == '-' ? 2 : 1);
    const std::string_view name = text.substr(0, text.find('='));
    bool hasValue = name.size() < text.size();
    const cl::Option *option = find(name);
    if (option == nullptr && !name.empty()) {
      option = find(name.substr(0, 1));
      hasValue = true;
      if (option != nullptr && option->getFormattingFlag() != cl::Prefix)
        option = nullptr;
    }
    if (option == nullptr)
      return noSuchOption(argument.substr(0, argument.find('=')), name);
    const bool wantsValue =
        option->getValueExpectedFlag() == cl::ValueRequired && !hasValue;
    if (wantsValue && ++at_ >= arguments_.count)
      return usageError("a value is missing: " + spellingOf(*option));
    const bool isRepeated = !seen_.insert(option).second;
    if (isRepeated && option->getNumOccurrencesFlag() == cl::Optional)
      return usageError(flagOf(option->ArgStr.str()) + " is given twice");
    return std::nullopt;
  }

  int noSuchOption(std::string_view typed, std::string_view name) const {
    std::string text = "no option '" + std::string(typed) + "'";
    std::vector<std::string> flags;
    std::vector<std::string_view> names, all;
    for (const auto &[known, option] : visibleOptions(verb_)) {
      names.push_back({option->ArgStr.data(), option->ArgStr.size()});
      flags.push_back(flagOf(known));
    }
    all.assign(flags.begin(), flags.end());
    const auto near =
        name.size() > 1 ? diag::nearestName(name, names) : std::nullopt;
    if (near)
      text += "; did you mean " + flagOf(*near) + "?";
    else if (!all.empty())
      text += "; planc " + verb_.getName().str() + " takes " + oneOf(all);
    return usageError(text);
  }

  std::optional<int> refuseOperand(std::string_view argument) {
    const auto &operands = verb_.PositionalOpts;
    if (operands.empty())
      return usageError("planc " + verb_.getName().str() +
                        " takes nothing, found '" + std::string(argument) +
                        "'");
    const std::string what = operands[0]->HelpStr.str();
    const bool takesInput = what.ends_with("| -");
    if (argument == "-" && what.rfind("FILE", 0) == 0 && !takesInput) {
      usageError("`-`, a plan from standard input, is not supported yet");
      return kUnsupported;
    }
    if (operands[0]->getNumOccurrencesFlag() == cl::ZeroOrMore)
      return std::nullopt;
    if (!operand_)
      operand_ = argument;
    else
      return usageError("one " + what + " at a time, found '" +
                        std::string(*operand_) + "' and '" +
                        std::string(argument) + "'");
    return std::nullopt;
  }

  Arguments arguments_;
  cl::SubCommand &verb_;
  llvm::StringMap<cl::Option *> &registered_;
  int at_ = 2;
  std::set<const cl::Option *> seen_;
  std::optional<std::string_view> operand_;
};

/// The lines of llvm::cl's message under our own name, without its hint to a
/// help that lists something else.
std::string plainMessage(const std::string &text) {
  std::string out = text;
  for (std::string_view hint : {"  Try: ", ": See: "}) {
    const std::size_t at = out.find(hint);
    if (at != std::string::npos)
      out.erase(at, out.find('\n', at) - at);
  }
  return out;
}

} // namespace

cl::OptionCategory &options() {
  static cl::OptionCategory category("options");
  return category;
}

VerbText describe(const Verb &verb, const std::vector<const char *> &words) {
  VerbText out;
  describing = &out;
  verb.run({static_cast<int>(words.size()), words.data()});
  describing = nullptr;
  return out;
}

std::optional<int> parseArguments(Arguments arguments, cl::SubCommand &verb) {
  if (describing != nullptr) {
    *describing = textOf(verb);
    return 0;
  }
  if (asksForHelp(arguments))
    return writeOutput("", helpOf(verb)) ? 0 : kUsage;
  if (const auto code = Reader(arguments, verb).refuse())
    return code;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (cl::ParseCommandLineOptions(arguments.count, arguments.values, "",
                                  &stream))
    return std::nullopt;
  writeError(plainMessage(stream.str()));
  return kUsage;
}

std::string_view formOfEnding(std::string_view path) {
  static constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {"md", "markdown"}, {"markdown", "markdown"},
      {"html", "html"},   {"htm", "html"},
      {"svg", "svg"},     {"json", "json"},
      {"sarif", "sarif"}, {"csv", "csv"}};
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos)
    return "";
  std::string ending(path.substr(dot + 1));
  for (char &c : ending)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto &[known, form] : kEndings)
    if (ending == known)
      return form;
  return "";
}

int refuseEnding(std::string_view path,
                 const std::vector<std::string> &allowed) {
  return usageError("-o " + std::string(path) + ": this verb writes " +
                    oneOf({allowed.begin(), allowed.end()}) + ", not " +
                    std::string(formOfEnding(path)) +
                    "; with --format FORM it writes any of them to any name");
}

int refuseWord(const cl::opt<std::string> &option,
               const std::vector<std::string_view> &allowed) {
  return usageError(flagOf(option.ArgStr.str()) + " is " + oneOf(allowed) +
                    ", found '" + option.getValue() + "'");
}

} // namespace planc::tool
