/* The mathematics that CUDA has and the C library lacks. All the rest (sinf, exp, fmaf
 * ...) is the C library's. */
#ifndef MATH_FUNCTIONS_H
#define MATH_FUNCTIONS_H

#ifdef __cplusplus

#include "emulator_math.h"
#include <stdlib.h>

#include "host_defines.h"

/* ---- min and max, for every pair of types that CUDA has them for ---- */

#define EMU_MIN_MAX(A_, B_, T_)                                                          \
    EMU_FN T_ min(A_ a, B_ b)                                                            \
    {                                                                                    \
        return (T_)b < (T_)a ? (T_)b : (T_)a;                                            \
    }                                                                                    \
    EMU_FN T_ max(A_ a, B_ b)                                                            \
    {                                                                                    \
        return (T_)a < (T_)b ? (T_)b : (T_)a;                                            \
    }
EMU_MIN_MAX(int, int, int)
EMU_MIN_MAX(int, unsigned int, unsigned int)
EMU_MIN_MAX(unsigned int, int, unsigned int)
EMU_MIN_MAX(unsigned int, unsigned int, unsigned int)
EMU_MIN_MAX(long, long, long)
EMU_MIN_MAX(long, unsigned long, unsigned long)
EMU_MIN_MAX(unsigned long, long, unsigned long)
EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMU_MIN_MAX(long long, long long, long long)
EMU_MIN_MAX(long long, unsigned long long, unsigned long long)
EMU_MIN_MAX(unsigned long long, long long, unsigned long long)
EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef EMU_MIN_MAX

/* Of a number and a NaN the number. */
EMU_IS(float, min, (float a, float b), fminf(a, b))
EMU_IS(float, max, (float a, float b), fmaxf(a, b))
EMU_IS(double, min, (double a, double b), fmin(a, b))
EMU_IS(double, max, (double a, double b), fmax(a, b))
EMU_IS(double, min, (float a, double b), fmin((double)a, b))
EMU_IS(double, max, (float a, double b), fmax((double)a, b))
EMU_IS(double, min, (double a, float b), fmin(a, (double)b))
EMU_IS(double, max, (double a, float b), fmax(a, (double)b))
EMU_IS(long long, llmin, (long long a, long long b), b < a ? b : a)
EMU_IS(long long, llmax, (long long a, long long b), b > a ? b : a)
EMU_IS(unsigned long long, ullmin, (unsigned long long a, unsigned long long b),
       b < a ? b : a)
EMU_IS(unsigned long long, ullmax, (unsigned long long a, unsigned long long b),
       b > a ? b : a)
EMU_IS(unsigned int, umin, (unsigned int a, unsigned int b), b < a ? b : a)
EMU_IS(unsigned int, umax, (unsigned int a, unsigned int b), a < b ? b : a)

/* ---- functions ---- */

/* glibc has got these two groups itself, in 2.41 and 2.42. */
#if !(defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 41))
/* Reduced to half a turn around 0 first, so that whole and half turns come out exact. */
EMU_FN double sinpi(double x)
{
    double turn = x - 2.0 * rint(0.5 * x); /* -1 .. 1 */
    if (fabs(turn) == 1.0) return copysign(0.0, x);
    if (fabs(turn) > 0.5) turn = copysign(1.0, turn) - turn;
    return sin(M_PI * turn);
}
EMU_FN double cospi(double x)
{
    double turn = fabs(x - 2.0 * rint(0.5 * x)); /* 0 .. 1 */
    return turn == 0.5 ? 0.0 : turn < 0.5 ? cos(M_PI * turn) : -cos(M_PI * (1.0 - turn));
}
EMU_IS(float, sinpif, (float x), (float)sinpi((double)x))
EMU_IS(float, cospif, (float x), (float)cospi((double)x))
#endif
#if !(defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 42))
EMU_IS(double, rsqrt, (double x), 1.0 / sqrt(x))
EMU_IS(float, rsqrtf, (float x), (float)(1.0 / sqrt((double)x)))
#endif
EMU_FN void sincospi(double x, double *sine, double *cosine)
{
    *sine = sinpi(x);
    *cosine = cospi(x);
}
EMU_FN void sincospif(float x, float *sine, float *cosine)
{
    *sine = sinpif(x);
    *cosine = cospif(x);
}
EMU_IS(float, fdividef, (float x, float y), x / y)
EMU_IS(double, rcbrt, (double x), 1.0 / cbrt(x))
EMU_IS(float, rcbrtf, (float x), (float)(1.0 / cbrt((double)x)))
EMU_IS(double, rhypot, (double x, double y), 1.0 / hypot(x, y))
EMU_IS(float, rhypotf, (float x, float y), (float)(1.0 / hypot((double)x, (double)y)))
EMU_IS(double, norm3d, (double x, double y, double z), hypot(hypot(x, y), z))
EMU_IS(float, norm3df, (float x, float y, float z), (float)norm3d(x, y, z))
EMU_IS(double, rnorm3d, (double x, double y, double z), 1.0 / norm3d(x, y, z))
EMU_IS(float, rnorm3df, (float x, float y, float z), (float)(1.0 / norm3d(x, y, z)))
/* A first guess (Abramowitz and Stegun, 26.2.22), and Halley's method from there. */
EMU_FN double erfcinv(double x)
{
    if (!(x > 0.0 && x < 2.0)) return x == 0.0 ? INFINITY : x == 2.0 ? -INFINITY : NAN;
    if (x == 1.0) return 0.0;
    const double sign = x > 1.0 ? -1.0 : 1.0;
    if (x > 1.0) x = 2.0 - x;
    const double t = sqrt(-2.0 * log(0.5 * x));
    double y =
        M_SQRT1_2 * (t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t)));
    for (int i = 0; i < 4; i++) {
        const double error = erfc(y) - x;
        y += error / (M_2_SQRTPI * exp(-y * y) - y * error);
    }
    return sign * y;
}
EMU_IS(float, erfcinvf, (float x), (float)erfcinv((double)x))
EMU_FN double erfinv(double x)
{
    if (fabs(x) > 0.5) return x > 0.0 ? erfcinv(1.0 - x) : -erfcinv(1.0 + x);
    double y = x / M_2_SQRTPI;
    for (int i = 0; i < 4; i++) {
        const double error = erf(y) - x;
        y -= error / (M_2_SQRTPI * exp(-y * y) + y * error);
    }
    return y;
}
EMU_IS(float, erfinvf, (float x), (float)erfinv((double)x))
EMU_IS(double, normcdfinv, (double x), 0.0 - erfcinv(2.0 * x) * M_SQRT2)
EMU_IS(float, normcdfinvf, (float x), (float)normcdfinv((double)x))
EMU_IS(double, normcdf, (double x), 0.5 * erfc(-x * M_SQRT1_2))
EMU_IS(float, normcdff, (float x), (float)normcdf((double)x))

EMU_IS(double, norm4d, (double x, double y, double z, double w),
       hypot(hypot(x, y), hypot(z, w)))
EMU_IS(float, norm4df, (float x, float y, float z, float w), (float)norm4d(x, y, z, w))
EMU_IS(double, rnorm4d, (double x, double y, double z, double w),
       1.0 / norm4d(x, y, z, w))
EMU_IS(float, rnorm4df, (float x, float y, float z, float w),
       (float)(1.0 / norm4d(x, y, z, w)))
EMU_FN double norm(int count, const double *x)
{
    double length = 0.0;
    for (int i = 0; i < count; i++) length = hypot(length, x[i]);
    return length;
}
EMU_FN float normf(int count, const float *x)
{
    double length = 0.0;
    for (int i = 0; i < count; i++) length = hypot(length, (double)x[i]);
    return (float)length;
}
EMU_IS(double, rnorm, (int count, const double *x), 1.0 / norm(count, x))
EMU_FN float rnormf(int count, const float *x)
{
    double length = 0.0;
    for (int i = 0; i < count; i++) length = hypot(length, (double)x[i]);
    return (float)(1.0 / length);
}
/* The modified Bessel functions of order 0 and 1, as power series, all of whose terms have
 * one sign. */
EMU_FN double emu_bessel_i(int order, double x)
{
    double term = 1.0, sum = 1.0;
    for (int k = 1; term > sum * 1e-18; k++) {
        term *= x / 2.0 * (x / 2.0) / ((double)k * (k + order));
        sum += term;
    }
    return order ? x / 2.0 * sum : sum;
}
EMU_IS(double, cyl_bessel_i0, (double x), emu_bessel_i(0, x))
EMU_IS(double, cyl_bessel_i1, (double x), emu_bessel_i(1, x))
EMU_IS(float, cyl_bessel_i0f, (float x), (float)emu_bessel_i(0, x))
EMU_IS(float, cyl_bessel_i1f, (float x), (float)emu_bessel_i(1, x))
/* exp(x^2) erfc(x): far out, where erfc(x) is too small, as a series (Abramowitz and
 * Stegun, 7.1.23). The square's rounding error counts where it is large. */
EMU_FN double erfcx(double x)
{
    if (x < -27.0) return INFINITY;
    if (x < 10.0) {
        const double square = x * x;
        return exp(square) * (1.0 + fma(x, x, -square)) * erfc(x);
    }
    double sum = 1.0, term = 1.0;
    for (int i = 1; i < 16; i++) sum += term *= -(2 * i - 1) * 0.5 / x / x;
    return 0.5 * M_2_SQRTPI / x * sum;
}
EMU_IS(float, erfcxf, (float x), (float)erfcx((double)x))

#endif
#endif
