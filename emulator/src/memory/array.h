/* CUDA arrays. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>

#include "cuda_runtime_api.h"

struct cudaArray {
    struct cudaChannelFormatDesc desc;
    size_t width, height, depth; /* in elements, 1 at least; the depth may be layers */
    char *elements;
    struct cudaExtent asked; /* as it was asked for: 0 where there is none */
    unsigned int flags;
};

size_t emu_element_bytes(const struct cudaChannelFormatDesc *d);
/* An extent of 0 in height or depth is none. `call` at pc asks for it. */
cudaError_t emu_make_array(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                           struct cudaExtent extent, unsigned int flags, const char *call,
                           const void *pc);
/* Where byte x of row y of layer z lies, and the bytes of a row, the rows of a layer and
 * the bytes of an element. */
char *emu_array_place(cudaArray_const_t array, size_t x, size_t y, size_t z,
                      size_t *pitch, size_t *rows, size_t *element);

#endif
