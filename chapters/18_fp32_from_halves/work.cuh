/* What the kernels of this chapter know of the product, and where its tiles lie. */
#ifndef WORK_CUH
#define WORK_CUH

// It travels as a kernel argument.
struct work {
    int M, N, K;
    float alpha, beta;
    float *C;
    int tiles_down, tiles_across;             // tiles of C
    const int *row_exponents, *col_exponents; // of the scales: see split.cuh
    const int *unfit_rows, *unfit_cols;       // tiles' rows and columns, marked there
};

// Where a tile lies. Neighbours in number are neighbours in C, as in chapter 13.
static __device__ __forceinline__ void place_tile(const struct work *w, int tile,
                                                  int *tile_row, int *tile_col)
{
    const int band = tile / (ROWS_TOGETHER * w->tiles_across);
    const int rows = min(ROWS_TOGETHER, w->tiles_down - band * ROWS_TOGETHER);
    const int in_band = tile % (ROWS_TOGETHER * w->tiles_across);
    *tile_row = band * ROWS_TOGETHER + in_band % rows;
    *tile_col = in_band / rows;
}

// Whether the tile is for plain.cuh. Both kernels ask, so nothing has to go back to the
// host.
static __device__ __forceinline__ bool is_unfit(const struct work *w, int tile_row,
                                                int tile_col)
{
    return w->unfit_rows[tile_row] || w->unfit_cols[tile_col];
}

static __device__ __forceinline__ void store(const struct work *w, int row, int col,
                                             float sum)
{
    float *c = &w->C[(size_t)row * w->N + col];
    *c = w->alpha * sum + (w->beta == 0.0f ? 0.0f : w->beta * *c);
}

#endif
