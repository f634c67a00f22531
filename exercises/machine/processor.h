/* A processor in software, for machine code that nobody trusts.
 *
 * A student's file is compiled for the processor that this program runs on, but that
 * processor never gets to see it: each instruction is taken apart and done here, and
 * every address that it loads from, stores to or jumps to is looked at first. So the code
 * cannot reach the emulator's counts, a file, or anything else than its own variables,
 * its stack, and the memory that CUDA gives it; whatever it computes, what the lens
 * counted is true. */
#ifndef PROCESSOR_H
#define PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9 };

union vector { /* an xmm register */
    uint8_t b[16];
    uint32_t w[4];
    uint64_t q[2];
    float f[4];
    double d[2];
};

struct announced { /* an access that the lens has been told of and that has not come yet
                    */
    uint64_t at;
    uint32_t bytes, left;
    bool write, perhaps;
};

struct processor {
    uint64_t r[17]; /* the last is always 0 */
    uint64_t ip;
    union vector x[16];
    uint16_t flags; /* as lahf and seto give them: ah, and the overflow in al */
    uint64_t stack_low, stack_high;
    struct announced announced[32];
    unsigned announcements;
    uint64_t exchanged[32]; /* what the lanes brought to the last warp operation */
    uint64_t clock;
};

/* Runs the function at `entry` to its end: the arguments are in the registers already.
 * What the code does wrong ends the program with a fault. */
void processor_run(struct processor *p, uint64_t entry);
/* Counts `n` instructions, for work that the code has had done for it. A verdict must not
 * depend on how busy the machine is, so that is where a program is cut off that does not
 * end, and not after so many seconds. */
void count_instructions(const struct processor *p, uint64_t n);

/* ---- image.c: which addresses mean something ---- */

/* `n` bytes at `address`, if the code may load them (or store to them) at this moment; a
 * fault otherwise. In a kernel, memory that threads share needs an announcement. */
void *reach(struct processor *p, uint64_t address, size_t n, bool write);
/* The same for a function that does the access on the code's behalf and has told the lens
 * of it, or that moves what no lens counts. So many bytes count as instructions, too. */
void *reach_for_call(struct processor *p, uint64_t address, size_t n, bool write);
/* The same, and it tells the lens: for what the compiler announces nothing of. */
void *reach_and_tell(struct processor *p, uint64_t address, size_t n, bool write);
/* A variable that belongs to kernels from now on, though it lies among the host's: what
 * they leave there, the host shall not go on with. */
void *reach_kernels_own(struct processor *p, uint64_t address, size_t n);
/* Whether it is where cudaMalloc puts things, allocated or not. */
bool is_device_memory(uint64_t address, size_t n);
/* Refuses what begins among the device's variables and is in none of them, or begins in a
 * static variable of a kernel's and ends behind it; `what` is "a write", say. */
void check_variable(const struct processor *p, uint64_t address, size_t n,
                    const char *what);
/* What a host hands on without touching it: a place in the device's variables. */
void *reach_variable(struct processor *p, uint64_t address, size_t n);
/* A string of at most `most` characters; one of which the lens is told; and one that
 * cannot change, a literal. */
const char *reach_text(struct processor *p, uint64_t address, size_t most);
const char *reach_text_and_tell(struct processor *p, uint64_t address, size_t most);
const char *reach_fixed_text(struct processor *p, uint64_t address);
/* The lens has been told of an access: it may happen once. `perhaps`: or never. */
void announce(struct processor *p, uint64_t address, size_t n, bool write, bool perhaps);
/* The thread has ended: no more of its accesses will come. */
void drop_announcements(struct processor *p);

extern uint64_t text_low, text_high; /* the code */

/* Ends the program: `format` says what the code has done, at its present instruction. */
void refuse(const struct processor *p, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* ---- calls.c: the functions outside that it may call ---- */

/* Calls the function whose address the code has jumped to; a fault if there is none. */
void call_outside(struct processor *p, uint64_t address);

#endif
