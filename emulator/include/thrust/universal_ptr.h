/* A pointer into managed memory: algorithms take it to the device, and the host follows it
 * as any other. */
#ifndef THRUST_UNIVERSAL_PTR_H
#define THRUST_UNIVERSAL_PTR_H

#include "detail/run.h"

namespace thrust
{

template <class T>
class universal_ptr
    : public emu_iterator<universal_ptr<T>, typename std::remove_cv<T>::type, T &>
{
    T *place;

  public:
    using pointer = universal_ptr;
    using element_type = T;

    universal_ptr() : place(nullptr)
    {
    }
    universal_ptr(std::nullptr_t) : place(nullptr)
    {
    }
    template <class U> explicit universal_ptr(U *p) : place(static_cast<T *>(p))
    {
    }
    template <class U, typename std::enable_if<std::is_convertible<U *, T *>::value &&
                                                   !std::is_same<U, T>::value,
                                               int>::type = 0>
    universal_ptr(const universal_ptr<U> &other) : place(other.get())
    {
    }
    T *get() const
    {
        return place;
    }
    T *operator->() const
    {
        return place;
    }
    explicit operator bool() const
    {
        return place != nullptr;
    }
    T &at() const
    {
        return *place;
    }
    void move(std::ptrdiff_t n)
    {
        place += n;
    }
    std::ptrdiff_t from(const universal_ptr &other) const
    {
        return place - other.place;
    }
};

template <class T> struct emu_traits<universal_ptr<T>> {
    static constexpr emu_place place = EMU_DEVICE;
    using raw = T *;
    static raw strip(const universal_ptr<T> &p)
    {
        return p.get();
    }
};

template <class T> T *raw_pointer_cast(const universal_ptr<T> &p)
{
    return p.get();
}

} // namespace thrust

#endif
