"""Prints images/18_errors.svg: errors over K of sums made in several ways, from results/errors.csv."""

import math

import rows
from palette import GREY, INK

# What results/errors.cu calls a scheme, and how its line is drawn and named, and how much lower the name stands.
SCHEMES = {
    "tf32 x 3 in the core": (GREY, "10 4", "tf32 × 3, in the core", -6),
    "fp16 x 3 in the core": (GREY, "", "fp16 × 3, in the core", 8),
    "fp32": (INK, "2 4", "fp32 units", 0),
    "fp16 x 3": (INK, "", "fp16 × 3, promoted", -6),
    "bf16 x 6": (INK, "10 4", "bf16 × 6, promoted", 10),
}
LEFT, RIGHT, TOP, BOTTOM = 90, 620, 20, 350  # the axes, in pixels
LOW, HIGH = -7.6, -3.2  # powers of ten

table = rows.ROOT / "results" / "errors.csv"
lines = {}
columns = ("inputs", "K", "scheme", "rms", "most")
for row in rows.read_table(table, rows.kinds(columns, ("inputs", "scheme"), ("K",))):
    if row["inputs"] == "uniform (0 1)":
        lines.setdefault(row["scheme"], []).append((row["K"], row["rms"]))
sizes = [K for K, _ in lines["fp32"]]
first, last = math.log2(sizes[0]), math.log2(sizes[-1])


def x_of(K):
    return LEFT + (RIGHT - LEFT) * (math.log2(K) - first) / (last - first)


def y_of(error):
    return BOTTOM - (BOTTOM - TOP) * (math.log10(error) - LOW) / (HIGH - LOW)


def text(x, y, words, colour=GREY, anchor="middle", more=""):
    print(
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{more}>{words}</text>'
    )


print(
    '<svg xmlns="http://www.w3.org/2000/svg" width="860" height="420" viewBox="0 0 860 420" '
    'font-family="Helvetica,Arial,sans-serif" font-size="14">'
)
for power in range(math.ceil(LOW), math.floor(HIGH) + 1):
    y = y_of(10.0**power)
    print(
        f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="{GREY}" stroke-opacity="0.25" stroke-width="1"/>'
    )
    superscript = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(-power))
    text(LEFT - 10, y + 5, f"10⁻{superscript}", anchor="end")
print(
    f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="{GREY}" stroke-width="1.5"/>'
)
for K in sizes:
    text(x_of(K), BOTTOM + 22, f"{K:,}")
text((LEFT + RIGHT) / 2, BOTTOM + 52, "K, numbers from 0 to 1")
middle = (TOP + BOTTOM) / 2
turned = f' transform="rotate(-90 24 {middle:.1f})"'
text(24, middle, "rms of |error| / (|A| |B|)", more=turned)
for scheme, (colour, dashes, words, lower) in SCHEMES.items():
    points = " ".join(f"{x_of(K):.1f},{y_of(error):.1f}" for K, error in lines[scheme])
    print(
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5" '
        f'stroke-dasharray="{dashes or "none"}"/>'
    )
    text(RIGHT + 12, y_of(lines[scheme][-1][1]) + 5 + lower, words, colour, "start")
print("</svg>")
