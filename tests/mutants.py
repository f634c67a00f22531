"""Random bugs in the chapters' kernels and launchers: how many does ./chapterN reject?

    make mutants COUNT=300 SEED=1

Each mutant is a chapter with one change, small enough to be a slip of the hand. It is built
for the emulator and run as a reader would run it, without arguments. Of those that pass, the
judge, a list of other shapes, says which are wrong all the same. What the run without
arguments is worth is the share of the wrong mutants that it rejects. A mutant that neither
rejects may be as right as the chapter, or wrong in a way that nothing here can see.

The same seed makes the same mutants. They are spread evenly over the chapters, and in each
chapter over the kinds of change. Needs what the emulator needs, and Python.
"""

import argparse
import difflib
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

# ---- the judge ----

# The likely killers first: most wrong mutants that pass the run without arguments do not
# get past the third.
SHAPES = [
    "150 141 37 --alpha 1.5 --beta -0.5",
    "260 132 72",
    "129 257 20 --beta 2",
    "300 520 65 --alpha -0.5",
    "132 136 72 --alpha 1.5 --beta -0.5",
    "150 140 37",
    "67 259 130 --beta 1",
    "150 141 36",
    "513 129 24 --alpha 3 --beta 0.25",
    "1 300 129",
    "300 1 17 --alpha 2 --beta -1",
    "33 31 1",
]
# For chapters without a tile of their own, which choose a kernel by the size of the problem.
LARGE_SHAPES = ["9999 130 40", "4096 300 150 --alpha 1.5 --beta -0.5", "64 2048 3700"]
# For numbers that are counted in fewer bits.
LONG_SHAPES = ["70001 1 5", "1 70001 5", "1 1 70001"]

# Far more of the processor's time than a right chapter takes, and a limit for programs
# that sleep. Memory, because a wrong size may be a very large one.
SECONDS, SECONDS_OF_JUDGE, HOURGLASS = 30, 120, 1800
KILOBYTES = 8 << 20

# ---- tokens ----

TOKEN = re.compile(
    r"""
    (?P<blank>\s+ | //[^\n]* | /\*.*?\*/ | \#(?:[^\n\\]|\\.)*)
  | (?P<text>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<<|>>>|<<=|>>=|\.\.\.|->|::|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^=!<>]=|.)
    """,
    re.X | re.S,
)
OPEN = {"(": ")", "[": "]", "{": "}", "<<<": ">>>"}
TYPES = set("void bool char int unsigned float double size_t float4 dim3 auto".split())
KEYWORDS = set(
    "if else for while do switch case default return break continue goto sizeof typedef "
    "struct enum union static extern const constexpr template using asm static_assert".split()
)

TYPE_WORDS = {"const", "struct", "enum"}


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def tokens_of(text):
    return [
        Token(match.lastgroup, match.group(), match.start(), match.end())
        for match in TOKEN.finditer(text)
        if match.lastgroup != "blank"
    ]


class Declaration(NamedTuple):
    """What begins at the outermost level of a file: tokens [first, last]."""

    first: int
    last: int
    names: frozenset  # that it declares
    uses: frozenset  # all names in it


class Edit(NamedTuple):
    """Tokens [first, last] become `new`."""

    kind: str
    first: int
    last: int
    new: str


class Source:
    """A C file as tokens, with partners of brackets and declarations found."""

    def __init__(self, text):
        self.text = text
        self.tokens = tokens_of(text)
        self.partner = {}
        self.around = []  # for each token, the bracket that it is in, or None
        open_ones = []
        for i, token in enumerate(self.tokens):
            if open_ones and token.text == OPEN[self.tokens[open_ones[-1]].text]:
                self.partner[open_ones[-1]] = i
                self.partner[i] = open_ones.pop()
            self.around.append(open_ones[-1] if open_ones else None)
            if token.kind == "sign" and token.text in OPEN:
                open_ones.append(i)
        self.declarations = list(self.find_declarations())
        self.in_for, self.closed = set(), set()
        for i, token in enumerate(self.tokens):
            if token.text == "for":
                self.in_for.update(range(i, self.partner[i + 1]))
            if token.text in ("asm", "static_assert", "__launch_bounds__"):
                self.closed.update(range(i, self.partner[i + 1]))
        self.bare = " ".join(token.text for token in self.tokens)
        lengths = (len(token.text) + 1 for token in self.tokens)
        self.bare_starts = [0, *itertools.accumulate(lengths)]

    def edits(self, protected):
        """All small changes of what is not in one of the protected declarations."""
        for declaration in self.declarations:
            if declaration not in protected:
                for i in range(declaration.first, declaration.last + 1):
                    for change in CHANGES if i not in self.closed else ():
                        yield from change(self, i)

    def edited(self, edit):
        start, end = self.tokens[edit.first].start, self.tokens[edit.last].end
        return self.text[:start] + edit.new + self.text[end:]

    def edited_bare(self, edit):
        """The same without comments, and all blanks alike: two that are equal are one."""
        new = [token.text for token in tokens_of(edit.new)]
        start, end = self.bare_starts[edit.first], self.bare_starts[edit.last + 1]
        return self.bare[:start] + " ".join([*new, ""]) + self.bare[end:]

    def is_(self, i, *texts):
        return 0 <= i < len(self.tokens) and self.tokens[i].text in texts

    def kind(self, i):
        return self.tokens[i].kind if 0 <= i < len(self.tokens) else None

    def between(self, first, last):
        """The text from one token to another, both included."""
        if last < first:
            return ""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def is_binary(self, i):
        """An operator with two operands has blanks around it, which the formatter sees to;
        a pointer's star, a sign and a template's bracket have not."""
        token = self.tokens[i]
        around = self.text[token.start - 1] + self.text[token.end]
        return token.kind == "sign" and around.isspace()

    def after(self, i):
        """The token behind this one, or behind the bracket that opens here."""
        return self.partner[i] + 1 if self.is_(i, *OPEN) else i + 1

    def before(self, i):
        """The token before this one, or before the bracket that ends there."""
        closes = i - 1 in self.partner and not self.is_(i - 1, *OPEN)
        return self.partner[i - 1] if closes else i - 1

    def find_declarations(self):
        first = i = 0
        while i < len(self.tokens):
            ends = self.is_(i, ";")
            if i in self.partner and self.is_(i, "(", "[", "{"):
                body = self.is_(i, "{") and self.is_(i - 1, ")")
                i = self.partner[i]
                ends = body and not self.is_(i + 1, ";")
            if ends or i + 1 == len(self.tokens):
                uses = {t.text for t in self.tokens[first : i + 1] if t.kind == "name"}
                names = frozenset(self.names_of(first, i))
                yield Declaration(first, i, names, frozenset(uses))
                first = i + 1
            i += 1

    def names_of(self, first, last):
        """The function's name stands before the last parentheses outside its body; a
        variable's before its brackets or its value; an enum has its constants besides."""
        outer = [i for i in range(first, last + 1) if self.around[i] is None]
        if self.is_(last, "}"):
            called = [i for i in outer if self.is_(i, "(")]
            return [self.tokens[called[-1] - 1].text] if called else []
        heads = [i for i in outer if self.is_(i, "struct", "union", "enum")]
        braces = [i for i in outer if self.is_(i, "{")]
        if heads and braces and braces[0] - heads[-1] in (1, 2):
            names = [self.tokens[braces[0] - 1].text]
            if self.is_(heads[-1], "enum"):
                inside = range(braces[0], self.partner[braces[0]])
                names += [self.tokens[i].text for i in inside if self.kind(i) == "name"]
            return names
        stops = [i for i in outer if self.is_(i, "=", "[", "{", ";")]
        ends = [i for i in outer if i < stops[0]] if stops else outer
        named = [i for i in ends if self.kind(i) == "name"]
        return [self.tokens[named[-1]].text] if named else []

    def items(self, first):
        """What stands between the commas inside a bracket: (first, last) of each."""
        begin, depth, i = first + 1, 0, first + 1
        while i < self.partner[first]:
            token = self.tokens[i]
            if not self.text[token.start - 1].isspace():  # a template's, then
                depth += {"<": 1, ">": -1, ">>": -2}.get(token.text, 0)
            if token.text == "," and depth <= 0:
                yield begin, i - 1
                begin = i + 1
            i = self.after(i)
        if begin < self.partner[first]:
            yield begin, self.partner[first] - 1


def used_by(name, declarations, without=()):
    """The declarations that one of this name needs, itself included."""
    found, names = [], [name]
    while names:
        name = names.pop()
        for declaration in declarations:
            if name in declaration.names and declaration not in found:
                found.append(declaration)
                names += declaration.uses - set(without)
    return found


# ---- kinds of change ----

ARITHMETIC = ["+", "-", "*", "/", "%"], ["^", "|", "&"], ["<<", ">>"]
COMPARISON = ["<", "<=", ">", ">=", "==", "!="]
ASSIGNMENT = {"+=": ["=", "-=", "*="], "-=": ["=", "+="], "*=": ["=", "+="], "^=": ["="]}
# Words that are taken for each other, alone or as a part of a name.
ALIKE = """
row col; rows cols; ROW COL; M N K; BM BN BK; TM TN; WM WN; m n k; i j k; a b; A B C; x y;
alpha beta; down across; begin end; first last; now next; full empty
"""
ALIKE = [group.split() for group in ALIKE.split(";")]
BARRIER = re.compile(r"sync|barrier|fence|wait|commit|arrive", re.I)
KINDS = (
    "arithmetic assignment comparison index constant statement barrier guard loop argument "
    "cast width".split()
)


def other_names(name):
    words = name.split("_")
    for i, word in enumerate(words):
        for group in ALIKE:
            for other in group if word in group else ():
                if other != word:
                    yield "_".join([*words[:i], other, *words[i + 1 :]])


def other_numbers(text):
    number, suffix = re.fullmatch(
        r"(0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?|[\d.]+(?:[eE][+-]?\d+)?)(\w*)", text
    ).groups()
    whole = r"0[xX][\da-fA-F]+|\d+"
    if not re.fullmatch(whole, number):
        value = float.fromhex(number) if number[:2] in ("0x", "0X") else float(number)
        return [f"{new!r}{suffix}" for new in (0.0, 1.0, 2 * value) if new != value]
    value = int(number, 0) if number.startswith("0x") else int(number)
    new = {value - 1, value + 1, 0, 2 * value} - {value}
    return [f"{n}{suffix}" for n in sorted(new)]


# Each yields the edits that begin at token i of a source.


def operator(source, i):
    text = source.tokens[i].text
    looping = i in source.in_for
    if source.is_binary(i):
        for group in ARITHMETIC:
            for other in group if text in group else ():
                yield Edit("arithmetic", i, i, other)
        for other in COMPARISON if text in COMPARISON else ():
            yield Edit("loop" if looping else "comparison", i, i, other)
        for other in ASSIGNMENT.get(text, ()):
            yield Edit("loop" if looping else "assignment", i, i, other)
    if text in ("++", "--"):
        other = "--" if text == "++" else "++"
        yield Edit("loop" if looping else "assignment", i, i, other)


def other_number(source, i):
    if source.kind(i) == "number":
        for other in other_numbers(source.tokens[i].text):
            yield Edit("loop" if i in source.in_for else "constant", i, i, other)


def other_name(source, i):
    if source.kind(i) != "name" or is_declared_here(source, i):
        return
    for other in other_names(source.tokens[i].text):
        yield Edit("index", i, i, other)


def is_declared_here(source, i):
    """A name behind a type: declared, not used."""
    while source.is_(i - 1, "*", "&") and not source.is_binary(i - 1):
        i -= 1
    before = source.tokens[i - 1].text if i else ""
    return source.kind(i - 1) == "name" and before not in KEYWORDS - TYPE_WORDS


def subscripts(source, i):
    if source.is_(i, "[") and source.is_(source.partner[i] + 1, "["):
        second = source.partner[i] + 1
        end = source.partner[second]
        swapped = source.between(second, end) + source.between(i, second - 1)
        yield Edit("index", i, end, swapped)


def statement(source, i):
    """Deletes what begins here, if it is a statement and an expression."""
    if not begins_statement(source, i) or source.is_(i, ";", "{", "}"):
        return
    end = i
    while not source.is_(end, ";", ")", "}", "]"):
        end = source.after(end)
    if not source.is_(end, ";"):
        return
    if source.tokens[i].text in KEYWORDS | TYPES:
        jump = source.is_(i, "return", "break", "continue") and end == i + 1
        if not jump:
            return
    elif declares_something(source, i):
        return
    called = source.kind(i) == "name" and source.is_(end - 1, ")")
    barrier = called and BARRIER.search(source.tokens[i].text)
    yield Edit("barrier" if barrier else "statement", i, end - 1, "")


def begins_statement(source, i):
    around = source.around[i]
    if around is None or not source.is_(around, "{") or source.is_(around - 1, "="):
        return False
    if source.is_(i - 1, ")"):
        return source.is_(source.partner[i - 1] - 1, "if", "for", "while")
    return source.is_(i - 1, ";", "{", "}", "else")


def declares_something(source, i):
    if source.kind(i) != "name":
        return False
    if source.is_(i + 1, "<"):
        while not source.is_(i, ">", ";"):
            i += 1
    star = source.is_(i + 1, "*", "&") and not source.is_binary(i + 1)
    return source.kind(i + 1) == "name" or star


def condition(source, i):
    if not source.is_(i, "if", "while") or not source.is_(i + 1, "("):
        return
    end = source.partner[i + 1]
    condition = source.between(i + 2, end - 1)
    yield Edit("guard", i + 1, end, f"(!({condition}))")
    yield Edit("guard", i + 1, end, "(false)")
    if source.is_(i, "if"):
        yield Edit("guard", i + 1, end, "(true)")


def operands(source, i):
    """a && b becomes a, b and a || b; !a becomes a."""
    if source.is_(i, "!"):
        yield Edit("guard", i, i, "")
    if not source.is_(i, "&&", "||"):
        return
    edges = ("&&", "||", "?", ":", "=", ",", ";", "return")
    left = right = i
    while not source.is_(left - 1, *edges, *OPEN):
        left = source.before(left)
    while not source.is_(right + 1, *edges, *OPEN.values()):
        right = source.after(right + 1) - 1
    yield Edit("guard", left, i, "")
    yield Edit("guard", i, right, "")
    yield Edit("guard", i, i, "||" if source.is_(i, "&&") else "&&")


def arms(source, i):
    """a ? b : c becomes a ? c : b, and b or c in any case."""
    if not source.is_(i, "?"):
        return
    depth, colon = 0, i + 1
    while depth or not source.is_(colon, ":"):
        depth += source.is_(colon, "?") - source.is_(colon, ":")
        colon = source.after(colon)
    end = colon
    while not source.is_(end + 1, ",", ";", ":", *OPEN.values()):
        end = source.after(end + 1) - 1
    yes, no = source.between(i + 1, colon - 1), source.between(colon + 1, end)
    for one, other in (no, yes), (yes, yes), (no, no):
        yield Edit("guard", i, end, f"? {one} : {other}")


def loop(source, i):
    """The bound one higher or lower, the step twice as long."""
    if not source.is_(i, "for"):
        return
    end = source.partner[i + 1]
    stops = [j for j in range(i, end) if source.is_(j, ";")]
    if len(stops) != 2:
        return
    for bound in (" + 1", " - 1") if stops[1] - stops[0] > 1 else ():
        yield Edit("loop", stops[1], stops[1], f"{bound};")
    if source.is_(stops[1] + 1, "++") and stops[1] + 3 == end:
        name = source.tokens[end - 1].text
        yield Edit("loop", stops[1] + 1, end - 1, f"{name} += 2")
    if source.is_(stops[1] + 2, "+="):
        yield Edit("loop", stops[1] + 2, stops[1] + 2, "+= 2 *")


def arguments(source, i):
    """Swaps neighbours in a call, a launch or a list of values."""
    call = source.is_(i, "(") and (
        source.kind(i - 1) == "name" or source.is_(i - 1, ">", ">>", ">>>", ")")
    )
    values = source.is_(i, "{") and source.is_(i - 1, "=")
    if not call and not values and not source.is_(i, "<<<"):
        return
    if source.is_(i - 1, "for") or source.is_(source.partner[i] + 1, "{"):
        return
    items = list(source.items(i))
    for (a, b), (c, d) in zip(items, items[1:]):
        gap = source.text[source.tokens[b].end : source.tokens[c].start]
        yield Edit("argument", a, d, source.between(c, d) + gap + source.between(a, b))


def cast(source, i):
    if not source.is_(i, "(") or (
        source.kind(i - 1) == "name" and not source.is_(i - 1, "return")
    ):
        return
    end = source.partner[i]
    words = [source.tokens[j].text for j in range(i + 1, end)]
    if not words or not all(
        w in TYPES | TYPE_WORDS | {"*"} or w.endswith("_t") for w in words
    ):
        return
    if source.kind(end + 1) in ("name", "number") or source.is_(
        end + 1, "(", "*", "&", "-"
    ):
        yield Edit("cast", i, end, "")


NARROWER = dict.fromkeys(("size_t", "int64_t", "uint64_t"), ["int", "unsigned"])
NARROWER |= dict.fromkeys(("int", "unsigned", "uint32_t"), ["short", "unsigned short"])


def width(source, i):
    """A variable, a parameter or a cast of fewer bits; pointers stay, and a file's constants."""
    if source.around[i] is None:
        return
    if source.is_(i - 1, "unsigned", "enum") or source.is_(i + 1, "int", "char"):
        return
    variable = source.kind(i + 1) == "name" and not source.is_(i + 2, "(")
    if variable or source.is_(i + 1, ")"):
        for narrower in NARROWER.get(source.tokens[i].text, ()):
            yield Edit("width", i, i, narrower)


CHANGES = [
    operator,
    other_number,
    other_name,
    subscripts,
    statement,
    condition,
    operands,
    arms,
    loop,
    arguments,
    cast,
    width,
]


# ---- chapters ----


class Mutant(NamedTuple):
    chapter: int
    file: str  # in the chapter's folder
    edit: Edit


def scrubbed():
    """The environment without what changes how a program is built or what it does."""
    ours = (
        "CHECK LENS EMULATE EMULATOR NVCC NVCC_CCBIN ARCH CXX MAKEFLAGS MFLAGS MAKELEVEL"
    )
    return {name: value for name, value in os.environ.items() if name not in ours.split()}


class Chapter:
    """A chapter's code, everything that may be changed in it, and how it is built."""

    def __init__(self, folder):
        self.folder = folder
        self.number = int(folder.name[:2])
        files = sorted([*folder.glob("*.cu"), *folder.glob("*.cuh")])
        self.sources = {file.name: Source(file.read_text()) for file in files}
        # A chapter without a tile of its own chooses one by the size of the problem.
        declared = [d for s in self.sources.values() for d in s.declarations]
        self.shapes = list(SHAPES)
        if not any("BM" in d.names for d in declared):
            self.shapes += LARGE_SHAPES

    def mutants(self):
        """All there are, each program once, whatever blanks and comments say. Left alone is
        what describes the chapter and what it measures: main, and what only main needs."""
        declared = [d for s in self.sources.values() for d in s.declarations]
        launchers = {
            name
            for source in self.sources.values()
            for name in re.findall(r"\.launch\w* = (\w+)", source.text)
        }
        product = [d for name in launchers for d in used_by(name, declared)]
        protected = [d for d in used_by("main", declared, launchers) if d not in product]
        protected += [d for d in declared if "chapter" in d.names]
        names = {name for d in declared for name in d.uses}
        for file, source in self.sources.items():
            seen = {hash(source.bare)}
            for edit in source.edits(protected):
                if edit.new.isidentifier() and edit.new not in names:
                    continue
                program = hash(source.edited_bare(edit))
                if program not in seen:
                    seen.add(program)
                    yield Mutant(self.number, file, edit)

    def ask_make(self):
        """Has make build the chapter and what all mutants share, and keeps the command that is left."""
        self.program = ROOT / "build" / "emulator" / f"chapter{self.number}"
        targets = [f"parts{self.number}", str(self.program.relative_to(ROOT))]
        said = run(["make", "-s", "--no-print-directory", "EMULATOR=1", *targets])
        if said.returncode:
            sys.exit(f"mutants: make {targets[0]} failed:\n{said.stderr}")
        _, nvcc, rest = said.stdout.splitlines()
        # A mutant runs for a few seconds, and an optimised one takes as many to compile.
        self.command = [nvcc, *rest.split(), "-Ofc", "max", "-w"]

    def build(self, mutant, folder):
        """The program, in `folder`; None if it does not compile."""
        for file, source in self.sources.items():
            changed = file == mutant.file
            text = source.edited(mutant.edit) if changed else source.text
            (folder / file).write_text(text)
        program = folder / f"chapter{self.number}"
        # What is changed is compiled, or what may include it; the rest is make's.
        files = [file for file in self.sources if file.endswith(".cu")]
        compiled = [mutant.file] if mutant.file in files else files
        place = f"build/emulator/chapters/{self.folder.name}"
        objects = {file: f"{place}/{file[:-3]}.o" for file in files}
        rest = [word for word in self.command[1:] if word not in objects.values()]
        sources = [str(folder / file) for file in compiled]
        sources += [objects[file] for file in files if file not in compiled]
        command = [*self.command[:1], *sources, *rest, "-o", str(program)]
        try:
            return program if run(command, HOURGLASS).returncode == 0 else None
        except subprocess.TimeoutExpired:
            return None


def run(command, timeout=None):
    """Runs a command in the project's folder; the result has returncode, stdout, stderr."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env=scrubbed(),
        timeout=timeout,
        capture_output=True,
        text=True,
        errors="replace",
    )


# ---- running ----


def reject(program, arguments, seconds):
    """Why this run is no PASS, in a line; None if it is one."""
    limited = f'ulimit -t {seconds}; ulimit -v {KILOBYTES}; exec "$0" "$@"'
    command = ["sh", "-c", limited, str(program), *arguments.split()]
    try:
        result = run(command, timeout=HOURGLASS)
    except subprocess.TimeoutExpired:
        return f"does not end in {HOURGLASS} s"
    if result.returncode == 0:
        return None
    if -result.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return f"does not end in {seconds} s"
    if result.returncode < 0:
        return f"ended by {signal.Signals(-result.returncode).name}"
    lines = (result.stdout + result.stderr).strip().splitlines() or [
        f"exit code {result.returncode}"
    ]
    telling = [line for line in lines if re.search(r"^FAULT |are wrong|likely:", line)]
    return (telling or lines)[0].strip().replace(f"{program.parent}/", "")


class Result(NamedTuple):
    mutant: Mutant
    by_default: str  # why ./chapterN rejects it, or None
    by_judge: str  # why one of the shapes does; None if it was not asked, too
    shape: str  # which


def try_mutant(chapter, mutant):
    """The result, or None if it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        program = chapter.build(mutant, Path(folder))
        if program is None:
            return None
        by_default = reject(program, "", SECONDS)
        if by_default is not None:
            return Result(mutant, by_default, None, None)
        wide = LONG_SHAPES if mutant.edit.kind == "width" else []
        for shape in [*wide, *chapter.shapes]:
            by_judge = reject(
                program, f"{shape} --check-only --one-shape", SECONDS_OF_JUDGE
            )
            if by_judge is not None:
                return Result(mutant, None, by_judge, shape)
        return Result(mutant, None, None, None)


def first_that_compiles(chapter, candidates):
    """The result of the first, and how many did not compile before it."""
    for failed, mutant in enumerate(candidates):
        result = try_mutant(chapter, mutant)
        if result is not None:
            return result, failed
    return None, len(candidates)


def plan(buckets, taken, count):
    """Deals `count` places to the buckets, each one kind of change in one chapter: to the
    chapter that has the fewest so far, and there to the kind that has. A place gets
    candidates of its own, so that the choice does not depend on who is built first."""
    places = dict.fromkeys(buckets, 0)
    share = Counter()  # of each chapter, each kind, and each pair of them
    for key, number in taken.items():
        share.update(dict.fromkeys([*key, key], number))
    for _ in range(count):
        open_ones = [key for key in buckets if places[key] < len(buckets[key])]
        if not open_ones:
            break
        key = min(open_ones, key=lambda key: (share[key[0]], share[key], share[key[1]]))
        places[key] += 1
        share.update([*key, key])
    return [
        (key, buckets[key][place :: places[key]])
        for key in buckets
        for place in range(places[key])
    ]


def in_parallel(jobs, work, places, done_before, total):
    """work(*place) for every place, in the order of the places."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, *place) for place in places]
        try:
            for done, _ in enumerate(as_completed(futures), done_before + 1):
                if sys.stderr.isatty():
                    print(f"\r{done} of {total}", end="", file=sys.stderr, flush=True)
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr, flush=True)


def buckets_of(chapters, seed):
    """All mutants by chapter and kind, in the order in which they are to be tried."""
    buckets = {}
    for chapter in chapters:
        dice = random.Random(f"{seed} {chapter.number}")
        mutants = list(chapter.mutants())
        dice.shuffle(mutants)
        for kind in dice.sample(KINDS, len(KINDS)):
            of_kind = [mutant for mutant in mutants if mutant.edit.kind == kind]
            buckets[chapter.number, kind] = of_kind
    return buckets


def make_and_try(chapters, count, seed, jobs):
    """The results, and how many mutants did not compile."""
    for chapter in chapters:
        chapter.ask_make()
    programs = [(chapter.program, "", SECONDS) for chapter in chapters]
    reasons = in_parallel(jobs, reject, programs, 0, len(chapters))
    for chapter, why in zip(chapters, reasons):
        if why:
            sys.exit(f"mutants: chapter {chapter.number} must pass as it is: {why}")

    by_number = {chapter.number: chapter for chapter in chapters}

    def fill(key, candidates):
        return first_that_compiles(by_number[key[0]], candidates)

    buckets = buckets_of(chapters, seed)
    results, failed, taken = [], 0, Counter()
    while len(results) < count:
        places = plan(buckets, taken, count - len(results))
        if not places:
            break
        outcomes = in_parallel(jobs, fill, places, len(results), count)
        for (key, candidates), (result, without_success) in zip(places, outcomes):
            failed += without_success
            tried = candidates[: without_success + 1]
            buckets[key] = [mutant for mutant in buckets[key] if mutant not in tried]
            if result:
                results.append(result)
                taken[key] += 1
    return results, failed


# ---- saying what came out ----


def percent(part, whole):
    return f"{100 * part / whole:5.1f} %" if whole else "      -"


def is_wrong(result):
    return bool(result.by_default or result.by_judge)


def table(title, results, key):
    groups = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    print(f"\n{title:<12}mutants  wrong  rejected")
    for name in sorted(groups):
        wrong = [result for result in groups[name] if is_wrong(result)]
        rejected = sum(1 for result in wrong if result.by_default)
        print(
            f"{name!s:<12}{len(groups[name]):7}{len(wrong):7}{rejected:10} "
            f"{percent(rejected, len(wrong))}"
        )


def show(chapter, result):
    """What was changed, as a diff of its lines, and which shape rejects it."""
    mutant = result.mutant
    source = chapter.sources[mutant.file]
    old, new = source.text.splitlines(), source.edited(mutant.edit).splitlines()
    path = (chapter.folder / mutant.file).relative_to(ROOT)
    line = source.text.count("\n", 0, source.tokens[mutant.edit.first].start) + 1
    print(f"\n{path}:{line}  ({mutant.edit.kind})")
    for difference in list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]:
        if difference[0] in "+-":
            print(f"  {difference}")
    if result.by_judge:
        print(f"  ./chapter{chapter.number} {result.shape}: {result.by_judge}")


def report(chapters, results, failed, seed, with_unseen):
    by_number = {chapter.number: chapter for chapter in chapters}
    wrong = [result for result in results if is_wrong(result)]
    rejected = [result for result in wrong if result.by_default]
    table("chapter", results, lambda result: result.mutant.chapter)
    table("change", results, lambda result: result.mutant.edit.kind)
    survivors = [result for result in wrong if not result.by_default]
    if survivors:
        print("\nWrong, and ./chapterN says PASS:")
        for result in survivors:
            show(by_number[result.mutant.chapter], result)
    unseen = [result for result in results if not is_wrong(result)]
    if unseen and with_unseen:
        print("\nRejected by nothing, right or not seen:")
        for result in unseen:
            show(by_number[result.mutant.chapter], result)
    print(
        f"\nseed {seed}: {len(results)} mutants ({failed} more did not compile); {len(unseen)} "
        f"that nothing rejects{'' if with_unseen else ' (UNSEEN=1 lists them)'}\n"
        f"{len(wrong)} are wrong, ./chapterN rejects {len(rejected)} of them:"
        f"{percent(len(rejected), len(wrong))}"
    )


def write(file, chapters, results, failed, seed):
    by_number = {chapter.number: chapter for chapter in chapters}
    rows = []
    for mutant, by_default, by_judge, shape in results:
        source = by_number[mutant.chapter].sources[mutant.file]
        first, last = source.tokens[mutant.edit.first], source.tokens[mutant.edit.last]
        rows.append(
            {
                "chapter": mutant.chapter,
                "file": mutant.file,
                "line": source.text.count("\n", 0, first.start) + 1,
                "change": mutant.edit.kind,
                "old": source.text[first.start : last.end],
                "new": mutant.edit.new,
                "by_default": by_default,
                "by_judge": by_judge,
                "shape": shape,
            }
        )
    told = {"seed": seed, "did_not_compile": failed, "mutants": rows}
    file.write_text(json.dumps(told, indent=1) + "\n")


def positive(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


positive.__name__ = "positive number"  # as argparse names it


def main():
    folders = sorted((ROOT / "chapters").glob("[0-9][0-9]_*"))
    numbers = [int(folder.name[:2]) for folder in folders]
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--count", type=positive, default=100, help="mutants; default 100"
    )
    parser.add_argument("--seed", type=int, default=1, help="others; default 1")
    parser.add_argument(
        "--jobs",
        type=positive,
        default=os.cpu_count(),
        help="at a time; default all cores",
    )
    parser.add_argument(
        "--chapters", type=int, nargs="+", default=numbers, choices=numbers, metavar="N"
    )
    parser.add_argument("--unseen", action="store_true", help="list what nothing rejects")
    parser.add_argument("--out", type=Path, help="a JSON file for all results")
    options = parser.parse_args()
    if options.out:
        try:
            options.out.touch()  # now, and not at the end of a long run
        except OSError as error:
            parser.error(f"cannot write {options.out}: {error.strerror}")
    chapters = [Chapter(f) for f, n in zip(folders, numbers) if n in options.chapters]
    results, failed = make_and_try(chapters, options.count, options.seed, options.jobs)
    report(chapters, results, failed, options.seed, options.unseen)
    if options.out:
        write(options.out, chapters, results, failed, options.seed)


if __name__ == "__main__":
    main()
