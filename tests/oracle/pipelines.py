"""A small simulator of pipelines, and a case as a program text.

A rank runs its steps in a given order, one at a time; a step starts when the one
before it has ended and what it needs has arrived, c later when it comes from
another rank; messages have a latency and nothing else.
"""
import dataclasses
import fractions

from schedules import BACKWARD, FORWARD, INPUT, WEIGHT, Op

PASSES = {FORWARD: "forward", BACKWARD: "backward", INPUT: "backward",
          WEIGHT: "weight-gradient"}


@dataclasses.dataclass
class Case:
    name: str
    made: object  # schedules.Made
    times: dict   # kind -> list of durations by chunk, or by (chunk, slice)
    latency: int = 0
    claims: list = dataclasses.field(default_factory=list)

    @property
    def ranks(self):
        return len(self.made.orders)

    def duration(self, op):
        of = self.times[op.kind][op.chunk]
        return of[op.slice] if isinstance(of, list) else of


# --- the simulator -----------------------------------------------------------

def results(op):
    """What an operation leaves behind: forward, input or weight gradients."""
    kinds = {BACKWARD: (INPUT, WEIGHT)}.get(op.kind, (op.kind,))
    return [(kind, op.micro, op.chunk, op.slice) for kind in kinds]


def needs(op, made):
    """Results that it wants."""
    i, c, j = op.micro, op.chunk, op.slice
    if op.kind == FORWARD:
        wanted = [(FORWARD, i, c - 1, j)] if c else []
        return wanted + ([(FORWARD, i, c, j - 1)] if j else [])
    if op.kind == WEIGHT:
        return [(INPUT, i, c, j)]
    wanted = [(FORWARD, i, c, j)]
    if c + 1 < made.chunks:
        wanted.append((INPUT, i, c + 1, j))
    if j + 1 < made.slices:
        wanted.append((INPUT, i, c, j + 1))
    return wanted


def simulate(case):
    """(start, end) of every step by rank, and what each rank waited for a
    message on the wire; None for an order that can never run."""
    made, p = case.made, case.ranks
    done, at = {}, [0] * p
    free, wire = [0] * p, [0] * p
    times = [[] for _ in range(p)]
    moved = True
    while moved:
        moved = False
        for r, order in enumerate(made.orders):
            while at[r] < len(order):
                step = order[at[r]]
                wanted = [need for op in step for need in needs(op, made)]
                if any(need not in done for need in wanted):
                    break
                start, sent = free[r], 0
                for need in wanted:
                    far = made.place(need[1], need[2]) != r
                    if far:
                        sent = max(sent, done[need])
                    start = max(start, done[need] + far * case.latency)
                wire[r] += start - max(free[r], min(sent, start)) if any(
                    made.place(n[1], n[2]) != r for n in wanted) else 0
                free[r] = start + sum(case.duration(op) for op in step)
                for op in step:
                    for result in results(op):
                        done[result] = free[r]
                times[r].append((start, free[r]))
                at[r] += 1
                moved = True
    if any(at[r] < len(order) for r, order in enumerate(made.orders)):
        return None
    return times, wire


def peak(order, until):
    """Most passes between their forward's start and an end of `until`."""
    most = now = 0
    for step in order:
        now += sum(op.kind == FORWARD for op in step)
        most = max(most, now)
        now -= sum(op.kind in until for op in step)
    return most


def receives_from(made, op):
    """The rank that sends what the operation needs, and its tag."""
    if op.kind == WEIGHT:
        return None
    other = op.chunk - 1 if op.kind == FORWARD else op.chunk + 1
    if not 0 <= other < made.chunks:
        return None
    source = made.place(op.micro, other)
    return None if source == made.place(op.micro, op.chunk) else source


def sends_to(made, op):
    """The rank that waits for the result, and which of its operations."""
    if op.kind == WEIGHT:
        return None, None
    other = op.chunk + 1 if op.kind == FORWARD else op.chunk - 1
    if not 0 <= other < made.chunks:
        return None, None
    to = made.place(op.micro, other)
    if to == made.place(op.micro, op.chunk):
        return None, None
    return to, Op(op.kind, op.micro, other, op.slice)


def expected(case):
    run = simulate(case)
    if run is None:
        return None
    times, wire = run
    orders, p = case.made.orders, case.ranks
    begin = min(rank[0][0] for rank in times)
    end = max(rank[-1][1] for rank in times)
    busy = [sum(stop - start for start, stop in rank) for rank in times]
    own = [rank[-1][1] - rank[0][0] for rank in times]
    span = end - begin
    return {
        "makespan": end,
        "span": span,
        "global": fractions.Fraction(p * span - sum(busy), p * span),
        "own": fractions.Fraction(max(own) - max(busy), max(own)),
        "transfer": fractions.Fraction(sum(wire), p * span),
        "messages": sum(receives_from(case.made, op) is not None
                        for order in orders for step in order for op in step),
        "ranks": [(busy[r], span - busy[r], peak(orders[r], (BACKWARD, INPUT)))
                  for r in range(p)],
        "times": times,
    }


def retained(case):
    return [peak(order, (BACKWARD, WEIGHT)) for order in case.made.orders]


def slack(case):
    """Time from a chunk's last weight gradient on a rank to the end."""
    times, _ = simulate(case)
    end, last = max(rank[-1][1] for rank in times), {}
    for r, order in enumerate(case.made.orders):
        for step, (_, stop) in zip(order, times[r]):
            for op in step:
                if op.kind in (BACKWARD, WEIGHT):
                    last[r, op.chunk] = stop
    return {key: end - stop for key, stop in sorted(last.items())}


# --- program text ------------------------------------------------------------

def program_text(case):
    made = case.made
    blocks = {}
    lines = [f'program "{case.name}" accelerators={case.ranks} '
             f'microbatches={made.micros} {{']

    def block(step):
        duration = sum(case.duration(op) for op in step)
        name = (tuple(op.kind for op in step), duration)
        if name not in blocks:
            blocks[name] = len(blocks)
            lines.extend([f'  block "{len(blocks)}" {{',
                          f'    matmul duration={duration}ps', '  }'])
        return blocks[name]

    for order in made.orders:
        for step in order:
            block(step)
    update = len(blocks)
    lines += ['  block "update" {', '    update phase=update duration=0ps',
              '  }']

    def tag(op):
        return 2 * ((op.micro * made.chunks + op.chunk) * made.slices
                    + op.slice) + (op.kind != FORWARD)

    for r, order in enumerate(made.orders):
        lines.append(f'  class "rank {r}" first={r} {{')
        tasks, ran = 0, {}
        for step in order:
            deps = set()
            for op in step:
                source = receives_from(made, op)
                if source is not None:
                    lines.append(f'    recv peer={source} tag={tag(op)} '
                                 'for=pipeline')
                    deps.add(tasks)
                    tasks += 1
                deps |= {ran[need] for need in needs(op, made) if need in ran}
            together = "".join(f" withmicro={op.micro} withchunk={op.chunk}"
                               for op in step[1:])
            lines.append(f'    run block={block(step)} '
                         f'pass={PASSES[step[0].kind]} micro={step[0].micro} '
                         f'chunk={step[0].chunk}{together} '
                         f'deps={sorted(deps)}')
            for op in step:
                for result in results(op):
                    ran[result] = tasks
            at, tasks = tasks, tasks + 1
            for op in step:
                to, after = sends_to(made, op)
                if to is not None:
                    lines.append(f'    send peer={to} tag={tag(after)} '
                                 f'for=pipeline duration={case.latency}ps '
                                 f'deps=[{at}]')
                    tasks += 1
        lines += [f'    run block={update} pass=update', '  }']
    return "\n".join(lines + ["}", ""])
