"""Tests anonymous logs: no name is left, no counter has changed, and libdarshan-util reads them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from darshan.backend import cffi_backend as backend
from iolens.cli.main import main
from iolens.log import Job, read_log
from iolens.log.anonymize import anonymize, anonymous_chunks
from iolens.log.format.container import open_container
from iolens.log.pseudonyms import OWN_NAMES, PLAIN, Pseudonyms
from iolens.log.record_id import record_id
from iolens.log.rewrite import PrivateRegion, put_together, split_log

DATA = Path(__file__).resolve().parents[1] / "data"
LOGS = sorted(DATA.rglob("*.darshan"))
OURS = sorted((DATA / "iolens").glob("*.darshan"))
OWN = b"APMPI heatmap POSIX MPIIO <STDIO> <STDERR> <STDOUT> <STDIN> darshan-apmpi-header darshan-apxc-header"
LEFT_OUT = {"APXC"}
IDS = {"id", "file_id", "host", "node", "pool", "pool_uuid", "cont_uuid", "oid_hi", "oid_lo"}
RENUMBERED = {"POSIX_RENAMED_FROM", "BGQ_CSJOBID"}


def anonymous(path: Path, folder: Path, *options: str, key: str = "a secret") -> Path:
    out = folder / f"{len(list(folder.iterdir()))}.darshan"
    assert main(["anonymize", str(path), "-o", str(out), "--key", key, *options]) == 0
    return out


def everything(path: Path) -> bytes:
    """Returns the contents of all regions of a log, decompressed."""
    contents = split_log(open_container(path))
    private = [chunk for region in contents.private or () for chunk in region.chunks]
    return b"\n".join([contents.job, contents.names, *contents.modules.values(), *private])


def words_of(job: Job) -> set[bytes]:
    """Returns the words in a log that may identify something: components of paths, hosts and arguments."""
    hosts = {host for name, frame in job.frames.items() if "DXT" in name for host in frame["host"]}
    texts = [*job.names.values(), *job.command.split(), *hosts, *(mount.point for mount in job.mounts)]
    texts += job.private.get("job", {}).get("hosts", [])
    words = {word.encode() for text in texts for word in re.split(r"[/:,;=\s]", text)}
    kept = vocabulary(job)
    return {word for word in words if len(word) > 3 and word not in kept and not PLAIN.fullmatch(word)}


def vocabulary(job: Job) -> bytes:
    """Returns the words that may stay in an anonymous log: profilers' names, file system types, the log's hints,
    meanings of columns.
    """
    tables = [chunk.partition(b"\n")[0] for region in regions_of(job.path) for chunk in region.chunks if b"\n" in chunk]
    kinds = [mount.kind.encode() for mount in job.mounts]
    return b" ".join([OWN, *kinds, *(value.encode() for value in job.metadata.values()), *tables])


def regions_of(path: Path) -> tuple[PrivateRegion, ...]:
    return split_log(open_container(path)).private or ()


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_no_name_is_left_and_no_counter_changed(path: Path, tmp_path: Path) -> None:
    made = anonymous(path, tmp_path)
    old, new, data = read_log(path), read_log(made), everything(made)
    before = everything(path)
    assert [word for word in words_of(old) if word in before and word in data] == []
    assert new.jobid != old.jobid
    assert new.uid != old.uid
    assert (new.start, new.end, new.nprocs, new.version) == (old.start, old.end, old.nprocs, old.version)
    assert set(new.frames) == set(old.frames) - LEFT_OUT
    for name, frame in new.frames.items():
        for column in set(frame.columns) - IDS - RENUMBERED:
            assert frame[column].equals(old.frames[name][column]), (name, column)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_records_find_their_names(path: Path, tmp_path: Path) -> None:
    old, new = read_log(path), read_log(anonymous(path, tmp_path))
    for (was, name), (now, pseudonym) in zip(old.names.items(), new.names.items(), strict=True):
        assert (record_id(name.encode()) == was) == (record_id(pseudonym.encode()) == now)
        assert len(re.split("[/:]", name)) == len(re.split("[/:]", pseudonym))
    ids = dict(zip(old.names, new.names, strict=True))
    for name, frame in new.frames.items():
        known = old.frames[name]["id"].isin(list(ids)).to_numpy()
        assert frame["id"][known].tolist() == [ids[key] for key in old.frames[name]["id"][known]]
        assert not set(frame["id"][~known]) & set(old.frames[name]["id"])


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_libdarshan_util_reads_the_same_numbers(path: Path, tmp_path: Path) -> None:
    logs = [backend.log_open(str(one)) for one in (path, anonymous(path, tmp_path))]
    known = set(backend.log_get_modules(logs[1]))
    assert known == set(backend.log_get_modules(logs[0])) - LEFT_OUT
    for name in known & {"POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR"}:
        while (first := backend.log_get_record(logs[0], name)) is not None:
            second = backend.log_get_record(logs[1], name)
            assert np.array_equal(first["counters"], second["counters"])
            assert np.array_equal(first["fcounters"], second["fcounters"], equal_nan=True)
        assert backend.log_get_record(logs[1], name) is None
    for log in logs:
        backend.log_close(log)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_private_regions(path: Path, tmp_path: Path) -> None:
    old, new = read_log(path), read_log(anonymous(path, tmp_path))
    data = everything(tmp_path / "0.darshan")
    for word in (b"node0017", b"4711", b"/tmp", b"logs", path.stem.encode()):
        assert word in everything(path)
        assert word not in data
    assert set(new.private) == set(old.private)
    files = set(new.names)
    for name, table in new.private.items():
        if isinstance(table, dict):
            continue
        assert set(table["file"]) <= files
        numbers = [column for column in table.columns if table[column].dtype.kind in "if"]
        assert table[numbers].equals(old.private[name][numbers])
    job = new.private["job"]
    assert job["rank_host"] == old.private["job"]["rank_host"]
    assert job["environment"]["OMPI_MCA_mpi_yield_when_idle"] == "1"
    assert (job["iolens"], job["mpi"]) == (old.private["job"]["iolens"], "Open MPI v4.1.4")


def test_datasets_stay_in_their_files(tmp_path: Path) -> None:
    new = read_log(anonymous(DATA / "iolens/hdf5_calls.darshan", tmp_path))
    for row in new.frames["H5D"].itertuples():
        assert new.names[row.id].startswith(f"{new.names[row.file_id]}:/")


def test_the_same_key_gives_the_same_pseudonyms(tmp_path: Path) -> None:
    paths = [OURS[0], OURS[0], OURS[1]]
    one, same, other = (read_log(anonymous(path, tmp_path)) for path in paths)
    assert one.names == same.names
    assert one.jobid == same.jobid == other.jobid
    assert one.private["job"]["hosts"] == other.private["job"]["hosts"]
    fresh = read_log(anonymous(OURS[0], tmp_path, key="another"))
    shared = set(fresh.names.values()) & set(one.names.values())
    assert all(OWN_NAMES.fullmatch(name.encode()) for name in shared)


def test_what_is_kept_on_request(tmp_path: Path) -> None:
    path = DATA / "iolens/hdf5_calls.darshan"
    job = read_log(anonymous(path, tmp_path, "--keep", "extensions,mounts,program"))
    files = [name for name in job.names.values() if name.startswith("/")]
    assert files
    assert all(re.match(r"/tmp/job/[a-z2-7]{12}/[a-z2-7]{12}\.h5($|:)", name) for name in files)
    assert {mount.point for mount in job.mounts} == {mount.point for mount in read_log(path).mounts}
    assert job.exe == "./hdf5_calls"


def test_free_text_and_hints_are_scrubbed(tmp_path: Path) -> None:
    """Adds texts that the log may hold in odd places: a partial log's reason, hints with hosts and paths, environment
    variables, and unknown keys.
    """
    log = open_container(DATA / "iolens/mpi_calls.darshan")
    contents = split_log(log)
    regions = []
    for region in contents.private or ():
        chunks = region.chunks
        if region.name == "job":
            told = {
                "partial": ["The rank on node0017 was lost."],
                "favourite": "zanzibar",
                "mpi": "MPI 4, built by zoe",
            }
            more = {"environment": {"SLURM_JOB_USER": "zoe", "ROMIO_HINTS": "/home/zoe/hints", "OMPI_MCA_io": "ompio"}}
            chunks = (json.dumps({**json.loads(chunks[0]), **told, **more}).encode(),)
        if region.name == "mpiio_hints":
            chunks = tuple(chunk.replace(b"16384" + bytes(11), b"*:1,zoe:2" + bytes(7)) for chunk in chunks)
        regions.append(type(region)(region.name, region.kind, chunks))
    secret = type(regions[0])("diary", "json", (b'{"dear": "zoe"}',))
    changed = type(contents)(contents.job, contents.names, contents.modules, (*regions, secret))
    path = tmp_path / "more.darshan"
    path.write_bytes(put_together(log, changed))
    made = anonymize(open_container(path), b"key", frozenset())
    (tmp_path / "made.darshan").write_bytes(made.data)
    data = everything(tmp_path / "made.darshan")
    assert made.left_out == ("private region diary",)
    assert [word for word in (b"zoe", b"zanzibar", b"node0017", b"dear") if word in data] == []
    job = read_log(tmp_path / "made.darshan")
    assert re.fullmatch("The rank on [a-z2-7]{12} was lost.", job.private["job"]["partial"][0])


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "there.darshan"
    out.write_text("mine")
    assert main(["anonymize", str(OURS[0]), "-o", str(out)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--keep", "users"], 2, "extensions, mounts, program"),
        (["-o", "/proc/no.darshan"], 1, "cannot be written"),
        (["-o", "/proc/no/x.darshan"], 1, "there is no folder /proc/no; make it, or name another folder"),
    ],
)
def test_wrong_usage(options: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["anonymize", str(OURS[0]), *options]) == code
    assert said in capsys.readouterr().err


def test_pages_say_that_a_log_is_anonymous(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made: Any = anonymous(OURS[0], tmp_path)
    assert main(["show", str(made)]) == 0
    assert "ANONYMIZED LOG" in capsys.readouterr().out


def test_a_table_says_itself_which_texts_are_names() -> None:
    columns = [{"name": "key", "dtype": "S4", "text": "word"}, {"name": "value", "dtype": "S16", "text": "name"}]
    first = json.dumps({"rows": 1, "columns": columns}).encode() + b"\nhint" + b"secret".ljust(16, b"\0")
    second = json.dumps({"rows": 1}).encode() + b"\nhint" + b"secret".ljust(16, b"\0")
    for part in anonymous_chunks((first, second), Pseudonyms(b"key", frozenset(), (), frozenset())):
        assert b"\nhint" in part
        assert b"secret" not in part
