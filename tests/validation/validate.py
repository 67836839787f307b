#!/usr/bin/env python3
"""Holds planc's reports against what was published (published.csv beside this file).

usage: validate.py PLANC [--table]

Prints a line a row and fails if one is off by more than its tolerance. With
--table the lines are a Markdown table, for docs/validation.md.
"""
import csv
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
GIB = 2**30


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
    "step_s": lambda r: r["step_time_s"],
    "activations_gib": lambda r: max(
        s["activations_bytes"] for s in r["memory"]["stages"]) / GIB,
}


def main():
    planc, table = sys.argv[1], "--table" in sys.argv[2:]
    with open(HERE / "published.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if line[0] != "#"))
    if not rows:
        raise SystemExit("published.csv holds no row")
    reports, failed = {}, 0
    if table:
        print("| row | published | planc | off | allowed | source |")
        print("|---|---|---|---|---|---|")
    for name, file, plan, quantity, published, tolerance, source in rows:
        if (file, plan) not in reports:
            reports[file, plan] = report(planc, file, plan)
        found = QUANTITIES[quantity](reports[file, plan])
        off = found / float(published) - 1
        bad = abs(off) > float(tolerance)
        failed += bad
        if table:
            print(f"| {name} ({quantity}) | {published} | {found:.2f} | "
                  f"{100 * off:+.1f} % | {100 * float(tolerance):.0f} % | {source} |")
        else:
            print(f"{'OFF ' if bad else 'ok  '} {name:20} {quantity:16} published "
                  f"{float(published):9.2f}  found {found:9.2f}  {100 * off:+6.1f} %")
    print(f"\n{len(rows) - failed} of {len(rows)} rows within their tolerance")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
