// Calls that come back only when what they, or others, have begun is over: the host may
// then look. And an array that is filled while copies of its other rows are under way.
// BUILD: -lcublas
#include <cublas_v2.h>

#include <cstdio>
#include <cstdlib>

static void need(bool holds, const char *what)
{
    if (holds) return;
    printf("wrong: %s\n", what);
    exit(1);
}

int main(void)
{
    // cublasDestroy() waits for the device.
    float *x;
    const float two = 2.0f;
    cublasHandle_t handle;
    cudaMallocManaged(&x, 8 * sizeof *x);
    for (int i = 0; i < 8; i++) x[i] = i;
    cublasCreate(&handle);
    cublasSscal(handle, 8, &two, x, 1);
    cublasDestroy(handle);
    need(x[3] == 6.0f, "scaled");
    cudaFree(x);

    // A copy within the host's memory is over, whatever its name says.
    int *from, *to;
    cudaMallocHost(&from, 4 * sizeof *from);
    cudaMallocHost(&to, 4 * sizeof *to);
    for (int i = 0; i < 4; i++) from[i] = i;
    cudaMemcpyAsync(to, from, 4 * sizeof *to, cudaMemcpyHostToHost, 0);
    need(to[3] == 3, "copied within the host");
    cudaMemcpyAsync(from, to, 4 * sizeof *to, cudaMemcpyDefault, 0);
    need(from[3] == 3, "copied back");
    cudaFreeHost(from);
    cudaFreeHost(to);

    // Each row is on its way while the next is filled.
    const int n = 1000;
    int *rows, *device, *back;
    cudaMallocHost(&rows, n * n * sizeof *rows);
    cudaMalloc(&device, n * n * sizeof *device);
    back = (int *)malloc(n * n * sizeof *back);
    for (int r = 0; r < n; r++) {
        for (int c = 0; c < n; c++) rows[r * n + c] = r - c;
        cudaMemcpyAsync(&device[r * n], &rows[r * n], n * sizeof *rows,
                        cudaMemcpyHostToDevice, 0);
    }
    cudaMemcpy(back, device, n * n * sizeof *back, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n * n; i++) need(back[i] == i / n - i % n, "rows");
    free(back);
    cudaFree(device);
    cudaFreeHost(rows);
    puts("PASS");
    return 0;
}
