"""Plans at random: a report whose parts agree, or a named reason why not.

usage: RandomPlansTest.py PLANC [COUNT [SEED]]

Every plan that compiles is simulated twice, with equal layers reused and flat,
with every verifier on, and the two reports are the same.
"""
import json
import random
import sys

from Plans import Tool, plan


def divisors(number, most):
    return [d for d in (1, 2, 3, 4, 6, 8, 16) if number % d == 0 and d <= most]


def mesh_of(pick, accelerators):
    """Sizes of up to four axes, in some order, whose product fits."""
    sizes, left = {}, accelerators
    for axis in pick.sample(["a", "b", "c", "d"], pick.randint(1, 4)):
        sizes[axis] = pick.choice(divisors(left, 16))
        left //= sizes[axis]
    first = pick.choice(sorted(sizes))
    sizes[first] *= left
    return sizes


def shards_of(pick, axes):
    """One list an axis; most make sense, some do not."""
    out, state = [], []
    lists = ["batch", "batch", "heads, kv_heads, ffn, vocab",
             "heads, kv_heads, ffn, vocab, seq", "seq", "ffn", "vocab",
             "heads, kv_heads", "hidden", "batch, seq"]
    for axis in axes:
        chosen = pick.choice(lists)
        out.append(f"shard {chosen} over {axis}")
        if "batch" in chosen:
            state.append(axis)
    if state and pick.random() < 0.6:
        names = ["optimizer", "gradients", "parameters"][:pick.randint(1, 3)]
        over = pick.sample(state, pick.randint(1, len(state)))
        order = [axis for axis in axes if axis in over]
        out.append(f"shard {', '.join(names)} over {', '.join(order)}")
    return out


def pipeline_of(pick, axis):
    schedule = pick.choice([
        "GPipe", "1F1B", "Interleaved1F1B, virtual 2",
        "Interleaved1F1B, virtual 3", "GPipe, group 3", "Eager1F1B",
        "kFkB, group 2", "LoopedBFS, virtual 2", "ZBH1", "ZBH2",
        "InterleavedZeroBubble, virtual 2", "ZBV", "VHalf", "VMin", "DualPipe",
        "DualPipeV", "Hanayo", "Chimera"])
    return f"pipeline over {axis} {{ schedule {schedule} }}"


def clauses_of(pick, accelerators):
    sizes = mesh_of(pick, accelerators)
    axes = list(sizes)
    out = [f"batch {pick.choice([16, 32, 64, 96])} sequences of "
           f"{pick.choice([128, 1024, 4096])} tokens, "
           f"micro {pick.choice([1, 1, 2, 4])} sequences",
           "mesh " + ", ".join(f"{a} = {n}" for a, n in sizes.items())]
    if len(axes) > 1 and pick.random() < 0.6:
        stage = pick.choice(axes)
        axes.remove(stage)
        out.append(pipeline_of(pick, stage))
    out += shards_of(pick, axes)
    for some, chance in (
            (["recompute all", "recompute attention"], 0.4),
            (["bucket 1MiB", "bucket layer", "bucket one", "bucket ddp",
              "bucket megatron", "bucket auto", "bucket 25MiB"], 0.6),
            (["overlap none", "overlap gradients",
              "overlap gradients, parameters", "overlap pipeline",
              "overlap parameters"], 0.4),
            (["kernels attention = unfused", "kernels norm = unfused",
              "kernels loss = eager"], 0.3),
            (["precision gradients = bf16", "precision compute = fp32"], 0.2),
            (["optimizer sgd", "optimizer adamw { clip none }"], 0.2)):
        if pick.random() < chance:
            out.append(pick.choice(some))
    return out


def text_of(pick):
    accelerators = pick.choice([1, 2, 4, 8, 16, 32, 96])
    return plan(*clauses_of(pick, accelerators), accelerators=accelerators,
                layers=pick.choice([2, 5, 8, 12]),
                vocab=pick.choice([4096, 50257]),
                fabric=pick.choice(["5GB/s", "50GB/s"]),
                reduction=pick.choice(["", "in_network_reduction true"]))


def faults_of(report, flat):
    """What does not agree in a report."""
    out = []
    orders, step = report["orders"], report["step_time_s"]
    if orders["chosen_s"] != step:
        out.append("the step is not the chosen order's")
    for name in ("program_s", "framework_s", "chosen_s"):
        if orders[name] < orders["bound_s"]:
            out.append(f"{name} beats the bound")
    total = sum(one["time_s"] for one in report["waterfall"])
    if abs(total - step) > 1e-12 * len(report["waterfall"]):  # 1 ps a part
        out.append(f"the waterfall adds up to {total} of {step}")
    if any(one["time_s"] < 0 for one in report["waterfall"]):
        out.append("a negative part of the waterfall")
    for convention, value in report["hfu"].items():
        if value < report["mfu"][convention]:
            out.append(f"HFU below MFU in {convention}")
    for stage in report["memory"]["stages"]:
        parts = sum(value for name, value in stage.items()
                    if name.endswith("_bytes") and name != "peak_bytes")
        if parts != stage["peak_bytes"]:
            out.append(f"{stage['stage']}: parts {parts}, "
                       f"peak {stage['peak_bytes']}")
    bubble = report["bubble"]
    if bubble and not 0 <= bubble["fraction"] < 1:
        out.append(f"bubble {bubble['fraction']}")
    if report != flat:
        out.append("reused and flat simulation differ")
    return out


def try_one(tool, text):
    """(exit code, what is wrong)"""
    arguments = ["report", "FILE", "--format", "json", "--verify-each"]
    done = tool.run(arguments, text)
    said = done.stderr.decode()
    if done.returncode not in (0, 2, 4, 5):
        return done.returncode, [said]
    if done.returncode in (2, 5):
        named = "error[" in said and "internal" not in said
        return done.returncode, [] if named else ["no reason: " + said]
    flat = tool.run(arguments + ["--flat"])
    return done.returncode, faults_of(json.loads(done.stdout),
                                      json.loads(flat.stdout))


def main():
    tool = Tool(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 120
    pick = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    failures, ends = 0, {}
    for _ in range(count):
        text = text_of(pick)
        code, faults = try_one(tool, text)
        ends[code] = ends.get(code, 0) + 1
        if faults:
            failures += 1
            print(text, *faults, sep="\n")
    print(f"{count} plans, exit codes {dict(sorted(ends.items()))}, "
          f"{failures} failures")
    return 1 if failures or ends.get(0, 0) < count // 8 else 0


if __name__ == "__main__":
    sys.exit(main())
