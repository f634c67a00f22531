// The part of exercise 8 that is done.
#pragma once

const int TILE = 16;

// Copies the TILE x TILE elements of a matrix that begin at (top, left) into a tile; each
// thread of the block copies one. Past the end of the matrix it puts zeros.
__device__ inline void fetch(float (*tile)[TILE], const float *matrix, int rows, int cols,
                             int top, int left)
{
    const int r = top + threadIdx.y, c = left + threadIdx.x;
    const bool exists = r < rows && c < cols;
    tile[threadIdx.y][threadIdx.x] = exists ? matrix[r * cols + c] : 0.0f;
}
