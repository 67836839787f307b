// A text parsed with its imports and elaborated, with what was reported.
#pragma once

#include "compiler/diag/Consumers.h"
#include "compiler/sema/Elaborate.h"
#include "compiler/syntax/ParseFile.h"

#include <map>
#include <string>
#include <vector>

namespace planc {

struct Elaborated {
  source::SourceSet sources;
  source::ImportResolver resolver{sources};
  ast::Arena arena;
  diag::CaptureConsumer captured;
  diag::Emitter emitter{captured};
  source::OriginTable origins;
  source::FileId id;
  std::unique_ptr<const sema::Program> program;
  std::optional<sema::Module> module;

  explicit Elaborated(std::string text, sema::ElaborateRequest request = {},
                      const std::map<std::string, std::string> &files = {}) {
    for (const auto &[path, content] : files)
      resolver.addMemoryFile(path, content);
    id = sources.add("test.plan", std::move(text));
    run(request);
  }

  /// The file at `path`, imports looked for beside it; every plan of it.
  static std::unique_ptr<Elaborated> file(const std::string &path) {
    return std::unique_ptr<Elaborated>(new Elaborated(OfFile{path}));
  }

  const ops::Model &model() const { return module->model; }
  const sema::Plan &plan() const { return module->plan; }
  /// The names of what was reported, in order.
  std::vector<std::string> kinds() const {
    std::vector<std::string> out;
    for (const diag::Diagnostic &d : captured.diagnostics)
      out.emplace_back(diag::infoOf(d.kind).name);
    return out;
  }
  /// Everything reported, for messages of tests.
  std::string text() const {
    std::string out;
    for (const diag::Diagnostic &d : captured.diagnostics) {
      out += std::string(diag::infoOf(d.kind).name) + ": " + d.message + "\n";
      for (const diag::Note &note : d.notes)
        out += "  note: " + note.text + "\n";
      for (const std::string &help : d.helps)
        out += "  help: " + help + "\n";
    }
    return out;
  }
  const ops::Body *body(std::string_view name) const {
    for (const ops::Body &each : module->model.bodies)
      if (each.name == name)
        return &each;
    return nullptr;
  }
  const ops::Weight *weight(std::string_view name) const {
    for (const ops::Weight &each : module->model.weights)
      if (each.name == name)
        return &each;
    return nullptr;
  }
  const ops::Dim *dim(std::string_view fullName) const {
    for (const ops::Dim &each : module->model.dims)
      if (ops::fullName(each) == fullName)
        return &each;
    return nullptr;
  }

private:
  struct OfFile {
    const std::string &path;
  };
  explicit Elaborated(OfFile file) {
    id = std::get<source::FileId>(resolver.loadMain(file.path));
    run({});
    if (!program)
      return;
    for (const sema::PlanInfo &plan : sema::plansOf(*program, origins))
      if (!plan.hasFormals)
        sema::elaborate(*program, {plan.name, {}}, origins, emitter);
  }
  void run(const sema::ElaborateRequest &request) {
    sema::LoadContext context{&sources, &resolver,
                              [this](source::FileId file) {
                                return syntax::parseFile(file, sources, arena,
                                                         emitter);
                              },
                              &emitter};
    program = sema::Program::load(id, context);
    if (program)
      module = sema::elaborate(*program, request, origins, emitter);
  }
};

} // namespace planc
