#!/usr/bin/env python3
"""make scenes: what the lens counted in every chapter, and in small changes of it, into results/scenes.json.

The figures of the web site that a reader can operate replay these counts; nothing in a page computes any.
--check writes nothing and exits with 1 if a chapter has changed since. Names behind it renew only those.

    {"naive": {"knob": what the variants differ in, "arguments": of the program, "variants": [{
        "label", "source": a hash of what was compiled, "block", "blocks", "warps", "max_warps",
        "shared_bytes", "lines": [a line of the lens, requests of one launch, and one request of
        warp 0: "address" of each lane, and which "wavefront" serves it]}]}}
"""

import argparse
import atexit
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import chapters
import ending
import rows
import tried

TABLE = rows.ROOT / "results" / "scenes.json"


def constants(*names):
    """A change that gives `const int NAME` other values: {name: value}."""

    def change(*values):
        return dict(zip(names, values))

    return change


block, tile, padding = (
    constants("BM", "BN"),
    constants("BM", "BN", "BK"),
    constants("PADDING"),
)
column, square = constants("TM", "BK"), constants("TM", "TN", "BK")
warp = constants("WM", "WN", "TM", "TN")

# By the chapter's name: what the variants differ in, and (label, what is changed). A change is a
# dictionary of constants, the name of a diff in tried/, a variant of chapter 11, or nothing. The
# chapter as it is comes first where none of them is it.
KNOBS = {
    "naive": (
        "rows × columns of a block; x walks down",
        [
            ("32 × 8", {}),
            ("16 × 16", block(16, 16)),
            ("8 × 32", block(8, 32)),
            ("4 × 64", block(4, 64)),
            ("2 × 128", block(2, 128)),
        ],
    ),
    "coalescing": (
        "rows × columns of a block; x walks to the right",
        [
            ("64 × 4", block(64, 4)),
            ("32 × 8", block(32, 8)),
            ("16 × 16", block(16, 16)),
            ("8 × 32", {}),
            ("4 × 64", block(4, 64)),
        ],
    ),
    "shared_memory": (
        "side of a tile",
        [("8", tile(8, 8, 8)), ("16", tile(16, 16, 16)), ("32", {})],
    ),
    "thread_tiling_1d": (
        "TM, results of a thread",
        [("4", column(4, 16)), ("8", {}), ("16", column(16, 4)), ("32", column(32, 2))],
    ),
    "thread_tiling_2d": (
        "TM × TN, results of a thread",
        [
            ("4 × 4", square(4, 4, 8)),
            ("8 × 4", square(8, 4, 8)),
            ("4 × 8", square(4, 8, 8)),
            ("8 × 8", {}),
            ("16 × 8", square(16, 8, 8)),
        ],
    ),
    "vectorized_access": (
        "TM × TN, results of a thread",
        [
            ("4 × 8", square(4, 8, 16)),
            ("8 × 4", square(8, 4, 16)),
            ("8 × 8", {}),
            ("16 × 8", square(16, 8, 4)),
        ],
    ),
    "bank_conflicts": (
        "PADDING, floats more in a row of A_tile",
        [(str(n), padding(n) if n != 4 else {}) for n in range(0, 33, 4)],
    ),
    "warp_tiling": (
        "the lanes of a warp and its tile",
        [
            ("64 × 64", {}),
            ("64 × 32", warp(64, 32, 16, 4)),
            ("32 × 64", warp(32, 64, 8, 8)),
            ("column by column", "lanes_column_by_column"),
            ("in a z", "lanes_in_a_z"),
            ("on diagonals", "lanes_on_diagonals"),
        ],
    ),
    "async_copies": (
        "PADDING, and the order of the lanes",
        [
            ("0", padding(0)),
            ("4", {}),
            ("8", padding(8)),
            ("column by column", "lanes_column_by_column"),
            ("in a z", "lanes_in_a_z"),
            ("on diagonals", "lanes_on_diagonals"),
        ],
    ),
    "autotuning": (
        "BM × BN × BK, TM × TN, STAGES",
        [
            ("picked for 256: 32 × 64 × 16, 4 × 4, 4 stages", {}),
            ("64 × 128 × 8, 8 × 8, 4 stages", "64, 128, 8, 8, 8, 4, 4, 1, 8, 1"),
            ("64 × 128 × 16, 16 × 4, 4 stages", "64, 128, 16, 16, 4, 4, 4, 1, 8, 1"),
            ("128 × 128 × 8, 16 × 8, 3 stages", "128, 128, 8, 16, 8, 3, 4, 2, 8, 1"),
            ("128 × 256 × 8, 16 × 8, 4 stages", "128, 256, 8, 16, 8, 4, 4, 1, 8, 1"),
        ],
    ),
    "copy_engine": (
        "the order of the lanes",
        [
            ("on diagonals", {}),
            ("in a z", "lanes_in_a_z"),
            ("row by row", "lanes_row_by_row"),
            ("column by column", "lanes_column_by_column"),
        ],
    ),
}
# Chapters with their own idea of a small problem.
ARGUMENTS = {
    "persistent_blocks": "--sms 2 512 256 80",
    "copy_engine": "--sms 2 512 256 80",
}
SIZE = "256"


class Mistake(Exception):
    """A change that does not fit its chapter; the message says which."""


@functools.cache
def scratch():
    """A folder of this process alone, gone when it ends: two may run at once."""
    (rows.ROOT / "build").mkdir(exist_ok=True)
    folder = tempfile.TemporaryDirectory(prefix="scenes.", dir=rows.ROOT / "build")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def name_of(number):
    return chapters.folder(number).name.partition("_")[2]


def scenes():
    """{name: number} of the chapters with a kernel to look at: all but the first, the baseline."""
    return {name_of(number): number for number in chapters.numbers() if number}


def variants(name):
    return KNOBS[name][1] if name in KNOBS else [("as it is", {})]


def prepare(name, number, *changes):
    """A copy of the chapter with the changes made; its folder, and the compiler's words for it."""
    folder, words = scratch() / name, []
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(chapters.folder(number), folder)
    source = folder / "matmul.cu"
    for change in changes:
        if isinstance(change, dict):
            text = source.read_text()
            for constant, value in change.items():
                text, count = re.subn(
                    rf"^( *const int {constant} = )[^;]+;",
                    rf"\g<1>{value};",
                    text,
                    flags=re.M,
                )
                if count != 1:
                    raise Mistake(f"{name}: there is no `const int {constant}` to change")
            source.write_text(text)
        elif change[0].isdigit():
            words = [f"-DCANDIDATE={change}"]
        else:
            diff = chapters.folder(number) / "tried" / f"{change}.diff"
            if not diff.exists():
                raise Mistake(f"{name}: there is no tried/{diff.name}")
            tried.apply(diff, folder)
    return folder, words


def hash_of(folder, words):
    """Of what is compiled: the chapter's sources, and those of the chapters that it includes.
    Comments count too; it is only a stamp."""
    text = " ".join(words)
    folders = [folder]
    for source in folders:
        for path in sorted(source.iterdir()):
            if path.suffix in (".cu", ".cuh", ".c", ".h", ".txt"):
                text += f"{path.name}\n{path.read_text()}"
                for other in re.findall(r'#include "(\d\d_\w+)/', path.read_text()):
                    if rows.ROOT / "chapters" / other not in folders:
                        folders.append(rows.ROOT / "chapters" / other)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def build(number, folder, words=()):
    """The program of a chapter's copy, built for the emulator."""
    compiler, options = tried.sh(
        ["make", "-s", "EMULATOR=1", f"parts{number}"]
    ).splitlines()[-2:]
    program = folder / "program"
    command = [
        *shlex.split(compiler),
        folder / "matmul.cu",
        *shlex.split(options),
        *words,
    ]
    tried.sh([*command, "-o", program])
    return program


def look(name, number, folder, words):
    """The report of the kernel that did most, of a run under the lens."""
    program, out = build(number, folder, words), folder / "lens.json"
    settings = {"LENS": "json", "LENS_WARP": "0", "LENS_OUT": str(out)}
    done = subprocess.run(
        [program, *ARGUMENTS.get(name, SIZE).split(), "--check-only"],
        cwd=rows.ROOT,
        env=os.environ | settings,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise tried.Broken(done.stdout[-1500:])
    return max(json.loads(out.read_text())["kernels"], key=lambda kernel: kernel["flop"])


def whole(line, folder):
    """The line's text; the lens knows lines, and what is assigned may be in the next one."""
    if not line["text"].endswith("="):
        return line["text"]
    source = (folder / Path(line["file"]).name).read_text().splitlines()
    return f"{line['text']} {source[line['line']].strip()}"


def shown(kernel, folder):
    """What a page needs of a report."""
    lines = []
    for line in kernel["lines"]:
        cost = "wavefronts" if "wavefronts" in line else "sectors"
        kept = {key: line[key] for key in ("line", "text", "kind", "bytes", "verdict")}
        kept["text"] = whole(line, folder)
        for key in ("requests", "lanes", cost, "ideal_" + cost):
            kept[key] = line[key] // kernel["launches"]
        if line["example"]:
            places = dict(line["example"])
            kept["address"] = [places.get(lane) for lane in range(32)]
            served = dict(zip(places, line.get("example_wavefronts", [])))
            if served:
                kept["wavefront"] = [served.get(lane) for lane in range(32)]
        lines.append(kept)
    limits = kernel["occupancy"]
    return {
        "block": kernel["block"],
        "blocks": limits["blocks"],
        "warps": limits["warps"],
        "max_warps": limits["max_warps"],
        "shared_bytes": kernel["shared_bytes"],
        "results": kernel["results"] // kernel["launches"],
        "lines": lines,
    }


def renewed(name, number, old, check):
    """The scene of a chapter, and the labels of the variants that were not there or older."""
    known = {variant["source"]: variant for variant in old.get("variants", [])}
    found, stale = [], []
    for label, change in variants(name):
        folder, words = prepare(name, number, change)
        source = hash_of(folder, words)
        if source not in known:
            stale.append(label)
            if check:
                continue
            known[source] = shown(look(name, number, folder, words), folder)
        found.append(
            {
                "label": label,
                "source": source,
                **{
                    key: value
                    for key, value in known[source].items()
                    if key not in ("label", "source")
                },
            }
        )
    return {
        "knob": KNOBS[name][0] if name in KNOBS else "",
        "arguments": ARGUMENTS.get(name, SIZE),
        "variants": found,
    }, stale


def written(every):
    """As JSON, a line of the lens a line of text: so a change is seen in a diff."""
    text = json.dumps(every, ensure_ascii=False, separators=(",", ":"))
    return re.sub(r'(\{"(?:label|line)":)', r"\n\1", text) + "\n"


def read():
    return json.loads(TABLE.read_text()) if TABLE.exists() else {}


def main(words):
    parser = argparse.ArgumentParser(description="Renews results/scenes.json.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, name what is stale"
    )
    parser.add_argument(
        "--again", action="store_true", help="count again what has not changed"
    )
    parser.add_argument("names", nargs="*", help="chapters, such as naive; default all")
    chosen = parser.parse_args(words)
    old, wrong, every = read(), 0, {}
    for name, number in scenes().items():
        if chosen.names and name not in chosen.names:
            every.update({name: old[name]} if name in old else {})
            continue
        before = {} if chosen.again and not chosen.check else old.get(name, {})
        every[name], stale = renewed(name, number, before, chosen.check)
        if chosen.check and (stale or every[name] != old.get(name)):
            wrong = 1
            print(
                f"results/scenes.json: {name} is older than its chapter; `make scenes` renews it"
            )
        elif not chosen.check:
            if stale:
                print(f"results/scenes.json: {name}: {', '.join(stale)}")
            TABLE.write_text(written({**old, **every}))
    if not chosen.check:
        TABLE.write_text(written(every))
    return wrong


if __name__ == "__main__":
    try:
        ending.run(lambda: main(sys.argv[1:]))
    except (Mistake, tried.Broken, chapters.Broken) as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
