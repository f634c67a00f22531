/* Launches that would only repeat what has been done. */
#ifndef REPEAT_H
#define REPEAT_H

#include <stdbool.h>

struct emu_launch;

/* Whether all that the launch, whose work has begun, would read and store is as it left it
 * when it ran before: then it need not run. */
bool emu_is_repeated(const struct emu_launch *launch);
/* It was not, and has run now, without an error. */
void emu_note_launch(void);

#endif
