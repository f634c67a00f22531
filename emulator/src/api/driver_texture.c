/* The driver API's arrays, textures and surfaces: the runtime's, described in its own words. */
#include <string.h>

#include "api/driver.h"
#include "base/now.h"
#include "memory/array.h"

#define CALLER __builtin_return_address(0)

/* Of `count` equal components; nothing if there is no such format. */
static struct cudaChannelFormatDesc describe(CUarray_format format, unsigned count)
{
    int bits = 32;
    enum cudaChannelFormatKind kind = cudaChannelFormatKindNone;
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: bits = 8;                      /* fall through */
    case CU_AD_FORMAT_UNSIGNED_INT16: bits = bits < 16 ? bits : 16; /* fall through */
    case CU_AD_FORMAT_UNSIGNED_INT32: kind = cudaChannelFormatKindUnsigned; break;
    case CU_AD_FORMAT_SIGNED_INT8: bits = 8;                      /* fall through */
    case CU_AD_FORMAT_SIGNED_INT16: bits = bits < 16 ? bits : 16; /* fall through */
    case CU_AD_FORMAT_SIGNED_INT32: kind = cudaChannelFormatKindSigned; break;
    case CU_AD_FORMAT_HALF: bits = 16; /* fall through */
    case CU_AD_FORMAT_FLOAT: kind = cudaChannelFormatKindFloat; break;
    }
    const bool known =
        kind != cudaChannelFormatKindNone && (count == 1 || count == 2 || count == 4);
    struct cudaChannelFormatDesc d = {.f = kind};
    if (known) d.x = bits;
    if (known && count >= 2) d.y = bits;
    if (known && count == 4) d.z = d.w = bits;
    return d;
}

static CUresult create(CUarray *array, CUDA_ARRAY3D_DESCRIPTOR what, const char *call,
                       const void *pc)
{
    EMU_ALONE;
    const CUresult refused = emu_driver_ready();
    if (refused != CUDA_SUCCESS) return refused;
    const struct cudaChannelFormatDesc d = describe(what.Format, what.NumChannels);
    const struct cudaExtent extent = {what.Width, what.Height, what.Depth};
    return emu_result_of(emu_make_array(array, &d, extent, what.Flags, call, pc));
}

CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *what)
{
    if (!what) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR all = {what->Width,  what->Height,      0,
                                         what->Format, what->NumChannels, 0};
    return create(array, all, "cuArrayCreate", CALLER);
}

CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *what)
{
    if (!what) return CUDA_ERROR_INVALID_VALUE;
    return create(array, *what, "cuArray3DCreate", CALLER);
}

CUresult cuArrayDestroy(CUarray array)
{
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    return emu_result_of(cudaFreeArray(array));
}

/* ---- textures and surfaces ---- */

static struct cudaResourceDesc translate(const CUDA_RESOURCE_DESC *what)
{
    struct cudaResourceDesc r;
    memset(&r, 0, sizeof r);
    r.resType = (enum cudaResourceType)what->resType;
    if (what->resType == CU_RESOURCE_TYPE_ARRAY) {
        r.res.array.array = what->res.array.hArray;
    } else if (what->resType == CU_RESOURCE_TYPE_LINEAR) {
        r.res.linear.devPtr = (void *)(uintptr_t)what->res.linear.devPtr;
        r.res.linear.desc =
            describe(what->res.linear.format, what->res.linear.numChannels);
        r.res.linear.sizeInBytes = what->res.linear.sizeInBytes;
    } else {
        r.res.pitch2D.devPtr = (void *)(uintptr_t)what->res.pitch2D.devPtr;
        r.res.pitch2D.desc =
            describe(what->res.pitch2D.format, what->res.pitch2D.numChannels);
        r.res.pitch2D.width = what->res.pitch2D.width;
        r.res.pitch2D.height = what->res.pitch2D.height;
        r.res.pitch2D.pitchInBytes = what->res.pitch2D.pitchInBytes;
    }
    return r;
}

static enum cudaChannelFormatKind kind_of(const struct cudaResourceDesc *r)
{
    if (r->resType == cudaResourceTypeLinear) return r->res.linear.desc.f;
    if (r->resType == cudaResourceTypePitch2D) return r->res.pitch2D.desc.f;
    return r->res.array.array ? r->res.array.array->desc.f : cudaChannelFormatKindNone;
}

/* Integers are read as fractions unless a flag says otherwise; the runtime has it the other
 * way round. 32 bits are never fractions. */
CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view)
{
    if (!object || !resource || !texture) return CUDA_ERROR_INVALID_VALUE;
    const struct cudaResourceDesc r = translate(resource);
    struct cudaTextureDesc t;
    memset(&t, 0, sizeof t);
    for (int i = 0; i < 3; i++)
        t.addressMode[i] = (enum cudaTextureAddressMode)texture->addressMode[i];
    memcpy(t.borderColor, texture->borderColor, sizeof t.borderColor);
    t.filterMode = (enum cudaTextureFilterMode)texture->filterMode;
    t.maxAnisotropy = texture->maxAnisotropy;
    t.normalizedCoords = !!(texture->flags & CU_TRSF_NORMALIZED_COORDINATES);
    t.sRGB = !!(texture->flags & CU_TRSF_SRGB);
    const bool fractions = kind_of(&r) != cudaChannelFormatKindFloat &&
                           !(texture->flags & CU_TRSF_READ_AS_INTEGER);
    t.readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    cudaTextureObject_t made = 0;
    const cudaError_t error = cudaCreateTextureObject(&made, &r, &t, view);
    *object = made;
    return emu_result_of(error);
}

CUresult cuTexObjectDestroy(CUtexObject object)
{
    return emu_result_of(cudaDestroyTextureObject(object));
}

CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource)
{
    if (!object || !resource) return CUDA_ERROR_INVALID_VALUE;
    const struct cudaResourceDesc r = translate(resource);
    cudaSurfaceObject_t made = 0;
    const cudaError_t error = cudaCreateSurfaceObject(&made, &r);
    *object = made;
    return emu_result_of(error);
}

CUresult cuSurfObjectDestroy(CUsurfObject object)
{
    return emu_result_of(cudaDestroySurfaceObject(object));
}
