#!/usr/bin/env python3
"""Makes notebooks/NN_name.ipynb from notebooks/NN_name.md and the chapter's matmul.cu.

The source is Markdown, and becomes text cells. A formula, fenced as ```math for GitHub, gets the
$$ that Jupyter wants. These stand alone on a line and become code:

    <!-- setup -->               finds the project, a compiler and a GPU
    <!-- piece NAME: LINE -->    saves as NAME the chapter's lines from the one that begins with
                                 LINE to the next piece. The first piece begins after the
                                 chapter's title, the last one goes to the end of the file and
                                 into matmul.cu, behind an #include of every other piece: so the
                                 pieces together are the chapter, and can be nothing else.
    <!-- run -->                 compiles and runs the pieces; says PASS
    <!-- run: TEXT -->           the same, but something is wrong and the output says TEXT
    <!-- change NAME              saves a piece again with some lines changed; a line "- old" is
    - old                         followed by the "+ new" that replaces it
    + new
    -->
    ```python                    a cell of Python

Outputs are kept until a cell changes; `make notebooks` stores them (run.py).
With --check nothing is written: the notebooks that differ from their sources are named.
"""

import argparse
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "results"))
import ending  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

SETUP = """\
#@title Set-up: finds the project, a compiler and a GPU. Run this cell first.
import pathlib, subprocess, sys

# The project's git address: only needed where the project is not yet, as on Colab.
PROJECT = "{address}"

here = pathlib.Path.cwd()
places = [here, *here.parents, here / "matmul"]
root = next((place for place in places if (place / "notebooks/book.py").exists()), None)
if root is None and not PROJECT:
    class Missing(SystemExit):
        def _render_traceback_(self):  # IPython shows this, and no more
            return [str(self)]

    raise Missing("The project is not here: open this notebook inside a copy of it, "
                  "or write its git address into PROJECT and run this cell again.")
if root is None:
    root = here / "matmul"
    subprocess.run(["git", "clone", "--depth", "1", PROJECT, root], check=True)
sys.path.insert(0, str(root / "notebooks"))

try:
    import nvcc4jupyter
except ImportError:
    %pip install -q {nvcc4jupyter}
%load_ext nvcc4jupyter

import book
book.open_chapter({number})"""

BADGE = (
    "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
    "(https://colab.research.google.com/github/{repository}/blob/main/notebooks/{name}.ipynb)"
)

FORMULA = re.compile(r"^```math\n(.*?)^```$", re.M | re.S)

CHANGED = "  // changed"  # behind each line that a change puts in

DIRECTIVE = re.compile(
    r"^<!-- (setup|run|piece|change)\b(.*?)-->\n|^```python\n(.*?)^```\n", re.M | re.S
)


class Mistake(Exception):
    """A source that does not fit its chapter; the message says where."""


def project_address():
    """Where the project can be cloned from, as CITATION.cff says; "" if it does not."""
    found = re.search(
        r"^repository-code: *[\"']?([^\"'\s]+)", (ROOT / "CITATION.cff").read_text(), re.M
    )
    return found[1] if found else ""


def pinned(package):
    """A package with its version, as notebooks/requirements.txt has it."""
    return re.search(
        rf"^{package}==[\w.]+", (HERE / "requirements.txt").read_text(), re.M
    )[0]


def chapter_of(source):
    return ROOT / "chapters" / source.stem / "matmul.cu"


def without_title(text):
    """The chapter's code: what comes after the comment at the top of the file."""
    return text.partition("*/\n")[2]


def cut(code, firsts):
    """{name: text} of the pieces: each begins with the first line that starts like its mark,
    the first of all at the top. A line that begins a template counts with the one after it."""
    lines, starts, at = code.splitlines(keepends=True), [], 0

    def starts_like(i, mark):
        line = lines[i].strip()
        if line.startswith("template <") and line.endswith(">") and i + 1 < len(lines):
            line += " " + lines[i + 1].strip()
        return line.startswith(mark)

    for name, mark in firsts:
        found = next((i for i in range(at, len(lines)) if starts_like(i, mark)), None)
        if found is None:
            raise Mistake(f"piece {name}: no line of the chapter begins with '{mark}'")
        starts.append(found)
        at = found + 1
    starts[0] = 0
    ends = starts[1:] + [len(lines)]
    return {
        name: "".join(lines[start:end])
        for (name, _), start, end in zip(firsts, starts, ends)
    }


def changed(piece, edits):
    """A piece with lines replaced, as a change says."""
    pairs = re.findall(r"^- (.*)\n((?:\+.*\n)*)", edits, re.M)
    for old, new in pairs:
        lines = [line for line in piece.splitlines() if line.strip() == old.strip()]
        if len(lines) != 1:
            raise Mistake(f"change: {len(lines)} lines are '{old}', and one should be")
        indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        added = "".join(
            f"{indent}{line}{CHANGED}\n" for line in re.findall(r"^\+ ?(.*)$", new, re.M)
        )
        piece = piece.replace(lines[0] + "\n", added, 1)
    if not pairs:
        raise Mistake("change: no line to change")
    return piece


def notebook(source):
    """The notebook that a source makes, as text."""
    number, text = int(source.stem[:2]), source.read_text()
    group, address = f"chapter{number}", project_address()
    firsts = re.findall(r"^<!-- piece (\S+): (.+?) -->$", text, re.M)
    if not firsts or firsts[-1][0] != "matmul.cu":
        raise Mistake("the last piece must be matmul.cu")
    pieces = cut(without_title(chapter_of(source).read_text()), firsts)
    includes = "".join(f'#include "{name}"\n' for name in pieces if name != "matmul.cu")
    pieces["matmul.cu"] = includes + "\n" + pieces["matmul.cu"].strip("\n")
    cells, used = [], {}

    def add(kind, label, body, **metadata):
        used[label] = count = used.get(label, 0) + 1
        cell = {
            "cell_type": kind,
            "id": label if count == 1 else f"{label}-{count}",
            "metadata": metadata,
            "source": body.strip("\n").splitlines(keepends=True),
        }
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        cells.append(cell)

    def save(label, name, body):
        add("code", label, f"%%cuda_group_save --name {name} --group {group}\n{body}")

    def prose(body):
        if body.strip():
            add("markdown", "text", FORMULA.sub(r"$$\n\1$$", body))

    at = 0
    for match in DIRECTIVE.finditer(text):
        prose(text[at : match.start()])
        at = match.end()
        kind, rest, python = match.groups()
        if python:
            add(
                "code",
                "python",
                python,
                **({"expect": "PASS"} if "book.run(" in python else {}),
            )
        elif kind == "setup":
            if address.startswith("https://github.com/"):
                repository = re.sub(r"\.git$", "", address[len("https://github.com/") :])
                prose(BADGE.format(repository=repository, name=source.stem))
            add(
                "code",
                "setup",
                SETUP.format(
                    number=number, address=address, nvcc4jupyter=pinned("nvcc4jupyter")
                ),
                # Folded: on Colab, and in Jupyter.
                cellView="form",
                jupyter={"source_hidden": True},
            )
        elif kind == "piece":
            name = rest.split(":")[0].strip()
            save(f"piece-{name.partition('.')[0]}", name, pieces[name])
        elif kind == "change":
            name, _, edits = rest.strip().partition("\n")
            if name not in pieces:
                raise Mistake(f"change: there is no piece {name}")
            save(
                f"change-{name.partition('.')[0]}",
                name,
                changed(pieces[name], edits + "\n"),
            )
        else:
            add(
                "code",
                "run",
                f"%cuda_group_run --group {group}",
                expect=rest.lstrip(":").strip() or "PASS",
            )
    prose(text[at:])
    return as_text(
        {
            "cells": cells,
            "metadata": {
                "accelerator": "GPU",
                "colab": {"gpuType": "T4", "provenance": [], "toc_visible": True},
                "kernelspec": {
                    "display_name": "Python 3",
                    "language": "python",
                    "name": "python3",
                },
                "language_info": {"name": "python"},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def without_outputs(text):
    """A notebook as its source makes it: run.py stores what the cells said."""
    book = json.loads(text)
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell.update(execution_count=None, outputs=[])
    return book


def as_text(book):
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def sources():
    return sorted(HERE.glob("[0-9][0-9]_*.md"))


def main():
    parser = argparse.ArgumentParser(
        description="Makes the notebooks from their sources."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing, name what is stale"
    )
    check, wrong = parser.parse_args().check, 0
    for source in sources():
        target = source.with_suffix(".ipynb")
        try:
            new = notebook(source)
        except (Mistake, OSError) as problem:
            print(f"notebooks/{source.name}: {problem}", file=sys.stderr)
            wrong += 1
            continue
        if target.exists() and without_outputs(target.read_text()) == json.loads(new):
            continue
        if check:
            print(
                f"notebooks/{target.name}: older than its source or its chapter; "
                "`make notebooks` renews it"
            )
            wrong += 1
        else:
            target.write_text(new)
            print(
                f"notebooks/{target.name}: renewed, without outputs until `make notebooks`"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    ending.run(main)
