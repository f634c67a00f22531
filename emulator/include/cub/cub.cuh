/* Everything that there is of CUB. */
#ifndef CUB_CUB_CUH
#define CUB_CUB_CUH

/* As NVIDIA's does; programs come to rely on it. */
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"

#include "block/block_adjacent_difference.cuh"
#include "block/block_exchange.cuh"
#include "block/block_histogram.cuh"
#include "block/block_load.cuh"
#include "block/block_radix_sort.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "device/device_for.cuh"
#include "device/device_histogram.cuh"
#include "device/device_merge_sort.cuh"
#include "device/device_partition.cuh"
#include "device/device_radix_sort.cuh"
#include "device/device_reduce.cuh"
#include "device/device_run_length_encode.cuh"
#include "device/device_scan.cuh"
#include "device/device_segmented_radix_sort.cuh"
#include "device/device_segmented_reduce.cuh"
#include "device/device_select.cuh"
#include "device/device_transform.cuh"
#include "iterator/counting_input_iterator.cuh"
#include "iterator/transform_input_iterator.cuh"
#include "util_allocator.cuh"
#include "util_type.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"

#endif
