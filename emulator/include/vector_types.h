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

#define EMU_VECTORS(name, T_, bytes_of_2, bytes_of_4)                                    \
    EMU_VECTOR1(name##1, T_)                                                             \
    EMU_VECTOR2(name##2, T_, bytes_of_2)                                                 \
    EMU_VECTOR3(name##3, T_)                                                             \
    EMU_VECTOR4(name##4, T_, bytes_of_4)
#define EMU_VECTORS_WIDE(name, T_)                                                       \
    EMU_VECTOR1(name##1, T_)                                                             \
    EMU_VECTOR2(name##2, T_, 16)                                                         \
    EMU_VECTOR3(name##3, T_)                                                             \
    EMU_VECTOR4_WIDE(name##4, T_)

EMU_VECTORS(char, signed char, 2, 4)
EMU_VECTORS(uchar, unsigned char, 2, 4)
EMU_VECTORS(short, short, 4, 8)
EMU_VECTORS(ushort, unsigned short, 4, 8)
EMU_VECTORS(int, int, 8, 16)
EMU_VECTORS(uint, unsigned int, 8, 16)
EMU_VECTORS_WIDE(long, long)
EMU_VECTORS_WIDE(ulong, unsigned long)
EMU_VECTORS_WIDE(longlong, long long)
EMU_VECTORS_WIDE(ulonglong, unsigned long long)
EMU_VECTORS(float, float, 8, 16)
EMU_VECTORS_WIDE(double, double)

#undef EMU_MEMBERS2
#undef EMU_MEMBERS4
#undef EMU_VECTOR1
#undef EMU_VECTOR2
#undef EMU_VECTOR3
#undef EMU_VECTOR4
#undef EMU_VECTOR4_WIDE
#undef EMU_VECTORS
#undef EMU_VECTORS_WIDE

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
