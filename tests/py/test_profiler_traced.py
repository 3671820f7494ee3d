"""Tests groups of functions that are traced on request: each call is counted once, arguments and results are the same
as without the profiler, and the program is unharmed. Also tests the tracing of the program's own functions, and its
throttle.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import profiler_harness as harness
import pytest
from iolens.lab.run.settings.groups import GROUPS, libraries
from iolens.log import read_log
from iolens.metrics.processor.regions import region_paths
from iolens.metrics.processor.traced.calls import heap, heap_callers, tracing_cost

SOURCES = harness.ROOT / "tests/c"
LISTS = harness.ROOT / "profiler/src/trace"


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def rows(folder: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Maps group, function and region to a row of the table `traced` in the log that began first."""
    job = min(map(read_log, harness.logs(folder)), key=lambda job: job.start)
    table = job.private["traced"]
    paths = region_paths(job, table["region"])
    return {
        (row["group"], row["function"], path): row for path, row in zip(paths, table.to_dict("records"), strict=True)
    }


def trace(groups: str, program: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    preload = ":".join([*map(str, libraries(groups.split(","))), harness.PRELOAD])
    return harness.run(program, folder=folder, LD_PRELOAD=preload)


def test_pnetcdf_is_met_in_all_types_and_shapes() -> None:
    """A function that the list lacks would not be counted, and no result would show that."""
    listed = {name for _, name in harness.trace_rows("pnetcdf")}
    types = "text schar uchar short ushort int uint long float double longlong ulonglong".split()
    shapes = ["var", "var1", "vara", "vars", "varm", "varn"]
    typed = [f"{shape}_{kind}" for shape in shapes for kind in types]
    blocking = {f"ncmpi_{way}_{name}{end}" for way in ("put", "get") for name in typed for end in ("", "_all")}
    later = {f"ncmpi_{way}_{name}" for way in ("iput", "iget", "bput") for name in typed}
    several = {f"ncmpi_m{way}_{name}{end}" for way in ("put", "get") for name in typed for end in ("", "_all")}
    several = {name for name in several if "_varn_" not in name}
    assert (blocking | later | several) - listed == set()


SPELLINGS = {"TRACED": [("", "")], "RENAMED": [("", ""), ("scipy_", ""), ("", "64_"), ("scipy_", "64_")]}

WAITS = re.compile(
    r"pthread_(mutex|cond|rwlock|spin)_\w*(lock|wait|signal|broadcast)|pthread_\w*join(_np)?|sem_(\w*wait|post)"
    r"|mtx_\w*lock|cnd_(\w*wait|signal|broadcast)|thrd_join"
)


def test_no_wait_of_threads_is_missed() -> None:
    """For waits with time limits C++ and C11 use functions of their own."""
    maps = Path("/proc/self/maps").read_text()
    libraries = {line.split()[-1] for line in maps.splitlines() if re.search(r"/lib(c|pthread)[.-][^/]*$", line)}
    exported = subprocess.run(["nm", "-D", "--defined-only", *libraries], capture_output=True, text=True, check=True)
    names = {line.split()[-1].split("@")[0] for line in exported.stdout.splitlines() if line.strip()}
    known = set(re.findall(r"TRACED\(WORD, (\w+)\)", (LISTS / "pthreads.def").read_text()))
    waits = {name for name in names if WAITS.fullmatch(name)}
    assert len(waits) > 20
    assert waits - known == set()


def test_blas_is_called_as_without_us(tmp_path: Path) -> None:
    library, source = SOURCES / "traced_blas_library.c", SOURCES / "traced_blas.c"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", "libblas.so", library], cwd=tmp_path, check=True)
    link = ["libblas.so", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", "-O1", "-o", "main", source, *link], cwd=tmp_path, check=True)
    plain = subprocess.run([tmp_path / "main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    traced = trace("blas", tmp_path / "main", tmp_path)
    assert (traced.stdout, traced.stderr, traced.returncode) == (plain.stdout, "", 0)
    calls = {function: row["calls"] for (group, function, _), row in rows(tmp_path).items() if group == "blas"}
    once = {"sdot_": 1, "scipy_cblas_ddot64_": 1}
    assert calls == {"dgemm_": 10, "cblas_dgemm": 10, "zdotc_": 10, "ddot_": 2, **once}


def test_libraries_of_the_same_names_are_told_apart_by_their_callers(tmp_path: Path) -> None:
    """Imitates h5py and netCDF4, each of which has its own copy of HDF5. One of the functions is also wrapped by the
    recorder, the other is not.
    """
    source, shared = SOURCES / "traced_twins.c", ["gcc", "-O1", "-shared", "-fPIC"]
    for number, module in enumerate(["one", "other"], 1):
        library = f"libhdf5-{module}.so"
        subprocess.run([*shared, f"-DANSWER={number}", "-o", library, source], cwd=tmp_path, check=True)
        link = [library, f"-Wl,-rpath,{tmp_path}"]
        subprocess.run([*shared, "-DMODULE", "-o", f"{module}.so", source, *link], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-DMAIN", "-o", "main", source, "-ldl"], cwd=tmp_path, check=True)
    traced = trace("hdf5", tmp_path / "main", tmp_path)
    assert (traced.stdout, traced.stderr, traced.returncode) == ("-11\n-22\n" * 2, "", 0)
    calls = {function: row["calls"] for (_, function, _), row in rows(tmp_path).items()}
    assert calls == {"H5Fflush": 4, "H5Pcreate": 4}


@pytest.mark.parametrize("library", ["GCC", "LLVM"])
def test_what_openmp_runs_is_the_program(library: str, tmp_path: Path) -> None:
    """Calls of threads and tasks in a parallel region have the same counts with either OpenMP library. Calls that
    LLVM's library makes itself do not count.
    """
    source, beside = SOURCES / "traced_omp.c", SOURCES / "traced_omp_library.c"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", "libomp.so", beside], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-O1", "-fopenmp", "-c", "-o", "main.o", source], cwd=tmp_path, check=True)
    link = ["-fopenmp"] if library == "GCC" else ["libomp.so", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", "-o", "main", "main.o", *link], cwd=tmp_path, check=True)
    assert trace("omp", tmp_path / "main", tmp_path).returncode == 0
    calls = {function: row["calls"] for (_, function, _), row in rows(tmp_path).items()}
    threads = {"GOMP_single_start": 20, "GOMP_barrier": 20, "GOMP_critical_start": 30}
    assert calls == {"GOMP_parallel": 10, "GOMP_task": 10, **threads}


def test_a_traced_program_without_any_file_has_a_log(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("#include <stdlib.h>\nint main(void) { free(malloc(9)); return 0; }\n")
    subprocess.run(["gcc", "-O0", "-o", "main", "main.c"], cwd=tmp_path, check=True)
    assert trace("heap", tmp_path / "main", tmp_path).returncode == 0
    assert rows(tmp_path)["heap", "malloc", "(outside)"]["calls"] == 1


def test_heap_math_and_threads_by_region(tmp_path: Path) -> None:
    """The program forks, is interrupted, and cancels a thread; its output must be the same as without the profiler."""
    program = harness.build_program("traced_calls", "-Wl,--no-as-needed", "-lm")
    traced = trace("heap,math,pthreads,system", program, tmp_path)
    assert (traced.returncode, traced.stderr) == (0, "")
    assert traced.stdout == "1.648721 0.707107 0.479426 331.467914 0\n"
    found = rows(tmp_path)
    heap = {function: (row["calls"], row["bytes"]) for (_, function, region), row in found.items() if region == "heap"}
    assert heap == {"malloc": (100, 100_000), "realloc": (100, 200_000), "calloc": (100, 10_000), "free": (200, 0)}
    sums = {function: row["calls"] for (_, function, region), row in found.items() if region == "math"}
    assert sums == {"exp": 100, "pow": 100, "sinf": 100, "cexp": 100}
    assert found["pthreads", "pthread_join", "threads"]["calls"] == 1
    assert found["pthreads", "pthread_cond_signal", "threads"]["calls"] == 1
    assert [found["system", name, "(outside)"]["calls"] for name in ("fork", "wait")] == [1, 1]


def test_high_water_and_what_was_not_freed_by_caller(tmp_path: Path) -> None:
    """The expected numbers are those of the program's own constants. The large block that is allocated last is not part
    of the high water.
    """
    program = harness.build_program("heap_use", "-g", "-fno-builtin", "-O1", "-pthread")
    assert trace("heap", program, tmp_path).returncode == 0
    job = max(map(read_log, harness.logs(tmp_path)), key=lambda job: len(heap_callers(job) or ()))
    rows = heap_callers(job).frame()
    found = rows.assign(function=rows["caller"].str.split().str[0]).groupby("function").sum(numeric_only=True)
    own = found.loc[["keeps", "churns", "peaks", "late", "grows"]]
    assert own["live_blocks"].tolist() == [1000, 0, 0, 0, 1]
    assert own["live_bytes"].tolist() == [1_000_000, 0, 0, 0, 300]
    assert own["high_bytes"].tolist() == [1_000_000, 0, 5_000_000, 0, 0]
    churned = sum(i % 50 + 1 for i in range(20000)) + 10000 * 16
    assert own.loc["churns", ["calls", "bytes"]].tolist() == [30000, churned]
    (rank,) = heap(job).frame().to_dict("records")
    assert 6_000_000 <= rank["high_bytes"] < 6_010_000  # The high water includes blocks of the C library itself.
    assert rank["live_bytes"] == found["live_bytes"].sum()
    assert rank["high_bytes"] == found["high_bytes"].sum()
    assert 0 < rank["high_time"] < job.run_time - 0.1  # Smaller blocks come a tenth of a second after the peak.


@pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++")
def test_the_caller_in_cxx_is_behind_operator_new(tmp_path: Path) -> None:
    source = tmp_path / "news.cpp"
    source.write_text(
        "#include <vector>\nstd::vector<double> *kept;\n"
        "__attribute__((noinline)) void makes() { kept = new std::vector<double>(10000); }\n"
        "__attribute__((noinline)) void many() { delete[] new int[30000]; }\n"
        "int main() { makes(); many(); return kept == nullptr; }\n"
    )
    subprocess.run(["g++", "-g", "-O0", "-o", tmp_path / "news", source], check=True)
    assert trace("heap", tmp_path / "news", tmp_path).returncode == 0
    rows = heap_callers(read_log(harness.logs(tmp_path)[0])).frame().to_dict("records")
    assert {row["bytes"]: row["live_bytes"] for row in rows if row["bytes"] >= 80000} == {80000: 80000, 120000: 0}
    callers = {row["bytes"]: row["caller"] for row in rows}
    assert callers[120000] == "many() (news.cpp:4)"
    assert "operator new" not in callers[80000]


def test_the_programs_own_functions(tmp_path: Path) -> None:
    program = harness.build_program("traced_functions", "-finstrument-functions", "-g", "-no-pie")
    assert trace("functions", program, tmp_path).returncode == 0
    job = read_log(harness.logs(tmp_path)[0])
    table, nodes = job.private["traced"], job.private["call_nodes"].set_index("node")
    listing = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    names = {int(address, 16): name for address, name in re.findall(r"^(\w+) T (\w+)$", listing, re.MULTILINE)}
    found = {names[int(nodes["offset"][row["node"]])]: row for row in table.to_dict("records")}
    calls = {name: (row["calls"], row["throttled"]) for name, row in found.items()}
    assert calls == {"tiny": (100_000, 1), "works": (10, 0), "recursive": (200 - 1, 0), "main": (1, 0)}
    assert {row["group"] for row in found.values()} == {"functions"}


def own_functions(job: Any, program: Path) -> dict[str, dict[str, Any]]:
    """Maps names to rows of the table `traced`, for functions of a program that was linked with -no-pie."""
    nodes = job.private["call_nodes"].set_index("node")
    listing = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    names = {int(address, 16): name for address, name in re.findall(r"^(\w+) [Tt] (\w+)$", listing, re.MULTILINE)}
    return {names[int(nodes["offset"][row["node"]])]: row for row in job.private["traced"].to_dict("records")}


def file_seconds(job: Any) -> float:
    """Adds up the time of all calls on files."""
    known = [(layer, kind) for layer in ("POSIX", "STDIO") for kind in ("META", "READ", "WRITE")]
    return float(sum(job.records[layer][f"{layer}_F_{kind}_TIME"].sum() for layer, kind in known))


def test_what_tracing_cost_is_measured_and_within_the_processor_time_of_the_calls(tmp_path: Path) -> None:
    """The program's own times include the recording of its calls. The recording of free, which allocates nothing, costs
    as much as that of malloc.
    """
    source = tmp_path / "heap.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\nvoid *volatile kept;\n"
        "int main(void) { struct timespec a, b; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);\n"
        "for (int i = 0; i < 200000; i++) { kept = malloc(32); free(kept); }\n"
        "clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);\n"
        'printf("%.9f", b.tv_sec - a.tv_sec + 1e-9 * (b.tv_nsec - a.tv_nsec)); }\n'
    )
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-o", tmp_path / "heap", source], check=True)
    used = float(trace("heap", tmp_path / "heap", tmp_path).stdout)
    job = read_log(harness.logs(tmp_path)[0])
    found = job.private["traced"].set_index("function")
    assert found["calls"]["free"] >= 200000
    assert 0 < found["recording"]["free"] + found["recording"]["malloc"] < 1.05 * used
    each = found["recording"] / found["calls"]
    assert each["free"] == pytest.approx(each["malloc"])
    (cost,) = tracing_cost(job).frame().to_dict("records")
    assert (cost["group"], cost["calls"]) == ("heap", found["calls"].sum())
    assert cost["seconds"] == pytest.approx(found["recording"].sum())
    assert cost["share"] == pytest.approx(100 * cost["seconds"] / job.run_time)


def test_exclusive_times_add_up(tmp_path: Path) -> None:
    """Exclusive times plus the time of calls on files equal the time of both threads, however functions call one
    another and end. A nested call of the same function adds nothing to the inclusive time. The main function ends by
    exit.
    """
    program = harness.build_program("traced_exclusive", "-finstrument-functions", "-no-pie")
    traced = trace("functions", program, tmp_path)
    assert (traced.returncode, traced.stderr) == (0, "")
    spent = {name: float(value) for name, value in map(str.split, traced.stdout.splitlines())}
    job = read_log(harness.logs(tmp_path)[0])
    found = own_functions(job, program)
    calls = {name: row["calls"] for name, row in found.items()}
    two = {"after": 2, "jumps": 2}
    assert calls == {"main": 1, "recursive": 10, "even": 6, "odd": 5, "thread": 1, "writes": 1, **two}
    threads = found["main"]["time"] + found["thread"]["time"]
    exclusive = sum(row["exclusive"] for row in found.values())
    assert exclusive + file_seconds(job) == pytest.approx(threads, abs=2e-6)
    jumped = {"jumps": spent["jumps"] + spent["deeper"]}
    assert all(row["exclusive"] >= (spent | jumped)[name] - 1e-6 for name, row in found.items())
    assert found["recursive"]["time"] == pytest.approx(found["recursive"]["exclusive"], abs=1e-6)
    pair = found["even"]["exclusive"] + found["odd"]["exclusive"]
    assert found["even"]["time"] == pytest.approx(pair, abs=1e-6)
    assert found["writes"]["time"] > found["writes"]["exclusive"]


@pytest.mark.parametrize("options", [["-O0"], ["-O2"]])
def test_functions_left_by_exceptions_have_their_times(options: list[str], tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("there is no g++")
    source = SOURCES / "traced_exceptions.cpp"
    build = ["g++", *options, "-finstrument-functions", "-no-pie", "-o", "main", source]
    subprocess.run(build, cwd=tmp_path, check=True)
    assert trace("functions", tmp_path / "main", tmp_path).returncode == 0
    found = own_functions(read_log(harness.logs(tmp_path)[0]), tmp_path / "main")
    calls = {name: row["calls"] for name, row in found.items()}
    assert calls == {"main": 1, "catches": 5, "passes_on": 20, "throws": 5, "afterwards": 5}
    exclusive = sum(row["exclusive"] for row in found.values())
    assert exclusive == pytest.approx(found["main"]["time"], abs=1e-6)
    assert found["passes_on"]["time"] < found["catches"]["time"]


def test_a_thread_with_the_smallest_stack_starts_where_functions_are_traced(tmp_path: Path) -> None:
    """Thread-local data of libraries take part of the thread's stack."""
    program = harness.build_program("traced_small_stack", "-pthread")
    assert trace("functions", program, tmp_path).stdout == "0\n"


def test_a_constructor_may_jump_before_ours_has_run(tmp_path: Path) -> None:
    source, library = SOURCES / "traced_early_jump.c", tmp_path / "libearly.so"
    subprocess.run(["gcc", "-O1", "-DLIBRARY", "-shared", "-fPIC", "-o", library, source], check=True)
    subprocess.run(["gcc", "-o", tmp_path / "main", source, library, f"-Wl,-rpath,{tmp_path}"], check=True)
    traced = trace("functions", tmp_path / "main", tmp_path)
    assert (traced.returncode, traced.stdout) == (0, "5\n")


def test_every_group_has_its_library() -> None:
    lists = {path.stem for path in LISTS.glob("*.def")} | {"heap", "functions"}
    assert {group.name for group in GROUPS if not group.part} == lists
    for name in lists - {"heap", "functions"}:
        names = [f"{before}{of}{behind}" for kind, of in harness.trace_rows(name) for before, behind in SPELLINGS[kind]]
        assert len(names) == len(set(names)) > 10
        (built,) = libraries([name])
        exported = subprocess.run(["nm", "-D", "--defined-only", built], capture_output=True, text=True, check=True)
        assert {line.split()[-1] for line in exported.stdout.splitlines()} == set(names)
