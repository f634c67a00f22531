// EXERCISE 1 EXPECT The compiler
// Keeps the compiler busy.
#include "exercise.h"

template <int A, int B> struct grow {
    static const int value = grow<A - 1, B>::value + grow<A, B - 1>::value +
                             grow<A - 1, B - 1>::value;
};
template <int B> struct grow<0, B> {
    static const int value = 1;
};
template <int A> struct grow<A, 0> {
    static const int value = 1;
};
int large = grow<850, 850>::value;
