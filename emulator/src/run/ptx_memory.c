/* PTX's loads, stores, atomics and copies, and its state spaces. Every access is checked
 * and counted as those of C are. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/now.h"
#include "base/ptx.h"
#include "block/shared.h"
#include "emulator_ptx.h"
#include "emulator_runtime.h"
#include "memory/copies.h"
#include "memory/touch.h"
#include "memory/variables.h"
#include "run/bulk.h"
#include "run/mbarrier.h"
#include "watch/access.h"
#include "watch/inflight.h"

#define PC __builtin_return_address(0)

static void need_global(const void *p, const char *what, const void *pc)
{
    if (!emu_is_shared(p)) return;
    char name[160];
    emu_describe_shared(name, sizeof name, p);
    emu_fault(pc, "%s%s is in shared memory, where an address in global memory is wanted",
              what, name);
}

void emu_need_global_at(const void *p, const char *what, const void *pc)
{
    if (!emu_is_shared(p)) return;
    char name[200];
    snprintf(name, sizeof name, "%s: ", what);
    need_global(p, name, pc);
}

void emu_need_global(const void *p, const char *what)
{
    emu_need_global_at(p, what, PC);
}

/* Where an address of a state space lies. */
static char *place_of(uint64_t code, uint64_t address, size_t bytes, const void *pc)
{
    const enum ptx_space space = (enum ptx_space)PTX_DETAIL_OF(code);
    if (space == PTX_GLOBAL) need_global((const void *)(uintptr_t)address, "", pc);
    if (space != PTX_SHARED && space != PTX_CLUSTER) return (char *)(uintptr_t)address;
    char *p = emu_shared_place(address, bytes, pc);
    if (space == PTX_SHARED && emu_shared_rank(p) != emu_current->rank)
        emu_fault(pc,
                  "an address in the shared memory of block %u of the cluster, where one "
                  "in the own block's is wanted (.shared::cluster takes it)",
                  emu_shared_rank(p));
    return p;
}

static uint64_t *barrier_at(uint64_t code, uint64_t address, const void *pc)
{
    return (uint64_t *)place_of(code, address, 8, pc);
}

/* A kind of access, with what the code says of its strength. */
static enum emu_access kind_of(enum emu_access kind, uint64_t code)
{
    if (kind == EMU_ATOMIC)
        return code & PTX_IN_BLOCK ? (enum emu_access)(kind | IN_BLOCK) : kind;
    return code & PTX_STRONG ? (enum emu_access)(kind | VOLATILE) : kind;
}

void *emu_ptx_reads(uint64_t code, uint64_t address, unsigned bytes)
{
    char *p = place_of(code, address, bytes, PC);
    emu_see_access(p, bytes, kind_of(EMU_READ, code), PC, __builtin_frame_address(0));
    return p;
}

void *emu_ptx_writes(uint64_t code, uint64_t address, unsigned bytes)
{
    char *p = place_of(code, address, bytes, PC);
    emu_see_access(p, bytes, kind_of(EMU_WRITE, code), PC, __builtin_frame_address(0));
    return p;
}

void *emu_ptx_updates(uint64_t code, uint64_t address, unsigned bytes)
{
    char *p = place_of(code, address, bytes, PC);
    emu_see_access(p, bytes, kind_of(EMU_ATOMIC, code), PC, __builtin_frame_address(0));
    return p;
}

static uint64_t load(const void *p, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, p, bytes);
    return value;
}

uint64_t emu_ptx_peek(uint64_t code, const void *p, unsigned element)
{
    const struct ptx_type_info *type = &ptx_types[PTX_TYPE_OF(code)];
    const uint64_t value =
        load((const char *)p + element * type->bits / 8, type->bits / 8);
    const unsigned free_bits = 64 - type->bits;
    return type->kind == PTX_SIGNED
               ? (uint64_t)((int64_t)(value << free_bits) >> free_bits)
               : value;
}

void emu_ptx_poke(uint64_t code, void *p, unsigned element, uint64_t value)
{
    const unsigned bytes = ptx_types[PTX_TYPE_OF(code)].bits / 8;
    memcpy((char *)p + element * bytes, &value, bytes);
}

/* In global memory the atomic sum of floats takes and gives no subnormal numbers (PTX ISA,
 * atom); in shared memory it does. */
static uint64_t flushing(uint64_t code)
{
    const bool sum = PTX_OP_OF(code) == PTX_ADD && PTX_TYPE_OF(code) == PTX_F32;
    return sum ? code | PTX_FTZ : code;
}

uint64_t emu_ptx_update(uint64_t code, void *p, unsigned element, uint64_t b, uint64_t c)
{
    const unsigned bytes = ptx_types[PTX_TYPE_OF(code)].bits / 8;
    char *at = (char *)p + element * bytes;
    if (!emu_is_shared(p)) code = flushing(code);
    const uint64_t old = load(at, bytes), new = emu_ptx_alu(code, old, b, c, 0);
    memcpy(at, &new, bytes);
    return old;
}

/* ---- state spaces ---- */

uint64_t emu_ptx_to_generic(uint64_t code, uint64_t address)
{
    return (uint64_t)(uintptr_t)place_of(code, address, 0, PC);
}

uint64_t emu_ptx_from_generic(uint64_t code, uint64_t address)
{
    const enum ptx_space space = (enum ptx_space)PTX_DETAIL_OF(code);
    if (space == PTX_SHARED || space == PTX_CLUSTER)
        return emu_shared_address((const void *)(uintptr_t)address, PC);
    return address;
}

uint64_t emu_ptx_is_space(uint64_t code, uint64_t address)
{
    const char *p = (const char *)(uintptr_t)address;
    switch (PTX_DETAIL_OF(code)) {
    case PTX_SHARED:
        return (size_t)(p - emu_dynamic_shared) < EMU_SHARED_BYTES &&
               emu_shared_rank(p) == emu_current->rank;
    case PTX_CLUSTER: return (size_t)(p - emu_dynamic_shared) < EMU_SHARED_BYTES;
    case PTX_GLOBAL:
        return emu_is_device_range(p, 1) ||
               (emu_is_device_variable(p) && !emu_is_constant_variable(p));
    case PTX_CONST: return emu_is_constant_variable(p);
    case PTX_LOCAL: return p >= emu_current->stack_low && p < emu_current->stack_high;
    default: {
        const char *arguments = emu_now.launch->arguments;
        return p >= arguments && p < arguments + emu_now.launch->argument_bytes;
    }
    }
}

/* The same under CUDA's names, as device_functions.h declares them. */
unsigned __isConstant(const void *p);
unsigned __isLocal(const void *p);
void *__cvta_shared_to_generic(size_t offset);
unsigned __isConstant(const void *p)
{
    return (unsigned)emu_ptx_is_space(PTX_CODE(0, 0, 0, 0, PTX_CONST), (uintptr_t)p);
}
unsigned __isLocal(const void *p)
{
    return (unsigned)emu_ptx_is_space(PTX_CODE(0, 0, 0, 0, PTX_LOCAL), (uintptr_t)p);
}
void *__cvta_shared_to_generic(size_t offset)
{
    return emu_shared_place(offset, 0, PC);
}

uint64_t emu_ptx_map_to_block(uint64_t code, uint64_t address, uint64_t rank)
{
    if (PTX_DETAIL_OF(code) == PTX_CLUSTER)
        return emu_shared_address_in((uint32_t)address, (unsigned)rank, PC);
    return (uintptr_t)emu_shared_place_in((const void *)(uintptr_t)address,
                                          (unsigned)rank, PC);
}

uint64_t emu_ptx_block_of(uint64_t code, uint64_t address)
{
    return emu_shared_rank(place_of(code, address, 0, PC));
}

void emu_ptx_store_async(uint64_t code, uint64_t to, uint64_t barrier, unsigned bytes,
                         ...)
{
    const unsigned each = ptx_types[PTX_TYPE_OF(code)].bits / 8;
    char data[16];
    va_list values;
    va_start(values, bytes);
    for (unsigned i = 0; i < bytes; i += each) {
        const uint64_t x = va_arg(values, uint64_t);
        memcpy(data + i, &x, each);
    }
    va_end(values);
    char *p = place_of(code, to, bytes, PC);
    uint64_t *b = barrier_at(code, barrier, PC);
    emu_see_access(p, bytes, PTX_OP_OF(code) ? EMU_ATOMIC : EMU_WRITE, PC,
                   __builtin_frame_address(0));
    if (PTX_OP_OF(code))
        emu_ptx_update(code, p, 0, load(data, each), 0);
    else
        memcpy(p, data, bytes);
    emu_mbarrier_arrive(b, 0, -(int64_t)bytes, false, PC);
}

/* ---- cp.async ---- */

void emu_ptx_copy_async(uint64_t to, uint64_t from, unsigned bytes, uint64_t source_bytes)
{
    if (source_bytes > bytes)
        emu_fault(PC, "cp.async: a source of %llu bytes for a copy of %u",
                  (unsigned long long)source_bytes, bytes);
    emu_async_copy(emu_shared_place(to, bytes, PC), (const void *)(uintptr_t)from, bytes,
                   bytes - source_bytes, PC);
}

/* ---- mbarriers ---- */

void emu_ptx_mbarrier_init(uint64_t code, uint64_t barrier, uint64_t arrivals)
{
    emu_mbarrier_init(barrier_at(code, barrier, PC), (unsigned)arrivals, PC);
}

void emu_ptx_mbarrier_inval(uint64_t code, uint64_t barrier)
{
    emu_mbarrier_inval(barrier_at(code, barrier, PC), PC);
}

uint64_t emu_ptx_mbarrier_arrive(uint64_t code, unsigned what, uint64_t barrier,
                                 uint64_t count, uint64_t bytes)
{
    return emu_mbarrier_arrive(barrier_at(code, barrier, PC), (unsigned)count,
                               what & 2 ? (int64_t)bytes : 0, what & 1, PC);
}

void emu_ptx_mbarrier_expect(uint64_t code, int come, uint64_t barrier, uint64_t bytes)
{
    emu_mbarrier_expect(barrier_at(code, barrier, PC),
                        come ? -(int64_t)bytes : (int64_t)bytes, PC);
}

uint64_t emu_ptx_mbarrier_test(uint64_t code, int by_parity, uint64_t barrier,
                               uint64_t which)
{
    return emu_mbarrier_wait(barrier_at(code, barrier, PC), by_parity, which, true, PC);
}

void emu_ptx_copy_arrive(uint64_t code, int no_increment, uint64_t barrier)
{
    emu_mbarrier_arrive_after_copies(barrier_at(code, barrier, PC), no_increment, PC);
}

void emu_ptx_fence_proxy(void)
{
    emu_ptx_fence_mbarrier_init();
    emu_check_proxy_fence(PC);
}

/* ---- the copy engine ---- */

void emu_ptx_bulk_load(uint64_t code, uint64_t to, uint64_t from, uint64_t bytes,
                       uint64_t barrier, uint64_t blocks)
{
    emu_bulk_load(place_of(code, to, 0, PC), (const void *)(uintptr_t)from,
                  (uint32_t)bytes, barrier_at(code, barrier, PC), (unsigned)blocks, PC);
}

/* The operation and type of a reduction, 0 of a plain copy. */
static uint64_t reduction_of(uint64_t code)
{
    return PTX_OP_OF(code) ? PTX_CODE(PTX_OP_OF(code), PTX_TYPE_OF(code), 0, 0, 0) : 0;
}

void emu_ptx_bulk_store(uint64_t code, uint64_t to, uint64_t from, uint64_t bytes)
{
    emu_bulk_store((void *)(uintptr_t)to, place_of(code, from, 0, PC), (uint32_t)bytes,
                   flushing(reduction_of(code)), PC);
}

void emu_ptx_bulk_load_tensor(uint64_t code, int dimensions, uint64_t to, uint64_t map,
                              uint64_t barrier, uint64_t blocks, uint64_t x, uint64_t y,
                              uint64_t z, uint64_t u, uint64_t v)
{
    const int at[] = {(int)x, (int)y, (int)z, (int)u, (int)v};
    emu_bulk_load_tensor(place_of(code, to, 0, PC), (const void *)(uintptr_t)map,
                         dimensions, at, barrier_at(code, barrier, PC), (unsigned)blocks,
                         PC);
}

void emu_ptx_bulk_send(uint64_t code, uint64_t to, uint64_t from, uint64_t bytes,
                       uint64_t barrier)
{
    const uint64_t own = PTX_CODE(0, 0, 0, 0, PTX_SHARED);
    emu_bulk_send(place_of(code, to, 0, PC), place_of(own, from, 0, PC), (uint32_t)bytes,
                  reduction_of(code), barrier_at(code, barrier, PC), PC);
}

void emu_ptx_bulk_store_tensor(uint64_t code, int dimensions, uint64_t map, uint64_t from,
                               uint64_t x, uint64_t y, uint64_t z, uint64_t u, uint64_t v)
{
    const int at[] = {(int)x, (int)y, (int)z, (int)u, (int)v};
    emu_bulk_store_tensor((const void *)(uintptr_t)map, dimensions, at,
                          place_of(code, from, 0, PC), reduction_of(code), PC);
}
