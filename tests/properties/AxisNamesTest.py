"""Axes are the user's words: the compiler and the runtime know none of them.

usage: AxisNamesTest.py

Fails where a customary name of an axis stands as a word in the code or in a text of
it. Comments, the pages of `planc explain` and a help that begins "as in" may show
examples; "pp" by itself is percentage points, `.TP` a word of roff. compiler/validate is
a user: it writes the plans of published runs, in the words of their sources.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
NAMES = re.compile(r"(?<![A-Za-z0-9])(dp|tp|pp|cp|ep|sp|fsdp)"
                   r"(?![A-Za-z0-9])", re.I)


def without_comments(text):
    blank = lambda found: re.sub(r"[^\n]", " ", found.group())
    text = re.sub(r'R"\(.*?\)"', blank, text, flags=re.S)
    text = re.sub(r'"as in `.*?`"|" ?pp"|\.TP(?=\\n)', blank, text)
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def main():
    count, failures = 0, []
    for folder in ("compiler", "runtime", "grammar", "tools"):
        for kind in ("cpp", "h", "hpp", "def", "g4"):
            for path in sorted(glob.glob(f"{ROOT}/{folder}/**/*.{kind}",
                                         recursive=True)):
                if os.path.relpath(path, ROOT).startswith("compiler/validate/"):
                    continue
                count += 1
                with open(path, encoding="utf-8") as source:
                    lines = without_comments(source.read()).splitlines()
                failures += [
                    f"{os.path.relpath(path, ROOT)}:{n}: {line.strip()}"
                    for n, line in enumerate(lines, 1) if NAMES.search(line)]
    print("\n".join(failures))
    print(f"{count} files, {len(failures)} mentions of an axis")
    return 1 if failures or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
