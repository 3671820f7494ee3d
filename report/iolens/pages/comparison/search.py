"""The page about the search of a tuned experiment: its course, and the machine that its runs describe."""

from __future__ import annotations

from collections.abc import Mapping

from iolens.lab.tune.trail import Trail
from iolens.lazy import pd
from iolens.pages.blocks import Page, Text
from iolens.pages.exhibit import frames
from iolens.pages.exhibits.sweep.search import MACHINE, STEPS


def search_page(trail: Trail) -> Page:
    """Returns the search in a sentence, a figure and two tables."""
    blocks = [Text(_search_words(trail)), *STEPS.figures(trail), *STEPS.tables(trail), *MACHINE.tables(trail)]
    return Page("The search", blocks, joined=False)


def _search_words(trail: Trail) -> str:
    """Returns the number of settings that were run, and the reason why the search stopped, in words."""
    text = f"{len(trail.steps)} of {trail.settings} settings were run by the search"
    text += f", after {len(trail.known)} that were known before" if trail.known else ""
    why = f"; it ended because {trail.stopped}" if trail.stopped else "; it has not ended yet"
    return f"{text}{why}. A setting that was not run may still be better than the best."


def with_trail(tables: Mapping[str, pd.DataFrame], trail: Trail | None) -> Mapping[str, pd.DataFrame]:
    """Returns the tables for export; if there was a search, its tables are included, also in the index."""
    if trail is None:
        return tables
    own = frames((STEPS, MACHINE), trail)
    return {**tables, **own, "index": pd.concat([tables["index"], own["index"]], ignore_index=True)}
