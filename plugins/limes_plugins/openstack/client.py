"""Requests to one OpenStack service, whose failures are errors that an operator understands."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import requests
from keystoneauth1 import exceptions

from limes.backends import UNLIMITED, BackendError, BackendOutage, BackendQuota, BackendRefusal, limited
from limes_plugins.openstack.params import ServiceEndpoint

_THREADS = 8
_MAX_PAGES = 10_000
_OFFSET_TRIES = 5
_MISSING = "was the project deleted, or is the path of the endpoint wrong?"
"""What an answer 404 may come from, if the caller knows nothing better."""

T = TypeVar("T")
R = TypeVar("R")


class ServiceClient(ServiceEndpoint):
    """Speaks JSON with one service. Safe to use from many threads. Nothing is asked before the first request."""

    # -- requests ----------------------------------------------------------------------------------------------------

    def get(
        self,
        path: str,
        params: Mapping[str, Any] | None = None,
        *,
        missing: str = _MISSING,
        microversion: str | None = None,
    ) -> dict[str, Any]:
        """Returns the document at `path`. Raises `BackendError`; `missing` is what an answer 404 may come from, and
        `microversion` one for this request alone."""
        options = {"microversion": microversion} if microversion else {}
        return self._document("GET", path, missing, params=dict(params or {}), **options)

    def find(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Returns the same; None if the service says that there is no such thing."""
        answer = self.request("GET", path, params=dict(params or {}))
        return None if answer.status_code == 404 else self._read("GET", path, answer)

    def put(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        return self._document("PUT", path, json=document)

    def post(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        return self._document("POST", path, json=document)

    def patch(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        return self._document("PATCH", path, json=document)

    def pages(
        self, path: str, key: str, params: Mapping[str, Any] | None = None, deadline: float | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yields the entries of a list, page by page: along `<key>_links` or `links.next`, whichever the service has.
        Raises `BackendError` if the list is not complete, also when the deadline has passed before its last page."""
        query = dict(params or {})
        for _ in range(_MAX_PAGES):
            self._check(deadline)
            document = self.get(path, query)
            entries = _entries(document, key, path)
            yield from entries
            following = _next_query(document, key)
            if following is None:
                return
            following = query | following
            if following == query or not entries:
                raise BackendError(f"GET {path}: {self.name} names the same page again as the next one")
            query = following
        raise BackendError(f"GET {path}: the list does not end")

    def offset_pages(
        self, path: str, key: str, params: Mapping[str, Any], deadline: float | None = None
    ) -> list[dict[str, Any]]:
        """Returns the entries of a list whose pages are counted by `offset`. `params` has the `limit` of a page.

        Such a list moves while entries come and go. So each page begins with the last entry of the page before; if it
        does not, the list is read again. A short page is not the last one: the server's own limit may be below ours.
        Raises `BackendError`.
        """
        for _ in range(_OFFSET_TRIES):
            entries = self._offset_pages(path, key, params, deadline)
            if entries is not None:
                return entries
        raise BackendError(f"GET {path}: the list changes while it is read, {_OFFSET_TRIES} times in a row")

    def _offset_pages(
        self, path: str, key: str, params: Mapping[str, Any], deadline: float | None
    ) -> list[dict[str, Any]] | None:
        """Returns all entries; None if they have changed meanwhile."""
        entries = _entries(self.get(path, {**params, "offset": 0}), key, path)
        limit = params["limit"] + 1
        for _ in range(_MAX_PAGES):
            if not entries:
                return entries
            if deadline is not None and time.monotonic() > deadline:
                raise BackendOutage(f"GET {path}: the list is too long to be read in time")
            page = _entries(self.get(path, {**params, "limit": limit, "offset": len(entries) - 1}), key, path)
            if not page or page[0].get("id") != entries[-1].get("id"):
                return None
            if len(page) == 1:
                return entries
            entries += page[1:]
        raise BackendError(f"GET {path}: the list does not end")

    def request(self, method: str, path: str, **options: Any) -> Any:
        """One request, whose answer may have any status but 401, 403, 406, 429 and the server's own errors. Raises
        `BackendError` for these, and if the service is not in the catalog."""
        headers = {**self._headers, **options.pop("headers", {})}
        with self._understood(method, path):
            adapter = self.adapter()
            answer = adapter.request(path, method, raise_exc=False, headers=headers, **options)
        if answer.status_code == 406 and adapter.default_microversion is not None:
            raise self.too_old(f"does not know the microversion {adapter.default_microversion}")
        status = answer.status_code
        if status in (401, 403):
            raise BackendRefusal(
                f"{method} {path}: {self.name} refuses the user of Limes with {status}{_detail(answer)}"
                " (look at the roles of this user, and at the policy of the service)"
            )
        if status == 429 or status >= 500:
            raise BackendOutage(f"{method} {path}: {self.name} answered with {status}{_detail(answer)}")
        return answer

    def refused(self, method: str, path: str, answer: Any, missing: str = _MISSING) -> BackendError:
        """Returns the error for an answer of 4xx that the caller has no use for. `missing` is what a 404 may come
        from."""
        hint = f" ({missing})" if answer.status_code == 404 else ""
        return BackendError(f"{method} {path}: {self.name} answered with {answer.status_code}{_detail(answer)}{hint}")

    def _document(self, method: str, path: str, missing: str = _MISSING, **options: Any) -> dict[str, Any]:
        return self._read(method, path, self.request(method, path, **options), missing)

    def _read(self, method: str, path: str, answer: Any, missing: str = _MISSING) -> dict[str, Any]:
        if answer.status_code >= 400:
            raise self.refused(method, path, answer, missing)
        if answer.status_code in (202, 204) and not answer.content:
            return {}
        try:
            document = answer.json()
        except ValueError as error:
            kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
            problem = f"{kind} and not JSON" if kind and not kind.endswith("json") else "not JSON"
            raise BackendError(
                f"{method} {path}: {self.name}'s answer is {problem} (is there something else behind the endpoint?)"
            ) from error
        if not isinstance(document, dict):
            raise BackendError(f"{method} {path}: {self.name}'s answer is not a JSON object")
        return document

    @contextlib.contextmanager
    def _understood(self, method: str, path: str) -> Iterator[None]:
        """Turns keystoneauth's exceptions into errors that an operator understands, where they are not yet."""
        try:
            yield
        except exceptions.CatalogException as error:
            raise self.no_endpoint() from error
        except exceptions.DiscoveryFailure as error:
            raise self.no_versions() from error
        except exceptions.UnknownConnectionError as error:
            if not isinstance(error.original, requests.exceptions.ChunkedEncodingError):
                raise
            raise BackendOutage(
                f"{method} {path}: the connection was cut in the middle of {self.name}'s answer"
                " (look at its log, and at proxies in between)"
            ) from error

    # -- many requests -----------------------------------------------------------------------------------------------

    def deadline(self) -> float:
        """Returns when a call of the plugin that begins now has to be over, on the clock `time.monotonic`."""
        return time.monotonic() + self._context.time_limit

    def map(self, function: Callable[[T], R], items: Iterable[T], deadline: float) -> list[R]:
        """Applies a function that makes requests to all items, several at a time. Raises the first error, and
        `BackendError` when the deadline has passed."""

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


def _entries(document: Mapping[str, Any], key: str, path: str) -> list[dict[str, Any]]:
    entries = document.get(key)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BackendError(f"GET {path}: expected a list {key!r} of objects")
    return entries


def _next_query(document: Mapping[str, Any], key: str) -> dict[str, str | list[str]] | None:
    """Returns the query of the next page. Host and path of a link stay unused: behind a proxy they may be wrong, and
    the token goes nowhere but to the service."""
    links = document.get(f"{key}_links") or []
    hrefs = [link.get("href") for link in links if isinstance(link, dict) and link.get("rel") == "next"]
    if isinstance(document.get("links"), dict):
        hrefs.append(document["links"].get("next"))
    for href in hrefs:
        if isinstance(href, str) and href:
            # `fields` comes once for each field
            named = parse_qs(urlsplit(href).query).items()
            return {name: values if len(values) > 1 else values[0] for name, values in named}
    return None


def _detail(answer: Any) -> str:
    """Returns what the service says in its error document, if it is one of the usual forms, or a plain text."""
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


def whole_number(value: Any, name: str) -> int:
    """Returns the value, if it is a whole number from 0. Raises `BackendError`."""
    if type(value) is not int or value < 0:
        raise BackendError(f"{name} is {value!r}, expected a whole number from 0")
    return value


def quota_of(value: Any, name: str) -> BackendQuota:
    """Returns a quota as OpenStack services write it: -1 means unlimited, and so does what no resource can have that
    much of. Raises `BackendError` for anything else that is no whole number."""
    if value == -1 and type(value) is int:
        return UNLIMITED
    return limited(whole_number(value, name))
