"""Prints images/12_shares.svg: 7 tiles for 4 SMs, dealt whole and dealt in shares of k-blocks."""

from palette import GLOBAL, GREY as REST, REGISTERS

BLOCKS, SMS, TILES = 8, 4, 7  # k-blocks a tile, SMs, tiles
UNIT, HIGH, LEFT = 38, 30, 70

print(
    '<svg xmlns="http://www.w3.org/2000/svg" width="860" height="420" viewBox="0 0 860 420" '
    'font-family="Helvetica,Arial,sans-serif" font-size="14">'
)


def text(x, y, words, colour=REST, anchor="middle", weight="normal"):
    print(
        f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}">{words}</text>'
    )


def box(x, y, blocks, colour, words):
    print(
        f'<rect x="{LEFT + x * UNIT}" y="{y}" width="{blocks * UNIT - 3}" height="{HIGH}" rx="3" fill="{colour}"/>'
    )
    text(LEFT + (x + blocks / 2) * UNIT - 1.5, y + 20, words, "#ffffff", weight="bold")


def rows(top):
    for sm in range(SMS):
        text(LEFT - 12, top + 20 + sm * 38, f"SM {sm}", anchor="end")


def ruler(top, end):
    x = LEFT + end * UNIT - 1.5
    print(
        f'<path d="M{x} {top - 8}V{top + 4 * 38}" stroke="{REST}" stroke-dasharray="4 3" stroke-width="1.5"/>'
    )
    text(x + 8, top + 4 * 38 - 4, f"{end} k-blocks of time", anchor="start")


text(
    LEFT,
    22,
    f"one tile of {BLOCKS} k-blocks per block: the second wave has 3 tiles for 4 SMs, and SM 3 waits",
    anchor="start",
)
rows(38)
for tile in range(TILES):
    box(
        tile // SMS * BLOCKS,
        38 + tile % SMS * 38,
        BLOCKS,
        REGISTERS,
        f"tile {tile}: all of K",
    )
ruler(38, 2 * BLOCKS)

text(
    LEFT,
    240,
    "the last 3 tiles in equal shares: 24 k-blocks for 4 SMs are 6 each; "
    "orange: sums pass through global memory",
    anchor="start",
)
rows(256)
for tile in range(SMS):
    box(0, 256 + tile * 38, BLOCKS, REGISTERS, f"tile {tile}: all of K")
shares = [[(4, 0, 6)], [(4, 6, 8), (5, 0, 4)], [(5, 4, 8), (6, 0, 2)], [(6, 2, 8)]]
for sm, parts in enumerate(shares):
    at = BLOCKS
    for tile, begin, end in parts:
        box(at, 256 + sm * 38, end - begin, GLOBAL, f"{tile}: {begin} to {end - 1}")
        at += end - begin
ruler(256, 14)
print("</svg>")
