/* mbarriers, and the bulk tensor copies ("TMA") that report to them, as PTX describes them (PTX ISA, "Parallel
 * Synchronization and Communication Instructions: mbarrier" and "cp.async.bulk.tensor").
 *
 * An mbarrier goes through phases. A phase completes when as many threads have arrived as mbarrier_init said, and as
 * many bytes have been copied as the arrivals announced. A copy is only noted when it is issued, and done as
 * late as a GPU might do it: when somebody waits for it and no other thread can run. */
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "emulator_ptx.h"

/* ---- tensor maps ---- */

static const uint64_t MAP_MARK = 0x70616d20726f736eu; /* "nsor map" */

/* What a CUtensorMap's 128 bytes hold here. */
struct map {
    uint64_t mark;
    const char *address;
    uint64_t cols, rows, pitch; /* elements, rows, bytes */
    unsigned box_cols, box_rows, element_bytes;
};

_Static_assert(sizeof(struct map) <= sizeof(CUtensorMap), "a tensor map has 128 bytes");

static unsigned bytes_of(CUtensorMapDataType type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32: return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 8;
    default: return 0;
    }
}

/* The rules are those of cuTensorMapEncodeTiled in the CUDA driver API's reference. */
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill)
{
    enum { MOST_BOX = 256, ALIGNMENT = 16, MAP_ALIGNMENT = 64 };
    const unsigned element = bytes_of(type);
    (void)promotion;
    if (emu_gpu()->prop.major < 9) return CUDA_ERROR_NOT_SUPPORTED;
    if (!map || !address || !dims || !strides || !box || !element_strides) return CUDA_ERROR_INVALID_VALUE;
    /* Of all that exists, the chapters use rows of plain elements. */
    if (rank != 2 || element == 0 || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
        swizzle != CU_TENSOR_MAP_SWIZZLE_NONE || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if ((uintptr_t)map % MAP_ALIGNMENT || (uintptr_t)address % ALIGNMENT) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < rank; i++) {
        if (dims[i] == 0 || dims[i] > (uint64_t)1 << 32) return CUDA_ERROR_INVALID_VALUE;
        if (box[i] == 0 || box[i] > MOST_BOX) return CUDA_ERROR_INVALID_VALUE;
        if (element_strides[i] != 1) return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (strides[0] % ALIGNMENT || strides[0] >= (uint64_t)1 << 40) return CUDA_ERROR_INVALID_VALUE;
    if (box[0] * element % ALIGNMENT) return CUDA_ERROR_INVALID_VALUE;
    const struct map ours = {MAP_MARK, address, dims[0], dims[1], strides[0], box[0], box[1], element};
    memset(map, 0, sizeof *map);
    memcpy(map, &ours, sizeof ours);
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned int version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *found)
{
    enum { FIRST_VERSION = 12000 };
    if (!symbol || !function || flags > cudaEnablePerThreadDefaultStream) return cudaErrorInvalidValue;
    const bool known = strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
    *function = known && version >= FIRST_VERSION ? (void *)cuTensorMapEncodeTiled : NULL;
    if (found)
        *found = !known ? cudaDriverEntryPointSymbolNotFound
               : *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointVersionNotSufficent;
    return *function || found ? cudaSuccess : cudaErrorSymbolNotFound;
}

/* ---- mbarriers ---- */

static struct mbarrier {
    uint64_t *place;
    unsigned expected, pending; /* arrivals */
    int64_t bytes;              /* announced and not yet copied; below 0 if copied and not yet announced */
    unsigned phase;
    unsigned owner;             /* the thread that initialised it */
    bool fenced;                /* the copy engine can see that it is initialised */
    uint64_t image;             /* what we left in its eight bytes */
} barriers[EMU_MBARRIERS];
static unsigned barrier_count;

static struct bulk_copy { /* on its way */
    struct map map;
    char *shared;
    int x, y;
    unsigned barrier;
    struct emu_thread *thread;
    const void *pc;
} *copies;
static unsigned copy_count, copy_capacity;

#define CALLER __builtin_return_address(0)

static bool in_shared(const void *p, size_t bytes)
{
    const size_t at = (size_t)((const char *)p - emu_dynamic_shared);
    return at < EMU_SHARED_BYTES && bytes <= EMU_SHARED_BYTES - at;
}

/* The barrier's bytes show its state, as they do on a GPU; nobody else may change them. */
static void show(struct mbarrier *b)
{
    b->image = (uint64_t)b->phase << 52 ^ (uint64_t)b->pending << 32 ^ (uint32_t)b->bytes;
    memcpy(b->place, &b->image, sizeof b->image);
}

static void check_place(const void *place, const char *who, const void *pc)
{
    if (!emu_current) emu_fault(pc, "%s is for kernels", who);
    if (!in_shared(place, 8)) emu_fault(pc, "%s: the barrier at %p is not in shared memory", who, place);
    if ((uintptr_t)place % 8)
        emu_fault(pc, "misaligned address: %s needs a barrier at a multiple of 8 bytes, this is %zu past one", who,
                  (size_t)((uintptr_t)place % 8));
}

static struct mbarrier *find(const uint64_t *place)
{
    for (unsigned i = 0; i < barrier_count; i++)
        if (barriers[i].place == place) return &barriers[i];
    return NULL;
}

static unsigned index_of(const struct mbarrier *b)
{
    return (unsigned)(b - barriers);
}

/* The barrier there, which the running thread uses. */
static struct mbarrier *use(uint64_t *place, const char *who, const void *pc)
{
    check_place(place, who, pc);
    struct mbarrier *b = find(place);
    if (!b) emu_fault(pc, "%s: this barrier is not initialised (does mbarrier_init come first, and a __syncthreads()?)", who);
    emu_check_mbarrier_used(place, index_of(b), pc);
    if (memcmp(place, &b->image, sizeof b->image) != 0)
        emu_fault(pc, "%s: something else was stored over this barrier since its last use", who);
    return b;
}

static bool complete_if_done(struct mbarrier *b)
{
    const bool done = b->pending == 0 && b->bytes == 0;
    if (done) {
        b->pending = b->expected;
        emu_check_mbarrier_completed(index_of(b));
        emu_mbarrier_completed(index_of(b), b->phase++ & 1);
    }
    show(b);
    return done;
}

void mbarrier_init(uint64_t *barrier, unsigned arrivals)
{
    enum { MOST = (1 << 20) - 1 };
    check_place(barrier, "mbarrier_init", CALLER);
    if (arrivals == 0 || arrivals > MOST)
        emu_fault(CALLER, "mbarrier_init: %u arrivals a phase; there must be 1 to %d", arrivals, MOST);
    if (find(barrier))
        emu_fault(CALLER, "mbarrier_init: this is a barrier already, and it may be in use; initialise it once a block");
    if (barrier_count == EMU_MBARRIERS)
        emu_fault(CALLER, "more than %d mbarriers in a block are not emulated", EMU_MBARRIERS);
    emu_check_mbarrier_init(barrier, barrier_count, CALLER);
    struct mbarrier *b = &barriers[barrier_count++];
    *b = (struct mbarrier){
        .place = barrier, .expected = arrivals, .pending = arrivals, .owner = emu_current->linear};
    show(b);
}

void fence_mbarrier_init(void)
{
    for (unsigned i = 0; i < barrier_count; i++)
        if (barriers[i].owner == emu_current->linear) barriers[i].fenced = true;
}

static void arrive(uint64_t *barrier, unsigned bytes, const char *who, const void *pc)
{
    enum { MOST = (1 << 20) - 1 };
    struct mbarrier *b = use(barrier, who, pc);
    if (b->pending == 0)
        emu_fault(pc, "%s: all %u arrivals of this phase are in already and its copies still on their way (a stage filled "
                      "again before it was waited for?)", who, b->expected);
    b->bytes += bytes;
    if (b->bytes > MOST)
        emu_fault(pc, "%s: a phase can wait for %d bytes at most, this makes %lld", who, MOST, (long long)b->bytes);
    b->pending--;
    emu_check_mbarrier_arrived(index_of(b));
    complete_if_done(b);
}

void mbarrier_arrive(uint64_t *barrier)
{
    arrive(barrier, 0, "mbarrier_arrive", CALLER);
}

void mbarrier_arrive_expect_tx(uint64_t *barrier, unsigned bytes)
{
    arrive(barrier, bytes, "mbarrier_arrive_expect_tx", CALLER);
}

void mbarrier_wait_parity(uint64_t *barrier, unsigned parity)
{
    struct mbarrier *b = use(barrier, "mbarrier_wait_parity", CALLER);
    if (parity > 1) emu_fault(CALLER, "mbarrier_wait_parity: a parity is 0 or 1, not %u", parity);
    const bool completed = (b->phase & 1) != parity;
    if (completed) emu_check_mbarrier_passed(index_of(b), emu_current->linear);
    emu_wait_at_mbarrier(index_of(b), parity, completed, CALLER);
}

const char *emu_mbarrier_lacks(unsigned barrier)
{
    static char texts[2][120];
    static int next;
    char *text = texts[next++ % 2];
    const struct mbarrier *b = &barriers[barrier];
    if (b->pending > 0)
        snprintf(text, sizeof *texts, "%u of its %u arrivals", b->pending, b->expected);
    else if (b->bytes > 0)
        snprintf(text, sizeof *texts, "%lld bytes that were announced and that no copy brings", (long long)b->bytes);
    else
        snprintf(text, sizeof *texts, "an announcement of %lld bytes that copies brought besides", (long long)-b->bytes);
    return text;
}

/* ---- bulk copies ---- */

/* How much of `count` elements from `first` on lies within [0, size); *skip is how many come before. */
static unsigned inside(int64_t first, unsigned count, uint64_t size, unsigned *skip)
{
    const int64_t low = first < 0 ? 0 : first;
    const int64_t high = first + count > (int64_t)size ? (int64_t)size : first + count;
    *skip = low < high ? (unsigned)(low - first) : 0;
    return low < high ? (unsigned)(high - low) : 0;
}

/* The part of the copy's box that lies within the matrix. */
struct part {
    const char *from;
    unsigned rows, row_bytes;       /* none: 0 rows */
    unsigned skip_rows, skip_bytes; /* of the box, before it */
};

static struct part part_of(const struct bulk_copy *copy)
{
    const struct map *m = &copy->map;
    unsigned skip_cols;
    struct part part;
    const unsigned cols = inside(copy->x, m->box_cols, m->cols, &skip_cols);
    part.rows = cols ? inside(copy->y, m->box_rows, m->rows, &part.skip_rows) : 0;
    part.row_bytes = cols * m->element_bytes;
    part.skip_bytes = skip_cols * m->element_bytes;
    if (part.rows)
        part.from = m->address + (copy->y + (int64_t)part.skip_rows) * (int64_t)m->pitch +
                    (copy->x + (int64_t)skip_cols) * m->element_bytes;
    return part;
}

static size_t box_bytes(const struct map *m)
{
    return (size_t)m->box_rows * m->box_cols * m->element_bytes;
}

void cp_async_bulk_tensor_2d(void *shared, const CUtensorMap *map, int x, int y, uint64_t *barrier)
{
    enum { DESTINATION_ALIGNMENT = 128 };
    static const char WHO[] = "cp_async_bulk_tensor_2d";
    struct mbarrier *b = use(barrier, WHO, CALLER);
    struct bulk_copy copy = {.shared = shared, .x = x, .y = y, .barrier = index_of(b), .pc = CALLER};
    copy.thread = emu_current;
    memcpy(&copy.map, map, sizeof copy.map);
    if ((uintptr_t)map % 64 || copy.map.mark != MAP_MARK)
        emu_fault(CALLER, "%s: there is no tensor map at %p (is it a const __grid_constant__ parameter?)", WHO,
                  (const void *)map);
    const size_t bytes = box_bytes(&copy.map);
    if (!in_shared(shared, bytes)) emu_fault(CALLER, "%s: the destination must be shared memory", WHO);
    if ((uintptr_t)shared % DESTINATION_ALIGNMENT)
        emu_fault(CALLER, "misaligned address: %s needs a destination at a multiple of %d bytes, this is %zu past one", WHO,
                  DESTINATION_ALIGNMENT, (size_t)((uintptr_t)shared % DESTINATION_ALIGNMENT));
    if (!b->fenced && emu_checking)
        emu_fault(CALLER, "%s: the barrier was initialised, but no fence_mbarrier_init() of the same thread tells the copies so",
                  WHO);
    const struct part part = part_of(&copy);
    for (unsigned row = 0; row < part.rows; row++)
        emu_check_bulk_read(part.from + row * copy.map.pitch, part.row_bytes, CALLER);
    emu_check_bulk_issue(shared, bytes, copy.barrier, CALLER);
    if (emu_lens_on)
        emu_lens_bulk_copy(part.from, part.rows, part.row_bytes, copy.map.pitch, bytes, copy.map.element_bytes, CALLER);
    if (copy_count == copy_capacity) {
        copy_capacity = copy_capacity ? 2 * copy_capacity : 16;
        copies = realloc(copies, copy_capacity * sizeof *copies);
        if (!copies) emu_fault(CALLER, "no host memory for a pending bulk copy");
    }
    copies[copy_count++] = copy;
}

static void write_box(const struct bulk_copy *copy)
{
    const struct map *m = &copy->map;
    const struct part part = part_of(copy);
    const size_t row_bytes = (size_t)m->box_cols * m->element_bytes;
    if (part.rows < m->box_rows || part.row_bytes < row_bytes) memset(copy->shared, 0, box_bytes(m));
    for (unsigned row = 0; row < part.rows; row++)
        memcpy(copy->shared + (part.skip_rows + row) * row_bytes + part.skip_bytes, part.from + row * m->pitch,
               part.row_bytes);
}

bool emu_bulk_arrives(unsigned barrier)
{
    struct mbarrier *b = &barriers[barrier];
    bool completed = false;
    unsigned kept = 0;
    for (unsigned i = 0; i < copy_count; i++) {
        /* A phase that lacks arrivals cannot complete yet, so its data may come later still. */
        if (copies[i].barrier != barrier || b->pending > 0 || completed) {
            copies[kept++] = copies[i];
            continue;
        }
        write_box(&copies[i]);
        emu_check_bulk_arrival(copies[i].shared, box_bytes(&copies[i].map), barrier);
        b->bytes -= (int64_t)box_bytes(&copies[i].map);
        completed = complete_if_done(b);
    }
    copy_count = kept;
    return completed;
}

void emu_bulk_block_begins(void)
{
    barrier_count = copy_count = 0;
}

void emu_bulk_block_ended(void)
{
    if (copy_count == 0 || !emu_checking) return;
    emu_current = copies[0].thread;
    emu_fault(copies[0].pc, "asynchronous copy not waited for: the block has ended and this copy may still be on its way");
}
