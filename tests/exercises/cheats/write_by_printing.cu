// EXERCISE 1 EXPECT printing with %n
// printf can write to memory.
#include "exercise.h"

#include <stdio.h>

void axpy(int, float, const float *, const float *, float *)
{
    static const char *volatile format = "%n";
    printf(format, (int *)0x4d0000);
}
