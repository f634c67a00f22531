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
struct middle_tile : tile<64, 128, 16, 8, 8, 4, 3> {
};
struct square_tile : tile<64, 64, 16, 8, 4, 4, 4> {
};
struct flat_tile : tile<16, 128, 16, 4, 8, 4, 3> {
};
struct tall_tile : tile<64, 32, 16, 8, 4, 4, 3> {
};
// For the small kernel, which has less to set up.
struct small_square_tile : tile<128, 128, 8, 16, 8, 3, 2> {
};
struct small_flat_tile : tile<32, 128, 8, 4, 8, 4, 3> {
};
struct smallest_tile : tile<32, 64, 8, 4, 4, 8, 1> {
};

// What they take: see struct kind.
static const struct kind KINDS[] = {
    TILES(large_tile, 12000, 199, 171, 0),    TILES(middle_tile, 12000, 195, 152, 1500),
    TILES(square_tile, 9000, 183, 157, 1700), TILES(flat_tile, 10000, 165, 0, 1500),
    TILES(tall_tile, 10000, 147, 118, 0),     SMALL(small_square_tile, 6600, 198, 1000),
    SMALL(small_flat_tile, 4700, 179, 2200),  SMALL(smallest_tile, 5500, 136, 1200),
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
    const struct work w = {M, N, K, alpha, beta, A, B, C, aligned};
    const int count = sizeof KINDS / sizeof *KINDS;
    if (!launch_thin(sms, &w))
        fastest(KINDS, count, sms, M, N, K, wide_rows(&w))->launch(sms, &w);
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
    {127, 250, 70, 1.5f, -0.5f, matmul_on<1>, "--sms 1"},  // large_tile
    {188, 124, 40, 1.0f, 0.0f, matmul_on<1>, "--sms 1"},   // middle_tile
    {300, 130, 72, 1.5f, -0.5f, matmul_on<3>, "--sms 3"},  // square_tile
    {300, 133, 72, 1.0f, 0.0f, matmul_on<3>, "--sms 3"},   // again: counters are zero
    {15, 260, 72, -0.5f, 0.0f, matmul_on<3>, "--sms 3"},   // flat_tile
    {200, 65, 50, 1.5f, -0.5f, matmul_on<3>, "--sms 3"},   // tall_tile
    {100, 128, 72, 1.5f, 0.0f, matmul_on<3>, "--sms 3"},   // small_square_tile
    {2049, 129, 12, 1.5f, -0.5f, matmul_on<3>, "--sms 3"}, // a second band of tiles
    {7, 130, 45, 1.5f, -0.5f},                             // thin.cuh
    {3, 70, 300, 1.0f, 0.0f},
    {150, 13, 70, 1.5f, -0.5f},
    {150, 12, 72, 1.0f, 0.0f},
    {150, 7, 52, -0.5f, 2.0f},
    {20, 3, 1100, 1.0f, 0.0f},
    {70, 1, 48, 1.5f, -0.5f},
};

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 12,
        .title = "persistent blocks: no SM idles",
        .about = "copies",
        .launch = matmul,
        .flop_per_byte = large_tile::FLOP_PER_BYTE,
        .kernel = KERNEL(persistent_kernel<large_tile, 4>),
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
