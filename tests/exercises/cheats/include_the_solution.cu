// EXERCISE 9 EXPECT No such file
// Lets the compiler fetch the answer.
#include "09_tile/solution.cu"
