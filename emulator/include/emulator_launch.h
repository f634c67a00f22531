/* What bin/nvcc makes of `kernel<<<grid, block, shared, stream>>>(arguments)`. C++ only;
 * cuda_runtime.h includes it at its end. Three forms:
 *
 *   ::emu::kernel(k, "k", ::emu::config(grid, block))(arguments)
 *       where k denotes one function: its own parameter types convert the arguments,
 *       as in a call;
 *   ::emu::kernel(static_cast<decltype(emu_launch_k(arguments))>(k), "k",
 *                 ::emu::config(grid, block))(arguments)
 *       where only a call can tell which function k is: a template to deduce, an
 *       overloaded name. emu_launch_k has the same parameters, and gives k's type;
 *   ::emu::deduced([&](auto... a) { k(a...); }, "k",
 *                  ::emu::config(grid, block))(arguments)
 *       where such a k cannot have an emu_launch_k: k has default arguments, or
 *       `requires`.
 */
#ifndef EMULATOR_LAUNCH_H
#define EMULATOR_LAUNCH_H

#include <type_traits>
#include <utility>

#include "emulator_runtime.h"

/* Makes `error` (a cudaError_t, not success) the last error, for cudaGetLastError. */
extern "C" void emu_launch_failed(int error);
/* The program has dropped the error of what failed there (`what` and `of` are its name):
 * unless it asks for the error later, its end says so. */
extern "C" void emu_error_unread(int error, const char *what, const char *of,
                                 const char *file, int line);

/* `extern __shared__ T name[];` in a function becomes a reference to this. */
extern "C" char emu_dynamic_shared[];

/* Reading a launch's arguments is not the kernel's doing, so the checker and the lens
 * must not see it. */
#define EMU_UNSEEN __attribute__((no_sanitize("thread")))

namespace emu
{

/* Around the object, or the pointer to one, of which the running thread sets a bit-field:
 * clang reads the word that it lies in, which may never have been written. */
template <class T_> EMU_UNSEEN inline T_ &filled(T_ &object)
{
#ifdef __clang__
    emu_fill_bit_field((const void *)&reinterpret_cast<const volatile char &>(object),
                       sizeof object);
#endif
    return object;
}
template <class T_> EMU_UNSEEN inline T_ *filled(T_ *object)
{
    return &filled(*object);
}

/* The <<<...>>> of a launch. Until the launch's end it is the first in the list of
 * pending ones: an argument may itself be a call that launches something. */
struct config {
    dim3 grid, block;
    emu_extent cluster; /* 0: as the kernel says */
    size_t shared;
    bool cooperative, early;
    cudaStream_t stream;
    const char *name;
    void (*function)();
    config *outer;
    const char *file;
    int line;

    EMU_UNSEEN config(dim3 grid_, dim3 block_ = 1, size_t shared_ = 0,
                      cudaStream_t stream_ = nullptr,
                      const char *file_ = __builtin_FILE(), int line_ = __builtin_LINE())
        : grid(grid_), block(block_), cluster(), shared(shared_), cooperative(), early(),
          stream(stream_), name(), function(), outer(innermost()), file(file_),
          line(line_)
    {
        innermost() = this;
    }
    EMU_UNSEEN explicit config(const emu_launch &l)
        : config(dim3(l.grid[0], l.grid[1], l.grid[2]),
                 dim3(l.block[0], l.block[1], l.block[2]), l.dynamic_shared, l.stream)
    {
        cluster.x = l.cluster[0];
        cluster.y = l.cluster[1];
        cluster.z = l.cluster[2];
        cooperative = l.cooperative;
        early = l.early;
    }
    config(const config &) = delete;
    config &operator=(const config &) = delete;
    EMU_UNSEEN ~config()
    {
        done();
    }

    EMU_UNSEEN emu_launch shape() const
    {
        return {nullptr,
                nullptr,
                {grid.x, grid.y, grid.z},
                {block.x, block.y, block.z},
                {cluster.x, cluster.y, cluster.z},
                shared,
                nullptr,
                nullptr,
                0,
                cooperative,
                early,
                stream,
                nullptr};
    }

    EMU_UNSEEN void done() const
    {
        if (innermost() == this) innermost() = outer;
    }

    /* A launch returns nothing. */
    EMU_UNSEEN void ended(int error, const char *kernel) const
    {
        if (error) emu_error_unread(error, "the launch of ", kernel, file, line);
    }

    EMU_UNSEEN static config *&innermost()
    {
        static thread_local config *pending;
        return pending;
    }
};

/* Around a call that is a statement of its own. */
static inline cudaError_t unread(const char *call, cudaError_t error,
                                 const char *file = __builtin_FILE(),
                                 int line = __builtin_LINE())
{
    if (error != cudaSuccess) emu_error_unread(error, call, "", file, line);
    return error;
}

/* A __device__ or __constant__ variable by its name in host code: for what needs no more than
 * its type, the variable itself. */
template <class T_> EMU_UNSEEN constexpr T_ &on_host(T_ &variable, const char *name)
{
    return __builtin_is_constant_evaluated()
               ? variable
               : *(T_ *)emu_on_host((void *)__builtin_addressof(variable), sizeof(T_),
                                    name);
}

/* A variable of a template of device variables, wherever it is used. */
template <emu_section section, class T_> EMU_UNSEEN T_ &of_template(T_ &variable)
{
    emu_variable_of_template((void *)__builtin_addressof(variable), sizeof(T_), section);
    return variable;
}

/* __cluster_dims__(x, y, z) */
static __forceinline__ void cluster_dims(unsigned x, unsigned y = 1, unsigned z = 1)
{
    emu_cluster_dims(x, y, z);
}

/* A kernel's parameter that is not __grid_constant__. Only a type that is aligned like one
 * can hold a CUtensorMap. */
template <class T_> EMU_UNSEEN static __forceinline__ void own_copy(const T_ &parameter)
{
    if (alignof(T_) >= 64 && sizeof(T_) >= 128)
        emu_own_copy_of_maps((const void *)__builtin_addressof(parameter), sizeof(T_));
}

/* How a launch keeps an argument of type T, and hands it to each CUDA thread. Mostly by
 * value: every thread gets a copy of its own. */
template <class T_> struct by_value {
    using stored = T_;
    using passed = T_;

    EMU_UNSEEN static stored &keep(T_ &argument)
    {
        return argument;
    }
    EMU_UNSEEN static T_ &hand(stored &s)
    {
        return s;
    }
};

/* An object of a class with a copy constructor or a destructor of its own: the host has
 * copied it, and will destroy it. A GPU gets only its bytes, and so do the threads here.
 * To functions, such objects are passed by their address (Itanium C++ ABI, 3.1.2.3). */
template <class T_> struct by_bytes {
    struct stored {
        alignas(T_) unsigned char bytes[sizeof(T_)];
    };
    using passed = stored *;
    struct copy {
        stored own;
        EMU_UNSEEN operator stored *()
        {
            return &own;
        }
    };

    EMU_UNSEEN static stored &keep(T_ &argument)
    {
        return reinterpret_cast<stored &>(argument);
    }
    EMU_UNSEEN static copy hand(const stored &s)
    {
        return {s};
    }
};

template <class T_>
using parameter =
    typename std::conditional<std::is_reference<T_>::value ||
                                  (std::is_trivially_destructible<T_>::value &&
                                   std::is_trivially_copy_constructible<T_>::value ==
                                       std::is_copy_constructible<T_>::value &&
                                   std::is_trivially_move_constructible<T_>::value ==
                                       std::is_move_constructible<T_>::value),
                              by_value<T_>, by_bytes<T_>>::type;

/* One argument. The index makes each a base class of its own, even where two types are
 * equal. */
template <size_t I_, class P_> struct slot {
    typename P_::stored value;
};

template <class Index, class F_, class... P_> struct packed;

template <size_t... I_, class F_, class... P_>
struct packed<std::index_sequence<I_...>, F_, P_...> : slot<I_, P_>... {
    F_ function;

    EMU_UNSEEN explicit packed(F_ f, typename P_::stored &...a)
        : slot<I_, P_>{static_cast<typename P_::stored &&>(a)}..., function(f)
    {
    }

    EMU_UNSEEN static void run(void *self)
    {
        packed *p = static_cast<packed *>(self);
        p->function(P_::hand(static_cast<slot<I_, P_> *>(p)->value)...);
    }

    EMU_UNSEEN static unsigned places(void *self, emu_argument *places)
    {
        packed *p = static_cast<packed *>(self);
        const emu_argument all[] = {
            {(void *)__builtin_addressof(static_cast<slot<I_, P_> *>(p)->value),
             sizeof(typename P_::stored)}...,
            {p, 0}};
        for (size_t i = 0; places && i < sizeof...(P_); i++) places[i] = all[i];
        return sizeof...(P_);
    }
};

EMU_UNSEEN inline int submit(const char *name, const void *address, const config &c,
                             emu_thread_main *run, emu_places_of *places, void *arguments,
                             size_t bytes)
{
    emu_launch l = c.shape();
    l.places_of = places;
    l.kernel = name;
    l.address = address;
    l.run = run;
    l.arguments = arguments;
    l.argument_bytes = bytes;
    int error = emu_launch_kernel(&l);
    if (error) emu_launch_failed(error);
    return error;
}

template <class... P_, class F_>
EMU_UNSEEN int launch(const char *name, const void *address, const config &c, F_ function,
                      typename P_::stored &...a)
{
    using arguments = packed<std::index_sequence_for<P_...>, F_, P_...>;
    arguments all(function, a...);
    return submit(name, address, c, arguments::run, arguments::places, &all, sizeof all);
}

/* The kernel has no parameters but those: `p` are they, as the host has made them. */
template <class... P_>
EMU_UNSEEN int launch_kernel(const char *name, const config &c, void (*function)(P_...),
                             typename std::remove_reference<P_>::type &...p)
{
    return launch<parameter<P_>...>(
        name, reinterpret_cast<const void *>(function), c,
        reinterpret_cast<void (*)(typename parameter<P_>::passed...)>(function),
        parameter<P_>::keep(p)...);
}

template <class... P_> EMU_UNSEEN void start(P_... p)
{
    const config &c = *config::innermost();
    c.done();
    c.ended(launch_kernel(c.name, c, reinterpret_cast<void (*)(P_...)>(c.function), p...),
            c.name);
}

/* A plain function with the kernel's parameters, so that the compiler says of wrong
 * arguments what it always says. */
template <class... P_>
EMU_UNSEEN auto kernel(void (*function)(P_...), const char *name, config &&c)
    -> void (*)(P_...)
{
    c.name = name;
    c.function = reinterpret_cast<void (*)()>(function);
    return start<P_...>;
}

template <class F_> struct deduced_call {
    F_ function;
    const char *name;
    const config &c;

    template <class... A_> EMU_UNSEEN void operator()(A_... a) const
    {
        c.ended(launch<by_value<A_>...>(name, nullptr, c, function, a...), name);
    }
};

template <class F_>
EMU_UNSEEN deduced_call<F_> deduced(F_ function, const char *name, config &&c)
{
    c.done();
    return {function, name, c};
}

/* ---- kernels by address, for cudaLaunchKernel((const void *)k, ...)
 * -------------------------- */

template <class Index, class... P_> struct by_address;

template <size_t... I_, class... P_>
struct by_address<std::index_sequence<I_...>, P_...> {
    static int launch(void (*function)(), const char *name, const emu_launch *shape,
                      void **values, char *buffer)
    {
        void *places[sizeof...(P_) + 1];
        size_t at = 0, i = 0;
        const size_t sizes[] = {sizeof(P_)..., 0}, alignments[] = {alignof(P_)..., 1};
        for (; !values && buffer && i < sizeof...(P_); at += sizes[i++]) {
            at = (at + alignments[i] - 1) / alignments[i] * alignments[i];
            places[i] = buffer + at;
        }
        if (!values) values = places;
        (void)values; /* of a kernel without parameters */
        config c(*shape);
        return launch_kernel(
            name, c, reinterpret_cast<void (*)(P_...)>(function),
            *static_cast<typename std::remove_reference<P_>::type *>(values[I_])...);
    }
};

/* Made before main for a kernel with __launch_bounds__ that is no template's; of a
 * template's instance the runtime hears when it is launched. */
struct launch_bounds {
    template <class... P_> launch_bounds(void (*kernel)(P_...), unsigned threads_at_most)
    {
        emu_note_launch_bounds(reinterpret_cast<const void *>(kernel), threads_at_most);
    }
};

/* One for each kernel that has an address. */
struct known_kernel : emu_known_kernel {
    template <class... P_> known_kernel(void (*f)(P_...), const char *n)
    {
        function = reinterpret_cast<void (*)()>(f);
        name = n;
        launch = by_address<std::index_sequence_for<P_...>, P_...>::launch;
        emu_know_kernel(this);
    }
};

/* A kernel made from a template becomes known where its address is taken. */
template <class... P_>
auto address_of(void (*function)(P_...), const char *name) -> void (*)(P_...)
{
    if (!emu_find_kernel(reinterpret_cast<const void *>(function)))
        new known_kernel(function, name);
    return function;
}

} // namespace emu

static inline cudaError_t emu_launch_address(const void *function, dim3 grid, dim3 block,
                                             void **arguments, size_t shared,
                                             cudaStream_t stream, bool cooperative)
{
    const emu_known_kernel *const k = emu_find_kernel(function);
    if (!k) {
        emu_launch_failed(cudaErrorInvalidDeviceFunction);
        return cudaErrorInvalidDeviceFunction;
    }
    emu::config c(grid, block, shared, stream);
    c.cooperative = cooperative;
    const emu_launch shape = c.shape();
    c.done();
    return static_cast<cudaError_t>(
        k->launch(k->function, k->name, &shape, arguments, nullptr));
}

static inline cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block,
                                           void **arguments, size_t shared = 0,
                                           cudaStream_t stream = nullptr)
{
    return emu_launch_address(function, grid, block, arguments, shared, stream, false);
}
static inline cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid,
                                                      dim3 block, void **arguments,
                                                      size_t shared = 0,
                                                      cudaStream_t stream = nullptr)
{
    return emu_launch_address(function, grid, block, arguments, shared, stream, true);
}

/* The linker makes such a pair for a section whose name is an identifier. */
#ifdef EMU_MODULE
#define EMU_SECTION_END __attribute__((weak, visibility("hidden")))
extern "C" {
extern char __start_emu_device[] EMU_SECTION_END, __stop_emu_device[] EMU_SECTION_END;
extern char __start_emu_constant[] EMU_SECTION_END, __stop_emu_constant[] EMU_SECTION_END;
extern char __start_emu_managed[] EMU_SECTION_END, __stop_emu_managed[] EMU_SECTION_END;
__attribute__((used)) struct emu_sections emu_module_sections = {
    {__start_emu_device, __stop_emu_device},
    {__start_emu_constant, __stop_emu_constant},
    {__start_emu_managed, __stop_emu_managed}};
}
#undef EMU_SECTION_END
#endif

#endif
