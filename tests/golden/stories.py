"""What the stories under examples/ show is what planc prints.

usage: stories.py --planc TOOL [--accept]

In each examples/*/README.md, a command

    planc …

with `<!-- output -->` after it is followed by what it prints. --accept rewrites
what differs.
"""
import argparse
import difflib
import glob
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SHOWN = re.compile(r"(^    planc ([^\n]+)\n\n<!-- output -->\n)(```\n.*?^```\n)?",
                   re.DOTALL | re.MULTILINE)


def output_of(planc, command):
    done = subprocess.run([planc, *shlex.split(command)], capture_output=True,
                          text=True, check=False)
    return done.stdout or done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--planc", required=True)
    parser.add_argument("--accept", action="store_true")
    options = parser.parse_args()
    planc = os.path.abspath(options.planc)
    os.chdir(ROOT)
    good, shown = True, 0
    for path in sorted(glob.glob("examples/*/README.md")):
        with open(path, encoding="utf-8") as text:
            old = text.read()
        shown += len(SHOWN.findall(old))
        new = SHOWN.sub(
            lambda m: f"{m[1]}```\n{output_of(planc, m[2])}```\n", old)
        if new == old:
            continue
        if options.accept:
            with open(path, "w", encoding="utf-8") as out:
                out.write(new)
            print(f"{path}: changed")
            continue
        good = False
        sys.stdout.writelines(difflib.unified_diff(
            old.splitlines(True), new.splitlines(True), path, "now"))
        print(f"{path}: not as committed; if it should be so: ./dev accept")
    assert shown, "no story shows an output"
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
