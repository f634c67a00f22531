/* Graphs that can be launched, for the calls that change their nodes. */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/capture.h"

struct CUgraphExec_st {
    cudaGraph_t graph;
    size_t *order; /* of its nodes: each after those before it */
    cudaStream_t *lanes;
    size_t lane_count;
    cudaEvent_t begun;
    bool frees; /* what the launch before has left */
    unsigned long long flags;
};

/* What has become of a node of the graph that `exec` was made from; or NULL. */
cudaGraphNode_t emu_node_in(cudaGraphExec_t exec, const struct CUgraphNode_st *node);
/* Whether cudaGraphConditionalHandleCreate has given it. */
bool emu_is_condition(cudaGraphConditionalHandle handle);

#endif
