"""The standard library: every accelerator, cluster and model of it compiles, is sane,
has sources and is on its page.

usage: LibraryTest.py PLANC
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import Library

PLANC = ""
MODEL = """
model tiny(layers = 2, hidden = 256, heads = 8, head_size = 32, ffn = 1024, vocab = 512) {
  x = embed(tokens, table[vocab, hidden])
  repeat layers as decoder {
    h = rms_norm(x)
    q = matmul(h, wq[hidden, heads, head_size])
    k = matmul(h, wk[hidden, heads, head_size])
    v = matmul(h, wv[hidden, heads, head_size])
    x = x + matmul(attention(q, k, v, causal = true), wo[heads, head_size, hidden])
    x = x + matmul(gelu(matmul(rms_norm(x), up[hidden, ffn])), down[ffn, hidden])
  }
  loss = cross_entropy(matmul(rms_norm(x), table))
}
"""


def planc(text, *args):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.plan")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return subprocess.run([PLANC, *args, path], capture_output=True,
                              text=True, timeout=120)


def number(text, units):
    """A quantity in base units."""
    found = re.fullmatch(r"([\d.]+)(\D.*)?", text)
    return float(found.group(1)) * units[found.group(2) or ""]


RATE = {"TFLOP/s": 1e12}
BYTES = {"GiB": 2.0**30}
SPEED = {"GB/s": 1e9, "TB/s": 1e12}


def uses_fp16_only(body):
    return "bf16" not in Library.field(body, "peak")


class Hardware(unittest.TestCase):
    def test_every_cluster_runs_a_tiny_model_over_each_of_its_levels(self):
        for name, text in Library.files("clusters").items():
            accelerators = Library.declarations(text, "accelerator")
            for cluster, body in Library.declarations(text, "cluster").items():
                levels = Library.levels(body)
                inner = levels[0].of
                count = inner * min(levels[1].of, 8)
                heads = 8 if inner % 8 == 0 else 4 if inner % 4 == 0 else 2
                fp16 = uses_fp16_only(
                    accelerators[Library.field(body, "accelerator")])
                plan = f"""
plan p for tiny() on {cluster}[{count}] {{
  batch {8 * count} sequences of 64 tokens
  mesh dp = rest, tp = {heads}
  shard batch over dp
  shard heads, ffn, vocab, seq over tp
  shard optimizer over dp
  {"precision compute = fp16" if fp16 else ""}
}}
"""
                found = planc(f"language 1\nimport {name}\n{MODEL}{plan}",
                              "report", "--format", "json")
                with self.subTest(cluster=cluster):
                    self.assertEqual(found.returncode, 0,
                                     found.stderr + found.stdout[:500])
                    json.loads(found.stdout)

    def test_every_accelerator_is_in_a_cluster(self):
        for name, text in Library.files("clusters").items():
            used = [Library.field(body, "accelerator") for body in
                    Library.declarations(text, "cluster").values()]
            for accelerator in Library.declarations(text, "accelerator"):
                self.assertIn(accelerator, used, name)

    def test_figures_are_of_their_kind(self):
        for text in Library.files("clusters").values():
            for name, body in Library.declarations(text, "accelerator").items():
                with self.subTest(accelerator=name):
                    self.figures(body)
            for name, body in Library.declarations(text, "cluster").items():
                with self.subTest(cluster=name):
                    for level in Library.levels(body):
                        self.assertTrue(
                            1e9 <= number(level.link, SPEED) <= 2e12)

    def figures(self, body):
        peaks = {kind: number(rate, RATE) for kind, rate in re.findall(
            r"(\w+) = (\S+?)(?:,|$)", Library.field(body, "peak"))}
        half = peaks.get("bf16", peaks.get("fp16"))
        # Dense: a machine's vector units reach a share of its matrix units, and
        # 8-bit products at most twice what 16-bit ones do.
        self.assertTrue(5e13 <= half <= 5e15, half)
        self.assertLessEqual(peaks.get("fp32", 0), half / 3)
        self.assertLessEqual(peaks.get("fp8", 0), 2.001 * half)
        memory, speed = Library.field(body, "memory").split(" at ")
        self.assertTrue(2**33 <= number(memory, BYTES) <= 2**39)
        self.assertTrue(5e11 <= number(speed, SPEED) <= 1e13)
        self.assertTrue(1 <= int(Library.field(body, "units")) <= 512)
        power = Library.field(body, "power")
        if power:
            self.assertTrue(100 <= number(power, {"W": 1}) <= 2000)

    def test_every_number_says_where_it_is_from(self):
        for name, text in Library.files("clusters").items():
            self.assertEqual(list(unsourced(text)), [], name)

    def test_a_number_without_a_source_is_seen(self):
        text = "language 1\n\n# A chip.\n\naccelerator a {\n"
        sourced = "  # Datasheet.\n  units 4\n\n"
        self.assertEqual(list(unsourced(text + sourced + "}\n")), [])
        self.assertEqual(list(unsourced(text + sourced + "  power 3W\n}\n")),
                         ["  power 3W"])
        self.assertEqual(list(unsourced(text + "  units 4 # counted\n}\n")), [])


def unsourced(text):
    """Lines with a number that no comment covers: one on it or beside it with no empty
    line between, or one that takes the declaration or the file from elsewhere. What
    stands above a declaration covers no number in it otherwise."""
    elsewhere = re.compile(r"all else as|links as|links and network as|those of "
                           r"\w+\.plan|the same in pods", re.I)
    whole = whole_file = False
    for paragraph in paragraphs(text):
        said = " ".join(line.partition("#")[2].strip()
                        for line in paragraph).strip()
        code = [line for line in paragraph if line.split("#")[0].strip()]
        if not code:
            whole_file = whole_file or bool(elsewhere.search(said))
        elif re.match(r"\w+ \w+ \{", code[0]):  # what opens a declaration
            whole = bool(elsewhere.search(said))
        elif not (said or whole or whole_file):
            for line in code:
                if re.search(r"(?<![\w.])\d", line.split("#")[0]):
                    yield line


def paragraphs(text):
    """Lines with no empty one between; a declaration's first line ends one."""
    lines = []
    for line in text.splitlines() + [""]:
        if line.strip() and line != "language 1":
            lines.append(line)
        if lines and (not line.strip() or re.match(r"\w+ \w+ \{", line)):
            yield lines
            lines = []


class Models(unittest.TestCase):
    def test_every_ready_model_has_its_parameters_counted(self):
        counted = set(Library.counts())
        ready = {(name, model) for name, text in Library.files("models").items()
                 for model in Library.ready_models(text)}
        self.assertGreater(len(ready), 80)
        self.assertEqual(ready - counted, set(), "without a row")
        self.assertEqual(counted - ready, set(), "rows without a model")

    def test_every_count_says_where_it_is_from(self):
        for (_, model), row in Library.counts().items():
            self.assertGreater(len(row["source"]), 10, model)

    def test_every_model_compiles_in_a_plan(self):
        for name, text in Library.files("models").items():
            if not Library.ready_models(text):
                continue  # blocks for others
            plans = "".join(f"""
plan of_{model} for {model} on dgx_h100[64] {{
  batch 64 sequences of 128 tokens
  mesh dp = rest
  shard batch over dp
  shard parameters, gradients, optimizer over dp
  recompute all
}}
""" for model in Library.ready_models(text))
            found = planc(f"import {name}\nimport std.clusters.h100\n{plans}",
                          "check")
            with self.subTest(file=name):
                # 4: some do not fit, which is no fault of theirs.
                self.assertIn(found.returncode, (0, 4), found.stderr[:2000])

    def test_all_files_can_be_imported_together(self):
        imports = "".join(f"import {name}\n" for folder in ("models", "clusters")
                          for name in Library.files(folder))
        found = planc(imports + MODEL + """
plan p for tiny() on dgx_h100[8] {
  batch 8 sequences of 64 tokens
  mesh dp = rest
  shard batch over dp
}
""", "check")
        self.assertEqual(found.returncode, 0, found.stderr[:2000])


class Page(unittest.TestCase):
    def test_the_page_says_what_there_is(self):
        self.assertEqual(Library.read(Library.PAGE), Library.page(),
                         "tests/library/Library.py --write")


if __name__ == "__main__":
    PLANC = sys.argv.pop(1)
    unittest.main()
