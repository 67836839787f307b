"""Orders of passes, written down a second time.

Shares nothing with compiler/schedules: the rules are those of the papers and
public implementations named beside each function. A rank's order is a list of
steps; a step is a tuple of one operation, or of two that run together.

  placement   a function (micro-batch, chunk) -> rank
  F D B W     forward; backward whole; backward for inputs; for weights
"""
import dataclasses
import heapq

FORWARD, BACKWARD, INPUT, WEIGHT = "FDBW"


@dataclasses.dataclass(frozen=True)
class Op:
    kind: str
    micro: int
    chunk: int
    slice: int = 0


@dataclasses.dataclass
class Made:
    """What a schedule says: an order a rank, and who holds which chunk."""
    orders: list
    place: object
    chunks: int
    micros: int
    slices: int = 1


def alone(ops):
    return [(op,) for op in ops]


def looped(p):
    return lambda micro, chunk: chunk % p


def zigzag(p):
    def place(micro, chunk):
        turn, at = divmod(chunk, p)
        return p - 1 - at if turn % 2 else at
    return place


def two_ways(p, m):
    return lambda micro, chunk: chunk if micro < m // 2 else p - 1 - chunk


# --- one chunk a rank --------------------------------------------------------

def gpipe(p, m, group=None):
    """1811.06965; in groups each group drains before the next."""
    group = group or m
    orders = []
    for r in range(p):
        order = []
        for begin in range(0, m, group):
            for kind in (FORWARD, BACKWARD):
                order += [Op(kind, i, r)
                          for i in range(begin, min(m, begin + group))]
        orders.append(alone(order))
    return Made(orders, looped(p), p, m)


def ahead(p, m, per_rank, size=1):
    """per_rank·(p − 1 − r) units forward, then a unit forward, one backward."""
    orders = []
    units = [range(b, min(m, b + size)) for b in range(0, m, size)]
    for r in range(p):
        warm, order = per_rank * (p - 1 - r), []
        for k in range(len(units) + warm):
            if k < len(units):
                order += [Op(FORWARD, i, r) for i in units[k]]
            if 0 <= k - warm < len(units):
                order += [Op(BACKWARD, i, r) for i in units[k - warm]]
        orders.append(alone(order))
    return Made(orders, looped(p), p, m)


def one_f_one_b(p, m):
    return ahead(p, m, 1)


def one_f_one_b_in_pairs(p, m):
    """As Megatron-LM overlaps experts: one forward more ahead."""
    made = one_f_one_b(p, m)
    for r, order in enumerate(made.orders):
        forwards = [step[0] for step in order if step[0].kind == FORWARD]
        backwards = [step[0] for step in order if step[0].kind == BACKWARD]
        warm = min(m, p - r)
        made.orders[r] = (
            alone(forwards[:warm])
            + list(zip(forwards[warm:], backwards))
            + alone(backwards[m - warm:]))
    return made


def eager(p, m):
    return ahead(p, m, 2)


def kfkb(p, m, k):
    return ahead(p, m, 1, k)


def zero_bubble(p, m, depth):
    """2401.10241: depth·(p − 1 − r) ahead; W's lag depth·r B's behind."""
    orders = []
    for r in range(p):
        warm, lag, order = depth * (p - 1 - r), depth * r, []
        for k in range(m + warm + lag):
            if k < m:
                order.append(Op(FORWARD, k, r))
            if 0 <= k - warm < m:
                order.append(Op(INPUT, k - warm, r))
            if 0 <= k - warm - lag < m:
                order.append(Op(WEIGHT, k - warm - lag, r))
        orders.append(alone(order))
    return Made(orders, looped(p), p, m)


# --- several chunks a rank, looped -------------------------------------------

def visits(m, v, n):
    return [(i, local) for b in range(0, m, n) for local in range(v)
            for i in range(b, min(m, b + n))]


def interleaved(p, m, v, n):
    """2104.04473; groups of n as in Megatron-LM and 2407.21783."""
    orders = []
    for r in range(p):
        warm, order, seq = 2 * (p - 1 - r) + (v - 1) * n, [], visits(m, v, n)
        for k in range(len(seq) + warm):
            if k < len(seq):
                order.append(Op(FORWARD, seq[k][0], seq[k][1] * p + r))
            if 0 <= k - warm < len(seq):
                i, local = seq[k - warm]
                order.append(Op(BACKWARD, i, (v - 1 - local) * p + r))
        orders.append(alone(order))
    return Made(orders, looped(p), p * v, m)


def interleaved_zero_bubble(p, m, v, n):
    """As PyTorch's schedule of that name: one warm-up pass a hop, W's r late."""
    orders = []
    for r in range(p):
        warm, order, seq = p - 1 - r + (v - 1) * n, [], visits(m, v, n)
        back = [(i, (v - 1 - local) * p + r) for i, local in seq]
        for k in range(len(seq) + warm + r):
            if k < len(seq):
                order.append(Op(FORWARD, seq[k][0], seq[k][1] * p + r))
            if 0 <= k - warm < len(seq):
                order.append(Op(INPUT, *back[k - warm]))
            if 0 <= k - warm - r < len(seq):
                order.append(Op(WEIGHT, *back[k - warm - r]))
        orders.append(alone(order))
    return Made(orders, looped(p), p * v, m)


def looped_bfs(p, m, v):
    """2211.05953: all micro-batches through a chunk, then the next chunk."""
    orders = []
    for r in range(p):
        order = [Op(FORWARD, i, c * p + r) for c in range(v) for i in range(m)]
        order += [Op(BACKWARD, i, c * p + r)
                  for c in reversed(range(v)) for i in range(m)]
        orders.append(alone(order))
    return Made(orders, looped(p), p * v, m)


# --- two chunks a rank, down and back up -------------------------------------

def zbv(p, m):
    """The pattern of PyTorch's ScheduleZBVZeroBubble, as a text a rank."""
    n, orders = max(m, 2 * p - 1), []
    for r in range(p):
        script = ["F0"] * (2 * (p - r) - 1) + ["F1", "F0"] * r
        script += ["F1", "B1", "W1"] * (p - r)
        count = {"F0": 2 * (p - r) - 1 + r, "F1": p}
        while count["F0"] < n or count["F1"] < n:
            if count["F0"] < n:
                script.append("F0")
                count["F0"] += 1
            script += ["B0", "W0", "F1", "B1", "W1"]
            count["F1"] += 1
        script += ["B0", "B1"] * r + ["B0", "W0"] * (p - r)
        for what in ("W1", "W0"):
            script += [what] * (n - script.count(what))
        seen, order = {}, []
        for what in script:
            i = seen[what] = seen.get(what, -1) + 1
            if i < m:
                order.append(Op(what[0], i, r if what[1] == "0"
                                else 2 * p - 1 - r))
        orders.append(alone(order))
    return Made(orders, zigzag(p), 2 * p, m)


def v_slots(p, m, half):
    """2405.15362: a slot for each pass of a micro-batch, repeated every six."""
    if half:
        g = 3 if p % 2 == 0 else 0
        slots = lambda r: (2 * r, 3 * p - r - 2, 3 * p + g + 2 * r - 1,
                           6 * p + g - r - 2)
    else:
        g = 2 if p % 3 == 0 else 0
        slots = lambda r: (r, 2 * p - r - 1, 2 * p + g + r, 4 * p + g - r - 1)
    return [{(what, k): slot + 6 * k for what, slot in enumerate(slots(r))
             for k in range(m)} for r in range(p)]


def with_weights(slots):
    """W's in the first free slots after their B's."""
    out, owed, done, last = dict(slots), 0, 0, max(slots.values())
    taken = {slot: what for (what, _), slot in slots.items()}
    slot = 0
    while slot <= last or owed:
        if slot in taken:
            owed += taken[slot] >= 2
        elif owed:
            out[4, done] = slot
            done, owed = done + 1, owed - 1
        slot += 1
    return out


def v_peak(slots):
    """Forwards without their W, at most."""
    if not any(what == 4 for what, _ in slots):
        slots = with_weights(slots)
        horizon = max(s for (what, _), s in slots.items() if what < 4)
        slots = {key: s for key, s in slots.items() if s <= horizon}
    held = most = 0
    for (what, _), _ in sorted(slots.items(), key=lambda item: item[1]):
        held += (what < 2) - (what == 4)
        most = max(most, held)
    return most


def v_before(slots, r, what, k):
    """The latest slot that a pass has to come after."""
    p, own = len(slots), slots[r]
    if what == 4:
        after = sorted(s for (w, _), s in own.items() if w in (2, 3))[k]
    else:
        after = -1
        near = r - 1 if what in (0, 2) else r + 1
        if 0 <= near < p:
            after = slots[near][what, k]
        if what:
            after = max(after, own[what - 1, k])
    return max(after, own[what, k - 1]) if k else after


def v_moved(slots, weights):
    """Each pass of the first and last part in the first free slot that does not
    raise the peak; the part that repeats stays."""
    if weights:
        slots = [with_weights(rank) for rank in slots]
    peak = max(v_peak(rank) for rank in slots)
    last = max(k for what, k in slots[0] if what == 0)
    taken = [set() for _ in slots]
    part = 0
    for slot, r, what, k in sorted(
            (s, r, *key) for r, rank in enumerate(slots)
            for key, s in rank.items()):
        if (r, what, part) == (0, 3, 0):
            part = 1
        fixed = part == 1 or part == 0 and not weights
        if part == 1 and (what, k) == (0, last):
            part = 2
        if not fixed:
            for earlier in range(v_before(slots, r, what, k) + 1, slot):
                if earlier in taken[r]:
                    continue
                slots[r][what, k] = earlier
                if v_peak(slots[r]) <= peak:
                    break
                slots[r][what, k] = slot
        taken[r].add(slots[r][what, k])
    if not weights:
        slots = [with_weights(rank) for rank in slots]
    return v_early(slots)


def v_early(slots):
    """The same orders, every pass one slot long and as early as it can."""
    start, free = [{} for _ in slots], [0] * len(slots)
    for _, r, what, k in sorted((s, r, *key) for r, rank in enumerate(slots)
                                for key, s in rank.items()):
        at = free[r]
        if what < 4:
            near = r - 1 if what in (0, 2) else r + 1
            if 0 <= near < len(slots):
                at = max(at, start[near][what, k] + 1)
        start[r][what, k], free[r] = at, at + 1
    return start


def v_pattern(p, m, half):
    """V-Half and V-Min with the beginning and end moved together, twice: with
    weight gradients, then without."""
    slots = v_slots(p, m, half)
    for weights in (True, False):
        slots = [{key: s for key, s in rank.items() if key[0] < 4}
                 for rank in v_moved(slots, weights)]
    return v_orders(slots)


def v_plain(p, m, half):
    return v_orders(v_slots(p, m, half))


def v_orders(slots):
    """Slots as orders, W's where a slot is free."""
    p, orders = len(slots), []
    for r, rank in enumerate(slots):
        chunks = (r, 2 * p - 1 - r, 2 * p - 1 - r, r)
        order, owed = [], []
        for (what, k), _ in sorted(with_weights(rank).items(),
                                   key=lambda item: item[1]):
            if what == 4:
                order.append(owed.pop(0))
                continue
            order.append(Op(FORWARD if what < 2 else INPUT, k, chunks[what]))
            if what >= 2:
                owed.append(Op(WEIGHT, k, chunks[what]))
        orders.append(alone(order))
    micros = 1 + max(k for what, k in slots[0] if what == 0)
    return Made(orders, zigzag(p), 2 * p, micros)


# --- both directions ---------------------------------------------------------

def dual(q, depth, m, near, far, middle):
    """One rank of DualPipe (2412.19437; deepseek-ai/DualPipe): near(i), far(i)
    give a micro-batch and its chunk in the two directions, `depth` is how far
    the rank stands from its end."""
    order, todo, seen = [], [], {}

    def take(what, direction):
        i = seen[what, direction] = seen.get((what, direction), -1) + 1
        return (near if direction == 0 else far)(i)

    def forward(d):
        order.append((Op(FORWARD, *take("f", d)),))

    def whole(d):
        order.append((Op(BACKWARD, *take("b", d)),))

    def inputs(d):
        op = Op(INPUT, *take("b", d))
        order.append((op,))
        todo.append(Op(WEIGHT, op.micro, op.chunk))

    def weights():
        order.append((todo.pop(0),))

    def both(d):
        order.append((Op(FORWARD, *take("f", d)),
                      Op(BACKWARD, *take("b", 1 - d))))

    for _ in range(2 * (q - 1 - depth)):
        forward(0)
    for _ in range(depth + 1):
        forward(0)
        forward(1)
    for _ in range(q - 1 - depth):
        inputs(1)
        weights()
        forward(1)
    for k in range(m - 2 * q + depth + 1):
        if k == 0 and middle:
            forward(0)
            whole(1)
        else:
            both(0)
        both(1)
    for _ in range(q - 1 - depth):
        whole(1)
        both(1)
    split = 0
    for k in range(2 * (depth + 1)):
        (whole if k < depth + 1 else inputs)(1 - k % 2)
    for _ in range(q - 1 - depth):
        weights()
        inputs(0)
    for _ in range(depth + 1):
        weights()
    assert not todo and split == 0
    return order


def dualpipe(p, m):
    orders, half = [], m // 2
    for r in range(p):
        depth = min(r, p - 1 - r)
        down = lambda i, r=r: (i, r)
        up = lambda i, r=r: (half + i, p - 1 - r)
        near, far = (down, up) if r < p // 2 else (up, down)
        orders.append(dual(p // 2, depth, half, near, far,
                           depth == p // 2 - 1))
    return Made(orders, two_ways(p, m), p, m)


def dualpipe_v(p, m):
    return Made([dual(p, r, m, lambda i, r=r: (i, r),
                      lambda i, r=r: (i, 2 * p - 1 - r), r == p - 1)
                 for r in range(p)], zigzag(p), 2 * p, m)


# --- by list scheduling ------------------------------------------------------

def listed(p, chunks, m, place, priority, forward=1, backward=2):
    """A rank that is free takes the ready operation of the least priority."""
    orders = [[] for _ in range(p)]
    ready = [[] for _ in range(p)]
    running = []   # (end, rank, op)
    idle = set(range(p))

    def offer(op):
        heapq.heappush(ready[place(op.micro, op.chunk)], (priority(op), op.kind,
                                                          op.micro, op.chunk))
    for i in range(m):
        offer(Op(FORWARD, i, 0))
    now = 0
    while True:
        for r in sorted(idle):
            if ready[r]:
                _, kind, micro, chunk = heapq.heappop(ready[r])
                op = Op(kind, micro, chunk)
                orders[r].append((op,))
                idle.discard(r)
                heapq.heappush(running, (now + (
                    forward if kind == FORWARD else backward), r, micro, chunk,
                    kind))
        if not running:
            return Made(orders, place, chunks, m)
        now = running[0][0]
        while running and running[0][0] == now:
            _, r, micro, chunk, kind = heapq.heappop(running)
            idle.add(r)
            if kind == FORWARD and chunk + 1 < chunks:
                offer(Op(FORWARD, micro, chunk + 1))
            elif kind == FORWARD:
                offer(Op(BACKWARD, micro, chunk))
            elif chunk:
                offer(Op(BACKWARD, micro, chunk - 1))


def hanayo(p, m, waves):
    """2308.15762: backward first, then the deepest forward."""
    return listed(p, 2 * p * waves, m, zigzag(p),
                  lambda op: (op.kind == FORWARD,
                              -op.chunk if op.kind == FORWARD else 0,
                              op.micro))


def chimera(p, m):
    """2107.06925: two replicas in opposite directions."""
    half = m // 2
    return listed(p, p, m, two_ways(p, m),
                  lambda op: (op.kind == FORWARD, op.micro % half,
                              -op.chunk))


# --- slices of a sequence ----------------------------------------------------

def terapipe(p, m, k):
    """2102.07988: GPipe over slices; backward from the last slice."""
    orders = []
    for r in range(p):
        order = [Op(FORWARD, i, r, j) for i in range(m) for j in range(k)]
        order += [Op(BACKWARD, i, r, j) for i in range(m)
                  for j in reversed(range(k))]
        orders.append(alone(order))
    return Made(orders, looped(p), p, m, k)


def seq1f1b(p, m, k):
    """2406.03488: 1F1B over slices with k − 1 more ahead."""
    orders = []
    for r in range(p):
        forwards = [Op(FORWARD, i, r, j) for i in range(m) for j in range(k)]
        backwards = [Op(BACKWARD, i, r, j) for i in range(m)
                     for j in reversed(range(k))]
        warm, order = p - 2 - r + k, []
        for t in range(len(forwards) + warm):
            order += forwards[t:t + 1]
            if t >= warm:
                order.append(backwards[t - warm])
        orders.append(alone(order))
    return Made(orders, looped(p), p, m, k)
