// Warps that ask for more registers, and others that give none back.
// EXPECT: setmaxnreg: the threads of this block ask for 80896 registers
#include "fault.h"

__global__ void __launch_bounds__(384) kernel(int *out)
{
#if defined __CUDA_ARCH_FEAT_SM90_ALL || defined __CUDA_EMULATED__
    if (threadIdx.x >= 128) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;"); // FAULT
#ifdef FIXED
    if (threadIdx.x < 128) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
#endif
    out[threadIdx.x] = 1;
}

int main(void)
{
    int *out;
    cudaMalloc(&out, 384 * sizeof *out);
    kernel<<<1, 384>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
