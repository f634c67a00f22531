"""Prints the figure of chapter 16: what an SM does over time, in chapters 15 and 16."""

from palette import GLOBAL, REGISTERS, SHARED
from timeline import bar, draw, mark

WAIT, MULTIPLY, STORE, HAND_OVER = 56, 140, 62, 22  # what they take
FIRST, ROOM = 2.6, 742  # the first of chapter 16's rows; pixels


def chapter_15():
    """A block for each tile: it waits for its first copies, and stores before the next may begin."""
    parts, step = [], WAIT + MULTIPLY + STORE
    for tile in range(3):
        start = 4 + tile * step
        copies = min(WAIT + MULTIPLY - 40, ROOM - start)
        parts.append(bar(0, start, copies, GLOBAL, f"copies of tile {tile}"))
        parts.append(bar(1, start + WAIT, MULTIPLY, REGISTERS, f"multiply {tile}"))
        if start + step <= ROOM:
            parts.append(bar(1, start + WAIT + MULTIPLY, STORE, GLOBAL, f"store {tile}"))
    return parts


def chapter_16():
    """Copies run on over the ends of tiles; results are handed over, and leave meanwhile."""
    parts, step = [], MULTIPLY + HAND_OVER
    for tile in range(5):
        begin = 4 + tile * step
        length = min(step, ROOM - begin)
        words = f"copies of tile {tile}" if length == step else f"tile {tile}"
        parts.append(bar(FIRST, begin, length, GLOBAL, words))
        start = 4 + WAIT + tile * step
        if start + MULTIPLY <= ROOM:
            parts.append(bar(FIRST + 1, start, MULTIPLY, REGISTERS, f"multiply {tile}"))
            parts.append(bar(FIRST + 1, start + MULTIPLY, HAND_OVER, SHARED, ""))
        if start + step + STORE <= ROOM:
            parts.append(bar(FIRST + 2, start + step - 8, STORE, GLOBAL, f"store {tile}"))
    return parts


ENDS = (
    mark(1, 1, 4 + 2 * (WAIT + MULTIPLY + STORE)),
    mark(FIRST + 2, 1, 4 + WAIT + 2 * (MULTIPLY + HAND_OVER) - 8 + STORE),
)
draw(
    "An SM over time: tiles one after the other in chapter 15, copies that run ahead in chapter 16",
    "time goes right, with the red line. teal: sums go to shared memory, rounded to bf16. marked: two tiles are stored",
    (
        (0, "chapter 15: engine"),
        (1, "the block"),
        (FIRST, "chapter 16: engine"),
        (FIRST + 1, "consumers"),
        (FIRST + 2, "engine, out"),
    ),
    FIRST + 3,
    [*chapter_15(), *chapter_16(), *ENDS],
)
