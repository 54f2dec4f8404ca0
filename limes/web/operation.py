"""One table per API: path, method, operation. Falcon's resources, 404, 405 and `Allow` follow from it.

So do the paths that need no token, and the requests that the documentation of the policy rules lists.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

import falcon
from falcon.constants import COMBINED_METHODS
from falcon.routing import CompiledRouter
from msgspec import Struct, structs

from limes.auth.policy import Rule
from limes.web import encoding, errors
from limes.web.call import Answer, Call

Responder = Callable[..., None]


class _Exceptions(Struct, frozen=True, kw_only=True):
    also: tuple[str, ...] = ()
    authorizes: bool = False
    """Whether the handler itself authorizes the call, because more than the path decides."""
    public: bool = False


class Operation(_Exceptions, frozen=True):
    """One method of one path. APIs that say more about theirs have a subclass."""

    handler: Callable[[Any], Answer]
    rule: str | None


AnyOperation = TypeVar("AnyOperation", bound=Operation)
AnyCall = TypeVar("AnyCall", bound=Call[Any])
Table = Mapping[str, Mapping[str, AnyOperation]]
"""By path and method."""


class Api(ABC, Generic[AnyOperation, AnyCall]):
    """What differs between the APIs. There is one for each app."""

    @abstractmethod
    def call(self, req: falcon.Request, operation: AnyOperation, params: Mapping[str, str]) -> AnyCall:
        """Returns the request as the handler sees it. Raises for what is refused before the policy is asked."""

    @abstractmethod
    def render(self, call: AnyCall, resp: falcon.Response, answer: Any) -> None:
        """Puts the handler's answer into the response."""

    def responder(self, operation: AnyOperation, siblings: Mapping[str, AnyOperation]) -> Responder:
        handler = operation.handler
        must_authorize = operation.rule is not None and not operation.authorizes

        def respond(req: falcon.Request, resp: falcon.Response, **params: str) -> None:
            call = self.call(req, operation, params)
            if must_authorize:
                call.authorize()
            self.render(call, resp, handler(call))

        return respond

    def refusal(self, operations: Mapping[str, AnyOperation]) -> Responder | None:
        """Answers the methods that a path does not have. None: as Falcon does, which answers OPTIONS with `Allow`."""
        return None


class JsonApi(Api[AnyOperation, AnyCall]):
    def render(self, call: AnyCall, resp: falcon.Response, answer: Answer) -> None:
        resp.status = falcon.code_to_http_status(answer.status)
        for name, value in answer.headers.items():
            resp.set_header(name, value)
        if answer.text is not None:
            errors.answer_text(resp, answer.status, answer.text)
        elif answer.page is not None:
            resp.content_type = "text/html; charset=utf-8"
            resp.text = answer.page
        elif answer.stream is not None:
            resp.content_type = answer.media_type
            resp.stream = answer.stream
        elif answer.data is not None or answer.document is not None:
            resp.content_type = falcon.MEDIA_JSON
            resp.data = encoding.dump(answer.document) if answer.data is None else answer.data


def add_routes(app: falcon.App[Any, Any], api: Api[AnyOperation, Any], table: Table[AnyOperation]) -> None:
    for path, operations in table.items():
        resource = SimpleNamespace()
        refusal = api.refusal(operations)
        for method in COMBINED_METHODS:
            operation = operations.get(method)
            responder = refusal if operation is None else api.responder(operation, operations)
            if responder is not None:
                setattr(resource, f"on_{method.lower()}", responder)
        app.add_route(path, resource)


def operations_of(table: Table[AnyOperation]) -> Iterator[tuple[str, str, AnyOperation]]:
    return ((method, path, operation) for path, methods in table.items() for method, operation in methods.items())


def public_paths(table: Table[AnyOperation]) -> frozenset[str]:
    return frozenset(path for _, path, operation in operations_of(table) if operation.public)


def document_rules(rules: Iterable[Rule], table: Table[AnyOperation]) -> tuple[Rule, ...]:
    guarded: dict[str | None, list[tuple[str, str]]] = {}
    for method, path, operation in operations_of(table):
        for name in (operation.rule, *operation.also):
            guarded.setdefault(name, []).append((method, path))
    return tuple(structs.replace(rule, operations=tuple(guarded.get(rule.name, ()))) for rule in rules)


class Router(CompiledRouter):
    """Falcon's, except that an unknown method is one that the path does not have: 405 instead of 400."""

    def __init__(self, *, head: bool = False) -> None:
        """With `head`, HEAD is answered wherever GET is; Falcon leaves the body out."""
        super().__init__()
        self._head = head

    def map_http_methods(self, resource: object, **kwargs: Any) -> dict[str, Any]:
        responders: dict[str, Any] = super().map_http_methods(resource, **kwargs)
        if self._head and "GET" in responders:
            responders.setdefault("HEAD", responders["GET"])
        return responders

    def find(self, uri: str, req: falcon.Request | None = None) -> Any:
        route = super().find(uri, req)
        if route is None or req is None or req.method in route[1]:
            return route
        resource, responders, params, template = route
        # no resource answers TRACE, so its responder refuses and says what is allowed
        return resource, {**responders, req.method: responders["TRACE"]}, params, template
