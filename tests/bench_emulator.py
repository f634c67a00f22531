#!/usr/bin/env python3
"""make bench-emulator: seconds a chapter takes on the emulator here. A table to look at, not a test:
the times depend on the machine. Each run checks the chapter's odd shapes too; the first column is
nearly these alone, so a product of 256 takes the second column less the first."""

import glob
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "results"))
import ending  # noqa: E402

RUNS = [
    ("1, checks on", "1", {}),
    ("256, checks on", "256", {}),
    ("256, CHECK=0", "256", {"CHECK": "0"}),
    ("256, LENS=1", "256", {"LENS": "1"}),
    ("512, LENS=1", "512", {"LENS": "1"}),
    ("1024, CHECK=0", "1024", {"CHECK": "0"}),
]


def main():
    programs = sorted(glob.glob("chapter[0-9]*"), key=lambda p: int(re.sub(r"\D", "", p)))
    print(
        f"{'seconds, two launches each':28s}"
        + "".join(f"{name:>16s}" for name, _, _ in RUNS)
    )
    for program in programs:
        line = f"{program:28s}"
        for _, size, settings in RUNS:
            start = time.monotonic()
            done = subprocess.run(
                [f"./{program}", size],
                capture_output=True,
                env={**os.environ, **settings},
            )
            seconds = time.monotonic() - start
            line += f"{seconds:16.2f}" if done.returncode == 0 else f"{'FAILED':>16s}"
        print(line, flush=True)


if __name__ == "__main__":
    ending.run(main)
