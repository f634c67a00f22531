#!/usr/bin/env python3
"""make plots: images/ladder.svg, sizes.svg and roofline.svg from results/<gpu>.csv, and a chapter's
images/NN_stalls.svg from results/profiles.csv where its README shows one.

The last line of each names what it was made from, by a hash, so that --check can tell without
drawing (and without matplotlib) whether a picture is older than its data.
"""

import argparse
import hashlib
import io
import json
import math
import statistics
import textwrap

import chapters
import ending
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
    return themed(file.getvalue())


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
    return max(wrong, stalls(chosen.gpu, chosen.check))


if __name__ == "__main__":
    ending.run(main)
