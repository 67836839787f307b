"""Layers built are layers asked for: random models cut in random pipelines.

usage: LayersTest.py PLANC [COUNT [SEED]]

Every unit of the model stands in exactly one chunk, in order; chunks hold as
many layers as `layers` says; and what all ranks of the stages hold adds up to
the model's parameters.
"""
import json
import random
import re
import sys

from Plans import CLUSTER, Tool

TWO_REPEATS = """
model both(layers, late, hidden, heads, head_size = hidden // heads, ffn, vocab) {
  x = embed(tokens, table[vocab, hidden])
  repeat layers as early {
    h = rms_norm(x)
    q = rope(matmul(h, wq[hidden, heads, head_size]))
    k = rope(matmul(h, wk[hidden, heads, head_size]))
    v = matmul(h, wv[hidden, heads, head_size])
    x = x + matmul(attention(q, k, v, causal = true), wo[heads, head_size, hidden])
  }
  x = rms_norm(x)
  repeat late as late {
    x = x + swiglu(rms_norm(x), ffn)
  }
  loss = cross_entropy(matmul(rms_norm(x), output[hidden, vocab]))
}
"""


def text_of(pick, shape):
    if shape["late"]:
        model = TWO_REPEATS + (
            f"model m = both(layers = {shape['layers']}, late = {shape['late']},"
            " hidden = 64, heads = 4, ffn = 128, vocab = 256)")
    else:
        model = (f"model m = llama(layers = {shape['layers']}, hidden = 64, "
                 "heads = 4, kv_heads = 2, ffn = 128, vocab = 256)")
    layers = f", layers {shape['counts']}" if shape["counts"] else ""
    return ("language 1\nimport std.models.llama\n"
            + CLUSTER.format(memory="80GiB", node="400GB/s", fabric="50GB/s",
                             reduction="")
            + model + f"""
plan p for m on nodes[{shape['stages'] * shape['data']}] {{
  batch {shape['data'] * shape['stages'] * pick.randint(1, 3)} sequences of 128 tokens
  mesh pp = {shape['stages']}, dp = {shape['data']}
  shard batch over dp
  pipeline over pp {{ {shape['schedule']}{layers} }}
}}
""")


def partition(pick, total, parts):
    cuts = sorted(pick.randint(0, total) for _ in range(parts - 1))
    return [b - a for a, b in zip([0] + cuts, cuts + [total])]


def shape_of(pick):
    shape = {"stages": pick.choice([1, 2, 3, 4, 8]), "data": pick.choice([1, 2]),
             "layers": pick.randint(1, 24),
             "late": pick.choice([0, 0, pick.randint(1, 8)])}
    units = shape["layers"] + shape["late"] + 2
    chunks = pick.choice([1, 1, 2, 3])
    if chunks == 1 or shape["stages"] * chunks > units:
        chunks = 1
        shape["schedule"] = "schedule " + pick.choice(["GPipe", "1F1B"])
    else:
        shape["schedule"] = f"schedule Interleaved1F1B, virtual {chunks}"
    shape["chunks"] = shape["stages"] * chunks
    shape["counts"] = pick.random() < 0.5 and partition(
        pick, shape["layers"] + shape["late"], shape["chunks"])
    return shape


def asked(shape):
    """Names of the units in order, as `emit` prints them."""
    first = "early" if shape["late"] else "decoder"
    return (["before"] + [f"{first}[{i}]" for i in range(shape["layers"])]
            + [f"late[{i}]" for i in range(shape["late"])] + ["after"])


def chunks_of(text, units):
    """The units of every chunk."""
    out = []
    for line in text.splitlines():
        found = re.fullmatch(r"chunk (\d+) on stage \d+: (.*)", line)
        if not found or found[2] == "nothing":
            out += [[]] if found else []
            continue
        first, _, last = found[2].partition(" .. ")
        begin = units.index(first)
        out.append(units[begin:units.index(last or first) + 1])
    return out


def faults_of(tool, text, shape):
    done = tool.run(["emit", "--stage=stages", "FILE"], text)
    if done.returncode == 2 and b"more-chunks-than-units" in done.stderr:
        return None
    if done.returncode:
        return [done.stderr.decode()]
    units = asked(shape)
    chunks = chunks_of(done.stdout.decode(), units)
    out = []
    if [unit for chunk in chunks for unit in chunk] != units:
        out.append(f"built {chunks}")
    if shape["counts"]:
        held = [sum("[" in unit for unit in chunk) for chunk in chunks]
        if held != list(shape["counts"]):
            out.append(f"chunks hold {held} layers")
    done = tool.run(["report", "FILE", "--format", "json"])
    report = json.loads(done.stdout)
    held = sum(stage["parameters_bytes"] // 2 * stage["ranks"]
               for stage in report["memory"]["stages"]) // shape["data"]
    if held != report["parameters"]:
        out.append(f"ranks hold {held} of {report['parameters']} parameters")
    return out


def main():
    tool = Tool(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    pick = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    failures, tried = 0, 0
    for _ in range(count):
        shape = shape_of(pick)
        text = text_of(pick, shape)
        faults = faults_of(tool, text, shape)
        tried += faults is not None
        if faults:
            failures += 1
            print(text, *faults, sep="\n")
    print(f"{tried} plans of {count}, {failures} failures")
    return 1 if failures or tried < count // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
