/* What a module is before it is loaded, for whoever makes one. */
#ifndef MODULE_H
#define MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda.h"

struct emu_bytes {
    char *at; /* from malloc */
    size_t count;
};
/* Reads the shared object that an image is, as it lies in memory or as text. Why it cannot
 * is said on stderr. */
CUresult emu_read_module(const void *image, struct emu_bytes *result);

/* Loads one, in whatever context. */
CUresult emu_load_module(CUmodule *module, const void *image);

/* All of a file, and behind it as many zeros as the header of a shared object has bytes;
 * false if there is none. */
bool emu_read_file(const char *path, struct emu_bytes *result);
CUresult emu_read_module_file(const char *path, struct emu_bytes *result);

#endif
