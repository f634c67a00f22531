// EXERCISE 1 EXPECT where no code is
// Calls an address in the grader's program.
#include "exercise.h"

void axpy(int, float, const float *, const float *, float *)
{
    ((void (*)(int))0x401000)(0);
}
