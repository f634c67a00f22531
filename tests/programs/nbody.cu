// All pairs of bodies, a tile of positions at a time in shared memory, as float4.
#include "check.h"

enum { TILE = 64 };

__device__ float3 pull(float4 on, float4 from, float3 sum)
{
    const float dx = from.x - on.x, dy = from.y - on.y, dz = from.z - on.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float s = from.w * inverse * inverse * inverse;
    sum.x += dx * s;
    sum.y += dy * s;
    sum.z += dz * s;
    return sum;
}

__global__ void forces(const float4 *bodies, float3 *out, int n)
{
    __shared__ float4 tile[TILE];
    const int i = blockIdx.x * TILE + threadIdx.x;
    const float4 mine = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = {0.0f, 0.0f, 0.0f};
    for (int first = 0; first < n; first += TILE) {
        const int j = first + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; k++) sum = pull(mine, tile[k], sum);
        __syncthreads();
    }
    if (i < n) out[i] = sum;
}

int main(void)
{
    const int n = 150;
    float4 *bodies;
    float3 *out;
    CHECK(cudaMallocManaged(&bodies, n * sizeof *bodies));
    CHECK(cudaMallocManaged(&out, n * sizeof *out));
    for (int i = 0; i < n; i++)
        bodies[i] = make_float4(noise(4 * i), noise(4 * i + 1), noise(4 * i + 2),
                                1.0f + noise(4 * i + 3));
    forces<<<(n + TILE - 1) / TILE, TILE>>>(bodies, out, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        double x = 0.0, y = 0.0, z = 0.0;
        for (int j = 0; j < n; j++) {
            const double dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y;
            const double dz = bodies[j].z - bodies[i].z;
            const double s = bodies[j].w / pow(dx * dx + dy * dy + dz * dz + 0.01, 1.5);
            x += dx * s;
            y += dy * s;
            z += dz * s;
        }
        EXPECT(close_to(out[i].x, x, 1e-4) && close_to(out[i].y, y, 1e-4) &&
               close_to(out[i].z, z, 1e-4));
    }
    CHECK(cudaFree(bodies));
    CHECK(cudaFree(out));
    return pass();
}
