"""Prints the figure of chapter 17: rows of seven bf16 in lines of 16 bytes, as they are and copied."""

from palette import FAINT, FONT, GLOBAL, GREY, INK, ON_COLOUR

COLS, LINE, ROWS = 7, 8, 4  # elements in a row and in a line of 16 bytes, rows
CELL, HIGH, TOP, GAP = 48, 34, 62, 60
WIDTH, LINES = 2 * LINE * CELL + GAP + 40, ROWS

print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{TOP + LINES * (HIGH + 8) + 26}" '
    f'viewBox="0 0 {WIDTH} {TOP + LINES * (HIGH + 8) + 26}" font-family="{FONT}" font-size="14">'
)
print("<title>Rows of seven bf16 in lines of 16 bytes, as they are and copied</title>")


def text(x, y, words, colour=GREY, anchor="middle", weight="normal"):
    print(
        f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}">{words}</text>'
    )


def panel(left, stride, title):
    """The matrix with rows `stride` elements apart; an outline where a row begins."""
    text(left, 24, title, anchor="start", weight="bold")
    text(
        left,
        46,
        "a line is 16 bytes, a box one bf16; outlined: a row begins",
        anchor="start",
    )
    begins = []
    for at in range(LINES * LINE):
        row, col = at // stride, at % stride
        x, y = left + at % LINE * CELL, TOP + at // LINE * (HIGH + 8)
        there = row < ROWS and col < COLS
        colour = GLOBAL if there else GREY
        # Every second row in a shade of its own, and what is no row's faint.
        shade = (1, 0.5)[row % 2] if there else FAINT
        faint = f' opacity="{shade}"'
        print(
            f'<rect x="{x}" y="{y}" width="{CELL - 3}" height="{HIGH}" rx="3" fill="{colour}"{faint}/>'
        )
        if there:
            colour = INK if row % 2 else ON_COLOUR
            text(x + CELL / 2 - 1.5, y + 22, f"{row},{col}", colour, weight="bold")
            if col == 0:
                begins.append((x, y))
    for x, y in begins:
        print(
            f'<rect x="{x - 1}" y="{y - 1}" width="{CELL - 1}" height="{HIGH + 2}" rx="4" fill="none" '
            f'stroke="{INK}" stroke-width="3"/>'
        )


panel(10, COLS, "N = 7: rows begin anywhere")
panel(10 + LINE * CELL + GAP, LINE, "a copy: every row begins a line")
print("</svg>")
