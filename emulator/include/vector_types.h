/* float4 and its like: CUDA's names, members and alignments. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

/* In headers of NVIDIA's libraries. */
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END

#include "host_defines.h"

/* A GPU copies a vector in one access, and that access is what the emulator has to see. A
 * C++ compiler is free to split the copy of a plain struct into its members, so each
 * vector whose size the hardware can move at once copies itself through one integer or
 * SIMD value of that size. The constructors give back what the copy constructor takes
 * away: initialisation with braces. */
#ifdef __cplusplus
typedef unsigned short emu_unit2 __attribute__((may_alias));
typedef unsigned int emu_unit4 __attribute__((may_alias));
typedef unsigned int emu_unit8 __attribute__((vector_size(8), may_alias));
typedef unsigned int emu_unit16 __attribute__((vector_size(16), may_alias));
/* Lets `float4 v = {0};` through and stops `float4 v = 0;`, which CUDA refuses. */
template <class T_> struct emu_in_braces {
    T_ value;
    constexpr emu_in_braces(T_ v) : value(v)
    {
    }
};
#define EMU_ONE_ACCESS(name, bytes)                                                      \
    name() = default;                                                                    \
    __attribute__((always_inline)) name(const name &from)                                \
    {                                                                                    \
        *reinterpret_cast<emu_unit##bytes *>(this) =                                     \
            *reinterpret_cast<const emu_unit##bytes *>(&from);                           \
    }                                                                                    \
    __attribute__((always_inline)) name &operator=(const name &from)                     \
    {                                                                                    \
        *reinterpret_cast<emu_unit##bytes *>(this) =                                     \
            *reinterpret_cast<const emu_unit##bytes *>(&from);                           \
        return *this;                                                                    \
    }
#define EMU_MEMBERS2(name, T_, bytes)                                                    \
    EMU_ONE_ACCESS(name, bytes)                                                          \
    constexpr name(emu_in_braces<T_> x_) : x(x_.value), y(0)                             \
    {                                                                                    \
    }                                                                                    \
    constexpr name(T_ x_, T_ y_) : x(x_), y(y_)                                          \
    {                                                                                    \
    }
#define EMU_MEMBERS4(name, T_, bytes)                                                    \
    EMU_ONE_ACCESS(name, bytes)                                                          \
    constexpr name(emu_in_braces<T_> x_) : x(x_.value), y(0), z(0), w(0)                 \
    {                                                                                    \
    }                                                                                    \
    constexpr name(T_ x_, T_ y_, T_ z_ = 0, T_ w_ = 0) : x(x_), y(y_), z(z_), w(w_)      \
    {                                                                                    \
    }
#else
#define EMU_MEMBERS2(name, T_, bytes)
#define EMU_MEMBERS4(name, T_, bytes)
#endif

#define EMU_VECTOR1(name, T_)                                                            \
    struct name {                                                                        \
        T_ x;                                                                            \
    };                                                                                   \
    typedef struct name name;
#define EMU_VECTOR2(name, T_, bytes)                                                     \
    struct __align__(bytes) name {                                                       \
        T_ x, y;                                                                         \
        EMU_MEMBERS2(name, T_, bytes)                                                    \
    };                                                                                   \
    typedef struct name name;
#define EMU_VECTOR3(name, T_)                                                            \
    struct name {                                                                        \
        T_ x, y, z;                                                                      \
    };                                                                                   \
    typedef struct name name;
#define EMU_VECTOR4(name, T_, bytes)                                                     \
    struct __align__(bytes) name {                                                       \
        T_ x, y, z, w;                                                                   \
        EMU_MEMBERS4(name, T_, bytes)                                                    \
    };                                                                                   \
    typedef struct name name;
/* 32 bytes: more than one access on the hardware too, so a plain struct. */
#define EMU_VECTOR4_WIDE(name, T_)                                                       \
    struct __align__(16) name {                                                          \
        T_ x, y, z, w;                                                                   \
    };                                                                                   \
    typedef struct name name;

EMU_VECTOR1(char1, signed char)
EMU_VECTOR2(char2, signed char, 2)
EMU_VECTOR3(char3, signed char)
EMU_VECTOR4(char4, signed char, 4)
EMU_VECTOR1(uchar1, unsigned char)
EMU_VECTOR2(uchar2, unsigned char, 2)
EMU_VECTOR3(uchar3, unsigned char)
EMU_VECTOR4(uchar4, unsigned char, 4)
EMU_VECTOR1(short1, short)
EMU_VECTOR2(short2, short, 4)
EMU_VECTOR3(short3, short)
EMU_VECTOR4(short4, short, 8)
EMU_VECTOR1(ushort1, unsigned short)
EMU_VECTOR2(ushort2, unsigned short, 4)
EMU_VECTOR3(ushort3, unsigned short)
EMU_VECTOR4(ushort4, unsigned short, 8)
EMU_VECTOR1(int1, int)
EMU_VECTOR2(int2, int, 8)
EMU_VECTOR3(int3, int)
EMU_VECTOR4(int4, int, 16)
EMU_VECTOR1(uint1, unsigned int)
EMU_VECTOR2(uint2, unsigned int, 8)
EMU_VECTOR3(uint3, unsigned int)
EMU_VECTOR4(uint4, unsigned int, 16)
EMU_VECTOR1(long1, long)
EMU_VECTOR2(long2, long, 16)
EMU_VECTOR3(long3, long)
EMU_VECTOR4_WIDE(long4, long)
EMU_VECTOR1(ulong1, unsigned long)
EMU_VECTOR2(ulong2, unsigned long, 16)
EMU_VECTOR3(ulong3, unsigned long)
EMU_VECTOR4_WIDE(ulong4, unsigned long)
EMU_VECTOR1(longlong1, long long)
EMU_VECTOR2(longlong2, long long, 16)
EMU_VECTOR3(longlong3, long long)
EMU_VECTOR4_WIDE(longlong4, long long)
EMU_VECTOR1(ulonglong1, unsigned long long)
EMU_VECTOR2(ulonglong2, unsigned long long, 16)
EMU_VECTOR3(ulonglong3, unsigned long long)
EMU_VECTOR4_WIDE(ulonglong4, unsigned long long)
EMU_VECTOR1(float1, float)
EMU_VECTOR2(float2, float, 8)
EMU_VECTOR3(float3, float)
EMU_VECTOR4(float4, float, 16)
EMU_VECTOR1(double1, double)
EMU_VECTOR2(double2, double, 16)
EMU_VECTOR3(double3, double)
EMU_VECTOR4_WIDE(double4, double)

#undef EMU_MEMBERS2
#undef EMU_MEMBERS4
#undef EMU_VECTOR1
#undef EMU_VECTOR2
#undef EMU_VECTOR3
#undef EMU_VECTOR4
#undef EMU_VECTOR4_WIDE

#ifdef __cplusplus
/* The type of blockDim and gridDim (device_launch_parameters.h). */
struct emu_extent {
    unsigned int x, y, z;
    operator uint3() const
    {
        return uint3{x, y, z};
    }
};
#endif

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
        : x(x_), y(y_), z(z_)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr dim3(emu_extent v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
#endif
};
typedef struct dim3 dim3;

#endif
