// EXERCISE 9 EXPECT where this code has no memory
// Has memcpy, which is not the student's, write where the student may not.
#include "exercise.h"

#include <string.h>

void matmul(int, int, int, const float *, const float *, float *)
{
    static char zeros[1 << 16];
    memcpy((void *)&threadIdx, zeros, sizeof zeros);
}
