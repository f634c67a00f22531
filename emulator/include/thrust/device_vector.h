/* A vector in device memory; its elements must be such that their bytes can be copied. */
#ifndef THRUST_DEVICE_VECTOR_H
#define THRUST_DEVICE_VECTOR_H

#include <initializer_list>
#include <vector>

#include "device_malloc.h"
#include "iterator/reverse_iterator.h"
#include "reduce.h"
#include "scan.h" /* as NVIDIA's does */
#include "swap.h"
#include "universal_ptr.h"

namespace thrust
{

template <class T, class Allocator> class host_vector;
template <class T> class device_allocator
{
};
/* Of memory that the host reads and writes, too. */
template <class T> class universal_allocator
{
};

/* What points to an allocator's memory. */
template <class Allocator> struct emu_memory {
    static constexpr bool is_universal = false;
    template <class U> using pointer = device_ptr<U>;
};
template <class T> struct emu_memory<universal_allocator<T>> {
    static constexpr bool is_universal = true;
    template <class U> using pointer = universal_ptr<U>;
};

template <class T, class Allocator = device_allocator<T>> class device_vector
{
    static_assert(std::is_trivially_copy_constructible<T>::value &&
                      std::is_trivially_destructible<T>::value,
                  "the emulator's device_vector copies its elements by their bytes");
    typename emu_memory<Allocator>::template pointer<T> first;
    std::size_t count, room;

    static decltype(first) fresh(size_t n)
    {
        if (!emu_memory<Allocator>::is_universal)
            return decltype(first)(device_malloc<T>(n).get());
        void *p;
        const cudaError_t error = cudaMallocManaged(&p, n * sizeof(T) + !n);
        if (error != cudaSuccess) throw system_error(error, "cudaMallocManaged");
        return decltype(first)(static_cast<T *>(p));
    }

    void swap_with(device_vector &other)
    {
        std::swap(first, other.first);
        std::swap(count, other.count);
        std::swap(room, other.room);
    }

  public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using pointer = typename emu_memory<Allocator>::template pointer<T>;
    using const_pointer = typename emu_memory<Allocator>::template pointer<const T>;
    using reference = decltype(*std::declval<pointer>());
    using const_reference = decltype(*std::declval<const_pointer>());
    using iterator = pointer;
    using const_iterator = const_pointer;
    using allocator_type = Allocator;

    device_vector() : first(), count(0), room(0)
    {
    }
    explicit device_vector(size_type n) : device_vector(n, T())
    {
    }
    device_vector(size_type n, const T &value) : device_vector()
    {
        resize(n, value);
    }
    template <class It,
              typename std::enable_if<!std::is_integral<It>::value, int>::type = 0>
    device_vector(It from, It to) : device_vector()
    {
        assign(from, to);
    }
    device_vector(std::initializer_list<T> values) : device_vector()
    {
        assign(values.begin(), values.end());
    }
    device_vector(const device_vector &other) : device_vector()
    {
        assign(other.begin(), other.end());
    }
    device_vector(device_vector &&other) : device_vector()
    {
        swap_with(other);
    }
    template <class A> device_vector(const host_vector<T, A> &other) : device_vector()
    {
        assign(other.begin(), other.end());
    }
    template <class A> device_vector(const std::vector<T, A> &other) : device_vector()
    {
        assign(other.begin(), other.end());
    }
    template <class A> device_vector(const device_vector<T, A> &other) : device_vector()
    {
        assign(other.begin(), other.end());
    }
    ~device_vector()
    {
        if (first) cudaFree(first.get());
    }
    device_vector &operator=(const device_vector &other)
    {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    device_vector &operator=(device_vector &&other)
    {
        swap_with(other);
        return *this;
    }
    template <class A> device_vector &operator=(const host_vector<T, A> &other)
    {
        assign(other.begin(), other.end());
        return *this;
    }
    template <class A> device_vector &operator=(const std::vector<T, A> &other)
    {
        assign(other.begin(), other.end());
        return *this;
    }

    template <class It,
              typename std::enable_if<!std::is_integral<It>::value, int>::type = 0>
    void assign(It from, It to)
    {
        const size_type n = (size_type)std::distance(from, to);
        reserve(n);
        count = n;
        ::thrust::copy(from, to, first);
    }
    void assign(size_type n, const T &value)
    {
        clear();
        resize(n, value);
    }
    void reserve(size_type n)
    {
        if (n <= room) return;
        const pointer larger = fresh(n);
        if (count)
            cudaMemcpy(larger.get(), first.get(), count * sizeof(T),
                       cudaMemcpyDeviceToDevice);
        if (first) cudaFree(first.get());
        first = larger;
        room = n;
    }
    void resize(size_type n, const T &value = T())
    {
        reserve(n);
        if (n > count) ::thrust::fill(first + count, first + n, value);
        count = n;
    }
    void clear()
    {
        count = 0;
    }
    void shrink_to_fit()
    {
    }
    void push_back(const T &value)
    {
        if (count == room) reserve(room ? 2 * room : 8);
        first[(std::ptrdiff_t)count++] = value;
    }
    void pop_back()
    {
        count--;
    }
    iterator erase(iterator from, iterator to)
    {
        const std::vector<T> rest = emu_to_host<T>(to, end());
        count -= (size_type)(to - from);
        ::thrust::copy(rest.begin(), rest.end(), from);
        return from;
    }
    iterator erase(iterator at)
    {
        return erase(at, at + 1);
    }
    iterator insert(iterator at, const T &value)
    {
        const std::ptrdiff_t place = at - first;
        std::vector<T> all = emu_to_host<T>(begin(), end());
        all.insert(all.begin() + place, value);
        assign(all.begin(), all.end());
        return first + place;
    }
    void swap(device_vector &other)
    {
        swap_with(other);
    }

    size_type size() const
    {
        return count;
    }
    size_type capacity() const
    {
        return room;
    }
    bool empty() const
    {
        return count == 0;
    }
    iterator begin()
    {
        return first;
    }
    iterator end()
    {
        return first + (std::ptrdiff_t)count;
    }
    const_iterator begin() const
    {
        return first;
    }
    const_iterator end() const
    {
        return begin() + (std::ptrdiff_t)count;
    }
    const_iterator cbegin() const
    {
        return begin();
    }
    const_iterator cend() const
    {
        return end();
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
    pointer data()
    {
        return first;
    }
    const_pointer data() const
    {
        return first;
    }
    reference operator[](size_type i)
    {
        return first[(std::ptrdiff_t)i];
    }
    const_reference operator[](size_type i) const
    {
        return begin()[(std::ptrdiff_t)i];
    }
    reference front()
    {
        return first[0];
    }
    reference back()
    {
        return first[(std::ptrdiff_t)count - 1];
    }
    const_reference front() const
    {
        return begin()[0];
    }
    const_reference back() const
    {
        return begin()[(std::ptrdiff_t)count - 1];
    }
    friend bool operator==(const device_vector &a, const device_vector &b)
    {
        return emu_to_host<T>(a.begin(), a.end()) == emu_to_host<T>(b.begin(), b.end());
    }
    friend bool operator!=(const device_vector &a, const device_vector &b)
    {
        return !(a == b);
    }
};

} // namespace thrust

#include "host_vector.h"

#endif
