"""The classroom: what is right passes, what is wrong does not, and nobody talks the grader round."""

import csv
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from conftest import ROOT, no_cuda, run

FOLDERS = sorted((ROOT / "exercises").glob("[0-9][0-9]_*"))
NAMES = [folder.name for folder in FOLDERS]
ATTEMPTS = ROOT / "tests" / "exercises"


@pytest.fixture(scope="session")
def classroom(project, emulated_nvcc):
    """The grader of the tests' copy of the project, ready."""
    sys.path.insert(0, str(project / "exercises"))
    grader = importlib.import_module("grade")
    grader.prepare()
    return grader


@pytest.fixture
def exercise(classroom, request):
    return classroom.load(classroom.FOLDER / request.param)


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
        assert solution.count(old) == 1, f"{what}: {solution.count(old)} places for\n{old}"
        solution = solution.replace(old, new)
    return solution


def answer_lines(exercise):
    """The lines of a solution that the skeleton does not have."""
    skeleton = set(exercise.source.read_text().splitlines())
    return [
        line.strip()
        for line in exercise.solution.read_text().splitlines()
        if line not in skeleton and not line.strip().startswith("//")
    ]


@each
def test_skeleton_is_the_solution_without_the_marked_lines(exercise, classroom):
    solution = exercise.solution.read_text()
    assert exercise.source.read_text() == classroom.skeleton_of(solution)
    assert answer_lines(exercise)


@each
def test_skeleton_compiles_and_fails(exercise, classroom):
    verdict = classroom.grade(exercise)
    assert not verdict.passed
    assert verdict.status in ("wrong", "fault", "goal"), verdict.feedback
    assert verdict.points == 0


@each
def test_solution_passes(exercise, classroom):
    for seed in (1, None):
        verdict = classroom.grade(exercise, exercise.solution, seed)
        assert verdict.passed, verdict
        assert verdict.points == verdict.of
    assert verdict.seconds <= 60


@each
def test_wrong_attempts_are_told_what_is_wrong(exercise, classroom, tmp_path):
    solution, found = exercise.solution.read_text(), attempts(exercise.name)
    assert len(found) >= 5
    misjudged = []
    for name, replacements, words in found:
        source = tmp_path / "attempt.cu"
        source.write_text(changed(solution, replacements, name))
        verdict = classroom.grade(exercise, source)
        kept_apart = verdict.status in ("wrong", "fault", "goal", "compile", "crash")
        if not words or not kept_apart or any(word not in verdict.feedback for word in words):
            misjudged.append(f"{name}: {verdict}")
    assert not misjudged
