/* A pointer into managed memory: algorithms take it to the device, and the host follows it
 * as any other. */
#ifndef THRUST_UNIVERSAL_PTR_H
#define THRUST_UNIVERSAL_PTR_H

#include "detail/run.h"

namespace thrust
{

template <class T> class universal_ptr : public emu_pointer<universal_ptr, T, T &>
{
  public:
    using emu_pointer<::thrust::universal_ptr, T, T &>::emu_pointer;

    T *operator->() const
    {
        return this->place;
    }
    T &at() const
    {
        return *this->place;
    }
};

template <class T>
struct emu_traits<universal_ptr<T>> : emu_pointer_traits<universal_ptr<T>> {
};

template <class T> T *raw_pointer_cast(const universal_ptr<T> &p)
{
    return p.get();
}

} // namespace thrust

#endif
