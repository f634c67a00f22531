/* Small products at which every kernel of the chapter is checked: with --tile's kinds of
 * tiles and few clusters, as large products would see them, and as planned. */
#ifndef PRODUCTS_CUH
#define PRODUCTS_CUH

#include "tf32.cuh"

static void launch(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                   const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C);

template <int COLUMNS>
static void launch_few(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                       const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    const int before = tile_columns;
    tile_columns = COLUMNS;
    launch(M, N, K, alpha, A, B, beta, C);
    tile_columns = before;
}

static const struct product products[] = {
    {300, 200, 320, 1.5f, 0.0f, tf32_few<256>, "--tile 256", {}, launch_few<256>},
    {300, 200, 320, 1.5f, 0.0f, tf32_launch, NULL, {}, NULL, 'C'},
    {400, 187, 200, 1.5f, -0.5f, tf32_few<192>, "--tile 192", {}, launch_few<192>},
    {400, 187, 200, 1.5f, 0.0f, NULL, "--tile 160", {}, launch_few<160>},
    {400, 187, 200, 1.5f, -0.5f, tf32_launch, NULL, {}, NULL},
    {8, 9, 72, 1.5f, 0.0f, tf32_few<128>, "--tile 128", {}, NULL},
    {200, 632, 200, 1.5f, 0.0f, tf32_few<128>, "--tile 128", {}, launch_few<128>},
    {200, 632, 200, 1.5f, 0.0f, tf32_launch, NULL, {}, NULL, 'B'},
    {130, 600, 424, 1.5f, -0.5f, tf32_few<32>, "--tile 32", {}, launch_few<32>},
    {130, 600, 424, 1.5f, -0.5f, tf32_launch, NULL, {}, NULL},
    {2100, 264, 9, 1.5f, -0.5f, tf32_few<64>, "--tile 64", {}, launch_few<64>},
    {165, 520, 300, 1.5f, 0.0f, tf32_few<16>, "--tile 16", {}, launch_few<16>},
    {165, 520, 300, 1.5f, 0.0f, tf32_few<48>, "--tile 48", {}, launch_few<48>},
    {165, 520, 300, 1.5f, 0.0f, tf32_few<80>, "--tile 80", {}, launch_few<80>},
    {165, 520, 300, 1.5f, 0.0f, tf32_few<112>, "--tile 112", {}, launch_few<112>},
    {165, 520, 300, 1.5f, 0.0f, tf32_launch, NULL, {}, NULL, 'A'},
    {165, 520, 300, 1.5f, 0.0f, NULL, "--tile 144", {}, launch_few<144>},
    {165, 520, 300, 1.5f, 0.0f, NULL, "--tile 40", {}, launch_few<40>},
    {165, 520, 300, 1.5f, 0.0f, NULL, "--tile 72", {}, launch_few<72>},
    {165, 520, 300, 1.5f, 0.0f, NULL, "--tile 104", {}, launch_few<104>},
    {390, 264, 200, 1.5f, 0.0f, NULL, "--tile 88", {}, launch_few<88>},
    {390, 264, 200, 1.5f, 0.0f, NULL, "--tile 96", {}, launch_few<96>},
    {390, 264, 200, 1.5f, 0.0f, NULL, "--tile 176", {}, launch_few<176>},
    {390, 264, 200, 1.5f, 0.0f, NULL, "--tile 152", {}, launch_few<152>},
    {390, 264, 200, 1.5f, 0.0f, NULL, "--tile 160", {}, launch_few<160>},
    {390, 264, 200, 1.5f, 0.0f, NULL, "--tile 224", {}, launch_few<224>},
    {390, 264, 200, 1.5f, -0.5f, NULL, "--tile 160", {}, launch_few<160>},
    {390, 264, 200, 1.5f, -0.5f, NULL, "--tile 224", {}, launch_few<224>},
    {100, 120, 136, 1.5f, -0.5f, NULL, NULL, {}, launch},
    {45, 200, 552, -1.5f, 0.0f, NULL, NULL, {}, launch},
    {262, 1, 1000, 1.5f, 0.0f, NULL, "--tile 8", {}, launch_few<8>},
    {262, 1, 1000, 1.5f, -0.5f, NULL, NULL, {}, launch},
    {24, 72, 525, 1.5f, 0.0f, NULL, NULL, {}, launch},
    {40, 123, 520, 1.5f, -0.5f, NULL, NULL, {}, launch},
    {24, 75, 525, 1.5f, -0.5f, NULL, NULL, {}, launch},
    {8, 3, 2608, 1.5f, 0.0f, NULL, NULL, {}, launch},
    {513, 9, 397, 1.5f, -0.5f, tf32_launch, NULL, {}, launch},
    {300, 40, 270, 1.5f, 0.0f, tf32_launch, NULL, {}, NULL},
    {264, 17, 200, 1.5f, -0.5f, tf32_launch, NULL, {}, NULL},
    {2000, 5, 141, 1.5f, -0.5f, NULL, NULL, {}, launch},
    {130, 7, 525, 1.5f, -0.5f, NULL, NULL, {}, launch},
    {70, 103, 4104, 1.5f, -0.5f, NULL, NULL, {}, launch},
    {24, 24, 16424, 1.5f, -0.5f, NULL, NULL, {}, launch},
    {9, 16, 16424, 1.5f, 0.0f, NULL, NULL, {}, launch},
    {9, 12, 2820, 1.5f, -0.5f, tf32_launch, NULL, {}, NULL},
    {9, 12, 2820, 1.5f, 0.0f, tf32_launch, NULL, {}, NULL, 'A'},
    {9, 9, 8161, 1.5f, -0.5f, tf32_launch, NULL, {}, NULL},
    {20, 312, 904, 1.5f, 0.0f, NULL, "--tile 8", {}, launch_few<8>},
    {200, 40, 1000, 1.5f, -0.5f, NULL, "--tile 8", {}, launch_few<8>},
    {1, 3, 2601, 1.5f, 0.0f, NULL, "--tile 8", {}, launch_few<8>},
    {2, 8, 2601, 1.5f, -0.5f, NULL, "--tile 8", {}, launch_few<8>},
    {7, 2, 2559, 1.5f, 0.0f, NULL, "--tile 8", {}, launch_few<8>},
    {1, 1, 4601, 1.5f, -0.5f, NULL, "--tile 8", {}, launch_few<8>},
};

#endif
