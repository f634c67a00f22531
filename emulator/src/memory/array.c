/* CUDA arrays: elements of one to four components, in up to three dimensions or layers,
 * for textures and surfaces. */
#include "memory/array.h"

#include <stdlib.h>

#include "base/errors.h"
#include "memory/allocations.h"

size_t emu_element_bytes(const struct cudaChannelFormatDesc *d)
{
    return (size_t)(d->x + d->y + d->z + d->w) / 8;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

cudaError_t emu_make_array(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                           struct cudaExtent extent, unsigned int flags, const char *call,
                           const void *pc)
{
    const unsigned known = cudaArrayLayered | cudaArraySurfaceLoadStore |
                           cudaArrayCubemap | cudaArrayTextureGather;
    if (!array || !desc || !emu_element_bytes(desc) || !extent.width || (flags & ~known))
        return cudaErrorInvalidValue;
    struct cudaArray a = {.desc = *desc,
                          .width = extent.width,
                          .height = extent.height ? extent.height : 1,
                          .depth = extent.depth ? extent.depth : 1,
                          .asked = extent,
                          .flags = flags};
    *array = malloc(sizeof a);
    if (!*array) return cudaErrorMemoryAllocation;
    const cudaError_t error = emu_allocate(
        (void **)&a.elements, a.width * a.height * a.depth * emu_element_bytes(desc),
        cudaMemoryTypeDevice, call, pc);
    if (error == cudaSuccess) {
        **array = a;
    } else {
        free(*array);
        *array = NULL;
    }
    return error;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array,
                              const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned int flags)
{
    return set(emu_make_array(array, desc, extent, flags, "cudaMalloc3DArray",
                              __builtin_return_address(0)));
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned int flags)
{
    return set(emu_make_array(array, desc, make_cudaExtent(width, height, 0), flags,
                              "cudaMallocArray", __builtin_return_address(0)));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (!array) return cudaSuccess;
    const cudaError_t error = cudaFree(array->elements);
    free(array);
    return error;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc,
                               cudaArray_const_t array)
{
    if (!desc || !array) return set(cudaErrorInvalidValue);
    *desc = array->desc;
    return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc,
                             struct cudaExtent *extent, unsigned int *flags,
                             cudaArray_t array)
{
    if (!array) return set(cudaErrorInvalidValue);
    if (desc) *desc = array->desc;
    if (extent) *extent = array->asked;
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

char *emu_array_place(cudaArray_const_t array, size_t x, size_t y, size_t z,
                      size_t *pitch, size_t *rows, size_t *element)
{
    *element = emu_element_bytes(&array->desc);
    *pitch = array->width * *element;
    *rows = array->height;
    return array->elements + (z * array->height + y) * *pitch + x;
}
