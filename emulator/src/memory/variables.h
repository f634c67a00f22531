/* The program's variables, as far as kernels can reach them. */
#ifndef VARIABLES_H
#define VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator_runtime.h"

/* The program's own image in memory; what of it can be written, and what of that only the
 * loader writes. Modules that it has loaded are further ones, of which few programs have
 * any; an address in those is told apart by a number of its own (see emu_number_of). */
struct emu_image {
    uintptr_t low, high, variables_low, variables_high, fixed_low, fixed_high;
    struct emu_sections sections;
    uint32_t number; /* of its first byte */
    struct emu_image *others;
};
extern struct emu_image emu_image;
/* The one that holds p; or NULL. */
const struct emu_image *emu_image_of(const void *p);
/* A module that was loaded to where `inside` lies. Returns its image. */
const struct emu_image *emu_add_module(const void *inside,
                                       const struct emu_sections *sections);

/* Addresses of code, in 32 bits: from the start of the program's image. */
uint32_t emu_number_in_module(const void *pc);
const void *emu_place_in_module(uint32_t number);
enum { EMU_MODULES_FROM = 1 << 30 };
static inline uint32_t emu_number_of(const void *pc)
{
    const uintptr_t distance = (uintptr_t)pc - emu_image.low;
    return distance < EMU_MODULES_FROM || !emu_image.others ? (uint32_t)distance
                                                            : emu_number_in_module(pc);
}
static inline const void *emu_place_of_number(uint32_t number)
{
    return number < EMU_MODULES_FROM || !emu_image.others
               ? (const void *)(emu_image.low + number)
               : emu_place_in_module(number);
}

/* The program's __device__, __managed__ and __constant__ variables, in sections of their
 * own; and the last two alone. Functions that a linker may put others in the place of:
 * the machine that runs the exercises has variables of its own. */
bool emu_is_device_variable(const void *p);
bool emu_is_managed_variable(
    const void *p); /* or a static local of a function that kernels call */
bool emu_is_constant_variable(const void *p);
/* A static variable of a function that kernels call, which lies in global memory. */
bool emu_is_local_static(const void *p);
/* The host's variable behind the name of one of device code (see emu_on_host): the one that
 * holds p, or NULL; and whose it is, for the calls that want a symbol: of any other
 * address, itself. */
struct emu_host_name {
    char *place, *variable;
    size_t bytes;
    const char *name;
    struct emu_host_name *others;
};
extern char *emu_host_names_low, *emu_host_names_high; /* they all lie there */
const struct emu_host_name *emu_find_host_name(const void *p);
static inline const struct emu_host_name *emu_host_name_of(const void *p)
{
    return (const char *)p >= emu_host_names_low && (const char *)p < emu_host_names_high
               ? emu_find_host_name(p)
               : NULL;
}
const void *emu_variable_of_symbol(const void *symbol);
/* The section that holds such a variable, or NULL, and its size; NULL for those which
 * kernels only read. */
char *emu_section_of(const void *p, size_t *bytes);
char *emu_variable_section(const void *p, size_t *bytes);
/* Bytes from the end of those sections to p; SIZE_MAX if none ends before it. */
size_t emu_distance_past_variables(const void *p);
/* Bytes from such a variable, or a constant one, to the end of its section. */
size_t emu_variables_behind(const void *p);

#endif
