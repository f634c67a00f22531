#!/usr/bin/env python3
"""make lens-vs-ncu: the lens beside Nsight Compute's counters, for every chapter and for the patterns of
tests/lens/patterns.cu. Needs a GPU whose counters may be read. Writes results/lens_vs_ncu.csv and
says how many global figures differ (none should) and shared ones differ by more than 3 %.

    --lens     renews what the lens says and leaves the counters as they are: needs no GPU
    --check    (with --lens) writes nothing, exits with 1 if the lens says something else now"""

import csv
import datetime
import glob
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import ending
import profiles
import rows

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "results" / "lens_vs_ncu.csv"
COLUMNS = [
    "gpu",
    "cuda",
    "date",
    "what",
    "figure",
    "ncu metric",
    "ncu",
    "lens",
    "joined",
    "verdict",
]
METRICS = {
    "global load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared load requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared store requests": "smsp__inst_executed_op_shared_st.sum",
    "shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
# What the lens also says of these: as a compiler would join neighbouring loads.
JOINED = {
    "shared load requests": "joined_requests",
    "shared load wavefronts": "joined_wavefronts",
    "shared load conflicts": "joined_conflicts",
}
CHAPTER_SHAPES = ["256 256 256", "200 136 72", "130 67 33"]
CANNOT = 3  # a chapter's exit code where it needs a newer GPU


class Cannot(Exception):
    """The program says that this machine cannot run it, or has no such kernel."""


def sh(command, **settings):
    quiet = {
        name: value
        for name, value in os.environ.items()
        if name not in ("CHECK", "EMULATE") and not name.startswith("LENS")
    }
    done = subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=quiet | settings,
    )
    if done.returncode == CANNOT:
        raise Cannot(done.stderr.strip())
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def ncu(command, kernels):
    """A list of {figure: value}, one for each launch of a kernel whose name matches."""
    text = sh(
        f"ncu --clock-control none --csv --print-units base -k regex:'{kernels}' "
        f"--metrics {','.join(METRICS.values())} {command}"
    )
    if '"ID"' not in text:
        raise Cannot(f"ncu saw no kernel:\n{text[-2000:]}")
    figure_of = {metric: figure for figure, metric in METRICS.items()}
    launches = {}
    for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])):
        value = round(float(row["Metric Value"].replace(",", "")))
        launches.setdefault(int(row["ID"]), {})[figure_of[row["Metric Name"]]] = value
    return [launches[i] for i in sorted(launches)]


def lens(command, kernels):
    """The same from the lens, for one launch of the first kernel of such a name, and as joined."""
    text = sh(command, LENS="json").strip().splitlines()[-1]
    found = json.loads(text)["kernels"]
    kernel = next((k for k in found if re.search(kernels, k["name"])), found[0])
    figures = dict.fromkeys(METRICS, 0)
    loads = kernel["totals"].get("shared load", {})
    joined = {
        figure: loads.get(name, 0) // kernel["launches"]
        for figure, name in JOINED.items()
    }
    for kind, total in kernel["totals"].items():
        # To ncu, the read of a cp.async is a global load as any other.
        kind = "global load" if kind == "async copy, read" else kind
        for figure, value in total.items():
            if f"{kind} {figure}" in figures:
                figures[f"{kind} {figure}"] += value // kernel["launches"]
    return figures, joined


def programs():
    """{what: (program and arguments, the kernels' names)} of everything to compare. Chapter 0 runs cuBLAS' kernels:
    there is nothing to look at. Chapter 19 divides its product among as many GPUs as there are."""
    found = {}
    paths = sorted(
        glob.glob(str(ROOT / "build/emulator/chapter[0-9]*")),
        key=lambda path: int(path.rpartition("chapter")[2]),
    )
    for name in map(os.path.basename, paths):
        for shape in CHAPTER_SHAPES if name not in ("chapter0", "chapter19") else []:
            kernels = profiles.kernels_of(int(name.removeprefix("chapter")))
            found[f"{name} {shape}"] = f"{name} {shape} --check-only --one-shape", kernels
    for i, name in enumerate(sh("build/emulator/patterns list").splitlines()):
        found[name] = f"patterns {i}", "."
    return found


def counters(commands):
    """{what: {figure: value}} as the GPU counts, and {what: (gpu, cuda, date)}."""
    gpus = glob.glob(str(ROOT / "build/gpu-*"))
    if not gpus:
        sys.exit("build both worlds first: make lens-vs-ncu does")
    gpu = max(gpus, key=os.path.getmtime)
    patterns = iter(ncu(f"{gpu}/patterns", "."))
    found = {}
    for what, (command, kernels) in commands.items():
        try:
            found[what] = (
                next(patterns)
                if command.startswith("patterns")
                else ncu(f"{gpu}/{command}", kernels)[0]
            )
        except Cannot as reason:
            print(f"{what}: left out: {reason}")
    told = json.loads(sh(f"{gpu}/chapter1 1 --check-only --json"))
    here = told["device"], told["cuda"], datetime.date.today().isoformat()
    return found, dict.fromkeys(found, here)


def recorded():
    """The same as the table has it."""
    found, origins = {}, {}
    kinds = dict.fromkeys(COLUMNS, str) | {"ncu": rows.whole}
    for row in rows.read_table(TABLE, kinds):
        figures = found.setdefault(row["what"], dict.fromkeys(METRICS, 0))
        figures[row["figure"]] = row["ncu"]
        origins[row["what"]] = row["gpu"], row["cuda"], row["date"]
    if not found:
        sys.exit("results/lens_vs_ncu.csv has no rows: a run without --lens counts them")
    return found, origins


def verdict(figure, seen, figures, joined):
    """How the lens' figure stands to the counter's. Shared ones may differ by 3 % of the wavefronts."""
    counter, ours = seen[figure], figures[figure]
    kind = figure.rpartition(" ")[0]
    compiled, written = seen[f"{kind} requests"], figures[f"{kind} requests"]
    if counter == ours:
        return "equal"
    if counter == joined.get(figure):
        return "equal, joined"
    if kind.startswith("shared") and compiled < written:
        wavefronts = joined["shared load wavefronts"]
        if abs(counter - joined.get(figure, counter)) <= 0.03 * wavefronts:
            return "within 3 %, joined"
        return f"as compiled: {written} accesses joined to {compiled}"
    if figure == "shared load requests" and compiled > written:
        # Predicated off (@!PT LDS): they read nothing, and stand beside each cp.async.
        return f"as compiled: {compiled - written} reads of no lane beside the copies"
    wavefronts = (
        max(table[f"{kind} wavefronts"] for table in (seen, figures))
        if kind.startswith("shared")
        else 0
    )
    return "within 3 %" if abs(counter - ours) <= 0.03 * wavefronts else "DIFFERS"


def main(words):
    commands = programs()
    measured, origins = recorded() if "--lens" in words else counters(commands)
    lines = []
    for what, seen in measured.items():
        program, kernels = commands[what]
        figures, joined = lens(f"build/emulator/{program}", kernels)
        lines += [
            [
                *origins[what],
                what,
                figure,
                metric,
                str(seen[figure]),
                str(figures[figure]),
                str(joined.get(figure, "")),
                verdict(figure, seen, figures, joined),
            ]
            for figure, metric in METRICS.items()
            if seen[figure] or figures[figure]
        ]
    differ = [row for row in lines if row[-1] == "DIFFERS"]
    global_ones = sum(row[4].startswith("global") for row in differ)
    if "--check" in words:
        with open(TABLE, newline="") as file:
            old = list(csv.reader(file))[1:]
        changed = [row for row in lines if row not in old]
        for row in changed:
            print(
                f"results/lens_vs_ncu.csv: {row[3]}: {row[4]}: the lens says {row[7]} now"
            )
        return bool(changed or len(old) != len(lines) or global_ones)
    with open(TABLE, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(lines)
    for row in differ:
        print("  ".join(row[3:]))
    print(
        f"{len(lines)} figures compared; {global_ones} global ones differ; {len(differ) - global_ones} shared ones "
        f"differ by more than 3 % with the same instructions"
    )
    return global_ones > 0


if __name__ == "__main__":
    ending.run(lambda: main(sys.argv[1:]))
