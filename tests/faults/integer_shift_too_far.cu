// A mask with a bit for each lower lane, made by shifting the others out: for lane 0 these
// are all. A GPU gives 0 then, as was meant; an x86 processor shifts by 0 bits.
// EXPECT: integer overflow: a shift by 32, and 'unsigned int' has 32 bits
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void masks(unsigned *out)
{
    const unsigned lane = threadIdx.x;
#ifdef FIXED
    out[lane] = (unsigned)(0xffffffffull >> (32 - lane));
#else
    out[lane] = 0xffffffffu >> (32 - lane); // FAULT
#endif
}

int main(void)
{
    unsigned *out;
    cudaMalloc(&out, 32 * sizeof *out);
    masks<<<1, 32>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
