/* Chapter 11's tuner with a planned clock, for machines where a real one says nothing. Candidate i takes the time that is
 * written below; the fastest of all is wrong. tests/test_tune.py reads what this prints, and the winners.txt that it changes. */
#include "common.h"

static double planned_time(const struct problem *p, int i);
/* Nobody calls a launcher here: it only says which candidate is meant. */
#define time_launch(watch, p, launch) planned_time(p, (int)(size_t)(launch) - 1)
#include "tune.c"

const struct winner WINNERS[] = {{.gpu = "any"}};
const int WINNER_COUNT = 1;

enum { CANDIDATES = 40, FASTEST_AND_WRONG = 7 };
static int calls[CANDIDATES], call_count, last = -1, twice_in_a_row;

static double planned_time(const struct problem *p, int i)
{
    float *c = calloc((size_t)p->M * p->N, sizeof *c);
    for (int row = 0; row < p->M; row++)
        for (int col = 0; col < p->N; col++)
            for (int k = 0; k < p->K; k++)
                c[row * p->N + col] += p->A[row * p->K + k] * p->B[k * p->N + col];
    if (i == FASTEST_AND_WRONG) c[0] += 1.0f;
    CUDA_CHECK(
        cudaMemcpy(p->dC.data, c, sizeof *c * p->M * p->N, cudaMemcpyHostToDevice));
    free(c);

    calls[i]++;
    call_count++;
    twice_in_a_row += i == last;
    last = i;
    /* The machine gets slower as it gets warm, by more than neighbours differ: 8 is the fastest that is right, then 6. */
    const double own =
        1.0 + 0.01 * abs(i - FASTEST_AND_WRONG) + (i < FASTEST_AND_WRONG ? 0.002 : 0.0);
    return own * (1.0 + 0.001 * (call_count < 100 ? call_count : 100));
}

int main(void)
{
    static struct candidate list[CANDIDATES];
    static struct winner kernels[CANDIDATES];
    const struct chapter chapter = {.number = 11, .title = "test"};
    const struct cudaDeviceProp gpu = {.name = "Test GPU"};
    for (int i = 0; i < CANDIDATES; i++) {
        snprintf(list[i].name, sizeof list[i].name, "candidate %d", i);
        list[i].config.BM = i;
        kernels[i].wide = kernels[i].narrow = (matmul_launcher *)(size_t)(i + 1);
        list[i].kernels = &kernels[i];
        list[i].times = malloc(MOST_RUNS * sizeof *list[i].times);
    }
    const int code = tune_shape(&chapter, &gpu, 8, 9, 10, list, CANDIDATES, NULL);
    int most = 0, least = MOST_RUNS;
    for (int i = 0; i < CANDIDATES; i++) {
        most = calls[i] > most ? calls[i] : most;
        least = calls[i] < least ? calls[i] : least;
    }
    printf("code %d, most %d, least %d, twice in a row %d\n", code, most, least,
           twice_in_a_row);
    return 0;
}
