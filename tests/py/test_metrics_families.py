"""Tests families of files: names that differ only in numbers become one row, and no sum changes."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections import defaultdict
from pathlib import Path

import pandas as pd
import pytest
from iolens.advise import say
from iolens.advise.limits import DEFAULTS
from iolens.advise.rules import dataset_rules, file_rules, needless_rules
from iolens.metrics.files import costly_files, special_uses
from iolens.metrics.files import overview as files
from iolens.metrics.files.families import FEWEST, families, family_name
from iolens.metrics.files.special_uses import mapped_files
from iolens.metrics.files.stripes import striping
from iolens.metrics.job.interfaces import mpiio
from iolens.metrics.job.interfaces.hdf5 import hdf5_settings, not_collective
from iolens.metrics.job.interfaces.private_counts import http_requests
from iolens.metrics.processor.ask import Ask
from iolens.metrics.processor.io.ranks import file_output
from iolens.metrics.subjects.shapes import aligned_families
from iolens.metrics.subjects.subject import Subject, Subjects, Trial
from iolens.pages.exhibits.files import FILE_LOCKS
from job_example import frame, job, job_of
from test_advise_rules import layouts

PLOTS = [
    f"/run7/plt{p:05d}/Level_{level}/Cell_D_{c:05d}" for p in range(0, 40, 10) for level in range(3) for c in range(20)
]


def sizes(names: list[str]) -> dict[str, int]:
    found = families(names)
    return dict(zip(found.labels, found.sizes.tolist(), strict=True))


def test_names_that_differ_in_numbers_are_one_family_and_what_is_equal_stays() -> None:
    odd = ["/run7/plt00000/Header", "/run7/inputs"]
    assert sizes([*PLOTS, *odd]) == {"/run7/plt#####/Level_#/Cell_D_#####": 240, odd[0]: 1, odd[1]: 1}


@pytest.mark.parametrize(
    ("names", "label"),
    [
        ([f"/a/out.{n}" for n in range(8, 24)], "/a/out.*"),
        ([f"/a/{n:x}ab12cd9" for n in range(0x10, 0x90)], "/a/*"),
        ([f"/a/{n:08x}-1b4e-4d2f-8a33-{n:012x}.part" for n in range(90, 100)], "/a/*.part"),
        ([f"/lib/{name}/__init__.py" for name in "abcdefgh"], "/lib/*/__init__.py"),
        ([f"/data/{name}/img_{n}.jpg" for name in ("cat", "dog") for n in range(1, 5)], None),
        ([f"/a/out.{n}" for n in range(FEWEST - 1)], None),
        ([f"/scratch/{n * 98765431 % 4294967291}" for n in range(11, 50)], None),
        ([f"/zarr/c/0/{n}" for n in range(12)], "/zarr/c/0/*"),
        ([f"record {n}" for n in range(50)], None),
        (["<STDIN>", "<STDOUT>", "<STDERR>"], None),
    ],
)
def test_the_label_says_in_what_the_names_differ(names: list[str], label: str | None) -> None:
    assert sizes(names) == (dict.fromkeys(names, 1) if label is None else {label: len(names)})


def test_each_name_is_one_that_its_label_means() -> None:
    """Read as a pattern, a label must match each member of its family, and no two labels may be equal."""
    rng = random.Random(5)
    for _ in range(200):
        stems = rng.choices(["out", "plt", "a_b", "Cell-D", "x9y", "deadbeef", "run.1"], k=rng.randint(1, 3))
        names = {
            "/".join(["", *(f"{stem}{rng.choice(['', rng.randint(0, 10 ** rng.randint(1, 6))])}" for stem in stems)])
            for _ in range(rng.randint(1, 60))
        }
        found = families(sorted(names))
        assert len({*found.labels}) == len(found.labels)
        assert int(found.sizes.sum()) == len(names)
        for name, place in zip(sorted(names), found.place.tolist(), strict=True):
            label = found.labels[place]
            if found.sizes[place] == 1:
                assert label == name
                continue
            pattern = re.escape(label).replace(r"\#", "[0-9]").replace("#", "[0-9]").replace(r"\*", "[^/]+")
            assert re.fullmatch(pattern, name), (label, name)
            assert found.sizes[place] >= FEWEST


def test_the_name_in_a_sentence_begins_where_members_differ() -> None:
    assert family_name("/run7/plt#####/Level_#/Cell_D_#####") == "plt#####/Level_#/Cell_D_#####"
    assert family_name("/run7/out.dat") == "out.dat"


def test_no_sum_changes_and_the_slowest_rank_is_that_of_the_whole_family() -> None:
    rng = random.Random(9)
    paths = [*PLOTS[:30], "/run7/in.nml", "/run7/log.txt"]
    rows = []
    for number in range(len(paths)):
        ranks = [-1] if number % 7 == 0 else rng.sample(range(4), rng.randint(1, 3))
        for rank in ranks:
            seconds = rng.randint(1, 100) / 8
            rows.append(
                {"id": number, "rank": rank, "F_WRITE_TIME": seconds, "BYTES_WRITTEN": rng.randint(1, 1 << 20)}
                | ({"F_SLOWEST_RANK_TIME": seconds / 4} if rank < 0 else {})
            )
    made = job_of(frames={"POSIX": frame("POSIX", rows)}, nprocs=4, names=dict(enumerate(paths)))
    found = costly_files.file_families(made)
    row = dict(zip(found["path"].tolist(), range(len(found)), strict=True))
    at = row["/run7/plt00000/Level_#/Cell_D_#####"]
    own: dict[int, float] = defaultdict(float)
    for one in rows:
        if one["id"] < 30:
            own[one["rank"]] += one["F_WRITE_TIME"] / (4 if one["rank"] < 0 else 1)
    shared = own.pop(-1)
    assert found["files"][at] == 30
    assert found["seconds"][at] == max(own.values()) + shared
    assert found["processes"][at] == 4
    whole = files.all_files(made)
    for name in ("bytes_written", "seconds_sum"):
        assert found[name].sum() == whole[name].sum()
    assert costly_files.family_ranks(made, found)[at] == "all"


def test_many_families_cost_no_square_of_their_number() -> None:
    """If each name were compared with each family, four times as many names would take 16 times as long."""
    times = []
    for count in (500, 2000):
        words = ["".join(letters) for letters in itertools.islice(itertools.product("ghijklm", repeat=4), count)]
        names = dict(enumerate(f"/run7/{word}/{word}{number}" for word in words for number in range(FEWEST)))
        made = job_of(frames={"POSIX": frame("POSIX", [{"id": key, "rank": 0} for key in names])}, names=names)
        begin = time.process_time()
        assert len(costly_files.file_families(made)) == count
        times.append(time.process_time() - begin)
    assert times[1] < 8 * times[0] + 0.05


def test_advice_names_a_family_and_how_many_files_it_has() -> None:
    names = dict(enumerate([*PLOTS, "/run7/in.nml"]))
    made = job({"POSIX": frame("POSIX", [{"id": key, "rank": 0} for key in names])}, names=names)
    assert say.files(made, [*names]) == "plt#####/Level_#/Cell_D_##### (240 files) and 1 other file"
    assert say.files(made, [0, 1, 2]) == "Cell_D_00000 and 2 other files"
    assert say.files(made, [240]) == "in.nml"


def test_a_name_with_a_sign_of_its_own_is_no_member_of_a_family() -> None:
    """`#` may occur in a file name, and a label may be the pattern of another family."""
    names = [f"/d/step{number}" for number in range(9)]
    found = families([*names, "/d/step#"])
    assert [*zip(found.labels, found.sizes.tolist(), strict=True)] == [("/d/step#", 9), ("/d/step#", 1)]
    found = families([*(f"/d/step{number:02}" for number in range(20)), *(f"/d/step#{number}" for number in range(10))])
    assert [*zip(found.labels, found.sizes.tolist(), strict=True)] == [("/d/step##", 20), ("/d/step##", 10)]


def test_long_words_of_hexadecimal_letters_cost_no_square_of_their_length() -> None:
    """Searching each part of a word would take 64 times as long for a word eight times as long: minutes for names as
    long as Linux allows.
    """
    times = []
    for length in (4000, 32000):
        begin = time.process_time()
        families([f"/d/{'ab' * (length // 2)}x{number}" for number in range(3)])
        times.append(time.process_time() - begin)
    assert times[1] < 20 * times[0] + 0.05


def test_a_digit_may_stand_thousands_of_times_in_a_name_and_a_zero_byte_between() -> None:
    begin = time.process_time()
    found = families([f"/d/{'7' * 10_000}{number:05d}\0x\x1b[31m{'8' * 10_000}" for number in range(40)])
    assert found.sizes.tolist() == [40]
    assert found.labels[0].startswith("/d/###")
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    "names",
    [
        [f"/d/{'a' * n}{n}" for n in range(1, 40)],
        [f"/d/{n}{'/' * n}x" for n in range(1, 40)],
        [f"{'../' * n}{n}" for n in range(1, 40)],
        [f"/d/*{n}" for n in range(40)],
        [f"/d/#{n}#" for n in range(40)],
        [f"/d/\udcff{n}\n" for n in range(40)],
        ["/d/", "//", "/", "", *(f"/d/{n}/" for n in range(20))],
    ],
)
def test_hostile_names_are_each_in_one_family(names: list[str]) -> None:
    found = families(names)
    assert int(found.sizes.sum()) == len(names)
    assert len(found.place) == len(names)


def steps(count: int) -> dict[int, str]:
    return {number: f"/run7/step{number:04d}.h5" for number in range(count)} | {count: "/run7/odd.h5"}


def test_tables_of_locks_and_mappings_have_a_family_in_one_row() -> None:
    names = steps(20)
    rows = [(key, rank) for key in names for rank in range(2)]
    counts = {"locks": 3, "exclusive": 2, "refused": 1, "waits": 1, "seconds": 0.5, "longest": 0.25}
    table = pd.DataFrame(rows, columns=["file", "rank"]).assign(**counts)
    table.loc[table["rank"] == 1, "seconds"] = 0.75
    made = job_of(names=names, nprocs=2, private={"file_locks": table})
    found = special_uses.file_locks(made).frame()
    assert found[["path", "files", "ranks", "locks", "seconds", "longest"]].values.tolist() == [
        ["/run7/step####.h5", 20, 2, 120, 15.0, 0.25],
        ["/run7/odd.h5", 1, 2, 6, 0.75, 0.25],
    ]
    assert len(special_uses.file_locks(made, False)) == 21
    assert "/run7/step####.h5 (20 files) cost most" in str(file_rules.LOCK_WAITS.check(made, DEFAULTS))
    mapped = pd.DataFrame(rows, columns=["file", "rank"]).assign(
        **dict.fromkeys("mappings bytes told in_memory forbidden major_faults storage_read storage_written".split(), 1),
        **dict.fromkeys("syncs random_advice fetched reached sync_seconds".split(), 2),
    )
    found = mapped_files(job_of(names=names, nprocs=2, private={"mapped_files": mapped})).frame()
    assert found[["path", "files", "mappings", "fetched"]].values.tolist() == [
        ["/run7/step####.h5", 20, 40, 40.0],
        ["/run7/odd.h5", 1, 2, 2.0],
    ]


def test_tables_of_shared_files_and_of_mpiio_have_a_family_in_one_row() -> None:
    names = steps(12)
    rows = [
        {"id": key, "rank": rank, "F_READ_TIME": 1.0 + key * rank, "BYTES_READ": 10}
        for key in names
        for rank in range(2)
    ]
    made = job_of(frames={"POSIX": frame("POSIX", rows)}, nprocs=3, names=names)
    found = special_uses.variance(made).frame()
    assert found[["path", "files", "slowest_seconds"]].values.tolist() == [
        ["/run7/odd.h5", 1, 13.0],
        ["/run7/step####.h5", 12, 12.0],
    ]
    assert len(special_uses.variance(made, 100, False)) == 13
    hints = [(key, name, "1", "", "1" if key else "2") for key in names for name in ("cb_nodes", "cb_buffer_size")]
    table = pd.DataFrame(hints, columns=["file", "key", "requested", "given", "effective"])
    made = job_of(names=names, private={"mpiio_hints": table, "hdf5_settings": table})
    for metric in (mpiio.hints, hdf5_settings):
        found = metric(made)
        assert found is not None
        assert sorted(found.rows("path", "files", "key", "effective")) == sorted(
            (path, files, key, value)
            for key in ("cb_nodes", "cb_buffer_size")
            for path, files, value in (
                ("/run7/odd.h5", 1, "1"),
                ("/run7/step####.h5", 11, "1"),
                ("/run7/step0000.h5", 1, "2"),
            )
        )


def test_the_number_of_members_is_shown_where_there_is_a_family() -> None:
    for names, is_shown in ((steps(20), True), ({1: "/run7/a", 2: "/run7/b"}, False)):
        table = pd.DataFrame({"file": [*names], "rank": 0}).assign(
            **dict.fromkeys("locks exclusive refused waits seconds longest".split(), 1.0)
        )
        shown = FILE_LOCKS.table(job_of(names=names, private={"file_locks": table}))
        assert shown is not None
        assert ("files" in shown.columns) == is_shown
        assert shown.more is not None
        listed, total = shown.more(100)
        assert [row[0] for row in listed] == [row[0] for row in shown.rows]
        assert total == len(shown.rows) == 2
        every = FILE_LOCKS.every(job_of(names=names, private={"file_locks": table}))
        assert every is not None
        assert len(every) == len(names)


def test_a_comparison_has_the_files_of_a_family_with_the_same_standing_in_one_row() -> None:
    sides = []
    for letter, count in (("A", 10), ("B", 30)):
        names = dict(enumerate([f"/run7/step{number:04d}.h5" for number in range(count)]))
        rows = [{"id": key, "rank": 0, "BYTES_WRITTEN": 100, "F_WRITE_TIME": 1.0} for key in names]
        made = job_of(frames={"POSIX": frame("POSIX", rows)}, names=names)
        sides.append(Subject(letter, Path(letter), (Trial(Path(letter), made),)))
    found = aligned_families(Subjects(tuple(sides)))
    columns = ["file", "files", "bytes_written A", "bytes_written B", "standing B"]
    assert found[columns].fillna(-1).values.tolist() == [
        ["/run7/step####.h5", 20, -1, 2000, "appeared"],
        ["/run7/step####.h5", 10, 1000, 1000, "same"],
    ]


def test_chunks_that_are_fetched_again_are_one_row_and_a_finding() -> None:
    """No chunk alone is worth a finding. Two ranks fetch each of 50 chunks twice."""
    urls = [f"http://store:8000/run7/c/0/{number}" for number in range(50)]
    rows = [(url, rank, 2, 1 << 19, 1 << 18) for url in [*urls, "http://store:8000/run7/zarr.json"] for rank in (0, 1)]
    table = pd.DataFrame(rows, columns=["url", "rank", "requests", "received", "distinct"])
    table = table.assign(
        partial=0, failed=0, sent=0, unplaced=0, object=1 << 18, seconds=0.25, first_byte_seconds=0.125
    )
    made = job_of(nprocs=2, private={"http_requests": table})
    columns = ("url", "files", "ranks", "requests", "received", "again", "seconds")
    assert list(http_requests(made).rows(*columns)) == [
        ("http://store:8000/run7/c/0/*", 50, 2, 200, 50 << 20, 25 << 20, 12.5),
        ("http://store:8000/run7/zarr.json", 1, 2, 4, 1 << 20, 1 << 19, 0.25),
    ]
    assert len(http_requests(made, by_family=False)) == 51
    seen = needless_rules.FETCHED_IN_VAIN.check(made, DEFAULTS)
    assert seen is not None
    assert (
        "50 MiB from http://store:8000/run7/c/0/* (50 objects), 25 MiB of these bytes more than once" in seen.evidence
    )
    one = job_of(nprocs=2, private={"http_requests": table[table["url"] == urls[0]]})
    assert needless_rules.FETCHED_IN_VAIN.check(one, DEFAULTS) is None


def test_datasets_of_steps_are_one_row_for_each_cause() -> None:
    names = {number: f"/run7/all.h5:/data/{number:05d}/rho" for number in range(20)}
    rows = [
        (dataset, rank, "filtered dataset", int(rank == 1), int(rank != 1)) for dataset in names for rank in range(3)
    ]
    rows.append((0, 2, "data transforms", True, False))
    table = pd.DataFrame(rows, columns=["dataset", "rank", "cause", "own", "others"])
    table = table.astype({"own": int, "others": int}).assign(collective=1, seconds=0.5, node=-1)
    made = job_of(names=names, private={"hdf5_not_collective": table})
    columns = ("dataset", "datasets", "cause", "calls", "ranks", "causing", "collective", "seconds")
    assert list(not_collective(made).rows(*columns)) == [
        ("/run7/all.h5:/data/#####/rho", 20, "filtered dataset", 60, 3, 1, 60, 10.0),
        ("/run7/all.h5:/data/00000/rho", 1, "data transforms", 1, 1, 1, 1, 0.5),
    ]
    assert len(not_collective(made, by_family=False)) == 21
    seen = dataset_rules.HDF5_NOT_COLLECTIVE.check(made, DEFAULTS)
    assert seen is not None
    assert "60 transfers of /run7/all.h5:/data/#####/rho (20 datasets) independently" in seen.evidence


def test_tables_of_stripes_and_of_input_and_output_have_a_family_in_one_row() -> None:
    names = steps(12)
    rows = [{"id": key, "rank": 0, "WRITES": 1, "BYTES_WRITTEN": 100, "F_WRITE_TIME": 0.5} for key in names]
    striped = layouts({key: [key % 3, 3] if key else [7] for key in names})
    made = job_of(frames={"POSIX": frame("POSIX", rows), "LUSTRE": striped}, nprocs=2, names=names)
    found = striping.file_layouts(made)
    assert found is not None
    assert sorted(found.rows("path", "files", "bytes", "stripe_count", "osts")) == [
        ("/run7/odd.h5", 1, 100, 2, [0, 3]),
        ("/run7/step####.h5", 11, 1100, 2, [0, 1, 2, 3]),
        ("/run7/step0000.h5", 1, 100, 1, [7]),
    ]
    whole = striping.file_layouts(made, 100, by_family=False)
    assert whole is not None
    assert len(whole) == 13
    written = file_output(made)
    assert written is not None
    assert written[["name", "files", "bytes"]].values.tolist() == [
        ["Total", 13, 1300],
        ["/run7/step####.h5", 12, 1200],
        ["/run7/odd.h5", 1, 100],
    ]
    each = file_output(made, Ask(threshold=0.0))
    assert each is not None
    assert len(each) == 14
