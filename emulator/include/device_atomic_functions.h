/* Atomic operations. One thread runs at a time, so each is a plain read and write; what
 * makes it a function of its own is that the runtime checks the address first and that
 * the two accesses do not show up as the program's. */
#ifndef DEVICE_ATOMIC_FUNCTIONS_H
#define DEVICE_ATOMIC_FUNCTIONS_H

#ifdef __cplusplus

#include "device_functions.h"
#include "emulator_runtime.h"
#include "vector_functions.h"

#define EMU_ATOMIC_NAMED(name, access, T_, result)                                       \
    __attribute__((noinline, no_sanitize("thread"))) inline T_ name(T_ *address,         \
                                                                    T_ value)            \
    {                                                                                    \
        access(address, sizeof(T_), __builtin_return_address(0));                        \
        T_ old = *address;                                                               \
        *address = result;                                                               \
        return old;                                                                      \
    }
/* How far the effect reaches makes no difference to the result here, only to what the
 * checker says of it. */
#define EMU_ATOMIC(name, T_, result)                                                     \
    EMU_ATOMIC_NAMED(name, emu_atomic_access, T_, result)                                \
    EMU_ATOMIC_NAMED(name##_block, emu_block_atomic_access, T_, result)                  \
    EMU_ATOMIC_NAMED(name##_system, emu_atomic_access, T_, result)

/* In global memory, the sum of floats takes and gives no subnormal numbers (PTX ISA, atom);
 * in shared memory it does. */
static inline float emu_flushed(float x)
{
    return __builtin_fabsf(x) < __FLT_MIN__ ? __builtin_copysignf(0.0f, x) : x;
}
static inline float emu_atomic_sum(const void *address, float a, float b)
{
    if (__isShared(address)) return a + b;
    return emu_flushed(emu_flushed(a) + emu_flushed(b));
}
/* An element of a vector, which only global memory can be added to. */
static __forceinline__ float emu_vector_sum(const void *address, float a, float b)
{
    emu_need_global_at(address, "an atomicAdd of a vector", __builtin_return_address(0));
    return emu_atomic_sum(address, a, b);
}

EMU_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)value))
EMU_ATOMIC(atomicAdd, unsigned int, old + value)
EMU_ATOMIC(atomicAdd, unsigned long long, old + value)
EMU_ATOMIC(atomicAdd, float, emu_atomic_sum(address, old, value))
EMU_ATOMIC(atomicAdd, double, old + value)
EMU_ATOMIC(atomicAdd, float2,
           make_float2(emu_vector_sum(address, old.x, value.x),
                       emu_vector_sum(address, old.y, value.y)))
EMU_ATOMIC(atomicAdd, float4,
           make_float4(emu_vector_sum(address, old.x, value.x),
                       emu_vector_sum(address, old.y, value.y),
                       emu_vector_sum(address, old.z, value.z),
                       emu_vector_sum(address, old.w, value.w)))
EMU_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)value))
EMU_ATOMIC(atomicSub, unsigned int, old - value)
EMU_ATOMIC(atomicExch, int, value)
EMU_ATOMIC(atomicExch, unsigned int, value)
EMU_ATOMIC(atomicExch, unsigned long long, value)
EMU_ATOMIC(atomicExch, float, value)
EMU_ATOMIC(atomicMin, int, value < old ? value : old)
EMU_ATOMIC(atomicMin, unsigned int, value < old ? value : old)
EMU_ATOMIC(atomicMin, long long, value < old ? value : old)
EMU_ATOMIC(atomicMin, unsigned long long, value < old ? value : old)
EMU_ATOMIC(atomicMax, int, value > old ? value : old)
EMU_ATOMIC(atomicMax, unsigned int, value > old ? value : old)
EMU_ATOMIC(atomicMax, long long, value > old ? value : old)
EMU_ATOMIC(atomicMax, unsigned long long, value > old ? value : old)
EMU_ATOMIC(atomicAnd, int, old &value)
EMU_ATOMIC(atomicAnd, unsigned int, old &value)
EMU_ATOMIC(atomicAnd, unsigned long long, old &value)
EMU_ATOMIC(atomicOr, int, old | value)
EMU_ATOMIC(atomicOr, unsigned int, old | value)
EMU_ATOMIC(atomicOr, unsigned long long, old | value)
EMU_ATOMIC(atomicXor, int, old ^ value)
EMU_ATOMIC(atomicXor, unsigned int, old ^ value)
EMU_ATOMIC(atomicXor, unsigned long long, old ^ value)
EMU_ATOMIC(atomicInc, unsigned int, old >= value ? 0 : old + 1)
EMU_ATOMIC(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1)

/* An exchange whose result is not used: it may be the first to write there. */
#define EMU_PUT(name)                                                                    \
    template <class A_, class T_>                                                        \
    static __forceinline__ void emu_put_##name(A_ &&address, T_ &&value)                 \
    {                                                                                    \
        emu_fill_bit_field((const void *)&*address, sizeof(*address));                   \
        name(static_cast<A_ &&>(address), static_cast<T_ &&>(value));                    \
    }
EMU_PUT(atomicExch)
EMU_PUT(atomicExch_block)
EMU_PUT(atomicExch_system)
#undef EMU_PUT

#define EMU_CAS_NAMED(name, access, T_)                                                  \
    __attribute__((noinline, no_sanitize("thread"))) inline T_ name(                     \
        T_ *address, T_ expected, T_ value)                                              \
    {                                                                                    \
        access(address, sizeof(T_), __builtin_return_address(0));                        \
        T_ old = *address;                                                               \
        if (old == expected) *address = value;                                           \
        return old;                                                                      \
    }
#define EMU_CAS(T_)                                                                      \
    EMU_CAS_NAMED(atomicCAS, emu_atomic_access, T_)                                      \
    EMU_CAS_NAMED(atomicCAS_block, emu_block_atomic_access, T_)                          \
    EMU_CAS_NAMED(atomicCAS_system, emu_atomic_access, T_)

EMU_CAS(int)
EMU_CAS(unsigned int)
EMU_CAS(unsigned long long)
EMU_CAS(unsigned short)

#undef EMU_CAS
#undef EMU_CAS_NAMED

/* ---- nvcc's own, which are like those of GCC, with a scope behind them ---- */

enum {
    __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST
};

enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

/* Before each atomic. */
static __forceinline__ void emu_nv_reach(int scope)
{
    if (scope <= __NV_THREAD_SCOPE_BLOCK) emu_next_atomic_in_block();
}

#define EMU_NV template <class T_> static __forceinline__

EMU_NV T_ __nv_atomic_load_n(T_ *address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_nv_reach(scope);
    return __atomic_load_n(address, order);
}
EMU_NV void __nv_atomic_load(T_ *address, T_ *result, int order,
                             int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_nv_reach(scope);
    __atomic_load(address, result, order);
}
EMU_NV void __nv_atomic_store_n(T_ *address, emu_same<T_> value, int order,
                                int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_nv_reach(scope);
    __atomic_store_n(address, value, order);
}
EMU_NV void __nv_atomic_store(T_ *address, T_ *value, int order,
                              int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_nv_reach(scope);
    __atomic_store(address, value, order);
}
EMU_NV T_ __nv_atomic_exchange_n(T_ *address, emu_same<T_> value, int order,
                                 int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_nv_reach(scope);
    return __atomic_exchange_n(address, value, order);
}
EMU_NV void __nv_atomic_exchange(T_ *address, T_ *value, T_ *result, int order,
                                 int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_nv_reach(scope);
    __atomic_exchange(address, value, result, order);
}
EMU_NV bool __nv_atomic_compare_exchange_n(T_ *address, T_ *expected,
                                           emu_same<T_> desired, bool weak, int success,
                                           int failure,
                                           int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_nv_reach(scope);
    return __atomic_compare_exchange_n(address, expected, desired, weak, success,
                                       failure);
}
EMU_NV bool __nv_atomic_compare_exchange(T_ *address, T_ *expected, T_ *desired,
                                         bool weak, int success, int failure,
                                         int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_nv_reach(scope);
    return __atomic_compare_exchange(address, expected, desired, weak, success, failure);
}
/* Numbers with a point have no such builtin: they are added up by exchanges. */
#define EMU_NV_FETCH(name, result)                                                       \
    EMU_NV T_ __nv_atomic_fetch_##name(T_ *address, emu_same<T_> value, int order,       \
                                       int scope = __NV_THREAD_SCOPE_SYSTEM)             \
    {                                                                                    \
        T_ old, wanted;                                                                  \
        emu_nv_reach(scope);                                                             \
        __atomic_load(address, &old, __ATOMIC_RELAXED);                                  \
        do {                                                                             \
            wanted = (T_)(result);                                                       \
            emu_nv_reach(scope);                                                         \
        } while (!__atomic_compare_exchange(address, &old, &wanted, false, order,        \
                                            __ATOMIC_RELAXED));                          \
        return old;                                                                      \
    }
EMU_NV_FETCH(add, old + value)
EMU_NV_FETCH(sub, old - value)
EMU_NV_FETCH(and, old &value)
EMU_NV_FETCH(or, old | value)
EMU_NV_FETCH(xor, old ^ value)
EMU_NV_FETCH(min, value < old ? value : old)
EMU_NV_FETCH(max, old < value ? value : old)
#undef EMU_NV_FETCH
#undef EMU_NV

static __forceinline__ void __nv_atomic_thread_fence(int,
                                                     int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_fence(scope > __NV_THREAD_SCOPE_BLOCK);
}

#endif
#endif
