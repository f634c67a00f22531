/* <math.h>, without what kernels do not use: since C++17 libstdc++'s <cmath> brings the
 * special functions (Bessel, Legendre, ...), 10,000 lines that take a compiler as long as
 * all the rest of these headers. Who includes <cmath> gets them: see the file cmath. And
 * how these headers write functions. */
#ifndef EMULATOR_MATH_H
#define EMULATOR_MATH_H

#ifdef _GLIBCXX_BITS_SPECFUN_H
#include <math.h>
#else
#define _GLIBCXX_BITS_SPECFUN_H 1
#include <math.h>
#undef _GLIBCXX_BITS_SPECFUN_H
#endif

#define EMU_FN static __forceinline__
/* A function that is one expression. */
#define EMU_IS(T_, name, parameters, ...)                                                \
    EMU_FN T_ name parameters                                                            \
    {                                                                                    \
        return __VA_ARGS__;                                                              \
    }

#endif
