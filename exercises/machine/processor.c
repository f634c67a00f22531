/* The instructions that compilers make of C and C++ for x86-64 with SSE2 (what every such
 * processor has, and the default of g++ and clang++): Intel's "Software Developer's
 * Manual", volume 2. Each is taken apart once and kept. An instruction that is not here
 * is an error. */
#include "processor.h"

#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

/* Right answers need up to 250 million. A function outside, which looks at an access of
 * memory for instance, takes as long as ten instructions. */
enum { MOST_INSTRUCTIONS = 1500000000, OUTSIDE_COUNTS_AS = 10 };

enum { MEMORY = 0xff, NONE = 16, ONE_BYTE = 0, TWO_BYTES = 0x100, OUT = 1 };
/* Prefixes, as SSE numbers its four families. */
enum { PLAIN = 0, P66 = 0x1000, PF3 = 0x2000, PF2 = 0x3000 };

struct op {
    uint16_t code;   /* the opcode; TWO_BYTES is added for those behind 0F */
    uint16_t prefix; /* PLAIN, P66, PF3 or PF2 */
    uint8_t length;  /* 0: not taken apart yet */
    uint8_t size;    /* of the operands, in bytes */
    uint8_t reg, rm; /* registers; a high byte (ah) has bit 7 set. rm may be MEMORY */
    uint8_t which;   /* the reg field, where it chooses among operations */
    uint8_t base, index, scale;
    int64_t disp;
    uint64_t imm; /* sign-extended */
};

static struct op *ops; /* one for each byte of the code */

void count_instructions(const struct processor *p, uint64_t n)
{
    static uint64_t left = MOST_INSTRUCTIONS; /* 1,500 million */
    if (left < n)
        refuse(p, "no end within 1,500 million instructions");
    left -= n;
}

/* ---- taking instructions apart ---- */

static bool has_modrm(unsigned code)
{
    if (code >= TWO_BYTES) {
        const unsigned c = code - TWO_BYTES;
        return !(c == 0x05 || c == 0x0b || c == 0x31 || (c >= 0x80 && c <= 0x8f) ||
                 (c >= 0xa0 && c <= 0xa2) || (c >= 0xc8 && c <= 0xcf));
    }
    return (code < 0x40 && (code & 7) < 4) || code == 0x63 || code == 0x69 ||
           code == 0x6b || (code >= 0x80 && code <= 0x8f) || code == 0xc0 ||
           code == 0xc1 || code == 0xc6 || code == 0xc7 ||
           (code >= 0xd0 && code <= 0xd3) || code == 0xf6 || code == 0xf7 || code >= 0xfe;
}

/* How many bytes of constant end the instruction. */
static unsigned constant_bytes(unsigned code, unsigned size, bool wide, unsigned which)
{
    const unsigned full = size == 2 ? 2 : 4;
    if (code >= TWO_BYTES) {
        const unsigned c = code - TWO_BYTES;
        if (c >= 0x80 && c <= 0x8f)
            return 4;
        return (c >= 0x70 && c <= 0x73) || c == 0xa4 || c == 0xac || c == 0xba ||
               c == 0xc2 || (c >= 0xc4 && c <= 0xc6);
    }
    if (code < 0x40 && (code & 7) == 5)
        return full;
    if (code >= 0xb8 && code <= 0xbf)
        return wide ? 8 : full;
    switch (code) {
    case 0x68:
    case 0x69:
    case 0x81:
    case 0xa9:
    case 0xc7: return full;
    case 0xe8:
    case 0xe9: return 4;
    case 0xc2: return 2;
    case 0xf7: return which < 2 ? full : 0;
    case 0xf6: return which < 2;
    case 0x6a:
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xa8:
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xeb: return 1;
    }
    return (code < 0x40 && (code & 7) == 4) || (code >= 0x70 && code <= 0x7f) ||
           (code >= 0xb0 && code <= 0xb7);
}

static int64_t constant(const uint8_t *at, unsigned bytes)
{
    int8_t one;
    int16_t two;
    int32_t four;
    int64_t eight;
    switch (bytes) {
    case 1: memcpy(&one, at, 1); return one;
    case 2: memcpy(&two, at, 2); return two;
    case 4: memcpy(&four, at, 4); return four;
    case 8: memcpy(&eight, at, 8); return eight;
    }
    return 0;
}

static bool is_about_bytes(unsigned code)
{
    if (code >= TWO_BYTES) {
        const unsigned c = code - TWO_BYTES;
        return (c >= 0x90 && c <= 0x9f) || c == 0xb0 || c == 0xc0;
    }
    if (code < 0x40)
        return (code & 7) == 0 || (code & 7) == 2 || (code & 7) == 4;
    return code == 0x80 || code == 0x84 || code == 0x86 || code == 0x88 || code == 0x8a ||
           code == 0xa4 || code == 0xa8 || code == 0xaa ||
           (code >= 0xb0 && code <= 0xb7) || code == 0xc0 || code == 0xc6 ||
           code == 0xd0 || code == 0xd2 || code == 0xf6 || code == 0xfe;
}

/* Without a REX prefix, the byte registers 4 to 7 are ah, ch, dh and bh. */
static uint8_t byte_register(unsigned number, bool rex)
{
    return (uint8_t)(!rex && number >= 4 && number < 8 ? 0x80 | (number - 4) : number);
}

static void take_apart(const struct processor *p, struct op *op)
{
    const uint8_t *const start = (const uint8_t *)p->ip, *at = start;
    unsigned rex = 0;
    bool narrow = false;
    for (;; at++) {
        if (*at == 0x66)
            narrow = true;
        else if (*at == 0xf2)
            op->prefix = PF2;
        else if (*at == 0xf3)
            op->prefix = PF3;
        /* Segments of no effect pad long no-operations. */
        else if (*at != 0xf0 && *at != 0x2e && *at != 0x3e)
            break;
        if (at - start > 10)
            refuse(p, "an instruction of more than 15 bytes");
    }
    if (narrow && !op->prefix)
        op->prefix = P66;
    if (*at >> 4 == 4)
        rex = *at++;
    op->code = *at++;
    if (op->code == 0x0f)
        op->code = (uint16_t)(TWO_BYTES + *at++);
    op->size = is_about_bytes(op->code) ? 1 : rex & 8 ? 8 : narrow ? 2 : 4;
    op->base = op->index = NONE;
    /* Opcodes with a register in their lowest bits. */
    op->rm = (uint8_t)((op->code & 7) | (rex & 1) << 3);
    bool from_ip = false;
    if (has_modrm(op->code)) {
        const unsigned modrm = *at++, mode = modrm >> 6;
        unsigned low = modrm & 7;
        op->which = modrm >> 3 & 7;
        op->reg = (uint8_t)(op->which | (rex & 4) << 1);
        op->rm = (uint8_t)(low | (rex & 1) << 3);
        if (mode != 3) {
            op->rm = MEMORY;
            if (low == 4) {
                const unsigned sib = *at++, index = (sib >> 3 & 7) | (rex & 2) << 2;
                low = sib & 7;
                if (index != 4)
                    op->index = (uint8_t)index;
                op->scale = (uint8_t)(sib >> 6);
                if (low != 5 || mode != 0)
                    op->base = (uint8_t)(low | (rex & 1) << 3);
            } else if (low == 5 && mode == 0) {
                from_ip = true;
            } else {
                op->base = (uint8_t)(low | (rex & 1) << 3);
            }
            const unsigned bytes = mode == 1                              ? 1
                                   : mode == 2 || (mode == 0 && low == 5) ? 4
                                                                          : 0;
            op->disp = constant(at, bytes);
            at += bytes;
        }
    }
    if (op->size == 1 || op->code == TWO_BYTES + 0xb6 || op->code == TWO_BYTES + 0xbe) {
        if (op->size == 1)
            op->reg = byte_register(op->reg, rex);
        if (op->rm != MEMORY)
            op->rm = byte_register(op->rm, rex);
    }
    const unsigned bytes = constant_bytes(op->code, op->size, rex & 8, op->which);
    op->imm = (uint64_t)constant(at, bytes);
    at += bytes;
    op->length = (uint8_t)(at - start);
    if (from_ip)
        op->disp += (int64_t)(p->ip + op->length);
}

static const struct op *next_op(struct processor *p)
{
    if (p->ip - text_low >= text_high - text_low)
        return NULL;
    if (!ops)
        ops = calloc(text_high - text_low, sizeof *ops);
    if (!ops)
        refuse(p, "no host memory for its instructions");
    struct op *op = &ops[p->ip - text_low];
    if (!op->length)
        take_apart(p, op);
    return op;
}

static void unknown(const struct processor *p, const struct op *op)
{
    const uint8_t *byte = (const uint8_t *)p->ip;
    refuse(
        p,
        "an instruction that exercises have no use for (%02x %02x %02x %02x, opcode %x)",
        byte[0], byte[1], byte[2], byte[3], op->code);
}

/* ---- registers and memory ---- */

static inline void *memory(struct processor *p, uint64_t address, size_t n, bool write)
{
    if (address - p->stack_low <= p->stack_high - p->stack_low - n)
        return (void *)address;
    return reach(p, address, n, write);
}

static inline uint64_t address_of(const struct processor *p, const struct op *op)
{
    return p->r[op->base] + (p->r[op->index] << op->scale) + (uint64_t)op->disp;
}

static inline uint64_t load(struct processor *p, uint64_t address, unsigned size)
{
    uint64_t value = 0;
    const void *from = memory(p, address, size, false);
    switch (size) {
    case 1: memcpy(&value, from, 1); break;
    case 2: memcpy(&value, from, 2); break;
    case 4: memcpy(&value, from, 4); break;
    case 8: memcpy(&value, from, 8); break;
    }
    return value;
}

static inline void store(struct processor *p, uint64_t address, unsigned size,
                         uint64_t value)
{
    void *to = memory(p, address, size, true);
    switch (size) {
    case 1: memcpy(to, &value, 1); break;
    case 2: memcpy(to, &value, 2); break;
    case 4: memcpy(to, &value, 4); break;
    case 8: memcpy(to, &value, 8); break;
    }
}

static inline uint64_t truncated(uint64_t value, unsigned size)
{
    return size == 8 ? value : value & ((1ull << 8 * size) - 1);
}

static inline int64_t extended(uint64_t value, unsigned size)
{
    switch (size) {
    case 1: return (int8_t)value;
    case 2: return (int16_t)value;
    case 4: return (int32_t)value;
    }
    return (int64_t)value;
}

static inline uint64_t get(const struct processor *p, unsigned number, unsigned size)
{
    if (number & 0x80)
        return p->r[number & 3] >> 8 & 0xff;
    return truncated(p->r[number], size);
}

static inline void set(struct processor *p, unsigned number, unsigned size,
                       uint64_t value)
{
    uint64_t *r = &p->r[number & 15];
    if (number & 0x80)
        *r = (*r & ~0xff00ull) | (value & 0xff) << 8;
    else if (size >= 4)
        *r = truncated(value, size);
    else
        *r = (*r & ~truncated(~0ull, size)) | truncated(value, size);
}

static inline uint64_t get_rm(struct processor *p, const struct op *op, unsigned size)
{
    return op->rm == MEMORY ? load(p, address_of(p, op), size) : get(p, op->rm, size);
}

static inline void set_rm(struct processor *p, const struct op *op, unsigned size,
                          uint64_t value)
{
    if (op->rm == MEMORY)
        store(p, address_of(p, op), size, value);
    else
        set(p, op->rm, size, value);
}

static void push(struct processor *p, uint64_t value)
{
    p->r[RSP] -= 8;
    store(p, p->r[RSP], 8, value);
}

static uint64_t pop(struct processor *p)
{
    p->r[RSP] += 8;
    return load(p, p->r[RSP] - 8, 8);
}

/* ---- arithmetic: done by the real instruction, which knows its flags best ---- */

enum { OVERFLOW = 1, CARRY = 1 << 8, PARITY = 1 << 10, ZERO = 1 << 14, SIGN = 1 << 15 };
#define KEEP_FLAGS "\n\tlahf\n\tseto %%al"

#define BINARY(type, instruction)                                                        \
    {                                                                                    \
        type x = (type)a;                                                                \
        uint32_t flags;                                                                  \
        __asm__("btl $8, %[old]\n\t" instruction " %[y], %[x]" KEEP_FLAGS                \
                : [x] "+q"(x), "=&a"(flags)                                              \
                : [y] "q"((type)b), [old] "q"((uint32_t)p->flags)                        \
                : "cc");                                                                 \
        p->flags = (uint16_t)flags;                                                      \
        return x;                                                                        \
    }
#define BINARY_SIZES(name)                                                               \
    switch (size) {                                                                      \
    case 1: BINARY(uint8_t, name "b")                                                    \
    case 2: BINARY(uint16_t, name "w")                                                   \
    case 4: BINARY(uint32_t, name "l")                                                   \
    default: BINARY(uint64_t, name "q")                                                  \
    }

/* `which` is the number of the operation in the opcodes; 8 for test. */
static uint64_t binary(struct processor *p, unsigned which, unsigned size, uint64_t a,
                       uint64_t b)
{
    switch (which) {
    case 0: BINARY_SIZES("add")
    case 1: BINARY_SIZES("or")
    case 2: BINARY_SIZES("adc")
    case 3: BINARY_SIZES("sbb")
    case 4: BINARY_SIZES("and")
    case 5: BINARY_SIZES("sub")
    case 6: BINARY_SIZES("xor")
    case 7: BINARY_SIZES("cmp")
    default: BINARY_SIZES("test")
    }
}

#define SHIFT(type, instruction)                                                         \
    {                                                                                    \
        type x = (type)a;                                                                \
        uint32_t flags;                                                                  \
        __asm__("btl $8, %[old]\n\t" instruction " %%cl, %[x]" KEEP_FLAGS                \
                : [x] "+q"(x), "=&a"(flags)                                              \
                : "c"(count), [old] "q"((uint32_t)p->flags)                              \
                : "cc");                                                                 \
        p->flags = which < 4 ? (uint16_t)((p->flags & ~(CARRY | OVERFLOW)) |             \
                                          (flags & (CARRY | OVERFLOW)))                  \
                             : (uint16_t)flags;                                          \
        return x;                                                                        \
    }
#define SHIFT_SIZES(name)                                                                \
    switch (size) {                                                                      \
    case 1: SHIFT(uint8_t, name "b")                                                     \
    case 2: SHIFT(uint16_t, name "w")                                                    \
    case 4: SHIFT(uint32_t, name "l")                                                    \
    default: SHIFT(uint64_t, name "q")                                                   \
    }

static uint64_t shift(struct processor *p, unsigned which, unsigned size, uint64_t a,
                      uint64_t by)
{
    const uint8_t count = (uint8_t)(by & (size == 8 ? 63 : 31));
    if (count == 0)
        return a;
    switch (which) {
    case 0: SHIFT_SIZES("rol")
    case 1: SHIFT_SIZES("ror")
    case 2: SHIFT_SIZES("rcl")
    case 3: SHIFT_SIZES("rcr")
    case 5: SHIFT_SIZES("shr")
    case 7: SHIFT_SIZES("sar")
    default: SHIFT_SIZES("shl")
    }
}

/* Shifts bits of b into a: shld, or shrd if `right`. Of the flags, nobody asks. */
static uint64_t shift_in(unsigned size, uint64_t a, uint64_t b, uint64_t by, bool right)
{
    const unsigned bits = 8 * size, count = (unsigned)by & (size == 8 ? 63 : 31);
    if (count == 0 || count >= bits)
        return a;
    return right ? a >> count | b << (bits - count) : a << count | b >> (bits - count);
}

/* inc and dec leave the carry as it is. */
static uint64_t step(struct processor *p, unsigned size, uint64_t a, bool down)
{
    const uint16_t carry = p->flags & CARRY;
    const uint64_t result = binary(p, down ? 5 : 0, size, a, 1);
    p->flags = (uint16_t)((p->flags & ~CARRY) | carry);
    return result;
}

/* The low half of a product, with carry and overflow if it is not all of it. */
static uint64_t product(struct processor *p, unsigned size, uint64_t a, uint64_t b)
{
    const __int128 all = (__int128)extended(a, size) * extended(b, size);
    const uint64_t low = truncated((uint64_t)all, size);
    const bool lost = all != extended(low, size);
    p->flags = (uint16_t)(lost ? CARRY | OVERFLOW : 0);
    return low;
}

/* mul and imul with a result of two registers. */
static void long_product(struct processor *p, const struct op *op, bool has_sign)
{
    const unsigned size = op->size;
    const uint64_t a = get(p, RAX, size), b = get_rm(p, op, size);
    const unsigned __int128 all =
        has_sign ? (unsigned __int128)((__int128)extended(a, size) * extended(b, size))
                 : (unsigned __int128)a * b;
    const uint64_t low = truncated((uint64_t)all, size),
                   high = truncated((uint64_t)(all >> 8 * size), size);
    const bool lost =
        has_sign ? (__int128)all != (__int128)extended(low, size) : high != 0;
    p->flags = (uint16_t)(lost ? CARRY | OVERFLOW : 0);
    if (size == 1) {
        set(p, RAX, 2, (uint64_t)all);
    } else {
        set(p, RAX, size, low);
        set(p, RDX, size, high);
    }
}

static void divide(struct processor *p, const struct op *op, bool has_sign)
{
    const unsigned size = op->size, bits = 8 * size;
    const uint64_t by = get_rm(p, op, size);
    if (by == 0)
        refuse(p, "a division by zero");
    const uint64_t high = size == 1 ? get(p, RAX, 2) >> 8 : get(p, RDX, size);
    unsigned __int128 all = (unsigned __int128)high << bits | get(p, RAX, size);
    uint64_t quotient, rest;
    bool fits;
    if (has_sign) {
        const unsigned unused = 128 - 2 * bits;
        const __int128 a = (__int128)(all << unused) >> unused;
        const __int128 q = extended(by, size) == -1 ? -a : a / extended(by, size);
        quotient = (uint64_t)q;
        rest = (uint64_t)(extended(by, size) == -1 ? 0 : a % extended(by, size));
        fits = q == extended(truncated(quotient, size), size);
    } else {
        quotient = (uint64_t)(all / by);
        rest = (uint64_t)(all % by);
        fits = all / by == truncated(quotient, size);
    }
    if (!fits)
        refuse(p, "a division whose result is too large");
    if (size == 1) {
        set(p, RAX, 2, (quotient & 0xff) | (rest & 0xff) << 8);
    } else {
        set(p, RAX, size, quotient);
        set(p, RDX, size, rest);
    }
}

static bool holds(const struct processor *p, unsigned condition)
{
    const unsigned f = p->flags;
    const bool sign = f & SIGN, overflow = f & OVERFLOW;
    bool result = false;
    switch (condition >> 1 & 7) {
    case 0: result = overflow; break;
    case 1: result = f & CARRY; break;
    case 2: result = f & ZERO; break;
    case 3: result = f & (CARRY | ZERO); break;
    case 4: result = sign; break;
    case 5: result = f & PARITY; break;
    case 6: result = sign != overflow; break;
    case 7: result = (f & ZERO) || sign != overflow; break;
    }
    return result != (condition & 1);
}

/* The lowest set bit, or the highest; where there is none, the hardware leaves the
 * register as it was, or (tzcnt) gives the number of bits. */
static void find_bit(struct processor *p, const struct op *op, bool highest)
{
    const uint64_t value = get_rm(p, op, op->size);
    p->flags = (uint16_t)((p->flags & ~(ZERO | CARRY)) | (value ? 0 : ZERO | CARRY));
    if (value)
        set(p, op->reg, op->size,
            (uint64_t)(highest ? 63 - __builtin_clzll(value) : __builtin_ctzll(value)));
    else if (op->prefix == PF3)
        set(p, op->reg, op->size, 8u * op->size);
}

/* bt, bts, btr, btc on a register, or with a constant. */
static void one_bit(struct processor *p, const struct op *op, unsigned which,
                    uint64_t number)
{
    const uint64_t bit = 1ull << (number & (8u * op->size - 1));
    const uint64_t value = get_rm(p, op, op->size);
    p->flags = (uint16_t)((p->flags & ~CARRY) | (value & bit ? CARRY : 0));
    if (which == 1)
        set_rm(p, op, op->size, value | bit);
    if (which == 2)
        set_rm(p, op, op->size, value & ~bit);
    if (which == 3)
        set_rm(p, op, op->size, value ^ bit);
}

/* rep movs, rep stos, and both without rep. Each turn takes as long as an instruction. */
static void string(struct processor *p, const struct op *op, bool copies)
{
    uint64_t count = op->prefix == PF3 ? p->r[RCX] : 1;
    for (; count > 0; count--) {
        count_instructions(p, 1);
        const uint64_t value = copies ? load(p, p->r[RSI], op->size) : p->r[RAX];
        store(p, p->r[RDI], op->size, value);
        p->r[RDI] += op->size;
        if (copies)
            p->r[RSI] += op->size;
        if (op->prefix == PF3)
            p->r[RCX]--;
    }
}

/* ---- vectors ---- */

static inline __m128i whole(const union vector *x)
{
    return _mm_loadu_si128((const __m128i *)x);
}

/* The operand of `n` bytes; of a register always all 16. */
static inline union vector operand(struct processor *p, const struct op *op, unsigned n)
{
    union vector value = {.q = {0, 0}};
    if (op->rm != MEMORY)
        return p->x[op->rm & 15];
    memcpy(&value, memory(p, address_of(p, op), n, false), n);
    return value;
}

static inline void store_vector(struct processor *p, const struct op *op,
                                const void *from, unsigned n)
{
    memcpy(memory(p, address_of(p, op), n, true), from, n);
}

static uint16_t compared(double a, double b)
{
    if (a != a || b != b)
        return ZERO | PARITY | CARRY;
    return a < b ? CARRY : a == b ? ZERO : 0;
}

static bool relation(unsigned which, double a, double b)
{
    const bool unordered = a != a || b != b;
    bool result = false;
    switch (which & 3) {
    case 0: result = a == b; break;
    case 1: result = a < b; break;
    case 2: result = a <= b; break;
    case 3: result = unordered; break;
    }
    return result != (which >> 2 & 1);
}

static union vector compare_all(unsigned which, union vector a, union vector b,
                                unsigned prefix)
{
    const bool doubles = prefix == P66 || prefix == PF2;
    const unsigned all = doubles ? 2 : 4,
                   count = prefix == PF2 || prefix == PF3 ? 1 : all;
    for (unsigned i = 0; i < count; i++) {
        if (doubles)
            a.q[i] = relation(which, a.d[i], b.d[i]) ? ~0ull : 0;
        else
            a.w[i] = relation(which, a.f[i], b.f[i]) ? ~0u : 0;
    }
    return a;
}

/* As the hardware: what does not fit becomes the smallest integer. */
static uint64_t to_integer(double value, unsigned size, bool towards_zero)
{
    if (size == 8)
        return (uint64_t)(towards_zero ? _mm_cvttsd_si64(_mm_set_sd(value))
                                       : _mm_cvtsd_si64(_mm_set_sd(value)));
    return (uint32_t)(towards_zero ? _mm_cvttsd_si32(_mm_set_sd(value))
                                   : _mm_cvtsd_si32(_mm_set_sd(value)));
}

#define ALL(prefix, opcode, result)                                                      \
    case prefix + (opcode): {                                                            \
        const union vector o = operand(p, op, 16);                                       \
        const __m128i a = whole(&p->x[op->reg]), b = whole(&o);                          \
        _mm_storeu_si128((__m128i *)&p->x[op->reg], result);                             \
        return true;                                                                     \
    }
#define FLOATS(call) _mm_castps_si128(call(_mm_castsi128_ps(a), _mm_castsi128_ps(b)))
#define DOUBLES(call) _mm_castpd_si128(call(_mm_castsi128_pd(a), _mm_castsi128_pd(b)))
/* addps, addpd, addss, addsd */
#define FOUR_FORMS(opcode, name)                                                         \
    ALL(PLAIN, opcode, FLOATS(_mm_##name##_ps))                                          \
    ALL(P66, opcode, DOUBLES(_mm_##name##_pd))                                           \
    case PF3 + (opcode): {                                                               \
        const union vector o = operand(p, op, 4);                                        \
        _mm_store_ss(p->x[op->reg].f,                                                    \
                     _mm_##name##_ss(_mm_load_ss(p->x[op->reg].f), _mm_load_ss(o.f)));   \
        return true;                                                                     \
    }                                                                                    \
    case PF2 + (opcode): {                                                               \
        const union vector o = operand(p, op, 8);                                        \
        _mm_store_sd(p->x[op->reg].d,                                                    \
                     _mm_##name##_sd(_mm_load_sd(p->x[op->reg].d), _mm_load_sd(o.d)));   \
        return true;                                                                     \
    }
#define BOTH(opcode, name)                                                               \
    ALL(PLAIN, opcode, FLOATS(_mm_##name##_ps))                                          \
    ALL(P66, opcode, DOUBLES(_mm_##name##_pd))
#define INTEGERS(opcode, name) ALL(P66, opcode, _mm_##name(a, b))

static __m128 root_ps(__m128 a, __m128 b)
{
    (void)a;
    return _mm_sqrt_ps(b);
}

static __m128d root_pd(__m128d a, __m128d b)
{
    (void)a;
    return _mm_sqrt_pd(b);
}

/* Loads, stores and moves between registers. Returns false if it is none of these. */
static bool move_vector(struct processor *p, const struct op *op)
{
    union vector *const x = &p->x[op->reg & 15];
    const bool from_memory = op->rm == MEMORY;
    union vector value;
    switch (op->prefix + op->code - TWO_BYTES) {
    case PLAIN + 0x10:
    case PLAIN + 0x28:
    case P66 + 0x10:
    case P66 + 0x28:
    case P66 + 0x6f:
    case PF3 + 0x6f: *x = operand(p, op, 16); return true;
    case PLAIN + 0x11:
    case PLAIN + 0x29:
    case P66 + 0x11:
    case P66 + 0x29:
    case P66 + 0x7f:
    case PF3 + 0x7f:
    case PLAIN + 0x2b:
    case P66 + 0x2b:
    case P66 + 0xe7:
        if (from_memory)
            store_vector(p, op, x, 16);
        else
            p->x[op->rm & 15] = *x;
        return true;
    case PF3 + 0x10: /* movss */
        value = operand(p, op, 4);
        if (from_memory)
            *x = value;
        else
            x->w[0] = value.w[0];
        return true;
    case PF3 + 0x11:
        if (from_memory)
            store_vector(p, op, x, 4);
        else
            p->x[op->rm & 15].w[0] = x->w[0];
        return true;
    case PF2 + 0x10: /* movsd */
        value = operand(p, op, 8);
        if (from_memory)
            *x = value;
        else
            x->q[0] = value.q[0];
        return true;
    case PF2 + 0x11:
        if (from_memory)
            store_vector(p, op, x, 8);
        else
            p->x[op->rm & 15].q[0] = x->q[0];
        return true;
    case PLAIN + 0x12:
    case P66 + 0x12: /* movlps, movhlps */
        x->q[0] = from_memory ? operand(p, op, 8).q[0] : p->x[op->rm & 15].q[1];
        return true;
    case PLAIN + 0x16:
    case P66 + 0x16: /* movhps, movlhps */ x->q[1] = operand(p, op, 8).q[0]; return true;
    case PLAIN + 0x13:
    case P66 + 0x13: store_vector(p, op, &x->q[0], 8); return true;
    case PLAIN + 0x17:
    case P66 + 0x17: store_vector(p, op, &x->q[1], 8); return true;
    case P66 + 0x6e: /* movd, movq from a register or memory */
        value = (union vector){.q = {get_rm(p, op, op->size == 8 ? 8 : 4), 0}};
        *x = value;
        return true;
    case P66 + 0x7e: set_rm(p, op, op->size == 8 ? 8 : 4, x->q[0]); return true;
    case PF3 + 0x7e: /* movq */
        value = operand(p, op, 8);
        *x = (union vector){.q = {value.q[0], 0}};
        return true;
    case P66 + 0xd6:
        if (from_memory)
            store_vector(p, op, x, 8);
        else
            p->x[op->rm & 15] = (union vector){.q = {x->q[0], 0}};
        return true;
    case PLAIN + 0x50:
        set(p, op->reg, 4,
            (uint64_t)_mm_movemask_ps(_mm_castsi128_ps(whole(&p->x[op->rm & 15]))));
        return true;
    case P66 + 0x50:
        set(p, op->reg, 4,
            (uint64_t)_mm_movemask_pd(_mm_castsi128_pd(whole(&p->x[op->rm & 15]))));
        return true;
    case P66 + 0xd7:
        set(p, op->reg, 4, (uint64_t)_mm_movemask_epi8(whole(&p->x[op->rm & 15])));
        return true;
    case P66 + 0xc4: { /* pinsrw */
        const uint16_t word = (uint16_t)get_rm(p, op, op->rm == MEMORY ? 2 : 4);
        memcpy(&x->b[2 * (op->imm & 7)], &word, 2);
        return true;
    }
    case P66 + 0xc5: {
        uint16_t word;
        memcpy(&word, &p->x[op->rm & 15].b[2 * (op->imm & 7)], 2);
        set(p, op->reg, 4, word);
        return true;
    }
    }
    return false;
}

/* Between integers, floats and doubles. */
static bool convert_vector(struct processor *p, const struct op *op)
{
    union vector *const x = &p->x[op->reg & 15];
    const unsigned integer = op->size == 8 ? 8 : 4, code = op->code - TWO_BYTES;
    union vector v;
    switch (op->prefix + code) {
    case PF3 + 0x2a:
        x->f[0] = (float)extended(get_rm(p, op, integer), integer);
        return true;
    case PF2 + 0x2a:
        x->d[0] = (double)extended(get_rm(p, op, integer), integer);
        return true;
    case PF3 + 0x2c:
    case PF3 + 0x2d:
        set(p, op->reg, integer,
            to_integer((double)operand(p, op, 4).f[0], integer, code == 0x2c));
        return true;
    case PF2 + 0x2c:
    case PF2 + 0x2d:
        set(p, op->reg, integer,
            to_integer(operand(p, op, 8).d[0], integer, code == 0x2c));
        return true;
    case PF3 + 0x5a: x->d[0] = (double)operand(p, op, 4).f[0]; return true;
    case PF2 + 0x5a: x->f[0] = (float)operand(p, op, 8).d[0]; return true;
    case PLAIN + 0x5a:
        v = operand(p, op, 8);
        _mm_storeu_pd(x->d, _mm_cvtps_pd(_mm_castsi128_ps(whole(&v))));
        return true;
    case P66 + 0x5a:
        v = operand(p, op, 16);
        _mm_storeu_ps(x->f, _mm_cvtpd_ps(_mm_castsi128_pd(whole(&v))));
        return true;
    case PLAIN + 0x5b:
        v = operand(p, op, 16);
        _mm_storeu_ps(x->f, _mm_cvtepi32_ps(whole(&v)));
        return true;
    case P66 + 0x5b:
        v = operand(p, op, 16);
        _mm_storeu_si128((__m128i *)x, _mm_cvtps_epi32(_mm_castsi128_ps(whole(&v))));
        return true;
    case PF3 + 0x5b:
        v = operand(p, op, 16);
        _mm_storeu_si128((__m128i *)x, _mm_cvttps_epi32(_mm_castsi128_ps(whole(&v))));
        return true;
    case PF3 + 0xe6:
        v = operand(p, op, 8);
        _mm_storeu_pd(x->d, _mm_cvtepi32_pd(whole(&v)));
        return true;
    case PF2 + 0xe6:
        v = operand(p, op, 16);
        _mm_storeu_si128((__m128i *)x, _mm_cvtpd_epi32(_mm_castsi128_pd(whole(&v))));
        return true;
    case P66 + 0xe6:
        v = operand(p, op, 16);
        _mm_storeu_si128((__m128i *)x, _mm_cvttpd_epi32(_mm_castsi128_pd(whole(&v))));
        return true;
    }
    return false;
}

/* Shifts of all elements by a constant: the operation is in the reg field. */
static bool shift_vector(struct processor *p, const struct op *op)
{
    union vector *const x = &p->x[op->rm & 15];
    const __m128i a = whole(x), by = _mm_cvtsi32_si128((int)(op->imm & 0xff));
    __m128i result;
    uint8_t wide[48] = {0};
    const unsigned bytes = (op->imm & 0xff) < 16 ? (unsigned)op->imm & 0xff : 16;
    memcpy(wide + 16, x, 16);
    switch ((op->code - TWO_BYTES) << 4 | (op->which)) {
    case 0x712: result = _mm_srl_epi16(a, by); break;
    case 0x714: result = _mm_sra_epi16(a, by); break;
    case 0x716: result = _mm_sll_epi16(a, by); break;
    case 0x722: result = _mm_srl_epi32(a, by); break;
    case 0x724: result = _mm_sra_epi32(a, by); break;
    case 0x726: result = _mm_sll_epi32(a, by); break;
    case 0x732: result = _mm_srl_epi64(a, by); break;
    case 0x736: result = _mm_sll_epi64(a, by); break;
    case 0x733: result = _mm_loadu_si128((const __m128i *)(wide + 16 + bytes)); break;
    case 0x737: result = _mm_loadu_si128((const __m128i *)(wide + 16 - bytes)); break;
    default: return false;
    }
    _mm_storeu_si128((__m128i *)x, result);
    return true;
}

/* Elements chosen by a constant. */
static union vector shuffled(union vector a, union vector b, unsigned code,
                             unsigned prefix, unsigned imm)
{
    union vector result = b;
    if (code == 0xc6 && prefix == PLAIN)
        for (unsigned i = 0; i < 4; i++)
            result.w[i] = (i < 2 ? a : b).w[imm >> 2 * i & 3];
    else if (code == 0xc6)
        for (unsigned i = 0; i < 2; i++)
            result.q[i] = (i < 1 ? a : b).q[imm >> i & 1];
    else if (prefix == P66)
        for (unsigned i = 0; i < 4; i++)
            result.w[i] = b.w[imm >> 2 * i & 3];
    else
        for (unsigned i = 0; i < 4; i++) {
            const unsigned half = prefix == PF3 ? 8 : 0;
            memcpy(&result.b[half + 2 * i], &b.b[half + 2 * (imm >> 2 * i & 3)], 2);
        }
    return result;
}

static bool compute_vector(struct processor *p, const struct op *op)
{
    union vector *const x = &p->x[op->reg & 15];
    switch (op->prefix + op->code - TWO_BYTES) {
        FOUR_FORMS(0x58, add)
        FOUR_FORMS(0x59, mul)
        FOUR_FORMS(0x5c, sub)
        FOUR_FORMS(0x5d, min)
        FOUR_FORMS(0x5e, div)
        FOUR_FORMS(0x5f, max)
        BOTH(0x54, and)
        BOTH(0x55, andnot)
        BOTH(0x56, or)
        BOTH(0x57, xor)
        BOTH(0x14, unpacklo)
        BOTH(0x15, unpackhi)
        ALL(PLAIN, 0x51, FLOATS(root_ps))
        ALL(P66, 0x51, DOUBLES(root_pd))
    case PF3 + 0x51: {
        const union vector o = operand(p, op, 4);
        _mm_store_ss(x->f, _mm_sqrt_ss(_mm_load_ss(o.f)));
        return true;
    }
    case PF2 + 0x51: {
        const union vector o = operand(p, op, 8);
        _mm_store_sd(x->d, _mm_sqrt_sd(_mm_load_sd(o.d), _mm_load_sd(o.d)));
        return true;
    }
    case PLAIN + 0x2e:
    case PLAIN + 0x2f:
        p->flags = compared((double)x->f[0], (double)operand(p, op, 4).f[0]);
        return true;
    case P66 + 0x2e:
    case P66 + 0x2f: p->flags = compared(x->d[0], operand(p, op, 8).d[0]); return true;
    case PLAIN + 0xc2:
    case P66 + 0xc2:
    case PF3 + 0xc2:
    case PF2 + 0xc2: {
        const unsigned n = op->prefix == PF3 ? 4 : op->prefix == PF2 ? 8 : 16;
        *x = compare_all((unsigned)op->imm & 7, *x, operand(p, op, n), op->prefix);
        return true;
    }
    case PLAIN + 0xc6:
    case P66 + 0xc6:
    case P66 + 0x70:
    case PF3 + 0x70:
    case PF2 + 0x70:
        *x = shuffled(*x, operand(p, op, 16), op->code - TWO_BYTES, op->prefix,
                      (unsigned)op->imm & 0xff);
        return true;
    case P66 + 0x71:
    case P66 + 0x72:
    case P66 + 0x73:
        return shift_vector(p, op);
        INTEGERS(0x60, unpacklo_epi8)
        INTEGERS(0x61, unpacklo_epi16)
        INTEGERS(0x62, unpacklo_epi32)
        INTEGERS(0x63, packs_epi16)
        INTEGERS(0x64, cmpgt_epi8)
        INTEGERS(0x65, cmpgt_epi16)
        INTEGERS(0x66, cmpgt_epi32)
        INTEGERS(0x67, packus_epi16)
        INTEGERS(0x68, unpackhi_epi8)
        INTEGERS(0x69, unpackhi_epi16)
        INTEGERS(0x6a, unpackhi_epi32)
        INTEGERS(0x6b, packs_epi32)
        INTEGERS(0x6c, unpacklo_epi64)
        INTEGERS(0x6d, unpackhi_epi64)
        INTEGERS(0x74, cmpeq_epi8)
        INTEGERS(0x75, cmpeq_epi16)
        INTEGERS(0x76, cmpeq_epi32)
        INTEGERS(0xd1, srl_epi16)
        INTEGERS(0xd2, srl_epi32)
        INTEGERS(0xd3, srl_epi64)
        INTEGERS(0xd4, add_epi64)
        INTEGERS(0xd5, mullo_epi16)
        INTEGERS(0xd8, subs_epu8)
        INTEGERS(0xd9, subs_epu16)
        INTEGERS(0xda, min_epu8)
        INTEGERS(0xdb, and_si128)
        INTEGERS(0xdc, adds_epu8)
        INTEGERS(0xdd, adds_epu16)
        INTEGERS(0xde, max_epu8)
        INTEGERS(0xdf, andnot_si128)
        INTEGERS(0xe0, avg_epu8)
        INTEGERS(0xe1, sra_epi16)
        INTEGERS(0xe2, sra_epi32)
        INTEGERS(0xe3, avg_epu16)
        INTEGERS(0xe4, mulhi_epu16)
        INTEGERS(0xe5, mulhi_epi16)
        INTEGERS(0xe8, subs_epi8)
        INTEGERS(0xe9, subs_epi16)
        INTEGERS(0xea, min_epi16)
        INTEGERS(0xeb, or_si128)
        INTEGERS(0xec, adds_epi8)
        INTEGERS(0xed, adds_epi16)
        INTEGERS(0xee, max_epi16)
        INTEGERS(0xef, xor_si128)
        INTEGERS(0xf1, sll_epi16)
        INTEGERS(0xf2, sll_epi32)
        INTEGERS(0xf3, sll_epi64)
        INTEGERS(0xf4, mul_epu32)
        INTEGERS(0xf5, madd_epi16)
        INTEGERS(0xf6, sad_epu8)
        INTEGERS(0xf8, sub_epi8)
        INTEGERS(0xf9, sub_epi16)
        INTEGERS(0xfa, sub_epi32)
        INTEGERS(0xfb, sub_epi64)
        INTEGERS(0xfc, add_epi8)
        INTEGERS(0xfd, add_epi16)
        INTEGERS(0xfe, add_epi32)
    }
    return false;
}

/* ---- the instructions behind 0F ---- */

static void two_byte_op(struct processor *p, const struct op *op)
{
    const unsigned code = op->code - TWO_BYTES, size = op->size;
    uint64_t value;
    switch (code) {
    case 0x1f:
    case 0x1e:
    case 0x18:
    case 0x0d: return; /* nop, endbr64, prefetch */
    case 0xae:
        if (op->rm != MEMORY)
            return;
        break; /* the fences */
    case 0x0b: refuse(p, "a place that the compiler took for impossible to reach");
    case 0xa3: one_bit(p, op, 0, p->r[op->reg]); return;
    case 0xab: one_bit(p, op, 1, p->r[op->reg]); return;
    case 0xb3: one_bit(p, op, 2, p->r[op->reg]); return;
    case 0xbb: one_bit(p, op, 3, p->r[op->reg]); return;
    case 0xba: one_bit(p, op, op->which & 3, op->imm); return;
    case 0xa4:
    case 0xa5:
    case 0xac:
    case 0xad:
        value = code & 1 ? p->r[RCX] : op->imm;
        set_rm(p, op, size,
               shift_in(size, get_rm(p, op, size), get(p, op->reg, size), value,
                        code >= 0xac));
        return;
    case 0xaf:
        set(p, op->reg, size,
            product(p, size, get(p, op->reg, size), get_rm(p, op, size)));
        return;
    case 0xb0:
    case 0xb1: /* cmpxchg */
        value = get_rm(p, op, size);
        binary(p, 7, size, get(p, RAX, size), value);
        if (p->flags & ZERO)
            set_rm(p, op, size, get(p, op->reg, size));
        else
            set(p, RAX, size, value);
        return;
    case 0xc0:
    case 0xc1: { /* xadd */
        const uint64_t other = get(p, op->reg, size);
        value = get_rm(p, op, size);
        const uint64_t sum = binary(p, 0, size, value, other);
        set(p, op->reg, size, value);
        set_rm(p, op, size, sum);
        return;
    }
    case 0xb6: set(p, op->reg, size, get_rm(p, op, 1)); return;
    case 0xb7: set(p, op->reg, size, get_rm(p, op, 2)); return;
    case 0xbe: set(p, op->reg, size, (uint64_t)extended(get_rm(p, op, 1), 1)); return;
    case 0xbf: set(p, op->reg, size, (uint64_t)extended(get_rm(p, op, 2), 2)); return;
    case 0xbc: find_bit(p, op, false); return;
    case 0xbd:
        if (op->prefix != PF3) {
            find_bit(p, op, true);
            return;
        }
        break;
    }
    if (code >= 0x40 && code <= 0x4f) {
        value = get_rm(p, op, size);
        set(p, op->reg, size, holds(p, code) ? value : get(p, op->reg, size));
    } else if (code >= 0x80 && code <= 0x8f) {
        if (holds(p, code))
            p->ip += op->imm;
    } else if (code >= 0x90 && code <= 0x9f) {
        set_rm(p, op, 1, holds(p, code));
    } else if (code >= 0xc8 && code <= 0xcf) {
        value = p->r[op->rm];
        set(p, op->rm, size,
            size == 8 ? __builtin_bswap64(value) : __builtin_bswap32((uint32_t)value));
    } else if (!move_vector(p, op) && !compute_vector(p, op) && !convert_vector(p, op)) {
        p->ip -= op->length;
        unknown(p, op);
    }
}

/* ---- the rest ---- */

static void jump(struct processor *p, uint64_t to)
{
    p->ip = to;
}

/* The function that was called returns to what lies on the stack. */
static void leave_for(struct processor *p, uint64_t to)
{
    count_instructions(p, OUTSIDE_COUNTS_AS);
    call_outside(p, to);
    p->ip = pop(p);
}

static void call(struct processor *p, uint64_t to)
{
    push(p, p->ip);
    if (to - text_low < text_high - text_low)
        p->ip = to;
    else
        leave_for(p, to);
}

/* F6 and F7: test, not, neg, mul, imul, div, idiv. */
static void group_3(struct processor *p, const struct op *op)
{
    const unsigned size = op->size;
    switch (op->which) {
    case 0:
    case 1: binary(p, 8, size, get_rm(p, op, size), op->imm); break;
    case 2: set_rm(p, op, size, ~get_rm(p, op, size)); break;
    case 3: set_rm(p, op, size, binary(p, 5, size, 0, get_rm(p, op, size))); break;
    case 4: long_product(p, op, false); break;
    case 5: long_product(p, op, true); break;
    case 6: divide(p, op, false); break;
    case 7: divide(p, op, true); break;
    }
}

/* FE and FF: inc, dec, call, jmp, push. */
static void group_5(struct processor *p, const struct op *op)
{
    const unsigned size = op->size;
    switch (op->which) {
    case 0:
    case 1:
        set_rm(p, op, size, step(p, size, get_rm(p, op, size), op->which & 1));
        return;
    case 2: call(p, get_rm(p, op, 8)); return;
    case 4: jump(p, get_rm(p, op, 8)); return;
    case 6: push(p, get_rm(p, op, 8)); return;
    }
    unknown(p, op);
}

static void one_byte_op(struct processor *p, const struct op *op)
{
    const unsigned code = op->code, size = op->size;
    uint64_t value;
    if (code < 0x40) { /* eight operations in six forms */
        const unsigned which = code >> 3, form = code & 7;
        const uint64_t a = form < 2   ? get_rm(p, op, size)
                           : form < 4 ? get(p, op->reg, size)
                                      : get(p, RAX, size);
        const uint64_t b = form < 2   ? get(p, op->reg, size)
                           : form < 4 ? get_rm(p, op, size)
                                      : op->imm;
        if (form > 5)
            unknown(p, op);
        value = binary(p, which, size, a, b);
        if (which == 7)
            return;
        if (form < 2)
            set_rm(p, op, size, value);
        else
            set(p, form < 4 ? op->reg : RAX, size, value);
        return;
    }
    if (code >= 0x70 && code <= 0x7f) {
        if (holds(p, code))
            p->ip += op->imm;
        return;
    }
    switch (code) {
    case 0x50:
    case 0x51:
    case 0x52:
    case 0x53:
    case 0x54:
    case 0x55:
    case 0x56:
    case 0x57: push(p, p->r[op->rm]); return;
    case 0x58:
    case 0x59:
    case 0x5a:
    case 0x5b:
    case 0x5c:
    case 0x5d:
    case 0x5e:
    case 0x5f:
        value = pop(p);
        p->r[op->rm] = value;
        return;
    case 0x63: set(p, op->reg, size, (uint64_t)extended(get_rm(p, op, 4), 4)); return;
    case 0x68:
    case 0x6a: push(p, op->imm); return;
    case 0x69:
    case 0x6b:
        set(p, op->reg, size, product(p, size, get_rm(p, op, size), op->imm));
        return;
    case 0x80:
    case 0x81:
    case 0x83:
        value = binary(p, op->which, size, get_rm(p, op, size), op->imm);
        if ((op->which) != 7)
            set_rm(p, op, size, value);
        return;
    case 0x84:
    case 0x85: binary(p, 8, size, get_rm(p, op, size), get(p, op->reg, size)); return;
    case 0x86:
    case 0x87:
        value = get_rm(p, op, size);
        set_rm(p, op, size, get(p, op->reg, size));
        set(p, op->reg, size, value);
        return;
    case 0x88:
    case 0x89: set_rm(p, op, size, get(p, op->reg, size)); return;
    case 0x8a:
    case 0x8b: set(p, op->reg, size, get_rm(p, op, size)); return;
    case 0x8d:
        if (op->rm == MEMORY)
            set(p, op->reg, size, address_of(p, op));
        else
            unknown(p, op);
        return;
    case 0x8f:
        value = pop(p);
        set_rm(p, op, 8, value);
        return;
    case 0x90:
    case 0x91:
    case 0x92:
    case 0x93:
    case 0x94:
    case 0x95:
    case 0x96:
    case 0x97:
        if (op->rm == RAX)
            return; /* nop, pause */
        value = get(p, RAX, size);
        set(p, RAX, size, get(p, op->rm, size));
        set(p, op->rm, size, value);
        return;
    case 0x98: set(p, RAX, size, (uint64_t)extended(p->r[RAX], size / 2)); return;
    case 0x99: set(p, RDX, size, extended(p->r[RAX], size) < 0 ? ~0ull : 0); return;
    case 0xa4:
    case 0xa5: string(p, op, true); return;
    case 0xaa:
    case 0xab: string(p, op, false); return;
    case 0xa8:
    case 0xa9: binary(p, 8, size, get(p, RAX, size), op->imm); return;
    case 0xb0:
    case 0xb1:
    case 0xb2:
    case 0xb3:
    case 0xb4:
    case 0xb5:
    case 0xb6:
    case 0xb7:
    case 0xb8:
    case 0xb9:
    case 0xba:
    case 0xbb:
    case 0xbc:
    case 0xbd:
    case 0xbe:
    case 0xbf: set(p, op->rm, size, op->imm); return;
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        value = code < 0xd0 ? op->imm : code < 0xd2 ? 1 : p->r[RCX];
        set_rm(p, op, size, shift(p, op->which, size, get_rm(p, op, size), value));
        return;
    case 0xc3: jump(p, pop(p)); return;
    case 0xc6:
    case 0xc7: set_rm(p, op, size, op->imm); return;
    case 0xc9:
        p->r[RSP] = p->r[RBP];
        p->r[RBP] = pop(p);
        return;
    case 0xe8: call(p, p->ip + op->imm); return;
    case 0xe9:
    case 0xeb: jump(p, p->ip + op->imm); return;
    case 0xf6:
    case 0xf7: group_3(p, op); return;
    case 0xfe:
    case 0xff: group_5(p, op); return;
    }
    p->ip -= op->length;
    unknown(p, op);
}

void processor_run(struct processor *p, uint64_t entry)
{
    const uint64_t before = p->ip;
    push(p, OUT);
    p->ip = entry;
    while (p->ip != OUT) {
        const struct op *op = next_op(p);
        if (!op) { /* a jump where a call would be: the function returns for us */
            leave_for(p, p->ip);
            continue;
        }
        count_instructions(p, 1);
        p->ip += op->length;
        if (op->code < TWO_BYTES)
            one_byte_op(p, op);
        else
            two_byte_op(p, op);
    }
    p->ip = before;
}
