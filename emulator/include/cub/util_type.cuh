/* What all of CUB shares: operators, pairs, double buffers. Results are CUB's, except that
 * sums of floats are added up from the first to the last. */
#ifndef CUB_UTIL_TYPE_CUH
#define CUB_UTIL_TYPE_CUH

#include <limits>
#include <stdio.h>
#include <stdlib.h>

#include "../cuda/cmath" /* as NVIDIA's does */
#include "../thrust/detail/run.h"
#include "../thrust/functional.h"
#include "../thrust/sort.h"
#include "version.cuh"

namespace cub
{

/* ---- operators ---- */

struct Sum {
    template <class A, class B> auto operator()(const A &a, const B &b) const
    {
        return a + b;
    }
};
struct Max {
    template <class A, class B>
    typename std::common_type<A, B>::type operator()(const A &a, const B &b) const
    {
        return a < b ? b : a;
    }
};
struct Min {
    template <class A, class B>
    typename std::common_type<A, B>::type operator()(const A &a, const B &b) const
    {
        return b < a ? b : a;
    }
};
struct Equality {
    template <class A, class B> bool operator()(const A &a, const B &b) const
    {
        return a == b;
    }
};
struct Inequality {
    template <class A, class B> bool operator()(const A &a, const B &b) const
    {
        return a != b;
    }
};

template <class Key_, class Value_> struct KeyValuePair {
    typedef Key_ Key;
    typedef Value_ Value;
    Key key;
    Value value;

    bool operator!=(const KeyValuePair &other) const
    {
        return value != other.value || key != other.key;
    }
};
/* Of equal values the one with the smaller key, which is its index. */
struct ArgMax {
    template <class K, class V>
    KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a,
                                  const KeyValuePair<K, V> &b) const
    {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V>
    KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a,
                                  const KeyValuePair<K, V> &b) const
    {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

/* ---- types ---- */

struct NullType {
};

/* Two buffers; what an algorithm leaves is in Current(). */
template <class T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector;

    DoubleBuffer(T *current = nullptr, T *alternate = nullptr) : selector(0)
    {
        d_buffers[0] = current;
        d_buffers[1] = alternate;
    }
    T *Current()
    {
        return d_buffers[selector];
    }
    T *Alternate()
    {
        return d_buffers[selector ^ 1];
    }
};

/* Room for `count` elements in shared memory, in a union as well. */
template <class T, int count> struct emu_room {
    alignas(T) char bytes[count * sizeof(T)];

    T &operator[](int i)
    {
        return reinterpret_cast<T *>(bytes)[i];
    }
};

/* A place among the threads of a block with these extents. */
template <int X, int Y> int emu_rank()
{
    return (int)(threadIdx.x + X * (threadIdx.y + Y * threadIdx.z));
}

/* The bits of a key from `begin` to `end`, as a radix sort sees it. */
template <class Key> unsigned long long emu_radix(const Key &key, int begin, int end)
{
    const unsigned long long x = thrust::emu_radix(key) >> begin;
    return end - begin < 64 ? x & ((1ull << (end - begin)) - 1) : x;
}

/* An algorithm for a whole array: asked first how much memory it takes, which here comes
 * from elsewhere, and then run. */
template <class F>
cudaError_t emu_device_wide(const char *name, const void *room, size_t &bytes,
                            cudaStream_t stream, F f)
{
    if (!room) {
        bytes = 1;
        return cudaSuccess;
    }
    const thrust::emu_policy policy(thrust::EMU_DEVICE, stream);
    thrust::emu_scope scope(policy);
    try {
        f(name);
    } catch (const thrust::system_error &error) {
        return (cudaError_t)error.code();
    } catch (const std::bad_alloc &) {
        return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

/* ---- errors ---- */

static inline cudaError_t Debug(cudaError_t error, const char *file, int line)
{
    if (error)
        fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", error, file, line,
                cudaGetErrorString(error));
    return error;
}

} // namespace cub

#define CubDebug(e) cub::Debug((cudaError_t)(e), __FILE__, __LINE__)
#define CubDebugExit(e)                                                                  \
    do {                                                                                 \
        if (CubDebug(e)) exit(1);                                                        \
    } while (0)

#endif
