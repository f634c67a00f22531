// EXERCISE 1 EXPECT `fork` is called
// Digit separators hide what is between them from a reader that takes them for quotes.
#include "exercise.h"

extern "C" int fork();

void axpy(int, float, const float *, const float *, float *)
{
    int a = 1'0; fork(); int b = 1'0;
    (void)a, (void)b;
}
