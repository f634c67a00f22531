/* Modules: kernels and variables that a program loads while it runs. What the emulator's
 * nvcc makes with -cubin and -fatbin is a shared object, and with -ptx the same as text. */
#define _GNU_SOURCE /* memfd_create */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/driver.h"
#include "api/module.h"
#include "base/functions.h"
#include "base/now.h"
#include "base/room.h"
#include "emulator_runtime.h"
#include "memory/variables.h"

struct CUmod_st {
    void *handle;
    const struct emu_image *image;
    struct emu_bytes object; /* its file */
    struct CUmod_st *others;
};
static CUmodule modules;

static bool is_module(CUmodule module)
{
    CUmodule m = modules;
    while (m && m != module) m = m->others;
    return m && m->handle;
}

/* ---- what an image is ---- */

static CUresult refuse(CUresult error, const char *why)
{
    fprintf(stderr, "emulator: a module cannot be loaded: %s\n", why);
    return error;
}

static const char text_mark[] = "\n// emulator module: ";

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* From the text that nvcc's write_as_text() has made: lines that begin with two slashes. */
static CUresult read_text(const char *text, struct emu_bytes *result)
{
    const char *p = strstr(text, text_mark);
    if (!p) {
        const bool ptx = strstr(text, ".version") && strstr(text, ".target");
        return ptx ? refuse(CUDA_ERROR_INVALID_PTX,
                            "it is PTX, which only a GPU runs; make it anew with the "
                            "emulator's nvcc -ptx")
                   : refuse(CUDA_ERROR_INVALID_IMAGE, "it is neither a module nor PTX");
    }
    char *rest;
    result->count = strtoul(p + sizeof text_mark - 1, &rest, 10);
    result->at = malloc(result->count + 3);
    if (!result->at) return CUDA_ERROR_OUT_OF_MEMORY;
    unsigned bits = 0, four = 0;
    size_t done = 0;
    for (p = strchr(rest, '\n'); p && *p && done < result->count; p++) {
        if (*p == '\n' && p[1] == '/' && p[2] == '/') {
            p += 2;
            continue;
        }
        const int digit = digit_of(*p);
        if (digit < 0) continue; /* a carriage return */
        bits = bits << 6 | (unsigned)digit;
        if (++four % 4) continue;
        for (int shift = 16; shift >= 0; shift -= 8)
            result->at[done++] = (char)(bits >> shift);
    }
    if (done >= result->count) return CUDA_SUCCESS;
    free(result->at);
    return refuse(CUDA_ERROR_INVALID_IMAGE, "its end is missing");
}

/* A shared object in memory: nobody says how long it is but itself. */
static CUresult read_object(const void *image, struct emu_bytes *result)
{
    enum { MACHINE_OF_GPUS = 190 };
    const ElfW(Ehdr) *const e = image;
    if (e->e_machine == MACHINE_OF_GPUS)
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "it is machine code for a GPU; make it anew with the emulator's "
                      "nvcc -cubin or -fatbin");
    if (e->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        e->e_type != ET_DYN)
        return refuse(CUDA_ERROR_INVALID_IMAGE, "it is an object file of another kind");
    size_t end = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
    const ElfW(Phdr) *const parts = (const void *)((const char *)image + e->e_phoff);
    for (int i = 0; i < e->e_phnum; i++)
        if (parts[i].p_offset + parts[i].p_filesz > end)
            end = parts[i].p_offset + parts[i].p_filesz;
    result->at = malloc(end);
    if (!result->at) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(result->at, image, result->count = end);
    return CUDA_SUCCESS;
}

CUresult emu_read_module(const void *image, struct emu_bytes *result)
{
    enum { FATBIN = 0xba55ed50u };
    uint32_t first;
    memcpy(&first, image, sizeof first);
    if (memcmp(image, ELFMAG, SELFMAG) == 0) return read_object(image, result);
    if (first == FATBIN)
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "it is NVIDIA's fatbin, which only a GPU runs; make it anew with "
                      "the emulator's nvcc -fatbin");
    return read_text(image, result);
}

/* ---- loaded, unloaded ---- */

/* What refers to everything that modules may call: without it a linker would leave out what
 * the program itself does not (Makefile). */
void emu_exports(void);

/* Each gets a file of its own, so that the same image loaded twice has variables of its own
 * twice. It stays open: faults look for source lines in it. */
static CUresult load(CUmodule *module, const struct emu_bytes *bytes)
{
    char path[64];
    const int file = memfd_create("module", 0);
    if (file < 0 || write(file, bytes->at, bytes->count) != (ssize_t)bytes->count) {
        if (file >= 0) close(file);
        return refuse(CUDA_ERROR_OPERATING_SYSTEM, strerror(errno));
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    __asm__ volatile("" : : "r"(emu_exports));
    void *const handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    const struct emu_sections *const sections =
        handle ? dlsym(handle, "emu_module_sections") : NULL;
    if (!sections) {
        char why[512];
        snprintf(why, sizeof why, "%s", handle ? "it is no module" : dlerror());
        if (handle) dlclose(handle);
        close(file);
        return refuse(CUDA_ERROR_INVALID_IMAGE, why);
    }
    const CUmodule made = emu_zeros("for a module", 1, sizeof *made);
    made->handle = handle;
    made->image = emu_add_module(sections, sections);
    made->object = *bytes;
    made->others = modules;
    *module = modules = made;
    return CUDA_SUCCESS;
}

CUresult emu_load_module(CUmodule *module, const void *image)
{
    struct emu_bytes bytes;
    CUresult error = emu_read_module(image, &bytes);
    if (error != CUDA_SUCCESS) return error;
    error = load(module, &bytes);
    if (error != CUDA_SUCCESS) free(bytes.at);
    return error;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    EMU_ALONE;
    const CUresult refused = emu_driver_ready();
    if (refused != CUDA_SUCCESS) return refused;
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    return emu_load_module(module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
                            CUjit_option *options, void **values)
{
    if (count && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    return cuModuleLoadData(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return cuModuleLoadData(module, image);
}

bool emu_read_file(const char *path, struct emu_bytes *result)
{
    enum { STEP = 1 << 16 };
    FILE *const file = fopen(path, "rb");
    *result = (struct emu_bytes){NULL, 0};
    if (!file) return false;
    for (size_t n = 1; n > 0; result->count += n) {
        result->at = emu_resized(result->at, "for a module", result->count + STEP + 1, 1);
        n = fread(result->at + result->count, 1, STEP, file);
    }
    fclose(file);
    memset(result->at + result->count, 0, sizeof(ElfW(Ehdr)));
    return true;
}

CUresult emu_read_module_file(const char *path, struct emu_bytes *result)
{
    if (!emu_read_file(path, result)) return CUDA_ERROR_FILE_NOT_FOUND;
    if (result->count > 0) return CUDA_SUCCESS;
    free(result->at);
    return refuse(CUDA_ERROR_INVALID_IMAGE, "its file is empty");
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    struct emu_bytes file;
    if (!module || !path) return CUDA_ERROR_INVALID_VALUE;
    CUresult error = emu_read_module_file(path, &file);
    if (error != CUDA_SUCCESS) return error;
    error = cuModuleLoadData(module, file.at);
    free(file.at);
    return error;
}

/* Its code stays where it is: messages may still have to name its lines. */
CUresult cuModuleUnload(CUmodule module)
{
    EMU_ALONE;
    if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
    module->handle = NULL;
    return CUDA_SUCCESS;
}

/* ---- what is in it ---- */

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    EMU_ALONE;
    if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
    if (!function || !name) return CUDA_ERROR_INVALID_VALUE;
    const void *const address = dlsym(module->handle, name);
    for (const struct emu_known_kernel *k = emu_known_kernels; k; k = k->others) {
        const void *const own = (const void *)(uintptr_t)k->function;
        if (emu_image_of(own) != module->image) continue;
        if (address ? own != address : strcmp(k->name, name) != 0) continue;
        *function = (CUfunction)(uintptr_t)own;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

/* Writes the first `most` kernels of a module; returns how many it has. */
static unsigned kernels_of(CUmodule module, CUfunction *functions, unsigned most)
{
    unsigned count = 0;
    for (const struct emu_known_kernel *k = emu_known_kernels; k; k = k->others) {
        const void *const own = (const void *)(uintptr_t)k->function;
        /* One that has two names is one. */
        if (emu_image_of(own) != module->image || emu_find_kernel(own) != k) continue;
        if (count < most) functions[count] = (CUfunction)(uintptr_t)own;
        count++;
    }
    return count;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule module)
{
    EMU_ALONE;
    if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = kernels_of(module, NULL, 0);
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count,
                                    CUmodule module)
{
    EMU_ALONE;
    if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
    if (!functions) return CUDA_ERROR_INVALID_VALUE;
    (void)kernels_of(module, functions, count);
    return CUDA_SUCCESS;
}

/* The program's own kernels are in no module that it could be given. */
CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    EMU_ALONE;
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    if (!emu_find_kernel((const void *)function)) return CUDA_ERROR_INVALID_HANDLE;
    const struct emu_image *const image = emu_image_of((const void *)function);
    CUmodule m = modules;
    while (m && m->image != image) m = m->others;
    if (!m) return CUDA_ERROR_NOT_FOUND;
    *module = m;
    return CUDA_SUCCESS;
}

/* What the linker has noted of a name that others may use; 0 if it has not. */
static size_t size_of(const char *name, const struct emu_bytes *object)
{
    const ElfW(Ehdr) *const e = (const void *)object->at;
    const ElfW(Shdr) *const sections = (const void *)(object->at + e->e_shoff);
    for (int i = 0; i < e->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM) continue;
        const ElfW(Sym) *const symbols =
            (const void *)(object->at + sections[i].sh_offset);
        const char *const names = object->at + sections[sections[i].sh_link].sh_offset;
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
            if (strcmp(names + symbols[k].st_name, name) == 0) return symbols[k].st_size;
    }
    return 0;
}

/* What a::b is called by compilers and linker, _ZN1a1bE; any other name as it is. */
static char *name_for_linker(const char *name)
{
    if (!strstr(name, "::")) return emu_copy_of(name);
    char *const whole = emu_resized(NULL, "for a name", 2 * strlen(name) + 8, 1);
    char *end = whole + sprintf(whole, "_ZN");
    for (size_t length; *name; name += length + strspn(name + length, ":")) {
        length = strcspn(name, ":");
        if (length) end += sprintf(end, "%zu%.*s", length, (int)length, name);
    }
    strcpy(end, "E");
    return whole;
}

CUresult cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module,
                           const char *name)
{
    EMU_ALONE;
    if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    char *const symbol = name_for_linker(name);
    const void *const address = dlsym(module->handle, symbol);
    const bool found = address && emu_is_device_variable(address);
    if (found && pointer) *pointer = (CUdeviceptr)(uintptr_t)address;
    if (found && bytes) *bytes = size_of(symbol, &module->object);
    free(symbol);
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* ---- the linker: of one module, which is whole already ---- */

struct CUlinkState_st {
    struct emu_bytes module;
};

CUresult cuLinkCreate(unsigned int count, CUjit_option *options, void **values,
                      CUlinkState *state)
{
    if (!state || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
    /* Nothing is ever written to the logs that the options may name. */
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER)
            if (values[i]) *(char *)values[i] = '\0';
        if (options[i] == CU_JIT_WALL_TIME) {
            const float none = 0.0f;
            memcpy(&values[i], &none, sizeof none);
        }
    }
    *state = emu_zeros("for a linker", 1, sizeof **state);
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned int count, CUjit_option *options,
                       void **values)
{
    (void)type;
    (void)bytes;
    (void)name;
    (void)count;
    (void)options;
    (void)values;
    if (!state || !data) return CUDA_ERROR_INVALID_VALUE;
    if (state->module.at)
        return refuse(CUDA_ERROR_NOT_SUPPORTED, "the emulator cannot link two into one");
    return emu_read_module(data, &state->module);
}

/* What kernels that launch kernels are linked with: here every program has it. */
static bool is_device_runtime(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, "libcudadevrt.a") == 0;
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                       unsigned int count, CUjit_option *options, void **values)
{
    struct emu_bytes file;
    if (!state || !path) return CUDA_ERROR_INVALID_VALUE;
    CUresult error = emu_read_module_file(path, &file);
    if (error != CUDA_SUCCESS) return error;
    if (type == CU_JIT_INPUT_LIBRARY && is_device_runtime(path)) {
        free(file.at);
        return CUDA_SUCCESS;
    }
    error = cuLinkAddData(state, type, file.at, file.count, path, count, options, values);
    free(file.at);
    return error;
}

CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes)
{
    if (!state || !state->module.at || !cubin) return CUDA_ERROR_INVALID_VALUE;
    *cubin = state->module.at;
    if (bytes) *bytes = state->module.count;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    free(state->module.at);
    free(state);
    return CUDA_SUCCESS;
}
