// EXERCISE 1 EXPECT where no code is
// Writes over its own return address.
#include "exercise.h"

void axpy(int, float, const float *, const float *, float *)
{
    volatile unsigned long *frame = (volatile unsigned long *)__builtin_frame_address(0);
    for (int i = 0; i < 8; ++i) frame[i] = 0x401000;
}
