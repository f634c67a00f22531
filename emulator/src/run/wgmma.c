/* wgmma: the four warps of a warpgroup multiply matrices in shared memory,
 * asynchronously.
 *
 * The product is calculated as soon as all four warps have come. That it takes its time
 * on a GPU is the checker's to know: until a thread has waited for the group it belongs
 * to, the sums may not be touched, nor what is read in shared memory be overwritten.
 *
 * The sums are the program's variables, and given by address, so that a touch is seen. */
#include "run/wgmma.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "base/now.h"
#include "base/ptx.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "emulator_ptx.h"
#include "emulator_runtime.h"
#include "run/tensor_core.h"
#include "run/warp.h"
#include "watch/clocks.h"
#include "watch/inflight.h"
#include "watch/lens.h"
#include "watch/registers.h"

#define PC __builtin_return_address(0)

enum { LANES = 32, WARPS = 4, M = 64, MOST_N = 256, MOST_K = 32, MOST_SUMS = 128 };

/* ---- matrix descriptors ---- */

struct descriptor {
    uint32_t start, leading, stride; /* bytes */
    enum emu_swizzle swizzle;
    unsigned width; /* bytes of a row of the swizzle's pattern, 16 without one */
};

static struct descriptor decode(uint64_t bits, const void *pc)
{
    static const enum emu_swizzle swizzles[] = {EMU_SWIZZLE_NONE, EMU_SWIZZLE_128,
                                                EMU_SWIZZLE_64, EMU_SWIZZLE_32};
    const struct descriptor d = {.start = (uint32_t)(bits & 0x3fff) << 4,
                                 .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                                 .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                                 .swizzle = swizzles[bits >> 62],
                                 .width = 16u << swizzles[bits >> 62]};
    if (bits >> 49 & 7)
        emu_fault(pc,
                  "a matrix descriptor with base offset %u: the emulator knows only "
                  "matrices whose pattern begins at a multiple of its size",
                  (unsigned)(bits >> 49 & 7));
    return d;
}

/* Where 16 bytes of the matrix lie: of row (of B: column) `outer`, the `piece`-th 16
 * bytes along k; or, where rows lie along the other dimension (`transposed`), of that k
 * the `piece`-th 16 bytes along the rows. */
static char *piece_at(const struct descriptor *d, bool transposed, unsigned outer,
                      unsigned piece, const void *pc)
{
    uint32_t offset;
    if (!transposed && d->swizzle == EMU_SWIZZLE_NONE)
        offset = outer % 8 * 16 + outer / 8 * d->stride + piece * d->leading;
    else if (!transposed)
        offset = outer % 8 * d->width + outer / 8 * d->stride + piece * 16;
    else if (d->swizzle == EMU_SWIZZLE_NONE)
        offset = outer % 8 * 16 + outer / 8 * d->leading + piece * d->stride;
    else
        offset = outer % 8 * d->width + outer / 8 * d->stride +
                 piece / (d->width / 16) * d->leading + piece % (d->width / 16) * 16;
    const uint32_t address =
        (uint32_t)emu_swizzled((d->start + offset) & 0x3ffff, d->swizzle);
    return emu_shared_place(emu_shared_address_in(address, emu_current->rank, pc), 16,
                            pc);
}

/* ---- one instruction ---- */

struct form {
    uint64_t code;
    unsigned n, k;
    enum ptx_type a, b, sum;
    bool a_in_registers, transpose_a, transpose_b;
    uint64_t a_descriptor, b_descriptor;
    bool add; /* to what the sums hold; else they begin at zero */
    bool negate_a, negate_b;
};

/* What a thread brings. */
struct part {
    struct form form;
    uint64_t a[4];
    const char *places[4]; /* of those in the program; or NULL */
    char *sums[MOST_SUMS];
};

static unsigned elements_in(enum ptx_type type, unsigned bytes)
{
    return ptx_types[type].bits == 1 ? bytes / 4 : bytes * 8 / ptx_types[type].bits;
}

/* Elements of single bits are taken 32 at a time. */
static unsigned element_bits(enum ptx_type type)
{
    return ptx_types[type].bits == 1 ? 32 : ptx_types[type].bits;
}

static uint32_t element_of(enum ptx_type type, const void *from, unsigned i)
{
    const unsigned bits = element_bits(type);
    uint32_t x = 0;
    memcpy(&x, (const char *)from + i * bits / 8, bits / 8);
    return x;
}

/* Reads `rows` x k elements, k after k. */
static void read_matrix(const struct descriptor *d, enum ptx_type type, bool transposed,
                        unsigned rows, unsigned k, uint32_t *to, const void *pc)
{
    const unsigned each = elements_in(type, 16);
    const unsigned outer = transposed ? k : rows, inner = transposed ? rows : k;
    for (unsigned o = 0; o < outer; o++)
        for (unsigned p = 0; p < inner / each; p++) {
            const char *from = piece_at(d, transposed, o, p, pc);
            for (unsigned e = 0; e < each; e++) {
                const unsigned i = p * each + e;
                to[transposed ? i * k + o : o * k + i] = element_of(type, from, e);
            }
        }
}

static uint32_t check_matrix(const struct descriptor *d, enum ptx_type type,
                             bool transposed, unsigned rows, unsigned k, unsigned slot,
                             const void *pc)
{
    const unsigned each = elements_in(type, 16);
    const unsigned outer = transposed ? k : rows, inner = transposed ? rows : k;
    uint32_t time = 0;
    for (unsigned o = 0; o < outer; o++)
        for (unsigned p = 0; p < inner / each; p++)
            time = emu_check_async_read(piece_at(d, transposed, o, p, pc), 16, slot,
                                        (int)d->swizzle, pc);
    return time;
}

/* Where sum i of a thread of the warpgroup stands: in rows of n. */
static unsigned sum_at(unsigned thread, unsigned i, unsigned n)
{
    const unsigned row = thread / LANES * 16 + thread % LANES / 4 + (i >> 1 & 1) * 8;
    return row * n + i / 4 * 8 + thread % 4 * 2 + (i & 1);
}

/* From the threads' registers into `sums`, or out of it. */
static void move_sums(struct part *const *parts, const struct form *f, uint32_t *sums,
                      bool out)
{
    const bool halves = f->sum == PTX_F16; /* two in a register */
    for (unsigned t = 0; t < WARPS * LANES; t++) {
        char *const *places = parts[t]->sums;
        for (unsigned i = 0; i < f->n / 2; i++) {
            uint32_t *sum = &sums[sum_at(t, i, f->n)];
            char *place = halves ? places[i / 2] + i % 2 * 2 : places[i];
            if (halves)
                out ? memcpy(place, sum, 2) : memcpy(sum, place, 2);
            else
                out ? memcpy(place, sum, 4) : memcpy(sum, place, 4);
        }
    }
}

/* Of one instruction: its operands' elements by rows of k, and its sums. */
EMU_TABLE(uint32_t, a_elements, (M * MOST_K));
EMU_TABLE(uint32_t, b_elements, (MOST_N * MOST_K));
EMU_TABLE(uint32_t, all_sums, (M * MOST_N));

static void multiply(struct part *const *parts, const void *pc)
{
    uint32_t *const a = a_elements, *const b = b_elements, *const sums = all_sums;
    const struct form *f = &parts[0]->form;
    if (f->a_in_registers) {
        const unsigned each = 32 / element_bits(f->a);
        for (unsigned t = 0; t < WARPS * LANES; t++)
            for (unsigned r = 0; r < 4; r++)
                for (unsigned e = 0; e < each; e++) {
                    const unsigned row = t / LANES * 16 + t % LANES / 4 + r % 2 * 8;
                    a[row * f->k + (r / 2 * 4 + t % 4) * each + e] =
                        element_of(f->a, &parts[t]->a[r], e);
                }
    } else {
        const struct descriptor d = decode(f->a_descriptor, pc);
        read_matrix(&d, f->a, f->transpose_a, M, f->k, a, pc);
    }
    const struct descriptor d = decode(f->b_descriptor, pc);
    read_matrix(&d, f->b, f->transpose_b, f->n, f->k, b, pc);
    memset(sums, 0, M * MOST_N * sizeof *sums);
    if (f->add) move_sums(parts, f, sums, false);
    const struct tensor_kind kind = {.a = f->a,
                                     .b = f->b,
                                     .sum = f->sum,
                                     .wgmma = true,
                                     .saturate = f->code & PTX_SATFINITE,
                                     .binary_and = true,
                                     .negate_a = f->negate_a,
                                     .negate_b = f->negate_b};
    tensor_multiply(&kind, M, f->n, f->k, a, b, sums);
    if (emu_now.lens_looks) {
        const unsigned bits = element_bits(f->a), rows = f->a_in_registers ? 0 : M;
        emu_lens_tensor((uint64_t)M * f->n * f->k, bits,
                        (size_t)(rows + f->n) * f->k * bits / 8);
    }
    move_sums(parts, f, sums, true);
}

/* ---- the four warps ---- */

struct warpgroup {
    struct part *parts[WARPS * LANES];
    unsigned came;  /* the warps, a bit each */
    unsigned round; /* how many instructions are over */
    const void *pc; /* where the first of them waits */
    bool has_slot;
    unsigned slot; /* its column in the checker's clocks */
};
enum { WARPGROUPS = EMU_MAX_THREADS / (WARPS * LANES) };
EMU_TABLE(struct warpgroup, warpgroups, WARPGROUPS);

/* The running thread's. A block has at most eight. */
static struct warpgroup *warpgroup(void)
{
    return &warpgroups[emu_current->rank * 8 + emu_current->block_warp / WARPS];
}

struct wait {
    const struct warpgroup *group;
    unsigned round;
    const void *pc;
};

static bool is_over(void *waiting)
{
    const struct wait *w = waiting;
    return w->group->round != w->round;
}

static bool never_over(void *waiting, enum emu_stuck how)
{
    const struct wait *w = waiting;
    if (how == EMU_GIVE_UP) return false;
    char missing[32] = "";
    for (unsigned i = 0; i < WARPS; i++)
        if (!(w->group->came >> i & 1))
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %u",
                     emu_current->block_warp / WARPS * WARPS + i);
    emu_fault(w->pc,
              "warp divergence: wgmma is carried out by the four warps of a warpgroup, "
              "and of them%s never come",
              missing);
}

/* Lane 0 of a warp; `all`: what its lanes bring. */
static uint32_t join_warpgroup(struct part *const *all, const void *pc)
{
    struct warpgroup *g = warpgroup();
    const unsigned warp = emu_current->block_warp % WARPS;
    const struct form *f = &all[0]->form;
    if (!g->has_slot) g->slot = emu_check_slot(pc);
    g->has_slot = true;
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (memcmp(&all[lane]->form, f, sizeof *f) != 0)
            emu_fault(pc,
                      "wgmma: the lanes of a warp must agree on the descriptors and "
                      "on all that is not a register of their own; lane %u does not",
                      lane);
        g->parts[warp * LANES + lane] = all[lane];
    }
    if (!g->came) {
        g->pc = pc;
    } else {
        const unsigned other = (unsigned)__builtin_ctz(g->came);
        if (memcmp(&g->parts[other * LANES]->form, f, sizeof *f) != 0) {
            const struct emu_place place = emu_source_of(g->pc);
            emu_fault(pc,
                      "wgmma: the four warps of a warpgroup must agree on the "
                      "instruction and its descriptors; another one waits at %s:%d with "
                      "others",
                      place.file, place.line);
        }
    }
    /* Every warp must have waited for what is read. */
    uint32_t time = 0;
    if (!f->a_in_registers) {
        const struct descriptor d = decode(f->a_descriptor, pc);
        time = check_matrix(&d, f->a, f->transpose_a, M, f->k, g->slot, pc);
    }
    const struct descriptor d = decode(f->b_descriptor, pc);
    time = check_matrix(&d, f->b, f->transpose_b, f->n, f->k, g->slot, pc);
    g->came |= 1u << warp;
    if (g->came == (1u << WARPS) - 1) {
        multiply(g->parts, pc);
        g->came = 0;
        g->round++;
    } else {
        struct wait w = {g, g->round, pc};
        emu_wait_until(is_over, never_over, &w);
    }
    return time;
}

/* ---- the instructions ---- */

void emu_wgmma_block_begins(void)
{
    if (emu_registers_block_begins())
        memset(warpgroups, 0, WARPGROUPS * sizeof *warpgroups);
}

void emu_ptx_wgmma_fence(void)
{
    emu_registers_fence();
}

void emu_ptx_wgmma_commit(void)
{
    emu_registers_commit();
}

void emu_ptx_wgmma_wait(uint64_t groups_that_may_remain)
{
    const struct warpgroup *g = warpgroup();
    uint32_t time;
    if (emu_registers_wait(groups_that_may_remain, &time) && g->has_slot)
        emu_check_async_done(g->slot, time);
}

void emu_ptx_wgmma(uint64_t code, unsigned n, unsigned k, uint64_t scale_d,
                   uint64_t scale_a, uint64_t scale_b, uint64_t transpose_a,
                   uint64_t transpose_b, ...)
{
    const bool half = PTX_TYPE_OF(code) == PTX_F16;
    if (((uint32_t)scale_a != 1 && (int32_t)scale_a != -1) ||
        ((uint32_t)scale_b != 1 && (int32_t)scale_b != -1))
        emu_fault(PC, "wgmma: imm-scale-a and imm-scale-b are 1 or -1");
    struct part mine;
    memset(&mine, 0, sizeof mine);
    struct form *f = &mine.form;
    f->code = code;
    f->n = n;
    f->k = PTX_FROM_OF(code) == PTX_B1 ? k / 32 : k;
    f->sum = PTX_TYPE_OF(code);
    f->a = PTX_FROM_OF(code);
    f->b = (enum ptx_type)PTX_DETAIL_OF(code);
    f->a_in_registers = code & PTX_A_REGISTERS;
    f->transpose_a = transpose_a & 1;
    f->transpose_b = transpose_b & 1;
    f->add = scale_d & 1;
    f->negate_a = (int32_t)scale_a < 0;
    f->negate_b = (int32_t)scale_b < 0;
    va_list values;
    va_start(values, transpose_b);
    if (f->a_in_registers) {
        for (unsigned i = 0; i < 4; i++) mine.a[i] = va_arg(values, uint64_t);
        for (unsigned i = 0; i < 4; i++)
            mine.places[i] = (const char *)(uintptr_t)va_arg(values, uint64_t);
    } else
        f->a_descriptor = va_arg(values, uint64_t);
    f->b_descriptor = va_arg(values, uint64_t);
    const unsigned registers = half ? n / 4 : n / 2;
    for (unsigned i = 0; i < registers; i++)
        mine.sums[i] = (char *)(uintptr_t)va_arg(values, uint64_t);
    va_end(values);

    if (emu_gpu()->prop.major != 9)
        emu_fault(PC,
                  "wgmma exists on compute capability 9.0 alone, and the emulated %s "
                  "has %d.%d (EMULATE chooses another)",
                  emu_gpu()->prop.name, emu_gpu()->prop.major, emu_gpu()->prop.minor);
    if (emu_settings.check && !emu_registers_fenced())
        emu_fault(PC, "a missing wgmma.fence: it must come before the first wgmma, so "
                      "that the registers hold what was written to them");
    emu_registers_written(mine.sums, registers, PC);
    if (emu_settings.check && emu_settings.strict)
        for (unsigned i = 0; i < 4; i++)
            if (mine.places[i])
                emu_registers_read(mine.places[i], (uint32_t)mine.a[i], PC);
    const unsigned long long *brought =
        emu_warp_gather_whole((uintptr_t)&mine, "wgmma", PC);
    uint32_t time = 0;
    if (emu_current->lane == 0) {
        struct part *all[LANES];
        for (unsigned lane = 0; lane < LANES; lane++)
            all[lane] = (struct part *)(uintptr_t)brought[lane];
        time = join_warpgroup(all, PC);
    }
    emu_registers_read_at((uint32_t)emu_warp_gather(~0u, time, "wgmma", PC)[0]);
}
