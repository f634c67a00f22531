// Two blocks send a row each to the same place.
// EXPECT: data race in global memory
// EXPECT: of block (0,0,0) wrote it
// EXPECT: thread (0,0,0) of this one writes it here
#include "../../common/hopper.h"

#include "fault.h"

const int COLS = 64;

__global__ void number_rows(float *out)
{
    __shared__ __align__(128) float row[COLS];
    row[threadIdx.x] = (float)blockIdx.x;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x > 0) return;
#ifdef FIXED
    out += blockIdx.x * COLS;
#endif
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" // FAULT
                 ::"l"(out),
                 "r"(shared_address(row)), "r"((int)sizeof row)
                 : "memory");
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();
}

int main(void)
{
    float *out;
    cudaMalloc(&out, 2 * COLS * sizeof *out);
    number_rows<<<2, COLS>>>(out);
    const int status = finish();
    cudaFree(out);
    return status;
}
