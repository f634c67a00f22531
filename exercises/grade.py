"""Grades one file for one exercise: right results, no faults, and goals that the lens measures.

The student's code is compiled with the emulator's nvcc, linked with runner.c, and run in the sandbox over shapes and numbers
drawn at this moment. It decides nothing: judge.c, in a process of its own, knows the answers.
"""

import configparser
import contextlib
import fcntl
import functools
import json
import os
import random
import re
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import sandbox

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
NVCC = ROOT / "emulator" / "bin" / "nvcc"
BUILD = ROOT / "build" / "exercises"

NO_FUNCTION, CUDA_ERROR = 4, 5  # runner.c's exit codes
LARGEST_SOURCE = 256 * 1024


class MachineCannot(Exception):
    """Something that is no fault of the student's: exit code 3."""


# ---- exercises ----


@dataclass(frozen=True)
class Exercise:
    folder: Path
    data: configparser.ConfigParser = field(compare=False, hash=False)

    @property
    def name(self):
        return self.folder.name

    @property
    def number(self):
        return int(self.name.split("_")[0])

    @property
    def title(self):
        return self.data["exercise"]["title"]

    @property
    def kind(self):
        return self.data["exercise"]["kind"]

    @property
    def points(self):
        return self.data.getint("exercise", "points")

    @property
    def source(self):
        return self.folder / "exercise.cu"

    @property
    def solution(self):
        return self.folder / "solution.cu"

    @property
    def hints(self):
        return [unwrap(self.data["hints"][level]) for level in ("1", "2", "3")]

    def sections(self, word):
        """The sections "[word ...]", in order."""
        return [self.data[name] for name in self.data.sections() if name.startswith(word + " ")]

    def advice(self, mistake):
        """What this exercise has to say about a mistake, and the level of the hint to read."""
        for section in self.sections("mistake"):
            if mistake.startswith(section.name.partition(" ")[2]):
                return unwrap(section["say"]), section.getint("hint")
        return "", 0


def unwrap(text):
    return " ".join(text.split())


def load(folder):
    data = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=True)
    data.optionxform = str
    data.read(folder / "exercise.ini", encoding="utf-8")
    return Exercise(folder, data)


def all_exercises():
    return [load(path.parent) for path in sorted(FOLDER.glob("[0-9][0-9]_*/exercise.ini"))]


def solution_to_show(solution):
    """The solution without the marks and without the skeleton's own lines."""
    lines = [
        line
        for line in solution.splitlines()
        if not re.match(r"\s*//(-| (BEGIN|END) (answer|hidden)\b)", line)
    ]
    return "\n".join(lines) + "\n"


def skeleton_of(solution):
    """What the student gets: the solution without the lines between the marks.

    // BEGIN answer ... // END answer    the marks stay, to show where to write
    // BEGIN hidden ... // END hidden    the marks vanish too: finding the place is the exercise
    //- code                             inside the marks: a line of the skeleton alone
    """
    lines, inside = [], None
    for line in solution.splitlines():
        mark = re.fullmatch(r"\s*// (BEGIN|END) (answer|hidden)\b.*", line)
        if mark:
            inside = mark[2] if mark[1] == "BEGIN" else None
            if mark[2] == "answer":
                lines.append(line)
        elif inside is None:
            lines.append(line)
        elif instead := re.fullmatch(r"(\s*)//- ?(.*)", line):
            lines.append((instead[1] + instead[2]).rstrip())
    return "\n".join(lines) + "\n"


# ---- what a submission may not contain ----

HEADERS = {
    *("exercise.h", "cuda_runtime.h", "cuda_pipeline.h", "cuda_pipeline_primitives.h"),
    *("cooperative_groups.h", "cooperative_groups/reduce.h", "cuda_fp16.h"),
    *(
        "math.h",
        "stdio.h",
        "stdint.h",
        "stddef.h",
        "stdbool.h",
        "assert.h",
        "float.h",
        "limits.h",
    ),
}
# A kernel and its launch need none of these; a program that wants to look right without being right does.
REFUSED = re.compile(
    r"main|asm|__asm__?|__attribute__|__attribute|constructor|destructor|cublas\w*|cudaMemcpy\w*"
    r"|cudaMalloc\w*|cudaHost\w*|cudaMemPrefetch\w*|cudaDeviceReset|cudaFree|emu_\w*|lens_\w*|\w*tsan\w*"
    r"|\w*sanitizer\w*|__CUDA_EMULATED__|__builtin_\w*|__has_include|__FILE__|_?_?exit|_Exit|quick_exit|abort|atexit|at_quick_exit"
    r"|on_exit|raise|v?fork|clone3?|exec(l|v|le|ve|lp|vp|vpe)|posix_spawn\w*|system|popen|syscall|kill|signal|sigaction"
    r"|setjmp|longjmp|f?open(at)?|fdopen|freopen|creat|p?read|p?write|readv|writev|fread|fwrite|fputs|fputc|putc|fprintf|dup[23]?"
    r"|f?truncate|unlink\w*|rename\w*|remove|symlink|link|mkdir|rmdir|chmod|chown|mmap|munmap|mprotect|mremap|s?brk|ptrace"
    r"|process_vm_\w*|dlopen|dlsym|getenv|secure_getenv|setenv|putenv|environ|socket|connect|prctl|pthread_\w*|stdout|stderr"
)


def words_of(source):
    """The source without comments, strings and line splices; what is left, line by line."""
    source = source.replace("\\\r\n", " \\\n").replace("\\\n", "\n")
    pattern = (
        r"//[^\n]*|/\*.*?\*/"
        r'|(?<!\w)R"([^()\\\s]{0,16})\(.*?\)\1"'
        r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    )

    def blank(match):
        return (
            re.sub(r"[^\n]", " ", match[0])
            if match[0][0] == "/"
            else '""' + "\n" * match[0].count("\n")
        )

    return re.sub(pattern, blank, source, flags=re.S)


def refusal(source):
    """Why a source is not even compiled: (line, reason); None if it may be."""
    spliced = re.search(r"\w\\\r?\n\w", source)
    if spliced:
        return (
            source.count("\n", 0, spliced.start()) + 1,
            "a name must not be split over two lines",
        )
    for number, line in enumerate(source.splitlines(), 1):
        include = re.match(r"\s*(?:#|%:|\?\?=)\s*include(?:_next)?\b(.*)", line)
        if include:
            header = re.match(r'\s*(?:<([^>]*)>|"([^"]*)")', include[1])
            name = header and (header[1] or header[2])
            if name not in HEADERS:
                return (
                    number,
                    f"only headers of CUDA and C may be included here, not {name or 'this'}",
                )
    for number, line in enumerate(words_of(source).splitlines(), 1):
        if re.search(r"##|%:|\?\?=|\\", line):
            return number, "names must be written out, not pasted together"
        if re.search(
            r"#\s*(embed|import|pragma\s+(weak|redefine_extname|GCC|push_macro))", line
        ):
            return number, "this directive is not needed here"
        for word in re.findall(r"[A-Za-z_]\w*", line):
            if REFUSED.fullmatch(word):
                return number, (
                    f"`{word}` is not needed here and not accepted. The exercise asks for a kernel and its launch; allocating, "
                    "copying and checking are done for you. (Is it a name of your own? Choose another)"
                )
    return None


# ---- the tools, built once ----


def fresh(target, *sources):
    if not target.exists():
        return False
    return all(target.stat().st_mtime >= source.stat().st_mtime for source in sources)


def build(target, source, *words):
    """Compiles one of our own files, if it is newer than what it makes."""
    library = ROOT / "emulator" / "build" / "libemulator.a"
    headers = [FOLDER / "exercise.h", FOLDER / "cases.h"]
    if fresh(target, source, library, *headers):
        return target
    scratch = target.with_suffix(f".{os.getpid()}")
    command = [NVCC, "-O2", "-I", FOLDER, source, "-o", scratch, *words]
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, cwd=ROOT
    )
    if result.returncode:
        raise MachineCannot(f"cannot build {source.name}:\n{result.stderr}")
    os.replace(scratch, target)
    return target


def prepare():
    """Builds the emulator, the judge and the runner where they are missing or old."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            emulator = subprocess.run([str(NVCC), "--version"], capture_output=True, text=True)
        except OSError as error:
            raise MachineCannot(f"cannot start {NVCC}: {error.strerror}") from error
        if emulator.returncode:
            raise MachineCannot(emulator.stderr.strip())
        build(BUILD / "judge", FOLDER / "judge.c", "-lm")
        build(BUILD / "runner.o", FOLDER / "runner.c", "-c")
        for exercise in all_exercises():
            if exercise.data["exercise"].get("baseline"):
                skeleton = BUILD / f"{exercise.name}.cu"
                text = skeleton_of(exercise.solution.read_text())
                if not skeleton.exists() or skeleton.read_text() != text:
                    skeleton.write_text(text)
                build(BUILD / exercise.name, skeleton, BUILD / "runner.o")
            given = exercise.folder / "given.cu"
            if given.exists():
                build(BUILD / exercise.name, given)


def judge(command, seed, shapes, results=None):
    """Runs the judge; bytes of the case file for "make", a list of findings for "compare"."""
    words = [BUILD / "judge", command, seed]
    for kind, (M, N, K) in shapes:
        words += [kind, M, N, K]
    done = subprocess.run([str(word) for word in words], stdin=results, capture_output=True)
    if done.returncode:
        raise MachineCannot(done.stderr.decode())
    if command == "make":
        return done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


# ---- shapes ----


def draw_size(word, dice):
    """ "5", "1..100", or "32*1..4" for a multiple of 32."""
    match = re.fullmatch(r"(?:(\d+)\*)?(\d+)(?:\.\.(\d+))?", word)
    step, low, high = int(match[1] or 1), int(match[2]), int(match[3] or match[2])
    return step * dice.randint(low, high)


def draw_shapes(exercise, name, dice):
    """Shapes of a line of the [shapes] section each; M, N and K are 1 where they are left out in front."""
    shapes = []
    for line in exercise.data["shapes"][name].strip().splitlines():
        sizes = [draw_size(word, dice) for word in line.split()]
        M, N, K = {1: [1, *sizes, 1], 2: [*sizes, 1], 3: sizes}[len(sizes)]
        shapes.append((exercise.kind, (M, N, K)))
    return shapes


def shape_text(shape):
    kind, (M, N, K) = shape
    if kind in ("axpy", "blur"):
        return f"n = {N}"
    return f"M = {M}, N = {N}" + (f", K = {K}" if kind == "matmul" else "")


def array_of(size, shape):
    """The array of so many bytes, by its name in exercise.h where only one has that size."""
    kind, (M, N, K) = shape
    arrays = {
        "axpy": {"x, y or out": N},
        "blur": {"x or out": N},
        "scale": {"A or B": M * N},
        "transpose": {"A or B": M * N},
        "row_sums": {"A": M * N, "sums": M},
        "matmul": {"A": M * K, "B": K * N, "C": M * N},
    }.get(kind, {})
    names = [name for name, count in arrays.items() if 4 * count == size]
    return f"{' or '.join(names) or 'an array'} ({size} bytes)"


# ---- the lens ----

CLASSES = {
    "global load": "load",
    "global store": "store",
    "global atomic": "atomic",
    "shared load": "shared_load",
    "shared store": "shared_store",
    "shared atomic": "shared_atomic",
    "async copy, read": "async_read",
    "async copy, write": "async_write",
}
COUNTS = {
    "requests": "requests",
    "lanes": "lanes",
    "sectors": "sectors",
    "bytes_used": "bytes",
    "wavefronts": "wavefronts",
    "conflicts": "conflicts",
}


def as_lens(text):
    """What the lens wrote, or None."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def measures(lens):
    """The counts of all kernels together, by the names that goals use."""
    kernels = lens["kernels"]
    names = {f"{prefix}_{count}": 0 for prefix in CLASSES.values() for count in COUNTS.values()}
    for kernel in kernels:
        for kind, counts in kernel["totals"].items():
            for count, name in COUNTS.items():
                if kind in CLASSES and count in counts:
                    names[f"{CLASSES[kind]}_{name}"] += counts[count]
    for name in ("flop", "results", "loaded_bytes", "stored_bytes", "blocks"):
        names[name] = sum(kernel.get(name, 0) for kernel in kernels)
    names["threads"] = sum(
        kernel["blocks"] * kernel["block"][0] * kernel["block"][1] * kernel["block"][2]
        for kernel in kernels
    )
    names["shared_bytes"] = max((kernel["shared_bytes"] for kernel in kernels), default=0)
    for name in (
        "by_threads",
        "by_registers",
        "by_shared",
        "by_blocks",
        "blocks",
        "warps",
        "max_warps",
    ):
        values = [kernel["occupancy"][name] for kernel in kernels]
        # by_shared: the blocks that fit by shared memory alone; blocks, warps: what an SM holds
        name = name.replace("by_", "fit_") if name.startswith("by_") else "sm_" + name
        names[name] = min((value for value in values if value is not None), default=0)
    return names


def evaluate(formula, names):
    """A formula of exercise.ini. It is our own text; a share of nothing is nothing."""
    tools = {"min": min, "max": max, "ceil": lambda a, b: -(-a // b)}
    try:
        return eval(formula, {"__builtins__": {}}, {**tools, **names})
    except ZeroDivisionError:
        return 0


def costliest_line(lens, kind, measure):
    """The student's source line with most of what a goal counts: (line, text) or None."""
    rows = [
        row
        for kernel in lens["kernels"]
        for row in kernel["lines"]
        if row["kind"] == kind and row["file"].endswith("exercise.cu")
    ]
    if not rows:
        return None
    if "conflicts" in measure or "wavefronts" in measure:
        worst = max(rows, key=lambda row: row.get("conflicts", 0))
    elif "sectors" in measure:
        worst = max(rows, key=lambda row: row.get("sectors", 0) / row["requests"])
    else:
        worst = max(rows, key=lambda row: row["lanes"])
    return worst["line"], worst["text"]


# ---- the verdict ----


@dataclass
class Verdict:
    exercise: str
    passed: bool
    status: str  # passed, refused, compile, limit, crash, fault, wrong, goal
    points: float
    of: int
    feedback: str
    line: int = 0
    hint: int = 0
    mistake: str = ""
    seed: int = 0
    seconds: float = 0.0


def number(value):
    return f"{value:.0f}" if abs(value - round(value)) < 1e-9 else f"{value:.3g}"


def at(line, text=""):
    return f"line {line}" + (f" (`{unwrap(text)}`)" if text else "")


PATTERNS = {
    "unwritten": "{unwritten} of {of} results were never written, the first at {where}",
    "edge unwritten": "the results past the last whole {tile} were never written, the first at {where}",
    "transposed": "the values are right, but they lie where the transposed matrix has them: row and column are "
    "swapped in an index",
    "shifted": "the values are right, but one place off",
    "one lane": "each result is the share of one lane alone; the sums of the other 31 never came to it",
    "tail forgotten": "the sums stop too early: what is missing is the part past the last whole {tile}",
    "last tile only": "only the last {tile} is in the sums, as if each tile began them again",
    "zero": "{wrong} of {of} results are 0, the first at {where}, which should be {want}",
    "nan": "{wrong} of {of} results are not a number, the first at {where}: something was used that nobody wrote",
    "bottom edge": "only rows past the last whole {tile} are wrong, the first result at {where}: it is {got} and should be {want}",
    "right edge": "only columns past the last whole {tile} are wrong, the first result at {where}: it is {got} and should be {want}",
    "other": "{wrong} of {of} results are wrong, the first at {where}: it is {got} and should be {want}",
}


class Grading:
    """One submission for one exercise, in a folder of its own."""

    def __init__(self, exercise, source, folder, seed):
        self.exercise, self.source, self.folder = exercise, Path(source), Path(folder)
        self.seed = secrets.randbits(48) if seed is None else seed
        self.dice = random.Random(self.seed)
        self.reached = []

    def fail(self, status, text, mistake="", line=0, hint=None, points=0.0):
        said, level = self.exercise.advice(mistake or status)
        hint = hint or level
        text = f"{text} {said}".strip()
        if hint:
            text += f" Hint {hint} is about this: make hint{self.exercise.number} LEVEL={hint}"
        elif status in ("wrong", "fault", "crash"):
            text += f" Stuck? make hint{self.exercise.number}"
        return Verdict(
            self.exercise.name,
            False,
            status,
            points,
            self.exercise.points,
            text,
            line,
            hint,
            mistake,
            self.seed,
        )

    def read(self):
        """The submission's text; a Verdict if it is no text of reasonable size."""
        try:
            # A pipe or a device would never end: only plain files are opened.
            if not stat.S_ISREG(os.lstat(self.source).st_mode):
                return self.fail("refused", "This is not a plain file.")
            if self.source.stat().st_size > LARGEST_SOURCE:
                return self.fail(
                    "refused", f"The file has more than {LARGEST_SOURCE // 1024} KB."
                )
            text = self.source.read_bytes().decode(errors="replace")
        except OSError as error:
            return self.fail("refused", f"The file cannot be read: {error.strerror}.")
        reason = refusal(text)
        if reason:
            line, why = reason
            return self.fail("refused", f"Not run because of line {line}: {why}.", line=line)
        return text

    def compile(self):
        """None, or the Verdict about what the compiler said."""
        words = [
            NVCC,
            "-O2",
            "-std=c++17",
            "-I",
            FOLDER,
            "exercise.cu",
            BUILD / "runner.o",
            "-o",
            "program",
        ]
        limits = sandbox.Limits(seconds=20)
        ended = sandbox.run(words, self.folder, limits, trusted=True)
        if ended.code == 0:
            return None
        if ended.too_long:
            return self.fail(
                "limit", "The compiler did not finish within 20 seconds.", "compile"
            )
        error = re.search(
            r"^exercise\.cu:(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", ended.err, re.M
        )
        if error:
            line = int(error[1])
            return self.fail(
                "compile", f"The compiler stops at line {line}: {error[2]}.", "compile", line
            )
        if "undefined reference" in ended.err:
            name = re.search(r"undefined reference to `([^'(]*)", ended.err)
            return self.fail("compile", f"`{name[1]}` is used and defined nowhere.", "compile")
        return self.fail(
            "compile", "It does not compile: " + unwrap(ended.err[-300:]), "compile"
        )

    @contextlib.contextmanager
    def output(self):
        """A file for the program to write, under a name that it cannot guess. It is opened before the program runs: what is put
        in its place later is not read."""
        with open(self.folder / secrets.token_hex(16), "w+b") as file:
            os.chmod(file.fileno(), 0o666)
            yield file

    def run(self, program, shapes, seed, **environment):
        """Runs a program over the shapes. Returns how it ended, the judge's findings so far, and what the lens wrote."""
        cases = self.folder / "cases"
        cases.write_bytes(judge("make", seed, shapes))
        with self.output() as results, self.output() as lens:
            environment["LENS_OUT"] = lens.name
            ended = sandbox.run([program, cases, results.name], self.folder, **environment)
            findings = judge("compare", seed, shapes, results)
            text = lens.read(sandbox.MB * sandbox.Limits().output_mb).decode(errors="replace")
            return ended, findings, as_lens(text)

    def for_shape(self, shape):
        return "" if self.exercise.kind == "predict" else f" (for {shape_text(shape)})"

    def judge_end(self, ended, findings, shapes):
        """None if the program ended well and everything is right."""
        shape = shapes[min(len(findings), len(shapes) - 1)]  # where it was when it ended
        here = self.for_shape(shape)
        if ended.too_long:
            text = f"It did not come to an end within {sandbox.Limits().seconds} seconds{here}."
            return self.fail("limit", text, "endless")
        for finding, shape in zip(findings, shapes):
            if not finding["ok"]:
                return self.wrong(finding, shape)
        fault = re.search(r"^FAULT (.*)$(?:\n  .*?\bat (\S+):(\d+): (.*)$)?", ended.err, re.M)
        if fault:
            return self.fault(fault, ended.err, shape)
        if ended.code == NO_FUNCTION:
            return self.fail(
                "compile",
                f"The function `{self.exercise.kind}` is not there: keep its name and its "
                "parameters as the skeleton has them.",
                "compile",
            )
        if ended.code == CUDA_ERROR:
            last = ended.err.strip().splitlines()[-1]
            return self.fail(
                "crash", f"CUDA refuses{here}: {last}.", last.partition(": ")[2] or "launch"
            )
        if ended.code != 0:
            said = unwrap(ended.err[-200:])
            if ended.code == -signal.SIGXFSZ:
                said = f"It wrote more than {sandbox.Limits().file_mb} MB."
            why = f"exit code {ended.code}"
            if ended.code < 0:
                why = f"signal {-ended.code}, {signal.strsignal(-ended.code)}"
            return self.fail(
                "crash", f"The program broke off with {why}{here}. {said}", "crash"
            )
        if len(findings) < len(shapes):
            return self.fail(
                "crash", f"The program ended before all its work was done{here}.", "crash"
            )
        return None

    def fault(self, fault, err, shape):
        here = self.for_shape(shape)
        what, _, line, text = fault.groups()
        what = re.sub(r"\S*?exercise\.cu:(\d+)", r"line \1", what)
        what = re.sub(
            r" (allocated )?at \S+runner\.c:\d+|, and nothing between.*| \((or|is|a|ask) .*|; copy with.*",
            "",
            what,
        )
        what = re.sub(r" at 0x[0-9a-f]+", "", what)
        what = re.sub(
            r"of the (\d+) bytes$", lambda size: f"of {array_of(int(size[1]), shape)}", what
        )
        place = re.search(r"^  in kernel (\w+), (block \S+ thread \S+)", err, re.M)
        where = f"at {at(line, text)}, " if line and int(line) else ""
        who = f"in {place[2]}" if place else "on the host"
        said = f"A fault {where}{who}{here}: {what}."
        verdict = self.fail("fault", said, what, int(line or 0))
        verdict.mistake = re.split("[:,]", what)[0]
        return verdict

    def wrong(self, finding, shape):
        vector = shape[0] in ("axpy", "blur")
        where = (
            f"element {finding['col']}"
            if vector
            else f"row {finding['row']}, column {finding['col']}"
        )
        if shape[0] == "row_sums":
            where = f"row {finding['row']}"
        tile = f"tile of {finding['tile']}" if finding["tile"] > 1 else "tile"
        said = PATTERNS[finding["pattern"]].format(**{**finding, "where": where, "tile": tile})
        text = f"For {shape_text(shape)}, {said}."
        pattern = finding["pattern"]
        if not self.exercise.advice(pattern)[0]:
            pattern = "other"  # what this exercise says about wrong results in general
        verdict = self.fail("wrong", text, pattern)
        verdict.mistake = finding["pattern"]
        return verdict

    def missed_goal(self, shapes):
        """None, or the Verdict about the first goal that is not reached."""
        environment = {"LENS": "json", "LENS_BLOCKS": "1000000"}
        environment.update(
            word.split("=") for word in self.exercise.data["exercise"].get("lens", "").split()
        )
        seed = self.dice.getrandbits(48)
        ended, findings, lens = self.run("./program", shapes, seed, **environment)
        bad = self.judge_end(ended, findings, shapes)
        if bad or lens is None:
            return bad or self.fail(
                "crash", "The program ended before the lens could report.", "crash"
            )
        names = measures(lens)
        names.update(zip("MNK", shapes[0][1]), n=shapes[0][1][1])
        names.update(self.baseline(shapes, environment))
        for goal in self.exercise.sections("goal"):
            seen = evaluate(goal["measure"], names)
            most = "at_most" in goal
            limit = evaluate(goal["at_most" if most else "at_least"], names)
            if not (seen <= limit * (1 + 1e-9) if most else seen >= limit * (1 - 1e-9)):
                return self.missed(goal, seen, limit, most, lens)
            limits = f"{'at most' if most else 'at least'} {number(limit)}"
            self.reached.append(f"{goal.name.partition(' ')[2]}: {number(seen)} ({limits})")
        return None

    def missed(self, goal, seen, limit, most, lens):
        said = unwrap(goal["say"])
        numbers = f"Seen: {number(seen)}; wanted: {'at most' if most else 'at least'} {number(limit)}."
        line = costliest_line(lens, goal["where"], goal["measure"]) if "where" in goal else None
        where = f" Look at {at(*line)}." if line else ""
        text = f"All results are right. {said} {numbers}{where}"
        name = goal.name.partition(" ")[2]
        return self.fail("goal", text, name, line[0] if line else 0, goal.getint("hint"))

    def check_source(self, text):
        """Rules about what has to be in the source, where no run can tell."""
        code = words_of(text)
        for rule in self.exercise.sections("source"):
            if not re.search(rule["needs"], code):
                name = rule.name.partition(" ")[2]
                return self.fail("goal", unwrap(rule["say"]), name, 0, rule.getint("hint"))
        return None

    def baseline(self, shapes, environment):
        """What the unchanged skeleton costs, as base_... names, for exercises that ask to beat it."""
        if not self.exercise.data["exercise"].get("baseline"):
            return {}
        shutil.copy(BUILD / self.exercise.name, self.folder / "baseline")
        _, _, lens = self.run("./baseline", shapes, 1, **environment)
        return {"base_" + name: value for name, value in measures(lens).items()}

    def predictions(self):
        shapes = [("predict", (1, 1, 1))]
        ended, findings, _ = self.run("./program", shapes, self.seed)
        bad = self.judge_end(ended, findings, shapes)
        if bad:
            return bad
        answers, questions = findings[0]["answers"], self.exercise.sections("question")
        wrong = []
        for given, question in zip(answers, questions):
            truth = measured(self.exercise, question["run"], question.get("with", ""))
            want = evaluate(question["measure"], truth)
            if given != want:
                wrong.append((given, want, question, truth))
        right = len(questions) - len(wrong)
        if not wrong:
            return None
        given, want, question, truth = wrong[0]
        said = [f"{right} of {len(questions)} predictions are right."]
        said.append(
            f"{question.name.capitalize()} ({unwrap(question['ask'])}): you say {given}, and the lens counts "
            + ("more." if want > given else "fewer.")
        )
        for trap in sorted(key for key in question if key.startswith("trap")):
            formula, _, text = question[trap].partition("|")
            if given == evaluate(formula, truth):
                said.append(unwrap(text))
                break
        points = self.exercise.points * right / len(questions)
        text = " ".join(said)
        return self.fail("wrong", text, question.name, 0, question.getint("hint"), points)

    def grade(self):
        text = self.read()
        if isinstance(text, Verdict):
            return text
        (self.folder / "exercise.cu").write_text(text)
        bad = self.compile()
        if bad:
            return bad
        if self.exercise.kind == "predict":
            bad = self.predictions()
            return bad or self.passed("every prediction is right")
        # The shapes that the lens will see are among those that faults are looked for in.
        seen = draw_shapes(self.exercise, "lens", self.dice)
        shapes = draw_shapes(self.exercise, "check", self.dice) + seen
        ended, findings, _ = self.run("./program", shapes, self.dice.getrandbits(48))
        bad = self.judge_end(ended, findings, shapes)
        if bad:
            return bad
        missed = self.missed_goal(seen) or self.check_source(text)
        if missed:
            if missed.status == "goal":
                missed.points = self.exercise.data.getint(
                    "exercise", "points_if_right", fallback=0
                )
            return missed
        return self.passed(
            f"right for {len(shapes)} shapes, no fault; " + "; ".join(self.reached)
        )

    def passed(self, said):
        points = self.exercise.points
        return Verdict(
            self.exercise.name,
            True,
            "passed",
            points,
            points,
            f"Passed: {said}.",
            seed=self.seed,
        )


@functools.lru_cache(maxsize=None)
def measured(exercise, argument, settings):
    """What the lens counts for a kernel that a task asks about: given.cu, run with one argument."""
    environment = {"PATH": os.environ["PATH"], "LENS": "json"}
    environment.update(word.split("=") for word in settings.split())
    done = subprocess.run(
        [str(BUILD / exercise.name), argument], capture_output=True, text=True, env=environment
    )
    lens = as_lens(done.stdout)
    if done.returncode or lens is None:
        raise MachineCannot(f"{exercise.name}/given.cu {argument}: {done.stdout}{done.stderr}")
    return measures(lens)


def grade(exercise, source=None, seed=None):
    """Grades a file (the exercise's own, if none is named). Call prepare() before."""
    started = time.monotonic()
    folder = tempfile.mkdtemp(prefix="exercise-")
    try:
        os.chmod(folder, 0o711)  # the program may run as another user, who must reach it
        verdict = Grading(exercise, source or exercise.source, folder, seed).grade()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    verdict.seconds = round(time.monotonic() - started, 2)
    return verdict
