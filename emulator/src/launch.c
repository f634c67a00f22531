/* A kernel launch: every CUDA thread is a fiber, and a block's fibers run one after the
 * other, each until it needs the others (a barrier, a warp operation) or ends.
 *
 * One operating-system thread runs everything. That makes every run repeat itself
 * exactly, faults included, and costs little: a switch between fibers takes a few
 * nanoseconds. Blocks run in the order x, y, z.
 */
#include "emulator.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    WARP = 32,
    MAX_THREADS = EMU_MAX_THREADS,
    MAX_WARPS = EMU_MAX_WARPS,
    MAX_BLOCKS = 16, /* of a cluster */
    BLOCK_THREADS = 1024,
    MAX_ARRAYS = 256
};
enum { STACK_BYTES = 256 * 1024 };
enum { STATIC_OFFSET = 256 * 1024, ARRAY_GAP = 128, DEFAULT_SHARED = 48 * 1024 };
/* The alignment of dynamic shared memory while no declaration in a function was seen:
 * what one outside asks for, nobody says. */
enum { UNDECLARED = 1 << 30 };

/* ---- switching stacks
 * ------------------------------------------------------------------------------------
 * emu_switch saves the registers that the calling convention lets a function rely on,
 * leaves the stack pointer in *save, and continues on the stack `load`. It ends in an
 * indirect jump, not a return: the processor predicts returns from the calls it has seen,
 * and a change of stack makes every such prediction wrong. */
#if defined(__x86_64__)
void emu_switch(void **save, void *load);
__asm__(".text\n"
        ".globl emu_switch\n"
        ".type emu_switch, @function\n"
        "emu_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    popq %rcx\n"
        "    jmp *%rcx\n"
        ".size emu_switch, .-emu_switch\n");

static void *first_frame(char *top, void (*entry)(void))
{
    /* At a function's first instruction the stack pointer is 8 past a multiple of 16. */
    void **sp = (void **)(top - 16);
    sp[0] = (void *)entry;
    sp[1] = NULL;
    sp -= 6;
    memset(sp, 0, 6 * sizeof *sp);
    return sp;
}
#elif defined(__aarch64__)
void emu_switch(void **save, void *load);
__asm__(".text\n"
        ".globl emu_switch\n"
        ".type emu_switch, %function\n"
        "emu_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    mov x16, x30\n"
        "    br x16\n"
        ".size emu_switch, .-emu_switch\n");

static void *first_frame(char *top, void (*entry)(void))
{
    char *sp = top - 160;
    memset(sp, 0, 160);
    memcpy(sp + 88, &entry, sizeof entry); /* x30, where the switch jumps to */
    return sp;
}
#else
/* An unknown processor: the C library's contexts. About fifty times slower a switch, and
 * always there. */
#include <ucontext.h>

struct context {
    ucontext_t user;
};

static void emu_switch(void **save, void *load)
{
    struct context here;
    *save = &here;
    swapcontext(&here.user, &((struct context *)load)->user);
}

static void *first_frame(char *top, void (*entry)(void))
{
    struct context *context = (struct context *)(top - sizeof *context - 64);
    getcontext(&context->user);
    context->user.uc_stack.ss_sp = top - STACK_BYTES;
    context->user.uc_stack.ss_size = STACK_BYTES - sizeof *context - 128;
    context->user.uc_link = NULL;
    makecontext(&context->user, entry, 0);
    return context;
}
#endif

/* ---- the block that is running
 * --------------------------------------------------------------------------- */

enum state {
    RUNNABLE,
    AT_BARRIER,
    AT_GRID_BARRIER,
    AT_WARP,
    AT_ACTIVE_MASK,
    AT_CONDITION,
    DONE
};

struct pending_copy { /* one cp.async that has not arrived */
    void *shared;
    const void *pc;
    unsigned bytes, group;
    unsigned shared_loads; /* of its thread, when it was started */
    unsigned char data[16];
};

struct thread {
    struct emu_thread seen; /* what the other parts of the runtime may look at */
    void *sp;               /* where to continue; NULL before the first run */
    int stack;              /* index into the pool, -1 without one */
    enum state state;
    const void *pc;     /* of the call that waits */
    int predicate;      /* brought to a barrier */
    unsigned mask;      /* of a warp operation; the result of an active-mask query */
    unsigned came;      /* the lanes that took part in the last warp operation */
    bool orders_memory; /* the warp operation is a __syncwarp */
    const char *kind;   /* of the warp operation, for messages */
    unsigned long long value;
    bool (*ready)(void *); /* of a condition: see emu_wait_until */
    bool (*stuck)(void *, enum emu_stuck how);
    void *condition;

    struct pending_copy *copies;
    unsigned copy_count, copy_capacity, groups_committed;
    unsigned shared_loads; /* with the lens: so far */
};

/* Of each block that runs at the same time, one window. */
char emu_dynamic_shared[EMU_SHARED_BYTES] __attribute__((aligned(1024)));

/* The blocks of a cluster run together; most kernels have clusters of one. Each block has
 * whole warps of places here, of which the last may be unused. */
static struct thread *threads;
static unsigned places; /* that have been made for them */
static unsigned block_count, block_threads, block_warps, warp_count;
static uint3 cluster, cluster_origin; /* in blocks */
static uint3 declared_cluster;        /* what the kernel says of itself, 0 for nothing */
static uint3 block_index[MAX_BLOCKS];
static unsigned long long
    exchanged[MAX_WARPS][WARP]; /* what the lanes brought to the last warp operation */
static int barrier_result[MAX_BLOCKS];
static void *scheduler_sp;
static unsigned long long steps;
static unsigned parked; /* threads at a condition */
static unsigned threads_left;

static char *stacks;
static unsigned stack_count; /* as many as the largest launch so far has had threads */
static size_t guard_bytes;   /* a page below each, which nobody may touch */
static int *free_stacks, free_stack_count;

static struct emu_shared_extent arrays[MAX_ARRAYS * MAX_BLOCKS];
static unsigned array_count;
static size_t static_bytes; /* as the compiler would lay the arrays out, for the limit */
static size_t static_end;   /* as we do, with gaps */
static unsigned long long launch_number;
static int refusal;     /* why the kernel itself refuses the launch, 0 if it does not */
static unsigned bounds; /* the threads that it allows, 0 if it does not say */

static struct thread *current(void)
{
    return (struct thread *)emu_current;
}

/* ---- stacks ---- */

static char *stack_low(int stack)
{
    return stacks + (size_t)stack * (STACK_BYTES + guard_bytes) + guard_bytes;
}

/* A host's stack grows when it is touched, and who has no room for that is killed without a
 * word. So it grows once at the beginning, to what the checks and their reports need. */
enum { HOST_STACK = 128 * 1024 };
static volatile sig_atomic_t host_stack_grows;

static void grow_host_stack(void)
{
    char all[HOST_STACK];
    host_stack_grows = true;
    for (volatile char *p = all + HOST_STACK; p > all;) *(p -= 1024) = 0;
    host_stack_grows = false;
}

static void on_segv(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    const char *address = info->si_addr;
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    if (host_stack_grows)
        emu_no_memory("for the host's stack, %d KB: see ulimit -s", HOST_STACK / 1024);
    if (emu_current) {
        const struct thread *t = current();
        if (address >= t->seen.stack_low - guard_bytes && address < t->seen.stack_low)
            emu_fault(NULL,
                      "local memory overflow: the thread's stack of %d KB is full "
                      "(a very large local array, or endless recursion)",
                      STACK_BYTES / 1024);
        emu_fault(NULL, "invalid address %p", (const void *)address);
    }
    if (address >= emu_memory_base && address < emu_memory_base + emu_memory_reserved)
        fprintf(stderr,
                "FAULT host code touched device memory at %p that is not allocated; "
                "copy with cudaMemcpy instead\n",
                (const void *)address);
    else
        fprintf(stderr, "FAULT segmentation fault in host code at address %p\n",
                (const void *)address);
    fflush(NULL);
    _exit(1);
}

/* Between launches no thread lives, and no stack is in use. */
static void make_stacks(unsigned count)
{
    guard_bytes = (size_t)sysconf(_SC_PAGESIZE);
    const size_t each = STACK_BYTES + guard_bytes;
    if (stacks) munmap(stacks, stack_count * each);
    stacks = mmap(NULL, count * each, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED)
        emu_no_memory("for the stacks of %u threads, %zu MB", count,
                      (count * each >> 20) + 1);
    stack_count = count;
    free_stacks = emu_resized(free_stacks, "for a list of stacks", count, sizeof(int));
    free_stack_count = 0;
    for (int i = (int)count - 1; i >= 0; i--) {
        /* A process may have 65,530 mappings, so that more stacks than these lie side by
         * side. */
        if (count <= 2 * MAX_THREADS &&
            mprotect(stack_low(i) - guard_bytes, guard_bytes, PROT_NONE) != 0)
            emu_no_memory("for guards between the stacks of %u threads", count);
        free_stacks[free_stack_count++] = i;
    }
}

/* The handler needs a stack of its own, for each thread of the host: the usual cause is
 * that the thread's is full. */
static void give_handler_stack(void)
{
    enum { HANDLER_STACK = 64 * 1024 };
    static _Thread_local bool given;
    if (given) return;
    given = true;
    stack_t stack = {.ss_sp = emu_zeros("for a signal's stack", HANDLER_STACK, 1),
                     .ss_size = HANDLER_STACK};
    sigaltstack(&stack, NULL);
}

__attribute__((constructor)) static void catch_segv(void)
{
    struct sigaction action = {.sa_sigaction = on_segv,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    give_handler_stack();
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    grow_host_stack();
}

/* ---- fibers ---- */

void emu_thread_exit(void)
{
    current()->state = DONE;
    void *never;
    emu_switch(&never, scheduler_sp);
    __builtin_unreachable();
}

static void fiber_main(void)
{
    emu_current_launch->run(emu_current_launch->arguments);
    emu_thread_exit();
}

static void resume(struct thread *t)
{
    if (!t->sp) {
        t->stack = free_stacks[--free_stack_count];
        t->seen.stack_low = stack_low(t->stack);
        /* A different offset for each stack, or 1,024 stack tops would share one set of
         * the cache. */
        t->seen.stack_high = t->seen.stack_low + STACK_BYTES - (t->stack % 48) * 64;
        t->sp = first_frame(t->seen.stack_high, fiber_main);
    }
    emu_current = &t->seen;
    emu_thread_idx = t->seen.index;
    emu_current_block = emu_block_idx = block_index[t->seen.rank];
    steps++;
    emu_switch(&scheduler_sp, t->sp);
    emu_check_thread_stops();
    emu_current = NULL;
    if (t->state == DONE) {
        threads_left--;
        emu_cluster_thread_ends(t->seen.linear);
        free_stacks[free_stack_count++] = t->stack;
        t->stack = -1;
    }
}

/* Called on a fiber: gives the processor back until somebody makes the thread runnable
 * again. */
static void wait_as(enum state state, const void *pc)
{
    struct thread *t = current();
    t->state = state;
    t->pc = pc;
    emu_switch(&t->sp, scheduler_sp);
}

void emu_yield(void)
{
    wait_as(RUNNABLE, NULL);
}

void emu_wait_until(bool (*ready)(void *), bool (*stuck)(void *, enum emu_stuck),
                    void *condition)
{
    if (ready(condition)) return;
    struct thread *t = current();
    t->ready = ready;
    t->stuck = stuck;
    t->condition = condition;
    parked++;
    wait_as(AT_CONDITION, NULL);
}

/* The first thing a thread of such a kernel does, so a refused launch has no effect but
 * its error. */
void emu_launch_bounds(unsigned threads_at_most)
{
    bounds = threads_at_most;
    if (block_threads <= threads_at_most) return;
    refusal = cudaErrorInvalidValue;
    wait_as(DONE, NULL);
}

/* Likewise: what a kernel says of its clusters is known only now, and the launch begins
 * again. */
void emu_cluster_dims(unsigned x, unsigned y, unsigned z)
{
    declared_cluster = (uint3){x, y, z};
    if (cluster.x != x || cluster.y != y || cluster.z != z) wait_as(DONE, NULL);
}

/* ---- warp operations ---- */

static unsigned lanes_of(unsigned warp)
{
    unsigned left = block_threads - warp % block_warps * WARP;
    return left < WARP ? left : WARP;
}

static unsigned present_lanes(unsigned warp)
{
    return ~0u >> (WARP - lanes_of(warp));
}

/* Whether two calls are one in the source. The compiler may have copied a call (an
 * unrolled loop, an inlined function): what counts is the line. A place that nobody knows
 * accuses nobody. */
static bool same_line(const void *pc, const void *other)
{
    if (pc == other) return true;
    struct emu_place here = emu_source_of(pc), there = emu_source_of(other);
    return here.line == there.line ? strcmp(here.file, there.file) == 0
                                   : here.line == 0 || there.line == 0;
}

/* Every lane of the mask waits: in one operation? Only __syncwarp() may be called from
 * several places (CUDA C++ programming guide, "Warp Synchronization Function": since
 * compute capability 7.0 it need not be the same one). */
static void check_operation(struct thread *first, const struct thread *other)
{
    const bool same_kind =
        other->kind == first->kind || strcmp(other->kind, first->kind) == 0;
    if (same_kind && (first->orders_memory || same_line(first->pc, other->pc))) return;
    struct emu_place there = emu_source_of(other->pc);
    emu_current = &first->seen;
    emu_fault(first->pc,
              "warp divergence: lane %u waits in %s here while lane %u waits in %s at "
              "%s:%d; all lanes of the mask "
              "0x%08x must meet in the same call",
              first->seen.lane, first->kind, other->seen.lane, other->kind, there.file,
              there.line, first->mask);
}

/* Whether a thread that has ended is missed where others meet. The hardware does without
 * it; the next change to the kernel may not. */
static bool counts_the_ended(void)
{
    return emu_checking && emu_settings.strict;
}

/* Lets the operation go on if every lane it names has come. A lane that has ended will
 * never come; the hardware does without it, and so do we where nobody wants mistakes to
 * be found. */
static bool release_operation(unsigned warp, struct thread *waiting)
{
    struct thread *lanes = threads + warp * WARP;
    const unsigned mask = waiting->mask, count = lanes_of(warp);
    unsigned came = 0;
    bool same = true;
    for (unsigned lane = 0; lane < count; lane++) {
        const struct thread *t = &lanes[lane];
        if (!(mask >> lane & 1) || (t->state == DONE && !counts_the_ended())) continue;
        if (t->state != AT_WARP || t->mask != mask) return false;
        came |= 1u << lane;
        same &= t->pc == waiting->pc && t->kind == waiting->kind;
    }
    for (unsigned lane = 0; lane < count && !same && emu_checking; lane++)
        if (came >> lane & 1) check_operation(waiting, &lanes[lane]);
    if (waiting->orders_memory)
        emu_check_warp_ordered(warp, came | ~present_lanes(warp));
    else
        emu_check_warp_met(warp, came);
    for (unsigned lane = 0; lane < count; lane++)
        if (came >> lane & 1) {
            exchanged[warp][lane] = lanes[lane].value;
            lanes[lane].came = came;
            lanes[lane].state = RUNNABLE;
        }
    return true;
}

static bool release_active_masks(unsigned warp)
{
    struct thread *lanes = threads + warp * WARP;
    bool released = false;
    unsigned count = lanes_of(warp);
    for (unsigned lane = 0; lane < count; lane++) {
        if (lanes[lane].state != AT_ACTIVE_MASK) continue;
        unsigned mask = 0;
        for (unsigned other = 0; other < count; other++)
            if (lanes[other].state == AT_ACTIVE_MASK && lanes[other].pc == lanes[lane].pc)
                mask |= 1u << other;
        for (unsigned other = 0; other < count; other++)
            if (mask >> other & 1) {
                lanes[other].state = RUNNABLE;
                lanes[other].mask = mask;
            }
        released = true;
    }
    return released;
}

/* Whether a lane waits for a condition that does not hold yet. */
static bool has_parked_lane(struct thread *lanes, unsigned count, unsigned *which)
{
    *which = 0;
    for (unsigned lane = 0; parked > 0 && lane < count; lane++) {
        if (lanes[lane].state != AT_CONDITION) continue;
        if (lanes[lane].ready(lanes[lane].condition)) {
            lanes[lane].state = RUNNABLE;
            parked--;
        } else {
            *which |= 1u << lane;
        }
    }
    return *which != 0;
}

/* Runs the warp until every lane waits for the whole block or has ended, or nothing can
 * move. While a lane waits for a condition, the others wait with it, as lanes do on a GPU
 * that will meet again behind a branch; `apart` lets them go on. Returns whether a lane
 * has run. */
static bool run_warp(unsigned warp, bool apart)
{
    struct thread *lanes = threads + warp * WARP;
    unsigned count = lanes_of(warp), waits;
    bool ran = false;
    if (emu_lens_on) emu_lens_warp_begins(warp);
    for (;;) {
        bool waiting = false, asking = false, released = false;
        unsigned can_continue = 0;
        if (has_parked_lane(lanes, count, &waits) && !apart) return ran;
        for (unsigned lane = 0; lane < count; lane++) {
            if (lanes[lane].state == RUNNABLE && (apart || !waits)) {
                resume(&lanes[lane]);
                ran = true;
                if (lanes[lane].state == AT_CONDITION) waits |= 1u << lane;
            }
            can_continue |= (unsigned)(lanes[lane].state == RUNNABLE) << lane;
            waiting |= lanes[lane].state == AT_WARP;
            asking |= lanes[lane].state == AT_ACTIVE_MASK;
        }
        if (emu_lens_on)
            emu_lens_merge(warp, apart ? can_continue : can_continue | waits);
        if (can_continue) continue;
        if (waits && !apart) continue;
        if (waiting)
            for (unsigned lane = 0; lane < count; lane++)
                if (lanes[lane].state == AT_WARP)
                    released |= release_operation(warp, &lanes[lane]);
        if (!released && asking) released = release_active_masks(warp);
        if (!released) return ran;
    }
}

static void fault_stuck_warp(struct thread *t)
{
    struct thread *lanes = threads + t->seen.warp * WARP;
    unsigned missing = 0, gone = 0, count = lanes_of(t->seen.warp);
    for (unsigned lane = 0; lane < count; lane++)
        if (t->mask >> lane & 1) {
            if (lanes[lane].state == DONE)
                gone |= counts_the_ended() ? 1u << lane : 0;
            else if (lanes[lane].state != AT_WARP || lanes[lane].mask != t->mask)
                missing |= 1u << lane;
        }
    emu_current = &t->seen;
    if (gone)
        emu_fault(t->pc,
                  "%s names lanes that do not exist or have ended: mask 0x%08x, of which "
                  "0x%08x "
                  "never come",
                  t->kind, t->mask, gone);
    emu_fault(t->pc,
              "warp divergence: %s waits for lanes 0x%08x of its mask 0x%08x, and they "
              "never reach it",
              t->kind, missing, t->mask);
}

const unsigned long long *emu_warp_gather(unsigned mask, unsigned long long value,
                                          const char *kind, const void *pc)
{
    struct thread *t = current();
    if (!(mask >> t->seen.lane & 1))
        emu_fault(pc, "%s: the calling lane %u is not in its own mask 0x%08x", kind,
                  t->seen.lane, mask);
    t->mask = mask;
    t->value = value;
    t->kind = kind;
    t->orders_memory = false;
    wait_as(AT_WARP, pc);
    return exchanged[t->seen.warp];
}

const unsigned long long *emu_warp_exchange(unsigned mask, unsigned long long value,
                                            const char *kind)
{
    return emu_warp_gather(mask, value, kind, __builtin_return_address(0));
}

unsigned long long emu_warp_shuffle(unsigned mask, unsigned long long value,
                                    unsigned from, const char *kind)
{
    const unsigned long long *all =
        emu_warp_gather(mask, value, kind, __builtin_return_address(0));
    from %= WARP;
    return current()->came >> from & 1 ? all[from] : ~0ull;
}

void emu_warp_sync_at(unsigned mask, const void *pc)
{
    struct thread *t = current();
    if (!(mask >> t->seen.lane & 1))
        emu_fault(pc, "__syncwarp: the calling lane %u is not in its own mask 0x%08x",
                  t->seen.lane, mask);
    /* The full mask on a block's last, partial warp means the lanes that exist. */
    t->mask = mask & present_lanes(t->seen.warp);
    t->kind = "__syncwarp";
    t->orders_memory = true;
    wait_as(AT_WARP, pc);
}

void emu_warp_sync(unsigned mask)
{
    emu_warp_sync_at(mask, __builtin_return_address(0));
}

unsigned emu_lanes_that_came(void)
{
    return current()->came;
}

unsigned emu_active_mask_at(const void *pc)
{
    wait_as(AT_ACTIVE_MASK, pc);
    return current()->mask;
}

unsigned emu_active_mask(void)
{
    return emu_active_mask_at(__builtin_return_address(0));
}

unsigned emu_lane(void)
{
    return emu_current ? emu_current->lane : 0;
}
unsigned emu_warp(void)
{
    return emu_current ? emu_current->block_warp : 0;
}
unsigned long long emu_clock(void)
{
    return ++steps;
}
unsigned long long emu_pauses(void)
{
    return steps;
}

/* ---- barriers ---- */

int emu_barrier_at(int predicate, enum emu_barrier_op op, const void *pc)
{
    struct thread *t = current();
    t->predicate = predicate;
    t->value = op;
    wait_as(AT_BARRIER, pc);
    return barrier_result[t->seen.rank];
}

int emu_barrier(int predicate, enum emu_barrier_op op)
{
    return emu_barrier_at(predicate, op, __builtin_return_address(0));
}

/* The threads of a block of the cluster: places [of, of + block_threads). */
static struct thread *block_of(unsigned rank)
{
    return threads + rank * block_warps * WARP;
}

/* Every thread that has not ended waits at a barrier: is it one barrier? */
static void check_barrier(unsigned rank, const struct thread *first, unsigned arrived)
{
    const struct thread *block = block_of(rank);
    if (!emu_settings.strict) return;
    if (arrived < block_threads) {
        unsigned ended = block_threads - arrived;
        const struct thread *one = block;
        while (one->state != DONE) one++;
        emu_current = (struct emu_thread *)&first->seen;
        emu_fault(first->pc,
                  "barrier divergence: %u of %u threads wait at this barrier, "
                  "%u returned without reaching it (thread (%u,%u,%u) is one)",
                  arrived, block_threads, ended, one->seen.index.x, one->seen.index.y,
                  one->seen.index.z);
    }
    for (unsigned i = 0; i < block_threads; i++) {
        if (same_line(first->pc, block[i].pc)) continue;
        struct emu_place there = emu_source_of(block[i].pc);
        emu_current = (struct emu_thread *)&first->seen;
        emu_fault(
            first->pc,
            "barrier divergence: this thread waits here while thread (%u,%u,%u) "
            "waits at %s:%d; "
            "all threads of a block must meet at the same __syncthreads() (where each "
            "reaches as many, the hardware goes on, and so does STRICT=0)",
            block[i].seen.index.x, block[i].seen.index.y, block[i].seen.index.z,
            there.file, there.line);
    }
}

/* Asks those who wait for a condition that nobody can bring about; see emu_wait_until. */
static bool give_up_conditions(enum emu_stuck how)
{
    bool any = false;
    for (struct thread *t = threads; parked > 0 && t < block_of(block_count); t++) {
        if (t->state != AT_CONDITION) continue;
        emu_current = &t->seen;
        emu_current_block = block_index[t->seen.rank];
        if (!t->stuck(t->condition, how)) continue;
        t->state = RUNNABLE;
        parked--;
        any = true;
    }
    emu_current = NULL;
    return any;
}

/* Lets a block's threads go on that wait at its barrier, if they all do. */
static bool release_barrier(unsigned rank)
{
    struct thread *const block = block_of(rank), *first = NULL;
    unsigned arrived = 0, holds = 0;
    for (struct thread *t = block; t < block + block_threads; t++) {
        if (t->state == DONE) continue;
        if (t->state != AT_BARRIER) return false;
        if (!first) first = t;
        arrived++;
        holds += t->predicate != 0;
    }
    if (!arrived) return false;
    emu_current_block = block_index[rank];
    if (emu_checking) check_barrier(rank, first, arrived);
    barrier_result[rank] = first->value == EMU_BARRIER_COUNT ? (int)holds
                           : first->value == EMU_BARRIER_AND ? holds == arrived
                                                             : holds != 0;
    for (struct thread *t = block; t < block + block_threads; t++)
        if (t->state == AT_BARRIER) t->state = RUNNABLE;
    emu_check_barrier_passed(block->seen.linear, block_threads);
    return true;
}

/* No thread can go on by itself. Returns whether one can now; a mistake is reported. */
static bool release_blocks(void)
{
    bool any = false;
    for (unsigned rank = 0; rank < block_count; rank++) any |= release_barrier(rank);
    for (enum emu_stuck how = EMU_GIVE_UP; !any && how <= EMU_SAY_WHAT; how++)
        any = give_up_conditions(how);
    for (struct thread *t = threads; !any && t < block_of(block_count); t++)
        if (t->state == AT_WARP) {
            emu_current_block = block_index[t->seen.rank];
            fault_stuck_warp(t);
        }
    return any;
}

/* ---- the grid's barrier ---- */

void emu_grid_barrier(void)
{
    const void *pc = __builtin_return_address(0);
    if (!emu_current_launch->cooperative)
        emu_fault(pc, "a barrier of the grid needs a cooperative launch "
                      "(cudaLaunchCooperativeKernel)");
    wait_as(AT_GRID_BARRIER, pc);
}

int emu_launch_is_cooperative(void)
{
    return emu_current_launch && emu_current_launch->cooperative;
}

/* The blocks of a cooperative launch wait for each other, so each has places for its
 * threads, and its shared memory is put aside while others run. */
struct resident {
    struct thread *threads;
    uint3 origin;
    bool waits;   /* at the grid's barrier */
    char *shared; /* of each of its blocks: dynamic memory and then the static arrays */
    uint8_t *known;
    size_t static_kept;
    struct emu_mbarriers *barriers;
};

static size_t shared_parts(unsigned rank, size_t static_bytes_kept, char *part[2],
                           size_t bytes[2])
{
    part[0] = emu_dynamic_shared + rank * EMU_WINDOW_BYTES;
    bytes[0] = (emu_current_launch->dynamic_shared + 3) / 4 * 4;
    part[1] = part[0] + STATIC_OFFSET;
    bytes[1] = (static_bytes_kept + 3) / 4 * 4;
    return bytes[0] + bytes[1];
}

static void put_aside(struct resident *r)
{
    r->static_kept = static_end - STATIC_OFFSET;
    r->barriers = emu_mbarriers_put_aside(r->barriers);
    char *part[2];
    size_t bytes[2], size = shared_parts(0, r->static_kept, part, bytes) * block_count;
    r->shared = emu_resized(r->shared, "for the shared memory of a grid", size + 1, 1);
    r->known = emu_resized(r->known, "for the shared memory of a grid", size / 4 + 1, 1);
    char *to = r->shared;
    for (unsigned i = 0; i < 2 * block_count; i++) {
        shared_parts(i / 2, r->static_kept, part, bytes);
        memcpy(to, part[i % 2], bytes[i % 2]);
        emu_check_keep_known(part[i % 2], bytes[i % 2], r->known + (to - r->shared) / 4);
        to += bytes[i % 2];
    }
}

static void bring_back(const struct resident *r)
{
    char *part[2];
    size_t bytes[2];
    const char *from = r->shared;
    emu_mbarriers_bring_back(r->barriers);
    for (unsigned i = 0; i < 2 * block_count; i++) {
        shared_parts(i / 2, r->static_kept, part, bytes);
        memcpy(part[i % 2], from, bytes[i % 2]);
        emu_check_restore_known(part[i % 2], bytes[i % 2],
                                r->known + (from - r->shared) / 4);
        from += bytes[i % 2];
    }
}

/* Whether the cluster that has run so far waits at the grid's barrier; all of it must. */
static bool waits_for_grid(void)
{
    const struct thread *waiting = NULL, *other = NULL;
    for (unsigned rank = 0; rank < block_count; rank++)
        for (struct thread *t = block_of(rank); t < block_of(rank) + block_threads; t++)
            if (t->state == AT_GRID_BARRIER)
                waiting = t;
            else if (t->state != DONE || counts_the_ended())
                other = t;
    if (!waiting || !other) return waiting;
    emu_current = (struct emu_thread *)&waiting->seen;
    emu_fault(waiting->pc,
              "barrier divergence: this thread waits for the whole grid while thread "
              "(%u,%u,%u) of its block %s",
              other->seen.index.x, other->seen.index.y, other->seen.index.z,
              other->state == DONE ? "has ended" : "waits elsewhere");
}

/* ---- clusters ---- */

unsigned emu_blocks_together(void)
{
    return block_count;
}

uint3 emu_cluster_size(void)
{
    return cluster;
}

unsigned emu_thread_places(void)
{
    return block_count * block_warps * WARP;
}

bool emu_block_has_ended(unsigned rank)
{
    for (const struct thread *t = block_of(rank); t < block_of(rank) + block_threads; t++)
        if (t->state != DONE) return false;
    return true;
}

void emu_name_thread(unsigned linear, char *text, size_t size)
{
    const struct emu_thread *t = &threads[linear].seen;
    const uint3 block = block_index[t->rank];
    if (block_count == 1)
        snprintf(text, size, "(%u,%u,%u)", t->index.x, t->index.y, t->index.z);
    else
        snprintf(text, size, "(%u,%u,%u) of block (%u,%u,%u)", t->index.x, t->index.y,
                 t->index.z, block.x, block.y, block.z);
}

unsigned emu_threads_left(void)
{
    return threads_left;
}

/* ---- shared memory ---- */

static size_t largest_power(size_t powers)
{
    return (size_t)1 << (63 - __builtin_clzll(powers));
}

void *emu_dynamic_array(size_t alignments)
{
    struct emu_shared_extent *array = &arrays[emu_current->rank];
    if (emu_current_launch->dynamic_shared) {
        if (array->alignment == UNDECLARED) array->alignment = 16;
        array->alignment = largest_power(alignments | array->alignment);
    }
    return emu_dynamic_shared + emu_current->rank * EMU_WINDOW_BYTES;
}

void *emu_shared_array(struct emu_shared_site *site, size_t bytes, size_t alignments,
                       const char *name)
{
    const size_t window = emu_current->rank * EMU_WINDOW_BYTES;
    if (site->launch == launch_number) return (char *)site->place + window;
    /* A kernel that was allowed more dynamic memory may fill up what a block can have on
     * this GPU. */
    const bool raised =
        emu_dynamic_shared_limit(emu_current_launch->address) > DEFAULT_SHARED;
    const size_t limit = raised ? emu_gpu()->prop.sharedMemPerBlockOptin : DEFAULT_SHARED;
    static_bytes = (static_bytes + 15) / 16 * 16 + bytes;
    if (static_bytes > DEFAULT_SHARED)
        emu_fault(__builtin_return_address(0),
                  "too much shared memory: the __shared__ arrays need %zu bytes, and a "
                  "kernel may declare "
                  "%d (ask for more with extern __shared__ and cudaFuncSetAttribute)",
                  static_bytes, DEFAULT_SHARED);
    if (static_bytes + emu_current_launch->dynamic_shared > limit)
        emu_fault(
            __builtin_return_address(0),
            "too much shared memory: %zu bytes static and %zu dynamic, the limit is %zu",
            static_bytes, emu_current_launch->dynamic_shared, limit);
    if (array_count + block_count > MAX_ARRAYS * block_count)
        emu_fault(__builtin_return_address(0),
                  "more than %d __shared__ arrays in one kernel", MAX_ARRAYS);
    const size_t alignment = largest_power(alignments);
    static_end = (static_end + alignment - 1) / alignment * alignment;
    char *place = emu_dynamic_shared + static_end;
    for (unsigned rank = 0; rank < block_count; rank++) {
        char *base = place + rank * EMU_WINDOW_BYTES;
        arrays[array_count++] = (struct emu_shared_extent){name, base, bytes, alignment};
        memset(base, 0xff, bytes);
    }
    /* The gap behind each array is nobody's, so that running past the end is seen. */
    static_end = (static_end + bytes + ARRAY_GAP + 127) / 128 * 128;
    site->launch = launch_number;
    site->place = place;
    return place + window;
}

size_t emu_shared_in_use(void)
{
    return static_bytes + emu_current_launch->dynamic_shared;
}

const struct emu_shared_extent *emu_find_shared(const void *p)
{
    const struct emu_shared_extent *nearest = NULL;
    for (unsigned i = 0; i < array_count; i++)
        if (arrays[i].base <= (const char *)p &&
            (!nearest || arrays[i].base > nearest->base))
            nearest = &arrays[i];
    return nearest;
}

/* PTX's addresses in shared memory: dynamic memory from 0 on, then the static arrays. The
 * descriptors of wgmma have room for 18 bits. */
static size_t static_address(void)
{
    return (emu_current_launch->dynamic_shared + 1023) / 1024 * 1024;
}

/* The block of a cluster stands in the bits above. */
enum { RANK_SHIFT = 24 };

uint32_t emu_shared_address(const void *p, const void *pc)
{
    const size_t whole = (size_t)((const char *)p - emu_dynamic_shared),
                 offset = whole % EMU_WINDOW_BYTES, rank = whole / EMU_WINDOW_BYTES;
    if (whole >= EMU_SHARED_BYTES) emu_fault(pc, "%p is not in shared memory", p);
    return (uint32_t)(rank << RANK_SHIFT) +
           (uint32_t)(offset < STATIC_OFFSET ? offset
                                             : offset - STATIC_OFFSET + static_address());
}

char *emu_shared_place(uint64_t address, size_t bytes, const void *pc)
{
    const size_t static_from = static_address();
    const uint64_t rank = address >> RANK_SHIFT,
                   within = address & ((1u << RANK_SHIFT) - 1);
    const bool is_static = static_end > STATIC_OFFSET && within >= static_from;
    const uint64_t offset = is_static ? within - static_from + STATIC_OFFSET : within;
    if (rank >= block_count || offset + bytes > EMU_WINDOW_BYTES)
        emu_fault(pc,
                  "out of bounds: 0x%llx is no address in shared memory (PTX wants what "
                  "__cvta_generic_to_shared() gives, not a pointer)",
                  (unsigned long long)address);
    return emu_dynamic_shared + rank * EMU_WINDOW_BYTES + offset;
}

uint32_t emu_shared_address_in(uint32_t address, unsigned rank, const void *pc)
{
    if (rank >= block_count)
        emu_fault(pc, "block %u of a cluster of %u", rank, block_count);
    return rank << RANK_SHIFT | (address & ((1u << RANK_SHIFT) - 1));
}

char *emu_shared_place_in(const void *p, unsigned rank, const void *pc)
{
    const size_t whole = (size_t)((const char *)p - emu_dynamic_shared);
    if (whole >= EMU_SHARED_BYTES) emu_fault(pc, "%p is not in shared memory", p);
    if (rank >= block_count)
        emu_fault(pc, "block %u of a cluster of %u", rank, block_count);
    return emu_dynamic_shared + rank * EMU_WINDOW_BYTES + whole % EMU_WINDOW_BYTES;
}

unsigned emu_shared_rank(const void *p)
{
    return (unsigned)((size_t)((const char *)p - emu_dynamic_shared) / EMU_WINDOW_BYTES);
}

/* ---- cp.async ---- */

void emu_async_copy(void *shared, const void *global, size_t bytes, size_t zero_fill,
                    const void *pc)
{
    struct thread *t = current();
    if (bytes != 4 && bytes != 8 && bytes != 16)
        emu_fault(pc, "an asynchronous copy moves 4, 8 or 16 bytes, not %zu", bytes);
    if (zero_fill > bytes) zero_fill = bytes;
    if (t->copy_count == t->copy_capacity) {
        t->copy_capacity = t->copy_capacity ? 2 * t->copy_capacity : 16;
        t->copies = emu_resized(t->copies, "for a pending asynchronous copy",
                                t->copy_capacity, sizeof *t->copies);
    }
    emu_check_async_issue(shared, global, bytes, zero_fill, pc);
    if (emu_lens_on)
        emu_lens_async_copy(shared, global, bytes, zero_fill, pc,
                            __builtin_frame_address(0));
    struct pending_copy *copy = &t->copies[t->copy_count++];
    *copy = (struct pending_copy){.shared = shared,
                                  .pc = pc,
                                  .bytes = (unsigned)bytes,
                                  .group = t->groups_committed,
                                  .shared_loads = t->shared_loads};
    memcpy(copy->data, global, bytes - zero_fill);
}

void emu_count_shared_load(void)
{
    current()->shared_loads++;
}

void emu_async_commit(void)
{
    current()->groups_committed++;
}

void emu_async_wait(unsigned groups_that_may_remain)
{
    struct thread *t = current();
    unsigned kept = 0;
    for (unsigned i = 0; i < t->copy_count; i++) {
        struct pending_copy *copy = &t->copies[i];
        if (copy->group < t->groups_committed &&
            t->groups_committed - copy->group > groups_that_may_remain) {
            emu_check_async_arrival(copy->shared, copy->bytes, copy->pc);
            memcpy(copy->shared, copy->data, copy->bytes);
            if (emu_lens_on) emu_lens_copy_arrived(t->shared_loads - copy->shared_loads);
        } else {
            t->copies[kept++] = *copy;
        }
    }
    t->copy_count = kept;
}

void emu_async_arrive(uint64_t *barrier, bool no_increment, const void *pc)
{
    struct thread *t = current();
    struct emu_bulk_copy *first = NULL, **last = &first;
    for (unsigned i = 0; i < t->copy_count; i++) {
        const struct pending_copy *from = &t->copies[i];
        struct emu_bulk_copy *copy =
            emu_zeros("for a pending asynchronous copy", 1, sizeof *copy + from->bytes);
        copy->thread = &t->seen;
        copy->pc = from->pc;
        copy->shared = from->shared;
        copy->bytes = from->bytes;
        memcpy(copy->data, from->data, from->bytes);
        *last = copy;
        last = &copy->next;
    }
    t->copy_count = 0;
    emu_mbarrier_arrive_after(barrier, first, no_increment, pc);
}

/* A copy that is still on its way writes into shared memory that is the next block's. */
static void check_copies_arrived(void)
{
    for (struct thread *t = threads; t < block_of(block_count); t++) {
        if (t->state == DONE) emu_bulk_thread_ended(&t->seen);
        if (t->copy_count == 0) continue;
        emu_current = &t->seen;
        emu_fault(t->copies[0].pc,
                  "asynchronous copy not waited for: the block has ended, and this copy "
                  "may still be on its way into shared memory that is another block's by "
                  "then (a missing __pipeline_wait_prior(0) at the end?)");
    }
}

/* ---- blocks and launches ---- */

/* Until all have ended, or wait for the whole grid, where `r` waited before. */
static void run_cluster(struct resident *r)
{
    const bool resumes = r && r->waits;
    threads_left = 0;
    for (unsigned rank = 0; rank < block_count; rank++) {
        block_index[rank].x = cluster_origin.x + rank % cluster.x;
        block_index[rank].y = cluster_origin.y + rank / cluster.x % cluster.y;
        block_index[rank].z = cluster_origin.z + rank / cluster.x / cluster.y;
        for (struct thread *t = block_of(rank); t < block_of(rank) + block_threads; t++) {
            if (!resumes) {
                t->sp = NULL;
                t->copy_count = 0;
                t->groups_committed = 0;
            }
            if (!resumes || t->state == AT_GRID_BARRIER) {
                t->state = RUNNABLE;
                threads_left++;
            }
        }
    }
    for (unsigned i = 0; i < array_count; i++)
        memset(arrays[i].base, 0xff, arrays[i].bytes);
    emu_check_block_begins(warp_count);
    emu_mbarrier_block_begins();
    emu_barriers_begin();
    emu_bulk_block_begins();
    emu_wgmma_block_begins();
    emu_lens_block_begins();
    if (resumes) bring_back(r);
    bool ran;
    do {
        do {
            ran = false;
            for (unsigned warp = 0; warp < warp_count; warp++)
                ran |= run_warp(warp, false);
            if (!ran && parked > 0) ran = emu_bulk_copies_arrive();
            for (unsigned warp = 0; !ran && parked > 0 && warp < warp_count; warp++)
                ran = run_warp(warp, true);
        } while (ran && parked > 0);
    } while (release_blocks());
    if (r && (r->waits = waits_for_grid()))
        put_aside(r);
    else if (emu_checking)
        check_copies_arrived();
    emu_mbarrier_block_ended();
    emu_lens_block_ended();
}

static int configuration_error(const struct emu_launch *launch)
{
    const struct cudaDeviceProp *gpu = &emu_gpu()->prop;
    unsigned long long count = 1;
    for (int d = 0; d < 3; d++) {
        if (launch->grid[d] == 0 || launch->block[d] == 0)
            return cudaErrorInvalidConfiguration;
        if (launch->grid[d] > (unsigned)gpu->maxGridSize[d])
            return cudaErrorInvalidConfiguration;
        if (launch->block[d] > (unsigned)gpu->maxThreadsDim[d])
            return cudaErrorInvalidConfiguration;
        count *= launch->block[d];
    }
    if (count > BLOCK_THREADS) return cudaErrorInvalidConfiguration;
    if (launch->dynamic_shared > emu_dynamic_shared_limit(launch->address))
        return cudaErrorInvalidValue;
    const unsigned long long blocks =
        (unsigned long long)launch->grid[0] * launch->grid[1] * launch->grid[2];
    int together = 1;
    if (launch->cooperative && launch->address)
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, launch->address,
                                                      (int)count, launch->dynamic_shared);
    if (launch->cooperative &&
        blocks > (unsigned long long)together * (unsigned)gpu->multiProcessorCount)
        return cudaErrorCooperativeLaunchTooLarge;
    return cudaSuccess;
}

static int cluster_error(const struct emu_launch *launch)
{
    if (block_count > 1 && emu_gpu()->prop.major < 9) return cudaErrorInvalidClusterSize;
    if (block_count < 1 || block_count > MAX_BLOCKS) return cudaErrorInvalidClusterSize;
    if (launch->grid[0] % cluster.x || launch->grid[1] % cluster.y ||
        launch->grid[2] % cluster.z)
        return cudaErrorInvalidConfiguration;
    return cudaSuccess;
}

/* Lays out the threads and the shared memory of a cluster. */
static void prepare_cluster(const struct emu_launch *launch)
{
    launch_number++;
    block_threads = launch->block[0] * launch->block[1] * launch->block[2];
    block_warps = (block_threads + WARP - 1) / WARP;
    warp_count = block_count * block_warps;
    if (stack_count < block_count * block_threads)
        make_stacks(block_count * block_threads);
    if (places < warp_count * WARP) {
        for (unsigned i = 0; i < places; i++) free(threads[i].copies);
        free(threads);
        places = warp_count * WARP;
        threads = emu_zeros("for the threads of a block", places, sizeof *threads);
    }
    for (unsigned rank = 0; rank < block_count; rank++)
        for (unsigned i = 0; i < block_warps * WARP; i++) {
            struct thread *place = block_of(rank) + i;
            struct emu_thread *t = &place->seen;
            place->state = DONE; /* as those remain that no thread has */
            place->copy_count = 0;
            t->linear = (unsigned)(place - threads);
            t->rank = rank;
            t->warp = t->linear / WARP;
            t->block_warp = i / WARP;
            t->lane = i % WARP;
            t->index.x = i % launch->block[0];
            t->index.y = i / launch->block[0] % launch->block[1];
            t->index.z = i / launch->block[0] / launch->block[1];
        }
    array_count = 0;
    static_bytes = 0;
    static_end = STATIC_OFFSET;
    for (unsigned rank = 0; launch->dynamic_shared && rank < block_count; rank++)
        arrays[array_count++] = (struct emu_shared_extent){
            "dynamic shared memory", emu_dynamic_shared + rank * EMU_WINDOW_BYTES,
            launch->dynamic_shared, UNDECLARED};
}

__attribute__((noreturn)) static void fault_grid_divergence(const struct resident *all)
{
    const struct resident *r = all, *ended = all;
    while (!r->waits) r++;
    while (ended->waits) ended++;
    const struct thread *t = r->threads;
    while (t->state != AT_GRID_BARRIER) t++;
    emu_current = (struct emu_thread *)&t->seen;
    emu_current_block = r->origin;
    emu_fault(t->pc,
              "barrier divergence: this block waits for the whole grid, and block "
              "(%u,%u,%u) has ended without doing so",
              ended->origin.x, ended->origin.y, ended->origin.z);
}

/* From one of the grid's barriers to the next, as if each part were a launch: nothing of
 * one can race with the next. */
static void run_cooperatively(const struct emu_launch *launch)
{
    const unsigned columns = launch->grid[0] / cluster.x,
                   rows = launch->grid[1] / cluster.y,
                   count = columns * rows * (launch->grid[2] / cluster.z);
    struct thread *const first = threads;
    struct resident *all = emu_zeros("for the blocks of a grid", count, sizeof *all);
    if (stack_count < count * block_count * block_threads)
        make_stacks(count * block_count * block_threads);
    for (unsigned i = 0; i < count; i++) {
        all[i].origin = (uint3){i % columns * cluster.x, i / columns % rows * cluster.y,
                                i / columns / rows * cluster.z};
        all[i].threads = emu_zeros("for the threads of a grid", places, sizeof *threads);
        memcpy(all[i].threads, first, places * sizeof *threads);
    }
    unsigned waiting;
    do {
        waiting = 0;
        for (unsigned i = 0; i < count && refusal == cudaSuccess; i++) {
            threads = all[i].threads;
            cluster_origin = all[i].origin;
            run_cluster(&all[i]);
            waiting += all[i].waits;
        }
        if (waiting > 0 && waiting < count) fault_grid_divergence(all);
        if (waiting > 0) emu_check_launch_begins();
    } while (waiting > 0);
    for (unsigned i = 0; i < count; i++) {
        for (unsigned place = 0; place < places; place++)
            free(all[i].threads[place].copies);
        free(all[i].threads);
        free(all[i].shared);
        free(all[i].known);
        free(all[i].barriers);
    }
    free(all);
    threads = first;
}

/* Runs all clusters; ends early if the kernel refuses, or declares other clusters. */
static void run_grid(const struct emu_launch *launch)
{
    declared_cluster = (uint3){0, 0, 0};
    refusal = cudaSuccess;
    bounds = 0;
    emu_check_launch_begins();
    emu_lens_launch_begins();
    if (launch->cooperative) {
        run_cooperatively(launch);
        return;
    }
    for (unsigned z = 0; z < launch->grid[2]; z += cluster.z)
        for (unsigned y = 0; y < launch->grid[1]; y += cluster.y)
            for (unsigned x = 0; x < launch->grid[0]; x += cluster.x) {
                cluster_origin = (uint3){x, y, z};
                run_cluster(NULL);
                if (refusal != cudaSuccess) return;
                if (declared_cluster.x &&
                    memcmp(&declared_cluster, &cluster, sizeof cluster) != 0)
                    return;
            }
}

static int run_launch(const struct emu_launch *launch)
{
    /* What kernels have declared, so that only their first launch begins twice. */
    static struct {
        const void *address;
        uint3 cluster;
    } known[64];
    const unsigned hash = (unsigned)((uintptr_t)launch->address >> 4) % 64;
    const uint3 one = {1, 1, 1};
    cluster = launch->cluster[0]
                  ? (uint3){launch->cluster[0], launch->cluster[1], launch->cluster[2]}
              : launch->address && known[hash].address == launch->address
                  ? known[hash].cluster
                  : one;
    emu_current_launch = launch;
    emu_grid_dim = (uint3){launch->grid[0], launch->grid[1], launch->grid[2]};
    emu_block_dim = (uint3){launch->block[0], launch->block[1], launch->block[2]};
    int error;
    bool again;
    do {
        block_count = cluster.x * cluster.y * cluster.z;
        error = cluster_error(launch);
        if (error != cudaSuccess) break;
        prepare_cluster(launch);
        run_grid(launch);
        again = declared_cluster.x &&
                memcmp(&declared_cluster, &cluster, sizeof cluster) != 0;
        if (again) {
            emu_lens_launch_repeats();
            cluster = declared_cluster;
            known[hash].address = launch->address;
            known[hash].cluster = cluster;
        }
    } while (again);
    emu_check_launch_ends();
    if (error == cudaSuccess) {
        emu_lens_launch_ended();
        emu_note_static_shared(launch->address, static_bytes);
        if (bounds) emu_note_launch_bounds(launch->address, bounds);
    }
    emu_current_launch = NULL;
    return error != cudaSuccess ? error : refusal;
}

/* What kernels have launched. It runs when the grid that launched it has ended, which is
 * one of the orders that CUDA allows: nobody can wait for it in the kernel. */
static struct emu_launch *children;
static size_t child_count;

static void launch_later(const struct emu_launch *launch)
{
    children = emu_resized(children, "for a launch in a kernel", child_count + 1,
                           sizeof *children);
    struct emu_launch *child = &children[child_count++];
    *child = *launch;
    child->arguments = emu_zeros("for a launch in a kernel", launch->argument_bytes, 1);
    memcpy(child->arguments, launch->arguments, launch->argument_bytes);
}

static void run_children(void)
{
    for (size_t i = 0; i < child_count; i++) {
        const struct emu_launch child = children[i];
        run_launch(&child);
        free(child.arguments);
    }
    child_count = 0;
}

/* In a graph, the arguments follow the launch. */
static cudaError_t run_launch_of_graph(void *data, cudaStream_t stream)
{
    struct emu_launch launch;
    memcpy(&launch, data, sizeof launch);
    launch.arguments = (char *)data + sizeof launch;
    launch.stream = stream;
    return (cudaError_t)emu_launch_kernel(&launch);
}

static void capture_launch(const struct emu_launch *launch)
{
    const size_t bytes = sizeof *launch + launch->argument_bytes;
    char *const all = emu_zeros("for a graph", bytes, 1);
    memcpy(all, launch, sizeof *launch);
    memcpy(all + sizeof *launch, launch->arguments, launch->argument_bytes);
    emu_capture(launch->stream, cudaGraphNodeTypeKernel, run_launch_of_graph, all, bytes);
    free(all);
}

int emu_launch_kernel(const struct emu_launch *launch)
{
    EMU_ALONE;
    int error = configuration_error(launch);
    if (error != cudaSuccess) return error;
    if (!emu_current && emu_is_captured(launch->stream)) {
        capture_launch(launch);
        return cudaSuccess;
    }
    if (emu_current) {
        launch_later(launch);
        return cudaSuccess;
    }
    error = emu_work_begins(launch->stream);
    if (error == cudaSuccess && emu_working_device != emu_device())
        error = cudaErrorInvalidResourceHandle;
    if (error != cudaSuccess) return error;
    give_handler_stack();
    error = run_launch(launch);
    run_children();
    return error;
}
