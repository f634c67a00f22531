// The mathematical functions and intrinsics of device code, against the host's.
#include "check.h"

__global__ void floats(float x, float *out)
{
    int i = 0;
    out[i++] = sinf(x) + cosf(x) * tanf(x);
    out[i++] = __sinf(x) + __cosf(x);
    out[i++] = expf(x) + exp2f(x) + __expf(x);
    out[i++] = logf(x) + log2f(x) + __logf(x) + log10f(x);
    out[i++] = sqrtf(x) + rsqrtf(x) + cbrtf(x);
    out[i++] = powf(x, 1.5f) + __powf(x, 0.5f);
    out[i++] = fmaf(x, 2.0f, 1.0f) + __fmaf_rn(x, 2.0f, 1.0f) + __fdividef(x, 3.0f);
    out[i++] = fminf(x, 0.5f) + fmaxf(x, 0.5f) + fabsf(-x) + copysignf(x, -1.0f);
    out[i++] = floorf(x) + ceilf(x) + truncf(-x) + roundf(x) + rintf(x) + fmodf(x, 0.4f);
    out[i++] = erff(x) + erfcf(x) + tgammaf(x) + lgammaf(x);
    out[i++] = atan2f(x, 2.0f) + asinf(x / 2) + acosf(x / 2) + __tanhf(x) + sinhf(x) +
               hypotf(x, 1.0f);
    out[i++] = __fadd_rn(x, 1.0f) * __fmul_rn(x, x) - __fsub_rn(x, 1.0f) + __frcp_rn(x) +
               __fsqrt_rn(x);
    out[i++] = __int_as_float(__float_as_int(x) + 1) - x + __uint_as_float(0x3f800000u);
    out[i++] = (float)(__float2int_rn(x * 10) + __float2int_rz(-x * 10)) +
               __int2float_rn(3) + __saturatef(x);
    float s, c;
    sincosf(x, &s, &c);
    out[i++] = s * c + (isnan(x) ? 1.0f : 0.0f) + (isinf(x) ? 1.0f : 0.0f) +
               (signbit(x) ? 1.0f : 0.0f);
}

__global__ void doubles(double x, double *out)
{
    out[0] = sin(x) + cos(x) + exp(x) + log(x) + sqrt(x) + rsqrt(x) + pow(x, 1.5);
    out[1] =
        fma(x, 2.0, 1.0) + fmin(x, 0.5) + fmax(x, 0.5) + floor(x) + ceil(x) + fabs(-x);
    out[2] =
        __longlong_as_double(__double_as_longlong(x)) + (double)__double2int_rz(x * 10);
    out[3] = (double)(min(3, 4) + max(5u, 6u) + abs(-7)) + min(x, 0.25) + max(x, 9.0);
    out[4] = (double)__hiloint2double(__double2hiint(x), __double2loint(x)) + erf(x) +
             normcdf(0.0);
    out[5] = erfinv(erf(x)) + erfcinv(erfc(3 * x)) + normcdfinv(normcdf(-x));
}

// Where CUDA says exactly what comes out; with numbers that no compiler knows.
__global__ void exact(float minus_one, double one, double *out)
{
    out[0] = __powf(minus_one, 2.0f);
    out[1] = erfcinv(one);
    out[2] = normcdfinv(one / 2);
    out[3] = powf(minus_one, 2.0f);
    out[4] = erfcinvf((float)one) + normcdfinvf((float)one / 2);
}

int main(void)
{
    const double x = 0.7;
    const float xf = 0.7f;
    float *f;
    double *d;
    CHECK(cudaMallocManaged(&f, 15 * sizeof *f));
    CHECK(cudaMallocManaged(&d, 6 * sizeof *d));
    floats<<<1, 1>>>(xf, f);
    doubles<<<1, 1>>>(x, d);
    CHECK(cudaDeviceSynchronize());
    const double want[15] = {
        2 * sin(x),
        sin(x) + cos(x),
        2 * exp(x) + exp2(x),
        2 * log(x) + log2(x) + log10(x),
        sqrt(x) + 1 / sqrt(x) + cbrt(x),
        pow(x, 1.5) + sqrt(x),
        2 * (2 * x + 1) + x / 3,
        0.5 + x + x - x,
        0 + 1 - 0 + 1 + 1 + 0.3,
        1 + tgamma(x) + lgamma(x),
        atan2(x, 2) + asin(x / 2) + acos(x / 2) + tanh(x) + sinh(x) + hypot(x, 1),
        (x + 1) * x * x - (x - 1) + 1 / x + sqrt(x),
        1,
        0 + 3 + x,
        sin(x) * cos(x),
    };
    for (int i = 0; i < 15; i++) {
        if (!close_to(f[i], want[i], 1e-5))
            printf("%d: %.9g, not %.9g\n", i, f[i], want[i]);
        EXPECT(close_to(f[i], want[i], 1e-5));
    }
    EXPECT(close_to(
        d[0], sin(x) + cos(x) + exp(x) + log(x) + sqrt(x) + 1 / sqrt(x) + pow(x, 1.5),
        1e-14));
    EXPECT(close_to(d[1], 2 * x + 1 + 0.5 + x + 0 + 1 + x, 1e-14));
    EXPECT(close_to(d[2], x + 7, 1e-14) || close_to(d[2], x + 6, 1e-14));
    EXPECT(close_to(d[3], 3 + 6 + 7 + 0.25 + 9, 1e-14));
    EXPECT(close_to(d[4], x + erf(x) + 0.5, 1e-14));
    EXPECT(close_to(d[5], 3 * x, 1e-12));
    exact<<<1, 1>>>(-1.0f, 1.0, d);
    CHECK(cudaDeviceSynchronize());
    EXPECT(isnan(d[0]) && d[3] == 1 && d[4] == 0);
    EXPECT(d[1] == 0 && !signbit(d[1]) && d[2] == 0 && !signbit(d[2]));
    CHECK(cudaFree(f));
    CHECK(cudaFree(d));
    return pass();
}
