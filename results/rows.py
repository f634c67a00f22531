"""A row of results/<gpu>.csv: one process, in which a chapter and cuBLAS took turns."""

import csv
import os
import statistics
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TEXTS = (
    "gpu",
    "cuda",
    "driver",
    "date",
    "title",
    "about",
    "precision",
    "inputs",
    "measured",
)
PRECISIONS = ("fp32", "bf16", "tf32")  # in the order in which a chapter has them
WHOLE = ("sms", "chapter", "M", "N", "K", "runs")
# Times in milliseconds; p10 and p90 are percentiles over the runs. The ratio is cuBLAS'
# time over the chapter's, run by run. peak_gflops is cores x clock x 2. What a chapter
# measures besides goes into the last column, "name: value unit; name: ...", and what the
# roofline is drawn from also into compute_roof (GFLOP/s) and memory_roof (GB/s).
COLUMNS = (
    "gpu",
    "sms",
    "clock_mhz",
    "cuda",
    "driver",
    "date",
    "chapter",
    "title",
    "about",
    "M",
    "N",
    "K",
    "alpha",
    "beta",
    "precision",
    "inputs",
    "runs",
    "kernel_ms_median",
    "kernel_ms_p10",
    "kernel_ms_p90",
    "cublas_ms_median",
    "cublas_ms_p10",
    "cublas_ms_p90",
    "ratio_median",
    "ratio_p10",
    "ratio_p90",
    "gflops",
    "cublas_gflops",
    "peak_gflops",
    "passed",
    "flop_per_byte",
    "compute_roof",
    "memory_roof",
    "measured",
)


def parsed(column, text):
    """A field as a value; None where the row has none, as a failed row has no times."""
    if column in TEXTS:
        return text
    if column == "passed":
        return text == "yes"
    if text == "":
        return None
    return int(text) if column in WHOLE else float(text)


def formatted(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def read(path):
    """The rows of a CSV file, none if there is no such file. ValueError if it is not one of
    ours."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path}: the columns are not those of results/rows.py")
        return [{name: parsed(name, row[name]) for name in COLUMNS} for row in reader]


def write_table(path, columns, lines):
    """Replaces a CSV file, at once: whoever interrupts a measurement keeps what was measured."""
    part = path.with_suffix(".part")
    with open(part, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for line in lines:
            writer.writerow([formatted(line[name]) for name in columns])
    os.replace(part, path)


def write(path, rows):
    write_table(path, COLUMNS, sorted(rows, key=what))


def what(row):
    """What was measured: a later row of the same replaces the earlier."""
    names = ("chapter", "M", "N", "K", "alpha", "beta", "precision")
    return tuple(row[name] for name in names)


def plain(rows):
    """The rows that can be shown side by side: right, timed, and C = A * B."""
    return [
        row
        for row in rows
        if row["passed"] and row["gflops"] and (row["alpha"], row["beta"]) == (1, 0)
    ]


def of_size(rows, size, precision="fp32"):
    """{chapter: row} of the plain squares of one size and precision, in order."""
    return {
        row["chapter"]: row
        for row in sorted(plain(rows), key=what)
        if row["M"] == row["N"] == row["K"] == size and row["precision"] == precision
    }


def measured(rows):
    """The figures that a chapter measures besides, {name: (value, unit)}: the median of its rows, for each row is one
    sample of the same."""
    samples, units = {}, {}
    for row in sorted(rows, key=what):
        for field in filter(None, row["measured"].split("; ")):
            name, _, value = field.rpartition(": ")
            number, units[name] = value.split(" ", 1)
            samples.setdefault(name, []).append(float(number))
    return {name: (statistics.median(samples[name]), units[name]) for name in samples}


def roof(rows):
    """(GFLOP/s, GB/s) as measured, the medians of all rows; None if nothing measured them."""
    found = [
        (row["compute_roof"], row["memory_roof"])
        for row in rows
        if row["compute_roof"] and row["memory_roof"]
    ]
    return tuple(map(statistics.median, zip(*found))) if found else None
