"""Grades one file for one exercise: right results, no faults, and goals that the lens measures.

The student's code is compiled in a box and run by a machine in software, over shapes and numbers
drawn at this moment (tools.py). It decides nothing: judge.c, in a process of its own, knows the
answers, and the machine counts.
"""

import contextlib
import functools
import os
import random
import re
import secrets
import signal
import stat
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import picture
import sandbox
from counts import as_lens, costliest_row, evaluate, measures
from tasks import VECTORS, array_of, arrays_of, draw_shapes, name_of, settings
from tasks import shape_text, unwrap
from tools import IN_SOFTWARE, MachineCannot

NO_FUNCTION, CUDA_ERROR = 4, 5  # runner.c's exit codes
NO_END = "no end"  # so begins what machine/ says of a program that it has cut off
# What it says where the compiler has put an instruction that is none, as for an index that lies
# outside (tools.ASKED).
NOT_TO_BE_REACHED = "a place that the compiler took for impossible to reach"
FAULT = re.compile(r"^FAULT (.*)$(?:\n  .*?\bat (\S+):(\d+): (.*)$)?", re.M)
INDEXED = re.compile(r"\b(\w+)\s*\[")
POINTER = re.compile(
    r"\b(?:float\d?|int|_*half2?)\s*\*\s*(?:(?:const|__restrict__|__restrict)\s+)*(\w+)"
)
LARGEST_SOURCE = 256 * 1024
COMPILER_SECONDS = 10
ALL_BLOCKS = 999999999  # the most that LENS_BLOCKS may say
LINES_SHOWN, COLUMNS_SHOWN = 8, 100  # of what the student's code prints


@functools.cache
def measured(program, argument, words):
    """What the lens counts for a kernel that a task asks about: given.cu, run with an argument."""
    environment = {"PATH": os.environ["PATH"], "LENS": "json", **settings(words)}
    command = [str(program), argument]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    lens = as_lens(done.stdout)
    if done.returncode or lens is None:
        raise MachineCannot(f"{program.name} {argument}: {done.stdout}{done.stderr}")
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
    notes: list = field(
        default_factory=list
    )  # paragraphs: what it printed, warnings, ...


class NotYet(Exception):
    """Carries the Verdict about what was found first."""

    def __init__(self, verdict):
        super().__init__(verdict.feedback)
        self.verdict = verdict


def number(value):
    return f"{value:.0f}" if abs(value - round(value)) < 1e-9 else f"{value:.3g}"


def at(line, text):
    return f"line {line}" + (f" (`{unwrap(text)}`)" if text else "")


# How files begin that are no text.
MAGIC = [
    (b"PK", "zip"),
    (b"\x7fELF", "compiled"),
    (b"\x1f\x8b", "gzip"),
    (b"%PDF", "PDF"),
    (b"\x89PNG", "PNG"),
]


def text_of(path):
    """A student's file, whatever an editor has made of a letter in a comment."""
    return Path(path).read_text(encoding="utf-8", errors="replace")


def is_utf_16(data):
    """Whether a file is text of two bytes a character: read so, nearly all of it is what programs
    are made of."""
    for code in ("utf-16", "utf-16-le", "utf-16-be"):
        text = data.decode(code, errors="replace")
        ordinary = sum(c.isascii() and (c.isprintable() or c.isspace()) for c in text)
        if b"\0" in data and ordinary > 0.8 * len(text):
            return True
    return False


# What the judge recognises in wrong results.
FIRST = "the first at {where}"
INSTEAD = FIRST + ": it is {got} and should be {want}"
PATTERNS = {
    "unwritten": "{unwritten} of {of} results were never written, " + FIRST,
    "partly unwritten": "{unwritten} of {of} results were never written, and others are wrong, "
    + INSTEAD,
    "edge unwritten": "the results past the last whole {tile} were never written, "
    + FIRST,
    "transposed": "the values are right, but they lie where the transposed matrix has them: "
    "row and column are swapped in an index",
    "shifted": "the values are right, but one place off",
    "one lane": "each result is the share of one lane alone; the other 31 sums never came to it",
    "tail missing": "the sums stop too early: the part past the last whole {tile} is missing",
    "last missing": "the last {term} of each sum is missing",
    "first missing": "the first {term} of each sum is missing",
    "last only": "only the last {term} is in each sum, as if each began the sum again "
    "(= for +=, or a sum set to 0 inside the loop)",
    "first only": "only the first {term} is in each sum",
    "multiple": "each wrong result is {factor} times what it should be, " + FIRST,
    "rough": "the results are nearly right, but the largest error is {factor} times what is allowed, "
    + FIRST,
    "narrow": "all results are nearly right, "
    + INSTEAD
    + ": something is kept in a type "
    "with fewer bits than a float has",
    "zero": "{wrong} of {of} results are 0, " + FIRST + ", which should be {want}",
    "whole": "the results are whole numbers, "
    + INSTEAD
    + ": an int holds a value on its way and drops what follows the point",
    "nan": "{wrong} of {of} results are not a number, "
    + FIRST
    + ": something was used before "
    "it was written. The output itself holds no numbers at first: it is stored with =, not +=",
    "never set": "{wrong} of {of} results are wrong, "
    + INSTEAD
    + ". No inputs give that: a variable was used before anything was put into it, such as "
    "a sum that does not begin with 0",
    "not set to 0": "the counts are right, but they were added to what was there before",
    "slower": "candidate {got} was chosen, which takes {factor} times as long as the fastest, {want}",
    "never run": "candidate {got} was chosen, and the fastest, {want}, was never run: time_of "
    "was not called for it",
    "no candidate": "{got} is the number of no candidate",
    "one that fails": "candidate {got} was chosen, which cannot run: its time is negative",
    "too many runs": "time_of was called {row} times for {col} candidates; 20 for each is enough",
    "lower blocks": "only rows from {tile_size} on are wrong, " + INSTEAD,
    "further blocks": "only columns from {tile_size} on are wrong, " + INSTEAD,
    "bottom edge": "only rows past the last whole {tile} are wrong, " + INSTEAD,
    "right edge": "only columns past the last whole {tile} are wrong, " + INSTEAD,
    "other": "{wrong} of {of} results are wrong, " + INSTEAD,
}

# What the emulator says about a fault besides what it is, and what the student need not read.
BESIDES = re.compile(
    r" (allocated )?at (\S+runner\.c|\?):\d+| that a library allocated|, and nothing between.*| \((or|is|a|ask) .*"
    r"|; copy with cudaMemcpy .*| or cudaMemcpyFromSymbol instead| at 0x[0-9a-f]+"
)

# Advice for exercises that have no word of their own on a mistake.
IN_GENERAL = {
    "barrier divergence": "A barrier waits for every thread of the block: none may leave "
    "before it, or pass it by.",
    "endless": "Either a loop never ends, as its condition stays true, or every thread does the "
    "work of all.",
    "data race in global memory": "Two threads own one place of the output. Either the work is "
    "shared out twice, or a thread reaches past the end of its row, where the next row begins: "
    "ask for rows and for columns before the store.",
}

# What a student's code calls and cannot have, and why it needs none of it.
NOT_HERE = [
    (r"cublas", "a library does the work: the exercise asks for a kernel of yours"),
    (
        r"cudaMemcpyFromSymbol",
        "what a kernel has computed stays on the device, where the next kernel finds it",
    ),
    (r"cudaMemset", "there are cudaMemset and cudaMemsetAsync, which fill any array"),
    (
        r"cuda(Memcpy|Malloc|Free|Host)",
        "allocating, copying and checking are done for you",
    ),
    (
        r"emu_ptx",
        "of inline PTX there is what the exercises use: mma.sync, ldmatrix, stmatrix, mbarrier and "
        "cp.async.bulk",
    ),
    (r"std::.*(cout|cerr|ostream|ios_base)", "print with printf"),
    (r"emu_find_kernel", "launch your kernel with <<< >>>"),
    (r"cuda", "of the CUDA runtime there is what a launch needs"),
    (r"", "of the C library there is what needs no system: printf, memcpy, mathematics"),
]


def plain(text):
    """Without what would move a terminal's cursor, ring its bell, or end a line."""
    return "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def few_lines(text):
    """The first lines of what a program has printed."""
    lines = plain(text.expandtabs()).splitlines()
    shown = [line[:COLUMNS_SHOWN] for line in lines[:LINES_SHOWN]]
    if len(lines) > LINES_SHOWN:
        shown.append(f"... and {len(lines) - LINES_SHOWN} lines more")
    return "\n".join(shown)


def kind_of_fault(what):
    """A fault by the name that exercise.ini uses: "out of bounds, shared read, A_tile"; of most
    others it is what stands before the first colon or comma."""
    access = re.match(r"out of bounds: an? (read|write|atomic) of", what)
    if not access:
        return re.split("[:,]", what)[0]
    array = re.search(
        r"(?:past the end|before the start|of) of (\w+)|byte \d+ of (\w+)", what
    )
    if "global memory" in what or "shared memory" not in what:
        return f"out of bounds, global {access[1]}"
    name = next(filter(None, array.groups()), "") if array else ""
    return f"out of bounds, shared {access[1]}, {name}"


def limits_of_launch(err):
    """What is wrong with the numbers between <<< and >>>, of a launch that was refused."""
    found = re.search(
        r"^refused: grid (\d+) (\d+) (\d+), block (\d+) (\d+) (\d+)", err, re.M
    )
    if not found:
        return ""
    *grid, x, y, z = map(int, found.groups())
    asked = f" The launch asked for {grid[0]} x {grid[1]} x {grid[2]} blocks of {x} x {y} x {z} "
    asked += "threads."
    if x * y * z > 1024:
        return (
            f"{asked} A block has at most 1,024 threads; yours would have {x * y * z:,}."
        )
    if 0 in (x, y, z):
        return f"{asked} A block needs at least one thread in every direction."
    if 0 in grid:
        return (
            f"{asked} A grid needs at least one block in every direction: for a size "
            "smaller than a block, a division that rounds down gives none."
        )
    if z > 64 or max(grid[1:]) > 65535:
        return f"{asked} z of a block goes up to 64, y and z of a grid up to 65,535."
    return asked


class Grading:
    """One submission for one exercise, in a folder of its own."""

    def __init__(self, tools, exercise, source, folder, seed):
        self.tools, self.exercise = tools, exercise
        self.source, self.folder = Path(source), Path(folder)
        self.seed = secrets.randbits(48) if seed is None else seed
        self.dice = random.Random(self.seed)
        self.reached = []
        self.printed = self.warnings = self.drawn = ""

    def verdict(self):
        try:
            self.keep_source()
            self.compile()
            if self.exercise.kind == "predict":
                self.check_predictions()
                said = "every prediction is right"
            else:
                # The run that looks for faults begins as the lens's does, so no kernel can be
                # careful in the one and quick in the other.
                shapes = draw_shapes(self.exercise, "lens", self.dice)
                more = draw_shapes(self.exercise, "check", self.dice)
                # One size comes again, with other numbers.
                self.check_results(shapes + more + [self.dice.choice(more)])
                # The sizes of "lens" are whole tiles, and known. A kernel for these alone would
                # need no guards, so some goals hold for sizes in between as well.
                elsewhere = draw_shapes(self.exercise, "elsewhere", self.dice)
                if elsewhere:
                    self.check_results(elsewhere)
                if self.exercise.sections("goal"):
                    self.check_goals(shapes)
                if elsewhere:
                    self.check_goals(elsewhere, elsewhere=True)
                self.check_indices(shapes)
                said = f"right for {len(more + shapes + elsewhere)} shapes, no fault; "
                said += "; ".join(self.reached)
            name, points = self.exercise.name, self.exercise.points
            verdict = Verdict(name, True, "passed", points, points, f"Passed: {said}.")
        except NotYet as reason:
            verdict = reason.verdict
        verdict.seed = self.seed
        if self.drawn:
            verdict.notes.append(self.drawn)
        if self.printed:
            verdict.notes.append(f"It printed:\n{few_lines(self.printed)}")
        if self.warnings and not verdict.passed and verdict.status != "compile":
            verdict.notes.append(f"The compiler warns:\n{self.warnings}")
        verdict.feedback = plain(verdict.feedback)
        return verdict

    def fail(self, status, text, mistake="", line=0, hint=0, points=0, advice=None):
        """Ends the grading. What the exercise has to say about the mistake is added; `advice`
        names other sections of exercise.ini than `mistake`, the best first."""
        advice = advice or [mistake or status]
        said, level = self.exercise.advice(*advice)
        said = said or IN_GENERAL.get(advice[0], "")
        hint = hint or level
        text = f"{text} {said}".strip()
        command = f"make hint{self.exercise.number}"
        if hint:
            text += f" Hint {hint} is about this: {command} LEVEL={hint}"
        elif status in ("wrong", "fault", "crash"):
            text += f" Stuck? {command}"
        name, of = self.exercise.name, self.exercise.points
        raise NotYet(Verdict(name, False, status, points, of, text, line, hint, mistake))

    def read(self):
        try:
            # A pipe or a device would never end: only plain files are opened.
            if not stat.S_ISREG(os.lstat(self.source).st_mode):
                self.fail("refused", "This is not a plain file.")
            if self.source.stat().st_size > LARGEST_SOURCE:
                self.fail(
                    "refused", f"The file has more than {LARGEST_SOURCE // 1024} KB."
                )
            data = self.source.read_bytes()
        except OSError as error:
            self.fail("refused", f"The file cannot be read: {error.strerror}.")
        if not data.strip():
            self.fail("refused", "This file is empty.")
        if is_utf_16(data):
            text = "This file is UTF-16, as some editors save text: save it as UTF-8."
            self.fail("refused", text)
        if b"\0" in data:
            what = next(
                (name for start, name in MAGIC if data.startswith(start)), "binary"
            )
            self.fail(
                "refused",
                f"This is a {what} file. Hand in the source, the .cu file as text.",
            )
        return data.decode(errors="replace")

    def keep_source(self):
        (self.folder / "exercise.cu").write_text(self.read(), encoding="utf-8")

    # ---- compiling ----

    def compile(self, asked=False):
        limits = sandbox.Limits(seconds=COMPILER_SECONDS)
        ended = self.tools.compile(self.folder, limits, self.exercise.headers, asked)
        self.warnings = self.warnings_in(ended.err)
        if ended.code == 0:
            return
        if ended.too_long or re.search(r"Killed signal|size limit|memory exh", ended.err):
            text = f"The compiler did not finish within {COMPILER_SECONDS} seconds and "
            text += f"{sandbox.Limits().file_mb} MB."
            self.fail("limit", text, "compile")
        place = r"^(?:\S*/)?exercise\.cu:(\d+):(?:\d+:)? "
        error = re.search(place + r"(?:fatal )?error: (.*)$", ended.err, re.M)
        if error:
            line, what = int(error[1]), error[2]
            refused = what.startswith("static assertion failed")
            text = f"The compiler stops at line {line}: {what}."
            if re.search("expected .*;.* before", what):
                text += " What is missing belongs before that: perhaps at the end of a line above."
            self.fail(
                "compile",
                text,
                "compile",
                line,
                advice=["static assertion" if refused else "compile"],
            )
        # In what the file includes: a macro, say, that has the name of a parameter there.
        place = r"^(?:\S*/)?([^\s/:]+):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$"
        if error := re.search(place, ended.err, re.M):
            text = f"The compiler stops in {error[1]}, line {error[2]}: {error[3]}. What stands "
            text += "above its #include changes its meaning: a #define of a name it uses?"
            self.fail("compile", text, "compile")
        # As the assembler says it, and the linker.
        if re.search("File too large|relocation truncated", ended.err):
            text = "The program would be too large: the arrays that the file defines have no room."
            self.fail("limit", text, "compile")
        # Older linkers name a source line alone, newer ones the place in the section, too.
        at = r"(?:exercise\.cu:(\d+):(?:\(\S+\):)? )?"
        missing = re.search(at + r"undefined reference to `([^']*)", ended.err)
        if missing:
            self.fail_missing(missing[2], int(missing[1] or 0))
        last = unwrap(ended.err.strip()[-300:]) or f"it ended with {ended.code}"
        self.fail("compile", f"It does not compile: {last}", "compile")

    def fail_missing(self, name, line):
        why = next(said for pattern, said in NOT_HERE if re.match(pattern, name))
        if self.exercise.kind == "axpy_on_two" and name.startswith("cudaMemcpy"):
            why = "copy with cudaMemcpyPeerAsync or cudaMemcpyAsync, in a stream"
        where = f", on line {line}" if line else ""
        text = f"`{name}` is called{where}, and the file does not define it. {why[0].upper()}{why[1:]}."
        self.fail("compile", text, "compile", line)

    def warnings_in(self, err):
        found = re.findall(
            r"^exercise\.cu:(\d+):\d+: warning: (.*?)(?: \[-W.*\])?$", err, re.M
        )
        lines = dict.fromkeys(f"line {line}: {what}" for line, what in found)
        return few_lines("\n".join(lines))

    # ---- running ----

    @contextlib.contextmanager
    def output(self, name):
        """A file for the program to write. It is opened before the program runs: what is put in
        its place later is not read."""
        with open(self.folder / name, "w+b") as file:
            os.chmod(file.fileno(), 0o666)
            yield file

    def run(self, shapes, **environment):
        """Runs the program over the shapes. Returns how it ended, the judge's findings as far as it
        came, and what the lens wrote."""
        seed = self.dice.getrandbits(48)
        with tempfile.TemporaryFile() as cases:
            cases.write(self.tools.judge("make", seed, shapes))
            cases.seek(0)
            with self.output("results") as results, self.output("lens") as lens:
                names = ("results", "lens")
                settings = {**self.exercise.machine_settings, **environment}
                ended = self.tools.run_program(self.folder, cases, names, **settings)
                findings = self.tools.judge("compare", seed, shapes, results)
                text = lens.read(sandbox.MB * sandbox.Limits().output_mb)
                return ended, findings, as_lens(text.decode(errors="replace"))

    def check_results(self, shapes, **environment):
        """Fails unless the program ends well and everything is right. Returns its findings, and
        what the lens wrote."""
        ended, findings, lens = self.run(shapes, **environment)
        self.printed = ended.out
        shape = shapes[min(len(findings), len(shapes) - 1)]  # where it was when it ended
        here = self.for_shape(shape)
        for i, (finding, found_in) in enumerate(zip(findings, shapes)):
            if not finding["ok"]:
                self.fail_wrong(finding, found_in, shapes[:i])
        if ended.too_long:
            text = f"It did not come to an end within {sandbox.Limits().seconds} seconds{here}."
            self.fail("limit", text, "endless")
        fault = FAULT.search(ended.err)
        if fault and fault[1].startswith(NO_END):
            text = f"It did not come to an end{fault[1].removeprefix(NO_END)}{here}."
            line = int(fault[3] or 0) if str(fault[2]).endswith("exercise.cu") else 0
            if line:
                text += f" When it was stopped, it was at {at(line, fault[4])}."
            self.fail("limit", text, "endless", line)
        if fault:
            self.fail_fault(fault, ended.err, shape)
        if ended.code == NO_FUNCTION:
            text = f"The function `{self.exercise.kind}` is not there: keep its name and its "
            text += "parameters as the skeleton has them."
            included = r'^\s*#\s*include\s*"exercise\.h"'
            if not re.search(included, text_of(self.folder / "exercise.cu"), re.M):
                text = f"The function `{self.exercise.kind}` is not found, as "
                text += '`#include "exercise.h"` is missing, which declares it.'
            self.fail("compile", text, "compile")
        if ended.code == CUDA_ERROR and ended.err.strip():
            call, _, why = ended.err.strip().splitlines()[-1].partition(": ")
            text = f"CUDA refuses{here}: {call}, {why}.{limits_of_launch(ended.err)}"
            self.fail("crash", text, why or "launch")
        if ended.code != 0:
            self.fail_broken(ended, here)
        if len(findings) < len(shapes):
            self.fail(
                "crash", f"The program ended before its work was done{here}.", "crash"
            )
        return findings, lens

    def check_indices(self, shapes):
        """A thread's own arrays lie among its other variables, where a write past the end is no
        fault and may change nothing. So the file is built once more, with a question before each
        index; by itself, as that changes what the lens counts."""
        if not IN_SOFTWARE:
            return
        self.compile(asked=True)
        ended, findings, _ = self.run(shapes)
        if not (fault := FAULT.search(ended.err)) or NOT_TO_BE_REACHED not in fault[1]:
            return
        # A row of a shared array ends where the next one begins, and kernels that number all of
        # its places from its first row on work. Its own end is looked at wherever they run.
        source = text_of(self.folder / "exercise.cu")
        shared = " ".join(re.findall(r"__shared__[^;]*;", source))
        known = {*INDEXED.findall(shared), *POINTER.findall(source)}
        if not set(INDEXED.findall(fault[4] or "")) - known:
            return
        line = int(fault[3] or 0)
        text = f"All results are right, by luck: at {at(line, fault[4])}, an index lies outside its "
        text += f"array{self.for_shape(shapes[min(len(findings), len(shapes) - 1)])}. The elements "
        text += "of `float v[4]` are v[0] to v[3]; a loop over them asks for i < 4, not i <= 4."
        self.fail("fault", text, "index of an array", line)

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
        what, file, line, text = fault.groups()
        what = BESIDES.sub("", re.sub(r"\S*?exercise\.cu:(\d+)", r"line \1", what))
        what = re.sub(
            r"\bthe (\d+) bytes(?= is |$|: )", lambda m: array_of(int(m[1]), shape), what
        )
        line = int(line or 0)
        thread = re.search(r"^  in kernel (\w+), (block \S+ thread \S+)", err, re.M)
        where = f"at {at(line, text)}, " if line else ""
        if file and not file.endswith("exercise.cu"):  # what the task gives
            where = f"at {file}:{line}, "
        where += f"in {thread[2]}" if thread else "on the host"
        said = f"A fault {where}{self.for_shape(shape)}: {what}."
        mistake = kind_of_fault(fault[1])
        self.fail("fault", said, mistake.split(",")[0], line, advice=[mistake])

    def fail_wrong(self, finding, shape, before):
        """`before` are the shapes that were right."""
        pattern = finding["pattern"]
        where = f"row {finding['row']}, column {finding['col']}"
        if shape[0] == "row_sums":
            where = f"row {finding['row']}"
        if shape[0] in VECTORS:
            where = f"element {finding['col']}"
        tile = f"tile of {finding['tile']}" if finding["tile"] > 1 else "tile"
        term = "term" if finding["tile"] == 1 else tile
        words = {**finding, "where": where, "tile": tile, "term": term}
        words["tile_size"] = finding["tile"]
        if finding["unwritten"] == finding["of"] and not self.launches(shape):
            text = f"For {shape_text(shape)}, no kernel was launched: the function "
            text += f"`{self.exercise.kind}` has to launch one, as kernel<<<blocks, threads>>>(...)."
            self.fail("wrong", text, "no launch")
        # Where an exercise has no word on a pattern, it may have one on others of its kind.
        kin = "unwritten" if "unwritten" in pattern else "other"
        tells_all = pattern in ("nan", "never set", "last only", "narrow")
        advice = [pattern] if tells_all else [pattern, kin]
        text = f"For {shape_text(shape)}, {PATTERNS[pattern].format(**words)}."
        if shape in before:
            text += " The same size was right before, with other numbers: does a call "
            text += "keep what another computed?"
        elif before and self.has_device_variable():
            text += (
                " Another size was right before: does a call keep what another left in a "
            )
            text += "__device__ variable?"
        self.fail("wrong", text, pattern, advice=advice)

    def has_device_variable(self):
        source = text_of(self.folder / "exercise.cu")
        return re.search(r"\b__device__\b[^(){};]*[;=\[]", source) is not None

    def launches(self, shape):
        """Whether the program launches a kernel at all."""
        lens = self.run([shape], LENS="json")[2]
        return bool(lens and lens["kernels"])

    # ---- goals ----

    def measured(self, shapes):
        """What goals may ask for, and the lens's report."""
        environment = {
            "LENS": "json",
            "LENS_BLOCKS": str(ALL_BLOCKS),
            **self.exercise.lens_settings,
        }
        _, lens = self.check_results(shapes, **environment)
        if lens is None:
            self.fail("crash", "The program ended before the lens could report.", "crash")
        for kernel in lens["kernels"]:
            # What it has not looked at could have done all the work.
            if kernel["blocks_seen"] != kernel["blocks"]:
                text = f"The kernel `{kernel['name']}` was launched with so many blocks that the "
                text += f"lens saw {kernel['blocks_seen']:,} of {kernel['blocks']:,}: launch fewer."
                self.fail("limit", text, "too many blocks")
        M, N, K = shapes[0][1]
        results = sum(list(arrays_of(shape).values())[-1] for shape in shapes)
        names = {**measures(lens), "results": results, "M": M, "N": N, "K": K, "n": N}
        if self.exercise.has_baseline:
            base = self.run_baseline(shapes, environment)
            names.update(
                {"base_" + name: value for name, value in measures(base).items()}
            )
            names["base_results"] = results
        return names, lens

    def check_goals(self, shapes, elsewhere=False):
        """`elsewhere` is for sizes that are no whole tiles: of the goals, those that say by which
        factor they are wider there."""
        names, lens = self.measured(shapes)
        for goal in self.exercise.sections("goal"):
            if not elsewhere:
                self.check_goal(goal, names, lens)
            elif "elsewhere" in goal:
                where = f" for {shape_text(shapes[0])}, with remainders"
                self.check_goal(goal, names, lens, goal.getfloat("elsewhere"), where)

    def costs(self, goals):
        if not goals:
            return []
        self.keep_source()
        self.compile()
        shapes = draw_shapes(self.exercise, "lens", self.dice)
        names, _ = self.measured(shapes)
        return [evaluate(goal["measure"], names) for goal in goals]

    def run_baseline(self, shapes, environment):
        program = self.folder / "program"
        own = program.read_bytes()
        base = self.tools.folder / f"{self.exercise.name}.base"
        program.write_bytes(base.read_bytes())
        lens = self.run(shapes, **environment)[2]
        program.write_bytes(own)
        return lens

    def check_goal(self, goal, names, lens, wider=1, where=""):
        seen, name = evaluate(goal["measure"], names), name_of(goal)
        most = "at_most" in goal
        limit = evaluate(goal["at_most" if most else "at_least"], names)
        limit = limit * wider if most else limit / wider
        wanted = f"{'at most' if most else 'at least'} {number(limit)}"
        # A hair of room, for formulas that divide.
        if seen <= limit * (1 + 1e-9) if most else seen >= limit * (1 - 1e-9):
            if not where:
                self.reached.append(f"{name}: {number(seen)} ({wanted})")
            return
        text = f"All results are right. {unwrap(goal['say'])} "
        shown = number(seen)
        if shown == number(limit):  # a hair's breadth beside it
            shown = f"{seen:.6g}"
        text += f"Seen{where}: {shown}; wanted: {wanted}."
        row = None
        if "where" in goal:
            row = costliest_row(lens, goal["where"].split(", "), goal["measure"])
        if row:
            text += f" Look at {at(row['line'], row['text'])}."
            if re.search("sectors|conflicts|wavefronts|passes", goal["measure"]):
                self.drawn = plain(picture.of_row(row))
        line, points = row["line"] if row else 0, self.exercise.points_if_right
        self.fail("goal", text, name, line, goal.getint("hint"), points)

    def check_predictions(self):
        findings, _ = self.check_results([("predict", (1, 1, 1))])
        answers, questions = findings[0]["answers"], self.exercise.sections("question")
        wrong = []
        for answer, question in zip(answers, questions):
            given = self.tools.folder / self.exercise.name
            names = {}  # some answers follow from the task's own numbers
            if "run" in question:
                names = measured(given, question["run"], question.get("with", ""))
            want = evaluate(question["measure"], names)
            if answer != want:
                wrong.append((answer, want, question, names))
        if not wrong:
            return
        answer, want, question, names = wrong[0]
        right = len(questions) - len(wrong)
        text = f"{right} of {len(questions)} predictions are right. "
        text += f"{question.name.capitalize()} ({unwrap(question['ask'])}): you say {answer}, and "
        if "choice" in question:
            text += "it is another."
        elif "run" in question:
            text += f"the lens counts {'more' if want > answer else 'fewer'}."
        else:
            text += f"it is {'more' if want > answer else 'less'}."
        for trap in (question[key] for key in question if key.startswith("trap")):
            formula, _, said = trap.partition("|")
            if answer == evaluate(formula, names):
                text += " " + unwrap(said)
                break
        points = self.exercise.points * right / len(questions)
        self.fail(
            "wrong", text, question.name, hint=question.getint("hint"), points=points
        )


def costs(tools, exercise, source=None):
    """(goal, before, after): what the skeleton and a file cost by the goals' measures; None
    where the skeleton does not get so far."""
    goals = [] if exercise.has_baseline else exercise.sections("goal")
    seen = []
    for text in (exercise.skeleton, text_of(source or exercise.source)):
        with tempfile.TemporaryDirectory(prefix="exercise-") as folder:
            file = Path(folder, "handed-in.cu")
            file.write_text(text, encoding="utf-8")
            try:
                seen.append(Grading(tools, exercise, file, folder, 1).costs(goals))
            except NotYet:
                seen.append([None] * len(goals))
    return list(zip(map(name_of, goals), *seen))


def grade(tools, exercise, source=None, seed=None):
    """Grades a file (the exercise's own, if none is named) with the tools that tools.prepare()
    has made."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="exercise-") as folder:
        source = source or exercise.source
        verdict = Grading(tools, exercise, source, folder, seed).verdict()
    verdict.seconds = round(time.monotonic() - started, 2)
    return verdict
