"""What the tests of pages share: the plans, planc, and failures by the dozen."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LARGE = os.path.join(HERE, "large.plan")
SPILL = os.path.join(HERE, "spill.plan")


def example(name):
    return os.path.join(ROOT, "examples", name + ".plan")


# By how many stages they have.
PLANS = {1: example("gpt2_small_ddp"), 4: example("mixtral_8x7b"),
         16: example("llama3_405b"), 64: LARGE}


class Checks:
    """Counts what holds and says what does not."""

    def __init__(self, planc):
        self.planc = planc
        self.failures = 0
        self.count = 0

    def check(self, holds, text):
        self.count += 1
        if not holds:
            self.failures += 1
            print("FAILED:", text)

    def run(self, *arguments):
        done = subprocess.run([self.planc, *arguments], capture_output=True,
                              text=True, cwd=ROOT)
        # A plan may miss what it expects, and still has its report.
        self.check(done.returncode in (0, 3), " ".join(arguments) + done.stderr)
        return done.stdout

    def json(self, plan):
        return json.loads(self.run("report", plan, "--format", "json"))

    def end(self):
        print(self.count, "checks,", self.failures, "failed")
        sys.exit(1 if self.failures or not self.count else 0)


def data_of(page):
    """The block of JSON in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>',
                      page, re.S)
    return json.loads(found.group(1))


def memory_of(picture):
    """Bytes over time of each stage, as pairs of tick and bytes."""
    out = []
    for stage in picture["stages"]:
        flat, at, points = stage["memory"], 0, []
        for i in range(0, len(flat), 2):
            at += flat[i]
            points.append((at, flat[i + 1]))
        out.append(points)
    return out


def runs_of(program):
    """Passes of each class of a program's text, by start, each (pass,
    micro-batch, chunk, micro-batch and chunk of a backward beside it)."""
    out = []
    for line in program.split("\n"):
        words = line.split()
        if words[:1] == ["class"]:
            out.append([])
        if words[:1] == ["run"]:
            has = dict(word.split("=", 1) for word in words[1:] if "=" in word)
            if has.get("pass") != "update":
                out[-1].append((has.get("pass", "forward"),
                                *(int(has.get(key, -1)) for key in (
                                    "micro", "chunk", "withmicro", "withchunk"))))
    return out


def blocks_of(picture, track, columns=3):
    """Blocks of a track as (begin, end, kind) in ticks."""
    out, end = [], 0
    flat = track["blocks"]
    for i in range(0, len(flat), columns):
        kind = picture["kinds"][flat[i + 1]]
        begin = end + flat[i]
        end = begin + kind[0]
        out.append((begin, end, kind))
    return out
