/* What cublas_v2.h includes of NVIDIA's; some programs name it themselves. */
#include "cublas_v2.h"
