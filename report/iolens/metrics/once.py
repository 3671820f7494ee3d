"""Each metric is computed once per log, however many pages, tables and sentences ask for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


def once_per_job(metric: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Keeps a metric's answers for as long as their job (or comparison) is in use; the other arguments must be
    hashable.

    Every caller gets the same object: do not change it in place, make a new one (`frame.assign(…)`).
    """
    answers: WeakKeyDictionary[S, dict[Any, R]] = WeakKeyDictionary()

    @wraps(metric)
    def answer(job: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        known = answers.get(job)
        if known is None:
            known = answers[job] = {}
        asked = (args, tuple(sorted(kwargs.items()))) if kwargs else args
        if asked not in known:
            known[asked] = metric(job, *args, **kwargs)
        return known[asked]

    return answer
