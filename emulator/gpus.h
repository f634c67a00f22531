/* GPUs, as their data sheets and cudaGetDeviceProperties describe them: facts and nothing
 * else. The emulator makes of them the GPU that EMULATE names, and a chapter's
 * --occupancy shows them side by side. */
#ifndef GPUS_H
#define GPUS_H

#include <cuda_occupancy.h>
#include <stdbool.h>

static const struct card {
    const char *key; /* a value of EMULATE */
    const char *short_name, *name;
    int major, minor, sms, threads_per_sm;
    size_t shared_kb_per_sm, l2_kb, memory_mb;
    int clock_mhz, memory_clock_mhz, bus_bits, copy_engines, ecc;
    int peers; /* kernels of one may use the memory of another in the same host */
} CARDS[] = {
    {"t4", "T4", "Tesla T4", 7, 5, 40, 1024, 64, 4096, 15110, 1590, 5001, 256, 3, 1, 1},
    {"rtx3090", "RTX 3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 1536, 100, 6144, 24260,
     1695, 9751, 384, 2, 0, 0},
    {"a6000", "RTX A6000", "NVIDIA RTX A6000", 8, 6, 84, 1536, 100, 6144, 48677, 1800,
     8001, 384, 2, 0, 1},
    {"a100", "A100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 2048, 164, 40960, 81154, 1410,
     1593, 5120, 3, 1, 1},
    {"rtx4090", "RTX 4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 1536, 100, 73728, 24210,
     2520, 10501, 384, 2, 0, 0},
    {"h100", "H100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 2048, 228, 51200, 81079, 1980,
     2619, 5120, 3, 1, 1},
    {"h200", "H200", "NVIDIA H200", 9, 0, 132, 2048, 228, 61440, 143156, 1980, 3201, 6144,
     3, 1, 1},
    {"b200", "B200", "NVIDIA B200", 10, 0, 148, 2048, 228, 129536, 182630, 1965, 3996,
     7680, 4, 1, 1},
};
enum { CARD_COUNT = sizeof CARDS / sizeof CARDS[0] };

/* How many multiply-adds of floats a multiprocessor makes per clock (CUDA C++ programming
 * guide, "Arithmetic instructions", the table of throughputs). */
static inline int multiply_adds_per_clock(int major, int minor)
{
    return major < 8 || (major == 8 && minor == 0) ? 64 : 128;
}

/* The same of doubles. */
static inline int double_multiply_adds_per_clock(int major, int minor)
{
    return major >= 9 ? 64 : major == 8 && minor == 0 ? 32 : 2;
}

/* The part of the L2 cache that a program can set aside for data that shall stay there, in
 * bytes: from compute capability 8.0 on. An H200 says so, and what is known of the others
 * agrees; of a B200 nothing is, and it is taken for a Hopper. */
static inline size_t persisting_l2_bytes(const struct card *card)
{
    const size_t sixteenth = card->l2_kb * 1024 / 16;
    if (card->major < 8) return 0;
    return sixteenth * (card->major >= 9 ? 10 : card->minor == 0 ? 12 : 11);
}

/* The same of numbers of 16 bits, two to an instruction. */
static inline int half_multiply_adds_per_clock(int major, int minor)
{
    const bool twice = (major == 8 && minor == 0) || major == 9 || major == 10;
    return twice ? 256 : 128;
}

/* What a card's multiprocessors hold. From compute capability 8.0 on, the system takes
 * 1 KB of shared memory for itself in every block. */
static inline cudaOccDeviceProp limits_of(const struct card *card)
{
    const size_t shared = 1024 * card->shared_kb_per_sm;
    const size_t reserved = card->major >= 8 ? 1024 : 0;
    cudaOccDeviceProp limits = {0};
    limits.computeMajor = card->major;
    limits.computeMinor = card->minor;
    limits.maxThreadsPerBlock = 1024;
    limits.maxThreadsPerMultiprocessor = card->threads_per_sm;
    limits.regsPerBlock = 65536;
    limits.regsPerMultiprocessor = 65536;
    limits.warpSize = 32;
    limits.sharedMemPerBlock = 48 * 1024;
    limits.sharedMemPerMultiprocessor = shared;
    limits.numSms = card->sms;
    limits.sharedMemPerBlockOptin = shared - reserved;
    limits.reservedSharedMemPerBlock = reserved;
    return limits;
}

#endif
