/* NVTX, by which a program tells tools what its parts are called. The emulator is such a
 * tool for two things: a name for a pointer (nvtxDomainResourceCreate) to device memory
 * stands in every message about it, and a fault says in which pushed range it was found.
 * Marks and ranges that are started are taken and forgotten. */
#ifndef NVTOOLSEXT_H
#define NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION 3

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;
typedef uint64_t nvtxRangeId_t;

typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef enum nvtxColorType_t {
    NVTX_COLOR_UNKNOWN = 0,
    NVTX_COLOR_ARGB = 1
} nvtxColorType_t;

typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

/* A mark or a range with all that may be said of it; here its name counts. */
typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef enum nvtxResourceGenericType_t {
    NVTX_RESOURCE_TYPE_UNKNOWN = 0,
    NVTX_RESOURCE_TYPE_GENERIC_POINTER = 0x10001,
    NVTX_RESOURCE_TYPE_GENERIC_HANDLE = 0x10002,
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = 0x10003,
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = 0x10004
} nvtxResourceGenericType_t;

typedef struct nvtxResourceAttributes_v0 {
    uint16_t version, size;
    int32_t identifierType;
    union {
        const void *pValue;
        uint64_t ullValue;
    } identifier;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxResourceAttributes_t;
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxResourceAttributes_t))

/* Names the pointer until it is destroyed, or its memory freed. Returns NULL for anything
 * but an ASCII name of a pointer to device memory. */
nvtxResourceHandle_t nvtxDomainResourceCreate(nvtxDomainHandle_t domain,
                                              nvtxResourceAttributes_t *attributes);
void nvtxDomainResourceDestroy(nvtxResourceHandle_t resource);

static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
    (void)name;
    return NULL;
}
static inline nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *name)
{
    (void)name;
    return NULL;
}
static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain)
{
    (void)domain;
}
static inline void nvtxMarkA(const char *message)
{
    (void)message;
}
static inline nvtxRangeId_t nvtxRangeStartA(const char *message)
{
    (void)message;
    return 0;
}
static inline void nvtxRangeEnd(nvtxRangeId_t id)
{
    (void)id;
}
/* Begins a stretch of the program, which may lie inside another. Returns how many it lies
 * inside of. */
int nvtxRangePushA(const char *message);
/* Ends the stretch that began last. Returns as above; below 0 if there is none. */
int nvtxRangePop(void);

static inline int nvtxRangePushEx(const nvtxEventAttributes_t *event)
{
    const int named = event->messageType == NVTX_MESSAGE_TYPE_ASCII;
    return nvtxRangePushA(named ? event->message.ascii : "");
}
static inline void nvtxMarkEx(const nvtxEventAttributes_t *event)
{
    (void)event;
}
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *event)
{
    (void)event;
    return 0;
}
/* A domain is a name for all of this; here it makes no difference. */
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                        const nvtxEventAttributes_t *event)
{
    (void)domain;
    return nvtxRangePushEx(event);
}
static inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain,
                                                   const nvtxEventAttributes_t *event)
{
    (void)domain;
    return nvtxRangeStartEx(event);
}
static inline void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    (void)domain;
    nvtxRangeEnd(id);
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
    (void)domain;
    return nvtxRangePop();
}
static inline void nvtxDomainMarkEx(nvtxDomainHandle_t domain,
                                    const nvtxEventAttributes_t *event)
{
    (void)domain;
    (void)event;
}
static inline void nvtxNameOsThreadA(uint32_t thread, const char *name)
{
    (void)thread;
    (void)name;
}
static inline void nvtxNameCategoryA(uint32_t category, const char *name)
{
    (void)category;
    (void)name;
}

#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA

#ifdef __cplusplus
}
#endif
#endif
