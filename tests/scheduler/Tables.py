#!/usr/bin/env python3
"""The tables of docs/scheduler.md that planc itself makes.

usage: Tables.py PLANC [--write]

`cases`: three steps in program order, in the framework's, as planc orders them, beside
the bound. `ablation`: plans of the examples with every decision on, and each off in
turn. Fails if the document does not say what planc says now, if an order chosen is
slower than the framework's or the program's, or if a decision buys nothing anywhere;
with --write the document is made anew.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCUMENT = ROOT / "docs" / "scheduler.md"

CASES = [("overlap/llama3_8b.plan", "ddp"), ("overlap/llama3_8b.plan", "moved"),
         ("overlap/llama2_70b.plan", "zero3"),
         ("overlap/llama2_70b.plan", "zero3_moved"),
         ("overlap/llama2_70b.plan", "hybrid"),
         ("overlap/llama2_70b.plan", "hybrid_moved"),
         ("overlap/gpt3_slow.plan", "slow"), ("overlap/gpt3_slow.plan", "moved")]

PLANS = [("deepseek_v3", "pretrain"), ("gpt2_small_ddp", "ddp"),
         ("gpt3_175b", "selective"), ("gpt3_175b", "full_recompute"),
         ("llama2_70b_zero3", "hybrid"), ("llama2_70b_zero3", "one_copy"),
         ("llama3_405b", "pretrain"), ("llama3_8b_64", "pretrain"),
         ("llama3_8b_64", "long_context"), ("long_context", "gather"),
         ("long_context", "ring"), ("mixtral_8x7b", "pretrain"),
         ("schedules", "one_f_one_b"), ("schedules", "interleaved"),
         ("schedules", "zb_h1"), ("schedules", "zb_v"), ("tour", "pretrain"),
         ("overlap/gpt2_xl", "chosen"), ("overlap/llama3_8b", "ddp"),
         ("overlap/gpt3_slow", "slow")]

WORDS = ["gradients", "parameters", "pipeline", "tensor", "context", "experts",
         "weights"]
# What is turned off, and how.
DECISIONS = [("framework's buckets", "bucket {framework}"),
             ("no holds", "bucket eager")] + [
    (f"no {word}", f"overlap not {word}") for word in WORDS]


def report(planc, path, plan):
    """The JSON report of one plan. One that does not fit (4) has one too."""
    run = subprocess.run(
        [planc, "report", str(path), "--plan", plan, "--format", "json"],
        capture_output=True, text=True, check=False)
    if run.returncode not in (0, 3, 4):
        raise SystemExit(f"{path}:{plan}: {run.stderr}")
    return json.loads(run.stdout)


def reports(planc, path, plan, clauses, names):
    """The reports of variants of one plan, by name, from a file beside its."""
    text = path.read_text(encoding="utf-8")
    base = "all_on_here"
    text += f"\nplan {base} = {plan} with {{ {clauses} }}\n"
    for name, more in names.items():
        text += f"plan {name} = {base} with {{ {more} }}\n"
    beside = path.with_name("variants_of_one_plan.plan")
    beside.write_text(text, encoding="utf-8")
    return {name: report(planc, beside, name) for name in [base, *names]}, base


def time(seconds):
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def cases(planc):
    """(table, what is wrong)"""
    lines = ["| plan | order | step | exposed | MFU | above the bound |",
             "|---|---|---:|---:|---:|---:|"]
    wrong = []
    for file, plan in CASES:
        orders = report(planc, ROOT / "examples" / file, plan)["orders"]
        if orders["chosen_s"] > min(orders["program_s"], orders["framework_s"]):
            wrong.append(f"{file}:{plan}: the chosen order is slower")
        label = f"`{file}`, `{plan}`"
        for key, name in (("program", "program"), ("framework", "framework"),
                          ("chosen", "planc"), ("bound", "bound")):
            one = orders[key]
            exposed = time(one["exposed_s"]) if "exposed_s" in one else "–"
            above = 100 * (one["step_time_s"] / orders["bound_s"] - 1)
            lines.append(
                f"| {label} | {name} | {time(one['step_time_s'])} | {exposed} "
                f"| {100 * one['mfu']:.1f} % | "
                f"{'–' if key == 'bound' else f'{above:.1f} %'} |")
            label = ""
    return "\n".join(lines), wrong


def ablation(planc):
    """(table, what is wrong); works on a copy of the examples."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
        return ablation_in(planc, pathlib.Path(folder))


def ablation_in(planc, examples):
    """(table, what is wrong)"""
    lines = ["| plan | all on | " + " | ".join(name for name, _ in DECISIONS) + " |",
             "|---|---:|" + "---:|" * len(DECISIONS)]
    bought = {name: 0.0 for name, _ in DECISIONS}
    for file, plan in PLANS:
        path = examples / f"{file}.plan"
        text = path.read_text(encoding="utf-8")
        framework = "megatron" if "pipeline" in text or "optimizer" in text \
            else "ddp"
        found, base = reports(
            planc, path, plan,
            f"overlap {', '.join(WORDS)}, bucket auto",
            {f"without_{i}": off.format(framework=framework)
             for i, (_, off) in enumerate(DECISIONS)})
        whole = found[base]["step_time_s"]
        cells = []
        for i, (name, _) in enumerate(DECISIONS):
            worth = 100 * (found[f"without_{i}"]["step_time_s"] / whole - 1)
            bought[name] = max(bought[name], worth)
            cells.append(f"{worth:+.1f} %" if abs(worth) >= 0.05 else "·")
        lines.append(f"| `{file}` `{plan}` | {time(whole)} | "
                     + " | ".join(cells) + " |")
    return "\n".join(lines), [f"`{name}` makes nothing longer anywhere"
                              for name, most in bought.items() if most < 0.05]


def main():
    planc, write = sys.argv[1], "--write" in sys.argv[2:]
    text = now = DOCUMENT.read_text(encoding="utf-8")
    wrong = []
    for name, make in (("cases", cases), ("ablation", ablation)):
        table, bad = make(planc)
        wrong += bad
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        head, rest = now.split(begin)
        now = head + begin + table + end + rest.split(end)[1]
    if write:
        DOCUMENT.write_text(now, encoding="utf-8")
    elif now != text:
        wrong.append("docs/scheduler.md is not what planc says now: "
                     "tests/scheduler/Tables.py PLANC --write")
    print("\n".join(wrong) if wrong
          else f"{len(CASES)} cases, {len(PLANS)} plans")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
