#!/usr/bin/env python3
"""make test-gpu: what only a GPU can tell. Every chapter over many shapes, listed and drawn at random
(SEED=N: others), and NVIDIA's own checkers over the awkward ones. Prints one line a group, ends with
"N passed, N failed".
Exit code: 0, 1 if something failed, 3 if there is no GPU here, or no compute-sanitizer."""

import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "results"))
import ending  # noqa: E402
import measure  # noqa: E402

SQUARES = [
    1,
    2,
    3,
    7,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    100,
    127,
    128,
    129,
    255,
    256,
    257,
    500,
    512,
    1000,
    1024,
    1031,
    2048,
    4092,
    4096,
]
OTHERS = [
    "7 5 3",
    "1 4096 1",
    "4096 1 1",
    "1 1 4096",
    "1000 700 333",
    "257 129 1025",
    "129 65 33",
    "31 1 257",
    "128 128 8",
    "128 128 9",
    "64 4096 64",
    "4096 64 16",
    "2047 2049 127",
    "16 16384 16",
    "16384 16 33",
    "513 1023 4",
    "100000 3 5",
    "3 100000 5",
    "5 3 100000",
]
LARGE = ["8192 8192 8192", "8191 8193 500"]
SCALES = [
    "--alpha 0.5 --beta -2",
    "--alpha 0 --beta 3",
    "--beta 1",
    "--alpha -1.25 --beta 0.75",
]
DRAWN = 60  # products of any shape for each chapter
SMALL = ["1 1 1", "7 5 3", "129 65 33", "130 257 70", "128 256 16"]

passed = failed = 0


def run(commands):
    """Runs commands, eight at a time: nothing is timed here. Shows those that fail, and counts."""
    global passed, failed
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for command, done in zip(
            commands,
            pool.map(
                lambda c: subprocess.run(c, shell=True, capture_output=True, text=True),
                commands,
            ),
        ):
            if done.returncode == 0:
                passed += 1
            else:
                failed += 1
                print(
                    f"FAILED ({done.returncode}): {command}\n"
                    f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
                )


def drawn(program, seed):
    """Options for products of any shape, scale and precision: what a chapter decides by the shape, no
    list thinks of."""
    draw = random.Random(f"{program} {seed}")
    precisions = measure.precisions(f"./{program}")
    for _ in range(DRAWN):
        unit = draw.choice([1, 8, 64])
        while True:
            M, N, K = (unit * round((9000 / unit) ** draw.random()) for _ in "MNK")
            if M * N * K <= 1 << 36:
                break
        words = f"{M} {N} {K} {draw.choice(['', *SCALES])}"
        if precisions:
            words += f" --precision {draw.choice(precisions)}"
        yield f"{words} --seed {draw.randrange(1, 1000)}"


def compare_occupancy(program):
    """Whether the program has a kernel of its own; counts a pass or a failure if so."""
    global passed, failed
    done = subprocess.run(
        [f"./{program}", "--occupancy", "--json"], capture_output=True, text=True
    )
    if done.returncode == 2 and "names no kernel" in done.stderr:
        return False
    here = json.loads(done.stdout).get("here") if done.returncode == 0 else None
    if here and here["blocks"] == here["cuda_blocks"]:
        passed += 1
        print(
            f"{program}: {here['blocks']} blocks on an SM, by {here['limit']}; CUDA says the same"
        )
    else:
        failed += 1
        print(f"FAILED: {program} --occupancy: {here}{done.stderr}")
    return True


def main():
    _, wrong, code = measure.look_around()
    if wrong:
        print(wrong, file=sys.stderr)
        return code
    sanitizer = shutil.which("compute-sanitizer")
    if not sanitizer:
        print(
            "compute-sanitizer is not here: it comes with the CUDA Toolkit; what needs it is left out",
            file=sys.stderr,
        )
    seed = int(os.environ.get("SEED", 1))
    programs = sorted(glob.glob("chapter[0-9]*"), key=lambda p: int(re.sub(r"\D", "", p)))
    for program in programs:
        shapes = LARGE + [str(n) for n in SQUARES] + OTHERS
        shapes += drawn(program, seed)
        run([f"./{program} {shape} --check-only --one-shape" for shape in shapes])
        # With timed runs in between, C must still be right after the last of them.
        run([f"./{program} 300 517 129 {scale} --reps 3" for scale in SCALES])
        print(
            f"{program}: {len(shapes)} shapes, {len(SCALES)} pairs of alpha and beta",
            flush=True,
        )

    # Blocks on a multiprocessor: by our rules, and as CUDA answers.
    for program in programs:
        if not compare_occupancy(program):
            print(f"{program}: has no kernel to count blocks for")

    # The emulator's tensor cores are Hopper's, to the last bit.
    asked = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    if subprocess.run(asked, capture_output=True, text=True).stdout.startswith("9.0"):
        bits = "build/tensor_cores"
        run(
            [
                f"nvcc -std=c++17 -arch=sm_90a -Icommon tests/tensor_cores.cu -o {bits} && {bits}"
            ]
        )
        print("tensor cores: sums of 45 kinds", flush=True)

    for program in programs if sanitizer else []:
        # Without guard bands, so that the tool sees the edges of the matrices.
        # A chapter about several GPUs (it has no precisions of its own) runs NCCL, which asks the driver for
        # kernels that are not there and does without them: memcheck must not report what calls return.
        # The chapters look at that themselves.
        options = "" if measure.precisions(f"./{program}") else "--report-api-errors no "
        run(
            [
                f"{sanitizer} --tool {tool} {options}--error-exitcode 9 ./{program} {shape} --beta 1 "
                f"--check-only --one-shape --no-guards"
                for tool in ["memcheck", "racecheck", "initcheck"]
                for shape in SMALL
            ]
        )
        print(
            f"{program}: memcheck, racecheck, initcheck on {len(SMALL)} shapes",
            flush=True,
        )
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0 if sanitizer else measure.CANNOT


if __name__ == "__main__":
    ending.run(main)
