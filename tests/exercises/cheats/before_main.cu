// EXERCISE 9 EXPECT exception handling disabled
// Ends the program before its work begins.
#include "exercise.h"

struct first {
    first()
    {
        throw 0;
    }
};
static first now;

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    (void)M, (void)N, (void)K, (void)A, (void)B, (void)C;
}
