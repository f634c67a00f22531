"""The pages say what the files say: quoted code, sections, figures, links, and speeds that
somebody measured. Each check is a function that lists what is wrong with a page, so that it can
be tried on pages that are wrong on purpose."""

import math
import re
import textwrap

import pytest

from conftest import ROOT
from test_repo import files, name
from test_results import MEASURED, rows

PAGES = files(".md")
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*/README.md"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.md"))
every_page = pytest.mark.parametrize("page", PAGES, ids=name)
every_chapter = pytest.mark.parametrize(
    "page", CHAPTERS, ids=lambda page: page.parent.name
)

SECTIONS = ["Predict", "The code", "Measure", "Why", "Try it", "What limits it now"]
QUOTED = {
    "cuda",
    "c",
    "cu",
    "cuh",
    "cpp",
    "c++",
    "h",
}  # a fence of these shows a file's lines
GENERATED = re.compile(r"<!-- BEGIN generated.*?<!-- END generated -->", re.S)


# ---- reading Markdown, as far as it is used here ----


def fences(text):
    """(line number, word after the backticks, lines inside, line above) of every fence."""
    lines, found, i = text.splitlines(), [], 0
    while i < len(lines):
        start = re.match(r" {0,3}(`{3,}|~{3,})\s*([\w+-]*)", lines[i])
        if start:
            above = next(
                (line.strip() for line in reversed(lines[:i]) if line.strip()), ""
            )
            end = i + 1
            while end < len(lines) and not lines[end].strip().startswith(start[1]):
                end += 1
            found.append((i + 1, start[2].lower(), lines[i + 1 : end], above))
            i = end
        i += 1
    return found


def without_code(text):
    """The text with the same line numbers, but nothing in fences, indented code or backticks."""
    lines = text.splitlines()
    for number, _, inside, _ in fences(text):
        lines[number - 1 : number + len(inside) + 1] = [""] * (len(inside) + 2)
    for i, line in enumerate(lines):
        # Indented by four and after an empty line: code, unless a list is open.
        if (
            line.startswith("    ")
            and (i == 0 or not lines[i - 1].strip())
            and not in_list(lines, i)
        ):
            while i < len(lines) and (
                lines[i].startswith("    ") or not lines[i].strip()
            ):
                lines[i] = ""
                i += 1
    return re.sub(
        r"(`+)(?!`).+?(?<!`)\1(?!`)",
        lambda code: re.sub(r"[^\n]", "x", code[0]),
        "\n".join(lines),
        flags=re.S,
    )


def in_list(lines, i):
    """Whether line i continues an item of a list."""
    for line in reversed(lines[:i]):
        if re.match(r"\s*([-*+]|\d+\.)\s", line):
            return True
        if line.strip() and not line.startswith(" "):
            return False
    return False


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def anchors(text):
    """What a link to this page may name after the #, as GitHub makes it of the headings."""
    found, seen = set(re.findall(r"<\w+\b[^>]*\b(?:id|name)=\"([^\"]+)\"", text)), {}
    bare = text.splitlines()
    for number, _, inside, _ in fences(text):
        bare[number - 1 : number + len(inside) + 1] = [""] * (len(inside) + 2)
    for head in re.findall(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$", "\n".join(bare), re.M):
        head = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", head)  # a link shows its words
        slug = re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def links(text):
    """(line number, target) of every link and image."""
    bare, found = without_code(text), []
    for pattern in (
        r"\]\(\s*<?([^)\s>]+)",
        r"^ {0,3}\[[^\]]+\]:\s*(\S+)",
        r"<(?:img|source|a)\b[^>]*?\b(?:src|srcset|href)=\"([^\" ]+)",
    ):
        found += [
            (line_of(bare, match.start()), match[1])
            for match in re.finditer(pattern, bare, re.M)
        ]
    return sorted(found)


def images(text):
    """(line number, alt text or None, path) of every image."""
    bare, found = without_code(text), []
    for match in re.finditer(r"!\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^)\s>]+)", bare):
        found.append((line_of(bare, match.start()), match[1].strip(), match[2]))
    for match in re.finditer(r"<img\b[^>]*>", bare, re.S):
        parts = dict(re.findall(r"\b(alt|src)=\"([^\"]*)\"", match[0]))
        found.append(
            (line_of(bare, match.start()), parts.get("alt"), parts.get("src", ""))
        )
    return found


# ---- the checks ----


def wrong_quotes(page, root):
    """Fences that show code which is not in the file they are taken from."""
    wrong = []
    for number, word, inside, above in fences(page.read_text()):
        if word not in QUOTED:
            continue
        told = re.fullmatch(r"<!-- from: (\S+) -->", above)
        source = root / told[1] if told else page.parent / "matmul.cu"
        if not source.is_file():
            wrong.append(
                f"line {number}: {told[1] if told else source.name} is not there"
            )
            continue
        quote = textwrap.dedent("\n".join(inside)).splitlines()
        lines = source.read_text().splitlines()
        windows = (lines[i : i + len(quote)] for i in range(len(lines) - len(quote) + 1))
        if not quote or quote not in (
            textwrap.dedent("\n".join(w)).splitlines() for w in windows
        ):
            wrong.append(
                f"line {number}: these lines do not stand together in {source.name}: "
                f"{first_difference(quote, lines)}"
            )
    return wrong


def first_difference(quote, lines):
    """The first line of a quotation that the file lacks; else the first, out of order."""
    there = {line.strip() for line in lines}
    return repr(
        next((line for line in quote if line.strip() not in there), "".join(quote[:1]))
    )


def wrong_sections(page):
    text, number = page.read_text(), int(page.parent.name[:2])
    heads = re.findall(r"^## +(.*?)\s*$", without_code(text), re.M)
    wrong = []
    if not re.match(rf"# Chapter {number}: \S", text):
        wrong.append(f"the first line is not '# Chapter {number}: ...'")
    if heads != SECTIONS:
        wrong.append(f"the sections are {heads}, not {SECTIONS}")
    before = text.partition("\n## Predict")[0]
    if not images(before):
        wrong.append("no figure before '## Predict'")
    answer = re.search(r"^## Predict$(.*?)^## ", text, re.M | re.S)
    if answer and "<details><summary>" not in answer[1]:
        wrong.append(
            "the answer under '## Predict' is not folded into <details><summary>"
        )
    return wrong


def wrong_title(page):
    """A title names the technique first; the folder's name is what it is called."""
    head = page.read_text().partition("\n")[0].lower()
    words = page.parent.name if page.name == "README.md" else page.stem
    # The first letters: "vectorized" and "vectorised" are the same word.
    lacking = [word for word in words.split("_")[1:] if word[:6] not in head]
    return [f"the title lacks {word!r}, of the technique's name" for word in lacking]


def terms(glossary):
    """The names of all entries: "- **name, other name**: ..."."""
    heads = re.findall(r"^- \*\*(.+?)\*\*:", glossary.read_text(), re.M)
    return {name.strip().lower() for head in heads for name in head.split(",")}


def wrong_terms(page, glossary):
    """Words in bold within a sentence are terms, and the glossary has them. In bold at the beginning of
    a paragraph or of a list's item stands what that is about; in a table, what is to be seen."""
    text, known, wrong = without_code(page.read_text()), terms(glossary), []
    for match in re.finditer(r"(?<!\*)\*\*([^*]+)\*\*", text):
        start = text.rfind("\n", 0, match.start()) + 1
        lead = text[start : match.start()]
        above = text[:start].rpartition("\n")[0].rpartition("\n")[2]
        first = not lead.strip() and (not above.strip() or above.startswith("#"))
        if first or re.fullmatch(r"\s*([-*]|\d+\.)\s+", lead) or lead.startswith("|"):
            continue
        term = " ".join(match[1].lower().split())
        if term not in known and term.removesuffix("s") not in known:
            wrong.append(
                f"line {line_of(text, match.start())}: {term!r} is in no glossary"
            )
    return wrong


def wrong_images(page):
    wrong = []
    for number, alt, path in images(page.read_text()):
        if not path or not (re.match(r"[a-z]+:", path) or (page.parent / path).is_file()):
            wrong.append(f"line {number}: the picture {path} is not there")
        if not alt or len(alt.split()) < 3:
            wrong.append(
                f"line {number}: the alt text of {path} does not say what it shows"
            )
    return wrong


def wrong_links(page):
    wrong, text = [], page.read_text()
    for number, target in links(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        goal = (page.parent / path) if path else page
        if goal.is_dir() and (goal / "README.md").exists() and anchor:
            goal = goal / "README.md"
        if not goal.exists():
            wrong.append(f"line {number}: {target} is not there")
        elif anchor and goal.suffix == ".md" and anchor not in anchors(goal.read_text()):
            wrong.append(f"line {number}: {target}: no such heading")
        elif anchor and goal.suffix != ".md":
            last = max(map(int, re.findall(r"L(\d+)", anchor)), default=None)
            if last is None or last > len(goal.read_text().splitlines()):
                wrong.append(f"line {number}: {target}: no such line")
    return wrong


# A speed as it stands in a text: "45.2 TFLOP/s", "9,474 GFLOP/s".
SPEED = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)\s*([GT])FLOP/s")
# NVIDIA's names for its cards: A100, H200, B200, T4, RTX 3090, RTX A6000, GTX 1080.
CARD = re.compile(r"\b(?:[ABHVLTP]\d{1,4}[A-Z]*|[RG]TX [A-Z]?\d{4}(?: Ti)?)\b")
# 4096, 4,096, 4096³, M = 1,000 or 64 × 12,288: three digits at the least, and not the speed.
SIZE = re.compile(r"\b\d{1,2},\d{3}\b|\b\d{3,5}\b")


def wrong_speeds(page, measured):
    """Speeds that nobody can trace. A paragraph, list item or table may name one
      if it is a measured row's, rounded as it stands, and the row's GPU and size are named too;
      if it names a GPU and a source, by a link, and either a size or that it is a peak (what was
      traced like this once may then be named all over the page);
      or if its sentence says that it is a bound and nobody's speed: would, could, at most.
    What stands in a generated block is another test's affair."""
    text = page.read_text()
    text = GENERATED.sub(lambda block: re.sub(r"[^\n]", "", block[0]), text)
    unknown, known, number = [], {"1 GFLOP/s", "1 TFLOP/s"}, 1
    for block in re.split(r"(\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s))", without_code(text)):
        plain = re.sub(r"\]\([^)]*\)", "]", block)  # what a link points to is no size
        rest = SPEED.sub("", plain)
        sourced = (
            "](" in block
            and CARD.search(rest)
            and (
                SIZE.search(CARD.sub("", rest))
                or re.search(r"peak|data ?sheet", rest, re.I)
            )
        )
        for speed in SPEED.finditer(plain):
            name = " ".join(speed[0].split())
            start = max(
                plain.rfind(end, 0, speed.start()) for end in (". ", ".\n", "? ", "?\n")
            )
            sentence = re.split(r"[.?]\s", plain[start + 1 :].lstrip())[0]
            if sourced:
                known.add(name)
            elif not (
                re.search(r"\b(would|could|at most)\b", sentence)
                or any(is_row(speed, rest, row) for row in measured)
            ):
                unknown.append((number + plain.count("\n", 0, speed.start()), name))
        number += block.count("\n")
    return [
        f"line {line}: where does {name} come from? Name the GPU and the size of a row in "
        "results/, or a GPU, a size and a link to a source"
        for line, name in unknown
        if name not in known
    ]


def is_row(speed, text, row):
    """Whether this is the row's speed, or that of cuBLAS beside it, and the text says whose. The
    peak that chapter 0 measures has no size."""
    digits = speed[1].replace(",", "")
    scale = 1000 if speed[2] == "T" else 1
    half = scale * 0.5 * 10 ** -len(digits.partition(".")[2])
    named = all(
        re.search(rf"(?<![\d,])({row[letter]}|{row[letter]:,})(?!\d)", text)
        for letter in "MNK"
    )
    values = [row["gflops"], row["cublas_gflops"]] if named else []
    values += (rows.roof([row]) or [])[:1]
    return row["gpu"].split()[-1] in text and any(
        value and abs(float(digits) * scale - value) <= half * (1 + 1e-9)
        for value in values
    )


# A formula as Python, without units, which are the words behind a space. Other words stay.
AS_PYTHON = [
    (r"\\ \\text\{[^{}]*\}|\\(begin|end)\{\w+\}|\\[\\ ,]|&|\n", " "),
    (r"\^\{(-?\d+)\}|\^(\d)", r"**(\1\2)"),
    (r"\\lceil(.*?)\\rceil", r"ceil(\1)"),
    (r"\\(cdot|times)\b", "*"),
    (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))"),
]
NUMBER = re.compile(r"(?<![\w.*])(?<!\*\()\d+(\.\d+)?")  # but no exponent


def value_of(side):
    """(value, the part of it by which rounded digits may be off) of one side of an equation; None
    if it has more than numbers. Whole numbers are rounded only where they are the whole side."""
    if not re.fullmatch(r"(\d|ceil|[-+*/(). ])*\d(\d|[-+*/(). ])*", side):
        return None
    digits = [number for number in NUMBER.finditer(side) if number[0] != "10"]
    off = sum(
        0.5 * 10 ** -len((number[1] or ".")[1:]) / float(number[0])
        for number in digits
        if number[1] or len(digits) == 1
    )
    return eval(side.strip(), {"ceil": math.ceil}), off


def wrong_formulas(page):
    """Formulas that cannot be typeset, and those whose sides are not equal."""
    library = pytest.importorskip("math_core", reason="`make site` installs it")
    typeset = library.LatexToMathML(fancy_error=False).convert_with_local_state
    wrong = []
    for number, word, inside, _ in fences(page.read_text()):
        formula = "\n".join(inside)
        if word != "math":
            continue
        try:
            typeset(formula, displaystyle=True)
        except library.LatexError as problem:
            wrong.append(f"line {number}: {problem}")
            continue
        for pattern, python in AS_PYTHON:
            formula = re.sub(pattern, python, formula, flags=re.S)
        values = [value for side in formula.split("=") if (value := value_of(side))]
        for (one, one_off), (two, two_off) in zip(values, values[1:]):
            if abs(one - two) > (one_off + two_off) * abs(two) + 1e-9:
                wrong.append(f"line {number}: {one:.6g} is not {two:.6g}")
    return wrong


FACELESS = re.compile(r"\b(nobody|somebody|anybody|whoever)\b", re.I)


def wrong_subjects(page):
    """Sentences that do not say who acts: a thread, the compiler, the program, the reader."""
    return [
        f"line {number}: '{word[0]}': what is it that acts?"
        for number, line in enumerate(without_code(page.read_text()).splitlines(), 1)
        for word in FACELESS.finditer(line)
    ]


def measured_rows():
    return [row for path in MEASURED for row in rows.read(path)]


# ---- what is committed ----


@every_chapter
def test_quoted_code_is_the_files(page):
    assert wrong_quotes(page, ROOT) == []


@every_chapter
def test_sections_are_all_there(page):
    assert wrong_sections(page) == []


@pytest.mark.parametrize("page", [*CHAPTERS, *NOTEBOOKS], ids=name)
def test_title_names_the_technique(page):
    assert wrong_title(page) == []


@every_chapter
def test_terms_are_in_the_glossary(page):
    assert wrong_terms(page, ROOT / "chapters" / "GLOSSARY.md") == []


@every_page
def test_pictures_are_there_and_described(page):
    assert wrong_images(page) == []


def test_every_picture_is_shown_somewhere():
    shown = {
        (page.parent / path).resolve()
        for page in PAGES
        for _, _, path in images(page.read_text())
    }
    assert [
        name(path)
        for path in files(".svg", under="images")
        if path.resolve() not in shown
    ] == []


@every_page
def test_links_lead_somewhere(page):
    assert wrong_links(page) == []


@every_page
def test_sentences_say_what_acts(page):
    assert wrong_subjects(page) == []


@every_page
def test_speeds_can_be_traced(page):
    assert wrong_speeds(page, measured_rows()) == []


@every_page
def test_formulas_are_right(page):
    assert wrong_formulas(page) == []


# ---- the checks themselves ----

GOOD = r"""# Chapter 7: Made up: a page

A question about **two terms** and **other names**.

[Further down](#try-it), [the file](matmul.cu#L3), [the root](../../top.md#a-head-1).

![Two boxes, one inside the other](../../box.svg)
![Boxes a[0] and
a[1]](../../box.svg)

## Predict
How many?
<details><summary>Work it out, then look</summary>
Three.
</details>

## The code
```cuda
for (;;) {
    a();
}
```

Here from another file:

<!-- from: common/x.c -->
```c
int x;
```

```text
not quoted ](nowhere.md)
```
## Measure
On an H200 it reaches 45.2 TFLOP/s at 4096³, and cuBLAS 50,001 GFLOP/s.

<!-- BEGIN generated: chapter n=7 gpu=h200 -->
99 TFLOP/s
<!-- END generated -->
## Why
**What leads** a paragraph is no term.

- **Neither is** this.

```math
\text{speed} = \frac{4 \cdot 3}{7} \times 10^{12} = 1.7 \cdot 10^{12}\ \text{FLOP/s}
```

The peak of an H200 is 67 TFLOP/s ([NVIDIA](https://example.org/h200)).

The H200 here did 60.6 TFLOP/s of nothing else, of the 67 TFLOP/s. It is fast. At half the
bytes it would do 99 TFLOP/s.
## Try it
- a `[link](in code)`
## What limits it now
That.
"""
ROW = {
    "gpu": "NVIDIA H200",
    "M": 4096,
    "N": 4096,
    "K": 4096,
    "gflops": 45180.0,
    "cublas_gflops": 50001.0,
    "compute_roof": 60600.0,
    "memory_roof": 4000.0,
}


@pytest.fixture
def page(tmp_path):
    chapter = tmp_path / "chapters" / "07_made_up"
    chapter.mkdir(parents=True)
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "x.c").write_text("int x;\n")
    (tmp_path / "top.md").write_text("# A head\n```\n# No head\n```\n## A `head`\n")
    (tmp_path / "box.svg").write_text("<svg/>\n")
    (chapter / "matmul.cu").write_text(
        "void f()\n{\n    for (;;) {\n        a();\n    }\n}\n"
    )
    (tmp_path / "chapters" / "GLOSSARY.md").write_text(
        "# G\n\n- **two terms**: x\n- **name, other name**: y\n"
    )
    page = chapter / "README.md"
    page.write_text(GOOD)
    return page


def check_all(page):
    root = page.parents[2]
    return [
        wrong_quotes(page, root),
        wrong_sections(page),
        wrong_images(page),
        wrong_links(page),
        wrong_speeds(page, [ROW]),
        wrong_title(page),
        wrong_terms(page, root / "chapters" / "GLOSSARY.md"),
        wrong_formulas(page),
        wrong_subjects(page),
    ]


def test_a_good_page_passes(page):
    assert check_all(page) == [[]] * 9


QUOTES, HEADS, PICTURES, LINKS, SPEEDS, TITLE, TERMS, FORMULAS, SUBJECTS = range(9)


@pytest.mark.parametrize(
    "old, new, check, said",
    [
        ("    a();", "    b();", QUOTES, "'    b();'"),
        ("    a();\n", "", QUOTES, "do not stand together in matmul.cu"),
        ("    a();", "  a();", QUOTES, "do not stand together"),
        ("for (;;) {\n    a();\n}\n", "", QUOTES, "do not stand together"),
        ("int x;", "int y;", QUOTES, "'int y;'"),
        ("<!-- from: common/x.c -->\n", "", QUOTES, "in matmul.cu"),
        ("common/x.c", "common/y.c", QUOTES, "common/y.c is not there"),
        ("## Why\n", "", HEADS, "the sections are"),
        ("## Why", "## Why not", HEADS, "the sections are"),
        ("## Try it\n", "## Try it\n## More\n", HEADS, "the sections are"),
        ("# Chapter 7:", "# Chapter 8:", HEADS, "# Chapter 7: ..."),
        (
            GOOD[GOOD.index("![Two") : GOOD.index("## Predict")],
            "",
            HEADS,
            "no figure before",
        ),
        ("<details><summary>", "<p>", HEADS, "not folded"),
        ("box.svg", "bag.svg", PICTURES, "../../bag.svg is not there"),
        ("![Two boxes, one inside the other]", "![]", PICTURES, "alt text"),
        ("![Two boxes, one inside the other]", "![a box]", PICTURES, "alt text"),
        ("- a `", '<img src="../../box.svg"> `', PICTURES, "alt text"),
        ("#try-it", "#try", LINKS, "#try: no such heading"),
        ("#L3", "#L9", LINKS, "no such line"),
        ("#a-head-1", "#no-head", LINKS, "no such heading"),
        ("../../top.md", "../top.md", LINKS, "../top.md#a-head-1 is not there"),
        ("- a `", '<a href="gone.md">x</a> `', LINKS, "gone.md is not there"),
        ("- a `", "[x][y]\n\n[y]: gone.md\n\n`", LINKS, "gone.md is not there"),
        ("45.2 TFLOP/s", "45.3 TFLOP/s", SPEEDS, "45.3 TFLOP/s"),
        ("45.2 TFLOP/s", "45,181 GFLOP/s", SPEEDS, "45,181 GFLOP/s"),
        ("4096³", "8192³", SPEEDS, "45.2 TFLOP/s"),
        ("On an H200 it", "It", SPEEDS, "line 35: where does 45.2 TFLOP/s"),
        ("On an H200 it", "On an H100 it", SPEEDS, "45.2 TFLOP/s"),
        ("([NVIDIA](https://example.org/h200))", "", SPEEDS, "67 TFLOP/s"),
        ("of an H200 is", "is", SPEEDS, "67 TFLOP/s"),
        ("The peak", "The speed", SPEEDS, "67 TFLOP/s"),
        ("60.6", "60.7", SPEEDS, "60.7 TFLOP/s"),
        ("it would do 99", "it does 99", SPEEDS, "line 52: where does 99 TFLOP/s"),
        ("That.", "That, at 8 GFLOP/s.", SPEEDS, "8 GFLOP/s"),
        ("Made up:", "Something:", TITLE, "the title lacks 'made'"),
        ("**two terms**", "**three\nterms**", TERMS, "'three terms' is in no glossary"),
        ("= 1.7", "= 1.6", FORMULAS, "line 45: 1.71429e+12 is not 1.6e+12"),
        ("{7}", "7}", FORMULAS, "line 45: "),
        (r"\frac", r"\fraction", FORMULAS, r"\fraction"),
        ("That.", "That is **it**.", TERMS, "'it' is in no glossary"),
        ("That.", "Nobody waits.", SUBJECTS, "'Nobody': what is it that acts?"),
    ],
)
def test_a_wrong_page_is_named(page, old, new, check, said):
    assert old in GOOD
    page.write_text(GOOD.replace(old, new, 1))
    assert said in "\n".join(check_all(page)[check])


def test_messages_name_the_lines_that_they_mean():
    """Where a page shows a message of the emulator about a chapter as it is."""
    seen = 0
    for page in PAGES:
        for allocated, path, number in re.findall(
            r"(allocated )?at\s+(chapters/\w+/[\w.]+):(\d+)", page.read_text()
        ):
            lines = (ROOT / path).read_text().splitlines()
            line = lines[int(number) - 1]
            assert ("Malloc" if allocated else "cuda") in line, (
                f"{name(page)}: line {number} of {path} is {line.strip()}"
            )
            seen += 1
    assert seen
