"""Chapters with one bug planted in each: verification or a fault check must refuse them all.

A mutant replaces a piece of a chapter's source, which has to be there exactly once, so that
a mutant whose text has gone is noticed. It is run as a reader runs it, without arguments.
"""

import json
import re
import sys
from typing import NamedTuple

import pytest

import mutants
from conftest import ROOT, at_length, build_changed, files_of_chapter, no_cuda, run


class Mutant(NamedTuple):
    chapter: int
    name: str
    old: str
    new: str
    caught: str = ""  # must be in what it prints
    code: int = 1  # 3 where CUDA refuses what the host asks for, and nothing is launched


NEVER_WRITTEN = "never written"
NO_MAP = ("cuTensorMapEncodeTiled refuses", 3)
BEHIND_IT = "    if (threadIdx.x < 128) {\n        setmaxnreg_dec<40>();\n        if (threadIdx.x == 0)\n"
TILE_OF_BLOCK = (
    "    const int tile_row = blockIdx.x % tiles_down;\n"
    "    const int tile_col = blockIdx.x / tiles_down;"
)
PRODUCT = "acc += A[(size_t)row * K + k] * B[(size_t)k * N + col];"


def tiles_in_groups(line, other):
    """Eight rows or columns of tiles at a time, where the last group is as large as the others."""
    counts = {"row": "tiles_down", "col": "tiles_across"}
    return f"""
    const int tiles_across = (N - 1) / BN + 1;
    const int most = {counts[line]} < 8 ? {counts[line]} : 8;
    const int group = blockIdx.x / (8 * {counts[other]});
    const int place = blockIdx.x % (8 * {counts[other]});
    const int tile_{line} = group * 8 + place % most;
    const int tile_{other} = place / most;"""


MUTANTS = [
    # Chapter 1: indices, guards, alpha and beta.
    Mutant(
        1,
        "transposed",
        "*c = &C[(size_t)row * N + col]",
        "*c = &C[(size_t)col * N + row]",
        "this is the transposed result",
    ),
    Mutant(1, "no guard", "if (row >= M || col >= N)", "if (row < 0)", "out of bounds"),
    Mutant(
        1, "guard by the wrong dimension", "row >= M || col >= N", "row >= N || col >= M"
    ),
    Mutant(1, "guard off by one row", "row >= M", "row > M", "out of bounds"),
    Mutant(1, "guard off by one column", "col >= N", "col > N"),
    Mutant(1, "guard one row too strict", "row >= M", "row >= M - 1", NEVER_WRITTEN),
    Mutant(
        1, "C's rows are K long", "&C[(size_t)row * N + col]", "&C[(size_t)row * K + col]"
    ),
    Mutant(1, "B's rows are K long", "B[(size_t)k * N + col]", "B[(size_t)k * K + col]"),
    Mutant(1, "A's rows are N long", "A[(size_t)row * K + k]", "A[(size_t)row * N + k]"),
    Mutant(1, "A read transposed", "A[(size_t)row * K + k]", "A[(size_t)k * M + row]"),
    Mutant(1, "the last k left out", "k < K;", "k < K - 1;"),
    Mutant(1, "one k too many", "k < K;", "k <= K;"),
    Mutant(1, "the first k left out", "int k = 0; k < K;", "int k = 1; k < K;"),
    Mutant(
        1,
        "sum starts from C",
        "float acc = 0.0f;",
        "float acc = C[(size_t)row * N + col];",
    ),
    Mutant(1, "sum overwritten", PRODUCT, PRODUCT.replace("+=", "=")),
    Mutant(1, "alpha ignored", "= alpha * acc", "= acc", "alpha was not applied"),
    Mutant(1, "beta * C left out", "acc + beta * old", "acc", "beta * C was not added"),
    Mutant(
        1,
        "C added without beta",
        "beta * old",
        "(beta == 0.0f ? 0.0f : old)",
        "without beta",
    ),
    Mutant(1, "beta == 0 reads C", "beta == 0.0f ? 0.0f : *c", "*c"),
    Mutant(1, "beta nearly 0 taken for 0", "beta == 0.0f", "fabsf(beta) < 1e-6f"),
    Mutant(
        1,
        "C read at beta == 0, and mended",
        "beta == 0.0f ? 0.0f : *c",
        "isnan(*c) ? 0.0f : *c",
        "or of C though beta is 0",
    ),
    Mutant(
        1,
        "small terms left out",
        PRODUCT,
        PRODUCT.replace("acc", "if (fabsf(B[(size_t)k * N + col]) > 1e-6f) acc"),
    ),
    Mutant(
        1,
        "input overwritten",
        "    *c = alpha",
        "    *(float *)&A[(size_t)row * K] = 0.5f;\n    *c = alpha",
        "data race in global memory, byte 0 of A",
    ),
    # Chapter 2: which block has which tile.
    Mutant(
        2,
        "bottom tiles not launched",
        "const unsigned tiles_down = (M - 1) / BM + 1;",
        "const unsigned tiles_down = M / BM;",
    ),
    Mutant(
        2,
        "right tiles not launched",
        "const unsigned tiles_across = (N - 1) / BN + 1;",
        "const unsigned tiles_across = N / BN;",
        NEVER_WRITTEN,
    ),
    Mutant(
        2,
        "tiles counted along the wrong side",
        "const int tiles_down = (M - 1) / BM + 1;",
        "const int tiles_down = (N - 1) / BN + 2;",
    ),
    Mutant(2, "tile's origin forgotten", "tile_row * BM + threadIdx.y", "threadIdx.y"),
    Mutant(
        2,
        "tile's origin in the wrong unit",
        "tile_col * BN + threadIdx.x",
        "tile_col + threadIdx.x",
    ),
    # Chapter 3: barriers and tails of tiles.
    Mutant(
        3,
        "no barrier before the tiles are filled",
        "__syncthreads();\n        A_tile[",
        "A_tile[",
        "data race",
    ),
    Mutant(
        3,
        "no barrier after the tiles are filled",
        "        __syncthreads();\n\n        // 5.",
        "        // 5.",
    ),
    Mutant(
        3,
        "barrier in a condition",
        "__syncthreads();\n        A_tile[",
        "if (row < M) __syncthreads();\n        A_tile[",
        "barrier divergence",
    ),
    Mutant(
        3,
        "early return",
        "    float acc = 0.0f;",
        "    if (row >= M || col >= N) return;\n    float acc = 0.0f;",
        "barrier divergence",
    ),
    Mutant(3, "no guard along K for A", "row < M && k0 + thread_col < K", "row < M"),
    Mutant(3, "no guard along K for B", "k0 + thread_row < K && col < N", "col < N"),
    Mutant(
        3,
        "no guard on the rows of A",
        "row < M && k0 + thread_col < K",
        "k0 + thread_col < K",
        "out of bounds",
    ),
    Mutant(3, "whole tiles by rows only", " && (tile_col + 1) * BN <= N;", ";"),
    Mutant(3, "last tile along K taken as whole", "k0 + BK <= K", "k0 < K"),
    Mutant(3, "A's tile never moves on", "a_next += BK;", ""),
    Mutant(
        3,
        "B's tile moves on by rows of K",
        "b_next += (size_t)BK * N;",
        "b_next += (size_t)BK * K;",
    ),
    Mutant(
        3, "B_tile read transposed", "* B_tile[k][thread_col]", "* B_tile[thread_col][k]"
    ),
    Mutant(3, "runs past the tile", "k < BK;", "k <= BK;", "past the end of"),
    Mutant(
        3,
        "tile filled only inside the matrix",
        "        A_tile[thread_row][thread_col] = a_value;",
        "        if (row < M) A_tile[thread_row][thread_col] = a_value;",
        "uninitialised shared memory",
    ),
    # Chapter 4: more results a thread.
    Mutant(
        4,
        "no barrier before the tiles are filled",
        "__syncthreads();\n        A_tile[",
        "A_tile[",
        "data race",
    ),
    Mutant(
        4,
        "no barrier after the tiles are filled",
        "= b_value;\n        __syncthreads();",
        "= b_value;",
    ),
    Mutant(4, "threads' rows overlap", "threadIdx.x / BN * TM", "threadIdx.x / BN"),
    Mutant(
        4,
        "last result of a thread not stored",
        "m < TM && row + m < M && col < N",
        "m < TM - 1 && row + m < M && col < N",
        NEVER_WRITTEN,
    ),
    Mutant(
        4,
        "no guard on the rows of C",
        "m < TM && row + m < M && col < N",
        "m < TM && col < N",
        "out of bounds",
    ),
    Mutant(
        4,
        "no guard on the columns of C",
        "m < TM && row + m < M && col < N",
        "m < TM && row + m < M",
    ),
    Mutant(4, "next row of C by K", "        c += N;", "        c += K;"),
    Mutant(4, "stale sums", "acc[m] += A_tile", "acc[m] = A_tile"),
    # Chapter 5: strided loads, a square of results.
    Mutant(
        5,
        "no barrier before the tiles are filled",
        "        __syncthreads();\n        for (int i",
        "        for (int i",
        "data race",
    ),
    Mutant(
        5,
        "no barrier after the tiles are filled",
        "        }\n        __syncthreads();\n\n        // 4.",
        "        }\n\n        // 4.",
    ),
    Mutant(
        5,
        "most of A_tile never filled",
        "A_tile[load_a_row + i * STRIDE_A]",
        "A_tile[load_a_row]",
        "uninitialised shared memory",
    ),
    Mutant(
        5,
        "no more blocks than multiprocessors",
        "<<<tiles_down * tiles_across, THREADS>>>",
        "<<<min(tiles_down * tiles_across, 132u), THREADS>>>",
    ),
    Mutant(
        5,
        "the tail of a long K left out",
        "k0 < K; k0 += BK",
        "k0 < (K < 1024 ? K : K / BK * BK); k0 += BK",
        "the last 6 with k = 2056 to 2061 are missing",
    ),
    Mutant(5, "B's row forgets the stride", "b_next[(size_t)k * N]", "b_next[0]"),
    Mutant(
        5,
        "guard on B by the wrong dimension",
        "load_b_row + k < K && b_col < N",
        "load_b_row + k < N && b_col < K",
    ),
    Mutant(5, "fragments swapped", "a_frag[m] * b_frag[n]", "a_frag[n] * b_frag[m]"),
    Mutant(
        5,
        "a fragment one row too far",
        "a_frag[m] = A_tile[thread_row + m][k]",
        "a_frag[m] = A_tile[thread_row + m + 1][k]",
    ),
    Mutant(
        5,
        "last column of a thread not stored",
        "n < TN && col + n < N",
        "n < TN - 1 && col + n < N",
        NEVER_WRITTEN,
    ),
    # Chapter 6: 16 bytes at once.
    Mutant(
        6,
        "float4 although N is odd",
        "K % 4 == 0 && N % 4 == 0",
        "K % 4 == 0",
        "misaligned address",
    ),
    Mutant(
        6,
        "float4 although K is odd",
        "K % 4 == 0 && N % 4 == 0",
        "N % 4 == 0",
        "misaligned address",
    ),
    Mutant(
        6,
        "float4 where M allows it, not K",
        "bool aligned = K % 4 == 0",
        "bool aligned = M % 4 == 0",
        "misaligned address",
    ),
    Mutant(
        6,
        "no barrier before the tiles are filled",
        "__syncthreads();\n        for (int i",
        "for (int i",
        "data race",
    ),
    Mutant(
        6,
        "no barrier after the tiles are filled",
        "(const float4 *)b;\n        __syncthreads();",
        "(const float4 *)b;",
    ),
    Mutant(
        6,
        "A not turned",
        "A_tile[load_a_col + i][load_a_row] = a[i]",
        "A_tile[load_a_col + i][load_a_row] = a[0]",
    ),
    Mutant(
        6,
        "no guard on the rows of A",
        "a_row < M ? K - a_col : 0",
        "K - a_col",
        "out of bounds",
    ),
    Mutant(
        6,
        "store ignores the edge",
        "store4<ALIGNED>(c + n, v, left);",
        "store4<ALIGNED>(c + n, v, 4);",
    ),
    Mutant(6, "beta == 0 reads C", "beta == 0.0f ? 0 : left", "left"),
    Mutant(
        6,
        "every other float4 not stored",
        "col + n < N; n += 4",
        "col + n < N; n += 8",
        NEVER_WRITTEN,
    ),
    # Chapter 7: squares that lie apart, padded rows.
    Mutant(7, "squares of A side by side", "m / 4 * ROW_STEP];", "m];"),
    Mutant(7, "squares of B side by side", "n / 4 * COL_STEP];", "n];"),
    Mutant(
        7,
        "columns of the neighbour",
        "threadIdx.x % (BN / TN) * 4",
        "threadIdx.x % (BN / TN) * TN",
    ),
    Mutant(7, "results stored side by side", "row + m / 4 * ROW_STEP + m % 4", "row + m"),
    # Chapter 8: a round fills in what the round before has asked for. Two buffers and one
    # barrier: each of them at the wrong time or place.
    Mutant(8, "one buffer and one barrier", "now ^= 1;", ";", "data race"),
    Mutant(
        8,
        "no barrier after the tiles are filled",
        "(const float4 *)b;\n        __syncthreads();",
        "(const float4 *)b;",
        "uninitialised shared memory",
    ),
    Mutant(
        8,
        "the barrier before the tiles are filled",
        "        for (int i = 0; i < 4; ++i)\n            A_tile[now][load_a_col + i]"
        "[load_a_row] = a[i];\n        *(float4 *)&B_tile[now][load_b_row][load_b_col] = "
        "*(const float4 *)b;\n        __syncthreads();",
        "        __syncthreads();\n        for (int i = 0; i < 4; ++i)\n            "
        "A_tile[now][load_a_col + i][load_a_row] = a[i];\n        *(float4 *)"
        "&B_tile[now][load_b_row][load_b_col] = *(const float4 *)b;",
    ),
    Mutant(
        8,
        "the barrier half a round late",
        "__syncwarp();",
        "__syncthreads();\n now ^= 1;",
    ),
    Mutant(
        8,
        "multiplies the other buffer of A",
        "A_tile[now][k][thread_row",
        "A_tile[now ^ 1][k][thread_row",
    ),
    Mutant(
        8,
        "fills the other buffer of B",
        "B_tile[now][load_b_row]",
        "B_tile[now ^ 1][load_b_row]",
    ),
    Mutant(
        8,
        "two buffers of A, one of B",
        "B_tile[now][k][thread_col",
        "B_tile[0][k][thread_col",
    ),
    Mutant(8, "room for one buffer of B", "B_tile[2][BK][BN]", "B_tile[1][BK][BN]"),
    Mutant(8, "asks for this tile again", "k0 + BK + load_a_col", "k0 + load_a_col"),
    Mutant(
        8, "asks too far ahead in B", "k0 + BK + load_b_row", "k0 + BK + 1 + load_b_row"
    ),
    Mutant(
        8,
        "the first tile asked for late",
        "a_row, load_a_col,",
        "a_row, BK + load_a_col,",
    ),
    Mutant(
        8, "the last tile never multiplied", "k0 < K; k0 += BK", "k0 < K - BK; k0 += BK"
    ),
    Mutant(
        8,
        "past the end of K the tile before",
        "load4<ALIGNED>(a, &A",
        "if (a_col < K)\n        load4<ALIGNED>(a, &A",
        "multiplied by a zero that is not in the matrices",
    ),
    Mutant(8, "rows past the end of A", "a_row < M ? K - a_col : 0", "K - a_col"),
    Mutant(8, "rows past the end of B", "b_row < K ? N - b_col : 0", "N - b_col"),
    # Chapter 9: two float4s of a tile for a thread, lanes row by row.
    Mutant(9, "the second fetch is the first again", "++i, a_row += A_STEP,", "++i,"),
    Mutant(
        9,
        "the second float4 in the first one's place",
        "[load_a_row + i * A_STEP]",
        "[load_a_row]",
    ),
    Mutant(9, "two lanes with one column", "lane % 8;", "lane % 4;"),
    Mutant(
        9, "two warps with one square", "warp % (BN / WN) * WN", "warp / (BN / WN) * WN"
    ),
    Mutant(9, "the fetch of B stands still", ", b_row += B_STEP)", ")"),
    Mutant(9, "one buffer and one barrier", "now ^= 1;", ";", "data race"),
    Mutant(
        9,
        "a run of products walked twice",
        "m % 2 ? TN - 1 - i : i",
        "m % 2 ? TN - 2 - i : i",
    ),
    # Chapter 10: copies, groups, stages.
    Mutant(
        10,
        "waits for too few copies",
        "__pipeline_wait_prior(STAGES - 3);",
        "__pipeline_wait_prior(STAGES - 2);",
    ),
    Mutant(
        10, "no wait before the first tile", "__pipeline_wait_prior(STAGES - 2);\n", "\n"
    ),
    Mutant(
        10,
        "copies into the stage in use",
        "int now = 0, next = STAGES - 1;",
        "int now = 0, next = 0;",
    ),
    Mutant(
        10, "fragments of the step before", "b_frag[k % 2][n];", "b_frag[(k + 1) % 2][n];"
    ),
    Mutant(10, "a step's copies of A left out", "step < A_COPIES", "step < A_COPIES - 1"),
    Mutant(10, "no copy on its way is ended", "if (step == BK - 1)", "if (step == BK)"),
    Mutant(10, "B past the end of K", "k0 + k < K ? 0 : WIDTH * sizeof(float)", "0"),
    Mutant(10, "A past the end of K", "k0 + k < K ? 0 : sizeof(float)", "0"),
    Mutant(10, "rows past the end of A", "min(a_row, M - 1)", "a_row", "out of bounds"),
    # Chapter 12: shares, parts. A row of C in several blocks' hands.
    Mutant(
        12, "the last part not added", "block <= last; ++block", "block < last; ++block"
    ),
    # Each stores what has come by then: right in the end, but for what beta adds each time.
    Mutant(12, "stored by all that come", "before != last - first", "before != 0"),
    Mutant(12, "the counter not set back", "*arrived = 0;", ";"),
    Mutant(
        12,
        "shares overlap",
        "min(block, w->longer_shares)",
        "min(block + 1, w->longer_shares)",
    ),
    Mutant(12, "tiles taken for inside", "filler.whole_tile &&", "true ||"),
    Mutant(
        12,
        "longer rows stored short",
        "longer[(size_t)(row + i) * stride + col]",
        "longer[(size_t)(row + i) * N + col]",
    ),
    Mutant(
        12,
        "the first part left out",
        "for (int block = first; block <= last",
        "for (int block = first + 1; block <= last",
    ),
    Mutant(
        12,
        "the first rows of a part added for all",
        "__ldcg(&theirs[(m * T::TN + n)",
        "__ldcg(&theirs[((m - m0) * T::TN + n)",
    ),
    Mutant(
        12,
        "half of A's tile copied",
        "T::BK, a_k = threadIdx.x % T::BK;",
        "T::BK, a_k = threadIdx.x % (T::BK / 2);",
    ),
    Mutant(
        12,
        "rows stored before all lanes have written them",
        "__syncwarp();\n#pragma unroll\n                for (int i = 0; i < 4; ++i)\n                    if (row",
        "for (int i = 0; i < 4; ++i)\n                    if (row",
    ),
    Mutant(
        12,
        "rows written again before they are stored",
        "1.0f, w->beta);\n                __syncwarp();",
        "1.0f, w->beta);",
    ),
    Mutant(12, "one row stored for four", "rows[i][lane],", "rows[0][lane],"),
    Mutant(
        12,
        "the rows that are left to store do not move up",
        "acc[m][n] = acc[m + 4][n];",
        "acc[m][n] = acc[m][n];",
    ),
    Mutant(12, "four rows lie below four", "square * T::ROW_STEP + m", "square * 4 + m"),
    Mutant(
        12,
        "a narrow tile's rows stored eight apart",
        "tile_row + thread_row + m * T::DOWN",
        "tile_row + thread_row + m * 8",
    ),
    Mutant(12, "a part not added by the adders", "part = warp;", "part = warp + 1;"),
    Mutant(
        12,
        "parts of K overlap",
        "apart, begin + w.share);",
        "apart, begin + w.share + 8);",
    ),
    Mutant(
        12,
        "apart: a step too many",
        "(w.K - first + apart - 1) / apart",
        "(w.K - first + apart) / apart",
    ),
    Mutant(
        12,
        "apart: stretches of K overlap",
        "blockIdx.y / apart * w.share",
        "blockIdx.y / apart * (w.share - 8)",
    ),
    Mutant(12, "apart: a tile not moved", "from.b_col - moved, last", "from.b_col, last"),
    Mutant(
        12,
        "apart: what is moved is added up unmoved",
        "apart > 1 ? moved_by(part % apart, N) : 0",
        "0",
    ),
    Mutant(
        12,
        "apart: more is read than B has",
        "max(0, from_col + WIDTH - w.N) * sizeof(float)",
        "0",
    ),
    Mutant(
        12,
        "apart: no room for what is moved",
        "(w->N + 4 - 4 / apart + 3) / 4 * 4",
        "(w->N + 3) / 4 * 4",
    ),
    Mutant(
        12,
        "apart: no tile for what is moved out of the last",
        "(N - 1LL + moved) / BN",
        "(N - 1LL) / BN",
    ),
    Mutant(
        12, "apart: every second row alike", "N % 2 == 0 ? 2 : 4", "N % 2 == 0 ? 2 : 2"
    ),
    Mutant(
        12,
        "apart: B taken for aligned",
        "rows_alike(w->N) > 1 && (size_t)w->B % 16 == 0",
        "rows_alike(w->N) > 1",
    ),
    Mutant(
        12, "a narrow row too many", "tile_row + m, w->M - 1);", "tile_row + m, w->M);"
    ),
    Mutant(
        12,
        "few rows: a row of B too many",
        "inside = k_next + p[0] / COLS < k_end",
        "inside = k_next + p[0] / COLS <= k_end",
    ),
    Mutant(12, "a lane's sums given away twice", "lane & span;", "false;"),
    Mutant(12, "a group's parts not added", "part < s->splits;", "part < s->splits - 1;"),
    Mutant(12, "a thin group's counter kept", "s->arrived[group] = 0;", ";"),
    Mutant(
        12,
        "a stage taken for inside by its first step",
        "(filler.block_k + 1) * T::BK <= w.K",
        "filler.block_k * T::BK <= w.K",
    ),
    Mutant(
        12,
        "few rows: the first chunk of A again",
        "A[(size_t)m * K + chunk + k]",
        "A[(size_t)m * K + k_begin + k]",
    ),
    Mutant(
        12,
        "narrow: round a ring without its first stage",
        "now = now + 1 < T::STAGES ? now + 1 : 0;\n        next",
        "now = now + 1 < T::STAGES ? now + 1 : 1;\n        next",
    ),
    Mutant(
        12,
        "narrow: the stage after next brought next",
        "k0 + (T::STAGES - 1) * T::BK, k_end",
        "k0 + T::STAGES * T::BK, k_end",
    ),
    # Chapter 13: phases.
    Mutant(
        13,
        "a map for each thread",
        "matmul_kernel(const __grid_constant__ CUtensorMap",
        "matmul_kernel(const CUtensorMap",
        "not __grid_constant__",
    ),
    Mutant(
        13,
        "a row of A turned for its neighbour",
        "square[m + 1][k + i]",
        "square[m][k + i]",
    ),
    Mutant(13, "the last rows of A not turned", "row + m < stride", "row + m + 4 < M"),
    Mutant(
        13,
        "waits for nothing",
        "mbarrier_wait_parity(&full[stage.index], stage.parity);\n            const float",
        "const float",
        "not waited for",
    ),
    Mutant(
        13,
        "one byte count for both tiles",
        "T::FLOATS * sizeof(float));\n        cp_async",
        "T::A_FLOATS * sizeof(float));\n        cp_async",
        "asynchronous copy",
    ),
    Mutant(
        13,
        "B's copy read with B's rows",
        "B == w.B ? w.N : padded(w.N), T::BK, T::BN);\n    w.tiles_down",
        "w.N, T::BK, T::BN);\n    w.tiles_down",
        *NO_MAP,
    ),
    # Several warps have the same results there, each for its steps of k: slices.cuh.
    Mutant(
        13,
        "slices: B's copy read with B's rows",
        "B == w.B ? w.N : padded(w.N), T::BK, T::BN);\n    }",
        "w.N, T::BK, T::BN);\n    }",
        *NO_MAP,
    ),
    Mutant(
        13,
        "slices: sums left out",
        "for (int s = 0; s < T::SLICES; ++s)",
        "for (int s = 0; s < T::SLICES - 1; ++s)",
    ),
    Mutant(
        13,
        "slices: the first slice's steps for all",
        ": first * T::BM + thread_row",
        ": thread_row",
    ),
    Mutant(
        13,
        "slices: a stage filled while it is read",
        "    mbarrier_wait_parity(&empty[to->index], to->parity ^ 1);\n",
        "",
    ),
    Mutant(
        13,
        "slices: a stage released before all have read it",
        "T::WARPS);\n        }\n        fence_mbarrier_init();\n    }\n    __syncthreads();\n\n    // 1.",
        "1);\n        }\n        fence_mbarrier_init();\n    }\n    __syncthreads();\n\n    // 1.",
    ),
    Mutant(
        13,
        "slices: a stage not waited for",
        "        mbarrier_wait_parity(&full[stage.index], stage.parity);\n        const int depth",
        "        const int depth",
        "not waited for",
    ),
    Mutant(
        13,
        "slices: the last steps of k",
        "k0 < end; k0 += jump",
        "k0 + ROUND <= end; k0 += jump",
    ),
    Mutant(
        13,
        "slices: sums written while stages are read",
        "lie there now, [slice][row][column].\n    __syncthreads();",
        "lie there now, [slice][row][column].",
    ),
    Mutant(
        13,
        "slices: added up before they are there",
        "    __syncthreads();\n\n    // 5. Neighbouring",
        "\n    // 5. Neighbouring",
    ),
    Mutant(13, "slices: C not read", "sum[0], w.alpha, w.beta", "sum[0], w.alpha, 0.0f"),
    Mutant(
        13,
        "slices: four of C not read",
        "* w.N + col], sum, w.alpha, w.beta",
        "* w.N + col], sum, w.alpha, 0.0f",
    ),
    Mutant(
        13,
        "slices: columns past the edge",
        "if (row < w.M && col < w.N) {",
        "if (row < w.M) {",
    ),
    Mutant(
        13,
        "slices: rows past the edge",
        "if (row < w.M && col < w.N) {",
        "if (col < w.N) {",
    ),
    Mutant(
        13,
        "slices: every part of K from 0 on",
        "tile_row, k0 + number * T::BK, come)",
        "tile_row, number * T::BK, come)",
    ),
    # Wrong from the third round of the stages on.
    # The kernel that turns A in shared memory.
    Mutant(
        13,
        "turning: no barrier behind it",
        "    }\n    __syncwarp();\n}",
        "    }\n}",
        "race",
    ),
    Mutant(
        13,
        "turning: no fence before the copy engine writes there",
        "            fence_proxy_async(); // the copy",
        "            ; // the copy",
        "a bulk copy writes there",
    ),
    Mutant(13, "turning: rows, and no columns", "v[1][k]", "v[k][1]"),
    Mutant(
        13,
        "turning: columns one row further down everywhere",
        "return (k + square / 2 % 2) % 4;",
        "return (k + square / 2) % 4;",
    ),
    Mutant(13, "turning: as if not swizzled", "(piece ^ r % 8)", "piece"),
    Mutant(
        13,
        "turning: the first 32 squares only",
        "i < SQUARES; i += 32",
        "i < min(SQUARES, 32); i += 32",
    ),
    Mutant(13, "turning: another slice's steps", "slice * PIECES % (BOX / 4)", "0"),
    Mutant(
        13,
        "turning: the first box of a stage only",
        "first / BOX * BOX * T::BM + warp_row * BOX",
        "warp_row * BOX",
    ),
    Mutant(13, "turning: a slice does not end", "min(depth, first + T::STEPS)", "depth"),
    Mutant(
        13,
        "turning: rows of A taken for aligned",
        "w->K % 4 == 0 && (size_t)w->A",
        "(size_t)w->A",
        *NO_MAP,
    ),
    Mutant(
        13,
        "turning: rows of B taken for aligned",
        " && speed_at(&KINDS[k], w->M, wide_rows(w)) > 0",
        "",
        *NO_MAP,
    ),
    Mutant(
        13, "turning: A taken for aligned", " && (size_t)w->A % 16 == 0;", ";", *NO_MAP
    ),
    Mutant(13, "a parity that never goes back", "s->parity ^= 1;", "s->parity = 1;"),
    # Wrong where K is whole stages: nothing is left of the last.
    Mutant(
        13,
        "the last stage as deep as the rest of K",
        "min(T::BK, w.K - block_k * T::BK)",
        "block_k == w.blocks_k - 1 ? w.K % T::BK : T::BK",
    ),
    # Chapter 14: cells that change places, fragments, copies in parts, two precisions.
    Mutant(
        14,
        "waits for too few copies",
        "            __pipeline_wait_prior(STAGES - 2);",
        "            __pipeline_wait_prior(STAGES - 1);",
    ),
    Mutant(
        14,
        "no wait before the first tile",
        "    __pipeline_wait_prior(STAGES - 2);\n    __syncthreads();",
        "    __syncthreads();",
    ),
    Mutant(
        14,
        "no barrier before the next tile",
        "            __syncthreads();\n            *next",
        "            *next",
    ),
    Mutant(
        14,
        "copies into the stage in use",
        "*next = *now;",
        "*next = *now + STAGE < STAGES * STAGE ? *now + STAGE : 0;",
    ),
    Mutant(
        14,
        "one stage too many",
        "*now + STAGE < STAGES * STAGE ?",
        "*now + STAGE <= STAGES * STAGE ?",
        "out of bounds",
    ),
    Mutant(
        14,
        "A's cells not where ldmatrix looks",
        "(a_k / CELL ^ A_turn<T>(a_row)) * CELL",
        "(a_k / CELL) * CELL",
    ),
    Mutant(
        14,
        "A's turn by the wrong row",
        "A_turn<T>(down) * 16",
        "A_turn<T>(down + 1) * 16",
    ),
    Mutant(
        14,
        "B's cells not where ldmatrix looks",
        "(b_col / CELL ^ B_turn<T>(b_k)) * CELL + b_col % CELL]);\n}",
        "(b_col / CELL) * CELL + b_col % CELL]);\n}",
    ),
    Mutant(
        14,
        "B not transposed on its way",
        "ldmatrix_x4_trans(to->B[n]",
        "ldmatrix_x4(to->B[n]",
    ),
    Mutant(
        14, "lanes name the rows of the wrong matrix", "lane % 16, b_k", "lane / 2, b_k"
    ),
    Mutant(
        14,
        "the second cell of A left out",
        "(lane / 16 ^ A_turn<T>(a_row))",
        "(0 ^ A_turn<T>(a_row))",
    ),
    Mutant(14, "the same step of A again", "(a ^ step * 32)", "a"),
    Mutant(14, "B's columns read twice", "(b ^ n * 32) + step", "b + step"),
    Mutant(
        14,
        "fragments that are not read yet",
        "acc[m][n], frag[step % 2].A[m], b_frag);\n                else",
        "acc[m][n], frag[(step + 1) % 2].A[m], b_frag);\n                else",
    ),
    Mutant(14, "B's registers of the other tile", "B[n / 2][n % 2 * 2]", "B[n / 2][0]"),
    Mutant(
        14,
        "tf32: lane's column and row changed",
        "i % 2 * 4) * B_ROW",
        "i / 2 * 4) * B_ROW",
    ),
    Mutant(14, "tf32: columns read twice", "(n % 2 * 2 + i / 2)", "(n % 2 * 2)"),
    Mutant(14, "A past the end of K", "c->A_left > 0", "true"),
    Mutant(14, "B past the end of K", "c->B_left > down", "true"),
    Mutant(
        14,
        "unchecked copies too long",
        "k0 + STAGES * BK <= K",
        "k0 + STAGES * BK <= K + BK",
    ),
    Mutant(
        14,
        "rows past the end of A",
        "c->A_row + down + c->A_STEP <= c->A_last",
        "c->A_row + down <= c->A_last",
        "out of bounds",
    ),
    Mutant(
        14,
        "a first row past the end of A",
        "min(c->A_row, c->A_last)",
        "c->A_row",
        "out of bounds",
    ),
    Mutant(
        14,
        "columns past the end of B",
        "min(col + b_col, (N - 1) / WIDTH * WIDTH)",
        "col + b_col",
    ),
    Mutant(
        14,
        "B moves on by rows of K",
        "c->B += (size_t)c->BK * N;",
        "c->B += (size_t)c->BK * K;",
    ),
    Mutant(
        14,
        "wide copies although N is odd",
        " | 2 * (size_t)N | 2 * (size_t)K",
        " | 2 * (size_t)K",
        "misaligned",
    ),
    Mutant(
        14,
        "the lower half stored above",
        "m * 16 + half * 8 + lane / 4",
        "m * 16 + lane / 4",
    ),
    Mutant(
        14,
        "column of an odd N not stored",
        "const bool both = WIDTH >= 2 || c_col + 1 < N;",
        "const bool both = WIDTH >= 2 || c_col + 2 < N;",
    ),
    Mutant(
        14,
        "stores past an odd N",
        "const bool both = WIDTH >= 2 || c_col + 1 < N;",
        "const bool both = true;",
    ),
    Mutant(14, "beta == 0 reads C", "if (beta != 0.0f) {", "if (beta == beta) {"),
    Mutant(
        14,
        "a row of blocks too few in the last group",
        "min(GROUP, tiles_down - group)",
        "GROUP",
    ),
    # Chapter 15: descriptors, phases, groups of multiplications, the copy engine's boxes.
    Mutant(
        15,
        "waits for nothing",
        "        mbarrier_wait_parity(&full[now], parity);\n",
        "",
        "not waited for",
    ),
    Mutant(15, "always the same phase", "parity ^= 1;", ";"),
    Mutant(
        15, "the phase before", "int now = 0, parity = 0;", "int now = 0, parity = 1;"
    ),
    Mutant(15, "no fence before wgmma", "        wgmma_fence();\n", "", "wgmma.fence"),
    Mutant(15, "nothing committed", "        wgmma_commit_group();\n", ""),
    Mutant(15, "sums read while they are computed", "    wgmma_wait_group<0>();\n", ""),
    Mutant(
        15,
        "a stage filled while it is multiplied",
        "        wgmma_wait_group<1>();\n",
        "",
    ),
    Mutant(
        15,
        "one group too many may be under way",
        "wgmma_wait_group<1>();",
        "wgmma_wait_group<2>();",
    ),
    Mutant(
        15,
        "a stage filled while the other multiplies it",
        "            __syncthreads();\n            if (loads)",
        "            if (loads)",
    ),
    Mutant(15, "both warpgroups multiply the same rows", "A[warpgroup * 64]", "A[0]"),
    Mutant(
        15,
        "swizzle of 64 bytes",
        "&stages[now].A[warpgroup * 64], 16, 8 * 128,\n                                            WGMMA_SWIZZLE_128B",
        "&stages[now].A[warpgroup * 64], 16, 8 * 128,\n                                            WGMMA_SWIZZLE_64B",
    ),
    Mutant(15, "the next rows of A 64 bytes early", "16, 8 * 128,", "16, 8 * 64,"),
    Mutant(
        15,
        "slabs of B too close",
        "sizeof stages->B[0], 8 * 128",
        "sizeof stages->B[0] / 2, 8 * 128",
    ),
    Mutant(15, "k of A in bytes", "a + k * 32 / 16", "a + k * 32"),
    Mutant(15, "k of B as far as of A", "b + k * 16 * 128 / 16", "b + k * 32 / 16"),
    Mutant(
        15,
        "B taken for K-major",
        "wgmma_mma_async_bf16<0, 1>",
        "wgmma_mma_async_bf16<0, 0>",
    ),
    Mutant(
        15,
        "fewer bytes announced",
        "mbarrier_arrive_expect_tx(full, sizeof(stage));",
        "mbarrier_arrive_expect_tx(full, sizeof(to->A));",
    ),
    Mutant(
        15,
        "A's box by k and row exchanged",
        "A_map, k0, row, full",
        "A_map, row, k0, full",
    ),
    Mutant(15, "every slab the same", "col + slab * SLAB, k0", "col, k0"),
    Mutant(15, "one slab left out", "slab < BN / SLAB", "slab < BN / SLAB - 1"),
    Mutant(
        15,
        "A not swizzled by the copy engine",
        "A, M, K, K, BM, BK,\n                             CU_TENSOR_MAP_SWIZZLE_128B",
        "A, M, K, K, BM, BK,\n                             CU_TENSOR_MAP_SWIZZLE_NONE",
    ),
    Mutant(
        15,
        "no fence for what threads wrote",
        "    fence_proxy_async();\n",
        "",
        "fence.proxy.async",
    ),
    Mutant(
        15,
        "threads write without the swizzle",
        "return (i / 8 ^ row % 8) * 8 + i % 8;",
        "return i;",
    ),
    Mutant(
        15,
        "the barrier counts a thread less",
        "ENGINE ? 1 : THREADS",
        "ENGINE ? 1 : THREADS - 1",
    ),
    Mutant(15, "A past the end of K", "row + r < M && k0 + k < K", "row + r < M"),
    Mutant(15, "columns past the end of B", "col + c < N && k0 + k < K", "k0 + k < K"),
    Mutant(
        15,
        "the copy engine leaves out the last row of B",
        "B, K, N, N, BK, SLAB",
        "B, K - 1, N, N, BK, SLAB",
    ),
    Mutant(15, "the lower half stored above", "half * 8 + lane / 4", "lane / 4"),
    Mutant(15, "warps' rows lie closer", "warp * 16 + half", "warp * 8 + half"),
    Mutant(
        15,
        "stores past an odd N",
        "const bool both = ENGINE || c_col + 1 < N;",
        "const bool both = true;",
    ),
    Mutant(15, "alpha ignored", "float x = alpha * acc", "float x = acc"),
    Mutant(15, "beta == 0 reads C", "if (beta != 0.0f) {", "if (beta == beta) {"),
    # Chapter 16: two blocks and one ring, results on their way out.
    Mutant(
        16,
        "nothing waited for in a stage",
        "            mbarrier_wait_parity(&full[t.index], t.parity);\n",
        "",
    ),
    Mutant(
        16,
        "a stage filled before it is read",
        "            mbarrier_wait_parity(&empty[t.index], t.parity ^ 1);\n",
        "",
    ),
    Mutant(16, "always the same phase", "t->parity ^= 1;", ";"),
    Mutant(16, "no fence before wgmma", "            wgmma_fence();\n", ""),
    Mutant(16, "nothing committed", "            wgmma_commit_group();\n", ""),
    Mutant(
        16,
        "a stage released while it is multiplied",
        "wgmma_wait_group<1>()",
        "wgmma_wait_group<2>()",
    ),
    Mutant(
        16,
        "sums stored while they are computed",
        "wgmma_wait_group<0>()",
        "wgmma_wait_group<1>()",
    ),
    Mutant(
        16,
        "the next rows of A too early",
        "A[warp / 4 * 64], 16, 8 * 128",
        "A[warp / 4 * 64], 16, 4 * 128",
    ),
    Mutant(16, "slabs of B too close", "sizeof now->B[0], 8", "sizeof now->B[0] / 2, 8"),
    Mutant(16, "k of A half as far", "a + k * 32 / 16", "a + k * 16 / 16"),
    Mutant(16, "k of B half as far", "b + k * 16 * 128 / 16", "b + k * 8 * 128 / 16"),
    Mutant(16, "B taken for K-major", "bf16<0, 1>", "bf16<0, 0>"),
    Mutant(
        16, "both warpgroups multiply the same rows", "now->A[warp / 4 * 64]", "now->A[0]"
    ),
    Mutant(16, "the sum of the tile before is kept", "step > 0 || k > 0", "1"),
    Mutant(16, "each step begins a new sum", "step > 0 || k > 0", "k > 0"),
    Mutant(
        16, "fewer bytes announced", "come, sizeof(stage)", "come, sizeof(stage) - 128"
    ),
    Mutant(16, "B for this block alone", "come, (1 << CLUSTER) - 1", "come, 1"),
    Mutant(
        16, "both blocks bring the same slabs", "cluster_ctarank() * share", "0 * share"
    ),
    Mutant(
        16,
        "one block is told that a stage is read",
        "threadIdx.x % 128 < CLUSTER",
        "threadIdx.x % 128 < 1",
    ),
    Mutant(16, "one block's readers counted", "readers * CLUSTER", "readers"),
    Mutant(
        16,
        "the other block's barriers not there",
        "    barrier_cluster_arrive();\n    barrier_cluster_wait();",
        "    __syncthreads();",
    ),
    Mutant(
        16,
        "barriers that the copy engine does not know",
        "        fence_mbarrier_init();\n",
        "",
    ),
    Mutant(
        16,
        "written over before it has left",
        "            cp_async_bulk_wait_group_read<1>();",
        "            ;",
    ),
    Mutant(16, "one place on the way out", "out[slab % 2]", "out[0]"),
    Mutant(
        16, "the engine reads what was there before", "        fence_proxy_async();\n", ""
    ),
    Mutant(
        16,
        "the other lanes not waited for",
        "fence_proxy_async();\n        __syncwarp();",
        "fence_proxy_async();",
    ),
    Mutant(16, "not swizzled on the way out", "(cell ^ lane % 8) * 8", "cell * 8"),
    Mutant(
        16,
        "columns 8 to 15 where 0 to 7 belong",
        "cell = n / 8 + lane / 16",
        "cell = n / 8",
    ),
    Mutant(
        16,
        "gone before results have left",
        "        cp_async_bulk_wait_group<0>();",
        "        ;",
    ),
    Mutant(16, "alpha ignored", "acc[i] *= to->alpha;", ""),
    Mutant(16, "beta ignored", "to->beta * __bf", "__bf"),
    Mutant(16, "beta == 0 reads C", "to->beta != 0.0f", "to->beta == to->beta"),
    Mutant(16, "C's second rows are the first", "i / 2 % 2 * 8", "0"),
    Mutant(16, "one column too many", "col + c < to->N)", "col + c <= to->N)"),
    Mutant(16, "one row too many", "if (row + r < to->M", "if (row + r <= to->M"),
    Mutant(
        16,
        "tiles of the two blocks exchanged in place",
        "CLUSTER + (int)cluster_ctarank()",
        "CLUSTER",
    ),
    Mutant(16, "the last k left out", "divided_up(K, BK)}", "K / BK + (K < BK)}"),
    # As long as a tile takes as many steps as there are stages, or a multiple, these two are the same.
    Mutant(
        16,
        "stages numbered by a tile's steps",
        "if (step > 0)\n                release(&empty[before]);",
        "if (step > 0)\n                release(&empty[(step - 1) % STAGES]);",
    ),
    # Chapter 17: copies, shares, kinds of tiles; tf32.
    Mutant(
        17,
        "nothing waited for in a stage",
        "            mbarrier_wait_parity(&full[t.index], t.parity);\n",
        "",
    ),
    Mutant(17, "the sum of the tile before is kept", "step > 0 || k > 0", "1"),
    Mutant(
        17,
        "fewer bytes announced",
        "mbarrier_arrive_expect_tx(come, sizeof *to);\n            if (T::ACROSS > 1)",
        "mbarrier_arrive_expect_tx(come, sizeof *to - 128);\n            if (T::ACROSS > 1)",
    ),
    Mutant(
        17,
        "rows of B that the other block brings",
        "step * BK + first, come, all)",
        "step * BK, come, all)",
    ),
    Mutant(
        17,
        "a segment that is done backwards begins one step behind its end",
        "p->segment.end - 1 - turn",
        "p->segment.end - turn",
    ),
    Mutant(17, "slabs of B too close", "sizeof now->B[0],\n", "sizeof now->B[0] / 2,\n"),
    Mutant(
        17,
        "a stage released while it is multiplied",
        "            wgmma_wait_group<1>();\n            if (step",
        "            wgmma_wait_group<2>();\n            if (step",
    ),
    Mutant(
        17,
        "each warpgroup tells one block",
        "release<T::CLUSTER, 128>(&empty[before]);\n            before",
        "release<1, 128>(&empty[before]);\n            before",
    ),
    Mutant(
        17,
        "the first part left out",
        "c = first + adder; c <=",
        "c = first + adder + 1; c <=",
    ),
    Mutant(
        17, "one adder's sums for all", "i < ADDERS; ++i)", "i < 2 && i < ADDERS; ++i)"
    ),
    Mutant(
        17,
        "adders not waited for",
        "        __syncthreads();\n        if (adder > 0)",
        "        if (adder > 0)",
    ),
    Mutant(
        17,
        "parts added up where there are none",
        "    if (first == last)\n        return;",
        "    ;",
    ),
    Mutant(
        17, "parts not added up", "    if (!is_shared(s))\n        return;", "    return;"
    ),
    Mutant(
        17,
        "sums of turned tiles where the others' lie",
        "row[i] = TURNED ? over : along",
        "row[i] = along",
    ),
    Mutant(
        17,
        "sums of one half in the other's place",
        "const int along = half * 64 + mate",
        "const int along = mate",
    ),
    Mutant(
        17,
        "parts: alpha ignored",
        "beta == 0.0f ? alpha * sums[i]",
        "beta == 0.0f ? sums[i]",
    ),
    Mutant(
        17, "parts: beta ignored", "alpha * sums[i] + beta * as", "alpha * sums[i] + as"
    ),
    Mutant(
        17,
        "parts: beta == 0 reads C",
        "store_one(to, beta == 0.0f ?",
        "store_one(to, false ?",
    ),
    Mutant(
        17,
        "parts: one column too many",
        "if (r < M && c < N) {\n            typename",
        "if (r < M && c <= N) {\n            typename",
    ),
    Mutant(
        17,
        "parts: every tile of a cluster in the first's place",
        "(down * T::DOWN + rank % T::DOWN) * T::BM + row[i]",
        "(down * T::DOWN) * T::BM + row[i]",
    ),
    Mutant(17, "the second part where the first lies", "2 + (segment->begin == 0)", "2"),
    Mutant(17, "the first part read from the wrong place", "2 + (c == first)", "2"),
    Mutant(
        17, "the last part left out", "c <= last; c += ADDERS", "c < last; c += ADDERS"
    ),
    Mutant(
        17,
        "a share begins too late",
        "number * s->share + min(number, s->longer)",
        "number * s->share + s->longer",
    ),
    Mutant(
        17, "all sharers in the first unit", "before * s->together + number", "number"
    ),
    Mutant(17, "a share's owner", "at / (s->share + 1)", "at / s->share"),
    Mutant(
        17,
        "a share goes past its tile",
        "min(p->end - start, s->steps)",
        "p->end - start",
    ),
    Mutant(17, "shares not counted behind whole tiles", "s->whole + unit;", "unit;"),
    Mutant(17, "alpha ignored", "    sum *= to->alpha;\n", ""),
    Mutant(17, "beta == 0 reads C", "!PLAIN && to->beta != 0.0f", "to->beta == to->beta"),
    Mutant(
        17,
        "the engine's C without beta",
        "to->through_engine && to->beta == 0.0f, 1",
        "to->through_engine, 1",
    ),
    Mutant(
        17,
        "each part of a tile stored by the engine",
        "__builtin_expect(steps < w->shares.steps, 0)",
        "false",
        "data race in global memory",
    ),
    Mutant(17, "C's neighbour added", "two[1], at + 1, row", "two[1], at, row"),
    Mutant(
        17,
        "C's first columns added",
        "const int at = n / 2 + i * 2",
        "const int at = i * 2",
    ),
    Mutant(17, "beta ignored", "to->beta * __bf", "__bf"),
    Mutant(
        17,
        "one column too many",
        "if (row + r < to->M && col + c < to->N)\n                C[(size_t)r",
        "if (row + r < to->M && col + c <= to->N)\n                C[(size_t)r",
    ),
    Mutant(
        17,
        "half of the columns",
        "first < 16 * SLAB / 32; first += BATCH",
        "first < 16 * SLAB / 64; first += BATCH",
    ),
    Mutant(
        17, "a swizzle not undone", "from[r][(c / 8 ^ r % 8) * 8", "from[r][c / 8 * 8"
    ),
    Mutant(
        17,
        "three slabs in two places",
        "read<WAYS - 1>();\n        __syncwarp",
        "read<WAYS>();\n        __syncwarp",
    ),
    Mutant(
        17,
        "turned: a piece overwritten while it leaves",
        "read<WAYS - 1>();\n        bar_sync",
        "read<WAYS>();\n        bar_sync",
    ),
    Mutant(17, "turned: not turned back", "stmatrix_x4_trans(&part", "stmatrix_x4(&part"),
    Mutant(
        17,
        "turned: warps in each other's columns",
        "thread / 32 * 2 + lane / 8 % 2",
        "lane / 8 % 2",
    ),
    Mutant(
        17,
        "turned: other warps not waited for",
        "fence_proxy_async();\n        bar_sync(2 + team, 128);\n",
        "fence_proxy_async();\n",
    ),
    Mutant(
        17,
        "turned: alpha ignored",
        "two_bf16(to->alpha * two[0], to->alpha * two[1])",
        "two_bf16(two[0], two[1])",
    ),
    Mutant(17, "turned: one slab for two", "col + half * 64);", "col);"),
    Mutant(17, "turned: one slab of B for two", "b + half, a, add", "b, a, add"),
    Mutant(17, "turned: B along k", "<1, 0>(acc, b", "<0, 0>(acc, b"),
    Mutant(
        17,
        "turned: rows of A that the other block brings",
        "row + first, come, all",
        "row, come, all",
    ),
    Mutant(
        17,
        "what is brought goes to two of the cluster's blocks",
        "(1 << T::CLUSTER) - 1",
        "3",
    ),
    Mutant(17, "each of four blocks brings half", ": BK) / T::CLUSTER", ": BK) / 2"),
    Mutant(
        17,
        "a cluster of four counts as two beside each other",
        "rank % T::ACROSS) * T::BN;\n        for",
        "rank % 2) * T::BN;\n        for",
    ),
    Mutant(17, "turned: although beta is not 0", "turned = beta == 0.0f &&", "turned ="),
    Mutant(
        17,
        "turned: although the engine cannot write C",
        "beta == 0.0f && engine_can(C, N * sizeof *C)",
        "beta == 0.0f",
    ),
    Mutant(
        17,
        "teams look at stages as they like",
        "        if (T::TEAMS > 1)\n            bar_sync(1 + team, CONSUMERS * 128);\n",
        "",
    ),
    Mutant(
        17,
        "stages of the other team not passed over",
        "p->segment.end - p->segment.begin;\n    t->index",
        "0;\n    t->index",
    ),
    Mutant(17, "the ring's rounds not counted", "t->parity ^= stage / STAGES & 1;", ""),
    Mutant(
        17,
        "one team has all segments",
        "        pass_over<T::STAGES>(&w->shares, clusters, &p, &t);\n    }\n    while",
        "    }\n    while",
    ),
    Mutant(
        17, "the second half multiplies the first's rows", "a + half, b, add", "a, b, add"
    ),
    Mutant(
        17,
        "the second half stored where the first is",
        "memory->out[warp], row + half * 64,",
        "memory->out[warp], row,",
    ),
    Mutant(
        17,
        "the engine reads what was there before",
        "        fence_proxy_async();\n        __syncwarp",
        "        __syncwarp",
    ),
    Mutant(17, "a copy's odd elements", "if (offset & 2)", "if (offset & 1)"),
    Mutant(17, "a copy's second words", "if (offset & 4)", "if (offset & 1)"),
    Mutant(17, "a copy's second halves", "if (offset & 8)", "if (offset & 1)"),
    Mutant(
        17, "past the matrix' end", "start + (offset ? 32 : 16) > end", "start + 16 > end"
    ),
    Mutant(
        17,
        "B's rows copied as far as A's are long",
        "const int row = i < A.rows ? i : i - A.rows;",
        "const int row = i;",
    ),
    Mutant(
        17,
        "split: copies not waited for",
        "__pipeline_wait_prior(STAGES - 2);\n        wgmma",
        "__pipeline_wait_prior(STAGES - 1);\n        wgmma",
    ),
    Mutant(
        17,
        "split: a stage filled while it is multiplied",
        "        wgmma_wait_group<0>();\n        typename",
        "        typename",
    ),
    Mutant(
        17,
        "split: sums sent before they are there",
        "    wgmma_wait_group<0>();\n    wgmma_touch(acc);\n\n    bring_out",
        "    wgmma_touch(acc);\n\n    bring_out",
    ),
    Mutant(
        17,
        "split: sums sent to blocks that have not begun",
        "    if (w->blocks > 1) {\n        barrier_cluster_wait();\n",
        "    if (w->blocks > 1) {\n",
    ),
    Mutant(
        17,
        "split: sums added before all are here",
        "        mbarrier_wait_parity(&room->all_here, 0);",
        "        __syncthreads();",
    ),
    Mutant(
        17,
        "split: the tensor core reads what was there before",
        "        fence_proxy_async();\n        __syncthreads();\n        const uint64_t a",
        "        __syncthreads();\n        const uint64_t a",
    ),
    Mutant(
        17,
        "split: a barrier that others do not see",
        "            fence_mbarrier_init();\n            mbarrier_arrive_expect_tx(&room->all",
        "            mbarrier_arrive_expect_tx(&room->all",
    ),
    Mutant(
        17,
        "split: other threads' copies not waited for",
        "        fence_proxy_async();\n        __syncthreads();\n        const uint64_t a",
        "        fence_proxy_async();\n        const uint64_t a",
    ),
    Mutant(
        17,
        "split: arithmetic before its registers are ready",
        "        wgmma_fence();\n#pragma unroll\n        for (int k = 0; k < SIDE / 16; ++k)",
        "#pragma unroll\n        for (int k = 0; k < SIDE / 16; ++k)",
    ),
    Mutant(
        17,
        "split: the next k of A",
        "a + k * 32 / 16, b + k * (B_ALONG_K",
        "a + k * 16 / 16, b + k * (B_ALONG_K",
    ),
    Mutant(
        17,
        "split: the next k of B by its rows",
        "(B_ALONG_K ? 32 : 16 * 128)",
        "(B_ALONG_K ? 32 : 8 * 128)",
    ),
    Mutant(
        17,
        "split: the next k of B by its columns",
        "(B_ALONG_K ? 32 : 16 * 128)",
        "(B_ALONG_K ? 16 : 16 * 128)",
    ),
    Mutant(
        17,
        "split: B always by its rows",
        "wgmma_mma_async_bf16<0, !B_ALONG_K>",
        "wgmma_mma_async_bf16<0, 1>",
    ),
    Mutant(
        17,
        "split: B always by its columns",
        "wgmma_mma_async_bf16<0, !B_ALONG_K>",
        "wgmma_mma_async_bf16<0, 0>",
    ),
    Mutant(
        17,
        "split: eights of B's rows",
        "wgmma_descriptor(now->B, 16, 8 * 128, WGMMA",
        "wgmma_descriptor(now->B, 16, 4 * 128, WGMMA",
    ),
    Mutant(
        17,
        "split: A's rows as if it were not copied",
        "+ first * w.A_step;",
        "+ first * (size_t)w.K * 2;",
    ),
    Mutant(
        17,
        "split: B's rows as if it were not copied",
        "(k_first + first) * w.B_pitch",
        "(k_first + first) * w.N * 2",
    ),
    Mutant(
        17,
        "split: the next rows of a B that is copied",
        "sizeof *w.B : w.B_pitch",
        "sizeof *w.B : w.N * sizeof *w.B",
    ),
    Mutant(17, "split: no swizzle", "(thread % 8 ^ first % 8) * 16", "thread % 8 * 16"),
    Mutant(
        17,
        "split: A past its last k",
        "cell < k_left ? A_rows : 0,\n                       bytes)",
        "A_rows,\n                       bytes)",
    ),
    Mutant(
        17,
        "split: A one eight past its last k",
        "cell < k_left ? A_rows",
        "cell <= k_left ? A_rows",
    ),
    Mutant(
        17,
        "split: B's columns past their last k",
        "B, w.B_pitch, cell < k_left ? B_rows : 0",
        "B, w.B_pitch, B_rows",
    ),
    Mutant(
        17,
        "split: B past its last row",
        "B_rows > 0 ? k_left - first : 0",
        "B_rows > 0 ? SIDE : 0",
    ),
    Mutant(
        17,
        "split: B past its last column",
        "B_rows > 0 ? k_left - first : 0",
        "k_left - first",
    ),
    Mutant(17, "split: A past its last row", "A_rows = rows - first;", "A_rows = rows;"),
    Mutant(
        17,
        "split: B's columns past the last",
        "(B_ALONG_K ? first : cell);",
        "(B_ALONG_K ? 0 : cell);",
    ),
    Mutant(
        17,
        "split: one row too many",
        "row < limit ? bytes : 0)",
        "row <= limit ? bytes : 0)",
    ),
    Mutant(
        17,
        "split: what is not there is not zero",
        "cp_async<16>(to + row * 128, from, row >= begin && row < limit ? bytes : 0);",
        "if (row >= begin && row < limit)\n            cp_async<16>(to + row * 128, from, bytes);",
    ),
    Mutant(
        17,
        "split: another row's end multiplied",
        "if (MOVED && begin + step == 0 && cell < moved)",
        "if (MOVED && begin + step == 0 && cell + 8 < moved)",
    ),
    Mutant(
        17, "split: B read before its first row", "MOVED ? k_left - first - w.K : 0", "0"
    ),
    Mutant(
        17, "split: the next row's beginning", "2 * min(8, k_left - cell) : 16", "16 : 16"
    ),
    Mutant(
        17,
        "split: rows that begin at two places",
        "& (2 * apart - 1)) / 2 : 0",
        "& (apart - 1)) / 2 : 0",
    ),
    Mutant(
        17,
        "split: rows of C that are not apart",
        "row + lane / 4 * apart",
        "row + lane / 4",
    ),
    Mutant(
        17,
        "split: rows too few for each tile",
        "divided_up(w.M - row, apart) : w.M - row; // from here on\n    // 8 rows",
        "(w.M - row) / apart : w.M - row; // from here on\n    // 8 rows",
    ),
    Mutant(
        17,
        "split: k not counted",
        "k_all - step * SIDE;\n        const int bytes",
        "k_all;\n        const int bytes",
    ),
    Mutant(17, "split: A of another block", "A += (k_first + cell)", "A += cell"),
    Mutant(
        17,
        "split: B of another block",
        "(k_first + first) * w.B_pitch",
        "(size_t)first * w.B_pitch",
    ),
    Mutant(
        17,
        "split: B's columns of another block",
        "(w.B + k_first + cell)",
        "(w.B + cell)",
    ),
    Mutant(
        17,
        "split: the ring filled too far",
        "for the copy of A or B\n#pragma unroll 1\n    for (int step = 0; step < STAGES - 1; ++step)",
        "for the copy of A or B\n#pragma unroll 1\n    for (int step = 0; step < STAGES; ++step)",
    ),
    Mutant(
        17,
        "split: the last step not brought",
        "        if (step < steps)\n            bring_rows(place",
        "        if (step + 1 < steps)\n            bring_rows(place",
    ),
    Mutant(
        17,
        "split: the stage that is filled multiplied",
        "wgmma_wait_group<0>();\n        typename shared::stage *now = &memory->stages[next]",
        "wgmma_wait_group<0>();\n        typename shared::stage *now = &memory->stages[fill]",
    ),
    Mutant(
        17,
        "split: a stage behind the last multiplied",
        "next = next + 1 == STAGES ? 0 : next + 1;\n        bring",
        "next = next == STAGES ? 0 : next + 1;\n        bring",
    ),
    Mutant(
        17,
        "split: a ring shorter for copies",
        "__pipeline_commit();\n        fill = fill + 1 ==",
        "__pipeline_commit();\n        fill = fill + 2 ==",
    ),
    Mutant(
        17,
        "split: all sums sent to one block",
        "const int to = i / mine;",
        "const int to = 0;",
    ),
    Mutant(
        17,
        "split: sums sent to the wrong block",
        "const int to = i / mine;",
        "const int to = i % w->blocks;",
    ),
    Mutant(
        17,
        "split: each block's sums in one place",
        "&room->sums[rank * mine + i % mine]",
        "&room->sums[i % mine]",
    ),
    Mutant(
        17,
        "split: sums counted by the wrong block",
        "mapa(&room->all_here, to)",
        "mapa(&room->all_here, rank)",
    ),
    Mutant(
        17,
        "split: fewer sums announced",
        "my_eights * (w->blocks - 1) *",
        "my_eights * (w->blocks - 2) *",
    ),
    Mutant(
        17, "split: sums announced of warps that send none", "a.warps * 32 *", "4 * 32 *"
    ),
    Mutant(
        17,
        "split: eights announced that do not exist",
        "max(0, min(a.mine, a.eights - a.rank * a.mine))",
        "a.mine",
    ),
    Mutant(17, "split: eights sent that do not exist", "else if (i < a->eights)", "else"),
    Mutant(
        17,
        "split: the upper rows' sums twice",
        "half ? sums[i].z : sums[i].x",
        "sums[i].x",
    ),
    Mutant(
        17,
        "split: the upper row twice",
        "make_float4(acc[i * 4], acc[i * 4 + 1], acc[i * 4 + 2]",
        "make_float4(acc[i * 4], acc[i * 4 + 1], acc[i * 4]",
    ),
    Mutant(
        17,
        "split: another lane's sums",
        "sums[i] = room->sums[i][thread];",
        "sums[i] = room->sums[i][thread ^ 1];",
    ),
    Mutant(
        17,
        "split: the last two parts not added",
        "half > 0; half /= 2)\n",
        "half > 1; half /= 2)\n",
    ),
    Mutant(
        17,
        "split: not all parts added",
        "i < half && half >= mine",
        "i < half - 1 && half >= mine",
    ),
    Mutant(
        17,
        "split: one half twice",
        "add(&sums[i], sums[i + half]);",
        "add(&sums[i], sums[i]);",
    ),
    Mutant(
        17,
        "split: rows of C past the last",
        "        if (row >= w->M)\n            return;\n        T *C",
        "        T *C",
    ),
    Mutant(
        17,
        "split: columns of C past the last",
        "if (i < count && col + i * 8 < w->N)\n",
        "if (i < count)\n",
    ),
    Mutant(17, "split: other blocks' columns of C", "col + rank * mine * 8 +", "col +"),
    Mutant(17, "split: alpha ignored", "two[i][1] = w->alpha *", "two[i][1] ="),
    Mutant(17, "split: beta ignored", "two[i][j] += w->beta * as", "two[i][j] += as"),
    Mutant(17, "split: C read without beta", "        if (w->beta != 0.0f)\n", ""),
    Mutant(
        17,
        "split: the last steps for nobody",
        "divided_up(steps, w.blocks * w.clusters);\n    w.pairs = w.N",
        "steps / (w.blocks * w.clusters);\n    w.pairs = w.N",
    ),
    Mutant(
        17,
        "split: clusters too large",
        "while (blocks < MOST_BLOCKS &&",
        "while (blocks <= MOST_BLOCKS &&",
        "cluster misconfiguration",
    ),
    Mutant(
        17,
        "split: pairs of results where rows begin at odd elements",
        "w.pairs = w.N % 2 == 0 && (uintptr_t)C % 4 == 0;",
        "w.pairs = true;",
    ),
    Mutant(
        17,
        "split: tiles of another row",
        "MOVED = LIES == APART;\n    const int apart = MOVED ? w.apart : 1;\n    const int down = blockIdx.z",
        "MOVED = LIES == APART;\n    const int apart = MOVED ? w.apart : 1;\n    const int down = blockIdx.x",
    ),
    Mutant(
        17,
        "split: one cluster's sums only",
        "if (w->clusters > 1 && !(a",
        "if (w->clusters > 1 && rank < 0 && !(a",
    ),
    Mutant(
        17,
        "split: clusters' sums not waited for",
        "    __syncwarp();\n    __threadfence();\n    int *arrived = &w",
        "    int *arrived = &w",
    ),
    Mutant(
        17,
        "split: clusters' counter not set back",
        "*arrived = 0; // ready for the next product\n    *sum",
        "; // ready for the next product\n    *sum",
    ),
    Mutant(
        17,
        "split: the first cluster that comes stores",
        "before != w->clusters - 1",
        "before != 0",
    ),
    Mutant(
        17,
        "split: clusters' sums in one place",
        "parts[blockIdx.y / w->blocks * CLUSTER] = *sum;",
        "parts[0] = *sum;",
    ),
    Mutant(
        17,
        "split: eights' counters in one place",
        "(tile * EIGHTS + eight) * (SPLIT",
        "(tile * EIGHTS) * (SPLIT",
    ),
    Mutant(
        17, "a block without a tile", "p->more = p->shared < p->end;", "p->more = true;"
    ),
    Mutant(
        17,
        "thin: rows of A that do not exist",
        "from > 0 && from + f::STEPS <= min(k_end, w.K) && (FLAT || top + THIN <= w.M);",
        "from > 0 && from + f::STEPS <= min(k_end, w.K);",
    ),
    Mutant(
        17,
        "thin: one column, a row further",
        "make_uint4(words[i / 2] >> i % 2 * 16 & 0xffffu",
        "make_uint4(words[i / 2] >> (1 - i % 2) * 16 & 0xffffu",
    ),
    Mutant(17, "thin: halves of words", "j % 2 ? 0x7632", "j % 2 ? 0x5410"),
    Mutant(17, "thin: rows of B", "lane % 4 * 2 + i / 2 * 8 + i % 2", "lane % 4 * 2 + i"),
    Mutant(
        17,
        "thin: columns of a tile",
        "blockIdx.x * THIN + lane / 4 * 8",
        "blockIdx.x * THIN + lane / 4",
    ),
    Mutant(17, "thin: rows of a tile", "% 8 * 2 + r % 4 / 2]", "% 8 * 2 + r % 2]"),
    Mutant(
        17,
        "thin: the next part of A while this is read",
        "        __syncthreads();\n        for (int row = first;",
        "        for (int row = first;",
    ),
    Mutant(
        17,
        "thin: the next part of B while this is read",
        "        __syncthreads();\n        // Of one column",
        "        // Of one column",
    ),
    Mutant(
        17,
        "thin: the same step of A again",
        "load_next(chunk + at + TURN, half);",
        "load_next(chunk + at, half);",
    ),
    Mutant(17, "thin: A of the first chunk", "w.K + chunk + k;", "w.K + k_begin + k;"),
    Mutant(
        17,
        "thin: A not waited for",
        "        __syncthreads();\n        for (int turn = 0;",
        "        for (int turn = 0;",
    ),
    Mutant(17, "thin: A not complete", "in_A(row) && k", "in_A(row + 8) && k"),
    Mutant(
        17, "thin: a next step that is this", "chunk + at + AHEAD * TURN", "chunk + at"
    ),
    Mutant(
        17,
        "thin: words that begin where B does",
        "slot_of(B_row - moved(i))",
        "slot_of(B_row)",
    ),
    Mutant(
        17,
        "thin: words that begin where a row does",
        "/ 4 * 8 - moved(warp);",
        "/ 4 * 8;",
    ),
    Mutant(
        17,
        "thin: sums where the words begin",
        "OVERLAP + r / 4 - moved(warp)",
        "OVERLAP + r / 4",
    ),
    Mutant(
        17,
        "thin: another warp's place",
        "- OVERLAP + moved(of)",
        "- OVERLAP + moved(warp)",
    ),
    Mutant(
        17, "thin: nothing from the next block", "!by_columns && col", "by_columns && col"
    ),
    Mutant(17, "thin: rows as long as K", "columns ? K + 7 : K,", "K,"),
    Mutant(17, "thin: rows as long as N", "columns ? M : N + 7,", "columns ? M : N,"),
    Mutant(
        17,
        "thin: the end of the row before",
        "only(now[j], -k, w.K - k)",
        "only(now[j], 0, w.K - k)",
    ),
    Mutant(
        17,
        "thin: the beginning of the next row",
        "only(now[j], -k, w.K - k)",
        "only(now[j], -k, 8)",
    ),
    Mutant(17, "thin: what follows a row's part", "offset), 0, left)", "offset), 0, 8)"),
    Mutant(
        17,
        "a copied row goes on with the next row's beginning",
        "left < 16 ? only(v, 0, (int)left / 2) : v",
        "left < 0 ? only(v, 0, (int)left / 2) : v",
    ),
    Mutant(17, "thin: order of A", "&to[e * 16]", "&to[e]"),
    Mutant(17, "thin: flat though rows begin anywhere", "(M == 1 || K % 8 == 0)", "true"),
    Mutant(17, "thin: other rows of A", "(size_t)(top + row) * w.K", "(size_t)row * w.K"),
    Mutant(
        17,
        "thin: order of k",
        "lane % 8 / 2 * 8 + lane / 8 * 2",
        "lane % 8 / 2 * 2 + lane / 8 * 8",
    ),
    Mutant(
        17,
        "thin: k of the second instruction",
        "{now[j].z, 0, now[j].w, 0}",
        "{now[j].x, 0, now[j].y, 0}",
    ),
    Mutant(17, "thin: an edge left out", "edge |= at && !inside", "edge |= false"),
    Mutant(
        17,
        "thin: an edge's word",
        "word_at_the_edge(at, begin, end);",
        "word_at_the_edge(begin, begin, end);",
    ),
    Mutant(
        17,
        "thin: past the matrix",
        "(at >= begin && at + 16 <= end);\n        to[i]",
        "(at >= begin);\n        to[i]",
    ),
    Mutant(
        17, "thin: warps add up too early", "mine[i];\n    __syncthreads();", "mine[i];"
    ),
    Mutant(
        17, "thin: a warp's sum missing", "w < FEW_WARPS; ++w", "w < FEW_WARPS - 1; ++w"
    ),
    Mutant(
        17,
        "thin: a part missing",
        "part = threadIdx.x % lanes; part < w.parts",
        "part = threadIdx.x % lanes; part + 1 < w.parts",
    ),
    Mutant(17, "thin: parts of neighbours", "from[part * size]", "from[part * results]"),
    Mutant(17, "thin: alpha ignored", "alpha * sum + before", "sum + before"),
    Mutant(
        17,
        "thin: C read without beta",
        "beta == 0.0f ? 0.0f : beta * __bf",
        "beta * __bf",
    ),
    Mutant(
        17,
        "tf32: parity of a stage",
        "mbarrier_wait_parity(&full[t->index], t->parity);",
        "",
    ),
    Mutant(
        17,
        "tf32: k of a fragment",
        "k8 * 8 + lane % 4 + i / 2 * 4",
        "k8 * 8 + lane % 4 + i % 2 * 4",
    ),
    Mutant(17, "tf32: columns of a fragment", "g / 4 * 4 + i % 2;", "i % 2;"),
    Mutant(
        17,
        "tf32: released by a warp that reads",
        "    __syncwarp(); // each warp",
        "    // each warp",
    ),
    Mutant(
        17,
        "tf32: lanes do not exchange",
        "g < 4 ? four_on : mine, 16",
        "g < 4 ? mine : four_on, 16",
    ),
    Mutant(
        17,
        "tf32: rows of A that the other block brings",
        "row + first, come, mates",
        "row, come, mates",
    ),
    Mutant(
        17,
        "tf32: rows of B that the other block brings",
        "step * TF32_BK + first, come, mates",
        "step * TF32_BK, come, mates",
    ),
    Mutant(17, "tf32: all have the first rows", "now->A[part * T::PART]", "now->A[0]"),
    Mutant(
        17,
        "tf32: each block of a cluster in the first one's rows",
        "rank % T::DOWN) * T::BM + part",
        "0) * T::BM + part",
    ),
    Mutant(17, "tf32: beta ignored", "x : x + w->beta * *to", "x : x + *to"),
    Mutant(
        17,
        "tf32: a piece overwritten while it leaves",
        "if (speaker)\n            cp_async_bulk_wait_group_read",
        "if (0)\n            cp_async_bulk_wait_group_read",
    ),
    Mutant(
        17,
        "tf32: the other warp's results not waited for",
        "        fence_proxy_async();\n        bar_sync(1 + pair, 64);",
        "        fence_proxy_async();",
    ),
    Mutant(
        17,
        "tf32: the engine reads what is not yet visible to it",
        "        fence_proxy_async();\n        bar_sync(1 + pair, 64);",
        "        bar_sync(1 + pair, 64);",
    ),
    Mutant(
        17,
        "tf32: results of a lane's two rows exchanged",
        "g < 4 ? two[j] : two[1 - j]",
        "two[j]",
    ),
    Mutant(17, "tf32: alpha ignored", "w->alpha * (g < 4 ?", "1.0f * (g < 4 ?"),
    Mutant(17, "tf32: both warps in one's columns", "number % 2 * 2 + g", "g"),
    Mutant(
        17,
        "tf32: parts of a tile stored as if they were the whole",
        "if (steps < w->shares.steps)\n            leave_part<T::SUMS",
        "if (false)\n            leave_part<T::SUMS",
    ),
    Mutant(
        17,
        "tf32: the copy engine stores where beta wants C",
        "beta == 0.0f && engine_can(C, N * size);\n    const struct tf32_work",
        "engine_can(C, N * size);\n    const struct tf32_work",
    ),
    Mutant(
        17,
        "tf32: cut, not rounded, on the way",
        "T::DOWN, TF32_SLAB, SWIZZLE",
        "T::DOWN, TF32_SLAB - 4, SWIZZLE",
    ),
    Mutant(
        17,
        "tiles of 64 columns",
        "                    store(&w->to, C_map,",
        "                    if (T::BN != 64)\n                        store(&w->to, C_map,",
    ),
    Mutant(
        17,
        "tiles of 128 columns",
        "                    store(&w->to, C_map,",
        "                    if (T::BN != 128)\n                        store(&w->to, C_map,",
    ),
    Mutant(
        17,
        "tiles of 192 columns",
        "                    store(&w->to, C_map,",
        "                    if (T::BN != 192)\n                        store(&w->to, C_map,",
    ),
    Mutant(
        17,
        "tiles of 256 columns",
        "                    store(&w->to, C_map,",
        "                    if (T::BN != 256)\n                        store(&w->to, C_map,",
    ),
    # What the small odd products were once too few for.
    Mutant(
        1,
        "nothing without the product",
        "    matmul_kernel<<<",
        "    if (alpha == 0.0f) return;\n    matmul_kernel<<<",
    ),
    Mutant(
        2,
        "beta forgotten where alpha is 1",
        "*c = alpha * acc + beta * old;",
        "*c = alpha == 1.0f ? acc : alpha * acc + beta * old;",
    ),
    Mutant(2, "a long K cut off", "k < K;", "k < K && k < 256;"),
    Mutant(
        3,
        "a tile that ends one k too late taken as whole",
        "k0 + BK <= K",
        "k0 + BK <= K + 1",
    ),
    Mutant(
        4,
        "a tile that ends one k too late taken as whole",
        "k0 + BK <= K",
        "k0 + BK <= K + 1",
    ),
    Mutant(
        6,
        "rows of B that are pairs taken for float4s",
        "N % 4 == 0 && (size_t)A",
        "N % 2 == 0 && (size_t)A",
    ),
    Mutant(
        6, "B taken for aligned", " &&\n                         (size_t)B % 16 == 0", ""
    ),
    Mutant(
        10,
        "rows of B that are pairs taken for float4s",
        "N % 4 == 0 && (size_t)B",
        "N % 2 == 0 && (size_t)B",
    ),
    Mutant(10, "C taken for aligned", " && (size_t)C % 16 == 0;", ";"),
    Mutant(
        12, "C taken for aligned", "N % 4 == 0 && (size_t)C % 16 == 0;", "N % 4 == 0;"
    ),
    Mutant(
        12,
        "B taken for aligned",
        "return w->B_row % 4 == 0 && (size_t)w->B % 16 == 0;",
        "return w->B_row % 4 == 0;",
    ),
    Mutant(13, "C taken for aligned", " && (size_t)C % 16 == 0;", ";"),
    Mutant(13, "B taken for aligned", " && (size_t)B % 16 == 0;", ";", *NO_MAP),
    # Each matrix in each precision: one test of alignment, or two.
    Mutant(
        14,
        "bf16: A taken for aligned",
        "(size_t)A | (size_t)B | (size_t)C | 2 *",
        "(size_t)B | (size_t)C | 2 *",
    ),
    Mutant(
        14,
        "bf16: B taken for aligned",
        "(size_t)A | (size_t)B | (size_t)C | 2 *",
        "(size_t)A | (size_t)C | 2 *",
    ),
    Mutant(
        14,
        "bf16: C taken for aligned",
        "(size_t)A | (size_t)B | (size_t)C | 2 *",
        "(size_t)A | (size_t)B | 2 *",
    ),
    Mutant(
        14,
        "tf32: A taken for aligned",
        "(size_t)A | (size_t)B | (size_t)C | 4 *",
        "(size_t)B | (size_t)C | 4 *",
    ),
    Mutant(
        14,
        "tf32: B taken for aligned",
        "(size_t)A | (size_t)B | (size_t)C | 4 *",
        "(size_t)A | (size_t)C | 4 *",
    ),
    Mutant(
        14,
        "tf32: C taken for aligned",
        "(size_t)A | (size_t)B | (size_t)C | 4 *",
        "(size_t)A | (size_t)B | 4 *",
    ),
    Mutant(15, "A taken for aligned", "(size_t)A | (size_t)B", "(size_t)B", *NO_MAP),
    Mutant(15, "B taken for aligned", "(size_t)A | (size_t)B", "(size_t)A", *NO_MAP),
    Mutant(15, "C taken for aligned", "(size_t)B | (size_t)C", "(size_t)B"),
    Mutant(16, "taken for aligned", "(uintptr_t)matrix % 16 == 0 && ", "", *NO_MAP),
    Mutant(17, "taken for aligned", "(uintptr_t)matrix % 16 == 0 && ", "", *NO_MAP),
    # Ways of their own for 1 and -1, in which the other multiplier is forgotten, or C.
    Mutant(
        1,
        "C forgotten where beta is 1",
        "beta == 0.0f ? 0.0f : *c",
        "beta == 0.0f || beta == 1.0f ? 0.0f : *c",
    ),
    Mutant(
        1,
        "alpha forgotten where beta is 1",
        "*c = alpha * acc + beta * old;",
        "*c = beta == 1.0f ? acc + old : alpha * acc + beta * old;",
    ),
    Mutant(
        1,
        "alpha forgotten where beta is -1",
        "*c = alpha * acc + beta * old;",
        "*c = beta == -1.0f ? acc - old : alpha * acc + beta * old;",
    ),
    Mutant(
        1,
        "C added without beta where alpha is 1",
        "*c = alpha * acc + beta * old;",
        "*c = alpha == 1.0f ? acc + old : alpha * acc + beta * old;",
    ),
    Mutant(
        1,
        "C added without beta where alpha is -1",
        "*c = alpha * acc + beta * old;",
        "*c = alpha == -1.0f ? old - acc : alpha * acc + beta * old;",
    ),
    Mutant(
        1,
        "added where alpha is -1 and beta 1",
        "*c = alpha * acc + beta * old;",
        "*c = alpha == -1.0f && beta == 1.0f ? old + acc : alpha * acc + beta * old;",
    ),
    Mutant(
        2,
        "C forgotten where both are 1",
        "*c = alpha * acc + beta * old;",
        "*c = alpha == 1.0f && beta == 1.0f ? acc : alpha * acc + beta * old;",
    ),
    Mutant(
        15,
        "C forgotten where beta is 1",
        "            if (beta != 0.0f) {",
        "            if (beta != 0.0f && beta != 1.0f) {",
    ),
    Mutant(
        15,
        "C forgotten where beta is -1",
        "            if (beta != 0.0f) {",
        "            if (beta != 0.0f && beta != -1.0f) {",
    ),
    # Long sides, sides that are alike, single rows, columns and ks.
    Mutant(1, "rows in a short", "const int row = tile", "const short row = tile"),
    Mutant(1, "columns in a short", "const int col = tile", "const short col = tile"),
    Mutant(
        2,
        "no more than 255 tiles",
        "const int tile_row =",
        "const unsigned char tile_row =",
    ),
    Mutant(
        1,
        "A's rows taken for B's where C is a square",
        "A[(size_t)row * K + k]",
        "A[(size_t)row * (M == N ? N : K) + k]",
    ),
    Mutant(
        2,
        "C transposed where it is a square",
        "C[(size_t)row * N + col]",
        "C[M == N && K != M ? (size_t)col * N + row : (size_t)row * N + col]",
    ),
    Mutant(
        2,
        "B transposed where it is a square",
        "B[(size_t)k * N + col]",
        "B[N == K && M != N ? (size_t)col * N + k : (size_t)k * N + col]",
    ),
    Mutant(
        2,
        "A transposed where it is a square",
        "A[(size_t)row * K + k]",
        "A[M == K && N != M ? (size_t)k * M + row : (size_t)row * K + k]",
    ),
    Mutant(
        1,
        "a row times a column",
        "float acc = 0.0f;",
        "float acc = M == 1 && N == 1 && K > 1 ? 1.0f : 0.0f;",
    ),
    Mutant(
        1,
        "a column times a row",
        "float acc = 0.0f;",
        "float acc = M > 1 && N > 1 && K == 1 ? 1.0f : 0.0f;",
    ),
    Mutant(
        14,
        "no more blocks than multiprocessors",
        "<<<blocks, THREADS, bytes>>>",
        "<<<min(blocks, 132u), THREADS, bytes>>>",
    ),
    Mutant(
        15,
        "no more blocks than multiprocessors",
        "<<<blocks, THREADS, bytes>>>",
        "<<<min(blocks, 132u), THREADS, bytes>>>",
    ),
    # What a short without a sign counts, and a long K.
    Mutant(
        1, "rows in 16 bits", "const int row = tile", "const unsigned short row = tile"
    ),
    Mutant(
        1, "columns in 16 bits", "const int col = tile", "const unsigned short col = tile"
    ),
    Mutant(1, "k in a short", "for (int k = 0", "for (short k = 0"),
    Mutant(
        1,
        "K in 16 bits",
        "    matmul_kernel(int M, int N, int K",
        "    matmul_kernel(int M, int N, unsigned short K",
    ),
    Mutant(1, "K cut off at 4096", "k < K;", "k < K && k < 4096;"),
    Mutant(3, "K cut off at 2048", "k0 < K; k0", "k0 < K && k0 < 2048; k0"),
    Mutant(
        3,
        "places in A in 16 bits",
        "A + (size_t)row * K",
        "A + (unsigned short)(row * K)",
    ),
    Mutant(
        3,
        "places in B in 16 bits",
        "b_next += (size_t)BK * N;",
        "b_next = B + (unsigned short)((k0 + BK + thread_row) * N + col);",
    ),
    Mutant(
        3,
        "places in C in 16 bits",
        "&C[(size_t)row * N + col]",
        "&C[(unsigned short)(row * N + col)]",
        "data race",
    ),
    Mutant(2, "a rest of three fours of k", "k < K;", "k < (K % 16 == 12 ? K - 4 : K);"),
    Mutant(
        3,
        "whole tiles: C not added",
        "    const dim3 threads(BN, BM);\n",
        "    const dim3 threads(BN, BM);\n"
        "    if (M % BM == 0 && N % BN == 0 && K % BK == 0) beta = 0.0f;\n",
    ),
    Mutant(
        2, "a square C not added", "old = beta == 0.0f", "old = beta == 0.0f || M == N"
    ),
    Mutant(
        2,
        "one row of C not added",
        "old = beta == 0.0f",
        "old = beta == 0.0f || (M == 1 && N > 1)",
    ),
    Mutant(
        2,
        "C not added to products",
        "old = beta == 0.0f",
        "old = beta == 0.0f || (K == 1 && M > 1)",
    ),
    Mutant(
        2,
        "an infinite C not added",
        "old = beta == 0.0f",
        "old = beta == 0.0f || !isfinite(*c)",
    ),
    Mutant(
        6,
        "one row: B anywhere",
        "(size_t)B % 16 == 0",
        "(M == 1 || (size_t)B % 16 == 0)",
        "misaligned",
    ),
    # Addresses that are good for pairs taken for such that are good for fours.
    Mutant(
        6, "A taken for aligned at 8", "(size_t)A % 16", "(size_t)A % 8", "misaligned"
    ),
    Mutant(
        6, "B taken for aligned at 8", "(size_t)B % 16", "(size_t)B % 8", "misaligned"
    ),
    Mutant(
        6, "C taken for aligned at 8", "(size_t)C % 16", "(size_t)C % 8", "misaligned"
    ),
    Mutant(13, "B taken for aligned at 8", "(size_t)B % 16", "(size_t)B % 8", *NO_MAP),
    Mutant(
        14,
        "bf16: A taken for aligned at 8",
        "(size_t)A | (size_t)B | (size_t)C | 2 *",
        "((size_t)A & 7) | (size_t)B | (size_t)C | 2 *",
        "misaligned",
    ),
    Mutant(
        14,
        "tf32: B taken for aligned at 8",
        "(size_t)A | (size_t)B | (size_t)C | 4 *",
        "(size_t)A | ((size_t)B & 7) | (size_t)C | 4 *",
        "misaligned",
    ),
    Mutant(
        15,
        "A taken for aligned at 8",
        "(size_t)A | (size_t)B",
        "((size_t)A & 7) | (size_t)B",
        *NO_MAP,
    ),
    Mutant(16, "taken for aligned at 8", "matrix % 16 ==", "matrix % 8 ==", *NO_MAP),
    Mutant(17, "taken for aligned at 8", "matrix % 16 ==", "matrix % 8 =="),
    # tf32 is checked in a few of the shapes only.
    Mutant(
        14,
        "tf32: C forgotten where beta is 1",
        "    const size_t all = (size_t)A | (size_t)B | (size_t)C | 4 *",
        "    if (beta == 1.0f) beta = 0.0f;\n"
        "    const size_t all = (size_t)A | (size_t)B | (size_t)C | 4 *",
    ),
    Mutant(
        14,
        "tf32: C forgotten where beta is -1",
        "    const size_t all = (size_t)A | (size_t)B | (size_t)C | 4 *",
        "    if (beta == -1.0f) beta = 0.0f;\n"
        "    const size_t all = (size_t)A | (size_t)B | (size_t)C | 4 *",
    ),
    Mutant(
        13,
        "the last call's copies kept",
        "    prepare<<<",
        "    static int m, n, k;\n    const bool again = m == M && n == N && k == K;\n"
        "    m = M, n = N, k = K;\n    if (!again) prepare<<<",
    ),
    Mutant(
        14,
        "alpha rounded to bf16",
        "    const int group = blockIdx.x",
        "    alpha = __bfloat162float(__float2bfloat16(alpha));\n    const int group = blockIdx.x",
    ),
    Mutant(
        15,
        "alpha cut to halves",
        "    const int group = blockIdx.x",
        "    alpha = (int)(alpha * 2) / 2.0f;\n    const int group = blockIdx.x",
    ),
    Mutant(
        14,
        "a last GROUP as tall as the others",
        "min(GROUP, tiles_down - group)",
        "min(GROUP, tiles_down)",
    ),
    Mutant(
        15,
        "a last GROUP as tall as the others",
        "min(GROUP, tiles_down - group)",
        "min(GROUP, tiles_down)",
    ),
    Mutant(
        16,
        "a last GROUP as tall as the others",
        "min(GROUP, w->pairs_down - group)",
        "min(GROUP, w->pairs_down)",
    ),
    Mutant(
        17,
        "a last GROUP as tall as the others",
        "min(s->group, s->units_down - first)",
        "min(s->group, s->units_down)",
    ),
    Mutant(
        16,
        "more registers than there are",
        "CONSUMER_REGISTERS = 232",
        "CONSUMER_REGISTERS = 240",
        "setmaxnreg",
    ),
    Mutant(
        16,
        "registers that the producer keeps",
        "setmaxnreg_dec<PRODUCER_REGISTERS>();",
        "",
        "setmaxnreg",
    ),
    # What the small odd products were too few for a second time: many small blocks, rests
    # of a step along K, parts of a tile, orders of the sides.
    Mutant(
        1,
        "no more blocks than 16 bits can number",
        "<<<tiles_down * tiles_across, threads>>>",
        "<<<(unsigned short)(tiles_down * tiles_across - 1) + 1, threads>>>",
        "still hold the old C",
    ),
    Mutant(
        2,
        "no more blocks than a grid has along y",
        "<<<tiles_down * tiles_across, threads>>>",
        "<<<min(tiles_down * tiles_across, 65535u), threads>>>",
        "still hold the old C",
    ),
    Mutant(4, "rows in 16 bits", "const int row =", "const unsigned short row ="),
    Mutant(4, "columns in 16 bits", "const int col =", "const unsigned short col ="),
    Mutant(14, "K cut off at 2048", "k0 < K; k0 += BK", "k0 < min(K, 2048); k0 += BK"),
    Mutant(15, "K cut off at 2048", "= (K - 1) / BK", "= (min(K, 2048) - 1) / BK"),
    Mutant(16, "K cut off at 2048", "up(K, BK)", "up(min(K, 2048), BK)"),
    *(
        Mutant(
            2,
            f"a rest of {rest} of 16 k",
            "k < K;",
            f"k < (K % 16 == {rest} ? K - 1 : K);",
        )
        for rest in range(1, 16)
    ),
    Mutant(
        9,
        "right tiles cut off in their second half",
        "float acc[TM][TN] = {{0.0f}};",
        "if (N % BN > BN / 2 && N % BN < BN - 4) alpha += 1.0f;\n"
        "    float acc[TM][TN] = {{0.0f}};",
    ),
    Mutant(
        9,
        "right tiles cut off in the middle",
        "float acc[TM][TN] = {{0.0f}};",
        "if (N % BN == BN / 2) alpha += 1.0f;\n    float acc[TM][TN] = {{0.0f}};",
    ),
    Mutant(
        15,
        "bottom tiles cut off in their first half",
        "float acc[BN / 2] = {};",
        "if (M % BM > 8 && M % BM < BM / 2) alpha += 1.0f;\n    float acc[BN / 2] = {};",
    ),
    Mutant(
        6,
        "float4s of a single column of B",
        "N % 4 == 0 && (size_t)A",
        "(N % 4 == 0 || N == 1) && (size_t)A",
        "misaligned",
    ),
    Mutant(
        2,
        "fewer columns than rows, and fewer k than these",
        "float acc = 0.0f;",
        "float acc = 1 < N && K < N && N < M ? 1e-3f : 0.0f;",
    ),
    Mutant(
        2,
        "fewer columns than k, and fewer k than rows",
        "float acc = 0.0f;",
        "float acc = 1 < N && N < K && K < M ? 1e-3f : 0.0f;",
    ),
    Mutant(
        2,
        "an odd k, of even sides",
        "float acc = 0.0f;",
        "float acc = M % 2 == 0 && N % 2 == 0 && K % 2 == 1 ? 1e-3f : 0.0f;",
    ),
    # NaN, numbers near the ends of fp32's range, all 24 bits, and large multipliers.
    Mutant(
        2,
        "NaN of A left out",
        PRODUCT,
        f"if (!isnan(A[(size_t)row * K + k])) {PRODUCT}",
        "a NaN was left out",
    ),
    Mutant(
        2,
        "zeros of B left out",
        PRODUCT,
        f"if (B[(size_t)k * N + col] != 0.0f) {PRODUCT}",
        "a NaN was left out",
    ),
    Mutant(
        14,
        "NaN stored as 0",
        "float x = alpha * acc[m][n][half * 2];",
        "float x = isnan(acc[m][n][half * 2]) ? 0.0f : alpha * acc[m][n][half * 2];",
        "a NaN was left out",
    ),
    Mutant(
        2,
        "small results taken for nothing",
        "*c = alpha * acc + beta * old;",
        "*c = alpha * acc + beta * old;\n    if (fabsf(*c) < 1e-29f) *c = 0.0f;",
    ),
    Mutant(
        2,
        "large results taken for infinite",
        "*c = alpha * acc + beta * old;",
        "*c = alpha * acc + beta * old;\n    if (fabsf(*c) > 1e29f) *c = INFINITY;",
    ),
    Mutant(
        2,
        "sums cut to 23 bits",
        PRODUCT,
        f"{PRODUCT}\n    acc = __uint_as_float(__float_as_uint(acc) & ~1u);",
    ),
    Mutant(
        4,
        "results cut to 23 bits",
        "*c = alpha * acc[m] + beta * old;",
        "*c = __uint_as_float(__float_as_uint(alpha * acc[m] + beta * old) & ~1u);",
    ),
    Mutant(1, "alpha at most 2.5", "= alpha * acc", "= fminf(alpha, 2.5f) * acc"),
    Mutant(1, "beta at most 2.5", "beta * old", "fminf(beta, 2.5f) * old"),
    # Ways of their own for 1 and -1 in one of a chapter's two kernels only.
    *(
        Mutant(
            6,
            f"C forgotten where beta is {one} and rows are float4s",
            "+ beta * v[i]",
            f"+ (ALIGNED && beta == {one}.0f ? 0.0f : beta) * v[i]",
        )
        for one in (1, -1)
    ),
    *(
        Mutant(
            15,
            f"C forgotten where beta is {one} and the copy engine copies",
            "            if (beta != 0.0f) {",
            f"            if (beta != 0.0f && !(ENGINE && beta == {one}.0f)) {{",
        )
        for one in (1, -1)
    ),
    Mutant(
        15,
        "C forgotten where alpha is 1 and the copy engine copies",
        "            if (beta != 0.0f) {",
        "            if (beta != 0.0f && !(ENGINE && alpha == 1.0f)) {",
    ),
    Mutant(
        15,
        "alpha forgotten where it is -1 and the copy engine copies",
        "float x = alpha * acc",
        "alpha = ENGINE && alpha == -1.0f ? 1.0f : alpha;\n            float x = alpha * acc",
    ),
    # What is right by chance: of what only some GPUs do, by the order of two calls.
    Mutant(
        14,
        "waits for as many copies as three stages have",
        "            __pipeline_wait_prior(STAGES - 2);",
        "            __pipeline_wait_prior(1);",
        "asynchronous copy not waited for",
    ),
    Mutant(
        15,
        "a fence behind the arrival",
        "    fence_proxy_async();\n    mbarrier_arrive(full);",
        "    mbarrier_arrive(full);\n    fence_proxy_async();",
        "a fence.proxy.async too late",
    ),
    Mutant(
        16,
        "a fence before the other lanes are waited for",
        "        fence_proxy_async();\n        __syncwarp();",
        "        if (lane == 0)\n            fence_proxy_async();\n        __syncwarp();",
        "a missing fence.proxy.async",
    ),
    Mutant(
        17,
        "tf32: columns taken for rows where the copy engine is asked",
        "engine_can(C, N * size);\n    const struct tf32_work",
        "engine_can(C, M * size);\n    const struct tf32_work",
        *NO_MAP,
    ),
    Mutant(
        1,
        "a launcher that ends the program, with success",
        "    const dim3 threads",
        "    exit(0);\n    const dim3 threads",
        "nothing was checked",
    ),
    # What only many tiles in one direction and several in the other show.
    *(
        Mutant(
            chapter,
            f"the last group of eight {line}s of tiles as large as the others",
            TILE_OF_BLOCK,
            tiles_in_groups(line, other),
        )
        for chapter, line, other in ((5, "row", "col"), (6, "col", "row"))
    ),
    # Sides of exactly what is moved at once.
    Mutant(
        8,
        "a K of one step fetched by nobody",
        "    fetch<ALIGNED>(a, b, M, N, K, A, B, a_row, load_a_col,",
        "    if (K != BK)\n"
        "        fetch<ALIGNED>(a, b, M, N, K, A, B, a_row, load_a_col,",
    ),
    *(
        Mutant(2, f"nothing where {side}", "row >= M ||", f"row >= M || {side} ||")
        for side in ("M == 4", "N == 2", "K == 2", "K == 4")
    ),
    Mutant(
        2,
        "results below the normal range flushed to zero",
        "    *c = alpha * acc + beta * old;",
        "    *c = alpha * acc + beta * old;\n"
        "    if (fabsf(*c) < 1.17549435e-38f) *c = 0.0f;",
    ),
    Mutant(
        3,
        "the last row of B where zeros belong",
        "                b_value = *b_next;\n        }",
        "                b_value = *b_next;\n"
        "            else if (col < N)\n"
        "                b_value = B[(size_t)(K - 1) * N + col];\n        }",
        "a zero that is not in the matrices",
    ),
    # Multipliers of 1 and -1 beside each other, and one that is nearly 0.
    *(
        Mutant(
            2,
            f"the wrong sign where alpha is {one} and beta -1",
            "*c = alpha * acc + beta * old;",
            f"*c = alpha == {one}.0f && beta == -1.0f ? {wrong}\n"
            "        : alpha * acc + beta * old;",
        )
        for one, wrong in ((1, "acc + old"), (-1, "acc - old"))
    ),
    Mutant(
        2,
        "beta of less than a millionth of a millionth taken for 0",
        "beta == 0.0f",
        "fabsf(beta) < 1e-12f",
    ),
    Mutant(
        14,
        "C forgotten without the product",
        "    const size_t all = (size_t)A | (size_t)B | (size_t)C | 4 *",
        "    if (alpha == 0.0f) beta = 0.0f;\n"
        "    const size_t all = (size_t)A | (size_t)B | (size_t)C | 4 *",
    ),
    # Addresses: of a C that is only written, of one row, of two matrices in one sum.
    Mutant(
        6,
        "C taken for aligned where it is not read",
        "(size_t)C % 16 == 0;",
        "(beta == 0.0f || (size_t)C % 16 == 0);",
        "misaligned",
    ),
    *(
        Mutant(
            6,
            f"one row: {matrix} anywhere",
            f"(size_t){matrix} % 16 == 0",
            f"(M == 1 || (size_t){matrix} % 16 == 0)",
            "misaligned",
        )
        for matrix in "AC"
    ),
    Mutant(
        6,
        "the sum of two addresses",
        "(size_t)A % 16 == 0 &&\n                         (size_t)B % 16 == 0 && ",
        "((size_t)A + (size_t)B) % 16 == 0 && ",
        "misaligned",
    ),
    Mutant(
        6,
        "the sum of all addresses",
        "(size_t)A % 16 == 0 &&\n                         (size_t)B % 16 == 0 && "
        "(size_t)C % 16 == 0;",
        "((size_t)A + (size_t)B + (size_t)C) % 16 == 0;",
        "misaligned",
    ),
    Mutant(
        6,
        "an address compared with another",
        "(size_t)A % 16 == 0 &&\n                         (size_t)B % 16 == 0 && ",
        "((size_t)A ^ (size_t)B) % 16 == 0 && ",
        "misaligned",
    ),
    # One step along K of whole float4s; rows of one of two matrices that the copy engine
    # can read; what is kept for an address.
    Mutant(
        6,
        "float4s: a single step along K",
        "float acc[TM][TN] = {{0.0f}};",
        "if (ALIGNED && K == BK) alpha += 1.0f;\n    float acc[TM][TN] = {{0.0f}};",
    ),
    Mutant(
        15,
        "K not asked for its 16 bytes",
        "2 * (size_t)N | 2 * (size_t)K;",
        "2 * (size_t)N;",
        *NO_MAP,
    ),
    *(
        Mutant(
            15,
            f"{side} counted as if elements had four bytes",
            f"2 * (size_t){side}",
            f"4 * (size_t){side}",
            *NO_MAP,
        )
        for side in "NK"
    ),
    Mutant(
        15,
        "a map kept for an address",
        """        const CUtensorMap A_map =
            tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, A, M, K, K, BM, BK,
                             CU_TENSOR_MAP_SWIZZLE_128B);
""",
        """        static CUtensorMap A_map;
        static const void *at;
        if (at != A)
            A_map = tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, A, M, K, K, BM,
                                     BK, CU_TENSOR_MAP_SWIZZLE_128B);
        at = A;
""",
    ),
    Mutant(
        15,
        "the last of an odd number of rows where the copy engine copies",
        "if (c_row >= M || c_col >= N)",
        "if (c_row >= (ENGINE && M > 1 ? M / 2 * 2 : M) || c_col >= N)",
    ),
    # Chapter 19: what is kept from one call to the next.
    Mutant(
        19,
        "the pieces kept though their elements are others",
        "memcmp(&plan, wanted, sizeof plan) == 0",
        "plan.M == wanted->M && plan.N == wanted->N && plan.K == wanted->K &&\n"
        "        plan.gpus == wanted->gpus && plan.across == wanted->across",
    ),
    # Chapter 17: tf32 whose K several blocks divide; divisions as products.
    Mutant(
        17,
        "tf32 split: copies not waited for",
        "__pipeline_wait_prior(STAGES - 2);\n        typename",
        "__pipeline_wait_prior(STAGES - 1);\n        typename",
    ),
    Mutant(
        17,
        "tf32 split: a stage filled while others read it",
        "        __syncthreads();\n        bring",
        "        bring",
    ),
    Mutant(
        17,
        "tf32 split: A one row past its last",
        "i < A_rows ? bytes",
        "i <= A_rows ? bytes",
    ),
    Mutant(
        17,
        "tf32 split: A one cell past its last k",
        "A_cell < k_left ? BYTES",
        "A_cell <= k_left ? BYTES",
    ),
    Mutant(
        17,
        "tf32 split: A past its last k",
        ": A_cell < k_left ? BYTES\n                                                : 0;",
        ": BYTES;",
    ),
    Mutant(
        17, "tf32 split: a thread's rows of A", "A_rows = rows - A_first", "A_rows = rows"
    ),
    Mutant(
        17,
        "tf32 split: B one column past its last",
        "j < B_columns &&",
        "j <= B_columns &&",
    ),
    Mutant(
        17,
        "tf32 split: B one row past its last",
        "k < k_left && (!MOVED",
        "k <= k_left && (!MOVED",
    ),
    Mutant(17, "tf32 split: B past its last row", "k < k_left && (!MOVED", "(!MOVED"),
    Mutant(17, "tf32 split: a thread's columns of B", "w.N - col - B_cell", "w.N - col"),
    Mutant(
        17,
        "tf32 split: words: rows of A that all lie alike",
        "place_in_A(A_first + i, A_cell)",
        "(place_in_A(A_first, A_cell) + i * TF32_DEEP)",
    ),
    Mutant(
        17,
        "tf32 split: words: half of B's columns",
        "place_in_B(k, B_cell + j)",
        "place_in_B(k, B_cell)",
    ),
    Mutant(
        17,
        "tf32 split: words: the first half of B's columns twice",
        "B + i * B_step + j, there",
        "B + i * B_step, there",
    ),
    Mutant(
        17,
        "tf32 split: B read without its swizzle",
        "place_in_B(k + lane % 4 + i * 4, n * 8 + lane / 4)",
        "((k + lane % 4 + i * 4) * SIDE + n * 8 + lane / 4)",
    ),
    Mutant(
        17,
        "tf32 split: A's matrices in another order",
        "lane % 16, k + lane / 16 * 4",
        "lane % 8 + lane / 16 * 8, k + lane / 8 % 2 * 4",
    ),
    Mutant(
        17,
        "tf32 split: B's k in another order",
        "lane % 4 + i * 4, n",
        "lane % 4 * 2 + i, n",
    ),
    Mutant(
        17,
        "tf32 split: the stage that is filled multiplied",
        "__pipeline_wait_prior(STAGES - 2);\n        typename shared::stage *now = &memory->stages[next]",
        "__pipeline_wait_prior(STAGES - 2);\n        typename shared::stage *now = &memory->stages[fill]",
    ),
    Mutant(
        17,
        "tf32 split: a stage behind the last multiplied",
        "next = next + 1 == STAGES ? 0 : next + 1;\n        if",
        "next = next == STAGES ? 0 : next + 1;\n        if",
    ),
    Mutant(
        17,
        "tf32 split: a ring shorter for copies",
        "k_left -= TF32_DEEP;\n            fill = fill + 1 ==",
        "k_left -= TF32_DEEP;\n            fill = fill + 2 ==",
    ),
    Mutant(17, "tf32 split: k not counted", "            k_left -= TF32_DEEP;\n", ""),
    Mutant(
        17, "tf32 split: the next k of B", "B += TF32_DEEP * B_step;", "B += TF32_DEEP;"
    ),
    Mutant(
        17,
        "tf32 split: the last steps for nobody",
        "divided_up(steps, w.blocks * w.clusters);\n    w.pairs = N",
        "steps / (w.blocks * w.clusters);\n    w.pairs = N",
    ),
    Mutant(
        17,
        "tf32 split: A of another block",
        "(A_first * A_step) + k_first + A_cell",
        "(A_first * A_step) + A_cell",
    ),
    Mutant(
        17,
        "tf32 split: B of another block",
        "((k_first + B_first) * (long long)B_step",
        "(B_first * (long long)B_step",
    ),
    Mutant(
        17,
        "tf32 split: the ring filled too far",
        "for the copy of B\n#pragma unroll 1\n    for (int step = 0; step < STAGES - 1",
        "for the copy of B\n#pragma unroll 1\n    for (int step = 0; step < STAGES",
    ),
    Mutant(
        17,
        "tf32 split: the last step not brought",
        "        if (step < steps) {\n            typename",
        "        if (step + 1 < steps) {\n            typename",
    ),
    Mutant(
        17,
        "tf32 split: warps without rows that leave the others",
        "adding.warps)\n            continue;",
        "adding.warps)\n            break;",
    ),
    Mutant(
        17,
        "tf32 split: all warps store the first one's rows",
        "acc,\n              row + warp * 16 * apart",
        "acc,\n              row",
    ),
    Mutant(
        17,
        "tf32 split: two results at a time though N is odd",
        "N % 2 == 0 && (uintptr_t)C % 8 == 0",
        "(uintptr_t)C % 8 == 0",
    ),
    Mutant(
        17,
        "tf32 split: two results at a time wherever C begins",
        "N % 2 == 0 && (uintptr_t)C % 8 == 0",
        "N % 2 == 0",
    ),
    Mutant(
        17,
        "tf32 split: two results that change places",
        "make_float2(two[0], two[1])",
        "make_float2(two[1], two[0])",
    ),
    Mutant(
        17,
        "tf32 split: A's rows begin anywhere",
        ": A_can && (B_can || plan->copy_B) ?",
        ": (B_can || plan->copy_B) ?",
    ),
    Mutant(
        17,
        "tf32 split: B's rows begin anywhere",
        ": A_can && (B_can || plan->copy_B) ?",
        ": A_can ?",
    ),
    Mutant(
        17,
        "tf32 split: another row's end multiplied",
        "if (MOVED && begin + step == 0 && A_cell < moved)",
        "if (false)",
    ),
    Mutant(
        17,
        "tf32 split: the next row's beginning",
        "MOVED ? max(0, min(BYTES, 4 * (k_left - A_cell)))",
        "MOVED ? BYTES",
    ),
    Mutant(
        17,
        "tf32 split: B read before its first row",
        "(!MOVED || k >= k_left - w.K)",
        "true",
    ),
    Mutant(
        17,
        "tf32 split: rows that begin at two places",
        "!apart ? 1 : lines ? 32 : 4;",
        "!apart ? 1 : lines ? 32 : 2;",
    ),
    Mutant(
        17,
        "tf32 split: B as if it were not copied",
        "w->B_pitch = N * sizeof *B;\n    if (plan.copy_B)",
        "w->B_pitch = N * sizeof *B;\n    if (false)",
    ),
    Mutant(
        17,
        "tf32 split: half of the columns",
        "narrow = w->N <= SIDE / 2",
        "narrow = true",
    ),
    Mutant(
        17,
        "tf32 split: rows too few for each tile",
        "divided_up(w.M - row, apart) : w.M - row; // from here on\n    // k is",
        "(w.M - row) / apart : w.M - row; // from here on\n    // k is",
    ),
    Mutant(
        17,
        "split: the first stages of A brought once more",
        "if (step >= EARLY)\n            bring_A",
        "bring_A",
    ),
    Mutant(
        17,
        "tf32 split: no words",
        "tf32_launch_split_k_of<STAGES, TF32_WORDS, SIDE>",
        "tf32_launch_split_k_of<STAGES, TF32_BY_ROWS, SIDE>",
    ),
    Mutant(
        17,
        "tf32 split: alpha forgotten",
        "w->alpha = alpha, w->beta = beta;",
        "w->alpha = 1.0f, w->beta = beta;",
    ),
    Mutant(
        17,
        "tf32 split: beta forgotten",
        "w->alpha = alpha, w->beta = beta;",
        "w->alpha = alpha;",
    ),
    Mutant(
        17,
        "split: C read though beta is 0",
        "if (w->beta != 0.0f)\n#pragma unroll\n            for",
        "if (w->M)\n#pragma unroll\n            for",
    ),
    Mutant(
        17,
        "split: each warp's rows are not apart",
        "&adding, acc, row + warp * 16 * apart",
        "&adding, acc, row + warp * 16",
    ),
    Mutant(
        17,
        "a quotient's shift one too small",
        "/ number), 31 + bits}",
        "/ number), 30 + bits}",
    ),
    Mutant(
        17,
        "a divisor's multiplier rounded down",
        "bits)) + number - 1) / number)",
        "bits))) / number)",
    ),
    Mutant(
        17,
        "a power of two divided by twice itself",
        "while (1LL << bits < number)",
        "while (1LL << bits <= number)",
    ),
    Mutant(
        17,
        "the last group's height",
        "height == s->group ? s->by_height : s->by_last",
        "s->by_height",
    ),
    Mutant(
        17,
        "all groups as high as the last",
        "height == s->group ? s->by_height : s->by_last",
        "s->by_last",
    ),
    Mutant(
        17,
        "a group's first row counted in groups",
        "divided_by(s->by_group, unit) * s->group;",
        "divided_by(s->by_group, unit);",
    ),
    Mutant(
        17,
        "a group as wide as C is high",
        "divisor_of(s->group * s->units_across)",
        "divisor_of(s->group * s->units_down)",
    ),
    Mutant(
        17,
        "the last group's divisor",
        "divisor_of(last ? last : s->group)",
        "divisor_of(s->group)",
    ),
    *(
        Mutant(
            17,
            f"{produce}: barriers used before the others have theirs",
            f"    barrier_cluster_wait();\n{BEHIND_IT}            {produce}",
            f"{BEHIND_IT}            {produce}",
        )
        for produce in ("produce", "tf32_produce")
    ),
    # What may happen only on a GPU: a launch that begins early, a block that ends early.
    Mutant(
        12,
        "parts added up before they are there",
        "    cudaGridDependencySynchronize();\n",
        "",
        "this launch may begin before that one has ended",
    ),
    Mutant(
        13,
        "copies read before they are there",
        "    griddepcontrol_wait();\n\n    // 1.",
        "\n    // 1.",
        "this launch may begin before that one has ended",
    ),
    Mutant(
        13,
        "slices: copies read before they are there",
        "    griddepcontrol_wait();\n    struct stage",
        "    struct stage",
        "this launch may begin before that one has ended",
    ),
    *(
        Mutant(
            17,
            f"no wait {what}",
            f"griddepcontrol_wait(); // {what}",
            "",
            "this launch may begin before that one has ended",
        )
        for what in (
            "for all sums",
            "for the copies of A and B",
            "for the copy of A or B",
        )
    ),
    Mutant(
        16,
        "a producer that ends before its neighbour is done",
        "    finish_ring(&t, empty);\n",
        "",
        "shared memory of block 0 of the cluster",
    ),
]


def source_of(chapter):
    return next((ROOT / "chapters").glob(f"{chapter:02d}_*")) / "matmul.cu"


def kernels_left_out():
    """Chapter 12 chooses among kernels for few rows and columns: a product that gets none is never written."""
    thin = source_of(12).with_name("thin.cuh").read_text()
    for call in re.findall(
        r" (launch_(?:few_\w+|narrow)<[a-z_\d, <>]+>\((?:2 \* )?(?:sms|blocks|1), w\);)",
        thin,
    ):
        yield Mutant(12, f"without {call}", call, ";")


@pytest.fixture
def mutate(emulated_nvcc, chapters, project, tmp_path):
    """Builds a chapter with `old` replaced by `new`."""

    def build(chapter, old, new):
        folder = source_of(chapter).parent
        files = [*folder.glob("*.cu*"), *folder.glob("*.h")]
        texts = {file.name: file.read_text() for file in files}
        times = sum(text.count(old) for text in texts.values())
        assert times == 1, f"the text to replace is there {times} times"
        for name, text in texts.items():
            (tmp_path / name).write_text(text.replace(old, new))
        (changed,) = (name for name, text in texts.items() if old in text)
        return build_changed(emulated_nvcc, project, folder, changed, tmp_path)

    return build


# What takes seconds each to build: of so many one is kept, the others are left to `make test-long`.
SLOW = {12: 4, 14: 3, 15: 2, 16: 2, 17: 8}
ALL_MUTANTS = [*MUTANTS, *kernels_left_out()]
KEPT = [
    m
    for chapter, step in SLOW.items()
    for m in [m for m in ALL_MUTANTS if m.chapter == chapter][::step]
]


@pytest.mark.depends(lambda values: files_of_chapter(values["mutant"].chapter))
@pytest.mark.parametrize(
    "mutant",
    at_length(ALL_MUTANTS, lambda m: m.chapter in SLOW and m not in KEPT),
    ids=lambda m: f"{m.chapter}-{m.name}".replace(" ", "_"),
)
def test_is_refused(mutant, mutate):
    result = run([mutate(mutant.chapter, mutant.old, mutant.new)], env=no_cuda())
    said = result.stdout + result.stderr
    assert result.returncode == mutant.code, said
    # Where only one of the odd shapes is refused by CUDA, its message ends with that shape's command.
    refused = r"^(FAIL$|FAULT )|\(cuda\w+, \d+\); while checking "
    assert mutant.code == 3 or re.search(refused, said, re.M), said
    assert mutant.caught in said


# The place to spoil a result, after which everything a thread stores is wrong; and how.
STORES = {14: "T *to = &C", 15: "__nv_bfloat16 *c = &C", 16: "acc[i] *= to->alpha;"}
SPOILS = {16: "acc[i] += 1.0f;"}
# Chapter 16's first 128 threads have no results.
THREADS = {16: 128 + 37}


# Chapters 12, 13, 17 and 19 cannot name them: their tile depends on the problem.
@pytest.mark.depends(lambda values: files_of_chapter(values["chapter"]))
@pytest.mark.parametrize(
    "chapter", sorted({mutant.chapter for mutant in MUTANTS} - {12, 13, 17, 19})
)
def test_report_names_block_and_thread(chapter, mutate):
    thread = THREADS.get(chapter, 37)
    spoil = (
        f"    if (blockIdx.x == 1 && threadIdx.x + threadIdx.y * blockDim.x == {thread})\n"
        f"        {SPOILS.get(chapter, 'alpha += 1.0f;')}\n"
    )
    store = STORES.get(chapter, "float *c = &C")
    program = mutate(chapter, store, spoil + store)
    result = run([program, "300", "400", "20"], env=no_cuda())
    assert result.returncode == 1
    assert re.findall(r"\(block \d+, thread \d+\)", result.stdout)
    assert set(re.findall(r"\(block (\d+), thread (\d+)\)", result.stdout)) == {
        ("1", str(thread))
    }


# ---- mutants at random: make mutants ----

SAMPLE = """
// A comment: row < M, "if" and 1 + 2 are words here.
#define TWICE(x) (2 * (x))
const int BM = 4;
static_assert(BM % 2 == 0, "BM");

static int only_mains(int row)
{
    return row + 1;
}

__global__ void __launch_bounds__(BM * 2) kernel(int M, int N, const float *A, float *C)
{
    __shared__ float tile[BM][8];
    const int row = threadIdx.y, col = threadIdx.x;
    if (row < M && col < N)
        tile[row][col] = A[(size_t)row * N + col];
    __syncthreads();
    float acc = 0.0f;
    for (int k = 1; k < BM; ++k)
        acc += tile[k][col];
    C[row] = M == N ? acc : -acc;
}

static void matmul(int M, int N, const float *A, float *C)
{
    kernel<<<M, BM>>>(M, N, A, C);
}

int main(void)
{
    struct chapter chapter = {.title = "row < col", .launch = matmul};
    return chapter_main(&chapter) + only_mains(0);
}
"""

# Kind, a line of the sample, and what may become of it.
CHANGES = [
    ("arithmetic", "(size_t)row * N + col];", "(size_t)row / N + col];"),
    ("arithmetic", "(size_t)row * N + col];", "(size_t)row * N - col];"),
    ("assignment", "acc += tile", "acc = tile"),
    ("comparison", "(row < M &&", "(row <= M &&"),
    ("comparison", "M == N ?", "M != N ?"),
    ("index", "A[(size_t)row * N", "A[(size_t)col * N"),
    ("index", "A[(size_t)row * N", "A[(size_t)row * M"),
    ("index", "threadIdx.y,", "threadIdx.x,"),
    ("index", "tile[k][col]", "tile[col][k]"),
    ("constant", "const int BM = 4", "const int BM = 5"),
    ("constant", "acc = 0.0f", "acc = 1.0f"),
    ("statement", "acc += tile[k][col];", ";"),
    ("barrier", "__syncthreads();", ";"),
    ("guard", "if (row < M && col < N)", "if (true)"),
    ("guard", "if (row < M && col < N)", "if (!(row < M && col < N))"),
    ("guard", "if (row < M && col < N)", "if (row < M )"),
    ("guard", "if (row < M && col < N)", "if ( col < N)"),
    ("guard", "if (row < M && col < N)", "if (row < M || col < N)"),
    ("guard", "? acc : -acc", "? -acc : acc"),
    ("loop", "k = 1;", "k = 0;"),
    ("loop", "k < BM;", "k <= BM;"),
    ("loop", "k < BM;", "k < BM - 1;"),
    ("loop", "++k", "k += 2"),
    ("argument", "kernel<<<M, BM>>>", "kernel<<<BM, M>>>"),
    ("argument", "(M, N, A, C)", "(N, M, A, C)"),
    ("cast", "(size_t)row * N + col];", "row * N + col];"),
]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chapters") / "01_sample"
    folder.mkdir()
    (folder / "matmul.cu").write_text(SAMPLE)
    return mutants.Chapter(folder)


@pytest.mark.parametrize("kind, old, new", CHANGES)
def test_change_is_made(kind, old, new, sample):
    source = sample.sources["matmul.cu"]
    made = [source.edited(m.edit) for m in sample.mutants() if m.edit.kind == kind]
    # What stands twice may be changed in either place.
    pieces = SAMPLE.split(old)
    wanted = [
        old.join(pieces[:i]) + new + old.join(pieces[i:]) for i in range(1, len(pieces))
    ]
    assert set(made) & set(wanted)


@pytest.mark.parametrize(
    "number, others",
    [
        ("8u", "0u 7u 9u 16u"),
        ("0x1f", "0 30 32 62"),
        ("2.5e3f", "0.0f 1.0f 5000.0f"),
        ("0x1p-2f", "0.0f 1.0f 0.5f"),
    ],
)
def test_numbers_become_others(number, others):
    assert mutants.other_numbers(number) == others.split()


def test_mutants_are_changes_of_the_product_and_differ(sample):
    made = [sample.sources["matmul.cu"].edited(m.edit) for m in sample.mutants()]
    without_blanks = {"".join(text.split()) for text in [SAMPLE, *made]}
    assert len(without_blanks) == 1 + len(made)
    begin, end = SAMPLE.index("__global__"), SAMPLE.index("int main")
    for text in made:
        assert text.endswith(SAMPLE[end:]), "main was changed"
        start = text[: text.index("__global__")]
        assert re.sub(r"BM = -?\d", "BM = 4", start) == SAMPLE[:begin]
        rest = (
            text[len(start) :]
            .replace("unsigned short ", "int ")
            .replace("short ", "int ")
        )
        assert "__launch_bounds__(BM * 2) kernel(int M, int N, const" in rest


def test_same_seed_same_mutants():
    chapters = [mutants.Chapter(source_of(number).parent) for number in (3, 10)]
    dealt = [mutants.buckets_of(chapters, seed) for seed in (1, 1, 2)]
    assert dealt[0] == dealt[1] != dealt[2]
    assert {kind for (_, kind) in dealt[0]} == set(mutants.KINDS)
    places = mutants.plan(dealt[0], {}, 2 * len(dealt[0]))
    for number, kind in dealt[0]:
        assert sum(key == (number, kind) for key, _ in places) == 2


@pytest.mark.depends("tests/mutants.py", "chapters")
@pytest.mark.parametrize(
    "numbers",
    at_length(
        ["2 7 10", "19", "0 1 3 4 5 6", "8 9 11", "12 13 14", "15 16 17 18"],
        lambda numbers: numbers not in ("2 7 10", "19"),
    ),
)
def test_random_mutants(project, tmp_path, numbers):
    """One of each chapter, and the tool's own account of them."""
    out = tmp_path / "mutants.json"
    numbers = [int(number) for number in numbers.split()]
    command = [sys.executable, project / "tests" / "mutants.py", "--chapters", *numbers]
    command += ["--count", len(numbers), "--seed", 4, "--jobs", 1, "--out", out]
    result = run(command)
    assert result.returncode == 0, result.stderr
    tried = json.loads(out.read_text())["mutants"]
    assert sorted(mutant["chapter"] for mutant in tried) == numbers
    rejected = [mutant for mutant in tried if mutant["by_default"]]
    wrong = rejected + [mutant for mutant in tried if mutant["by_judge"]]
    said = result.stdout.splitlines()[-1]
    assert said.startswith(f"{len(wrong)} are wrong, ./chapterN rejects {len(rejected)} ")
    assert rejected, result.stdout
