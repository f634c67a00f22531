// Libraries of kernels, which a program loads while it runs, by the runtime API alone; and
// their kernels in the driver's words.
// BUILD: -lnvrtc -lcuda
#include <cuda.h>
#include <nvrtc.h>
#include <string.h>

#include <vector>

#include "check.h"

static const char source[] = R"(
__constant__ float factor;
__managed__ int launches;

extern "C" __global__ void scale(float *x, int n)
{
    extern __shared__ float tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) x[i] = factor * tile[threadIdx.x];
    if (i == 0) launches++;
}

extern "C" __global__ void add(float *x, float by) { x[threadIdx.x] += by; }
)";

__global__ void own(float *x)
{
    x[threadIdx.x] = threadIdx.x;
}

static std::vector<char> compiled()
{
    nvrtcProgram program;
    size_t bytes;
    EXPECT(nvrtcCreateProgram(&program, source, "scale.cu", 0, nullptr, nullptr) ==
           NVRTC_SUCCESS);
    EXPECT(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_SUCCESS);
    EXPECT(nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS);
    std::vector<char> ptx(bytes);
    EXPECT(nvrtcGetPTX(program, ptx.data()) == NVRTC_SUCCESS);
    EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
    return ptx;
}

int main()
{
    enum { N = 64 };
    const std::vector<char> code = compiled();
    cudaLibrary_t library;
    cudaKernel_t scale, add, all[2];
    unsigned count;
    CHECK(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr,
                              nullptr, 0));
    CHECK(cudaLibraryGetKernelCount(&count, library));
    EXPECT(count == 2);
    CHECK(cudaLibraryGetKernel(&scale, library, "scale"));
    CHECK(cudaLibraryGetKernel(&add, library, "add"));
    CHECK(cudaLibraryEnumerateKernels(all, 2, library));
    EXPECT((all[0] == scale && all[1] == add) || (all[0] == add && all[1] == scale));
    EXPECT(cudaLibraryGetKernel(&scale, library, "none") == cudaErrorSymbolNotFound);
    EXPECT(cudaGetLastError() == cudaErrorSymbolNotFound);

    // Its variables.
    float *factor, three = 3.0f;
    int *launches;
    size_t bytes;
    CHECK(cudaLibraryGetGlobal(&factor, &bytes, library, "factor"));
    EXPECT(bytes == sizeof(float));
    CHECK(cudaMemcpy(factor, &three, sizeof three, cudaMemcpyHostToDevice));
    CHECK(cudaLibraryGetManaged(&launches, &bytes, library, "launches"));
    EXPECT(bytes == sizeof(int));
    EXPECT(cudaLibraryGetManaged(&launches, &bytes, library, "factor") ==
           cudaErrorSymbolNotFound);
    EXPECT(cudaGetLastError() == cudaErrorSymbolNotFound);

    // Launched wherever the address of a kernel may stand.
    float *d_x, x[N];
    int n = N, device = 0, fits;
    CHECK(cudaMalloc(&d_x, sizeof x));
    own<<<1, N>>>(d_x);
    void *arguments[] = {&d_x, &n};
    const size_t shared = 60 << 10;
    CHECK(cudaKernelSetAttributeForDevice(
        scale, cudaFuncAttributeMaxDynamicSharedMemorySize, shared, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, (const void *)scale, 32,
                                                        shared));
    EXPECT(fits > 0);
    CHECK(cudaLaunchKernel((const void *)scale, dim3(2), dim3(32), arguments, shared, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = N;
    CHECK(cudaLaunchKernelEx(&config, add, d_x, 0.5f));
    CHECK(cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) EXPECT(x[i] == 3.0f * i + 0.5f);
    EXPECT(*launches == 1);

    // The program's own kernels have such handles, too.
    cudaKernel_t mine;
    CHECK(cudaGetKernel(&mine, own));
    config.blockDim = N;
    CHECK(cudaLaunchKernelEx(&config, mine, d_x));

    // To the driver it is the same library.
    CUlibrary of_add;
    CUfunction function;
    CUmodule module, of_function;
    const char *name;
    int value;
    EXPECT(cuKernelGetLibrary(&of_add, add) == CUDA_SUCCESS && of_add == library);
    EXPECT(cuKernelGetName(&name, add) == CUDA_SUCCESS && strcmp(name, "add") == 0);
    EXPECT(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                scale, device) == CUDA_SUCCESS);
    EXPECT(value == (int)shared);
    EXPECT(cuKernelGetFunction(&function, add) == CUDA_SUCCESS);
    EXPECT(cuLibraryGetModule(&module, library) == CUDA_SUCCESS);
    EXPECT(cuFuncGetModule(&of_function, function) == CUDA_SUCCESS);
    EXPECT(module == of_function);
    float one = 1.0f;
    void *by_one[] = {&d_x, &one};
    EXPECT(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, nullptr, by_one, nullptr) ==
           CUDA_SUCCESS);
    EXPECT(cuLaunchKernel((CUfunction)add, 1, 1, 1, N, 1, 1, 0, nullptr, by_one,
                          nullptr) == CUDA_SUCCESS);
    CHECK(cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) EXPECT(x[i] == i + 2.0f);
    CHECK(cudaFree(d_x));

    CHECK(cudaLibraryUnload(library));
    EXPECT(cudaLibraryGetKernel(&add, library, "add") == cudaErrorInvalidResourceHandle);
    EXPECT(cudaLibraryLoadFromFile(&library, "no/such/file", nullptr, nullptr, 0, nullptr,
                                   nullptr, 0) == cudaErrorFileNotFound);
    EXPECT(cudaGetLastError() == cudaErrorFileNotFound);
    return pass();
}
