// The box has one row more than the array that it is copied to.
// EXPECT: out of bounds: a write
// EXPECT: past the end of its 384 bytes
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include "../../common/hopper.h"

#ifdef FIXED
enum { ROWS = 4, TILE = ROWS * 32 };
#else
enum { ROWS = 4, TILE = 3 * 32 };
#endif

__global__ void reverse(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[TILE];
    __shared__ uint64_t arrived;
    const int t = threadIdx.x;
    if (t == 0) {
        mbarrier_init(&arrived, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&arrived, ROWS * 32 * sizeof(float));
        cp_async_bulk_tensor_2d(tile, &map, 0, 0, &arrived); // FAULT
    }
    __syncthreads();
    mbarrier_wait_parity(&arrived, 0);
    out[t] = tile[TILE - 1 - t];
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * 32 * sizeof *in);
    cudaMalloc(&out, 128 * sizeof *out);
    cudaMemset(in, 0, 64 * 32 * sizeof *in);
    const CUtensorMap map = tensor_map_2d(in, 64, 32, 32, ROWS, 32);
    reverse<<<1, TILE>>>(map, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
