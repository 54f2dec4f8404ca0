"""All queries that Limes runs, with the row types that read them.

Most are decorated functions. Others stand in a constant, which is found in the source, or a function builds or chooses
them: such functions are called with each kind of argument that their annotations allow, and what they ask the engine for is
noted.
"""

import ast
import contextlib
import enum
import importlib
import inspect
import itertools
import re
import sys
import types
import typing
from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Literal, NamedTuple, Union

import peewee
from msgspec import Struct

import limes
from limes.db.compiled import Compiled
from limes.db.compiled_rows import CompiledForRows
from limes.db.engine import Engine
from limes.db.query import Insert, Query

METHODS = {"all": 2, "first": 2, "stream": 2, "tuples": 1, "column": 1, "write": 1}
"""What an engine runs queries with, and the number of arguments before the values."""
ASKS = re.compile(rf"\b_?(engine|primary|other)\.({'|'.join(METHODS)})\(")
OTHERS = re.compile(r"limes/app/(importer|doctor)/|limes/db/(engine|query|replicas|migrate)\.py")
"""Not looked at: what reads another program's database or PostgreSQL's catalogs, and what only passes queries on."""
FEW = 8
MANY = 64
"""More combinations of arguments than these are not tried: each argument is varied on its own then."""


class Call(NamedTuple):
    """A place where a query runs."""

    file: str
    line: int
    last_line: int
    method: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Use(NamedTuple):
    """A query with what reads its rows."""

    call: Call
    query: Any
    kind: Any
    """The row type, if there is one."""
    width: int | None
    """The number of columns that the code unpacks, if it says so."""


def _sources() -> Iterator[tuple[str, str]]:
    """The files in which an engine is asked for something."""
    folder = Path(limes.__path__[0])
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text()
        if ASKS.search(text) and not OTHERS.search(file := str(path.relative_to(folder.parent))):
            yield file, text


def module_of(file: str) -> ModuleType:
    return importlib.import_module(file.removesuffix(".py").replace("/", "."))


def _file(path: str | None) -> str:
    return str(Path(path or "").relative_to(Path(limes.__path__[0]).parent))


class Place(NamedTuple):
    """The source of a call."""

    node: ast.Call
    function: ast.AST
    """The one in which it stands."""
    module: ModuleType
    width: int | None
    """The number of columns that are unpacked there."""


@cache
def calls() -> dict[Call, Place]:
    """All places where an engine is asked to run a query."""
    found: dict[Call, Place] = {}
    for file, text in _sources():
        tree = ast.parse(text)
        widths = {id(node): width for node, width in _unpacked(tree)}
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and _is_call(node):
                    assert isinstance(node.func, ast.Attribute)
                    call = Call(file, node.lineno, node.end_lineno or 0, node.func.attr)
                    found.setdefault(call, Place(node, function, module_of(file), widths.get(id(node))))
    return found


def _is_call(node: ast.Call) -> bool:
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in METHODS:
        return False
    return bool(node.args) and re.search(r"(^|\.|_)(engine|primary|other)$", ast.unparse(node.func.value)) is not None


def _unpacked(tree: ast.AST) -> Iterator[tuple[ast.expr, int]]:
    """What is iterated over with a tuple of names, or made a dict, with its number of columns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Tuple):
            if not any(isinstance(one, ast.Starred) for one in node.target.elts):
                yield node.iter, len(node.target.elts)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and node.args:
            yield node.args[0], 2


def decorated_uses() -> Iterator[Use]:
    """Queries that are decorated functions."""
    for path in sorted(Path(limes.__path__[0]).rglob("*.py")):
        if "from limes.db.query import" not in path.read_text():
            continue
        module = module_of(_file(str(path)))
        for name, value in vars(module).items():
            if isinstance(value, Query | Insert) and (isinstance(value, Insert) or value.__module__ == module.__name__):
                queries, kind = (
                    ([value.compiled], None) if isinstance(value, Insert) else (value.variants.values(), value.row)
                )
                for query in queries:
                    yield Use(Call(f"{_file(module.__file__)}:{name}", 0, 0, "write"), query, kind, None)


def constant_uses() -> Iterator[Use]:
    """Queries that are given to the engine by the name of a constant, or of a variable that is one of some constants."""
    for call, place in calls().items():
        kind = _evaluated(place.node.args[1], place.module) if METHODS[call.method] == 2 else None
        for query in _constants(place.node.args[0], place):
            yield Use(call, query, kind, place.width)


def unnamed_uses() -> Iterator[Use]:
    """Constants that are given to other functions, which run them. Without a row type, so they may give no rows."""
    known = {id(use.query) for use in constant_uses()}
    for module in {place.module for place in calls().values()}:
        for value in vars(module).values():
            if isinstance(value, Compiled | CompiledForRows) and id(value) not in known:
                yield Use(Call(_file(module.__file__), 0, 0, "other"), value, None, None)


def _constants(node: ast.expr, place: Place) -> Iterator[Any]:
    if isinstance(node, ast.IfExp):
        yield from _constants(node.body, place)
        yield from _constants(node.orelse, place)
    elif isinstance(query := _evaluated(node, place.module), Compiled | CompiledForRows):
        yield query
    elif isinstance(node, ast.Name):
        for each in ast.walk(place.function):
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == node.id:
                yield from _constants(each.value, place._replace(function=each.value))


def _evaluated(node: ast.expr, module: ModuleType) -> Any:
    return getattr(module, node.id, None) if isinstance(node, ast.Name) else None


# -- queries that functions build or choose ----------------------------------------------------------------------------


class Recorder(Engine):
    """Notes what it is asked for, and gives what it is told to: no rows, or one in which all is small."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.gives_rows = False
        self.asked = 0
        self.uses: dict[tuple[Call, Hashable, Any], Use] = {}

    def _note(self, method: str, query: Any, kind: Any, values: Mapping[str, Any]) -> Use | None:
        self.asked += 1
        if self.asked > MANY:
            raise RuntimeError("a loop that ends when there are no more rows")
        frame: FrameType | None = sys._getframe(2)
        assert frame is not None
        with contextlib.suppress(ValueError):
            file, line = _file(frame.f_code.co_filename), frame.f_lineno
            for call, place in calls().items():
                if (call.file, call.method) == (file, method) and call.line <= line <= call.last_line:
                    text = self._statement(query, values or {"rows": [()]}).sql
                    key = text if isinstance(query, peewee.Node) else id(query)
                    return self.uses.setdefault((call, key, kind), Use(call, query, kind, place.width))
        return None

    def fetch(self, query: Any, values: Any) -> list[Any]:
        """Rows of a query that is a decorated function. Its row type is known (`decorated_uses`)."""
        self.asked += 1
        if self.asked > MANY:
            raise RuntimeError("a loop that ends when there are no more rows")
        if not self.gives_rows:
            return []
        kind = _kinds()[id(query)]
        return [tuple(map(_row, kind)) if isinstance(kind, tuple) else tuple(_row(kind))]

    def all(self, query: Any, kind: Any, /, **values: Any) -> list[Any]:
        self._note("all", query, kind, values)
        return [_row(kind)] if self.gives_rows else []

    def first(self, query: Any, kind: Any, /, **values: Any) -> Any:
        self._note("first", query, kind, values)
        return _row(kind) if self.gives_rows else None

    def stream(self, query: Any, kind: Any, /, **values: Any) -> Iterator[Any]:
        self._note("stream", query, kind, values)
        return iter([_row(kind)] if self.gives_rows else [])

    def tuples(self, query: Any, /, **values: Any) -> list[Any]:
        use = self._note("tuples", query, None, values)
        return [tuple(range(1, 1 + (use.width if use and use.width else 2)))] if self.gives_rows else []

    def column(self, query: Any, /, **values: Any) -> list[Any]:
        self._note("column", query, None, values)
        return [1] if self.gives_rows else []

    def write(self, query: Any, /, **values: Any) -> int:
        self._note("write", query, None, values)
        return 1

    def atomic(self, work: Callable[[], Any]) -> Any:
        return work()

    def snapshot(self, work: Callable[[], Any]) -> Any:
        return work()


@cache
def _kinds() -> dict[int, Any]:
    return {id(use.query): use.kind for use in decorated_uses()}


def _row(kind: Any) -> Any:
    return next(iter(examples(kind)))


def built_uses(recorder: Recorder) -> list[Use]:
    """What all functions that take an engine ask it for."""
    built = {call.file for call, place in calls().items() if _evaluated(place.node.args[0], place.module) is None}
    for file in sorted(built):
        for function in _functions(module_of(file)):
            _try(function, recorder)
    return list(recorder.uses.values())


def _functions(module: ModuleType) -> Iterator[Callable[..., Any]]:
    for value in list(vars(module).values()):
        if inspect.isfunction(value) and value.__module__ == module.__name__:
            yield value
        elif type(value).__module__ == module.__name__ and not inspect.isclass(value):
            yield from (method for _, method in inspect.getmembers(value, inspect.ismethod))


def _try(function: Callable[..., Any], recorder: Recorder) -> None:
    function = inspect.unwrap(function)  # a transaction is nothing to the recorder
    try:
        hints = typing.get_type_hints(function)
    except NameError:
        return
    hints.pop("return", None)
    if Engine not in hints.values():
        return
    for arguments in _combined(
        {name: list(itertools.islice(examples(hint, recorder), MANY)) for name, hint in hints.items()}
    ):
        for recorder.gives_rows in (False, True):
            recorder.asked = 0
            with contextlib.suppress(Exception):  # it does not matter what it makes of such rows
                result = function(**arguments)
                if isinstance(result, Iterator):
                    list(itertools.islice(result, MANY))


def _combined(choices: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    count = 1
    for each in choices.values():
        count *= len(each)
    if count <= MANY:
        for values in itertools.product(*choices.values()):
            yield dict(zip(choices, values, strict=True))
        return
    for end in (0, -1):
        base = {name: each[end] for name, each in choices.items() if each}
        yield base
        yield from (base | {name: value} for name, each in choices.items() for value in each)


_PLAIN: dict[Any, list[Any]] = {int: [1], float: [1.0], str: ["x"], bool: [True, False], types.NoneType: [None]}


def examples(hint: Any, recorder: Recorder | None = None) -> Iterator[Any]:
    """Values of a type, one for each way that a function may take."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in _PLAIN:
        yield from _PLAIN[hint]
    elif hint is Engine:
        yield recorder
    elif origin in (Union, types.UnionType):
        yield from itertools.chain.from_iterable(examples(one, recorder) for one in arguments)
    elif origin is Literal:
        yield from arguments
    elif isinstance(hint, typing.TypeVar) and hint.__bound__ not in (None, NamedTuple):
        yield from examples(hint.__bound__, recorder)
    elif inspect.isclass(hint) and issubclass(hint, enum.Enum):
        yield from hint
    elif inspect.isclass(hint) and (hasattr(hint, "_fields") or issubclass(hint, Struct)):
        yield from _made(hint, recorder)
    elif origin is not None and inspect.isclass(origin):
        yield from _containers(origin, arguments, recorder)
    else:
        yield 1


def _made(hint: Any, recorder: Recorder | None) -> Iterator[Any]:
    names = hint._fields if hasattr(hint, "_fields") else hint.__struct_fields__
    hints = typing.get_type_hints(hint)
    for values in _combined({name: list(itertools.islice(examples(hints[name], recorder), MANY)) for name in names}):
        with contextlib.suppress(ValueError):
            yield hint(**values)


def _containers(origin: Any, arguments: tuple[Any, ...], recorder: Recorder | None) -> Iterator[Any]:
    if origin is tuple and Ellipsis not in arguments:
        yield from itertools.product(*(list(examples(one, recorder)) for one in arguments))
    elif issubclass(origin, Mapping):
        keys, values = (list(examples(one, recorder)) for one in arguments)
        yield from ({keys[0]: value} for value in values[:FEW])
    elif origin is type:
        yield arguments[0]
    elif arguments and hasattr(origin, "__iter__"):
        few = list(itertools.islice(examples(arguments[0], recorder), FEW))
        make = frozenset if issubclass(origin, Set) else tuple
        yield from (make(few[:1]), make(few[:1] * 2), make(few[:1] * 33), make(()), *(make([one]) for one in few[1:]))
    elif arguments and origin is Callable:
        yield lambda *_, **__: next(examples(arguments[-1], recorder))
    else:
        yield 1
