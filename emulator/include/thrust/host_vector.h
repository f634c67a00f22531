/* A vector in the host's memory, made from and turned into one of the device's. */
#ifndef THRUST_HOST_VECTOR_H
#define THRUST_HOST_VECTOR_H

#include "device_vector.h"

namespace thrust
{

template <class T, class Allocator = std::allocator<T>>
class host_vector : public std::vector<T, Allocator>
{
    using base = std::vector<T, Allocator>;

  public:
    using base::base;
    host_vector() = default;
    host_vector(const host_vector &) = default;
    host_vector(host_vector &&) = default;
    host_vector(const base &other) : base(other)
    {
    }
    template <class A>
    host_vector(const device_vector<T, A> &other)
        : base(emu_to_host<T>(other.begin(), other.end()))
    {
    }
    template <class U>
    host_vector(const device_ptr<U> &from, const device_ptr<U> &to)
        : base(emu_to_host<T>(from, to))
    {
    }
    host_vector &operator=(const host_vector &) = default;
    host_vector &operator=(host_vector &&) = default;
    template <class A> host_vector &operator=(const device_vector<T, A> &other)
    {
        base::operator=(emu_to_host<T>(other.begin(), other.end()));
        return *this;
    }
};

} // namespace thrust

#endif
