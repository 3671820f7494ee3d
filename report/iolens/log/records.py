"""Tables as arrays with a name for each column, and on request as pandas frames: most computations need no frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from iolens.lazy import pd

if TYPE_CHECKING:
    import numpy as np

    Block = tuple[Mapping[str, int], np.ndarray | list[np.ndarray] | "LazyRows"]


class LazyRows:
    """Rows of numbers, each of which is computed at its first use: `rows[3]`."""

    def __init__(self, compute: Callable[[int], np.ndarray]) -> None:
        self.compute = compute
        self.known: dict[int, np.ndarray] = {}

    def __getitem__(self, place: int) -> np.ndarray:
        if place not in self.known:
            self.known[place] = self.compute(place)
        return self.known[place]


class Records:
    """A table whose columns are arrays of one length: `records["POSIX_READS"]`. The arrays must not be changed in
    place. `single` has single columns by name; each of `blocks` has many columns of one type: their names, and an array
    with a row for each, a list of rows, or LazyRows. The values of a column in `coded` are positions in a list of
    texts. `left_out` is the number of rows that are missing because they were small or did not fit into memory. `count`
    is the number of rows, if it is known without reading a column.
    """

    def __init__(
        self,
        single: Mapping[str, np.ndarray],
        blocks: Sequence[Block] = (),
        coded: Mapping[str, Sequence[str]] | None = None,
        count: int | None = None,
    ) -> None:
        self.single = single
        self.blocks = blocks
        self.coded = coded or {}
        self.count = count
        self.left_out = 0
        self.framed: pd.DataFrame | None = None

    @classmethod
    def of(cls, names: Iterable[str], rows: Iterable[Sequence[Any]]) -> Records:
        """Returns a table with these column names from rows of values."""
        named, each = [*names], [*rows]
        columns = zip(*each, strict=True) if each else ((),) * len(named)
        return cls({name: _column(values) for name, values in zip(named, columns, strict=True)})

    def __getitem__(self, name: str) -> np.ndarray:
        found = self.single.get(name)
        if found is not None:
            return found
        for names, values in self.blocks:
            if name in names:
                row: np.ndarray = values[names[name]]
                return row
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self.single or any(name in names for names, _ in self.blocks)

    def __len__(self) -> int:
        return len(next(iter(self.single.values()), ())) if self.count is None else self.count

    @property
    def names(self) -> list[str]:
        """Returns the columns, in their order."""
        return [*self.single, *(name for names, _ in self.blocks for name in names)]

    def get(self, name: str, default: Any = None) -> Any:
        """Returns a column, or the substitute for one that is missing."""
        try:
            return self[name]
        except KeyError:
            return default

    def says(self, name: str, text: str, rows: slice = slice(None)) -> np.ndarray:
        """Returns a mask: True for each row (of all, or of the given ones) that has this text in a column."""
        texts = self.coded.get(name)
        wanted = text if texts is None else texts.index(text) if text in texts else -1
        found: np.ndarray = self[name][rows] == wanted
        return found

    def where(self, rows: np.ndarray | slice) -> Records:
        """Returns some rows, selected by a mask, by their numbers in the given order, or by a slice."""
        return Records(
            {name: values[rows] for name, values in self.single.items()},
            [(names, _chosen(values, rows)) for names, values in self.blocks],
            self.coded,
        )

    def beside(self, columns: Mapping[str, np.ndarray]) -> Records:
        """Returns the rows with additional columns, which replace columns of the same names."""
        return Records({**self.single, **columns}, self.blocks, self.coded)

    def take(self, *names: str) -> Records:
        """Returns some of the columns, in this order; none of them may be a column in `coded`."""
        return Records({name: self[name] for name in names})

    def rows(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Returns each row as a tuple of Python values, with these columns or with all."""
        return zip(*(self[name].tolist() for name in names or self.names), strict=True)

    def frame(self) -> pd.DataFrame:
        """Returns the rows as a frame, made once; coded columns are categories."""
        if self.framed is None:
            self.framed = self.as_frame()
        return self.framed

    def as_frame(self) -> pd.DataFrame:
        """Returns a new DataFrame with all columns; changing it does not change the records."""
        single: dict[str, Any] = dict(self.single)
        for name, texts in self.coded.items():
            single[name] = pd.Categorical.from_codes(self.single[name], categories=list(texts))
        parts = [pd.DataFrame(single, copy=False)] if single or not self.blocks else []
        for names, values in self.blocks:
            rows = values.T if hasattr(values, "T") else {name: values[place] for name, place in names.items()}
            parts.append(pd.DataFrame(rows, columns=list(names), copy=False))
        return parts[0] if len(parts) == 1 else pd.concat(parts, axis=1)


def _chosen(rows: np.ndarray | list[np.ndarray] | LazyRows, chosen: np.ndarray | slice) -> LazyRows:
    """Returns the rows with only some of their values. A large table may have a hundred columns, of which few are
    needed.
    """
    return LazyRows(lambda place: rows[place][chosen])


def _column(values: Sequence[Any]) -> np.ndarray:
    """Returns values as an array of booleans, whole numbers, numbers (None among them becomes NaN), or objects."""
    import numpy as np

    kinds = {type(value) for value in values}
    numeric = all(issubclass(kind, (int, float, np.number, np.bool_, type(None))) for kind in kinds)
    if numeric and kinds - {type(None)} and len(kinds & {bool, np.bool_}) in (0, len(kinds)):
        return np.array(values, float if type(None) in kinds else None)
    return np.fromiter(values, object, len(values))


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Returns the position of each name, by the name."""
    return {name: place for place, name in enumerate(names)}


class Frames(Mapping[str, Any]):
    """Frames by name, each of which is made when it is first requested; `tables` has the tables as they were read."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.tables = tables
        self.made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        found = self.tables[name]
        if not isinstance(found, Records):
            return found
        if name not in self.made:
            self.made[name] = found.frame()
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __contains__(self, name: object) -> bool:
        return name in self.tables


def tables_of(frames: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the tables by name, with arrays for frames."""
    tables = frames.tables if isinstance(frames, Frames) else frames
    return {name: as_records(found) for name, found in tables.items()}


def as_records(found: Any) -> Any:
    """Returns a frame as Records (arrays by column), and other values unchanged."""
    if isinstance(found, (Records, Mapping)):
        return found
    coded = {name: list(found[name].cat.categories) for name in found if found[name].dtype == "category"}
    return Records(
        {name: (found[name].cat.codes if name in coded else found[name]).to_numpy() for name in found}, (), coded
    )
