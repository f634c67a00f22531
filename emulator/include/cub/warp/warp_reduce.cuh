/* A reduction among the lanes of a warp, or of a part of it; lane 0 gets the result. */
#ifndef CUB_WARP_REDUCE_CUH
#define CUB_WARP_REDUCE_CUH

#include "../util_type.cuh"

namespace cub
{

/* The lanes of the calling thread's part of the warp, and its place in it. */
template <int WIDTH> struct emu_part {
    int lane;
    unsigned mask;

    emu_part() : lane((int)(emu_lane() % WIDTH))
    {
        const unsigned all = WIDTH == 32 ? ~0u : (1u << WIDTH % 32) - 1;
        mask = all << (emu_lane() - (unsigned)lane);
    }
    template <class T> T from(const T &value, int other, const char *call) const
    {
        const unsigned first = emu_lane() - (unsigned)lane;
        return emu_shuffle(mask, value, first + (unsigned)other, call);
    }
};

template <class T, int LOGICAL_WARP_THREADS = 32, int = 0> class WarpReduce
{
    typedef emu_part<LOGICAL_WARP_THREADS> Part;

  public:
    struct TempStorage {
    };
    explicit WarpReduce(TempStorage &)
    {
    }

    template <class Op> T Reduce(T x, Op op, int valid = LOGICAL_WARP_THREADS)
    {
        const Part part;
        for (int step = 1; step < LOGICAL_WARP_THREADS; step *= 2) {
            const bool there =
                part.lane + step < valid && part.lane + step < LOGICAL_WARP_THREADS;
            const T other =
                part.from(x, there ? part.lane + step : part.lane, "WarpReduce");
            if (there) x = op(x, other);
        }
        return x;
    }
    T Sum(T x, int valid = LOGICAL_WARP_THREADS)
    {
        return Reduce(x, cub::Sum(), valid);
    }
};

} // namespace cub

#endif
