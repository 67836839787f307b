"""Times the tool on the examples and a large plan: whole process, warm cache.

usage: bench.py --planc TOOL [--runs N] [FILE…]
"""
import argparse
import glob
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def run_once(planc, path):
    """Milliseconds, peak MiB and exit code of one process."""
    start = time.perf_counter()
    child = subprocess.Popen([planc, path], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    elapsed = (time.perf_counter() - start) * 1e3
    return elapsed, usage.ru_maxrss / 1024, child.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--planc", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    planc = os.path.abspath(options.planc)
    if not options.files:
        os.chdir(ROOT)
        options.files = sorted(glob.glob("examples/**/*.plan", recursive=True))
        options.files += sorted(glob.glob("tests/bench/*.plan"))
    print(f"{'best ms':>8} {'median':>8} {'peak MiB':>9} {'exit':>5}  file")
    for path in options.files:
        run_once(planc, path)
        runs = [run_once(planc, path) for _ in range(options.runs)]
        times = [elapsed for elapsed, _, _ in runs]
        peak = max(memory for _, memory, _ in runs)
        print(f"{min(times):8.1f} {statistics.median(times):8.1f} "
              f"{peak:9.1f} {runs[-1][2]:5}  {path}")
    return 0 if options.files else 1


if __name__ == "__main__":
    sys.exit(main())
