// The copy engine: plain bytes in both directions, boxes of tensors of one to five
// dimensions, swizzles, reductions.
#include "ptx.h"

#include <cuda.h>

static __device__ unsigned address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void init(unsigned b)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;" ::"r"(b)
                 : "memory");
}

static __device__ void announce(unsigned b, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b),
                 "r"(bytes)
                 : "memory");
}

static __device__ void wait(unsigned b, unsigned parity)
{
    unsigned p;
    do
        asm volatile(
            "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
            "selp.u32 %0, 1, 0, p;}"
            : "=r"(p)
            : "r"(b), "r"(parity)
            : "memory");
    while (!p);
}

static __device__ void flush(void)
{
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

static __device__ void fence(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Of one thread: 256 bytes in, doubled, out; and added to what is there.
static __device__ void bytes(unsigned *data)
{
    __shared__ __align__(16) unsigned box[64]; // which is enough for plain bytes
    __shared__ __align__(8) unsigned long long barrier;
    const unsigned b = address(&barrier), at = address(box);
    init(b);
    announce(b, 256);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], 192, [%2];\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0 + 192], [%1 + 192], %3, [%2], %4;" ::"r"(at),
                 "l"(data), "r"(b), "r"(64), "l"(0x1000000000000000ull)
                 : "memory");
    wait(b, 0);
    for (unsigned i = 0; i < 64; i++) {
        IS(box[i], i);
        box[i] *= 2;
    }
    fence();
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(data + 64),
        "r"(at)
        : "memory");
    flush();
    IS(data[64 + 33], 66);
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128;\n"
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0 + 128], [%1], "
        "128;"
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::"l"(data + 64),
        "r"(at)
        : "memory");
    flush();
    IS(data[64 + 10], 40);
    IS(data[64 + 32], 64);
    for (unsigned i = 0; i < 4; i++) box[i] = 0x3c003c00; // fp16: 1, 1
    fence();
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16"
                 " [%0], [%1], 16;" ::"l"(data + 128),
                 "r"(at)
                 : "memory");
    flush();
    IS(data[128], 0x3c003c00);
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(b) : "memory");
}

// From shared memory into shared memory: two reductions, and what they bring is announced.
static __device__ void reductions(void)
{
    __shared__ __align__(16) unsigned sums[8], more[8];
    __shared__ __align__(8) unsigned long long barrier;
    const unsigned b = address(&barrier), to = address(sums), from = address(more);
    init(b);
    for (unsigned i = 0; i < 8; i++) sums[i] = 10, more[i] = i;
    fence();
    announce(b, 48);
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta"
        ".mbarrier::complete_tx::bytes.add.u32 [%0], [%1], 16, [%2];\n"
        "cp.reduce.async.bulk.shared::cluster.shared::cta"
        ".mbarrier::complete_tx::bytes.add.u32 [%0], [%1], 16, [%2];\n"
        "cp.reduce.async.bulk.shared::cluster.shared::cta"
        ".mbarrier::complete_tx::bytes.max.s32 [%0 + 16], [%1 + 16], 16, [%2];" ::"r"(to),
        "r"(from), "r"(b)
        : "memory");
    wait(b, 0);
    for (unsigned i = 0; i < 4; i++) IS(sums[i], 10 + 2 * i);
    for (unsigned i = 4; i < 8; i++) IS(sums[i], 10);
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(b) : "memory");
}

// Brings a box: to `at`, of `map`, for barrier `b`.
#define LOAD(dimensions, coordinates, ...)                                               \
    asm volatile("cp.async.bulk.tensor." dimensions                                      \
                 ".shared::cluster.global.mbarrier::complete_tx::bytes"                  \
                 " [%0], [%1, " coordinates "], [%2];" ::"r"(at),                        \
                 "l"(map), "r"(b), __VA_ARGS__                                           \
                 : "memory")

struct maps {
    CUtensorMap of[5];
};

// The tensor holds, at [v][u][z][y][x], x + 16 y + 256 z + 4096 u + 65536 v.
static const unsigned SIZES[5] = {16, 6, 5, 4, 3}, BOXES[5][5] = {{8, 1, 1, 1, 1},
                                                                  {8, 2, 1, 1, 1},
                                                                  {4, 2, 4, 1, 1},
                                                                  {4, 2, 2, 2, 1},
                                                                  {4, 2, 2, 2, 2}};

static __device__ unsigned expected(int d, const int *start, int i)
{
    const unsigned sizes[5] = {16, 6, 5, 4, 3}, boxes[5][5] = {{8, 1, 1, 1, 1},
                                                               {8, 2, 1, 1, 1},
                                                               {4, 2, 4, 1, 1},
                                                               {4, 2, 2, 2, 1},
                                                               {4, 2, 2, 2, 2}};
    unsigned value = 0;
    for (int k = 0; k < 5; k++) {
        const int at = start[k] + (int)(i % boxes[d][k]);
        i /= boxes[d][k];
        if (at < 0 || at >= (int)sizes[k]) return 0;
        value += (unsigned)at << 4 * k;
    }
    return value;
}

__global__ void dimensions(const __grid_constant__ maps m, unsigned *data)
{
    __shared__ __align__(128) unsigned box[5][64];
    __shared__ __align__(8) unsigned long long barrier;
    const int starts[5][5] = {{12, 0, 0, 0, 0},
                              {4, -1, 0, 0, 0},
                              {0, 2, 3, 0, 0},
                              {8, 4, 1, 2, 0},
                              {12, 4, 3, 2, 1}};
    const unsigned b = address(&barrier);
    bytes(data);
    reductions();
    init(b);
    announce(b, 4 * (8 + 16 + 32 + 32 + 64));
    const CUtensorMap *map = &m.of[0];
    unsigned at = address(box[0]);
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
    LOAD("1d", "{%3}", "r"(12));
    map = &m.of[1], at = address(box[1]);
    LOAD("2d", "{%3, %4}", "r"(4), "r"(-1));
    map = &m.of[2], at = address(box[2]);
    LOAD("3d", "{%3, %4, %5}", "r"(0), "r"(2), "r"(3));
    map = &m.of[3], at = address(box[3]);
    LOAD("4d", "{%3, %4, %5, %6}", "r"(8), "r"(4), "r"(1), "r"(2));
    map = &m.of[4], at = address(box[4]);
    LOAD("5d", "{%3, %4, %5, %6, %7}", "r"(12), "r"(4), "r"(3), "r"(2), "r"(1));
    wait(b, 0);
    const int counts[5] = {8, 16, 32, 32, 64};
    for (int d = 0; d < 5; d++)
        for (int i = 0; i < counts[d]; i++) IS(box[d][i], expected(d, starts[d], i));
}

// 16 rows of 32, 64 or 128 bytes, whose 16-byte pieces change places; out again the same
// way, and added.
__global__ void swizzles(const __grid_constant__ maps from,
                         const __grid_constant__ maps to, unsigned short *out, int width,
                         int mode)
{
    __shared__ __align__(1024) unsigned short box[16 * 64];
    __shared__ __align__(8) unsigned long long barrier;
    const unsigned b = address(&barrier), at = address(box);
    const int cols = width / 2;
    init(b);
    announce(b, (unsigned)(16 * width));
    const CUtensorMap *map = &from.of[mode];
    LOAD("2d", "{%3, %4}", "r"(0), "r"(1));
    wait(b, 0);
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < cols; col++) {
            const int offset = row * width + 2 * col;
            const int mask = mode == 3 ? 7 : mode == 2 ? 3 : mode;
            const int place = offset ^ (offset >> 7 & mask) << 4;
            IS(box[place / 2], (row + 1) * 64 + col);
        }
    map = &to.of[mode];
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::
            "l"(map),
        "r"(0), "r"(2), "r"(at)
        : "memory");
    flush();
    IS(out[2 * 64 + 5], 64 + 5);
    IS(out[17 * 64 + cols - 1], 16 * 64 + cols - 1);
    IS(out[18 * 64], 0);
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint"
        " [%0, {%1, %2}], [%3], %4;" ::"l"(map),
        "r"(cols - 8), "r"(30), "r"(at), "l"(0ull)
        : "memory");
    flush(); // two rows and eight columns of it lie inside
    IS(out[31 * 64 + cols - 1], 2 * 64 + 7);
}

// fp32: what lies outside comes as NaN; a box is added to what is there.
__global__ void floats(const __grid_constant__ CUtensorMap m, float *out)
{
    __shared__ __align__(128) float box[4][8];
    __shared__ __align__(8) unsigned long long barrier;
    const unsigned b = address(&barrier), at = address(box);
    init(b);
    announce(b, sizeof box);
    const CUtensorMap *map = &m;
    LOAD("2d", "{%3, %4}", "r"(4), "r"(6));
    wait(b, 0);
    IS(bits(box[1][3]), bits(7.0f * 8 + 7));
    IS(box[2][0] == box[2][0] || box[0][4] == box[0][4], 0);
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group"
                 " [%0, {%1, %2}], [%3];" ::"l"(map),
                 "r"(4), "r"(6), "r"(at)
                 : "memory");
    flush();
    IS(bits(out[63]), bits(2 * 63.0f));
    IS(bits(out[7]), bits(7.0f));
}

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                              const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                              const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill);
static encode_tiled *encode;

static CUtensorMap map_of(CUtensorMapDataType type, unsigned bytes, void *data,
                          unsigned rank, const unsigned *sizes, const unsigned *boxes,
                          int swizzle, int fill)
{
    cuuint64_t dims[5], strides[5];
    cuuint32_t box[5], steps[5];
    for (unsigned d = 0; d < rank; d++) {
        dims[d] = sizes[d];
        strides[d] = (d ? strides[d - 1] : bytes) * sizes[d];
        box[d] = boxes[d];
        steps[d] = 1;
    }
    CUtensorMap map;
    memset(&map, 0, sizeof map);
    const CUresult error =
        encode(&map, type, rank, data, dims, strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)fill);
    if (error != CUDA_SUCCESS) printf("no tensor map: error %d\n", (int)error);
    return map;
}

int main(void)
{
    void *found;
    enum cudaDriverEntryPointQueryResult how;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                     cudaEnableDefault, &how);
    encode = (encode_tiled *)found;

    static unsigned tensor[3][4][5][6][16], numbers[192];
    for (unsigned v = 0; v < 3; v++)
        for (unsigned u = 0; u < 4; u++)
            for (unsigned z = 0; z < 5; z++)
                for (unsigned y = 0; y < 6; y++)
                    for (unsigned x = 0; x < 16; x++)
                        tensor[v][u][z][y][x] =
                            x + 16 * y + 256 * z + 4096 * u + 65536 * v;
    for (unsigned i = 0; i < 64; i++) numbers[i] = i;
    unsigned *d_tensor, *d_numbers;
    cudaMalloc(&d_tensor, sizeof tensor);
    cudaMalloc(&d_numbers, sizeof numbers);
    cudaMemcpy(d_tensor, tensor, sizeof tensor, cudaMemcpyHostToDevice);
    cudaMemcpy(d_numbers, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    maps m, to;
    for (unsigned d = 0; d < 5; d++)
        m.of[d] = map_of(CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, d_tensor, d + 1, SIZES,
                         BOXES[d], 0, 0);
    dimensions<<<1, 1>>>(m, d_numbers);

    static unsigned short matrix[32][64];
    for (int i = 0; i < 32 * 64; i++) matrix[i / 64][i % 64] = (unsigned short)i;
    unsigned short *d_from, *d_to;
    cudaMalloc(&d_from, sizeof matrix);
    cudaMalloc(&d_to, sizeof matrix);
    cudaMemcpy(d_from, matrix, sizeof matrix, cudaMemcpyHostToDevice);
    for (int mode = 0; mode < 4; mode++) {
        const int width = mode ? 16 << mode : 128;
        const unsigned sizes[2] = {64, 32}, boxes[2] = {(unsigned)width / 2, 16};
        m.of[mode] =
            map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, d_from, 2, sizes, boxes, mode, 0);
        to.of[mode] =
            map_of(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, d_to, 2, sizes, boxes, mode, 0);
        cudaMemset(d_to, 0, sizeof matrix);
        swizzles<<<1, 1>>>(m, to, d_to, width, mode);
    }

    float values[8][8], *d_values;
    for (int i = 0; i < 64; i++) values[i / 8][i % 8] = (float)i;
    cudaMalloc(&d_values, sizeof values);
    cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice);
    const unsigned square[2] = {8, 8}, wide[2] = {8, 4};
    floats<<<1, 1>>>(map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, d_values, 2, square, wide,
                            0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA),
                     d_values);
    const int status = verdict();
    cudaFree(d_tensor);
    cudaFree(d_numbers);
    cudaFree(d_from);
    cudaFree(d_to);
    cudaFree(d_values);
    return status;
}
