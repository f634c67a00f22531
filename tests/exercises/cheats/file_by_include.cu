// EXERCISE 1 EXPECT No such file
// Has the compiler quote a file of the machine in an error message.
#include "exercise.h"
/**/ #include "/etc/passwd"
