"""Draws what happens when, as bars over time: the figures of chapters 8, 10, 16 and 19.

Not Graphviz, because bars have lengths and a line of time moves along them. Lengths are in pixels,
and in chapters 8 to 16 to no scale: they show an order."""

from palette import FONT, GLOBAL, GREY, INK, MOVING, ON_COLOUR, REGISTERS, SHARED

LEFT, WIDTH, TOP, ROW, BAR = 150, 896, 44, 36, 28  # of the bars, the picture, rows, a bar
SECONDS = 12
FETCH, FILL, MULTIPLY = 96, 44, 118  # what a tile takes


def text(x, y, words, colour=GREY, anchor="start", weight="normal"):
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{words}</text>'
    )


def bar(row, start, length, colour, words):
    """A bar in a row; start and length are in pixels from LEFT."""
    x, y = LEFT + start, TOP + row * ROW
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{length - 2:.0f}" height="{BAR}" rx="3" '
        f'fill="{colour}"/>'
        + text(x + length / 2 - 1, y + 19, words, ON_COLOUR, "middle", "bold")
    )


def barrier(start, first_row, rows):
    x, top = LEFT + start - 1, TOP - 4 + first_row * ROW
    return (
        f'<line x1="{x:.0f}" y1="{top:.0f}" x2="{x:.0f}" y2="{top + rows * ROW:.0f}" '
        f'stroke="{GREY}" stroke-width="2" stroke-dasharray="4 3"/>'
    )


def one_ahead(row):
    """Chapters 8 and 9, in two rows: while a tile is multiplied the next is fetched, and then
    stored into the other buffer, before the only barrier."""
    parts, step, room = [], MULTIPLY + FILL, WIDTH - LEFT
    for tile in range(5):
        fetch = 4 if tile == 0 else 4 + FETCH + FILL + (tile - 1) * step
        fill = 4 + FETCH + tile * step
        multiply = fill + FILL
        parts.append(bar(row, fetch, FETCH, GLOBAL, f"fetch {tile}"))
        if multiply <= room:
            parts.append(bar(row + 1, fill, FILL, SHARED, f"fill {tile}"))
            parts.append(barrier(multiply, row, 2))
        if multiply + MULTIPLY <= room:
            parts.append(bar(row + 1, multiply, MULTIPLY, REGISTERS, f"multiply {tile}"))
    return parts


def mark(row, rows, start):
    """A thick line across rows: the same work is done here."""
    return (
        f'<path d="M{LEFT + start - 1:.0f} {TOP - 8 + row * ROW:.0f}v{rows * ROW + 8:.0f}" '
        f'stroke="{INK}" stroke-width="4"/>'
    )


def draw(title, legend, names, rows, parts):
    """Prints the figure. names: (row, what stands on its left)."""
    height = TOP + rows * ROW
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {WIDTH} {height:.0f}" font-family="{FONT}" font-size="14">'
    )
    print(f"<title>{title}</title>")
    print(text(LEFT + 4, 24, legend))
    for row, words in names:
        print(text(LEFT - 8, TOP + 19 + row * ROW, words, anchor="end"))
    print("\n".join(parts))
    # The line of time moves by CSS, for readers who have not asked for less motion.
    print(
        "<style>@keyframes time { to { transform: translateX("
        f"{WIDTH - 6 - LEFT}px); }} }} @media (prefers-reduced-motion: no-preference) "
        f"{{ .time {{ animation: time {SECONDS}s linear infinite; }} }}</style>"
    )
    print(
        f'<line class="time" x1="{LEFT}" y1="36" x2="{LEFT}" y2="{height - 4:.0f}" '
        f'stroke="{MOVING}" stroke-width="2"/>'
    )
    print("</svg>")
