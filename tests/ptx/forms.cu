// The ways to write an asm statement.
#include "ptx.h"

#define ADD_THREE(d, a) asm("add.u32 %0, %1, 3;" : "=r"(d) : "r"(a))

#define BEGIN "{\n"
#define END "}\n"

struct pair {
    unsigned x[2];
};

static __device__ unsigned several_lines(unsigned a)
{
    unsigned d;
    asm volatile("{\n\t"
                 ".reg .u32 t;\n\t" // a register of its own
                 "add.u32   t, %1, 1;   // a comment in the text\n\t"
                 "/* another; with a semicolon */ mul.lo.u32 %0, t, 2;\n"
                 "}"
                 : "=r"(d)
                 : "r"(a));
    return d;
}

static __device__ unsigned raw_string(unsigned a)
{
    unsigned d;
    asm(R"({
        .reg .b32 r<4>;
        add.u32 r0, %1, 1;
        add.u32 r3, r0, 1;
        mov.b32 %0, r3;
    })"
        : "=r"(d)
        : "r"(a));
    return d;
}

static __device__ unsigned joined(unsigned a)
{
    unsigned d = a;
    asm(BEGIN "add.u32 %0, "
              "%0, 5;\n" END
        : "+r"(d));
    return d;
}

template <int N> static __device__ unsigned constants(unsigned a)
{
    unsigned d;
    asm("add.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "n"(N + 1));
    return d;
}

static __device__ unsigned loop(unsigned n)
{
    unsigned d;
    asm("{\n"
        ".reg .pred p;\n"
        ".reg .u32 i;\n"
        "mov.u32 i, 0;\n"
        "mov.u32 %0, 0;\n"
        "AGAIN:\n"
        "setp.ge.u32 p, i, %1;\n"
        "@p bra DONE;\n"
        "add.u32 %0, %0, i;\n"
        "add.u32 i, i, 1;\n"
        "bra.uni AGAIN;\n"
        "DONE:\n"
        "}"
        : "=r"(d)
        : "r"(n));
    return d;
}

// The same labels twice in a function, and labels that are numbered.
static __device__ unsigned two_loops(unsigned n)
{
    unsigned d = loop(n) + loop(n + 1);
    asm("{.reg .pred p; setp.eq.u32 p, %0, 0;\n@p bra L%=;\nadd.u32 %0, %0, 7;\nL%=:\n}"
        : "+r"(d));
    asm("{.reg .pred p; setp.eq.u32 p, %0, 0;\n@!p bra $L_1;\nmov.u32 %0, 7;\n$L_1:\n}"
        : "+r"(d));
    return d;
}

static __device__ unsigned predicates(unsigned a, unsigned b)
{
    unsigned d;
    asm("{\n"
        ".reg .pred %p, %q, both;\n"
        "setp.lt.u32 %p, %1, 10;\n"
        "setp.ne.and.b32 %q|both, %2, 0, %p;\n"
        "mov.u32 %0, 0;\n"
        "@%p add.u32 %0, %0, 1;\n"
        "@!%p add.u32 %0, %0, 2;\n"
        "@%q add.u32 %0, %0, 10;\n"
        "@both add.u32 %0, %0, 100;\n"
        "not.pred both, %q;\n"
        "selp.u32 %1, 1000, 0, both;\n"
        "add.u32 %0, %0, %1;\n"
        "}"
        : "=r"(d), "+r"(a)
        : "r"(b));
    return d;
}

static __device__ unsigned scopes(unsigned a)
{
    unsigned d;
    asm("{.reg .b32 t;\n mov.b32 t, 0x10;\n { .reg .b32 t;\n mov.b32 t, 3; }\n"
        " add.u32 %0, %1, t; }"
        : "=r"(d)
        : "r"(a));
    return d;
}

static __device__ unsigned numbers(void)
{
    unsigned a, b, c, d, e;
    float f, g;
    double h;
    asm("mov.u32 %0, 0x1F; mov.u32 %1, 017; mov.u32 %2, 0b101; mov.s32 %3, -1;\n"
        "mov.u32 %4, (1 << 4 | 3) + 2 * 3; mov.f32 %5, 0f3FC00000; mov.f32 %6, 1.5;\n"
        "mov.f64 %7, 0d3FF8000000000000;"
        : "=r"(a), "=r"(b), "=r"(c), "=r"(d), "=r"(e), "=f"(f), "=f"(g), "=d"(h));
    IS(a, 31);
    IS(b, 15);
    IS(c, 5);
    IS(d, 0xffffffff);
    IS(e, 25);
    IS(bits(f), bits(1.5f));
    IS(bits(g), bits(1.5f));
    IS(bits(h), bits(1.5));
    return 0;
}

__global__ void forms(unsigned *out)
{
    unsigned d;
    ADD_THREE(d, 4);
    IS(d, 7);
    if (d == 7)
        asm volatile("mov.u32 %0, 1;" : "=r"(d));
    else
        asm volatile("mov.u32 %0, 2;" : "=r"(d));
    IS(d, 1);
    IS(several_lines(4), 10);
    IS(raw_string(4), 6);
    IS(joined(4), 9);
    IS(constants<4>(4), 9);
    IS(loop(5), 10);
    IS(two_loops(3), 16);
    IS(predicates(3, 1), 11);
    IS(predicates(3, 0), 1101);
    IS(predicates(30, 1), 1002);
    IS(scopes(1), 17);
    IS(numbers(), 0);

    // Special registers, with one per cent sign and with two.
    unsigned x, y;
    asm("mov.u32 %0, %%tid.x; mov.u32 %1, %ctaid.y;" : "=r"(x), "=r"(y));
    IS(x, threadIdx.x);
    IS(y, blockIdx.y);
    unsigned long long wide;
    asm("cvt.u64.u32 %0, %%ntid.x;" : "=l"(wide));
    IS(wide, blockDim.x);

    // Results in elements of structs and arrays, through references and pointers; a
    // barrier for the compiler; one instruction that takes apart and puts together.
    pair p;
    unsigned *q = &p.x[1];
    asm volatile("mov.b64 {%0, %1}, %2;" : "=r"(p.x[0]), "=r"(*q) : "l"(0x500000004ull));
    IS(p.x[0], 4);
    IS(p.x[1], 5);
    asm volatile("mov.b64 {%0, _}, %1;" : "=r"(p.x[0]) : "l"(0x500000006ull));
    IS(p.x[0], 6);
    asm volatile("" ::: "memory");
    asm volatile("" : "+r"(p.x[0])::"memory");
    IS(p.x[0], 6);
    unsigned short low, high;
    asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "r"(0x00020001));
    IS(low, 1);
    IS(high, 2);
    asm("mov.b32 %0, {%1, %2};" : "=r"(d) : "h"(high), "h"(low));
    IS(d, 0x00010002);
    asm("{.reg .b16 a, b, c, e;\n mov.b64 {a, b, c, e}, %1;\n mov.b32 %0, {e, a};}"
        : "=r"(d)
        : "l"(0x0004000300020001ull));
    IS(d, 0x00010004);

    // Into global memory; the address is evaluated once.
    unsigned *at = out;
    asm volatile("mov.u32 %0, 42;" : "=r"(*at++));
    IS(out[0], 42);
    IS(at - out, 1);
    asm volatile("exit;");
    IS(1, 2);
}

int main(void)
{
    unsigned *out;
    cudaMalloc(&out, 4 * sizeof *out);
    forms<<<1, 1>>>(out);
    const int status = verdict();
    cudaFree(out);
    return status;
}
