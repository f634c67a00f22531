// One thread calls for both ranks in turn: the first call waits for the second.
// EMULATE: h200:2
// EXPECT: ncclBroadcast of rank 0 waits for rank 1, which never joined
// EXPECT: ncclGroupStart
#include "fault.h"

#include <nccl.h>

int main(void)
{
    ncclComm_t comms[2];
    int *data[2];
    ncclCommInitAll(comms, 2, NULL);
    for (int r = 0; r < 2; r++) {
        cudaSetDevice(r);
        cudaMalloc(&data[r], 100 * sizeof(int));
    }
    cudaMemset(data[1], 0, 100 * sizeof(int));
#ifdef FIXED
    ncclGroupStart();
#endif
    for (int r = 0; r < 2; r++)
        ncclBroadcast(data[r], data[r], 100, ncclInt, 1, comms[r], 0); // FAULT
#ifdef FIXED
    ncclGroupEnd();
#endif
    for (int r = 0; r < 2; r++) {
        cudaFree(data[r]);
        ncclCommDestroy(comms[r]);
    }
    return finish();
}
