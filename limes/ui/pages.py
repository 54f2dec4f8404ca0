"""The built page and its parts, held in memory and compressed once; and the table of everything below `/ui`."""

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

import falcon

from limes.kernel.errors import StartupError
from limes.ui.browser import SECURITY_HEADERS
from limes.ui.session import ScopesEndpoint, SessionEndpoint
from limes.web import encoding, operational

STATIC = Path(__file__).parent / "static"

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}


@dataclass(frozen=True, slots=True)
class File:
    plain: bytes
    packed: bytes
    content_type: str
    hash: str
    """Of the content, for entity tags."""

    @classmethod
    def read(cls, path: Path) -> "File":
        plain = path.read_bytes()
        digest = hashlib.sha256(plain).hexdigest()[:32]
        return cls(plain, gzip.compress(plain, mtime=0), _TYPES[path.suffix], digest)

    def answer(self, req: falcon.Request, resp: falcon.Response, cache_control: str) -> None:
        """Sends it compressed to clients that accept this, and not at all to clients that have it."""
        is_packed = encoding.accepts_gzip(req.get_header("Accept-Encoding"))
        etag = f'"{self.hash}-gzip"' if is_packed else f'"{self.hash}"'  # one for each sequence of bytes
        resp.set_headers({"cache-control": cache_control, "etag": etag})
        resp.append_header("vary", "Accept-Encoding")
        if etag in (req.get_header("If-None-Match") or "").replace("W/", "").split(", "):
            resp.status = falcon.HTTP_304
            return
        resp.content_type = self.content_type
        if is_packed:
            resp.set_header("content-encoding", "gzip")
        resp.data = self.packed if is_packed else self.plain


class PageEndpoint:
    """The page, the same at all of its addresses: what they mean is for the page to know."""

    def __init__(self, folder: Path = STATIC) -> None:
        """Raises `StartupError` if the page is not built."""
        path = folder / "index.html"
        if not path.is_file():
            raise StartupError(f"ui.enabled: the dashboard is not built: {path} is missing (make ui)")
        self._file = File.read(path)

    def on_get(self, req: falcon.Request, resp: falcon.Response, page: str = "") -> None:
        if page.startswith("assets/"):
            raise falcon.HTTPNotFound()
        self._file.answer(req, resp, "no-cache")  # browsers keep it, but ask each time whether there is a new one

    on_head = on_get


class AssetEndpoint:
    """Scripts and styles. Their names change with their content, so browsers never ask for one again."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._files = {path.name: File.read(path) for path in (folder / "assets").iterdir()}

    def on_get(self, req: falcon.Request, resp: falcon.Response, name: str) -> None:
        file = self._files.get(name)
        if file is None:
            raise falcon.HTTPNotFound()
        file.answer(req, resp, "public, max-age=31536000, immutable")

    on_head = on_get


def dashboard(session: SessionEndpoint, scopes: ScopesEndpoint) -> operational.Mount:
    """Returns the table of its routes. Raises `StartupError` if the page is not built."""
    page = PageEndpoint()
    return operational.Mount(
        "/ui",
        (
            ("/ui", page),
            ("/ui/session", session),
            ("/ui/session/scopes", scopes),
            ("/ui/assets/{name}", AssetEndpoint()),
            ("/ui/{page:path}", page),
        ),
        {**SECURITY_HEADERS, "cache-control": "no-store"},  # what may be kept says so itself
    )
