/* nvcuda::wmma: matrix products of a warp.
 *
 * CUDA leaves open which elements a lane holds. Here they lie as they do for mma.sync of the
 * same types, so that memory is accessed as a GPU does it; where CUDA's fragments have room
 * for more elements than there are, they are held several times. */
#ifndef MMA_H
#define MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#ifdef __CUDACC__

extern "C" {
/* Of all 32 lanes: d = a * b + c, of fragments that lie as described above. `types`: of the
 * elements (h, b, t, c, u, d: half, bfloat16, tf32, signed and unsigned char, double) and
 * of the sums (h, f, i, d). `each` elements of a or b lie side by side along k. */
void emu_wmma(const char *types, unsigned m, unsigned n, unsigned k, int saturate,
              const void *a, const void *b, const void *c, void *d);
/* All lanes meet; p and the distance of rows or columns must be aligned as the bytes of
 * the fragment ask. */
void emu_wmma_meet(const char *what, const void *p, size_t distance, size_t fragment);
}

namespace nvcuda
{
namespace wmma
{

enum layout_t { mem_row_major, mem_col_major };
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision
{
struct tf32;
}
namespace experimental
{
namespace precision
{
struct u4;
struct s4;
struct b1;
} // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
} // namespace experimental

/* An element's type, its letter, how many lie side by side in 32 bits. */
template <class T_> struct emu_element;
#define EMU_ELEMENT(T_, stored, letter_, each_)                                          \
    template <> struct emu_element<T_> {                                                 \
        typedef stored type;                                                             \
        enum { letter = letter_, each = each_ };                                         \
    }
EMU_ELEMENT(__half, __half, 'h', 2);
EMU_ELEMENT(__nv_bfloat16, __nv_bfloat16, 'b', 2);
EMU_ELEMENT(precision::tf32, float, 't', 1);
EMU_ELEMENT(signed char, signed char, 'c', 4);
EMU_ELEMENT(unsigned char, unsigned char, 'u', 4);
EMU_ELEMENT(double, double, 'd', 1);
EMU_ELEMENT(float, float, 'f', 1);
EMU_ELEMENT(int, int, 'i', 1);
#undef EMU_ELEMENT

/* How many elements of which matrix a lane holds, and which: element i stands in `row`,
 * `col`. */
template <class Use, int M_, int N_, int K_, class T_> struct emu_lies;

template <int M_, int N_, int K_, class T_> struct emu_lies<matrix_a, M_, N_, K_, T_> {
    enum { count = M_ * K_ / 32, each = emu_element<T_>::each };
    static __forceinline__ int row(int i)
    {
        const int block = M_ == 8 ? 0 : i / (K_ / 2), r = i % (K_ / 2) / each;
        return (int)emu_lane() / 4 + (M_ == 8 ? 0 : 16 * block + 8 * (r & 1));
    }
    static __forceinline__ int col(int i)
    {
        const int r = i % (M_ == 8 ? count : K_ / 2) / each;
        return ((M_ == 8 ? r : r / 2) * 4 + (int)emu_lane() % 4) * each + i % each;
    }
};

template <int M_, int N_, int K_, class T_> struct emu_lies<matrix_b, M_, N_, K_, T_> {
    enum { count = N_ * K_ / 32, each = emu_element<T_>::each };
    static __forceinline__ int row(int i)
    {
        return (i % (K_ / 4) / each * 4 + (int)emu_lane() % 4) * each + i % each;
    }
    static __forceinline__ int col(int i)
    {
        return i / (K_ / 4) * 8 + (int)emu_lane() / 4;
    }
};

template <int M_, int N_, int K_, class T_> struct emu_lies<accumulator, M_, N_, K_, T_> {
    enum { count = M_ * N_ / 32, each = 1, block = M_ == 8 ? 2 : 4, across = N_ / 8 };
    static __forceinline__ int row(int i)
    {
        return i / block / across * 16 + (int)emu_lane() / 4 + i % block / 2 * 8;
    }
    static __forceinline__ int col(int i)
    {
        return i / block % across * 8 + (int)emu_lane() % 4 * 2 + i % 2;
    }
};

/* CUDA's fragments of halves have 16 elements, whatever they hold. */
template <class Use, int M_, int N_, int K_, class T_> struct emu_room {
    enum { count = emu_lies<Use, M_, N_, K_, T_>::count };
};
template <int M_, int N_, int K_> struct emu_room<matrix_a, M_, N_, K_, __half> {
    enum { count = 16 };
};
template <int M_, int N_, int K_> struct emu_room<matrix_b, M_, N_, K_, __half> {
    enum { count = 16 };
};

template <class Use, int M_, int N_, int K_, class T_, class Layout = void> class fragment
{
    enum {
        wide = M_ * N_ == 256 && K_ == 16, /* 16x16, 32x8, 8x32 */
        square = M_ == 16 && N_ == 16,
        letter = emu_element<T_>::letter,
        element = !__is_same(Use, accumulator),
        small = letter == 'h' || letter == 'b' || letter == 'c' || letter == 'u',
        sum = letter == 'h' || letter == 'f' || letter == 'i',
        packed = M_ == 8 && N_ == 8 && (K_ == 32 || K_ == 128)
    };
    static_assert(element ? (small && wide && (square || M_ == 32 || M_ == 8)) ||
                                (letter == 't' && square && K_ == 8) ||
                                (letter == 'd' && M_ == 8 && N_ == 8 && K_ == 4)
                          : (sum && wide && (square || M_ == 32 || M_ == 8)) ||
                                (letter == 'f' && square && K_ == 8) ||
                                (letter == 'i' && packed) ||
                                (letter == 'd' && M_ == 8 && N_ == 8 && K_ == 4),
                  "there is no wmma fragment of this shape and type");

  public:
    typedef typename emu_element<T_>::type element_type;
    typedef element_type storage_element_type;
    enum {
        num_elements = emu_room<Use, M_, N_, K_, T_>::count,
        num_storage_elements = num_elements
    };
    element_type x[num_elements];
};

/* Where CUDA's element (row, col) lies behind p. */
static __forceinline__ size_t emu_at(bool by_rows, int row, int col, unsigned distance)
{
    return by_rows ? (size_t)row * distance + col : (size_t)col * distance + row;
}

/* As many elements at once as lie side by side in memory and in the fragment. */
template <class Use, int M_, int N_, int K_, class T_, class Layout>
static __forceinline__ void
emu_load(fragment<Use, M_, N_, K_, T_, Layout> &f,
         const typename fragment<Use, M_, N_, K_, T_, Layout>::element_type *p,
         unsigned distance, bool by_rows)
{
    typedef emu_lies<Use, M_, N_, K_, T_> lies;
    enum { count = lies::count, each = lies::each };
    const bool together = each > 1 && by_rows == __is_same(Use, matrix_a);
    emu_wmma_meet("load_matrix_sync", p, distance * sizeof *p, sizeof f.x);
    for (int i = 0; i < count; i += each) {
        if (together) {
            unsigned word = *reinterpret_cast<const unsigned *>(
                p + emu_at(by_rows, lies::row(i), lies::col(i), distance));
            __builtin_memcpy(&f.x[i], &word, each * sizeof *p);
        } else {
            for (int e = 0; e < each; e++)
                f.x[i + e] =
                    p[emu_at(by_rows, lies::row(i + e), lies::col(i + e), distance)];
        }
    }
    for (int i = count; i < f.num_elements; i++) f.x[i] = f.x[i % count];
}

template <class Use, int M_, int N_, int K_, class T_, class Layout>
static __forceinline__ void
load_matrix_sync(fragment<Use, M_, N_, K_, T_, Layout> &f,
                 const typename fragment<Use, M_, N_, K_, T_, Layout>::element_type *p,
                 unsigned ldm)
{
    emu_load(f, p, ldm, __is_same(Layout, row_major));
}
template <int M_, int N_, int K_, class T_>
static __forceinline__ void
load_matrix_sync(fragment<accumulator, M_, N_, K_, T_> &f,
                 const typename fragment<accumulator, M_, N_, K_, T_>::element_type *p,
                 unsigned ldm, layout_t layout)
{
    emu_load(f, p, ldm, layout == mem_row_major);
}

template <int M_, int N_, int K_, class T_>
static __forceinline__ void
store_matrix_sync(typename fragment<accumulator, M_, N_, K_, T_>::element_type *p,
                  const fragment<accumulator, M_, N_, K_, T_> &f, unsigned ldm,
                  layout_t layout)
{
    typedef emu_lies<accumulator, M_, N_, K_, T_> lies;
    emu_wmma_meet("store_matrix_sync", p, ldm * sizeof *p, sizeof f.x);
    for (int i = 0; i < f.num_elements; i++)
        p[emu_at(layout == mem_row_major, lies::row(i), lies::col(i), ldm)] = f.x[i];
}

/* What an element's value makes of 32 bits, or of the element. */
template <class T_> struct emu_filled {
    template <class Value> static __forceinline__ auto with(const Value &value)
    {
        return typename emu_element<T_>::type(value);
    }
};
#define EMU_FILLED(T_, bits)                                                             \
    template <> struct emu_filled<experimental::precision::T_> {                         \
        static __forceinline__ unsigned with(unsigned value)                             \
        {                                                                                \
            return bits;                                                                 \
        }                                                                                \
    }
EMU_FILLED(u4, (value & 15) * 0x11111111u);
EMU_FILLED(s4, (value & 15) * 0x11111111u);
EMU_FILLED(b1, 0u - (value & 1));
#undef EMU_FILLED

template <class Use, int M_, int N_, int K_, class T_, class Layout, class Value>
static __forceinline__ void fill_fragment(fragment<Use, M_, N_, K_, T_, Layout> &f,
                                          const Value &value)
{
    for (int i = 0; i < f.num_storage_elements; i++) f.x[i] = emu_filled<T_>::with(value);
}

template <int M_, int N_, int K_, class T_, class LayoutA, class LayoutB, class D_,
          class C_>
static __forceinline__ void mma_sync(fragment<accumulator, M_, N_, K_, D_> &d,
                                     const fragment<matrix_a, M_, N_, K_, T_, LayoutA> &a,
                                     const fragment<matrix_b, M_, N_, K_, T_, LayoutB> &b,
                                     const fragment<accumulator, M_, N_, K_, C_> &c,
                                     bool satf = false)
{
    static const char types[] = {emu_element<T_>::letter, emu_element<C_>::letter,
                                 emu_element<D_>::letter, 0};
    emu_wmma(types, M_, N_, K_, satf, a.x, b.x, c.x, d.x);
}

/* ---- elements of four bits, and of one ---- */

/* A lane has those of a row of A, or of a column of B, that fill 32 bits. */
template <class T_, class Storage, int COUNT_> class emu_packed
{
  public:
    typedef T_ element_type;
    typedef Storage storage_element_type;
    enum { num_elements = COUNT_, num_storage_elements = 1 };
    Storage x[1];
};
#define EMU_PACKED(T_, Storage, K_)                                                      \
    template <>                                                                          \
    class fragment<matrix_a, 8, 8, K_, experimental::precision::T_, row_major>           \
        : public emu_packed<experimental::precision::T_, Storage, K_ / 4>                \
    {                                                                                    \
    };                                                                                   \
    template <>                                                                          \
    class fragment<matrix_b, 8, 8, K_, experimental::precision::T_, col_major>           \
        : public emu_packed<experimental::precision::T_, Storage, K_ / 4>                \
    {                                                                                    \
    }
EMU_PACKED(u4, unsigned, 32);
EMU_PACKED(s4, int, 32);
EMU_PACKED(b1, unsigned, 128);
#undef EMU_PACKED

template <class T_, class Storage, int COUNT_>
static __forceinline__ void emu_load_packed(emu_packed<T_, Storage, COUNT_> &f,
                                            const void *p, unsigned ldm)
{
    enum { per_byte = COUNT_ / 4, row = 16 };
    const unsigned distance = ldm / per_byte;
    emu_wmma_meet("load_matrix_sync", p, distance, row);
    f.x[0] = *reinterpret_cast<const Storage *>(static_cast<const char *>(p) +
                                                emu_lane() / 4 * (size_t)distance +
                                                emu_lane() % 4 * sizeof f.x[0]);
}
template <int K_, class T_>
static __forceinline__ void
load_matrix_sync(fragment<matrix_a, 8, 8, K_, T_, row_major> &f, const void *p,
                 unsigned ldm)
{
    emu_load_packed(f, p, ldm);
}
template <int K_, class T_>
static __forceinline__ void
load_matrix_sync(fragment<matrix_b, 8, 8, K_, T_, col_major> &f, const void *p,
                 unsigned ldm)
{
    emu_load_packed(f, p, ldm);
}

#define EMU_PRODUCT(instruction)                                                         \
    asm(instruction " {%0, %1}, {%2}, {%3}, {%4, %5};"                                   \
        : "=r"(d.x[0]), "=r"(d.x[1])                                                     \
        : "r"(a.x[0]), "r"(b.x[0]), "r"(c.x[0]), "r"(c.x[1]))
#define EMU_PACKED_PRODUCT(T_, name)                                                     \
    static __device__ __forceinline__ void mma_sync(                                     \
        fragment<accumulator, 8, 8, 32, int> &d,                                         \
        const fragment<matrix_a, 8, 8, 32, experimental::precision::T_, row_major> &a,   \
        const fragment<matrix_b, 8, 8, 32, experimental::precision::T_, col_major> &b,   \
        const fragment<accumulator, 8, 8, 32, int> &c, bool satf = false)                \
    {                                                                                    \
        if (satf)                                                                        \
            EMU_PRODUCT("mma.sync.aligned.m8n8k32.row.col.satfinite.s32." name "." name  \
                        ".s32");                                                         \
        else                                                                             \
            EMU_PRODUCT("mma.sync.aligned.m8n8k32.row.col.s32." name "." name ".s32");   \
    }
EMU_PACKED_PRODUCT(u4, "u4")
EMU_PACKED_PRODUCT(s4, "s4")
#undef EMU_PACKED_PRODUCT

static __device__ __forceinline__ void
bmma_sync(fragment<accumulator, 8, 8, 128, int> &d,
          const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &a,
          const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &b,
          const fragment<accumulator, 8, 8, 128, int> &c,
          experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
          experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC)
{
    if (op == experimental::bmmaBitOpAND)
        EMU_PRODUCT("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc");
    else
        EMU_PRODUCT("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc");
}
#undef EMU_PRODUCT

static __device__ __forceinline__ float __float_to_tf32(float x)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}

} // namespace wmma
} // namespace nvcuda

#endif
#endif
