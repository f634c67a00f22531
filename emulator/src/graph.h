/* Graphs, as far as those need to know whose work may become a node. */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_runtime_api.h"

/* Whether what is enqueued in the stream becomes nodes of a graph. */
bool emu_is_captured(cudaStream_t stream);
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

#endif
