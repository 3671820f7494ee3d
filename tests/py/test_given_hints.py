"""`iolens run --hints`: what is taken, what is refused."""

from __future__ import annotations

import argparse

import pytest
from iolens.lab.run.given_hints import hints_of_files


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("*.nc:cb_nodes=4", "*.nc:cb_nodes=4"),
        ("*:cb_buffer_size=16M,cb_nodes=2", "*:cb_buffer_size=16777216,cb_nodes=2"),
        (
            "a*:cb_nodes=2:cb_config_list=*:*,b*:striping_unit=1k",
            "a*:cb_nodes=2:cb_config_list=*:*,b*:striping_unit=1024",
        ),
    ],
)
def test_sizes_become_bytes_and_colons_stay_in_values(text: str, value: str) -> None:
    assert hints_of_files(text) == value


@pytest.mark.parametrize("text", ["", "cb_nodes=4", "*.nc", "*:cb_nodes", "*:cb_nodes=4,b*:", "*:=4"])
def test_what_is_no_hint_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        hints_of_files(text)
