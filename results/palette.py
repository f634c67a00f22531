"""The colours of all figures, light and dark, readable on white and on near-black.

Figures are drawn in the light colours, by whatever draws them: Graphviz, matplotlib, a script.
themed() puts the dark ones beside them, so that a reader's browser can choose. As a program it
does so from standard input to standard output.

One meaning each: where a number is kept (global memory, shared memory, registers), what moves,
and grey for the rest. What a reader should look at gets an outline. What is there and unused is
grey and faint.
"""

import re
import sys

GLOBAL, SHARED, REGISTERS, MOVING, GREY = (
    "#b35900",
    "#0b7285",
    "#6741b8",
    "#c92a2a",
    "#5c636e",
)
ON_COLOUR = "#ffffff"  # text on any of them
INK = "#1b1f24"  # the outline of what to look at
FAINT = 0.2  # the opacity of grey that is unused
DARK = {
    GLOBAL: "#f0a35e",
    SHARED: "#4fc3d4",
    REGISTERS: "#b197fc",
    MOVING: "#ff8787",
    GREY: "#a6adb8",
    ON_COLOUR: "#0d1117",
    INK: "#f0f3f6",
}
PAPER = {"light": "#ffffff", "dark": "#0d1117"}
FONT = "Helvetica,Arial,sans-serif"


def style():
    """Each colour's dark twin, wherever it is used, as an attribute or within a style."""
    rules = [
        f'[{what}="{light}"],[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for light, dark in DARK.items()
        for what in ("fill", "stroke")
    ]
    return "<style>@media (prefers-color-scheme: dark){" + "".join(rules) + "}</style>"


def centred(svg):
    """Graphviz measures bold words as if they were not, and says where they begin: in a coloured box, say where
    their middle is."""
    boxes = []
    for points in re.findall(r'<polygon fill="#[^>]*points="([^"]*)"', svg):
        x, y = zip(*(map(float, point.split(",")) for point in points.split()))
        boxes.append((min(x), max(x), min(y), max(y)))

    def moved(words):
        x, y = float(words[1]), float(words[2])
        around = [box for box in boxes if box[0] < x < box[1] and box[2] < y < box[3]]
        if not around:
            return words[0]
        left, right, _, _ = min(around, key=lambda box: box[1] - box[0])
        return f'"middle" x="{(left + right) / 2:g}" y="{words[2]}"'

    return re.sub(r'(?<=<text text-anchor=)"start" x="([^"]*)" y="([^"]*)"', moved, svg)


def themed(svg):
    """The figure with its dark colours, as an SVG file needs them."""
    svg = centred(svg)
    return re.sub(r"(<svg\b[^>]*>)", lambda tag: f"{tag[1]}\n{style()}", svg, count=1)


if __name__ == "__main__":
    sys.stdout.write(themed(sys.stdin.read()))
