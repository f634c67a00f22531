"""Prints images/15_descriptor.svg: the 64 bits that tell wgmma where a matrix lies, with the values that
chapters/15_warpgroups has in them for B."""

from palette import FAINT, GREY, INK, ON_COLOUR, SHARED

WIDTH, LEFT, TOP, BIT, HEIGHT = 800, 16, 34, 12, 34
# First bit, bits, name, B's value; no name: not used here.
FIELDS = [
    (0, 14, "start", "where the tile begins, / 16"),
    (14, 2, "", ""),
    (16, 14, "leading", "8,192 / 16: the next slab"),
    (30, 2, "", ""),
    (32, 14, "stride", "1,024 / 16: the next 8 k"),
    (46, 16, "", ""),
    (62, 2, "1", "swizzle: 128 bytes"),
]

print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="104" '
    f'viewBox="0 0 {WIDTH} 104" font-family="Helvetica,Arial,sans-serif" font-size="13" '
    f'text-anchor="middle">'
)
print("<title>The bits of a descriptor of wgmma</title>")
for first, count, name, value in FIELDS:
    # The highest bit on the left, as one writes a number.
    x, width = LEFT + (64 - first - count) * BIT, count * BIT
    print(
        f'<rect x="{x + 1}" y="{TOP}" width="{width - 2}" height="{HEIGHT}" rx="3" '
        f'fill="{SHARED if name else GREY}" fill-opacity="{1 if name else FAINT}"/>'
    )
    middle = x + width / 2
    if not name:
        continue
    print(
        f'<text x="{middle:g}" y="{TOP + 22}" fill="{ON_COLOUR}" font-weight="bold">'
        f"{name}</text>"
    )
    anchor, at = ("start", x) if first == 62 else ("middle", middle)
    print(
        f'<text x="{middle:g}" y="{TOP - 10}" fill="{GREY}" font-size="12">'
        f"{first + count - 1}–{first}</text>"
        f'<text x="{at:g}" y="{TOP + HEIGHT + 20}" fill="{INK}" text-anchor="{anchor}">'
        f"{value}</text>"
    )
print("</svg>")
