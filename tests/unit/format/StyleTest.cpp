// The style, rule by rule: what goes in, what comes out.
#include "tests/unit/Catch.h"
#include "tests/unit/format/Formatted.h"

using namespace planc;

namespace {

void becomes(const std::string &from, const std::string &to) {
  CHECK(styled(from) == to);
  CHECK(styled(to) == to);
}

void stays(const std::string &text) { becomes(text, text); }

} // namespace

TEST_CASE("spaces stand where they stand in the manual", "[style]") {
  becomes("let  a=1+2*-3//( 4 -5 )\n", "let a = 1 + 2 * -3 // (4 - 5)\n");
  becomes("let a=f (x,y= -1 , z=[1,2 ])\n",
          "let a = f(x, y = -1, z = [1, 2])\n");
}

TEST_CASE("brackets touch the names they belong to and no others", "[style]") {
  becomes(
      "op s (x [batch,seq])->[ batch ] , [seq] {\nflops (2)\nbytes -1\n}\n",
      "op s(x[batch, seq]) -> [batch], [seq] {\n  flops (2)\n  bytes -1\n}\n");
  becomes("model m = b (a = x , c = if (y) then[1]else not (z))\n",
          "model m = b(a = x, c = if (y) then [1] else not (z))\n");
  becomes("plan p for m on c [ 8 ]{mesh a=rest}\n",
          "plan p for m on c[8] { mesh a = rest }\n");
  becomes("model m {\nx = matmul (t , gate [ experts|hidden , ffn ])\nrepeat 2 "
          "as d ( i ){\n y = i\n}\n}\n",
          "model m {\n  x = matmul(t, gate[experts | hidden, ffn])\n  repeat 2 "
          "as d(i) {\n    y = i\n  }\n}\n");
  becomes("param p = 1 in 1 .. 32\n", "param p = 1 in 1..32\n");
  becomes("import std . models . llama as l\n",
          "import std.models.llama as l\n");
}

TEST_CASE("values of clauses stand 11 columns in, `over` of shards together",
          "[style]") {
  becomes("plan p for m on c {\nbatch 8 sequences of 2 tokens, micro 1 "
          "sequence\nmesh a = rest , b = 2\nshard batch over a\nshard heads, "
          "ffn over b\npipeline over b { schedule 1F1B }\nexpect mfu(full) >= "
          "36%\nnot bucket\n}\n",
          "plan p for m on c {\n"
          "  batch      8 sequences of 2 tokens, micro 1 sequence\n"
          "  mesh       a = rest, b = 2\n"
          "  shard      batch      over a\n"
          "  shard      heads, ffn over b\n"
          "  pipeline   over b { schedule 1F1B }\n"
          "  expect     mfu(full) >= 36%\n"
          "  not bucket\n"
          "}\n");
}

TEST_CASE("fields stand in a column until a blank line", "[style]") {
  becomes("accelerator a {\npeak bf16 = 1TFLOP/s\nmemory 1GB at 1GB/s\n\n# c\n"
          "matmul_efficiency 7%\n# d\nk 2\n}\n",
          "accelerator a {\n"
          "  peak    bf16 = 1TFLOP/s\n"
          "  memory  1GB at 1GB/s\n"
          "\n"
          "  # c\n"
          "  matmul_efficiency 7%\n"
          "  # d\n"
          "  k                 2\n"
          "}\n");
}

TEST_CASE("levels on one line are a table", "[style]") {
  becomes("cluster c {\naccelerator a\nlevel node of 8 { link 1GB/s }\nlevel "
          "fabric of 1024 { link 2GB/s }\nreserve 2GiB\nfailures 4 per 5d of "
          "6\n}\n",
          "cluster c {\n"
          "  accelerator a\n"
          "  level node   of 8    { link 1GB/s }\n"
          "  level fabric of 1024 { link 2GB/s }\n"
          "  reserve  2GiB\n"
          "  failures 4 per 5d of 6\n"
          "}\n");
}

TEST_CASE("declarations of one kind share their `=`", "[style]") {
  becomes("param tp = 8 in [1, 2]\nparam pipe = 16 in legal\nlet g = 1\nlet "
          "gg = 2\n\nlet ggg = 3\n",
          "param tp   = 8  in [1, 2]\n"
          "param pipe = 16 in legal\n"
          "let g  = 1\n"
          "let gg = 2\n"
          "\n"
          "let ggg = 3\n");
  becomes("plan a = b with { overlap none }\nplan longer = b on c[2]\nplan cc "
          "= b with {\nbucket one\n}\nplan d = b on c[4]\n",
          "plan a      = b with { overlap none }\n"
          "plan longer = b on c[2]\n"
          "plan cc     = b with {\n"
          "  bucket     one\n"
          "}\n"
          "plan d = b on c[4]\n");
}

TEST_CASE("statements keep to themselves", "[style]") {
  stays("model m {\n  x = 1\n  long = 2\n  let a = 3\n}\n");
}

TEST_CASE("a block is on one line where its author has it so", "[style]") {
  becomes("plan a = b with{bucket one,overlap none}\n",
          "plan a = b with { bucket one, overlap none }\n");
  becomes("plan a = b with {bucket one\noverlap none}\n",
          "plan a = b with {\n  bucket     one\n  overlap    none\n}\n");
  becomes(
      "plan a = b with { pipeline over p {\n schedule 1F1B } }\n",
      "plan a = b with {\n  pipeline   over p {\n    schedule 1F1B\n  }\n}\n");
  becomes("plan a = b with {\n\n}\n", "plan a = b with {}\n");
}

TEST_CASE("in a broken block every item has its line", "[style]") {
  becomes("plan a = b with {\nbucket one, overlap none\n}\n",
          "plan a = b with {\n  bucket     one\n  overlap    none\n}\n");
  becomes("let a = 1, let b = 2\n", "let a = 1\nlet b = 2\n");
}

TEST_CASE("commas too many go", "[style]") {
  becomes(
      "plan a = b with {\nmesh x = 1, y = 2,\nbucket one,\n}\n",
      "plan a = b with {\n  mesh       x = 1, y = 2\n  bucket     one\n}\n");
  becomes("let a = f(1, 2,)\nlet b = [1,]\n", "let a = f(1, 2)\nlet b = [1]\n");
  becomes("plan a = b with { bucket one, , overlap none, }\n",
          "plan a = b with { bucket one, overlap none }\n");
}

TEST_CASE("blank lines: one in a row, none at the ends of blocks", "[style]") {
  becomes("\n\nlet a = 1\n\n\n\nlet b = 2\n\n\n", "let a = 1\n\nlet b = 2\n");
  becomes("model m {\n\n  x = 1\n\n\n  y = 2\n\n}\n",
          "model m {\n  x = 1\n\n  y = 2\n}\n");
  becomes("model m {  # c\n\n\n  x = 1\n}\n", "model m {  # c\n  x = 1\n}\n");
}

TEST_CASE("line ends, tabs, spaces at ends and the mark", "[style]") {
  becomes("\xEF\xBB\xBFlet a\t=\t1  \r\nlet b = 2 # c \t\r\n\rlet c = 3",
          "let a = 1\nlet b = 2  # c\n\nlet c = 3\n");
  becomes("", "");
  becomes("\n \n", "");
  becomes("# only this", "# only this\n");
}

TEST_CASE("comments stay where they are", "[style]") {
  becomes("#one\n   # two\nmodel m { # three\n# four\nx = 1 # five\n"
          "# six\n}# seven\n# eight\n",
          "#one\n# two\nmodel m {  # three\n  # four\n  x = 1  # five\n"
          "  # six\n}  # seven\n# eight\n");
  becomes("plan a = b with {\n# nothing yet\n}\n",
          "plan a = b with {\n  # nothing yet\n}\n");
  becomes("plan a = b with { # nothing yet\n}\n",
          "plan a = b with {  # nothing yet\n}\n");
}

TEST_CASE("comments inside of brackets, and after operators", "[style]") {
  becomes("let a = [1, # one\n2 # two\n# three\n, 3\n# four\n]\n",
          "let a = [1,  # one\n"
          "         2,  # two\n"
          "         # three\n"
          "         3\n"
          "         # four\n"
          "        ]\n");
  becomes("let a = [ # zero\n1, 2]\n", "let a = [  # zero\n  1, 2\n]\n");
  becomes("let a = # why\n1\n", "let a =  # why\n    1\n");
  becomes("plan a = b with {\nmesh x = 1, # first\ny = 2\n}\n",
          "plan a = b with {\n"
          "  mesh       x = 1,  # first\n"
          "             y = 2\n"
          "}\n");
}

TEST_CASE("comments at ends of lines stand in a column", "[style]") {
  becomes("plan p = q with {\nbatch micro 1 sequence # a\nbucket one\n"
          "overlap none # b\n\nexpect a > 1 # c\n}\n",
          "plan p = q with {\n"
          "  batch      micro 1 sequence  # a\n"
          "  bucket     one\n"
          "  overlap    none              # b\n"
          "\n"
          "  expect     a > 1  # c\n"
          "}\n");
}

TEST_CASE("the author's breaks in brackets stay", "[style]") {
  becomes("let a = f(1,\n  2,\n      g(3,\n 4))\n",
          "let a = f(1,\n          2,\n          g(3,\n            4))\n");
  becomes("let a = f(\n1,\n2)\n", "let a = f(\n  1,\n  2\n)\n");
  becomes("let a = f(1\n, 2\n)\n", "let a = f(1,\n          2)\n");
  becomes("model m {\nx = x + (if i < d then a\nelse b)\n}\n",
          "model m {\n  x = x + (if i < d then a\n           else b)\n}\n");
  becomes("plan a = b with {\nrecompute x, y,\nz\n}\n",
          "plan a = b with {\n  recompute  x, y,\n             z\n}\n");
}

TEST_CASE("what is longer than 120 columns is broken after commas", "[style]") {
  std::string list = "let all = [";
  for (int i = 0; i < 8; ++i)
    list += std::string(i ? ", " : "") + "f(argument, 1234)";
  becomes(list + "]\n",
          "let all = [f(argument, 1234), f(argument, 1234), f(argument, 1234), "
          "f(argument, 1234),\n"
          "           f(argument, 1234), f(argument, 1234), f(argument, 1234), "
          "f(argument, 1234)]\n");
  std::string block = "plan a = b with { mesh x = 1";
  for (int i = 0; i < 4; ++i)
    block += ", kernels a_kernel = some_long_word";
  block += " }\n";
  CHECK(styled(block).find("with {\n  mesh       x = 1\n  kernels    a_kernel "
                           "= some_long_word\n") != std::string::npos);
  const std::string name(130, 'n');
  stays("let a = f(" + name + ")\n");
}

TEST_CASE("a long line ends where it reads best", "[style]") {
  const std::string a(40, 'a'), b(40, 'b');
  becomes("model m {\nx = x + (if i < 3 then f(" + a + ", 1) else g(h(" + b +
              ", 2), 3, " + a + "))\n}\n",
          "model m {\n  x = x + (if i < 3 then f(" + a +
              ", 1)\n           else g(h(" + b + ", 2), 3, " + a + "))\n}\n");
  becomes("model m {\nx = f(" + a + ", 1) + g(" + a + ", 2) * h(" + b +
              ", 3, 4)\n}\n",
          "model m {\n  x = f(" + a + ", 1) +\n      g(" + a + ", 2) * h(" + b +
              ", 3, 4)\n}\n");
}

TEST_CASE("rows of a table stay rows", "[style]") {
  const std::string name(110, 'n');
  stays("model a  = m(" + name + ", 1)\nmodel bb = m(" + name + ", 2)\n");
  becomes("model a = m(" + name + ", 1)\n\nmodel bb = m(x)\n",
          "model a = m(" + name + ",\n            1)\n\nmodel bb = m(x)\n");
}

TEST_CASE("a line that is broken before `over` moves no other one's",
          "[style]") {
  std::string list = "heads";
  for (int i = 0; i < 13; ++i)
    list += ", heads_kv";
  becomes(
      "plan q = p with {\nshard " + list +
          ", ffn over tp\nshard batch over dp\n}\n",
      "plan q = p with {\n"
      "  shard      heads, heads_kv, heads_kv, heads_kv, heads_kv, heads_kv, "
      "heads_kv, heads_kv, heads_kv,\n"
      "             heads_kv, heads_kv, heads_kv, heads_kv, heads_kv, ffn "
      "over tp\n"
      "  shard      batch over dp\n"
      "}\n");
}

TEST_CASE("a line that a comment to planc is about is not split", "[style]") {
  const std::string allow = "# planc: allow(recompute-no-effect) seen";
  const std::string clauses = "recompute attention, kernels attention = flash2";
  becomes("plan p = q with {\nmesh dp=2\n" + clauses + " " + allow +
              "\nbucket one\n}\n",
          "plan p = q with {\n  mesh       dp = 2\n  " + clauses + "  " +
              allow + "\n  bucket     one\n}\n");
  // Any other comment does not keep it.
  becomes("plan p = q with {\n" + clauses + " # seen\n}\n",
          "plan p = q with {\n  recompute  attention\n"
          "  kernels    attention = flash2  # seen\n}\n");
  const std::string row = "plan p = a_long_name_" + std::string(60, 'n') +
                          " with { " + clauses + " }";
  stays(row + "  " + allow + "\n");
  stays(allow + "\n" + row + "\n");
  becomes(row + "  # seen\n",
          "plan p = a_long_name_" + std::string(60, 'n') +
              " with {\n  recompute  attention\n"
              "  kernels    attention = flash2\n}  # seen\n");
  // Where nothing would be taken from under the comment, the style holds.
  becomes("plan p = q with {\n" + allow + "\nrecompute attention }\n",
          "plan p = q with {\n  " + allow + "\n  recompute  attention\n}\n");
  becomes("plan p = q with {\nmesh dp=2\n\n\nrecompute   attention } " + allow +
              "\n",
          "plan p = q with {\n  mesh dp = 2\n\n  recompute attention }  " +
              allow + "\n");
}

TEST_CASE("what does not parse is not formatted", "[style]") {
  CHECK(styled("let = 1\n").find("expected") != std::string::npos);
  CHECK(!Formatted("plan {\n").text);
}
