"""Tests that stripes are read and set through one interface; file systems without stripes give clear errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.errors import UsageError
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import BACKENDS, backend_at, backend_for, get_stripes, set_stripes, storage_marks
from iolens.lab.storage.emulated import make_mount
from iolens.lab.storage.layout import Layout
from iolens.lab.storage.lustre import LUSTRE
from iolens.lab.storage.plain import PLAIN


def test_a_file_system_without_stripes_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"this file system has no stripes .* iolens stripe mount"):
        set_stripes(tmp_path, Layout(2, 2**20))
    with pytest.raises(UsageError, match="has no stripes"):
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
        stripe_command=lambda count, size, pool, object_size: f"drum stripes {count} {size}",
        mark="DRUM STORAGE",
    )
    monkeypatch.setitem(BACKENDS, "drum", drum)
    folder = tmp_path / "drum"
    folder.mkdir()
    set_stripes(folder, Layout(3, 2**20))
    assert get_stripes(folder) == Layout(3, 2**20)
    assert (backend_at(folder), backend_at(tmp_path)) == (drum, PLAIN)
    assert (backend_for("directory", folder / "new"), backend_for("drum", folder)) == (drum, drum)
    assert storage_marks({"drum", "emulated", None}) == ["EMULATED STORAGE", "DRUM STORAGE"]
    with pytest.raises(UsageError, match=r"but storage\.kind is drum"):
        backend_for("drum", tmp_path)


@pytest.mark.parametrize("size", [4096, 65536 + 4096])
def test_stripes_that_lustre_cannot_cut_are_refused_before_it_is_asked(tmp_path: Path, size: int) -> None:
    assert LUSTRE.set_stripes
    with pytest.raises(UsageError, match="multiple of 64 KiB"):
        LUSTRE.set_stripes(tmp_path, Layout(1, size))


def test_the_targets_of_an_emulated_mount_are_always_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_mount(tmp_path)
    assert main(["stripe", "targets", str(tmp_path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"{tmp_path}: 12 of 12 targets accept new files"
    assert shown[2].split() == ["0", "OST0000", "n/a", "n/a", "in", "order"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["set", "-c", "2", "-p", "flash"], "emulated storage, which has no pools"),
        (["targets", "-p", "flash"], "emulated storage, which has no pools"),
        (["targets", "/nowhere/at/all"], "no such file or directory"),
    ],
)
def test_a_pool_or_a_path_that_is_not_there_is_said(
    tmp_path: Path, words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_mount(tmp_path)
    place = [] if "/nowhere/at/all" in words else [str(tmp_path)]
    assert main(["stripe", *words, *place]) == 2
    assert why in capsys.readouterr().err
