"""How a program ends: with its own exit code, or with 3 if what it printed was lost."""

import errno
import os
import sys
from pathlib import Path

CANNOT = 3


def run(main):
    """Calls main() and exits with what it returns. If its output cannot be written (a full
    disk), that is one line and exit 3. Who closes a pipe early (| head -1) wants no more,
    and no word about it either."""
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
    except OSError as problem:
        if problem.filename is not None:  # some other file
            raise
        if problem.errno != errno.EPIPE:
            print(f"{name}: cannot write the output: {problem.strerror}", file=sys.stderr)
        # Python would try to write the rest once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = CANNOT
    sys.exit(code)
