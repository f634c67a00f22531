// malloc, free, new and delete in kernels, and beside them on the host.
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "check.h"

__device__ int alive;

struct node {
    int value;
    node *next;
    __host__ __device__ node(int v, node *n) : value(v), next(n)
    {
    }
};

struct counted {
    int id;
    __device__ counted() : id(atomicAdd(&alive, 1))
    {
    }
    __device__ ~counted()
    {
        atomicSub(&alive, 1);
    }
};

__global__ void build(node **heads, int n)
{
    node *head = nullptr;
    for (int i = 0; i < n; i++) head = new node(i * (int)threadIdx.x, head);
    heads[threadIdx.x] = head;
}

/* A later launch finds what an earlier one left. */
__global__ void take_down(node **heads, int *sums)
{
    int sum = 0;
    for (node *x = heads[threadIdx.x]; x;) {
        node *const next = x->next;
        sum += x->value;
        delete x;
        x = next;
    }
    sums[threadIdx.x] = sum;
}

__host__ __device__ int scratch(int n)
{
    int *const space = (int *)malloc(n * sizeof *space);
    for (int i = 0; i < n; i++) space[i] = i * i;
    const int last = space[n - 1];
    free(space);
    return last;
}

__global__ void objects(int *out)
{
    counted *const many = new counted[3];
    out[0] = alive;
    delete[] many;
    out[1] = alive;
    out[2] = scratch(5);
    void *const too_much = malloc((size_t)1 << 40);
    out[3] = too_much == nullptr;
    free(too_much);
}

/* More pieces than the host's system would give mappings for. */
__global__ void take_one(int **pieces)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    pieces[i] = static_cast<int *>(malloc(sizeof **pieces));
    if (pieces[i]) *pieces[i] = i;
}
__global__ void give_back(int **pieces, int *bad)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!pieces[i] || *pieces[i] != i) atomicAdd(bad, 1);
    free(pieces[i]);
}

int main(void)
{
    const int threads = 64, n = 10;
    node **heads;
    int *out;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    CHECK(cudaMalloc(&heads, threads * sizeof *heads));
    CHECK(cudaMallocManaged(&out, threads * sizeof *out));
    build<<<1, threads>>>(heads, n);
    node *first;
    CHECK(cudaMemcpy(&first, heads, sizeof first, cudaMemcpyDeviceToHost));
    EXPECT(cudaFree(first) == cudaErrorInvalidValue && cudaGetLastError() != cudaSuccess);
    take_down<<<1, threads>>>(heads, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < threads; i++) EXPECT(out[i] == i * n * (n - 1) / 2);
    objects<<<1, 1>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == 3 && out[1] == 0 && out[2] == 16 && out[3] == 1);

    const int blocks = 160, each = 256;
    int **pieces;
    CHECK(cudaMalloc(&pieces, blocks * each * sizeof *pieces));
    out[0] = 0;
    take_one<<<blocks, each>>>(pieces);
    give_back<<<blocks, each>>>(pieces, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == 0);
    CHECK(cudaFree(pieces));

    EXPECT(scratch(4) == 9);
    std::vector<std::string> words(100, std::string(50, 'x'));
    std::unique_ptr<node> own(new node(3, nullptr));
    EXPECT(words[99].size() == 50 && own->value == 3);
    bool thrown = false;
    volatile size_t huge = (size_t)1 << 60;
    try {
        std::vector<char> none(huge);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    EXPECT(thrown);
    EXPECT(new (std::nothrow) char[huge] == nullptr);
    CHECK(cudaFree(heads));
    CHECK(cudaFree(out));
    return pass();
}
