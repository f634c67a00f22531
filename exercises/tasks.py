"""The exercises as data: what exercise.ini says, skeletons made from solutions, shapes drawn."""

import configparser
import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def unwrap(text):
    return " ".join(text.split())


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
        """The function that it asks for, and the judge's word for the problem."""
        return self.data["exercise"]["kind"]

    @property
    def points(self):
        return self.data.getint("exercise", "points")

    @property
    def points_if_right(self):
        """For right results, when a goal is missed. 0 where the skeleton's results are right."""
        return self.data.getint("exercise", "points_if_right", fallback=0)

    @property
    def has_baseline(self):
        """Whether goals are measured against what the skeleton costs."""
        return "baseline" in self.data["exercise"]

    @property
    def lens_settings(self):
        return settings(self.data["exercise"].get("lens", ""))

    @property
    def machine_settings(self):
        """The environment of every run: which GPU is emulated, and how many."""
        return settings(self.data["exercise"].get("with", ""))

    @property
    def source(self):
        return self.folder / "exercise.cu"

    @property
    def solution(self):
        return self.folder / "solution.cu"

    @property
    def headers(self):
        """What the task gives to be included."""
        return sorted(self.folder.glob("*.cuh"))

    @property
    def skeleton(self):
        return skeleton_of(self.solution.read_text())

    @property
    def hints(self):
        return [unwrap(self.data["hints"][level]) for level in ("1", "2", "3")]

    def after(self, about):
        """What is said once it is passed: "why" it works, and how to go "further"."""
        return unwrap(self.data.get("after", about, fallback=""))

    def sections(self, word):
        """The sections "[word ...]", in order."""
        return [
            self.data[name]
            for name in self.data.sections()
            if name.startswith(word + " ")
        ]

    def advice(self, *mistakes):
        """What this exercise has to say about a mistake, and the level of the hint to read: the
        section [mistake ...] whose name is the longest beginning of the first of `mistakes` that
        has any."""
        for mistake in mistakes:
            known = [
                s for s in self.sections("mistake") if mistake.startswith(name_of(s))
            ]
            if known:
                section = max(known, key=lambda section: len(name_of(section)))
                return unwrap(section["say"]), section.getint("hint")
        return "", 0


def name_of(section):
    """ "[goal few loads]" is called "few loads"."""
    return section.name.partition(" ")[2]


def settings(words):
    """ "A=1 B=2" as environment variables."""
    return dict(word.split("=") for word in words.split())


def load(folder):
    data = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    data.optionxform = str
    data.read(folder / "exercise.ini", encoding="utf-8")
    return Exercise(folder, data)


def all_exercises():
    return [
        load(path.parent) for path in sorted(FOLDER.glob("[0-9][0-9]_*/exercise.ini"))
    ]


# ---- solutions and skeletons ----


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


def solution_to_show(solution):
    """The solution without the marks and without the skeleton's own lines."""
    marks = r"\s*//(-| (BEGIN|END) (answer|hidden)\b)"
    lines = [line for line in solution.splitlines() if not re.match(marks, line)]
    return "\n".join(lines) + "\n"


# ---- shapes ----


def draw_size(word, dice):
    """ "5", "1..100", "32*1..4" for a multiple of 32, or "32*1..4+1..31" for none."""
    size = 0
    for part in word.split("+"):
        match = re.fullmatch(r"(?:(\d+)\*)?(\d+)(?:\.\.(\d+))?", part)
        step, low, high = int(match[1] or 1), int(match[2]), int(match[3] or match[2])
        size += step * dice.randint(low, high)
    return size


def draw_shapes(exercise, name, dice):
    """The shapes of an entry of [shapes], one a line, as (kind, (M, N, K)). A single size is N;
    what is left out is 1. None where there is no such entry."""
    shapes = []
    for line in exercise.data["shapes"].get(name, "").strip().splitlines():
        sizes = [draw_size(word, dice) for word in line.split()]
        M, N, K = {1: [1, *sizes, 1], 2: [*sizes, 1], 3: sizes}[len(sizes)]
        shapes.append((exercise.kind, (M, N, K)))
    return shapes


# Problems of one size, n.
VECTORS = ("axpy", "axpy_on_two", "blur", "sum", "histogram", "tune")


def shape_text(shape):
    kind, (M, N, K) = shape
    if kind in VECTORS:
        return f"n = {N}"
    return f"M = {M}, N = {N}" + (f", K = {K}" if kind.startswith("matmul") else "")


def arrays_of(shape):
    """The arrays of a problem by their names in exercise.h, with their words of 4 bytes; the last
    is the output."""
    kind, (M, N, K) = shape
    return {
        "axpy": {"x": N, "y": N, "out": N},
        "axpy_on_two": {"x": N, "y": N, "there": 2 * N, "out": N},
        "blur": {"x": N, "out": N},
        "scale": {"A": M * N, "B": M * N},
        "transpose": {"A": M * N, "B": M * N},
        "row_sums": {"A": M * N, "sums": M},
        "matmul": {"A": M * K, "B": K * N, "C": M * N},
        "matmul_halves": {"A": M * K / 2, "B": K * N / 2, "C": M * N},
        "matmul_to_halves": {"A": M * K / 2, "B": K * N / 2, "C": M * N / 2},
        "matmul_precise": {"A": M * K, "B": K * N, "C": M * N},
        "split": {"A": M * N, "halves and exponents": M * N + M},
        "sum": {"x": N, "scratch": 1024, "out": 1},
        "scan": {"A": M * N, "B": M * N},
        "histogram": {"x": N, "counts": 64},
        "tune": {"candidates": N},
    }[kind]


def array_of(size, shape):
    """The arrays that have so many bytes."""
    names = [name for name, count in arrays_of(shape).items() if 4 * count == size]
    return f"{' or '.join(names) or 'an array'} ({size} bytes)"
