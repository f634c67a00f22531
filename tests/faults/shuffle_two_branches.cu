// Both branches shuffle with the full mask, but it is not one shuffle.
// EXPECT: warp divergence: lane 0 waits in __shfl_xor_sync here while lane 1 waits in __shfl_xor_sync at
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void swap(int *data)
{
    const int t = threadIdx.x;
    int v = data[t];
#ifdef FIXED
    v = __shfl_xor_sync(0xffffffffu, v, 1);
    data[t] = t % 2 ? v : -v;
#else
    if (t % 2 == 0) {
        data[t] = 5;
        v = __shfl_xor_sync(0xffffffffu, v, 1); // FAULT
        data[t] -= v;
    } else {
        data[t] = 7;
        v = __shfl_xor_sync(0xffffffffu, v, 1); // OTHER
        data[t] *= v;
    }
#endif
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 32 * sizeof *data);
    cudaMemset(data, 0, 32 * sizeof *data);
    swap<<<1, 32>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
