"""Runs programs that nobody trusts: what they do wrong, they do to themselves.

Two walls. The *box*, where the machine lets users make one: namespaces with no network, no other
process and no file but the compiler's, made by bubblewrap or by contain.c. And limits on time,
memory, files and processes, which every Linux has. When the grader runs as root, the program runs
as a user that owns nothing. What is contained, and how to check it: exercises/TEACHING.md.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MB = 1 << 20
SPARE_PROCESSES = 32  # a compiler's parts; addr2line and objdump, which name lines
OPEN_FILES = 64
FIRST_SPARE_USER = 61000
FOLDER_IN_BOX, TOOLS_IN_BOX = "/work", "/tools"
# What a box starts first tells that it stands, on a channel that is closed to what comes next.
# So nothing that a stranger's program prints can be taken for a word of the box's maker.
BEGUN = 9  # the channel's number: a shell knows numbers of one digit
BEGIN = f'echo >&{BEGUN}; exec "$@" {BEGUN}>&-'

PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Limits:
    seconds: int = 20  # of processor time; machine/ counts instructions, and ends sooner
    patience: int = (
        10  # by the clock, so many times that: the machine may have more to do
    )
    memory_mb: int = (
        4096  # the emulator reserves 1 GB of addresses for its threads' stacks
    )
    file_mb: int = 64
    output_mb: int = 4  # of stdout and stderr, this much is read
    columns: int = 2000  # and of each line. Whoever sends more has nothing to say with it


@dataclass
class Ended:
    code: int  # the exit status; minus the signal's number when a signal ended it
    out: str
    err: str
    too_long: bool


class CannotRun(Exception):
    """Not even a program that does nothing wrong could be run, and why."""


# ---- the box ----


def system_folders():
    """Options that show a program the system's programs and libraries, and no more of it."""
    options = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        if os.path.islink(name):
            options += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            options += ["--ro-bind", name, name]
    for name in ("/etc/alternatives", "/etc/ld.so.cache"):
        if os.path.exists(name):
            options += ["--ro-bind", name, name]
    for prefix in compiler_prefixes():
        options += ["--ro-bind", prefix, prefix]
    return options


def compiler_prefixes():
    """Where a compiler is installed that is not the system's: /opt/gcc-14 of
    /opt/gcc-14/bin/g++, whatever links lead there."""
    found = []
    for name in (os.environ.get("NVCC_CCBIN", ""), "g++", "clang++", "ld", "addr2line"):
        path = shutil.which(name) if name else None
        for place in {path, os.path.realpath(path)} if path else ():
            prefix = str(Path(place).parent.parent)
            ours = ("/", "/usr", os.path.expanduser("~"))
            if prefix not in ours and not prefix.startswith("/usr/"):
                found.append(prefix)
    return sorted(set(found))


class Box:
    """A place without network, other processes and other files, made by a tool."""

    def __init__(self, tool):
        self.tool = tool

    def command(self, words, folder, reads, writes, tools):
        """What runs a command in the box. `reads` and `writes` are names in `folder`; `tools` is
        a folder that appears as TOOLS_IN_BOX."""
        options = ["--unshare-all", "--die-with-parent", *system_folders()]
        for name in ("/dev/null", "/dev/zero", "/dev/urandom"):
            options += ["--dev-bind", name, name]
        options += ["--size", 256 * MB, "--tmpfs", "/tmp"]
        options += ["--size", 128 * MB, "--tmpfs", FOLDER_IN_BOX]
        if tools:
            options += ["--ro-bind", tools, TOOLS_IN_BOX]
        for name in reads:
            options += ["--ro-bind", Path(folder, name), f"{FOLDER_IN_BOX}/{name}"]
        for name in writes:
            options += ["--bind", Path(folder, name), f"{FOLDER_IN_BOX}/{name}"]
        options += ["--proc", "/proc", "--remount-ro", "/", "--chdir", FOLDER_IN_BOX]
        return [self.tool, *options, "--", "/bin/sh", "-c", BEGIN, "sh", *words]

    def works(self):
        """Whether the tool can make such a place for the user that programs run as, here."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                give_to_spare_user(folder)
                return run(["/bin/sh", "-c", "exit 7"], folder, box=self).code == 7
            except (CannotRun, OSError):
                return False


def find_box(*tools):
    """The first of the tools that works, as a Box, or None."""
    return next((box for box in map(Box, filter(None, tools)) if box.works()), None)


# ---- whose processes, and how many ----


def adopt_orphans():
    """Has the processes that a child leaves behind become ours, so that they can be found."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def spare_user():
    """A user to run as, who owns nothing: root can have one, and has to, because the limit on
    processes does not bind root. None for everybody else."""
    return FIRST_SPARE_USER + os.getpid() % 4000 if os.geteuid() == 0 else None


def give_to_spare_user(folder):
    """Lets the programs that will run write in a folder. Call it before run()."""
    user = spare_user()
    if user is None:
        return
    if not all(
        parent.stat().st_mode & 0o001 for parent in Path(folder).resolve().parents
    ):
        raise PermissionError(errno.EACCES, "another user than root cannot reach it")
    os.chown(folder, user, user)
    os.chmod(folder, 0o755)


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
    """Ends every process that a program has left, however fast they multiply. In a box the kernel
    does that."""
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


# ---- running ----


@contextlib.contextmanager
def channel():
    """Two connected sockets, of which the second, for a child, is no descriptor below BEGUN: so
    BEGUN is taken in this process, by it or by another file, and Popen's own are others. Sockets,
    as through /proc nobody can open one anew and read what another has written."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, BEGUN)
        try:
            yield ours, number
        finally:
            os.close(number)


def has_begun(ours):
    """Whether something has been written at the other end."""
    try:
        return bool(ours.recv(1, socket.MSG_DONTWAIT))
    except OSError:
        return False


def tail(file, limits):
    """The end of a file that has been open since before the program ran: by now its name may
    belong to another."""
    file.seek(max(0, os.fstat(file.fileno()).st_size - limits.output_mb * MB))
    lines = file.read().decode(errors="replace").split("\n")
    return "\n".join(line[: limits.columns] for line in lines)


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


def run(
    command,
    folder,
    box=None,
    reads=(),
    writes=(),
    tools=None,
    limits=Limits(),
    stdin=subprocess.DEVNULL,
    stdout=None,
    **environment,
):
    """Runs a command in `folder`; in a box, in a folder of its own where it sees the files `reads`
    and may change the files `writes`. Its standard output is returned, or goes to the file
    `stdout`. Call it from a process with one thread and no other children."""
    user = spare_user()
    allowed = processes_allowed(user)

    def limit():
        if box:
            os.dup2(number, BEGUN)
        lower(resource.RLIMIT_CORE, 0)
        lower(resource.RLIMIT_CPU, limits.seconds)
        lower(resource.RLIMIT_AS, limits.memory_mb * MB)
        lower(resource.RLIMIT_FSIZE, limits.file_mb * MB)
        lower(resource.RLIMIT_NOFILE, OPEN_FILES)
        lower(resource.RLIMIT_NPROC, allowed)
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    kept = ("PATH", "NVCC_CCBIN")
    environment = {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "LC_ALL": "C",
        "HOME": FOLDER_IN_BOX if box else str(folder),
        "TMPDIR": "/tmp" if box else str(folder),
        **environment,
    }
    if box:
        command = box.command(command, folder, reads, writes, tools)
    adopt_orphans()
    scratch = tempfile.TemporaryFile
    with scratch() as out, scratch() as err, channel() as (ours, number):
        try:
            program = subprocess.Popen(
                [str(word) for word in command],
                cwd=folder,
                env=environment,
                stdin=stdin,
                stdout=stdout or out,
                stderr=err,
                preexec_fn=limit,
                start_new_session=True,
                pass_fds=[BEGUN] if box else [],
            )
        except OSError as error:
            raise CannotRun(error.strerror) from error
        too_long = not ends_within(program, limits.patience * limits.seconds)
        if too_long:
            program.kill()
            program.wait()
        # What was in a box is dead by now. But where process 1 waits for no orphans, as in many
        # containers, they would stay as zombies and count as processes of the user.
        end_all(None if box else user)
        code = program.returncode
        texts = [tail(file, limits) for file in (out, err)]
        begun = has_begun(ours)
    if box:
        if not begun:
            why = texts[1].strip() or f"{Path(box.tool).name} ended with {code}"
            raise CannotRun(why)
        code = 128 - code if code > 128 else code
    too_long = too_long or code in (-signal.SIGXCPU, -signal.SIGKILL)
    return Ended(code, *texts, too_long)
