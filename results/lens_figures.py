#!/usr/bin/env python3
"""make images: what one warp asks of memory, drawn by the lens from the running chapters, into images/lens_*.svg.

--check writes nothing and exits with 1 if a chapter now does something else than its picture shows."""

import hashlib
import subprocess
import sys

import chapters
import ending
import rows
import tables

SIZE = 256
# name of the picture: chapter, the line of matmul.cu, and which of that line's accesses in the lens's table
FIGURES = {
    "lens_1_load_a": (1, "acc += A[(size_t)row * K + k]", 1),
    "lens_2_load_b": (2, "acc += A[(size_t)row * K + k]", 2),
    "lens_6_load_b_frag": (6, "*(float4 *)&b_frag[n]", 1),
    "lens_7_load_b_frag": (7, "*(float4 *)&b_frag[n]", 1),
}


def drawn(name):
    """The figure as Graphviz source."""
    chapter, code, which = FIGURES[name]
    source = [
        line.strip()
        for line in (chapters.folder(chapter) / "matmul.cu").read_text().splitlines()
    ]
    at = next((at for at, line in enumerate(source) if line.startswith(code)), None)
    if at is None:
        raise tables.Mistake(
            f"images/{name}.svg: chapter {chapter} has no line that begins with {code}"
        )
    text = tables.run_lens(
        chapter, SIZE, LENS="dot", LENS_WARP="0", LENS_LINE=f"{at + 1}.{which}"
    )
    if not text:
        raise tables.Mistake(
            f"images/{name}.svg: the lens saw no access {which} on the line {code}"
        )
    # The lens knows lines. What is assigned may stand in the next one, and then the picture has room for it.
    if source[at].endswith("="):
        text = text.replace(f'"{source[at]}\\l"', f'"{source[at]} {source[at + 1]}\\l"')
    return text


def stamp(text):
    """The last line of the picture: what it was made from."""
    return (
        f"<!-- made by the lens: {hashlib.sha256(text.encode()).hexdigest()[:16]} -->\n"
    )


def main(words):
    stale = 0
    for name in FIGURES:
        text = drawn(name)
        picture = rows.ROOT / "images" / f"{name}.svg"
        if picture.exists() and picture.read_text().endswith(stamp(text)):
            continue
        stale += 1
        if "--check" in words:
            print(f"images/{name}.svg is older than its chapter: `make images` renews it")
            continue
        done = subprocess.run(
            ["dot", "-Tsvg"], input=text, stdout=subprocess.PIPE, text=True, check=True
        )
        picture.parent.mkdir(exist_ok=True)
        picture.write_text(done.stdout + stamp(text))
        print(f"images/{name}.svg: renewed")
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
    except (
        tables.Mistake,
        chapters.Broken,
        OSError,
        subprocess.CalledProcessError,
    ) as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
