/* A kernel launch: clusters of blocks run one after the other, in the order x, y, z, and
 * the warps of each take turns until all its threads wait for each other. A cluster that
 * waits for others, at the grid's barrier or for their stores, is kept while they run. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "base/errors.h"
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
#include "run/repeat.h"
#include "run/warp.h"
#include "run/wgmma.h"
#include "watch/check.h"
#include "watch/endless.h"
#include "watch/handover.h"
#include "watch/lens.h"
#include "watch/neighbours.h"
#include "watch/registers.h"
#include "watch/words.h"

enum { BLOCK_THREADS = 1024 };

static uint3 cluster_origin;              /* in blocks */
static unsigned long long cluster_number; /* in the order of the launch */
static uint3 declared_cluster; /* what the kernel says of itself, 0 for nothing */
static int refusal;     /* why the kernel itself refuses the launch, 0 if it does not */
static bool has_failed; /* the launch, in the middle of it */
static unsigned bounds; /* the threads that it allows, 0 if it does not say */

void emu_kernel_begins(const char *kernel)
{
    if (emu_current) return;
    emu_fault_outside(
        __builtin_return_address(0),
        "kernel %s is called like a function, and on a GPU it would not run; "
        "launch it: kernel<<<grid, block>>>(...)",
        kernel);
}

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

/* A GPU goes on with the other threads for a while, and tells of each assertion that fails;
 * here it is the first one of a launch. */
static __attribute__((noreturn)) void end_launch(cudaError_t error)
{
    if (!has_failed) refusal = error;
    has_failed = true;
    emu_wait_as(DONE, NULL);
    __builtin_unreachable();
}

void emu_assertion_fails(const void *pc, const char *assertion)
{
    if (!has_failed) emu_tell_fault(pc, "assertion `%s' failed", assertion);
    end_launch(cudaErrorAssert);
}

void emu_trap(const void *pc, const char *what)
{
    if (!emu_current) emu_fault(pc, "%s in host code", what);
    if (!has_failed) emu_tell_fault(pc, "%s", what);
    end_launch(cudaErrorLaunchFailure);
}

/* Whatever they wait for. */
static void end_threads(void)
{
    for (struct emu_fiber *t = emu_fibers; t < emu_fibers_end(); t++) {
        if (t->state == DONE) continue;
        t->state = DONE;
        if (t->sp)
            emu_leave(t);
        else
            emu_now.threads_left--;
    }
    emu_now.parked = 0;
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

static bool waits_for_stores(void)
{
    for (const struct emu_fiber *t = emu_fibers; t < emu_fibers_end(); t++)
        if (emu_waits_for_stores(t)) return true;
    return false;
}

static bool others_may_store, /* threads of other clusters */
    has_others;

/* No thread can go on by itself. Returns whether one can now; a mistake is reported: lanes
 * that have ended first, since others may wait for those that wait for them. */
static bool release_blocks(void)
{
    bool any = false;
    for (unsigned rank = 0; rank < emu_now.blocks; rank++)
        any |= emu_release_barrier(rank);
    if (!any && others_may_store && waits_for_stores()) return false;
    if (!any && emu_give_up_conditions(EMU_GIVE_UP)) {
        others_may_store = has_others; /* once this one has done what it now can */
        any = true;
    }
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

/* A cluster that waits keeps the places of its threads, and its shared memory is put aside
 * while others run. */
struct resident {
    struct emu_fiber *threads;
    uint3 origin;
    unsigned long long number;
    bool at_barrier; /* of the grid; otherwise it waits for stores */
    unsigned parked;
    char *shared; /* of each of its blocks: dynamic memory and then the static arrays */
    uint8_t *known;
    size_t static_end;
    struct emu_mbarriers *mbarriers;
    struct emu_barriers *barriers;
};

static void put_aside(struct resident *r)
{
    r->static_end = emu_shared_end();
    r->parked = emu_now.parked;
    r->mbarriers = emu_mbarriers_put_aside(r->mbarriers);
    r->barriers = emu_barriers_put_aside();
    emu_now.parked = 0;
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
    emu_now.parked = r->parked;
    emu_mbarriers_bring_back(r->mbarriers);
    emu_barriers_bring_back(r->barriers);
    for (unsigned i = 0; i < 2 * emu_now.blocks; i++) {
        emu_shared_parts(i / 2, r->static_end, part, bytes);
        memcpy(part[i % 2], from, bytes[i % 2]);
        emu_check_restore_known(part[i % 2], bytes[i % 2],
                                r->known + (from - r->shared) / 4);
        from += bytes[i % 2];
    }
}

static void forget(struct resident *r)
{
    for (unsigned place = 0; place < emu_now.places; place++)
        free(r->threads[place].copies);
    free(r->threads);
    free(r->shared);
    free(r->known);
    free(r->mbarriers);
    free(r);
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

static void begin_threads(unsigned rank, const struct resident *r)
{
    for (struct emu_fiber *t = emu_fibers_of(rank);
         t < emu_fibers_of(rank) + emu_now.block_threads; t++) {
        if (!r) {
            t->sp = NULL;
            t->copy_count = t->copies_started = 0;
            t->groups_committed = 0;
            t->carry = 0;
            t->registers = 0;
        }
        if (!r || (r->at_barrier && t->state == AT_GRID_BARRIER)) t->state = RUNNABLE;
        emu_now.threads_left += t->state != DONE;
    }
}

/* Runs the cluster at cluster_origin, or one that has waited, until all its threads have
 * ended or it waits, and returns it then. */
static struct resident *run_cluster(struct resident *r)
{
    const unsigned warps = emu_now.places / 32;
    if (r) cluster_origin = r->origin;
    if (r) cluster_number = r->number;
    emu_now.threads_left = 0;
    for (unsigned rank = 0; rank < emu_now.blocks; rank++) {
        emu_block_index[rank].x = cluster_origin.x + rank % emu_now.cluster.x;
        emu_block_index[rank].y =
            cluster_origin.y + rank / emu_now.cluster.x % emu_now.cluster.y;
        emu_block_index[rank].z =
            cluster_origin.z + rank / emu_now.cluster.x / emu_now.cluster.y;
        begin_threads(rank, r);
    }
    emu_shared_block_begins();
    emu_check_block_begins(warps);
    emu_early_block_begins(r);
    emu_mbarrier_block_begins();
    emu_barriers_begin();
    emu_bulk_block_begins();
    emu_wgmma_block_begins();
    emu_lens_block_begins(cluster_number, r);
    if (r) bring_back(r);
    bool ran;
    do {
        do {
            ran = false;
            for (unsigned warp = 0; !has_failed && warp < warps; warp++)
                ran |= emu_run_warp(warp, false);
            if (has_failed) end_threads();
            if (!ran && emu_now.parked > 0) ran = emu_bulk_copies_arrive();
            for (unsigned warp = 0; !ran && emu_now.parked > 0 && warp < warps; warp++)
                ran = emu_run_warp(warp, true);
        } while (ran && emu_now.parked > 0);
    } while (release_blocks());
    const bool for_stores = emu_now.threads_left > 0 && waits_for_stores(),
               at_barrier = emu_now.threads_left > 0 && !for_stores && waits_for_grid();
    if (for_stores || at_barrier) {
        if (!r) r = emu_zeros("for the blocks of a grid", 1, sizeof *r);
        r->threads = emu_fibers;
        r->origin = cluster_origin;
        r->number = cluster_number;
        r->at_barrier = at_barrier;
        put_aside(r);
    } else if (emu_settings.check && !has_failed) {
        emu_check_copies_arrived();
        emu_neighbours_cluster_ended();
        emu_registers_cluster_ended();
        emu_bulk_block_ended();
    }
    emu_mbarrier_block_ended();
    emu_lens_block_ended();
    return for_stores || at_barrier ? r : NULL;
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
    const unsigned most = emu_widest_cluster(launch->address);
    if (emu_now.blocks < 1 || emu_now.blocks > most) return cudaErrorInvalidClusterSize;
    if (launch->grid[0] % emu_now.cluster.x || launch->grid[1] % emu_now.cluster.y ||
        launch->grid[2] % emu_now.cluster.z)
        return cudaErrorInvalidConfiguration;
    return cudaSuccess;
}

/* ---- a grid ---- */

/* The clusters of a launch that have begun and not ended. */
static struct grid {
    struct resident **waiting;
    unsigned count, room; /* how many fit on the GPU at once */
    unsigned at_barrier;  /* of those that wait */
    bool any_ended;
    uint3 one_that_ended;
    struct emu_fiber *spare; /* places for threads that are not in use */
} grid;

__attribute__((noreturn)) static void fault_grid_divergence(void)
{
    const struct emu_fiber *t = grid.waiting[0]->threads;
    while (t->state != AT_GRID_BARRIER) t++;
    emu_current = (struct emu_thread *)&t->seen;
    emu_now.block = grid.waiting[0]->origin;
    emu_fault(t->pc,
              "barrier divergence: this block waits for the whole grid, and block "
              "(%u,%u,%u) has ended without doing so",
              grid.one_that_ended.x, grid.one_that_ended.y, grid.one_that_ended.z);
}

static unsigned clusters_that_fit(void)
{
    const struct emu_launch *const launch = emu_now.launch;
    int together = 1;
    if (!launch->address) return UINT_MAX;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &together, launch->address, (int)emu_now.block_threads, launch->dynamic_shared);
    return emu_clusters_that_fit(emu_now.blocks, (unsigned)together);
}

static void keep(struct resident *r)
{
    if (grid.count == 0) grid.room = clusters_that_fit();
    grid.waiting = emu_resized(grid.waiting, "for the blocks of a grid", grid.count + 1,
                               sizeof(struct resident *));
    grid.waiting[grid.count++] = r;
    emu_now.unrepeatable = true; /* what it goes on with counts as another launch's */
    grid.at_barrier += r->at_barrier;
    if (!grid.spare) grid.spare = emu_more_fibers();
    emu_fibers = grid.spare;
    grid.spare = NULL;
}

/* Lets a cluster that has waited run. Returns whether it has ended. What it waited for, a
 * store or the grid's barrier, is to the checks as if a launch began: nothing before can
 * race with the rest. */
static bool resume(struct resident *r)
{
    if (!r->at_barrier) emu_check_launch_begins();
    grid.at_barrier -= r->at_barrier;
    grid.spare = emu_fibers;
    emu_fibers = r->threads;
    if (run_cluster(r)) {
        grid.at_barrier += r->at_barrier;
        emu_fibers = grid.spare;
        grid.spare = NULL;
        return false;
    }
    grid.any_ended = true;
    grid.one_that_ended = r->origin;
    r->threads = grid.spare;
    grid.spare = NULL;
    forget(r);
    return true;
}

/* A turn for each cluster that waits for stores, or, if all wait for the grid, for those.
 * What cannot go on is a mistake, and is reported. */
static void take_turns(unsigned long long not_begun)
{
    const unsigned long long steps = emu_now.steps;
    const bool all_met = grid.at_barrier == grid.count;
    if (all_met && (grid.any_ended || not_begun)) fault_grid_divergence();
    if (all_met) emu_check_launch_begins();
    unsigned left = 0;
    const unsigned count = grid.count;
    for (unsigned i = 0; i < count; i++) {
        struct resident *const r = grid.waiting[i];
        if (r->at_barrier != all_met || !resume(r)) grid.waiting[left++] = r;
    }
    grid.count = left;
    if (emu_now.steps != steps || left < count) return;
    emu_now.blocks_outside = not_begun * emu_now.blocks;
    others_may_store = false;
    for (unsigned i = 0; i < left; i++)
        if (!grid.waiting[i]->at_barrier) resume(grid.waiting[i]);
    others_may_store = has_others;
}

static void forget_waiting(void)
{
    struct emu_fiber *const fibers = emu_fibers;
    for (unsigned i = 0; i < grid.count; i++) {
        emu_fibers = grid.waiting[i]->threads;
        end_threads();
        forget(grid.waiting[i]);
    }
    emu_fibers = fibers;
    grid.count = 0;
}

/* Runs all clusters; ends early if the kernel refuses, or declares other clusters. */
static void run_grid(const struct emu_launch *launch)
{
    const unsigned columns = launch->grid[0] / emu_now.cluster.x,
                   rows = launch->grid[1] / emu_now.cluster.y;
    const unsigned long long clusters =
        (unsigned long long)columns * rows * (launch->grid[2] / emu_now.cluster.z);
    declared_cluster = (uint3){0, 0, 0};
    refusal = cudaSuccess;
    bounds = 0;
    emu_check_launch_begins();
    emu_lens_launch_begins();
    grid = (struct grid){.count = 0};
    others_may_store = has_others = clusters > 1;
    emu_now.blocks_outside = 0;
    for (unsigned long long i = 0; i < clusters; i++) {
        cluster_origin = (uint3){(unsigned)(i % columns) * emu_now.cluster.x,
                                 (unsigned)(i / columns % rows) * emu_now.cluster.y,
                                 (unsigned)(i / columns / rows) * emu_now.cluster.z};
        cluster_number = i;
        struct resident *const r = run_cluster(NULL);
        if (refusal != cudaSuccess) break;
        if (declared_cluster.x &&
            memcmp(&declared_cluster, &emu_now.cluster, sizeof emu_now.cluster) != 0)
            break;
        if (r) keep(r);
        grid.any_ended |= !r;
        if (!r) grid.one_that_ended = cluster_origin;
        while (grid.count && grid.count == grid.room) take_turns(clusters - i - 1);
    }
    while (grid.count && !has_failed) take_turns(0);
    if (has_failed) forget_waiting();
    free(grid.waiting);
    grid.waiting = NULL;
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

/* What kernels have launched: the last of the list is next. It runs when the grid that
 * launched it has ended, which is one of the orders that CUDA allows: nobody can wait for
 * it in the kernel. A grid has ended only when all that it has launched has, so this comes
 * before what was launched beside it. */
static struct emu_launch *children;
static size_t child_count;

static void launch_later(const struct emu_launch *launch)
{
    emu_now.unrepeatable = true;
    children = emu_resized(children, "for a launch in a kernel", child_count + 1,
                           sizeof *children);
    struct emu_launch *child = &children[child_count++];
    *child = *launch;
    child->arguments = emu_zeros("for a launch in a kernel", launch->argument_bytes, 1);
    memcpy(child->arguments, launch->arguments, launch->argument_bytes);
}

/* The launches from `first` on have come in the order in which they were made. */
static void put_in_order(size_t first)
{
    const size_t count = child_count - first;
    if (count == 0) return;
    struct emu_launch *const made =
        emu_zeros("for a launch in a kernel", count, sizeof *made);
    memcpy(made, children + first, count * sizeof *made);
    size_t at = child_count;
    for (int last = 0; last <= 1; last++)
        for (size_t i = 0; i < count; i++)
            if ((made[i].stream == cudaStreamTailLaunch) == last)
                children[--at] = made[i];
    free(made);
}

static void forget_children(void)
{
    while (child_count > 0) free(children[--child_count].arguments);
}

static void run_children(void)
{
    emu_early_launch_ends();
    put_in_order(0);
    while (child_count > 0 && !has_failed) {
        const struct emu_launch child = children[--child_count];
        const size_t others = child_count;
        run_launch(&child);
        free(child.arguments);
        put_in_order(others);
    }
}

static cudaError_t run_launch_of_graph(void *data, cudaStream_t stream)
{
    struct emu_launch launch;
    memcpy(&launch, data, sizeof launch);
    launch.arguments = (char *)data + sizeof launch;
    launch.stream = stream;
    launch.early = false; /* what is ahead of it in the graph need not be so here */
    return (cudaError_t)emu_launch_kernel(&launch);
}

static void capture_launch(const struct emu_launch *launch)
{
    const size_t count = launch->places_of(launch->arguments, NULL),
                 bytes = emu_graph_launch_bytes(launch) + count * sizeof(void *);
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
        return emu_capture_state(launch->stream);
    }
    if (emu_current) {
        launch_later(launch);
        return cudaSuccess;
    }
    error = emu_launch_begins(launch->stream, launch->early && emu_gpu()->prop.major >= 9,
                              emu_fenced);
    if (error == cudaSuccess && emu_working_device != emu_device())
        error = cudaErrorInvalidResourceHandle;
    if (error != cudaSuccess) return error;
    if (emu_is_repeated(launch)) return cudaSuccess;
    emu_give_handler_stack();
    has_failed = false;
    error = run_launch(launch);
    run_children();
    if (!has_failed && error == cudaSuccess) emu_note_launch();
    if (!has_failed) return error;
    forget_children();
    emu_device_fails(refusal);
    return cudaSuccess;
}
