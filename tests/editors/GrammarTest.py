"""The TextMate grammar of .plan files, run over texts.

TextMate.py below reads what the grammar uses of its format: `match`, `name`,
`captures`. Python's regular expressions stand for Oniguruma's; the grammar keeps
to what both read alike.
"""
import glob
import json
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


class TextMate:
    """A grammar of `match` rules: of those that match first, the first."""

    def __init__(self, path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as text:
            self.rules = [(re.compile(rule["match"]), rule)
                          for rule in json.load(text)["patterns"]]

    def scopes(self, line):
        """The scope of each character, empty where it has none."""
        scopes = [""] * len(line)
        at = 0
        while at < len(line):
            found = [(regex.search(line, at), rule)
                     for regex, rule in self.rules]
            found = [(m, rule) for m, rule in found if m and m.end() > at]
            if not found:
                break
            m, rule = min(found, key=lambda pair: pair[0].start())
            self.paint(scopes, m, rule)
            at = m.end()
        return scopes

    @staticmethod
    def paint(scopes, m, rule):
        if "name" in rule:
            scopes[m.start():m.end()] = [rule["name"]] * (m.end() - m.start())
        for group, capture in rule.get("captures", {}).items():
            begin, end = m.span(int(group))
            if begin >= 0:
                scopes[begin:end] = [capture["name"]] * (end - begin)


GRAMMAR = TextMate("tools/editors/vscode/syntaxes/plan.tmLanguage.json")


def coloured(line):
    """[(text, scope without .plan)] of the pieces that have one."""
    pieces, scopes = [], GRAMMAR.scopes(line)
    for i, scope in enumerate(scopes):
        if scope and i and scopes[i - 1] == scope and pieces:
            pieces[-1][0] += line[i]
        elif scope:
            pieces.append([line[i], scope.removesuffix(".plan")])
    return [tuple(piece) for piece in pieces]


class Lines(unittest.TestCase):
    def check(self, line, *expected):
        pieces = coloured(line)
        for piece in expected:
            self.assertIn(piece, pieces, line)

    def test_declarations(self):
        self.check("import std.models.llama as l",
                   ("import", "keyword.control.import"),
                   ("std.models.llama", "entity.name.namespace"),
                   ("l", "entity.name.namespace"))
        self.check("param gpus = 16384 in [8192, 16384]",
                   ("param", "keyword.declaration"), ("gpus", "variable.other"),
                   ("16384", "constant.numeric"), ("in", "keyword.other.joint"))
        self.check("plan pretrain for llama3_405b on h100_roce[gpus] {",
                   ("plan", "keyword.declaration"),
                   ("pretrain", "entity.name.type"),
                   ("for", "keyword.other.joint"), ("on", "keyword.other.joint"))
        self.check("plan none = pretrain with { overlap none }",
                   ("with", "keyword.other.joint"), ("overlap", "keyword.other"),
                   ("none", "support.constant"))

    def test_clauses(self):
        self.check("  shard      heads, kv_heads, seq  over tp # cut",
                   ("shard", "keyword.other"), ("over", "keyword.other.joint"),
                   ("# cut", "comment.line.number-sign"))
        self.check("  pipeline   over pp { schedule 1F1B, virtual 8 }",
                   ("pipeline", "keyword.other"), ("1F1B", "support.constant"))
        self.check("  optimizer  adamw { master fp32 }",
                   ("optimizer", "keyword.other"), ("adamw", "support.constant"),
                   ("fp32", "support.constant"))
        self.check("plan lean = pretrain with { recompute attention, bucket 25MiB }",
                   ("recompute", "keyword.other"),
                   ("attention", "support.constant"), ("bucket", "keyword.other"),
                   ("25MiB", "constant.numeric.quantity"))

    def test_words_that_are_keywords_elsewhere(self):
        # Values and names of other clauses, not clauses.
        self.check("  overlap    gradients, pipeline",
                   ("pipeline", "support.constant"))
        self.check("  shard      gradients, optimizer  over fsdp",
                   ("optimizer", "support.constant"))
        self.assertNotIn(("batch", "keyword.other"),
                         coloured("  shard      experts, batch  over ep"))
        self.check("  kernels    attention = flash2",
                   ("attention", "variable.parameter"))
        self.assertNotIn(("batch", "keyword.other"),
                         coloured("block f(x[batch, seq, hidden]) {"))
        self.assertNotIn(("batch", "keyword.other"), coloured("  batch = 3"))

    def test_models(self):
        self.check("  q = rope(matmul(h, wq[hidden, heads]), base = 1e6)",
                   ("rope", "support.function"), ("matmul", "support.function"),
                   ("1e6", "constant.numeric"))
        self.check("  x = x + swiglu(rms_norm(x), ffn)",
                   ("swiglu", "entity.name.function"))
        self.check("  repeat layers as decoder(i) {",
                   ("repeat", "keyword.control"),
                   ("decoder", "entity.name.section"))

    def test_no_text_is_a_comment(self):
        self.check('  says "a # b" # c', ('"a # b"', "string.quoted.double"),
                   ("# c", "comment.line.number-sign"))


class Files(unittest.TestCase):
    """Every committed plan: comments are comments, clauses clauses."""

    def lines(self):
        for pattern in ("examples/**/*.plan", "stdlib/**/*.plan"):
            for path in sorted(glob.glob(os.path.join(ROOT, pattern),
                                         recursive=True)):
                with open(path, encoding="utf-8") as text:
                    for number, line in enumerate(text, 1):
                        yield f"{path}:{number}", line.rstrip("\n")

    def test_comments(self):
        seen = 0
        for where, line in self.lines():
            plain = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: "_" * len(m[0]), line)
            begin = plain.find("#")
            scopes = GRAMMAR.scopes(line)
            for i, scope in enumerate(scopes):
                self.assertEqual(0 <= begin <= i, scope.startswith("comment"),
                                 f"{where}: {line[i:]}")
            seen += begin >= 0
        self.assertGreater(seen, 100)

    def test_first_words(self):
        """What begins a line of a plan's clause is coloured as one, and every
        declaration's word and name."""
        seen, inside = 0, False
        for where, line in self.lines():
            pieces = coloured(line)
            word = re.match(r"(plan|model|cluster|accelerator|block) (\w+)", line)
            if word:
                self.assertEqual(pieces[0], (word[1], "keyword.declaration"),
                                 where)
                self.assertEqual(pieces[1], (word[2], "entity.name.type"), where)
                inside = word[1] == "plan" and line.rstrip().endswith("{")
            elif line.startswith("}"):
                inside = False
            elif inside and re.match(r"  [a-z]", line):
                self.assertIn(pieces[0][1],
                              ("keyword.other", "keyword.declaration",
                               "keyword.operator.word"),
                              f"{where}: {line}")
                seen += 1
        self.assertGreater(seen, 100)


if __name__ == "__main__":
    unittest.main()
