/* The calls that copy and fill. */
#ifndef COPIES_H
#define COPIES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all of it lies in one allocation (or device variable) that the GPU can reach;
 * true for 0 bytes. */
bool emu_is_device_range(const void *p, size_t bytes);

#endif
