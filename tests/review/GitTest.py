"""planc diff --against in a real repository.

usage: GitTest.py PLANC GIT
"""
import json
import os
import subprocess
import sys
import unittest

from Repository import BASE, MACHINE, Repository

PLANC, GIT = (os.path.abspath(path) for path in sys.argv[1:3])


class Against(Repository):
    GIT = GIT

    def planc(self, *arguments, code=0, folder="."):
        done = subprocess.run([PLANC, "diff", *arguments],
                              cwd=self.root / folder, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def diff(self, *arguments, code=0, folder="."):
        return json.loads(self.planc("--format", "json", *arguments, code=code,
                                     folder=folder).stdout)["plans"]

    def keys(self, plan):
        return [row["key"] for row in plan["changed"] if not row["follows"]]

    def test_nothing_changed(self):
        text = self.planc("--against", "main", "plans/train.plan").stdout
        self.assertEqual(text, "base        no change\n")

    def test_work_tree_and_imports_of_the_commit(self):
        self.write("plans/train.plan", BASE.replace("virtual 2", "virtual 4"))
        self.write("plans/parts/machine.plan",
                   MACHINE.replace("link 25GB/s", "link 50GB/s"))
        (plan,) = self.diff("--against", "HEAD", "plans/train.plan")
        self.assertEqual(self.keys(plan),
                         ["pipeline.virtual", "cluster.pod.link"])
        self.assertEqual(plan["old"]["file"], "HEAD:plans/train.plan")
        self.assertEqual(plan["new"]["file"], "plans/train.plan")
        # From another folder, and with an absolute name.
        for name, folder in (("train.plan", "plans"),
                             (str(self.root / "plans/train.plan"), ".")):
            (again,) = self.diff("--against", "HEAD", name, folder=folder)
            self.assertEqual(self.keys(again), self.keys(plan))
            self.assertEqual(again["because"], plan["because"])

    def test_branch_and_merge(self):
        self.git("checkout", "-q", "-b", "deeper")
        self.write("plans/train.plan", BASE.replace("virtual 2", "virtual 4"))
        self.commit("more chunks")
        self.git("checkout", "-q", "main")
        self.write("plans/parts/machine.plan",
                   MACHINE.replace("latency 5us", "latency 6us"))
        self.commit("what was measured")
        self.git("merge", "-q", "--no-edit", "deeper")
        (plan,) = self.diff("--against", "HEAD^1", "plans/train.plan")
        self.assertEqual(self.keys(plan), ["pipeline.virtual"])
        (plan,) = self.diff("--against", "HEAD^2", "plans/train.plan")
        self.assertEqual(self.keys(plan), ["cluster.pod.latency"])
        (plan,) = self.diff("--against", "HEAD^1~1", "plans/train.plan")
        self.assertEqual(self.keys(plan),
                         ["pipeline.virtual", "cluster.pod.latency"])

    def test_renamed_file(self):
        self.git("mv", "plans", "work")
        self.git("mv", "work/train.plan", "work/pre train.plan")
        self.write("work/pre train.plan", BASE.replace("25MiB", "auto"))
        self.git("add", "-A")
        (plan,) = self.diff("--against", "main", "work/pre train.plan")
        self.assertEqual(self.keys(plan), ["bucket"])
        self.assertEqual(plan["old"]["file"], "main:plans/train.plan")

    def test_file_that_the_base_does_not_have(self):
        self.write("plans/other.plan",
                   BASE.replace("64 sequences", "128 sequences").replace(
                       "plan base", "plan other"))
        text = self.planc("--against", "main", "plans/other.plan",
                          "plans/train.plan").stdout
        self.assertRegex(text, r"^plans/other\.plan\n"
                         r"other       new plan    step [\d.]+ ms")
        self.assertRegex(text, r"\n\nplans/train\.plan\n"
                         r"base        no change\n$")

    def test_broken_base(self):
        self.write("plans/train.plan", BASE.replace("mesh ", "mash "))
        self.commit("broken")
        self.write("plans/train.plan", BASE)
        done = self.planc("--against", "HEAD", "plans/train.plan", code=2)
        self.assertIn("HEAD:plans/train.plan:", done.stderr)
        self.assertRegex(done.stdout, r"^base        was illegal; now    step")

    def test_thresholds(self):
        self.write("plans/train.plan", BASE.replace("virtual 2", "virtual 1"))
        text = self.planc("--against", "main", "plans/train.plan", "--fail-on",
                          "step_time > +2%", "mfu < -0.5pp", code=3).stdout
        self.assertEqual(text.count("\nfails "), 2)

    def test_markdown_stays_small(self):
        plans = "".join(
            f"plan variant_{i} = base with {{ bucket {i + 1}MiB }}\n"
            for i in range(120))
        self.write("plans/train.plan", BASE + plans)
        self.commit("many")
        self.write("plans/train.plan",
                   BASE.replace("virtual 2", "virtual 4") + plans)
        text = self.planc("--against", "HEAD", "plans/train.plan", "--format",
                          "markdown").stdout
        self.assertLess(len(text.encode()), 60_000)
        self.assertRegex(text, r"more plans are not shown here")

    def test_usage(self):
        outside = self.top / "lone.plan"
        outside.write_text(BASE, encoding="utf-8")
        for arguments, message in (
                (("--against", "nowhere", "plans/train.plan"),
                 "the repository has no commit 'nowhere'"),
                (("--against=--output=x", "plans/train.plan"),
                 "is no name of a commit"),
                (("--against", "main", str(outside)),
                 "is in no git repository"),
                (("--against", "main", "plans/none.plan"), "cannot read")):
            done = self.planc(*arguments, code=1)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertFalse((self.root / "x").exists())

    def test_same_bytes_in_every_locale(self):
        self.write("plans/train.plan", BASE.replace("virtual 2", "virtual 4"))
        texts = set()
        for locale in ("C", "de_DE.UTF-8"):
            texts.add(subprocess.run(
                [PLANC, "diff", "--against", "main", "plans/train.plan"],
                cwd=self.root, env=dict(os.environ, LC_ALL=locale,
                                        LANG=locale),
                capture_output=True, check=True).stdout)
        self.assertEqual(len(texts), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
