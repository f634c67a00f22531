/* The variables that hold the sums of a wgmma: until a thread has waited for the group
 * that an instruction belongs to, they may not be touched, and after they were, not be
 * given to another without a fence. Those that hold its A may not be given anew with other
 * contents by then. And how many registers warps ask for: all together no more than an SM
 * has. */
#include "watch/registers.h"

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/fibers.h"
#include "emulator_runtime.h"

/* A run of sums, side by side. */
struct range {
    char *low, *high;
    unsigned group;
    unsigned shape; /* how many sums a thread has in the last wgmma that used them */
    bool done;      /* waited for; and since then */
    bool touched;   /* used by something else than wgmma, without a wgmma.fence */
    const void *pc;
};
/* A variable with a part of A. Its writes are not watched: where it goes out of scope, the
 * compiler may put another variable into its place, and that is no register of A. */
struct input {
    const char *place;
    uint32_t value;
    unsigned group;
    const void *pc;
};
static struct thread {
    bool fenced;     /* has ever called wgmma.fence */
    unsigned groups; /* committed */
    uint32_t time;   /* the checker's, of the last instruction */
    unsigned count, capacity;
    struct range *ranges;
    unsigned inputs, input_capacity; /* of instructions that were not waited for */
    struct input *input;
    uint32_t times[64]; /* of the last instruction in each of the last groups */
} *threads;
static bool used; /* in this block */

static struct thread *running_thread(void)
{
    if (!threads)
        threads = emu_zeros("for watching wgmma", EMU_MAX_THREADS, sizeof *threads);
    return &threads[emu_current->linear];
}

static struct range *find_range(struct thread *t, const char *p)
{
    for (unsigned i = 0; i < t->count; i++)
        if (p < t->ranges[i].high && p >= t->ranges[i].low) return &t->ranges[i];
    return NULL;
}

void emu_check_registers(const char *p, size_t bytes, bool writes, const void *pc)
{
    struct thread *t = running_thread();
    for (struct range *r = t->ranges; r < t->ranges + t->count; r++) {
        if (p >= r->high || p + bytes <= r->low) continue;
        if (!r->done) {
            const struct emu_place place = emu_source_of(r->pc);
            emu_fault(pc,
                      "sums of a wgmma are %s before it was waited for: the one started "
                      "at %s:%d may still write them (a missing wgmma.wait_group?)",
                      writes ? "written" : "read", place.file, place.line);
        }
        r->touched = true;
    }
}

static void add_range(struct thread *t, struct range range)
{
    EMU_ROOM_FOR_ONE(t->ranges, t->count, t->capacity, "to watch a wgmma");
    t->ranges[t->count++] = range;
}

/* Makes two of the range that goes over `at`: a wgmma may use a part of another's sums. */
static void split_at(struct thread *t, char *at)
{
    for (unsigned i = 0; i < t->count; i++) {
        struct range upper = t->ranges[i];
        if (at <= upper.low || at >= upper.high) continue;
        t->ranges[i].high = upper.low = at;
        add_range(t, upper);
        return;
    }
}

void emu_registers_written(char *const *sums, unsigned count, const void *pc)
{
    struct thread *t = running_thread();
    const struct range *seen = NULL; /* the range of the sum before, if it was there */
    used = true;
    for (unsigned i = 0; i < count; i++) {
        /* In the middle of a range nothing is new. */
        if (seen && i + 1 < count && sums[i] == sums[i - 1] + 4 &&
            sums[i + 1] == sums[i] + 4 && sums[i] < seen->high)
            continue;
        seen = NULL;
        if (i == 0 || sums[i] != sums[i - 1] + 4) split_at(t, sums[i]);
        if (i + 1 == count || sums[i + 1] != sums[i] + 4) split_at(t, sums[i] + 4);
        struct range *r = find_range(t, sums[i]);
        if (r) {
            if (r->touched && emu_settings.check)
                emu_fault(pc, "a missing wgmma.fence: the sums of this wgmma have been "
                              "read or written since the last one");
            if (!r->done && r->shape != count && emu_settings.check)
                emu_fault(pc, "sums of a wgmma that was not waited for are given to one "
                              "of another shape: only those of the same shape follow one "
                              "another (a missing wgmma.wait_group?)");
            r->done = false;
            r->shape = count;
            r->group = t->groups;
            r->pc = pc;
            seen = r;
            continue;
        }
        r = t->count ? &t->ranges[t->count - 1] : NULL;
        if (r && r->high == sums[i] && r->group == t->groups && !r->done) {
            r->high += 4;
            continue;
        }
        add_range(
            t, (struct range){sums[i], sums[i] + 4, t->groups, count, false, false, pc});
    }
    emu_now.own_watched = emu_settings.check;
    if (emu_now.own_watched) emu_own_bytes = 0;
}

void emu_registers_read(const char *place, uint32_t value, const void *pc)
{
    struct thread *t = running_thread();
    unsigned i = 0;
    while (i < t->inputs && t->input[i].place != place) i++;
    if (i < t->inputs && t->input[i].value != value) {
        const struct emu_place before = emu_source_of(t->input[i].pc);
        emu_fault(
            pc,
            "registers with A for a wgmma are filled anew before it was waited for: "
            "the one started at %s:%d may still read them (a missing "
            "wgmma.wait_group? STRICT=0 lets it pass, for the loop may be one that "
            "nvcc unrolls and gives other registers each time)",
            before.file, before.line);
    }
    if (i == t->inputs) {
        EMU_ROOM_FOR_ONE(t->input, t->inputs, t->input_capacity, "to watch a wgmma");
        t->inputs++;
    }
    t->input[i] = (struct input){place, value, t->groups, pc};
}

void emu_registers_read_at(uint32_t time)
{
    running_thread()->time = time;
}

bool emu_registers_block_begins(void)
{
    if (!used) return false;
    used = emu_now.own_watched = false;
    for (unsigned i = 0; i < EMU_MAX_THREADS; i++) {
        threads[i].fenced = false;
        threads[i].groups = threads[i].count = threads[i].inputs = 0;
    }
    return true;
}

void emu_registers_fence(void)
{
    struct thread *t = running_thread();
    used = t->fenced = true;
    for (unsigned i = 0; i < t->count; i++) t->ranges[i].touched = false;
}

bool emu_registers_fenced(void)
{
    return running_thread()->fenced;
}

void emu_registers_commit(void)
{
    struct thread *t = running_thread();
    t->times[t->groups++ % 64] = t->time;
}

bool emu_registers_wait(uint64_t groups_that_may_remain, uint32_t *time)
{
    struct thread *t = running_thread();
    const unsigned over = t->groups > groups_that_may_remain
                              ? t->groups - (unsigned)groups_that_may_remain
                              : 0;
    for (unsigned i = 0; i < t->count; i++)
        if (t->ranges[i].group < over) t->ranges[i].done = true;
    unsigned left = 0;
    for (unsigned i = 0; i < t->inputs; i++)
        if (t->input[i].group >= over) t->input[left++] = t->input[i];
    t->inputs = left;
    if (over) *time = t->times[(over - 1) % 64];
    return over > 0;
}

/* ---- how many a thread has ---- */

enum { REGISTERS_OF_AN_SM = 65536, MOST_AT_THE_START = 248 };

/* Faults if a block's threads have more registers than an SM. Those that did not ask have
 * `otherwise`. */
static void check_sum(unsigned rank, unsigned otherwise, const void *pc)
{
    const struct emu_fiber *const block = emu_fibers_of(rank);
    unsigned all = 0;
    for (unsigned i = 0; i < emu_now.block_threads; i += 32)
        all += 32 * (block[i].registers ? block[i].registers : otherwise);
    if (all > REGISTERS_OF_AN_SM)
        emu_fault(pc,
                  "setmaxnreg: the threads of this block ask for %u registers, and an SM "
                  "has %u: on a GPU the last of them would wait for ever%s",
                  all, REGISTERS_OF_AN_SM,
                  otherwise ? " (who gives none back keeps those of the start)" : "");
}

/* Who asks for more than is left waits until others give some back: those that have not
 * asked yet still may. */
void emu_registers_set(bool more, unsigned registers, const void *pc)
{
    emu_running()->registers = registers;
    emu_running()->registers_pc = more ? pc : NULL;
    check_sum(emu_current->rank, 0, pc);
}

/* At the start all threads have the same number, the largest of which an SM has enough. */
void emu_registers_cluster_ended(void)
{
    const unsigned share = REGISTERS_OF_AN_SM / emu_now.block_threads / 8 * 8;
    for (struct emu_fiber *t = emu_fibers; t < emu_fibers_end(); t++) {
        if (!t->registers || !t->registers_pc) continue;
        emu_current = &t->seen;
        check_sum(t->seen.rank, share < MOST_AT_THE_START ? share : MOST_AT_THE_START,
                  t->registers_pc);
        emu_current = NULL;
    }
}
