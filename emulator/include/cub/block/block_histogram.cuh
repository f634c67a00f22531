/* How many of the items of a block's threads fall into each bin, counted in shared or global
 * memory. Both of CUB's ways to count are one here: atomics. */
#ifndef CUB_BLOCK_HISTOGRAM_CUH
#define CUB_BLOCK_HISTOGRAM_CUH

#include "../util_type.cuh"

namespace cub
{

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <class T, int X, int ITEMS, int BINS, BlockHistogramAlgorithm = BLOCK_HISTO_SORT,
          int Y = 1, int Z = 1>
class BlockHistogram
{
  public:
    struct TempStorage {
        emu_room<int, 1> room;
    };
    explicit BlockHistogram(TempStorage &)
    {
    }
    BlockHistogram()
    {
    }

    template <class Count> void InitHistogram(Count (&histogram)[BINS])
    {
        for (int i = emu_rank<X, Y>(); i < BINS; i += X * Y * Z) histogram[i] = 0;
    }
    template <class Count> void Histogram(T (&items)[ITEMS], Count (&histogram)[BINS])
    {
        InitHistogram(histogram);
        __syncthreads();
        Composite(items, histogram);
    }
    /* Adds to what is counted already. As in CUB a barrier before it is the caller's
     * business. */
    template <class Count> void Composite(T (&items)[ITEMS], Count (&histogram)[BINS])
    {
        for (int i = 0; i < ITEMS; i++) atomicAdd(&histogram[items[i]], (Count)1);
    }
};

} // namespace cub

#endif
