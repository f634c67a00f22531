// EXERCISE 35 EXPECT no stream or event that CUDA has created
// A stream that nothing has created: the runtime would believe what it finds there.
#include "exercise.h"

void axpy_on_two(int, float, const float *, const float *, float *, float *)
{
    static char mine[4096];
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventRecord(event, (cudaStream_t)mine);
}
