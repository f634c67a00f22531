#!/usr/bin/env python3
"""make loopN: what the main loop of a chapter's kernels is made of, from `make sassN` on standard input.

The main loop is the shortest stretch from a backward branch's target to the branch of which most instructions are
multiply-adds (FFMA). Told are the number of instructions, the share of FFMA, how many FFMAs take an operand from the
reuse cache (.reuse), and the commonest others."""
import collections
import re
import sys

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
    best = []
    for address, instruction in code:
        target = re.search(r"BRA.*?0x([0-9a-f]+)", instruction)
        if not target or int(target[1], 16) >= address:
            continue
        body = [text for at, text in code if int(target[1], 16) <= at <= address]
        share = sum(opcode(text) == "FFMA" for text in body) / len(body)
        if share > 0.5 and (not best or len(body) < len(best)):
            best = body
    return best


def main():
    for name, code in functions(sys.stdin).items():
        body = main_loop(code)
        if not body:
            continue
        counts = collections.Counter(map(opcode, body))
        reused = sum(".reuse" in text for text in body if opcode(text) == "FFMA")
        others = ", ".join(f"{count} {what}" for what, count in counts.most_common(8) if what != "FFMA")
        print(f"{name}\n    {len(body)} instructions in the main loop: {counts['FFMA']} FFMA "
              f"({counts['FFMA'] / len(body):.1%}), {reused} with .reuse; {others}")


if __name__ == "__main__":
    main()
