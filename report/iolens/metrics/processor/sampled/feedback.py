"""The compiler's treatment of the lines that took most samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.processor.sampled.loop_nests import Loop
from iolens.metrics.processor.sampled.samples import hot_lines
from iolens.symbols.opt_records import EMPTY_WORDS, MISSED, VAGUE, Remark, name_of, plain_name


def hot_feedback(job: Job, remarks: Iterable[Remark], limit: int = 30) -> pd.DataFrame | None:
    """Returns `hot_lines` with `letters`, `loop` (the line of the loop) and `reason` (why it was not vectorised).

    Letters describe the line itself and the loop that contains it, taken to be the last loop before it that GCC
    mentions in the same function. A loop that GCC vectorised in one way does not count as missed, even if other ways
    failed before. Loop 0 and empty texts mean that GCC has no remark. Returns None if no line is known.
    """
    lines = hot_lines(job, limit)
    if lines is None:
        return None
    known = _by_line(remarks)
    functions = _function_loops(known)
    places = zip(lines["source"], lines["line"], lines["function"], strict=True)
    found = [
        _remarks_on_line(str(source), line_number(line), str(function), known, functions)
        for source, line, function in places
    ]
    return lines.assign(
        letters=[letters for letters, _, _ in found],
        loop=[loop for _, loop, _ in found],
        reason=[reason for _, _, reason in found],
    )


def line_number(line: str) -> int:
    """Returns the line number in a text such as `line 31`."""
    return int(line.rpartition(" ")[2] or 0)


Place = tuple[str, int]


def _by_line(remarks: Iterable[Remark]) -> Mapping[Place, list[Remark]]:
    """Returns the remarks by source file (its name) and line."""
    found: dict[Place, list[Remark]] = {}
    for remark in remarks:
        found.setdefault((name_of(remark.source), remark.line), []).append(remark)
    return found


def _function_loops(known: Mapping[Place, Sequence[Remark]]) -> Mapping[tuple[str, str], list[int]]:
    """Returns, by source file and function, the first lines of the loops that GCC analysed.

    GCC reports a remark on a statement inside a loop at the statement's line, and a remark on the loop itself at the
    loop's line.
    """
    found: dict[tuple[str, str], set[int]] = {}
    for (source, line), remarks in known.items():
        for remark in remarks:
            if remark.begins_loop:
                found.setdefault((source, remark.function), set()).add(line)
    return {key: sorted(lines) for key, lines in found.items()}


def _remarks_on_line(
    source: str,
    line: int,
    function: str,
    known: Mapping[Place, Sequence[Remark]],
    loops: Mapping[tuple[str, str], Sequence[int]],
) -> tuple[str, int, str]:
    """Returns the letters, the loop's line (0: none) and the reason for one line."""
    loop = max((one for one in loops.get((source, plain_name(function)), ()) if one <= line), default=0)
    remarks = [one for at in dict.fromkeys((loop, line)) for one in known.get((source, at), ())]
    letters = {remark.letter for remark in remarks}
    if "V" in letters:
        letters.discard(MISSED)
    inside = [one for at in range(loop, line + 1) for one in known.get((source, at), ())] if loop else remarks
    reasons = [remark.reason for remark in inside if remark.letter == MISSED and remark.reason]
    return "".join(sorted(letters)), loop, best(reasons) if MISSED in letters else ""


def best(reasons: Sequence[str]) -> str:
    """Returns the most informative reason: the last one that is neither vague nor only says that the loop was not
    vectorised.
    """
    telling = [reason for reason in reasons if not reason.startswith(EMPTY_WORDS)]
    clear = [reason for reason in telling if not reason.startswith(VAGUE)]
    return (clear or telling or list(reasons) or [""])[-1]


def loop_tags(remarks: Iterable[Remark], source: str, loops: Iterable[Loop]) -> Mapping[int, str]:
    """Returns the compiler's treatment of each loop of a source file, by the loop's first line."""
    known = _by_line(remarks)
    return {loop.begin: _tag_of(known.get((source, loop.begin), ())) for loop in loops}


def _tag_of(remarks: Sequence[Remark]) -> str:
    """Returns the compiler's treatment of a loop: its letters, with the largest factor of unrolling; `+` if the
    compiler did nothing.
    """
    letters = {remark.letter for remark in remarks if remark.begins_loop}
    if "V" in letters:
        letters.discard(MISSED)
    factor = max((remark.factor for remark in remarks), default=0)
    return "".join(f"{letter}{factor or ''}" if letter == "u" else letter for letter in sorted(letters)) or "+"
