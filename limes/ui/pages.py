"""The built page and its parts, held in memory, compressed when first asked for; and the table of all below `/ui`."""

import gzip
import hashlib
import html
from functools import cached_property
from pathlib import Path
from urllib.parse import parse_qs

import falcon
from msgspec import Struct

from limes.auth.keystone import token_in
from limes.kernel.errors import BadRequest, Forbidden, LimesError, StartupError
from limes.ui import browser, sign_in
from limes.ui.session import ProviderEndpoint, ScopesEndpoint, SessionEndpoint
from limes.ui.single_sign_on import ANSWERS, SingleSignOn
from limes.web import encoding, errors, operational
from limes.web.packed import accepts_gzip

STATIC = Path(__file__).parent / "static"

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}


class File(Struct, frozen=True, dict=True):
    plain: bytes
    content_type: str
    hash: str
    """Of the content, for entity tags."""

    @classmethod
    def read(cls, path: Path) -> "File":
        plain = path.read_bytes()
        digest = hashlib.sha256(plain).hexdigest()[:32]
        return cls(plain, _TYPES[path.suffix], digest)

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.plain, mtime=0)

    def answer(self, req: falcon.Request, resp: falcon.Response, cache_control: str) -> None:
        """Sends it compressed to clients that accept this, and not at all to clients that have it."""
        is_packed = accepts_gzip(req.get_header("Accept-Encoding"))
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
        self.file = File.read(path)

    def on_get(self, req: falcon.Request, resp: falcon.Response, page: str = "") -> None:
        if page.startswith("assets/"):
            raise falcon.HTTPNotFound()
        self.file.answer(req, resp, "no-cache")  # browsers keep it, but ask each time whether there is a new one

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


class ArrivalEndpoint:
    """The page where people come back to from a provider. What Keystone has posted is in it, for the script of the page
    to hand on: a request of our own origin has the cookie of the sign-in, and no other has."""

    def __init__(self, page: PageEndpoint, single_sign_on: SingleSignOn) -> None:
        self._single_sign_on = single_sign_on
        self._file = page.file
        self._head, self._tail = page.file.plain.split(b"</head>")

    def on_get(self, req: falcon.Request, resp: falcon.Response, page: str) -> None:
        """The address has a code in it, so neither caches nor other requests get it."""
        resp.set_header("referrer-policy", "no-referrer")
        self._file.answer(req, resp, "no-store")

    on_head = on_get

    def on_post(self, req: falcon.Request, resp: falcon.Response, page: str) -> None:
        try:
            found = {"provider": page, "token": self._token(req, page)}
        except LimesError as error:
            found = {"provider": page, "problem": str(error)}
            resp.status = errors.PlainErrors.statuses[type(error)]
        content = html.escape(encoding.dump(found).decode())
        resp.content_type = falcon.MEDIA_HTML
        resp.data = b'%s<meta name="limes-sign-in" content="%s" /></head>%s' % (
            self._head,
            content.encode(),
            self._tail,
        )

    def _token(self, req: falcon.Request, name: str) -> str:
        expected, origin = self._single_sign_on.find(name).posts_from(), req.get_header("Origin")
        if origin is None or origin != expected:
            raise Forbidden(
                f"Limes: a page of {errors.shortened(origin or 'an unknown origin')} has posted this, and not Keystone"
                f"{f' ({expected})' if expected else ''}; sign in here"
            )
        form = parse_qs(req.bounded_stream.read(sign_in.MAX_BODY).decode("latin-1"))
        token = token_in({"token": form.get("token", [""])[0]}, "token")
        if token is None:
            raise BadRequest("Keystone: there is no token in its answer; sign in again")
        return token


def dashboard(session: SessionEndpoint, scopes: ScopesEndpoint) -> operational.Mount:
    """Returns the table of its routes. Raises `StartupError` if the page is not built."""
    page, single_sign_on = PageEndpoint(), session.single_sign_on
    return operational.Mount(
        "/ui",
        (
            ("/ui", page),
            ("/ui/session", session),
            ("/ui/session/scopes", scopes),
            ("/ui/session/with/{name}", ProviderEndpoint(single_sign_on)),
            (f"{ANSWERS}/{{page}}", ArrivalEndpoint(page, single_sign_on)),
            ("/ui/assets/{name}", AssetEndpoint()),
            ("/ui/{page:path}", page),
        ),
        {**browser.SECURITY_HEADERS, "cache-control": "no-store"},  # what may be kept says so itself
    )
