// curand_kernel.h: ranges, moments, sequences that can be had again, every type of state.
// BUILD: -arch=sm_80 -lcurand
#include <curand_kernel.h>

#include "check.h"

enum { THREADS = 256, EACH = 100, N = THREADS * EACH };

template <class State> __global__ void begin(State *states, unsigned long long seed)
{
    curand_init(seed, threadIdx.x, 0, &states[threadIdx.x]);
}

template <class State>
__global__ void draw(State *states, float *uniform, double *normal, unsigned *counts)
{
    const int i = (int)threadIdx.x;
    State state = states[i];
    for (int k = 0; k < EACH; k++) {
        uniform[k * THREADS + i] = curand_uniform(&state);
        const double2 two = curand_normal2_double(&state);
        normal[k * THREADS + i] = k % 2 ? two.x : two.y;
        counts[k * THREADS + i] = curand_poisson(&state, 3.5);
    }
    states[i] = state;
}

// What two states give that were begun alike, one of them skipping what the other draws.
__global__ void skip(unsigned *out)
{
    curandState one, other;
    curand_init(5, 7, 0, &one);
    curand_init(5, 7, 0, &other);
    for (int i = 0; i < 10; i++) curand(&one);
    skipahead(10, &other);
    out[0] = curand(&one);
    out[1] = curand(&other);
    curand_init(5, 7, 11, &other);
    out[2] = curand(&one);
    out[3] = curand(&other);
    curand_init(5, 6, 12, &other);
    skipahead_sequence(1, &other);
    out[4] = curand(&one);
    out[5] = curand(&other);
    curand_init(6, 7, 0, &other);
    out[6] = curand(&other);
}

__global__ void four_at_once(uint4 *bits, float4 *uniform, double2 *normal)
{
    curandStatePhilox4_32_10_t state;
    curand_init(1234ULL, threadIdx.x, 0, &state);
    bits[threadIdx.x] = curand4(&state);
    uniform[threadIdx.x] = curand_uniform4(&state);
    const float4 n = curand_normal4(&state);
    normal[threadIdx.x] = make_double2(n.x * n.y, n.z * n.w);
}

// The first points of Sobol's sequence are those of the host, whose first number is zero.
__global__ void quasi(curandDirectionVectors32_t *vectors,
                      curandDirectionVectors64_t *wide, unsigned *out, double *uniform)
{
    curandStateSobol32 sobol;
    curandStateScrambledSobol32_t scrambled;
    curandStateSobol64_t sobol_64;
    curand_init(vectors[1], 0, &sobol);
    curand_init(vectors[1], 0x1234u, 0, &scrambled);
    curand_init(wide[1], 4, &sobol_64);
    for (int i = 0; i < 8; i++) {
        out[i] = curand(&sobol);
        out[8 + i] = curand(&scrambled);
        uniform[i] = curand_uniform_double(&sobol_64);
    }
    skipahead(92, &sobol);
    out[16] = curand(&sobol);
}

/* A normal number is the point that has the uniform one on its left: how far is it off? */
__global__ void inverted(curandDirectionVectors64_t *wide, double *worst)
{
    curandStateSobol64_t uniform, normal;
    curand_init(wide[1], 1, &uniform);
    curand_init(wide[1], 1, &normal);
    *worst = 0.0;
    for (int i = 0; i < 4095; i++) {
        const double left = curand_uniform_double(&uniform),
                     x = curand_normal_double(&normal),
                     smaller = left < 0.5 ? left : 1.0 - left,
                     off = fabs(0.5 * erfc(fabs(x) * sqrt(0.5)) - smaller) / smaller;
        if (off > *worst || (x < 0.0) != (left < 0.5)) *worst = off;
    }
}

template <class State> static float moments()
{
    State *states;
    float *uniform, *h_uniform = new float[N];
    double *normal, *h_normal = new double[N];
    unsigned *counts, *h_counts = new unsigned[N];
    CHECK(cudaMalloc(&states, THREADS * sizeof *states));
    CHECK(cudaMalloc(&uniform, N * sizeof *uniform));
    CHECK(cudaMalloc(&normal, N * sizeof *normal));
    CHECK(cudaMalloc(&counts, N * sizeof *counts));
    begin<<<1, THREADS>>>(states, 42);
    draw<<<1, THREADS>>>(states, uniform, normal, counts);
    CHECK(cudaMemcpy(h_uniform, uniform, N * sizeof *uniform, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(h_normal, normal, N * sizeof *normal, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(h_counts, counts, N * sizeof *counts, cudaMemcpyDeviceToHost));
    double sum = 0.0, normals = 0.0, squares = 0.0, count = 0.0, neighbours = 0.0;
    for (int i = 0; i < N; i++) {
        EXPECT(h_uniform[i] > 0.0f && h_uniform[i] <= 1.0f);
        sum += h_uniform[i] / N;
        normals += h_normal[i] / N;
        squares += h_normal[i] * h_normal[i] / N;
        count += (double)h_counts[i] / N;
        if (i) neighbours += (h_uniform[i] - 0.5) * (h_uniform[i - 1] - 0.5) * 12.0 / N;
    }
    EXPECT(close_to(sum, 0.5, 0.01) && fabs(normals) < 0.02);
    EXPECT(close_to(squares, 1.0, 0.02) && close_to(count, 3.5, 0.02));
    EXPECT(fabs(neighbours) < 0.03); // one thread's numbers say nothing of the next one's
    CHECK(cudaFree(states));
    CHECK(cudaFree(uniform));
    CHECK(cudaFree(normal));
    CHECK(cudaFree(counts));
    const float last = h_uniform[N - 1];
    delete[] h_uniform;
    delete[] h_normal;
    delete[] h_counts;
    return last;
}

int main()
{
    EXPECT(moments<curandState>() == moments<curandState_t>());
    moments<curandStateMRG32k3a>();
    moments<curandStatePhilox4_32_10_t>();

    unsigned *out;
    double *uniform;
    CHECK(cudaMallocManaged(&out, 20 * sizeof *out));
    CHECK(cudaMallocManaged(&uniform, 8 * sizeof *uniform));
    skip<<<1, 1>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == out[1] && out[2] == out[3] && out[4] == out[5] && out[0] != out[2]);
    EXPECT(out[6] != out[0]);

    uint4 *bits;
    float4 *four;
    double2 *products;
    CHECK(cudaMallocManaged(&bits, 32 * sizeof *bits));
    CHECK(cudaMallocManaged(&four, 32 * sizeof *four));
    CHECK(cudaMallocManaged(&products, 32 * sizeof *products));
    four_at_once<<<1, 32>>>(bits, four, products);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) {
        EXPECT(bits[i].x != bits[i].y && bits[i].z != bits[i].w);
        EXPECT(four[i].x > 0.0f && four[i].w <= 1.0f && four[i].y != four[i].z);
        EXPECT(products[i].x != products[i].y);
    }

    curandDirectionVectors32_t *h_vectors, *vectors;
    curandDirectionVectors64_t *h_wide, *wide;
    EXPECT(curandGetDirectionVectors32(&h_vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6) ==
           CURAND_STATUS_SUCCESS);
    EXPECT(curandGetDirectionVectors64(&h_wide, CURAND_DIRECTION_VECTORS_64_JOEKUO6) ==
           CURAND_STATUS_SUCCESS);
    CHECK(cudaMalloc(&vectors, 2 * sizeof *vectors));
    CHECK(cudaMalloc(&wide, 2 * sizeof *wide));
    CHECK(cudaMemcpy(vectors, h_vectors, 2 * sizeof *vectors, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(wide, h_wide, 2 * sizeof *wide, cudaMemcpyHostToDevice));
    quasi<<<1, 1>>>(vectors, wide, out, uniform);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == 0 && out[1] == 1u << 31 && (out[2] ^ out[3]) == 1u << 31);
    for (int i = 0; i < 8; i++) EXPECT(out[8 + i] == (out[i] ^ 0x1234u));
    unsigned hundredth = 0;
    for (int b = 0, gray = 100 ^ 50; gray; b++, gray >>= 1)
        if (gray & 1) hundredth ^= h_vectors[1][b];
    EXPECT(out[16] == hundredth);
    for (int i = 0; i < 4; i++) EXPECT(close_to(uniform[i], out[4 + i] * 0x1p-32, 1e-9));
    inverted<<<1, 1>>>(wide, uniform);
    CHECK(cudaDeviceSynchronize());
    EXPECT(uniform[0] < 1e-12);

    CHECK(cudaFree(out));
    CHECK(cudaFree(uniform));
    CHECK(cudaFree(bits));
    CHECK(cudaFree(four));
    CHECK(cudaFree(products));
    CHECK(cudaFree(vectors));
    CHECK(cudaFree(wide));
    return pass();
}
