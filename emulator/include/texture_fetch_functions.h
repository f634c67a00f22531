/* Textures and surfaces in kernels. */
#ifndef TEXTURE_FETCH_FUNCTIONS_H
#define TEXTURE_FETCH_FUNCTIONS_H

#include <string.h>

#include "cuda_runtime_api.h"
#include "emulator_runtime.h"

/* What an element is made of: components of one type. */
template <class T_> struct emu_texel {
    using component = T_;
    enum { count = 1 };
};
#define EMU_TEXEL(type, base)                                                            \
    template <> struct emu_texel<type##1> {                                              \
        using component = base;                                                          \
        enum { count = 1 };                                                              \
    };                                                                                   \
    template <> struct emu_texel<type##2> {                                              \
        using component = base;                                                          \
        enum { count = 2 };                                                              \
    };                                                                                   \
    template <> struct emu_texel<type##4> {                                              \
        using component = base;                                                          \
        enum { count = 4 };                                                              \
    };
EMU_TEXEL(char, signed char)
EMU_TEXEL(uchar, unsigned char)
EMU_TEXEL(short, short)
EMU_TEXEL(ushort, unsigned short)
EMU_TEXEL(int, int)
EMU_TEXEL(uint, unsigned)
EMU_TEXEL(float, float)
#undef EMU_TEXEL

template <class T_> static inline struct cudaChannelFormatDesc cudaCreateChannelDesc()
{
    using component = typename emu_texel<T_>::component;
    const int bits = 8 * (int)sizeof(component), n = emu_texel<T_>::count;
    return cudaCreateChannelDesc(bits, n > 1 ? bits : 0, n > 2 ? bits : 0,
                                 n > 2 ? bits : 0,
                                 (component)0.5 != 0 ? cudaChannelFormatKindFloat
                                 : (component)-1 < 0 ? cudaChannelFormatKindSigned
                                                     : cudaChannelFormatKindUnsigned);
}

#ifdef __CUDACC__

template <class T_>
__attribute__((no_sanitize("thread"))) static inline T_
emu_texel_of(const union emu_component from[4])
{
    using component = typename emu_texel<T_>::component;
    component to[4];
    T_ value;
    for (int i = 0; i < emu_texel<T_>::count; i++)
        to[i] = (component)0.5 != 0 ? (component)from[i].real : (component)from[i].whole;
    __builtin_memcpy(&value, to, sizeof value);
    return value;
}
template <class T_>
__attribute__((no_sanitize("thread"))) static inline T_
emu_fetch(cudaTextureObject_t object, enum emu_texture_shape shape, float x, float y,
          float z, int layer, const void *pc)
{
    union emu_component from[4];
    emu_texture_fetch(from, object, shape, x, y, z, layer, pc);
    return emu_texel_of<T_>(from);
}
/* Each has two forms: one returns the element, the other stores it. */
#define EMU_LIST(...) __VA_ARGS__
#define EMU_STORED(name, parameters, given)                                              \
    template <class T_> static __forceinline__ void name(T_ *to, EMU_LIST parameters)    \
    {                                                                                    \
        *to = name<T_>(EMU_LIST given);                                                  \
    }
#define EMU_OBJECT cudaTextureObject_t object
#define EMU_FETCH(name, shape, parameters, given, x, y, z, layer)                        \
    template <class T_> __attribute__((noinline)) static T_ name parameters              \
    {                                                                                    \
        return emu_fetch<T_>(object, shape, x, y, z, layer,                              \
                             __builtin_return_address(0));                               \
    }                                                                                    \
    EMU_STORED(name, parameters, given)

EMU_FETCH(tex1Dfetch, EMU_LINEAR, (EMU_OBJECT, int i), (object, i), 0, 0, 0, i)
EMU_FETCH(tex1D, EMU_1D, (EMU_OBJECT, float x), (object, x), x, 0, 0, 0)
EMU_FETCH(tex2D, EMU_2D, (EMU_OBJECT, float x, float y), (object, x, y), x, y, 0, 0)
EMU_FETCH(tex3D, EMU_3D, (EMU_OBJECT, float x, float y, float z), (object, x, y, z), x, y,
          z, 0)
EMU_FETCH(tex1DLayered, EMU_1D_LAYERED, (EMU_OBJECT, float x, int layer),
          (object, x, layer), x, 0, 0, layer)
EMU_FETCH(tex2DLayered, EMU_2D_LAYERED, (EMU_OBJECT, float x, float y, int layer),
          (object, x, y, layer), x, y, 0, layer)
EMU_FETCH(texCubemap, EMU_CUBE, (EMU_OBJECT, float x, float y, float z),
          (object, x, y, z), x, y, z, 0)

/* There are no mipmaps: whatever level of detail is asked for, or follows from the
 * gradients, a texture has but the one. */
EMU_FETCH(tex1DLod, EMU_1D, (EMU_OBJECT, float x, float), (object, x, 0), x, 0, 0, 0)
EMU_FETCH(tex2DLod, EMU_2D, (EMU_OBJECT, float x, float y, float), (object, x, y, 0), x,
          y, 0, 0)
EMU_FETCH(tex3DLod, EMU_3D, (EMU_OBJECT, float x, float y, float z, float),
          (object, x, y, z, 0), x, y, z, 0)
EMU_FETCH(tex1DGrad, EMU_1D, (EMU_OBJECT, float x, float, float), (object, x, 0, 0), x, 0,
          0, 0)
EMU_FETCH(tex2DGrad, EMU_2D, (EMU_OBJECT, float x, float y, float2, float2),
          (object, x, y, float2(), float2()), x, y, 0, 0)
EMU_FETCH(tex3DGrad, EMU_3D, (EMU_OBJECT, float x, float y, float z, float4, float4),
          (object, x, y, z, float4(), float4()), x, y, z, 0)
#undef EMU_FETCH

template <class T_>
__attribute__((noinline)) static T_ tex2Dgather(cudaTextureObject_t object, float x,
                                                float y, int component = 0)
{
    union emu_component from[4];
    emu_texture_gather(from, object, x, y, component, __builtin_return_address(0));
    return emu_texel_of<T_>(from);
}
EMU_STORED(tex2Dgather, (EMU_OBJECT, float x, float y, int component = 0),
           (object, x, y, component))
#undef EMU_STORED
#undef EMU_OBJECT

/* Of a surface x counts bytes. */
#define EMU_SURFACE(name, parameters, y, z)                                              \
    template <class T_>                                                                  \
    __attribute__((noinline, no_sanitize("thread"))) static T_ surf##name##read(         \
        cudaSurfaceObject_t object, EMU_LIST parameters,                                 \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                        \
    {                                                                                    \
        T_ value;                                                                        \
        memset((void *)&value, 0, sizeof value);                                         \
        const void *p = emu_surface_place(object, x, y, z, sizeof value, mode,           \
                                          __builtin_return_address(0));                  \
        if (p) __builtin_memcpy((void *)&value, p, sizeof value);                        \
        return value;                                                                    \
    }                                                                                    \
    template <class T_>                                                                  \
    __attribute__((noinline, no_sanitize("thread"))) static void surf##name##read(       \
        T_ *value, cudaSurfaceObject_t object, EMU_LIST parameters,                      \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                        \
    {                                                                                    \
        const void *p = emu_surface_place(object, x, y, z, sizeof *value, mode,          \
                                          __builtin_return_address(0));                  \
        if (p) __builtin_memcpy((void *)value, p, sizeof *value);                        \
    }                                                                                    \
    template <class T_>                                                                  \
    __attribute__((noinline, no_sanitize("thread"))) static void surf##name##write(      \
        T_ value, cudaSurfaceObject_t object, EMU_LIST parameters,                       \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                        \
    {                                                                                    \
        void *p = emu_surface_place(object, x, y, z, sizeof value, mode,                 \
                                    __builtin_return_address(0));                        \
        if (p) __builtin_memcpy(p, &value, sizeof value);                                \
    }
EMU_SURFACE(1D, (int x), 0, 0)
EMU_SURFACE(2D, (int x, int y), y, 0)
EMU_SURFACE(3D, (int x, int y, int z), y, z)
EMU_SURFACE(2DLayered, (int x, int y, int z), y, z)
#undef EMU_SURFACE
#undef EMU_LIST

#endif
#endif
