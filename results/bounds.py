"""The least time that a chapter's kernel can take, from what the emulator's lens counts.

A product of SIZE takes the emulator minutes; one tile more or less is the same tile again, and
one more step along K the same step. So the lens counts two small products, as large ones are
computed, and the work grows from them: with the area of C, and in a straight line with K.
"""

import argparse
import functools
import json
import sys

import chapters
import ending

SIDE, SHORT, LONG = 256, 64, 128  # whole tiles of every chapter
# The chapters whose kernel depends on the size: what makes the small product a large one.
AS_LARGE = {11: ["--for", "4096"], 12: ["--sms", "1"], 13: ["--sms", "1"]}
# The chapters whose product is of floats. Those that follow have tensor cores multiply bf16, and
# their measurements are not in the table that the bounds are set beside.
LAST = 13
# How the lens' resources are said in a sentence.
WHY = {
    "multiply-adds": "the multiply-adds alone",
    "16-bit multiply-adds": "the multiply-adds of 16 bits alone",
    "tensor cores": "the tensor cores' multiply-adds alone",
    "issue slots": "the SMs issue four instructions per clock",
    "shared memory": "shared memory answers one wavefront per clock",
    "L1 lookups": "the L1 looks up one line per clock",
    "L1 sectors": "the L1 hands over four sectors per clock",
    "device memory": "every byte has to be moved once",
}


def seconds_of_sms(chapter, K, gpu):
    """{resource: seconds that one SM would need}, of all the launches of SIDE x SIDE x K."""
    words = [str(SIDE), str(SIDE), str(K), *AS_LARGE.get(chapter, [])]
    options = ["--check-only", "--one-shape"]
    text = chapters.emulate(chapter, *words, *options, LENS="json", EMULATE=gpu)
    report = json.loads(text.strip().splitlines()[-1])
    total = {}
    for kernel in report["kernels"]:
        for name, seconds in kernel["bound"]["each"].items():
            if seconds is None:
                sys.exit(
                    f"bounds.py: the lens does not know {name}: is there no objdump?"
                )
            total[name] = total.get(name, 0.0) + seconds * kernel["bound"]["sms"]
    return total, report["sms"]


@functools.cache
def bound(chapter, size, gpu):
    """(seconds, the resource that sets them) of a square product whose side is `size`, a
    multiple of the tiles', on the GPU that EMULATE calls `gpu`."""
    short, sms = seconds_of_sms(chapter, SHORT, gpu)
    long, _ = seconds_of_sms(chapter, LONG, gpu)
    growth = (size - SHORT) / (LONG - SHORT)
    each = {
        name: (short[name] + growth * (long[name] - short[name]))
        * (size / SIDE) ** 2
        / sms
        for name in short
        if name != "device memory"  # A and B do not grow with the area of C: left out
    }
    most = max(each, key=each.get)
    return each[most], most


def size_in(text):
    if not text.isdecimal() or not int(text) or int(text) % SIDE:
        wanted = f"a multiple of {SIDE}, which has whole tiles in every chapter"
        raise argparse.ArgumentTypeError(f"{wanted}, not {text!r}")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "size", type=size_in, nargs="?", default=4096, help="M, N and K; default 4096"
    )
    size = parser.parse_args().size
    for chapter in range(1, LAST + 1):
        seconds, resource = bound(chapter, size, "h200")
        print(
            f"chapter {chapter:2}: no less than {1e3 * seconds:.4g} ms: {WHY[resource]}"
        )
    return 0


if __name__ == "__main__":
    ending.run(main)
