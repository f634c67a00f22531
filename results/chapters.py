"""What chapters say of themselves. A script asks them and reads no C."""

import difflib
import functools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Broken(Exception):
    """A chapter that cannot be built or run; the message says what failed."""


def numbers():
    """The chapters' numbers, in order."""
    found = (ROOT / "chapters").glob("[0-9][0-9]_*/matmul.cu")
    return sorted(int(path.parent.name[:2]) for path in found)


def folder(number):
    """The chapter's folder; None if there is none."""
    return next((ROOT / "chapters").glob(f"{number:02d}_*"), None)


CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""", re.S)


def code(text):
    """The lines of a C source without comments, indentation and empty lines."""
    bare = CODE.sub(lambda found: found[1] or " ", text)
    return [
        line for line in (" ".join(line.split()) for line in bare.splitlines()) if line
    ]


def changed_lines(before, after):
    """How many lines of code differ between two sources. A line that takes the place of another
    counts once."""
    blocks = difflib.SequenceMatcher(None, code(before), code(after), autojunk=False)
    return sum(
        max(last - first, end - start)
        for kind, first, last, start, end in blocks.get_opcodes()
        if kind != "equal"
    )


def output(command, **options):
    done = subprocess.run(
        command,
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **options,
    )
    if done.returncode:
        raise Broken(f"`{' '.join(command)}` failed: {done.stdout.strip()[-500:]}")
    return done.stdout


def emulate(number, *words, **settings):
    """Builds a chapter for the emulator, runs it with these words and settings, and returns what
    it printed. Always by the same host compiler where it is there: another may place an access
    on another line."""
    program = f"build/emulator/chapter{number}"
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("CHECK", "EMULATE", "MAKEFLAGS", "MAKELEVEL")
        and not name.startswith("LENS")
    }
    if shutil.which("g++"):
        environment["NVCC_CCBIN"] = "g++"
    environment.update(settings)
    output(["make", "-s", "EMULATOR=1", program], env=environment)
    return output([f"./{program}", *words], env=environment)


@functools.cache
def describe(number):
    """struct chapter as a dictionary."""
    return json.loads(emulate(number, "--describe"))
