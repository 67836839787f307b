"""Small plans as text, and what planc says of them."""
import json
import os
import subprocess
import tempfile

CLUSTER = """
accelerator chip {{
  peak    bf16 = 1000TFLOP/s, fp32 = 60TFLOP/s
  memory  {memory} at 3TB/s
  units   128
}}

cluster nodes {{
  accelerator chip
  level node   of 8  {{ link {node}, latency 2us{reduction} }}
  level fabric of 16 {{ link {fabric}, latency 5us{reduction} }}
}}
"""

MODEL = """
model small = llama(layers = {layers}, hidden = 1024, heads = 16, kv_heads = 8, ffn = 4096, vocab = {vocab})
"""


class Fails(Exception):
    pass


class Tool:
    """Runs planc, each different text once."""

    def __init__(self, planc):
        self.planc = os.path.abspath(planc)
        self.folder = tempfile.TemporaryDirectory()
        self.known = {}

    def run(self, arguments, text=None, environment=None):
        path = os.path.join(self.folder.name, "p.plan")
        if text is not None:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        return subprocess.run(
            [self.planc, *(path if a == "FILE" else a for a in arguments)],
            capture_output=True, check=False, env=environment)

    def report(self, text, *options):
        key = (text, options)
        if key not in self.known:
            done = self.run(["report", "FILE", "--format", "json",
                             "--verify-each", *options], text)
            if done.returncode not in (0, 3, 4):
                raise Fails(f"exit {done.returncode}\n{text}\n"
                            + done.stderr.decode())
            self.known[key] = json.loads(done.stdout)
        return self.known[key]


def plan(*clauses, accelerators=8, layers=4, vocab=4096, memory="80GiB",
         node="400GB/s", fabric="50GB/s", reduction=""):
    """A plan of the small model; `reduction` is a further field of links."""
    fields = {"memory": memory, "node": node, "fabric": fabric,
              "reduction": reduction and ", " + reduction}
    return ("language 1\nimport std.models.llama\n" + CLUSTER.format(**fields)
            + MODEL.format(layers=layers, vocab=vocab)
            + f"\nplan p for small on nodes[{accelerators}] {{\n  "
            + "\n  ".join(clauses) + "\n}\n")
