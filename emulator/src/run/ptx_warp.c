/* PTX's instructions between threads: barriers, shuffles, votes; and its special
 * registers. */
#include <string.h>
#include <time.h>

#include "base/device.h"
#include "base/now.h"
#include "base/ptx.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "emulator_ptx.h"
#include "emulator_runtime.h"
#include "run/barrier.h"
#include "run/mbarrier.h"
#include "run/warp.h"
#include "watch/registers.h"

#define PC __builtin_return_address(0)

enum { LANES = 32 };

/* ---- special registers ---- */

static uint64_t component_of(uint3 v, unsigned component)
{
    return component == 0 ? v.x : component == 1 ? v.y : v.z;
}

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    emu_now.unrepeatable = true;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t emu_ptx_special(unsigned which, unsigned component)
{
    const struct emu_launch *l = emu_now.launch;
    const unsigned lane = emu_current->lane;
    const unsigned threads = l->block[0] * l->block[1] * l->block[2];
    const uint64_t block = component_of(emu_now.block, component),
                   in_cluster = component_of(emu_now.cluster, component);
    switch ((enum ptx_special)which) {
    case PTX_SPECIAL_TID: return component_of(emu_current->index, component);
    case PTX_SPECIAL_NTID: return l->block[component];
    case PTX_SPECIAL_CTAID: return block;
    case PTX_SPECIAL_CLUSTERID: return block / in_cluster;
    case PTX_SPECIAL_NCTAID: return l->grid[component];
    case PTX_SPECIAL_NCLUSTERID: return l->grid[component] / in_cluster;
    case PTX_SPECIAL_CLUSTER_CTAID: return block % in_cluster;
    case PTX_SPECIAL_CLUSTER_NCTAID: return in_cluster;
    case PTX_SPECIAL_CLUSTER_CTARANK: return emu_current->rank;
    case PTX_SPECIAL_CLUSTER_NCTARANK: return emu_now.blocks;
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER: return emu_now.blocks > 1;
    case PTX_SPECIAL_LANEID: return lane;
    case PTX_SPECIAL_WARPID: return emu_current->block_warp;
    case PTX_SPECIAL_NWARPID: return (threads + LANES - 1) / LANES;
    case PTX_SPECIAL_SMID: {
        const uint64_t block =
            ((uint64_t)emu_now.block.z * l->grid[1] + emu_now.block.y) * l->grid[0] +
            emu_now.block.x;
        return block % (unsigned)emu_gpu()->prop.multiProcessorCount;
    }
    case PTX_SPECIAL_NSMID: return (unsigned)emu_gpu()->prop.multiProcessorCount;
    case PTX_SPECIAL_GRIDID: return 1;
    case PTX_SPECIAL_LANEMASK_EQ: return 1u << lane;
    case PTX_SPECIAL_LANEMASK_LT: return (1u << lane) - 1;
    case PTX_SPECIAL_LANEMASK_LE: return (2u << lane) - 1;
    case PTX_SPECIAL_LANEMASK_GT: return (uint32_t)~((2u << lane) - 1);
    case PTX_SPECIAL_LANEMASK_GE: return (uint32_t)~((1u << lane) - 1);
    case PTX_SPECIAL_CLOCK: return (uint32_t)emu_clock();
    case PTX_SPECIAL_CLOCK_HI: return emu_clock() >> 32;
    case PTX_SPECIAL_CLOCK64: return emu_clock();
    case PTX_SPECIAL_GLOBALTIMER: return nanoseconds();
    case PTX_SPECIAL_GLOBALTIMER_LO: return (uint32_t)nanoseconds();
    case PTX_SPECIAL_GLOBALTIMER_HI: return nanoseconds() >> 32;
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE: return l->dynamic_shared;
    case PTX_SPECIAL_TOTAL_SMEM_SIZE: return emu_shared_in_use();
    default: return 0;
    }
}

/* ---- barriers ---- */

uint64_t emu_ptx_barrier(int op, uint64_t number, uint64_t threads, uint64_t predicate)
{
    return (uint64_t)emu_named_barrier(op, (unsigned)number, (unsigned)threads,
                                       (int)predicate, PC);
}

void emu_ptx_cluster_arrive(int orders_memory)
{
    const unsigned round = emu_cluster_arrive(orders_memory, PC);
    if (!orders_memory) emu_mbarrier_tell_cluster(round);
}

/* Cooperative groups call these two, and PTX the second. */
void emu_cluster_barrier_arrive(void)
{
    emu_cluster_arrive(true, PC);
}

void emu_cluster_barrier_wait(void)
{
    emu_cluster_wait(PC);
}

void *emu_cluster_place(const void *p, unsigned block)
{
    return emu_shared_place_in(p, block, PC);
}

unsigned emu_cluster_owner(const void *p)
{
    (void)emu_shared_address(p, PC); /* that it is one */
    return emu_shared_rank(p);
}

unsigned emu_cluster_blocks(void)
{
    return emu_now.blocks;
}

unsigned emu_cluster_rank(void)
{
    return emu_current->rank;
}

void emu_cluster_extent(unsigned extent[3])
{
    const uint3 size = emu_now.cluster;
    extent[0] = size.x, extent[1] = size.y, extent[2] = size.z;
}

/* ---- shuffles and votes ---- */

uint64_t emu_ptx_shuffle_lane(unsigned mode, uint64_t b, uint64_t c)
{
    enum { UP, DOWN, BUTTERFLY };
    const int lane = (int)emu_current->lane, clamp = (int)(c & 31),
              segment = (int)(c >> 8 & 31), by = (int)(b & 31);
    const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    int from;
    bool inside;
    switch (mode) {
    case UP:
        from = lane - by;
        inside = from >= last;
        break;
    case DOWN:
        from = lane + by;
        inside = from <= last;
        break;
    case BUTTERFLY:
        from = lane ^ by;
        inside = from <= last;
        break;
    default:
        from = first | (by & ~segment);
        inside = from <= last;
        break;
    }
    return (uint64_t)((inside ? from : lane) | inside << 8);
}

uint64_t emu_ptx_shuffle(unsigned mode, uint64_t mask, uint64_t value, uint64_t lane)
{
    static const char *const names[] = {"shfl.sync.up", "shfl.sync.down",
                                        "shfl.sync.bfly", "shfl.sync.idx"};
    const unsigned long long *all =
        emu_warp_gather((unsigned)mask, value, names[mode], PC);
    return emu_lanes_that_came() >> lane & 1 ? all[lane] : 0xffffffff;
}

static const char *const vote_names[] = {
    "vote.sync.all",  "vote.sync.any",  "vote.sync.uni",  "vote.sync.ballot",
    "match.any.sync", "match.all.sync", "redux.sync.add", "redux.sync.min",
    "redux.sync.max", "redux.sync.and", "redux.sync.or",  "redux.sync.xor",
    "elect.sync"};

static uint64_t reduced(enum ptx_vote vote, enum ptx_type type,
                        const unsigned long long *all, unsigned lanes)
{
    static const enum ptx_op operations[] = {PTX_ADD, PTX_MIN, PTX_MAX,
                                             PTX_AND, PTX_OR,  PTX_XOR};
    const uint64_t code = PTX_CODE(operations[vote - PTX_REDUCE_ADD], type, 0, 0, 0);
    uint64_t result = all[__builtin_ctz(lanes)];
    for (unsigned rest = lanes & (lanes - 1); rest; rest &= rest - 1)
        result = emu_ptx_alu(code, result, all[__builtin_ctz(rest)], 0, 0);
    return result;
}

uint64_t emu_ptx_vote(uint64_t code, uint64_t value, uint64_t mask)
{
    const enum ptx_vote vote = (enum ptx_vote)PTX_DETAIL_OF(code);
    const unsigned long long *all =
        emu_warp_gather((unsigned)mask, value, vote_names[vote], PC);
    const unsigned lanes = emu_lanes_that_came();
    unsigned same = 0, first = (unsigned)__builtin_ctz(lanes);
    if (vote >= PTX_REDUCE_ADD && vote <= PTX_REDUCE_XOR)
        return reduced(vote, PTX_TYPE_OF(code), all, lanes);
    if (vote == PTX_ELECT) return first | (emu_current->lane == first) << 8;
    const uint64_t wanted = vote >= PTX_MATCH_ANY ? value : 1;
    for (unsigned rest = lanes; rest; rest &= rest - 1)
        if (all[__builtin_ctz(rest)] == wanted) same |= 1u << __builtin_ctz(rest);
    switch (vote) {
    case PTX_ALL: return same == lanes;
    case PTX_ANY: return same != 0;
    case PTX_UNI: return same == lanes || same == 0;
    case PTX_MATCH_ALL: return same == lanes ? lanes : 0;
    default: return same;
    }
}

void emu_ptx_set_registers(int more, uint64_t registers)
{
    if (registers < 24 || registers > 256 || registers % 8)
        emu_fault(PC, "setmaxnreg.%s: %llu registers; a multiple of 8 from 24 to 256",
                  more ? "inc" : "dec", (unsigned long long)registers);
    emu_registers_set(more, (unsigned)registers, PC);
}

uint64_t emu_ptx_carry(void)
{
    return emu_running()->carry;
}

void emu_ptx_set_carry(uint64_t carry)
{
    emu_running()->carry = carry;
}

void emu_ptx_exit(void)
{
    emu_thread_exit();
}

void emu_ptx_unknown(const char *what)
{
    emu_fault(__builtin_return_address(0), "%s", what);
}

void emu_ptx_trap(const char *name)
{
    emu_trap(PC, name);
}
