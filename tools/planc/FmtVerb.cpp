// planc fmt FILE…: the one style.
#include "compiler/diag/Consumers.h"
#include "compiler/driver/Session.h"
#include "compiler/format/Format.h"
#include "compiler/format/UnifiedDiff.h"
#include "compiler/source/ImportResolver.h"
#include "tools/planc/CommandLine.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/ReplaceFile.h"
#include "tools/planc/Terminal.h"

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

struct FmtOptions {
  cl::SubCommand verb{"fmt", "write files in the one style"};
  cl::list<std::string> files{cl::Positional, cl::ZeroOrMore,
                              cl::desc("FILE… | -"), cl::sub(verb),
                              cl::cat(options())};
  cl::opt<bool> diff{"d", cl::desc("print what would change, as a diff"),
                     cl::sub(verb), cl::cat(options())};
  cl::opt<bool> write{"w", cl::desc("write back what changes"), cl::sub(verb),
                      cl::cat(options())};
  cl::opt<bool> check{"check",
                      cl::desc("list files that differ; exit status 3"),
                      cl::sub(verb), cl::cat(options())};

  bool toOutput() const { return !diff && !write && !check; }
};

constexpr std::string_view kStandardInput = "<stdin>";

/// One file on its way; what is printed comes at the end.
class Formatter {
public:
  explicit Formatter(const FmtOptions &options) : options_(options) {}

  void run(const std::string &path) {
    source::SourceSet sources;
    const auto file = load(path, sources);
    if (!file)
      return;
    diag::CaptureConsumer captured;
    diag::Emitter emitter(captured);
    const auto made = format::format(*file, sources, emitter);
    if (made)
      take(path, sources[*file], *made);
    else
      refuse(captured, sources, emitter);
  }

  int finish() {
    return writeOutput("", output_) ? code_ : driver::worseExit(code_, kUsage);
  }

private:
  void fail(int code) { code_ = driver::worseExit(code_, code); }

  std::optional<source::FileId> load(const std::string &path,
                                     source::SourceSet &sources) {
    std::string why;
    if (path == "-") {
      const auto buffer = llvm::MemoryBuffer::getSTDIN();
      if (buffer)
        return sources.add(std::string(kStandardInput),
                           (*buffer)->getBuffer().str());
      why = buffer.getError().message();
    } else if (why = whyUnreadable(path); why.empty()) {
      const source::LoadResult loaded =
          source::ImportResolver(sources).loadMain(path);
      if (const auto *id = std::get_if<source::FileId>(&loaded))
        return *id;
      why = std::get<source::LoadFailure>(loaded).text;
    }
    fail(usageError("cannot read '" + path + "': " + why));
    return std::nullopt;
  }

  void refuse(const diag::CaptureConsumer &captured,
              const source::SourceSet &sources, diag::Emitter &emitter) {
    emitter.finish();
    std::string text;
    llvm::raw_string_ostream stream(text);
    diag::ConsoleConsumer console(stream, sources,
                                  wantsColor(Channel::Error)
                                      ? diag::Colour::Always
                                      : diag::Colour::Never);
    for (const diag::Diagnostic &diagnostic : captured.diagnostics)
      console.handle(diagnostic);
    writeError(stream.str());
    fail(driver::exitCode(emitter.failure() == FailureKind::Internal
                              ? driver::Outcome::Internal
                              : driver::Outcome::Illegal));
  }

  void take(const std::string &path, const source::SourceFile &file,
            const std::string &made) {
    if (options_.toOutput()) {
      output_ += made;
      return;
    }
    if (made == file.text())
      return;
    if (options_.check) {
      output_ += options_.diff ? "" : file.name() + "\n";
      fail(driver::exitCode(driver::Outcome::ExpectationFailed));
    }
    if (options_.diff)
      output_ += format::unifiedDiff(file.name(), file.text(), made);
    if (!options_.write)
      return;
    if (const std::string why = replaceFile(path, made); !why.empty())
      fail(usageError("cannot write '" + path + "': " + why));
  }

  const FmtOptions &options_;
  std::string output_;
  int code_ = 0;
};

} // namespace

int runFmt(Arguments arguments) {
  static FmtOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  if (options.files.empty())
    return usageError("no FILE given; `planc fmt -` reads standard input");
  if (options.write && options.check)
    return usageError("-w writes and --check does not: one of them");
  bool isInput = false;
  for (const std::string &file : options.files) {
    if (file == "-" && (options.write || std::exchange(isInput, true)))
      return usageError(options.write ? "-w wants files, found `-`"
                                      : "`-` is given twice");
  }
  Formatter formatter(options);
  for (const std::string &file : options.files)
    formatter.run(file);
  return formatter.finish();
}

} // namespace planc::tool
