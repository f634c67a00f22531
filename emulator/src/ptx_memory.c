/* PTX's loads, stores, atomics and copies, and its state spaces. Every access is checked
 * and counted as those of C are. */
#include <string.h>

#include "emulator.h"
#include "emulator_ptx.h"
#include "ptx.h"

#define PC __builtin_return_address(0)

/* Where an address of a state space lies. */
static char *place_of(uint64_t code, uint64_t address, size_t bytes, const void *pc)
{
    const enum ptx_space space = (enum ptx_space)PTX_DETAIL_OF(code);
    if (space == PTX_SHARED || space == PTX_CLUSTER)
        return emu_shared_place(address, bytes, pc);
    return (char *)(uintptr_t)address;
}

void *emu_ptx_reads(uint64_t code, uint64_t address, unsigned bytes)
{
    char *p = place_of(code, address, bytes, PC);
    emu_see_access(p, bytes, EMU_READ, PC, __builtin_frame_address(0));
    return p;
}

void *emu_ptx_writes(uint64_t code, uint64_t address, unsigned bytes)
{
    char *p = place_of(code, address, bytes, PC);
    emu_see_access(p, bytes, EMU_WRITE, PC, __builtin_frame_address(0));
    return p;
}

void *emu_ptx_updates(uint64_t code, uint64_t address, unsigned bytes)
{
    char *p = place_of(code, address, bytes, PC);
    emu_see_access(p, bytes, EMU_ATOMIC, PC, __builtin_frame_address(0));
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

uint64_t emu_ptx_update(uint64_t code, void *p, unsigned element, uint64_t b, uint64_t c)
{
    const unsigned bytes = ptx_types[PTX_TYPE_OF(code)].bits / 8;
    char *at = (char *)p + element * bytes;
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
    case PTX_CLUSTER: return (size_t)(p - emu_dynamic_shared) < EMU_SHARED_BYTES;
    case PTX_GLOBAL:
        return emu_is_device_range(p, 1) ||
               (emu_is_device_variable(p) && !emu_is_constant_variable(p));
    case PTX_CONST: return emu_is_constant_variable(p);
    case PTX_LOCAL: return p >= emu_current->stack_low && p < emu_current->stack_high;
    default: {
        const char *arguments = emu_current_launch->arguments;
        return p >= arguments && p < arguments + emu_current_launch->argument_bytes;
    }
    }
}

/* ---- cp.async ---- */

void emu_ptx_copy_async(uint64_t to, uint64_t from, unsigned bytes, uint64_t source_bytes)
{
    emu_async_copy(emu_shared_place(to, bytes, PC), (const void *)(uintptr_t)from, bytes,
                   source_bytes < bytes ? bytes - source_bytes : 0, PC);
}

void emu_ptx_copy_commit(void)
{
    emu_async_commit();
}

void emu_ptx_copy_wait(uint64_t groups_that_may_remain)
{
    emu_async_wait((unsigned)groups_that_may_remain);
}
