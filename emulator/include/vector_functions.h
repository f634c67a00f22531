/* make_float4 and its like. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define EMU_MAKE(base, T_)                                                               \
    static __forceinline__ base##1 make_##base##1(T_ x)                                  \
    {                                                                                    \
        base##1 v = {x};                                                                 \
        return v;                                                                        \
    }                                                                                    \
    static __forceinline__ base##2 make_##base##2(T_ x, T_ y)                            \
    {                                                                                    \
        base##2 v = {x, y};                                                              \
        return v;                                                                        \
    }                                                                                    \
    static __forceinline__ base##3 make_##base##3(T_ x, T_ y, T_ z)                      \
    {                                                                                    \
        base##3 v = {x, y, z};                                                           \
        return v;                                                                        \
    }                                                                                    \
    static __forceinline__ base##4 make_##base##4(T_ x, T_ y, T_ z, T_ w)                \
    {                                                                                    \
        base##4 v = {x, y, z, w};                                                        \
        return v;                                                                        \
    }

EMU_MAKE(char, signed char)
EMU_MAKE(uchar, unsigned char)
EMU_MAKE(short, short)
EMU_MAKE(ushort, unsigned short)
EMU_MAKE(int, int)
EMU_MAKE(uint, unsigned int)
EMU_MAKE(long, long)
EMU_MAKE(ulong, unsigned long)
EMU_MAKE(longlong, long long)
EMU_MAKE(ulonglong, unsigned long long)
EMU_MAKE(float, float)
EMU_MAKE(double, double)

#undef EMU_MAKE

#endif
