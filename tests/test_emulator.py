"""The emulator's nvcc and runtime, beside the programs: messages, options, environment."""

import os
import platform
import re
import shutil
import textwrap
from pathlib import Path

import pytest

from conftest import HOST_COMPILERS, ROOT, no_cuda, run

pytestmark = pytest.mark.depends("tests/faults", "tests/programs")

every_compiler = pytest.mark.parametrize("compiler", HOST_COMPILERS)

HELLO = """
    #include <cstdio>
    __global__ void k(int *x, int n) { if (threadIdx.x < (unsigned)n) x[threadIdx.x] = n; }
    int main()
    {
        int *x;
        cudaMalloc(&x, 4 * sizeof *x);
        k<<<1, 32>>>(x, 4);
        cudaFree(x);
        puts("PASS");
    }
    """


@pytest.mark.parametrize("compiler, package", [("g++", "g++"), ("clang++", "clang")])
def test_host_compiler_is_here(compiler, package):
    """Stands for the tests that are left out without it."""
    if compiler not in HOST_COMPILERS:
        pytest.skip(
            f"all tests with {compiler}, which is not here: apt install {package}"
        )


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="user.cu"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return write_file


@pytest.fixture
def nvcc(emulated_nvcc, tmp_path):
    def call(*words, **environment):
        return run([emulated_nvcc, *words], cwd=tmp_path, env=no_cuda() | environment)

    return call


def line_of(text, mark):
    return next(
        n for n, line in enumerate(textwrap.dedent(text).splitlines(), 1) if mark in line
    )


# Programs with a mistake on the line that ends in "// HERE", and what the message names.
MISTAKES = {
    "undeclared variable in a kernel": (
        """
        __global__ void k(int *x)
        {
            __shared__ int tile[32], other[2][
                16];
            tile[threadIdx.x] = other[0][0] = 1;
            x[0] = tile[0] + nothing; // HERE
        }
        int main() { k<<<1, 1>>>(nullptr); }
        """,
        "nothing",
    ),
    "after a launch of several lines": (
        """
        __global__ void k(int *, int) {}
        int main()
        {
            int *x = nullptr;
            k<<<dim3(1,
                     2),
                32>>>(
                x,
                1);
            int y = missing; // HERE
            return y;
        }
        """,
        "missing",
    ),
    "wrong type for a kernel's argument": (
        """
        __global__ void k(float *x) { *x = 0; }
        int main()
        {
            int *x = nullptr;
            k<<<1, 32>>>(x); // HERE
        }
        """,
        "int*",
    ),
    "too few arguments": (
        """
        __global__ void k(float *x, int n) { *x = n; }
        int main()
        {
            k<<<1, 32>>>(nullptr); // HERE
        }
        """,
        "k",
    ),
    "a kernel called like a function": (
        """
        __global__ void k(float *x) { *x = 0; }
        __global__ void named(int *x) { *x = 0; }
        struct other { void named(int) {} };
        int main()
        {
            other().named(3);
            k(nullptr); // HERE
        }
        """,
        "<<<grid, block>>>",
    ),
    "a launch of a device function": (
        """
        __device__ void answer(int *x) { *x = 42; }
        int main()
        {
            answer<<<1, 32>>>(nullptr); // HERE
        }
        """,
        "answer is a __device__ function",
    ),
    "a function of the host called in a kernel": (
        """
        static int square(int x) { return x * x; }
        constexpr int twice(int x) { return 2 * x; }
        __global__ void k(int *x)
        {
            if (*x) *x = twice(1);
            *x = square(3); // HERE
        }
        int main() { k<<<1, 1>>>(nullptr); return square(0); }
        """,
        "square is a function of the host",
    ),
    "a function of the C library called in a kernel": (
        """
        #include <cstdlib>
        __global__ void k(int *x) { *x = rand(); } // HERE
        int main() { k<<<1, 1>>>(nullptr); }
        """,
        "rand is a function of the host",
    ),
    "a device function called by the host": (
        """
        __device__ int square(int x) { return x * x; }
        __host__ __device__ int cube(int x) { return x * x * x; }
        int main()
        {
            int both = cube(1);
            return both + square(1); // HERE
        }
        """,
        "square is a __device__ function",
    ),
    "a kernel that returns something": (
        """
        __global__ int k(int *x) { return *x; } // HERE
        int main() { k<<<1, 1>>>(nullptr); }
        """,
        "a __global__ function must return void",
    ),
    "an exception in a kernel": (
        """
        struct matrix { int rows; matrix() throw() : rows(1) { if (!rows) throw 1; } };
        __global__ void k(int *x)
        {
            auto one = []() throw() { return 1; };
            if (*x != one()) throw 1; // HERE
        }
        int main() { try { matrix m; return m.rows - 1; } catch (int) { return 2; } }
        """,
        "device code does not support exceptions",
    ),
    "a kernel that writes to a stream of C++": (
        """
        #include <iostream>
        #include <vector>
        using namespace std;
        struct list { int string; };
        __device__ int to_string(list l) { return l.string; }
        __global__ void k(int *x, list l)
        {
            std::vector<int>::value_type vector = to_string(l) << 2;
            cout << vector + *x << "\\n"; // HERE
        }
        int main() { vector<int> v(3); cout << v.size() << "\\n"; }
        """,
        "cout is of the host's library; a kernel can only call __device__ functions",
    ),
    "a kernel with a vector that grows": (
        """
        #include <vector>
        using namespace std;
        __host__ __device__ int one() { return 1; }
        __global__ void k(int *x)
        {
            vector<int> v(*x); // HERE
            *x = v[0] + one();
        }
        int main() { vector<int> v(3); return (int)v.size() - 3 * one(); }
        """,
        "vector is of the host's library; a kernel can only call __device__ functions",
    ),
    "a type looked up while a kernel runs": (
        """
        struct shape { virtual __device__ int corners() { return 0; } };
        struct square : shape { __device__ int corners() { return 4; } };
        __device__ int corners(shape *s)
        {
            return dynamic_cast<square *>(s) != nullptr; // HERE
        }
        __global__ void k(int *x) { square s; *x = corners(&s); }
        int main() { square s; return dynamic_cast<shape *>(&s) == nullptr; }
        """,
        "dynamic_cast is not allowed in device code",
    ),
    "a shared array whose size only the launch knows": (
        """
        template <int N> __global__ void fixed(int *x)
        {
            __shared__ int s[2 * N][sizeof(int)];
            s[0][0] = 1;
            *x = s[0][0];
        }
        __global__ void k(int *x)
        {
            __shared__ int s[4][blockDim.x]; // HERE
            s[0][0] = 1;
            *x = s[0][0];
        }
        int main() { fixed<4><<<1, 1>>>(nullptr); k<<<1, 1>>>(nullptr); }
        """,
        "the size of __shared__ s must be a constant",
    ),
    "a local array whose size only the launch knows": (
        """
        template <int N> __global__ void fixed(int *x)
        {
            int s[2 * N][sizeof(int)], n = N;
            s[0][0] = n;
            *x = s[0][0];
        }
        __host__ void host(int n) { int a[n]; a[0] = n; }
        __global__ void k(int *x, const int n)
        {
            const int two = 2 * n;
            int one = 1, s[4], all[two]; // HERE
            all[0] = s[0] = one;
            *x = all[0] + s[0];
        }
        int main() { fixed<4><<<1, 1>>>(nullptr); k<<<1, 1>>>(nullptr, 3); host(2); }
        """,
        "the size of all must be a constant",
    ),
    "a method of the host called in a kernel": (
        """
        struct shape
        {
            int side;
            int area() const { return side * side; }
            __device__ int edge() { return side; }
            int (*corners)(int);
        };
        struct other { int corners(int n) { return n; } };
        __global__ void k(int *x, shape s)
        {
            struct local { int area_of(shape s) { return s.side; } } l;
            *x = s.edge() + s.corners(4) + l.area_of(s);
            *x = s.area(); // HERE
        }
        int main() { shape s = {2}; k<<<1, 1>>>(nullptr, s); return s.area() - 4; }
        """,
        "area is a function of the host",
    ),
    "a kernel that was not marked as one": (
        """
        void plain(int *x) { *x = 1; }
        void through(void (*plain)(int *)) { plain<<<1, 1>>>(nullptr); }
        int main()
        {
            plain<<<1, 1>>>(nullptr); // HERE
        }
        """,
        "plain is a function of the host; only a __global__ function can be launched",
    ),
    "a kernel that is a method": (
        """
        struct shape
        {
            friend __global__ void good(shape s, int *x);
            __global__ void k(int *x) { *x = 1; } // HERE
        };
        __global__ void good(shape, int *x) { *x = 1; }
        int main() { good<<<1, 1>>>(shape(), nullptr); }
        """,
        "a __global__ function cannot be a member of a class",
    ),
    "a variable of the device in a function": (
        """
        __global__ void k(int *x)
        {
            static __device__ int counter;
            __constant__ int table[2]; // HERE
            *x = counter + table[0];
        }
        int main() { k<<<1, 1>>>(nullptr); }
        """,
        "a variable of the device in a function must be static",
    ),
    "a lambda that keeps references to the host": (
        """
        template <class F> __global__ void k(int *x, F f) { f(*x); }
        __global__ void inside(int *x)
        {
            const auto own = [&] __device__(int n) { return n + *x; };
            *x = own(1);
        }
        int main()
        {
            int n = 1;
            inside<<<1, 1>>>(nullptr);
            k<<<1, 1>>>(nullptr, [n, p = &n] __device__(int &x) { x = n; });
            k<<<1, 1>>>(nullptr, [&] __device__(int &x) { x = n; }); // HERE
        }
        """,
        "cannot capture by reference",
    ),
    "dynamic shared memory of one name and two types": (
        """
        __global__ void first(int *x) { extern __shared__ int all[]; *x = all[0]; }
        __global__ void same(int *x) { extern __shared__ __align__(16) int all[]; *x = all[0]; }
        namespace other
        {
        __global__ void k(float *x) { extern __shared__ float all[]; *x = all[0]; }
        }
        __global__ void k(float *x)
        {
            extern __shared__ float all[]; // HERE
            *x = all[0];
        }
        int main() { first<<<1, 1, 4>>>(nullptr); k<<<1, 1, 4>>>(nullptr); }
        """,
        "extern __shared__ all is one variable",
    ),
    "a kernel's name with letters that nvcc does not take": (
        """
        __global__ void κ(int *Π) { *Π = 1; } // HERE
        int main() { int ψ = 0; return ψ; }
        """,
        "Universal character is not allowed in device entity name",
    ),
    "unknown kernel": (
        """
        int main()
        {
            no_such_kernel<<<1, 32>>>(); // HERE
        }
        """,
        "no_such_kernel",
    ),
    "a launch that is not closed": (
        """
        __global__ void k() {}
        int main()
        {
            k<<<1, 32>>(); // HERE
        }
        """,
        "",
    ),
    "a block with five dimensions": (
        """
        __global__ void k() {}
        int main()
        {
            k<<<1, dim3(1, 2, 3, 4, 5)>>>(); // HERE
        }
        """,
        "dim3",
    ),
    "missing semicolon": (
        """
        /* a comment
         * of several lines */
        #define LONG \\
            one two
        __device__ int f()
        {
            int a = 1 // HERE
            return a;
        }
        int main() {}
        """,
        "",
    ),
    "in a template": (
        """
        template <typename T, int N> __global__ void k(T *x)
        {
            extern __shared__ T cache[];
            cache[N] = *x;
            *x = cache[N].length; // HERE
        }
        int main() { k<float, 2><<<1, 1, 64>>>(nullptr); }
        """,
        "length",
    ),
}


@every_compiler
@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_reported_at_its_line(name, compiler, write, nvcc):
    text, named = MISTAKES[name]
    result = nvcc("-ccbin", compiler, write(text))
    assert result.returncode != 0
    where = [
        int(n) for n in re.findall(r"\buser\.cu:(\d+)(?::\d+)?: error", result.stderr)
    ]
    here = line_of(text, "// HERE")
    # Compilers see a missing semicolon only at the next word.
    assert where and where[0] in (here, here + 1), result.stderr
    assert named.replace("*", " *") in result.stderr or named in result.stderr


def test_mistake_in_a_header(write, nvcc):
    write("#pragma once\n__device__ int f() { return 1; }\nint broken(;\n", "mine.h")
    result = nvcc(write('#include "mine.h"\nint main() {}\n'))
    assert result.returncode != 0
    assert re.search(r"mine\.h:3:\d+: error", result.stderr), result.stderr


@every_compiler
def test_warnings_are_the_users_own(compiler, write, nvcc):
    text = """
        __global__ void k(int *x)
        {
            int unused; // HERE
            *x = 1;
        }
        int main() { k<<<1, 1>>>(nullptr); }
        """
    result = nvcc("-ccbin", compiler, "-Xcompiler", "-Wall,-Wextra", write(text))
    assert result.returncode == 0
    assert set(re.findall(r"^(\S+?):(\d+):\d+: warning", result.stderr, re.M)) == {
        (
            re.search(r"^(\S*user\.cu):", result.stderr, re.M)[1],
            str(line_of(text, "// HERE")),
        )
    }


# What the emulator has not: the compiler must say so, and name it.
UNSUPPORTED = {
    "cudaGraphicsGLRegisterBuffer": "cudaGraphicsGLRegisterBuffer(0, 0, 0);",
    "cudaMallocMipmappedArray": "cudaMallocMipmappedArray(0, 0, 1, 1);",
    "cudaGraphicsMapResources": "cudaGraphicsMapResources(1, 0);",
    "cudaIpcGetMemHandle": "cudaIpcGetMemHandle(0, 0);",
    "cuModuleLoad": "cuModuleLoad(0, 0);",
    "cublasCgemm": "cublasCgemm(0);",
    "__shfl_down_sync": "return __shfl_down(1, 2);",
}


@every_compiler
@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_call_names_itself(name, compiler, write, nvcc):
    text = f"#include <cublas_v2.h>\nint main()\n{{\n    {UNSUPPORTED[name]}\n}}\n"
    result = nvcc("-ccbin", compiler, write(text))
    assert result.returncode != 0
    assert re.search(rf"user\.cu:4:\d+: error: .*\b{name}\b", result.stderr), (
        result.stderr
    )


@every_compiler
@pytest.mark.parametrize("header", ["npp.h", "cuda/std/expected", "cuda/memory_resource"])
def test_missing_library_is_said(header, compiler, write, nvcc, tmp_path):
    (tmp_path / "npp").mkdir()
    source = write(f"#include <{header}>\nint main() {{}}\n", "npp/npp_user.cu")
    result = nvcc("-ccbin", compiler, source)
    assert result.returncode != 0
    assert f"{header} is not part of the emulator" in result.stderr
    assert result.stderr.count("is not part of the emulator") == 1


@every_compiler
@pytest.mark.parametrize("bits", [4, 6])
def test_small_numbers_of_another_toolkit_are_not_taken(bits, compiler, write, nvcc):
    result = nvcc(
        "-ccbin", compiler, write(f"#include <cuda_fp{bits}.h>\nint main() {{}}\n")
    )
    assert result.returncode != 0
    assert result.stderr.count("error: ") == 1
    assert f"the emulator has no numbers of {bits} bits" in result.stderr


@every_compiler
def test_library_of_another_toolkit_is_not_taken(compiler, write, nvcc, tmp_path):
    """NVIDIA's own, where a system has it for all compilers, would find no GPU."""
    (tmp_path / "elsewhere").mkdir()
    write("int cufftNothing(void) { return nonsense; }\n", "elsewhere/cufft.h")
    program = write("#include <cufft.h>\nint main() {}\n")
    result = nvcc("-ccbin", compiler, f"-I{tmp_path / 'elsewhere'}", program)
    assert result.returncode != 0
    assert result.stderr.count("cufft.h is not part of the emulator") == 1
    unneeded = nvcc("-ccbin", compiler, write("int main() {}\n"), "-lcufft", "-lcusparse")
    assert unneeded.returncode == 0, unneeded.stderr
    needs = write('extern "C" int cufftDestroy(int);\nint main() { cufftDestroy(0); }\n')
    needed = nvcc("-ccbin", compiler, needs, "-lcufft")
    assert needed.returncode != 0
    assert "-lcufft is not part of the emulator" in needed.stderr


@every_compiler
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_function_of_a_missing_library_is_said(linker, compiler, write, nvcc):
    """NVIDIA's header may lie where all compilers look, and its library is named or not."""
    if not shutil.which(f"ld.{linker}"):
        pytest.skip(f"there is no ld.{linker}")
    source = write(
        """
        extern "C" int cufftCreate(int *), cufftDestroy(int), cusparseCreate(int *);
        int nobody(void);
        int main()
        {
            int x;
            return cufftCreate(&x) + cufftDestroy(x) + cusparseCreate(&x) + nobody();
        }
        """
    )
    words = ["-ccbin", compiler, f"-Xcompiler=-fuse-ld={linker}", source]
    result = nvcc(*words)
    assert result.returncode != 0
    said = re.findall(
        r"nvcc: (\w+) is not part of the emulator, which has", result.stderr
    )
    assert said == ["cufftCreate", "cusparseCreate"], result.stderr
    named = nvcc(*words, "-lcufft")
    said = re.findall(r"nvcc: (\S+) is not part of the emulator", named.stderr)
    assert said == ["-lcufft", "cusparseCreate"], named.stderr


@every_compiler
def test_texture_references_are_said_to_be_gone(compiler, write, nvcc):
    result = nvcc("-ccbin", compiler, write("texture<float, 1> t;\nint main() {}\n"))
    assert result.returncode != 0
    assert "CUDA has no texture references any more" in result.stderr


@pytest.mark.parametrize(
    "flags",
    [
        "-arch=sm_80 -O3 -lineinfo",
        "-arch sm_90a -O2 --use_fast_math -g -G",
        "-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=[sm_90,compute_90] -O0",
        "-gencode arch=compute_60,code=sm_60 -gencode arch=compute_80,code=sm_80",
        "--gpu-architecture=sm_75 -Xptxas -v,-O3 -maxrregcount=64 -rdc=true --threads 2",
        "-std=c++14 --expt-relaxed-constexpr --extended-lambda -Wno-deprecated-gpu-targets -w",
        "--std=c++20 -Xcompiler=-Wall -Xcompiler -Wextra -Xlinker --as-needed --compiler-options -fno-inline",
        "-std=c++11 -O1",
        "-std=c++17 -Ofc max",
        "-std=c++17 --Ofast-compile=min",
        "-std=c++17 -cudart static -lcudart -lcublas -lm -restrict -ftz=true -Werror all-warnings",
        "-Xcudafe --diag_suppress=177 -Xcudafe=--display_error_number",
    ],
)
def test_options_people_use(flags, write, nvcc, tmp_path):
    result = nvcc(*flags.split(), write(HELLO), "-o", "hello")
    assert (result.returncode, result.stderr) == (0, "")
    assert run([tmp_path / "hello"], env=no_cuda()).stdout == "PASS\n"


@pytest.mark.parametrize("flags", ["-arch=sm_35", "-gencode=arch=compute_70,code=sm_70"])
def test_old_architectures_of_makefiles(flags, write, nvcc, tmp_path):
    source = HELLO.replace(
        "#include", "#if __CUDA_ARCH__ != 750\n#error\n#endif\n#include", 1
    )
    result = nvcc(flags, write(source), "-o", "hello")
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"nvcc warning : CUDA 13 knows \w+ no more; .*\n", result.stderr)
    assert run([tmp_path / "hello"], env=no_cuda()).stdout == "PASS\n"


# A library of two files that are linked as device code, used from C++; NVIDIA's name for cuBLAS; and where CUDA 13
# has what is written in C++, which a program that compiles while it runs may want beside it.
CMAKE_LISTS = """
    cmake_minimum_required(VERSION 3.18)
    project(two LANGUAGES CXX CUDA)
    find_package(CUDAToolkit 13 REQUIRED)
    add_library(kernels STATIC kernel.cu twice.cu)
    set_target_properties(kernels PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
    target_compile_options(kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
    add_executable(main main.cpp)
    target_link_libraries(main PRIVATE kernels CUDA::cublas CUDA::cudart)
    list(GET CUDAToolkit_INCLUDE_DIRS 0 headers)
    add_custom_command(TARGET main POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E copy_directory ${headers}/cccl/cuda ${headers}/cccl/nv include)
    """


@pytest.mark.skipif(
    not shutil.which("cmake"), reason="cmake is not here: apt install cmake"
)
@every_compiler
def test_cmake_takes_it_for_a_compiler(compiler, emulated_nvcc, write, tmp_path):
    write(CMAKE_LISTS, "CMakeLists.txt")
    write("__device__ int twice(int x) { return 2 * x; }", "twice.cu")
    write(
        """
        extern __device__ int twice(int);
        __global__ void k(int *x) { *x = twice(*x); }
        void run(int *x) { k<<<1, 1>>>(x); }
        """,
        "kernel.cu",
    )
    write(
        """
        #include <cublas_v2.h>
        #include <cstdio>
        void run(int *);
        int main()
        {
            cublasHandle_t handle;
            int *d, x = 21;
            cublasCreate(&handle);
            cudaMalloc(&d, sizeof x);
            cudaMemcpy(d, &x, sizeof x, cudaMemcpyHostToDevice);
            run(d);
            cudaMemcpy(&x, d, sizeof x, cudaMemcpyDeviceToHost);
            printf("%d\\n", x);
            cudaFree(d);
            cublasDestroy(handle);
        }
        """,
        "main.cpp",
    )
    settings = {
        "CXX_COMPILER": compiler,
        "CUDA_HOST_COMPILER": compiler,
        "CUDA_COMPILER": emulated_nvcc,
        "IGNORE_PREFIX_PATH": "/usr/local",  # a toolkit there would come first
    }
    configure = ["cmake", "-B", "build"]
    configure += [f"-DCMAKE_{name}={value}" for name, value in settings.items()]
    for command in (configure, ["cmake", "--build", "build"]):
        result = run(command, cwd=tmp_path, env=no_cuda())
        assert result.returncode == 0, result.stdout + result.stderr
    assert run([tmp_path / "build" / "main"], env=no_cuda()).stdout == "42\n"


@pytest.mark.skipif(
    not shutil.which("cmake"), reason="cmake is not here: apt install cmake"
)
@every_compiler
def test_cmake_takes_it_for_a_toolkit(compiler, emulated_nvcc, write, tmp_path):
    """A project that has no language but C++ never asks nvcc: its compiler links NVIDIA's
    libraries by their names."""
    write(
        """
        cmake_minimum_required(VERSION 3.18)
        project(one LANGUAGES CXX)
        find_package(CUDAToolkit 13 REQUIRED)
        add_executable(main main.cpp)
        target_link_libraries(main PRIVATE CUDA::cudart CUDA::cublas)
        """,
        "CMakeLists.txt",
    )
    write(
        """
        #include <cublas_v2.h>
        #include <cuda_runtime.h>
        #include <cstdio>
        int main()
        {
            const double x[] = {3, 4};
            double *d, length = 0;
            cublasHandle_t handle;
            cublasCreate(&handle);
            cudaMalloc(&d, sizeof x);
            cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice);
            cublasDnrm2(handle, 2, d, 1, &length);
            printf("%g\\n", length);
            cudaFree(d);
            cublasDestroy(handle);
        }
        """,
        "main.cpp",
    )
    configure = ["cmake", "-B", "build", f"-DCMAKE_CXX_COMPILER={compiler}"]
    configure += [f"-DCUDAToolkit_ROOT={emulated_nvcc.parents[1]}"]
    for command in (configure, ["cmake", "--build", "build"]):
        result = run(command, cwd=tmp_path, env=no_cuda())
        assert result.returncode == 0, result.stdout + result.stderr
    assert run([tmp_path / "build" / "main"], env=no_cuda()).stdout == "5\n"


C_COMPILERS = {"g++": "gcc", "clang++": "clang"}


@every_compiler
def test_a_compiler_of_c_links_kernels(compiler, emulated_nvcc, write, tmp_path):
    """As Makefiles do whose programs are in C but for a file: with -L$(CUDA_PATH)/lib64."""
    write(
        """
        struct guard { ~guard() { cudaDeviceSynchronize(); } };
        __global__ void twice(int *x) { *x *= 2; }
        extern "C" int launch(int value)
        {
            int *x;
            cudaMallocManaged(&x, sizeof *x);
            *x = value;
            {
                guard g;
                twice<<<1, 1>>>(x);
            }
            value = *x;
            cudaFree(x);
            return value;
        }
        """,
        "kernel.cu",
    )
    write("int launch(int); int main(void) { return launch(21); }\n", "main.c")
    link = [C_COMPILERS[compiler], "main.c", "kernel.o", "-o", "main"]
    link += [f"-L{emulated_nvcc.parents[1] / 'lib64'}", "-lcuda", "-lcudart", "-lm"]
    for command in ([emulated_nvcc, "-ccbin", compiler, "-c", "kernel.cu"], link):
        result = run(command, cwd=tmp_path, env=no_cuda())
        assert result.returncode == 0, result.stdout + result.stderr
    assert run([tmp_path / "main"], env=no_cuda()).returncode == 42


MODULE = """
    static __constant__ int shift;
    extern "C" __global__ void move(int *x, int n)
    {
        x[threadIdx.x] = shift + n;
    }
    template <class T> __global__ void fill(T *x, T by) { x[threadIdx.x] = by; }
    template __global__ void fill<int>(int *, int);
    __global__ void add(float *x, int by) { x[threadIdx.x] += by; }
    __global__ void add(int *x, const int by) { x[threadIdx.x] += by; }
    """
LOADER = """
    #include <cuda.h>
    #include <cstdio>
    int main(int count, char **words)
    {
        CUdevice device;
        CUcontext context;
        CUmodule module;
        CUfunction move;
        CUdeviceptr d_x, shift;
        int x[32], by = 40, n = 2;
        const char *error;
        size_t bytes;
        cuInit(0);
        cuDeviceGet(&device, 0);
        cuCtxCreate(&context, 0, device);
        CUresult result;
        if (count > 3) { // what else to link it with
            CUlinkState linker;
            void *cubin;
            cuLinkCreate(0, nullptr, nullptr, &linker);
            cuLinkAddFile(linker, CU_JIT_INPUT_CUBIN, words[1], 0, nullptr, nullptr);
            result = cuLinkAddFile(linker, CU_JIT_INPUT_LIBRARY, words[3], 0, nullptr,
                                   nullptr);
            if (result == CUDA_SUCCESS) result = cuLinkComplete(linker, &cubin, &bytes);
            if (result == CUDA_SUCCESS) result = cuModuleLoadData(&module, cubin);
            cuLinkDestroy(linker);
        } else
            result = cuModuleLoad(&module, words[1]);
        cuGetErrorName(result, &error);
        puts(error);
        if (result != CUDA_SUCCESS) return 3;
        cuModuleGetFunction(&move, module, "move");
        cuModuleGetGlobal(&shift, &bytes, module, "shift");
        cuMemcpyHtoD(shift, &by, bytes);
        cuMemAlloc(&d_x, count == 3 ? 16 : sizeof x);
        void *arguments[] = {&d_x, &n};
        cuLaunchKernel(move, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
        cuMemcpyDtoH(x, d_x, sizeof x);
        cuModuleGetFunction(&move, module, "_Z4fillIiEvPT_S0_");
        cuLaunchKernel(move, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
        cuModuleGetFunction(&move, module, "_Z3addPii");
        cuLaunchKernel(move, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
        cuMemcpyDtoH(x, d_x, sizeof x[0]);
        printf("%d %d\\n", x[31], x[0]);
        cuMemFree(d_x);
        cuCtxDestroy(context);
    }
    """


# NVIDIA's linker wants to be told of -lcuda; here all libraries are one.
@pytest.mark.parametrize("by", ["nvcc", "nvcc without -lcuda", "the host's compiler"])
@every_compiler
def test_modules_are_loaded(compiler, by, emulated_nvcc, write, tmp_path):
    env = no_cuda() | {"NVCC_CCBIN": compiler}
    source, main = write(MODULE, "move.cu"), write(LOADER, "main.cpp")
    link = [emulated_nvcc, main]
    if by == "the host's compiler":
        emulator = emulated_nvcc.parents[1]
        link = [compiler, main, f"-I{emulator / 'include'}"]
        link += [f"-L{emulator / 'build/toolkit/lib64'}"]
    for command in (
        [emulated_nvcc, "-cubin", source, "-o", "move.cubin"],
        [emulated_nvcc, "-fatbin", source],
        [emulated_nvcc, "--ptx", source, "-o", "move.ptx"],
        [*link, *["-lcuda"][: by != "nvcc without -lcuda"], "-o", "main"],
    ):
        result = run(command, cwd=tmp_path, env=env)
        assert result.returncode == 0, result.stdout + result.stderr
    for kind in ("cubin", "fatbin", "ptx"):
        result = run(["./main", f"move.{kind}"], cwd=tmp_path, env=env)
        assert result.stdout == "CUDA_SUCCESS\n42 4\n", result.stderr
        assert result.stderr == ""
        result = run(["./main", f"move.{kind}", "short"], cwd=tmp_path, env=env)
        assert result.returncode == 1
        assert re.search(r"^  at \S*move\.cu:5: x\[thr", result.stderr, re.M), (
            result.stderr
        )
    library = emulated_nvcc.parents[1] / "build/toolkit/lib64/libcudadevrt.a"
    result = run(["./main", "move.cubin", "with", library], cwd=tmp_path, env=env)
    assert result.stdout == "CUDA_SUCCESS\n42 4\n", result.stderr
    result = run(["./main", "move.cubin", "with", "move.cubin"], cwd=tmp_path, env=env)
    assert result.stdout == "CUDA_ERROR_NOT_SUPPORTED\n"
    assert "cannot link two into one" in result.stderr


@pytest.mark.parametrize(
    "image, error, said",
    [
        (b".version 9.0\n.target sm_90\n.address_size 64\n", "INVALID_PTX", "it is PTX"),
        (b"\x50\xed\x55\xba" + bytes(100), "NO_BINARY_FOR_GPU", "NVIDIA's fatbin"),
        (
            b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xbe\x00" + bytes(100),
            "NO_BINARY_FOR_GPU",
            "machine code for a GPU",
        ),
        (b"what is this" + bytes(100), "INVALID_IMAGE", "neither a module nor PTX"),
        (None, "FILE_NOT_FOUND", ""),
    ],
    ids=["ptx", "fatbin", "cubin", "nonsense", "missing"],
)
def test_what_is_no_module_of_ours_is_refused(image, error, said, nvcc, write, tmp_path):
    nvcc(write(LOADER, "main.cpp"), "-lcuda", "-o", "main")
    if image is not None:
        (tmp_path / "image").write_bytes(image)
    result = run(["./main", "image"], cwd=tmp_path, env=no_cuda())
    assert (result.returncode, result.stdout) == (3, f"CUDA_ERROR_{error}\n")
    assert said in result.stderr and result.stderr.count("\n") == bool(said)


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not shutil.which("g++"), reason="g++ for x86-64"
)
def test_hooks_are_asked_before_they_are_called(write, nvcc, tmp_path):
    """Calls of those that nobody wants to hear would be a third of the time; the assembler puts
    a jump before each, if it knows the hook by the name that the compiler gives it."""
    nvcc("-ccbin", "g++", "-c", write(HELLO), "-o", "hello.o")
    told = run(["objdump", "-dr", "--no-show-raw-insn", tmp_path / "hello.o"]).stdout
    hooks = r"\t([a-z]+) .*\n.*\tcall .*\n.*\b(__sanitizer_cov_trace_pc|__tsan_write4)-"
    before = re.findall(hooks, told)
    assert {hook for _, hook in before} == {"__sanitizer_cov_trace_pc", "__tsan_write4"}
    assert {instruction for instruction, _ in before} <= {"je", "jb"}


def test_options_from_a_file(write, nvcc, tmp_path):
    (tmp_path / "more options").write_text('-DWORD="two words"\n  -std=c++17\t-w\n')
    (tmp_path / "options").write_text('-optf "more options" -o hello')
    write(
        "#include <cstdio>\n#define TEXT(x) TEXT_OF(x)\n#define TEXT_OF(x) #x\n"
        "int main(int n, char **words) { puts(n > 1 ? words[n - 1] : TEXT(WORD)); return 7; }"
    )
    result = nvcc("--options-file", "options", "user.cu")
    assert (result.returncode, result.stderr) == (0, "")
    assert run([tmp_path / "hello"], env=no_cuda()).stdout == "two words\n"
    missing = nvcc("user.cu", "-optf=nowhere")
    assert missing.returncode == 1 and "cannot open 'nowhere'" in missing.stderr


def test_what_was_built_is_run(write, nvcc):
    source = write(
        "#include <cstdio>\n"
        "int main(int n, char **words) { puts(words[n - 1]); return n; }"
    )
    result = nvcc(source, "-run", "-run-args", "one,two")
    assert (result.returncode, result.stdout, result.stderr) == (3, "two\n", "")
    assert nvcc(source, "--run", "-o", "p", "--dryrun").returncode == 0


@pytest.mark.parametrize(
    "flags, optimised",
    [("", 1), ("-O1", 1), ("-O0", 0), ("-g", 0), ("-G", 0), ("-Xcompiler -O0", 0)],
)
def test_host_code_is_optimised_unless_asked_otherwise(flags, optimised, write, nvcc):
    """What a program compares its results with takes its time, too."""
    write(
        "int main()\n{\n#ifdef __OPTIMIZE__\n return 1;\n#endif\n return 0;\n}\n",
        "user.cpp",
    )
    assert nvcc(*flags.split(), "user.cpp", "-run").returncode == optimised


@every_compiler
def test_a_product_and_a_sum_are_rounded_one_after_the_other(compiler, write, nvcc):
    """Also where the host has one operation for both: results do not depend on the host."""
    device = """
        __global__ void kernel(float x, float *d)
        {
            d[0] = x * x - 1.0f;
            d[1] = __fadd_rn(__fmul_rn(x, x), -1.0f);
            d[2] = fmaf(x, x, -1.0f);
        }
        float on_host(float x);
        int main(int argc, char **)
        {
            float x = argc + 0x1p-12f, *d; // x * x = 1 + 2^-11 + 2^-24
            cudaMallocManaged(&d, 3 * sizeof *d);
            kernel<<<1, 1>>>(x, d);
            cudaDeviceSynchronize();
            const float rounded = 0x1p-11f;
            return !(d[0] == rounded && d[1] == rounded && d[2] > rounded && on_host(x) == rounded);
        }
    """
    write("float on_host(float x) { return x * x - 1.0f; }", "host.cpp")
    cpu = Path("/proc/cpuinfo").read_text().split()
    fused = ["-Xcompiler", "-mfma"] if "fma" in cpu else []
    result = nvcc("-ccbin", compiler, *fused, write(device), "host.cpp", "-run")
    assert result.returncode == 0, result.stderr


def test_managed_memory_begins_with_zeros(write, nvcc, tmp_path):
    """CUDA does not promise it; GPUs do it, and no check reports a program that relies on it."""
    write(
        """
        #include <cstdio>
        __global__ void count(int *sum) { atomicAdd(sum, 1); }
        int main()
        {
            int *sum;
            cudaMallocManaged(&sum, sizeof *sum);
            count<<<1, 32>>>(sum);
            cudaDeviceSynchronize();
            printf("%d\\n", *sum);
            cudaFree(sum);
        }
        """
    )
    assert nvcc("user.cu").returncode == 0
    assert run([tmp_path / "a.out"], env=no_cuda()).stdout == "32\n"


def test_objects_defines_and_folders(write, nvcc, tmp_path):
    (tmp_path / "with space").mkdir()
    write("#define ANSWER 6 * FACTOR\n", "with space/answer.h")
    write(
        "#include <answer.h>\n__global__ void k(int *x) { *x = ANSWER; }\n"
        "void launch(int *x) { k<<<1, 1>>>(x); }\n",
        "part.cu",
    )
    main = write(
        """
        #include <cstdio>
        void launch(int *x);
        int main()
        {
            int *x;
            cudaMallocManaged(&x, sizeof *x);
            launch(x);
            cudaDeviceSynchronize();
            printf("%d\\n", *x);
            cudaFree(x);
            return 3;
        }
        """,
        "main program.cpp",
    )
    assert nvcc("-c", "-DFACTOR=7", "-Iwith space", "part.cu").returncode == 0
    assert (tmp_path / "part.o").exists()
    compiled = nvcc("-x", "cu", "-c", main, "-o", "main.o")
    assert (compiled.returncode, compiled.stderr) == (0, "")
    linked = nvcc("main.o", "part.o")
    assert (linked.returncode, linked.stderr) == (0, "")
    result = run([tmp_path / "a.out"], env=no_cuda())
    assert (result.returncode, result.stdout) == (
        3,
        "42\n",
    )  # the program's own exit code


@every_compiler
def test_a_static_library_of_kernels(compiler, write, nvcc, tmp_path):
    body = "__global__ void {0}(int *x) {{ *x += {1}; }}\nvoid go_{0}(int *x) {{ {0}<<<1, 1>>>(x); }}\n"
    write(body.format("one", 1), "one.cu")
    write(body.format("two", 20), "two.cu")
    main = write(
        """
        #include <cstdio>
        void go_one(int *x);
        void go_two(int *x);
        int main()
        {
            int *x;
            cudaMallocManaged(&x, sizeof *x);
            go_one(x);
            go_two(x);
            cudaDeviceSynchronize();
            printf("%d\\n", *x);
            cudaFree(x);
        }
        """
    )
    assert nvcc("-ccbin", compiler, "-c", "two.cu").returncode == 0
    for flag, where in (("-lib", "libx.a"), ("--lib", "liby.a")):
        built = nvcc("-ccbin", compiler, flag, "one.cu", "two.o", "-lm", "-o", where)
        assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
        linked = nvcc("-ccbin", compiler, main, "-L.", f"-l{where[3]}")
        assert (linked.returncode, linked.stderr) == (0, "")
        assert run([tmp_path / "a.out"], env=no_cuda()).stdout == "21\n"
    again = nvcc("-ccbin", compiler, "-lib", "one.cu", "two.cu")
    assert (again.returncode, again.stderr) == (0, "")
    assert nvcc("-ccbin", compiler, main, "a.a", "-o", "other").returncode == 0
    assert run([tmp_path / "other"], env=no_cuda()).stdout == "21\n"


def test_architectures_are_listed(nvcc):
    codes = nvcc("--list-gpu-code")
    assert codes.returncode == 0 and codes.stdout.startswith("sm_75\nsm_80\n")
    virtual = nvcc("--list-gpu-arch")
    assert virtual.stdout == codes.stdout.replace("sm_", "compute_")


def test_file_and_line_stay_the_users(write, emulate):
    text = """
        #include <cstdio>
        #include <cstring>
        #define WHERE __FILE__, __LINE__
        static int say(const char *file, int line)
        {
            return printf("%s %d\\n", strrchr(file, '/') + 1, line);
        }
        __global__ void k(int *x) { extern __shared__ int s[]; s[0] = 1; *x = __LINE__ + s[0]; }
        int main()
        {
            int *x;
            cudaMallocManaged(&x, sizeof *x);
            k<<<1, 1, sizeof(int)>>>(
                x); say(WHERE);
            cudaDeviceSynchronize();
            printf("kernel %d\\n", *x - 1);
            cudaFree(x);
        }
        """
    result = run([emulate(write(text))], env=no_cuda())
    assert result.stdout == (
        f"user.cu {line_of(text, 'say(WHERE)')}\nkernel {line_of(text, '__global__')}\n"
    )


@pytest.mark.parametrize(
    "words, message",
    [(["--nope", "x.cu"], "--nope"), (["missing.cu"], "missing.cu"), ([], "input")],
)
def test_misuse_is_one_line(words, message, nvcc):
    result = nvcc(*words)
    assert result.returncode != 0
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr


def test_runs_through_a_link_and_from_anywhere(emulated_nvcc, write, tmp_path):
    write(HELLO)
    os.symlink(emulated_nvcc, tmp_path / "nvcc")
    result = run(["./nvcc", "user.cu", "-o", "hello"], cwd=tmp_path, env=no_cuda())
    assert (result.returncode, result.stderr) == (0, "")


def test_a_leak_is_a_fault_on_request(emulate):
    program = emulate(ROOT / "tests" / "faults" / "leak.cu")
    told = "memory leak: 4000 bytes in 1 allocation never freed"
    quiet = run([program], env=no_cuda())
    assert (quiet.returncode, quiet.stdout) == (0, "PASS\n")
    assert f"warning: {told}" in quiet.stderr
    strict = run([program], env=no_cuda() | {"LEAKS": "1"})
    assert strict.returncode == 1 and f"FAULT {told}" in strict.stderr


def test_an_array_that_leaks_is_where_it_was_asked_for(write, emulate):
    program = emulate(
        write(
            """
            int main()
            {
                cudaArray_t array;
                const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
                cudaMallocArray(&array, &floats, 64, 4);
            }
            """
        )
    )
    result = run([program], env=no_cuda() | {"LEAKS": "1"})
    assert result.returncode == 1
    assert re.search(r"cudaMallocArray at .*user\.cu:6", result.stderr), result.stderr


@pytest.mark.parametrize(
    "name",
    [
        "barrier_two_branches",
        "barrier_early_return",
        "barrier_named_lane_ended",
        "shuffle_missing_lanes",
        "shuffle_two_branches",
        "shared_not_aligned_float4",
    ],
)
def test_what_the_hardware_runs_can_be_let_pass(name, emulate):
    program = emulate(ROOT / "tests" / "faults" / f"{name}.cu")
    assert run([program], env=no_cuda()).returncode == 1
    result = run([program], env=no_cuda() | {"STRICT": "0"})
    assert (result.returncode, result.stdout) == (0, "PASS\n"), result.stderr


def test_operations_of_two_kinds_never_meet(emulate):
    program = emulate(ROOT / "tests" / "faults" / "shuffle_other_operation.cu")
    result = run([program], env=no_cuda() | {"STRICT": "0"})
    assert result.returncode == 1 and "warp divergence" in result.stderr


def test_checks_can_be_turned_off(emulate):
    program = emulate(ROOT / "tests" / "faults" / "race_read_after_write.cu")
    assert run([program], env=no_cuda()).returncode == 1
    result = run([program], env=no_cuda() | {"CHECK": "0"})
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


def test_warp_operations_go_on_without_lanes_that_ended(write, emulate):
    program = emulate(
        write(
            """
        #include <cstdio>
        __global__ void vote(unsigned *out)
        {
            if (threadIdx.x >= 20) return;
            out[0] = __ballot_sync(~0u, threadIdx.x % 2);
            out[1] = __all_sync(~0u, 1);
            out[2] = __reduce_add_sync(~0u, threadIdx.x);
            int equal;
            out[3] = __match_all_sync(~0u, 5, &equal);
            out[4] = equal;
            __syncwarp();
            out[5] = __shfl_sync(~0u, threadIdx.x, 19);
        }
        int main()
        {
            unsigned *out;
            cudaMallocManaged(&out, 6 * sizeof *out);
            vote<<<1, 32>>>(out);
            cudaDeviceSynchronize();
            printf("%x %u %u %x %u %u", out[0], out[1], out[2], out[3], out[4], out[5]);
            cudaFree(out);
        }
        """
        )
    )
    result = run([program], env=no_cuda())
    assert result.returncode == 1
    assert "__ballot_sync names lanes that do not exist or have ended" in result.stderr
    result = run([program], env=no_cuda() | {"CHECK": "0"})
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "aaaaa 1 190 ffffffff 1 19"


def test_fault_names_the_range_it_happens_in(write, emulate):
    """NVTX ranges, which lie inside each other."""
    text = """
        #include <nvtx3/nvToolsExt.h>
        __global__ void k(int *x) { x[threadIdx.x] = 1; }
        int main(int argc, char **)
        {
            int *x;
            nvtxEventAttributes_t inner = {};
            inner.version = NVTX_VERSION;
            inner.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
            inner.colorType = NVTX_COLOR_ARGB;
            inner.color = 0xff00ff00;
            inner.messageType = NVTX_MESSAGE_TYPE_ASCII;
            inner.message.ascii = "inner";
            cudaMalloc(&x, 4 * sizeof *x);
            nvtxRangePushA("outer");
            nvtxRangePushEx(&inner);
            if (argc > 1) nvtxRangePop();
            if (argc > 2) nvtxRangePop();
            k<<<1, 8>>>(x);
            return nvtxRangePop();
        }
        """
    program = emulate(write(text))
    for words, line in ([], 'in range "inner"'), (["1"], 'in range "outer"'):
        result = run([program, *words], env=no_cuda())
        assert (result.returncode, result.stderr.splitlines()[-1].strip()) == (1, line)
    assert "in range" not in run([program, "1", "2"], env=no_cuda()).stderr


def test_output_comes_before_the_fault_and_repeats_itself(write, emulate):
    program = emulate(
        write(
            """
        #include <cstdio>
        template <int N> __global__ void fill(int *x) { x[threadIdx.x] = N; }
        int main()
        {
            int *x;
            printf("before\\n");
            cudaMalloc(&x, 20 * sizeof *x);
            fill<7><<<1, 32>>>(x);
            printf("never\\n");
            cudaFree(x);
        }
        """
        )
    )
    first, second = (run([program], env=no_cuda()) for _ in range(2))
    assert (first.returncode, first.stdout) == (1, "before\n")
    assert "in kernel fill<7>, block (0,0,0), thread (20,0,0)" in first.stderr
    # Addresses may differ from run to run, nothing else.
    assert re.sub(r"0x[0-9a-f]+", "", first.stderr) == re.sub(
        r"0x[0-9a-f]+", "", second.stderr
    )


SPEAKS = """
    #include <cstdio>
    __global__ void speak() { printf("kernel\\n"); }
    int main()
    {
        float *x;
        cudaEvent_t event;
        cudaEventCreate(&event);
        cudaMalloc(&x, sizeof *x);
        printf("before\\n");
        speak<<<1, 1>>>();
        cudaEventRecord(event);
        %s;
        std::printf("after\\n");
        cudaGetLastError();
    }
    """


@pytest.mark.parametrize(
    "wait",
    [
        "cudaDeviceSynchronize()",
        "cudaStreamSynchronize(0)",
        "cudaEventSynchronize(event)",
        "cudaMemcpy(x, &x, sizeof *x, cudaMemcpyHostToDevice)",
        "cudaFree(x)",
        "cudaDeviceReset()",
        "",
    ],
)
def test_what_kernels_print_appears_when_the_host_waits(wait, write, emulate):
    result = run([emulate(write(SPEAKS % wait))], env=no_cuda())
    told = "what kernel speak printed is lost" in result.stderr
    printed = "before\nkernel\nafter\n" if wait else "before\nafter\n"
    assert (result.returncode, result.stdout, told) == (0, printed, not wait)


def test_what_is_lost_is_said_beside_a_leak(write, emulate):
    program = emulate(write(SPEAKS % ""))
    result = run([program], env=no_cuda() | {"LEAKS": "1"})
    assert result.returncode == 1
    assert "what kernel speak printed is lost" in result.stderr
    assert "FAULT memory leak" in result.stderr


IN_STEP = """
    __global__ void run(volatile int *v, volatile int *flag, int *sum)
    {
        const unsigned t = threadIdx.x;
        %s
        if (t == 0) *sum = v[0] + 0 * *flag;
    }
    int main()
    {
        int *v, *flag, *sum, host[64];
        for (int i = 0; i < 64; i++) host[i] = i;
        cudaMalloc(&v, sizeof host);
        cudaMalloc(&flag, sizeof *flag);
        cudaMalloc(&sum, sizeof *sum);
        cudaMemcpy(v, host, sizeof host, cudaMemcpyHostToDevice);
        cudaMemset(flag, 0, sizeof *flag);
        run<<<1, 32>>>(v, flag, sum);
        cudaMemcpy(host, sum, sizeof *sum, cudaMemcpyDeviceToHost);
        cudaFree(v);
        cudaFree(flag);
        cudaFree(sum);
        return host[0] != %d;
    }
    """
TREE = "for (unsigned d = 32; d > 0; d /= 2) %s"
RIGHT = "{ int y = v[t + d]; __syncwarp(); v[t] += y; __syncwarp(); }"
EARLY = "if (*flag) return; if (t == 7) { v[40] = 1; *flag = 1; }"
FLAG = "if (t == 5) { v[5] = 1; *flag = 1; } else { v[t] = 0; while (!*flag); }"


@pytest.mark.parametrize("compiler", HOST_COMPILERS)
@pytest.mark.parametrize(
    "code, right, told",
    [
        (TREE % "v[t] += v[t + d];", None, "read it at {}:5"),
        (
            "for (unsigned d = 1; d < 32; d *= 2) if (t >= d) v[t] += v[t - d];",
            0,
            "reads it",
        ),
        (TREE % RIGHT, 64 * 63 // 2, ""),
        (EARLY, 0, ""),
        (FLAG, 0, ""),
    ],
    ids=["tree", "scan", "right", "early", "flag"],
)
def test_lanes_taken_to_run_in_step_are_told(code, right, told, compiler, write, emulate):
    """Through volatile it is no race, but what the lanes get is not what a GPU gives them."""
    source = write(IN_STEP % (code, right or 0))
    result = run([emulate(source, compiler=compiler)], env=no_cuda())
    assert ("a warp hand each other values" in result.stderr) == bool(told)
    assert told.format(source) in result.stderr
    assert result.returncode == (right is None)
    assert told or result.stderr == ""


UNREAD = """
    #include <thread>
    __global__ void fill(int *x) { x[threadIdx.x] = 1; }
    template <class T> __global__ void any(T *x) { x[threadIdx.x] = 1; }
    int main()
    {
        int *x, y = 0;
        if (cudaMalloc(&x, 4096 * sizeof *x) != cudaSuccess) return 1;
        %s
        cudaFree(x);
        (void)y;
    }
    """


@pytest.mark.parametrize(
    "mistake, told",
    [
        (
            "fill<<<1, 2048>>>(x);",
            "the launch of fill at {}:9 failed with cudaErrorInval",
        ),
        ("any<<<1, 2048>>>(x);", "the launch of any at {}:9 failed with cudaErrorInval"),
        ("fill<<<1, 2048>>>(x); cudaGetLastError();", ""),
        ("fill<<<1, 2048>>>(x); fill<<<1, 1>>>(x); cudaPeekAtLastError();", ""),
        (
            "cudaMemcpy(x, &y, 8000000, cudaMemcpyHostToDevice);",
            "cudaMemcpy at {}:9 failed",
        ),
        ("cudaMemcpy(&y, x, 4, cudaMemcpyHostToDevice);", "cudaMemcpy at {}:9 failed"),
        ("if (cudaMemcpy(&y, x, 4, cudaMemcpyHostToDevice)) y = 1;", ""),
        ("y = cudaMemcpy(&y, x, 4, cudaMemcpyHostToDevice);", ""),
        ("for (; y < 1; y++) cudaMemset(&y, 0, 4);", "cudaMemset at {}:9 failed"),
        ("if (x) cudaMemset(&y, 0, 4);", "cudaMemset at {}:9 failed"),
        ("switch (y) { case 0: cudaMemset(&y, 0, 4); }", "cudaMemset at {}:9 failed"),
        ("y = x ? cudaMemset(&y, 0, 4) : cudaMemset(&y, 0, 4);", ""),
        ("(void)cudaMemset(&y, 0, 4);", ""),
        (
            "std::thread([&] { fill<<<1, 2048>>>(x); }).join(); cudaGetLastError();",
            "the launch of fill at {}:9 failed with cudaErrorInval",
        ),
    ],
)
def test_an_error_that_nobody_asks_for_is_said(mistake, told, write, emulate):
    source = write(UNREAD % mistake)
    result = run([emulate(source)], env=no_cuda())
    assert result.returncode == 0
    assert (told.format(source) in result.stderr) if told else not result.stderr


def test_a_fault_tells_which_launch_had_failed_before(write, emulate):
    """What that kernel did not write is read: the mistake came before the fault."""
    adds = "__global__ void add(int *x) { x[1] += 1; }"
    calls = "fill<<<1, 2048>>>(x); add<<<1, 1>>>(x);"
    source = write(UNREAD.replace("template", adds + " template") % calls)
    result = run([emulate(source)], env=no_cuda())
    assert result.returncode == 1
    assert result.stderr.startswith("FAULT uninitialised global memory: byte 4 of x")
    assert f"before that, the launch of fill at {source}:9 failed" in result.stderr


ASSERTS = """
    #include <cassert>
    #include <cstdio>
    #include <cuda.h>
    __global__ void count(int *x, int limit)
    {
        __shared__ int sum;
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (threadIdx.x == 0) sum = 0;
        __syncthreads();
        assert(i < limit); // @
        atomicAdd(&sum, 1);
        __syncthreads();
        if (threadIdx.x == 0) x[blockIdx.x] = sum;
    }
    int main()
    {
        int *x, y = 0;
        cudaMalloc(&x, 8 * sizeof *x);
        count<<<8, 64>>>(x, 200);
        %s
        cudaFree(x);
        return y;
    }
    """


@pytest.mark.parametrize(
    "then, exit_code",
    [
        ("if (cudaDeviceSynchronize() != cudaErrorAssert) return 2;", 0),
        ("if (cuCtxSynchronize() != CUDA_ERROR_ASSERT) return 2;", 0),
        (
            "if (cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost) != cudaErrorAssert) return 2;",
            0,
        ),
        (
            "count<<<8, 64>>>(x, 512); if (cudaGetLastError() != cudaErrorAssert) return 2;",
            0,
        ),
        ("", 1),
        ("cudaDeviceSynchronize();", 1),
        ("y = cudaDeviceSynchronize() == cudaErrorAssert ? 3 : 0;", 1),
        (
            "cudaDeviceReset(); cudaMalloc(&x, 32); count<<<8, 64>>>(x, 512); y = cudaDeviceSynchronize();",
            1,
        ),
        (
            "if (cudaDeviceSynchronize() != cudaErrorAssert) return 2; cudaDeviceReset(); cudaMalloc(&x, 32);"
            "count<<<8, 64>>>(x, 512); cudaMemcpy(&y, x + 7, 4, cudaMemcpyDeviceToHost); y = y != 64;",
            0,
        ),
    ],
)
def test_an_assertion_fails_as_an_error_of_the_device(then, exit_code, write, emulate):
    """CUDA Programming Guide, "Assertion": the kernel ends, and calls return cudaErrorAssert until the device is reset.
    Who has seen that may end well."""
    source = write(ASSERTS % then)
    result = run([emulate(source, "-lcuda")], env=no_cuda())
    assert result.returncode == exit_code, result.stderr
    assert result.stderr.count("FAULT assertion `i < limit' failed") == 1
    assert f"at {source}:{line_of(ASSERTS, '// @')}: assert(i < limit);" in result.stderr
    assert "block (3,0,0), thread (8,0,0)" in result.stderr


STICKY = """
    #include <cassert>
    #include <cstdio>
    #include <cuda_runtime.h>
    __global__ void fail(int limit)
    {
        const int i = threadIdx.x;
        if (i == limit) %s
    }
    #define REFUSED(call) if ((call) != %s) { printf("%%s\\n", #call); return 2; }
    int main()
    {
        int *x, *y;
        size_t free_bytes, total;
        cudaEvent_t before, event;
        cudaStream_t stream;
        cudaMalloc(&x, 4);
        cudaEventCreate(&before);
        fail<<<2, 32>>>(3);
        REFUSED(cudaDeviceSynchronize())
        REFUSED(cudaGetLastError())
        if (cudaGetLastError() != cudaSuccess) return 3;
        REFUSED(cudaMalloc(&y, 4))
        REFUSED(cudaMallocManaged(&y, 4))
        REFUSED(cudaMallocHost(&y, 4))
        REFUSED(cudaMemset(x, 0, 4))
        REFUSED(cudaFree(x))
        REFUSED(cudaFree(NULL))
        REFUSED(cudaEventCreate(&event))
        REFUSED(cudaEventRecord(before))
        REFUSED(cudaEventDestroy(before))
        REFUSED(cudaStreamCreate(&stream))
        REFUSED(cudaMemGetInfo(&free_bytes, &total))
        REFUSED(cudaPeekAtLastError())
        int device;
        cudaDeviceProp properties;
        if (cudaGetDevice(&device) || cudaSetDevice(device)) return 4;
        if (cudaGetDeviceProperties(&properties, device)) return 5;
        cudaFree(x); // which says nothing new
        if (cudaDeviceReset() != cudaSuccess || cudaMalloc(&x, 4) != cudaSuccess) return 6;
        return cudaFree(x);
    }
    """


@pytest.mark.parametrize(
    "failing, error, message",
    [
        ("assert(i < 3);", "cudaErrorAssert", "assertion `i < 3' failed"),
        ("__trap();", "cudaErrorLaunchFailure", "__trap()"),
        ('asm volatile("trap;");', "cudaErrorLaunchFailure", "trap"),
        ('asm volatile("brkpt;");', "cudaErrorLaunchFailure", "brkpt"),
        ("__brkpt();", "cudaErrorLaunchFailure", "__brkpt()"),
    ],
)
def test_a_device_that_has_failed_refuses_all_calls(
    failing, error, message, write, emulate
):
    """The same calls on an H200 with CUDA 13 return the same, but for the last ones: there, a process whose kernel has
    failed gets no further context."""
    source = write(STICKY % (failing, error))
    result = run([emulate(source)], env=no_cuda())
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr.startswith(f"FAULT {message}\n")
    assert result.stderr.count("\n") == 3


@pytest.mark.parametrize("compiler", HOST_COMPILERS)
def test_macros_of_one_letter_do_no_harm(compiler, write, nvcc):
    """A program's `#define N 32`, or -DN=32, before a header. NVIDIA's own cuBLAS, CUB and Thrust break on them."""
    folder = ROOT / "emulator" / "include"
    names = {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    }
    names -= {name for name in names if name.startswith(("cub", "thrust/"))}
    names.remove("emulator_errors.h")  # a list, for other headers
    names -= {"cuda_fp4.h", "cuda_fp6.h"}  # which say that there is no such thing
    headers = "".join(f"#include <{name}>\n" for name in sorted(names))
    source = write(
        headers + "__global__ void k(int x) {}\nint main() { k<<<1, 1>>>(N); }\n"
    )
    letters = [f"-D{letter}=1" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    result = nvcc(*letters, source, compiler=compiler)
    assert result.returncode == 0, result.stderr


# Programs include one of Thrust's headers and use what NVIDIA's brings along.
BROUGHT_ALONG = """
    #include <thrust/HEADER.h>
    struct twice
    {
        __host__ __device__ int operator()(int x) const { return 2 * x; }
    };
    int main()
    {
        int x[4], y[4];
        const thrust::counting_iterator<int> three(3);
        thrust::fill(x, x + 4, 1);
        thrust::copy(three, three + 4, x);
        thrust::transform(x, x + 4, y, twice());
        ALSO;
        return thrust::get<0>(thrust::make_tuple(y[0], 1)) != 6;
    }
    """


@pytest.mark.parametrize(
    "header, also",
    [
        ("device_vector", "thrust::reduce(x, x + 4)"),
        ("extrema", "thrust::distance(x, x + 4)"),
        ("for_each", "thrust::for_each(x, x + 4, twice())"),
        ("reduce", "thrust::reduce(x, x + 4)"),
        ("sort", "thrust::sequence(x, x + 4)"),
    ],
)
def test_a_header_of_thrust_brings_others(header, also, write, emulate):
    text = BROUGHT_ALONG.replace("HEADER", header).replace("ALSO", also)
    program = emulate(write(text), "-std=c++14")
    assert run([program], env=no_cuda()).returncode == 0


# EMULATE's value, the name it stands for, compute capability, SMs, shared memory and threads a SM
# (NVIDIA's data sheets and the programming guide's table of compute capabilities).
CARDS = [
    ("t4", "T4", 75, 40, 64, 1024),
    ("rtx3090", "RTX 3090", 86, 82, 100, 1536),
    ("a6000", "A6000", 86, 84, 100, 1536),
    ("a100", "A100", 80, 108, 164, 2048),
    ("h100", "H100", 90, 132, 228, 2048),
    ("h200", "H200", 90, 132, 228, 2048),
    ("b200", "B200", 100, 148, 228, 2048),
]
QUERY = """
    #include <cstdio>
    __global__ void k(float *x) { __shared__ float s[2048]; s[threadIdx.x] = *x; __syncthreads(); *x = s[0]; }
    int main()
    {
        cudaDeviceProp p;
        int blocks;
        cudaGetDeviceProperties(&p, 0);
        float *x;
        cudaMalloc(&x, sizeof *x);
        cudaMemset(x, 0, sizeof *x);
        k<<<1, 1>>>(x); // the emulator knows what a kernel declares once it has run
        cudaFree(x);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 64, 0);
        printf("%s|%d %d %d %d|%d\\n", p.name, 10 * p.major + p.minor, p.multiProcessorCount,
               (int)(p.sharedMemPerMultiprocessor / 1024), p.maxThreadsPerMultiProcessor, blocks);
    }
    """


def test_cards(write, emulate):
    program = emulate(write(QUERY))
    for key, name, capability, multiprocessors, kilobytes, threads in CARDS:
        result = run([program], env=no_cuda() | {"EMULATE": key})
        told_name, told, blocks = result.stdout.strip().split("|")
        assert name in told_name
        assert told == f"{capability} {multiprocessors} {kilobytes} {threads}"
        # 8 KB a block, 1 KB more on newer GPUs for the system; 64 threads; 16 to 32 blocks at most.
        reserved = 0 if capability < 80 else 1
        most = {75: 16, 86: 16}.get(capability, 32)
        assert int(blocks) == min(kilobytes // (8 + reserved), threads // 64, most), key
    unknown = run([program], env=no_cuda() | {"EMULATE": "voodoo2"})
    assert unknown.returncode == 2
    assert len(unknown.stderr.splitlines()) == 1 and "h200" in unknown.stderr
