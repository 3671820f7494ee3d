"""Conditions on the settings of a point, such as `aggregators > stripe_count`: a small subset of Python's
expressions.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.Not: operator.not_, ast.USub: operator.neg}


_KINDS = (ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare, ast.Name, ast.Constant)
"""Node types that an expression may contain. The operators are those of the tables above, `and` and `or`."""


def parse_expression(text: str) -> ast.expr:
    """Parses an expression into a tree; raises ValueError for anything other than numbers, words, settings and
    comparisons.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError) as error:
        raise ValueError(f"{text!r} is not a condition, such as 'aggregators > stripe_count'") from error
    operators = (*_BINARY, *_COMPARISONS, *_UNARY, ast.And, ast.Or, ast.Load)
    for node in ast.walk(tree):
        if not isinstance(node, _KINDS + operators):
            raise ValueError(
                f"{text!r}: a condition may contain settings, numbers, words, comparisons, + - * / % and or not"
            )
        if isinstance(node, ast.Constant) and not isinstance(node.value, int | float | str):
            raise ValueError(f"{text!r}: {ast.unparse(node)} is neither a number nor a word")
    return tree


def names_in(tree: ast.expr) -> Collection[str]:
    """Returns the names of the settings that an expression uses."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def holds(tree: ast.expr, settings: Mapping[str, int | str]) -> bool:
    """Returns True if the condition holds for these settings; raises ValueError if it compares words with numbers or
    divides by zero.
    """
    try:
        return bool(_node_value(tree, settings))
    except (TypeError, ArithmeticError) as error:
        raise ValueError(f"{ast.unparse(tree)!r} cannot be evaluated for {dict(settings)}: {error}") from error


def _node_value(node: ast.expr, settings: Mapping[str, int | str]) -> Any:
    """Returns the value of a node of a parsed expression."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return settings[node.id]
    if isinstance(node, ast.BoolOp):
        values = (_node_value(part, settings) for part in node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_node_value(node.operand, settings))
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)](_node_value(node.left, settings), _node_value(node.right, settings))
    if isinstance(node, ast.Compare):
        terms = [_node_value(part, settings) for part in (node.left, *node.comparators)]
        return all(_COMPARISONS[type(op)](a, b) for op, a, b in zip(node.ops, terms, terms[1:], strict=False))
    raise ValueError(f"{ast.unparse(node)!r} cannot be part of a condition")
