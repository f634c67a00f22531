// nvcuda::wmma with elements of four bits, and of one.
#include "ptx.h"

#include <mma.h>

using namespace nvcuda;
namespace four = wmma::experimental::precision;

static __device__ unsigned element(int matrix, int i, int j, unsigned bits)
{
    return (i * 7 + j * 5 + matrix * 3 + i * j + j / 3) & ((1u << bits) - 1);
}

// Rows of A, or columns of B, one after the other.
template <int K> static __device__ void fill(unsigned *to, int matrix, unsigned bits)
{
    for (int word = threadIdx.x; word < (int)(8 * K * bits / 32); word += 32) {
        const int each = 32 / bits, row = word / (K / each), first = word % (K / each);
        unsigned x = 0;
        for (int e = 0; e < each; e++)
            x |= element(matrix, row, first * each + e, bits) << (e * bits);
        to[word] = x;
    }
}

static __device__ int value(unsigned bits, bool is_signed)
{
    return is_signed && bits > 7 ? (int)bits - 16 : (int)bits;
}

template <class T> static __device__ void product_of_four(bool is_signed, bool saturate)
{
    __shared__ __align__(32) unsigned a[32], b[32];
    __shared__ __align__(32) int sums[64];
    fill<32>(a, 0, 4);
    fill<32>(b, 1, 4);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 8, 8, 32, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::fill_fragment(sum, 5);
    if (saturate)
        wmma::mma_sync(sum, fa, fb, sum, true);
    else
        wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(sums, sum, 8, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 64; i += 32) {
        int want = 5;
        for (int k = 0; k < 32; k++)
            want += value(element(0, i / 8, k, 4), is_signed) *
                    value(element(1, i % 8, k, 4), is_signed);
        IS((unsigned)sums[i], (unsigned)want);
    }
    wmma::fill_fragment(fa, 3);
    IS((unsigned)fa.x[0], 0x33333333u);
    IS((unsigned)fa.num_elements, 8u);
    IS((unsigned)fa.num_storage_elements, 1u);
    __syncwarp();
}

static __device__ void product_of_one(bool both)
{
    __shared__ __align__(32) unsigned a[32], b[32];
    __shared__ __align__(32) int sums[64];
    fill<128>(a, 0, 1);
    fill<128>(b, 1, 1);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 8, 8, 128, four::b1, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, four::b1, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
    wmma::load_matrix_sync(fa, a, 128);
    wmma::load_matrix_sync(fb, b, 128);
    wmma::fill_fragment(sum, 1);
    if (both)
        wmma::bmma_sync(sum, fa, fb, sum, wmma::experimental::bmmaBitOpAND);
    else
        wmma::bmma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(sums, sum, 8, wmma::mem_col_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 64; i += 32) {
        unsigned want = 1;
        for (int k = 0; k < 128; k++) {
            const unsigned x = element(0, i % 8, k, 1), y = element(1, i / 8, k, 1);
            want += both ? x & y : x ^ y;
        }
        IS((unsigned)sums[i], want);
    }
    wmma::fill_fragment(fb, 1);
    IS(fb.x[0], 0xffffffffu);
    __syncwarp();
}

__global__ void types(void)
{
    product_of_four<four::u4>(false, false);
    product_of_four<four::s4>(true, false);
    product_of_four<four::s4>(true, true);
    product_of_one(false);
    product_of_one(true);
}

int main(void)
{
    types<<<1, 32>>>();
    return verdict();
}
