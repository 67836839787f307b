"""What the standard library holds, read from its files.

usage: Library.py --write    rewrites docs/library.md
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "library.md")
COUNTS = os.path.join(ROOT, "tests", "data", "*parameter_counts.csv")


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def files(folder):
    """{import name: text}, in order."""
    return {f"std.{folder}.{os.path.basename(path)[:-5]}": read(path)
            for path in sorted(glob.glob(f"{ROOT}/stdlib/{folder}/*.plan"))}


def uncommented(text):
    return "\n".join(line.split("#")[0].rstrip() for line in text.splitlines())


def declarations(text, keyword):
    """{name: body} of `keyword name { … }` at the start of a line."""
    return {found.group(1): found.group(2) for found in re.finditer(
        rf"^{keyword} (\w+) \{{\n(.*?)^\}}", uncommented(text), re.M | re.S)}


def field(body, name):
    joined = re.sub(r",\n\s+", ", ", body)  # a line ends after a comma
    found = re.search(rf"^\s*{name}\s+(.+)$", joined, re.M)
    return found.group(1).strip() if found else None


class Level:
    def __init__(self, name, of, body):
        self.name, self.of = name, int(of)
        self.link = field(body, "link")
        self.torus = field(body, "torus") == "true"
        self.full_mesh = field(body, "full_mesh") == "true"


def levels(body):
    return [Level(*found) for found in re.findall(
        r"level (\w+) +of (\d+) \{(.*?)\}", body, re.S)]


def ready_models(text):
    """Models with all of their sizes: `model name = family(…)`."""
    return re.findall(r"^model (\w+) *= *\w", uncommented(text), re.M)


def counts():
    """{(import, model): row} of the tables of parameter counts."""
    rows = {}
    for path in sorted(glob.glob(COUNTS)):
        lines = read(path).splitlines()
        names = lines[0].split(",")
        for line in lines[1:]:
            row = dict(zip(names, line.split(",", len(names) - 1)))
            rows[row["import"], row["model"]] = row
    return rows


def first_comment(text):
    """What a file says of itself: its first sentence."""
    block = []
    for line in text.splitlines():
        if line.startswith("#"):
            block.append(line[1:].strip())
        elif block:
            break
    return re.split(r"(?<=\w[.:]) |:$", " ".join(block))[0].rstrip(".:")


def billions(count):
    count = int(count)
    return (f"{count / 1e6:.0f} M" if count < 999.5e6 else
            f"{count / 1e9:.2f} B" if count < 99.5e9 else f"{count / 1e9:.0f} B")


def size(row):
    active = row.get("active")
    return billions(row["parameters"]) + (
        f" ({billions(active)} active)" if active else "")


def accelerator_rows():
    for name, text in files("clusters").items():
        for accelerator, body in declarations(text, "accelerator").items():
            peaks = field(body, "peak").replace("TFLOP/s", "").replace(" = ", " ")
            memory, speed = field(body, "memory").split(" at ")
            yield (f"`{accelerator}`", f"`{name}`", peaks, memory, speed,
                   field(body, "units"), field(body, "power") or "–")


def wiring(level):
    return ", torus" if level.torus else ", full mesh" if level.full_mesh else ""


def cluster_rows():
    for name, text in files("clusters").items():
        for cluster, body in declarations(text, "cluster").items():
            yield (f"`{cluster}`", f"`{name}`", f"`{field(body, 'accelerator')}`",
                   "; ".join(f"{level.name} of {level.of}, {level.link}"
                             f"{wiring(level)}" for level in levels(body)))


def model_rows():
    table = counts()
    for name, text in files("models").items():
        sizes = [f"`{model}` {size(table[name, model])}"
                 for model in ready_models(text) if (name, model) in table]
        yield (f"`{name}`", first_comment(text), ", ".join(sizes) or "blocks only")


def table(titles, rows):
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page():
    return f"""# The standard library

It is inside the program: `import std.models.llama` needs no file. This page is made
from the files by `tests/library/Library.py --write`, and a test holds it to them. What
each constant is and where it comes from stands beside it in `stdlib/clusters`; how it
is used, in [cost.md](cost.md).

## Models

With their parameters; to the last one, with where they are published, in `tests/data`. Each file
also has the family itself, to be called with sizes of your own.

{table(("file", "what", "models"), list(model_rows()))}

## Accelerators

Peaks are dense, in TFLOP/s; memory is what a program can have of it.

{table(("accelerator", "file", "peak", "memory", "bandwidth", "units", "power"),
       list(accelerator_rows()))}

## Clusters

From the inside out; links are one direction, per accelerator.

{table(("cluster", "file", "of", "levels"), list(cluster_rows()))}
"""


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    with open(PAGE, "w", encoding="utf-8") as out:
        out.write(page())
