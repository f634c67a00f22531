"""The classroom: what is right passes, what is wrong does not, and nobody talks it round."""

import collections
import csv
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading

import pytest

from conftest import ROOT, accept, for_real_nvcc, no_cuda, once, run, students_files

FOLDERS = sorted((ROOT / "exercises").glob("[0-9][0-9]_*"))
NAMES = [folder.name for folder in FOLDERS]
ATTEMPTS = ROOT / "tests" / "exercises"


@pytest.fixture(scope="session")
def classroom(project, shared_folder, emulated_nvcc):
    """The grader of the tests' copy of the project, ready. In that copy nobody has solved anything."""
    sys.path.insert(0, str(project / "exercises"))
    grader = importlib.import_module("grade")
    grader.tasks = importlib.import_module("tasks")
    with once(shared_folder / "skeletons-written") as first:
        for exercise in grader.all_exercises() if first else []:
            exercise.source.write_text(exercise.skeleton)
    grader.prepare()
    return grader


@pytest.fixture
def exercise(classroom, request):
    return classroom.tasks.load(classroom.FOLDER / request.param)


each = pytest.mark.parametrize("exercise", NAMES, indirect=True, ids=NAMES)


def attempts(name):
    """The wrong attempts at an exercise: (name, [(old, new)], [words of the feedback])."""
    found, group = [], []
    for line in [*(ATTEMPTS / f"{name}.txt").read_text().splitlines(), "== end"]:
        kind, rest = line[:1], line[1:]
        if line.startswith("== "):
            found.append((line[3:], [], []))
            group = []
        elif kind == "-":
            if not group or group[-1][0] == "+":
                group = []
                found[-1][1].append([[], []])
            group.append("-")
            found[-1][1][-1][0].append(rest)
        elif kind == "+":
            group.append("+")
            found[-1][1][-1][1].append(rest)
        elif kind == "?":
            found[-1][2].append(rest.strip())
    return found[:-1]


def changed(solution, replacements, what):
    for old, new in replacements:
        old, new = "\n".join(old), "\n".join(new)
        assert solution.count(old) == 1, (
            f"{what}: {solution.count(old)} places for\n{old}"
        )
        solution = solution.replace(old, new)
    return solution


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
    verdict = classroom.grade(exercise)
    assert not verdict.passed
    assert verdict.status in ("wrong", "fault", "goal"), verdict.feedback
    assert verdict.points == 0


@each
def test_solution_passes(exercise, classroom):
    verdict = classroom.grade(exercise, exercise.solution)
    assert verdict.passed, verdict
    assert verdict.points == verdict.of


@each
def test_wrong_attempts_are_told_what_is_wrong(exercise, classroom, tmp_path):
    solution, found = exercise.solution.read_text(), attempts(exercise.name)
    assert len(found) >= 5
    misjudged = []
    for name, replacements, words in found:
        source = tmp_path / "attempt.cu"
        source.write_text(changed(solution, replacements, name))
        # The same shapes in every test run: which mistake shows first can depend on them.
        verdict = classroom.grade(exercise, source, seed=len(name))
        kept_apart = verdict.status in ("wrong", "fault", "goal", "compile", "crash")
        if (
            not words
            or not kept_apart
            or any(word not in verdict.feedback for word in words)
        ):
            misjudged.append(f"{name}: {verdict}")
    assert not misjudged


@for_real_nvcc("kind", ["solution", "exercise"])
def test_is_genuine_cuda(kind, classroom, tmp_path):
    """All of them in one file, each in a namespace: starting nvcc takes longer than compiling."""
    words = ["#include <cuda_pipeline.h>", '#include "exercise.h"']
    functions = "axpy blur scale transpose row_sums matmul predict".split()
    for folder in FOLDERS:
        words += [f"#define {name} {name}_{folder.name}" for name in functions]
        source = classroom.FOLDER / folder.name / f"{kind}.cu"
        words += [f"namespace e{folder.name} {{", f'#include "{source}"', "}"]
        words += [f"#undef {name}" for name in functions]
    source = tmp_path / "all.cu"
    source.write_text("\n".join(words) + "\n")
    # A skeleton may declare what only the answer uses.
    unused = ["-diag-suppress=177,550"] if kind == "exercise" else []
    accept(source, tmp_path, "-arch=sm_80", "-I", ROOT / "exercises", *unused)


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


def test_list_of_exercises_is_complete(classroom):
    page = (ROOT / "exercises" / "README.md").read_text()
    teaching = (ROOT / "exercises" / "TEACHING.md").read_text()
    for exercise in classroom.all_exercises():
        assert f"[{exercise.number} {exercise.title}]({exercise.name}/README.md)" in page
        assert re.search(
            rf"^\| {exercise.number} \|.*\| {exercise.points} \|", teaching, re.M
        )
    numbers = [exercise.number for exercise in classroom.all_exercises()]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 14


# ---- cheating ----

CHEATS = sorted((ATTEMPTS / "cheats").glob("*.cu"))


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda path: path.stem)
def test_cheat_does_not_pass(cheat, classroom):
    number, words = re.search(
        r"^// EXERCISE (\d+) EXPECT (.*)$", cheat.read_text(), re.M
    ).groups()
    (exercise,) = [e for e in classroom.all_exercises() if e.number == int(number)]
    verdict = classroom.grade(exercise, cheat)
    assert not verdict.passed and verdict.points <= verdict.of / 3
    assert words in verdict.feedback, verdict


@pytest.mark.parametrize(
    "source",
    [
        "int f(void) { return system(0); }",
        'extern "C" int fork(void);',
        "#include <unistd.h>",
        "%:include <unistd.h>",
        "#include NAME",
        "int \\u0066ork();",
        "#define J(a, b) a %:%: b",
        'asm(".incbin \\"exercise.ini\\"");',
        "#pragma GCC system_header",
        "__device__ void f(float *a, float *b) { memcpy(a, b, 4); }",
        "__attribute__((constructor)) void f();",
        'const char *s = R"x(")x"; int n = getenv("");',
        "/* \\\n */ float *p; auto e = cudaMallocManaged(&p, 4);",
    ],
)
def test_refused(classroom, source):
    assert classroom.refusal(source)


@pytest.mark.parametrize(
    "source",
    [
        "// system(0), and a main idea\nint systems;",
        'const char *s = "fork"; // exit',
        "/* #include <unistd.h> */",
        "#define SQUARE(x) \\\n    ((x) * (x))",
        'const char c = \'\\n\'; const char *s = "\\"exit(0)\\"";',
        "#pragma unroll 4",
    ],
)
def test_not_refused(classroom, source):
    assert classroom.refusal(source) is None


def test_odd_files_are_refused(classroom, tmp_path):
    exercise = classroom.all_exercises()[0]
    fifo, link, large = tmp_path / "fifo", tmp_path / "link", tmp_path / "large"
    os.mkfifo(fifo)
    link.symlink_to(exercise.solution)
    large.write_text("//" + "x" * classroom.LARGEST_SOURCE)
    for odd in (fifo, link, large, tmp_path, tmp_path / "missing"):
        assert classroom.grade(exercise, odd).status == "refused"
    for text, words in (("", "axpy"), ("\0\377", "compile"), ("int x = y;", "line 1")):
        source = tmp_path / "source.cu"
        source.write_text(text)
        verdict = classroom.grade(exercise, source)
        assert verdict.status == "compile" and words in verdict.feedback, verdict


# ---- the sandbox ----

HOSTILE = {
    "fork bomb": "for (;;) fork();",
    "fork bomb that leaves its group": "for (;;) if (!fork()) setsid();",
    "a child that stays": "if (!fork()) { setsid(); for (;;) pause(); } return 0;",
    "endless": "for (;;) ;",
    "asleep": "for (;;) pause();",
    "memory": "for (;;) { char *p = malloc(1 << 20); if (!p) return 9; memset(p, 1, 1 << 20); }",
    "disk": 'for (;;) if (fputs("0123456789", stdout) < 0) return 9;',
    "files": "for (int i = 0; i < 100000; i++) if (dup(1) < 0) return 9;",
    "crash": "raise(SIGSEGV);",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_sandbox_contains(name, classroom, tmp_path):
    """Run by a grader of its own, as root and as an ordinary user where we can be both."""
    source = tmp_path / "hostile.c"
    headers = "".join(
        f"#include <{h}.h>\n" for h in "stdio stdlib string unistd signal".split()
    )
    source.write_text(f"{headers}int main(void) {{ {HOSTILE[name]} }}\n")
    folder = tmp_path / "box"
    folder.mkdir()
    assert run(["cc", "-w", source, "-o", folder / "hostile"]).returncode == 0
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.getuid() and parent.parts[-1:] != ("tmp",):
            parent.chmod(parent.stat().st_mode | 0o711)
    script = (
        "import os, sys; sys.dont_write_bytecode = True\n"
        "sys.path.insert(0, sys.argv[1]); import sandbox\n"
        "if sys.argv[3] != '-': os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[3]))\n"
        "limits = sandbox.Limits(seconds=1, memory_mb=512)\n"
        "ended = sandbox.run([sys.argv[2] + '/hostile'], sys.argv[2], limits)\n"
        "print(ended.code, ended.too_long, len(sandbox.descendants()))\n"
    )
    others = ["60999"] if os.getuid() == 0 and "fork" in HOSTILE[name] else []
    for user in ["-", *others]:
        result = run(
            [sys.executable, "-c", script, classroom.FOLDER, folder, user], env=no_cuda()
        )
        assert result.returncode == 0, result.stderr
        code, too_long, left = result.stdout.split()
        assert left == "0"
        if name != "a child that stays":
            assert code != "0"
        if name in ("endless", "asleep"):
            assert too_long == "True"


# ---- the commands ----


@pytest.fixture(scope="module")
def own_copy(classroom, tmp_path_factory):
    """A copy of the project, built, in which progress can be made."""
    copy = tmp_path_factory.mktemp("own") / "project"
    shutil.copytree(classroom.ROOT, copy, symlinks=True)
    return copy


def make(copy, *words):
    return run(["make", "-s", "-C", copy, *words], env=no_cuda())


def test_a_students_way(own_copy):
    first = own_copy / "exercises" / "01_map_threads"
    skeleton = (first / "exercise.cu").read_text()
    result = make(own_copy, "exercise1")
    assert (
        result.returncode != 0
        and "NOT YET" in result.stdout
        and "make hint1" in result.stdout
    )
    assert "Hint 1" in make(own_copy, "hint1").stdout
    assert "Hint 2" in make(own_copy, "hint1").stdout
    assert "Hint 3" in make(own_copy, "hint1", "LEVEL=3").stdout
    hidden = make(own_copy, "solution1")
    assert hidden.returncode != 0 and "blockDim.x +" not in hidden.stdout
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
    timer = threading.Timer(100, watching.kill)
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


def test_a_folder_of_submissions(own_copy, classroom, tmp_path):
    """Whatever one submission does, the others are graded."""
    exercises = {e.number: e for e in classroom.all_exercises()}
    folder = tmp_path / "my class"
    good, odd = folder / "good", folder / "odd"
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
    shutil.copy(exercises[4].solution, odd / "late" / "Exercise4.cu")
    (chapter,) = (own_copy / "chapters").glob("01_*/matmul.cu")
    shutil.copytree(chapter.parent, odd / "chapters" / chapter.parent.name)
    (folder / "__MACOSX" / "good").mkdir(parents=True)
    (folder / "__MACOSX" / "good" / "._exercise2.cu").touch()
    result = make(
        own_copy, "grade", f"SUBMISSIONS={folder}", f"OUT={tmp_path / 'the grades'}"
    )
    assert result.returncode == 0, result.stderr
    assert "20 of" in result.stdout
    assert re.search(rf"^{exercises[2].name} +1/2 ", result.stdout, re.M)
    assert re.findall("^Not graded, .*: (.*)", result.stdout, re.M) == [
        "odd/late/Exercise4.cu"
    ]
    assert "Left out, as no file is in them: __MACOSX\n" in result.stdout
    rows = list(csv.DictReader(open(tmp_path / "the grades" / "grades.csv")))
    assert len(rows) == 2 * len(exercises)
    status = {(row["student"], row["exercise"][:2]): row["status"] for row in rows}
    assert [status["good", number] for number in ("01", "02", "03", "04")] == [
        "passed"
    ] * 3 + ["missing"]
    assert [status["odd", number] for number in ("01", "02", "03")] == [
        "fault",
        "wrong",
        "refused",
    ]
    students = json.loads((tmp_path / "the grades" / "grades.json").read_text())[
        "students"
    ]
    assert students["good"]["points"] == 20 and students["odd"]["points"] == 0
    empty = tmp_path / "empty"
    empty.mkdir()
    assert make(own_copy, "grade", f"SUBMISSIONS={empty}").returncode != 0
