"""Prints the figure of chapter 17: 3072 each way on 66 clusters, in tiles of two widths, and shared."""

import math

from palette import FAINT, FONT, GLOBAL, GREY, INK, ON_COLOUR, REGISTERS

CLUSTERS, HIGH, ROUND, TOP, LEFT, GAP = 66, 198, 80, 94, 34, 40
ROWS, N = 256, 3072  # of a cluster's tiles
WIDTH = LEFT + 3 * (3 * ROUND + GAP) + 10
HEIGHT = TOP + HIGH + 62

print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
    f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="{FONT}" font-size="14">'
)
print("<title>3072 each way on 66 clusters: rounds of two widths, and shares</title>")


def text(x, y, words, colour=GREY, anchor="start", weight="normal"):
    print(
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}">{words}</text>'
    )


def block(x, width, clusters, colour, words=""):
    """So many clusters are busy for so long."""
    high = HIGH * clusters / CLUSTERS
    print(
        f'<rect x="{x:.1f}" y="{TOP + HIGH - high:.1f}" width="{width - 2:.1f}" '
        f'height="{high:.1f}" rx="2" fill="{colour}"/>'
    )
    if words:
        y = TOP + HIGH - high / 2 + 5 if high > 24 else TOP + HIGH - high - 8
        text(
            x + width / 2 - 1,
            y,
            words,
            ON_COLOUR if high > 24 else GREY,
            "middle",
            "bold",
        )


def panel(number, title, columns, share):
    left = LEFT + number * (3 * ROUND + GAP)
    text(left, TOP - 42, title, weight="bold")
    units, width = N // ROWS * (N // columns), ROUND * columns / 256
    last = f", the last {units % CLUSTERS} shared" if share else ""
    text(left, TOP - 20, f"{units} pairs of tiles{last}")
    rounds = units / CLUSTERS if share else math.ceil(units / CLUSTERS)
    time = rounds * columns / 256
    print(
        f'<rect x="{left}" y="{TOP}" width="{time * ROUND:.1f}" height="{HIGH}" fill="{GREY}" opacity="{FAINT}"/>'
    )
    x, end = left, left + time * ROUND
    while units >= CLUSTERS or units and not share:
        now = min(units, CLUSTERS)
        block(x, width, now, REGISTERS, str(now))
        x, units = x + width, units - now
        if 0 < now < CLUSTERS / 2:
            text(x - width / 2, TOP + HIGH / 2, "idle", INK, "middle")
    if units:  # how long adding up takes is not known here: its block is no measure of it
        block(x, end - x, CLUSTERS, REGISTERS)
        block(end, 10, CLUSTERS, GLOBAL)
        text(end + 16, TOP + HIGH / 2, "adding up", GLOBAL, weight="bold")
        end += 10
    print(
        f'<path d="M{end:.1f} {TOP - 8}V{TOP + HIGH + 8}" stroke="{INK}" stroke-width="3"/>'
    )
    words = f"{time:.2f} + adding up" if share else f"{time:.2f}"
    text(end, TOP + HIGH + 24, words, INK, "middle", "bold")
    for tick in range(4):
        at = left + tick * ROUND
        print(f'<path d="M{at} {TOP + HIGH}v8" stroke="{GREY}"/>')
        if abs(tick - time) > (1 if share else 0.5):
            text(at, TOP + HIGH + 24, tick, anchor="middle")
    text(left + 1.5 * ROUND, TOP + HIGH + 48, "rounds of 256 columns", anchor="middle")


text(
    LEFT,
    22,
    f"M = N = K = {N:,} on {CLUSTERS} clusters, which multiply a pair of tiles at a time",
)
panel(0, "256 columns, whole", 256, False)
panel(1, "192 columns, whole", 192, False)
panel(2, "256 columns, shared", 256, True)
print(
    f'<text x="18" y="{TOP + HIGH / 2:.0f}" fill="{GREY}" text-anchor="middle" '
    f'transform="rotate(-90 18 {TOP + HIGH / 2:.0f})">{CLUSTERS} clusters</text>'
)
print("</svg>")
