#!/usr/bin/env python3
"""make many-gpus: chapter 19 on the GPUs here, 2 to all of them, into results/many_gpus.csv.

One process measures one product with so many GPUs: one GPU alone takes turns with each way to divide it.
A row is one way; new rows replace older ones of the same product. `queued` says that the GPUs were busy while the
host enqueued what was timed; in older rows they were at rest, and its calls are part of the time. Exit code: 0, 1 if
the chapter failed, 3 if nothing can be measured here (fewer than two GPUs).
"""

import sys

import ending
import measure
import rows

SIZES = (4096, 8192, 16384)
PRECISIONS = ("bf16", "fp32")
CHAPTER = 19
PATH = rows.ROOT / "results" / "many_gpus.csv"
COLUMNS = (
    *("gpu", "sms", "clock_mhz", "cuda", "driver", "date", "precision"),
    *("gpus", "M", "N", "K", "queued", "one_gpu_ms"),
    *("way", "share", "link_gbs", "hidden"),
)
WHOLE = ("sms", "gpus", "M", "N", "K")
REAL = ("clock_mhz", "one_gpu_ms", "share", "link_gbs", "hidden")

# Which of the chapter's figures belong to a way.
LINKS = {"NCCL, then multiply": "link, NCCL", "copy engines": "link, copy engines"}
LIBRARIES = "cuBLAS after ncclAllGather"
HIDDEN = {"NCCL meanwhile": "hidden, NCCL", "copy engines": "hidden, copy engines"}

# The model, made before anything was measured: a GPU receives 395 GB/s (cudaMemcpyPeerAsync of 256 MB
# between two H200s with 18 links of NVLink), and what it multiplies meanwhile takes 5 % longer.
LINK_GBS = 395
BESIDE_COPIES = 1.05


def squarest(gpus):
    """As the chapter's: the divisor nearest below the root is how many tiles lie side by side."""
    return max(d for d in range(1, gpus + 1) if gpus % d == 0 and d * d <= gpus)


def predicted(precision, gpus, size, one_gpu_ms, across=1):
    """The share of `gpus` times the speed of one GPU, when C is a grid of gpus / across x across tiles: each GPU
    makes `gpus` products of equal size. The own pieces of B and A are there, the others come in turn, and each
    is multiplied with the other matrix's pieces that came before it."""
    element = 2 if precision == "bf16" else 4
    piece = size * size / gpus * element / LINK_GBS / 1e6
    product = one_gpu_ms / gpus**2
    needed = {"B": gpus // across, "A": across}
    order = [which for i in range(gpus) for which in "BA" if i < needed[which]]
    copying = (gpus // across + across - 2) * piece
    have = {"A": 0, "B": 0}
    end = 0.0
    for i, which in enumerate(order):
        begin = max(end, max(0, i - 1) * piece)
        have[which] += 1
        work = product * have["A" if which == "B" else "B"]
        beside = min(max(copying - begin, 0.0), work * BESIDE_COPIES)
        end = begin + work + beside * (1 - 1 / BESIDE_COPIES)
    return one_gpu_ms / (gpus * end)


def read():
    texts = set(COLUMNS) - {*WHOLE, *REAL}
    kinds = rows.kinds(COLUMNS, texts, WHOLE)
    return rows.read_table(PATH, kinds, lambda row: ("link_gbs", "hidden"))


def product_of(row):
    return tuple(row[name] for name in ("gpu", "precision", "gpus", "M", "N", "K"))


def write(found):
    rows.write_table(PATH, COLUMNS, sorted(found, key=product_of))


def rows_of(report, machine, gpus):
    """One row for each way in which the chapter has divided the product."""
    figures = {figure["name"]: figure["value"] for figure in report["measured"]}
    units = {figure["name"]: figure["unit"] for figure in report["measured"]}
    common = {name: machine[name] for name in COLUMNS if name in machine}
    common.update({name: report[name] for name in ("precision", "M", "N", "K")})
    common.update(gpus=gpus, queued="yes", one_gpu_ms=figures["one GPU"])
    return [
        common
        | {
            "way": name,
            "share": share,
            "link_gbs": figures.get(LINKS.get(name)),
            "hidden": figures.get(HIDDEN.get(name)),
        }
        for name, share in figures.items()
        if units[name].startswith("of P times")
    ]


def main():
    here = measure.output(["nvidia-smi", "-L"]).count("GPU ")
    if here < 2:
        print(
            "this needs at least two NVIDIA GPUs; README.md shows what was measured on ours",
            file=sys.stderr,
        )
        return measure.CANNOT
    machine, wrong, code = measure.look_around(CHAPTER)
    program = measure.programs().get(CHAPTER)
    for gpus in (count for count in (2, 4, 8, here) if count <= here and not wrong):
        for precision in PRECISIONS:
            for size in SIZES:
                options = ["--gpus", str(gpus), "--precision", precision, "--one-shape"]
                report, wrong, code = measure.ask(
                    program, *3 * [str(size)], "--reps", "2", *options
                )
                if wrong:
                    break
                new = rows_of(report, machine, gpus)
                keep = [row for row in read() if product_of(row) != product_of(new[0])]
                write(keep + new)
                for row in new:
                    print(
                        f"{precision} {size:6,} on {gpus}: {row['way']:20} {row['share']:.3f}",
                        flush=True,
                    )
    if wrong:
        print(wrong, file=sys.stderr)
    return code


if __name__ == "__main__":
    ending.run(main)
