// A launch that may begin before the one ahead of it has ended reads what that one writes,
// and one thread of a warp has waited for it: the others have not.
// EXPECT: the kernel launched before this one wrote it at
// EXPECT: griddepcontrol.wait
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(int *data)
{
    cudaTriggerProgrammaticLaunchCompletion();
    data[threadIdx.x] = 7; // OTHER
}

__global__ void twice(const int *data, int *out)
{
    const int i = threadIdx.x;
#ifdef FIXED
    cudaGridDependencySynchronize();
#else
    if (i == 0) cudaGridDependencySynchronize();
#endif
    out[i] = 2 * data[i]; // FAULT
}

int main(void)
{
    const int n = 100;
    int *data, *out;
    cudaMalloc(&data, n * sizeof *data);
    cudaMalloc(&out, n * sizeof *out);
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = dim3(1);
    how.blockDim = dim3(n);
    how.attrs = &early;
    how.numAttrs = 1;
    fill<<<1, n>>>(data);
    cudaLaunchKernelEx(&how, twice, (const int *)data, out);
    const int status = finish();
    cudaFree(data);
    cudaFree(out);
    return status;
}
