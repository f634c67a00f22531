/* PTX instructions that CUDA C has no words for, as functions of their names: a program that has them as inline PTX
 * for a GPU calls these on the emulator instead. The runtime takes their caller for the program's own line.
 * All are for kernels. A program includes cuda.h before, for CUtensorMap. */
#ifndef EMULATOR_PTX_H
#define EMULATOR_PTX_H

#include <stdint.h>

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mbarrier.init: the barrier, 8 bytes of shared memory, completes a phase with every `arrivals` arrivals. */
void mbarrier_init(uint64_t *barrier, unsigned arrivals);
/* fence.mbarrier_init: bulk copies see the barriers that the thread has initialised. */
void fence_mbarrier_init(void);
/* mbarrier.arrive */
void mbarrier_arrive(uint64_t *barrier);
/* mbarrier.arrive.expect_tx: besides, the phase lasts until `bytes` more bytes have been copied. */
void mbarrier_arrive_expect_tx(uint64_t *barrier, unsigned bytes);
/* mbarrier.try_wait.parity until it is true: returns once the last phase of that parity has completed. */
void mbarrier_wait_parity(uint64_t *barrier, unsigned parity);
/* cp.async.bulk.tensor.2d: copies the map's box whose first element is in column x and row y. */
void cp_async_bulk_tensor_2d(void *shared, const CUtensorMap *map, int x, int y, uint64_t *barrier);

#ifdef __cplusplus
}
#endif
#endif
