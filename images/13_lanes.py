"""Prints images/13_lanes.svg: where lanes 0 to 3 stand in three orders of a warp's 4 x 8 lanes.

The orders are those of chapters/13_copy_engine/lanes.cuh, the wavefronts what
`LENS=1 ./chapter13 4096 640 80` counts with each of them (tried/lanes_*.diff)."""

from palette import GREY, INK, REGISTERS

CELL, GAP, LEFT, TOP = 32, 46, 10, 36  # a lane, between two panels, around them
ROWS, COLUMNS = 4, 8
OUTLINE = f' stroke="{INK}" stroke-width="4"'

# A lane's (row, column), what lanes 0 to 3 have in common, and what the reads take.
PANELS = [
    (
        "row by row",
        lambda lane: (lane // 8, lane % 8),
        "0 and 1 share a row",
        "A: 2 wavefronts, B: 4",
    ),
    (
        "in a z",
        lambda lane: (lane // 2 % 4, lane // 8 * 2 + lane % 2),
        "0 and 1 share a row, 0 and 2 a column",
        "A: 2, B: 2",
    ),
    (
        "on diagonals",
        lambda lane: (lane % 4, lane // 4 ^ lane % 4),
        "no two of 0 to 3 share either",
        "A: 4, B: 4",
    ),
]

panel_width, height = COLUMNS * CELL, TOP + ROWS * CELL + 54
width = 2 * LEFT + len(PANELS) * panel_width + (len(PANELS) - 1) * GAP
print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    f'viewBox="0 0 {width} {height}" font-family="Helvetica,Arial,sans-serif" font-size="14" '
    f'text-anchor="middle">'
)
print("<title>Three orders of the 32 lanes of a warp in four rows of eight</title>")
for number, (title, place, shared, wavefronts) in enumerate(PANELS):
    left = LEFT + number * (panel_width + GAP)
    for y, weight, words in (
        (TOP - 14, "bold", title),
        (TOP + ROWS * CELL + 22, "normal", shared),
        (TOP + ROWS * CELL + 44, "bold", wavefronts),
    ):
        print(
            f'<text x="{left + panel_width // 2}" y="{y}" fill="{GREY}" '
            f'font-weight="{weight}">{words}</text>'
        )
    for lane in range(ROWS * COLUMNS):
        row, column = place(lane)
        x, y = left + column * CELL, TOP + row * CELL
        print(
            f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" rx="2" '
            f'fill="{REGISTERS}"{OUTLINE if lane < 4 else ""}/>'
            f'<text x="{x + CELL // 2 - 1}" y="{y + CELL // 2 + 4}" fill="#ffffff" '
            f'font-weight="bold">{lane}</text>'
        )
print("</svg>")
