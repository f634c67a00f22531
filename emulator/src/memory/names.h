/* What to call an allocation in a message. */
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>

struct emu_allocation;

/* "d_a, the 512 bytes allocated at x.cu:12": what to call the allocation where p is
 * nearest to it. By the name that NVTX was told, or else by the variable. */
void emu_name_allocation(char *text, size_t size, const struct emu_allocation *a,
                         const void *p);
/* "byte 128 of ...": where in which allocation p is. */
void emu_describe_global(char *text, size_t size, const void *p);

#endif
