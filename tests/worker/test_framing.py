"""Where a request ends: held against gunicorn's own parser, for requests that arrive in any pieces."""

import itertools
from collections.abc import Iterator

import pytest
from gunicorn.config import Config
from gunicorn.http.parser import RequestParser
from hypothesis import given
from hypothesis import strategies as st

from limes.web.worker.framing import Framing, HeadTooLarge, Stage

MAX = 1000


def parsed(data: bytes) -> int:
    """How many bytes gunicorn's parser takes for the first request, asked for them one by one."""
    taken = 0

    def single() -> Iterator[bytes]:
        nonlocal taken
        for byte in data:
            taken += 1
            yield bytes([byte])

    parser = RequestParser(Config(), single(), ("127.0.0.1", 1))
    next(parser).body.read()
    return taken


NAMES = st.sampled_from(["X", "Host", "Accept", "X-Content-Length", "Expect-Not", "Via-Transfer-Encoding"])
VALUES = st.sampled_from(["", "x", "5", "chunked", "HTTP/1.0", "content-length: 3"])
CHUNKS = st.lists(st.binary(min_size=1, max_size=300), max_size=4)


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    fields = [
        f"{name}: {value}"
        for name, value in draw(st.lists(st.tuples(NAMES, VALUES), max_size=3, unique_by=lambda f: f[0]))
    ]
    kind = draw(st.sampled_from(["none", "length", "chunked"]))
    body = b""
    if kind == "length":
        body = draw(st.binary(max_size=MAX))
        fields.append(
            draw(st.sampled_from(["Content-Length: {}", "content-LENGTH:{}", "Content-Length:\t{} "])).format(len(body))
        )
    elif kind == "chunked":
        fields.append(
            draw(
                st.sampled_from(
                    ["Transfer-Encoding: chunked", "transfer-encoding:Chunked", "TRANSFER-ENCODING: gzip, chunked"]
                )
            )
        )
        ends = st.sampled_from([b"", b";a=b", b" ;c"])
        body = b"".join(b"%x%s\r\n%s\r\n" % (len(chunk), draw(ends), chunk) for chunk in draw(CHUNKS))
        body += draw(st.sampled_from([b"0\r\n\r\n", b"000\r\n\r\n", b"0;x=y\r\nX: y\r\nZ: 1\r\n\r\n"]))
    position = draw(st.integers(0, len(fields)))
    fields = fields[position:] + fields[:position]
    start = draw(st.sampled_from(["", "\r\n"])) + draw(st.sampled_from(["GET / HTTP/1.1", "PUT /a?b HTTP/1.1"]))
    return "\r\n".join([start, *fields, "", ""]).encode() + body


def feed(framing: Framing, data: bytes, cuts: list[int]) -> int:
    """How many bytes the framing takes of what comes in pieces."""
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    taken = 0
    for start, end in itertools.pairwise(edges):
        taken += framing.feed(data[start:end])
        if framing.stage not in (Stage.HEAD, Stage.BODY):
            break
    return taken


@given(requests(), st.binary(max_size=50), st.lists(st.integers(0, 10_000), max_size=8))
def test_it_ends_where_gunicorn_ends(request_: bytes, behind: bytes, cuts: list[int]) -> None:
    framing = Framing(MAX)
    taken = feed(framing, request_ + behind, cuts)
    assert (framing.stage, taken) == (Stage.WHOLE, len(request_))
    assert parsed(request_ + behind) == len(request_)


@given(requests(), st.data())
def test_it_is_not_whole_before(request_: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(request_) - 1))
    framing = Framing(MAX)
    assert feed(framing, request_[:cut], data.draw(st.lists(st.integers(0, 10_000), max_size=8))) == cut
    assert framing.stage in (Stage.HEAD, Stage.BODY)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\nHost: x\n\n",
        b"GET / HTTP/1.1\r\nHost: x\n",
        b"\r\n\r\n",
        9000 * b"x",
        b"PUT / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        b"PUT / HTTP/1.1\r\nContent-Length: five\r\n\r\n",
        b"PUT / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"PUT / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\n",
        b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\n",
        b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + 9000 * b"0",
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100_000])
def test_what_is_odd_is_not_waited_for(data: bytes, size: int) -> None:
    framing = Framing(1000 * MAX)
    for start in range(0, len(data), size):
        framing.feed(data[start : start + size])
    assert framing.stage is Stage.ODD


@pytest.mark.parametrize(
    "data",
    [
        b"PUT / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n",
        b"PUT / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n12345",
        b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n",
        b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"1;"
        + 1000 * b"a"
        + 5 * (b"\r\nx\r\n1;" + 2000 * b"a"),
    ],
)
def test_what_is_too_long_is_not_waited_for(data: bytes) -> None:
    framing = Framing(MAX)
    assert framing.feed(data) == len(data)
    assert framing.stage is Stage.TOO_LONG


def test_a_head_without_an_end() -> None:
    framing = Framing(MAX)
    framing.feed(b"GET / HTTP/1.1\r\n")
    for number in range(500):
        framing.feed(b"X-%d: %s\r\n" % (number, 100 * b"x"))
    with pytest.raises(HeadTooLarge):
        framing.feed(20_000 * b"x")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"PUT / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n", True),
        (b"PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", False),
        (b"PUT / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", False),
    ],
)
def test_who_waits_to_be_told_to_continue(data: bytes, expected: bool) -> None:
    framing = Framing(MAX)
    framing.feed(data)
    assert (framing.stage, framing.expects_continue) == (Stage.BODY, expected)
