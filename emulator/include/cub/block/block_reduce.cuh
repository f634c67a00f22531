/* A reduction among the threads of a block; the first thread gets the result. As in CUB no
 * barrier comes after it, so that the room may be used again only behind one. */
#ifndef CUB_BLOCK_REDUCE_CUH
#define CUB_BLOCK_REDUCE_CUH

#include "../util_type.cuh"

namespace cub
{

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1,
          int Z = 1, int = 0>
class BlockReduce
{
  public:
    struct TempStorage {
        emu_room<T, X * Y * Z> room;
    };
    explicit BlockReduce(TempStorage &storage) : room(storage.room)
    {
    }

    template <class Op> T Reduce(T x, Op op, int valid = X * Y * Z)
    {
        const int rank = emu_rank<X, Y>();
        if (rank > 0) room[rank] = x;
        __syncthreads();
        if (rank == 0)
            for (int i = 1; i < valid && i < X * Y * Z; i++) x = op(x, room[i]);
        return x;
    }
    template <int N, class Op> T Reduce(T (&x)[N], Op op)
    {
        T all = x[0];
        for (int i = 1; i < N; i++) all = op(all, x[i]);
        return Reduce(all, op);
    }
    T Sum(T x, int valid = X * Y * Z)
    {
        return Reduce(x, cub::Sum(), valid);
    }
    template <int N> T Sum(T (&x)[N])
    {
        return Reduce(x, cub::Sum());
    }

  private:
    emu_room<T, X * Y * Z> &room;
};

} // namespace cub

#endif
