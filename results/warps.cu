// How do warps hide latency? Lines for results/warps.csv (make warps): what the warps of
// one scheduler did, clock by clock, with 1 to 16 of them resident. Needs a GPU.
//
// Each warp goes round and round: it asks global memory for 128 bytes that are in no
// cache, waits for them, and makes MULTIPLY_ADDS multiply-adds of them. After each of the
// two it reads the clock of its multiprocessor. All multiprocessors are at work; the lines
// are those of one scheduler of one of them, in a stretch of WINDOW clocks in which none
// of its warps has ended.
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const int MULTIPLY_ADDS = 128;
const int SUMS = 8; // independent, so that none waits for the one before it
const int SCHEDULERS = 4, THREADS = SCHEDULERS * 32; // a block: a warp for each scheduler
const int MOST = 16;                                 // warps of a scheduler
const int ROUNDS = 48, WARM = 3;
const unsigned WINDOW = 18000; // clocks

struct round {
    unsigned came, done; // when its data have come, and its multiply-adds have begun
};
struct warp {
    unsigned multiprocessor, slot;
    struct round round[ROUNDS];
};

__device__ unsigned clock_now(void)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %clock64;" : "=l"(now));
    return (unsigned)now;
}

// A warp's data lie `step` floats apart.
__global__ void __launch_bounds__(THREADS)
    work(const float *data, size_t step, float x, struct warp *warps, float *sums)
{
    extern __shared__ char only_to_limit_how_many_blocks_fit[];
    __shared__ struct round seen[SCHEDULERS][ROUNDS];
    const int me = threadIdx.x / 32, warp = blockIdx.x * SCHEDULERS + me;
    const int thread = blockIdx.x * THREADS + threadIdx.x;
    const float *from = data + thread;
    struct round *now = seen[me], *const end = now + ROUNDS;
    float sum[SUMS];
    for (int i = 0; i < SUMS; ++i) sum[i] = x * i;

#pragma unroll 1
    do {
        float value;
        asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(from));
        from += step;
        // Memory holds zeros; but only who has them can tell, so the warp waits here.
        if (value != 0.0f) break;
        const unsigned came = clock_now();
#pragma unroll
        for (int i = 0; i < MULTIPLY_ADDS; ++i)
            asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                         : "+f"(sum[i % SUMS])
                         : "f"(x), "f"(value));
        *now = {came, clock_now()};
    } while (++now < end);

    float total = 0.0f; // or the compiler would see that nothing needs the sums
    for (int i = 0; i < SUMS; ++i) total += sum[i];
    sums[thread] = total;
    if (threadIdx.x % 32 == 0) {
        asm("mov.u32 %0, %smid;" : "=r"(warps[warp].multiprocessor));
        asm("mov.u32 %0, %warpid;" : "=r"(warps[warp].slot));
        for (int i = 0; i < ROUNDS; ++i) warps[warp].round[i] = seen[me][i];
    }
}

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice ? 3 : 1);
}
#define CHECK(call) check(call, #call)

int main(void)
{
    struct cudaDeviceProp gpu;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int cuda;
    CHECK(cudaRuntimeGetVersion(&cuda));
    char date[16];
    const time_t today = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&today));

    const size_t most = (size_t)gpu.multiProcessorCount * MOST * SCHEDULERS;
    const size_t bytes = most * 32 * ROUNDS * sizeof(float), cache = 256 << 20;
    float *data, *sums;
    void *other;
    struct warp *const warps = (struct warp *)malloc(most * sizeof *warps), *there;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMalloc(&sums, most * 32 * sizeof *sums));
    CHECK(cudaMalloc(&other, cache));
    CHECK(cudaMalloc(&there, most * sizeof *there));
    CHECK(cudaMemset(data, 0, bytes));

    printf("gpu,cuda,date,multiply_adds,window,warps,warp,asked,came,done\n");
    for (int n = 1; n <= MOST; ++n) {
        // So much shared memory for each block that n blocks fit.
        const size_t own = sizeof(struct round) * SCHEDULERS * ROUNDS;
        size_t room = gpu.sharedMemPerMultiprocessor / n - gpu.reservedSharedMemPerBlock;
        if (room > gpu.sharedMemPerBlockOptin) room = gpu.sharedMemPerBlockOptin;
        room = (room - own) / 128 * 128;
        CHECK(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (int)room));
        const int blocks = gpu.multiProcessorCount * n, count = blocks * SCHEDULERS;
        for (int time = 0; time < 3; ++time) { // the last one counts
            CHECK(cudaMemset(other, time, cache));
            work<<<blocks, THREADS, room>>>(data, (size_t)count * 32, 0.5f, there, sums);
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
        }
        CHECK(cudaMemcpy(warps, there, count * sizeof *warps, cudaMemcpyDeviceToHost));

        // The warps of the first one's scheduler, and when all of them are at work.
        const struct warp *mine[MOST];
        const unsigned zero = warps[0].round[WARM].done;
        int found = 0, begin = 0, end = 1 << 30;
        for (int i = 0; i < count; ++i) {
            const struct warp *const warp = &warps[i];
            if (warp->multiprocessor != warps->multiprocessor ||
                warp->slot % SCHEDULERS != warps->slot % SCHEDULERS || found++ >= n)
                continue;
            mine[found - 1] = warp;
            const int first = warp->round[WARM].done - zero;
            const int last = warp->round[ROUNDS - 1].done - zero;
            begin = first > begin ? first : begin;
            end = last < end ? last : end;
        }
        if (found != n || end - begin < (int)WINDOW) {
            fprintf(stderr, "%d warps: there were %d, together for %d clocks\n", n, found,
                    end - begin);
            return 1;
        }
        for (int i = 0; i < n; ++i)
            for (int r = 1; r < ROUNDS; ++r) {
                const struct round *const at = &mine[i]->round[r];
                const int asked = at[-1].done - zero - begin,
                          done = at->done - zero - begin;
                if (done > 0 && asked < (int)WINDOW)
                    printf("%s,%d.%d,%s,%d,%u,%d,%d,%d,%d,%d\n", gpu.name, cuda / 1000,
                           cuda % 1000 / 10, date, MULTIPLY_ADDS, WINDOW, n, i, asked,
                           (int)(at->came - zero) - begin, done);
            }
    }
    return 0;
}
