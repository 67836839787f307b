"""Checks every #include against docs/layers.txt, and every list of sources.

usage: CheckLayers.py [--root DIR] [--table FILE]

Says one line a violation, `file:line: what`, and exits 1 if there is one.
"""
import argparse
import os
import re
import sys

TOPS = ("stdlib", "grammar", "runtime", "compiler", "tools", "bindings",
        "tests")
SOURCES = (".cpp", ".h", ".hpp", ".def", ".inc")
OTHERS = ("llvm/", "fmt/", "catch2/", "antlr4-")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|(<[^>]+>))')
LISTED = re.compile(r"[\w/]+\.cpp\b")


def read_table(path):
    """The folders in order, and who may use which foreign headers."""
    layers, foreign = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            name, allowed = line.rsplit(":", 1)
            target = foreign if name.startswith("<") else layers
            target[name] = allowed.split()
    return layers, foreign


def source_files(root):
    for top in TOPS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(SOURCES):
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, root).replace(os.sep, "/")


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def layer_of(path, layers):
    fitting = [name for name in layers if inside(path, name)]
    return max(fitting, key=len, default=None)


def includes_of(path):
    """Line, own header or None, `<header` of others or None."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if match:
                own, other = match.groups()
                if own and own.startswith(OTHERS):
                    own, other = None, f"<{own}>"
                yield number, own, other


def is_generated(root, name):
    """`PlanLexer.h`, or `ProgramTextParser.h` from ProgramText.g4."""
    stem = os.path.splitext(name)[0]
    return any(os.path.exists(os.path.join(root, "grammar", stem + ".g4"))
               for stem in (stem, re.sub(r"(Lexer|Parser)$", "", stem)))


def check_own(root, layer, name, layers):
    """What is wrong with `#include "name"`, or None."""
    if is_generated(root, name):
        name = "grammar/" + name
    if not name.startswith(tuple(top + "/" for top in TOPS)):
        return f'"{name}" is not named from the root of the repository'
    generated = inside(name, "grammar")
    if not generated and not os.path.exists(os.path.join(root, name)):
        return f'"{name}" does not exist'
    target = layer_of(name, layers)
    if target is None:
        return f'"{name}" is in a folder that docs/layers.txt does not list'
    if target == layer:
        return None
    if any(inside(target, allowed) for allowed in layers[layer]):
        return None
    return f'{layer} may not include {target} ("{name}")'


def check_foreign(path, name, foreign):
    for start, allowed in foreign.items():
        if name.startswith(start) and not any(
                inside(path, folder) for folder in allowed):
            only = " and ".join(allowed) or "nobody"
            return f"{name} is for {only}"
    return None


def check_includes(root, layers, foreign):
    for path in source_files(root):
        layer = layer_of(path, layers)
        if layer is None:
            yield f"{path}:1: docs/layers.txt does not list this folder"
            continue
        for line, own, other in includes_of(os.path.join(root, path)):
            wrong = (check_own(root, layer, own, layers) if own
                     else check_foreign(path, other, foreign))
            if wrong:
                yield f"{path}:{line}: {wrong}"


def check_table(layers):
    """The table itself: no row may allow a folder that stands below it, so
    that the includes cannot go round in circles."""
    order = list(layers)
    for at, name in enumerate(order):
        for allowed in layers[name]:
            for later in order[at + 1:]:
                if inside(later, allowed) and not inside(name, allowed):
                    yield (f"docs/layers.txt:1: {name} may not include "
                           f"{later}, which stands below it")


def check_lists(root):
    """Every .cpp stands in the CMakeLists.txt beside it, sorted."""
    folders = {}
    for path in source_files(root):
        if path.endswith(".cpp"):
            folder, name = os.path.split(path)
            folders.setdefault(folder, []).append(name)
    for folder, names in sorted(folders.items()):
        listing = f"{folder}/CMakeLists.txt"
        try:
            with open(os.path.join(root, listing), encoding="utf-8") as text:
                listed = LISTED.findall(re.sub(r"#.*", "", text.read()))
        except FileNotFoundError:
            continue
        for name in names:
            if name not in listed:
                yield f"{listing}:1: {name} is not listed"
        own = [name for name in listed if name in names]
        if own != sorted(own):
            yield f"{listing}:1: the sources are not sorted"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=".")
    parser.add_argument("--table")
    options = parser.parse_args()
    table = options.table or os.path.join(options.root, "docs", "layers.txt")
    layers, foreign = read_table(table)
    wrong = [*check_table(layers),
             *check_includes(options.root, layers, foreign),
             *check_lists(options.root)]
    for line in wrong:
        print(line)
    files = sum(1 for _ in source_files(options.root))
    if not files:
        wrong.append("no source file found")
    print(f"{files} files, {len(layers)} folders, {len(wrong)} violations")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
