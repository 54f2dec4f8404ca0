"""`@atomic` and `@snapshot`: functions whose whole work is one transaction of the engine.

Neither can be a `with` block, as all of the work may have to run again: after a collision (`Engine.atomic`), or on the
primary when a standby fails (`limes.db.replicas`). So such a function does nothing but database work.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from limes.db.engine import Engine

P = ParamSpec("P")
T = TypeVar("T")


class HasEngine(Protocol):
    @property
    def engine(self) -> Engine: ...


S = TypeVar("S", bound=Engine | HasEngine)


def atomic(work: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """As `Engine.atomic`, for a method of what has an engine, or a function whose first argument is one."""

    @wraps(work)
    def run(first: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return _engine_of(first).atomic(partial(work, first, *args, **kwargs))

    return run


def snapshot(read: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Likewise as `Engine.snapshot`."""

    @wraps(read)
    def run(first: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return _engine_of(first).snapshot(partial(read, first, *args, **kwargs))

    return run


def _engine_of(first: Engine | HasEngine) -> Engine:
    return first if isinstance(first, Engine) else first.engine
