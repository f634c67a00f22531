"""Prints the figure of chapter 10: which tile is where, over time, in chapters 9 and 10."""

from palette import GLOBAL, REGISTERS
from timeline import FETCH, FILL, MULTIPLY, bar, barrier, draw, mark, one_ahead

FIRST = 2.6  # the first of chapter 10's rows


def chapter_10():
    """Round follows round; stage t % 3 is filled with tile t in the two rounds before."""
    step, parts = MULTIPLY, []
    parts += [barrier(4 + (tile + 1) * step, FIRST, 3) for tile in range(6)]
    for tile in range(8):
        row = FIRST + tile % 3
        begin = max(tile - 1, 0) * step if tile != 1 else 40
        end = (tile + 0.8 if tile > 1 else tile + 0.9) * step
        if begin < 6 * step:
            length = min(end, 6.28 * step) - begin
            parts.append(bar(row, 4 + begin, length, GLOBAL, f"copy {tile}"))
        if tile < 5:
            start = 4 + (tile + 1) * step
            parts.append(bar(row, start, step, REGISTERS, f"multiply {tile}"))
    return parts


ENDS = (
    mark(1, 1, 4 + FETCH + 3 * (FILL + MULTIPLY)),
    mark(FIRST + 2, 1, 4 + 4 * MULTIPLY),
)
draw(
    "Tiles over time: fetched, then stored in chapter 9; copied two rounds ahead in chapter 10",
    "time goes right, with the red line. dashed: a barrier, all warps wait. "
    "marked: three tiles are multiplied",
    (
        (0, "chapter 9: memory"),
        (1, "the block"),
        (FIRST, "chapter 10: stage 0"),
        (FIRST + 1, "stage 1"),
        (FIRST + 2, "stage 2"),
    ),
    FIRST + 3,
    [*one_ahead(0), *chapter_10(), *ENDS],
)
