// A collective that one of three ranks does not join.
// EMULATE: h200:3
// EXPECT: ncclAllReduce of rank 0 waits for rank 2, which never joined
#include "fault.h"

#include <nccl.h>

enum { RANKS = 3, COUNT = 100 };

int main(void)
{
    ncclComm_t comms[RANKS];
    float *data[RANKS];
    ncclCommInitAll(comms, RANKS, NULL);
    for (int r = 0; r < RANKS; r++) {
        cudaSetDevice(r);
        cudaMalloc(&data[r], COUNT * sizeof(float));
        cudaMemset(data[r], 0, COUNT * sizeof(float));
    }
#ifdef FIXED
    const int last = RANKS;
#else
    const int last = RANKS - 1;
#endif
    ncclGroupStart();
    for (int r = 0; r < last; r++)
        ncclAllReduce(data[r], data[r], COUNT, ncclFloat, ncclSum, comms[r], 0); // FAULT
    ncclGroupEnd();
    for (int r = 0; r < RANKS; r++) {
        cudaFree(data[r]);
        ncclCommDestroy(comms[r]);
    }
    return finish();
}
