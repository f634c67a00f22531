"""Every chapter, on the emulator: right at every shape."""

import json
import re
import sys

import pytest

from conftest import (
    MAKE,
    NOT_OPTIMISED,
    ROOT,
    accept,
    at_length,
    files_of_chapter,
    for_real_nvcc,
    no_cuda,
    once,
    run,
)

sys.path.insert(0, str(ROOT / "results"))
import registers  # noqa: E402
from test_common import SCALES  # noqa: E402

SOURCES = sorted((ROOT / "chapters").glob("[0-9][0-9]_*/matmul.cu"))
CHAPTERS = {int(source.parent.name[:2]): source for source in SOURCES}


def every_chapter(test):
    depends = pytest.mark.depends(lambda values: files_of_chapter(values["number"]))
    return depends(pytest.mark.parametrize("number", CHAPTERS)(test))


SHAPES = """
1 1 1
7 5 3
2 3 1
1 4096 1
4096 1 1
1 1 4096
64 64 64
128 128 8
129 65 33
31 1 257
1 33 129
127 128 129
132 136 72
257 129 273
488 444 117
--alpha 1.5 --beta -0.5 130 131 40
--alpha 1.5 --beta -0.5 132 136 40
--alpha -2 --beta 1 67 45 23
--alpha 0 65 66 67
--alpha 0 --beta 2 65 66 67
--beta 1e-3 --alpha 1e3 33 34 35
--beta 0 --alpha -1 100 1 50
--seed 2 61 59 53
--seed 12345678901 200 100 50
--check-only 257 63 31
--no-guards --shift B 65 64 32
150 141 36
150 140 37
""".strip().splitlines()


@every_chapter
@pytest.mark.parametrize("arguments", SHAPES)
def test_is_right(number, arguments, chapters):
    command = [chapters[number], "--one-shape", *arguments.split()]
    result = run(command, env=no_cuda())
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith("\nPASS\n")
    assert result.stderr == ""


def precisions_of(program):
    """What --precision takes, the first without it."""
    told = run([program, "--describe"], env=no_cuda()).stdout
    return json.loads(told)["precisions"]


@pytest.mark.long
@every_chapter
def test_any_alpha_and_beta(number, chapters):
    """Forty pairs, with results that underflow or overflow, in every precision of the chapter."""
    for precision in precisions_of(chapters[number]):
        for scale in SCALES:
            words = f"--alpha {scale.replace(':', ' --beta ')} --precision {precision}"
            command = [chapters[number], "33", "35", "37", "--one-shape", *words.split()]
            result = run(command, env=no_cuda())
            assert result.returncode == 0, f"{words}: {result.stdout}{result.stderr}"


@every_chapter
def test_default_says_what_it_did(number, chapters):
    """Without any argument; and the same rows in every chapter."""
    result = run([chapters[number]], env=no_cuda())
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"Chapter {number}: ")
    odd = [line for line in lines if re.fullmatch(r" {2}odd shapes .*| {13}\S.*", line)]
    # A chapter in fp32 says nothing of its precision.
    precisions = precisions_of(chapters[number])
    assert [line.split()[0] for line in lines[1:] if line not in odd[1:]] == [
        "device",
        "product",
        *(["precision"] if precisions[0] != "fp32" else []),
        "work",
        "check",
        "check",
        "odd",
        "time",
        "PASS",
    ]
    assert max(map(len, lines)) <= 80
    assert len(odd) <= 4 * len(precisions) + 6 and odd[-1].endswith(" ok, exact")
    cells = json.loads(
        (ROOT / "notebooks" / f"{CHAPTERS[number].parent.name}.ipynb").read_text()
    )["cells"]
    said = [
        "".join(output.get("text", []))
        for cell in cells
        for output in cell.get("outputs", [])
    ]
    assert any("\n".join(odd) in text for text in said), (
        "`make notebooks` keeps what they say now"
    )


@every_chapter
@pytest.mark.parametrize("arguments", ["9999999 9999999 9999999", "2000000 2000000 1"])
def test_too_large_is_one_line(number, arguments, chapters):
    result = run([chapters[number], *arguments.split()], env=no_cuda())
    assert result.returncode == 3, result.stdout + result.stderr
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "memory" in result.stderr


@every_chapter
def test_long_and_thin(number, chapters):
    """A column of a hundred million: right, or refused in one line."""
    command = [chapters[number], "--one-shape", "99999999", "1", "1"]
    result = run(command, env=no_cuda())
    assert result.returncode in (0, 2, 3)
    assert len(result.stderr.splitlines()) == (result.returncode != 0)


@every_chapter
def test_help(number, chapters):
    result = run([chapters[number], "--help"], env=no_cuda())
    assert (result.returncode, result.stderr) == (0, "")
    for flag in ("--alpha", "--beta", "--seed", "--reps", "--json", "--help"):
        assert flag in result.stdout


# Whose many shapes take seconds: the run without arguments has them, and JSON says that they are left out.
SECONDS = (14, 16, 17, 18, 19)


@every_chapter
def test_json(number, chapters):
    one_shape = ["--one-shape"] if number in SECONDS else []
    words = ["--alpha", "0.5", "--beta", "2", "33", "35", "37", *one_shape]
    result = run([chapters[number], "--json", *words], env=no_cuda())
    assert result.returncode == 0
    told = json.loads(result.stdout)
    expected = {
        "chapter": number,
        "M": 33,
        "N": 35,
        "K": 37,
        "alpha": 0.5,
        "beta": 2,
        "seed": 1,
        "emulated": True,
        "passed": True,
    }
    assert {key: told[key] for key in expected} == expected
    assert told["flop"] == 2 * 33 * 35 * 37 + 3 * 33 * 35
    size = 2 if told["precision"] == "bf16" else 4
    assert told["least_bytes"] == size * (33 * 37 + 37 * 35 + 2 * 33 * 35)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", told["date"])
    assert [check["passed"] for check in told["checks"]] == [True, True]
    assert all(check["rms"] <= 1 and check["failure"] == "" for check in told["checks"])
    if one_shape:
        assert told["shapes"] == []
    else:
        assert len(told["shapes"]) > 10
    assert all(shape["passed"] for shape in told["shapes"])
    for key in ("title", "device", "sms", "clock_mhz", "cuda", "driver", "inputs"):
        assert told[key]


@every_chapter
def test_another_gpu(number, chapters):
    result = run([chapters[number], "40", "50", "60"], env=no_cuda() | {"EMULATE": "t4"})
    assert result.returncode in (0, 3)
    if result.returncode == 0:
        assert "T4" in result.stdout
    else:
        assert len(result.stderr.splitlines()) == 1


@every_chapter
def test_needs_little_memory(number, chapters):
    """The matrices, host and device, and at most seven times as much for the checks; and the stacks of a cluster's
    threads."""
    M, N, K = 1000, 1250, 16
    command = [str(chapters[number]), "--one-shape", *map(str, (M, N, K))]
    # Linux counts what a process had before exec, too: so a small one starts it, not this one with all its modules.
    ask = (
        "import resource, subprocess, sys\n"
        "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(code)"
    )
    result = run([sys.executable, "-I", "-c", ask, *command], env=no_cuda())
    matrices = 2 * 4 * (M * K + K * N + M * N)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) * 1024 <= 8 * matrices + 768 * (32 << 10)


@every_chapter
def test_without_checks(number, chapters):
    """PASS says less then, and the report says so."""
    result = run([chapters[number], "150", "130", "70"], env=no_cuda() | {"CHECK": "0"})
    assert result.returncode == 0, result.stdout + result.stderr
    assert "  faults     not looked for: CHECK is 0\n" in result.stdout


# What takes minutes to optimise is built below without; 12 is in 13 and 17, and 14, whose PTX needs
# the optimiser, is compiled as its notebook's experiment.
@for_real_nvcc(
    "number", at_length(CHAPTERS, lambda number: number in (12, 13, 14, 17, 18))
)
def test_real_compiler_accepts(number, chapters, tmp_path):
    """For every architecture that it runs on, and for the oldest, where it builds at least; what
    nvcc says of registers is what the chapter records."""
    source = original = CHAPTERS[number]
    if "CANDIDATE" in source.read_text():
        # Of chapter 11's winners one stands for all; with all of them it is built below.
        source = tmp_path / "one.cu"
        one = "#define CANDIDATE 128, 256, 8, 16, 8, 4, 4, 1, 8, 1\n"
        source.write_text(f'{one}#include "{original}"\n')
    told = json.loads(run([chapters[number], "--describe"]).stdout)
    runs_on = registers.architectures(told)
    oldest = {registers.ARCHITECTURES[0]} - set(runs_on)
    includes = ["-I", ROOT / "common", "-I", ROOT / "chapters", "-I", original.parent]
    # On tensor cores no kernel keeps registers in memory: make says so, too.
    spills = ["-Xptxas", "-warn-spills"] if number >= 14 else []
    said = accept(source, tmp_path, *includes, *spills, *registers.tell(runs_on))
    if oldest:
        said += accept(source, tmp_path, *includes, *registers.tell(oldest))
    wanted = {*oldest, *runs_on}
    if told["kernel"] or "__global__" in original.read_text():
        assert all(f"'sm_{architecture}" in said for architecture in wanted)
    recorded = original.with_name("registers.c")
    assert recorded.exists() == bool(told["kernel"])
    if told["kernel"]:
        version = registers.nvcc_version()
        assert registers.same(
            recorded.read_text(), registers.table(said, told, version)
        ), f"{recorded.name} is stale, `make registers` renews it"


@for_real_nvcc(
    "source",
    [*sorted((ROOT / "common").glob("*.c")), ROOT / "results" / "warps.cu"],
    ids=lambda path: path.name,
)
def test_real_compiler_accepts_common(source, tmp_path):
    accept(source, tmp_path)


# cuBLAS; the least; many files and variants; the driver's functions; and all kinds of kernels.
FOR_A_GPU = [0, 1, 11, 13, 17, 18]


@pytest.mark.depends("chapters")
@for_real_nvcc("number", FOR_A_GPU)
def test_builds_for_a_gpu(number, project, shared_folder):
    """What make does on a machine with a GPU, up to the finished program; optimising would take ten minutes."""
    with once(shared_folder / "built-for-a-gpu") as first:
        if first:
            programs = [f"build/gpu-sm_80/chapter{chapter}" for chapter in FOR_A_GPU]
            command = [*MAKE, "-C", project, "EMULATOR=0", "ARCH=sm_80"]
            quickly = {"NVCC_APPEND_FLAGS": " ".join(NOT_OPTIMISED)}
            run([*command, *programs], env=no_cuda() | quickly)
    assert (project / f"build/gpu-sm_80/chapter{number}").exists()
