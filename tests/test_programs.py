"""CUDA programs of every kind, on the emulator and through the real compiler.

A program checks its own results, prints PASS and returns 0. Its comments may say
`BUILD: <flags>`, `PRINTS: <a line that its output has>`, `NEEDS: <header>`,
`EMULATE: <the devices that it needs>` and `NOT WITH NVCC: <why the real compiler is not asked>`.
"""

import re

import pytest

from conftest import (
    HOST_COMPILERS,
    ROOT,
    accept,
    all_in_one,
    at_length,
    for_real_nvcc,
    no_cuda,
    run,
)

FOLDER = ROOT / "tests" / "programs"
pytestmark = pytest.mark.depends("tests/programs")
# A file is a program; so are all the sources of a folder together.
PROGRAMS = {path.stem: [path] for path in sorted(FOLDER.glob("*.cu"))}
for folder in sorted(path for path in FOLDER.iterdir() if path.is_dir()):
    PROGRAMS[folder.name] = sorted(folder.glob("*.cu")) + sorted(folder.glob("*.c"))

# The oldest and the newest: what an architecture lacks shows at one of them.
ARCHITECTURES = (75, 100)


def notes(sources, what):
    """The values of the comments `// what: value`."""
    return [
        value
        for source in sources
        for value in re.findall(rf"^// {what}: (.*)$", source.read_text(), re.M)
    ]


def flags(sources):
    return " ".join(notes(sources, "BUILD")).split()


@pytest.mark.parametrize("compiler", HOST_COMPILERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_the_emulator(name, compiler, emulate):
    sources = PROGRAMS[name]
    for header in notes(sources, "NEEDS"):
        if not (ROOT / "emulator" / "include" / header).exists():
            pytest.skip(f"the emulator has no {header} yet")
    program = emulate(*sources, *flags(sources), compiler=compiler)
    environment = no_cuda()
    for devices in notes(sources, "EMULATE"):
        environment["EMULATE"] = devices
    result = run([program], env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[-1] == "PASS"
    for line in notes(sources, "PRINTS"):
        assert line in lines


def is_alone(sources):
    """What nvcc needs an option for, or what would have a name in common with another, cannot go
    into one file with the others."""
    names = any('extern "C"' in source.read_text() for source in sources)
    return len(sources) > 1 or bool(flags(sources)) or names


GENUINE = {n: s for n, s in PROGRAMS.items() if not notes(s, "NOT WITH NVCC")}
ALONE = [name for name, sources in GENUINE.items() if is_alone(sources)]
TARGETS = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in ARCHITECTURES]


# Headers that take nvcc a minute.
SLOW = ("cub", "rare_headers", "views")


@for_real_nvcc("name", at_length(ALONE, lambda name: name in SLOW))
def test_is_genuine_cuda(name, tmp_path):
    words = flags(PROGRAMS[name])
    if not any(word.startswith("-arch") for word in words):
        words = TARGETS + words
    for source in PROGRAMS[name]:
        accept(source, tmp_path, *(words if source.suffix == ".cu" else []))


@for_real_nvcc("folder", [FOLDER], ids=["all"])
def test_all_others_are_genuine_cuda(folder, tmp_path):
    sources = [GENUINE[name][0] for name in GENUINE if name not in ALONE]
    accept(all_in_one(sources, tmp_path), tmp_path, *TARGETS, "-I", folder)
