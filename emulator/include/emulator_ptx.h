/* What becomes of inline PTX: the compiler (src/compile/ptx_compile.c) turns every
 * instruction of an asm statement into calls of these, or, where that says the same, of
 * what emulator_runtime.h has. Nobody else names anything in here.
 *
 * `code` says what the instruction's modifiers say (src/base/ptx.h). Values are 64 bits
 * wide; what a narrower register leaves free is zero. Addresses are what PTX calls
 * addresses: in shared memory offsets, elsewhere the pointers of C. */
#ifndef EMULATOR_PTX_H
#define EMULATOR_PTX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The running thread's carry, which add.cc leaves for addc. */
uint64_t emu_ptx_carry(void);
void emu_ptx_set_carry(uint64_t carry);
/* Arithmetic: a value made of values, and of nothing else. */
uint64_t emu_ptx_alu(uint64_t code, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
    __attribute__((const));
/* The video instructions on `bits` 8 or 16 bits at a time: 'a'dd, 's'ub, a'v'erage,
 * absolute 'd'ifference, mi'n', ma'x' of a's and b's parts, those of `signs` (1: of a,
 * 2: of b, 4: of the result) signed. */
uint64_t emu_ptx_video(int op, int bits, unsigned signs, int saturate, int add_up,
                       uint64_t a, uint64_t b, uint64_t c) __attribute__((const));
/* A special register, such as %tid.x: which one, and which of its components. */
uint64_t emu_ptx_special(unsigned which, unsigned component);

/* ---- memory ---- */

/* Where a load or store of so many bytes goes; it is checked and counted here, as one
 * access. Then its elements, one by one, in the type of the code. */
void *emu_ptx_reads(uint64_t code, uint64_t address, unsigned bytes);
void *emu_ptx_writes(uint64_t code, uint64_t address, unsigned bytes);
uint64_t emu_ptx_peek(uint64_t code, const void *p, unsigned element);
void emu_ptx_poke(uint64_t code, void *p, unsigned element, uint64_t value);
/* Atomics give what was there. `c` is only for cas. */
void *emu_ptx_updates(uint64_t code, uint64_t address, unsigned bytes);
uint64_t emu_ptx_update(uint64_t code, void *p, unsigned element, uint64_t b, uint64_t c);
/* cvta from and to a state space, and isspacep. */
uint64_t emu_ptx_to_generic(uint64_t code, uint64_t address);
uint64_t emu_ptx_from_generic(uint64_t code, uint64_t address);
uint64_t emu_ptx_is_space(uint64_t code, uint64_t address);
/* mapa: the same place in another block's shared memory; and getctarank: whose it is. */
uint64_t emu_ptx_map_to_block(uint64_t code, uint64_t address, uint64_t rank);
uint64_t emu_ptx_block_of(uint64_t code, uint64_t address);
/* st.async and red.async: values, one after the other, that a barrier counts as bytes. */
void emu_ptx_store_async(uint64_t code, uint64_t to, uint64_t barrier, unsigned bytes,
                         ...);

/* cp.async: `bytes`, of which the first `source_bytes` are read and the rest is zero. */
void emu_ptx_copy_async(uint64_t to, uint64_t from, unsigned bytes,
                        uint64_t source_bytes);

/* ---- mbarriers and the copy engine ---- */

void emu_ptx_mbarrier_init(uint64_t code, uint64_t barrier, uint64_t arrivals);
void emu_ptx_mbarrier_inval(uint64_t code, uint64_t barrier);
/* `what`: bit 0 drops the arrivals, bit 1 announces bytes besides. Gives the state. */
uint64_t emu_ptx_mbarrier_arrive(uint64_t code, unsigned what, uint64_t barrier,
                                 uint64_t count, uint64_t bytes);
/* Bytes announced; with `come`, bytes that have come. */
void emu_ptx_mbarrier_expect(uint64_t code, int come, uint64_t barrier, uint64_t bytes);
/* Whether a phase, named by a state or by its parity, is over. All wait for it, as long as
 * anybody can go on. */
uint64_t emu_ptx_mbarrier_test(uint64_t code, int by_parity, uint64_t barrier,
                               uint64_t which);
uint64_t emu_ptx_mbarrier_pending(uint64_t state);
/* cp.async.mbarrier.arrive: when the thread's copies so far have come. */
void emu_ptx_copy_arrive(uint64_t code, int no_increment, uint64_t barrier);
void emu_ptx_fence_mbarrier_init(void);
void emu_ptx_fence_proxy(void);
/* cp.async.bulk; `code` says where a shared address lies, and how to reduce. `blocks` of
 * the cluster get what is loaded, a bit each; 0: the one that asks. */
void emu_ptx_bulk_load(uint64_t code, uint64_t to, uint64_t from, uint64_t bytes,
                       uint64_t barrier, uint64_t blocks);
/* From shared memory to another block's. */
void emu_ptx_bulk_send(uint64_t code, uint64_t to, uint64_t from, uint64_t bytes,
                       uint64_t barrier);
void emu_ptx_bulk_store(uint64_t code, uint64_t to, uint64_t from, uint64_t bytes);
/* Of a tensor: from coordinates x y z u v on, of which `dimensions` count. */
void emu_ptx_bulk_load_tensor(uint64_t code, int dimensions, uint64_t to, uint64_t map,
                              uint64_t barrier, uint64_t blocks, uint64_t x, uint64_t y,
                              uint64_t z, uint64_t u, uint64_t v);
void emu_ptx_bulk_store_tensor(uint64_t code, int dimensions, uint64_t map, uint64_t from,
                               uint64_t x, uint64_t y, uint64_t z, uint64_t u,
                               uint64_t v);
void emu_ptx_bulk_commit(void);
void emu_ptx_bulk_wait(uint64_t groups_that_may_remain);

/* ---- between threads ---- */

/* bar: a barrier's number, how many threads take part (0: all), and what it does with the
 * predicate (an enum emu_barrier_op; a plain one for -1 does not wait). */
uint64_t emu_ptx_barrier(int op, uint64_t number, uint64_t threads, uint64_t predicate);
void emu_ptx_cluster_arrive(int orders_memory);
/* Which lane a shuffle reads, and in bit 8 whether that one lies within its part of the
 * warp; and the shuffle. */
uint64_t emu_ptx_shuffle_lane(unsigned mode, uint64_t b, uint64_t c);
uint64_t emu_ptx_shuffle(unsigned mode, uint64_t mask, uint64_t value, uint64_t lane);
/* vote, match, redux, elect: the code's detail is an enum ptx_vote. */
uint64_t emu_ptx_vote(uint64_t code, uint64_t value, uint64_t mask);
/* setmaxnreg: a warpgroup asks for more registers a thread, or gives some back. */
void emu_ptx_set_registers(int more, uint64_t registers);
void emu_ptx_exit(void) __attribute__((noreturn));
void emu_ptx_trap(const char *name) __attribute__((noreturn));
/* Where a library's header has an instruction that is not known. */
void emu_ptx_unknown(const char *what);

/* ---- matrices; all lanes of a warp together ---- */

/* `d`: where the results go. Then the registers, as 64-bit values: of mma those of a, b
 * and c; of ldmatrix an address, of stmatrix an address and the values. */
void emu_ptx_mma(uint64_t code, unsigned shape, uint64_t *d, ...);
/* wgmma: m64 n k; the numbers that follow the matrices in PTX; then the four registers of a
 * or its descriptor, the descriptor of b, and the addresses of the registers of d. */
void emu_ptx_wgmma(uint64_t code, unsigned n, unsigned k, uint64_t scale_d,
                   uint64_t scale_a, uint64_t scale_b, uint64_t transpose_a,
                   uint64_t transpose_b, ...);
void emu_ptx_wgmma_fence(void);
void emu_ptx_wgmma_commit(void);
void emu_ptx_wgmma_wait(uint64_t groups_that_may_remain);
void emu_ptx_load_matrix(uint64_t code, uint64_t *d, uint64_t address);
void emu_ptx_store_matrix(uint64_t code, uint64_t address, ...);

#ifdef __cplusplus
}

namespace emu
{

/* An operand's constraint letter says what C++ type it may have; NVIDIA's compiler is as
 * strict. */
template <class T_> struct is_number {
    static const bool single = false, wide = false;
};
template <> struct is_number<float> {
    static const bool single = true, wide = false;
};
template <> struct is_number<double> {
    static const bool single = false, wide = true;
};

template <char LETTER, class T_> static __forceinline__ void ptx_check_type()
{
    const bool single = is_number<T_>::single, wide = is_number<T_>::wide;
    static_assert(LETTER != 'h' || (sizeof(T_) == 2 && __is_trivially_copyable(T_)),
                  "an asm operand with constraint \"h\" is an integer of 2 bytes");
    static_assert(LETTER != 'r' || (sizeof(T_) == 4 && !single),
                  "an asm operand with constraint \"r\" is an integer of 4 bytes");
    static_assert(LETTER != 'l' || (sizeof(T_) == 8 && !wide),
                  "an asm operand with constraint \"l\" is an integer or a pointer, of 8 "
                  "bytes");
    static_assert(LETTER != 'f' || single,
                  "an asm operand with constraint \"f\" is a float");
    static_assert(LETTER != 'd' || wide,
                  "an asm operand with constraint \"d\" is a double");
}

template <char LETTER, class T_> static __forceinline__ uint64_t ptx_value(T_ value)
{
    ptx_check_type<LETTER, T_>();
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

/* The product of the lower 24 bits. */
template <bool SIGNED> static __forceinline__ uint64_t mul24(uint64_t a, uint64_t b)
{
    if (!SIGNED) return (a & 0xffffff) * (b & 0xffffff);
    return (uint64_t)(((int64_t)(a << 40) >> 40) * ((int64_t)(b << 40) >> 40));
}

/* Where an operand lies: one that is written after the statement has ended. */
template <char LETTER, class T_> static __forceinline__ uint64_t ptx_address(T_ &value)
{
    ptx_check_type<LETTER, T_>();
    return (uint64_t)(uintptr_t)&value;
}

/* Where an input lies, or 0 if the expression is none that stays. */
template <class T_> static __forceinline__ uint64_t ptx_place(T_ &value)
{
    return (uint64_t)(uintptr_t)&value;
}
template <class T_> static __forceinline__ uint64_t ptx_place(T_ &&)
{
    return 0;
}

/* Constraint "n": a constant. */
static __forceinline__ uint64_t ptx_constant(long long value)
{
    return (uint64_t)value;
}

template <char LETTER, class T_>
static __forceinline__ void ptx_set(T_ &to, uint64_t bits)
{
    ptx_check_type<LETTER, T_>();
    T_ value;
    __builtin_memcpy(&value, &bits, sizeof value);
    to = value;
}

} // namespace emu
#endif

#endif
