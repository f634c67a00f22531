/* The copy engine. */
#ifndef BULK_H
#define BULK_H

#include <stddef.h>
#include <stdint.h>

#include "base/now.h"

/* Bytes, or a box of a tensor from coordinates `at`, first dimension first, into shared
 * memory; reported to the barrier. `blocks`: to the same place in each of these of the
 * cluster, a bit each; 0 for the place as it is. And out of it; `code` is 0 or says how
 * to reduce (an operation, and for bytes a type, as ptx.h writes them). */
void emu_bulk_load(char *shared, const void *global, size_t bytes, uint64_t *barrier,
                   unsigned blocks, const void *pc);
void emu_bulk_load_tensor(char *shared, const void *map, int dimensions, const int *at,
                          uint64_t *barrier, unsigned blocks, const void *pc);
/* From this block's shared memory to that of a block of the cluster. */
void emu_bulk_send(char *to, char *from, size_t bytes, uint64_t code, uint64_t *barrier,
                   const void *pc);
void emu_bulk_store(void *global, char *shared, size_t bytes, uint64_t code,
                    const void *pc);
void emu_bulk_store_tensor(const void *map, int dimensions, const int *at, char *shared,
                           uint64_t code, const void *pc);
void emu_bulk_block_begins(void);
void emu_bulk_block_ended(void);

#endif
