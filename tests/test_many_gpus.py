"""Chapter 19: right on any number of GPUs, in both precisions, and its mistakes found by line."""

import re
import sys

import pytest

from conftest import ROOT, no_cuda, run

sys.path.insert(0, str(ROOT / "results"))
import many_gpus  # noqa: E402

FOLDER = ROOT / "chapters" / "19_many_gpus"
pytestmark = pytest.mark.depends("chapters", "results")


def on(gpus, command, **more):
    return run(command, env=no_cuda() | {"EMULATE": f"h200:{gpus}"} | more)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("gpus", [1, 2, 3, 4, 8])
@pytest.mark.parametrize(
    "shape", ["67 45 23 --alpha -2 --beta 1", "5 3 130", "130 131 36"]
)
def test_is_right(shape, gpus, precision, chapters):
    command = [chapters[19], *shape.split(), "--precision", precision, "--one-shape"]
    result = on(gpus, command)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith("\nPASS\n")


@pytest.mark.parametrize("gpus", [1, 2, 3])
def test_fewer_than_there_are(gpus, chapters):
    result = on(4, [chapters[19], "70", "--one-shape", "--gpus", str(gpus)])
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("wanted, here", [("3", 2), ("2", 1), ("17", 16)])
def test_more_than_there_are(wanted, here, chapters):
    result = on(here, [chapters[19], "70", "--gpus", wanted])
    assert result.returncode == 3
    is_or_are = "is" if here == 1 else "are"
    assert result.stderr.startswith(f"--gpus {wanted}: there {is_or_are} {here} here")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("wanted", ["0", "-1", "two", "2x", ""])
def test_not_a_number_of_gpus(wanted, chapters):
    result = on(2, [chapters[19], "--gpus", wanted])
    assert result.returncode == 2
    assert "--gpus" in result.stderr and result.stderr.count("\n") == 1


# ---- planted bugs: what orders streams, who has what, who joins ----

WAIT = """            if (awaited >= 2)
                CUDA_CHECK(cudaStreamWaitEvent(0, gpus[g].come[awaited], 0));
"""
BEFORE = """        CUDA_CHECK(cudaStreamWaitEvent(gpus[g].copies, gpus[g].ready, 0));
"""
TOGETHER = """        CUDA_CHECK(cudaStreamWaitEvent(0, gpus[0].done, 0));
"""
COPIED = """a.piece, bytes_of(a), gpus[g].copies));
        CUDA_CHECK(cudaEventRecord(gpus[g].come[i], """
CLOSED = """    NCCL_CHECK(ncclGroupEnd());
    for (int g = 0; g < plan.gpus; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaEventRecord"""
AT_LAST = "CUDA_CHECK(cudaStreamWaitEvent(0, gpus[g].done, 0));"
RACE = (
    r"FAULT data race in global memory: byte 0 of gpus\[g\]\.[BC]\[.*another stream at .*"
    r"chapters/\w+/\w+\.cuh?:\d+|"
    r"FAULT data race in global memory: byte 0 of gpus\[g\]\.[BC]\[.*another stream at .*"
    r"chapters/19_many_gpus/gpus\.h:\d+"
)
BUGS = {
    "multiplies before the piece has come": (WAIT, "", RACE),
    "waits for the piece before": ("[awaited], 0", "[awaited - 1], 0", RACE),
    "fetches before the piece is there": (BEFORE, "", RACE),
    "begins before the matrices are divided": (TOGETHER, "", RACE),
    "ends before the others have": (AT_LAST, "(void)g;", RACE),
    "a mark before the copy": (COPIED + "gpus[g].copies", COPIED + "0", RACE),
    "sends to itself alone": (
        "ncclChar, a.piece, gpus[g].comm",
        "ncclChar, g, gpus[g].comm",
        "FAULT ncclSend of rank 1 waits for rank 0, which never receives",
    ),
    "one rank does not join": (
        "if (bytes_of(a) == 0)\n            continue;\n        NCCL",
        "if (bytes_of(a) == 0 || g == 1)\n            continue;\n        NCCL",
        "FAULT uninitialised global memory: byte 0 of gpus",
    ),
    "a group that is not closed": (CLOSED, CLOSED.split("\n", 1)[1], "FAULT"),
    "half of the bytes": (
        "place_of(g, a), bytes_of(a), ncclChar",
        "place_of(g, a), bytes_of(a) / 2, ncclChar",
        "FAULT",
    ),
    "a byte of a piece": (
        "bytes_of(a), gpus[g].copies",
        "1, gpus[g].copies",
        "FAULT uninit",
    ),
    "a piece of B twice": ("(row + i) % plan.down *", "(i ? row : 0) *", "FA(IL|ULT)"),
    "its own A for all": ("alpha, gpus[g].A[a],", "alpha, gpus[g].A[g],", "FA(IL|ULT)"),
    "a row less": ("p + 1) - first_of(plan.M, p)", "p + 1) - 1", "FA(IL|ULT)|invalid"),
    "the grid the other way": (
        "piece / plan.across == g / plan.across",
        "piece / plan.down == g / plan.down",
        "FA(IL|ULT)|CUDA",
    ),
    "beta's C left behind": (
        "beta != 0.0f ? (const char *)C : NULL",
        "NULL",
        "FA(IL|ULT)",
    ),
}


@pytest.mark.parametrize("name", BUGS, ids=lambda name: name.replace(" ", "_"))
def test_bug_is_found(name, chapters, emulated_nvcc, project, tmp_path):
    old, new, said = BUGS[name]
    texts = {file: file.read_text() for file in FOLDER.glob("*.[ch]*")}
    assert sum(text.count(old) for text in texts.values()) == 1
    copy = tmp_path / "chapters" / FOLDER.name
    copy.mkdir(parents=True)
    for file, text in texts.items():
        (copy / file.name).write_text(text.replace(old, new))
    built = project / "build" / "emulator"
    objects = [*built.glob("common/*.o"), *built.glob(f"chapters/{FOLDER.name}/one*.o")]
    options = ["-O2", "-std=c++17", "-I", project / "common"]
    command = [emulated_nvcc, *options, f"chapters/{FOLDER.name}/matmul.cu", *objects]
    command += ["-lcublas", "-lnccl", "-o", tmp_path / "mutant"]
    result = run(command, env=no_cuda(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    result = on(4, [tmp_path / "mutant", "60"])
    assert result.returncode != 0, result.stdout
    assert re.search(said, result.stdout + result.stderr, re.S), (
        result.stdout + result.stderr
    )


# ---- the model ----


def test_model():
    """By hand: half of B is 8,192 x 4,096 x 2 bytes, 0.17 ms at 395 GB/s; a GPU has 0.34725 ms of work before it
    needs that, and while it comes, 0.17 of them take 5 % longer."""
    share = many_gpus.predicted("bf16", 2, 8192, 1.389)
    copying = 8192 * 4096 * 2 / 395e9 * 1e3
    assert share == pytest.approx(1.389 / 2 / (1.389 / 2 + copying * (1 - 1 / 1.05)))
    # Where nothing travels nothing is lost; where all does, the link decides.
    assert many_gpus.predicted("fp32", 1, 4096, 2.4) == 1
    assert many_gpus.predicted("bf16", 8, 256, 1e-6) < 0.001
    # In a grid of 2 x 2 each receives two pieces, not three.
    assert many_gpus.predicted("bf16", 4, 8192, 1.389, 2) > many_gpus.predicted(
        "bf16", 4, 8192, 1.389, 1
    )
