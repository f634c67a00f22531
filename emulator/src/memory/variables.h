/* The program's variables, as far as kernels can reach them. */
#ifndef VARIABLES_H
#define VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program's own image in memory; what of it can be written, and what of that only the
 * loader writes. */
struct emu_image {
    uintptr_t low, high, variables_low, variables_high, fixed_low, fixed_high;
};
extern struct emu_image emu_image;

/* The program's __device__, __managed__ and __constant__ variables, in sections of their
 * own; and the last two alone. Functions that a linker may put others in the place of:
 * the machine that runs the exercises has variables of its own. */
bool emu_is_device_variable(const void *p);
bool emu_is_managed_variable(
    const void *p); /* or a static local of a function that kernels call */
bool emu_is_constant_variable(const void *p);
/* A static variable of a function that kernels call, which lies in global memory. */
bool emu_is_local_static(const void *p);
/* The section that holds a variable which kernels may write, or NULL; its size. */
char *emu_variable_section(const void *p, size_t *bytes);
/* Bytes from the end of those sections to p; SIZE_MAX if none ends before it. */
size_t emu_distance_past_variables(const void *p);
/* Bytes from such a variable, or a constant one, to the end of its section. */
size_t emu_variables_behind(const void *p);

#endif
