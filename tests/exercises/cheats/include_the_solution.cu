// EXERCISE 4 EXPECT No such file
// Lets the compiler fetch the answer.
#include "04_tile/solution.cu"
