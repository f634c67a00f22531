"""Where a reader is in the book: three small pictures at the top of every chapter's page.

The film strip shows the same A, B and C in every chapter, with one level more each time; the
ladder and the roofline say how far it has got. Colours are classes, which the site's style sets.
"""

import html
import math
import re
import statistics

import chapters
import plots
import profiles
import rows

SIZE = 4096
SIDE, DEEP, GAP, SHOWN = 150, 66, 8, 256  # C in pixels, A's and B's depth; C in elements
# What no source says in plain numbers: the tiles that chapters choose when they run, at 4,096, and what a unit of
# threads, a warp or a warpgroup, has of the results on tensor cores: each thread those that the instruction gives it.
CHOSEN = {
    "autotuning": {
        "BM": 128, "BN": 256, "BK": 8, "WM": 64, "WN": 64, "TM": 16, "TN": 8, "STAGES": 4,
    },
    "persistent_blocks": {
        "BM": 128, "BN": 256, "BK": 8, "WM": 64, "WN": 64, "TM": 16, "TN": 8, "STAGES": 4,
    },
    "copy_engine": {
        "BM": 256, "BN": 128, "BK": 72, "WM": 64, "WN": 64, "TM": 16, "TN": 8, "STAGES": 2,
    },
    "tensor_cores": {"BK": 64, "STAGES": 3, "unit": "warp"},
    "warpgroups": {"WM": 64, "WN": 256, "unit": "warpgroup"},
    "beyond_cublas_bf16": {"WM": 64, "WN": 256, "unit": "warpgroup"},
    "every_shape_and_type": {
        "BM": 128, "BN": 256, "STAGES": 4, "WM": 64, "WN": 256, "unit": "warpgroup",
    },
    "fp32_from_halves": {"WM": 64, "WN": 128, "unit": "warpgroup"},
}  # fmt: skip


def constants(number, name):
    """The sizes of a chapter's tiles, as its source and the headers beside it name them."""
    sources = sorted(chapters.folder(number).glob("*.cu*"))
    text = "\n".join(path.read_text() for path in sources)
    found = {
        key: int(value)
        for line in re.findall(r"^const int ([^;]+);", text, re.M)
        for key, value in re.findall(r"(\w+) = (\d+)(?=,|$)", line)
    }
    # Which way the 32 lanes of a warp lie, where a block is a rectangle of single results.
    found["down"] = "dim3 threads(BM, BN)" in text
    found["shared"] = "__shared__" in text or name in CHOSEN
    # Two buffers are two stages.
    doubled = re.search(r"__shared__ [^;]*_tile\[2\]", text)
    found["STAGES"] = found.get("STAGES", 2 if doubled else 1)
    return {**found, **CHOSEN.get(name, {})}


def rectangle(kind, x, y, width, height):
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 1.6):.1f}" '
        f'height="{max(height, 1.6):.1f}"/>'
    )


def warp_of(c):
    """Rows and columns of C that a warp owns."""
    if "WM" in c:
        return c["WM"], c["WN"]
    rows_each, columns_each = c.get("TM", 1), c.get("TN", 1)
    if c["down"]:
        return 32, 1
    across = min(32, c["BN"] // columns_each)
    return 32 // across * rows_each, across * columns_each


def strip(c):
    """A to the left, B above, C in the corner: what a block, a warp, and a thread have of them."""
    scale = SIDE / SHOWN
    left = top = DEEP + GAP
    bm, bn, bk = c["BM"] * scale, c["BN"] * scale, c.get("BK", 1) * scale
    # The second block down and across, or the first where a tile is half of all.
    x = left + (bn if 2 * c["BN"] <= SHOWN else 0)
    y = top + (bm if 2 * c["BM"] <= SHOWN else 0)
    parts = [
        rectangle("faint", 0, top, DEEP, SIDE),
        rectangle("faint", left, 0, SIDE, DEEP),
        rectangle("faint", left, top, SIDE, SIDE),
        rectangle("global", 0, y, DEEP, bm),
        rectangle("global", x, 0, bn, DEEP),
    ]
    levels = ["a block's rows of A and columns of B"]
    if c["shared"]:
        every = c.get("STAGES", 1)
        stages = min(every, int(DEEP // bk))
        for stage in range(stages):
            parts += [
                rectangle("shared", stage * (bk + 1), y, bk, bm),
                rectangle("shared", x, stage * (bk + 1), bn, bk),
            ]
        some = "its tile" if every == 1 else f"{stages} tiles"
        some = some if stages == every else f"{stages} of its {every} tiles"
        levels.append(f"{some} in shared memory")
    parts.append(rectangle("outline", x, y, bn, bm))
    warp_down, warp_across = warp_of(c)
    tm, tn = c.get("TM", 1), c.get("TN", 1)
    squares = "WM" in c or "PADDING" in c
    # Squares of 4 x 4, with those of other warps between them where there are no warp tiles.
    bands = tm // 4 if squares and "WM" not in c else 1
    for band in range(bands):
        area = rectangle(
            "registers",
            x,
            y + band * c["BM"] // bands * scale,
            warp_across * scale,
            warp_down // bands * scale,
        )
        parts.append(f'<g opacity="0.45">{area}</g>')
    of = f"{bands} bands of " if bands > 1 else ""
    levels.append(
        f"a {c.get('unit', 'warp')}'s {of}{warp_down // bands} × {warp_across} results"
    )
    for m in range(0, 0 if "unit" in c else tm, 4 if squares else tm):
        for n in range(0, tn, 4 if squares else tn):
            down, across = (
                (
                    m // 4 * (c.get("WM", c["BM"]) // (tm // 4)),
                    n // 4 * (c.get("WN", c["BN"]) // (tn // 4)),
                )
                if squares
                else (0, 0)
            )
            size = (4, 4) if squares else (tm, tn)
            parts.append(
                rectangle(
                    "registers",
                    x + across * scale,
                    y + down * scale,
                    size[1] * scale,
                    size[0] * scale,
                )
            )
    if "unit" not in c:
        levels.append("a thread's one" if tm * tn == 1 else f"a thread's {tm} × {tn}")
    side = left + SIDE
    words = f"A, B and C: {', '.join(levels)}."
    letters = (
        f'<text x="2" y="{top - 4}">A</text><text x="{left - 12}" y="10">B</text>'
        f'<text x="{side - 12}" y="{side - 5}">C</text>'
    )
    return figure(f"0 0 {side} {side}", side, "".join(parts) + letters, words)


def figure(box, width, inside, words):
    return (
        f'<figure><svg viewBox="{box}" width="{width}" role="img" aria-label="{html.escape(words)}">'
        f"{inside}</svg><figcaption>{html.escape(words)}</figcaption></figure>"
    )


# The class of what a chapter is about.
ABOUT = {
    "": "grey",
    "global memory": "global",
    "shared memory": "shared",
    "registers": "registers",
    "copies": "moving",
}


def rungs(every, number):
    """The rows beside a chapter's on images/ladder.svg, from top to bottom: of the chapters on tensor cores, or of
    those that come before them."""
    first = plots.on_tensor_cores(every)
    in_fp32 = rows.of_size(every, SIZE)
    if number < first:
        return [row for n, row in in_fp32.items() if 0 < n < first]
    late = [row for n, row in in_fp32.items() if n > first]
    return [*rows.of_size(every, SIZE, "bf16").values(), *late]


def ladder(every, number):
    """Step by step to where the reader is; the steps to come are faint."""
    shown = rungs(every, number)
    precision = shown[0]["precision"]
    cublas = statistics.median(
        row["cublas_gflops"] for row in shown if row["precision"] == precision
    )
    own = next(row for row in shown if row["chapter"] == number)
    wide, high = 190, 13
    most = 1.05 * max([cublas] + [row["gflops"] for row in shown])
    parts = []
    for at, row in enumerate(shown):
        kind = ABOUT[row["about"]] if row["chapter"] <= number else "faint"
        parts.append(
            rectangle(
                kind + (" you" if row is own else ""),
                18,
                at * high + 1,
                wide * row["gflops"] / most,
                high - 4,
            )
        )
        parts.append(
            f'<text x="14" y="{at * high + 10}" text-anchor="end">{row["chapter"]}</text>'
        )
    end, height = 18 + wide * cublas / most, len(shown) * high
    parts.append(
        f'<path class="outline" d="M{end:.1f} 0V{height}" stroke-dasharray="3 3"/>'
    )
    speed = f"{own['gflops']:,.0f} GFLOP/s"
    if number >= plots.on_tensor_cores(every):
        speed = f"{own['gflops'] / 1000:,.0f} TFLOP/s in {own['precision']}"
    share = f"{100 * own['ratio_median']:.1f} % of cuBLAS"
    dashed = " (dashed)."
    if own["precision"] != precision:
        dashed = f" in {own['precision']}. Dashed: cuBLAS in {precision}."
    words = f"Step {number} of the ladder: {speed}, {share}{dashed}"
    return figure(f"0 0 {wide + 24} {height}", wide + 24, "".join(parts), words)


def roofline(every, measured, number, gpu):
    """By the bytes that came from memory, so no point is above its roof; with the way from the chapter before."""
    peak, slope = rows.roof(every)
    wide, high, left = 190, 140, 2
    precision = measured[number]["precision"]
    roofs = [peak] if precision == "fp32" else []
    if number >= plots.on_tensor_cores(every):
        # That of the tensor cores, at the highest clock.
        roofs.append(max(row["peak_gflops"] for row in rows.plain(every)))
    moved = profiles.intensity(gpu, precision)
    points = {n: row for n, row in measured.items() if n and n in moved}
    if number not in points:
        return ""
    right = max(1024, 1.3 * max(moved[n] for n in points))
    low = 0.5 * min(row["gflops"] for row in points.values())
    highest = max(roofs)

    def place(x, y):
        across = math.log(x / left) / math.log(right / left)
        up = math.log(y / low) / math.log(1.5 * highest / low)
        return 4 + across * (wide - 8), high - 4 - up * (high - 8)

    def path(kind, places):
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        return f'<path class="{kind}" d="M{line}"/>'

    at = {n: place(moved[n], row["gflops"]) for n, row in points.items()}
    before = max((n for n in points if n < number), default=number)
    slant = place(left, left * slope), place(highest / slope, highest)
    parts = [path("roof", slant)]
    parts += [path("roof", [place(y / slope, y), place(right, y)]) for y in roofs]
    parts.append(path("way", [at[before], at[number]]))
    for n, row in sorted(points.items(), key=lambda item: item[0] == number):
        x, y = at[n]
        mark = f"{ABOUT[row['about']]} you" if n == number else "grey"
        parts.append(
            f'<circle class="{mark}" cx="{x:.1f}" cy="{y:.1f}" r="{6 if n == number else 2.5}"/>'
        )
    words = (
        f"You are here on the roofline: {moved[number]:,.4g} FLOP for each byte that came from "
        "memory."
    )
    return figure(f"0 0 {wide} {high}", wide, "".join(parts), words)


def here(number, name, gpu="h200"):
    """The three pictures as HTML; those for which there are no numbers are left out."""
    every = rows.read(rows.ROOT / "results" / f"{gpu}.csv")
    of_kinds = [rows.of_size(every, SIZE, kind) for kind in rows.PRECISIONS]
    measured = next((found for found in of_kinds if number in found), {})
    parts = []
    known = constants(number, name)
    if number and {"BM", "BN"} <= known.keys():
        parts.append(strip(known))
    if number and number in measured:
        parts.append(ladder(every, number))
        parts.append(roofline(every, measured, number, gpu) if rows.roof(every) else "")
    return f'<div class="here">{"".join(parts)}</div>' if any(parts) else ""
