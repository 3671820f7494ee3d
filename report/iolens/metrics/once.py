"""Each metric is computed once per log, however many pages, tables and sentences ask for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from iolens.log import Job

P = ParamSpec("P")
R = TypeVar("R")


def once_per_job(metric: Callable[Concatenate[Job, P], R]) -> Callable[Concatenate[Job, P], R]:
    """Keep a metric's answers for as long as their job is in use; the other arguments must be hashable.

    Every caller gets the same object: do not change it in place, make a new one (`frame.assign(…)`).
    """
    answers: WeakKeyDictionary[Job, dict[Any, R]] = WeakKeyDictionary()

    @wraps(metric)
    def answer(job: Job, /, *args: P.args, **kwargs: P.kwargs) -> R:
        known = answers.setdefault(job, {})
        asked = (args, tuple(sorted(kwargs.items())))
        if asked not in known:
            known[asked] = metric(job, *args, **kwargs)
        return known[asked]

    return answer
