"""For teachers: grades a folder of submissions.

Writes, as it goes: grades.csv (a line for each student and exercise), grades.json, matrix.csv
(students x exercises), feedback/NAME.txt (what each student would have seen), similar.csv,
not_graded.csv.
"""

import csv
import dataclasses
import datetime
import hashlib
import json
import os
import re
import tempfile
import time
from pathlib import Path

import grade
import similar
import tasks
import tools
import workers
from grade import plain
from screen import bar, clear_running, feedback_of, short, show_running, Usage

UNMATCHED_SHOWN = 5  # files a student
SECONDS_BETWEEN_WRITES = 1
DEEPEST = 20  # folders in folders: os.walk() calls itself for each
WRITTEN = (
    "grades.csv grades.json grades.part matrix.csv matrix.part similar.csv similar.part "
    "not_graded.csv not_graded.part"
)
PACKED = (".zip", ".gz", ".tgz", ".tar", ".7z", ".rar", ".xz", ".bz2")
ASIDE = {"solution.cu", "given.cu"}  # of a clone of the project
NUMBERED = r"(?:exercise|ex|task|aufgabe)[ _-]*0*(\d+)(?!\d)(.*)"


# ---- which file is whose answer to what ----


def number_claimed(relative):
    """Which exercise a file is for, by its name, and how exact the name is (0 the most): names as
    people, mail programs and browsers change them. None if it is no exercise's."""
    # Of an archive made on Windows, a name may hold the folders.
    relative = Path(str(relative).replace("\\", "/"))
    parts = [part.lower() for part in relative.parts]
    name = re.sub(r"\.cu(\.txt)?$", "", parts[-1])
    if name == parts[-1] or parts[-1] in ASIDE or re.match(r"exercise\.\d", parts[-1]):
        return None
    names = {e.name.lower(): e.number for e in tasks.all_exercises()}
    folder = parts[-2] if len(parts) > 1 else ""
    exact = 0 if re.search(r"\.cu$", relative.name) else 10
    if len(parts) > 1 and parts[0] == "exercises":
        exact += 1
        parts = parts[1:]
    if name == "exercise" and folder in names:
        return names[folder], exact + 10 * (len(parts) - 2)
    if name in names:
        return names[name], exact + 1 + 10 * (len(parts) - 1)
    if match := re.fullmatch(NUMBERED, name):
        rest = 5 if match[2] or name != f"exercise{match[1]}" else 2
        return int(match[1]), exact + rest + 10 * (len(parts) - 1)
    if name in ("exercise", "solution", "main", "kernel"):
        if match := re.fullmatch(NUMBERED, folder):
            return int(match[1]), exact + 7 + 10 * (len(parts) - 2)
    return None


def handed_in(student):
    """All files in a student's folder. Hidden ones, which nobody writes by hand, do not count."""
    found = []
    for folder, folders, files in os.walk(student):
        folders[:] = [n for n in folders if not n.startswith(".") and n != "__MACOSX"]
        if len(Path(folder).relative_to(student).parts) >= DEEPEST:
            folders.clear()
        found += [Path(folder, name) for name in files if not name.startswith(".")]
    return sorted(found)


def looks_handed_in(name):
    """Whether a file that no claim was found for may be meant as an answer all the same: a browser
    or an editor has changed its suffix."""
    known = tuple(exercise.name.lower() for exercise in tasks.all_exercises())
    name = name.lower()
    return (
        name.startswith(known)
        or re.match(NUMBERED, name)
        or re.match(r"exercise\.cu.", name)
    )


def is_skeleton(path, number):
    """Whether nothing was changed in it."""
    exercises = {exercise.number: exercise for exercise in tasks.all_exercises()}
    text = similar.text_of(path)
    if text is None or number not in exercises:
        return False
    return text.splitlines() == exercises[number].skeleton.splitlines()


def sorted_out(student):
    """A student's files: {exercise number: the file to grade}, and what else could have been
    meant, as (file, why it is not graded)."""
    claims, odd = {}, []
    for path in handed_in(student):
        relative = path.relative_to(student)
        claim = number_claimed(relative)
        if claim:
            claims.setdefault(claim[0], []).append((claim[1], relative, path))
        elif path.suffix.lower() in PACKED:
            odd.append((path, "it is an archive: unpack it"))
        elif path.suffix.lower() in (".o", ".exe", ".out", ".pdf", ".docx", ".ipynb"):
            odd.append((path, "a .cu file is needed"))
        elif path.suffix.lower() != ".cu" and looks_handed_in(path.name):
            odd.append((path, "a .cu file is needed"))
        elif path.suffix.lower() in (".cu", ".cpp", ".c", ".txt"):
            # A clone of the project has many files that nobody handed in, and what
            # `make resetN` has kept.
            theirs = (tasks.FOLDER.parent / relative).exists()
            if not theirs and not re.match(r"exercise\.\d|readme", path.name.lower()):
                odd.append((path, "its name is no exercise's"))
    numbers = {exercise.number for exercise in tasks.all_exercises()}
    chosen = {}
    for number, files in claims.items():
        if len(files) > 1:  # a clone's skeleton is no answer, where there is another file
            files = [(is_skeleton(file[-1], number), *file) for file in files]
            files = [file for _, *file in sorted(files)]
        if number not in numbers:
            odd += [(path, f"there is no exercise {number}") for *_, path in files]
            continue
        chosen[number] = files[0][-1]
        for *_, path in files[1:]:
            odd.append((path, f"{files[0][1]} is taken for exercise {number}"))
    return chosen, odd


# ---- one submission ----


def not_graded(exercise, status, text):
    return grade.Verdict(exercise.name, False, status, 0, exercise.points, text)


def grade_submission(held, job):
    student, exercise, path = job
    if path is None:
        return not_graded(exercise, "missing", "Nothing was handed in.")
    try:
        if not path.resolve().is_relative_to(student.resolve()):
            text = "The file lies outside the submission."
            return not_graded(exercise, "refused", text)
    except (OSError, RuntimeError) as error:  # a link that leads to itself
        text = f"The file cannot be read: {plain(str(error))}."
        return not_graded(exercise, "refused", text)
    try:
        return grade.grade(held, exercise, path)
    except Exception as error:  # the others are to be graded whatever happens here
        text = f"The grader failed: {type(error).__name__}: {plain(str(error))}"
        return not_graded(exercise, "not graded", text)


# ---- what is written ----


# What a formula begins with; some spreadsheets take the wide forms as well.
FORMULA = r"[=+\-@|%\uff1d\uff0b\uff0d\uff20]"


def cell(value):
    """A cell that is text to every spreadsheet, whatever a student has put into a name. Where `;`
    separates cells, what follows one begins a cell."""
    text = plain(str(value)).replace("\n", " / ")
    text = re.sub(rf""";(?=[\s"']*{FORMULA})""", ",", text)
    return f"'{text}" if re.match(rf"\s*{FORMULA}", text) and text != "-" else text


def write_csv(path, rows):
    scratch = path.with_suffix(".part")
    with open(scratch, "w", newline="", encoding="utf-8", errors="replace") as file:
        table = csv.writer(file)
        for row in rows:
            table.writerow([v if isinstance(v, (int, float)) else cell(v) for v in row])
    scratch.replace(path)


def file_name_of(student):
    """A name that every system can have a file of. No two students share one: what was changed
    has a mark behind it that no name keeps."""
    name = re.sub(r"[^\w .,@+-]", "_", plain(student))
    name = name.encode(errors="replace")[:100].decode(errors="ignore")
    if name == student:
        return name
    return f"{name}~{hashlib.sha256(os.fsencode(student)).hexdigest()[:12]}"


class Gradebook:
    """What is known of a class: by student and exercise name, a verdict as a dictionary."""

    def __init__(self, folder, deadline):
        self.folder, self.deadline = folder, deadline
        self.students = {}
        self.written = 0.0

    def read(self):
        """Takes over what an earlier run has written: one student, or one exercise, is graded
        again."""
        try:
            old = json.loads((self.folder / "grades.json").read_text())["students"]
            for student, entry in old.items():
                known = {v["exercise"]: v for v in entry["exercises"]}
                self.students[student] = known
        except (OSError, ValueError, KeyError, TypeError):
            pass

    def add(self, student, path, verdict):
        row = dataclasses.asdict(verdict)
        row["late_hours"] = self.hours_late(path)
        self.students.setdefault(student, {})[verdict.exercise] = row
        self.write_feedback(student)
        if time.monotonic() - self.written > SECONDS_BETWEEN_WRITES:
            self.write()

    def hours_late(self, path):
        if path is None or self.deadline is None:
            return 0
        try:
            late = path.lstat().st_mtime - self.deadline.timestamp()
        except OSError:
            return 0
        return round(max(0, late) / 3600, 1)

    def sums(self):
        sums = {}
        for student in sorted(self.students):
            rows = [row for _, row in sorted(self.students[student].items())]
            sums[student] = {
                "points": round(sum(row["points"] for row in rows), 6),
                "of": sum(row["of"] for row in rows),
                "passed": sum(row["passed"] for row in rows),
                "late": sum(row.get("late_hours", 0) > 0 for row in rows),
                "exercises": rows,
            }
        return sums

    def write(self):
        sums = self.sums()
        scratch = self.folder / "grades.part"
        scratch.write_text(json.dumps({"students": sums}, indent=1) + "\n")
        scratch.replace(self.folder / "grades.json")
        names = [f.name for f in dataclasses.fields(grade.Verdict)] + ["late_hours"]
        rows = [["student", *names]]
        for student, entry in sums.items():
            for row in entry["exercises"]:
                notes = "\n".join(row.get("notes", []))
                rows.append(
                    [student, *({**row, "notes": notes}.get(n, "") for n in names)]
                )
        write_csv(self.folder / "grades.csv", rows)
        exercises = tasks.all_exercises()
        rows = [
            ["student", *(e.number for e in exercises), "points", "of", "passed", "late"]
        ]
        for student, entry in sums.items():
            points = {row["exercise"]: row for row in entry["exercises"]}
            reached = [
                points[e.name]["points"]
                if e.name in points and points[e.name]["status"] != "missing"
                else "-"
                for e in exercises
            ]
            last = [entry[key] for key in ("points", "of", "passed", "late")]
            rows.append([student, *reached, *last])
        write_csv(self.folder / "matrix.csv", rows)
        self.written = time.monotonic()

    def write_feedback(self, student):
        folder = self.folder / "feedback"
        folder.mkdir(exist_ok=True)
        exercises = {e.name: e for e in tasks.all_exercises()}
        parts, missing = [], []
        for name, row in sorted(self.students[student].items()):
            if row["status"] == "missing" and name in exercises:
                missing.append(str(exercises[name].number))
                continue
            known = {f.name for f in dataclasses.fields(grade.Verdict)}
            verdict = grade.Verdict(**{k: v for k, v in row.items() if k in known})
            late = row.get("late_hours", 0)
            text = feedback_of(verdict, exercises[name], 90) if name in exercises else ""
            parts.append(text + (f"\n  Handed in {late} hours late." if late else ""))
        if missing:
            which = "exercise" if len(missing) == 1 else "exercises"
            parts.append(f"Nothing was handed in for {which} {', '.join(missing)}.")
        text = "\n\n".join(parts) + "\n"
        (folder / f"{file_name_of(student)}.txt").write_text(text, errors="replace")


# ---- what is shown ----


def show_class(sums, exercises):
    """How many passed each exercise that an answer was handed in for, and what went wrong most
    often."""
    print("exercise               passed  most frequent trouble")
    for exercise in exercises:
        rows = [
            row
            for entry in sums.values()
            for row in entry["exercises"]
            if row["exercise"] == exercise.name
        ]
        if all(row["status"] == "missing" for row in rows):
            continue
        troubles = [
            row["mistake"] or row["status"]
            for row in rows
            if not row["passed"] and row["status"] != "missing"
        ]
        most = max(
            set(troubles), key=lambda word: (troubles.count(word), word), default=""
        )
        passed = sum(row["passed"] for row in rows)
        count = f"{most[:44]} ({troubles.count(most)})" if most else ""
        print(f"{exercise.name:22} {passed:3}/{len(rows):<3} {plain(count)}")


def show_odd(folder, *odd):
    for files in odd:
        for path, why in files[:UNMATCHED_SHOWN]:
            name = plain(str(path.relative_to(folder))).replace("\n", " ")
            print(f"Not graded, {why}: {name}")
        if len(files) > UNMATCHED_SHOWN:
            print(f"and {len(files) - UNMATCHED_SHOWN} more like it: see not_graded.csv")


def in_no_folder(folder):
    """Files that look handed in, but by whom cannot be told; in the folder of the feedback, too."""
    places = [folder, folder / "feedback"]
    files = (path for place in places if place.is_dir() for path in place.iterdir())
    wanted = (".cu", *PACKED)
    loose = sorted(path for path in files if path.suffix.lower() in wanted)
    return [(path, "it is in no student's folder") for path in loose]


def write_odd(path, folder, odd):
    rows = [["file", "why it is not graded"]]
    rows += [[file.relative_to(folder), why] for file, why in odd]
    write_csv(path, rows)


def students_in(folder, out):
    """The folders of a class, which of them are students' with a file in it, and what looks like
    one and is none, as (folder, why it is not graded). `out` is where the grades go."""
    if not folder.is_dir():
        raise Usage(f"{folder} is no folder; it should hold a folder for each student")
    folders, odd = [], []
    for path in sorted(folder.iterdir()):
        if not path.is_dir() or path.name.startswith(".") or path.name == "feedback":
            continue
        if path.resolve() == out.resolve():
            continue
        if path.is_symlink():
            odd.append((path, "it is a link to a folder"))
        elif (path / "grades.json").exists():
            odd.append((path, "it is a folder of grades"))
        else:
            folders.append(path)
    return folders, [path for path in folders if handed_in(path)], odd


def make_folder(path):
    """Makes the folder for the grades, before any work is done for nothing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise Usage(f"{path} can hold no grades: {error.strerror}") from None
    # A student's folder, perhaps: the grades lie beside them.
    for name in WRITTEN.split():
        if (path / name).is_dir():
            raise Usage(f"{path / name} is a folder; OUT=dir puts the grades elsewhere")


def deadline_of(text):
    try:
        return datetime.datetime.fromisoformat(text) if text else None
    except ValueError:
        raise Usage(f"{text} is no time: write it as 2026-12-01T18:00") from None


def submissions(options):
    """Grades everything in a folder, or one student's or one exercise's part of it."""
    folder = Path(options.folder)
    out = Path(options.out) if options.out else folder
    folders, everyone, no_students = students_in(folder, out)
    students = everyone
    deadline = deadline_of(options.deadline)
    if options.student:
        students = [path for path in students if path.name == options.student]
    if not students:
        who = f"folder {options.student}" if options.student else "folder"
        raise Usage(
            f"{folder} holds no {who} with a file in it; make one for each student"
        )
    exercises = tasks.all_exercises()
    asked = [e for e in exercises if options.exercise in (None, e.number)]
    if not asked:
        last = exercises[-1].number
        raise Usage(f"there is no exercise {options.exercise}: they go from 1 to {last}")
    files = {student: sorted_out(student) for student in students}
    jobs = [
        (student, exercise, files[student][0].get(exercise.number))
        for student in students
        for exercise in asked
    ]
    make_folder(out)
    held = tools.prepare(strangers=True, trust=options.trust)
    book = Gradebook(out, deadline)
    if options.student or options.exercise:
        book.read()
    done = failed = 0
    try:
        graded = workers.each(lambda job: grade_submission(held, job), jobs, options.jobs)
        for (student, exercise, path), verdict in graded:
            if verdict is None:
                text = "The process that graded it has died."
                verdict = not_graded(exercise, "not graded", text)
            failed += verdict.status == "not graded"
            done += 1
            book.add(student.name, path, verdict)
            show_running(f"{bar(done, len(jobs))} {plain(student.name)} {exercise.name}")
    except KeyboardInterrupt:
        print("\nInterrupted: what was graded so far is written.")
    finally:
        book.write()
    clear_running()
    sums = book.sums()
    for name, entry in sums.items():
        points = f"{grade.number(entry['points']):>5} of {entry['of']} points"
        late = f", {entry['late']} late" if entry["late"] else ""
        shown = plain(name).replace("\n", " ")
        print(
            f"{shown:24} {points}, {entry['passed']} of {len(entry['exercises'])} passed{late}"
        )
    show_class(sums, exercises)
    loose = no_students + in_no_folder(folder)
    show_odd(folder, *(odd for _, odd in files.values()), loose)
    empty = [plain(path.name) for path in folders if not handed_in(path)]
    if empty:
        print(f"Left out, as no file is in them: {', '.join(empty)}")
    # All answers, whichever are graded again: what is alike concerns two.
    compared = {
        student: files.get(student) or sorted_out(student) for student in everyone
    }
    every_odd = [entry for _, odd in compared.values() for entry in odd]
    write_odd(out / "not_graded.csv", folder, every_odd + loose)
    pairs = similar.write(out / "similar.csv", exercises, compared, write_csv)
    if pairs:
        print(f"{pairs} pairs of answers are much alike: {short(out / 'similar.csv')}")
    print(
        f"Written: {short(out / 'grades.csv')}, .json, matrix.csv and a file for each student in "
        f"{short(out / 'feedback')}"
    )
    if failed or done < len(jobs):
        print(f"{failed + len(jobs) - done} could not be graded")
        return 3
    return 0
