/* The copy engine (TMA): bulk copies between global and shared memory, of plain bytes or
 * of boxes of a tensor that a tensor map describes.
 *
 * A copy into shared memory is handed to its mbarrier, which lets it come as late as it
 * may (mbarrier.c). A copy out of shared memory is made at once; that its source must
 * stay untouched until it was waited for is the checker's to watch. */
#include "run/bulk.h"

#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "base/now.h"
#include "base/room.h"
#include "base/ptx.h"
#include "base/settings.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "cuda.h"
#include "emulator_ptx.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/touch.h"
#include "run/mbarrier.h"
#include "watch/access.h"
#include "watch/clocks.h"
#include "watch/inflight.h"
#include "watch/lens.h"

/* What cuTensorMapEncodeTiled writes into the 128 opaque bytes of a CUtensorMap. */
struct tensor_map {
    uint32_t marker;
    uint8_t dimensions, element_bytes, type, swizzle, fill_nan;
    uint16_t box[5], step[5]; /* elements; every step-th of them along a dimension */
    const char *base;
    uint64_t size[5], stride[5]; /* elements, bytes; stride[0] is an element */
};
_Static_assert(sizeof(struct tensor_map) <= sizeof(CUtensorMap),
               "a tensor map has 128 bytes");
static const uint32_t TENSOR_MAP = 0x70616d74;

/* ---- into shared memory ---- */

/* What shared memory must be aligned to: plain bytes, and boxes of a tensor. */
enum { PLAIN = 16, BOX = 128 };

static struct emu_bulk_copy *new_copy(char *shared, size_t bytes, size_t alignment,
                                      const void *pc)
{
    struct emu_bulk_copy *copy =
        emu_zeros("for a bulk copy on its way", 1, sizeof *copy + bytes);
    copy->shared = shared;
    copy->bytes = bytes;
    copy->alignment = alignment;
    copy->thread = emu_current;
    copy->pc = pc;
    return copy;
}

/* Where the copy engine reads or writes shared memory. */
static void check_shared(const char *shared, size_t bytes, size_t alignment,
                         const char *what, const void *pc)
{
    const size_t offset = (size_t)(shared - emu_dynamic_shared);
    if (offset >= EMU_SHARED_BYTES || bytes > EMU_SHARED_BYTES - offset)
        emu_fault(pc, "a bulk copy's %s must be shared memory", what);
    if ((uintptr_t)shared % alignment)
        emu_fault(pc,
                  "misaligned address: a bulk copy's %s must be a multiple of %zu bytes, "
                  "and %p is %zu past one",
                  what, alignment, (const void *)shared,
                  (size_t)((uintptr_t)shared % alignment));
}

/* Hands the copy to its barrier, or to each block of a multicast one of its own. */
static void send_for(struct emu_bulk_copy *copy, uint64_t *barrier, unsigned blocks)
{
    if (!blocks) {
        emu_mbarrier_add_copy(barrier, copy);
        return;
    }
    const size_t whole = sizeof *copy + copy->bytes;
    for (; blocks; blocks &= blocks - 1) {
        const unsigned rank = (unsigned)__builtin_ctz(blocks);
        struct emu_bulk_copy *one = emu_zeros("for a bulk copy on its way", 1, whole);
        memcpy(one, copy, whole);
        one->shared = emu_shared_place_in(copy->shared, rank, copy->pc);
        emu_mbarrier_add_copy((uint64_t *)emu_shared_place_in(barrier, rank, copy->pc),
                              one);
    }
    free(copy);
}

static void check_plain(const void *global, size_t bytes, const void *pc)
{
    if (bytes == 0 || bytes % 16)
        emu_fault(pc, "a bulk copy moves a multiple of 16 bytes, not %zu", bytes);
    if ((uintptr_t)global % 16)
        emu_fault(pc,
                  "misaligned address: a bulk copy's address in global memory must be a "
                  "multiple of 16 bytes, and %p is %zu past one",
                  global, (size_t)((uintptr_t)global % 16));
}

void emu_bulk_load(char *shared, const void *global, size_t bytes, uint64_t *barrier,
                   unsigned blocks, const void *pc)
{
    check_plain(global, bytes, pc);
    check_shared(shared, bytes, PLAIN, "destination", pc);
    emu_check_global(global, bytes, EMU_READ, pc);
    if (emu_now.lens_looks) emu_lens_bulk_copy(global, bytes, true, false, pc);
    struct emu_bulk_copy *copy = new_copy(shared, bytes, PLAIN, pc);
    memcpy(copy->data, global, bytes);
    send_for(copy, barrier, blocks);
}

/* Parameters that may hold maps and of which each thread has its own copy. */
static struct own_copy {
    unsigned linear; /* of the thread */
    const char *from;
    size_t bytes;
} *own_copies;
static unsigned own_count, own_capacity;

void emu_own_copy_of_maps(const void *copy, size_t bytes)
{
    EMU_ROOM_FOR_ONE(own_copies, own_count, own_capacity, "for a kernel's parameters");
    own_copies[own_count++] = (struct own_copy){emu_current->linear, copy, bytes};
}

static bool lies_in_own_copy(const void *map)
{
    for (unsigned i = 0; i < own_count; i++)
        if (own_copies[i].linear == emu_current->linear &&
            (size_t)((const char *)map - own_copies[i].from) < own_copies[i].bytes)
            return true;
    return false;
}

/* The map of a copy whose box begins at `at`. */
static const struct tensor_map *map_of(const void *map, int dimensions, const int *at,
                                       const void *pc)
{
    const struct tensor_map *m = map;
    if (emu_is_shared(map))
        emu_fault(pc, "a tensor map in shared memory: the copy engine reads it from a "
                      "__grid_constant__ parameter, constant or global memory");
    if (lies_in_own_copy(map))
        emu_fault(pc, "a tensor map in a parameter that is not __grid_constant__: the "
                      "thread has a copy of its own, which the copy engine cannot read");
    if (m->marker != TENSOR_MAP)
        emu_fault(pc, "not a tensor map: cuTensorMapEncodeTiled makes one");
#ifdef __aarch64__ /* where gcc aligns no parameter to more than 16 bytes */
    const unsigned alignment = emu_is_own(map) ? 16 : 64;
#else
    const unsigned alignment = 64;
#endif
    if ((uintptr_t)map % alignment)
        emu_fault(pc, "misaligned address: a tensor map lies at a multiple of 64 bytes");
    if (m->dimensions != dimensions)
        emu_fault(pc, "a copy of %d dimensions with a tensor map of %u", dimensions,
                  m->dimensions);
    /* Seen on an H200, which ends with cudaErrorIllegalInstruction; so do the users of
     * github.com/triton-lang/triton/issues/7385. */
    if ((int64_t)at[0] * m->element_bytes % 16)
        emu_fault(pc,
                  "illegal instruction: a box begins at a multiple of 16 bytes of its "
                  "row, and element %d of %u bytes is none",
                  at[0], m->element_bytes);
    if (emu_is_global(map)) emu_now.unrepeatable = true; /* not seen to be read */
    return m;
}

static size_t box_bytes(const struct tensor_map *m)
{
    size_t count = m->element_bytes;
    for (int d = 0; d < m->dimensions; d++) count *= m->box[d];
    return count;
}

/* A row of the box: where it lies in the tensor, or that it does not; and which part of
 * it does. */
struct row {
    char *from; /* of its first element */
    bool inside;
    int64_t first, last; /* [first, last) */
};

static struct row row_of(const struct tensor_map *m, const int *at, size_t number)
{
    struct row r = {.from = (char *)m->base, .inside = true};
    for (int d = 1; d < m->dimensions; d++) {
        const int64_t i = at[d] + (int64_t)(number % m->box[d]) * m->step[d];
        number /= m->box[d];
        r.inside &= i >= 0 && (uint64_t)i < m->size[d];
        r.from += i * (int64_t)m->stride[d];
    }
    r.from += (int64_t)at[0] * m->element_bytes;
    r.first = at[0] < 0 ? -(int64_t)at[0] : 0;
    r.last = (int64_t)m->size[0] - at[0];
    if (r.last > m->box[0]) r.last = m->box[0];
    r.inside &= r.first < r.last;
    return r;
}

/* What lies outside the tensor. */
static void fill(const struct tensor_map *m, char *to, size_t bytes)
{
    if (!m->fill_nan) return; /* zero, as it is */
    static const unsigned char nans[] = {0xff, 0x7f};
    for (size_t i = 0; i < bytes; i += m->element_bytes)
        for (unsigned b = 0; b < m->element_bytes; b++)
            to[i + b] = (char)nans[b == m->element_bytes - 1u];
}

/* The copy engine rounds fp32 to tf32 on the way where the map says so. */
static void round_to_tf32(char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t x;
        memcpy(&x, data + i, sizeof x);
        x = (uint32_t)emu_ptx_alu(PTX_CODE(PTX_CVT, PTX_TF32, PTX_F32, PTX_RN, 0), x, 0,
                                  0, 0);
        memcpy(data + i, &x, sizeof x);
    }
}

void emu_bulk_load_tensor(char *shared, const void *map, int dimensions, const int *at,
                          uint64_t *barrier, unsigned blocks, const void *pc)
{
    const struct tensor_map *m = map_of(map, dimensions, at, pc);
    const size_t bytes = box_bytes(m), row_bytes = (size_t)m->box[0] * m->element_bytes;
    check_shared(shared, bytes, BOX, "destination", pc);
    struct emu_bulk_copy *copy = new_copy(shared, bytes, BOX, pc);
    copy->swizzle = (enum emu_swizzle)m->swizzle;
    bool first_row = true;
    for (size_t number = 0; number < bytes / row_bytes; number++) {
        char *to = copy->data + number * row_bytes;
        const struct row r = row_of(m, at, number);
        fill(m, to, row_bytes);
        if (!r.inside) continue;
        const size_t skipped = (size_t)r.first * m->element_bytes,
                     n = (size_t)(r.last - r.first) * m->element_bytes;
        emu_check_global(r.from + skipped, n, EMU_READ, pc);
        memcpy(to + skipped, r.from + skipped, n);
        if (emu_now.lens_looks)
            emu_lens_bulk_copy(r.from + skipped, n, first_row, false, pc);
        first_row = false;
    }
    if (m->type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32) round_to_tf32(copy->data, bytes);
    send_for(copy, barrier, blocks);
}

/* ---- out of shared memory ---- */

/* What a thread has sent and not waited for. */
struct store {
    unsigned group;
    uint32_t time; /* the checker's */
    const void *pc;
};
static struct sender {
    struct store *stores;
    unsigned count, capacity, groups;
    unsigned slot;
    bool has_slot;
} *senders; /* of every thread; NULL until one sends */
static bool any_sender;

static void note_store(struct sender *s, uint32_t time, const void *pc)
{
    EMU_ROOM_FOR_ONE(s->stores, s->count, s->capacity, "for a bulk copy on its way");
    s->stores[s->count++] = (struct store){s->groups, time, pc};
}

static struct sender *this_sender(void)
{
    if (!senders)
        senders =
            emu_zeros("for who sends bulk copies", EMU_MAX_THREADS, sizeof *senders);
    any_sender = true;
    return &senders[emu_current->linear];
}

static struct sender *sender(const void *pc)
{
    struct sender *s = this_sender();
    if (!s->has_slot) s->slot = emu_check_slot(pc);
    s->has_slot = true;
    return s;
}

/* The copy engine reads these bytes, in whole words. */
static uint32_t check_source(char *shared, size_t bytes, unsigned slot, const void *pc)
{
    const uintptr_t first = (uintptr_t)shared & ~(uintptr_t)3,
                    end = ((uintptr_t)shared + bytes + 3) & ~(uintptr_t)3;
    return emu_check_async_read((char *)first, end - first, slot, -1, pc);
}

/* What is read is free again when the barrier's phase is over, which the receiver learns,
 * not this thread. So the source is only looked at. */
void emu_bulk_send(char *to, char *from, size_t bytes, uint64_t code, uint64_t *barrier,
                   const void *pc)
{
    check_plain(from, bytes, pc);
    check_shared(from, bytes, PLAIN, "source", pc);
    check_shared(to, bytes, PLAIN, "destination", pc);
    const struct sender *s = sender(pc);
    emu_check_async_done(s->slot, check_source(from, bytes, s->slot, pc));
    struct emu_bulk_copy *copy = new_copy(to, bytes, PLAIN, pc);
    memcpy(copy->data, from, bytes);
    copy->reduction = code;
    emu_mbarrier_add_copy(barrier, copy);
}

/* Right before the bytes are written: whether a race is one, the checker tells by what the
 * next thing that happens leaves there. */
static void check_written(char *global, size_t bytes, uint64_t code, bool first,
                          const void *pc)
{
    emu_check_global(global, bytes, code ? EMU_ATOMIC : EMU_WRITE, pc);
    if (emu_now.lens_looks) emu_lens_bulk_copy(global, bytes, first, true, pc);
}

void emu_bulk_store(void *global, char *shared, size_t bytes, uint64_t code,
                    const void *pc)
{
    check_plain(global, bytes, pc);
    check_shared(shared, bytes, PLAIN, "source", pc);
    struct sender *s = sender(pc);
    note_store(s, check_source(shared, bytes, s->slot, pc), pc);
    check_written(global, bytes, code, true, pc);
    emu_put(global, shared, bytes, code);
}

/* The operation of a reduction into a tensor, in the type of the tensor's elements. */
static uint64_t reduction(uint64_t code, const struct tensor_map *m, const void *pc)
{
    static const enum ptx_type types[] = {[CU_TENSOR_MAP_DATA_TYPE_UINT32] = PTX_U32,
                                          [CU_TENSOR_MAP_DATA_TYPE_INT32] = PTX_S32,
                                          [CU_TENSOR_MAP_DATA_TYPE_UINT64] = PTX_U64,
                                          [CU_TENSOR_MAP_DATA_TYPE_INT64] = PTX_S64,
                                          [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = PTX_F16,
                                          [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = PTX_F32,
                                          [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = PTX_BF16,
                                          [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] =
                                              PTX_F32};
    const enum ptx_type type =
        m->type < sizeof types / sizeof *types ? types[m->type] : PTX_NONE;
    if (!code) return 0;
    if (type == PTX_NONE)
        emu_fault(pc, "a tensor of this type cannot be reduced into (cp.reduce.async)");
    return PTX_CODE(PTX_OP_OF(code), type, 0, 0, 0);
}

void emu_bulk_store_tensor(const void *map, int dimensions, const int *at, char *shared,
                           uint64_t code, const void *pc)
{
    const struct tensor_map *m = map_of(map, dimensions, at, pc);
    const size_t bytes = box_bytes(m), row_bytes = (size_t)m->box[0] * m->element_bytes;
    check_shared(shared, bytes, BOX, "source", pc);
    code = reduction(code, m, pc);
    struct sender *s = sender(pc);
    uint32_t time = 0;
    bool first_row = true;
    _Alignas(16) char gathered[256 * sizeof(uint64_t)]; /* no row of a box is longer */
    for (size_t number = 0; number < bytes / row_bytes; number++) {
        const struct row r = row_of(m, at, number);
        if (!r.inside) continue; /* what lies outside the tensor is not written */
        const size_t skipped = (size_t)r.first * m->element_bytes,
                     n = (size_t)(r.last - r.first) * m->element_bytes;
        for (size_t i = 0; i < n;) {
            const uintptr_t place = (uintptr_t)shared + number * row_bytes + skipped + i;
            size_t piece = 16 - place % 16;
            if (piece > n - i) piece = n - i;
            char *from = (char *)emu_swizzled(place, (enum emu_swizzle)m->swizzle);
            time = check_source(from, piece, s->slot, pc);
            memcpy(gathered + i, from, piece);
            i += piece;
        }
        check_written(r.from + skipped, n, code, first_row, pc);
        emu_put(r.from + skipped, gathered, n, code);
        first_row = false;
    }
    note_store(s, time, pc);
}

void emu_ptx_bulk_commit(void)
{
    this_sender()->groups++;
}

void emu_ptx_bulk_wait(uint64_t groups_that_may_remain)
{
    struct sender *s = this_sender();
    unsigned kept = 0;
    uint32_t over = 0;
    for (unsigned i = 0; i < s->count; i++) {
        const struct store *store = &s->stores[i];
        if (store->group < s->groups && s->groups - store->group > groups_that_may_remain)
            over = store->time > over ? store->time : over;
        else
            s->stores[kept++] = *store;
    }
    s->count = kept;
    if (over) emu_check_async_done(s->slot, over);
}

void emu_bulk_block_begins(void)
{
    own_count = 0;
    if (!any_sender) return;
    any_sender = false;
    for (unsigned i = 0; i < EMU_MAX_THREADS; i++) {
        senders[i].count = senders[i].groups = 0;
        senders[i].has_slot = false;
    }
}

void emu_bulk_block_ended(void)
{
    if (!any_sender || !emu_settings.strict) return;
    for (struct emu_fiber *t = emu_fibers; t < emu_fibers_end(); t++) {
        const struct sender *s = &senders[t->seen.linear];
        if (t->state != DONE || !s->count) continue;
        emu_current = &t->seen;
        emu_fault(
            s->stores[0].pc,
            "bulk copy not waited for: the block has ended, and the copy engine may "
            "still read the shared memory that is another block's by then (a missing "
            "cp.async.bulk.wait_group.read 0 at the end?)");
    }
}

/* ---- tensor maps ---- */

/* Restrictions as the driver API's manual gives them for cuTensorMapEncodeTiled. */
CUresult
cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                       void *address, const cuuint64_t *dim, const cuuint64_t *strides,
                       const cuuint32_t *box, const cuuint32_t *element_strides,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                       CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    static const unsigned char bytes_of[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    static const unsigned widths[] = {0, 32, 64, 128};
    (void)promotion;
    if (emu_gpu()->prop.major < 9) return CUDA_ERROR_NOT_SUPPORTED;
    if (!map || (uintptr_t)map % 64 ||
        (unsigned)type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B || rank < 1 || rank > 5 ||
        (unsigned)swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B ||
        (unsigned)interleave > CU_TENSOR_MAP_INTERLEAVE_32B)
        return CUDA_ERROR_INVALID_VALUE;
    if ((unsigned)type >= sizeof bytes_of ||
        interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
        swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return CUDA_ERROR_NOT_SUPPORTED;
    if ((uintptr_t)address % 16) return CUDA_ERROR_INVALID_VALUE;
    const bool whole = type < CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    if (fill && whole) return CUDA_ERROR_INVALID_VALUE;
    struct tensor_map m = {.marker = TENSOR_MAP,
                           .dimensions = (uint8_t)rank,
                           .element_bytes = bytes_of[type],
                           .type = (uint8_t)type,
                           .swizzle = (uint8_t)swizzle,
                           .fill_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                           .base = address};
    for (cuuint32_t d = 0; d < rank; d++) {
        if (dim[d] < 1 || dim[d] > 1ull << 32 || box[d] < 1 || box[d] > 256 ||
            element_strides[d] < 1 || element_strides[d] > 8)
            return CUDA_ERROR_INVALID_VALUE;
        if (d > 0 && (strides[d - 1] % 16 || strides[d - 1] >= 1ull << 40))
            return CUDA_ERROR_INVALID_VALUE;
        m.size[d] = dim[d];
        /* With steps, the box says how far it reaches, not how much it holds. */
        m.step[d] = (uint16_t)(d > 0 ? element_strides[d] : 1);
        m.box[d] = (uint16_t)((box[d] + m.step[d] - 1) / m.step[d]);
        m.stride[d] = d > 0 ? strides[d - 1] : m.element_bytes;
    }
    const unsigned row = box[0] * m.element_bytes;
    if (row % 16 || (swizzle && row > widths[swizzle])) return CUDA_ERROR_INVALID_VALUE;
    memset(map, 0, sizeof *map);
    memcpy(map, &m, sizeof m);
    return CUDA_SUCCESS;
}
