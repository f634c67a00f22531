// Kernels that the program compiles while it runs (NVRTC), from text, with headers, options
// and templates; and modules as such, which the driver API loads.
// BUILD: -lcuda -lnvrtc
#include <cuda.h>
#include <nvrtc.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define DO(call) EXPECT((call) == CUDA_SUCCESS)
#define RTC(call) EXPECT((call) == NVRTC_SUCCESS)

static const char source[] = R"(
#include "own/scale.h"

__constant__ float factor[2];
static __device__ int blocks;
extern "C" __constant__ int shift[3]; // nvcc warns, and takes it for the variable
namespace outer { namespace inner { __device__ int seen; } }

extern "C" __global__ void scale(float *x, int n)
{
    __shared__ float tile[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) x[i] = scaled(tile[threadIdx.x], factor[1]);
    if (threadIdx.x == 0) atomicAdd(&blocks, 1);
    if (i == 0) outer::inner::seen = shift[2];
}

template <typename T, int K> __global__ void add(T *x, T by)
{
    x[threadIdx.x] += by * K;
}
)";
static const char header[] =
    "__device__ inline float scaled(float x, float by) { return x * by + SHIFT; }\n";

int main()
{
    enum { N = 100 };
    CUdevice device;
    CUcontext context;
    DO(cuInit(0));
    DO(cuDeviceGet(&device, 0));
    DO(cuDevicePrimaryCtxRetain(&context, device));
    DO(cuCtxSetCurrent(context));

    nvrtcProgram program;
    const char *headers[] = {header}, *names[] = {"own/scale.h"};
    const char *options[] = {"--gpu-architecture=compute_90", "-DSHIFT=1.0f",
                             "--std=c++17"};
    const char *lowered;
    size_t bytes;
    RTC(nvrtcCreateProgram(&program, source, "scale.cu", 1, headers, names));
    RTC(nvrtcAddNameExpression(program, "add<int, 3>"));
    RTC(nvrtcAddNameExpression(program, "&factor"));
    RTC(nvrtcAddNameExpression(program, "&outer::inner::seen"));
    EXPECT(nvrtcGetLoweredName(program, "&factor", &lowered) ==
           NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    RTC(nvrtcCompileProgram(program, 3, options));
    RTC(nvrtcGetPTXSize(program, &bytes));
    char *ptx = (char *)malloc(bytes);
    RTC(nvrtcGetPTX(program, ptx));
    EXPECT(strlen(ptx) + 1 == bytes && strstr(ptx, ".version"));

    CUmodule module, again;
    CUfunction function;
    CUdeviceptr factor, blocks, other, shift, seen, d;
    DO(cuModuleLoadData(&module, ptx));
    DO(cuModuleLoadDataEx(&again, ptx, 0, nullptr, nullptr));
    free(ptx);
    RTC(nvrtcGetLoweredName(program, "&factor", &lowered));
    DO(cuModuleGetGlobal(&factor, &bytes, module, lowered));
    EXPECT(bytes == 2 * sizeof(float));
    RTC(nvrtcGetLoweredName(program, "&outer::inner::seen", &lowered));
    DO(cuModuleGetGlobal(&seen, &bytes, module, lowered));
    EXPECT(bytes == sizeof(int));
    DO(cuModuleGetGlobal(&shift, &bytes, module, "shift"));
    EXPECT(bytes == 3 * sizeof(int));
    DO(cuMemsetD32(shift, 8, 3));
    DO(cuModuleGetGlobal(&blocks, &bytes, module, "blocks"));
    DO(cuModuleGetGlobal(&other, &bytes, again, "blocks"));
    EXPECT(bytes == sizeof(int) && other != blocks);
    EXPECT(cuModuleGetGlobal(&d, &bytes, module, "nothing") == CUDA_ERROR_NOT_FOUND);
    EXPECT(cuModuleGetFunction(&function, module, "nothing") == CUDA_ERROR_NOT_FOUND);
    DO(cuModuleGetFunction(&function, module, "scale"));

    float h[N], factors[2] = {0.0f, 3.0f};
    for (int i = 0; i < N; i++) h[i] = float(i);
    DO(cuMemcpyHtoD(factor, factors, sizeof factors));
    DO(cuMemAlloc(&d, sizeof h));
    DO(cuMemcpyHtoD(d, h, sizeof h));
    int n = N, count = -1;
    void *arguments[] = {&d, &n};
    DO(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
    DO(cuMemcpyDtoH(h, d, sizeof h));
    for (int i = 0; i < N; i++) EXPECT(h[i] == 3.0f * float(i) + 1.0f);
    DO(cuMemcpyDtoH(&count, blocks, sizeof count));
    EXPECT(count == 2);
    DO(cuMemcpyDtoH(&count, seen, sizeof count));
    EXPECT(count == 8);
    DO(cuMemcpyDtoH(&count, other, sizeof count));
    EXPECT(count == 0);

    RTC(nvrtcGetLoweredName(program, "add<int, 3>", &lowered));
    DO(cuModuleGetFunction(&function, module, lowered));
    int values[32] = {0}, by = 5;
    DO(cuMemcpyHtoD(d, values, sizeof values));
    void *more[] = {&d, &by};
    DO(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, more, nullptr));
    DO(cuMemcpyDtoH(values, d, sizeof values));
    for (int i = 0; i < 32; i++) EXPECT(values[i] == 15);
    RTC(nvrtcDestroyProgram(&program));
    DO(cuModuleUnload(again));
    DO(cuModuleUnload(module));
    EXPECT(cuModuleGetFunction(&function, module, "scale") != CUDA_SUCCESS);

    // What does not compile says why, and in which of its lines.
    RTC(nvrtcCreateProgram(&program, "__global__ void k()\n{\n    missing();\n}\n",
                           "bad.cu", 0, nullptr, nullptr));
    EXPECT(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_ERROR_COMPILATION);
    RTC(nvrtcGetProgramLogSize(program, &bytes));
    char *log = (char *)malloc(bytes);
    RTC(nvrtcGetProgramLog(program, log));
    EXPECT(strstr(log, "bad.cu") && strstr(log, "missing"));
    free(log);
    RTC(nvrtcDestroyProgram(&program));

    DO(cuMemFree(d));
    DO(cuDevicePrimaryCtxRelease(device));
    return pass();
}
