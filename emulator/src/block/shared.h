/* Shared memory: which arrays there are, and where; its addresses. */
#ifndef SHARED_H
#define SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/now.h"

/* One range, a window for each block of a cluster; dynamic memory first, then the static
 * arrays with gaps between them. */
#define EMU_WINDOW_BYTES (512 * 1024)
#define EMU_SHARED_BYTES (EMU_MAX_BLOCKS * EMU_WINDOW_BYTES)
extern char emu_dynamic_shared[EMU_SHARED_BYTES];
/* Kernels name it, so its address stands in their code. Programs that our nvcc links have it
 * here, far from code and heap and within reach of both, and get the memory when they
 * start, for the reason of EMU_TABLE. In others, and those that lie anywhere (-pie) are
 * among them, it is an array as any. */
#define EMU_SHARED_PLACE 0x7f000000

static inline bool emu_is_shared(const void *p)
{
    return (size_t)((const char *)p - emu_dynamic_shared) < EMU_SHARED_BYTES;
}
/* Whose memory it is: the block of the cluster. */
static inline unsigned emu_shared_rank(const void *p)
{
    return (unsigned)((size_t)((const char *)p - emu_dynamic_shared) / EMU_WINDOW_BYTES);
}

struct emu_shared_extent {
    const char *name;
    char *base;
    size_t bytes;
    size_t alignment; /* that a GPU would give it; here it often has more */
};
/* The array that holds p or the nearest before it; NULL if none. */
const struct emu_shared_extent *emu_find_shared(const void *p);
/* "byte 8 of tile". */
void emu_describe_shared(char *text, size_t size, const char *p);

/* A launch begins, which declares its arrays one after the other as it comes to them; and
 * a block does, for which they hold nothing. */
void emu_shared_launch_begins(void);
void emu_shared_block_begins(void);
/* Bytes that the running launch has declared; and with its dynamic memory. */
size_t emu_static_shared(void);
size_t emu_shared_in_use(void);
/* The two parts of a block's memory, dynamic and static, and their sizes, of which the
 * sum is returned. `static_end`: how far the static arrays reached when they were put
 * aside. */
size_t emu_shared_end(void);
size_t emu_shared_parts(unsigned rank, size_t static_end, char *part[2], size_t bytes[2]);

/* PTX's 32-bit addresses in shared memory, and back; `bytes` from there on must lie
 * within its range, though not within an array. A fault names pc. */
uint32_t emu_shared_address(const void *p, const void *pc);
char *emu_shared_place(uint64_t address, size_t bytes, const void *pc);
/* The same place in the memory of another block of the cluster. */
uint32_t emu_shared_address_in(uint32_t address, unsigned rank, const void *pc);
char *emu_shared_place_in(const void *p, unsigned rank, const void *pc);

/* How the copy engine mixes the 16-byte pieces of rows of 32, 64 or 128 bytes. */
enum emu_swizzle { EMU_SWIZZLE_NONE, EMU_SWIZZLE_32, EMU_SWIZZLE_64, EMU_SWIZZLE_128 };
uintptr_t emu_swizzled(uintptr_t address, enum emu_swizzle swizzle);

#endif
