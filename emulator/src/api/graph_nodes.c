/* The calls that make nodes of graphs, ask what they do, and change it: in the graph, or in
 * what was made from it to be launched. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/graph.h"
#include "base/device.h"
#include "base/errors.h"
#include "base/functions.h"
#include "base/now.h"
#include "base/room.h"
#include "emulator_graphs.h"
#include "emulator_runtime.h"
#include "memory/copies.h"
#include "memory/memory.h"

#define CALLER __builtin_return_address(0)

/* The stream whose capture is one node: its address is all that it needs. A call that adds
 * or replaces one node does what is captured from that stream between the next two
 * functions: a new one of the graph, behind `after`, or what becomes of `replaced`. */
static char node_stream;

static cudaStream_t node_begins(cudaGraph_t graph, const cudaGraphNode_t *after,
                                size_t count)
{
    const cudaStream_t stream = (cudaStream_t)&node_stream;
    emu_front_join(emu_front_new(stream, graph ? graph : emu_graph_new()), after, count);
    return stream;
}

static cudaError_t node_ends(cudaError_t error, cudaGraphNode_t *node,
                             cudaGraphNode_t replaced)
{
    struct emu_front *const f = emu_front_of(&node_stream);
    const cudaGraphNode_t made = f->count ? f->last[f->count - 1] : NULL;
    const cudaGraph_t graph = f->graph;
    emu_front_drop(f);
    if (!replaced) {
        if (error == cudaSuccess && node) *node = made;
        return set(error);
    }
    if (error == cudaSuccess && (!made || replaced->type != made->type))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        emu_node_give(replaced, made->type, made->run, made->data, made->bytes);
    emu_graph_free(graph);
    return set(error);
}

static bool is_of(cudaGraphNode_t node, enum cudaGraphNodeType type)
{
    return node && node->type == type;
}

static bool may_add(cudaGraph_t graph, const cudaGraphNode_t *after, size_t count)
{
    return graph && (after || !count);
}

static cudaError_t launch_kernel(const struct cudaKernelNodeParams *what,
                                 cudaStream_t stream)
{
    return cudaLaunchKernel(what->func, what->gridDim, what->blockDim, what->kernelParams,
                            what->sharedMemBytes, stream);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *what)
{
    EMU_ALONE;
    if (!node || !what || what->extra || !may_add(graph, after, count))
        return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(graph, after, count);
    return node_ends(launch_kernel(what, stream), node, NULL);
}

/* NULL: that node launches no kernel. */
static struct emu_launch *launch_of(cudaGraphNode_t node)
{
    return node && node->type == cudaGraphNodeTypeKernel ? node->data : NULL;
}

/* Where the arguments of a node's launch lie, which follow it; the caller frees that. */
static struct emu_argument *places_in(struct emu_launch *l, unsigned *count)
{
    *count = l->places_of(l + 1, NULL);
    struct emu_argument *const places =
        emu_zeros("for a graph", *count + 1, sizeof *places);
    l->places_of(l + 1, places);
    return places;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         struct cudaKernelNodeParams *what)
{
    EMU_ALONE;
    struct emu_launch *const l = launch_of(node);
    if (!l || !what) return set(cudaErrorInvalidValue);
    void **const arguments = (void **)((char *)l + emu_graph_launch_bytes(l));
    unsigned count;
    struct emu_argument *const places = places_in(l, &count);
    for (unsigned i = 0; i < count; i++) arguments[i] = places[i].at;
    free(places);
    *what = (struct cudaKernelNodeParams){
        .func = (void *)(uintptr_t)l->address,
        .gridDim = {l->grid[0], l->grid[1], l->grid[2]},
        .blockDim = {l->block[0], l->block[1], l->block[2]},
        .sharedMemBytes = (unsigned)l->dynamic_shared,
        .kernelParams = arguments,
    };
    return cudaSuccess;
}

/* The kernel stays, and need not be one that its address alone can launch. */
static cudaError_t set_arguments(struct emu_launch *l,
                                 const struct cudaKernelNodeParams *what)
{
    unsigned count;
    struct emu_argument *const places = places_in(l, &count);
    const bool given = count == 0 || what->kernelParams;
    for (unsigned i = 0; i < count && given; i++)
        memmove(places[i].at, what->kernelParams[i], places[i].bytes);
    free(places);
    if (!given) return cudaErrorInvalidValue;
    memcpy(l->grid, &what->gridDim, sizeof l->grid);
    memcpy(l->block, &what->blockDim, sizeof l->block);
    l->dynamic_shared = what->sharedMemBytes;
    return cudaSuccess;
}

static cudaError_t set_launch(cudaGraphNode_t node,
                              const struct cudaKernelNodeParams *what)
{
    struct emu_launch *const old = launch_of(node);
    if (!old || what->extra) return set(cudaErrorInvalidValue);
    if (old->address == what->func && !emu_find_kernel(what->func))
        return set(set_arguments(old, what));
    const struct emu_launch attributes = *old;
    const cudaStream_t stream = node_begins(NULL, NULL, 0);
    const cudaError_t error = node_ends(launch_kernel(what, stream), NULL, node);
    if (error != cudaSuccess) return error;
    struct emu_launch *const now = node->data;
    memcpy(now->cluster, attributes.cluster, sizeof now->cluster);
    now->cooperative = attributes.cooperative;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams *what)
{
    EMU_ALONE;
    if (!node || !what) return set(cudaErrorInvalidValue);
    return set_launch(node, what);
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node,
                                            cudaKernelNodeAttrID attr,
                                            const cudaKernelNodeAttrValue *value)
{
    EMU_ALONE;
    struct emu_launch *const l = launch_of(node);
    if (!l || !value || !emu_is_attribute(attr)) return set(cudaErrorInvalidValue);
    node->attributes.of[attr] = *value;
    if (attr == cudaKernelNodeAttributeCooperative)
        l->cooperative = value->cooperative != 0;
    if (attr == cudaKernelNodeAttributeClusterDimension)
        memcpy(l->cluster, &value->clusterDim, sizeof l->cluster);
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node,
                                            cudaKernelNodeAttrID attr,
                                            cudaKernelNodeAttrValue *value)
{
    EMU_ALONE;
    const struct emu_launch *const l = launch_of(node);
    if (!l || !value || !emu_is_attribute(attr)) return set(cudaErrorInvalidValue);
    *value = node->attributes.of[attr];
    if (attr == cudaKernelNodeAttributeCooperative) value->cooperative = l->cooperative;
    if (attr == cudaKernelNodeAttributeClusterDimension)
        memcpy(&value->clusterDim, l->cluster, sizeof l->cluster);
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    EMU_ALONE;
    struct emu_launch *const target = launch_of(to);
    const struct emu_launch *const source = launch_of(from);
    if (!target || !source) return set(cudaErrorInvalidValue);
    to->attributes = from->attributes;
    target->cooperative = source->cooperative;
    memcpy(target->cluster, source->cluster, sizeof target->cluster);
    return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *what)
{
    EMU_ALONE;
    if (!exec || !node || !what) return set(cudaErrorInvalidValue);
    return set_launch(emu_node_in(exec, node), what);
}

/* ---- copies ---- */

/* A copy in the stream, by whichever call; and what a node becomes by it. */
typedef cudaError_t copy_call(const void *what, cudaStream_t stream);

static cudaError_t add_copy(cudaGraphNode_t *node, cudaGraph_t graph,
                            const cudaGraphNode_t *after, size_t count, copy_call *copy,
                            const void *what)
{
    if (!node || !may_add(graph, after, count)) return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(graph, after, count);
    return node_ends(copy(what, stream), node, NULL);
}

static cudaError_t set_copy(cudaGraphNode_t node, copy_call *copy, const void *what)
{
    if (!is_of(node, cudaGraphNodeTypeMemcpy)) return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(NULL, NULL, 0);
    return node_ends(copy(what, stream), NULL, node);
}

/* In what is launched, a copy of one row stays one, between the same two sides. */
static cudaError_t set_copy_in(cudaGraphExec_t exec, cudaGraphNode_t node,
                               copy_call *copy, const void *what)
{
    if (!exec) return set(cudaErrorInvalidValue);
    const cudaGraphNode_t own = emu_node_in(exec, node);
    if (!is_of(own, cudaGraphNodeTypeMemcpy)) return set(cudaErrorInvalidValue);
    const struct CUgraphNode_st old = *own;
    struct cudaMemcpy3DParms before, now;
    emu_copy_parameters(&before, old.data, old.bytes);
    own->data = NULL;
    cudaError_t error = set_copy(own, copy, what);
    if (error == cudaSuccess) {
        emu_copy_parameters(&now, own->data, own->bytes);
        const bool rows = before.extent.height != 1 || before.extent.depth != 1 ||
                          now.extent.height != 1 || now.extent.depth != 1;
        if (rows || now.extent.width == 0 || before.kind != now.kind)
            error = set(cudaErrorInvalidValue);
    }
    free(error == cudaSuccess ? old.data : own->data);
    if (error != cudaSuccess) {
        own->run = old.run;
        own->data = old.data;
        own->bytes = old.bytes;
    }
    return error;
}

static cudaError_t copy_3d(const void *what, cudaStream_t stream)
{
    return cudaMemcpy3DAsync(what, stream);
}

struct copy_1d {
    void *to;
    const void *from;
    size_t bytes, offset; /* the latter in a variable of device code */
    enum cudaMemcpyKind kind;
};

static cudaError_t copy_1d(const void *what, cudaStream_t stream)
{
    const struct copy_1d *const c = what;
    return cudaMemcpyAsync(c->to, c->from, c->bytes, c->kind, stream);
}

static cudaError_t copy_to_symbol(const void *what, cudaStream_t stream)
{
    const struct copy_1d *const c = what;
    return cudaMemcpyToSymbolAsync(c->to, c->from, c->bytes, c->offset, c->kind, stream);
}

static cudaError_t copy_from_symbol(const void *what, cudaStream_t stream)
{
    const struct copy_1d *const c = what;
    return cudaMemcpyFromSymbolAsync(c->to, c->from, c->bytes, c->offset, c->kind,
                                     stream);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *what)
{
    EMU_ALONE;
    if (!what) return set(cudaErrorInvalidValue);
    return add_copy(node, graph, after, count, copy_3d, what);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count, void *to,
                                     const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind)
{
    EMU_ALONE;
    const struct copy_1d what = {to, from, bytes, 0, kind};
    return add_copy(node, graph, after, count, copy_1d, &what);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *after, size_t count,
                                           const void *symbol, const void *from,
                                           size_t bytes, size_t offset,
                                           enum cudaMemcpyKind kind)
{
    EMU_ALONE;
    const struct copy_1d what = {(void *)symbol, from, bytes, offset, kind};
    return add_copy(node, graph, after, count, copy_to_symbol, &what);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *after, size_t count,
                                             void *to, const void *symbol, size_t bytes,
                                             size_t offset, enum cudaMemcpyKind kind)
{
    EMU_ALONE;
    const struct copy_1d what = {to, symbol, bytes, offset, kind};
    return add_copy(node, graph, after, count, copy_from_symbol, &what);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                         struct cudaMemcpy3DParms *what)
{
    EMU_ALONE;
    if (!is_of(node, cudaGraphNodeTypeMemcpy) || !what) return set(cudaErrorInvalidValue);
    emu_copy_parameters(what, node->data, node->bytes);
    return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemcpy3DParms *what)
{
    EMU_ALONE;
    return what ? set_copy(node, copy_3d, what) : set(cudaErrorInvalidValue);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to,
                                           const void *from, size_t bytes,
                                           enum cudaMemcpyKind kind)
{
    EMU_ALONE;
    const struct copy_1d what = {to, from, bytes, 0, kind};
    return set_copy(node, copy_1d, &what);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, size_t bytes,
                                                 size_t offset, enum cudaMemcpyKind kind)
{
    EMU_ALONE;
    const struct copy_1d what = {(void *)symbol, from, bytes, offset, kind};
    return set_copy(node, copy_to_symbol, &what);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, size_t bytes,
                                                   size_t offset,
                                                   enum cudaMemcpyKind kind)
{
    EMU_ALONE;
    const struct copy_1d what = {to, symbol, bytes, offset, kind};
    return set_copy(node, copy_from_symbol, &what);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *what)
{
    EMU_ALONE;
    return what ? set_copy_in(exec, node, copy_3d, what) : set(cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               void *to, const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    EMU_ALONE;
    const struct copy_1d what = {to, from, bytes, 0, kind};
    return set_copy_in(exec, node, copy_1d, &what);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec,
                                                     cudaGraphNode_t node,
                                                     const void *symbol, const void *from,
                                                     size_t bytes, size_t offset,
                                                     enum cudaMemcpyKind kind)
{
    EMU_ALONE;
    const struct copy_1d what = {(void *)symbol, from, bytes, offset, kind};
    return set_copy_in(exec, node, copy_to_symbol, &what);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                       cudaGraphNode_t node, void *to,
                                                       const void *symbol, size_t bytes,
                                                       size_t offset,
                                                       enum cudaMemcpyKind kind)
{
    EMU_ALONE;
    const struct copy_1d what = {to, symbol, bytes, offset, kind};
    return set_copy_in(exec, node, copy_from_symbol, &what);
}

/* ---- fills ---- */

static bool is_fill(const struct cudaMemsetParams *what)
{
    return what &&
           (what->elementSize == 1 || what->elementSize == 2 || what->elementSize == 4);
}

static cudaError_t fill(const struct cudaMemsetParams *m, cudaStream_t stream,
                        const void *pc)
{
    return emu_fill(m->dst, m->pitch, m->value, m->elementSize, m->width * m->elementSize,
                    m->height, stream, GOES_ON, pc);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *what)
{
    EMU_ALONE;
    if (!node || !is_fill(what) || !may_add(graph, after, count))
        return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(graph, after, count);
    return node_ends(fill(what, stream, CALLER), node, NULL);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                         struct cudaMemsetParams *what)
{
    EMU_ALONE;
    if (!is_of(node, cudaGraphNodeTypeMemset) || !what) return set(cudaErrorInvalidValue);
    emu_fill_parameters(what, node->data);
    return cudaSuccess;
}

static cudaError_t set_fill(cudaGraphNode_t node, const struct cudaMemsetParams *what,
                            const void *pc)
{
    if (!is_of(node, cudaGraphNodeTypeMemset) || !is_fill(what))
        return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(NULL, NULL, 0);
    return node_ends(fill(what, stream, pc), NULL, node);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemsetParams *what)
{
    EMU_ALONE;
    return set_fill(node, what, CALLER);
}

/* What was one row stays one, and several rows keep all of their extents. */
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *what)
{
    EMU_ALONE;
    if (!exec || !what) return set(cudaErrorInvalidValue);
    const cudaGraphNode_t own = emu_node_in(exec, node);
    if (!is_of(own, cudaGraphNodeTypeMemset)) return set(cudaErrorInvalidValue);
    struct cudaMemsetParams old;
    emu_fill_parameters(&old, own->data);
    if (old.height != what->height || what->width == 0 ||
        (old.height > 1 && (old.width != what->width || old.pitch != what->pitch ||
                            old.elementSize != what->elementSize)))
        return set(cudaErrorInvalidValue);
    return set_fill(own, what, CALLER);
}

/* ---- calls of the host ---- */

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, size_t count,
                                 const struct cudaHostNodeParams *what)
{
    EMU_ALONE;
    if (!node || !what || !may_add(graph, after, count))
        return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(graph, after, count);
    return node_ends(cudaLaunchHostFunc(stream, what->fn, what->userData), node, NULL);
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                       struct cudaHostNodeParams *what)
{
    EMU_ALONE;
    if (!is_of(node, cudaGraphNodeTypeHost) || !what) return set(cudaErrorInvalidValue);
    memcpy(what, node->data, sizeof *what);
    return cudaSuccess;
}

static cudaError_t set_host(cudaGraphNode_t node, const struct cudaHostNodeParams *what)
{
    if (!is_of(node, cudaGraphNodeTypeHost) || !what) return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(NULL, NULL, 0);
    return node_ends(cudaLaunchHostFunc(stream, what->fn, what->userData), NULL, node);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                       const struct cudaHostNodeParams *what)
{
    EMU_ALONE;
    return set_host(node, what);
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *what)
{
    EMU_ALONE;
    return exec ? set_host(emu_node_in(exec, node), what) : set(cudaErrorInvalidValue);
}

/* ---- events ---- */

static cudaError_t touch_event(enum cudaGraphNodeType type, cudaEvent_t event,
                               cudaStream_t stream)
{
    return type == cudaGraphNodeTypeEventRecord
               ? cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal)
               : cudaStreamWaitEvent(stream, event, cudaEventWaitExternal);
}

static cudaError_t add_event(enum cudaGraphNodeType type, cudaGraphNode_t *node,
                             cudaGraph_t graph, const cudaGraphNode_t *after,
                             size_t count, cudaEvent_t event)
{
    EMU_ALONE;
    if (!node || !event || !may_add(graph, after, count))
        return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(graph, after, count);
    return node_ends(touch_event(type, event, stream), node, NULL);
}

static cudaError_t get_event(enum cudaGraphNodeType type, cudaGraphNode_t node,
                             cudaEvent_t *event)
{
    EMU_ALONE;
    if (!is_of(node, type) || !event) return set(cudaErrorInvalidValue);
    memcpy(event, node->data, sizeof *event);
    return cudaSuccess;
}

static cudaError_t set_event(enum cudaGraphNodeType type, cudaGraphNode_t node,
                             cudaEvent_t event)
{
    EMU_ALONE;
    if (!is_of(node, type) || !event) return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(NULL, NULL, 0);
    return node_ends(touch_event(type, event, stream), NULL, node);
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *after, size_t count,
                                        cudaEvent_t event)
{
    return add_event(cudaGraphNodeTypeEventRecord, node, graph, after, count, event);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                      const cudaGraphNode_t *after, size_t count,
                                      cudaEvent_t event)
{
    return add_event(cudaGraphNodeTypeWaitEvent, node, graph, after, count, event);
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return get_event(cudaGraphNodeTypeEventRecord, node, event);
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return get_event(cudaGraphNodeTypeWaitEvent, node, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return set_event(cudaGraphNodeTypeEventRecord, node, event);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return set_event(cudaGraphNodeTypeWaitEvent, node, event);
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec,
                                                 cudaGraphNode_t node, cudaEvent_t event)
{
    if (!exec) return set(cudaErrorInvalidValue);
    return set_event(cudaGraphNodeTypeEventRecord, emu_node_in(exec, node), event);
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event)
{
    if (!exec) return set(cudaErrorInvalidValue);
    return set_event(cudaGraphNodeTypeWaitEvent, emu_node_in(exec, node), event);
}

/* ---- memory ---- */

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count,
                                     struct cudaMemAllocNodeParams *what)
{
    EMU_ALONE;
    if (!node || !what || !what->bytesize || !may_add(graph, after, count))
        return set(cudaErrorInvalidValue);
    const int before = emu_device();
    cudaError_t error = cudaSetDevice(what->poolProps.location.id);
    if (error != cudaSuccess) return error;
    const cudaStream_t stream = node_begins(graph, after, count);
    error = node_ends(emu_allocate_async(&what->dptr, what->bytesize, stream, CALLER),
                      node, NULL);
    cudaSetDevice(before);
    return error;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *after, size_t count,
                                    void *pointer)
{
    EMU_ALONE;
    if (!node || !pointer || !may_add(graph, after, count))
        return set(cudaErrorInvalidValue);
    const cudaStream_t stream = node_begins(graph, after, count);
    return node_ends(emu_free_async(pointer, stream, CALLER), node, NULL);
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           struct cudaMemAllocNodeParams *what)
{
    if (!node || !what || node->type != cudaGraphNodeTypeMemAlloc)
        return set(cudaErrorInvalidValue);
    const struct emu_graph_memory *const m = node->data;
    memset(what, 0, sizeof *what);
    what->poolProps.allocType = cudaMemAllocationTypePinned;
    what->poolProps.location.type = cudaMemLocationTypeDevice;
    what->poolProps.location.id = m->device;
    what->bytesize = m->bytes;
    what->dptr = m->base;
    return cudaSuccess;
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer)
{
    if (!node || !pointer || node->type != cudaGraphNodeTypeMemFree)
        return set(cudaErrorInvalidValue);
    *(void **)pointer = ((const struct emu_graph_memory *)node->data)->base;
    return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, size_t count)
{
    EMU_ALONE;
    if (!node || !may_add(graph, after, count)) return set(cudaErrorInvalidValue);
    *node = emu_graph_add(graph, cudaGraphNodeTypeEmpty, after, count);
    return cudaSuccess;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *after, size_t count,
                                       cudaGraph_t child)
{
    EMU_ALONE;
    if (!node || !child || !may_add(graph, after, count))
        return set(cudaErrorInvalidValue);
    *node = emu_graph_add(graph, cudaGraphNodeTypeGraph, after, count);
    (*node)->child = emu_graph_copy(child);
    return cudaSuccess;
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    if (!is_of(node, cudaGraphNodeTypeGraph) || !graph) return set(cudaErrorInvalidValue);
    *graph = node->child;
    return cudaSuccess;
}

/* ---- of every type ---- */

static cudaError_t add_conditional(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   struct cudaConditionalNodeParams *what)
{
    const unsigned most = what->type == cudaGraphCondTypeWhile ? 1
                          : what->type == cudaGraphCondTypeIf  ? 2
                                                               : UINT_MAX;
    if (!emu_is_condition(what->handle) ||
        (unsigned)what->type > cudaGraphCondTypeSwitch || what->size == 0 ||
        what->size > most)
        return cudaErrorInvalidValue;
    *node = emu_graph_add(graph, cudaGraphNodeTypeConditional, after, count);
    (*node)->bodies = emu_bodies_new(what->handle, what->type, what->size);
    what->phGraph_out = (*node)->bodies->graphs;
    return cudaSuccess;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *after, const cudaGraphEdgeData *edges,
                             size_t count, struct cudaGraphNodeParams *what)
{
    EMU_ALONE;
    (void)edges;
    if (!node || !what || !may_add(graph, after, count))
        return set(cudaErrorInvalidValue);
    switch (what->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphAddKernelNode(node, graph, after, count, &what->kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(node, graph, after, count,
                                      &what->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphAddMemsetNode(node, graph, after, count, &what->memset);
    case cudaGraphNodeTypeHost:
        return cudaGraphAddHostNode(node, graph, after, count, &what->host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(node, graph, after, count, what->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, after, count);
    case cudaGraphNodeTypeMemAlloc:
        return cudaGraphAddMemAllocNode(node, graph, after, count, &what->alloc);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(node, graph, after, count,
                                           what->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(node, graph, after, count,
                                         what->eventWait.event);
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(node, graph, after, count, what->free.dptr);
    case cudaGraphNodeTypeConditional:
        return set(add_conditional(node, graph, after, count, &what->conditional));
    }
    return set(cudaErrorInvalidValue);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *what)
{
    if (!node || !what || node->type != what->type) return set(cudaErrorInvalidValue);
    switch (what->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphKernelNodeSetParams(node, &what->kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphMemcpyNodeSetParams(node, &what->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphMemsetNodeSetParams(node, &what->memset);
    case cudaGraphNodeTypeHost: return cudaGraphHostNodeSetParams(node, &what->host);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphEventRecordNodeSetEvent(node, what->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphEventWaitNodeSetEvent(node, what->eventWait.event);
    default: return set(cudaErrorNotSupported);
    }
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *what)
{
    if (!exec || !node || !what || node->type != what->type)
        return set(cudaErrorInvalidValue);
    switch (what->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphExecKernelNodeSetParams(exec, node, &what->kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphExecMemcpyNodeSetParams(exec, node, &what->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphExecMemsetNodeSetParams(exec, node, &what->memset);
    case cudaGraphNodeTypeHost:
        return cudaGraphExecHostNodeSetParams(exec, node, &what->host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphExecChildGraphNodeSetParams(exec, node, what->graph.graph);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphExecEventRecordNodeSetEvent(exec, node, what->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphExecEventWaitNodeSetEvent(exec, node, what->eventWait.event);
    default: return set(cudaErrorNotSupported);
    }
}
