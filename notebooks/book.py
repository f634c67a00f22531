"""What the notebooks' cells call: open a chapter, look through the lens, draw what it saw."""

import json
import os
import subprocess
import sys
from pathlib import Path

from IPython import get_ipython
from nvcc4jupyter import set_defaults

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "results"))
import plots  # noqa: E402
from palette import GLOBAL, GREY, SHARED  # noqa: E402

_number = None  # of the chapter that is open


def _parts(number, **settings):
    """Builds what a chapter needs beside its matmul.cu. Returns why which compiler was taken,
    the compiler, and its options; RuntimeError with make's message if that fails."""
    words = [f"{name}={value}" for name, value in settings.items()]
    made = subprocess.run(
        ["make", "-s", f"parts{number}", *words],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if made.returncode:
        raise RuntimeError(made.stdout.strip())
    return made.stdout.splitlines()[-3:]


def _group():
    """Where nvcc4jupyter keeps the files of the open chapter's cells."""
    plugin = get_ipython().magics_manager.registry["NVCCPlugin"]
    return Path(plugin.workdir) / f"chapter{_number}"


def open_chapter(number):
    """Puts the right nvcc on PATH, tells nvcc4jupyter its options, and says what there is.

    The current folder is then the project's.
    """
    global _number
    why, compiler, options = _parts(number)
    _number = number
    os.chdir(ROOT)
    folder = Path(compiler).resolve().parent
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    set_defaults(compiler_args=options)
    print(f"Compiler: {compiler} ({why}).")
    if "emulator" in Path(compiler).parts:
        print(
            "Every cell runs here and is checked, on the CPU. There are no times: for those "
            "it takes an NVIDIA GPU\nand the CUDA Toolkit (on Colab: Runtime, Change runtime "
            "type, T4 GPU)."
        )


def run(*words):
    """Runs what the last %cuda_group_run has compiled, now with words on its command line: sizes,
    or options such as "--beta", 2. RuntimeError if that is not what the cells above have saved."""
    program = _group() / "cuda_exec.out"
    if not program.exists():
        raise RuntimeError("there is no program yet: run the cells above")
    # A cell whose pieces do not compile succeeds all the same, and the program of before stays.
    saved = max(path.stat().st_mtime_ns for path in _group().glob("*.[ch]*"))
    if saved > program.stat().st_mtime_ns:
        raise RuntimeError(
            "the program was compiled before a piece was saved: run the cell with "
            "%cuda_group_run again; if it shows an error, mend that first"
        )
    print(
        subprocess.run(
            [program, *map(str, words)],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ).stdout
    )


def lens(*sizes):
    """Runs the pieces as the cells above have saved them, on the emulator and under the lens,
    whether there is a GPU or not. Prints what the memory system saw, line by line, and returns
    the report of the kernel that did most, as emulator/LENS.md describes it."""
    _, compiler, options = _parts(_number, EMULATOR=1)
    group, program = _group(), _group() / "lens.out"
    built = subprocess.run(
        [compiler, *options.split(), f"-I{group}", group / "matmul.cu", "-o", program],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if built.returncode:
        raise RuntimeError(built.stdout.strip())
    out = group / "lens.json"
    ran = subprocess.run(
        [program, *map(str, sizes or [256]), "--check-only"],
        cwd=ROOT,
        env=dict(os.environ, LENS="json", LENS_OUT=str(out)),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if ran.returncode:
        raise RuntimeError(ran.stdout.strip())
    kernel = max(
        json.loads(out.read_text())["kernels"],
        key=lambda kernel: kernel["flop"] or 0,  # null without objdump
    )

    def waste(line):
        unit = "wavefronts" if "wavefronts" in line else "sectors"
        return line[unit] - line[f"ideal_{unit}"]

    # Constant memory has neither sectors nor banks.
    lines = [line for line in kernel["lines"] if line["kind"] != "constant load"]
    for line in sorted(lines, key=waste, reverse=True):
        unit = "wavefronts" if "wavefronts" in line else "sectors"
        each = line[unit] / line["requests"]
        print(
            f"{Path(line['file']).name}:{line['line']}  {line['text']}\n"
            f"    {each:.4g} {unit if each != 1 else unit[:-1]} a request, "
            f"{line['requests'] // kernel['launches']:,} requests: "
            f"{line['kind']}, {line['bytes']} bytes a lane\n"
            f"    {line['verdict']}"
        )
    for name, value, _ in _counts(kernel):
        print(f"{name.replace(chr(10), ' ')}: {value:.4g}")
    return kernel


# Kinds of access in a lens report that are counted together, and what they cost.
ACCESSES = {
    "load from global memory": (("global load", "async copy, read"), "sectors", GLOBAL),
    "store to global memory": (("global store",), "sectors", GLOBAL),
    "load from shared memory": (("shared load",), "wavefronts", SHARED),
    "store to shared memory": (
        ("shared store", "async copy, write"),
        "wavefronts",
        SHARED,
    ),
}


def _counts(kernel):
    """(what, how much, colour) of a lens report: loads for each result, cost of each request."""
    loads, costs = [], []
    for access, (kinds, unit, colour) in ACCESSES.items():
        lines = [line for line in kernel["lines"] if line["kind"] in kinds]
        requests = sum(line["requests"] for line in lines)
        if not requests:
            continue
        if "load" in access and kernel["results"]:
            loads.append(
                (
                    f"{access.replace('load', 'loads')}\nfor each result",
                    sum(line["lanes"] for line in lines) / kernel["results"],
                    colour,
                )
            )
        costs.append(
            (
                f"{unit} for a\n{access}",
                sum(line[unit] for line in lines) / requests,
                colour,
            )
        )
    return loads + costs


def show(figure):
    """Shows a matplotlib figure as a drawing in light and dark colours, the same every time."""
    from IPython.display import SVG, display

    display(SVG(plots.svg_of(figure)))


def plot(reports):
    """Draws the counts of one or more lens reports, {label: report}, side by side: those that
    differ, or all if none does."""
    import matplotlib
    from matplotlib import pyplot

    every = {
        label: {name: (value, colour) for name, value, colour in _counts(report)}
        for label, report in reports.items()
    }
    names = list(dict.fromkeys(name for counts in every.values() for name in counts))

    def values(name):
        return [counts.get(name, (0, GREY))[0] for counts in every.values()]

    names = [name for name in names if len(set(values(name))) > 1] or names
    with matplotlib.rc_context(plots.STYLE):
        width = max(2.6 * len(names), 4.2)
        figure, axes = pyplot.subplots(1, len(names), figsize=(width, 2.8), squeeze=False)
        for axis, name in zip(axes[0], names):
            colour = next(counts[name][1] for counts in every.values() if name in counts)
            bars = axis.bar(list(every), values(name), color=colour, width=0.6)
            axis.bar_label(bars, [f"{value:,.4g}" for value in values(name)])
            axis.set_title(name, fontsize=9)
            axis.margins(y=0.15)
            axis.set_yticks([])
            axis.spines[["top", "right", "left"]].set_visible(False)
        figure.tight_layout()
        show(figure)
