// nvcuda::wmma with the types that came after the half: bfloat16, tf32, double.
#include "ptx.h"

#include <mma.h>

using namespace nvcuda;

static __device__ int element(int matrix, int i, int j)
{
    return (i * 7 + j * 5 + matrix * 3 + i * j + (i + j) / 8 * 3 + j / 3) % 8;
}

template <int M, int N, int K, class T, class E, class Sum>
static __device__ void product(E *a, E *b, Sum *c)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    for (int i = threadIdx.x; i < M * K; i += 32)
        a[i] = (E)(float)element(0, i / K, i % K);
    for (int i = threadIdx.x; i < N * K; i += 32)
        b[i] = (E)(float)element(1, i % K, i / K);
    __syncwarp();
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::fill_fragment(sum, (Sum)3);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < M * N; i += 32) {
        int want = 3;
        for (int k = 0; k < K; k++) want += element(0, i / N, k) * element(1, k, i % N);
        IS((unsigned)c[i], (unsigned)want);
    }
    __syncwarp();
}

__global__ void types(void)
{
    __shared__ __align__(32) __nv_bfloat16 a[512], b[512];
    __shared__ __align__(32) float a_wide[512], b_wide[512], sums[256];
    __shared__ __align__(32) double a64[32], b64[32], sums64[64];
    product<16, 16, 16, __nv_bfloat16>(a, b, sums);
    product<32, 8, 16, __nv_bfloat16>(a, b, sums);
    product<8, 32, 16, __nv_bfloat16>(a, b, sums);
    product<16, 16, 8, wmma::precision::tf32>(a_wide, b_wide, sums);
    product<8, 8, 4, double>(a64, b64, sums64);
    IS(bits(wmma::__float_to_tf32(1.00048828125f)), 0x3f802000);
}

int main(void)
{
    types<<<1, 32>>>();
    return verdict();
}
