"""The notebooks: made from their sources, equal to the chapters, and working."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from conftest import (
    ROOT,
    accept,
    at_length,
    files_of_chapter,
    for_real_nvcc,
    no_cuda,
    run,
)

sys.path.insert(0, str(ROOT / "notebooks"))
import make as maker  # noqa: E402
import run as runner  # noqa: E402

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return json.loads(path.read_text())


def saved(notebook, *kinds):
    """[(file, its text)] of the cells that save a file and whose id begins with one of these."""
    found = []
    for cell in notebook["cells"]:
        if cell["id"].startswith(kinds):
            first, _, rest = "".join(cell["source"]).partition("\n")
            name = re.fullmatch(
                r"%%cuda_group_save --name (\S+) --group chapter\d+", first
            )[1]
            found.append((name, rest + "\n"))
    return found


# ---- what is committed ----


def test_notebooks_are_current():
    result = run([sys.executable, "-B", ROOT / "notebooks" / "make.py", "--check"])
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_chapter_has_one():
    chapters = [path.name for path in sorted((ROOT / "chapters").glob("[0-9][0-9]_*"))]
    assert [path.stem for path in NOTEBOOKS] == chapters


@every_notebook
def test_pieces_are_the_chapter(path):
    chapter = (ROOT / "chapters" / path.stem / "matmul.cu").read_text()
    pieces = saved(read(path), "piece-")
    *names, last = [name for name, _ in pieces]
    assert last == "matmul.cu"
    includes = "".join(f'#include "{name}"\n' for name in names)
    assert pieces[-1][1].startswith(includes)
    text = "".join(text for _, text in pieces).replace(includes, "", 1)

    def lines(text):
        return [line for line in text.splitlines() if line.strip()]

    assert lines(text) == lines(chapter[chapter.index("*/\n") + 3 :])


@every_notebook
def test_form(path):
    notebook = read(path)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    for word in ("setup", "piece-", "run", "python", "change-"):
        assert any(name.startswith(word) for name in ids), f"no cell of the kind {word}"
    assert any(
        "book.plot(" in text or "pyplot.show()" in text
        for text in ("".join(cell["source"]) for cell in notebook["cells"])
    ), "nothing is drawn"
    assert path.stat().st_size < 150_000
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["execution_count"] is None
            assert not any(output["output_type"] == "error" for output in cell["outputs"])
            # What a machine or a day would change.
            assert not re.search(
                r"/(?:home|tmp|root|work)/|0x[0-9a-f]{6}", json.dumps(cell["outputs"])
            )
    nbformat = pytest.importorskip("nbformat", reason="notebooks need Python 3.10")
    nbformat.validate(nbformat.read(path, as_version=4))


@every_notebook
def test_formulas_are_as_jupyter_wants_them(path):
    source = path.with_suffix(".md").read_text()
    cells = [
        "".join(c["source"]) for c in read(path)["cells"] if c["cell_type"] == "markdown"
    ]
    formulas = [text for cell in cells for text in cell.split("$$")[1::2]]
    assert formulas == re.findall(r"```math(\n.*?)```", source, re.S)
    assert not any("```math" in cell for cell in cells)


# These take two minutes each; their programs are run without a notebook, too.
SLOW = ("12", "13", "17", "18", "19")


@pytest.mark.parametrize(
    "path",
    at_length(NOTEBOOKS, lambda path: path.name[:2] in SLOW),
    ids=lambda path: path.stem,
)
@pytest.mark.depends(
    "notebooks", "results", lambda values: files_of_chapter(int(values["path"].name[:2]))
)
def test_runs_and_says_pass(path, project, chapters, tmp_path):
    pytest.importorskip("nbclient", reason="notebooks need Python 3.10")
    command = [sys.executable, "-B", project / "notebooks" / "run.py", "--out", tmp_path]
    result = run(
        [*command, str(int(path.name[:2]))],
        env=no_cuda() | {"EMULATOR": "1"},
        cwd=project,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 notebooks ran and passed, 0 failed" in result.stdout
    assert result.stderr == ""


@for_real_nvcc("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_real_compiler_accepts_the_experiment(path, tmp_path):
    for name, text in saved(read(path), "piece-", "change-"):
        (tmp_path / name).write_text(text)
    accept(
        tmp_path / "matmul.cu",
        tmp_path,
        "-I",
        ROOT / "common",
        "-I",
        ROOT / "chapters",
        "-I",
        ROOT / "chapters" / path.stem,
        "-gencode=arch=compute_90,code=sm_90",
        quickly=True,
    )


def test_a_stale_program_is_not_run(project, chapters, tmp_path):
    """A cell does not compile, nvcc4jupyter goes on, and the program is that of the cells before."""
    pytest.importorskip("nbclient", reason="notebooks need Python 3.10")
    notebook = read(project / "notebooks" / "01_naive.ipynb")
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    piece = next(name for name in cells if name.startswith("piece-"))
    broken = cells[piece] | {"id": "broken"}
    broken["source"] = [*broken["source"], "\nthis does not compile;\n"]
    again = {name: cells[name] | {"id": f"{name}-again"} for name in (piece, "run")}

    def python(name):
        source = ["book.run(8)"]
        return cells["setup"] | {"id": name, "source": source, "metadata": {}}

    pieces = [cell for name, cell in cells.items() if name.startswith("piece-")]
    notebook["cells"] = [cells["setup"], *pieces, cells["run"], python("fresh"), broken]
    notebook["cells"] += [cells["run"] | {"id": "refused"}, python("stale")]
    notebook["cells"] += [again[piece], python("not compiled"), again["run"]]
    notebook["cells"] += [python("mended")]
    for one in notebook["cells"]:
        one["id"] = one["id"].replace(" ", "-")
    path = tmp_path / "01_naive.ipynb"
    path.write_text(json.dumps(notebook))
    command = [
        sys.executable,
        "-c",
        "import pathlib, sys\n"
        f"sys.path.insert(0, {str(project / 'notebooks')!r})\n"
        "import run\n"
        f"run.run(pathlib.Path({str(path)!r}), pathlib.Path({str(tmp_path / 'out')!r}))",
    ]
    ran = run(command, env=no_cuda() | {"IPYTHONDIR": str(tmp_path)})
    assert ran.returncode == 0, ran.stderr
    said = {
        cell["id"]: runner.said(cell)
        for cell in read(tmp_path / "out" / "01_naive.ipynb")["cells"]
    }
    for name in ("run", "fresh", "run-again", "mended"):
        assert "PASS" in said[name], said
    assert "error" in said["refused"] and "PASS" not in said["refused"]
    for name in ("stale", "not-compiled"):
        assert "PASS" not in said[name] and "compiled before" in said[name], said[name]


# ---- what makes them ----


@pytest.fixture
def world(tmp_path):
    """A project with one small chapter and its notebook."""
    for name in ("make.py", "requirements.txt", "book.py"):
        (tmp_path / "notebooks").mkdir(exist_ok=True)
        shutil.copy(ROOT / "notebooks" / name, tmp_path / "notebooks")
    (tmp_path / "results").mkdir()
    shutil.copy(ROOT / "results" / "ending.py", tmp_path / "results")
    shutil.copy(ROOT / "CITATION.cff", tmp_path)
    chapter = tmp_path / "chapters" / "07_small"
    chapter.mkdir(parents=True)
    (chapter / "matmul.cu").write_text(
        '/*\n * title\n */\n#include "x.h"\n\n// One.\nint a = 1;\n    // Two.\nint b;\n'
    )
    (tmp_path / "notebooks" / "07_small.md").write_text(
        "# Small\n<!-- setup -->\n<!-- piece one.h: // One -->\n<!-- piece matmul.cu: // Two -->\n"
        "<!-- run -->\n```python\nbook.run(1)\n```\n<!-- change one.h\n- int a = 1;\n+ int a = 2;\n"
        "-->\n<!-- run: FAIL -->\n"
    )
    return tmp_path


def make(world, *words):
    return run([sys.executable, "-B", world / "notebooks" / "make.py", *words])


def test_a_notebook_is_made(world):
    assert make(world).returncode == 0
    cells = {
        cell["id"]: cell for cell in read(world / "notebooks" / "07_small.ipynb")["cells"]
    }
    assert list(cells) == [
        "text",
        "setup",
        "piece-one",
        "piece-matmul",
        "run",
        "python",
        "change-one",
        "run-2",
    ]

    def source(name):
        return "".join(cells[name]["source"])

    assert source("piece-one").endswith('chapter7\n#include "x.h"\n\n// One.\nint a = 1;')
    assert source("piece-matmul").endswith('#include "one.h"\n\n    // Two.\nint b;')
    assert source("change-one").endswith("// One.\nint a = 2;  // changed")
    assert [cells[name]["metadata"] for name in ("run", "python", "run-2")] == [
        {"expect": "PASS"},
        {"expect": "PASS"},
        {"expect": "FAIL"},
    ]
    assert make(world, "--check").returncode == 0


def test_a_stale_notebook_is_named(world):
    assert make(world).returncode == 0
    source = world / "chapters" / "07_small" / "matmul.cu"
    source.write_text(source.read_text().replace("int b", "int c"))
    before = (world / "notebooks" / "07_small.ipynb").read_text()
    result = make(world, "--check")
    assert result.returncode == 1 and "07_small.ipynb: older than" in result.stdout
    assert (world / "notebooks" / "07_small.ipynb").read_text() == before


def test_outputs_are_kept_until_a_cell_changes(world):
    assert make(world).returncode == 0
    path = world / "notebooks" / "07_small.ipynb"
    book = read(path)
    next(cell for cell in book["cells"] if cell["id"] == "run")["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "PASS\n"}
    ]
    path.write_text(json.dumps(book))
    assert make(world).returncode == 0 and "PASS\\n" in path.read_text()
    source = world / "chapters" / "07_small" / "matmul.cu"
    source.write_text(source.read_text().replace("int b", "int c"))
    assert make(world).returncode == 0 and "PASS\\n" not in path.read_text()


@pytest.mark.parametrize(
    "old, new, said",
    [
        (
            "one.h: // One",
            "one.h: // Three",
            "piece one.h: no line of the chapter begins with '// Thr",
        ),
        ("- int a = 1;", "- int a = 3;", "0 lines are 'int a = 3;'"),
        ("change one.h", "change two.h", "there is no piece two.h"),
        ("<!-- piece matmul.cu: // Two -->", "", "the last piece must be matmul.cu"),
    ],
)
def test_a_source_that_does_not_fit_is_named(world, old, new, said):
    source = world / "notebooks" / "07_small.md"
    source.write_text(source.read_text().replace(old, new))
    result = make(world)
    assert result.returncode == 1
    assert result.stderr.startswith("notebooks/07_small.md: ") and said in result.stderr


def first_cell(world, address):
    """The first cell as far as it is Python without Jupyter: up to where the project is."""
    cff = world / "CITATION.cff"
    if address:
        cff.write_text(cff.read_text() + f'repository-code: "{address}"\n')
    assert make(world).returncode == 0
    cells = read(world / "notebooks" / "07_small.ipynb")["cells"]
    text = next("".join(cell["source"]) for cell in cells if cell["id"] == "setup")
    return text[: text.index("sys.path.insert")] + "print(root)\n"


def test_first_cell_finds_the_project(world):
    result = run([sys.executable, "-c", first_cell(world, "")], cwd=world / "notebooks")
    assert (result.returncode, result.stdout) == (0, f"{world}\n")


@pytest.mark.skipif(bool(maker.project_address()), reason="the project has an address")
def test_first_cell_says_what_to_set(world, tmp_path_factory):
    result = run(
        [sys.executable, "-c", first_cell(world, "")], cwd=tmp_path_factory.mktemp("no")
    )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "write its git address into PROJECT" in result.stderr


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_first_cell_fetches_the_project(world, tmp_path_factory):
    if maker.project_address():
        (world / "CITATION.cff").write_text("")
    cell, empty = first_cell(world, f"file://{world}"), tmp_path_factory.mktemp("no")
    author = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", world, *words], check=True)
    for _ in range(2):  # and finds it the second time
        result = run([sys.executable, "-c", cell], cwd=empty)
        assert (result.returncode, result.stdout) == (0, f"{empty}/matmul\n"), (
            result.stderr
        )


# ---- what runs them: nvcc4jupyter's cells succeed whatever happens ----


def cell(name, text, expect=None, kind="stream"):
    output = (
        {"output_type": kind, "text": text}
        if kind == "stream"
        else {"output_type": kind, "traceback": [text]}
    )
    return {
        "cell_type": "code",
        "id": name,
        "outputs": [output],
        "source": "",
        "metadata": {"expect": expect} if expect else {},
    }


@pytest.mark.parametrize(
    "more, said",
    [
        (cell("run", "a\nPASS\n", "PASS"), None),
        (
            cell("run", "x.cu(3): error\n", "PASS"),
            "run does not say PASS but:\nx.cu(3): error",
        ),
        (cell("run", "FAIL: no PASS\n", "PASS"), "run does not say PASS"),
        (cell("run", "a race here\n", "race"), None),
        (cell("run", "PASS\n", "race"), "run does not say 'race'"),
        (cell("python", "NameError", kind="error"), "python failed:\nNameError"),
    ],
)
def test_what_a_cell_says_is_looked_at(more, said):
    emulated = cell("setup", "Compiler: emulator/bin/nvcc (no GPU)")
    wrong = runner.disappointments({"cells": [emulated, more]})
    assert (said is None and not wrong) or (said and said in wrong[0])


def test_a_planted_mistake_may_pass_on_a_gpu():
    gpu = cell("setup", "Compiler: /usr/local/cuda/bin/nvcc (there is a GPU)")
    assert runner.disappointments({"cells": [gpu, cell("run", "PASS\n", "race")]}) == []


# ---- what their cells call ----


@pytest.fixture
def book():
    """The module, where what it needs is installed."""
    for needed in ("IPython", "nvcc4jupyter", "matplotlib"):
        pytest.importorskip(needed, reason="notebooks need Python 3.10")
    import matplotlib

    matplotlib.use("svg")
    import book

    return book


def access(kind, **costs):
    return {"kind": kind, "requests": 2, "lanes": 64} | costs


# What a lens report says of three kernels: threads carry all, or the copy engine and the tensor cores do.
BY_THREADS = {
    "results": 32,
    "tensor_bytes": 0,
    "lines": [
        access("global load", sectors=8),
        access("global store", sectors=16),
        access("shared load", wavefronts=4),
        access("shared store", wavefronts=2),
    ],
}
BY_ENGINES = {
    "results": 32,
    "tensor_bytes": 4096,
    "lines": [access("bulk copy", sectors=64), access("global store", sectors=8)],
}
FROM_MEMORY = {
    "results": 32,
    "tensor_bytes": 0,
    "lines": [access("global load", sectors=8), access("global store", sectors=16)],
}


def drawn(book, monkeypatch, reports):
    """{title: what stands at its bars} of a plot, and the figure."""
    figures = []
    monkeypatch.setattr(book, "show", figures.append)
    book.plot(reports)
    (figure,) = figures
    titles = {
        axis.get_title().replace("\n", " "): [text.get_text() for text in axis.texts]
        for axis in figure.axes
    }
    return titles, figure


def test_a_plot_says_who_does_what_no_lane_does(book, monkeypatch):
    """A missing count is no 0: the copy engine loads, and the tensor cores read what it has brought."""
    two = {"threads": BY_THREADS, "engines": BY_ENGINES}
    said, figure = drawn(book, monkeypatch, two)
    engine, cores = "none:\ncopy engine", "none: tensor\ncores read it"
    assert said == {
        "loads from global memory for each result": ["2", engine],
        "loads from shared memory for each result": ["2", cores],
        "sectors for a load from global memory": ["4", engine],
        "sectors for a store to global memory": ["8", "4"],
        "wavefronts for a load from shared memory": ["2", cores],
        "wavefronts for a store to shared memory": ["1", engine],
    }
    for axis in figure.axes:
        heights = [bar.get_height() for bar in axis.patches]
        assert [height > 0 for height in heights] == [
            not text.get_text().startswith("none") for text in axis.texts
        ]
    said, _ = drawn(book, monkeypatch, {"a": BY_THREADS, "b": FROM_MEMORY})
    assert said["wavefronts for a store to shared memory"] == ["1", "none"]
    assert "loads from global memory for each result" not in said  # they are as many
    counted = book._counts(BY_THREADS | {"results": None})
    assert counted["loads from global memory\nfor each result"] == "not counted"


def test_a_plot_has_three_panels_in_a_row(book, monkeypatch):
    """More are scaled to the page's width until nobody can read their titles."""
    said, figure = drawn(book, monkeypatch, {"threads": BY_THREADS})
    assert len(said) == 6 and figure.get_figwidth() < 8
    rows = [axis.get_subplotspec().rowspan.start for axis in figure.axes]
    assert rows == [0, 0, 0, 1, 1, 1]


@every_notebook
def test_what_the_book_says_has_room(path):
    """The first cell's words, and what the lens says of a line, fit into 80 columns."""
    for one in read(path)["cells"]:
        said = runner.said(one).splitlines() if one["cell_type"] == "code" else []
        if one["id"] == "setup":
            assert said and max(map(len, said)) <= 80
        # Below a line of the source: what a request of it costs, and why.
        assert all(len(line) <= 80 for line in said if re.match(r" {4}\d", line))
