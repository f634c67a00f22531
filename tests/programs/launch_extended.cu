// BUILD: -lcuda -arch=sm_90
// The driver's launch with attributes; a tensor map of a kind that a GPU may refuse.
#include <cooperative_groups.h>
#include <cuda.h>

#include "check.h"

#define DO(call) EXPECT((call) == CUDA_SUCCESS)

__global__ void ranks(unsigned *out)
{
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) out[blockIdx.x] = cluster.block_rank() * 100 + blockDim.x;
}

__global__ void in_the_whole_grid(unsigned *out)
{
    out[blockIdx.x] = blockIdx.x + 1;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0)
        for (unsigned i = 1; i < gridDim.x; i++) out[0] += out[i];
}

int main(void)
{
    unsigned *out, got[6];
    CHECK(cudaMalloc(&out, sizeof got));
    cudaFunction_t function;
    CHECK(cudaGetFuncBySymbol(&function, (const void *)ranks));
    void *arguments[] = {&out};
    CUlaunchAttribute attributes[2] = {};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim.x = 2;
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    CUlaunchConfig config = {};
    config.gridDimX = 6;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32;
    config.blockDimY = config.blockDimZ = 1;
    config.attrs = attributes;
    config.numAttrs = 2;
    DO(cuLaunchKernelEx(&config, (CUfunction)function, arguments, NULL));
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDefault));
    for (unsigned i = 0; i < 6; i++) EXPECT(got[i] == i % 2 * 100 + 32);

    attributes[0].value.clusterDim.x = 4; /* which does not divide 6 */
    EXPECT(cuLaunchKernelEx(&config, (CUfunction)function, arguments, NULL) !=
           CUDA_SUCCESS);
    (void)cudaGetLastError();

    CHECK(cudaGetFuncBySymbol(&function, (const void *)in_the_whole_grid));
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[0].value.cooperative = 1;
    config.blockDimX = config.numAttrs = 1;
    DO(cuLaunchKernelEx(&config, (CUfunction)function, arguments, NULL));
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDefault));
    EXPECT(got[0] == 21);

    alignas(64) CUtensorMap map;
    const cuuint64_t size[] = {128, 64}, stride[] = {128};
    const cuuint32_t box[] = {32, 16}, step[] = {1, 1};
    EXPECT(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, out, size, NULL,
                                  box, step, (CUtensorMapInterleave)3,
                                  CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS);
    DO(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, out, size, stride,
                              box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                              CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    CHECK(cudaFree(out));
    return pass();
}
