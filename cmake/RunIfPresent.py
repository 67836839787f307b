"""Runs a test if the data it reads are there, else says so and exits 77.

usage: PLANC_REFERENCE=folder RunIfPresent.py FILE… -- COMMAND…
"""
import os
import subprocess
import sys

SKIPPED = 77


def main(arguments):
    bar = arguments.index("--")
    files, command = arguments[:bar], arguments[bar + 1:]
    folder = os.environ.get("PLANC_REFERENCE", "")
    absent = [name for name in files
              if not folder or not os.path.exists(os.path.join(folder, name))]
    if absent:
        print(f"skipped: no {', '.join(absent)} in the reference data "
              "(set PLANC_REFERENCE)")
        return SKIPPED
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
