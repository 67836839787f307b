"""The manual keeps step with the code: names that a user may write, and that
stand in a .def file, are in docs/language.md; links between documents lead
somewhere."""
import glob
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
NAMES = {
    "runtime/hardware/Constants.def":
        r'PLANC_(?:ACCELERATOR|LEVEL)_CONSTANT\(\w+, "(\w+)"',
    "compiler/sema/Metrics.def": r'PLANC_METRIC\("(\w+)"',
    "compiler/sema/Words.def": r'PLANC_(?:RESERVED_)?WORD\("(\w+)"',
}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        return text.read()


class DocsTest(unittest.TestCase):
    def test_names_are_in_the_manual(self):
        manual = set(re.findall(r"\w+", read("docs/language.md")))
        for path, pattern in NAMES.items():
            names = re.findall(pattern, read(path))
            self.assertTrue(names, f"{path}: no name found")
            self.assertEqual([n for n in names if n not in manual], [],
                             f"names of {path} that docs/language.md lacks")

    def test_links_lead_somewhere(self):
        documents = [os.path.relpath(path, ROOT) for path in
                     glob.glob(f"{ROOT}/*.md") + glob.glob(f"{ROOT}/*/*.md")]
        self.assertIn("README.md", documents)
        for document in documents:
            for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)",
                                     read(document)):
                path = os.path.join(ROOT, os.path.dirname(document), target)
                self.assertTrue(os.path.exists(path),
                                f"{document}: {target} is not there")


if __name__ == "__main__":
    unittest.main()
