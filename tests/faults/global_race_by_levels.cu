// A search by levels bears either value of what it reads, and no barrier mends it: it
// has to say so.
// EXPECT: data race in global memory
// EXPECT: If either value will do, make both accesses atomic or volatile
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

#ifdef FIXED
typedef volatile unsigned number;
#else
typedef unsigned number;
#endif

enum { NODES = 64, EDGES = 4 };

__global__ void visit(number *level, unsigned now)
{
    const unsigned v = threadIdx.x;
    if (level[v] != now - 1) return; // FAULT
    for (int e = 0; e < EDGES; e++) {
        const unsigned neighbor = (2 * v + e) % NODES;
        if (level[neighbor] == ~0u) level[neighbor] = now; // OTHER
    }
}

int main(void)
{
    unsigned *level;
    cudaMalloc(&level, NODES * sizeof *level);
    cudaMemset(level, 0xff, NODES * sizeof *level);
    cudaMemset(level, 0, sizeof *level);
    for (unsigned now = 1; now < 7; now++) visit<<<1, NODES>>>(level, now);
    int status = finish();
    cudaFree(level);
    return status;
}
