"""Compares the report of an example with the committed one.

usage: golden.py --planc TOOL [--accept] [examples/a.plan…]
       golden.py --planc TOOL --left-over
       golden.py --planc TOOL --readme

Without files: all of examples/ but what others import, in common/. The report
of examples/a.plan is tests/golden/a.txt, of examples/b/c.plan
tests/golden/b.c.txt; an exit code other than 0 is its last line. --accept
rewrites what differs; --left-over fails if a committed report has no example
any more; --readme holds the plan and the report that README.md shows against
the example they are from.
"""
import argparse
import difflib
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
LONGEST = 60  # lines; a golden is read by people


def golden_of(example):
    name = os.path.splitext(os.path.relpath(example, "examples"))[0]
    return "tests/golden/" + name.replace(os.sep, ".") + ".txt"


def report_of(planc, example):
    done = subprocess.run([planc, "report", example, "--verify-each"],
                          capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    return text + (f"exit {done.returncode}\n" if done.returncode else "")


def committed(path):
    try:
        with open(path, encoding="utf-8") as text:
            return text.read()
    except FileNotFoundError:
        return None


def check(planc, example, accept):
    """True if the example's report is the committed one, or was accepted."""
    path = golden_of(example)
    old, new = committed(path), report_of(planc, example)
    if new.count("\n") > LONGEST:
        print(f"{example}: the report has more than {LONGEST} lines")
        return False
    if old == new:
        return True
    if accept:
        with open(path, "w", encoding="utf-8") as out:
            out.write(new)
        print(f"{path}: {'new' if old is None else 'changed'}")
        return True
    sys.stdout.writelines(difflib.unified_diff(
        (old or "").splitlines(True), new.splitlines(True), path, "now"))
    print(f"{example}: not as committed; if it should be so: ./dev accept")
    return False


def left_over(examples, accept):
    wanted = {golden_of(example) for example in examples}
    kept = set(glob.glob("tests/golden/*.txt"))
    extra = sorted(kept - wanted - {"tests/golden/CMakeLists.txt"})
    for path in extra:
        print(f"{path}: has no example" + (", removed" if accept else ""))
        if accept:
            os.remove(path)
    return accept or not extra


def readme(accept):
    """README.md shows, after `<!-- plan: FILE -->` and `<!-- report: FILE -->`,
    lines of an example and its committed report."""
    old = committed("README.md")
    block = r"(<!-- %s: (\S+) -->\n```\n)(.*?)(```\n)"
    plans = re.findall(block % "plan", old, re.DOTALL)
    good = bool(plans)
    for _, example, shown, _ in plans:
        missing = [line for line in shown.splitlines()
                   if line not in committed(example).splitlines()]
        for line in missing:
            print(f"README.md: {example} has no line `{line}`")
        good = good and not missing
    new = re.sub(block % "report",
                 lambda m: m[1] + (committed(golden_of(m[2])) or "") + m[4],
                 old, flags=re.DOTALL)
    if new != old and accept:
        with open("README.md", "w", encoding="utf-8") as out:
            out.write(new)
        print("README.md: changed")
    elif new != old:
        print("README.md: shows an old report; if it should change: "
              "./dev accept")
        good = False
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--planc", required=True)
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--left-over", action="store_true")
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("examples", nargs="*")
    options = parser.parse_args()
    planc = os.path.abspath(options.planc)
    os.chdir(ROOT)
    everything = [path for path in sorted(
        glob.glob("examples/**/*.plan", recursive=True))
                  if "/common/" not in path]
    if options.left_over or options.readme:
        chosen = []
    else:
        chosen = options.examples or everything
    good = [check(planc, example, options.accept) for example in chosen]
    if options.left_over or options.accept and not options.examples:
        good.append(left_over(everything, options.accept))
    if options.readme or options.accept:
        good.append(readme(options.accept))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
