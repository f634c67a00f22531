// Textures and surfaces: the four ways out of range, the two filters, what is read as a
// float, layers, cubes, volumes, linear memory, a surface that a texture reads afterwards,
// and fetches that store what they read, or name a level of detail.
#include "check.h"

__global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y);
}

__global__ void elements(cudaTextureObject_t linear, cudaTextureObject_t bytes, int *ints,
                         float4 *floats)
{
    ints[threadIdx.x] = tex1Dfetch<int>(linear, threadIdx.x);
    if (threadIdx.x == 0)
        ints[4] = tex1Dfetch<int>(linear, 4) + tex1Dfetch<int>(linear, -1);
    floats[threadIdx.x] = tex1Dfetch<float4>(bytes, threadIdx.x);
}

__global__ void layers(cudaTextureObject_t layered, cudaTextureObject_t volume,
                       float *out)
{
    const int x = threadIdx.x, z = threadIdx.y;
    out[z * 4 + x] = tex2DLayered<float>(layered, x + 0.5f, 0.5f, z);
    out[8 + z * 4 + x] = tex3D<float>(volume, x + 0.5f, 0.5f, z + 1.0f);
}

__global__ void faces(cudaTextureObject_t cube, float *out)
{
    const float direction[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                   {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    const float *d = direction[threadIdx.x];
    out[threadIdx.x] = texCubemap<float>(cube, d[0], d[1], d[2]);
}

// Every value is returned by one form of the fetch and stored by the other.
__global__ void stored(cudaTextureObject_t plane, cudaTextureObject_t linear,
                       cudaTextureObject_t layered, cudaTextureObject_t volume,
                       cudaTextureObject_t cube, int *same)
{
    const float2 d = make_float2(0, 0);
    const float4 e = make_float4(0, 0, 0, 0);
    const float x = threadIdx.x + 0.5f;
    float v, expected = tex2D<float>(plane, x, 1.5f);
    int i, n = 0;
    tex1Dfetch(&i, linear, (int)threadIdx.x);
    n += i == tex1Dfetch<int>(linear, threadIdx.x) && i == -(int)threadIdx.x;
    tex2D(&v, plane, x, 1.5f);
    n += v == expected && v == threadIdx.x + 104.0f;
    tex2DLod(&v, plane, x, 1.5f, 2.0f);
    n += v == expected && tex2DLod<float>(plane, x, 1.5f, 0) == expected;
    tex2DGrad(&v, plane, x, 1.5f, d, d);
    n += v == expected && tex2DGrad<float>(plane, x, 1.5f, d, d) == expected;

    tex2DLayered(&v, layered, x, 0.5f, 1);
    n += v == tex2DLayered<float>(layered, x, 0.5f, 1) && v == threadIdx.x + 4.0f;
    expected = tex3D<float>(volume, x, 0.5f, 1.5f);
    tex3D(&v, volume, x, 0.5f, 1.5f);
    n += v == expected && v == threadIdx.x + 4.0f;
    tex3DLod(&v, volume, x, 0.5f, 1.5f, 0);
    n += v == expected && tex3DLod<float>(volume, x, 0.5f, 1.5f, 3) == expected;
    tex3DGrad(&v, volume, x, 0.5f, 1.5f, e, e);
    n += v == expected && tex3DGrad<float>(volume, x, 0.5f, 1.5f, e, e) == expected;
    texCubemap(&v, cube, 0, 0, 1);
    n += v == texCubemap<float>(cube, 0, 0, 1) && (int)v / 4 == 4;
    same[threadIdx.x] = n;
}

__global__ void stored_lines(cudaTextureObject_t line, cudaTextureObject_t lines,
                             float *out)
{
    const float x = threadIdx.x + 0.5f;
    float *const own = out + 5 * threadIdx.x;
    tex1D(own, line, x);
    tex1DLod(own + 1, line, x, 1.0f);
    tex1DGrad(own + 2, line, x, 0.5f, 0.5f);
    own[3] = tex1DLod<float>(line, x, 0) + tex1DGrad<float>(line, x, 0, 0);
    tex1DLayered(own + 4, lines, x, 1);
}

__global__ void draw(cudaSurfaceObject_t surface)
{
    const int x = threadIdx.x, y = threadIdx.y;
    float old;
    surf2Dread(&old, surface, x * 4, y);
    surf2Dwrite(old + 100.0f, surface, x * 4, y);
    surf2Dwrite(-1.0f, surface, -4, y, cudaBoundaryModeZero);
}

static cudaTextureObject_t texture_of(const cudaResourceDesc &resource,
                                      cudaTextureAddressMode address,
                                      cudaTextureFilterMode filter, int normalized,
                                      cudaTextureReadMode read = cudaReadModeElementType)
{
    cudaTextureDesc how = {};
    for (int d = 0; d < 3; d++) how.addressMode[d] = address;
    how.filterMode = filter;
    how.normalizedCoords = normalized;
    how.readMode = read;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    return texture;
}

static float *values; /* managed, the results */

static float at(cudaTextureObject_t texture, float x, float y)
{
    float2 *place;
    CHECK(cudaMallocManaged(&place, sizeof *place));
    *place = make_float2(x, y);
    sample<<<1, 1>>>(texture, place, values);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(place));
    CHECK(cudaDestroyTextureObject(texture));
    return values[0];
}

/* Four neighbours at once, from the left one of the upper row on. */
__global__ void gather(cudaTextureObject_t texture, float x, float y, float4 *out)
{
    *out = tex2Dgather<float4>(texture, x, y, 1);
}

__global__ void gather_stored(cudaTextureObject_t texture, float x, float y, float4 *out)
{
    tex2Dgather(out, texture, x, y, 1);
}

static void neighbours()
{
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float2>();
    float2 host[12];
    for (int i = 0; i < 12; i++) host[i] = make_float2(-1.0f, (float)i);
    cudaArray_t array;
    float4 *out;
    CHECK(cudaMallocManaged(&out, sizeof *out));
    CHECK(cudaMallocArray(&array, &desc, 4, 3, cudaArrayTextureGather));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 3, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureObject_t texture =
        texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint, 0);
    gather<<<1, 1>>>(texture, 2.0f, 1.0f, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out->x == 5 && out->y == 6 && out->z == 2 && out->w == 1);
    gather_stored<<<1, 1>>>(texture, 2.0f, 1.0f, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out->x == 5 && out->y == 6 && out->z == 2 && out->w == 1);
    gather<<<1, 1>>>(texture, 4.0f, 3.2f, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out->x == 11 && out->y == 11 && out->z == 11 && out->w == 11);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
}

static void one_dimension()
{
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    const float host[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    cudaArray_t array, layers;
    CHECK(cudaMallocArray(&array, &desc, 4));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 1, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc3DArray(&layers, &desc, make_cudaExtent(4, 0, 2), cudaArrayLayered));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)host, 16, 4, 1);
    copy.dstArray = layers;
    copy.extent = make_cudaExtent(4, 1, 2);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureObject_t line =
        texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint, 0);
    resource.res.array.array = layers;
    const cudaTextureObject_t lines =
        texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint, 0);
    stored_lines<<<1, 4>>>(line, lines, values);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) {
        const float *own = values + 5 * i;
        EXPECT(own[0] == i && own[1] == i && own[2] == i && own[3] == 2 * i);
        EXPECT(own[4] == i + 4);
    }
    CHECK(cudaDestroyTextureObject(line));
    CHECK(cudaDestroyTextureObject(lines));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(layers));
}

// What an array, a texture and a surface were made with, and a copy between two arrays.
static void asked_for(cudaArray_t array, const cudaResourceDesc &resource)
{
    cudaChannelFormatDesc desc;
    cudaExtent extent;
    unsigned int flags;
    CHECK(cudaArrayGetInfo(&desc, &extent, &flags, array));
    EXPECT(extent.width == 4 && extent.height == 2 && extent.depth == 0);
    EXPECT(flags == cudaArraySurfaceLoadStore && desc.x == 32);
    CHECK(cudaGetChannelDesc(&desc, array));
    EXPECT(desc.x == 32 && desc.y == 0 && desc.f == cudaChannelFormatKindFloat);

    const cudaTextureObject_t texture =
        texture_of(resource, cudaAddressModeMirror, cudaFilterModePoint, 1);
    cudaSurfaceObject_t surface;
    cudaResourceDesc from = {};
    cudaTextureDesc how = {};
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    CHECK(cudaGetTextureObjectResourceDesc(&from, texture));
    EXPECT(from.resType == cudaResourceTypeArray && from.res.array.array == array);
    CHECK(cudaGetTextureObjectTextureDesc(&how, texture));
    EXPECT(how.addressMode[0] == cudaAddressModeMirror && how.normalizedCoords == 1);
    CHECK(cudaGetSurfaceObjectResourceDesc(&from, surface));
    EXPECT(from.res.array.array == array);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaDestroyTextureObject(texture));

    cudaArray_t other;
    float back[2] = {};
    CHECK(cudaMallocArray(&other, &desc, 2, 1));
    CHECK(cudaMemcpy2DArrayToArray(other, 0, 0, array, 2 * sizeof(float), 1,
                                   2 * sizeof(float), 1));
    CHECK(cudaMemcpy2DFromArray(back, sizeof back, other, 0, 0, sizeof back, 1,
                                cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 6 && back[1] == 7);
    CHECK(cudaFreeArray(other));
}

int main()
{
    CHECK(cudaMallocManaged(&values, 64 * sizeof *values));
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    EXPECT(desc.x == 32 && desc.y == 0 && desc.f == cudaChannelFormatKindFloat);

    /* 4 x 2: 0 1 2 3 / 4 5 6 7 */
    float host[24];
    for (int i = 0; i < 24; i++) host[i] = (float)i;
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &desc, 4, 2, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 2, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    asked_for(array, resource);
#define AT(address, filter, normalized, x, y)                                            \
    at(texture_of(resource, cudaAddressMode##address, cudaFilterMode##filter,            \
                  normalized),                                                           \
       x, y)
    EXPECT(AT(Clamp, Point, 0, 1.9f, 1.2f) == 5);
    EXPECT(AT(Clamp, Linear, 0, 2.0f, 1.0f) == 3.5f);
    EXPECT(AT(Clamp, Linear, 0, -3.0f, 0.5f) == 0);
    EXPECT(AT(Border, Point, 0, 4.5f, 0.5f) == 0);
    EXPECT(AT(Border, Linear, 0, 4.0f, 0.5f) == 1.5f);
    EXPECT(AT(Wrap, Point, 1, 1.25f, 0.0f) == 1);
    EXPECT(AT(Wrap, Point, 1, -0.25f, 0.5f) == 7);
    EXPECT(AT(Mirror, Point, 1, 1.2f, 0.0f) == 3);

    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    draw<<<1, dim3(4, 2)>>>(surface);
    CHECK(cudaDestroySurfaceObject(surface));
    EXPECT(AT(Clamp, Point, 0, 3.5f, 1.5f) == 107);
    float back[8];
    CHECK(cudaMemcpy2DFromArray(back, 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) EXPECT(back[i] == i + 100);
    const cudaTextureObject_t plane =
        texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint, 0);

    /* Linear memory: integers, and bytes as parts of 255. */
    int *ints;
    float4 *floats;
    uchar4 *bytes;
    CHECK(cudaMallocManaged(&ints, 16 * sizeof *ints));
    CHECK(cudaMallocManaged(&floats, 4 * sizeof *floats));
    CHECK(cudaMallocManaged(&bytes, 4 * sizeof *bytes));
    for (int i = 0; i < 4; i++) {
        ints[i] = -i;
        bytes[i] = make_uchar4(0, 51, (unsigned char)i, 255);
    }
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = ints;
    linear.res.linear.desc = cudaCreateChannelDesc<int>();
    linear.res.linear.sizeInBytes = 4 * sizeof(int);
    const cudaTextureObject_t whole =
        texture_of(linear, cudaAddressModeClamp, cudaFilterModePoint, 0);
    linear.res.linear.devPtr = bytes;
    linear.res.linear.desc = cudaCreateChannelDesc<uchar4>();
    const cudaTextureObject_t parts =
        texture_of(linear, cudaAddressModeClamp, cudaFilterModePoint, 0,
                   cudaReadModeNormalizedFloat);
    elements<<<1, 4>>>(whole, parts, ints + 8, floats);
    CHECK(cudaDeviceSynchronize());
    EXPECT(ints[12] == 0);
    for (int i = 0; i < 4; i++) {
        EXPECT(ints[8 + i] == -i);
        EXPECT(floats[i].x == 0 && floats[i].y == 0.2f && floats[i].w == 1);
        EXPECT(floats[i].z == (float)i / 255);
    }
    CHECK(cudaDestroyTextureObject(parts));
    CHECK(cudaFree(floats));
    CHECK(cudaFree(bytes));

    /* Two layers, a volume, the six faces of a cube. */
    cudaArray_t layered, volume, cube;
    CHECK(cudaMalloc3DArray(&layered, &desc, make_cudaExtent(4, 1, 2), cudaArrayLayered));
    CHECK(cudaMalloc3DArray(&volume, &desc, make_cudaExtent(4, 1, 3)));
    CHECK(cudaMalloc3DArray(&cube, &desc, make_cudaExtent(2, 2, 6), cudaArrayCubemap));
    const cudaArray_t arrays[] = {layered, volume, cube};
    const cudaExtent extents[] = {make_cudaExtent(4, 1, 2), make_cudaExtent(4, 1, 3),
                                  make_cudaExtent(2, 2, 6)};
    cudaTextureObject_t textures[3];
    for (int i = 0; i < 3; i++) {
        cudaMemcpy3DParms copy = {};
        const cudaExtent e = extents[i];
        copy.srcPtr = make_cudaPitchedPtr(host, e.width * 4, e.width, e.height);
        copy.dstArray = arrays[i];
        copy.extent = e;
        copy.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&copy));
        resource.res.array.array = arrays[i];
        textures[i] =
            texture_of(resource, cudaAddressModeClamp,
                       i == 1 ? cudaFilterModeLinear : cudaFilterModePoint, i == 2);
    }
    layers<<<1, dim3(4, 2)>>>(textures[0], textures[1], values);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 8; i++) EXPECT(values[i] == i && values[8 + i] == i + 2);
    faces<<<1, 6>>>(textures[2], values);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 6; i++) EXPECT((int)values[i] / 4 == i);
    stored<<<1, 4>>>(plane, whole, textures[0], textures[1], textures[2], ints + 8);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) EXPECT(ints[8 + i] == 9);
    CHECK(cudaDestroyTextureObject(plane));
    CHECK(cudaDestroyTextureObject(whole));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(ints));
    for (int i = 0; i < 3; i++) {
        CHECK(cudaDestroyTextureObject(textures[i]));
        CHECK(cudaFreeArray(arrays[i]));
    }
    one_dimension();
    CHECK(cudaFree(values));
    neighbours();
    return pass();
}
