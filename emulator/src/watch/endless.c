/* A thread that waits for another's store, in a loop. On a GPU the other runs meanwhile;
 * here it runs when this one gives way, and it does so once its waiting shows in a proof:
 * two rounds of the loop that begin with the same registers, the same stack and the same
 * values read, and store nothing in between, are followed by a third, until another thread
 * has stored something. What counts as a round's beginning is a read, or a basic block of
 * the program. A thread is watched for some accesses whenever it has run for long
 * without a pause, or comes where one has waited before, so other threads pay nothing for
 * it. When that happens depends on a clock; what comes of it does not. Where no other
 * thread can go on, the loop is endless.
 *
 * Of a loop that counts its rounds there is no such proof. Who does nothing but read what
 * is atomic or volatile for that long gives way as well, and goes on where nobody else
 * can. */
#include "watch/endless.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/now.h"
#include "block/fibers.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/touch.h"

enum { LONG_RUN_US = 50 * 1000, LOOKS = 512 };
static unsigned looks;
static unsigned long long pauses_seen, steps_seen;
static uint64_t remembered_state; /* of a look before this one; 0 where something has been
                                     stored since */
/* How often it has come back: what follows once is the loop's first round, and from the
 * second time on it is proven. */
static unsigned times_back;
/* Of that round, the lowest addresses in the program: of a look, and of an access, an atomic
 * or volatile one if there is any. */
static const void *first_in_loop, *first_access;
static bool access_is_strong;
static bool only_reads;   /* nothing has been stored while this thread is watched */
static unsigned accesses; /* in that round */
/* emu_now.pauses, if the running thread has waited before and stored nothing since. */
static unsigned long long quiet;
static jmp_buf registers;
static struct {
    const void *address;
    size_t bytes;
    uint64_t before;
} last_atomic; /* Only a later look can tell whether it stored anything new. */

static volatile bool ticking, watch_begins;

void emu_watch(void)
{
    watch_begins = true;
    emu_attention |= EMU_WATCHED;
}

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
    } else if (steps_seen == emu_now.steps) {
        emu_watch();
    }
    steps_seen = emu_now.steps;
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

__attribute__((noinline)) static void clear_below(void)
{
    volatile char below[4096];
    for (size_t i = 0; i < sizeof below; i++) below[i] = 0;
}

void emu_leave_no_trace(void)
{
    if (emu_attention & EMU_WATCHED) clear_below();
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

/* ---- to give way ---- */

const void *emu_waited_at[EMU_WAITED_AT], *emu_strong_before[2];

struct wait {
    unsigned long long steps; /* a later one may have stored what is waited for */
    const void *pc;
    const void *read; /* by the loop, perhaps beside others */
    const void *word; /* NULL if the loop reads more than this one, of up to 16 bytes */
    size_t bytes;
    char seen[16];
};

static bool others_may_have_stored(void *waiting)
{
    const struct wait *const w = waiting;
    return emu_now.steps > w->steps &&
           !(w->word && memcmp(w->word, w->seen, w->bytes) == 0);
}

static bool nobody_can(void *waiting, enum emu_stuck how)
{
    const struct wait *const w = waiting;
    char why[200] = "";
    if (how != EMU_SAY_WHAT) return false;
    const struct emu_allocation *const a = emu_allocation_of(w->read);
    if (emu_now.blocks_outside)
        snprintf(why, sizeof why,
                 ": %llu block%s not begun, as no more fit on the GPU at once",
                 emu_now.blocks_outside, emu_now.blocks_outside > 1 ? "s have" : " has");
    else if (a && a->type != cudaMemoryTypeDevice)
        snprintf(
            why, sizeof why,
            ". Should the host do so: on a GPU it can, but here a launch returns only "
            "when its kernel has ended, and till then other threads of the host wait");
    emu_fault(w->pc,
              "endless loop: this thread reads the same values again and again, and no "
              "other thread can go on and change them%s",
              why);
}

/* For who counts its rounds: the loop may end by itself. */
static bool goes_on(void *waiting, enum emu_stuck how)
{
    (void)waiting;
    return how == EMU_GIVE_UP;
}

bool emu_waits_for_stores(const struct emu_fiber *f)
{
    return f->state == AT_CONDITION && (f->stuck == nobody_can || f->stuck == goes_on);
}

/* Until another thread has done something. Whoever has only waited again has not. */
static void give_way(const void *word, size_t bytes, const void *pc, bool proven)
{
    static unsigned next;
    for (unsigned i = 0; proven && emu_waited_at[i] != pc; i++)
        if (i == EMU_WAITED_AT - 1) {
            emu_waited_at[next++ % EMU_WAITED_AT] = pc;
            break;
        }
    emu_attention &= ~EMU_WATCHED;
    if (quiet == emu_now.pauses) emu_now.steps--;
    struct wait w = {
        emu_now.steps + 1, pc, word, NULL, bytes, ""}; /* this one's, when it stops */
    if (proven && accesses == 1 && bytes <= sizeof w.seen) {
        w.word = word;
        memcpy(w.seen, word, bytes);
    }
    emu_wait_until(others_may_have_stored, proven ? nobody_can : goes_on, &w);
    if (!proven) return; /* it may go on for long: watched again when it has */
    quiet = emu_now.pauses;
    emu_watch();
}

/* ---- looking ---- */

static void find_first(bool is_access, bool strong, const void *pc)
{
    if (!first_in_loop || pc < first_in_loop) first_in_loop = pc;
    accesses += is_access;
    if (!is_access || strong < access_is_strong) return;
    if (!first_access || strong > access_is_strong || pc < first_access)
        first_access = pc;
    access_is_strong = strong;
}

static void begin(void)
{
    looks = times_back = 0;
    remembered_state = 0;
    last_atomic.bytes = 0;
    pauses_seen = emu_now.pauses;
    only_reads = true;
    watch_begins = false;
}

/* A thread's own variables are part of its state. */
static bool has_stored(const volatile void *p, enum emu_access kind)
{
    return (kind == WRITE && !emu_is_own(p)) ||
           (last_atomic.bytes &&
            hash_of(last_atomic.address, last_atomic.bytes) != last_atomic.before);
}

/* Before an access that is known to be legal, or in a basic block (n is 0). The caller's
 * frames, from this one's end on, are part of the state. */
bool emu_look(const volatile void *p, size_t n, enum emu_access kind, const void *pc)
{
    const char *stack = (const char *)__builtin_frame_address(0) + 2 * sizeof(void *);
    const enum emu_access basic = kind & BASIC_KIND;
    if (watch_begins) begin();
    const bool stored = has_stored(p, basic);
    if (stored) {
        remembered_state = 0;
        times_back = 0;
        quiet = 0;
        only_reads = false;
    }
    const bool strong = n > 0 && (basic == ATOMIC || kind & VOLATILE) && !emu_is_own(p);
    if (++looks > LOOKS && only_reads && strong && pauses_seen == emu_now.pauses) {
        give_way((const void *)p, n, pc, false);
        return true;
    }
    if (looks > (only_reads ? 2 * LOOKS : LOOKS) || pauses_seen != emu_now.pauses) {
        emu_attention &= ~EMU_WATCHED;
        quiet = 0;
    }
    /* A basic block may lie within the atomic, before it stores. */
    if (n > 0 || stored) {
        last_atomic.bytes = basic == ATOMIC ? n : 0;
        last_atomic.address = (const void *)p;
        last_atomic.before = hash_of(last_atomic.address, last_atomic.bytes);
    }
    if (basic == WRITE || !(emu_attention & EMU_WATCHED)) return false;
    uint64_t state = hash_of(registers, sizeof registers);
    state = mix(state, stack, (size_t)(emu_current->stack_high - stack));
    state = mix(mix(state, (const void *)p, n), &p, sizeof p);
    if (state == remembered_state && times_back++ == 0) {
        first_in_loop = first_access = NULL;
        access_is_strong = false;
        accesses = 0;
    }
    if (times_back == 1) find_first(n > 0 && !emu_is_own(p), strong, pc);
    if (times_back >= 2 && !first_access)
        emu_fault(first_in_loop,
                  "endless loop: nothing changes in it, and nothing is read (a flag that "
                  "is not volatile may be read once, before the loop)");
    if (times_back >= 2 && n > 0 && pc == first_access) {
        give_way((const void *)p, n, pc, true);
        return true;
    }
    if ((looks & (looks - 1)) == 0 && times_back == 0) remembered_state = state;
    return false;
}
