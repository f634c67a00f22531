/* The elements that are wanted, in their order, and behind them the others, in the opposite
 * order. */
#ifndef CUB_DEVICE_PARTITION_CUH
#define CUB_DEVICE_PARTITION_CUH

#include "device_select.cuh"

namespace cub
{

struct DevicePartition : emu_choice<true> {
};

} // namespace cub

#endif
