#!/usr/bin/env python3
"""Writes the TextMate grammar of .plan files.

usage: grammar.py [--check]

The words come from where the compiler has them: the lexer's keywords, the kinds
of declarations and clauses, words that are values, schedules, formats of
numbers, operators and functions. --check says whether the committed grammar is
the one that would be written; it fails if not.
"""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
GRAMMAR = "tools/editors/vscode/syntaxes/plan.tmLanguage.json"

NAME = r"[A-Za-z_]\w*"
NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
PATH = rf"{NAME}(?:\.{NAME})*"
# Where a clause or a field may begin: a line, or after `{` or a comma.
START = r"(?:^\s*|(?<=[{,])\s*)"


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        return text.read()


def macro(path, name, argument=r"(\w+)"):
    """The first argument (or what `argument` captures) of each use."""
    found = re.findall(rf"^{name}\(\s*{argument}", read(path), re.M)
    assert found, f"{path}: no {name}"
    return found


def words_of_the_lexer():
    """{TOKEN: word} of every keyword."""
    return dict(re.findall(r"^(\w+)\s*: '([a-z_]+)' ;",
                           read("grammar/PlanLexer.g4"), re.M))


def decl_words():
    return [name.lower() for name in macro("compiler/ast/NodeKinds.def",
                                           "PLANC_DECL")]


def clause_words():
    names = macro("compiler/ast/NodeKinds.def", "PLANC_CLAUSE")
    return [name.lower() for name in names if name != "Drop"]


def value_words():
    second = r'\w+,\s*"([^"]+)"'
    return (macro("compiler/sema/Words.def", "PLANC_RESERVED_WORD", '"([^"]+)"')
            + macro("compiler/schedules/Schedules.def", "PLANC_SCHEDULE", second)
            + macro("compiler/sema/Words.def", "PLANC_WORD", '"([^"]+)"')
            + macro("runtime/hardware/AttentionKernels.def",
                    "PLANC_FUSED_ATTENTION", second)
            + re.findall(r'\{Precision::\w+, "(\w+)"',
                         read("runtime/base/Precision.cpp")))


def operator_words():
    return macro("compiler/ops/OpKinds.def", "PLANC_LANGUAGE_OP",
                 r'\w+,\s*"([^"]+)"')


def function_words():
    first = re.match(r"// ([a-z0-9, ]+)\.", read("compiler/sema/Functions.cpp"))
    return first.group(1).split(", ")


def any_of(words):
    """Longest first, so that no word hides a longer one."""
    unique = sorted(set(words), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(map(re.escape, unique)) + ")"


def match(pattern, *scopes):
    """A rule; a scope a group, or one for the whole."""
    if len(scopes) == 1:
        return {"match": pattern, "name": scopes[0] + ".plan"}
    captures = {str(i + 1): {"name": scope + ".plan"}
                for i, scope in enumerate(scopes) if scope}
    return {"match": pattern, "captures": captures}


def declarations():
    named = [word for word in decl_words()
             if word not in ("import", "let", "param")]
    keyword = "keyword.declaration"
    return [
        match(rf"^\s*(import)\s+({PATH})(?:\s+(as)\s+({NAME}))?",
              "keyword.control.import", "entity.name.namespace",
              "keyword.control.import", "entity.name.namespace"),
        match(r"^\s*(import)(?=\s+\")", "keyword.control.import", ""),
        match(r"^\s*(language)\s+(\d+)", "keyword.control",
              "constant.numeric"),
        match(rf"^\s*(param|let)\s+({NAME})", keyword, "variable.other"),
        match(rf"{START}({any_of(named)})\s+({NAME})(?!\s*[=,.]\s*\w+\s*[,}}])"
              rf"(?=\s*(?:[({{=]|for\b|$|#|,|\}}))",
              keyword, "entity.name.type"),
        match(rf"{START}(level|rule)\s+({NAME})", keyword,
              "entity.name.section"),
        match(rf"^\s*(repeat)\b(?:.*?\b(as)\s+({NAME}))?", "keyword.control",
              "keyword.control", "entity.name.section"),
        match(rf"^\s*(weight|input)\s+({NAME})(?=\s*\[)", keyword,
              "variable.other"),
        match(r"^\s*(return)\b", "keyword.control", ""),
    ]


def clauses():
    # `attention` and `pipeline` are also values of other clauses; what is cut
    # over an axis may be called `optimizer` or `batch`.
    plain = [word for word in clause_words()
             if word not in ("attention", "pipeline", "optimizer")]
    return [
        match(rf"{START}(attention|pipeline)(?=\s+over\b)", "keyword.other", ""),
        match(rf"{START}(optimizer)(?=\s+(?!over\b){NAME}\s*(?:[{{}},#]|$))",
              "keyword.other", ""),
        match(rf"{START}({any_of(plain)})(?=\s+(?!over\b)[^\s=,.(\[])",
              "keyword.other", ""),
    ]


def small_words():
    lexer = words_of_the_lexer()
    logic = [lexer[token] for token in
             ("IF", "THEN", "ELSE", "AND", "OR", "NOT", "MOD")]
    reserved = [lexer[token] for token in ("IN_", "AT", "PER", "OF")]
    soft = [lexer[token] for token in ("AS", "FOR", "ON", "WITH", "OVER", "USING",
                                       "TO", "WHERE", "MICRO", "DOCUMENTS")]
    return [
        match(rf"\b{any_of(logic)}\b", "keyword.operator.word"),
        match(rf"\b{any_of(reserved)}\b", "keyword.other.joint"),
        match(rf"\b{any_of(soft)}\b(?!\s*[=(\[,])", "keyword.other.joint"),
        match(r"\b(?:true|false)\b", "constant.language.boolean"),
    ]


def values():
    called = any_of(operator_words() + function_words())
    return [
        match(rf"({NAME})(?=\s*=(?!=))", "variable.parameter", ""),
        match(rf"\b({called})(?=\s*\()", "support.function", ""),
        match(rf"({NAME})(?=\s*\()", "entity.name.function", ""),
        match(rf"(?<![\w.]){any_of(value_words())}(?![\w.])",
              "support.constant"),
        match(rf"\b{NUMBER}(?![\w%])", "constant.numeric"),
        match(rf"\b{NUMBER}(?:{NAME}(?:/{NAME})?|%)",
              "constant.numeric.quantity"),
        match(r"->|\.\.|\*\*|//|[=!<>]=|[-+*/<>=|]", "keyword.operator"),
    ]


def grammar():
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/"
                   "master/tmlanguage.json",
        "comment": "Written by tools/editors/grammar.py; do not edit.",
        "name": "plan",
        "scopeName": "source.plan",
        "fileTypes": ["plan"],
        "patterns": [
            match(r"#.*$", "comment.line.number-sign"),
            match(r'"(?:[^"\\]|\\.)*"', "string.quoted.double"),
            *declarations(), *clauses(), *small_words(), *values(),
        ],
    }


def main():
    text = json.dumps(grammar(), indent=2) + "\n"
    if sys.argv[1:] == ["--check"]:
        if read(GRAMMAR) != text:
            sys.exit(f"{GRAMMAR} is not what the compiler's words make; run "
                     "tools/editors/grammar.py")
        return
    with open(os.path.join(ROOT, GRAMMAR), "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    main()
