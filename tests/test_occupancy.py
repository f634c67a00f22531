"""How many blocks fit on a multiprocessor: the rules, what --occupancy says, and the registers
behind it."""

import json
import math
import re
import sys

import pytest

from conftest import NO_NVCC, REAL_NVCC, ROOT, no_cuda, once, run

sys.path.insert(0, str(ROOT / "results"))
import registers  # noqa: E402

GPUS = ["T4", "RTX 3090", "RTX A6000", "A100", "RTX 4090", "H100", "H200", "B200"]
# The chapters that name a kernel of their own.
KERNELS = sorted(
    int(path.parent.name[:2]) for path in (ROOT / "chapters").glob("*/registers.c")
)

# Threads, registers and shared bytes of a block -> blocks by threads, registers, shared memory and count.
# Worked by hand. By registers: a warp takes 32 times as many, rounded up to 256, from one of four
# partitions of 16,384; shared memory is rounded up to 128 bytes (256 on the T4), after 1,024 more for the system
# (none on the T4).
BY_HAND = {
    # 37 x 32 = 1,184 -> 1,280; 16,384 / 1,280 = 12 warps a partition, 48 an SM; a block has 32.
    # 8,192 + 1,024 = 9,216; 102,400 / 9,216 = 11.1. The case of the RTX A6000: 32 of 48 warps, 66.7 %.
    (1024, 37, 8192): {
        "T4": (1, 1, 8, 16),
        "RTX 3090": (1, 1, 11, 16),
        "RTX A6000": (1, 1, 11, 16),
        "A100": (2, 1, 18, 32),
        "RTX 4090": (1, 1, 11, 24),
        "H100": (2, 1, 25, 32),
        "H200": (2, 1, 25, 32),
        "B200": (2, 1, 25, 32),
    },
    # 128 x 32 = 4,096; 4 warps a partition, 16 an SM; a block has 8.
    # 16,384 + 1,024 = 17,408 = 136 x 128; 100 KB hold 5.9, 164 KB 9.6, 228 KB 13.4; 64 KB / 16 KB = 4.
    (256, 128, 16384): {
        "T4": (4, 2, 4, 16),
        "RTX 3090": (6, 2, 5, 16),
        "RTX A6000": (6, 2, 5, 16),
        "A100": (8, 2, 9, 32),
        "RTX 4090": (6, 2, 5, 24),
        "H100": (8, 2, 13, 32),
        "H200": (8, 2, 13, 32),
        "B200": (8, 2, 13, 32),
    },
    # One warp of few registers and no shared memory: the count of blocks is the limit.
    # 16 x 32 = 512; 32 warps a partition, 128 an SM. 1,024 bytes a block from sm_80 on; none on the T4.
    (32, 16, 0): {
        "T4": (32, 128, 16, 16),
        "RTX 3090": (48, 128, 100, 16),
        "RTX A6000": (48, 128, 100, 16),
        "A100": (64, 128, 164, 32),
        "RTX 4090": (48, 128, 100, 24),
        "H100": (64, 128, 228, 32),
        "H200": (64, 128, 228, 32),
        "B200": (64, 128, 228, 32),
    },
    # 33 threads are two warps. 255 x 32 = 8,160 -> 8,192; 2 warps a partition, 8 an SM, 4 blocks.
    # 60,000 + 1,024 = 61,024 -> 61,056; 60,000 -> 60,160 on the T4.
    (33, 255, 60000): {
        "T4": (16, 4, 1, 16),
        "RTX 3090": (24, 4, 1, 16),
        "RTX A6000": (24, 4, 1, 16),
        "A100": (32, 4, 2, 32),
        "RTX 4090": (24, 4, 1, 24),
        "H100": (32, 4, 3, 32),
        "H200": (32, 4, 3, 32),
        "B200": (32, 4, 3, 32),
    },
    # 1,024 threads of 65 registers: 65 x 32 = 2,080 -> 2,304; 7 warps a partition, 28 an SM; a block has 32.
    # 99 KB is the most for a block where an SM has 100; the T4 has 64.
    (1024, 65, 99 * 1024): {
        "T4": (1, 0, 0, 16),
        "RTX 3090": (1, 0, 1, 16),
        "RTX A6000": (1, 0, 1, 16),
        "A100": (2, 0, 1, 32),
        "RTX 4090": (1, 0, 1, 24),
        "H100": (2, 0, 2, 32),
        "H200": (2, 0, 2, 32),
        "B200": (2, 0, 2, 32),
    },
}


@pytest.fixture(scope="session")
def rules(emulated_nvcc, shared_folder):
    """The program of occupancy_rules.c with the emulator's header."""
    program = shared_folder / "occupancy_rules"
    with once(shared_folder / "occupancy-rules-built") as first:
        if first:
            build_rules([emulated_nvcc, "-O2"], program)
    return program


def build_rules(compiler, program):
    source = ROOT / "tests" / "occupancy_rules.c"
    build = run(
        [*compiler, "-I", ROOT / "emulator", source, "-o", program], env=no_cuda()
    )
    assert build.returncode == 0, build.stderr


@pytest.mark.parametrize("block", BY_HAND, ids=lambda block: "-".join(map(str, block)))
def test_by_hand(block, rules):
    result = run([rules, *block])
    assert result.returncode == 0
    unlimited = str(2**31 - 1)
    expected = [
        f"{gpu}: {' '.join(map(str, BY_HAND[block][gpu]))}, {min(BY_HAND[block][gpu])}"
        for gpu in GPUS
    ]
    # No shared memory at all, which only the T4 allows, sets no limit.
    told = result.stdout.replace(f"128 {unlimited} 16", "128 16 16")
    assert told.splitlines() == expected


def test_as_nvidias_header_answers(rules, tmp_path):
    if not REAL_NVCC:
        pytest.skip(NO_NVCC)
    theirs = tmp_path / "theirs"
    build_rules([REAL_NVCC, "-O2"], theirs)
    answers = [run([program]).stdout for program in (rules, theirs)]
    assert answers[0].count("\n") > 500 and answers[0] == answers[1]


# ---- what a reader sees ----


@pytest.mark.parametrize("number", KERNELS)
def test_table_and_json_agree(number, chapters):
    table = run([chapters[number], "--occupancy"], env=no_cuda())
    told = run([chapters[number], "--occupancy", "--json"], env=no_cuda())
    assert (table.returncode, table.stderr, told.returncode, told.stderr) == (
        0,
        "",
        0,
        "",
    )
    assert max(map(len, table.stdout.splitlines())) <= 100
    cards = {card["gpu"]: card for card in json.loads(told.stdout)["gpus"]}
    lines = {line[2:12].strip(): line for line in table.stdout.splitlines()[-len(GPUS) :]}
    assert list(lines) == GPUS
    for gpu, line in lines.items():
        if "needs compute capability" in line:
            assert gpu not in cards
            continue
        card = cards[gpu]
        numbers = [float(word) for word in re.findall(r"[\d.]+", line[12:])]
        assert numbers == [
            card[name]
            for name in (
                "registers",
                "shared",
                "threads",
                "by_threads",
                "by_registers",
                "by_shared",
                "by_blocks",
                "warps",
                "max_warps",
                "percent",
            )
        ]
        assert card["blocks"] == min(
            card[f"by_{name}"] for name in ("threads", "registers", "shared", "blocks")
        )
        assert card["blocks"] > 0, f"chapter {number} cannot run on a {gpu}"
        assert line.split()[-1] == card["limit"]


def test_the_worked_example(chapters):
    """Chapter 3's README works this one by hand."""
    result = run([chapters[3], "--occupancy", "--registers", "37"], env=no_cuda())
    line = next(line for line in result.stdout.splitlines() if "A6000" in line)
    assert (
        line.split()
        == "RTX A6000 37 8192 1024 1 1 11 16 32 of 48 66.7 % threads+registers".split()
    )


def test_no_kernel_is_one_line(chapters):
    result = run([chapters[0], "--occupancy"], env=no_cuda())
    assert (result.returncode, result.stdout) == (2, "")
    assert "names no kernel" in result.stderr and result.stderr.count("\n") == 1


def test_missing_registers_are_one_line(chapters, project, emulate):
    """A chapter that is new builds and runs; only this has to wait for `make registers`."""
    built = project / "build" / "emulator"
    objects = [*built.glob("common/*.o"), *built.glob("chapters/03_*/matmul.o")]
    program = emulate(*objects, "-lcublas", "-ldl")
    result = run([program, "--occupancy"], env=no_cuda())
    assert (result.returncode, result.stdout) == (3, "")
    assert "make registers" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize("number", ["0", "256", "x"])
def test_registers_are_a_number(number, chapters):
    result = run([chapters[3], "--occupancy", "--registers", number], env=no_cuda())
    assert (result.returncode, result.stdout) == (2, "")
    assert "--registers" in result.stderr and result.stderr.count("\n") == 1


# ---- the registers ----


def test_who_names_a_kernel_has_its_registers(chapters):
    for number, program in chapters.items():
        told = json.loads(run([program, "--describe"]).stdout)
        assert bool(told["kernel"]) == (number in KERNELS), f"chapter {number}"


@pytest.mark.depends("chapters")
def test_they_are_of_the_kernel_that_runs(chapters, tmp_path):
    """Threads and dynamic shared memory are a chapter's own word: they are those of the kernel it
    launches."""
    for number in KERNELS:
        out = tmp_path / f"{number}.json"
        settings = no_cuda() | {"LENS": "json", "LENS_OUT": str(out), "LENS_BLOCKS": "1"}
        told = json.loads(run([chapters[number], "--describe"]).stdout)
        card = json.loads(
            run([chapters[number], "--occupancy", "--json"], env=no_cuda()).stdout
        )["gpus"][-1]
        # Dynamic memory that must start at a multiple of 1 KB leaves a gap behind the static arrays.
        gap = 1024 - 1 if told["dynamic_shared"] else 0
        # A small product may be another kernel's work; then the chapter knows others.
        for product in ["256", *told["products"]]:
            words = [*product.split(), "--check-only", "--one-shape"]
            run([chapters[number], *words], env=settings)
            if any(
                kernel["name"].partition("<")[0] == told["kernel"].partition("<")[0]
                and math.prod(kernel["block"]) == told["threads"]
                and 0 <= card["shared"] - kernel["shared_bytes"] <= gap
                for kernel in json.loads(out.read_text())["kernels"]
            ):
                break
        else:
            pytest.fail(f"chapter {number} launches no kernel as it describes it")


def test_make_registers_sees_what_is_stale(chapters, project):
    """Of one chapter; test_chapters.py compares them all."""
    if not REAL_NVCC:
        pytest.skip(NO_NVCC)
    script = [sys.executable, "-B", project / "results" / "registers.py"]
    result = run([*script, "--check", "1"], env=no_cuda() | {"NVCC": REAL_NVCC})
    assert result.returncode == 0, result.stdout + result.stderr

    text = (ROOT / "chapters" / "01_naive" / "registers.c").read_text()
    version = registers.VERSION.search(text)[1]
    assert registers.same(text, text.replace("2026-", "2027-"))
    more = text.replace(".registers = ", ".registers = 1")
    assert not registers.same(text, more)
    # Another compiler may decide otherwise; how much memory is shared is not its decision.
    assert registers.same(text, more.replace(version, "12.0.1"))
    shared = text.replace(".static_shared = ", ".static_shared = 4")
    assert not registers.same(text, shared.replace(version, "12.0.1"))
