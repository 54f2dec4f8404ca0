"""Requests to Placement, with the token, microversion and error texts that the plugin needs."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from keystoneauth1 import noauth, token_endpoint
from keystoneauth1.session import Session

from limes.backends import BackendContext, BackendError
from limes_plugins.placement.params import ConnectionParams

MICROVERSION = "1.38"
"""The first one whose usages are grouped by consumer type (Placement of the Xena release)."""

_THREADS = 8

T = TypeVar("T")
R = TypeVar("R")


class PlacementClient:
    """Speaks JSON with one Placement. Safe to use from many threads."""

    def __init__(self, params: ConnectionParams, context: BackendContext) -> None:
        self._params = params
        self._context = context
        self._lock = threading.Lock()
        self._own_session: Session | None = None

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The document at `path`. Raises `BackendError`."""
        document = self.find(path, params)
        if document is None:
            raise BackendError(f"GET {path}: Placement answered with 404")
        return document

    def find(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """The same; None if Placement says that there is no such thing."""
        return self._request("GET", path, params=dict(params or {}))

    def put(self, path: str, document: Mapping[str, Any]) -> None:
        """Replaces what is at `path`. Raises `BackendError`."""
        if self._request("PUT", path, json=document) is None:
            raise BackendError(f"PUT {path}: Placement answered with 404: it does not know this extension")

    def deadline(self) -> float:
        """When a call of the plugin that begins now has to be over, on the clock `time.monotonic`."""
        return time.monotonic() + self._context.time_limit

    def map(self, function: Callable[[T], R], items: Iterable[T], deadline: float) -> list[R]:
        """Applies a function that makes requests to all items, several at a time.

        Raises the first error, and `BackendError` when the deadline has passed.
        """

        def timed(item: T) -> R:
            if time.monotonic() > deadline:
                raise BackendError(f"Placement did not give all answers within {self._context.time_limit:.0f} s")
            return function(item)

        pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="placement")
        try:
            return list(pool.map(timed, items))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _request(self, method: str, path: str, **options: Any) -> dict[str, Any] | None:
        adapter = self._context.adapter(
            "placement",
            session=self._session(),
            interface=self._params.interface,
            region_name=self._params.region_name,
            endpoint_override=self._params.endpoint,
            default_microversion=MICROVERSION,
        )
        answer = adapter.request(path, method, raise_exc=False, headers={"Accept": "application/json"}, **options)
        if answer.status_code == 404:
            return None
        if answer.status_code == 406:
            raise BackendError(f"this Placement does not know the microversion {MICROVERSION}")
        if answer.status_code >= 400:
            detail = _detail(answer)
            raise BackendError(f"{method} {path}: Placement answered with {answer.status_code}{detail}")
        if answer.status_code == 204:
            return {}
        try:
            document = answer.json()
        except ValueError as error:
            raise BackendError(f"{method} {path}: Placement's answer is not JSON") from error
        if not isinstance(document, dict):
            raise BackendError(f"{method} {path}: Placement's answer is not a JSON object")
        return document

    def _session(self) -> Session | None:
        """A session of our own for fixed tokens; None means the configured one."""
        auth = self._params.auth
        if auth.type == "session":
            return None
        with self._lock:
            if self._own_session is None:
                token = auth.token.get_secret_value() if auth.token else None
                endpoint = self._params.endpoint
                plugin = token_endpoint.Token(endpoint, token) if token else noauth.NoAuth(endpoint)
                self._own_session = Session(plugin)
            return self._own_session


def _detail(answer: Any) -> str:
    """What Placement says in its error document, if it is one."""
    try:
        return f": {answer.json()['errors'][0]['detail']}"
    except (ValueError, LookupError, TypeError):
        return ""


def whole_number(value: Any, what: str) -> int:
    """The value, if it is a whole number from 0. Raises `BackendError`."""
    if type(value) is not int or value < 0:
        raise BackendError(f"{what} is {value!r}, expected a whole number from 0")
    return value
