/*
 * Chapter 12: persistent blocks.
 *
 * What changes against chapter 11: the blocks stay. As many as the GPU holds at once are
 * started, and the work is dealt to them in equal shares, so that no SM idles while the
 * others do the last tiles. shares.cuh says who computes what, and tiles.cuh is chapter
 * 10's pipeline in such a block. small.cuh is for products that are done before this has
 * begun, thin.cuh and narrow.cuh for few rows or columns, where tiles would be mostly
 * empty; choose.cuh finds out which of them a product gets.
 *
 * Run it:  make chapter12 && ./chapter12
 */
#include "matmul.h"
#include "thin.cuh"
#include "tiles.cuh"

struct large_tile : tile<128, 256, 8, 16, 8, 4, 1> {
};
struct medium_tile : tile<128, 128, 8, 16, 8, 3, 2> {
};
struct low_tile : tile<48, 128, 16, 12, 4, 4, 3> {
};
struct high_tile : tile<128, 64, 16, 8, 8, 4, 2> {
};
struct flat_tile : tile<16, 128, 16, 4, 8, 4, 3> {
};
// For the small kernel, which has less to set up.
struct small_square_tile : tile<128, 128, 8, 16, 8, 3, 2> {
};
struct small_wide_tile : tile<64, 128, 16, 8, 8, 4, 3> {
};
struct small_flat_tile : tile<32, 128, 8, 4, 8, 4, 3> {
};
struct smallest_tile : tile<32, 64, 8, 4, 4, 8, 1> {
};

// What they take: see struct kind.
static const struct kind KINDS[] = {
    TILES(large_tile, 4000, 203, 171, 7200),
    TILES(medium_tile, 16500, 201, 173, 0),
    TILES(low_tile, 9600, 186, 168, 2600),
    TILES(high_tile, 6100, 186, 142, 6000),
    TILES(flat_tile, 7400, 125, 0, 2700),
    SMALL(small_square_tile, 6900, 203, 150, 0),
    SMALL(small_wide_tile, 5100, 199, 113, 1200),
    SMALL(small_flat_tile, 4300, 156, 74, 1900),
    SMALL(smallest_tile, 4100, 102, 58, 2150),
    APART(small_wide_tile, 7800, 215, 0),
    APART(small_flat_tile, 6600, 140, 0),
    APART(smallest_tile, 5900, 94, 0),
};

static int sms; // that the product is dealt to

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
// Not for two host threads or streams at once: they would share the scratch memory.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    if (!sms)
        CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    const bool aligned = N % 4 == 0 && (size_t)C % 16 == 0;
    const struct work w = {M, N, K, alpha, beta, A, B, C, N, N, aligned};
    const int count = sizeof KINDS / sizeof *KINDS;
    if (!launch_thin(sms, &w))
        launch_fastest(KINDS, count, sms, &w);
}

// What a large product does on all SMs, a small one does on a few: it gets a tile as
// large, stages are filled again and again, and tiles are shared. So checking it takes no
// time.
template <int SMS>
static void matmul_on(int M, int N, int K, float alpha, const float *A, const float *B,
                      float beta, float *C)
{
    const int all = sms;
    sms = SMS;
    matmul(M, N, K, alpha, A, B, beta, C);
    sms = all;
}

// Each of the kernels is among these, or gets one of the shapes of common/shapes.c.
static const struct product PRODUCTS[] = {
    {145, 133, 26, 1.5f, -0.5f, matmul_on<2>, "--sms 2"}, // large_tile
    {165, 132, 36, 1.0f, 0.0f, matmul_on<2>, "--sms 2"},
    {104, 127, 167, -0.5f, 2.0f, matmul_on<1>, "--sms 1"}, // medium_tile, shared
    {195, 68, 26, 1.0f, 0.0f, matmul_on<1>, "--sms 1"},
    {74, 134, 50, 1.5f, -0.5f, matmul_on<1>, "--sms 1"}, // low_tile, whole and shared
    {65, 68, 51, 1.0f, 0.0f, matmul_on<1>, "--sms 1"},
    {79, 17, 35, 1.0f, 0.0f, matmul_on<1>, "--sms 1"},   // high_tile
    {15, 260, 72, 1.0f, 0.0f, matmul_on<3>, "--sms 3"},  // flat_tile
    {100, 68, 98, -0.5f, 2.0f, matmul_on<2>, "--sms 2"}, // small_square_tile
    {50, 127, 51, 1.5f, -0.5f, matmul_on<2>, "--sms 2"}, // small_wide_tile, apart
    {50, 68, 51, 1.0f, 0.0f, matmul_on<1>, "--sms 1"},
    {9, 73, 259, 1.0f, 0.0f, matmul_on<3>, "--sms 3"}, // small_flat_tile, apart
    {9, 65, 14, 1.5f, -0.5f, matmul_on<2>, "--sms 2", USUAL, NULL, 'b'},
    {12, 69, 69, 1.5f, -0.5f, matmul_on<3>, "--sms 3"},
    {1101, 34, 26, 1.0f, 0.0f, matmul_on<3>, "--sms 3"},  // a copy of B with longer rows
    {2049, 66, 9, 1.5f, -0.5f, matmul_on<3>, "--sms 3"},  // a second band of tiles
    {7, 130, 45, 1.5f, -0.5f},                            // thin.cuh
    {3, 70, 2100, 1.0f, 0.0f, matmul_on<1>, "--sms 1"},   // two chunks of A a block
    {120, 13, 258, 1.5f, -0.5f, matmul_on<1>, "--sms 1"}, // round the ring
    {1001, 21, 36, 1.0f, 0.0f},
    {99, 12, 72, 1.0f, 0.0f},
    {99, 7, 52, -0.5f, 2.0f},
    {20, 3, 996, 1.0f, 0.0f},
    {9, 1, 48, 1.5f, -0.5f},
    {1, 76, 700, -0.5f, 2.0f, matmul_on<3>, "--sms 3"}, // a row, 16 warps a block
};

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 12,
        .title = "persistent blocks: no SM idles",
        .about = "copies",
        .launch = matmul,
        .flop_per_byte = large_tile::FLOP_PER_BYTE,
        .kernel = KERNEL(persistent_kernel<large_tile, 4, true>),
        .threads = large_tile::THREADS,
        .dynamic_shared = large_tile::SHARED_BYTES,
        .products = PRODUCTS,
        .product_count = sizeof PRODUCTS / sizeof *PRODUCTS,
        .own_option = "--sms",
        .own_value = &sms,
        .more_help = "    --sms N        deal the product to N SMs\n",
    };
    return chapter_main(argc, argv, &chapter);
}
