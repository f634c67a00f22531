"""Prints the figure of chapter 17: which kernel gets which product, from results/kernels.csv."""

import rows
from palette import FONT, GLOBAL, GREY, INK, ON_COLOUR, REGISTERS, SHARED

SMALL = (REGISTERS, 0.2, "64 × 128, 128 × 64")
LARGE = (REGISTERS, 1, "128 × 192, 128 × 256")
NARROW = (REGISTERS, 0.5, "64 to 192 × 64, turned over")
BROAD = (REGISTERS, 1, "64 to 192 × 128, turned over")
# What results/kernels.cu calls a kernel: its colour, how opaque, and its name.
KERNELS = {
    "split_k": (SHARED, 0.3, "split_k, one block a tile"),
    "split_k divided": (SHARED, 1, "split_k, blocks divide K"),
    "thin": (GLOBAL, 0.8, "thin"),
    "64 x 128": SMALL,
    "128 x 64": SMALL,
    "128 x 128": (REGISTERS, 0.56, "128 × 128"),
    "128 x 192": LARGE,
    "128 x 256": LARGE,
    **{f"{high} x 64 turned": NARROW for high in (64, 96, 128, 160, 192)},
    **{f"{high} x 128 turned": BROAD for high in (64, 96, 112, 128, 144, 160, 192)},
}
KINDS = list(dict.fromkeys(KERNELS.values()))
CELL, TOP, LEFT, LINE, LINES = 14, 64, 92, 24, 3
GAP = 5 * CELL  # the patterns go on in the next panel

found = {}
columns = ("K", "M", "N", "kernel")
table = rows.ROOT / "results" / "kernels.csv"
for row in rows.read_table(table, rows.kinds(columns, ("kernel",), ("K", "M", "N"))):
    found.setdefault(row["K"], []).append((row["M"], row["N"], row["kernel"]))
heights = {K: sorted({M for M, _, _ in products}) for K, products in found.items()}
LABELLED = [heights[1024].index(side) for side in (1, 8, 64, 512, 4096, 16384)]
SIDE = CELL * max(map(len, heights.values()))
WIDTH = LEFT + len(found) * (SIDE + GAP)
BOTTOM = TOP + SIDE + 64
HEIGHT = BOTTOM + LINES * LINE + 6


def text(x, y, words, anchor="middle", more=""):
    print(
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{GREY}" text-anchor="{anchor}"{more}>{words}</text>'
    )


def cell(kind):
    """A cell of one kind, and the pattern that repeats it: filled, or of what is turned over one half. Pale ones
    have an edge that can be seen."""
    colour, opacity, words = kind
    side, number = CELL - 2, KINDS.index(kind)
    half = f"M0.5 {side + 0.5}v-{side}h{side}z"
    whole = f"M0.5 0.5h{side}v{side}h-{side}z"
    print(
        f'<g id="c{number}"><path d="{half if "turned" in words else whole}" fill="{colour}" '
        f'fill-opacity="{opacity}"/><path d="{whole}" fill="none" stroke="{colour}"/></g>'
        f'<pattern id="p{number}" patternUnits="userSpaceOnUse" x="{LEFT}" y="{TOP}" '
        f'width="{CELL}" height="{CELL}"><use href="#c{number}"/></pattern>'
    )


def cells(kind, corners):
    """All cells of one kind: one path, with a rectangle for those side by side."""
    taken, path = set(corners), ""
    for x, y in sorted(corners):
        if (x - CELL, y) not in taken:
            end = x
            while (end, y) in taken:
                end += CELL
            path += f"M{x} {y}h{end - x}v{CELL}H{x}z"
    print(f'<path fill="url(#p{KINDS.index(kind)})" d="{path}"/>')


def middle(corners):
    """The middle of the largest square of cells."""
    taken = set(corners)

    def room(corner):
        x, y = corner
        size = 1
        while all(
            (x + i * CELL, y + j * CELL) in taken
            for i in range(size)
            for j in range(size)
        ):
            size += 1
        return size - 1

    x, y = max(corners, key=room)
    return x + room((x, y)) * CELL / 2, y + room((x, y)) * CELL / 2


def name(corners, words):
    x, y = middle(corners)
    wide = 8 * len(words) + 8
    print(
        f'<rect x="{x - wide / 2:g}" y="{y - 11:g}" width="{wide}" height="22" rx="4" fill="{ON_COLOUR}"/>'
        f'<text x="{x:g}" y="{y + 5:g}" fill="{INK}" text-anchor="middle">{words}</text>'
    )


def panel(left, K, title):
    text(left, 24, title[0], "start", ' font-weight="bold"')
    text(left, 46, title[1], "start")
    sides = heights[K]
    corners = {}
    for M, N, kernel in found[K]:
        corner = left + sides.index(N) * CELL, TOP + sides.index(M) * CELL
        corners.setdefault(KERNELS[kernel], []).append(corner)
    families = {}
    for kind, of_kind in corners.items():
        cells(kind, of_kind)
        family = kind[2].partition(",")[0] if kind[0] in (SHARED, GLOBAL) else "tiles"
        families.setdefault(family, []).extend(of_kind)
    for family, of_family in families.items():
        if len(of_family) > 16:
            name(of_family, family)
    for i in LABELLED:
        middle = i * CELL + CELL / 2
        text(left + middle, TOP + SIDE + 20, f"{sides[i]:,}")
        text(left - 8, TOP + middle + 4, f"{sides[i]:,}", "end")
    text(left + SIDE / 2, TOP + SIDE + 42, "N")
    text(left - 46, TOP + SIDE / 2 + 4, "M")


print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
    f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="{FONT}" font-size="14">'
)
print("<title>Which kernel gets which product</title><defs>")
for kind in KINDS:
    cell(kind)
print("</defs>")
panel(LEFT, 1024, ("K = 1,024", "rows begin at multiples of 16 bytes, if 8 divides N"))
panel(
    LEFT + SIDE + GAP, 1023, ("K = 1,023, M and N one less, too", "rows begin anywhere")
)
for i, kind in enumerate(KINDS):
    x, y = LEFT + i // LINES * 240, BOTTOM + i % LINES * LINE
    print(f'<use href="#c{i}" x="{x}" y="{y}"/>')
    words = kind[2]
    text(x + CELL + 8, y + 12, words if i < 3 else f"tiles of {words}", "start")
x, y = LEFT + 2 * 240 + CELL + 8, BOTTOM + 2 * LINE + 12
text(x, y, "turned over: C transposed is computed", "start")
print("</svg>")
