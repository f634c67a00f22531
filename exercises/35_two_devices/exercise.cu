// Exercise 35: two devices.
//
// Device 0 has all the numbers and half of the work; the other half goes to device 1, piece
// by piece: copied there, computed, copied back. Three streams let one piece travel while
// another is in work. But streams know nothing of each other.
#include "exercise.h"

const int THREADS = 128;
const int PIECE = 512; // elements

__global__ void axpy_kernel(int n, float a, const float *x, const float *y, float *out)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}

// In a stream of the current device.
void axpy_in(cudaStream_t stream, int n, float a, const float *x, const float *y,
             float *out)
{
    axpy_kernel<<<(n + THREADS - 1) / THREADS, THREADS, 0, stream>>>(n, a, x, y, out);
}

void axpy_on_two(int n, float a, const float *x, const float *y, float *out, float *there)
{
    const int here = n / 2, rest = n - here;
    axpy_in(0, here, a, x, y, out);

    cudaSetDevice(1); // streams and events are of the device that is current
    cudaStream_t in, work, back;
    cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&back, cudaStreamNonBlocking);
    cudaEvent_t come, ready, over;
    cudaEventCreateWithFlags(&come, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&over, cudaEventDisableTiming);

    for (int first = 0; first < rest; first += PIECE) {
        const int count = first + PIECE < rest ? PIECE : rest - first;
        const size_t bytes = count * sizeof(float);
        float *x_there = there + first, *y_there = there + n + first;
        cudaMemcpyPeerAsync(x_there, 1, x + here + first, 0, bytes, in);
        cudaMemcpyPeerAsync(y_there, 1, y + here + first, 0, bytes, in);
        // BEGIN answer
        // END answer
        axpy_in(work, count, a, x_there, y_there, y_there); // the result lies over y
        // BEGIN answer
        // END answer
        cudaMemcpyPeerAsync(out + here + first, 0, y_there, 1, bytes, back);
    }
    // BEGIN answer
    // END answer
    cudaSetDevice(0);
    // BEGIN answer
    // END answer

    cudaEventDestroy(come);
    cudaEventDestroy(ready);
    cudaEventDestroy(over);
    cudaStreamDestroy(in);
    cudaStreamDestroy(work);
    cudaStreamDestroy(back);
}
