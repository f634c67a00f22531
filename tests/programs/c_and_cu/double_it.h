#ifndef DOUBLE_IT_H
#define DOUBLE_IT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Doubles n integers in device memory. */
void double_it(int *device, int n);

#ifdef __cplusplus
}
#endif
#endif
