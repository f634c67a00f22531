// Conway's game on a torus: a glider comes back one cell further after four generations.
#include "check.h"
#include <string.h>

enum { WIDTH = 40, HEIGHT = 24, BX = 16, BY = 8 };

__global__ void generation(const bool *now, bool *next)
{
    __shared__ unsigned char tile[BY + 2][BX + 2];
    for (unsigned i = threadIdx.y * BX + threadIdx.x; i < (BY + 2) * (BX + 2);
         i += BX * BY) {
        const int x = ((int)(blockIdx.x * BX + i % (BX + 2)) - 1 + WIDTH) % WIDTH;
        const int y = ((int)(blockIdx.y * BY + i / (BX + 2)) - 1 + HEIGHT) % HEIGHT;
        tile[i / (BX + 2)][i % (BX + 2)] = now[y * WIDTH + x];
    }
    __syncthreads();
    const unsigned x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int neighbours = -tile[threadIdx.y + 1][threadIdx.x + 1];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) neighbours += tile[threadIdx.y + j][threadIdx.x + i];
    const bool alive = tile[threadIdx.y + 1][threadIdx.x + 1];
    next[y * WIDTH + x] = neighbours == 3 || (alive && neighbours == 2);
}

int main(void)
{
    bool cells[HEIGHT][WIDTH], got[HEIGHT][WIDTH];
    memset(cells, 0, sizeof cells);
    cells[0][1] = cells[1][2] = cells[2][0] = cells[2][1] = cells[2][2] = true;
    bool *now, *next;
    CHECK(cudaMalloc(&now, sizeof cells));
    CHECK(cudaMalloc(&next, sizeof cells));
    CHECK(cudaMemcpy(now, cells, sizeof cells, cudaMemcpyHostToDevice));
    const dim3 blocks((WIDTH + BX - 1) / BX, (HEIGHT + BY - 1) / BY);
    const int times = 30;
    for (int g = 0; g < 4 * times; g++) {
        generation<<<blocks, dim3(BX, BY)>>>(now, next);
        bool *swap = now;
        now = next;
        next = swap;
    }
    CHECK(cudaMemcpy(got, now, sizeof got, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            EXPECT(got[(y + times) % HEIGHT][(x + times) % WIDTH] == cells[y][x]);
    CHECK(cudaFree(now));
    CHECK(cudaFree(next));
    return pass();
}
