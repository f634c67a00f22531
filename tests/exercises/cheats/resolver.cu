// EXERCISE 1 EXPECT A fault
// A function that the loader calls before anything else.
#include "exercise.h"

extern "C" void harmless()
{
}
extern "C" void (*resolve())()
{
    *(volatile int *)0x402000 = 1;
    return harmless;
}
extern "C" void chosen() __attribute__((ifunc("resolve")));

void axpy(int, float, const float *, const float *, float *)
{
    chosen();
}
