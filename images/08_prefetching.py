"""Prints the figure of chapter 8: fetching and multiplying over time, in chapters 7 and 8."""

from palette import GLOBAL, REGISTERS, SHARED
from timeline import FETCH, FILL, MULTIPLY, bar, barrier, draw, mark, one_ahead

SECOND = 2.6  # the first row of chapter 8


def chapter_7():
    """A tile is fetched, stored and multiplied, one after the other; a barrier on either
    side of the store."""
    parts, step = [], FETCH + FILL + MULTIPLY
    for tile in range(3):
        start = 4 + tile * step
        parts += [
            barrier(start + FETCH, 0, 2),
            barrier(start + FETCH + FILL, 0, 2),
            bar(0, start, FETCH, GLOBAL, f"fetch {tile}"),
            bar(1, start + FETCH, FILL, SHARED, f"fill {tile}"),
        ]
        if tile < 2:
            parts.append(
                bar(1, start + FETCH + FILL, MULTIPLY, REGISTERS, f"multiply {tile}")
            )
    return parts


ENDS = (
    mark(0, 2, 4 + 2 * (FETCH + FILL + MULTIPLY)),
    mark(SECOND, 2, 4 + FETCH + 2 * (FILL + MULTIPLY)),
)
draw(
    "Fetching and multiplying over time: one after the other in chapter 7, at once in chapter 8",
    "time goes right, with the red line. dashed: a barrier, all warps wait. "
    "marked: two tiles are multiplied",
    (
        (0, "chapter 7: memory"),
        (1, "the block"),
        (SECOND, "chapter 8: memory"),
        (SECOND + 1, "the block"),
    ),
    SECOND + 2,
    [*chapter_7(), *one_ahead(SECOND), *ENDS],
)
