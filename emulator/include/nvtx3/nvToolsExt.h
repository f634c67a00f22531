/* NVTX, by which a program tells its tools what it is doing: the part that names a stretch
 * of the program. A fault that is found in such a stretch says its name. */
#ifndef NVTX3_NVTOOLSEXT_H
#define NVTX3_NVTOOLSEXT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a stretch, which may lie inside another. Returns how many it lies inside of. */
int nvtxRangePushA(const char *message);
/* Ends the stretch that began last. Returns as above; below 0 if there is none. */
int nvtxRangePop(void);
#define nvtxRangePush nvtxRangePushA

#ifdef __cplusplus
}
#endif
#endif
