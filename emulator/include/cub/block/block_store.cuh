/* Elements of each thread of a block, into an array. */
#ifndef CUB_BLOCK_STORE_CUH
#define CUB_BLOCK_STORE_CUH

#include "block_load.cuh"

namespace cub
{

enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int X, int EACH, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT,
          int Y = 1, int Z = 1, int = 0>
class BlockStore
{
  public:
    struct TempStorage {
    };
    BlockStore()
    {
    }
    explicit BlockStore(TempStorage &)
    {
    }

    template <class Out>
    void Store(Out to, const T (&from)[EACH], int valid = X * Y * Z * EACH)
    {
        const int rank = emu_rank<X, Y>();
        for (int k = 0; k < EACH; k++) {
            const int place = ALGORITHM == BLOCK_STORE_STRIPED
                                  ? emu_striped<X * Y * Z>(rank, k)
                                  : emu_blocked(rank, k, EACH);
            if (place < valid) to[place] = from[k];
        }
    }
};

} // namespace cub

#endif
