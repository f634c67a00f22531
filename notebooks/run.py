#!/usr/bin/env python3
"""Runs notebooks from top to bottom and looks for what their cells must say.

nvcc4jupyter prints what a compiler or a program complains about and goes on: a cell succeeds
whatever happens. So each cell that runs a program carries what its output must show ("expect"
in its metadata, PASS for a program that works), and that is looked for here. What a planted
mistake does is only known on the emulator; a GPU may or may not show it.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "results"))
import ending  # noqa: E402

HERE = Path(__file__).resolve().parent


def said(cell):
    """What a cell printed, and the traceback if it failed."""
    texts = []
    for output in cell.get("outputs", []):
        texts.append("".join(output.get("text", "")))
        texts.append("\n".join(output.get("traceback", [])))
        texts.append("".join(output.get("data", {}).get("text/plain", "")))
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(filter(None, texts)))


def disappointments(notebook):
    """Cells that did not say what they must; a word on each."""
    wrong = []
    emulated = "emulator/bin/nvcc" in said(
        next(cell for cell in notebook["cells"] if cell["id"] == "setup")
    )
    for cell in notebook["cells"]:
        text, expected = said(cell), cell["metadata"].get("expect")
        if any(output["output_type"] == "error" for output in cell.get("outputs", [])):
            wrong.append(f"{cell['id']} failed:\n{text}")
        elif expected == "PASS":
            if "PASS" not in text.splitlines():
                wrong.append(f"{cell['id']} does not say PASS but:\n{text}")
        elif expected and emulated and expected not in text:
            wrong.append(f"{cell['id']} does not say '{expected}' but:\n{text}")
    return wrong


def run(path, out):
    """Executes a notebook, writes it with its outputs into `out`, returns what is wrong."""
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
            wrong = run(path, chosen.out)
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
