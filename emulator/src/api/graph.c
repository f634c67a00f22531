/* The calls on graphs. Launching one makes the calls of its nodes, each in a stream that
 * waits for those of the nodes before it; so what no edge orders is seen to be unordered
 * (streams.c). */
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
#include "memory/allocations.h"
#include "memory/capture.h"
#include "memory/copies.h"
#include "memory/memory.h"
#include "memory/streams.h"

#define CALLER __builtin_return_address(0)

/* ---- capture ---- */

static enum cudaStreamCaptureStatus status_of(const struct emu_front *f)
{
    return !f                      ? cudaStreamCaptureStatusNone
           : f->graph->invalidated ? cudaStreamCaptureStatusInvalidated
                                   : cudaStreamCaptureStatusActive;
}

static cudaError_t begin_capture(cudaStream_t stream, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, size_t count,
                                 enum cudaStreamCaptureMode mode)
{
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    if (!stream || stream == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
    if (!emu_stream_on(stream, emu_device())) return cudaErrorInvalidResourceHandle;
    if (emu_is_captured(stream)) return cudaErrorIllegalState;
    struct emu_front *const f = emu_front_new(stream, graph ? graph : emu_graph_new());
    f->origin = true;
    f->goes_on = graph;
    f->old_ones = f->graph->count;
    f->graph->invalidated = false;
    emu_front_join(f, after, count);
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    EMU_ALONE;
    return set(begin_capture(stream, NULL, NULL, 0, mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *after,
                                          const cudaGraphEdgeData *edges, size_t count,
                                          enum cudaStreamCaptureMode mode)
{
    EMU_ALONE;
    (void)edges;
    if (!graph || (count && !after)) return set(cudaErrorInvalidValue);
    return set(begin_capture(stream, graph, after, count, mode));
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **after,
                                     const cudaGraphEdgeData **edges, size_t *count)
{
    EMU_ALONE;
    if (!status) return set(cudaErrorInvalidValue);
    const struct emu_front *const f = emu_front_of(stream);
    *status = status_of(f);
    if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
    if (id) *id = (unsigned long long)(uintptr_t)f->graph;
    if (graph) *graph = f->graph;
    if (after) *after = f->last;
    if (edges) *edges = NULL;
    if (count) *count = f->count;
    return cudaSuccess;
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                cudaGraphNode_t *nodes,
                                                const cudaGraphEdgeData *edges,
                                                size_t count, unsigned int flags)
{
    EMU_ALONE;
    (void)edges;
    struct emu_front *const f = emu_front_of(stream);
    if ((count && !nodes) || flags > cudaStreamSetCaptureDependencies)
        return set(cudaErrorInvalidValue);
    if (!f) return set(cudaErrorIllegalState);
    if (flags == cudaStreamSetCaptureDependencies) f->count = 0;
    emu_front_join(f, nodes, count);
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    EMU_ALONE;
    struct emu_front *const f = emu_front_of(stream);
    if (!f) return set(cudaErrorIllegalState);
    if (!graph && !f->goes_on) return set(cudaErrorInvalidValue);
    if (!f->origin) return set(cudaErrorStreamCaptureUnmatched);
    bool joined = true;
    const bool goes_on = f->goes_on, invalidated = f->graph->invalidated;
    for (size_t i = f->old_ones; i < f->graph->count; i++) {
        bool found = false;
        for (size_t k = 0; k < f->count && !found; k++)
            found = emu_node_is_behind(f->last[k], f->graph->nodes[i]);
        joined &= found;
    }
    const cudaGraph_t whole = f->graph;
    emu_fronts_drop(whole);
    if (graph) *graph = joined && !invalidated ? whole : NULL;
    if ((!joined || invalidated) && !goes_on) emu_graph_free(whole);
    return set(invalidated ? cudaErrorStreamCaptureInvalidated
               : joined    ? cudaSuccess
                           : cudaErrorStreamCaptureUnjoined);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  enum cudaStreamCaptureStatus *status)
{
    EMU_ALONE;
    if (!status) return set(cudaErrorInvalidValue);
    *status = status_of(emu_front_of(stream));
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    static _Thread_local enum cudaStreamCaptureMode now;
    if (!mode) return set(cudaErrorInvalidValue);
    const enum cudaStreamCaptureMode before = now;
    now = *mode;
    *mode = before;
    return cudaSuccess;
}

/* ---- graphs by hand ---- */

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
    EMU_ALONE;
    if (!graph || flags) return set(cudaErrorInvalidValue);
    *graph = emu_graph_new();
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    EMU_ALONE;
    if (!graph) return set(cudaErrorInvalidValue);
    emu_graph_free(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    EMU_ALONE;
    if (!clone || !graph) return set(cudaErrorInvalidValue);
    *clone = emu_graph_copy(graph);
    return cudaSuccess;
}

static cudaError_t list_nodes(cudaGraph_t graph, bool only_roots, cudaGraphNode_t *nodes,
                              size_t *count)
{
    EMU_ALONE;
    if (!graph || !count) return cudaErrorInvalidValue;
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++) {
        if (only_roots && graph->nodes[i]->after_count) continue;
        if (nodes && found < *count) nodes[found] = graph->nodes[i];
        found++;
    }
    *count = found;
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return set(list_nodes(graph, false, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                  size_t *count)
{
    return set(list_nodes(graph, true, nodes, count));
}

/* Those from `before` and to `behind`, either of which may be NULL for any. Lists that are
 * there have room for *count, and get as many; without, only their number is asked for. */
static cudaError_t list_edges(cudaGraph_t graph, const struct CUgraphNode_st *before,
                              const struct CUgraphNode_st *behind, cudaGraphNode_t *from,
                              cudaGraphNode_t *to, cudaGraphEdgeData *edges,
                              size_t *count)
{
    EMU_ALONE;
    if (!graph || !count) return cudaErrorInvalidValue;
    const size_t room = from || to ? *count : 0;
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const cudaGraphNode_t node = graph->nodes[i];
        if (behind && node != behind) continue;
        for (size_t k = 0; k < node->after_count; k++) {
            if (before && node->after[k] != before) continue;
            if (found < room && from) from[found] = node->after[k];
            if (found < room && to) to[found] = node;
            if (found < room && edges) memset(&edges[found], 0, sizeof *edges);
            found++;
        }
    }
    *count = from || to ? (found < room ? found : room) : found;
    return cudaSuccess;
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                              cudaGraphNode_t *to, cudaGraphEdgeData *edges,
                              size_t *count)
{
    if (!from != !to) return set(cudaErrorInvalidValue);
    return set(list_edges(graph, NULL, NULL, from, to, edges, count));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         cudaGraphEdgeData *edges, size_t *count)
{
    if (!node) return set(cudaErrorInvalidValue);
    return set(list_edges(node->graph, NULL, node, nodes, NULL, edges, count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           cudaGraphEdgeData *edges, size_t *count)
{
    if (!node) return set(cudaErrorInvalidValue);
    return set(list_edges(node->graph, node, NULL, NULL, nodes, edges, count));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    if (!node || !type) return set(cudaErrorInvalidValue);
    *type = node->type;
    return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edges, size_t count)
{
    EMU_ALONE;
    (void)edges;
    if (!graph || (count && (!from || !to))) return set(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        if (emu_node_is_behind(from[i], to[i])) return set(cudaErrorInvalidValue);
        emu_node_comes_after(to[i], from[i]);
    }
    return cudaSuccess;
}

/* As many edges as there are, and each of them, or none. */
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edges, size_t count)
{
    EMU_ALONE;
    (void)edges;
    if (!graph || (count && (!from || !to)) || emu_graph_has_memory(graph))
        return set(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        if (!emu_node_is_right_after(to[i], from[i])) return set(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) emu_node_leaves(to[i], from[i]);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    EMU_ALONE;
    if (!node || emu_graph_has_memory(node->graph)) return set(cudaErrorInvalidValue);
    emu_node_free(node);
    return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                     cudaGraph_t clone)
{
    EMU_ALONE;
    if (!node || !original || !clone) return set(cudaErrorInvalidValue);
    for (size_t i = 0; i < clone->count; i++)
        if (clone->nodes[i]->original == original) {
            *node = clone->nodes[i];
            return cudaSuccess;
        }
    return set(cudaErrorInvalidValue);
}

/* ---- user objects: what a graph needs as long as it is there ---- */

static bool is_count(unsigned int count)
{
    return count > 0 && count <= INT_MAX;
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data,
                                 cudaHostFn_t destroy, unsigned int count,
                                 unsigned int flags)
{
    EMU_ALONE;
    if (!object || !destroy || !is_count(count) ||
        flags != cudaUserObjectNoDestructorSync)
        return set(cudaErrorInvalidValue);
    *object = emu_user_object_new(data, destroy, count);
    return cudaSuccess;
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    EMU_ALONE;
    if (!object || !is_count(count)) return set(cudaErrorInvalidValue);
    emu_user_object_retain(object, count);
    return cudaSuccess;
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    EMU_ALONE;
    if (!object || !is_count(count)) return set(cudaErrorInvalidValue);
    emu_user_object_release(object, count);
    return cudaSuccess;
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned int count, unsigned int flags)
{
    EMU_ALONE;
    if (!graph || !object || !is_count(count) || flags > cudaGraphUserObjectMove)
        return set(cudaErrorInvalidValue);
    emu_graph_retain(graph, object, count);
    if (flags == cudaGraphUserObjectMove) emu_user_object_release(object, count);
    return cudaSuccess;
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                       unsigned int count)
{
    EMU_ALONE;
    if (!graph || !object || !is_count(count)) return set(cudaErrorInvalidValue);
    emu_graph_release(graph, object, count);
    return cudaSuccess;
}

/* ---- conditions ---- */

static struct condition {
    unsigned value, at_launch;
    bool begins_anew;
} *conditions;
static size_t condition_count; /* a handle is an index, plus 1 */

static struct condition *condition_of(cudaGraphConditionalHandle handle)
{
    return handle - 1 < condition_count ? &conditions[handle - 1] : NULL;
}

bool emu_is_condition(cudaGraphConditionalHandle handle)
{
    return condition_of(handle);
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle,
                                             cudaGraph_t graph,
                                             unsigned int default_value,
                                             unsigned int flags)
{
    EMU_ALONE;
    if (!handle || !graph || flags > cudaGraphCondAssignDefault)
        return set(cudaErrorInvalidValue);
    conditions =
        emu_resized(conditions, "for a graph", condition_count + 1, sizeof *conditions);
    conditions[condition_count++] = (struct condition){
        default_value, default_value, flags == cudaGraphCondAssignDefault};
    *handle = condition_count;
    return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value)
{
    struct condition *const c = condition_of(handle);
    if (!c)
        emu_fault(CALLER,
                  "cudaGraphSetConditional: %#llx is no handle that "
                  "cudaGraphConditionalHandleCreate has given",
                  handle);
    c->value = value;
}

/* ---- launches ---- */

static void free_exec(cudaGraphExec_t exec)
{
    for (size_t i = 0; i < exec->graph->count; i++) {
        const cudaGraphNode_t node = exec->graph->nodes[i];
        if (node->exec) free_exec(node->exec);
        for (unsigned k = 0; node->bodies && k < node->bodies->count; k++)
            if (node->bodies->execs[k]) free_exec(node->bodies->execs[k]);
        cudaEventDestroy(node->done);
    }
    for (size_t i = 0; i < exec->lane_count; i++) cudaStreamDestroy(exec->lanes[i]);
    cudaEventDestroy(exec->begun);
    emu_graph_free(exec->graph);
    free(exec->lanes);
    free(exec->order);
    free(exec);
}

/* A node goes on in the stream of one before it that no other goes on in; the first in
 * that of the launch; others get one of their own. */
static cudaError_t give_lane(cudaGraphExec_t exec, cudaGraphNode_t node, bool first,
                             bool *continued)
{
    for (size_t i = 0; i < node->after_count; i++)
        if (!continued[node->after[i]->index]) {
            continued[node->after[i]->index] = true;
            node->lane = node->after[i]->lane;
            return cudaSuccess;
        }
    if (first) return cudaSuccess;
    exec->lanes = emu_resized(exec->lanes, "for a graph", exec->lane_count + 1,
                              sizeof *exec->lanes);
    const cudaError_t error =
        cudaStreamCreateWithFlags(&node->lane, cudaStreamNonBlocking);
    if (error == cudaSuccess) exec->lanes[exec->lane_count++] = node->lane;
    return error;
}

static cudaError_t instantiate(cudaGraphExec_t *result, cudaGraph_t graph)
{
    const cudaGraphExec_t exec = emu_zeros("for a graph", 1, sizeof *exec);
    exec->graph = emu_graph_copy(graph);
    const size_t count = graph->count;
    exec->order = emu_zeros("for a graph", count + 1, sizeof *exec->order);
    bool *const ordered = emu_zeros("for a graph", count + 1, sizeof *ordered),
                *const continued = emu_zeros("for a graph", count + 1, sizeof *continued);
    cudaError_t error = cudaEventCreateWithFlags(&exec->begun, cudaEventDisableTiming);
    for (size_t done = 0; done < count && error == cudaSuccess;)
        for (size_t i = 0; i < count && error == cudaSuccess; i++) {
            const cudaGraphNode_t node = exec->graph->nodes[i];
            bool ready = !ordered[i];
            for (size_t k = 0; k < node->after_count; k++)
                ready &= ordered[node->after[k]->index];
            if (!ready) continue;
            ordered[i] = true;
            exec->order[done] = i;
            error = give_lane(exec, node, done == 0, continued);
            done++;
            if (error == cudaSuccess)
                error = cudaEventCreateWithFlags(&node->done, cudaEventDisableTiming);
            if (error == cudaSuccess && node->child)
                error = instantiate(&node->exec, node->child);
            for (unsigned k = 0; node->bodies && k < node->bodies->count; k++)
                if (error == cudaSuccess)
                    error = instantiate(&node->bodies->execs[k], node->bodies->graphs[k]);
        }
    free(ordered);
    free(continued);
    if (error == cudaSuccess)
        *result = exec;
    else
        free_exec(exec);
    return error;
}

enum {
    KNOWN_FLAGS = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                  cudaGraphInstantiateFlagUpload | cudaGraphInstantiateFlagDeviceLaunch |
                  cudaGraphInstantiateFlagUseNodePriority
};

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags)
{
    EMU_ALONE;
    if (!exec || !graph || flags & ~(unsigned long long)KNOWN_FLAGS)
        return set(cudaErrorInvalidValue);
    const cudaError_t error = instantiate(exec, graph);
    if (error == cudaSuccess) (*exec)->flags = flags;
    return set(error);
}

/* A node that kernels cannot launch: they launch no more than kernels, copies, fills, and
 * graphs of these. */
static cudaGraphNode_t not_for_kernels(cudaGraph_t graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const cudaGraphNode_t node = graph->nodes[i];
        if (node->child && not_for_kernels(node->child)) return node;
        if (node->type > cudaGraphNodeTypeMemset && !node->child) return node;
    }
    return NULL;
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *how)
{
    EMU_ALONE;
    if (!exec || !graph || !how) return set(cudaErrorInvalidValue);
    how->errNode_out =
        how->flags & cudaGraphInstantiateFlagDeviceLaunch ? not_for_kernels(graph) : NULL;
    how->result_out = cudaGraphInstantiateNodeOperationNotSupported;
    if (how->errNode_out) return set(cudaErrorInvalidValue);
    const cudaError_t error = cudaGraphInstantiate(exec, graph, how->flags);
    how->result_out =
        error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    EMU_ALONE;
    if (!exec || !flags) return set(cudaErrorInvalidValue);
    *flags = exec->flags & ~(unsigned long long)cudaGraphInstantiateFlagUpload;
    return cudaSuccess;
}

cudaGraphNode_t emu_node_in(cudaGraphExec_t exec, const struct CUgraphNode_st *node)
{
    for (size_t i = 0; node && i < exec->graph->count; i++)
        if (exec->graph->nodes[i]->original == node) return exec->graph->nodes[i];
    return NULL;
}

/* Only of nodes that do something to memory: others are always enabled. */
static cudaGraphNode_t may_rest(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    const cudaGraphNode_t own = exec ? emu_node_in(exec, node) : NULL;
    return own && own->type <= cudaGraphNodeTypeMemset ? own : NULL;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned int enabled)
{
    EMU_ALONE;
    const cudaGraphNode_t own = may_rest(exec, node);
    if (!own) return set(cudaErrorInvalidValue);
    own->rests = !enabled;
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned int *enabled)
{
    EMU_ALONE;
    const cudaGraphNode_t own = may_rest(exec, node);
    if (!own || !enabled) return set(cudaErrorInvalidValue);
    *enabled = !own->rests;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    EMU_ALONE;
    if (!exec) return set(cudaErrorInvalidValue);
    free_exec(exec);
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!exec || !emu_stream_on(stream, emu_device())) return set(cudaErrorInvalidValue);
    return cudaSuccess;
}

static cudaError_t launch(cudaGraphExec_t exec, cudaStream_t stream);

/* What kernels have set is known, since all that comes before the node has run. */
static cudaError_t launch_bodies(const struct emu_bodies *b, cudaStream_t stream)
{
    const unsigned value = condition_of(b->handle)->value;
    cudaError_t error = cudaSuccess;
    if (b->type == cudaGraphCondTypeWhile) {
        while (error == cudaSuccess && condition_of(b->handle)->value)
            error = launch(b->execs[0], stream);
        return error;
    }
    const unsigned which = b->type == cudaGraphCondTypeSwitch ? value : value == 0;
    return which < b->count ? launch(b->execs[which], stream) : cudaSuccess;
}

/* Conditions that begin anew with each launch; those of nodes in bodies, too. */
static void set_conditions(cudaGraph_t graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const cudaGraphNode_t node = graph->nodes[i];
        if (node->child) set_conditions(node->child);
        if (!node->bodies) continue;
        struct condition *const c = condition_of(node->bodies->handle);
        if (c->begins_anew) c->value = c->at_launch;
        for (unsigned k = 0; k < node->bodies->count; k++)
            set_conditions(node->bodies->graphs[k]);
    }
}

static cudaError_t launch(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = cudaEventRecord(exec->begun, stream);
    for (size_t i = 0; i < exec->lane_count && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(exec->lanes[i], exec->begun, 0);
    for (size_t i = 0; i < exec->graph->count && error == cudaSuccess; i++) {
        const cudaGraphNode_t node = exec->graph->nodes[exec->order[i]];
        const cudaStream_t lane = node->lane ? node->lane : stream;
        for (size_t k = 0; k < node->after_count && error == cudaSuccess; k++)
            error = cudaStreamWaitEvent(lane, node->after[k]->done, 0);
        if (error == cudaSuccess && node->run && !node->rests)
            error = node->run(node->data, lane);
        if (error == cudaSuccess && node->exec) error = launch(node->exec, lane);
        if (error == cudaSuccess && node->bodies)
            error = launch_bodies(node->bodies, lane);
        if (error == cudaSuccess) error = cudaEventRecord(node->done, lane);
    }
    for (size_t i = 0; i < exec->graph->count && error == cudaSuccess; i++)
        if (exec->graph->nodes[i]->lane)
            error = cudaStreamWaitEvent(stream, exec->graph->nodes[i]->done, 0);
    return error;
}

/* What the last launch has allocated and nobody freed is in the way of the next. */
static cudaError_t make_way(cudaGraphExec_t exec)
{
    const bool frees = exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < exec->graph->count && error == cudaSuccess; i++) {
        const cudaGraphNode_t node = exec->graph->nodes[i];
        if (node->type != cudaGraphNodeTypeMemAlloc) continue;
        const struct emu_graph_memory *const m = node->data;
        if (!emu_allocation_of(m->base)) continue;
        error = frees ? emu_deallocate(m->base, false, m->pc) : cudaErrorInvalidValue;
    }
    return error;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    EMU_ALONE;
    if (!exec) return set(cudaErrorInvalidValue);
    if (emu_is_captured(stream)) {
        emu_front_add(emu_front_of(stream), cudaGraphNodeTypeGraph)->child =
            emu_graph_copy(exec->graph);
        return cudaSuccess;
    }
    if (!emu_stream_on(stream, emu_device())) return set(cudaErrorInvalidResourceHandle);
    const cudaError_t in_the_way = make_way(exec);
    set_conditions(exec->graph);
    return set(in_the_way == cudaSuccess ? launch(exec, stream) : in_the_way);
}

static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph,
                          cudaGraphExecUpdateResultInfo *info)
{
    bool same = exec->graph->count == graph->count;
    for (size_t i = 0; i < graph->count && same; i++)
        if (exec->graph->nodes[i]->type != graph->nodes[i]->type) {
            info->errorNode = graph->nodes[i];
            info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
            return cudaErrorGraphExecUpdateFailure;
        }
    for (size_t i = 0; i < graph->count && same; i++) {
        const cudaGraphNode_t old = exec->graph->nodes[i], node = graph->nodes[i];
        same = old->after_count == node->after_count &&
               (!node->bodies || old->bodies->count == node->bodies->count);
        for (size_t k = 0; k < node->after_count && same; k++)
            same = old->after[k]->index == node->after[k]->index;
        if (!same) info->errorNode = node;
    }
    info->result =
        same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    if (!same) return cudaErrorGraphExecUpdateFailure;
    emu_graph_takes_objects_of(exec->graph, graph);
    for (size_t i = 0; i < graph->count; i++) {
        const cudaGraphNode_t old = exec->graph->nodes[i], node = graph->nodes[i];
        emu_node_give(old, node->type, node->run, node->data, node->bytes);
        old->original = node;
        cudaError_t error =
            node->child ? update(old->exec, node->child, info) : cudaSuccess;
        for (unsigned k = 0; node->bodies && k < node->bodies->count; k++)
            if (error == cudaSuccess)
                error = update(old->bodies->execs[k], node->bodies->graphs[k], info);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    EMU_ALONE;
    if (!exec || !graph || !info) return set(cudaErrorInvalidValue);
    memset(info, 0, sizeof *info);
    return set(update(exec, graph, info));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                 cudaGraphNode_t node, cudaGraph_t child)
{
    EMU_ALONE;
    if (!exec || !child) return set(cudaErrorInvalidValue);
    const cudaGraphNode_t own = emu_node_in(exec, node);
    cudaGraphExecUpdateResultInfo info;
    if (!own || !own->exec) return set(cudaErrorInvalidValue);
    return set(update(own->exec, child, &info) == cudaSuccess ? cudaSuccess
                                                              : cudaErrorInvalidValue);
}
