"""Runs a program that nobody trusts: what it does wrong, it does to itself.

Limits on time, memory, file size, open files and processes; whatever it leaves running is found
and ended. When the grader runs as root, the program runs as a user that
owns nothing. What is not contained: exercises/TEACHING.md.
"""

import ctypes
import errno
import os
import resource
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MB = 1 << 20
SPARE_PROCESSES = 32  # addr2line and objdump, which the emulator asks for names and lines
OPEN_FILES = 64
FIRST_SPARE_USER = 61000

PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Limits:
    seconds: int = 4  # of processor time, and twice that by the clock
    memory_mb: int = (
        4096  # the emulator reserves 1 GB of addresses for its threads' stacks
    )
    file_mb: int = 64
    output_mb: int = 4  # of stdout and stderr, this much is read


@dataclass
class Ended:
    code: int  # the exit status; minus the signal's number when a signal ended it
    out: str
    err: str
    too_long: bool


def adopt_orphans():
    """Has the processes that a child leaves behind become ours, so that they can be found."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def spare_user(folder):
    """A user to run as, who owns nothing: root can have one, and has to, because the limit on
    processes does not bind root. None for everybody else."""
    if os.geteuid() != 0:
        return None
    if not all(
        parent.stat().st_mode & 0o001 for parent in Path(folder).resolve().parents
    ):
        raise PermissionError(errno.EACCES, "another user than root cannot reach it")
    return FIRST_SPARE_USER + os.getpid() % 4000


def processes():
    """Of every process: its parent, its user, and how many threads it has."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat:
                    words = stat.read().rpartition(")")[2].split()
                found[int(name)] = (
                    int(words[1]),
                    os.stat(f"/proc/{name}").st_uid,
                    int(words[17]),
                )
            except (OSError, IndexError):
                pass  # it ended while we looked
    return found


def processes_allowed(user):
    """RLIMIT_NPROC counts all threads of a user: what is running already has to be added."""
    if user is not None:
        return SPARE_PROCESSES
    mine = sum(
        threads for _, owner, threads in processes().values() if owner == os.getuid()
    )
    return mine + SPARE_PROCESSES


def descendants():
    """Our children, and theirs."""
    children = {}
    for pid, (parent, _, _) in processes().items():
        children.setdefault(parent, []).append(pid)
    found, ahead = set(), [os.getpid()]
    while ahead:
        for child in children.get(ahead.pop(), []):
            found.add(child)
            ahead.append(child)
    return found


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def end_all(user):
    """Ends every process that the program left, however fast they multiply."""
    if user is not None:  # kill(-1) reaches all processes of a user in one step
        helper = os.fork()
        if helper == 0:
            os.setuid(user)
            try:
                os.kill(-1, signal.SIGKILL)
            finally:
                os._exit(0)
        os.waitpid(helper, 0)
    seen = set()
    for _ in range(1000):
        left = descendants()
        if not left:
            break
        signal_all(left, signal.SIGKILL if left == seen else signal.SIGSTOP)
        if left == seen:
            time.sleep(0.001)
        seen = left
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            break


def tail(file, limit):
    """The end of a file that has been open since before the program ran: by now its name may
    belong to another."""
    file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
    return file.read().decode(errors="replace")


def lower(limit, wanted):
    """Sets a limit, which may be lower than wanted already."""
    hard = resource.getrlimit(limit)[1]
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(limit, (value, value))


def ends_within(program, seconds):
    """Waits for a process. Popen.wait() would do, but it looks only every 50 ms."""
    try:
        descriptor = os.pidfd_open(program.pid)
    except (AttributeError, OSError):  # an old kernel
        try:
            program.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True
    try:
        ended = bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)
    if ended:
        program.wait()
    return ended


def run(command, folder, limits=Limits(), trusted=False, **environment):
    """Runs a command in `folder`. `trusted` programs (a compiler) keep our user
    and may start others. Call it from a process with one thread and no other children."""
    user = None if trusted else spare_user(folder)
    allowed = None if trusted else processes_allowed(user)

    def limit():
        lower(resource.RLIMIT_CORE, 0)
        lower(resource.RLIMIT_CPU, limits.seconds)
        lower(resource.RLIMIT_AS, limits.memory_mb * MB)
        lower(resource.RLIMIT_FSIZE, limits.file_mb * MB)
        lower(resource.RLIMIT_NOFILE, OPEN_FILES)
        if allowed is not None:
            lower(resource.RLIMIT_NPROC, allowed)
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    environment = {
        **{
            name: os.environ[name]
            for name in ("PATH", "NVCC_CCBIN")
            if name in os.environ
        },
        "LC_ALL": "C",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        **environment,
    }
    adopt_orphans()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        program = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            preexec_fn=limit,
            start_new_session=True,
        )
        too_long = not ends_within(program, 2 * limits.seconds)
        if too_long:
            program.kill()
            program.wait()
        end_all(user)
        too_long = too_long or program.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        texts = [tail(file, limits.output_mb * MB) for file in (out, err)]
    return Ended(program.returncode, *texts, too_long)
