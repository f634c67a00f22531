/* A vector in managed memory, of whose elements the host has references. */
#ifndef THRUST_UNIVERSAL_VECTOR_H
#define THRUST_UNIVERSAL_VECTOR_H

#include <chrono> /* as NVIDIA's does; programs come to rely on it */

#include "device_vector.h"

namespace thrust
{

template <class T> using universal_vector = device_vector<T, universal_allocator<T>>;

/* The same to a program, which NVIDIA's keeps in pinned memory of the host. */
template <class T> using universal_host_pinned_vector = universal_vector<T>;

} // namespace thrust

#endif
