// aligned_size_t promises 16 bytes, and the array is declared for 4: with a plain size the
// copy goes on in smaller pieces.
// EXPECT: misaligned address
// EXPECT: tile is not declared with __align__(16)
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cuda/barrier>

// NVIDIA's barrier has a constructor; init() does its work.
#ifndef __CUDA_EMULATED__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

const int WIDTH = 64;

__global__ void reverse(const int *in, int *out)
{
    __shared__ int tile[WIDTH];
    __shared__ cuda::barrier<cuda::thread_scope_block> full;
    const int t = threadIdx.x;
    if (t == 0) init(&full, WIDTH);
    __syncthreads();
#ifdef FIXED
    const size_t bytes = sizeof tile;
#else
    const cuda::aligned_size_t<16> bytes(sizeof tile);
#endif
    if (t == 0) cuda::memcpy_async(tile, in, bytes, full); // FAULT
    full.arrive_and_wait();
    out[t] = tile[WIDTH - 1 - t];
}

int main(void)
{
    int *in, *out;
    cudaMalloc(&in, WIDTH * sizeof *in);
    cudaMalloc(&out, WIDTH * sizeof *out);
    cudaMemset(in, 0, WIDTH * sizeof *in);
    reverse<<<1, WIDTH>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
