"""Every header compiles alone.

A header that its own .cpp includes first is proved so by the ordinary build;
the others are compiled here, each as a file of one line, with the flags of a
source in the same folder.

usage: Headers.py --root DIR --build DIR
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

TOPS = ("runtime", "compiler", "tools", "tests")
FIRST = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def headers(root):
    for top in TOPS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".h", ".hpp")):
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, root).replace(os.sep, "/")


def read_commands(build):
    """Source path to its compiler and flags, without input and output."""
    commands = {}
    with open(os.path.join(build, "compile_commands.json"),
              encoding="utf-8") as text:
        for entry in json.load(text):
            words = shlex.split(entry["command"])
            keep, skip = [], False
            for word in words:
                if skip or word == entry["file"] or word == "-c":
                    skip = False
                elif word in ("-o", "-include"):
                    skip = True
                elif not word.endswith("cmake_pch.hxx"):
                    keep.append(word)
            commands[os.path.realpath(entry["file"])] = keep
    return commands


def proved_by_build(root, header, commands):
    source = os.path.splitext(header)[0] + ".cpp"
    path = os.path.join(root, source)
    if os.path.realpath(path) not in commands:
        return False
    with open(path, encoding="utf-8") as text:
        first = FIRST.search(text.read())
    return first is not None and first.group(1) == header


def flags_for(root, header, commands):
    folder = os.path.realpath(os.path.join(root, os.path.dirname(header)))
    near = sorted(path for path in commands
                  if os.path.dirname(path) == folder)
    ours = sorted(path for path in commands
                  if path.startswith(os.path.realpath(root) + os.sep))
    return commands[(near or ours)[0]]


def compile_alone(root, build, header, commands):
    scratch = os.path.join(build, "headers")
    os.makedirs(scratch, exist_ok=True)
    stem = os.path.join(scratch, re.sub(r"\W", "_", header))
    line = f'#include "{header}"\n'
    if not os.path.exists(stem + ".cpp"):
        with open(stem + ".cpp", "w", encoding="utf-8") as out:
            out.write(line)
    done = subprocess.run(
        [*flags_for(root, header, commands), f"-I{root}", "-O0",
         "-Wno-pragma-once-outside-header", "-Werror=pedantic",
         "-c", stem + ".cpp", "-o", stem + ".o"],
        cwd=build, capture_output=True, text=True, check=False)
    return header, done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    commands = read_commands(options.build)
    everything = list(headers(options.root))
    alone = [header for header in everything
             if not proved_by_build(options.root, header, commands)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, code, text in pool.map(
                lambda header: compile_alone(options.root, options.build,
                                             header, commands), alone):
            if code:
                failed += 1
                print(f"{header} does not compile alone:\n{text}")
    print(f"{len(everything)} headers, {len(alone)} compiled here, "
          f"{failed} failed")
    return 1 if failed or not everything else 0


if __name__ == "__main__":
    sys.exit(main())
