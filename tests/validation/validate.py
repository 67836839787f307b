#!/usr/bin/env python3
"""Holds docs/validation.md, its table and its picture to what planc says now.

usage: validate.py PLANC [--write]

Every row of the library's tables of measured runs is compiled and compared
(`planc validate`); a row that drifts is named, whichever way it drifts. With
--write the page is made anew.
"""
import csv
import pathlib
import shutil
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"
FILES = ("validation.md", "validation.csv", "validation.svg", "constants.md")
DRIFT = 0.005  # of a prediction; less is said by the summary alone
SHOWN = 40


def make(planc, folder):
    """The four files, in a folder that has the page."""
    run = subprocess.run([planc, "validate", "--write", str(folder)],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0 or run.stderr:
        raise SystemExit(f"planc validate: exit {run.returncode}\n{run.stderr}")


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def drifts(before, after):
    """A line a row that says something else than it did."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            yield f"{name}: {'new' if old is None else 'gone'}"
        elif old["not_expressed"] != new["not_expressed"]:
            yield (f"{name}: was `{old['not_expressed']}`, "
                   f"is `{new['not_expressed']}`")
        elif old["predicted_step_s"] and new["predicted_step_s"]:
            was, is_ = float(old["predicted_step_s"]), float(
                new["predicted_step_s"])
            if abs(is_ / was - 1) > DRIFT:
                yield (f"{name}: {100 * (is_ / was - 1):+.1f} %, error "
                       f"{100 * float(old['error']):+.1f} % to "
                       f"{100 * float(new['error']):+.1f} %")


def main():
    planc = sys.argv[1]
    if "--write" in sys.argv[2:]:
        make(planc, DOCS)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        new = pathlib.Path(folder)
        shutil.copy(DOCS / "validation.md", new)
        make(planc, new)
        before, after = (rows_of(p / "validation.csv") for p in (DOCS, new))
        lines = list(drifts(before, after))
        for line in lines[:SHOWN]:
            print(line)
        if len(lines) > SHOWN:
            print(f"and {len(lines) - SHOWN} more")
        stale = [name for name in FILES if (DOCS / name).read_bytes() !=
                 (new / name).read_bytes()]
        if len(after) < 100:
            raise SystemExit("too few rows for a validation")
    if stale:
        print(f"not what planc says now: {', '.join(stale)}; "
              "tests/validation/validate.py PLANC --write")
    return 1 if stale or lines else 0


if __name__ == "__main__":
    sys.exit(main())
