"""Verification: it accepts what is right, and refuses and explains what is not."""

import json
import re

import pytest

from conftest import ROOT, no_cuda, once, run

pytestmark = pytest.mark.depends("tests/verifier.cu", "chapters")
SCALED = "--alpha 1.5 --beta -0.5"
# A wrong way to compute (see verifier.cu), for which product, and what the report has to say.
WRONG = [
    ("nan", "40 30 20 --beta 2", "C[5][7] is nan"),
    ("nan", "40 30 20 --beta 2", "likely: a NaN came in"),
    ("infinity", "40 30 20", "C[5][7] is inf"),
    ("per-mille", "40 30 20", "1 of 1200 elements are wrong (real inputs)"),
    (
        "last-bit",
        "40 30 20",
        "1 of 1200 elements are wrong (fractions, alpha = 2, beta = 0)",
    ),
    ("last-bit", "40 30 20 --alpha 3.1", "wrong (fractions, alpha = 3, beta = 0)"),
    ("zero", "40 30 20", "1 of 1200 elements are wrong"),
    ("last-row", "40 30 20", "30 of 1200 elements are wrong"),
    ("last-row", "40 30 20", "where: only in the last row of tiles, which is cut off"),
    ("one-tile", "40 35 20", "where: all of them in one tile"),
    ("nothing", "40 30 20", "1200 of 1200 elements are wrong"),
    ("nothing", "40 30 20", "likely: these elements were never written"),
    ("nothing", f"40 30 20 {SCALED}", "likely: these elements still hold the old C"),
    ("reads-C", "40 30 20", "likely: C was read, though beta is 0"),
    ("alpha", f"40 30 20 {SCALED}", "likely: alpha was not applied"),
    ("alpha", "40 30 20", "likely: alpha was not applied"),
    ("alpha-twice", "40 30 20", "likely: alpha was applied twice"),
    ("alpha-for-all", f"40 30 20 {SCALED}", "likely: alpha was applied to beta * C too"),
    ("beta", f"40 30 20 {SCALED}", "likely: beta * C was not added"),
    ("beta-1", f"40 30 20 {SCALED}", "likely: C was added without beta"),
    ("beta-minus", f"40 30 20 {SCALED}", "likely: beta * C was subtracted"),
    ("minus", f"40 30 20 {SCALED}", "likely: alpha * A * B was subtracted"),
    ("exchanged", f"40 30 20 {SCALED}", "likely: alpha and beta have changed places"),
    ("A N", "40 30 37", "likely: A is read as if its rows had N elements; they have K"),
    ("A M", "30 40 37", "likely: A is read as if its rows had M elements; they have K"),
    ("B K", "40 37 30", "likely: B is read as if its rows had K elements; they have N"),
    ("B M", "30 37 40", "likely: B is read as if its rows had M elements; they have N"),
    (
        "C K",
        "40 37 30",
        "likely: C is written as if its rows had K elements; they have N",
    ),
    ("C K", f"30 37 40 {SCALED}", "likely: C is written as if its rows had K elements"),
    ("A turned", "40 30 37", "likely: A is read by columns"),
    ("B turned", "40 30 37", "likely: B is read by columns"),
    (
        "C turned",
        "40 40 40",
        "likely: row and column are swapped: this is the transposed",
    ),
    (
        "C turned",
        "40 30 37",
        "likely: row and column are swapped: this is the transposed",
    ),
    ("permuted", "40 32 37", "C[0][1] holds what belongs in C[1][0]"),
    (
        "lack x 0 1",
        "40 30 37",
        "of the 37 terms of the sum, the one with k = 0 is missing",
    ),
    (
        "lack x 36 37",
        "9 9 37",
        "of the 37 terms of the sum, the one with k = 36 is missing",
    ),
    ("lack x 17 18", "9 9 700", "the one with k = 17 is missing"),
    ("lack x 32 37", "9 9 37", "the last 5 with k = 32 to 36 are missing"),
    ("lack x 0 8", "9 9 37", "the first 8 with k = 0 to 7 are missing"),
    ("lack x 72 144", "9 9 300", "the 72 with k = 72 to 143 are missing"),
    ("lack x 0 37", "9 9 37", "the sum is 0: none of its terms is there"),
    ("twice x 36 37", "9 9 37", "the one with k = 36 is there twice"),
    ("twice x 16 24", "9 9 37", "the 8 with k = 16 to 23 are there twice"),
    ("cut-sums", "20 30 64", "no error is above its bound, but all of them together"),
    ("before-C", "40 30 20", "memory in front of C was overwritten"),
    ("end-of-C", "40 30 20", "memory behind C was overwritten"),
    ("before-A", "40 30 20", "memory in front of A was overwritten"),
    ("changed-A", "40 30 20", "the input A was changed"),
    ("past-the-end", "40 30 20", "C[0][0] is nan"),
    ("next-row", "40 30 20 --inputs infinite", "likely: an infinity of another row"),
    (
        "next-column",
        "40 30 20 --inputs infinite",
        "likely: an infinity of another row or",
    ),
    ("mends-C", "40 30 20 --inputs infinite", "or of C though beta is 0"),
    ("k-before", "40 30 20 --inputs infinite", "multiplied by a zero that is not in the"),
    ("per-mille fast", "2000 300 1000 --seed 2", "fails Freivalds' check"),
    ("per-mille fast", "2000 300 1000 --seed 2", "C[5][7] is "),
]
# Of these the numbers do not tell the cause, so none must be named.
UNEXPLAINED = ["infinity", "per-mille", "last-bit", "one-tile", "odd-only"]

RIGHT = ["", "reversed", "pairwise", "blocked", "split", "unfused", "fold", "start"]
RIGHT += ["compensated"]
# What no right kernel may fail at: alpha and beta of any size, with results that underflow
# or overflow.
SCALES = """0.3:0 0.1:0 1e-3:0 3.14159:0 -7e-30:0 1e-40:0 1.4e-45:0 1e38:0 3.4e38:0 -3e38:0 0:0
0:1 0:0.3 0:-1e38 1:1e38 1:-3.4e38 1:1e-45 1:0.1 0.3:0.7 -0.3:1e-3 1e30:1e-30 1e-30:1e30
1e38:1e38 1e38:-1e38 3e38:-3e38 1e20:1e20 1e-40:1e-40 2:0 -1:0 1:1 -1:-1 0.5:2 0.333333:1e6
1e6:0.333333 1.0000001:0 0.9999999:0.9999999 16777217:1 1:16777217 123.456:-98765.4 1e-20:1
1:1e-20""".split()

# A format, what the report calls it, and what of a kernel may be in it.
FORMATS = [("fp16", "fp16 or tf32"), ("bf16", "bf16"), ("tf32", "fp16 or tf32")]
NARROW = {
    "inputs": "inputs rounded",
    "products": "products rounded",
    "sums": "sums rounded",
    "blocks": "every sum is a number of this format",
    "results": "results rounded",
    "all": "rounded",
}


@pytest.fixture(scope="session")
def verifier(emulated_nvcc, shared_folder, project):
    """Built as for a GPU: with guard bands, which the emulator's programs do without."""
    program = shared_folder / "verifier"
    with once(shared_folder / "verifier-built") as first:
        if first:
            sources = [
                ROOT / "tests" / "verifier.cu",
                *sorted((project / "common").glob("*.c")),
            ]
            options = [
                "-O2",
                "-std=c++17",
                "-U__CUDA_EMULATED__",
                "-I",
                project / "common",
            ]
            command = [emulated_nvcc, *options, *sources, "-lcublas", "-o", program]
            build = run(command, env=no_cuda())
            assert build.returncode == 0, build.stderr
    return program


def check(verifier, arguments, rule, *options):
    environment = no_cuda() | {"RULE": rule, "CHECK": "0"}
    return run([verifier, "--check-only", *options, *arguments.split()], env=environment)


def likely(result):
    return re.findall("^  likely: (.*)$", result.stdout, re.M)


@pytest.mark.parametrize("arguments", sorted({arguments for _, arguments, _ in WRONG}))
def test_accepts_what_is_right(verifier, arguments):
    result = check(verifier, arguments, "x fast", "--one-shape")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("seed", sorted({*re.findall(r"--seed \d+", str(WRONG)), ""}))
def test_accepts_odd_products(verifier, seed):
    """They are the same whatever product is asked for."""
    result = check(verifier, f"40 30 20 {seed}", "x fast")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("inputs", ["wide-rows", "wide-columns"])
def test_columns_with_units_in_large_products(verifier, inputs):
    """So large that no more than some of the rows are compared one by one."""
    product = f"650 --inputs {inputs}"
    result = check(verifier, product, "x fast", "--one-shape")
    assert result.returncode == 0, result.stdout + result.stderr
    result = check(verifier, product, "lack x 17 18", "--one-shape")
    assert result.returncode == 1


@pytest.mark.parametrize("rule", RIGHT)
def test_accepts_any_order(verifier, rule):
    products = ["5 7 1", "5 7 2", "8 9 100", "7 8 4096", f"7 8 4096 {SCALED}"]
    products += [
        f"4 9 {K} --alpha {scale.replace(':', ' --beta ')}"
        for scale in SCALES
        for K in (1, 77)
    ]
    for product in products:
        result = check(verifier, product, rule, "--one-shape")
        assert result.returncode == 0, f"{product}: {result.stdout}{result.stderr}"


def test_accepts_long_sums(verifier):
    for rule, product in [
        ("", "3 4 65536"),
        ("pairwise", "3 4 65536"),
        ("unfused", "1 2 200000"),
        ("x fast", "1 1 16777216 --alpha 3 --beta 0.5"),
    ]:
        result = check(verifier, product, rule, "--one-shape")
        assert result.returncode == 0, f"{product}: {result.stdout}{result.stderr}"


@pytest.mark.parametrize("rule, arguments, report", WRONG)
def test_refuses_and_explains(verifier, rule, arguments, report):
    result = check(verifier, arguments, rule)
    assert result.returncode == 1
    assert report in result.stdout
    assert result.stdout.endswith("\nFAIL\n")


@pytest.mark.parametrize("rule", UNEXPLAINED)
def test_names_no_cause_that_it_does_not_know(verifier, rule):
    result = check(verifier, "40 35 37", rule)
    assert result.returncode == 1
    assert likely(result) == []


@pytest.mark.parametrize("what", NARROW)
@pytest.mark.parametrize("format, name", FORMATS)
def test_refuses_narrow_arithmetic(verifier, format, name, what):
    """At every K; also where every single error is below what rounding in fp32 could do."""
    for product in ("4 5 32", "4 5 256", f"4 5 1024 {SCALED}", "4 5 4096", "3 4 16384"):
        result = check(verifier, product, f"{format} {what}", "--one-shape")
        assert result.returncode == 1
        told = likely(result)
        assert any(f"looks like {name}: " in line for line in told), result.stdout
        assert any(line.endswith(NARROW[what]) for line in told), result.stdout


@pytest.mark.parametrize(
    "rule, cause",
    [
        ("fp16 inputs", "fp16 or tf32: inputs rounded"),
        ("bf16 products", "bf16: products rounded"),
        ("tf32 sums", "fp16 or tf32: sums rounded"),
        ("bf16 blocks", "bf16: every sum is a number of this format"),
        ("tf32 results", "fp16 or tf32: results rounded"),
        ("cut-tf32 inputs", "fp16 or tf32: inputs truncated"),
        ("cut-bf16 inputs", "bf16: inputs truncated"),
        ("whole results", "results were truncated to whole numbers"),
    ],
)
def test_refuses_narrow_arithmetic_in_long_sums(verifier, rule, cause):
    result = check(verifier, "3 4 65536", rule, "--one-shape")
    assert result.returncode == 1
    assert cause in result.stdout


def test_refuses_whole_numbers(verifier):
    result = check(verifier, "4 5 32", "whole results", "--one-shape")
    assert likely(result) == ["results were truncated to whole numbers"] * 2


def test_large_products_too(verifier):
    """Where rows are sampled, and all of C is checked at once."""
    result = check(verifier, "300 900 1000", "tf32 fast", "--one-shape")
    assert result.returncode == 1
    assert len(re.findall("rows . Freivalds +WRONG", result.stdout)) == 2
    assert set(likely(result)) == {"looks like fp16 or tf32: the elements of A rounded"}


def test_names_block_and_thread(verifier):
    result = check(verifier, "40 30 20", "zero")
    assert (
        "(block 0, thread 87)" in result.stdout
    )  # row 5 of a tile of 16 columns, column 7


# ---- bf16 and tf32 ----


# What a kernel of tensor cores may not do, and from which K on it makes a difference.
NARROW_FOR_TENSOR_CORES = {
    "bf16": {
        "fp8 inputs": 1,
        "fp16 sums": 1,
        "cut-bf16 results": 1,
        "bf16 sums": 2,
        "bf16 products": 2,
        "bf16 blocks": 17,
    },
    "tf32": {
        "bf16 inputs": 1,
        "fp16 sums": 1,
        "bf16 products": 1,
        "tf32 products": 1,
        "tf32 sums": 1,
        "tf32 results": 1,
        "cut-tf32 results": 1,
    },
}
STEPS = {"bf16": (8, 16), "tf32": (4, 8)}  # products that a tensor core takes at a time


@pytest.mark.parametrize("K", [32, 256, 1024, 4096])
@pytest.mark.parametrize("precision", STEPS)
def test_refuses_a_narrower_range(verifier, precision, K):
    """fp16 holds every input of bf16 or tf32 that is not very large: one odd product has such."""
    result = check(verifier, f"4 5 {K}", "fp16 inputs", "--precision", precision)
    assert result.returncode == 1
    assert "--inputs wide-rows" in re.findall("repeat it: (.*)$", result.stdout, re.M)[0]


@pytest.mark.parametrize("precision", STEPS)
def test_accepts_tensor_cores(verifier, precision):
    """Which cut every sum off, so that errors grow; and any other order."""
    rules = [*(f"core x {step}" for step in STEPS[precision]), "", "pairwise", "split"]
    products = [f"7 8 {K}" for K in (1, 2, 3, 17, 100, 1000, 4096)]
    products += [f"7 8 77 --alpha {s.replace(':', ' --beta ')}" for s in SCALES]
    for product in [*products, f"7 8 4096 {SCALED}", "3 4 65536"]:
        for rule in rules:
            result = check(
                verifier, product, rule, "--one-shape", "--precision", precision
            )
            assert result.returncode == 0, f"{rule}, {product}: {result.stdout}"
    for product in ("2000 300 1000", "1 1 16777216 --alpha 3 --beta 0.5"):
        result = check(
            verifier, product, "x fast", "--one-shape", "--precision", precision
        )
        assert result.returncode == 0, f"{product}: {result.stdout}"


@pytest.mark.parametrize(
    "precision, rule",
    [(p, rule) for p, rules in NARROW_FOR_TENSOR_CORES.items() for rule in rules],
)
def test_refuses_narrower_than_stated(verifier, precision, rule):
    for K in (1, 2, 3, 17, 100, 1000, 4096):
        if K < NARROW_FOR_TENSOR_CORES[precision][rule]:
            continue
        result = check(
            verifier, f"13 11 {K}", rule, "--one-shape", "--precision", precision
        )
        assert result.returncode == 1, f"K = {K}: {result.stdout}"


@pytest.mark.parametrize("precision", STEPS)
@pytest.mark.parametrize(
    "rule, arguments", sorted({(rule, arguments) for rule, arguments, _ in WRONG})
)
def test_refuses_at_every_precision(verifier, precision, rule, arguments):
    if precision == "bf16":  # a thousandth is less than its rounding
        rule = rule.replace("per-mille", "percent")
    # Sums that are cut off are what tensor cores make; fp32's odd products do not let them pass.
    alone = ["--one-shape"] if rule == "cut-sums" else []
    result = check(verifier, arguments, rule, "--precision", precision, *alone)
    assert result.returncode == (rule != "cut-sums"), result.stdout


@pytest.mark.parametrize(
    "precision, rule, arguments, cause",
    [
        ("bf16", "nothing", "40 30 37", "these elements were never written"),
        ("bf16", "alpha", f"40 30 37 {SCALED}", "alpha was not applied"),
        ("bf16", "lack x 17 18", "40 30 37", "the one with k = 17 is missing"),
        ("bf16", "C turned", "40 30 37", "this is the transposed result"),
        ("bf16", "bf16 sums", "40 30 1000", "bf16: sums rounded"),
        ("tf32", "bf16 inputs", "40 30 37", "bf16: inputs rounded"),
        ("tf32", "tf32 products", "40 30 37", "fp16 or tf32: products rounded"),
    ],
)
def test_explains_at_every_precision(verifier, precision, rule, arguments, cause):
    result = check(verifier, arguments, rule, "--one-shape", "--precision", precision)
    assert any(line.endswith(cause) for line in likely(result)), result.stdout


def test_the_precision_is_told(verifier):
    result = check(verifier, "40 30 20", "", "--precision", "bf16")
    assert "  precision  A, B and C bf16, sums fp32\n" in result.stdout
    told = json.loads(
        check(verifier, "40 30 20", "", "--precision=tf32", "--json").stdout
    )
    assert told["precision"] == "tf32" and told["inputs"] == "normal, variance 1"
    refused = check(verifier, "40 30 20", "", "--precision", "fp8")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert 'must be fp32 or bf16 or tf32 in this chapter, not "fp8"' in refused.stderr
    # A product that fails is repeated at the precision at which it failed.
    wrong = check(verifier, "40 30 20", "odd-only", "--precision", "tf32")
    assert "--precision tf32" in re.findall("repeat it: (.*)$", wrong.stdout, re.M)[0]


# ---- other inputs ----


@pytest.mark.parametrize("kind", ["positive", "wide-rows", "wide-columns", "infinite"])
@pytest.mark.parametrize("rule", ["", "reversed", "pairwise", "split", "unfused"])
def test_accepts_right_sums_of_other_inputs(verifier, kind, rule):
    arguments = f"40 50 1500 --alpha 1.5 --beta -0.5 --inputs {kind}"
    result = check(verifier, arguments, rule, "--one-shape")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("shape", ["1 30 20", "1 1 20", "2 30 20", "1 30 1"])
def test_infinities_of_few_rows_add_up(shape, verifier):
    """Two of both signs in one row would be no number in the result either."""
    result = check(verifier, f"{shape} --inputs infinite", "", "--one-shape")
    assert result.returncode == 0, result.stdout + result.stderr


def test_infinities_of_large_products(verifier):
    """There all of C is checked by sums over its rows, in which an infinity has no place."""
    large = "2000 300 1000 --seed 2 --inputs infinite"
    right = check(verifier, large, "x fast", "--one-shape")
    assert right.returncode == 0, right.stdout + right.stderr
    for bug in ("per-mille", "next-row", "next-column"):
        wrong = check(verifier, large, f"{bug} fast", "--one-shape")
        assert wrong.returncode == 1, f"{bug}: {wrong.stdout}"


def test_positive_inputs_show_sums_that_are_cut_off(verifier):
    """What a tensor core adds up errs towards zero: that cancels in sums of random signs, and
    adds up in sums of positive numbers."""
    usual = check(verifier, "40 50 512", "core x 16", "--one-shape")
    assert usual.returncode == 0, usual.stdout
    positive = check(verifier, "40 50 512 --inputs positive", "core x 16", "--one-shape")
    assert positive.returncode == 1
    assert "as large\nas rounding in fp32 makes them" in positive.stdout


def test_wide_rows_show_inputs_scaled_together(verifier):
    """One number of 2^40 in a row: what is left of the others in a narrower sum is wrong."""
    for kind in ("wide-rows", "wide-columns"):
        result = check(verifier, f"40 50 60 --inputs {kind}", "fp16 all", "--one-shape")
        assert result.returncode == 1, result.stdout


def test_wide_rows_show_what_is_taken_for_nothing(verifier):
    """Terms below a threshold of any size are all that some elements have."""
    for kind in ("wide-rows", "wide-columns"):
        result = check(verifier, f"40 50 60 --inputs {kind}", "no-small", "--one-shape")
        assert result.returncode == 1, result.stdout


# ---- small odd products ----


@pytest.mark.parametrize(
    "rule, cause",
    [
        ("near-zero beta", "beta * C was not added"),
        ("near-zero alpha", "the sum is 0: none of its terms is there"),
        ("no-small", None),
        ("mends-C", "an infinity of another row or column came in"),
        ("next-column", "an infinity of another row or column came in"),
        ("k-before", "an infinity was multiplied by a zero"),
        ("compensated always", "leave out a correction that is not finite"),
        ("no-NaN", "a NaN was left out"),
        ("no-zeros", "a NaN was left out"),
    ],
)
def test_small_odd_products_show(verifier, rule, cause):
    """What no usual number shows, the run without arguments does."""
    assert check(verifier, "40 30 20", rule, "--one-shape").returncode == 0
    result = check(verifier, "40 30 20", rule)
    assert result.returncode == 1
    assert cause is None or cause in "".join(likely(result)), result.stdout


def test_small_odd_products_are_checked(verifier):
    """What is wrong only there fails, with the command that shows it, which does."""
    result = check(verifier, "40 30 20 --seed 7", "odd-only")
    assert result.returncode == 1
    assert "WRONG" in result.stdout and result.stdout.count("ok") == 2
    (command,) = re.findall("^  repeat it: (.*)$", result.stdout, re.M)
    program, product = command.split(" ", 1)
    assert program == str(verifier) and product.endswith(" --seed 7")
    again = check(verifier, product, "odd-only", "--one-shape")
    assert again.returncode == 1
    found = re.findall(r"^  C\[0\]\[0\] is .*", result.stdout, re.M)
    assert found and found[0] in again.stdout
    assert check(verifier, "40 30 20", "odd-only", "--one-shape").returncode == 0


def test_a_chapters_own_products_are_repeated_as_they_were(verifier):
    """With the option that they need, at another precision too; and none is left out."""
    for options, words in ((), ""), (("--precision", "tf32"), "--precision tf32 "):
        wrong = check(verifier, "40 30 20", "own-only", *options)
        (command,) = re.findall("repeat it: (.*)$", wrong.stdout, re.M)
        assert command == f"{verifier} {words}--reps 1 9 8 23"
        again = check(verifier, command.split(" ", 1)[1], "own-only", "--one-shape")
        assert again.returncode == 1
    environment = no_cuda() | {"CHECK": "0", "PRODUCTS": "100"}
    result = run([verifier, "40", "30", "20", "--check-only"], env=environment)
    assert result.returncode == 0 and result.stderr == ""
    assert result.stdout.count("9x8x23") == 3 * 100  # at each precision


def test_fault_names_the_product(emulated_nvcc, chapters, project, tmp_path):
    """Where the emulator ends the program, it says which of the products was being checked."""
    source = next((ROOT / "chapters").glob("01_*")) / "matmul.cu"
    text = source.read_text()
    assert text.count("col >= N") == 1
    (tmp_path / "matmul.cu").write_text(text.replace("col >= N", "col > N"))
    objects = (project / "build" / "emulator" / "common").glob("*.o")
    command = [emulated_nvcc, "-O2", "-std=c++17", "-I", project / "common"]
    command += [tmp_path / "matmul.cu", *objects, "-o", tmp_path / "wrong"]
    assert run([*command, "-lcublas"], env=no_cuda()).returncode == 0
    result = run([tmp_path / "wrong"], env=no_cuda())
    assert result.returncode == 1
    (product,) = re.findall(r'^  in range "\S+/wrong (.*)"$', result.stderr, re.M)
    again = run([tmp_path / "wrong", *product.split(), "--one-shape"], env=no_cuda())
    assert result.stderr.splitlines()[:-1] == again.stderr.splitlines()


def test_small_odd_products_are_listed(verifier):
    told = json.loads(check(verifier, "40 30 20", "odd-only", "--json").stdout)
    assert [check["passed"] for check in told["checks"]] == [True, True]
    *passed, last = told["shapes"]
    assert not told["passed"] and not last["passed"] and "repeat it" in last["failure"]
    assert all(shape["passed"] for shape in passed)
    assert last["M"] % 2 and last["N"] > 1

    shapes = json.loads(check(verifier, "40 30 20", "", "--json").stdout)["shapes"]
    tile = 16
    for axis in "MN":
        assert {1, tile - 1} <= {shape[axis] % tile for shape in shapes}
        assert any(shape[axis] > 2 * tile for shape in shapes)
        assert any(shape[axis] == 1 for shape in shapes)
    assert any(shape["K"] < 4 for shape in shapes)
    whole = {(shape["N"] % 4 == 0, shape["K"] % 4 == 0) for shape in shapes}
    assert len(whole) == 4, "rows of whole float4s, or not, in each combination"
    # One alone is no multiple of 4: who asks another takes a way that is not for this product.
    for alone in "MNK":
        others = set("MNK") - {alone}
        assert any(
            shape[alone] % 4
            and all(shape[other] % 4 == 0 and shape[other] >= tile for other in others)
            for shape in shapes
        ), alone
    scales = {(shape["alpha"], shape["beta"] != 0) for shape in shapes}
    assert {(a, b) for a in (0, 1) for b in (False, True)} <= scales
    assert {b for a, b in scales if a not in (0, 1)} == {False, True}
    assert any(shape["K"] % 32 == 31 and shape["N"] > tile for shape in shapes)
    assert any(shape["N"] % 4 == 2 and shape["N"] > tile for shape in shapes)
    assert any(shape["K"] > 1024 and shape["K"] % 8 for shape in shapes)
    for which in ("alpha", "beta"):
        assert any(0 < abs(shape[which]) < 1e-8 for shape in shapes), which
    tiles = [-(-shape["M"] // tile) * -(-shape["N"] // tile) for shape in shapes]
    assert max(tiles) > 132, "more than any GPU in results/ has multiprocessors"


def test_alignment_is_tested_in_each_precision(verifier):
    """Where nothing but the address of one matrix forbids to copy 16 bytes at once."""
    shapes = json.loads(check(verifier, "40 30 20", "", "--json").stdout)["shapes"]
    for precision, size in (("fp32", 4), ("bf16", 2), ("tf32", 4)):
        wide = [
            shape
            for shape in shapes
            if shape["precision"] == precision
            and shape["N"] * size % 16 == 0
            and shape["K"] * size % 16 == 0
        ]
        # C is read too.
        shifts = {shape["shift"] for shape in wide if shape["beta"] != 0}
        assert shifts >= {"A", "B", "C", "a", "b", "c", "2", "3"}, precision
        assert "" in {shape["shift"] for shape in wide}, precision


def test_multipliers_of_1_and_minus_1_are_tested(verifier):
    """Each beside a number that is not special: a way of its own may have forgotten that."""
    shapes = json.loads(check(verifier, "40 30 20", "", "--json").stdout)["shapes"]
    special = (0, 1, -1)
    scales = {}
    for shape in shapes:
        pair = (shape["alpha"], shape["beta"])
        scales.setdefault(shape["precision"], set()).add(pair)
    for precision in ("fp32", "bf16", "tf32"):
        pairs = scales[precision]
        assert any(a == 1 and b not in special for a, b in pairs), precision
        for one in (1, -1):
            assert any(b == one and a not in special for a, b in pairs), precision
    pairs = scales["fp32"]
    assert {(1, 0), (1, 1), (-1, 1), (0, 0)} <= pairs
    assert any(a == -1 and b not in special for a, b in pairs)
    assert any(a == 0 and b not in special for a, b in pairs)


@pytest.mark.parametrize("number", [2, 11, 13])
def test_lens_looks_at_the_product_asked_for(number, chapters, tmp_path):
    reports = []
    for options in ([], ["--one-shape"]):
        out = tmp_path / f"lens{len(options)}.json"
        settings = {"LENS": "json", "LENS_OUT": str(out)}
        result = run([chapters[number], "64", *options], env=no_cuda() | settings)
        assert result.returncode == 0, result.stdout + result.stderr
        reports.append(json.loads(out.read_text()))
    assert reports[0] == reports[1]


CHOICES = """
#define main unused_main
#include "matmul.cu"
#undef main
#include <stdio.h>
#include <string.h>
extern "C" int chapter_main(int, char **, const struct chapter *) { return 0; }
extern "C" void cuda_check(cudaError_t, const char *, const char *, int) {}

static void choose(const char *option, int M, int N, int K, char shift)
{
    const bool wide = N % 4 == 0 && !(shift && strchr("Bb23", shift));
    const int sms = option ? atoi(option + sizeof "--sms") : 132;
    const struct kind *some = KINDS;
    int count = sizeof KINDS / sizeof *KINDS;
#ifdef TURNING
    const char *turn = option ? strstr(option, "--turn") : NULL;
    turn_columns = turn ? atoi(turn + sizeof "--turn") : 0;
    // Addresses that start where those of a product with this shift do.
    const float *const A = (const float *)(shift && strchr("Aa23", shift) ? 4 : 16);
    const struct work w = {M, N, K, 1.0f, 0.0f, A, (float *)(wide ? 16 : 4), NULL, N};
    some = choices(&w, &count);
#endif
    printf("%d\\n", (int)(fastest(some, count, sms, M, N, K, wide) - KINDS));
}

int main()
{
    int M, N, K;
    char shift;
    printf("%zu\\n", sizeof KINDS / sizeof *KINDS);
    while (scanf("%d %d %d %c", &M, &N, &K, &shift) == 4)
        if (M > 8 && N > 16) // else thin.cuh's
            choose(NULL, M, N, K, shift);
    for (const struct product &p : PRODUCTS)
        if (p.option)
            choose(p.option, p.M, p.N, p.K, p.shift);
}
"""


@pytest.mark.parametrize("number", [12, 13])
def test_every_kernel_is_checked(number, chapters, project, emulated_nvcc, tmp_path):
    """Chapters 12 and 13 choose among kernels by the product and the number of SMs. Every one is
    among the shapes that any run checks."""
    told = json.loads(run([chapters[number], "64", "--json"], env=no_cuda()).stdout)
    (tmp_path / "choices.cu").write_text(CHOICES)
    (folder,) = (project / "chapters").glob(f"{number}_*")
    paths = ["-I", folder, "-I", project / "common", "-I", project / "chapters"]
    program = tmp_path / "choices"
    options = ["-Ofc", "max", "-std=c++17"]  # its kernels are not run
    result = run(
        [emulated_nvcc, *options, *paths, tmp_path / "choices.cu", "-o", program],
        env=no_cuda(),
    )
    assert result.returncode == 0, result.stderr
    # What has no option runs on all SMs: the shapes that common/ thinks of, and a few of the chapter's.
    shapes = "".join(
        f"{s['M']} {s['N']} {s['K']} {s['shift'] or '-'}\n"
        for s in told["shapes"]
        if not s["option"]
    )
    count, *chosen = map(int, run([program], input=shapes, env=no_cuda()).stdout.split())
    assert set(chosen) == set(range(count))


PLANS = """
#define main unused_main
#include "matmul.cu"
#undef main
#include <stdio.h>
#include <vector>
extern "C" int chapter_main(int, char **, const struct chapter *) { return 0; }
extern "C" void cuda_check(cudaError_t error, const char *call, const char *, int)
{
    if (error) exit((printf("%s\\n", call), 1));
}

struct visit { struct segment segment; int down, across; };
const int MOST = 4096; // visits of a cluster, and shared units
__managed__ visit visits[132 * MOST];
__managed__ int counts[132];
__managed__ int2 owners[MOST];

/* What each cluster would do, and the first and the last cluster that add_parts() thinks
 * has a part of a shared unit. */
__global__ void walk(const __grid_constant__ struct shares s, int clusters)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < clusters) {
        int count = 0;
        for (position p = start_position(&s, i, clusters); p.more && count < MOST;
             next_segment(&s, clusters, &p))
            visits[(size_t)i * MOST + count++] = {p.segment, p.down, p.across};
        counts[i] = count;
    }
    const int start = i * s.steps;
    if (i < s.units_down * s.units_across - s.whole)
        owners[i] = make_int2(owner_of(&s, start), owner_of(&s, start + s.steps - 1));
}

#define DEMAND(what) \\
    if (!(what)) return printf("%s: %d x %d x %d, kind %d\\n", #what, M, N, K, kind), false

/* Every step of every unit is done once; a cluster leaves at most one part that is the
 * start of a unit and one that is not; and who adds up looks for all parts, and only these,
 * where they were left. */
static bool is_whole(struct plan plan, int M, int N, int K, int kind)
{
    make_ready(&plan, 0, 0); // no room for parts: they are not made
    const struct shares *s = &plan.shares;
    const int units = s->units_down * s->units_across, shared = units - s->whole;
    DEMAND(shared <= MOST && plan.clusters <= 132);
    walk<<<(max(shared, plan.clusters) + 127) / 128, 128>>>(*s, plan.clusters);
    CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<int> done(units), first(units, -1), last(units, -1), parts(units);
    std::vector<int> places(units);
    for (int c = 0; c < plan.clusters; ++c) {
        int starts = 0, others = 0;
        DEMAND(counts[c] < MOST);
        for (int i = 0; i < counts[c]; ++i) {
            const visit &v = visits[(size_t)c * MOST + i];
            const int unit = v.segment.unit;
            DEMAND(unit >= 0 && unit < units);
            DEMAND(v.segment.begin == done[unit] && v.segment.end > done[unit]);
            done[unit] = v.segment.end;
            DEMAND(v.down >= 0 && v.down < s->units_down);
            DEMAND(v.across >= 0 && v.across < s->units_across);
            if (first[unit] < 0) {
                first[unit] = c;
                ++places[v.down * s->units_across + v.across];
            }
            last[unit] = c;
            ++parts[unit];
            if (v.segment.end - v.segment.begin < s->steps)
                ++(v.segment.begin == 0 ? starts : others);
        }
        DEMAND(starts <= 1 && others <= 1);
    }
    for (int unit = 0; unit < units; ++unit) {
        DEMAND(done[unit] == s->steps && places[unit] == 1);
        DEMAND(parts[unit] == last[unit] - first[unit] + 1);
        const int number = unit - s->whole;
        DEMAND(number >= 0 || parts[unit] == 1);
        DEMAND(number < 0 || owners[number].x == first[unit]);
        DEMAND(number < 0 || owners[number].y == last[unit]);
    }
    return true;
}

int main()
{
    int plans = 0, shared = 0, turned = 0;
    const int SIDES[] = {16, 130, 520, 800, 976, 1720, 2500}, KS[] = {72, 520, 7448};
    for (int M : SIDES)
        for (int N : SIDES)
            for (int K : KS)
                for (int i = 0; i < KINDS; ++i) {
                    struct plan plan = kinds[i].plan(M, N, K, 2 * K, 2 * N);
                    ++plans;
                    shared += is_shared(&plan.shares);
                    turned += is_shared(&plan.shares) && kinds[i].turned;
                    if (!is_whole(plan, M, N, K, i)) return 1;
                    if (i >= (int)(sizeof tf32_kinds / sizeof *tf32_kinds)) continue;
                    plan = tf32_kinds[i].plan(M, N, K);
                    if (!is_whole(plan, M, N, K, 100 + i)) return 1;
                }
    printf("%d kinds: %d plans, %d with shared units, %d of these turned\\n", KINDS, plans,
           shared, turned);
    return 0;
}
"""


def test_plans_are_whole(project, emulated_nvcc, tmp_path):
    """Whatever chapter 17 plans, for each kind of tiles: every step of every tile is done by
    one cluster, and the parts are added up that were left (once tiles that could not be
    shared were, at 800 x 976 x 7,448)."""
    (tmp_path / "plans.cu").write_text(PLANS)
    (folder,) = (project / "chapters").glob("17_*")
    paths = ["-I", folder, "-I", project / "common", "-I", project / "chapters"]
    program = tmp_path / "plans"
    options = ["-Ofc", "max", "-std=c++17"]
    result = run(
        [emulated_nvcc, *options, *paths, tmp_path / "plans.cu", "-o", program],
        env=no_cuda(),
    )
    assert result.returncode == 0, result.stderr
    result = run([program], env=no_cuda())
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    kinds, plans, shared, turned = map(int, re.findall("[0-9]+", result.stdout))
    assert plans == 7 * 7 * 3 * kinds and plans > shared > 300 and turned > 150
