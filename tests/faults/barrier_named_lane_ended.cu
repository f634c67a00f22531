// A lane returns before a barrier with a number, which the hardware lets pass: it counts
// warps, of those who are left.
// EXPECT: barrier divergence: barrier 1 waits for 64 threads, 63 have come
// BLOCK (0,0,0)
#include "fault.h"

__global__ void shift(int *data)
{
    __shared__ int box[96];
    const int t = threadIdx.x;
#ifndef FIXED
    if (t == 95) return;
#endif
    box[t] = data[t];
    // The last two warps of three.
    if (t < 32) return;
    asm volatile("bar.sync 1, 64;" ::: "memory"); // FAULT
    data[t] = box[32 + (t + 1) % 63];
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 96 * sizeof *data);
    cudaMemset(data, 0, 96 * sizeof *data);
    shift<<<1, 96>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
