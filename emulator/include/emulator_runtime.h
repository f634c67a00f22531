/* What translated CUDA code calls in the emulator's runtime. The CUDA headers beside this
 * file and the code that `bin/nvcc` generates are the only callers; a CUDA program never
 * names anything in here. */
#ifndef EMULATOR_RUNTIME_H
#define EMULATOR_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that runs the kernel once, for the calling CUDA thread. `arguments` is the
 * copy of the launch's arguments that emu_launch made. */
typedef void emu_thread_main(void *arguments);

/* Writes where in there each argument lies, if `places` is not NULL, and returns how many
 * they are. */
struct emu_argument {
    void *at;
    size_t bytes;
};
typedef unsigned emu_places_of(void *arguments, struct emu_argument *places);

struct emu_launch {
    const char *kernel;  /* as written in the source, for messages: "matmul<16>" */
    const void *address; /* of the kernel, the key for cudaFuncSetAttribute; NULL where it
                            has no one address */
    unsigned grid[3];    /* blocks, x y z */
    unsigned block[3];   /* threads a block, x y z */
    unsigned cluster[3]; /* blocks a cluster, x y z; 0: what the kernel says, or 1 */
    size_t dynamic_shared; /* bytes */
    emu_thread_main *run;
    void *arguments; /* the launch's arguments, packed by the caller; alive until
                        emu_launch_kernel returns */
    size_t argument_bytes;
    int cooperative; /* all blocks can wait for each other */
    int early; /* it need not wait until the launch ahead of it in the stream has ended */
    struct CUstream_st *stream;
    emu_places_of *places_of;
};

/* In a kernel, remembers the launch, to run it when the running grid has ended. Else runs
 * every block of the launch to its end before it returns (streams are in order, so
 * nobody can tell). Returns a cudaError_t as an int: 0, or 9 (invalid configuration: zero
 * or too large a grid or block), 1 (invalid value: more dynamic shared memory or more
 * threads than the kernel may have). It does not set the last error. */
int emu_launch_kernel(const struct emu_launch *launch);

/* The barrier of all threads of a cooperative launch; whether this launch is one. */
void emu_grid_barrier(void);
int emu_launch_is_cooperative(void);

/* Begins the body of each kernel: a fault where no launch has led to it, but a call through
 * a pointer. */
void emu_kernel_begins(const char *kernel);

/* Begins the body of a kernel with __launch_bounds__(threads_at_most): in a launch of
 * more, does not return, and emu_launch_kernel fails with 1, which is what cuLaunchKernel
 * says of it. */
void emu_launch_bounds(unsigned threads_at_most);

/* Begins the body of a kernel with __cluster_dims__(x, y, z). */
void emu_cluster_dims(unsigned x, unsigned y, unsigned z);

/* Begins the body of a kernel with a parameter that may hold tensor maps and is not
 * __grid_constant__: this thread's copy of it. The copy engine cannot read them there. */
void emu_own_copy_of_maps(const void *copy, size_t bytes);

/* Where the __device__, __constant__ and __managed__ variables of a module begin and end:
 * each module has one of these, by the name emu_module_sections. NULL where it has none. */
struct emu_sections {
    char *device[2], *constant[2], *managed[2];
};

/* A variable of a template, which no compiler puts into a section, is in that one from now
 * on. */
enum emu_section { EMU_DEVICE, EMU_CONSTANT, EMU_MANAGED };
void emu_variable_of_template(void *variable, size_t bytes, enum emu_section section);

/* A kernel that can be launched by its address, or by its name: the generated code makes
 * one before main, or when a module is loaded. `launch` takes the arguments' addresses, or
 * where those are NULL all of them in one buffer, each at the next multiple of its
 * alignment. */
struct emu_known_kernel {
    void (*function)(void);
    const char *name;
    int (*launch)(void (*function)(void), const char *name,
                  const struct emu_launch *shape, void **values, char *buffer);
    const struct emu_known_kernel *others;
};
void emu_know_kernel(struct emu_known_kernel *kernel);
const struct emu_known_kernel *emu_find_kernel(const void *function); /* or NULL */

/* The kernel has such bounds. The occupancy calls need to know before it is launched. */
void emu_note_launch_bounds(const void *kernel, unsigned threads_at_most);

/* The storage behind one `__shared__` declaration. A site is static and zero-initialised;
 * the runtime gives it a place in the block's shared memory at each launch's first visit.
 * `alignments` are what its type and its declaration ask for, or-ed together: a GPU
 * promises the largest of them and no more. Never fails: too much shared memory is
 * reported as nvcc would ("uses too much shared data") and ends the program. */
struct emu_shared_site {
    unsigned long long launch;
    void *place;
};
void *emu_shared_array(struct emu_shared_site *site, size_t bytes, size_t alignments,
                       const char *name);

/* A declaration of dynamic shared memory, which asks for these alignments. nvcc gives it
 * 16 bytes at least. Returns where it begins. */
void *emu_dynamic_array(size_t alignments);

/* A static variable in a function that kernels may call: they may use it, unlike other
 * variables of the program. */
void emu_local_static(const void *p, size_t bytes);
/* A bit-field of the object is written next, or all of it by an atomic that does not care
 * what was there. */
void emu_fill_bit_field(const void *object, size_t bytes);

/* A variable of device code whose address host code takes by its name. On a GPU the host has
 * a variable of its own by that name, which kernels and copies know nothing of, and so it
 * is here: returns where that one lies. In a kernel, and for managed variables, returns
 * `variable`. */
void *emu_on_host(void *variable, size_t bytes, const char *name);

/* memcpy, memmove and memset of a .cu file, by the names that compilers give them: what
 * is copied is looked at first. */
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes);
/* g++ reports the copy of a struct; clang++ makes a call of it, by the plain name. */
#if defined(__CUDACC__) && defined(__clang__)
__asm__("memcpy = __tsan_memcpy\n"
        "memmove = __tsan_memmove\n"
        "memset = __tsan_memset");
#endif

/* Each basic block of a .cu file begins with a call of __sanitizer_cov_trace_pc, of which
 * only EMU_WATCHED and EMU_LENS want to know, and each access with one of __tsan_read4 or
 * its like, of which nobody does if it is to the thread's own variables (base/now.h). Many
 * take less time than such a call, so the assembler is told to ask before it. (Of clang++,
 * and on other processors, it is the function that asks.) */
#if defined(__CUDACC__) && !defined(__clang__) && defined(__x86_64__) &&                 \
    !defined(EMU_MODULE)     /* which reaches the program's variables by another way */
__asm__(".ifndef .Lasking\n" /* of several files that -flto makes one */
        ".set .Lasking, 1\n"
        ".macro emu_access function\n"
        "cmpl $0, emu_attention(%rip)\n"
        "jnz .Lsomebody\\@\n"
        "movq %rdi, %rax\n"
        "subq emu_own_low(%rip), %rax\n"
        "cmpq emu_own_bytes(%rip), %rax\n"
        "jb .Lown\\@\n"
        ".Lsomebody\\@:\n"
        "callq \\function\n"
        ".Lown\\@:\n"
        ".endm\n"
        ".macro call function:vararg\n"
        ".ifc \"\\function\", \"__sanitizer_cov_trace_pc@PLT\"\n"
        "testb $12, emu_attention(%rip)\n"
        "jz .Lnobody\\@\n"
        "callq \\function\n"
        ".Lnobody\\@:\n"
        ".else\n"
        ".ifc \"\\function\", \"__tsan_read4@PLT\"\n"
        "emu_access \\function\n"
        ".else\n"
        ".ifc \"\\function\", \"__tsan_write4@PLT\"\n"
        "emu_access \\function\n"
        ".else\n"
        "callq \\function\n"
        ".endif\n"
        ".endif\n"
        ".endif\n"
        ".endm\n"
        ".endif");
#endif

/* malloc and free of functions that kernels may call: the device's heap in a kernel, the
 * host's elsewhere. A full heap (cudaLimitMallocHeapSize) gives NULL. */
void *emu_device_malloc(size_t bytes);
void emu_device_free(void *p);

/* printf of a .cu file. What a kernel prints appears when the host has waited. */
int emu_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* `extern __shared__ T name[];` becomes `extern T name[] __asm__("emu_dynamic_shared");`.
 */

/* __syncthreads and its three reducing forms. Every thread of the block gets the result.
 */
enum emu_barrier_op {
    EMU_BARRIER_PLAIN,
    EMU_BARRIER_COUNT,
    EMU_BARRIER_AND,
    EMU_BARRIER_OR
};
int emu_barrier(int predicate, enum emu_barrier_op op);

/* The barrier of the calling thread's tile, when a block is cut into tiles of so many
 * threads, more than a warp; and 1 KB of the block's shared memory for what they exchange.
 */
void emu_tile_barrier(unsigned threads);
void *emu_tile_room(void);

/* A cluster of blocks: its barrier, in two halves; where a block of it has what this one
 * has at `p` in shared memory, and whose memory p is; how many blocks there are, and which
 * this one is. */
void emu_cluster_barrier_arrive(void);
void emu_cluster_barrier_wait(void);
void *emu_cluster_place(const void *p, unsigned block);
unsigned emu_cluster_owner(const void *p);
unsigned emu_cluster_blocks(void);
unsigned emu_cluster_rank(void);
void emu_cluster_extent(unsigned extent[3]);

/* The one warp primitive: every lane named in `mask` brings a value; each gets the 32
 * values, indexed by lane (of those that came; the others' entries mean nothing). The
 * array stays valid until this lane's next warp operation. Votes, matches and reductions
 * are built on it in the headers. `kind` is for messages: "__shfl_sync". */
const unsigned long long *emu_warp_exchange(unsigned mask, unsigned long long value,
                                            const char *kind);
/* Which they were: the lanes of the mask that exist and, with CHECK=0, have not ended. */
unsigned emu_lanes_that_came(void);
/* What lane `from` brought. One that takes no part has nothing to give: on a GPU the
 * result is undefined, here it is what fresh memory holds, a NaN or -1, so that using it
 * shows. */
unsigned long long emu_warp_shuffle(unsigned mask, unsigned long long value,
                                    unsigned from, const char *kind);

/* __syncwarp: as the exchange, and it also orders the lanes' memory accesses. */
void emu_warp_sync(unsigned mask);

/* The lanes of the caller's warp that are waiting at this same call once no lane of the
 * warp can run on. */
unsigned emu_active_mask(void);

unsigned emu_lane(void); /* 0..31 */
unsigned emu_warp(void); /* index of the warp in its block */
int emu_in_kernel(void); /* 1 while a CUDA thread runs, 0 in host code (for __host__
                            __device__ functions) */

/* Called by an atomic before it touches `p`, with the address of the code that called the
 * atomic: checks the address and counts the access. */
void emu_atomic_access(const volatile void *p, size_t bytes, const void *pc);
/* One that is atomic among the threads of its block only. */
void emu_block_atomic_access(const volatile void *p, size_t bytes, const void *pc);

/* The C++ atomic that comes next, before anything else, is of thread_scope_block. */
void emu_next_atomic_in_block(void);

/* For what there is in global memory only: an address in shared memory is a fault. */
void emu_need_global(const void *p, const char *what);
void emu_need_global_at(const void *p, const char *what, const void *pc);

/* For loads that may take what an unguarded cache holds (`what`: "__ldg"): a fault if a
 * thread of the launch has written any of these bytes. */
void emu_need_unwritten(const void *p, size_t bytes, const char *what);

/* __threadfence_block (`for_all` 0); __threadfence and __threadfence_system. */
void emu_fence(int for_all);
/* The running thread goes on when the launch ahead of its own has ended, which here it has:
 * only then may it touch what that one writes. */
void emu_wait_for_launch_ahead(void);

/* What the array of shared memory that holds p is declared to be aligned to, wherever it
 * may lie today; 1 if none does. */
size_t emu_declared_alignment(const void *p);

/* cp.async as the hardware does it: nothing arrives in shared memory before the wait.
 * `bytes` is 4, 8 or 16; the last `zero_fill` of them are written as zero and not read.
 */
void emu_async_copy(void *shared, const void *global, size_t bytes, size_t zero_fill,
                    const void *pc);
void emu_async_commit(void);
void emu_async_wait(unsigned groups_that_may_remain);

/* What a texture holds at a place, as its components: `real` where they are floats or read
 * as such. `layer` is the layer, or the index in linear memory. */
enum emu_texture_shape {
    EMU_LINEAR,
    EMU_1D,
    EMU_2D,
    EMU_3D,
    EMU_1D_LAYERED,
    EMU_2D_LAYERED,
    EMU_CUBE
};
union emu_component {
    int whole;
    float real;
};
void emu_texture_fetch(union emu_component value[4], unsigned long long object,
                       enum emu_texture_shape shape, float x, float y, float z, int layer,
                       const void *pc);
/* One component of the four elements that a linear filter would read there, the left one of
 * the upper row first and then counterclockwise, as tex2Dgather has them. */
void emu_texture_gather(union emu_component value[4], unsigned long long object, float x,
                        float y, int component, const void *pc);
/* Where a surface has `bytes` at byte x of row y of layer z; NULL for nowhere, as `mode`
 * (an enum cudaSurfaceBoundaryMode) allows. */
void *emu_surface_place(unsigned long long object, int x, int y, int z, size_t bytes,
                        int mode, const void *pc);

/* Ends the program with a fault report in the emulator's form: what, where (source line
 * of `pc`), which thread. */
void emu_fault(const void *pc, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* The same, where the blame is with whoever has called the function that `pc` is in. */
void emu_fault_outside(const void *pc, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* The report alone. */
void emu_tell_fault(const void *pc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The calls under way when the host starts a library's kernel. The lines of such a kernel
 * are not the reader's, and it runs on a stack of its own, so a fault there looks for the
 * reader's line among these. Each begin has its end; in between they may be nested. */
struct emu_calls {
    const void *at[24]; /* return addresses, the innermost first; NULL behind the last */
    struct emu_calls *before;
};
void emu_calls_begin(struct emu_calls *calls);
void emu_calls_end(struct emu_calls *calls);

/* __trap(), or PTX's trap, in a kernel; and assert(). They end the launch, and the device
 * has failed. */
void emu_trap(const void *pc, const char *what) __attribute__((noreturn));
void emu_assertion_fails(const void *pc, const char *assertion) __attribute__((noreturn));

/* Counts steps of the calling thread's block, not cycles; and makes larger ones for who does
 * nothing but ask. */
unsigned long long emu_clock(void);

#ifdef __cplusplus
}
#endif
#endif
