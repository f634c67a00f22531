// EXERCISE 1 EXPECT The compiler
// Ten lines that become a hundred billion.
#include "exercise.h"
#define A x = x + 1, x = x + 1, x = x + 1, x = x + 1, x = x + 1, x = x + 1, x = x + 1
#define B A, A, A, A, A, A, A, A, A, A
#define C B, B, B, B, B, B, B, B, B, B
#define D C, C, C, C, C, C, C, C, C, C
#define E D, D, D, D, D, D, D, D, D, D
#define F E, E, E, E, E, E, E, E, E, E
#define G F, F, F, F, F, F, F, F, F, F
int f(int x)
{
    return G, G, G, G, G, G;
}
