#!/usr/bin/env python3
"""make scenes: what five more figures show, into results/replays.json.

Those that a reader operates replay what programs did, for every position of their sliders; nothing in a page
computes it. --check writes nothing and exits with 1 if a program has changed since; names renew only those.

bank_wheel   chapter 7 with other paddings and other owners of rows and columns, under the lens
occupancy    how many blocks fit on an SM, by each of the four limits: the table behind --occupancy
race         chapter 3 with a barrier less: who stores and who reads what, in the order in which it happened
late_copies  chapter 10 without the wait or the barrier: which copies have come when a stage is read
warps        1 to 16 warps that take turns at a scheduler of a GPU, from results/warps.csv (make warps)
"""

import argparse
import hashlib
import itertools
import json
import os
import re
import statistics
import subprocess
import sys

import chapters
import ending
import rows
import scenes
import tried

TABLE = rows.ROOT / "results" / "replays.json"


class Mistake(Exception):
    """A replay that does not fit its chapter; the message says which."""


def number_of(name):
    return next(n for n in chapters.numbers() if scenes.name_of(n) == name)


def hash_of(*texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


# ---- addresses on a wheel of banks ----

PADDINGS = range(0, 33, 4)
ORDERS = {
    "as in chapter 7": (),
    "a thread's columns side by side, as in chapter 6": ("neighbouring_columns",),
    "32 lanes down the rows of A": (
        {"load_a_row": "threadIdx.x % BM", "load_a_col": "threadIdx.x / BM * 4"},
    ),
}


def wheel_variants():
    for (order, changes), padding in itertools.product(ORDERS.items(), PADDINGS):
        yield order, padding, ({"PADDING": padding}, *changes)


def wheel_source():
    name = "bank_conflicts"
    number = number_of(name)
    return hash_of(
        *(
            scenes.hash_of(*scenes.prepare(name, number, *changes))
            for _, _, changes in wheel_variants()
        )
    )


def bank_wheel():
    """A request of warp 0 for each line that asks shared memory, for each padding and order."""
    name = "bank_conflicts"
    number, variants = number_of(name), []
    for order, padding, changes in wheel_variants():
        folder, words = scenes.prepare(name, number, *changes)
        kernel = scenes.shown(scenes.look(name, number, folder, words), folder)
        loads = [line for line in kernel["lines"] if line["kind"] == "global load"]
        variants.append(
            {
                "order": order,
                "padding": padding,
                "shared_bytes": kernel["shared_bytes"],
                "loads": {
                    key: sum(line[key] for line in loads)
                    for key in ("requests", "sectors")
                },
                "lines": [line for line in kernel["lines"] if "wavefront" in line],
            }
        )
        print(f"results/replays.json: bank_wheel: {order}, padding {padding}")
    return {
        "arguments": scenes.SIZE,
        "paddings": list(PADDINGS),
        "orders": list(ORDERS),
        "variants": variants,
    }


# ---- how many blocks fit ----

RULES = rows.ROOT / "tests" / "occupancy_rules.c"
THREADS = [32, 64, 96, 128, 192, 256, 384, 512, 640, 768, 896, 1024]
REGISTERS = [*range(16, 249, 8), 255]
SHARED = [
    1024 * kb for kb in (0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 99, 128, 163, 200, 227)
]


def occupancy_source():
    emulator = rows.ROOT / "emulator"
    tables = sorted(rows.ROOT.glob("chapters/*/registers.c"))
    files = [
        RULES,
        emulator / "gpus.h",
        emulator / "include" / "cuda_occupancy.h",
        *tables,
    ]
    return hash_of(*(path.read_text() for path in files))


def rules():
    """The program that asks cuda_occupancy.h for eight GPUs."""
    program = scenes.scratch() / "occupancy_rules"
    compiler = rows.ROOT / "emulator" / "bin" / "nvcc"
    tried.sh([compiler, "-O2", "-I", rows.ROOT / "emulator", RULES, "-o", program])
    return program


NO_LIMIT = 2**31 - 1


def fit(program, threads, registers, shared):
    """{gpu: blocks by threads, by registers, by shared memory, by count}, as the program says."""
    told = tried.sh([program, str(threads), str(registers), str(shared)])
    every = {}
    for line in told.splitlines():
        gpu, _, values = line.partition(": ")
        limits = [int(value) for value in values.partition(",")[0].split()]
        # What is not used at all sets no limit of its own.
        every[gpu] = [limits[3] if limit == NO_LIMIT else limit for limit in limits]
    return every


def own_blocks():
    """What --occupancy says of every chapter: {gpu: {chapter: row}}."""
    every = {}
    for path in sorted(rows.ROOT.glob("chapters/*/registers.c")):
        number = int(path.parent.name[:2])
        for row in json.loads(chapters.emulate(number, "--occupancy", "--json"))["gpus"]:
            every.setdefault(row["gpu"], {})[number] = row
    return every


def occupancy():
    """For each GPU: by_threads[threads], by_registers[threads][registers], by_shared[shared], by_blocks."""
    program, own = rules(), own_blocks()
    kinds = [row for of_gpu in own.values() for row in of_gpu.values()]
    axis = lambda key, values: sorted({*values, *(row[key] for row in kinds)})  # noqa: E731
    threads = axis("threads", THREADS)
    registers, shared = axis("registers", REGISTERS), axis("shared", SHARED)
    by_both = [[fit(program, t, r, 0) for r in registers] for t in threads]
    by_shared = [fit(program, threads[0], registers[0], s) for s in shared]
    gpus = {}
    for gpu, of_gpu in own.items():
        count = by_shared[0][gpu][3]
        gpus[gpu] = {
            "max_warps": next(iter(of_gpu.values()))["max_warps"],
            "by_threads": [row[0][gpu][0] for row in by_both],
            "by_registers": [[at[gpu][1] for at in row] for row in by_both],
            "by_shared": [at[gpu][2] for at in by_shared],
            "by_blocks": count,
            "chapters": {
                number: [row["threads"], row["registers"], row["shared"]]
                for number, row in of_gpu.items()
            },
        }
    return {"threads": threads, "registers": registers, "shared": shared, "gpus": gpus}


# ---- a barrier less ----

SIDE, STEPS = 8, 3
RACE = {"BM": SIDE, "BN": SIDE, "BK": SIDE}
SHAPE = [str(SIDE), str(SIDE), str(SIDE * STEPS)]
BARRIER = "        __syncthreads();\n"
# Which barrier only keeps the lanes of a warp together, so that the two warps may part.
MISSING = {"both barriers": None, "without the first": 0, "without the second": 1}
# What a thread says when it comes past a line of the loop: "store A 17 0", "read 17 0 5".
HERE = "thread_row * BN + thread_col, k0 / BK"
SAYS = {
    "A_tile[thread_row][thread_col] = a_value;": f'printf("store A %d %d\\n", {HERE});',
    "B_tile[thread_row][thread_col] = b_value;": f'printf("store B %d %d\\n", {HERE});',
    "acc += A_tile[thread_row][k] * B_tile[k][thread_col];": f'printf("read %d %d %d\\n", {HERE}, k);',
}


def without(text, which):
    parts = text.split(BARRIER)
    if len(parts) != 3:
        raise Mistake("race: chapter 3 has not two barriers in its loop any more")
    weaker = BARRIER.replace("threads", "warp")
    first, second = (weaker if which == i else BARRIER for i in (0, 1))
    return parts[0] + first + parts[1] + second + parts[2]


def talking(text):
    """The same, and every store and read of the tiles is told as it happens."""
    text = text.replace(
        '#include "matmul.h"', '#include "matmul.h"\n#include <stdio.h>', 1
    )
    for line, says in SAYS.items():
        if text.count(line) != 1:
            raise Mistake(f"race: chapter 3 has no line {line}")
        text = text.replace(line, f"{{ {line} {says} }}")
    return text


def race_source():
    folder, _ = scenes.prepare("shared_memory", number_of("shared_memory"), RACE)
    return hash_of((folder / "matmul.cu").read_text())


def ran(program, shape, **settings):
    """The exit code of a program with these settings, and what it says."""
    done = subprocess.run(
        [program, *shape, "--check-only", "--one-shape"],
        env={**os.environ, "LENS": "0", **settings},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def moments(told):
    """The order of stores and reads as moments, in each of which one warp stores or reads. Of each the tiles
    as it leaves them, a sign per element: which step's value it holds (- none), and what the warp does to it:
    s stored, r read, x read although it holds another step's value than the one that is due."""
    words = [
        line.split() for line in told.splitlines() if re.match("(store|read) ", line)
    ]
    words = words[: STEPS * SIDE * SIDE * (2 + SIDE)]  # the first launch
    holds = {tile: ["-"] * SIDE * SIDE for tile in "AB"}
    found = []
    for kind, *rest in words:
        tile = rest.pop(0) if kind == "store" else ""
        thread, step, *k = map(int, rest)
        row, col, warp = thread // SIDE, thread % SIDE, thread // 32
        key = {"warp": warp, "does": kind, "step": step}
        if not found or any(found[-1][word] != value for word, value in key.items()):
            blank = {f"{tile}_does": ["."] * SIDE * SIDE for tile in "AB"}
            found.append({**key, "accesses": 0, "wrong": 0, **blank})
        now = found[-1]
        places = (
            [(tile, thread)]
            if tile
            else [("A", row * SIDE + k[0]), ("B", k[0] * SIDE + col)]
        )
        for of, at in places:
            now["accesses"] += 1
            if kind == "store":
                holds[of][at] = str(step)
                now[f"{of}_does"][at] = "s"
            else:
                wrong = holds[of][at] != str(step)
                now["wrong"] += wrong
                now[f"{of}_does"][at] = "x" if wrong else "r"
        now.update({of: "".join(holds[of]) for of in "AB"})
    for moment in found:
        moment.update({f"{of}_does": "".join(moment[f"{of}_does"]) for of in "AB"})
    return found


def race():
    number, variants = number_of("shared_memory"), []
    for label, which in MISSING.items():
        folder, _ = scenes.prepare("shared_memory", number, RACE)
        source = folder / "matmul.cu"
        text = without(source.read_text(), which)
        source.write_text(text)
        code, said = ran(scenes.build(number, folder), SHAPE, CHECK="1")
        fault = re.search(r"^FAULT (.*)$", said, re.M)
        if bool(code) != bool(fault) or bool(fault) != (which is not None):
            raise Mistake(f"race: {label}: exit {code}, and it says\n{said[-500:]}")
        source.write_text(talking(text))
        code, told = ran(scenes.build(number, folder), SHAPE, CHECK="0")
        wrong = re.search(r"^(\d+) of (\d+) elements are wrong \(real", told, re.M)
        variants.append(
            {
                "label": label,
                "fault": re.sub(r"\S*/(matmul\.cu)", r"\1", fault[1]) if fault else "",
                "wrong": int(wrong[1]) if wrong else 0,
                "results": SIDE * SIDE,
                "weaker": which,
                "moments": moments(told),
            }
        )
        print(f"results/replays.json: race: {label}")
    lines = (chapters.folder(number) / "matmul.cu").read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line + "\n" == BARRIER)
    shown = [
        {"line": begin + i + 1, "text": line.strip()}
        for i, line in enumerate(lines[begin : begin + 12])
        if line.strip() and not line.strip().startswith("//") and line.strip() != "}"
    ]
    return {
        "arguments": " ".join(SHAPE),
        "side": SIDE,
        "code": shown,
        "variants": variants,
    }


# ---- a wait less ----

# The smallest block with two warps that chapter 10 can have.
LATE = {"BM": 32, "BN": 32, "WM": 16, "WN": 32, "TM": 4, "TN": 4}
LATE_SHAPE = ["32", "32", "40"]
WAIT, MEET = "__pipeline_wait_prior(STAGES - 3);", "__syncthreads();"
# What a program says besides: who copies which element, and, when a warp comes to read its second tile, which of
# the tile's elements are there.
COPIES = {
    "__pipeline_memcpy_async(&A_tile": 'printf("copy A %d %d\\n", k * BM + row, threadIdx.x / 32);',
    "__pipeline_memcpy_async(&B_tile": 'for (int i = 0; i < WIDTH; ++i) printf("copy B %d %d\\n", '
    "k * BN + threadIdx.x * WIDTH % BN + i, threadIdx.x / 32);",
}
READS = """
            if (k == BK - 1 && k0 == 0 && threadIdx.x % 32 == 0)
                for (int i = 0; i < BK * BM; ++i) {
                    const int at = i / BM, of = i % BM;
                    printf("there %d %d %d\\n", warp, A_tile[now][at][of] == A[of * K + BK + at],
                           B_tile[now][at][of] == B[(BK + at) * N + of]);
                }
"""


def late_source():
    folder, _ = scenes.prepare("async_copies", number_of("async_copies"), LATE)
    return hash_of((folder / "matmul.cu").read_text())


def late_copies():
    """Without the wait and without the barrier: the fault, and which elements of a tile of A and of B are there when
    warp 0 comes to read them, and which warp has copied them; a sign per element."""
    number, variants = number_of("async_copies"), []
    for label, missing in (("", ""), ("the wait", WAIT), ("the barrier", MEET)):
        folder, _ = scenes.prepare("async_copies", number, LATE)
        source = folder / "matmul.cu"
        parts = re.split(rf"({re.escape(WAIT)}\s+{re.escape(MEET)})", source.read_text())
        if len(parts) != 3:
            raise Mistake("late_copies: chapter 10 does not wait in one place any more")
        # The lanes of a warp keep together, so that only the warps part.
        if missing:
            parts[1] = parts[1].replace(missing, "__syncwarp();")
        source.write_text("".join(parts))
        program = scenes.build(number, folder)
        code, said = ran(program, LATE_SHAPE, CHECK="1")
        fault = re.search(r"^FAULT (.*)$", said, re.M)
        if bool(code) != bool(fault) or bool(fault) != bool(missing):
            raise Mistake(
                f"late_copies: {label}: exit {code}, and it says\n{said[-500:]}"
            )
        place = re.search(r"now = now \+ 1 < STAGES.*?\n +\}", parts[2], re.S)
        parts[2] = parts[2][: place.end()] + READS + parts[2][place.end() :]
        text = "#include <stdio.h>\n" + "".join(parts)
        for line, says in COPIES.items():
            text = text.replace(line, f"{says} {line}")
        source.write_text(text)
        _, told = ran(scenes.build(number, folder), LATE_SHAPE, CHECK="0")
        there = re.findall(r"^there 0 (\d) (\d)$", told, re.M)[: 8 * LATE["BM"]]
        owner = {
            (of, int(at)): warp
            for of, at, warp in re.findall(r"^copy (.) (\d+) (\d+)$", told, re.M)
        }
        variants.append(
            {
                "label": label,
                "fault": fault[1] if fault else "",
                "A": "".join(a for a, _ in there),
                "B": "".join(b for _, b in there),
            }
        )
    return {
        "arguments": " ".join(LATE_SHAPE),
        "width": LATE["BM"],
        "copied_by": {
            of: "".join(owner[of, i] for i in range(len(there))) for of in "AB"
        },
        "variants": variants,
    }


# ---- warps that take turns ----

WARPS = rows.ROOT / "results" / "warps.csv"
WARPS_TEXTS = ("gpu", "cuda", "date")
WARPS_COLUMNS = (
    *WARPS_TEXTS,
    *("multiply_adds", "window", "warps", "warp", "asked", "came", "done"),
)
SHOWN = 6000  # clocks, of those that were measured


def warps_source():
    return hash_of(WARPS.read_text(), str(SHOWN))


def warps():
    """For each number of warps: the share of the scheduler's slots with a multiply-add, the clocks from a warp's
    last multiply-add to its next, and when each warp multiplied: [first, last clock]."""
    found = rows.read_table(WARPS, rows.kinds(WARPS_COLUMNS, WARPS_TEXTS, WARPS_COLUMNS))
    if not found:
        raise Mistake("results/warps.csv has no rows: `make warps`")
    window, multiply_adds = found[0]["window"], found[0]["multiply_adds"]
    variants = []
    for count, group in itertools.groupby(found, key=lambda row: row["warps"]):
        slots, waits, turns = 0.0, [], [[] for _ in range(count)]
        for row in group:
            asked, came, done = (row[name] for name in ("asked", "came", "done"))
            waits.append(came - asked)
            inside = max(0, min(window, done) - max(0, came))
            slots += multiply_adds * inside / (done - came)
            if done > 0 and came < SHOWN:
                turns[row["warp"]].append([max(0, came), min(SHOWN, done)])
        variants.append(
            {
                "warps": count,
                "percent": round(100 * slots / window, 1),
                "waits": round(statistics.median(waits)),
                "turns": turns,
            }
        )
    return {
        "measured": f"one {found[0]['gpu']}, CUDA {found[0]['cuda']}, {found[0]['date']}",
        "multiply_adds": multiply_adds,
        "window": window,
        "shown": SHOWN,
        "variants": variants,
    }


REPLAYS = {
    "bank_wheel": (wheel_source, bank_wheel),
    "occupancy": (occupancy_source, occupancy),
    "race": (race_source, race),
    "late_copies": (late_source, late_copies),
    "warps": (warps_source, warps),
}


def read():
    return json.loads(TABLE.read_text()) if TABLE.exists() else {}


def written(every):
    text = json.dumps(every, ensure_ascii=False, separators=(",", ":"))
    return (
        re.sub(r'(\{"(?:order|line|warp|label|max_warps|warps)":)', r"\n\1", text) + "\n"
    )


def main(words):
    parser = argparse.ArgumentParser(description="Renews results/replays.json.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, name what is stale"
    )
    parser.add_argument(
        "--again", action="store_true", help="run again what has not changed"
    )
    parser.add_argument(
        "names", nargs="*", help=f"some of {', '.join(REPLAYS)}; default all"
    )
    chosen = parser.parse_args(words)
    every, wrong = read(), 0
    for name, (source, make) in REPLAYS.items():
        if chosen.names and name not in chosen.names:
            continue
        stamp = source()
        if every.get(name, {}).get("source") == stamp and not chosen.again:
            continue
        if chosen.check:
            wrong = 1
            print(
                f"results/replays.json: {name} is older than its program; `make scenes` renews it"
            )
            continue
        every[name] = {"source": stamp, **make()}
        TABLE.write_text(
            written({name: every[name] for name in REPLAYS if name in every})
        )
    return wrong


if __name__ == "__main__":
    try:
        ending.run(lambda: main(sys.argv[1:]))
    except (Mistake, scenes.Mistake, tried.Broken, chapters.Broken) as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
