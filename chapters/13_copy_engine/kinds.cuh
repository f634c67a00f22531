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
// Chapter 12's tiles, for less than that, with the lanes in a z: where copies pass
// through shared memory's port too, the fewest wavefronts are best.
struct wide_tile : tile<64, 128, 16, 8, 8, 4, 2, in_a_z> {
};
struct low_tile : tile<48, 128, 16, 12, 4, 4, 2, in_a_z> {
};
struct high_tile : tile<128, 64, 16, 8, 8, 4, 2, in_a_z> {
};
struct square_tile : tile<64, 64, 16, 8, 4, 4, 3, in_a_z> {
};
struct flat_tile : tile<16, 128, 16, 4, 8, 4, 3, in_a_z> {
};
struct tall_tile : tile<64, 32, 16, 8, 4, 4, 3, in_a_z> {
};
struct small_square_tile : tile<128, 128, 8, 16, 8, 3, 2, on_diagonals> {
};
struct small_wide_tile : tile<64, 128, 16, 8, 8, 4, 3, in_a_z> {
};
struct small_high_tile : tile<96, 64, 16, 12, 4, 4, 3, in_a_z> {
};
struct small_low_tile : tile<48, 128, 16, 12, 4, 4, 3, in_a_z> {
};
struct small_flat_tile : tile<32, 128, 8, 4, 8, 4, 3, in_a_z> {
};
struct smallest_tile : tile<32, 64, 8, 4, 4, 8, 1, in_a_z> {
};

#define BULK(T, start, speed, dividing)                                                  \
    {launch_bulk<T>, staying, T::BM, T::BN, T::BK, 1, start, speed, speed, dividing, true}
static const struct kind KINDS[] = {
    BULK(large_tile, 9200, 240, 10800),
    BULK(middle_tile, 10300, 206, 9800),
    BULK(medium_tile, 7800, 222, 7400),
    TILES(wide_tile, 5100, 183, 131, 8600),
    TILES(low_tile, 10000, 187, 150, 1500),
    TILES(high_tile, 5500, 178, 146, 9200),
    TILES(square_tile, 9400, 172, 164, 1800),
    TILES(flat_tile, 6600, 131, 0, 3400),
    TILES(tall_tile, 10600, 117, 103, 0),
    SMALL(small_square_tile, 8100, 203, 136, 0),
    SMALL(small_wide_tile, 4800, 200, 135, 2700),
    SMALL(small_high_tile, 7000, 179, 144, 1200),
    SMALL(small_low_tile, 5700, 190, 118, 1400),
    SMALL(small_flat_tile, 5100, 174, 120, 2400),
    SMALL(smallest_tile, 5400, 146, 95, 1100),
};

#endif
