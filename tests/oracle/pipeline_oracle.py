"""Pipelines, computed twice.

This file has its own small simulator, which shares nothing with planc: a rank
runs its operations in a given order, one at a time; an operation starts when
the one before it has ended and what it needs has arrived, c later when it comes
from another rank; messages have a latency and nothing else. Every case is
written as a program text, run by planc-opt, and compared to the last
picosecond: makespan, busy and idle time of every rank, both bubble fractions
(METRICS M6), waits for messages, peaks in flight, messages.

Beside that each case meets the closed form of its schedule:

  GPipe            Huang et al., 1811.06965
  1F1B             PipeDream-flush; Narayanan et al., 2104.04473
  interleaved      the same, section 2.2
  ZB-H1, ZB-H2     Qi et al., 2401.10241, with that paper's measured times and
                   published bubble rates

usage: pipeline_oracle.py PLANC_OPT
"""
import concurrent.futures
import dataclasses
import fractions
import os
import random
import re
import subprocess
import sys
import tempfile

FORWARD, BACKWARD, WEIGHT = "forward", "backward", "weight-gradient"


@dataclasses.dataclass(frozen=True)
class Op:
    kind: str
    micro: int
    stage: int


@dataclasses.dataclass
class Case:
    name: str
    ranks: int
    stages: int
    orders: list  # of lists of Op, by rank
    times: dict   # kind -> list of durations by stage
    latency: int = 0
    claims: list = dataclasses.field(default_factory=list)


# --- schedules ---------------------------------------------------------------

def gpipe(p, m):
    return [[Op(kind, i, r) for kind in (FORWARD, BACKWARD) for i in range(m)]
            for r in range(p)]


def warm_up_then_pairs(forwards, backwards, warm):
    order = forwards[:warm]
    for k, backward in enumerate(backwards):
        order += forwards[warm + k:warm + k + 1] + [backward]
    return order


def one_f_one_b(p, m, ahead=1):
    return [warm_up_then_pairs([Op(FORWARD, i, r) for i in range(m)],
                               [Op(BACKWARD, i, r) for i in range(m)],
                               min(m, ahead * (p - 1 - r)))
            for r in range(p)]


def interleaved(p, m, v, n):
    visits = [(i, chunk) for begin in range(0, m, n) for chunk in range(v)
              for i in range(begin, min(m, begin + n))]
    return [warm_up_then_pairs(
        [Op(FORWARD, i, chunk * p + r) for i, chunk in visits],
        [Op(BACKWARD, i, (v - 1 - chunk) * p + r) for i, chunk in visits],
        min(m * v, 2 * (p - 1 - r) + (v - 1) * n)) for r in range(p)]


def zero_bubble(p, m, depth):
    orders = []
    for r in range(p):
        order = [Op(FORWARD, i, r) for i in range(min(m, depth * (p - 1 - r)))]
        forwards, weights = len(order), 0
        for i in range(m):
            if forwards < m:
                order.append(Op(FORWARD, forwards, r))
                forwards += 1
            order.append(Op(BACKWARD, i, r))
            if i + 1 > depth * r:
                order.append(Op(WEIGHT, weights, r))
                weights += 1
        orders.append(order + [Op(WEIGHT, i, r) for i in range(weights, m)])
    return orders


# --- the simulator -----------------------------------------------------------

def needs(op, stages):
    if op.kind == FORWARD:
        return Op(FORWARD, op.micro, op.stage - 1) if op.stage else None
    if op.kind == WEIGHT:
        return Op(BACKWARD, op.micro, op.stage)
    if op.stage == stages - 1:
        return Op(FORWARD, op.micro, op.stage)
    return Op(BACKWARD, op.micro, op.stage + 1)


def simulate(case):
    """(start, end) of every operation and what its rank waited for a message on
    the wire before it; None for an order that can never run."""
    done, at = {}, [0] * case.ranks
    free, wire = [0] * case.ranks, [0] * case.ranks
    moved = True
    while moved:
        moved = False
        for r, order in enumerate(case.orders):
            while at[r] < len(order):
                op = order[at[r]]
                need = needs(op, case.stages)
                start = free[r]
                if need is not None:
                    if need not in done:
                        break
                    sent = done[need][1]
                    if need.stage % case.ranks != r:
                        start = max(start, sent + case.latency)
                        wire[r] += start - max(free[r], min(sent, start))
                    else:
                        start = max(start, sent)
                free[r] = start + case.times[op.kind][op.stage]
                done[op] = (start, free[r])
                at[r] += 1
                moved = True
    if any(at[r] < len(order) for r, order in enumerate(case.orders)):
        return None
    return done, wire


def peak(order):
    most = now = 0
    for op in order:
        now += op.kind == FORWARD
        most = max(most, now)
        now -= op.kind == BACKWARD
    return most


def crossings(case):
    return sum(1 for order in case.orders for op in order
               if op.kind != WEIGHT and receives_from(case, op) is not None)


def receives_from(case, op):
    """The rank that sends what the operation needs."""
    if op.kind == WEIGHT:
        return None
    need = needs(op, case.stages)
    if need is None or need.stage % case.ranks == op.stage % case.ranks:
        return None
    return need.stage % case.ranks


def expected(case):
    run = simulate(case)
    if run is None:
        return None
    done, wire = run
    p = case.ranks
    begin = min(start for start, _ in done.values())
    end = max(end for _, end in done.values())
    busy = [sum(done[op][1] - done[op][0] for op in order)
            for order in case.orders]
    own = [done[order[-1]][1] - done[order[0]][0] for order in case.orders]
    span = end - begin
    return {
        "makespan": end,
        "span": span,
        "global": fractions.Fraction(p * span - sum(busy), p * span),
        "own": fractions.Fraction(max(own) - max(busy), max(own)),
        "transfer": fractions.Fraction(sum(wire), p * span),
        "messages": crossings(case),
        "ranks": [(busy[r], span - busy[r], peak(case.orders[r]))
                  for r in range(p)],
        "times": [[done[op] for op in order] for order in case.orders],
    }


# --- program text ------------------------------------------------------------

def sends_to(case, op):
    """The rank that waits for the result, and which of its operations."""
    if op.kind == FORWARD and op.stage + 1 < case.stages:
        after = Op(FORWARD, op.micro, op.stage + 1)
    elif op.kind == BACKWARD and op.stage > 0:
        after = Op(BACKWARD, op.micro, op.stage - 1)
    else:
        return None, None
    to = after.stage % case.ranks
    return (None, None) if to == op.stage % case.ranks else (to, after)


def program_text(case):
    kinds = list(case.times)
    micros = 1 + max(op.micro for order in case.orders for op in order)
    lines = [f'program "{case.name}" accelerators={case.ranks} '
             f'microbatches={micros} {{']
    for kind in kinds:
        for stage, duration in enumerate(case.times[kind]):
            lines += [f'  block "{kind} {stage}" {{',
                      f'    matmul duration={duration}ps', '  }']
    update = len(kinds) * case.stages
    lines += ['  block "update" {', '    update phase=update duration=0ps',
              '  }']

    def tag(op):
        return 2 * (op.micro * case.stages + op.stage) + (op.kind == BACKWARD)

    for r, order in enumerate(case.orders):
        lines.append(f'  class "rank {r}" first={r} {{')
        tasks, ran = 0, {}
        for op in order:
            deps = []
            source = receives_from(case, op)
            if source is not None:
                lines.append(f'    recv peer={source} tag={tag(op)} '
                             'for=pipeline')
                deps.append(tasks)
                tasks += 1
            before = {FORWARD: None, WEIGHT: BACKWARD}.get(op.kind, FORWARD)
            for other in (Op(before, op.micro, op.stage),
                          needs(op, case.stages)):
                if other in ran and ran[other] not in deps:
                    deps.append(ran[other])
            block = kinds.index(op.kind) * case.stages + op.stage
            lines.append(f'    run block={block} pass={op.kind} '
                         f'micro={op.micro} chunk={op.stage} deps={deps}')
            ran[op] = tasks
            tasks += 1
            to, after = sends_to(case, op)
            if to is not None:
                lines.append(f'    send peer={to} tag={tag(after)} '
                             f'for=pipeline duration={case.latency}ps '
                             f'deps=[{ran[op]}]')
                tasks += 1
        lines += [f'    run block={update} pass=update', '  }']
    return "\n".join(lines + ["}", ""])


# --- planc-opt ---------------------------------------------------------------

class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def write(self, case):
        path = os.path.join(self.folder, f"{id(case)}.prog")
        with open(path, "w", encoding="ascii") as out:
            out.write(program_text(case))
        return path

    def run(self, path, *options):
        return subprocess.run([self.path, path, *options], text=True,
                              capture_output=True, timeout=60, check=False)


def read_summary(text):
    def ratio(key):
        return fractions.Fraction(
            re.search(rf"^{key} +(\d+/\d+) ", text, re.M)[1])

    def number(key):
        return int(re.search(rf"^{key} +(\d+)", text, re.M)[1])
    return {
        "makespan": number("makespan"),
        "span": number("pipeline span"),
        "global": ratio("bubble global"),
        "own": ratio("bubble span"),
        "transfer": ratio("transfer"),
        "messages": number("messages"),
        "ranks": [tuple(int(x) for x in row) for row in re.findall(
            r"^class \d+ ranks 1 busy (\d+) ps idle (\d+) ps peak (\d+)",
            text, re.M)],
    }


def read_times(text, ranks):
    rows = [[] for _ in range(ranks)]
    now = None
    for line in text.splitlines():
        match = re.match(r"class (\d+) ", line)
        if match:
            now = rows[int(match[1])]
        match = re.match(r"  (\d+) (\d+) compute run \d+ step=0 (\S+)", line)
        if match and match[3] != "update":
            now.append((int(match[1]), int(match[2])))
    return rows


def check(tool, case):
    """One line a difference."""
    wanted = expected(case)
    path = tool.write(case)
    done = tool.run(path)
    wrong = []
    if wanted is None:
        if done.returncode != 2 or "can never run" not in done.stderr:
            wrong.append(f"{case.name}: exit {done.returncode}, expected a "
                         f"refusal: {done.stderr.strip()}")
    elif done.returncode != 0:
        wrong.append(f"{case.name}: exit {done.returncode}: "
                     f"{done.stderr.strip()[:300]}")
    else:
        found = read_summary(done.stdout)
        for key, value in found.items():
            if value != wanted[key]:
                wrong.append(f"{case.name}: {key} is {value}, expected "
                             f"{wanted[key]}")
        for key, value in case.claims:
            if not value(found):
                wrong.append(f"{case.name}: {key} does not hold: {found}")
        if case.ranks <= 4:
            times = read_times(tool.run(path, "--print", "timeline").stdout,
                               case.ranks)
            if times != wanted["times"]:
                wrong.append(f"{case.name}: other times")
            flat = tool.run(path, "--flat")
            if flat.stdout != done.stdout:
                wrong.append(f"{case.name}: flat is another")
    os.unlink(path)
    return wrong


# --- cases -------------------------------------------------------------------

def equal(stages, forward, backward):
    return {FORWARD: [forward] * stages, BACKWARD: [backward] * stages}


def claim_makespan(value):
    return (f"makespan {value}", lambda found: found["makespan"] == value)


def claim_global(part, whole):
    return (f"global bubble {part}/{whole}", lambda found: found["global"]
            == fractions.Fraction(part, whole))


def claim_peaks(peaks):
    return (f"peaks {peaks}",
            lambda found: [row[2] for row in found["ranks"]] == peaks)


def claim_messages(count):
    return (f"{count} messages", lambda found: found["messages"] == count)


def claim_bound(bound):
    return (f"at least {bound}", lambda found: found["makespan"] >= bound)


def plain_cases():
    """GPipe, 1F1B and interleaved with their closed forms."""
    for p in (2, 4, 8, 16):
        for m in {1, p - 1, p, p + 1, 2 * p, 3 * p}:
            for f, b, c in ((100, 100, 0), (100, 200, 0), (70, 131, 9),
                            (100, 200, 457)):
                if p == 16 and (m > 2 * p or b == 100):
                    continue
                ideal = m * (f + b) + (p - 1) * (f + b)
                common = [claim_messages(2 * m * (p - 1)),
                          claim_bound(ideal + 2 * (p - 1) * c)]
                if c == 0:
                    common.append(claim_global(p - 1, m + p - 1))
                hops = 2 * (p - 1 + m - 2 - (m - 2) // p)
                yield Case(f"GPipe p{p} m{m} {f} {b} {c}", p, p, gpipe(p, m),
                           equal(p, f, b), c,
                           [claim_makespan(ideal + 2 * (p - 1) * c),
                            claim_peaks([m] * p), *common])
                yield Case(f"1F1B p{p} m{m} {f} {b} {c}", p, p,
                           one_f_one_b(p, m), equal(p, f, b), c,
                           [claim_peaks([min(m, p - r) for r in range(p)]),
                            *common] + (
                                [claim_makespan(ideal + hops * c)]
                                if m >= max(p, 2) or c == 0 else []))
                if c <= min(f, b):
                    yield Case(f"eager p{p} m{m} {f} {b} {c}", p, p,
                               one_f_one_b(p, m, 2), equal(p, f, b), c,
                               [claim_makespan(ideal + 2 * (p - 1) * c),
                                claim_peaks([min(m, 2 * (p - 1 - r) + 1)
                                             for r in range(p)]), *common])


def interleaved_cases():
    for p in (2, 4, 8, 16):
        for v in (1, 2, 3):
            for m in (p, 2 * p):
                for n in {p, p + 1, m}:
                    if n > m or m % n and m % n < p or p == 16 and n != p:
                        continue
                    for c in (0, 13):
                        f, b = 60, 110
                        ideal = (m * v + p - 1) * (f + b)
                        claims = [
                            claim_messages(2 * m * (p * v - 1)),
                            claim_bound(ideal + 2 * (p - 1) * c),
                            claim_peaks([
                                min(m * v, (v - 1) * n + 2 * (p - 1 - r) + 1)
                                for r in range(p)])]
                        if c == 0:
                            claims += [claim_makespan(ideal),
                                       claim_global(p - 1, v * m + p - 1)]
                        if v > 1 and n == p:
                            claims.append(
                                claim_makespan(ideal + 2 * (p * v - 1) * c))
                        yield Case(f"interleaved p{p} m{m} v{v} n{n} {c}", p,
                                   p * v, interleaved(p, m, v, n),
                                   equal(p * v, f, b), c, claims)


def headline_cases():
    """16 stages, 16 micro-batches: 15/31, and 15/(2·16 + 15) for two chunks."""
    for name, orders in (("GPipe", gpipe(16, 16)),
                         ("1F1B", one_f_one_b(16, 16))):
        yield Case(f"{name} headline", 16, 16, orders, equal(16, 1, 2), 0,
                   [claim_global(15, 31)])
    yield Case("interleaved headline", 16, 32, interleaved(16, 16, 2, 16),
               equal(32, 1, 2), 0, [claim_global(15, 2 * 16 + 15)])


def uneven_cases():
    """Stages of 2, 3, 2, 1 (forward; twice that backward)."""
    f = [2, 3, 2, 1]
    times = {FORWARD: f, BACKWARD: [2 * x for x in f]}
    for name, orders, makespan in (
            ("GPipe", gpipe(4, 8),
             sum(f) + 7 * 3 + 2 * sum(f) + 7 * 6),
            ("1F1B", one_f_one_b(4, 8), 81),
            ("eager", one_f_one_b(4, 8, 2), 78)):
        yield Case(f"uneven {name}", 4, 4, orders, times, 0,
                   [claim_makespan(makespan)])


def zero_bubble_times(p, f, b, w):
    return {FORWARD: [f] * p, BACKWARD: [b] * p, WEIGHT: [w] * p}


def zero_bubble_cases():
    for p in (2, 4, 8):
        for m in (p + 1, 2 * p, 3 * p):
            for f, b, w in ((1, 1, 1), (20, 20, 10), (10, 11, 8)):
                work = m * (f + b + w)
                yield Case(f"ZB-H1 p{p} m{m} {f} {b} {w}", p, p,
                           zero_bubble(p, m, 1), zero_bubble_times(p, f, b, w),
                           0, [claim_makespan(work + (p - 1) * (f + b - w)),
                               claim_peaks([min(m, p - r)
                                            for r in range(p)])])
                if m < 2 * p - 1:
                    continue
                lost = (p - 1) * max(f, f + b - 2 * w)
                own = (p - 1) * (f + b - 2 * w)
                yield Case(f"ZB-H2 p{p} m{m} {f} {b} {w}", p, p,
                           zero_bubble(p, m, 2), zero_bubble_times(p, f, b, w),
                           0, [claim_makespan(work + lost),
                               (f"span bubble of {own}",
                                lambda found, own=own, work=work: found["own"]
                                == fractions.Fraction(own, work + own))])


# 2401.10241: p, m, measured times of F, B, W and a transfer in microseconds,
# and the published bubble rates of 1F1B, ZB-H1 and ZB-H2, in ten-thousandths.
PUBLISHED = (
    (8, 24, 18522, 18086, 9337, 601, 2431, 1585, 1083),
    (8, 32, 18513, 18086, 9331, 626, 1985, 1242, 837),
    (8, 64, 18546, 18097, 9321, 762, 1240, 674, 444),
    (8, 24, 29718, 29444, 19927, 527, 2347, 1323, 698),
    (8, 32, 29802, 29428, 19530, 577, 1898, 1045, 559),
    (8, 64, 29935, 29621, 19388, 535, 1091, 554, 294),
    (16, 48, 11347, 11248, 8132, 377, 2552, 1397, 672),
    (16, 64, 11307, 11254, 8101, 379, 2082, 1088, 516),
    (32, 96, 10419, 10207, 7715, 408, 2646, 1421, 641),
)


def published_cases():
    for p, m, f, b, w, c, *rates in PUBLISHED:
        split = zero_bubble_times(p, f, b, w)
        for name, orders, times, rate in (
                ("1F1B", one_f_one_b(p, m), equal(p, f, b + w), rates[0]),
                ("ZB-H1", zero_bubble(p, m, 1), split, rates[1]),
                ("ZB-H2", zero_bubble(p, m, 2), split, rates[2])):
            yield Case(f"published {name} p{p} m{m} F{f}", p, p, orders, times,
                       c, [(f"rate {rate}/10000",
                            lambda found, rate=rate:
                            round(found["own"] * 10000) == rate)])


def deadlock_cases():
    """Groups smaller than the pipeline, or a short last group."""
    for p, m, v, n in ((4, 8, 2, 2), (4, 8, 2, 3), (8, 12, 2, 8),
                       (8, 18, 2, 8)):
        yield Case(f"deadlock p{p} m{m} v{v} n{n}", p, p * v,
                   interleaved(p, m, v, n), equal(p * v, 3, 5), 1)


def random_cases(count):
    """Any order that runs a backward after its own forward; many can never
    run, which this simulator knows too."""
    rng = random.Random(20240229)
    for number in range(count):
        p, v, m = rng.randint(2, 4), rng.randint(1, 2), rng.randint(1, 6)
        base = rng.choice((gpipe(p, m), one_f_one_b(p, m)) if v == 1 else
                          (interleaved(p, m * p, v, p),))
        orders = [list(order) for order in base]
        for _ in range(rng.randint(1, 6)):
            order = rng.choice(orders)
            at = rng.randrange(len(order) - 1)
            one, two = order[at], order[at + 1]
            if (one.micro, one.stage) != (two.micro, two.stage) and not (
                    needs(two, p * v) == one):
                order[at], order[at + 1] = two, one
        times = {kind: [rng.randint(0, 40) for _ in range(p * v)]
                 for kind in (FORWARD, BACKWARD)}
        times[FORWARD][0] += 1  # a pipeline of some length
        yield Case(f"random {number}", p, p * v, orders, times,
                   rng.choice((0, 0, 5, 50)))


def main():
    cases = [*headline_cases(), *plain_cases(), *interleaved_cases(),
             *uneven_cases(), *zero_bubble_cases(), *published_cases(),
             *deadlock_cases(), *random_cases(80)]
    refused = sum(expected(case) is None for case in cases
                  if case.name.startswith("random"))
    assert all(expected(case) is None for case in deadlock_cases())
    assert 5 <= refused <= 60, f"{refused} random orders can never run"
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(sys.argv[1], folder)
        with concurrent.futures.ThreadPoolExecutor(
                os.cpu_count() or 1) as pool:
            wrong = [line for lines in pool.map(
                lambda case: check(tool, case), cases) for line in lines]
    for line in wrong[:40]:
        print(line)
    print(f"{len(cases)} cases, {refused} random orders refused, "
          f"{len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
