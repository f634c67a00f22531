"""A row of results/<gpu>.csv: one process, in which a chapter and cuBLAS took turns."""

import csv
import os
import re
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


# What only some rows have, and what a row has that passed; one that failed may be without.
SOME_HAVE = {"flop_per_byte", "compute_roof", "memory_roof"}
TIMED = {"runs", *(name for name in COLUMNS if "_ms" in name or "ratio" in name)}
TIMED |= {"gflops", "cublas_gflops", "peak_gflops"}


# ---- a field as a value; ValueError says what is wrong with it ----


def whole(text):
    if not re.fullmatch(r"-?[0-9]+", text):
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def real(text):
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?", text):
        raise ValueError(f"{text!r} is no number")
    return float(text)


def yes_or_no(text):
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text == "yes"


def besides(text):
    """[(name, value, unit)] of what a chapter measures besides."""
    found = []
    for field in filter(None, text.split("; ")):
        name, colon, value = field.rpartition(": ")
        number, space, unit = value.partition(" ")
        if not colon or not space:
            raise ValueError(f"{field!r} is not as 'name: value unit'")
        found.append((name, real(number), unit))
    return found


def as_written(kind):
    """The same field as it is: checked, and no value."""

    def text_of(text):
        kind(text)
        return text

    return text_of


def kinds(columns, texts, whole_ones):
    """{column: what makes a value of its fields}: of those that are not named here, a real number."""
    return {
        name: str if name in texts else whole if name in whole_ones else real
        for name in columns
    }


KINDS = kinds(COLUMNS, TEXTS, WHOLE) | {"passed": yes_or_no}
KINDS["measured"] = as_written(besides)


# ---- files ----


def read_table(path, kinds, lacking=lambda row: ()):
    """The rows of a CSV file as {column: value}, none if there is no such file. `lacking` tells the columns that may
    be empty in a row, whose value is None then. Where a file is not as we write it, no program can go on: it ends here,
    and says where that is."""
    if not path.exists():
        return []
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path

    def wrong(what, column=None):
        where = f", column {column}" if column else ""
        raise SystemExit(f"{name}, line {reader.line_num or 1}{where}: {what}")

    with open(path, newline="", encoding="utf-8") as file:
        reader, found = csv.reader(file, strict=True), []
        try:
            if next(reader, None) != list(kinds):
                wrong(f"the columns are not {','.join(kinds)}")
            for fields in filter(None, reader):
                if len(fields) > len(kinds):
                    wrong(f"{len(fields)} fields, and there are {len(kinds)} columns")
                if len(fields) < len(kinds):
                    wrong("nothing there", [*kinds][len(fields)])
                row = dict(zip(kinds, fields))
                may_lack = lacking(row)
                for column, kind in kinds.items():
                    try:
                        empty = row[column] == "" and column in may_lack
                        row[column] = None if empty else kind(row[column])
                    except ValueError as problem:
                        wrong(problem, column)
                found.append(row)
        except (csv.Error, UnicodeDecodeError) as problem:
            wrong(problem)
    return found


def formatted(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def read(path):
    """The rows of results/<gpu>.csv."""
    return read_table(
        path,
        KINDS,
        lambda row: SOME_HAVE if row["passed"] == "yes" else SOME_HAVE | TIMED,
    )


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


def span(values):
    """The values that occur, each once: dates as first to last."""
    found = sorted(set(values))
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


def measured(rows):
    """The figures that a chapter measures besides, {name: (value, unit)}: the median of its rows, for each row is one
    sample of the same."""
    samples, units = {}, {}
    for row in sorted(rows, key=what):
        for name, value, units[name] in besides(row["measured"]):
            samples.setdefault(name, []).append(value)
    return {name: (statistics.median(samples[name]), units[name]) for name in samples}


def roof(rows):
    """(GFLOP/s, GB/s) as measured, the medians of all rows; None if nothing measured them."""
    found = [
        (row["compute_roof"], row["memory_roof"])
        for row in rows
        if row["compute_roof"] and row["memory_roof"]
    ]
    return tuple(map(statistics.median, zip(*found))) if found else None
