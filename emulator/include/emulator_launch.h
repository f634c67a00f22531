/* What bin/nvcc makes of `kernel<<<grid, block, shared, stream>>>(arguments)`. C++ only; cuda_runtime.h
 * includes it at its end. Two forms:
 *
 *   ::emu::kernel(k, "k", ::emu::config(grid, block))(arguments)
 *       where k denotes one function: its own parameter types convert the arguments, as in any call;
 *   ::emu::deduced([&](auto... a) { k(a...); }, "k", ::emu::config(grid, block))(arguments)
 *       where only a call can tell which function k is: a template to deduce, an overloaded name. */
#ifndef EMULATOR_LAUNCH_H
#define EMULATOR_LAUNCH_H

#include <utility>

#include "emulator_runtime.h"

/* Makes `error` (a cudaError_t, not success) the last error, for cudaGetLastError. */
extern "C" void emu_launch_failed(int error);

/* `extern __shared__ T name[];` in a function becomes a reference to this. */
extern "C" char emu_dynamic_shared[];

/* Reading a launch's arguments is not the kernel's doing, so the checker and the lens must not see it. */
#define EMU_UNSEEN __attribute__((no_sanitize("thread")))

namespace emu {

struct config {
    dim3 grid, block;
    size_t shared;

    config(dim3 grid_, dim3 block_, size_t shared_ = 0, cudaStream_t = nullptr)
        : grid(grid_), block(block_), shared(shared_) {}
};

/* One argument. The index makes each a base class of its own, even where two types are equal. */
template <size_t I, class T> struct slot {
    T value;
};

template <class Index, class F, class... A> struct packed;

template <size_t... I, class F, class... A>
struct packed<std::index_sequence<I...>, F, A...> : slot<I, A>... {
    F function;

    explicit packed(F f, A... a) : slot<I, A>{static_cast<A &&>(a)}..., function(f) {}

    /* The function takes its parameters by value: every CUDA thread gets copies of its own. */
    EMU_UNSEEN static void run(void *self)
    {
        packed *p = static_cast<packed *>(self);
        p->function(static_cast<slot<I, A> *>(p)->value...);
    }
};

template <class F, class... A>
void launch(const char *name, const void *address, const config &c, F function, A... a)
{
    using arguments = packed<std::index_sequence_for<A...>, F, A...>;
    arguments all(function, static_cast<A &&>(a)...);
    emu_launch l = {name,
                    address,
                    {c.grid.x, c.grid.y, c.grid.z},
                    {c.block.x, c.block.y, c.block.z},
                    c.shared,
                    arguments::run,
                    &all,
                    sizeof all};
    int error = emu_launch_kernel(&l);
    if (error) emu_launch_failed(error);
}

template <class... P> struct kernel_call {
    void (*function)(P...);
    const char *name;
    config c;

    void operator()(P... p) const
    {
        launch(name, reinterpret_cast<const void *>(function), c, function, static_cast<P &&>(p)...);
    }
};

template <class... P> kernel_call<P...> kernel(void (*function)(P...), const char *name, const config &c)
{
    return {function, name, c};
}

template <class F> struct deduced_call {
    F function;
    const char *name;
    config c;

    template <class... A> void operator()(A... a) const
    {
        launch(name, nullptr, c, function, static_cast<A &&>(a)...);
    }
};

template <class F> deduced_call<F> deduced(F function, const char *name, const config &c)
{
    return {function, name, c};
}

} // namespace emu
#endif
