"""What the GitHub Action does, in a real repository with a `gh` of our own that
keeps the comments of a pull request in a file.

usage: ActionTest.py PLANC GIT
"""
import json
import os
import subprocess
import sys
import unittest

from Repository import BASE, ENVIRONMENT, ROOT, Repository

PLANC, GIT = (os.path.abspath(path) for path in sys.argv[1:3])
MARKER = "<!-- planc: one comment a pull request -->"

# Answers `gh api` for comments: lists ids of those that begin with the marker,
# makes one, changes one.
GH = """#!{python}
import json, os, sys
if os.environ.get("GH_TOKEN") == "none":
    sys.exit("HTTP 403")
path = os.environ["COMMENTS"]
comments = json.load(open(path)) if os.path.exists(path) else []
words = sys.argv[1:]
assert words[0] == "api", words
if "--method" not in words:
    print("\\n".join(str(i) for i, body in enumerate(comments)
                    if body.startswith({marker!r})))
    sys.exit()
method = words[words.index("--method") + 1]
name, _, value = words[words.index("--field") + 1].partition("=@")
assert name == "body", words
body = open(value).read()
target = [word for word in words if word.startswith("repos/")][0]
assert target.startswith("repos/me/plans/issues/"), target
if method == "POST":
    assert target.endswith("/issues/7/comments"), target
    comments.append(body)
else:
    assert method == "PATCH", words
    comments[int(target.rsplit("/", 1)[1])] = body
json.dump(comments, open(path, "w"))
"""


class Action(Repository):
    GIT = GIT

    def setUp(self):
        super().setUp()
        gh = self.top / "bin/gh"
        gh.parent.mkdir()
        gh.write_text(GH.format(python=sys.executable, marker=MARKER))
        gh.chmod(0o755)
        self.environment = dict(
            ENVIRONMENT, PLANC=PLANC, PLANC_FILES="plans/*.plan",
            PLANC_BASE="main", PLANC_COMMENT="true", PLANC_PULL_REQUEST="7",
            PLANC_FAIL_ON="", GITHUB_REPOSITORY="me/plans", GH_TOKEN="some",
            COMMENTS=str(self.top / "comments.json"),
            GITHUB_OUTPUT=str(self.top / "output"),
            GITHUB_STEP_SUMMARY=str(self.top / "summary"),
            PATH=f"{gh.parent}{os.pathsep}{os.environ['PATH']}")
        self.git("switch", "-q", "-c", "change")

    def review(self, code=0, **settings):
        done = subprocess.run([ROOT / "tools/action/review.sh"], cwd=self.root,
                              env={**self.environment, **settings},
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def comments(self):
        try:
            return json.loads((self.top / "comments.json").read_text())
        except FileNotFoundError:
            return []

    def change(self, old, new):
        text = (self.root / "plans/train.plan").read_text()
        self.assertIn(old, text)
        self.write("plans/train.plan", text.replace(old, new))
        self.commit(f"{old} to {new}")

    def test_one_comment_that_is_kept_current(self):
        self.change("25MiB", "one")
        self.review()
        [first] = self.comments()
        self.assertTrue(first.startswith(MARKER))
        self.assertIn("one", first)
        self.assertEqual(first, (self.top / "summary").read_text())
        self.assertIn("report=", (self.top / "output").read_text())
        self.change("one", "layer")
        self.review()
        [second] = self.comments()
        self.assertIn("layer", second)

    def test_the_base_may_have_moved_on(self):
        self.change("25MiB", "one")
        self.git("switch", "-q", "main")
        self.write("plans/train.plan", BASE.replace("micro 1", "micro 2"))
        self.commit("meanwhile")
        self.git("switch", "-q", "change")
        self.review()
        self.assertNotIn("batch.micro", self.comments()[0])

    def test_thresholds_and_mistakes_fail(self):
        self.change("25MiB", "one")
        self.review(code=3, PLANC_FAIL_ON="\nmemory > 1MB\nstep_time > +900%\n")
        self.assertEqual(len(self.comments()), 1)
        self.change("bucket     one", "bucket     onee")
        said = self.review(code=2)
        self.assertIn("::error file=plans/train.plan", said)

    def test_nothing_to_say(self):
        self.write("README", "no plan")
        self.commit("elsewhere")
        self.review()
        self.assertIn("no change", self.comments()[0].lower())
        self.assertIn("no file matches", self.review(PLANC_FILES="*.nothing"))

    def test_a_fork_gets_a_notice(self):
        self.change("25MiB", "one")
        said = self.review(GH_TOKEN="none")
        self.assertIn("::notice", said)
        self.assertEqual(self.comments(), [])
        self.assertIn("one", (self.top / "summary").read_text())

    def test_only_checks_without_a_base(self):
        self.review(PLANC_BASE="")
        self.assertEqual(self.comments(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
