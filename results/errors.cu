// How large are the errors? Lines for results/errors.csv (make errors):
//
//     errors schemes    sums made in several ways, over K; the emulator's numbers are a
//                       Hopper GPU's, bit for bit
//     errors families [SIDE [LONGEST K]]    chapter 18 beside cuBLAS, for eight kinds of
//                       inputs, every 16th row and column of 4,096; the emulator computes
//                       those of chapter 18 and no others: rms, most and hash are the same
//
// An error is |computed - exact| / (|A| |B|), element by element: rms is the root mean
// square of these, most the largest. Exact is a sum in double.
#define main main_of_chapter
#include "matmul.cu"
#undef main

#include <cublas_v2.h>
#include <cuda_bf16.h>

/* ---- inputs, from whole numbers, so that they are the same on every machine ---- */

enum family {
    NORMAL,
    SIGNED,
    FROM_0_TO_1,
    SPREAD_20,
    SPREAD_40,
    HUGE_ROW,
    CANCELLING,
    UNITS
};
static const char *const FAMILIES[] = {
    "normal",           "uniform (-1 1)", "uniform (0 1)", "spread over 2^20",
    "spread over 2^40", "one huge row",   "cancelling",    "each k in its own unit",
};
enum { FAMILY_COUNT = sizeof FAMILIES / sizeof *FAMILIES };

// One step of SplitMix64, as in common/problem.c.
static __device__ unsigned long long random_of(unsigned long long i)
{
    unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static __device__ float value_of(enum family family, unsigned long long i)
{
    const unsigned long long r = random_of(i);
    const float u = ((float)(unsigned)(r >> 40) + 0.5f) * 0x1p-24f; // in (0, 1)
    const float sign = r & 1 ? -1.0f : 1.0f;
    int sum = 0;
    switch (family) {
    case NORMAL: // very nearly: the sum of twelve uniform numbers
        for (int n = 0; n < 12; ++n)
            sum += (int)(random_of(i * 12 + n) >> 40) - (1 << 23);
        return (float)sum * 0x1p-24f;
    case FROM_0_TO_1: return u;
    case SPREAD_20: return sign * ldexpf(1.0f + u, (int)(r >> 8 & 0xffff) % 20 - 10);
    case SPREAD_40: return sign * ldexpf(1.0f + u, (int)(r >> 8 & 0xffff) % 40 - 20);
    default: return 2.0f * u - 1.0f;
    }
}

// Every step-th row of A (which = 0, rows x K), or every step-th column of B (which = 1,
// K x cols).
static __global__ void fill(enum family family, int which, int rows, int cols, int step,
                            float *x)
{
    const size_t count = (size_t)rows * cols;
    const unsigned long long seed = (unsigned long long)(which + 1) << 40;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        const int row = (int)(i / cols), col = (int)(i % cols), k = which ? row : col;
        const int width = which ? cols * step : cols; // of the whole matrix
        const unsigned long long at =
            seed + (which ? (unsigned long long)row * width + col * step
                          : (unsigned long long)row * step * width + col);
        float v = value_of(family, at);
        if (family == HUGE_ROW && !which && row * step == 16) v *= 0x1p100f;
        if (family == UNITS)
            v *= ldexpf(1.0f, (which ? -1 : 1) * ((int)(random_of(k) >> 40) % 41 - 20));
        // Pairs of k that nearly cancel: the same in A, the opposite in B.
        if (family == CANCELLING && k % 2 && which)
            v = v * 0x1p-20f - value_of(family, at - width);
        if (family == CANCELLING && k % 2 && !which) v = value_of(family, at - 1);
        x[i] = v;
    }
}

/* ---- exact sums ---- */

// Of every row_step-th row and col_step-th column.
static __global__ void exact(int N, int K, int cols, int row_step, int col_step,
                             const float *A, const float *B, double *want, double *size)
{
    const int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols) return;
    double sum = 0.0, most = 0.0;
    for (int k = 0; k < K; ++k) {
        const double p = (double)A[(size_t)i * row_step * K + k] *
                         B[(size_t)k * N + (size_t)j * col_step];
        sum += p;
        most += fabs(p);
    }
    want[(size_t)i * cols + j] = sum;
    size[(size_t)i * cols + j] = most;
}

struct error {
    double rms, most;
};

static struct error error_of(const float *C, int N, int rows, int cols, int row_step,
                             int col_step, const double *want, const double *size)
{
    struct error e = {0.0, 0.0};
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j) {
            const double got = C[(size_t)i * row_step * N + (size_t)j * col_step];
            const double x =
                fabs(got - want[(size_t)i * cols + j]) / size[(size_t)i * cols + j];
            e.rms += x * x;
            e.most = fmax(e.most, x);
        }
    e.rms = sqrt(e.rms / rows / cols);
    return e;
}

static void *device(size_t bytes)
{
    void *memory;
    CUDA_CHECK(cudaMalloc(&memory, bytes));
    return memory;
}

static void *host(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory) return memory;
    fprintf(stderr, "the host has no memory left\n");
    exit(3);
}

/* ---- schemes: a warp makes a tile of 16 x 8, straight from global memory ---- */

enum scheme { FP32, FP16_X3, FP16_X3_64, TF32_X3, BF16_X6_64, FP16, SCHEMES };
static const char *const SCHEME_NAMES[] = {
    "fp32",      "fp16 x 3 in the core", "fp16 x 3", "tf32 x 3 in the core", "bf16 x 6",
    "fp16 once",
};

static __device__ void mma_f16(float (&d)[4], const unsigned (&a)[4],
                               const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ void mma_bf16(float (&d)[4], const unsigned (&a)[4],
                                const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ void mma_tf32(float (&d)[4], const unsigned (&a)[4],
                                const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ float to_tf32(float x)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}

// Part `part` of x, of a split into fp16 (2 parts, scaled by 2^11 each) or bf16 (3).
static __device__ unsigned part16(float x, int part, bool bf16)
{
    for (int p = 0;; ++p) {
        const float head = bf16 ? __bfloat162float(__float2bfloat16_rn(x))
                                : __half2float(__float2half_rn(x));
        if (p == part)
            return bf16 ? __bfloat16_as_ushort(__float2bfloat16_rn(x))
                        : __half_as_ushort(__float2half_rn(x));
        x = (x - head) * (bf16 ? 1.0f : 2048.0f);
    }
}

// PTX ISA, matrix fragments for mma.m16n8k16 and m16n8k8.
static __global__ void tile(enum scheme scheme, int N, int K, const float *A,
                            const float *B, float *C)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    const float *a = &A[(size_t)blockIdx.y * 16 * K], *b = &B[blockIdx.x * 8];
    float sum[4] = {0.0f}, core[4] = {0.0f}, low[4] = {0.0f};
    const bool bf16 = scheme == BF16_X6_64;
    // Pairs of parts of A and B, the small ones first.
    const int pairs[6][2] = {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
    for (int k0 = 0; k0 < K; k0 += 64) {
        for (int i = 0; i < 4 && scheme == FP32; ++i)
            for (int k = k0; k < k0 + 64; ++k)
                sum[i] = fmaf(a[(size_t)(g + i / 2 * 8) * K + k],
                              b[(size_t)k * N + 2 * t + i % 2], sum[i]);
        for (int k = k0; k < k0 + 64 && scheme == TF32_X3; k += 8)
            for (int pair = 3; pair < 6; ++pair) {
                unsigned x[4], y[2];
                for (int r = 0; r < 6; ++r) {
                    const float v =
                        r < 4 ? a[(size_t)(g + r % 2 * 8) * K + k + t + r / 2 * 4]
                              : b[(size_t)(k + t + (r - 4) * 4) * N + g];
                    const float head = to_tf32(v), rest = to_tf32(v - head);
                    const unsigned bits =
                        __float_as_uint(pairs[pair][r >= 4] ? rest : head);
                    (r < 4 ? x[r] : y[r - 4]) = bits;
                }
                mma_tf32(core, x, y);
            }
        const int first = bf16 ? 0 : scheme == FP16 ? 5 : 3;
        for (int pair = first; pair < 6 && scheme != FP32 && scheme != TF32_X3; ++pair)
            for (int k = k0; k < k0 + 64; k += 16) {
                unsigned x[4] = {0}, y[2] = {0};
                for (int r = 0; r < 12; ++r) {
                    const int half = r % 2, n = r / 2;
                    const float v =
                        n < 4 ? a[(size_t)(g + n % 2 * 8) * K + k + 2 * t + n / 2 * 8 +
                                  half]
                              : b[(size_t)(k + 2 * t + (n - 4) * 8 + half) * N + g];
                    // Scaled as in split.cuh, but for the common largest of 4 or so.
                    (n < 4 ? x[n] : y[n - 4]) |=
                        part16(bf16 ? v : v * 0x1p12f, pairs[pair][n >= 4], bf16)
                        << 16 * half;
                }
                if (bf16)
                    mma_bf16(core, x, y);
                else
                    mma_f16(pair < 5 ? low : core, x, y);
            }
        if (scheme == FP16_X3_64 || scheme == BF16_X6_64)
            for (int i = 0; i < 4; ++i) {
                sum[i] += core[i];
                core[i] = 0.0f;
            }
    }
    for (int i = 0; i < 4; ++i) {
        float c = sum[i] + core[i] + low[i] / 2048.0f;
        if (scheme == FP16 || scheme == FP16_X3 || scheme == FP16_X3_64) c *= 0x1p-24f;
        C[(size_t)(blockIdx.y * 16 + g + i / 2 * 8) * N + blockIdx.x * 8 + 2 * t +
          i % 2] = c;
    }
}

static void schemes(int longest)
{
    enum { M = 64, N = 64 };
    printf("inputs,K,scheme,rms,most\n");
    for (int K = 64; K <= longest; K *= 4)
        for (int family = 0; family < FAMILY_COUNT; ++family) {
            if (family != NORMAL && family != FROM_0_TO_1) continue;
            float *A = (float *)device((size_t)M * K * 4),
                  *C = (float *)device(M * N * 4);
            float *B = (float *)device((size_t)K * N * 4), c[M * N];
            double *want = (double *)device(M * N * 16), w[2 * M * N];
            fill<<<64, 64>>>((enum family)family, 0, M, K, 1, A);
            fill<<<64, 64>>>((enum family)family, 1, K, N, 1, B);
            exact<<<dim3(1, M), N>>>(N, K, N, 1, 1, A, B, want, want + M * N);
            CUDA_CHECK(cudaMemcpy(w, want, sizeof w, cudaMemcpyDeviceToHost));
            for (int s = 0; s < SCHEMES; ++s) {
                tile<<<dim3(N / 8, M / 16), 32>>>((enum scheme)s, N, K, A, B, C);
                CUDA_CHECK(cudaMemcpy(c, C, sizeof c, cudaMemcpyDeviceToHost));
                const struct error e = error_of(c, N, M, N, 1, 1, w, w + M * N);
                printf("%s,%d,%s,%.4g,%.4g\n", FAMILIES[family], K, SCHEME_NAMES[s],
                       e.rms, e.most);
                fflush(stdout);
            }
            CUDA_CHECK(cudaFree(A));
            CUDA_CHECK(cudaFree(B));
            CUDA_CHECK(cudaFree(C));
            CUDA_CHECK(cudaFree(want));
        }
}

/* ---- families: the chapter and cuBLAS ---- */

static cublasHandle_t handle;

static void cublas(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &alpha, B, N, A, K, &beta, C,
                N);
}

// The median of five, in milliseconds.
static double milliseconds(matmul_launcher *launcher, int M, int N, int K, const float *A,
                           const float *B, float *C)
{
    cudaEvent_t begin, end;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    float ms[5];
    for (int i = 0; i < 5; ++i) {
        CUDA_CHECK(cudaEventRecord(begin));
        launcher(M, N, K, 1.0f, A, B, 0.0f, C);
        CUDA_CHECK(cudaEventRecord(end));
        CUDA_CHECK(cudaEventSynchronize(end));
        CUDA_CHECK(cudaEventElapsedTime(&ms[i], begin, end));
        for (int at = i; at > 0 && ms[at] < ms[at - 1]; --at) {
            const float swap = ms[at];
            ms[at] = ms[at - 1];
            ms[at - 1] = swap;
        }
    }
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    return ms[2];
}

static void families(int side, int longest)
{
    const int samples = side < 256 ? side : 256, step = side / samples;
#ifdef __CUDA_EMULATED__
    // A result depends on a row and a column, and on no other (but which tiles are unfit):
    // the samples alone, dealt to two SMs so that they are for the tensor cores too.
    const int n = samples, of_matrix = step, of_result = 1, programs = 1;
    sms = 2;
#else
    const int n = side, of_matrix = 1, of_result = step, programs = 2;
#endif
    struct {
        const char *name;
        matmul_launcher *launcher;
    } who[] = {{"chapter 18", matmul}, {"cuBLAS", cublas}};
    float *c = (float *)host((size_t)n * n * 4);
    double *w = (double *)host(16 * (size_t)samples * samples);
    double *want = (double *)device(16 * (size_t)samples * samples);
    cublasCreate(&handle);
    printf("M,N,K,inputs,who,ms,rms,most,hash\n");
    for (int K = 256; K <= longest; K *= 4)
        for (int family = 0; family < FAMILY_COUNT; ++family) {
            float *A = (float *)device((size_t)n * K * 4);
            float *B = (float *)device((size_t)K * n * 4);
            float *C = (float *)device((size_t)n * n * 4);
            fill<<<512, 256>>>((enum family)family, 0, n, K, of_matrix, A);
            fill<<<512, 256>>>((enum family)family, 1, K, n, of_matrix, B);
            exact<<<dim3((samples - 1) / 64 + 1, samples), 64>>>(
                n, K, samples, of_result, of_result, A, B, want,
                want + samples * samples);
            CUDA_CHECK(cudaMemcpy(w, want, 16 * (size_t)samples * samples,
                                  cudaMemcpyDeviceToHost));
            for (int i = 0; i < programs; ++i) {
#ifdef __CUDA_EMULATED__
                who[i].launcher(n, n, K, 1.0f, A, B, 0.0f, C);
                const double ms = 0.0;
#else
                const double ms = milliseconds(who[i].launcher, n, n, K, A, B, C);
#endif
                CUDA_CHECK(cudaMemcpy(c, C, (size_t)n * n * 4, cudaMemcpyDeviceToHost));
                const struct error e = error_of(c, n, samples, samples, of_result,
                                                of_result, w, w + samples * samples);
                unsigned hash = 0, bits; // of the samples
                for (int row = 0; row < samples; ++row)
                    for (int col = 0; col < samples; ++col) {
                        memcpy(&bits, &c[((size_t)row * n + col) * of_result], 4);
                        hash = hash * 31 + bits;
                    }
                printf("%d,%d,%d,%s,%s,%.4g,%.4g,%.4g,%08x\n", side, side, K,
                       FAMILIES[family], who[i].name, ms, e.rms, e.most, hash);
                fflush(stdout);
            }
            CUDA_CHECK(cudaFree(A));
            CUDA_CHECK(cudaFree(B));
            CUDA_CHECK(cudaFree(C));
        }
    cublasDestroy(handle);
    CUDA_CHECK(cudaFree(want));
    free(c);
    free(w);
}

int main(int argc, char **argv)
{
    const int number = argc > 2 ? atoi(argv[2]) : 0;
    const int longest = argc > 3 ? atoi(argv[3]) : 65536;
    if (argc > 1 && strcmp(argv[1], "schemes") == 0) {
        schemes(number ? number : 65536);
    } else if (argc > 1 && strcmp(argv[1], "families") == 0) {
        families(number ? number : 4096, longest);
    } else {
        fprintf(stderr,
                "errors schemes [LONGEST K], or errors families [SIDE [LONGEST K]]\n");
        return 2;
    }
    return 0;
}
