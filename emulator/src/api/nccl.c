/* The nccl* calls: what the ranks of a communicator do together (NCCL User Guide, "Group
 * Calls" and "Collective Operations").
 *
 * A call may have to wait for those of the other ranks before it can be enqueued at all.
 * So the calls of a group are gathered until its end, and then each waits for its
 * partners: a collective for one call of every rank, in the order in which each rank
 * makes them; a send for the receive of its peer. Partners that come later come from
 * other threads of the host. Where there are none, the program would wait for ever, and
 * that is a fault. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/device.h"
#include "base/now.h"
#include "base/room.h"
#include "base/source.h"
#include "emulator_float16.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/copies.h"
#include "memory/spans.h"
#include "memory/streams.h"
#include "memory/values.h"
#include "nccl.h"

enum { MOST_RANKS = EMU_MOST_DEVICES };

enum kind {
    BROADCAST,
    REDUCE,
    ALL_REDUCE,
    REDUCE_SCATTER,
    ALL_GATHER,
    ALL_TO_ALL,
    GATHER,
    SCATTER,
    SEND,
    RECEIVE
};
static const char *const NAMES[] = {
    "ncclBroadcast", "ncclReduce", "ncclAllReduce", "ncclReduceScatter", "ncclAllGather",
    "ncclAlltoAll",  "ncclGather", "ncclScatter",   "ncclSend",          "ncclRecv"};

struct call {
    struct call *next;   /* of those of its rank that wait */
    struct call *before; /* the one before it in its group */
    enum kind kind;
    struct ncclComm *comm;
    const char *from;
    char *to;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int root; /* or the peer */
    cudaStream_t stream;
    const void *pc;
    bool done;
};

/* What the communicators of all ranks share. */
struct clique {
    struct clique *next;
    ncclUniqueId id;
    int ranks, left; /* that have not been destroyed */
    struct ncclComm *members[MOST_RANKS];
    struct call *waiting[MOST_RANKS][2]; /* collectives; sends and receives */
};
struct ncclComm {
    struct clique *clique;
    int rank, device;
    const void *pc;
};
static struct clique *cliques;

static _Thread_local int depth;             /* of ncclGroupStart */
static _Thread_local struct call *gathered; /* the group's last */

/* ---- waiting for other threads of the host ---- */

/* Others may come as long as there have been threads; a minute is more than any kernel of
 * a program that is watched should keep them. */
static bool others_may_come(time_t since)
{
    enum { PATIENCE = 60 };
    extern char __libc_single_threaded __attribute__((weak));
    if (&__libc_single_threaded && __libc_single_threaded) return false;
    return time(NULL) - since < PATIENCE;
}

static void let_others_run(bool *alone)
{
    const struct timespec while_ = {0, 1000000};
    emu_let_others(alone);
    nanosleep(&while_, NULL);
    *alone = emu_be_alone();
}

/* ---- elements ---- */

static size_t size_of(ncclDataType_t type)
{
    static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return (unsigned)type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

#define COMBINE(name, type, load, store)                                                 \
    static void name(void *into, const void *what, size_t count, ncclRedOp_t op)         \
    {                                                                                    \
        type *a = into;                                                                  \
        const type *b = what;                                                            \
        for (size_t i = 0; i < count; i++) switch (op) {                                 \
            case ncclProd: a[i] = (type)store(load(a[i]) * load(b[i])); break;           \
            case ncclMax: a[i] = load(a[i]) < load(b[i]) ? b[i] : a[i]; break;           \
            case ncclMin: a[i] = load(b[i]) < load(a[i]) ? b[i] : a[i]; break;           \
            default: a[i] = (type)store(load(a[i]) + load(b[i])); break;                 \
            }                                                                            \
    }
COMBINE(combine_int8, int8_t, , )
COMBINE(combine_uint8, uint8_t, , )
COMBINE(combine_uint32, uint32_t, , ) /* whose sums and products are int's, wrapped */
COMBINE(combine_uint64, uint64_t, , )
COMBINE(combine_half, unsigned short, emu_float_of_half, emu_half_bits)
COMBINE(combine_float, float, , )
COMBINE(combine_double, double, , )
COMBINE(combine_bfloat16, unsigned short, emu_float_of_bfloat16, emu_bfloat16_bits)

static void order_int32(int32_t *a, const int32_t *b, size_t count, bool largest)
{
    for (size_t i = 0; i < count; i++)
        if (largest ? a[i] < b[i] : b[i] < a[i]) a[i] = b[i];
}

static void order_int64(int64_t *a, const int64_t *b, size_t count, bool largest)
{
    for (size_t i = 0; i < count; i++)
        if (largest ? a[i] < b[i] : b[i] < a[i]) a[i] = b[i];
}

static void combine(void *into, const void *what, size_t count, ncclDataType_t type,
                    ncclRedOp_t op)
{
    const bool orders = op == ncclMax || op == ncclMin;
    switch (type) {
    case ncclInt8: combine_int8(into, what, count, op); break;
    case ncclUint8: combine_uint8(into, what, count, op); break;
    case ncclInt32:
        if (orders)
            order_int32(into, what, count, op == ncclMax);
        else
            combine_uint32(into, what, count, op);
        break;
    case ncclUint32: combine_uint32(into, what, count, op); break;
    case ncclInt64:
        if (orders)
            order_int64(into, what, count, op == ncclMax);
        else
            combine_uint64(into, what, count, op);
        break;
    case ncclUint64: combine_uint64(into, what, count, op); break;
    case ncclFloat16: combine_half(into, what, count, op); break;
    case ncclFloat32: combine_float(into, what, count, op); break;
    case ncclFloat64: combine_double(into, what, count, op); break;
    case ncclBfloat16: combine_bfloat16(into, what, count, op); break;
    }
}

/* What ncclAvg does behind its sums. */
static void divide(void *p, size_t count, ncclDataType_t type, int by)
{
    for (size_t i = 0; i < count; i++) switch (type) {
        case ncclInt8: ((int8_t *)p)[i] = (int8_t)(((int8_t *)p)[i] / by); break;
        case ncclUint8: ((uint8_t *)p)[i] = (uint8_t)(((uint8_t *)p)[i] / by); break;
        case ncclInt32: ((int32_t *)p)[i] /= by; break;
        case ncclUint32: ((uint32_t *)p)[i] /= (uint32_t)by; break;
        case ncclInt64: ((int64_t *)p)[i] /= by; break;
        case ncclUint64: ((uint64_t *)p)[i] /= (uint64_t)by; break;
        case ncclFloat16: {
            unsigned short *h = (unsigned short *)p + i;
            *h = emu_half_bits(emu_float_of_half(*h) / by);
            break;
        }
        case ncclFloat32: ((float *)p)[i] /= (float)by; break;
        case ncclFloat64: ((double *)p)[i] /= by; break;
        case ncclBfloat16: {
            unsigned short *h = (unsigned short *)p + i;
            *h = emu_bfloat16_bits(emu_float_of_bfloat16(*h) / by);
            break;
        }
        }
}

/* ---- what calls do ---- */

static bool gives(const struct call *c)
{
    return c->kind != RECEIVE &&
           ((c->kind != BROADCAST && c->kind != SCATTER) || c->comm->rank == c->root);
}

static bool gets(const struct call *c)
{
    return c->kind != SEND &&
           ((c->kind != REDUCE && c->kind != GATHER) || c->comm->rank == c->root);
}

static size_t bytes_given(const struct call *c)
{
    const size_t bytes = c->count * size_of(c->type);
    const bool all =
        c->kind == REDUCE_SCATTER || c->kind == ALL_TO_ALL || c->kind == SCATTER;
    return all ? bytes * (size_t)c->comm->clique->ranks : bytes;
}

static size_t bytes_got(const struct call *c)
{
    const size_t bytes = c->count * size_of(c->type);
    const bool all = c->kind == ALL_GATHER || c->kind == ALL_TO_ALL || c->kind == GATHER;
    return all ? bytes * (size_t)c->comm->clique->ranks : bytes;
}

static void need_memory(const struct call *c, const char *which, const void *p,
                        size_t bytes)
{
    if (!emu_is_device_range(p, bytes))
        emu_fault(c->pc, "%s: %s of rank %d is not %zu bytes of device memory",
                  NAMES[c->kind], which, c->comm->rank, bytes);
    const struct emu_allocation *const a = emu_find_allocation(p);
    if (bytes && a && a->type == cudaMemoryTypeDevice && a->device != c->comm->device)
        emu_fault(c->pc, "%s: %s of rank %d is on device %d, and the rank is device %d",
                  NAMES[c->kind], which, c->comm->rank, a->device, c->comm->device);
}

/* The rank's part of the work, in its stream. */
static void touch(const struct call *c)
{
    if (gives(c)) need_memory(c, "the send buffer", c->from, bytes_given(c));
    if (gets(c)) need_memory(c, "the receive buffer", c->to, bytes_got(c));
    emu_call_begins(c->stream);
    if (gives(c)) emu_work_touches(c->from, bytes_given(c), false, c->pc);
    if (gets(c)) emu_work_touches(c->to, bytes_got(c), true, c->pc);
}

static void deliver(void *to, const void *from, const void *source, size_t bytes)
{
    memmove(to, from, bytes);
    emu_check_host_copied(to, source, bytes);
}

/* The ranks that come together have each got here: what lies before one in its stream
 * lies before what all of them do. */
static void meet(struct call *const *calls, int count)
{
    cudaStream_t streams[MOST_RANKS];
    for (int i = 0; i < count; i++) streams[i] = calls[i]->stream;
    emu_join_streams(streams, count);
    for (int i = 0; i < count; i++) touch(calls[i]);
}

static void *copy_of(const void *p, size_t bytes)
{
    return memcpy(emu_zeros("for NCCL", bytes + 1, 1), p, bytes);
}

static void run_collective(struct call *const *calls, int ranks)
{
    const struct call *const first = calls[0];
    const size_t bytes = first->count * size_of(first->type);
    void *given[MOST_RANKS] = {NULL};
    meet(calls, ranks);
    for (int r = 0; r < ranks; r++)
        if (gives(calls[r])) given[r] = copy_of(calls[r]->from, bytes_given(calls[r]));
    char *sum = NULL;
    const bool reduces = first->kind == REDUCE || first->kind == ALL_REDUCE ||
                         first->kind == REDUCE_SCATTER;
    if (reduces) {
        const size_t count = bytes_given(first) / size_of(first->type);
        sum = copy_of(given[0], bytes_given(first));
        for (int r = 1; r < ranks; r++)
            combine(sum, given[r], count, first->type, first->op);
        if (first->op == ncclAvg) divide(sum, count, first->type, ranks);
    }
    for (int r = 0; r < ranks; r++) {
        char *const to = calls[r]->to;
        const size_t mine = (size_t)r * bytes;
        if (!gets(calls[r])) continue;
        switch (first->kind) {
        case BROADCAST:
            deliver(to, given[first->root], calls[first->root]->from, bytes);
            break;
        case REDUCE:
        case ALL_REDUCE:
        case REDUCE_SCATTER:
            memcpy(to, sum + (first->kind == REDUCE_SCATTER ? mine : 0), bytes);
            emu_check_host_wrote(to, bytes);
            break;
        case ALL_GATHER:
        case GATHER:
            for (int s = 0; s < ranks; s++)
                deliver(to + (size_t)s * bytes, given[s], calls[s]->from, bytes);
            break;
        case ALL_TO_ALL:
            for (int s = 0; s < ranks; s++)
                deliver(to + (size_t)s * bytes, (char *)given[s] + mine,
                        calls[s]->from + mine, bytes);
            break;
        case SCATTER:
            deliver(to, (char *)given[first->root] + mine,
                    calls[first->root]->from + mine, bytes);
            break;
        case SEND:
        case RECEIVE: break;
        }
    }
    free(sum);
    for (int r = 0; r < ranks; r++) {
        free(given[r]);
        calls[r]->done = true;
    }
}

static void check_alike(const struct call *a, const struct call *b)
{
    const struct emu_place place = emu_source_of(a->pc);
    if (a->kind == b->kind && a->count == b->count && a->type == b->type &&
        a->op == b->op && a->root == b->root)
        return;
    emu_fault(b->pc,
              "ranks disagree: rank %d calls %s of %zu elements at %s:%d, and rank %d "
              "calls %s of %zu here; all must make the same calls, with the same count, "
              "type, operation and root",
              a->comm->rank, NAMES[a->kind], a->count, place.file, place.line,
              b->comm->rank, NAMES[b->kind], b->count);
}

static bool run_next_collective(struct clique *all)
{
    struct call *calls[MOST_RANKS] = {NULL};
    for (int r = 0; r < all->ranks; r++) {
        calls[r] = all->waiting[r][0];
        if (!calls[r]) return false;
    }
    for (int r = 1; r < all->ranks; r++) check_alike(calls[0], calls[r]);
    for (int r = 0; r < all->ranks; r++) all->waiting[r][0] = calls[r]->next;
    run_collective(calls, all->ranks);
    return true;
}

static struct call **find_pair(struct clique *all, int rank, enum kind kind, int peer)
{
    struct call **at = &all->waiting[rank][1];
    while (*at && ((*at)->kind != kind || (*at)->root != peer)) at = &(*at)->next;
    return at;
}

static bool run_next_pair(struct clique *all)
{
    for (int r = 0; r < all->ranks; r++)
        for (int peer = 0; peer < all->ranks; peer++) {
            struct call **const from = find_pair(all, r, SEND, peer);
            if (!*from) continue;
            struct call **to = find_pair(all, peer, RECEIVE, r);
            struct call *const send = *from, *const receive = *to;
            if (!receive) continue;
            if (send->count * size_of(send->type) !=
                receive->count * size_of(receive->type)) {
                const struct emu_place place = emu_source_of(send->pc);
                emu_fault(receive->pc,
                          "ranks disagree: rank %d sends %zu bytes at %s:%d, and rank %d "
                          "receives %zu",
                          r, send->count * size_of(send->type), place.file, place.line,
                          peer, receive->count * size_of(receive->type));
            }
            *from = send->next;
            to = find_pair(all, peer, RECEIVE, r);
            *to = receive->next;
            meet((struct call *[]){send, receive}, 2);
            deliver(receive->to, send->from, send->from, bytes_given(send));
            send->done = receive->done = true;
            return true;
        }
    return false;
}

/* ---- groups ---- */

__attribute__((noreturn)) static void fault_alone(const struct call *c)
{
    const struct clique *const all = c->comm->clique;
    char missing[8 * MOST_RANKS] = "";
    size_t used = 0;
    if (c->kind >= SEND)
        used += (size_t)snprintf(missing, sizeof missing, " %d", c->root);
    for (int r = 0; r < all->ranks && c->kind < SEND; r++)
        if (!all->waiting[r][0])
            used += (size_t)snprintf(missing + used, sizeof missing - used, " %d", r);
    emu_fault(
        c->pc,
        "%s of rank %d waits for rank%s%s, which %s; calls that one thread makes for "
        "several ranks go between ncclGroupStart() and ncclGroupEnd()",
        NAMES[c->kind], c->comm->rank, used > 3 ? "s" : "", missing,
        c->kind == SEND      ? "never receives"
        : c->kind == RECEIVE ? "never sends"
                             : "never joined");
}

/* The first of the group's calls that is not done; NULL if all are. */
static const struct call *first_left(const struct call *last)
{
    const struct call *left = NULL;
    for (const struct call *c = last; c; c = c->before)
        if (!c->done) left = c;
    return left;
}

/* The group is complete: its calls join those that wait, in the order in which they were
 * made, and all that can be done is done, until none of them is left. */
static ncclResult_t finish(void)
{
    bool alone = emu_be_alone();
    struct call *const group = gathered, *first = NULL;
    gathered = NULL;
    for (struct call *c = group; c; c = c->before) {
        c->next = first;
        first = c;
    }
    for (struct call *c = first, *next; c; c = next) {
        struct call **end = &c->comm->clique->waiting[c->comm->rank][c->kind >= SEND];
        while (*end) end = &(*end)->next;
        next = c->next;
        c->next = NULL;
        *end = c;
    }
    const time_t since = time(NULL);
    const struct call *left;
    while ((left = first_left(group))) {
        struct clique *const all = left->comm->clique;
        if (run_next_collective(all) || run_next_pair(all)) continue;
        if (!others_may_come(since)) fault_alone(left);
        let_others_run(&alone);
    }
    for (struct call *c = group, *before; c; c = before) {
        before = c->before;
        free(c);
    }
    emu_let_others(&alone);
    return ncclSuccess;
}

static ncclResult_t enqueue(const struct call *what, cudaStream_t stream)
{
    if (!what->comm || size_of(what->type) == 0 || (unsigned)what->op >= ncclNumOps)
        return ncclInvalidArgument;
    const struct clique *const all = what->comm->clique;
    if (what->root < 0 || what->root >= all->ranks) return ncclInvalidArgument;
    struct call *const c = emu_zeros("for NCCL", 1, sizeof *c);
    *c = *what;
    c->stream = emu_stream_on(stream, c->comm->device);
    if (!c->stream) {
        free(c);
        return ncclInvalidArgument;
    }
    c->before = gathered;
    gathered = c;
    return depth > 0 ? ncclSuccess : finish();
}

ncclResult_t ncclGroupStart(void)
{
    depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    if (depth == 0) return ncclInvalidUsage;
    return --depth > 0 || !gathered ? ncclSuccess : finish();
}

#define CALL(...)                                                                        \
    const struct call call = {.pc = __builtin_return_address(0),                         \
                              .comm = comm,                                              \
                              .count = count,                                            \
                              .type = type,                                              \
                              __VA_ARGS__};                                              \
    return enqueue(&call, stream)

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = BROADCAST, .from = from, .to = to, .root = root);
}

ncclResult_t ncclBcast(void *data, size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = BROADCAST, .from = data, .to = data, .root = root);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = REDUCE, .from = from, .to = to, .op = op, .root = root);
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = ALL_REDUCE, .from = from, .to = to, .op = op);
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream)
{
    CALL(.kind = REDUCE_SCATTER, .from = from, .to = to, .op = op);
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = ALL_GATHER, .from = from, .to = to);
}

ncclResult_t ncclAlltoAll(const void *from, void *to, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = ALL_TO_ALL, .from = from, .to = to);
}

ncclResult_t ncclGather(const void *from, void *to, size_t count, ncclDataType_t type,
                        int root, ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = GATHER, .from = from, .to = to, .root = root);
}

ncclResult_t ncclScatter(const void *from, void *to, size_t count, ncclDataType_t type,
                         int root, ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = SCATTER, .from = from, .to = to, .root = root);
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = SEND, .from = from, .root = peer);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    CALL(.kind = RECEIVE, .to = to, .root = peer);
}

/* ---- communicators ---- */

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    static unsigned made;
    if (!id) return ncclInvalidArgument;
    EMU_ALONE;
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "emulated %u", ++made);
    return ncclSuccess;
}

static struct clique *clique_of(const ncclUniqueId *id, int ranks)
{
    for (struct clique *c = cliques; c; c = c->next)
        if (memcmp(&c->id, id, sizeof *id) == 0) return c;
    struct clique *const c = emu_zeros("for NCCL", 1, sizeof *c);
    c->id = *id;
    c->ranks = c->left = ranks;
    c->next = cliques;
    cliques = c;
    return c;
}

static ncclResult_t join(ncclComm_t *comm, int ranks, const ncclUniqueId *id, int rank,
                         int device, const void *pc)
{
    EMU_ALONE;
    if (!comm || ranks < 1 || rank < 0 || rank >= ranks || ranks > MOST_RANKS)
        return ncclInvalidArgument;
    struct clique *const all = clique_of(id, ranks);
    if (all->ranks != ranks || all->members[rank]) return ncclInvalidUsage;
    for (int r = 0; r < ranks; r++)
        if (all->members[r] && all->members[r]->device == device) return ncclInvalidUsage;
    *comm = all->members[rank] = emu_zeros("for NCCL", 1, sizeof **comm);
    **comm = (struct ncclComm){all, rank, device, pc};
    return ncclSuccess;
}

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    ncclUniqueId id;
    if (!comms || count < 1) return ncclInvalidArgument;
    ncclGetUniqueId(&id);
    for (int r = 0; r < count; r++) {
        const int device = devices ? devices[r] : r;
        if (device < 0 || device >= emu_device_count()) return ncclInvalidArgument;
        const ncclResult_t result =
            join(&comms[r], count, &id, r, device, __builtin_return_address(0));
        if (result != ncclSuccess) return result;
    }
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    return join(comm, ranks, &id, rank, emu_device(), __builtin_return_address(0));
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id,
                                    int rank, ncclConfig_t *config)
{
    if (config && config->magic != 0xcafebeef) return ncclInvalidArgument;
    return join(comm, ranks, &id, rank, emu_device(), __builtin_return_address(0));
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    return comm ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    EMU_ALONE;
    if (!comm) return ncclInvalidArgument;
    struct clique *const all = comm->clique;
    free(comm);
    if (--all->left > 0) return ncclSuccess;
    struct clique **at = &cliques;
    while (*at != all) at = &(*at)->next;
    *at = all->next;
    free(all);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    return ncclCommDestroy(comm);
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
    if (!comm || !count) return ncclInvalidArgument;
    *count = comm->clique->ranks;
    return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
    if (!comm || !device) return ncclInvalidArgument;
    *device = comm->device;
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    if (!comm || !rank) return ncclInvalidArgument;
    *rank = comm->rank;
    return ncclSuccess;
}

/* ---- the rest ---- */

ncclResult_t ncclGetVersion(int *version)
{
    if (!version) return ncclInvalidArgument;
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    default: return "unknown result code";
    }
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return "";
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    if (!comm || !error) return ncclInvalidArgument;
    *error = ncclSuccess;
    return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void **pointer, size_t bytes)
{
    if (!pointer) return ncclInvalidArgument;
    return cudaMalloc(pointer, bytes) == cudaSuccess ? ncclSuccess
                                                     : ncclUnhandledCudaError;
}

ncclResult_t ncclMemFree(void *pointer)
{
    return cudaFree(pointer) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buffer, size_t bytes,
                              void **handle)
{
    if (!comm || !handle || !emu_is_device_range(buffer, bytes))
        return ncclInvalidArgument;
    *handle = buffer;
    return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
    return comm && handle ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *buffer, size_t bytes,
                                    ncclWindow_t *window, int flags)
{
    (void)flags;
    return ncclCommRegister(comm, buffer, bytes, (void **)window);
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window)
{
    return ncclCommDeregister(comm, window);
}
