/* A vector in managed memory, of whose elements the host has references. */
#ifndef THRUST_UNIVERSAL_VECTOR_H
#define THRUST_UNIVERSAL_VECTOR_H

#include <chrono> /* as NVIDIA's does; programs come to rely on it */

#include "device_vector.h"
#include "universal_ptr.h"

namespace thrust
{

template <class T>
class universal_vector : public device_vector<T, universal_allocator<T>>
{
    using in_memory = device_vector<T, universal_allocator<T>>;

  public:
    using reference = T &;
    using const_reference = const T &;
    using pointer = universal_ptr<T>;
    using const_pointer = universal_ptr<const T>;
    using iterator = universal_ptr<T>;
    using const_iterator = universal_ptr<const T>;
    using size_type = typename in_memory::size_type;

    using in_memory::in_memory;
    universal_vector() = default;

    pointer data()
    {
        return pointer(in_memory::data().get());
    }
    const_pointer data() const
    {
        return const_pointer(in_memory::data().get());
    }
    iterator begin()
    {
        return data();
    }
    iterator end()
    {
        return data() + (std::ptrdiff_t)this->size();
    }
    const_iterator begin() const
    {
        return data();
    }
    const_iterator end() const
    {
        return data() + (std::ptrdiff_t)this->size();
    }
    auto rbegin() const
    {
        return ::thrust::make_reverse_iterator(end());
    }
    auto rend() const
    {
        return ::thrust::make_reverse_iterator(begin());
    }
    auto rbegin()
    {
        return ::thrust::make_reverse_iterator(end());
    }
    auto rend()
    {
        return ::thrust::make_reverse_iterator(begin());
    }
    const_iterator cbegin() const
    {
        return begin();
    }
    const_iterator cend() const
    {
        return end();
    }
    reference operator[](size_type i)
    {
        return data().get()[i];
    }
    const_reference operator[](size_type i) const
    {
        return data().get()[i];
    }
    reference front()
    {
        return *data();
    }
    const_reference front() const
    {
        return *data();
    }
    reference back()
    {
        return (*this)[this->size() - 1];
    }
    const_reference back() const
    {
        return (*this)[this->size() - 1];
    }
};

/* The same to a program, which NVIDIA's keeps in pinned memory of the host. */
template <class T> using universal_host_pinned_vector = universal_vector<T>;

} // namespace thrust

#endif
