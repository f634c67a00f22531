/* The tiles that a product may get, and what each takes on an H200: see struct kind. */
#ifndef KINDS_CUH
#define KINDS_CUH

// Thin stages cost: each ends in a wait. Two of 72 steps are what shared memory holds.
struct large_tile : bulk_tile<16, 8, 4, 72, 2> {
};
struct middle_tile : bulk_tile<12, 8, 4, 72, 2> {
};
struct medium_tile : bulk_tile<8, 8, 4, 72, 2> {
};
// Tiles for chapter 12's kernels, for less than that. Except where a thread has 16 x 8
// results, the lanes stand in a z: where copies pass through shared memory's port too, the
// fewest wavefronts are best.
struct low_tile : tile<48, 64, 16, 12, 4, 3, 4, in_a_z> {
};
struct high_tile : tile<128, 64, 16, 8, 8, 4, 2, in_a_z> {
};
struct flat_tile : tile<16, 128, 16, 4, 8, 4, 3, in_a_z> {
};
struct small_square_tile : tile<128, 128, 8, 16, 8, 3, 2, on_diagonals> {
};
struct small_wide_tile : tile<64, 128, 16, 8, 8, 4, 3, in_a_z> {
};
struct small_high_tile : tile<96, 64, 16, 12, 4, 4, 3, in_a_z> {
};
struct small_even_tile : tile<96, 96, 8, 12, 4, 4, 2, in_a_z> {
};
struct small_flat_tile : tile<32, 128, 8, 4, 8, 4, 3, in_a_z> {
};
struct smallest_tile : tile<32, 64, 8, 4, 4, 8, 1, in_a_z> {
};
// Three for the kernel with slices, where C has about as many of them as there are SMs.
struct sliced_square_tile : sliced_tile<12, 12, 2, 1, 64, 4> {
};
struct sliced_low_tile : sliced_tile<12, 8, 1, 4, 48, 3> {
};
struct sliced_high_tile : sliced_tile<16, 8, 2, 1, 64, 4> {
};
// And three whose warps turn A, for a narrow C.
struct turning_high_tile : sliced_tile<16, 8, 2, 1, 64, 4, true> {
};
struct turning_even_tile : sliced_tile<12, 12, 2, 1, 64, 4, true> {
};
struct turning_square_tile : sliced_tile<8, 16, 4, 1, 64, 3, true> {
};

#define BULK(T, start, speed, dividing)                                                  \
    {launch_bulk<T>, staying, T::BM, T::BN, T::BK, 1, start, speed, speed, dividing, true}
static const struct kind KINDS[] = {
    BULK(large_tile, 8700, 226, 9800),
    BULK(middle_tile, 11800, 214, 10000),
    BULK(medium_tile, 6600, 210, 7300),
    TILES(low_tile, 10000, 179, 170, 2200),
    TILES(high_tile, 6200, 187, 146, 6500),
    TILES(flat_tile, 6600, 131, 0, 3400),
    SMALL(small_square_tile, 6300, 207, 143, 0),
    SMALL(small_wide_tile, 5300, 195, 120, 500),
    SMALL(small_high_tile, 5500, 174, 137, 1100),
    SMALL(small_even_tile, 5200, 177, 142, 2500),
    SMALL(small_flat_tile, 4500, 173, 82, 1600),
    SMALL(smallest_tile, 4100, 130, 69, 1450),
    APART(small_wide_tile, 8000, 225, 0),
    APART(small_flat_tile, 6800, 155, 0),
    APART(smallest_tile, 5900, 119, 0),
    SLICED(sliced_square_tile, 9000, 218, 2100),
    SLICED(sliced_low_tile, 8200, 208, 2000),
    SLICED(sliced_high_tile, 9000, 220, 2100),
    // From here on, rows of A must start at multiples of 16 bytes.
    TURNING(turning_high_tile, 8000, 181, 7000),
    TURNING(turning_even_tile, 8300, 184, 2100),
    TURNING(turning_square_tile, 8000, 198, 9000),
};
const int ALL_KINDS = sizeof KINDS / sizeof *KINDS, FOR_ANY_A = ALL_KINDS - 3;

static int turn_columns; // --turn: if it can, a product gets the kind with such tiles

// The kinds that a product may get.
static const struct kind *choices(const struct work *w, int *count)
{
    const bool readable = w->K % 4 == 0 && (size_t)w->A % 16 == 0;
    *count = readable ? ALL_KINDS : FOR_ANY_A;
    for (int k = FOR_ANY_A; k < *count; ++k)
        if (KINDS[k].BN == turn_columns && speed_at(&KINDS[k], w->M, wide_rows(w)) > 0) {
            *count = 1;
            return &KINDS[k];
        }
    return KINDS;
}

static void launch_chosen(int sms, const struct work *w)
{
    int count;
    const struct kind *kinds = choices(w, &count);
    launch_fastest(kinds, count, sms, w);
}

#endif
