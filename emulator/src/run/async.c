/* cp.async: copies of 4, 8 or 16 bytes from global to shared memory. They belong to their
 * thread, and arrive when it waits for them, or when a thread waits for an mbarrier at
 * which it arrives behind them: whichever comes first. */
#include "run/async.h"

#include <string.h>

#include "base/now.h"
#include "base/room.h"
#include "block/fibers.h"
#include "emulator_runtime.h"
#include "watch/inflight.h"
#include "watch/lens.h"

struct emu_pending_copy { /* one cp.async that has not arrived */
    void *shared;
    const void *pc;
    unsigned bytes, group;
    unsigned number;       /* of its thread's, from 1 on */
    unsigned shared_loads; /* of its thread, when it was started */
    unsigned char data[16];
};

void emu_async_copy(void *shared, const void *global, size_t bytes, size_t zero_fill,
                    const void *pc)
{
    struct emu_fiber *t = emu_running();
    if (bytes != 4 && bytes != 8 && bytes != 16)
        emu_fault(pc, "an asynchronous copy moves 4, 8 or 16 bytes, not %zu", bytes);
    if (zero_fill > bytes) zero_fill = bytes;
    EMU_ROOM_FOR_ONE(t->copies, t->copy_count, t->copy_capacity,
                     "for a pending asynchronous copy");
    emu_check_async_issue(shared, global, bytes, zero_fill, pc);
    if (emu_now.lens_looks)
        emu_lens_async_copy(shared, global, bytes, zero_fill, pc,
                            __builtin_frame_address(0));
    struct emu_pending_copy *copy = &t->copies[t->copy_count++];
    *copy = (struct emu_pending_copy){.shared = shared,
                                      .pc = pc,
                                      .bytes = (unsigned)bytes,
                                      .group = t->groups_committed,
                                      .number = ++t->copies_started,
                                      .shared_loads = t->seen.shared_loads};
    memcpy(copy->data, global, bytes - zero_fill);
}

void emu_async_commit(void)
{
    emu_running()->groups_committed++;
}

static void arrive(const struct emu_pending_copy *copy)
{
    emu_check_async_arrival(copy->shared, copy->bytes, copy->pc);
    memcpy(copy->shared, copy->data, copy->bytes);
}

/* They end in the order in which they began. */
static void forget_first(struct emu_fiber *t, unsigned came)
{
    t->copy_count -= came;
    memmove(t->copies, t->copies + came, t->copy_count * sizeof *t->copies);
}

void emu_async_wait(unsigned groups_that_may_remain)
{
    struct emu_fiber *t = emu_running();
    unsigned came = 0;
    for (; came < t->copy_count; came++) {
        const struct emu_pending_copy *copy = &t->copies[came];
        if (copy->group >= t->groups_committed ||
            t->groups_committed - copy->group <= groups_that_may_remain)
            break;
        arrive(copy);
        if (emu_now.lens_looks)
            emu_lens_copy_arrived(t->seen.shared_loads - copy->shared_loads);
    }
    forget_first(t, came);
}

unsigned emu_async_last(void)
{
    const struct emu_fiber *t = emu_running();
    return t->copy_count ? t->copies[t->copy_count - 1].number : 0;
}

void emu_async_come(unsigned number)
{
    struct emu_fiber *t = emu_running();
    unsigned came = 0;
    while (came < t->copy_count && t->copies[came].number <= number)
        arrive(&t->copies[came++]);
    forget_first(t, came);
}

/* A copy that is still on its way writes into shared memory that is the next block's. */
void emu_check_copies_arrived(void)
{
    for (struct emu_fiber *t = emu_fibers; t < emu_fibers_end(); t++) {
        if (t->copy_count == 0) continue;
        emu_current = &t->seen;
        emu_fault(t->copies[0].pc,
                  "asynchronous copy not waited for: the block has ended, and this copy "
                  "may still be on its way into shared memory that is another block's by "
                  "then (a missing __pipeline_wait_prior(0) at the end?)");
    }
}
