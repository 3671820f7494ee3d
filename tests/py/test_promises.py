"""Tests that every text of the report that claims certainty belongs to a kind of promise in `promises.yaml`, and that
the pages show the counts of these kinds.
"""

from __future__ import annotations

import re

import pytest
from promises import PAGES, PROMISES, ROOT, certain_texts, conditions, kind_of, page_text, table_of


def test_texts_that_claim_certainty_are_in_the_register() -> None:
    found = [f"{where}: {text}" for where, text in certain_texts() if kind_of(text) is None]
    assert not found, "give each text a kind in tests/py/promises.yaml"


def test_every_row_of_the_register_is_used() -> None:
    texts = [text for _, text in certain_texts()]
    patterns = [*conditions(), *(each for one in PROMISES for each in one["says"])]
    assert [each for each in patterns if not any(re.search(each, text) for text in texts)] == []


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise["kind"])
def test_a_promise_names_what_counts_it(promise: dict[str, object]) -> None:
    counted_by = str(promise["counted_by"])
    assert (ROOT / counted_by).exists() or counted_by == "the tests of each number"
    assert promise["page"] in PAGES


@pytest.mark.parametrize("page", PAGES)
def test_pages_show_the_counts_of_the_register(page: str) -> None:
    """`python tests/py/promises.py` writes the tables into the pages."""
    assert table_of(page) in page_text(page)


@pytest.mark.parametrize(
    ("text", "is_known"), [("Your run is certainly verified.", False), ("{} took at most {} of the run", True)]
)
def test_a_new_kind_of_sentence_is_noticed(text: str, is_known: bool) -> None:
    assert (kind_of(text) is not None) is is_known
