#!/usr/bin/env python3
"""make registers: what NVIDIA's compiler makes of the chapters' kernels, into results/registers.csv.

Only nvcc knows how many registers a thread takes, and occupancy hangs on it:
`./chapterN --occupancy` reads this table where there is no GPU to ask. `launched` marks the
kernel that the chapter's source names. --check writes nothing and exits with 1 if the table is
not what this nvcc makes."""

import csv
import datetime
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ending

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "results" / "registers.csv"
ARCHITECTURES = (75, 80, 86, 89, 90, 100)
# The name comes last, because common/occupancy.c reads up to it and names may hold commas.
COLUMNS = (
    "chapter",
    "arch",
    "registers",
    "static_shared",
    "spill",
    "launched",
    "nvcc",
    "date",
    "kernel",
)
KERNEL = re.compile(
    r"Compiling entry function '(\w+)' for 'sm_(\d+)a?'.*?"
    r"(\d+) bytes spill stores.*?Used (\d+) registers([^\n]*)",
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
        cwd=ROOT,
        **options,
    )
    if done.returncode:
        raise Stop(
            1,
            f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}",
        )
    return done.stdout + done.stderr


def nvcc():
    for name in (os.environ.get("NVCC"), "nvcc", "/usr/local/cuda/bin/nvcc"):
        found = name and shutil.which(name)
        if found and "emulator" not in Path(found).resolve().parts:
            return found
    raise Stop(
        3, "make registers needs nvcc, NVIDIA's compiler: it comes with the CUDA Toolkit"
    )


def plain(name):
    """A demangled name as the source writes it: no result, no parameters, true for (bool)1."""
    name = re.sub(
        r"\((?!\w+( \w+)?\)\d).*$", "", name.removeprefix("void ")
    )  # what is no cast begins the parameters
    name = name.replace("(bool)1", "true").replace("(bool)0", "false")
    return re.sub(r"\(\w+( \w+)?\)(?=\d)", "", name)


def named_by(source):
    """The kernel that a chapter's source tells common/ about, as it writes it."""
    return re.search(r"KERNEL\((.+)\),", source.read_text())[1].replace(" ", "")


def compiled(source, architectures):
    """(name, arch, spilled bytes, registers, bytes of static shared memory) of each kernel for each architecture."""
    targets = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in architectures]
    text = output(
        [
            nvcc(),
            "-O3",
            "-std=c++17",
            "-Icommon",
            "-Xptxas",
            "-v",
            *targets,
            "-c",
            source,
            "-o",
            os.devnull,
        ]
    )
    for mangled, arch, spill, registers, rest in KERNEL.findall(text):
        name = plain(output(["c++filt", mangled]).strip())
        shared = re.search(r"(\d+) bytes smem", rest)
        yield name, int(arch), int(spill), int(registers), int(shared[1]) if shared else 0


def rows_of(source, version, date):
    number = int(source.parent.name[:2])
    capability = re.search(r"min_capability = (\d+)", source.read_text())
    least = int(capability[1]) if capability else 0
    named = named_by(source)
    found = sorted(compiled(source, [arch for arch in ARCHITECTURES if arch >= least]))
    if not any(name.replace(" ", "") == named for name, *_ in found):
        raise Stop(1, f"chapter {number} names {named}: nvcc compiled none of that name")
    for name, arch, spill, registers, shared in found:
        yield {
            "chapter": number,
            "arch": arch,
            "registers": registers,
            "static_shared": shared,
            "spill": spill,
            "launched": int(name.replace(" ", "") == named),
            "nvcc": version,
            "date": date,
            "kernel": name,
        }


def read():
    if not TABLE.exists():
        return []
    with open(TABLE, newline="") as file:
        return list(csv.DictReader(file))


def facts(row, ignore):
    """What a row says, in a form to compare."""
    return tuple(str(row[name]) for name in COLUMNS if name not in ignore)


def main(words):
    # Those that tell common/ their kernel: the others have no use for a row.
    sources = [
        path
        for path in sorted((ROOT / "chapters").glob("[0-9][0-9]_*/matmul.cu"))
        if "KERNEL(" in path.read_text()
    ]
    version = re.search(r"release [\d.]+, V([\d.]+)", output([nvcc(), "--version"]))[1]
    date = datetime.date.today().isoformat()
    old = read()
    new = [row for source in sources for row in rows_of(source, version, date)]
    ignore = ["date"]
    if "--check" in words and any(row["nvcc"] != version for row in old):
        ignore += [
            "nvcc",
            "registers",
            "spill",
        ]  # another compiler may well decide otherwise
    before = {facts(row, ignore): row for row in old}
    for row in new:  # a row that still holds keeps its date
        row["date"] = before.get(facts(row, ignore), row)["date"]
    after = {facts(row, ignore): row for row in new}
    stale = sorted(
        {
            int(row["chapter"])
            for key, row in (before | after).items()
            if key not in before or key not in after
        }
    )
    if "--check" in words:
        for chapter in stale:
            print(
                f"results/registers.csv: chapter {chapter} is stale, `make registers` renews it"
            )
        return 1 if stale else 0
    with open(TABLE, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(new)
    print(
        f"results/registers.csv: {len(new)} rows, "
        + (
            f"chapters {', '.join(map(str, stale))} changed"
            if stale
            else "nothing changed"
        )
    )
    return 0


if __name__ == "__main__":
    try:
        ending.run(lambda: main(sys.argv[1:]))
    except Stop as stop:
        print(stop, file=sys.stderr)
        sys.exit(stop.code)
