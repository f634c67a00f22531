"""Prints the figure of chapter 10: which tile is where, over time, in chapters 9 and 10.

Not a .dot, because bars have lengths and the red line moves. Time runs to the right."""

from palette import GLOBAL, GREY, INK, MOVING, REGISTERS, SHARED

LEFT, WIDTH, ROW, BAR = 150, 896, 36, 28  # of the bars, the picture, a row, a bar
SECONDS = 12


def text(x, y, words, colour=GREY, anchor="start", weight="normal"):
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{words}</text>'
    )


def bar(row, start, length, colour, words):
    """A bar in a row; start and length are in pixels from LEFT."""
    x, y = LEFT + start, 44 + row * ROW
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{length - 2:.0f}" height="{BAR}" rx="3" '
        f'fill="{colour}"/>'
        + text(x + length / 2 - 1, y + 19, words, "#ffffff", "middle", "bold")
    )


def barrier(start, first_row, rows):
    x, top = LEFT + start - 1, 40 + first_row * ROW
    return (
        f'<line x1="{x:.0f}" y1="{top}" x2="{x:.0f}" y2="{top + rows * ROW}" '
        f'stroke="{GREY}" stroke-width="2" stroke-dasharray="4 3"/>'
    )


def chapter_9():
    """A round multiplies and stores, with a barrier before and after the store."""
    multiply, store, parts = 118, 66, []
    for tile in range(4):
        start = 4 + tile * (multiply + store)
        parts += [
            barrier(start + multiply, 0, 2),
            barrier(start + multiply + store, 0, 2),
            bar(0, start, 86, GLOBAL, f"fetch {tile + 1}"),
            bar(1, start, multiply, REGISTERS, f"multiply {tile}"),
            bar(1, start + multiply, store, SHARED, f"store {tile + 1}"),
        ]
    return parts


def chapter_10():
    """Round follows round; stage t % 3 is filled with tile t in the two rounds before."""
    step, first = 118, 2.6
    parts = [barrier(4 + (tile + 1) * step, first, 3) for tile in range(6)]
    for tile in range(8):
        row = first + tile % 3
        begin = max(tile - 1, 0) * step if tile != 1 else 40
        end = (tile + 0.8 if tile > 1 else tile + 0.9) * step
        if begin < 6 * step:
            length = min(end, 6.28 * step) - begin
            parts.append(bar(row, 4 + begin, length, GLOBAL, f"copy {tile}"))
        if tile < 5:
            start = 4 + (tile + 1) * step
            parts.append(bar(row, start, step, REGISTERS, f"multiply {tile}"))
    return parts


height = 44 + 6 * ROW
print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
    f'viewBox="0 0 {WIDTH} {height}" font-family="Helvetica,Arial,sans-serif" font-size="14">'
)
print(
    "<title>Tiles over time: two barriers a tile in chapter 9, one in chapter 10</title>"
)
print(
    text(
        LEFT + 4, 24, "time: to the right. dashed: a barrier, all warps of the block wait"
    )
)
for row, words in (
    (0, "chapter 9: registers"),
    (1, "tile"),
    (2.6, "chapter 10: stage 0"),
    (3.6, "stage 1"),
    (4.6, "stage 2"),
):
    print(text(LEFT - 8, 63 + row * ROW, words, anchor="end"))
print("\n".join(chapter_9() + chapter_10()))
# Both have multiplied four tiles here. A store and a barrier less each time make the difference.
ENDS = (1, 4 + 3 * 184 + 118), (2.6, 4 + 5 * 118)
for row, end in ENDS:
    print(
        f'<path d="M{LEFT + end - 1:.0f} {36 + row * ROW:.0f}v{BAR + 16}" stroke="{INK}" '
        f'stroke-width="4"/>'
    )
print(text(LEFT + ENDS[1][1] - 10, 127, "marked: four tiles are multiplied", GREY, "end"))
# The line of time moves by CSS, for readers who have not asked for less motion.
print(
    "<style>@keyframes time { to { transform: translateX("
    f"{WIDTH - 6 - LEFT}px); }} }} @media (prefers-reduced-motion: no-preference) "
    f"{{ .time {{ animation: time {SECONDS}s linear infinite; }} }}</style>"
)
print(
    f'<line class="time" x1="{LEFT}" y1="36" x2="{LEFT}" y2="{height - 4}" '
    f'stroke="{MOVING}" stroke-width="2"/>'
)
print("</svg>")
