// EXERCISE 1 EXPECT file not found
// Has the assembler copy a file of the machine into the program.
#include "exercise.h"

asm(".data\n.globl secret\nsecret: .incbin \"/etc/shadow\"\n.text");

void axpy(int, float, const float *, const float *, float *)
{
}
