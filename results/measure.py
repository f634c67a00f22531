#!/usr/bin/env python3
"""make ladder: every chapter beside cuBLAS on the GPU here, into results/<gpu>.csv.

One process measures one chapter at one shape; in it the chapter and cuBLAS take turns
(common/timing.c). A row replaces an older one of the same chapter and shape, the others stay.
Exit code: 0, 1 if a chapter failed, 2 usage, 3 if nothing can be measured here.
"""

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
import time

import chapters
import ending
import rows

SIZES = [256, 512, 1024, 2048, 4096, 8192]
SHAPES = rows.ROOT / "results" / "shapes.txt"  # that no product should be slow at
MANY = [13, 18, 17, 12]  # the chapters that are measured there, in this order
LONGEST = 900  # seconds for one row
LARGE = 1e12  # multiply-adds of a product that is left for the end
THOUSANDS = {"G": 1, "T": 1000}  # of the units in which a roof is told
CANNOT = 3  # the exit code of a chapter that this machine cannot run


def words(text):
    return [word for word in text.split(",") if word]


def shape(text):
    numbers = [int(number) for number in text.split("x")]
    if len(numbers) != 3 or min(numbers) < 1:
        raise ValueError
    return tuple(numbers)


def many_shapes():
    """(those of results/shapes.txt that were chosen, those that were drawn at random): what stands behind the
    first line "# drawn ..."."""
    chosen, _, drawn = SHAPES.read_text().partition("# drawn")
    return [shape(line) for line in chosen.split()], [
        shape(line) for line in drawn.splitlines()[1:] if line[:1] != "#"
    ]


def arguments():
    parser = argparse.ArgumentParser(description="Measures chapters beside cuBLAS.")
    parser.add_argument("--chapters", metavar="N,N", help="only these")
    parser.add_argument("--sizes", metavar="N,N", help=f"squares; default {SIZES}")
    parser.add_argument(
        "--shapes", metavar="MxNxK,…", help="other shapes; alone: no squares"
    )
    parser.add_argument(
        "--reps", type=int, help="timed runs a row; default: a second's worth"
    )
    parser.add_argument(
        "--many",
        action="store_true",
        help="the shapes of results/shapes.txt, beside the best that cuBLAS has, into "
        f"results/<gpu>_shapes.csv; default for it: chapters {MANY}, 25 runs a row",
    )
    parser.add_argument(
        "--minutes", type=float, help="begin no row after so long; default: measure all"
    )
    parser.add_argument(
        "--out", metavar="FILE", type=rows.Path, help="default results/<gpu>.csv"
    )
    chosen = parser.parse_args()
    try:
        chosen.chapters = chosen.chapters and [int(n) for n in words(chosen.chapters)]
        sizes = [int(n) for n in words(chosen.sizes or "")]
        shapes = [shape(text) for text in words(chosen.shapes or "")]
    except ValueError:
        parser.error(
            "--chapters and --sizes are numbers, --shapes MxNxK, with commas between"
        )
    if chosen.many:
        shapes += [one for some in many_shapes() for one in some]
        chosen.chapters = chosen.chapters or MANY
        chosen.reps = chosen.reps or 25
    if not sizes and not shapes:
        sizes = SIZES
    chosen.shapes = [(n, n, n) for n in sizes] + shapes
    return chosen


def programs():
    """{number: path} of what `make all` has built."""
    found = {
        int(path.name[7:]): path
        for path in rows.ROOT.glob("chapter[0-9]*")
        if path.name[7:].isdigit()
    }
    return dict(sorted(found.items()))


def output(command):
    """What a command prints; nothing if it cannot be run or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def key_of(name):
    """NVIDIA H200 -> h200, NVIDIA A100-SXM4-80GB -> a100, NVIDIA GeForce RTX 3090 -> 3090."""
    found = re.findall(r"[a-z]*\d+\w*", name.lower())
    return found[0] if found else name.lower().split()[-1]


def ask(program, *options, timeout=LONGEST):
    """Runs a chapter. Returns (what it printed as JSON or {}, what went wrong or None, exit
    code)."""
    try:
        done = subprocess.run(
            [program, *options, "--json"], capture_output=True, text=True, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return {}, f"no end after {timeout} seconds", 1
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {}
    if done.returncode == 0 and report.get("passed"):
        return report, None, 0
    wrong = [
        check["failure"] for check in report.get("checks", []) if not check["passed"]
    ]
    for text in [text.strip() for text in wrong + [done.stderr]]:
        if text:
            return report, text.splitlines()[0 if report else -1], done.returncode or 1
    return report, f"exit code {done.returncode} and no report", done.returncode or 1


def row_of(report, machine, chapter, M, N, K):
    """A report as a row. One that failed has no times, and perhaps no more than its shape."""
    row = dict.fromkeys(rows.COLUMNS)
    row.update(
        dict.fromkeys(rows.TEXTS, ""),
        chapter=chapter,
        M=M,
        N=N,
        K=K,
        alpha=1.0,
        beta=0.0,
        passed=False,
    )
    for source in (machine, report):
        row.update({name: source[name] for name in rows.COLUMNS if name in source})
    for name in ("kernel_ms", "cublas_ms", "ratio"):
        for part, value in report.get(name, {}).items():
            row[f"{name}_{part}"] = value
    row["driver"] = machine["driver"]
    row["measured"] = "; ".join(
        f"{figure['name']}: {figure['value']:g} {figure['unit']}"
        for figure in report.get("measured", [])
    )
    for figure in report.get("measured", []):
        if "roof" in figure:
            value = figure["value"] * THOUSANDS[figure["unit"][0]]
            row[f"{figure['roof']}_roof"] = value
    return row


def precisions(program):
    """The precisions in which the ladder measures a chapter: none if it is about several GPUs, which
    many_gpus.py measures."""
    described = json.loads(output([program, "--describe"]))
    return [] if described["several_gpus"] else described["precisions"]


def say(text=""):
    """Progress, over itself, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


class Table:
    """One shape's rungs with bars as wide as the terminal allows; '#' where there is none."""

    def __init__(self):
        self.terminal = sys.stdout.isatty()
        utf = (sys.stdout.encoding or "").lower().startswith("utf")
        self.mark = "█" if self.terminal and utf else "#"
        self.width = shutil.get_terminal_size().columns if self.terminal else 90

    def show(self, M, N, K, lines):
        """lines: (chapter, row, reason), reason None if the row is good."""
        good = [row for _, row, reason in lines if reason is None]
        fastest = max(
            (max(row["gflops"], row["cublas_gflops"]) for row in good), default=1.0
        )
        print(f"\nM = N = K = {M}" if M == N == K else f"\nM, N, K = {M}, {N}, {K}")
        print(
            f"  {'chapter':24} {'ms':>9} {'GFLOP/s':>8} {'x before':>8} {'% cuBLAS':>8}"
        )
        before = {}  # the last chapter at each precision
        for chapter, row, reason in lines:
            title = row["title"] or chapters.folder(chapter).name[3:]
            kind = "" if row["precision"] == "fp32" else f", {row['precision']}"
            name = f"{chapter} {title.partition(':')[0]}"[: 24 - len(kind)] + kind
            if reason is not None:
                print(f"  {name:24} {reason}")
                continue
            last = before.get(row["precision"])
            step = f"{row['gflops'] / last:.2f}" if last else ""
            line = (
                f"  {name:24} {row['kernel_ms_median']:9.4g} {row['gflops']:8,.0f} "
                f"{step:>8} {100 * row['ratio_median']:8.1f}  "
            )
            room = max(0, self.width - len(line) - 1)
            print(line + self.mark * round(room * row["gflops"] / fastest))
            # Chapter 0 is cuBLAS, which no chapter builds upon.
            if chapter:
                before[row["precision"]] = row["gflops"]
        sys.stdout.flush()


def sweep(chosen, found, machine):
    """Measures every shape with every chapter; returns the exit code."""
    name = key_of(machine["gpu"]) + ("_shapes" if chosen.many else "")
    path = chosen.out or rows.ROOT / "results" / f"{name}.csv"
    print(
        "{gpu}, {sms} SMs, {clock_mhz:,.0f} MHz, CUDA {cuda}, driver {driver}, {date}".format(
            **machine
        )
    )
    table = Table()
    count = {"measured": 0, "FAILED": 0, "not run": 0}
    rungs = [
        (chapter, program, precision)
        for chapter, program in found.items()
        for precision in precisions(program)
    ]
    todo = [(shape, rung) for shape in chosen.shapes for rung in rungs]
    if chosen.many:
        # Chapter by chapter, so that what the time allows is complete, and what a chapter
        # multiplies besides (tf32) after all of them.
        usual = {program: precisions(program)[0] for program in found.values()}
        todo.sort(
            key=lambda row: (
                math.prod(row[0]) > LARGE,
                row[1][2] != usual[row[1][1]],
                rungs.index(row[1]),
            )
        )
    waiting = {shape: len(rungs) for shape in chosen.shapes}
    lines = {shape: [] for shape in chosen.shapes}
    begun = time.monotonic()
    for done, (shape, rung) in enumerate(todo):
        spent = time.monotonic() - begun
        if done and chosen.minutes and spent > 60 * chosen.minutes:
            break
        (M, N, K), (chapter, program, precision) = shape, rung
        left = spent / done * (len(todo) - done) if done else 0
        togo = f"{done} of {len(todo)} rows done, about {left / 60:.0f} min to go"
        say(f"{M} x {N} x {K}, chapter {chapter}" + (f": {togo}" if left >= 60 else ""))
        if chosen.many and done == 10:
            print(togo, file=sys.stderr)
        more = ["--precision", precision]
        more += ["--reps", str(chosen.reps)] if chosen.reps else []
        more += ["--best-cublas", "--one-shape"] if chosen.many else []
        report, wrong, code = ask(program, str(M), str(N), str(K), *more)
        row = row_of(report, machine, chapter, M, N, K)
        row["precision"] = precision
        ending = "measured" if not wrong else "not run" if code == CANNOT else "FAILED"
        count[ending] += 1
        if ending != "not run":
            kept = [old for old in rows.read(path) if rows.what(old) != rows.what(row)]
            rows.write(path, kept + [row])
        lines[shape].append((chapter, row, wrong and f"{ending}: {wrong}"))
        waiting[shape] -= 1
        if not waiting[shape]:
            say()
            table.show(M, N, K, lines.pop(shape))
    say()
    for shape, some in lines.items():
        if some:
            table.show(*shape, some)
    missing = len(todo) - sum(count.values())
    print(
        "\n"
        + ", ".join(f"{number} {name}" for name, number in count.items())
        + (f", {missing} left out for want of time" if missing else "")
        + f"; the rows are in {path}"
    )
    return 1 if count["FAILED"] else 0 if count["measured"] else CANNOT


def look_around(number=0):
    """What every row says of this machine, asked of ./chapter<number>. Returns (a dictionary, what is wrong or
    None, exit code)."""
    if "GPU " not in output(["nvidia-smi", "-L"]):
        return (
            {},
            (
                "this needs an NVIDIA GPU and there is none here; README.md shows it as "
                "measured on ours"
            ),
            CANNOT,
        )
    program = programs().get(number)
    if not program:
        return (
            {},
            f"there is no ./chapter{number}: `make all` builds the chapters",
            CANNOT,
        )
    report, wrong, code = ask(program, "1", "--check-only")
    if wrong:
        return {}, wrong, code
    if report["emulated"]:
        return (
            {},
            (
                "the chapters are built for the emulator: with EMULATOR=0, make builds them "
                "for the GPU"
            ),
            CANNOT,
        )
    driver = output(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    machine = {
        name: report[name] for name in ("sms", "clock_mhz", "cuda", "date", "inputs")
    }
    machine.update(
        gpu=report["device"], driver=driver.split()[0] if driver.split() else "?"
    )
    return machine, None, 0


def main():
    chosen = arguments()
    found = programs()
    wanted = list(dict.fromkeys(chosen.chapters or sorted(found) or [0]))
    if not chosen.many:
        wanted.sort()
    # The first that is not there says so; else any of them can tell what the machine is.
    machine, wrong, code = look_around(
        next((n for n in wanted if n not in found), wanted[0])
    )
    if wrong:
        print(wrong, file=sys.stderr)
        return code
    return sweep(chosen, {number: found[number] for number in wanted}, machine)


if __name__ == "__main__":
    ending.run(main)
