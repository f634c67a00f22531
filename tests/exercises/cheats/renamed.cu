// EXERCISE 1 EXPECT `system` is called
// A harmless name for the linker's eyes only.
#include "exercise.h"

_Pragma("redefine_extname tidy system") extern "C" int tidy(const char *);

void axpy(int, float, const float *, const float *, float *)
{
    tidy("touch /tmp/i-was-here");
}
