"""What the lens counted, by the names that the goals in exercise.ini use."""

import json

PREFIXES = {
    "global load": "load",
    "global store": "store",
    "global atomic": "atomic",
    "shared load": "shared_load",
    "shared store": "shared_store",
    "shared atomic": "shared_atomic",
    "async copy, read": "async_read",
    "async copy, write": "async_write",
}
COUNTS = "requests lanes sectors wavefronts conflicts".split()
OCCUPANCY = {
    "by_threads": "fit_threads",  # blocks on an SM, if only threads counted
    "by_registers": "fit_registers",
    "by_shared": "fit_shared",
    "by_blocks": "fit_blocks",
    "blocks": "sm_blocks",  # blocks on an SM, all of it counted
    "warps": "sm_warps",
}


def as_lens(text):
    """What LENS=json wrote, or None."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def measures(lens):
    """All kernels together: load_sectors, shared_load_conflicts, ..., results, threads, blocks,
    shared_bytes (of a block), and how many blocks and warps an SM holds."""
    kernels = lens["kernels"]
    names = {f"{prefix}_{count}": 0 for prefix in PREFIXES.values() for count in COUNTS}
    for kernel in kernels:
        for kind, counts in kernel["totals"].items():
            for count in COUNTS:
                if kind in PREFIXES and count in counts:
                    names[f"{PREFIXES[kind]}_{count}"] += counts[count]
    for name in ("flop", "results", "loaded_bytes", "blocks"):
        names[name] = sum(kernel.get(name, 0) for kernel in kernels)
    names["threads"] = 0
    for kernel in kernels:
        x, y, z = kernel["block"]
        names["threads"] += kernel["blocks"] * x * y * z
    names["shared_bytes"] = max((kernel["shared_bytes"] for kernel in kernels), default=0)
    for key, name in OCCUPANCY.items():
        # Without LENS_REGS, nothing is known of registers.
        known = [k["occupancy"][key] for k in kernels if k["occupancy"][key] is not None]
        names[name] = min(known, default=0)
    return names


def evaluate(formula, names):
    """A formula of exercise.ini. It is our own text; a share of nothing is nothing."""
    tools = {"ceil": lambda a, b: -(-a // b)}
    try:
        return eval(formula, {"__builtins__": {}}, {**tools, **names})
    except ZeroDivisionError:
        return 0


def costliest_line(lens, kind, formula):
    """The student's line with most of what a goal counts: (line, text), or None."""
    rows = [
        row
        for kernel in lens["kernels"]
        for row in kernel["lines"]
        if row["kind"] == kind and row["file"].endswith("exercise.cu")
    ]
    if not rows:
        return None

    def cost(row):
        if "conflicts" in formula or "wavefronts" in formula:
            return row.get("conflicts", 0)
        if "sectors" in formula:
            return row.get("sectors", 0) / row["requests"]
        return row["lanes"]

    worst = max(rows, key=cost)
    return worst["line"], worst["text"]
