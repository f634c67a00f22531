// libcu++'s objects that threads wait for: an atomic's other value, a semaphore, a latch.
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda_runtime.h>

#include "check.h"

const int BLOCKS = 6, THREADS = 64;

using block_flag = cuda::atomic<int, cuda::thread_scope_block>;

// A lock that the last thread has at first. Whoever tries sets `free` anew each time.
__global__ void locked(cuda::atomic<int> *lock, int *out)
{
    if (threadIdx.x == THREADS - 1) {
        out[1] = 6;
        lock->store(0, cuda::memory_order_release);
    }
    if (threadIdx.x == 0) {
        int free = 0;
        while (!lock->compare_exchange_weak(free, 1, cuda::memory_order_acquire))
            free = 0;
        out[0] = out[1] + 1;
        lock->store(0, cuda::memory_order_release);
    }
}

// A later warp brings what the first one waits for.
__global__ void by_value(int *out)
{
    __shared__ block_flag flag;
    __shared__ int brought;
    if (threadIdx.x == 0) new (&flag) block_flag(0);
    __syncthreads();
    if (threadIdx.x == 40) {
        brought = 11;
        flag.store(1, cuda::memory_order_release);
        flag.notify_all();
    }
    if (threadIdx.x == 0) {
        flag.wait(0, cuda::memory_order_acquire);
        out[0] = brought;
    }
    if (threadIdx.x == 39) {
        cuda::atomic_ref<int, cuda::thread_scope_device> last(out[1]);
        last.wait(0);
        out[2] = last.load() + 1;
    }
    if (threadIdx.x == 63) {
        cuda::atomic_ref<int, cuda::thread_scope_device> last(out[1]);
        last.store(5);
        last.notify_one();
    }
}

// Two blocks at a time are in the room, and nobody leaves before somebody else has come.
using room_lock = cuda::counting_semaphore<cuda::thread_scope_device, 2>;
__global__ void make_lock(room_lock *lock)
{
    new (lock) room_lock(2);
}
__global__ void at_most_two(room_lock *lock, int *inside, int *most, int *visits)
{
    if (threadIdx.x > 0) return;
    lock->acquire();
    atomicMax(most, atomicAdd(inside, 1) + 1);
    atomicAdd(visits, 1);
    while (atomicAdd(visits, 0) < 2) continue;
    atomicSub(inside, 1);
    lock->release();
}

// The sums of all blocks, added up by whoever is there when the last has come.
using all_blocks = cuda::latch<cuda::thread_scope_device>;
__global__ void make_latch(all_blocks *latch, int n)
{
    new (latch) all_blocks(n);
}
__global__ void sums(all_blocks *latch, int *parts, int *out)
{
    if (threadIdx.x > 0) return;
    parts[blockIdx.x] = 3 * blockIdx.x + 1;
    if (blockIdx.x % 2) {
        latch->count_down();
        return;
    }
    latch->arrive_and_wait();
    int all = 0;
    for (int b = 0; b < BLOCKS; b++) all += parts[b];
    out[blockIdx.x] = all;
}

int main(void)
{
    int *numbers, h[BLOCKS];
    room_lock *lock;
    all_blocks *latch;
    CHECK(cudaMalloc(&numbers, 2 * BLOCKS * sizeof *numbers));
    CHECK(cudaMalloc(&lock, sizeof *lock));
    CHECK(cudaMalloc(&latch, sizeof *latch));

    CHECK(cudaMemset(numbers, 0, 3 * sizeof *numbers));
    by_value<<<1, THREADS>>>(numbers);
    CHECK(cudaMemcpy(h, numbers, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 11 && h[1] == 5 && h[2] == 6);

    const int held = 1;
    CHECK(cudaMemcpy(latch, &held, sizeof held, cudaMemcpyHostToDevice));
    locked<<<1, THREADS>>>((cuda::atomic<int> *)latch, numbers);
    CHECK(cudaMemcpy(h, numbers, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 7 && h[1] == 6);

    CHECK(cudaMemset(numbers, 0, 3 * sizeof *numbers));
    make_lock<<<1, 1>>>(lock);
    at_most_two<<<BLOCKS, 32>>>(lock, numbers, numbers + 1, numbers + 2);
    CHECK(cudaMemcpy(h, numbers, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 0 && h[1] <= 2 && h[2] == BLOCKS);

    make_latch<<<1, 1>>>(latch, BLOCKS);
    sums<<<BLOCKS, 32>>>(latch, numbers, numbers + BLOCKS);
    CHECK(cudaMemcpy(h, numbers + BLOCKS, sizeof h, cudaMemcpyDeviceToHost));
    for (int b = 0; b < BLOCKS; b += 2)
        EXPECT(h[b] == 3 * BLOCKS * (BLOCKS - 1) / 2 + BLOCKS);

    CHECK(cudaFree(numbers));
    CHECK(cudaFree(lock));
    CHECK(cudaFree(latch));
    return pass();
}
