#!/usr/bin/env python3
"""Runs notebooks from top to bottom and looks for what their cells must say.

nvcc4jupyter prints what a compiler or a program complains about and goes on: a cell succeeds
whatever happens. So each cell that runs a program carries what its output must show ("expect"
in its metadata, PASS for a program that works), and that is looked for here. What a planted
mistake does is only known on the emulator; a GPU may or may not show it.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "results"))
import ending  # noqa: E402
import make  # noqa: E402

HERE = Path(__file__).resolve().parent


def said(cell):
    """What a cell printed, and the traceback if it failed."""
    texts = []
    for output in cell.get("outputs", []):
        texts.append("".join(output.get("text", "")))
        texts.append("\n".join(output.get("traceback", [])))
        texts.append("".join(output.get("data", {}).get("text/plain", "")))
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(filter(None, texts)))


def emulated(notebook):
    return "emulator/bin/nvcc" in said(
        next(cell for cell in notebook["cells"] if cell["id"] == "setup")
    )


def disappointments(notebook):
    """Cells that did not say what they must; a word on each."""
    wrong, on_emulator = [], emulated(notebook)
    for cell in notebook["cells"]:
        text, expected = said(cell), cell["metadata"].get("expect")
        if any(output["output_type"] == "error" for output in cell.get("outputs", [])):
            wrong.append(f"{cell['id']} failed:\n{text}")
        elif expected == "PASS":
            if "PASS" not in text.splitlines():
                wrong.append(f"{cell['id']} does not say PASS but:\n{text}")
        elif expected and on_emulator and expected not in text:
            wrong.append(f"{cell['id']} does not say '{expected}' but:\n{text}")
    return wrong


def stored(notebook):
    """The notebook as it is kept in the repository: with what its cells said, and nothing of the
    machine or the time. Only what the emulator says is the same everywhere."""
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["execution_count"], kept = None, []
        cell["metadata"].pop("execution", None)
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                text = output["text"].replace(f"{HERE.parent}/", "")
                text = re.sub(r"^Source files will be saved .*\n", "", text, flags=re.M)
                # Cells are compiled in a folder that is there only now.
                output["text"] = re.sub(r"/[\w/.-]*/tmp\w+/(chapter\d+/)?", "", text)
                # A stream comes in pieces, as the pipe delivered them.
                last = kept[-1] if kept else {}
                if last.get("name") == output["name"] == "stdout":
                    last["text"] += output["text"]
                    continue
            if "execution_count" in output:
                output["execution_count"] = None
            kept.append(output)
        cell["outputs"] = kept
    notebook["metadata"]["language_info"] = {"name": "python"}
    notebook["metadata"]["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    return notebook


def run(path, out, store=False):
    """Executes a notebook, writes it with its outputs into `out`, returns what is wrong. With
    `store` the outputs go into the notebook itself too, if nothing is."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    # What cells say comes through the kernel's sockets. What its process says besides is only of interest if
    # something went wrong: ending, it may complain of a socket that was closed a moment too early.
    with tempfile.TemporaryFile("w+") as besides:
        NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            allow_errors=True,
            record_timing=False,
            resources={"metadata": {"path": str(HERE)}},
        ).execute(stderr=besides)
        out.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, out / path.name)
        wrong = disappointments(notebook)
        if wrong:
            besides.seek(0)
            wrong += filter(None, [besides.read().strip()])
        elif store and emulated(notebook):
            book = json.loads(nbformat.writes(stored(notebook)))
            path.write_text(make.as_text(book))
    return wrong


def main():
    parser = argparse.ArgumentParser(
        description="Runs the notebooks and checks what they say."
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=HERE.parent / "build" / "notebooks",
        help="where the executed notebooks go; default: build/notebooks",
    )
    parser.add_argument(
        "--store", action="store_true", help="keep what the cells say in the notebooks"
    )
    parser.add_argument("number", nargs="*", type=int, help="chapters; default: all")
    chosen, failed = parser.parse_args(), 0
    paths = [
        path
        for path in sorted(HERE.glob("[0-9][0-9]_*.ipynb"))
        if not chosen.number or int(path.name[:2]) in chosen.number
    ]
    # Jupyter's own files belong to this run and not into anybody's home.
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
            os.environ[name] = os.path.join(scratch, name.lower())
        for path in paths:
            start = time.monotonic()
            wrong = run(path, chosen.out, chosen.store)
            print(
                f"{'FAIL' if wrong else 'ok'}  notebooks/{path.name}  "
                f"{time.monotonic() - start:.0f} s",
                flush=True,
            )
            for word in wrong:
                print("    " + word.replace("\n", "\n    "))
            failed += bool(wrong)
    print(
        f"{len(paths) - failed} notebooks ran and passed, {failed} failed; "
        f"with their outputs: {os.path.relpath(chosen.out)}"
    )
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    ending.run(main)
