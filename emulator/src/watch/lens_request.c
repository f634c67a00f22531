/* One request of a warp: what the 32 addresses cost in the banks of shared memory, or in
 * sectors and lines of the L1. */
#include "watch/lens_request.h"

#include <stdio.h>
#include <string.h>

enum { LANES = 32 };

/* ---- banks ---- */

/* The lanes from `first` on, `count` of them, go through the banks together. A wavefront
 * carries one unit (a word, or the 8 or 16 neighbouring bytes a lane asked for) per group
 * of banks; lanes that want the same unit share it. */
static unsigned phase(const uint64_t *address, uint32_t lanes, unsigned first,
                      unsigned count, unsigned unit, unsigned *distinct_units)
{
    const unsigned groups = 128 / unit;
    uint64_t seen[LANES];
    unsigned in_group[LANES] = {0}, last_in_group[LANES] = {0}, before[LANES], n = 0,
             most = 0;
    for (unsigned lane = first; lane < first + count; lane++) {
        if (!(lanes >> lane & 1)) continue;
        const uint64_t value = address[lane] / unit;
        const unsigned group = value % groups;
        unsigned i = last_in_group[group], left = in_group[group];
        for (; left > 0 && seen[i] != value; left--) i = before[i];
        if (left > 0) continue;
        before[n] = last_in_group[group];
        last_in_group[group] = n;
        seen[n++] = value;
        if (++in_group[group] > most) most = in_group[group];
    }
    *distinct_units = n;
    return most;
}

static bool paired(const uint64_t *address, uint32_t lanes, unsigned unit,
                   unsigned distance)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned other = lane ^ distance;
        if (lanes >> lane & lanes >> other & 1 &&
            address[lane] / unit != address[other] / unit)
            return false;
    }
    return true;
}

/* How many neighbouring lanes go through the banks of shared memory together: 32, 16 or 8
 * of 4, 8 or 16 bytes each. A load takes twice as many lanes at once if, of these, all
 * pairs n and n ^ 1 (or all n and n ^ 2) want the same bytes. Measured on an H200:
 * results/lens_vs_ncu.csv. */
static unsigned lanes_together(const uint64_t *address, uint32_t lanes, unsigned bytes,
                               bool store)
{
    if (bytes <= 4) return LANES;
    const bool twice =
        !store && (paired(address, lanes, bytes, 1) || paired(address, lanes, bytes, 2));
    return LANES * 4 / bytes * (twice ? 2 : 1);
}

unsigned lens_wavefronts(const uint64_t *address, uint32_t lanes, unsigned bytes,
                         bool store, unsigned *ideal)
{
    const unsigned unit = bytes < 4 ? 4 : bytes;
    const unsigned together = lanes_together(address, lanes, bytes, store);
    const unsigned groups = 128 / unit;
    unsigned wavefronts = 0;
    *ideal = 0;
    for (unsigned first = 0; first < LANES; first += together) {
        unsigned units;
        wavefronts += phase(address, lanes, first, together, unit, &units);
        *ideal += (units + groups - 1) / groups;
    }
    return wavefronts;
}

unsigned lens_wavefront_of(const struct lens_request *r, unsigned bytes, bool store,
                           unsigned wave[32])
{
    const unsigned unit = bytes < 4 ? 4 : bytes, groups = 128 / unit;
    const unsigned together = lanes_together(r->address, r->lanes, bytes, store);
    unsigned before = 0, waves = 0;
    for (unsigned first = 0; first < 32; first += together, before = waves) {
        uint64_t unit_at[32][32];
        unsigned in_group[32] = {0};
        for (unsigned lane = first; lane < first + together; lane++) {
            if (!(r->lanes >> lane & 1)) continue;
            const uint64_t value = r->address[lane] / unit;
            const unsigned group = value % groups;
            unsigned n = 0;
            while (n < in_group[group] && unit_at[group][n] != value) n++;
            if (n == in_group[group]) unit_at[group][in_group[group]++] = value;
            wave[lane] = before + n;
            if (wave[lane] + 1 > waves) waves = wave[lane] + 1;
        }
    }
    return waves;
}

unsigned lens_busiest_bank(const struct lens_request *r, unsigned bytes, bool store,
                           char *lanes, size_t size)
{
    const unsigned unit = bytes < 4 ? 4 : bytes, groups = 128 / unit;
    const unsigned together = lanes_together(r->address, r->lanes, bytes, store);
    unsigned worst_group = 0, worst_first = 0, most = 0;
    for (unsigned first = 0; first < 32; first += together)
        for (unsigned group = 0; group < groups; group++) {
            uint64_t seen[32];
            unsigned n = 0;
            for (unsigned lane = first; lane < first + together; lane++) {
                const uint64_t value = r->address[lane] / unit;
                if (!(r->lanes >> lane & 1) || value % groups != group) continue;
                unsigned i = 0;
                while (i < n && seen[i] != value) i++;
                if (i == n) seen[n++] = value;
            }
            if (n > most) most = n, worst_group = group, worst_first = first;
        }
    size_t used = 0;
    unsigned shown = 0;
    uint64_t seen[32];
    lanes[0] = '\0';
    for (unsigned lane = worst_first; lane < worst_first + together; lane++) {
        const uint64_t value = r->address[lane] / unit;
        if (!(r->lanes >> lane & 1) || value % groups != worst_group) continue;
        unsigned i = 0;
        while (i < shown && i < 32 && seen[i] != value) i++;
        if (i < shown) continue;
        if (shown == 4) {
            snprintf(lanes + used, size - used, ", ...");
            break;
        }
        seen[shown] = value;
        used +=
            (size_t)snprintf(lanes + used, size - used, "%s%u", shown ? ", " : "", lane);
        shown++;
    }
    return worst_group * (unit / 4);
}

/* ---- sectors and lines ---- */

/* How many different values of address >> shift there are. Addresses that rise with the
 * lane, as most do, need one look each. */
static unsigned distinct(const uint64_t *address, unsigned count, unsigned shift)
{
    uint64_t values[LANES];
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t value = address[i] >> shift;
        if (n > 0 && value == values[n - 1]) continue;
        unsigned at = n;
        while (at > 0 && values[at - 1] > value) at--;
        if (at > 0 && values[at - 1] == value) continue;
        memmove(values + at + 1, values + at, (n - at) * sizeof *values);
        values[at] = value;
        n++;
    }
    return n;
}

bool lens_constant_stride(const uint64_t *address, unsigned count, uint64_t *stride_found)
{
    const uint64_t step = count > 1 ? address[1] - address[0] : 0;
    if (step > 1 << 20) return false; /* falling addresses come out as huge */
    uint64_t different = 0;
    for (unsigned i = 2; i < count; i++)
        different |= (address[i] - address[i - 1]) ^ step;
    *stride_found = step;
    return different == 0;
}

unsigned lens_pieces(const uint64_t *address, unsigned count, unsigned shift)
{
    uint64_t step;
    if (!lens_constant_stride(address, count, &step))
        return distinct(address, count, shift);
    if (step >> shift) return count;
    return (unsigned)((address[count - 1] >> shift) - (address[0] >> shift)) + 1;
}

/* A cp.async of 16 bytes goes past the L1 (LDGSTS.BYPASS), eight lanes at a time. Of
 * these two neighbours may share a sector; a third that wants the same fetches it again.
 * So an H200 counts, see results/lens_vs_ncu.csv. */
unsigned lens_sectors_past_l1(const uint64_t *address, uint32_t lanes)
{
    unsigned sectors = 0;
    bool shared = true; /* the sector of the lane before me has its two lanes */
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(lanes >> lane & 1)) {
            shared = true;
            continue;
        }
        const bool same =
            lane % 8 && !shared && address[lane] >> 5 == address[lane - 1] >> 5;
        sectors += !same;
        shared = same;
    }
    return sectors;
}

unsigned lens_unique_bytes(const uint64_t *address, unsigned count, unsigned bytes)
{
    uint64_t step;
    if (!lens_constant_stride(address, count, &step))
        return distinct(address, count, (unsigned)__builtin_ctz(bytes)) * bytes;
    return step ? count * bytes : bytes;
}

uint64_t lens_apart(const struct lens_request *r)
{
    uint64_t step = 0;
    for (unsigned lane = 1; lane < 32; lane++) {
        if (!(r->lanes >> lane & r->lanes >> (lane - 1) & 1)) continue;
        const uint64_t next = r->address[lane] - r->address[lane - 1];
        if (step && next != step) return 0;
        step = next;
    }
    return step < 1ull << 40 ? step : 0; /* falling addresses come out as huge */
}
