/* What kernels ask of global memory: a heap (malloc, new, and what frees them), and
 * whether an address lies there. */
#include <stdlib.h>

#include "base/source.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/variables.h"
#include "watch/access.h"

#define CALLER __builtin_return_address(0)

unsigned __isGlobal(const void *p); /* as device_functions.h declares it */
unsigned __isGlobal(const void *p)
{
    return emu_allocation_of(p) || emu_is_device_variable(p);
}

/* ---- the heap ---- */

static void heap_free(void *p, const char *call, const void *pc)
{
    if (!p) return;
    if (!emu_heap_free(p, pc)) {
        const void *freed_at;
        const struct emu_allocation *gone = emu_find_freed(p, &freed_at);
        if (gone && gone->base == p && gone->heap) {
            const struct emu_place freed = emu_source_of(freed_at);
            emu_fault(pc, "%s of %p, which is freed already, at %s:%d", call, p,
                      freed.file, freed.line);
        }
        emu_fault(pc, "%s of %p, which malloc or new in a kernel did not give", call, p);
    }
    emu_check_allocations_changed();
}

void *emu_device_malloc(size_t bytes)
{
    return emu_in_kernel() ? emu_heap_allocate(bytes, "malloc", CALLER) : malloc(bytes);
}

void emu_device_free(void *p)
{
    if (emu_in_kernel())
        heap_free(p, "free", CALLER);
    else
        free(p);
}

/* C++'s operators new and delete, which the program uses instead of its library's. The
 * library's other forms call these, but for over-aligned types. Weak, since a program may
 * have its own. */
#define OPERATOR(name) __asm__(name) __attribute__((weak))
void *operator_new(size_t bytes) OPERATOR("_Znwm");
void *operator_new_array(size_t bytes) OPERATOR("_Znam");
void operator_delete(void *p) OPERATOR("_ZdlPv");
void operator_delete_array(void *p) OPERATOR("_ZdaPv");
void operator_delete_sized(void *p, size_t bytes) OPERATOR("_ZdlPvm");
void operator_delete_array_sized(void *p, size_t bytes) OPERATOR("_ZdaPvm");
void throw_bad_alloc(void) OPERATOR("_ZSt17__throw_bad_allocv"); /* the library's */

static void *allocate_object(size_t bytes, const void *pc)
{
    if (bytes == 0) bytes = 1;
    void *p = emu_in_kernel() ? emu_heap_allocate(bytes, "new", pc) : malloc(bytes);
    if (p) return p;
    if (emu_in_kernel())
        emu_fault(
            pc,
            "new of %zu bytes: the heap of kernels is full (cudaDeviceSetLimit with "
            "cudaLimitMallocHeapSize makes it larger)",
            bytes);
    if (throw_bad_alloc) throw_bad_alloc();
    abort();
}

static void free_object(void *p, const void *pc)
{
    if (emu_in_kernel())
        heap_free(p, "delete", pc);
    else
        free(p);
}

void *operator_new(size_t bytes)
{
    return allocate_object(bytes, CALLER);
}
void *operator_new_array(size_t bytes)
{
    return allocate_object(bytes, CALLER);
}
void operator_delete(void *p)
{
    free_object(p, CALLER);
}
void operator_delete_array(void *p)
{
    free_object(p, CALLER);
}
void operator_delete_sized(void *p, size_t bytes)
{
    (void)bytes, free_object(p, CALLER);
}
void operator_delete_array_sized(void *p, size_t bytes)
{
    (void)bytes, free_object(p, CALLER);
}
