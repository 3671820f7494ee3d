"""Tests long C++ names in narrow columns: the function, its class, its lambda and the indentation stay."""

from __future__ import annotations

import re

import pytest
from iolens.cli.main import COMMANDS, command_parser
from iolens.pages.base.blocks import Table
from iolens.pages.base.words import INDENT
from iolens.pages.pdf.grid import broken
from iolens.pages.pdf.vector import PLAIN, text_width
from iolens.pages.text.lines import fitting_name, is_long_name, shorter_names, table_text
from iolens.pages.text.tabular import plain_table

RELAX = "physics::detail::Solver<std::vector<double>>::relax(int, double)::{lambda(int)#1}"


def test_parameters_go_first_then_template_arguments_then_outer_namespaces() -> None:
    assert shorter_names(RELAX) == [
        "physics::detail::Solver<std::vector<double>>::relax::{lambda#1}",
        "physics::detail::Solver<…>::relax::{lambda#1}",
        "…detail::Solver<…>::relax::{lambda#1}",
        "…Solver<…>::relax::{lambda#1}",
        "…relax::{lambda#1}",
        "…{lambda#1}",
    ]
    assert fitting_name(RELAX, lambda name: len(name) <= 36) == "…Solver<…>::relax::{lambda#1}"


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("void std::sort<int*>(int*, int*)", "std::sort<…>"),
        ("a::B::operator()(int) const", "a::B::operator()"),
        ("a::operator< (b const&)", "a::operator<"),
        ("ns::(anonymous namespace)::f(int)", "ns::(anonymous namespace)::f"),
    ],
)
def test_what_belongs_to_the_name_stays(name: str, plain: str) -> None:
    assert plain in shorter_names(name) or plain in [one.strip() for one in shorter_names(name)]


def test_sentences_and_paths_are_no_names() -> None:
    assert is_long_name(RELAX)
    assert not is_long_name("most samples in a::b, 34 % of the run: see the profile")
    assert not is_long_name("/usr/lib/libstdc++.so: std::sort")
    assert not is_long_name("a sentence of many words that names std::sort")


def test_a_name_in_a_table_keeps_function_and_indent() -> None:
    rows = [["17 %", f"{INDENT}{RELAX}"]]
    (line,) = [line for line in table_text(Table("", ["share", "function"], rows), 48) if "relax" in line]
    assert line.endswith(f"  {INDENT}…detail::Solver<…>::relax::{{lambda#1}}")


def test_a_broken_cell_keeps_its_indent_in_every_line() -> None:
    words = f"{INDENT}a function of many words"
    lines = broken(words, PLAIN, 7.0, text_width(f"{INDENT}a function", PLAIN, 7.0) + 1)
    assert len(lines) > 1
    assert all(line.startswith(INDENT) for line in lines)
    name = broken(f"{INDENT}{RELAX}", PLAIN, 7.0, text_width(f"{INDENT}{RELAX}", PLAIN, 7.0) / 2)
    assert name[0].startswith(INDENT)
    assert name[0].endswith("relax::{lambda#1}")


def test_a_list_breaks_behind_its_commas_where_the_terminal_is_narrow() -> None:
    modules = "sm,tuned,self,adapt,sync,libnbc,basic,inter,han"
    table = Table("MPI", ["what", "value"], [["component that was open", modules], ["file", "/a,b/" + "c" * 20]])
    lines = plain_table(table, 50).splitlines()
    assert max(map(len, lines)) <= 50
    assert modules in "".join(line.partition("|")[2].strip() for line in lines)
    assert modules in plain_table(table)
    assert "/a,b/" + "c" * 20 in plain_table(table, 50)


def test_no_help_text_has_a_default_within_a_default(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        text = " ".join(command_parser(name).format_help().split())
        assert not re.search(r"\(default: [^()]*\(default", text), name
