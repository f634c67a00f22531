// EXERCISE 9 EXPECT `cudaMemcpy` is called
// The same by an assembler's name.
#include "exercise.h"

extern "C" int copy(void *, const void *, size_t, int) __asm__("cudaMemcpy");

void matmul(int, int, int, const float *, const float *B, float *C)
{
    copy(C, B, 4, 3);
}
