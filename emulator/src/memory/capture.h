/* What graphs are made of, and what is captured. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_runtime_api.h"
#include "emulator_runtime.h"
#include "memory/streams.h"

/* ---- for those whose work may become a node ---- */

/* Whether what is enqueued in the stream becomes nodes of a graph. */
bool emu_is_captured(cudaStream_t stream);
/* For what cannot be done in a stream that is: the capture has failed with it. */
cudaError_t emu_capture_refuses(cudaStream_t stream);
/* What a call returns whose work is to become a node: whether the capture has failed. */
cudaError_t emu_capture_state(cudaStream_t stream);
/* If so, makes `run` a node, with a copy of `data`; whenever the graph is launched, it
 * does the work, in the stream that it is given. */
typedef cudaError_t emu_deferred(void *data, cudaStream_t stream);
bool emu_capture(cudaStream_t stream, enum cudaGraphNodeType type, emu_deferred *run,
                 const void *data, size_t bytes);
/* If so, the event is recorded in the graph. */
bool emu_capture_event(cudaEvent_t event, cudaStream_t stream);
/* `waits`: the event was recorded in a graph, or the stream is captured; then that is
 * done, or refused. */
cudaError_t emu_capture_wait(cudaStream_t stream, cudaEvent_t event, bool *waits);

/* What nodes that allocate and free have for data. The address is known from the start;
 * there is memory only from the one node to the other. */
struct emu_graph_memory {
    void *base;
    size_t bytes;
    int device;
    const void *pc;
};

/* Nodes that launch a kernel have for data the launch, its arguments, and from here on as
 * many pointers as those are, for who asks where they lie. */
static inline size_t emu_graph_launch_bytes(const struct emu_launch *launch)
{
    const size_t bytes = sizeof *launch + launch->argument_bytes;
    return (bytes + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
}

/* ---- for the calls on graphs ---- */

struct CUgraphNode_st {
    enum cudaGraphNodeType type;
    emu_deferred *run; /* NULL: nothing to do, but for a child */
    void *data;
    size_t bytes;
    cudaGraph_t child;
    struct emu_bodies *bodies; /* of a conditional node */
    cudaGraphNode_t *after;    /* nodes that come before this one */
    size_t after_count;
    cudaGraph_t graph;
    size_t index; /* in its graph */
    struct emu_attributes attributes;
    /* of a node that can be launched: */
    const struct CUgraphNode_st *original;
    bool rests;        /* it is not enabled */
    cudaStream_t lane; /* NULL: the stream of the launch */
    cudaEvent_t done;
    cudaGraphExec_t exec; /* of the child */
};

/* The graphs of a conditional node, and copies of them that can be launched. */
struct emu_bodies {
    cudaGraphConditionalHandle handle;
    enum cudaGraphConditionalNodeType type;
    unsigned count;
    cudaGraph_t *graphs;
    cudaGraphExec_t *execs;
};
struct emu_bodies *emu_bodies_new(cudaGraphConditionalHandle handle,
                                  enum cudaGraphConditionalNodeType type, unsigned count);

struct CUgraph_st {
    cudaGraphNode_t *nodes;
    size_t count;
    bool invalidated; /* its capture, while there is one */
    struct emu_reference {
        cudaUserObject_t object;
        unsigned count;
    } *references;
    size_t reference_count;
};

cudaGraph_t emu_graph_new(void);
void emu_graph_free(cudaGraph_t graph);
cudaGraph_t emu_graph_copy(cudaGraph_t graph);
/* A new node of the graph, which comes after `count` others. */
cudaGraphNode_t emu_graph_add(cudaGraph_t graph, enum cudaGraphNodeType type,
                              const cudaGraphNode_t *after, size_t count);
void emu_node_give(cudaGraphNode_t node, enum cudaGraphNodeType type, emu_deferred *run,
                   const void *data, size_t bytes);
void emu_node_comes_after(cudaGraphNode_t node, cudaGraphNode_t before);
bool emu_node_is_behind(cudaGraphNode_t node, cudaGraphNode_t before);
bool emu_node_is_right_after(cudaGraphNode_t node, cudaGraphNode_t before);
void emu_node_leaves(cudaGraphNode_t node, cudaGraphNode_t before);
/* Nothing comes after it any more, nor it after anything. */
void emu_node_free(cudaGraphNode_t node);
/* Whether nodes of it allocate or free: such a graph keeps all its edges. */
bool emu_graph_has_memory(cudaGraph_t graph);

/* What a program wants to know no longer needed: when nobody refers to it, its function is
 * called. */
cudaUserObject_t emu_user_object_new(void *data, cudaHostFn_t destroy, unsigned count);
void emu_user_object_retain(cudaUserObject_t object, unsigned count);
void emu_user_object_release(cudaUserObject_t object, unsigned count);
/* References that the graph has; of no more than it has it lets go. */
void emu_graph_retain(cudaGraph_t graph, cudaUserObject_t object, unsigned count);
void emu_graph_release(cudaGraph_t graph, cudaUserObject_t object, unsigned count);
/* Those of the other one, instead of its own. */
void emu_graph_takes_objects_of(cudaGraph_t graph, cudaGraph_t other);

/* What a stream, or an event recorded in it, comes after, while it is captured. */
struct emu_front {
    const void *of;
    cudaGraph_t graph;
    bool origin;     /* the stream that began the capture */
    bool goes_on;    /* in a graph that there was before, */
    size_t old_ones; /* with so many nodes */
    cudaGraphNode_t *last;
    size_t count;
};
struct emu_front *emu_front_of(const void *handle); /* NULL: it is not captured */
struct emu_front *emu_front_new(const void *of, cudaGraph_t graph);
void emu_front_drop(struct emu_front *front);
void emu_fronts_drop(cudaGraph_t graph); /* all that capture into it */
void emu_front_join(struct emu_front *front, const cudaGraphNode_t *nodes, size_t count);
/* A new node behind what the front has come to. */
cudaGraphNode_t emu_front_add(struct emu_front *front, enum cudaGraphNodeType type);

#endif
