/* Whether global memory holds a value: what the host or a kernel has written since the
 * allocation. */
#include "memory/values.h"

#include "base/now.h"
#include "base/settings.h"
#include "base/source.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/names.h"
#include "memory/shadow.h"
#include "memory/touch.h"

/* NULL: no allocation, or no checks. */
static const struct emu_allocation *holder(const void *p)
{
    const struct emu_allocation *a = emu_allocation_of(p);
    return a && a->shadow ? a : NULL;
}

void emu_check_host_wrote(void *p, size_t bytes)
{
    const struct emu_allocation *a = holder(p);
    if (a) emu_shadow_written(a->shadow, (size_t)((char *)p - a->base), bytes);
}

void emu_check_host_copied(void *to, const void *from, size_t bytes)
{
    const struct emu_allocation *a = holder(to), *b = holder(from);
    if (!a || a->type != cudaMemoryTypeDevice) return;
    const size_t first = (size_t)((char *)to - a->base);
    if (!b || b->shadow->all_known)
        emu_shadow_written(a->shadow, first, bytes);
    else
        emu_shadow_copied(a->shadow, first, b->shadow,
                          (size_t)((const char *)from - b->base), bytes);
}

/* The object, and the access that reads it. */
static struct {
    const char *object;
    size_t bytes;
    const void *pc;
} filled;

void emu_fill_bit_field(const void *object, size_t bytes)
{
    if (!emu_current) return;
    filled.object = object;
    filled.bytes = bytes;
    filled.pc = NULL;
}

bool emu_fills(const char *p, const void *pc)
{
    if ((size_t)(p - filled.object) >= filled.bytes) return false;
    if (!filled.pc) filled.pc = pc;
    return filled.pc == pc;
}

__attribute__((noreturn)) static void fault_unknown(const char *p, const void *pc)
{
    char what[400];
    emu_describe_global(what, sizeof what, p);
    emu_fault(
        pc,
        "uninitialised global memory: %s is read, and neither the host nor a kernel "
        "has written it (a missing cudaMemcpy or cudaMemset? STRICT=0 lets pass what "
        "does not matter, as in a warm-up)",
        what);
}

void emu_check_holds_something(const void *p, size_t n, const void *pc)
{
    const struct emu_allocation *a = emu_allocation_of(p);
    const size_t offset = a ? (size_t)((const char *)p - a->base) : 0;
    if (!a || n > a->bytes - offset || emu_now.lens_looks || a->shadow->all_known) return;
    if (!emu_shadow_knows_any(a->shadow, offset, n)) fault_unknown(p, pc);
}

/* A word counts as written if one of its bytes is: the others may be padding. So may be
 * whole words of a structure, behind its first. Returns whether all do. */
bool emu_check_holds_values(const struct emu_shadow *s, size_t offset, const char *p,
                            size_t n, enum emu_access kind, const void *pc)
{
    bool all = true;
    for (size_t i = 0; i < n && !s->all_known;) {
        const size_t in_word = 4 - ((offset + i) & 3),
                     piece = in_word < n - i ? in_word : n - i;
        if (!emu_shadow_knows_any(s, offset + i, piece)) {
            if (!(kind & BY_BYTES) && emu_settings.strict &&
                !(i > 0 && emu_is_structure(n, pc)) && !emu_fills(p + i, pc))
                fault_unknown(p + i, pc);
            all = false;
        }
        i += piece;
    }
    return all;
}
