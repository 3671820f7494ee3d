"""Tests functions and lines of addresses, for files with debug information, without it, stripped, moved, rebuilt and
missing.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from iolens.metrics.processor.sampled.samples import place_of
from iolens.symbols.chains import RECORDER, SOME_CALL, call_chains, of_a_wait
from iolens.symbols.elf import read_elf
from iolens.symbols.resolve import resolve

SOURCE = """
volatile int kept;
static inline __attribute__((always_inline)) void inlined(int n) {
    kept += n;
}
__attribute__((noinline)) void outer(int n) {
    inlined(n);
}
static __attribute__((noinline)) void hidden(int n) {
    kept -= n;
}
int main(void) {
    outer(1);
    hidden(2);
    return 0;
}
"""

PLAIN = ["-O1", "-g", "-Wl,--build-id", *(["-fcf-protection=none"] if platform.machine() == "x86_64" else [])]
"""Options of the compiler. Ubuntu's would begin each function with an instruction of its own, before an inlined one."""

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("symbols")
    (folder / "source.c").write_text(SOURCE)
    subprocess.run(["gcc", *PLAIN, "-o", "program", "source.c"], cwd=folder, check=True)
    return folder / "program"


def begin_of(program: Path, function: str) -> int:
    elf = read_elf(program)
    return int(elf.starts[elf.names.index(function)])


def resolved(path: Path, build_id: str, address: int, *search: Path, leaf: int = 1) -> pd.Series:
    nodes = pd.DataFrame({"rank": [0], "node": [0], "parent": [-1], "object": [3], "offset": [address], "leaf": [leaf]})
    objects = pd.DataFrame({"rank": [0], "object": [3], "build_id": [build_id], "path": [str(path)]})
    return resolve(nodes, objects, search).iloc[0]


def stripped(program: Path, target: Path) -> Path:
    subprocess.run(["strip", "-o", target, program], check=True)
    return target


def test_an_inlined_function_is_named_with_the_one_that_it_is_in(program: Path) -> None:
    build_id = read_elf(program).build_id
    assert len(build_id) == 40
    row = resolved(program, build_id, begin_of(program, "outer"))
    assert (row["function"], Path(row["source"]).name, row["line"]) == ("inlined", "source.c", 4)
    (outer,) = row["inlined"]
    assert (outer.function, outer.line) == ("outer", 7)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_an_inlined_function_that_the_linker_never_knew_has_its_own_name(tmp_path: Path) -> None:
    """GNU addr2line gives an inlined function of C++ without a linkage name the name of the function around it."""
    if " 2.38" in subprocess.run(["addr2line", "--version"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("addr2line of binutils 2.38 finds no name there in any way")
    (tmp_path / "source.cpp").write_text(SOURCE.replace("(void)", "()"))
    subprocess.run(["g++", *PLAIN, "-o", "program", "source.cpp"], cwd=tmp_path, check=True)
    program = tmp_path / "program"
    elf = read_elf(program)
    row = resolved(program, elf.build_id, begin_of(program, "_Z5outeri"))
    assert [row["function"], *(line.function for line in row["inlined"])] == ["inlined", "outer(int)"]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize("debug", ["-g0", "-g"])
def test_a_copy_that_gcc_made_of_a_function_in_cpp_has_the_function_s_name(debug: str, tmp_path: Path) -> None:
    """For this copy c++filt and addr2line write hidden(int) [clone .constprop.0] [clone .isra.0]; the report writes
    hidden(int).
    """
    copy = "_Z6hiddeni.constprop.0.isra.0"
    (tmp_path / "source.cpp").write_text(f'void hidden(int) asm("{copy}");' + SOURCE.replace("static __", "__"))
    subprocess.run(["g++", "-O1", debug, "-Wl,--build-id", "-o", "program", "source.cpp"], cwd=tmp_path, check=True)
    program = tmp_path / "program"
    row = resolved(program, read_elf(program).build_id, begin_of(program, copy))
    assert row["function"] == "hidden(int)"
    assert row["symbol"] == "_Z6hiddeni"


def test_a_return_address_belongs_to_the_call_before_it(program: Path) -> None:
    """The call may be the last instruction of its function, so that its return address lies behind the function."""
    elf, begin = read_elf(program), begin_of(program, "outer")
    size = int(elf.sizes[elf.names.index("outer")])
    row = resolved(program, elf.build_id, begin + size, leaf=0)
    assert [row["function"], *(line.function for line in row["inlined"])][-1] == "outer"


def test_without_symbols_the_begin_of_the_function_stands_for_it(program: Path, tmp_path: Path) -> None:
    begin, bare = begin_of(program, "hidden"), stripped(program, tmp_path / "bare")
    row = resolved(bare, read_elf(bare).build_id, begin + 2)
    assert (row["function"], row["source"], row["line"]) == (f"{begin:#x} (bare)", "", 0)


def test_what_was_stripped_off_is_found_in_the_folders_to_search(program: Path, tmp_path: Path) -> None:
    begin, bare = begin_of(program, "hidden"), stripped(program, tmp_path / "bare")
    build_id = read_elf(bare).build_id
    debug = tmp_path / "debug/.build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    debug.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    row = resolved(bare, build_id, begin, tmp_path / "debug")
    assert (row["function"], row["line"]) == ("hidden", 10)


def test_a_moved_program_is_found_and_another_build_is_not_believed(program: Path, tmp_path: Path) -> None:
    elf, begin = read_elf(program), begin_of(program, "hidden")
    gone = tmp_path / "gone/program"
    assert resolved(gone, elf.build_id, begin)["function"] == f"{begin:#x} (program)"
    assert resolved(gone, elf.build_id, begin, program.parent)["function"] == "hidden"
    assert resolved(program, "0" * 40, begin)["function"] == f"{begin:#x} (program)"


def test_a_file_that_is_no_object_or_is_damaged_has_no_symbols(program: Path, tmp_path: Path) -> None:
    data = program.read_bytes()
    for number, content in enumerate([b"", b"text", data[:64], data[: len(data) // 2], data[:64] + bytes(5000)]):
        path = tmp_path / str(number)
        path.write_bytes(content)
        assert read_elf(path).names == ()


def test_the_profilers_own_frames_are_left_out_of_chains() -> None:
    wrapper, libc = "/x/libiolens.so", "/lib/libc.so.6"
    rows = [
        (0, -1, "main", "/x/program"),
        (1, 0, "write", wrapper),
        (2, 1, "write", libc),
        (3, 1, "posix_on_write", wrapper),
    ]
    frame = pd.DataFrame(rows, columns=["node", "parent", "function", "object"])
    frame = frame.assign(rank=0, source="", line=0, symbol="", is_split=False, inlined=[()] * 4)
    chains = {node: chain for (_, node), chain in call_chains(frame).items()}
    assert [place.function for place in chains[2]] == ["main", "write"]
    assert chains[2][-1].object == libc
    assert [place.function for place in chains[3]] == ["main", "write", RECORDER]
    assert [place.function for place in of_a_wait(chains[3])] == ["main", "write"]


def test_calls_of_mpi_by_the_profiler_are_inside_the_call_that_the_program_made() -> None:
    wrapper, mpi = "/x/libiolens-openmpi.so", "/lib/libmpi.so.40"
    rows = [
        (0, -1, "main", "/x/program"),
        (1, 0, "MPI_Recv", wrapper),
        (2, 1, "look_for_message", wrapper),
        (3, 2, "PMPI_Iprobe", mpi),
        (4, 1, "PMPI_Recv", mpi),
        (5, 4, "opal_progress", mpi),
        (6, 0, "PMPI_Init", wrapper),
        (7, 6, "clocks_start", "/x/libiolens.so"),
        (8, 7, "MPI_Send", mpi),
    ]
    frame = pd.DataFrame(rows, columns=["node", "parent", "function", "object"])
    chains = call_chains(frame.assign(rank=0, source="", line=0, symbol="", is_split=False, inlined=[()] * len(rows)))
    names = {node: [place.function for place in chain] for (_, node), chain in chains.items()}
    assert names[3] == ["main", "MPI_Recv", "PMPI_Iprobe"]
    assert names[5] == ["main", "PMPI_Recv", "opal_progress"]
    assert names[8] == ["main", "PMPI_Init", "MPI_Send"]
    assert (place_of(chains[0, 3], False).function, place_of(chains[0, 8], True).function) == ("MPI_Recv", "MPI_Init")


def test_a_call_of_mpi_stays_one_when_the_profiler_was_built_anew_since() -> None:
    rows = [
        (0, -1, "main", "/x/program"),
        (1, 0, "0x8e94 (libiolens-openmpi.so)", "/x/libiolens-openmpi.so"),
        (2, 1, "PMPI_Recv", "/lib/libmpi.so.40"),
        (3, 0, "0x99 (libiolens-trace-heap.so)", "/x/libiolens-trace-heap.so"),
        (4, 1, "snprintf", "/lib/libc.so.6"),
    ]
    frame = pd.DataFrame(rows, columns=["node", "parent", "function", "object"])
    chains = call_chains(frame.assign(rank=0, source="", line=0, symbol="", is_split=False, inlined=[()] * len(rows)))
    waits, inside, other, helper = (place_of(chains[0, node], True) for node in (1, 2, 3, 4))
    assert (waits.group, waits.function) == ("MPI", SOME_CALL)
    assert (inside.group, inside.function) == ("MPI", "MPI_Recv")
    assert other.group != "MPI"
    assert helper.function == SOME_CALL


def test_ranks_share_nodes_and_objects_and_have_their_own_behind_them(program: Path) -> None:
    """Every rank finds the nodes that ranks share, with the same result as if each rank had its own rows."""
    main, hidden, build = begin_of(program, "main") + 4, begin_of(program, "hidden"), read_elf(program).build_id
    jit = 0x7F0000001000
    shared = [(-1, 0, -1, 0, main, 0), (-1, 1, 0, 0, hidden, 1)]
    own = [(0, 2, 0, -1, jit, 0), (0, 3, 2, 1, hidden, 1), (1, 2, 0, -1, jit + 64, 0), (1, 3, 2, 0, hidden, 1)]
    objects = [(-1, 0, build, str(program)), (0, 1, build, str(program))]
    generated = pd.DataFrame({"rank": [0, 1], "begin": [jit - 8, jit], "bytes": 128, "name": ["zero", "one"]})

    def chains(rows: list[tuple[int, ...]], files: list[tuple[int, int, str, str]]) -> dict[tuple[int, int], list[str]]:
        nodes = pd.DataFrame(rows, columns=["rank", "node", "parent", "object", "offset", "leaf"])
        found = call_chains(
            resolve(nodes, pd.DataFrame(files, columns=["rank", "object", "build_id", "path"]), generated=generated)
        )
        keys = [(rank, node) for rank in (0, 1) for node in range(4)]
        return {key: [place.function for place in found[key]] for key in keys}

    common = chains(shared + own, objects)
    assert common[0, 1] == common[1, 1] == ["main", "hidden"]
    assert common[0, 3] == ["main", "zero", "hidden"]
    assert common[1, 3] == ["main", "one", "hidden"]
    apart = [(rank, *row[1:]) for rank in (0, 1) for row in shared] + own
    assert chains(apart, [(rank, *row[1:]) for rank in (0, 1) for row in objects]) == common


def test_a_circle_in_a_damaged_log_ends() -> None:
    frame = pd.DataFrame({"node": [0, 1], "parent": [1, 0], "function": ["a", "b"], "object": ["", ""]})
    chains = call_chains(frame.assign(rank=0, source="", line=0, symbol="", is_split=False, inlined=[()] * 2))
    assert [[place.function for place in chain] for chain in chains.values()] == [["a"], ["a", "b"]]
