"""Chapter 11's tuner, as far as a machine without a GPU can see: what it rejects and why, what
it makes and keeps, what it writes, and which row the program picks."""

import itertools
import re
import shutil
from collections import Counter

import pytest

from conftest import ROOT, accept, for_real_nvcc, no_cuda, run
from test_mutants import Mutant, mutate  # noqa: F401, a fixture
from test_mutants import test_is_refused as refuse

FOLDER = ROOT / "chapters" / "11_autotuning"
pytestmark = pytest.mark.depends("chapters", "tests/test_mutants.py")
NAMES = "BM BN BK TM TN STAGES LANES BLOCKS GROUP TURN".split()
TILES = [32, 64, 128, 256]
VALUES = [
    TILES,
    TILES,
    [8, 16],
    [4, 8, 16],
    [4, 8, 16],
    [3, 4, 8],
    [4, 8],
    [1, 2],
    [8, 32],
]
VALUES += [[0, 1]]
# Bytes of shared memory a block may have and an SM has, threads an SM has; the same for all three:
# 1,024 threads a block, 65,536 registers an SM, 255 a thread.
CARDS = {
    "t4": (64 << 10, 64 << 10, 0, 1024),
    "a100": (163 << 10, 164 << 10, 1024, 2048),
    "h200": (227 << 10, 228 << 10, 1024, 2048),
}


def complaint(card, BM, BN, BK, TM, TN, STAGES, LANES, BLOCKS, GROUP, TURN):
    """A word of the reason against a candidate, or None: the rules, written a second time."""
    block_limit, sm_limit, reserved, sm_threads = card
    threads = (BM // TM) * (BN // TN) if BM % TM == BN % TN == 0 else 0
    shared = 4 * STAGES * (BK * BN + BK * (BM + 4))
    if BM % (LANES * TM) or BN % (32 // LANES * TN):
        return "warps"
    if threads > 1024:
        return "more threads than a block"
    # A float of A a copy, four of B; and a thread starts at most one of each in a step of k.
    if (BM * BK) % threads or BM * BK // threads > BK:
        return "copies of A"
    if (BN * BK // 4) % threads or BN * BK // threads > BK:
        return "copies of B"
    if shared > block_limit:
        return "more shared memory than a block"
    if BLOCKS * (shared + reserved) > sm_limit:
        return "more shared memory than BLOCKS"
    registers = TM * TN + 2 * TM + 2 * TN + 2 * BM * BK // threads + 24
    if registers > 255:
        return "more registers than a thread"
    if BLOCKS * threads * (-(-registers // 8) * 8) > 65536:
        return "more registers than BLOCKS"
    if BLOCKS * threads > sm_threads:
        return "more threads than an SM"
    if GROUP != 8 and BM * BN < 128 * 128:
        return "order of blocks"
    return None


@pytest.mark.parametrize("card", CARDS)
def test_rejects_with_a_reason(card, chapters):
    """Every combination is either counted under its reason or listed as a candidate."""
    result = run([chapters[11], "--tune", "--dry-run"], env=no_cuda() | {"EMULATE": card})
    assert (result.returncode, result.stderr) == (0, "")
    space = list(itertools.product(*VALUES))
    verdicts = {numbers: complaint(CARDS[card], *numbers) for numbers in space}
    assert f"{len(space)} combinations of {' '.join(NAMES)}" in result.stdout
    told = re.findall(r"^ +-(\d+)   (.*)$", result.stdout, re.M)
    expected = Counter(word for word in verdicts.values() if word)
    assert len(told) == len(expected)
    for word, count in expected.items():
        assert [int(n) for n, reason in told if word in reason] == [count], word
    listed = re.findall(r"^ +(\d+(?:-\d+){9})$", result.stdout, re.M)
    fine = {"-".join(map(str, numbers)) for numbers, word in verdicts.items() if not word}
    assert set(listed) == fine and len(listed) == len(fine)


def test_lists_what_is_in_use_first(chapters):
    """So that a short search compares with what is there already."""
    result = run([chapters[11], "--tune", "--dry-run"], env=no_cuda())
    listed = re.findall(r"^ +(\d+(?:-\d+){9})$", result.stdout, re.M)
    rows = re.findall(
        r'^WINNER\("(?:any|NVIDIA H200)", (.*)\)',
        (FOLDER / "winners.txt").read_text(),
        re.M,
    )
    in_use = {"-".join(re.findall(r"\d+", row)[3:13]) for row in rows}
    assert set(listed[: len(in_use)]) == in_use


@pytest.mark.parametrize(
    "arguments",
    [
        "--nope",
        "4 5",
        "1 2 3 4",
        "x y z",
        "0 1 1",
        "--budget",
        "--budget 0",
        "--most 1.5",
    ],
)
def test_mistake_is_one_line(arguments, chapters):
    result = run([chapters[11], "--tune", *arguments.split()], env=no_cuda())
    assert (result.returncode, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1


def test_help_leads_to_the_tuner(chapters):
    assert "--tune" in run([chapters[11], "--help"], env=no_cuda()).stdout
    result = run([chapters[11], "--tune", "--help"], env=no_cuda())
    assert (result.returncode, result.stderr) == (0, "")
    for flag in ("--budget", "--most", "--dry-run"):
        assert flag in result.stdout


@pytest.fixture
def workshop(tmp_path, project, emulated_nvcc):
    """A project with chapter 11 alone, whose files a test may change. Returns a function that
    builds it, and the folder."""
    for name in ("Makefile", "common", "emulator"):
        (tmp_path / name).symlink_to(project / name)
    shutil.copytree(FOLDER, tmp_path / "chapters" / FOLDER.name)

    def build():
        made = run(["make", "-s", "EMULATOR=1", "chapter11"], cwd=tmp_path, env=no_cuda())
        assert made.returncode == 0, made.stderr

    return build, tmp_path


def change(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_needs_the_project(chapters, tmp_path):
    result = run([chapters[11], "--tune"], cwd=tmp_path, env=no_cuda())
    assert result.returncode == 3
    assert "run --tune in the project's folder" in result.stderr


PLANTED = '    static_assert(BM != 64, "planted");\n'


def test_a_bad_candidate_costs_itself_alone(workshop):
    """One that does not compile, one that computes wrongly, one that crashes, one that is fine;
    and a second search goes on where the first one was."""
    build, folder = workshop
    chapter = folder / "chapters" / FOLDER.name
    rows = ["128, 128, 8, 16, 8, 3, 4, 2", "128, 256, 8, 16, 8, 4, 4, 1"]
    rows += ["32, 64, 8, 4, 4, 8, 4, 1", "64, 64, 8, 8, 4, 4, 4, 1"]
    lines = [f'WINNER("any", {i}, 1, 1, {row}, 8, 1)\n' for i, row in enumerate(rows, 1)]
    (chapter / "winners.txt").write_text("".join(lines))
    build()
    source = chapter / "matmul.cu"
    change(source, "    static_assert(BK % 2", PLANTED + "    static_assert(BK % 2")
    change(
        source,
        "        // 1. Find",
        "        if (BM == 32) C[-1] = 0;\n        // 1. Find",
    )
    change(source, "= alpha * acc", "= (BN == 256 ? 2 : 1) * alpha * acc")

    def tune(most):
        result = run(["./chapter11", "--tune", "--most", most], cwd=folder, env=no_cuda())
        assert result.returncode == 3
        assert "timing needs a GPU" in result.stderr
        return result.stdout

    first = tune(2)
    assert "1 ready, 0 spilled, 1 failed, 0 not tried" in first
    verdicts = folder / "build" / "tune" / "emulator"
    times = {path: path.stat().st_mtime_ns for path in verdicts.glob("*.verdict")}
    assert len(times) == 2
    second = tune(4)
    assert re.search(r"^ +128-256-\S+ computes wrongly$", second, re.M)
    assert re.search(r"^ +32-64-\S+ computes wrongly$", second, re.M)
    assert re.search(r"^ +64-64-\S+ does not compile$", second, re.M)
    assert "1 ready, 0 spilled, 3 failed, 0 not tried" in second
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())


A100 = "NVIDIA A100-SXM4-80GB"
ROWS = f"""
WINNER("any", 4096, 4096, 4096,  128, 256, 16, 16, 8, 4, 4, 1, 8, 1)
WINNER("any", 4096, 4096, 4096,  128, 128, 8, 16, 8, 3, 4, 2, 8, 1)
WINNER("{A100}", 4096, 4096, 4096,  128, 256, 8, 16, 8, 3, 4, 1, 8, 1)
WINNER("{A100}", 64, 4096, 4096,  32, 256, 8, 4, 8, 4, 4, 1, 8, 1)
WINNER("{A100}", 4096, 64, 4096,  128, 64, 8, 8, 8, 4, 4, 1, 8, 1)
WINNER("{A100}", 64, 64, 64,  32, 32, 8, 4, 4, 4, 4, 1, 8, 1)
"""
PICKS = [
    ("a100", "3000 2000 1", "128x256x8", A100),
    ("a100", "10 2000 30", "32x256x8", A100),
    ("a100", "2000 10 30", "128x64x8", A100),
    ("a100", "100 100 100", "32x32x8", A100),
    ("a100", "1 1 4096", "32x32x8", A100),
    ("h200", "100 100 100", "128x256x16", "any"),  # no rows of its own
    ("t4", "100 100 100", "128x128x8", "any"),  # the first row needs 100 KB, a T4 has 64
]


def test_picks_by_gpu_and_shape(workshop):
    build, folder = workshop
    (folder / "chapters" / FOLDER.name / "winners.txt").write_text(ROWS)
    build()
    for card, shape, tile, gpu in PICKS:
        environment = no_cuda() | {"EMULATE": card}
        result = run(["./chapter11", *shape.split()], cwd=folder, env=environment)
        assert result.returncode == 0, result.stdout + result.stderr
        assert re.match(
            rf"Chapter 11: autotuning: {tile}, .* \({gpu}\)\n", result.stdout
        ), shape


@pytest.fixture
def tuner(project, chapters, emulate, tmp_path):
    """The tuner with a planned clock (tuner.c), and a winners.txt for it."""
    common = sorted((project / "build" / "emulator" / "common").glob("*.o"))
    listed = tmp_path / "chapters" / FOLDER.name / "winners.txt"
    listed.parent.mkdir(parents=True)
    source = project / "tests" / "tuner.c"
    object_file = tmp_path / "tuner.o"
    includes = ["-I", project / "common", "-I", project / "chapters" / FOLDER.name]
    nvcc = project / "emulator" / "bin" / "nvcc"
    built = run([nvcc, *includes, "-c", source, "-o", object_file], env=no_cuda())
    assert (built.returncode, built.stderr) == (0, "")
    return emulate(object_file, *common, "-lcublas"), listed


def test_finds_the_fastest_that_is_right(tuner):
    program, listed = tuner
    others = '// a comment\nWINNER("Other GPU", 8, 9, 10,  1, 2) // 3 GFLOP/s\n'
    old = 'WINNER("Test GPU", 8, 9, 10,  1, 2, 3)\n'
    elsewhere = 'WINNER("Test GPU", 8, 9, 100,  1, 2, 3)\n'
    new = r'WINNER\("Test GPU", 8, 9, 10,  8, 0, 0, 0, 0, 0, 0, 0, 0, 0\) // \d+ GFLOP/s, \S+\n'
    listed.write_text(others + old + elsewhere)
    result = run([program], cwd=listed.parents[2], env=no_cuda())
    assert result.stderr == ""
    assert "candidate 7 is fast and wrong at 8 x 9 x 10" in result.stdout
    # In the place of the old line; everything else as it was.
    assert re.fullmatch(
        re.escape(others) + new + re.escape(elsewhere), listed.read_text()
    )

    code, most, least, twice = map(
        int, re.findall(r"(\d+)[,\n]", result.stdout.splitlines(True)[-1])
    )
    assert code == 0
    assert least == 1 + 3, "the slowest run in one round only"
    assert most > 5 * least, "the last few run much longer"
    assert twice <= 10, "candidates take turns"


def test_a_new_line_goes_to_the_end(tuner):
    program, listed = tuner
    listed.write_text("// a comment\n")
    run([program], cwd=listed.parents[2], env=no_cuda())
    assert re.fullmatch(
        r'// a comment\nWINNER\("Test GPU", 8, 9, 10, .*\n', listed.read_text()
    )
    assert [path.name for path in listed.parent.iterdir()] == ["winners.txt"]


MUTANTS = [
    Mutant(
        11, "no guard on the rows of C", "c_row >= M || left", "left", "out of bounds"
    ),
    Mutant(11, "no guard on the columns of C", "c_row >= M || left <= 0", "c_row >= M"),
    Mutant(11, "rows past the end copied", "min(a_row, M - 1)", "a_row", "out of bounds"),
    Mutant(11, "A past the end of K", "from->a_k < K ? 0 : sizeof(float)", "0"),
    Mutant(11, "B past the end of K", "left > 0 ? 0 : WIDTH * sizeof(float)", "0"),
    Mutant(11, "turned the wrong way", "* b_frag[k % 2][n]", "* b_frag[k % 2][i]"),
    Mutant(
        11, "a tile waited for too late", "STAGES - 3);", "STAGES - 2);", "not waited for"
    ),
    Mutant(
        11, "a tile copied into too early", "next = STAGES - 1;", "next = STAGES - 2;"
    ),
    Mutant(11, "groups all begin at the first", "group * GROUP + in_group", "in_group"),
    Mutant(11, "the last group taken as whole", "% group_rows;", "% GROUP;"),
    Mutant(
        11,
        "float4 although N is odd",
        "N % 4 == 0 && (size_t)B",
        "(size_t)B",
        "misaligned",
    ),
    Mutant(11, "beta == 0 reads C", "beta != 0.0f && i < left ?", "i < left ?"),
    Mutant(
        11,
        "too little shared memory",
        "kernel<<<blocks, THREADS, SHARED_BYTES>>>",
        "kernel<<<blocks, THREADS, SHARED_BYTES - 16>>>",
        "past the end",
    ),
]


@pytest.mark.parametrize(
    "mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "_")
)
def test_mutant_is_refused(mutant, mutate):  # noqa: F811
    refuse(mutant, mutate)


def test_report_names_block_and_thread(mutate):  # noqa: F811
    spoil = "if (blockIdx.x == 1 && threadIdx.x == 37) alpha += 1.0f;\n"
    program = mutate(11, "float *c = &C", spoil + "float *c = &C")
    result = run([program, "200", "400", "20"], env=no_cuda())
    assert result.returncode == 1
    assert set(re.findall(r"\(block (\d+), thread (\d+)\)", result.stdout)) == {
        ("1", "37")
    }
    # Ten tiles down are two groups of blocks: better no number than a wrong one.
    result = run([program, "300", "400", "20"], env=no_cuda())
    assert result.returncode == 1 and "(block" not in result.stdout


@for_real_nvcc("source", sorted(FOLDER.glob("*.c")), ids=lambda path: path.name)
def test_real_compiler_accepts(source, tmp_path):
    accept(source, tmp_path, "-I", ROOT / "common")
