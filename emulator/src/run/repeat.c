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
#include "base/room.h"
#include "base/settings.h"
#include "emulator_runtime.h"
#include "memory/shadow.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "watch/global.h"

enum { LAUNCHES = 64, ARGUMENTS = 64, ARGUMENT_BYTES = 1024 };

static struct launch {
    struct emu_launch shape; /* its grid is empty where none is kept yet */
    unsigned char arguments[ARGUMENT_BYTES];
    size_t bytes;               /* of them */
    unsigned long long changes; /* emu_changes, when it began */
    unsigned touched;
    struct {
        const struct emu_shadow *shadow;
        uint32_t last_write;
    } memory[EMU_MOST_TOUCHED];
} present;
EMU_TABLE(struct launch, kept, LAUNCHES);
static unsigned oldest;

/* The present launch's arguments one behind the other, without what may lie between them.
 * False if they are too many, or nobody says where they lie, as in the machine that runs
 * the exercises. */
static bool gather_arguments(void)
{
    const struct emu_launch *const shape = &present.shape;
    struct emu_argument places[ARGUMENTS];
    if (!shape->places_of) return false;
    const unsigned count = shape->places_of(shape->arguments, NULL);
    present.bytes = 0;
    if (count > ARGUMENTS) return false;
    shape->places_of(shape->arguments, places);
    for (unsigned i = 0; i < count; i++) {
        if (places[i].bytes > ARGUMENT_BYTES - present.bytes) return false;
        memcpy(present.arguments + present.bytes, places[i].at, places[i].bytes);
        present.bytes += places[i].bytes;
    }
    return true;
}

static bool is_present(const struct launch *l)
{
    const struct emu_launch *const a = &l->shape, *const b = &present.shape;
    return a->address == b->address && a->run == b->run && a->kernel == b->kernel &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 &&
           a->dynamic_shared == b->dynamic_shared && a->cooperative == b->cooperative &&
           a->early == b->early && l->bytes == present.bytes &&
           memcmp(l->arguments, present.arguments, l->bytes) == 0;
}

static struct launch *find_present(void)
{
    for (struct launch *l = kept; l < kept + LAUNCHES; l++)
        if (is_present(l)) return l;
    return NULL;
}

bool emu_is_repeated(const struct emu_launch *launch)
{
    struct emu_work work;
    present.shape = *launch;
    present.changes = emu_changes;
    emu_now.unrepeatable = !emu_settings.check || emu_settings.lens ||
                           emu_present_work(&work, false) || !gather_arguments();
    if (emu_now.unrepeatable) return false;
    const struct launch *const l = find_present();
    if (!l || l->changes != emu_changes) return false;
    for (unsigned i = 0; i < l->touched; i++)
        if (l->memory[i].shadow->last_write != l->memory[i].last_write) return false;
    return true;
}

void emu_note_launch(void)
{
    if (emu_now.unrepeatable) return;
    present.touched = emu_touched_count;
    for (unsigned i = 0; i < emu_touched_count; i++) {
        const struct emu_shadow *const s = emu_touched[i];
        if (s->last_read >= emu_times.launch && s->last_write >= emu_times.launch) return;
        present.memory[i].shadow = s;
        present.memory[i].last_write = s->last_write;
    }
    struct launch *const before = find_present();
    *(before ? before : &kept[oldest++ % LAUNCHES]) = present;
}
