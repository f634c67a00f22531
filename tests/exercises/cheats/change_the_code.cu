// EXERCISE 1 EXPECT where this code has no memory
// Writes instructions of its own over its own.
#include "exercise.h"

void axpy(int, float, const float *, const float *, float *)
{
    volatile unsigned char *code = (volatile unsigned char *)&axpy;
    code[0] = 0x0f;
    code[1] = 0x05;
}
