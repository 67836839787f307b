"""Public configurations and what planc says of them: cases.csv, a row a case.

usage: CasesTest.py PLANC [CASE…]

A row names a plan, how the run ends, what the messages say (regular expressions
joined by ` ;; `), and numbers of the report as `name = value ~ tolerance in %`.
A row that waits for something planc cannot do yet is only tried: once it holds,
that is said, and its `waits` is to be cleared.
"""
import csv
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GIB = 1 << 30
OUTCOMES = {0: "ok", 2: "illegal", 3: "expectation", 4: "infeasible",
            5: "unsupported"}
STATES = ("parameters_bytes", "gradients_bytes", "optimizer_bytes")


def tokens_of(report):
    return report["sequences"] * report["sequence_length"]


def stages_of(report):
    return report["memory"]["stages"]


def number_of(report, name):
    """A number of a report by the name a row gives it."""
    word, _, rest = name.partition(".")
    stages = stages_of(report)
    if word == "states":  # GiB a rank; of the stage that has most, or of one
        each = [sum(stage[part] for part in STATES) for stage in stages]
        return (each[int(rest)] if rest else max(each)) / GIB
    if word == "peak":  # GiB
        return report["memory"]["peak_bytes"] / GIB
    if word == "others":  # GiB: the fullest stage's, all but states
        fullest = max(stages, key=lambda stage: stage["peak_bytes"])
        return (fullest["peak_bytes"]
                - sum(fullest[part] for part in STATES)) / GIB
    if word == "logits":  # GiB, of the stage that has them
        return max(stage["logits_bytes"] for stage in stages) / GIB
    if word == "held":  # thousand million parameters a rank of a stage, bf16
        return stages[int(rest)]["parameters_bytes"] / 2 / 1e9
    if word == "parameters":
        return report["parameters"] / 1e9
    if word == "gflop_per_token":
        return report["model_flops"][rest] / tokens_of(report) / 1e9
    if word == "mfu":
        return report["mfu"][rest]
    if word == "mfu_at":  # convention and the seconds measured: mfu_at.full.105.2
        convention, _, seconds = rest.partition(".")
        return (report["model_flops"][convention] / float(seconds)
                / report["accelerators"] / report["peak"]["flops_per_s"])
    if word == "share_of_peak":  # of TFLOP/s
        return float(rest) * 1e12 / report["peak"]["flops_per_s"]
    if word == "tflops":
        return report["model_tflops_per_accelerator_by_convention"][rest]
    if word == "micro_batches":
        return report["micro_batches"]
    if word == "bubble_formula":
        return report["bubble"]["formula_fraction"]
    if word == "step":
        return report["step_time_s"]
    if word == "hours_per_trillion":  # accelerator hours a trillion tokens
        return (report["step_time_s"] / tokens_of(report) * 1e12
                * report["accelerators"] / 3600)
    raise KeyError(f"no number is called {name}")


def run(planc, row, with_numbers):
    """Messages, and the report for a program where somebody reads it."""
    path = os.path.join("plans", row["file"])
    command = [planc, "report", path, "--plan", row["plan"], "--verify-each"]
    command += row["options"].split()
    text = subprocess.run(command, capture_output=True, text=True, cwd=HERE,
                          check=False)
    if not with_numbers:
        return text, None
    found = subprocess.run(command + ["--format", "json"], capture_output=True,
                           text=True, cwd=HERE, check=False)
    return text, found


def faults_of(planc, row, reports, compared):
    """What does not hold of a row."""
    text, found = run(planc, row, row["numbers"] or row["case"] in compared)
    out = []
    outcome = OUTCOMES.get(text.returncode, f"exit {text.returncode}")
    if outcome != row["outcome"]:
        first = text.stderr.strip().split("\n")[0]
        out.append(f"is {outcome}, not {row['outcome']}: {first}")
    said = text.stderr + text.stdout
    for pattern in filter(None, row["says"].split(" ;; ")):
        if not re.search(pattern, said):
            out.append(f"does not say `{pattern}`")
    if found and text.returncode in (0, 3, 4):
        reports[row["case"]] = json.loads(found.stdout)
    if not row["numbers"] or text.returncode not in (0, 3, 4):
        return out + (["has no numbers"] if row["numbers"] else [])
    report = reports[row["case"]]
    for part in row["numbers"].split(";"):
        name, value, tolerance = re.fullmatch(
            r"\s*(\S+)\s*=\s*(\S+)\s*~\s*(\S+)\s*", part).groups()
        name, _, other = name.partition("/")
        got = number_of(report, name)
        if other and other not in reports:
            out.append(f"{other} has no report to compare with")
            continue
        if other:  # a ratio to another row's
            got /= number_of(reports[other], name)
        if abs(got - float(value)) > abs(float(value)) * float(tolerance) / 100:
            out.append(f"{part.split('=')[0].strip()} is {got:.6g}, "
                       f"not {value} ± {tolerance} %")
    return out


def main():
    planc, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with open(os.path.join(HERE, "cases.csv"), newline="",
              encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    failures, waiting, reports = 0, 0, {}
    compared = {case for row in rows
                for case in re.findall(r"/(\S+)", row["numbers"])}
    for row in rows:
        if wanted and row["case"] not in wanted:
            continue
        faults = faults_of(planc, row, reports, compared)
        if row["waits"]:
            waiting += 1
            if wanted:
                print(f"{row['case']} waits for {row['waits']}:", *faults,
                      sep="\n  ")
            elif not faults:
                print(f"{row['case']} holds and need not wait for "
                      f"{row['waits']} any more")
        elif faults:
            failures += 1
            print(f"{row['case']} ({row['source']}, {row['file']}:"
                  f"{row['plan']})", *faults, sep="\n  ")
    used = {row["file"] for row in rows}
    for name in sorted(set(os.listdir(os.path.join(HERE, "plans"))) - used):
        failures += 1
        print(f"no row is about plans/{name}")
    print(f"{len(rows)} cases, {waiting} of them waiting, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
