// Structures that are copied as a whole: padding that nobody writes, between members and
// behind them, in words of its own and in parts of words; and 16 bytes that need be aligned
// only as their members are. Bit-fields, which share a word.
#include "check.h"

struct Weighed {
    double weight;
    int id; // and four bytes of nothing
};
struct Late {
    char kind; // and seven
    double value;
};
struct Mixed {
    double a;
    int b;
    double c;
    short d;
};
struct Small {
    float x;
    bool valid; // and three
};
struct Complex {
    double re, im;
};
struct Item {
    const int *at;
    int count;
};

// Members are set one by one, so that the padding stays what it was.
__global__ void fill(Weighed *weighed, Late *late, Mixed *mixed, Small *small,
                     Complex *complex)
{
    const int i = (int)threadIdx.x;
    weighed[i].weight = 2.0 * i;
    weighed[i].id = i;
    late[i].kind = (char)i;
    late[i].value = 3.0 * i;
    mixed[i].a = mixed[i].c = i;
    mixed[i].b = -i;
    mixed[i].d = (short)(7 * i);
    small[i].x = 0.5f * (float)i;
    small[i].valid = i % 2;
    complex[i].re = i;
    complex[i].im = -i;
}

template <class T> __global__ void reverse(const T *in, T *out)
{
    const int i = (int)threadIdx.x;
    __shared__ double first; // so that the array need not begin at a multiple of 16
    __shared__ T tile[32];
    if (i == 0) first = 1.0;
    tile[i] = in[i];
    __syncthreads();
    if (first > 0.0) out[i] = tile[31 - i];
}

// What a block finds itself stays in shared memory, where nobody wrote the padding either.
__global__ void largest(const double *in, Weighed *out, Small *last)
{
    __shared__ Weighed found[32];
    __shared__ Small seen[32];
    const int i = (int)threadIdx.x;
    found[i].weight = in[i];
    found[i].id = i;
    seen[i].x = (float)in[i];
    seen[i].valid = true;
    __syncthreads();
    for (int half = 16; half > 0; half /= 2) {
        if (i < half && found[i + half].weight > found[i].weight)
            found[i] = found[i + half];
        __syncthreads();
    }
    if (i == 0) {
        *out = found[0];
        *last = seen[31];
    }
}

// An array of 16 bytes each that begins at a multiple of 8.
__global__ void shifted(double *room, Complex *out)
{
    const Complex *numbers = (const Complex *)(room + 1);
    room[1 + 2 * threadIdx.x] = threadIdx.x;
    room[2 + 2 * threadIdx.x] = 0.5;
    __syncwarp();
    out[threadIdx.x] = numbers[31 - threadIdx.x];
}

__global__ void items(const int *in, Item *out)
{
    __shared__ Item each[32];
    each[threadIdx.x].at = in + threadIdx.x;
    each[threadIdx.x].count = 1;
    __syncwarp();
    const Item mine = each[31 - threadIdx.x];
    out[threadIdx.x] = mine;
}

struct Packed {
    unsigned low : 3, middle : 5;
    unsigned long long wide : 40;
};
struct Holder {
    Packed *packed;
};

__global__ void pack(Packed *out)
{
    __shared__ Packed each[32];
    __shared__ Holder holder;
    const int i = (int)threadIdx.x;
    each[i].low = i & 7;
    Packed *const own = &each[i];
    own->middle = i + each[i].low;
    (*own).wide = (unsigned long long)i << 32;
    if (i == 0) holder.packed = own;
    __syncthreads();
    if (i == 31) holder.packed->low = 5;
    __syncthreads();
    out[i].wide = each[31 - i].wide + holder.packed->low;
    out[i].low = each[31 - i].low;
    out[i].middle = each[31 - i].middle;
}

template <class T> static T *room_for(int n)
{
    T *memory;
    CHECK(cudaMalloc(&memory, (size_t)n * sizeof *memory));
    return memory;
}

template <class T> static void reversed(T *in, T *h)
{
    T *out = room_for<T>(32);
    reverse<T><<<1, 32>>>(in, out);
    CHECK(cudaMemcpy(h, out, 32 * sizeof *out, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));
    CHECK(cudaFree(in));
}

int main()
{
    Weighed *weighed = room_for<Weighed>(32), w[32];
    Late *late = room_for<Late>(32), l[32];
    Mixed *mixed = room_for<Mixed>(32), m[32];
    Small *small = room_for<Small>(32), s[32];
    Complex *complex = room_for<Complex>(32), c[32];
    fill<<<1, 32>>>(weighed, late, mixed, small, complex);
    reversed(weighed, w);
    reversed(late, l);
    reversed(mixed, m);
    reversed(small, s);
    reversed(complex, c);
    EXPECT(w[3].weight == 56.0 && w[3].id == 28 && l[3].kind == 28 && l[3].value == 84.0);
    EXPECT(m[3].a == 28.0 && m[3].b == -28 && m[3].c == 28.0 && m[3].d == 196);
    EXPECT(s[2].x == 14.5f && s[2].valid && c[2].re == 29.0 && c[2].im == -29.0);

    double *in = room_for<double>(65), h[32];
    for (int i = 0; i < 32; i++) h[i] = noise((unsigned)i);
    h[11] = 5.0;
    weighed = room_for<Weighed>(1);
    small = room_for<Small>(1);
    CHECK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
    largest<<<1, 32>>>(in, weighed, small);
    CHECK(cudaMemcpy(w, weighed, sizeof *w, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(s, small, sizeof *s, cudaMemcpyDeviceToHost));
    EXPECT(w->id == 11 && w->weight == 5.0 && s->x == (float)h[31] && s->valid);

    complex = room_for<Complex>(32);
    shifted<<<1, 32>>>(in, complex);
    CHECK(cudaMemcpy(c, complex, sizeof c, cudaMemcpyDeviceToHost));
    EXPECT(c[4].re == 27.0 && c[4].im == 0.5);

    int *numbers = room_for<int>(32);
    Item *found = room_for<Item>(32), f[32];
    items<<<1, 32>>>(numbers, found);
    CHECK(cudaMemcpy(f, found, sizeof f, cudaMemcpyDeviceToHost));
    EXPECT(f[31].at == numbers && f[0].at == numbers + 31 && f[5].count == 1);

    Packed *packed = room_for<Packed>(32), p[32];
    pack<<<1, 32>>>(packed);
    CHECK(cudaMemcpy(p, packed, sizeof p, cudaMemcpyDeviceToHost));
    EXPECT(p[20].low == 3 && p[20].middle == 14 && p[20].wide == (11ull << 32) + 5);
    CHECK(cudaFree(packed));

    CHECK(cudaFree(in));
    CHECK(cudaFree(weighed));
    CHECK(cudaFree(small));
    CHECK(cudaFree(complex));
    CHECK(cudaFree(numbers));
    CHECK(cudaFree(found));
    return pass();
}
