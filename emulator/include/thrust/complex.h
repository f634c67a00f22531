/* thrust::complex, which is the host's own. */
#ifndef THRUST_COMPLEX_H
#define THRUST_COMPLEX_H

#include <complex>

namespace thrust
{
using std::abs;
using std::arg;
using std::complex;
using std::conj;
using std::exp;
using std::log;
using std::norm;
using std::polar;
using std::pow;
using std::sqrt;
} // namespace thrust

#endif
