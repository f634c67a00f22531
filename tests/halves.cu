// Chapter 18 with inputs that no ordinary check has: near overflow and underflow, infinities
// and NaN, rows that are zero, one huge row, numbers that cancel. Every element is compared
// with a sum in double; the bound is that of a sum in fp32, K * 2^-24 * |A| |B|. Prints a
// line for each, with the tiles that went to plain.cuh.
#define main main_of_chapter
#include "matmul.cu"
#undef main

static unsigned long long state = 1;

static unsigned random_bits(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 32);
}

static float real(void) // in (-1, 1)
{
    return ((float)(random_bits() >> 8) + 0.5f) * 0x1p-23f - 1.0f;
}

static float from_2_to(int low, int high) // random sign and fraction too
{
    return ldexpf(1.5f + 0.5f * real(), low + (int)(random_bits() % (high - low + 1))) *
           (random_bits() & 1 ? 1.0f : -1.0f);
}

enum { M = 300, N = 200, K = 320, FAMILIES = 16 };
static float A[M * K], B[K * N], C[M * N];

static const char *fill(int family)
{
    for (int i = 0; i < M * K; i++) A[i] = real();
    for (int i = 0; i < K * N; i++) B[i] = real();
    switch (family) {
    case 0: return "uniform";
    case 1:
        for (int i = 0; i < M * K; i++) A[i] = from_2_to(-7, 7);
        for (int i = 0; i < K * N; i++) B[i] = from_2_to(-7, 7);
        return "spread over 2^14";
    case 2:
        for (int i = 0; i < M * K; i++) A[i] = from_2_to(-20, 20);
        for (int i = 0; i < K * N; i++) B[i] = from_2_to(-20, 20);
        return "spread over 2^40";
    case 3:
        for (int k = 0; k < K; k++) A[5 * K + k] *= 0x1p100f;
        return "one huge row";
    case 4: A[5 * K + 7] = 0x1p60f; return "one huge element of A";
    case 5: B[7 * N + 150] = 0x1p60f; return "one huge element of B";
    case 6:
        for (int i = 0; i < M * K; i++) A[i] *= 0x1.fp127f;
        for (int i = 0; i < K * N; i++) B[i] *= 0x1p-12f;
        return "near overflow";
    case 7:
        for (int i = 0; i < M * K; i++) A[i] *= 0x1p-130f;
        for (int i = 0; i < K * N; i++) B[i] *= 0x1p120f;
        return "subnormal";
    case 8:
        for (int i = 0; i < M * K; i++) A[i] *= 0x1p-100f;
        for (int i = 0; i < K * N; i++) B[i] *= 0x1p-40f;
        return "underflow";
    case 9:
        A[140 * K + 3] = INFINITY;
        B[9 * N + 60] = -INFINITY;
        return "infinities";
    case 10: B[9 * N + 60] = NAN; return "a NaN";
    case 11:
        for (int k = 0; k < K; k++) A[3 * K + k] = 0.0f;
        for (int k = 0; k < K; k++) B[k * N + 4] = -0.0f;
        return "zeros";
    case 12:
        for (int i = 0; i < M; i++)
            for (int k = 1; k < K; k += 2) A[i * K + k] = A[i * K + k - 1];
        for (int k = 1; k < K; k += 2)
            for (int j = 0; j < N; j++)
                B[k * N + j] = -B[(k - 1) * N + j] + 1e-6f * real();
        return "cancelling";
    case 13:
        // Small ones of which lo has as much as it ever gets: lo * lo counts.
        for (int i = 0; i < M * K; i++) A[i] = 1.0f + 7.0f / 1024.0f;
        for (int i = 0; i < K * N; i++) B[i] = 1.0f + 7.0f / 1024.0f;
        for (int i = 0; i < M; i++) A[i * K] = 0x1p32f, A[i * K + 1] = 0.0f;
        for (int j = 0; j < N; j++) B[j] = 0.0f, B[N + j] = 0x1p32f;
        return "large ones that meet zeros";
    case 14:
        // A single one that is too small, so a single thread sees it.
        for (int i = 0; i < M; i++) A[i * K + 1] = 0.0f;
        for (int j = 0; j < N; j++) B[j] = 0.0f;
        for (int k = 0; k < K; k++) {
            A[200 * K + k] = k == 0 ? 0x1p60f : k == 101 ? 0.75f + 0x1p-23f : 0.0f;
            B[k * N + 150] = k == 1 ? 0x1p60f : k == 101 ? 0.75f + 0x1p-23f : 0.0f;
        }
        return "one small element beside a large one";
    default:
        for (int k = 0; k < K; k++) {
            const float d = ldexpf(1.0f, (int)(random_bits() % 41) - 20);
            for (int i = 0; i < M; i++) A[i * K + k] *= d;
            for (int j = 0; j < N; j++) B[k * N + j] /= d;
        }
        return "each k in other units";
    }
}

// Whether `got` is right, and how large its error is as a part of the bound.
static bool right(int i, int j, float got, double *worst)
{
    double sum = 0.0, size = 0.0;
    bool special = false;
    for (int k = 0; k < K; k++) {
        const double p = (double)A[i * K + k] * B[k * N + j];
        sum += p;
        size += fabs(p);
        special |= !isfinite(A[i * K + k]) || !isfinite(B[k * N + j]);
    }
    if (special) return isnan(sum) ? isnan(got) : got == sum;
    if (size >= 0x1p127) return true; // it may overflow or not
    const double ratio = fabs(got - sum) / (K * 0x1p-24 * size + K * 0x1p-149);
    if (size > 0.0 && ratio > *worst) *worst = ratio;
    return size > 0.0 ? ratio <= 1.0 : got == 0.0f;
}

int main(void)
{
    float *d_A, *d_B, *d_C;
    CUDA_CHECK(cudaMalloc(&d_A, sizeof A));
    CUDA_CHECK(cudaMalloc(&d_B, sizeof B));
    CUDA_CHECK(cudaMalloc(&d_C, sizeof C));
    sms = 3;
    int all_wrong = 0;
    for (int family = 0; family < FAMILIES; family++) {
        const char *name = fill(family);
        CUDA_CHECK(cudaMemcpy(d_A, A, sizeof A, cudaMemcpyHostToDevice));
        CUDA_CHECK(cudaMemcpy(d_B, B, sizeof B, cudaMemcpyHostToDevice));
        launch(M, N, K, 1.0f, d_A, d_B, 0.0f, d_C);
        CUDA_CHECK(cudaMemcpy(C, d_C, sizeof C, cudaMemcpyDeviceToHost));
        // The last words of the scratch memory: see split_matrices.
        const int down = (M - 1) / BM + 1, across = (N - 1) / BN + 1;
        int unfit[down + across], tiles = 0, wrong = 0;
        const size_t A_stride = (K + 63) / 64 * 64, B_stride = (N + 63) / 64 * 64;
        const size_t halves = 2 * sizeof(__half) * (M * A_stride + K * B_stride);
        CUDA_CHECK(cudaMemcpy(unfit, scratch.memory + halves + sizeof(int) * (M + 2 * N),
                              sizeof unfit, cudaMemcpyDeviceToHost));
        for (int i = 0; i < down; i++)
            for (int j = 0; j < across; j++) tiles += unfit[i] || unfit[down + j];
        double worst = 0.0;
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) wrong += !right(i, j, C[i * N + j], &worst);
        printf("%s: %d wrong, at most %.2g of the bound, %d of %d tiles plain\n", name,
               wrong, worst, tiles, down * across);
        all_wrong += wrong;
    }
    CUDA_CHECK(cudaFree(d_A));
    CUDA_CHECK(cudaFree(d_B));
    CUDA_CHECK(cudaFree(d_C));
    return all_wrong != 0;
}
