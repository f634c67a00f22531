/* Streams and events: what orders the work of a device.
 *
 * Work (a kernel, a copy, a call of a library) is done at once here, in the order in
 * which the host enqueues it. A GPU promises less (CUDA Programming Guide, "Streams"):
 * work of one stream is done in order; a stream that waits for an event goes on after
 * what the event was recorded behind; the default stream and the others of its device
 * wait for each other, except for non-blocking ones; and what the host has waited for is
 * over. Work that none of this orders may be done at the same time. So where two such
 * pieces of work touch the same bytes, and one writes them, that is a race, whichever
 * came first here.
 *
 * Each stream is a column of vector clocks (L. Lamport, 1978; F. Mattern, 1989): a
 * stream, an event and the host each know, for every column, up to which piece of its
 * work all lies before what they do next. A kernel's accesses are in the shadow of the
 * memory (global.c), with the time at which they happened, and `works` tells whose time
 * that was. What copies and libraries touch is there as spans of bytes (spans.c). Where
 * tables end, all counts as ordered: then a race may be missed, and none is invented. */
#include "memory/streams.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/device.h"
#include "base/errors.h"
#include "base/now.h"
#include "base/output.h"
#include "base/room.h"
#include "base/settings.h"
#include "memory/capture.h"
#include "memory/shadow.h"
#include "memory/touch.h"

/* ---- who knows what ---- */

enum { COLUMNS = 64, UNTRACKED = COLUMNS };
struct knowledge {
    uint32_t of[COLUMNS];
};
static struct knowledge host;
static struct knowledge heard; /* that, and what functions in streams may have told it */
/* By streams that were destroyed: those for which the default stream waits, and others. */
static struct knowledge left_blocking[EMU_MOST_DEVICES], left[EMU_MOST_DEVICES];
static uint32_t done[COLUMNS]; /* pieces of work that each column's streams have had */
static bool taken[COLUMNS];
static unsigned columns; /* that were ever taken */

static void join(struct knowledge *into, const struct knowledge *from)
{
    for (unsigned c = 0; c < columns; c++)
        if (into->of[c] < from->of[c]) into->of[c] = from->of[c];
}

/* One for a new stream: of a destroyed one only once the host knows all its work. */
static unsigned take_column(void)
{
    for (unsigned c = 0; c < COLUMNS; c++) {
        if (taken[c] || done[c] > host.of[c]) continue;
        taken[c] = true;
        if (c >= columns) columns = c + 1;
        return c;
    }
    return UNTRACKED;
}

/* ---- streams ---- */

/* Streams and events are handed out as addresses, so a handle is tried against the list
 * of those that exist before it is followed. */
struct handle {
    struct handle *next;
};
struct CUstream_st {
    struct handle handle;
    unsigned int flags;
    int priority;
    int device;
    unsigned long long id;
    unsigned column;
    uint32_t last_launch; /* which of its pieces of work was a kernel, and the last */
    uint32_t told;        /* of its own work, what lies before that of others on which it
                             has waited */
    struct knowledge knows;
    struct emu_attributes attributes;
};
struct CUevent_st {
    struct handle handle;
    unsigned int flags;
    bool recorded;
    int device;
    struct timespec when;
    struct knowledge knows;
};
static struct handle *streams, *events;

/* The legacy default streams; and whether a program means the other kind by 0. */
static struct CUstream_st defaults[EMU_MOST_DEVICES]; /* column 0: not used yet */
static bool begun[EMU_MOST_DEVICES];
static bool per_thread;

static void *create(struct handle **list, size_t bytes)
{
    EMU_ALONE;
    struct handle *h = calloc(1, bytes);
    if (!h) return NULL;
    h->next = *list;
    *list = h;
    return h;
}

static struct handle **find(struct handle **list, const void *wanted)
{
    while (*list && (const void *)*list != wanted) list = &(*list)->next;
    return list;
}

static bool destroy(struct handle **list, void *handle)
{
    EMU_ALONE;
    struct handle **at = find(list, handle);
    if (!*at) return false;
    *at = (*at)->next;
    free(handle);
    return true;
}

static void begin(struct CUstream_st *s, int device)
{
    static unsigned long long last_id;
    s->device = device;
    s->id = ++last_id;
    s->column = take_column();
}

static struct CUstream_st *default_stream(int device)
{
    if (!begun[device]) begin(&defaults[device], device);
    begun[device] = true;
    return &defaults[device];
}

static struct CUstream_st *new_stream(int device)
{
    struct CUstream_st *const s = create(&streams, sizeof *s);
    if (s) begin(s, device);
    return s;
}

static void thread_ends(void *own)
{
    struct CUstream_st **const of = own;
    for (int d = 0; d < EMU_MOST_DEVICES; d++)
        if (of[d]) cudaStreamDestroy(of[d]);
    free(own);
}

/* The default stream of the host's thread that calls: one like those that are created. */
static struct CUstream_st *stream_of_thread(int device)
{
    static pthread_key_t key;
    static bool has_key;
    if (!has_key) has_key = pthread_key_create(&key, thread_ends) == 0;
    struct CUstream_st **own = has_key ? pthread_getspecific(key) : NULL;
    if (!own && has_key && (own = calloc(EMU_MOST_DEVICES, sizeof(struct CUstream_st *))))
        pthread_setspecific(key, own);
    if (!own) return default_stream(device);
    if (!own[device]) own[device] = new_stream(device);
    return own[device];
}

void emu_use_streams_of_threads(void)
{
    per_thread = true;
}

/* The stream that a handle means, on the current device; NULL if none. */
static struct CUstream_st *stream_of(cudaStream_t stream)
{
    if (stream == cudaStreamPerThread || (!stream && per_thread))
        return stream_of_thread(emu_device());
    if (!stream || stream == cudaStreamLegacy) return default_stream(emu_device());
    const size_t at = (size_t)((const char *)stream - (const char *)defaults);
    return at < sizeof defaults || *find(&streams, stream) ? stream : NULL;
}

static bool is_legacy(const struct CUstream_st *s)
{
    return s == &defaults[s->device];
}

static bool is_blocking(const struct CUstream_st *s)
{
    return !(s->flags & cudaStreamNonBlocking) && !is_legacy(s);
}

static void wait_for_others(struct CUstream_st *s, const struct knowledge *others)
{
    join(&s->knows, others);
    if (s->column < COLUMNS && s->told < others->of[s->column])
        s->told = others->of[s->column];
}

/* What lies before the stream's next piece of work. */
static void gather(struct CUstream_st *s)
{
    wait_for_others(s, &host);
    if (is_blocking(s) && begun[s->device])
        wait_for_others(s, &defaults[s->device].knows);
    if (!is_legacy(s)) return;
    wait_for_others(s, &left_blocking[s->device]);
    for (struct handle *h = streams; h; h = h->next) {
        const struct CUstream_st *const other = (struct CUstream_st *)h;
        if (other->device == s->device && is_blocking(other))
            wait_for_others(s, &other->knows);
    }
}

/* ---- work ---- */

static struct work { /* in the order of time, which is the host's */
    uint32_t time;   /* when it began */
    struct emu_work which;
} *works;
static size_t work_count, work_capacity;
enum { MOST_WORKS = 1 << 16, MOST_LOOKED_AT = 1 << 12 };
static struct CUstream_st *at_work; /* whose work is being done */
bool emu_concurrent;
bool emu_host_is_behind;
int emu_working_device;

static bool all_is_known(void)
{
    return memcmp(host.of, done, sizeof done) == 0;
}

static void host_learns(const struct knowledge *what)
{
    join(&host, what);
    join(&heard, what);
    emu_show_output();
    emu_host_is_behind = !all_is_known();
    if (!emu_host_is_behind) work_count = 0;
}

/* One more piece of work in the stream, behind what it knows of. */
static void add_work(struct CUstream_st *s)
{
    s->knows.of[s->column] = ++done[s->column];
    emu_host_is_behind = true;
}

static void note_work(const struct CUstream_st *s)
{
    if (work_count == MOST_WORKS) {
        work_count /= 2;
        memmove(works, works + work_count, work_count * sizeof *works);
    }
    EMU_ROOM_FOR_ONE(works, work_count, work_capacity, "for the work of streams");
    const struct emu_work which = {s->column,
                                   s->column < COLUMNS ? s->knows.of[s->column] : 0};
    works[work_count++] = (struct work){emu_times.now + 1, which};
}

/* Of an early launch: the one ahead, by its number in the same column, or 0; who has waited
 * for it; and from when on accesses may be unordered with those who have. */
static struct {
    uint32_t ahead;
    uint32_t began; /* the one ahead */
    uint32_t other_work;
    bool *waited;   /* each of the threads that run, */
    unsigned count; /* of so many */
} early;
bool emu_some_have_waited, emu_flags_tell;

static bool is_launch_ahead(const struct emu_work *work)
{
    return early.ahead && work->number == early.ahead && work->column == at_work->column;
}

bool emu_is_unordered_work(const struct emu_work *work)
{
    if (!at_work || work->column >= COLUMNS) return false;
    if (work->number > at_work->knows.of[work->column]) return true;
    return is_launch_ahead(work) && !(emu_current && early.waited[emu_current->linear]);
}

bool emu_is_over(const struct emu_work *work)
{
    return work->column == UNTRACKED || work->number <= host.of[work->column];
}

bool emu_may_go_on(const struct emu_work *work)
{
    return work->column < COLUMNS && work->number > heard.of[work->column];
}

bool emu_present_work(struct emu_work *work, bool host_sees)
{
    if (!at_work) return false;
    *work = (struct emu_work){at_work->column, at_work->knows.of[at_work->column]};
    return (host_sees || columns > 1) && !emu_is_over(work);
}

/* The work that an access at that time was of; NULL if it is known to be over. */
static const struct emu_work *work_at(uint32_t time)
{
    size_t low = 0, high = work_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (works[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &works[low - 1].which : NULL;
}

bool emu_in_other_work(uint32_t time)
{
    const struct emu_work *const work = work_at(time);
    return work && emu_is_unordered_work(work);
}

bool emu_in_launch_ahead(uint32_t time)
{
    const struct emu_work *const work = work_at(time);
    return work && is_launch_ahead(work);
}

bool emu_in_unfinished_work(uint32_t time)
{
    const struct emu_work *const work = work_at(time);
    return work && emu_may_go_on(work);
}

/* The time from which on accesses may be of work that nothing orders before this. */
static uint32_t first_unordered(void)
{
    const size_t from = work_count > MOST_LOOKED_AT ? work_count - MOST_LOOKED_AT : 0;
    for (size_t i = from; i < work_count; i++)
        if (emu_is_unordered_work(&works[i].which)) return works[i].time;
    return UINT32_MAX;
}

cudaError_t emu_work_begins(cudaStream_t handle)
{
    if (emu_is_captured(handle)) return emu_capture_refuses(handle);
    struct CUstream_st *const s = stream_of(handle);
    if (!s) return cudaErrorInvalidResourceHandle;
    if (emu_device_error() != cudaSuccess) return emu_device_error();
    emu_working_device = s->device;
    emu_early_launch_ends();
    emu_times.other_work = UINT32_MAX;
    at_work = NULL;
    emu_concurrent = false;
    gather(s);
    if (s->column == UNTRACKED) {
        host_learns(&s->knows);
        if (emu_settings.check) note_work(s);
        return cudaSuccess;
    }
    add_work(s);
    at_work = s;
    for (unsigned c = 0; c < columns && !emu_concurrent; c++)
        emu_concurrent = s->knows.of[c] < done[c];
    if (emu_settings.check) note_work(s);
    if (emu_concurrent && emu_settings.check) emu_times.other_work = first_unordered();
    return cudaSuccess;
}

/* ---- launches that begin early ---- */

cudaError_t emu_launch_begins(cudaStream_t handle, bool is_early, bool has_fenced)
{
    const cudaError_t error = emu_work_begins(handle);
    struct CUstream_st *const s = at_work;
    if (error != cudaSuccess || !s) return error;
    const uint32_t ahead = s->knows.of[s->column] - 1;
    const bool behind_kernel = ahead && s->last_launch == ahead && s->told < ahead;
    s->last_launch = ahead + 1;
    if (!is_early || !behind_kernel || !emu_settings.check) return cudaSuccess;
    for (size_t i = work_count; i > 0 && !early.ahead; i--)
        if (works[i - 1].which.column == s->column &&
            works[i - 1].which.number == ahead) {
            early.ahead = ahead;
            early.began = works[i - 1].time;
        }
    if (!early.waited)
        early.waited = emu_zeros("for watching early launches", EMU_MAX_THREADS, 1);
    early.other_work = emu_times.other_work;
    emu_flags_tell = early.ahead && has_fenced;
    return cudaSuccess;
}

void emu_early_launch_ends(void)
{
    if (early.ahead) emu_times.other_work = early.other_work;
    early.ahead = 0;
    emu_some_have_waited = emu_flags_tell = false;
}

void emu_no_launch_follows(cudaStream_t handle)
{
    struct CUstream_st *const s = stream_of(handle);
    if (s) s->last_launch = 0;
}

static void count_waited(void)
{
    const bool all = early.count == emu_now.places;
    emu_some_have_waited = early.count > 0 && !all;
    emu_times.other_work =
        all || early.other_work < early.began ? early.other_work : early.began;
}

void emu_early_block_begins(bool has_run_before)
{
    if (!early.ahead) return;
    early.count = has_run_before ? emu_now.places : 0;
    memset(early.waited, has_run_before, emu_now.places);
    count_waited();
}

void emu_tell_of_waiting(unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) {
        early.count += !early.waited[i];
        early.waited[i] = true;
    }
    count_waited();
}

void emu_wait_for_launch_ahead(void)
{
    if (!emu_current || !early.ahead) return;
    emu_flags_tell = true;
    emu_tell_of_waiting(emu_current->linear, 1);
}

cudaError_t emu_call_begins(cudaStream_t handle)
{
    emu_changes++;
    return emu_work_begins(handle);
}

cudaStream_t emu_stream_on(cudaStream_t handle, int device)
{
    const int current = emu_device();
    emu_set_device(device);
    struct CUstream_st *const s = stream_of(handle);
    emu_set_device(current);
    return s;
}

void emu_forget_works(void)
{
    work_count = 0;
}

void emu_host_waits_for_work(void)
{
    if (at_work) host_learns(&at_work->knows);
}

void emu_host_waits_for_device(int device)
{
    for (struct handle *h = streams; h; h = h->next) {
        struct CUstream_st *const s = (struct CUstream_st *)h;
        if (device >= 0 && s->device != device) continue;
        host_learns(&s->knows);
    }
    for (int d = 0; d < EMU_MOST_DEVICES; d++) {
        if (device >= 0 && d != device) continue;
        host_learns(&left_blocking[d]);
        host_learns(&left[d]);
        if (begun[d]) host_learns(&defaults[d].knows);
    }
}

void emu_join_streams(cudaStream_t *handles, int count)
{
    struct knowledge all = {{0}};
    for (int i = 0; i < count; i++) {
        gather(handles[i]);
        join(&all, &handles[i]->knows);
    }
    for (int i = 0; i < count; i++) join(&handles[i]->knows, &all);
}

void emu_join_devices(const int *devices, int count)
{
    struct knowledge all = {{0}};
    for (int put = 0; put < 2; put++) { /* first gather what all know, then tell all */
        for (struct handle *h = streams; h; h = h->next) {
            struct CUstream_st *const s = (struct CUstream_st *)h;
            bool is_one = false;
            for (int i = 0; i < count; i++) is_one |= s->device == devices[i];
            if (is_one) join(put ? &s->knows : &all, put ? &all : &s->knows);
        }
        for (int i = 0; i < count; i++) {
            const int d = devices[i];
            if (!put) join(&all, &left_blocking[d]), join(&all, &left[d]);
            struct CUstream_st *const s = default_stream(d);
            join(put ? &s->knows : &all, put ? &all : &s->knows);
        }
    }
}

/* ---- the calls ---- */

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags,
                                         int priority)
{
    EMU_ALONE;
    EMU_NEED_DEVICE;
    if (!stream || flags > cudaStreamNonBlocking) return set(cudaErrorInvalidValue);
    *stream = new_stream(emu_device());
    if (!*stream) return set(cudaErrorMemoryAllocation);
    (*stream)->flags = flags;
    (*stream)->priority = priority > LEAST_PRIORITY      ? LEAST_PRIORITY
                          : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
                                                         : priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    EMU_ALONE;
    const struct CUstream_st *const s = stream_of(stream);
    if (!s) return set(cudaErrorInvalidResourceHandle);
    if (!flags) return set(cudaErrorInvalidValue);
    *flags = s->flags;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    EMU_ALONE;
    const struct CUstream_st *const s = stream_of(stream);
    if (!s) return set(cudaErrorInvalidResourceHandle);
    if (!priority) return set(cudaErrorInvalidValue);
    *priority = s->priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    EMU_ALONE;
    const struct CUstream_st *const s = stream_of(stream);
    if (!s) return set(cudaErrorInvalidResourceHandle);
    if (!device) return set(cudaErrorInvalidValue);
    *device = s->device;
    return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    EMU_ALONE;
    const struct CUstream_st *const s = stream_of(stream);
    if (!s) return set(cudaErrorInvalidResourceHandle);
    if (!id) return set(cudaErrorInvalidValue);
    *id = s->id;
    return cudaSuccess;
}

/* They steer a cache and a scheduler that are not emulated. */
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attr,
                                   const cudaStreamAttrValue *value)
{
    EMU_ALONE;
    struct CUstream_st *const s = stream_of(stream);
    if (!s) return set(cudaErrorInvalidResourceHandle);
    if (!value || !emu_is_attribute(attr)) return set(cudaErrorInvalidValue);
    if (attr == cudaStreamAttributePriority)
        s->priority = value->priority;
    else
        s->attributes.of[attr] = *value;
    return cudaSuccess;
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attr,
                                   cudaStreamAttrValue *value)
{
    EMU_ALONE;
    struct CUstream_st *const s = stream_of(stream);
    if (!s) return set(cudaErrorInvalidResourceHandle);
    if (!value || !emu_is_attribute(attr)) return set(cudaErrorInvalidValue);
    *value = s->attributes.of[attr];
    if (attr == cudaStreamAttributePriority) value->priority = s->priority;
    if (attr == cudaStreamAttributeSynchronizationPolicy && !value->syncPolicy)
        value->syncPolicy = cudaSyncPolicyAuto;
    return cudaSuccess;
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    EMU_ALONE;
    struct CUstream_st *const target = stream_of(to), *const source = stream_of(from);
    if (!target || !source) return set(cudaErrorInvalidResourceHandle);
    target->attributes = source->attributes;
    target->priority = source->priority;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return cudaStreamCreateWithPriority(stream, flags, LEAST_PRIORITY);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

/* Its work will be done all the same, and only who waits for the device, or in the default
 * stream for a blocking one, waits for it. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    EMU_ALONE;
    EMU_NEED_DEVICE;
    if (!*find(&streams, stream)) return set(cudaErrorInvalidResourceHandle);
    if (stream->column < COLUMNS) taken[stream->column] = false;
    if (at_work == stream) at_work = NULL;
    join(is_blocking(stream) ? &left_blocking[stream->device] : &left[stream->device],
         &stream->knows);
    destroy(&streams, stream);
    return cudaSuccess;
}

/* A function that the stream calls sees what lies before it, and may tell the host in a
 * way that is not seen here; no stream is ordered by that. */
static cudaError_t wait_for(cudaStream_t stream, bool host_waits)
{
    EMU_ALONE;
    if (emu_is_captured(stream)) return emu_capture_refuses(stream);
    struct CUstream_st *const s = stream_of(stream);
    if (!s) return cudaErrorInvalidResourceHandle;
    gather(s);
    s->last_launch = 0;
    join(&heard, &s->knows);
    emu_show_output();
    if (host_waits) host_learns(&s->knows);
    return emu_tell_device_error();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return set(wait_for(stream, true));
}

/* All is done by the time of any call, and a program that asks has been told so. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return set(wait_for(stream, true));
}

static bool is_event(cudaEvent_t event)
{
    EMU_ALONE;
    return event && *find(&events, event);
}

/* An event that is not part of the capture, but of what comes before or after a launch. */
static cudaError_t run_record(void *data, cudaStream_t stream)
{
    return cudaEventRecord(*(cudaEvent_t *)data, stream);
}

static cudaError_t run_wait(void *data, cudaStream_t stream)
{
    return cudaStreamWaitEvent(stream, *(cudaEvent_t *)data, cudaEventWaitDefault);
}

static cudaError_t add_event(enum cudaGraphNodeType type, emu_deferred *run,
                             cudaEvent_t event, cudaStream_t stream)
{
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    return emu_capture(stream, type, run, &event, sizeof event)
               ? emu_capture_state(stream)
               : cudaErrorIllegalState;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags)
{
    EMU_ALONE;
    EMU_NEED_DEVICE;
    if (flags == cudaEventWaitExternal)
        return set(add_event(cudaGraphNodeTypeWaitEvent, run_wait, event, stream));
    if (flags != cudaEventWaitDefault) return set(cudaErrorInvalidValue);
    struct CUstream_st *const s = stream_of(stream);
    if (!s || !event || !*find(&events, event))
        return set(cudaErrorInvalidResourceHandle);
    bool captured;
    const cudaError_t error = emu_capture_wait(stream, event, &captured);
    if (captured) return set(error);
    wait_for_others(s, &event->knows);
    return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *user_data, unsigned int flags)
{
    if (!callback || flags != 0) return set(cudaErrorInvalidValue);
    const cudaError_t error = wait_for(stream, false);
    if (error == cudaSuccess) callback(stream, cudaSuccess, user_data);
    return set(error);
}

static cudaError_t run_host_function(void *data, cudaStream_t stream)
{
    const struct cudaHostNodeParams *const call = data;
    return cudaLaunchHostFunc(stream, call->fn, call->userData);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void *user_data)
{
    if (!function) return set(cudaErrorInvalidValue);
    const struct cudaHostNodeParams call = {function, user_data};
    if (emu_capture(stream, cudaGraphNodeTypeHost, run_host_function, &call, sizeof call))
        return set(emu_capture_state(stream));
    const cudaError_t error = wait_for(stream, false);
    if (error == cudaSuccess) function(user_data);
    return set(error);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    unsigned int known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    EMU_NEED_DEVICE;
    if (!event || (flags & ~known)) return set(cudaErrorInvalidValue);
    *event = create(&events, sizeof **event);
    if (!*event) return set(cudaErrorMemoryAllocation);
    (*event)->flags = flags;
    (*event)->device = emu_device();
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

/* An event is of the device that was current when it was made, and so must the stream be.
 */
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned int flags)
{
    EMU_ALONE;
    EMU_NEED_DEVICE;
    if (flags == cudaEventRecordExternal)
        return set(add_event(cudaGraphNodeTypeEventRecord, run_record, event, stream));
    if (flags != cudaEventRecordDefault) return set(cudaErrorInvalidValue);
    struct CUstream_st *const s = stream_of(stream);
    if (!is_event(event) || !s || s->device != event->device)
        return set(cudaErrorInvalidResourceHandle);
    if (emu_capture_event(event, stream)) return cudaSuccess;
    gather(s);
    if (s->column < COLUMNS) add_work(s); /* so that the host can be asked to wait */
    event->knows = s->knows;
    clock_gettime(CLOCK_MONOTONIC, &event->when);
    event->recorded = true;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    EMU_ALONE;
    if (!is_event(event)) return set(cudaErrorInvalidResourceHandle);
    host_learns(&event->knows);
    return emu_tell_device_error();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

/* As far as the host has been told. */
static bool is_done(cudaEvent_t event)
{
    for (unsigned c = 0; c < columns; c++)
        if (event->knows.of[c] > host.of[c]) return false;
    return true;
}

/* Time of this machine between the two calls, which says nothing about a GPU. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    EMU_ALONE;
    EMU_NEED_DEVICE;
    if (!milliseconds) return set(cudaErrorInvalidValue);
    if (!is_event(start) || !is_event(end)) return set(cudaErrorInvalidResourceHandle);
    if ((start->flags | end->flags) & cudaEventDisableTiming)
        return set(cudaErrorInvalidResourceHandle);
    if (!start->recorded || !end->recorded) return set(cudaErrorInvalidResourceHandle);
    if (!is_done(start) || !is_done(end)) return set(cudaErrorNotReady);
    double seconds = (double)(end->when.tv_sec - start->when.tv_sec);
    double nanoseconds = (double)(end->when.tv_nsec - start->when.tv_nsec);
    *milliseconds = (float)(seconds * 1e3 + nanoseconds * 1e-6);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    EMU_NEED_DEVICE;
    return set(destroy(&events, event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
