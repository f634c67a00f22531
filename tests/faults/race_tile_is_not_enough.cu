// A tile of 8 lanes waits for its own, and its last lane reads what the next tile wrote.
// EXPECT: data race in shared memory
// THREAD (7,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cooperative_groups.h>

namespace groups = cooperative_groups;

__global__ void shift(int *data)
{
    __shared__ int s[32];
    const groups::thread_block block = groups::this_thread_block();
#ifdef FIXED
    const groups::thread_block_tile<32> tile = groups::tiled_partition<32>(block);
#else
    const groups::thread_block_tile<8> tile = groups::tiled_partition<8>(block);
#endif
    const int lane = threadIdx.x;
    s[lane] = data[lane]; // OTHER
    tile.sync();
    if (lane < 31) data[lane] = s[lane + 1]; // FAULT
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 32 * sizeof *data);
    cudaMemset(data, 0, 32 * sizeof *data);
    shift<<<1, 32>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
