// cuRAND's host calls: ranges, moments, sequences that can be had again, Sobol's spread.
// BUILD: -arch=sm_80 -lcurand
#include <curand.h>

#include "check.h"

#define RAND(call) EXPECT((call) == CURAND_STATUS_SUCCESS)

enum { N = 20000 };

__global__ void sum_up(const float *x, int n, float *sum)
{
    float mine = 0.0f;
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) mine += x[i];
    atomicAdd(sum, mine);
}

static void pseudorandom(curandRngType_t type, float *first)
{
    curandGenerator_t device, host;
    float *d, *sum, *h = (float *)malloc(N * sizeof *h),
                    *copy = (float *)malloc(N * sizeof *h);
    CHECK(cudaMalloc(&d, N * sizeof *d));
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    RAND(curandCreateGenerator(&device, type));
    RAND(curandCreateGeneratorHost(&host, type));
    RAND(curandSetPseudoRandomGeneratorSeed(device, 1234));
    RAND(curandSetPseudoRandomGeneratorSeed(host, 1234));
    RAND(curandGenerateUniform(device, d, N));
    RAND(curandGenerateUniform(host, h, N));
    CHECK(cudaMemcpy(copy, d, N * sizeof *d, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) EXPECT(copy[i] == h[i] && h[i] > 0.0f && h[i] <= 1.0f);
    *first = h[0];
    *sum = 0.0f;
    sum_up<<<1, 64>>>(d, N, sum);
    CHECK(cudaDeviceSynchronize());
    EXPECT(close_to(*sum / N, 0.5, 0.01));

    RAND(curandGenerateUniform(device, d, 10));
    CHECK(cudaMemcpy(copy, d, 10 * sizeof *d, cudaMemcpyDeviceToHost));
    EXPECT(copy[0] != h[0]);
    RAND(curandSetGeneratorOffset(host, N));
    RAND(curandGenerateUniform(host, h, 10));
    EXPECT(copy[9] == h[9]);

    RAND(curandGenerateNormal(device, d, N, 3.0f, 2.0f));
    CHECK(cudaMemcpy(h, d, N * sizeof *d, cudaMemcpyDeviceToHost));
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < N; i++) {
        mean += h[i] / N;
        square += (h[i] - 3.0) * (h[i] - 3.0) / N;
    }
    EXPECT(close_to(mean, 3.0, 0.02) && close_to(square, 4.0, 0.05));
    RAND(curandDestroyGenerator(device));
    RAND(curandDestroyGenerator(host));
    CHECK(cudaFree(d));
    CHECK(cudaFree(sum));
    free(h);
    free(copy);
}

static void poisson()
{
    curandGenerator_t host;
    unsigned *h = (unsigned *)malloc(N * sizeof *h);
    RAND(curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_DEFAULT));
    for (double lambda = 0.5; lambda < 1000.0; lambda *= 30.0) {
        RAND(curandGeneratePoisson(host, h, N, lambda));
        double mean = 0.0, square = 0.0;
        for (int i = 0; i < N; i++) {
            mean += (double)h[i] / N;
            square += (h[i] - lambda) * (h[i] - lambda) / N;
        }
        EXPECT(close_to(mean, lambda, 0.03) && close_to(square, lambda, 0.08));
    }
    RAND(curandDestroyGenerator(host));
    free(h);
}

// Among the first 2^10 points, each of 32 x 32 cells has one, in any two dimensions.
static void quasirandom()
{
    enum { POINTS = 1024, DIMENSIONS = 4 };
    curandGenerator_t host;
    double *h = (double *)malloc(POINTS * DIMENSIONS * sizeof *h);
    RAND(curandCreateGeneratorHost(&host, CURAND_RNG_QUASI_SOBOL64));
    RAND(curandSetQuasiRandomGeneratorDimensions(host, DIMENSIONS));
    RAND(curandGenerateUniformDouble(host, h, POINTS * DIMENSIONS));
    EXPECT(curandGenerateUniformDouble(host, h, POINTS * DIMENSIONS + 1) ==
           CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    for (int d = 0; d < DIMENSIONS; d++) {
        char seen[POINTS] = {0};
        for (int i = 0; i < POINTS; i++) {
            const int cell = (int)(h[d * POINTS + i] * POINTS) % POINTS;
            EXPECT(!seen[cell]);
            seen[cell] = 1;
        }
    }
    char cells[32][32] = {{0}};
    for (int i = 0; i < POINTS; i++) {
        const int x = (int)(h[i] * 32.0), y = (int)(h[POINTS + i] * 32.0);
        EXPECT(!cells[x][y]);
        cells[x][y] = 1;
    }
    RAND(curandDestroyGenerator(host));
    free(h);

    curandDirectionVectors32_t *vectors;
    RAND(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
    EXPECT(vectors[0][1] == 0x40000000 && vectors[1][1] == 0xc0000000);
}

int main()
{
    float xorwow, philox;
    pseudorandom(CURAND_RNG_PSEUDO_DEFAULT, &xorwow);
    pseudorandom(CURAND_RNG_PSEUDO_PHILOX4_32_10, &philox);
    EXPECT(xorwow != philox);
    poisson();
    quasirandom();
    return pass();
}
