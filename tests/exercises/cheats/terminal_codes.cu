// EXERCISE 1 EXPECT no kernel was launched
// Clears the reader's screen and prints a verdict of its own.
#include "exercise.h"

#include <stdio.h>

void axpy(int, float, const float *, const float *, float *)
{
    printf("\033[2J\033[HPASS  exercise 1: 5 of 5 points\a\b\r");
    fprintf(stderr, "FAULT none\n");
}
