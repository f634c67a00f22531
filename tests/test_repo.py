"""The house rules that a program can check."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, need_terminals, no_cuda, quick, run, students_files

CHAPTERS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*"))
OUTSIDE = {".git", ".venv", ".scratch", "build", "__pycache__"}
TEXT = {
    ".c",
    ".h",
    ".cu",
    ".cuh",
    ".cpp",
    ".md",
    ".py",
    ".sh",
    ".dot",
    ".csv",
    ".txt",
    ".cff",
    "",
}


def files(*suffixes, under="."):
    """The project's files with one of these suffixes, without what is built, downloaded or a
    student's. What is built is not even looked at: other tests make files there and take them away."""
    found = []
    for folder, folders, names in os.walk(ROOT / under):
        folders[:] = [name for name in folders if name not in OUTSIDE]
        found += [Path(folder) / name for name in names]
    return sorted(
        path
        for path in found
        if path.suffix in suffixes
        and path.is_file()
        and not re.fullmatch(r"chapter\d+", path.name)
        and path not in students_files()
    )


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.name)
def test_chapter_is_short_and_explained(chapter):
    source = chapter / "matmul.cu"
    assert (chapter / "README.md").exists()
    text = source.read_text()
    lines = text.count("\n")
    # A sitting: from chapter 7 on, each has the parts of all chapters before it to carry.
    longest = 165 if chapter.name < "07" else 290
    assert lines <= longest, f"{lines} lines"
    assert text.startswith("/*\n * Chapter "), "it begins by saying what it is about"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.name)
def test_chapter_is_described(chapter):
    text = (chapter / "README.md").read_text()
    number = int(chapter.name[:2])
    assert text.startswith("# ")
    assert f"chapter{number}" in text


def test_formatted():
    """What `make format` would change is nothing; students keep their own layout."""
    clang_format, ruff = (
        Path(sys.executable).with_name(tool) for tool in ("clang-format", "ruff")
    )
    strict = [clang_format, "--dry-run", "-Werror"]
    result = run(strict + files(".c", ".h", ".cu", ".cuh", ".cpp"))
    assert result.returncode == 0, result.stderr[-3000:]
    for command in (["format", "--diff", "-q"], ["check", "-q"]):
        result = run([ruff, *command, "--no-cache", *files(".py")], cwd=ROOT)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr


def test_no_machine_is_named():
    """No path of the machine a file was written on. A program may make files in /tmp."""
    homes = r"(?<![\w.])/(work|root|home|Users%s)/\w"
    for path in files(*TEXT):
        code = path.suffix in (".c", ".h", ".cu", ".cuh", ".cpp", ".py", ".sh", "")
        home = re.compile(homes % ("" if code else "|tmp"))
        if path.parent == ROOT / "tests" and path.suffix == ".py":
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            assert not home.search(line), f"{name(path)}:{number}: {line.strip()}"


def test_nothing_is_left_to_do():
    unfinished = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    for path in files(*TEXT):
        if path.name == "test_repo.py":
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            assert not unfinished.search(line), f"{name(path)}:{number}: {line.strip()}"


def test_what_the_quick_tests_leave_out_is_there():
    for name in quick():
        file, _, test = name.partition("::")
        text = (ROOT / "tests" / file).read_text()
        assert not test or re.search(rf"^def {test}\(", text, re.M), name


def test_help_lists_the_targets():
    result = run(["make", "-s", "help"], cwd=ROOT, env=no_cuda())
    assert result.returncode == 0, result.stderr
    for word in ("help", "test", "clean", "ladder", "chapter", "EMULATOR=1"):
        assert word in result.stdout
    for chapter in CHAPTERS:
        assert f"chapter{int(chapter.name[:2])}" in result.stdout


def test_help_fits_a_terminal():
    """80 columns, and colour only on a terminal whose user has not refused it."""
    result = run(["make", "-s", "help"], cwd=ROOT, env=no_cuda())
    assert max(map(len, result.stdout.splitlines())) <= 80 and "\033" not in result.stdout
    assert "\nexercises\n" in result.stdout, "targets come in groups"
    if not shutil.which("script"):
        pytest.skip("script is not installed (util-linux)")
    need_terminals()
    for refused in ({}, {"NO_COLOR": "1"}):
        shown = run(
            ["script", "-qec", "make -s help", "/dev/null"],
            cwd=ROOT,
            env=no_cuda() | refused,
        )
        assert ("\033[1m" in shown.stdout) == (not refused)


def test_chapters_are_numbered_without_a_gap():
    numbers = [int(chapter.name[:2]) for chapter in CHAPTERS]
    assert numbers == list(range(len(numbers)))


def test_nothing_built_is_committed():
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    ).stdout.splitlines()
    built = re.compile(r"\.(o|a|so|ii|pyc|cubin)$|^chapter\d+$|(^|/)build/|^\.venv/")
    assert not [path for path in listed if built.search(path)]
    for path in listed:
        file = ROOT / path
        assert not file.is_file() or file.stat().st_size < 1 << 20, (
            f"{path} is larger than 1 MB"
        )
