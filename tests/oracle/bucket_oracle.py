"""Optimal buckets, found by looking at every partition: tests/data/bucket_oracle.json.

usage: bucket_oracle.py FILE            compare FILE with what this computes
       bucket_oracle.py FILE --write    make it

Shares nothing with runtime/sched. Items in ready order travel in buckets of
neighbours; a bucket of S bytes begins when its last item is ready and the link
is free, and holds it for alpha + beta * S (integers; picoseconds). With second
legs a bucket then holds a second link for alpha2 + beta2 * S, in order.

Every partition is visited, those that leave the links alike at once. For up to
ten items they are visited one by one as well, and for up to five on one link so
are all sets of buckets in all orders; the answers must agree.
"""
import itertools
import json
import random
import sys

RANDOM_SEED = 20240611


def leave(state, ready, size, case):
    """When the links are free again after one more bucket."""
    first = max(state[0], ready) + case["alpha"] + case["beta"] * size
    if "alpha2" not in case:
        return (first, first)
    return (first, max(state[1], first) + case["alpha2"] + case["beta2"] * size)


def every_partition(case):
    """(optimum, number of partitions that reach it, one of them)."""
    ready, size = case["ready"], case["bytes"]
    n = len(ready)
    reached = [{} for _ in range(n + 1)]  # state -> (count, sizes of buckets)
    reached[0][(0, 0)] = (1, ())
    for i in range(n):
        for state, (count, sizes) in reached[i].items():
            for j in range(i + 1, n + 1):
                after = leave(state, ready[j - 1], sum(size[i:j]), case)
                known = reached[j].get(after, (0, None))
                reached[j][after] = (known[0] + count,
                                     known[1] or sizes + (j - i,))
    best = min(state[1] for state in reached[n])
    ways = [v for state, v in reached[n].items() if state[1] == best]
    return best, sum(count for count, _ in ways), ways[0][1]


def finish(case, sizes):
    state, at = (0, 0), 0
    for count in sizes:
        at += count
        state = leave(state, case["ready"][at - 1],
                      sum(case["bytes"][at - count:at]), case)
    return state[1]


def plain(case):
    """The same optimum from each of the 2^(n-1) partitions by itself."""
    n = len(case["ready"])
    best = None
    for cuts in itertools.product((0, 1), repeat=n - 1):
        sizes, run = [], 1
        for cut in cuts:
            if cut:
                sizes.append(run)
                run = 0
            run += 1
        sizes.append(run)
        at = finish(case, sizes)
        best = at if best is None else min(best, at)
    return best


def set_partitions(items):
    if not items:
        yield []
        return
    head, rest = items[0], items[1:]
    for parts in set_partitions(rest):
        yield [[head]] + parts
        for i in range(len(parts)):
            yield parts[:i] + [[head] + parts[i]] + parts[i + 1:]


def any_order(case):
    """Buckets of any items in any order, on one link."""
    best = None
    for parts in set_partitions(list(range(len(case["ready"])))):
        for order in itertools.permutations(parts):
            state = (0, 0)
            for part in order:
                state = leave(state, max(case["ready"][i] for i in part),
                              sum(case["bytes"][i] for i in part), case)
            best = state[1] if best is None else min(best, state[1])
    return best


def one_by_one(case):
    return finish(case, [1] * len(case["ready"]))


def steady(name, n, every, alpha, beta, given=None):
    """Equal items, one each `every`."""
    case = {"name": name, "ready": [every * (i + 1) for i in range(n)],
            "bytes": [1] * n, "alpha": alpha, "beta": beta}
    if given:
        case["given"] = given
    return case


def named():
    yield {"name": "MG-WFBP's merge rule gives 8", "ready": [0, 1, 3],
           "bytes": [1, 1, 1], "alpha": 2, "beta": 1, "given": [2, 1]}
    yield {"name": "sending all that is ready gives 9", "ready": [0, 0, 1],
           "bytes": [1, 1, 1], "alpha": 3, "beta": 1, "given": [2, 1]}
    # Where the network binds buckets grow by about (alpha + beta b) / every:
    # these reach the optimum, though others do too.
    yield steady("network bound: 1, 1, 3, 7", 12, 3, 1, 6, [1, 1, 3, 7])
    yield steady("network bound: 1, 1, 2, 8, 20", 32, 9, 1, 24,
                 [1, 1, 2, 8, 20])
    yield steady("compute bound: buckets stay small", 12, 10, 3, 2)
    yield steady("no latency: every partition that waits for none", 8, 3, 0, 4)
    yield {"name": "a large last item", "ready": [2, 4, 6, 8, 10],
           "bytes": [1, 1, 1, 1, 20], "alpha": 2, "beta": 1}
    yield {"name": "latency alone", "ready": [0, 1, 2, 3, 4, 5],
           "bytes": [0] * 6, "alpha": 7, "beta": 0}


def drawn(count, two):
    dice = random.Random(RANDOM_SEED + two)
    for i in range(count):
        n = dice.randint(1, 10)
        at, ready = 0, []
        for _ in range(n):
            at += dice.randint(0, 6)
            ready.append(at)
        case = {"name": f"drawn {i}", "ready": ready,
                "bytes": [dice.randint(0, 8) for _ in range(n)],
                "alpha": dice.randint(0, 7), "beta": dice.randint(0, 3)}
        if two:
            case["name"] = f"two links, drawn {i}"
            case["alpha2"] = dice.randint(0, 7)
            case["beta2"] = dice.randint(0, 3)
        yield case


def solved(case):
    optimum, ways, sizes = every_partition(case)
    n = len(case["ready"])
    if n <= 10:
        assert plain(case) == optimum, case
    if n <= 5 and "alpha2" not in case:
        assert any_order(case) == optimum, case
    case["optimum"] = optimum
    case["ways"] = ways
    if ways == 1:
        case["buckets"] = list(sizes)
    case["one bucket"] = finish(case, [n])
    case["one by one"] = one_by_one(case)
    if "given" in case:
        case["given finish"] = finish(case, case["given"])
    return case


def text():
    cases = [solved(case) for case in
             itertools.chain(named(), drawn(150, 0), drawn(150, 1))]
    lines = ",\n".join(json.dumps(case) for case in cases)
    return "[\n" + lines + "\n]\n"


def main():
    path = sys.argv[1]
    if "--write" in sys.argv[2:]:
        with open(path, "w") as out:
            out.write(text())
        return 0
    with open(path) as file:
        if file.read() == text():
            return 0
    print(f"{path} is not what bucket_oracle.py computes")
    return 1


if __name__ == "__main__":
    sys.exit(main())
