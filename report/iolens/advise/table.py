"""The rules that there are, in the order in which they are documented."""

from __future__ import annotations

from iolens.advise.rule import Rule
from iolens.advise.rules import metadata_storm, one_writer, small_writes

RULES: tuple[Rule, ...] = (
    small_writes.RULE,
    one_writer.RULE,
    metadata_storm.RULE,
)
