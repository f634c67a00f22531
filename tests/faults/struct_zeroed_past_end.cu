// A large struct is set to zero behind the last one.
// EXPECT: out of bounds: a write of 4 bytes in global memory, 0 bytes past the end
// THREAD (3,0,0) BLOCK (0,0,0)
#include "fault.h"

struct row {
    int values[100];
};

__global__ void clear(row *rows, int n)
{
#ifndef FIXED
    n++;
#endif
    if ((int)threadIdx.x >= n) return;
    rows[threadIdx.x] = row(); // FAULT
}

int main(void)
{
    const int n = 3;
    row *rows;
    cudaMalloc(&rows, n * sizeof *rows);
    clear<<<1, 32>>>(rows, n);
    int status = finish();
    cudaFree(rows);
    return status;
}
