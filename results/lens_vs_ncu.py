#!/usr/bin/env python3
"""make lens-vs-ncu: the lens beside Nsight Compute's counters, for every chapter and for the patterns of
tests/lens/patterns.cu. Needs a GPU whose counters may be read. Writes results/lens_vs_ncu.csv and
says how many global figures differ (none should) and shared ones differ by more than 3 %."""
import csv
import glob
import io
import json
import os
import re
import subprocess
import sys

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
CHAPTER_SHAPES = ["256 256 256", "200 136 72", "130 67 33"]


def sh(command, **options):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def ncu(command, kernels):
    """A list of {metric: value}, one for each launch of a kernel whose name matches."""
    text = sh(f"ncu --clock-control none --csv --print-units base -k regex:'{kernels}' "
              f"--metrics {','.join(METRICS.values())} {command}")
    table = csv.DictReader(io.StringIO(text[text.index('"ID"'):]))
    launches = {}
    for row in table:
        name = row["Metric Name"]
        launches.setdefault(int(row["ID"]), {})[name] = float(row["Metric Value"].replace(",", ""))
    return [launches[i] for i in sorted(launches)]


def lens(command):
    """The same from the lens: one {figure: value} a kernel, for one launch."""
    text = sh(f"LENS=json {command}").strip().splitlines()[-1]
    kernels = []
    for kernel in json.loads(text)["kernels"]:
        figures = dict.fromkeys(METRICS, 0.0)
        for kind, total in kernel["totals"].items():
            for figure, value in total.items():
                if f"{kind} {figure}" in figures:
                    figures[f"{kind} {figure}"] = value / kernel["launches"]
        kernels.append(figures)
    return kernels


def main():
    gpu = glob.glob("build/gpu-*")
    if not gpu:
        sys.exit("build both worlds first: make lens-vs-ncu does")
    gpu = max(gpu, key=os.path.getmtime)
    rows, pairs = [], []
    for program in sorted(glob.glob("build/emulator/chapter[0-9]*"),
                          key=lambda p: int(re.sub(r"\D", "", os.path.basename(p)))):
        name = os.path.basename(program)
        if name == "chapter0":
            continue  # cuBLAS' own kernels: nothing here to look at
        for shape in CHAPTER_SHAPES:
            seen = ncu(f"{gpu}/{name} {shape} --check-only", "matmul")
            pairs.append((f"{name} {shape}", seen[0], lens(f"{program} {shape} --check-only")[0]))
    names = sh("build/emulator/patterns list").splitlines()
    seen = ncu(f"{gpu}/patterns", ".")
    for i, name in enumerate(names):
        pairs.append((name, seen[i], lens(f"build/emulator/patterns {i}")[0]))

    wrong_global = wrong_shared = compared = 0
    for name, counters, figures in pairs:
        for figure, metric in METRICS.items():
            want, have = counters[metric], figures[figure]
            if want == have == 0:
                continue
            compared += 1
            fused = figure.startswith("shared") and figures[figure.rsplit(" ", 1)[0] + " requests"] != \
                counters[METRICS[figure.rsplit(" ", 1)[0] + " requests"]]
            if figure.startswith("global"):
                verdict = "equal" if want == have else "DIFFERS"
                wrong_global += want != have
            elif fused:
                verdict = "fused by the compiler"
            else:
                near = abs(want - have) <= 0.03 * max(want, have) + 2
                verdict = "equal" if want == have else "within 3 %" if near else "DIFFERS"
                wrong_shared += not near
            rows.append([name, figure, metric, f"{want:.0f}", f"{have:g}", verdict])
    with open("results/lens_vs_ncu.csv", "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["what", "figure", "ncu metric", "ncu", "lens", "verdict"])
        writer.writerows(rows)
    for row in rows:
        if row[-1] == "DIFFERS":
            print("  ".join(row))
    print(f"{compared} figures compared; {wrong_global} global ones differ; {wrong_shared} shared ones "
          f"differ by more than 3 % with the same instructions")
    return wrong_global > 0


if __name__ == "__main__":
    sys.exit(main())
