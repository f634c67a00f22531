"""Numbers flow one way: GPU -> results/*.csv -> READMEs and plots. Here: nothing that is shown
differs from what it was made from, and the scripts between do what they say."""

import csv
import hashlib
import json
import os
import re
import shutil
import sys

import pytest

from conftest import ROOT, at_length, copy_built, no_cuda, run

sys.path.insert(0, str(ROOT / "results"))
import chapters as books  # noqa: E402
import plots  # noqa: E402
import profiles  # noqa: E402
import rows  # noqa: E402
import tables  # noqa: E402
import tried  # noqa: E402

OTHER_FORMS = {
    *("lens_vs_ncu.csv", "many_gpus.csv", "power.csv", "profiles.csv", "tried.csv"),
    *("kernels.csv", "warps.csv"),
}
OTHER_FORMS |= {path.name for path in (ROOT / "results").glob("errors*.csv")}
MEASURED = sorted(
    path for path in (ROOT / "results").glob("*.csv") if path.name not in OTHER_FORMS
)
needs_data = pytest.mark.skipif(
    not MEASURED, reason="nothing is measured yet: no results/*.csv"
)

# A chapter that measures nothing: it says what a real one would print. Its speed is its
# number, cuBLAS' speed is 4; BAD and OLD name a chapter that fails and one that cannot run.
STAND_IN = (
    f"#!{sys.executable}"
    + """
import json, os, sys
number = int(os.path.basename(sys.argv[0])[7:])
precision = "bf16" if number >= int(os.environ.get("BF16", 9)) else "fp32"
if "--describe" in sys.argv:
    print(json.dumps({"several_gpus": False, "precisions": [precision]}))
    sys.exit(0)
sizes = [int(word) for word in sys.argv[1:4] if word.isdigit()]
M, N, K = sizes if len(sizes) == 3 else sizes * 3
if M > 1 and str(number) == os.environ.get("OLD"):
    print("needs a newer GPU", file=sys.stderr)
    sys.exit(3)
bad = M > 1 and str(number) == os.environ.get("BAD")
def spread(value):
    return {"median": value, "p10": 0.9 * value, "p90": 1.1 * value}
flop, speed = 2.0 * M * N * K + M * N, number or 4
report = {"chapter": number, "title": "rung %d: made up" % number, "device": "NVIDIA X9000",
          "emulated": "EMULATED" in os.environ, "sms": 1, "clock_mhz": 1000, "cuda": "13.0",
          "driver": "13.0", "date": "2026-01-02", "M": M, "N": N, "K": K, "alpha": 1, "beta": 0,
          "precision": precision, "inputs": "none", "passed": not bad,
          "checks": [{"passed": not bad, "failure": "all of it" if bad else ""}]}
if not bad:
    report.update(runs=7, kernel_ms=spread(flop / speed / 1e6), cublas_ms=spread(flop / 4e6),
                  ratio=spread(speed / 4), gflops=speed, cublas_gflops=4, peak_gflops=8)
if number == 0:
    report["measured"] = [{"name": "multiply-adds, measured peak", "value": 6, "unit": "TFLOP/s",
                           "roof": "compute"},
                          {"name": "copy, read + written", "value": 2, "unit": "TB/s",
                           "roof": "memory"}]
print(json.dumps(report))
sys.exit(bad)
"""
)


@pytest.fixture
def world(tmp_path):
    """A project with four rungs that stand in for chapters, on a machine that has a GPU."""
    shutil.copytree(
        ROOT / "results",
        tmp_path / "results",
        ignore=shutil.ignore_patterns("*.csv", "__pycache__"),
    )
    (tmp_path / "images").mkdir()
    for number in range(4):
        program = tmp_path / f"chapter{number}"
        program.write_text(STAND_IN)
        program.chmod(0o755)
        (tmp_path / "chapters" / f"{number:02d}_rung").mkdir(parents=True)
    smi = tmp_path / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text("#!/bin/sh\ntest \"$1\" = -L && echo 'GPU 0: X9000' || echo 580.1\n")
    smi.chmod(0o755)
    return tmp_path


def script(world, name, *words, **more):
    environment = dict(no_cuda(), PATH=f"{world}/bin:{os.environ['PATH']}", **more)
    return run(
        [sys.executable, "-B", world / "results" / name, *words],
        env=environment,
        cwd=world,
    )


# ---- what was tried ----

TRIED = sorted(
    {int(path.parts[-3][:2]) for path in (ROOT / "chapters").glob("*/tried/*.diff")}
)


@pytest.mark.parametrize("number", TRIED)
def test_what_was_tried_still_fits(tmp_path, number):
    for name, diff in tried.diffs(number).items():
        folder = tmp_path / name
        shutil.copytree(tried.chapters.folder(number), folder)
        tried.apply(diff, folder)
        assert tried.title(diff), f"{diff} says in its first line what it does"


@pytest.mark.parametrize("number", at_length(TRIED, lambda number: number > 7))
def test_what_was_tried_is_right(project, chapters, number):
    """Slower is no fault, wrong is one."""
    result = run(
        [
            sys.executable,
            "-B",
            project / "results" / "tried.py",
            "--check-only",
            str(number),
        ],
        env=no_cuda(),
        cwd=project,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_chapter_may_name_the_shape_it_is_about():
    """Chapter 17 is about matrices whose rows begin anywhere: at 4096 its changes bring nothing."""
    assert tried.product_of(3) == (4096, 4096, 4096, "")
    assert tried.product_of(17) == (4097, 4097, 4097, "")


def test_counters_are_of_products_that_show_the_change():
    """A diff that is timed with a product of its own would count nothing of it at 4096."""
    with open(ROOT / "results" / "profiles.csv") as file:
        counted = {(int(row["chapter"]), row["tried"]) for row in csv.DictReader(file)}
    elsewhere = [
        which for which in counted if which[1] and not profiles.at_our_size(*which)
    ]
    assert not elsewhere


WRONG = """a sum of sums
--- a/chapters/03_shared_memory/matmul.cu
+++ b/chapters/03_shared_memory/matmul.cu
@@ -80,1 +80,1 @@
-            acc += A_tile[thread_row][k] * B_tile[k][thread_col];
+            acc += A_tile[thread_row][k] + B_tile[k][thread_col];
"""


@pytest.mark.depends("chapters", "results")
def test_a_wrong_attempt_is_told_from_a_slow_one(project, chapters, tmp_path):
    copy = tmp_path / "project"
    copy_built(project, copy)
    tried = copy / "chapters" / "03_shared_memory" / "tried"
    right = len(list(tried.glob("*.diff"))) + 1  # and the chapter as it is
    (tried / "wrong.diff").write_text(WRONG)
    (tried / "gone.diff").write_text(WRONG.replace("acc += A_tile", "sum += A_tile"))
    (tried / "empty.diff").write_text("takes back: it says so\n")
    result = run(
        [sys.executable, "-B", copy / "results" / "tried.py", "--check-only", "3"],
        env=no_cuda(),
        cwd=copy,
    )
    assert result.returncode == 1
    assert f"chapter 3: {right} built, and right" in result.stdout
    assert "FAILED: chapter 3, wrong" in result.stderr
    assert "FAILED: chapter 3, gone: it does not fit matmul.cu any more" in result.stderr
    assert "FAILED: chapter 3, empty: it changes nothing" in result.stderr


# ---- what each change brought ----

# The fp32 chapters that build upon another: 0 is cuBLAS, 1 the first kernel.
STEPS = [n for n in books.numbers() if 2 <= n <= 13]
CHANGES = re.compile(r"<!-- BEGIN generated: changes n=(\d+) gpu=\w+ lines=(\d+) -->")


def page_of(number):
    return (books.folder(number) / "README.md").read_text()


@pytest.mark.parametrize("number", STEPS)
def test_every_change_is_taken_back_and_measured(number):
    """The page lists the chapter's changes, each with a patch and its rows."""
    shown = CHANGES.findall(page_of(number))
    assert [int(n) for n, _ in shown] == [number], "one block of changes"
    paths = tried.diffs(number)
    backwards = [name for name, path in paths.items() if tried.takes_back(path)]
    assert backwards, f"no diff in tried/ begins with {tried.BACK!r}"
    measured = {row["tried"] for row in tried.read() if row["chapter"] == number}
    assert set(backwards) <= measured, "`make tried` measures them"
    attempts = re.search(rf"<!-- BEGIN generated: tried n={number} ", page_of(number))
    assert bool(attempts) == (len(backwards) < len(paths)), "what was not kept is shown"


@pytest.mark.parametrize("number", STEPS)
def test_a_chapter_changes_little(number):
    """What differs from the chapter before stays within the bound that its page states; from chapter 11
    on the programs are of other kinds."""
    stated = CHANGES.findall(page_of(number))
    assert stated, "the page states no bound: it has no block of changes"
    bound = int(stated[0][1])
    last = tables.one_before(number, books.numbers())
    assert tables.changed_lines(number, last) <= bound
    if number <= 10 and bound > 40:
        said = "So many lines differ because" in page_of(number)
        assert said, "say why the diff is longer"


def test_lines_of_code_are_compared_without_comments():
    before = 'int a; // one\n/* two\n three */\nint b;\n  f("// no comment", \'"\');\n'
    assert books.code(before) == ["int a;", "int b;", 'f("// no comment", \'"\');']
    same = '\tint a;\n\nint b; /* other */\nf("// no comment", \'"\');\n'
    assert books.changed_lines(before, same) == 0
    other = same.replace("no comment", "a comment") + "int c;\nint d;\n"
    assert books.changed_lines(before, other) == 3
    assert books.changed_lines(other, before) == 3


GPU = {"gpu": "NVIDIA X9000", "sms": 4, "clock_mhz": 1000, "cuda": "13.0"}
GPU |= {"driver": "580.1", "date": "2026-11-20", "M": 4096, "N": 4096, "K": 4096}
GPU |= {"precision": "fp32"}


@pytest.fixture
def changed(tmp_path, monkeypatch):
    """A chapter 3 with two changes and an attempt, measured; returns what its page says."""
    folders = {
        1: tmp_path / "01_first",
        2: tmp_path / "02_plain",
        3: tmp_path / "03_made_up",
    }
    for folder in folders.values():
        (folder / "tried").mkdir(parents=True)
        (folder / "matmul.cu").write_text("int a;\nint b;\n")
    (folders[1] / "matmul.cu").write_text("int z;\nint b;\n")
    (folders[3] / "matmul.cu").write_text("int a;\nint c; // new\n")
    for name, head in (
        ("slow", "takes back: the loop is unrolled"),
        ("dear", "takes back: two at once"),
        ("odd", "three at once"),
    ):
        (folders[3] / "tried" / f"{name}.diff").write_text(f"{head}\n--- a\n")
    speeds = {"": (400, 0.8), "slow": (200, 0.4), "dear": (500, 1.0), "odd": (300, 0.6)}
    measured = [
        {**GPU, "chapter": 3, "tried": name, "precision": "", "turns": 3}
        | {"gflops": speed, "ratio": ratio}
        for name, (speed, ratio) in speeds.items()
    ]
    counters = {
        ("", "barrier"): 1.0,
        ("slow", "barrier"): 4.0,
        ("slow", "not_selected"): 9.0,
        ("dear", "barrier"): 1.5,
        ("dear", "mio_throttle"): 0.75,
        ("odd", "barrier"): 2.5,
    }
    counted = [
        {**GPU, "chapter": 3, "tried": name, "size": 4096}
        | {"metric": "smsp__inst_executed.sum", "value": "2e9"}
        for name in ("", "slow", "dear", "odd")
    ]
    for (name, stall), value in counters.items():
        metric = f"smsp__average_warps_issue_stalled_{stall}_per_issue_active.ratio"
        row = {**GPU, "chapter": 3, "tried": name, "size": 4096}
        counted.append(row | {"metric": metric, "value": str(value)})
    monkeypatch.setattr(books, "folder", folders.get)
    monkeypatch.setattr(books, "numbers", lambda: [0, 1, 2, 3])
    monkeypatch.setattr(tried, "read", lambda: measured)
    monkeypatch.setattr(profiles, "read", lambda: counted)
    return lambda block, **options: tables.BLOCKS[block](
        folders[3] / "README.md", n="3", gpu="x9000", **options
    )


def test_a_change_is_shown_with_what_it_brought(changed):
    text = changed("changes", lines="1")
    first, second = text.splitlines()[2:4]
    assert first == (
        "| [the loop is unrolled](tried/slow.diff) | 200 | × 2.000 | barrier 8.00 → 2.00 |"
    )
    assert second == (
        "| [two at once](tried/dear.diff) | 500 | × 0.800 | MIO throttle 1.50 → 0.00 |"
    )
    assert "odd" not in text and "reaches 400 GFLOP/s" in text
    assert "1 lines of `matmul.cu` differ from chapter 2's" in text
    assert "2 lines of `matmul.cu` differ from chapter 1's" in changed(
        "changes", lines="2", before="1"
    )
    attempts = changed("tried")
    assert (
        "[three at once](tried/odd.diff) | 300 | 60.0 % | 0.750 | barrier 2.00 → 5.00 |"
        in attempts
    )
    assert "slow" not in attempts and "dear" not in attempts


def test_changes_without_counters_have_no_column_for_them(changed, monkeypatch):
    monkeypatch.setattr(profiles, "read", list)
    assert "| 200 | × 2.000 |\n" in changed("changes", lines="1")
    assert "| 300 | 60.0 % | 0.750 |\n" in changed("tried")


def test_a_change_that_is_not_measured_is_no_table(changed, monkeypatch):
    every = tried.read()
    with pytest.raises(tables.Mistake, match="1 lines of code differ .* than the 0"):
        changed("changes", lines="0")
    for rest in ([], [row for row in every if row["tried"] != "slow"]):
        monkeypatch.setattr(tried, "read", lambda rest=rest: rest)
        with pytest.raises(tables.Mistake, match="`make tried`"):
            changed("changes", lines="1")
    monkeypatch.setattr(tried, "read", lambda: every)
    monkeypatch.setattr(tried, "takes_back", lambda path: False)
    with pytest.raises(tables.Mistake, match="no change of chapter 3 is measured"):
        changed("changes", lines="1")


# ---- the chapters on tensor cores ----


def rung(number, precision, size, tflops, cublas=800):
    """A row of results/<gpu>.csv, as far as tables and plots ask for it."""
    found = {**dict.fromkeys(rows.COLUMNS), **GPU}
    found.update(chapter=number, title=f"rung {number}: made up", about="registers")
    found.update(precision=precision, M=size, N=size, K=size, passed=True, measured="")
    found.update(alpha=1.0, beta=0.0, ratio_median=tflops / cublas, peak_gflops=1e6)
    found.update(gflops=1000.0 * tflops, cublas_gflops=1000.0 * cublas)
    return {**found, "flop_per_byte": 100.0 + number}


LADDER = [
    rung(0, "fp32", 4096, 50, 50) | {"compute_roof": 60000.0, "memory_roof": 4000.0},
    rung(13, "fp32", 4096, 55, 50),
    rung(14, "bf16", 4096, 400),
    rung(14, "tf32", 4096, 200, 400),
    rung(15, "bf16", 4096, 600),
    rung(15, "bf16", 8192, 700),
    rung(18, "fp32", 4096, 200, 50),
]


@pytest.fixture
def tensors(monkeypatch):
    """The rows above as what was measured, and two GPUs that are 1.5 times as fast as one."""
    two = {**GPU, "precision": "bf16", "gpus": 2, "one_gpu_ms": 0.2, "link_gbs": None}
    ways = [{**two, "way": "slow", "share": 0.5}, {**two, "way": "quick", "share": 0.75}]
    monkeypatch.setattr(tables, "csv_of", lambda gpu: LADDER)
    monkeypatch.setattr(tables.many_gpus, "read", lambda: ways)


def test_the_second_ladder_has_the_other_precisions(tensors):
    lines = tables.tensor_ladder(ROOT / "README.md", "x9000").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:7]]
    assert [line[0] for line in cells] == ["", "14", "15", "19", ""]
    assert cells[0][1:] == ["cuBLAS in bf16", "800", "", "100 %", "800", "", "100 %"]
    assert cells[1][2:] == ["400", "", "50.0 %", "", "", ""]
    assert cells[2][2:] == ["600", "1.50", "75.0 %", "700", "", "87.5 %"]
    # 2 · 4096³ in 0.2 ms, 2 GPUs, three quarters of what twice one GPU would be.
    assert cells[3][2:] == ["1,031", "", "129 % of one GPU's cuBLAS", "", "", ""]
    assert cells[4][1:4] == ["cuBLAS in tf32", "400", ""]
    fp32 = tables.ladder(ROOT / "README.md", "x9000", "4096")
    assert re.findall(r"^\| (\d+) \|", fp32, re.M) == ["0", "13", "18"]


def test_the_time_of_tensor_cores_is_told_apart():
    values = {
        "smsp__issue_active.avg.pct_of_peak_sustained_active": 50.0,
        "smsp__inst_executed.sum": 100.0,
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 0.0,
        "sm__inst_executed_pipe_tensor_op_hmma.sum": 40.0,
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": 90.0,
    }
    assert profiles.tensor(values) == pytest.approx((0.4, 0.9))
    assert dict(plots.mix(values)) == pytest.approx(
        {"for tensor cores": 0.2, "other instructions": 0.3, "empty": 0.5}
    )
    assert dict(plots.work(values)) == pytest.approx({"at work": 0.9, "idle": 0.1})
    # HFMA2.MMA, which loads constants.
    values["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"] = 1.0
    assert profiles.tensor(values) == (0, 0)
    del values["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"]
    del values["sm__inst_executed_pipe_tensor_op_hmma.sum"]
    assert profiles.tensor(values) == (0, 0)


def test_every_rung_of_both_ladders_is_drawn():
    pytest.importorskip("matplotlib")
    plots.prepare()
    # The ladder has a rung's name, the roofline its number, with a star for bf16.
    for draw, names in (
        (plots.draw_ladder, [f"{n} · rung {n}" for n in (13, 14, 15, 18)]),
        (plots.draw_roofline, ["13", "14 *", "15 *", "18"]),
    ):
        drawn = plots.svg_of(draw(LADDER))
        for name in names:
            assert drawn.count(f">{name}<") == 1, name
        assert ("1,000 TFLOP/s" in drawn) == (draw is plots.draw_roofline)
    assert "14 · rung" not in plots.svg_of(plots.draw_sizes(LADDER))


@pytest.mark.parametrize(
    "name, words",
    [
        ("17_neighbours", ["chapter 17", "cuBLAS", "4,096"]),
        ("12_shapes", [r"\d[\d,×\s]*: [1-9]\.\d\d", r"\d[\d,×\s]*: 0\.\d\d"]),
        ("18_speed", ["normal", "cancelling", "over 2⁴⁰"]),
        ("19_ways", ["copy engines", "model", "fp32, 4 GPUs", r"16,384\*"]),
        ("bounds", ["chapter 1", "chapter 13", r"\d+ %", r"[\d.]+ ms"]),
    ],
)
def test_figures_of_one_page_say_what_was_measured(name, words):
    pytest.importorskip("matplotlib")
    plots.prepare()
    _, read, draw = plots.FIGURES[name]
    drawn = plots.svg_of(draw(read("h200")))
    for word in words:
        assert re.search(f">{word}<", drawn), word
    assert not read("x9000")


def test_a_shape_is_of_the_first_kind_that_it_fits():
    shapes = [(4097, 4099, 4101), (1, 1, 1000000), (64, 64, 65536), (1, 1000, 3000)]
    shapes += [(4096, 33, 4096), (512, 768, 768)]
    kinds = [plots.kind_of(shape).split(":")[0] for shape in shapes]
    assert kinds == [
        *("nearly a cube", "deep", "deep", "one row or one column"),
        *("up to 64 rows or columns", "all others"),
    ]


# ---- what is committed ----


@pytest.mark.depends("README.md", "notebooks", "chapters", "results")
def test_tables_are_current(project, chapters):
    result = run(
        [sys.executable, "-B", project / "results" / "tables.py", "--check"],
        env=no_cuda(),
        cwd=project,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_plots_are_current():
    result = run([sys.executable, "-B", ROOT / "results" / "plots.py", "--check"])
    assert result.returncode == 0, result.stdout + result.stderr


def test_figures_are_current():
    for suffix in ("dot", "py"):
        for source in sorted((ROOT / "images").glob(f"*.{suffix}")):
            made_from = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
            picture = source.with_suffix(".svg")
            stamp = f"<!-- made from images/{source.name}: {made_from} -->\n"
            assert picture.exists() and picture.read_text().endswith(stamp), (
                f"{picture.name} is older than {source.name}: `make images` renews it"
            )


def test_kernels_are_those_of_the_plans(emulated_nvcc, chapters, project, tmp_path):
    """What chapter 17's plans say is in results/kernels.csv, and that is what the figure shows."""
    (folder,) = (ROOT / "chapters").glob("17_*")
    program, objects = (
        tmp_path / "kernels",
        (project / "build/emulator/common").glob("*.o"),
    )
    headers = ["-I", ROOT / "common", "-I", ROOT / "chapters", "-I", folder]
    command = [emulated_nvcc, "-Ofc", "max", "-std=c++17", *headers]
    command += [ROOT / "results" / "kernels.cu", *objects, "-lcublas", "-o", program]
    assert run(command, env=no_cuda()).returncode == 0
    told = run([program], env=no_cuda()).stdout
    assert told == (ROOT / "results" / "kernels.csv").read_text(), (
        "`make kernels` renews it"
    )
    figure = [sys.executable, "-B", ROOT / "images" / "17_kernels.py"]
    drawn = run(figure, env=no_cuda() | {"PYTHONPATH": str(ROOT / "results")}).stdout
    body = drawn.split("\n", 1)[1]  # behind it come the dark colours
    assert body in (ROOT / "images" / "17_kernels.svg").read_text(), (
        "`make images` renews it"
    )


@needs_data
@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.name)
def test_rows_agree_with_themselves(path):
    seen = set()
    for row in rows.read(path):
        here = f"{path.name}: chapter {row['chapter']}, {row['M']} {row['N']} {row['K']}"
        assert row["passed"], f"{here} failed when it was measured"
        assert rows.what(row) not in seen, f"{here} is there twice"
        seen.add(rows.what(row))
        flop = 2 * row["M"] * row["N"] * row["K"] + row["M"] * row["N"] * (
            1 if row["beta"] == 0 else 3
        )
        for name, speed in (("kernel_ms", "gflops"), ("cublas_ms", "cublas_gflops")):
            assert row[speed] == pytest.approx(
                flop / row[f"{name}_median"] / 1e6, rel=1e-4
            ), here
        for name in ("kernel_ms", "cublas_ms", "ratio"):
            low, middle, high = (
                row[f"{name}_{part}"] for part in ("p10", "median", "p90")
            )
            assert 0 < low <= middle <= high, here
        assert row["ratio_median"] == pytest.approx(
            row["gflops"] / row["cublas_gflops"], rel=0.1
        )
        # The peak is that of the precision's own units; chapter 18 takes the tensor cores.
        if row["peak_gflops"] and row["chapter"] != 18:
            assert row["gflops"] < row["peak_gflops"], here


@needs_data
@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.name)
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_every_rung_was_faster_than_the_one_before(path, precision):
    speeds = [
        (chapter, row["gflops"])
        for chapter, row in rows.of_size(rows.read(path), 4096, precision).items()
        # 12's and 17's idea is the shapes that 11 and 16 are slow at; 11 has been tuned for the H200.
        if chapter not in (0, 12, 17) + (() if path.stem == "h200" else (11,))
    ]
    assert speeds == sorted(speeds, key=lambda pair: pair[1])


def test_chapters_say_what_plots_ask(chapters):
    for number, program in chapters.items():
        told = json.loads(run([program, "--describe"]).stdout)
        assert told["chapter"] == number
        assert told["about"] in plots.COLOURS


@needs_data
@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.name)
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_intensity_agrees_with_the_counters(path, precision):
    """What a tile requests is what comes from L2, less what the two blocks of an SM share in L1
    and plus what chapter 11's blocks hand one another. What a multicast brings is requested once and comes to
    each block of the cluster: the tile of B, twice the size of A's, to two."""
    counted = profiles.counted(path.stem, precision=precision)
    measured = rows.of_size(rows.read(path), profiles.SIZE, precision)
    for chapter, row in measured.items():
        if chapter > 2 and chapter in counted:
            moved = counted[chapter]["l1tex__m_xbar2l1tex_read_bytes.sum"]
            if chapter in (16, 17):
                moved *= 2 / 3
            assert row["flop_per_byte"] == pytest.approx(
                2 * profiles.SIZE**3 / moved, rel=0.2
            ), chapter


def test_what_is_measured_besides_is_a_median():
    """Each row has a sample of its own; none of them is the figure."""
    samples = [("9", 900.0, 30.0), ("64", 100.0, 10.0), ("4096", 300.0, 20.0)]
    found = [
        {"chapter": 0, "M": int(size), "N": 1, "K": 1, "alpha": 1, "beta": 0}
        | {"precision": "fp32", "compute_roof": fast, "memory_roof": slope}
        | {"measured": f"a loop: {fast / 100:g} TFLOP/s; a copy: {slope:g} GB/s"}
        for size, fast, slope in samples
    ]
    assert rows.roof(found) == (300.0, 20.0)
    assert rows.measured(found) == {"a loop": (3.0, "TFLOP/s"), "a copy": (20.0, "GB/s")}
    found.append({**found[0], "compute_roof": None, "memory_roof": None, "measured": ""})
    assert rows.roof(found) == (300.0, 20.0)


def test_issue_slots_add_up():
    """Used or empty, and what is used is one of three."""
    values = {
        "smsp__issue_active.avg.pct_of_peak_sustained_active": 80.0,
        "smsp__inst_executed.sum": 100.0,
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 32 * 75.0,
    }
    assert dict(plots.mix(values)) == pytest.approx(
        {"multiply-adds": 0.6, "other instructions": 0.2, "empty": 0.2}
    )
    values["smsp__inst_executed_op_shared_ld.sum"] = 10.0
    assert dict(plots.mix(values)) == pytest.approx(
        {
            "multiply-adds": 0.6,
            "reads of shared memory": 0.08,
            "other instructions": 0.12,
            "empty": 0.2,
        }
    )


@pytest.mark.parametrize("precision", rows.PRECISIONS)
def test_every_reason_to_wait_has_a_name_or_is_rare(precision):
    """What the chart leaves out is next to nothing in every chapter."""
    for counted in profiles.counted("h200", precision=precision).values():
        clocks = {stall: profiles.clocks(counted, stall) for stall in profiles.STALLS}
        left_out = sum(clocks[stall] for stall in set(clocks) - set(plots.REASONS))
        assert left_out < 0.01 * sum(clocks.values())


# ---- what is read ----

# How each results/*.csv is read, and a column of numbers in it.
READERS = {
    "tried.csv": ("import tried; tried.read()", "ratio"),
    "power.csv": ("import power; power.read()", "ratio"),
    "many_gpus.csv": ("import many_gpus; many_gpus.read()", "share"),
    "profiles.csv": ("import profiles; profiles.counted('h200')", "value"),
    "lens_vs_ncu.csv": ("import lens_vs_ncu; lens_vs_ncu.recorded()", "ncu"),
    "kernels.csv": ("import runpy; runpy.run_path('../images/17_kernels.py')", "M"),
    "warps.csv": ("import replays; replays.warps()", "came"),
    "errors_h200.csv": ("import tables; tables.errors(None, 'h200')", "rms"),
    "errors.csv": ("import runpy; runpy.run_path('../images/18_errors.py')", "rms"),
}
READERS |= {
    path.name: (f"import tables; tables.csv_of({path.stem!r})", "gflops")
    for path in MEASURED
}


@pytest.mark.parametrize(
    "name", sorted(path.name for path in (ROOT / "results").glob("*.csv"))
)
def test_an_odd_row_is_named(tmp_path, name):
    """With its file, line and column, in one line and no traceback, whatever reads it."""
    reader, column = READERS[name]
    shutil.copytree(ROOT / "results", tmp_path / "results")
    (tmp_path / "images").mkdir()
    for drawn in "17_kernels.py", "18_errors.py":
        shutil.copy(ROOT / "images" / drawn, tmp_path / "images")
    with open(ROOT / "results" / name, newline="") as file:
        head, first, row, *more = csv.reader(file)
    at = head.index(column)
    line, place = (
        f"results/{name}, line 3: ",
        f"results/{name}, line 3, column {column}: ",
    )

    def with_(text):
        return [head, first, [*row[:at], text, *row[at + 1 :]], *more]

    for table, code, said in (
        ([head, first, row, *more], 0, ""),
        (with_("12x"), 1, f"{place}'12x' is no "),
        (with_(""), 1, f"{place}'' is no "),
        (with_("nan"), 1, f"{place}'nan' is no "),
        ([head, first, row[:at], *more], 1, f"{place}nothing there"),
        ([head, first, [*row, "1"]], 1, f"{line}{len(row) + 1} fields, and there are "),
        ([head[1:], first], 1, f"results/{name}, line 1: the columns are not {head[0]},"),
        ([], 1, f"results/{name}, line 1: the columns are not {head[0]},"),
    ):
        with open(tmp_path / "results" / name, "w", newline="") as file:
            csv.writer(file).writerows(table)
        result = run(
            [sys.executable, "-B", "-c", reader], cwd=tmp_path / "results", env=no_cuda()
        )
        assert result.stderr.startswith(said), result.stderr
        assert (result.returncode, result.stderr.count("\n")) == (code, code)


@pytest.mark.parametrize(
    "column, text, said",
    [
        ("passed", "maybe", "'maybe' is neither yes nor no"),
        ("chapter", "1.5", "'1.5' is no whole number"),
        ("measured", "copy 3 TB/s", "'copy 3 TB/s' is not as 'name: value unit'"),
        ("measured", "copy: fast TB/s", "'fast' is no number"),
    ],
)
def test_a_field_is_of_its_kind(world, column, text, said):
    """A program that comes upon another ends with one line, too."""
    assert script(world, "measure.py", "--sizes", "64").returncode == 0
    path = world / "results" / "x9000.csv"
    with open(path, newline="") as file:
        head, *lines = csv.reader(file)
    lines[1][head.index(column)] = text
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([head, *lines])
    page = world / "README.md"
    page.write_text(
        "<!-- BEGIN generated: ladder gpu=x9000 size=64 -->\n<!-- END generated -->\n" * 2
    )
    for program, *words in (
        ("tables.py", page, page),
        ("plots.py", "--gpu", "x9000"),
        ("measure.py", "--sizes", "64"),
    ):
        result = script(world, program, *words)
        assert result.stderr.splitlines()[-1:] == [
            f"results/x9000.csv, line 3, column {column}: {said}"
        ]
        assert result.returncode == 1 and "Traceback" not in result.stderr


# ---- the scripts ----


def test_ladder_measures_everything(world):
    result = script(world, "measure.py", "--sizes", "64,32", "--shapes", "8x4x2")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "12 measured, 0 FAILED" in result.stdout and result.stderr == ""
    found = rows.read(world / "results" / "x9000.csv")
    assert [(row["chapter"], row["M"], row["N"], row["K"]) for row in found] == [
        (c, *shape) for c in range(4) for shape in ((8, 4, 2), (32, 32, 32), (64, 64, 64))
    ]
    row = found[-1]
    assert (
        row["gpu"],
        row["driver"],
        row["gflops"],
        row["ratio_median"],
        row["runs"],
    ) == ("NVIDIA X9000", "580.1", 3.0, 0.75, 7)
    assert rows.roof(found) == (6000, 2000)


def test_ladder_shows_and_keeps_what_failed(world):
    assert script(world, "measure.py", "--sizes", "64").returncode == 0
    result = script(world, "measure.py", "--sizes", "64", BAD="2", OLD="3")
    assert result.returncode == 1
    assert (
        "FAILED: all of it" in result.stdout
        and "not run: needs a newer GPU" in result.stdout
    )
    found = rows.of_size(rows.read(world / "results" / "x9000.csv"), 64)
    assert sorted(found) == [0, 1, 3], (
        "a failed row replaces its older one, what did not run stays"
    )


def test_many_shapes_are_measured_chapter_by_chapter(world, monkeypatch):
    """As many as there is time for, and large ones last; and what a page shows of them."""
    (world / "results" / "shapes.txt").write_text(
        "16384x16384x16384\n64x64x64\n8x4x2\n# drawn at random\n16x8x24\n# drawn at random, odd\n3x5x7\n"
    )
    words = ["--many", "--chapters", "3,2"]
    result = script(world, "measure.py", *words, "--minutes", "0.000001")
    assert result.returncode == 0, result.stderr
    assert "1 measured, 0 FAILED, 0 not run, 9 left out for want" in result.stdout
    (row,) = rows.read(world / "results" / "x9000_shapes.csv")
    assert (row["chapter"], row["M"]) == (3, 64)
    assert "10 measured" in script(world, "measure.py", *words, BF16="3").stdout

    monkeypatch.setattr(rows, "ROOT", world)
    monkeypatch.setattr(tables.measure, "SHAPES", world / "results" / "shapes.txt")
    shown = tables.shapes(None, "2", "x9000").splitlines()
    assert [line.split("|")[1].strip() for line in shown[2:7]] == [
        *("**least**", "**geometric mean**", "16,384", "64", "8 × 4 × 2")
    ]
    assert shown[2].split("|")[3].strip() == "**0.50**"
    assert shown[7] == "" and shown[8].startswith("3 shapes. ")
    assert shown[-3::2] == [
        f"Other shapes, drawn at random, {numbers} each way: geometric mean 0.50 of 1, the least 0.50, and 1 more "
        "than half a percent behind."
        for numbers in ("multiples of 8 up to 24", "odd numbers up to 7")
    ]
    assert "times as fast in bf16" in tables.shapes(None, "3", "x9000")
    assert tables.shapes(None, "9", "x9000") == ""


def test_ladder_without_a_gpu_says_so(world):
    (world / "bin" / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    result = script(world, "measure.py")
    assert (result.returncode, result.stdout) == (3, "")
    assert "needs an NVIDIA GPU" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words, more, code, said",
    [
        (["--sizes", "x"], {}, 2, "are numbers"),
        (["--shapes", "1x2"], {}, 2, "MxNxK"),
        (["--chapters", "9"], {}, 3, "there is no ./chapter9"),
        ([], {"EMULATED": "1"}, 3, "built for the emulator"),
    ],
)
def test_ladder_says_what_is_wrong(world, words, more, code, said):
    result = script(world, "measure.py", *words, **more)
    assert result.returncode == code and said in result.stderr
    assert not list((world / "results").glob("*.csv"))


# Counts nothing: each counter it is asked for is the length of its name. Chapter 3's kernel cannot be seen.
FAKE_NCU = (
    f"#!{sys.executable}"
    + """
import os, re, sys
words = sys.argv[1:]
if words == ["--query-metrics"]:
    print("sm__inst_executed_pipe_tensor_op_hmma  Counter  # of them")
    sys.exit(0)
at = next(i for i, word in enumerate(words) if "/chapter" in word)
with open(os.environ["NCU_LOG"], "a") as log:
    print(words[words.index("-k") + 1], os.path.basename(words[at]), *words[at + 1:], file=log)
if words[at].endswith("chapter3") and "--reps" not in words:
    sys.exit("no kernel")
print('"ID","Metric Name","Metric Value"')
for metric in words[words.index("--metrics") + 1].split(","):
    print(f'"0","{metric}","{len(metric):,}"')
"""
)


def test_profiles_count_each_chapter_and_cublas_once_a_precision(world):
    ncu = world / "bin" / "ncu"
    ncu.write_text(FAKE_NCU)
    ncu.chmod(0o755)
    log = world / "log"
    result = script(world, "profiles.py", BF16="2", NCU_LOG=str(log))
    assert result.returncode == 1 and "FAILED: chapter 3 bf16" in result.stderr
    own, cublas = profiles.kernels_of(1), profiles.kernels_of(0)
    assert log.read_text().splitlines() == [
        f"regex:{cublas} chapter2 4096 --one-shape --reps 1",
        f"regex:{cublas} chapter0 4096 --one-shape --reps 1",
        *(f"regex:{own} chapter{n} 4096 --one-shape --check-only" for n in (1, 2, 3)),
    ]
    with open(world / "results" / "profiles.csv", newline="") as file:
        found = list(csv.DictReader(file))
    assert {(row["chapter"], row["precision"]) for row in found} == {
        ("0", "bf16"), ("0", "fp32"), ("1", "fp32"), ("2", "bf16")
    }  # fmt: skip
    asked = {row["metric"] for row in found}
    assert "sm__inst_executed_pipe_tensor_op_hmma.sum" in asked
    assert not [metric for metric in asked if "gmma" in metric], "this GPU has none"
    assert all(int(row["value"]) == len(row["metric"]) for row in found)
    # Counted again, a chapter's rows take the place of the old ones.
    script(world, "profiles.py", "1", NCU_LOG=str(log))
    with open(world / "results" / "profiles.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(found)


# A chapter that is there for a GPU, right for every shape, and without a kernel of its own.
RIGHT_CHAPTER = """#!/bin/sh
test "$1" = --occupancy && echo "names no kernel" >&2 && exit 2
echo '{"passed": true, "emulated": false, "device": "X", "sms": 1, "clock_mhz": 1, "cuda": "1",'
echo '"date": "2026-01-02", "inputs": "none", "several_gpus": false, "precisions": ["fp32"]}'
"""


def test_gpu_tests_end_with_the_count(world):
    (world / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "gpu.py", world / "tests")
    for program in world.glob("chapter[0-9]"):
        program.write_text(RIGHT_CHAPTER)
    command = [sys.executable, "-B", world / "tests" / "gpu.py"]
    only_the_gpu = dict(no_cuda(), PATH=str(world / "bin"))
    result = run(command, env=only_the_gpu, cwd=world)
    assert result.returncode == 3 and "compute-sanitizer is not here" in result.stderr
    assert result.stdout.endswith(" passed, 0 failed\n")
    (world / "bin" / "compute-sanitizer").write_text("#!/bin/sh\nexit 0\n")
    (world / "bin" / "compute-sanitizer").chmod(0o755)
    result = run(command, env=only_the_gpu, cwd=world)
    assert result.returncode == 0 and result.stdout.endswith(" passed, 0 failed\n")
    (world / "bin" / "compute-sanitizer").write_text("#!/bin/sh\nexit 9\n")
    result = run(command, env=only_the_gpu, cwd=world)
    assert result.returncode == 1 and result.stdout.endswith(" passed, 60 failed\n")
    (world / "bin" / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    result = run(command, env=only_the_gpu, cwd=world)
    assert (result.returncode, result.stdout) == (
        3,
        "",
    ) and "needs an NVIDIA GPU" in result.stderr


# In form as cuobjdump prints it: a main loop, the loop for what its unrolling left over, the end.
MACHINE_CODE = """
\t\tFunction : kernel
        /*0000*/                   MOV R1, c[0x0][0x28] ;      /* 0x1 */
        /*0010*/                   LDG.E R2, [R4.64] ;         /* 0x2 */
        /*0020*/                   FFMA R0, R2, R3, R0 ;       /* 0x3 */
        /*0030*/                   FFMA R0, R5.reuse, R3, R0 ; /* 0x4 */
        /*0040*/              @P1 BRA 0x10 ;                   /* 0x5 */
        /*0050*/                   LDG.E R2, [R4.64] ;         /* 0x6 */
        /*0060*/                   FFMA R0, R2, R3, R0 ;       /* 0x7 */
        /*0070*/              @P1 BRA 0x50 ;                   /* 0x8 */
        /*0080*/                   EXIT ;                      /* 0x9 */
        /*0090*/                   BRA 0x90;                   /* 0xa */
"""


@pytest.mark.parametrize(
    "code, said, status",
    [
        (
            MACHINE_CODE,
            "kernel\n    4 instructions in the main loop: 2 FFMA (50.0%), 1 with .reuse; ",
            0,
        ),
        (MACHINE_CODE.replace("FFMA", "DFMA"), "", 1),
        ("", "", 1),
    ],
)
def test_main_loop_is_the_one_with_most_multiply_adds(code, said, status):
    result = run([sys.executable, "-B", ROOT / "results" / "loop.py"], input=code)
    assert result.returncode == status and result.stdout.startswith(said)
    assert status == 0 or "no kernel with a loop" in result.stderr and not result.stdout


def test_tables_are_written_and_checked(world):
    page = world / "README.md"
    page.write_text(
        "a\n<!-- BEGIN generated: ladder gpu=x9000 size=64 -->\n"
        "<!-- END generated -->\nb\n"
        "<!-- BEGIN generated: chapter n=2 gpu=x9000 -->\n<!-- END generated -->\n"
    )
    empty = page.read_text()
    assert script(world, "tables.py", "--check").returncode == 0, (
        "without data blocks are empty"
    )
    script(world, "measure.py", "--sizes", "32,64")
    result = script(world, "tables.py", "--check")
    assert result.returncode == 1
    assert "README.md: ladder gpu=x9000 size=64: stale" in result.stdout
    assert page.read_text() == empty
    assert script(world, "tables.py").returncode == 0
    text = page.read_text()
    assert "| 3 | [rung 3: made up](chapters/03_rung) | 3 | 1.50 | 75.0 % |" in text
    assert "NVIDIA X9000, 1 SMs at 1,000 MHz, CUDA 13.0, driver 580.1, 2026-01-02" in text
    assert text.startswith("a\n") and "\nb\n" in text
    assert script(world, "tables.py", "--check").returncode == 0
    page.write_text(text.replace("75.0 %", "95.0 %"))
    assert script(world, "tables.py", "--check").returncode == 1


@pytest.mark.parametrize(
    "block, said",
    [
        (
            "<!-- BEGIN generated: leader size=64 -->\n<!-- END generated -->\n",
            "no generated block",
        ),
        (
            "<!-- BEGIN generated: ladder size=64 -->\n<!-- END generated -->\n",
            "gpu, size",
        ),
        ("<!-- BEGIN generated: ladder gpu=x size=64 -->\nno end\n", "begin and end"),
    ],
)
def test_a_wrong_block_is_named(world, block, said):
    (world / "README.md").write_text(block)
    result = script(world, "tables.py", "--check")
    assert (
        result.returncode == 1
        and "README.md: " in result.stderr
        and said in result.stderr
    )


def test_plots_know_when_they_are_old(world):
    shutil.copy(ROOT / "chapters" / "MEASURING.md", world / "chapters")
    script(world, "measure.py", "--sizes", "2048,4096")
    result = script(world, "plots.py", "--gpu", "x9000", "--check")
    assert result.returncode == 1 and "images/ladder.svg is older" in result.stdout


def test_a_picture_that_cannot_be_drawn_stays(tmp_path):
    shutil.copytree(ROOT / "results", tmp_path / "results")
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "images").mkdir()
    for name in ("18_errors.py", "18_errors.svg"):
        shutil.copy(ROOT / "images" / name, tmp_path / "images")
    make = ["make", "-s", "-W", "images/18_errors.py", "images/18_errors.svg"]
    picture = tmp_path / "images" / "18_errors.svg"
    before = picture.read_text()
    result = run(make, cwd=tmp_path, env=no_cuda())
    assert result.returncode == 0 and picture.read_text() == before, result.stderr
    with open(tmp_path / "results" / "errors.csv", "a") as file:
        file.write("normal,64\n")
    result = run(make, cwd=tmp_path, env=no_cuda())
    assert "column scheme: nothing there" in result.stderr
    assert result.returncode == 2 and picture.read_text() == before


def test_labels_keep_apart():
    assert plots.apart([10, 11, 50], 5) == pytest.approx([8, 13, 50])
    assert plots.apart([50, 11, 10], 5) == pytest.approx([50, 13, 8])
    assert plots.apart([10, 11], 5, ceiling=11) == pytest.approx([6, 11])
