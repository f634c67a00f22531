/* A chapter whose product is right, in an order of summation that the environment variable
 * RULE names, or wrong in a way that it names: verification has to tell. Used by
 * test_common.py. RULE is one word, and what it is about:
 *
 *   reversed, pairwise, blocked, split, unfused, fold, start   right, in several orders
 *   compensated                  right, by Kahan's sum; always: infinite corrections too
 *   core S                       right as a tensor core is that takes S products at a time
 *   fp8, fp16, bf16, tf32, whole inputs, products, sums, results: kept in that format;
 *                                blocks: sums over blocks are; all: all of them
 *   cut-bf16, ...                the same, but truncated and not rounded
 *   A, B, C                      K, M, N, turned: rows as long as that; columns for rows
 *   lack, twice                  terms BEGIN END are missing, or there twice
 *   everything else              see below
 *
 * It asks for as many products of its own, all alike, as PRODUCTS says, or one.
 */
#include "matmul.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 5, COL = 7, TILE = 16, OWN_K = 23 };

struct rule {
    char word[16], about[16];
    int begin, end; // of the terms that are missing or there twice
};

static __device__ bool same(const char *a, const char *b)
{
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

static __device__ float cleared(float x, int bits) // the last bits of x set to 0
{
    return __uint_as_float(__float_as_uint(x) >> bits << bits);
}

static __device__ float narrow(float x, const char *format)
{
    if (same(format, "fp16")) return __half2float(__float2half(x));
    if (same(format, "bf16")) return __bfloat162float(__float2bfloat16(x));
    if (same(format, "tf32")) // to nearest, as cvt.rna.tf32 does
        return cleared(__uint_as_float(__float_as_uint(x) + 0x1000), 13);
    if (same(format, "whole")) return truncf(x);
    if (same(format, "fp8")) // e4m3's four bits, of any range
        return cleared(__uint_as_float(__float_as_uint(x) + 0x7ffff +
                                       (__float_as_uint(x) >> 20 & 1)),
                       20);
    if (same(format, "cut-bf16")) return cleared(x, 16);
    if (same(format, "cut-tf32")) return cleared(x, 13);
    return x;
}

// A value of one kind: rounded if the rule is about this kind.
static __device__ float kept(float x, const struct rule *rule, const char *kind)
{
    return same(rule->about, kind) || same(rule->about, "all") ? narrow(x, rule->word)
                                                               : x;
}

template <typename T> struct product_of {
    const T *a, *b;
    size_t a_step, b_step;
    float scale;
    const struct rule *rule;
};

template <typename T>
static __device__ float term(const product_of<T> *p, int k, float sum)
{
    const float a = kept(p->scale * (float)p->a[k * p->a_step], p->rule, "inputs");
    const float b = kept((float)p->b[k * p->b_step], p->rule, "inputs");
    if (same(p->rule->about, "products") || same(p->rule->about, "all"))
        return kept(sum + kept(a * b, p->rule, "products"), p->rule, "sums");
    if (same(p->rule->word, "no-small") && fabsf(a * b) < 1e-6f) return sum;
    if (same(p->rule->word, "no-NaN") && isnan(a * b)) return sum;
    if (same(p->rule->word, "no-zeros") && (a == 0.0f || b == 0.0f)) return sum;
    if (same(p->rule->word, "unfused")) return __fadd_rn(sum, __fmul_rn(a, b));
    if (same(p->rule->word, "cut-sums")) { // fp32, but never rounded up
        const double exact = (double)a * b + sum;
        const float near = (float)exact;
        return fabs(near) <= fabs(exact) ? near : nextafterf(near, 0.0f);
    }
    return kept(fmaf(a, b, sum), p->rule, "sums");
}

// As a tensor core does it, which takes `step` products at a time: every term is cut off
// 25 bits behind the point of the largest, and their sum is cut to fp32.
template <typename T>
static __device__ float core(const product_of<T> *p, int K, int step)
{
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += step) {
        double terms[17] = {sum}, exact = 0.0, largest = fabs(sum);
        for (int i = 1; i <= step && k0 + i <= K; ++i) {
            const int k = k0 + i - 1;
            terms[i] = (double)(float)p->a[k * p->a_step] * (float)p->b[k * p->b_step];
            largest = fmax(largest, fabs(terms[i]));
        }
        if (largest == 0.0) continue;
        const double unit = exp2(floor(log2(largest)) - 25.0);
        for (int i = 0; i <= step; ++i) exact += unit * trunc(terms[i] / unit);
        const float near = (float)exact;
        sum = fabs(near) <= fabs(exact) ? near : nextafterf(near, 0.0f);
    }
    return sum;
}

template <typename T>
static __device__ float pairwise(const product_of<T> *p, int begin, int end)
{
    if (end - begin == 1) return term(p, begin, 0.0f);
    const int half = begin + (end - begin) / 2;
    return pairwise(p, begin, half) + pairwise(p, half, end);
}

template <typename T>
static __device__ float add_up(const product_of<T> *p, int K, float sum)
{
    const struct rule *rule = p->rule;
    if (same(rule->word, "pairwise")) return pairwise(p, 0, K);
    if (same(rule->word, "core")) return core(p, K, rule->begin);
    if (same(rule->word, "reversed")) {
        for (int k = K - 1; k >= 0; --k) sum = term(p, k, sum);
        return sum;
    }
    if (same(rule->word, "compensated")) { // what a sum lost is taken from the next term
        float lost = 0.0f;
        for (int k = 0; k < K; ++k) {
            const float more = term(p, k, -lost), next = sum + more;
            lost = next - sum - more;
            if (!isfinite(lost) && !same(rule->about, "always")) lost = 0.0f;
            sum = next;
        }
        return sum;
    }
    if (same(rule->word, "split")) { // four sums that take turns
        float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int k = 0; k < K; ++k) part[k % 4] = term(p, k, part[k % 4]);
        return part[0] + part[1] + (part[2] + part[3]);
    }
    // In blocks, or all in one; the sum over a block may be kept narrow as well.
    const bool blocked = same(rule->word, "blocked") || same(rule->about, "blocks");
    const int block = blocked ? 16 : K;
    for (int k0 = 0; k0 < K; k0 += block) {
        float part = k0 ? 0.0f : sum;
        for (int k = k0; k < K && k < k0 + block; ++k) {
            const bool listed = k >= rule->begin && k < rule->end;
            if (listed && same(rule->word, "lack")) continue;
            part = term(p, k, part);
            if (listed && same(rule->word, "twice")) part = term(p, k, part);
        }
        sum = k0 ? sum + part : part;
        if (same(rule->about, "blocks")) sum = narrow(sum, rule->word);
    }
    return sum;
}

static __device__ size_t row_length(const struct rule *rule, const char *matrix, int M,
                                    int N, int K, int length)
{
    if (!same(rule->word, matrix)) return length;
    return rule->about[0] == 'M' ? M : rule->about[0] == 'N' ? N : K;
}

template <typename T>
__global__ void multiply(int M, int N, int K, float alpha, const T *A, const T *B,
                         float beta, T *C, struct rule rule)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * N) return;
    const int row = i / N, col = i % N;
    const bool fold = same(rule.word, "fold"), start = same(rule.word, "start");
    const bool turned = same(rule.about, "turned");
    product_of<T> p = {A + row * row_length(&rule, "A", M, N, K, K),
                       B + col,
                       1,
                       row_length(&rule, "B", M, N, K, N),
                       fold ? alpha : 1.0f,
                       &rule};
    if (turned && same(rule.word, "A")) {
        p.a = A + row;
        p.a_step = M;
    }
    if (turned && same(rule.word, "B")) {
        p.b = B + (size_t)col * K;
        p.b_step = 1;
    }
    T *c = C + row * row_length(&rule, "C", M, N, K, N) + col;
    if (turned && same(rule.word, "C")) c = C + (size_t)col * M + row;
    if (same(rule.word, "permuted")) // rows and columns of squares of 4 x 4
        c = C + (size_t)(row / 4 * 4 + col % 4) * N + (col / 4 * 4 + row % 4);

    float old = beta == 0.0f && !same(rule.word, "reads-C") ? 0.0f : (float)*c;
    if (same(rule.word, "mends-C")) old = isnan((float)*c) ? 0.0f : (float)*c;
    if (same(rule.word, "near-zero")) { // one of them is taken for 0
        float *const scale = same(rule.about, "alpha") ? &alpha : &beta;
        if (fabsf(*scale) < 1e-6f) *scale = 0.0f;
    }
    if (start) { // everything in units of alpha
        for (int k = 0; k < K; ++k)
            *c = T(fmaf(alpha * (float)p.a[k], (float)p.b[k * p.b_step],
                        k ? (float)*c : beta * old));
        return;
    }
    const float sum = add_up(&p, K, 0.0f);
    float result = fold ? sum + beta * old : alpha * sum + beta * old;
    if (same(rule.word, "alpha")) result = sum + beta * old;
    if (same(rule.word, "alpha-twice")) result = alpha * alpha * sum + beta * old;
    if (same(rule.word, "alpha-for-all")) result = alpha * (sum + beta * old);
    if (same(rule.word, "beta")) result = alpha * sum;
    if (same(rule.word, "beta-1")) result = alpha * sum + old;
    if (same(rule.word, "beta-minus")) result = alpha * sum - beta * old;
    if (same(rule.word, "exchanged")) result = beta * sum + alpha * old;
    if (same(rule.word, "minus")) result = beta * old - alpha * sum;
    *c = T(kept(result, &rule, "results"));
}

template <typename T>
__global__ void copy(int count, const T *from, T *to, struct rule rule)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = T(narrow((float)from[i], rule.word));
}

template <typename T> static __device__ void add(T *to, float x)
{
    *to = T((float)*to + x);
}

template <typename T>
__global__ void spoil(int M, int N, int K, const T *A, const T *B, T *C, struct rule rule)
{
    const size_t i = (size_t)ROW * N + COL;
    const char *word = rule.word;
    if (same(word, "nan")) C[i] = T(NAN);
    if (same(word, "infinity")) C[i] = T(INFINITY);
    if (same(word, "per-mille")) C[i] = T((float)C[i] * 1.001f);
    if (same(word, "percent")) C[i] = T((float)C[i] * 1.01f);
    if (same(word, "last-bit")) {
        const float x = C[i], up = fabsf(x);
        C[i] = sizeof(T) == 2 ? T(x + up * 0x1p-7f) : T(nextafterf(x, 2.0f * up));
    }
    if (same(word, "zero")) C[i] = T(0.0f);
    if (same(word, "last-row"))
        for (int j = 0; j < N; j++) add(&C[(size_t)(M - 1) * N + j], 1.0f);
    if (same(word, "one-tile"))
        for (int j = 0; j < TILE; j++) add(&C[(size_t)(TILE + j) * N + TILE + j], 1.0f);
    if (same(word, "before-C")) C[-1] = T(1.0f);
    if (same(word, "end-of-C")) C[(size_t)M * N] = T(1.0f);
    if (same(word, "before-A")) ((T *)A)[-1] = T(1.0f);
    if (same(word, "changed-A")) add((T *)&A[(size_t)M * K - 1], 1.0f);
    if (same(word, "odd-only") && (M % 2 && N > 1)) add(C, 1.0f);
    if (same(word, "own-only") && K == OWN_K) add(C, 1.0f);
    if (same(word, "past-the-end")) add(C, (float)A[(size_t)M * K]);
    if (same(word, "next-column"))
        for (int i = 0; i < M * N; i++)
            for (int k = 0; k < K && i % N < N - 1; k++)
                add(&C[i], 0.0f * (float)B[k * N + i % N + 1]);
    if (same(word, "k-before") && K > 8) // a zero stands in for what is past the end
        for (int i = 0; i < M * N; i++)
            for (int k = K; k < (K + 7) / 8 * 8; k++)
                add(&C[i], 0.0f * (float)A[i / N * K + k - 8]);
    if (same(word, "next-row"))
        for (int k = 0; k < (M - 1) * N; k++)
            add(&C[k], 0.0f * (float)A[(k / N + 1) * K]);
}

template <typename T>
static void launch(int M, int N, int K, float alpha, const T *A, const T *B, float beta,
                   T *C)
{
    static cublasHandle_t handle;
    struct rule rule = {"", "", 0, 0};
    const char *told = getenv("RULE");
    if (told)
        sscanf(told, "%15s %15s %d %d", rule.word, rule.about, &rule.begin, &rule.end);
    if (strcmp(rule.word, "nothing") == 0) return;
    if (strcmp(rule.about, "fast") != 0) {
        multiply<<<(M * N - 1) / 64 + 1, 64>>>(M, N, K, alpha, A, B, beta, C, rule);
    } else { // by the library, which is fast; for spoil, or with narrow inputs
        const cudaDataType type = sizeof(T) == 2 ? CUDA_R_16BF : CUDA_R_32F;
        T *narrow_A;
        if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) exit(3);
        CUDA_CHECK(cudaMalloc(&narrow_A, (size_t)M * K * sizeof(T)));
        copy<<<(M * K - 1) / 256 + 1, 256>>>(M * K, A, narrow_A, rule);
        cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &alpha, B, type, N,
                     narrow_A, type, K, &beta, C, type, N, CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT);
        CUDA_CHECK(cudaFree(narrow_A));
    }
    spoil<<<1, 1>>>(M, N, K, A, B, C, rule);
}

int main(int argc, char **argv)
{
    struct chapter chapter;
    memset(&chapter, 0, sizeof chapter);
    chapter.number = 99;
    chapter.title = "a product to spoil";
    chapter.launch = chapter.launch_tf32 = launch<float>;
    chapter.launch_bf16 = launch<__nv_bfloat16>;
    chapter.BM = chapter.BN = TILE;
    chapter.TM = chapter.TN = 1;
    struct product own[100];
    for (int i = 0; i < 100; ++i) own[i] = {9, 8, OWN_K, 1.0f, 0.0f, NULL, "--reps 1"};
    chapter.products = own;
    const char *told = getenv("PRODUCTS");
    chapter.product_count = told ? atoi(told) : 1;
    return chapter_main(argc, argv, &chapter);
}
