"""Grades one file for one exercise: right results, no faults, and goals that the lens measures.

The student's code is compiled with the emulator's nvcc, linked with runner.c, and run in the
sandbox over shapes and numbers drawn at this moment. It decides nothing: judge.c, in a process of
its own, knows the answers.
"""

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
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import sandbox
from counts import as_lens, costliest_line, evaluate, measures
from gate import code_of, refusal
from tasks import (
    FOLDER,
    all_exercises,
    array_of,
    arrays_of,
    draw_shapes,
    name_of,
    settings,
)
from tasks import shape_text, unwrap

ROOT = FOLDER.parent
NVCC = ROOT / "emulator" / "bin" / "nvcc"
BUILD = ROOT / "build" / "exercises"

NO_FUNCTION, CUDA_ERROR = 4, 5  # runner.c's exit codes
LARGEST_SOURCE = 256 * 1024
COMPILER_SECONDS = 10


class MachineCannot(Exception):
    """Something that is no fault of the student's: exit code 3."""


# ---- the tools, built once ----


def is_fresh(target, *sources):
    if not target.exists():
        return False
    return all(target.stat().st_mtime >= source.stat().st_mtime for source in sources)


def build(target, source, *words):
    """Compiles one of our own files, if it is newer than what it makes."""
    library = ROOT / "emulator" / "build" / "libemulator.a"
    if is_fresh(target, source, library, FOLDER / "exercise.h", FOLDER / "cases.h"):
        return
    scratch = target.with_suffix(f".{os.getpid()}")
    command = [NVCC, "-O2", "-I", FOLDER, source, "-o", scratch, *words]
    result = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=ROOT
    )
    if result.returncode:
        raise MachineCannot(f"cannot build {source.name}:\n{result.stderr}")
    os.replace(scratch, target)


def prepare():
    """Builds the emulator, the judge and the runner where they are missing or old."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (BUILD / "judge").exists():
            print(
                "building the emulator and the judge, once: about 15 seconds on one core",
                file=sys.stderr,
            )
        try:
            emulator = subprocess.run(
                [str(NVCC), "--version"], capture_output=True, text=True
            )
        except OSError as error:
            raise MachineCannot(f"cannot start {NVCC}: {error.strerror}") from error
        if emulator.returncode:
            raise MachineCannot(emulator.stderr.strip())
        build(BUILD / "judge", FOLDER / "judge.c", "-lm")
        build(BUILD / "runner.o", FOLDER / "runner.c", "-c")
        for exercise in all_exercises():
            given = exercise.folder / "given.cu"
            if given.exists():
                build(BUILD / exercise.name, given)
            if exercise.has_baseline:
                skeleton = BUILD / f"{exercise.name}.cu"
                if not skeleton.exists() or skeleton.read_text() != exercise.skeleton:
                    skeleton.write_text(exercise.skeleton)
                build(BUILD / exercise.name, skeleton, BUILD / "runner.o")


def judge(command, seed, shapes, results=None):
    """Runs the judge; the bytes of a case file for "make", a list of findings for "compare"."""
    words = [BUILD / "judge", command, seed]
    for kind, sizes in shapes:
        words += [kind, *sizes]
    done = subprocess.run(list(map(str, words)), stdin=results, capture_output=True)
    if done.returncode:
        raise MachineCannot(done.stderr.decode())
    if command == "make":
        return done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


@functools.cache
def measured(exercise, argument, words):
    """What the lens counts for a kernel that a task asks about: given.cu, run with an argument."""
    environment = {"PATH": os.environ["PATH"], "LENS": "json", **settings(words)}
    command = [str(BUILD / exercise.name), argument]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    lens = as_lens(done.stdout)
    if done.returncode or lens is None:
        raise MachineCannot(
            f"{exercise.name}/given.cu {argument}: {done.stdout}{done.stderr}"
        )
    return measures(lens)


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


class NotYet(Exception):
    """Carries the Verdict about what was found first."""

    def __init__(self, verdict):
        super().__init__(verdict.feedback)
        self.verdict = verdict


def number(value):
    return f"{value:.0f}" if abs(value - round(value)) < 1e-9 else f"{value:.3g}"


def at(line, text):
    return f"line {line}" + (f" (`{unwrap(text)}`)" if text else "")


# What the judge recognises in wrong results.
FIRST = "the first at {where}"
INSTEAD = FIRST + ": it is {got} and should be {want}"
PATTERNS = {
    "unwritten": "{unwritten} of {of} results were never written, " + FIRST,
    "edge unwritten": "the results past the last whole {tile} were never written, "
    + FIRST,
    "transposed": "the values are right, but they lie where the transposed matrix has them: "
    "row and column are swapped in an index",
    "shifted": "the values are right, but one place off",
    "one lane": "each result is the share of one lane alone; the other 31 sums never came to it",
    "tail forgotten": "the sums stop too early: the part past the last whole {tile} is missing",
    "last tile only": "only the last {tile} is in the sums, as if each tile began them again",
    "zero": "{wrong} of {of} results are 0, " + FIRST + ", which should be {want}",
    "nan": "{wrong} of {of} results are not a number, "
    + FIRST
    + ": something was used before "
    "it was written. The output itself holds no numbers at first: it is stored with =, not +=",
    "bottom edge": "only rows past the last whole {tile} are wrong, " + INSTEAD,
    "right edge": "only columns past the last whole {tile} are wrong, " + INSTEAD,
    "other": "{wrong} of {of} results are wrong, " + INSTEAD,
}

# What the emulator says about a fault besides what it is, and what the student need not read.
BESIDES = re.compile(
    r" (allocated )?at \S+runner\.c:\d+|, and nothing between.*| \((or|is|a|ask) .*|; copy with.*"
    r"| at 0x[0-9a-f]+"
)


class Grading:
    """One submission for one exercise, in a folder of its own."""

    def __init__(self, exercise, source, folder, seed):
        self.exercise, self.source, self.folder = exercise, Path(source), Path(folder)
        self.seed = secrets.randbits(48) if seed is None else seed
        self.dice = random.Random(self.seed)
        self.reached = []

    def verdict(self):
        try:
            text = self.read()
            (self.folder / "exercise.cu").write_text(text)
            self.compile()
            if self.exercise.kind == "predict":
                self.check_predictions()
                said = "every prediction is right"
            else:
                # The shapes that the lens will see are among those that faults are looked for in.
                shapes = draw_shapes(self.exercise, "lens", self.dice)
                more = draw_shapes(self.exercise, "check", self.dice)
                self.check_results("./program", more + shapes)
                self.check_goals(shapes)
                self.check_source(text)
                said = f"right for {len(more + shapes)} shapes, no fault; "
                said += "; ".join(self.reached)
        except NotYet as reason:
            return reason.verdict
        name, points = self.exercise.name, self.exercise.points
        return Verdict(
            name, True, "passed", points, points, f"Passed: {said}.", seed=self.seed
        )

    def fail(self, status, text, mistake="", line=0, hint=0, points=0, advice=None):
        """Ends the grading. What the exercise has to say about the mistake is added; `advice`
        names another section of exercise.ini than `mistake`."""
        said, level = self.exercise.advice(advice or mistake or status)
        hint = hint or level
        text = f"{text} {said}".strip()
        command = f"make hint{self.exercise.number}"
        if hint:
            text += f" Hint {hint} is about this: {command} LEVEL={hint}"
        elif status in ("wrong", "fault", "crash"):
            text += f" Stuck? {command}"
        name, of = self.exercise.name, self.exercise.points
        raise NotYet(
            Verdict(name, False, status, points, of, text, line, hint, mistake, self.seed)
        )

    def read(self):
        try:
            # A pipe or a device would never end: only plain files are opened.
            if not stat.S_ISREG(os.lstat(self.source).st_mode):
                self.fail("refused", "This is not a plain file.")
            if self.source.stat().st_size > LARGEST_SOURCE:
                self.fail(
                    "refused", f"The file has more than {LARGEST_SOURCE // 1024} KB."
                )
            text = self.source.read_bytes().decode(errors="replace")
        except OSError as error:
            self.fail("refused", f"The file cannot be read: {error.strerror}.")
        reason = refusal(text)
        if reason:
            self.fail(
                "refused",
                f"Not run because of line {reason[0]}: {reason[1]}.",
                line=reason[0],
            )
        return text

    def compile(self):
        words = [
            NVCC,
            "-O2",
            "-std=c++17",
            "-I",
            FOLDER,
            "exercise.cu",
            BUILD / "runner.o",
        ]
        limits = sandbox.Limits(seconds=COMPILER_SECONDS)
        ended = sandbox.run([*words, "-o", "program"], self.folder, limits, trusted=True)
        if ended.code == 0:
            return
        if ended.too_long or "Killed signal" in ended.err:
            text = f"The compiler did not finish within {COMPILER_SECONDS} seconds."
            self.fail("limit", text, "compile")
        error = re.search(
            r"^exercise\.cu:(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", ended.err, re.M
        )
        if error:
            line = int(error[1])
            self.fail(
                "compile",
                f"The compiler stops at line {line}: {error[2]}.",
                "compile",
                line,
            )
        missing = re.search(r"undefined reference to `([^'(]*)", ended.err)
        if missing:
            self.fail(
                "compile", f"`{missing[1]}` is used and defined nowhere.", "compile"
            )
        self.fail(
            "compile", f"It does not compile: {unwrap(ended.err[-300:])}", "compile"
        )

    # ---- running ----

    @contextlib.contextmanager
    def output(self):
        """A file for the program to write, under a name that it cannot guess. It is opened before
        the program runs: what is put in its place later is not read."""
        with open(self.folder / secrets.token_hex(16), "w+b") as file:
            os.chmod(file.fileno(), 0o666)
            yield file

    def run(self, program, shapes, **environment):
        """Runs a program over the shapes. Returns how it ended, the judge's findings as far as it
        came, and what the lens wrote."""
        seed, cases = self.dice.getrandbits(48), self.folder / "cases"
        cases.write_bytes(judge("make", seed, shapes))
        with self.output() as results, self.output() as lens:
            environment["LENS_OUT"] = lens.name
            try:
                ended = sandbox.run(
                    [program, cases, results.name], self.folder, **environment
                )
            except OSError as error:
                where = f"cannot start programs in {self.folder.parent}: {error.strerror}"
                raise MachineCannot(
                    f"{where}; set TMPDIR to a folder where they may"
                ) from error
            findings = judge("compare", seed, shapes, results)
            text = lens.read(sandbox.MB * sandbox.Limits().output_mb).decode(
                errors="replace"
            )
            return ended, findings, as_lens(text)

    def check_results(self, program, shapes, **environment):
        """Fails unless the program ends well and everything is right. Returns its findings, and
        what the lens wrote."""
        ended, findings, lens = self.run(program, shapes, **environment)
        shape = shapes[min(len(findings), len(shapes) - 1)]  # where it was when it ended
        here = self.for_shape(shape)
        if ended.too_long:
            text = f"It did not come to an end within {sandbox.Limits().seconds} seconds{here}."
            self.fail("limit", text, "endless")
        for finding, found_in in zip(findings, shapes):
            if not finding["ok"]:
                self.fail_wrong(finding, found_in)
        fault = re.search(
            r"^FAULT (.*)$(?:\n  .*?\bat (\S+):(\d+): (.*)$)?", ended.err, re.M
        )
        if fault:
            self.fail_fault(fault, ended.err, shape)
        if ended.code == NO_FUNCTION:
            text = f"The function `{self.exercise.kind}` is not there: keep its name and its "
            self.fail("compile", text + "parameters as the skeleton has them.", "compile")
        if ended.code == CUDA_ERROR:
            call, _, why = ended.err.strip().splitlines()[-1].partition(": ")
            self.fail("crash", f"CUDA refuses{here}: {call}, {why}.", why or "launch")
        if ended.code != 0:
            self.fail_broken(ended, here)
        if len(findings) < len(shapes):
            self.fail(
                "crash", f"The program ended before its work was done{here}.", "crash"
            )
        return findings, lens

    def for_shape(self, shape):
        return "" if self.exercise.kind == "predict" else f" (for {shape_text(shape)})"

    def fail_broken(self, ended, here):
        why, said = f"exit code {ended.code}", unwrap(ended.err[-200:])
        if ended.code < 0:
            why = f"signal {-ended.code}, {signal.strsignal(-ended.code)}"
        if ended.code == -signal.SIGXFSZ:
            said = f"It wrote more than {sandbox.Limits().file_mb} MB."
        self.fail("crash", f"The program broke off with {why}{here}. {said}", "crash")

    def fail_fault(self, fault, err, shape):
        what, _, line, text = fault.groups()
        what = BESIDES.sub("", re.sub(r"\S*?exercise\.cu:(\d+)", r"line \1", what))
        size = re.search(r"the (\d+) bytes$", what)
        if size:
            what = what[: size.start()] + array_of(int(size[1]), shape)
        line = int(line or 0)
        thread = re.search(r"^  in kernel (\w+), (block \S+ thread \S+)", err, re.M)
        where = f"at {at(line, text)}, " if line else ""
        where += f"in {thread[2]}" if thread else "on the host"
        said = f"A fault {where}{self.for_shape(shape)}: {what}."
        self.fail("fault", said, re.split("[:,]", what)[0], line, advice=what)

    def fail_wrong(self, finding, shape):
        pattern = finding["pattern"]
        where = f"row {finding['row']}, column {finding['col']}"
        if shape[0] == "row_sums":
            where = f"row {finding['row']}"
        if shape[0] in ("axpy", "blur"):
            where = f"element {finding['col']}"
        tile = f"tile of {finding['tile']}" if finding["tile"] > 1 else "tile"
        said = PATTERNS[pattern].format(**{**finding, "where": where, "tile": tile})
        # Where an exercise has no word on a pattern, it may have one on others of its kind.
        kin = "unwritten" if "unwritten" in pattern else "other"
        kin = "nan" if pattern == "nan" else kin  # says what there is to say itself
        advice = pattern if self.exercise.advice(pattern)[0] else kin
        self.fail("wrong", f"For {shape_text(shape)}, {said}.", pattern, advice=advice)

    # ---- goals ----

    def check_goals(self, shapes):
        environment = {
            "LENS": "json",
            "LENS_BLOCKS": "1000000",
            **self.exercise.lens_settings,
        }
        _, lens = self.check_results("./program", shapes, **environment)
        if lens is None:
            self.fail("crash", "The program ended before the lens could report.", "crash")
        M, N, K = shapes[0][1]
        names = {**measures(lens), "M": M, "N": N, "K": K, "n": N}
        if self.exercise.has_baseline:
            shutil.copy(BUILD / self.exercise.name, self.folder / "baseline")
            _, _, base = self.run("./baseline", shapes, **environment)
            names.update(
                {"base_" + name: value for name, value in measures(base).items()}
            )
        for goal in self.exercise.sections("goal"):
            self.check_goal(goal, names, lens)
        *inputs, output = arrays_of(shapes[0]).values()
        if names["loaded_bytes"] < 4 * sum(inputs) or names["results"] < output:
            text = "All results are right, but the lens has not seen all the loads and stores that "
            self.fail(
                "refused", text + "they need. Load and store floats, or vectors of them."
            )

    def check_goal(self, goal, names, lens):
        seen, name = evaluate(goal["measure"], names), name_of(goal)
        most = "at_most" in goal
        limit = evaluate(goal["at_most" if most else "at_least"], names)
        wanted = f"{'at most' if most else 'at least'} {number(limit)}"
        # A hair of room, for formulas that divide.
        if seen <= limit * (1 + 1e-9) if most else seen >= limit * (1 - 1e-9):
            self.reached.append(f"{name}: {number(seen)} ({wanted})")
            return
        text = f"All results are right. {unwrap(goal['say'])} "
        text += f"Seen: {number(seen)}; wanted: {wanted}."
        found = (
            costliest_line(lens, goal["where"], goal["measure"])
            if "where" in goal
            else None
        )
        if found:
            text += f" Look at {at(*found)}."
        line, points = found[0] if found else 0, self.exercise.points_if_right
        self.fail("goal", text, name, line, goal.getint("hint"), points)

    def check_source(self, text):
        """Rules about what has to be in the source, where no run can tell."""
        for rule in self.exercise.sections("source"):
            if not re.search(rule["needs"], code_of(text)):
                said, hint = unwrap(rule["say"]), rule.getint("hint")
                points = self.exercise.points_if_right
                self.fail("goal", said, name_of(rule), hint=hint, points=points)

    def check_predictions(self):
        findings, _ = self.check_results("./program", [("predict", (1, 1, 1))])
        answers, questions = findings[0]["answers"], self.exercise.sections("question")
        wrong = []
        for answer, question in zip(answers, questions):
            names = measured(self.exercise, question["run"], question.get("with", ""))
            want = evaluate(question["measure"], names)
            if answer != want:
                wrong.append((answer, want, question, names))
        if not wrong:
            return
        answer, want, question, names = wrong[0]
        right = len(questions) - len(wrong)
        text = f"{right} of {len(questions)} predictions are right. "
        text += f"{question.name.capitalize()} ({unwrap(question['ask'])}): you say {answer}, and "
        text += f"the lens counts {'more' if want > answer else 'fewer'}."
        for trap in (question[key] for key in question if key.startswith("trap")):
            formula, _, said = trap.partition("|")
            if answer == evaluate(formula, names):
                text += " " + unwrap(said)
                break
        points = self.exercise.points * right / len(questions)
        self.fail(
            "wrong", text, question.name, hint=question.getint("hint"), points=points
        )


def grade(exercise, source=None, seed=None):
    """Grades a file (the exercise's own, if none is named). Call prepare() before."""
    started = time.monotonic()
    folder = tempfile.mkdtemp(prefix="exercise-")
    try:
        os.chmod(folder, 0o711)  # the program may run as another user, who must reach it
        verdict = Grading(exercise, source or exercise.source, folder, seed).verdict()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    verdict.seconds = round(time.monotonic() - started, 2)
    return verdict
