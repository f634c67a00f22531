/* What a graph is made of: nodes, each a call that is put off, and a copy of what it was
 * given; and capture, where what is enqueued in a stream becomes nodes. */
#include "memory/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"

/* ---- nodes ---- */

bool emu_node_is_behind(cudaGraphNode_t node, cudaGraphNode_t before)
{
    if (node == before) return true;
    for (size_t i = 0; i < node->after_count; i++)
        if (emu_node_is_behind(node->after[i], before)) return true;
    return false;
}

void emu_node_comes_after(cudaGraphNode_t node, cudaGraphNode_t before)
{
    for (size_t i = 0; i < node->after_count; i++)
        if (node->after[i] == before) return;
    node->after = emu_resized(node->after, "for a graph", node->after_count + 1,
                              sizeof *node->after);
    node->after[node->after_count++] = before;
}

void emu_node_give(cudaGraphNode_t node, enum cudaGraphNodeType type, emu_deferred *run,
                   const void *data, size_t bytes)
{
    free(node->data);
    node->type = type;
    node->run = run;
    node->bytes = bytes;
    node->data = bytes ? emu_zeros("for a graph", bytes, 1) : NULL;
    if (bytes) memcpy(node->data, data, bytes);
}

cudaGraphNode_t emu_graph_add(cudaGraph_t graph, enum cudaGraphNodeType type,
                              const cudaGraphNode_t *after, size_t count)
{
    const cudaGraphNode_t node = emu_zeros("for a graph", 1, sizeof *node);
    node->type = type;
    node->graph = graph;
    node->index = graph->count;
    for (size_t i = 0; i < count; i++) emu_node_comes_after(node, after[i]);
    graph->nodes =
        emu_resized(graph->nodes, "for a graph", graph->count + 1, sizeof *graph->nodes);
    graph->nodes[graph->count++] = node;
    return node;
}

cudaGraph_t emu_graph_new(void)
{
    return emu_zeros("for a graph", 1, sizeof(struct CUgraph_st));
}

struct emu_bodies *emu_bodies_new(cudaGraphConditionalHandle handle,
                                  enum cudaGraphConditionalNodeType type, unsigned count)
{
    struct emu_bodies *const b = emu_zeros("for a graph", 1, sizeof *b);
    *b = (struct emu_bodies){handle, type, count,
                             emu_zeros("for a graph", count, sizeof *b->graphs),
                             emu_zeros("for a graph", count, sizeof *b->execs)};
    for (unsigned i = 0; i < count; i++) b->graphs[i] = emu_graph_new();
    return b;
}

static void free_bodies(struct emu_bodies *b)
{
    for (unsigned i = 0; i < b->count; i++) emu_graph_free(b->graphs[i]);
    free(b->graphs);
    free(b->execs);
    free(b);
}

static struct emu_bodies *copy_of_bodies(const struct emu_bodies *from)
{
    struct emu_bodies *const b = emu_bodies_new(from->handle, from->type, from->count);
    for (unsigned i = 0; i < b->count; i++) {
        emu_graph_free(b->graphs[i]);
        b->graphs[i] = emu_graph_copy(from->graphs[i]);
    }
    return b;
}

/* ---- user objects ---- */

struct CUuserObject_st {
    void *data;
    cudaHostFn_t destroy;
    unsigned count;
};

cudaUserObject_t emu_user_object_new(void *data, cudaHostFn_t destroy, unsigned count)
{
    const cudaUserObject_t object = emu_zeros("for a graph", 1, sizeof *object);
    *object = (struct CUuserObject_st){data, destroy, count};
    return object;
}

void emu_user_object_retain(cudaUserObject_t object, unsigned count)
{
    object->count += count;
}

void emu_user_object_release(cudaUserObject_t object, unsigned count)
{
    object->count -= count < object->count ? count : object->count;
    if (object->count > 0) return;
    object->destroy(object->data);
    free(object);
}

void emu_graph_retain(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
    graph->references =
        emu_resized(graph->references, "for a graph", graph->reference_count + 1,
                    sizeof *graph->references);
    graph->references[graph->reference_count++] = (struct emu_reference){object, count};
    emu_user_object_retain(object, count);
}

void emu_graph_release(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
    for (size_t i = graph->reference_count; i-- > 0 && count > 0;) {
        struct emu_reference *const r = &graph->references[i];
        if (r->object != object) continue;
        const unsigned some = r->count < count ? r->count : count;
        r->count -= some;
        count -= some;
        if (r->count == 0) *r = graph->references[--graph->reference_count];
        emu_user_object_release(object, some);
    }
}

void emu_graph_takes_objects_of(cudaGraph_t graph, cudaGraph_t other)
{
    const size_t old = graph->reference_count;
    for (size_t i = 0; i < other->reference_count; i++)
        emu_graph_retain(graph, other->references[i].object, other->references[i].count);
    for (size_t i = 0; i < old; i++)
        emu_user_object_release(graph->references[i].object, graph->references[i].count);
    graph->reference_count -= old;
    if (old && graph->reference_count)
        memmove(graph->references, graph->references + old,
                graph->reference_count * sizeof *graph->references);
}

/* ---- graphs ---- */

static void free_node(cudaGraphNode_t node)
{
    if (node->child) emu_graph_free(node->child);
    if (node->bodies) free_bodies(node->bodies);
    free(node->after);
    free(node->data);
    free(node);
}

void emu_node_leaves(cudaGraphNode_t node, cudaGraphNode_t before)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->after_count; i++)
        if (node->after[i] != before) node->after[kept++] = node->after[i];
    node->after_count = kept;
}

bool emu_node_is_right_after(cudaGraphNode_t node, cudaGraphNode_t before)
{
    for (size_t i = 0; node && i < node->after_count; i++)
        if (node->after[i] == before) return true;
    return false;
}

bool emu_graph_has_memory(cudaGraph_t graph)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->type == cudaGraphNodeTypeMemAlloc ||
            graph->nodes[i]->type == cudaGraphNodeTypeMemFree)
            return true;
    return false;
}

void emu_graph_free(cudaGraph_t graph)
{
    for (size_t i = 0; i < graph->count; i++) free_node(graph->nodes[i]);
    for (size_t i = 0; i < graph->reference_count; i++)
        emu_user_object_release(graph->references[i].object, graph->references[i].count);
    free(graph->references);
    free(graph->nodes);
    free(graph);
}

cudaGraph_t emu_graph_copy(cudaGraph_t graph)
{
    const cudaGraph_t copy = emu_graph_new();
    emu_graph_takes_objects_of(copy, graph);
    for (size_t i = 0; i < graph->count; i++) {
        const cudaGraphNode_t from = graph->nodes[i],
                              node = emu_graph_add(copy, from->type, NULL, 0);
        emu_node_give(node, from->type, from->run, from->data, from->bytes);
        node->original = from;
        node->attributes = from->attributes;
        if (from->child) node->child = emu_graph_copy(from->child);
        if (from->bodies) node->bodies = copy_of_bodies(from->bodies);
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->after_count; k++)
            emu_node_comes_after(copy->nodes[i],
                                 copy->nodes[graph->nodes[i]->after[k]->index]);
    return copy;
}

/* ---- capture ---- */

static struct emu_front
    *fronts; /* of streams that are being captured, and of events in them */
static size_t front_count;

struct emu_front *emu_front_of(const void *handle)
{
    for (size_t i = 0; i < front_count; i++)
        if (fronts[i].of == handle) return &fronts[i];
    return NULL;
}

struct emu_front *emu_front_new(const void *of, cudaGraph_t graph)
{
    fronts = emu_resized(fronts, "for a graph", front_count + 1, sizeof *fronts);
    struct emu_front *const f = &fronts[front_count++];
    *f = (struct emu_front){.of = of, .graph = graph};
    return f;
}

void emu_front_drop(struct emu_front *f)
{
    free(f->last);
    *f = fronts[--front_count];
}

void emu_fronts_drop(cudaGraph_t graph)
{
    for (size_t i = front_count; i-- > 0;)
        if (fronts[i].graph == graph) emu_front_drop(&fronts[i]);
}

void emu_node_free(cudaGraphNode_t node)
{
    const cudaGraph_t graph = node->graph;
    for (size_t i = 0; i < front_count; i++) {
        struct emu_front *const f = &fronts[i];
        size_t kept = 0;
        for (size_t k = 0; k < f->count; k++)
            if (f->last[k] != node) f->last[kept++] = f->last[k];
        f->count = kept;
    }
    size_t kept = 0;
    for (size_t i = 0; i < graph->count; i++) {
        emu_node_leaves(graph->nodes[i], node);
        if (graph->nodes[i] == node) continue;
        graph->nodes[i]->index = kept;
        graph->nodes[kept++] = graph->nodes[i];
    }
    graph->count = kept;
    free_node(node);
}

void emu_front_join(struct emu_front *f, const cudaGraphNode_t *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool there = false;
        for (size_t k = 0; k < f->count; k++) there |= f->last[k] == nodes[i];
        if (there) continue;
        f->last = emu_resized(f->last, "for a graph", f->count + 1, sizeof *f->last);
        f->last[f->count++] = nodes[i];
    }
}

bool emu_is_captured(cudaStream_t stream)
{
    return front_count > 0 && emu_front_of(stream);
}

cudaError_t emu_capture_refuses(cudaStream_t stream)
{
    emu_front_of(stream)->graph->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t emu_capture_state(cudaStream_t stream)
{
    return emu_front_of(stream)->graph->invalidated ? cudaErrorStreamCaptureInvalidated
                                                    : cudaSuccess;
}

cudaGraphNode_t emu_front_add(struct emu_front *f, enum cudaGraphNodeType type)
{
    const cudaGraphNode_t node = emu_graph_add(f->graph, type, f->last, f->count);
    f->count = 0;
    emu_front_join(f, &node, 1);
    return node;
}

bool emu_capture(cudaStream_t stream, enum cudaGraphNodeType type, emu_deferred *run,
                 const void *data, size_t bytes)
{
    if (!emu_is_captured(stream)) return false;
    emu_node_give(emu_front_add(emu_front_of(stream), type), type, run, data, bytes);
    return true;
}

bool emu_capture_event(cudaEvent_t event, cudaStream_t stream)
{
    struct emu_front *const old = front_count ? emu_front_of(event) : NULL;
    if (old) emu_front_drop(old);
    if (!emu_is_captured(stream)) return false;
    struct emu_front *const f = emu_front_new(event, emu_front_of(stream)->graph),
                            *const from = emu_front_of(stream);
    emu_front_join(f, from->last, from->count);
    return true;
}

cudaError_t emu_capture_wait(cudaStream_t stream, cudaEvent_t event, bool *waits)
{
    const struct emu_front *from = front_count ? emu_front_of(event) : NULL;
    *waits = from || emu_is_captured(stream);
    if (!*waits) return cudaSuccess;
    if (!from) return cudaErrorStreamCaptureIsolation;
    struct emu_front *f = emu_front_of(stream);
    if (!f) f = emu_front_new(stream, from->graph);
    from = emu_front_of(event);
    if (f->graph != from->graph) return cudaErrorStreamCaptureMerge;
    emu_front_join(f, from->last, from->count);
    return cudaSuccess;
}
