// Rows of the wrong length lead far behind the one array, where another lies in most
// programs: the message names the one that the index was for, by the name that the program
// has told NVTX.
// EXPECT: 61440 bytes past the end of A, 8 x 512 (allocated at
// THREAD (0,1,0) BLOCK (0,0,0)
#include "fault.h"
#include <nvtx3/nvToolsExt.h>

const int ROWS = 8, DEPTH = 512, COLS = 19456;

__global__ void first_of_rows(const float *A, const float *B, float *C)
{
    const int row = threadIdx.y;
#ifdef FIXED
    C[row] = A[row * DEPTH] * B[row];
#else
    C[row] = A[row * COLS] * B[row]; // FAULT
#endif
}

static void name(const void *p, const char *text)
{
    nvtxResourceAttributes_t about = {};
    about.version = NVTX_VERSION;
    about.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    about.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
    about.identifier.pValue = p;
    about.messageType = NVTX_MESSAGE_TYPE_ASCII;
    about.message.ascii = text;
    nvtxDomainResourceCreate(NULL, &about);
}

static float *zeros(size_t count)
{
    float *p;
    cudaMalloc(&p, count * sizeof *p);
    cudaMemset(p, 0, count * sizeof *p);
    return p;
}

int main(void)
{
    float *A = zeros(ROWS * DEPTH), *B = zeros(DEPTH * COLS), *C = zeros(ROWS);
    name(A, "A, 8 x 512");
    name(B, "B, 512 x 19456");
    first_of_rows<<<1, dim3(1, ROWS)>>>(A, B, C);
    const int status = finish();
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
    return status;
}
