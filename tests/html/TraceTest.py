"""Traces are what their readers take them for.

usage: TraceTest.py PLANC
"""
import collections
import json
import sys
import time

from Pages import LARGE, PLANS, Checks, example

KEYS = {"Collective name", "In msg nelems", "Out msg nelems", "dtype",
        "Group size", "Process Group Name", "Process Group Description",
        "Process Group Ranks"}


def check_times(checks, events, plan):
    last, negative, unsorted = -1, 0, 0
    for event in events:
        if event["ph"] == "M":
            continue
        unsorted += event["ts"] < last
        last = event["ts"]
        negative += event["ts"] < 0 or event.get("dur", 0) < 0
    checks.check(unsorted == 0, f"{plan}: {unsorted} events out of order")
    checks.check(negative == 0, f"{plan}: {negative} times below zero")


def check_slices(checks, events, plan):
    """Slices of a track stand beside or inside each other."""
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
    crossing = 0
    for slices in tracks.values():
        open_ends = []
        for one in slices:
            end = one["ts"] + one["dur"]
            while open_ends and open_ends[-1] <= one["ts"] + 1e-6:
                open_ends.pop()
            crossing += bool(open_ends) and end > open_ends[-1] + 1e-5
            open_ends.append(end)
    checks.check(crossing == 0, f"{plan}: {crossing} slices cross others")


def check_flows(checks, events, plan, expected):
    ends = collections.defaultdict(dict)
    twice = 0
    for event in events:
        if event["ph"] in "sf":
            twice += event["ph"] in ends[event["id"]]
            ends[event["id"]][event["ph"]] = event
    checks.check(twice == 0, f"{plan}: {twice} ends of arrows stand twice")
    whole = [pair for pair in ends.values() if len(pair) == 2]
    checks.check(len(whole) == len(ends), f"{plan}: an arrow with one end")
    checks.check(bool(ends) == expected, f"{plan}: {len(ends)} arrows")
    checks.check(all(pair["s"]["pid"] != pair["f"]["pid"] for pair in whole),
                 f"{plan}: an arrow inside a stage")
    # Each end lies on a slice of its own track.
    begins = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    loose = sum((e["pid"], e["tid"], e["ts"]) not in begins
                for pair in whole for e in pair.values())
    checks.check(loose == 0, f"{plan}: {loose} ends of arrows on no slice")


def check_memory(checks, events, plan, report):
    most = collections.Counter()
    for event in events:
        if event["ph"] == "C":
            most[event["pid"]] = max(most[event["pid"]],
                                     event["args"]["bytes"])
    peaks = [stage["peak_bytes"] for stage in report["memory"]["stages"]]
    checks.check([most[i] for i in range(len(peaks))] == peaks,
                 f"{plan}: the most of a counter is not the stage's peak")


def check_collectives(checks, events, plan):
    seen = 0
    for event in events:
        given = event.get("args", {})
        if "Collective name" not in given:
            continue
        seen += 1
        checks.check(KEYS <= set(given), f"{plan}: {event}")
        size, name = given["Group size"], given["Collective name"]
        into, out = given["In msg nelems"], given["Out msg nelems"]
        if name == "_allgather_base":
            checks.check(into == out // size, f"{plan}: {event}")
        if name == "_reduce_scatter_base":
            checks.check(out == into // size, f"{plan}: {event}")
        ranks = given["Process Group Ranks"]
        if "..." not in ranks:
            checks.check(len(set(json.loads(ranks))) == size, f"{plan}: {event}")
    checks.check(seen > 0, f"{plan}: no collective says what it is")


def main():
    checks = Checks(sys.argv[1])
    plans = [(PLANS[1], []), (PLANS[4], []), (example("deepseek_v3"), []),
             (example("pipeline_bubble"), []), (LARGE, ["--plan", "small"])]
    for plan, more in plans:
        begin = time.time()
        trace = json.loads(checks.run("trace", plan, *more))
        took = time.time() - begin
        report = json.loads(
            checks.run("report", plan, "--format", "json", *more))
        events = trace["traceEvents"]
        print(f"{plan}: {len(events)} events in {took:.2f} s")
        check_times(checks, events, plan)
        check_slices(checks, events, plan)
        check_flows(checks, events, plan, len(report["memory"]["stages"]) > 1)
        check_memory(checks, events, plan, report)
        check_collectives(checks, events, plan)
    checks.end()


main()
