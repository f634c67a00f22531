// A kernel's memset counts bytes where the array has fewer.
// EXPECT: out of bounds: a write of 4 bytes in global memory, 0 bytes past the end of rows, the 64 bytes
// THREAD (3,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cstring>

#ifdef FIXED
#define BYTES (4 * sizeof *rows)
#else
#define BYTES (5 * sizeof *rows)
#endif

__global__ void clear(int *rows)
{
    std::memset(rows + 4 * threadIdx.x, 0, BYTES); // FAULT
}

int main(void)
{
    int *rows;
    cudaMalloc(&rows, 16 * sizeof *rows);
    clear<<<1, 4>>>(rows);
    const int status = finish();
    cudaFree(rows);
    return status;
}
