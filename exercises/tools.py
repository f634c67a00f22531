"""The tools that grading takes: built once, looked at every time, and copied where no submission
can reach them.

On x86-64 a student's code runs on a processor in software (machine/), which neither forges a count
nor leaves its memory. Elsewhere it is linked with the runner and given to the real one.
"""

import atexit
import fcntl
import hashlib
import json
import os
import platform
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import sandbox
from tasks import FOLDER, all_exercises

ROOT = FOLDER.parent
EMULATOR = ROOT / "emulator"
NVCC = EMULATOR / "bin" / "nvcc"
BUILD = ROOT / "build" / "exercises"

IN_SOFTWARE = platform.machine() in ("x86_64", "AMD64")

WARNINGS = "-Wall,-Wextra,-Wno-unknown-pragmas"
# Without what needs more of a system than the machine has; a long double is a double there, and
# there is one thread, whose variables are like all others.
FREESTANDING = (
    "-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-fno-stack-protector,"
    "-mlong-double-64,-fcf-protection=none,-U_FORTIFY_SOURCE"
)
# Every index of an array is asked whether it is inside; the program ends where it is not.
ASKED = ",-fsanitize=bounds,-fsanitize-undefined-trap-on-error"
# The program alone goes to stdout: what the assembler prints there, as a file may tell it to,
# does not get in front.
COMPILE_IN_SOFTWARE = f"""
"$0/emulator/build/nvcc" -O2 -std=c++17 -Xcompiler {WARNINGS},{FREESTANDING}$1 \\
    -Dthread_local= -D__thread= -I "$0" -c exercise.cu -o exercise.o >&2 &&
ld -static -nostdlib --build-id=none -T "$0/image.ld" -o exercise exercise.o >&2 &&
cat exercise
"""
COMPILE_NATIVE = f"""
"$0/emulator/build/nvcc" -O2 -std=c++17 -Xcompiler {WARNINGS} -I "$0" \\
    exercise.cu "$0/runner.o" "$0/native.o" -o exercise >&2 && cat exercise
"""
# What the emulator asks about the program's __device__ variables, the machine answers: they are the
# image's (image.c).
ANSWERED_BY_THE_MACHINE = """emu_is_constant_variable emu_is_managed_variable
    emu_is_device_variable emu_variable_section emu_variables_behind"""
# The runtime's variables that a student's code reads by name.
VARIABLES = "emu_thread_idx emu_block_idx emu_block_dim emu_grid_dim emu_dynamic_shared"


class MachineCannot(Exception):
    """Something that is no fault of the student's: exit code 3."""


# ---- building what is missing, old, or not what we built ----


def digest_of(*parts):
    """Of texts, and of what is in files and folders."""
    digest = hashlib.sha256()
    for part in parts:
        files = [part] if isinstance(part, Path) else []
        if isinstance(part, Path) and part.is_dir():
            files = sorted(path for path in part.rglob("*") if path.is_file())
        for path in files:
            digest.update(name_of(path).encode() + b"\0" + path.read_bytes())
        if not files:
            digest.update(str(part).encode() + b"\0")
    return digest.hexdigest()


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def name_of(path):
    """A copy of the project has files of the same names."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def is_ours(target, made_from):
    """Whether a file is what we made, of just these sources."""
    try:
        kept = json.loads(target.with_suffix(".made").read_text())
        return kept == {"from": made_from, "is": sha256(target)}
    except (OSError, ValueError):
        return False


def call(words, what, **options):
    try:
        done = subprocess.run(
            list(map(str, words)),
            capture_output=True,
            text=True,
            errors="replace",
            **options,
        )
    except OSError as error:
        raise MachineCannot(f"cannot start {words[0]}: {error.strerror}") from error
    if done.returncode:
        raise MachineCannot(
            f"cannot build {what}:\n{(done.stderr + done.stdout)[-2000:]}"
        )
    return done.stdout


def build(name, sources, make):
    """Has make(scratch) make BUILD/name, unless that is there and made of the same sources."""
    target = BUILD / name
    made_from = digest_of(*sources)
    if is_ours(target, made_from):
        return target
    scratch = target.with_name(f"{name}.{os.getpid()}")
    make(scratch)
    os.replace(scratch, target)
    made = {"from": made_from, "is": sha256(target)}
    target.with_suffix(".made").write_text(json.dumps(made))
    return target


def c_compiler():
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return name
    raise MachineCannot("there is no C compiler here: install gcc or clang")


def build_program(name, *sources, words=()):
    """One of our own, for this machine itself."""

    def make(scratch):
        command = [c_compiler(), "-std=gnu11", "-O2", *sources, "-o", scratch, *words]
        call(command, name)

    return build(name, [*sources, FOLDER / "cases.h"], make)


def build_with_nvcc(name, source, words=()):
    def make(scratch):
        call([NVCC, "-O2", "-I", FOLDER, source, "-o", scratch, *words], name)

    headers = [FOLDER / "exercise.h", FOLDER / "cases.h"]
    return build(name, [source, EMULATOR / "src", EMULATOR / "include", *headers], make)


def build_runtime():
    """The emulator's library once more, as the machine needs it."""
    parts = [EMULATOR / part for part in ("src", "include", "gpus.h", "Makefile")]
    around = FOLDER / "machine" / "around.h"

    def make(scratch):
        copy = BUILD / "emulator"
        shutil.rmtree(copy, ignore_errors=True)
        for part in parts:
            (shutil.copytree if part.is_dir() else shutil.copy)(part, copy / part.name)
        flags = f"-std=gnu11 -O2 -w -fno-pie -Iinclude -Isrc -include {shlex.quote(str(around))}"
        words = [
            "make",
            "-s",
            "-j2",
            "-C",
            copy,
            f"CFLAGS={flags}",
            "build/libemulator.a",
        ]
        outer = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
        call(words, "the machine", env=outer)
        shutil.copy(copy / "build" / "libemulator.a", scratch)
        shutil.rmtree(copy)

    return build("runtime.a", [*parts, around], make)


def build_machine():
    """The machine around that library."""
    runtime = build_runtime()
    sources = [FOLDER / "runner.c", *sorted((FOLDER / "machine").glob("*.c"))]

    def make(scratch):
        command = [c_compiler(), "-std=gnu11", "-O2", "-fno-pie", "-no-pie"]
        command += ["-I", EMULATOR / "include", "-I", EMULATOR / "src", *sources, runtime]
        command += [f"-Wl,--wrap={name}" for name in ANSWERED_BY_THE_MACHINE.split()]
        call([*command, "-o", scratch, "-lm", "-lpthread"], "the machine")

    headers = [FOLDER / "cases.h", *(FOLDER / "machine").glob("*.h")]
    how = ANSWERED_BY_THE_MACHINE
    return build("machine", [*sources, *headers, runtime, how], make)


def image_script(machine, kinds):
    """image.ld with the addresses of what a student's code may call, and of the exercises'
    functions."""
    listed = call(["nm", machine], "the list of functions")
    addresses = []
    for line in listed.splitlines():
        address, name = line.split()[0], line.split()[-1]
        if name.startswith("call_") or name in VARIABLES.split():
            addresses.append(f"PROVIDE({name.removeprefix('call_')} = 0x{address});")
    entries = " ".join(f"QUAD(DEFINED({kind}) ? {kind} : 0)" for kind in kinds)
    script = (FOLDER / "machine" / "image.ld").read_text().replace("@ENTRIES@", entries)
    return script + "\n".join(addresses) + "\n"


# ---- what grading holds in its hands ----


class Tools:
    """The tools of one run of the grader, in a folder that nothing else writes to."""

    def __init__(self, box):
        self.box = box
        self.folder = Path(tempfile.mkdtemp(prefix="exercises-"))
        os.chmod(self.folder, 0o755)
        atexit.register(self.remove, os.getpid())

    def remove(self, maker):
        if os.getpid() == maker:
            shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, path, name=None):
        place = self.folder / (name or path.name)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, place)
        else:
            shutil.copy(path, place)

    def open_to_all(self):
        for path in [self.folder, *self.folder.rglob("*")]:
            runs = path.is_dir() or os.access(path, os.X_OK)
            path.chmod(0o755 if runs else 0o644)

    def in_place(self):
        """Where programs find the tools."""
        return sandbox.TOOLS_IN_BOX if self.box else self.folder

    def compile(self, folder, limits, headers=(), asked=False):
        """Makes `program` of exercise.cu in a folder, `asked` with a question before each index of
        an array. Returns how the compiler ended."""
        for header in headers:
            shutil.copy(header, folder)
        script = COMPILE_IN_SOFTWARE if IN_SOFTWARE else COMPILE_NATIVE
        with open(Path(folder, "program"), "wb") as program:
            os.chmod(program.name, 0o755)
            return self.run(
                ["/bin/sh", "-c", script, self.in_place(), ASKED if asked else ""],
                folder,
                reads=["exercise.cu", *(header.name for header in headers)],
                limits=limits,
                stdout=program,
            )

    def run_program(self, folder, cases, outputs, **environment):
        """Runs `program` over cases, which it reads from a file; `outputs` are the names of the
        files for the results and for what the lens writes."""
        results, lens = outputs
        words = [f"{self.in_place()}/machine" if IN_SOFTWARE else "./program", results]
        return self.run(
            words,
            folder,
            reads=["program", "exercise.cu"],
            writes=outputs,
            stdin=cases,
            MACHINE_IMAGE="program",
            LENS_OUT=lens,
            **environment,
        )

    def run(self, words, folder, **options):
        try:
            sandbox.give_to_spare_user(folder)
            return sandbox.run(words, folder, box=self.box, tools=self.folder, **options)
        except (OSError, sandbox.CannotRun) as error:
            where = f"cannot start programs in {Path(folder).parent}: {error}"
            hint = "set TMPDIR to a folder where they may"
            raise MachineCannot(f"{where}; {hint}") from error

    def judge(self, command, seed, shapes, results=None):
        """Runs the judge; the bytes of a case file for "make", a list of findings for
        "compare"."""
        words = [self.folder / "judge", command, seed]
        for kind, sizes in shapes:
            words += [kind, *sizes]
        done = subprocess.run(list(map(str, words)), stdin=results, capture_output=True)
        if done.returncode:
            raise MachineCannot(done.stderr.decode())
        if command == "make":
            return done.stdout
        return [json.loads(line) for line in done.stdout.splitlines()]

    def verify_judge(self):
        """The judge knows right from wrong: it is asked about sums whose answer we know."""
        shapes = [("axpy", (1, 5, 1))]
        case = self.judge("make", 1, shapes)
        (a,) = struct.unpack_from("f", case, 16)
        numbers = struct.unpack("10f", case[-40:])
        right = [a * x + y for x, y in zip(numbers[:5], numbers[5:])]
        for wrong in (None, 0, 4):
            results = [value + (i == wrong) for i, value in enumerate(right)]
            with tempfile.TemporaryFile() as file:
                file.write(struct.pack("5f", *results))
                file.seek(0)
                (finding,) = self.judge("compare", 1, shapes, file)
            if finding["ok"] != (wrong is None):
                raise MachineCannot("the judge does not tell right from wrong")


def build_all():
    """Builds what is missing. Returns what belongs into Tools, as (path, name)."""
    if not (BUILD / "judge").exists():
        print(
            "building the emulator and the judge, once: half a minute on one core",
            file=sys.stderr,
        )
    call([NVCC, "--version"], "the emulator")
    parts = [(build_program("judge", FOLDER / "judge.c", words=["-lm"]), "judge")]
    kinds = call([BUILD / "judge", "kinds"], "the judge").split()
    if IN_SOFTWARE:
        machine = build_machine()
        script = BUILD / "image.ld"
        script.write_text(image_script(machine, kinds))
        parts += [(machine, "machine"), (script, "image.ld")]
    else:
        for name in ("runner", "native"):
            source, words = FOLDER / f"{name}.c", ["-c"]
            parts.append((build_with_nvcc(f"{name}.o", source, words), f"{name}.o"))
        built = EMULATOR / "build"
        parts.append((built / "nvcc", "emulator/build/host-link"))
        # What lies there names the library by its place on this machine, unseen in the box.
        linked = "emulator/build/toolkit/lib64/libemulator.a"
        parts.append((built / "libemulator.a", linked))
    for exercise in all_exercises():
        given = exercise.folder / "given.cu"
        if given.exists():
            parts.append((build_with_nvcc(exercise.name, given), exercise.name))
    parts += [
        (EMULATOR / "build" / "nvcc", "emulator/build/nvcc"),
        (EMULATOR / "include", "emulator/include"),
        (FOLDER / "exercise.h", "exercise.h"),
    ]
    return parts


def build_baseline(tools, exercise):
    """The skeleton, whose counts a student's are compared with, as a program."""

    def make(scratch):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "exercise.cu").write_text(exercise.skeleton)
            ended = tools.compile(folder, sandbox.Limits(seconds=60), exercise.headers)
            if ended.code:
                raise MachineCannot(f"cannot build {exercise.name}:\n{ended.err}")
            shutil.copy(Path(folder, "program"), scratch)

    parts = ["image.ld", "machine"] if IN_SOFTWARE else ["runner.o", "native.o"]
    sources = [EMULATOR / "src", EMULATOR / "include", *(BUILD / part for part in parts)]
    sources += exercise.headers
    how = COMPILE_IN_SOFTWARE if IN_SOFTWARE else COMPILE_NATIVE
    return build(f"{exercise.name}.base", [exercise.skeleton, how, *sources], make)


def prepare(strangers=False, trust=False):
    """Builds the tools where they are missing, old, or not what we built, and returns a copy of
    them. Without a box, `strangers` are not graded unless `trust`."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        parts = build_all()
        contain = build_program("contain", FOLDER / "contain.c")
    tools = Tools(None)
    for path, name in parts:
        tools.add(path, name)
    tools.add(contain)
    tools.open_to_all()
    tools.box = sandbox.find_box(shutil.which("bwrap"), str(tools.folder / "contain"))
    if strangers and not trust:
        reason = None
        if not tools.box:
            reason = "it lets users make no namespaces (apt install bubblewrap may help)"
        elif not IN_SOFTWARE:
            reason = f"on {platform.machine()} students' code could forge its counts"
        if reason:
            raise MachineCannot(
                f"this machine cannot contain strangers' code: {reason}. "
                "TRUST=1 grades files that you trust"
            )
    tools.verify_judge()
    for exercise in all_exercises():
        if exercise.has_baseline:
            tools.add(build_baseline(tools, exercise))
    return tools
