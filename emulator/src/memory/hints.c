/* What a program advises of managed memory, and where it has it brought ahead of time. It
 * has no effect, here all memory is one; but the program may ask for it again. */
#include <stdlib.h>

#include "base/device.h"
#include "base/errors.h"
#include "base/now.h"
#include "base/room.h"
#include "memory/allocations.h"
#include "memory/streams.h"
#include "memory/variables.h"

struct hints {
    bool read_mostly;
    struct cudaMemLocation preferred, fetched; /* of no type: none, or never */
    unsigned accessed_by;                      /* devices, a bit each */
    bool accessed_by_host;
};

/* Pages of which the same has been said, in the order of their addresses; of all others
 * nothing has. An address that was freed is known by the number of its allocation. */
static struct stretch {
    const char *first, *end;
    unsigned number;
    struct hints hints;
    struct stretch *next;
} *stretches;

/* The whole of the managed allocation, or variable, that holds these bytes; of no bytes if
 * there is none, or if it does not hold all of them. */
static struct stretch whole_of(const void *pointer, size_t bytes)
{
    const struct emu_allocation *const a = emu_allocation_of(pointer);
    const char *const first = pointer;
    if (a && a->type == cudaMemoryTypeManaged && bytes > 0 &&
        bytes <= a->bytes - (size_t)(first - a->base))
        return (struct stretch){a->base, a->base + a->bytes, a->number, {0}, NULL};
    if (emu_is_managed_variable(pointer) && bytes > 0 &&
        bytes <= emu_variables_behind(pointer))
        return (struct stretch){first, first + bytes, 0, {0}, NULL};
    return (struct stretch){0};
}

/* The pages of these bytes, as far as they are of the same allocation. */
static struct stretch pages_of(const void *pointer, size_t bytes)
{
    enum { PAGE = 4096 };
    struct stretch s = whole_of(pointer, bytes);
    if (!s.first) return s;
    const char *const low = (const char *)((uintptr_t)pointer / PAGE * PAGE),
                      *const high =
                          (const char *)(((uintptr_t)pointer + bytes + PAGE - 1) / PAGE *
                                         PAGE);
    if (low > s.first) s.first = low;
    if (high < s.end) s.end = high;
    return s;
}

static struct stretch *new_stretch(struct stretch what, struct stretch *next)
{
    struct stretch *const s = emu_zeros("for hints about memory", 1, sizeof *s);
    *s = what;
    s->next = next;
    return s;
}

/* Forgets what was said of an allocation that was here before, and cuts what goes on beyond
 * either end; from here on a stretch lies within these pages, or outside. */
static void cut_out(const struct stretch *pages)
{
    for (struct stretch **at = &stretches; *at;) {
        struct stretch *const s = *at;
        const bool meets = s->first < pages->end && s->end > pages->first;
        const char *const cut = s->first < pages->first ? pages->first : pages->end;
        if (meets && s->number != pages->number) {
            *at = s->next;
            free(s);
            continue;
        }
        if (meets && cut > s->first && cut < s->end) {
            s->next = new_stretch(*s, s->next);
            s->end = s->next->first = cut;
        }
        at = &s->next;
    }
}

/* Makes a stretch of each part of the pages that none is of. */
static void fill_up(const struct stretch *pages)
{
    const char *done = pages->first;
    struct stretch **at = &stretches;
    while (done < pages->end) {
        while (*at && (*at)->end <= done) at = &(*at)->next;
        if (!*at || (*at)->first > done) {
            struct stretch gap = *pages;
            gap.first = done;
            if (*at && (*at)->first < gap.end) gap.end = (*at)->first;
            *at = new_stretch(gap, *at);
        }
        done = (*at)->end;
    }
}

/* ---- what is said ---- */

static bool is_place(const struct cudaMemLocation *place)
{
    return place->type == cudaMemLocationTypeDevice
               ? emu_is_device(place->id)
               : place->type >= cudaMemLocationTypeHost &&
                     place->type <= cudaMemLocationTypeHostNumaCurrent;
}

/* The bit of the device, or all bits that say something of the host. */
static void note_access(struct hints *h, const struct cudaMemLocation *place, bool on)
{
    if (place->type != cudaMemLocationTypeDevice)
        h->accessed_by_host = on;
    else if (on)
        h->accessed_by |= 1u << place->id;
    else
        h->accessed_by &= ~(1u << place->id);
}

static void note(struct hints *h, enum cudaMemoryAdvise advice,
                 const struct cudaMemLocation *place)
{
    switch (advice) {
    case cudaMemAdviseSetReadMostly: h->read_mostly = true; break;
    case cudaMemAdviseUnsetReadMostly: h->read_mostly = false; break;
    case cudaMemAdviseSetPreferredLocation: h->preferred = *place; break;
    case cudaMemAdviseUnsetPreferredLocation:
        h->preferred = (struct cudaMemLocation){0};
        break;
    case cudaMemAdviseSetAccessedBy: note_access(h, place, true); break;
    case cudaMemAdviseUnsetAccessedBy: note_access(h, place, false); break;
    }
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    EMU_ALONE;
    const bool needs_place = advice == cudaMemAdviseSetPreferredLocation ||
                             advice == cudaMemAdviseSetAccessedBy ||
                             advice == cudaMemAdviseUnsetAccessedBy;
    const struct stretch pages = pages_of(pointer, bytes);
    if (!pages.first || advice < cudaMemAdviseSetReadMostly ||
        advice > cudaMemAdviseUnsetAccessedBy)
        return set(cudaErrorInvalidValue);
    if (needs_place && !is_place(&location))
        return set(location.type == cudaMemLocationTypeDevice ? cudaErrorInvalidDevice
                                                              : cudaErrorInvalidValue);
    cut_out(&pages);
    fill_up(&pages);
    for (struct stretch *s = stretches; s; s = s->next)
        if (s->first < pages.end && s->end > pages.first)
            note(&s->hints, advice, &location);
    return cudaSuccess;
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes,
                                 struct cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream)
{
    EMU_ALONE;
    emu_no_launch_follows(stream);
    const struct stretch pages = pages_of(pointer, bytes);
    if (flags || !pages.first) return set(cudaErrorInvalidValue);
    if (!is_place(&location))
        return set(location.type == cudaMemLocationTypeDevice ? cudaErrorInvalidDevice
                                                              : cudaErrorInvalidValue);
    cut_out(&pages);
    fill_up(&pages);
    for (struct stretch *s = stretches; s; s = s->next)
        if (s->first < pages.end && s->end > pages.first) s->hints.fetched = location;
    return cudaSuccess;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned int flags)
{
    EMU_ALONE;
    emu_no_launch_follows(stream);
    (void)flags;
    const struct emu_allocation *a = emu_allocation_of(pointer);
    if (bytes == 0 && a) bytes = a->bytes;
    const bool known = emu_is_managed_variable(pointer) || whole_of(pointer, bytes).first;
    return set(known ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- what is asked for ---- */

static bool same_place(const struct cudaMemLocation *a, const struct cudaMemLocation *b)
{
    return a->type == b->type && (a->type != cudaMemLocationTypeDevice || a->id == b->id);
}

/* What was said of all of these pages, and of each. */
static struct hints common_hints(const struct stretch *pages)
{
    struct hints all = {0};
    bool first = true;
    for (const char *done = pages->first; done < pages->end; first = false) {
        const struct hints none = {0}, *said = &none;
        const char *end = pages->end;
        for (const struct stretch *s = stretches; s; s = s->next) {
            if (s->number != pages->number) continue;
            if (s->first <= done && s->end > done) {
                said = &s->hints;
                if (s->end < end) end = s->end;
            } else if (s->first > done && s->first < end) {
                end = s->first;
            }
        }
        done = end;
        if (first) {
            all = *said;
            continue;
        }
        all.read_mostly &= said->read_mostly;
        all.accessed_by &= said->accessed_by;
        all.accessed_by_host &= said->accessed_by_host;
        if (!same_place(&all.preferred, &said->preferred))
            all.preferred = (struct cudaMemLocation){0};
        if (!same_place(&all.fetched, &said->fetched))
            all.fetched = (struct cudaMemLocation){0};
    }
    return all;
}

/* As the older attributes have it: a device, or the host. */
static int number_of(const struct cudaMemLocation *place)
{
    return place->type == cudaMemLocationTypeInvalid  ? cudaInvalidDeviceId
           : place->type == cudaMemLocationTypeDevice ? place->id
                                                      : cudaCpuDeviceId;
}

static void list_who_accesses(const struct hints *h, int *list, size_t room)
{
    size_t count = 0;
    for (int d = 0; d < EMU_MOST_DEVICES && count < room; d++)
        if (h->accessed_by >> d & 1) list[count++] = d;
    if (h->accessed_by_host && count < room) list[count++] = cudaCpuDeviceId;
    while (count < room) list[count++] = cudaInvalidDeviceId;
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_bytes,
                                     enum cudaMemRangeAttribute attribute,
                                     const void *pointer, size_t bytes)
{
    EMU_ALONE;
    const struct stretch pages = pages_of(pointer, bytes);
    const bool is_list = attribute == cudaMemRangeAttributeAccessedBy;
    if (!data || !pages.first || data_bytes == 0 || data_bytes % sizeof(int) ||
        (!is_list && data_bytes != sizeof(int)))
        return set(cudaErrorInvalidValue);
    const struct hints h = common_hints(&pages);
    int *const value = data;
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly: *value = h.read_mostly; break;
    case cudaMemRangeAttributePreferredLocation: *value = number_of(&h.preferred); break;
    case cudaMemRangeAttributeAccessedBy:
        list_who_accesses(&h, value, data_bytes / sizeof(int));
        break;
    case cudaMemRangeAttributeLastPrefetchLocation: *value = number_of(&h.fetched); break;
    case cudaMemRangeAttributePreferredLocationType: *value = h.preferred.type; break;
    case cudaMemRangeAttributePreferredLocationId:
        *value = h.preferred.type ? h.preferred.id : cudaInvalidDeviceId;
        break;
    case cudaMemRangeAttributeLastPrefetchLocationType: *value = h.fetched.type; break;
    case cudaMemRangeAttributeLastPrefetchLocationId:
        *value = h.fetched.type ? h.fetched.id : cudaInvalidDeviceId;
        break;
    default: return set(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *data_bytes,
                                      enum cudaMemRangeAttribute *attributes,
                                      size_t count, const void *pointer, size_t bytes)
{
    if (!data || !data_bytes || !attributes || count == 0)
        return set(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], pointer,
                                         bytes);
    return error;
}
