/* Streams and events: what orders the work of devices. */
#ifndef STREAMS_H
#define STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_runtime_api.h"

/* What a program has set for a stream, or a kernel's node of a graph. It may ask for it. */
struct emu_attributes {
    cudaLaunchAttributeValue of[cudaLaunchAttributePreferredSharedMemoryCarveout + 1];
};
static inline bool emu_is_attribute(cudaLaunchAttributeID attribute)
{
    return attribute > cudaLaunchAttributeIgnore &&
           attribute <= cudaLaunchAttributePreferredSharedMemoryCarveout;
}

/* Work of a stream (0: the default one of the current device): a launch, a copy, a
 * library's call. Until the next begins, all that is done to device memory is its. */
cudaError_t emu_work_begins(cudaStream_t stream);
/* That of a kernel. An early one may begin before the kernel right ahead of it in its
 * stream has ended (programmatic stream serialization). Until a thread has waited for that
 * one (griddepcontrol.wait), nothing orders what it touches after what the one ahead has
 * written, unless that one has fenced and tells by a flag. (What the one ahead only reads
 * is not looked at: it may be over by the time at which an early launch can begin.) */
cudaError_t emu_launch_begins(cudaStream_t stream, bool early, bool ahead_has_fenced);
/* What runs from now on comes after the kernel ahead: the launch is over, or all that is left
 * of it is what its threads have launched. */
void emu_early_launch_ends(void);
/* The stream does something else, which ends what is ahead of it and is no work here. */
void emu_no_launch_follows(cudaStream_t stream);
/* A block or cluster of a launch: one that has waited for others is taken to know what
 * they know. */
void emu_early_block_begins(bool has_run_before);
/* Some of the running block's threads have waited for the kernel ahead, and others have
 * not: these threads have met others, and count as told if any has waited. */
extern bool emu_some_have_waited;
void emu_tell_of_waiting(unsigned first, unsigned count);
/* Atomics may tell a thread that the kernel ahead is over, or a part of it. */
extern bool emu_flags_tell;
/* Whether an access at that time was of that kernel. */
bool emu_in_launch_ahead(uint32_t time);
/* That of a library's call, which may change memory in whatever way. */
cudaError_t emu_call_begins(cudaStream_t stream);
extern int emu_working_device; /* whose stream it is */
/* The host goes on when it is over; or all that was enqueued on the device, or on any if
 * it is -1. */
void emu_host_waits_for_work(void);
void emu_host_waits_for_device(int device);
/* What goes on in one of these streams from now on comes after what was enqueued in any
 * of them. */
void emu_join_streams(cudaStream_t *streams, int count);
/* The same with all streams of these devices. */
void emu_join_devices(const int *devices, int count);
/* The stream that the handle means where the device is current; NULL if none. */
cudaStream_t emu_stream_on(cudaStream_t handle, int device);

/* Whether other work may be under way beside the present; and one piece of work. */
extern bool emu_concurrent;
struct emu_work {
    unsigned column;
    uint32_t number; /* in its column */
};
/* The present work, on memory that the host sees or not; false if nothing can come to be
 * unordered with it. */
bool emu_present_work(struct emu_work *work, bool host_sees);
/* Whether nothing orders it before the present; and whether the host knows that it is
 * over. */
bool emu_is_unordered_work(const struct emu_work *work);
bool emu_is_over(const struct emu_work *work);
/* Whether an access at that time was of work that nothing orders before the present; and
 * all such work is forgotten. */
bool emu_in_other_work(uint32_t time);
void emu_forget_works(void);
/* Whether the host has work to wait for; and whether a piece of work, or that of an access
 * at that time, is such. */
extern bool emu_host_is_behind;
bool emu_may_go_on(const struct emu_work *work);
bool emu_in_unfinished_work(uint32_t time);

#endif
