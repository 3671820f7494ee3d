"""Functions and source lines of the nodes of call chains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.lazy import pd
from iolens.symbols.chains import with_rows
from iolens.symbols.elf import EMPTY, Elf, object_file, read_elf, without_symbols
from iolens.symbols.function_names import (
    GENERATED,
    PARTS,
    SourceLine,
    demangled,
    generated_line,
    generated_names,
    given_name,
    is_split_part,
    lines_of,
)


def resolve(
    nodes: pd.DataFrame, objects: pd.DataFrame, search: Sequence[Path] = (), generated: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Returns a frame with the function at each address of a call tree, a row per row of `nodes`.

    `nodes`, `objects` and `generated` are the private tables `call_nodes`, `objects` and `generated_code`. Columns:
    `rank`, `node`, `parent` and `leaf` as in `call_nodes`; `object` (path, "" if not known) and `address` in it;
    `function`, `source` and `line` of the innermost function there; `inlined`, the functions that this one was inlined
    into, as a tuple of `SourceLine`, innermost first, usually empty; `symbol`, the linker's name of the code;
    `is_split`, True if the compiler took the code out of that function. If nothing is known (the file is stripped,
    missing, or was built again since), `function` is "address (name)": the start of the function if the file has it,
    else the address, and the name of the object; `source` is "", and `line` is 0. For a function that the program
    generated, `object` is its source and `symbol` its full name. `search` has folders with objects or their debug
    files. Files are read once, and each address is looked up once for all ranks.
    """
    known = objects[["rank", "object", "build_id", "path"]]
    merged = with_rows(nodes, known, "object")
    merged["path"] = merged["path"].fillna("")
    merged["build_id"] = merged["build_id"].fillna("")
    wanted = merged["offset"].astype("int64") - (merged["leaf"] == 0)
    keys = list(zip(merged["path"], merged["build_id"], wanted, strict=True))
    found: dict[tuple[str, str, int], ResolvedAddress] = {}
    for (path, build_id), group in pd.DataFrame(sorted(set(keys))).groupby([0, 1]) if keys else ():
        places = lookup(path, build_id, group[2].tolist(), search)
        found |= {(path, build_id, address): place for address, place in places.items()}
    names = generated_names(generated, merged["rank"].tolist(), wanted.tolist())
    placed = [
        _generated_place(name) if name and not key[0] else found[key] for key, name in zip(keys, names, strict=True)
    ]
    chains = [place.chain for place in placed]
    return pd.DataFrame(
        {
            **{name: merged[name] for name in ("rank", "node", "parent", "leaf")},
            "object": [place.object for place in placed],
            "address": merged["offset"],
            "function": [chain[0].function for chain in chains],
            "source": [chain[0].source for chain in chains],
            "line": [chain[0].line for chain in chains],
            "symbol": [place.symbol for place in placed],
            "is_split": [place.is_split for place in placed],
            "inlined": pd.Series([chain[1:] for chain in chains], index=merged.index, dtype=object),
        }
    )


@dataclass(frozen=True)
class ResolvedAddress:
    """The object that an address is in, the linker's name of the code there, and the functions, innermost first.

    `is_split`: the compiler took the code out of the function whose name it has.
    """

    object: str
    symbol: str
    chain: tuple[SourceLine, ...]
    is_split: bool = False


def _generated_place(name: str) -> ResolvedAddress:
    """Returns code that the program generated, under the name that its compiler gave it."""
    line = generated_line(name)
    return ResolvedAddress(line.source or GENERATED, name, (line,))


def lookup(path: str, build_id: str, addresses: Sequence[int], search: Sequence[Path]) -> Mapping[int, ResolvedAddress]:
    """Returns the functions at some addresses of one object."""
    file = object_file(path, build_id, search) if path else None
    elf = read_elf(file) if file else EMPTY
    named = {address: elf.function_at(address) for address in addresses}
    lines = _lines_by_own_names(file, addresses, named) if file and elf.lines else {}
    plain = demangled([*named.values(), *_function_names(lines.values())])
    found = {}
    for address in addresses:
        name = given_name(named[address], plain) or _unnamed_function(path, elf, address)
        chain = [_tidied(line, plain) for line in lines.get(address, [SourceLine(name)])]
        if chain[-1].function.startswith("_") or not chain[-1].function:
            # Debug information may have the inner name that a library gives the function; its symbols have the name by
            # which programs call it.
            chain[-1] = SourceLine(name, chain[-1].source, chain[-1].line)
        split = is_split_part(named[address])
        found[address] = ResolvedAddress(path, PARTS.sub("", named[address]), tuple(chain), split)
    return found


def _lines_by_own_names(
    file: Path, addresses: Sequence[int], named: Mapping[int, str]
) -> dict[int, tuple[SourceLine, ...]]:
    """Returns `lines_of` with the names of inlined functions corrected. binutils may give an inlined function the name
    of the code that contains it (`named` has this code's linker's name). The names at such addresses are looked up
    again in a copy of the file without symbols.
    """
    lines = lines_of(file, addresses)
    outer = demangled(list(named.values()))
    doubtful = [
        address
        for address, chain in lines.items()
        if any(line.function in (named[address], outer.get(named[address])) for line in chain[:-1])
    ]
    if not doubtful:
        return lines
    try:
        with without_symbols(file) as copy:
            found = lines_of(copy, doubtful)
    except OSError:
        return lines
    return lines | {address: chain for address, chain in found.items() if all(line.function for line in chain)}


def _function_names(chains: Iterable[Sequence[SourceLine]]) -> list[str]:
    """Returns all names in chains."""
    return [line.function for chain in chains for line in chain]


def _tidied(line: SourceLine, plain: Mapping[str, str]) -> SourceLine:
    """Returns a line with its function as the source has it."""
    name = given_name(line.function, plain)
    if name == "operator()":
        name = f"lambda or operator() in {Path(line.source).name or 'an unknown file'}"
    return SourceLine(name, line.source, line.line)


def _unnamed_function(path: str, elf: Elf, address: int) -> str:
    """Returns a label for a function without a name: its start, else the address, and the object's name."""
    begin = elf.begin_of(address)
    return f"{address if begin is None else begin:#x} ({Path(path).name or 'unknown'})"
