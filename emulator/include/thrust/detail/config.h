/* Of thrust's own use, and of some programs that include it. */
#include "../version.h"
