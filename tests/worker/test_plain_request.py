"""The short way of plain requests, held against gunicorn's parser, its WSGI environment and its answers."""

import re
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http import errors, get_parser, wsgi
from hypothesis import given, settings
from hypothesis import strategies as st

from limes.web.worker.plain_request import PlainAnswer, PlainRequest, Reader

CONFIG = Config()
NOT_COMPARED = ("wsgi.input", "wsgi.errors", "wsgi.early_hints", "wsgi.multithread", "gunicorn.socket")
USUAL = b"GET /v1/a%20b?c=%20&d HTTP/1.1\r\nHost: x:80\r\nX-Auth-Token: t\r\nAccept:\t*/*, a \r\n"
BODY = b"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class Socket:
    """A request that has arrived, and the answer to it."""

    def __init__(self, data: bytes) -> None:
        self.whole_request = self._left = data
        self.sent: list[bytes] = []

    def recv(self, size: int) -> bytes:
        """For gunicorn's parser."""
        data, self._left = self._left[:size], self._left[size:]
        return data

    def sendall(self, data: bytes) -> None:
        self.sent.append(bytes(data))


def connection(data: bytes, client: Any = ("127.0.0.1", 4711)) -> SimpleNamespace:
    sock = Socket(data)
    parser = get_parser(CONFIG, sock, client)
    return SimpleNamespace(cfg=CONFIG, sock=sock, client=client, server=("127.0.0.1", 8080), parser=parser)


def read(data: bytes, **kwargs: Any) -> Any:
    return next(Reader(connection(data, **kwargs)))


def contents(environ: dict[str, Any]) -> dict[str, Any]:
    compared = {name: value for name, value in environ.items() if name not in NOT_COMPARED}
    return {**compared, "body": environ["wsgi.input"].read()}


METHODS = st.sampled_from(["GET", "PUT", "HEAD", "CONNECT", "OPTIONS", "get", "G", "PATCH-X"])
TARGETS = st.one_of(
    st.sampled_from(["/", "//a", "*", "/a#b", "http://x/a", "/%zz%41?%41", "/a?b?c", "/[", "/\x7f", "/\xe4", "a:1"]),
    st.text('/aZ09-._~%?=&;#[]@!"', max_size=12).map("/".__add__),
)
NAMES = st.sampled_from(
    ["Host", "X-Auth-Token", "x-auth-token", "Content-Type", "Content-Length", "Transfer-Encoding", "Connection",
     "Expect", "Upgrade", "X_Under", "X-Forwarded-Proto", "X-Forwarded-Ssl", "Bad:Name", ":", "A.b", "Server-Name"]
)  # fmt: skip
VALUES = st.one_of(
    st.sampled_from(["", "0", "2", "02", "close", "Keep-Alive", "chunked", "https", "on", "100-continue", "h2c"]),
    st.text('a, \t\x00\x7f\xe4=;"', max_size=6),
)
ENDS = st.sampled_from(["\r\n", "\r\n", "\r\n", "\n", "\r\n "])


@st.composite
def heads(draw: st.DrawFn) -> bytes:
    version = draw(st.sampled_from(["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "http/1.1"]))
    head = f"{draw(METHODS)} {draw(TARGETS)} {version}\r\n"
    for name, value in draw(st.lists(st.tuples(NAMES, VALUES), max_size=4)):
        head += f"{name}:{draw(st.sampled_from(['', ' ']))}{value}{draw(ENDS)}"
    return f"{head}\r\n".encode("latin-1")


@settings(max_examples=1000, deadline=None)
@given(heads(), st.sampled_from([b"", b"{}"]), st.sampled_from(["127.0.0.1", "192.0.2.1"]))
def test_what_is_plain_means_what_it_means_to_gunicorn(head: bytes, body: bytes, peer: str) -> None:
    conn = connection(head + body, (peer, 4711))
    found = Reader(conn)._read()
    if found is None:
        return
    theirs = next(get_parser(CONFIG, Socket(head + body), conn.client))  # refuses nothing of it
    _, environ = wsgi.create(theirs, conn.sock, conn.client, conn.server, CONFIG)
    assert contents(found.environ) == contents(environ)
    assert (found.method, found.version, found.must_close) == (theirs.method, theirs.version, theirs.should_close())


@pytest.mark.parametrize("data", [
    USUAL + b"\r\n",
    USUAL + b"Connection: keep-alive\r\n\r\n",
    USUAL + b"X-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n",
    USUAL + b"Content-Length: 0\r\n\r\n",
    BODY,
])  # fmt: skip
def test_usual_requests_are_plain(data: bytes) -> None:
    assert isinstance(read(data), PlainRequest)


@pytest.mark.parametrize("data", [
    USUAL + b"accept: b\r\n\r\n",
    USUAL + b"Expect: 100-continue\r\n\r\n",
    USUAL + b"X_Real: b\r\n\r\n",
    USUAL.replace(b"1.1", b"1.0") + b"\r\n",
    USUAL + b"X: " + 8000 * b"x" + b"\r\n\r\n",
    USUAL + b"".join(b"X-%d: x\r\n" % number for number in range(60)) + b"\r\n",
    b"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
])  # fmt: skip
def test_others_are_read_by_gunicorn(data: bytes) -> None:
    reader = Reader(connection(data))
    assert not isinstance(next(reader), PlainRequest)
    assert reader.finish_body(deadline=float("inf"))


def test_whom_to_believe_about_the_scheme() -> None:
    data = USUAL + b"X-Forwarded-Proto: https\r\n\r\n"
    assert read(data).environ["wsgi.url_scheme"] == "https"
    assert read(data, client=("192.0.2.1", 4711)).environ["wsgi.url_scheme"] == "http"
    with pytest.raises(errors.InvalidSchemeHeaders):
        read(data[:-2] + b"X-Forwarded-Ssl: off\r\n\r\n")


def answer(data: bytes, status: str, headers: list[tuple[str, str]], body: Iterable[bytes]) -> list[bytes]:
    """What a plain request gets, piece by piece."""
    conn = connection(data)
    plain = PlainAnswer(next(Reader(conn)), conn.sock, CONFIG)
    plain.start(status, headers)
    plain.send(body)
    sent: list[bytes] = conn.sock.sent
    return sent


def gunicorns_answer(data: bytes, status: str, headers: list[tuple[str, str]], body: Iterable[bytes]) -> bytes:
    sock = Socket(data)
    theirs = wsgi.Response(next(get_parser(CONFIG, sock, ("127.0.0.1", 4711))), sock, CONFIG)
    theirs.start_response(status, headers)
    for part in body:
        theirs.write(part)
    theirs.close()
    return b"".join(sock.sent)


def without_date(sent: bytes) -> bytes:
    return re.sub(rb"Date: [^\r]+ GMT\r\n", b"", sent)


LENGTH = [("content-length", "3"), ("content-type", "text/plain; a=\xe4")]


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize(
    ("method", "status", "headers", "body"),
    [
        ("GET", "200 OK", LENGTH, [b"ab", b"c"]),
        ("GET", "200 OK", [], [b"no", b"length"]),
        ("GET", "200 OK", [("Keep-Alive", "9"), *LENGTH], [b"abc"]),
        ("HEAD", "200 OK", LENGTH, []),
        ("GET", "304 Not Modified", [("etag", '"x"')], []),
        ("PUT", "204 No Content", [], []),
        ("GET", "500 Internal Server Error", LENGTH, [b"abc"]),
    ],
)
def test_answers_are_as_gunicorns(
    method: str, status: str, headers: list[tuple[str, str]], body: list[bytes], closes: bool
) -> None:
    data = USUAL.replace(b"GET", method.encode()) + (b"Connection: close\r\n\r\n" if closes else b"\r\n")
    ours = without_date(b"".join(answer(data, status, headers, body)))
    assert ours == without_date(gunicorns_answer(data, status, headers, body))


def test_an_answer_is_one_piece_unless_it_is_large() -> None:
    assert len(answer(USUAL + b"\r\n", "200 OK", LENGTH, [b"a", b"bc"])) == 1
    large = 100_000 * b"x"
    _, sent = answer(USUAL + b"\r\n", "200 OK", [("content-length", "100000")], [large])
    assert sent == large, "it is not copied"


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\nb", "a\x00"])
def test_no_header_makes_another_one(value: str) -> None:
    with pytest.raises(errors.InvalidResponseHeader) as refusal:
        answer(USUAL + b"\r\n", "200 OK", [*LENGTH, ("x", value)], [b"abc"])
    assert value not in str(refusal.value), "it may be a secret"


def failing(first: list[bytes]) -> Iterator[bytes]:
    yield from first
    raise ValueError("no more")


def test_an_answer_that_fails_while_it_is_made(caplog: pytest.LogCaptureFixture) -> None:
    conn = connection(USUAL + b"\r\n")
    plain = PlainAnswer(next(Reader(conn)), conn.sock, CONFIG)
    plain.start("200 OK", [])
    with pytest.raises(ValueError, match="no more"):
        plain.send(failing([]))
    assert conn.sock.sent == [], "so that another answer can be given"
    with pytest.raises(StopIteration):
        plain.send(failing([b"a"]))
    assert conn.sock.sent[-1] == b"1\r\na\r\n", "the end of the answer is missing"
    assert "no more" in caplog.text
