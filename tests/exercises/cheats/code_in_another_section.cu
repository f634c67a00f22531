// EXERCISE 1 EXPECT where no code is
// Code where the loader looks for what to run first.
#include "exercise.h"

extern "C" __attribute__((section(".init"), used, noinline)) void first()
{
    *(volatile int *)0x402000 = 1;
}

void axpy(int, float, const float *, const float *, float *)
{
    first();
}
