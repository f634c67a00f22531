"""make site: the pages of the web site, in build/site.source, from the project's own.

READMEs are written for GitHub, and stay so. What a page gets on its way into the book:
 - a link to a folder leads to the folder's README, a link to a source file to a page that shows it;
 - a chapter is named after its technique, says where the reader is, and leads to its code, its
   notebook, its exercises and the next chapter; its lens and its predictions can be operated;
 - a term of the glossary is linked and explained where a page first uses it;
 - a notebook comes with its outputs, and its C is C.
Chapters, exercises and notebooks are those in the folders: there is no list here.
"""

import html
import itertools
import json
import os
import re
import shutil
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "results"))
import lens_figures  # noqa: E402
import replays  # noqa: E402
import scenes  # noqa: E402
import story  # noqa: E402

PAGES = (
    "README.md",
    "chapters/**/*.md",
    "emulator/*.md",
    "exercises/*.md",
    "exercises/*/README.md",
    "notebooks/README.md",
    ".github/CONTRIBUTING.md",
)
# How a file that is shown is highlighted; others are plain text.
LANGUAGES = {
    ".cu": "cuda",
    ".cuh": "cuda",
    ".c": "c",
    ".h": "c",
    ".py": "python",
    ".sh": "sh",
    ".diff": "diff",
    ".ini": "ini",
    "Makefile": "make",
}
# Links outside of code: text, target, anchor. A text may hold one pair of brackets.
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s:]*)(#[^)\s]*)?\)")
# What holds no links, and what holds no words to be explained.
BLOCKS = r"^ *```.*?^ *```$|<!--.*?-->"
CODE = re.compile(f"({BLOCKS})", re.M | re.S)
CODE_AND_TAGS = re.compile(
    rf"({BLOCKS}|^(?: {{4}}|\t)[^\n]*$|`[^`\n]+`|<[^>\n]+>)", re.M | re.S
)
TERM = re.compile(r"^- \*\*(.+?)\*\*:(.+(?:\n  .+)*)", re.M)


def pages():
    """The Markdown pages of the project, each once."""
    found = {path: None for pattern in PAGES for path in sorted(ROOT.glob(pattern))}
    return [path for path in found if "build" not in path.relative_to(ROOT).parts]


def outside(apart, text, change):
    """The text with `change` made to what the expression `apart` does not match."""
    parts = apart.split(text)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def relative(target, page):
    return os.path.relpath(target, page.parent)


def html_of(target, page):
    """The address of another page of the site, seen from this one."""
    return str(Path(relative(target, page)).with_suffix(".html"))


# ---- chapters ----


class Chapter:
    """What the book knows of a chapter, all from its folder and from pages beside it."""

    def __init__(self, folder):
        self.folder, self.readme = folder, folder / "README.md"
        self.number, self.name = int(folder.name[:2]), folder.name[3:]
        heading = re.match(r"# Chapter \d+: (.+)", self.readme.read_text())
        self.idea = heading[1] if heading else ""
        listed = re.search(
            rf"^\| \[{self.number} ([^\]]+)\]\(chapters/{folder.name}\)",
            (ROOT / "README.md").read_text(),
            re.M,
        )
        self.technique = listed[1] if listed else self.name.replace("_", " ")
        self.notebook = ROOT / "notebooks" / f"{folder.name}.ipynb"
        link = f"chapters/{folder.name}/README.md)"
        self.exercises = [
            path.parent
            for path in sorted((ROOT / "exercises").glob("[0-9]*/README.md"))
            if link in path.read_text()
        ]

    @property
    def title(self):
        return f"Chapter {self.number}: {self.technique}"

    @property
    def subtitle(self):
        """What the heading says beyond the technique: "thirty-two doors"; may be empty."""
        return re.sub(
            rf"^(the )?{re.escape(self.technique)}[:?]* *", "", self.idea, flags=re.I
        )


def chapters():
    return [
        Chapter(path.parent) for path in sorted(ROOT.glob("chapters/[0-9]*/README.md"))
    ]


def exercise_title(folder):
    """An exercise's heading: "Exercise 3: let neighbours read neighbours"."""
    return (folder / "README.md").read_text().partition("\n")[0].lstrip("# ")


# ---- the glossary ----


def anchor(term):
    return "term-" + re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")


def plain(text):
    """Markdown without its marks, on one line, for a tooltip."""
    text = re.sub(r"\s*\(\[[^\]]*\]\([^)]*\)\)\s*$", "", text.strip())
    text = LINK.sub(r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r"[`*]", "", text)).strip()


class Glossary:
    def __init__(self, page):
        self.page, self.terms, self.introduced = page, {}, {}
        for heading, definition in TERM.findall(page.read_text()):
            name = anchor(heading)
            where = re.search(r"\]\(([0-9]+_\w+)", definition.replace("\n", " "))
            for term in re.split(r", | \(|\)", heading.replace("`", "")):
                if term:
                    self.terms[term.lower()] = (name, plain(definition))
                    if where:
                        self.introduced.setdefault(where[1], []).append(term)

    def find(self, words):
        """The entry of a term, also of its plural."""
        words = re.sub(r"\s+", " ", words).lower()
        for form in (words, words.removesuffix("s"), words.removesuffix("es")):
            if form in self.terms:
                return self.terms[form]
        return None

    def anchored(self, text):
        """The glossary with a place to jump to at each entry; a word explained twice has one."""
        seen = set()

        def place(term):
            name = anchor(term[1])
            mark = "" if name in seen else f'<span id="{name}"></span>'
            seen.add(name)
            return f"- {mark}**{term[1]}**:{term[2]}"

        return TERM.sub(place, text)

    def linked(self, text, page):
        """The text with each term explained where the page first has it: in bold, or, if it is
        more than a common word, in any sentence."""
        seen = set()
        rare = sorted(
            (t for t in self.terms if " " in t or "-" in t), key=len, reverse=True
        )
        rare_words = re.compile(rf"\b({'|'.join(map(re.escape, rare))})(s?)\b", re.I)

        def entry(words, shown):
            found = self.find(words)
            if not found or found[0] in seen:
                return shown
            seen.add(found[0])
            where = f"{html_of(self.page, page)}#{found[0]}"
            # Not in the tab order: a reader with a keyboard has the glossary itself.
            note = html.escape(found[1], quote=True)
            return f'<a class="term" href="{where}" data-note="{note}">{shown}</a>'

        def change(part):
            lines = []
            for block in re.split(
                r"(^(?:#|\||!\[).*$|(?:!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\)))",
                part,
                flags=re.M,
            ):
                if block.startswith(("#", "|", "[", "![")):
                    lines.append(block)
                    continue
                block = re.sub(
                    r"\*\*([^*\n]+)\*\*",
                    lambda bold: (
                        entry(bold[1], bold[0]).replace(
                            bold[0], f"<strong>{bold[1]}</strong>"
                        )
                        if self.find(bold[1])
                        else bold[0]
                    ),
                    block,
                )
                pieces = re.split(
                    r"(<a class=.*?</a>|<strong>.*?</strong>|\*\*[^*]+\*\*)", block
                )
                for i in range(0, len(pieces), 2):
                    pieces[i] = rare_words.sub(
                        lambda word: entry(word[0], word[0]), pieces[i]
                    )
                lines.append("".join(pieces))
            return "".join(lines)

        return outside(CODE_AND_TAGS, text, change)


# ---- figures that a reader operates ----


def drawable(scene, start):
    """The lines of the variant at `start` in which each lane has an address; a copy engine's have none."""
    return [line for line in scene["variants"][start]["lines"] if "address" in line]


# Where the picture of the README goes.
STILL = "<!-- still -->"


def figure(kind, still, data, caption):
    """A figure that a script of the same name operates; without it `still` is shown."""
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (
        f'\n\n```{{raw}} html\n<figure class="{kind}">\n<div class="lens-still">\n'
        + re.sub(r"\n\s*\n", "\n", still)
        + '</div>\n<script type="application/json">'
        + told.replace("</", "<\\/")
        + f"</script>\n<figcaption>{caption}</figcaption>\n</figure>\n```\n\n"
    )


ELEMENT = re.compile(r"\b(\w+)(?:\[[^\[\]]*\])+")  # A[i] or A_tile[i][k]


def with_operands(lines):
    """The lines of a variant. Where a line of the source loads from several arrays, each of its loads knows its own:
    the lens tells no names, but it has the loads of a line in the order of their operands."""

    def place(line):
        return line["line"], line["text"], line["kind"]

    told = []
    for line in lines:
        loads = [other for other in lines if place(other) == place(line)]
        value = line["text"].find("=") + 1  # what stands before it is stored to
        operands = list(ELEMENT.finditer(line["text"], value))
        if line["kind"].endswith("load") and len(operands) == len(loads) > 1:
            own = operands[loads.index(line)]
            line = line | {"of": own[1], "operand": own.span()}
        told.append(line)
    return told


def lens_figure(scene, caption, start=0):
    """A scene for lens.js; without it the costliest request of the variant at `start` is shown."""
    variants = [v | {"lines": with_operands(v["lines"])} for v in scene["variants"]]
    scene = scene | {"variants": variants}
    lines = drawable(scene, start)
    unit = lambda line: "wavefronts" if "wavefronts" in line else "sectors"  # noqa: E731
    worst = max(lines, key=lambda line: line[unit(line)] - line["ideal_" + unit(line)])
    still = lens_figures.drawing(worst)
    return figure("lens", still, scene | {"start": start}, caption)


def front_figure(every, scene_of):
    """Naive and coalesced, side by side under one slider."""
    pair = [(c, scene_of[c.name]) for c in every if c.name in ("naive", "coalescing")]
    if len(pair) < 2:
        return ""
    variants = []
    for chapter, scene in pair:
        own = lens_figures.as_it_is(scene, chapter.name)
        variants.append(own | {"label": f"chapter {chapter.number}: {chapter.technique}"})
    return lens_figure(
        {
            "knob": "who is my neighbour?",
            "arguments": pair[0][1]["arguments"],
            "variants": variants,
        },
        "The same product, the same arithmetic. Chapter 2 exchanges two lines of code, and with "
        "them the neighbours. Move the slider, click on a line, press Play.",
    )


def start_of(name, scene):
    own = lens_figures.as_it_is(scene, name)
    return next(i for i, v in enumerate(scene["variants"]) if v["label"] == own["label"])


# A README says where: <!-- figure: race -->. A picture just before it is what stands there without a script.
PLACE = re.compile(
    r"^(?P<still>!\[[^\]]*\]\([^)]*\)\n\n)?<!-- figure: (?P<name>\w+) -->$", re.M
)


def bank_wheel(data, chapter):
    # Most positions of the sliders have most lines in common: a page carries each once.
    lines = {json.dumps(line): line for v in data["variants"] for line in v["lines"]}
    place = {text: i for i, text in enumerate(lines)}
    variants = [
        v | {"lines": [place[json.dumps(line)] for line in v["lines"]]}
        for v in data["variants"]
    ]
    return figure(
        "replay wheel",
        lens_figures.drawing(data["variants"][0]["lines"][0]),
        data | {"lines": list(lines.values()), "variants": variants},
        "The 32 banks of shared memory as a wheel: one turn is 128 bytes, and the numbers are the "
        "lanes. What lies on one spoke in two rings wants one bank, and if it is of one phase, has to "
        "queue. Move the sliders: each of their positions is a program that was built and run, and "
        "what it did there was counted by the lens.",
    )


def occupancy(data, chapter):
    gpu = "H200"
    own = data["gpus"][gpu]
    of = dict(
        zip(("threads", "registers", "shared"), own["chapters"][str(chapter.number)])
    )
    at = {axis: data[axis].index(value) for axis, value in of.items()}
    fit = {
        f"{of['threads']:,} threads": own["by_threads"][at["threads"]],
        f"{of['registers']} registers of a thread": own["by_registers"][at["threads"]][
            at["registers"]
        ],
        f"{of['shared']:,} bytes of shared memory": own["by_shared"][at["shared"]],
        "any block": own["by_blocks"],
    }
    still = "".join(f"<tr><td>{what}</td><td>{n}</td></tr>" for what, n in fit.items())
    return figure(
        "replay occupancy",
        f"<table><tr><th>chapter {chapter.number}: a block has</th>"
        f"<th>so many fit, on an {gpu}</th></tr>{still}</table>",
        data | {"start": {"gpu": gpu, "chapter": str(chapter.number)}},
        "How many blocks fit on an SM? Each row is the whole SM, cut into the blocks that it could hold "
        "if only this one thing could run out; the outline marks the row that decides. All answers are "
        "those of the table behind <code>--occupancy</code>. Where do you lose warps first: with more "
        "threads, more registers or more shared memory?",
    )


def race(data, chapter):
    worst = data["variants"][1]
    steps = ""
    for m in worst["moments"]:
        wrong = (
            f": {m['wrong']} of {m['accesses']} reads find another step's value"
            if m["wrong"]
            else ""
        )
        steps += f"<li>warp {m['warp']} {m['does']}s step {m['step']}{wrong}</li>"
    return figure(
        "replay race",
        f"<p>{worst['label'].capitalize()} barrier, on the emulator:</p><ol>{steps}</ol>",
        data,
        "Two warps and tiles of 8 × 8. Red is stored at this moment, an outline surrounds what the warp "
        "reads, and the number in an element is the step whose value it holds. In place of the missing "
        "barrier the program has <code>__syncwarp()</code>, so that the lanes of a warp keep together "
        "and only the warps part. The order is that of one run on the emulator; a GPU may take another, "
        "also one in which all goes well.",
    )


def warps(data, chapter):
    return figure(
        "replay warps",
        STILL,
        data | {"start": 4},
        "One scheduler, and below it its warps: violet is the time in which a warp makes its "
        f"{data['multiply_adds']} multiply-adds; in between it waits, for memory or for its turn. A bar under the "
        "slider is the share of the scheduler's slots that have a multiply-add, over "
        f"{data['window']:,} clocks. Move the slider, or click on a bar: each position was measured on a GPU. "
        "From how many warps on does one more bring next to nothing?",
    )


FIGURES = {"bank_wheel": bank_wheel, "occupancy": occupancy, "race": race, "warps": warps}


def replayed(text, chapter):
    """The figures that a chapter asks for, in their places."""
    every = replays.read()

    def shown(place):
        name, still = place["name"], place["still"] or ""
        data = {key: value for key, value in every[name].items() if key != "source"}
        return FIGURES[name](data, chapter).replace(
            STILL, f"\n```\n\n{still}```{{raw}} html\n"
        )

    return PLACE.sub(shown, text)


ANSWERS = re.compile(r"\s*<!-- answers: (.+?) -->")


def predictions(text, chapter):
    """Number fields at the questions that say their answers in a comment behind them:
    `<!-- answers: blocks = 2,816; idle threads = 20,896 -->`."""
    asked = itertools.count()

    def fields(match):
        boxes = []
        for answer in match[1].split(";"):
            words, _, value = answer.rpartition("=")
            boxes.append(
                f"<label>{html.escape(words.strip() or 'your number')} "
                f'<input inputmode="decimal" autocomplete="off" '
                f'data-key="{chapter.name}-{next(asked)}" '
                f'data-answer="{html.escape(value.strip())}"></label>'
            )
        raw = "".join(boxes)
        return (
            f'\n   <span class="predict">{raw}<output aria-live="polite"></output></span>'
        )

    return ANSWERS.sub(fields, text)


def chapter_page(text, chapter, every, scene_of):
    """A chapter as the site shows it."""
    first, _, rest = text.partition("\n")
    index = every.index(chapter)
    top = story.here(chapter.number, chapter.name)
    if first.startswith("# Chapter"):
        first = f"# {chapter.title}"
        if chapter.subtitle:
            top = f'<p class="subtitle">{html.escape(chapter.subtitle)}</p>\n{top}'
    rest = replayed(predictions(rest, chapter), chapter)
    if top:
        rest = f"\n```{{raw}} html\n{top}\n```\n{rest}"
    scene = scene_of.get(chapter.name)
    if scene and drawable(scene, start_of(chapter.name, scene)):
        caption = (
            f"What the lens counted in chapter {chapter.number}. Click on a line, press Play, "
            "move the slider; arrow keys work too. Each position of the slider is a program that "
            "was built and run."
        )
        figure = lens_figure(scene, caption, start_of(chapter.name, scene))
        place = re.search(r"^\*\*The lens", rest, re.M) or re.search(
            r"^## Measure\n", rest, re.M
        )
        rest = (
            rest[: place.start()] + figure + rest[place.start() :]
            if place
            else rest + figure
        )
    return f"{first}\n{rest.rstrip()}\n\n{onwards(chapter, every[index + 1 : index + 2])}"


def onwards(chapter, following):
    """Where a reader goes from a chapter."""
    links = [("code", "matmul.cu", chapter.folder / "matmul.cu.html")]
    if chapter.notebook.exists():
        links.append(
            ("notebook", "run it piece by piece", chapter.notebook.with_suffix(".html"))
        )
    links += [
        ("exercise", exercise_title(folder), folder / "README.html")
        for folder in chapter.exercises
    ]
    links += [("next", after.title, after.folder / "README.html") for after in following]
    items = "".join(
        f'<li class="{kind}"><span>{kind}</span> <a href="{relative(target, chapter.readme)}">'
        f"{html.escape(words)}</a></li>"
        for kind, words, target in links
    )
    return f'```{{raw}} html\n<nav class="onwards" aria-label="From here"><ul>{items}</ul></nav>\n```\n'


def index_entries(words):
    """For the search: a page that is found under these words before all others."""
    return "".join(f"```{{index}} ! {word}\n```\n" for word in words)


FENCE = re.compile(r"^(```\w*\n)(.*?)(^```$)", re.M | re.S)
# A cell of numbers and signs alone, or a number and its unit: "0.0289 to 0.0301", "97.8 %", "4 sectors".
FIGURES_ALONE = re.compile(r"(?=[^a-z]*\d)(?:[\d.,×·+−%=]|\bto\b|\s)+|[\d.,]+ \w+")


def with_room(text):
    """For a narrow page: code begins at its left edge, and a cell's numbers stay on one line."""

    def cells(line):
        return "|".join(
            cell.replace(cell.strip(), cell.strip().replace(" ", "\u00a0"))
            if cell.strip() and FIGURES_ALONE.fullmatch(cell.strip())
            else cell
            for cell in line[0].split("|")
        )

    text = FENCE.sub(lambda code: code[1] + textwrap.dedent(code[2]) + code[3], text)
    return outside(CODE, text, lambda part: re.sub(r"^\|.*\|$", cells, part, flags=re.M))


# ---- source files ----


def source_page(path):
    """A file of the project as a page."""
    name = path.relative_to(ROOT)
    text = path.read_text(errors="replace").expandtabs(8)
    language = LANGUAGES.get(path.suffix) or LANGUAGES.get(path.name, "none")
    fence = "`" * max([3] + [len(run) + 1 for run in re.findall("`{3,}", text)])
    back = path.parent / "README.md"
    up = f"[{path.parent.relative_to(ROOT)}](README.md)\n\n" if back.exists() else ""
    head = f"---\norphan: true\n---\n# {name}\n\n{up}"
    return (
        f"{head}{fence}{{code-block}} {language}\n:linenos:\n\n{text.rstrip()}\n{fence}\n"
    )


class Links:
    """Rewrites links for the site, and remembers which source files they lead to."""

    def __init__(self):
        self.sources = set()

    def changer(self, page):
        def one(match):
            words, target, part = match[1], match[2], match[3] or ""
            if not target:
                return match[0]
            path = (page.parent / target).resolve()
            if path.is_dir():
                index = path / "README.md"
                if not index.is_file():
                    return words
                return f"[{words}]({relative(index, page)}{part})"
            if path.suffix in (".md", ".ipynb") or not path.is_file():
                return match[0]
            self.sources.add(path)
            where = relative(path.with_name(path.name + ".html"), page)
            return f'<a href="{where}">{shown(words)}</a>'

        return lambda text: LINK.sub(one, text)


def shown(words):
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(words, quote=False))


# ---- notebooks ----


def notebook_page(path, chapter):
    """A notebook: cells that only save a file are shown as the file that they save."""
    book = json.loads(path.read_text())
    for cell in book["cells"]:
        text = "".join(cell["source"])
        found = re.match(r"%%cuda_group_save --name (\S+) .*\n", text)
        if cell["cell_type"] == "code" and found:
            cell["cell_type"] = "markdown"
            del cell["outputs"], cell["execution_count"]
            text = f"`{found[1]}`:\n\n```cuda\n{text[found.end() :].rstrip()}\n```\n"
        elif cell["cell_type"] == "markdown":
            text = re.sub(
                r"\A# .*", f"# Notebook {chapter.number}: {chapter.technique}", text
            )
        elif cell["id"] == "setup":
            cell["metadata"]["tags"] = ["hide-input"]
        cell["source"] = text
    return json.dumps(book, ensure_ascii=False)


# ---- all ----


# "**Part I: the memory of one product.** ...", and the list of its chapters.
PART = re.compile(
    r"^\*\*(Part \w+: [^*]+?)\.\*\*.*?first=(\d+)(?: last=(\d+))?", re.M | re.S
)


def parts(every):
    """[(title, chapters)] as the front page lists them."""
    return [
        (title, [c for c in every if int(first) <= c.number <= int(last or c.number)])
        for title, first, last in PART.findall((ROOT / "README.md").read_text())
    ]


def contents(every):
    def tree(caption, entries, more=""):
        listed = "\n".join(entries)
        return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n{more}\n{listed}\n```\n"

    def tasks(folders):
        return [
            f"{exercise_title(folder).removeprefix('Exercise ').replace(':', '', 1)} "
            f"<exercises/{folder.name}/README>"
            for folder in folders
        ]

    folders = [path.parent for path in sorted(ROOT.glob("exercises/[0-9]*/README.md"))]
    others = [
        path.relative_to(ROOT).with_suffix("").as_posix()
        for path in pages()
        if path.parent.name in ("emulator", ".github")
    ]
    more = sorted(
        path.stem for path in (ROOT / "exercises").glob("*.md") if path.stem != "README"
    )
    return (
        "".join(
            tree(
                title,
                [
                    f"{c.number} {c.technique} <chapters/{c.folder.name}/README>"
                    for c in part
                ],
            )
            for title, part in parts(every)
        )
        + tree("To look up", ["chapters/MEASURING", "chapters/GLOSSARY"])
        + tree(
            "Exercises",
            ["About the exercises <exercises/README>", *tasks(folders)]
            + [f"exercises/{name}" for name in more],
        )
        + tree(
            "Notebooks",
            ["About the notebooks <notebooks/README>"]
            + [
                f"{c.number} {c.technique} (notebook) <notebooks/{c.folder.name}>"
                for c in every
                if c.notebook.exists()
            ],
        )
        + tree("More", others)
    )


def assemble(target):
    """Fills the folder `target` with the pages of the site; what was in it is gone."""
    shutil.rmtree(target, ignore_errors=True)
    every, scene_of, links = chapters(), scenes.read(), Links()
    glossary = Glossary(ROOT / "chapters" / "GLOSSARY.md")
    by_readme = {chapter.readme: chapter for chapter in every}
    # A chapter leads to its code even where no sentence does.
    links.sources.update(chapter.folder / "matmul.cu" for chapter in every)

    def write(path, text):
        file = target / path.relative_to(ROOT)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    for page in pages():
        text, words = with_room(page.read_text()), []
        if page == glossary.page:
            text = glossary.anchored(text)
        elif page != ROOT / "README.md":
            text = glossary.linked(text, page)
        text = outside(CODE, text, links.changer(page))
        if page in by_readme:
            chapter = by_readme[page]
            words = [f"chapter {chapter.number}", chapter.technique]
            words += glossary.introduced.get(chapter.folder.name, [])
            text = chapter_page(text, chapter, every, scene_of)
        elif page.parent.parent == ROOT / "exercises":
            words = [exercise_title(page.parent).partition(":")[0].lower()]
        elif page == ROOT / "README.md":
            first, _, rest = text.partition("\n\n")
            figure = front_figure(every, scene_of)
            intro, _, rest = rest.partition("\n\n")
            text = f"{first}\n\n{intro}\n{figure}\n{rest}\n{contents(every)}"
        if words:
            heading, _, rest = text.partition("\n")
            entries = index_entries(
                sorted({plain(word).replace("!", "") for word in words})
            )
            text = f"{heading}\n\n{entries}\n{rest}"
        write(page, text)
    for chapter in every:
        if chapter.notebook.exists():
            write(chapter.notebook, notebook_page(chapter.notebook, chapter))
    for path in sorted(links.sources):
        write(path.with_name(path.name + ".md"), source_page(path))
    # Pages of sources may be there already: a README leads to what draws a figure.
    shutil.copytree(ROOT / "images", target / "images", dirs_exist_ok=True)


if __name__ == "__main__":
    assemble(Path(sys.argv[1]))
