// A product of tensor cores is carried out by a warp, and the block has half of one.
// EXPECT: is carried out by all 32 lanes of a warp, and here are 0x0000ffff
#include "fault.h"

#include <mma.h>

using namespace nvcuda;

#ifdef FIXED
const int THREADS = 32;
#else
const int THREADS = 16;
#endif

__global__ void twice(float *out)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(a, __float2half(1.0f));
    wmma::fill_fragment(b, __float2half(2.0f));
    wmma::fill_fragment(sum, 0.0f);
    wmma::mma_sync(sum, a, b, sum); // FAULT
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

int main(void)
{
    float *out;
    cudaMalloc(&out, 256 * sizeof *out);
    twice<<<1, THREADS>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
