/* <math.h>, without what kernels do not use: since C++17 libstdc++'s <cmath> brings the
 * special functions (Bessel, Legendre, ...), 10,000 lines that take a compiler as long as
 * all the rest of these headers. Who includes <cmath> gets them: see the file cmath. */
#ifndef EMULATOR_MATH_H
#define EMULATOR_MATH_H

#ifdef _GLIBCXX_BITS_SPECFUN_H
#include <math.h>
#else
#define _GLIBCXX_BITS_SPECFUN_H 1
#include <math.h>
#undef _GLIBCXX_BITS_SPECFUN_H
#endif

#endif
