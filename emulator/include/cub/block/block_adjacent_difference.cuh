/* The differences between each element of a block's threads and the one beside it. */
#ifndef CUB_BLOCK_ADJACENT_DIFFERENCE_CUH
#define CUB_BLOCK_ADJACENT_DIFFERENCE_CUH

#include "block_load.cuh"

namespace cub
{

template <class T, int X, int Y = 1, int Z = 1> class BlockAdjacentDifference
{
    enum { THREADS = X * Y * Z };
    typedef emu_room<T, THREADS> Room;
    Room &room; /* of each thread the element that its neighbour wants to know */

    /* Of `count` elements that are valid; `edge`, if there is one, lies beyond the first
     * (step -1) or the last (step 1). An element with none beside it stays as it is. */
    template <int EACH, class To, class Op>
    void subtract(T (&in)[EACH], To (&out)[EACH], Op op, int count, int step,
                  const T *edge)
    {
        const int rank = emu_rank<X, Y>();
        T own[EACH];
        for (int k = 0; k < EACH; k++) own[k] = in[k];
        room[rank] = own[step < 0 ? EACH - 1 : 0];
        __syncthreads();
        for (int k = 0; k < EACH; k++) {
            const int place = rank * EACH + k, other = place + step;
            const bool beyond = step < 0 ? place == 0 : other == THREADS * EACH;
            if (place >= count || (step > 0 && other >= count && !beyond) ||
                (beyond && !edge)) {
                out[k] = own[k];
                continue;
            }
            T beside = beyond                             ? *edge
                       : k + step >= 0 && k + step < EACH ? own[k + step]
                                                          : room[rank + step];
            out[k] = op(own[k], beside);
        }
    }

  public:
    struct TempStorage {
        Room room;
    };
    explicit BlockAdjacentDifference(TempStorage &storage) : room(storage.room)
    {
    }

    template <int EACH, class To, class Op>
    void SubtractLeft(T (&in)[EACH], To (&out)[EACH], Op op)
    {
        subtract(in, out, op, THREADS * EACH, -1, (const T *)nullptr);
    }
    template <int EACH, class To, class Op>
    void SubtractLeft(T (&in)[EACH], To (&out)[EACH], Op op, T before)
    {
        subtract(in, out, op, THREADS * EACH, -1, &before);
    }
    template <int EACH, class To, class Op>
    void SubtractLeftPartialTile(T (&in)[EACH], To (&out)[EACH], Op op, int count)
    {
        subtract(in, out, op, count, -1, (const T *)nullptr);
    }
    template <int EACH, class To, class Op>
    void SubtractLeftPartialTile(T (&in)[EACH], To (&out)[EACH], Op op, int count,
                                 T before)
    {
        subtract(in, out, op, count, -1, &before);
    }
    template <int EACH, class To, class Op>
    void SubtractRight(T (&in)[EACH], To (&out)[EACH], Op op)
    {
        subtract(in, out, op, THREADS * EACH, 1, (const T *)nullptr);
    }
    template <int EACH, class To, class Op>
    void SubtractRight(T (&in)[EACH], To (&out)[EACH], Op op, T behind)
    {
        subtract(in, out, op, THREADS * EACH, 1, &behind);
    }
    template <int EACH, class To, class Op>
    void SubtractRightPartialTile(T (&in)[EACH], To (&out)[EACH], Op op, int count)
    {
        subtract(in, out, op, count, 1, (const T *)nullptr);
    }
};

} // namespace cub

#endif
