"""Stripes through one interface: what `lfs getstripe` prints, and clear errors where there are none.

No Lustre can be mounted here, so the texts below are recorded outputs of `lfs` in the formats of Lustre 2.12 and 2.15.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.errors import UsageError
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import BACKENDS, backend_at, backend_for, get_stripes, marks, set_stripes
from iolens.lab.storage.emulated import make_mount
from iolens.lab.storage.layout import Layout
from iolens.lab.storage.lustre import LUSTRE, parse_getstripe
from iolens.lab.storage.plain import PLAIN

FILE = """/scratch/file
lmm_stripe_count:  2
lmm_stripe_size:   1048576
lmm_pattern:       raid0
lmm_layout_gen:    0
lmm_stripe_offset: 5
\tobdidx\t\t objid\t\t objid\t\t group
\t     5\t      53094345\t    0x32a2bc9\t             0
\t     8\t      52839612\t    0x32648bc\t             0

"""
DIRECTORY = "/scratch/dir\nstripe_count:  4 stripe_size:   4194304 pattern:       raid0 stripe_offset: -1\n"
COMPOSITE = """/scratch/pfl
  lcm_layout_gen:    3
  lcm_mirror_count:  1
  lcm_entry_count:   2
    lcme_id:             1
    lcme_extent.e_start: 0
    lcme_extent.e_end:   4194304
      lmm_stripe_count:  1
      lmm_stripe_size:   1048576
      lmm_stripe_offset: 0
      lmm_objects:
      - 0: { l_ost_idx: 0, l_fid: [0x100000000:0x2:0x0] }

    lcme_id:             2
      lmm_stripe_count:  4
      lmm_stripe_size:   4194304
      lmm_stripe_offset: 1
      lmm_objects:
      - 0: { l_ost_idx: 1, l_fid: [0x100010000:0x2:0x0] }
      - 1: { l_ost_idx: 2, l_fid: [0x100020000:0x2:0x0] }
"""


def test_a_file_of_lustre_2_12() -> None:
    assert parse_getstripe(FILE) == Layout(2, 2**20, 5, (5, 8))


def test_a_directory_of_lustre_2_12() -> None:
    assert parse_getstripe(DIRECTORY) == Layout(4, 2**22, -1, ())


def test_a_composite_layout_counts_by_its_last_component() -> None:
    assert parse_getstripe(COMPOSITE) == Layout(4, 2**22, 1, (0, 1, 2))


def test_a_file_system_without_stripes_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no stripes on this file system .* iolens stripe mount"):
        set_stripes(tmp_path, Layout(2, 2**20))
    with pytest.raises(UsageError, match="no stripes"):
        get_stripes(tmp_path)


@pytest.mark.parametrize(("count", "size"), [(0, 2**20), (13, 2**20), (2, 5000)])
def test_impossible_stripes_are_refused(tmp_path: Path, count: int, size: int) -> None:
    make_mount(tmp_path)
    with pytest.raises(UsageError):
        set_stripes(tmp_path, Layout(count, size))


def test_the_default_of_a_mount_comes_from_its_configuration(tmp_path: Path) -> None:
    make_mount(tmp_path)
    assert get_stripes(tmp_path) == Layout(1, 2**20)


def test_a_back_end_of_its_own_is_one_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[Path, Layout] = {}
    drum = Backend(
        name="drum",
        holds=lambda path: path.name == "drum",
        set_stripes=kept.__setitem__,
        get_stripes=kept.__getitem__,
        stripe_command=lambda count, size: f"drum stripes {count} {size}",
        mark="DRUM STORAGE",
    )
    monkeypatch.setitem(BACKENDS, "drum", drum)
    folder = tmp_path / "drum"
    folder.mkdir()
    set_stripes(folder, Layout(3, 2**20))
    assert get_stripes(folder) == Layout(3, 2**20)
    assert (backend_at(folder), backend_at(tmp_path)) == (drum, PLAIN)
    assert (backend_for("directory", folder / "new"), backend_for("drum", folder)) == (drum, drum)
    assert marks({"drum", "emulated", None}) == ["EMULATED STORAGE", "DRUM STORAGE"]
    with pytest.raises(UsageError, match=r"but storage\.kind is drum"):
        backend_for("drum", tmp_path)


@pytest.mark.parametrize("size", [4096, 65536 + 4096])
def test_stripes_that_lustre_cannot_cut_are_refused_before_it_is_asked(tmp_path: Path, size: int) -> None:
    assert LUSTRE.set_stripes
    with pytest.raises(UsageError, match="multiple of 64 KiB"):
        LUSTRE.set_stripes(tmp_path, Layout(1, size))
