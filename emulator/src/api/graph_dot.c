/* A graph as a drawing for Graphviz, in the form that an H200's driver gives it. What the
 * flags add has a form of its own here. */
#include <stdio.h>

#include "base/errors.h"
#include "base/now.h"
#include "emulator_graphs.h"
#include "emulator_runtime.h"
#include "memory/capture.h"
#include "memory/copies.h"

static bool wants(unsigned flags, unsigned what)
{
    return flags & (what | cudaGraphDebugDotFlagsVerbose);
}

static const char *shape_of(enum cudaGraphNodeType type)
{
    return type == cudaGraphNodeTypeKernel   ? "octagon"
           : type == cudaGraphNodeTypeMemcpy ? "trapezium"
           : type == cudaGraphNodeTypeMemset ? "invtrapezium"
                                             : "rectangle";
}

static void tell_kernel(FILE *file, const struct emu_launch *l, unsigned flags)
{
    fprintf(file, "%s\n", l->kernel);
    if (wants(flags, cudaGraphDebugDotFlagsKernelNodeParams))
        fprintf(file, "gridDim (%u,%u,%u)\nblockDim (%u,%u,%u)\nsharedMemBytes %zu\n",
                l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                l->dynamic_shared);
    if (wants(flags, cudaGraphDebugDotFlagsKernelNodeAttributes))
        fprintf(file, "cooperative %d\nclusterDim (%u,%u,%u)\n", l->cooperative,
                l->cluster[0], l->cluster[1], l->cluster[2]);
    if (wants(flags, cudaGraphDebugDotFlagsHandles))
        fprintf(file, "func %p\n", (void *)(uintptr_t)l->address);
}

static void tell_copy(FILE *file, cudaGraphNode_t node, unsigned flags)
{
    static const char *const kinds[] = {"HtoH", "HtoD", "DtoH", "DtoD", "?"};
    struct cudaMemcpy3DParms c;
    emu_copy_parameters(&c, node->data, node->bytes);
    fprintf(file, "MEMCPY\n(%s,%zu)\n", kinds[c.kind],
            c.extent.width * c.extent.height * c.extent.depth);
    if (wants(flags, cudaGraphDebugDotFlagsMemcpyNodeParams))
        fprintf(file, "src %p\ndst %p\nextent (%zu,%zu,%zu)\n",
                c.srcArray ? (void *)c.srcArray : c.srcPtr.ptr,
                c.dstArray ? (void *)c.dstArray : c.dstPtr.ptr, c.extent.width,
                c.extent.height, c.extent.depth);
}

static void tell_fill(FILE *file, cudaGraphNode_t node, unsigned flags)
{
    struct cudaMemsetParams m;
    emu_fill_parameters(&m, node->data);
    fprintf(file, "MEMSET\n(%u,%zu)\n", m.value, m.width * m.height * m.elementSize);
    if (wants(flags, cudaGraphDebugDotFlagsMemsetNodeParams))
        fprintf(file, "dst %p\npitch %zu\nelementSize %u\nwidth %zu\nheight %zu\n", m.dst,
                m.pitch, m.elementSize, m.width, m.height);
}

static void tell_host(FILE *file, cudaGraphNode_t node, unsigned flags)
{
    const struct cudaHostNodeParams *const h = node->data;
    fprintf(file, "HOST\n");
    if (wants(flags, cudaGraphDebugDotFlagsHostNodeParams))
        fprintf(file, "fn %p\nuserData %p\n", (void *)(uintptr_t)h->fn, h->userData);
}

static void tell_event(FILE *file, cudaGraphNode_t node, unsigned flags)
{
    const bool records = node->type == cudaGraphNodeTypeEventRecord;
    fprintf(file, "EVENT_%s\n", records ? "RECORD" : "WAIT");
    if (wants(flags, cudaGraphDebugDotFlagsEventNodeParams))
        fprintf(file, "event %p\n", *(void **)node->data);
}

static void tell_memory(FILE *file, cudaGraphNode_t node)
{
    const struct emu_graph_memory *const m = node->data;
    const bool allocates = node->type == cudaGraphNodeTypeMemAlloc;
    fprintf(file, "MEM_%s\n%p\n", allocates ? "ALLOC" : "FREE", m->base);
}

/* Graphs inside have the numbers from *next on, in the order in which they are met. */
static void tell_bodies(FILE *file, const struct emu_bodies *b, unsigned flags,
                        unsigned *next)
{
    static const char *const types[] = {"IF", "WHILE", "SWITCH"};
    fprintf(file, "CONDITIONAL %s\n", types[b->type]);
    if (wants(flags, cudaGraphDebugDotFlagsConditionalNodeParams))
        fprintf(file, "handle %llu\n", b->handle);
    for (unsigned i = 0; i < b->count; i++) fprintf(file, "graph_%u\n", (*next)++);
}

static void tell(FILE *file, cudaGraphNode_t node, unsigned flags, unsigned *next)
{
    switch (node->type) {
    case cudaGraphNodeTypeKernel: tell_kernel(file, node->data, flags); break;
    case cudaGraphNodeTypeMemcpy: tell_copy(file, node, flags); break;
    case cudaGraphNodeTypeMemset: tell_fill(file, node, flags); break;
    case cudaGraphNodeTypeHost: tell_host(file, node, flags); break;
    case cudaGraphNodeTypeGraph: fprintf(file, "graph_%u\n", (*next)++); break;
    case cudaGraphNodeTypeEmpty: fprintf(file, "EMPTY\n"); break;
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord: tell_event(file, node, flags); break;
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree: tell_memory(file, node); break;
    case cudaGraphNodeTypeConditional:
        tell_bodies(file, node->bodies, flags, next);
        break;
    }
    if (wants(flags, cudaGraphDebugDotFlagsHandles))
        fprintf(file, "node %p\n", (void *)node);
}

static void draw(FILE *file, cudaGraph_t graph, unsigned number, unsigned flags,
                 unsigned *next)
{
    unsigned inner = *next;
    fprintf(file, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n",
            number, number);
    for (size_t i = 0; i < graph->count; i++) {
        const cudaGraphNode_t node = graph->nodes[i];
        const bool is_kernel = node->type == cudaGraphNodeTypeKernel;
        fprintf(file, "\"graph_%u_node_%zu\"[style=\"%s\" shape=\"%s\" label=\"%zu\n",
                number, i, is_kernel ? "bold" : "solid", shape_of(node->type), i);
        tell(file, node, flags, next);
        fprintf(file, "\"];\n\n");
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->after_count; k++)
            fprintf(file, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\";\n", number,
                    graph->nodes[i]->after[k]->index, number, i);
    fprintf(file, "}\n");
    for (size_t i = 0; i < graph->count; i++) {
        const cudaGraphNode_t node = graph->nodes[i];
        if (node->child) draw(file, node->child, inner++, flags, next);
        for (unsigned k = 0; node->bodies && k < node->bodies->count; k++)
            draw(file, node->bodies->graphs[k], inner++, flags, next);
    }
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path,
                                   unsigned int flags)
{
    EMU_ALONE;
    if (!graph || !path) return set(cudaErrorInvalidValue);
    FILE *const file = fopen(path, "w");
    if (!file) return set(cudaErrorOperatingSystem);
    unsigned next = 2;
    fprintf(file, "digraph dot {\n");
    draw(file, graph, 1, flags, &next);
    fprintf(file, "}\n");
    const bool failed = ferror(file);
    return set(fclose(file) || failed ? cudaErrorOperatingSystem : cudaSuccess);
}
