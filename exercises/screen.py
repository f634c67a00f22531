"""What students and teachers read on the terminal."""

import os
import shutil
import sys
import textwrap

import grade


class Usage(Exception):
    """A command that makes no sense, and why."""


def is_terminal():
    return sys.stdout.isatty()


def columns():
    return min(100, shutil.get_terminal_size((80, 24)).columns)


def bar(done, total):
    width = max(10, min(40, columns() - 30))
    filled = width * done // total
    return f"[{'#' * filled}{'-' * (width - filled)}] {done}/{total}"


def show_running(text):
    """A line that the next one overwrites; nothing where that is not possible."""
    if is_terminal():
        print(f"\r{text[: columns() - 1]:<{columns() - 1}}", end="", flush=True)


def clear_running():
    if is_terminal():
        print(f"\r{'':<{columns() - 1}}\r", end="", flush=True)


def short(path):
    """A path as the reader would type it: from here on, unless it leads away from here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def feedback_of(verdict, exercise, width):
    """The verdict as paragraphs. A note begins with a line that says what it is; what follows is
    kept as it is."""
    word = "PASS" if verdict.passed else "NOT YET"
    points = f"{grade.number(verdict.points)} of {verdict.of} points"
    lines = [f"{word}  exercise {exercise.number}, {exercise.title}: {points}"]
    lines += textwrap.wrap(
        verdict.feedback, width, initial_indent="  ", subsequent_indent="  "
    )
    for note in verdict.notes:
        first, *rest = note.split("\n")
        lines += [f"  {first}", *(f"    {line}" for line in rest)]
    return "\n".join(lines)
