"""Tests output and arguments of the tools of Lustre, BeeGFS and CephFS (tests/data/storage/ORIGIN.md)."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

import pytest
from iolens.errors import IolensError, UsageError
from iolens.lab.launchers.local import LOCAL
from iolens.lab.storage import backends, cephfs, tool
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import set_stripes
from iolens.lab.storage.beegfs import BEEGFS, parse_entry
from iolens.lab.storage.ceph_tool import object_names
from iolens.lab.storage.cephfs import CEPHFS, parse_layout
from iolens.lab.storage.layout import Component, Layout, layout_words
from iolens.lab.storage.lfs import parse_df, parse_getstripe
from iolens.lab.storage.lustre import LUSTRE
from iolens.lab.storage.targets import missing_indices, record, target_lines, targets_summary, usable, without_files
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.perform.collect import with_layout
from iolens.lab.sweep.plan.specify import check_pool, check_storage, check_targets

TEXTS = Path(__file__).resolve().parents[1] / "data" / "storage"
MIB = 2**20


def text(name: str) -> str:
    return (TEXTS / name).read_text(encoding="utf-8")


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, prints: str = "", code: int = 0) -> Path:
    """Puts a fake tool on PATH that prints this text. It appends its arguments to the returned file, one JSON list per
    call.
    """
    asked = folder / f"{name}.asked"
    (folder / f"{name}.out").write_text(prints, encoding="utf-8")
    script = f'#!{sys.executable}\nimport json, sys\nopen("{asked}", "a").write(json.dumps(sys.argv[1:]) + "\\n")\n'
    script += f'print(open("{folder}/{name}.out").read(), end="", file=sys.stderr if {code} else sys.stdout)\n'
    (folder / name).write_text(script + f"sys.exit({code})\n", encoding="utf-8")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return asked


def calls(asked: Path) -> list[list[str]]:
    return [json.loads(line) for line in asked.read_text().splitlines()]


def test_lustre_plain_layouts() -> None:
    assert parse_getstripe(text("lfs-getstripe-file.txt")) == Layout(2, MIB, 5, (5, 8), "flash")
    assert parse_getstripe(text("lfs-getstripe-directory.txt")) == Layout(4, 4 * MIB, pool="flash")


def test_lustre_a_progressive_file_is_shown_component_by_component() -> None:
    layout = parse_getstripe(text("lfs-getstripe-pfl-2.10.txt"))
    assert layout.components == (
        Component(0, 8 * MIB, Layout(1, MIB, 3, (3,)), True),
        Component(8 * MIB, 128 * MIB, Layout(2, MIB, 4, (4, 0)), True),
        Component(128 * MIB, None, Layout(-1, 4 * MIB), False),
    )
    assert (layout.stripe_count, layout.targets) == (2, (4, 0)), "the last in use counts"
    assert layout_words(layout).splitlines() == [
        "composite layout of 3 components",
        "  0 to 8M: stripe count 1, stripe size 1M, first target 3, targets 3",
        "  8M to 128M: stripe count 2, stripe size 1M, first target 4, targets 4 0",
        "  128M to end of file: stripe count all targets, stripe size 4M, not yet used",
    ]


def test_lustre_a_directory_for_progressive_files() -> None:
    layout = parse_getstripe(text("lfs-getstripe-pfl-directory-2.15.txt"))
    assert layout_words(layout).splitlines()[1:] == [
        "  0 to 64k: on the metadata target",
        "  64k to 1G: stripe count 2, stripe size 1M, pool flash",
        "  1G to end of file: stripe count all targets, stripe size 4M",
    ]
    assert (layout.stripe_count, layout.stripe_size) == (-1, 4 * MIB)


def test_lustre_mirrors_are_told_apart_with_their_pools() -> None:
    layout = parse_getstripe(text("lfs-getstripe-mirrored-2.12.txt"))
    assert [(part.mirror, part.layout.pool, part.layout.targets) for part in layout.components] == [
        (1, "flash", (6, 2)),
        (2, "disk", (9,)),
    ]
    assert layout_words(layout).splitlines()[2] == (
        "  mirror 2, 0 to end of file: stripe count 1, stripe size 4M, first target 9, targets 9, pool disk"
    )


@pytest.mark.parametrize("printed", ["", "\n", "/a file\nhas no stripe info\n", "lmm_stripe_count:  2\n"])
def test_lustre_no_layout_is_an_error_with_what_was_printed(printed: str) -> None:
    with pytest.raises(IolensError, match="printed no layout"):
        parse_getstripe(printed)


def test_lustre_a_name_that_looks_like_a_layout_is_not_one() -> None:
    odd = text("lfs-getstripe-file.txt").replace("/scratch/run/bt.out", "/scratch/x lmm_stripe_count:  77 pool:  no")
    assert parse_getstripe(odd) == parse_getstripe(text("lfs-getstripe-file.txt"))


def test_lustre_targets_in_order() -> None:
    targets = parse_df(text("lfs-df.txt"))
    assert [(target.index, target.name, target.trouble) for target in targets] == [
        (0, "work-OST0000", ""),
        (1, "work-OST0001", ""),
        (10, "work-OST000a", ""),
    ]
    assert [target.fill for target in targets] == [0.25, 0.5, 0.01]
    assert missing_indices(targets) == tuple(range(2, 10))
    assert targets_summary(targets) == "3 of 3 targets accept new files, 1 % to 50 % full; not listed: 2-9"
    assert target_lines(targets).splitlines()[1] == "    0  work-OST0000  100.0 GiB   25 %  in order"


def test_lustre_targets_in_trouble() -> None:
    targets = parse_df(text("lfs-df-trouble.txt"))
    assert usable(targets) == 2, "one in order, one that is degraded but still used"
    assert without_files(targets) == (
        "2 (degraded, read-only), 3 (inactive device), 4 (Resource temporarily unavailable), 7 (out of space)"
    )
    kept = record(targets)
    assert (kept["count"], kept["usable"], kept["not_listed"]) == (6, 2, [5, 6])
    assert kept["trouble"]["1"] == "degraded"
    with pytest.raises(IolensError, match="listed no object storage targets"):
        parse_df("UUID 1K-blocks\n")


def test_lustre_is_asked_for_pools_and_all_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LUSTRE.set_stripes
    assert LUSTRE.targets
    asked = install(tmp_path, monkeypatch, "lfs", text("lfs-df.txt"))
    LUSTRE.set_stripes(tmp_path, Layout(4, MIB, pool="flash"))
    assert len(LUSTRE.targets(tmp_path, "flash")) == 3
    assert calls(asked) == [
        ["setstripe", "-c", "4", "-S", str(MIB), "-i", "-1", "-p", "flash", str(tmp_path)],
        ["df", "-v", "-p", "flash", str(tmp_path)],
    ]


def test_a_tool_that_hangs_or_fails_ends_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LUSTRE.targets
    install(tmp_path, monkeypatch, "lfs", "cannot find pool", code=2)
    with pytest.raises(IolensError, match=r"lfs df -v .*: cannot find pool"):
        LUSTRE.targets(tmp_path, None)
    (tmp_path / "lfs").write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    monkeypatch.setattr(tool, "PATIENCE", 0.1)
    with pytest.raises(IolensError, match="no answer within"):
        LUSTRE.targets(tmp_path, None)
    (tmp_path / "lfs").unlink()
    with pytest.raises(IolensError, match="the command lfs was not found; the Lustre client contains it"):
        LUSTRE.targets(tmp_path, None)


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("beegfs-7-directory.txt", Layout(4, 512 * 1024, pool="2 (Fast disks)")),
        ("beegfs-7-file.txt", Layout(3, MIB, targets=(11, 12, 21))),
        ("beegfs-8-file.txt", Layout(2, 2 * MIB, targets=(101, 201))),
        ("beegfs-8-mirrored-directory.txt", Layout(4, 512 * 1024, pool="1 (default)")),
    ],
)
def test_beegfs_entries(name: str, layout: Layout) -> None:
    assert parse_entry(text(name)) == layout


def test_beegfs_takes_the_tool_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert BEEGFS.set_stripes
    assert BEEGFS.get_stripes
    old = install(tmp_path, monkeypatch, "beegfs-ctl", text("beegfs-7-directory.txt"))
    BEEGFS.set_stripes(tmp_path, Layout(4, MIB, pool="2"))
    assert BEEGFS.get_stripes(tmp_path).stripe_count == 4
    new = install(tmp_path, monkeypatch, "beegfs", text("beegfs-8-file.txt"))
    BEEGFS.set_stripes(tmp_path, Layout(2, MIB, pool="fast"))
    assert BEEGFS.get_stripes(tmp_path).targets == (101, 201)
    place = str(tmp_path)
    assert calls(old) == [
        ["--setpattern", "--numtargets=4", f"--chunksize={MIB}", "--storagepoolid=2", place],
        ["--getentryinfo", place],
    ]
    assert calls(new) == [
        ["entry", "set", "--num-targets=2", f"--chunk-size={MIB}", "--pool=fast", place],
        ["entry", "info", "--retro", place],
    ]
    (tmp_path / "beegfs.out").write_text("Stripe pattern details: <not available> (inode locked)\n")
    with pytest.raises(IolensError, match="printed no stripe pattern"):
        BEEGFS.get_stripes(tmp_path)


@pytest.mark.parametrize(
    ("backend", "layout", "why"),
    [
        (BEEGFS, Layout(2, 3 * 65536), "power of two of at least 64 KiB"),
        (BEEGFS, Layout(2, 32768), "power of two of at least 64 KiB"),
        (BEEGFS, Layout(2, MIB, start=1), "leave --start out"),
        (CEPHFS, Layout(2, MIB + 4096), "multiple of 64 KiB"),
        (CEPHFS, Layout(-1, MIB), "stripe count of at least 1"),
        (CEPHFS, Layout(2, MIB, start=3), "no --start"),
    ],
)
def test_layouts_that_cannot_be_are_refused_before_anybody_is_asked(
    backend: Backend, layout: Layout, why: str, tmp_path: Path
) -> None:
    assert backend.set_stripes
    with pytest.raises(UsageError, match=why):
        backend.set_stripes(tmp_path, layout)


CEPH = "stripe_unit=4194304 stripe_count=1 object_size=8388608 pool=cephfs_data"


@pytest.fixture
def attributes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """Returns the extended attributes of files below a CephFS that is mounted at the test's folder."""
    kept: dict[tuple[str, str], str] = {}

    def get(path: Path, name: str) -> bytes:
        if (str(path), name) not in kept:
            raise OSError(errno.ENODATA, "No data available")
        return kept[str(path), name].encode()

    monkeypatch.setattr(os, "getxattr", get)
    monkeypatch.setattr(os, "setxattr", lambda path, name, value: kept.__setitem__((str(path), name), value.decode()))
    monkeypatch.setattr(cephfs, "file_system", lambda path: ("ceph", str(tmp_path)))
    return kept


def test_cephfs_a_directory_without_a_layout_takes_that_of_the_nearest_above(
    tmp_path: Path, attributes: dict[tuple[str, str], str]
) -> None:
    assert CEPHFS.get_stripes
    assert CEPHFS.set_stripes
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    with pytest.raises(IolensError, match="give a file"):
        CEPHFS.get_stripes(inner)
    attributes[str(tmp_path), "ceph.dir.layout"] = CEPH
    assert CEPHFS.get_stripes(inner) == Layout(1, 4 * MIB, pool="cephfs_data", object_size=8 * MIB)
    CEPHFS.set_stripes(inner, Layout(4, MIB))
    assert attributes[str(inner), "ceph.dir.layout"] == "stripe_unit=1048576 stripe_count=4 object_size=8388608"
    CEPHFS.set_stripes(inner, Layout(4, 3 * MIB, pool="fast"))
    assert attributes[str(inner), "ceph.dir.layout"].endswith("object_size=3145728 pool=fast")
    (inner / "file").touch()
    attributes[str(inner / "file"), "ceph.file.layout"] = CEPH
    assert layout_words(CEPHFS.get_stripes(inner / "file")) == (
        "stripe count 1, stripe size 4M, object size 8M, pool cephfs_data"
    )


OSD_MAP = """{"epoch":17,"pool":"data","objname":"10000000001.00000000","pgid":"3.7","up":[3],"acting_primary":3}

{"epoch":17,"pool":"data","objname":"10000000001.00000001","pgid":"3.2f","up":[3],"acting_primary":3}

{"epoch":17,"pool":"data","objname":"10000000001.00000002","pgid":"3.3e","up":[1],"acting_primary":1}

"""


def test_cephfs_the_objects_of_a_file_follow_from_its_size() -> None:
    """Counts follow the documented placement; tests/system/test_cephfs.py compares five sizes with `rados ls`."""
    wide = Layout(4, MIB, pool="data", object_size=4 * MIB)
    for size, count in ((0, 0), (1, 1), (MIB, 1), (MIB + 1, 2), (4 * MIB, 4), (16 * MIB, 4), (16 * MIB + 1, 5)):
        assert len(object_names(0x10000000001, size, wide)) == count, size
    assert object_names(0x10000000001, 9_000_000, Layout(2, MIB, object_size=3 * MIB)) == [
        f"10000000001.0000000{number}" for number in (0, 1, 2, 3)
    ]


def test_cephfs_a_file_names_the_target_of_each_object(
    tmp_path: Path, attributes: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CEPHFS.get_stripes
    (tmp_path / "file").write_bytes(bytes(3 * 65536))
    layout = "stripe_unit=65536 stripe_count=4 object_size=4194304 pool=data"
    attributes[str(tmp_path / "file"), "ceph.file.layout"] = layout
    asked = install(tmp_path, monkeypatch, "ceph", OSD_MAP)
    assert CEPHFS.get_stripes(tmp_path / "file").targets == (3, 3, 1), "a hash puts two objects on one target"
    assert calls(asked) == [["--format", "json"]]
    (tmp_path / "ceph.out").write_text("not JSON")
    assert CEPHFS.get_stripes(tmp_path / "file").targets == ()
    (tmp_path / "ceph").unlink()
    assert CEPHFS.get_stripes(tmp_path / "file").targets == (), "without the tool the layout is still told"


def several_answers(folder: Path, monkeypatch: pytest.MonkeyPatch, known: int = 8) -> None:
    """Makes a `ceph` that answers as a CephFS does with five daemons; four hold the data pool `data`, one of these is
    down. The daemons have reported `known` of the pool's eight groups; only the map tells where the other groups lie.
    """
    node = {"kb": 1048576, "kb_used": 29, "kb_avail": 1048547}
    nodes = [{"id": i, "name": f"osd.{i}", "status": "up" if i else "down", **node} for i in range(5)]
    answers = {
        "fs": [{"name": "cephfs", "metadata_pool": "meta", "data_pools": ["data"]}],
        "pg": {
            "pg_ready": True,
            "pg_stats": [{"pgid": f"3.{i}", "acting": [i % 4] if i < known else []} for i in range(8)],
        },
        "osd": {"nodes": nodes, "stray": []},
    }
    install(folder, monkeypatch, "ceph")
    script = f"""#!{sys.executable}
import json, sys
if sys.argv[1] == "--format":
    for line in sys.stdin:
        group = line.removeprefix("pg map ").strip()
        print(json.dumps({{"pgid": group, "acting": [int(group[2:]) % 4]}}), end="\\n\\n")
else:
    print(json.dumps({answers!r}[sys.argv[1]]))
"""
    (folder / "ceph").write_text(script, encoding="utf-8")


def test_cephfs_lists_the_targets_of_its_pool(
    tmp_path: Path, attributes: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CEPHFS.targets
    several_answers(tmp_path, monkeypatch)
    found = CEPHFS.targets(tmp_path, None)
    assert [target.index for target in found] == [0, 1, 2, 3], "osd.4 holds nothing of this pool"
    assert (usable(found), without_files(found)) == (3, "0 (down)")
    assert found[1].size == 2**30
    with pytest.raises(
        UsageError, match="nosuch is not a data pool of a CephFS here; use one of data, or add it first"
    ):
        CEPHFS.targets(tmp_path, "nosuch")


def test_cephfs_asks_the_map_where_the_groups_of_a_new_pool_lie(
    tmp_path: Path, attributes: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CEPHFS.targets
    several_answers(tmp_path, monkeypatch, known=3)
    assert [target.index for target in CEPHFS.targets(tmp_path, None)] == [0, 1, 2, 3]


def test_cephfs_an_unknown_pool_is_named_before_and_after_it_is_refused(
    tmp_path: Path, attributes: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CEPHFS.set_stripes

    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "setxattr", refuse)
    several_answers(tmp_path, monkeypatch)
    with pytest.raises(UsageError, match="nosuch is not a data pool"):
        CEPHFS.set_stripes(tmp_path, Layout(2, MIB, pool="nosuch"))
    runs = [PointSpec(id="sc2", ranks=4, requested={"stripe_count": 2})]
    with pytest.raises(UsageError, match="nosuch is not a data pool"):
        check_targets(runs, tmp_path, CEPHFS, "nosuch")
    (tmp_path / "ceph").unlink()
    with pytest.raises(IolensError, match=r"Invalid argument \(perhaps nosuch is not a data pool"):
        CEPHFS.set_stripes(tmp_path, Layout(2, MIB, pool="nosuch"))


def test_cephfs_says_when_stripes_share_targets(
    tmp_path: Path,
    attributes: dict[tuple[str, str], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    several_answers(tmp_path, monkeypatch)
    check_targets([PointSpec(id="x", ranks=4, requested={"stripe_count": 8})], tmp_path, CEPHFS, None)
    assert "8 stripes of a file share the targets of" in capsys.readouterr().err
    monkeypatch.setattr(backends, "backend_at", lambda path: CEPHFS)
    assert "99 stripes of a file share 3 targets" in set_stripes(tmp_path, Layout(99, MIB))
    assert set_stripes(tmp_path, Layout(3, MIB, object_size=64 * MIB)) == ""
    assert attributes[str(tmp_path), "ceph.dir.layout"].endswith("stripe_count=3 object_size=67108864")
    with pytest.raises(UsageError, match="an object of CephFS must be a multiple of the stripe unit"):
        set_stripes(tmp_path, Layout(3, MIB, object_size=MIB + 65536))


def test_an_object_size_is_a_factor_on_cephfs_alone(tmp_path: Path) -> None:
    runs = [PointSpec(id="os8M", ranks=4, point={"object_size": 8 * MIB}, requested={"object_size": 8 * MIB})]
    check_storage(runs, tmp_path, CEPHFS, LOCAL)
    with pytest.raises(UsageError, match="lustre storage has no object size; only CephFS has one"):
        check_storage(runs, tmp_path, LUSTRE, LOCAL)


def test_cephfs_what_is_no_layout_and_who_may_not_set_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert CEPHFS.set_stripes
    with pytest.raises(IolensError, match="gave no layout"):
        parse_layout("stripe_unit=x")

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(cephfs, "nearest_layout", lambda directory: None)
    monkeypatch.setattr(os, "setxattr", refuse)
    with pytest.raises(IolensError, match=r"Operation not permitted \(the client's capabilities lack the p flag\)"):
        CEPHFS.set_stripes(tmp_path, Layout(2, MIB))


def test_more_stripes_than_targets_are_refused_before_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [PointSpec(id=f"sc{count}", ranks=4, requested={"stripe_count": count}) for count in (1, 3)]
    install(tmp_path, monkeypatch, "lfs", text("lfs-df-trouble.txt"))
    with pytest.raises(UsageError, match=r"3 stripes are too many for .*: 2 of 6 .*3 \(inactive device\)"):
        check_targets(runs, tmp_path, LUSTRE, None)
    check_targets(runs[:1], tmp_path, LUSTRE, None)
    install(tmp_path, monkeypatch, "lfs", "no answer", code=5)
    check_targets(runs, tmp_path, LUSTRE, None)
    assert "the number of targets that accept files is unknown: lfs df -v" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"storage\.pool: emulated storage has no pools"):
        check_pool("flash", Backend("emulated", holds=lambda path: True))


def test_a_run_keeps_the_layout_of_its_data_and_the_state_of_the_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "data").touch()
    asked = install(tmp_path, monkeypatch, "lfs", text("lfs-getstripe-file.txt"))
    health = LUSTRE.health(tmp_path, "job")
    assert calls(asked)[0] == ["getstripe", str(tmp_path / "job" / "data")]
    assert health.counts["layout"] == {
        "stripe_count": 2,
        "stripe_size": MIB,
        "start": 5,
        "targets": (5, 8),
        "pool": "flash",
        "object_size": None,
        "components": (),
    }
    assert "listed no object storage targets" in health.counts["targets"]["unknown"]
    unknown = {"stripe_count": None, "stripe_size": 65536, "cb_nodes": None}
    assert with_layout(unknown, health) == {"stripe_count": 2, "stripe_size": 65536, "cb_nodes": None}
