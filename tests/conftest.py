"""What the tests share: a clean copy of the project, the compilers, and the last line."""

import collections
import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Seconds after which a program hangs. No test asks how fast one is: a busy machine takes ten times as long.
HANGS = 1200


def run(command, **options):
    """Runs a command; the result has returncode, stdout and stderr as text."""
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=HANGS,
        **options,
    )


# While one test process builds what all of them need, the others wait for it: it may have their processors.
MAKE = ["make", "-k", f"-j{os.cpu_count()}"]


def at_length(values, wanted):
    """Parameters, of which those that `wanted` says are left to `make test-long`: what takes minutes, and is told
    by the others in the common case."""

    def left(value):
        # A record is a single value, though it is a tuple, too.
        several = value if type(value) is tuple else (value,)
        return pytest.param(*several, marks=pytest.mark.long)

    return [left(value) if wanted(value) else value for value in values]


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; make test-long runs it")
    config.addinivalue_line(
        "markers",
        "depends(*what): on these files besides what all depend on, each a path in the project "
        "or a function of the test's parameters that returns paths; where they are those with "
        "which it passed before, it is not run again",
    )


def pytest_addoption(parser):
    parser.addoption(
        "--again",
        action="store_true",
        help="run also what passed before with the same files",
    )
    parser.addoption(
        "--quick", action="store_true", help="leave out what tests/quick.txt says"
    )


def quick():
    """{"test_file.py::test_function": n}: of its cases `make test` runs every nth; none if that is None."""
    text = (ROOT / "tests" / "quick.txt").read_text()
    lines = [line.split() for line in text.splitlines() if line and line[0] != "#"]
    return {name: None if every == "-" else int(every) for every, name in lines}


def pytest_collection_modifyitems(config, items):
    if not config.getoption("quick"):
        return
    told, seen, left, out = quick(), collections.Counter(), [], []
    for item in items:
        name = f"{item.path.name}::{item.originalname}"
        every = told.get(name, told.get(item.path.name, 1))
        (left if every and seen[name] % every == 0 else out).append(item)
        seen[name] += 1
    items[:] = left
    config.hook.pytest_deselected(items=out)


def need_terminals():
    """Skips the test where the system has no pseudo-terminals, as in a bare chroot."""
    try:
        for descriptor in os.openpty():
            os.close(descriptor)
    except OSError:
        pytest.skip("no pseudo-terminals here")


def no_cuda():
    """The environment without the settings that change what a program or a build does."""
    ours = "CHECK LEAKS STRICT LENS EMULATE EMULATOR NVCC NVCC_CCBIN ARCH CXX MAKEFLAGS MAKELEVEL".split()
    return {name: value for name, value in os.environ.items() if name not in ours}


def find_nvcc():
    """NVIDIA's nvcc, or None."""
    for name in ("nvcc", "/usr/local/cuda/bin/nvcc"):
        found = shutil.which(name)
        if found and "emulator" not in Path(found).resolve().parts:
            return found
    return None


REAL_NVCC = find_nvcc()
NO_NVCC = "NVIDIA's nvcc is not here; it comes with the CUDA Toolkit"


def for_real_nvcc(name, values, **options):
    """Parametrises a test of NVIDIA's compiler. Where there is none, one skip stands for all."""
    if not REAL_NVCC:
        skip = pytest.mark.skip(reason=NO_NVCC)
        values, options = [pytest.param(None, marks=skip)], {}
    return pytest.mark.parametrize(name, values, **options)


def files_of(source, folders):
    """The file and all that it includes, of the project's own; what stands under a condition, too."""
    found, new = set(), [source.resolve()]
    while new:
        file = new.pop()
        if file in found:
            continue
        found.add(file)
        for name in re.findall(r'^ *# *include *["<](.*)[">]', file.read_text(), re.M):
            places = (folder / name for folder in [file.parent, *folders])
            new += [place.resolve() for place in places if place.is_file()][:1]
    return sorted(found)


@functools.cache
def version_of(compiler):
    return run([compiler, "--version"]).stdout


# What NVIDIA's compiler said of files that are still the same: it takes minutes for all of them.
ACCEPTED = ROOT / "build" / "accepted"


# Without the optimiser nvcc is three times as fast.
NOT_OPTIMISED = ["-Xcicc", "-O0", "-Xptxas", "-O0"]


def accept(source, folder, *options, quickly=False):
    """Has NVIDIA's compiler compile a file, and returns what it says; a warning is as good as an
    error. What it has accepted before, with these options, it is not asked again. `quickly`: without
    optimising, where it can; some PTX needs that constants have been found."""
    strict = "-Wall,-Wextra,-Werror,-Wno-missing-field-initializers"
    if source.suffix == ".cu" and not any(str(o).startswith("-std") for o in options):
        options += ("-std=c++17",)
    command = [REAL_NVCC, "-c", source, "-o", folder / "object.o", "-O3", *options]
    command += ["-Werror", "all-warnings", "-Xcompiler", strict]
    words = [str(word).replace(str(folder), "") for word in command]
    asked = hashlib.sha256(repr([version_of(REAL_NVCC), words]).encode())
    included = [Path(after) for word, after in zip(options, options[1:]) if word == "-I"]
    for file in files_of(source, included):
        asked.update(b"\0" + file.name.encode() + b"\0" + file.read_bytes())
    answer = ACCEPTED / asked.hexdigest()
    if answer.exists():
        return answer.read_text()
    result = run([*command, *NOT_OPTIMISED]) if quickly else None
    if not result or result.returncode != 0:
        result = run(command)
    said = result.stdout + result.stderr
    assert result.returncode == 0, said
    ACCEPTED.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=ACCEPTED, delete=False) as file:
        file.write(said)
    os.replace(file.name, answer)
    return said


def all_in_one(sources, folder):
    """A file that holds these programs, each in a namespace of its own: starting nvcc takes longer
    than compiling one of them."""
    headers, words = set(), []
    for source in sources:
        text, name = source.read_text(), source.stem
        headers |= set(re.findall(r"^#include .*$", text, re.M))
        words += [f"#define main main_{name}", f"namespace {name}_ {{"]
        words += [f'#include "{source}"', "}", "#undef main"]
        macros = re.findall(r"^ *# *define (\w+)", text, re.M)
        words += [f"#undef {macro}" for macro in macros]
    file = folder / "all_in_one.cu"
    file.write_text("\n".join(sorted(headers) + words) + "\n")
    return file


# Every host compiler that is here and that the emulator can use.
HOST_COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]


# ---- what passed before, with the same files ----

# A test's name, hashed -> the hash of all that it depended on when it passed.
PASSED = ROOT / "build" / "passed"
ALL_DEPEND_ON = """emulator/bin emulator/src emulator/include emulator/gpus.h emulator/Makefile
common Makefile tests/conftest.py""".split()


@functools.cache
def digest(path):
    """Of a file, or of all in a folder but what is built."""
    found = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        inside = file.relative_to(ROOT)
        if file.is_file() and not {"build", "__pycache__"} & set(inside.parts):
            found.update(
                f"{inside}\0{file.stat().st_size}\0".encode() + file.read_bytes()
            )
    return found.hexdigest()


@functools.cache
def files_of_chapter(number):
    (folder,) = (ROOT / "chapters").glob(f"{number:02d}_*")
    sources = [path for path in folder.iterdir() if path.suffix in (".c", ".cu", ".cuh")]
    places = [ROOT / "common", ROOT / "chapters", folder]
    found = {file for source in sources for file in files_of(source, places)}
    more = (path for path in folder.iterdir() if path.is_file() and path.suffix != ".md")
    return sorted({*found, *more})


def dependencies(item):
    """The hash of all that a test depends on; None if it does not say."""
    marks = [what for mark in item.iter_markers("depends") for what in mark.args]
    if not marks:
        return None
    values = item.callspec.params if hasattr(item, "callspec") else {}
    paths = {item.path, *(ROOT / name for name in ALL_DEPEND_ON)}
    for what in marks:
        paths.update(what(values) if callable(what) else [ROOT / what])
    compilers = [version_of(name) for name in [*HOST_COMPILERS, REAL_NVCC] if name]
    told = [sys.version, os.getuid(), compilers, sorted(map(digest, paths))]
    return hashlib.sha256(repr(told).encode()).hexdigest()


def note_of(item):
    return PASSED / hashlib.sha256(item.nodeid.encode()).hexdigest()


DEPENDS = pytest.StashKey()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    """What the tests depend on is looked at once, before the first is run. They test copies that
    are made then: of a file that is edited meanwhile, nobody knows whether it passes."""
    for item in session.items:
        item.stash[DEPENDS] = dependencies(item)


def passed_before(item):
    """Nothing that it depends on has changed since."""
    note, depends = note_of(item), item.stash[DEPENDS]
    return depends is not None and note.exists() and note.read_text() == depends


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    if item.config.getoption("again") or not passed_before(item):
        return None
    item.session._setupstate.teardown_exact(nextitem)  # of those that were run before it
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for when in ("setup", "call", "teardown"):
        report = pytest.TestReport(
            item.nodeid, item.location, {"before": True}, "passed", None, when
        )
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "teardown":
        return
    if report.failed:
        note_of(item).unlink(missing_ok=True)
    elif report.when == "call" and report.passed and (depends := item.stash[DEPENDS]):
        PASSED.mkdir(parents=True, exist_ok=True)
        note_of(item).write_text(depends)


@contextlib.contextmanager
def once(path):
    """Yields True to the first of the test processes that comes here, and False to those
    that come after it has finished."""
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        first = not path.exists()
        yield first
        path.touch()


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory, worker_id):
    """A folder that all test processes of this run share."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@functools.cache
def students_files():
    """The exercise.cu that were changed, and what `make resetN` kept of such: whoever solves the
    exercises has them, and they are none of the project's. Without git nobody can tell."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        return frozenset()
    where = "exercises/*/exercise*.cu"
    listed = run(["git", "status", "--porcelain", "--ignored", "--", where], cwd=ROOT)
    return frozenset(ROOT / line[3:] for line in listed.stdout.splitlines())


def copy_project(folder):
    """Copies the project as a fresh clone has it: nothing built, nothing downloaded."""
    built = [
        ".*",
        "build",
        "__pycache__",
        "chapter[0-9]",
        "chapter[0-9][0-9]",
        "exercise.[0-9]*",
    ]
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*built), symlinks=True)


@pytest.fixture(scope="session")
def project(shared_folder):
    """A copy of the project in which all tests may build, and none may change anything."""
    copy = shared_folder / "project"
    with once(shared_folder / "copied") as first:
        if first:
            copy_project(copy)
    return copy


def copy_built(project, folder):
    """Copies the project with all that is built, but for what the programs of other tests make and remove meanwhile."""

    def passing(path, names):
        here = Path(path) == project / "build"
        return [n for n in names if here and (n == "tried" or n.startswith("scenes."))]

    shutil.copytree(project, folder, ignore=passing, symlinks=True)


@pytest.fixture(scope="session")
def emulated_nvcc(project, shared_folder):
    """The emulator's nvcc, built."""
    nvcc = project / "emulator" / "bin" / "nvcc"
    with once(shared_folder / "emulator-built") as first:
        if first:
            build = run([nvcc, "--version"], env=no_cuda())
            assert build.returncode == 0, build.stderr
    return nvcc


@pytest.fixture(scope="session")
def chapters(project, shared_folder, emulated_nvcc):
    """Builds every chapter for the emulator; the programs by number, those that could be built."""
    with once(shared_folder / "chapters-built") as first:
        if first:
            build = run(
                [*MAKE, "-C", project, "all", "EMULATOR=1", "STRICT=1"], env=no_cuda()
            )
            (shared_folder / "build-log").write_text(build.stdout + build.stderr)

    class Programs(dict):
        def __missing__(self, number):
            pytest.fail(
                f"chapter {number} was not built:\n"
                + (shared_folder / "build-log").read_text()
            )

    found = project.glob("chapter[0-9]*")
    return Programs({int(path.name[7:]): path for path in found if path.is_file()})


def blanked(text):
    """The same without what stands in comments and quotes; every place is where it was."""
    hidden = r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'"
    blank = functools.partial(re.sub, r"[^\n]", " ")
    return re.sub(hidden, lambda found: blank(found[0]), text, flags=re.S)


@functools.cache
def definitions(text):
    """[(names, words, begin, end)] of a file's functions, types, variables and macros: what each defines, what it says,
    and where. By words alone, so that a name that two files define is taken for one: too much is built then, never too
    little."""
    code, found = re.sub(r"(\bextern\s+){", r"\1 ", blanked(text)), []
    depth = begin = 0
    for place in re.finditer(r"[{};]|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", code, re.M):
        what, at = place[0], place.end()
        if what == "{":
            depth += 1
        elif what == "}":
            depth = max(0, depth - 1)  # that of extern "C" {} was not counted
        elif what != ";":
            name = re.match(r"\s*#\s*define\s+(\w+)", what)
            if name:
                words = set(re.findall(r"\w+", what))
                found.append(({name[1]}, words, place.start(), at))
        if depth or what == "{":
            continue
        head, _, inside = code[begin:at].partition("{")
        if what == "}" and re.search(r"\benum\b[^()]*$", head):
            names = set(re.findall(r"\w+", inside)) | set(re.findall(r"\w+", head)[1:])
        elif what == "}" and re.search(r"[)\w]\s*$", head):
            called = r"\b\w+(?=\((?:[^()]|\([^()]*\))*\)\s*$)"
            names = set(re.findall(called, head) or re.findall(r"\w+", head)[-1:])
        else:
            while head != (head := re.sub(r"\([^()]*\)", "", head)):
                pass
            names = set(re.findall(r"\b([A-Za-z_]\w*)(?:\[[^]]*\])*\s*(?=[=,;])", head))
            names -= {"static_assert"}
        if names:
            found.append((names, set(re.findall(r"\w+", code[begin:at])), begin, at))
        begin = at
    return found


def touched(texts, changed, new):
    """What differs once the text of `changed`, one of `texts` = {file: text}, is `new`, and all that names it."""
    old = texts[changed]
    first = len(os.path.commonprefix([old, new]))
    last = len(old) - len(os.path.commonprefix([old[first:][::-1], new[first:][::-1]]))
    names = set()
    for own, _, begin, end in definitions(old):
        if begin < max(last, first + 1) and first < end:
            names |= own
    uses = [use[:2] for text in texts.values() for use in definitions(text)]
    while more := [own for own, words in uses if words & names and not own <= names]:
        names.update(*more)
    return names


def templates_left_alone(built, source, changed, new, places):
    """C++ that keeps the compiler from making again what a chapter's object holds: the instances of its templates, but
    for those that name something that differs now that the file `changed` is `new`."""
    texts = {path: path.read_text() for path in files_of(source, places)}
    differ = touched(texts, changed.resolve(), new)
    # Another chapter is in a namespace, and its names are none of these.
    instances = re.findall(r" W (void [\w:]+<.*)$", run(["nm", "-C", built]).stdout, re.M)
    return "".join(
        f"extern template {instance};\n"
        for instance in instances
        if "emu::" not in instance and differ.isdisjoint(re.findall(r"[\w:]+", instance))
    )


def build_changed(nvcc, project, chapter, changed, folder):
    """Builds a chapter whose sources are in `folder`, where the one named `changed` has a bug. The kernels that know
    nothing of it would take most of the time, and the chapter's own object holds them. With any other kernel taken from
    there, the bug would not be seen."""
    built = project / "build" / "emulator"
    objects = [*built.glob(f"chapters/{chapter.name}/*.o"), *built.glob("common/*.o")]
    original = built / "chapters" / chapter.name / "matmul.o"
    source, program = folder / "matmul.cu", folder / "mutant"
    places = [ROOT / "common", ROOT / "chapters", chapter]
    whole, new = chapter / "matmul.cu", (folder / changed).read_text()
    left_alone = templates_left_alone(original, whole, chapter / changed, new, places)
    with source.open("a") as file:
        file.write(left_alone)
    # Of what two objects define, the linker takes the first's.
    command = [nvcc, "-O2", "-Ofc", "max", "-std=c++17", "-Xlinker", "-z,muldefs"]
    for place in places:
        command += ["-I", project / place.relative_to(ROOT)]
    command += [source, *objects, "-lcublas", "-o", program]
    more = chapter / "libraries"  # without which it can do, and says so
    for name in more.read_text().split() if more.exists() else ():
        command += ["-Xlinker", "--no-as-needed", f"-l{name}"]
    result = run(command, env=no_cuda())
    assert result.returncode == 0, result.stderr
    return program


@pytest.fixture
def emulate(emulated_nvcc, tmp_path):
    """Compiles sources (and flags) for the emulator and returns the program; fails on any message."""

    def compile_program(*words, compiler=HOST_COMPILERS[0], name="program"):
        program = tmp_path / name
        command = [emulated_nvcc, "-ccbin", compiler, "-std=c++17", *words, "-o", program]
        build = run(command + ["-Xcompiler", "-Wall,-Wextra,-Werror"], env=no_cuda())
        assert build.returncode == 0, build.stderr
        assert build.stderr == ""
        return program

    return compile_program


def skips(reports):
    """How many tests were skipped for which reason."""
    reasons = (str(report.longrepr[2]).strip() for report in reports)
    return collections.Counter(reason.removeprefix("Skipped: ") for reason in reasons)


def pytest_unconfigure(config):
    """The verdict, as the last line of all, behind what was skipped and why. An error in the
    preparations is a failure too."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return
    count = {
        name: len(reporter.stats.get(name, ()))
        for name in ("passed", "failed", "error", "skipped")
    }
    before = sum(
        "before" in report.keywords for report in reporter.stats.get("passed", ())
    )
    if before:
        print(f"{before} passed before, with the same files: --again runs them again")
    for reason, times in skips(reporter.stats.get("skipped", ())).most_common():
        print(f"skipped {times}: {reason}")
    print(
        f"{count['passed']} passed, {count['failed'] + count['error']} failed, "
        f"{count['skipped']} skipped"
    )
