// The tensor map lies in global memory, behind 16 bytes of something else.
// EXPECT: misaligned address: a tensor map lies at a multiple of 64 bytes
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

#ifdef FIXED
const int BEFORE = 64;
#else
const int BEFORE = 16;
#endif

__device__ __align__(64) char place[BEFORE + sizeof(CUtensorMap)];

__global__ void keep(const CUtensorMap map)
{
    const char *from = (const char *)&map;
    for (unsigned i = 0; i < sizeof map; i++) place[BEFORE + i] = from[i];
}

__global__ void copy(float *out)
{
    __shared__ __align__(128) float tile[BOX * BOX];
    __shared__ uint64_t full;
    const CUtensorMap *map = (const CUtensorMap *)(const void *)&place[BEFORE];
    if (threadIdx.x == 0) {
        announce_box(&full);
        cp_async_bulk_tensor_2d(tile, map, 0, 0, &full); // FAULT
    }
    write_box(tile, &full, out);
}

int main(void)
{
    float *from, *to;
    CUDA_CHECK(cudaMalloc(&from, BOX * BOX * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&to, BOX * BOX * sizeof(float)));
    CUDA_CHECK(cudaMemset(from, 0, BOX * BOX * sizeof(float)));
    keep<<<1, 1>>>(tensor_map_2d(from, BOX, BOX, BOX, BOX, BOX));
    copy<<<1, 32 * WARPS>>>(to);
    const int status = finish();
    CUDA_CHECK(cudaFree(from));
    CUDA_CHECK(cudaFree(to));
    return status;
}
