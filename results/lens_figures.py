#!/usr/bin/env python3
"""make images: what one warp asks of memory, as the lens saw it in the running chapters, into images/lens_*.svg.

The requests come from results/scenes.json (make scenes). --check writes nothing and exits with 1
if a picture is not what it should be."""

import html
import math
import sys

import ending
import rows
import scenes
from palette import (
    FAINT,
    FONT,
    GLOBAL,
    GREY,
    MOVING,
    ON_COLOUR,
    REGISTERS,
    SHARED,
    themed,
)

# name of the picture: chapter, the line of matmul.cu, which of that line's accesses in the lens's table, and what it
# reads there
FIGURES = {
    "lens_1_load_a": ("naive", "acc += A[", 1, "A[(size_t)row * K + k]"),
    "lens_2_load_b": ("coalescing", "acc += A[", 2, "B[(size_t)k * N + col]"),
    "lens_6_load_b_frag": (
        "vectorized_access",
        "*(float4 *)&b_frag[n]",
        1,
        "B_tile[k][thread_col + n]",
    ),
    "lens_7_load_b_frag": (
        "bank_conflicts",
        "*(float4 *)&b_frag[n]",
        1,
        "B_tile[k][thread_col + n / 4 * COL_STEP]",
    ),
}
LANE, EDGE = 27, 8  # the width of a lane and of a bank, and of what lies around all
WIDTH = 32 * LANE
LANES_AT, BELOW = 64, 152  # the lanes' row, and the one that they point to
ROW, APART = 24, 8  # a wavefront, and what parts two phases
SECTOR, WORD = 32, 4  # bytes


class Mistake(Exception):
    """A figure that does not fit its chapter; the message says which."""


# ---- the drawing ----


def text(x, y, words, size=14, fill=GREY, anchor="start", more=""):
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" '
        f'text-anchor="{anchor}"{more}>{html.escape(words)}</text>'
    )


def box(x, y, width, height, fill, label="", used=True):
    parts = [
        f'<rect x="{x:.4g}" y="{y:g}" width="{width:.4g}" height="{height:g}" '
        f'fill="{fill}"{"" if used else f""" fill-opacity="{FAINT}" """}/>'
    ]
    if label:
        shade = ON_COLOUR if used else GREY
        size = 14 if width > 9 * len(label) else 11
        parts.append(
            text(x + width / 2, y + height / 2 + 5, label, size, shade, "middle")
        )
    return "".join(parts)


def lane_boxes(line, y):
    return [
        box(lane * LANE + 1, y, LANE - 2, 22, REGISTERS, str(lane), True)
        if address is not None
        else box(lane * LANE + 1, y, LANE - 2, 22, GREY, str(lane), False)
        for lane, address in enumerate(line["address"])
    ]


def sectors_of(line):
    """The sectors that the lanes touch, in order of address."""
    return sorted(
        {
            byte // SECTOR
            for address in line["address"]
            if address is not None
            for byte in range(address, address + line["bytes"], WORD)
        }
    )


def draw_sectors(line):
    """The lanes above, the sectors they touch below, a column for every 4 bytes."""
    sectors = sectors_of(line)
    pitch = WIDTH / max(len(sectors), 5)
    word = 0.9 * pitch / 8
    left = (WIDTH - pitch * len(sectors) + 0.1 * pitch) / 2
    used, arrows = set(), []

    def place(byte):
        return left + sectors.index(byte // SECTOR) * pitch + byte % SECTOR // WORD * word

    for lane, address in enumerate(line["address"]):
        if address is None:
            continue
        used.update(
            byte // WORD for byte in range(address, address + line["bytes"], WORD)
        )
        end = place(address + (line["bytes"] // 2 if line["bytes"] > 4 else 0)) + word / 2
        arrows.append(
            f'<path d="M{(lane + 0.5) * LANE:g} {LANES_AT + 23}L{end:.4g} {BELOW - 2}" '
            f'stroke="{MOVING}" stroke-width="1"/>'
        )
    yield text(0, LANES_AT - 10, "the 32 lanes of a warp")
    yield from lane_boxes(line, LANES_AT)
    yield from arrows
    for sector in sectors:
        for byte in range(sector * SECTOR, (sector + 1) * SECTOR, WORD):
            touched = byte // WORD in used
            width = word - 1 if word > 4 else word - 0.5
            yield box(
                place(byte), BELOW, width, 26, GLOBAL if touched else GREY, "", touched
            )
    count = "1 sector" if len(sectors) == 1 else f"{len(sectors)} sectors"
    yield text(
        0, BELOW + 46, f"{count} of global memory: 32 bytes each, 4 bytes to a cell"
    )


def together(lanes):
    """The lanes that a box serves, in as few letters as it has room for."""
    if len(lanes) == 1:
        return str(lanes[0])
    if lanes == list(range(lanes[0], lanes[-1] + 1)):
        return f"{lanes[0]}–{lanes[-1]}"
    return ",".join(map(str, lanes)) if len(lanes) == 2 else f"{len(lanes)} ×"


def needed(line):
    """The wavefronts of a request without conflicts: one for each of its phases."""
    return math.ceil(line["ideal_wavefronts"] / line["requests"])


def waves_of(line):
    return 1 + max(wave for wave in line["wavefront"] if wave is not None)


def draw_banks(line):
    """The banks are columns, the wavefronts rows: who is served when."""
    unit, phases = max(line["bytes"], 4), needed(line)
    waves = waves_of(line)
    words = "a column is one of the 32 banks, a row is one wavefront"
    if phases > 1:
        words += "; gaps part the phases"
    yield text(0, LANES_AT - 10, words)
    for bank in range(32):
        yield text((bank + 0.5) * LANE, LANES_AT + 8, str(bank), anchor="middle")
    served = {}
    for lane, (address, wave) in enumerate(zip(line["address"], line["wavefront"])):
        if address is not None:
            served.setdefault((wave, address // unit * unit % 128 // 4), []).append(lane)
    wide, y, before = unit // 4, LANES_AT + 14, 0
    for wave in range(waves):
        phase = line["wavefront"].index(wave) * phases // 32
        y += APART * (phase != before)
        before = phase
        for bank in range(0, 32, wide):
            lanes = served.get((wave, bank), [])
            yield box(
                bank * LANE + 1,
                y,
                wide * LANE - 2,
                ROW - 2,
                SHARED if lanes else GREY,
                together(lanes) if lanes else "",
                bool(lanes),
            )
        y += ROW
    count = "1 wavefront" if waves == 1 else f"{waves} wavefronts, one after the other"
    if waves > phases:
        count = f"{waves} wavefronts where {phases} would do"
    yield text(0, y + 18, f"{count}; numbers are the lanes served")


def drawing(line, read=""):
    """One request of a warp as SVG, in light colours; `line` is one of a scene's, `read` what of its source the
    request is for, as far as that is known."""
    banks = "wavefront" in line
    of = f" of {read.partition('[')[0]}" if read else ""
    what = f"{line['kind']}{of}, {line['bytes']} bytes a lane: {line['verdict']}"
    code = html.escape(line["text"])
    if read:
        operand = html.escape(read)
        code = code.replace(operand, f'<tspan font-weight="bold">{operand}</tspan>')
    parts = [
        text(0, 14, what, 15),
        f'<text x="0" y="34" font-size="14" fill="{GREY}" font-family="monospace" '
        f'xml:space="preserve">{code}</text>',
        *(draw_banks(line) if banks else draw_sectors(line)),
    ]
    height = BELOW + 54
    if banks:
        height = LANES_AT + 40 + waves_of(line) * ROW + (needed(line) - 1) * APART
    around = f"{-EDGE} {-EDGE} {WIDTH + 2 * EDGE} {height + 2 * EDGE}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 2 * EDGE}" '
        f'height="{height + 2 * EDGE}" viewBox="{around}" font-family="{FONT}">\n'
        f"<title>{html.escape(what)}</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


# ---- the pictures of the READMEs ----


def as_it_is(scene, name):
    """The variant of a scene that is the chapter itself."""
    labels = [label for label, change in scenes.variants(name) if not change]
    return next(v for v in scene["variants"] if v["label"] == labels[0])


def chosen(name):
    """The request that a picture shows, and what it reads."""
    chapter, code, which, read = FIGURES[name]
    lines = as_it_is(scenes.read()[chapter], chapter)["lines"]
    found = [line for line in lines if line["text"].startswith(code)]
    if len(found) < which or read not in found[which - 1]["text"]:
        raise Mistake(
            f"images/{name}.svg: {chapter} has no access {which} to {read} on a line {code}"
        )
    return found[which - 1], read


def renew(name, drawn, source, words):
    """Writes images/NAME.svg if it is not what has been drawn from its `source`, or says so if `words` have --check;
    returns whether it was not."""
    new = themed(drawn)
    picture = rows.ROOT / "images" / f"{name}.svg"
    if picture.exists() and picture.read_text() == new:
        return False
    if "--check" in words:
        print(f"images/{name}.svg is older than its {source}: `make images` renews it")
    else:
        picture.write_text(new)
        print(f"images/{name}.svg: renewed")
    return True


def main(words):
    stale = sum(renew(name, drawing(*chosen(name)), "chapter", words) for name in FIGURES)
    for picture in sorted((rows.ROOT / "images").glob("lens_*.svg")):
        if picture.stem not in FIGURES:
            stale += 1
            print(
                f"images/{picture.name}: results/lens_figures.py does not make this one"
            )
    return stale > 0 and "--check" in words


if __name__ == "__main__":
    try:
        ending.run(lambda: main(sys.argv[1:]))
    except (Mistake, OSError) as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
