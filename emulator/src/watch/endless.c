/* A thread that waits for another's store. On a GPU the other runs meanwhile; here it
 * never would. That shows in a proof: two rounds of a loop that begin with the same
 * registers, the same stack and the same values read, and store nothing in between, are
 * followed by a third. What counts as a round's beginning is a read, or a basic block of
 * the program. A thread is watched for some accesses whenever it has run for long
 * without a pause, so other threads pay nothing for it. When that happens depends on a
 * clock; what is then found, and reported, does not. */
#include "watch/endless.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base/now.h"
#include "emulator_runtime.h"
#include "memory/touch.h"

enum { LONG_RUN_US = 200 * 1000, LOOKS = 512 };
static unsigned looks;
static unsigned long long pauses_seen;
static uint64_t remembered_state; /* of a look before this one; 0 where something has been
                                     stored since */
static const void *first_in_loop; /* once the state has come back: the access with the
                                     lowest address in the program */
static bool reads;                /* since the state has come back */
static jmp_buf registers;
static struct {
    const void *address;
    size_t bytes;
    uint64_t before;
} last_atomic; /* Only a later look can tell whether it stored anything new. */

static volatile bool ticking, watch_begins;

static void set_timer(int period_us)
{
    const struct timeval period = {0, period_us};
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){period, period}, NULL);
}

static void on_tick(int signal)
{
    (void)signal;
    if (!emu_now.launch) {
        set_timer(0);
        ticking = false;
    } else if (!(emu_attention & EMU_IDLE) && pauses_seen == emu_now.pauses) {
        watch_begins = true;
        emu_attention |= EMU_WATCHED;
    }
    pauses_seen = emu_now.pauses;
}

/* Counts the processor's time. The timer stops by itself some time after the last kernel,
 * which costs less than to start and stop it for each. Should there be none, only this
 * one fault is never found. */
void emu_watch_for_endless_loops(void)
{
    if (ticking) return;
    struct sigaction action = {.sa_handler = on_tick,
                               .sa_flags = SA_ONSTACK | SA_RESTART};
    ticking = true;
    sigaction(SIGVTALRM, &action, NULL);
    set_timer(LONG_RUN_US);
}

/* Apart from look(), because it must not touch any register before it has kept them all.
 */
void emu_keep_registers(void)
{
    if (_setjmp(registers)) abort();
}

static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
    for (const unsigned char *p = data; n > 0; p++, n--)
        hash = (hash ^ *p) * 0x100000001b3;
    return hash;
}

static uint64_t hash_of(const void *data, size_t n)
{
    return mix(0xcbf29ce484222325, data, n); /* FNV-1a */
}

void emu_forget_atomic(void)
{
    last_atomic.bytes = 0;
}

/* Before an access that is known to be legal, or in a basic block (n is 0). The caller's frames, from this one's end
 * on, are part of the state. */
void emu_look(const volatile void *p, size_t n, enum emu_access kind, const void *pc)
{
    const char *stack = (const char *)__builtin_frame_address(0) + 2 * sizeof(void *);
    if (watch_begins) {
        looks = 0;
        remembered_state = 0;
        first_in_loop = NULL;
        last_atomic.bytes = 0;
        watch_begins = false;
    }
    if (++looks > LOOKS || pauses_seen != emu_now.pauses) {
        emu_attention &= ~EMU_WATCHED;
    }
    const bool stored =
        hash_of(last_atomic.address, last_atomic.bytes) != last_atomic.before;
    if (kind == WRITE || stored) remembered_state = 0;
    /* A basic block may lie within the atomic, before it stores. */
    if (n > 0 || stored) {
        last_atomic.bytes = kind == ATOMIC ? n : 0;
        last_atomic.address = (const void *)p;
        last_atomic.before = hash_of(last_atomic.address, last_atomic.bytes);
    }
    if (kind == WRITE || !(emu_attention & EMU_WATCHED)) return;
    uint64_t state = hash_of(registers, sizeof registers);
    state = mix(state, stack, (size_t)(emu_current->stack_high - stack));
    state = mix(mix(state, (const void *)p, n), &p, sizeof p);
    if (n > 0) reads = true;
    if (state == remembered_state && first_in_loop)
        emu_fault(first_in_loop,
                  "endless loop: %s. Threads of a block run one after the other here: a "
                  "thread that waits for another's store must meet it at a barrier",
                  reads ? "this thread reads the same values again and again"
                        : "nothing changes in it, and nothing is read (a flag that is "
                          "not volatile may be read once, before the loop)");
    if (state == remembered_state) reads = n > 0;
    if (state == remembered_state || (first_in_loop && pc < first_in_loop))
        first_in_loop = pc;
    if ((looks & (looks - 1)) == 0 && !first_in_loop) remembered_state = state;
}
