/* Memory that may not be touched: that is nobody's, another device's, the host's, or the
 * device's where the host touches it. */
#include "watch/bounds.h"

#include <stdio.h>

#include "base/now.h"
#include "base/settings.h"
#include "base/source.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/memory.h"
#include "memory/names.h"
#include "memory/shadow.h"
#include "memory/spans.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "memory/variables.h"
#include "watch/global.h"
#include "watch/race.h"

/* ---- in kernels ---- */

/* Nobody's memory: whose was meant? */
void emu_fault_global(const char *p, size_t n, enum emu_access kind, const void *pc)
{
    enum { FEW = 64, NEAR = 4096 };
    const char *what = emu_name_of(kind);
    const void *freed_at;
    char name[300];
    const struct emu_allocation *gone = emu_find_freed(p, &freed_at);
    if (gone) {
        const struct emu_place freed = emu_source_of(freed_at);
        emu_name_allocation(name, sizeof name, gone, p);
        emu_fault(
            pc,
            "use after free: %s of %zu bytes in global memory, at byte %td of %s and "
            "freed at %s:%d",
            what, n, p - gone->base, name, freed.file, freed.line);
    }
    /* An index that is too large is the usual mistake, and there is much room behind an
     * allocation (see allocations.c); what lies before one is a small negative index. But
     * a wrong index rarely leads further away than its array is long, many times over. */
    const struct emu_allocation *a = emu_find_allocation(p),
                                *behind = emu_allocation_behind(p);
    const size_t before = behind ? (size_t)(behind->base - p) : SIZE_MAX;
    const size_t past = !a                       ? SIZE_MAX
                        : p < a->base + a->bytes ? 0
                                                 : (size_t)(p - (a->base + a->bytes));
    const struct emu_allocation *nearest = before < past / 4 ? behind : a;
    const size_t distance = before < past / 4 ? before : past;
    if (!nearest || distance / FEW > nearest->bytes + NEAR)
        emu_fault(pc,
                  "out of bounds: %s of %zu bytes in global memory at %p, which is "
                  "freed, or was never allocated",
                  what, n, (const void *)p);
    emu_name_allocation(name, sizeof name, nearest, p);
    emu_fault(pc, "out of bounds: %s of %zu bytes in global memory, %zu bytes %s of %s",
              what, n, distance, before < past / 4 ? "before the start" : "past the end",
              name);
}

void emu_fault_other_device(const char *p, const struct emu_allocation *a,
                            enum emu_access kind, const void *pc)
{
    char name[300], remedy[100];
    emu_describe_global(name, sizeof name, p);
    if (a->pool)
        snprintf(remedy, sizeof remedy, "%s for device %d",
                 a->mapped ? "cuMemSetAccess" : "cudaMemPoolSetAccess",
                 emu_working_device);
    else
        snprintf(remedy, sizeof remedy,
                 "cudaDeviceEnablePeerAccess(%d, 0) while device %d is current",
                 a->device, emu_working_device);
    emu_fault(pc,
              "memory of another device: %s of %s, which is on device %d, by a kernel on "
              "device %d (%s?)",
              emu_name_of(kind), name, a->device, emu_working_device, remedy);
}

void emu_fault_misaligned(const char *p, size_t n, enum emu_access kind, const void *pc)
{
    emu_fault(
        pc,
        "misaligned address: %s of %zu bytes at %p, which is %zu past a multiple of %zu",
        emu_name_of(kind), n, (const void *)p, (uintptr_t)p & (n - 1), n);
}

/* A reference to threadIdx or one of its companions is read like any memory. */
static bool is_position(const char *p)
{
    const uint3 *const positions[] = {&emu_thread_idx, &emu_block_idx, &emu_block_dim,
                                      &emu_grid_dim};
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++)
        if ((size_t)(p - (const char *)positions[i]) < sizeof *positions[i]) return true;
    return false;
}

static void image_access(const struct emu_image *image, char *p, size_t n,
                         enum emu_access kind, const void *pc)
{
    const uintptr_t a = (uintptr_t)p;
    const bool fixed = a < image->variables_low || a >= image->variables_high ||
                       (a >= image->fixed_low && a < image->fixed_high);
    if (emu_is_constant_variable(p) || (fixed && !emu_is_device_variable(p))) {
        if ((kind & BASIC_KIND) == READ) return;
        emu_fault(pc,
                  "%s of %zu bytes in memory that a kernel can only read: a __constant__ "
                  "variable, a const or a string",
                  emu_name_of(kind), n);
    }
    size_t offset;
    struct emu_shadow *const shadow = emu_variable_shadow(p, &offset);
    if (shadow) emu_global_access(shadow, offset, p, n, kind, pc);
    if (emu_is_device_variable(p) || is_position(p)) return;
    if (emu_is_local_static(p)) {
        emu_now.unrepeatable = true; /* no shadow tells what happens to it */
        return;
    }
    enum { NEAR = 4096 };
    if (emu_distance_past_variables(p) < NEAR)
        emu_fault(pc,
                  "host memory: %s of %zu bytes in a variable of the host, or out of "
                  "bounds: right before it end the __device__ and __constant__ variables "
                  "(is an index too large?); a kernel can only use memory from "
                  "cudaMalloc and __device__, __constant__ or __managed__ variables",
                  emu_name_of(kind), n);
    emu_fault(pc,
              "host memory: %s of %zu bytes in a variable of the host; a kernel can only "
              "use memory from cudaMalloc and "
              "__device__, __constant__ or __managed__ variables",
              emu_name_of(kind), n);
}

void emu_other_access(char *p, size_t n, enum emu_access kind, const void *pc)
{
    uintptr_t a = (uintptr_t)p;
    const struct emu_image *const image = emu_image_of(p);
    if (image) {
        image_access(image, p, n, kind, pc);
        return;
    }
    const char *arguments = emu_now.launch->arguments;
    if (p >= arguments && p < arguments + emu_now.launch->argument_bytes) return;
    if (emu_is_registered(p)) return;
    const char *what = emu_name_of(kind);
    const struct emu_host_name *const name = emu_host_name_of(p);
    if (name)
        emu_fault(pc,
                  "host memory: %s of %zu bytes where the host has %s: its name is no "
                  "address on the device for the host, which must ask "
                  "cudaGetSymbolAddress and pass what that gives (a kernel may use the "
                  "name itself)",
                  what, n, name->name);
    if (a < 4096)
        emu_fault(pc, "null pointer: %s of %zu bytes at address %p", what, n, (void *)p);
    emu_fault(pc,
              "out of bounds: %s of %zu bytes at %p, which is host memory or no memory "
              "at all; a kernel can only use "
              "memory from cudaMalloc (was a host pointer passed?)",
              what, n, (void *)p);
}

/* ---- in host code ---- */

/* An access to bytes that work of a device may still be busy with. */
static void check_waited(struct emu_shadow *s, size_t offset, const char *p, size_t n,
                         bool host_writes, const void *pc)
{
    bool writes;
    if (emu_settings.lens) return; /* which takes no note of when anything was touched */
    const void *const by = emu_unfinished(s, offset, n, host_writes, &writes);
    char what[400];
    if (!by) return;
    emu_describe_global(what, sizeof what, p);
    const struct emu_place place = emu_source_of(by);
    emu_fault(pc,
              "host code touches %s, which a kernel or a copy may still be %s, at %s:%d: "
              "wait first, for its stream (cudaDeviceSynchronize, cudaStreamSynchronize)",
              what, writes ? "writing" : "reading", place.file, place.line);
}

static void host_touches_variable(const char *p, size_t n, bool waits, bool writes,
                                  const void *pc)
{
    size_t offset;
    if (!emu_is_device_variable(p)) return;
    if (!emu_is_managed_variable(p))
        emu_fault(pc, "host code touches a __device__ or __constant__ variable; copy "
                      "with cudaMemcpyToSymbol or cudaMemcpyFromSymbol instead");
    if (!waits || !emu_host_is_behind) return;
    EMU_ALONE;
    struct emu_shadow *const shadow = emu_variable_shadow(p, &offset);
    if (shadow) check_waited(shadow, offset, p, n, writes, pc);
}

/* Atomics and volatile accesses are how the host may talk to a kernel that runs. */
void emu_host_access(const void *address, size_t n, enum emu_access kind, const void *pc)
{
    const char *const p = address;
    const bool writes = kind == WRITE, waits = writes || kind == READ;
    if (!emu_settings.check) return;
    if ((uintptr_t)p - emu_image.variables_low <
        emu_image.variables_high - emu_image.variables_low) {
        host_touches_variable(p, n, waits, writes, pc);
        return;
    }
    if (!emu_is_global(p)) {
        const struct emu_host_name *const name = emu_host_name_of(p);
        if (name)
            emu_fault(pc,
                      "host code touches %s, a __device__ or __constant__ variable; copy "
                      "with cudaMemcpyToSymbol or cudaMemcpyFromSymbol instead",
                      name->name);
        return;
    }
    EMU_ALONE;
    const struct emu_allocation *a = emu_find_allocation(p);
    if (a && a->type == cudaMemoryTypeDevice)
        emu_fault(pc,
                  "host code touches device memory at %p; copy with cudaMemcpy instead",
                  (const void *)p);
    const size_t offset = a ? (size_t)(p - a->base) : 0;
    if (waits && a && a->shadow && n <= a->bytes && offset <= a->bytes - n)
        check_waited(a->shadow, offset, p, n, writes, pc);
}
