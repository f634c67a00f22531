/* Cooperative groups: the grid, a cluster, the block, tiles of a warp, the threads that
 * happen to run together. */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

/* Programs come to rely on what NVIDIA's includes. */
#include <chrono>
#include <cstring>

#include "cuda_runtime.h"

namespace cooperative_groups
{

#define EMU_MEMBER __forceinline__
/* What a group says of itself or of the thread that asks. */
#define EMU_SAYS(T_, name, ...)                                                          \
    static EMU_MEMBER T_ name()                                                          \
    {                                                                                    \
        return __VA_ARGS__;                                                              \
    }

class thread_block
{
  public:
    struct arrival_token {
    };
    static EMU_MEMBER void sync()
    {
        __syncthreads();
    }
    /* As NVIDIA's, the block arrives when it waits. */
    static EMU_MEMBER arrival_token barrier_arrive()
    {
        return arrival_token();
    }
    static EMU_MEMBER void barrier_wait(arrival_token &&)
    {
        sync();
    }
    EMU_SAYS(unsigned, thread_rank,
             threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
    static EMU_MEMBER unsigned num_threads()
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    EMU_SAYS(unsigned, size, num_threads())
    EMU_SAYS(dim3, group_index, dim3(blockIdx))
    EMU_SAYS(dim3, thread_index, dim3(threadIdx))
    EMU_SAYS(dim3, group_dim, blockDim)
    EMU_SAYS(dim3, dim_threads, blockDim)
};
static EMU_MEMBER thread_block this_thread_block()
{
    return thread_block();
}

class grid_group
{
  public:
    EMU_SAYS(bool, is_valid, emu_launch_is_cooperative() != 0)
    static EMU_MEMBER void sync()
    {
        emu_grid_barrier();
    }
    /* A block that has arrived goes on here only when it waits. */
    typedef unsigned arrival_token;
    static EMU_MEMBER arrival_token barrier_arrive()
    {
        return 0;
    }
    static EMU_MEMBER void barrier_wait(arrival_token &&)
    {
        sync();
    }
    static EMU_MEMBER dim3 dim_threads()
    {
        return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y,
                    gridDim.z * blockDim.z);
    }
    static EMU_MEMBER dim3 thread_index()
    {
        return dim3(blockIdx.x * blockDim.x + threadIdx.x,
                    blockIdx.y * blockDim.y + threadIdx.y,
                    blockIdx.z * blockDim.z + threadIdx.z);
    }
    EMU_SAYS(dim3, dim_clusters, __clusterGridDimInClusters())
    EMU_SAYS(dim3, cluster_index, __clusterIdx())
    static EMU_MEMBER unsigned long long num_clusters()
    {
        const dim3 d = dim_clusters();
        return (unsigned long long)d.x * d.y * d.z;
    }
    static EMU_MEMBER unsigned long long cluster_rank()
    {
        const dim3 d = dim_clusters(), i = cluster_index();
        return i.x + d.x * (i.y + (unsigned long long)d.y * i.z);
    }
    static EMU_MEMBER unsigned long long block_rank()
    {
        unsigned long long row = blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z;
        return blockIdx.x + gridDim.x * row;
    }
    static EMU_MEMBER unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    EMU_SAYS(unsigned long long, thread_rank,
             block_rank() * thread_block::num_threads() + thread_block::thread_rank())
    EMU_SAYS(unsigned long long, num_threads, num_blocks() * thread_block::num_threads())
    EMU_SAYS(unsigned long long, size, num_threads())
    EMU_SAYS(dim3, group_dim, gridDim)
    EMU_SAYS(dim3, dim_blocks, gridDim)
    EMU_SAYS(dim3, block_index, dim3(blockIdx))
};
static EMU_MEMBER grid_group this_grid()
{
    return grid_group();
}

/* Some lanes of the caller's warp, ranked by their lane number. */
class emu_lanes
{
    friend class thread_group;

  protected:
    unsigned mask;

    explicit EMU_MEMBER emu_lanes(unsigned lanes) : mask(lanes)
    {
    }

    EMU_MEMBER unsigned first_lane() const
    {
        return (unsigned)__builtin_ctz(mask);
    }
    /* Most groups are neighbours, who need not be counted one by one. */
    EMU_MEMBER bool is_a_row() const
    {
        const unsigned ones = mask >> first_lane();
        return !(ones & (ones + 1));
    }
    /* The lane of a rank; ranks wrap around. */
    EMU_MEMBER unsigned lane_of(unsigned rank) const
    {
        unsigned rest = mask;
        rank %= num_threads();
        if (is_a_row()) return first_lane() + rank;
        for (; rank > 0; rank--) rest &= rest - 1;
        return (unsigned)__builtin_ctz(rest);
    }
    /* A set of lanes as a set of ranks. */
    EMU_MEMBER unsigned ranks_of(unsigned lanes) const
    {
        unsigned ranks = 0, rank = 0;
        for (unsigned rest = mask; rest; rest &= rest - 1, rank++)
            if (lanes & rest & -rest) ranks |= 1u << rank;
        return ranks;
    }

  public:
    EMU_MEMBER void sync() const
    {
        emu_warp_sync(mask);
    }
    EMU_MEMBER unsigned thread_rank() const
    {
        if (is_a_row()) return emu_lane() - first_lane();
        return (unsigned)__builtin_popcount(mask & ((1u << emu_lane()) - 1));
    }
    EMU_MEMBER unsigned num_threads() const
    {
        if (is_a_row()) return 32 - (unsigned)__builtin_clz(mask) - first_lane();
        return (unsigned)__builtin_popcount(mask);
    }
    EMU_MEMBER unsigned size() const
    {
        return num_threads();
    }

    template <class T_> EMU_MEMBER T_ shfl(T_ value, unsigned rank) const
    {
        return emu_shuffle(mask, value, lane_of(rank), "shfl");
    }
    template <class T_> EMU_MEMBER T_ shfl_up(T_ value, unsigned delta) const
    {
        unsigned rank = thread_rank();
        return emu_shuffle(mask, value, lane_of(delta <= rank ? rank - delta : rank),
                           "shfl_up");
    }
    template <class T_> EMU_MEMBER T_ shfl_down(T_ value, unsigned delta) const
    {
        unsigned rank = thread_rank();
        bool inside = delta < num_threads() - rank;
        return emu_shuffle(mask, value, lane_of(inside ? rank + delta : rank),
                           "shfl_down");
    }
    EMU_MEMBER int any(int predicate) const
    {
        return __any_sync(mask, predicate);
    }
    EMU_MEMBER int all(int predicate) const
    {
        return __all_sync(mask, predicate);
    }
    EMU_MEMBER unsigned ballot(int predicate) const
    {
        return ranks_of(__ballot_sync(mask, predicate));
    }
    template <class T_> EMU_MEMBER unsigned emu_lanes_like(T_ value) const
    {
        return __match_any_sync(mask, value);
    }
    template <class T_> EMU_MEMBER unsigned match_any(T_ value) const
    {
        return ranks_of(__match_any_sync(mask, value));
    }
    template <class T_> EMU_MEMBER unsigned match_all(T_ value, int &all_equal) const
    {
        return ranks_of(__match_all_sync(mask, value, &all_equal));
    }
};

class coalesced_group : public emu_lanes
{
  public:
    explicit EMU_MEMBER coalesced_group(unsigned lanes) : emu_lanes(lanes)
    {
    }
    EMU_MEMBER unsigned meta_group_rank() const
    {
        return 0;
    }
    EMU_MEMBER unsigned meta_group_size() const
    {
        return 1;
    }
};
static EMU_MEMBER coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}

/* The lanes of the group that bring the same value. */
template <class Group, class T_>
static EMU_MEMBER coalesced_group labeled_partition(const Group &group, T_ label)
{
    return coalesced_group(group.emu_lanes_like(label));
}
template <class Group>
static EMU_MEMBER coalesced_group binary_partition(const Group &group, bool predicate)
{
    return coalesced_group(group.emu_lanes_like((int)predicate));
}

/* The warp's lanes that exist: the last warp of a block may have fewer than 32. */
static EMU_MEMBER unsigned emu_existing_lanes()
{
    unsigned left = thread_block::num_threads() - 32 * emu_warp();
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}
static EMU_MEMBER unsigned emu_tile_lanes(unsigned size)
{
    unsigned tile =
        size == 32 ? 0xffffffffu : ((1u << size) - 1) << (emu_lane() & ~(size - 1));
    return tile & emu_existing_lanes();
}

template <unsigned Size, class Parent = void> class thread_block_tile;

/* What a function takes that does not care what the tile was cut from. */
template <unsigned Size> class thread_block_tile<Size, void> : public emu_lanes
{
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");
    unsigned group_rank, group_count;

  protected:
    EMU_MEMBER thread_block_tile(unsigned rank_in_parent, unsigned parent_size)
        : emu_lanes(emu_tile_lanes(Size)), group_rank(rank_in_parent / Size),
          group_count((parent_size + Size - 1) / Size)
    {
    }

  public:
    static constexpr EMU_MEMBER unsigned num_threads()
    {
        return Size;
    }
    static constexpr EMU_MEMBER unsigned size()
    {
        return Size;
    }
    EMU_MEMBER unsigned meta_group_rank() const
    {
        return group_rank;
    }
    EMU_MEMBER unsigned meta_group_size() const
    {
        return group_count;
    }
    template <class T_> EMU_MEMBER T_ shfl_xor(T_ value, unsigned flip) const
    {
        return emu_shuffle(mask, value, lane_of((thread_rank() ^ flip) % Size),
                           "shfl_xor");
    }
};

template <unsigned Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void>
{
  public:
    explicit EMU_MEMBER thread_block_tile(const Parent &parent)
        : thread_block_tile<Size, void>(parent.thread_rank(), parent.size())
    {
    }
};

template <unsigned Size, class Parent>
static EMU_MEMBER thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    return thread_block_tile<Size, Parent>(parent);
}

/* Tiles of more than a warp: of the block only. What their warps exchange passes through
 * shared memory, which CUDA takes from the program before compute capability 8.0 and keeps
 * in reserve since; here it is the emulator's. */
template <unsigned MaxBlockSize = 1024> struct block_tile_memory {
    unsigned long long emu_unused[(MaxBlockSize + 31) / 32];
};
template <unsigned MaxBlockSize>
static EMU_MEMBER thread_block this_thread_block(block_tile_memory<MaxBlockSize> &)
{
    return thread_block();
}

template <unsigned Size> class emu_wide_tile
{
    static_assert(Size <= 1024 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, ... or 1024 threads");

    /* Room for 32 bytes a warp. */
    template <class T_> static EMU_MEMBER T_ *emu_room()
    {
        static_assert(sizeof(T_) <= 32, "tiles of several warps exchange up to 32 bytes");
        return static_cast<T_ *>(emu_tile_room()) + meta_group_rank() * (Size / 32);
    }

  public:
    static EMU_MEMBER void sync()
    {
        emu_tile_barrier(Size);
    }
    EMU_SAYS(unsigned, thread_rank, thread_block::thread_rank() % Size)
    static constexpr EMU_MEMBER unsigned num_threads()
    {
        return Size;
    }
    static constexpr EMU_MEMBER unsigned size()
    {
        return Size;
    }
    EMU_SAYS(unsigned, meta_group_rank, thread_block::thread_rank() / Size)
    EMU_SAYS(unsigned, meta_group_size, (thread_block::num_threads() + Size - 1) / Size)
    /* Of one rank, the same for all. */
    template <class T_> static EMU_MEMBER T_ shfl(T_ value, unsigned rank)
    {
        T_ *room = emu_room<T_>();
        if (thread_rank() == rank) *room = value;
        sync();
        const T_ result = *room;
        sync();
        return result;
    }
    /* All warps' values, one after the other. */
    template <class T_, class Op> static EMU_MEMBER T_ emu_fold(T_ of_the_warp, Op op)
    {
        T_ *room = emu_room<T_>();
        if (emu_lane() == 0) room[emu_warp() % (Size / 32)] = of_the_warp;
        sync();
        T_ result = room[0];
        for (unsigned i = 1; i < Size / 32; i++) result = op(result, room[i]);
        sync();
        return result;
    }
    static EMU_MEMBER int any(int predicate)
    {
        return emu_fold(__any_sync(0xffffffffu, predicate), emu_or());
    }
    static EMU_MEMBER int all(int predicate)
    {
        return !any(!predicate);
    }

  private:
    struct emu_or {
        EMU_MEMBER int operator()(int a, int b) const
        {
            return a | b;
        }
    };
};
#define EMU_WIDE_TILE(size)                                                              \
    template <> class thread_block_tile<size, void> : public emu_wide_tile<size>         \
    {                                                                                    \
    };                                                                                   \
    template <>                                                                          \
    class thread_block_tile<size, thread_block> : public thread_block_tile<size, void>   \
    {                                                                                    \
      public:                                                                            \
        explicit EMU_MEMBER thread_block_tile(const thread_block &)                      \
        {                                                                                \
        }                                                                                \
    };
EMU_WIDE_TILE(64)
EMU_WIDE_TILE(128)
EMU_WIDE_TILE(256)
EMU_WIDE_TILE(512)
EMU_WIDE_TILE(1024)
#undef EMU_WIDE_TILE

/* Any group, where only its size and its barrier are needed. */
class thread_group
{
    unsigned mask; /* 0 for the whole block */

    explicit EMU_MEMBER thread_group(unsigned lanes) : mask(lanes)
    {
    }

  public:
    EMU_MEMBER thread_group(const thread_block &) : mask(0)
    {
    }
    EMU_MEMBER thread_group(const emu_lanes &group) : mask(group.mask)
    {
    }

    EMU_MEMBER void sync() const
    {
        if (mask)
            emu_warp_sync(mask);
        else
            __syncthreads();
    }
    EMU_MEMBER unsigned size() const
    {
        return mask ? (unsigned)__builtin_popcount(mask) : thread_block::size();
    }
    EMU_MEMBER unsigned num_threads() const
    {
        return size();
    }
    EMU_MEMBER unsigned thread_rank() const
    {
        return mask ? (unsigned)__builtin_popcount(mask & ((1u << emu_lane()) - 1))
                    : thread_block::thread_rank();
    }
    static EMU_MEMBER thread_group emu_tile(unsigned size)
    {
        return thread_group(emu_tile_lanes(size));
    }
};
static EMU_MEMBER thread_group tiled_partition(const thread_group &, unsigned size)
{
    return thread_group::emu_tile(size);
}

/* The blocks of a cluster. */
class cluster_group
{
  public:
    static EMU_MEMBER void sync()
    {
        emu_cluster_barrier_arrive();
        emu_cluster_barrier_wait();
    }
    struct arrival_token {
    };
    static EMU_MEMBER arrival_token barrier_arrive()
    {
        emu_cluster_barrier_arrive();
        return arrival_token();
    }
    static EMU_MEMBER void barrier_wait()
    {
        emu_cluster_barrier_wait();
    }
    static EMU_MEMBER void barrier_wait(arrival_token &&)
    {
        emu_cluster_barrier_wait();
    }
    EMU_SAYS(unsigned, block_rank, emu_cluster_rank())
    EMU_SAYS(unsigned, num_blocks, emu_cluster_blocks())
    EMU_SAYS(dim3, dim_blocks, __clusterDim())
    EMU_SAYS(dim3, block_index, __clusterRelativeBlockIdx())
    static EMU_MEMBER dim3 dim_threads()
    {
        const dim3 d = dim_blocks();
        return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
    }
    static EMU_MEMBER dim3 thread_index()
    {
        const dim3 i = block_index();
        return dim3(i.x * blockDim.x + threadIdx.x, i.y * blockDim.y + threadIdx.y,
                    i.z * blockDim.z + threadIdx.z);
    }
    EMU_SAYS(unsigned, num_threads, num_blocks() * thread_block::num_threads())
    EMU_SAYS(unsigned, size, num_threads())
    EMU_SAYS(unsigned, thread_rank,
             block_rank() * thread_block::num_threads() + thread_block::thread_rank())
    template <class T_> static EMU_MEMBER T_ *map_shared_rank(T_ *p, int block)
    {
        return static_cast<T_ *>(emu_cluster_place(p, (unsigned)block));
    }
    static EMU_MEMBER unsigned query_shared_rank(const void *p)
    {
        return emu_cluster_owner(p);
    }
};
static EMU_MEMBER cluster_group this_cluster()
{
    return cluster_group();
}

/* One of the group's threads calls it. */
template <class Group, class Call, class... Arguments>
static EMU_MEMBER void invoke_one(const Group &group, Call &&call,
                                  Arguments &&...arguments)
{
    if (group.thread_rank() == 0)
        static_cast<Call &&>(call)(static_cast<Arguments &&>(arguments)...);
}
/* And all get what it returns. */
template <class Group, class Call, class... Arguments>
static EMU_MEMBER auto invoke_one_broadcast(const Group &group, Call &&call,
                                            Arguments &&...arguments)
{
    typename ::std::decay<decltype(static_cast<Call &&>(call)(
        static_cast<Arguments &&>(arguments)...))>::type result{};
    if (group.thread_rank() == 0)
        result = static_cast<Call &&>(call)(static_cast<Arguments &&>(arguments)...);
    return group.shfl(result, 0);
}

template <class Group> static EMU_MEMBER void sync(const Group &group)
{
    group.sync();
}
template <class Group> static EMU_MEMBER unsigned thread_rank(const Group &group)
{
    return (unsigned)group.thread_rank();
}
template <class Group> static EMU_MEMBER unsigned group_size(const Group &group)
{
    return (unsigned)group.size();
}

#undef EMU_SAYS
#undef EMU_MEMBER

} // namespace cooperative_groups

#endif
