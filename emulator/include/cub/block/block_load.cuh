/* Elements of an array, as many for each thread of a block. */
#ifndef CUB_BLOCK_LOAD_CUH
#define CUB_BLOCK_LOAD_CUH

#include "../util_type.cuh"

namespace cub
{

/* All but the striped one give a thread neighbouring elements. */
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

/* Element k of the thread at this place. */
inline int emu_blocked(int rank, int k, int each)
{
    return rank * each + k;
}
template <int THREADS> int emu_striped(int rank, int k)
{
    return k * THREADS + rank;
}

template <class T, int X, int EACH, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT,
          int Y = 1, int Z = 1, int = 0>
class BlockLoad
{
  public:
    struct TempStorage {
    };
    BlockLoad()
    {
    }
    explicit BlockLoad(TempStorage &)
    {
    }

    /* Past `valid` elements the array stays, or gets the default. */
    template <class In> void Load(In from, T (&to)[EACH], int valid = X * Y * Z * EACH)
    {
        for (int k = 0; k < EACH; k++)
            if (place(k) < valid) to[k] = from[place(k)];
    }
    template <class In, class Default>
    void Load(In from, T (&to)[EACH], int valid, Default otherwise)
    {
        for (int k = 0; k < EACH; k++) to[k] = otherwise;
        Load(from, to, valid);
    }

  private:
    static int place(int k)
    {
        const int rank = emu_rank<X, Y>();
        return ALGORITHM == BLOCK_LOAD_STRIPED ? emu_striped<X * Y * Z>(rank, k)
                                               : emu_blocked(rank, k, EACH);
    }
};

} // namespace cub

#endif
