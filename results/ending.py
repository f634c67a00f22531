"""How a program ends: with its own exit code, or with 3 if this machine kept it from its work."""

import errno
import os
import sys
import traceback
from pathlib import Path

CANNOT = 3
# Files that may not be written or read, or have no room: no mistake of the program's.
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)


def run(main):
    """Calls main() and exits with what it returns. If its output or a file of its own cannot be
    written (a full disk, another user's folder), that is one line and exit 3. Who closes a pipe
    early (| head -1) wants no more, and no word about it either. What the program did not expect
    ends with 3 too, and says where: 1, which is Python's habit, would be an answer."""
    name = Path(sys.argv[0]).name
    if sys.stdout is None:
        print(f"{name}: cannot write the output: stdout is closed", file=sys.stderr)
        sys.exit(CANNOT)
    try:
        try:
            code = main()
        except SystemExit as end:  # argparse's --help
            code = end.code
        sys.stdout.flush()
    except Exception as problem:
        code = CANNOT
        if isinstance(problem, OSError) and problem.filename is None:
            if problem.errno != errno.EPIPE:
                why = f"cannot write the output: {problem.strerror}"
                print(f"{name}: {why}", file=sys.stderr)
            # Python would try to write the rest once more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        elif isinstance(problem, OSError) and problem.errno in FORBIDDEN:
            print(f"{name}: {problem.filename}: {problem.strerror}", file=sys.stderr)
        else:
            traceback.print_exc()
    sys.exit(code)
