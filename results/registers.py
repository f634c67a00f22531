#!/usr/bin/env python3
"""make registers: what NVIDIA's compiler makes of the chapters' kernels, into their registers.c.

Only nvcc knows how many registers a thread takes, and occupancy hangs on it: the table is
compiled into the chapter, and `./chapterN --occupancy` reads it where there is no GPU to ask.
Which kernel that is, the chapter itself says (--describe). --check writes nothing and exits with
1 if a table is not what this nvcc makes.
"""

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import chapters
import ending

ARCHITECTURES = (75, 80, 86, 89, 90, 100)
TABLE = """\
/* What NVIDIA's compiler makes of this chapter's kernel; `make registers` writes it. */
#include "matmul.h"

/* nvcc {version}, {date} */
const struct compiled COMPILED[] = {{
{rows}    {{0}},
}};
"""
# The parts of a table that another compiler, or another day, may change.
VERSION = re.compile(r"/\* nvcc ([\d.]+), [\d-]+ \*/")
REGISTERS = re.compile(r"\.registers = \d+")
KERNEL = re.compile(
    r"Compiling entry function '(\w+)' for 'sm_(\d+)a?'.*?Used (\d+) registers([^\n]*)",
    re.S,
)


class Stop(Exception):
    """The message says what is missing, the code is the program's."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def output(command, **options):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        cwd=chapters.ROOT,
        **options,
    )
    if done.returncode:
        said = done.stdout[-2000:] + done.stderr[-2000:]
        raise Stop(1, f"{' '.join(map(str, command))}\n{said}")
    return done.stdout + done.stderr


def nvcc():
    for name in (os.environ.get("NVCC"), "nvcc", "/usr/local/cuda/bin/nvcc"):
        found = name and shutil.which(name)
        if found and "emulator" not in Path(found).resolve().parts:
            return found
    raise Stop(
        3, "make registers needs nvcc, NVIDIA's compiler: it comes with the CUDA Toolkit"
    )


def nvcc_version():
    return re.search(r"release [\d.]+, V([\d.]+)", output([nvcc(), "--version"]))[1]


def plain(name):
    """A demangled name as a source writes it: no result, no parameters, true for (bool)1."""
    name = name.removeprefix("void ")
    # What is no cast begins the parameters.
    name = re.sub(r"\((?!\w+( \w+)?\)\d).*$", "", name)
    name = name.replace("(bool)1", "true").replace("(bool)0", "false")
    return re.sub(r"\(\w+( \w+)?\)(?=\d)", "", name).replace(" ", "")


def architectures(told):
    """Those on which a chapter runs."""
    most = told["max_capability"] or max(ARCHITECTURES)
    return [arch for arch in ARCHITECTURES if told["min_capability"] <= arch <= most]


def tell(wanted):
    """The options that have nvcc compile for these architectures, and say what it made."""
    # sm_90a is sm_90 and wgmma.
    names = [f"{arch}a" if arch == 90 else arch for arch in wanted]
    targets = [f"-gencode=arch=compute_{name},code=sm_{name}" for name in names]
    return ["-Xptxas", "-v", *targets]


def compiled(number, told):
    """What nvcc says of a chapter."""
    source = chapters.folder(number) / "matmul.cu"
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "matmul.o"
        options = ["-O3", "-std=c++17", "-Icommon", "-Ichapters", *tell(architectures(told))]
        return output([nvcc(), *options, "-c", source, "-o", result])


def table(said, told, version):
    """A chapter's registers.c, from what nvcc said and what the chapter tells of itself."""
    rows = []
    for mangled, arch, registers, rest in KERNEL.findall(said):
        if int(arch) < told["min_capability"]:
            continue
        name = plain(output(["c++filt", mangled]).strip())
        if name == told["kernel"].replace(" ", ""):
            shared = re.search(r"(\d+) bytes smem", rest)
            rows.append((int(arch), int(registers), int(shared[1]) if shared else 0))
    if sorted(arch for arch, *_ in rows) != architectures(told):
        raise Stop(
            1,
            f"chapter {told['chapter']} names {told['kernel']}: nvcc compiled {len(rows)} of it",
        )
    rows.sort()
    body = "".join(
        f"    {{.arch = {arch}, .registers = {registers}, .static_shared = {shared}}},\n"
        for arch, registers, shared in rows
    )
    return TABLE.format(rows=body, version=version, date=datetime.date.today())


def same(old, new):
    """Whether a table still holds. The numbers of another compiler need not be this one's."""
    versions = [VERSION.search(text) for text in (old, new)]
    if not all(versions):
        return False
    if versions[0][1] != versions[1][1]:
        old, new = (REGISTERS.sub("", text) for text in (old, new))
    return VERSION.sub("", old) == VERSION.sub("", new)


def main():
    parser = argparse.ArgumentParser(description="Writes the chapters' registers.c.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, name what is stale"
    )
    parser.add_argument("chapter", nargs="*", type=int, help="only these; default: all")
    chosen = parser.parse_args()
    version, stale = nvcc_version(), 0
    for number in chosen.chapter or chapters.numbers():
        told = chapters.describe(number)
        if not told["kernel"]:
            continue
        path = chapters.folder(number) / "registers.c"
        old = path.read_text() if path.exists() else ""
        new = table(compiled(number, told), told, version)
        name = path.relative_to(chapters.ROOT)
        if same(old, new) and (chosen.check or VERSION.search(old)[1] == version):
            continue
        stale += 1
        if chosen.check:
            print(f"{name} is stale, `make registers` renews it")
        else:
            path.write_text(new)
            print(name)
    if not stale:
        print("every chapter's registers.c is what this nvcc makes")
    return 1 if stale and chosen.check else 0


if __name__ == "__main__":
    try:
        ending.run(main)
    except Stop as stop:
        print(stop, file=sys.stderr)
        sys.exit(stop.code)
