// EXERCISE 9 EXPECT ended before its work is done
// Leaves before anyone looks.
#include "exercise.h"

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    (void)M, (void)N, (void)K, (void)A, (void)B, (void)C;
    exit(0);
}
