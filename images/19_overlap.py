"""Prints the figure of chapter 19: pieces that travel, and products that wait for them."""

from palette import GLOBAL, REGISTERS
from timeline import bar, draw, mark

PRODUCT, PIECE = 130, 92  # what a product of two pieces takes, and a piece on its way
APART, FOUR = 2.5, 5.0  # the first rows of the second and the third part


def late(row):
    """First the piece, then both products: a GPU's link, and its multiprocessors."""
    return [
        bar(row, 4, PIECE, GLOBAL, "B1"),
        bar(row + 1, 4 + PIECE, PRODUCT, REGISTERS, "A0 B0"),
        bar(row + 1, 4 + PIECE + PRODUCT, PRODUCT, REGISTERS, "A0 B1"),
        mark(row, 2, 4 + PIECE + 2 * PRODUCT),
    ]


def meanwhile(row, pieces):
    """The own piece is multiplied while the next one travels."""
    parts = [bar(row + 1, 4, PRODUCT, REGISTERS, "A0 B0")]
    for i in range(1, pieces):
        parts += [
            bar(row, 4 + (i - 1) * PIECE, PIECE, GLOBAL, f"B{i}"),
            bar(row + 1, 4 + i * PRODUCT, PRODUCT, REGISTERS, f"A0 B{i}"),
        ]
    return [*parts, mark(row, 2, 4 + pieces * PRODUCT)]


draw(
    "GPU 0 over time: products that wait for the other GPU's piece, and products that do not",
    "time: to the right; with 4 GPUs pieces are smaller than drawn. marked: GPU 0 has its part of C",
    (
        (0, "gather first: link"),
        (1, "multiply"),
        (APART, "2 GPUs: link"),
        (APART + 1, "multiply"),
        (FOUR, "4 GPUs: link"),
        (FOUR + 1, "multiply"),
    ),
    FOUR + 2,
    [*late(0), *meanwhile(APART, 2), *meanwhile(FOUR, 4)],
)
