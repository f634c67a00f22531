"""Prints images/18_split.svg: the 24 bits of 0.1, what hi and lo take of them, and what is left."""

import struct

from palette import GREY as REST, INK, ON_COLOUR

BIT, HIGH, LEFT = 26, 28, 120
SCALE = 2.0**18  # brings 0.1 between 2^14 and 2^15


def rounded(x, kind):
    return struct.unpack(kind, struct.pack(kind, x))[0]


y = rounded(0.1, "f") * SCALE
hi = rounded(y, "e")
lo = rounded((y - hi) * 2048, "e")
left = y - hi - lo / 2048
TOP = 14  # y, hi and lo / 2^11 as bits of 2^14 and below
LAST = -9  # y's last bit

print(
    '<svg xmlns="http://www.w3.org/2000/svg" width="860" height="270" viewBox="0 0 860 270" '
    'font-family="Helvetica,Arial,sans-serif" font-size="14">'
)


def text(x, y, words, colour=REST, anchor="middle", weight="normal"):
    print(
        f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}">{words}</text>'
    )


def bits(row, value, first, last, name, words):
    """A number's bits from 2^first down to 2^last: a float's in grey, outlined what is taken of them."""
    look, digit = f'fill="{REST}"', ON_COLOUR
    if row:
        look, digit = f'fill="none" stroke="{INK}" stroke-width="2"', INK
    top = 40 + 56 * row
    text(LEFT - 14, top + 19, name, anchor="end", weight="bold")
    whole = int(abs(value) / 2.0**last)
    for place in range(first, last - 1, -1):
        x = LEFT + (TOP - place) * BIT
        print(
            f'<rect x="{x}" y="{top}" width="{BIT - 3}" height="{HIGH}" rx="3" {look}/>'
        )
        text(
            x + (BIT - 3) / 2, top + 19, whole >> (place - last) & 1, digit, weight="bold"
        )
    text(LEFT, top + HIGH + 16, words, anchor="start")


bits(0, y, TOP, LAST, "0.1 · 2¹⁸", f"a float has 24 bits: {y:.10g}")
bits(1, hi, TOP, TOP - 10, "hi", f"the nearest half, 11 bits: {hi:.10g}")
bits(
    2,
    lo / 2048,
    2,
    -8,
    "lo",
    f"the nearest half to 2¹¹ times the rest: {lo:.10g}, that is {lo / 2048:.10g}",
)
text(
    LEFT,
    40 + 3 * 56 + 16,
    f"left over: {left:.3g}, about 2⁻²⁴ of the number",
    anchor="start",
)
print("</svg>")
