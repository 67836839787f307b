"""`planc fmt` as people and hooks call it.

usage: FmtTest.py PLANC ROOT
"""
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

PLANC, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]
UGLY = "let  a=1\r\nlet bb = 2 # why\n"
NEAT = "let a  = 1\nlet bb = 2  # why\n"


LINT = "recompute-no-effect"
PLAN = """language 1
import std.models.llama
import std.clusters.h100

plan p for llama3_8b on dgx_h100[64] {
  batch 64 sequences of 4096 tokens, micro 1 sequence
  mesh dp = rest
  shard batch over dp
  shard optimizer over dp
"""
ALLOW = f"# planc: allow({LINT}) seen"
CLAUSES = "recompute attention, kernels attention = flash2"
LONG = ("batch 128 sequences of 4096 tokens, micro 1 sequence, bucket auto, "
        "overlap gradients, " + CLAUSES)
SILENCED = {
    "two on a line": f"  {CLAUSES}   {ALLOW}\n}}\n",
    "two below": f"  {ALLOW}\n  {CLAUSES}\n}}\n",
    "long": f"}}\n\nplan x = p with {{ {LONG} }}  {ALLOW}\n",
    "long below": f"}}\n\n{ALLOW}\nplan x = p with {{ {LONG} }}\n",
    "at the end": f"  recompute  attention }}  {ALLOW}\n",
    "the next line": f"  {ALLOW}\n  recompute attention }}\n",
}


def planc(*arguments, text=None, cwd=None):
    return subprocess.run([PLANC, *arguments], input=text, capture_output=True,
                          text=True, encoding="utf-8", timeout=60, cwd=cwd)


class Fmt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)
        return path

    def read(self, path):
        with open(path, encoding="utf-8", newline="") as text:
            return text.read()

    def test_standard_input(self):
        done = planc("fmt", "-", text=UGLY.replace("\r", ""))
        self.assertEqual((done.returncode, done.stdout), (0, NEAT))
        self.assertEqual(planc("fmt", "-w", "-", text=UGLY).returncode, 1)

    def test_prints(self):
        path = self.write("a.plan", UGLY)
        done = planc("fmt", path, path)
        self.assertEqual((done.returncode, done.stdout), (0, NEAT + NEAT))
        self.assertEqual(self.read(path), UGLY)

    def test_check(self):
        ugly, neat = self.write("u.plan", UGLY), self.write("n.plan", NEAT)
        done = planc("fmt", "--check", ugly, neat)
        self.assertEqual((done.returncode, done.stdout), (3, ugly + "\n"))
        done = planc("fmt", "--check", neat)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(planc("fmt", "--check", "-w", neat).returncode, 1)

    def test_write(self):
        path, neat = self.write("a.plan", UGLY), self.write("n.plan", NEAT)
        os.chmod(path, 0o640)
        link = os.path.join(self.folder, "link.plan")
        os.symlink("a.plan", link)
        before = os.stat(neat)
        done = planc("fmt", "-w", link, neat)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "", ""))
        self.assertEqual(self.read(path), NEAT)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o640)
        # What does not change is not written.
        self.assertEqual(os.stat(neat).st_ino, before.st_ino)
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["a.plan", "link.plan", "n.plan"])

    def test_diff(self):
        path = self.write("a.plan", UGLY)
        done = planc("fmt", "-d", path)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--- " + path + "\n+++ " + path + "\n@@ -1,2 +1,2 @@\n",
                      done.stdout)
        self.assertIn("\n+let a  = 1\n", done.stdout)
        self.assertEqual(self.read(path), UGLY)
        self.assertEqual(planc("fmt", "-d", "--check", path).returncode, 3)

    @unittest.skipUnless(shutil.which("patch"), "needs GNU patch")
    def test_diff_is_a_patch(self):
        name = "a plan, of two.plan"
        path = self.write(name, UGLY.replace("\r", ""))
        done = planc("fmt", "-d", name, cwd=self.folder)
        subprocess.run(["patch", "-p0", "--quiet"], input=done.stdout,
                       text=True, cwd=self.folder, check=True, timeout=60)
        self.assertEqual(self.read(path), NEAT)

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_owner_stays(self):
        path = self.write("a.plan", UGLY)
        os.chown(path, 12345, 12346)
        os.chmod(path, 0o4640)
        self.assertEqual(planc("fmt", "-w", path).returncode, 0)
        after = os.stat(path)
        self.assertEqual(self.read(path), NEAT)
        self.assertEqual((after.st_uid, after.st_gid), (12345, 12346))
        self.assertEqual(stat.S_IMODE(after.st_mode), 0o4640)

    def test_no_finding_changes(self):
        """`check` has as much to say, and of the same, after as before."""
        for name, tail in SILENCED.items():
            path = self.write(name + ".plan", PLAN + tail)
            before = self.findings(path)
            self.assertEqual(planc("fmt", "-w", path).returncode, 0, name)
            self.assertNotEqual(self.read(path), PLAN + tail, name)
            self.assertEqual(self.findings(path), before, name)
            self.assertEqual(planc("fmt", "--check", path).returncode, 0)
            self.assertEqual(before, (0, []), name)
            # The comment is what makes it so.
            bare = self.write("bare.plan", re.sub("# planc.*", "", PLAN + tail))
            self.assertIn(LINT, self.findings(bare)[1], name)

    def findings(self, path):
        done = planc("check", path)
        return (done.returncode,
                sorted(re.findall(r"(?:warning|remark|error)\[([a-z-]+)\]",
                                  done.stderr)))

    def test_mistakes(self):
        wrong = self.write("w.plan", "let = 1\n")
        ugly = self.write("u.plan", UGLY)
        done = planc("fmt", "-w", wrong, ugly)
        self.assertEqual(done.returncode, 2)
        self.assertIn("w.plan:1:5: error[", done.stderr)
        self.assertEqual(self.read(wrong), "let = 1\n")
        self.assertEqual(self.read(ugly), NEAT)
        self.assertEqual(planc("fmt", "--check", wrong, ugly).returncode, 2)
        self.assertEqual(planc("fmt").returncode, 1)
        self.assertEqual(planc("fmt", self.folder).returncode, 1)
        self.assertEqual(planc("fmt", wrong + "x", ugly).returncode, 1)

    def test_no_report_changes(self):
        """Every example, squeezed, against what comes out of it."""
        for name in ("tour", "gpt3_175b", "mixtral_8x7b", "gpt2_small_ddp"):
            text = self.read(os.path.join(ROOT, "examples", name + ".plan"))
            lines = (re.sub(r"(?<=\S) +(?!#)", " ", line)
                     for line in text.split("\n"))
            path = self.write(name + ".plan", "\n\n".join(lines))
            squeezed = self.report(path)
            self.assertEqual(planc("fmt", "-w", path).returncode, 0)
            self.assertNotEqual(self.read(path), text.replace("\n", "\n\n"))
            self.assertEqual(self.report(path), squeezed, name)

    def report(self, path):
        def placed(value):
            if isinstance(value, dict):
                return {key: placed(item) for key, item in value.items()
                        if key not in ("line", "column", "text")}
            if isinstance(value, list):
                return [placed(item) for item in value]
            return re.sub(r"\.plan:[0-9:]+", "", value) if isinstance(
                value, str) else value
        return placed(json.loads(planc("report", "--format", "json",
                                       path).stdout))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
