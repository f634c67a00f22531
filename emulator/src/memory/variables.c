/* The program's variables that kernels can reach: where __device__, __managed__ and
 * __constant__ ones lie, and which static ones kernels have come to. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "memory/variables.h"

#include <link.h>

#include "base/room.h"
#include "emulator_runtime.h"

/* The linker makes such a pair for a section whose name is an identifier; without the
 * section they are NULL. */
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern char __start_emu_device[] SECTION_END, __stop_emu_device[] SECTION_END;
extern char __start_emu_constant[] SECTION_END, __stop_emu_constant[] SECTION_END;
extern char __start_emu_managed[] SECTION_END, __stop_emu_managed[] SECTION_END;

bool emu_is_constant_variable(const void *p)
{
    return (const char *)p >= __start_emu_constant &&
           (const char *)p < __stop_emu_constant;
}

bool emu_is_managed_variable(const void *p)
{
    return (const char *)p >= __start_emu_managed && (const char *)p < __stop_emu_managed;
}

bool emu_is_device_variable(const void *p)
{
    return ((const char *)p >= __start_emu_device &&
            (const char *)p < __stop_emu_device) ||
           emu_is_constant_variable(p) || emu_is_managed_variable(p);
}

char *emu_variable_section(const void *p, size_t *bytes)
{
    const bool managed = emu_is_managed_variable(p);
    char *const begin = managed ? __start_emu_managed : __start_emu_device;
    char *const end = managed ? __stop_emu_managed : __stop_emu_device;
    if ((const char *)p < begin || (const char *)p >= end) return NULL;
    *bytes = (size_t)(end - begin);
    return begin;
}

size_t emu_variables_behind(const void *p)
{
    const char *const end = emu_is_managed_variable(p)    ? __stop_emu_managed
                            : emu_is_constant_variable(p) ? __stop_emu_constant
                                                          : __stop_emu_device;
    return (size_t)(end - (const char *)p);
}

size_t emu_distance_past_variables(const void *p)
{
    const char *const ends[] = {__stop_emu_device, __stop_emu_constant,
                                __stop_emu_managed};
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t distance = (size_t)((const char *)p - ends[i]);
        if (ends[i] && ends[i] <= (const char *)p && distance < least) least = distance;
    }
    return least;
}

/* ---- static variables of functions ---- */

/* Static variables of functions that kernels call. Which they are is known once their
 * function has run. */
static struct local_static {
    const char *base;
    size_t bytes;
    struct local_static *next;
} *local_statics;

bool emu_is_local_static(const void *p)
{
    for (const struct local_static *s = local_statics; s; s = s->next)
        if ((size_t)((const char *)p - s->base) < s->bytes) return true;
    return false;
}

void emu_local_static(const void *p, size_t bytes)
{
    if (emu_is_local_static(p)) return;
    struct local_static *s = emu_zeros("to note a static variable", 1, sizeof *s);
    *s = (struct local_static){p, bytes, local_statics};
    local_statics = s;
}

/* ---- the image ---- */

struct emu_image emu_image = {.low = UINTPTR_MAX, .variables_low = UINTPTR_MAX};

/* The program's own image: variables of the host and of the device, constant tables,
 * string literals. */
static int add_image(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t high = low + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
            emu_image.fixed_low = low;
            emu_image.fixed_high = high;
        }
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (low < emu_image.low) emu_image.low = low;
        if (high > emu_image.high) emu_image.high = high;
        if (!(info->dlpi_phdr[i].p_flags & PF_W)) continue;
        if (low < emu_image.variables_low) emu_image.variables_low = low;
        if (high > emu_image.variables_high) emu_image.variables_high = high;
    }
    return 1; /* the first object is the program itself */
}

__attribute__((constructor)) static void find_image(void)
{
    dl_iterate_phdr(add_image, NULL);
}
