"""What a target's message offers is taken by that target.

usage: TargetsTest.py PLANC [COUNT [SEED]]

Random plans for a framework; each number that a refusal offers is put into the
plan, and the plan is then not refused by a rule any more.
"""
import random
import re
import sys

from Plans import CLUSTER, MODEL, Tool

SCHEDULES = ["GPipe", "1F1B", "Interleaved1F1B", "Interleaved1F1B"]


def numbers_of(pick):
    return {"heads_ways": pick.choice([1, 2, 4, 8]),
            "seq_ways": pick.choice([1, 1, 2, 4, 8]),
            "stages": pick.choice([1, 2, 3, 4, 8]),
            "virtual": pick.choice([1, 2, 3]),
            "m": pick.randint(1, 12), "micro": pick.choice([1, 1, 2]),
            "data": pick.choice([1, 2]), "tokens": 8 * pick.randint(16, 80),
            "sequences": 0}


def text_of(n, other):
    """A plan of these numbers; `other` is what stays as it is."""
    virtual = (f", virtual {n['virtual']}"
               if other["schedule"] == "Interleaved1F1B" else "")
    sequences = n["sequences"] or n["m"] * n["micro"] * n["data"]
    seq = ", seq" if other["seq"] else ""
    accelerators = n["heads_ways"] * n["seq_ways"] * n["stages"] * n["data"]
    return ("language 1\nimport std.models.llama\n"
            + CLUSTER.format(memory="80GiB", node="400GB/s", fabric="50GB/s",
                             reduction="").replace("of 16 ", "of 4096 ")
            + MODEL.format(layers=other["layers"], vocab=other["vocab"]) + f"""
plan p for small on nodes[{accelerators}] {{
  batch {sequences} sequences of {n['tokens']} tokens, micro {n['micro']} sequences
  mesh e = {n['stages']}, d = {n['data']}, c = {n['seq_ways']}, b = {n['heads_ways']}
  shard batch over d
  shard seq over c
  shard heads, kv_heads, ffn, vocab{seq} over b
  shard {other['state']} over d
  pipeline over e {{ schedule {other['schedule']}{virtual} }}
  overlap {other['overlap']}
  target {other['target']}
}}
""")


#: How a message offers numbers, and which of the plan's they are.
OFFERS = [(r"b may be (.*)", "heads_ways"), (r"c may be (.*)", "seq_ways"),
          (r"d may be (.*)", "data"), (r"e may be (.*)", "stages"),
          (r"`virtual` may be (.*)", "virtual"), (r"micro may be (.*)", "micro"),
          (r"sequences of (.*) tokens would do", "tokens"),
          (r"(.*) sequences would do", "sequences")]


def offers_of(said):
    for line in re.findall(r"help: (.*)", said):
        for pattern, number in OFFERS:
            found = re.fullmatch(pattern, line)
            if found:
                yield from ((number, int(value))
                            for value in re.findall(r"\d+", found[1]))
                break


def check(tool, text):
    return tool.run(["check", "FILE"], text).stderr.decode()


def faults_of(tool, numbers, other):
    """(offers tried, what is wrong with them)"""
    said = check(tool, text_of(numbers, other))
    if "target-refuses" not in said:
        return 0, []
    out, tried = [], 0
    refusals = re.findall(r"error\[target-refuses\].*(?:\n(?!.*error\[).*)*", said)
    if len(refusals) > 1:
        return 0, []  # two rules broken at once: one number may not mend both
    for number, value in offers_of(refusals[0]):
        changed = {**numbers, number: value}
        if number != "sequences":
            changed["sequences"] = (numbers["m"] * numbers["micro"]
                                    * numbers["data"])
        again = check(tool, text_of(changed, other))
        tried += 1
        if "error[" in again:
            out.append(f"{number} = {value} was offered:\n{again}")
    return tried, out


def main():
    tool = Tool(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    pick = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    failures, tried = 0, 0
    for _ in range(count):
        numbers = numbers_of(pick)
        other = {"layers": pick.choice([8, 12, 30]),
                 "vocab": pick.choice([4096, 50304]),
                 "schedule": pick.choice(SCHEDULES),
                 "seq": pick.random() < 0.5,
                 "state": pick.choice(["optimizer", "optimizer, gradients"]),
                 "overlap": pick.choice(["pipeline", "gradients"]),
                 "target": pick.choice(["megatron", "torchtitan", "deepspeed"])}
        offers, faults = faults_of(tool, numbers, other)
        tried += offers
        if faults:
            failures += 1
            print(text_of(numbers, other), *faults, sep="\n")
    print(f"{count} plans, {tried} offers tried, {failures} failures")
    return 1 if failures or tried < count // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
