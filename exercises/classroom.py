"""The classroom's commands; make calls them: exercise3, exercises, watch, hint3, grade, ...

Exit codes: 0 passed, 1 not yet, 2 usage, 3 the machine cannot.
"""

import argparse
import dataclasses
import datetime
import json
import os
import select
import shutil
import sys
import termios
import textwrap
import time
import tty
from pathlib import Path

import course
import grade
import tasks
import tools
import workers
from screen import bar, clear_running, columns, feedback_of, is_terminal, short
from screen import show_running, Usage

PROGRESS = tasks.FOLDER.parent / ".progress.json"
PASSED, NOT_YET, USAGE, MACHINE = 0, 1, 2, 3


# ---- what a student has reached ----


def read_progress():
    """By exercise name: when it was passed, how many attempts, how many hints. Exercises that this
    version of the project does not have are kept for the version that has them."""
    try:
        return json.loads(PROGRESS.read_text())["exercises"]
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError):
        PROGRESS.replace(PROGRESS.with_suffix(".unreadable"))
        print(
            f"{PROGRESS.name} could not be read; it is kept as {PROGRESS.stem}.unreadable"
        )
        return {}


def write_progress(progress):
    scratch = PROGRESS.with_suffix(f".{os.getpid()}")
    scratch.write_text(
        json.dumps({"exercises": progress}, indent=1, sort_keys=True) + "\n"
    )
    scratch.replace(PROGRESS)


def remember(verdict):
    progress = read_progress()
    entry = progress.setdefault(verdict.exercise, {})
    entry["attempts"] = entry.get("attempts", 0) + 1
    if verdict.passed and "passed" not in entry:
        entry["passed"] = datetime.date.today().isoformat()
    write_progress(progress)


def has_passed(progress, exercise):
    return "passed" in progress.get(exercise.name, {})


def is_begun(exercise):
    """Whether the student has changed anything."""
    skeleton = exercise.skeleton
    return not exercise.source.exists() or grade.text_of(exercise.source) != skeleton


# ---- what a reader sees ----


def show(verdict, exercise):
    print(feedback_of(verdict, exercise, columns()))


def show_costs(costs):
    """What the goals measure, before and after, where the skeleton gets so far."""
    if any(before is not None for _, before, _ in costs):
        print("  What it cost before, and what it costs now:")
        for name, before, after in costs:
            was = "-" if before is None else grade.number(before)
            print(f"    {name:40} {was:>8} {grade.number(after):>8}")


def show_after(exercise):
    """What may be said of a solution once it is there."""
    for about in ("why", "further"):
        text = exercise.after(about)
        if text:
            print(
                textwrap.fill(
                    text, columns(), initial_indent="  ", subsequent_indent="  "
                )
            )
    print(f"  The solution, to compare: make solution{exercise.number}")


def next_exercise(progress):
    return next((e for e in tasks.all_exercises() if not has_passed(progress, e)), None)


def show_next(progress):
    exercises = tasks.all_exercises()
    done = sum(has_passed(progress, exercise) for exercise in exercises)
    following = next_exercise(progress)
    print(f"Progress {bar(done, len(exercises))}")
    if following:
        print(
            f"Next: {short(following.folder / 'README.md')}, then make exercise{following.number}"
        )
    else:
        print("All exercises are passed. Well done.")


# ---- commands for students ----


def find(number):
    for exercise in tasks.all_exercises():
        if exercise.number == number:
            return exercise
    numbers = [exercise.number for exercise in tasks.all_exercises()]
    raise Usage(
        f"there is no exercise {number}: they go from {min(numbers)} to {max(numbers)}"
    )


def is_missing(exercise):
    return (
        f"{short(exercise.source)} is not there; "
        f"make reset{exercise.number} brings the skeleton back"
    )


def grade_one(options):
    exercise = find(options.number)
    source = options.source or exercise.source
    if not Path(source).exists():
        raise Usage(
            f"{short(source)} is not there" if options.source else is_missing(exercise)
        )
    show_running(f"Checking exercise {exercise.number}, {exercise.title} ...")
    held = tools.prepare()
    verdict = grade.grade(held, exercise, source, options.seed)
    clear_running()
    if options.json:
        print(json.dumps(dataclasses.asdict(verdict)))
    else:
        show(verdict, exercise)
    if not options.source:
        remember(verdict)
        if verdict.passed and not options.json:
            show_costs(grade.costs(held, exercise, options.source))
            show_after(exercise)
            show_next(read_progress())
    return PASSED if verdict.passed else NOT_YET


def grade_all(options):
    held = tools.prepare()
    exercises = tasks.all_exercises()
    begun = [exercise for exercise in exercises if is_begun(exercise)]
    verdicts = {}
    graded = workers.each(lambda own: grade.grade(held, own), begun, options.jobs)
    for exercise, verdict in graded:
        if verdict is None:
            raise tools.MachineCannot(f"the process that graded {exercise.name} has died")
        verdicts[verdict.exercise] = verdict
        remember(verdict)
        show_running(f"{bar(len(verdicts), len(begun))} {verdict.exercise}")
    clear_running()
    points = 0
    for exercise in exercises:
        verdict = verdicts.get(exercise.name)
        state = "not begun" if not verdict else "passed" if verdict.passed else "not yet"
        points += verdict.points if verdict else 0
        reached = grade.number(verdict.points if verdict else 0)
        line = f"{exercise.number:3}  {state:10} {reached:>4} of {exercise.points:<3}"
        print(line, exercise.title)
    print(
        f"{grade.number(points)} of {sum(exercise.points for exercise in exercises)} points"
    )
    show_next(read_progress())
    return PASSED  # the question was where one stands


KEYS = "n next  h hint  l list  q quit"


class Keys:
    """The keys that are pressed, one at a time, where there is a terminal to press them at."""

    def __enter__(self):
        self.before = None
        if sys.stdin.isatty() and is_terminal():
            self.before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_):
        if self.before:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self.before)

    def wait(self, seconds):
        """The next key, or "" if none is pressed in so many seconds."""
        if not self.before:
            time.sleep(seconds)
            return ""
        ready = select.select([sys.stdin], [], [], seconds)[0]
        return os.read(sys.stdin.fileno(), 1).decode(errors="replace") if ready else ""


def open_ones(skipped):
    """The exercises that are still to be passed, those that were skipped behind the others."""
    progress = read_progress()
    ahead = [e for e in tasks.all_exercises() if not has_passed(progress, e)]
    return sorted(ahead, key=lambda exercise: exercise.name in skipped)


def show_list(current):
    progress = read_progress()
    for exercise in tasks.all_exercises():
        mark = ">" if exercise.name == current.name else " "
        state = "passed" if has_passed(progress, exercise) else ""
        print(f"{mark}{exercise.number:3}  {state:7} {exercise.title}")


def watch(options):
    """Grades the current exercise whenever its file is saved, and moves on when it is passed."""
    held = tools.prepare()
    seen, misses, skipped = None, 0, set()
    try:
        with Keys() as keys:
            while ahead := open_ones(skipped):
                exercise = ahead[0]
                try:
                    now = (exercise.name, exercise.source.stat().st_mtime_ns)
                    misses = 0
                except FileNotFoundError:
                    # An editor that replaces the file may be between two steps.
                    now, misses = seen, misses + 1
                    if misses == 3:
                        print(is_missing(exercise), flush=True)
                if now != seen:
                    is_new = seen is None or seen[0] != now[0]
                    seen = now
                    grade_saved(held, exercise, is_new)
                key = keys.wait(0.3)
                if key == "q":
                    return PASSED
                if key == "n":
                    skipped = {} if len(skipped) + 1 >= len(ahead) else skipped
                    skipped = {*skipped, exercise.name}
                if key == "h":
                    show_hint(exercise)
                if key == "l":
                    show_list(exercise)
            show_next(read_progress())
    except KeyboardInterrupt:
        print()
    return PASSED


def grade_saved(held, exercise, is_new):
    if is_terminal():
        print("\033[2J\033[H", end="")
    file = short(exercise.source)
    print(f"Exercise {exercise.number}: edit {file}; the task is in its README.md")
    if is_new and not is_begun(exercise):
        print("  Not begun. It is graded whenever you save.")
    else:
        show_running("Checking ...")
        verdict = grade.grade(held, exercise)
        clear_running()
        show(verdict, exercise)
        remember(verdict)
        if verdict.passed:
            show_after(exercise)
            time.sleep(2 if is_terminal() else 0)
    done = sum(has_passed(read_progress(), e) for e in tasks.all_exercises())
    end = KEYS if is_terminal() else "Control-C ends"
    print(f"\nProgress {bar(done, len(tasks.all_exercises()))}   {end}", flush=True)


def hint(options):
    """Shows the hints up to a level: without one, one more than last time."""
    show_hint(find(options.number), options.level)
    return PASSED


def show_hint(exercise, level=None):
    progress = read_progress()
    entry = progress.setdefault(exercise.name, {})
    level = level or min(3, entry.get("hints", 0) + 1)
    entry["hints"] = max(level, entry.get("hints", 0))
    write_progress(progress)
    for number, text in enumerate(exercise.hints[:level], 1):
        print(
            textwrap.fill(
                f"Hint {number}: {text}", columns(), subsequent_indent="        "
            )
        )
    if level < 3:
        print(f"More: make hint{exercise.number} LEVEL={level + 1}")


def solution(options):
    exercise = find(options.number)
    if not options.force and not has_passed(read_progress(), exercise):
        number = exercise.number
        print(
            f"The solution is shown when exercise {number} is passed. Stuck? make hint{number}."
        )
        print("FORCE=1 shows it all the same.")
        return NOT_YET
    print(tasks.solution_to_show(exercise.solution.read_text()), end="")
    if why := exercise.after("why"):
        print("\n" + textwrap.indent(textwrap.fill(why, columns() - 3), "// "))
    return PASSED


def reset(options):
    """Brings the skeleton back. What was there is kept beside it: `make clean` does not come there."""
    exercise = find(options.number)
    if exercise.source.exists():
        if not is_begun(exercise):
            print(f"{short(exercise.source)} is the skeleton already")
            return PASSED
        kept = exercise.source.with_suffix(f".{time.strftime('%Y%m%d-%H%M%S')}.cu")
        shutil.copy(exercise.source, kept)
        print(f"Your file is kept as {short(kept)}")
    exercise.source.write_text(exercise.skeleton)
    print(f"{short(exercise.source)} is the skeleton again")
    return PASSED


# ---- entry ----


def at_least_one(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on, not {text!r}")
    return int(text)


def level(text):
    if text not in ("1", "2", "3"):
        raise argparse.ArgumentTypeError(f"hints have levels 1, 2 and 3, not {text!r}")
    return int(text)


def main():
    parser = argparse.ArgumentParser(
        prog="classroom.py", description="Exercises: grade, watch, hints, solutions."
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, action, about, numbered=False):
        added = commands.add_parser(name, help=about)
        added.set_defaults(action=action)
        if numbered:
            added.add_argument("number", type=int, help="which exercise, such as 3")
        return added

    one = command("grade", grade_one, "grade one exercise", numbered=True)
    one.add_argument(
        "--source", help="another file than the exercise's own; progress is not changed"
    )
    one.add_argument(
        "--seed", type=int, help="draw the shapes and numbers of an earlier run again"
    )
    one.add_argument("--json", action="store_true", help="the verdict as one JSON object")
    every = command("all", grade_all, "grade all exercises that were begun")
    command("watch", watch, "grade on every save")
    hints = command("hint", hint, "show a hint", numbered=True)
    hints.add_argument(
        "level", type=level, nargs="?", help="1, 2 or 3; default: one more than last time"
    )
    shown = command("solution", solution, "show a solution", numbered=True)
    shown.add_argument(
        "--force", action="store_true", help="also where the exercise is not passed"
    )
    command("reset", reset, "bring a skeleton back", numbered=True)
    many = command("submissions", course.submissions, "grade a folder of submissions")
    many.add_argument("folder", help="holds a folder for each student")
    many.add_argument("--out", help="where the grades go; default: the folder itself")
    many.add_argument("--student", help="only this folder's; the other grades are kept")
    many.add_argument("--exercise", type=int, help="only this one")
    many.add_argument("--deadline", help="as 2026-12-01T18:00: tells who was late")
    many.add_argument(
        "--trust", action="store_true", help="where nothing can contain the submissions"
    )
    for parallel in (every, many):
        parallel.add_argument(
            "--jobs",
            type=at_least_one,
            default=min(8, os.cpu_count() or 1),
            help="how many are graded side by side; default: %(default)s",
        )
    options = parser.parse_args()
    try:
        return options.action(options)
    except Usage as error:
        print(error, file=sys.stderr)
        return USAGE
    except tools.MachineCannot as error:
        print(error, file=sys.stderr)
        return MACHINE


if __name__ == "__main__":
    # Where a terminal knows fewer letters, a name or a message may hold one that it lacks.
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: it is closed
        stream.reconfigure(errors="replace")
    sys.path.append(str(tasks.FOLDER.parent / "results"))
    import ending

    ending.run(main)
