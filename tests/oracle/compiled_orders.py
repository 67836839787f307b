"""Orders that planc compiles, beside those of schedules.py.

usage: compiled_orders.py PLANC
"""
import os
import re
import subprocess
import sys
import tempfile

import schedules as s

CASES = [
    ("GPipe", "", lambda p, m: s.gpipe(p, m)),
    ("GPipe", "group 3", lambda p, m: s.gpipe(p, m, 3)),
    ("1F1B", "", s.one_f_one_b),
    ("1F1B", "pairs true", s.one_f_one_b_in_pairs),
    ("Eager1F1B", "", s.eager),
    ("kFkB", "group 2", lambda p, m: s.kfkb(p, m, 2)),
    ("Interleaved1F1B", "virtual 2",
     lambda p, m: s.interleaved(p, m, 2, p)),
    ("Interleaved1F1B", "virtual 3, group {m}",
     lambda p, m: s.interleaved(p, m, 3, m)),
    ("LoopedBFS", "virtual 2", lambda p, m: s.looped_bfs(p, m, 2)),
    ("ZBH1", "", lambda p, m: s.zero_bubble(p, m, 1)),
    ("ZBH2", "", lambda p, m: s.zero_bubble(p, m, 2)),
    ("InterleavedZeroBubble", "virtual 2",
     lambda p, m: s.interleaved_zero_bubble(p, m, 2, p)),
    ("ZBV", "", s.zbv),
    ("VHalf", "", lambda p, m: s.v_pattern(p, m, True)),
    ("VMin", "", lambda p, m: s.v_pattern(p, m, False)),
    ("DualPipe", "", s.dualpipe),
    ("DualPipeV", "", s.dualpipe_v),
    ("Hanayo", "", lambda p, m: s.hanayo(p, m, 1)),
    ("Hanayo", "virtual 4", lambda p, m: s.hanayo(p, m, 2)),
    ("Chimera", "", s.chimera),
]
SHAPES = [(2, 4), (2, 6), (4, 8), (4, 12), (6, 12)]

PLAN = """import std.models.llama
import std.clusters.h100
model tiny = llama(layers = 30, hidden = 64, heads = 8, ffn = 128, vocab = 256)
plan p for tiny on h100_pods[{p}] {{
  batch    {m} sequences of 64 tokens
  mesh     pp = {p}
  pipeline over pp {{ schedule {name}{options} }}
}}
"""


def text_of(made):
    """As planc prints it."""
    mixed = any(op.kind == s.INPUT for order in made.orders
                for step in order for op in step)
    held = {made.place(i, c) * made.chunks + c for i in range(made.micros)
            for c in range(made.chunks)}
    several = len(held) > len(made.orders)

    def name(op):
        letter = "B" if op.kind == s.BACKWARD and not mixed else op.kind
        return f"{letter}{op.micro}" + (f".{op.chunk}" if several else "")
    return [" ".join("&".join(name(op) for op in step) for step in order)
            for order in made.orders]


def main():
    planc, wrong, compared = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "order.plan")
        for name, options, make in CASES:
            for p, m in SHAPES:
                chosen = options.format(m=m)
                with open(path, "w", encoding="ascii") as out:
                    out.write(PLAN.format(
                        p=p, m=m, name=name,
                        options=f", {chosen}" if chosen else ""))
                done = subprocess.run(
                    [planc, "emit", path, "--stage=stages", "--verify-each"],
                    text=True, capture_output=True, check=False)
                found = re.findall(r"^stage \d+: (.*)$", done.stdout, re.M)
                compared += 1
                if found != text_of(make(p, m)):
                    wrong += 1
                    print(f"{name} {chosen} p{p} m{m}: another order",
                          done.stderr[:300])
    print(f"{compared} orders, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
