// EXERCISE 28 EXPECT Of inline PTX there is what the exercises use
// A store that the lens would count, and that no exercise needs.
#include "exercise.h"

__global__ void kernel(float *C)
{
    asm volatile("st.global.f32 [%0], %1;" ::"l"(C), "f"(1.0f) : "memory");
}

void matmul_halves(int, int, int, const __half *, const __half *, float *C)
{
    kernel<<<1, 1>>>(C);
}
