"""Computes each metric once per log, no matter how many pages, tables and sentences use it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


def once_per_job(metric: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Keeps a metric's results for as long as their job (or comparison) is in use; the other arguments must be
    hashable. A last argument equal to its default counts as not given.

    Every caller gets the same object: do not change it in place, make a new one (`frame.assign(…)`).
    """
    answers: WeakKeyDictionary[S, dict[Any, R]] = WeakKeyDictionary()
    parameters = list(signature(metric).parameters.values())[1:]
    defaults = tuple(each.default for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD)

    @wraps(metric)
    def answer(job: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        known = answers.get(job)
        if known is None:
            known = answers[job] = {}
        given = tuple(args)
        while 0 < len(given) <= len(defaults) and given[-1] == defaults[len(given) - 1]:
            given = given[:-1]
        asked = (given, tuple(sorted(kwargs.items()))) if kwargs else given
        if asked not in known:
            known[asked] = metric(job, *args, **kwargs)
        return known[asked]

    return answer
