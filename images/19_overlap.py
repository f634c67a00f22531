"""Prints the figure of chapter 19: pieces that travel, and products that wait for them.

Computed, and to scale: one GPU's time for the product, and the link, are those of results/many_gpus."""

import many_gpus
from palette import GLOBAL, GREY, REGISTERS
from timeline import LEFT, ROW, TOP, bar, draw, mark, text

SIZE, ELEMENT = 8192, 2  # M = N = K, and the bytes of a bf16
PIXELS = 830  # for a millisecond
APART, FOUR = 2.5, 5.0  # the first rows of the second and the third part

one_gpu_ms = min(
    row["one_gpu_ms"]
    for row in many_gpus.read()
    if row["precision"] == "bf16" and row["M"] == SIZE
)


def part(row, gpus, gather=False):
    """GPU 0's link, and its multiprocessors. A piece is multiplied when it has come, and if all are
    gathered first, when the last one has."""
    product = PIXELS * one_gpu_ms / gpus**2
    piece = PIXELS * SIZE**2 * ELEMENT / gpus / many_gpus.LINK_GBS / 1e6
    parts, end = [], 4
    for i in range(gpus):
        if i:
            parts.append(bar(row, 4 + (i - 1) * piece, piece, GLOBAL, f"B{i}"))
        end = max(end, 4 + (gpus - 1 if gather else i) * piece)
        parts.append(bar(row + 1, end, product, REGISTERS, f"A0 B{i}"))
        end += product
    return [*parts, mark(row, 2, end)]


def axis(row):
    """Milliseconds."""
    y = TOP + row * ROW
    for tenths in range(0, 10, 2):
        x = LEFT + 4 + PIXELS * tenths / 10
        yield f'<path d="M{x:.0f} {y:.0f}v6" stroke="{GREY}"/>'
        yield text(x, y + 20, f"{tenths / 10:g}" + " ms" * (tenths == 8), anchor="middle")


draw(
    "GPU 0 over time: products that wait for the other GPU's piece, and products that do not",
    f"time goes right, with the red line; computed for {SIZE:,} × {SIZE:,} in bf16. marked: GPU 0 has its part of C",
    (
        (0, "gather first: link"),
        (1, "multiply"),
        (APART, "2 GPUs: link"),
        (APART + 1, "multiply"),
        (FOUR, "4 GPUs: link"),
        (FOUR + 1, "multiply"),
    ),
    FOUR + 2.8,
    [*part(0, 2, gather=True), *part(APART, 2), *part(FOUR, 4), *axis(FOUR + 2.1)],
)
