/* cuBLAS, the part that has to do with square matrices: triangular and symmetric ones,
 * bands, diagonals, and systems of equations in batches.
 *
 * As in gemm.c all is computed in double, of copies, and rounded once. */
#include <math.h>
#include <stdlib.h>

#include "api/gemm.h"
#include "base/now.h"
#include "base/room.h"
#include "memory/streams.h"
#include "memory/values.h"

#define CALLER __builtin_return_address(0)

/* Who calls, for messages, and with which numbers. */
struct call {
    const void *pc;
    const char *name;
    cublasHandle_t handle;
    cudaDataType type;
};
#define CALL(type)                                                                       \
    &(const struct call)                                                                 \
    {                                                                                    \
        CALLER, __func__, handle, type                                                   \
    }

static cublasStatus_t begin(const struct call *c)
{
    if (!c->handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return emu_call_begins(c->handle->stream) == cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_EXECUTION_FAILED;
}

static bool is_fill(cublasFillMode_t uplo)
{
    return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER;
}

static bool are_modes(cublasFillMode_t uplo, cublasOperation_t trans,
                      cublasDiagType_t diag)
{
    return is_fill(uplo) && (unsigned)trans <= CUBLAS_OP_C &&
           (unsigned)diag <= CUBLAS_DIAG_UNIT;
}

static bool fits(int rows, int ld)
{
    return rows >= 0 && ld >= (rows > 1 ? rows : 1);
}

/* ---- copies ---- */

static double *room_for(int rows, int cols)
{
    return emu_zeros("for cuBLAS", (size_t)rows * (size_t)cols + 1, sizeof(double));
}

static void need_matrix(const struct call *c, const char *operand, const void *A,
                        int rows, int cols, int ld, bool writes)
{
    emu_blas_need(c->pc, c->name, operand, A,
                  emu_blas_matrix_bytes(rows, cols, ld, c->type));
    emu_blas_touches(c->pc, A, (size_t)rows, cols, ld, c->type, writes);
}

static double load(const struct call *c, const void *A, int ld, int row, int col)
{
    return emu_blas_load(A, (size_t)row + (size_t)col * (size_t)ld, c->type);
}

static void put(const struct call *c, void *A, int ld, int row, int col, double value)
{
    emu_blas_put(A, (size_t)row + (size_t)col * (size_t)ld, c->type, value);
}

static double scalar(const struct call *c, const char *operand, const void *p)
{
    if (c->handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        emu_blas_need(c->pc, c->name, operand, p, emu_blas_bytes(c->type));
    return emu_blas_load(p, 0, c->type);
}

/* op(A), which is rows x cols, one column behind the other. */
static double *copy_of(const struct call *c, const char *operand, const void *A, int ld,
                       int rows, int cols, bool transposed)
{
    double *const copy = room_for(rows, cols);
    need_matrix(c, operand, A, transposed ? cols : rows, transposed ? rows : cols, ld,
                false);
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            copy[i + (size_t)j * (size_t)rows] =
                transposed ? load(c, A, ld, j, i) : load(c, A, ld, i, j);
    return copy;
}

static bool in_triangle(cublasFillMode_t uplo, int row, int col)
{
    return uplo == CUBLAS_FILL_MODE_UPPER ? row <= col : row >= col;
}

/* How the triangle lies that is stored of a square matrix: as in the whole matrix; column
 * behind column (packed); or as the main diagonal and `beside` others, a row each. */
struct storage {
    enum { WHOLE, PACKED, BAND } form;
    int ld, beside;
};
static struct storage whole(int ld)
{
    return (struct storage){WHOLE, ld, 0};
}

static struct storage packed(void)
{
    return (struct storage){PACKED, 0, 0};
}
static struct storage band(int ld, int beside)
{
    return (struct storage){BAND, ld, beside};
}

static bool fits_stored(int n, struct storage s)
{
    return s.form == PACKED ? n >= 0
           : s.form == BAND ? n >= 0 && s.beside >= 0 && s.ld > s.beside
                            : fits(n, s.ld);
}

static void need_stored(const struct call *c, const void *A, struct storage s, int n,
                        bool writes)
{
    if (s.form == PACKED)
        emu_blas_need_vector(c->pc, c->name, "A", A, n * (n + 1) / 2, 1, c->type, writes);
    else
        need_matrix(c, "A", A, s.form == BAND ? s.beside + 1 : n, n, s.ld, writes);
}

/* Where an element lies; -1 of one that is not stored. */
static long place_of(struct storage s, cublasFillMode_t uplo, int n, long row, long col)
{
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
    if (!in_triangle(uplo, (int)row, (int)col)) return -1;
    if (s.form == WHOLE) return row + col * s.ld;
    if (s.form == PACKED)
        return row + (upper ? col * (col + 1) : col * (2L * n - col - 1)) / 2;
    const long diagonal = upper ? col - row : row - col;
    return diagonal > s.beside ? -1
                               : (upper ? s.beside - diagonal : diagonal) + col * s.ld;
}

/* op(A), of which one triangle is stored, and the rest is 0. */
static double *triangle_of(const struct call *c, const void *A, struct storage s, int n,
                           cublasFillMode_t uplo, bool transposed, cublasDiagType_t diag)
{
    double *const copy = room_for(n, n);
    need_stored(c, A, s, n, false);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const long at = place_of(s, uplo, n, i, j);
            if (at < 0) continue;
            const int row = transposed ? j : i, col = transposed ? i : j;
            copy[row + (size_t)col * (size_t)n] =
                i == j && diag == CUBLAS_DIAG_UNIT
                    ? 1
                    : emu_blas_load(A, (size_t)at, c->type);
        }
    return copy;
}

/* A, of which one triangle is stored, and the other is its mirror image. */
static double *symmetric_of(const struct call *c, const void *A, struct storage s, int n,
                            cublasFillMode_t uplo)
{
    double *const copy = triangle_of(c, A, s, n, uplo, false, CUBLAS_DIAG_NON_UNIT);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (!in_triangle(uplo, i, j))
                copy[i + (size_t)j * (size_t)n] = copy[j + (size_t)i * (size_t)n];
    return copy;
}

/* A += alpha sum, of which one triangle is stored. */
static void add_to_triangle(const struct call *c, void *A, struct storage s, int n,
                            cublasFillMode_t uplo, const double *sum, double alpha)
{
    need_stored(c, A, s, n, true);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const long at = place_of(s, uplo, n, i, j);
            if (at < 0) continue;
            const double old = emu_blas_load(A, (size_t)at, c->type);
            emu_blas_put(A, (size_t)at, c->type,
                         alpha * sum[i + (size_t)j * (size_t)n] + old);
        }
}

static double *vector_of(const struct call *c, const char *operand, const void *x, int n,
                         int step, bool writes)
{
    double *const copy = room_for(n, 1);
    emu_blas_need_vector(c->pc, c->name, operand, x, n, step, c->type, writes);
    for (int i = 0; i < n; i++)
        copy[i] = emu_blas_load(x, emu_blas_index(n, step, i), c->type);
    return copy;
}

static void put_vector(const struct call *c, void *x, int n, int step,
                       const double *values)
{
    for (int i = 0; i < n; i++)
        emu_blas_put(x, emu_blas_index(n, step, i), c->type, values[i]);
}

/* sum += A B, of an m x k matrix and one of k x n. */
static void add_product(double *sum, const double *A, const double *B, int m, int n,
                        int k)
{
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++) {
            const double b = B[l + (size_t)j * (size_t)k];
            for (int i = 0; i < m; i++)
                sum[i + (size_t)j * (size_t)m] += A[i + (size_t)l * (size_t)m] * b;
        }
}

/* Solves A x = b of a triangular A; x holds b before. */
static void solve_triangle(const double *A, int n, bool lower, double *x)
{
    for (int step = 0; step < n; step++) {
        const int i = lower ? step : n - 1 - step;
        const double *const column = A + (size_t)i * (size_t)n;
        const double value = x[i] /= column[i];
        for (int k = lower ? i + 1 : 0; k < (lower ? n : i); k++)
            x[k] -= column[k] * value;
    }
}

/* C = alpha sum + beta C, all of it or one triangle. */
static void put_sum(const struct call *c, void *C, int ldc, int m, int n,
                    const double *sum, double alpha, double beta,
                    const cublasFillMode_t *uplo)
{
    need_matrix(c, "C", C, m, n, ldc, true);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            if (uplo && !in_triangle(*uplo, i, j)) continue;
            const double old = beta == 0 ? 0 : beta * load(c, C, ldc, i, j);
            put(c, C, ldc, i, j, alpha * sum[i + (size_t)j * (size_t)m] + old);
        }
}

/* ---- vectors ---- */

static cublasStatus_t rot(const struct call *c, int n, void *x, int incx, void *y,
                          int incy, const void *cosine, const void *sine)
{
    EMU_ALONE;
    if (!cosine || !sine) return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n <= 0) return status;
    double *const a = vector_of(c, "x", x, n, incx, true), *const b = vector_of(
                                                               c, "y", y, n, incy, true);
    const double cos = scalar(c, "c", cosine), sin = scalar(c, "s", sine);
    for (int i = 0; i < n; i++) {
        const double turned = cos * a[i] + sin * b[i];
        b[i] = cos * b[i] - sin * a[i];
        a[i] = turned;
    }
    put_vector(c, x, n, incx, a);
    put_vector(c, y, n, incy, b);
    free(a);
    free(b);
    return status;
}

/* The rotation that turns (a, b) to (r, 0). In b's place comes what tells it alone. */
static cublasStatus_t rotg(const struct call *c, void *a, void *b, void *cosine,
                           void *sine)
{
    EMU_ALONE;
    if (!a || !b || !cosine || !sine) return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status) return status;
    void *const all[] = {a, b, cosine, sine};
    if (c->handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) emu_host_waits_for_work();
    for (int i = 0; c->handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE && i < 4; i++)
        emu_blas_need_vector(c->pc, c->name, (const char *const[]){"a", "b", "c", "s"}[i],
                             all[i], 1, 1, c->type, true);
    const double x = emu_blas_load(a, 0, c->type), y = emu_blas_load(b, 0, c->type);
    const bool first = fabs(x) > fabs(y);
    const double r = copysign(hypot(x, y), first ? x : y), cos = r == 0 ? 1 : x / r,
                 sin = r == 0 ? 0 : y / r;
    emu_blas_put(a, 0, c->type, r);
    emu_blas_put(b, 0, c->type, r == 0 ? 0 : first ? sin : cos != 0 ? 1 / cos : 1);
    emu_blas_put(cosine, 0, c->type, cos);
    emu_blas_put(sine, 0, c->type, sin);
    return status;
}

/* All (x_i, y_i) times a matrix; the first of `parameters` says what of it they hold. */
static cublasStatus_t rotm(const struct call *c, int n, void *x, int incx, void *y,
                           int incy, const void *parameters)
{
    EMU_ALONE;
    if (!parameters) return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n <= 0) return status;
    if (c->handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        emu_blas_need_vector(c->pc, c->name, "param", parameters, 5, 1, c->type, false);
    double p[5], *const a = vector_of(c, "x", x, n, incx, true),
                        *const b = vector_of(c, "y", y, n, incy, true);
    for (size_t i = 0; i < 5; i++) p[i] = emu_blas_load(parameters, i, c->type);
    const double all = p[0] == -1, sides = p[0] == 0, main = p[0] == 1;
    const double h11 = all || main ? p[1] : 1,
                 h21 = all || sides ? p[2]
                       : main       ? -1
                                    : 0,
                 h12 = all || sides ? p[3] : main, h22 = all || main ? p[4] : 1;
    for (int i = 0; i < n; i++) {
        const double turned = h11 * a[i] + h12 * b[i];
        b[i] = h21 * a[i] + h22 * b[i];
        a[i] = turned;
    }
    put_vector(c, x, n, incx, a);
    put_vector(c, y, n, incy, b);
    free(a);
    free(b);
    return status;
}

/* A triangular matrix times a vector, or what it must be multiplied with to give it. */
static cublasStatus_t triangle_vector(const struct call *c, bool solve,
                                      cublasFillMode_t uplo, cublasOperation_t trans,
                                      cublasDiagType_t diag, int n, const void *A,
                                      struct storage s, void *x, int incx)
{
    EMU_ALONE;
    if (!are_modes(uplo, trans, diag) || !fits_stored(n, s) || incx == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n == 0) return status;
    const bool transposed = trans != CUBLAS_OP_N;
    double *const a = triangle_of(c, A, s, n, uplo, transposed, diag),
                  *const b = vector_of(c, "x", x, n, incx, true),
                  *const product = room_for(n, 1);
    if (solve)
        solve_triangle(a, n, (uplo == CUBLAS_FILL_MODE_LOWER) != transposed, b);
    else
        add_product(product, a, b, n, 1, n);
    put_vector(c, x, n, incx, solve ? b : product);
    free(a);
    free(b);
    free(product);
    return status;
}

/* y = alpha A x + beta y, of a copy of A, which it frees. */
static void multiply_vector(const struct call *c, double *A, int rows, int cols,
                            const void *alpha, const void *x, int incx, const void *beta,
                            void *y, int incy)
{
    double *const b = vector_of(c, "x", x, cols, incx, false),
                  *const old = vector_of(c, "y", y, rows, incy, true),
                  *const sum = room_for(rows, 1);
    const double factor = scalar(c, "alpha", alpha), kept = scalar(c, "beta", beta);
    add_product(sum, A, b, rows, 1, cols);
    for (int i = 0; i < rows; i++)
        sum[i] = factor * sum[i] + (kept == 0 ? 0 : kept * old[i]);
    put_vector(c, y, rows, incy, sum);
    free(A);
    free(b);
    free(old);
    free(sum);
}

static cublasStatus_t symv(const struct call *c, cublasFillMode_t uplo, int n,
                           const void *alpha, const void *A, struct storage s,
                           const void *x, int incx, const void *beta, void *y, int incy)
{
    EMU_ALONE;
    if (!is_fill(uplo) || !fits_stored(n, s) || incx == 0 || incy == 0 || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n == 0) return status;
    multiply_vector(c, symmetric_of(c, A, s, n, uplo), n, n, alpha, x, incx, beta, y,
                    incy);
    return status;
}

/* Of an m x n matrix `below` diagonals below the main one are stored, `above` above. */
static cublasStatus_t gbmv(const struct call *c, cublasOperation_t trans, int m, int n,
                           int below, int above, const void *alpha, const void *A,
                           int lda, const void *x, int incx, const void *beta, void *y,
                           int incy)
{
    EMU_ALONE;
    if ((unsigned)trans > CUBLAS_OP_C || m < 0 || n < 0 || below < 0 || above < 0 ||
        lda < below + above + 1 || incx == 0 || incy == 0 || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || m == 0 || n == 0) return status;
    const bool transposed = trans != CUBLAS_OP_N;
    const int rows = transposed ? n : m, cols = transposed ? m : n;
    double *const a = room_for(rows, cols);
    need_matrix(c, "A", A, below + above + 1, n, lda, false);
    for (int j = 0; j < n; j++)
        for (int i = j > above ? j - above : 0; i < m && i <= j + below; i++)
            a[transposed ? j + (size_t)i * (size_t)n : i + (size_t)j * (size_t)m] =
                load(c, A, lda, above + i - j, j);
    multiply_vector(c, a, rows, cols, alpha, x, incx, beta, y, incy);
    return status;
}

static cublasStatus_t syr(const struct call *c, cublasFillMode_t uplo, int n,
                          const void *alpha, const void *x, int incx, void *A,
                          struct storage s)
{
    EMU_ALONE;
    if (!is_fill(uplo) || !fits_stored(n, s) || incx == 0 || !alpha)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n == 0) return status;
    double *const b = vector_of(c, "x", x, n, incx, false), *const sum = room_for(n, n);
    add_product(sum, b, b, n, n, 1);
    add_to_triangle(c, A, s, n, uplo, sum, scalar(c, "alpha", alpha));
    free(b);
    free(sum);
    return status;
}

static cublasStatus_t syr2(const struct call *c, cublasFillMode_t uplo, int n,
                           const void *alpha, const void *x, int incx, const void *y,
                           int incy, void *A, struct storage s)
{
    EMU_ALONE;
    if (!is_fill(uplo) || !fits_stored(n, s) || incx == 0 || incy == 0 || !alpha)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n == 0) return status;
    double *const a = vector_of(c, "x", x, n, incx, false),
                  *const b = vector_of(c, "y", y, n, incy, false),
                  *const sum = room_for(n, n);
    add_product(sum, a, b, n, n, 1);
    add_product(sum, b, a, n, n, 1);
    add_to_triangle(c, A, s, n, uplo, sum, scalar(c, "alpha", alpha));
    free(a);
    free(b);
    free(sum);
    return status;
}

/* ---- matrices ---- */

static cublasStatus_t symm(const struct call *c, cublasSideMode_t side,
                           cublasFillMode_t uplo, int m, int n, const void *alpha,
                           const void *A, int lda, const void *B, int ldb,
                           const void *beta, void *C, int ldc)
{
    EMU_ALONE;
    const bool left = side == CUBLAS_SIDE_LEFT;
    if ((unsigned)side > CUBLAS_SIDE_RIGHT || !is_fill(uplo) ||
        !fits(left ? m : n, lda) || !fits(m, ldb) || !fits(m, ldc) || n < 0 || !alpha ||
        !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || m == 0 || n == 0) return status;
    double *const a = symmetric_of(c, A, whole(lda), left ? m : n, uplo),
                  *const b = copy_of(c, "B", B, ldb, m, n, false),
                  *const sum = room_for(m, n);
    if (left)
        add_product(sum, a, b, m, n, m);
    else
        add_product(sum, b, a, m, n, n);
    put_sum(c, C, ldc, m, n, sum, scalar(c, "alpha", alpha), scalar(c, "beta", beta),
            NULL);
    free(a);
    free(b);
    free(sum);
    return status;
}

/* op(A) op(B)^T, with its mirror image if there are two `terms`. */
static cublasStatus_t rank_k(const struct call *c, int terms, cublasFillMode_t uplo,
                             cublasOperation_t trans, int n, int k, const void *alpha,
                             const void *A, int lda, const void *B, int ldb,
                             const void *beta, void *C, int ldc)
{
    EMU_ALONE;
    const bool transposed = trans != CUBLAS_OP_N;
    if (!is_fill(uplo) || (unsigned)trans > CUBLAS_OP_C || k < 0 ||
        !fits(transposed ? k : n, lda) || !fits(transposed ? k : n, ldb) ||
        !fits(n, ldc) || n < 0 || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n == 0) return status;
    double *const sum = room_for(n, n);
    const void *const first[] = {A, B}, *const second[] = {B, A};
    const int ld_first[] = {lda, ldb}, ld_second[] = {ldb, lda};
    for (int i = 0; i < terms; i++) {
        double *const a = copy_of(c, "A", first[i], ld_first[i], n, k, transposed),
                      *const b =
                          copy_of(c, "B", second[i], ld_second[i], k, n, !transposed);
        add_product(sum, a, b, n, n, k);
        free(a);
        free(b);
    }
    put_sum(c, C, ldc, n, n, sum, scalar(c, "alpha", alpha), scalar(c, "beta", beta),
            &uplo);
    free(sum);
    return status;
}

static cublasStatus_t check_triangle(cublasSideMode_t side, cublasFillMode_t uplo,
                                     cublasOperation_t trans, cublasDiagType_t diag,
                                     int m, int n, const void *alpha, int lda, int ldb)
{
    return (unsigned)side > CUBLAS_SIDE_RIGHT || !are_modes(uplo, trans, diag) ||
                   !fits(side == CUBLAS_SIDE_LEFT ? m : n, lda) || !fits(m, ldb) ||
                   n < 0 || !alpha
               ? CUBLAS_STATUS_INVALID_VALUE
               : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t trmm(const struct call *c, cublasSideMode_t side,
                           cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const void *alpha,
                           const void *A, int lda, const void *B, int ldb, void *C,
                           int ldc)
{
    EMU_ALONE;
    cublasStatus_t status =
        check_triangle(side, uplo, trans, diag, m, n, alpha, lda, ldb);
    if (status || !fits(m, ldc)) return CUBLAS_STATUS_INVALID_VALUE;
    status = begin(c);
    if (status || m == 0 || n == 0) return status;
    const bool left = side == CUBLAS_SIDE_LEFT;
    double *const
        a = triangle_of(c, A, whole(lda), left ? m : n, uplo, trans != CUBLAS_OP_N, diag),
        *const b = copy_of(c, "B", B, ldb, m, n, false), *const sum = room_for(m, n);
    if (left)
        add_product(sum, a, b, m, n, m);
    else
        add_product(sum, b, a, m, n, n);
    put_sum(c, C, ldc, m, n, sum, scalar(c, "alpha", alpha), 0, NULL);
    free(a);
    free(b);
    free(sum);
    return status;
}

/* op(A) X = alpha B, or X op(A) = alpha B, which is the same of the mirror images. */
static cublasStatus_t trsm(const struct call *c, cublasSideMode_t side,
                           cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const void *alpha,
                           const void *A, int lda, void *B, int ldb)
{
    EMU_ALONE;
    cublasStatus_t status =
        check_triangle(side, uplo, trans, diag, m, n, alpha, lda, ldb);
    if (!status) status = begin(c);
    if (status || m == 0 || n == 0) return status;
    const bool left = side == CUBLAS_SIDE_LEFT,
               transposed = (trans != CUBLAS_OP_N) == left;
    const int order = left ? m : n, count = left ? n : m;
    double *const a = triangle_of(c, A, whole(lda), order, uplo, transposed, diag),
                  *const x = copy_of(c, "B", B, ldb, order, count, !left);
    const double factor = scalar(c, "alpha", alpha);
    need_matrix(c, "B", B, m, n, ldb, true);
    for (int k = 0; k < count; k++) {
        double *const one = x + (size_t)k * (size_t)order;
        for (int i = 0; i < order; i++) one[i] *= factor;
        solve_triangle(a, order, (uplo == CUBLAS_FILL_MODE_LOWER) != transposed, one);
        for (int i = 0; i < order; i++)
            put(c, B, ldb, left ? i : k, left ? k : i, one[i]);
    }
    free(a);
    free(x);
    return status;
}

static cublasStatus_t dgmm(const struct call *c, cublasSideMode_t mode, int m, int n,
                           const void *A, int lda, const void *x, int incx, void *C,
                           int ldc)
{
    EMU_ALONE;
    if ((unsigned)mode > CUBLAS_SIDE_RIGHT || !fits(m, lda) || !fits(m, ldc) || n < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || m == 0 || n == 0) return status;
    const bool left = mode == CUBLAS_SIDE_LEFT;
    double *const a = copy_of(c, "A", A, lda, m, n, false), *const factors = vector_of(
                                                                c, "x", x, left ? m : n,
                                                                incx, false);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) a[i + (size_t)j * (size_t)m] *= factors[left ? i : j];
    put_sum(c, C, ldc, m, n, a, 1, 0, NULL);
    free(a);
    free(factors);
    return status;
}

/* ---- systems of equations, in batches ---- */

static void need_list(const struct call *c, const char *operand, const void *list,
                      int count, size_t bytes)
{
    emu_blas_need(c->pc, c->name, operand, list, (size_t)(count > 0 ? count : 0) * bytes);
}

static void put_int(int *to, int value)
{
    *to = value;
    emu_check_host_wrote(to, sizeof value);
}

static void swap_rows(double *A, int n, int cols, int i, int k)
{
    for (int j = 0; j < cols && i != k; j++) {
        double *const a = A + i + (size_t)j * (size_t)n, *const b = a + (k - i);
        const double old = *a;
        *a = *b;
        *b = old;
    }
}

/* L and U in place of A, whose rows change places as `pivots` says, from 1; without a
 * list they stay. Returns 0, or which element of U's diagonal is the first that is 0. */
static int factor(double *A, int n, int *pivots)
{
    int singular = 0;
    for (int k = 0; k < n; k++) {
        double *const column = A + (size_t)k * (size_t)n;
        int best = k;
        for (int i = k + 1; pivots && i < n; i++)
            if (fabs(column[i]) > fabs(column[best])) best = i;
        if (pivots) pivots[k] = best + 1;
        swap_rows(A, n, n, k, best);
        if (column[k] == 0) {
            if (!singular) singular = k + 1;
            continue;
        }
        for (int i = k + 1; i < n; i++) column[i] /= column[k];
        for (int j = k + 1; j < n; j++) {
            double *const other = A + (size_t)j * (size_t)n;
            for (int i = k + 1; i < n; i++) other[i] -= column[i] * other[k];
        }
    }
    return singular;
}

/* The L or the U of what factor() has made, or its mirror image. */
static double *part_of(const double *LU, int n, bool lower, bool transposed)
{
    double *const part = room_for(n, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (lower ? i >= j : i <= j)
                part[transposed ? j + (size_t)i * (size_t)n : i + (size_t)j * (size_t)n] =
                    lower && i == j ? 1 : LU[i + (size_t)j * (size_t)n];
    return part;
}

/* Solves op(A) X = B by A's factors; X holds B before. */
static void solve_factored(const double *LU, int n, const int *pivots, bool transposed,
                           double *X, int count)
{
    double *const L = part_of(LU, n, true, transposed), *const U = part_of(LU, n, false,
                                                                           transposed);
    for (int i = 0; pivots && !transposed && i < n; i++)
        swap_rows(X, n, count, i, pivots[i] - 1);
    for (int k = 0; k < count; k++) {
        double *const x = X + (size_t)k * (size_t)n;
        solve_triangle(transposed ? U : L, n, true, x);
        solve_triangle(transposed ? L : U, n, false, x);
    }
    for (int i = n - 1; pivots && transposed && i >= 0; i--)
        swap_rows(X, n, count, i, pivots[i] - 1);
    free(L);
    free(U);
}

static void put_matrix(const struct call *c, const char *operand, void *A, int ld, int m,
                       int n, const double *values)
{
    need_matrix(c, operand, A, m, n, ld, true);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            put(c, A, ld, i, j, values[i + (size_t)j * (size_t)m]);
}

static double *identity(int n)
{
    double *const one = room_for(n, n);
    for (int i = 0; i < n; i++) one[i + (size_t)i * (size_t)n] = 1;
    return one;
}

static cublasStatus_t getrf(const struct call *c, int n, void *const A[], int lda,
                            int *pivots, int *info, int count)
{
    EMU_ALONE;
    if (!fits(n, lda) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n == 0) return status;
    need_list(c, "the list of A", A, count, sizeof *A);
    need_list(c, "info", info, count, sizeof *info);
    if (pivots)
        need_list(c, "the list of pivots", pivots, count, (size_t)n * sizeof(int));
    for (int i = 0; i < count; i++) {
        double *const a = copy_of(c, "A", A[i], lda, n, n, false);
        int *const own = pivots ? pivots + (size_t)i * (size_t)n : NULL;
        put_int(&info[i], factor(a, n, own));
        if (own) emu_check_host_wrote(own, (size_t)n * sizeof *own);
        put_matrix(c, "A", A[i], lda, n, n, a);
        free(a);
    }
    return status;
}

static cublasStatus_t getrs(const struct call *c, cublasOperation_t trans, int n,
                            int count_b, const void *const A[], int lda,
                            const int *pivots, void *const B[], int ldb, int *info,
                            int count)
{
    EMU_ALONE;
    if (!info) return CUBLAS_STATUS_INVALID_VALUE;
    const bool right = (unsigned)trans <= CUBLAS_OP_C && fits(n, lda) && fits(n, ldb) &&
                       count_b >= 0 && count >= 0;
    *info = !right ? ((unsigned)trans > CUBLAS_OP_C ? -1
                      : n < 0                       ? -2
                      : count_b < 0                 ? -3
                      : !fits(n, lda)               ? -5
                      : !fits(n, ldb)               ? -8
                                                    : -10)
                   : 0;
    if (!right) return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n == 0 || count_b == 0) return status;
    need_list(c, "the list of A", A, count, sizeof *A);
    need_list(c, "the list of B", B, count, sizeof *B);
    if (pivots)
        need_list(c, "the list of pivots", pivots, count, (size_t)n * sizeof(int));
    for (int i = 0; i < count; i++) {
        double *const a = copy_of(c, "A", A[i], lda, n, n, false), *const b = copy_of(
                                                                       c, "B", B[i], ldb,
                                                                       n, count_b, false);
        solve_factored(a, n, pivots ? pivots + (size_t)i * (size_t)n : NULL,
                       trans != CUBLAS_OP_N, b, count_b);
        put_matrix(c, "B", B[i], ldb, n, count_b, b);
        free(a);
        free(b);
    }
    return status;
}

/* The inverse, of A or of what getrf has left of it. */
static cublasStatus_t invert(const struct call *c, bool factored, int n,
                             const void *const A[], int lda, const int *pivots,
                             void *const C[], int ldc, int *info, int count)
{
    EMU_ALONE;
    /* matinvBatched is for the small; the other two steps are for all. */
    if (!fits(n, lda) || !fits(n, ldc) || count < 0 || (!factored && n > 32))
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = begin(c);
    if (status || n == 0) return status;
    need_list(c, "the list of A", A, count, sizeof *A);
    need_list(c, "the list of inverses", C, count, sizeof *C);
    need_list(c, "info", info, count, sizeof *info);
    if (pivots)
        need_list(c, "the list of pivots", pivots, count, (size_t)n * sizeof(int));
    for (int i = 0; i < count; i++) {
        double *const a = copy_of(c, "A", A[i], lda, n, n, false), *const inverse =
                                                                       identity(n);
        int own[32], singular = 0;
        const int *const swaps =
            factored ? (pivots ? pivots + (size_t)i * (size_t)n : NULL) : own;
        if (!factored) singular = factor(a, n, own);
        for (int k = n - 1; factored && k >= 0; k--)
            if (a[k + (size_t)k * (size_t)n] == 0) singular = k + 1;
        put_int(&info[i], singular);
        if (!singular) {
            solve_factored(a, n, swaps, false, inverse, n);
            put_matrix(c, "the inverse", C[i], ldc, n, n, inverse);
        }
        free(a);
        free(inverse);
    }
    return status;
}

static cublasStatus_t trsm_batched(const struct call *c, cublasSideMode_t side,
                                   cublasFillMode_t uplo, cublasOperation_t trans,
                                   cublasDiagType_t diag, int m, int n, const void *alpha,
                                   const void *const A[], int lda, void *const B[],
                                   int ldb, int count)
{
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    need_list(c, "the list of A", A, count, sizeof *A);
    need_list(c, "the list of B", B, count, sizeof *B);
    for (int i = 0; i < count && !status; i++)
        status = trsm(c, side, uplo, trans, diag, m, n, alpha, A[i], lda, B[i], ldb);
    return status;
}

/* ---- the calls ---- */

/* Each exists in single and in double precision. */
#define CALLS(S, real, type)                                                             \
    cublasStatus_t cublas##S##rot(cublasHandle_t handle, int n, real *x, int incx,       \
                                  real *y, int incy, const real *c, const real *s)       \
    {                                                                                    \
        return rot(CALL(type), n, x, incx, y, incy, c, s);                               \
    }                                                                                    \
    cublasStatus_t cublas##S##trmv(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, cublasDiagType_t diag,       \
                                   int n, const real *A, int lda, real *x, int incx)     \
    {                                                                                    \
        return triangle_vector(CALL(type), false, uplo, trans, diag, n, A, whole(lda),   \
                               x, incx);                                                 \
    }                                                                                    \
    cublasStatus_t cublas##S##trsv(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, cublasDiagType_t diag,       \
                                   int n, const real *A, int lda, real *x, int incx)     \
    {                                                                                    \
        return triangle_vector(CALL(type), true, uplo, trans, diag, n, A, whole(lda), x, \
                               incx);                                                    \
    }                                                                                    \
    cublasStatus_t cublas##S##symv(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   const real *alpha, const real *A, int lda,            \
                                   const real *x, int incx, const real *beta, real *y,   \
                                   int incy)                                             \
    {                                                                                    \
        return symv(CALL(type), uplo, n, alpha, A, whole(lda), x, incx, beta, y, incy);  \
    }                                                                                    \
    cublasStatus_t cublas##S##syr(cublasHandle_t handle, cublasFillMode_t uplo, int n,   \
                                  const real *alpha, const real *x, int incx, real *A,   \
                                  int lda)                                               \
    {                                                                                    \
        return syr(CALL(type), uplo, n, alpha, x, incx, A, whole(lda));                  \
    }                                                                                    \
    cublasStatus_t cublas##S##syr2(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   const real *alpha, const real *x, int incx,           \
                                   const real *y, int incy, real *A, int lda)            \
    {                                                                                    \
        return syr2(CALL(type), uplo, n, alpha, x, incx, y, incy, A, whole(lda));        \
    }                                                                                    \
    cublasStatus_t cublas##S##rotg(cublasHandle_t handle, real *a, real *b, real *c,     \
                                   real *s)                                              \
    {                                                                                    \
        return rotg(CALL(type), a, b, c, s);                                             \
    }                                                                                    \
    cublasStatus_t cublas##S##rotm(cublasHandle_t handle, int n, real *x, int incx,      \
                                   real *y, int incy, const real *param)                 \
    {                                                                                    \
        return rotm(CALL(type), n, x, incx, y, incy, param);                             \
    }                                                                                    \
    cublasStatus_t cublas##S##tpmv(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, cublasDiagType_t diag,       \
                                   int n, const real *A, real *x, int incx)              \
    {                                                                                    \
        return triangle_vector(CALL(type), false, uplo, trans, diag, n, A, packed(), x,  \
                               incx);                                                    \
    }                                                                                    \
    cublasStatus_t cublas##S##tpsv(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, cublasDiagType_t diag,       \
                                   int n, const real *A, real *x, int incx)              \
    {                                                                                    \
        return triangle_vector(CALL(type), true, uplo, trans, diag, n, A, packed(), x,   \
                               incx);                                                    \
    }                                                                                    \
    cublasStatus_t cublas##S##tbmv(                                                      \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,           \
        cublasDiagType_t diag, int n, int k, const real *A, int lda, real *x, int incx)  \
    {                                                                                    \
        return triangle_vector(CALL(type), false, uplo, trans, diag, n, A, band(lda, k), \
                               x, incx);                                                 \
    }                                                                                    \
    cublasStatus_t cublas##S##tbsv(                                                      \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,           \
        cublasDiagType_t diag, int n, int k, const real *A, int lda, real *x, int incx)  \
    {                                                                                    \
        return triangle_vector(CALL(type), true, uplo, trans, diag, n, A, band(lda, k),  \
                               x, incx);                                                 \
    }                                                                                    \
    cublasStatus_t cublas##S##spmv(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   const real *alpha, const real *A, const real *x,      \
                                   int incx, const real *beta, real *y, int incy)        \
    {                                                                                    \
        return symv(CALL(type), uplo, n, alpha, A, packed(), x, incx, beta, y, incy);    \
    }                                                                                    \
    cublasStatus_t cublas##S##sbmv(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   int k, const real *alpha, const real *A, int lda,     \
                                   const real *x, int incx, const real *beta, real *y,   \
                                   int incy)                                             \
    {                                                                                    \
        return symv(CALL(type), uplo, n, alpha, A, band(lda, k), x, incx, beta, y,       \
                    incy);                                                               \
    }                                                                                    \
    cublasStatus_t cublas##S##spr(cublasHandle_t handle, cublasFillMode_t uplo, int n,   \
                                  const real *alpha, const real *x, int incx, real *A)   \
    {                                                                                    \
        return syr(CALL(type), uplo, n, alpha, x, incx, A, packed());                    \
    }                                                                                    \
    cublasStatus_t cublas##S##spr2(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   const real *alpha, const real *x, int incx,           \
                                   const real *y, int incy, real *A)                     \
    {                                                                                    \
        return syr2(CALL(type), uplo, n, alpha, x, incx, y, incy, A, packed());          \
    }                                                                                    \
    cublasStatus_t cublas##S##gbmv(cublasHandle_t handle, cublasOperation_t trans,       \
                                   int m, int n, int kl, int ku, const real *alpha,      \
                                   const real *A, int lda, const real *x, int incx,      \
                                   const real *beta, real *y, int incy)                  \
    {                                                                                    \
        return gbmv(CALL(type), trans, m, n, kl, ku, alpha, A, lda, x, incx, beta, y,    \
                    incy);                                                               \
    }                                                                                    \
    cublasStatus_t cublas##S##symm(                                                      \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m,      \
        int n, const real *alpha, const real *A, int lda, const real *B, int ldb,        \
        const real *beta, real *C, int ldc)                                              \
    {                                                                                    \
        return symm(CALL(type), side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);  \
    }                                                                                    \
    cublasStatus_t cublas##S##syrk(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, int n, int k,                \
                                   const real *alpha, const real *A, int lda,            \
                                   const real *beta, real *C, int ldc)                   \
    {                                                                                    \
        return rank_k(CALL(type), 1, uplo, trans, n, k, alpha, A, lda, A, lda, beta, C,  \
                      ldc);                                                              \
    }                                                                                    \
    cublasStatus_t cublas##S##syr2k(                                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,    \
        int k, const real *alpha, const real *A, int lda, const real *B, int ldb,        \
        const real *beta, real *C, int ldc)                                              \
    {                                                                                    \
        return rank_k(CALL(type), 2, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C,  \
                      ldc);                                                              \
    }                                                                                    \
    cublasStatus_t cublas##S##syrkx(                                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,    \
        int k, const real *alpha, const real *A, int lda, const real *B, int ldb,        \
        const real *beta, real *C, int ldc)                                              \
    {                                                                                    \
        return rank_k(CALL(type), 1, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C,  \
                      ldc);                                                              \
    }                                                                                    \
    cublasStatus_t cublas##S##trmm(                                                      \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,             \
        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const real *alpha, \
        const real *A, int lda, const real *B, int ldb, real *C, int ldc)                \
    {                                                                                    \
        return trmm(CALL(type), side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, C, \
                    ldc);                                                                \
    }                                                                                    \
    cublasStatus_t cublas##S##trsm(                                                      \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,             \
        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const real *alpha, \
        const real *A, int lda, real *B, int ldb)                                        \
    {                                                                                    \
        return trsm(CALL(type), side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb);   \
    }                                                                                    \
    cublasStatus_t cublas##S##trsmBatched(                                               \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,             \
        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const real *alpha, \
        const real *const A[], int lda, real *const B[], int ldb, int count)             \
    {                                                                                    \
        return trsm_batched(CALL(type), side, uplo, trans, diag, m, n, alpha,            \
                            (const void *const *)A, lda, (void *const *)B, ldb, count);  \
    }                                                                                    \
    cublasStatus_t cublas##S##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m,  \
                                   int n, const real *A, int lda, const real *x,         \
                                   int incx, real *C, int ldc)                           \
    {                                                                                    \
        return dgmm(CALL(type), mode, m, n, A, lda, x, incx, C, ldc);                    \
    }                                                                                    \
    cublasStatus_t cublas##S##getrfBatched(cublasHandle_t handle, int n,                 \
                                           real *const A[], int lda, int *pivots,        \
                                           int *info, int count)                         \
    {                                                                                    \
        return getrf(CALL(type), n, (void *const *)A, lda, pivots, info, count);         \
    }                                                                                    \
    cublasStatus_t cublas##S##getrsBatched(                                              \
        cublasHandle_t handle, cublasOperation_t trans, int n, int count_b,              \
        const real *const A[], int lda, const int *pivots, real *const B[], int ldb,     \
        int *info, int count)                                                            \
    {                                                                                    \
        return getrs(CALL(type), trans, n, count_b, (const void *const *)A, lda, pivots, \
                     (void *const *)B, ldb, info, count);                                \
    }                                                                                    \
    cublasStatus_t cublas##S##getriBatched(                                              \
        cublasHandle_t handle, int n, const real *const A[], int lda, const int *pivots, \
        real *const C[], int ldc, int *info, int count)                                  \
    {                                                                                    \
        return invert(CALL(type), true, n, (const void *const *)A, lda, pivots,          \
                      (void *const *)C, ldc, info, count);                               \
    }                                                                                    \
    cublasStatus_t cublas##S##matinvBatched(                                             \
        cublasHandle_t handle, int n, const real *const A[], int lda, real *const C[],   \
        int ldc, int *info, int count)                                                   \
    {                                                                                    \
        return invert(CALL(type), false, n, (const void *const *)A, lda, NULL,           \
                      (void *const *)C, ldc, info, count);                               \
    }
CALLS(S, float, CUDA_R_32F)
CALLS(D, double, CUDA_R_64F)
