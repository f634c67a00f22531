"""Verification: it accepts what is right, and refuses and explains what is not."""

import pytest

from conftest import ROOT, no_cuda, once, run

SCALED = "--alpha 1.5 --beta -0.5"
# What is spoiled (see verifier.cu), for which product, and what the report has to say.
DAMAGE = [
    ("nan", "40 30 20 --beta 2", "C[5][7] is nan"),
    ("infinity", "40 30 20", "C[5][7] is inf"),
    ("per_mille", "40 30 20", "1 of 1200 elements are wrong (real inputs)"),
    ("ulp", "40 30 20", "1 of 1200 elements are wrong (whole-number inputs, alpha = 2)"),
    ("ulp", "40 30 20 --alpha 3", "1 of 1200 elements are wrong (whole-number inputs)"),
    ("zero", "40 30 20", "1 of 1200 elements are wrong"),
    ("last_row", "40 30 20", "30 of 1200 elements are wrong"),
    ("last_row", "40 30 20", "the last row of tiles, which is only partly filled"),
    ("one_tile", "40 35 20", "all of them lie in one tile"),
    ("transposed", "40 40 40", "this is the transposed result"),
    ("-nothing written", "40 30 20", "1200 of 1200 elements are wrong"),
    ("-nothing written", "40 30 20", "these elements were never written"),
    ("-nothing written", f"40 30 20 {SCALED}", "these elements still hold the old C"),
    ("Alpha ignored", f"40 30 20 {SCALED}", "alpha was not applied"),
    ("Alpha ignored", "40 30 20", "alpha was not applied"),
    ("Beta ignored", f"40 30 20 {SCALED}", "beta * C was not added"),
    ("1 for beta", f"40 30 20 {SCALED}", "C was added without beta"),
    ("before C", "40 30 20", "memory in front of C was overwritten"),
    ("end of C", "40 30 20", "memory behind C was overwritten"),
    ("a's front", "40 30 20", "memory in front of A was overwritten"),
    ("changed A", "40 30 20", "the input A was changed"),
    ("per_mille", "3000 700 900", "fails Freivalds' check"),
]


@pytest.fixture(scope="session")
def verifier(emulated_nvcc, shared_folder, project):
    """Built as for a GPU: with guard bands, which the emulator's programs do without."""
    program = shared_folder / "verifier"
    with once(shared_folder / "verifier-built") as first:
        if first:
            sources = [
                ROOT / "tests" / "verifier.cu",
                *sorted((project / "common").glob("*.c")),
            ]
            options = [
                "-O2",
                "-std=c++17",
                "-U__CUDA_EMULATED__",
                "-I",
                project / "common",
            ]
            command = [emulated_nvcc, *options, *sources, "-lcublas", "-o", program]
            build = run(command, env=no_cuda())
            assert build.returncode == 0, build.stderr
    return program


def check(verifier, arguments, damage):
    environment = no_cuda() | {"DAMAGE": damage, "CHECK": "0"}
    return run([verifier, "--check-only", *arguments.split()], env=environment)


@pytest.mark.parametrize("arguments", sorted({arguments for _, arguments, _ in DAMAGE}))
def test_accepts_what_is_right(verifier, arguments):
    result = check(verifier, arguments, "")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("damage, arguments, report", DAMAGE)
def test_refuses_and_explains(verifier, damage, arguments, report):
    result = check(verifier, arguments, damage)
    assert result.returncode == 1
    assert report in result.stdout
    assert result.stdout.endswith("\nFAIL\n")


def test_names_block_and_thread(verifier):
    result = check(verifier, "40 30 20", "zero")
    assert (
        "(block 0, thread 87)" in result.stdout
    )  # row 5 of a tile of 16 columns, column 7
