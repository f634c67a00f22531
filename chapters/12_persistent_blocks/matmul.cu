/*
 * Chapter 12: persistent blocks.
 *
 * What changes against chapter 11: the blocks stay. As many as the GPU holds at once are
 * started, and the work is dealt to them in equal shares, so that no SM idles while the
 * others do the last tiles. shares.cuh says who computes what, tiles.cuh is chapter 10's
 * pipeline in such a block, and thin.cuh has kernels for products with few rows or
 * columns, where tiles would be mostly empty. Here stands which of them a product gets.
 *
 * Run it:  make chapter12 && ./chapter12
 */
#include "matmul.h"
#include "thin.cuh"
#include "tiles.cuh"

struct large_tile : tile<128, 256, 8, 16, 8, 4, 1> {
};
struct middle_tile : tile<64, 128, 8, 8, 8, 4, 2> {
};
struct small_tile : tile<32, 128, 8, 4, 8, 4, 3> {
};

static int sms; // that the product is dealt to

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
// Not for two host threads or streams at once: they would share the scratch memory.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    if (!sms)
        CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    const struct work w = {
        M, N, K, alpha, beta, A, B, C, N % 4 == 0 && (size_t)C % 16 == 0};
    launch_tiles<middle_tile>(sms, &w);
}

static void matmul_on_3(int M, int N, int K, float alpha, const float *A, const float *B,
                        float beta, float *C)
{
    const int all = sms;
    sms = 3;
    matmul(M, N, K, alpha, A, B, beta, C);
    sms = all;
}

static const struct product PRODUCTS[] = {
    {400, 200, 80, 1.5f, -0.5f, matmul_on_3, "--sms 3"},
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
