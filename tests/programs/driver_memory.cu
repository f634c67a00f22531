// The driver API's contexts, memory, arrays, streams and events, and its launches of the
// program's own kernels, which the runtime API knows.
// BUILD: -lcuda
#include <cuda.h>
#include <stdlib.h>

#include <thread>

#include "check.h"

#define DO(call) EXPECT((call) == CUDA_SUCCESS)

__global__ void scale(float *x, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}

struct three {
    float x, y, z;
};
__global__ void mixed(char c, double d, three t, short s, float *out)
{
    *out = float(c) + float(d) + t.x + t.y + t.z + float(s);
}

static void contexts(CUdevice device)
{
    CUcontext first, second, current;
    CUdeviceptr p;
    int active;
    unsigned flags;
    EXPECT(cuMemAlloc(&p, 16) == CUDA_ERROR_INVALID_CONTEXT);
    DO(cuCtxGetCurrent(&current));
    EXPECT(current == nullptr);
    DO(cuCtxCreate(&first, nullptr, CU_CTX_SCHED_SPIN, device));
    DO(cuCtxGetCurrent(&current));
    DO(cuCtxGetFlags(&flags));
    EXPECT(current == first && flags == CU_CTX_SCHED_SPIN);
    DO(cuCtxCreate(&second, nullptr, 0, device));
    DO(cuCtxPopCurrent(&current));
    EXPECT(current == second);
    DO(cuCtxGetCurrent(&current));
    EXPECT(current == first);
    DO(cuCtxPushCurrent(second));
    DO(cuMemAlloc(&p, 16)); // goes with its context
    DO(cuCtxDestroy(second));
    EXPECT(cuMemFree(p) != CUDA_SUCCESS);
    CUdevice its;
    DO(cuCtxGetDevice(&its));
    EXPECT(its == device);

    std::thread([=] {
        CUdevice none;
        EXPECT(cuCtxGetDevice(&none) == CUDA_ERROR_INVALID_CONTEXT);
        DO(cuCtxSetCurrent(first));
        DO(cuCtxGetDevice(&none));
    }).join();
    DO(cuCtxDestroy(first));
    EXPECT(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);

    DO(cuDevicePrimaryCtxGetState(device, &flags, &active));
    EXPECT(!active);
    DO(cuDevicePrimaryCtxRetain(&first, device));
    DO(cuCtxSetCurrent(first));
    DO(cuDevicePrimaryCtxGetState(device, &flags, &active));
    EXPECT(active);
}

static void memory()
{
    enum { N = 100 };
    CUdeviceptr p, q, base;
    size_t pitch, bytes, all;
    DO(cuMemGetInfo(&bytes, &all));
    EXPECT(bytes > 0 && bytes <= all);
    DO(cuMemAlloc(&p, N * sizeof(int)));
    DO(cuMemAlloc(&q, N * sizeof(int)));
    int in[N], out[N] = {0};
    for (int i = 0; i < N; i++) in[i] = i * i;
    DO(cuMemcpyHtoD(p, in, sizeof in));
    DO(cuMemcpyDtoD(q, p, sizeof in));
    DO(cuMemsetD32(q + 40, 7, 5));
    DO(cuMemsetD16(q, 0x1234, 2));
    DO(cuMemsetD8(q + 4, 1, 4));
    DO(cuMemcpyDtoH(out, q, sizeof out));
    for (int i = 0; i < N; i++)
        EXPECT(out[i] == (i == 0              ? 0x12341234
                          : i == 1            ? 0x01010101
                          : i >= 10 && i < 15 ? 7
                                              : i * i));
    DO(cuMemGetAddressRange(&base, &bytes, q + 12));
    EXPECT(base == q && bytes == sizeof in);
    EXPECT(cuMemsetD32(q + 2, 0, 1) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemcpyHtoD(p, in, sizeof in + 4) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAlloc(&base, 0) == CUDA_ERROR_INVALID_VALUE);

    CUdeviceptr rows;
    DO(cuMemAllocPitch(&rows, &pitch, 10 * sizeof(int), 10, 4));
    DO(cuMemsetD2D8(rows, pitch, 1, 10 * sizeof(int), 4));
    DO(cuMemsetD2D32Async(rows + 8, pitch, 7, 2, 3, nullptr));
    DO(cuMemsetD2D16(rows + pitch, pitch, 0x1234, 2, 1));
    for (int row = 0; row < 4; row++) {
        DO(cuMemcpyDtoH(out, rows + row * pitch, 10 * sizeof(int)));
        EXPECT(out[0] == (row == 1 ? 0x12341234 : 0x01010101));
        for (int i = 1; i < 10; i++)
            EXPECT(out[i] == (row < 3 && (i == 2 || i == 3) ? 7 : 0x01010101));
    }
    CUDA_MEMCPY2D to = {}, from = {};
    to.srcMemoryType = CU_MEMORYTYPE_HOST;
    to.srcHost = in;
    to.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    to.dstDevice = rows;
    to.dstPitch = pitch;
    to.WidthInBytes = 10 * sizeof(int);
    to.Height = 10;
    DO(cuMemcpy2D(&to));
    from.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    from.srcDevice = rows;
    from.srcPitch = pitch;
    from.srcY = 3;
    from.dstMemoryType = CU_MEMORYTYPE_HOST;
    from.dstHost = out;
    from.WidthInBytes = 10 * sizeof(int);
    from.Height = 1;
    DO(cuMemcpy2D(&from));
    for (int i = 0; i < 10; i++) EXPECT(out[i] == (30 + i) * (30 + i));

    CUmemorytype type = CU_MEMORYTYPE_HOST;
    DO(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, rows));
    EXPECT(type == CU_MEMORYTYPE_DEVICE);
    DO(cuMemFree(rows));
    DO(cuMemFree(p));
    DO(cuMemFree(q));
    EXPECT(cuMemFree(q) == CUDA_ERROR_INVALID_VALUE);
}

static void launches()
{
    enum { N = 1000 };
    CUfunction function;
    CUstream stream;
    CUevent begin, end;
    CUdeviceptr d;
    float *h, by = 3.0f, ms = -1.0f;
    int n = N;
    DO(cuMemHostAlloc((void **)&h, N * sizeof *h, 0));
    for (int i = 0; i < N; i++) h[i] = float(i);
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    DO(cuEventCreate(&end, CU_EVENT_DEFAULT));
    DO(cuMemAllocAsync(&d, N * sizeof *h, stream));
    CHECK(cudaGetFuncBySymbol(&function, (const void *)scale));
    void *arguments[] = {&d, &by, &n};
    DO(cuEventRecord(begin, stream));
    DO(cuMemcpyHtoDAsync(d, h, N * sizeof *h, stream));
    DO(cuLaunchKernel(function, (N + 127) / 128, 1, 1, 128, 1, 1, 0, stream, arguments,
                      nullptr));
    DO(cuMemcpyDtoHAsync(h, d, N * sizeof *h, stream));
    DO(cuEventRecord(end, stream));
    DO(cuStreamSynchronize(stream));
    DO(cuEventElapsedTime(&ms, begin, end));
    EXPECT(ms >= 0.0f);
    for (int i = 0; i < N; i++) EXPECT(h[i] == 3.0f * float(i));
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 2000, 1, 1, 0, stream, arguments, nullptr) ==
           CUDA_ERROR_INVALID_VALUE);

    // All arguments in one buffer, each where a structure would have it.
    struct {
        char c;
        double d;
        three t;
        short s;
        float *out;
    } packed = {1, 2.0, {3.0f, 4.0f, 5.0f}, 6, (float *)d};
    size_t bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    CHECK(cudaGetFuncBySymbol(&function, (const void *)mixed));
    DO(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, extra));
    DO(cuMemcpyDtoHAsync(h, d, sizeof *h, stream));
    DO(cuStreamSynchronize(stream));
    EXPECT(h[0] == 21.0f);

    int threads = 0, blocks = 0;
    DO(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    EXPECT(threads == 1024);
    DO(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          60 << 10));
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
    EXPECT(blocks > 0);
    DO(cuMemFreeAsync(d, stream));
    DO(cuStreamDestroy(stream));
    DO(cuEventDestroy(begin));
    DO(cuEventDestroy(end));
    DO(cuMemFreeHost(h));
}

__global__ void look(CUtexObject mean, CUtexObject exact, CUsurfObject surface,
                     float4 *out)
{
    const int x = threadIdx.x;
    const float two = tex2D<float2>(mean, (x + 1.0f) / 8, 0.5f / 4).y;
    const uchar2 one = tex2D<uchar2>(exact, x, 3);
    surf2Dwrite(make_uchar2(7, x), surface, x * sizeof(uchar2), 2);
    out[x] = make_float4(two, one.x, one.y, 0);
}

// An array that two textures read, in two ways, and a surface writes.
static void textures()
{
    CUDA_ARRAY3D_DESCRIPTOR what = {};
    what.Width = 8;
    what.Height = 4;
    what.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    what.NumChannels = 2;
    what.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CUarray array;
    DO(cuArray3DCreate(&array, &what));
    uchar2 h[4][8], back[2][8];
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++) h[y][x] = make_uchar2(10 * y, 20 * x);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = h;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = sizeof h[0];
    copy.Height = 4;
    DO(cuMemcpy2D(&copy));

    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC how = {};
    how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    how.filterMode = CU_TR_FILTER_MODE_LINEAR;
    how.flags = CU_TRSF_NORMALIZED_COORDINATES;
    CUtexObject mean, exact;
    CUsurfObject surface;
    DO(cuTexObjectCreate(&mean, &resource, &how, nullptr));
    how.filterMode = CU_TR_FILTER_MODE_POINT;
    how.flags = CU_TRSF_READ_AS_INTEGER;
    DO(cuTexObjectCreate(&exact, &resource, &how, nullptr));
    DO(cuSurfObjectCreate(&surface, &resource));
    float4 *out;
    CHECK(cudaMallocManaged(&out, 8 * sizeof *out));
    look<<<1, 8>>>(mean, exact, surface, out);
    CHECK(cudaDeviceSynchronize());
    for (int x = 0; x < 8; x++) {
        const float mean_of_two = x < 7 ? 20 * x + 10 : 140;
        EXPECT(close_to(out[x].x * 255, mean_of_two, 1e-3));
        EXPECT(out[x].y == 30 && out[x].z == 20 * x);
    }
    copy = CUDA_MEMCPY2D();
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = back;
    copy.WidthInBytes = sizeof back[0];
    copy.Height = 2;
    DO(cuMemcpy2D(&copy));
    for (int x = 0; x < 8; x++)
        EXPECT(back[0][x].x == 10 && back[0][x].y == 20 * x && back[1][x].x == 7 &&
               back[1][x].y == x);
    CUarray none;
    what.NumChannels = 3;
    EXPECT(cuArray3DCreate(&none, &what) == CUDA_ERROR_INVALID_VALUE);
    DO(cuTexObjectDestroy(mean));
    DO(cuTexObjectDestroy(exact));
    DO(cuSurfObjectDestroy(surface));
    DO(cuArrayDestroy(array));
    CHECK(cudaFree(out));
}

int main()
{
    CUdevice device;
    CUcontext none;
    EXPECT(cuCtxGetCurrent(&none) == CUDA_ERROR_NOT_INITIALIZED);
    DO(cuInit(0));
    DO(cuDeviceGet(&device, 0));
    contexts(device);
    memory();
    launches();
    textures();
    DO(cuDevicePrimaryCtxRelease(device));
    return pass();
}
