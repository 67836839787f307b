"""What must hold between reports of plans that differ in one thing.

usage: PropertiesTest.py PLANC

Every function named check_… is a property. It gets a tool and reads as a
sentence; `expect` says what did not hold.
"""
import sys

from Plans import Fails, Tool, plan

BATCH = "batch 64 sequences of 1024 tokens, micro 2 sequences"
DATA = "shard batch over dp"


def expect(holds, *found):
    if not holds:
        raise Fails(" ".join(str(value) for value in found))


def close(a, b, by):
    return abs(a - b) <= by * max(abs(a), abs(b))


def bubble_of(report):
    return report["bubble"]["fraction"]


def exposed(report, kind):
    return sum(one["exposed_s"] for one in report["communication"]
               if one["kind"] == kind)


def in_flight(report, kind):
    return sum(one["in_flight_s"] for one in report["communication"]
               if one["kind"] == kind)


def part(report, name):
    return [stage[name] for stage in report["memory"]["stages"]]


def data_parallel(*more, **fields):
    return plan(BATCH, "mesh dp = rest", DATA, *more, **fields)


def pipelined(schedule, *more, micro_batches=8, stages=4, **fields):
    return plan(f"batch {micro_batches} sequences of 1024 tokens",
                f"mesh pp = {stages}",
                "pipeline over pp { schedule " + schedule + " }", *more,
                accelerators=stages, **{"layers": 16, **fields})


VARIETY = {
    "data": data_parallel(),
    "tensor": plan(BATCH, "mesh dp = rest, tp = 4", DATA,
                   "shard heads, kv_heads, ffn, vocab, seq over tp",
                   "shard optimizer over dp"),
    "context": plan(BATCH, "mesh dp = rest, cp = 2", DATA,
                    "shard seq over cp", accelerators=16),
    "whole state": plan(BATCH, "mesh replica = 2, fsdp = rest",
                        "shard batch over replica, fsdp",
                        "shard parameters, gradients, optimizer over fsdp",
                        "recompute all", accelerators=16),
    "pipeline": plan("batch 32 sequences of 1024 tokens",
                     "mesh dp = 2, pp = 4, tp = 2", DATA,
                     "shard heads, kv_heads, ffn, vocab, seq over tp",
                     "shard optimizer over dp",
                     "pipeline over pp { schedule Interleaved1F1B, "
                     "virtual 2 }", accelerators=16, layers=16),
    "recompute": pipelined("1F1B", "recompute attention"),
    "clumsy": plan("batch 16 sequences of 512 tokens",
                   "mesh dp = rest, pp = 4", DATA,
                   "pipeline over pp { schedule GPipe, "
                   "layers [1, 7, 2, 6] }",
                   "overlap none", accelerators=8, layers=16),
}


def check_products_of_the_backward_are_twice_those_of_the_forward(tool):
    """Model FLOPs of the program text: every product has two gradients."""
    for name in ("data", "pipeline", "recompute"):
        done = tool.run(["emit", "FILE", "--stage=program"], VARIETY[name])
        forward = backward = 0
        block = None
        for line in done.stdout.decode().splitlines():
            words = line.split()
            if words[:1] == ["block"]:
                block = {"forward": 0, "backward": 0}
            if words[:1] not in (["matmul"], ["attention"],
                                 ["attention-grad"]):
                continue
            if "phase=recompute" in words:
                continue
            flops = [int(word.split("=")[1]) for word in words
                     if word.startswith("modelflops=")]
            expect(block is not None and len(flops) == 1, line)
            if any(word.startswith("phase=") for word in words):
                backward += flops[0]
            else:
                forward += flops[0]
        expect(forward > 0 and backward == 2 * forward, name, forward,
               backward)


def check_6nd_is_six_times_parameters_times_tokens(tool):
    for name, text in VARIETY.items():
        report = tool.report(text)
        tokens = report["sequences"] * report["sequence_length"]
        expect(report["model_flops"]["6nd"]
               == 6 * report["active_parameters"] * tokens, name)


def check_no_parallelism_changes_model_flops(tool):
    flops = {name: tool.report(VARIETY[name])["model_flops"]
             for name in ("data", "tensor", "context", "whole state")}
    for name, found in flops.items():
        expect(found == flops["data"], name, found, flops["data"])


def check_full_counts_attention_twice(tool):
    report = tool.report(data_parallel())
    tokens = report["sequences"] * report["sequence_length"]
    # forward 2 products of 2 s d each, backward twice that, half of it causal
    attention = 6 * tokens * report["sequence_length"] * 1024 * 4
    expect(report["model_flops"]["full"] - report["model_flops"]["exact"]
           == attention, attention, report["model_flops"])


def check_recomputation_raises_executed_not_model_flops(tool):
    none = tool.report(pipelined("1F1B"))
    attention = tool.report(pipelined("1F1B", "recompute attention"))
    everything = tool.report(pipelined("1F1B", "recompute all"))
    for report in (attention, everything):
        expect(report["model_flops"] == none["model_flops"])
    expect(none["recomputed_flops"] == 0
           < attention["recomputed_flops"] < everything["recomputed_flops"])
    for one, more in ((none, attention), (attention, everything)):
        expect(more["step_time_s"] > one["step_time_s"])
        for convention in ("exact", "full", "6nd"):
            expect(more["mfu"][convention] < one["mfu"][convention])
        expect(more["memory"]["peak_bytes"] < one["memory"]["peak_bytes"])
    for convention in ("exact", "full", "6nd"):
        expect(none["hfu"][convention] == none["mfu"][convention])
        expect(everything["hfu"][convention] > everything["mfu"][convention])
    # a layer once more: a third of its model FLOPs, so at most of all
    share = everything["recomputed_flops"] / none["model_flops"]["exact"]
    expect(0.25 < share < 1 / 3, share)


def check_exposed_reduction_grows_when_bandwidth_falls(tool):
    found = [exposed(tool.report(data_parallel(
        accelerators=16, fabric=f"{rate}GB/s")), "gradients")
        for rate in (400, 50, 10, 2, 0.5)]
    expect(all(a <= b for a, b in zip(found, found[1:])), found)
    expect(found[-1] > 10 * found[1], found)


def check_exposed_reduction_vanishes_with_reduction_in_the_network(tool):
    """M12: where switches sum, less is sent, and what is left hides. How much
    less is a question of the same messages: `bucket auto` may send others."""
    def at(rate, reduction, accelerators, bucket="bucket layer"):
        return tool.report(plan(
            f"batch {4 * accelerators} sequences of 1024 tokens, "
            "micro 4 sequences", "mesh dp = rest", DATA, bucket,
            accelerators=accelerators, node=rate, fabric="25GB/s",
            layers=16, reduction=reduction))
    for accelerators in (8, 128):  # between nodes a ring may be as good
        ring = at("300GB/s", "", accelerators)
        switch = at("300GB/s", "in_network_reduction true", accelerators)
        for amount in (in_flight, exposed):
            less = amount(ring, "gradients") - amount(switch, "gradients")
            expect(less > 0 if accelerators == 8 else less >= 0,
                   accelerators, less)
        free = [at("300GB/s", reduction, accelerators, "bucket auto")
                for reduction in ("", "in_network_reduction true")]
        expect(free[1]["step_time_s"] <= free[0]["step_time_s"],
               accelerators, [one["step_time_s"] for one in free])
    # Slow enough for the ring to show, not for the switch.
    ring = at("200GB/s", "", 8, "bucket auto")
    switch = at("200GB/s", "in_network_reduction true", 8, "bucket auto")
    expect(exposed(ring, "gradients") > 10 * exposed(switch, "gradients"),
           exposed(ring, "gradients"), exposed(switch, "gradients"))
    hidden = at("300GB/s", "in_network_reduction true", 8, "bucket auto")
    expect(exposed(hidden, "gradients") < 0.01 * hidden["step_time_s"],
           exposed(hidden, "gradients"), hidden["step_time_s"])


def check_the_waterfall_is_everything(tool):
    for name, text in VARIETY.items():
        report = tool.report(text)
        time = sum(one["time_s"] for one in report["waterfall"])
        total = sum(one["fraction"] for one in report["waterfall"])
        expect(close(time, report["step_time_s"], 1e-9), name, time,
               report["step_time_s"])
        expect(abs(total - 1) < 1e-5, name, total)
        expect(all(one["fraction"] >= 0 for one in report["waterfall"]), name)
        expect(close(report["waterfall"][0]["fraction"],
                     report["mfu"]["exact"], 1e-5), name)


def check_layers_are_the_step_of_one_accelerator(tool):
    """Twice the layers add what the layers say they take."""
    for more, layers in (("", 1), ("recompute all", 1),
                         ("recompute all for 4 layers", 2)):
        short, long = (tool.report(plan(
            "batch 12 sequences of 1024 tokens, micro 2 sequences",
            "mesh dp = rest", DATA, more, accelerators=1, layers=count))
            for count in (8, 16))
        expect(len(long["layers"]) == layers, more, long["layers"])
        expect(sum(one["layers"] for one in long["layers"]) == 16)
        taken = [6 * sum(one["layers"] * (one["forward_s"] + one["backward_s"])
                         for one in report["layers"])
                 for report in (short, long)]
        updates = [one["time_s"] for report in (short, long)
                   for one in report["waterfall"] if one["cause"] == "update"]
        added = long["step_time_s"] - short["step_time_s"]
        expect(close(added - (updates[1] - updates[0]), taken[1] - taken[0],
                     1e-3), more, added, taken, updates)


def check_mfu_is_what_it_says(tool):
    for name, text in VARIETY.items():
        report = tool.report(text)
        able = (report["accelerators"] * report["peak"]["flops_per_s"]
                * report["step_time_s"])
        for convention, value in report["mfu"].items():
            expect(close(value, report["model_flops"][convention] / able,
                         1e-5), name, convention)
        for convention, value in report["hfu"].items():
            executed = (report["model_flops"][convention]
                        + report["recomputed_flops"])
            expect(close(value, executed / able, 1e-5), name, convention)
        tokens = report["sequences"] * report["sequence_length"]
        expect(close(report["tokens_per_s"], tokens / report["step_time_s"],
                     1e-5), name)


def check_hidden_and_exposed_are_what_was_in_flight(tool):
    for name, text in VARIETY.items():
        for one in tool.report(text)["communication"]:
            expect(one["hidden_s"] >= 0 and one["exposed_s"] >= 0, name, one)
            expect(one["exposed_at_least_s"] <= one["exposed_s"] * (1 + 1e-9),
                   name, one)
            expect(close(one["hidden_s"] + one["exposed_s"],
                         one["in_flight_s"], 1e-6)
                   or one["hidden_s"] == 0, name, one)


def check_no_order_beats_the_bound(tool):
    for name, text in VARIETY.items():
        orders = tool.report(text)["orders"]
        report = tool.report(text)
        expect(orders["bound_s"] <= orders["chosen_s"], name, orders)
        expect(orders["bound_s"] <= orders["framework_s"], name, orders)
        expect(orders["bound_s"] <= orders["program_s"], name, orders)
        expect(orders["chosen_s"] == report["step_time_s"], name, orders)
        if name != "clumsy":
            expect(orders["chosen_s"] <= orders["framework_s"]
                   <= orders["program_s"], name, orders)
        else:
            expect(orders["chosen_s"] == orders["program_s"], name, orders)


def check_the_bubble_of_equal_chunks_is_its_formula(tool):
    """To within what embedding, loss and transfers add."""
    free = {"node": "1000TB/s", "vocab": 64, "layers": 64}
    for schedule, chunks in (("GPipe", 1), ("1F1B", 1),
                             ("Interleaved1F1B, virtual 2", 2),
                             ("Interleaved1F1B, virtual 4", 4)):
        for micro_batches in (4, 16):
            report = tool.report(pipelined(
                schedule, micro_batches=micro_batches, **free))
            formula = 3 / (chunks * micro_batches + 3)
            expect(close(report["bubble"]["formula_fraction"], formula, 1e-5),
                   schedule, report["bubble"])
            expect(abs(bubble_of(report) - formula) < 0.03, schedule,
                   bubble_of(report), formula)


def check_interleaving_lowers_the_bubble(tool):
    found = [bubble_of(tool.report(pipelined(schedule)))
             for schedule in ("1F1B", "Interleaved1F1B, virtual 2",
                              "Interleaved1F1B, virtual 4")]
    expect(found[0] > found[1] > found[2], found)


SCHEDULES = ("GPipe", "1F1B", "Eager1F1B", "kFkB, group 2",
             "Interleaved1F1B, virtual 2", "LoopedBFS, virtual 2", "ZBH1",
             "ZBH2", "InterleavedZeroBubble, virtual 2", "ZBV", "VHalf", "VMin",
             "DualPipe", "DualPipeV", "Hanayo", "Chimera")


def check_every_schedule_does_the_same_work(tool):
    """Model FLOPs over peak: MFU × step time."""
    found = {schedule: tool.report(pipelined(schedule))
             for schedule in SCHEDULES}
    work = [report["mfu"]["exact"] * report["step_time_s"]
            for report in found.values()]
    expect(all(close(one, work[0], 1e-4) for one in work), work)
    expect(bubble_of(found["ZBH1"]) < bubble_of(found["1F1B"]))

    def most(schedule, part):
        return max(stage[part]
                   for stage in found[schedule]["memory"]["stages"])
    activations = [most(s, "activations_bytes")
                   for s in ("VMin", "VHalf", "ZBV", "GPipe")]
    expect(activations == sorted(activations), activations)
    for schedule in ("DualPipe", "Chimera"):
        both = sum(stage["parameters_bytes"]
                   for stage in found[schedule]["memory"]["stages"])
        one = sum(stage["parameters_bytes"]
                  for stage in found["1F1B"]["memory"]["stages"])
        expect(both == 2 * one, schedule, both, one)


def check_more_micro_batches_lower_the_bubble(tool):
    for schedule in ("GPipe", "1F1B", "Interleaved1F1B, virtual 2"):
        found = [bubble_of(tool.report(pipelined(schedule, micro_batches=m)))
                 for m in (4, 8, 16, 32)]
        expect(all(a > b for a, b in zip(found, found[1:])), schedule, found)


def check_uneven_layers_raise_the_bubble(tool):
    even = tool.report(pipelined("1F1B, layers [4, 4, 4, 4]"))
    uneven = tool.report(pipelined("1F1B, layers [2, 4, 4, 6]"))
    expect(bubble_of(uneven) > bubble_of(even))
    expect(uneven["step_time_s"] > even["step_time_s"])


def check_1f1b_keeps_fewer_activations_than_gpipe(tool):
    gpipe = part(tool.report(pipelined("GPipe", micro_batches=16)),
                 "activations_bytes")
    ofob = part(tool.report(pipelined("1F1B", micro_batches=16)),
                "activations_bytes")
    expect(all(a < b for a, b in zip(ofob, gpipe)), ofob, gpipe)
    expect(all(a > b for a, b in zip(ofob, ofob[1:])), ofob)  # 4, 3, 2, 1
    expect(close(ofob[1], 3 * ofob[2] / 2, 0.02), ofob)
    expect(gpipe[1] == gpipe[2], gpipe)


def check_each_cut_of_state_lowers_memory_by_its_share(tool):
    base = tool.report(data_parallel())["memory"]
    state = ["optimizer", "gradients", "parameters"]
    previous = base
    for count in (1, 2, 3):
        clause = "shard " + ", ".join(state[:count]) + " over dp"
        memory = tool.report(data_parallel(clause))["memory"]
        expect(memory["peak_bytes"] < previous["peak_bytes"], clause)
        previous = memory
        for name in state[:count]:
            whole = base["stages"][0][name + "_bytes"]
            cut = memory["stages"][0][name + "_bytes"]
            expect(whole > 0 and whole / 8 <= cut < whole / 8 * 1.1, name,
                   whole, cut)


def check_wider_axes_lower_memory(tool):
    for axis, cut in (("tp", "heads, kv_heads, ffn, vocab, seq"),
                      ("cp", "seq")):
        found = [tool.report(plan(
            "batch 64 sequences of 1024 tokens, micro 4 sequences",
            f"mesh dp = rest, {axis} = {ways}", DATA,
            f"shard {cut} over {axis}"))["memory"]["peak_bytes"]
            for ways in (1, 2, 4)]
        expect(found[0] > found[1] > found[2], axis, found)


def check_larger_micro_batches_take_memory_and_give_speed(tool):
    found = [tool.report(plan(
        f"batch 64 sequences of 1024 tokens, micro {size} sequences",
        "mesh dp = rest", DATA)) for size in (1, 2, 4, 8)]
    memory = [one["memory"]["peak_bytes"] for one in found]
    step = [one["step_time_s"] for one in found]
    expect(all(a < b for a, b in zip(memory, memory[1:])), memory)
    expect(all(a > b for a, b in zip(step, step[1:])), step)


def check_overlap_helps_and_its_price_is_less_than_its_gain(tool):
    slow = {"accelerators": 16, "fabric": "5GB/s"}
    none = tool.report(data_parallel("overlap none", **slow))
    some = tool.report(data_parallel("overlap gradients", **slow))
    expect(some["step_time_s"] < none["step_time_s"])
    expect(exposed(some, "gradients") < exposed(none, "gradients"))


def check_memory_that_does_not_fit_is_its_own_outcome(tool):
    peak = tool.report(data_parallel())["memory"]["peak_bytes"]
    for more, status in ((1 << 20, 0), (-(1 << 20), 4)):
        done = tool.run(["report", "FILE"],
                        data_parallel(memory=f"{(peak + more) // 1024}KiB"))
        expect(done.returncode == status, more, done.returncode)


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
    print(f"{len(checks)} properties of {len(tool.known)} reports, "
          f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
