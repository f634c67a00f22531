/* What copies and libraries touch in global memory, as spans of bytes in the shadow of an
 * allocation; and where one races with another, or with a kernel, of another stream. */
#include "memory/spans.h"

#include <stdio.h>
#include <string.h>

#include "base/room.h"
#include "base/source.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/names.h"
#include "memory/shadow.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "memory/variables.h"

struct span {
    size_t first, end; /* bytes of the allocation */
    const void *pc;
    struct emu_work work;
    bool writes;
};

static __attribute__((noreturn)) void fault_spans(const char *p, const struct span *other,
                                                  bool writes, const void *pc)
{
    char name[300];
    emu_describe_global(name, sizeof name, p);
    const struct emu_place place = emu_source_of(other->pc);
    emu_fault(pc,
              "data race in global memory: %s is %s here, and %s by what was enqueued in "
              "another stream at %s:%d; nothing orders the two (a missing "
              "cudaStreamWaitEvent, or a wait of the host?)",
              name, writes ? "written" : "read", other->writes ? "written" : "read",
              place.file, place.line);
}

static void meet_spans(const struct emu_shadow *s, size_t first, size_t end,
                       const char *p, bool writes, const void *pc)
{
    for (unsigned i = 0; i < s->span_count; i++) {
        const struct span *const other = &s->spans[i];
        if (other->first >= end || other->end <= first || !(writes || other->writes))
            continue;
        if (emu_is_unordered_work(&other->work))
            fault_spans(other->first > first ? p + (other->first - first) : p, other,
                        writes, pc);
    }
}

void emu_check_spans(const struct emu_shadow *s, size_t offset, const char *p, size_t n,
                     bool writes, const void *pc)
{
    if (emu_concurrent) meet_spans(s, offset, offset + n, p, writes, pc);
}

static void note_span(struct emu_shadow *s, const struct span *span)
{
    enum { MOST_SPANS = 4096 };
    unsigned kept = 0;
    for (unsigned i = 0; i < s->span_count; i++) {
        const struct span *const old = &s->spans[i];
        const bool known = emu_is_over(&old->work),
                   covered = old->work.column == span->work.column &&
                             old->first >= span->first && old->end <= span->end &&
                             (span->writes || !old->writes);
        if (!known && !covered) s->spans[kept++] = *old;
    }
    s->span_count = kept;
    memset(s->calm, 0, sizeof s->calm);
    if (kept == MOST_SPANS) return;
    EMU_ROOM_FOR_ONE(s->spans, kept, s->span_capacity, "for the work of streams");
    s->spans[s->span_count++] = *span;
}

/* ---- beside kernels ---- */

static const struct touch *in_other_work(const struct touch *touch)
{
    return touch->time >= emu_times.other_work && emu_in_other_work(touch->time) ? touch
                                                                                 : NULL;
}

static void check_cells(const struct emu_shadow *s, size_t offset, const char *p,
                        size_t n, bool writes, const void *pc)
{
    if (!s->writes || emu_times.other_work == UINT32_MAX) return;
    for (size_t i = offset >> s->shift; i <= (offset + n - 1) >> s->shift; i++) {
        const struct touch *touch = in_other_work(&s->writes[i]);
        const char *const did = touch ? "written" : "read";
        if (!touch && writes) touch = in_other_work(&s->reads[i]);
        if (!touch && writes) touch = in_other_work(&s->other_reads[i]);
        if (!touch) continue;
        char name[300];
        const size_t at = i << s->shift > offset ? (i << s->shift) - offset : 0;
        emu_describe_global(name, sizeof name, p + at);
        const struct emu_place place = emu_source_of(emu_touch_pc(touch));
        emu_fault(pc,
                  "data race in global memory: %s is %s here, and %s by a kernel in "
                  "another stream at %s:%d; nothing orders the two (a missing "
                  "cudaStreamWaitEvent, or a wait of the host?)",
                  name, writes ? "written" : "read", did, place.file, place.line);
    }
}

/* ---- beside the host ---- */

static bool is_unfinished(const struct touch *touch)
{
    return touch->time && emu_in_unfinished_work(touch->time);
}

/* Of an access to the cell, by a kernel that may still run. */
static const void *unfinished_cell(const struct emu_shadow *s, size_t i, bool host_writes,
                                   bool *writes)
{
    const struct touch *touch = &s->writes[i];
    *writes = is_unfinished(touch);
    if (!*writes && host_writes)
        touch = is_unfinished(&s->reads[i]) ? &s->reads[i] : &s->other_reads[i];
    return is_unfinished(touch) ? emu_touch_pc(touch) : NULL;
}

/* A program that fills an array while copies are under way asks this for each element:
 * so what lies around it, up to the next spans, is kept. */
static const struct span *unfinished_span(struct emu_shadow *s, size_t first, size_t end,
                                          bool host_writes)
{
    if (s->calm[host_writes].first <= first && end <= s->calm[host_writes].end)
        return NULL;
    size_t calm_first = 0, calm_end = s->bytes;
    for (unsigned i = 0; i < s->span_count; i++) {
        const struct span *const span = &s->spans[i];
        if (!(span->writes || host_writes) || !emu_may_go_on(&span->work)) continue;
        if (span->first < end && span->end > first) return span;
        if (span->end <= first && span->end > calm_first) calm_first = span->end;
        if (span->first >= end && span->first < calm_end) calm_end = span->first;
    }
    s->calm[host_writes].first = calm_first;
    s->calm[host_writes].end = calm_end;
    return NULL;
}

const void *emu_unfinished(struct emu_shadow *s, size_t first, size_t n, bool host_writes,
                           bool *writes)
{
    if (!emu_host_is_behind || n == 0) return NULL;
    const struct span *const span = unfinished_span(s, first, first + n, host_writes);
    if (span) {
        *writes = span->writes;
        return span->pc;
    }
    if (!s->writes) return NULL;
    for (size_t i = first >> s->shift; i <= (first + n - 1) >> s->shift; i++) {
        const void *const pc = unfinished_cell(s, i, host_writes, writes);
        if (pc) return pc;
    }
    return NULL;
}

/* ---- both ---- */

void emu_work_touches(const void *start, size_t bytes, bool writes, const void *pc)
{
    const char *const p = start;
    struct emu_work work;
    size_t section;
    if (bytes == 0) return;
    const struct emu_allocation *const a = emu_allocation_of(p);
    if (writes && (a ? a->type == cudaMemoryTypeDevice : !!emu_section_of(p, &section)))
        emu_changes++;
    if (!a || !a->shadow) return;
    const size_t first = (size_t)(p - a->base);
    if (emu_concurrent) {
        meet_spans(a->shadow, first, first + bytes, p, writes, pc);
        check_cells(a->shadow, first, p, bytes, writes, pc);
    }
    /* Nothing can miss what is over when the next work is enqueued. */
    if (!emu_present_work(&work, a->type != cudaMemoryTypeDevice)) return;
    const struct span span = {first, first + bytes, pc, work, writes};
    note_span(a->shadow, &span);
}
