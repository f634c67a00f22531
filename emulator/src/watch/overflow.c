/* Arithmetic whose result C++ leaves open: a signed type that overflows (the usual case is
 * an index computed in int, `row * N + col`, of an array with more than 2^31 elements), a
 * shift by as many bits as a number has, a floating-point number that does not fit the
 * integer it becomes; and a division by zero, which ends a program on a CPU and gives
 * whatever on a GPU.
 *
 * The .cu files are compiled with -fsanitize=signed-integer-overflow and its like, which
 * call one of the functions below the moment it happens. Usually they are
 * UndefinedBehaviorSanitizer's; these are ours. An unsigned type wraps by definition
 * (random numbers and hashes live by it), so nobody is called for one. Nothing here can
 * change a result: that of a shift or a conversion would be the host's, not a GPU's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/now.h"
#include "base/settings.h"
#include "emulator_runtime.h"

/* What the compiler writes down about each place: clang's
 * compiler-rt/lib/ubsan/ubsan_value.h and ubsan_handlers.h, to which gcc keeps too. */
struct type {
    uint16_t kind;   /* 0 for an integer */
    uint16_t layout; /* bit 0: signed; the others: log2 of its bits */
    char name[];     /* in quotes: 'int' */
};

struct place {
    const char *file;
    uint32_t line, column;
    const struct type *type;
};

/* A value of up to 64 bits comes as itself, a wider one by its address. */
static const char *decimal(char *text, size_t size, const struct type *type,
                           uintptr_t value)
{
    const unsigned bits = 1u << (type->layout >> 1);
    if (bits > 64)
        snprintf(text, size, "a number of %u bits", bits);
    else if (!(type->layout & 1))
        snprintf(text, size, "%" PRIu64, (uint64_t)value << (64 - bits) >> (64 - bits));
    else
        snprintf(text, size, "%" PRId64,
                 (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits));
    return text;
}

static bool is_looked_for(void)
{
    return emu_current && emu_settings.check && emu_settings.strict;
}

static void fault_overflow(const struct place *place, uintptr_t left,
                           const char *operation, uintptr_t right, const void *pc)
{
    char a[32], b[32];
    if (!is_looked_for()) return;
    emu_fault(
        pc,
        "integer overflow: %s%s%s does not fit %s (an index needs size_t: "
        "(size_t)row * N + col; numbers that may wrap need an unsigned type; STRICT=0 "
        "lets it pass)",
        operation[0] == '-' ? "" : decimal(a, sizeof a, place->type, left), operation,
        decimal(b, sizeof b, place->type, right), place->type->name);
}

/* (1 << lane) - 1, all lanes below this one, means what every GPU does for lane 31. */
static bool is_mask(const struct type *type, uintptr_t left, uintptr_t right)
{
    const unsigned bits = 1u << (type->layout >> 1);
    return bits <= 64 && right == 1 && (uint64_t)left << (64 - bits) == 1ull << 63;
}

#define PC __builtin_return_address(0)
#define HANDLER(name, operation)                                                         \
    void __ubsan_handle_##name##_overflow(struct place *, uintptr_t, uintptr_t);         \
    void __ubsan_handle_##name##_overflow(struct place *place, uintptr_t left,           \
                                          uintptr_t right)                               \
    {                                                                                    \
        fault_overflow(place, left, operation, right, PC);                               \
    }
HANDLER(add, " + ")
HANDLER(mul, " * ")

void __ubsan_handle_sub_overflow(struct place *, uintptr_t, uintptr_t);
void __ubsan_handle_sub_overflow(struct place *place, uintptr_t left, uintptr_t right)
{
    if (!is_mask(place->type, left, right)) fault_overflow(place, left, " - ", right, PC);
}

void __ubsan_handle_negate_overflow(struct place *, uintptr_t);
void __ubsan_handle_negate_overflow(struct place *place, uintptr_t value)
{
    fault_overflow(place, 0, "-", value, PC);
}

/* The value of an integer of so many bits, or at its address, is 0. */
static bool is_zero(const struct type *type, uintptr_t value)
{
    static const char zeros[16];
    const unsigned bits = 1u << (type->layout >> 1);
    return bits > 64 ? memcmp((const void *)value, zeros, bits / 8) == 0
                     : (uint64_t)value << (64 - bits) == 0;
}

/* x86 processors stop at either of the two, so there is no going on; others give a number,
 * as a GPU does. */
#if defined __x86_64__ || defined __i386__
enum { STOPS = true };
#else
enum { STOPS = false };
#endif
void __ubsan_handle_divrem_overflow(struct place *, uintptr_t, uintptr_t);
void __ubsan_handle_divrem_overflow(struct place *place, uintptr_t left, uintptr_t right)
{
    char a[32], b[32];
    if (!emu_current || !(STOPS || emu_settings.check)) return;
    decimal(a, sizeof a, place->type, left);
    decimal(b, sizeof b, place->type, right);
    if (is_zero(place->type, right))
        emu_fault(PC,
                  "integer division by zero: %s / 0, or %% 0 (a GPU does not stop, "
                  "and gives a number that means nothing)",
                  a);
    emu_fault(PC, "integer overflow: %s / %s does not fit %s", a, b, place->type->name);
}

struct two_types {
    const char *file;
    uint32_t line, column;
    const struct type *left, *right;
};

void __ubsan_handle_shift_out_of_bounds(struct two_types *, uintptr_t, uintptr_t);
void __ubsan_handle_shift_out_of_bounds(struct two_types *place, uintptr_t left,
                                        uintptr_t right)
{
    char by[32];
    (void)left;
    if (!is_looked_for()) return;
    emu_fault(PC,
              "integer overflow: a shift by %s, and %s has %u bits: C++ leaves open what "
              "that gives (a GPU shifts all bits out, other processors do not: shift by "
              "less, or in a wider type; STRICT=0 lets it pass)",
              decimal(by, sizeof by, place->right, right), place->left->name,
              1u << (place->left->layout >> 1));
}

/* What the compiler writes down here differs among compilers: nothing of it is used. A
 * variable that was never set (nvcc.c has it filled so, by g++ and by clang++) may be
 * converted: by threads outside the matrix, which leave the result alone. */
void __ubsan_handle_float_cast_overflow(const void *, uintptr_t);
void __ubsan_handle_float_cast_overflow(const void *place, uintptr_t from)
{
    const bool never_set = (uint32_t)from == 0xfefefefe || (uint32_t)from == 0xffffffff;
    (void)place;
    if (!is_looked_for() || never_set) return;
    emu_fault(PC,
              "integer overflow: a floating-point number does not fit the integer type "
              "that it becomes, or is NaN: C++ leaves open what that gives "
              "(__float2int_rz() and its like take the nearest integer of 32 or 64 "
              "bits, as a GPU does; STRICT=0 lets it pass)");
}

/* A promise that the program makes to the compiler, by __builtin_unreachable(). */
__attribute__((noreturn)) void __ubsan_handle_builtin_unreachable(const void *);
void __ubsan_handle_builtin_unreachable(const void *place)
{
    (void)place;
    emu_fault(PC, "a place is reached that __builtin_unreachable() says never is");
}
