// CUB: among the threads of a block and of a warp, and over whole arrays.
// BUILD: -arch=sm_80
#include <cub/cub.cuh>

#include "check.h"

enum { THREADS = 96, EACH = 3, N = THREADS * EACH };

struct Larger {
    template <class T> __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};
struct Even {
    __host__ __device__ bool operator()(int x) const
    {
        return x % 2 == 0;
    }
};
struct Twice {
    __host__ __device__ int operator()(int x) const
    {
        return 2 * x;
    }
};
struct Point {
    double x, y, z;
    __host__ __device__ Point operator+(const Point &other) const
    {
        return Point{x + other.x, y + other.y, z + other.z};
    }
};
struct Sum {
    template <class T> __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a + b;
    }
};

/* What comes before a block's elements, when the blocks' totals follow each other. */
struct Running {
    int before;
    __device__ int operator()(int total)
    {
        const int mine = before;
        before += total;
        return mine;
    }
};

__global__ void reduce_block(const int *in, int *out, Point *points)
{
    typedef cub::BlockReduce<int, THREADS / 4, cub::BLOCK_REDUCE_RAKING, 2, 2> Ints;
    using Points = cub::BlockReduce<Point, THREADS / 4, cub::BLOCK_REDUCE_RAKING, 2, 2>;
    __shared__ union {
        typename Ints::TempStorage ints;
        Points::TempStorage points;
    } room;
    const int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int sum = Ints(room.ints).Sum(in[i]);
    __syncthreads();
    const int largest = Ints(room.ints).Reduce(in[i], Larger());
    __syncthreads();
    const int ten = Ints(room.ints).Sum(in[i], 10);
    __syncthreads();
    int several[EACH];
    for (int k = 0; k < EACH; k++) several[k] = in[i * EACH + k];
    const int all = Ints(room.ints).Sum(several);
    __syncthreads();
    const double x = in[i];
    const Point p = Points(room.points).Reduce(Point{x, 2.0 * x, 1.0}, Sum());
    if (i == 0) {
        out[0] = sum;
        out[1] = largest;
        out[2] = ten;
        out[3] = all;
        *points = p;
    }
}

__global__ void scan_block(const int *in, int *out)
{
    typedef cub::BlockScan<int, THREADS> Scan;
    __shared__ Scan::TempStorage room;
    const int i = threadIdx.x;
    int total, y, several[EACH], sums[EACH];
    Scan(room).InclusiveSum(in[i], y);
    out[i] = y;
    __syncthreads();
    Scan(room).ExclusiveSum(in[i], y, total);
    out[THREADS + i] = y + 1000 * total;
    __syncthreads();
    Scan(room).ExclusiveScan(in[i], y, -5, Larger());
    out[2 * THREADS + i] = y;
    __syncthreads();
    for (int k = 0; k < EACH; k++) several[k] = in[EACH * i + k];
    Scan(room).ExclusiveSum(several, sums);
    for (int k = 0; k < EACH; k++) out[3 * THREADS + EACH * i + k] = sums[k];
    __syncthreads();
    Running running = {7};
    for (int k = 0; k < EACH; k++) {
        Scan(room).InclusiveSum(in[k * THREADS + i], y, running);
        __syncthreads();
        out[6 * THREADS + k * THREADS + i] = y;
    }
}

__global__ void scan_warp(const int *in, int *out)
{
    typedef cub::WarpReduce<int> Reduce;
    typedef cub::WarpScan<int, 8> Scan;
    __shared__ Reduce::TempStorage reduce[2];
    __shared__ typename Scan::TempStorage scan[8];
    const int i = threadIdx.x;
    const int sum = Reduce(reduce[i / 32]).Sum(in[i]);
    const int five = Reduce(reduce[i / 32]).Reduce(in[i], Larger(), 5);
    if (i % 32 == 0) {
        out[i / 32] = sum;
        out[2 + i / 32] = five;
    }
    int y, total;
    Scan(scan[i / 8]).ExclusiveSum(in[i], y, total);
    out[4 + i] = y + 1000 * total;
}

/* Loads three neighbours each, sorts all, and stores them. */
template <class Key> __global__ void sort_block(const Key *in, Key *out, int *order)
{
    typedef cub::BlockLoad<Key, THREADS, EACH, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<Key, THREADS, EACH, cub::BLOCK_STORE_STRIPED> Store;
    typedef cub::BlockRadixSort<Key, THREADS, EACH, int> Sort;
    typedef cub::BlockExchange<Key, THREADS, EACH> Exchange;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
        typename Exchange::TempStorage exchange;
    } room;
    Key keys[EACH];
    int from[EACH];
    Load(room.load).Load(in, keys);
    for (int k = 0; k < EACH; k++) from[k] = EACH * threadIdx.x + k;
    __syncthreads();
    Sort(room.sort).SortDescending(keys, from);
    for (int k = 0; k < EACH; k++) order[EACH * threadIdx.x + k] = from[k];
    __syncthreads();
    Exchange(room.exchange).BlockedToStriped(keys, keys);
    __syncthreads();
    Store(room.store).Store(out, keys, N - 1);
}

/* The last digits of all, and of those once more. */
__global__ void count_digits(const int *in, unsigned *out)
{
    typedef cub::BlockHistogram<unsigned char, THREADS, EACH, 10, cub::BLOCK_HISTO_ATOMIC>
        Histogram;
    __shared__ typename Histogram::TempStorage room;
    __shared__ unsigned counts[10];
    unsigned char digits[EACH];
    for (int k = 0; k < EACH; k++)
        digits[k] = (unsigned char)(abs(in[EACH * threadIdx.x + k]) % 10);
    Histogram(room).Histogram(digits, counts);
    __syncthreads();
    Histogram(room).Composite(digits, counts);
    __syncthreads();
    if (threadIdx.x < 10) out[threadIdx.x] = counts[threadIdx.x];
}

/* An algorithm is called twice: for the room that it takes, and to run. */
#define RUN(call, ...)                                                                   \
    do {                                                                                 \
        size_t bytes_ = 0;                                                               \
        void *room_ = NULL;                                                              \
        CHECK(call(room_, bytes_, __VA_ARGS__));                                         \
        EXPECT(bytes_ > 0);                                                              \
        CHECK(cudaMalloc(&room_, bytes_));                                               \
        CHECK(call(room_, bytes_, __VA_ARGS__));                                         \
        CHECK(cudaDeviceSynchronize());                                                  \
        CHECK(cudaFree(room_));                                                          \
    } while (0)

template <class T> static T *room_for(int n)
{
    T *memory;
    CHECK(cudaMallocManaged(&memory, (size_t)n * sizeof *memory));
    for (int i = 0; i < n; i++) memory[i] = T();
    return memory;
}

/* By the last digit only, and larger ones first. */
struct ByDigit {
    __host__ __device__ bool operator()(int a, int b) const
    {
        return abs(a) % 10 > abs(b) % 10;
    }
};

static bool in_order(const int *from, const int *keys, const int *order)
{
    for (int i = 0; i < N; i++) {
        if (keys[i] != from[order[i]]) return false;
        if (i && ByDigit()(keys[i], keys[i - 1])) return false;
        /* Those that are alike stay as they were. */
        if (i && !ByDigit()(keys[i - 1], keys[i]) && order[i - 1] > order[i])
            return false;
    }
    return true;
}

static void by_comparison(const int *in)
{
    int *keys = room_for<int>(N), *values = room_for<int>(N), *stable = room_for<int>(N);
    for (int i = 0; i < N; i++) {
        keys[i] = in[i];
        values[i] = i;
    }
    RUN(cub::DeviceMergeSort::StableSortPairs, keys, values, (int)N, ByDigit());
    EXPECT(in_order(in, keys, values));
    for (int i = 0; i < N; i++) stable[i] = in[i];
    RUN(cub::DeviceMergeSort::StableSortKeys, stable, (int)N, ByDigit());
    for (int i = 0; i < N; i++) EXPECT(stable[i] == keys[i]);
    RUN(cub::DeviceMergeSort::SortKeysCopy, in, stable, (int)N, cuda::std::less<int>());
    for (int i = 1; i < N; i++) EXPECT(stable[i - 1] <= stable[i]);
    RUN(cub::DeviceMergeSort::SortKeys, keys, (int)N, cuda::std::less<int>());
    for (int i = 0; i < N; i++) EXPECT(stable[i] == keys[i]);
    for (int i = 0; i < N; i++) values[i] = -keys[i];
    RUN(cub::DeviceMergeSort::SortPairs, values, keys, (int)N, cuda::std::less<int>());
    for (int i = 0; i < N; i++) EXPECT(values[i] == -stable[N - 1 - i]);
    for (int i = 0; i < N; i++) EXPECT(keys[i] == -values[i]);
    CHECK(cudaFree(keys));
    CHECK(cudaFree(values));
    CHECK(cudaFree(stable));
}

static void in_segments(const int *in)
{
    enum { SEGMENTS = 4 };
    int *sorted = room_for<int>(N), *values = room_for<int>(N), *order = room_for<int>(N),
        *borders = room_for<int>(SEGMENTS + 1);
    const int places[SEGMENTS + 1] = {0, 7, 7, 30, N}; // one of them is empty
    for (int i = 0; i <= SEGMENTS; i++) borders[i] = places[i];
    for (int i = 0; i < N; i++) values[i] = i;
    for (int down = 0; down < 2; down++) {
        if (down)
            RUN(cub::DeviceSegmentedRadixSort::SortPairsDescending, in, sorted, values,
                order, (int)N, (int)SEGMENTS, borders, borders + 1);
        else
            RUN(cub::DeviceSegmentedRadixSort::SortPairs, in, sorted, values, order,
                (int)N, (int)SEGMENTS, borders, borders + 1);
        for (int s = 0; s < SEGMENTS; s++)
            for (int i = places[s]; i < places[s + 1]; i++) {
                EXPECT(order[i] >= places[s] && order[i] < places[s + 1]);
                EXPECT(sorted[i] == in[order[i]]);
                if (i == places[s]) continue;
                EXPECT(down ? sorted[i - 1] >= sorted[i] : sorted[i - 1] <= sorted[i]);
                EXPECT(sorted[i - 1] != sorted[i] || order[i - 1] < order[i]);
            }
    }
    RUN(cub::DeviceSegmentedRadixSort::SortKeysDescending, in, order, (int)N,
        (int)SEGMENTS, borders, borders + 1);
    for (int i = 0; i < N; i++) EXPECT(order[i] == sorted[i]);
    cub::DoubleBuffer<int> buffers(sorted, values);
    RUN(cub::DeviceSegmentedRadixSort::SortKeys, buffers, (int)N, (int)SEGMENTS, borders,
        borders + 1);
    for (int s = 0; s < SEGMENTS; s++)
        for (int i = places[s] + 1; i < places[s + 1]; i++)
            EXPECT(buffers.Current()[i - 1] <= buffers.Current()[i]);
    CHECK(cudaFree(sorted));
    CHECK(cudaFree(values));
    CHECK(cudaFree(order));
    CHECK(cudaFree(borders));
}

static void whole_arrays(const int *in)
{
    int *out = room_for<int>(N), *count = room_for<int>(1), *values = room_for<int>(N),
        *order = room_for<int>(N);
    float *keys = room_for<float>(N), *sorted = room_for<float>(N);
    int sum = 0, largest = in[0], even = 0, runs = 1;
    for (int i = 0; i < N; i++) {
        sum += in[i];
        largest = Larger()(largest, in[i]);
        even += in[i] % 2 == 0;
        runs += i && in[i] != in[i - 1];
        keys[i] = noise((unsigned)i);
        values[i] = i;
    }
    RUN(cub::DeviceReduce::Sum, in, out, (int)N);
    EXPECT(out[0] == sum);
    RUN(cub::DeviceReduce::Max, in, out, (int)N);
    EXPECT(out[0] == largest);
    RUN(cub::DeviceReduce::Min, keys, sorted, (int)N);
    for (int i = 0; i < N; i++) EXPECT(sorted[0] <= keys[i]);
    RUN(cub::DeviceReduce::Reduce, in, out, (int)N, Larger(), 12345);
    EXPECT(out[0] == 12345);
    RUN(cub::DeviceScan::InclusiveSum, in, out, (int)N);
    EXPECT(out[0] == in[0] && out[N - 1] == sum);
    RUN(cub::DeviceScan::ExclusiveSum, in, out, (int)N);
    EXPECT(out[0] == 0 && out[N - 1] == sum - in[N - 1]);
    RUN(cub::DeviceScan::ExclusiveScan, in, out, Larger(), -9, (int)N);
    EXPECT(out[0] == -9 && out[1] == Larger()(-9, in[0]));
    RUN(cub::DeviceSelect::If, in, out, count, (int)N, Even());
    EXPECT(*count == even);
    for (int i = 0; i < even; i++) EXPECT(out[i] % 2 == 0);
    RUN(cub::DeviceSelect::Unique, in, out, count, (int)N);
    EXPECT(*count == runs && out[0] == in[0]);
    char *flags = room_for<char>(N);
    for (int i = 0; i < N; i += 2) flags[i] = 1;
    RUN(cub::DeviceSelect::Flagged, in, flags, out, count, (int)N);
    EXPECT(*count == (N + 1) / 2 && out[1] == in[2]);

    RUN(cub::DevicePartition::If, in, out, count, (int)N, Even());
    EXPECT(*count == even);
    for (int i = 0; i < N; i++) EXPECT((out[i] % 2 == 0) == (i < even));
    RUN(cub::DevicePartition::Flagged, in, flags, out, count, (int)N);
    EXPECT(*count == (N + 1) / 2 && out[1] == in[2] && out[N - 1] == in[1]);

    int *lengths = room_for<int>(N), *segments = room_for<int>(4);
    RUN(cub::DeviceRunLengthEncode::Encode, in, out, lengths, count, (int)N);
    EXPECT(*count == runs);
    int before = 0;
    for (int i = 0; i < runs; before += lengths[i++]) EXPECT(out[i] == in[before]);
    EXPECT(before == N);
    RUN(cub::DeviceReduce::ReduceByKey, in, out, in, lengths, count, Sum(), (int)N);
    EXPECT(*count == runs && lengths[0] % out[0] == 0);
    RUN(cub::DeviceReduce::TransformReduce, in, out, (int)N, Sum(), Twice(), 1);
    EXPECT(*out == 2 * sum + 1);
    for (int i = 0; i < 4; i++) segments[i] = i * N / 3;
    RUN(cub::DeviceSegmentedReduce::Sum, in, out, 3, segments, segments + 1);
    EXPECT(out[0] + out[1] + out[2] == sum);
    RUN(cub::DeviceSegmentedReduce::Reduce, in, out, 3, segments, segments + 1, Larger(),
        -9);
    EXPECT(out[0] >= in[0] && out[2] >= in[N - 1]);
    for (int i = 0; i < N; i++) lengths[i] = i;
    RUN(cub::DeviceHistogram::HistogramEven, lengths, out, 101, 0, 100, (int)N);
    for (int i = 0; i < 100; i++) EXPECT(out[i] == 1);
    RUN(cub::DeviceHistogram::HistogramRange, lengths, out, 4, segments, (int)N);
    for (int i = 0; i < 3; i++) EXPECT(out[i] == N / 3);
    CHECK(cudaFree(lengths));
    CHECK(cudaFree(segments));

    RUN(cub::DeviceRadixSort::SortPairs, keys, sorted, values, order, (int)N);
    for (int i = 0; i < N; i++)
        EXPECT((i == 0 || sorted[i - 1] <= sorted[i]) && sorted[i] == keys[order[i]]);
    RUN(cub::DeviceRadixSort::SortKeysDescending, keys, sorted, (int)N);
    for (int i = 1; i < N; i++) EXPECT(sorted[i - 1] >= sorted[i]);
    /* By two bits only, and so that equals stay in their order. */
    RUN(cub::DeviceRadixSort::SortPairs, in, out, values, order, (int)N, 1, 3);
    for (int i = 1; i < N; i++) {
        const int before = out[i - 1] >> 1 & 3, now = out[i] >> 1 & 3;
        EXPECT(before < now || (before == now && order[i - 1] < order[i]));
    }
    int *copy = room_for<int>(N);
    for (int i = 0; i < N; i++) copy[i] = in[i];
    cub::DoubleBuffer<int> buffers(copy, out);
    RUN(cub::DeviceRadixSort::SortKeys, buffers, (int)N);
    for (int i = 1; i < N; i++) EXPECT(buffers.Current()[i - 1] <= buffers.Current()[i]);
    EXPECT(buffers.Current()[0] < 0);

    CHECK(cudaFree(out));
    CHECK(cudaFree(count));
    CHECK(cudaFree(values));
    CHECK(cudaFree(order));
    CHECK(cudaFree(keys));
    CHECK(cudaFree(sorted));
    CHECK(cudaFree(flags));
    CHECK(cudaFree(copy));
}

template <class Key> static void sorts(const int *in)
{
    Key *keys = room_for<Key>(N), *out = room_for<Key>(N);
    int *order = room_for<int>(N);
    for (int i = 0; i < N; i++) keys[i] = (Key)in[i] / 2;
    sort_block<Key><<<1, THREADS>>>(keys, out, order);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N - 1; i++) {
        EXPECT(out[i] == keys[order[i]]);
        if (i)
            EXPECT(out[i - 1] > out[i] ||
                   (out[i - 1] == out[i] && order[i - 1] < order[i]));
    }
    EXPECT(out[N - 1] == Key());
    CHECK(cudaFree(keys));
    CHECK(cudaFree(out));
    CHECK(cudaFree(order));
}

/* As programs write it, which may even want to change what they are given. */
struct Difference {
    __device__ int operator()(int &a, int &b)
    {
        return 10 * a - b;
    }
};

enum { ROWS = 7, ALL = 2 * THREADS, VALID = ALL - 3 };

__global__ void differences(const int *in, int *out)
{
    typedef cub::BlockAdjacentDifference<int, THREADS> Block;
    __shared__ typename Block::TempStorage room;
    int x[2], y[2];
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < 2; k++) x[k] = in[2 * threadIdx.x + k];
        switch (row) {
        case 0: Block(room).SubtractLeft(x, y, Difference()); break;
        case 1: Block(room).SubtractLeft(x, y, Difference(), 5); break;
        case 2: Block(room).SubtractLeftPartialTile(x, y, Difference(), VALID); break;
        case 3: Block(room).SubtractLeftPartialTile(x, y, Difference(), VALID, 5); break;
        case 4: Block(room).SubtractRight(x, y, Difference()); break;
        case 5: Block(room).SubtractRight(x, y, Difference(), 5); break;
        case 6: Block(room).SubtractRightPartialTile(x, y, Difference(), VALID); break;
        }
        __syncthreads();
        for (int k = 0; k < 2; k++) out[2 * THREADS * row + 2 * threadIdx.x + k] = y[k];
    }
}

static void check_differences(const int *in)
{
    int *out = room_for<int>(ROWS * ALL);
    differences<<<1, THREADS>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < ALL; i++) {
            const int count = row == 2 || row == 3 || row == 6 ? VALID : ALL,
                      other = row < 4 ? i - 1 : i + 1;
            const bool edge = row == 1 || row == 3 || row == 5;
            int want = in[i];
            if (i < count && other >= 0 && other < count)
                want = 10 * in[i] - in[other];
            else if (edge && (other < 0 || other == ALL))
                want = 10 * in[i] - 5;
            EXPECT(out[row * ALL + i] == want);
        }
    CHECK(cudaFree(out));
}

int main()
{
    int *in = room_for<int>(N), *out = room_for<int>(9 * THREADS), sum = 0,
        largest = -100;
    Point *point = room_for<Point>(1);
    for (int i = 0; i < N; i++) in[i] = (int)(100.0f * noise((unsigned)i));
    in[17] = in[16];
    for (int i = 0; i < THREADS; i++) {
        sum += in[i];
        largest = Larger()(largest, in[i]);
    }
    int ten = 0, all = 0;
    for (int i = 0; i < 10; i++) ten += in[i];
    for (int i = 0; i < N; i++) all += in[i];

    check_differences(in);
    reduce_block<<<1, dim3(THREADS / 4, 2, 2)>>>(in, out, point);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == sum && out[1] == largest && out[2] == ten && out[3] == all);
    EXPECT(point->x == sum && point->y == 2.0 * sum && point->z == THREADS);

    scan_block<<<1, THREADS>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    int before = 0, most = -5;
    for (int i = 0; i < THREADS; i++) {
        EXPECT(out[i] == before + in[i]);
        EXPECT(out[THREADS + i] == before + 1000 * sum);
        EXPECT(out[2 * THREADS + i] == most);
        before += in[i];
        most = Larger()(most, in[i]);
    }
    before = 0;
    for (int i = 0; i < N; i++) {
        EXPECT(out[3 * THREADS + i] == before);
        before += in[i];
        EXPECT(out[6 * THREADS + i] == 7 + before);
    }

    scan_warp<<<1, 64>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int warp = 0; warp < 2; warp++) {
        const int *mine = in + 32 * warp;
        int all_lanes = 0, five = mine[0];
        for (int i = 0; i < 32; i++) all_lanes += mine[i];
        for (int i = 0; i < 5; i++) five = Larger()(five, mine[i]);
        EXPECT(out[warp] == all_lanes && out[2 + warp] == five);
    }
    for (int i = 0; i < 64; i++) {
        int upto = 0, eight = 0;
        for (int k = i / 8 * 8; k < i / 8 * 8 + 8; k++) {
            eight += in[k];
            upto += k < i ? in[k] : 0;
        }
        EXPECT(out[4 + i] == upto + 1000 * eight);
    }

    unsigned *counts = room_for<unsigned>(10), digits[10] = {0};
    count_digits<<<1, THREADS>>>(in, counts);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) digits[abs(in[i]) % 10] += 2;
    for (int i = 0; i < 10; i++) EXPECT(counts[i] == digits[i]);
    CHECK(cudaFree(counts));

    sorts<int>(in);
    sorts<float>(in);
    sorts<signed char>(in);
    whole_arrays(in);
    by_comparison(in);
    in_segments(in);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(point));
    return pass();
}
