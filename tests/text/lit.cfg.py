# How lit runs tests/text: RUN lines inside .plan and .prog files.
#
#   %planc      the tool under test; %planc-opt the one for program texts
#   FileCheck   compares what it printed with the CHECK lines
#   not         passes when the command fails; `not --crash` is never right here
#   %{exit} N   passes when the command that follows exits with exactly N
import os
import sys

import lit.formats

config.name = "planc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".plan", ".prog"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["build"]

tools = lit_config.params["tools"]
config.environment["PATH"] = tools + os.pathsep + config.environment["PATH"]
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

expect_exit = os.path.join(config.test_source_root, "ExpectExit.py")
config.substitutions += [
    ("%planc", lit_config.params["planc"]),
    ("%{exit}", f"{sys.executable} {expect_exit}"),
]
