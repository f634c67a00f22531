/* cuda::std is the host's own std: what that has is what kernels may use. */
namespace cuda
{
namespace std = ::std;
}
