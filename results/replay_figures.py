#!/usr/bin/env python3
"""make images: the still pictures of what results/replays.json holds (make scenes).

--check writes nothing and exits with 1 if a picture is not what it should be."""

import itertools
import re
import sys
import textwrap

import ending
import replays
from lens_figures import box, renew, text
from palette import FONT, GLOBAL, GREY, INK, MOVING, REGISTERS, SHARED

WIDTH = 400  # a phone shows no more at its full size
MARGIN = 6  # left and right: letters at the very edge would look cut off


def svg(title, height, parts):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
        f'viewBox="{-MARGIN} 0 {WIDTH + 2 * MARGIN} {height:g}" font-family="{FONT}">\n'
        f"<title>{title}</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def outline(x, y, side):
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{side}" height="{side}" fill="none" '
        f'stroke="{INK}" stroke-width="2"/>'
    )


# ---- a wait less ----

CELL, LEFT, DEEP = 10, 26, 8  # a tile is 8 steps of k deep


def runs(owners):
    """Where neighbours have one owner: [(owner, first, count)]."""
    at = 0
    for owner, group in itertools.groupby(owners):
        count = len(list(group))
        yield owner, at, count
        at += count


def row_of(of, wide):
    """The bytes of a row in shared memory: one of A is four floats longer than the tile is wide."""
    return 4 * (wide + (4 if of == "A" else 0))


def tile(of, scene, variant, top):
    """A tile of A or B, element by element, under what says which warp has copied what."""
    wide, there, owners = scene["width"], variant[of], scene["copied_by"][of]
    yield text(0, top + DEEP * CELL / 2 + 5, of, 15)
    across = list(runs(owners[:wide]))
    if len(across) > 1:
        for owner, first, count in across:
            middle = LEFT + (first + count / 2) * CELL
            yield text(middle, top - 5, f"warp {owner}", 11, anchor="middle")
    else:
        for owner, first, count in runs(owners[::wide]):
            middle = top + (first + count / 2) * CELL + 4
            yield text(LEFT + wide * CELL + 6, middle, f"warp {owner}", 11)
    for i, come in enumerate(there):
        x, y = LEFT + i % wide * CELL, top + i // wide * CELL
        yield box(x + 0.5, y + 0.5, CELL - 1, CELL - 1, SHARED if come == "1" else MOVING)
    named = re.search(rf"byte (\d+) of {of}_tile", variant["fault"])
    if named:
        row = row_of(of, wide)
        y, x = divmod(int(named[1]) % (DEEP * row), row)
        yield outline(LEFT + x / 4 * CELL - 1, top + y * CELL - 1, CELL + 2)


def late_copies(scene):
    parts, y = [], 16
    for variant in scene["variants"]:
        if not variant["label"]:
            continue
        of_all = variant["A"] + variant["B"]
        words = (
            f"Without {variant['label']}: {of_all.count('1')} of {len(of_all)} are there"
        )
        parts.append(text(0, y, words, 15, more=' font-weight="bold"'))
        parts += tile("A", scene, variant, y + 28)
        parts += tile("B", scene, variant, y + 28 + DEEP * CELL + 12)
        y += 28 + 2 * DEEP * CELL + 34
        of = re.search(r"byte \d+ of (\w)_tile", variant["fault"])[1]
        second = DEEP * row_of(of, scene["width"])
        words = f"The emulator: “{variant['fault']}” The second stage begins at byte {second}."
        for line in textwrap.wrap(words, 62):
            parts.append(text(0, y, line, 12))
            y += 16
        y += 24
    y -= 16
    parts.append(box(0, y - 10, 11, 11, SHARED))
    parts.append(text(17, y, "is there", 12))
    parts.append(box(80, y - 10, 11, 11, MOVING))
    parts.append(text(97, y, "still on its way", 12))
    parts.append(outline(201, y - 10, 11))
    parts.append(text(218, y, "what the report names", 12))
    return svg("The second tile, when warp 0 comes to read it", y + 8, parts)


# ---- warps that take turns ----

CHOSEN = (1, 4, 8)  # so many warps


def warps(scene):
    parts, y, lane = [], 16, 12
    left, wide = 66, WIDTH - 68
    scale = wide / scene["shown"]

    def bars(turns, y, height):
        for begin, end in turns:
            x = left + begin * scale
            yield box(x, y, (end - begin) * scale, height, REGISTERS)

    for variant in scene["variants"]:
        count = variant["warps"]
        if count not in CHOSEN:
            continue
        words = f"{count} warp{'s' if count > 1 else ''}: {variant['percent']:g} % of the slots"
        parts.append(text(0, y, words, 15, more=' font-weight="bold"'))
        y += 10

        for i, turns in enumerate(variant["turns"]):
            if i in (0, count - 1):
                parts.append(text(left - 6, y + 10, f"warp {i}", 12, anchor="end"))
            parts.append(box(left, y, wide, lane - 3, GLOBAL, "", False))
            parts += bars(turns, y, lane - 3)
            y += lane
        y += 4
        parts.append(text(left - 6, y + 14, "scheduler", 12, anchor="end"))
        parts.append(box(left, y, wide, 20, GREY, "", False))
        for turns in variant["turns"]:
            parts += bars(turns, y, 20)
        y += 46
    y -= 12
    parts.append(text(left, y, "0", 12))
    parts.append(text(WIDTH - 2, y, f"{scene['shown']:,} clocks", 12, anchor="end"))
    y += 24
    parts.append(box(0, y - 10, 11, 11, REGISTERS))
    parts.append(text(17, y, "multiplies", 12))
    parts.append(box(100, y - 10, 11, 11, GLOBAL, "", False))
    parts.append(text(117, y, "waits for memory, or for its turn", 12))
    return svg("Warps that take turns at a scheduler", y + 8, parts)


FIGURES = {"03_warps": ("warps", warps), "10_late_copies": ("late_copies", late_copies)}


def main(words):
    every = replays.read()
    stale = sum(
        renew(name, draw(every[replay]), "data", words)
        for name, (replay, draw) in FIGURES.items()
    )
    return stale > 0 and "--check" in words


if __name__ == "__main__":
    ending.run(lambda: main(sys.argv[1:]))
