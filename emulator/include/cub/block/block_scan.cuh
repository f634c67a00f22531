/* Running sums among the threads of a block, of one element or some of each. */
#ifndef CUB_BLOCK_SCAN_CUH
#define CUB_BLOCK_SCAN_CUH

#include "../util_type.cuh"

namespace cub
{

enum BlockScanAlgorithm {
    BLOCK_SCAN_RAKING,
    BLOCK_SCAN_RAKING_MEMOIZE,
    BLOCK_SCAN_WARP_SCANS
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1,
          int = 0>
class BlockScan
{
    enum { THREADS = X * Y * Z };

    struct Room {
        emu_room<T, THREADS> before; /* of all threads up to this one */
        emu_room<T, 2> block;        /* what comes before the block; what all have */
    };
    Room &room;

    /* What comes before a block's first element: nothing, a value, or what a function of
     * the block's total says, which the lanes of the first warp all call. */
    struct Nothing {
        static constexpr bool is = false;
        T operator()(const T &total) const
        {
            return total;
        }
    };
    struct Value {
        static constexpr bool is = true;
        T value;
        T operator()(const T &) const
        {
            return value;
        }
    };
    template <class F> struct Call {
        static constexpr bool is = true;
        F &f;
        T operator()(const T &total) const
        {
            return f(total);
        }
    };

    template <class Out> struct count : std::integral_constant<int, 1> {
    };
    template <int N> struct count<T[N]> : std::integral_constant<int, N> {
    };
    template <class E> static E *first_of(E &element)
    {
        return &element;
    }
    template <class E, int N> static E *first_of(E (&elements)[N])
    {
        return elements;
    }
    template <class Op>
    using if_operator =
        typename std::enable_if<!std::is_convertible<Op, T>::value, int>::type;

    template <int N, class In, class Op, class Before>
    void scan(const In *in, T *out, Op op, bool inclusive, Before before, T &total)
    {
        const int rank = emu_rank<X, Y>();
        T mine = in[0];
        for (int i = 1; i < N; i++) mine = op(mine, in[i]);
        room.before[rank] = mine;
        __syncthreads();
        if (rank == 0) {
            for (int i = 1; i < THREADS; i++) {
                mine = op(mine, room.before[i]);
                room.before[i] = mine;
            }
            room.block[1] = mine;
        }
        if (rank < 32) {
            __syncwarp(THREADS < 32 ? (1u << THREADS % 32) - 1 : ~0u);
            const T first = before(room.block[1]);
            if (rank == 0) room.block[0] = first;
        }
        __syncthreads();
        bool any = Before::is || rank > 0;
        T sum = T();
        if (rank > 0) sum = room.before[rank - 1];
        if (Before::is) {
            const T first = room.block[0];
            sum = rank > 0 ? op(first, sum) : first;
        }
        for (int i = 0; i < N; i++) {
            const T x = in[i], next = any ? op(sum, x) : x;
            out[i] = inclusive ? next : sum;
            sum = next;
            any = true;
        }
        total = room.block[1];
    }

  public:
    struct TempStorage {
        Room room;
    };
    explicit BlockScan(TempStorage &storage) : room(storage.room)
    {
    }

    /* `in` and `out` are one element of each thread, or arrays of some. `last` is where
     * the total of the block goes, or a function that is asked, with that total, for what
     * comes before the block. */
    template <class In, class Out> void InclusiveSum(const In &in, Out &out)
    {
        InclusiveScan(in, out, cub::Sum());
    }
    template <class In, class Out, class Last>
    void InclusiveSum(const In &in, Out &out, Last &last)
    {
        InclusiveScan(in, out, cub::Sum(), last);
    }
    template <class In, class Out> void ExclusiveSum(const In &in, Out &out)
    {
        ExclusiveScan(in, out, T(), cub::Sum());
    }
    template <class In, class Out> void ExclusiveSum(const In &in, Out &out, T &total)
    {
        ExclusiveScan(in, out, T(), cub::Sum(), total);
    }
    template <class In, class Out, class F>
    void ExclusiveSum(const In &in, Out &out, F &prefix)
    {
        ExclusiveScan(in, out, cub::Sum(), prefix);
    }

    template <class In, class Out, class Op>
    void InclusiveScan(const In &in, Out &out, Op op)
    {
        T total;
        InclusiveScan(in, out, op, total);
    }
    template <class In, class Out, class Op>
    void InclusiveScan(const In &in, Out &out, Op op, T &total)
    {
        scan<count<Out>::value>(first_of(in), first_of(out), op, true, Nothing(), total);
    }
    template <class In, class Out, class Op, class F>
    void InclusiveScan(const In &in, Out &out, Op op, F &prefix)
    {
        T total;
        scan<count<Out>::value>(first_of(in), first_of(out), op, true, Call<F>{prefix},
                                total);
    }

    /* With nothing before it, the first element gets nothing of use. */
    template <class In, class Out, class Op>
    void ExclusiveScan(const In &in, Out &out, Op op)
    {
        T total;
        ExclusiveScan(in, out, op, total);
    }
    template <class In, class Out, class Op, if_operator<Op> = 0>
    void ExclusiveScan(const In &in, Out &out, Op op, T &total)
    {
        scan<count<Out>::value>(first_of(in), first_of(out), op, false, Nothing(), total);
    }
    template <class In, class Out, class Op, class F, if_operator<Op> = 0>
    void ExclusiveScan(const In &in, Out &out, Op op, F &prefix)
    {
        T total;
        scan<count<Out>::value>(first_of(in), first_of(out), op, false, Call<F>{prefix},
                                total);
    }
    template <class In, class Out, class Op>
    void ExclusiveScan(const In &in, Out &out, T initial, Op op)
    {
        T total;
        ExclusiveScan(in, out, initial, op, total);
    }
    template <class In, class Out, class Op>
    void ExclusiveScan(const In &in, Out &out, T initial, Op op, T &total)
    {
        scan<count<Out>::value>(first_of(in), first_of(out), op, false, Value{initial},
                                total);
    }
};

} // namespace cub

#endif
