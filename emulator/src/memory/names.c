/* What to call an allocation in a message: by the name that NVTX was told, or else as the
 * line calls it that made it. */
#include "memory/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "memory/allocations.h"
#include "memory/variables.h"
#include "nvtx3/nvToolsExt.h"

struct nvtxResourceHandle {
    const char *pointer;
    unsigned allocation; /* its number */
    nvtxResourceHandle_t older;
    char name[];
};
static nvtxResourceHandle_t named; /* the newest */

nvtxResourceHandle_t nvtxDomainResourceCreate(nvtxDomainHandle_t domain,
                                              nvtxResourceAttributes_t *attributes)
{
    (void)domain;
    if (!attributes || attributes->messageType != NVTX_MESSAGE_TYPE_ASCII ||
        attributes->identifierType != NVTX_RESOURCE_TYPE_GENERIC_POINTER ||
        !attributes->message.ascii)
        return NULL;
    const struct emu_allocation *a = emu_allocation_of(attributes->identifier.pValue);
    const size_t length = strlen(attributes->message.ascii) + 1;
    nvtxResourceHandle_t n = a ? malloc(sizeof *n + length) : NULL;
    if (!n) return NULL;
    n->pointer = attributes->identifier.pValue;
    n->allocation = a->number;
    n->older = named;
    memcpy(n->name, attributes->message.ascii, length);
    return named = n;
}

void nvtxDomainResourceDestroy(nvtxResourceHandle_t resource)
{
    nvtxResourceHandle_t *link = &named;
    while (*link && *link != resource) link = &(*link)->older;
    if (!*link) return;
    *link = resource->older;
    free(resource);
}

/* The name given to the allocation, or to the part of it where p is. */
static const char *given_name(const struct emu_allocation *a, const char *p)
{
    const struct nvtxResourceHandle *best = NULL;
    for (const struct nvtxResourceHandle *n = named; n; n = n->older)
        if (n->allocation == a->number && (n->pointer <= p || n->pointer == a->base) &&
            (!best || n->pointer > best->pointer))
            best = n;
    return best ? best->name : NULL;
}

/* The variable that the call puts the address into, as the source line shows it:
 * cudaMalloc((void **)&d_a, ...). Returns its length, 0 if the line does not show it, or
 * two. */
static int variable_in(const struct emu_place *place, const char *call, const char **name)
{
    const char *p = strstr(place->text, call);
    *name = "";
    if (!p) return 0;
    p += strlen(call);
    if (strstr(p, call)) return 0;
    while (*p == ' ') p++;
    if (*p++ != '(') return 0;
    while (*p == ' ') p++;
    if (*p == '(') { /* a cast */
        while (*p && *p != ')') p++;
        if (*p) p++;
    }
    while (*p == ' ') p++;
    if (*p == '&') p++;
    *name = p;
    while (isalnum((unsigned char)*p) || (*p && strchr("_.[]->", *p))) p++;
    return *p == ',' ? (int)(p - *name) : 0;
}

void emu_name_allocation(char *text, size_t size, const struct emu_allocation *a,
                         const void *p)
{
    const struct emu_place place = emu_source_of(a->pc);
    const char *name = given_name(a, p), *variable;
    const int length = variable_in(&place, a->call, &variable);
    if (name)
        snprintf(text, size, "%s (allocated at %s:%d)", name, place.file, place.line);
    else if (*place.file == '?')
        snprintf(text, size, "the %zu bytes that a library allocated", a->bytes);
    else
        snprintf(text, size, "%.*s%sthe %zu bytes allocated at %s:%d", length, variable,
                 length ? ", " : "", a->bytes, place.file, place.line);
}

void emu_describe_global(char *text, size_t size, const void *p)
{
    const struct emu_allocation *a = emu_allocation_of(p);
    char name[300];
    if (!a) {
        snprintf(text, size, "a %s variable",
                 emu_is_managed_variable(p) ? "__managed__" : "__device__");
        return;
    }
    emu_name_allocation(name, sizeof name, a, p);
    snprintf(text, size, "byte %zu of %s", (size_t)((const char *)p - a->base), name);
}
