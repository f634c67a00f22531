// Warps that give registers back, and others that ask for more than are left.
// EXPECT: setmaxnreg: the threads of this block ask for 66560 registers
#include "fault.h"

#ifdef FIXED
#define MORE 232
#else
#define MORE 240
#endif
#define AS_TEXT(x) #x
#define SET_MORE(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 " AS_TEXT(n) ";")

__global__ void __launch_bounds__(384) kernel(int *out)
{
#if defined __CUDA_ARCH_FEAT_SM90_ALL || defined __CUDA_EMULATED__
    if (threadIdx.x < 128)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else
        SET_MORE(MORE); // FAULT
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
