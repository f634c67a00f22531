// EXERCISE 1 EXPECT No such file
// NEEDS BOX
// Has the compiler quote a file of the machine in an error message.
#include "exercise.h"
/**/ #include "/etc/passwd"
