// A launch that may begin before the one ahead of it has ended clears what that one still
// reads, and waits for it only then.
// EXPECT: the kernel launched before this one read it at
// EXPECT: griddepcontrol.wait
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void sum(const int *data, int n, int *total)
{
    int all = 0;
    asm volatile("griddepcontrol.launch_dependents;");
    for (int i = 0; i < n; i++) all += data[i]; // OTHER
    *total = all;
}

__global__ void clear(int *data, const int *total, int *out)
{
#ifdef FIXED
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    data[threadIdx.x] = 0; // FAULT
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[threadIdx.x] = *total;
}

int main(void)
{
    const int n = 100;
    int *data, *total, *out;
    cudaMalloc(&data, n * sizeof *data);
    cudaMalloc(&total, sizeof *total);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemset(data, 1, n * sizeof *data);
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = dim3(1);
    how.blockDim = dim3(n);
    how.attrs = &early;
    how.numAttrs = 1;
    sum<<<1, 1>>>(data, n, total);
    cudaLaunchKernelEx(&how, clear, data, (const int *)total, out);
    const int status = finish();
    cudaFree(data);
    cudaFree(total);
    cudaFree(out);
    return status;
}
