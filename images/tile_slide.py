#!/usr/bin/env python3
"""Chapter 3: a block slides its two tiles along K. Prints an SVG.

Moves by CSS, so a reader who has asked for less motion, and every program that draws only a
still, sees the second of the four steps begin, which is a right picture too.
"""

from palette import FAINT, GLOBAL, GREY, INK, MOVING, REGISTERS, SHARED

TILE, STEPS, SIDE = 56, 4, 3  # a tile in pixels; tiles along K; tiles along M and N
STILL, OWN = 1, 1  # the step shown without motion; the block's row and column
SECONDS = 12
PHASES = 3  # of a step: fetch, share, compute
A_X, B_Y = 96, 36
C_X, C_Y = A_X + STEPS * TILE + 28, B_Y + STEPS * TILE + 28
PANEL_X, PANEL_W = C_X + SIDE * TILE + 56, 300
WIDTH, HEIGHT = PANEL_X + PANEL_W + 8, C_Y + SIDE * TILE + 12


def box(x, y, width, height, fill, more=""):
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"{more}/>'
    )


def text(x, y, words, fill, more=""):
    return f'<text x="{x}" y="{y}" fill="{fill}"{more}>{words}</text>'


def matrix(x, y, across, down, own, colour):
    """Its tiles; those for which own(column, row) holds are the ones this block reads."""
    return [
        box(
            x + i * TILE + 1,
            y + j * TILE + 1,
            TILE - 2,
            TILE - 2,
            colour if own(i, j) else GREY,
            "" if own(i, j) else f' opacity="{FAINT}"',
        )
        for j in range(down)
        for i in range(across)
    ]


def keyframes(name, at):
    """Moves at the beginning of each step, then rests; at(step) is the CSS there."""
    part = 100 / STEPS
    rests = [
        f"{(step + 0.2 * (step > 0)) * part:g}%, {(step + 1) * part:g}% {{ {at(step)} }}"
        for step in range(STEPS)
    ]
    return f"@keyframes {name} {{ {' '.join(rests)} }}"


def fill():
    """Grows by a step's share in the last phase of each, while the block computes."""
    ends = [
        f"{100 * (step + 1 - 1 / PHASES) / STEPS:g}% {{ transform: scaleX({step / STEPS}); }} "
        f"{100 * (step + 1) / STEPS:g}% {{ transform: scaleX({(step + 1) / STEPS}); }}"
        for step in range(STEPS)
    ]
    return f"@keyframes fill {{ 0% {{ transform: scaleX(0); }} {' '.join(ends)} }}"


def style():
    rules = [
        "text { font: 15px Helvetica, Arial, sans-serif; } .bold { font-weight: bold; }",
        keyframes("right", lambda step: f"transform: translate({step * TILE}px, 0);"),
        keyframes("down", lambda step: f"transform: translate(0, {step * TILE}px);"),
        fill(),
    ]
    moving = ["right", "down", "fill"]
    for shown in range(STEPS):
        moving.append(f"at{shown}")
        rules.append(
            keyframes(
                f"at{shown}", lambda step, shown=shown: f"opacity: {int(step == shown)};"
            )
        )
    # Within each step the three things that a block does light up one after the other.
    for phase in range(PHASES):
        name, frames = f"phase{phase}", []
        for step in range(STEPS):
            for at in range(PHASES):
                begin = 100 * (step * PHASES + at) / (STEPS * PHASES)
                end = 100 * (step * PHASES + at + 0.98) / (STEPS * PHASES)
                frames.append(
                    f"{begin:.1f}%, {end:.1f}% {{ opacity: {int(at == phase)}; }}"
                )
        rules.append(f"@keyframes {name} {{ {' '.join(frames)} }}")
        moving.append(name)
    rules.append("@media (prefers-reduced-motion: no-preference) {")
    rules += [f".{name} {{ animation: {name} {SECONDS}s infinite; }}" for name in moving]
    return "<style>\n" + "\n".join(rules) + "\n}\n</style>"


def picture():
    own_x, own_y = C_X + OWN * TILE, C_Y + OWN * TILE
    inner = TILE - 2
    yield style()
    yield from matrix(A_X, C_Y, STEPS, SIDE, lambda i, j: j == OWN, GLOBAL)
    yield from matrix(C_X, B_Y, SIDE, STEPS, lambda i, j: i == OWN, GLOBAL)
    yield from matrix(C_X, C_Y, SIDE, SIDE, lambda i, j: False, GREY)
    yield text(
        A_X - 12, C_Y + 1.5 * TILE + 5, "A", GREY, ' class="bold" text-anchor="end"'
    )
    yield text(
        C_X + 1.5 * TILE, B_Y - 12, "B", GREY, ' class="bold" text-anchor="middle"'
    )
    yield text(C_X + SIDE * TILE + 12, C_Y + 2.5 * TILE + 5, "C", GREY, ' class="bold"')

    # The tiles in motion, and the sums that grow with each step.
    for name, x, y, dx, dy in (("right", A_X, own_y, 1, 0), ("down", own_x, B_Y, 0, 1)):
        yield (
            f'<g class="{name}" transform="translate({STILL * TILE * dx} {STILL * TILE * dy})">'
            + box(x + 1, y + 1, inner, inner, MOVING)
            + text(
                x + TILE / 2,
                y + TILE / 2 + 5,
                "tile",
                "#ffffff",
                ' class="bold" text-anchor="middle"',
            )
            + "</g>"
        )
    yield box(own_x + 1, own_y + 1, inner, inner, REGISTERS, ' opacity="0.45"')
    yield (
        f'<g transform="translate({own_x + 1} {own_y + 1})">'
        + box(
            0,
            0,
            inner,
            inner,
            REGISTERS,
            f' class="fill" transform="scale({STILL / STEPS} 1)"',
        )
        + "</g>"
    )
    yield f'<path d="M{own_x + TILE} {own_y + TILE / 2}h{TILE + 6}" stroke="{INK}" stroke-width="2"/>'
    yield text(own_x + 2 * TILE + 12, own_y + TILE / 2 + 5, "acc", INK, ' class="bold"')

    # What a block does at each step, in order.
    for step in range(STEPS):
        yield text(
            PANEL_X,
            B_Y + 26,
            f"step {step + 1} of {STEPS}: k0 = {32 * step}",
            GREY,
            f' class="bold at{step}" opacity="{int(step == STILL)}"',
        )
    lines = [
        (MOVING, "fetch", "1 float of A, 1 of B a thread"),
        (SHARED, "share", "A_tile and B_tile, 32 × 32 floats each"),
        (REGISTERS, "compute", "32 products into each acc"),
    ]
    for i, (colour, what, how) in enumerate(lines):
        y = B_Y + 48 + i * 100
        yield box(PANEL_X, y, PANEL_W, 66, colour)
        outline = (
            f' class="phase{i}" stroke="{INK}" stroke-width="6" opacity="{int(i == 0)}"'
        )
        yield box(PANEL_X, y, PANEL_W, 66, "none", outline)
        yield text(PANEL_X + 16, y + 28, what, "#ffffff", ' class="bold"')
        yield text(PANEL_X + 16, y + 50, how, "#ffffff")
        if i + 1 < len(lines):
            x = PANEL_X + 40
            yield (
                f'<path d="M {x} {y + 70} v 16 m -7 0 h 14 l -7 10 z" fill="{GREY}" '
                f'stroke="{GREY}" stroke-width="2"/>'
            )
            yield text(x + 16, y + 88, "all wait: __syncthreads()", GREY)


print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
    f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="A tile of A slides to the right '
    f'and a tile of B downwards, and the sums of a tile of C grow">'
)
print("\n".join(picture()))
print("</svg>")
