/* Small products, on few SMs, at which every kernel of the chapter is checked in each run. */
#ifndef COPY_ENGINE_PRODUCTS_CUH
#define COPY_ENGINE_PRODUCTS_CUH

// The same, with A turned in shared memory in tiles of TURN columns, if it can be.
template <int SMS, int TURN>
static void turning_on(int M, int N, int K, float alpha, const float *A, const float *B,
                       float beta, float *C)
{
    const int before = turn_columns;
    turn_columns = TURN;
    matmul_on<SMS>(M, N, K, alpha, A, B, beta, C);
    turn_columns = before;
}

// Each of the kernels is among these, or gets one of the shapes of common/shapes.c.
static const struct product PRODUCTS[] = {
    {193, 193, 155, 1.5f, -0.5f, matmul_on<3>, "--sms 3"}, // large_tile, shared
    {145, 193, 144, -0.5f, 2.0f, matmul_on<3>, "--sms 3"}, // middle_tile, whole stages
    {235, 68, 86, 1.0f, 0.0f, matmul_on<1>, "--sms 1"},
    // A second band of tiles, and more than two rounds of the stages.
    {2049, 66, 9, 1.0f, 0.0f, matmul_on<1>, "--sms 1"},
    {188, 124, 40, 1.0f, 0.0f, matmul_on<1>, "--sms 1", USUAL, NULL, 'b'},
    {195, 68, 158, 1.5f, -0.5f, matmul_on<2>, "--sms 2"}, // medium_tile, shared
    {90, 76, 330, 1.5f, -0.5f, matmul_on<1>, "--sms 1"},  // sliced_square_tile
    {65, 66, 136, 1.0f, 0.0f, matmul_on<3>, "--sms 3"},   // and K divided
    {35, 252, 136, 1.0f, 0.0f, matmul_on<1>, "--sms 1"},  // sliced_low_tile
    {109, 17, 39, 1.5f, -0.5f, matmul_on<1>, "--sms 1"},  // sliced_high_tile
    {131, 60, 332, 1.5f, -0.5f, turning_on<1, 64>, "--sms 1 --turn 64"},
    {100, 92, 460, 1.0f, 0.0f, turning_on<3, 96>, "--sms 3 --turn 96"}, // K divided
    {131, 124, 332, 1.5f, -0.5f, turning_on<1, 128>, "--sms 1 --turn 128"},
    {1101, 33, 76, 1.0f, 0.0f, turning_on<3, 64>, "--sms 3 --turn 64"}, // a longer B
    // Three that cannot be turned: of B, A and K.
    {35, 73, 72, -0.5f, 2.0f, turning_on<1, 64>, "--sms 1 --turn 64"}, // low_tile
    {195, 20, 66, 1.0f, 0.0f, turning_on<1, 64>, "--sms 1 --turn 64"}, // high_tile
    {15, 260, 72, 1.0f, 0.0f, turning_on<3, 128>, "--sms 3 --turn 128", USUAL, NULL,
     'A'},                                              // flat_tile
    {100, 68, 75, 1.0f, 0.0f, matmul_on<3>, "--sms 3"}, // small_square_tile
    {99, 73, 96, 1.0f, 0.0f, matmul_on<2>, "--sms 2"},  // small_wide_tile, apart
    {38, 80, 48, 1.5f, -0.5f, matmul_on<1>, "--sms 1"},
    {65, 19, 66, 1.5f, -0.5f, matmul_on<3>, "--sms 3"}, // small_high_tile
    {69, 66, 86, 1.0f, 0.0f, matmul_on<3>, "--sms 3"},  // small_even_tile
    {9, 45, 25, 1.5f, -0.5f, matmul_on<3>, "--sms 3"},  // smallest_tile, apart
    {9, 73, 259, 1.0f, 0.0f, matmul_on<3>, "--sms 3"},  // small_flat_tile, apart
    {12, 69, 69, 1.5f, -0.5f, matmul_on<3>, "--sms 3"},
};

#endif
