"""Chapters 16 and 17: bugs planted in any of their files."""

import re
import shutil
from typing import NamedTuple

import pytest

from conftest import ROOT, no_cuda, run


class Mutant(NamedTuple):
    name: str
    file: str
    old: str  # must be there once
    new: str
    options: str = ""


EMPTY = "mbarrier_wait_parity(&empty[t.index], t.parity ^ 1);"
BOTH = [
    # The ring.
    Mutant(
        "full not waited for", "matmul.cu", "mbarrier_wait_parity(&full[", "(void)(&full["
    ),
    Mutant("accumulators not fenced", "matmul.cu", "wgmma_fence();", ""),
    Mutant(
        "stage released too early",
        "matmul.cu",
        "wgmma_wait_group<1>()",
        "wgmma_wait_group<2>()",
    ),
    Mutant(
        "results read too early",
        "matmul.cu",
        "wgmma_wait_group<0>()",
        "wgmma_wait_group<1>()",
    ),
    Mutant("stage before the first", "matmul.cu", "if (step > 0)\n", ""),
    # What a descriptor says.
    Mutant(
        "A's next rows",
        "matmul.cu",
        "16, 8 * 128, WGMMA_SWIZZLE_128B);\n            const uint64_t b",
        "16, 4 * 128, WGMMA_SWIZZLE_128B);\n            const uint64_t b",
    ),
    Mutant(
        "B's next columns", "matmul.cu", "sizeof now->B[0], 8", "sizeof now->B[0] / 2, 8"
    ),
    Mutant("A's next k", "matmul.cu", "a + k * 32 / 16", "a + k * 16 / 16"),
    Mutant("B's next k", "matmul.cu", "b + k * 16 * 128 / 16", "b + k * 8 * 128 / 16"),
    Mutant("B is K-major", "matmul.cu", "bf16<0, 1>", "bf16<0, 0>"),
    Mutant(
        "both warpgroups in the upper half",
        "matmul.cu",
        "now->A[warp / 4 * 64]",
        "now->A[0]",
    ),
    Mutant("the sum before is kept", "matmul.cu", "step > 0 || k > 0", "1"),
    Mutant("each step starts again", "matmul.cu", "step > 0 || k > 0", "k > 0"),
    # Results on their way out.
    Mutant(
        "written before it was read",
        "matmul.cu",
        "            cp_async_bulk_wait_group_read<",
        "            (void)sizeof(cp_async_bulk_wait_group_read<",
    ),
    Mutant("engine sees old bytes", "matmul.cu", "fence_proxy_async();\n", ""),
    Mutant(
        "other lanes not waited for",
        "matmul.cu",
        "fence_proxy_async();\n        __syncwarp();",
        "fence_proxy_async();",
    ),
    Mutant("out not swizzled", "matmul.cu", "(cell ^ lane % 8) * 8", "cell * 8"),
    Mutant(
        "one column further",
        "matmul.cu",
        "const int cell = n / 8 + lane / 16",
        "const int cell = n / 8",
    ),
    Mutant(
        "gone before it has left",
        "matmul.cu",
        "        cp_async_bulk_wait_group<0>();",
        "        ;",
    ),
    Mutant("alpha ignored", "matmul.cu", "acc[i] *= w->alpha;", ""),
    Mutant("beta ignored", "matmul.cu", "w->beta * ", ""),
    Mutant("second row is the first", "matmul.cu", "i / 2 % 2 * 8", "0"),
    Mutant("B's columns by N", "matmul.cu", "i / 4 * 8 + ", "i / 8 * 8 + "),
]
OF_16 = [
    Mutant("empty not waited for", "matmul.cu", f"{EMPTY}\n            // All", "// All"),
    Mutant(
        "too few bytes announced",
        "matmul.cu",
        "come, sizeof(stage)",
        "come, sizeof(stage) - 128",
    ),
    Mutant("for this block alone", "matmul.cu", "come, (1 << CLUSTER) - 1", "come, 1"),
    Mutant(
        "both bring the same slabs", "matmul.cu", "cluster_ctarank() * share", "0 * share"
    ),
    Mutant(
        "told to one block",
        "matmul.cu",
        "threadIdx.x % 128 < CLUSTER",
        "threadIdx.x % 128 < 1",
    ),
    Mutant(
        "one block's readers counted", "matmul.cu", "CONSUMERS * CLUSTER)", "CONSUMERS)"
    ),
    Mutant("parity stays", "matmul.cu", "t->parity ^= 1;", ""),
    Mutant(
        "leaves before the last arrival",
        "matmul.cu",
        "i < STAGES; ++i) {\n        mbarrier_wait",
        "i < 0; ++i) {\n        mbarrier_wait",
    ),
    Mutant(
        "other block's barriers not there",
        "matmul.cu",
        "    barrier_cluster_arrive();\n    barrier_cluster_wait();",
        "    __syncthreads();",
    ),
    Mutant("barriers unknown to the engine", "matmul.cu", "fence_mbarrier_init();", ""),
    Mutant("one place on the way out", "matmul.cu", "out[slab % 2]", "out[0]"),
    Mutant(
        "one column too many",
        "matmul.cu",
        "col + c < w->N)\n                    w",
        "col + c <= w->N)\n                    w",
    ),
    Mutant("one row too many", "matmul.cu", "if (row + r < w->M", "if (row + r <= w->M"),
    Mutant("way out not unswizzled", "matmul.cu", "(c / 8 ^ r % 8) * 8", "c / 8 * 8"),
    Mutant(
        "other block's tile",
        "matmul.cu",
        "CLUSTER + (int)cluster_ctarank()",
        "CLUSTER + 1 - (int)cluster_ctarank()",
    ),
    Mutant(
        "the last k left out",
        "matmul.cu",
        "w.steps = divided_up(K, BK)",
        "w.steps = divided_up(K + 1, BK) - 1 + (K < BK)",
    ),
]
FOLDERS = {16: "16_beyond_cublas_bf16", 17: "17_every_shape_and_type"}
MUTANTS = [(16, mutant) for mutant in BOTH + OF_16]


@pytest.mark.parametrize(
    "chapter, mutant",
    MUTANTS,
    ids=lambda x: x.name.replace(" ", "_") if x in BOTH + OF_16 else str(x),
)
def test_is_refused(chapter, mutant, emulated_nvcc, chapters, project, tmp_path):
    folder = ROOT / "chapters" / FOLDERS[chapter]
    for file in folder.glob("*.cu*"):
        shutil.copy(file, tmp_path)
    text = (tmp_path / mutant.file).read_text()
    assert text.count(mutant.old) == 1, f"it is there {text.count(mutant.old)} times"
    (tmp_path / mutant.file).write_text(text.replace(mutant.old, mutant.new))
    objects = (project / "build" / "emulator").glob("common/*.o")
    flags = ["-O2", "-std=c++17", "-I", project / "common", "-I", tmp_path]
    command = [emulated_nvcc, *flags, tmp_path / "matmul.cu", *objects]
    built = run([*command, "-lcublas", "-o", tmp_path / "mutant"], env=no_cuda())
    assert built.returncode == 0, built.stderr
    result = run([tmp_path / "mutant", *mutant.options.split()], env=no_cuda())
    said = result.stdout + result.stderr
    assert result.returncode == 1, said
    assert re.search(r"^(FAIL$|FAULT )", said, re.M), said
