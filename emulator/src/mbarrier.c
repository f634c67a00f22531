/* Barriers in shared memory (mbarrier) and the bulk copies that report to them (TMA).
 *
 * An mbarrier counts one phase after the other. A phase is over when as many threads have
 * arrived as its init said and as many bytes have come as were announced (expect_tx).
 * Here a copy comes as late as it may: when a thread waits for the phase, only copies are
 * missing, and no thread can do anything else. Until then its destination holds nothing
 * that may be read; so whoever reads without waiting has done so by then.
 *
 * What is known of a barrier lies beside it, in a table by address; the 8 bytes in shared
 * memory are only claimed. */
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

/* What cuTensorMapEncodeTiled writes into the 128 opaque bytes of a CUtensorMap. */
struct tensor_map {
    uint32_t marker;
    uint32_t dimensions, element_bytes;
    uint32_t box[5];
    const char *base;
    uint64_t size[5], stride[5]; /* elements, bytes; stride[0] is an element */
};
_Static_assert(sizeof(struct tensor_map) <= sizeof(CUtensorMap),
               "a tensor map has 128 bytes");
static const uint32_t TENSOR_MAP = 0x70616d74;

struct bulk_copy { /* one copy on its way */
    struct bulk_copy *next;
    struct emu_thread *thread; /* who sent for it, */
    const void *pc;            /* and where */
    char *shared;
    size_t bytes;
    char data[];
};

struct mbarrier {
    uint64_t *address;
    unsigned owner; /* the thread that initialised it */
    bool fenced;    /* and told the copy engine */
    unsigned phase; /* the one that is going on; only its parity can be asked for */
    unsigned expected, pending; /* arrivals a phase, and those still missing */
    int64_t bytes_missing; /* announced and not yet come; less than 0 if the copies were
                              quicker */
    struct bulk_copy *copies, **last; /* on their way, in order */
    const struct wait *waiting;       /* one of those who wait, the last that came */
};

struct wait {
    struct mbarrier *barrier;
    const struct wait *others;
    const struct emu_thread *thread;
    unsigned phase;
    const void *pc;
};

static struct mbarrier barriers[EMU_MBARRIERS];
static unsigned barrier_count;

static unsigned number_of(const struct mbarrier *b)
{
    return (unsigned)(b - barriers);
}

static struct mbarrier *find(const uint64_t *address)
{
    for (unsigned i = 0; i < barrier_count; i++)
        if (barriers[i].address == address) return &barriers[i];
    return NULL;
}

static struct mbarrier *find_ready(uint64_t *address, const void *pc, const char *what)
{
    struct mbarrier *b = find(address);
    if (!b)
        emu_fault(pc, "%s on an mbarrier that was never initialised (mbarrier.init)",
                  what);
    emu_check_mbarrier_used(address, number_of(b), pc);
    return b;
}

static void forget_copies(struct mbarrier *b)
{
    while (b->copies) {
        struct bulk_copy *copy = b->copies;
        b->copies = copy->next;
        free(copy);
    }
    b->last = &b->copies;
}

void emu_mbarrier_block_begins(void)
{
    for (unsigned i = 0; i < barrier_count; i++) forget_copies(&barriers[i]);
    barrier_count = 0;
}

void emu_mbarrier_block_ended(void)
{
    for (unsigned i = 0; emu_checking && i < barrier_count; i++) {
        const struct bulk_copy *copy = barriers[i].copies;
        if (!copy) continue;
        emu_current = copy->thread;
        emu_fault(copy->pc, "asynchronous copy not waited for: the block has ended, and "
                            "this copy may still be on its way into "
                            "shared memory that is another block's by then");
    }
}

/* Ends the phase if nothing is missing. */
static bool advance(struct mbarrier *b)
{
    if (b->pending > 0 || b->bytes_missing != 0) return false;
    b->phase++;
    b->pending = b->expected;
    emu_check_mbarrier_over(number_of(b));
    return true;
}

/* The barrier's copies arrive in order, up to the one that ends the phase. */
static bool arrive_at(struct mbarrier *b)
{
    while (b->copies) {
        struct bulk_copy *copy = b->copies;
        emu_check_bulk_arrival(copy->shared, copy->bytes, number_of(b));
        memcpy(copy->shared, copy->data, copy->bytes);
        b->bytes_missing -= (int64_t)copy->bytes;
        b->copies = copy->next;
        if (!b->copies) b->last = &b->copies;
        free(copy);
        if (advance(b)) return true;
    }
    return false;
}

bool emu_bulk_copies_arrive(void)
{
    bool over = false;
    for (struct mbarrier *b = barriers; b < barriers + barrier_count; b++)
        if (b->waiting && b->pending == 0) over |= arrive_at(b);
    return over;
}

void emu_mbarrier_init(uint64_t *address, unsigned arrivals, const void *pc)
{
    if ((uintptr_t)address % 8 ||
        (size_t)((char *)address - emu_dynamic_shared) >= EMU_SHARED_BYTES)
        emu_fault(pc, "an mbarrier is 8 bytes of shared memory, at a multiple of 8");
    if (arrivals < 1 || arrivals >= 1u << 20)
        emu_fault(pc, "mbarrier.init: %u arrivals a phase; 1 to 1,048,575 are possible",
                  arrivals);
    if (find(address))
        emu_fault(pc, "mbarrier.init on what is an mbarrier already and may be in use: "
                      "it is initialised once a block, not "
                      "once a phase");
    if (barrier_count == EMU_MBARRIERS - EMU_NAMED_BARRIERS)
        emu_fault(pc, "more than %u mbarriers in a block", barrier_count);
    emu_check_mbarrier_init(address, barrier_count, pc);
    struct mbarrier *b = &barriers[barrier_count++];
    *b = (struct mbarrier){.address = address,
                           .owner = emu_current->linear,
                           .expected = arrivals,
                           .pending = arrivals};
    b->last = &b->copies;
}

void emu_mbarrier_fence_init(void)
{
    for (unsigned i = 0; i < barrier_count; i++)
        if (barriers[i].owner == emu_current->linear) barriers[i].fenced = true;
}

void emu_mbarrier_arrive(uint64_t *address, unsigned bytes, const void *pc)
{
    struct mbarrier *b = find_ready(address, pc, "an arrival");
    if (b->pending == 0)
        emu_fault(pc,
                  "mbarrier: one arrival more than the %u that a phase counts, and %lld "
                  "bytes of the phase may still be on "
                  "their way (was a stage filled again before it was waited for?)",
                  b->expected, (long long)b->bytes_missing);
    b->bytes_missing += bytes;
    b->pending--;
    emu_check_mbarrier_arrived(number_of(b));
    advance(b);
}

static bool is_over(void *waiting)
{
    const struct wait *w = waiting;
    return w->barrier->phase != w->phase;
}

static bool never_over(void *waiting)
{
    const struct wait *w = waiting;
    const struct mbarrier *b = w->barrier;
    char other[300] = "";
    /* Often it waits for a thread that waits in turn, and there is the mistake. */
    for (const struct mbarrier *o = barriers; o < barriers + barrier_count && !*other;
         o++) {
        if (o == b || !o->waiting) continue;
        const struct emu_place place = emu_source_of(o->waiting->pc);
        const uint3 thread = o->waiting->thread->index;
        snprintf(other, sizeof other,
                 "; thread (%u,%u,%u) waits at %s:%d, where %u of %u arrivals and %lld "
                 "announced bytes are "
                 "missing",
                 thread.x, thread.y, thread.z, place.file, place.line, o->pending,
                 o->expected, (long long)o->bytes_missing);
    }
    emu_fault(w->pc,
              "the mbarrier never completes: this thread waits for a phase of parity %u, "
              "of which %u of %u "
              "arrivals and %lld announced bytes are missing, and no other thread can go "
              "on%s%s",
              w->phase & 1, b->pending, b->expected, (long long)b->bytes_missing,
              b->phase > 1 ? " (phases before it are over: was this thread left behind, "
                             "by one that did not wait for it "
                             "before it filled the stage again?)"
                           : "",
              other);
}

/* A phase is named by its parity: it is the one that goes on, or else the one before,
 * which is over. */
void emu_mbarrier_wait(uint64_t *address, unsigned parity, const void *pc)
{
    struct mbarrier *b = find_ready(address, pc, "a wait");
    if ((b->phase & 1) == (parity & 1)) {
        struct wait w = {b, b->waiting, emu_current, b->phase, pc};
        b->waiting = &w;
        emu_wait_until(is_over, never_over, &w);
        const struct wait **place = &b->waiting;
        while (*place != &w) place = (const struct wait **)&(*place)->others;
        *place = w.others;
    }
    emu_check_mbarrier_passed(number_of(b));
}

void emu_bulk_copy(void *shared, const void *map, int dimensions, const int *at,
                   uint64_t *address, const void *pc)
{
    const struct tensor_map *m = (const struct tensor_map *)map;
    if (m->marker != TENSOR_MAP)
        emu_fault(pc, "not a tensor map: cuTensorMapEncodeTiled makes one");
    if ((int)m->dimensions != dimensions)
        emu_fault(pc, "a copy of %d dimensions with a tensor map of %u", dimensions,
                  m->dimensions);
    if ((uintptr_t)shared % 128)
        emu_fault(pc,
                  "misaligned address: a bulk copy's destination must be a multiple of "
                  "128 bytes, and %p is %zu past "
                  "one",
                  shared, (size_t)((uintptr_t)shared % 128));
    struct mbarrier *b = find_ready(address, pc, "a bulk copy");
    if (emu_checking && !b->fenced)
        emu_fault(pc, "a bulk copy with an mbarrier that the copy engine may not know "
                      "yet: the thread that initialised it must "
                      "call fence_mbarrier_init() (fence.mbarrier_init)");

    size_t count = 1;
    for (int d = 0; d < dimensions; d++) count *= m->box[d];
    const size_t bytes = count * m->element_bytes,
                 row_bytes = m->box[0] * m->element_bytes;
    struct bulk_copy *copy = calloc(1, sizeof *copy + bytes);
    if (!copy) emu_fault(pc, "no host memory for a bulk copy on its way");
    copy->shared = shared;
    copy->bytes = bytes;
    copy->thread = emu_current;
    copy->pc = pc;
    if ((size_t)((char *)shared - emu_dynamic_shared) >= EMU_SHARED_BYTES - bytes)
        emu_fault(pc, "a bulk copy's destination must be shared memory");
    emu_check_bulk_issue(shared, bytes, number_of(b), pc);

    bool first_row = true;
    /* Row by row; what lies outside the tensor stays zero. */
    for (size_t row = 0; row < count / m->box[0]; row++) {
        const char *from = m->base;
        bool inside = true;
        size_t rest = row;
        for (int d = 1; d < dimensions; d++) {
            const int64_t i = at[d] + (int64_t)(rest % m->box[d]);
            rest /= m->box[d];
            inside &= i >= 0 && (uint64_t)i < m->size[d];
            from += i * (int64_t)m->stride[d];
        }
        const int64_t first = at[0] < 0 ? -(int64_t)at[0] : 0;
        int64_t last = (int64_t)m->size[0] - at[0];
        if (last > m->box[0]) last = m->box[0];
        if (!inside || first >= last) continue;
        const size_t n = (size_t)(last - first) * m->element_bytes;
        from += (at[0] + first) * (int64_t)m->element_bytes;
        emu_check_global_read(from, n, pc);
        memcpy(copy->data + row * row_bytes + (size_t)first * m->element_bytes, from, n);
        if (emu_lens_on) emu_lens_bulk_copy(from, n, first_row, pc);
        first_row = false;
    }
    *b->last = copy;
    b->last = &copy->next;
}

/* Restrictions as the driver API's manual gives them for cuTensorMapEncodeTiled. */
static CUresult encode_tiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                             void *address, const cuuint64_t *dim,
                             const cuuint64_t *strides, const cuuint32_t *box,
                             const cuuint32_t *element_strides,
                             CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                             CUtensorMapL2promotion promotion,
                             CUtensorMapFloatOOBfill fill)
{
    static const unsigned char bytes_of[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
    (void)interleave, (void)swizzle, (void)promotion,
        (void)fill; /* only what is declared can be asked for */
    if (emu_gpu()->prop.major < 9) return CUDA_ERROR_NOT_SUPPORTED;
    if (!map || (uintptr_t)map % 64 || (unsigned)type >= sizeof bytes_of || rank < 1 ||
        rank > 5)
        return CUDA_ERROR_INVALID_VALUE;
    if ((uintptr_t)address % 16) return CUDA_ERROR_INVALID_VALUE;
    struct tensor_map m = {.marker = TENSOR_MAP,
                           .dimensions = rank,
                           .element_bytes = bytes_of[type],
                           .base = address};
    for (cuuint32_t d = 0; d < rank; d++) {
        if (dim[d] < 1 || dim[d] > 1ull << 32 || box[d] < 1 || box[d] > 256 ||
            element_strides[d] != 1)
            return CUDA_ERROR_INVALID_VALUE;
        if (d > 0 && (strides[d - 1] % 16 || strides[d - 1] >= 1ull << 40))
            return CUDA_ERROR_INVALID_VALUE;
        m.size[d] = dim[d];
        m.box[d] = box[d];
        m.stride[d] = d > 0 ? strides[d - 1] : m.element_bytes;
    }
    if (box[0] * m.element_bytes % 16) return CUDA_ERROR_INVALID_VALUE;
    memset(map, 0, sizeof *map);
    memcpy(map, &m, sizeof m);
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                             unsigned version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
    if (!symbol || !function || flags) return cudaErrorInvalidValue;
    const bool known = strcmp(symbol, "cuTensorMapEncodeTiled") == 0,
               old = version < 12000;
    *function = known && !old ? (void *)(uintptr_t)encode_tiled : NULL;
    if (found)
        *found = !known ? cudaDriverEntryPointSymbolNotFound
                 : old  ? cudaDriverEntryPointVersionNotSufficent
                        : cudaDriverEntryPointSuccess;
    return cudaSuccess;
}
