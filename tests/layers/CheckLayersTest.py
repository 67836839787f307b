"""The layer checker must find what it is there to find: each test plants one
fault in a small tree and expects one line about it."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CHECKER = os.path.join(ROOT, "cmake", "CheckLayers.py")
TABLE = os.path.join(ROOT, "docs", "layers.txt")

SOUND = {
    "runtime/base/Id.h": "#pragma once\n#include <vector>\n"
                         '#include "llvm/ADT/SmallVector.h"\n',
    "runtime/sched/Problem.h": '#include "runtime/base/Id.h"\n',
    "runtime/sched/Problem.cpp": '#include "runtime/sched/Problem.h"\n',
    "runtime/sched/CMakeLists.txt": "planc_library(x SOURCES Problem.cpp)\n",
    "compiler/sema/Module.h": '#include "runtime/base/Id.h"\n',
    "compiler/syntax/ParseFile.cpp": "#include <antlr4-runtime.h>\n",
    "compiler/syntax/Built.cpp": '#include "PlanParser.h"\n',
    "compiler/syntax/Read.cpp": '#include "ProgramTextLexer.h"\n',
    "grammar/PlanParser.g4": "",
    "grammar/ProgramText.g4": "",
}


class CheckLayersTest(unittest.TestCase):
    def check(self, planted, table=None):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**SOUND, **planted}.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as out:
                    out.write(text)
            done = subprocess.run(
                [sys.executable, CHECKER, "--root", root, "--table",
                 os.path.join(root, table) if table else TABLE],
                capture_output=True, text=True, check=False)
            return done.returncode, done.stdout.splitlines()[:-1]

    def refuses(self, planted, line, table=None):
        self.assertEqual(self.check(planted, table), (1, [line]))

    def test_sound(self):
        self.assertEqual(self.check({}), (0, []))

    def test_runtime_includes_compiler(self):
        self.refuses(
            {"runtime/sim/Engine.h":
             '\n#include "compiler/sema/Module.h"\n'},
            'runtime/sim/Engine.h:2: runtime/sim may not include '
            'compiler/sema ("compiler/sema/Module.h")')

    def test_edge_upwards(self):
        self.refuses(
            {"runtime/base/Id.h": '#  include "runtime/sched/Problem.h"\n'},
            'runtime/base/Id.h:1: runtime/base may not include runtime/sched '
            '("runtime/sched/Problem.h")')

    def test_sema_includes_syntax(self):
        self.refuses(
            {"compiler/syntax/ParseFile.h": "",
             "compiler/sema/Module.h":
             '#include "compiler/syntax/ParseFile.h"\n'},
            'compiler/sema/Module.h:1: compiler/sema may not include '
            'compiler/syntax ("compiler/syntax/ParseFile.h")')

    def test_unknown_folder(self):
        self.refuses(
            {"compiler/magic/Spell.h": ""},
            "compiler/magic/Spell.h:1: docs/layers.txt does not list this "
            "folder")

    def test_antlr_outside_syntax(self):
        self.refuses(
            {"compiler/sema/Module.h": "#include <antlr4-runtime.h>\n"},
            "compiler/sema/Module.h:1: <antlr4-runtime.h> is for "
            "compiler/syntax and grammar")

    def test_generated_outside_syntax(self):
        self.refuses(
            {"compiler/sema/Module.h": '#include "PlanParser.h"\n'},
            'compiler/sema/Module.h:1: compiler/sema may not include grammar '
            '("grammar/PlanParser.h")')

    def test_catch_outside_tests(self):
        self.refuses(
            {"runtime/base/Id.h": '#include "catch2/catch.hpp"\n'},
            "runtime/base/Id.h:1: <catch2/catch.hpp> is for tests")

    def test_path_relative_to_the_file(self):
        self.refuses(
            {"runtime/sched/Problem.h": '#include "Id.h"\n'},
            'runtime/sched/Problem.h:1: "Id.h" is not named from the root of '
            'the repository')

    def test_header_that_does_not_exist(self):
        self.refuses(
            {"runtime/sched/Problem.h": '#include "runtime/base/Ids.h"\n'},
            'runtime/sched/Problem.h:1: "runtime/base/Ids.h" does not exist')

    def test_source_not_listed(self):
        self.refuses(
            {"runtime/sched/Bounds.cpp": ""},
            "runtime/sched/CMakeLists.txt:1: Bounds.cpp is not listed")

    def test_sources_not_sorted(self):
        self.refuses(
            {"runtime/sched/Bounds.cpp": "",
             "runtime/sched/CMakeLists.txt":
             "planc_library(x SOURCES Problem.cpp Bounds.cpp)\n"},
            "runtime/sched/CMakeLists.txt:1: the sources are not sorted")

    def test_table_that_goes_round(self):
        with open(TABLE, encoding="utf-8") as text:
            table = text.read().replace(
                "runtime/base:", "runtime/base: runtime/sim")
        self.refuses(
            {"table.txt": table},
            "docs/layers.txt:1: runtime/base may not include runtime/sim, "
            "which stands below it", table="table.txt")

    def test_no_sources(self):
        with tempfile.TemporaryDirectory() as root:
            done = subprocess.run(
                [sys.executable, CHECKER, "--root", root, "--table", TABLE],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
