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
    return _run_by(lambda engine: engine.atomic, work)


def snapshot(read: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Likewise as `Engine.snapshot`."""
    return _run_by(lambda engine: engine.snapshot, read)


def _run_by(
    begin: Callable[[Engine], Callable[[Callable[[], T]], T]], work: Callable[Concatenate[S, P], T]
) -> Callable[Concatenate[S, P], T]:
    @wraps(work)
    def run(first: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        engine = first if isinstance(first, Engine) else first.engine
        return begin(engine)(partial(work, first, *args, **kwargs))

    return run
