"""Prints images/14_fragments.svg: which lane holds which element of an mma.m16n8k16, and in which
of its registers.

It asks the emulator. A program (below) fills matrices with the numbers of their elements, loads
them with the chapter's functions and prints what each lane got; C is what mma makes of them."""

import subprocess
import tempfile
from pathlib import Path

from palette import GREY, INK, ON_COLOUR, REGISTERS

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
#include "mma_sync.h"
#include <cuda_bf16.h>
#include <stdio.h>

__global__ void load(float *found)
{
    __shared__ __align__(128) __nv_bfloat16 A[16][16], B[16][16], one[16][16];
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) {
        A[i / 16][i % 16] = (float)i; // B's right half is the next multiplication's
        B[i / 16][i % 16] = i % 16 < 8 ? i / 16 * 8.0f + i % 16 : 0.0f;
        one[i / 16][i % 16] = i / 16 == i % 16 ? 1.0f : 0.0f;
    }
    __syncwarp();
    uint32_t a[4], b[4], e[4];
    ldmatrix_x4(a, shared_address(&A[lane % 16][lane / 16 * 8]));
    ldmatrix_x4(e, shared_address(&one[lane % 16][lane / 16 * 8]));
    ldmatrix_x4_trans(b, shared_address(&B[lane % 16][lane / 16 * 8]));
    float c[4] = {};
    mma_m16n8k16_bf16(c, e, b); // 1 * B = B: where C's elements are
    float *mine = found + lane * 16;
    for (int i = 0; i < 8; ++i)
        mine[i] = __uint_as_float(a[i / 2] >> 16 * (i % 2) << 16);
    for (int i = 0; i < 4; ++i)
        mine[8 + i] = __uint_as_float(b[i / 2] >> 16 * (i % 2) << 16);
    for (int i = 0; i < 4; ++i)
        mine[12 + i] = c[i];
}

int main(void)
{
    float *found;
    cudaMallocManaged(&found, 512 * sizeof *found);
    load<<<1, 32>>>(found);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    for (int i = 0; i < 512; i++) printf("%g\\n", found[i]);
}
"""

with tempfile.TemporaryDirectory() as folder:
    source, program = Path(folder) / "fragments.cu", Path(folder) / "fragments"
    source.write_text(PROGRAM)
    subprocess.run(
        [ROOT / "emulator/bin/nvcc", "-I", ROOT / "common", source, "-o", program],
        check=True,
    )
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
found = [int(float(line)) for line in output.split()]

# Name, columns, where in a lane's 16 numbers its elements begin, how many there are and how many
# a register holds.
MATRICES = [
    ("A, 16 × 16", 16, 0, 8, 2),
    ("B, 16 × 8", 8, 8, 4, 2),
    ("C, 16 × 8", 8, 12, 4, 1),
]
CELL, GAP, LEFT, TOP = 25, 34, 10, 34
OPACITY = [1, 0.6, 0.38, 0.2]  # a lane's registers, the first to the last

width = 2 * LEFT + sum(columns * CELL for _, columns, *_ in MATRICES) + 2 * GAP
height = TOP + 16 * CELL + 62
print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    f'viewBox="0 0 {width} {height}" font-family="Helvetica,Arial,sans-serif" font-size="12" '
    f'text-anchor="middle">'
)
print("<title>The lane that holds each element of A, B and C of an mma</title>")
left = LEFT
for name, columns, first, count, each in MATRICES:
    print(
        f'<text x="{left + columns * CELL // 2}" y="{TOP - 12}" fill="{GREY}" '
        f'font-size="14" font-weight="bold">{name}</text>'
    )
    for lane in range(32):
        for i in range(count):
            row, column = divmod(found[lane * 16 + first + i], columns)
            register = i // each
            x, y = left + column * CELL, TOP + row * CELL
            outline = f' stroke="{INK}" stroke-width="2.5"' if lane == 0 else ""
            dark = OPACITY[register] < 1
            print(
                f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" rx="2" '
                f'fill="{REGISTERS}" fill-opacity="{OPACITY[register]}"{outline}/>'
                f'<text x="{x + CELL // 2 - 1}" y="{y + CELL // 2 + 3}" '
                f'fill="{INK if dark else ON_COLOUR}">{lane}</text>'
            )
    left += columns * CELL + GAP
x = LEFT + 60
for register, opacity in enumerate(OPACITY):
    y = TOP + 16 * CELL + 24
    print(
        f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" rx="2" '
        f'fill="{REGISTERS}" fill-opacity="{opacity}"/>'
        f'<text x="{x + CELL + 4}" y="{y + 16}" fill="{GREY}" text-anchor="start">'
        f"register {register}</text>"
    )
    x += 130
print("</svg>")
