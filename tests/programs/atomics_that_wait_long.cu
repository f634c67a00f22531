// Loops of nothing but an atomic, which run so long that they are watched: each changes
// what the next one finds.
#include <cstdio>

__device__ unsigned up, down = 8000001;

__global__ void count_up(unsigned most)
{
    while (atomicInc(&up, 0xffffffffu) < most) continue;
}

__global__ void count_down(void)
{
    while (atomicDec(&down, 0xffffffffu) > 1) continue;
}

__global__ void swap_until(unsigned *word, unsigned most)
{
    for (unsigned old = 0; old < most; old = *word)
        while (atomicCAS(word, old, old + 1) != old) continue;
}

// The last thing that this thread does with memory of the heap is an atomic.
__global__ void free_often(int *sum)
{
    for (int i = 0; i < 200000; i++) {
        int *p = (int *)malloc(sizeof *p);
        *p = i;
        atomicCAS(p, i + 1, 0);
        *sum += *p == i;
        free(p);
    }
}

int main(void)
{
    unsigned *word, ups, downs, words;
    int *sum, sums;
    cudaMalloc(&word, sizeof *word);
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(word, 0, sizeof *word);
    cudaMemset(sum, 0, sizeof *sum);
    count_up<<<1, 1>>>(8000000);
    count_down<<<1, 1>>>();
    swap_until<<<1, 1>>>(word, 3000000);
    free_often<<<1, 1>>>(sum);
    cudaMemcpyFromSymbol(&ups, up, sizeof ups);
    cudaMemcpyFromSymbol(&downs, down, sizeof downs);
    cudaMemcpy(&words, word, sizeof words, cudaMemcpyDeviceToHost);
    cudaMemcpy(&sums, sum, sizeof sums, cudaMemcpyDeviceToHost);
    cudaFree(word);
    cudaFree(sum);
    if (ups != 8000001 || downs != 0 || words != 3000000 || sums != 200000) {
        printf("%u %u %u %d\n", ups, downs, words, sums);
        return 1;
    }
    puts("PASS");
    return 0;
}
