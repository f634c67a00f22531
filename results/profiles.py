#!/usr/bin/env python3
"""make profiles: what Nsight Compute counts in each chapter's kernel and in cuBLAS', into results/profiles.csv.

One launch of each at 4,096, as `make profileN` shows it, but only the counters that the READMEs speak of; and one of
each diff in tried/ that takes a change of its chapter back, for the counter that the change moved. Counters say
what a kernel did; its time is measured elsewhere (make ladder), without a profiler. Needs a GPU whose counters may be
read. Exit code: 0, 2 usage, 3 if nothing can be counted here.
"""

import argparse
import csv
import io
import shutil
import subprocess
import sys

import ending
import measure
import rows
import tried

TABLE = rows.ROOT / "results" / "profiles.csv"
COLUMNS = ["gpu", "cuda", "date", "chapter", "tried", "size", "metric", "value"]
# `tried` is a diff's name, nothing for the chapter as it is.
SIZE = 4096
# What a warp can wait for, in Nsight Compute's words: smsp__average_warps_issue_stalled_<this>_per_issue_active.ratio
# is the clocks that a warp spends so between two of its instructions.
STALLS = [
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
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
]
METRICS = [
    "smsp__inst_executed.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.per_cycle_active",
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
]


def kernels_of(chapter):
    """The names of the kernel to look at: chapter 0's is cuBLAS'."""
    return "gemm" if chapter == 0 else "matmul|persistent|few"


def read():
    if not TABLE.exists():
        return []
    with open(TABLE, newline="") as file:
        return list(csv.DictReader(file))


def counted(key, tried=""):
    """({chapter: {metric: value}}, "GPU, CUDA, date") of a GPU, by the key that results/<gpu>.csv has: of the
    chapters as they are, or with the diff of a name."""
    found, origins = {}, set()
    for row in read():
        which = measure.key_of(row["gpu"]), row["tried"], row["size"]
        if which == (key, tried, str(SIZE)):
            found.setdefault(int(row["chapter"]), {})[row["metric"]] = float(row["value"])
            origins.add(f"{row['gpu']}, CUDA {row['cuda']}, {row['date']}")
    return found, "; ".join(sorted(origins))


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


def count(chapter, program):
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
            ",".join(METRICS),
            program,
            str(SIZE),
            "--check-only",
            "--one-shape",
        ],
        cwd=rows.ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if '"ID"' not in done.stdout:
        sys.exit(f"ncu saw no kernel of chapter {chapter}:\n{done.stdout[-2000:]}")
    lines = csv.DictReader(io.StringIO(done.stdout[done.stdout.index('"ID"') :]))
    values = {
        line["Metric Name"]: line["Metric Value"].replace(",", "") for line in lines
    }
    return {metric: value for metric, value in values.items() if value != "n/a"}


def taken_back(chapter):
    """{name: program} of the chapter's diffs that take a change back."""
    compiler = tried.sh(["make", "-s", f"parts{chapter}"]).splitlines()[-2:]
    return {
        name: tried.build(chapter, path, compiler)
        for name, path in tried.diffs(chapter).items()
        if tried.takes_back(path)
    }


def write(every):
    with open(TABLE, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            sorted(
                every,
                key=lambda row: (
                    row["gpu"],
                    int(row["chapter"]),
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
    for chapter in chosen.chapter or measure.programs():
        programs = {"": f"./chapter{chapter}"}
        if chapter:
            try:
                programs.update(taken_back(chapter))
            except tried.Broken as reason:
                sys.exit(f"chapter {chapter}: {reason}")
        kept = [
            row
            for row in read()
            if (row["gpu"], row["chapter"], row["size"])
            != (machine["gpu"], str(chapter), str(SIZE))
        ]
        new = []
        for name, program in programs.items():
            values = count(chapter, program)
            new += [
                {
                    "gpu": machine["gpu"],
                    "cuda": machine["cuda"],
                    "date": machine["date"],
                    "chapter": str(chapter),
                    "tried": name,
                    "size": str(SIZE),
                    "metric": metric,
                    "value": value,
                }
                for metric, value in values.items()
            ]
            print(f"chapter {chapter} {name or 'as it is'}: {len(values)} counters")
            sys.stdout.flush()
        write(kept + new)
    return 0


if __name__ == "__main__":
    ending.run(main)
