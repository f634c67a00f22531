/* What thrust throws when CUDA reports an error. */
#ifndef THRUST_SYSTEM_ERROR_H
#define THRUST_SYSTEM_ERROR_H

#include <stdexcept>
#include <string>

#include "../cuda_runtime_api.h"

namespace thrust
{

struct error_category {
};
static inline const error_category &cuda_category()
{
    static const error_category category = {};
    return category;
}

class system_error : public std::runtime_error
{
    int number;

  public:
    explicit system_error(int error, const std::string &what = "")
        : std::runtime_error(what + (what.empty() ? "" : ": ") +
                             cudaGetErrorString((cudaError_t)error)),
          number(error)
    {
    }
    system_error(int error, const error_category &, const std::string &what = "")
        : system_error(error, what)
    {
    }
    int code() const
    {
        return number;
    }
};

namespace system
{
using ::thrust::cuda_category;
using ::thrust::error_category;
using ::thrust::system_error;
} // namespace system

} // namespace thrust

#endif
