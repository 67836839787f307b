#!/usr/bin/env python3
"""Holds planc's reports against what was published (published.csv beside this file).

usage: validate.py PLANC [--write]

Prints a line a row and fails if one is off by more than its tolerance, or if
the table in docs/validation.md is not what planc says now. With --write the table
there is made anew.
"""
import csv
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parent.parent / "docs" / "validation.md"
GIB = 2**30
KEEPS = 0.8  # of a known miss, or its entry is out of date


def report(planc, file, plan):
    """The JSON report of one plan. A plan that does not fit (4) has one too."""
    run = subprocess.run(
        [planc, "report", str(HERE / "plans" / file), "--plan", plan,
         "--format", "json"],
        capture_output=True, text=True, check=False)
    if run.returncode not in (0, 3, 4):
        raise SystemExit(f"{file}:{plan}: exit {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout)


QUANTITIES = {
    "tflops_full": lambda r: r["mfu"]["full"] * r["peak"]["flops_per_s"] / 1e12,
    "tflops_exact": lambda r: r["mfu"]["exact"] * r["peak"]["flops_per_s"] / 1e12,
    "tokens_s": lambda r: r["tokens_per_s_per_accelerator"],
    "step_s": lambda r: r["step_time_s"],
    "memory_gib": lambda r: max(
        s["peak_bytes"] for s in r["memory"]["stages"]) / GIB,
    "activations_gib": lambda r: max(
        s["activations_bytes"] for s in r["memory"]["stages"]) / GIB,
}


def table(measured):
    """The rows as a Markdown table."""
    lines = ["| row | quantity | published | planc | off | allowed | source |",
             "|---|---|---:|---:|---:|---:|---|"]
    for row, found, off in measured:
        name, _, _, quantity, published, tolerance, _, source = row
        lines.append(f"| {name} | `{quantity}` | {published} | {found:.2f} | "
                     f"{100 * off:+.1f} % | {100 * float(tolerance):.0f} % | "
                     f"{source} |")
    return "\n".join(lines)


def hold_document(measured, write):
    """True if the table between the marks of the document is today's."""
    text = DOCUMENT.read_text(encoding="utf-8")
    begin, end = "<!-- table -->\n", "\n<!-- end of table -->"
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    now = head + begin + table(measured) + end + tail
    if write:
        DOCUMENT.write_text(now, encoding="utf-8")
    elif now != text:
        print("docs/validation.md is not what planc says now: "
              "tests/validation/validate.py PLANC --write")
        return False
    return True


def main():
    planc, write = sys.argv[1], "--write" in sys.argv[2:]
    with open(HERE / "published.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if line[0] != "#"))
    if not rows:
        raise SystemExit("published.csv holds no row")
    reports, measured, failed, missed = {}, [], 0, 0
    for row in rows:
        name, file, plan, quantity, published, tolerance, known, _ = row
        if (file, plan) not in reports:
            reports[file, plan] = report(planc, file, plan)
        found = QUANTITIES[quantity](reports[file, plan])
        off = found / float(published) - 1
        measured.append((row, found, off))
        misses = abs(off) > float(tolerance)
        # A known miss may neither grow nor shrink unseen.
        bad = abs(off) > float(known or tolerance) or (
            bool(known) and abs(off) < KEEPS * float(known))
        failed += bad
        missed += misses and not bad
        verdict = "OFF" if bad else "known" if misses else "ok"
        print(f"{verdict:5} {name:20} {quantity:16} published "
              f"{float(published):9.2f}  found {found:9.2f}  {100 * off:+6.1f} %")
    print(f"\n{len(rows) - failed - missed} of {len(rows)} rows within their "
          f"tolerance, {missed} known to miss it, {failed} off")
    return 1 if failed or not hold_document(measured, write) else 0


if __name__ == "__main__":
    sys.exit(main())
