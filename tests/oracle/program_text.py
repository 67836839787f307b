"""Programs that planc compiles read back from their text as the same.

usage: program_text.py PLANC PLANC_OPT FILE.plan…
"""
import os
import subprocess
import sys
import tempfile


def main():
    planc, planc_opt, *files = sys.argv[1:]
    wrong = 0
    plans = [(path, []) for path in files]
    # Passes in two, and two at once.
    plans += [(path, ["--plan", plan]) for path in files
              if os.path.basename(path) == "schedules.plan"
              for plan in ("dual_pipe", "zb_v", "own")]
    for path, options in plans:
        text = subprocess.run([planc, "emit", path, "--stage=program",
                               *options], check=True,
                              capture_output=True).stdout
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "a.prog")
            with open(name, "wb") as out:
                out.write(text)
            again = subprocess.run([planc_opt, "--print", "program", name],
                                   check=True, capture_output=True).stdout
        lines = text.count(b"\n")
        if text != again or lines < 100:
            wrong += 1
        print(f"{path}: {lines} lines,", *options,
              "same" if text == again else "another")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
