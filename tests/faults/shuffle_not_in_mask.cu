// A lane takes part in a vote whose mask leaves it out.
// EXPECT: __ballot_sync: the calling lane 16 is not in its own mask 0x0000ffff
// THREAD (16,0,0) BLOCK (0,0,0)
#include "fault.h"

#ifdef FIXED
#define MASK 0xffffffffu
#else
#define MASK 0x0000ffffu
#endif

__global__ void vote(unsigned *out)
{
    unsigned votes = __ballot_sync(MASK, threadIdx.x % 3 == 0); // FAULT
    out[threadIdx.x] = votes;
}

int main(void)
{
    unsigned *out;
    cudaMalloc(&out, 32 * sizeof *out);
    vote<<<1, 32>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
