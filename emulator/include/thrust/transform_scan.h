/* Scans of transformed elements. */
#include "scan.h"
