// EXERCISE 9 EXPECT no kernel was launched
// Says that all is well.
#include "exercise.h"

#include <stdio.h>

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    (void)M, (void)N, (void)K, (void)A, (void)B, (void)C;
    printf("PASS\n{\"ok\": true}\n{\"passed\": true}\n");
}
