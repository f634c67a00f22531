#!/usr/bin/env python3
"""make tables: writes the generated blocks of the READMEs.

    <!-- BEGIN generated: chapters first=0 last=6 -->       chapters, their ideas, and what GPU they need
    <!-- BEGIN generated: notebooks -->                     every notebook and its experiment
    <!-- BEGIN generated: ladder gpu=h200 size=4096 -->     every chapter at one size
    <!-- BEGIN generated: tensor_ladder gpu=h200 -->        the chapters that are not in fp32
    <!-- BEGIN generated: chapter n=5 gpu=h200 -->          one chapter at every size
    <!-- BEGIN generated: many_gpus gpu=h200 -->            several GPUs beside one
    <!-- BEGIN generated: changes n=5 gpu=h200 lines=40 --> what each change brought, and that no
                                                            more lines of code differ; with
                                                            before=3: from chapter 3's
    <!-- BEGIN generated: shapes n=13 gpu=h200 -->          one chapter at many shapes, beside the best
                                                            of cuBLAS
    <!-- BEGIN generated: power n=16 gpu=h200 -->           one chapter in a burst and for seconds
    <!-- BEGIN generated: tried n=5 gpu=h200 -->            what was tried and not kept
    <!-- BEGIN generated: profile n=5 gpu=h200 -->          Nsight Compute's counters
    <!-- BEGIN generated: slots gpu=h200 -->                the same, of every chapter
    <!-- BEGIN generated: errors gpu=h200 -->              chapter 18's errors beside cuBLAS'
    <!-- BEGIN generated: bounds gpu=h200 size=4096 -->     the least times, beside the measured
    <!-- BEGIN generated: lens n=5 size=256 -->             what the emulator's lens counted
    <!-- END generated -->                                  ends each

The first two are what chapters say of themselves, and headings of notebooks. The ladder and a
chapter's times come from results/<gpu>.csv, the next from results/tried.csv and profiles.csv,
and are empty while those hold nothing for them; only a change has to be measured. The last two
build the chapters for the emulator and run them. --check writes nothing and exits with 1 if a block
is not what it should be; with names (README.md ...), only those files.
"""

import argparse
import inspect
import json
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

import bounds
import chapters
import ending
import many_gpus
import measure
import power
import profiles
import rows
import tried as tried_out

BLOCK = re.compile(
    r"^<!-- BEGIN generated: (\w+)((?: \w+=\w+)*) -->\n(.*?)"
    r"^<!-- END generated -->$",
    re.M | re.S,
)


class Mistake(Exception):
    """Something that a person has to put right; the message says what."""


def table(alignment, head, body):
    """A Markdown table; alignment is a letter a column: l or r."""
    rule = ["---:" if letter == "r" else "---" for letter in alignment]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, rule, *body])


def measured_on(shown, how_many="one"):
    first = shown[0]
    return (
        f"Measured on {how_many} {first['gpu']}, {first['sms']} SMs at {first['clock_mhz']:,.0f} "
        f"MHz, CUDA {rows.span(row['cuda'] for row in shown)}, driver "
        f"{rows.span(row['driver'] for row in shown)}, {rows.span(row['date'] for row in shown)}"
    )


def csv_of(gpu):
    return rows.read(rows.ROOT / "results" / f"{gpu}.csv")


def by_shares(precision):
    """Whether two kernels are compared by their shares of cuBLAS, or by their speeds. In fp32 the clock stays, and
    speeds differ less from run to run; on tensor cores power moves the clock of both."""
    return precision != rows.PRECISIONS[0]


def times(new, old):
    name = "ratio_median" if by_shares(new["precision"]) else "gflops"
    return f"{new[name] / old[name]:.2f}" if old else ""


def percent(row):
    return f"{100 * row['ratio_median']:.1f} %"


# ---- the blocks: each takes the page it stands on and its arguments, and returns Markdown ----


def link(page, text, path):
    return f"[{text}]({os.path.relpath(path, page.parent)})"


def named(number):
    """A chapter's number and name, and its idea: the two halves of its title."""
    name, _, idea = chapters.describe(number)["title"].partition(": ")
    return f"{number} {name}", idea


OLDEST = 75  # the compute capability from which the Toolkits that are asked for compile


def needed(number):
    """What GPU a chapter runs on: the compute capability, and whether later ones are like it."""
    told = chapters.describe(number)
    least = told["min_capability"] or OLDEST
    only = " only" if told["max_capability"] else ""
    several = ", two or more" if told["several_gpus"] else ""
    return f"{least // 10}.{least % 10}{only}{several}"


def chapter_list(page, first, last=None):
    """From `first` to `last`, or to whatever chapters there are."""
    body = []
    for number in chapters.numbers():
        if int(first) <= number and (last is None or number <= int(last)):
            name, idea = named(number)
            folder = chapters.folder(number)
            body.append([link(page, name, folder), idea, needed(number)])
    return table("llr", ["chapter", "the idea", "GPU from"], body)


def notebook_list(page):
    body = []
    for number in chapters.numbers():
        source = rows.ROOT / "notebooks" / f"{chapters.folder(number).name}.md"
        experiment = re.search(r"^## Change something: (.+)$", source.read_text(), re.M)
        if not experiment:
            raise Mistake(f"notebooks/{source.name} has no '## Change something: ...'")
        shown = link(page, named(number)[0], source.with_suffix(".ipynb"))
        body.append([shown, experiment[1]])
    return table("ll", ["notebook", "the experiment"], body)


def one_before(number, measured):
    """The last chapter before this one that was measured; None before the first kernel: chapter 0
    is cuBLAS, which that does not build upon."""
    return max((n for n in measured if 0 < n < number), default=None)


def ladder(page, gpu, size):
    shown = rows.of_size(csv_of(gpu), int(size))
    if not shown:
        return ""
    body = []
    for chapter, row in shown.items():
        folder = chapters.folder(chapter)
        if not folder:
            raise Mistake(
                f"results/{gpu}.csv has a chapter {chapter}, chapters/ has none"
            )
        before = shown.get(one_before(chapter, shown))
        body.append(
            [
                str(chapter),
                link(page, row["title"], folder),
                f"{row['gflops']:,.0f}",
                times(row, before),
                percent(row),
            ]
        )
    size = int(size)
    head = ["", f"M = N = K = {size:,}", "GFLOP/s", "× the one before", "of cuBLAS"]
    beside = [row["cublas_gflops"] for row in shown.values()]
    return (
        table("rlrrr", head, body)
        + "\n"
        + measured_on(list(shown.values()))
        + ". Medians; every run starts with a cold L2 and has a run of cuBLAS, also in "
        "fp32, for its neighbour. The percentages are of these neighbours, which ran at "
        f"{min(beside):,.0f} to {max(beside):,.0f} GFLOP/s: so they do not grow just as the speeds do.\n"
        "`make ladder` measures it again.\n"
    )


TENSOR_SIZES = (4096, 8192)


def tensor_ladder(page, gpu):
    """The chapters that are not in fp32, the squares of two sizes side by side; and what the most GPUs reach
    together, beside one GPU's cuBLAS."""
    every, body, shown, note = csv_of(gpu), [], [], ""
    for precision in rows.PRECISIONS[1:]:
        sizes = [rows.of_size(every, size, precision) for size in TENSOR_SIZES]
        cublas = [
            statistics.median(row["cublas_gflops"] for row in of_size.values())
            if of_size
            else None
            for of_size in sizes
        ]
        numbers = sorted({number for of_size in sizes for number in of_size})
        if numbers:
            body.append(["", f"cuBLAS in {precision}"])
        for speed in cublas if numbers else ():
            body[-1] += [f"{speed / 1000:,.0f}", "", "100 %"] if speed else [""] * 3
        for number in numbers:
            row = next(of_size[number] for of_size in sizes if number in of_size)
            folder = chapters.folder(number)
            body.append([str(number), f"{link(page, row['title'], folder)}, {precision}"])
            for of_size in sizes:
                row = of_size.get(number)
                before = of_size.get(one_before(number, of_size))
                body[-1] += (
                    [f"{row['gflops'] / 1000:,.0f}", times(row, before), percent(row)]
                    if row
                    else [""] * 3
                )
                shown += [row] if row else []
        of_several = together(page, gpu, precision, cublas)
        body += of_several
        if of_several:
            note = (
                f" Chapter {many_gpus.CHAPTER}'s row is of several such GPUs, in turns with one of them "
                "(`make many-gpus`); its percentages are of the line of cuBLAS."
            )
    if not shown:
        return ""
    head = ["", "TFLOP/s"]
    for size in TENSOR_SIZES:
        head += [f"{size:,}", "× the one before", "of cuBLAS"]
    return (
        table("rlrrrrrr", head, body)
        + "\nM = N = K. "
        + measured_on(shown)
        + ". Medians; every run starts with a cold L2 and has a run of cuBLAS at the same "
        "precision for its neighbour: the fastest of cublasGemmEx and what cublasLt proposes. "
        "The percentages are of these neighbours, not of the line of cuBLAS, and × is one "
        "percentage divided by the one before. The clock changes from run to run, and cuBLAS' "
        f"speed with it, so fewer TFLOP/s may be a larger share.{note}\n"
        "`make ladder` measures it again.\n"
    )


def together(page, gpu, precision, cublas):
    """The row of the chapter about several GPUs: the best way to divide a product among the most of them."""
    mine = [
        row
        for row in many_gpus.read()
        if measure.key_of(row["gpu"]) == gpu and row["precision"] == precision
    ]
    if not mine:
        return []
    most = max(row["gpus"] for row in mine)
    number = many_gpus.CHAPTER
    title = chapters.describe(number)["title"]
    line = [
        str(number),
        f"{link(page, title, chapters.folder(number))}: {most} GPUs, {precision}",
    ]
    for size, one in zip(TENSOR_SIZES, cublas):
        found = [row for row in mine if row["gpus"] == most and row["N"] == size]
        if not found:
            line += [""] * 3
            continue
        ours = [row for row in found if row["way"] != many_gpus.LIBRARIES]
        best = max(ours, key=lambda row: row["share"])
        speed = best["share"] * most * 2 * size**3 / best["one_gpu_ms"] / 1e9  # TFLOP/s
        of_one = f"{100 * speed * 1000 / one:.0f} % of one GPU's cuBLAS" if one else ""
        line += [f"{speed:,.0f}", "", of_one]
    return [line]


def square(row):
    return row["M"] == row["N"] == row["K"]


def times_of(number, every, precision):
    """One chapter's rows at one precision, beside those of the chapter before it; "" without rows."""
    every = [row for row in rows.plain(every) if row["precision"] == precision]
    mine = [row for row in every if row["chapter"] == number]
    last = one_before(number, (row["chapter"] for row in every))
    before = {
        (row["M"], row["N"], row["K"]): row for row in every if row["chapter"] == last
    }
    thousands = precision != "fp32"
    unit, scale = ("TFLOP/s", 1000) if thousands else ("GFLOP/s", 1)

    def speed(row):
        value = row["gflops"] / scale
        return f"{value:,.1f}" if thousands and value < 100 else f"{value:,.0f}"

    body = []
    for row in sorted(
        mine, key=lambda row: (not square(row), row["M"], row["N"], row["K"])
    ):
        old = before.get((row["M"], row["N"], row["K"]))
        size = f"{row['M']:,}"
        if not square(row):
            size = " × ".join(f"{row[name]:,}" for name in "MNK")
        cells = [
            size,
            f"{row['kernel_ms_median']:.4g}",
            f"{row['kernel_ms_p10']:.4g} to {row['kernel_ms_p90']:.4g}",
            speed(row),
            percent(row),
        ]
        if before:
            cells += [speed(old) if old else "", times(row, old)]
        body.append(cells)
    head = [
        "M = N = K" if all(map(square, mine)) else "M × N × K",
        "ms",
        "10th to 90th percentile",
        unit,
        "of cuBLAS",
    ]
    if before:
        head += [f"chapter {last}, {unit}", f"× chapter {last}"]
    return table("r" * len(head), head, body)


def chapter(page, n, gpu):
    every = csv_of(gpu)
    number = int(n)
    mine = [row for row in rows.plain(every) if row["chapter"] == number]
    if not mine:
        return ""
    text = ""
    precisions = dict.fromkeys(row["precision"] for row in sorted(mine, key=rows.what))
    for precision in sorted(precisions, key=rows.PRECISIONS.index):
        if len(precisions) > 1:
            text += f"In {precision}:\n\n"
        text += times_of(number, every, precision) + "\n"
    text += measured_on(mine) + "."
    if "× chapter" in text and any(map(by_shares, precisions)):
        text += " × compares shares of cuBLAS."
    text += "\n"
    peaks = rows.measured(mine)
    if peaks:
        text += "\n" + table(
            "lr",
            ["also measured", ""],
            [[name, f"{value:,.4g} {unit}"] for name, (value, unit) in peaks.items()],
        )
    if rows.roof(mine):
        peak, slope = rows.roof(mine)
        text += (
            f"\nRidge point: {peak / slope:.1f} FLOP per byte. With fewer, memory sets the "
            "limit; with more, the multiply-adds.\n"
        )
    return text


def several_gpus(page, gpu):
    shown = [row for row in many_gpus.read() if measure.key_of(row["gpu"]) == gpu]
    if not shown:
        return ""
    ways = list(dict.fromkeys(row["way"] for row in shown))
    counts = [row["gpus"] for row in shown]

    def percent(share):
        return "" if share is None else f"{100 * share:.1f} %"

    hiding = [
        way
        for way in many_gpus.HIDDEN
        if any(row["hidden"] is not None for row in shown if row["way"] == way)
    ]
    shares, links = [], []
    products = dict.fromkeys(
        (*(row[name] for name in ("precision", "gpus", "N", "one_gpu_ms", "queued")),)
        for row in shown
    )
    for precision, gpus, size, alone, queued in products:
        found = {
            row["way"]: row
            for row in shown
            if (row["precision"], row["gpus"], row["N"]) == (precision, gpus, size)
        }
        what = [precision, f"{gpus}" + "*" * (queued == "no"), f"{size:,}"]
        model = [
            many_gpus.predicted(precision, gpus, size, alone, across)
            for across in (1, many_gpus.squarest(gpus))
        ]
        shares.append(
            [*what, f"{alone:.4g}"]
            + [percent(found[way]["share"] if way in found else None) for way in ways]
            + [percent(share) for share in model]
        )
        links.append(
            what
            + [
                f"{found[way]['link_gbs']:,.0f}" if way in found else ""
                for way in many_gpus.LINKS
            ]
            + [percent(found[way]["hidden"] if way in found else None) for way in hiding]
        )
    head = ["", "GPUs", "M = N = K"]
    models = ["model", "model, grid"]
    return (
        table(
            "lrrr" + "r" * len(ways) + "rr",
            [*head, "one GPU, ms", *ways, *models],
            shares,
        )
        + "\n"
        + measured_on(shown, f"{min(counts)} to {max(counts)}")
        + ". Shares of P times the speed of one GPU, medians of 7 in turns with it, all enqueued "
        "while the GPUs were busy"
        + (
            " (*: at rest, so the host's calls are part of the time)"
            if any(row["queued"] == "no" for row in shown)
            else ""
        )
        + ". `make many-gpus` measures it again.\n\n"
        + table(
            "lrrrrrr",
            [
                *head,
                "NCCL, GB/s",
                "copy engines, GB/s",
                "NCCL hides",
                "copy engines hide",
            ],
            links,
        )
        + "\nWhat each GPU receives while nothing is multiplied; and the part of that time "
        "that is hidden behind products, (fetches + products - both) / fetches, each alone "
        "and both together from events.\n"
    )


def tried_rows(n, gpu):
    """(the chapter as it is, [(diff, row)] the fastest first) of results/tried.csv; None, [] while
    there is nothing. A row's `base` is the chapter as it is with the row's product."""
    mine = [
        row
        for row in tried_out.read()
        if row["chapter"] == int(n) and measure.key_of(row["gpu"]) == gpu
    ]
    bases = {product_of(row): row for row in mine if not row["tried"]}
    found = {row["tried"]: row for row in mine if row["tried"]}
    paths = tried_out.diffs(int(n))
    if mine and set(paths) != set(found):
        differ = ", ".join(sorted(set(paths) ^ set(found)))
        raise Mistake(
            f"results/tried.csv and chapter {n}'s tried/ differ: {differ}: `make tried`"
        )
    of_diffs = [
        (path, found[name] | {"base": bases[product_of(found[name])]})
        for name, path in paths.items()
        if found
    ]
    return bases.get(tried_out.product_of(int(n))), sorted(
        of_diffs, key=lambda pair: -left_with(pair[1], gpu)
    )


def product_of(row):
    return tuple(row[name] for name in ("M", "N", "K", "precision"))


def left_with(row, gpu):
    """How many times as fast a chapter is with a diff."""
    _, precision = counted_with(row["chapter"], gpu)
    name = "ratio" if by_shares(precision) else "gflops"
    return row[name] / row["base"][name]


def title_of(path, row, base):
    """What a diff does, and with which product it was measured if not with the chapter's."""
    if product_of(row) == product_of(base):
        return tried_out.title(path)
    *shape, precision = product_of(row)
    product = " × ".join(f"{number:,}" for number in shape)
    return f"{tried_out.title(path)}: {product}{precision and f' in {precision}'}"


def origin_of_tried(base, shown, gpu):
    compares = (
        ". × compares shares of the cuBLAS that ran beside each, so it is not quite the "
        "quotient of the GFLOP/s."
        if by_shares(counted_with(base["chapter"], gpu)[1])
        else "."
    )
    return (
        measured_on([base, *(row for _, row in shown)])
        + (
            f"; medians of {base['turns']} turns"
            if base["turns"] > 1
            else "; one turn each"
        )
        + compares
        + "\n`make tried` measures it again; "
    )


def changes(page, n, gpu, lines, before=None):
    """What each change of a chapter against the one before brought, by the patch that takes it back
    alone. What differs is counted from the chapter `before`, which is the last but for those that build
    upon another."""
    number = int(n)
    base, shown = tried_rows(n, gpu)
    shown = [(path, row) for path, row in shown if tried_out.takes_back(path)]
    if not shown:
        raise Mistake(
            f"no change of chapter {n} is measured: results/tried.csv has no row of a diff in "
            f"tried/ that begins with {tried_out.BACK!r}: `make tried`"
        )
    body = [
        [
            link(page, title_of(path, row, base), path),
            f"{row['gflops']:,}",
            f"× {1 / left_with(row, gpu):.3f}",
        ]
        for path, row in reversed(shown)
    ]
    head = ["what changes", "GFLOP/s without it", "it brings"]
    moved = what_moves(number, gpu, [path for path, _ in reversed(shown)])
    with_counters(head, body, moved)
    last = int(before) if before else one_before(number, chapters.numbers())
    differ = changed_lines(number, last)
    if differ > int(lines):
        raise Mistake(
            f"{differ} lines of code differ from chapter {last}'s, more than the {lines} that "
            "this page allows: take out what is not the idea, or raise the bound and say why"
        )
    return (
        table("lrr" + "l" * (len(head) - 3), head, body)
        + f"\nThe whole chapter reaches {base['gflops']:,} GFLOP/s at M = N = K = {base['M']:,}. "
        f"Without comments, {differ} lines of `matmul.cu` differ from chapter {last}'s. "
        + origin_of_tried(base, shown, gpu)
        + "in the repository's root `patch -p1 <FILE` takes a change back, and "
        "`patch -R -p1 <FILE` restores it.\n"
    )


def what_moves(chapter, gpu, paths):
    """Of each diff, in words, on what the warps' clocks change most with the change that it is about: with the
    change that it takes back, or with the one that it makes. "" of a diff that is not counted."""
    counted, precision = counted_with(chapter, gpu)
    found = []
    for path in paths:
        values = profiles.counted(gpu, path.stem, precision).get(chapter)
        if not values or chapter not in counted:
            found.append("")
        elif tried_out.takes_back(path):
            found.append(moves(*profiles.moved(values, counted[chapter])))
        else:
            found.append(moves(*profiles.moved(counted[chapter], values)))
    return found


def with_counters(head, body, moved):
    """Adds the column of what_moves to a table, if any of its diffs is counted."""
    if any(moved):
        head.append("what moves most, 10⁹ clocks of all warps")
        for cells, what in zip(body, moved, strict=True):
            cells.append(what)


def moves(what, before, after):
    digits = 2 if max(before, after) >= 1 else 3
    before, after = f"{before:.{digits}f}", f"{after:.{digits}f}"
    if before == after:
        return "nothing"
    return f"{stall_name(what)} {before} → {after}"


def changed_lines(number, last):
    """Of two chapters' kernels and launchers."""
    after, before = (
        (chapters.folder(which) / "matmul.cu").read_text() for which in (number, last)
    )
    return chapters.changed_lines(before, after)


def tried(page, n, gpu):
    base, shown = tried_rows(n, gpu)
    if not base:
        return ""
    shown = [(path, row) for path, row in shown if not tried_out.takes_back(path)]
    body = [
        [
            "the chapter as it is",
            f"{base['gflops']:,}",
            f"{100 * base['ratio']:.1f} %",
            "",
        ]
    ]
    for path, row in shown:
        body.append(
            [
                link(page, title_of(path, row, base), path),
                f"{row['gflops']:,}",
                f"{100 * row['ratio']:.1f} %",
                f"{left_with(row, gpu):.3f}",
            ]
        )
    head = [f"M = N = K = {base['M']:,}", "GFLOP/s", "of cuBLAS", f"× chapter {n}"]
    with_counters(head, body, ["", *what_moves(int(n), gpu, [path for path, _ in shown])])
    return (
        table("lrrr" + "l" * (len(head) - 4), head, body)
        + "\n"
        + origin_of_tried(base, shown, gpu)
        + "in the repository's root `patch -p1 <FILE` makes a change, and "
        "`patch -R -p1 <FILE` undoes it.\n"
    )


def kind_of_numbers(shape):
    return "multiples of 8" if all(n % 8 == 0 for n in shape) else "odd numbers"


def largest(some, numbers):
    return max(max(shape) for shape in some if kind_of_numbers(shape) == numbers)


def shapes(page, n, gpu):
    """The shapes of <gpu>_shapes.csv: milliseconds of the best that cuBLAS has, and how many times as fast
    chapter n is, in each of its precisions; of those that were drawn at random, the least, the mean and how many
    are behind."""
    every = [row for row in csv_of(f"{gpu}_shapes") if row["chapter"] == int(n)]
    if not every:
        return ""
    wanted, drawn = measure.many_shapes()
    precisions = sorted({row["precision"] for row in every})
    head, least, mean = ["M × N × K"], ["**least**"], ["**geometric mean**"]
    body, at_random = {}, {"multiples of 8": [], "odd numbers": []}
    for row in every:
        M, N, K = shape = row["M"], row["N"], row["K"]
        if shape not in drawn:
            body[shape] = [f"{M:,}" if M == N == K else f"{M:,} × {N:,} × {K:,}"]
    for precision in precisions:
        found = {
            (row["M"], row["N"], row["K"]): row
            for row in every
            if row["precision"] == precision
        }
        for shape, line in body.items():
            row = found.get(shape)
            line += (
                [f"{row['cublas_ms_median']:.4g}", f"{row['ratio_median']:.2f}"]
                if row
                else ["", ""]
            )
        ratios = [row["ratio_median"] for shape, row in found.items() if shape in body]
        kind = "" if precisions == ["fp32"] else f" in {precision}"
        for numbers, same in at_random.items():
            others = [
                row["ratio_median"]
                for shape, row in found.items()
                if shape in drawn and numbers == kind_of_numbers(shape)
            ]
            if others:
                same.append(
                    f"geometric mean {statistics.geometric_mean(others):.2f} of {len(others)}{kind}, the least "
                    f"{min(others):.2f}, and {sum(ratio < 0.995 for ratio in others)} more than half a percent behind"
                )
        head += [f"cuBLAS{kind}, ms", f"times as fast{kind}"]
        least += ["", f"**{min(ratios):.2f}**"]
        mean += ["", f"**{statistics.geometric_mean(ratios):.2f}**"]
    in_order = sorted(
        body,
        key=lambda shape: (
            wanted.index(shape) if shape in wanted else len(wanted),
            shape,
        ),
    )
    return (
        table("r" * len(head), head, [least, mean, *(body[shape] for shape in in_order)])
        + f"\n{len(body)} shapes. cuBLAS is the fastest of cublasGemmEx and cublasLt's 32 proposals with "
        "64 MB of workspace; a number above 1 says that the chapter is faster. "
        + measured_on(every)
        + ". `make shapes` measures it again.\n"
        + "".join(
            f"\nOther shapes, drawn at random, {numbers} up to {largest(drawn, numbers):,} each way: "
            f"{'; '.join(same)}.\n"
            for numbers, same in at_random.items()
            if same
        )
    )


def watts(page, n, gpu):
    """Chapter n beside cuBLAS in a burst and in a long run: rows of results/power.csv."""
    mine = [
        row
        for row in power.read()
        if row["chapter"] == int(n) and measure.key_of(row["gpu"]) == gpu
    ]
    if not mine:
        return ""
    body = [
        [
            f"{row['M']:,}",
            row["precision"],
            f"{row['how']}, {row['runs']:,}",
            f"{row['kernel_ms']:.4g}",
            f"{row['cublas_ms']:.4g}",
            f"{100 * row['ratio']:.1f} %",
            f"{100 * row['ratio_p10']:.1f} to {100 * row['ratio_p90']:.1f} %",
            f"{row['mhz']:,.0f}" if row["mhz"] else "",
            f"{row['watts']:,.0f}" if row["watts"] else "",
        ]
        for row in mine
    ]
    head = ["M = N = K", "", "runs", "ms", "cuBLAS, ms", "of cuBLAS"]
    head += ["10th to 90th percentile", "MHz", "W"]
    return (
        table("rlrrrrrrr", head, body)
        + f"\nA burst is {power.BURST} products of either after a pause of {power.PAUSE_S} s, in turns; "
        f"a sustained run goes on for about {power.LONG_MS // 1000} s. Clock and power: medians of what "
        "nvidia-smi said meanwhile. "
        + measured_on(mine)
        + ". `make power` measures it again.\n"
    )


STALLS = {
    "mio_throttle": "MIO throttle",
    "lg_throttle": "LG throttle",
    "selected": "instructions",
}


def stall_name(stall):
    """A reason as Nsight Compute's pages write it."""
    return STALLS.get(stall, stall.replace("_", " "))


def counted_with(number, gpu):
    """(what profiles.counted() returns for the precision in which a chapter was counted, that precision)."""
    for precision in rows.PRECISIONS:
        every = profiles.counted(gpu, precision=precision)
        if number in every:
            return every, precision
    return {}, rows.PRECISIONS[0]


def profile(page, n, gpu):
    number = int(n)
    every, precision = counted_with(number, gpu)
    if not every:
        return ""
    # The chapter before, this one, and cuBLAS, which is chapter 0.
    shown = [*filter(None, (one_before(number, every), number)), 0]
    shown = [n for n in shown if n in every]
    on_tensor_cores = any(profiles.tensor(every[n])[1] for n in shown)
    on_the_others = any(profiles.slots(every[n])[1] > 0.05 for n in shown)

    def line(name, show):
        return [name, *(show(every[number]) for number in shown)]

    def spent(clocks):
        return f"{clocks:.2g}" if clocks < 10 else f"{clocks:,.0f}"

    def waits(values):
        return ", ".join(
            f"{stall_name(stall)} {spent(clocks)}"
            for stall, clocks in profiles.waits(values)
        )

    def chosen_later(values):
        return spent(
            profiles.clocks(values, "not_selected") / profiles.clocks(values, "selected")
        )

    def product(values):
        used, share = profiles.slots(values)
        return f"{100 * used * share:.1f} %"

    body = [
        line(
            "instructions of a warp, billions",
            lambda v: f"{v['smsp__inst_executed.sum'] / 1e9:.3g}",
        ),
        on_the_others
        and line(
            "of them multiply-adds", lambda v: f"{100 * profiles.slots(v)[1]:.1f} %"
        ),
        *(
            line(words, lambda v, at=at: f"{100 * profiles.tensor(v)[at]:.1f} %")
            for at, words in enumerate(
                ("of them for the tensor cores", "tensor cores at work, of the time")
            )
            if on_tensor_cores
        ),
        line("issue slots in use", lambda v: f"{100 * profiles.slots(v)[0]:.1f} %"),
        on_the_others and line("slots with a multiply-add", product),
        line(
            "warps on an SM, of 64",
            lambda v: f"{v['sm__warps_active.avg.per_cycle_active']:.1f}",
        ),
        line("a warp waits for …, clocks per instruction", waits),
        line("is ready, but not selected, clocks per instruction", chosen_later),
        line(
            "from L2 to the SMs, GB",
            lambda v: f"{v['l1tex__m_xbar2l1tex_read_bytes.sum'] / 1e9:.2f}",
        ),
        line(
            "from device memory, GB", lambda v: f"{v['dram__bytes_read.sum'] / 1e9:.2f}"
        ),
    ]
    head = [
        f"M = N = K = {profiles.SIZE:,}, {precision}",
        *(f"chapter {number}" if number else "cuBLAS" for number in shown),
    ]
    meaning = os.path.relpath(rows.ROOT / "chapters" / "MEASURING.md", page.parent)
    origin = profiles.origin(gpu, shown, precision)
    return (
        table("l" + "r" * len(shown), head, [row for row in body if row])
        + f"\nCounted by Nsight Compute on one {origin}; `make profiles` counts again. What the rows "
        f"say: [MEASURING.md]({meaning}#what-the-profiler-counts).\n"
    )


def slots(page, gpu):
    every = profiles.counted(gpu)
    body = []
    for number in sorted(every, key=lambda number: number or 99):
        if profiles.tensor(every[number])[1]:
            continue  # multiply-adds are not what it issues
        used, share = profiles.slots(every[number])
        body.append(
            [
                f"chapter {number}" if number else "cuBLAS",
                f"{100 * used:.1f} %",
                f"{100 * share:.1f} %",
                f"{100 * used * share:.1f} %",
            ]
        )
    if not body:
        return ""
    head = [
        f"M = N = K = {profiles.SIZE:,}",
        "issue slots in use",
        "of them multiply-adds",
        "slots with a multiply-add",
    ]
    return (
        table("lrrr", head, body)
        + f"\nCounted by Nsight Compute on one {profiles.origin(gpu, every)}; `make profiles` counts again.\n"
    )


def read_errors(gpu):
    """What `results/errors families` printed on the GPU: chapter 18 and cuBLAS in turns."""
    source = rows.ROOT / "results" / f"errors_{gpu}.csv"
    columns = ("M", "N", "K", "inputs", "who", "ms", "rms", "most", "hash")
    texts, whole = ("inputs", "who", "hash"), ("M", "N", "K")
    return rows.read_table(source, rows.kinds(columns, texts, whole))


def errors(page, gpu):
    """The errors at each K, a line for each kind of input: chapter 18's beside cuBLAS'."""
    found = read_errors(gpu)
    if not found:
        return ""
    body = []
    for mine, cublas in zip(found[::2], found[1::2]):
        speed = cublas["ms"] / mine["ms"]
        pairs = [f"{row[name]:.1e}" for name in ("rms", "most") for row in (mine, cublas)]
        body.append([mine["inputs"], f"{mine['K']:,}", f"{speed:.2f}", *pairs])
    head = ["inputs", "K", "× cuBLAS' speed", "rms", "cuBLAS' rms"]
    head += ["largest", "cuBLAS' largest"]
    side = found[0]["M"]
    return (
        table("lrrrrrr", head, body)
        + f"\nM = N = {side:,}; the errors of {256**2:,} elements. `results/errors.cu` measures "
        "it again.\n"
    )


def bounds_beside(page, gpu, size):
    of_size = rows.of_size(csv_of(gpu), int(size))
    shown = {n: row for n, row in of_size.items() if 0 < n <= bounds.LAST}
    body = []
    for number, row in shown.items():
        seconds, resource = bounds.bound(number, int(size), gpu)
        measured = row["kernel_ms_median"]
        if 1e3 * seconds > measured:
            raise Mistake(f"chapter {number} was measured faster than its bound")
        body.append(
            [
                str(number),
                f"{1e3 * seconds:.4g}",
                bounds.WHY[resource],
                f"{measured:.4g}",
                f"{1e5 * seconds / measured:.0f} %",
            ]
        )
    if not body:
        return ""
    head = ["chapter", "no less than, ms", "because", "measured, ms", "bound of measured"]
    return (
        table("rrlrr", head, body)
        + f"\nM = N = K = {int(size):,}. The bound: `python3 results/bounds.py {size}`, by the "
        f"emulator's lens and the rates of an {gpu.upper()}. "
        + measured_on(list(shown.values()))
        + ".\n"
    )


BY_COPY_ENGINE = ("bulk copy", "bulk store")


def lens(page, n, size):
    report = json.loads(run_lens(int(n), int(size), LENS="json"))
    text = ""
    for kernel in report["kernels"]:
        if not kernel["results"]:
            raise Mistake(f"the lens saw chapter {n} store nothing")
        launches = kernel["launches"]
        body = []
        for line in kernel["lines"]:
            banks = "wavefronts" in line
            unit = "wavefront" if banks else "sector"
            cost = line[unit + "s"] / line["requests"]
            if banks:
                waste = f"{line['conflicts'] // launches:,} bank conflicts"
            else:
                waste = (
                    f"{line['bytes_used'] / line['sectors']:.3g} of 32 bytes used of each"
                )
            code = line["text"].replace("|", "\\|")
            file = Path(line["file"]).name
            body.append(
                [
                    str(line["line"])
                    if file == "matmul.cu"
                    else f"{file}:{line['line']}",
                    f"`{code}`",
                    line["kind"],
                    "" if line["kind"] in BY_COPY_ENGINE else str(line["bytes"]),
                    f"{line['requests'] // launches:,}",
                    f"{cost:.4g} {unit}{'' if cost == 1 else 's'}",
                    waste,
                ]
            )
        head = ["line", "", "access", "bytes per lane", "requests", "per request", ""]
        text += table("rllrrrl", head, body) + "\n"
        if not kernel["flop"]:
            continue
        loads = []
        for place, kinds in (
            ("global", ("global load", "async copy, read")),
            ("shared", ("shared load",)),
        ):
            of_place = [line for line in kernel["lines"] if line["kind"] in kinds]
            results = launches * int(size) ** 2
            count = sum(line["lanes"] for line in of_place) / results
            asked = sum(line["lanes"] * line["bytes"] for line in of_place) / results
            loads.append(f"{count:,.4g} from {place} memory ({asked:,.4g} bytes)")
        brought = sum(
            line["bytes_used"] for line in kernel["lines"] if line["kind"] == "bulk copy"
        )
        if brought:
            loads.append(f"{brought / results:,.4g} bytes by the copy engine")
        flop = 2 * int(size) ** 3 * launches / kernel["requested_load_bytes"]
        of_words = ", which prints loads for each 4 bytes of C"
        text += (
            f"Loads for each element of C: {', '.join(loads)}.\n{flop:.4g} FLOP for each "
            f"byte requested from global memory. Counted by `LENS=1 ./chapter{n} {size}` on "
            f"the emulator{of_words if results == 2 * kernel['results'] else ''}.\n\n"
        )
    return text[:-1]


BLOCKS = {
    "chapters": chapter_list,
    "notebooks": notebook_list,
    "ladder": ladder,
    "tensor_ladder": tensor_ladder,
    "many_gpus": several_gpus,
    "chapter": chapter,
    "changes": changes,
    "tried": tried,
    "profile": profile,
    "slots": slots,
    "errors": errors,
    "bounds": bounds_beside,
    "lens": lens,
    "shapes": shapes,
    "power": watts,
}


def run_lens(number, size, **settings):
    """What the lens says about a chapter, in the form that settings["LENS"] names."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "lens.txt"
        chapters.emulate(number, str(size), "--check-only", LENS_OUT=str(out), **settings)
        return out.read_text()


# ---- the pages ----


def pages():
    pages = [rows.ROOT / "README.md", *(rows.ROOT / "notebooks").glob("*.md")]
    written = [page for page in pages if page.name == "README.md"]
    return written + sorted((rows.ROOT / "chapters").rglob("*.md"))


def renewed(page, text):
    """The page's text with every block generated again, the names of those that changed, and what is
    wrong with those that could not be."""
    stale, wrong = [], []
    if text.count("<!-- BEGIN generated") != len(BLOCK.findall(text)):
        raise Mistake(
            "a generated block does not begin and end as results/tables.py says"
        )

    def renew(match):
        name, options, old = match.groups()
        title = name + options
        if name not in BLOCKS:
            raise Mistake(f"there is no generated block of the name {name}")
        values = dict(option.split("=") for option in options.split())
        wanted = inspect.signature(BLOCKS[name])
        try:
            wanted.bind(page, **values)
        except TypeError:
            needed = ", ".join(list(wanted.parameters)[1:])
            raise Mistake(f"{title}: the arguments of {name} are {needed}") from None
        try:
            new = BLOCKS[name](page, **values)
        except Mistake as problem:
            wrong.append(f"{title}: {problem}")
            return match[0]
        new = f"\n{new}\n" if new else ""
        if new != old:
            stale.append(title)
        return f"<!-- BEGIN generated: {title} -->\n{new}<!-- END generated -->"

    return BLOCK.sub(renew, text), stale, wrong


def main():
    parser = argparse.ArgumentParser(
        description="Writes the generated blocks of the READMEs."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing, name what is stale"
    )
    parser.add_argument(
        "page", nargs="*", type=Path, help="only these; default: all READMEs"
    )
    chosen = parser.parse_args()
    wrong = 0
    for page in [page.resolve() for page in chosen.page] or pages():
        name = os.path.relpath(page, rows.ROOT)
        try:
            text = page.read_text()
            new, stale, problems = renewed(page, text)
        except (Mistake, chapters.Broken, ValueError, OSError) as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            wrong += 1
            continue
        for problem in problems:
            print(f"{name}: {problem}", file=sys.stderr)
        wrong += len(problems)
        for title in stale:
            print(
                f"{name}: {title}: "
                + ("stale, `make tables` renews it" if chosen.check else "renewed")
            )
        if chosen.check:
            wrong += len(stale)
        elif stale:
            page.write_text(new)
    return 1 if wrong else 0


if __name__ == "__main__":
    ending.run(main)
