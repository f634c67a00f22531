// Seven-point stencil on a 3-D grid of 3-D blocks, several steps, two buffers swapped.
#include "check.h"
#include <string.h>

#define AT(x, y, z) (((size_t)(z) * ny + (y)) * nx + (x))

__global__ void step(const double *in, double *out, int nx, int ny, int nz)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    const double here = in[AT(x, y, z)];
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        out[AT(x, y, z)] = here;
        return;
    }
    out[AT(x, y, z)] =
        here + 0.1 * (in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)] + in[AT(x, y - 1, z)] +
                      in[AT(x, y + 1, z)] + in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)] -
                      6.0 * here);
}

int main(void)
{
    const int nx = 21, ny = 13, nz = 10, steps = 4;
    const size_t bytes = sizeof(double) * nx * ny * nz;
    double *want = (double *)malloc(bytes), *next = (double *)malloc(bytes);
    double *got = (double *)malloc(bytes), *d_in, *d_out;
    for (int i = 0; i < nx * ny * nz; i++) want[i] = noise(i);
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_in, want, bytes, cudaMemcpyHostToDevice));

    const dim3 block(8, 4, 2);
    const dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y,
                    (nz + block.z - 1) / block.z);
    for (int s = 0; s < steps; s++) {
        step<<<grid, block>>>(d_in, d_out, nx, ny, nz);
        CHECK(cudaGetLastError());
        double *swap = d_in;
        d_in = d_out;
        d_out = swap;

        memcpy(next, want, bytes);
        for (int z = 1; z < nz - 1; z++)
            for (int y = 1; y < ny - 1; y++)
                for (int x = 1; x < nx - 1; x++)
                    next[AT(x, y, z)] +=
                        0.1 * (want[AT(x - 1, y, z)] + want[AT(x + 1, y, z)] +
                               want[AT(x, y - 1, z)] + want[AT(x, y + 1, z)] +
                               want[AT(x, y, z - 1)] + want[AT(x, y, z + 1)] -
                               6.0 * want[AT(x, y, z)]);
        memcpy(want, next, bytes);
    }
    CHECK(cudaMemcpy(got, d_in, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < nx * ny * nz; i++) EXPECT(close_to(got[i], want[i], 1e-12));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    free(want);
    free(next);
    free(got);
    return pass();
}
