# Scheduling instances: program texts with stated durations, run by planc-opt.
# As tests/text (RUN and CHECK lines, FileCheck, not, %{exit}), with
#
#   %planc-opt  the tool under test
import os

here = os.path.dirname(__file__)
lit_config.load_config(config, os.path.join(here, "..", "text", "lit.cfg.py"))
config.name = "planc-sched"
config.suffixes = [".prog"]
config.test_source_root = here
# Before the others: %planc is the beginning of it.
config.substitutions.insert(
    0, ("%planc-opt", lit_config.params["planc"] + "-opt"))
