#!/usr/bin/env python3
"""make power: the tensor cores' chapters in a burst and in a long run, into results/power.csv.

A GPU at rest is cool and its clock high; kept busy, it is slowed down to the board's limit of watts. So each product
is measured twice, each time in turns with cuBLAS: 20 of either after a pause, and then as many as five seconds hold.
In the long run nvidia-smi is asked for clock and power ten times a second. Exit code: 0, 1 if a chapter failed,
3 if nothing can be measured here.
"""

import statistics
import subprocess
import sys
import time

import ending
import measure
import rows

PATH = rows.ROOT / "results" / "power.csv"
COLUMNS = (
    *("gpu", "sms", "clock_mhz", "cuda", "driver", "date", "chapter", "precision"),
    *("M", "N", "K", "how", "runs", "kernel_ms", "cublas_ms"),
    *("ratio", "ratio_p10", "ratio_p90", "mhz", "watts"),
)
TEXTS = ("gpu", "cuda", "driver", "date", "precision", "how")
WHOLE = ("sms", "chapter", "M", "N", "K", "runs")

PRODUCTS = [  # the most telling ones first
    *((16, "bf16", size) for size in (8192, 4096, 16384)),
    *((17, "bf16", size) for size in (4092, 8192)),
    *((17, "tf32", 8192), (15, "bf16", 8192), (14, "bf16", 8192), (18, "fp32", 8192)),
]
BURST, PAUSE_S, LONG_MS = 20, 2, 5000


def read():
    """The rows of results/power.csv; of a burst there is neither clock nor power."""
    kinds = rows.kinds(COLUMNS, TEXTS, WHOLE)
    return rows.read_table(PATH, kinds, lambda row: ("mhz", "watts"))


def what(row):
    names = ("gpu", "chapter", "precision", "M", "N", "K", "how")
    return tuple(row[name] for name in names)


def write(found):
    rows.write_table(PATH, COLUMNS, sorted(found, key=what))


class Sampler:
    """Clock (MHz) and power (W) of GPU 0 while something runs: the medians of the samples at which the board drew
    nine tenths of the most that was seen; the others fall into the time before and after."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [
                *("nvidia-smi", "-i", "0", "--query-gpu=clocks.sm,power.draw"),
                *("--format=csv,noheader,nounits", "-lms", "100"),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_):
        self.process.terminate()
        text = self.process.communicate()[0]
        samples = []
        for line in text.splitlines():
            try:
                samples.append(tuple(float(word) for word in line.split(",")))
            except ValueError:  # the last line may be half a line
                continue
        samples = [sample for sample in samples if len(sample) == 2]
        most = max((watts for _, watts in samples), default=0)
        busy = [sample for sample in samples if sample[1] >= 0.9 * most]
        self.mhz, self.watts = (
            map(statistics.median, zip(*busy)) if busy else (None, None)
        )


def measured(program, machine, number, precision, size):
    """Two rows of one product: burst, sustained. Raises RuntimeError with what went wrong."""
    options = [*3 * [str(size)], "--precision", precision, "--one-shape"]
    found, runs = [], BURST
    for how in ("burst", "sustained"):
        time.sleep(PAUSE_S)
        with Sampler() as sampler:
            report, wrong, _ = measure.ask(program, *options, "--reps", str(runs))
        if wrong:
            raise RuntimeError(f"chapter {number}, {precision}, {size}: {wrong}")
        row = {name: machine[name] for name in COLUMNS if name in machine}
        row.update(chapter=number, precision=precision, M=size, N=size, K=size, how=how)
        row.update(runs=report["runs"], ratio=report["ratio"]["median"])
        row.update(ratio_p10=report["ratio"]["p10"], ratio_p90=report["ratio"]["p90"])
        for name in ("kernel_ms", "cublas_ms"):
            row[name] = report[name]["median"]
        sustained = how == "sustained"
        row["mhz"] = sampler.mhz if sustained else None
        row["watts"] = sampler.watts if sustained else None
        found.append(row)
        runs = max(BURST, int(LONG_MS / (row["kernel_ms"] + row["cublas_ms"])))
    return found


def main():
    machine, wrong, code = measure.look_around(PRODUCTS[0][0])
    found = measure.programs()
    for number, precision, size in PRODUCTS:
        if wrong:
            break
        try:
            new = measured(found[number], machine, number, precision, size)
        except RuntimeError as failure:
            wrong, code = str(failure), 1
            break
        names = {what(row) for row in new}
        write([row for row in read() if what(row) not in names] + new)
        for row in new:
            print(
                f"{number} {precision} {size:6,} {row['how']:9} {row['runs']:5} runs: "
                f"{row['kernel_ms']:.4g} ms, cuBLAS {row['cublas_ms']:.4g}, "
                f"{100 * row['ratio']:.1f} %"
                + (
                    f", {row['mhz']:,.0f} MHz, {row['watts']:.0f} W" if row["mhz"] else ""
                ),
                flush=True,
            )
    if wrong:
        print(wrong, file=sys.stderr)
    return code


if __name__ == "__main__":
    ending.run(main)
