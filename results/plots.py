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
import re
import statistics

import chapters
import ending
import profiles
import rows
import tables
from palette import FONT, GLOBAL, GREY, MOVING, REGISTERS, SHARED, themed

SIZE = 4096  # the ladder and the roofline are of squares of this size

# A rung has the colour of what its idea is about, as its chapter says.
COLOURS = {
    "": GREY,
    "global memory": GLOBAL,
    "shared memory": SHARED,
    "registers": REGISTERS,
    "copies": MOVING,
}
WIDTH, TEXT = 9.0, 11.0  # inches and points


def colour(row):
    return COLOURS[row["about"]]


def label(row):
    return f"{row['chapter']} · {row['title'].partition(':')[0]}"


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
    axes = figure.add_axes(
        (
            left / WIDTH,
            bottom / height,
            (WIDTH - left - right) / WIDTH,
            (height - bottom - top) / height,
        )
    )
    axes.set_facecolor("none")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


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


def draw_ladder(every):
    measured = rows.of_size(every, SIZE)
    shown = [row for chapter, row in measured.items() if chapter]
    cublas = measured[0]["gflops"]  # chapter 0 is cuBLAS
    height = 1.1 + 0.36 * len(shown)
    figure, axes = canvas(height, 2.3, 0.3, 0.65, 0.4)
    widest = 1.12 * max([cublas, *(row["gflops"] for row in shown)])
    axes.set_xlim(0, widest)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.axvline(cublas, color=GREY, linewidth=1.5, linestyle=(0, (4, 3)), zorder=3)
    axes.text(cublas, -0.7, f"cuBLAS {cublas:,.0f}", color=GREY, ha="center", va="bottom")
    for i, row in enumerate(shown):
        axes.barh(i, row["gflops"], height=0.72, color=colour(row))
        # Inside a bar that is long enough, and never across cuBLAS' line.
        inside = row["gflops"] > 0.4 * widest
        end = min(row["gflops"], cublas) if inside else row["gflops"]
        axes.annotate(
            f"{row['gflops']:,.0f}  ({100 * row['ratio_median']:.1f} % of cuBLAS)",
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
    axes.set_xlabel(f"GFLOP/s at M = N = K = {SIZE:,}, fp32, {shown[0]['gpu']}")
    return figure


def draw_sizes(every):
    # Odd sizes beside even ones (4,092 and 4,096) would draw a wall where there is none.
    squares = [
        row
        for row in rows.plain(every)
        if row["M"] == row["N"] == row["K"] and row["M"] % 256 == 0
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
    figure, axes = canvas(5.4, 0.95, 2.5, 0.65, 0.25)
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
        *zip(*cublas), color=GREY, linewidth=1.8, linestyle=(0, (4, 3)), clip_on=False
    )
    ends.append((*cublas[-1], "cuBLAS", GREY))
    label_ends(axes, ends, sizes[-1] * 1.22)
    ticks = [size for size in sizes if size & (size - 1) == 0]
    axes.set_xticks(ticks, [f"{size:,}" for size in ticks])
    axes.minorticks_off()
    axes.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.8)
    thousands(axes.yaxis)
    axes.set_ylabel("GFLOP/s")
    axes.set_xlabel(f"M = N = K, fp32, {squares[0]['gpu']}")
    return figure


def draw_roofline(every):
    peak, slope = rows.roof(every)
    ridge = peak / slope
    points = [
        (row["flop_per_byte"], row)
        for chapter, row in rows.of_size(every, SIZE).items()
        if chapter and row["flop_per_byte"]
    ]
    left, right = 0.125, max([64.0] + [1.5 * x for x, _ in points])
    low = 0.5 * min([left * slope] + [row["gflops"] for _, row in points])
    figure, axes = canvas(5.4, 1.15, 2.3, 0.65, 0.3)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(low, 1.6 * peak)
    axes.plot([left, ridge, right], [left * slope, peak, peak], color=GREY, linewidth=2)
    axes.plot([ridge, ridge], [low, peak], color=GREY, linewidth=1, linestyle=(0, (2, 3)))
    axes.text(
        1.15 * left,
        1.06 * peak,
        f"multiply-adds, measured: {peak / 1e3:.1f} TFLOP/s",
        color=GREY,
        va="bottom",
    )
    axes.text(
        1.15 * left,
        0.75 * peak,
        "a point above the slope\nis fed by the caches",
        color=GREY,
        va="top",
        style="italic",
    )
    axes.text(
        0.93 * ridge,
        1.1 * low,
        f"ridge point:\n{ridge:.1f} FLOP per byte",
        color=GREY,
        va="bottom",
        ha="right",
    )
    # Along the slope, whose angle on paper depends on the axes.
    a, b = axes.transData.transform([(1, slope), (2, 2 * slope)])
    axes.text(
        1,
        0.8 * slope,
        f"memory, measured: {slope / 1e3:.2f} TB/s",
        color=GREY,
        rotation=math.degrees(math.atan2(b[1] - a[1], b[0] - a[0])),
        rotation_mode="anchor",
        ha="center",
        va="top",
    )
    ends = []
    for x, row in points:
        tint = colour(row)
        axes.plot([x], [row["gflops"]], "o", color=tint, markersize=8)
        if x < 1:
            axes.annotate(
                label(row),
                (x, row["gflops"]),
                (8, 0),
                textcoords="offset points",
                color=tint,
                va="center_baseline",
            )
        else:
            ends.append((x, row["gflops"], label(row), tint))
    label_ends(axes, ends, 1.15 * right, max([y for _, y, _, _ in ends], default=peak))
    ticks = [2.0**power for power in range(-3, math.floor(math.log2(right)) + 1)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    thousands(axes.yaxis)
    axes.set_ylabel(f"GFLOP/s at M = N = K = {SIZE:,}")
    axes.set_xlabel(
        f"FLOP per byte requested from global memory, fp32, {points[0][1]['gpu']}"
    )
    return figure


# What a warp can wait for: Nsight Compute's name, what it waits for in words, and the colour of that. "selected" and
# "not_selected" are warps that do not wait.
REASONS = {
    "long_scoreboard": ("data from global memory", GLOBAL),
    "lg_throttle": ("the queue to global memory", GLOBAL),
    "short_scoreboard": ("data from shared memory", SHARED),
    "mio_throttle": ("the queue to shared memory", SHARED),
    "barrier": ("the other warps, at a barrier", MOVING),
    "dispatch_stall": ("its registers, to be dispatched", REGISTERS),
    "math_pipe_throttle": ("a free arithmetic unit", REGISTERS),
    "wait": ("a fixed number of clocks", REGISTERS),
    "no_instruction": ("its next instruction", GREY),
    "not_selected": ("no wait: another was chosen", GREY),
    "selected": ("no wait: its instruction began", GREY),
}


def mix(values):
    """The issue slots of a kernel: [(what, share)], the empty ones last."""
    used, multiply_adds = profiles.slots(values)
    reads = values.get("smsp__inst_executed_op_shared_ld.sum", 0.0)
    reads /= values["smsp__inst_executed.sum"]
    shares = [
        ("multiply-adds", used * multiply_adds),
        ("reads of shared memory", used * reads),
        ("other instructions", used * (1 - multiply_adds - reads)),
        ("empty", 1 - used),
    ]
    return [(what, share) for what, share in shares if share]


SLOTS = {
    "multiply-adds": (REGISTERS, 1.0),
    "reads of shared memory": (SHARED, 1.0),
    "other instructions": (GREY, 0.8),
    "empty": (GREY, 0.12),
}


def draw_stalls(every, number):
    """Above, what the issue slots were used for; below, what the warps spent their clocks on: of the chapter
    before, and of this one."""
    from matplotlib import pyplot

    before = tables.one_before(number, every)
    shown = [*filter(None, (before, number)), 0]
    names = {n: f"chapter {n}" if n else "cuBLAS" for n in shown}
    clocks = {
        stall: [profiles.clocks(every[n], stall) for n in (before, number) if n]
        for stall in REASONS
    }
    most = max(map(max, clocks.values()))
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
    above, each = 0.34 * len(shown), 0.42
    height = 1.0 + above + 0.7 + each * len(seen) + 0.15
    left, right = 2.75, 0.35
    figure = pyplot.figure(figsize=(WIDTH, height))

    def axes_at(bottom, tall):
        axes = figure.add_axes(
            (left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH, tall / height)
        )
        axes.set_facecolor("none")
        for side in ("top", "right", "bottom"):
            axes.spines[side].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.set_xticks([])
        return axes

    top = axes_at(height - 1.0 - above, above)
    top.set_xlim(0, 100)
    top.set_ylim(len(shown) - 0.5, -0.5)
    top.set_yticks(range(len(shown)), [names[n] for n in shown])
    for i, n in enumerate(shown):
        start = 0.0
        for what, share in mix(every[n]):
            tint, alpha = SLOTS[what]
            top.barh(i, 100 * share, left=start, height=0.74, color=tint, alpha=alpha)
            if share > 0.045:
                top.text(
                    start + 50 * share,
                    i,
                    f"{100 * share:.0f} %",
                    ha="center",
                    va="center_baseline",
                    color=GREY if what == "empty" else "white",
                )
            start += 100 * share
    head = {"fontweight": "bold", "ha": "left", "va": "baseline", "color": GREY}
    figure.text(0.1 / WIDTH, 1 - 0.3 / height, "What issue slots are used for", **head)
    at = left
    for what in dict.fromkeys(what for n in shown for what, _ in mix(every[n])):
        tint, alpha = SLOTS[what]
        figure.text(
            at / WIDTH, 1 - 0.72 / height, "■ ", color=tint, alpha=max(alpha, 0.35)
        )
        figure.text((at + 0.2) / WIDTH, 1 - 0.72 / height, what, color=GREY)
        at += 0.45 + 0.092 * len(what)

    bottom = axes_at(0.15, each * len(seen))
    bottom.set_xlim(0, 1.25 * most)
    bottom.set_ylim(len(seen) - 0.5, -0.5)
    bottom.set_yticks([])
    small = {"color": GREY, "va": "center_baseline", "fontsize": 0.86 * TEXT}
    for i, stall in enumerate(seen):
        values, (words, tint) = clocks[stall], REASONS[stall]
        for place, text in ((i - 0.2, words), (i + 0.2, tables.stall_name(stall))):
            style = "italic" if place > i else "normal"
            bottom.annotate(
                text,
                (0, place),
                (-8, 0),
                textcoords="offset points",
                ha="right",
                style=style,
                **small,
            )
        for j, value in enumerate(values):
            place = i + (j - (len(values) - 1) / 2) * 0.4
            alpha = 1.0 if j == len(values) - 1 else 0.4
            bottom.barh(place, value, height=0.36, color=tint, alpha=alpha)
            bottom.annotate(
                f"{value:,.3g}" if value < 1000 else f"{value:,.0f}",
                (value, place),
                (4, 0),
                textcoords="offset points",
                **small,
            )
    pair = f"; pale: chapter {before}, full: chapter {number}" if before else ""
    figure.text(
        0.1 / WIDTH,
        (0.15 + each * len(seen) + 0.22) / height,
        f"What the warps spend their clocks on, in 10⁹ clocks{pair}",
        **head,
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
    # Laid out with a font that matplotlib brings along, shown with the figures' own.
    return themed(re.sub(r"'DejaVu Sans'(, [^;\"]*)?", FONT, file.getvalue()))


# How matplotlib draws a figure of the project.
STYLE = {
    "svg.hashsalt": "ladder",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
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
    every, _ = profiles.counted(gpu)
    wrong = 0
    for number in sorted(every):
        path = rows.ROOT / "images" / f"{number:02d}_stalls.svg"
        if path.name not in (chapters.folder(number) / "README.md").read_text():
            continue
        before = tables.one_before(number, every)
        counted = [every[n] for n in (before, number, 0) if n is not None]
        stamp = f"<!-- made from results/profiles.csv: {origin(counted)} -->\n"
        if not check:
            path.write_text(svg_of(draw_stalls(every, number)) + stamp)
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
    stamp = f"<!-- made from results/{chosen.gpu}.csv: {origin(every)} -->\n"
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
