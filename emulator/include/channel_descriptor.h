/* cudaCreateChannelDesc, also for a type. */
#ifndef CHANNEL_DESCRIPTOR_H
#define CHANNEL_DESCRIPTOR_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include "texture_fetch_functions.h"
#endif

#endif
