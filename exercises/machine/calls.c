/* The functions outside that a student's code may call. Each takes its arguments from the
 * code's registers, looks at every pointer among them, and does the work with our own
 * function of that name. What is not here does not exist for the code: linking says so.
 */
#include "around.h"

#include "../cases.h"
#include "base/device.h"
#include "base/functions.h"
#include "base/ptx.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "emulator_ptx.h"
#include "machine.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declared for C++ alone. */
void emu_launch_failed(int error);
unsigned __isShared(const void *p);
unsigned __isGlobal(const void *p);
size_t __cvta_generic_to_shared(const void *p);

enum { HOST_STACK = 1 << 20, THREAD_STACK = 192 * 1024, MOST_PRINTED = 64 * 1024 };

static char host_stack[HOST_STACK] __attribute__((aligned(16)));

uint64_t host_stack_low(void)
{
    return (uint64_t)host_stack;
}

uint64_t host_stack_high(void)
{
    return (uint64_t)host_stack + HOST_STACK;
}

/* ---- the list ---- */

struct outside {
    void (*function)(struct processor *);
};

/* `call_NAME` is what the code gets when it calls NAME; image.ld is told its address. */
#define CALL(name)                                                                       \
    static void call_##name(struct processor *p);                                        \
    __attribute__((section("outside"),                                                   \
                   used)) static const struct outside entry_##name = {call_##name};      \
    static void call_##name(struct processor *p)

static const unsigned argument_registers[] = {RDI, RSI, RDX, RCX, R8, R9};
#define ARG(i) (p->r[argument_registers[i]])
#define RETURN(value) (p->r[RAX] = (uint64_t)(value))

void call_outside(struct processor *p, uint64_t address)
{
    extern const struct outside __start_outside[], __stop_outside[];
    enum { SLOTS = 1024 };
    static void (*known[SLOTS])(struct processor *);
    static bool sorted;
    for (const struct outside *o = __start_outside; !sorted && o < __stop_outside; o++) {
        unsigned slot = (unsigned)((uint64_t)o->function >> 4) % SLOTS;
        while (known[slot])
            slot = (slot + 1) % SLOTS;
        known[slot] = o->function;
    }
    sorted = true;
    unsigned slot = (unsigned)(address >> 4) % SLOTS;
    while (known[slot] && (uint64_t)known[slot] != address)
        slot = (slot + 1) % SLOTS;
    if (!known[slot])
        refuse(p, "a jump to %#llx, where no code is", (unsigned long long)address);
    /* The runtime's functions name the line they were called from, and tell lanes apart
     * by how deep they are in calls. */
    machine_caller = (struct caller){*(const void **)p->r[RSP], (const void *)p->r[RSP]};
    known[slot](p);
    machine_caller.pc = NULL;
}

/* ---- running the code ---- */

uint64_t call_code(uint64_t entry, const uint64_t *integers, unsigned count, float number)
{
    struct processor p = {.stack_low = host_stack_low(), .stack_high = host_stack_high()};
    p.r[RSP] = p.stack_high - 64;
    for (unsigned i = 0; i < count; i++)
        p.r[argument_registers[i]] = integers[i];
    p.x[0].f[0] = number;
    processor_run(&p, entry);
    return p.r[RAX];
}

CALL(time_of_candidate)
{
    p->x[0].f[0] = time_of_candidate((int)ARG(0));
}

/* Of ON_TWO: the streams that copies and kernels were put into, in which the host may not
 * wait. A handle is the runtime's address, so only what it has given is handed back. */
static bool only_orders;
static const void *handles[256];
static unsigned handle_count;
static bool copied_in[256], worked_in[256];
static uint64_t copied_bytes;

static void note_handle(struct processor *p, const void *handle)
{
    if (handle_count == sizeof handles / sizeof *handles)
        refuse(p, "more than %u streams and events", handle_count);
    handles[handle_count++] = handle;
}

/* The number of a handle; 0 stands for the default stream. */
static unsigned number_of(const struct processor *p, uint64_t handle)
{
    for (unsigned i = 1; i < handle_count && handle; i++)
        if ((uint64_t)handles[i] == handle)
            return i;
    if (handle)
        refuse(p, "no stream or event that CUDA has created");
    return 0;
}

static void begin_ordering(void)
{
    only_orders = true;
    handle_count = 1;
    copied_bytes = 0;
    memset(copied_in, 0, sizeof copied_in);
    memset(worked_in, 0, sizeof worked_in);
}

static void end_ordering(const struct processor *p, uint64_t n)
{
    bool copied = false, both = true;
    for (unsigned i = 0; i < handle_count; i++) {
        copied |= copied_in[i];
        both &= !copied_in[i] || worked_in[i];
    }
    only_orders = false;
    if (copied_bytes < 3 * sizeof(float) * (n / 2))
        refuse(p, "device 1 has less than half of the work: %llu bytes were copied",
               (unsigned long long)copied_bytes);
    if (copied && both)
        refuse(p,
               "nothing travels beside the work: every copy is in a stream with kernels");
}

bool call_student(const struct test_case *c, const float *first, const float *second,
                  float *scratch, void *out)
{
    static bool started;
    const uint64_t entry = image_entry((unsigned)c->kind);
    const uint64_t x = (uint64_t)first, y = (uint64_t)second, to = (uint64_t)out;
    const uint64_t M = (uint32_t)c->M, N = (uint32_t)c->N, K = (uint32_t)c->K;
    if (!entry)
        return false;
    if (!started)
        image_start(KINDS);
    started = true;
#define WITH(...)                                                                        \
    call_code(entry, (const uint64_t[]){__VA_ARGS__},                                    \
              sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t), c->a)
    switch (c->kind) {
    case AXPY: WITH(N, x, y, to); break;
    case BLUR: WITH(N, x, to); break;
    case SCALE:
    case TRANSPOSE:
    case ROW_SUMS: WITH(M, N, x, to); break;
    case MATMUL:
    case HALVES:
    case TO_HALVES:
    case PRECISE: WITH(M, N, K, x, y, to); break;
    case SPLIT: WITH(M, N, x, to, to + 4 * M * N); break;
    case ON_TWO:
        begin_ordering();
        WITH(N, x, y, to, (uint64_t)scratch);
        end_ordering(&(struct processor){.ip = entry}, N);
        break;
    case PREDICT: {
        void *answers = image_allocate(ANSWERS * sizeof(int));
        memset(answers, 0, ANSWERS * sizeof(int));
        WITH((uint64_t)answers);
        memcpy(out, answers, ANSWERS * sizeof(int));
        break;
    }
    case SUM: WITH(N, x, (uint64_t)scratch, to); break;
    case SCAN: WITH(M, N, x, to); break;
    case HISTOGRAM: WITH(N, x, to); break;
    case TUNE: *(int *)out = (int)WITH(N, (uint64_t)call_time_of_candidate); break;
    default: return false;
    }
    return true;
}

static uint64_t thread_entry;

/* One CUDA thread. The registers lie behind the stack, where the watch for endless loops
 * counts them as a part of the thread's state. */
static void run_thread(void *arguments)
{
    struct {
        char stack[THREAD_STACK] __attribute__((aligned(16)));
        struct processor p;
    } thread;
    struct processor *const p = &thread.p;
    memset(p, 0, sizeof *p);
    p->stack_low = (uint64_t)thread.stack;
    p->stack_high = p->stack_low + THREAD_STACK;
    p->r[RSP] = p->stack_high - 64;
    p->r[RDI] = (uint64_t)arguments;
    machine_caller.pc = NULL;
    processor_run(p, thread_entry);
    drop_announcements(p);
}

static void need_host(const struct processor *p, const char *name)
{
    if (emu_current)
        refuse(p, "%s, which is for the host, called by a kernel", name);
}
static void need_kernel(const struct processor *p)
{
    if (!emu_current)
        refuse(p, "a function of kernels, called by host code");
}

CALL(emu_launch_kernel)
{
    need_host(p, "a launch");
    struct emu_launch launch =
        *(struct emu_launch *)reach_for_call(p, ARG(0), sizeof launch, false);
    reach_fixed_text(p, (uint64_t)launch.kernel);
    reach_for_call(p, (uint64_t)launch.arguments, launch.argument_bytes, false);
    thread_entry = (uint64_t)launch.run;
    launch.run = run_thread;
    launch.places_of = NULL;
    if (!only_orders)
        launch.stream = NULL;
    else if (number_of(p, (uint64_t)launch.stream) > 0 || emu_device() > 0)
        worked_in[number_of(p, (uint64_t)launch.stream)] = true;
    memset(launch.cluster, 0, sizeof launch.cluster);
    const int error = emu_launch_kernel(&launch);
    if (error)
        fprintf(stderr, "refused: grid %u %u %u, block %u %u %u, shared %zu\n",
                launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                launch.block[1], launch.block[2], launch.dynamic_shared);
    RETURN(error);
}
CALL(emu_launch_failed)
{
    need_host(p, "a launch");
    emu_launch_failed((int)ARG(0));
}
/* The judge says what became of a launch, and which. */
CALL(emu_error_unread)
{
    (void)p;
}
/* The code itself keeps a list of its kernels. */
CALL(emu_know_kernel)
{
    (void)p;
}
CALL(emu_kernel_begins)
{
    if (!emu_current)
        refuse(p, "a kernel is called like a function, and on a GPU it would not run; "
                  "launch it: kernel<<<grid, block>>>(...)");
}
CALL(emu_launch_bounds)
{
    need_kernel(p);
    emu_launch_bounds((unsigned)ARG(0));
}
CALL(emu_note_launch_bounds)
{
    need_host(p, "__launch_bounds__");
    emu_note_launch_bounds((const void *)ARG(0), (unsigned)ARG(1));
}

/* ---- what the compiler puts in front of accesses ---- */

#define SEEN(name, bytes, write)                                                         \
    void name(void *p);                                                                  \
    CALL(name)                                                                           \
    {                                                                                    \
        check_variable(p, ARG(0), bytes, write ? "a write" : "a read");                  \
        name((void *)ARG(0));                                                            \
        announce(p, ARG(0), bytes, write, false);                                        \
    }
#define SEEN_SIZE(bytes)                                                                 \
    SEEN(__tsan_read##bytes, bytes, false)                                               \
    SEEN(__tsan_write##bytes, bytes, true)                                               \
    SEEN(__tsan_volatile_read##bytes, bytes, false)                                      \
    SEEN(__tsan_volatile_write##bytes, bytes, true)
SEEN_SIZE(1)
SEEN_SIZE(2)
SEEN_SIZE(4)
SEEN_SIZE(8)
SEEN_SIZE(16)
SEEN(__tsan_unaligned_read2, 2, false)
SEEN(__tsan_unaligned_read4, 4, false)
SEEN(__tsan_unaligned_read8, 8, false)
SEEN(__tsan_unaligned_read16, 16, false)
SEEN(__tsan_unaligned_write2, 2, true)
SEEN(__tsan_unaligned_write4, 4, true)
SEEN(__tsan_unaligned_write8, 8, true)
SEEN(__tsan_unaligned_write16, 16, true)

#define LONGEST_RANGE (1 << 20)
#define SEEN_RANGE(name, write)                                                          \
    void name(void *at, size_t n);                                                       \
    CALL(name)                                                                           \
    {                                                                                    \
        if (ARG(1) > LONGEST_RANGE)                                                      \
            refuse(p, "an access of more than a megabyte");                              \
        count_instructions(p, ARG(1) / 4);                                               \
        check_variable(p, ARG(0), ARG(1), write ? "a write" : "a read");                 \
        name((void *)ARG(0), ARG(1));                                                    \
        announce(p, ARG(0), ARG(1), write, false);                                       \
    }
SEEN_RANGE(__tsan_read_range, false)
SEEN_RANGE(__tsan_write_range, true)

#define COPY(name, seen)                                                                 \
    CALL(name)                                                                           \
    {                                                                                    \
        const void *from = reach_for_call(p, ARG(1), ARG(2), false);                     \
        check_variable(p, ARG(1), ARG(2), "a read");                                     \
        check_variable(p, ARG(0), ARG(2), "a write");                                    \
        RETURN(seen(reach_for_call(p, ARG(0), ARG(2), true), from, ARG(2)));             \
    }
COPY(__tsan_memcpy, __tsan_memcpy)
COPY(__tsan_memmove, __tsan_memmove)
COPY(memcpy, __tsan_memcpy)
COPY(memmove, __tsan_memmove)
#define FILL(name)                                                                       \
    CALL(name)                                                                           \
    {                                                                                    \
        void *to = reach_for_call(p, ARG(0), ARG(2), true);                              \
        check_variable(p, ARG(0), ARG(2), "a write");                                    \
        RETURN(__tsan_memset(to, (int)ARG(1), ARG(2)));                                  \
    }
FILL(__tsan_memset)
FILL(memset)

CALL(__sanitizer_cov_trace_pc)
{
    void __sanitizer_cov_trace_pc(void);
    (void)p;
    __sanitizer_cov_trace_pc();
}

#define NOTHING(name)                                                                    \
    CALL(name)                                                                           \
    {                                                                                    \
        RETURN(0);                                                                       \
    }
NOTHING(__tsan_init)
NOTHING(__tsan_func_entry)
NOTHING(__tsan_func_exit)
NOTHING(__tsan_vptr_read)
NOTHING(__tsan_vptr_update)
/* What <iostream> puts into every file, before g++ 13. */
NOTHING(_ZNSt8ios_base4InitC1Ev)
NOTHING(_ZNSt8ios_base4InitD1Ev)

/* ---- what kernels call ---- */

#define ATOMIC(name)                                                                     \
    CALL(name)                                                                           \
    {                                                                                    \
        const uint64_t bytes = ARG(1);                                                   \
        if (bytes > 16)                                                                  \
            refuse(p, "an atomic of %llu bytes", (unsigned long long)bytes);             \
        check_variable(p, ARG(0), bytes, "an atomic");                                   \
        name((void *)ARG(0), bytes, (const void *)ARG(2));                               \
        announce(p, ARG(0), bytes, false, true);                                         \
        announce(p, ARG(0), bytes, true, true);                                          \
    }
ATOMIC(emu_atomic_access)
ATOMIC(emu_block_atomic_access)

/* An array's alignments are or'ed, each a power of two; no kernel needs more than a page. The
 * array is filled where they put it, so larger ones would reach behind shared memory. */
enum { ALIGNMENTS = 2 * 4096 };
CALL(emu_shared_array)
{
    need_kernel(p);
    if (ARG(2) == 0 || ARG(2) >= ALIGNMENTS)
        refuse(p, "a shared array with an alignment of %llu", (unsigned long long)ARG(2));
    struct emu_shared_site *site = reach_kernels_own(p, ARG(0), sizeof *site);
    const char *name = reach_fixed_text(p, ARG(3));
    if (ARG(1) > EMU_SHARED_BYTES)
        refuse(p, "too much shared memory: an array of %llu bytes",
               (unsigned long long)ARG(1));
    RETURN(emu_shared_array(site, ARG(1), ARG(2), name));
}
CALL(emu_dynamic_array)
{
    need_kernel(p);
    if (ARG(0) == 0 || ARG(0) >= ALIGNMENTS)
        refuse(p, "a shared array with an alignment of %llu", (unsigned long long)ARG(0));
    RETURN(emu_dynamic_array(ARG(0)));
}
/* The host's functions have static variables of their own; one that both call has two of
 * each on a GPU, and here the kernels have it. */
CALL(emu_local_static)
{
    if (emu_current)
        emu_local_static(reach_kernels_own(p, ARG(0), ARG(1)), ARG(1));
}

CALL(emu_variable_of_template)
{
    refuse(p, "a template of __device__ variables: here each needs its own declaration");
}

/* Noted, and compared with what is touched next. */
CALL(emu_fill_bit_field)
{
    if (emu_current)
        emu_fill_bit_field((const void *)ARG(0), ARG(1));
}

CALL(emu_barrier)
{
    need_kernel(p);
    RETURN(emu_barrier((int)ARG(0), (enum emu_barrier_op)(ARG(1) & 3)));
}
CALL(emu_fence)
{
    need_kernel(p);
    emu_fence(ARG(0) != 0);
}
CALL(emu_wait_for_launch_ahead)
{
    need_kernel(p);
    emu_wait_for_launch_ahead();
}
CALL(emu_warp_exchange)
{
    need_kernel(p);
    const char *kind = reach_fixed_text(p, ARG(2));
    memcpy(p->exchanged, emu_warp_exchange((unsigned)ARG(0), ARG(1), kind),
           sizeof p->exchanged);
    RETURN(p->exchanged);
}
CALL(emu_warp_shuffle)
{
    need_kernel(p);
    const char *kind = reach_fixed_text(p, ARG(3));
    RETURN(emu_warp_shuffle((unsigned)ARG(0), ARG(1), (unsigned)ARG(2), kind));
}
CALL(emu_warp_sync)
{
    need_kernel(p);
    emu_warp_sync((unsigned)ARG(0));
}
CALL(emu_lanes_that_came)
{
    need_kernel(p);
    RETURN(emu_lanes_that_came());
}
CALL(emu_active_mask)
{
    need_kernel(p);
    RETURN(emu_active_mask());
}
CALL(emu_lane)
{
    RETURN(emu_lane());
}
CALL(emu_warp)
{
    RETURN(emu_warp());
}
CALL(emu_in_kernel)
{
    RETURN(emu_in_kernel());
}
/* Of our own: the runtime's tells whether the lens is looking. Each thread has one, as
 * one for all would carry sums from thread to thread, and to the host. */
CALL(emu_clock)
{
    RETURN(++p->clock);
}

CALL(emu_async_copy)
{
    need_kernel(p);
    const uint64_t bytes = ARG(2), zeros = ARG(3) < bytes ? ARG(3) : bytes;
    /* In device memory, the runtime tells what is wrong with an address. */
    if (bytes <= 16 && !is_device_memory(ARG(1), 1))
        reach_for_call(p, ARG(1), bytes - zeros, false);
    emu_async_copy((void *)ARG(0), (void *)ARG(1), bytes, zeros, (const void *)ARG(4));
}
CALL(emu_async_commit)
{
    need_kernel(p);
    emu_async_commit();
}
CALL(emu_async_wait)
{
    need_kernel(p);
    emu_async_wait((unsigned)ARG(0));
}

/* The arguments behind the named ones: first those in registers, then those on the stack.
 */
struct rest {
    unsigned integers, floats;
    uint64_t stack;
};

static uint64_t next_of(struct processor *p, struct rest *rest, bool is_float)
{
    if (is_float && rest->floats < 8)
        return p->x[rest->floats++].q[0];
    if (!is_float && rest->integers < 6)
        return ARG(rest->integers++);
    rest->stack += 8;
    return *(uint64_t *)reach(p, rest->stack - 8, 8, false);
}

/* ---- inline PTX, as far as exercises go: the driver has made calls of it ---- */

/* Registers are in the code's own memory, not where the lens would have to hear of it. */
static uint64_t *registers_of(struct processor *p, uint64_t address, unsigned count)
{
    need_kernel(p);
    if (address < p->stack_low || address > p->stack_high - count * sizeof(uint64_t))
        refuse(p, "registers of an instruction that are no variables of this thread");
    return (uint64_t *)address;
}
/* The code of an instruction on shared memory. */
static uint64_t code_for_shared(struct processor *p, uint64_t code)
{
    need_kernel(p);
    if (PTX_TYPE_OF(code) >= PTX_TYPE_COUNT || PTX_FROM_OF(code) >= PTX_TYPE_COUNT ||
        (PTX_DETAIL_OF(code) != PTX_SHARED && PTX_DETAIL_OF(code) != PTX_CLUSTER))
        refuse(p, "inline PTX that exercises do not know: addresses are in .shared");
    return code;
}
CALL(emu_ptx_alu)
{
    const uint64_t code = ARG(0);
    if (PTX_TYPE_OF(code) >= PTX_TYPE_COUNT || PTX_FROM_OF(code) >= PTX_TYPE_COUNT)
        refuse(p, "inline PTX that exercises do not know");
    RETURN(emu_ptx_alu(code, ARG(1), ARG(2), ARG(3), ARG(4)));
}
/* m16n8 of fp16, bf16 or tf32, with sums in fp32. */
CALL(emu_ptx_mma)
{
    const uint64_t code = ARG(0);
    const enum ptx_type type = PTX_FROM_OF(code);
    const unsigned shape = (unsigned)ARG(1), k = shape & 1023;
    const unsigned of_register = type == PTX_TF32 ? 1 : 2;
    if ((type != PTX_F16 && type != PTX_BF16 && type != PTX_TF32) ||
        PTX_TYPE_OF(code) != PTX_F32 || PTX_DETAIL_OF(code) != (unsigned)type ||
        shape >> 10 != (16u << 10 | 8u) || (k != 8 * of_register && k != 4 * of_register))
        refuse(p, "an mma.sync that exercises do not know: they have m16n8 of f16, bf16 "
                  "and tf32, with sums in f32");
    uint64_t in[10] = {0};
    struct rest rest = {3, 0, p->r[RSP] + 8};
    for (unsigned i = 0; i < (16 + 8) * k / 32 / of_register + 4; i++)
        in[i] = next_of(p, &rest, false);
    emu_ptx_mma(code, shape, registers_of(p, ARG(2), 4), in[0], in[1], in[2], in[3],
                in[4], in[5], in[6], in[7], in[8], in[9]);
}
CALL(emu_ptx_load_matrix)
{
    const uint64_t code = code_for_shared(p, ARG(0));
    const unsigned count = code >> PTX_MATRIX_COUNT & 7;
    if (count > 4)
        refuse(p, "an ldmatrix of %u matrices", count);
    emu_ptx_load_matrix(code, registers_of(p, ARG(1), count), ARG(2));
}
CALL(emu_ptx_store_matrix)
{
    const uint64_t code = code_for_shared(p, ARG(0));
    if ((code >> PTX_MATRIX_COUNT & 7) > 4)
        refuse(p, "an stmatrix of too many matrices");
    emu_ptx_store_matrix(code, ARG(1), ARG(2), ARG(3), ARG(4), ARG(5));
}
CALL(__cvta_generic_to_shared)
{
    need_kernel(p);
    RETURN(__cvta_generic_to_shared((const void *)ARG(0)));
}
CALL(emu_ptx_mbarrier_init)
{
    emu_ptx_mbarrier_init(code_for_shared(p, ARG(0)), ARG(1), ARG(2));
}
CALL(emu_ptx_mbarrier_arrive)
{
    const uint64_t code = code_for_shared(p, ARG(0));
    RETURN(emu_ptx_mbarrier_arrive(code, (unsigned)ARG(1), ARG(2), ARG(3), ARG(4)));
}
CALL(emu_ptx_mbarrier_expect)
{
    const uint64_t code = code_for_shared(p, ARG(0));
    emu_ptx_mbarrier_expect(code, ARG(1) != 0, ARG(2), ARG(3));
}
CALL(emu_ptx_mbarrier_test)
{
    const uint64_t code = code_for_shared(p, ARG(0));
    RETURN(emu_ptx_mbarrier_test(code, ARG(1) != 0, ARG(2), ARG(3)));
}
CALL(emu_ptx_fence_mbarrier_init)
{
    need_kernel(p);
    emu_ptx_fence_mbarrier_init();
}
CALL(emu_ptx_fence_proxy)
{
    need_kernel(p);
    emu_ptx_fence_proxy();
}
CALL(emu_ptx_bulk_load)
{
    const uint64_t code = code_for_shared(p, ARG(0)), bytes = ARG(3);
    if (ARG(5) != 0)
        refuse(p, "a bulk copy to several blocks");
    /* In device memory, the runtime tells what is wrong with an address. */
    if (!is_device_memory(ARG(2), bytes))
        reach_for_call(p, ARG(2), bytes, false);
    emu_ptx_bulk_load(code, ARG(1), ARG(2), bytes, ARG(4), 0);
}

CALL(emu_next_atomic_in_block)
{
    (void)p;
    emu_next_atomic_in_block();
}
CALL(emu_on_host)
{
    RETURN(ARG(0));
}
CALL(__trap)
{
    refuse(p, "__trap()");
}
CALL(__assert_fail)
{
    refuse(p, "assertion failed: %s", reach_text(p, ARG(0), 4096));
}
CALL(emu_device_malloc)
{
    RETURN(emu_current ? emu_device_malloc(ARG(0)) : image_allocate(ARG(0)));
}
CALL(emu_device_free)
{
    if (emu_current)
        emu_device_free((void *)ARG(0));
}
CALL(emu_need_global)
{
    need_kernel(p);
    emu_need_global((const void *)ARG(0), reach_fixed_text(p, ARG(1)));
}
CALL(emu_need_unwritten)
{
    need_kernel(p);
    emu_need_unwritten((const void *)ARG(0), ARG(1), reach_fixed_text(p, ARG(2)));
}
CALL(emu_need_global_at)
{
    need_kernel(p);
    emu_need_global_at((const void *)ARG(0), reach_fixed_text(p, ARG(1)),
                       (const void *)ARG(2));
}
CALL(__isShared)
{
    RETURN(__isShared((void *)ARG(0)));
}
CALL(__isGlobal)
{
    RETURN(__isGlobal((void *)ARG(0)));
}

/* C++ leaves open what an operation gives: what the compiler has noted about the place,
 * one type or two last, is the student's to change. */
static void check_noted(struct processor *p, unsigned types)
{
    const struct {
        uint64_t file;
        uint32_t line, column;
        uint64_t type[2];
    } *place = reach_for_call(p, ARG(0), 16 + 8 * types, false);
    for (unsigned i = 0; i < types; i++) {
        reach_for_call(p, place->type[i], 4, false);
        reach_text(p, place->type[i] + 4, 100);
    }
}
#define LEFT_OPEN(name, types)                                                           \
    void __ubsan_handle_##name(void *, uintptr_t, uintptr_t);                            \
    CALL(__ubsan_handle_##name)                                                          \
    {                                                                                    \
        check_noted(p, types);                                                           \
        __ubsan_handle_##name((void *)ARG(0), ARG(1), ARG(2));                           \
    }
LEFT_OPEN(add_overflow, 1)
LEFT_OPEN(sub_overflow, 1)
LEFT_OPEN(mul_overflow, 1)
LEFT_OPEN(divrem_overflow, 1)
LEFT_OPEN(negate_overflow, 1)
LEFT_OPEN(shift_out_of_bounds, 2)
LEFT_OPEN(float_cast_overflow, 0) /* of which nothing is looked at */

/* ---- the runtime API, as far as a kernel and its launch need it ---- */

CALL(cudaGetLastError)
{
    need_host(p, "cudaGetLastError");
    RETURN(cudaGetLastError());
}
CALL(cudaPeekAtLastError)
{
    need_host(p, "cudaPeekAtLastError");
    RETURN(cudaPeekAtLastError());
}
/* Of what they store no lens hears, and what one kernel changes in the runtime, the host
 * could ask about: they are for the host alone. */
/* What the host has to say to the device's variables. There is no way back: what a kernel
 * has put there, kernels go on with. */
CALL(cudaMemcpyToSymbol)
{
    need_host(p, "cudaMemcpyToSymbol");
    const uint64_t bytes = ARG(2), offset = ARG(3);
    const void *from = reach_for_call(p, ARG(1), bytes, false);
    reach_variable(p, ARG(0) + offset, bytes);
    RETURN(cudaMemcpyToSymbol((const void *)ARG(0), from, bytes, offset,
                              cudaMemcpyHostToDevice));
}
CALL(cudaMemcpyToSymbolAsync)
{
    call_cudaMemcpyToSymbol(p);
}
CALL(cudaGetSymbolAddress)
{
    need_host(p, "cudaGetSymbolAddress");
    void **const to = reach_for_call(p, ARG(0), sizeof *to, true);
    RETURN(cudaGetSymbolAddress(to, reach_variable(p, ARG(1), 1)));
}
CALL(cudaDeviceSynchronize)
{
    need_host(p, "cudaDeviceSynchronize");
    if (only_orders)
        refuse(p, "the host waits, and until it goes on it orders no work");
    RETURN(cudaDeviceSynchronize());
}

/* What nobody has cleared for the code, the results among it. */
static void *memory_to_clear(struct processor *p, uint64_t address, uint64_t bytes)
{
    need_host(p, "cudaMemset");
    if (!is_device_memory(address, bytes))
        reach_variable(p, address, bytes);
    count_instructions(p, bytes / 16);
    return (void *)address;
}
CALL(cudaMemset)
{
    RETURN(cudaMemset(memory_to_clear(p, ARG(0), ARG(2)), (int)ARG(1), ARG(2)));
}
CALL(cudaMemsetAsync)
{
    const cudaStream_t stream =
        only_orders ? (cudaStream_t)handles[number_of(p, ARG(3))] : NULL;
    RETURN(
        cudaMemsetAsync(memory_to_clear(p, ARG(0), ARG(2)), (int)ARG(1), ARG(2), stream));
}

/* ---- several devices, streams and events; only for those who order work ---- */

static void need_ordering(const struct processor *p, const char *name)
{
    if (!only_orders || emu_current)
        refuse(p, "%s, which this exercise does without", name);
}
#define WAITS(name)                                                                      \
    CALL(name)                                                                           \
    {                                                                                    \
        refuse(p, "the host waits, and until it goes on it orders no work");             \
    }
WAITS(cudaStreamSynchronize)
WAITS(cudaEventSynchronize)
WAITS(cudaStreamQuery)
WAITS(cudaEventQuery)
CALL(cudaSetDevice)
{
    need_ordering(p, "cudaSetDevice");
    RETURN(cudaSetDevice((int)ARG(0)));
}
#define CREATES(name, type, ...)                                                         \
    CALL(name)                                                                           \
    {                                                                                    \
        need_ordering(p, #name);                                                         \
        type *const to = reach_for_call(p, ARG(0), sizeof *to, true);                    \
        const cudaError_t error = name(to __VA_ARGS__);                                  \
        if (error == cudaSuccess)                                                        \
            note_handle(p, *to);                                                         \
        RETURN(error);                                                                   \
    }
CREATES(cudaStreamCreate, cudaStream_t)
CREATES(cudaStreamCreateWithFlags, cudaStream_t, , (unsigned)ARG(1))
CREATES(cudaEventCreate, cudaEvent_t)
CREATES(cudaEventCreateWithFlags, cudaEvent_t, , (unsigned)ARG(1))
CALL(cudaStreamDestroy)
{
    need_ordering(p, "cudaStreamDestroy");
    RETURN(cudaStreamDestroy((cudaStream_t)handles[number_of(p, ARG(0))]));
}
CALL(cudaEventDestroy)
{
    need_ordering(p, "cudaEventDestroy");
    RETURN(cudaEventDestroy((cudaEvent_t)handles[number_of(p, ARG(0))]));
}
CALL(cudaEventRecord)
{
    need_ordering(p, "cudaEventRecord");
    const unsigned event = number_of(p, ARG(0)), stream = number_of(p, ARG(1));
    RETURN(cudaEventRecord((cudaEvent_t)handles[event], (cudaStream_t)handles[stream]));
}
CALL(cudaStreamWaitEvent)
{
    need_ordering(p, "cudaStreamWaitEvent");
    const unsigned stream = number_of(p, ARG(0)), event = number_of(p, ARG(1));
    RETURN(cudaStreamWaitEvent((cudaStream_t)handles[stream], (cudaEvent_t)handles[event],
                               (unsigned)ARG(2)));
}
/* A copy from device to device in a stream: notes it, and returns the stream. */
static cudaStream_t note_copy(struct processor *p, uint64_t to, uint64_t from,
                              uint64_t bytes, uint64_t stream)
{
    const unsigned number = number_of(p, stream);
    if (!is_device_memory(to, bytes) || !is_device_memory(from, bytes))
        refuse(p, "a copy between devices of what is on none");
    count_instructions(p, bytes / 16);
    copied_in[number] = true;
    copied_bytes += bytes;
    return (cudaStream_t)handles[number];
}
CALL(cudaMemcpyPeerAsync)
{
    need_ordering(p, "cudaMemcpyPeerAsync");
    const cudaStream_t stream = note_copy(p, ARG(0), ARG(2), ARG(4), ARG(5));
    RETURN(cudaMemcpyPeerAsync((void *)ARG(0), (int)ARG(1), (const void *)ARG(2),
                               (int)ARG(3), ARG(4), stream));
}
CALL(cudaMemcpyAsync)
{
    need_ordering(p, "cudaMemcpyAsync");
    const cudaStream_t stream = note_copy(p, ARG(0), ARG(1), ARG(2), ARG(4));
    RETURN(cudaMemcpyAsync((void *)ARG(0), (const void *)ARG(1), ARG(2),
                           (enum cudaMemcpyKind)ARG(3), stream));
}
CALL(cudaFuncSetAttribute)
{
    need_host(p, "cudaFuncSetAttribute");
    RETURN(cudaFuncSetAttribute((const void *)ARG(0), (enum cudaFuncAttribute)ARG(1),
                                (int)ARG(2)));
}
CALL(cudaGetDevice)
{
    need_host(p, "cudaGetDevice");
    RETURN(cudaGetDevice(reach_for_call(p, ARG(0), sizeof(int), true)));
}
CALL(cudaDeviceGetAttribute)
{
    need_host(p, "cudaDeviceGetAttribute");
    RETURN(cudaDeviceGetAttribute(reach_for_call(p, ARG(0), sizeof(int), true),
                                  (enum cudaDeviceAttr)ARG(1), (int)ARG(2)));
}
CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
{
    need_host(p, "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    RETURN(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        reach_for_call(p, ARG(0), sizeof(int), true), (const void *)ARG(1), (int)ARG(2),
        ARG(3)));
}

static uint64_t text_for_student(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = image_allocate(n);
    return (uint64_t)(copy ? memcpy(copy, text, n) : NULL);
}
CALL(cudaGetErrorString)
{
    need_host(p, "cudaGetErrorString");
    RETURN(text_for_student(cudaGetErrorString((cudaError_t)ARG(0))));
}
CALL(cudaGetErrorName)
{
    need_host(p, "cudaGetErrorName");
    RETURN(text_for_student(cudaGetErrorName((cudaError_t)ARG(0))));
}

/* ---- printing: all of it goes to the standard output, which the grader shows ---- */

static void print(const char *text, size_t n)
{
    static size_t printed;
    if (n > MOST_PRINTED - printed)
        n = MOST_PRINTED - printed;
    printed += n;
    fwrite(text, 1, n, stdout);
}

/* What a conversion takes, beside the instructions of the code that it replaces: without
 * it the clock, not the count, would end a loop that prints. */
enum { A_CONVERSION = 50 };

/* One conversion of a format, "%-8.3f" say, with the value that it asks for. Returns
 * where the format goes on. */
static const char *print_one(struct processor *p, const char *format, struct rest *rest)
{
    char spec[40], text[600];
    size_t n = 0;
    count_instructions(p, A_CONVERSION);
    spec[n++] = *format++;
    for (; *format && strchr("-+ #0123456789.*hlzjtqL", *format); format++) {
        if (*format != '*')
            spec[n++] = *format;
        else
            n += (size_t)snprintf(spec + n, sizeof spec - n, "%d",
                                  (int)next_of(p, rest, false) % 256);
        if (n > sizeof spec - 16)
            refuse(p, "a format for printing that is too long");
    }
    const char kind = *format ? *format++ : '%';
    spec[n] = kind, spec[n + 1] = '\0';
    unsigned width = 0, longest = 0; /* a number of three digits is wide enough */
    for (const char *c = spec; *c; c++) {
        width = *c >= '0' && *c <= '9' ? width + 1 : 0;
        longest = width > longest ? width : longest;
    }
    /* What asks for another kind of characters would have printf read past their end. */
    if (strchr("sc", kind) && strpbrk(spec, "hlzjtqL"))
        refuse(p, "a format for printing texts of another kind, %s", spec);
    if (longest > 3)
        refuse(p, "a format for printing that is too wide");
    if (strchr("eEfFgGaA", kind)) {
        const uint64_t bits = next_of(p, rest, true);
        double value;
        memcpy(&value, &bits, sizeof value);
        for (char *c = spec; *c; c++)
            if (*c == 'L')
                *c = 'l'; /* long double is double here */
        snprintf(text, sizeof text, spec, value);
    } else if (strchr("diouxXcp", kind)) {
        snprintf(text, sizeof text, spec, next_of(p, rest, false));
    } else if (kind == 's') {
        snprintf(text, sizeof text, spec,
                 reach_text_and_tell(p, next_of(p, rest, false), 65536));
    } else if (kind == '%') {
        strcpy(text, "%");
    } else {
        refuse(p, "printing with %%%c", kind);
    }
    print(text, strlen(text));
    return format;
}

static void print_format(struct processor *p, unsigned named)
{
    const char *format = reach_text_and_tell(p, ARG(named - 1), 65536);
    struct rest rest = {named, 0, p->r[RSP] + 8};
    while (*format) {
        const size_t plain = strcspn(format, "%");
        print(format, plain);
        format += plain;
        if (*format)
            format = print_one(p, format, &rest);
    }
    RETURN(0);
}
CALL(printf)
{
    print_format(p, 1);
}
CALL(emu_printf) /* what printf is in a .cu file: all of it is shown at once here */
{
    print_format(p, 1);
}
CALL(fprintf)
{
    print_format(p, 2);
}
static void print_text(struct processor *p)
{
    const char *text = reach_text_and_tell(p, ARG(0), 65536);
    print(text, strlen(text));
    RETURN(0);
}
CALL(puts)
{
    print_text(p);
    print("\n", 1);
}
CALL(fputs)
{
    print_text(p);
}
static void print_character(struct processor *p)
{
    const char c = (char)ARG(0);
    print(&c, 1);
    RETURN(ARG(0));
}
CALL(putchar)
{
    print_character(p);
}
CALL(fputc)
{
    print_character(p);
}
CALL(putc)
{
    print_character(p);
}
CALL(fwrite)
{
    const uint64_t size = ARG(1), count = ARG(2);
    if (size > MOST_PRINTED || count > MOST_PRINTED)
        refuse(p, "too much to print");
    print(reach_and_tell(p, ARG(0), size * count, false), size * count);
    RETURN(count);
}
NOTHING(fflush)

/* ---- the C and C++ libraries ---- */

CALL(strlen)
{
    RETURN(strlen(reach_text_and_tell(p, ARG(0), 1 << 20)));
}
CALL(strcmp)
{
    const char *first = reach_text_and_tell(p, ARG(0), 1 << 20);
    RETURN(strcmp(first, reach_text_and_tell(p, ARG(1), 1 << 20)));
}
CALL(memcmp)
{
    const void *first = reach_and_tell(p, ARG(0), ARG(2), false);
    RETURN(memcmp(first, reach_and_tell(p, ARG(1), ARG(2), false), ARG(2)));
}
CALL(abs)
{
    const int value = (int)ARG(0);
    RETURN((unsigned)(value < 0 ? -value : value));
}
CALL(__popcountdi2)
{
    RETURN(__builtin_popcountll(ARG(0)));
}

static void allocate(struct processor *p, size_t n)
{
    void *place = emu_current ? NULL : image_allocate(n);
    if (!place)
        refuse(p, "no memory for %zu bytes", n);
    RETURN(place);
}
CALL(malloc)
{
    allocate(p, ARG(0));
}
CALL(calloc)
{
    const size_t n =
        ARG(0) < 1 << 28 && ARG(1) < 1 << 28 ? ARG(0) * ARG(1) : SIZE_MAX / 2;
    allocate(p, n);
}
NOTHING(free)
CALL(_Znwm) /* new, new[], delete, delete[] */
{
    allocate(p, ARG(0));
}
CALL(_Znam)
{
    allocate(p, ARG(0));
}
NOTHING(_ZdlPv)
NOTHING(_ZdlPvm)
NOTHING(_ZdaPv)
NOTHING(_ZdaPvm)
NOTHING(__cxa_atexit)

#define ENDS(name, what)                                                                 \
    CALL(name)                                                                           \
    {                                                                                    \
        refuse(p, what);                                                                 \
    }
ENDS(exit, "exit(): the program is ended before its work is done")
ENDS(abort, "abort(): the program is ended before its work is done")
ENDS(__cxa_pure_virtual, "a call of a virtual function without a body")
ENDS(__gxx_personality_v0, "an exception")
ENDS(_Unwind_Resume, "an exception")
ENDS(__cxa_throw, "an exception")
ENDS(__cxa_rethrow, "an exception")
ENDS(__cxa_begin_catch, "an exception")
ENDS(__cxa_end_catch, "an exception")
ENDS(_ZSt9terminatev, "an exception")
ENDS(_ZSt17__throw_bad_allocv, "an exception: no memory")
ENDS(_ZSt28__throw_bad_array_new_lengthv, "an exception: no memory")
ENDS(_ZSt20__throw_length_errorPKc, "an exception: a length is too large")
ENDS(_ZSt24__throw_out_of_range_fmtPKcz, "an exception: an index is out of range")

/* Functions of numbers: of one, of two, of three; of float and of double. */
#define ONE(name)                                                                        \
    CALL(name##f)                                                                        \
    {                                                                                    \
        p->x[0].f[0] = name##f(p->x[0].f[0]);                                            \
    }                                                                                    \
    CALL(name)                                                                           \
    {                                                                                    \
        p->x[0].d[0] = name(p->x[0].d[0]);                                               \
    }
#define TWO(name)                                                                        \
    CALL(name##f)                                                                        \
    {                                                                                    \
        p->x[0].f[0] = name##f(p->x[0].f[0], p->x[1].f[0]);                              \
    }                                                                                    \
    CALL(name)                                                                           \
    {                                                                                    \
        p->x[0].d[0] = name(p->x[0].d[0], p->x[1].d[0]);                                 \
    }
ONE(acos)
ONE(acosh)
ONE(asin)
ONE(asinh)
ONE(atan)
ONE(atanh)
ONE(cbrt)
ONE(ceil)
ONE(cos)
ONE(cosh)
ONE(erf)
ONE(erfc)
ONE(exp)
ONE(exp10)
ONE(exp2)
ONE(expm1)
ONE(fabs)
ONE(floor)
ONE(j0)
ONE(j1)
ONE(lgamma)
ONE(log)
ONE(log10)
ONE(log1p)
ONE(log2)
ONE(logb)
ONE(nearbyint)
ONE(rint)
ONE(round)
ONE(sin)
ONE(sinh)
ONE(sqrt)
ONE(tan)
ONE(tanh)
ONE(tgamma)
ONE(trunc)
ONE(y0)
ONE(y1)
TWO(atan2)
TWO(copysign)
TWO(fdim)
TWO(fmax)
TWO(fmin)
TWO(fmod)
TWO(hypot)
TWO(nextafter)
TWO(pow)
TWO(remainder)
/* With an integer behind the number. jn and yn are left out: they go through a loop of as
 * many turns as that says, which nobody would count. */
#define AND_INTEGER(name)                                                                \
    CALL(name##f)                                                                        \
    {                                                                                    \
        p->x[0].f[0] = name##f(p->x[0].f[0], (int)ARG(0));                               \
    }                                                                                    \
    CALL(name)                                                                           \
    {                                                                                    \
        p->x[0].d[0] = name(p->x[0].d[0], (int)ARG(0));                                  \
    }
AND_INTEGER(ldexp)
AND_INTEGER(scalbn)
CALL(scalblnf)
{
    p->x[0].f[0] = scalblnf(p->x[0].f[0], (long)ARG(0));
}
CALL(scalbln)
{
    p->x[0].d[0] = scalbln(p->x[0].d[0], (long)ARG(0));
}
/* Numbers that become integers. */
#define INTEGER_OF(name)                                                                 \
    CALL(name##f)                                                                        \
    {                                                                                    \
        RETURN(name##f(p->x[0].f[0]));                                                   \
    }                                                                                    \
    CALL(name)                                                                           \
    {                                                                                    \
        RETURN(name(p->x[0].d[0]));                                                      \
    }
INTEGER_OF(ilogb)
INTEGER_OF(llrint)
INTEGER_OF(llround)
INTEGER_OF(lrint)
INTEGER_OF(lround)
/* Where the second of two results goes. The lens hears of it, if it is not the thread's
 * own. */
static void *second_result(struct processor *p, uint64_t address, size_t n)
{
    check_variable(p, address, n, "a write");
    if (n == 4)
        __tsan_write4((void *)address);
    else
        __tsan_write8((void *)address);
    return reach_for_call(p, address, n, true);
}
#define STORES(name, field, second, ...)                                                 \
    CALL(name)                                                                           \
    {                                                                                    \
        second kept;                                                                     \
        p->x[0].field[0] = name(__VA_ARGS__, &kept);                                     \
        *(second *)second_result(p, ARG(0), sizeof kept) = kept;                         \
    }
STORES(frexpf, f, int, p->x[0].f[0])
STORES(frexp, d, int, p->x[0].d[0])
STORES(modff, f, float, p->x[0].f[0])
STORES(modf, d, double, p->x[0].d[0])
STORES(remquof, f, int, p->x[0].f[0], p->x[1].f[0])
STORES(remquo, d, int, p->x[0].d[0], p->x[1].d[0])
CALL(fmaf)
{
    p->x[0].f[0] = fmaf(p->x[0].f[0], p->x[1].f[0], p->x[2].f[0]);
}
CALL(fma)
{
    p->x[0].d[0] = fma(p->x[0].d[0], p->x[1].d[0], p->x[2].d[0]);
}
/* Numbers of 16 bits. */
double emu_fma16(double a, double b, double c);
CALL(emu_fma16)
{
    p->x[0].d[0] = emu_fma16(p->x[0].d[0], p->x[1].d[0], p->x[2].d[0]);
}
#define OF_16_BITS(name)                                                                 \
    double name(double a, double b);                                                     \
    CALL(name)                                                                           \
    {                                                                                    \
        p->x[0].d[0] = name(p->x[0].d[0], p->x[1].d[0]);                                 \
    }
OF_16_BITS(emu_add16)
OF_16_BITS(emu_sub16)
OF_16_BITS(emu_mul16)
OF_16_BITS(emu_div16)
CALL(sincosf)
{
    const float x = p->x[0].f[0];
    *(float *)second_result(p, ARG(0), sizeof x) = sinf(x);
    *(float *)second_result(p, ARG(1), sizeof x) = cosf(x);
}
CALL(sincos)
{
    const double x = p->x[0].d[0];
    *(double *)second_result(p, ARG(0), sizeof x) = sin(x);
    *(double *)second_result(p, ARG(1), sizeof x) = cos(x);
}
