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
    "bulk copy": "bulk",
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
    """All kernels together, by the names that goals use. Of each kind of access: load_requests,
    load_lanes, load_sectors, shared_load_wavefronts, ... What cannot be made small by asking
    with fewer lanes, or in another way:

    fetched, stored            words of 4 bytes from and to global memory, whatever moves them
    sectors_in, sectors_out    sectors of 32 bytes for them
    shared_fetched             words from shared memory
    passes                     wavefronts in shared memory, for loads, stores and atomics
    multiply_adds              of the tensor cores
    bulk_words                 words of 4 bytes that the copy engine fetches
    exchanges                  shuffles and votes of a warp, one for all of its lanes
    busy_blocks                how many blocks as busy as the busiest one are all of them together
    travelled                  loads from shared memory beside which a copy travels
    threads, blocks, shared_bytes (of a block), launches
    block_x, block_y           of the kernel with the largest blocks
    fit_..., sm_blocks, sm_warps  what fits on a multiprocessor"""
    kernels = lens["kernels"]
    names = {f"{prefix}_{count}": 0 for prefix in PREFIXES.values() for count in COUNTS}
    for kernel in kernels:
        for kind, counts in kernel["totals"].items():
            for count in COUNTS:
                if kind in PREFIXES and count in counts:
                    names[f"{PREFIXES[kind]}_{count}"] += counts[count]
    for name in ("flop", "loaded_bytes", "blocks", "launches"):
        names[name] = sum(kernel.get(name, 0) for kernel in kernels)
    words = words_of(kernels)
    atomic = words["global atomic"]
    names["bulk_words"] = words["bulk copy"]
    names["fetched"] = words["global load"] + words["async copy, read"] + atomic
    names["fetched"] += words["bulk copy"]
    names["stored"] = words["global store"] + atomic
    names["shared_fetched"] = words["shared load"] + words["shared atomic"]
    atomic = names["atomic_sectors"]
    names["sectors_in"] = names["load_sectors"] + names["async_read_sectors"] + atomic
    names["sectors_in"] += names["bulk_sectors"]
    names["sectors_out"] = names["store_sectors"] + atomic
    names["passes"] = sum(
        names[f"{kind}_wavefronts"]
        for kind in ("shared_load", "shared_store", "shared_atomic", "async_write")
    )
    copies = sum(kernel["copies_arrived"] for kernel in kernels)
    beside = sum(kernel["loads_beside_copies"] for kernel in kernels)
    names["travelled"] = beside / copies if copies else 0
    names["multiply_adds"] = sum(kernel["tensor_multiply_adds"] for kernel in kernels)
    names["exchanges"] = sum(kernel["warp_exchanges"] for kernel in kernels)
    busiest = max((kernel["steps_of_busiest_block"] for kernel in kernels), default=0)
    steps = sum(kernel["steps"] for kernel in kernels)
    names["busy_blocks"] = steps / busiest if busiest else 0
    names["threads"] = 0
    largest = 0
    for kernel in kernels:
        x, y, z = kernel["block"]
        names["threads"] += kernel["blocks"] * x * y * z
        if x * y * z > largest:
            largest = x * y * z
            names["block_x"], names["block_y"] = x, y
    names["shared_bytes"] = max((kernel["shared_bytes"] for kernel in kernels), default=0)
    for key, name in OCCUPANCY.items():
        # Without LENS_REGS, nothing is known of registers.
        known = [k["occupancy"][key] for k in kernels if k["occupancy"][key] is not None]
        names[name] = min(known, default=0)
    return names


def words_of(kernels):
    """Words of 4 bytes that lanes ask for, by kind."""
    words = dict.fromkeys(PREFIXES, 0)
    for kernel in kernels:
        for row in kernel["lines"]:
            if row["kind"] in words:
                words[row["kind"]] += row["lanes"] * row["bytes"] / 4
    return words


def warps(registers, threads):
    """The warps that a multiprocessor with 65,536 registers and room for 64 warps holds, of blocks
    of so many threads that need so many registers each."""
    of_block = -(-threads // 32)
    of_warp = -(-32 * int(-(-registers // 1)) // 256) * 256
    fit = 65536 // 4 // of_warp * 4
    return min(fit, 64) // of_block * of_block


def evaluate(formula, names):
    """A formula of exercise.ini. It is our own text; a share of nothing is nothing."""
    tools = {"ceil": lambda a, b: -(-a // b), "min": min, "warps": warps}
    try:
        return eval(formula, {"__builtins__": {}}, {**tools, **names})
    except ZeroDivisionError:
        return 0


def costliest_row(lens, kinds, formula):
    """The student's line with most of what a goal counts, among accesses of some kinds, as the lens
    reports it, or None."""
    rows = [
        row
        for kernel in lens["kernels"]
        for row in kernel["lines"]
        if row["kind"] in kinds and row["file"].endswith("exercise.cu")
    ]

    def cost(row):
        if "conflicts" in formula or "wavefronts" in formula or "passes" in formula:
            return row.get("conflicts", 0), row.get("wavefronts", 0)
        if "sectors" in formula:
            return row.get("sectors", 0) / row["requests"]
        return row["lanes"] * row["bytes"]

    return max(rows, key=cost, default=None)
