"""The web site: what a reader sees and operates. Where there is a Chromium and Sphinx, in it."""

import csv
import html
import importlib.util
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import browser
import pytest
from conftest import ROOT, no_cuda, once, run

sys.path[:0] = [str(ROOT / "results"), str(ROOT / "notebooks" / "site")]
import assemble  # noqa: E402
import lens_figures  # noqa: E402
import palette  # noqa: E402
import plots  # noqa: E402
import replay_figures  # noqa: E402
import replays  # noqa: E402
import rows  # noqa: E402
import scenes  # noqa: E402
import story  # noqa: E402

CHAPTERS = assemble.chapters()
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")


def named(name):
    return next(chapter for chapter in CHAPTERS if chapter.name == name)


def page_of(site, chapter):
    return site / "chapters" / chapter.folder.name / "README.html"


# ---- without a browser ----


def contrast(a, b):
    """As WCAG 2.1 defines it."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def test_colours_can_be_read():
    for light, dark in palette.DARK.items():
        if light not in (palette.ON_COLOUR, palette.INK):
            for colour, paper, text in (
                (light, palette.PAPER["light"], palette.ON_COLOUR),
                (dark, palette.PAPER["dark"], palette.DARK[palette.ON_COLOUR]),
            ):
                assert contrast(colour, paper) >= 4.5
                assert contrast(colour, text) >= 4.5


@pytest.mark.parametrize(
    "path", sorted((ROOT / "images").glob("*.svg")), ids=lambda path: path.stem
)
def test_figures_have_the_palette(path):
    """No other colour, and the dark ones beside the light."""
    text = path.read_text()
    assert text.count(palette.style()) == 1
    drawn = re.sub(
        r"<style>@media \(prefers-color-scheme.*?</style>", "", text, flags=re.S
    )
    used = set(
        re.findall(r"#[0-9a-fA-F]{6}\b", re.sub(r"url\(#.*?\)|href=\"#.*?\"", "", drawn))
    )
    assert used <= set(palette.DARK), used


def test_scenes_are_current():
    result = run(
        [sys.executable, "-B", ROOT / "results" / "scenes.py", "--check"], env=no_cuda()
    )
    assert result.returncode == 0, result.stdout + result.stderr


def told(project, code):
    """The last line that some Python prints, which is JSON, run in results/ of a copy of the project."""
    result = run(
        [sys.executable, "-B", "-c", code], cwd=project / "results", env=no_cuda()
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_scenes_are_what_the_lens_counts(project):
    """One of them, counted again."""
    code = (
        "import json, scenes; name = 'vectorized_access'; number = scenes.scenes()[name];"
        "folder, words = scenes.prepare(name, number, {});"
        "print(json.dumps(scenes.shown(scenes.look(name, number, folder, words), folder)))"
    )
    counted = told(project, code)
    scene = scenes.read()["vectorized_access"]
    kept = lens_figures.as_it_is(scene, "vectorized_access")
    assert kept == counted | {key: kept[key] for key in ("label", "source")}


def test_every_chapter_has_a_scene():
    every = scenes.read()
    assert list(every) == [chapter.name for chapter in CHAPTERS if chapter.number]
    for name, scene in every.items():
        assert len(scene["variants"]) == len(scenes.variants(name))


def test_what_is_drawn_is_what_was_counted():
    """A request that is shown costs what the lens counted for each of its line."""
    for scene in scenes.read().values():
        for variant in scene["variants"]:
            for line in variant["lines"]:
                if "wavefront" in line:
                    drawn = 1 + max(
                        wave for wave in line["wavefront"] if wave is not None
                    )
                    assert drawn * line["requests"] == line["wavefronts"]
                elif "address" in line:
                    drawn = len(lens_figures.sectors_of(line))
                    assert drawn * line["requests"] == line["sectors"]


def test_replays_are_current():
    program = [sys.executable, "-B", ROOT / "results" / "replays.py", "--check"]
    result = run(program, env=no_cuda())
    assert result.returncode == 0, result.stdout + result.stderr


def test_replays_have_their_places():
    """Every figure is asked for by a chapter, and no chapter asks for another; what is no figure is a picture."""
    asked = {
        place["name"]
        for c in CHAPTERS
        for place in assemble.PLACE.finditer(c.readme.read_text())
    }
    drawn = {replay for replay, _ in replay_figures.FIGURES.values()}
    assert asked == set(assemble.FIGURES)
    assert asked | drawn == set(replays.REPLAYS) == set(replays.read())


def test_pictures_of_replays_are_current():
    program = [sys.executable, "-B", ROOT / "results" / "replay_figures.py", "--check"]
    result = run(program, env=no_cuda())
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_wheel_is_what_the_lens_counts(project):
    """One of its variants, counted again; and each request costs what is counted for its line."""
    wheel = replays.read()["bank_wheel"]
    places = {(v["order"], v["padding"]) for v in wheel["variants"]}
    assert (
        len(places)
        == len(wheel["variants"])
        == len(wheel["orders"]) * len(wheel["paddings"])
    )
    for variant in wheel["variants"]:
        for line in variant["lines"]:
            waves = 1 + max(wave for wave in line["wavefront"] if wave is not None)
            assert waves * line["requests"] == line["wavefronts"]
    code = (
        "import json, replays, scenes; name = 'bank_conflicts'; number = replays.number_of(name);"
        "order, padding, changes = list(replays.wheel_variants())[9];"
        "folder, words = scenes.prepare(name, number, *changes);"
        "print(json.dumps(scenes.shown(scenes.look(name, number, folder, words), folder)['lines']))"
    )
    counted = told(project, code)
    lines = [line for line in counted if "wavefront" in line]
    assert lines == wheel["variants"][9]["lines"]


def test_the_race_is_what_the_emulator_does(project):
    """All of it, once more."""
    code = "import json, replays; print(json.dumps(replays.race()))"
    counted = told(project, code)
    kept = {
        key: value for key, value in replays.read()["race"].items() if key != "source"
    }
    assert counted == kept
    both, *missing = kept["variants"]
    assert not both["fault"] and not both["wrong"]
    assert not any(moment["wrong"] for moment in both["moments"])
    for variant in missing:
        assert variant["fault"] and variant["wrong"]
        assert sum(moment["wrong"] for moment in variant["moments"])


def test_late_copies_are_what_the_emulator_does(project):
    """All of it, once more; and a wait is for one's own copies, a barrier for those of others."""
    counted = told(
        project, "import json, replays; print(json.dumps(replays.late_copies()))"
    )
    kept = replays.read()["late_copies"]
    assert counted == {key: value for key, value in kept.items() if key != "source"}
    as_it_is, no_wait, no_barrier = kept["variants"]
    for of, warps in kept["copied_by"].items():
        assert set(as_it_is[of]) == {"1"} and set(no_wait[of]) == {"0"}
        own = "".join("1" if warp == "0" else "0" for warp in warps)
        assert no_barrier[of] == own and set(warps) == {"0", "1"}
    assert not as_it_is["fault"]
    for variant in (no_wait, no_barrier):
        assert variant["fault"].startswith("asynchronous copy not waited for: byte ")
    page = named("async_copies").readme.read_text()
    assert "none of 512 elements" in page and len(own) == 256


def measured_warps():
    """results/warps.csv: {warps: [(warp, asked, came, done)]}."""
    found = {}
    with open(ROOT / "results" / "warps.csv", newline="") as file:
        for row in csv.DictReader(file):
            words = (int(row[key]) for key in ("warp", "asked", "came", "done"))
            found.setdefault(int(row["warps"]), []).append(tuple(words))
    return found


def test_warps_take_turns_as_they_were_measured():
    """Shares and waits from the GPU's clocks; more warps than the plateau has bring next to nothing; and the page
    says these numbers."""
    kept = replays.read()["warps"]
    variants = {variant["warps"]: variant for variant in kept["variants"]}
    assert list(variants) == list(measured_warps()) == list(range(1, 17))
    for count, rounds in measured_warps().items():
        clocks = [0] * kept["window"]
        for _, asked, came, done in rounds:
            assert asked < came < done
            for clock in range(max(came, 0), min(done, kept["window"])):
                clocks[clock] += kept["multiply_adds"] / (done - came)
        variant = variants[count]
        assert variant["percent"] == pytest.approx(
            100 * sum(clocks) / len(clocks), abs=0.06
        )
        waits = sorted(came - asked for _, asked, came, _ in rounds)
        assert (
            waits[len(waits) // 2 - 1] - 1 <= variant["waits"] <= waits[len(waits) // 2]
        )
        assert [len(turns) for turns in variant["turns"]] == [
            sum(w == warp and d > 0 and c < kept["shown"] for w, _, c, d in rounds)
            for warp in range(count)
        ]
    page = named("shared_memory").readme.read_text()
    page = " ".join(page.split())
    alone, eight, ten, most = (variants[n] for n in (1, 8, 10, 16))
    makes = kept["multiply_adds"]
    round_of_one = alone["waits"] + makes
    for words in (
        f"waits {alone['waits']} clocks (the median) for its data, and then multiplies for "
        f"{makes};",
        f"{alone['waits']} + {makes} = {round_of_one} clocks, and {round_of_one} / {makes} = "
        f"{round_of_one / makes:.1f} ",
        f"answers: warps = {-(-round_of_one // makes)} ",
        f"With eight warps {eight['percent']} % of the slots have a multiply-add, with ten {ten['percent']} %",
        f"sixteen reach {most['percent']} %",
        f"with sixteen, half of the waits of a warp are longer than {most['waits']:,} clocks",
    ):
        assert words in page, words
    assert most["percent"] - ten["percent"] < ten["percent"] - eight["percent"]


def test_the_picker_knows_the_rules(emulated_nvcc, tmp_path):
    """The smallest of the four that the table has is what the program says, whatever the block."""
    table, program = replays.read()["occupancy"], tmp_path / "rules"
    source = ROOT / "tests" / "occupancy_rules.c"
    built = run(
        [emulated_nvcc, "-I", ROOT / "emulator", source, "-o", program], env=no_cuda()
    )
    assert built.returncode == 0, built.stderr
    chance = random.Random(1)
    for _ in range(200):
        threads, registers, shared = (
            chance.randrange(len(table[axis]))
            for axis in ("threads", "registers", "shared")
        )
        block = [
            table["threads"][threads],
            table["registers"][registers],
            table["shared"][shared],
        ]
        told = run([program, *block]).stdout.splitlines()
        for line in told:
            gpu, _, values = line.partition(": ")
            own = table["gpus"][gpu]
            limits = (
                own["by_threads"][threads],
                own["by_registers"][threads][registers],
                own["by_shared"][shared],
                own["by_blocks"],
            )
            assert min(limits) == int(values.split(", ")[1]), (gpu, block)
        assert len(told) == len(table["gpus"])


def test_the_pages_are_the_projects(tmp_path):
    """Every chapter leads to its code, its notebook, its exercises and the next one."""
    assemble.assemble(tmp_path)
    for chapter, after in zip(CHAPTERS, [*CHAPTERS[1:], None]):
        text = (tmp_path / "chapters" / chapter.folder.name / "README.md").read_text()
        assert text.startswith(f"# Chapter {chapter.number}: {chapter.technique}\n")
        assert 'href="matmul.cu.html"' in text
        assert f'href="../../notebooks/{chapter.folder.name}.html"' in text
        for folder in chapter.exercises:
            assert f'href="../../exercises/{folder.name}/README.html"' in text
        assert not after or f'href="../{after.folder.name}/README.html"' in text
        assert (tmp_path / "chapters" / chapter.folder.name / "matmul.cu.md").exists()
        # A copy engine's requests have no lanes: a chapter with no others has no figure.
        scene = scenes.read().get(chapter.name)
        start = scene and assemble.start_of(chapter.name, scene)
        drawn = scene and assemble.drawable(scene, start)
        assert text.count('<figure class="lens">') == bool(drawn)
    named = [folder for chapter in CHAPTERS for folder in chapter.exercises]
    assert len(set(named)) > len(CHAPTERS) / 2


def test_the_front_page_lists_every_chapter_in_its_part():
    parts = assemble.parts(CHAPTERS)
    assert len(parts) == 4 and parts[0][0] == "Part I: the memory of one product"
    assert [chapter for _, part in parts for chapter in part] == CHAPTERS


def test_terms_are_explained_once(tmp_path):
    page = tmp_path / "GLOSSARY.md"
    page.write_text(
        "# G\n\n- **bank conflict**: Two words, one bank.\n- **lane**: A place.\n"
    )
    glossary = assemble.Glossary(page)
    said = glossary.linked(
        "A **lane**. Bank conflicts, bank conflicts, `bank conflict`, lanes.\n", page
    )
    assert said.count('class="term"') == 2
    assert "<strong>lane</strong></a>" in said and ">Bank conflicts</a>, bank" in said
    formula = "1. So\n\n   ```math\n   \\text{bank conflict}\n   ```\n"
    assert glossary.linked(formula, page) == formula
    assert 'id="term-bank-conflict"' in glossary.anchored(page.read_text())


def test_a_narrow_page_has_room():
    """Code begins at the left edge; a cell's numbers, and no words, stay together."""
    said = assemble.with_room(
        "```cuda\n    if (a)\n        b();\n```\n\n"
        "| 0.02 to 0.03 | 97.8 % | 4 sectors | 32 of 32 bytes | to do |\n\nSee 3 to 4.\n"
    )
    assert said.startswith("```cuda\nif (a)\n    b();\n```\n")
    together = ["0.02\u00a0to\u00a00.03", "97.8\u00a0%", "4\u00a0sectors"]
    assert f"| {' | '.join(together)} | 32 of 32 bytes | to do |" in said
    assert said.endswith("See 3 to 4.\n")


def test_a_title_says_the_technique_once():
    for chapter in CHAPTERS:
        assert chapter.technique.lower() not in chapter.subtitle.lower()
    assert CHAPTERS[7].subtitle == "thirty-two doors"


def test_predictions_become_fields():
    chapter = CHAPTERS[1]
    text = "1. How many\n   rows? <!-- answers: rows = 32; columns = 8 -->\n2. Why?\n"
    said = assemble.predictions(text, chapter)
    assert 'data-answer="32"' in said and 'data-answer="8"' in said and "<!--" not in said
    assert said.count("<input") == 2 and said.endswith("2. Why?\n")


# ---- where a reader is: the pictures at the top of a chapter ----

# {chapter: its three pictures}, of those that were measured.
HEADS = {
    chapter: re.findall(r"<svg .*?</svg>", story.here(chapter.number, chapter.name))
    for chapter in CHAPTERS
    if story.here(chapter.number, chapter.name)
}


def attributes(shape):
    """{name: value} of an element of SVG, numbers as such."""
    found = re.findall(r'([\w-]+)="([^"]*)"', shape)
    return {
        name: float(value) if re.fullmatch(r"-?[\d.]+", value) else value
        for name, value in found
    }


def test_the_reader_is_within_the_pictures():
    """Each chapter that was measured has all three, and its own mark lies inside them."""
    every = rows.read(ROOT / "results" / "h200.csv")
    measured = {row["chapter"] for row in rows.plain(every) if row["M"] == story.SIZE}
    assert {chapter.number for chapter in HEADS} == measured - {0}
    for chapter, pictures in HEADS.items():
        _, ladder, roofline = pictures
        for picture in (ladder, roofline):
            (own,) = re.findall(r'<[^>]* you"[^>]*>', picture)
            own = attributes(own)
            _, _, width, height = map(float, attributes(picture)["viewBox"].split())
            x, y = own.get("cx", own.get("x")), own.get("cy", own.get("y"))
            reach = own.get("r", 0)
            assert reach <= x <= width - max(reach, own.get("width", 0)), chapter.name
            assert reach <= y <= height - max(reach, own.get("height", 0)), chapter.name


def test_no_chapter_is_above_its_roof():
    """Also the one that makes fp32 of tensor cores' products: its roof is theirs, and the others' stays."""
    for chapter, (_, _, roofline) in HEADS.items():
        roofs = [
            float(y) for y in re.findall(r'"roof" d="M.*?L[\d.]+ ([\d.]+)"', roofline)
        ]
        (y,) = re.findall(r' you" cx="[^"]*" cy="([^"]*)"', roofline)
        assert float(y) > min(roofs), chapter.name
    late = next(c for c in HEADS if c.name == "fp32_from_halves")
    assert len(set(re.findall(r'"roof" d="[^"]*', HEADS[late][2]))) == 3


def test_the_ladder_is_that_of_the_readme():
    """The same chapters side by side, in the same colours and units as in images/ladder.svg."""
    drawn = (ROOT / "images" / "ladder.svg").read_text()
    style = (ROOT / "notebooks" / "site" / "static" / "book.css").read_text()
    assert story.ABOUT.keys() == plots.COLOURS.keys()
    for about, kind in story.ABOUT.items():
        assert re.search(rf"\.here \.{kind}\b[^{{]*{{ fill: var\(--{kind}\)", style)
        assert palette.__dict__[kind.upper()] == plots.COLOURS[about]
    groups = set()
    for chapter in HEADS:
        text = story.here(chapter.number, chapter.name)
        beside = re.findall(r'text-anchor="end">(\d+)</text>', text)
        groups.add(tuple(map(int, beside)))
        speed, unit = re.search(r"ladder: ([\d,]+) ([GT]FLOP/s)", text).groups()
        assert f"{speed}  (" in drawn and f"{unit} " in drawn
        assert (unit == "TFLOP/s") == (14 in map(int, beside)), chapter.name
    assert len(groups) == 2 and sorted(sum(groups, ())) == [c.number for c in HEADS]


def test_tiles_are_what_the_chapters_have(chapters):
    """Sizes that story.py takes from sources, or has itself: as many stages as the shared memory holds."""
    for chapter in HEADS:
        if chapter.name not in story.CHOSEN:
            continue
        assert len(HEADS[chapter]) == 3, f"{chapter.name} has no picture of its tiles"
        sizes = story.constants(chapter.number, chapter.name)
        down, across, deep = (sizes[key] for key in ("BM", "BN", "BK"))
        said = run([chapters[chapter.number], "--describe"], env=no_cuda())
        own = json.loads(said.stdout)
        assert own["tile"] in ([0, 0], [down, across])  # or chosen when it runs
        if own["dynamic_shared"]:
            # Of fp32, or of two halves in its place.
            stage = (down + across) * deep * (4 if "fp32" in own["precisions"] else 2)
            assert own["dynamic_shared"] // stage == sizes["STAGES"], chapter.name
        assert (
            sizes["STAGES"] == 1
            or f"{sizes['STAGES']} tiles in shared" in HEADS[chapter][0]
        )
    assert story.CHOSEN.keys() <= {chapter.name for chapter in HEADS}


def test_loads_of_one_line_know_their_arrays():
    """In both of the first two chapters one matrix is walked along, and the other stands still."""
    asked = {}
    for name in ("naive", "coalescing"):
        lines = lens_figures.as_it_is(scenes.read()[name], name)["lines"]
        for line in assemble.with_operands(lines):
            if "of" in line:
                operand = line["text"][slice(*line["operand"])]
                asked[name, operand] = line["address"][1] - line["address"][0]
    row, bytes_each = int(scenes.SIZE), 4
    assert asked == {
        ("naive", "A[(size_t)row * K + k]"): row * bytes_each,
        ("naive", "B[(size_t)k * N + col]"): 0,
        ("coalescing", "A[(size_t)row * K + k]"): 0,
        ("coalescing", "B[(size_t)k * N + col]"): bytes_each,
    }
    one = {"line": 1, "text": "to[i] = from[i];", "kind": "shared load"}
    assert assemble.with_operands([one, dict(one)]) == [one, one]  # of whom, nobody knows


# ---- in a browser ----


def has(module):
    return importlib.util.find_spec(module) is not None


# What the browser's tests need, and what brings it.
NEEDED = {
    "a browser (apt install chromium)": browser.PROGRAM,
    "Sphinx (`make site` installs it)": all(map(has, ("sphinx", "furo", "myst_nb"))),
    "tornado (`make notebooks` installs it)": has("tornado"),
    "axe-core (tests/run installs it)": has("axe_core_python"),
}
MISSING = [name for name, here in NEEDED.items() if not here]
seen = pytest.mark.skipif(bool(MISSING), reason=f"not here: {', '.join(MISSING)}")
SPHINX = next(name for name in NEEDED if name.startswith("Sphinx"))
buildable = pytest.mark.skipif(SPHINX in MISSING, reason=f"not here: {SPHINX}")


@pytest.fixture(scope="module")
def site(shared_folder):
    """The built site."""
    folder = shared_folder / "site"
    with once(shared_folder / "site.built") as first:
        if first:
            assemble.assemble(shared_folder / "site.source")
            command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going"]
            command += [
                "-c",
                ROOT / "notebooks" / "site",
                shared_folder / "site.source",
                folder,
            ]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    opened = browser.Browser(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


@buildable
def test_no_line_of_a_page_is_lost(site):
    """Every line of plain prose, without markup, is on the page, in its order of words."""

    def words(text):
        return " ".join(re.findall(r"\w+", html.unescape(text)))

    lost, seen_lines = [], 0
    pages = [ROOT / "README.md", *(ROOT / "chapters").rglob("*.md")]
    pages += [*(ROOT / "exercises").rglob("*.md"), *(ROOT / "emulator").glob("*.md")]
    for source in pages:
        name = source.relative_to(ROOT).with_suffix(".html")
        text = (
            site / ("index.html" if source == ROOT / "README.md" else name)
        ).read_text()
        text = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)
        shown = words(re.sub(r"<[^>]*>", "", text))
        apart = r"<!--.*?-->|^ *```.*?^ *```|!\[.*?\]|^    .*?$"
        prose = re.sub(apart, "", source.read_text(), flags=re.S | re.M)
        for line in re.findall(r"^[^|<>$`*!\[\]()&#_\n]+$", prose, re.M):
            line = re.sub(r"^\s*(\d+\.|-) ", "", line)
            seen_lines += 1
            if words(line) not in shown:
                lost.append(f"{name}: {line}")
    assert not lost
    assert seen_lines > 1000


# What is wider than the window, and does not scroll by itself.
TOO_WIDE = """(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    return [...document.querySelectorAll("body *")].filter(e =>
        e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map(e => e.outerHTML.slice(0, 120));
})()"""


@seen
def test_pages_fit_and_ask_nobody(site, page):
    wrong = []
    written = [path for path in site.rglob("*.html") if "." not in path.stem]
    shown = {path.suffixes[0]: path for path in site.rglob("*.*.html")}  # one of a kind
    for path in sorted([*written, *shown.values()]):
        page.visit(path)
        name = path.relative_to(site)
        # Colours move nothing: each scheme with one width.
        for width, scheme in zip(WIDTHS, SCHEMES):
            page.look(width, scheme)
            if wide := page.run(TOO_WIDE):
                wrong.append(f"{name} at {width}, {scheme}: {wide}")
        wrong += [f"{name}: {said}" for said in page.said]
        wrong += [f"{name} asks {address}" for address in page.asked]
    assert not wrong, "\n".join(wrong)


@seen
def test_code_of_90_columns_has_room(site, page):
    """At a laptop's width, on the pages of notebooks and of chapters; what a program said is wrapped."""
    page.look(1280, "light")
    wide = """[...document.querySelectorAll("article pre")].filter(e => e.scrollWidth > e.clientWidth)
        .filter(e => e.closest(".cell_output") || Math.max(...e.textContent.split("\\n").map(l => l.length)) <= 90)
        .map(e => e.textContent.slice(0, 60))"""
    for folder in ("notebooks", "chapters"):
        for path in sorted((site / folder).rglob("*.html")):
            if "." not in path.stem:
                page.visit(path)
                assert page.run(wide) == [], path


@seen
@pytest.mark.parametrize("name", ["index.html", "chapters/MEASURING.html"])
def test_an_edge_fades_where_there_is_more(site, page, name):
    """Until one has scrolled to the end."""
    boxes = """[...document.querySelectorAll("article :is(pre, .table-wrapper, .lens-stage)")]"""
    page.look(390, "light")
    page.visit(site / name)
    told = f"""{boxes}.map(e => [e.scrollWidth > e.clientWidth + 1, e.classList.contains("more"),
        getComputedStyle(e).maskImage !== "none"])"""
    page.run("""document.querySelectorAll("details").forEach(e => { e.open = true; });
        new Promise(done => setTimeout(done, 200))""")
    before = page.run(told)
    assert all(hidden == marked == fades for hidden, marked, fades in before)
    assert any(hidden for hidden, _, _ in before)
    page.run(f"{boxes}.forEach(e => e.scrollTo(e.scrollWidth, 0))")
    page.run("new Promise(done => setTimeout(done, 200))")
    assert not any(marked for _, marked, _ in page.run(told))
    page.look(1280, "light")


@seen
def test_headings_have_an_order(site, page):
    page.look(1280, "light")
    page.visit(page_of(site, named("every_shape_and_type")))
    sizes = page.run("""["h1", "h2", "h3", "p"].map(name => document.querySelector(`article ${name}:not([class])`))
        .map(e => [parseFloat(getComputedStyle(e).fontSize), parseFloat(getComputedStyle(e).marginTop)])""")
    (h1, _), (h2, above_h2), (h3, above_h3), (text, above) = sizes
    assert h1 > h2 > h3 > text and above_h2 > above_h3 > above


@seen
def test_formulas_are_typeset(site, page):
    """Each as MathML, which the browser draws; none is left as it was written."""
    sources = [*assemble.pages(), *(ROOT / "notebooks").glob("[0-9]*.md")]
    written = {path: path.read_text().count("```math\n") for path in sources}
    assert sum(written.values()) > 20
    for path, count in written.items():
        built = site / path.relative_to(ROOT).with_suffix(".html")
        words = re.sub(r"(?s)<(pre|code|script)\b.*?</\1>", "", built.read_text())
        assert words.count("<math ") == count, path
        assert not re.search(r"\\[a-z]+\b|\$\$", words), path
        if not count:
            continue
        page.visit(built)
        drawn = page.run("""[...document.querySelectorAll("math[display=block]")].map(e =>
            getComputedStyle(e).display === "block math" && e.getBoundingClientRect().height)""")
        assert len(drawn) == count and min(drawn) > 10, path


@seen
def test_a_wide_formula_scrolls_in_its_box(site, page):
    """From its left end, and with the keyboard."""
    page.look(390, "light")
    page.visit(page_of(site, CHAPTERS[4]))
    told = page.run("""(() => { const box = document.querySelector("div.math"), math = box.firstChild;
        box.style.width = "100px";
        const left = e => e.getBoundingClientRect().left;
        return [box.scrollWidth > 200, left(math) >= left(box), box.tabIndex, getComputedStyle(box).overflowX];
    })()""")
    assert told == [True, True, 0, "auto"]
    page.look(1280, "light")


# Each position of the slider, each line: what the figure says and how much it has drawn.
OPERATE = """(() => [...document.querySelectorAll("figure.lens")].map(figure => {
    const knob = figure.querySelector("input[type=range]"), told = [];
    const count = knob ? Number(knob.max) + 1 : 1;
    for (let variant = 0; variant < count; variant++) {
        if (knob) { knob.value = variant; knob.dispatchEvent(new Event("input")); }
        const lines = figure.querySelectorAll(".lens-code button").length;
        for (let line = 0; line < lines; line++) {
            figure.querySelectorAll(".lens-code button")[line].click();
            const value = key => figure.querySelector(`.lens-told [data-key=${key}]`).textContent;
            told.push({ variant, line, each: value("each"), requests: value("requests"),
                total: value("total"), ideal: value("ideal"),
                label: knob ? figure.querySelector(".lens-label").textContent : "",
                tokens: figure.querySelectorAll(".token").length,
                waves: figure.querySelectorAll(".wave").length,
                words: figure.querySelectorAll("rect.global").length });
        }
    }
    return told;
}))()"""


def expected(variant, line):
    """What a figure has to say of a line, from results/scenes.json."""
    unit = "wavefronts" if "wavefronts" in line else "sectors"
    each = line[unit] / line["requests"]
    address = [a for a in line.get("address", []) if a is not None]
    waves = [w for w in line.get("wavefront", []) if w is not None]
    words = {b // 4 for a in address for b in range(a, a + line["bytes"], 4)}
    return {
        "requests": line["requests"],
        "total": line[unit],
        "ideal": line["ideal_" + unit],
        "each": round(each, 2),
        "tokens": len(address),
        "waves": max(waves) + 1 if waves else 0,
        "words": 0 if waves else len(words),
    }


def number(text):
    return float(text.split()[0].replace(",", ""))


@seen
def test_figures_say_what_the_lens_counted(site, page):
    every = scenes.read()
    page.look(1280, "light")
    for chapter in CHAPTERS:
        if chapter.name not in every:
            continue
        variants = every[chapter.name]["variants"]
        # A copy engine's requests have no lanes: a chapter with no others has no figure.
        if not assemble.drawable(
            every[chapter.name], assemble.start_of(chapter.name, every[chapter.name])
        ):
            continue
        page.visit(page_of(site, chapter))
        (told,) = page.run(OPERATE)
        assert len(told) == sum(len(variant["lines"]) for variant in variants)
        for row in told:
            variant = variants[row["variant"]]
            wanted = expected(variant, variant["lines"][row["line"]])
            for key in ("requests", "total", "ideal", "each"):
                assert number(row[key]) == pytest.approx(wanted[key], abs=0.006), (
                    row,
                    key,
                )
            for key in ("tokens", "waves", "words"):
                assert row[key] == wanted[key], (chapter.name, row, key)
            assert row["label"] in ("", variant["label"])
        assert page.said == []


# A figure that is operated by script: its sliders, its words. Kept in the page while it is driven.
DRIVE = """window.drive = kind => {
    const figure = document.querySelector(`figure.${kind}`), knobs = [...figure.querySelectorAll("input[type=range]")];
    return { figure, knobs,
        move: (at, to) => { knobs[at].value = to; knobs[at].dispatchEvent(new Event("input")); },
        count: selector => figure.querySelectorAll(selector).length,
        words: () => Object.fromEntries([...figure.querySelectorAll("[data-key]")].map(
            b => [b.dataset.key, b.textContent])) };
}; 0"""


def page_with(page, site, figure):
    """Opens a chapter that has the figure; returns the chapter and what the figure has to replay."""
    chapter = next(
        c for c in CHAPTERS if f"<!-- figure: {figure} -->" in c.readme.read_text()
    )
    page.look(1280, "light")
    page.visit(page_of(site, chapter))
    page.run(DRIVE)
    return chapter, replays.read()[figure]


@seen
def test_the_wheel_replays_the_lens(site, page):
    """Each padding, order and line: the numbers, and every lane in the banks that its address has."""
    _, scene = page_with(page, site, "bank_wheel")
    told = page.run("""(() => { const { figure, knobs, move, words } = drive("wheel"), told = [];
        for (let order = 0; order <= knobs[1].max; order++) for (let padding = 0; padding <= knobs[0].max; padding++) {
            move(0, padding); move(1, order);
            for (let line = 0; line < figure.querySelectorAll(".lens-code button").length; line++) {
                figure.querySelectorAll(".lens-code button")[line].click();
                const steps = [];
                while (steps.length < 99) {
                    figure.querySelector(".lens-next").click();
                    const now = [...figure.querySelectorAll(".place:not(.waiting)")];
                    if (now.length === figure.querySelectorAll(".place").length) break;
                    steps.push(now.map(p => Number(p.dataset.bank)));
                }
                const banks = {};
                for (const p of figure.querySelectorAll(".place"))
                    for (const lane of p.dataset.lanes.split(" ")) banks[lane] = Number(p.dataset.bank);
                told.push({ order, padding, line, banks, steps, ...words() });
            } }
        return told; })()""")
    assert len(told) == sum(len(variant["lines"]) for variant in scene["variants"])
    for row in told:
        variant = next(
            v
            for v in scene["variants"]
            if v["order"] == scene["orders"][row["order"]]
            and v["padding"] == scene["paddings"][row["padding"]]
        )
        line = variant["lines"][row["line"]]
        assert number(row["each"]) == line["wavefronts"] / line["requests"]
        assert number(row["requests"]) == line["requests"]
        assert number(row["total"]) == line["wavefronts"]
        assert number(row["ideal"]) == line["ideal_wavefronts"]
        assert number(row["shared"]) == variant["shared_bytes"]
        loads = variant["loads"]
        assert number(row["sectors"]) == loads["sectors"] / loads["requests"]
        asked = {lane: a for lane, a in enumerate(line["address"]) if a is not None}
        assert row["banks"] == {str(lane): a // 4 % 32 for lane, a in asked.items()}
        # Wavefront by wavefront, those whose turn it is.
        waves = [
            {asked[lane] // 4 % 32 for lane in asked if line["wavefront"][lane] == wave}
            for wave in range(1 + max(line["wavefront"][lane] for lane in asked))
        ]
        assert [set(step) for step in row["steps"]] in (waves, [])
        assert row["steps"] or len(waves) == 1
    assert page.said == []


@seen
def test_the_picker_says_what_occupancy_says(site, page, chapters):
    """Every chapter's block on every GPU, beside --occupancy; and a slider moved."""
    chapter, table = page_with(page, site, "occupancy")
    told = page.run("""(() => { const { figure, count, words } = drive("occupancy"), told = [];
        const [gpu, block] = figure.querySelectorAll("select");
        const set = (select, value) => { select.value = value; select.dispatchEvent(new Event("change")); };
        for (const card of [...gpu.options].map(o => o.value)) {
            set(gpu, card);
            for (const number of [...block.options].map(o => o.value).filter(Boolean)) {
                set(block, number);
                told.push({ gpu: card, chapter: Number(number), ...words(),
                    drawn: count("rect.warp"), marked: count("rect.look") });
            }
        }
        return told; })()""")
    shown = {(row["chapter"], row["gpu"]): row for row in told}
    numbers = {number for number, _ in shown}
    for number_ in sorted(numbers):
        said = run([chapters[number_], "--occupancy", "--json"], env=no_cuda())
        for row in json.loads(said.stdout)["gpus"]:
            seen_row = shown.pop((number_, row["gpu"]))
            for key, name in (
                ("by_threads", "threads"),
                ("by_registers", "registers"),
                ("by_shared", "shared"),
                ("by_blocks", "count"),
                ("blocks", "blocks"),
                ("warps", "warps"),
                ("max_warps", "max_warps"),
                ("percent", "percent"),
            ):
                assert number(seen_row[name]) == row[key], (row, key)
            assert seen_row["limit"] == row["limit"]
            assert seen_row["drawn"] == row["warps"]
            assert seen_row["marked"] == row["limit"].count("+") + 1
    assert not shown and len(numbers) > 10
    # The page begins with its chapter's block on an H200; a slider leaves it.
    page.visit(page_of(site, chapter))
    page.run(DRIVE)
    assert page.run(
        "drive('occupancy').figure.querySelectorAll('select')[1].value"
    ) == str(chapter.number)
    last = len(table["registers"]) - 1
    found = page.run(
        f"(() => {{ const d = drive('occupancy'); d.move(1, {last}); return [d.words(),"
        " d.figure.querySelectorAll('select')[1].value]; })()"
    )
    own = table["gpus"]["H200"]
    at = table["threads"].index(own["chapters"][str(chapter.number)][0])
    assert (
        number(found[0]["registers"]) == own["by_registers"][at][last] and found[1] == ""
    )


@seen
def test_the_race_replays_the_run(site, page):
    """Each moment of each variant: words, and what every element holds and suffers."""
    _, scene = page_with(page, site, "race")
    told = page.run("""(() => { const { figure, knobs, move, count, words } = drive("race"), told = [];
        for (let variant = 0; variant <= knobs[0].max; variant++) { move(0, variant);
            for (let moment = 0; moment <= knobs[1].max; moment++) { move(1, moment);
                told.push({ variant, moment, ...words(), struck: count("s"),
                    here: figure.querySelector("li.now code").textContent,
                    stored: count("rect.moving"), dashed: count("rect.wrong"),
                    holds: [...figure.querySelectorAll(".race-stage text:not(.note)")].map(
                        t => t.textContent).join("") });
            } }
        return told; })()""")
    assert len(told) == sum(len(variant["moments"]) for variant in scene["variants"])
    for row in told:
        variant = scene["variants"][row["variant"]]
        moment = variant["moments"][row["moment"]]
        for key in ("warp", "accesses", "step"):
            assert number(row[key]) == moment[key]
        assert number(row.get("wrong", "0")) == moment["wrong"]
        assert number(row["results"]) == variant["wrong"]
        both = moment["A_does"] + moment["B_does"]
        assert row["stored"] == both.count("s") and row["dashed"] == both.count("x")
        holds = [
            "?" if does == "x" and step == "-" else step.replace("-", "")
            for step, does in zip(moment["A"] + moment["B"], both)
        ]
        assert row["holds"] == "".join(holds)
        assert row["struck"] == (variant["weaker"] is not None)
        assert row["here"].startswith("acc" if moment["does"] == "read" else "A_tile")
    assert page.said == []


@seen
def test_the_warps_replay_the_measurement(site, page):
    """Each number of warps, by the slider and by its bar: words, and when which warp multiplies."""
    _, scene = page_with(page, site, "warps")
    told = page.run("""(() => { const { figure, knobs, move, count, words } = drive("warps"), told = [];
        const buttons = key => [...figure.querySelectorAll(".lens-bars button")].map(b => b.getAttribute(key));
        const look = () => told.push({ at: Number(knobs[0].value), ...words(),
            waiting: count("rect.waits"), turns: count("rect.turn"),
            pressed: buttons("aria-pressed").indexOf("true"), bars: buttons("aria-label") });
        for (let at = 0; at <= knobs[0].max; at++) { move(0, at); look(); }
        figure.querySelectorAll(".lens-bars button")[7].click();
        look();
        return told; })()""")
    assert len(told) == len(scene["variants"]) + 1 and told[-1]["at"] == 7
    shares = [variant["percent"] for variant in scene["variants"]]
    for row in told:
        variant = scene["variants"][row["at"]]
        for key in ("warps", "percent", "waits"):
            assert number(row[key]) == variant[key]
        assert row["at"] == 0 or number(row["before"]) == shares[row["at"] - 1]
        assert row["waiting"] == variant["warps"] and row["pressed"] == row["at"]
        # Each turn is drawn twice: in its warp's row and in the scheduler's.
        assert row["turns"] == 2 * sum(map(len, variant["turns"]))
        assert [float(bar.split(":")[1].split()[0]) for bar in row["bars"]] == shares
    assert page.said == []


@seen
def test_figures_play_without_motion(site, page):
    """Play goes through to the end also where a reader wants nothing to move."""
    page_with(page, site, "race")
    page.look(390, "dark", "reduce")
    last = page.run("""(async () => { const { figure, knobs } = drive("race");
        figure.querySelector(".lens-play").click();
        const ended = () => knobs[1].value === knobs[1].max;
        for (let tries = 0; tries < 400 && !ended(); tries++) await new Promise(done => setTimeout(done, 50));
        return ended(); })()""")
    assert last
    page.look(1280, "light")


@seen
def test_the_front_page_compares_the_first_two(site, page):
    page.visit(site / "index.html")
    (told,) = page.run(OPERATE)
    pair = [c.name for c in CHAPTERS if c.name in ("naive", "coalescing")]
    kernels = [lens_figures.as_it_is(scenes.read()[name], name) for name in pair]
    wanted = [line["sectors"] for kernel in kernels for line in kernel["lines"]]
    assert [number(row["total"]) for row in told] == wanted
    loads = page.run("""[...document.querySelectorAll("figure.lens .lens-code button")].slice(0, 2).map(b =>
        [b.querySelector("b").textContent, b.querySelector(".lens-cost").textContent.split(",")[0]])""")
    assert loads == [
        ["A[(size_t)row * K + k]", "global load of A"],
        ["B[(size_t)k * N + col]", "global load of B"],
    ]


@seen
@pytest.mark.parametrize("width", WIDTHS)
def test_labels_of_the_lens_can_be_read(site, page, width):
    """12 pixels at least, as they are shown, and no box has more in it than it has room for."""
    page.look(width, "light")
    for name in ("coalescing", "shared_memory", "vectorized_access", "bank_conflicts"):
        page.visit(page_of(site, named(name)))
        told = page.run("""(() => { const found = [];
            for (const button of [...document.querySelectorAll("figure.lens .lens-code button")].keys()) {
                document.querySelectorAll("figure.lens .lens-code button")[button].click();
                for (const text of document.querySelectorAll("figure.lens .lens-stage text")) {
                    const box = text.classList.contains("served") && text.previousElementSibling;
                    found.push([parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a,
                        box ? text.getBBox().width - box.getBBox().width : 0, text.textContent]);
                }
            } return found; })()""")
        assert told and min(size for size, _, _ in told) >= 12
        assert max(told, key=lambda row: row[1])[1] <= 2, max(
            told, key=lambda row: row[1]
        )
    page.look(1280, "light")


@seen
def test_wavefronts_are_answered_one_by_one(site, page):
    """With motion: Play ends with all of them; Next takes one at a time; keys change the line."""
    page.visit(page_of(site, named("vectorized_access")))
    page.look(1280, "light", "no-preference")
    waves = page.run("""(async () => {
        const figure = document.querySelector("figure.lens"), found = [];
        const buttons = () => [...figure.querySelectorAll(".lens-code button")];
        buttons().find(b => /shared load, 8 wave/.test(b.textContent)).click();
        const waiting = () => figure.querySelectorAll(".wave.waiting").length;
        found.push(waiting());
        figure.querySelector(".lens-play").click();
        found.push(waiting());
        while (waiting()) await new Promise(done => setTimeout(done, 50));
        const line = () => buttons().findIndex(b => b.getAttribute("aria-pressed") === "true");
        const before = line();
        const down = new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true });
        figure.querySelector(".lens-stage").dispatchEvent(down);
        found.push(line() !== before);
        return found;
    })()""")
    assert waves == [0, 7, True]
    page.look(1280, "light")


@seen
def test_next_while_it_plays_shows_a_whole_wavefront(site, page):
    """Each line of one that is answered leads to its box, however far Play had come."""
    page.look(1280, "light")
    page.visit(page_of(site, named("vectorized_access")))
    ends = """[...document.querySelectorAll("figure.lens .trail")].map(e =>
        [e.getAttribute("x2"), e.getAttribute("y2")].join())"""
    press = "document.querySelector('figure.lens .lens-%s').click()"
    page.run("""[...document.querySelectorAll("figure.lens .lens-code button")].find(b =>
        /shared load, 8 wave/.test(b.textContent)).click()""")
    boxes = page.run(ends)
    page.look(1280, "light", "no-preference")
    page.run(press % "play")
    assert not set(page.run(ends)) & set(boxes)
    page.run(press % "next")
    assert page.run(ends) == boxes
    page.look(1280, "light")


@seen
def test_next_goes_past_what_a_copy_engine_does(site, page):
    """Such a line has no lanes and nothing to play; Next leads on from it, whatever was played before."""
    page.look(1280, "light")
    page.visit(page_of(site, named("copy_engine")))
    told = page.run("""(() => {
        const figure = document.querySelector("figure.lens"), told = [];
        const buttons = () => [...figure.querySelectorAll(".lens-code button")];
        const [play, next] = figure.querySelectorAll(".lens-buttons button");
        buttons().find(b => /shared load, [2-9]/.test(b.textContent)).click();
        play.click(); // and it is at its first wavefront
        play.focus();
        buttons()[0].click();
        told.push(play.disabled, next.textContent, document.activeElement === next);
        next.click();
        told.push(buttons()[1].getAttribute("aria-pressed"));
        return told;
    })()""")
    assert told == [True, "Next line", True, "true"]


# The button that has the keyboard: which of its list, and whether it is pressed.
FOCUSED = """(() => { const now = document.activeElement;
    const all = [...(now.closest(".lens-code, .lens-bars")?.querySelectorAll("button") || [])];
    return [all.indexOf(now), now.getAttribute("aria-pressed")]; })()"""


@seen
def test_the_keyboard_stays_in_a_figure(site, page):
    """Whose buttons are made anew when one is pressed: it stays on the pressed one, and goes on from there."""
    page.look(1280, "light")
    lists = {
        "coalescing": [".lens .lens-bars", ".lens .lens-code"],
        "bank_conflicts": [".wheel .lens-bars", ".wheel .lens-code"],
        "shared_memory": [".warps .lens-bars"],
    }
    for name, boxes in lists.items():
        page.visit(page_of(site, named(name)))
        for box in boxes:
            for at in (1, 0, 1):
                page.run(f"document.querySelectorAll('{box} button')[{at}].focus()")
                page.press("Enter")
                assert page.run(FOCUSED) == [at, "true"], box
        if name == "coalescing":
            page.press("ArrowUp")
            assert page.run(FOCUSED) == [0, "true"]
        assert page.said == []


# What readers look for, and what they should find first.
SEARCHES = pytest.mark.parametrize(
    "query, wanted",
    [
        ("bank conflict", "bank_conflicts/README"),
        ("bank conflicts", "bank_conflicts/README"),
        ("coalescing", "coalescing/README"),
        ("chapter 5", "05_.*/README"),
        ("exercise 3", "exercises/03_.*/README"),
        ("occupancy", "chapters/.*/README|exercises/.*occupancy"),
        ("cp.async", "async_copies/README"),
    ],
)


def first_hit(page, where):
    """The address of the first result, as soon as there is one."""
    return page.run(f"""(async () => {{
        const hit = () => document.querySelector("{where}");
        for (let tries = 0; tries < 100 && !hit(); tries++) await new Promise(done => setTimeout(done, 50));
        return hit() ? hit().getAttribute("href") : "nothing";
    }})()""")


@seen
@SEARCHES
def test_search_finds_first(site, page, query, wanted):
    page.visit(site / "search.html", f"?q={query.replace(' ', '+')}")
    assert re.search(wanted, first_hit(page, "#search-results li a"))


@seen
@SEARCHES
def test_search_finds_while_one_types(site, page, query, wanted):
    """On the page where one is, letter by letter, after "/"; nothing is asked of a server."""
    page.look(1280, "light")
    page.visit(page_of(site, CHAPTERS[2]))
    page.press("/")
    page.type(query)
    first = first_hit(page, "#found a")
    page.run("new Promise(done => setTimeout(done, 100))")  # the last letter has come
    assert re.search(wanted, first_hit(page, "#found a")), first
    assert page.run("document.querySelector('.sidebar-search').value") == query
    titles = page.run(
        "[...document.querySelectorAll('#found a')].map(a => a.textContent)"
    )
    assert len(set(titles)) == len(titles) > 2
    assert CHAPTERS[2].folder.name in page.run("location.href")
    assert page.said == [] and page.asked == []


@seen
def test_results_are_reached_by_keys(site, page):
    """Half a word is enough; Escape closes the list, an arrow and Enter open a result."""
    chapter = named("bank_conflicts")
    page.look(1280, "light")
    page.visit(site / "index.html")
    page.press("/")
    page.type("bank conf")
    assert chapter.folder.name in first_hit(page, "#found a")
    page.press("Escape")
    assert page.run("document.getElementById('found').hidden")
    page.type("l")
    assert chapter.folder.name in first_hit(page, "#found:not([hidden]) a")
    page.press("ArrowDown")
    page.loaded = False
    page.press("Enter")
    page.wait(page.answer(None))
    assert chapter.folder.name in page.run("location.href")


@seen
def test_results_are_left(site, page):
    """With the keyboard, or a click elsewhere; a click on one opens it, and Escape is heard wherever one is."""
    chapter = named("bank_conflicts")
    hidden = "document.getElementById('found').hidden"
    page.look(1280, "light")
    page.visit(site / "index.html")

    def look_for_it():
        page.press("/")
        page.type("bank")
        first_hit(page, "#found:not([hidden]) a")
        assert not page.run(hidden)

    look_for_it()
    page.press("Tab")
    assert page.run("document.activeElement.tagName") == "A" and page.run(hidden)
    look_for_it()
    page.click("article h1")
    assert page.run(hidden)
    for somewhere in ("activeElement.blur()", "querySelector('#found a').focus()"):
        look_for_it()
        page.run(f"document.{somewhere}")
        assert not page.run(hidden)
        page.press("Escape")
        assert page.run(hidden)
        assert page.run("document.activeElement.className") == "sidebar-search"
    page.press("Tab")
    look_for_it()
    page.loaded = False
    page.click("#found a")
    page.wait(page.answer(None))
    assert chapter.folder.name in page.run("location.href")


@seen
def test_results_do_not_come_after_one_has_left(site, page):
    """The index is there only then."""
    page.look(1280, "light")
    page.visit(site / "index.html")
    told = page.run("""(async () => {
        const field = document.querySelector(".sidebar-search");
        field.focus();
        field.value = "bank";
        field.dispatchEvent(new Event("input"));
        document.querySelector(".sidebar-tree a").focus();
        while (typeof Search === "undefined" || !Search.hasIndex()) await new Promise(done => setTimeout(done, 20));
        await new Promise(done => setTimeout(done, 100));
        return [document.activeElement.tagName, field.value, document.getElementById("found").hidden];
    })()""")
    assert told == ["A", "bank", True]


@seen
def test_what_was_typed_before_the_search_is_ready_stays(site, page):
    """And is selected, as "/" does it, also when the index has come."""
    page.look(1280, "light")
    page.visit(site / "index.html")
    page.run("document.querySelector('.sidebar-search').value = 'coalescing'; 0")
    page.press("/")
    told = page.run("""(async () => {
        while (typeof Search === "undefined" || !Search.hasIndex()) await new Promise(done => setTimeout(done, 20));
        await new Promise(done => setTimeout(done, 100));
        return [document.querySelector(".sidebar-search").value, getSelection().toString()];
    })()""")
    assert told == ["coalescing", "coalescing"]


@seen
def test_a_phone_has_the_search_in_sight(site, page):
    page.look(390, "light")
    page.visit(page_of(site, CHAPTERS[2]))
    page.run("document.querySelector('.to-search').click()")
    page.run("new Promise(done => setTimeout(done, 500))")  # the drawer opens
    page.type("bank conf")
    assert "bank_conflicts" in first_hit(page, "#found a")
    left, right = (
        page.run("""(() => { const box = document.getElementById("found").getBoundingClientRect();
        return [box.left, box.right]; })()""")
    )
    assert 0 <= left < right <= 390
    page.look(1280, "light")


@seen
def test_a_prediction_is_checked_and_remembered(site, page):
    chapter = CHAPTERS[1]
    path = page_of(site, chapter)
    page.visit(path)
    if not page.run("document.querySelectorAll('.predict input').length"):
        pytest.fail("chapter 1 asks for no number")
    answers = """(() => { for (const field of document.querySelectorAll(".predict input")) {
        field.value = %s; field.dispatchEvent(new Event("change")); }
        return [...document.querySelectorAll(".predict input")].map(f => f.dataset.verdict); })()"""
    assert set(page.run(answers % "'123456789'")) == {"wrong"}
    assert set(page.run(answers % "field.dataset.answer")) == {"right"}
    page.visit(path)
    assert page.run(
        "[...document.querySelectorAll('.predict input')].every(f => f.dataset.verdict === 'right')"
    )
    page.run("localStorage.clear()")


@seen
def test_enter_judges_a_prediction_and_the_keyboard_stays(site, page):
    page.visit(page_of(site, CHAPTERS[1]))
    page.run("document.querySelector('.predict input').focus()")
    page.type("123456789")
    page.press("Enter")
    told = page.run("""[document.activeElement.value, document.activeElement.dataset.verdict,
        localStorage.getItem(`predict-${document.activeElement.dataset.key}`)]""")
    assert told == ["123456789", "wrong", "123456789"]
    page.run("localStorage.clear()")


@seen
def test_a_prediction_is_not_replaced_by_an_older_one(site, page):
    """What was typed before the script came is what the reader means."""
    path = page_of(site, CHAPTERS[1])
    page.visit(path)
    page.run("""(() => { const { key } = document.querySelector(".predict input").dataset;
        localStorage.setItem(`predict-${key}`, "1"); })()""")
    typed = """addEventListener("readystatechange", () => {
        if (document.readyState === "interactive") document.querySelector(".predict input").value = "77";
    }, true)"""
    with page.before(typed):
        page.visit(path)
    assert page.run("document.querySelector('.predict input').value") == "77"
    page.run("localStorage.clear()")


@seen
def test_a_browser_that_keeps_nothing_is_enough(site, page):
    """Predictions are judged and the search finds, where localStorage is forbidden."""
    forbidden = """Object.defineProperty(window, "localStorage", { configurable: true,
        get() { throw new Error("forbidden"); } })"""
    with page.before(forbidden):
        page.visit(page_of(site, CHAPTERS[1]))
        page.run("document.querySelector('.predict input').focus()")
        page.type("123456789")
        page.press("Enter")
        assert page.run("document.activeElement.dataset.verdict") == "wrong"
        page.run("document.activeElement.blur()")
        page.press("/")
        page.type("bank conf")
        assert "bank_conflicts" in first_hit(page, "#found a")
        page.visit(site / "search.html", "?q=bank+conflict")
        assert "bank_conflicts" in first_hit(page, "#search-results li a")


@seen
def test_a_picture_is_enlarged_by_keys(site, page):
    """Enter opens it, Escape closes it, and the keyboard is back on the picture."""
    page.visit(page_of(site, CHAPTERS[1]))
    page.run("document.querySelector('article img').focus()")
    page.press("Enter")
    assert page.run("document.querySelector('dialog.enlarged').open")
    page.press("Escape")
    assert not page.run("document.querySelector('dialog.enlarged').open")
    assert page.run("document.activeElement === document.querySelector('article img')")


@seen
def test_without_a_script_the_still_picture_is_there(site, page):
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.visit(site / "index.html")
        found = page.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        still = page.call("DOM.querySelector", nodeId=found, selector=".lens-still svg")
        assert still["nodeId"]
        for figure, what in (
            ("bank_wheel", "svg"),
            ("occupancy", "table"),
            ("race", "ol"),
            ("warps", "img"),
        ):
            chapter = next(
                c
                for c in CHAPTERS
                if f"<!-- figure: {figure} -->" in c.readme.read_text()
            )
            page.visit(page_of(site, chapter))
            found = page.call("DOM.getDocument", depth=0)["root"]["nodeId"]
            where = f".replay.{figure.removeprefix('bank_')} .lens-still {what}"
            still = page.call("DOM.querySelector", nodeId=found, selector=where)
            assert still["nodeId"], where
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)


@buildable
def test_a_chapter_is_light(site):
    """500 KB at most, with pictures, style and scripts."""
    shared = sum(path.stat().st_size for path in (site / "_static").glob("*.js"))
    shared += sum(
        path.stat().st_size
        for pattern in ("*.css", "styles/*.css")
        for path in (site / "_static").glob(pattern)
    )
    for chapter in CHAPTERS:
        path = page_of(site, chapter)
        text = path.read_text()
        pictures = {
            (path.parent / name).resolve()
            for name in re.findall(r'<img [^>]*src="([^"]+)"', text)
        }
        size = len(text.encode()) + shared + sum(p.stat().st_size for p in pictures)
        assert size <= 500_000, f"{chapter.folder.name}: {size}"


def axe():
    """The text of axe-core, which a package has brought along."""
    folder = Path(importlib.util.find_spec("axe_core_python").origin).parent
    return (folder / "axe.min.js").read_text()


@seen
def test_no_contrast_or_label_error(site, page):
    library, wrong = axe(), []
    one_of_each = ["index.html"]
    one_of_each += [
        f"chapters/{c.folder.name}/README.html"
        for c in (CHAPTERS[1], CHAPTERS[3], CHAPTERS[7])
    ]
    one_of_each += [f"notebooks/{CHAPTERS[1].folder.name}.html", "chapters/GLOSSARY.html"]
    one_of_each += [f"chapters/{CHAPTERS[1].folder.name}/matmul.cu.html"]
    for name in one_of_each:
        page.visit(site / name)
        page.run(library + "; 0")
        for width, scheme in zip(WIDTHS, SCHEMES):
            page.look(width, scheme)
            found = page.run("""axe.run(document, { runOnly: ["wcag2a", "wcag2aa"] })
                .then(told => told.violations.flatMap(rule => rule.nodes.slice(0, 3).map(node =>
                    `${rule.id}: ${node.html.slice(0, 110)} ${node.any.map(a => a.message)}`)))""")
            wrong += [f"{name}, {scheme}: {line}" for line in found]
    assert not wrong, "\n".join(wrong)
