/* Sees every load and store of a kernel, and asks whoever knows about that memory.
 *
 * The kernels are compiled with -fsanitize=thread, which makes the compiler call a
 * function `__tsan_...` in front of every memory access that is not a register or a
 * private local. Those functions are usually ThreadSanitizer's; here they are ours. */
#include "watch/access.h"

#include <string.h>

#include "base/now.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/shared.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/shadow.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "memory/values.h"
#include "watch/bounds.h"
#include "watch/endless.h"
#include "watch/global.h"
#include "watch/handover.h"
#include "watch/lens.h"
#include "watch/race.h"
#include "watch/registers.h"
#include "watch/words.h"

/* ---- global memory ---- */

enum { RECENT = 8 };
static struct recent {
    char *base;
    size_t bytes;
    const uint32_t *stamps; /* of the shadow, see there; so the next */
    unsigned shift;
    struct emu_shadow *shadow; /* NULL: it is the program's __constant__ memory */
} recent[RECENT]; /* the allocations, and sections of variables, that were used last, so
                     that a search is rare */

static struct recent *recent_of(const char *p)
{
    for (struct recent *r = recent; r < recent + RECENT; r++)
        if ((size_t)(p - r->base) < r->bytes) return r;
    return NULL;
}

static struct recent *remember(char *base, size_t bytes, struct emu_shadow *shadow)
{
    static unsigned victim;
    struct recent *const r = &recent[victim++ % RECENT];
    *r = (struct recent){.base = base, .bytes = bytes, .shadow = shadow};
    return r;
}

/* The access before may have made the stamps, or finer ones. */
static void look_at_shadow(struct recent *r)
{
    if (!r->shadow) return;
    r->stamps = r->shadow->stamps;
    r->shift = r->shadow->shift;
}

static void remember_variable(char *p)
{
    struct recent *r = recent_of(p);
    size_t bytes, offset;
    char *const base = r ? r->base : emu_section_of(p, &bytes);
    if (!base) return;
    if (!r) r = remember(base, bytes, emu_variable_shadow(p, &offset));
    look_at_shadow(r);
}

/* A read that tells its thread nothing about what others have done. */
static inline bool is_plain_read(enum emu_access kind)
{
    return kind == READ || ((int)kind == (READ | VOLATILE) && !emu_fenced);
}

static inline bool is_current(uint32_t stamp)
{
    return stamp == emu_times.launch || stamp == emu_times.interval ||
           stamp == emu_times.run;
}

/* Whether a read has nothing to tell: the cells hold values, no thread has written them
 * in this launch, and who has read them is noted as far as it matters. */
static bool is_no_news(const struct emu_shadow *s, size_t offset, size_t n)
{
    size_t cell = offset >> s->shift, last = (offset + n - 1) >> s->shift;
    if (!s->stamps) return false;
    while (is_current(s->stamps[cell]))
        if (++cell > last) return true;
    return false;
}

/* The same for whole cells, and fast: what nearly every access to global memory is; and
 * what nearly all others are. */
static inline __attribute__((always_inline)) bool
is_quick(const char *p, size_t n, size_t alignment, enum emu_access kind, const void *pc)
{
#pragma GCC unroll 8
    for (int i = 0; i < RECENT; i++) {
        const struct recent *const r = &recent[i];
        const size_t offset = (size_t)(p - r->base);
        if (offset >= r->bytes) continue;
        if (!r->shadow) return is_plain_read(kind) && emu_current;
        if (!r->stamps || offset + n > r->bytes || offset & (alignment - 1) ||
            (offset | n) & (((size_t)1 << r->shift) - 1))
            return false;
        size_t cell = offset >> r->shift;
        const size_t end = (offset + n) >> r->shift;
        if (kind != WRITE)
            while (is_current(r->stamps[cell]))
                if (++cell == end) return true;
        return !(kind & VOLATILE) &&
               emu_global_simple(r->shadow, cell, end - cell, kind == WRITE, pc);
    }
    return false;
}

static void global_access(char *p, size_t n, enum emu_access kind, const void *pc)
{
    struct recent *r = recent_of(p);
    if (!r) {
        const struct emu_allocation *a = emu_find_allocation(p);
        if (!a || (size_t)(p - a->base) >= a->bytes) emu_fault_global(p, n, kind, pc);
        if (!emu_may_use(emu_working_device, a)) emu_fault_other_device(p, a, kind, pc);
        r = remember(a->base, a->bytes, a->shadow);
        look_at_shadow(r);
    }
    struct emu_shadow *const s = r->shadow;
    const size_t offset = (size_t)(p - r->base);
    if (n > r->bytes - offset) emu_fault_global(p, n, kind, pc);
    if (is_plain_read(kind) && is_no_news(s, offset, n)) return;
    emu_global_access(s, offset, p, n, kind, pc);
    look_at_shadow(r);
}

void emu_check_allocations_changed(void)
{
    memset(recent, 0, sizeof recent);
    emu_forget_atomic();
}

/* ---- one access ---- */

static inline bool is_aligned(const char *p, size_t n, const void *pc)
{
    return !((uintptr_t)p & (n - 1)) || (!((uintptr_t)p & 7) && emu_is_structure(n, pc));
}

void emu_check_access(const volatile void *address, size_t n, enum emu_access kind,
                      const void *pc)
{
    char *p = (char *)address;
    if (emu_is_shared(p)) {
        if (!is_aligned(p, n, pc)) goto misaligned;
        if (emu_fenced && (kind & BASIC_KIND) == ATOMIC) emu_handover_strong(p, kind);
        emu_shared_access(p, n, n, kind & BASIC_KIND, pc);
    } else if (emu_is_global(p)) {
        if (!is_aligned(p, n, pc)) goto misaligned;
        global_access(p, n, kind, pc);
    } else if (!emu_is_own(p)) {
        emu_other_access(p, n, kind, pc);
        remember_variable(p);
    } else if (emu_now.own_watched) {
        emu_check_registers(p, n, (kind & BASIC_KIND) != READ, pc);
    }
    return;
misaligned:
    emu_fault_misaligned(p, n, kind, pc);
}

/* A copy of any size. Bytes have no alignment to check, and behind the first some may be
 * padding, which nobody writes. */
void emu_check_range(const void *address, size_t n, enum emu_access kind, const void *pc)
{
    char *p = (char *)address;
    while (n > 0) {
        const size_t piece = (uintptr_t)p & 1 || n < 2   ? 1
                             : (uintptr_t)p & 2 || n < 4 ? 2
                                                         : 4;
        if (!emu_is_shared(p))
            emu_check_access(p, piece, kind, pc);
        else if (kind != (READ | BY_BYTES) || p == address || emu_shared_holds(p, piece))
            emu_shared_access(p, piece, 1, kind & BASIC_KIND, pc);
        p += piece;
        n -= piece;
    }
}

void emu_check_global(const void *global, size_t bytes, enum emu_access kind,
                      const void *pc)
{
    if (!emu_settings.check) return;
    char *p = (char *)global;
    if (emu_is_global(p))
        global_access(p, bytes, kind, pc);
    else
        emu_other_access(p, bytes, kind, pc);
}

/* What the hardware makes of it: an atomic that only loads, or only stores, is a load or
 * a store to it. */
static enum emu_access as_instruction(enum emu_access kind)
{
    return kind & ONLY_LOADS ? READ : kind & ONLY_STORES ? WRITE : kind & BASIC_KIND;
}

/* The lens looks after the check, so that it never sees an address that is nobody's. */
__attribute__((noinline)) static void see_with_more(const volatile void *p, size_t n,
                                                    enum emu_access kind, const void *pc,
                                                    const void *frame)
{
    if (!emu_current) {
        emu_host_access((const void *)p, n, kind, pc);
        return;
    }
    if (emu_attention & EMU_SUSPICION) emu_settle();
    if (emu_settings.check) emu_check_access(p, n, kind, pc);
    while (emu_attention & EMU_WATCHED) {
        emu_keep_registers();
        if (!emu_look(p, n, kind, pc)) break;
        if (emu_settings.check) emu_check_access(p, n, kind, pc); /* others have run */
    }
    if (emu_now.lens_looks) {
        emu_lens_access((const void *)p, n, as_instruction(kind), pc, frame);
        emu_leave_no_trace();
    }
}

/* Every way in passes here. */
static void see(const volatile void *p, size_t n, enum emu_access kind, const void *pc,
                const void *frame)
{
    if (emu_current && (kind & VOLATILE || (kind & BASIC_KIND) == ATOMIC))
        emu_may_wait(pc);
    if (!emu_current || emu_attention)
        see_with_more(p, n, kind, pc, frame);
    else
        emu_check_access(p, n, kind, pc);
}

/* The compiler's memcpy, or a struct of odd size. */
static void see_range(const void *p, size_t n, enum emu_access kind, const void *pc,
                      const void *frame)
{
    const size_t own = (size_t)((const char *)p - emu_own_low);
    if (n == 0) return;
    if (!emu_attention && ((own < emu_own_bytes && n <= emu_own_bytes - own) ||
                           (!(((uintptr_t)p | n) & 3) && is_quick(p, n, 4, kind, pc))))
        return;
    if (!emu_current) {
        emu_host_access(p, n, kind, pc);
        return;
    }
    if (emu_attention & EMU_SUSPICION) emu_settle();
    if (emu_settings.check) {
        if (kind == READ) emu_check_holds_something(p, n, pc);
        emu_check_range(p, n, kind | BY_BYTES, pc);
    }
    while (emu_attention & EMU_WATCHED) {
        emu_keep_registers();
        if (!emu_look(p, n, kind, pc)) break;
        if (emu_settings.check) emu_check_range(p, n, kind | BY_BYTES, pc);
    }
    if (emu_now.lens_looks) {
        emu_lens_range(p, n, kind & BASIC_KIND, pc, frame);
        emu_leave_no_trace();
    }
}

/* ---- as the compiler reports them ---- */

#define PC __builtin_return_address(0)
#define FRAME __builtin_frame_address(0)

/* Whoever asks for the address of its frame makes one, so the hooks leave that to this
 * function, to which they jump: its frame lies where theirs would. */
static __attribute__((noinline)) void see_hooked(const void *p, size_t n,
                                                 enum emu_access kind, const void *pc)
{
    if (emu_settings.check | emu_now.lens_looks | (emu_attention & EMU_WATCHED))
        see(p, n, kind, pc, FRAME);
}

static inline __attribute__((always_inline)) void
hook(char *p, size_t n, enum emu_access kind, const void *pc)
{
    if (kind & VOLATILE) {
        emu_last_volatile = pc;
        if (emu_current) emu_may_wait(pc);
    }
    const bool simple = !emu_attention;
    if (simple && (size_t)(p - emu_own_low) < emu_own_bytes) return;
    if (n == 16) emu_copied_at = pc;
    if (simple && emu_is_shared(p) && !((uintptr_t)p & (n - 1))) {
        if (n < 4)
            emu_shared_access(p, n, n, kind & BASIC_KIND, pc);
        else if ((kind & BASIC_KIND) == WRITE)
            emu_shared_write(p, n, pc);
        else if (n > 4 || !emu_is_no_news(p))
            emu_shared_read(p, n, pc);
    } else if (simple && (kind == WRITE || is_plain_read(kind)) &&
               is_quick(p, n, n, kind, pc))
        return;
    else
        see_hooked(p, n, kind, pc);
}

#define HOOK(name, bytes, kind)                                                          \
    void name(void *p);                                                                  \
    void name(void *p)                                                                   \
    {                                                                                    \
        hook(p, bytes, kind, PC);                                                        \
    }
#define HOOKS(bytes)                                                                     \
    HOOK(__tsan_read##bytes, bytes, READ)                                                \
    HOOK(__tsan_write##bytes, bytes, WRITE)                                              \
    HOOK(__tsan_volatile_read##bytes, bytes, (int)READ | VOLATILE)                       \
    HOOK(__tsan_volatile_write##bytes, bytes, (int)WRITE | VOLATILE)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* A type with less alignment than its size (a packed struct): the access is legal byte by
 * byte. */
#define UNALIGNED(name, bytes, kind)                                                     \
    void name(void *p);                                                                  \
    void name(void *p)                                                                   \
    {                                                                                    \
        see_range(p, bytes, kind, PC, FRAME);                                            \
    }
#define UNALIGNED_HOOKS(bytes)                                                           \
    UNALIGNED(__tsan_unaligned_read##bytes, bytes, READ)                                 \
    UNALIGNED(__tsan_unaligned_write##bytes, bytes, WRITE)                               \
    UNALIGNED(__tsan_unaligned_volatile_read##bytes, bytes, READ | VOLATILE)             \
    UNALIGNED(__tsan_unaligned_volatile_write##bytes, bytes, WRITE | VOLATILE)
UNALIGNED_HOOKS(2)
UNALIGNED_HOOKS(4)
UNALIGNED_HOOKS(8)
UNALIGNED_HOOKS(16)

void __tsan_read_range(void *p, size_t n);
void __tsan_read_range(void *p, size_t n)
{
    see_range(p, n, READ, PC, FRAME);
}
void __tsan_write_range(void *p, size_t n);
void __tsan_write_range(void *p, size_t n)
{
    see_range(p, n, WRITE, PC, FRAME);
}
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    see_range(from, n, READ, PC, FRAME);
    see_range(to, n, WRITE, PC, FRAME);
    return memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    see_range(from, n, READ, PC, FRAME);
    see_range(to, n, WRITE, PC, FRAME);
    return memmove(to, from, n);
}
void *__tsan_memset(void *to, int value, size_t n)
{
    see_range(to, n, WRITE, PC, FRAME);
    return memset(to, value, n);
}

void __tsan_init(void);
void __tsan_init(void)
{
}
void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
    (void)pc;
}
void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}
void __tsan_vptr_update(void **p, void *value);
void __tsan_vptr_update(void **p, void *value)
{
    (void)value;
    hook((char *)p, sizeof *p, WRITE, PC);
}
void __tsan_vptr_read(void **p);
void __tsan_vptr_read(void **p)
{
    hook((char *)p, sizeof *p, READ, PC);
}

/* C++ atomics: of cuda::atomic, and of host code (the guard of a static local is one),
 * whose threads really run together. In a kernel the order that they ask for is that of a
 * fence before or behind. */
static void release(int order, enum emu_access kind)
{
    if (emu_current && order >= __ATOMIC_RELEASE) emu_fence(!(kind & IN_BLOCK));
}
static void acquire(int order, enum emu_access kind)
{
    if (emu_current && order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE)
        emu_fence(!(kind & IN_BLOCK));
}
/* No other access comes between the announcement and the atomic, so no other thread. */
static _Thread_local bool next_in_block;
void emu_next_atomic_in_block(void)
{
    next_in_block = emu_current;
}
static enum emu_access atomic_of(int kind)
{
    const int reach = next_in_block ? IN_BLOCK : 0;
    next_in_block = false;
    return (enum emu_access)(kind | reach);
}
#define ATOMICS(bits, type)                                                              \
    type __tsan_atomic##bits##_load(const volatile type *p, int order);                  \
    type __tsan_atomic##bits##_load(const volatile type *p, int order)                   \
    {                                                                                    \
        const enum emu_access kind = atomic_of((int)ATOMIC | ONLY_LOADS);                \
        see(p, bits / 8, kind, PC, FRAME);                                               \
        const type value = __atomic_load_n(p, __ATOMIC_SEQ_CST);                         \
        acquire(order, kind);                                                            \
        return value;                                                                    \
    }                                                                                    \
    void __tsan_atomic##bits##_store(volatile type *p, type value, int order);           \
    void __tsan_atomic##bits##_store(volatile type *p, type value, int order)            \
    {                                                                                    \
        const enum emu_access kind = atomic_of((int)ATOMIC | ONLY_STORES);               \
        release(order, kind);                                                            \
        see(p, bits / 8, kind, PC, FRAME);                                               \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                    \
    ATOMIC_UPDATE(bits, type, exchange, exchange_n)                                      \
    ATOMIC_UPDATE(bits, type, fetch_add, fetch_add)                                      \
    ATOMIC_UPDATE(bits, type, fetch_sub, fetch_sub)                                      \
    ATOMIC_UPDATE(bits, type, fetch_and, fetch_and)                                      \
    ATOMIC_UPDATE(bits, type, fetch_or, fetch_or)                                        \
    ATOMIC_UPDATE(bits, type, fetch_xor, fetch_xor)                                      \
    ATOMIC_COMPARE(bits, type, strong)                                                   \
    ATOMIC_COMPARE(bits, type, weak)                                                     \
    ATOMIC_COMPARE_VALUE(bits, type)
#define ATOMIC_UPDATE(bits, type, name, builtin)                                         \
    type __tsan_atomic##bits##_##name(volatile type *p, type value, int order);          \
    type __tsan_atomic##bits##_##name(volatile type *p, type value, int order)           \
    {                                                                                    \
        const enum emu_access kind = atomic_of(ATOMIC);                                  \
        release(order, kind);                                                            \
        see(p, bits / 8, kind, PC, FRAME);                                               \
        const type old = __atomic_##builtin(p, value, __ATOMIC_SEQ_CST);                 \
        acquire(order, kind);                                                            \
        return old;                                                                      \
    }
#define ATOMIC_COMPARE(bits, type, name)                                                 \
    int __tsan_atomic##bits##_compare_exchange_##name(                                   \
        volatile type *p, type *expected, type desired, int order, int failure);         \
    int __tsan_atomic##bits##_compare_exchange_##name(                                   \
        volatile type *p, type *expected, type desired, int order, int failure)          \
    {                                                                                    \
        (void)failure;                                                                   \
        const enum emu_access kind = atomic_of(ATOMIC);                                  \
        release(order, kind);                                                            \
        see(p, bits / 8, kind, PC, FRAME);                                               \
        const int same = __atomic_compare_exchange_n(                                    \
            p, expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                \
        acquire(order, kind);                                                            \
        return same;                                                                     \
    }
/* As clang has it: gives what was there. */
#define ATOMIC_COMPARE_VALUE(bits, type)                                                 \
    type __tsan_atomic##bits##_compare_exchange_val(                                     \
        volatile type *p, type expected, type desired, int order, int failure);          \
    type __tsan_atomic##bits##_compare_exchange_val(                                     \
        volatile type *p, type expected, type desired, int order, int failure)           \
    {                                                                                    \
        (void)failure;                                                                   \
        const enum emu_access kind = atomic_of(ATOMIC);                                  \
        release(order, kind);                                                            \
        see(p, bits / 8, kind, PC, FRAME);                                               \
        __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_SEQ_CST,          \
                                    __ATOMIC_SEQ_CST);                                   \
        acquire(order, kind);                                                            \
        return expected;                                                                 \
    }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* Of 16 bytes: what was there; then `value` is, if it is not NULL and what was there was
 * what is expected, if anything. The host's threads take turns. */
__extension__ typedef unsigned __int128 uint128;
static uint128 atomic_16(volatile uint128 *p, const uint128 *expected,
                         const uint128 *value, int order, int how, const void *pc,
                         const void *frame)
{
    const enum emu_access kind = atomic_of(how);
    if (value) release(order, kind);
    see(p, sizeof *p, kind, pc, frame);
    EMU_ALONE;
    const uint128 old = *p;
    if (value && (!expected || old == *expected)) *p = *value;
    if (!(kind & ONLY_STORES)) acquire(order, kind);
    return old;
}
uint128 __tsan_atomic128_load(const volatile uint128 *p, int order);
uint128 __tsan_atomic128_load(const volatile uint128 *p, int order)
{
    return atomic_16((volatile uint128 *)p, NULL, NULL, order, (int)ATOMIC | ONLY_LOADS,
                     PC, FRAME);
}
void __tsan_atomic128_store(volatile uint128 *p, uint128 value, int order);
void __tsan_atomic128_store(volatile uint128 *p, uint128 value, int order)
{
    atomic_16(p, NULL, &value, order, (int)ATOMIC | ONLY_STORES, PC, FRAME);
}
uint128 __tsan_atomic128_exchange(volatile uint128 *p, uint128 value, int order);
uint128 __tsan_atomic128_exchange(volatile uint128 *p, uint128 value, int order)
{
    return atomic_16(p, NULL, &value, order, ATOMIC, PC, FRAME);
}
#define COMPARE_16(name)                                                                 \
    int __tsan_atomic128_compare_exchange_##name(volatile uint128 *p, uint128 *expected, \
                                                 uint128 value, int order, int failure); \
    int __tsan_atomic128_compare_exchange_##name(volatile uint128 *p, uint128 *expected, \
                                                 uint128 value, int order, int failure)  \
    {                                                                                    \
        (void)failure;                                                                   \
        const uint128 wanted = *expected;                                                \
        *expected = atomic_16(p, &wanted, &value, order, ATOMIC, PC, FRAME);             \
        return *expected == wanted;                                                      \
    }
COMPARE_16(strong)
COMPARE_16(weak)
uint128 __tsan_atomic128_compare_exchange_val(volatile uint128 *p, uint128 expected,
                                              uint128 value, int order, int failure);
uint128 __tsan_atomic128_compare_exchange_val(volatile uint128 *p, uint128 expected,
                                              uint128 value, int order, int failure)
{
    (void)failure;
    return atomic_16(p, &expected, &value, order, ATOMIC, PC, FRAME);
}
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (emu_current && order != __ATOMIC_RELAXED) emu_fence(1);
}
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* ---- as others do ---- */

void emu_atomic_access(const volatile void *p, size_t bytes, const void *pc)
{
    see(p, bytes, ATOMIC, pc, FRAME);
}

void emu_see_access(const void *p, size_t bytes, enum emu_access kind, const void *pc,
                    const void *frame)
{
    see(p, bytes, kind, pc, frame);
}

void emu_block_atomic_access(const volatile void *p, size_t bytes, const void *pc)
{
    see(p, bytes, ATOMIC | IN_BLOCK, pc, FRAME);
}

/* A loop may have no access: the compiler has moved a read that is not volatile to before
 * it, as nvcc does, or there never was any. */
static __attribute__((noinline)) void pass_through(const void *pc, const void *frame)
{
    if (emu_attention & EMU_WATCHED) {
        emu_keep_registers();
        emu_look(NULL, 0, READ, pc);
    }
    if (emu_now.lens_looks) {
        emu_lens_basic_block(pc, frame);
        emu_leave_no_trace();
    }
}

_Static_assert((EMU_LENS | EMU_WATCHED) == 12, "emulator_runtime.h tests these bits");
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if ((emu_attention & (EMU_LENS | EMU_WATCHED)) && emu_current)
        pass_through(PC, FRAME);
}
