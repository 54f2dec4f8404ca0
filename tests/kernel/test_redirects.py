"""No redirect takes our credentials to another origin, whoever asks and however."""

from collections.abc import Iterator

import pytest
from keystoneauth1.token_endpoint import Token

from limes.backends import BackendContext, BackendError
from limes.kernel.outgoing import GuardedSession, keystone_session
from tests.kernel.askers import SECRET, Asker, whoever_asks
from tests.support.web_server import Answer, Request, WebServer, redirect, web_server

STATUSES = (301, 302, 303, 305, 307, 308)


@pytest.fixture
def other() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.fixture
def asked() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
def test_nothing_goes_to_another_origin(method: str, status: int, asked: WebServer, other: WebServer) -> None:
    asked.answer = redirect(status, other.url)
    session = keystone_session(Token(asked.url, SECRET))
    with pytest.raises(BackendError) as caught:
        session.request(f"{asked.url}/v1/x?q={SECRET}", method, json={"quota": 1})
    assert asked.saw(SECRET)
    assert other.requests == []
    text = str(caught.value)
    assert f"{method} {asked.url}/v1/x: answered with {status}, which leads to {other.url}/v1/x." in text
    assert "another origin" in text
    assert "correct its endpoint" in text
    assert SECRET not in text


@pytest.mark.parametrize("where", ["https://127.0.0.1:{port}/x", "http://localhost:{port}/x", "//localhost:{port}/x"])
def test_scheme_host_and_port_make_an_origin(where: str, asked: WebServer) -> None:
    target = where.format(port=asked.url.rpartition(":")[2])
    asked.answer = lambda _: Answer(302, b"", {"Location": target})
    with pytest.raises(BackendError, match="another origin"):
        GuardedSession().get(f"{asked.url}/y", headers={"X-Auth-Token": SECRET})
    assert len(asked.requests) == 1


@pytest.mark.parametrize("location", ["/new", "new", "{url}/new"])
def test_reads_follow_within_their_origin(location: str, asked: WebServer) -> None:
    def answer(request: Request) -> Answer:
        if request.path == "/new":
            return Answer(200, b'{"here": true}')
        return Answer(301, b"", {"Location": location.format(url=asked.url)})

    asked.answer = answer
    found = keystone_session(Token(asked.url, SECRET)).get(f"{asked.url}/old")
    assert found.json() == {"here": True}
    assert [one.headers["X-Auth-Token"] for one in asked.requests] == [SECRET, SECRET]


@pytest.mark.parametrize("status", STATUSES)
def test_writes_do_not_follow_even_there(status: int, asked: WebServer) -> None:
    asked.answer = lambda _: Answer(status, b"", {"Location": "/new"})
    with pytest.raises(BackendError, match="only reads are"):
        GuardedSession().put(f"{asked.url}/old", data=b"1")
    assert [one.path for one in asked.requests] == ["/old"]


def test_circles_end(asked: WebServer) -> None:
    asked.answer = lambda _: Answer(302, b"", {"Location": "/again"})
    with pytest.raises(BackendError, match="more than 5 redirects"):
        GuardedSession().get(asked.url)
    assert len(asked.requests) == 6


@pytest.mark.parametrize("location", ["http://[::1", "http://a:b/"])
def test_what_is_no_url(location: str, asked: WebServer) -> None:
    asked.answer = lambda _: Answer(302, b"", {"Location": location})
    with pytest.raises(BackendError, match="no URL"):
        GuardedSession().get(asked.url)


@whoever_asks
@pytest.mark.parametrize("status", STATUSES)
def test_whoever_asks(
    asker: Asker, status: int, asked: WebServer, other: WebServer, caplog: pytest.LogCaptureFixture
) -> None:
    asker.serve(asked, redirect(status, other.url))
    assert f"leads to {other.url}" in asker.fail(asked, caplog)
    assert other.requests == []


def test_sessions_that_plugins_make_themselves() -> None:
    context = BackendContext("x", [])
    assert isinstance(context.plain_session(), GuardedSession)
    assert isinstance(context.own_session(Token(None, SECRET)).session, GuardedSession)
