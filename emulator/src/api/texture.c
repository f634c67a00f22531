/* Textures and surfaces: how they are read (CUDA C++ Programming Guide, "Texture
 * Fetching"). What is read through them is not looked at word by word. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "base/now.h"
#include "base/room.h"
#include "base/source.h"
#include "emulator_float16.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/array.h"
#include "memory/copies.h"
#include "memory/names.h"
#include "memory/shadow.h"
#include "memory/values.h"
#include "watch/global.h"
#include "watch/lens.h"

/* A texture or a surface. The object's number is its address. */
struct texture {
    struct texture *next;
    struct cudaChannelFormatDesc desc;
    size_t width, height, depth, pitch;
    const char *elements;
    struct cudaTextureDesc how;
    struct cudaResourceDesc resource; /* that it was made from, */
    bool is_surface;                  /* for a surface */
};
static struct texture *textures;

/* ---- objects ---- */

static struct texture **find(unsigned long long object)
{
    struct texture **at = &textures;
    while (*at && (unsigned long long)(uintptr_t)*at != object) at = &(*at)->next;
    return at;
}

static cudaError_t create(unsigned long long *object, const struct cudaResourceDesc *from,
                          const struct cudaTextureDesc *how)
{
    EMU_ALONE;
    if (!object || !from) return cudaErrorInvalidValue;
    struct texture t = {
        .next = textures, .height = 1, .depth = 1, .resource = *from, .is_surface = !how};
    if (how) t.how = *how;
    switch (from->resType) {
    case cudaResourceTypeArray: {
        const struct cudaArray *a = from->res.array.array;
        if (!a) return cudaErrorInvalidValue;
        t.desc = a->desc;
        t.width = a->width;
        t.height = a->height;
        t.depth = a->depth;
        t.elements = a->elements;
        break;
    }
    case cudaResourceTypeLinear:
        t.desc = from->res.linear.desc;
        t.elements = from->res.linear.devPtr;
        if (!emu_element_bytes(&t.desc)) return cudaErrorInvalidValue;
        t.width = from->res.linear.sizeInBytes / emu_element_bytes(&t.desc);
        break;
    case cudaResourceTypePitch2D:
        t.desc = from->res.pitch2D.desc;
        t.elements = from->res.pitch2D.devPtr;
        t.width = from->res.pitch2D.width;
        t.height = from->res.pitch2D.height;
        t.pitch = from->res.pitch2D.pitchInBytes;
        break;
    default: return cudaErrorInvalidValue;
    }
    if (!t.pitch) t.pitch = t.width * emu_element_bytes(&t.desc);
    if (t.height > 1 && t.pitch < t.width * emu_element_bytes(&t.desc))
        return cudaErrorInvalidValue;
    if (!emu_is_device_range(t.elements, t.pitch * (t.height * t.depth - 1) +
                                             t.width * emu_element_bytes(&t.desc)))
        return cudaErrorInvalidValue;
    textures = emu_zeros("for a texture", 1, sizeof t);
    *textures = t;
    *object = (unsigned long long)(uintptr_t)textures;
    return cudaSuccess;
}

static cudaError_t destroy(unsigned long long object)
{
    EMU_ALONE;
    struct texture **at = find(object), *gone = *at;
    if (!gone) return object ? cudaErrorInvalidValue : cudaSuccess;
    *at = gone->next;
    emu_changes++; /* the number means none now, and later perhaps another */
    free(gone);
    return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *texture,
                                    const void *view)
{
    return set(view || !texture ? cudaErrorInvalidValue
                                : create(object, resource, texture));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    return set(destroy(object));
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
                                    const struct cudaResourceDesc *resource)
{
    return set(create(object, resource, NULL));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    return set(destroy(object));
}

static cudaError_t tell_resource(struct cudaResourceDesc *resource,
                                 unsigned long long object, bool is_surface)
{
    EMU_ALONE;
    const struct texture *const t = *find(object);
    if (!t || !resource || t->is_surface != is_surface) return cudaErrorInvalidValue;
    *resource = t->resource;
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaTextureObject_t object)
{
    return set(tell_resource(resource, object, false));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaSurfaceObject_t object)
{
    return set(tell_resource(resource, object, true));
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *texture,
                                            cudaTextureObject_t object)
{
    EMU_ALONE;
    const struct texture *const t = *find(object);
    if (!t || !texture || t->is_surface) return set(cudaErrorInvalidValue);
    *texture = t->how;
    return cudaSuccess;
}

/* ---- in kernels ---- */

/* What it shows may be gone, though not the object itself. */
static void fault_gone(const struct texture *t, const void *pc)
{
    const void *freed_at;
    char name[300];
    const struct emu_allocation *const gone = emu_find_freed(t->elements, &freed_at);
    if (!gone)
        emu_fault(pc, "use after free: the memory of a texture or surface is gone");
    const struct emu_place freed = emu_source_of(freed_at);
    emu_name_allocation(name, sizeof name, gone, t->elements);
    emu_fault(pc,
              "use after free: the memory of a texture or surface, %s, was freed at "
              "%s:%d",
              name, freed.file, freed.line);
}

static const struct texture *texture_of(unsigned long long object, const void *pc)
{
    const struct texture *t = *find(object);
    if (!t) emu_fault(pc, "0x%llx is no texture or surface object", object);
    if (!emu_is_device_range(t->elements, 1)) fault_gone(t, pc);
    if (emu_now.lens_looks) emu_lens_texture_fetch();
    return t;
}

static const struct texture *texture_to_read(unsigned long long object, const void *pc)
{
    const struct texture *t = texture_of(object, pc);
    emu_global_is_read(t->elements);
    return t;
}

/* The element that index i means, of n; -1: the border. */
static long addressed(long i, long n, enum cudaTextureAddressMode mode)
{
    switch (mode) {
    case cudaAddressModeWrap: return ((i % n) + n) % n;
    case cudaAddressModeMirror:
        i = ((i % (2 * n)) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case cudaAddressModeBorder: return i < 0 || i >= n ? -1 : i;
    case cudaAddressModeClamp: break;
    }
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Components are read as integers, floats, or parts of the largest integer. */
static void read_element(union emu_component value[4], const struct texture *t, long x,
                         long y, long z)
{
    const int bits[4] = {t->desc.x, t->desc.y, t->desc.z, t->desc.w};
    const bool normalized = t->how.readMode == cudaReadModeNormalizedFloat;
    const char *p = t->elements;
    if (x < 0 || y < 0 || z < 0)
        p = NULL;
    else
        p += (size_t)(z * (long)t->height + y) * t->pitch +
             (size_t)x * emu_element_bytes(&t->desc);
    for (int i = 0; i < 4; i++) {
        unsigned raw = 0;
        value[i].whole = 0;
        if (!bits[i]) continue;
        if (p) memcpy(&raw, p, (size_t)bits[i] / 8);
        if (p) p += bits[i] / 8;
        const unsigned shift = 32 - (unsigned)bits[i];
        if (t->desc.f == cudaChannelFormatKindFloat) {
            if (bits[i] == 16)
                value[i].real = (float)emu_float_of_half((unsigned short)raw);
            else
                memcpy(&value[i].real, &raw, sizeof raw);
            if (!p) value[i].real = t->how.borderColor[i];
            continue;
        }
        const bool is_signed = t->desc.f == cudaChannelFormatKindSigned;
        value[i].whole = is_signed ? (int)(raw << shift) >> shift : (int)raw;
        if (!normalized) continue;
        const float most = (float)((1u << ((unsigned)bits[i] - is_signed)) - 1);
        const float part = (float)value[i].whole / most;
        value[i].real = part < -1 ? -1 : part;
    }
}

/* Where a linear filter reads: the lower of two neighbours, and the share of the upper,
 * which the hardware keeps in 8 bits. */
static long lower(float x, float *share)
{
    const float at = x - 0.5f, below = floorf(at);
    *share = roundf((at - below) * 256) / 256;
    return (long)below;
}

/* A coordinate in elements, of which the axis has n. *mode is what lies beyond its ends. */
static float on_axis(const struct texture *t, int axis, float x, long n,
                     enum cudaTextureAddressMode *mode)
{
    enum { FAR_AWAY = 1000000000 };
    *mode = t->how.addressMode[axis];
    if (t->how.normalizedCoords)
        x *= (float)n;
    else if (*mode == cudaAddressModeWrap || *mode == cudaAddressModeMirror)
        *mode = cudaAddressModeClamp; /* those need normalized coordinates */
    return fabsf(x) < FAR_AWAY ? x : x > 0 ? FAR_AWAY : 0;
}

static void sample(union emu_component value[4], const struct texture *t, int dimensions,
                   float x, float y, float z, long layer)
{
    const struct cudaTextureDesc *h = &t->how;
    const bool reads_floats = t->desc.f == cudaChannelFormatKindFloat || h->readMode;
    const long n[3] = {(long)t->width, (long)t->height, (long)t->depth};
    const float given[3] = {x, y, z};
    float share[3] = {0, 0, 0};
    long low[3] = {0, 0, 0};
    enum cudaTextureAddressMode mode[3];
    const bool linear = h->filterMode == cudaFilterModeLinear && reads_floats;
    for (int d = 0; d < dimensions; d++) {
        const float at = on_axis(t, d, given[d], n[d], &mode[d]);
        low[d] = linear ? lower(at, &share[d]) : (long)floorf(at);
    }
    float sum[4] = {0, 0, 0, 0};
    for (int corner = 0; corner < (linear ? 1 << dimensions : 1); corner++) {
        long index[3] = {0, 0, layer};
        float weight = 1;
        for (int d = 0; d < dimensions; d++) {
            const int upper = corner >> d & 1;
            index[d] = addressed(low[d] + upper, n[d], mode[d]);
            weight *= upper ? share[d] : 1 - share[d];
        }
        read_element(value, t, index[0], index[1], index[2]);
        for (int i = 0; linear && i < 4; i++)
            if (weight != 0) sum[i] += weight * value[i].real;
    }
    for (int i = 0; linear && i < 4; i++) value[i].real = sum[i];
}

/* A direction: through which face it goes, and where. */
static void sample_cube(union emu_component value[4], const struct texture *t, float x,
                        float y, float z)
{
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    float s, u, most;
    long face;
    if (ax >= ay && ax >= az) {
        face = x < 0, most = ax, s = x < 0 ? z : -z, u = -y;
    } else if (ay >= az) {
        face = 2 + (y < 0), most = ay, s = x, u = y < 0 ? -z : z;
    } else {
        face = 4 + (z < 0), most = az, s = z < 0 ? -x : x, u = -y;
    }
    struct texture flat = *t;
    flat.how.normalizedCoords = 1;
    flat.how.addressMode[0] = flat.how.addressMode[1] = cudaAddressModeClamp;
    sample(value, &flat, 2, (s / most + 1) / 2, (u / most + 1) / 2, 0, face);
}

void emu_texture_fetch(union emu_component value[4], unsigned long long object,
                       enum emu_texture_shape shape, float x, float y, float z, int layer,
                       const void *pc)
{
    const struct texture *t = texture_to_read(object, pc);
    const long last = (long)t->depth - 1, own = layer < 0      ? 0
                                                : layer > last ? last
                                                               : layer;
    switch (shape) {
    case EMU_LINEAR: /* beyond its ends are zeros, on which programs rely */
        if (layer >= 0 && (size_t)layer < t->width)
            read_element(value, t, layer, 0, 0);
        else
            memset(value, 0, 4 * sizeof *value);
        break;
    case EMU_1D: sample(value, t, 1, x, 0, 0, 0); break;
    case EMU_2D: sample(value, t, 2, x, y, 0, 0); break;
    case EMU_3D: sample(value, t, 3, x, y, z, 0); break;
    case EMU_1D_LAYERED:
    case EMU_2D_LAYERED:
        sample(value, t, shape == EMU_1D_LAYERED ? 1 : 2, x, y, 0, own);
        break;
    case EMU_CUBE: sample_cube(value, t, x, y, z); break;
    }
}

void emu_texture_gather(union emu_component value[4], unsigned long long object, float x,
                        float y, int component, const void *pc)
{
    static const int corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const struct texture *t = texture_to_read(object, pc);
    const long n[2] = {(long)t->width, (long)t->height};
    enum cudaTextureAddressMode mode[2];
    float share;
    const long low[2] = {lower(on_axis(t, 0, x, n[0], &mode[0]), &share),
                         lower(on_axis(t, 1, y, n[1], &mode[1]), &share)};
    for (int i = 0; i < 4; i++) {
        union emu_component texel[4];
        read_element(texel, t, addressed(low[0] + corners[i][0], n[0], mode[0]),
                     addressed(low[1] + corners[i][1], n[1], mode[1]), 0);
        value[i] = texel[component & 3];
    }
}

void *emu_surface_place(unsigned long long object, int x, int y, int z, size_t bytes,
                        int mode, const void *pc)
{
    const struct texture *t = texture_of(object, pc);
    const long row = (long)(t->width * emu_element_bytes(&t->desc));
    if (x < 0 || y < 0 || z < 0 || x + (long)bytes > row || y >= (long)t->height ||
        z >= (long)t->depth) {
        if (mode == cudaBoundaryModeTrap)
            emu_fault(pc, "out of bounds: byte %d of row %d of layer %d of a surface", x,
                      y, z);
        if (mode == cudaBoundaryModeZero) return NULL;
        x = x < 0 ? 0 : x + (long)bytes > row ? (int)(row - (long)bytes) : x;
        y = y < 0 ? 0 : y >= (int)t->height ? (int)t->height - 1 : y;
        z = z < 0 ? 0 : z >= (int)t->depth ? (int)t->depth - 1 : z;
    }
    char *p = (char *)t->elements + ((size_t)z * t->height + (size_t)y) * t->pitch + x;
    emu_check_host_wrote(p, bytes);
    emu_changes++; /* the kernel may write there */
    return p;
}
