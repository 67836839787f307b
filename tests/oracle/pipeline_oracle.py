"""Pipelines, computed twice.

pipelines.py is a small simulator that shares nothing with planc. Every case of
cases.py is written as a program text, run by planc-opt, and compared to the last
picosecond: makespan, busy and idle time of every rank, both bubble fractions
(METRICS M6), waits for messages, peaks in flight, messages.

Beside that each case meets the closed form of its schedule:

  GPipe            Huang et al., 1811.06965
  1F1B             PipeDream-flush; Narayanan et al., 2104.04473
  interleaved      the same, section 2.2
  looped BFS       Lamy-Poirier, 2211.05953
  ZB-H1, ZB-H2     Qi et al., 2401.10241, with that paper's measured times and
  ZB-V             published bubble rates
  V-Half, V-Min    Qi et al., 2405.15362
  DualPipe         DeepSeek-V3, 2412.19437
  Hanayo           Liu et al., 2308.15762
  Chimera          Li and Hoefler, 2107.06925
  TeraPipe         Li et al., 2102.07988
  Seq1F1B          Sun et al., 2406.03488

Orders are those of schedules.py; compiled_orders.py holds planc's own equal to
them.

usage: pipeline_oracle.py PLANC_OPT
"""
import concurrent.futures
import fractions
import os
import re
import subprocess
import sys
import tempfile

from cases import all_cases
from pipelines import expected, program_text, retained, slack


# --- planc-opt ---------------------------------------------------------------

class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def write(self, case):
        path = os.path.join(self.folder, f"{id(case)}.prog")
        with open(path, "w", encoding="ascii") as out:
            out.write(program_text(case))
        return path

    def run(self, path, *options):
        return subprocess.run([self.path, path, *options], text=True,
                              capture_output=True, timeout=60, check=False)


def read_summary(text):
    def ratio(key):
        return fractions.Fraction(
            re.search(rf"^{key} +(\d+/\d+) ", text, re.M)[1])

    def number(key):
        return int(re.search(rf"^{key} +(\d+)", text, re.M)[1])
    return {
        "makespan": number("makespan"),
        "span": number("pipeline span"),
        "global": ratio("bubble global"),
        "own": ratio("bubble span"),
        "transfer": ratio("transfer"),
        "messages": number("messages"),
        "ranks": [tuple(int(x) for x in row) for row in re.findall(
            r"^class \d+ ranks 1 busy (\d+) ps idle (\d+) ps peak (\d+)",
            text, re.M)],
    }


def read_times(text, ranks):
    rows = [[] for _ in range(ranks)]
    now = None
    for line in text.splitlines():
        match = re.match(r"class (\d+) ", line)
        if match:
            now = rows[int(match[1])]
        match = re.match(r"  (\d+) (\d+) compute run \d+ step=0 (\S+)", line)
        if match and match[3] != "update":
            now.append((int(match[1]), int(match[2])))
    return rows


def check(tool, case):
    """One line a difference."""
    wanted = expected(case)
    path = tool.write(case)
    done = tool.run(path)
    wrong = []
    if wanted is None:
        if done.returncode != 2 or "can never run" not in done.stderr:
            wrong.append(f"{case.name}: exit {done.returncode}, expected a "
                         f"refusal: {done.stderr.strip()}")
    elif done.returncode != 0:
        wrong.append(f"{case.name}: exit {done.returncode}: "
                     f"{done.stderr.strip()[:300]}")
    else:
        found = read_summary(done.stdout)
        for key, value in found.items():
            if value != wanted[key]:
                wrong.append(f"{case.name}: {key} is {value}, expected "
                             f"{wanted[key]}")
        found["retained"], found["slack"] = retained(case), slack(case)
        for key, value in case.claims:
            if not value(found):
                wrong.append(f"{case.name}: {key} does not hold: {found}")
        if case.ranks <= 4:
            times = read_times(tool.run(path, "--print", "timeline").stdout,
                               case.ranks)
            if times != wanted["times"]:
                wrong.append(f"{case.name}: other times")
            flat = tool.run(path, "--flat")
            if flat.stdout != done.stdout:
                wrong.append(f"{case.name}: flat is another")
    os.unlink(path)
    return wrong


def main():
    cases = list(all_cases())
    refused = sum(expected(case) is None for case in cases
                  if case.name.startswith("random"))
    assert all(expected(case) is None for case in cases
               if case.name.startswith("deadlock"))
    assert 5 <= refused <= 60, f"{refused} random orders can never run"
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(sys.argv[1], folder)
        with concurrent.futures.ThreadPoolExecutor(
                os.cpu_count() or 1) as pool:
            wrong = [line for lines in pool.map(
                lambda case: check(tool, case), cases) for line in lines]
    for line in wrong[:40]:
        print(line)
    print(f"{len(cases)} cases, {refused} random orders refused, "
          f"{len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
