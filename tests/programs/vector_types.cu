// float4, int2 and their kin: 8- and 16-byte loads, makers, structures that hold them.
#include "check.h"

struct Particle {
    float4 position;
    int2 cell;
    uchar4 colour;
};

__global__ void copy4(const float *in, float *out, int n)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 v = *(const float4 *)(in + i);
        v.x += 1.0f;
        v.w *= 2.0f;
        reinterpret_cast<float4 *>(out)[i / 4] = v;
    } else {
        for (int j = i; j < n; j++) out[j] = in[j];
    }
}

__global__ void pairs(const int2 *in, int2 *out, double2 *d)
{
    __shared__ int2 tile[32];
    const int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    const int2 other = tile[31 - t];
    out[t] = make_int2(other.y, other.x);
    d[t] = make_double2(other.x, 0.5 * other.y);
}

__global__ void move(Particle *p, float3 by)
{
    Particle mine = p[threadIdx.x];
    mine.position.x += by.x;
    mine.position.y += by.y;
    mine.position.z += by.z;
    mine.cell = make_int2((int)floorf(mine.position.x), mine.cell.y + 1);
    mine.colour.z = (unsigned char)threadIdx.x;
    p[threadIdx.x] = mine;
}

int main(void)
{
    static_assert(sizeof(float4) == 16 && alignof(float4) == 16, "float4");
    static_assert(sizeof(float3) == 12 && alignof(int2) == 8, "float3, int2");
    const int n = 103;
    float *in, *out;
    CHECK(cudaMallocManaged(&in, n * sizeof *in));
    CHECK(cudaMallocManaged(&out, n * sizeof *out));
    for (int i = 0; i < n; i++) in[i] = (float)i;
    copy4<<<1, 32>>>(in, out, n);

    int2 *a, *b;
    double2 *d;
    Particle *p;
    CHECK(cudaMallocManaged(&a, 32 * sizeof *a));
    CHECK(cudaMallocManaged(&b, 32 * sizeof *b));
    CHECK(cudaMallocManaged(&d, 32 * sizeof *d));
    CHECK(cudaMallocManaged(&p, 32 * sizeof *p));
    for (int i = 0; i < 32; i++) {
        a[i].x = i;
        a[i].y = -i;
        p[i].position = make_float4(i, 2 * i, 3 * i, 1);
        p[i].cell = make_int2(0, i);
        p[i].colour = make_uchar4(1, 2, 3, 4);
    }
    pairs<<<1, 32>>>(a, b, d);
    move<<<1, 32>>>(p, make_float3(0.5f, 1.0f, -1.0f));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == in[i] + (i < 100 && i % 4 == 0   ? 1.0f
                                  : i < 100 && i % 4 == 3 ? in[i]
                                                          : 0.0f));
    for (int i = 0; i < 32; i++) {
        EXPECT(b[i].x == i - 31 && b[i].y == 31 - i);
        EXPECT(d[i].x == 31 - i && d[i].y == 0.5 * (i - 31));
        EXPECT(p[i].position.x == i + 0.5f && p[i].position.z == 3 * i - 1 &&
               p[i].position.w == 1);
        EXPECT(p[i].cell.x == i && p[i].cell.y == i + 1);
        EXPECT(p[i].colour.x == 1 && p[i].colour.z == i && p[i].colour.w == 4);
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(d));
    CHECK(cudaFree(p));
    return pass();
}
