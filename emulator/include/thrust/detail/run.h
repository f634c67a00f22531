/* Where an algorithm of thrust runs. Its iterators say so, or an execution policy before
 * them: on the device it is a kernel of one thread, so that what it reads and writes is
 * checked as any kernel's; on the host, and in a kernel, it is a loop. Results are those of
 * thrust, except that sums of floats are added up from the first to the last. */
#ifndef THRUST_DETAIL_RUN_H
#define THRUST_DETAIL_RUN_H

/* Programs come to rely on what NVIDIA's include. */
#include <chrono>
#include <cstring>
#include <memory>

#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include "../../cuda_runtime.h"
#include "../distance.h"
#include "../iterator/iterator_traits.h"
#include "../system_error.h"
#include "../version.h"

#ifndef __CUDACC__
#error "thrust's device algorithms are compiled in a .cu file (or with -x cu)"
#endif

namespace thrust
{

using std::swap;

/* ---- execution policies ---- */

enum emu_place { EMU_ANYWHERE, EMU_HOST, EMU_DEVICE };

struct emu_policy {
    emu_place place;
    cudaStream_t stream;

    constexpr emu_policy(emu_place p, cudaStream_t s = nullptr) : place(p), stream(s)
    {
    }
    /* thrust::cuda::par.on(stream); in all cases the result is there on return. */
    emu_policy on(cudaStream_t s) const
    {
        return emu_policy(place, s);
    }
    template <class Allocator> emu_policy operator()(const Allocator &) const
    {
        return *this;
    }
};
static constexpr emu_policy host(EMU_HOST), seq(EMU_HOST), device(EMU_DEVICE);
namespace system
{
namespace cuda
{
static constexpr emu_policy par(EMU_DEVICE), par_nosync(EMU_DEVICE);
}
} // namespace system
namespace cuda
{
using namespace ::thrust::system::cuda;
}

/* The policy of the algorithm that the host's thread is in. */
struct emu_scope {
    const emu_policy *before;

    EMU_UNSEEN explicit emu_scope(const emu_policy &p) : before(nullptr)
    {
        if (emu_in_kernel()) return;
        before = current();
        current() = &p;
    }
    EMU_UNSEEN ~emu_scope()
    {
        if (!emu_in_kernel()) current() = before;
    }
    EMU_UNSEEN static const emu_policy *&current()
    {
        static thread_local const emu_policy *policy;
        return policy;
    }
};

/* name(policy, ...) for a name(...). */
#define EMU_WITH_POLICY(name)                                                            \
    template <class Policy, class... A,                                                  \
              typename std::enable_if<std::is_base_of<emu_policy, Policy>::value,        \
                                      int>::type = 0>                                    \
    auto name(const Policy &policy, A &&...arguments)                                    \
    {                                                                                    \
        emu_scope scope(policy);                                                         \
        return ::thrust::name(std::forward<A>(arguments)...);                            \
    }

/* ---- iterators ---- */

/* What an iterator needs besides at(), move(n) and from(other). */
template <class Self, class Value, class Reference> struct emu_iterator {
    using value_type = Value;
    using reference = Reference;
    using difference_type = std::ptrdiff_t;
    using pointer = typename std::remove_reference<Reference>::type *;
    using iterator_category = std::random_access_iterator_tag;

    Reference operator*() const
    {
        return self().at();
    }
    Reference operator[](difference_type n) const
    {
        return (self() + n).at();
    }
    Self &operator+=(difference_type n)
    {
        self().move(n);
        return self();
    }
    Self &operator-=(difference_type n)
    {
        return *this += -n;
    }
    Self &operator++()
    {
        return *this += 1;
    }
    Self &operator--()
    {
        return *this += -1;
    }
    Self operator++(int)
    {
        const Self old = self();
        *this += 1;
        return old;
    }
    Self operator--(int)
    {
        const Self old = self();
        *this += -1;
        return old;
    }
    friend Self operator+(Self it, difference_type n)
    {
        return it += n;
    }
    friend Self operator+(difference_type n, Self it)
    {
        return it += n;
    }
    friend Self operator-(Self it, difference_type n)
    {
        return it -= n;
    }
    friend difference_type operator-(const Self &a, const Self &b)
    {
        return a.from(b);
    }
    friend bool operator==(const Self &a, const Self &b)
    {
        return a.from(b) == 0;
    }
    friend bool operator!=(const Self &a, const Self &b)
    {
        return a.from(b) != 0;
    }
    friend bool operator<(const Self &a, const Self &b)
    {
        return a.from(b) < 0;
    }
    friend bool operator>(const Self &a, const Self &b)
    {
        return a.from(b) > 0;
    }
    friend bool operator<=(const Self &a, const Self &b)
    {
        return a.from(b) <= 0;
    }
    friend bool operator>=(const Self &a, const Self &b)
    {
        return a.from(b) >= 0;
    }

  private:
    Self &self()
    {
        return static_cast<Self &>(*this);
    }
    const Self &self() const
    {
        return static_cast<const Self &>(*this);
    }
};

/* One that moves as something else does, and needs but at(). */
template <class Self, class Place, class Value, class Reference>
class emu_moving : public emu_iterator<Self, Value, Reference>
{
  protected:
    Place place;

  public:
    explicit emu_moving(Place p) : place(p)
    {
    }
    void move(std::ptrdiff_t n)
    {
        place += n;
    }
    std::ptrdiff_t from(const emu_moving &other) const
    {
        return place - other.place;
    }
    Place base() const
    {
        return place;
    }
};

/* Pointers that say where they point to: device_ptr and universal_ptr. */
template <template <class> class Ptr, class T, class Reference>
class emu_pointer
    : public emu_moving<Ptr<T>, T *, typename std::remove_cv<T>::type, Reference>
{
    using moving = emu_moving<Ptr<T>, T *, typename std::remove_cv<T>::type, Reference>;

  public:
    using pointer = Ptr<T>;
    using element_type = T;

    emu_pointer() : moving(nullptr)
    {
    }
    emu_pointer(std::nullptr_t) : moving(nullptr)
    {
    }
    template <class U> explicit emu_pointer(U *p) : moving(static_cast<T *>(p))
    {
    }
    template <class U, typename std::enable_if<std::is_convertible<U *, T *>::value &&
                                                   !std::is_same<U, T>::value,
                                               int>::type = 0>
    emu_pointer(const Ptr<U> &other) : moving(other.get())
    {
    }
    T *get() const
    {
        return this->place;
    }
    explicit operator bool() const
    {
        return this->place != nullptr;
    }
};
template <class P> struct emu_pointer_traits {
    static constexpr emu_place place = EMU_DEVICE;
    using raw = typename P::element_type *;
    static raw strip(const P &p)
    {
        return p.get();
    }
};

/* Where what an iterator goes through lies, and the same iterator with plain pointers. */
template <class It> struct emu_traits {
    static constexpr emu_place place = EMU_HOST;
    using raw = It;
    static raw strip(const It &it)
    {
        return it;
    }
};
template <class It> typename emu_traits<It>::raw emu_raw(const It &it)
{
    return emu_traits<It>::strip(it);
}
template <class It> using emu_value = typename std::iterator_traits<It>::value_type;

/* Whether an algorithm over such iterators is a kernel. */
template <class... It> bool emu_on_device()
{
    if (emu_in_kernel()) return false;
    if (const emu_policy *p = emu_scope::current()) return p->place == EMU_DEVICE;
    bool any = false;
    const bool each[] = {emu_traits<It>::place == EMU_DEVICE...};
    for (bool is : each) any |= is;
    return any;
}

/* ---- running ---- */

/* From a kernel's thread to the host's, behind the checker's back. */
EMU_UNSEEN __attribute__((noinline)) static inline void
emu_give(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        static_cast<volatile char *>(to)[i] = static_cast<const volatile char *>(from)[i];
}

/* While it lives, faults can name what is being called. */
struct emu_called {
    emu_calls calls;

    emu_called()
    {
        emu_calls_begin(&calls);
    }
    ~emu_called()
    {
        emu_calls_end(&calls);
    }
    emu_called(const emu_called &) = delete;
};

/* f() on the device or here; its result is a plain value. */
template <class F, class R = decltype(std::declval<F &>()())>
typename std::enable_if<!std::is_void<R>::value, R>::type emu_run(const char *name,
                                                                  bool on_device, F f)
{
    if (!on_device) return f();
    alignas(R) char result[sizeof(R)];
    char *const place = result;
    const emu_policy *policy = emu_scope::current();
    auto body = [place, f]() mutable {
        const R value = f();
        emu_give(place, &value, sizeof value);
    };
    {
        const emu_called here;
        emu::config one(dim3(1), dim3(1), 0, policy ? policy->stream : nullptr);
        const int error = emu::launch<emu::by_value<decltype(body)>>(
            name, nullptr, one, [](decltype(body) work) { work(); }, body);
        if (error) throw system_error(error, name);
        cudaStreamSynchronize(one.stream);
    }
    return *reinterpret_cast<R *>(place);
}

/* The same where there is no result. */
template <class F, class R = decltype(std::declval<F &>()())>
typename std::enable_if<std::is_void<R>::value>::type emu_run(const char *name,
                                                              bool on_device, F f)
{
    emu_run(name, on_device, [f]() mutable {
        f();
        return 0;
    });
}

/* Memory for an algorithm's own use. */
template <class T> class emu_temporary
{
    bool on_device;

  public:
    T *data;

    emu_temporary(std::size_t count, bool device_) : on_device(device_), data(nullptr)
    {
        if (!on_device)
            data = static_cast<T *>(emu_device_malloc(count * sizeof(T)));
        else if (cudaMalloc(&data, (count + !count) * sizeof(T)) != cudaSuccess)
            throw std::bad_alloc();
    }
    ~emu_temporary()
    {
        if (on_device)
            cudaFree(data);
        else
            emu_device_free(data);
    }
    emu_temporary(const emu_temporary &) = delete;
};

} // namespace thrust

#endif
