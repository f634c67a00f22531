// A matrix product as Hopper kernels make it: one warp has the copy engine fill a ring of
// stages, two warpgroups multiply them with wgmma, and barriers in shared memory are all
// that stands between. C is M x N, of A (M x K) and B (N x K), all row-major, bfloat16.
#include "ptx.h"

#include <cuda.h>
#include <math.h>

const int BM = 128, BN = 128, BK = 64, STAGES = 3; // a row of 64 is 128 bytes
const int CONSUMERS = 2, THREADS = 128 * (1 + CONSUMERS);

struct shared {
    unsigned short a[STAGES][BM * BK], b[STAGES][BN * BK];
    unsigned long long full[STAGES], empty[STAGES];
};

static __device__ __forceinline__ unsigned address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void init(unsigned long long *b, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(b)), "r"(count));
}

static __device__ __forceinline__ void arrive(unsigned long long *b)
{
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(address(b))
                 : "memory");
}

static __device__ __forceinline__ void announce(unsigned long long *b, unsigned bytes)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(b)),
        "r"(bytes)
        : "memory");
}

static __device__ __forceinline__ void wait(unsigned long long *b, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred P1;\n"
                 "LAB_WAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
                 "@P1 bra DONE;\n"
                 "bra LAB_WAIT;\n"
                 "DONE:\n"
                 "}" ::"r"(address(b)),
                 "r"(parity)
                 : "memory");
}

static __device__ __forceinline__ void load(void *to, const CUtensorMap *map, int x,
                                            int y, unsigned long long *b)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
        "bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(address(to)),
        "l"(map), "r"(address(b)), "r"(x), "r"(y)
        : "memory");
}

// Rows of 128 bytes with their swizzle; eight rows are 1,024 bytes.
static __device__ __forceinline__ unsigned long long descriptor(const void *tile)
{
    return (address(tile) & 0x3ffff) >> 4 | 1ull << 16 |
           (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

static __device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a,
                                                unsigned long long b, int add)
{
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
        "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "
        "%60, %61, %62, %63}, "
        "%64, %65, p, 1, 1, 0, 0;}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
          "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),
          "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
          "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
          "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]),
          "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
          "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(add));
}

static __device__ void produce(shared *s, const CUtensorMap *a, const CUtensorMap *b,
                               int blocks_k)
{
    if (threadIdx.x != 0) return;
    for (int i = 0; i < blocks_k; i++) {
        const int stage = i % STAGES;
        const unsigned parity = i / STAGES % 2;
        wait(&s->empty[stage], parity ^ 1);
        announce(&s->full[stage], sizeof s->a[0] + sizeof s->b[0]);
        load(s->a[stage], a, i * BK, blockIdx.y * BM, &s->full[stage]);
        load(s->b[stage], b, i * BK, blockIdx.x * BN, &s->full[stage]);
    }
}

static __device__ void consume(shared *s, float *C, int N, int blocks_k)
{
    const int t = threadIdx.x % 128, group = threadIdx.x / 128 - 1;
    float d[BN / 2];
    for (int i = 0; i < blocks_k; i++) {
        const int stage = i % STAGES;
        wait(&s->full[stage], i / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < BK; k += 16)
            multiply(d, descriptor(s->a[stage] + group * 64 * BK) + (k * 2 >> 4),
                     descriptor(s->b[stage]) + (k * 2 >> 4), i > 0 || k > 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        // The batch before this one is over: its stage may be filled again.
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (i > 0 && t == 0) arrive(&s->empty[(i - 1) % STAGES]);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    const int row = blockIdx.y * BM + group * 64 + t / 32 * 16 + t % 32 / 4,
              col = blockIdx.x * BN + t % 4 * 2;
    for (int j = 0; j < BN / 8; j++)
        for (int h = 0; h < 2; h++) {
            float2 *to = (float2 *)(C + (size_t)(row + 8 * h) * N + col + 8 * j);
            *to = make_float2(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
        }
}

__global__ void __launch_bounds__(THREADS)
    product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
            float *C, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    shared *s = (shared *)memory;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            init(&s->full[i], 1);
            init(&s->empty[i], CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        produce(s, &a, &b, K / BK);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume(s, C, N, K / BK);
    }
}

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                              const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                              const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill);

static CUtensorMap map_of(unsigned short *matrix, int rows, int cols, int box_rows)
{
    void *found;
    enum cudaDriverEntryPointQueryResult how;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                     cudaEnableDefault, &how);
    const cuuint64_t dims[2] = {(cuuint64_t)cols, (cuuint64_t)rows},
                     strides[1] = {2 * (cuuint64_t)cols};
    const cuuint32_t box[2] = {BK, (cuuint32_t)box_rows}, steps[2] = {1, 1};
    CUtensorMap map;
    memset(&map, 0, sizeof map);
    ((encode_tiled *)found)(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix, dims,
                            strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                            CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

static float value_of(unsigned short bits)
{
    const unsigned wide = (unsigned)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}

int main(void)
{
    enum { M = 256, N = 256, K = 256 };
    static unsigned short a[M * K], b[N * K];
    static float c[M * N];
    unsigned random = 1;
    for (int i = 0; i < M * K; i++) {
        random = random * 1664525 + 1013904223;
        a[i] = (unsigned short)(random >> 31 << 15 | 0x3f00 | (random >> 16 & 0xff));
        random = random * 1664525 + 1013904223;
        b[i] = (unsigned short)(random >> 31 << 15 | 0x3f00 | (random >> 16 & 0xff));
    }
    unsigned short *d_a, *d_b;
    float *d_c;
    cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_b, sizeof b);
    cudaMalloc(&d_c, sizeof c);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice);
    cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         sizeof(shared));
    product<<<dim3(N / BN, M / BM), THREADS, sizeof(shared)>>>(
        map_of(d_a, M, K, BM), map_of(d_b, N, K, BN), d_c, N, K);
    const int status = verdict();
    cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0.0, most = 0.0;
            for (int k = 0; k < K; k++) {
                const double x = (double)value_of(a[i * K + k]) * value_of(b[j * K + k]);
                sum += x;
                most += fabs(x);
            }
            wrong += !(fabs(c[i * N + j] - sum) <= 1e-5 * most);
        }
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    if (wrong) printf("%d of %d results are wrong\n", wrong, M * N);
    return status || wrong != 0;
}
