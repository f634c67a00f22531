/* What algorithms are told to do with elements. */
#ifndef THRUST_FUNCTIONAL_H
#define THRUST_FUNCTIONAL_H

#include "../cuda/std/functional"

namespace thrust
{

using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::greater;
using std::greater_equal;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_not;
using std::logical_or;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::not_equal_to;
using std::plus;

#define EMU_FUNCTOR(name, T, parameters, result)                                         \
    template <class T = void> struct name {                                              \
        T operator() parameters const                                                    \
        {                                                                                \
            return result;                                                               \
        }                                                                                \
    };
EMU_FUNCTOR(maximum, T, (const T &a, const T &b), a < b ? b : a)
EMU_FUNCTOR(minimum, T, (const T &a, const T &b), b < a ? b : a)
template <class T> constexpr const T &min(const T &a, const T &b)
{
    return b < a ? b : a;
}
template <class T, class Less>
constexpr const T &min(const T &a, const T &b, Less less_than)
{
    return less_than(b, a) ? b : a;
}
template <class T> constexpr const T &max(const T &a, const T &b)
{
    return a < b ? b : a;
}
template <class T, class Less>
constexpr const T &max(const T &a, const T &b, Less less_than)
{
    return less_than(a, b) ? b : a;
}
EMU_FUNCTOR(square, T, (const T &a), a *a)
EMU_FUNCTOR(identity, T, (const T &a), a)
EMU_FUNCTOR(project1st, T, (const T &a, const T &), a)
EMU_FUNCTOR(project2nd, T, (const T &, const T &b), b)
#undef EMU_FUNCTOR
#define EMU_FUNCTOR(name, result)                                                        \
    template <> struct name<void> {                                                      \
        template <class A, class B>                                                      \
        typename std::common_type<A, B>::type operator()(const A &a, const B &b) const   \
        {                                                                                \
            return result;                                                               \
        }                                                                                \
    };
EMU_FUNCTOR(maximum, a < b ? b : a)
EMU_FUNCTOR(minimum, b < a ? b : a)
#undef EMU_FUNCTOR

/* Bases of functors in programs written before C++11. */
template <class A, class R> struct unary_function {
    using argument_type = A;
    using result_type = R;
};
template <class A, class B, class R> struct binary_function {
    using first_argument_type = A;
    using second_argument_type = B;
    using result_type = R;
};

/* The opposite of a predicate. */
template <class Predicate> struct emu_not {
    mutable Predicate holds; /* whose call need not be const */
    template <class... A> bool operator()(const A &...a) const
    {
        return !holds(a...);
    }
};
template <class Predicate> emu_not<Predicate> not1(const Predicate &p)
{
    return {p};
}
template <class Predicate> emu_not<Predicate> not2(const Predicate &p)
{
    return {p};
}

/* _1 and _2 in an expression, as in a * _1 + _2. */
template <class F> struct emu_expression {
    F f;
    template <class... A> auto operator()(const A &...a) const
    {
        return f(a...);
    }
};
template <class F> emu_expression<F> emu_express(F f)
{
    return {f};
}
struct emu_first {
    template <class A, class... Rest> A operator()(const A &a, const Rest &...) const
    {
        return a;
    }
};
struct emu_second {
    template <class A, class B> B operator()(const A &, const B &b) const
    {
        return b;
    }
};
#define EMU_OPERATOR(op)                                                                 \
    template <class F, class G>                                                          \
    auto operator op(const emu_expression<F> &f, const emu_expression<G> &g)             \
    {                                                                                    \
        return emu_express([=](const auto &...a) { return f(a...) op g(a...); });        \
    }                                                                                    \
    template <class F, class T> auto operator op(const emu_expression<F> &f, const T &x) \
    {                                                                                    \
        return emu_express([=](const auto &...a) { return f(a...) op x; });              \
    }                                                                                    \
    template <class F, class T> auto operator op(const T &x, const emu_expression<F> &f) \
    {                                                                                    \
        return emu_express([=](const auto &...a) { return x op f(a...); });              \
    }
EMU_OPERATOR(+)
EMU_OPERATOR(-)
EMU_OPERATOR(*)
EMU_OPERATOR(/)
EMU_OPERATOR(%)
EMU_OPERATOR(<)
EMU_OPERATOR(>)
EMU_OPERATOR(<=)
EMU_OPERATOR(>=)
EMU_OPERATOR(==)
EMU_OPERATOR(!=)
EMU_OPERATOR(&&)
EMU_OPERATOR(||)
EMU_OPERATOR(&)
EMU_OPERATOR(|)
EMU_OPERATOR(^)
#undef EMU_OPERATOR
template <class F> auto operator-(const emu_expression<F> &f)
{
    return emu_express([=](const auto &...a) { return -f(a...); });
}
template <class F> auto operator!(const emu_expression<F> &f)
{
    return emu_express([=](const auto &...a) { return !f(a...); });
}
namespace placeholders
{
static constexpr emu_expression<emu_first> _1{};
static constexpr emu_expression<emu_second> _2{};
} // namespace placeholders

} // namespace thrust

#endif
