/* What the kernels of this chapter know of the product, and where its tiles lie. */
#ifndef WORK_CUH
#define WORK_CUH

// It travels as a kernel argument.
struct work {
    int M, N, K;
    float alpha, beta;
    float *C;
    bool pairs;                               // rows of C start at multiples of 8 bytes
    int tiles_down, tiles_across;             // tiles of C
    const int *row_exponents, *col_exponents; // of the scales: see split.cuh
    const int *unfit_rows, *unfit_cols;       // tiles' rows and columns, marked there
    const int *some_unfit;                    // whether any is marked
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

// Two neighbours in a row, at an even column: as many as lie inside C.
static __device__ __forceinline__ void store2(const struct work *w, int row, int col,
                                              float first, float second)
{
    float *c = &w->C[(size_t)row * w->N + col];
    const bool two = col + 1 < w->N;
    float2 old = make_float2(0.0f, 0.0f);
    if (w->beta != 0.0f)
        old = w->pairs ? *(float2 *)c : make_float2(c[0], two ? c[1] : 0.0f);
    const float2 v = make_float2(w->alpha * first + w->beta * old.x,
                                 w->alpha * second + w->beta * old.y);
    if (w->pairs) {
        *(float2 *)c = v;
    } else {
        c[0] = v.x;
        if (two)
            c[1] = v.y;
    }
}

// The stages as one who fills them or one who reads them goes round: chapter 13.
struct turn {
    int index;
    unsigned parity;
};

static __device__ __forceinline__ void next_turn(struct turn *t)
{
    if (++t->index == STAGES) {
        t->index = 0;
        t->parity ^= 1;
    }
}

#endif
