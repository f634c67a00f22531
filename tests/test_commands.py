"""What people type, and where they type it: every mistake is one clear line and the right exit
code, and nothing is lost without a word."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import ROOT, no_cuda, once, run

USAGE, CANNOT = 2, 3

# What is no whole number, or none that a size, --seed, --reps or --registers may be.
NO_INTEGER = [
    *("", " ", "x", "-", "-1", "+5", " 5", "5 ", "5x", "1.5", "5.", ".5", "1e3", "0x10"),
    *(
        "nan",
        "inf",
        "1,000",
        "1_000",
        "９",
        "½",
        "9223372036854775808",
        "9" * 400,
        "5\n6",
    ),
]
NO_SIZE = [*NO_INTEGER, "0", "-0", "-3", "00", "16777217", "2147483648", "4294967297"]
NO_REAL = [
    *(
        "",
        " ",
        "x",
        "-",
        "+",
        ".",
        "e5",
        "1e",
        "1e+",
        "--",
        "1.5x",
        "1,5",
        " 5",
        "5 ",
        "5f",
    ),
    *("nan", "-nan", "inf", "-inf", "infinity", "0x10", "1e39", "-1e39", "1e-60", "½"),
    *("1" * 400, "1.5\n2"),
]
BAD = {
    "--seed": NO_INTEGER,
    "--reps": [*NO_INTEGER, "0", "100001"],
    "--registers": [*NO_INTEGER, "0", "256"],
    "--alpha": NO_REAL,
    "--beta": NO_REAL,
    "--inputs": ["", "none", "Positive", "1", "wide", "wide-rows "],
}
UNKNOWN = """--nope -x --Help --alph --alphabet --json=1 --check-only= --occupancy=yes --help=1 --one-shape=1
-alpha --check_only --jsonx -j -- - --\u00fc""".split()
GOOD = {
    "--seed": ["0", "1", "007", "9223372036854775807"],
    "--reps": ["1", "100000"],
    "--registers": ["1", "255"],
    "--inputs": ["usual", "positive", "wide-rows", "wide-columns", "infinite"],
    "--alpha": ["0", "-0", "1", "+0.5", "5.", ".5", "-1e-3", "1E3", "1e-45", "3e38"],
}


NO_PRECISION = ["", "fp64", "FP32", "bf", "bf16 ", " tf32", "16", "bf16,tf32", "half"]
SOURCES = sorted((ROOT / "chapters").glob("[0-9][0-9]_*/matmul.cu"))
CHAPTERS = {int(source.parent.name[:2]): source for source in SOURCES}


def lacking(source):
    """The precisions that a chapter has no launcher for."""
    launchers = {"fp32": "launch", "bf16": "launch_bf16", "tf32": "launch_tf32"}
    text = source.read_text()
    return [name for name, field in launchers.items() if f".{field} =" not in text]


def forms(option, value):
    """The two ways to give an option its value."""
    return [option, value], [f"{option}={value}"]


def mistakes():
    """(program, words, what the message must name): chapter 4 for what all chapters share, and
    those that have something of their own."""
    for option, values in BAD.items():
        for value in values:
            for words in forms(option, value):
                yield "chapter4", words, option
                yield "chapter4", [*words, "8"], option
        yield "chapter4", [option], option
        yield "chapter4", ["8", "--json", option], option
    for value in NO_SIZE:
        if value == "-":
            continue  # an unknown option: see below
        yield "chapter4", [value], "M"
        yield "chapter4", ["8", value, "8"], "N"
        yield "chapter4", ["8", "8", value], "K"
    for word in UNKNOWN:
        yield "chapter4", [word], word
        yield "chapter4", ["8", word], word
    for word in ("1 2", "1 2 3 4", "1 2 3 --json 4"):
        yield "chapter4", word.split(), "M N K"
    for number, source in CHAPTERS.items():
        for words in (["--nope"], ["0"], ["1", "2"], ["--alpha", "x"]):
            yield f"chapter{number}", words, f"chapter{number}: "
        own = re.findall(r'\.(?:own|second)_option = "(.*)"', source.read_text())
        options = {"--precision": [*NO_PRECISION, *lacking(source)]}
        options |= dict.fromkeys(own, NO_SIZE)
        for option, values in options.items():
            for value in values:
                for words in forms(option, value):
                    yield f"chapter{number}", words, option
            yield f"chapter{number}", ["8", option], option
    yield "chapter0", ["--occupancy"], "--occupancy"
    for option in ("--budget", "--most"):
        for value in NO_SIZE:
            for words in forms(option, value):
                yield "chapter11", ["--tune", *words], option
        yield "chapter11", ["--tune", option], option
    for value in NO_SIZE:
        yield "chapter11", ["--tune", "8", value, "8"], ""
    for words in ("1", "1 2", "1 2 3 4", "--json", "-x", "--alpha 2", "--dry-run=1"):
        yield "chapter11", ["--tune", *words.split()], "chapter11 --tune: "


def one_line(result, code, names="", longest=300):
    """What is wrong with a command that should have failed in one line, or None."""
    said = result.stderr
    if result.returncode != code:
        return (
            f"exit {result.returncode}, not {code}: {result.stdout[-200:]}{said[-200:]}"
        )
    if result.stdout:
        return f"something on stdout: {result.stdout[:200]!r}"
    if said.count("\n") != 1 or not said.endswith("\n") or len(said) > longest:
        return f"not one line: {said[:400]!r}"
    if names not in said or any(ord(c) < 32 for c in said[:-1]):
        return f"does not name {names!r}: {said!r}"
    return None


@pytest.mark.depends("chapters")
@pytest.mark.parametrize("part", range(4))
def test_mistakes_are_one_line(part, chapters):
    listed = list(mistakes())
    assert len(listed) > 1200
    wrong = []
    for program, words, names in listed[part::4]:
        result = run([chapters[int(program[7:])], *words], env=no_cuda())
        complaint = one_line(result, USAGE, names)
        if complaint:
            wrong.append(f"{program} {words}: {complaint}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("option", GOOD)
def test_what_is_right_is_taken(option, chapters):
    """--occupancy reads the options and runs nothing."""
    for value in GOOD[option]:
        for words in forms(option, value):
            result = run([chapters[4], "--occupancy", *words, "8"], env=no_cuda())
            assert (result.returncode, result.stderr) == (0, ""), words


def test_both_forms_of_an_option_mean_the_same(chapters):
    said = {
        run([chapters[4], *words, "--json", "9", "--one-shape"], env=no_cuda()).stdout
        for words in forms("--alpha", "0.5")
    }
    assert len(said) == 1 and '"alpha": 0.5' in said.pop()


def test_a_very_long_command_line(chapters):
    result = run([chapters[4], *["9" * 100000] * 8], env=no_cuda())
    assert one_line(result, USAGE) is None, result.stderr[:300]


# ---- environment ----

WRONG_SETTINGS = {
    "CHECK": ["off", "no", "yes", "2", "01", "-1", " 0", "true"],
    "LENS": ["foo", "2", "JSON", "yes", "on", "text", " 1", "01"],
    "LENS_WARP": ["x", "-1", "1.5", " 1", "0x1", "9" * 20],
    "LENS_BLOCKS": ["x", "0", "-1", "all", "1e3"],
    "LENS_REGS": ["x", "0", "256", "-3", "37 "],
    "LENS_LINE": ["x", "0", "-4", "44.", "44.x", "44.2.1", "four"],
    "EMULATE": ["foo", "H200", "h200 ", "all", "1"],
}
RIGHT_SETTINGS = {
    "CHECK": ["", "0", "1"],
    "LENS": ["", "0", "1", "json", "dot"],
    "LENS_WARP": ["", "0", "7"],
    "LENS_BLOCKS": ["", "1"],
    "LENS_REGS": ["", "37"],
    "LENS_LINE": [""],
    "EMULATE": ["", "t4", "b200"],
}


@pytest.mark.parametrize("name", WRONG_SETTINGS)
def test_settings_are_checked(name, chapters):
    for value in WRONG_SETTINGS[name]:
        result = run([chapters[4], "8"], env=no_cuda() | {name: value})
        complaint = one_line(result, USAGE, name)
        assert complaint is None, f"{name}={value}: {complaint}"
    for value in RIGHT_SETTINGS[name]:
        result = run([chapters[4], "8", "--one-shape"], env=no_cuda() | {name: value})
        assert (result.returncode, result.stderr) == (0, ""), f"{name}={value}"


@pytest.mark.parametrize(
    "settings",
    [
        {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8"},
        {"LC_ALL": "C", "LC_NUMERIC": "nonsense"},
        {"HOME": "/nonexistent", "TMPDIR": "/nonexistent"},
        {"PATH": ""},
        {"TERM": "nonsense", "COLUMNS": "x"},
    ],
    ids=lambda settings: ",".join(settings),
)
def test_an_odd_environment_changes_nothing(settings, chapters):
    command = [chapters[4], "--json", "--alpha", "0.5", "9", "--one-shape"]
    plain = run(command, env=no_cuda())
    assert plain.returncode == 0
    for environment in (no_cuda() | settings, settings):
        result = run(command, env=environment)
        assert (result.stdout, result.stderr) == (plain.stdout, "")


def test_odd_places(chapters, tmp_path):
    """A folder that is gone, and one in which nothing may be written."""
    gone, locked = tmp_path / "gone", tmp_path / "locked"
    gone.mkdir()
    locked.mkdir(mode=0o555)
    away = run(
        ["sh", "-c", f"cd {gone} && rmdir {gone} && exec {chapters[4]} 9 --one-shape"]
    )
    assert (away.returncode, away.stderr) == (0, "")
    here = run([chapters[4], "9", "--one-shape"], cwd=locked, env=no_cuda())
    assert (here.returncode, here.stderr) == (0, "")
    tuning = run([chapters[11], "--tune", "--most", "1"], cwd=locked, env=no_cuda())
    assert tuning.returncode == CANNOT and tuning.stderr.count("\n") == 1


# ---- output that is lost ----

PRINTS = {
    "table": ["chapter4", "9", "--one-shape"],
    "json": ["chapter4", "--json", "9", "--one-shape"],
    "help": ["chapter4", "--help"],
    "occupancy": ["chapter4", "--occupancy"],
    "tune help": ["chapter11", "--tune", "--help"],
    "tune": ["chapter11", "--tune", "--dry-run"],
    "nvcc help": ["nvcc", "--help"],
    "nvcc version": ["nvcc", "--version"],
    "script help": ["results/tables.py", "--help"],
    "exercise": ["exercises/classroom.py", "hint", "1"],
    "notebooks": ["notebooks/make.py", "--help"],
}


@pytest.fixture
def command_of(chapters, project, emulated_nvcc):
    def words(program, *rest):
        if program.startswith("chapter"):
            return [str(chapters[int(program[7:])]), *rest]
        if program == "nvcc":
            return [str(emulated_nvcc), *rest]
        return [sys.executable, "-B", str(project / program), *rest]

    return words


def buffered():
    """argparse itself passes over a help that cannot be written, if nothing buffers it."""
    return no_cuda() | {"PYTHONUNBUFFERED": ""}


def into_stdout(command, redirection, **settings):
    """Runs a command with its stdout redirected by a shell."""
    script = f'"$@" {redirection}'
    return run(["sh", "-c", script, "sh", *command], env=buffered() | settings)


@pytest.mark.parametrize("name", PRINTS)
def test_lost_output_is_told(name, command_of):
    command = command_of(*PRINTS[name])
    for redirection in (">/dev/full", ">&-", "</dev/null >/dev/full", "<&- >&-"):
        result = into_stdout(command, redirection)
        complaint = one_line(result, CANNOT, "cannot write the output: ")
        assert complaint is None, f"{redirection}: {complaint}"
    assert "No space left on device" in into_stdout(command, ">/dev/full").stderr


@pytest.mark.parametrize("lens", ["1", "json", "dot"])
def test_a_lost_report_is_told(lens, command_of, tmp_path):
    command = command_of("chapter4", "9", "--one-shape")
    full = into_stdout(command, ">/dev/full", LENS=lens)
    assert one_line(full, CANNOT, "No space left on device") is None, full.stderr
    for path in ("/dev/full", tmp_path / "no" / "folder", tmp_path):
        result = into_stdout(command, ">/dev/null", LENS=lens, LENS_OUT=str(path))
        complaint = one_line(result, CANNOT, f"LENS: cannot write {path}: ")
        assert complaint is None, complaint
    whole = into_stdout(command, f">{tmp_path}/out", LENS=lens)
    assert (whole.returncode, whole.stderr) == (0, "")


@pytest.mark.parametrize("name", PRINTS)
def test_a_reader_that_leaves_early_hears_nothing(name, command_of):
    """Like `| head -1`, and also where SIGPIPE is ignored."""
    command = command_of(*PRINTS[name])
    for handler in (signal.SIG_DFL, signal.SIG_IGN):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            command,
            stdout=write,
            stderr=subprocess.PIPE,
            env=buffered() | {"LENS": "1"},
            preexec_fn=lambda handler=handler: signal.signal(signal.SIGPIPE, handler),
        )
        os.close(write)
        assert done.stderr == b"" and done.returncode in (CANNOT, -signal.SIGPIPE)


@pytest.mark.parametrize(
    "problem, said",
    [
        ("PermissionError(13, 'Permission denied', 'notes')", "notes: Permission denied"),
        ("OSError(28, 'No space left on device', 'notes')", "notes: No space left"),
        ("ValueError('odd')", "ValueError: odd"),
    ],
)
def test_what_a_script_did_not_expect_is_no_answer(problem, said, project):
    """Python's exit code would be 1, which means "not yet" and "stale"."""
    script = f"import ending\ndef main():\n    raise {problem}\nending.run(main)"
    environment = no_cuda() | {"PYTHONPATH": str(project / "results")}
    result = run([sys.executable, "-B", "-c", script], env=environment)
    assert result.returncode == CANNOT and said in result.stderr
    assert ("Traceback" in result.stderr) == (said == "ValueError: odd")


def test_closed_streams_do_no_harm(command_of, tmp_path):
    """A file that the program opens must not become its stdout or stderr."""
    command = command_of("chapter4", "9", "--one-shape")
    for redirection in ("<&-", "2>&-", "<&- 2>&-"):
        result = into_stdout(command, redirection)
        assert result.returncode == 0 and result.stdout.endswith("PASS\n")
    report = tmp_path / "report"
    told = into_stdout(command, ">&-", LENS="json", LENS_OUT=str(report))
    assert told.returncode == CANNOT
    assert not report.exists() or b"Chapter" not in report.read_bytes()


CIRCUMSTANCES = {
    "a folder that is gone": ('mkdir gone; cd gone; rmdir ../gone; exec "$@"', 0),
    "a read-only file system": ('cd /proc && exec "$@"', 0),
    "no stdin": ('exec "$@" <&-', 0),
    "stdin is a folder": ('exec "$@" </', 0),
    "no stderr": ('exec "$@" 2>&-', 0),
    "stderr is full": ('exec "$@" 2>/dev/full', 0),
    "no stdout": ('exec "$@" >&-', CANNOT),
    "only stderr": ('exec "$@" <&- >&-', CANNOT),
    "a full disk": ('exec "$@" >/dev/full', CANNOT),
    "stdout is for reading": ('exec "$@" 1</dev/null', CANNOT),
    "files of no length": ('ulimit -f 0; exec "$@" >file', CANNOT),
    "no more files": ('ulimit -n 4; exec "$@"', 0),
    "no locked memory": ('ulimit -l 0; exec "$@"', 0),
    "a locale": ('LC_ALL=de_DE.UTF-8 exec "$@"', 0),
    "no locale": ('LC_ALL=nonsense exec "$@"', 0),
    "no environment": ('exec env -i "$@"', 0),
    "signals ignored": ('trap "" PIPE XFSZ; exec "$@"', 0),
}


@pytest.mark.depends("chapters")
@pytest.mark.parametrize("number", CHAPTERS)
def test_every_chapter_minds_its_circumstances(number, chapters, tmp_path):
    command = [chapters[number], "9", "--one-shape", "--check-only"]
    for name, (script, code) in CIRCUMSTANCES.items():
        result = run(["sh", "-c", script, "sh", *command], cwd=tmp_path, env=no_cuda())
        if code == 0:
            assert (result.returncode, result.stderr) == (0, ""), name
            assert result.stdout.endswith("\nPASS\n"), name
        else:
            complaint = one_line(
                result, code, f"chapter{number}: cannot write the output"
            )
            assert complaint is None, f"{name}: {complaint}"


# ---- memory ----

# ulimit's option, the least that a program can be started with at all, and how far up, in kB.
LIMITS = {"-v": (10_000, 2_000_000), "-d": (1_000, 1_000_000), "-s": (40, 10_000)}
UNDER_LIMITS = {
    **{f"chapter {n}": [f"chapter{n}", "33", "--one-shape"] for n in (0, 1, 10, 16)},
    **{f"chapter {n}": [f"chapter{n}", "33", "--check-only"] for n in (4, 13, 19)},
    "tune": PRINTS["tune"],
    "occupancy": PRINTS["occupancy"],
    "lens": ["chapter12", "33", "--one-shape", "LENS=json"],
}


def limits(least, most):
    while least < most:
        yield least
        least = least * 3 // 2


def try_limits(option, command, **settings):
    """Right, or one line and exit 3; no size is there at which it crashes. What has room for a whole run is asked for
    one product under the larger limits: they are many, and that run may be long."""
    more = []
    for limit in limits(*LIMITS[option]):
        script = f'ulimit {option} {limit}; exec "$@"'
        result = run(
            ["sh", "-c", script, "sh", *command, *more], env=no_cuda() | settings
        )
        where = f"ulimit {option} {limit}: {result}"
        if result.returncode == 0:
            assert result.stdout and not result.stderr, where
            more = ["--one-shape"] if "--check-only" in command else []
        else:
            # It may repeat the command, with the path of the program.
            assert one_line(result, CANNOT, longest=600) is None, where


@pytest.mark.depends("chapters")
@pytest.mark.parametrize("option", LIMITS)
@pytest.mark.parametrize("name", UNDER_LIMITS)
def test_a_limit_is_one_line(name, option, command_of):
    *words, last = UNDER_LIMITS[name]
    if "=" in last:
        try_limits(option, command_of(*words), **dict([last.split("=")]))
    else:
        try_limits(option, command_of(*words, last))


@pytest.mark.depends("tests/programs")
@pytest.mark.parametrize("option", LIMITS)
def test_a_limit_is_one_line_in_any_program(option, emulate):
    try_limits(option, [emulate(ROOT / "tests" / "programs" / "reduce_tree.cu")])


# What nvcc is asked, where, and what its one line says; None: it does what it was asked.
ASKED_OF_NVCC = {
    '"$@" nothing.cu -o program': "cannot open 'nothing.cu': No such file",
    '"$@" . -o program': "Don't know what to do with '.'",
    'TMPDIR=/nonexistent "$@" program.cu -o program': "cannot make a temporary directory",
    'env -i "$@" program.cu -o program': None,
    'LC_ALL=nonsense HOME= "$@" program.cu -o program': None,
    'ulimit -s 200; "$@" program.cu -o program': None,
    '"$@" program.cu -o program <&- >&- 2>&-': None,
    '"$@" program.cu -o program 2>/dev/full': None,
    '"$@" program.cu -o program 1</dev/null': None,
}


def test_nvcc_minds_its_circumstances(emulated_nvcc, tmp_path):
    (tmp_path / "program.cu").write_text("int main(void) { return 0; }\n")
    for script, said in ASKED_OF_NVCC.items():
        program = tmp_path / "program"
        program.unlink(missing_ok=True)
        result = run(
            ["sh", "-c", script, "sh", emulated_nvcc], cwd=tmp_path, env=no_cuda()
        )
        if said:
            assert one_line(result, 1, said) is None, f"{script}: {result}"
            assert result.stderr.startswith("nvcc fatal   : ") and not program.exists()
        else:
            assert (result.returncode, result.stdout, result.stderr) == (0, "", ""), (
                script
            )
            assert run([program]).returncode == 0, script


HUGE = 9223372036854771712  # how version 1 of control groups says: no limit
UP = "the memory limit of this container or control group"
# /proc/self/cgroup, files, ulimit -v or -d in kB -> free bytes and why. MemAvailable is 8 GB.
ROOMS = {
    "nothing known": ("", {}, None, 8_000_000 * 1024, "-"),
    "no limit": ("0::/a\n", {"a/memory.max": "max"}, None, 8_000_000 * 1024, "-"),
    "container": (
        "0::/\n",
        {"memory.max": "3000000", "memory.current": "1000000"},
        None,
        2000000,
        UP,
    ),
    "file cache counts as free": (
        "0::/\n",
        {
            "memory.max": "3000000",
            "memory.current": "2900000",
            "memory.stat": "anon 7\ninactive_file 400000\nactive_file 500000\n",
        },
        None,
        1000000,
        UP,
    ),
    "the host's path, seen from inside": (
        "0::/system.slice/docker-12.scope\n",
        {"memory.max": "3000000", "memory.current": "1"},
        None,
        2999999,
        UP,
    ),
    "a group above": (
        "0::/user/job/step\n",
        {
            "user/job/step/memory.max": "5000000",
            "user/job/memory.max": "4000000",
            "user/job/memory.current": "1000000",
            "user/memory.max": "max",
        },
        None,
        3000000,
        UP,
    ),
    "full": ("0::/\n", {"memory.max": "10", "memory.current": "20"}, None, 0, UP),
    "version 1": (
        "9:name=systemd:/\n4:cpu,memory:/job\n0::/\n",
        {
            "memory/memory.limit_in_bytes": str(HUGE),
            "memory/job/memory.limit_in_bytes": "5000000",
            "memory/job/memory.usage_in_bytes": "2000000",
            "memory/job/memory.stat": "inactive_file 1\ntotal_inactive_file 1000000\n",
        },
        None,
        4000000,
        UP,
    ),
    "version 1, no limit": (
        "4:memory:/\n",
        {"memory/memory.limit_in_bytes": str(HUGE)},
        None,
        8_000_000 * 1024,
        "-",
    ),
    "ulimit -v": ("0::/\n", {}, (resource.RLIMIT_AS, 1_000_000), 1023590400, "ulimit -v"),
    "ulimit -d": ("", {}, (resource.RLIMIT_DATA, 500_000), 511979520, "ulimit -d"),
    "the least of all": (
        "0::/\n",
        {"memory.max": "3000000"},
        (resource.RLIMIT_DATA, 500_000),
        3000000,
        UP,
    ),
}


@pytest.fixture(scope="session")
def host_room(emulated_nvcc, project, shared_folder):
    program = shared_folder / "host_room"
    with once(shared_folder / "host-room-built") as first:
        if first:
            source = ROOT / "tests" / "host_room.c"
            common = ["-I", project / "common"]
            build = run([emulated_nvcc, *common, source, "-o", program], env=no_cuda())
            assert build.returncode == 0, build.stderr
    return program


@pytest.mark.parametrize("name", ROOMS)
def test_free_memory_minds_containers(name, host_room, tmp_path):
    groups, files, limit, free, why = ROOMS[name]
    files = {f"cgroup/{path}": text for path, text in files.items()} | {
        "proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable:    8000000 kB\n",
        "proc/self/cgroup": groups,
        "proc/self/statm": "100 50 30 1 0 5 0\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    lower = ["sh", "-c", 'exec "$@"', "sh"]
    if limit:
        option = "-v" if limit[0] == resource.RLIMIT_AS else "-d"
        lower[2] = f'ulimit {option} {limit[1]}; exec "$@"'
    result = run([*lower, host_room], cwd=tmp_path)
    assert result.stdout == f"{free} {why}\n", result.stderr


@pytest.mark.parametrize("limit", ["-v 1500000", "-d 1000000"])
def test_too_large_for_a_limit_is_one_line(limit, chapters):
    command = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", chapters[4], "20000"]
    result = run(command, env=no_cuda())
    assert one_line(result, CANNOT, f"under ulimit {limit[:2]}") is None, result.stderr


# ---- make ----

MAKE_MISTAKES = {
    "chapter": "make chapter wants a number right behind it",
    "chapter 4": "there is no chapter 4",
    "chapter04": "there is no chapter04",
    "chapter4x": "there is no chapter4x",
    "chapter-1": "there is no chapter-1",
    "chapter99": "there is no chapter99",
    "ptx": "make ptx wants a number",
    "ptx4x": "there is no chapter4x",
    "sass": "make sass wants a number",
    "sass99": "there is no chapter99",
    "loop": "make loop wants a number",
    "loop99": "there is no chapter99",
    "profile": "make profile wants a number",
    "profile99": "there is no chapter99",
    "memcheck": "make memcheck wants a number",
    "memcheck99": "there is no chapter99",
    "parts": "make parts wants a number",
    "exercise": "make exercise wants a number",
    "exercise0": "there is no exercise0",
    "exercise99": "there is no exercise99",
    "exercise3x": "there is no exercise3x",
    "hint": "make hint wants a number",
    "hint99": "there is no exercise99",
    "solution": "make solution wants a number",
    "solution99": "there is no exercise99",
    "reset": "make reset wants a number",
    "reset99": "there is no exercise99",
    "time99": "there is no exercise99",
    "nonsense": 'there is no "nonsense": make help lists what there is',
    "tests": "tests is a folder and nothing to make",
    **{f"ptx{n} REAL_NVCC=": "nvcc is not here: " for n in (0, 13)},
    "sass1 REAL_NVCC=": "nvcc is not here: ",
    "loop1 REAL_NVCC=": "nvcc is not here: ",
}
MAKE_SETTINGS = {
    "EMULATOR": ["yes", "no", "2", "01", "on", "true", "0 1", "-1"],
    "ARCH": ["foo", "90", "sm90", "native sm_90", "SM_90"],
}


@pytest.mark.parametrize("words", MAKE_MISTAKES)
def test_make_says_it_in_one_line(words, project):
    words_of = [words] if words == "chapter 4" else words.split()
    result = run(
        ["make", "-C", project, "--no-print-directory", *words_of], env=no_cuda()
    )
    complaint = one_line(result, USAGE, MAKE_MISTAKES[words])
    assert complaint is None, complaint


@pytest.mark.parametrize("mark", "'\"\\`$:;|")
def test_make_says_where_it_cannot_build(mark, project, tmp_path):
    folder = tmp_path / f"odd{mark}folder"
    folder.mkdir()
    shutil.copy(project / "Makefile", folder)
    result = run(["make", "--no-print-directory", "chapter4"], cwd=folder, env=no_cuda())
    complaint = one_line(result, USAGE, f"{folder}: there is {mark} in this path", 600)
    assert complaint is None, complaint


@pytest.mark.parametrize(
    "words, said",
    [
        (["-C", "emulator"], "no C compiler is here (cc, gcc or clang)"),
        (["exercise1"], "python3 is not here: "),
    ],
    ids=["compiler", "python"],
)
def test_make_says_what_to_install(words, said, project, tmp_path):
    """A machine that has make, and little else."""
    for name in ("make", "grep", "sed", "head", "cat"):
        (tmp_path / name).symlink_to(shutil.which(name))
    command = [tmp_path / "make", "-n", "--no-print-directory", *words]
    result = run(command, cwd=project, env={"PATH": str(tmp_path)})
    complaint = one_line(result, USAGE, said)
    assert complaint is None, complaint


def test_make_can_make_all_of_it_again(project):
    command = ["make", "-B", "-n", "-C", project, "chapter4"]
    result = run(command, env=no_cuda())
    assert result.returncode == 0 and "chapter4 is ready" in result.stdout, result.stderr


@pytest.mark.parametrize("name", MAKE_SETTINGS)
def test_make_checks_its_settings(name, project):
    command = ["make", "-n", "--no-print-directory", "-C", project, "chapter4"]
    for value in MAKE_SETTINGS[name]:
        for result in (
            run([*command, f"{name}={value}"], env=no_cuda()),
            run(command, env=no_cuda() | {name: value}),
        ):
            complaint = one_line(result, USAGE, name)
            assert complaint is None, f"{name}={value}: {complaint}"


def test_an_empty_setting_counts_as_none(project):
    command = ["make", "-n", "-C", project, "chapter4"]
    plain = run(command, env=no_cuda())
    assert plain.returncode == 0
    for name in ("EMULATOR", "ARCH"):
        assert run([*command, f"{name}="], env=no_cuda()).stdout == plain.stdout
        assert run(command, env=no_cuda() | {name: ""}).stdout == plain.stdout


def test_cuda_home_comes_before_the_path(project, tmp_path):
    """A toolkit of another place than the usual, which PATH does not know."""
    for name in ("nvcc", "cuobjdump"):
        tool = tmp_path / "bin" / name
        tool.parent.mkdir(exist_ok=True)
        tool.write_text("#!/bin/sh\nexit 0\n")
        tool.chmod(0o755)
    for name in ("CUDA_HOME", "CUDA_PATH"):
        command = ["make", "-n", "-C", project, "chapter4", "EMULATOR=0"]
        elsewhere = {"CUDA_HOME": "", "CUDA_PATH": ""} | {name: str(tmp_path)}
        result = run(command, env=no_cuda() | elsewhere)
        assert f"{tmp_path}/bin/nvcc" in result.stdout, result.stderr


def test_a_first_build_says_what_it_builds(tmp_path, project):
    """Before anything else, and on stderr."""
    clone = tmp_path / "clone"
    shutil.copytree(
        project,
        clone,
        symlinks=True,
        ignore=shutil.ignore_patterns("build", "chapter[0-9]*"),
    )
    (clone / "emulator" / "Makefile").write_text("all:\n\t@echo built >&2; exit 1\n")
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text("#!/bin/sh\nexit 1\n")
    nvcc.chmod(0o755)
    for emulator, first in (1, "the emulator, once: "), (0, "what all chapters share, "):
        command = ["make", "-C", clone, "chapter4", f"EMULATOR={emulator}"]
        result = run(command, env=no_cuda() | {"CUDA_HOME": str(tmp_path)})
        assert result.stderr.startswith(f"building {first}"), result.stderr
