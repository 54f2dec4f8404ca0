"""The Placement API of a source over HTTP, and ours in this process."""

import io
import os
import threading
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import quote
from wsgiref.util import setup_testing_defaults

import orjson
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1.adapter import Adapter

from limes.auth.session import describe
from limes.kernel.errors import BackendError, LimesError
from limes.kernel.system import Clock
from limes.placement import operation as microversion

OLDEST = 28
"""The microversion that a source has to speak: the first that shows generations of consumers (OpenStack Rocky)."""
TYPED = 38
"""The first microversion with types of consumers."""


class Refused(LimesError):
    """Our API has refused a write, with this reason."""


class ReadableApi(Protocol):
    """What can be read. `version` is the microversion spoken. May be called from many threads."""

    version: int

    def get(self, path: str) -> Any:
        """Returns the document at a path, or None if it does not exist. Raises `BackendError`."""
        ...


class RemoteApi:
    """Another Placement. Uses the newest microversion that both sides know."""

    def __init__(self, adapter: Adapter, url: str) -> None:
        """Asks for its versions. Raises `BackendError` if it is no Placement, or too old."""
        self._adapter = adapter
        self._url = url.rstrip("/")
        self.version = microversion.MIN
        try:
            newest = self.get("/")["versions"][0]["max_version"]
            self.version = min(microversion.MAX, int(newest.partition(".")[2]))
        except (TypeError, KeyError, IndexError, ValueError, AttributeError):
            raise BackendError(f"{self._url}: this is no Placement API") from None
        if self.version < OLDEST:
            raise BackendError(f"{self._url}: speaks microversions up to {newest}, but 1.{OLDEST} is needed")

    def get(self, path: str) -> Any:
        """Returns the document at a path, or None if it does not exist. Raises `BackendError`."""
        headers = {microversion.HEADER: f"{microversion.SERVICE} {microversion.text(self.version)}"}
        try:
            answer = self._adapter.get(self._url + path, headers=headers, raise_exc=False)
        except ksa_errors.ClientException as error:
            raise BackendError(f"GET {self._url}{path}: {describe(error)}") from None
        return _document(f"GET {self._url}{path}", answer.status_code, answer.content)


class LocalApi:
    """Our Placement, as a WSGI app that trusts its caller. It listens on no port."""

    version = microversion.MAX

    def __init__(self, app: Any) -> None:
        self._app = app

    def get(self, path: str) -> Any:
        """Returns the document at a path, or None if it does not exist. Raises `BackendError`."""
        return _document(f"GET {path} here", *self._call("GET", path, None, self.version))

    def send(self, method: str, path: str, body: Any = None, *, version: int = microversion.MAX) -> Any:
        """Writes, and returns the document or None. Raises `Refused`, or `BackendError` if the server failed."""
        status, data = self._call(method, path, body, version)
        if status >= 500:
            raise BackendError(f"{method} {path} here: HTTP {status}: {_reason(data)}")
        if status >= 300:
            raise Refused(_reason(data))
        return orjson.loads(data) if data else None

    def _call(self, method: str, path: str, body: Any, version: int) -> tuple[int, bytes]:
        data = b"" if body is None else orjson.dumps(body)
        path, _, query = path.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_LENGTH": str(len(data)),
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.input": io.BytesIO(data),
            "HTTP_ACCEPT": "application/json",
            "HTTP_X_AUTH_TOKEN": "admin",
            "HTTP_X_ROLES": "admin,service",
            "HTTP_OPENSTACK_API_VERSION": f"{microversion.SERVICE} {microversion.text(version)}",
        }
        if data:
            environ["CONTENT_TYPE"] = "application/json"
        setup_testing_defaults(environ)
        statuses: list[int] = []

        def start_response(status: str, headers: Any, exc_info: Any = None) -> None:
            statuses.append(int(status.split()[0]))

        chunks: Iterable[bytes] = self._app(environ, start_response)
        return statuses[-1], b"".join(chunks)


def _document(request: str, status: int, data: bytes) -> Any:
    if status == 404:
        return None
    if status != 200:
        raise BackendError(f"{request}: HTTP {status}: {_reason(data)}")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        raise BackendError(f"{request}: expected JSON") from None


def quoted(name: str) -> str:
    return quote(name, safe="")


def _reason(data: bytes) -> str:
    """Returns what an error document says, in one line."""
    try:
        document: Mapping[str, Any] = orjson.loads(data)
        text = str(document["errors"][0]["detail"])
    except (ValueError, KeyError, IndexError, TypeError):
        text = data[:300].decode(errors="replace")
    return " ".join(text.split())


FRESH = timedelta(hours=1)
"""What is older is read again, since the source goes on changing and the copy has to follow it."""


class Journal:
    """A source whose answers are kept in a file, so that a reading that failed goes on where it stopped. Safe to use
    from many threads.

    Each line is one answer. A file is for one reading: `restart` begins the next one, `remove` ends the last.
    """

    def __init__(self, api: ReadableApi, source: str, path: Path | None, clock: Clock, *, fresh: bool = False) -> None:
        """Opens the file at `path` or makes it. Answers in it count only if they came from this `source`. With `fresh`
        none count. Without a path nothing is kept. Raises `OSError` if the file cannot be written."""
        self.version = api.version
        self.kept = 0
        """How many answers the file had."""
        self.comparing = False
        """Whether this reading follows the writing, to compare."""
        self._api = api
        self._identity = {"source": source, "version": api.version}
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: dict[str, Any] = {}
        self._file: IO[bytes] | None = None
        if fresh or path is None or not self._load(path):
            self.restart()

    def get(self, path: str) -> Any:
        """Returns what the source answers, or has answered before. Raises `BackendError`."""
        if path in self._answers:
            return self._answers[path]
        document = self._api.get(path)
        with self._lock:
            if self._file is not None:
                self._file.write(orjson.dumps([path, document]) + b"\n")
                self._file.flush()
        return document

    def restart(self, *, comparing: bool = False) -> None:
        """Forgets everything. `comparing` says that what is read from now on is for comparison."""
        self.close()
        self.comparing = comparing
        self.kept = 0
        self._answers = {}
        if self._path is None:
            return
        self._file = _open(self._path, os.O_TRUNC)
        head = self._identity | {"started": self._clock.now().timestamp(), "comparing": comparing}
        self._file.write(orjson.dumps(head) + b"\n")
        self._file.flush()

    def remove(self) -> None:
        self.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _load(self, path: Path) -> bool:
        """Loads the file if it is of this source and fresh. The last line may be cut off."""
        try:
            head, *lines = path.read_bytes().splitlines(keepends=True)
            about = orjson.loads(head)
            age = self._clock.now().timestamp() - about["started"]
            if any(about[key] != value for key, value in self._identity.items()) or age > FRESH.total_seconds():
                return False
            complete_lines = [line for line in lines if line.endswith(b"\n")]
            self._answers = dict(orjson.loads(line) for line in complete_lines)
            self.comparing = bool(about["comparing"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            self._answers = {}
            return False
        os.truncate(path, len(head) + sum(map(len, complete_lines)))
        self.kept = len(self._answers)
        self._file = _open(path, os.O_APPEND)
        return True


def _open(path: Path, flag: int) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | flag
    return os.fdopen(os.open(path, flags, 0o600), "wb")  # only for the owner: it says who has what
