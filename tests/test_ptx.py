"""Inline PTX: programs in tests/ptx that look at their own results, and what is said of PTX
that is wrong. On a GPU, tests/gpu.py runs the same programs."""

import re
import textwrap

import pytest

from conftest import HOST_COMPILERS, ROOT, accept, all_in_one, for_real_nvcc, no_cuda, run

FOLDER = ROOT / "tests" / "ptx"
pytestmark = pytest.mark.depends("tests/ptx", "tests/tensor_cores.cu")
PROGRAMS = {path.stem: path for path in sorted(FOLDER.glob("*.cu"))}


@pytest.mark.parametrize("compiler", HOST_COMPILERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_the_emulator(name, compiler, emulate):
    result = run([emulate(PROGRAMS[name], compiler=compiler)], env=no_cuda())
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


def test_tensor_cores_to_the_last_bit(emulate):
    """Sums of all kinds, by every matrix instruction of the chapters, as an H200 computes them."""
    program = emulate(ROOT / "tests" / "tensor_cores.cu", "-I", ROOT / "common")
    result = run([program], env=no_cuda())
    assert (result.returncode, result.stdout) == (0, "PASS: 1658880 results\n")


@for_real_nvcc("folder", [FOLDER], ids=["all"])
def test_is_genuine_ptx(folder, tmp_path):
    source = all_in_one(PROGRAMS.values(), tmp_path)
    accept(source, tmp_path, "-gencode=arch=compute_90a,code=sm_90a", "-I", folder)


# Statements that are wrong, and what must be said of them, in the line of the mark @.
MISTAKES = {
    "unknown instruction": (
        'asm("frobnicate.b32 %0, 1;" : "=r"(x)); // @',
        "does not know the instruction `frobnicate.b32`",
    ),
    "unknown modifier": (
        'asm("add.wrong.u32 %0, %0, 1;" : "+r"(x)); // @',
        "does not know `.wrong` in the instruction `add.wrong.u32`",
    ),
    "in the third line of a text": (
        """asm("{.reg .u32 t;\\n"
               "mov.u32 t, 1;\\n"
               "add.q t, t, 1;\\n" // @
               "mov.u32 %0, t;}" : "=r"(x));""",
        "does not know `.q` in the instruction `add.q`",
    ),
    "in a macro": (
        'WRONG("mov.u33 %0, 1;", x); // @',
        "does not know `.u33` in the instruction `mov.u33`",
    ),
    "an operand too few": (
        'asm("add.u32 %0, %0;" : "+r"(x)); // @',
        "`add.u32` takes the operands d, a, b; here are 2",
    ),
    "no semicolon": ('asm("mov.u32 %0, 1" : "=r"(x)); // @', "`;` is missing at the end"),
    "no closing brace": (
        'asm("{ mov.u32 %0, 1;" : "=r"(x)); // @',
        "a `}` is missing at the end",
    ),
    "an undeclared register": (
        'asm("mov.u32 %0, t;" : "=r"(x)); // @',
        "`t` in `mov.u32` is not declared",
    ),
    "an undeclared predicate": (
        'asm("@p mov.u32 %0, 1;" : "=r"(x)); // @',
        "the predicate `p` is not declared",
    ),
    "no such operand": (
        'asm("mov.u32 %0, %2;" : "=r"(x) : "r"(1)); // @',
        "there is no operand %2, only 2",
    ),
    "a register of another width": (
        'asm("add.u32 %0, %0, %1;" : "+r"(x) : "l"(p)); // @',
        "`add.u32` wants a register of type .u32, and `%1` is .b64",
    ),
    "a float for an integer": (
        'asm("add.u32 %0, %0, %1;" : "+r"(x) : "f"(1.0f)); // @',
        "`add.u32` wants a register of type .u32, and `%1` is .f32",
    ),
    "an address without brackets": (
        'asm("ld.global.u32 %0, %1;" : "=r"(x) : "l"(p)); // @',
        "operand 2 of `ld.global.u32` is an address, in brackets",
    ),
    "an input that is written": (
        'asm("mov.u32 %0, 1;" :: "r"(x)); // @',
        "writes to %0, which is an input",
    ),
    "a label that is not there": (
        'asm("bra NOWHERE;"); // @',
        "there is no label `NOWHERE`",
    ),
    "a fragment with too few registers": (
        'asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0}, [%0];" : "+r"(x)); // @',
        "operand 1 of `ldmatrix.sync.aligned.m8n8.x4.shared.b16` is a vector: 4 registers",
    ),
    "types that mma does not have": (
        'asm("mma.sync.aligned.m16n8k8.row.col.f32.e4m3.e4m3.f32 {%0},{%0},{%0},{%0};"'
        ' : "+f"(f)); // @',
        "these types do not exist in this shape",
    ),
    "a size that cp.async does not copy": (
        'asm("cp.async.cg.shared.global [%0], [%1], 8;" :: "r"(x), "l"(p)); // @',
        "copies 16 bytes, not 8",
    ),
    "a missing rounding": (
        'asm("fma.f32 %0, %0, %0, %0;" : "+f"(f)); // @',
        "`fma.f32` needs a rounding, such as .rn",
    ),
    "a special register in arithmetic": (
        'asm("add.u32 %0, %0, %%tid.x;" : "+r"(x)); // @',
        "a special register can only be moved",
    ),
    "a constraint nvcc does not have": (
        'asm("mov.u32 %0, 1;" : "=m"(x)); // @',
        'the constraint of an output is one of "=r"',
    ),
    "a named operand": (
        'asm("mov.u32 %[x], 1;" : [x] "=r"(x)); // @',
        "an asm operand cannot have a name",
    ),
    "a wait that does not exist": (
        'asm volatile("griddepcontrol.wait_forever;"); // @',
        "does not know `.wait_forever`",
    ),
    "a sleep that does not exist": (
        'asm volatile("nanosleep.long %0;" :: "r"(x)); // @',
        "does not know `.long`",
    ),
    "a level that does not exist": (
        'asm volatile("prefetch.global.L7 [%0];" :: "l"(p)); // @',
        "does not know `.global`",
    ),
    "a policy that does not exist": (
        'asm volatile("{.reg .b64 q; createpolicy.whole.b64 q;}"); // @',
        "does not know `.whole`",
    ),
    "a prefetch that does not exist": (
        'asm volatile("cp.async.bulk.prefetch.L3.global [%0], 16;" :: "l"(p)); // @',
        "does not know `.L3`",
    ),
    "relu of float": (
        'asm("fma.rn.relu.f32 %0, %0, %0, %0;" : "+f"(f)); // @',
        "there is no `fma.rn.relu.f32`",
    ),
    "saturation without a sign": (
        'asm("add.sat.u32 %0, %0, %0;" : "+r"(x)); // @',
        "there is no `add.sat.u32`",
    ),
    "relu of a minimum of halves": (
        'asm("min.relu.f16x2 %0, %0, %0;" : "+r"(x)); // @',
        "there is no `min.relu.f16x2`",
    ),
    "a rounding of integers": (
        'asm("add.rn.s32 %0, %0, %0;" : "+r"(x)); // @',
        "there is no `add.rn.s32`",
    ),
    "an atomic minimum of halves": (
        'asm("atom.global.min.f16x2 %0, [%1], %0;" : "+r"(x) : "l"(p)); // @',
        "does not know `.f16x2`",
    ),
    "an atomic sum with a sign": (
        'asm volatile("red.global.add.s64 [%0], %0;" :: "l"(p)); // @',
        "does not know `.s64`",
    ),
    "an atomic sum without noftz": (
        'asm("red.global.add.f16x2 [%0], %1;" :: "l"(p), "r"(x)); // @',
        "needs .noftz",
    ),
    "a rounding of what is exact": (
        'asm("cvt.rn.f64.f32 %0, %1;" : "=d"(*(double *)p) : "f"(f)); // @',
        "this rounding is not for these types",
    ),
    "a rounding to integers": (
        'asm("cvt.rn.s32.f32 %0, %1;" : "=r"(x) : "f"(f)); // @',
        "this rounding is not for these types",
    ),
    "eight bits without satfinite": (
        'asm volatile("cvt.rn.e4m3x2.f32 %0, %1, %1;" : "=h"(*(short *)p) : "f"(f)); // @',
        "needs .satfinite",
    ),
    "an order of bits": (
        'asm("{.reg .pred p; setp.lt.b32 p, %0, %0;}" :: "r"(x)); // @',
        "there is no .lt of .b32",
    ),
    "two undeclared predicates": (
        'asm("setp.eq.u32 p|q, %0, %0;" :: "r"(x)); // @',
        "is not declared",
    ),
    "a store that is too long": (
        'asm("st.global.v8.b64 [%0], {%0, %0, %0, %0, %0, %0, %0, %0};" :: "l"(p)); // @',
        "is longer than any access",
    ),
    "an asynchronous store that is too long": (
        """asm("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64" // @
            " [%0], {%1, %1, %1, %1}, [%0];" :: "r"(x), "l"(p));""",
        "is longer than any access",
    ),
    "a source that is longer than its copy": (
        'asm("cp.async.ca.shared.global [%0], [%1], 16, 32;" :: "r"(x), "l"(p)); // @',
        "reads 32 bytes of a source for a copy of 16",
    ),
    "a reduction of a type that it has not": (
        """asm("cp.reduce.async.bulk.shared::cluster.shared::cta" // @
            ".mbarrier::complete_tx::bytes.add.f32 [%0], [%0], 16, [%0];" :: "r"(x));""",
        "does not know `.f32`",
    ),
    "a policy of the caches in a register that is too narrow": (
        'asm("red.global.add.L2::cache_hint.u32 [%0], %1, %1;" :: "l"(p), "r"(x)); // @',
        "wants a register of type .b64, and `%1` is .b32",
    ),
    "too few operands, where one may be missing": (
        'asm("mbarrier.try_wait.parity.shared.b64 p, [%0];" :: "r"(x)); // @',
        "takes the operands p, [barrier], parity{, time}; here are 2",
    ),
    "an operand of the wrong type": (
        'asm("mov.u32 %0, %1;" : "=r"(x) : "r"(1.0f)); // @',
        'an asm operand with constraint "r" is an integer of 4 bytes',
    ),
}

SOURCE = """
#define WRONG(text, x) asm(text : "=r"(x))
__global__ void k(unsigned *p)
{{
    unsigned x = 0;
    float f = 0.0f;
    {statement}
    p[0] = x + (unsigned)f;
}}
int main() {{ k<<<1, 1>>>(nullptr); }}
"""


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named_where_they_are(name, emulated_nvcc, tmp_path):
    statement, message = MISTAKES[name]
    text = textwrap.dedent(SOURCE).format(statement=statement)
    (tmp_path / "user.cu").write_text(text)
    line = next(n for n, words in enumerate(text.splitlines(), 1) if "// @" in words)
    result = run([emulated_nvcc, "-c", "user.cu"], cwd=tmp_path, env=no_cuda())
    assert result.returncode == 1
    assert message in result.stderr
    assert f"user.cu:{line}" in result.stderr


# nvcc does not see this one: the program may work, or not.
UNSEEN = {"an input that is written"}


@for_real_nvcc("name", sorted(MISTAKES.keys() - UNSEEN))
def test_nvcc_refuses_them_too(name, tmp_path):
    text = textwrap.dedent(SOURCE).format(statement=MISTAKES[name][0])
    source = tmp_path / "user.cu"
    source.write_text(text)
    with pytest.raises(AssertionError):
        accept(source, tmp_path, "-gencode=arch=compute_90a,code=sm_90a")


def test_every_mistake_is_reported(emulated_nvcc, tmp_path):
    text = 'asm("add.x %0; sub.y %0; mov.u32 %0, 1;" : "=r"(x)); asm("z;");'
    (tmp_path / "user.cu").write_text(SOURCE.format(statement=text))
    result = run([emulated_nvcc, "-c", "user.cu"], cwd=tmp_path, env=no_cuda())
    for wrong in ("add.x", "sub.y", "`z`"):
        assert wrong in result.stderr


# A header's functions, and what the program calls of them.
HEADER = """
#pragma once
static inline __device__ unsigned known(unsigned x) {{ return x + 1; }}
static inline __device__ unsigned unknown(unsigned x)
{{
    asm("frobnicate.b32 %0, 1;" : "+r"(x));
    return x;
}}
template <class T> struct holder {{
    static __device__ void change(T &x) {{ asm volatile("add.wrong.u32 %0, %0, 1;" : "+r"(x)); }}
}};
"""
USERS = {
    "nothing": ("x = known(x);", None, 0),
    "a function": (
        "x = unknown(x);",
        "does not know the instruction `frobnicate.b32`",
        6,
    ),
    "a template's": ("holder<unsigned>::change(x);", "does not know `.wrong`", 10),
}


@pytest.mark.parametrize("compiler", HOST_COMPILERS)
@pytest.mark.parametrize("name", USERS)
def test_of_a_header_what_is_used_has_to_be_known(
    name, compiler, emulated_nvcc, tmp_path
):
    """NVIDIA's assembler, too, sees only what a kernel uses; libraries have headers for all GPUs."""
    statement, message, line = USERS[name]
    (tmp_path / "functions.cuh").write_text(HEADER.format().lstrip())
    text = '#include "functions.cuh"\n' + SOURCE.format(statement=statement)
    (tmp_path / "user.cu").write_text(text)
    command = [emulated_nvcc, "-ccbin", compiler, "-c", "user.cu"]
    result = run(command, cwd=tmp_path, env=no_cuda())
    assert result.returncode == (message is not None), result.stderr
    if message:
        assert message in result.stderr
        assert f"functions.cuh:{line - 1}" in result.stderr


# Faults are seen through PTX as through C: the access, and what the message says.
FAULTS = {
    "global memory out of bounds": (
        'asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p + 4)); // @',
        "out of bounds: a read of 4 bytes in global memory",
    ),
    "misaligned": (
        'asm volatile("ld.global.v4.u32 {%0, %0, %0, %0}, [%1 + 4];" : "=r"(x) : "l"(p)); // @',
        "misaligned address: a read of 16 bytes",
    ),
    "shared memory out of bounds": (
        'asm volatile("st.shared.u32 [%0 + 128], 0;" :: "r"(at)); // @',
        "out of bounds: a write of 4 bytes, 0 bytes past the end of words",
    ),
    "uninitialised": (
        'asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at)); // @',
        "uninitialised shared memory",
    ),
    "a generic address for a shared one": (
        'asm volatile("st.shared.u32 [%0], 0;" :: "l"(words)); // @',
        "is no address in shared memory",
    ),
    "a row of ldmatrix behind the array": (
        """words[threadIdx.x] = 1;
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" // @
                 : "=r"(x) : "r"(at + 16 * threadIdx.x + 16));""",
        "out of bounds: a read of 16 bytes",
    ),
    "a race": (
        """words[threadIdx.x] = 1;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at + 2 * (threadIdx.x & ~1))); // @""",
        "data race in shared memory",
    ),
    "cp.async not waited for": (
        """asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;"
                 :: "r"(at), "l"(p));
    x = words[0]; // @""",
        "asynchronous copy not waited for",
    ),
    "a warp operation without all lanes": (
        """if (threadIdx.x < 16)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" // @
                     : "=r"(x) : "r"(at));""",
        "ldmatrix",
    ),
    "a named barrier nobody else comes to": (
        """if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // @""",
        "barrier 1 waits for 64 threads, 32 have come",
    ),
    "shared memory as global memory": (
        """words[threadIdx.x] = 1;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(&words[threadIdx.x])); // @""",
        "words is in shared memory, where an address in global memory is wanted",
    ),
    "an atomic of global memory in shared memory": (
        """words[threadIdx.x] = 1;
    asm volatile("red.global.add.u32 [%0], 1;" :: "l"(&words[threadIdx.x])); // @""",
        "words is in shared memory, where an address in global memory is wanted",
    ),
    "a load through the texture cache of shared memory": (
        """words[threadIdx.x] = 1;
    x = __ldg(&words[threadIdx.x]); // @""",
        "__ldg: byte 0 of words is in shared memory",
    ),
    "a vector's atomic in shared memory": (
        """words[threadIdx.x] = 0;
    __syncwarp();
    atomicAdd((float2 *)words, make_float2(1.0f, 1.0f)); // @""",
        "an atomicAdd of a vector: byte 0 of words is in shared memory",
    ),
    "cp.async from shared memory": (
        """words[threadIdx.x] = 1;
    __syncwarp();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(words + 1)); // @""",
        "source must be global memory",
    ),
    "cp.async with too long a source": (
        """asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(at), "l"(p), "r"(32)); // @""",
        "a source of 32 bytes for a copy of 16",
    ),
    "a scale of wgmma that is neither 1 nor -1": (
        """float d[4] = {};
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4," // @
                 " 1, 2, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(p));""",
        "imm-scale-a and imm-scale-b are 1 or -1",
    ),
    "a trap": ('asm volatile("trap;"); // @', "trap"),
}

FAULTY = """
#include <cuda_runtime.h>
__global__ void k(unsigned *p)
{{
    __shared__ __align__(16) unsigned words[32];
    const unsigned at = (unsigned)__cvta_generic_to_shared(words);
    unsigned x = 0;
    {statement}
    p[0] = x + at;
}}
int main()
{{
    unsigned *p;
    cudaMalloc(&p, 16);
    cudaMemset(p, 0, 16);
    k<<<1, {threads}>>>(p);
    cudaFree(p);
}}
"""


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name, emulate, tmp_path):
    statement, message = FAULTS[name]
    text = FAULTY.format(statement=statement, threads=64 if "named" in name else 32)
    source = tmp_path / "user.cu"
    source.write_text(text)
    line = next(n for n, words in enumerate(text.splitlines(), 1) if "// @" in words)
    program = emulate(source, "-Xcompiler", "-Wno-unused")
    result = run([program], env=no_cuda())
    assert result.returncode == 1
    assert message in result.stderr
    assert f"user.cu:{line}:" in result.stderr


# Two wgmmas: the second adds to half of the first one's sums.
# Runs a warpgroup, whose threads have a result each, and prints the first.
RUN_WARPGROUP = """int main()
{
    float *result, r;
    cudaMalloc(&result, 128 * sizeof r);
    k<<<1, 128>>>(result);
    cudaMemcpy(&r, result, sizeof r, cudaMemcpyDeviceToHost);
    cudaFree(result);
    printf("%g\\n", r);
}
"""
HALF_OF_THE_SUMS = """
#include "wgmma.h"
#include <cuda_fp16.h>
#include <stdio.h>
__global__ void k(float *result)
{
    __shared__ __align__(128) __half numbers[128 * 16];
    for (int i = threadIdx.x; i < 128 * 16; i += 128) numbers[i] = 1.0f;
    fence_proxy_async();
    __syncthreads();
    const uint64_t m = wgmma_descriptor(numbers, 128, 256, WGMMA_SWIZZLE_NONE);
    float d[64];
    float(&upper)[32] = *(float(*)[32]) & d[32];
    wgmma_fence();
    wgmma_mma_async_f16<0, 0>(d, m, m, 0);
    wgmma_commit_group();
    wgmma_wait_group<0>(); // between the shapes
    wgmma_fence();
    wgmma_mma_async_f16<0, 0>(upper, m, m, 1);
    wgmma_commit_group();
    result[threadIdx.x] = d[31];
    wgmma_wait_group<0>();
    result[threadIdx.x] += d[32];
}
"""


@pytest.mark.parametrize(
    "old, new, message, blamed",
    [
        ("", "", "", ""),
        (
            "wgmma_wait_group<0>(); // between the shapes\n",
            "\n",
            "are given to one of another shape",
            "<0, 0>(upper",
        ),
        ("= d[31]", "= d[32]", "are read before it was waited for", "= d[32]"),
    ],
    ids=["right", "not waited for", "read too early"],
)
def test_sums_are_shared_by_two_shapes(old, new, message, blamed, emulate, tmp_path):
    text = (HALF_OF_THE_SUMS + RUN_WARPGROUP).replace(old, new)
    source = tmp_path / "user.cu"
    source.write_text(text)
    program = emulate(source, "-std=c++17", "-I", ROOT / "common")
    result = run([program], env=no_cuda())
    if not message:
        assert (result.returncode, result.stdout) == (0, "48\n"), result.stderr
        return
    assert result.returncode == 1 and message in result.stderr
    line = next(n for n, words in enumerate(text.splitlines(), 1) if blamed in words)
    assert f"user.cu:{line}:" in result.stderr


# A in registers, of which there are two sets: a wgmma may still read the one while the
# program fills the other.
TWO_SETS = """
#include "wgmma.h"
#include <stdio.h>
__global__ void k(float *result)
{
    __shared__ __align__(128) float numbers[16 * 8];
    numbers[threadIdx.x] = 1.0f;
    fence_proxy_async();
    __syncthreads();
    const uint64_t b = wgmma_descriptor(numbers, 128, 256, WGMMA_SWIZZLE_NONE);
    float d[8] = {};
    uint32_t a[2][4];
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < 4; i++) a[step % 2][i] = __float_as_uint(step + 1.0f);
        wgmma_fence();
        wgmma_mma_async_tf32(d, a[step % 2], b, 1);
        wgmma_mma_async_tf32(d, a[step % 2], b, 1); // once more
        wgmma_commit_group();
        wgmma_wait_group<1>();
    }
    wgmma_wait_group<0>();
    result[threadIdx.x] = d[0];
}
"""


@pytest.mark.parametrize(
    "old, new, strict, right",
    [
        ("", "", "1", True),
        ("wgmma_wait_group<1>", "wgmma_wait_group<2>", "1", False),
        ("wgmma_wait_group<1>", "wgmma_wait_group<2>", "0", True),
        ("step % 2", "0", "1", False),
        ("step + 1.0f", "2.5f", "1", True),
    ],
    ids=["right", "waits for too few", "lenient", "one set", "nothing new"],
)
def test_registers_of_a_are_filled_anew(old, new, strict, right, emulate, tmp_path):
    text = (TWO_SETS + RUN_WARPGROUP).replace(old, new)
    source = tmp_path / "user.cu"
    source.write_text(text)
    program = emulate(source, "-std=c++17", "-I", ROOT / "common")
    result = run([program], env=no_cuda() | {"STRICT": strict})
    if right:
        assert (result.returncode, result.stdout) == (0, "160\n"), result.stderr
        return
    assert result.returncode == 1
    assert "registers with A for a wgmma are filled anew" in result.stderr
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines, 1) if "wgmma_mma_async_tf32" in line)
    assert f"user.cu:{first}:" in result.stderr  # the fault
    assert re.search(rf"started at \S*user\.cu:{first + 1} ", result.stderr)


# Programs of tests/ptx with one mistake each: what is replaced by what, what must be said,
# and words of the line that must be blamed.
PLANTED = {
    "a stage nobody waited for": (
        "hopper_gemm",
        "wait(&s->full[stage], i / STAGES % 2);",
        "",
        "asynchronous copy not waited for",
        "multiply(d, descriptor",
    ),
    "a stage that is given back too early": (
        "hopper_gemm",
        "if (i > 0 && t == 0) arrive(&s->empty[(i - 1) % STAGES]);",
        "if (t == 0) arrive(&s->empty[stage]);",
        "may still read it",
        "load(s->",
    ),
    "sums that are read too early": (
        "hopper_gemm",
        'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");',
        "",
        "sums of a wgmma are read before it was waited for",
        "make_float2",
    ),
    "sums that are written too early": (
        "hopper_gemm",
        'asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");',
        'asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");\n        d[5] *= 2.0f;',
        "sums of a wgmma are read before it was waited for",
        "d[5] *= 2.0f",
    ),
    "sums that are used without a fence": (
        "hopper_gemm",
        'asm volatile("wgmma.fence.sync.aligned;" ::: "memory");',
        'if (i == 0) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");\n'
        '        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");\n'
        "        if (i > 0) d[5] *= 2.0f;",
        "a missing wgmma.fence",
        "multiply(d, descriptor",
    ),
    "no fence at all": (
        "hopper_gemm",
        'asm volatile("wgmma.fence.sync.aligned;" ::: "memory");',
        "",
        "a missing wgmma.fence: it must come before the first wgmma",
        "multiply(d, descriptor",
    ),
    "another swizzle than the copy's": (
        "hopper_gemm",
        "1ull << 62",
        "2ull << 62",
        "the descriptor says swizzle 64B",
        "multiply(d, descriptor",
    ),
    "a descriptor that points past the end": (
        "hopper_gemm",
        "descriptor(s->b[stage])",
        "descriptor(s->b[stage] + (STAGES + 1) * BN * BK)",
        "out of bounds",
        "multiply(d, descriptor",
    ),
    "a warp that stays away": (
        "hopper_gemm",
        "float d[BN / 2];",
        "float d[BN / 2];\n    if (t / 32 == 2) return;",
        "wgmma is carried out by the four warps of a warpgroup, and of them 6 never come",
        "multiply(d, descriptor",
    ),
    "warps that disagree": (
        "hopper_gemm",
        "descriptor(s->b[stage])",
        "descriptor(s->b[stage] + (t == 32 ? 64 * 8 : 0))",
        "the lanes of a warp must agree",
        "multiply(d, descriptor",
    ),
    "a parity that is wrong": (
        "hopper_gemm",
        "wait(&s->empty[stage], parity ^ 1);",
        "wait(&s->empty[stage], parity);",
        "the mbarrier never completes",
        "wait(&s->empty[stage], parity);",
    ),
    "stores that wgmma may not see": (
        "wgmma",
        'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");',
        "",
        "a missing fence.proxy.async",
        "multiply<T, TA, TB>::run",
    ),
    "stores that a bulk copy may not see": (
        "bulk",
        'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");',
        "",
        "a missing fence.proxy.async",
        "cp.async.bulk.global.shared::cta.bulk_group",
    ),
    "stores that a bulk copy may not come behind": (
        "hopper_gemm",
        "if (i > 0 && t == 0) arrive(&s->empty[(i - 1) % STAGES]);",
        "if (i > 0 && t == 0) {\n"
        "            *(volatile short *)&s->a[(i - 1) % STAGES][group * 64 * BK] = 0;\n"
        "            arrive(&s->empty[(i - 1) % STAGES]);\n        }",
        "a bulk copy writes there by the asynchronous proxy",
        "load(s->",
    ),
    "a source that is written again too early": (
        "bulk",
        "flush();\n    IS(data[128]",
        "box[0] = 1;\n    flush();\n    IS(data[128]",
        "may still read it",
        "box[0] = 1;",
    ),
    "a bulk store that outlives its block": (
        "bulk",
        "flush(); // two rows",
        "return; // two rows",
        "bulk copy not waited for: the block has ended",
        "cp.async.bulk.tensor.2d.global",
    ),
    "bytes that are not a multiple of 16": (
        "bulk",
        '"r"(b), "r"(64)',
        '"r"(b), "r"(60)',
        "a bulk copy moves a multiple of 16 bytes, not 60",
        "cp.async.bulk.shared::cluster.global",
    ),
    "a cluster that does not meet before it writes": (
        "clusters",
        "if (t == 0) count = 0;\n    sync_cluster();",
        "if (t == 0) count = 0;\n    __syncthreads();",
        "data race in shared memory",
        "st.shared::cluster.u32",
    ),
    "a block that goes too early": (
        "clusters",
        "1)), 1);\n    cluster.sync();",
        "1)), 1);",
        "shared memory of block 0 of the cluster, which has ended",
        "IS(*cluster.map_shared_rank",
    ),
    "a block that does not come to the cluster's barrier": (
        "clusters",
        'if (threadIdx.x == 0)\n        asm volatile("mbarrier.arrive.release.cluster',
        'if (threadIdx.x == 64)\n        asm volatile("mbarrier.arrive.release.cluster',
        "the cluster's barrier waits for 64 threads that never come",
        "sync_cluster();",
    ),
    "another block's memory as one's own": (
        "clusters",
        "ld.shared::cluster.u32 %0",
        "ld.shared::cta.u32 %0",
        "of the cluster, where one in the own block's is wanted",
        "ld.shared::cta.u32",
    ),
    "an atomic that does not release": (
        "flags",
        "atom.acq_rel.gpu",
        "atom.relaxed.gpu",
        "data race in global memory",
        "total += parts[i]",
    ),
    "a flag that does not release": (
        "flags",
        "st.release.gpu",
        "st.relaxed.gpu",
        "data race in global memory",
        "value = 2 * values[b - 1]",
    ),
    "a flag that does not acquire": (
        "flags",
        "ld.acquire.gpu",
        "ld.relaxed.gpu",
        "data race in global memory",
        "value = 2 * values[b - 1]",
    ),
    "a shuffle with lanes that have ended, while others wait for it": (
        "warps",
        "t = threadIdx.x % 64;",
        "t = threadIdx.x % 64;\n"
        "    if (warp == 2 && t > 0) return;\n"
        "    if (warp == 2) __shfl_sync(~0u, t, 0);",
        "__shfl_sync names lanes that do not exist or have ended",
        "__shfl_sync(~0u, t, 0)",
    ),
    "a tile that begins within a lane's part": (
        "wmma_types",
        "__nv_bfloat16>(a, b, sums)",
        "__nv_bfloat16>(a + 4, b, sums)",
        "misaligned address: load_matrix_sync wants a multiple of 16 bytes",
        "load_matrix_sync(fa, a, K)",
    ),
    "an arrival too many": (
        "mbarriers",
        "IS(early, 0);",
        'asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" ::"r"(a));',
        "mbarrier: more arrivals than the 1",
        "[%0], 2;",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(name, emulate, tmp_path):
    program, right, wrong, message, blamed = PLANTED[name]
    text = PROGRAMS[program].read_text()
    # As the formatter has broken the lines.
    assert right in text, "the program has changed; change the fault, too"
    text = text.replace(right, wrong, 1)
    source = tmp_path / "user.cu"
    source.write_text(text)
    executable = emulate(source, f"-I{FOLDER}", "-Xcompiler", "-Wno-unused")
    result = run([executable], env=no_cuda())
    assert result.returncode == 1, result.stdout
    assert message in result.stderr
    at = re.search(r"^  at \S*user\.cu:(\d+): ", result.stderr, re.M)
    assert at, result.stderr
    lines = text.splitlines()[int(at[1]) - 1 :][:6]
    assert blamed in "\n".join(lines), result.stderr
