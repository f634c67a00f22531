/* What kernels print. */
#ifndef OUTPUT_H
#define OUTPUT_H

/* The host has waited, so what kernels have printed so far appears. */
void emu_show_output(void);

#endif
