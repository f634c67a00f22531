/* PTX's instructions on matrices that a warp carries out together: ldmatrix, stmatrix and
 * mma.sync.
 *
 * Every lane brings its registers and waits for the others; then the first of them does
 * the work for all, as if at one moment. How a matrix is spread over the lanes is written
 * here once: lane l has the number g = l / 4 of its group and its place t = l % 4 in it.
 */
#include <stdarg.h>
#include <string.h>

#include "base/device.h"
#include "base/now.h"
#include "base/ptx.h"
#include "base/settings.h"
#include "block/shared.h"
#include "emulator_ptx.h"
#include "emulator_runtime.h"
#include "memory/touch.h"
#include "run/tensor_core.h"
#include "run/warp.h"
#include "watch/access.h"
#include "watch/lens.h"

#define PC __builtin_return_address(0)

enum { LANES = 32, MOST_REGISTERS = 16 };

/* What a lane brings, and where it wants its results. */
struct part {
    uint64_t in[MOST_REGISTERS];
    uint64_t *out;
    char *address;
};

/* Waits for the whole warp; returns the parts of all lanes to the lane that is to do the
 * work, and NULL to the others, for whom it is done. */
static struct part **meet(struct part *mine, struct part **all, const char *what,
                          const void *pc)
{
    const unsigned long long *brought = emu_warp_gather_whole((uintptr_t)mine, what, pc);
    if (emu_current->lane) return NULL;
    for (unsigned lane = 0; lane < LANES; lane++)
        all[lane] = (struct part *)(uintptr_t)brought[lane];
    return all;
}

/* ---- ldmatrix, stmatrix ---- */

enum { ROW_BYTES = 16 };

static uint16_t half_at(const char *row, unsigned column)
{
    uint16_t x;
    memcpy(&x, row + 2 * column, sizeof x);
    return x;
}

static unsigned matrices_of(uint64_t code)
{
    return code >> PTX_MATRIX_COUNT & 7;
}

/* The address of a row of 16 bytes that this lane names; of a lane whose address is not
 * used, NULL. */
static char *row_address(uint64_t code, uint64_t address, enum emu_access kind,
                         const void *pc, const void *frame)
{
    if (emu_current->lane >= 8 * matrices_of(code)) return NULL;
    char *row = PTX_DETAIL_OF(code) == PTX_SHARED
                    ? emu_shared_place(address, ROW_BYTES, pc)
                    : (char *)(uintptr_t)address;
    if ((uintptr_t)row % ROW_BYTES)
        emu_fault(pc,
                  "misaligned address: a row of %s begins at a multiple of 16 bytes, and "
                  "this is %zu past one",
                  kind == EMU_READ ? "ldmatrix" : "stmatrix",
                  (size_t)((uintptr_t)row % ROW_BYTES));
    emu_see_access(row, ROW_BYTES, kind, pc, frame);
    return row;
}

void emu_ptx_load_matrix(uint64_t code, uint64_t *d, uint64_t address)
{
    struct part mine = {.out = d}, *lanes[LANES], **all;
    mine.address = row_address(code, address, EMU_READ, PC, __builtin_frame_address(0));
    if (!(all = meet(&mine, lanes, "ldmatrix", PC))) return;
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned i = 0; i < matrices_of(code); i++) {
            const unsigned g = lane / 4, t = lane % 4;
            uint32_t low, high;
            if (code & PTX_TRANSPOSED) {
                low = half_at(all[8 * i + 2 * t]->address, g);
                high = half_at(all[8 * i + 2 * t + 1]->address, g);
            } else {
                low = half_at(all[8 * i + g]->address, 2 * t);
                high = half_at(all[8 * i + g]->address, 2 * t + 1);
            }
            all[lane]->out[i] = high << 16 | low;
        }
}

void emu_ptx_store_matrix(uint64_t code, uint64_t address, ...)
{
    struct part mine = {0}, *lanes[LANES], **all;
    va_list values;
    va_start(values, address);
    for (unsigned i = 0; i < matrices_of(code); i++)
        mine.in[i] = va_arg(values, uint64_t);
    va_end(values);
    mine.address = row_address(code, address, EMU_WRITE, PC, __builtin_frame_address(0));
    if (!(all = meet(&mine, lanes, "stmatrix", PC))) return;
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned i = 0; i < matrices_of(code); i++) {
            const unsigned g = lane / 4, t = lane % 4;
            for (unsigned h = 0; h < 2; h++) {
                const uint16_t x = (uint16_t)(all[lane]->in[i] >> 16 * h);
                const unsigned row = code & PTX_TRANSPOSED ? 2 * t + h : g,
                               column = code & PTX_TRANSPOSED ? g : 2 * t + h;
                memcpy(all[8 * i + row]->address + 2 * column, &x, sizeof x);
            }
        }
}

/* ---- mma ---- */

/* How many elements a register of 32 bits holds. Of single bits, whole registers are
 * counted; a double has a register of its own. */
static unsigned elements_in_register(enum ptx_type type)
{
    const unsigned bits = ptx_types[type].bits;
    return bits == 1 || bits >= 32 ? 1 : 32 / bits;
}

/* Element i of a register. */
static uint32_t element_in(enum ptx_type type, uint64_t bits, unsigned i)
{
    const unsigned width = ptx_types[type].bits;
    if (width == 1 || width >= 32) return (uint32_t)bits;
    return (uint32_t)(bits >> width * i) & ((1u << width) - 1);
}

/* Where the lanes' registers lie in the matrices. Register r of A holds, from k =
 * (r / 2 * 4 + t) * e on, e elements of row g + 8 (r % 2), or of row g where A has only 8
 * rows; register r of B, from k = (r * 4 + t) * e on, those of column g; element i of the
 * sums stands in row g + 8 (i / 2), column 2 t + i % 2. */
struct fragments {
    unsigned m, n, k; /* k in elements as elements_in_register counts them */
    unsigned each;    /* elements in a register */
    unsigned a_count, b_count, sums;
};

static struct fragments fragments_of(uint64_t code, unsigned shape)
{
    struct fragments f = {.m = shape >> 20, .n = shape >> 10 & 1023, .k = shape & 1023};
    if (PTX_FROM_OF(code) == PTX_B1) f.k /= 32;
    f.each = elements_in_register(PTX_FROM_OF(code));
    f.a_count = f.m * f.k / LANES / f.each;
    f.b_count = f.n * f.k / LANES / f.each;
    f.sums = f.m * f.n / LANES;
    return f;
}

static unsigned a_row(const struct fragments *f, unsigned lane, unsigned r)
{
    return lane / 4 + (f->m == 16 ? 8 * (r & 1) : 0);
}

static unsigned a_k(const struct fragments *f, unsigned lane, unsigned r)
{
    return ((f->m == 16 ? r >> 1 : r) * 4 + lane % 4) * f->each;
}

static unsigned b_k(const struct fragments *f, unsigned lane, unsigned r)
{
    return (r * 4 + lane % 4) * f->each;
}

static unsigned sum_at(const struct fragments *f, unsigned lane, unsigned i)
{
    return (lane / 4 + 8 * (i >> 1)) * f->n + 2 * (lane % 4) + (i & 1);
}

static void multiply(uint64_t code, const struct fragments *f, struct part **all)
{
    static uint32_t a[16 * 64], b[8 * 64], sums[16 * 8];
    const enum ptx_type a_type = PTX_FROM_OF(code),
                        b_type = (enum ptx_type)PTX_DETAIL_OF(code),
                        d_type = PTX_TYPE_OF(code);
    const bool half = d_type == PTX_F16;
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint64_t *in = all[lane]->in;
        for (unsigned r = 0; r < f->a_count; r++)
            for (unsigned e = 0; e < f->each; e++)
                a[a_row(f, lane, r) * f->k + a_k(f, lane, r) + e] =
                    element_in(a_type, in[r], e);
        for (unsigned r = 0; r < f->b_count; r++)
            for (unsigned e = 0; e < f->each; e++)
                b[lane / 4 * f->k + b_k(f, lane, r) + e] =
                    element_in(b_type, in[f->a_count + r], e);
        const uint64_t *c = in + f->a_count + f->b_count;
        for (unsigned i = 0; i < f->sums; i++)
            sums[sum_at(f, lane, i)] =
                half ? (uint32_t)(c[i / 2] >> 16 * (i % 2)) & 0xffff : (uint32_t)c[i];
    }
    const struct tensor_kind kind = {.a = a_type,
                                     .b = b_type,
                                     .sum = d_type,
                                     .saturate = code & PTX_SATFINITE,
                                     .binary_and = code & PTX_BINARY_AND};
    tensor_multiply(&kind, f->m, f->n, f->k, a, b, sums);
    if (emu_now.lens_looks)
        emu_lens_tensor((uint64_t)f->m * f->n * f->k, ptx_types[a_type].bits, 0);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned i = 0; i < f->sums; i++) {
            const uint64_t x = sums[sum_at(f, lane, i)];
            if (!half)
                all[lane]->out[i] = x;
            else
                all[lane]->out[i / 2] = i % 2 ? all[lane]->out[i / 2] | x << 16 : x;
        }
}

static void multiply_f64(const struct fragments *f, struct part **all)
{
    static double a[16 * 16], b[8 * 16], sums[16 * 8];
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint64_t *in = all[lane]->in;
        for (unsigned r = 0; r < f->a_count; r++)
            memcpy(&a[a_row(f, lane, r) * f->k + a_k(f, lane, r)], &in[r], sizeof *a);
        for (unsigned r = 0; r < f->b_count; r++)
            memcpy(&b[lane / 4 * f->k + b_k(f, lane, r)], &in[f->a_count + r], sizeof *b);
        for (unsigned i = 0; i < f->sums; i++)
            memcpy(&sums[sum_at(f, lane, i)], &in[f->a_count + f->b_count + i],
                   sizeof *sums);
    }
    tensor_multiply_f64(f->m, f->n, f->k, a, b, sums);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned i = 0; i < f->sums; i++)
            memcpy(&all[lane]->out[i], &sums[sum_at(f, lane, i)], sizeof(double));
}

/* The compute capability that has the instruction. */
static int first_capability(enum ptx_type type, const struct fragments *f)
{
    switch (type) {
    case PTX_F16: return f->k == 8 ? 75 : 80;
    case PTX_E4M3:
    case PTX_E5M2: return 89;
    case PTX_S8:
    case PTX_U8:
    case PTX_S4:
    case PTX_U4:
    case PTX_B1: return f->m == 8 ? 75 : 80;
    default: return f->m == 16 && type == PTX_F64 ? 90 : 80;
    }
}

void emu_ptx_mma(uint64_t code, unsigned shape, uint64_t *d, ...)
{
    const struct fragments f = fragments_of(code, shape);
    const bool half = PTX_TYPE_OF(code) == PTX_F16;
    const int needed = first_capability(PTX_FROM_OF(code), &f),
              have = emu_gpu()->prop.major * 10 + emu_gpu()->prop.minor;
    if (have < needed)
        emu_fault(PC,
                  "this mma.sync needs compute capability %d.%d, and the emulated %s has "
                  "%d.%d (EMULATE chooses another)",
                  needed / 10, needed % 10, emu_gpu()->prop.name, have / 10, have % 10);
    struct part mine = {.out = d}, *lanes[LANES], **all;
    va_list values;
    va_start(values, d);
    for (unsigned i = 0; i < f.a_count + f.b_count + (half ? f.sums / 2 : f.sums); i++)
        mine.in[i] = va_arg(values, uint64_t);
    va_end(values);
    if (!(all = meet(&mine, lanes, "mma.sync", PC))) return;
    if (PTX_TYPE_OF(code) == PTX_F64)
        multiply_f64(&f, all);
    else
        multiply(code, &f, all);
}

/* ---- nvcuda::wmma ---- */

/* What mma.h calls. The functions there that tell where a lane's elements stand have
 * their mirror images here. */
void emu_wmma(const char *types, unsigned m, unsigned n, unsigned k, int saturate,
              const void *a, const void *b, const void *c, void *d);
void emu_wmma_meet(const char *what, const void *p, size_t distance, size_t fragment);

/* PTX wants rows (or columns) to begin at multiples of what a lane gets (PTX ISA, "Matrix
 * Storage for WMMA"); of 32 bytes, CUDA's guide asks only 16 from row to row. */
void emu_wmma_meet(const char *what, const void *p, size_t distance, size_t fragment)
{
    const size_t apart = fragment < 16 ? fragment : 16,
                 first = emu_settings.strict ? fragment : apart;
    emu_warp_gather_whole(0, what, PC);
    if ((uintptr_t)p % first)
        emu_fault(PC,
                  "misaligned address: %s wants a multiple of %zu bytes, and %p is %zu "
                  "past one",
                  what, first, p, (size_t)((uintptr_t)p % first));
    if (distance % apart)
        emu_fault(
            PC,
            "misaligned address: %s wants rows (or columns) a multiple of %zu bytes "
            "apart, not %zu bytes",
            what, apart, distance);
}

static enum ptx_type type_of_letter(char letter)
{
    switch (letter) {
    case 'h': return PTX_F16;
    case 'b': return PTX_BF16;
    case 't': return PTX_TF32;
    case 'c': return PTX_S8;
    case 'u': return PTX_U8;
    case 'f': return PTX_F32;
    case 'i': return PTX_S32;
    default: return PTX_F64;
    }
}

struct wmma_part {
    const char *a, *b, *c;
    char *d;
};

/* Element i of a lane's part of A, of B and of the sums: its row and its column. */
static void place_in_a(unsigned m, unsigned k, unsigned each, unsigned lane, unsigned i,
                       unsigned *row, unsigned *column)
{
    const bool short_one = m == 8;
    const unsigned block = short_one ? 0 : i / (k / 2),
                   r = (short_one ? i : i % (k / 2)) / each;
    *row = lane / 4 + (short_one ? 0 : 16 * block + 8 * (r & 1));
    *column = ((short_one ? r : r / 2) * 4 + lane % 4) * each + i % each;
}

static void place_in_b(unsigned k, unsigned each, unsigned lane, unsigned i,
                       unsigned *row, unsigned *column)
{
    *row = (i % (k / 4) / each * 4 + lane % 4) * each + i % each;
    *column = i / (k / 4) * 8 + lane / 4;
}

static void place_in_sums(unsigned m, unsigned n, unsigned lane, unsigned i,
                          unsigned *row, unsigned *column)
{
    const unsigned block = m == 8 ? 2 : 4, across = n / 8;
    *row = i / block / across * 16 + lane / 4 + i % block / 2 * 8;
    *column = i / block % across * 8 + lane % 4 * 2 + i % 2;
}

static uint32_t converted(enum ptx_type from, enum ptx_type to, uint32_t bits)
{
    if (from == to) return bits;
    return (uint32_t)emu_ptx_alu(PTX_CODE(PTX_CVT, to, from, PTX_RN, 0), bits, 0, 0, 0);
}

/* Where in the matrices the elements of each lane stand, for the shape of the last
 * product: the next one mostly has the same. A and the sums lie by rows, B by columns. */
enum { MOST_ELEMENTS = 16, MOST_SUMS = 8 };
static struct {
    unsigned m, n, k, each;
    uint16_t a[LANES][MOST_ELEMENTS], b[LANES][MOST_ELEMENTS], sums[LANES][MOST_SUMS];
} places;

static void find_places(unsigned m, unsigned n, unsigned k, unsigned each)
{
    unsigned row, column;
    if (m == places.m && n == places.n && k == places.k && each == places.each) return;
    places.m = m;
    places.n = n;
    places.k = k;
    places.each = each;
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < m * k / LANES; i++) {
            place_in_a(m, k, each, lane, i, &row, &column);
            places.a[lane][i] = (uint16_t)(row * k + column);
        }
        for (unsigned i = 0; i < n * k / LANES; i++) {
            place_in_b(k, each, lane, i, &row, &column);
            places.b[lane][i] = (uint16_t)(column * k + row);
        }
        for (unsigned i = 0; i < m * n / LANES; i++) {
            place_in_sums(m, n, lane, i, &row, &column);
            places.sums[lane][i] = (uint16_t)(row * n + column);
        }
    }
}

/* Puts a lane's `count` elements of so many bytes where they stand. */
static inline void spread(uint32_t *matrix, const char *elements, unsigned bytes,
                          const uint16_t *at, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t x;
        uint16_t half;
        if (bytes == 4) memcpy(&x, elements + 4 * i, sizeof x);
        if (bytes == 2) memcpy(&half, elements + 2 * i, sizeof half);
        matrix[at[i]] = bytes == 4 ? x : bytes == 2 ? half : (uint8_t)elements[i];
    }
}

static void multiply_fragments_f64(unsigned m, unsigned n, unsigned k,
                                   const unsigned long long *parts)
{
    static double a[8 * 4], b[8 * 4], sums[8 * 8];
    for (unsigned lane = 0; lane < LANES; lane++) {
        const struct wmma_part *p = (const struct wmma_part *)(uintptr_t)parts[lane];
        for (unsigned i = 0; i < m * k / LANES; i++)
            memcpy(&a[places.a[lane][i]], p->a + i * sizeof *a, sizeof *a);
        for (unsigned i = 0; i < n * k / LANES; i++)
            memcpy(&b[places.b[lane][i]], p->b + i * sizeof *b, sizeof *b);
        for (unsigned i = 0; i < m * n / LANES; i++)
            memcpy(&sums[places.sums[lane][i]], p->c + i * sizeof *sums, sizeof *sums);
    }
    tensor_multiply_f64(m, n, k, a, b, sums);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const struct wmma_part *p = (const struct wmma_part *)(uintptr_t)parts[lane];
        for (unsigned i = 0; i < m * n / LANES; i++)
            memcpy(p->d + i * sizeof *sums, &sums[places.sums[lane][i]], sizeof *sums);
    }
}

static void multiply_fragments(const char *types, unsigned m, unsigned n, unsigned k,
                               bool saturate, const unsigned long long *parts)
{
    static uint32_t a[32 * 16], b[32 * 16], sums[256];
    const enum ptx_type type = type_of_letter(types[0]), c = type_of_letter(types[1]),
                        d = type_of_letter(types[2]),
                        sum = c == PTX_F32 ? c : d; /* as the wider of the two */
    const unsigned bytes = ptx_types[type].bits / 8, c_bytes = ptx_types[c].bits / 8,
                   d_bytes = ptx_types[d].bits / 8, count = m * n / LANES;
    find_places(m, n, k, bytes < 4 ? 4 / bytes : 1);
    if (emu_now.lens_looks) emu_lens_tensor((uint64_t)m * n * k, ptx_types[type].bits, 0);
    if (type == PTX_F64) {
        multiply_fragments_f64(m, n, k, parts);
        return;
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        const struct wmma_part *p = (const struct wmma_part *)(uintptr_t)parts[lane];
        const uint16_t *const at = places.sums[lane];
        spread(a, p->a, bytes, places.a[lane], m * k / LANES);
        spread(b, p->b, bytes, places.b[lane], n * k / LANES);
        spread(sums, p->c, c_bytes, at, count);
        for (unsigned i = 0; c != sum && i < count; i++)
            sums[at[i]] = converted(c, sum, sums[at[i]]);
    }
    const struct tensor_kind kind = {
        .a = type, .b = type, .sum = sum, .saturate = saturate};
    tensor_multiply(&kind, m, n, k, a, b, sums);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const struct wmma_part *p = (const struct wmma_part *)(uintptr_t)parts[lane];
        for (unsigned i = 0; i < count; i++) {
            const uint32_t x = converted(sum, d, sums[places.sums[lane][i]]);
            if (d_bytes == 4)
                memcpy(p->d + 4 * i, &x, 4);
            else
                memcpy(p->d + 2 * i, &x, 2);
        }
    }
}

void emu_wmma(const char *types, unsigned m, unsigned n, unsigned k, int saturate,
              const void *a, const void *b, const void *c, void *d)
{
    const int capability = emu_gpu()->prop.major * 10 + emu_gpu()->prop.minor;
    if (capability < 80 && strchr("btd", types[0]))
        emu_fault(PC,
                  "wmma with bfloat16, tf32 or double needs compute capability 8.0, and "
                  "the emulated %s has %d.%d (EMULATE chooses another)",
                  emu_gpu()->prop.name, capability / 10, capability % 10);
    const struct wmma_part mine = {a, b, c, d};
    const unsigned long long *all =
        emu_warp_gather_whole((uintptr_t)&mine, "mma_sync", PC);
    if (emu_current->lane == 0) multiply_fragments(types, m, n, k, saturate, all);
}
