// EXERCISE 1 EXPECT `fopen64` is called
// What a list of names forgets.
#include "exercise.h"

#include <stdio.h>

extern "C" FILE *fopen64(const char *, const char *);

void axpy(int, float, const float *, const float *, float *)
{
    fopen64("/tmp/grades.csv", "a");
}
