/* Barriers in shared memory (mbarrier) and the bulk copies that report to them (TMA).
 *
 * An mbarrier counts one phase after the other. A phase is over when as many threads have arrived as its init said and as
 * many bytes have come as were announced (expect_tx). Here a copy comes as late as it may: when a thread waits for the
 * phase and only copies are missing. Until then its destination holds nothing that may be read.
 *
 * What is known of a barrier lies beside it, in a table by address; the 8 bytes in shared memory are only claimed. */
#include "emulator.h"

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
_Static_assert(sizeof(struct tensor_map) <= sizeof(CUtensorMap), "a tensor map has 128 bytes");
static const uint32_t TENSOR_MAP = 0x70616d74;

enum { MAX_BARRIERS = 256, MAX_BLOCK = 1024 };

struct bulk_copy { /* one copy on its way */
    struct bulk_copy *next;
    char *shared;
    size_t bytes;
    char data[];
};

struct mbarrier {
    uint64_t *address;
    unsigned init_warp;                /* who initialised it, and in which interval: others need a barrier behind that */
    uint32_t init_interval;
    unsigned phase;                    /* the one that is going on; only its parity can be asked for */
    unsigned expected, pending;        /* arrivals a phase, and those still missing */
    int64_t bytes_missing;             /* announced and not yet come; less than 0 if the copies were quicker */
    struct bulk_copy *copies, **last;  /* on their way, in order */
    emu_clock_of_block arriving, over; /* what lies before the arrivals of this phase, and of those before it */
};

static struct mbarrier barriers[MAX_BARRIERS];
static unsigned barrier_count;

static struct mbarrier *find(const uint64_t *address)
{
    for (unsigned i = 0; i < barrier_count; i++)
        if (barriers[i].address == address) return &barriers[i];
    return NULL;
}

static struct mbarrier *find_ready(const uint64_t *address, const void *pc, const char *what)
{
    struct mbarrier *b = find(address);
    if (!b) emu_fault(pc, "%s on an mbarrier that was never initialised (mbarrier.init)", what);
    if (emu_checking && b->init_interval == emu_check_interval() && b->init_warp != emu_current->warp)
        emu_fault(pc, "%s on an mbarrier that another warp initialises, and nothing between orders the two (a missing "
                      "__syncthreads()?)", what);
    emu_check_shared_atomic(address, sizeof *address, pc);
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

/* Ends the phase if nothing but copies is missing. */
static void advance(struct mbarrier *b)
{
    if (b->pending > 0) return;
    for (struct bulk_copy *copy = b->copies; copy; copy = copy->next) {
        emu_check_bulk_arrival(copy->shared, copy->bytes);
        memcpy(copy->shared, copy->data, copy->bytes);
        b->bytes_missing -= (int64_t)copy->bytes;
    }
    forget_copies(b);
    if (b->bytes_missing != 0) return;
    b->phase++;
    b->pending = b->expected;
    for (unsigned i = 0; i < MAX_BLOCK; i++)
        if (b->over[i] < b->arriving[i]) b->over[i] = b->arriving[i];
    memset(b->arriving, 0, sizeof b->arriving);
}

void emu_mbarrier_init(uint64_t *address, unsigned arrivals, const void *pc)
{
    if ((uintptr_t)address % 8 || (size_t)((char *)address - emu_dynamic_shared) >= EMU_SHARED_BYTES)
        emu_fault(pc, "an mbarrier is 8 bytes of shared memory, at a multiple of 8");
    if (arrivals < 1 || arrivals >= 1u << 20)
        emu_fault(pc, "mbarrier.init: %u arrivals a phase; 1 to 1,048,575 are possible", arrivals);
    emu_check_shared_write(address, sizeof *address, pc);
    struct mbarrier *b = find(address);
    if (b && (b->copies || b->pending != b->expected))
        emu_fault(pc, "mbarrier.init on a barrier that is in use: its phase has begun");
    if (!b) {
        if (barrier_count == MAX_BARRIERS) emu_fault(pc, "more than %d mbarriers in a block", MAX_BARRIERS);
        b = &barriers[barrier_count++];
    }
    *b = (struct mbarrier){.address = address, .init_warp = emu_current->warp,
                           .init_interval = emu_check_interval(), .expected = arrivals, .pending = arrivals};
    b->last = &b->copies;
}

void emu_mbarrier_arrive(uint64_t *address, unsigned bytes, const void *pc)
{
    struct mbarrier *b = find_ready(address, pc, "an arrival");
    if (b->pending == 0) advance(b);
    if (b->pending == 0)
        emu_fault(pc, "mbarrier: one arrival more than the %u that a phase counts, and the phase is not over: "
                      "%lld bytes that were announced have not come", b->expected, (long long)b->bytes_missing);
    b->bytes_missing += bytes;
    b->pending--;
    emu_check_release(b->arriving);
    /* Without bytes to come nobody has to wait for the phase to end it. */
    if (!b->copies) advance(b);
}

struct wait {
    struct mbarrier *barrier;
    unsigned parity;
    const void *pc;
};

static bool is_over(void *waiting)
{
    const struct wait *w = waiting;
    if ((w->barrier->phase & 1) == w->parity) advance(w->barrier);
    return (w->barrier->phase & 1) != w->parity;
}

static void never_over(void *waiting)
{
    const struct wait *w = waiting;
    const struct mbarrier *b = w->barrier;
    emu_fault(w->pc, "the mbarrier never completes: this thread waits for a phase of parity %u, of which %u of %u "
                     "arrivals and %lld announced bytes are missing, and no other thread can go on%s",
              w->parity, b->pending, b->expected, (long long)b->bytes_missing,
              b->phase > 1 ? " (phases before it are over: was this thread left behind, by one that did not wait for it "
                             "before it filled the stage again?)" : "");
}

void emu_mbarrier_wait(uint64_t *address, unsigned parity, const void *pc)
{
    struct wait w = {find_ready(address, pc, "a wait"), parity & 1, pc};
    emu_wait_until(is_over, never_over, &w);
    emu_check_acquire(w.barrier->over);
}

void emu_bulk_copy(void *shared, const void *map, int dimensions, const int *at, uint64_t *address,
                   const void *pc)
{
    const struct tensor_map *m = (const struct tensor_map *)map;
    if (m->marker != TENSOR_MAP) emu_fault(pc, "not a tensor map: cuTensorMapEncodeTiled makes one");
    if ((int)m->dimensions != dimensions)
        emu_fault(pc, "a copy of %d dimensions with a tensor map of %u", dimensions, m->dimensions);
    if ((uintptr_t)shared % 128)
        emu_fault(pc, "misaligned address: a bulk copy's destination must be a multiple of 128 bytes, and %p is %zu past "
                      "one", shared, (size_t)((uintptr_t)shared % 128));
    struct mbarrier *b = find_ready(address, pc, "a bulk copy");

    size_t count = 1;
    for (int d = 0; d < dimensions; d++) count *= m->box[d];
    const size_t bytes = count * m->element_bytes, row_bytes = m->box[0] * m->element_bytes;
    struct bulk_copy *copy = calloc(1, sizeof *copy + bytes);
    if (!copy) emu_fault(pc, "no host memory for a bulk copy on its way");
    copy->shared = shared;
    copy->bytes = bytes;
    emu_check_bulk_issue(shared, bytes, pc);
    emu_check_release_own(b->arriving);

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
static CUresult encode_tiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                             const cuuint64_t *dim, const cuuint64_t *strides, const cuuint32_t *box,
                             const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                             CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                             CUtensorMapFloatOOBfill fill)
{
    static const unsigned char bytes_of[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
    (void)interleave, (void)swizzle, (void)promotion, (void)fill; /* only what is declared can be asked for */
    if (emu_gpu()->prop.major < 9) return CUDA_ERROR_NOT_SUPPORTED;
    if (!map || (uintptr_t)map % 64 || (unsigned)type >= sizeof bytes_of || rank < 1 || rank > 5)
        return CUDA_ERROR_INVALID_VALUE;
    if ((uintptr_t)address % 16) return CUDA_ERROR_INVALID_VALUE;
    struct tensor_map m = {
        .marker = TENSOR_MAP, .dimensions = rank, .element_bytes = bytes_of[type], .base = address};
    for (cuuint32_t d = 0; d < rank; d++) {
        if (dim[d] < 1 || dim[d] > 1ull << 32 || box[d] < 1 || box[d] > 256 || element_strides[d] != 1)
            return CUDA_ERROR_INVALID_VALUE;
        if (d > 0 && (strides[d - 1] % 16 || strides[d - 1] >= 1ull << 40)) return CUDA_ERROR_INVALID_VALUE;
        m.size[d] = dim[d];
        m.box[d] = box[d];
        m.stride[d] = d > 0 ? strides[d - 1] : m.element_bytes;
    }
    if (box[0] * m.element_bytes % 16) return CUDA_ERROR_INVALID_VALUE;
    memset(map, 0, sizeof *map);
    memcpy(map, &m, sizeof m);
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *found)
{
    if (!symbol || !function || flags) return cudaErrorInvalidValue;
    const bool known = strcmp(symbol, "cuTensorMapEncodeTiled") == 0, old = version < 12000;
    *function = known && !old ? (void *)(uintptr_t)encode_tiled : NULL;
    if (found)
        *found = !known ? cudaDriverEntryPointSymbolNotFound
               : old    ? cudaDriverEntryPointVersionNotSufficent
                        : cudaDriverEntryPointSuccess;
    return cudaSuccess;
}
