#!/usr/bin/env python3
"""make profiles: what Nsight Compute counts in each chapter's kernel and in cuBLAS', into results/profiles.csv.

One launch of each at 4,096, as `make profileN` shows it, but only the counters that the READMEs speak of; and one of
each diff in tried/, for the counter that the change moved. A chapter is counted at the precision that it has by
default, and cuBLAS at each of these. Counters say what a kernel did; its time is measured elsewhere (make ladder),
without a profiler. Needs a GPU whose counters may be read.
Exit code: 0, 1 if a kernel could not be counted, 2 usage, 3 if nothing can be counted here.
"""

import argparse
import concurrent.futures
import csv
import io
import os
import re
import shutil
import subprocess
import sys

import ending
import measure
import rows
import tried

TABLE = rows.ROOT / "results" / "profiles.csv"
COLUMNS = [
    *("gpu", "cuda", "date", "chapter", "precision", "tried", "size", "metric", "value")
]
# `tried` is a diff's name, nothing for the chapter as it is. Chapter 0 is cuBLAS.
SIZE = 4096
# What a warp can wait for, in Nsight Compute's words: smsp__average_warps_issue_stalled_<this>_per_issue_active.ratio
# is the clocks that a warp spends so between two of its instructions.
STALLS = [
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "gmma",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "not_selected",
    "selected",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
    "warpgroup_arrive",
]
METRICS = [
    "smsp__inst_executed.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.per_cycle_active",
    "sm__cycles_elapsed.avg.per_second",
    "l1tex__m_xbar2l1tex_read_bytes.sum",
    "dram__bytes_read.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    *(
        f"smsp__average_warps_issue_stalled_{stall}_per_issue_active.ratio"
        for stall in STALLS
    ),
    "sm__inst_executed_pipe_tensor_op_hmma.sum",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
]
# Those that only some GPUs have: tensor cores that warps feed, and those that warpgroups do.
NOT_EVERYWHERE = re.compile("gmma|hmma|warpgroup|pipe_tensor")


def kernels_of(chapter):
    """The names of the kernel to look at: chapter 0's is cuBLAS', whose kernels have many, and so have the chapters
    that choose one by the product's shape."""
    if chapter == 0:
        return "gemm|nvjet|xmma|cutlass|Kernel2"
    return "matmul|persistent|narrow|few|small|tf32|plain"


def read():
    kinds = dict.fromkeys(COLUMNS, str)
    kinds |= {"chapter": rows.whole, "size": rows.whole}
    kinds["value"] = rows.as_written(rows.real)
    return rows.read_table(TABLE, kinds)


def rows_of(key, tried, precision):
    """What is counted of a GPU, by the key that results/<gpu>.csv has: of the chapters as they are, or with the diff
    of a name."""
    wanted = key, tried, precision, SIZE
    return [
        row
        for row in read()
        if (measure.key_of(row["gpu"]), row["tried"], row["precision"], row["size"])
        == wanted
    ]


def counted(key, tried="", precision="fp32"):
    """{chapter: {metric: value}} of these rows."""
    found = {}
    for row in rows_of(key, tried, precision):
        found.setdefault(row["chapter"], {})[row["metric"]] = float(row["value"])
    return found


def origin(key, chapters, precision="fp32"):
    """Where and when chapters were counted: "GPU, CUDA, date"."""
    shown = [row for row in rows_of(key, "", precision) if row["chapter"] in chapters]
    cuda, dates = (rows.span(row[name] for row in shown) for name in ("cuda", "date"))
    return f"{shown[0]['gpu']}, CUDA {cuda}, {dates}"


def slots(values):
    """(issue slots in use, instructions that are multiply-adds), both as shares. Their product is the share of the
    slots in which a multiply-add began."""
    multiply_adds = (
        values["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] / 32
    )  # 32 threads an instruction
    return (
        values["smsp__issue_active.avg.pct_of_peak_sustained_active"] / 100,
        multiply_adds / values["smsp__inst_executed.sum"],
    )


def tensor(values):
    """(instructions for the tensor cores, the time in which these are at work), both as shares; (0, 0) of a kernel
    that does without. A warp gives them `mma`, a warpgroup `wgmma`; the profiler's hmma counts both, and HFMA2.MMA too,
    by which compilers load constants: that is no product of matrices."""
    given = values.get("sm__inst_executed_pipe_tensor_op_hmma.sum", 0.0)
    busy = values.get("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0)
    if busy < 5:
        return 0.0, 0.0
    return given / values["smsp__inst_executed.sum"], busy / 100


def intensity(key, precision="fp32"):
    """{chapter: FLOP per byte that came from device memory} of the products on a GPU."""
    return {
        chapter: 2 * SIZE**3 / values["dram__bytes_read.sum"]
        for chapter, values in counted(key, precision=precision).items()
        if values.get("dram__bytes_read.sum")
    }


def clocks(values, stall):
    """Clocks that all warps together spend on a reason, in billions. Each instruction is issued in one clock, so for
    "selected" it is the instructions."""
    ratio = values.get(
        f"smsp__average_warps_issue_stalled_{stall}_per_issue_active.ratio", 0.0
    )
    return ratio * values["smsp__inst_executed.sum"] / 1e9


def moved(before, after):
    """(reason, clocks before, clocks after): on what the warps' clocks have changed most. A warp that was ready and not
    chosen did not wait for anything that a kernel could bring."""
    reasons = [stall for stall in STALLS if stall != "not_selected"]
    most = max(
        reasons, key=lambda stall: abs(clocks(after, stall) - clocks(before, stall))
    )
    return most, clocks(before, most), clocks(after, most)


def waits(values, most=2):
    """[(reason, clocks a warp waits for it between two instructions)], the longest first; what takes less than a
    tenth of the longest is left out. Being ready and not chosen is no reason to wait, and issuing is none."""
    found = [
        (
            values.get(
                f"smsp__average_warps_issue_stalled_{stall}_per_issue_active.ratio", 0.0
            ),
            stall,
        )
        for stall in STALLS
        if stall not in ("selected", "not_selected")
    ]
    found.sort(reverse=True)
    return [
        (stall, clocks) for clocks, stall in found[:most] if clocks >= found[0][0] / 10
    ]


def metrics_here():
    """Those of METRICS that the GPU here has."""
    listed = set(measure.output(["ncu", "--query-metrics"]).split())
    return [
        metric
        for metric in METRICS
        if not NOT_EVERYWHERE.search(metric) or metric.partition(".")[0] in listed
    ]


def count(chapter, program, options, metrics):
    """{metric: value} of the first launch of chapter's kernel in a run of a program."""
    done = subprocess.run(
        [
            "ncu",
            "--clock-control",
            "none",
            "--csv",
            "--print-units",
            "base",
            "-c",
            "1",
            "-k",
            f"regex:{kernels_of(chapter)}",
            "--metrics",
            ",".join(metrics),
            program,
            str(SIZE),
            "--one-shape",
            *options,
        ],
        cwd=rows.ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if '"ID"' not in done.stdout:
        raise tried.Broken(f"ncu saw no kernel:\n{done.stdout.strip()[-1500:]}")
    lines = csv.DictReader(io.StringIO(done.stdout[done.stdout.index('"ID"') :]))
    values = {
        line["Metric Name"]: line["Metric Value"].replace(",", "") for line in lines
    }
    return {metric: value for metric, value in values.items() if value != "n/a"}


def at_our_size(chapter, name):
    """Whether a chapter's diff says something of the product that is counted here."""
    return tried.product_of(chapter, name) == (SIZE, SIZE, SIZE, "")


def runs(chapters):
    """[(chapter, precision, name of a diff or "", program, options)] of what is to be counted: what cuBLAS launches
    first, in a run that times it, and of each chapter what it launches first. A diff's program is a future: all are
    built and checked before anything is counted, for what else runs on the GPU is counted too."""
    found = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for chapter in chapters:
            program = rows.ROOT / f"chapter{chapter}"
            for precision in measure.precisions(program)[:1]:
                if all(precision != known for _, known, _, _, _ in found):
                    found.append((0, precision, "", program, ["--reps", "1"]))
                if not chapter:
                    continue
                found.append((chapter, precision, "", program, ["--check-only"]))
                found += [
                    (chapter, precision, name, built, ["--check-only"])
                    for name, built in tried.building(
                        pool,
                        chapter,
                        {
                            name: path
                            for name, path in tried.diffs(chapter).items()
                            if at_our_size(chapter, name)
                        },
                    ).items()
                ]
    return sorted(found, key=lambda run: run[:3])


def write(every):
    with open(TABLE, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            sorted(
                every,
                key=lambda row: (
                    row["gpu"],
                    row["chapter"],
                    row["precision"],
                    row["tried"],
                    row["metric"],
                ),
            )
        )


def main():
    parser = argparse.ArgumentParser(
        description="Nsight Compute's counters of every chapter."
    )
    parser.add_argument("chapter", nargs="*", type=int, help="only these; default: all")
    chosen = parser.parse_args()
    if not shutil.which("ncu"):
        print(
            "ncu is not here: it comes with the CUDA Toolkit or as Nsight Compute",
            file=sys.stderr,
        )
        return measure.CANNOT
    machine, wrong, code = measure.look_around()
    if wrong:
        print(wrong, file=sys.stderr)
        return code
    metrics, status = metrics_here(), 0
    for chapter, precision, name, program, options in runs(
        chosen.chapter or measure.programs()
    ):
        what = f"chapter {chapter} {name or precision}"
        try:
            values = count(
                chapter, program.result() if name else program, options, metrics
            )
        except tried.Broken as reason:
            print(f"FAILED: {what}: {reason}", file=sys.stderr)
            status = 1
            continue
        mine = {
            "gpu": machine["gpu"],
            "chapter": chapter,
            "precision": precision,
            "size": SIZE,
        }
        # With the chapter as it is, the rows of diffs go that are no longer there.
        old = {**mine, "tried": name} if name else mine
        new = [
            {**mine, "cuda": machine["cuda"], "date": machine["date"]}
            | {"tried": name, "metric": metric, "value": value}
            for metric, value in values.items()
        ]
        write([row for row in read() if not old.items() <= row.items()] + new)
        print(f"{what}: {len(values)} counters", flush=True)
    return status


if __name__ == "__main__":
    ending.run(main)
