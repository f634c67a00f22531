/* What the programs share in which blocks hand something to each other within one launch:
 * the set-up and the run. The faults lie in the programs themselves, where a report can
 * name their lines. */
#ifndef HANDOVER_H
#define HANDOVER_H

#include "fault.h"

enum { BLOCKS = 4, THREADS = 64, COUNT = BLOCKS * THREADS };

/* Runs `kernel` with COUNT ones to read, COUNT floats for what is handed over, THREADS
 * floats to write, and a counter or flag that is 0. */
static inline int run(void (*kernel)(const float *in, float *parts, float *out,
                                     int *flag))
{
    float *in, *parts, *out, ones[COUNT];
    int *flag;
    for (int i = 0; i < COUNT; i++) ones[i] = 1.0f;
    cudaMalloc(&in, sizeof ones);
    cudaMalloc(&parts, sizeof ones);
    cudaMalloc(&out, THREADS * sizeof *out);
    cudaMalloc(&flag, sizeof *flag);
    cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, THREADS * sizeof *out);
    cudaMemset(flag, 0, sizeof *flag);
    kernel<<<BLOCKS, THREADS>>>(in, parts, out, flag);
    const int status = finish();
    cudaFree(in);
    cudaFree(parts);
    cudaFree(out);
    cudaFree(flag);
    return status;
}

#endif
