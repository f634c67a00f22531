// Two threads of the host, each with a stream, a handle and vectors of its own.
// BUILD: -lcublas
#include <cublas_v2.h>

#include <cstdio>
#include <thread>

static bool is_right[2];

static void work(int number)
{
    enum { N = 1000 };
    static float values[2][N];
    float *x, *y, sum;
    cudaStream_t stream;
    cublasHandle_t handle;
    cudaStreamCreate(&stream);
    cublasCreate(&handle);
    cublasSetStream(handle, stream);
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&y, N * sizeof *y);
    for (int i = 0; i < N; i++) values[number][i] = 1.0f;
    cudaMemcpy(x, values[number], N * sizeof *x, cudaMemcpyHostToDevice);
    for (int i = 0; i < 200; i++) {
        cublasScopy(handle, N, x, 1, y, 1);
        cublasSswap(handle, N, x, 1, y, 1);
        cublasSasum(handle, N, y, 1, &sum);
    }
    is_right[number] = sum == N;
    cublasDestroy(handle);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFree(y);
}

int main(void)
{
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
    if (!is_right[0] || !is_right[1]) return 1;
    puts("PASS");
    return 0;
}
