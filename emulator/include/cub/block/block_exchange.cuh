/* The elements of a block's threads in another order. */
#ifndef CUB_BLOCK_EXCHANGE_CUH
#define CUB_BLOCK_EXCHANGE_CUH

#include "block_load.cuh"

namespace cub
{

template <class T, int X, int EACH, bool = false, int Y = 1, int Z = 1, int = 0>
class BlockExchange
{
    enum { THREADS = X * Y * Z };
    typedef emu_room<T, THREADS * EACH> Room;
    Room &room;

    template <class To, class From> void exchange(const T *in, T *out, To to, From from)
    {
        const int rank = emu_rank<X, Y>();
        for (int k = 0; k < EACH; k++) room[to(rank, k)] = in[k];
        __syncthreads();
        for (int k = 0; k < EACH; k++) out[k] = room[from(rank, k)];
    }
    static int blocked(int rank, int k)
    {
        return emu_blocked(rank, k, EACH);
    }

  public:
    struct TempStorage {
        Room room;
    };
    explicit BlockExchange(TempStorage &storage) : room(storage.room)
    {
    }

    void StripedToBlocked(const T (&in)[EACH], T (&out)[EACH])
    {
        exchange(in, out, emu_striped<THREADS>, blocked);
    }
    void BlockedToStriped(const T (&in)[EACH], T (&out)[EACH])
    {
        exchange(in, out, blocked, emu_striped<THREADS>);
    }
    /* To the places that `ranks` says. */
    template <class Rank>
    void ScatterToBlocked(const T (&in)[EACH], T (&out)[EACH], Rank (&ranks)[EACH])
    {
        exchange(in, out, [&](int, int k) { return (int)ranks[k]; }, blocked);
    }
    template <class Rank>
    void ScatterToStriped(const T (&in)[EACH], T (&out)[EACH], Rank (&ranks)[EACH])
    {
        exchange(
            in, out, [&](int, int k) { return (int)ranks[k]; }, emu_striped<THREADS>);
    }
    void StripedToBlocked(T (&x)[EACH])
    {
        StripedToBlocked(x, x);
    }
    void BlockedToStriped(T (&x)[EACH])
    {
        BlockedToStriped(x, x);
    }
    template <class Rank> void ScatterToBlocked(T (&x)[EACH], Rank (&ranks)[EACH])
    {
        ScatterToBlocked(x, x, ranks);
    }
    template <class Rank> void ScatterToStriped(T (&x)[EACH], Rank (&ranks)[EACH])
    {
        ScatterToStriped(x, x, ranks);
    }
};

} // namespace cub

#endif
