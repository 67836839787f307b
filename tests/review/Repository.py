"""A git repository of plans in a temporary folder, for tests."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parent.parent.parent
INPUTS = ROOT / "tests/text/diff/Inputs"
BASE = (INPUTS / "base.plan").read_text(encoding="utf-8")
MACHINE = (INPUTS / "parts/machine.plan").read_text(encoding="utf-8")
ENVIRONMENT = dict(
    os.environ, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull,
    GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org",
    GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org")


class Repository(unittest.TestCase):
    """`root` on branch main, with plans/train.plan and what it imports."""

    GIT = "git"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.root = self.top / "a repo"
        self.root.mkdir()
        self.git("init", "-q", "-b", "main")
        self.write("plans/train.plan", BASE)
        self.write("plans/parts/machine.plan", MACHINE)
        self.commit("base")

    def git(self, *arguments):
        return subprocess.run([self.GIT, *arguments], cwd=self.root, check=True,
                              env=ENVIRONMENT, capture_output=True, text=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
