"""What the notebooks' cells call: open a chapter, look through the lens, draw what it saw."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

from IPython import get_ipython
from nvcc4jupyter import set_defaults

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "results"))
import plots  # noqa: E402
from palette import GLOBAL, SHARED  # noqa: E402

_number = None  # of the chapter that is open


def _wrapped(words, indent=""):
    """Words in lines of at most 80 columns, for which a page has room. A path stays whole."""
    return textwrap.fill(
        words,
        80,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


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
    print(_wrapped(f"Compiler: {compiler} ({why})."))
    if "emulator" in Path(compiler).parts:
        print(
            _wrapped(
                "Every cell runs here and is checked, on the CPU. There are no times: for those "
                "it takes an NVIDIA GPU and the CUDA Toolkit (on Colab: Runtime, Change runtime "
                "type, T4 GPU)."
            )
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
    # The lens cannot know how large an element of C is, and counts results of 4 bytes. Where there is no
    # launcher for fp32, the program multiplies bf16.
    if kernel["results"] and ".launch = " not in (group / "matmul.cu").read_text():
        kernel["results"] *= 2

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
            + _wrapped(line["verdict"], "    ")
        )
    for name, value in _counts(kernel).items():
        if _is_number(value):
            print(f"{name.replace(chr(10), ' ')}: {value:.4g}")
    return kernel


# Kinds of access in a lens report that are counted together, and in what they cost.
ACCESSES = {
    "load from global memory": (("global load", "async copy, read"), "sectors"),
    "store to global memory": (("global store",), "sectors"),
    "load from shared memory": (("shared load",), "wavefronts"),
    "store to shared memory": (("shared store", "async copy, write"), "wavefronts"),
}


def _no_lane(kernel, access):
    """What stands in the place of a count where no lane makes such an access: who does it instead, if anybody."""
    if access == "load from shared memory":
        return "none: tensor\ncores read it" if kernel["tensor_bytes"] else "none"
    engine = "bulk store" if access == "store to global memory" else "bulk copy"
    if any(line["kind"] == engine for line in kernel["lines"]):
        return "none:\ncopy engine"
    return "none"


def _counts(kernel):
    """{what: how much} of a lens report: loads for each result, and the cost of each request. Where there is no
    number, words say why."""
    loads, costs = {}, {}
    for access, (kinds, unit) in ACCESSES.items():
        lines = [line for line in kernel["lines"] if line["kind"] in kinds]
        each = cost = _no_lane(kernel, access)
        if lines:
            requests = sum(line["requests"] for line in lines)
            cost = sum(line[unit] for line in lines) / requests
            lanes, results = sum(line["lanes"] for line in lines), kernel["results"]
            each = lanes / results if results else "not counted"
        if "load" in access:
            loads[f"{access.replace('load', 'loads')}\nfor each result"] = each
        costs[f"{unit} for a\n{access}"] = cost
    return loads | costs


def _is_number(value):
    return not isinstance(value, str)


def show(figure):
    """Shows a matplotlib figure as a drawing in light and dark colours, the same every time."""
    from IPython.display import SVG, display

    display(SVG(plots.svg_of(figure)))


PANELS = 3  # beside each other: a page shows their titles in a size that can be read


def plot(reports):
    """Draws the counts of one or more lens reports, {label: report}, side by side: those that
    differ, or all if none does."""
    import matplotlib
    from matplotlib import pyplot

    every = [_counts(report) for report in reports.values()]
    values = {name: [counts[name] for counts in every] for name in every[0]}
    values = {
        name: found for name, found in values.items() if any(map(_is_number, found))
    }
    differing = {name: found for name, found in values.items() if len(set(found)) > 1}
    values = differing or values
    rows, columns = -(-len(values) // PANELS), min(len(values), PANELS)
    with matplotlib.rc_context(plots.STYLE):
        figure = pyplot.figure(figsize=(max(2.6 * columns, 4.2), 2.8 * rows))
        for place, (name, found) in enumerate(values.items(), 1):
            axis = figure.add_subplot(rows, columns, place)
            heights = [value if _is_number(value) else 0 for value in found]
            labels = [f"{value:,.4g}" if _is_number(value) else value for value in found]
            colour = SHARED if "shared memory" in name else GLOBAL
            axis.bar_label(
                axis.bar(list(reports), heights, color=colour, width=0.6), labels
            )
            axis.set_title(name, fontsize=9)
            axis.margins(y=0.15)
            axis.set_yticks([])
            axis.spines[["top", "right", "left"]].set_visible(False)
        figure.tight_layout()
        show(figure)
