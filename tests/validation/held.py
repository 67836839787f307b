#!/usr/bin/env python3
"""Holds planc's reports against what was published (held.csv beside this file).

usage: held.py PLANC

Prints a line a row and fails if one is off by more than its tolerance, or if a known
miss grows or shrinks. Remaking docs/validation.md moves none of it.
"""
import csv
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
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


def main():
    planc = sys.argv[1]
    with open(HERE / "held.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if line[0] != "#"))
    if not rows:
        raise SystemExit("held.csv holds no row")
    reports, failed, missed = {}, 0, 0
    for row in rows:
        name, file, plan, quantity, published, tolerance, known, _ = row
        if (file, plan) not in reports:
            reports[file, plan] = report(planc, file, plan)
        found = QUANTITIES[quantity](reports[file, plan])
        off = found / float(published) - 1
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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
