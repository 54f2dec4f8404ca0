"""Requests to one OpenStack service, whose failures are errors that an operator understands."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from keystoneauth1 import discover, exceptions, noauth, token_endpoint
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session

from limes.backends import BackendContext, BackendError, BackendMissing, BackendOutage, BackendOutdated, BackendRefusal
from limes_plugins.openstack.params import ConnectionParams

_THREADS = 8
_MAX_PAGES = 10_000

T = TypeVar("T")
R = TypeVar("R")


class ServiceClient:
    """Speaks JSON with one service. Safe to use from many threads. Nothing is asked before the first request."""

    def __init__(
        self,
        context: BackendContext,
        params: ConnectionParams,
        *,
        name: str,
        service_type: str,
        major: int | None = None,
        microversion: str | None = None,
        at_least: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`name` is what the service is called in messages, `service_type` its type in Keystone's catalog.

        `major` is the version of the API to look for below the catalog's endpoint; a configured endpoint has to have it
        in its path already. `headers` are sent with each request.
        With a `microversion` each request asks for it; where `at_least` is given too, for the newest one up to
        `microversion` that the service knows, which must not be older than `at_least`.
        """
        self.name = name
        self._context = context
        self._params = params
        self._service_type = service_type
        self._versions: dict[str, Any] = {}
        if major is not None:
            self._versions = {"min_version": (major, 0), "max_version": (major, discover.LATEST)}
        self._headers = {"Accept": "application/json", **(headers or {})}
        self._wanted = microversion
        self._at_least = at_least
        self._lock = threading.RLock()  # who agrees on a microversion needs the session for it
        self._negotiated: str | None = None
        self._own_session: Session | None = None

    # -- requests ----------------------------------------------------------------------------------------------------

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The document at `path`. Raises `BackendError`."""
        document = self.find(path, params)
        if document is None:
            raise BackendError(f"GET {path}: {self.name} answered with 404")
        return document

    def find(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """The same; None if the service says that there is no such thing."""
        return self._document("GET", path, params=dict(params or {}))

    def put(self, path: str, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """Replaces what is at `path`, and gives the answer. None if the service says that there is no such thing."""
        return self._document("PUT", path, json=document)

    def post(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a document. Raises `BackendError`, also if the service says that there is no such thing."""
        answer = self._document("POST", path, json=document)
        if answer is None:
            raise BackendError(f"POST {path}: {self.name} answered with 404")
        return answer

    def patch(self, path: str, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """Changes what is at `path`, and gives the answer. None if the service says that there is no such thing."""
        return self._document("PATCH", path, json=document)

    def pages(
        self, path: str, key: str, params: Mapping[str, Any] | None = None, deadline: float | None = None
    ) -> Iterator[dict[str, Any]]:
        """The entries of a list, page by page: along `<key>_links` or `links.next`, whichever the service has.

        Raises `BackendError` if the list is not complete, also when the deadline has passed before its last page.
        """
        query = dict(params or {})
        for _ in range(_MAX_PAGES):
            self._check(deadline)
            document = self.get(path, query)
            entries = document.get(key)
            if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                raise BackendError(f"GET {path}: expected a list {key!r} of objects")
            yield from entries
            following = _next_query(document, key)
            if following is None:
                return
            following = query | following
            if following == query or not entries:
                raise BackendError(f"GET {path}: {self.name} names the same page again as the next one")
            query = following
        raise BackendError(f"GET {path}: the list does not end")

    def offset_pages(self, path: str, key: str, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The entries of a list whose pages are counted by `offset`. It ends with a page without entries: a short one
        may come from a server whose own limit is below ours. Raises `BackendError`."""
        offset = 0
        for _ in range(_MAX_PAGES):
            entries = self.get(path, {**params, "offset": offset}).get(key)
            if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                raise BackendError(f"GET {path}: expected a list {key!r} of objects")
            if not entries:
                return
            yield from entries
            offset += len(entries)
        raise BackendError(f"GET {path}: the list does not end")

    def request(self, method: str, path: str, **options: Any) -> Any:
        """One request, whose answer may have any status but 401, 403, 406 and the server's own errors.

        Raises `BackendError` for these, and if the service is not in the catalog.
        """
        headers = {**self._headers, **options.pop("headers", {})}
        try:
            adapter = self._adapter(self.microversion())
            answer = adapter.request(path, method, raise_exc=False, headers=headers, **options)
        except exceptions.CatalogException as error:
            raise self._not_in_catalog() from error
        status = answer.status_code
        if status in (401, 403):
            raise BackendRefusal(
                f"{method} {path}: {self.name} refuses the user of Limes with {status}{_detail(answer)}"
                " (look at the roles of this user, and at the policy of the service)"
            )
        if status == 406 and self._wanted is not None:
            raise BackendOutdated(f"this {self.name} does not know the microversion {self.microversion()}")
        if status == 429 or status >= 500:
            raise BackendOutage(f"{method} {path}: {self.name} answered with {status}{_detail(answer)}")
        return answer

    def refused(self, method: str, path: str, answer: Any) -> BackendError:
        """The error to raise for an answer of 4xx that the caller has no use for."""
        return BackendError(f"{method} {path}: {self.name} answered with {answer.status_code}{_detail(answer)}")

    def _document(self, method: str, path: str, **options: Any) -> dict[str, Any] | None:
        answer = self.request(method, path, **options)
        if answer.status_code == 404:
            return None
        if answer.status_code >= 400:
            raise self.refused(method, path, answer)
        if answer.status_code in (202, 204) and not answer.content:
            return {}
        try:
            document = answer.json()
        except ValueError as error:
            raise BackendError(f"{method} {path}: {self.name}'s answer is not JSON") from error
        if not isinstance(document, dict):
            raise BackendError(f"{method} {path}: {self.name}'s answer is not a JSON object")
        return document

    # -- many requests -----------------------------------------------------------------------------------------------

    def deadline(self) -> float:
        """When a call of the plugin that begins now has to be over, on the clock `time.monotonic`."""
        return time.monotonic() + self._context.time_limit

    def map(self, function: Callable[[T], R], items: Iterable[T], deadline: float) -> list[R]:
        """Applies a function that makes requests to all items, several at a time.

        Raises the first error, and `BackendError` when the deadline has passed.
        """

        def timed(item: T) -> R:
            self._check(deadline)
            return function(item)

        pool = ThreadPoolExecutor(_THREADS, thread_name_prefix=self._service_type)
        try:
            return list(pool.map(timed, items))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _check(self, deadline: float | None) -> None:
        if deadline is not None and time.monotonic() > deadline:
            raise BackendOutage(f"{self.name} did not give all answers within {self._context.time_limit:.0f} s")

    # -- the way to the service --------------------------------------------------------------------------------------

    def offers(self) -> bool:
        """Whether Keystone's catalog has the service (or an endpoint is configured)."""
        return self._params.endpoint is not None or bool(self._adapter(None).get_endpoint())

    def endpoint(self) -> str:
        """The URL that paths are appended to. Raises `BackendError` if the service is not in the catalog."""
        found = self._params.endpoint or self._adapter(None).get_endpoint()
        if not found:
            raise self._not_in_catalog()
        return str(found)

    def microversion(self) -> str | None:
        """The microversion that requests ask for. Raises `BackendError` if the service is too old."""
        if self._at_least is None or self._wanted is None:
            return self._wanted
        with self._lock:
            if self._negotiated is None:
                self._negotiated = self._negotiate(_number(self._at_least), _number(self._wanted))
            return self._negotiated

    def _negotiate(self, at_least: tuple[int, int], wanted: tuple[int, int]) -> str:
        data = self._adapter(None).get_endpoint_data()
        if data is None:
            raise self._not_in_catalog()
        newest = data.max_microversion
        if newest is None or tuple(newest) < at_least:
            known = "knows no microversions" if newest is None else f"goes up to {newest[0]}.{newest[1]}"
            raise BackendOutdated(f"this {self.name} {known}, but at least {self._at_least} is needed")
        major, minor = min(wanted, (newest[0], newest[1]))
        return f"{major}.{minor}"

    def _not_in_catalog(self) -> BackendMissing:
        region = f", region {self._params.region_name}" if self._params.region_name else ""
        return BackendMissing(
            f"there is no service of type {self._service_type!r} in Keystone's catalog"
            f" (interface {self._params.interface}{region})"
        )

    def _adapter(self, microversion: str | None) -> Adapter:
        return self._context.adapter(
            self._service_type,
            session=self._session(),
            interface=self._params.interface,
            region_name=self._params.region_name,
            endpoint_override=self._params.endpoint,
            default_microversion=microversion,
            **self._versions,
        )

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


def _next_query(document: Mapping[str, Any], key: str) -> dict[str, str] | None:
    """The query of the next page. Host and path of a link stay unused: behind a proxy they may be wrong, and the token
    goes nowhere but to the service."""
    links = document.get(f"{key}_links") or []
    hrefs = [link.get("href") for link in links if isinstance(link, dict) and link.get("rel") == "next"]
    if isinstance(document.get("links"), dict):
        hrefs.append(document["links"].get("next"))
    for href in hrefs:
        if isinstance(href, str) and href:
            return {name: values[-1] for name, values in parse_qs(urlsplit(href).query).items()}
    return None


def _number(microversion: str) -> tuple[int, int]:
    major, minor = microversion.split(".")
    return int(major), int(minor)


def _detail(answer: Any) -> str:
    """What the service says in its error document, if it is one of the usual forms, or a plain text."""
    try:
        text = _message(answer.json())
    except ValueError:
        text = answer.text if answer.headers.get("Content-Type", "").startswith("text/plain") else ""
    return f": {' '.join(text.split())[:300]}" if text else ""


def _message(document: Any) -> str:
    """`{"errors": [{"detail": ...}]}`, `{"badRequest": {"message": ...}}`, `{"NeutronError": {"message": ...}}` or
    `{"faultstring": ...}`."""
    if not isinstance(document, dict):
        return ""
    errors = document.get("errors")
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        return str(errors[0].get("detail") or "")
    for field in ("message", "faultstring"):
        if isinstance(document.get(field), str):
            return str(document[field])
    inner = next((value for value in document.values() if isinstance(value, dict)), None)
    return "" if inner is None else _message(inner)
