/* Running sums among the lanes of a warp, or of a part of it. */
#ifndef CUB_WARP_SCAN_CUH
#define CUB_WARP_SCAN_CUH

#include "warp_reduce.cuh"

namespace cub
{

template <class T, int LOGICAL_WARP_THREADS = 32, int = 0> class WarpScan
{
    typedef emu_part<LOGICAL_WARP_THREADS> Part;

  public:
    struct TempStorage {
    };
    explicit WarpScan(TempStorage &)
    {
    }

    /* `total` is what all lanes have together. */
    template <class Op> void InclusiveScan(T in, T &out, Op op, T &total)
    {
        const Part part;
        for (int step = 1; step < LOGICAL_WARP_THREADS; step *= 2) {
            const bool there = part.lane >= step;
            const T other =
                part.from(in, there ? part.lane - step : part.lane, "WarpScan");
            if (there) in = op(other, in);
        }
        out = in;
        total = part.from(in, LOGICAL_WARP_THREADS - 1, "WarpScan");
    }
    template <class Op> void InclusiveScan(T in, T &out, Op op)
    {
        T total;
        InclusiveScan(in, out, op, total);
    }
    /* Without a first value, lane 0 gets nothing of use. */
    template <class Op> void ExclusiveScan(T in, T &out, Op op)
    {
        const Part part;
        T upto;
        InclusiveScan(in, upto, op);
        out = part.from(upto, part.lane ? part.lane - 1 : 0, "WarpScan");
    }
    template <class Op> void ExclusiveScan(T in, T &out, T first, Op op, T &total)
    {
        const Part part;
        T upto;
        InclusiveScan(in, upto, op, total);
        upto = part.from(upto, part.lane ? part.lane - 1 : 0, "WarpScan");
        out = part.lane ? op(first, upto) : first;
    }
    template <class Op> void ExclusiveScan(T in, T &out, T first, Op op)
    {
        T total;
        ExclusiveScan(in, out, first, op, total);
    }
    void InclusiveSum(T in, T &out)
    {
        InclusiveScan(in, out, cub::Sum());
    }
    void InclusiveSum(T in, T &out, T &total)
    {
        InclusiveScan(in, out, cub::Sum(), total);
    }
    void ExclusiveSum(T in, T &out)
    {
        ExclusiveScan(in, out, T(), cub::Sum());
    }
    void ExclusiveSum(T in, T &out, T &total)
    {
        ExclusiveScan(in, out, T(), cub::Sum(), total);
    }
    T Broadcast(T in, unsigned lane)
    {
        return Part().from(in, (int)lane, "WarpScan::Broadcast");
    }
};

} // namespace cub

#endif
