"""`planc check` as people, hooks and other programs call it; and what shells and
manuals are given.

usage: CheckTest.py PLANC ROOT
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

PLANC, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]
SANITIZED = "ASAN_OPTIONS" in os.environ
LIMIT = 40 if SANITIZED else 2  # seconds of processor time
MEMORY = (4000 if SANITIZED else 500) << 10  # KiB
HEAD = "language 1\nimport std.models.gpt\nimport std.clusters.a100\n\n"
FINE = HEAD + """plan fine for gpt2_small on dgx_a100[8] {
  batch      256 sequences of 1024 tokens, micro 8 sequences
  mesh       dp = rest
  shard      batch over dp
}
"""
STARVED = HEAD + """plan starved for gpt2_small on dgx_a100[8] {
  batch      8 sequences of 1024 tokens, micro 4 sequences
  mesh       pp = 4, dp = rest
  shard      batch over dp
  pipeline   over pp { schedule 1F1B }LINE
  expect     step_time <= 1h
}
"""


def planc(*arguments, cwd=None):
    return subprocess.run([PLANC, *arguments], capture_output=True, text=True,
                          encoding="utf-8", timeout=120, cwd=cwd)


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.fine = self.write("fine.plan", FINE)
        self.starved = self.write("starved.plan", STARVED.replace("LINE", ""))
        self.wrong = self.write("wrong, 100%.plan",
                                FINE.replace("dp = rest", "dp = 3"))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w",
                  encoding="utf-8") as out:
            out.write(text)
        return name

    def check(self, *arguments):
        return planc("check", *arguments, cwd=self.folder)

    def test_summary(self):
        done = self.check(self.fine)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "1 plan in 1 file: fine\n", ""))
        done = self.check(self.fine, self.starved, self.wrong)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "2 plans in 3 files: 1 error, 1 warning\n")
        self.assertIn("starved.plan:9:3: warning[starved-pipeline]",
                      done.stderr)
        self.assertIn("error[mesh-does-not-fill]", done.stderr)

    def test_outcomes(self):
        self.assertEqual(self.check(self.starved).returncode, 0)
        late = self.write("late.plan", STARVED.replace("LINE", "").replace(
            "1h", "1us"))
        done = self.check(late, self.fine)
        self.assertEqual(done.returncode, 3)
        self.assertIn("error[expectation-failed]", done.stderr)
        self.assertEqual(self.check(late, self.wrong).returncode, 2)
        self.assertEqual(self.check(late, "none.plan").returncode, 1)
        self.assertEqual(self.check().returncode, 1)
        big = self.write("big.plan", FINE.replace("gpt2_small", "gpt3_175b"))
        self.assertEqual(self.check(big).returncode, 4)
        self.assertEqual(self.check(big, late).returncode, 4)

    def test_levels(self):
        done = self.check(self.starved, "--deny", "starved-pipeline")
        self.assertEqual(done.returncode, 3)
        self.assertIn("error[starved-pipeline]", done.stderr)
        done = self.check(self.starved, "--allow=starved-pipeline")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.check(self.starved, "--deny", "starved-pipelin")
        self.assertEqual(done.returncode, 1)
        self.assertIn("did you mean starved-pipeline?", done.stderr)
        self.assertEqual(
            self.check(self.starved, "--allow", "not-divisible").returncode, 1)

    def test_silenced(self):
        text = STARVED.replace(
            "LINE", "  # planc: allow(starved-pipeline) a test of transfers")
        done = self.check(self.write("silent.plan", text))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "1 plan in 1 file: fine, 1 silenced\n")

    def test_unused_only_where_all_was_said(self):
        """Of a recipe, or of a plan that this file imports, nothing is known:
        other files compile them."""
        allow = "  # planc: allow(starved-pipeline) a test of transfers"
        plain = STARVED.replace("LINE", allow).replace(
            "pp = 4", "pp = 2").replace("batch      8", "batch      64")
        done = self.check(self.write("plain.plan", plain))
        self.assertEqual(done.stdout, "1 plan in 1 file: 1 remark\n")
        self.assertIn("plain.plan:9:56: remark[allow-unused]: there is no "
                      "`starved-pipeline` on line 9", done.stderr)
        recipe = plain.replace("plan starved", "plan base(n = 2)").replace(
            "pp = 2", "pp = n")
        done = self.check(self.write("recipe.plan", recipe))
        self.assertEqual((done.stdout, done.stderr),
                         ("0 plans in 1 file: fine\n", ""))
        user = self.write("user.plan", 'language 1\nimport "recipe.plan"\n'
                          'import "plain.plan"\nplan own = base(n = 2)\n')
        done = self.check(user)
        self.assertEqual((done.stdout, done.stderr),
                         ("1 plan in 1 file: fine\n", ""))
        wanted = self.write("wanted.plan", recipe.replace(
            "batch      64", "batch      8") + "plan own = base(n = 4)\n")
        self.assertEqual(self.check(wanted).stdout,
                         "1 plan in 1 file: fine, 1 silenced\n")

    def test_many_are_counted(self):
        """Thousands of comments, on lines of their own and on one, take no
        longer than a large file does, and are not listed one by one."""
        count = 9_000 if SANITIZED else 90_000
        stacked = "".join("# planc: allow(starved-pipeline) x\n"
                          for _ in range(count))
        names = ", ".join(["starved-pipeline"] * count)
        unknown = ", ".join(["x"] * count)
        kind = "allow-unused"
        for head, expected in (
                (stacked, kind),
                (f"# planc: allow({names}) x\n", kind),
                (f"# planc: allow({unknown}) x\n", "allow-unknown")):
            path = self.write("large.plan", FINE.replace("plan ", head
                                                         + "plan ", 1))
            for form in ("text", "json", "github", "sarif"):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                done = self.check("--format", form, path)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                self.assertEqual(done.returncode, 0)
                self.assertLess(after.ru_utime - before.ru_utime, LIMIT, form)
                more = f"{count - 20} more `{expected}` are not listed"
                self.assertEqual((done.stdout + done.stderr).count(more), 1,
                                 form)
                if form == "text":
                    self.assertEqual(done.stderr.count(f"[{expected}]"), 20)
                    self.assertIn(f", {count - 20} more not listed\n",
                                  done.stdout)
            self.assertEqual(
                self.check("--deny", expected, path).returncode, 3)
            self.assertEqual(self.check("--allow", expected, path).stdout,
                             "1 plan in 1 file: fine\n")
        silent = STARVED.replace("LINE", "").replace(
            "  pipeline", stacked + "  pipeline")
        self.assertEqual(self.check(self.write("silent.plan", silent)).stdout,
                         "1 plan in 1 file: fine, 1 silenced\n")
        self.assertLess(resource.getrusage(
            resource.RUSAGE_CHILDREN).ru_maxrss, MEMORY)

    def test_plan_and_define(self):
        text = "param n = 8 in [4, 8]\n" + FINE.replace(
            "language 1\n", "").replace("dp = rest", "dp = n") + (
                "plan other = fine with { batch 255 sequences of 1024 tokens }")
        path = self.write("param.plan", text)
        self.assertEqual(self.check(path).returncode, 2)
        self.assertEqual(self.check(path, "--plan", "fine").returncode, 0)
        self.assertEqual(self.check(path, "--plan", "fine", "-D",
                                    "n=4").returncode, 2)

    def test_json(self):
        done = self.check("--format", "json", self.starved, self.wrong)
        found = json.loads(done.stdout)
        self.assertEqual(found["status"], "illegal")
        self.assertEqual([(d["file"], d["line"], d["code"], d["severity"])
                          for d in found["diagnostics"]],
                         [("starved.plan", 9, "starved-pipeline", "warning"),
                          (self.wrong, 7, "mesh-does-not-fill", "error")])

    def test_github(self):
        done = self.check("--format", "github", self.starved, self.wrong)
        self.assertEqual(done.returncode, 2)
        first, second = done.stdout.splitlines()
        self.assertRegex(first, r"^::error file=wrong%2C 100%25\.plan,line=7,"
                                r"endLine=7,col=\d+,endColumn=\d+,"
                                r"title=mesh-does-not-fill::")
        self.assertRegex(second, "^::warning file=starved.plan,line=9,")
        self.assertIn("%0Ahelp: ", second)

    def test_sarif(self):
        done = self.check("--format", "sarif", "-o", "out.sarif", self.starved,
                          self.wrong)
        self.assertEqual(done.returncode, 2)
        with open(os.path.join(self.folder, "out.sarif"),
                  encoding="utf-8") as text:
            log = json.load(text)
        self.assertEqual(log["version"], "2.1.0")
        run, = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        results = run["results"]
        for result in results:
            self.assertEqual(rules[result["ruleIndex"]]["id"],
                             result["ruleId"])
            self.assertRegex(result["partialFingerprints"]["plancLine/v1"],
                             r"^[0-9a-f]{16}:1$")
        place = results[0]["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"]["uri"], "starved.plan")
        self.assertEqual(place["region"]["startLine"], 9)
        self.assertEqual(results[1]["locations"][0]["physicalLocation"]
                         ["artifactLocation"]["uri"], "wrong%2C%20100%25.plan")
        # A line that moves keeps its fingerprint.
        moved = self.write("starved.plan", "# moved\n\n" +
                           STARVED.replace("LINE", "").replace(
                               "language 1\n", ""))
        again = json.loads(self.check("--format", "sarif", moved).stdout)
        self.assertEqual(again["runs"][0]["results"][0]["partialFingerprints"],
                         results[0]["partialFingerprints"])

    def test_a_clause_of_several_plans_is_said_once(self):
        text = STARVED.replace("LINE", "") + "".join(
            f"plan v{i} = starved with {{ bucket {size} }}\n"
            for i, size in enumerate(("one", "25MiB", "layer")))
        done = self.check(self.write("many.plan", text))
        self.assertEqual(done.stdout, "4 plans in 1 file: 1 warning\n")

    def test_a_file_to_import_needs_no_plan(self):
        path = self.write("cluster.plan", "language 1\ncluster c {\n"
                          "  accelerator a\n}\n")
        done = self.check(path)
        self.assertEqual((done.returncode, done.stdout),
                         (0, "0 plans in 1 file: fine\n"))
        self.assertEqual(self.check(path, "--plan", "p").returncode, 2)

    @unittest.skipIf(SANITIZED, "golden reports compile the same plans")
    def test_examples_are_calm(self):
        """What is said of examples was looked at: nothing else is."""
        paths = sorted(os.path.join(folder, name)
                       for folder, _, names in os.walk(
                           os.path.join(ROOT, "examples"))
                       for name in names
                       if name.endswith(".plan") and "common" not in folder)
        with open(os.path.join(ROOT, "tests/check/examples.txt"),
                  encoding="utf-8") as text:
            known = text.read().splitlines()
        found = json.loads(planc("check", "--format", "json", *paths).stdout)
        said = [f"{os.path.relpath(d['file'], ROOT)} {d['code']}"
                for d in found["diagnostics"] if d["severity"] != "error"]
        self.assertEqual([], [one for one in said if one not in known])


class Words(unittest.TestCase):
    def test_completions(self):
        for shell in ("bash", "zsh", "fish"):
            done = planc("completions", shell)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for word in ("calibrate", "fmt", "sarif", "deny"):
                self.assertIn(word, done.stdout, shell)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=done.stdout, text=True,
                               check=True)
        self.assertEqual(planc("completions", "tcsh").returncode, 1)

    def test_bash_completes(self):
        script = planc("completions", "bash").stdout + """
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _planc
  echo "${COMPREPLY[*]}"; }
complete_words planc fm
complete_words planc fmt --c
complete_words planc check --format s
complete_words planc calibrate step --l
"""
        out = subprocess.run(["bash"], input=script, text=True, check=True,
                             capture_output=True, cwd=ROOT).stdout
        self.assertEqual(out.splitlines(), ["fmt", "--check", "sarif", "--log"])

    def test_manual(self):
        page = planc("man").stdout
        self.assertTrue(page.startswith(".TH PLANC 1"))
        for verb in re.findall(r"^  (\w+) ", planc("--help").stdout.split(
                "verbs\n")[1].split("\n\n")[0], re.M):
            self.assertIn(f".SS planc {verb}", page)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"],
                                  input=page, text=True, check=True,
                                  capture_output=True)
            self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
