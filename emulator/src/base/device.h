/* Which GPU is emulated. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_occupancy.h"
#include "cuda_runtime.h"

struct emu_gpu {
    const char *key;            /* the value of EMULATE: "h200" */
    struct cudaDeviceProp prop; /* name ends in " (emulated)" */
    cudaOccDeviceProp limits;   /* the part of prop that cuda_occupancy.h asks for */
    int clock_khz;
    int doubles; /* as many times slower than floats they are */
    bool peers;  /* several of them can use each other's memory */
};
const struct emu_gpu *emu_gpu(void); /* the one chosen by EMULATE, default h200; an
                                        unknown name is one clear line and exit 2 */
/* How many of them there are, EMULATE=h200:4; all alike. Each thread of the host has one
 * that is its current one. */
enum { EMU_MOST_DEVICES = 16 };
int emu_device_count(void);
static inline bool emu_is_device(int device)
{
    return device >= 0 && device < emu_device_count();
}
int emu_device(void);
cudaUUID_t emu_uuid(int device);
void emu_set_device(int device);
/* Whether this thread uses the runtime API, which gives it a context of the driver API; the
 * calls that nearly every program begins with say so. */
bool emu_uses_runtime(void);
void emu_runtime_is_used(bool used);

/* How many blocks of a kernel fit on one SM at once, by each of its four resources. */
struct emu_occupancy {
    unsigned by_warps, by_registers, by_shared, by_blocks;
    unsigned blocks; /* the smallest of the four; 0 if even one block does not fit */
    unsigned warps, max_warps; /* resident on the SM, of as many as it can hold */
};
/* `shared` is static and dynamic shared memory of a block, in bytes. The rules are in
 * cuda_occupancy.h. */
struct emu_occupancy emu_occupancy(unsigned threads_per_block,
                                   unsigned registers_per_thread, size_t shared);

#endif
