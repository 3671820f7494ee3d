"""Groups rows by file or by family of files, for tables that have a row for each file and rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.families import Families, families
from iolens.metrics.files.overview import path_column, paths
from iolens.metrics.grouping import Groups


@dataclass(frozen=True)
class GroupedFiles:
    """The rows of a table in groups: `same` has the groups, and `names` a row for each of them, with its `path` (a
    family's label), its number of `files`, and the number of `ranks` that have rows in it.
    """

    table: Records
    same: Groups
    names: Records

    def of_busiest_rank(self, column: str) -> np.ndarray:
        """Returns, for each group, the sum of a column over the group's files for the rank whose sum is the largest."""
        pairs = Groups(self.same.place, self.table["rank"])
        return Groups(self.same.place[pairs.first]).max(pairs.sum(self.table[column]))


def families_of(job: Job, ids: np.ndarray, by_family: bool = True) -> Families:
    """Returns the families of the files with these record ids: `place` has an entry for each id. Unless `by_family`,
    each file is a family by itself.
    """
    same = Groups(ids)
    return _families_of_groups(paths(job, ids[same.first].tolist()), same, by_family)


def families_of_names(names: np.ndarray, by_family: bool = True) -> Families:
    """Returns the families of a column of names, as `families_of` does for a column of record ids."""
    same = Groups(names)
    return _families_of_groups([*map(str, names[same.first].tolist())], same, by_family)


def _families_of_groups(names: Sequence[str], same: Groups, by_family: bool) -> Families:
    """Returns the families of rows that are already grouped; `names` has the name that all rows of a group share."""
    if not by_family:
        return Families(same.place, names, np.ones(len(names), np.intp))
    kin = families(names)
    return Families(kin.place[same.place], kin.labels, kin.sizes)


def grouped_files(job: Job, table: Records, by_family: bool = True, file: str = "file") -> GroupedFiles:
    """Groups the rows of a table by family of files, or else by file; the column `file` has record ids."""
    return grouped_rows(table, families_of(job, table[file], by_family))


def grouped_rows(table: Records, kin: Families) -> GroupedFiles:
    """Groups the rows of a table by family; `kin` has the family of each row."""
    same = Groups(kin.place)
    names = {"path": np.array(kin.labels, object), "files": kin.sizes, "ranks": same.distinct(table["rank"])}
    return GroupedFiles(table, same, Records(names))


def settings_of_families(job: Job, table: Records, names: Sequence[str], by_family: bool) -> Records:
    """Groups a table that has a row for each `file` and setting. The result has a row for each family of files and
    combination of the values in `names`, with its `path` (a family's label, or the only file) and the number of
    `files`.
    """
    kin = families_of(job, table["file"], by_family)
    same = Groups(kin.place, *(table[name] for name in names))
    named = names_of_groups(job, table["file"], kin, same)
    return Records(named | {name: table[name][same.first] for name in names})


def names_of_groups(job: Job, ids: np.ndarray, kin: Families, same: Groups) -> dict[str, np.ndarray]:
    """Returns, for groups of rows within families, the `path` (the family's label, or the name of the only file in the
    group) and the number of `files`. `ids` has the record id of each row, and `kin` its family.
    """
    files = same.distinct(ids)
    labels = np.array(kin.labels, object)[kin.place[same.first]]
    return {"path": np.where(files > 1, labels, path_column(job, ids[same.first])), "files": files}
