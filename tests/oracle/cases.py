"""Cases of pipelines, each with what published tables and closed forms say."""
import fractions
import random

from pipelines import Case, needs, results
from schedules import (BACKWARD, FORWARD, INPUT, WEIGHT, chimera, dualpipe,
                       dualpipe_v, eager, gpipe, hanayo, interleaved,
                       interleaved_zero_bubble, kfkb, looped_bfs, one_f_one_b,
                       seq1f1b, terapipe, v_pattern, v_plain, zbv,
                       zero_bubble)


def equal(chunks, forward, backward):
    return {FORWARD: [forward] * chunks, BACKWARD: [backward] * chunks}


def split(chunks, f, b, w):
    return {FORWARD: [f] * chunks, BACKWARD: [b + w] * chunks,
            INPUT: [b] * chunks, WEIGHT: [w] * chunks}


# --- claims ------------------------------------------------------------------

def claim_makespan(value):
    return (f"makespan {value}", lambda found: found["makespan"] == value)


def claim_global(part, whole):
    return (f"global bubble {part}/{whole}", lambda found: found["global"]
            == fractions.Fraction(part, whole))


def claim_own(part, whole):
    return (f"span bubble {part}/{whole}", lambda found: found["own"]
            == fractions.Fraction(part, whole))


def claim_peaks(peaks):
    return (f"peaks {peaks}",
            lambda found: [row[2] for row in found["ranks"]] == peaks)


def claim_most(peak):
    return (f"peak {peak}",
            lambda found: max(row[2] for row in found["ranks"]) == peak)


def claim_retained(peaks):
    return (f"retained {peaks}", lambda found: found["retained"] == peaks)


def claim_messages(count):
    return (f"{count} messages", lambda found: found["messages"] == count)


def claim_bound(bound):
    return (f"at least {bound}", lambda found: found["makespan"] >= bound)


def claim_slack(by_rank):
    """A list a rank of the slack of its chunks in order."""
    def holds(found):
        rows = [[] for _ in by_rank]
        for (rank, _), value in found["slack"].items():
            rows[rank].append(value)
        return rows == by_rank
    return (f"slack {by_rank}", holds)


# --- whole backwards ---------------------------------------------------------

def plain_cases():
    """GPipe, 1F1B and eager 1F1B with their closed forms."""
    for p in (2, 4, 8, 16):
        for m in sorted({1, p - 1, p, p + 1, 2 * p, 3 * p}):
            for f, b, c in ((100, 100, 0), (100, 200, 0), (70, 131, 9),
                            (100, 200, 457)):
                if p == 16 and (m > 2 * p or b == 100):
                    continue
                ideal = (m + p - 1) * (f + b)
                common = [claim_messages(2 * m * (p - 1)),
                          claim_bound(ideal + 2 * (p - 1) * c)]
                if c == 0:
                    common.append(claim_global(p - 1, m + p - 1))
                hops = 2 * (p - 1 + m - 2 - (m - 2) // p)
                times = equal(p, f, b)
                yield Case(f"GPipe p{p} m{m} {f} {b} {c}", gpipe(p, m), times,
                           c, [claim_makespan(ideal + 2 * (p - 1) * c),
                               claim_peaks([m] * p), *common])
                yield Case(f"1F1B p{p} m{m} {f} {b} {c}", one_f_one_b(p, m),
                           times, c,
                           [claim_peaks([min(m, p - r) for r in range(p)]),
                            *common] + (
                                [claim_makespan(ideal + hops * c)]
                                if m >= max(p, 2) or c == 0 else []))
                if c <= min(f, b):
                    yield Case(f"eager p{p} m{m} {f} {b} {c}", eager(p, m),
                               times, c,
                               [claim_makespan(ideal + 2 * (p - 1) * c),
                                claim_peaks([min(m, 2 * (p - 1 - r) + 1)
                                             for r in range(p)]), *common])


def group_cases():
    """GPipe in groups; kFkB. Latency at p = 4, m = 8: 6 c, where 1F1B has 16."""
    f, b = 70, 131
    for p in (2, 4, 8):
        for g in (1, 2, 3, 4):
            m = 4 * g
            yield Case(f"GPipe p{p} groups of {g}", gpipe(p, m, g),
                       equal(p, f, b), 0,
                       [claim_makespan(m // g * (g + p - 1) * (f + b)),
                        claim_peaks([g] * p),
                        claim_global(p - 1, g + p - 1)])
            yield Case(f"kFkB p{p} k{g}", kfkb(p, m, g), equal(p, f, b), 0,
                       [claim_makespan((m + p - 1) * (f + b)),
                        claim_peaks([g * min(m // g, p - r)
                                     for r in range(p)])])
    for name, made, hops in (("kFkB", kfkb(4, 8, 2), 6),
                             ("1F1B", one_f_one_b(4, 8), 16)):
        yield Case(f"{name} latency", made, equal(4, 400, 800), 100,
                   [claim_makespan(11 * 1200 + hops * 100)])
    for name, made, hops in (("GPipe", gpipe(8, 24), 14),
                             ("eager", eager(8, 24), 14),
                             ("1F1B", one_f_one_b(8, 24), 54),
                             ("interleaved", interleaved(8, 24, 3, 8), 46)):
        yield Case(f"{name} latency p8 m24", made,
                   equal(made.chunks, 100, 200), 10,
                   [claim_makespan((24 * made.chunks // 8 + 7) * 300
                                   + hops * 10)])


def interleaved_cases():
    f, b = 60, 110
    for p in (2, 4, 8, 16):
        for v in (1, 2, 3):
            for m in (p, 2 * p, 3 * p - 1):
                for n in sorted({p, p + 1, m}):
                    if n > m or m % n and m % n < p or p == 16 and n != p:
                        continue
                    for c in (0, 13):
                        made = interleaved(p, m, v, n)
                        ideal = (m * v + p - 1) * (f + b)
                        last = m % n or n
                        claims = [
                            claim_messages(2 * m * (p * v - 1)),
                            claim_bound(ideal + 2 * (p - 1) * c),
                            claim_peaks([
                                min(m * v, (v - 1) * n + 2 * (p - 1 - r) + 1)
                                for r in range(p)])]
                        if c == 0:
                            claims += [claim_makespan(ideal),
                                       claim_global(p - 1, v * m + p - 1)]
                        if v > 1 and n == p and m % p == 0:
                            claims.append(
                                claim_makespan(ideal + 2 * (p * v - 1) * c))
                        if v > 1 and n > p and p * c <= (last - p) * f:
                            claims.append(
                                claim_makespan(ideal + 2 * (p - 1) * c))
                        yield Case(f"interleaved p{p} m{m} v{v} n{n} {c}",
                                   made, equal(p * v, f, b), c, claims)
    # A last group of fewer than p: these run, and lose time.
    for m, makespan in ((9, 74), (10, 79), (11, 77)):
        yield Case(f"interleaved stall m{m}", interleaved(4, m, 2, 4),
                   equal(8, 1, 2), 0, [claim_makespan(makespan)])
    yield Case("interleaved n < p", interleaved(4, 3, 2, 3), equal(8, 1, 2), 0,
               [claim_makespan(30)])


def breadth_cases():
    f, b = 60, 110
    for p in (2, 4, 8):
        for v in (1, 2, 3):
            for m in (1, p - 1, p, p + 1, 2 * p):
                for c in (0, 13):
                    claims = [claim_peaks([m * v] * p),
                              claim_messages(2 * m * (p * v - 1))]
                    if m >= p and c == 0:
                        claims.append(
                            claim_makespan((m * v + p - 1) * (f + b)))
                    if m >= p and p * c <= (m - p) * f:
                        claims.append(claim_makespan(
                            (m * v + p - 1) * (f + b) + 2 * (p - 1) * c))
                    if m < p and c == 0:
                        claims.append(
                            claim_makespan((p * v + m - 1) * (f + b)))
                    yield Case(f"BFS p{p} m{m} v{v} {c}", looped_bfs(p, m, v),
                               equal(p * v, f, b), c, claims)


def headline_cases():
    """16 stages, 16 micro-batches: 15/31, and 15/(2·16 + 15) for two chunks."""
    for name, made in (("GPipe", gpipe(16, 16)),
                       ("1F1B", one_f_one_b(16, 16))):
        yield Case(f"{name} headline", made, equal(16, 1, 2), 0,
                   [claim_global(15, 31)])
    yield Case("interleaved headline", interleaved(16, 16, 2, 16),
               equal(32, 1, 2), 0, [claim_global(15, 2 * 16 + 15)])


def uneven_cases():
    """Stages of 2, 3, 2, 1 (forward; twice that backward)."""
    f = [2, 3, 2, 1]
    times = {FORWARD: f, BACKWARD: [2 * x for x in f]}
    for name, made, makespan in (
            ("GPipe", gpipe(4, 8),
             sum(f) + 7 * 3 + 2 * sum(f) + 7 * 6),
            ("1F1B", one_f_one_b(4, 8), 81),
            ("eager", eager(4, 8), 78)):
        yield Case(f"uneven {name}", made, times, 0,
                   [claim_makespan(makespan)])


# --- backwards in two --------------------------------------------------------

def zero_bubble_cases():
    for p in (2, 4, 8):
        for m in (p // 2, p, p + 1, 2 * p, 3 * p):
            for f, b, w in ((1, 1, 1), (20, 20, 10), (10, 11, 8)):
                work = m * (f + b + w)
                lost = (p - 1) * (f + b - w)
                if m <= p:
                    lost = (m + p - 1) * (f + b) + w - work
                yield Case(f"ZB-H1 p{p} m{m} {f} {b} {w}",
                           zero_bubble(p, m, 1), split(p, f, b, w), 0,
                           [claim_makespan(work + lost),
                            claim_peaks([min(m, p - r) for r in range(p)]),
                            claim_retained([min(m, p)] * p),
                            claim_messages(2 * m * (p - 1))])
                if m < 2 * p - 1:
                    continue
                lost = (p - 1) * max(f, f + b - 2 * w)
                own = (p - 1) * (f + b - 2 * w)
                yield Case(f"ZB-H2 p{p} m{m} {f} {b} {w}",
                           zero_bubble(p, m, 2), split(p, f, b, w), 0,
                           [claim_makespan(work + lost),
                            claim_own(own, work + own),
                            claim_peaks([2 * (p - 1 - r) + 1
                                         for r in range(p)]),
                            claim_retained([2 * p - 1] * p)])
    yield Case("ZB-H1 latency p8 m24", zero_bubble(8, 24, 1),
               split(8, 100, 100, 100), 10,
               [claim_makespan(24 * 300 + 7 * 100 + 28 * 10)])


def chunked_zero_bubble_cases():
    for p in (2, 4, 8):
        for m in (2 * p, 3 * p):
            yield Case(f"ZB-V p{p} m{m}", zbv(p, m), split(2 * p, 10, 10, 10),
                       0, [claim_makespan(60 * m + 10 * (p - 1)),
                           claim_own(0, 1), claim_peaks([2 * p] * p),
                           claim_messages(2 * m * (2 * p - 2))])
            yield Case(f"ZB-V p{p} m{m} uneven", zbv(p, m),
                       split(2 * p, 2, 2, 1), 0,
                       [claim_makespan(10 * m + 2 * (p - 1)),
                        claim_own(2 * (p - 1), 10 * m + 2 * (p - 1))])
            for v in (2, 3):
                for f, b, w in ((10, 10, 10), (10, 11, 8)):
                    idle = (p - 1) * (f + b - w)
                    work = m * v * (f + b + w)
                    yield Case(f"interleaved zero bubble p{p} m{m} v{v} {b}",
                               interleaved_zero_bubble(p, m, v, p),
                               split(p * v, f, b, w), 0,
                               [claim_makespan(work + idle),
                                claim_peaks([(v - 1) * p + p - r
                                             for r in range(p)]),
                                claim_retained([v * p] * p)])
                hops = 4 * (p - 1) + p * (v - 1)
                yield Case(f"interleaved zero bubble p{p} m{m} v{v} latency",
                           interleaved_zero_bubble(p, m, v, p),
                           split(p * v, 100, 100, 100), 1,
                           [claim_makespan(300 * m * v + 100 * (p - 1)
                                           + hops)])
    for p, m, half, plain, moved, most in (
            (4, 8, True, 60, 53, 6), (4, 8, False, 59, 59, 4),
            (8, 16, True, 122, 113, 10), (8, 16, False, 123, 123, 8)):
        for made, makespan in ((v_plain(p, m, half), plain),
                               (v_pattern(p, m, half), moved)):
            yield Case(f"V p{p} m{m} {'half' if half else 'min'} {makespan}",
                       made, split(2 * p, 1, 1, 1), 0,
                       [claim_makespan(makespan),
                        (f"at most {most} retained", lambda found, most=most:
                         max(found["retained"]) == most),
                        claim_messages(2 * m * (2 * p - 2))])
    yield Case("V min, short weights", v_pattern(4, 8, False),
               split(8, 2, 2, 1), 0, [claim_makespan(117)])


def dual_cases():
    for p, m in ((2, 4), (4, 8), (4, 12), (6, 14), (8, 20)):
        idle = 2 * (p // 2 - 1)
        yield Case(f"DualPipe p{p} m{m}", dualpipe(p, m), split(p, 1, 1, 1), 0,
                   [claim_makespan(3 * m + idle), claim_most(p + 1),
                    claim_global(idle, 3 * m + idle),
                    claim_messages(2 * m * (p - 1))])
    for p, m in ((2, 4), (3, 8), (4, 10), (5, 12)):
        idle = 2 * (p - 1)
        yield Case(f"DualPipeV p{p} m{m}", dualpipe_v(p, m),
                   split(2 * p, 1, 1, 1), 0,
                   [claim_makespan(6 * m + idle), claim_most(2 * p + 1),
                    claim_messages(2 * m * (2 * p - 2))])
    yield Case("DualPipe other costs", dualpipe(4, 12), split(4, 30, 35, 20))
    yield Case("DualPipeV other costs", dualpipe_v(4, 12),
               split(8, 30, 35, 20))


def listed_cases():
    for waves, makespan, ratio in ((1, 36, 333), (2, 61, 213), (4, 109, 119)):
        yield Case(f"Hanayo p4 m4 {waves} waves", hanayo(4, 4, waves),
                   equal(8 * waves, 1, 2), 0,
                   [claim_makespan(makespan),
                    claim_messages(4 * 4 * waves * 3),
                    (f"ratio {ratio}/1000", lambda found, ratio=ratio:
                     round(found["global"] * 1000) == ratio)])
    for p in (2, 4, 6, 8):
        yield Case(f"Hanayo p{p} m{p}", hanayo(p, p, 1), equal(2 * p, 1, 2), 0,
                   [claim_global(2 * p - 2, 5 * p - 2)])
    for p in (4, 6, 8):
        yield Case(f"Chimera p{p} m{p}", chimera(p, p), equal(p, 2, 4), 0,
                   [claim_global(2 * (p - 2), 3 * p + 2 * (p - 2)),
                    claim_messages(2 * p * (p - 1)), claim_most(p)])
    for m, ratio in ((8, 172), (12, 143)):
        yield Case(f"Chimera p4 m{m}", chimera(4, m), equal(4, 2, 4), 0,
                   [(f"ratio {ratio}/1000", lambda found, ratio=ratio:
                     round(found["global"] * 1000) == ratio)])


def sliced_cases():
    for p in (2, 4):
        for k in (1, 2, 3):
            m, f, b = 4, 10, 17
            ideal = (m * k + p - 1) * (f + b)
            yield Case(f"TeraPipe p{p} k{k}", terapipe(p, m, k),
                       equal(p, f, b), 0,
                       [claim_makespan(ideal), claim_peaks([m * k] * p),
                        claim_messages(2 * m * k * (p - 1))])
            yield Case(f"Seq1F1B p{p} k{k}", seq1f1b(p, m, k), equal(p, f, b),
                       0, [claim_makespan(ideal),
                           claim_peaks([min(m * k, p - 1 - r + k)
                                        for r in range(p)])])
    f, b = [10, 13, 16], [20, 26, 32]
    yield Case("TeraPipe uneven slices", terapipe(4, 5, 3),
               {FORWARD: [f] * 4, BACKWARD: [b] * 4}, 0,
               [claim_makespan(5 * sum(f) + 3 * max(f)
                               + 5 * sum(b) + 3 * max(b))])
    yield Case("Seq1F1B uneven slices", seq1f1b(4, 5, 3),
               {FORWARD: [f] * 4, BACKWARD: [b] * 4})


def slack_cases():
    """What data parallelism has left after each chunk's last gradient."""
    one = split(8, 1, 1, 1)
    for name, made, slack in (
            ("GPipe", gpipe(4, 8), [[0], [2], [4], [6]]),
            ("1F1B", one_f_one_b(4, 8), [[0], [2], [4], [6]]),
            ("interleaved", interleaved(4, 8, 2, 4),
             [[0, 8], [2, 10], [4, 12], [6, 14]]),
            ("BFS", looped_bfs(4, 8, 2),
             [[0, 16], [2, 18], [4, 20], [6, 22]]),
            ("ZB-H1", zero_bubble(4, 8, 1), [[0], [0], [0], [0]]),
            ("ZB-H2", zero_bubble(4, 8, 2), [[3], [2], [1], [0]]),
            ("ZB-V", zbv(4, 8), [[3, 11], [2, 3], [1, 3], [0, 3]]),
            ("DualPipe", dualpipe(4, 8), [[0, 4], [0, 1], [0, 1], [0, 4]])):
        yield Case(f"slack {name}", made, one, 0, [claim_slack(slack)])


# --- published rates ---------------------------------------------------------

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
    (16, 128, 11325, 11308, 8109, 378, 1251, 576, 266),
    (32, 96, 10419, 10207, 7715, 408, 2646, 1421, 641),
    (32, 128, 10408, 10204, 7703, 408, 2168, 1106, 490),
    (32, 256, 10402, 10248, 7698, 460, 1352, 594, 257),
)



def published_cases():
    for p, m, f, b, w, c, *rates in PUBLISHED:
        times = split(p, f, b, w)
        for name, made, rate in (
                ("1F1B", one_f_one_b(p, m), rates[0]),
                ("ZB-H1", zero_bubble(p, m, 1), rates[1]),
                ("ZB-H2", zero_bubble(p, m, 2), rates[2])):
            yield Case(f"published {name} p{p} m{m} F{f}", made, times, c,
                       [(f"rate {rate}/10000", lambda found, rate=rate:
                         round(found["own"] * 10000) == rate)])


# --- orders that fail, orders at random --------------------------------------

def deadlock_cases():
    """Groups smaller than the pipeline, or a short last group."""
    for p, m, v, n in ((4, 8, 2, 2), (4, 8, 2, 3), (8, 12, 2, 8),
                       (8, 18, 2, 8)):
        yield Case(f"deadlock p{p} m{m} v{v} n{n}", interleaved(p, m, v, n),
                   equal(p * v, 3, 5), 1)


def random_cases(count):
    """Any order that runs a backward after its own forward; many can never
    run, which this simulator knows too."""
    rng = random.Random(20240229)
    for number in range(count):
        p, v, m = rng.randint(2, 4), rng.randint(1, 2), rng.randint(1, 6)
        made = rng.choice((gpipe(p, m), one_f_one_b(p, m)) if v == 1 else
                          (interleaved(p, m * p, v, p),))
        for _ in range(rng.randint(1, 6)):
            order = rng.choice(made.orders)
            at = rng.randrange(len(order) - 1)
            one, two = order[at], order[at + 1]
            wanted = [need for op in two for need in needs(op, made)]
            if not any(result in wanted for op in one
                       for result in results(op)):
                order[at], order[at + 1] = two, one
        times = {kind: [rng.randint(0, 40) for _ in range(p * v)]
                 for kind in (FORWARD, BACKWARD)}
        times[FORWARD][0] += 1  # a pipeline of some length
        yield Case(f"random {number}", made, times, rng.choice((0, 0, 5, 50)))


def all_cases():
    for cases in (headline_cases(), plain_cases(), group_cases(),
                  interleaved_cases(), breadth_cases(), uneven_cases(),
                  zero_bubble_cases(), chunked_zero_bubble_cases(),
                  dual_cases(), listed_cases(), sliced_cases(), slack_cases(),
                  published_cases(), deadlock_cases(), random_cases(80)):
        yield from cases
