"""The classroom: what is right passes, what is wrong does not, and nobody talks it round."""

import collections
import csv
import functools
import importlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock
from pathlib import Path

import pytest

import verdicts
from conftest import (
    HANGS,
    ROOT,
    accept,
    at_length,
    for_real_nvcc,
    need_terminals,
    no_cuda,
    once,
    run,
    students_files,
)

pytestmark = pytest.mark.depends(
    "exercises",
    "tests/exercises",
    "tests/verdicts.py",
    "chapters",
    "results/ending.py",
    ".gitignore",
)
FOLDERS = sorted((ROOT / "exercises").glob("[0-9][0-9]_*"))
NAMES = [folder.name for folder in FOLDERS]
ATTEMPTS = ROOT / "tests" / "exercises"


class Classroom:
    """The grader of the tests' copy of the project, ready."""

    def __init__(self, project):
        sys.path.insert(0, str(project / "exercises"))
        for name in ("tasks", "sandbox", "tools", "grade", "counts", "course", "similar"):
            setattr(self, name, importlib.import_module(name))
        self.folder = project / "exercises"
        self.held = None

    def get_ready(self):
        self.held = self.tools.prepare()

    def all(self):
        return self.tasks.all_exercises()

    def numbered(self, number):
        (exercise,) = [e for e in self.all() if e.number == int(number)]
        return exercise

    def named(self, name):
        (exercise,) = [e for e in self.all() if e.name[3:] == name]
        return exercise

    def verdict(self, exercise, source=None, seed=None):
        return self.grade.grade(self.held, exercise, source, seed)


@pytest.fixture(scope="session")
def classroom(project, shared_folder, emulated_nvcc):
    """In this copy nobody has solved anything."""
    room = Classroom(project)
    with once(shared_folder / "skeletons-written") as first:
        for exercise in room.all() if first else []:
            exercise.source.write_text(exercise.skeleton)
    room.get_ready()
    return room


@pytest.fixture
def exercise(classroom, request):
    return classroom.tasks.load(classroom.folder / request.param)


each = pytest.mark.parametrize("exercise", NAMES, indirect=True, ids=NAMES)


def answer_lines(exercise):
    """The lines of a solution that the skeleton does not have."""
    solution = collections.Counter(exercise.solution.read_text().splitlines())
    more = solution - collections.Counter(exercise.source.read_text().splitlines())
    return [line.strip() for line in more if not line.strip().startswith("//")]


@each
def test_skeleton_is_the_solution_without_the_marked_lines(exercise):
    assert answer_lines(exercise)
    committed = ROOT / "exercises" / exercise.name / "exercise.cu"
    if committed in students_files():
        pytest.skip(
            f"{exercise.name}/exercise.cu is a student's: git says that it is changed"
        )
    assert committed.read_text() == exercise.skeleton


@each
def test_skeleton_compiles_and_fails(exercise, classroom):
    verdict = classroom.verdict(exercise)
    assert not verdict.passed
    assert verdict.status in ("wrong", "fault", "goal"), verdict.feedback
    assert verdict.points == 0


def test_a_processor_of_another_kind_runs_programs_itself(classroom, monkeypatch):
    """The machine in software is an x86-64; on ARM there is none."""
    monkeypatch.setattr(classroom.tools, "IN_SOFTWARE", False)
    held = classroom.tools.prepare()
    exercise = classroom.numbered(1)
    passed = [
        classroom.grade.grade(held, exercise, source).passed
        for source in (exercise.solution, None)
    ]
    assert passed == [True, False]


def test_no_skeleton_holds_anothers_answer(classroom):
    """Word for word, whatever the names are. Answers of a line or two cannot help it."""
    runs = classroom.similar.runs_of
    given = {e.name: runs(e.skeleton) for e in classroom.all()}
    for exercise in classroom.all():
        answer = runs(classroom.tasks.solution_to_show(exercise.solution.read_text()))
        own = answer - given[exercise.name]
        for name, seen in given.items():
            assert len(own) < 60 or len(own & seen) < 0.6 * len(own), (
                f"{name} holds the answer of {exercise.name}"
            )


@each
def test_solution_passes(exercise, classroom):
    verdict = classroom.verdict(exercise, exercise.solution)
    assert verdict.passed, verdict
    assert verdict.points == verdict.of


def doubts(classroom, exercise, right, part=slice(None)):
    """The same seed in every test run; tests/verdicts.py takes as many as it is told to."""
    found = [a for a in verdicts.answers(exercise.name) if right == is_right(a)]
    assert len(found) >= (5 if right else 15)
    found = found[part]
    told = []
    for answer in found:
        job = (exercise, answer, [len(answer[0])])
        _, wrong = verdicts.try_answer(classroom.grade, classroom.held, job)
        told += [f"{answer[0]}: {why}" for why in wrong]
    return "\n".join(told)


def is_right(answer):
    return answer[0].startswith(verdicts.RIGHT)


@each
@pytest.mark.parametrize("first", at_length(range(6), lambda first: first != 0))
def test_wrong_answers_are_told_what_is_wrong(exercise, first, classroom):
    """A sixth of them at a time: all take minutes."""
    assert doubts(classroom, exercise, False, slice(first, None, 6)) == ""


@each
@pytest.mark.parametrize("first", at_length(range(2), lambda first: first != 0))
def test_right_answers_that_are_built_otherwise_pass(exercise, first, classroom):
    """Half of them at a time."""
    assert doubts(classroom, exercise, True, slice(first, None, 2)) == ""


@pytest.mark.parametrize(
    "name, answer, other",
    [
        ("choose_tiles", "a semicolon is missing", "static_assert"),
        ("fragments", "the sums of each step alone", "register"),
        ("split", "one exponent for all rows", "infinite"),
        ("tune", "always the first", "unlucky"),
        ("epilogue", "cut off, not rounded", "another's place"),
        ("thread_tiling_1d", "one result in a thousand", "fewer bits"),
    ],
)
def test_feedback_names_no_other_cause(classroom, tmp_path, name, answer, other):
    """What an exercise has to say about another mistake of the same kind is left out."""
    exercise = classroom.named(name)
    (changes,) = [a[1] for a in verdicts.answers(exercise.name) if a[0] == answer]
    source = tmp_path / "exercise.cu"
    source.write_text(verdicts.changed(exercise.solution.read_text(), changes, answer))
    verdict = classroom.verdict(exercise, source, seed=1)
    assert not verdict.passed and other not in verdict.feedback


def test_the_emulator_asks_the_machine_about_variables(classroom):
    """An inline function would answer by itself: no linker can put another in its place."""
    tools = classroom.tools
    asked = run(["nm", "-u", tools.build_runtime()]).stdout.split()
    assert set(tools.ANSWERED_BY_THE_MACHINE.split()) <= set(asked)


@pytest.mark.long
def test_verdicts_at_many_seeds(classroom):
    script = classroom.folder.parent / "tests" / "verdicts.py"
    result = run([sys.executable, "-B", script, "--seeds", "2", "1"], env=no_cuda())
    assert result.returncode == 0, result.stdout + result.stderr
    found = verdicts.answers("01_map_threads")
    right = sum(map(is_right, found))
    wrong = len(found) - right
    said = rf"^01_map_threads +{right} of {right} +{wrong} of {wrong}$"
    assert re.search(said, result.stdout, re.M)
    assert f"\n{2 * len(found)} gradings, 0 doubts" in result.stdout


def test_a_wrong_result_is_told_though_the_next_never_comes(classroom, tmp_path):
    """Which shape a slow program still gets done depends on the machine; what is wrong does not."""
    exercise = classroom.named("map_threads")
    text = exercise.solution.read_text()
    text = text.replace("    out[i] = a * x[i] + y[i];", "    out[i] = x[i];")
    launch = "    axpy_kernel<<<"
    wait = "    for (volatile int spin = 0; n > 256; ++spin)\n        ;\n"
    source = tmp_path / "exercise.cu"
    source.write_text(text.replace(launch, wait + launch))
    verdict = classroom.verdict(exercise, source)
    assert (verdict.status, verdict.mistake) == ("wrong", "other"), verdict.feedback
    source.write_text(source.read_text().replace("= x[i];", "= a * x[i] + y[i];"))
    verdict = classroom.verdict(exercise, source)
    assert (verdict.status, verdict.mistake) == ("limit", "endless"), verdict.feedback


def test_doubtful_verdicts_are_seen(classroom):
    seen = classroom.grade.Verdict("x", True, "passed", 5, 5, "Passed.")
    assert verdicts.judge(seen, "right: x", []) is None
    assert "Passed" in verdicts.judge(seen, "x", ["no"])
    seen = classroom.grade.Verdict("x", False, "wrong", 0, 5, "no good")
    assert verdicts.judge(seen, "x", ["no"]) is None
    assert "no good" in verdicts.judge(seen, "x", ["yes"])
    assert "no good" in verdicts.judge(seen, "right: x", [])


@for_real_nvcc("kind", ["solution", "exercise"])
def test_is_genuine_cuda(kind, classroom, tmp_path):
    """All of them in one file, each in a namespace: starting nvcc takes longer than compiling."""
    words = ["#include <cuda_pipeline.h>", '#include "exercise.h"']
    header = (ROOT / "exercises" / "exercise.h").read_text()
    functions = re.findall(r"^\w+ (\w+)\(", header, re.M)
    for folder in FOLDERS:
        words += [f"#define {name} {name}_{folder.name}" for name in functions]
        source = classroom.folder / folder.name / f"{kind}.cu"
        words += [f"namespace e{folder.name} {{", f'#include "{source}"', "}"]
        words += [f"#undef {name}" for name in functions]
    source = tmp_path / "all.cu"
    source.write_text("\n".join(words) + "\n")
    # A skeleton may declare what only the answer uses.
    unused = []
    if kind == "exercise":
        unused = ["-diag-suppress=177,550", "-Xcompiler", "-Wno-unused-parameter"]
    accept(source, tmp_path, "-arch=sm_90", "-I", ROOT / "exercises", *unused)


# ---- hints and tasks ----


def plain(text):
    return re.sub(r"[\s`]+", "", text)


@each
def test_task_and_hints_are_there_and_hold_no_answer(exercise, classroom):
    assert len(exercise.hints) == 3 and all(len(hint) > 60 for hint in exercise.hints)
    task = (exercise.folder / "README.md").read_text()
    assert task.startswith(f"# Exercise {exercise.number}: {exercise.title}\n")
    for word in ("**Your task.**", f"make exercise{exercise.number}", "exercise.cu"):
        assert word in task
    # What the skeleton shows is no secret.
    shown = plain(exercise.source.read_text())
    said = plain(" ".join(exercise.hints)) + plain(task)
    for line in answer_lines(exercise):
        code = plain(line.split("//")[0])
        for part in [
            code,
            *re.findall(r"=(.*);", code),
            *re.findall(r"\[(.*?)\]|\((.*)\)", code),
        ]:
            part = part if isinstance(part, str) else part[0] or part[1]
            if len(part) > 7 and part not in shown:
                assert part not in said, f"{line} is given away"


@each
def test_every_piece_of_advice_leads_to_a_hint(exercise):
    for word in ("goal", "mistake", "source", "question"):
        for section in exercise.sections(word):
            assert section.getint("hint") in (1, 2, 3)
            assert word == "question" or 20 < len(section["say"]) < 500


@each
def test_there_is_something_to_say_after_it(exercise):
    assert len(exercise.after("why")) > 60
    assert exercise.after("further").startswith("Going further: ")


def test_costs_before_and_after(classroom):
    exercise = classroom.named("bank_conflicts")
    costs = classroom.grade.costs(classroom.held, exercise, exercise.solution)
    seen = {name: (before, after) for name, before, after in costs}
    before, after = seen["no bank conflicts"]
    assert before > 0 and after == 0
    # A skeleton whose results are wrong has no costs that could be compared.
    exercise = classroom.named("tile")
    costs = classroom.grade.costs(classroom.held, exercise, exercise.solution)
    assert {before for _, before, _ in costs} == {None}


def test_list_of_exercises_is_complete(classroom):
    page = (ROOT / "exercises" / "README.md").read_text()
    teaching = (ROOT / "exercises" / "TEACHING.md").read_text()
    for exercise in classroom.all():
        assert f"[{exercise.number} {exercise.title}]({exercise.name}/README.md)" in page
        assert re.search(
            rf"^\| {exercise.number} \|.*\| {exercise.points} \|", teaching, re.M
        )
    numbers = [exercise.number for exercise in classroom.all()]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 14


# ---- cheating ----

CHEATS = sorted((ATTEMPTS / "cheats").glob("*.cu"))


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda path: path.stem)
def test_cheat_does_not_pass(cheat, classroom):
    number, words = expected_of(cheat)
    if "// NEEDS BOX" in cheat.read_text() and not classroom.held.box:
        pytest.skip("no namespaces here: the compiler reads what its user may read")
    verdict = classroom.verdict(classroom.numbered(number), cheat)
    assert not verdict.passed and verdict.points <= verdict.of / 3
    assert words in verdict.feedback, verdict


def expected_of(cheat):
    """The exercise's number, and words of the feedback."""
    return re.search(r"^// EXERCISE (\d+) EXPECT (.*)$", cheat.read_text(), re.M).groups()


@pytest.mark.parametrize(
    "source",
    [
        "#include <cuda.h>\n#include <cstdio>\n#include <cmath>\n#include <stdlib.h>",
        "#include <string.h>\n#include <algorithm>\n#include <vector>",
        "static int read(int open) { return open + 1; }\nint write = read(1);",
        '#include <stdio.h>\nvoid say() { fprintf(stderr, "%d\\n", 1); }',
        "#include <assert.h>\n__device__ void f(int i) { assert(i > 0); }",
        "#define JOIN(a, b) a##b\nint JOIN(sys, call) = 1;",
        "int main() { return 0; }",
        "struct größe { float Δ; };\nint ψ = 0; // }{",
        # The assembler prints it where the program is to come.
        'asm(".print \\"hello\\"");',
    ],
)
def test_what_people_write_is_accepted(classroom, source, tmp_path):
    exercise = classroom.numbered(1)
    file = tmp_path / "file.cu"
    file.write_text(f"{source}\n{exercise.solution.read_text()}")
    verdict = classroom.verdict(exercise, file)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    "source, words",
    [
        # A hundred thousand letters of the student's own, for a cell of a spreadsheet.
        (f'static_assert(false, "{"x" * 100000}");', "static assertion failed: xxx"),
        ("#define float double", "The compiler stops in cuda_fp16.h, line"),
        (
            "int i = 0\nint j = 1;",
            "belongs before that: perhaps at the end of a line above",
        ),
    ],
)
def test_what_the_compiler_says_is_told_in_brief(classroom, source, words, tmp_path):
    exercise = classroom.numbered(1)
    file = tmp_path / "file.cu"
    file.write_text(f"{source}\n{exercise.solution.read_text()}")
    verdict = classroom.verdict(exercise, file)
    assert verdict.status == "compile" and words in verdict.feedback, verdict
    assert len(verdict.feedback) < 3000


def test_a_missing_include_is_named(classroom, tmp_path):
    exercise = classroom.numbered(1)
    file = tmp_path / "file.cu"
    solution = exercise.solution.read_text()
    file.write_text(solution.replace('"exercise.h"', "<cuda_runtime.h>"))
    verdict = classroom.verdict(exercise, file)
    assert verdict.status == "compile", verdict
    assert '`#include "exercise.h"` is missing' in verdict.feedback


# A kernel of exercise 1's, in which every thread has a word to say before its result.
SAYING = """
#include "exercise.h"
#include <stdio.h>
#include <string.h>
__device__ char text[8];
__global__ void axpy_kernel(int n, float a, const float *x, const float *y, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t one = blockDim.x / n + 1;
    int number = (int)one;
    if (i == 0)
        *(volatile char *)text = 'x';
    else
        SAY;
    out[i] = a * x[i] + y[i] + (number == 77777);
}
void axpy(int n, float a, const float *x, const float *y, float *out)
{
    axpy_kernel<<<n / 256, 256>>>(n, a, x, y, out);
}
"""


@pytest.mark.parametrize(
    "said, words",
    [
        *(
            (said, "data race in global memory")
            for said in (
                "number = strlen(text)",
                "number = strcmp(text, (const char *)&number)",
                "number = strcmp((const char *)&number, text)",
                "number = memcmp(text, &number, one)",
                "number = memcmp(&number, text, one)",
                'printf("%s", text)',
                "printf(text)",
                "memcpy(&number, text, one)",
                "memset(text, 0, one)",
                "frexpf(a, (int *)text)",
            )
        ),
        *(
            (said, "which is for the host, called by a kernel")
            for said in (
                "cudaGetDevice(&number)",
                "cudaDeviceGetAttribute((int *)out, cudaDevAttrWarpSize, 0)",
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, axpy_kernel, 32, 0)",
                "cudaFuncSetAttribute(axpy_kernel, (cudaFuncAttribute)8, 1024)",
                "cudaGetLastError()",
                "cudaPeekAtLastError()",
                "number = cudaGetErrorName(cudaSuccess)[0]",
                "number = cudaGetErrorString(cudaSuccess)[0]",
                "cudaDeviceSynchronize()",
            )
        ),
        *(
            (f'printf("{form}", 1)', "texts of another kind")
            for form in ("%ls", "%zs", "%js", "%ts", "%qs", "%-9.3lls", "%lc", "%zc")
        ),
    ],
)
def test_what_a_kernel_has_done_for_it_is_seen(classroom, tmp_path, said, words):
    source = tmp_path / "exercise.cu"
    source.write_text(SAYING.replace("SAY", said))
    verdict = classroom.verdict(classroom.numbered(1), source)
    assert verdict.status == "fault" and words in verdict.feedback, verdict


def test_the_lens_sees_every_block(classroom, tmp_path, monkeypatch):
    settings = (ROOT / "emulator" / "src" / "base" / "settings.c").read_text()
    grade = classroom.grade
    assert int(re.search(r"\bMANY = (\d+)", settings)[1]) == grade.ALL_BLOCKS
    monkeypatch.setattr(grade, "ALL_BLOCKS", 2)
    exercise = classroom.named("thread_tiling_1d")
    verdict = classroom.verdict(exercise, exercise.solution)
    assert (verdict.status, verdict.points) == ("limit", 0)
    assert re.search(r"the lens saw \d+ of \d+: launch fewer", verdict.feedback)


def test_the_lens_has_room_for_any_number_of_places(classroom, tmp_path):
    exercise = classroom.named("warp_shuffle")
    loads = "sum += 0.0f * *(const volatile float *)A;\n" * 4500
    text = exercise.solution.read_text().replace(
        "    // Bring the 32 sums",
        f"    if (blockIdx.x == 0) {{\n{loads}    }}\n    // Bring",
    )
    source = tmp_path / "exercise.cu"
    source.write_text(text)
    verdict = classroom.verdict(exercise, source)
    assert verdict.status == "goal" and "All results are right" in verdict.feedback


def test_bulk_copies_count_as_fetched(classroom, open_folder):
    exercise = classroom.named("mbarriers")
    grading = classroom.grade.Grading(
        classroom.held, exercise, exercise.solution, open_folder, 1
    )
    grading.keep_source()
    grading.compile()
    shapes = classroom.tasks.draw_shapes(exercise, "lens", grading.dice)
    names, _ = grading.measured(shapes)
    assert names["fetched"] >= names["bulk_words"] > 0 == names["load_lanes"]
    assert names["sectors_in"] >= names["bulk_words"] / 8


LATIN_1 = b"// f\374r M\374cke\n"


def test_a_comment_in_another_code_is_no_trouble(classroom, tmp_path):
    exercise = classroom.numbered(1)
    source = tmp_path / "exercise.cu"
    source.write_bytes(LATIN_1 + exercise.solution.read_bytes())
    assert classroom.verdict(exercise, source).passed
    costs = classroom.grade.costs(classroom.held, exercise, source)
    assert all(after is not None for _, _, after in costs)


ENORMOUS = b"static char array[1ull << 33]; char *touched() { return array; }"


def test_odd_files_are_refused(classroom, tmp_path):
    exercise = classroom.all()[0]
    fifo, link, large = tmp_path / "fifo", tmp_path / "link", tmp_path / "large"
    os.mkfifo(fifo)
    link.symlink_to(exercise.solution)
    large.write_text("//" + "x" * classroom.grade.LARGEST_SOURCE)
    for odd in (fifo, link, large, tmp_path, tmp_path / "missing"):
        assert classroom.verdict(exercise, odd).status == "refused"
    source = tmp_path / "source.cu"
    for data, status, words in (
        (b"", "refused", "empty"),
        (b"\n // nothing yet\n", "compile", "axpy"),
        (exercise.solution.read_bytes() + ENORMOUS, "limit", "would be too large"),
        (b"int x = y;", "compile", "line 1"),
        (b"PK\3\4\0\0", "refused", "zip"),
        (b"\x7fELF\0", "refused", "compiled"),
        (b"\0\377", "refused", "binary"),
        (b"\0\0\0\0", "refused", "binary"),
        ("int x;".encode("utf-16"), "refused", "UTF-16"),
        ("int x;".encode("utf-16-le"), "refused", "save it as UTF-8"),
        ("int x;".encode("utf-16-be"), "refused", "UTF-16"),
        (b"\377\376 x", "compile", "compile"),
    ):
        source.write_bytes(data)
        verdict = classroom.verdict(exercise, source)
        assert verdict.status == status and words in verdict.feedback, verdict


# ---- the box ----

# Each ends with 0 only if it has got what it wanted.
HOSTILE = {
    "fork bomb": "for (;;) fork();",
    "fork bomb that leaves its group": "for (;;) if (!fork()) setsid();",
    "a child that stays": "if (!fork()) { setsid(); for (;;) pause(); } return 0;",
    "endless": "for (;;) ;",
    "asleep": "for (;;) pause();",
    "memory": "for (;;) { char *p = malloc(1 << 20); if (!p) return 9; memset(p, 1, 1 << 20); }",
    "output": 'for (;;) if (fputs("0123456789", stdout) < 0) return 9;',
    "files": "for (int i = 0; i < 100000; i++) if (dup(1) < 0) return 9;",
    "crash": "raise(SIGSEGV);",
}
# What only the box holds back.
BOXED = {
    "the parent": "return getppid() > 1 && kill(getppid(), 0) == 0 ? 0 : 9;",
    "any process": "return kill(-1, 0) == 0 ? 0 : 9;",
    "the network": "struct sockaddr_in a = {AF_INET, htons(PORT), {htonl(0x7f000001)}};"
    "int s = socket(AF_INET, SOCK_STREAM, 0); return connect(s, (void *)&a, sizeof a) ? 9 : 0;",
    "the users": 'return access("/etc/passwd", F_OK) ? 9 : 0;',
    "the class": "return access(CLASS, F_OK) ? 9 : 0;",
    "the temporary files": "return access(TEMPORARY, F_OK) ? 9 : 0;",
    "shared memory": 'return access("/dev/shm", F_OK) ? 9 : 0;',
    "a place to stay": 'return open("/usr/mine", O_CREAT | O_WRONLY, 0600) < 0 &&'
    ' open("/mine", O_CREAT | O_WRONLY, 0600) < 0 ? 9 : 0;',
    "the input": 'return open("input", O_WRONLY) < 0 && unlink("input") ? 9 : 0;',
    "much space": 'int f = open("/tmp/large", O_CREAT | O_WRONLY, 0600); char b[1 << 16] = {0};'
    "signal(SIGXFSZ, SIG_IGN);"
    'for (int i = 0; i < 20; i++) { char n[20]; sprintf(n, "/tmp/f%d", i);'
    " f = open(n, O_CREAT | O_WRONLY, 0600);"
    " for (int j = 0; j < 900; j++) if (write(f, b, sizeof b) < 0) return 9; } return 0;",
    "more rights": "return setuid(0) ? 9 : 0;",
    "other file systems": 'return mount("none", "/tmp", "tmpfs", 0, "") ? 9 : 0;',
    "the tools": 'return open("/tools/tool", O_WRONLY) < 0 ? 9 : 0;',
}
HEADERS = (
    "stdio stdlib string unistd signal errno fcntl arpa/inet sys/socket sys/mount".split()
)
ORDINARY_USER = 60999
# What never ends is cut off soon. To all others a busy machine gives time: they end by themselves.
ENDLESS = ("fork bomb", "fork bomb that leaves its group", "endless", "asleep")
SOON, IN_TIME = (1, 4), (60, 20)  # seconds of processor time, and patience


@pytest.fixture
def open_folder():
    """A folder that other users can reach: pytest closes its own to them."""
    with tempfile.TemporaryDirectory(prefix="classroom-") as folder:
        os.chmod(folder, 0o711)
        yield Path(folder)


def users():
    """Ourselves, and an ordinary user where we can be one."""
    return [None, ORDINARY_USER] if os.getuid() == 0 else [None]


def compile_hostile(body, folder, **names):
    source = folder / "hostile.c"
    headers = "".join(f"#include <{h}.h>\n" for h in HEADERS)
    defined = "".join(f"#define {n} {value}\n" for n, value in names.items())
    source.write_text(f"{headers}{defined}int main(void) {{ {body} }}\n")
    assert run(["cc", "-w", source, "-o", folder / "hostile"]).returncode == 0


RUN_HOSTILE = """
import os, sys; sys.dont_write_bytecode = True
grader, folder, tool, tools, user, seconds, patience = sys.argv[1:]
sys.path.insert(0, grader); import sandbox
if user != "-": os.setgid(int(user)); os.setuid(int(user))
sandbox.give_to_spare_user(folder)
box = sandbox.find_box(tool) if tool != "-" else None
if tool != "-" and not box: sys.exit("no box")
limits = sandbox.Limits(seconds=int(seconds), patience=int(patience), memory_mb=512)
words = ["./hostile"]
ended = sandbox.run(words, folder, box=box, reads=["hostile", "input"], tools=tools, limits=limits)
spare = sandbox.spare_user()  # ours alone; zombies that process 1 does not wait for are its, too
its = {pid for pid, (_, owner, _) in sandbox.processes().items() if owner == spare}
print(ended.code, ended.too_long, len(sandbox.descendants() | its))
"""


def box_tools(classroom):
    """What can make a box: bubblewrap, where it is installed, and contain."""
    return [
        path
        for path in (shutil.which("bwrap"), classroom.held.folder / "contain")
        if path
    ]


@functools.cache
def listener():
    server = socket.create_server(("127.0.0.1", 0), backlog=100)
    assert socket.create_connection(server.getsockname())
    return server


def listening():
    """A port of this machine on which somebody answers."""
    return listener().getsockname()[1]


def python_for_all():
    """A Python that an ordinary user can start, too: root's may lie in root's folder."""
    for name in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        command = [name, "-c", "import os; os.setuid(60999); import argparse, json"]
        if os.getuid() != 0 or (Path(name).exists() and run(command).returncode == 0):
            return name
    pytest.skip("no Python here that an ordinary user can start")


def run_hostile(classroom, body, folder, tool, user):
    """Returns the exit code, whether it was cut off, and the processes left."""
    box, tools = folder / "box", folder / "tools"
    box.mkdir(exist_ok=True)
    tools.mkdir(exist_ok=True)
    (tools / "tool").touch()
    (box / "input").touch()
    (folder / "class").touch()
    names = {"CLASS": f'"{folder}/class"', "TEMPORARY": f'"{box}"', "PORT": listening()}
    compile_hostile(body, box, **names)
    if user:
        os.chown(box, user, user)
    words = [classroom.folder, box, tool or "-", tools, user or "-"]
    words += SOON if body in [HOSTILE[name] for name in ENDLESS] else IN_TIME
    result = run([python_for_all(), "-c", RUN_HOSTILE, *words], env=no_cuda())
    if "no box" in result.stderr:
        pytest.skip(f"{tool} can make no namespaces here")
    assert result.returncode == 0, result.stderr
    code, too_long, left = result.stdout.split()
    return int(code), too_long == "True", int(left)


@pytest.mark.parametrize("name", HOSTILE)
def test_limits_hold(name, classroom, open_folder):
    for number, user in enumerate(users()):
        folder = open_folder / str(number)
        folder.mkdir()
        code, too_long, left = run_hostile(classroom, HOSTILE[name], folder, None, user)
        assert left == 0
        assert code != 0 or name == "a child that stays"
        assert too_long or name not in ("endless", "asleep")


@pytest.mark.parametrize("name", [*HOSTILE, *BOXED])
def test_box_holds(name, classroom, open_folder):
    for number, tool in enumerate(box_tools(classroom)):
        for user in users():
            folder = open_folder / f"{number}{user}"
            folder.mkdir()
            body = {**HOSTILE, **BOXED}[name]
            code, too_long, left = run_hostile(classroom, body, folder, tool, user)
            assert left == 0
            assert code != 0 or name == "a child that stays"
            assert code == 9 or name in HOSTILE


def test_box_has_what_programs_need(classroom, open_folder):
    """The tests above must not pass because nothing runs there."""
    for number, tool in enumerate(box_tools(classroom)):
        for user in users():
            folder = open_folder / f"{number}{user}"
            folder.mkdir()
            body = (
                'FILE *f = fopen("/tmp/mine", "w"); if (!f || fputs("x", f) < 0) return 1;'
                'return access("input", R_OK) || access("/tools/tool", R_OK) ? 2 : 0;'
            )
            assert run_hostile(classroom, body, folder, tool, user)[0] == 0


@pytest.mark.parametrize("tool", ["contain", "bwrap"])
def test_no_program_speaks_for_the_box(classroom, open_folder, tool):
    """It is not "could not be graded" because its text begins as the tool's messages do."""
    body = f'fputs("{tool}: no namespaces\\n", stderr); return 125;'
    for number, path in enumerate(box_tools(classroom)):
        folder = open_folder / str(number)
        folder.mkdir()
        assert run_hostile(classroom, body, folder, path, None)[0] == 125


# ---- strangers ----

HONEST = "honest"
GRADE_CLASS = """
import os, sys; sys.dont_write_bytecode = True
grader, user, box, *words = sys.argv[1:]
sys.path.insert(0, grader)
if user != "-": os.setgroups([]); os.setgid(int(user)); os.setuid(int(user))
import classroom, sandbox
if box == "none": sandbox.find_box = lambda *tools: None
sys.argv[1:] = words
sys.exit(classroom.main())
"""


def grade_class(copy, user, words, box="any"):
    command = [python_for_all(), "-c", GRADE_CLASS, copy / "exercises", user or "-", box]
    return run([*command, *words], env={**no_cuda(), "HOME": str(copy)})


def files_under(folder):
    """Every file and what is in it: what a submission could have changed."""
    return {
        str(path): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and "feedback" not in path.parts
        and not path.name.startswith("grades")
    }


@pytest.fixture(
    scope="module",
    params=at_length(users(), lambda user: user != users()[-1]),
    ids=lambda user: str(user or "us"),
)
def class_copy(classroom, request):
    """A project of a teacher's own, built, whom it belongs to, and a folder for a class."""
    with tempfile.TemporaryDirectory(prefix="classroom-") as teacher:
        os.chmod(teacher, 0o711)
        copy, folder = Path(teacher, "project"), Path(teacher, "class")
        shutil.copytree(classroom.tasks.FOLDER.parent, copy, symlinks=True)
        folder.mkdir()
        if request.param:
            for path in [copy.parent, *copy.parent.rglob("*")]:
                os.chown(path, request.param, request.param, follow_symlinks=False)
        yield copy, request.param, folder


@pytest.mark.long
def test_a_class_of_cheats(class_copy, classroom):
    """Each cheat is a student's; between them one is honest. No cheat gains a point, changes a
    file, leaves a process, or costs the honest one anything."""
    copy, user, folder = class_copy
    honest = classroom.numbered(1)
    slow = ("bomb", "endless")  # they have a test each
    cheats = [path for path in CHEATS if not any(word in path.stem for word in slow)]
    for cheat in cheats:
        student = folder / cheat.stem
        student.mkdir()
        shutil.copy(cheat, student / f"exercise{expected_of(cheat)[0]}.cu")
        student.chmod(0o755)
    (folder / HONEST).mkdir()
    shutil.copy(honest.solution, folder / HONEST / "exercise1.cu")
    secret = folder / HONEST / ".secret"
    secret.write_text("the answers")
    secret.chmod(0o600)
    if user:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, user, user)
    before = files_under(copy / "exercises"), files_under(folder)
    words = ["submissions", folder, "--out", copy.parent / "out", "--jobs", "2"]
    result = grade_class(copy, user, words)
    if "cannot contain" in result.stderr:
        assert result.returncode == 3 and len(result.stderr.splitlines()) == 1
        pytest.skip(result.stderr)
    assert result.returncode == 0, result.stdout + result.stderr
    assert (files_under(copy / "exercises"), files_under(folder)) == before
    assert not list(Path("/tmp").glob("i-was-here"))
    students = json.loads((copy.parent / "out" / "grades.json").read_text())["students"]
    assert students.pop(HONEST)["points"] == honest.points
    assert len(students) == len(cheats)
    rows = [row for entry in students.values() for row in entry["exercises"]]
    assert not any(row["passed"] or row["points"] > row["of"] / 3 for row in rows)
    written = (copy.parent / "out").rglob("*")
    assert not any(b"\033" in path.read_bytes() for path in written if path.is_file())
    assert "\033" not in result.stdout


def test_without_a_box_strangers_are_not_graded(class_copy, classroom):
    copy, user, _ = class_copy
    folder = copy.parent / "a class"
    (folder / "ada").mkdir(parents=True)
    shutil.copy(classroom.numbered(1).solution, folder / "ada" / "exercise1.cu")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
        if user:
            os.chown(path, user, user)
    result = grade_class(copy, user, ["submissions", folder], box="none")
    assert result.returncode == 3
    (line,) = result.stderr.splitlines()
    assert "cannot contain" in line and "TRUST=1" in line
    assert not (folder / "grades.csv").exists()
    result = grade_class(copy, user, ["submissions", folder, "--trust"], box="none")
    assert result.returncode == 0 and "1/1" in result.stdout, result.stderr
    own = ["grade", "1", "--source", folder / "ada" / "exercise1.cu"]
    assert grade_class(copy, user, own, box="none").returncode == 0


def test_a_judge_that_was_replaced_is_made_again(class_copy):
    copy, user, _ = class_copy
    judge = copy / "build" / "exercises" / "judge"
    assert grade_class(copy, user, ["grade", "1"]).returncode == 1
    judge.write_text("#!/bin/sh\necho '{\"ok\": true}'\n")
    os.utime(judge, (2**31, 2**31))
    assert grade_class(copy, user, ["grade", "1"]).returncode == 1
    assert judge.read_bytes().startswith(b"\x7fELF")


def test_a_dead_worker_costs_its_submission_alone(classroom):
    workers = importlib.import_module("workers")

    def work(job):
        if job % 3 == 0:
            os._exit(1)
        return job * job

    results = dict(workers.each(work, list(range(20)), 3))
    assert results == {job: None if job % 3 == 0 else job * job for job in range(20)}


# ---- the commands ----


@pytest.fixture(scope="module")
def own_copy(classroom, tmp_path_factory):
    """A copy of the project, built, in which progress can be made."""
    copy = tmp_path_factory.mktemp("own") / "project"
    shutil.copytree(classroom.tasks.FOLDER.parent, copy, symlinks=True)
    return copy


def test_a_product_is_run_as_a_chapter_is(own_copy):
    exercise = own_copy / "exercises" / "03_coalesce"
    skeleton = (exercise / "exercise.cu").read_text()
    shutil.copy(exercise / "solution.cu", exercise / "exercise.cu")
    result = make(own_copy, "time3", "EMULATOR=1", "SHAPE=33 45 17")
    (exercise / "exercise.cu").write_text(skeleton)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\nPASS\n") == 2
    assert result.stdout.count("M = 33, N = 45, K = 17") == 2
    # What it leaves out is told, not where the check came upon it.
    (exercise / "exercise.cu").write_text(skeleton.replace("C[row * N + col] =", "acc ="))
    result = make(own_copy, "time3", "EMULATOR=1", "SHAPE=33 45 17")
    (exercise / "exercise.cu").write_text(skeleton)
    assert result.returncode == 2 and "these elements were never written" in result.stdout
    refused = make(own_copy, "time1", "EMULATOR=1")
    assert "only matrix products are timed" in refused.stderr


def make(copy, *words):
    return run(["make", "-s", "-C", copy, *words], env=no_cuda())


def test_a_students_way(own_copy):
    first = own_copy / "exercises" / "01_map_threads"
    skeleton = (first / "exercise.cu").read_text()
    result = make(own_copy, "exercise1")
    assert "NOT YET" in result.stdout and "make hint1" in result.stdout
    assert result.returncode == 0 and result.stderr == ""
    assert "Hint 1" in make(own_copy, "hint1").stdout
    assert "Hint 2" in make(own_copy, "hint1").stdout
    assert "Hint 3" in make(own_copy, "hint1", "LEVEL=3").stdout
    hidden = make(own_copy, "solution1")
    assert hidden.stderr == "" and "blockDim.x +" not in hidden.stdout
    shown = make(own_copy, "solution1", "FORCE=1")
    assert shown.returncode == 0 and "blockDim.x +" in shown.stdout
    assert "BEGIN" not in shown.stdout and "//-" not in shown.stdout
    (first / "exercise.cu").write_text(shown.stdout)
    result = make(own_copy, "exercise1")
    assert (
        result.returncode == 0
        and "PASS" in result.stdout
        and "02_guard_the_edge" in result.stdout
    )
    assert make(own_copy, "solution1").returncode == 0
    listed = make(own_copy, "exercises")
    assert listed.returncode == 0, listed.stderr
    assert re.search(r"^ +1 +passed +5 of 5", listed.stdout, re.M)
    assert re.search(r"^ +2 +not begun", listed.stdout, re.M)
    assert make(own_copy, "reset1").returncode == 0
    assert (first / "exercise.cu").read_text() == skeleton
    (kept,) = first.glob("exercise.2*.cu")
    assert kept.read_text() == shown.stdout
    ignored = (own_copy.parent / "repo", kept.relative_to(own_copy))
    if shutil.which("git"):
        run(["git", "init", "-q", ignored[0]])
        shutil.copy(ROOT / ".gitignore", ignored[0])
        asked = run(
            [
                "git",
                "-C",
                ignored[0],
                "check-ignore",
                ignored[1],
                ignored[1].with_name("exercise.cu"),
            ]
        )
        assert asked.stdout == f"{ignored[1]}\n"
    kept.unlink()


def test_a_comment_in_another_code_is_a_beginning(own_copy):
    """The commands that ask whether an exercise was begun, and what it cost before."""
    first = own_copy / "exercises" / "01_map_threads"
    skeleton = (first / "exercise.cu").read_bytes()
    (first / "exercise.cu").write_bytes(LATIN_1 + (first / "solution.cu").read_bytes())
    for words in (["exercise1"], ["exercises"], ["reset1"]):
        result = make(own_copy, *words)
        assert result.returncode == 0 and result.stderr == "", result.stderr
    assert (first / "exercise.cu").read_bytes() == skeleton
    (kept,) = first.glob("exercise.2*.cu")
    assert kept.read_bytes().startswith(LATIN_1)
    kept.unlink()


def test_progress_survives(own_copy):
    """What is unknown is kept for the version that knows it; what is unreadable is put aside."""
    progress = own_copy / ".progress.json"
    progress.write_text(
        '{"exercises": {"99_of_tomorrow": {"passed": "2030-01-01", "mood": 7}}}'
    )
    make(own_copy, "exercise2")
    kept = json.loads(progress.read_text())["exercises"]
    assert kept["99_of_tomorrow"] == {"passed": "2030-01-01", "mood": 7}
    assert kept["02_guard_the_edge"]["attempts"] == 1
    progress.write_text("{")
    assert "NOT YET" in make(own_copy, "exercise2").stdout
    assert (own_copy / ".progress.unreadable").read_text() == "{"


def test_exit_codes(own_copy):
    script = own_copy / "exercises" / "classroom.py"
    solution = own_copy / "exercises" / "01_map_threads" / "solution.cu"

    def code(*words):
        return run([sys.executable, "-B", script, *words], env=no_cuda()).returncode

    assert code("grade", "1", "--source", solution) == 0
    assert code("grade", "2") == 1
    assert (
        code("grade", "99")
        == code("hint", "1", "4")
        == code("submissions", own_copy / "none")
        == 2
    )
    assert code("nonsense") == code("all", "--jobs", "0") == 2
    lost = run(
        [sys.executable, "-B", script, "grade", "1", "--source", "no.cu"], env=no_cuda()
    )
    assert lost.returncode == 2 and lost.stderr == "no.cu is not there\n"
    for out in (solution, "/proc/x", "/dev/full/x"):
        words = ["submissions", solution.parent.parent, "--out", out]
        lost = run([sys.executable, "-B", script, *words], env=no_cuda())
        assert lost.returncode == 2 and lost.stderr.count("\n") == 1, lost.stderr
        assert f"{out} can hold no grades" in lost.stderr
    closed = f"make -s -C {own_copy} exercise2 >&-"
    lost = run(["sh", "-c", closed], env=no_cuda())
    assert "stdout is closed" in lost.stderr and "Error 3" in lost.stderr
    (own_copy / "emulator" / "bin" / "nvcc").rename(
        own_copy / "emulator" / "bin" / "away"
    )
    try:
        assert code("grade", "1", "--source", solution) == 3
    finally:
        (own_copy / "emulator" / "bin" / "away").rename(
            own_copy / "emulator" / "bin" / "nvcc"
        )


def test_watch_grades_on_every_save(own_copy):
    (own_copy / ".progress.json").unlink(missing_ok=True)
    source = own_copy / "exercises" / "01_map_threads" / "exercise.cu"
    skeleton = source.read_text()
    command = [
        sys.executable,
        "-B",
        "-u",
        own_copy / "exercises" / "classroom.py",
        "watch",
    ]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=no_cuda())
    timer = threading.Timer(HANGS, watching.kill)
    timer.start()
    seen = []

    def until(words):
        for line in watching.stdout:
            seen.append(line)
            if words in line:
                return
        pytest.fail("".join(seen))

    try:
        until("Progress")
        assert any("Not begun" in line for line in seen)
        source.write_text(skeleton + "\n// A change.\n")
        until("NOT YET")
        source.unlink()
        until("make reset1 brings the skeleton back")
        source.write_text(source.with_name("solution.cu").read_text())
        until("PASS")
        until("Exercise 2")
    finally:
        timer.cancel()
        watching.terminate()
        watching.communicate()
        source.write_text(skeleton)


def test_watch_listens_to_keys(own_copy):
    """In a terminal of its own."""
    need_terminals()
    (own_copy / ".progress.json").unlink(missing_ok=True)
    master, slave = os.openpty()
    script = own_copy / "exercises" / "classroom.py"
    command = [sys.executable, "-B", "-u", script, "watch"]
    watching = subprocess.Popen(
        command, stdin=slave, stdout=slave, env={**no_cuda(), "TERM": "xterm"}
    )
    os.close(slave)
    timer = threading.Timer(HANGS, watching.kill)
    timer.start()
    seen = ""
    try:
        for key, words in (
            ("", "q quit"),
            ("h", "Hint 1"),
            ("h", "Hint 2"),
            ("l", "beat chapter 5"),
            ("n", "Exercise 2: edit"),
            ("q", None),
        ):
            os.write(master, key.encode())
            while words and words not in seen:
                seen += os.read(master, 4096).decode(errors="replace")
            seen = ""
        assert watching.wait() == 0
    finally:
        timer.cancel()
        watching.kill()
        watching.wait()
        os.close(master)


def test_a_folder_of_submissions(own_copy, classroom, tmp_path):
    """Whatever one submission does, the others are graded."""
    exercises = {e.number: e for e in classroom.all()}
    folder, out = tmp_path / "my class", tmp_path / "the grades"
    good, odd, strange = folder / "good", folder / "odd", folder / "=SUM(A1)\033[2J\n"
    (good / exercises[1].name).mkdir(parents=True)
    (good / "exercises" / exercises[3].name).mkdir(parents=True)
    shutil.copy(exercises[1].solution, good / exercises[1].name / "exercise.cu")
    shutil.copy(exercises[2].solution, good / "exercise2.cu")
    shutil.copy(
        exercises[3].solution, good / "exercises" / exercises[3].name / "exercise.cu"
    )
    odd.mkdir()
    shutil.copy(ATTEMPTS / "cheats" / "crash.cu", odd / f"{exercises[1].name}.cu")
    shutil.copy(exercises[2].source, odd / "exercise02.cu")
    (odd / "exercise3.cu").symlink_to("/etc/hostname")
    (odd / "late").mkdir()
    shutil.copy(exercises[4].solution, odd / "late" / "Exercise4 (1).cu")
    shutil.copy(exercises[5].solution, odd / "my work.cu")
    (odd / "all.zip").write_bytes(b"PK")
    (folder / "loose.cu").write_text("")
    (chapter,) = (own_copy / "chapters").glob("01_*/matmul.cu")
    shutil.copytree(chapter.parent, odd / "chapters" / chapter.parent.name)
    strange.mkdir()
    shutil.copy(exercises[1].solution, strange / "exercise1.cu")
    (folder / "__MACOSX" / "good").mkdir(parents=True)
    (folder / "__MACOSX" / "good" / "._exercise2.cu").touch()
    os.utime(good / "exercise2.cu", (2**31, 2**31))
    words = ["grade", f"SUBMISSIONS={folder}", f"OUT={out}", "DEADLINE=2037-01-01T12:00"]
    result = make(own_copy, *words)
    if "cannot contain" in result.stderr:
        pytest.skip(result.stderr)
    assert result.returncode == 0, result.stderr
    assert "20 of" in result.stdout and "\033" not in result.stdout
    assert re.search(rf"^{exercises[2].name} +1/3 ", result.stdout, re.M)
    named = re.findall("^Not graded, (.*): (.*)$", result.stdout, re.M)
    assert sorted(named) == [
        ("it is an archive: unpack it", "odd/all.zip"),
        ("it is in no student's folder", "loose.cu"),
        ("its name is no exercise's", "odd/my work.cu"),
    ]
    assert "Left out, as no file is in them: __MACOSX\n" in result.stdout
    assert exercises[8].name not in result.stdout  # nothing was handed in for it
    rows = list(csv.DictReader(open(out / "grades.csv")))
    assert len(rows) == 3 * len(exercises)
    status = {(row["student"], row["exercise"][:2]): row["status"] for row in rows}
    assert [status["good", number] for number in ("01", "02", "03", "04")] == [
        "passed"
    ] * 3 + ["missing"]
    assert [status["odd", number] for number in ("01", "02", "03", "04")] == [
        "fault",
        "wrong",
        "refused",
        "passed",
    ]
    assert all(
        cell[:1] not in "=+-@" or cell == "" for row in rows for cell in row.values()
    )
    (late,) = [row for row in rows if float(row["late_hours"]) > 0]
    assert (late["student"], late["exercise"]) == ("good", exercises[2].name)
    students = json.loads((out / "grades.json").read_text())["students"]
    points = sum(exercises[number].points for number in (1, 2, 3))
    assert students["good"]["points"] == points
    assert students["odd"]["points"] == exercises[4].points
    matrix = {row["student"]: row for row in csv.DictReader(open(out / "matrix.csv"))}
    assert matrix["good"]["1"] == str(exercises[1].points) and matrix["good"]["4"] == "-"
    assert matrix["good"]["points"] == str(points) and matrix["good"]["late"] == "1"
    feedback = (out / "feedback" / "odd.txt").read_text()
    assert "null pointer" in feedback and "PASS  exercise 4" in feedback
    assert "Nothing was handed in for exercises 5, 6, 7" in feedback
    # One is graded again, and what is known of the others stays.
    shutil.copy(exercises[2].solution, odd / "exercise02.cu")
    result = make(own_copy, *words, "STUDENT=odd", "EXERCISE=2")
    assert result.returncode == 0, result.stderr
    again = json.loads((out / "grades.json").read_text())["students"]
    assert again["odd"]["points"] == students["odd"]["points"] + exercises[2].points
    assert {k: v for k, v in again.items() if k != "odd"} == {
        k: v for k, v in students.items() if k != "odd"
    }
    empty = tmp_path / "empty"
    empty.mkdir()
    assert make(own_copy, "grade", f"SUBMISSIONS={empty}").returncode != 0


def test_grades_are_written_as_they_are_made(own_copy, classroom, tmp_path):
    """The grader is ended in the middle, without a word."""
    for i in range(12):
        (tmp_path / f"student{i:02}").mkdir()
        for number in (1, 2):
            solution = classroom.numbered(number).solution
            shutil.copy(solution, tmp_path / f"student{i:02}" / f"exercise{number}.cu")
    command = [sys.executable, "-B", own_copy / "exercises" / "classroom.py"]
    grading = subprocess.Popen(
        [*command, "submissions", tmp_path, "--trust"], env=no_cuda(), text=True
    )
    try:
        for _ in range(10 * HANGS):
            if (tmp_path / "grades.csv").exists() and (tmp_path / "grades.json").exists():
                break
            time.sleep(0.1)
    finally:
        grading.kill()
        grading.wait()
    rows = list(csv.DictReader(open(tmp_path / "grades.csv")))
    assert rows and {row["status"] for row in rows} <= {"passed", "missing"}
    assert json.loads((tmp_path / "grades.json").read_text())["students"]


@pytest.mark.parametrize(
    "path, number",
    [
        ("03_coalesce/exercise.cu", 3),
        ("exercises/03_coalesce/exercise.cu", 3),
        ("03_coalesce.cu", 3),
        ("exercise3.cu", 3),
        ("Exercise3.cu", 3),
        ("exercise03.CU", 3),
        ("exercise 3 (1).cu", 3),
        ("exercise_3_final.cu", 3),
        ("ex3.cu", 3),
        ("work/exercise3.cu", 3),
        ("exercise3.cu.txt", 3),
        ("ex3/main.cu", 3),
        ("exercise3/exercise.cu", 3),
        ("exercise33.cu", 33),
        ("exercises\\03_coalesce\\exercise.cu", 3),
        ("03_coalesce/solution.cu", None),
        ("03_coalesce/exercise.20260101-101010.cu", None),
        ("chapters/03_shared_memory/matmul.cu", None),
        ("exercise3.zip", None),
        ("notes.txt", None),
    ],
)
def test_names_of_files(classroom, path, number):
    claim = classroom.course.number_claimed(Path(path))
    assert (claim and claim[0]) == number


def test_the_most_exact_name_is_taken(classroom, tmp_path):
    for name in ("exercise3 (1).cu", "exercise3.cu", "ex3.cu"):
        (tmp_path / name).touch()
    chosen, odd = classroom.course.sorted_out(tmp_path)
    assert chosen == {3: tmp_path / "exercise3.cu"}
    assert {why for _, why in odd} == {"exercise3.cu is taken for exercise 3"}


def test_a_skeleton_comes_last(classroom, tmp_path):
    skeleton = tmp_path / "exercises" / "03_coalesce" / "exercise.cu"
    skeleton.parent.mkdir(parents=True)
    skeleton.write_text(classroom.numbered(3).skeleton)
    (tmp_path / "Exercise3 (1).cu").write_text("// mine")
    assert classroom.course.sorted_out(tmp_path)[0] == {3: tmp_path / "Exercise3 (1).cu"}


def test_no_file_vanishes(classroom, tmp_path):
    names = "exercise1 exercise2.cu.1 exercise3.cuh exercise4.cu.bak ex5.py 09_tile.rtf"
    for name in names.split():
        (tmp_path / name).touch()
    chosen, odd = classroom.course.sorted_out(tmp_path)
    assert not chosen and {path.name for path, _ in odd} == set(names.split())


def test_what_is_no_students_folder(classroom, tmp_path):
    for name in ("ada", "out", "last year"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "exercise1.cu").touch()
    (tmp_path / "last year" / "grades.json").touch()
    (tmp_path / "link").symlink_to("ada")
    _, students, odd = classroom.course.students_in(tmp_path, tmp_path / "out")
    assert [path.name for path in students] == ["ada"]
    assert {path.name for path, _ in odd} == {"last year", "link"}


@pytest.mark.parametrize(
    "text, cell",
    [
        ("a;=1+1", "a,=1+1"),
        ('a; "@x', 'a, "@x'),
        ("a;b", "a;b"),
        ("\uff1d1", "'\uff1d1"),
        ("-", "-"),
    ],
)
def test_no_cell_is_a_formula(classroom, text, cell):
    assert classroom.course.cell(text) == cell


def test_no_tree_of_folders_ends_the_grading(classroom, tmp_path):
    """One in another, more often than os.walk() can call itself."""
    deep = os.open(tmp_path, os.O_DIRECTORY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=deep)
        deeper = os.open("d", os.O_DIRECTORY, dir_fd=deep)
        os.close(deep)
        deep = deeper
    os.close(deep)
    (tmp_path / "d" / "exercise1.cu").touch()
    try:
        chosen, odd = classroom.course.sorted_out(tmp_path)
    finally:  # nor can pytest remove it
        run(["rm", "-rf", tmp_path / "d"])
    assert chosen == {1: tmp_path / "d" / "exercise1.cu"} and not odd


@pytest.mark.parametrize("name", ["grades.json", "grades.part", "matrix.csv"])
def test_a_student_named_as_the_grades_is_told_before_the_work(classroom, tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(classroom.course.Usage, match="is a folder; OUT="):
        classroom.course.make_folder(tmp_path)


def test_a_link_to_itself_costs_its_submission_alone(classroom, tmp_path):
    student = tmp_path / "ada"
    student.mkdir()
    link = student / "exercise1.cu"
    link.symlink_to(link)
    assert classroom.course.sorted_out(student)[0] == {1: link}
    job = (student, classroom.numbered(1), link)
    verdict = classroom.course.grade_submission(classroom.held, job)
    assert (verdict.status, verdict.points) == ("refused", 0)


def test_every_student_has_a_file_of_feedback(classroom):
    names = [
        "ada",
        "a da",
        "a:da",
        "a?da",
        "a_da",
        "a\nda",
        "\udcff",
        "\ufffd",
        "\u4e00" * 85,
    ]
    names += ["x" * 120 + end for end in "12"]
    files = [classroom.course.file_name_of(name) for name in names]
    assert len(set(files)) == len(names) and files[:2] == names[:2]
    assert all(len(file.encode()) < 200 and "/" not in file for file in files)


def test_what_cannot_be_compared_is_left_out(classroom, tmp_path):
    similar = classroom.similar
    large, link, plain_file = tmp_path / "large", tmp_path / "link", tmp_path / "plain"
    with open(large, "wb") as file:
        file.truncate(20 << 30)
    link.symlink_to(link)
    plain_file.write_bytes(LATIN_1)
    assert len(similar.text_of(large)) == similar.MOST_READ
    assert similar.text_of(link) is None and similar.text_of(tmp_path) is None
    assert similar.text_of(plain_file).startswith("// f")
    with unittest.mock.patch("builtins.open", side_effect=PermissionError):
        assert similar.text_of(plain_file) is None


@pytest.mark.parametrize("text", ['"\\', "/* ", "/*/", '"', "'\"", "\\\n", '"\\\n', "//"])
def test_tokens_are_found_without_looking_twice(classroom, text):
    """The last comes to nothing: the whole is read once, or it takes hours."""
    similar = classroom.similar
    long = text * (similar.MOST_READ // len(text))
    assert similar.TOKEN.sub("", long).strip() == ""
    similar.runs_of(long)


def test_tokens_of_strings_and_comments(classroom):
    found = classroom.similar.TOKEN.findall('a /* b */ "c\\" d" // e\n+= "f\ng /* h')
    assert found == ["a", "/* b */", '"c\\" d"', "// e", "+=", '"f', "g", "/* h"]


def test_right_predictions_are_no_copies(classroom, tmp_path):
    one, other = Path("one"), Path("other")
    (prediction, product) = (classroom.numbered(4), classroom.numbered(9))
    chosen = {exercise.number: exercise.solution for exercise in (prediction, product)}
    rows = []
    found = classroom.similar.write(
        tmp_path / "similar.csv",
        [prediction, product],
        {one: (chosen, []), other: (chosen, [])},
        lambda _, written: rows.extend(written),
    )
    assert found == 1 and rows[1][0] == product.name


def test_what_is_alike(classroom):
    exercise = classroom.named("thread_tiling_2d")
    solution = exercise.solution.read_text()
    renamed = re.sub(
        r"\ba_frag\b", "column", re.sub(r"\bthread_(row|col)\b", r"my_\1", solution)
    )
    other = classroom.named("thread_tiling_1d").solution.read_text()
    answers = {
        "ada": solution,
        "bob": f"// Mine.\n{renamed}",
        "eve": other,
        "dan": exercise.skeleton,
    }
    found = classroom.similar.pairs(answers, exercise.skeleton)
    assert [(first, second) for _, first, second, _ in found] == [("ada", "bob")]


# ---- the tests themselves ----

EDITS = """
from pathlib import Path
import pytest
WHAT = Path(__file__).resolve().parents[1] / "what"
def test_edits():
    WHAT.write_text("edited")
@pytest.mark.depends("what")
def test_what():
    pass
"""


def test_what_was_edited_meanwhile_is_tested_again(tmp_path):
    """What passed was the file as it was when the tests began."""
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    (tmp_path / "tests" / "test_edits.py").write_text(EDITS)
    (tmp_path / "what").write_text("as it was")
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    said = [run([*command, "tests"], cwd=tmp_path).stdout for _ in range(3)]
    assert ["passed before" in words for words in said] == [False, False, True], said
    assert all("2 passed, 0 failed" in words for words in said)
