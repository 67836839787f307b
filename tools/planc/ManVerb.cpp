// planc man: the manual page, made from the tables of options.
#include "tools/planc/Terminal.h"
#include "tools/planc/VerbTexts.h"

#include <fmt/format.h>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

/// That begins at `i`, which is left at its last byte.
unsigned codePoint(std::string_view text, std::size_t &i) {
  const auto first = static_cast<unsigned char>(text[i]);
  unsigned out = first & (first < 0xE0 ? 0x1F : first < 0xF0 ? 0x0F : 0x07);
  while (i + 1 < text.size() &&
         (static_cast<unsigned char>(text[i + 1]) & 0xC0) == 0x80)
    out = out << 6 | (static_cast<unsigned char>(text[++i]) & 0x3F);
  return out;
}

/// Text of a line: no control line, hyphens as such, ASCII.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c < 0x80)
      out += text[i];
    else
      out += fmt::format("\\[u{:04X}]", codePoint(text, i));
  }
  if (!out.empty() && (out[0] == '.' || out[0] == '\''))
    out = "\\&" + out;
  return out;
}

constexpr std::string_view kStatus = R"(.SH EXIT STATUS
.TP
.B 0
fine
.TP
.B 1
usage or environment
.TP
.B 2
the text or the plan is illegal
.TP
.B 3
an expectation, a denied lint, or a file that is not in the one style
.TP
.B 4
does not fit in memory
.TP
.B 5
unsupported
.TP
.B 70
internal error
.SH ENVIRONMENT
.TP
.B NO_COLOR
no colour, if set and not empty
)";

std::string page() {
  std::string out = fmt::format(
      ".TH PLANC 1 \"\" \"planc {}\"\n.SH NAME\nplanc \\- a compiler for plans "
      "that train large models\n.SH SYNOPSIS\n.B planc\n.I FILE\n.br\n.B "
      "planc\n.I VERB\n[options] \\fIFILE\\fR\\[u2026]\n.SH "
      "DESCRIPTION\nPredicts step "
      "time, MFU, bubble, exposed communication and memory of training a model "
      "on a cluster under a plan, all three described in .plan files, and says "
      "why. Without a verb: \\fBreport\\fR.\n.SH VERBS\n",
      PLANC_VERSION);
  for (const VerbText &verb : verbTexts()) {
    out += fmt::format(".SS planc {} {}\n{}\n", roff(verb.name),
                       roff(verb.operand), roff(verb.summary));
    for (const OptionText &option : verb.options)
      out += fmt::format(".TP\n.BI {} \" {}\"\n{}\n", roff(option.flag),
                         roff(option.value), roff(option.help));
  }
  return out + std::string(kStatus);
}

struct ManOptions {
  cl::SubCommand verb{"man", "the manual page: planc man | man -l -"};
};

} // namespace

std::vector<VerbText> verbTexts() {
  std::vector<VerbText> out;
  for (const Verb &verb : allVerbs()) {
    if (verb.name == "calibrate") {
      out.push_back({std::string(verb.name),
                     std::string(verb.summary),
                     std::string(verb.operand),
                     {}});
      for (const char *half : {"cluster", "step"})
        out.push_back(describe(verb, {"planc", "calibrate", half}));
      continue;
    }
    const std::string name(verb.name);
    VerbText text;
    if (name != "version") // prints, whatever it is given
      text = describe(verb, {"planc", name.c_str()});
    text.name = name;
    text.summary = verb.summary;
    text.operand = verb.operand;
    out.push_back(std::move(text));
  }
  return out;
}

int runMan(Arguments arguments) {
  static ManOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  return writeOutput("", page()) ? 0 : kUsage;
}

} // namespace planc::tool
