// Of cuBLAS what works on square matrices: triangles, symmetric ones, diagonals, and
// systems of equations in batches.
// BUILD: -lcublas
#include "check.h"

#include <cublas_v2.h>

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

enum { N = 5, M = 4, LD = 7, BATCH = 3 };

static double *numbers(int count, int seed)
{
    double *x;
    CHECK(cudaMallocManaged(&x, count * sizeof *x));
    for (int i = 0; i < count; i++) x[i] = noise(1000 * seed + i);
    return x;
}

/* Element (i, j) of op(A), of which one triangle counts. */
static double triangle(const double *A, bool upper, bool transposed, bool unit, int i,
                       int j)
{
    if (i == j && unit) return 1;
    const int row = transposed ? j : i, col = transposed ? i : j;
    return (upper ? row <= col : row >= col) ? A[row + col * LD] : 0;
}

static double symmetric(const double *A, bool upper, int i, int j)
{
    return (upper ? i <= j : i >= j) ? A[i + j * LD] : A[j + i * LD];
}

/* Whether op(A) X is alpha B, or X op(A). */
static void check_triangles(cublasHandle_t handle)
{
    double *A = numbers(LD * N, 1), *B = numbers(LD * N, 2), *X = numbers(LD * N, 3),
           *C = numbers(LD * N, 4);
    const double alpha = -0.75;
    for (int i = 0; i < N; i++) A[i + i * LD] += 3;
    for (int variant = 0; variant < 16; variant++) {
        const bool left = variant & 1, upper = variant & 2, transposed = variant & 4,
                   unit = variant & 8;
        const cublasSideMode_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
        const cublasFillMode_t fill =
            upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        const cublasOperation_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
        const cublasDiagType_t diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        const int rows = left ? N : M, cols = left ? M : N;
        for (int i = 0; i < LD * N; i++) X[i] = B[i];
        BLAS(cublasDtrsm(handle, side, fill, op, diag, rows, cols, &alpha, A, LD, X, LD));
        BLAS(cublasDtrmm(handle, side, fill, op, diag, rows, cols, &alpha, A, LD, X, LD,
                         C, LD));
        CHECK(cudaDeviceSynchronize());
        for (int j = 0; j < cols; j++)
            for (int i = 0; i < rows; i++) {
                double sum = 0;
                for (int k = 0; k < N; k++)
                    sum +=
                        left ? triangle(A, upper, transposed, unit, i, k) * X[k + j * LD]
                             : X[i + k * LD] * triangle(A, upper, transposed, unit, k, j);
                EXPECT(close_to(sum, alpha * B[i + j * LD], 1e-12));
                EXPECT(close_to(C[i + j * LD], alpha * sum, 1e-12));
            }
        EXPECT(X[rows] == B[rows]); // what lies below the matrix stays
        for (int i = 0; i < LD * N; i++) X[i] = B[i];
        BLAS(cublasDtrsv(handle, fill, op, diag, N, A, LD, X, -1));
        BLAS(cublasDtrmv(handle, fill, op, diag, N, A, LD, X, -1));
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < N; i++) EXPECT(close_to(X[i], B[i], 1e-12));
    }
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(X));
    CHECK(cudaFree(C));
}

static void check_symmetric(cublasHandle_t handle)
{
    double *A = numbers(LD * N, 5), *B = numbers(LD * N, 6), *C = numbers(LD * N, 7),
           *old = numbers(LD * N, 7), *x = numbers(2 * N, 8), *y = numbers(N, 9);
    const double alpha = 1.5, beta = -0.5;
    for (int upper = 0; upper < 2; upper++) {
        const cublasFillMode_t fill =
            upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        for (int i = 0; i < LD * N; i++) C[i] = old[i];
        BLAS(cublasDsymm(handle, CUBLAS_SIDE_RIGHT, fill, M, N, &alpha, A, LD, B, LD,
                         &beta, C, LD));
        CHECK(cudaDeviceSynchronize());
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++) {
                double sum = 0;
                for (int k = 0; k < N; k++)
                    sum += B[i + k * LD] * symmetric(A, upper, k, j);
                EXPECT(
                    close_to(C[i + j * LD], alpha * sum + beta * old[i + j * LD], 1e-12));
            }
        /* A^T B + B^T A, or A^T B, of the first M rows; one triangle of it is written. */
        for (int two = 0; two < 4; two++) {
            const double *const second = two == 2 ? A : B;
            for (int i = 0; i < LD * N; i++) C[i] = old[i];
            if (two == 3)
                BLAS(cublasDsyrkx(handle, fill, CUBLAS_OP_T, N, M, &alpha, A, LD, second,
                                  LD, &beta, C, LD));
            else if (two)
                BLAS(cublasDsyr2k(handle, fill, CUBLAS_OP_T, N, M, &alpha, A, LD, second,
                                  LD, &beta, C, LD));
            else
                BLAS(cublasDsyrk(handle, fill, CUBLAS_OP_T, N, M, &alpha, A, LD, &beta, C,
                                 LD));
            CHECK(cudaDeviceSynchronize());
            for (int j = 0; j < N; j++)
                for (int i = 0; i < N; i++) {
                    double sum = 0;
                    for (int k = 0; k < M; k++)
                        sum += two == 3 ? A[k + i * LD] * second[k + j * LD]
                               : two    ? A[k + i * LD] * second[k + j * LD] +
                                           second[k + i * LD] * A[k + j * LD]
                                     : A[k + i * LD] * A[k + j * LD];
                    const double was = old[i + j * LD],
                                 want = (upper ? i <= j : i >= j)
                                            ? alpha * sum + beta * was
                                            : was;
                    EXPECT(close_to(C[i + j * LD], want, 1e-12));
                }
        }
        for (int i = 0; i < LD * N; i++) C[i] = old[i];
        for (int i = 0; i < N; i++) y[i] = old[i];
        BLAS(cublasDsymv(handle, fill, N, &alpha, A, LD, x, 2, &beta, y, 1));
        BLAS(cublasDsyr(handle, fill, N, &alpha, x, 2, C, LD));
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += symmetric(A, upper, i, k) * x[2 * k];
            EXPECT(close_to(y[i], alpha * sum + beta * old[i], 1e-12));
            for (int j = 0; j < N; j++)
                EXPECT(close_to(C[i + j * LD],
                                old[i + j * LD] + ((upper ? i <= j : i >= j)
                                                       ? alpha * x[2 * i] * x[2 * j]
                                                       : 0),
                                1e-12));
        }
        for (int i = 0; i < LD * N; i++) C[i] = old[i];
        BLAS(cublasDsyr2(handle, fill, N, &alpha, x, 2, y, 1, C, LD));
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                const double both = x[2 * i] * y[j] + y[i] * x[2 * j];
                EXPECT(close_to(C[i + j * LD],
                                old[i + j * LD] +
                                    ((upper ? i <= j : i >= j) ? alpha * both : 0),
                                1e-12));
            }
    }
    BLAS(cublasDdgmm(handle, CUBLAS_SIDE_RIGHT, M, N, A, LD, x, 1, C, LD));
    CHECK(cudaDeviceSynchronize());
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) EXPECT(C[i + j * LD] == A[i + j * LD] * x[j]);
    const double cosine = 0.6, sine = 0.8, x0 = x[0], y0 = y[0];
    BLAS(cublasDrot(handle, N, x, 1, y, 1, &cosine, &sine));
    CHECK(cudaDeviceSynchronize());
    EXPECT(close_to(x[0], cosine * x0 + sine * y0, 1e-12));
    EXPECT(close_to(y[0], cosine * y0 - sine * x0, 1e-12));
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
    CHECK(cudaFree(old));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

/* The triangle of A as it is packed, or K diagonals beside the main one as a band. */
enum { K = 2, ROWS = K + 2 };

static bool stored(bool upper, bool band, int i, int j)
{
    return (upper ? i <= j : i >= j) && (!band || (i < j ? j - i : i - j) <= K);
}

static int place(bool upper, bool band, int i, int j)
{
    if (band) return (upper ? K + i - j : i - j) + j * ROWS;
    return upper ? i + j * (j + 1) / 2 : i + j * (2 * N - j - 1) / 2;
}

static void check_packed(cublasHandle_t handle)
{
    double *A = numbers(N * N, 11), *P = numbers(ROWS * N, 12), *x = numbers(N, 13),
           *y = numbers(2 * N, 14), *z = numbers(N, 15), *w = numbers(2 * N, 14);
    const double alpha = 1.5, beta = -0.5;
    for (int i = 0; i < N; i++) A[i + i * N] += 3;
    for (int variant = 0; variant < 16; variant++) {
        const bool upper = variant & 1, band = variant & 2, transposed = variant & 4,
                   unit = variant & 8;
        const cublasFillMode_t fill =
            upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        const cublasOperation_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
        const cublasDiagType_t diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        for (int i = 0; i < ROWS * N; i++) P[i] = NAN; // what no call may read
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                if (stored(upper, band, i, j)) P[place(upper, band, i, j)] = A[i + j * N];
        for (int i = 0; i < N; i++) z[i] = x[i];
        for (int i = 0; i < 2 * N; i++) y[i] = w[i];
        if (band) {
            BLAS(cublasDtbmv(handle, fill, op, diag, N, K, P, ROWS, z, 1));
            BLAS(cublasDsbmv(handle, fill, N, K, &alpha, P, ROWS, x, 1, &beta, y, 2));
        } else {
            BLAS(cublasDtpmv(handle, fill, op, diag, N, P, z, 1));
            BLAS(cublasDspmv(handle, fill, N, &alpha, P, x, 1, &beta, y, 2));
        }
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < N; i++) {
            double triangle = 0, symmetric = 0;
            for (int j = 0; j < N; j++) {
                const int row = transposed ? j : i, col = transposed ? i : j;
                if (stored(upper, band, row, col))
                    triangle += (unit && i == j ? 1 : A[row + col * N]) * x[j];
                if (stored(upper, band, i, j))
                    symmetric += A[i + j * N] * x[j];
                else if (stored(upper, band, j, i))
                    symmetric += A[j + i * N] * x[j];
            }
            EXPECT(close_to(z[i], triangle, 1e-12));
            EXPECT(close_to(y[2 * i], alpha * symmetric + beta * w[2 * i], 1e-12));
        }
        if (band)
            BLAS(cublasDtbsv(handle, fill, op, diag, N, K, P, ROWS, z, 1));
        else
            BLAS(cublasDtpsv(handle, fill, op, diag, N, P, z, 1));
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < N; i++) EXPECT(close_to(z[i], x[i], 1e-12));
        if (band) continue;
        BLAS(cublasDspr(handle, fill, N, &alpha, x, 1, P));
        BLAS(cublasDspr2(handle, fill, N, &beta, x, 1, y, 2, P));
        CHECK(cudaDeviceSynchronize());
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                if (stored(upper, false, i, j))
                    EXPECT(close_to(P[place(upper, false, i, j)],
                                    A[i + j * N] + alpha * x[i] * x[j] +
                                        beta * (x[i] * y[2 * j] + y[2 * i] * x[j]),
                                    1e-12));
    }
    /* One diagonal below and two above, of M x N. */
    for (int transposed = 0; transposed < 2; transposed++) {
        const int rows = transposed ? N : M, cols = transposed ? M : N;
        for (int i = 0; i < ROWS * N; i++) P[i] = NAN;
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++)
                if (i - j <= 1 && j - i <= 2) P[2 + i - j + j * ROWS] = A[i + j * N];
        for (int i = 0; i < 2 * N; i++) y[i] = w[i];
        BLAS(cublasDgbmv(handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, M, N, 1, 2,
                         &alpha, P, ROWS, x, 1, &beta, y, 1));
        CHECK(cudaDeviceSynchronize());
        for (int k = 0; k < rows; k++) {
            double sum = 0;
            for (int l = 0; l < cols; l++) {
                const int i = transposed ? l : k, j = transposed ? k : l;
                if (i - j <= 1 && j - i <= 2) sum += A[i + j * N] * x[l];
            }
            EXPECT(close_to(y[k], alpha * sum + beta * w[k], 1e-12));
        }
    }
    double a = 3, b = -4, c, s;
    BLAS(cublasDrotg(handle, &a, &b, &c, &s));
    EXPECT(close_to(a, -5, 1e-15) && close_to(c, -0.6, 1e-15) && close_to(s, 0.8, 1e-15));
    EXPECT(close_to(b, 1 / c, 1e-15));
    const double parts[][5] = {{-1, 2, 3, 4, 5},
                               {0, NAN, 3, 4, NAN},
                               {1, 2, NAN, NAN, 5}},
                 want[][4] = {{2, 3, 4, 5}, {1, 3, 4, 1}, {2, -1, 1, 5}};
    for (int i = 0; i < 3; i++) {
        const double x0 = x[0], z0 = z[0];
        BLAS(cublasDrotm(handle, N, x, 1, z, 1, parts[i]));
        CHECK(cudaDeviceSynchronize());
        EXPECT(close_to(x[0], want[i][0] * x0 + want[i][2] * z0, 1e-12));
        EXPECT(close_to(z[0], want[i][1] * x0 + want[i][3] * z0, 1e-12));
    }
    CHECK(cudaFree(A));
    CHECK(cudaFree(P));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(z));
    CHECK(cudaFree(w));
}

/* Whether A times what should be its inverse is 1. */
static void check_inverse(const float *A, const float *inverse)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += A[i + k * LD] * inverse[k + j * N];
            EXPECT(close_to(sum, i == j, 1e-4));
        }
}

static void check_systems(cublasHandle_t handle)
{
    float *A, *LU, *inverse, *B, **lists;
    int *pivots, *info, host_info = -1;
    CHECK(cudaMallocManaged(&A, BATCH * LD * N * sizeof *A));
    CHECK(cudaMallocManaged(&LU, BATCH * LD * N * sizeof *A));
    CHECK(cudaMallocManaged(&inverse, BATCH * N * N * sizeof *A));
    CHECK(cudaMallocManaged(&B, BATCH * LD * 2 * sizeof *A));
    CHECK(cudaMallocManaged(&lists, 4 * BATCH * sizeof *lists));
    CHECK(cudaMallocManaged(&pivots, BATCH * N * sizeof *pivots));
    CHECK(cudaMallocManaged(&info, BATCH * sizeof *info));
    for (int i = 0; i < BATCH * LD * N; i++) LU[i] = A[i] = noise(i);
    for (int i = 0; i < BATCH; i++) {
        A[i * LD * N] = LU[i * LD * N] = 0; // nothing goes without an exchange of rows
        lists[i] = A + i * LD * N;
        lists[BATCH + i] = LU + i * LD * N;
        lists[2 * BATCH + i] = inverse + i * N * N;
        lists[3 * BATCH + i] = B + i * LD * 2;
    }
    float **const of_A = lists, **const of_LU = lists + BATCH,
                  **const of_inverse = lists + 2 * BATCH,
                  **const of_B = lists + 3 * BATCH;

    BLAS(cublasSgetrfBatched(handle, N, of_LU, LD, pivots, info, BATCH));
    BLAS(cublasSgetriBatched(handle, N, of_LU, LD, pivots, of_inverse, N, info, BATCH));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < BATCH; i++) {
        EXPECT(info[i] == 0 && pivots[i * N] > 1);
        check_inverse(A + i * LD * N, inverse + i * N * N);
    }
    for (int transposed = 0; transposed < 2; transposed++) {
        for (int i = 0; i < BATCH * LD * 2; i++) B[i] = noise(500 + i);
        BLAS(cublasSgetrsBatched(handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, N, 2,
                                 of_LU, LD, pivots, of_B, LD, &host_info, BATCH));
        CHECK(cudaDeviceSynchronize());
        EXPECT(host_info == 0);
        for (int one = 0; one < BATCH; one++)
            for (int j = 0; j < 2; j++)
                for (int i = 0; i < N; i++) {
                    double sum = 0;
                    for (int k = 0; k < N; k++)
                        sum += of_A[one][transposed ? k + i * LD : i + k * LD] *
                               of_B[one][k + j * LD];
                    EXPECT(close_to(sum, noise(500 + one * LD * 2 + i + j * LD), 1e-4));
                }
    }
    BLAS(cublasSmatinvBatched(handle, N, of_A, LD, of_inverse, N, info, BATCH));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < BATCH; i++) check_inverse(A + i * LD * N, inverse + i * N * N);

    for (int i = 0; i < N; i++) of_A[1][i + LD] = 2 * of_A[1][i]; // one has no inverse
    BLAS(cublasSmatinvBatched(handle, N, of_A, LD, of_inverse, N, info, BATCH));
    CHECK(cudaDeviceSynchronize());
    EXPECT(info[0] == 0 && info[1] == 2 && info[2] == 0);
    EXPECT(cublasSmatinvBatched(handle, 33, of_A, 33, of_inverse, 33, info, BATCH) ==
           CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cudaFree(A));
    CHECK(cudaFree(LU));
    CHECK(cudaFree(inverse));
    CHECK(cudaFree(B));
    CHECK(cudaFree(lists));
    CHECK(cudaFree(pivots));
    CHECK(cudaFree(info));
}

int main(void)
{
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    check_triangles(handle);
    check_symmetric(handle);
    check_packed(handle);
    check_systems(handle);
    BLAS(cublasDestroy(handle));
    return pass();
}
