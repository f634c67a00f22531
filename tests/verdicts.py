"""Are the verdicts right, at every seed? Grades each exercise's right and wrong answers in
tests/exercises/ with many seeds.

    python3 tests/verdicts.py [--seeds 20] [--jobs 2] [exercise ...]

A right answer must pass, and a wrong one fail with the words that belong to it, always with the
same cause. Prints a table, then what does not hold; exit code 1 if anything does not.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = ROOT / "tests" / "exercises"
RIGHT = "right: "
KEPT_APART = ("wrong", "fault", "goal", "compile", "crash", "limit")


def answers(name):
    """The answers to an exercise: (name, [(old, new)], [words of the feedback])."""
    found, group = [], []
    for line in [*(ANSWERS / f"{name}.txt").read_text().splitlines(), "== end"]:
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


def judge(verdict, name, words):
    """What is wrong with a verdict, or None."""
    if name.startswith(RIGHT):
        return None if verdict.passed else f"refused: {verdict.feedback}"
    if verdict.status not in KEPT_APART:
        return f"{verdict.status}: {verdict.feedback}"
    missing = [word for word in words if word not in verdict.feedback]
    if missing or not words:
        return f"not said: {missing}, but: {verdict.feedback}"
    return None


def grade_at(grade, held, exercise, source, seeds):
    """Verdicts of a file, which is compiled once."""
    with tempfile.TemporaryDirectory(prefix="exercise-") as kept:

        class Grading(grade.Grading):
            def compile(self, asked=False):
                program = Path(kept, "asked" if asked else "program")
                if program.exists():
                    shutil.copy(program, self.folder / "program")
                    return
                super().compile(asked)
                shutil.copy(self.folder / "program", program)

        verdicts = []
        for seed in seeds:
            with tempfile.TemporaryDirectory(prefix="exercise-") as folder:
                grading = Grading(held, exercise, source, folder, seed)
                verdicts.append(grading.verdict())
        return verdicts


def try_answer(grade, held, job):
    """(verdicts, what does not hold) for one answer."""
    exercise, (name, replacements, words), seeds = job
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "exercise.cu")
        solution = exercise.solution.read_text()
        source.write_text(changed(solution, replacements, name))
        verdicts = grade_at(grade, held, exercise, source, seeds)
    wrong = [
        f"seed {seed}: {why}"
        for seed, verdict in zip(seeds, verdicts)
        if (why := judge(verdict, name, words))
    ]
    causes = {(verdict.status, verdict.mistake) for verdict in verdicts}
    if len(causes) > 1:
        wrong.append(f"the cause depends on the seed: {sorted(causes)}")
    return len(verdicts), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("exercises", nargs="*", type=int)
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(ROOT / "exercises"))
    import grade
    import tasks
    import tools
    import workers

    held = tools.prepare()
    asked = [
        e
        for e in tasks.all_exercises()
        if not options.exercises or e.number in options.exercises
    ]
    seeds = list(range(1, options.seeds + 1))
    jobs = [(e, answer, seeds) for e in asked for answer in answers(e.name)]
    done, gradings, doubts = {}, 0, []
    print(f"{'exercise':22} right, accepted   wrong, named", flush=True)
    names = {id(job): job[1][0] for job in jobs}
    for job, result in workers.each(
        lambda job: try_answer(grade, held, job), jobs, options.jobs
    ):
        count, wrong = result or (0, ["the process that graded it has died"])
        gradings += count
        done[id(job)] = not wrong
        doubts += [f"{job[0].name}, {names[id(job)]}: {why}" for why in wrong]
        own = [other for other in jobs if other[0] is job[0]]
        if all(id(other) in done for other in own):
            row = []
            for right in (True, False):
                kind = [o for o in own if o[1][0].startswith(RIGHT) == right]
                row.append(f"{sum(done[id(o)] for o in kind)} of {len(kind)}")
            print(f"{job[0].name:22} {row[0]:17} {row[1]}", flush=True)
    print(f"{gradings} gradings, {len(doubts)} doubts")
    for doubt in doubts:
        print(doubt)
    return 1 if doubts else 0


if __name__ == "__main__":
    sys.exit(main())
