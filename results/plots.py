#!/usr/bin/env python3
"""make plots: images/ladder.svg, sizes.svg and roofline.svg from results/<gpu>.csv, a chapter's
images/NN_stalls.svg from results/profiles.csv where its README shows one, and those of one page each, which
FIGURES names.

The last line of each names what it was made from, by a hash, so that --check can tell without
drawing (and without matplotlib) whether a picture is older than its data.
"""

import argparse
import functools
import hashlib
import io
import json
import math
import re
import statistics
import textwrap

import bounds
import chapters
import ending
import many_gpus
import measure
import profiles
import rows
import tables
from palette import (
    FAINT,
    FONT,
    GLOBAL,
    GREY,
    INK,
    MOVING,
    ON_COLOUR,
    REGISTERS,
    SHARED,
    themed,
)

SIZE = 4096  # the ladder and the roofline are of squares of this size

# A rung has the colour of what its idea is about, as its chapter says.
COLOURS = {
    "": GREY,
    "global memory": GLOBAL,
    "shared memory": SHARED,
    "registers": REGISTERS,
    "copies": MOVING,
}
WIDTH, TEXT = 5.4, 11.0  # inches and points; a phone shows it at nearly this size


def colour(row):
    return COLOURS[row["about"]]


def label(row):
    return textwrap.fill(f"{row['chapter']} · {row['title'].partition(':')[0]}", 26)


def apart(wanted, gap, ceiling=math.inf):
    """Places near the wanted ones and in their order, none above the ceiling, with at least a
    gap between neighbours."""

    def lowest(group):
        """Neighbours in each other's way stand side by side, around the mean of their
        wishes."""
        middle = sum(wanted[i] for i in group) / len(group)
        return min(middle - gap * (len(group) - 1) / 2, ceiling - gap * (len(group) - 1))

    groups = []
    for i in sorted(range(len(wanted)), key=lambda i: wanted[i]):
        groups.append([i])
        while len(groups) > 1 and lowest(groups[-2]) + gap * len(groups[-2]) > lowest(
            groups[-1]
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    places = {
        i: lowest(group) + gap * rank for group in groups for rank, i in enumerate(group)
    }
    return [places[i] for i in range(len(wanted))]


# ---- the pictures ----


def canvas(height, left, right, bottom, top):
    """Axes at fixed places, in inches from the edges: nothing depends on how wide a font is."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(WIDTH, height))
    return figure, place(figure, left, right, bottom, height - bottom - top)


def place(figure, left, right, bottom, tall, spines=("left", "bottom")):
    """More axes, in inches from the left, the right and the lower edge."""
    height = figure.get_figheight()
    axes = figure.add_axes(
        (left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH, tall / height)
    )
    axes.set_facecolor("none")
    for side in {"left", "bottom", "top", "right"} - set(spines):
        axes.spines[side].set_visible(False)
    return axes


def swatches(figure, y, columns, entries):
    """A line of a legend, y inches above the lower edge: (colour, opacity, words) each in its column."""
    from matplotlib.patches import Rectangle

    height = figure.get_figheight()
    for x, (tint, alpha, words) in zip(columns, entries):
        place, size = (x / WIDTH, y / height), (0.1 / WIDTH, 0.1 / height)
        figure.add_artist(Rectangle(place, *size, color=tint, alpha=alpha, linewidth=0))
        figure.text((x + 0.17) / WIDTH, y / height, words, color=GREY)


def thousands(axis):
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def label_ends(axes, ends, x, ceiling=math.inf):
    """Names each (x, y, text, colour) in one column at x, none above the ceiling, with a line to
    what it names."""

    def points(y):
        return axes.transData.transform((1, y))[1] * 72 / axes.figure.dpi

    def data(points):
        return axes.transData.inverted().transform((0, points * axes.figure.dpi / 72))[1]

    ceiling = points(ceiling) if ceiling < math.inf else ceiling
    places = apart([points(y) for _, y, _, _ in ends], 1.25 * TEXT, ceiling)
    for (from_x, y, text, tint), place in zip(ends, places):
        axes.annotate(
            text,
            (from_x, y),
            (x, data(place)),
            color=tint,
            va="center",
            ha="left",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": tint,
                "linewidth": 0.7,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def on_tensor_cores(every):
    """The number of the first chapter that multiplies on tensor cores: none before it measures anything but fp32."""
    return min(
        (row["chapter"] for row in every if row["precision"] == "bf16"), default=math.inf
    )


def bars(axes, shown, scale):
    """A bar for each row, and a line where cuBLAS was that ran beside it. Speeds are divided by the
    scale."""
    neighbours = [row["cublas_gflops"] / scale for row in shown]
    widest = 1.12 * max([*neighbours, *(row["gflops"] / scale for row in shown)])
    axes.set_xlim(0, widest)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.text(
        widest,
        -0.7,
        "line: the cuBLAS beside it, 100 %",
        color=GREY,
        ha="right",
        va="bottom",
    )
    for i, (row, cublas) in enumerate(zip(shown, neighbours)):
        speed = row["gflops"] / scale
        axes.barh(i, speed, height=0.72, color=colour(row))
        # Across a bar on white, so that it is seen.
        for wide, tint in ((3.5, ON_COLOUR), (1.5, INK))[cublas > speed :]:
            axes.vlines(cublas, i - 0.46, i + 0.46, color=tint, linewidth=wide, zorder=3)
        share = f"{100 * row['ratio_median']:.1f} %"
        if row["precision"] != shown[0]["precision"]:
            share += f" of {row['precision']}"
        # Inside a bar that is long enough, and never across cuBLAS' line.
        inside = speed > 0.45 * widest
        end = min(speed, cublas) if inside else speed
        axes.annotate(
            f"{speed:,.0f}  ({share})",
            (end, i),
            (-6 if inside else 5, 0),
            textcoords="offset points",
            ha="right" if inside else "left",
            va="center_baseline",
            color="white" if inside else GREY,
        )
    axes.set_yticks(range(len(shown)), [label(row) for row in shown])
    axes.tick_params(axis="y", length=0)
    thousands(axes.xaxis)


def draw_ladder(every):
    """The chapters that add and multiply in fp32; below, in another unit, those on tensor cores."""
    from matplotlib.ticker import MaxNLocator

    measured, first = rows.of_size(every, SIZE), on_tensor_cores(every)
    groups = [
        (
            [row for chapter, row in measured.items() if 0 < chapter < first],
            f"GFLOP/s in fp32 at M = N = K = {SIZE:,}\n{measured[0]['gpu']}",
            1,
        )
    ]
    narrow = rows.of_size(every, SIZE, "bf16")
    if narrow:
        late = [row for chapter, row in measured.items() if chapter > first]
        groups.append(
            (
                sorted([*narrow.values(), *late], key=lambda row: row["precision"]),
                "TFLOP/s on tensor cores",
                1000,
            )
        )
    heights = [1.2 + 0.33 * len(shown) for shown, _, _ in groups]
    figure, axes = canvas(sum(heights) + 0.55, 2.15, 0.1, 0.8 + sum(heights[1:]), 0.95)
    key = [(tint, 1, about or "other") for about, tint in COLOURS.items()]
    at = (0.1, 1.5, 2.9, 3.83, 4.62)
    swatches(figure, sum(heights) + 0.1, at, [*key[1:], key[0]])
    about = (sum(heights) + 0.35) / figure.get_figheight()
    figure.text(0.1 / WIDTH, about, "what a chapter's idea is about:", color=GREY)
    for at, (shown, words, scale) in enumerate(groups):
        if at:
            bottom = 0.6 + sum(heights[at + 1 :])
            axes = place(figure, 2.15, 0.1, bottom, heights[at] - 1.05)
        bars(axes, shown, scale)
        axes.set_xlabel(words)
        axes.xaxis.set_major_locator(MaxNLocator(3))
    return figure


def draw_sizes(every):
    # Odd sizes beside even ones (4,092 and 4,096) would draw a wall where there is none.
    squares = [
        row
        for row in rows.plain(every)
        if row["M"] == row["N"] == row["K"]
        and row["M"] % 256 == 0
        and row["precision"] == "fp32"
        and row["chapter"] < on_tensor_cores(every)
    ]
    lines = {}
    for row in sorted(squares, key=rows.what):
        lines.setdefault(row["chapter"], []).append(row)
    sizes = sorted({row["M"] for row in squares})
    cublas = [
        (
            size,
            statistics.median(
                row["cublas_gflops"] for row in squares if row["M"] == size
            ),
        )
        for size in sizes
    ]
    figure, axes = canvas(5.6, 1.0, 2.1, 0.65, 0.25)
    axes.set_xscale("log", base=2)
    axes.set_xlim(sizes[0] / 1.1, sizes[-1] * 1.05)
    axes.set_ylim(
        0, 1.05 * max([y for _, y in cublas] + [row["gflops"] for row in squares])
    )
    ends = []
    for chapter, line in lines.items():
        if chapter == 0:
            continue
        axes.plot(
            [row["M"] for row in line],
            [row["gflops"] for row in line],
            "o-",
            color=colour(line[-1]),
            linewidth=1.8,
            markersize=4,
            clip_on=False,
        )
        ends.append(
            (line[-1]["M"], line[-1]["gflops"], label(line[-1]), colour(line[-1]))
        )
    axes.plot(
        *zip(*cublas), color=INK, linewidth=1.8, linestyle=(0, (4, 2)), clip_on=False
    )
    ends.append((*cublas[-1], "cuBLAS", INK))
    label_ends(axes, ends, sizes[-1] * 1.35)
    ticks = [size for size in sizes if size & (size - 1) == 0][::2]
    axes.set_xticks(ticks, [f"{size:,}" for size in ticks])
    axes.minorticks_off()
    axes.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.8)
    thousands(axes.yaxis)
    axes.set_ylabel("GFLOP/s")
    axes.set_xlabel(f"M = N = K, fp32, {squares[0]['gpu']}")
    return figure


def key_of(every):
    return measure.key_of(every[0]["gpu"])


def draw_roofline(every):
    """Two roofs with the same slope: what fp32 multiply-adds and device memory reached when measured; and the
    tensor cores of all SMs at the highest clock in bf16, where chapters have been measured in it."""
    peak, slope = (rate / 1e3 for rate in rows.roof(every))  # TFLOP/s, TB/s
    points = []  # (FLOP per byte requested, moved or None, row)
    for precision in ("fp32", "bf16"):
        moved = profiles.intensity(key_of(every), precision)
        points += [
            (row["flop_per_byte"], moved.get(chapter), row)
            for chapter, row in rows.of_size(every, SIZE, precision).items()
            if chapter and row["flop_per_byte"]
        ]
    tensor = max(
        (row["peak_gflops"] / 1e3 for _, _, row in points if row["precision"] == "bf16"),
        default=None,
    )
    highest, ridge = tensor or peak, peak / slope
    left = 0.125
    right = 1.6 * max(max(64.0, x, came or 0.0) for x, came, _ in points)
    right = max(right, 1.3 * highest / slope)
    low = 0.3 * min([left * slope] + [row["gflops"] / 1e3 for _, _, row in points])
    figure, axes = canvas(6.2, 1.0, 0.75, 1.05, 0.3)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(low, 2.6 * highest)
    axes.plot(
        [left, highest / slope, right],
        [left * slope, highest, highest],
        color=GREY,
        linewidth=2,
    )
    if tensor:
        axes.plot([ridge, right], [peak, peak], color=GREY, linewidth=2)
        axes.text(
            right,
            1.15 * tensor,
            f"tensor cores in bf16, at the\nhighest clock: {tensor:,.0f} TFLOP/s",
            color=GREY,
            ha="right",
            va="bottom",
        )
    axes.text(
        10 * ridge,
        1.15 * peak,
        f"multiply-adds:\n{peak:.1f} TFLOP/s",
        color=GREY,
        ha="center",
        va="bottom",
    )
    axes.plot([ridge, ridge], [low, peak], color=GREY, linewidth=1, linestyle=(0, (2, 3)))
    axes.text(
        1.15 * left,
        0.75 * peak,
        "ring: bytes\nrequested\ndot: from\ndevice memory",
        color=GREY,
        va="top",
        style="italic",
    )
    axes.text(
        1.15 * ridge,
        1.1 * low,
        f"ridge point:\n{ridge:.1f} FLOP per byte",
        color=GREY,
        va="bottom",
    )
    # Along the slope.
    (x, y), (to_x, to_y) = axes.transData.transform([(1, slope), (2, 2 * slope)])
    axes.text(
        0.62,
        0.62 * slope / 1.15,
        f"memory: {slope:.2f} TB/s",
        color=GREY,
        ha="center",
        va="top",
        rotation=math.degrees(math.atan2(to_y - y, to_x - x)),
        rotation_mode="anchor",
    )
    ends, before = [], None  # groups of those whose dots touch
    for x, came, row in points:
        tint, y = colour(row), row["gflops"] / 1e3
        axes.plot([x, came or x], [y, y], color=tint, linewidth=1.2, alpha=0.6)
        axes.plot([x], [y], "o", color=tint, markersize=7, fillstyle="none")
        if came:
            axes.plot([came], [y], "o", color=tint, markersize=8)
        name = f"{row['chapter']}{'' if row['precision'] == 'fp32' else ' *'}"
        dot = axes.transData.transform((came or x, y)) * 72 / figure.dpi
        if before is None or math.dist(before, dot) > 8:
            ends.append([])
        ends[-1].append((came or x, y, name, tint))
        before = dot
    # More than three names beside dots that touch would be a fan that nobody can follow.
    named = []
    for group in ends:
        if len(group) > 3:
            x, y, _, _ = group[len(group) // 2]
            group = [(x, y, f"{group[0][2]}–{group[-1][2]}", GREY)]
        named += group
    label_ends(axes, named, 1.15 * right, max([y for _, y, _, _ in named], default=peak))
    ticks = [2.0**power for power in range(-3, math.floor(math.log2(right)) + 1, 2)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.set_title(
        f"TFLOP/s at M = N = K = {SIZE:,}", loc="left", fontsize="medium", color=GREY
    )
    kinds = "fp32 (*: bf16)" if tensor else "fp32"
    gpu = points[0][2]["gpu"]
    axes.set_xlabel(
        f"FLOP per byte, requested or moved\nnumbers: chapters, {kinds}, {gpu}\n"
        "memory and multiply-adds: as measured"
    )
    return figure


# What a warp can wait for: Nsight Compute's name, what it waits for in words, and the colour of that. "selected" and
# "not_selected" are warps that do not wait.
REASONS = {
    "long_scoreboard": ("data from global memory", GLOBAL),
    "lg_throttle": ("the queue to global memory", GLOBAL),
    "short_scoreboard": ("data from shared memory", SHARED),
    "mio_throttle": ("the queue to shared memory", SHARED),
    "barrier": ("the other warps, at a barrier", GREY),
    "dispatch_stall": ("to be dispatched", REGISTERS),
    "math_pipe_throttle": ("a free arithmetic unit", REGISTERS),
    "wait": ("a fixed number of clocks", REGISTERS),
    "gmma": ("the tensor cores to finish", REGISTERS),
    "warpgroup_arrive": ("the other warps of a warpgroup", GREY),
    "sleeping": ("nothing: it was told to sleep", GREY),
    "branch_resolving": ("where a branch leads", GREY),
    "drain": ("its last stores to leave", GLOBAL),
    "membar": ("its stores to be seen by others", GLOBAL),
    "no_instruction": ("its next instruction", GREY),
    "not_selected": ("no wait: another was chosen", GREY),
    "selected": ("no wait: its instruction began", GREY),
}


def mix(values):
    """The issue slots of a kernel: [(what, share)], the empty ones last."""
    used, multiply_adds = profiles.slots(values)
    reads = values.get("smsp__inst_executed_op_shared_ld.sum", 0.0)
    reads /= values["smsp__inst_executed.sum"]
    tensor, _ = profiles.tensor(values)
    shares = [
        ("multiply-adds", used * multiply_adds),
        ("for tensor cores", used * tensor),
        ("reads of shared memory", used * reads),
        ("other instructions", used * (1 - multiply_adds - tensor - reads)),
        ("empty", 1 - used),
    ]
    return [(what, share) for what, share in shares if share]


def work(values):
    """The time of the tensor cores, as mix() tells the issue slots."""
    _, busy = profiles.tensor(values)
    return [("at work", busy), ("idle", 1 - busy)]


SLOTS = {
    "at work": (REGISTERS, 1.0),
    "idle": (GREY, FAINT),
    "multiply-adds": (REGISTERS, 1.0),
    "for tensor cores": (INK, 1.0),  # few, and what to look at
    "reads of shared memory": (SHARED, 1.0),
    "other instructions": (GREY, 1.0),
    "empty": (GREY, FAINT),
}


HEAD = {"fontweight": "bold", "ha": "left", "va": "baseline", "color": GREY}


def legend_of(parts):
    """What the bars are made of, in their order and in lines of two."""
    named = {what for shares in parts.values() for what, _ in shares}
    entries = [(*SLOTS[what], what) for what in SLOTS if what in named]
    return [entries[i : i + 2] for i in range(0, len(entries), 2)]


def height_of(parts):
    """What stacked() takes, in inches."""
    return 0.77 + 0.25 * (len(legend_of(parts)) - 1) + 0.34 * len(parts)


def stacked(figure, top, left, right, words, parts):
    """A heading `top` inches above the lower edge, a legend, and below them for each name a bar of its
    [(what, share)]."""
    height = figure.get_figheight()
    figure.text(0.1 / WIDTH, (top - 0.3) / height, words, **HEAD)
    line = top - 0.37
    for entries in legend_of(parts):
        line -= 0.25
        swatches(figure, line, (0.1, 2.3), entries)
    tall = 0.34 * len(parts)
    axes = place(figure, left, right, line - 0.15 - tall, tall, ["left"])
    axes.tick_params(axis="y", length=0)
    axes.set_xticks([])
    axes.set_xlim(0, 100)
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.set_yticks(range(len(parts)), parts)
    for i, shares in enumerate(parts.values()):
        start = 0.0
        for what, share in shares:
            tint, alpha = SLOTS[what]
            axes.barh(i, 100 * share, left=start, height=0.74, color=tint, alpha=alpha)
            if share > 0.09:
                axes.text(
                    start + 50 * share,
                    i,
                    f"{100 * share:.0f} %",
                    ha="center",
                    va="center_baseline",
                    color=ON_COLOUR if alpha == 1 else INK,
                )
            start += 100 * share


def draw_stalls(every, number):
    """Above, what the issue slots were used for, and the time of the tensor cores where they have any work; below,
    what the warps spent their clocks on: of the chapter before, and of this one."""
    from matplotlib import pyplot

    before = tables.one_before(number, every)
    shown = {
        f"chapter {n}" if n else "cuBLAS": every[n]
        for n in (before, number, 0)
        if n is not None and n in every
    }
    clocks = {
        stall: [profiles.clocks(every[n], stall) for n in (before, number) if n]
        for stall in REASONS
    }
    most = max(map(max, clocks.values()))
    power = "⁹" if most >= 1 else "⁶"
    if most < 1:
        clocks = {stall: [1e3 * n for n in values] for stall, values in clocks.items()}
        most *= 1e3
    digits = 2 if most < 100 else 1 if most < 1000 else 0  # behind the point
    # What takes less than a fortieth of either chapter's clocks tells nothing.
    total = [sum(values) for values in zip(*clocks.values())]
    seen = sorted(
        (
            stall
            for stall in REASONS
            if any(part > whole / 40 for part, whole in zip(clocks[stall], total))
        ),
        key=lambda stall: -max(clocks[stall]),
    )
    above = {"What issue slots are used for": mix}
    if any(profiles.tensor(values)[1] for values in shown.values()):
        above["What the tensor cores do"] = work
    above = {
        words: {name: parts(values) for name, values in shown.items()}
        for words, parts in above.items()
    }
    # A line of words and a bar or two, in inches.
    each, left, right = (0.62 if before else 0.45), 0.95, 0.1
    height = sum(map(height_of, above.values())) + 0.9 + each * len(seen)
    figure, end = pyplot.figure(figsize=(WIDTH, height)), height
    for words, parts in above.items():
        stacked(figure, end, left, right, words, parts)
        end -= height_of(parts)

    pair = f"pale: chapter {before}, full: chapter {number}" if before else ""
    for line, words, look in (
        (0.4, "What the warps spend their clocks on", HEAD),
        (0.65, f"in 10{power} clocks; {pair}".rstrip("; "), {"color": GREY}),
    ):
        figure.text(0.1 / WIDTH, (end - line) / height, words, **look)
    bottom = place(figure, 0.1, right, end - 0.8 - each * len(seen), each * len(seen), [])
    bottom.set_xticks([])
    bottom.set_yticks([])
    bottom.set_xlim(0, 1.2 * most)
    bottom.set_ylim(len(seen), 0)
    for i, stall in enumerate(seen):
        values, (words, tint) = clocks[stall], REASONS[stall]
        words = f"{words} ({tables.stall_name(stall)})"
        bottom.text(0, i + 0.17 / each, words, color=GREY, va="baseline")
        for j, value in enumerate(values):
            place_of = i + (0.31 + j * 0.167) / each
            alpha = 1.0 if j == len(values) - 1 else 0.4
            bottom.barh(place_of, value, height=0.155 / each, color=tint, alpha=alpha)
            bottom.annotate(
                f"{value:,.{digits}f}",
                (value, place_of),
                (4, 0),
                textcoords="offset points",
                color=GREY,
                va="center_baseline",
                fontsize=0.9 * TEXT,
            )
    return figure


# What a picture shows, and whether there is enough for it.
PICTURES = {
    "ladder": (draw_ladder, lambda every: {0, 1} <= rows.of_size(every, SIZE).keys()),
    "sizes": (draw_sizes, lambda every: len({row["M"] for row in rows.plain(every)}) > 1),
    "roofline": (
        draw_roofline,
        lambda every: rows.roof(every) and any(rows.of_size(every, SIZE)),
    ),
}


def svg_of(figure):
    from matplotlib import pyplot

    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    pyplot.close(figure)
    # matplotlib names the font for each word, and itself.
    drawn = re.sub(
        r"font-family: [^;]*; ?|<metadata>.*?</metadata>\s*",
        "",
        file.getvalue(),
        flags=re.S,
    )
    return themed(drawn.replace("<svg ", f'<svg font-family="{FONT}" ', 1))


# How matplotlib draws a figure of the project.
STYLE = {
    "svg.hashsalt": "ladder",
    "svg.fonttype": "none",
    # Laid out with the first of these that is here, and shown with the first that a reader has. The last, which
    # matplotlib brings along, has what others lack, such as a raised nine.
    "font.family": ["sans-serif", "DejaVu Sans"],
    "font.sans-serif": [*FONT.split(",")[:-1], "Liberation Sans", "DejaVu Sans"],
    "font.size": TEXT,
    "text.color": GREY,
    "axes.labelcolor": GREY,
    "axes.edgecolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "axes.labelpad": 8,
}


def prepare():
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(STYLE)


def origin(every):
    """Everything that decides how the pictures look, as one short hash."""
    text = json.dumps(every) + rows.Path(__file__).read_text()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stalls(gpu, check):
    """The pictures of what the profiler counted, of the chapters whose page shows one. Returns whether one is stale."""
    wrong = 0
    for precision in rows.PRECISIONS:
        every = profiles.counted(gpu, precision=precision)
        for number in sorted(every):
            path = rows.ROOT / "images" / f"{number:02d}_stalls.svg"
            page = chapters.folder(number) / "README.md"
            if not page.exists() or path.name not in page.read_text():
                continue
            shown = (tables.one_before(number, every), number, 0)
            seen = origin([every[n] for n in shown if n in every])
            stamp = f"<!-- made from results/profiles.csv: {seen} -->\n"
            if not check:
                path.write_text(svg_of(draw_stalls(every, number)) + stamp)
                print(f"images/{path.name}")
            elif not path.exists() or not path.read_text().endswith(stamp):
                print(
                    f"images/{path.name} is older than its data: `make plots` renews it"
                )
                wrong = 1
    return wrong


# ---- pictures of one page each: what they are drawn from, and how ----


def keys(figure, y, columns, entries):
    """A line of a legend, y inches above the lower edge: (how a line or a dot is drawn, words) each in its
    column."""
    from matplotlib.lines import Line2D

    height = figure.get_figheight()
    for x, (look, words) in zip(columns, entries):
        across = [at / WIDTH for at in (x, x + 0.14, x + 0.28)]
        middle = 3 * [(y + 0.05) / height]
        figure.add_artist(Line2D(across, middle, markevery=[1], **look))
        figure.text((x + 0.36) / WIDTH, y / height, words, color=GREY)


def neighbours(gpu):
    """Chapter 17's rows in bf16 at squares around SIZE."""
    return [
        row
        for row in sorted(rows.plain(tables.csv_of(gpu)), key=rows.what)
        if (row["chapter"], row["precision"]) == (17, "bf16")
        and tables.square(row)
        and abs(row["M"] - SIZE) < 10
    ]


def draw_neighbours(shown):
    figure, axes = canvas(3.2, 0.75, 1.1, 0.6, 0.35)
    sizes, ends = [row["M"] for row in shown], []
    for name, words, tint, dashes in (
        ("gflops", "chapter 17", colour(shown[0]), "-"),
        ("cublas_gflops", "cuBLAS", INK, (0, (4, 2))),
    ):
        speeds = [row[name] / 1e3 for row in shown]
        axes.plot(sizes, speeds, "o", color=tint, linestyle=dashes, linewidth=1.8)
        ends.append((sizes[-1], speeds[-1], words, tint))
    most = max(max(row["gflops"], row["cublas_gflops"]) / 1e3 for row in shown)
    axes.set_ylim(0, 1.1 * most)
    axes.set_xlim(sizes[0] - 0.5, sizes[-1] + 0.5)
    label_ends(axes, ends, sizes[-1] + 1)
    axes.set_xticks(sizes[1::2], [f"{size:,}" for size in sizes[1::2]])
    axes.set_xticks(sizes, minor=True)
    axes.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.8)
    axes.set_title("TFLOP/s in bf16", loc="left", fontsize="medium", color=GREY)
    axes.set_xlabel(f"M = N = K, {shown[0]['gpu']}")
    return figure


# The kinds of shapes, in the order in which they are asked: a shape is of the first that it fits.
KINDS = {
    "nearly a cube": ("s", REGISTERS, lambda M, N, K: max(M, N, K) < 1.1 * min(M, N, K)),
    "deep: K ≥ 16 · M and 16 · N": ("D", SHARED, lambda M, N, K: K >= 16 * max(M, N)),
    "one row or one column": ("v", MOVING, lambda M, N, K: min(M, N) == 1),
    "up to 64 rows or columns": ("^", GLOBAL, lambda M, N, K: min(M, N) <= 64),
    "all others": ("o", GREY, lambda M, N, K: True),
}


def kind_of(shape):
    return next(kind for kind, (_, _, fits) in KINDS.items() if fits(*shape))


def shapes_of(number, gpu):
    """{precision: [row]} of a chapter's many shapes, without those that were drawn at random."""
    _, drawn = measure.many_shapes()
    found = {}
    for row in sorted(tables.csv_of(f"{gpu}_shapes"), key=rows.what):
        if row["chapter"] == number and (row["M"], row["N"], row["K"]) not in drawn:
            found.setdefault(row["precision"], []).append(row)
    return found


def raised(power, base="10"):
    return base + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(power))


def draw_shapes(every):
    """A panel for each precision. The best of a panel has its name above its dot, the two worst below theirs."""
    from matplotlib import pyplot

    def name(row):
        M, N, K = row["M"], row["N"], row["K"]
        shape = f"{M:,}" if tables.square(row) else f"{M:,} × {N:,} × {K:,}"
        return f"{shape}: {row['ratio_median']:.2f}"

    def work(row):
        return row["M"] * row["N"] * row["K"]

    tall, legend = 3.3, 1.0
    figure = pyplot.figure(figsize=(WIDTH, legend + tall * len(every)))
    looks = [
        ({"marker": marker, "color": tint, "linestyle": "none"}, words)
        for words, (marker, tint, _) in KINDS.items()
    ]
    looks.append(
        (
            {"marker": "o", "color": GREY, "linestyle": "none", "fillstyle": "none"},
            "hollow: rows begin anywhere",
        )
    )
    for line in range(3):
        y = tall * len(every) + legend - 0.3 - 0.25 * line
        keys(figure, y, (0.1, 2.75), looks[line::3])
    left, right = 0.6, 0.15
    for at, (precision, shown) in enumerate(every.items()):
        bottom = 0.6 + tall * (len(every) - 1 - at)
        axes = place(figure, left, right, bottom, tall - 0.95)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(5e5, 1e13)
        ratios = [row["ratio_median"] for row in shown]
        axes.set_ylim(min(ratios) / 1.35, max(ratios) * 1.4)
        axes.axhline(1, color=INK, linewidth=1.2)
        aligned = 4  # floats in 16 bytes
        alike = {}  # one path for all that look alike: the file is small
        for row in shown:
            M, N, K = row["M"], row["N"], row["K"]
            filled = "none" if N % aligned or K % aligned else "full"
            alike.setdefault((kind_of((M, N, K)), filled), []).append(row)
        for (kind, filled), some in alike.items():
            marker, tint, _ = KINDS[kind]
            axes.plot(
                list(map(work, some)),
                [row["ratio_median"] for row in some],
                marker,
                color=tint,
                markersize=5,
                fillstyle=filled,
            )
        in_order = sorted(shown, key=lambda row: row["ratio_median"])
        named = [*sorted(in_order[:2], key=work), in_order[-1]]
        # In points from the axes' left end, where a name of 140 points fits.
        ends = axes.transData.transform([(work(row), 1) for row in named])[:, 0]
        wide, half = 72 * (WIDTH - left - right), 70
        wanted = [72 * x / figure.dpi - 72 * left for x in ends]
        *worst, best = (min(max(x, half), wide - half) for x in wanted)
        worst = apart(worst, 2 * half)
        worst = [x + max(0, half - worst[0]) for x in worst]
        for row, x, y in zip(named, [*worst, best], (0.03, 0.03, 0.97)):
            axes.annotate(
                name(row),
                (work(row), row["ratio_median"]),
                (x / wide, y),
                textcoords="axes fraction",
                color=INK,
                ha="center",
                va="bottom" if y < 0.5 else "top",
                arrowprops={
                    "arrowstyle": "-",
                    "color": INK,
                    "linewidth": 0.7,
                    "shrinkA": 1,
                    "shrinkB": 4,
                },
            )
        ticks = [tick for tick in (0.8, 1, 1.2, 1.5, 2, 3, 4) if tick < max(ratios)]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([10.0**n for n in (6, 8, 10, 12)], map(raised, (6, 8, 10, 12)))
        axes.minorticks_off()
        axes.set_title(
            f"times as fast as the fastest cuBLAS, {precision}",
            loc="left",
            fontsize="medium",
            color=GREY,
        )
        axes.set_xlabel(f"M · N · K, {len(shown)} shapes, {shown[0]['gpu']}")
    return figure


# In whose colour a bound is drawn, by the resource that sets it, and how that is called; the rest are
# issue slots.
BOUNDS = {
    "L1 lookups": (GLOBAL, "global memory: the L1"),
    "L1 sectors": (GLOBAL, "global memory: the L1"),
    "shared memory": (SHARED, "shared memory"),
}


def bounds_of(gpu):
    """[(chapter, its share of the measured time that the bound explains, the resource, measured ms)], as
    MEASURING.md's table has it: to count again takes the emulator minutes."""
    text = (rows.ROOT / "chapters" / "MEASURING.md").read_text()
    because = {why: resource for resource, why in bounds.WHY.items()}
    found = []
    for name, options, block in tables.BLOCK.findall(text):
        if name == "bounds" and f"gpu={gpu}" in options.split():
            for line in block.splitlines():
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                if cells[0].isdigit():
                    number, least, why, measured, _ = cells
                    share = float(least) / float(measured)
                    found.append((int(number), share, because[why], measured))
    return found


def draw_bounds(shown):
    height = 1.1 + 0.29 * len(shown)
    figure, axes = canvas(height, 0.95, 0.95, 0.6, 0.5)
    axes.spines["bottom"].set_visible(False)
    axes.set_xlim(0, 100)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    legend = {}
    for i, (_, share, resource, ms) in enumerate(shown):
        tint, words = BOUNDS.get(resource, (REGISTERS, "issue slots"))
        legend[words] = (tint, 1, words)
        axes.barh(i, 100, height=0.76, color=GREY, alpha=FAINT)
        axes.barh(i, 100 * share, height=0.76, color=tint)
        axes.text(
            100 * share - 2,
            i,
            f"{100 * share:.0f} %",
            ha="right",
            va="center_baseline",
            color=ON_COLOUR,
        )
        axes.text(124, i, f"{ms} ms", ha="right", va="center_baseline", clip_on=False)
    axes.set_yticks(range(len(shown)), [f"chapter {row[0]}" for row in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_xticks([])
    swatches(figure, height - 0.3, (0.1, 2.05, 3.5), legend.values())
    axes.set_xlabel(
        f"bar: the measured time at M = N = K = {SIZE:,}\nin colour: the least that the bound allows"
    )
    return figure


# How a way to divide a product among GPUs is drawn.
WAYS = {
    "copy engines": {"color": MOVING, "marker": "o"},
    "NCCL meanwhile": {"color": GREY, "marker": "o"},
    "NCCL, then multiply": {"color": GREY, "marker": "o", "linestyle": (0, (4, 2))},
    many_gpus.LIBRARIES: {"color": INK, "marker": "s", "linestyle": (0, (4, 2))},
    "model": {"color": MOVING, "linestyle": (0, (1, 2))},
}


def ways_of(gpu):
    return [row for row in many_gpus.read() if measure.key_of(row["gpu"]) == gpu]


def draw_ways(every):
    """A panel for each precision and number of GPUs. C is divided into rows, as most columns of the table."""
    from matplotlib import pyplot

    precisions, counts = (
        sorted({row[name] for row in every}) for name in ("precision", "gpus")
    )
    tall, legend = 2.0, 1.2
    height = legend + tall * len(precisions) + 0.35
    figure = pyplot.figure(figsize=(WIDTH, height))
    looks = [(look, way) for way, look in WAYS.items()]
    figure.text(
        0.1 / WIDTH, (height - 0.25) / height, "% of P times the speed of one GPU"
    )
    for line in range(3):
        keys(
            figure, height - 0.5 - 0.25 * line, (0.1, 2.5), looks[2 * line : 2 * line + 2]
        )
    wide, gap, left = 2.2, 0.35, 0.5
    for at, precision in enumerate(precisions):
        for column, gpus in enumerate(counts):
            begin = left + column * (wide + gap)
            bottom = 0.65 + tall * (len(precisions) - 1 - at)
            axes = place(figure, begin, WIDTH - begin - wide, bottom, tall - 0.65)
            mine = [
                row
                for row in every
                if (row["precision"], row["gpus"]) == (precision, gpus)
            ]
            sizes = sorted({row["N"] for row in mine})
            for way, look in WAYS.items():
                shares = {row["N"]: row["share"] for row in mine if row["way"] == way}
                if way == "model":
                    shares = {
                        row["N"]: many_gpus.predicted(
                            precision, gpus, row["N"], row["one_gpu_ms"]
                        )
                        for row in mine
                    }
                axes.plot(
                    sizes,
                    [100 * shares[size] for size in sizes],
                    linewidth=1.8,
                    markersize=4.5,
                    clip_on=False,
                    **look,
                )
            axes.set_xscale("log", base=2)
            axes.set_xlim(sizes[0] / 1.15, sizes[-1] * 1.15)
            axes.set_ylim(0, 100)
            axes.set_yticks([0, 50, 100])
            rest = {row["N"] for row in mine if row["queued"] == "no"}
            axes.set_xticks(sizes, [f"{size:,}{'*' * (size in rest)}" for size in sizes])
            axes.minorticks_off()
            axes.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.8)
            axes.set_title(
                f"{precision}, {gpus} GPUs", loc="left", fontsize="medium", color=GREY
            )
    figure.text(0.5, 0.12 / height, f"M = N = K, {every[0]['gpu']}", ha="center")
    return figure


def errors_of(gpu):
    """Chapter 18 and cuBLAS, in turns, at M = N = K = SIZE."""
    return [row for row in tables.read_errors(gpu) if row["K"] == SIZE]


def inputs_of(row):
    """The kind of input, as one writes it: "uniform (-1 1)" and "spread over 2^40" are CSV's."""
    words = re.sub(
        r"\((-?)(\d) (\d)\)", lambda m: f"({m[1] and '−'}{m[2]}, {m[3]})", row["inputs"]
    )
    return re.sub(r"2\^(\d+)", lambda m: raised(m[1], "2"), words)


def draw_errors(every):
    """Speed to the right, error up: a dot for cuBLAS and one for the chapter, for each kind of input."""
    figure, axes = canvas(4.3, 0.7, 1.5, 0.65, 0.5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(11, 240)
    errors = [row["rms"] for row in every]
    axes.set_ylim(min(errors) / 1.6, max(errors) * 1.6)
    ends = []
    for mine, cublas in zip(every[::2], every[1::2]):
        x, to_x = (
            2e-9 * row["M"] * row["N"] * row["K"] / row["ms"] for row in (cublas, mine)
        )
        y, to_y = cublas["rms"], mine["rms"]
        axes.plot([x, to_x], [y, to_y], color=REGISTERS, linewidth=1.2)
        axes.plot([x], [y], "o", color=INK, markersize=6)
        fit = (
            to_x > x
        )  # the tensor cores multiply; unfit inputs are left to the fp32 units
        axes.plot([to_x], [to_y], "o", color=REGISTERS, markersize=6)
        if fit:
            ends.append((to_x, to_y, inputs_of(mine), REGISTERS))
        else:
            words = textwrap.fill(f"unfit: {inputs_of(mine)}", 15)
            axes.annotate(
                words,
                (to_x, to_y),
                (-7, 0),
                textcoords="offset points",
                color=REGISTERS,
                ha="right",
                va="center",
            )
    label_ends(axes, ends, 270)
    for row, tint in ((every[0], REGISTERS), (every[1], INK)):
        speed = 2e-9 * row["M"] * row["N"] * row["K"] / row["ms"]
        axes.text(
            speed, max(errors) * 1.8, row["who"], color=tint, ha="center", va="bottom"
        )
    axes.text(
        12, min(errors), "right: faster\ndown: more exact", color=GREY, style="italic"
    )
    axes.set_xticks([25, 50, 100, 200], ["25", "50", "100", "200"])
    powers = range(
        math.ceil(math.log10(min(errors))), 1 + math.floor(math.log10(max(errors)))
    )
    axes.set_yticks([10.0**n for n in powers], ["10⁻" + raised(-n)[2:] for n in powers])
    axes.minorticks_off()
    axes.set_ylabel("rms of |error| / (|A| |B|)")
    axes.set_xlabel(f"TFLOP/s at M = N = K = {SIZE:,}")
    return figure


# Of each picture: the file in results/ or the page that it is made from, what is read there, and how that is drawn.
FIGURES = {
    "17_neighbours": ("results/{}.csv", neighbours, draw_neighbours),
    "bounds": ("chapters/MEASURING.md", bounds_of, draw_bounds),
    "19_ways": ("results/many_gpus.csv", ways_of, draw_ways),
    "18_speed": ("results/errors_{}.csv", errors_of, draw_errors),
} | {
    f"{number}_shapes": (
        "results/{}_shapes.csv",
        functools.partial(shapes_of, number),
        draw_shapes,
    )
    for number in (12, 13, 18)
}


def figures(gpu, check):
    """The pictures of one page each. Returns whether one is stale."""
    wrong = 0
    for name, (source, read, draw) in FIGURES.items():
        path, source = rows.ROOT / "images" / f"{name}.svg", source.format(gpu)
        shown = read(gpu)
        stamp = f"<!-- made from {source}: {origin(shown)} -->\n"
        if not shown:
            print(f"images/{path.name}: {source} has too little for it")
        elif not check:
            path.write_text(svg_of(draw(shown)) + stamp)
            print(f"images/{path.name}")
        elif not path.exists() or not path.read_text().endswith(stamp):
            print(f"images/{path.name} is older than its data: `make plots` renews it")
            wrong = 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description="Draws the plots in images/.")
    parser.add_argument(
        "--gpu", default="h200", help="which results/<gpu>.csv; default h200"
    )
    parser.add_argument(
        "--check", action="store_true", help="draw nothing, name what is stale"
    )
    chosen = parser.parse_args()
    every = rows.read(rows.ROOT / "results" / f"{chosen.gpu}.csv")
    if not every:
        print(f"results/{chosen.gpu}.csv is not there: nothing to draw")
        return 0
    moved = [profiles.intensity(key_of(every), kind) for kind in ("fp32", "bf16")]
    seen = origin([every, moved])
    stamp = f"<!-- made from results/{chosen.gpu}.csv: {seen} -->\n"
    wrong = 0
    if not chosen.check:
        prepare()
    for name, (draw, enough) in PICTURES.items():
        path = rows.ROOT / "images" / f"{name}.svg"
        if not enough(every):
            print(f"images/{name}.svg: results/{chosen.gpu}.csv has too little for it")
        elif not chosen.check:
            path.write_text(svg_of(draw(every)) + stamp)
            print(f"images/{name}.svg")
        elif not path.exists() or not path.read_text().endswith(stamp):
            print(f"images/{name}.svg is older than its data: `make plots` renews it")
            wrong = 1
    drawn = (stalls(chosen.gpu, chosen.check), figures(chosen.gpu, chosen.check))
    return max(wrong, *drawn)


if __name__ == "__main__":
    ending.run(main)
