#include "compiler/sema/Program.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/Words.h"

#include "llvm/Support/Casting.h"

#include <algorithm>

namespace planc::sema {

using diag::Kind;
using source::FileId;
using source::SourceSpan;

Symbol FileScope::find(std::string_view name) const {
  auto at = names_.find(name);
  return at == names_.end() ? Symbol() : at->second;
}

Symbol FileScope::find(const ast::QualifiedName &name) const {
  if (name.isSimple())
    return find(name.first());
  auto alias = aliases_.find(name.first());
  if (name.parts.size() != 2 || alias == aliases_.end())
    return {};
  // Only what that file declares itself: names do not travel two imports.
  for (const Symbol &symbol : alias->second->own_)
    if (symbol.decl->name.text == name.last())
      return symbol;
  return {};
}

std::vector<std::string_view> FileScope::names() const {
  std::vector<std::string_view> out;
  for (const auto &[name, symbol] : names_)
    out.push_back(name);
  return out;
}

std::vector<std::string_view>
FileScope::namesUnder(std::string_view alias) const {
  std::vector<std::string_view> out;
  auto at = aliases_.find(alias);
  if (at == aliases_.end())
    return out;
  for (const Symbol &symbol : at->second->own_)
    out.push_back(symbol.decl->name.text);
  return out;
}

Symbol Program::standardTarget(std::string_view name) const {
  for (const Symbol &target : standardTargets_)
    if (target.decl->name.text == name)
      return target;
  return {};
}

std::vector<std::string_view> Program::standardTargets() const {
  std::vector<std::string_view> out;
  for (const Symbol &target : standardTargets_)
    out.push_back(target.decl->name.text);
  return out;
}

namespace {

/// Enough of a name to know it again; cut between letters of UTF-8.
std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 200;
  if (text.size() <= kMost)
    return std::string(text);
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return std::string(text.substr(0, end)) + "…";
}

std::span<const ast::Formal> formalsOf(const ast::Decl &decl) {
  if (auto *model = llvm::dyn_cast<ast::ModelDecl>(&decl))
    return model->formals;
  if (auto *block = llvm::dyn_cast<ast::BlockDecl>(&decl))
    return block->formals;
  if (auto *op = llvm::dyn_cast<ast::OpDecl>(&decl))
    return op->formals;
  if (auto *plan = llvm::dyn_cast<ast::PlanDecl>(&decl))
    return plan->formals;
  return {};
}

} // namespace

/// Depth first over imports; a file is done once all it imports are.
class ProgramLoader {
public:
  explicit ProgramLoader(const LoadContext &context)
      : context_(context), program_(std::make_unique<Program>()) {
    program_->sources_ = context.sources;
  }

  std::unique_ptr<const Program> load(FileId main) {
    std::size_t before = context_.emitter->reportedErrors();
    program_->main_ = loadFile(main);
    if (asksForTarget())
      loadTargets();
    if (!program_->main_ || context_.emitter->reportedErrors() != before)
      return nullptr;
    return std::move(program_);
  }

private:
  static constexpr std::size_t kMaxImportDepth = 200;

  const FileScope *loadFile(FileId id);
  bool asksForTarget() const;
  void loadTargets();
  void importOne(FileScope &scope, const ast::ImportDecl &import);
  std::optional<FileId> resolve(const ast::ImportDecl &import);
  void reportFailure(const ast::ImportDecl &import,
                     const source::LoadFailure &failure);
  void reportCycle(const ast::ImportDecl &import, FileId file);
  void declareOwn(FileScope &scope);
  void declare(FileScope &scope, Symbol symbol, SourceSpan place);
  bool nameIsFree(const ast::Decl &decl);
  void checkFormals(const ast::Decl &decl);

  const LoadContext &context_;
  std::unique_ptr<Program> program_;
  std::map<FileId, const FileScope *> done_;
  std::vector<FileId> open_; ///< the chain of imports being loaded
};

const FileScope *ProgramLoader::loadFile(FileId id) {
  if (auto at = done_.find(id); at != done_.end())
    return at->second;
  done_[id] = nullptr;
  const ast::File *file = context_.parse(id);
  if (!file)
    return nullptr;
  program_->files_.push_back(std::make_unique<FileScope>());
  FileScope &scope = *program_->files_.back();
  scope.file_ = file;
  declareOwn(scope);
  open_.push_back(id);
  for (const ast::Decl *decl : file->decls)
    if (auto *import = llvm::dyn_cast<ast::ImportDecl>(decl))
      importOne(scope, *import);
  open_.pop_back();
  done_[id] = &scope;
  return &scope;
}

bool ProgramLoader::asksForTarget() const {
  for (const auto &scope : program_->files_)
    for (const ast::Decl *decl : scope->file().decls)
      if (auto *plan = llvm::dyn_cast<ast::PlanDecl>(decl))
        for (const ast::Clause *clause : plan->clauses)
          if (llvm::isa<ast::TargetClause>(clause))
            return true;
  return false;
}

/// Those of std.targets, all of them: a plan's word may be a `param`.
void ProgramLoader::loadTargets() {
  for (const std::string &name : source::ImportResolver::standardNames()) {
    constexpr std::string_view kFolder = "std.targets.";
    if (name.compare(0, kFolder.size(), kFolder) != 0)
      continue;
    source::LoadResult result = context_.resolver->loadDotted(name);
    auto *id = std::get_if<FileId>(&result);
    const FileScope *file = id ? loadFile(*id) : nullptr;
    if (!file)
      continue;
    for (const Symbol &symbol : file->own())
      if (llvm::isa<ast::TargetDecl>(symbol.decl))
        program_->standardTargets_.push_back(symbol);
  }
}

void ProgramLoader::declareOwn(FileScope &scope) {
  for (const ast::Decl *decl : scope.file_->decls) {
    if (llvm::isa<ast::ImportDecl>(decl) || !nameIsFree(*decl))
      continue;
    checkFormals(*decl);
    Symbol symbol{decl, &scope};
    scope.own_.push_back(symbol);
    declare(scope, symbol, decl->name.span);
  }
}

void ProgramLoader::checkFormals(const ast::Decl &decl) {
  std::map<std::string_view, SourceSpan> seen;
  for (const ast::Formal &formal : formalsOf(decl)) {
    auto [at, isNew] = seen.emplace(formal.name.text, formal.name.span);
    if (!isNew)
      context_.emitter
          ->report(formal.name.span, Kind::NameClash,
                   "`{}` has two formals called `{}`", decl.name.text,
                   formal.name.text)
          .note(at->second, "the first is here");
  }
}

bool ProgramLoader::nameIsFree(const ast::Decl &decl) {
  std::string_view name = decl.name.text;
  bool isCalled =
      llvm::isa<ast::BlockDecl>(decl) || llvm::isa<ast::OpDecl>(decl);
  bool isTaken = isReservedWord(name) ||
                 (isCalled && (findOperator(name) || isFunction(name)));
  if (isTaken)
    context_.emitter
        ->report(decl.name.span, Kind::ReservedName,
                 "`{}` is a word of the language", name)
        .help("choose another name");
  return !isTaken;
}

void ProgramLoader::declare(FileScope &scope, Symbol symbol, SourceSpan place) {
  std::string_view name = symbol.decl->name.text;
  auto [at, isNew] = scope.names_.emplace(name, symbol);
  if (isNew || at->second.decl == symbol.decl)
    return;
  const ast::Decl &other = *at->second.decl;
  bool isImported = symbol.home != &scope;
  auto builder = context_.emitter->report(
      place, Kind::NameClash, "`{}` is {} twice", name,
      isImported ? "declared here and imported" : "declared");
  std::move(builder)
      .note(other.name.span, "one `{}` is here", name)
      .note(symbol.decl->name.span, "the other is here");
  if (isImported)
    std::move(builder).help("import it under a prefix: `… as p`, then `p.{}`",
                            name);
}

void ProgramLoader::importOne(FileScope &scope, const ast::ImportDecl &import) {
  std::optional<FileId> id = resolve(import);
  if (!id)
    return;
  if (std::find(open_.begin(), open_.end(), *id) != open_.end())
    return reportCycle(import, *id);
  if (open_.size() >= kMaxImportDepth) {
    context_.emitter->report(import.targetSpan, Kind::TooDeep,
                             "files import files {} deep", open_.size());
    return;
  }
  const FileScope *imported = loadFile(*id);
  if (!imported)
    return;
  if (!import.alias.isPresent()) {
    for (const Symbol &symbol : imported->own_)
      declare(scope, symbol, import.targetSpan);
    return;
  }
  auto [at, isNew] = scope.aliases_.emplace(import.alias.text, imported);
  if (!isNew && at->second != imported)
    context_.emitter->report(import.alias.span, Kind::NameClash,
                             "two imports are called `{}`", import.alias.text);
}

std::optional<FileId> ProgramLoader::resolve(const ast::ImportDecl &import) {
  source::LoadResult result = source::LoadFailure{};
  if (import.isFile) {
    result = context_.resolver->loadFile(import.file);
  } else {
    std::vector<std::string_view> parts;
    for (const ast::Name &part : import.path.parts)
      parts.push_back(part.text);
    result = context_.resolver->loadStandard(parts);
  }
  if (auto *id = std::get_if<FileId>(&result))
    return *id;
  reportFailure(import, std::get<source::LoadFailure>(result));
  return std::nullopt;
}

void ProgramLoader::reportFailure(const ast::ImportDecl &import,
                                  const source::LoadFailure &failure) {
  std::string_view whole = context_.sources->text(import.targetSpan);
  std::string written = shortened(whole);
  diag::Emitter &emitter = *context_.emitter;
  switch (failure.error) {
  case source::LoadError::NotFound: {
    std::vector<std::string> known =
        import.isFile ? std::vector<std::string>()
                      : source::ImportResolver::standardNames();
    std::vector<std::string_view> names(known.begin(), known.end());
    emitter
        .report(import.targetSpan, Kind::FileNotFound, "{} is not there",
                written)
        .note("{}", failure.text)
        .suggest(import.targetSpan, diag::nearestName(whole, names));
    return;
  }
  case source::LoadError::NotReadable:
    emitter
        .report(import.targetSpan, Kind::FileNotReadable, "{} cannot be read",
                written)
        .note("{}", failure.text);
    return;
  case source::LoadError::TooLarge:
    emitter
        .report(import.targetSpan, Kind::FileTooLarge, "{} is too large",
                written)
        .note("{}", failure.text);
    return;
  case source::LoadError::EscapesRoot:
    emitter
        .report(import.targetSpan, Kind::ImportEscapesRoot,
                "{} leads out of the root folder", written)
        .note("{}", failure.text)
        .help("move it below the root folder, that of the file given to planc");
    return;
  }
}

void ProgramLoader::reportCycle(const ast::ImportDecl &import, FileId file) {
  std::string chain;
  auto at = std::find(open_.begin(), open_.end(), file);
  for (; at != open_.end(); ++at)
    chain += (*context_.sources)[*at].name() + " → ";
  chain += (*context_.sources)[file].name();
  context_.emitter
      ->report(import.targetSpan, Kind::ImportCycle,
               "this import goes round in a circle")
      .note("{}", chain)
      .help("move what both need to a third file");
}

std::unique_ptr<const Program> Program::load(FileId main,
                                             const LoadContext &context) {
  return ProgramLoader(context).load(main);
}

} // namespace planc::sema
