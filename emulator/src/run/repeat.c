/* Launches that would only repeat what has been done.
 *
 * A program that measures time launches one kernel a hundred times or more, and here that
 * is a hundred times as long. But a kernel is a function of its arguments and of the
 * memory that it reads. Where both are the same again, where it reads nothing that it
 * stores, and where nobody has stored anything else in the same place since, it would
 * store what is there already, and need not run.
 *
 * What a launch has read and stored is known by allocations: the checker keeps for each
 * when a kernel last did so. Some do more than store, or read what changes unseen: they
 * use atomics or surfaces, print, look at the clock, launch kernels, allocate, use memory
 * that the host sees, wait for each other's blocks. Whoever sees that sets
 * emu_now.unrepeatable. The lens counts every launch, so with it each one runs; and so it
 * does without checks, which know nothing, and where there are several streams, whose races
 * are judged by when something was touched. */
#include "run/repeat.h"

#include <stdint.h>
#include <string.h>

#include "base/now.h"
#include "base/settings.h"
#include "emulator_runtime.h"
#include "memory/shadow.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "watch/global.h"

enum { LAUNCHES = 64, ARGUMENTS = 64, ARGUMENT_BYTES = 1024 };

static struct done {
    struct emu_launch launch; /* its grid is empty where nothing was done yet */
    unsigned char arguments[ARGUMENT_BYTES];
    size_t bytes; /* of them */
    unsigned long long changes;
    unsigned touched;
    struct {
        const struct emu_shadow *shadow;
        uint32_t last_write;
    } memory[EMU_MOST_TOUCHED];
} done[LAUNCHES];
static unsigned oldest;
static unsigned long long changes_before;

/* The launch's arguments one behind the other, without what may lie between them. False if
 * they are too many, or nobody says where they lie, as in the machine that runs the
 * exercises. */
static bool gather_arguments(const struct emu_launch *launch,
                             unsigned char to[ARGUMENT_BYTES], size_t *bytes)
{
    struct emu_argument places[ARGUMENTS];
    if (!launch->places_of) return false;
    const unsigned count = launch->places_of(launch->arguments, NULL);
    *bytes = 0;
    if (count > ARGUMENTS) return false;
    launch->places_of(launch->arguments, places);
    for (unsigned i = 0; i < count; i++) {
        if (places[i].bytes > ARGUMENT_BYTES - *bytes) return false;
        memcpy(to + *bytes, places[i].at, places[i].bytes);
        *bytes += places[i].bytes;
    }
    return true;
}

static bool is_same(const struct done *d, const struct emu_launch *launch,
                    const unsigned char *arguments, size_t bytes)
{
    const struct emu_launch *const other = &d->launch;
    return other->address == launch->address && other->run == launch->run &&
           other->kernel == launch->kernel && d->bytes == bytes &&
           memcmp(other->grid, launch->grid, sizeof launch->grid) == 0 &&
           memcmp(other->block, launch->block, sizeof launch->block) == 0 &&
           memcmp(other->cluster, launch->cluster, sizeof launch->cluster) == 0 &&
           other->dynamic_shared == launch->dynamic_shared &&
           other->cooperative == launch->cooperative &&
           memcmp(d->arguments, arguments, bytes) == 0;
}

static struct done *find(const struct emu_launch *launch, const unsigned char *arguments,
                         size_t bytes)
{
    for (struct done *d = done; d < done + LAUNCHES; d++)
        if (is_same(d, launch, arguments, bytes)) return d;
    return NULL;
}

bool emu_is_repeated(const struct emu_launch *launch)
{
    unsigned char arguments[ARGUMENT_BYTES];
    size_t bytes;
    struct emu_work work;
    emu_now.unrepeatable = !emu_settings.check || emu_settings.lens ||
                           emu_present_work(&work, false) ||
                           !gather_arguments(launch, arguments, &bytes);
    changes_before = emu_changes;
    if (emu_now.unrepeatable) return false;
    const struct done *const d = find(launch, arguments, bytes);
    if (!d || d->changes != emu_changes) return false;
    for (unsigned i = 0; i < d->touched; i++)
        if (d->memory[i].shadow->last_write != d->memory[i].last_write) return false;
    return true;
}

void emu_note_launch(const struct emu_launch *launch)
{
    unsigned char arguments[ARGUMENT_BYTES];
    size_t bytes;
    if (emu_now.unrepeatable || emu_changes != changes_before ||
        !gather_arguments(launch, arguments, &bytes))
        return;
    struct done *d = find(launch, arguments, bytes);
    if (!d) d = &done[oldest++ % LAUNCHES];
    d->launch.grid[0] = 0;
    for (unsigned i = 0; i < emu_touched_count; i++) {
        const struct emu_shadow *const s = emu_touched[i];
        if (s->last_read >= emu_times.launch && s->last_write >= emu_times.launch) return;
        d->memory[i].shadow = s;
        d->memory[i].last_write = s->last_write;
    }
    d->touched = emu_touched_count;
    d->launch = *launch;
    memcpy(d->arguments, arguments, bytes);
    d->bytes = bytes;
    d->changes = emu_changes;
}
