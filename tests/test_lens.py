"""The lens: the chapters give the figures that follow from their index formulas, every rule of memory holds alone, and
what is printed tells a reader what to do."""

import json
import re
import sys

import pytest

from conftest import HOST_COMPILERS, ROOT, accept, for_real_nvcc, no_cuda, once, run

pytestmark = pytest.mark.depends(
    "tests/lens", "tests/programs", "chapters", "results", "images"
)
FLOAT = 4


def look(program, *arguments, tmp_path, **settings):
    """The kernels that the lens saw."""
    out = tmp_path / "lens.json"
    environment = no_cuda() | {"LENS": "json", "LENS_OUT": str(out)} | settings
    result = run([program, *arguments], env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(out.read_text())["kernels"]


def figures(total):
    """One kind's figures as (requests, lanes, sectors or wavefronts, used bytes or conflicts)."""
    if "sectors" in total:
        return total["requests"], total["lanes"], total["sectors"], total["bytes_used"]
    return total["requests"], total["lanes"], total["wavefronts"], total["conflicts"]


def seen_by_lens(kernel):
    """{kind: figures of one launch}."""
    assert kernel["blocks"] == kernel["blocks_seen"]
    found = {}
    for kind, total in kernel["totals"].items():
        numbers = figures(total)
        assert all(number % kernel["launches"] == 0 for number in numbers)
        found[kind] = tuple(number // kernel["launches"] for number in numbers)
    return found


# ---- chapters 1 to 6 where the tiles fit: closed forms ----


def closed_form(chapter, M, N, K):
    """M, N multiples of 128, K of 32. A warp's share is written out: requests, what one costs, what it uses."""
    C, warps, sector, line = M * N, M * N // 32, 32, 128
    stores_far = {
        "global store": (warps, C, C, FLOAT * C)
    }  # each lane in a sector of its own
    stores_near = {"global store": (warps, C, 4 * warps, FLOAT * C)}
    if chapter in (1, 2):
        # A warp at step k: 32 elements, in as many sectors (1) or side by side (2), and one that all want.
        each = {1: 32, 2: 4}[chapter] + 1
        loads = (2 * K * warps, 2 * K * C, each * K * warps, (line + FLOAT) * K * warps)
        return {"global load": loads} | (stores_far if chapter == 1 else stores_near)

    # Blocks fetch BM x BK of A and BK x BN of B for BM x BN of C, and store them in shared memory.
    BM, BN = {3: (32, 32), 4: (64, 64), 5: (128, 128), 6: (128, 128)}[chapter]
    fetched = C * K // BN + C * K // BM
    wide = 4 if chapter == 6 else 1  # floats a lane
    found = {
        "global load": (
            fetched // 32 // wide,
            fetched // wide,
            fetched * FLOAT // sector,
            fetched * FLOAT,
        )
    }
    found["shared store"] = (fetched // 32, fetched, fetched // 32, 0)
    if chapter == 3:  # a word for all, and 32 neighbours
        found["shared load"] = (2 * K * warps, 2 * K * C, 2 * K * warps, 0)
        return found | stores_near
    if chapter == 4:  # for 8 results: 8 words for all, and 32 neighbours
        found["shared load"] = (9 * K * warps // 8, 9 * K * C // 8, 9 * K * warps // 8, 0)
        return found | stores_near
    threads = C // 64
    if chapter == 5:
        # 8 words of A, each in two rows that meet in a bank; 8 words of B, four to a bank.
        steps = threads // 32 * K
        found["shared load"] = (
            16 * steps,
            16 * 32 * steps,
            (8 * 2 + 8 * 4) * steps,
            (8 * 1 + 8 * 3) * steps,
        )
        return found | stores_far
    # A goes in transposed, word by word, in two wavefronts; B as float4, in four without a conflict.
    half = fetched // 2
    found["shared store"] = (
        half // 32 + half // 128,
        half + half // 4,
        2 * (half // 32) + 4 * (half // 128),
        half // 32,
    )
    # Two float4 of A: one for each half of the warp. Two of B: 16 in half of the banks, a half of the warp each.
    steps = threads // 32 * K
    found["shared load"] = (
        4 * steps,
        4 * 32 * steps,
        (2 * 2 + 2 * 8) * steps,
        2 * 4 * steps,
    )
    found["global store"] = (
        C // 4 // 32,
        C // 4,
        C // 4,
        FLOAT * C,
    )  # 16 bytes a lane, 32 bytes apart
    return found


@pytest.mark.parametrize(
    "shape", [(128, 128, 128), (256, 256, 256), (256, 128, 32), (128, 384, 64)]
)
@pytest.mark.parametrize("chapter", range(1, 7))
def test_closed_form(chapter, shape, chapters, tmp_path):
    (kernel,) = look(chapters[chapter], *shape, "--check-only", tmp_path=tmp_path)
    assert seen_by_lens(kernel) == closed_form(chapter, *shape)


# What CURRICULUM promises for each result, with K = 256: loads from global memory, loads from shared
# memory, sectors a request of the loads, and FLOP for each byte requested.
@pytest.mark.parametrize(
    "chapter, of_global, of_shared, sectors, intensity",
    [
        (1, 512, 0, 16.5, 0.25),
        (2, 512, 0, 2.5, 0.25),
        (3, 16, 512, 4, 8),
        (4, 8, 288, 4, 16),
        (5, 4, 64, 4, 32),
        (6, 1, 16, 16, 32),
    ],
)
def test_promised_figures(
    chapter, of_global, of_shared, sectors, intensity, chapters, tmp_path
):
    (kernel,) = look(chapters[chapter], "256", "--check-only", tmp_path=tmp_path)
    M = N = K = 256
    results, loads = kernel["results"], kernel["totals"]["global load"]
    assert results == M * N * kernel["launches"]
    assert loads["lanes"] / results == of_global
    assert (
        kernel["totals"].get("shared load", {"lanes": 0})["lanes"] / results == of_shared
    )
    assert loads["sectors"] / loads["requests"] == sectors
    assert (
        2 * M * N * K * kernel["launches"] / kernel["requested_load_bytes"] == intensity
    )
    assert kernel["loaded_bytes"] == FLOAT * (M * K + K * N) * kernel["launches"]
    assert kernel["stored_bytes"] == FLOAT * M * N * kernel["launches"]
    # 2 K for the sum; then alpha * acc + beta * old.
    assert kernel["flop"] == M * N * (2 * K + 3) * kernel["launches"]


# ---- chapters 1 to 6 at any shape: a model that walks warps and lanes ----


class Model:
    """Adds up the requests of warps as Nsight Compute defines its counters. A request is the addresses of the
    lanes that take part, in bytes from the beginning of an allocation."""

    def __init__(self):
        self.total = {}
        self.known = {}

    def request(self, kind, addresses, width=FLOAT):
        """addresses: one for each of 32 lanes, None for those that do not take part."""
        active = [address for address in addresses if address is not None]
        if not active:
            return
        if kind.startswith("global"):
            cost = len({address // 32 for address in active}), width * len(set(active))
        else:
            key = width, kind, tuple(addresses)
            if key not in self.known:
                self.known[key] = self.banks(addresses, width, kind == "shared load")
            cost = self.known[key]
        old = self.total.get(kind, (0, 0, 0, 0))
        self.total[kind] = (
            old[0] + 1,
            old[1] + len(active),
            old[2] + cost[0],
            old[3] + cost[1],
        )

    @staticmethod
    def banks(addresses, width, load):
        """(wavefronts, conflicts): lanes of a phase take the same word together, and different words of a bank in turn.
        The lanes of a phase want 128 bytes; or, where in a load all pairs want the same, 256 with the doubles."""
        pairs = load and all(a == b for a, b in zip(addresses[::2], addresses[1::2]))
        together = 32 * 4 // width * (2 if pairs and width > 4 else 1)
        wavefronts = least = 0
        for first in range(0, 32, together):
            units = {
                address // width
                for address in addresses[first : first + together]
                if address is not None
            }
            columns = [unit % (128 // width) for unit in units]
            wavefronts += max(map(columns.count, columns), default=0)
            least += -(-len(units) // (128 // width))
        return wavefronts, wavefronts - least


def warps_of(threads):
    return [range(first, first + 32) for first in range(0, threads, 32)]


def where(condition, address):
    return FLOAT * address if condition else None


def tiles(M, N, BM, BN):
    return [(row, col) for row in range(0, M, BM) for col in range(0, N, BN)]


def one_thread_one_result(model, M, N, K, BM, BN, along_rows):
    """Chapters 1 and 2: x walks rows, or columns."""
    for top, left in tiles(M, N, BM, BN):
        for warp in warps_of(BM * BN):
            at = [
                (top + t % BM, left + t // BM)
                if along_rows
                else (top + t // BN, left + t % BN)
                for t in warp
            ]
            inside = [row < M and col < N for row, col in at]
            for k in range(K):
                model.request(
                    "global load",
                    [where(ok, row * K + k) for (row, _), ok in zip(at, inside)],
                )
                model.request(
                    "global load",
                    [where(ok, k * N + col) for (_, col), ok in zip(at, inside)],
                )
            model.request(
                "global store",
                [where(ok, row * N + col) for (row, col), ok in zip(at, inside)],
            )


def fetch(model, M, N, K, top, left, k0, BM, BN, BK, threads):
    """Chapters 3 to 5: a thread's elements of the two tiles are `threads` apart; outside there are zeros."""
    for base in range(0, BM * BK, threads):
        for warp in warps_of(threads):
            at = [((base + t) // BK, (base + t) % BK) for t in warp]
            model.request(
                "global load",
                [
                    where(top + r < M and k0 + c < K, (top + r) * K + k0 + c)
                    for r, c in at
                ],
            )
            model.request("shared store", [FLOAT * (r * BK + c) for r, c in at])
    for base in range(0, BK * BN, threads):
        for warp in warps_of(threads):
            at = [((base + t) // BN, (base + t) % BN) for t in warp]
            model.request(
                "global load",
                [
                    where(k0 + r < K and left + c < N, (k0 + r) * N + left + c)
                    for r, c in at
                ],
            )
            model.request("shared store", [FLOAT * (r * BN + c) for r, c in at])


def tiled(model, M, N, K, BM, BN, BK, TM, TN, wide=False):
    """Chapters 3 to 6. wide: chapter 6, whose A tile lies transposed and whose accesses are float4s."""
    threads = BM * BN // (TM * TN)
    place = {t: (t // (BN // TN) * TM, t % (BN // TN) * TN) for t in range(threads)}
    for top, left in tiles(M, N, BM, BN):
        for k0 in range(0, K, BK):
            if wide:
                fetch_wide(model, M, N, K, top, left, k0, BM, BN, BK, threads)
            else:
                fetch(model, M, N, K, top, left, k0, BM, BN, BK, threads)
            for warp in warps_of(threads):
                for k in range(BK):
                    for m in range(0, TM, 4 if wide else 1):
                        model.request(
                            "shared load",
                            [
                                FLOAT * (k * BM + place[t][0] + m)
                                if wide
                                else FLOAT * ((place[t][0] + m) * BK + k)
                                for t in warp
                            ],
                            16 if wide else 4,
                        )
                    for n in range(0, TN, 4 if wide else 1):
                        model.request(
                            "shared load",
                            [FLOAT * (k * BN + place[t][1] + n) for t in warp],
                            16 if wide else 4,
                        )
        floats = 4 if wide and K % 4 == 0 and N % 4 == 0 else 1
        for warp in warps_of(threads):
            for m in range(TM):
                for n in range(0, TN, floats):
                    at = [(top + place[t][0] + m, left + place[t][1] + n) for t in warp]
                    model.request(
                        "global store",
                        [where(r < M and c < N, r * N + c) for r, c in at],
                        FLOAT * floats,
                    )


def fetch_wide(model, M, N, K, top, left, k0, BM, BN, BK, threads):
    """Chapter 6: a float4 of each tile a thread; word by word where rows are not whole float4s."""
    aligned = K % 4 == 0 and N % 4 == 0
    for warp in warps_of(threads):
        a = [(t // (BK // 4), t % (BK // 4) * 4) for t in warp]
        b = [(t // (BN // 4), t % (BN // 4) * 4) for t in warp]
        for i in range(1 if aligned else 4):
            width = 16 if aligned else 4
            model.request(
                "global load",
                [
                    where(top + r < M and k0 + c + i < K, (top + r) * K + k0 + c + i)
                    for r, c in a
                ],
                width,
            )
            model.request(
                "global load",
                [
                    where(k0 + r < K and left + c + i < N, (k0 + r) * N + left + c + i)
                    for r, c in b
                ],
                width,
            )
        for i in range(4):
            model.request("shared store", [FLOAT * ((c + i) * BM + r) for r, c in a])
        model.request("shared store", [FLOAT * (r * BN + c) for r, c in b], 16)


def modelled(chapter, M, N, K):
    model = Model()
    if chapter == 1:
        one_thread_one_result(model, M, N, K, 32, 8, True)
    elif chapter == 2:
        one_thread_one_result(model, M, N, K, 8, 32, False)
    else:
        sizes = {
            3: (32, 32, 32, 1, 1),
            4: (64, 64, 8, 8, 1),
            5: (128, 128, 8, 8, 8),
            6: (128, 128, 8, 8, 8),
        }
        tiled(model, M, N, K, *sizes[chapter], wide=chapter == 6)
    return model.total


@pytest.mark.parametrize("chapter", range(1, 7))
def test_the_model_agrees_with_the_closed_form(chapter):
    assert modelled(chapter, 128, 128, 32) == closed_form(chapter, 128, 128, 32)


SHAPES = [
    (1, 1, 1),
    (130, 67, 33),
    (129, 65, 31),
    (257, 129, 65),
    (7, 300, 5),
    (300, 7, 12),
    (200, 136, 72),
    (132, 68, 36),
    (33, 31, 1),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.parametrize("chapter", range(1, 7))
def test_partial_tiles(chapter, shape, chapters, tmp_path):
    (kernel,) = look(chapters[chapter], *shape, "--check-only", tmp_path=tmp_path)
    assert seen_by_lens(kernel) == modelled(chapter, *shape)
    M, N, K = shape
    assert kernel["results"] == M * N * kernel["launches"]
    assert kernel["loaded_bytes"] == FLOAT * (M * K + K * N) * kernel["launches"]


def test_old_values_are_read_when_beta_asks(chapters, tmp_path):
    (kernel,) = look(chapters[2], "64", "--beta", "1", "--check-only", tmp_path=tmp_path)
    requests, lanes, sectors, used = closed_form(2, 128, 128, 32)["global load"]
    plain = (2 * 64 * 128, 2 * 64 * 4096, 5 * 64 * 128, 132 * 64 * 128)
    old = (128, 4096, 4 * 128, FLOAT * 4096)
    assert seen_by_lens(kernel)["global load"] == tuple(a + b for a, b in zip(plain, old))


# ---- large problems ----


def test_sampled_blocks_are_like_all(chapters, tmp_path):
    """512 x 512 in tiles of 32 x 32 are 256 blocks, all alike."""
    (all_seen,) = look(chapters[3], "512", "512", "32", "--check-only", tmp_path=tmp_path)
    (sample,) = look(
        chapters[3],
        "512",
        "512",
        "32",
        "--check-only",
        tmp_path=tmp_path,
        LENS_BLOCKS="8",
    )
    assert all_seen["blocks_seen"] == all_seen["blocks"] == sample["blocks"] == 512
    assert sample["blocks_seen"] == 16
    assert sample["totals"].keys() == all_seen["totals"].keys()
    for kind, total in sample["totals"].items():
        assert [number * 32 for number in figures(total)] == list(
            figures(all_seen["totals"][kind])
        )
    unknown = ["results", "loaded_bytes", "stored_bytes"]
    assert [sample[name] for name in unknown] == [None] * 3, (
        "the results of blocks that were not looked at are unknown"
    )
    assert sample["bound"]["each"]["device memory"] is None


def test_a_sample_says_so(chapters):
    result = run(
        [chapters[3], "512", "512", "32", "--check-only"],
        env=no_cuda() | {"LENS": "1", "LENS_BLOCKS": "8"},
    )
    assert "  looked at 16 of 512 blocks; the figures are of those\n" in result.stdout
    assert (
        "      not known, and may take longer: device memory (not all blocks or arrays\n"
        in result.stdout
    )


def kernels_of(emulate, tmp_path, text, compiler=None, **settings):
    """{name: kernel} of a program whose text is given."""
    source = tmp_path / "user.cu"
    source.write_text(text)
    options = {"compiler": compiler} if compiler else {}
    told = look(emulate(source, **options), tmp_path=tmp_path, **settings)
    return {kernel["name"]: kernel for kernel in told}


def test_one_unknown_launch_makes_the_sum_unknown(emulate, tmp_path):
    kernels = kernels_of(
        emulate,
        tmp_path,
        """
__global__ void k(float *a)
{
    a[blockIdx.x * 32 + threadIdx.x] = 1;
}
int main(void)
{
    float *a;
    cudaMalloc(&a, 64 * 32 * sizeof *a);
    k<<<4, 32>>>(a);
    k<<<64, 32>>>(a);
    return cudaFree(a) != cudaSuccess;
}
""",
        LENS_BLOCKS="4",
    )
    assert (kernels["k"]["blocks_seen"], kernels["k"]["blocks"]) == (8, 68)
    assert kernels["k"]["results"] is None and kernels["k"]["stored_bytes"] is None


@pytest.mark.parametrize("blocks", [None, 4])
def test_a_block_counts_once_however_often_it_waits(blocks, emulate, tmp_path):
    """Those looked at are the same ones before and after a barrier of the whole grid."""
    text = """
#include <cooperative_groups.h>
__global__ void k(float *a)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    for (int turn = 0; turn < 5; turn++) {
        a[i] = turn;
        cooperative_groups::this_grid().sync();
    }
}
int main(void)
{
    float *a;
    cudaMalloc(&a, 16 * 32 * sizeof *a);
    void *all[] = {&a};
    for (int i = 0; i < 2; i++) cudaLaunchCooperativeKernel((void *)k, 16, 32, all, 0, 0);
    return cudaFree(a) != cudaSuccess;
}
"""
    some = {"LENS_BLOCKS": str(blocks)} if blocks else {}
    k = kernels_of(emulate, tmp_path, text, **some)["k"]
    seen = 2 * (blocks or 16)
    assert (k["launches"], k["blocks"], k["blocks_seen"]) == (2, 32, seen)
    assert k["totals"]["global store"]["requests"] == 5 * seen


def test_what_the_copy_engine_stores(emulate, tmp_path):
    text = """
#include <cuda/barrier>
namespace cde = cuda::device::experimental;
__global__ void k(float *out)
{
    __shared__ alignas(128) float tile[256];
    tile[threadIdx.x] = 1;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_shared_to_global(out + 256 * blockIdx.x, tile, sizeof tile);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}
int main(void)
{
    float *out;
    cudaMalloc(&out, 4096);
    k<<<4, 256>>>(out);
    return cudaFree(out) != cudaSuccess;
}
"""
    k = kernels_of(emulate, tmp_path, text)["k"]
    assert figures(k["totals"]["bulk store"]) == (4, 1024, 128, 4096)
    assert (k["stored_bytes"], k["results"]) == (4096, 1024)


@pytest.mark.parametrize("compiler", HOST_COMPILERS)
def test_flop_are_those_of_the_source(compiler, emulate, tmp_path):
    """However the host computes numbers of 16 bits, and whatever it packs."""
    kernels = kernels_of(
        emulate,
        tmp_path,
        """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void convert(const float *a, __half *o)
{
    o[threadIdx.x] = __float2half(a[threadIdx.x]);
}
__global__ void fma2(const __half2 *a, __half2 *o)
{
    __half2 x = a[threadIdx.x], sum = x;
    for (int i = 0; i < 10; i++) sum = __hfma2(sum, x, x);
    o[threadIdx.x] = sum;
}
__global__ void add(const __nv_bfloat16 *a, __nv_bfloat16 *o)
{
    o[threadIdx.x] = a[threadIdx.x] * a[32 + threadIdx.x] + a[64 + threadIdx.x];
}
__global__ void multiply(const float4 *a, float4 *o)
{
    const float4 x = a[threadIdx.x], y = a[32 + threadIdx.x];
    o[threadIdx.x] = make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w);
}
int main(void)
{
    void *a, *o;
    cudaMalloc(&a, 1024);
    cudaMalloc(&o, 1024);
    cudaMemset(a, 0, 1024);
    convert<<<1, 32>>>((float *)a, (__half *)o);
    fma2<<<1, 32>>>((__half2 *)a, (__half2 *)o);
    add<<<1, 32>>>((__nv_bfloat16 *)a, (__nv_bfloat16 *)o);
    multiply<<<1, 32>>>((float4 *)a, (float4 *)o);
    cudaFree(a);
    return cudaFree(o) != cudaSuccess;
}
""",
        compiler,
    )
    flop = {name: (k["flop"], k["half_flop"]) for name, k in kernels.items()}
    fma2, add, multiply = 32 * 10 * 2 * 2, 32 * 2, 32 * 4
    assert flop == {
        "convert": (0, 0),
        "fma2": (fma2, fma2),
        "add": (add, add),
        "multiply": (multiply, 0),
    }
    each = kernels["fma2"]["bound"]["each"]
    assert each["multiply-adds"] == 0 < each["16-bit multiply-adds"]


@pytest.mark.parametrize("compiler", HOST_COMPILERS)
def test_an_atomic_that_only_reads_is_a_load(compiler, emulate, tmp_path):
    text = """
#include <cuda/atomic>
__global__ void k(int *p)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> first(p[0]), mine(p[1 + threadIdx.x]);
    mine.store(first.load(cuda::memory_order_relaxed), cuda::memory_order_relaxed);
}
int main(void)
{
    int *p;
    cudaMalloc(&p, 256);
    cudaMemset(p, 0, 256);
    k<<<1, 32>>>(p);
    return cudaFree(p) != cudaSuccess;
}
"""
    totals = kernels_of(emulate, tmp_path, text, compiler)["k"]["totals"]
    assert totals.keys() == {"global load", "global store"}


def test_kernels_are_told_by_their_own_names(emulate, tmp_path):
    text = """
namespace ours {
template <int N, class T> __global__ void k(T *a)
{
    a[threadIdx.x] = N;
}
}
template <class T> void launch(void *a)
{
    ours::k<1, T><<<1, 32>>>((T *)a);
    void (*const table[])(T *) = {ours::k<2, T>};
    table[0]<<<1, 32>>>((T *)a);
}
int main(void)
{
    void *a;
    cudaMalloc(&a, 256);
    launch<float>(a);
    launch<int>(a);
    return cudaFree(a) != cudaSuccess;
}
"""
    names = [f"ours::k<{n}, {t}>" for t in ("float", "int") for n in (1, 2)]
    assert list(kernels_of(emulate, tmp_path, text)) == names


def test_two_accesses_of_a_line_that_use_other_bytes(emulate, tmp_path):
    """As many sectors each, and nothing else in common."""
    text = """
__global__ void k(float *a)
{
    a[threadIdx.x] = a[4 * (threadIdx.x % 8)] + a[threadIdx.x + 64];
}
int main(void)
{
    float *a;
    cudaMalloc(&a, 512);
    cudaMemset(a, 0, 512);
    k<<<1, 32>>>(a);
    return cudaFree(a) != cudaSuccess;
}
"""
    lines = kernels_of(emulate, tmp_path, text)["k"]["lines"]
    used = [line["bytes_used"] for line in lines if line["kind"] == "global load"]
    assert sorted(used) == [32, 128]


def test_texture_fetches_are_not_passed_over(emulate, tmp_path):
    source = ROOT / "tests" / "programs" / "textures.cu"
    text = report(emulate(source))
    assert re.search(r"^    [\d,]+ texture fetch(es are| is) not counted$", text, re.M)


def test_one_bulk_copy_does_not_hide_idle_lanes(emulate, tmp_path):
    source = tmp_path / "user.cu"
    source.write_text("""
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void k(const float *in, float *out)
{
    __shared__ alignas(128) float all[1024];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_global_to_shared(all, in, sizeof all,
                                                                   bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof all);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    if (threadIdx.x == 0)
        for (int i = 0; i < 512; i++) out[i] = all[i];
}
int main(void)
{
    float *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    k<<<1, 64>>>(a, b);
    cudaFree(a);
    return cudaFree(b) != cudaSuccess;
}
""")
    text = " ".join(report(emulate(source)).split())
    assert "begin at line 23: 1 of 32 lanes take part in its global store" in text


def test_a_place_in_a_header_is_told_with_it(emulate, tmp_path):
    """Line 4 of two files: one has two accesses, the other one."""
    (tmp_path / "header.h").write_text(
        "__device__ inline float far(const float *a, int i)\n{\n    return\n"
        "        a[8 * i];\n}\n"
    )
    source = tmp_path / "user.cu"
    source.write_text("""#include "header.h"
__global__ void k(float *a)
{
    a[threadIdx.x] = far(a, threadIdx.x) + a[threadIdx.x];
}
int main(void)
{
    float *a;
    cudaMalloc(&a, 1024);
    cudaMemset(a, 0, 1024);
    k<<<1, 32>>>(a);
    return cudaFree(a) != cudaSuccess;
}
""")
    program = emulate(source)
    # Wherever the lines are folded.
    assert f"beginatline4of{tmp_path}/header.h:itsglobalload" in "".join(
        report(program).split()
    )
    chosen, _ = drawing(program, tmp_path, LENS_LINE="4.2")
    assert 'label="global store' in chosen
    _, none = drawing(program, tmp_path, LENS_LINE="4.3")
    assert none == "LENS=dot: no access to memory on line 4.3\n"


@pytest.mark.parametrize("compiler", HOST_COMPILERS)
def test_any_name_and_any_bytes(compiler, emulated_nvcc, tmp_path):
    """Quotes in the names of program and source, a source that is not UTF-8, long words, no newline at the end."""
    name = "k" + "_and_on" * 15
    source = tmp_path / 'o\'dd "file".cu'
    source.write_bytes(
        b"#include <stdio.h>\n"
        + f"__global__ void {name}(float *a)\n{{\n".encode()
        + b"    a[threadIdx.x]+=1;/*"
        + b"\xe9" * 60
        + "é".encode() * 60
        + b"*/\n}\n"
        + f"""int main(void)
{{
    float *a;
    cudaMalloc(&a, 128);
    cudaMemset(a, 0, 128);
    {name}<<<1, 32>>>(a);
    printf("done");
    return cudaFree(a) != cudaSuccess;
}}
""".encode()
    )
    program = tmp_path / 'o\'dd "program"'
    build = run([emulated_nvcc, "-ccbin", compiler, source, "-o", program])
    assert build.returncode == 0, build.stderr
    result = run([program], env=no_cuda() | {"LENS": "json"})
    assert result.stdout.startswith("done\n")
    (kernel,) = json.loads(result.stdout.splitlines()[-1])["kernels"]
    assert kernel["name"] == name and kernel["flop"] == 32
    line = kernel["lines"][0]
    assert line["file"].endswith(source.name)
    assert line["text"] == "a[threadIdx.x]+=1;/*" + "\ufffd" * 60 + "é" * 60 + "*/"
    text = run([program], env=no_cuda() | {"LENS": "1"}).stdout
    assert "objdump" not in text and "\ufffdé" in text
    folded = [line for line in text.splitlines() if not line.endswith(".cu")]
    assert max(map(len, folded)) <= 80 and f"LENS\n      {name[:74]}\n" in text


@pytest.mark.parametrize("form", ["1", "json"])
def test_a_program_without_kernels_has_a_report(form, emulate, tmp_path):
    source = tmp_path / "user.cu"
    source.write_text("int main(void)\n{\n    return 0;\n}\n")
    out = tmp_path / "report"
    result = run([emulate(source)], env=no_cuda() | {"LENS": form, "LENS_OUT": str(out)})
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert form == "1" or json.loads(out.read_text())["kernels"] == []
    assert form == "json" or out.read_text() == ""


# ---- one rule at a time ----

RULES = ROOT / "tests" / "lens" / "rules.cu"
EXPECTED = {}
for notes, kernel_name in re.findall(
    r"((?:^// LENS: .*\n)+)__global__ void (\w+)", RULES.read_text(), re.M
):
    EXPECTED[kernel_name] = {
        kind: {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", numbers)}
        for kind, numbers in re.findall(r"^// LENS: (.*?) (requests=.*)$", notes, re.M)
    }


@pytest.fixture(scope="session", params=HOST_COMPILERS)
def rules(request, emulated_nvcc, shared_folder, tmp_path_factory):
    program = shared_folder / f"rules-{request.param}"
    with once(shared_folder / f"rules-built-{request.param}") as first:
        if first:
            build = run(
                [
                    emulated_nvcc,
                    "-ccbin",
                    request.param,
                    "-O2",
                    "-std=c++17",
                    RULES,
                    "-o",
                    program,
                    "-Xcompiler",
                    "-Wall,-Wextra,-Werror",
                ],
                env=no_cuda(),
            )
            assert build.returncode == 0, build.stderr
    kernels = look(program, tmp_path=tmp_path_factory.mktemp("rules"))
    return {kernel["name"]: kernel for kernel in kernels}


@pytest.mark.parametrize("name", EXPECTED)
def test_rule(name, rules):
    totals, expected = rules[name]["totals"], EXPECTED[name]
    # A note may leave out lookups, and what loads are as joined.
    told = {
        kind: {figure: totals[kind][figure] for figure in figures}
        for kind, figures in expected.items()
        if kind in totals
    }
    assert told == expected and totals.keys() == expected.keys()


def test_every_rule_is_run(rules):
    assert list(rules) == list(EXPECTED), (
        "two kernels in one program are two entries, in the order of their launches"
    )


@for_real_nvcc(
    "source", sorted((ROOT / "tests" / "lens").glob("*.cu")), ids=lambda path: path.name
)
def test_rules_are_genuine_cuda(source, tmp_path):
    accept(source, tmp_path, "-arch=sm_80")


@pytest.mark.long
def test_as_a_gpu_counted(chapters, project):
    """What Nsight Compute counted on a GPU is recorded; the lens still says what it said beside it, and every
    request and sector of global memory is equal."""
    build = run(["make", "-s", "-C", project, "EMULATOR=1", "patterns"], env=no_cuda())
    assert build.returncode == 0, build.stderr
    result = run(
        [
            sys.executable,
            "-B",
            project / "results" / "lens_vs_ncu.py",
            "--lens",
            "--check",
        ],
        env=no_cuda(),
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_cluster_that_is_not_looked_at(emulate, tmp_path):
    """Its first launch begins twice; between cudaProfilerStop and Start that counts nothing."""
    source = tmp_path / "user.cu"
    source.write_text("""
#include <cuda_profiler_api.h>
__global__ void __cluster_dims__(2) k(int *p)
{
    p[blockIdx.x * 32 + threadIdx.x] = 1;
}
int main(void)
{
    int *p;
    cudaMalloc(&p, 512);
    cudaProfilerStop();
    k<<<4, 32>>>(p);
    cudaProfilerStart();
    k<<<4, 32>>>(p);
    cudaFree(p);
    return cudaGetLastError() != cudaSuccess;
}
""")
    (kernel,) = look(emulate(source), tmp_path=tmp_path)
    assert (kernel["launches"], kernel["blocks"], kernel["blocks_seen"]) == (1, 4, 4)


# ---- the report ----


def report(program, *arguments, **settings):
    result = run([program, *arguments], env=no_cuda() | {"LENS": "1"} | settings)
    assert result.returncode == 0, result.stdout + result.stderr
    text = result.stdout[result.stdout.index("\nLENS  ") :]
    assert max(map(len, text.splitlines())) <= 110
    return text


def line_of(source, code):
    lines = [line.strip() for line in source.read_text().splitlines()]
    return lines.index(code) + 1


SOURCE = {
    int(path.parent.name[:2]): path
    for path in (ROOT / "chapters").glob("[0-9][0-9]_*/matmul.cu")
}


def test_report_of_chapter_1(chapters):
    text = report(chapters[1], "256", "--check-only")
    line = line_of(SOURCE[1], "acc += A[(size_t)row * K + k] * B[(size_t)k * N + col];")
    assert (
        f"    {line}  acc += A[(size_t)row * K + k] * B[(size_t)k * N + col];\n" in text
    )
    assert (
        "worst global load        4 B x 32        524,288 requests     32 sectors each\n"
        "        32 lanes touch 32 sectors: 4 of 32 bytes used of each; neighbours lie\n"
        "        1,024 bytes apart\n"
        "      global load        4 B x 32        524,288 requests      1 sector  each\n"
        "        all lanes want one value: a broadcast, one sector\n"
    ) in text
    assert (
        "    loads for each of 65,536 results of 4 bytes: 512 from global memory, 0 from\n"
        "      shared memory\n"
    ) in text
    assert (
        "    global load           1,048,576 requests     17,301,504 sectors, 16.50 each\n"
        "      4 of 32 bytes of a sector are used\n" in text
    )
    assert (
        f"  begin at line {line}: its global load moves 8 times the sectors that its bytes\n"
        "    would fill. It moves fewer when neighbours in threadIdx.x go to neighbouring\n"
    ) in text
    assert len(re.findall("^worst ", text, re.M)) == 1


@pytest.mark.parametrize("chapter", [1, 4, 7, 10, 13, 16, 18])
def test_report_fits_a_terminal(chapter, chapters):
    text = report(chapters[chapter], "129", "130", "70", "--check-only")
    long = [line for line in text.splitlines() if len(line) > 80]
    assert [line for line in long if " " in line.strip()] == []  # a path alone may be


def test_report_of_chapter_2(chapters):
    text = report(chapters[2], "256", "--check-only")
    assert (
        "        all lanes want one value: a broadcast, one sector\n"
        "      global load        4 B x 32        524,288 requests      4 sectors each\n"
        "        32 lanes touch 4 sectors and use every byte\n"
    ) in text
    assert not re.search("^worst ", text, re.M)
    assert text.endswith(
        "  no line wastes much: what is left is to ask for less, or for more at once\n"
    )


def test_report_of_chapter_6(chapters):
    text = report(chapters[6], "256", "--check-only")
    line = line_of(
        SOURCE[6], "*(float4 *)&b_frag[n] = *(const float4 *)&B_tile[k][thread_col + n];"
    )
    assert (
        "worst shared load       16 B x 32         16,384 requests      8 wavefronts each\n"
        "        2-way bank conflict: lanes 0, 4 meet in banks 0 to 3\n"
    ) in text
    assert (
        "      shared store       4 B x 32          4,096 requests      2 wavefronts each\n"
        "        2-way bank conflict: lanes 0, 1 meet in bank "
    ) in text
    assert (
        f"  begin at line {line}: 50 % of the wavefronts of its shared load are conflicts."
        in text
    )
    assert (
        "FLOP: 32.2 for each byte requested from global memory; 42.9 if\n"
        "      each byte moved once\n" in text
    )


def test_report_names_what_limits_occupancy(chapters):
    text = report(chapters[3], "64", "--check-only", EMULATE="a6000", LENS_REGS="37")
    assert (
        "1 by threads, 1 by 37 registers a thread, 11 by shared memory, 16 at most: "
        "32 of 48 warps (66.7 %), limited by threads and registers "
        in " ".join(text.split())
        + " "
    )


def test_report_names_all_four_limits(emulate, tmp_path):
    source = tmp_path / "ties.cu"
    source.write_text("""
__global__ void k(float *a)
{
    __shared__ float s[1024];
    s[threadIdx.x] = 1;
    a[threadIdx.x] = s[threadIdx.x];
}
int main(void)
{
    float *a;
    cudaMalloc(&a, 4096);
    k<<<1, 64>>>(a);
    return cudaFree(a) != cudaSuccess;
}
""")
    text = report(emulate(source), EMULATE="t4", LENS_REGS="64")
    assert (
        "limited by threads and registers and shared memory and the number of blocks "
        in " ".join(text.split()) + " "
    )


@pytest.fixture
def program(emulate):
    return lambda name: emulate(ROOT / "tests" / "programs" / f"{name}.cu")


def test_report_of_a_transpose(program):
    plain, padded = report(program("transpose")).split("\nLENS  ")[1:]
    line = line_of(
        ROOT / "tests" / "programs" / "transpose.cu",
        "out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];",
    )
    assert plain.startswith("transpose<32, 8, 0>") and padded.startswith(
        "transpose<32, 8, 1>"
    )
    assert "        25.7-way bank conflict: lanes 0, 1, 2, 3, ... meet in bank " in plain
    assert (
        f"  begin at line {line}: 96 % of the wavefronts of its shared load are conflicts."
        in plain
    )
    assert "bank conflict:" not in padded and "  no line wastes much" in padded


def test_report_of_a_reduction(program):
    interleaved, sequential = report(program("reduce_tree")).split("\nLENS  ")[1:]
    line = line_of(
        ROOT / "tests" / "programs" / "reduce_tree.cu",
        "if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];",
    )
    assert "        no bank conflicts; 5.52 of 32 lanes take part\n" in interleaved
    assert "        one lane alone\n" in interleaved
    assert (
        f"  begin at line {line}: 5.52 of 32 lanes take part in its shared load, and the others wait."
        in interleaved.replace("\n    ", " ")
    )
    assert (
        "  2 launches of different shapes, this is the last; the figures are of all\n"
        "    together\n" in sequential
    )


# ---- the drawing ----


def drawing(program, tmp_path, **settings):
    out = tmp_path / "request.dot"
    result = run(
        [program, "64", "--check-only"],
        env=no_cuda() | {"LENS": "dot", "LENS_OUT": str(out)} | settings,
    )
    assert result.returncode == 0
    return out.read_text(), result.stderr


def test_drawing_of_sectors(chapters, tmp_path):
    line = line_of(SOURCE[1], "acc += A[(size_t)row * K + k] * B[(size_t)k * N + col];")
    rows_apart, _ = drawing(chapters[1], tmp_path, LENS_LINE=f"{line}.1")
    assert re.findall(r"lane(\d+):s -> word(\d+)_(\d+):n", rows_apart) == [
        (str(i), str(i), "0") for i in range(32)
    ]
    assert rows_apart.count('fillcolor="#b35900"') == 32
    broadcast, _ = drawing(chapters[1], tmp_path, LENS_LINE=f"{line}.2")
    assert len(re.findall(r"lane\d+:s -> word0_0:n", broadcast)) == 32
    worst, _ = drawing(chapters[1], tmp_path)
    assert worst == rows_apart, "without a choice it is the worst line"


def test_drawing_of_banks(chapters, tmp_path):
    line = line_of(SOURCE[6], "A_tile[load_a_col + i][load_a_row] = a[i];")
    text, _ = drawing(chapters[6], tmp_path, LENS_LINE=str(line))
    served = re.findall(r'box(\d)_(\d+) .*fillcolor="#0b7285", label="(\d+)"', text)
    assert served == [
        (str(i % 2), str(i // 2), str(i))
        for i in sorted(range(32), key=lambda lane: (lane % 2, lane))
    ]


def test_drawing_of_nothing_is_one_line(chapters, tmp_path):
    text, said = drawing(chapters[1], tmp_path, LENS_LINE="1")
    assert (text, said) == ("", "LENS=dot: no access to memory on line 1\n")


def test_figures_are_current(chapters, project):
    result = run(
        [sys.executable, "-B", project / "results" / "lens_figures.py", "--check"],
        env=no_cuda(),
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("setting", ["2", "yes", "JSON"])
def test_unknown_form_is_one_line(setting, chapters):
    result = run([chapters[1], "8"], env=no_cuda() | {"LENS": setting})
    assert result.returncode == 2
    assert f'not "{setting}"' in result.stderr and result.stderr.count("\n") == 1


def test_json_is_the_last_line(chapters):
    result = run(
        [chapters[1], "8", "--check-only"],
        env=no_cuda() | {"LENS": "json", "EMULATE": "t4"},
    )
    told = json.loads(result.stdout.splitlines()[-1])
    assert told["gpu"] == "Tesla T4 (emulated)"
    (kernel,) = told["kernels"]
    assert kernel["grid"] == [1, 1, 1] and kernel["block"] == [32, 8, 1]
    assert [line["text"] for line in kernel["lines"]].count(
        "acc += A[(size_t)row * K + k] * B[(size_t)k * N + col];"
    ) == 2
    for line in kernel["lines"]:
        assert (
            SOURCE[1].read_text().splitlines()[line["line"] - 1].strip() == line["text"]
        )
        assert line["verdict"]
    for kind, total in kernel["totals"].items():
        lines = [line for line in kernel["lines"] if line["kind"] == kind]
        for name in total:
            assert sum(line[name] for line in lines) == total[name], (
                "the lines add up to the total"
            )
