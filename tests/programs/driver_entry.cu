// The driver's functions by their names, in a program that is not linked with it.
#include <cuda.h>
#include <string.h>

#include "check.h"

typedef CUresult error_name(CUresult error, const char **name);
typedef CUresult allocation(CUdeviceptr *pointer, size_t bytes);
typedef CUresult fill(CUdeviceptr pointer, unsigned int value, size_t count);

static void *find(const char *name)
{
    void *function = NULL;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault,
                                           &found));
    EXPECT(found == cudaDriverEntryPointSuccess && function);
    return function;
}

int main()
{
    const char *text;
    EXPECT(((error_name *)find("cuGetErrorName"))(CUDA_ERROR_INVALID_VALUE, &text) ==
           CUDA_SUCCESS);
    EXPECT(strcmp(text, "CUDA_ERROR_INVALID_VALUE") == 0);

    // One memory for both APIs.
    CHECK(cudaSetDevice(0));
    CHECK(cudaFree(0));
    CUdeviceptr pointer;
    int host[4];
    EXPECT(((allocation *)find("cuMemAlloc"))(&pointer, sizeof host) == CUDA_SUCCESS);
    EXPECT(((fill *)find("cuMemsetD32"))(pointer, 42, 4) == CUDA_SUCCESS);
    CHECK(cudaMemcpy(host, (void *)pointer, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++) EXPECT(host[i] == 42);
    CHECK(cudaFree((void *)pointer));

    // No such name; none so old; a version that there is not; flags that mean nothing.
    void *function = host;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, 0, &found));
    EXPECT(found == cudaDriverEntryPointSymbolNotFound && function == NULL);
    CHECK(cudaGetDriverEntryPointByVersion("cuGetErrorName", &function, 1000, 0, &found));
    EXPECT(found == cudaDriverEntryPointVersionNotSufficent && function == NULL);
    EXPECT(cudaGetDriverEntryPointByVersion("cuGetErrorName", &function, 99000, 0,
                                            &found) == cudaErrorInvalidValue);
    EXPECT(cudaGetDriverEntryPointByVersion("cuGetErrorName", &function, 12000, 99,
                                            &found) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    return pass();
}
