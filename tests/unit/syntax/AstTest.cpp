#include "tests/unit/Catch.h"

#include "tests/unit/syntax/Parsed.h"

#include "llvm/Support/Casting.h"

using namespace planc;
using llvm::cast;

TEST_CASE("imports, parameters and constants") {
  Parsed parsed("language 1\n"
                "import std.models.llama as l\n"
                "import \"common/c.plan\"\n"
                "param pp = 16 in legal\n"
                "let gpus = 8\n");
  REQUIRE(parsed.file);
  REQUIRE(parsed.file->decls.size() == 4);
  auto &standard = parsed.decl<ast::ImportDecl>(0);
  CHECK(!standard.isFile);
  CHECK(standard.path.parts.size() == 3);
  CHECK(standard.path.last() == "llama");
  CHECK(standard.alias.text == "l");
  auto &file = parsed.decl<ast::ImportDecl>(1);
  CHECK(file.isFile);
  CHECK(file.file == "common/c.plan");
  CHECK(parsed.sources.text(file.targetSpan) == "\"common/c.plan\"");
  CHECK(!file.alias.isPresent());
  auto &param = parsed.decl<ast::ParamDecl>(2);
  CHECK(cast<ast::NameExpr>(param.domain)->name.first() == "legal");
  CHECK(parsed.sources.text(param.span) == "param pp = 16 in legal");
}

TEST_CASE("weights may count some dimensions before a bar") {
  Parsed parsed("block b(x[batch, seq, hidden], ffn = 4) {\n"
                "  return matmul(x, gate[experts | hidden, ffn])\n"
                "}\n");
  REQUIRE(parsed.file);
  auto &block = parsed.decl<ast::BlockDecl>(0);
  REQUIRE(block.formals.size() == 2);
  CHECK(block.formals[0].isTensor);
  CHECK(block.formals[0].dimensions.names.size() == 3);
  CHECK(!block.formals[0].dimensions.hasBar());
  CHECK(!block.formals[1].isTensor);
  CHECK(block.formals[1].defaultValue != nullptr);
  auto *result = cast<ast::ReturnStatement>(block.body[0]);
  auto *call = cast<ast::CallExpr>(result->values[0]);
  auto *gate = cast<ast::IndexExpr>(call->arguments[1].value);
  CHECK(gate->name.text == "gate");
  CHECK(gate->dimensions.barAt == 1);
  CHECK(gate->dimensions.names[0].text == "experts");
  CHECK(parsed.sources.text(gate->span) == "gate[experts | hidden, ffn]");
}

TEST_CASE("clusters have fields, and levels from the inside out") {
  Parsed parsed(readFile(PLANC_EXAMPLES "/cluster.plan"));
  REQUIRE(parsed.file);
  auto &accelerator = parsed.decl<ast::AcceleratorDecl>(0);
  REQUIRE(accelerator.fields.size() == 4);
  CHECK(accelerator.fields[0].isKeyed());
  CHECK(accelerator.fields[0].values.size() == 3);
  CHECK(accelerator.fields[0].values[1].name.text == "fp8");
  auto *memory = cast<ast::AtExpr>(accelerator.fields[1].values[0].value);
  CHECK(cast<ast::QuantityExpr>(memory->at)->unit == "TB/s");
  auto &cluster = parsed.decl<ast::ClusterDecl>(1);
  REQUIRE(cluster.levels.size() == 3);
  CHECK(cluster.levels[0].name.text == "node");
  CHECK(cluster.levels[0].fields.size() == 3);
  REQUIRE(cluster.fields.size() == 2);
  CHECK(cluster.fields[0].name.text == "accelerator");
  auto *failures = cast<ast::PerExpr>(cluster.fields[1].values[0].value);
  CHECK(cast<ast::IntegerExpr>(failures->population)->value == 16384);
}

TEST_CASE("operators say what they do to each dimension") {
  Parsed parsed("op o(x[batch, seq], y[seq]) -> [batch], [seq] {\n"
                "  over seq in order\n"
                "  contracts seq, batch\n"
                "  gathers seq of y\n"
                "  saves x, y\n"
                "  flops 9 * batch\n"
                "}\n");
  REQUIRE(parsed.file);
  auto &op = parsed.decl<ast::OpDecl>(0);
  CHECK(op.results.size() == 2);
  REQUIRE(op.clauses.size() == 5);
  CHECK(op.clauses[0].kind == ast::OpClauseKind::InOrder);
  CHECK(op.clauses[1].dimensions.size() == 2);
  CHECK(op.clauses[2].operand.text == "y");
  CHECK(op.clauses[3].kind == ast::OpClauseKind::Saves);
  CHECK(op.clauses[4].field.name.text == "flops");
}

TEST_CASE("a plan has a model and a cluster, a variant a base") {
  Parsed parsed("plan p for m on c[8] { mesh dp = rest, tp = 2 }\n"
                "plan q = p with { mesh not tp }\n"
                "plan r = p(micro = 2) on ours.d\n");
  REQUIRE(parsed.file);
  auto &plan = parsed.decl<ast::PlanDecl>(0);
  CHECK(cast<ast::NameExpr>(plan.model)->name.first() == "m");
  CHECK(plan.base == nullptr);
  CHECK(plan.cluster.count != nullptr);
  auto *mesh = cast<ast::MeshClause>(plan.clauses[0]);
  CHECK(cast<ast::NameExpr>(mesh->axes[0].value)->name.first() == "rest");
  CHECK(parsed.sources.text(mesh->keywordSpan) == "mesh");
  auto &variant = parsed.decl<ast::PlanDecl>(1);
  CHECK(variant.model == nullptr);
  CHECK(!variant.cluster.isPresent());
  CHECK(cast<ast::MeshClause>(variant.clauses[0])->axes[0].isDropped());
  auto &moved = parsed.decl<ast::PlanDecl>(2);
  CHECK(cast<ast::CallExpr>(moved.base)->arguments.size() == 1);
  CHECK(moved.cluster.name.last() == "d");
  CHECK(moved.cluster.count == nullptr);
}

TEST_CASE("comments are kept with their places") {
  Parsed parsed("# one\nlet a = [1, # two\n 2]\n");
  REQUIRE(parsed.file);
  REQUIRE(parsed.file->comments.size() == 2);
  CHECK(parsed.sources.text(parsed.file->comments[0].span) == "# one");
  CHECK(parsed.sources.text(parsed.file->comments[1].span) == "# two");
}

TEST_CASE("line ends and a byte order mark change nothing") {
  std::string text = readFile(PLANC_EXAMPLES "/plans.plan");
  std::string windows;
  for (char c : text) {
    if (c == '\n')
      windows += '\r';
    windows += c;
  }
  CHECK(Parsed(windows).print() == Parsed(text).print());
  Parsed marked("\xEF\xBB\xBF" + text);
  CHECK(marked.print() == Parsed(text).print());
  // Its three bytes count in places.
  CHECK(marked.decl<ast::PlanDecl>(0).name.text == "pretrain");
  CHECK(Parsed("let a = 1\rlet b = 2\r").print() ==
        "language 1\nlet a = 1\nlet b = 2\n");
  CHECK(Parsed("").print() == "language 1\n");
  CHECK(Parsed("# nothing").print() == "language 1\n");
}
