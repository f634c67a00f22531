/* Random numbers in functors. The engines are the host's own and give the numbers that the
 * C++ standard says; so does thrust's, but its distributions may make others of them. */
#ifndef THRUST_RANDOM_H
#define THRUST_RANDOM_H

#include <random>

namespace thrust
{
namespace random
{
using std::minstd_rand;
using std::minstd_rand0;
using std::ranlux24;
using std::ranlux48;
using default_random_engine = minstd_rand;
using taus88 = std::mt19937;
template <class T = int>
using uniform_int_distribution = std::uniform_int_distribution<T>;
template <class T = double>
using uniform_real_distribution = std::uniform_real_distribution<T>;
template <class T = double> using normal_distribution = std::normal_distribution<T>;
} // namespace random
using namespace random;
} // namespace thrust

#endif
