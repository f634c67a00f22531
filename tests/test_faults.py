"""Programs with one planted fault each: it is found, and nothing else ever is.

The comments of a program say what must be reported: `EXPECT: <part of the message>`,
`THREAD (x,y,z) BLOCK (x,y,z)`, `FAULT` at the end of the line to blame, `OTHER` at the end
of a line that the message must name besides; `EMULATE: <the devices that it needs>`. With FIXED
defined the program is right, and must run through without a word.
"""

import re
import resource

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

FOLDER = ROOT / "tests" / "faults"
pytestmark = pytest.mark.depends("tests/faults")
PLANTED = {path.stem: path for path in sorted(FOLDER.glob("*.cu"))}


def devices(name):
    wanted = re.search(r"^// EMULATE: (.*)$", PLANTED[name].read_text(), re.M)
    return {"EMULATE": wanted[1]} if wanted else {}


# With another compiler than the first: every third, the rest at length.
def again(pair):
    name, compiler = pair
    return compiler != HOST_COMPILERS[0] and name not in list(PLANTED)[::3]


@pytest.mark.parametrize(
    "name, compiler", at_length([(n, c) for n in PLANTED for c in HOST_COMPILERS], again)
)
def test_is_found(name, compiler, emulate):
    source = PLANTED[name]
    text = source.read_text()
    result = run(
        [emulate(source, compiler=compiler)],
        env=no_cuda() | {"LEAKS": "1"} | devices(name),
    )
    report = result.stderr
    assert result.returncode == 1, result.stdout + report
    assert "FAULT" in report
    for expected in re.findall(r"^// EXPECT: (.*)$", text, re.M):
        assert expected in report
    for number, line in enumerate(text.splitlines(), 1):
        if line.endswith("// FAULT"):
            assert re.search(rf"^  .*\bat \S*{source.name}:{number}: ", report, re.M), (
                report
            )
        if line.endswith("// OTHER"):
            assert re.search(
                rf"^FAULT .*\bat \S*{source.name}:{number}\b", report, re.M
            ), report
    for thread, block in re.findall(r"^// THREAD (\S+) BLOCK (\S+)$", text, re.M):
        assert f"block {block}, thread {thread}" in report


# Compilers differ in how a kernel's accesses reach the emulator, and both find every fault above.
# That a right program is left in peace is asked of all of them with one compiler, and with the
# others of one program of each kind (and of all that test_programs.py has).
KINDS = {name.partition("_")[0]: name for name in PLANTED}
FIXED = [(name, HOST_COMPILERS[0]) for name in PLANTED]
FIXED += [(name, other) for name in KINDS.values() for other in HOST_COMPILERS[1:]]


@pytest.mark.parametrize("name, compiler", FIXED)
def test_is_gone_when_fixed(name, compiler, emulate):
    program = emulate(PLANTED[name], "-DFIXED", compiler=compiler)
    result = run([program], env=no_cuda() | devices(name))
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


@pytest.mark.parametrize("compiler", HOST_COMPILERS)
def test_an_impossible_alignment_does_not_compile(compiler, emulated_nvcc, tmp_path):
    source = tmp_path / "seventeen.cu"
    source.write_text(
        "__global__ void k(float *out) {\n"
        "    __shared__ __align__(17) float tile[32];\n"
        "    tile[threadIdx.x] = 0.0f;\n"
        "    out[0] = tile[threadIdx.x];\n"
        "}\n"
    )
    result = run(
        [emulated_nvcc, "-ccbin", compiler, "-c", source, "-o", tmp_path / "k.o"]
    )
    assert result.returncode != 0
    assert f"{source}:2:" in result.stderr and "alignment" in result.stderr


# Under 16 MB the system's loader does not get the program and its libraries into memory.
@pytest.mark.parametrize("megabytes", (16, 20, 40, 80, 150, 300, 2000))
def test_too_little_address_space_is_one_line(megabytes, emulate):
    program = emulate(PLANTED["race_tree_without_barrier"], "-DFIXED")
    limit = megabytes << 20

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    result = run([program], env=no_cuda(), preexec_fn=limited)
    if result.returncode == 0:
        assert (result.stdout, result.stderr) == ("PASS\n", "")
    else:
        assert result.returncode == 3 and "no memory for" in result.stderr
        assert len(result.stderr.splitlines()) == 1


@for_real_nvcc("folder", [FOLDER], ids=["all"])
def test_is_genuine_cuda(folder, tmp_path):
    source = all_in_one(PLANTED.values(), tmp_path)
    accept(source, tmp_path, "-DFIXED", "-arch=sm_90", "-I", folder)
