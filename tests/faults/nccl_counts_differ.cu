// The ranks do not agree on how much each of them brings.
// EMULATE: h200:2
// EXPECT: ranks disagree: rank 0 calls ncclAllGather of 100 elements
// EXPECT: and rank 1 calls ncclAllGather of 99 here
#include "fault.h"

#include <nccl.h>

int main(void)
{
    ncclComm_t comms[2];
    int *mine[2], *all[2];
    ncclCommInitAll(comms, 2, NULL);
    ncclGroupStart();
    for (int r = 0; r < 2; r++) {
        cudaSetDevice(r);
        cudaMalloc(&mine[r], 100 * sizeof(int));
        cudaMalloc(&all[r], 200 * sizeof(int));
        cudaMemset(mine[r], 0, 100 * sizeof(int));
#ifdef FIXED
        const int count = 100;
#else
        const int count = 100 - r;
#endif
        ncclAllGather(mine[r], all[r], count, ncclInt, comms[r], 0); // FAULT
    }
    ncclGroupEnd();
    for (int r = 0; r < 2; r++) {
        cudaFree(mine[r]);
        cudaFree(all[r]);
        ncclCommDestroy(comms[r]);
    }
    return finish();
}
