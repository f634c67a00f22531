"""The promise to a newcomer: with make and one C++ compiler, a clone builds and runs."""

import fnmatch
import os
from pathlib import Path

import pytest

from conftest import HOST_COMPILERS, copy_project, no_cuda, run

GCC = ["gcc*", "g++*", "cc", "c++", "c89*", "c99*", "*-gcc*", "*-g++*"]
CLANG = ["clang*", "llvm*"]
CUDA = ["nv*", "cuda*", "ncu*"]


def path_without(folder, patterns):
    """A folder with a link to every program of this machine but those."""
    folder.mkdir()
    for place in ("/usr/local/bin", "/usr/bin", "/bin"):
        for program in Path(place).iterdir():
            link = folder / program.name
            if not os.path.lexists(link) and not any(
                fnmatch.fnmatch(program.name, p) for p in patterns
            ):
                link.symlink_to(program)
    return str(folder)


@pytest.mark.depends("chapters")
@pytest.mark.parametrize("compiler", HOST_COMPILERS)
def test_one_compiler_is_enough(compiler, tmp_path):
    clone, nowhere = tmp_path / "a clone", tmp_path / "nowhere"
    copy_project(clone)
    path = path_without(tmp_path / "bin", CUDA + (CLANG if compiler == "g++" else GCC))
    environment = no_cuda() | {
        "PATH": path,
        "CUDA_HOME": str(nowhere),
        "CUDA_PATH": str(nowhere),
    }

    built = run(["make", "chapter4"], cwd=clone, env=environment)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "no nvcc here: using the emulator" in built.stdout
    result = run(["./chapter4"], cwd=clone, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith("\nPASS\n")

    # With NVIDIA's compiler but without a GPU: the same, and it says why.
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.write_text("#!/bin/sh\nexit 1\n")
    nvcc.chmod(0o755)
    again = run(["make", "chapter4"], cwd=clone, env=environment)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "there is nvcc, but no GPU to run on: using the emulator" in again.stdout
