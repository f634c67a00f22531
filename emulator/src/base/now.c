/* Who runs now: the thread of the host that may, and the CUDA thread whose turn it is. */
#include "base/now.h"

#include <pthread.h>

#include "emulator_runtime.h"

struct emu_now emu_now;
volatile unsigned emu_attention = EMU_IDLE;
char *emu_own_low;
size_t emu_own_bytes;
_Thread_local struct emu_thread *emu_current;
uint3 emu_thread_idx, emu_block_idx, emu_block_dim, emu_grid_dim;

int emu_in_kernel(void)
{
    return emu_current != NULL;
}

/* ---- threads of the host ---- */

static pthread_mutex_t one_at_a_time;

__attribute__((constructor(101))) static void make_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&one_at_a_time, &attributes);
}

/* Nothing to lock while there is one thread, which glibc knows since 2.32. */
extern char __libc_single_threaded __attribute__((weak));

bool emu_be_alone(void)
{
    if (&__libc_single_threaded && __libc_single_threaded) return false;
    pthread_mutex_lock(&one_at_a_time);
    return true;
}

void emu_let_others(const bool *alone)
{
    if (*alone) pthread_mutex_unlock(&one_at_a_time);
}
