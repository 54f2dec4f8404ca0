"""Answers end: in bytes before and after decompression, in depth, and in time."""

import gzip
import itertools
import json
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from limes.backends import BackendError, BackendOutage
from limes.kernel.outgoing import AnswerLimits, GuardedSession, answers
from limes.kernel.outgoing.answers import read_body
from limes.kernel.outgoing.room import Contents
from tests.kernel.askers import Asker, whoever_asks
from tests.support.web_server import Answer, Request, WebServer, web_server

MIB = 1024 * 1024
SMALL = AnswerLimits(max_transferred=MIB, max_size=2 * MIB, max_depth=20, timeout=30)


@pytest.fixture
def server() -> Iterator[WebServer]:
    with web_server() as running:
        yield running


def bomb(mebibytes: int) -> bytes:
    """So much JSON, in a thousandth of the bytes."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    return b"".join(
        [packer.compress(b"[" + b" " * MIB), *(packer.compress(b" " * MIB) for _ in range(mebibytes - 1))]
    ) + (packer.compress(b"]") + packer.flush())


def test_bytes_on_the_wire(server: WebServer) -> None:
    server.answer = lambda _: Answer(200, b"x" * (MIB + 1))
    with pytest.raises(BackendError, match=r"more than 1048576 bytes \(answers.max_transferred\)"):
        GuardedSession(SMALL).get(server.url)


def test_bytes_on_the_wire_without_a_length(server: WebServer) -> None:
    sent: list[int] = []
    server.answer = lambda _: Answer(200, (sent.append(1) or b"x" * 65536 for _ in itertools.count()))
    with pytest.raises(BackendError, match="max_transferred"):
        GuardedSession(SMALL).get(server.url)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_bytes_after_decompression(encoding: str, server: WebServer) -> None:
    body = bomb(300) if encoding == "gzip" else zlib.compress(b" " * 300 * MIB, 9)
    assert len(body) < MIB
    server.answer = lambda _: Answer(200, body, {"Content-Encoding": encoding})
    tracemalloc.start()
    try:
        with pytest.raises(BackendError, match=r"more than 2097152 bytes after decompression \(answers.max_size\)"):
            GuardedSession(SMALL).get(server.url)
        assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "GZIP", ""])
def test_whole_answers_arrive(encoding: str, server: WebServer) -> None:
    document = json.dumps({"a": ["x" * 10] * 40_000}).encode()
    pack = {"": bytes, "deflate": zlib.compress}.get(encoding, gzip.compress)
    server.answer = lambda _: Answer(200, pack(document), {"Content-Encoding": encoding} if encoding else {})
    session = GuardedSession(SMALL)
    for _ in range(3):
        answer = session.get(server.url)
        assert answer.content == document
        assert answer.json() == json.loads(document)


def test_several_members(server: WebServer) -> None:
    server.answer = lambda _: Answer(200, gzip.compress(b"one ") + gzip.compress(b"two"), {"Content-Encoding": "gzip"})
    assert GuardedSession(SMALL).get(server.url).text == "one two"


@pytest.mark.parametrize(("encoding", "body"), [("gzip", b"no gzip"), ("br", b"x"), ("gzip, gzip", b"x")])
def test_what_cannot_be_decompressed(encoding: str, body: bytes, server: WebServer) -> None:
    server.answer = lambda _: Answer(200, body, {"Content-Encoding": encoding})
    with pytest.raises(BackendError, match="compress"):
        GuardedSession(SMALL).get(server.url)


def test_depth(server: WebServer) -> None:
    server.answer = lambda _: Answer(200, b'{"a":' * 21 + b"1" + b"}" * 21)
    with pytest.raises(BackendError, match=r"deeper than 20 levels \(answers.max_depth\)"):
        GuardedSession(SMALL).get(server.url)
    server.answer = lambda _: Answer(200, b'{"a":' * 20 + b"1" + b"}" * 20)
    assert GuardedSession(SMALL).get(server.url).json()


def read(body: bytes, step: int = 7) -> Contents:
    contents = Contents()
    for begin in range(0, len(body), step):
        contents.feed(body[begin : begin + step])
    return contents


@pytest.mark.parametrize("step", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("document", "depth"),
    [
        ({}, 1),
        ([[], [[]], {"a": [1, {"b": 2}]}], 4),
        ({"a[[[": ']]{{"[', "b": ["\\", "[[", '"', '\\"', "\\\\"]}, 2),
        ([[[1, 2], [3]], [[4]]], 3),
    ],
)
def test_how_deep_documents_are(document: object, depth: int, step: int) -> None:
    assert read(json.dumps(document).encode(), step).depth == depth


@pytest.mark.parametrize("garbage", [b'{"quota": {"a": oops', b"[[]", b"]]]", b'{"a": [1, 2'])
def test_what_is_no_json_is_left_to_the_parser(garbage: bytes) -> None:
    assert read(garbage).depth <= 3
    assert read(b"[" * 8 + garbage).depth >= 8


def test_blanks_and_other_encodings_hide_nothing(server: WebServer) -> None:
    deep = b"[" * 30 + b"]" * 30
    server.answer = lambda _: Answer(200, b" " * 100_000 + deep)
    with pytest.raises(BackendOutage, match="max_depth"):
        GuardedSession(SMALL).get(server.url)
    server.answer = lambda _: Answer(200, deep.decode().encode("utf-16"), {"Content-Type": "a/json; charset=utf-16"})
    with pytest.raises(requests.exceptions.JSONDecodeError):
        GuardedSession(SMALL).get(server.url).json()


def trickle(head: bytes) -> Iterator[bytes]:
    """Never silent for long, and never done."""
    yield head
    for _ in range(600):
        time.sleep(0.05)
        yield b" "


@pytest.mark.parametrize("timeout", [100, (40, 60)])
def test_time(timeout: object, server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is over while the body arrives."""

    def read_late(*arguments: Any) -> Any:
        clock = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: clock() + 100)
        return read_body(*arguments)

    monkeypatch.setattr(answers, "read_body", read_late)
    server.answer = lambda _: Answer(200, trickle(b"{"))
    with pytest.raises(BackendOutage, match=r"not complete after 100 s"):
        GuardedSession(SMALL).get(server.url, timeout=timeout)


def test_time_of_the_head(server: WebServer) -> None:
    class Slow(dict):
        def items(self) -> Iterator[tuple[str, str]]:  # type: ignore[override]  # headers of another kind
            for number in range(80):
                time.sleep(0.1)
                yield f"X-{number}", "x" * 2000

    server.answer = lambda _: Answer(200, b"{}", Slow())
    with pytest.raises(requests.Timeout):
        GuardedSession(SMALL).get(server.url, timeout=0.5)


def test_a_cut_answer_is_told_as_ever(server: WebServer) -> None:
    server.answer = lambda _: Answer(200, iter([b"{"]), {"Content-Length": "10"})
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        GuardedSession(SMALL).get(server.url)


def big(request: Request) -> Answer:
    status = 201 if request.method == "POST" else 200
    return Answer(status, bomb(4), {"Content-Encoding": "gzip", "X-Subject-Token": "t"})


@whoever_asks
def test_whoever_asks(asker: Asker, server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    asker.serve(server, big)
    told = asker.fail(server, caplog, SMALL)
    assert "answers.max_size" in told or {one.method for one in server.requests} == {"HEAD"}, "which have no body"
