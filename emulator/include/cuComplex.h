/* Complex numbers as CUDA's libraries take them: a float2 or a double2, real part first. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_types.h"

#ifdef __CUDACC__
#define EMU_COMPLEX static __inline__ __host__ __device__
#else
#define EMU_COMPLEX static __inline__ __attribute__((unused))
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* Everything for one precision; `f` ends the names of floats. A division and an absolute
 * value scale first, so that only a result that does not fit its type overflows. */
#define EMU_COMPLEX_FUNCTIONS(C_, R_, make, f, hypotenuse)                               \
    EMU_COMPLEX R_ cuCreal##f(C_ z)                                                      \
    {                                                                                    \
        return z.x;                                                                      \
    }                                                                                    \
    EMU_COMPLEX R_ cuCimag##f(C_ z)                                                      \
    {                                                                                    \
        return z.y;                                                                      \
    }                                                                                    \
    EMU_COMPLEX C_ make(R_ x, R_ y)                                                      \
    {                                                                                    \
        C_ z;                                                                            \
        z.x = x;                                                                         \
        z.y = y;                                                                         \
        return z;                                                                        \
    }                                                                                    \
    EMU_COMPLEX C_ cuConj##f(C_ z)                                                       \
    {                                                                                    \
        return make(z.x, -z.y);                                                          \
    }                                                                                    \
    EMU_COMPLEX C_ cuCadd##f(C_ a, C_ b)                                                 \
    {                                                                                    \
        return make(a.x + b.x, a.y + b.y);                                               \
    }                                                                                    \
    EMU_COMPLEX C_ cuCsub##f(C_ a, C_ b)                                                 \
    {                                                                                    \
        return make(a.x - b.x, a.y - b.y);                                               \
    }                                                                                    \
    EMU_COMPLEX C_ cuCmul##f(C_ a, C_ b)                                                 \
    {                                                                                    \
        return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                       \
    }                                                                                    \
    EMU_COMPLEX C_ cuCfma##f(C_ a, C_ b, C_ c)                                           \
    {                                                                                    \
        return cuCadd##f(cuCmul##f(a, b), c);                                            \
    }                                                                                    \
    EMU_COMPLEX C_ cuCdiv##f(C_ a, C_ b)                                                 \
    {                                                                                    \
        const R_ scale = (b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y);                \
        const R_ p = a.x / scale, q = a.y / scale, r = b.x / scale, s = b.y / scale;     \
        const R_ square = r * r + s * s;                                                 \
        return make((p * r + q * s) / square, (q * r - p * s) / square);                 \
    }                                                                                    \
    EMU_COMPLEX R_ cuCabs##f(C_ z)                                                       \
    {                                                                                    \
        return hypotenuse(z.x, z.y);                                                     \
    }
EMU_COMPLEX_FUNCTIONS(cuFloatComplex, float, make_cuFloatComplex, f, hypotf)
EMU_COMPLEX_FUNCTIONS(cuDoubleComplex, double, make_cuDoubleComplex, , hypot)
#undef EMU_COMPLEX_FUNCTIONS

EMU_COMPLEX cuComplex make_cuComplex(float x, float y)
{
    return make_cuFloatComplex(x, y);
}
EMU_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z)
{
    return make_cuDoubleComplex((double)z.x, (double)z.y);
}
EMU_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
    return make_cuFloatComplex((float)z.x, (float)z.y);
}
#undef EMU_COMPLEX

#endif
