/* The program's variables that kernels can reach: where __device__, __managed__ and
 * __constant__ ones lie, and which static ones kernels have come to. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "memory/variables.h"

#include <link.h>

#include "base/now.h"
#include "base/room.h"
#include "emulator_runtime.h"

/* The linker makes such a pair for a section whose name is an identifier; without the
 * section they are NULL. */
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern char __start_emu_device[] SECTION_END, __stop_emu_device[] SECTION_END;
extern char __start_emu_constant[] SECTION_END, __stop_emu_constant[] SECTION_END;
extern char __start_emu_managed[] SECTION_END, __stop_emu_managed[] SECTION_END;

struct emu_image emu_image = {
    .low = UINTPTR_MAX,
    .variables_low = UINTPTR_MAX,
    .sections = {.device = {__start_emu_device, __stop_emu_device},
                 .constant = {__start_emu_constant, __stop_emu_constant},
                 .managed = {__start_emu_managed, __stop_emu_managed}}};

static bool is_in(const void *p, char *const ends[2])
{
    return (const char *)p >= ends[0] && (const char *)p < ends[1];
}

bool emu_is_constant_variable(const void *p)
{
    for (const struct emu_image *i = &emu_image; i; i = i->others)
        if (is_in(p, i->sections.constant)) return true;
    return false;
}

bool emu_is_managed_variable(const void *p)
{
    for (const struct emu_image *i = &emu_image; i; i = i->others)
        if (is_in(p, i->sections.managed)) return true;
    return false;
}

/* The ends of the section that holds it; or NULL. */
static char *const *section_of(const void *p)
{
    for (const struct emu_image *i = &emu_image; i; i = i->others) {
        const struct emu_sections *const s = &i->sections;
        if (is_in(p, s->device)) return s->device;
        if (is_in(p, s->constant)) return s->constant;
        if (is_in(p, s->managed)) return s->managed;
    }
    return NULL;
}

bool emu_is_device_variable(const void *p)
{
    return section_of(p);
}

char *emu_section_of(const void *p, size_t *bytes)
{
    char *const *const ends = section_of(p);
    if (!ends) return NULL;
    *bytes = (size_t)(ends[1] - ends[0]);
    return ends[0];
}

char *emu_variable_section(const void *p, size_t *bytes)
{
    return emu_is_constant_variable(p) ? NULL : emu_section_of(p, bytes);
}

size_t emu_variables_behind(const void *p)
{
    char *const *const ends = section_of(p);
    return ends ? (size_t)(ends[1] - (const char *)p) : 0;
}

size_t emu_distance_past_variables(const void *p)
{
    size_t least = SIZE_MAX;
    for (const struct emu_image *i = &emu_image; i; i = i->others) {
        const char *const ends[] = {i->sections.device[1], i->sections.constant[1],
                                    i->sections.managed[1]};
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            const size_t distance = (size_t)((const char *)p - ends[k]);
            if (ends[k] && ends[k] <= (const char *)p && distance < least)
                least = distance;
        }
    }
    return least;
}

/* ---- the host's variables of the same names ---- */

static struct emu_host_name *host_names;
char *emu_host_names_low, *emu_host_names_high;

const struct emu_host_name *emu_find_host_name(const void *p)
{
    const struct emu_host_name *h = host_names;
    while (h && (size_t)((const char *)p - h->place) >= h->bytes) h = h->others;
    return h;
}

const void *emu_variable_of_symbol(const void *symbol)
{
    const struct emu_host_name *const h = emu_host_name_of(symbol);
    return h ? h->variable + ((const char *)symbol - h->place) : symbol;
}

void *emu_on_host(void *variable, size_t bytes, const char *name)
{
    /* Alignments that variables are declared with are no larger. */
    enum { ALIGNMENT = 1024 };
    if (emu_current || !emu_is_device_variable(variable) ||
        emu_is_managed_variable(variable))
        return variable;
    EMU_ALONE;
    for (const struct emu_host_name *h = host_names; h; h = h->others)
        if (h->variable == variable && h->bytes >= bytes) return h->place;
    static const char what[] = "for the host's name of a device variable";
    struct emu_host_name *const h = emu_zeros(what, 1, sizeof *h);
    char *const room = emu_zeros(what, bytes + ALIGNMENT, 1);
    *h = (struct emu_host_name){.place = room + (-(uintptr_t)room & (ALIGNMENT - 1)),
                                .variable = variable,
                                .bytes = bytes,
                                .name = name,
                                .others = host_names};
    host_names = h;
    if (!emu_host_names_low || h->place < emu_host_names_low)
        emu_host_names_low = h->place;
    if (h->place + bytes > emu_host_names_high) emu_host_names_high = h->place + bytes;
    return h->place;
}

/* ---- variables of templates ---- */

/* Each is an image of its own, with a section and no code. */
void emu_variable_of_template(void *variable, size_t bytes, enum emu_section section)
{
    EMU_ALONE;
    if (emu_is_device_variable(variable)) return;
    struct emu_image *const image = emu_zeros("for a variable", 1, sizeof *image);
    char **const ends = section == EMU_CONSTANT  ? image->sections.constant
                        : section == EMU_MANAGED ? image->sections.managed
                                                 : image->sections.device;
    ends[0] = variable;
    ends[1] = ends[0] + bytes;
    image->others = emu_image.others;
    emu_image.others = image;
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

/* ---- images ---- */

static void add_parts(struct emu_image *image, const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t high = low + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
            image->fixed_low = low;
            image->fixed_high = high;
        }
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (low < image->low) image->low = low;
        if (high > image->high) image->high = high;
        if (!(info->dlpi_phdr[i].p_flags & PF_W)) continue;
        if (low < image->variables_low) image->variables_low = low;
        if (high > image->variables_high) image->variables_high = high;
    }
}

/* The program's own image: variables of the host and of the device, constant tables,
 * string literals. */
static int add_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    add_parts(&emu_image, info);
    return 1; /* the first object is the program itself */
}

__attribute__((constructor)) static void find_image(void)
{
    dl_iterate_phdr(add_program, NULL);
}

static bool holds(const struct emu_image *image, const void *p)
{
    return (uintptr_t)p >= image->low && (uintptr_t)p < image->high;
}

const struct emu_image *emu_image_of(const void *p)
{
    const struct emu_image *i = &emu_image;
    while (i && !holds(i, p)) i = i->others;
    return i;
}

struct module {
    const void *inside;
    struct emu_image image;
};

static int find_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct module *const m = data;
    m->image = (struct emu_image){.low = UINTPTR_MAX, .variables_low = UINTPTR_MAX};
    add_parts(&m->image, info);
    return holds(&m->image, m->inside);
}

const struct emu_image *emu_add_module(const void *inside,
                                       const struct emu_sections *sections)
{
    static uint32_t next_number = EMU_MODULES_FROM;
    struct module m = {.inside = inside};
    if (!dl_iterate_phdr(find_module, &m)) return NULL;
    struct emu_image *const image = emu_zeros("for a module", 1, sizeof *image);
    *image = m.image;
    image->sections = *sections;
    image->number = next_number;
    next_number += (uint32_t)(image->high - image->low);
    image->others = emu_image.others;
    emu_image.others = image;
    return image;
}

uint32_t emu_number_in_module(const void *pc)
{
    const struct emu_image *const i = emu_image_of(pc);
    const struct emu_image *const image = i ? i : &emu_image;
    return image->number + (uint32_t)((uintptr_t)pc - image->low);
}

const void *emu_place_in_module(uint32_t number)
{
    for (const struct emu_image *i = emu_image.others; i; i = i->others)
        if (number - i->number < i->high - i->low)
            return (const void *)(i->low + (number - i->number));
    return (const void *)(emu_image.low + number);
}
