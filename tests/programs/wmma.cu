// nvcuda::wmma: products of small whole numbers in all shapes and types, from rows and from
// columns; and a product of larger matrices, tile by tile through shared memory.
#include <mma.h>

#include "check.h"

using namespace nvcuda;

__host__ __device__ int element(int matrix, int i, int j)
{
    return (i * 7 + j * 5 + matrix * 3 + i * j + (i + j) / 8 * 3 + j / 3) % 8;
}

// a holds M x K, b K x N, c and d M x N, by rows or by columns as the layouts say.
template <int M, int N, int K, class T, class Sum, class LayoutA, class LayoutB>
__global__ void
one(const typename wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA>::element_type *a,
    const typename wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB>::element_type *b,
    const Sum *c, Sum *d, int lda, int ldb, bool by_rows)
{
    const wmma::layout_t layout = by_rows ? wmma::mem_row_major : wmma::mem_col_major;
    wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, by_rows ? N : M, layout);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = Sum(2) * fc.x[i];
    wmma::store_matrix_sync(d, fc, by_rows ? N : M, layout);
}

template <int M, int N, int K, class T, class Sum, class LayoutA, class LayoutB>
void try_one(bool a_rows, bool b_rows, bool c_rows)
{
    typedef typename wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA>::element_type E;
    const int lda = a_rows ? 2 * K : 2 * M, ldb = b_rows ? 2 * N : 2 * K;
    const int before = 16; // of bytes, too: no multiple of 32 is asked of them
    E *a_all, *b_all;
    Sum *c, *d;
    CHECK(cudaMallocManaged(&a_all, (before + 4 * M * K) * sizeof(E)));
    CHECK(cudaMallocManaged(&b_all, (before + 4 * K * N) * sizeof(E)));
    E *const a = a_all + before, *const b = b_all + before;
    CHECK(cudaMallocManaged(&c, M * N * sizeof(Sum)));
    CHECK(cudaMallocManaged(&d, M * N * sizeof(Sum)));
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            a[a_rows ? i * lda + k : k * lda + i] = (E)(float)element(0, i, k);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++)
            b[b_rows ? k * ldb + j : j * ldb + k] = (E)(float)element(1, k, j);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            c[c_rows ? i * N + j : j * M + i] = (Sum)(float)element(2, i, j);
    one<M, N, K, T, Sum, LayoutA, LayoutB><<<1, 32>>>(a, b, c, d, lda, ldb, c_rows);
    CHECK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int sum = element(2, i, j);
            for (int k = 0; k < K; k++) sum += element(0, i, k) * element(1, k, j);
            wrong += (float)d[c_rows ? i * N + j : j * M + i] != (float)(2 * sum);
        }
    EXPECT(wrong == 0);
    CHECK(cudaFree(a_all));
    CHECK(cudaFree(b_all));
    CHECK(cudaFree(c));
    CHECK(cudaFree(d));
}

template <int M, int N, int K, class T, class Sum> void try_layouts(void)
{
    try_one<M, N, K, T, Sum, wmma::row_major, wmma::row_major>(true, true, true);
    try_one<M, N, K, T, Sum, wmma::row_major, wmma::col_major>(true, false, false);
    try_one<M, N, K, T, Sum, wmma::col_major, wmma::row_major>(false, true, true);
    try_one<M, N, K, T, Sum, wmma::col_major, wmma::col_major>(false, false, false);
}

const int SIZE = 64, TILE = 16;

// A warp a tile of C; both matrices by rows.
__global__ void product(const half *a, const half *b, float *c)
{
    __shared__ __align__(32) half a_tile[TILE][TILE], b_tile[TILE][TILE];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    const int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < SIZE; k += TILE) {
        for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
            a_tile[i / TILE][i % TILE] = a[(row + i / TILE) * SIZE + k + i % TILE];
            b_tile[i / TILE][i % TILE] = b[(k + i / TILE) * SIZE + col + i % TILE];
        }
        __syncthreads();
        wmma::load_matrix_sync(fa, a_tile[0], TILE);
        wmma::load_matrix_sync(fb, b_tile[0], TILE);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(c + row * SIZE + col, sum, SIZE, wmma::mem_row_major);
}

int main(void)
{
    try_layouts<16, 16, 16, half, float>();
    try_layouts<32, 8, 16, half, float>();
    try_layouts<8, 32, 16, half, float>();
    try_layouts<16, 16, 16, half, half>();
    try_layouts<16, 16, 16, signed char, int>();
    try_layouts<32, 8, 16, unsigned char, int>();
    try_layouts<8, 32, 16, signed char, int>();

    static half a[SIZE * SIZE], b[SIZE * SIZE];
    static float c[SIZE * SIZE];
    for (int i = 0; i < SIZE * SIZE; i++) {
        a[i] = __float2half(noise(i));
        b[i] = __float2half(noise(i + 12345));
    }
    half *d_a, *d_b;
    float *d_c;
    CHECK(cudaMalloc(&d_a, sizeof a));
    CHECK(cudaMalloc(&d_b, sizeof b));
    CHECK(cudaMalloc(&d_c, sizeof c));
    CHECK(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice));
    product<<<dim3(SIZE / TILE, SIZE / TILE), 32>>>(d_a, d_b, d_c);
    CHECK(cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0.0;
            for (int k = 0; k < SIZE; k++)
                sum +=
                    (double)__half2float(a[i * SIZE + k]) * __half2float(b[k * SIZE + j]);
            wrong += !close_to(c[i * SIZE + j], sum, 1e-5);
        }
    EXPECT(wrong == 0);
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    return pass();
}
