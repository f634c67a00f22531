/* Products with few rows or few columns. One matrix is large and every number of it is
 * used a few times only, so reading it is all the time they take. There are no tiles
 * here: every thread keeps several loads of the large matrix in flight, the small one
 * waits in shared memory, and the blocks divide K until there are enough of them.
 *
 *     few rows:      a lane owns 4 columns of C and walks down B
 *     few columns:   a warp owns rows of C, and its lanes walk along rows of A
 *
 * Blocks with different parts of K leave their sums in `parts`. The last one to come adds
 * them up, always in the same order.
 */
#ifndef FP32_THIN_CUH
#define FP32_THIN_CUH

#include "narrow.cuh"
#include "scratch.cuh"

const int THIN_WARPS = 8;
const int THIN_THREADS = 32 * THIN_WARPS;

// What the blocks of one product need to add up their parts.
struct group_sums {
    float *parts; // one part a block
    int *arrived; // for each group of blocks with the same results, how many have come
    int splits;   // blocks in a group
};

// Called by all threads of a block, which is number `split` of its group, with its `size`
// sums in `sums`, in shared memory. Returns true in the last block of the group to come,
// with the group's sums there.
template <int THREADS = THIN_THREADS>
static __device__ bool add_up(const struct group_sums *s, int group, int split, int size,
                              float *sums)
{
    static_assert((THREADS & (THREADS - 1)) == 0, "powers of two, as helpers are");
    __shared__ bool last;
    __shared__ float partial[THREADS];
    if (s->splits == 1)
        return true;
    float *all = &s->parts[(size_t)group * s->splits * size];
    for (int i = threadIdx.x; i < size; i += THREADS)
        all[(size_t)split * size + i] = sums[i];
    // Thread 0 speaks for all of its block: its fence stands between what they have written
    // and its word, the next between the others' words and what is read of theirs.
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0)
        last = atomicAdd(&s->arrived[group], 1) == s->splits - 1;
    __threadfence();
    __syncthreads();
    if (!last)
        return false;
    if (threadIdx.x == 0)
        s->arrived[group] = 0; // ready for the next product
    // Where there are fewer sums than threads, several threads share one: a power of two.
    int helpers = 1;
    while (helpers * 2 * size <= THREADS)
        helpers *= 2;
    const int helper = threadIdx.x % helpers;
    for (int base = 0; base < size; base += THREADS / helpers) {
        const int i = base + threadIdx.x / helpers;
        float sum = 0.0f;
        if (i < size) {
#pragma unroll 8
            for (int part = helper; part < s->splits; part += helpers)
                sum += __ldcg(&all[(size_t)part * size + i]);
        }
        partial[threadIdx.x] = sum;
        for (int half = helpers / 2; half > 0; half /= 2) {
            __syncthreads();
            if (helper < half)
                partial[threadIdx.x] += partial[threadIdx.x + half];
        }
        if (i < size && helper == 0)
            sums[i] = partial[threadIdx.x];
    }
    __syncthreads();
    return true;
}

// Four numbers that are used once: with one load, neighbours, where rows start at
// multiples of 16 bytes (WIDTH 4), else four 32 apart, so that a warp's lanes are
// neighbours each time. `left`: floats from here to the end of the row. __ldcs says that
// they need not stay in the caches.
template <int WIDTH>
static __device__ __forceinline__ void load_once(float *to, const float *from, int left)
{
    if (WIDTH == 4) {
        const float4 v =
            left > 0 ? __ldcs((const float4 *)from) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        to[0] = v.x;
        to[1] = v.y;
        to[2] = v.z;
        to[3] = v.w;
    } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            to[i] = 32 * i < left ? __ldcs(&from[32 * i]) : 0.0f;
    }
}

/* ---- few rows ---- */

// Block (x, y): all of the M <= ROWS rows, COLS columns from x times as many on, part y of
// K: k_share steps. A warp reads 128 floats of B at once, from one row of it or from four
// (COLS 32); float p of these is in row p / COLS and column p % COLS. The WARPS
// take such steps in turn, AHEAD loads before they are needed. A's part waits in shared
// memory, a chunk at a time.
template <int ROWS, int COLS, int WIDTH, int AHEAD, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    few_rows_kernel(int M, int N, int K, int k_share, float alpha, const float *A,
                    const float *B, float beta, float *C, struct group_sums group)
{
    const int STEP = WARPS * 128 / COLS;         // of k, in all warps
    const int TURN = STEP * AHEAD;               // in flight
    const int CHUNK = 4096 / ROWS / TURN * TURN; // of A at a time
    const int ROUND = ROWS < 4 ? ROWS : 4;       // rows that the warps add up at once
    __shared__ __align__(16) float A_part[CHUNK * ROWS]; // [k][row]
    __shared__ float of_warp[WARPS][ROUND][128];
    __shared__ float sums[ROWS * COLS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int col = blockIdx.x * COLS;
    const int k_begin = blockIdx.y * k_share, k_end = min(K, k_begin + k_share);
    // My four floats: neighbours, or 32 apart.
    int p[4];
    const float *b[4]; // where the next of each is
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        p[i] = WIDTH == 4 ? 4 * lane + i : lane + 32 * i;
        b[i] = &B[(size_t)(k_begin + warp * (128 / COLS) + p[i] / COLS) * N + col +
                  p[i] % COLS];
    }
    int k_next = k_begin + warp * (128 / COLS);

    float next[AHEAD][4];
    // Loads slot i of `next`.
    const auto load = [&](float *to) {
        if (WIDTH == 4) {
            const bool inside = k_next + p[0] / COLS < k_end && col + p[0] % COLS < N;
            *(float4 *)to = inside ? __ldcs((const float4 *)b[0])
                                   : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            b[0] += (size_t)STEP * N;
        } else {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const bool inside = k_next + p[i] / COLS < k_end && col + p[i] % COLS < N;
                to[i] = inside ? __ldcs(b[i]) : 0.0f;
                b[i] += (size_t)STEP * N;
            }
        }
        k_next += STEP;
    };
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
        load(next[i]);
    float acc[ROWS][4] = {};
    for (int chunk = k_begin; chunk < k_end; chunk += CHUNK) {
        const int steps = min(CHUNK, k_end - chunk);
        __syncthreads();
        for (int k = threadIdx.x; k < (steps + TURN - 1) / TURN * TURN; k += 32 * WARPS)
#pragma unroll
            for (int m = 0; m < ROWS; ++m) {
                const bool inside = m < M && k < steps;
                A_part[k * ROWS + m] = inside ? A[(size_t)m * K + chunk + k] : 0.0f;
            }
        __syncthreads();
        for (int turn = warp * (128 / COLS); turn < steps; turn += TURN) {
#pragma unroll
            for (int slot = 0; slot < AHEAD; ++slot) {
                float now[4];
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    now[i] = next[slot][i];
                load(next[slot]);
#pragma unroll
                for (int i = 0; i < 4; ++i)
#pragma unroll
                    for (int m = 0; m < ROWS; ++m)
                        acc[m][i] +=
                            A_part[(turn + slot * STEP + p[i] / COLS) * ROWS + m] *
                            now[i];
            }
        }
    }

    // The warps' sums become one, a few rows at a time, always in the same order.
#pragma unroll
    for (int m0 = 0; m0 < ROWS; m0 += ROUND) {
        __syncthreads();
#pragma unroll
        for (int m = 0; m < ROUND; ++m)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                of_warp[warp][m][p[i]] = acc[m0 + m][i];
        __syncthreads();
        for (int i = threadIdx.x; i < ROUND * COLS; i += 32 * WARPS) {
            float sum = 0.0f;
#pragma unroll
            for (int w = 0; w < WARPS; ++w)
#pragma unroll
                for (int k = 0; k < 128 / COLS; ++k)
                    sum += of_warp[w][i / COLS][k * COLS + i % COLS];
            sums[m0 * COLS + i] = sum;
        }
    }
    __syncthreads();
    if (!add_up<32 * WARPS>(&group, blockIdx.x, blockIdx.y, ROWS * COLS, sums))
        return;
    for (int i = threadIdx.x; i < ROWS * COLS; i += 32 * WARPS) {
        const int m = i / COLS, n = col + i % COLS;
        if (m < M && n < N)
            store_sum(&C[(size_t)m * N + n], sums[i], alpha, beta);
    }
}

/* ---- few columns ---- */

const int K_OF_WARP = 128; // 4 a lane

// Block (x, y): WARPS_DOWN * ROWS rows from x times as many on, all of the N <= COLS
// columns, part y of K. Warps that have the same rows take turns along K, AHEAD loads of
// each row before they are needed. B's part waits in shared memory, a chunk at a time.
template <int COLS, int WIDTH, int WARPS_DOWN, int ROWS, int AHEAD>
__global__ void __launch_bounds__(THIN_THREADS)
    few_columns_kernel(int M, int N, int K, int k_share, float alpha, const float *A,
                       const float *B, float beta, float *C, struct group_sums group)
{
    const int STEP = K_OF_WARP * (THIN_WARPS / WARPS_DOWN);
    const int CHUNK = STEP * (WARPS_DOWN == 1 ? AHEAD : 4), B_ROW = CHUNK + 4;
    const int SUMS = ROWS * COLS; // of a warp
    static_assert(CHUNK / STEP % AHEAD == 0, "a chunk is whole turns through `next`");
    __shared__ __align__(16) float B_part[COLS * B_ROW]; // [column][k], padded
    __shared__ float of_warp[THIN_WARPS * SUMS];         // [warp][sum]
    __shared__ float sums[WARPS_DOWN * SUMS];            // [row of the block][column]
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = (blockIdx.x * WARPS_DOWN + warp % WARPS_DOWN) * ROWS;
    const int k_begin = blockIdx.y * k_share, k_end = min(K, k_begin + k_share);
    const int my_k = warp / WARPS_DOWN * K_OF_WARP + (WIDTH == 4 ? 4 * lane : lane);
    const float *a[ROWS];
#pragma unroll
    for (int m = 0; m < ROWS; ++m)
        a[m] = &A[(size_t)min(row + m, M - 1) * K];

    float acc[SUMS] = {};
    float next[AHEAD][ROWS][4], next_b[AHEAD][4]; // next_b: see below
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
        const int k = k_begin + i * STEP + my_k;
#pragma unroll
        for (int m = 0; m < ROWS; ++m)
            load_once<WIDTH>(next[i][m], a[m] + k, k_end - k);
        if (COLS == 1)
            load_once<WIDTH>(next_b[i], B + k, k_end - k);
    }
    for (int chunk = k_begin; chunk < k_end; chunk += CHUNK) {
        // A single column of B lies in memory as it is wanted, and comes like a row of A.
        if (COLS > 1) {
            __syncthreads();
            for (int i = threadIdx.x; i < CHUNK * COLS; i += THIN_THREADS) {
                const int k = i / COLS, n = i % COLS;
                const bool inside = chunk + k < k_end && n < N;
                B_part[n * B_ROW + k] = inside ? B[(size_t)(chunk + k) * N + n] : 0.0f;
            }
            __syncthreads();
        }
#pragma unroll
        for (int step = 0; step < CHUNK; step += STEP) {
            const int slot = step / STEP % AHEAD, k = chunk + step + AHEAD * STEP + my_k;
            float now[ROWS][4];
#pragma unroll
            for (int m = 0; m < ROWS; ++m) {
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    now[m][i] = next[slot][m][i];
                load_once<WIDTH>(next[slot][m], a[m] + k, k_end - k);
            }
#pragma unroll
            for (int n = 0; n < COLS; ++n) {
                const float *from = &B_part[n * B_ROW + step + my_k];
                float v[4];
                if (COLS == 1) {
#pragma unroll
                    for (int i = 0; i < 4; ++i)
                        v[i] = next_b[slot][i];
                    load_once<WIDTH>(next_b[slot], B + k, k_end - k);
                } else if (WIDTH == 4) {
                    *(float4 *)v = *(const float4 *)from;
                } else {
#pragma unroll
                    for (int i = 0; i < 4; ++i)
                        v[i] = from[32 * i];
                }
#pragma unroll
                for (int m = 0; m < ROWS; ++m)
#pragma unroll
                    for (int i = 0; i < 4; ++i)
                        acc[m * COLS + n] += now[m][i] * v[i];
            }
        }
    }

    // The lanes' sums become one. Half of the lanes hand half of their sums to the other
    // half and get as many back, until a lane has one sum of its own: fewer shuffles than
    // adding up every sum by itself.
    int held = SUMS, first = 0; // sums of mine: acc[0 .. held), the first is sum `first`
#pragma unroll
    for (int span = 16; span > 0; span /= 2) {
        if (held > 1) {
            const bool upper = lane & span;
            held /= 2;
#pragma unroll
            for (int i = 0; i < SUMS / 2; ++i)
                if (i < held) {
                    const float give = upper ? acc[i] : acc[i + held];
                    const float keep = upper ? acc[i + held] : acc[i];
                    acc[i] = keep + __shfl_xor_sync(0xffffffffu, give, span);
                }
            first += upper ? held : 0;
        } else {
            acc[0] += __shfl_xor_sync(0xffffffffu, acc[0], span);
        }
    }
    // With fewer than 32 sums several lanes hold the same one: the first writes it.
    if (lane % (SUMS < 32 ? 32 / SUMS : 1) == 0) {
#pragma unroll
        for (int i = 0; i < (SUMS > 32 ? SUMS / 32 : 1); ++i)
            of_warp[warp * SUMS + first + i] = acc[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < WARPS_DOWN * SUMS; i += THIN_THREADS) {
        float sum = 0.0f;
#pragma unroll
        for (int w = 0; w < THIN_WARPS / WARPS_DOWN; ++w)
            sum += of_warp[w * WARPS_DOWN * SUMS + i];
        sums[i] = sum;
    }
    __syncthreads();
    if (!add_up(&group, blockIdx.x, blockIdx.y, WARPS_DOWN * SUMS, sums))
        return;
    for (int i = threadIdx.x; i < WARPS_DOWN * SUMS; i += THIN_THREADS) {
        const int m = blockIdx.x * WARPS_DOWN * ROWS + i / COLS, n = i % COLS;
        if (m < M && n < N)
            store_sum(&C[(size_t)m * N + n], sums[i], alpha, beta);
    }
}

/* ---- the host's side ---- */

// Divides K so that about `blocks` blocks run in `groups` groups, no part shorter than
// `least` steps, all but the last multiples of `unit`. Returns the steps of a part.
static int divide_k(int K, int groups, int blocks, int least, int unit)
{
    const int wanted = (blocks - 1) / groups + 1, most = (K - 1) / least + 1;
    const int splits = wanted < most ? wanted : most;
    return ((K - 1) / splits / unit + 1) * unit;
}

static struct group_sums sums_of(int groups, int splits, int size)
{
    static struct scratch parts, arrived;
    struct group_sums s = {NULL, NULL, splits};
    if (splits > 1) {
        s.parts = scratch(&parts, (size_t)groups * splits * size * sizeof(float));
        s.arrived = (int *)scratch(&arrived, groups * sizeof(int));
    }
    return s;
}

template <int ROWS, int COLS, int WIDTH, int AHEAD, int WARPS>
static void launch_few_rows_of(int blocks, const struct work *w)
{
    const int groups = (w->N - 1) / COLS + 1;
    const int share = divide_k(w->K, groups, blocks, 64, 32);
    const int splits = (w->K - 1) / share + 1;
    few_rows_kernel<ROWS, COLS, WIDTH, AHEAD, WARPS>
        <<<dim3(groups, splits), 32 * WARPS>>>(w->M, w->N, w->K, share, w->alpha, w->A,
                                               w->B, w->beta, w->C,
                                               sums_of(groups, splits, ROWS * COLS));
}

// C = alpha * A * B + beta * C for M <= ROWS.
template <int ROWS, int COLS, int AHEAD, int WARPS = THIN_WARPS>
static void launch_few_rows(int blocks, const struct work *w)
{
    if (w->N % 4 == 0 && (size_t)w->B % 16 == 0)
        launch_few_rows_of<ROWS, COLS, 4, AHEAD, WARPS>(blocks, w);
    else
        launch_few_rows_of<ROWS, COLS, 1, AHEAD, WARPS>(blocks, w);
}

template <int COLS, int WIDTH, int WARPS_DOWN, int ROWS, int AHEAD>
static void launch_few_columns_of(int blocks, const struct work *w)
{
    const int BLOCK_ROWS = ROWS * WARPS_DOWN, SUMS = BLOCK_ROWS * COLS;
    const int groups = (w->M - 1) / BLOCK_ROWS + 1;
    const int share = divide_k(w->K, groups, blocks, 256, K_OF_WARP * THIN_WARPS);
    const int splits = (w->K - 1) / share + 1;
    few_columns_kernel<COLS, WIDTH, WARPS_DOWN, ROWS, AHEAD>
        <<<dim3(groups, splits), THIN_THREADS>>>(w->M, w->N, w->K, share, w->alpha, w->A,
                                                 w->B, w->beta, w->C,
                                                 sums_of(groups, splits, SUMS));
}

// The same for N <= COLS.
template <int COLS, int WARPS_DOWN, int ROWS, int AHEAD>
static void launch_few_columns(int blocks, const struct work *w)
{
    const bool column_too = COLS > 1 || (size_t)w->B % 16 == 0;
    if (w->K % 4 == 0 && (size_t)w->A % 16 == 0 && column_too)
        launch_few_columns_of<COLS, 4, WARPS_DOWN, ROWS, AHEAD>(blocks, w);
    else
        launch_few_columns_of<COLS, 1, WARPS_DOWN, ROWS, AHEAD>(blocks, w);
}

// Products with few rows or columns. Returns whether this is one, and has been launched.
static bool launch_thin(int sms, const struct work *w)
{
    // A row with about as many blocks of 32 columns as there are SMs: with 16 warps a block
    // has 64 KB on their way, more than three blocks of 8 warps have together, so K can stay
    // whole, and nothing is added up. Were there fewer blocks, too many SMs would have none;
    // were there more, some would have two. Loads of single floats did not gain by it.
    const int groups = (w->N - 1) / 32 + 1;
    const bool whole = wide_rows(w) && groups > sms * 3 / 4 && groups <= sms;
    const int blocks = w->N % 4 == 0 ? 3 * sms : 2 * sms;
    typedef narrow_tile<32, 8, 4> widest;
    const bool narrow =
        w->N > 16 && w->N <= 32 && w->M > 1000 && w->K % 4 == 0 && has_room_for<widest>();
    if (narrow || (w->N <= 16 && w->N <= w->M)) {
        if (w->N > 16)
            launch_narrow<widest>(2 * sms, w);
        else if (w->N > 8)
            launch_narrow<narrow_tile<16, 4, 4>>(2 * sms, w);
        else if (w->N > 4)
            launch_few_columns<8, 8, 4, 1>(sms, w);
        else if (w->N > 1)
            launch_few_columns<4, 8, 4, 2>(sms, w);
        else if (w->K % 4 == 0)
            launch_few_columns<1, 1, 2, 4>(2 * sms, w);
        else
            launch_few_columns<1, 8, 2, 2>(sms, w);
    } else if (w->M == 1 && whole) {
        launch_few_rows<1, 32, 8, 16>(1, w);
    } else if (w->M == 1) {
        launch_few_rows<1, 32, 4>(blocks, w);
    } else if (w->M <= 4) {
        launch_few_rows<4, 128, 4>(2 * sms, w);
    } else if (w->M <= 8 && w->N > 64) {
        launch_few_rows<8, 128, 4>(2 * sms, w);
    } else {
        return false;
    }
    return true;
}

#endif
