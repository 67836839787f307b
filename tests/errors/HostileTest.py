"""Inputs that are too large or too odd to be committed.

usage: HostileTest.py PLANC

Each gives a named diagnostic and its exit code, within a second of processor
time and 500 MB, and never a line of anybody else's words.
"""
import os
import random
import resource
import subprocess
import sys
import tempfile

SANITIZED = "ASAN_OPTIONS" in os.environ
LIMIT = 20 if SANITIZED else 1  # seconds of processor time

HEAD = """language 1
import std.models.llama
import std.clusters.h100
"""
PLAN = """plan p for %s on %s {
  batch %s
  mesh  dp = rest
  shard batch over dp
}
"""


def plan(model="llama3_8b", cluster="dgx_h100[8]",
         batch="8 sequences of 8192 tokens", before=""):
    return HEAD + before + PLAN % (model, cluster, batch)


def let(expression):
    return plan(before=f"let n = {expression}\n",
                batch="n sequences of 8192 tokens")


def texts():
    """(name, text, exit code, kind)"""
    random_bytes = random.Random(5).randbytes
    fine = plan()
    yield "empty", b"", 2, "no-plan"
    yield "garbage", random_bytes(10_000_000), 2, "file-too-large"
    yield "garbage-4mib", random_bytes(4 << 20), 2, "not-utf8"
    yield "zeros", bytes(1 << 20), 2, "not-text"
    yield "spaces-10mb", b" " * 10_000_000, 2, "file-too-large"
    yield "words", b"a " * 1_000_000, 2, "too-many-tokens"
    yield "lines", b"\n" * (4 << 20), 2, "too-many-tokens"
    yield "long-word", b"let " + b"a" * 4_000_000 + b" = 1\n", 2, "no-plan"
    yield "long-comment", b"#" * (4 << 20), 2, "no-plan"
    yield "long-text", b'import "' + b"a" * 1_000_000 + b'"\n', 2, None
    yield "long-name", let("a" * 1_000_000), 2, "unknown-name"
    yield "long-unit", let("5" + "a" * 1_000_000), 2, "unknown-unit"
    yield "long-clause", plan(batch="1 sequences of 1 tokens\n  "
                              + "a" * 1_000_000 + " 1"), 2, "unknown-clause"
    yield "latin-1", fine.encode() + b"# caf\xe9\n", 2, "not-utf8"
    yield "utf-16", fine.encode("utf-16"), 2, "not-utf8"
    yield "surrogate", b"# \xed\xa0\x80\n", 2, "not-utf8"
    yield "nul", fine.encode() + b"\0", 2, "not-text"
    for bracket, other in ("()", "[]"):
        yield ("nested" + bracket,
               f"let n = {bracket * 10_000}1{other * 10_000}\n", 2,
               "nesting-too-deep")
        yield ("open" + bracket, f"let n = {bracket * 10_000}", 2,
               "nesting-too-deep")
    yield "minus", f"let n = {'-' * 10_000}1\n", 2, "nesting-too-deep"
    yield "not", f"let n = {'not ' * 10_000}true\n", 2, "nesting-too-deep"
    yield "power", f"let n = {'2 ** ' * 10_000}2\n", 2, "nesting-too-deep"
    yield "if", f"let n = {'if true then 1 else ' * 10_000}2\n", 2, \
        "nesting-too-deep"
    yield "braces", "model m() " + "{" * 10_000, 2, None
    yield "repeats", "model m(n) {\n" + "repeat n as a {\n" * 10_000, 2, \
        "nesting-too-deep"
    yield "lets", HEAD + "".join(
        f"let a{i} = a{i + 1} + 1\n" for i in range(20_000)) + \
        "let a20000 = 1\n" + PLAN % ("llama3_8b", "dgx_h100[8]",
                                     "a0 sequences of 8192 tokens"), 2, \
        "too-deep"
    yield "doubling", HEAD + "let a0 = [1]\n" + "".join(
        f"let a{i + 1} = a{i} + a{i}\n" for i in range(60)) + \
        PLAN % ("llama3_8b", "dgx_h100[8]",
                "sum(a60) sequences of 8192 tokens"), 2, "list-too-long"
    yield "add", let("9223372036854775807 + 1"), 2, "number-out-of-range"
    yield "multiply", let("4294967296 * 4294967296"), 2, "number-out-of-range"
    yield "raise", let("10 ** 10 ** 10"), 2, "number-out-of-range"
    yield "negate", let("(0 - 9223372036854775807 - 1) // -1"), 2, \
        "number-out-of-range"
    yield "remainder", let("(0 - 9223372036854775807 - 1) mod -1"), 2, None
    yield "literal", let("99999999999999999999"), 2, "number-too-large"
    yield "digits", let("1" * 1_000_000), 2, "number-too-large"
    yield "zero", let("1 // 0"), 2, "division-by-zero"
    yield "list", let("1000000000 * [1]"), 2, None
    yield "range", let("sum(1..9000000000000000000)"), 2, None
    yield "divisors", let("divisors(9223372036854775783)"), 2, None
    yield "batch", plan(
        batch="9223372036854775807 sequences of 9223372036854775807 tokens"), \
        2, None
    yield "hidden", plan(
        before="model big = llama(layers = 2, hidden = 2 ** 40, heads = 2 ** "
        "20, ffn = 2 ** 40, vocab = 2 ** 40)\n", model="big"), 2, None
    yield "layers", plan(
        before="model big = llama(layers = 2 ** 60, hidden = 64, heads = 8, "
        "ffn = 64, vocab = 64)\n", model="big"), 2, "too-many-iterations"
    yield "cluster", plan(
        before="cluster vast {\n  accelerator h100_sxm\n" + "".join(
            f"  level l{i} of 1000000 {{ link 50GB/s, latency 1us }}\n"
            for i in range(5)) + "}\n", cluster="vast[10 ** 12]"), 2, None
    yield "micro-batches", plan(
        batch="2 ** 40 sequences of 8192 tokens"), None, None
    yield "accelerators", plan(cluster="dgx_h100[10 ** 18]"), 2, \
        "too-few-accelerators"
    yield "levels", plan(
        before="cluster deep {\n  accelerator h100_sxm\n" + "".join(
            f"  level l{i} of 1 {{ link 50GB/s, latency 1us }}\n"
            for i in range(5_000)) + "}\n", cluster="deep"), None, None
    yield "axes", HEAD + "plan p for llama3_8b on dgx_h100[8] {\n" \
        "  batch 8 sequences of 8192 tokens\n  mesh " + ", ".join(
            f"a{i} = 1" for i in range(5_000)) + ", dp = rest\n" + "".join(
                f"  shard batch over a{i}\n" for i in range(5_000)) + \
        "  shard batch over dp\n}\n", None, None
    for name, rules, shards in (
            ("rules-divisors", "rule r { needs divisors(1000000000000)"
             " == ways(batch), says \"x\" }\n", ""),
            ("rules-lists", "rule r { needs sum(100000 * [ways(batch)])"
             " == 3, says \"x\" }\n", ""),
            ("rules-many", "".join(
                f"rule r{i} {{ needs ways(batch) + {i} > 8, says \"x\" }}\n"
                for i in range(10_000)), ""),
            ("rules-axes", "rule r { needs ways(batch) == 3, says \"x\" }\n",
             "".join(f"  shard batch over a{i}\n" for i in range(5_000)))):
        mesh = "".join(f"a{i} = 1, " for i in range(5_000)) if shards else ""
        yield name, HEAD + "target t {\n" + rules + "}\n" + PLAN.replace(
            "mesh  ", "target t\n  mesh " + mesh).replace("}", shards + "}") % (
            "llama3_8b", "dgx_h100[8]", "64 sequences of 8192 tokens"), 2, None
    for length in range(20, len(fine) - 2, 17):
        yield f"cut-{length}", fine[:length], 2, None


def diagnostic_of(text):
    """The kind of the first error, `planc:` for the tool's own, or none."""
    for line in text.splitlines():
        if "error[" in line:
            return line.split("error[")[1].split("]")[0]
    return None


def limit_memory():
    """No test may take the machine with it."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


def run(planc, arguments, cwd):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            [planc, *arguments], cwd=cwd, capture_output=True, timeout=60,
            preexec_fn=limit_memory, check=False)
    except subprocess.TimeoutExpired:
        return None, "", 60.0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = (after.ru_utime + after.ru_stime
             - before.ru_utime - before.ru_stime)
    said = done.stderr.decode("utf-8", "replace")
    return done.returncode, said, spent


def check(name, wanted, found):
    """The lines that say what is wrong with one run."""
    code, kind = wanted
    status, said, spent = found
    out = []
    if status is None:
        return [f"{name}: still running after 60 s"]
    if code is not None and status != code:
        out.append(f"{name}: exit {status}, expected {code}: {said[:200]}")
    if status not in (0, 1, 2, 3, 4, 5):
        out.append(f"{name}: exit {status}: {said[-300:]}")
    shown = diagnostic_of(said)
    if status in (2, 5) and shown is None:
        out.append(f"{name}: no named diagnostic: {said[:200]}")
    if kind is not None and shown != kind:
        out.append(f"{name}: [{shown}], expected [{kind}]: {said[:200]}")
    if len(said) > 100_000:
        out.append(f"{name}: says {len(said)} bytes")
    if spent > LIMIT:
        out.append(f"{name}: took {spent:.1f} s")
    return out


def files(folder):
    """Odd things that are not texts: (name, arguments, exit code, kind)"""
    with open(os.path.join(folder, "in.plan"), "w", encoding="utf-8") as out:
        out.write('import "link.plan"\n')
    with open(os.path.join(folder, "big.plan"), "w", encoding="utf-8") as out:
        out.write('import "huge.plan"\n')
    with open(os.path.join(folder, "huge.plan"), "wb") as out:
        out.write(b"#" * (4 << 20) + b"\n")
    with open(os.path.join(folder, "pipe.plan"), "w", encoding="utf-8") as out:
        out.write('import "fifo.plan"\n')
    os.mkfifo(os.path.join(folder, "fifo.plan"))
    os.symlink("/etc/hostname", os.path.join(folder, "link.plan"))
    os.symlink("loop.plan", os.path.join(folder, "loop.plan"))
    yield "link", ["check", "in.plan"], 2, "import-escapes-root"
    yield "big import", ["check", "big.plan"], 2, "file-too-large"
    yield "pipe", ["check", "pipe.plan"], 2, "file-not-readable"
    yield "loop", ["check", "loop.plan"], 1, None
    yield "folder", ["check", folder], 1, None
    yield "none", ["check", "none.plan"], 1, None
    yield "device", ["check", "/dev/null"], None, None
    yield "root", ["check", "in.plan/"], 1, None


def main():
    planc = os.path.abspath(sys.argv[1])
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text, code, kind in texts():
            path = os.path.join(folder, "hostile.plan")
            with open(path, "wb") as out:
                out.write(text if isinstance(text, bytes) else text.encode())
            command = ["report", "hostile.plan", "--verify-each"]
            found = run(planc, command, folder)
            if found[2] > LIMIT:  # a busy machine's caches: timed once more
                again = run(planc, command, folder)
                found = (*found[:2], min(found[2], again[2]))
            failures += check(name, (code, kind), found)
            count += 1
        for name, arguments, code, kind in files(folder):
            failures += check(name, (code, kind),
                              run(planc, arguments, folder))
            count += 1
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    if most > 500 and not SANITIZED:
        failures.append(f"one run took {most} MB")
    print("\n".join(failures))
    print(f"{count} inputs, {len(failures)} failures, at most {most} MB")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
