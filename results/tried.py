#!/usr/bin/env python3
"""make tried: every change of a chapter taken back alone, and what was tried and not kept, into results/tried.csv.

chapters/NN_*/tried/NAME.diff changes a chapter; its first line says how, in words. Where that line begins with
"takes back: ", the rest names one change that the chapter made to the one before, and the diff undoes that and no
more; any other diff is an attempt that was not kept. Each is applied to a copy in build/tried/, built like its
chapter, checked as any run is, and then timed: the chapter and its changed copies run in turns, each beside cuBLAS
as in `make ladder`, and each is judged by the median of its turns. The product is 4096 each way, or what
chapters/NN_*/tried/shape.txt says, where a chapter is about others: a line MxNxK, and lines "NAME MxNxK" for diffs
with a product of their own, with a precision behind it where it is not the chapter's first.
Exit code: 0, 1 if one does not apply, build or pass, 2 usage, 3 if nothing can be measured here.
"""

import argparse
import concurrent.futures
import csv
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys

import chapters
import ending
import measure
import rows

TABLE = rows.ROOT / "results" / "tried.csv"
TEXTS = ("gpu", "cuda", "driver", "date", "tried", "precision")
# `tried` is the diff's name, nothing for the chapter as it is; `precision` is nothing for the
# chapter's first. The ratio is cuBLAS' time over the kernel's: the median of the turns, the least
# and the greatest.
COLUMNS = (
    "gpu",
    "sms",
    "clock_mhz",
    "cuda",
    "driver",
    "date",
    "chapter",
    "tried",
    "M",
    "N",
    "K",
    "precision",
    "turns",
    "gflops",
    "ratio",
    "ratio_min",
    "ratio_max",
)
TURNS = 3
REPS = 12  # of each turn
SIZE = 4096


class Broken(Exception):
    """A diff that does not apply, or a program that does not build or is wrong; the message says which."""


def diffs(chapter):
    """{name: path} of a chapter's."""
    folder = chapters.folder(chapter)
    if not folder:
        raise Broken("there is no such chapter")
    return {path.stem: path for path in sorted(folder.glob("tried/*.diff"))}


BACK = "takes back: "


def title(path):
    """A diff's first line: what it does, or the change that it takes back."""
    with open(path) as file:
        return file.readline().strip().removeprefix(BACK)


def takes_back(path):
    """Whether a diff undoes a change of its chapter; else it is an attempt that was not kept."""
    with open(path) as file:
        return file.readline().startswith(BACK)


def sh(command):
    try:
        done = subprocess.run(
            command,
            cwd=rows.ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except FileNotFoundError:
        raise Broken(f"{command[0]} is not here, and is needed") from None
    if done.returncode:
        raise Broken(
            f"`{' '.join(map(str, command))}` says\n{done.stdout.strip()[-1500:]}"
        )
    return done.stdout


def apply(diff, folder):
    """Makes the changes of a unified diff in a copy of its chapter's folder. The lines may have
    moved since, but they must be the same."""
    parts = re.split(r"^(?=--- )", diff.read_text(), flags=re.M)[1:]
    if not parts:
        raise Broken("it changes nothing")
    for part in parts:
        head, *hunks = re.split(r"^@@ -(\d+).*\n", part, flags=re.M)
        # +++ b/chapters/NN_name/FILE
        path = folder / re.search(r"^\+\+\+ (?:[^/]+/){3}(.+)$", head, re.M)[1]
        lines, moved = path.read_text().splitlines(), 0
        for start, hunk in zip(map(int, hunks[::2]), hunks[1::2]):
            old = [line[1:] for line in hunk.splitlines() if line[:1] != "+"]
            new = [line[1:] for line in hunk.splitlines() if line[:1] != "-"]
            places = [at for at in range(len(lines)) if lines[at : at + len(old)] == old]
            if not places:
                raise Broken(f"it does not fit {path.name} any more, near line {start}")
            at = min(places, key=lambda place: abs(place + 1 - start - moved))
            lines[at : at + len(old)] = new
            moved = at + 1 - start + len(new) - len(old)
        path.write_text("\n".join(lines) + "\n")


def build(chapter, diff, compiler):
    """Builds the chapter with a diff (a path), or as it is (None), checks it, and returns the program."""
    folder = (
        rows.ROOT / "build" / "tried" / f"{chapter}_{diff.stem if diff else 'as_it_is'}"
    )
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(chapters.folder(chapter), folder)
    if diff:
        apply(diff, folder)
    program = folder / "program"
    sh(
        [
            *shlex.split(compiler[0]),
            folder / "matmul.cu",
            *shlex.split(compiler[1]),
            "-o",
            program,
        ]
    )
    sh([program, "--check-only"])
    return program


def product_of(chapter, name=""):
    """(M, N, K, precision) of the product that a changed copy is timed with, beside the chapter as it is."""
    path = chapters.folder(chapter) / "tried" / "shape.txt"
    products = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        said = re.fullmatch(r"(?:(\w+) )?(\d+x\d+x\d+)(?: (\w+))?", line)
        if not said:
            raise Broken(f"shape.txt says {line!r}, not [NAME ]MxNxK[ PRECISION]")
        name_of_diff, shape, precision = said.groups("")
        products[name_of_diff] = (*measure.shape(shape), precision)
    return products.get(name) or products.get("") or (SIZE, SIZE, SIZE, "")


def building(pool, chapter, paths):
    """{name: future program} for {name: path of a diff of the chapter, or None}; all by the compiler that
    make takes for the chapter."""
    if not paths:
        return {}
    # As the notebooks do: why this compiler, which, with what.
    compiler = sh(["make", "-s", f"parts{chapter}"]).splitlines()[-2:]
    return {
        name: pool.submit(build, chapter, path, compiler) for name, path in paths.items()
    }


def built(numbers):
    """{chapter: ({name: program} of what can be built and is right, what is wrong with the others)}."""
    made = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for chapter in numbers:
            try:
                made[chapter] = building(pool, chapter, {"": None, **diffs(chapter)})
            except Broken as reason:
                made[chapter] = reason
    return {chapter: sorted_out(waiting) for chapter, waiting in made.items()}


def sorted_out(waiting):
    if isinstance(waiting, Broken):
        return {}, [waiting]
    found, wrong = {}, []
    for name, program in waiting.items():
        try:
            found[name] = program.result()
        except Broken as reason:
            wrong.append(f"{name or 'as it is'}: {reason}")
    return found, wrong


def read():
    """As they are written: a number without a point stays whole."""

    def number(text):
        return rows.real(text) if "." in text else rows.whole(text)

    kinds = {name: str if name in TEXTS else number for name in COLUMNS}
    return rows.read_table(TABLE, kinds)


def what(row):
    return tuple(
        row[name] for name in ("gpu", "chapter", "M", "N", "K", "precision", "tried")
    )


def write(new):
    """Adds rows; a row replaces an older one of the same, and those of diffs that are gone go too."""
    kept = {
        what(row): row
        for row in read() + new
        if not row["tried"] or row["tried"] in diffs(row["chapter"])
    }
    with open(TABLE, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[key] for key in sorted(kept))


def by_product(chapter, programs):
    """{(M, N, K, precision): {name: program}}: what is timed in turns, the chapter as it is among each."""
    products = {}
    for name, program in programs.items():
        group = products.setdefault(product_of(chapter, name), {"": programs[""]})
        group[name] = program
    return products


def time_in_turns(chapter, product, programs, machine, turns):
    """Rows for {name: program}, all of one chapter and one product."""
    *shape, precision = product
    options = [*map(str, shape), "--one-shape", "--reps", str(REPS)]
    if precision:
        options += ["--precision", precision]
    reports = {name: [] for name in programs}
    for turn in range(turns):
        for name, program in programs.items():
            measure.say(
                f"chapter {chapter}, turn {turn + 1} of {turns}: {name or 'as it is'}"
            )
            # Its other shapes were checked when it was built.
            report, wrong, _ = measure.ask(program, *options)
            if wrong:
                raise Broken(f"{name or 'as it is'}: {wrong}")
            reports[name].append(report)
    measure.say()
    found = []
    for name, every in reports.items():
        ratios = [report["ratio"]["median"] for report in every]
        row = dict(
            machine,
            chapter=chapter,
            tried=name,
            **dict(zip(("M", "N", "K", "precision"), product)),
            turns=turns,
            gflops=round(statistics.median(report["gflops"] for report in every)),
            ratio=round(statistics.median(ratios), 4),
            ratio_min=round(min(ratios), 4),
            ratio_max=round(max(ratios), 4),
        )
        found.append({column: row[column] for column in COLUMNS})
    return found


def show(found):
    base = next(row for row in found if not row["tried"])
    print(
        f"\nchapter {base['chapter']}, {base['M']} x {base['N']} x {base['K']} {base['precision']}"
    )
    for row in found:
        print(
            f"  {row['tried'] or 'as it is':28} {row['gflops']:8,.0f} GFLOP/s  {100 * row['ratio']:6.1f} % of cuBLAS  "
            f"x {row['gflops'] / base['gflops']:.3f}, by shares {row['ratio'] / base['ratio']:.3f}"
        )
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(
        description="Measures every change taken back, and what was not kept."
    )
    parser.add_argument(
        "--check-only",
        action="store_true",
        help="build and check, time nothing: needs no GPU",
    )
    parser.add_argument(
        "--turns", type=int, default=TURNS, help=f"runs of each program; default {TURNS}"
    )
    parser.add_argument(
        "chapter",
        nargs="*",
        type=int,
        help="only these; default: all that have tried something",
    )
    chosen, status, machine = parser.parse_args(), 0, None
    if chosen.turns < 1:
        parser.error(f"--turns must be at least 1, not {chosen.turns}")
    if not chosen.check_only:
        machine, wrong, code = measure.look_around(1)
        if wrong:
            print(wrong, file=sys.stderr)
            return code
    everything = sorted(
        {int(path.parts[-3][:2]) for path in rows.ROOT.glob("chapters/*/tried/*.diff")}
    )
    # All are built before the first is timed, which nothing shall disturb.
    for chapter, (programs, wrong) in built(chosen.chapter or everything).items():
        try:
            print(f"chapter {chapter}: {len(programs)} built, and right", flush=True)
            if "" in programs and not chosen.check_only:
                for product, some in by_product(chapter, programs).items():
                    found = time_in_turns(chapter, product, some, machine, chosen.turns)
                    write(found)
                    show(found)
        except Broken as reason:
            wrong = [*wrong, reason]
        for reason in wrong:
            print(f"FAILED: chapter {chapter}, {reason}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    ending.run(main)
