/* A fault: what it is, where, in which thread, in which range of NVTX; and the program
 * ends. */
#include "emulator_runtime.h"

#include <nvtx3/nvToolsExt.h>

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <unwind.h>

#include "base/errors.h"
#include "base/now.h"
#include "base/output.h"
#include "base/source.h"

enum { MOST_RANGES = 16, RANGE_NAME = 200 };
static char ranges[MOST_RANGES][RANGE_NAME];
static int range_count; /* if more than there is room for, the innermost have no name */

int nvtxRangePushA(const char *message)
{
    if (range_count < MOST_RANGES)
        snprintf(ranges[range_count], RANGE_NAME, "%s", message);
    return range_count++;
}

int nvtxRangePop(void)
{
    return range_count ? --range_count : -1;
}

/* The innermost; NULL if there is none. */
static const char *range(void)
{
    if (!range_count) return NULL;
    return ranges[range_count < MOST_RANGES ? range_count - 1 : MOST_RANGES - 1];
}

static _Thread_local struct emu_calls *outer_calls;

struct walk {
    const void **next, **last;
};

static _Unwind_Reason_Code note_call(struct _Unwind_Context *context, void *walk)
{
    struct walk *w = walk;
    if (w->next == w->last) return _URC_NORMAL_STOP;
    *w->next++ = (const void *)_Unwind_GetIP(context);
    return _URC_NO_REASON;
}

void emu_calls_begin(struct emu_calls *calls)
{
    enum { ROOM = sizeof calls->at / sizeof *calls->at };
    struct walk w = {calls->at, calls->at + ROOM - 1};
    _Unwind_Backtrace(note_call, &w);
    *w.next = NULL;
    calls->before = outer_calls;
    outer_calls = calls;
}

void emu_calls_end(struct emu_calls *calls)
{
    outer_calls = calls->before;
}

/* The innermost call that stands in the reader's code: on this stack, or on that of the
 * host which started the kernel. Only a fault asks, so that nothing is looked up before. */
static struct emu_place reader_of(struct emu_place none)
{
    struct emu_calls calls;
    emu_calls_begin(&calls);
    for (const struct emu_calls *c = &calls; c; c = c->before)
        for (const void *const *at = c->at; *at; at++) {
            const struct emu_place place = emu_source_of(*at);
            if (place.line > 0) return place;
        }
    return none;
}

/* Of code that stands for several lines the compiler names none: what lies before it is
 * not far away. */
static struct emu_place place_of(const void *pc)
{
    enum { NEAR = 64 };
    const struct emu_place exact = emu_source_of(pc);
    if (*exact.file == '?') return reader_of(exact);
    if (exact.line > 0) return exact;
    for (int back = 1; back < NEAR; back++) {
        const struct emu_place place = emu_source_of((const char *)pc - back);
        if (place.line > 0) return place;
    }
    return exact;
}

/* Where the function that holds pc has been called; pc itself if the compiler has put the
 * one into the other. */
static const void *outside(const void *pc)
{
    struct emu_calls calls;
    emu_calls_begin(&calls);
    for (const void *const *at = calls.at; *at; at++)
        if (*at == pc && at[1] && emu_source_of(at[1]).line > 0) return at[1];
    return pc;
}

static void tell(const void *pc, const char *format, va_list arguments)
{
    emu_show_output();
    fflush(stdout);
    fprintf(stderr, "FAULT ");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    if (pc) {
        const struct emu_place place = place_of(pc);
        fprintf(stderr, "  at %s:%d: %s\n", place.file, place.line, place.text);
    }
    if (emu_current)
        fprintf(stderr, "  in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)\n",
                emu_now.launch->kernel, emu_now.block.x, emu_now.block.y, emu_now.block.z,
                emu_current->index.x, emu_current->index.y, emu_current->index.z);
    if (range()) fprintf(stderr, "  in range \"%s\"\n", range());
    /* A kernel that was never launched leaves memory as it was: often the reason. */
    emu_tell_unread_error("  before that, ");
    fflush(NULL);
}

void emu_tell_fault(const void *pc, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(pc, format, arguments);
    va_end(arguments);
}

void emu_fault(const void *pc, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(pc, format, arguments);
    _exit(1);
}

void emu_fault_outside(const void *pc, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(outside(pc), format, arguments);
    _exit(1);
}
