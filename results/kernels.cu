// Which kernel does chapter 17 give to which product? Lines for results/kernels.csv (make
// kernels): its plans are asked, in the order in which launch() does, with beta = 0, and
// nothing is multiplied. Rows of all matrices begin at multiples of 16 bytes where K =
// 1,024, as far as N allows; where K = 1,023 each side is one shorter, and rows begin
// anywhere.
#define main main_of_chapter
#include "matmul.cu"
#undef main

static const char *kernel_of(int M, int N, int K)
{
    // Of a matrix the plans only ask where it lies.
    const __nv_bfloat16 *const aligned = (const __nv_bfloat16 *)4096;
    const bool engine = engine_can(aligned, N * sizeof *aligned);
    const size_t A_stride = stride_of(aligned, K * sizeof *aligned);
    const size_t B_stride = stride_of(aligned, N * sizeof *aligned);
    struct split_k_plan split;
    if (plan_split_k(M, N, K, aligned, aligned, aligned, &split))
        return split.w.blocks > 1 ? "split_k divided" : "split_k";
    if (is_thin(M, N, K, engine)) return "thin";
    struct plan plan;
    const struct kind *kind =
        &kinds[best_kind(M, N, K, A_stride, B_stride, engine, &plan)];
    static char name[32];
    snprintf(name, sizeof name, "%s%s", kind->name, kind->turned ? " turned" : "");
    return name;
}

int main(void)
{
    // Powers of two, and from 16 on what lies halfway between them.
    int sides[32], count = 0;
    for (int side = 1; side <= 16384; side *= 2) {
        sides[count++] = side;
        if (side >= 16 && side < 16384) sides[count++] = side / 2 * 3;
    }
    printf("K,M,N,kernel\n");
    for (int shorter = 0; shorter <= 1; ++shorter)
        for (int i = 0; i < count; ++i)
            for (int j = 0; j < count; ++j) {
                const int M = sides[i] > 2 ? sides[i] - shorter : sides[i];
                const int N = sides[j] > 2 ? sides[j] - shorter : sides[j];
                const int K = 1024 - shorter;
                printf("%d,%d,%d,%s\n", K, M, N, kernel_of(M, N, K));
            }
    return fflush(stdout) ? 3 : 0;
}
