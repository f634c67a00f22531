"""Prints images/14_xor.svg: eight rows of A's tile in shared memory, as eight cells of 16 bytes each,
without and with the XOR, and the cells that one ldmatrix reads."""

from palette import FAINT, GREY, INK, ON_COLOUR, SHARED

CELL_WIDTH, CELL_HEIGHT, GAP, LEFT, TOP = 42, 28, 60, 58, 60
READ = 2  # the cell of each row that is read
PANELS = [
    ("every cell in its place", lambda row: 0, "eight cells in four banks: 8 wavefronts"),
    ("cell c in place c ^ row", lambda row: row, "one in each four banks: 1 wavefront"),
]

panel_width = 8 * CELL_WIDTH
width = LEFT + 2 * panel_width + GAP + 10
height = TOP + 8 * CELL_HEIGHT + 36
print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    f'viewBox="0 0 {width} {height}" font-family="Helvetica,Arial,sans-serif" font-size="13" '
    f'text-anchor="middle">'
)
print("<title>Where the cells of eight rows lie, without and with the XOR</title>")
print(f'<text x="{LEFT - 8}" y="{TOP - 10}" fill="{GREY}" text-anchor="end">banks</text>')
for number, (title, turn, result) in enumerate(PANELS):
    left = LEFT + number * (panel_width + GAP)
    for y, words in ((TOP - 38, title), (TOP + 8 * CELL_HEIGHT + 24, result)):
        print(
            f'<text x="{left + panel_width // 2}" y="{y}" fill="{GREY}" '
            f'font-weight="bold">{words}</text>'
        )
    for place in range(8):
        print(
            f'<text x="{left + place * CELL_WIDTH + CELL_WIDTH // 2 - 1}" y="{TOP - 10}" '
            f'fill="{GREY}" font-size="11">{place * 4}–{place * 4 + 3}</text>'
        )
    for row in range(8):
        if number == 0:
            print(
                f'<text x="{LEFT - 8}" y="{TOP + row * CELL_HEIGHT + 18}" fill="{GREY}" '
                f'text-anchor="end">row {row}</text>'
            )
        for cell in range(8):
            x = left + (cell ^ turn(row)) * CELL_WIDTH
            y = TOP + row * CELL_HEIGHT
            read = cell == READ
            outline = f' stroke="{INK}" stroke-width="2.5"' if read else ""
            opacity = 1 if read else FAINT
            print(
                f'<rect x="{x}" y="{y}" width="{CELL_WIDTH - 3}" height="{CELL_HEIGHT - 3}" '
                f'rx="2" fill="{SHARED}" fill-opacity="{opacity}"{outline}/>'
                f'<text x="{x + CELL_WIDTH // 2 - 1}" y="{y + 18}" '
                f'fill="{ON_COLOUR if read else INK}">{cell}</text>'
            )
print("</svg>")
