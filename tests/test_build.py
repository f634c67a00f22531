"""A change rebuilds what depends on it, and nothing else."""

import graphlib
import platform
import re
import shutil
import sys

import pytest

import conftest
from conftest import copy_built, no_cuda, run

# A file that is touched -> the files that are compiled again, the programs that are linked.
ALL = r"chapter\d+"
C_AND_CU = r"common/\w+\.c|chapters/\w+/\w+\.cu?"
CASES = {
    "common/verify.c": (r"common/verify\.c", ALL),
    "common/common.h": (r"common/\w+\.c|chapters/11_\w+/tune\.c", ALL),
    "common/matmul.h": (C_AND_CU, ALL),
    "common/hopper.h": (
        r"chapters/(13|15|16|17|18)_\w+/matmul\.cu|chapters/19_\w+/one_gpu_\w+\.cu",
        "chapter(13|15|16|17|18|19)",
    ),
    "chapters/04_thread_tiling_1d/matmul.cu": (r"chapters/04_\w+/matmul\.cu", "chapter4"),
    "chapters/04_thread_tiling_1d/README.md": ("", ""),
    "chapters/11_autotuning/winners.txt": (r"chapters/11_\w+/matmul\.cu", "chapter11"),
    "chapters/11_autotuning/pick.c": (r"chapters/11_\w+/pick\.c", "chapter11"),
    "chapters/12_persistent_blocks/shares.cuh": (
        r"chapters/(12|13|17|18)_\w+/matmul\.cu|chapters/19_\w+/one_gpu_fp32\.cu",
        "chapter(12|13|17|18|19)",
    ),
    "emulator/include/cuda_pipeline.h": (
        r"chapters/(10|11|12|13|14|17|18)_\w+/matmul\.cu|chapters/19_\w+/one_gpu_fp32\.cu",
        "chapter(10|11|12|13|14|17|18|19)",
    ),
    "emulator/src/watch/lens_report.c": ("", ALL),
    "emulator/src/compile/translate.c": (C_AND_CU, ALL),
}


@pytest.fixture
def built(project, chapters, tmp_path):
    """A copy of the project in which every chapter is built."""
    copy = tmp_path / "built"
    copy_built(project, copy)
    # The compiler names the emulator's headers by their full paths.
    for file in (copy / "build" / "emulator").rglob("*.d"):
        file.write_text(file.read_text().replace(str(project), str(copy)))
    return copy


def todo(folder):
    """What make would compile, and what it would link."""
    told = run(["make", "-n", "all", "EMULATOR=1"], cwd=folder, env=no_cuda())
    assert told.returncode == 0, told.stderr
    return (
        set(re.findall(r" -c (\S+) -o ", told.stdout)),
        set(re.findall(r" -o build/emulator/(chapter\d+) ", told.stdout)),
    )


@pytest.mark.parametrize("touched", CASES)
def test_touching(touched, built, chapters):
    sources = {str(path.relative_to(built)) for path in built.glob("common/*.c")}
    sources |= {str(path.relative_to(built)) for path in built.glob("chapters/*/*.c*")}
    assert todo(built) == (set(), set())
    (built / touched).touch()
    compiled, linked = CASES[touched]
    assert todo(built) == (
        {name for name in sources if re.fullmatch(compiled, name)},
        {f"chapter{n}" for n in chapters if re.fullmatch(linked, f"chapter{n}")},
    )


# The folders of the emulator's runtime: files call into their own and those before it.
FLOORS = ["base", "memory", "block", "watch", "run", "api"]


def calls_between(objects):
    """Which files of the emulator use what others define: {file: {file: names}}."""
    home, wanted = {}, {}
    for path in objects:
        listed = run(["nm", "-P", path])
        assert listed.returncode == 0, listed.stderr
        for name, kind, *_ in map(str.split, listed.stdout.splitlines()):
            if kind.isupper() and kind != "U":
                home[name] = path.stem
            elif kind == "U":
                wanted.setdefault(path.stem, set()).add(name)
    found = {}
    for file, names in wanted.items():
        for name in names & home.keys():
            if home[name] != file:
                found.setdefault(file, {}).setdefault(home[name], set()).add(name)
    return found


@pytest.mark.skipif(not shutil.which("nm"), reason="nm is not here")
def test_no_circle_of_files(project, emulated_nvcc):
    """In the emulator, whatever a file calls stands below it, so that each can be read by itself."""
    sources = {path.stem: path for path in (project / "emulator/src").glob("*/*.c")}
    objects = [project / "emulator/build" / f"{name}.o" for name in sources]
    calls = calls_between(objects)
    assert len(calls) > 40
    try:
        tuple(graphlib.TopologicalSorter(calls).static_order())
    except graphlib.CycleError as circle:
        files = circle.args[1]
        steps = [(a, b, sorted(calls[a][b])) for b, a in zip(files, files[1:])]
        pytest.fail(f"a circle: {steps}")
    floor = {name: path.parent.name for name, path in sources.items()}
    assert set(floor.values()) == {*FLOORS, "compile"}
    for file in calls:
        if floor[file] == "compile":
            assert {floor[other] for other in calls[file]} == {"compile"}
            continue
        below = FLOORS[: FLOORS.index(floor[file]) + 1]
        upwards = {a: b for a, b in calls[file].items() if floor[a] not in below}
        assert not upwards, f"{file} calls upwards: {upwards}"


@pytest.mark.parametrize("compiler", [c for c in ("gcc", "clang") if shutil.which(c)])
def test_our_c_compiles_without_a_warning(compiler, project):
    """What one compiler warns of, the next one refuses: gcc 14 takes no function undeclared."""
    command = [compiler, "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    command += ["-Iinclude", "-Isrc", '-DCUDA_LIBRARIES=""', '-DEMU_NVCC=""']
    sources = [*project.glob("emulator/src/*/*.c"), *project.glob("exercises/*.c")]
    if platform.machine() == "x86_64":  # elsewhere the machine is not built
        sources += project.glob("exercises/machine/*.c")
    assert len(sources) > 80
    result = run([*command, *sources], cwd=project / "emulator")
    assert (result.returncode, result.stderr) == (0, "")


def test_the_emulators_map_names_every_file(project):
    """Under the heading of its folder, in emulator/README.md."""
    text = (project / "emulator/README.md").read_text().split("## Where things are")[1]
    folders = re.split(r"^\| \*\*(\w+)\*\* \|.*$", text, flags=re.M)[1:]
    named = {
        (folder, name)
        for folder, rows in zip(folders[::2], folders[1::2])
        for name in re.findall(r"`(\w+\.[ch])`", rows)
    }
    there = (project / "emulator/src").glob("*/*.c")
    assert named - {("base", "ptx.h")} == {(p.parent.name, p.name) for p in there}


def test_a_new_chapter_takes_three_files(built, chapters):
    """As CONTRIBUTING.md says: the rest finds it, or says where it is missing."""
    number = max(chapters) + 1
    name = f"{number:02d}_made_up"
    first = built / "chapters" / "01_naive"
    source = (first / "matmul.cu").read_text()
    source = source.replace(".number = 1,", f".number = {number},")
    source = source.replace('"naive: one thread', '"made up: one thread')
    folder = built / "chapters" / name
    folder.mkdir()
    (folder / "matmul.cu").write_text(source)
    (folder / "README.md").write_text(f"# Chapter {number}: made up\n")

    def make(*words):
        return run(words, cwd=built, env=no_cuda())

    result = make("make", "-s", f"chapter{number}", "EMULATOR=1")
    assert result.returncode == 0, result.stderr
    result = run([built / f"chapter{number}"], env=no_cuda())
    assert result.returncode == 0 and f"Chapter {number}: made up" in result.stdout

    tables = [sys.executable, "-B", "results/tables.py"]
    lists = ["README.md", "notebooks/README.md"]
    result = make(*tables, "--check", *lists)
    assert result.returncode == 1
    assert result.stdout.startswith("README.md: chapters first=19: stale")
    assert f"notebooks/{name}.md" in result.stderr

    text = (built / "notebooks" / "01_naive.md").read_text()
    (built / "notebooks" / f"{name}.md").write_text(text)
    for command in ([*tables, *lists], [sys.executable, "-B", "notebooks/make.py"]):
        result = make(*command)
        assert result.returncode == 0, result.stderr
    shown = f"[{number} made up]("
    assert all(shown in (built / page).read_text() for page in lists)
    assert (built / "notebooks" / f"{name}.ipynb").exists()


def test_nvcc_is_asked_once_about_the_same_text(tmp_path, monkeypatch):
    """A header that is included, an option or the compiler's version makes it another one."""
    nvcc, log = tmp_path / "nvcc", tmp_path / "log"
    nvcc.write_text(f"#!/bin/sh\n[ $1 = --version ] || echo $* >>{log}\necho fine\n")
    nvcc.chmod(0o755)
    monkeypatch.setattr(conftest, "REAL_NVCC", nvcc)
    monkeypatch.setattr(conftest, "ACCEPTED", tmp_path / "accepted")
    headers = tmp_path / "headers"
    headers.mkdir()
    source, inner = tmp_path / "source.cu", headers / "inner.h"
    source.write_text('#include "outer.h"\n#include <stdio.h>\n')
    (headers / "outer.h").write_text('#if 0\n#include "inner.h"\n#endif\n')

    def times_asked(*options):
        folder = tmp_path / f"folder{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        assert conftest.accept(source, folder, "-I", headers, *options) == "fine\n"
        return len(log.read_text().splitlines())

    inner.write_text("int x;\n")
    assert [times_asked(), times_asked()] == [1, 1]
    inner.write_text("int y;\n")
    assert [times_asked(), times_asked()] == [2, 2]
    assert [times_asked("-G"), times_asked("-G"), times_asked()] == [3, 3, 3]
    nvcc.write_text(nvcc.read_text() + "exit 1\n")
    source.write_text("int z;\n")
    for _ in range(2):
        with pytest.raises(AssertionError):
            times_asked()
    assert len(log.read_text().splitlines()) == 5


TEST = """
import pathlib, pytest
HERE = pathlib.Path(__file__).parent

@pytest.mark.depends("food", lambda values: [HERE / values["name"]])
@pytest.mark.parametrize("name", ["a", "b"])
def test_it(name):
    with open(HERE / "ran", "a") as ran:
        ran.write(name)
    assert "bad" not in (HERE.parent / "food" / "of_all").read_text()

def test_that_does_not_say():
    with open(HERE / "ran", "a") as ran:
        ran.write("-")
"""


def test_a_test_is_run_again_only_when_its_files_change(tmp_path):
    """And when it failed, and when one asks for it."""
    tests, food = tmp_path / "tests", tmp_path / "food" / "of_all"
    tests.mkdir()
    food.parent.mkdir()
    shutil.copy(conftest.__file__, tests)
    (tests / "test_it.py").write_text(TEST)

    def ran(*options, verdict="3 passed, 0 failed, 0 skipped"):
        (tests / "ran").write_text("")
        said = run(
            [sys.executable, "-m", "pytest", "-q", *options, "."], cwd=tests
        ).stdout
        assert said.splitlines()[-1] == verdict, said
        assert ("2 passed before" in said) == ((tests / "ran").read_text() == "-")
        return (tests / "ran").read_text()

    food.write_text("good")
    assert ran() == "ab-"
    assert ran() == "-"
    assert ran("-n", "2") == "-"
    assert ran("--again") == "ab-"
    (tests / "b").write_text("changed")
    assert ran() == "b-"
    food.write_text("better")
    assert ran() == "ab-"
    food.write_text("bad")
    for _ in range(2):
        assert ran(verdict="1 passed, 2 failed, 0 skipped") == "ab-"
    food.write_text("better")
    assert ran() == "ab-"
    assert ran() == "-"
