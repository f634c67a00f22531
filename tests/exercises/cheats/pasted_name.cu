// EXERCISE 4 EXPECT pasted together
// A forbidden name, in two halves.
#include "exercise.h"

#define JOIN(a, b) a##b

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    (void)M, (void)N, (void)K, (void)A, (void)B, (void)C;
    JOIN(ex, it)(0);
}
