/* The calls that copy and fill: what may go where, when the host waits, and what the
 * checker is told of it. */
#include "memory/copies.h"

#include <string.h>

#include "base/device.h"
#include "base/errors.h"
#include "base/now.h"
#include "base/output.h"
#include "base/settings.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/array.h"
#include "memory/capture.h"
#include "memory/memory.h"
#include "memory/spans.h"
#include "memory/streams.h"
#include "memory/values.h"
#include "memory/variables.h"

#define CALLER __builtin_return_address(0)

/* ---- which side ---- */

enum side { HOST_SIDE = 1, DEVICE_SIDE = 2 };

/* Where [p, p + bytes) lies, as a set: ordinary memory is the host's, cudaMalloc's the
 * device's, pinned and managed memory both sides'. 0 if the range runs out of its
 * allocation. */
static unsigned sides(const void *p, size_t bytes)
{
    const char *first = p;
    if (!p) return 0;
    if (emu_is_global(p)) {
        const struct emu_allocation *a = emu_allocation_of(p);
        if (!a || a->heap || bytes > a->bytes - (size_t)(first - a->base)) return 0;
        return a->type == cudaMemoryTypeDevice ? DEVICE_SIDE : HOST_SIDE | DEVICE_SIDE;
    }
    if (emu_is_device_variable(p)) {
        if (bytes > emu_variables_behind(p)) return 0;
        return emu_is_managed_variable(p) ? HOST_SIDE | DEVICE_SIDE : DEVICE_SIDE;
    }
    return emu_is_registered(p) ? HOST_SIDE | DEVICE_SIDE : HOST_SIDE;
}

bool emu_is_device_range(const void *p, size_t bytes)
{
    return bytes == 0 || (sides(p, bytes) & DEVICE_SIDE);
}

/* The beginner's cudaMemcpy(variable, ...), which CUDA refuses: what the name stands for on
 * the host is ordinary memory. */
static void check_no_name(const void *p, const void *pc)
{
    const struct emu_host_name *const h = emu_settings.check ? emu_host_name_of(p) : NULL;
    if (h)
        emu_fault(pc,
                  "%s is a variable of device code, whose name is no address on the "
                  "device for the host (CUDA returns cudaErrorInvalidValue); copy with "
                  "cudaMemcpyToSymbol or cudaMemcpyFromSymbol, or ask "
                  "cudaGetSymbolAddress where it lies",
                  h->name);
}

/* ---- copies ---- */

/* The bytes that `height` rows of `width` bytes span, one row every `pitch` bytes;
 * SIZE_MAX if beyond counting. */
static size_t span(size_t pitch, size_t width, size_t height)
{
    if (height > 1 && pitch > (SIZE_MAX - width) / (height - 1)) return SIZE_MAX;
    return pitch * (height - 1) + width;
}

/* Begins the work of a copy or a memset in the stream. */
#define BEGIN_WORK(stream)                                                               \
    do {                                                                                 \
        const cudaError_t refused = emu_work_begins(stream);                             \
        if (refused != cudaSuccess)                                                      \
            return refused == emu_device_error() ? emu_tell_device_error() : refused;    \
    } while (0)

struct copying {
    char *to;
    size_t to_pitch;
    const char *from;
    size_t from_pitch, width, height;
    enum cudaMemcpyKind kind;
    const void *pc;
};
static emu_deferred run_copy, run_copy_3d, run_fill;

cudaError_t emu_copy(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                     size_t width, size_t height, enum cudaMemcpyKind kind,
                     cudaStream_t stream, enum emu_host waits, const void *pc)
{
    EMU_ALONE;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    check_no_name(to, pc);
    check_no_name(from, pc);
    const struct copying all = {to, to_pitch, from, from_pitch, width, height, kind, pc};
    if (emu_capture(stream, cudaGraphNodeTypeMemcpy, run_copy, &all, sizeof all))
        return emu_capture_state(stream);
    if (waits == WAITS) emu_show_output();
    BEGIN_WORK(stream);
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && (width > to_pitch || width > from_pitch))
        return cudaErrorInvalidPitchValue;
    const unsigned to_sides = sides(to, span(to_pitch, width, height)),
                   from_sides = sides(from, span(from_pitch, width, height));
    unsigned to_side = to_sides, from_side = from_sides;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind != cudaMemcpyDefault) {
        to_side &= to_device ? DEVICE_SIDE : HOST_SIDE;
        from_side &= from_device ? DEVICE_SIDE : HOST_SIDE;
    }
    if (!to_side || !from_side) return cudaErrorInvalidValue;
    const bool on_devices = to_sides == DEVICE_SIDE && from_sides == DEVICE_SIDE;
    /* Within the host's memory, and to what is not pinned, even an asynchronous copy is
     * over when the call returns (CUDA Runtime API, "API synchronization behavior"). */
    const bool within_host =
        kind == cudaMemcpyHostToHost ||
        (kind == cudaMemcpyDefault && (to_sides & from_sides & HOST_SIDE));
    if (waits == WAITS ? !on_devices : to_sides == HOST_SIDE || within_host)
        emu_host_waits_for_work();
    if (width == to_pitch && width == from_pitch) { /* the rows lie end to end */
        width *= height;
        height = 1;
    }
    const bool has_read = waits == WAITS_FOR_READS && (from_sides & HOST_SIDE);
    for (size_t row = 0; row < height; row++) {
        if (!has_read) emu_work_touches(from + row * from_pitch, width, false, pc);
        emu_work_touches(to + row * to_pitch, width, true, pc);
        memmove(to + row * to_pitch, from + row * from_pitch, width);
        emu_check_host_copied(to + row * to_pitch, from + row * from_pitch, width);
    }
    return cudaSuccess;
}

static cudaError_t run_copy(void *data, cudaStream_t stream)
{
    const struct copying *const c = data;
    return emu_copy(c->to, c->to_pitch, c->from, c->from_pitch, c->width, c->height,
                    c->kind, stream, GOES_ON, c->pc);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return set(emu_copy(to, bytes, from, bytes, bytes, 1, kind, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return set(emu_copy(to, bytes, from, bytes, bytes, 1, kind, stream, GOES_ON, CALLER));
}

/* ---- many at once ---- */

/* The copies of a batch run in any order, and none may see what another does. */
static void check_batch(void *const *to, const void *const *from, const size_t *sizes,
                        size_t count, const void *pc)
{
    for (size_t i = 0; emu_settings.check && i < count; i++)
        for (size_t k = 0; k < count; k++) {
            const char *const written = to[i], *const other = k > i ? to[k] : NULL,
                              *const read = from[k];
            const bool twice = other && written < other + sizes[k] &&
                               other < written + sizes[i],
                       both = k != i && written < read + sizes[k] &&
                              read < written + sizes[i];
            if (twice || both)
                emu_fault(pc,
                          "cudaMemcpyBatchAsync: copy %zu writes bytes that copy %zu %s, "
                          "and nothing orders the copies of a batch",
                          i, k, twice ? "writes, too" : "reads");
        }
}

/* Which attributes a copy has is said by the first copy of each. */
static bool is_batch(void *const *to, const void *const *from, const size_t *sizes,
                     size_t count, const struct cudaMemcpyAttributes *attributes,
                     const size_t *firsts, size_t attribute_count)
{
    if (!to || !from || !sizes || !attributes || !firsts || attribute_count == 0 ||
        attribute_count > count || firsts[0] != 0)
        return false;
    for (size_t i = 0; i < attribute_count; i++) {
        const struct cudaMemcpyAttributes *const a = &attributes[i];
        if (i > 0 && firsts[i] <= firsts[i - 1]) return false;
        if (firsts[i] >= count || a->srcAccessOrder < cudaMemcpySrcAccessOrderStream ||
            a->srcAccessOrder > cudaMemcpySrcAccessOrderAny ||
            a->flags > cudaMemcpyFlagPreferOverlapWithCompute)
            return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!to[i] || !from[i] || sizes[i] == 0) return false;
    return true;
}

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from,
                                 const size_t *sizes, size_t count,
                                 struct cudaMemcpyAttributes *attributes, size_t *firsts,
                                 size_t attribute_count, cudaStream_t stream)
{
    EMU_ALONE;
    if (!stream || stream == cudaStreamLegacy ||
        !is_batch(to, from, sizes, count, attributes, firsts, attribute_count))
        return set(cudaErrorInvalidValue);
    /* Unlike other calls, an H200 lets the capture go on. */
    if (emu_is_captured(stream)) return set(cudaErrorStreamCaptureUnsupported);
    check_batch(to, from, sizes, count, CALLER);
    cudaError_t error = cudaSuccess;
    size_t group = 0;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        while (group + 1 < attribute_count && firsts[group + 1] <= i) group++;
        const bool at_once =
            attributes[group].srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall;
        error =
            emu_copy(to[i], sizes[i], from[i], sizes[i], sizes[i], 1, cudaMemcpyDefault,
                     stream, at_once ? WAITS_FOR_READS : GOES_ON, CALLER);
    }
    return set(error);
}

/* ---- between devices ---- */

/* Devices copy to each other whether they are peers or not. */
static cudaError_t peer_copy(void *to, int to_device, const void *from, int from_device,
                             size_t bytes, cudaStream_t stream, const void *pc)
{
    if (!emu_is_device(to_device) || !emu_is_device(from_device))
        return cudaErrorInvalidDevice;
    const struct emu_allocation *const a = emu_allocation_of(to), *const b =
                                                                      emu_allocation_of(
                                                                          from);
    if (bytes > 0 && (!a || !b || a->device != to_device || b->device != from_device))
        return cudaErrorInvalidValue;
    return emu_copy(to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice, stream,
                    GOES_ON, pc);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           size_t bytes)
{
    /* Behind all that was enqueued on any of the three devices, and before all that comes
     * (CUDA Runtime API, cudaMemcpyPeer); the host does not wait. */
    const int devices[] = {to_device, from_device, emu_device()};
    const bool known = emu_is_device(to_device) && emu_is_device(from_device);
    if (known) emu_join_devices(devices, 3);
    const cudaError_t error =
        peer_copy(to, to_device, from, from_device, bytes, 0, CALLER);
    if (known) emu_join_devices(devices, 3);
    return set(error);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                int from_device, size_t bytes, cudaStream_t stream)
{
    return set(peer_copy(to, to_device, from, from_device, bytes, stream, CALLER));
}

struct copying_3d {
    struct cudaMemcpy3DParms what;
    const void *pc;
};

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *what, cudaStream_t stream,
                           enum emu_host waits, const void *pc)
{
    if (!what) return cudaErrorInvalidValue;
    if (emu_is_captured(stream)) {
        EMU_ALONE;
        const struct copying_3d all = {*what, pc};
        emu_capture(stream, cudaGraphNodeTypeMemcpy, run_copy_3d, &all, sizeof all);
        return emu_capture_state(stream);
    }
    struct cudaPitchedPtr to = what->dstPtr, from = what->srcPtr;
    const struct cudaPos *at = &what->dstPos, *of = &what->srcPos;
    /* Where an array takes part, widths count its elements. */
    size_t element = 1;
    if (what->dstArray)
        to.ptr = emu_array_place(what->dstArray, 0, 0, 0, &to.pitch, &to.ysize, &element);
    if (what->srcArray)
        from.ptr =
            emu_array_place(what->srcArray, 0, 0, 0, &from.pitch, &from.ysize, &element);
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < what->extent.depth && error == cudaSuccess; z++)
        error =
            emu_copy((char *)to.ptr + ((at->z + z) * to.ysize + at->y) * to.pitch +
                         at->x * (what->dstArray ? element : 1),
                     to.pitch,
                     (char *)from.ptr + ((of->z + z) * from.ysize + of->y) * from.pitch +
                         of->x * (what->srcArray ? element : 1),
                     from.pitch, what->extent.width * element, what->extent.height,
                     what->kind, stream, waits, pc);
    return error;
}

static cudaError_t run_copy_3d(void *data, cudaStream_t stream)
{
    const struct copying_3d *const c = data;
    return copy_3d(&c->what, stream, GOES_ON, c->pc);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *what)
{
    return set(copy_3d(what, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *what, cudaStream_t stream)
{
    return set(copy_3d(what, stream, GOES_ON, CALLER));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return set(
        emu_copy(to, to_pitch, from, from_pitch, width, height, kind, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                              size_t from_pitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return set(emu_copy(to, to_pitch, from, from_pitch, width, height, kind, stream,
                        GOES_ON, CALLER));
}

/* Between which sides it is, where that was left to the addresses. */
static enum cudaMemcpyKind kind_of(const struct copying *c)
{
    const bool to_device = sides(c->to, 1) == DEVICE_SIDE,
               from_device = sides(c->from, 1) == DEVICE_SIDE;
    return c->kind != cudaMemcpyDefault ? c->kind
           : to_device   ? from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice
           : from_device ? cudaMemcpyDeviceToHost
                         : cudaMemcpyHostToHost;
}

void emu_copy_parameters(struct cudaMemcpy3DParms *what, const void *data, size_t bytes)
{
    if (bytes == sizeof(struct copying_3d)) {
        *what = ((const struct copying_3d *)data)->what;
        return;
    }
    const struct copying *const c = data;
    const bool rows = c->height > 1; /* else it is of no interest how far one is off */
    *what = (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)c->from, rows ? c->from_pitch : 0, 0, 0},
        .dstPtr = {c->to, rows ? c->to_pitch : 0, 0, 0},
        .extent = {c->width, c->height, 1},
        .kind = kind_of(c),
    };
}
_Static_assert(sizeof(struct copying) != sizeof(struct copying_3d),
               "a node's data tells by its size what it is");

/* ---- to and from arrays ---- */

/* A copy that may go on from one row of the array to the next. */
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                              size_t bytes, enum cudaMemcpyKind kind)
{
    size_t pitch, rows, element;
    if (!to) return set(cudaErrorInvalidValue);
    return cudaMemcpy(emu_array_place(to, x, y, 0, &pitch, &rows, &element), from, bytes,
                      kind);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind,
                                   cudaStream_t stream)
{
    size_t pitch, rows, element;
    if (!to) return set(cudaErrorInvalidValue);
    return set(emu_copy(emu_array_place(to, x, y, 0, &pitch, &rows, &element), bytes,
                        from, bytes, bytes, 1, kind, stream, GOES_ON, CALLER));
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, enum cudaMemcpyKind kind,
                                     cudaStream_t stream)
{
    size_t pitch, rows, element;
    if (!from) return set(cudaErrorInvalidValue);
    return set(emu_copy(to, bytes,
                        emu_array_place(from, x, y, 0, &pitch, &rows, &element), bytes,
                        bytes, 1, kind, stream, GOES_ON, CALLER));
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y,
                                size_t bytes, enum cudaMemcpyKind kind)
{
    size_t pitch, rows, element;
    if (!from) return set(cudaErrorInvalidValue);
    return cudaMemcpy(to, emu_array_place(from, x, y, 0, &pitch, &rows, &element), bytes,
                      kind);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                                size_t pitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind)
{
    size_t own_pitch, rows, element;
    if (!to) return set(cudaErrorInvalidValue);
    char *place = emu_array_place(to, x, y, 0, &own_pitch, &rows, &element);
    return cudaMemcpy2D(place, own_pitch, from, pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from,
                                  size_t x, size_t y, size_t width, size_t height,
                                  enum cudaMemcpyKind kind)
{
    size_t own_pitch, rows, element;
    if (!from) return set(cudaErrorInvalidValue);
    const char *place = emu_array_place(from, x, y, 0, &own_pitch, &rows, &element);
    return cudaMemcpy2D(to, pitch, place, own_pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    size_t own_pitch, rows, element;
    if (!to) return set(cudaErrorInvalidValue);
    char *place = emu_array_place(to, x, y, 0, &own_pitch, &rows, &element);
    return set(emu_copy(place, own_pitch, from, pitch, width, height, kind, stream,
                        GOES_ON, CALLER));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from,
                                       size_t x, size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    size_t own_pitch, rows, element;
    if (!from) return set(cudaErrorInvalidValue);
    const char *place = emu_array_place(from, x, y, 0, &own_pitch, &rows, &element);
    return set(emu_copy(to, pitch, place, own_pitch, width, height, kind, stream, GOES_ON,
                        CALLER));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height,
                                     enum cudaMemcpyKind kind)
{
    size_t to_pitch, from_pitch, rows, element;
    if (!to || !from) return set(cudaErrorInvalidValue);
    char *const there = emu_array_place(to, to_x, to_y, 0, &to_pitch, &rows, &element);
    const char *const here =
        emu_array_place(from, from_x, from_y, 0, &from_pitch, &rows, &element);
    return set(emu_copy(there, to_pitch, here, from_pitch, width, height, kind, 0, WAITS,
                        CALLER));
}

/* ---- to and from variables ---- */

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    if (!pointer) return set(cudaErrorInvalidValue);
    symbol = emu_variable_of_symbol(symbol);
    if (!emu_is_device_variable(symbol)) return set(cudaErrorInvalidSymbol);
    *pointer = (void *)symbol;
    return set(cudaSuccess);
}

static cudaError_t to_symbol(const void *symbol, const void *from, size_t bytes,
                             size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream,
                             enum emu_host waits, const void *pc)
{
    symbol = emu_variable_of_symbol(symbol);
    if (!emu_is_device_variable(symbol)) return cudaErrorInvalidSymbol;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return emu_copy((char *)symbol + offset, bytes, from, bytes, bytes, 1, kind, stream,
                    waits, pc);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind)
{
    return set(to_symbol(symbol, from, bytes, offset, kind, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind,
                                    cudaStream_t stream)
{
    return set(to_symbol(symbol, from, bytes, offset, kind, stream, GOES_ON, CALLER));
}

static cudaError_t from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind, cudaStream_t stream,
                               enum emu_host waits, const void *pc)
{
    symbol = emu_variable_of_symbol(symbol);
    if (!emu_is_device_variable(symbol)) return cudaErrorInvalidSymbol;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return emu_copy(to, bytes, (const char *)symbol + offset, bytes, bytes, 1, kind,
                    stream, waits, pc);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                 size_t offset, enum cudaMemcpyKind kind)
{
    return set(from_symbol(to, symbol, bytes, offset, kind, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                      size_t offset, enum cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    return set(from_symbol(to, symbol, bytes, offset, kind, stream, GOES_ON, CALLER));
}

/* ---- filling ---- */

struct filling {
    void *pointer;
    size_t pitch, width, height, element;
    unsigned value;
    const void *pc;
};

static void fill_row(char *row, unsigned value, size_t element, size_t width)
{
    if (element == 1) {
        memset(row, (int)value, width);
        return;
    }
    for (size_t i = 0; i < width; i += element) memcpy(row + i, &value, element);
}

cudaError_t emu_fill(void *pointer, size_t pitch, unsigned value, size_t element,
                     size_t width, size_t height, cudaStream_t stream,
                     enum emu_host waits, const void *pc)
{
    EMU_ALONE;
    check_no_name(pointer, pc);
    const struct filling all = {pointer, pitch, width, height, element, value, pc};
    if (emu_capture(stream, cudaGraphNodeTypeMemset, run_fill, &all, sizeof all))
        return emu_capture_state(stream);
    BEGIN_WORK(stream);
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
    const unsigned side = sides(pointer, span(pitch, width, height));
    if (!(side & DEVICE_SIDE) || (uintptr_t)pointer % element || pitch % element)
        return cudaErrorInvalidValue;
    if (waits == WAITS && (side & HOST_SIDE)) emu_host_waits_for_work();
    for (size_t y = 0; y < height; y++) {
        char *const row = (char *)pointer + y * pitch;
        emu_work_touches(row, width, true, pc);
        fill_row(row, value, element, width);
        emu_check_host_wrote(row, width);
    }
    return cudaSuccess;
}

static cudaError_t run_fill(void *data, cudaStream_t stream)
{
    const struct filling *const f = data;
    return emu_fill(f->pointer, f->pitch, f->value, f->element, f->width, f->height,
                    stream, GOES_ON, f->pc);
}

void emu_fill_parameters(struct cudaMemsetParams *what, const void *data)
{
    const struct filling *const f = data;
    *what = (struct cudaMemsetParams){
        f->pointer, f->pitch, f->value, (unsigned)f->element, f->width / f->element,
        f->height};
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width,
                         size_t height)
{
    return set(
        emu_fill(pointer, pitch, (unsigned)value, 1, width, height, 0, WAITS, CALLER));
}

cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width,
                              size_t height, cudaStream_t stream)
{
    return set(emu_fill(pointer, pitch, (unsigned)value, 1, width, height, stream,
                        GOES_ON, CALLER));
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    return set(emu_fill(pointer, bytes, (unsigned)value, 1, bytes, 1, 0, WAITS, CALLER));
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
    return set(
        emu_fill(pointer, bytes, (unsigned)value, 1, bytes, 1, stream, GOES_ON, CALLER));
}

static cudaError_t fill_3d(struct cudaPitchedPtr pointer, int value,
                           struct cudaExtent extent, cudaStream_t stream,
                           enum emu_host waits, const void *pc)
{
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
        error = emu_fill((char *)pointer.ptr + z * pointer.ysize * pointer.pitch,
                         pointer.pitch, (unsigned)value, 1, extent.width, extent.height,
                         stream, waits, pc);
    return error;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value,
                         struct cudaExtent extent)
{
    return set(fill_3d(pointer, value, extent, 0, WAITS, CALLER));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value,
                              struct cudaExtent extent, cudaStream_t stream)
{
    return set(fill_3d(pointer, value, extent, stream, GOES_ON, CALLER));
}
