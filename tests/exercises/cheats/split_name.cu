// EXERCISE 4 EXPECT split over two lines
// A forbidden name, over two lines.
#include "exercise.h"

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    (void)M, (void)N, (void)K, (void)A, (void)B, (void)C;
    ex\
it(0);
}
