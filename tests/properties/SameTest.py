"""Runs that must give the same bytes, or the same report but for names.

usage: SameTest.py PLANC
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from Plans import Fails, Tool, plan

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
STAGES = ["ast", "sema", "graph", "sharded", "stages", "program", "schedule",
          "timeline"]
CLAUSES = ["batch 64 sequences of 1024 tokens, micro 2 sequences",
           "mesh dp = rest, pp = 2, tp = 4",
           "shard batch over dp",
           "shard heads, kv_heads, ffn, vocab, seq over tp",
           "shard optimizer over dp",
           "pipeline over pp { schedule Interleaved1F1B, virtual 2 }",
           "recompute attention",
           "bucket 2MiB"]


def examples():
    """Every file with a plan to run: not what others import."""
    return [path for path in sorted(
        glob.glob(os.path.join(ROOT, "examples/**/*.plan"), recursive=True))
            if "/common/" not in path]


def plans_of(path):
    with open(path, encoding="utf-8") as text:
        return re.findall(r"^plan (\w+)(?! *\w*\()", text.read(), re.M)


def same(what, one, other):
    if one != other:
        raise Fails(f"{what}: {first_difference(one, other)}")


def first_difference(one, other):
    one, other = str(one), str(other)
    for at, (a, b) in enumerate(zip(one, other)):
        if a != b:
            return f"…{one[max(0, at - 60):at + 60]}…{other[at:at + 60]}…"
    return f"one is {len(one)} long, the other {len(other)}"


def output(tool, *arguments, **more):
    done = subprocess.run([tool.planc, *arguments], capture_output=True,
                          check=False, **more)
    if done.returncode not in (0, 3, 4):
        raise Fails(f"{arguments}: exit {done.returncode} "
                    + done.stderr.decode())
    return done.stdout


def check_every_stage_prints_the_same_bytes_twice(tool):
    for path in examples():
        for stage in STAGES:
            arguments = ["emit", path, "--stage=" + stage]
            same(f"{path} {stage}", output(tool, *arguments),
                 output(tool, *arguments))


def check_reports_and_traces_are_the_same_bytes_twice(tool):
    for path in examples():
        for arguments in (["report", path, "--format=json"],
                          ["report", path, "--format=text"],
                          ["report", path, "--format=markdown"],
                          ["trace", path]):
            same(path, output(tool, *arguments), output(tool, *arguments))


def check_the_language_of_the_machine_changes_nothing(tool):
    path = examples()[0]
    plain = dict(os.environ, LC_ALL="C")
    for place in ("de_DE.UTF-8", "C.UTF-8", "tr_TR.UTF-8", "nonsense"):
        there = dict(os.environ, LC_ALL=place, LANG=place,
                     TZ="Pacific/Chatham", COLUMNS="40")
        for arguments in (["report", path], ["report", path, "--format=json"],
                          ["emit", path, "--stage=schedule"]):
            same(place, output(tool, *arguments, env=plain),
                 output(tool, *arguments, env=there))


def check_where_it_is_run_changes_only_the_shown_path(tool):
    path = os.path.join(ROOT, "examples/llama3_8b_64.plan")
    base = output(tool, "report", path, "--format=json")
    for folder, name in ((ROOT, "examples/llama3_8b_64.plan"),
                         (ROOT, "./examples/../examples/llama3_8b_64.plan"),
                         (os.path.join(ROOT, "examples"),
                          "llama3_8b_64.plan")):
        found = output(tool, "report", name, "--format=json", cwd=folder)
        same(name, found.replace(name.encode(), b"FILE"),
             base.replace(path.encode(), b"FILE"))


def check_flat_and_reused_simulation_agree(tool):
    """Every layer simulated on its own gives the report of reused ones."""
    for path in examples():
        for name in plans_of(path):
            arguments = ["report", path, "--plan", name, "--format=json"]
            same(f"{path} {name}", output(tool, *arguments),
                 output(tool, *arguments, "--flat"))


def check_traces_are_json_whose_events_nest(tool):
    for path in examples():
        trace = json.loads(output(tool, "trace", path))
        tracks = {}
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                begin, length = float(event["ts"]), float(event["dur"])
                tracks.setdefault((event["pid"], event["tid"]), []).append(
                    (begin, -length, event["name"]))
        if not tracks:
            raise Fails(f"{path}: no events")
        for track, events in tracks.items():
            nest(f"{path} {track}", sorted(events))


def nest(where, events):
    """On one track an event lies inside an earlier one or after it."""
    open_until = []
    for begin, length, name in events:
        while open_until and open_until[-1] <= begin + 1e-3:
            open_until.pop()
        end = begin - length
        if open_until and end > open_until[-1] + 1e-3:
            raise Fails(f"{where}: {name} at {begin} overlaps")
        open_until.append(end)


def check_a_copied_file_is_the_same_plan(tool):
    with tempfile.TemporaryDirectory() as folder:
        for path in examples():
            if "/recipes/" in path:  # imports its neighbours
                continue
            copy = os.path.join(folder, os.path.basename(path))
            shutil.copy(path, copy)
            same(path,
                 output(tool, "report", path, "--format=json").replace(
                     path.encode(), b""),
                 output(tool, "report", copy, "--format=json").replace(
                     copy.encode(), b""))


def numbers(report):
    """A report without the words of the user's text."""
    out = dict(report)
    for key in ("file", "line", "lines", "diagnostics"):
        out.pop(key)
    out["mesh"] = [axis["size"] for axis in report["mesh"]]
    out["costs"] = sorted((line["cost_s"], line["what"])
                          for line in report["lines"])
    return out


def base(tool):
    return numbers(tool.report(plan(*CLAUSES, accelerators=16, layers=8)))


def check_names_of_axes_mean_nothing(tool):
    for names in (("a", "b", "c"), ("tp", "dp", "pp"), ("x9", "_", "stage"),
                  ("seqs", "hid", "model")):
        new = dict(zip(("dp", "pp", "tp"), names))
        renamed = [re.sub(r"\b[dpt]p\b", lambda found: new[found.group()],
                          clause) for clause in CLAUSES]
        found = tool.report(plan(*renamed, accelerators=16, layers=8))
        same(str(names), numbers(found), base(tool))


def check_order_of_clauses_means_nothing(tool):
    for clauses in (CLAUSES[::-1], CLAUSES[4:] + CLAUSES[:4],
                    CLAUSES[1::2] + CLAUSES[::2]):
        found = tool.report(plan(*clauses, accelerators=16, layers=8))
        same(clauses[0], numbers(found), base(tool))


def check_units_mean_nothing(tool):
    for old, new in (("2MiB", "2048KiB"), ("2MiB", "2097152B"),
                     ("2MiB", "2.097152MB"),
                     ("64 sequences of 1024 tokens",
                      "65536 tokens in sequences of 1024"),
                     ("64 sequences of", "2 ** 6 sequences of")):
        changed = [clause.replace(old, new) for clause in CLAUSES]
        found = tool.report(plan(*changed, accelerators=16, layers=8))
        same(new, numbers(found), base(tool))
    for fields in ({"node": "3200Gb/s"}, {"node": "0.4TB/s"},
                   {"fabric": "400Gb/s"}, {"fabric": "50000MB/s"},
                   {"memory": "81920MiB"}):
        found = tool.report(plan(*CLAUSES, accelerators=16, layers=8,
                                 **fields))
        same(str(fields), numbers(found), base(tool))


def check_spaces_and_comments_mean_nothing(tool):
    text = plan(*CLAUSES, accelerators=16, layers=8)
    changed = re.sub(r" +", "   ", text.replace("\n", "  # so\n"))
    changed = changed.replace("{", "{ # open\n\n", 1).replace("\n", "\r\n")
    same("spaces", numbers(tool.report(changed)), base(tool))


def check_an_axis_of_one_means_nothing(tool):
    clauses = [clause.replace("mesh dp", "mesh one = 1, dp")
               for clause in CLAUSES] + ["shard seq over one"]
    found = numbers(tool.report(plan(*clauses, accelerators=16, layers=8)))
    want = base(tool)
    found["mesh"].remove(1)
    same("one", found, want)


def check_text_and_json_say_the_same(tool):
    """What a person reads is what a program reads, to three digits."""
    scale = {"": 1, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
    times = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
    for path in examples():
        text = output(tool, "report", path).decode()
        report = json.loads(output(tool, "report", path, "--format=json"))
        found = re.search(
            r"^step +([\d.,]+) (\S+) +([\d.,]+) ?([kMBT]?) tokens/s, "
            r"([\d.,]+) ?([kMBT]?) per accelerator", text, re.M)
        if not found:
            raise Fails(f"{path}: no step line")
        step, unit, rate, prefix, each, each_prefix = found.groups()
        for shown, wanted in (
                (float(step.replace(",", "")) * times[unit],
                 report["step_time_s"]),
                (float(rate.replace(",", "")) * scale[prefix],
                 report["tokens_per_s"]),
                (float(each.replace(",", "")) * scale[each_prefix],
                 report["tokens_per_s_per_accelerator"])):
            if abs(shown - wanted) > 0.006 * wanted:
                raise Fails(f"{path}: text {shown}, JSON {wanted}")
        mfu = float(re.search(r"^MFU +([\d.]+) %", text, re.M).group(1))
        if abs(mfu - 100 * report["mfu"]["exact"]) > 0.051:
            raise Fails(f"{path}: MFU {mfu}")


def check_reports_in_a_pipe_are_plain_and_a_hundred_columns_wide(tool):
    for path in examples():
        for name in plans_of(path):
            text = output(tool, "report", path, "--plan", name).decode()
            for line in text.splitlines():
                if len(line) > 100 or "\x1b" in line or line != line.rstrip():
                    raise Fails(f"{path} {name}: {line!r}")


def main():
    tool = Tool(sys.argv[1])
    failures = 0
    checks = [(name, check) for name, check in sorted(globals().items())
              if name.startswith("check_")]
    for name, check in checks:
        try:
            check(tool)
        except Fails as why:  # the rest may still hold
            failures += 1
            print(f"{name[6:].replace('_', ' ')}: {why}")
    print(f"{len(checks)} properties, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
