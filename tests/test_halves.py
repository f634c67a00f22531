"""Chapter 18: inputs that no ordinary check has, and bugs planted in any of its files."""

import csv
import re
import shutil
from typing import NamedTuple

import pytest

from conftest import ROOT, at_length, build_changed, files_of_chapter, no_cuda, run

FOLDER = ROOT / "chapters" / "18_fp32_from_halves"
pytestmark = pytest.mark.depends(
    "tests/halves.cu",
    "results/errors.cu",
    "results/errors_h200.csv",
    lambda values: files_of_chapter(18),
)


@pytest.fixture(scope="module")
def compiled(emulated_nvcc, chapters, project):
    """Compiles a program with common/ and the chapter's headers, those of `folder` first."""

    def build(source, program, folder=FOLDER):
        objects = (project / "build" / "emulator").glob("common/*.o")
        flags = [
            "-O2",
            "-Ofc",
            "max",
            "-std=c++17",
            "-I",
            project / "common",
            "-I",
            project / "chapters",
            "-I",
            folder,
            "-I",
            FOLDER,
        ]
        command = [emulated_nvcc, *flags, source, *objects, "-lcublas", "-o", program]
        result = run(command, env=no_cuda())
        assert result.returncode == 0, result.stderr
        return program

    return build


def test_whatever_the_inputs_hold(compiled, tmp_path):
    """No error above that of a sum in fp32, infinities and NaN as they should be; and only the
    tiles that the halves cannot hold are left to plain.cuh."""
    result = run([compiled(ROOT / "tests" / "halves.cu", tmp_path / "halves")])
    said = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    assert result.returncode == 0, result.stdout + result.stderr
    plain = {
        name: int(re.search(r"(\d+) of 6 tiles plain", rest)[1])
        for name, rest in said.items()
    }
    assert plain == {
        "uniform": 0,
        "spread over 2^14": 0,
        "spread over 2^40": 6,
        "one huge row": 0,
        "one huge element of A": 2,
        "one huge element of B": 3,
        "near overflow": 0,
        "subnormal": 0,
        "underflow": 0,
        "infinities": 4,
        "a NaN": 3,
        "zeros": 0,
        "cancelling": 0,
        "large ones that meet zeros": 6,
        "one small element beside a large one": 4,
        "each k in other units": 6,
    }


def test_errors_are_the_gpus(compiled, tmp_path):
    """The figures in results/errors_h200.csv come from a GPU; here the same samples are
    computed without one."""
    program = compiled(ROOT / "results" / "errors.cu", tmp_path / "errors")
    result = run([program, "families", "4096", "256"])
    assert result.returncode == 0, result.stderr
    with open(ROOT / "results" / "errors_h200.csv", newline="") as file:
        measured = {
            (row["inputs"], row["K"]): (row["rms"], row["most"])
            for row in csv.DictReader(file)
            if row["who"] == "chapter 18"
        }
    found = list(csv.DictReader(result.stdout.splitlines()))
    assert len(found) == 8
    for row in found:
        assert (row["rms"], row["most"]) == measured[row["inputs"], row["K"]], row


class Mutant(NamedTuple):
    name: str
    file: str
    edits: tuple  # (old, new), (old, new), ...
    judge: str = (
        "./chapter18"  # or tests/halves.cu, for inputs that no ordinary check has
    )


def one(name, file, old, new, **more):
    return Mutant(name, file, ((old, new),), **more)


MUTANTS = [
    # The three products and their sums.
    Mutant(
        "no promotion",
        "matmul.cu",
        (("  k > 0);", "k0 + k > 0);"), ("sum[i] += acc_hi[i]", "sum[i] = acc_hi[i]")),
    ),
    one("hi * hi kept in the core", "matmul.cu", "  k > 0);", "k0 + k > 0);"),
    one("lo * hi left out", "matmul.cu", "acc_lo, A_lo + k", "acc_lo, A_hi + k"),
    one("hi * lo left out", "matmul.cu", "B_lo + k * 128 / 16,", "B_hi + k * 128 / 16,"),
    one("acc_lo starts again", "matmul.cu", "k0 + k > 0);", "k > 0);"),
    one("acc_lo not scaled back", "matmul.cu", "acc_lo[j] / LO_SCALE", "acc_lo[j]"),
    one(
        "lo not scaled up",
        "split.cuh",
        "__half2float(*hi)) * LO_SCALE",
        "__half2float(*hi))",
    ),
    # Scales.
    one("column's scale not undone", "matmul.cu", "e - e0", "e"),
    one("second column with the first's scale", "matmul.cu", "e - e1", "e - e0"),
    one("lower row with the upper's scale", "matmul.cu", "-e_row[m]", "-e_row[0]"),
    one(
        "right columns with the left ones' scales",
        "matmul.cu",
        "e_col[i / 32][1]",
        "e_col[0][1]",
    ),
    one(
        "exponents of the wrong lane",
        "matmul.cu",
        "from = i % 32 + lane % 4",
        "from = i % 32",
    ),
    one(
        "column's exponent is its neighbour's",
        "split.cuh",
        "exponents[col + 1] = e1",
        "exponents[col + 1] = e0",
    ),
    one(
        "both scales undone by one float",
        "matmul.cu",
        "ldexpf(sum[j] + acc_lo[j] / LO_SCALE, e - e0)",
        "(sum[j] + acc_lo[j] / LO_SCALE) * power_of_two(e - e0)",
    ),
    # alpha and beta.
    one(
        "C not added where alpha is 1",
        "work.cuh",
        "w->alpha * first + w->beta * old.x",
        "w->alpha == 1.0f ? first : w->alpha * first + w->beta * old.x",
    ),
    one(
        "alpha as a half",
        "work.cuh",
        "w->alpha * first + w->beta * old.x",
        "__half2float(__float2half(w->alpha)) * first + w->beta * old.x",
    ),
    # Where A, B or C begins.
    one(
        "pairs of A anywhere",
        "split.cuh",
        "K % 2 == 0 && (size_t)A % 8 == 0",
        "K % 2 == 0",
    ),
    one(
        "pairs of B anywhere",
        "split.cuh",
        "N % 2 == 0 && (size_t)B % 8 == 0",
        "N % 2 == 0",
    ),
    one(
        "pairs of C anywhere",
        "matmul.cu",
        "N % 2 == 0 && (size_t)C % 8 == 0",
        "N % 2 == 0",
    ),
    # What the halves cannot hold.
    one("nothing is unfit", "split.cuh", "65536) * 0x1p-26f", "65536) * 0x1p26f"),
    one(
        "large lo allowed",
        "split.cuh",
        " && fabsf(rest) <= tolerance.lo * size",
        "",
        judge="halves.cu",
    ),
    one(
        "rows marked by the first lanes alone",
        "split.cuh",
        "    if (!fits)\n        unfit[row / BM]",
        "    if (!fits && t % 32 == 0)\n        unfit[row / BM]",
        judge="halves.cu",
    ),
    one("rows not marked", "split.cuh", "unfit[row / BM] = ", ""),
    one("columns not marked", "split.cuh", "unfit[col / BN] = ", ""),
    one(
        "rows marked, and no one told",
        "split.cuh",
        "[row / BM] = *some_unfit = 1",
        "[row / BM] = 1",
    ),
    one(
        "columns marked, and no one told",
        "split.cuh",
        "[col / BN] = *some_unfit = 1",
        "[col / BN] = 1",
    ),
    one("only the first rows marked", "split.cuh", "unfit[row / BM]", "unfit[0]"),
    one("marked only if both are", "work.cuh", "[tile_row] || w->", "[tile_row] && w->"),
    one(
        "marks not reset",
        "split.cuh",
        "(some_unfit + 1 - largest) * sizeof",
        "N * sizeof",
    ),
    one(
        "plain computes every tile",
        "plain.cuh",
        "!is_unfit(&w, tile_row, tile_col)",
        "false",
    ),
    # What plain.cuh does with them.
    one(
        "no barrier after the tiles are read",
        "plain.cuh",
        "__syncthreads(); // the tile",
        "// the tile",
    ),
    # Layouts, edges, barriers.
    one("only the kept part of a row is read", "split.cuh", "k0 >= PART", "k0 < 0"),
    one(
        "two numbers of an odd row read at once",
        "split.cuh",
        "K % 2 == 0 && (size_t)A % 8 == 0",
        "true",
    ),
    one(
        "two numbers of an odd row of B read at once",
        "split.cuh",
        "N % 2 == 0 && (size_t)B % 8 == 0",
        "true",
    ),
    one("lo of A is hi", "matmul.cu", "k, w->M + row, come", "k, row, come"),
    one(
        "B's steps of k too short",
        "matmul.cu",
        "wgmma_mma_async_f16<0, 1>(acc_hi, A_hi + k * 2 / 16, B_hi + k * 128 / 16,",
        "wgmma_mma_async_f16<0, 1>(acc_hi, A_hi + k * 2 / 16, B_hi + k * 64 / 16,",
    ),
    one(
        "both warpgroups in the upper half",
        "matmul.cu",
        "s->A_lo[group_row * BK]",
        "s->A_lo[0]",
    ),
    one("last column not guarded", "work.cuh", "if (two)", ""),
    one(
        "stage read before it has come",
        "matmul.cu",
        "mbarrier_wait_parity(&full[turn.index], turn.parity);",
        "",
    ),
    one(
        "stage filled while it is read",
        "matmul.cu",
        "mbarrier_wait_parity(&empty[turn.index], turn.parity ^ 1);",
        "",
    ),
    one(
        "registers read before they are ready",
        "matmul.cu",
        "wgmma_wait_group<1>();\n            wgmma_touch",
        "wgmma_wait_group<2>();\n            wgmma_touch",
    ),
    one("no fence before the accumulators are used", "matmul.cu", "wgmma_fence();", ""),
    one(
        "columns' largest not from zero",
        "split.cuh",
        "cudaMemsetAsync(largest, 0, (some_unfit + 1 - largest)",
        "cudaMemsetAsync(unfit_rows, 0, (some_unfit + 1 - unfit_rows)",
    ),
]


@pytest.mark.parametrize(
    "mutant",
    at_length(MUTANTS, lambda mutant: mutant not in MUTANTS[::4]),
    ids=lambda m: m.name.replace(" ", "_"),
)
def test_is_refused(mutant, compiled, emulated_nvcc, project, tmp_path):
    for file in FOLDER.glob("*.cu*"):
        shutil.copy(file, tmp_path)
    text = (tmp_path / mutant.file).read_text()
    for old, new in mutant.edits:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    (tmp_path / mutant.file).write_text(text)
    ordinary = mutant.judge == "./chapter18"
    if ordinary:
        program = build_changed(emulated_nvcc, project, FOLDER, mutant.file, tmp_path)
    else:
        program = compiled(ROOT / "tests" / mutant.judge, tmp_path / "mutant", tmp_path)
    result = run([program])
    said = result.stdout + result.stderr
    assert result.returncode == 1, said
    assert not ordinary or re.search(r"^(FAIL$|FAULT )", said, re.M), said
