/* Which device may use whose memory. */
#include "base/peers.h"

#include "base/device.h"
#include "base/errors.h"

/* Which device may use whose memory in kernels: [who][whose]. */
static bool peers[EMU_MOST_DEVICES][EMU_MOST_DEVICES];

bool emu_reaches(int device, int memory)
{
    return device == memory || peers[device][memory];
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can) return set(cudaErrorInvalidValue);
    if (!emu_is_device(device) || !emu_is_device(peer))
        return set(cudaErrorInvalidDevice);
    *can = device != peer && emu_gpu()->peers;
    return cudaSuccess;
}

/* Of the current device, to the memory of the other. */
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    if (flags) return set(cudaErrorInvalidValue);
    if (!emu_is_device(peer) || peer == emu_device()) return set(cudaErrorInvalidDevice);
    if (!emu_gpu()->peers) return set(cudaErrorPeerAccessUnsupported);
    if (peers[emu_device()][peer]) return set(cudaErrorPeerAccessAlreadyEnabled);
    peers[emu_device()][peer] = true;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    if (!emu_is_device(peer)) return set(cudaErrorInvalidDevice);
    if (!peers[emu_device()][peer]) return set(cudaErrorPeerAccessNotEnabled);
    peers[emu_device()][peer] = false;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int device,
                                      int peer)
{
    if (!value) return set(cudaErrorInvalidValue);
    if (!emu_is_device(device) || !emu_is_device(peer) || device == peer)
        return set(cudaErrorInvalidDevice);
    *value = attr == cudaDevP2PAttrPerformanceRank ? 0 : emu_gpu()->peers;
    return cudaSuccess;
}
