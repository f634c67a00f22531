// A barrier of all blocks, made by hand: those that have come wait for one that the GPU has
// no room for, as every block takes a multiprocessor for itself.
// EXPECT: 8 blocks have not begun, as no more fit on the GPU at once
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void meet(unsigned *come)
{
    extern __shared__ char room[];
    if (threadIdx.x == 0) {
        room[0] = 1;
        atomicAdd(come, 1);
        while (atomicAdd(come, 0) < gridDim.x) continue; // FAULT
    }
    __syncthreads();
}

int main(void)
{
    const int room = 160 << 10;
    int multiprocessors;
    unsigned *come;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, room);
    cudaMalloc(&come, sizeof *come);
    cudaMemset(come, 0, sizeof *come);
#ifdef FIXED
    meet<<<multiprocessors, 32, room>>>(come);
#else
    meet<<<multiprocessors + 8, 32, room>>>(come);
#endif
    const int status = finish();
    cudaFree(come);
    return status;
}
