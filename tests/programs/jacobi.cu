// Jacobi iteration on a tile with a halo in shared memory, until a barrier's vote says
// stop.
#include "check.h"

enum { SIDE = 16, HALO = SIDE + 2, MOST = 200 };

__global__ void solve(const float *in, float *out, float tolerance, int *steps)
{
    __shared__ float grid[2][HALO][HALO];
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < HALO * HALO; i += SIDE * SIDE)
        grid[0][i / HALO][i % HALO] = grid[1][i / HALO][i % HALO] = in[i];
    __syncthreads();
    int now = 0, step = 0;
    for (bool moving = true; moving && step < MOST; ++step) {
        const float(*g)[HALO] = grid[now];
        const float v = 0.25f * (g[y - 1][x] + g[y + 1][x] + g[y][x - 1] + g[y][x + 1]);
        grid[1 - now][y][x] = v;
        moving = __syncthreads_or(fabsf(v - g[y][x]) > tolerance);
        now = 1 - now;
    }
    out[(y - 1) * SIDE + x - 1] = grid[now][y][x];
    if (threadIdx.x == 0 && threadIdx.y == 0) *steps = step;
}

int main(void)
{
    float *in, *out, g[2][HALO][HALO];
    int *steps;
    CHECK(cudaMallocManaged(&in, HALO * HALO * sizeof *in));
    CHECK(cudaMallocManaged(&out, SIDE * SIDE * sizeof *out));
    CHECK(cudaMallocManaged(&steps, sizeof *steps));
    for (int i = 0; i < HALO * HALO; i++)
        g[0][i / HALO][i % HALO] = g[1][i / HALO][i % HALO] = in[i] =
            i < HALO ? 1.0f : 0.0f;
    solve<<<1, dim3(SIDE, SIDE)>>>(in, out, 1e-3f, steps);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*steps > 10 && *steps < MOST);
    for (int s = 0; s < *steps; s++)
        for (int y = 1; y <= SIDE; y++)
            for (int x = 1; x <= SIDE; x++) {
                const float(*old)[HALO] = g[s % 2];
                g[1 - s % 2][y][x] = 0.25f * (old[y - 1][x] + old[y + 1][x] +
                                              old[y][x - 1] + old[y][x + 1]);
            }
    for (int i = 0; i < SIDE * SIDE; i++)
        EXPECT(close_to(out[i], g[*steps % 2][i / SIDE + 1][i % SIDE + 1], 1e-5));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(steps));
    return pass();
}
