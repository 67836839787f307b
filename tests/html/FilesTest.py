"""What is in pages and pictures, read as text.

usage: FilesTest.py PLANC
"""
import bisect
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from Pages import (LARGE, PLANS, SPILL, Checks, blocks_of, data_of, example,
                   memory_of, runs_of)

SVG = "{http://www.w3.org/2000/svg}"


def check_page(checks, name, page, report):
    checks.check(len(page) < 5_000_000, f"{name}: {len(page)} bytes")
    data = data_of(page)
    checks.check(data["report"] == report, f"{name}: not the report's JSON")
    rest = page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    rest = re.sub(r'<script type="application/json".*?</script>', "", rest,
                  flags=re.S)
    checks.check("Content-Security-Policy" in rest
                 and "default-src 'none'" in rest, f"{name}: no policy")
    checks.check(not re.search(r'\b(?:src|srcset|action)=', rest),
                 f"{name}: loads something")
    checks.check(not re.search(r'href="[^#]', rest), f"{name}: leads elsewhere")
    checks.check("{{" not in rest.split("<script>")[0], f"{name}: a mark is left")
    return data


def check_explanation(checks, name, plan, found, passes):
    if passes > 10_000:
        checks.check(found is None, f"{name}: {passes} passes are explained")
        return
    wanted = json.loads(checks.run("explain", plan, "--format", "json"))
    # Other words of the plan are tried by the verb alone.
    for each in (found, wanted):
        each.pop("plan_changes")
    checks.check(found == wanted, f"{name}: another explanation")


def check_picture(checks, name, picture, report):
    stages = report["memory"]["stages"]
    checks.check([one["name"] for one in picture["stages"]]
                 == [one["stage"] for one in stages], f"{name}: other stages")
    most = [max(held for _, held in points) for points in memory_of(picture)]
    checks.check(most == [stage["peak_bytes"] for stage in stages],
                 f"{name}: the most of a curve is not the stage's peak")
    tick, length = picture["tick_s"], picture["length"]
    ranks = busy = 0
    for stage in picture["stages"]:
        for track in stage["tracks"]:
            blocks = blocks_of(picture, track)
            checks.check(all(begin >= 0 and end <= length + 1
                             for begin, end, _ in blocks)
                         and all(flat >= 0 for flat in track["blocks"][0::3]),
                         f"{name}: {stage['name']} {track['name']} overlaps")
        computes = blocks_of(picture, stage["tracks"][0])
        busy += stage["ranks"] * sum(kind[0] * kind[1] / 1000
                                     for _, _, kind in computes)
        ranks += stage["ranks"]
    # Idle by the waterfall: what ranks wait for outside their passes is no
    # more than what passes leave of the step.
    step = report["step_time_s"]
    waits = sum(row["time_s"] for row in report["waterfall"]
                if row["cause"] in ("bubble", "skew", "step_end"))
    idle = step - busy * tick / ranks
    checks.check(idle >= waits - 0.001 * step,
                 f"{name}: idle {idle} s, waits {waits} s of {step} s")
    checks.check(busy * tick / ranks <= step * 1.001,
                 f"{name}: computes {busy * tick / ranks} s of {step} s")
    for shade in {kind[2] for kind in picture["kinds"]}:
        checks.check(shade < len(picture["shades"]), f"{name}: no shade {shade}")


def check_assumptions(checks, name, rows):
    names = {row["name"] for row in rows}
    checks.check({"peak", "memory", "link"} <= names, f"{name}: {names}")
    checks.check(all(row["value"] and row["line"] > 0 for row in rows),
                 f"{name}: an assumption without value or place")
    measured = [row for row in rows if row["name"] == "matmul_efficiency"]
    checks.check(all(row["source"] for row in measured),
                 f"{name}: no source of matmul_efficiency")


def check_svg(checks, name, text, words):
    checks.check(len(text) < 1_000_000, f"{name}: {len(text)} bytes")
    root = xml.fromstring(text)
    checks.check(root.get("role") == "img"
                 and root.get("aria-labelledby") == "title description",
                 f"{name}: unnamed")
    checks.check(root.find(SVG + "title").text and root.find(SVG + "desc").text,
                 f"{name}: no title or description")
    tags = {one.tag for one in root.iter()}
    checks.check(tags <= {SVG + tag for tag in
                          ("svg", "title", "desc", "style", "rect", "path",
                           "text", "g")}, f"{name}: {tags}")
    checks.check("prefers-color-scheme:dark" in text, f"{name}: no dark")
    shown = " ".join(one.text or "" for one in root.iter(SVG + "text"))
    for word in words:
        checks.check(word in shown, f"{name}: no `{word}`")


def check_timeline(checks, name, text, report, picture):
    """Bands are named, send and receive differ, and a step that is drawn
    longer than it takes says so."""
    root = xml.fromstring(text)
    title = root.find(SVG + "title").text
    drawn, step = picture["length"] * picture["tick_s"], report["step_time_s"]
    checks.check(("into the next" in title) == (drawn > 1.001 * step),
                 f"{name}: {drawn} s of {step} s is `{title}`")
    shown = [one.text or "" for one in root.iter(SVG + "text")]
    stages = picture["stages"]
    bands = [track["name"] for stage in stages for track in stage["tracks"][1:]]
    if len(stages) <= 24:
        for band in set(bands):
            checks.check(shown.count(band) == bands.count(band),
                         f"{name}: {band} names {shown.count(band)} bands")
    else:
        checks.check(any("waiting, " in one for one in shown),
                     f"{name}: bands have no names")
    if "recv" in bands:
        used = {one.get("class") for one in root.iter(SVG + "path")}
        checks.check({"pipeline", "receive"} <= used,
                     f"{name}: send and receive look alike: {used}")


def check_passes(checks, name, picture, program):
    """Each pass says its chunk and micro-batch, and those of the other pass
    where it is two."""
    for stage, runs in zip(picture["stages"], runs_of(program)):
        track = stage["tracks"][0]
        flat = track["blocks"]
        pairs = track.get("with", [-1] * (len(flat) // 3))
        shown = []
        for i, paired in enumerate(pairs):
            kind = picture["kinds"][flat[3 * i + 1]]
            if picture["shades"][kind[2]]["key"] != "update":
                shown.append((flat[3 * i + 2], kind[7], paired, kind[8]))
        checks.check(shown == [run[1:] for run in runs],
                     f"{name}: {stage['name']} has other passes")


def check_memory(checks, plan, *more):
    """A curve with fewer points than the step has is never below what the
    trace counts, nor above it for longer than a part of the step."""
    picture = data_of(checks.run("report", plan, "--format", "html",
                                 *more))["picture"]
    events = json.loads(checks.run("trace", plan, *more))["traceEvents"]
    tick = picture["tick_s"] * 1e6
    length = picture["length"] * tick
    fewer = 0
    for pid, points in enumerate(memory_of(picture)):
        shown = [(at * tick, held) for at, held in points]
        counted = [(event["ts"], event["args"]["bytes"]) for event in events
                   if event["ph"] == "C" and event["pid"] == pid]
        fewer += len(shown) < len(counted) // 2
        times = sorted({at for at, _ in shown + counted} | {length})
        below = above = longest = 0
        for begin, end in zip(times, times[1:]):
            if end - begin < 2 * tick + 1e-3:
                continue  # rounded to ticks
            held, true = (one[bisect.bisect(one, (begin + (end - begin) / 2,))
                              - 1][1] for one in (shown, counted))
            below += held < true
            above = above + end - begin if held > true else 0
            longest = max(longest, above)
        checks.check(below == 0, f"{plan}: {pid} is below what is held")
        checks.check(longest <= length / 500 + 2 * tick,
                     f"{plan}: {pid} stays above for {longest} of {length} us")
    checks.check(fewer > 0, f"{plan}: every point is there")


def check_hostile(checks):
    """No text of a plan's ends the block that it stands in."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "</script><b>.plan")
        os.makedirs(os.path.dirname(path))
        with open(PLANS[1]) as source, open(path, "w") as copy:
            copy.write(source.read())
        page = checks.run("report", path, "--format", "html")
        checks.check(data_of(page)["report"]["file"].endswith("</script><b>.plan"),
                     "the file's name is not what it was")
        checks.check(page.count("</script>") == 2, "a block was ended")


def check_forms(checks):
    """What a file's name ends in says the form; a word says it before."""
    with tempfile.TemporaryDirectory() as folder:
        for ending, begin in (("html", "<!DOCTYPE html>"), ("svg", "<svg "),
                              ("json", "{\n"), ("md", "### "), ("txt", "ddp "),
                              ("HTML", "<!DOCTYPE html>"), ("markdown", "### "),
                              ("htm", "<!DOCTYPE html>")):
            path = os.path.join(folder, "a." + ending)
            checks.run("report", PLANS[1], "-o", path)
            with open(path) as written:
                checks.check(written.read().startswith(begin), path)
        path = os.path.join(folder, "a.html")
        checks.run("report", PLANS[1], "-o", path, "--format", "json")
        with open(path) as written:
            checks.check(written.read().startswith("{"), path)
        for verb, ending, begin in (("check", "sarif", '{\n  "$schema"'),
                                    ("trace", "json", "{"),
                                    ("trace", "SVG", "<svg "),
                                    ("explain", "json", "{")):
            path = os.path.join(folder, verb + "." + ending)
            checks.run(verb, PLANS[1], "-o", path)
            with open(path) as written:
                text = written.read()
            checks.check(text.startswith(begin), f"{path}: {text[:40]}")
        for verb, ending, writes in (("trace", "html", "chrome (.json) or svg"),
                                     ("explain", "html", "text or json"),
                                     ("check", "svg", "sarif")):
            path = os.path.join(folder, "no." + ending)
            done = subprocess.run([checks.planc, verb, PLANS[1], "-o", path],
                                  capture_output=True, text=True)
            checks.check(done.returncode == 1 and writes in done.stderr
                         and not os.path.exists(path),
                         f"{verb} -o .{ending}: {done.returncode} {done.stderr}")


def main():
    checks = Checks(sys.argv[1])
    plans = {str(stages): plan for stages, plan in PLANS.items()}
    plans["spill"] = SPILL
    for name in ("deepseek_v3", "schedules", "long_context"):
        plans[name] = example(name)
    for name, plan in plans.items():
        report = checks.json(plan)
        page = checks.run("report", plan, "--format", "html")
        data = check_page(checks, name, page, report)
        check_picture(checks, name, data["picture"], report)
        if plan != LARGE:
            check_passes(checks, name, data["picture"],
                         checks.run("emit", plan, "--stage=program"))
        check_assumptions(checks, name, data["assumptions"]["rows"])
        passes = sum(len(stage["tracks"][0]["blocks"]) // 3
                     for stage in data["picture"]["stages"])
        check_explanation(checks, name, plan, data["explanation"], passes)
        timeline = checks.run("trace", plan, "--format", "svg")
        check_svg(checks, name + " timeline", timeline,
                  [report["memory"]["stages"][-1]["stage"], "forward"])
        check_timeline(checks, name, timeline, report, data["picture"])
        checks.check(("into the next" in timeline) == (plan == SPILL),
                     f"{name}: what ends in the next step")
        waterfall = checks.run("report", plan, "--format", "svg")
        check_svg(checks, name + " waterfall", waterfall,
                  ["model arithmetic", "below peak"])
        if plan == PLANS[16]:
            again = checks.run("report", plan, "--format", "html")
            checks.check(page == again, name + ": twice is not the same")
    check_memory(checks, LARGE, "--plan", "long")
    check_hostile(checks)
    check_forms(checks)
    checks.end()


main()
