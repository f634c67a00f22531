/* A kernel launch: clusters of blocks run one after the other, in the order x, y, z, and
 * the warps of each take turns until all its threads wait for each other. */
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "base/functions.h"
#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "block/stacks.h"
#include "emulator_runtime.h"
#include "memory/capture.h"
#include "memory/streams.h"
#include "run/async.h"
#include "run/barrier.h"
#include "run/bulk.h"
#include "run/mbarrier.h"
#include "run/warp.h"
#include "run/wgmma.h"
#include "watch/check.h"
#include "watch/lens.h"
#include "watch/words.h"

enum { BLOCK_THREADS = 1024 };

static uint3 cluster_origin;   /* in blocks */
static uint3 declared_cluster; /* what the kernel says of itself, 0 for nothing */
static int refusal;     /* why the kernel itself refuses the launch, 0 if it does not */
static unsigned bounds; /* the threads that it allows, 0 if it does not say */

/* The first thing a thread of such a kernel does, so a refused launch has no effect but
 * its error. */
void emu_launch_bounds(unsigned threads_at_most)
{
    bounds = threads_at_most;
    if (emu_now.block_threads <= threads_at_most) return;
    refusal = cudaErrorInvalidValue;
    emu_wait_as(DONE, NULL);
}

/* Likewise: what a kernel says of its clusters is known only now, and the launch begins
 * again. */
void emu_cluster_dims(unsigned x, unsigned y, unsigned z)
{
    declared_cluster = (uint3){x, y, z};
    if (emu_now.cluster.x != x || emu_now.cluster.y != y || emu_now.cluster.z != z)
        emu_wait_as(DONE, NULL);
}

/* A thread waits in a warp operation that others never reach; where `for_the_ended`, only
 * such a one counts whose mask names lanes that have ended. */
static void report_stuck_warps(bool for_the_ended)
{
    for (struct emu_fiber *t = emu_fibers; t < emu_fibers_end(); t++)
        if (t->state == AT_WARP && (!for_the_ended || emu_ended_lanes(t))) {
            emu_now.block = emu_block_index[t->seen.rank];
            emu_fault_stuck_warp(t);
        }
}

/* No thread can go on by itself. Returns whether one can now; a mistake is reported: lanes
 * that have ended first, since others may wait for those that wait for them. */
static bool release_blocks(void)
{
    bool any = false;
    for (unsigned rank = 0; rank < emu_now.blocks; rank++)
        any |= emu_release_barrier(rank);
    any = any || emu_give_up_conditions(EMU_GIVE_UP);
    if (!any) report_stuck_warps(true);
    for (enum emu_stuck how = EMU_SAY_WHO; !any && how <= EMU_SAY_WHAT; how++)
        any = emu_give_up_conditions(how);
    if (!any) report_stuck_warps(false);
    return any;
}

/* ---- the grid's barrier ---- */

void emu_grid_barrier(void)
{
    const void *pc = __builtin_return_address(0);
    if (!emu_now.launch->cooperative)
        emu_fault(pc, "a barrier of the grid needs a cooperative launch "
                      "(cudaLaunchCooperativeKernel)");
    emu_wait_as(AT_GRID_BARRIER, pc);
}

int emu_launch_is_cooperative(void)
{
    return emu_now.launch && emu_now.launch->cooperative;
}

/* The blocks of a cooperative launch wait for each other, so each has places for its
 * threads, and its shared memory is put aside while others run. */
struct resident {
    struct emu_fiber *threads;
    uint3 origin;
    bool waits;   /* at the grid's barrier */
    char *shared; /* of each of its blocks: dynamic memory and then the static arrays */
    uint8_t *known;
    size_t static_end;
    struct emu_mbarriers *barriers;
};

static void put_aside(struct resident *r)
{
    r->static_end = emu_shared_end();
    r->barriers = emu_mbarriers_put_aside(r->barriers);
    char *part[2];
    size_t bytes[2],
        size = emu_shared_parts(0, r->static_end, part, bytes) * emu_now.blocks;
    r->shared = emu_resized(r->shared, "for the shared memory of a grid", size + 1, 1);
    r->known = emu_resized(r->known, "for the shared memory of a grid", size / 4 + 1, 1);
    char *to = r->shared;
    for (unsigned i = 0; i < 2 * emu_now.blocks; i++) {
        emu_shared_parts(i / 2, r->static_end, part, bytes);
        memcpy(to, part[i % 2], bytes[i % 2]);
        emu_check_keep_known(part[i % 2], bytes[i % 2], r->known + (to - r->shared) / 4);
        to += bytes[i % 2];
    }
}

static void bring_back(const struct resident *r)
{
    char *part[2];
    size_t bytes[2];
    const char *from = r->shared;
    emu_mbarriers_bring_back(r->barriers);
    for (unsigned i = 0; i < 2 * emu_now.blocks; i++) {
        emu_shared_parts(i / 2, r->static_end, part, bytes);
        memcpy(part[i % 2], from, bytes[i % 2]);
        emu_check_restore_known(part[i % 2], bytes[i % 2],
                                r->known + (from - r->shared) / 4);
        from += bytes[i % 2];
    }
}

/* Whether the cluster that has run so far waits at the grid's barrier; all of it must. */
static bool waits_for_grid(void)
{
    const struct emu_fiber *waiting = NULL, *other = NULL;
    for (unsigned rank = 0; rank < emu_now.blocks; rank++)
        for (struct emu_fiber *t = emu_fibers_of(rank);
             t < emu_fibers_of(rank) + emu_now.block_threads; t++)
            if (t->state == AT_GRID_BARRIER)
                waiting = t;
            else if (t->state != DONE || emu_counts_the_ended())
                other = t;
    if (!waiting || !other) return waiting;
    emu_current = (struct emu_thread *)&waiting->seen;
    emu_fault(waiting->pc,
              "barrier divergence: this thread waits for the whole grid while thread "
              "(%u,%u,%u) of its block %s",
              other->seen.index.x, other->seen.index.y, other->seen.index.z,
              other->state == DONE ? "has ended" : "waits elsewhere");
}

/* ---- blocks and launches ---- */

/* Until all have ended, or wait for the whole grid, where `r` waited before. */
static void run_cluster(struct resident *r)
{
    const bool resumes = r && r->waits;
    const unsigned warps = emu_now.places / 32;
    emu_now.threads_left = 0;
    for (unsigned rank = 0; rank < emu_now.blocks; rank++) {
        emu_block_index[rank].x = cluster_origin.x + rank % emu_now.cluster.x;
        emu_block_index[rank].y =
            cluster_origin.y + rank / emu_now.cluster.x % emu_now.cluster.y;
        emu_block_index[rank].z =
            cluster_origin.z + rank / emu_now.cluster.x / emu_now.cluster.y;
        for (struct emu_fiber *t = emu_fibers_of(rank);
             t < emu_fibers_of(rank) + emu_now.block_threads; t++) {
            if (!resumes) {
                t->sp = NULL;
                t->copy_count = t->copies_started = 0;
                t->groups_committed = 0;
                t->carry = 0;
                t->registers = 0;
            }
            if (!resumes || t->state == AT_GRID_BARRIER) {
                t->state = RUNNABLE;
                emu_now.threads_left++;
            }
        }
    }
    emu_shared_block_begins();
    emu_check_block_begins(warps);
    emu_mbarrier_block_begins();
    emu_barriers_begin();
    emu_bulk_block_begins();
    emu_wgmma_block_begins();
    emu_lens_block_begins();
    if (resumes) bring_back(r);
    bool ran;
    do {
        do {
            ran = false;
            for (unsigned warp = 0; warp < warps; warp++)
                ran |= emu_run_warp(warp, false);
            if (!ran && emu_now.parked > 0) ran = emu_bulk_copies_arrive();
            for (unsigned warp = 0; !ran && emu_now.parked > 0 && warp < warps; warp++)
                ran = emu_run_warp(warp, true);
        } while (ran && emu_now.parked > 0);
    } while (release_blocks());
    if (r && (r->waits = waits_for_grid()))
        put_aside(r);
    else if (emu_settings.check) {
        emu_check_copies_arrived();
        emu_bulk_block_ended();
    }
    emu_mbarrier_block_ended();
    emu_lens_block_ended();
}

static int configuration_error(const struct emu_launch *launch)
{
    const struct cudaDeviceProp *gpu = &emu_gpu()->prop;
    unsigned long long count = 1;
    for (int d = 0; d < 3; d++) {
        if (launch->grid[d] == 0 || launch->block[d] == 0)
            return cudaErrorInvalidConfiguration;
        if (launch->grid[d] > (unsigned)gpu->maxGridSize[d])
            return cudaErrorInvalidConfiguration;
        if (launch->block[d] > (unsigned)gpu->maxThreadsDim[d])
            return cudaErrorInvalidConfiguration;
        count *= launch->block[d];
    }
    if (count > BLOCK_THREADS) return cudaErrorInvalidConfiguration;
    if (launch->dynamic_shared > emu_dynamic_shared_limit(launch->address))
        return cudaErrorInvalidValue;
    const unsigned long long blocks =
        (unsigned long long)launch->grid[0] * launch->grid[1] * launch->grid[2];
    int together = 1;
    if (launch->cooperative && launch->address)
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, launch->address,
                                                      (int)count, launch->dynamic_shared);
    if (launch->cooperative &&
        blocks > (unsigned long long)together * (unsigned)gpu->multiProcessorCount)
        return cudaErrorCooperativeLaunchTooLarge;
    return cudaSuccess;
}

static int cluster_error(const struct emu_launch *launch)
{
    if (emu_now.blocks > 1 && emu_gpu()->prop.major < 9)
        return cudaErrorInvalidClusterSize;
    if (emu_now.blocks < 1 || emu_now.blocks > EMU_MAX_BLOCKS)
        return cudaErrorInvalidClusterSize;
    if (launch->grid[0] % emu_now.cluster.x || launch->grid[1] % emu_now.cluster.y ||
        launch->grid[2] % emu_now.cluster.z)
        return cudaErrorInvalidConfiguration;
    return cudaSuccess;
}

__attribute__((noreturn)) static void fault_grid_divergence(const struct resident *all)
{
    const struct resident *r = all, *ended = all;
    while (!r->waits) r++;
    while (ended->waits) ended++;
    const struct emu_fiber *t = r->threads;
    while (t->state != AT_GRID_BARRIER) t++;
    emu_current = (struct emu_thread *)&t->seen;
    emu_now.block = r->origin;
    emu_fault(t->pc,
              "barrier divergence: this block waits for the whole grid, and block "
              "(%u,%u,%u) has ended without doing so",
              ended->origin.x, ended->origin.y, ended->origin.z);
}

/* From one of the grid's barriers to the next, as if each part were a launch: nothing of
 * one can race with the next. */
static void run_cooperatively(const struct emu_launch *launch)
{
    const unsigned columns = launch->grid[0] / emu_now.cluster.x,
                   rows = launch->grid[1] / emu_now.cluster.y,
                   count = columns * rows * (launch->grid[2] / emu_now.cluster.z);
    struct emu_fiber *const first = emu_fibers;
    struct resident *all = emu_zeros("for the blocks of a grid", count, sizeof *all);
    emu_make_stacks(count * emu_now.blocks * emu_now.block_threads);
    for (unsigned i = 0; i < count; i++) {
        all[i].origin = (uint3){i % columns * emu_now.cluster.x,
                                i / columns % rows * emu_now.cluster.y,
                                i / columns / rows * emu_now.cluster.z};
        all[i].threads =
            emu_zeros("for the threads of a grid", emu_now.places, sizeof *emu_fibers);
        memcpy(all[i].threads, first, emu_now.places * sizeof *emu_fibers);
        /* Room that an earlier launch took for its copies stays with the first. */
        for (unsigned place = 0; place < emu_now.places; place++) {
            all[i].threads[place].copies = NULL;
            all[i].threads[place].copy_count = all[i].threads[place].copy_capacity = 0;
        }
    }
    unsigned waiting;
    do {
        waiting = 0;
        for (unsigned i = 0; i < count && refusal == cudaSuccess; i++) {
            emu_fibers = all[i].threads;
            cluster_origin = all[i].origin;
            run_cluster(&all[i]);
            waiting += all[i].waits;
        }
        if (waiting > 0 && waiting < count) fault_grid_divergence(all);
        if (waiting > 0) emu_check_launch_begins();
    } while (waiting > 0);
    for (unsigned i = 0; i < count; i++) {
        for (unsigned place = 0; place < emu_now.places; place++)
            free(all[i].threads[place].copies);
        free(all[i].threads);
        free(all[i].shared);
        free(all[i].known);
        free(all[i].barriers);
    }
    free(all);
    emu_fibers = first;
}

/* Runs all clusters; ends early if the kernel refuses, or declares other clusters. */
static void run_grid(const struct emu_launch *launch)
{
    declared_cluster = (uint3){0, 0, 0};
    refusal = cudaSuccess;
    bounds = 0;
    emu_check_launch_begins();
    emu_lens_launch_begins();
    if (launch->cooperative) {
        run_cooperatively(launch);
        return;
    }
    for (unsigned z = 0; z < launch->grid[2]; z += emu_now.cluster.z)
        for (unsigned y = 0; y < launch->grid[1]; y += emu_now.cluster.y)
            for (unsigned x = 0; x < launch->grid[0]; x += emu_now.cluster.x) {
                cluster_origin = (uint3){x, y, z};
                run_cluster(NULL);
                if (refusal != cudaSuccess) return;
                if (declared_cluster.x && memcmp(&declared_cluster, &emu_now.cluster,
                                                 sizeof emu_now.cluster) != 0)
                    return;
            }
}

static int run_launch(const struct emu_launch *launch)
{
    /* What kernels have declared, so that only their first launch begins twice. */
    static struct {
        const void *address;
        uint3 cluster;
    } known[64];
    const unsigned hash = (unsigned)((uintptr_t)launch->address >> 4) % 64;
    const uint3 one = {1, 1, 1};
    emu_now.cluster =
        launch->cluster[0]
            ? (uint3){launch->cluster[0], launch->cluster[1], launch->cluster[2]}
        : launch->address && known[hash].address == launch->address ? known[hash].cluster
                                                                    : one;
    emu_now.launch = launch;
    emu_grid_dim = (uint3){launch->grid[0], launch->grid[1], launch->grid[2]};
    emu_block_dim = (uint3){launch->block[0], launch->block[1], launch->block[2]};
    int error;
    bool again;
    do {
        emu_now.blocks = emu_now.cluster.x * emu_now.cluster.y * emu_now.cluster.z;
        error = cluster_error(launch);
        if (error != cudaSuccess) break;
        emu_make_fibers();
        emu_shared_launch_begins();
        run_grid(launch);
        again = declared_cluster.x &&
                memcmp(&declared_cluster, &emu_now.cluster, sizeof emu_now.cluster) != 0;
        if (again) {
            emu_lens_launch_repeats();
            emu_now.cluster = declared_cluster;
            known[hash].address = launch->address;
            known[hash].cluster = emu_now.cluster;
        }
    } while (again);
    emu_check_launch_ends();
    if (error == cudaSuccess) {
        emu_lens_launch_ended();
        emu_note_static_shared(launch->address, emu_static_shared());
        if (bounds) emu_note_launch_bounds(launch->address, bounds);
    }
    emu_now.launch = NULL;
    return error != cudaSuccess ? error : refusal;
}

/* ---- who launches ---- */

/* What kernels have launched. It runs when the grid that launched it has ended, which is
 * one of the orders that CUDA allows: nobody can wait for it in the kernel. */
static struct emu_launch *children;
static size_t child_count;

static void launch_later(const struct emu_launch *launch)
{
    children = emu_resized(children, "for a launch in a kernel", child_count + 1,
                           sizeof *children);
    struct emu_launch *child = &children[child_count++];
    *child = *launch;
    child->arguments = emu_zeros("for a launch in a kernel", launch->argument_bytes, 1);
    memcpy(child->arguments, launch->arguments, launch->argument_bytes);
}

static void run_children(void)
{
    for (size_t i = 0; i < child_count; i++) {
        const struct emu_launch child = children[i];
        run_launch(&child);
        free(child.arguments);
    }
    child_count = 0;
}

/* In a graph, the arguments follow the launch. */
static cudaError_t run_launch_of_graph(void *data, cudaStream_t stream)
{
    struct emu_launch launch;
    memcpy(&launch, data, sizeof launch);
    launch.arguments = (char *)data + sizeof launch;
    launch.stream = stream;
    return (cudaError_t)emu_launch_kernel(&launch);
}

static void capture_launch(const struct emu_launch *launch)
{
    const size_t bytes = sizeof *launch + launch->argument_bytes;
    char *const all = emu_zeros("for a graph", bytes, 1);
    memcpy(all, launch, sizeof *launch);
    memcpy(all + sizeof *launch, launch->arguments, launch->argument_bytes);
    emu_capture(launch->stream, cudaGraphNodeTypeKernel, run_launch_of_graph, all, bytes);
    free(all);
}

int emu_launch_kernel(const struct emu_launch *launch)
{
    EMU_ALONE;
    int error = configuration_error(launch);
    if (error != cudaSuccess) return error;
    if (!emu_current && emu_is_captured(launch->stream)) {
        capture_launch(launch);
        return cudaSuccess;
    }
    if (emu_current) {
        launch_later(launch);
        return cudaSuccess;
    }
    error = emu_work_begins(launch->stream);
    if (error == cudaSuccess && emu_working_device != emu_device())
        error = cudaErrorInvalidResourceHandle;
    if (error != cudaSuccess) return error;
    emu_give_handler_stack();
    error = run_launch(launch);
    run_children();
    return error;
}
