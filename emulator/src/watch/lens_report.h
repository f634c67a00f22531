/* What the lens tells. */
#ifndef LENS_REPORT_H
#define LENS_REPORT_H

struct lens_kernel;

/* At the end of the program; ends it with exit 3 if the report cannot be written. */
void lens_report(const struct lens_kernel *kernels);
/* Its other forms: JSON; and one request as a drawing. LENS_LINE=44 is the access of line
 * 44 that wastes most, 44.2 the second that the table shows there; without it, the worst
 * of all. */
void lens_json(const struct lens_kernel *kernels);
void lens_draw(const struct lens_kernel *kernels);

#endif
