"""Prints images/15_operands.svg: how an element of A or B gets into a tensor core, in chapter 14 and in
chapter 15, for one multiplication of 64 x 256 x 16."""

from palette import GREY, INK, MOVING, ON_COLOUR, REGISTERS, SHARED

WIDTH, HEIGHT = 800, 318
ROW, LEFT = 166, 20

print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
    f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Helvetica,Arial,sans-serif" font-size="13" '
    f'text-anchor="middle">'
)
print("<title>From shared memory to the tensor core, with registers and without</title>")
print(
    f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{MOVING}"/></marker></defs>'
)


def box(x, y, width, height, colour, *lines, faint=False):
    opacity = ' fill-opacity="0.2"' if faint else ""
    print(
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" '
        f'fill="{colour}"{opacity}/>'
    )
    for i, line in enumerate(lines):
        at = y + height / 2 + 5 + (i - (len(lines) - 1) / 2) * 17
        print(
            f'<text x="{x + width / 2}" y="{at:g}" fill="{INK if faint else ON_COLOUR}">'
            f"{line}</text>"
        )


def arrow(x, y, to, *words):
    print(
        f'<path d="M{x} {y}H{to - 2}" stroke="{MOVING}" stroke-width="2.5" fill="none" '
        f'marker-end="url(#tip)"/>'
    )
    for i, line in enumerate(reversed(words)):
        print(
            f'<text x="{(x + to) / 2}" y="{y - 7 - 15 * i}" fill="{GREY}">{line}</text>'
        )


def heading(y, words):
    print(
        f'<text x="{LEFT}" y="{y}" fill="{GREY}" font-weight="bold" text-anchor="start">'
        f"{words}</text>"
    )


heading(22, "Chapter 14: four warps, 64 × 64 results each, 32 mma each")
box(LEFT, 46, 120, 100, SHARED, "shared", "memory")
for warp in range(4):
    y = 46 + warp * 26
    box(330, y, 170, 22, REGISTERS, f"warp {warp}: A and B")
    arrow(LEFT + 122, y + 11, 328, *(["ldmatrix"] if warp == 0 else []))
    arrow(502, y + 11, 658, *(["mma"] if warp == 0 else []))
    box(660, y, 120, 22, REGISTERS, "tensor core")

heading(22 + ROW, "Chapter 15: one warpgroup, 64 × 256 results, one wgmma")
box(LEFT, 36 + ROW, 120, 100, SHARED, "shared", "memory")
arrow(LEFT + 122, 36 + ROW + 30, 640, "A, 64 × 16")
arrow(LEFT + 122, 36 + ROW + 74, 640, "B, 16 × 256, once for all four")
print(
    f'<path d="M654 {36 + ROW}h-10v100h10" stroke="{MOVING}" stroke-width="2.5" fill="none"/>'
)
for warp in range(4):
    box(660, 36 + ROW + warp * 26, 120, 22, REGISTERS, "tensor core")
print("</svg>")
