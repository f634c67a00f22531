// EXERCISE 1 EXPECT `wordexp` is called
// So does a raw string with a prefix.
#include "exercise.h"

extern "C" int wordexp(const char *, void *, int);

void axpy(int, float, const float *, const float *, float *)
{
    const char *s = (const char *)u8R"(")"; wordexp("", nullptr, 0); s = "";
    (void)s;
}
