/* A pointer into device memory, that the host may follow, one element at a time. */
#ifndef THRUST_DEVICE_PTR_H
#define THRUST_DEVICE_PTR_H

#include <iostream>

#include "detail/run.h"

namespace thrust
{

template <class T> class device_ptr;

/* What *p is: reading and writing it on the host copies. */
template <class T> class device_reference
{
    T *place;

  public:
    using value_type = typename std::remove_cv<T>::type;

    explicit device_reference(T *p) : place(p)
    {
    }
    device_reference(const device_reference &) = default;
    operator value_type() const
    {
        if (emu_in_kernel()) return *place;
        value_type value;
        const cudaError_t error =
            cudaMemcpy(&value, place, sizeof value, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess) throw system_error(error, "a read of a device_ptr");
        return value;
    }
    device_reference &operator=(const value_type &value)
    {
        if (emu_in_kernel()) {
            *place = value;
            return *this;
        }
        const cudaError_t error =
            cudaMemcpy(place, &value, sizeof value, cudaMemcpyHostToDevice);
        if (error != cudaSuccess) throw system_error(error, "a write of a device_ptr");
        return *this;
    }
    device_reference &operator=(const device_reference &other)
    {
        return *this = static_cast<value_type>(other);
    }
    device_ptr<T> operator&() const
    {
        return device_ptr<T>(place);
    }
#define EMU_ASSIGN(op)                                                                   \
    device_reference &operator op##=(const value_type & value)                           \
    {                                                                                    \
        return *this = static_cast<value_type>(static_cast<value_type>(*this) op value); \
    }
    EMU_ASSIGN(+)
    EMU_ASSIGN(-)
    EMU_ASSIGN(*)
    EMU_ASSIGN(/)
#undef EMU_ASSIGN
    device_reference &operator++()
    {
        return *this += value_type(1);
    }
    friend void swap(device_reference a, device_reference b)
    {
        const value_type value = a;
        a = static_cast<value_type>(b);
        b = value;
    }
    friend std::ostream &operator<<(std::ostream &stream, const device_reference &r)
    {
        return stream << static_cast<value_type>(r);
    }
};

template <class T>
class device_ptr : public emu_pointer<device_ptr, T, device_reference<T>>
{
  public:
    using emu_pointer<::thrust::device_ptr, T, device_reference<T>>::emu_pointer;

    device_reference<T> at() const
    {
        return device_reference<T>(this->place);
    }
};

/* Of memory that has no type yet; it cannot be followed. */
template <> class device_ptr<void>
{
    void *place;

  public:
    device_ptr() : place(nullptr)
    {
    }
    device_ptr(std::nullptr_t) : place(nullptr)
    {
    }
    explicit device_ptr(void *p) : place(p)
    {
    }
    template <class T> device_ptr(const device_ptr<T> &other) : place(other.get())
    {
    }
    void *get() const
    {
        return place;
    }
    explicit operator bool() const
    {
        return place != nullptr;
    }
};

template <class T> struct emu_traits<device_ptr<T>> : emu_pointer_traits<device_ptr<T>> {
};

template <class T> device_ptr<T> device_pointer_cast(T *p)
{
    return device_ptr<T>(p);
}
template <class T> device_ptr<T> device_pointer_cast(const device_ptr<T> &p)
{
    return p;
}
template <class T> T *raw_pointer_cast(const device_ptr<T> &p)
{
    return p.get();
}
template <class T> T *raw_pointer_cast(T *p)
{
    return p;
}

} // namespace thrust

#endif
