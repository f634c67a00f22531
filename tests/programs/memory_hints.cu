// What a program has said of managed memory, it can ask for: of pages, each by itself.
#include "check.h"

enum { PAGE = 4096, PAGES = 64 };

__managed__ int variable;

static int ask(cudaMemRangeAttribute attribute, const void *p, size_t bytes)
{
    int value = -12345;
    CHECK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, p, bytes));
    return value;
}

static cudaMemLocation place(cudaMemLocationType type, int id)
{
    cudaMemLocation location = {};
    location.type = type;
    location.id = id;
    return location;
}

int main()
{
    char *p, *ordinary;
    const size_t bytes = PAGES * PAGE;
    const cudaMemLocation device = place(cudaMemLocationTypeDevice, 0),
                          host = place(cudaMemLocationTypeHost, 0);
    CHECK(cudaMallocManaged(&p, bytes));
    CHECK(cudaMalloc(&ordinary, bytes));

    // Nothing has been said.
    EXPECT(ask(cudaMemRangeAttributeReadMostly, p, bytes) == 0);
    EXPECT(ask(cudaMemRangeAttributePreferredLocation, p, bytes) == cudaInvalidDeviceId);
    EXPECT(ask(cudaMemRangeAttributePreferredLocationType, p, bytes) ==
           cudaMemLocationTypeInvalid);
    EXPECT(ask(cudaMemRangeAttributeLastPrefetchLocation, p, bytes) ==
           cudaInvalidDeviceId);
    EXPECT(ask(cudaMemRangeAttributeLastPrefetchLocationId, p, bytes) ==
           cudaInvalidDeviceId);

    // Of all of it, then of its first half no longer.
    CHECK(cudaMemAdvise(p, bytes, cudaMemAdviseSetReadMostly, device));
    EXPECT(ask(cudaMemRangeAttributeReadMostly, p, bytes) == 1);
    CHECK(cudaMemAdvise(p, bytes / 2, cudaMemAdviseUnsetReadMostly, device));
    EXPECT(ask(cudaMemRangeAttributeReadMostly, p, bytes) == 0);
    EXPECT(ask(cudaMemRangeAttributeReadMostly, p, bytes / 2) == 0);
    EXPECT(ask(cudaMemRangeAttributeReadMostly, p + bytes / 2, bytes / 2) == 1);

    // Pages in the middle, of which one byte is named.
    CHECK(cudaMemAdvise(p + 8 * PAGE + 7, 1, cudaMemAdviseSetPreferredLocation, host));
    CHECK(cudaMemAdvise(p + 9 * PAGE, PAGE, cudaMemAdviseSetPreferredLocation, device));
    EXPECT(ask(cudaMemRangeAttributePreferredLocation, p + 8 * PAGE, PAGE) ==
           cudaCpuDeviceId);
    EXPECT(ask(cudaMemRangeAttributePreferredLocationType, p + 8 * PAGE, PAGE) ==
           cudaMemLocationTypeHost);
    EXPECT(ask(cudaMemRangeAttributePreferredLocation, p + 9 * PAGE, PAGE) == 0);
    EXPECT(ask(cudaMemRangeAttributePreferredLocation, p + 8 * PAGE, 2 * PAGE) ==
           cudaInvalidDeviceId);
    EXPECT(ask(cudaMemRangeAttributePreferredLocation, p + 9 * PAGE, PAGE + 1) ==
           cudaInvalidDeviceId);

    // Several attributes at once; whoever accesses it is a list.
    int mostly = -1, fetched = -1, devices[3] = {7, 7, 7};
    void *data[] = {&mostly, devices, &fetched};
    size_t sizes[] = {sizeof mostly, sizeof devices, sizeof fetched};
    cudaMemRangeAttribute which[] = {cudaMemRangeAttributeReadMostly,
                                     cudaMemRangeAttributeAccessedBy,
                                     cudaMemRangeAttributeLastPrefetchLocation};
    CHECK(cudaMemAdvise(p, bytes, cudaMemAdviseSetAccessedBy, device));
    CHECK(cudaMemPrefetchAsync(p, bytes, device, 0, 0));
    CHECK(cudaMemRangeGetAttributes(data, sizes, which, 3, p, bytes));
    EXPECT(mostly == 0 && fetched == 0);
    EXPECT(devices[0] == 0 && devices[1] == cudaInvalidDeviceId &&
           devices[2] == cudaInvalidDeviceId);
    CHECK(cudaMemPrefetchAsync(p, PAGE, host, 0, 0));
    EXPECT(ask(cudaMemRangeAttributeLastPrefetchLocation, p, PAGE) == cudaCpuDeviceId);
    EXPECT(ask(cudaMemRangeAttributeLastPrefetchLocation, p, bytes) ==
           cudaInvalidDeviceId);
    CHECK(cudaMemAdvise(p, bytes, cudaMemAdviseUnsetAccessedBy, device));
    CHECK(cudaMemRangeGetAttribute(devices, sizeof *devices,
                                   cudaMemRangeAttributeAccessedBy, p, bytes));
    EXPECT(devices[0] == cudaInvalidDeviceId);

    EXPECT(ask(cudaMemRangeAttributeReadMostly, &variable, sizeof variable) == 0);

    // What cannot be asked.
    long long wide;
    EXPECT(cudaMemRangeGetAttribute(&wide, sizeof wide, cudaMemRangeAttributeReadMostly,
                                    p, bytes) == cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(&mostly, sizeof mostly,
                                    cudaMemRangeAttributeReadMostly, ordinary,
                                    bytes) == cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(&mostly, sizeof mostly, (cudaMemRangeAttribute)99, p,
                                    bytes) == cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(&mostly, sizeof mostly,
                                    cudaMemRangeAttributeReadMostly, p,
                                    0) == cudaErrorInvalidValue);
    EXPECT(cudaMemAdvise(ordinary, bytes, cudaMemAdviseSetReadMostly, device) ==
           cudaErrorInvalidValue);
    EXPECT(cudaMemAdvise(p, bytes, cudaMemAdviseSetAccessedBy,
                         place(cudaMemLocationTypeDevice, 99)) == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);

    // Who gets the same address does not get the advice.
    CHECK(cudaMemAdvise(p, bytes, cudaMemAdviseSetReadMostly, device));
    CHECK(cudaFree(p));
    CHECK(cudaMallocManaged(&p, bytes));
    EXPECT(ask(cudaMemRangeAttributeReadMostly, p, bytes) == 0);
    CHECK(cudaFree(p));
    CHECK(cudaFree(ordinary));
    return pass();
}
