#!/usr/bin/env python3
"""make loopN: what the main loop of a chapter's kernels is made of, from `make sassN` on standard input.

The main loop is the stretch from a backward branch's target to the branch of which the greatest share are
multiply-adds (FFMA). Told are the number of instructions, the share of FFMA, how many FFMAs take an operand from the
reuse cache (.reuse), and the commonest others. Exit code: 0, 1 if no kernel has such a loop."""

import collections
import re
import sys

import ending

INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?) ?;")


def functions(lines):
    """{name: [(address, instruction)]}"""
    found, current = {}, None
    for line in lines:
        name, instruction = re.search(r"Function : (\S+)", line), INSTRUCTION.match(line)
        if name:
            current = found.setdefault(name[1], [])
        elif instruction and current is not None:
            current.append((int(instruction[1], 16), instruction[2]))
    return found


def opcode(instruction):
    return re.sub(r"^@!?U?P\w+ ", "", instruction).split(" ")[0]


def main_loop(code):
    """The instructions of the main loop; none if there is no such loop."""
    best, most = [], 0.0
    for address, instruction in code:
        target = re.search(r"BRA.*?0x([0-9a-f]+)", instruction)
        if not target or int(target[1], 16) >= address:
            continue
        body = [text for at, text in code if int(target[1], 16) <= at <= address]
        share = sum(opcode(text) == "FFMA" for text in body) / len(body)
        if share > most:
            best, most = body, share
    return best


def main():
    found = False
    for name, code in functions(sys.stdin).items():
        body = main_loop(code)
        if not body:
            continue
        found = True
        counts = collections.Counter(map(opcode, body))
        reused = sum(".reuse" in text for text in body if opcode(text) == "FFMA")
        others = ", ".join(
            f"{count} {what}" for what, count in counts.most_common(8) if what != "FFMA"
        )
        print(
            f"{name}\n    {len(body)} instructions in the main loop: {counts['FFMA']} FFMA "
            f"({counts['FFMA'] / len(body):.1%}), {reused} with .reuse; {others}"
        )
    if not found:
        print(
            "no kernel with a loop of multiply-adds (FFMA) is in this machine code",
            file=sys.stderr,
        )
    return 0 if found else 1


if __name__ == "__main__":
    ending.run(main)
