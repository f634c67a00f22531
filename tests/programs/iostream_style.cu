// As many courses write it: iostream, a namespace opened wide, global pointers, C++
// headers.
// PRINTS: sum of 1000 elements: 499500
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>
#include "cuda_runtime.h"
#include "device_launch_parameters.h"

using namespace std;

#define N 1000
#define THREADS_PER_BLOCK 128

int *dev_in, *dev_out;

inline void check(cudaError_t code, const char *file, int line, bool abort = true)
{
    if (code != cudaSuccess) {
        cerr << "GPU error: " << cudaGetErrorString(code) << " " << file << " " << line
             << endl;
        if (abort) exit(code);
    }
}
#define gpuErrchk(ans)                                                                   \
    {                                                                                    \
        check((ans), __FILE__, __LINE__);                                                \
    }

template <typename T> struct DeviceArray {
    T *pointer = nullptr;
    explicit DeviceArray(size_t n)
    {
        gpuErrchk(cudaMalloc(&pointer, n * sizeof(T)));
    }
    ~DeviceArray()
    {
        cudaFree(pointer);
    }
    DeviceArray(const DeviceArray &) = delete;
};

__global__ void partial(int *in, int *out)
{
    __shared__ int cache[THREADS_PER_BLOCK];
    int tid = threadIdx.x + blockIdx.x * blockDim.x, temp = 0;
    while (tid < N) {
        temp += in[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[threadIdx.x] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if ((int)threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = max(cache[0], 0);
}

int main(int argc, char *argv[])
{
    const int blocks = min(32, (N + THREADS_PER_BLOCK - 1) / THREADS_PER_BLOCK);
    vector<int> in(N), out(blocks);
    iota(in.begin(), in.end(), 0);
    gpuErrchk(cudaMalloc((void **)&dev_in, N * sizeof(int)));
    gpuErrchk(cudaMalloc((void **)&dev_out, blocks * sizeof(int)));
    gpuErrchk(cudaMemcpy(dev_in, in.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    partial<<<blocks, THREADS_PER_BLOCK>>>(dev_in, dev_out);
    gpuErrchk(cudaPeekAtLastError());
    gpuErrchk(cudaMemcpy(&out[0], dev_out, blocks * sizeof(int), cudaMemcpyDeviceToHost));
    long sum = accumulate(out.begin(), out.end(), 0L);
    cout << "sum of " << N << " elements: " << fixed << setprecision(0) << (double)sum
         << endl;

    {
        DeviceArray<float> a(100), b(50);
        gpuErrchk(cudaMemset(a.pointer, 0, 100 * sizeof(float)));
    }
    cudaFree(dev_in);
    cudaFree(dev_out);
    string verdict = sum == N * (N - 1L) / 2 && argc == 1 && argv[0] ? "PASS" : "FAIL";
    cout << verdict << endl;
    return verdict == "PASS" ? 0 : 1;
}
