"""Prints the figure of chapter 17: 3072 each way on 66 clusters, in tiles of two widths, and shared."""

from palette import FAINT, FONT, GLOBAL, GREY, MOVING, ON_COLOUR, REGISTERS

CLUSTERS, HIGH, ROUND, TOP, LEFT, GAP = 66, 198, 84, 66, 34, 26
ROWS, N = 256, 3072  # of a cluster's tiles
WIDTH = LEFT + 3 * (3 * ROUND + GAP) + 10

print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{TOP + HIGH + 34}" '
    f'viewBox="0 0 {WIDTH} {TOP + HIGH + 34}" font-family="{FONT}" font-size="14">'
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
    text(left, 24, title, weight="bold")
    units, width = N // ROWS * (N // columns), ROUND * columns / 256
    last = f", the last {units % CLUSTERS} shared" if share else ""
    text(left, 46, f"{units} pairs of tiles{last}")
    print(
        f'<rect x="{left}" y="{TOP}" width="{3 * ROUND - 2}" height="{HIGH}" fill="{GREY}" opacity="{FAINT}"/>'
    )
    x = left
    while units >= CLUSTERS or units and not share:
        now = min(units, CLUSTERS)
        block(x, width, now, REGISTERS, str(now))
        x, units = x + width, units - now
    more = ""
    if units:  # how long adding up takes is not known here: its block is no measure of it
        length = width * units / CLUSTERS
        block(x, length, CLUSTERS, REGISTERS)
        x += length
        block(x, 10, CLUSTERS, GLOBAL)
        more = " + adding up"
    print(
        f'<path d="M{x:.1f} {TOP - 8}V{TOP + HIGH + 4}" stroke="{MOVING}" stroke-width="2"/>'
    )
    text(x, TOP + HIGH + 22, f"{(x - left) / ROUND:.2f}{more}", MOVING, "middle", "bold")


panel(0, "256 columns, whole", 256, False)
panel(1, "192 columns, whole", 192, False)
panel(2, "256 columns, shared", 256, True)
print(
    f'<text x="18" y="{TOP + HIGH / 2:.0f}" fill="{GREY}" text-anchor="middle" '
    f'transform="rotate(-90 18 {TOP + HIGH / 2:.0f})">66 clusters</text>'
)
print("</svg>")
