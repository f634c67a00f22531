// EXERCISE 1 EXPECT nested depth
// Includes itself, twice.
#include __FILE__
#include __FILE__
