/* The stacks that CUDA threads run on, each with a page below that nobody may touch, and
 * the switch from one to another; and what is said where the machine stops a thread. */
#include "block/stacks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/now.h"
#include "base/room.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"

enum { STACK_BYTES = 256 * 1024 };

/* ---- switching stacks ----
 * emu_switch saves the registers that the calling convention lets a function rely on,
 * leaves the stack pointer in *save, and continues on the stack `load`. It ends in an
 * indirect jump, not a return: the processor predicts returns from the calls it has seen,
 * and a change of stack makes every such prediction wrong. */
#if defined(__x86_64__)
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

void *emu_first_frame(char *top, void (*entry)(void))
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

void *emu_first_frame(char *top, void (*entry)(void))
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

void emu_switch(void **save, void *load)
{
    struct context here;
    *save = &here;
    swapcontext(&here.user, &((struct context *)load)->user);
}

void *emu_first_frame(char *top, void (*entry)(void))
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

/* ---- the pool ---- */

/* Stacks are added as launches ask for more, and stay where they are: some may be in use. */
static struct {
    char *stacks;
    int first, count;
} parts[64];
static int part_count, stack_count;
static size_t guard_bytes; /* a page below each, which nobody may touch */
static int *free_stacks, free_stack_count;

static char *stack_low(int stack)
{
    int part = 0;
    while (stack - parts[part].first >= parts[part].count) part++;
    return parts[part].stacks +
           (size_t)(stack - parts[part].first) * (STACK_BYTES + guard_bytes) +
           guard_bytes;
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
        const char *const low = emu_current->stack_low;
        if (address >= low - guard_bytes && address < low)
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

static void add_stacks(int count)
{
    const size_t each = STACK_BYTES + guard_bytes;
    char *const stacks = mmap(NULL, (size_t)count * each, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED)
        emu_no_memory("for the stacks of %d threads, %zu MB", count,
                      ((size_t)count * each >> 20) + 1);
    /* A process may have 65,530 mappings, so that more stacks than these lie side by side.
     */
    const bool guarded = stack_count + count <= 2 * EMU_MAX_THREADS;
    free_stacks = emu_resized(free_stacks, "for a list of stacks",
                              (size_t)(stack_count + count), sizeof(int));
    memmove(free_stacks + count, free_stacks, (size_t)free_stack_count * sizeof(int));
    for (int i = 0; i < count; i++) {
        if (guarded && mprotect(stacks + (size_t)i * each, guard_bytes, PROT_NONE) != 0)
            emu_no_memory("for guards between the stacks of %d threads", count);
        free_stacks[i] = stack_count + count - 1 - i;
    }
    parts[part_count].stacks = stacks;
    parts[part_count].first = stack_count;
    parts[part_count++].count = count;
    stack_count += count;
    free_stack_count += count;
}

void emu_make_stacks(unsigned count)
{
    if ((int)count <= free_stack_count) return;
    guard_bytes = (size_t)sysconf(_SC_PAGESIZE);
    /* Each part is at least a fourth of all before it, so there are few. */
    int more = (int)count - free_stack_count;
    if (more < 32) more = 32;
    if (more < stack_count / 4) more = stack_count / 4;
    add_stacks(more);
}

int emu_take_stack(char **low, char **high)
{
    const int stack = free_stacks[--free_stack_count];
    *low = stack_low(stack);
    /* A different offset for each stack, or 1,024 stack tops would share one set of the
     * cache. */
    *high = *low + STACK_BYTES - (stack % 48) * 64;
    return stack;
}

void emu_give_stack(int stack)
{
    free_stacks[free_stack_count++] = stack;
}

/* The handler needs a stack of its own, for each thread of the host: the usual cause is
 * that the thread's is full. */
void emu_give_handler_stack(void)
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
    emu_give_handler_stack();
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    grow_host_stack();
}
