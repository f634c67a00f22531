"""Draws the costliest request of a warp, in characters: what memory had to do for it."""

ROWS = 6
SECTOR, WORDS, BANKS = 32, 8, 32


def ranges(lanes):
    """[0, 1, 2, 7] as "0-2, 7"."""
    parts, first = [], None
    for i, lane in enumerate(lanes):
        first = lane if first is None else first
        if i + 1 == len(lanes) or lanes[i + 1] != lane + 1:
            parts.append(f"{first}-{lane}" if lane > first else f"{lane}")
            first = None
    return ", ".join(parts if len(parts) < 5 else [*parts[:3], "..."])


def lane_word(lanes):
    return f"lane{'s' if len(lanes) > 1 else ''} {ranges(lanes)}"


def counted(count, word):
    return f"{count} {word}{'' if count == 1 else 's'}"


def rows_shown(rows, what):
    lines = [f"|{marks}|  {text}" for marks, text in rows[:ROWS]]
    if len(rows) > ROWS:
        lines.append(f"... and {counted(len(rows) - ROWS, what)} more")
    return lines


def sectors(accesses, size):
    """A row for each sector of 32 bytes: # for the words that are used."""
    used = {}
    for lane, byte in accesses:
        for word in range(byte // 4, (byte + size - 1) // 4 + 1):
            marks, lanes = used.setdefault(word // WORDS, (set(), []))
            marks.add(word % WORDS)
            if lane not in lanes:
                lanes.append(lane)
    rows = [
        (
            "".join("#" if word in marks else "." for word in range(WORDS)),
            lane_word(lanes),
        )
        for _, (marks, lanes) in sorted(used.items())
    ]
    head = f"{counted(len(rows), 'sector')} of 32 bytes, # where 4 bytes are used:"
    return [head, *rows_shown(rows, "sector")]


def wavefronts(accesses):
    """A row for each wavefront: # for the banks that it serves."""
    waiting = {}
    for lane, byte in accesses:
        waiting.setdefault(byte // 4, []).append(lane)
    rows = []
    while waiting:
        served = {}
        for word in sorted(waiting):
            served.setdefault(word % BANKS, word)
        lanes = sorted(lane for word in served.values() for lane in waiting.pop(word))
        rows.append(
            ("".join("#" if b in served else "." for b in range(BANKS)), lane_word(lanes))
        )
    head = (
        f"{counted(len(rows), 'wavefront')}, # for each of the 32 banks that serves one:"
    )
    return [head, *rows_shown(rows, "wavefront")]


def of_row(row):
    """A note about a line of the lens's report; "" where there is nothing to see."""
    accesses = row.get("example") or []
    if not accesses:
        return ""
    shared = row["kind"].startswith("shared")
    if shared and row["bytes"] != 4:
        return ""
    head, *rows = wavefronts(accesses) if shared else sectors(accesses, row["bytes"])
    count = (
        "One request" if len(accesses) == 32 else f"A request of {len(accesses)} lanes"
    )
    first = f"{count} of a warp, line {row['line']}, {row['kind']}: {head}"
    return "\n".join([first, *rows])
