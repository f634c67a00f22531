// The same launch again and again, as a program does that measures time. The emulator does
// not run those that would change nothing; so each pair here has something between them, or
// in the kernel, that changes the second one's results.
// BUILD: -lcublas
#include <cublas_v2.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"

const int N = 1024;

__constant__ int constant = 1;
__device__ int variable[2] = {1, 0};
__managed__ int managed = 1;
static int *in, *out, host[N];

__global__ void add(const int *from, int *to, int more)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + more + constant + variable[0];
}

static int launch_add()
{
    add<<<N / 256, 256>>>(in, out, 1);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    return host[N - 1];
}

__global__ void set(int *to, int value)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void set_variable(int value)
{
    variable[0] = value;
}

static void what_the_kernel_reads()
{
    EXPECT(launch_add() == 10 + 3);
    EXPECT(launch_add() == 10 + 3);
    const int twenty = 20, two = 2;
    CHECK(cudaMemcpy(&in[N - 1], &twenty, sizeof twenty, cudaMemcpyHostToDevice));
    EXPECT(launch_add() == 20 + 3);
    set<<<N / 256, 256>>>(in, 30);
    EXPECT(launch_add() == 30 + 3);
    CHECK(cudaMemset(in, 0, N * sizeof *in));
    EXPECT(launch_add() == 3);
    CHECK(cudaMemcpyToSymbol(constant, &two, sizeof two));
    EXPECT(launch_add() == 4);
    CHECK(cudaMemcpyToSymbol(variable, &two, sizeof two));
    EXPECT(launch_add() == 5);
    set_variable<<<1, 1>>>(7);
    EXPECT(launch_add() == 10);
    int *address;
    CHECK(cudaGetSymbolAddress((void **)&address, variable));
    CHECK(cudaMemset(address, 0, sizeof *address));
    EXPECT(launch_add() == 3);
}

static void what_it_has_stored()
{
    CHECK(cudaMemset(out, 0, N * sizeof *out));
    EXPECT(launch_add() == 3);
    set<<<N / 256, 256>>>(out, 99);
    EXPECT(launch_add() == 3);
    // Freed, and most likely given again at the same addresses.
    for (int value = 5; value < 8; ++value) {
        CHECK(cudaFree(in));
        CHECK(cudaMalloc(&in, N * sizeof *in));
        set<<<N / 256, 256>>>(in, value);
        EXPECT(launch_add() == value + 3);
    }
    for (int value = 0; value < 3; ++value) {
        CHECK(cudaFree(out));
        CHECK(cudaMalloc(&out, N * sizeof *out));
        EXPECT(launch_add() == 10);
    }
}

struct two {
    char first;
    int second;
};
__global__ void store(int *to, struct two t)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = t.first + t.second;
}

static void what_it_is_launched_with()
{
    for (int first = 1; first <= 2; ++first)
        for (int second = 10; second <= 20; second += 10) {
            store<<<1, 1>>>(out, two{(char)first, second});
            CHECK(cudaMemcpy(host, out, sizeof *host, cudaMemcpyDeviceToHost));
            EXPECT(host[0] == first + second);
        }
    // Twice as many threads or blocks at a time.
    CHECK(cudaMemset(out, 0, N * sizeof *out));
    for (int count = 64; count <= N; count *= 2) {
        const int threads = count < 256 ? count : 256, blocks = count / threads;
        set<<<blocks, threads>>>(out, 1);
        CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        int sum = 0;
        for (int number : host) sum += number;
        EXPECT(sum == count);
    }
}

__global__ void increase(int *numbers)
{
    numbers[threadIdx.x] += 1;
}
__global__ void increase_atomically(int *numbers)
{
    atomicAdd(numbers, 1);
}
__global__ void increase_variable(int *now)
{
    variable[1] += 1;
    *now = variable[1];
}
__global__ void shift(const int *from, int *to)
{
    to[1 + threadIdx.x] = from[threadIdx.x] + 1; // two parts of one array
}

static void what_reads_its_own_results()
{
    CHECK(cudaMemset(out, 0, N * sizeof *out));
    for (int i = 0; i < 5; ++i) increase<<<1, 32>>>(out);
    for (int i = 0; i < 5; ++i) increase_atomically<<<1, 32>>>(&out[1]);
    for (int i = 0; i < 5; ++i) increase_variable<<<1, 1>>>(&out[100]);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 5 && host[1] == 5 + 5 * 32 && host[100] == 5);
    CHECK(cudaMemset(out, 0, N * sizeof *out));
    for (int i = 0; i < 5; ++i) {
        shift<<<1, 1>>>(out, out);
        shift<<<1, 1>>>(out + 1, out + 1);
        shift<<<1, 1>>>(out + 1, out - 1);
    }
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 10 && host[1] == 9 && host[2] == 10);
}

__global__ void copy(const volatile int *from, int *to)
{
    *to = *from;
}
__global__ void copy_managed(int *to)
{
    *to = managed;
}

static void what_the_host_changes()
{
    int *shared, *pinned;
    CHECK(cudaMallocManaged(&shared, sizeof *shared));
    CHECK(cudaMallocHost(&pinned, sizeof *pinned));
    for (int i = 0; i < 3; ++i) {
        managed = *shared = *pinned = i;
        copy<<<1, 1>>>(shared, out);
        copy<<<1, 1>>>(pinned, out + 1);
        copy_managed<<<1, 1>>>(out + 2);
        CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        EXPECT(host[0] == i && host[1] == i && host[2] == i);
    }
    for (int i = 0; i < 3; ++i) {
        *shared = *pinned = -1;
        copy<<<1, 1>>>(in, shared);
        copy<<<1, 1>>>(in, pinned);
        CHECK(cudaDeviceSynchronize());
        EXPECT(*shared == 7 && *pinned == 7);
    }
    CHECK(cudaFree(shared));
    CHECK(cudaFreeHost(pinned));
}

__global__ void copy_asynchronously(const int *from, int *to)
{
    __shared__ int word;
    __pipeline_memcpy_async(&word, from, sizeof word);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    *to = word;
}

__global__ void fetch(cudaTextureObject_t from, int *to)
{
    *to = tex1Dfetch<int>(from, 0);
}

static cudaTextureObject_t texture_at(int *elements)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = elements;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = 256;
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    return texture;
}

__global__ void increase_fetched(cudaTextureObject_t from, int *to)
{
    *to = tex1Dfetch<int>(from, 0) + 1;
}

static int fetched(cudaTextureObject_t texture)
{
    fetch<<<1, 1>>>(texture, out + 1);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    return host[1];
}

static void what_is_read_otherwise()
{
    for (int i = 0; i < 3; ++i) {
        set<<<N / 256, 256>>>(in, i);
        copy_asynchronously<<<1, 1>>>(in, out);
        CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        EXPECT(host[0] == i);
    }
    cudaTextureObject_t texture = texture_at(in);
    for (int i = 0; i < 3; ++i) {
        set<<<N / 256, 256>>>(in, i);
        EXPECT(fetched(texture) == i);
    }
    // Another texture, most likely by the same number.
    set<<<1, 64>>>(in + 256, 77);
    EXPECT(fetched(texture) == 2);
    CHECK(cudaDestroyTextureObject(texture));
    texture = texture_at(in + 256);
    EXPECT(fetched(texture) == 77);
    for (int i = 0; i < 3; ++i) increase_fetched<<<1, 1>>>(texture, in + 256);
    EXPECT(fetched(texture) == 80);
    CHECK(cudaDestroyTextureObject(texture));
}

__global__ void copy_floats(const float *from, float *to)
{
    to[threadIdx.x] = from[threadIdx.x];
}

// Each of these changes what the kernel reads, some in steps.
static void what_a_library_stores()
{
    const float two = 2.0f, ones[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    float *x, *y, result[4];
    cublasHandle_t cublas;
    CHECK(cudaMalloc(&x, sizeof ones));
    CHECK(cudaMalloc(&y, sizeof ones));
    CHECK(cudaMemcpy(x, ones, sizeof ones, cudaMemcpyHostToDevice));
    EXPECT(cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS);
    const auto copied = [&] {
        copy_floats<<<1, 4>>>(x, y);
        CHECK(cudaMemcpy(result, y, sizeof result, cudaMemcpyDeviceToHost));
        return result[0] + 10.0f * result[2];
    };
    EXPECT(copied() == 11.0f);
    EXPECT(cublasSscal(cublas, 2, &two, x, 2) == CUBLAS_STATUS_SUCCESS);
    EXPECT(copied() == 22.0f);
    EXPECT(cublasSaxpy(cublas, 1, &two, x + 1, 1, x, 3) == CUBLAS_STATUS_SUCCESS);
    EXPECT(copied() == 24.0f);
    EXPECT(cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_DEVICE) ==
           CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasSdot(cublas, 2, x + 1, 2, x + 1, 2, x) == CUBLAS_STATUS_SUCCESS);
    EXPECT(copied() == 22.0f);
    EXPECT(cublasDestroy(cublas) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

__global__ void draw(cudaSurfaceObject_t to, int value)
{
    surf2Dwrite(value, to, 0, 0);
}
__global__ void increase_drawn(cudaSurfaceObject_t in_place)
{
    surf2Dwrite(surf2Dread<int>(in_place, 0, 0) + 1, in_place, 0, 0);
}
__global__ void fetch_2d(cudaTextureObject_t from, int *to)
{
    *to = tex2D<int>(from, 0.5f, 0.5f);
}

static void what_is_stored_otherwise()
{
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    CHECK(cudaMallocArray(&resource.res.array.array, &ints, 32, 32,
                          cudaArraySurfaceLoadStore));
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    cudaSurfaceObject_t surface;
    cudaTextureObject_t texture;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    for (int i = 0; i < 4; ++i) {
        draw<<<1, 1>>>(surface, i % 2);
        fetch_2d<<<1, 1>>>(texture, out);
        CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        EXPECT(host[0] == i % 2);
    }
    for (int i = 0; i < 3; ++i) increase_drawn<<<1, 1>>>(surface);
    fetch_2d<<<1, 1>>>(texture, out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 4);
    for (int i = 5; i < 8; ++i) {
        CHECK(cudaMemcpy2DToArray(resource.res.array.array, 0, 0, &i, sizeof i, sizeof i,
                                  1, cudaMemcpyHostToDevice));
        fetch_2d<<<1, 1>>>(texture, out);
        CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        EXPECT(host[0] == i);
    }
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(resource.res.array.array));
}

__global__ void allocate(int **to)
{
    *to = (int *)malloc(sizeof(int));
}
__global__ void release(int **from)
{
    free(*from);
}
__global__ void print()
{
    printf("again\n");
}

static void what_does_more_than_store()
{
    int **addresses, *first[2];
    CHECK(cudaMalloc(&addresses, sizeof first));
    for (int i = 0; i < 2; ++i) {
        allocate<<<1, 1>>>(addresses);
        CHECK(cudaMemcpy(&first[i], addresses, sizeof *first, cudaMemcpyDeviceToHost));
    }
    EXPECT(first[0] != first[1]);
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMemcpy(addresses, &first[i], sizeof *first, cudaMemcpyHostToDevice));
        release<<<1, 1>>>(addresses);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(addresses));

    // How often it prints: into a file, and counted there.
    fflush(stdout);
    FILE *const file = tmpfile();
    const int terminal = dup(1);
    EXPECT(file && dup2(fileno(file), 1) == 1);
    for (int i = 0; i < 3; ++i) print<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    fflush(stdout);
    EXPECT(dup2(terminal, 1) == 1);
    close(terminal);
    int lines = 0;
    rewind(file);
    for (int c = getc(file); c != EOF; c = getc(file)) lines += c == '\n';
    fclose(file);
    EXPECT(lines == 3);
}

static void what_a_graph_launches()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<N / 256, 256, 0, stream>>>(in, out, 1);
    increase<<<1, 1, 0, stream>>>(in);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaMemset(in, 0, N * sizeof *in));
    for (int i = 0; i < 4; ++i) {
        CHECK(cudaGraphLaunch(ready, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        EXPECT(host[0] == i + 3);
    }
    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
}

// Two kernels in turns, so often that nobody would wait for it if each one ran.
static void what_changes_nothing()
{
    for (int i = 0; i < 100000; ++i) {
        set<<<N / 256, 256>>>(in, 40);
        add<<<N / 256, 256>>>(in, out, 1);
    }
    EXPECT(launch_add() == 43);
    CHECK(cudaMemset(in, 0, N * sizeof *in));
    EXPECT(launch_add() == 3);
}

int main()
{
    for (int &number : host) number = 10;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    what_the_kernel_reads();
    what_it_has_stored();
    what_it_is_launched_with();
    what_reads_its_own_results();
    what_the_host_changes();
    what_is_read_otherwise();
    what_a_library_stores();
    what_is_stored_otherwise();
    what_does_more_than_store();
    what_changes_nothing();
    what_a_graph_launches();
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
