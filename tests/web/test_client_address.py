"""Trusted proxies say who the client is; nobody else does."""

import logging

import falcon
import falcon.testing
import pytest

from limes.api.call import initiator_of
from limes.auth.context import Identity
from limes.web.middleware import AccessLogMiddleware, ClientAddress, Header
from limes.web.settings import ProxySettings
from tests.support.clock import FrozenClock

TRUSTED = ("10.0.0.0/24", "2001:db8:ffff::/48")


def client(peer: str, value: str, header: Header = "X-Forwarded-For", trusted: tuple[str, ...] = TRUSTED) -> str:
    variable = f"HTTP_{header.upper().replace('-', '_')}"
    return ClientAddress(trusted, header).of({"REMOTE_ADDR": peer, variable: value})


@pytest.mark.parametrize(
    ("peer", "header", "expected"),
    [
        ("10.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("10.0.0.1", "6.6.6.6, 192.0.2.7", "192.0.2.7"),  # what the client has claimed comes first
        ("10.0.0.1", "6.6.6.6, 192.0.2.7, 10.0.0.2", "192.0.2.7"),
        ("10.0.0.1", "6.6.6.6,10.0.0.3 , 10.0.0.2", "6.6.6.6"),  # all of ours: then it is the client's first proxy
        ("10.0.0.1", "10.0.0.9", "10.0.0.9"),
        ("10.0.0.1", "192.0.2.7:4711", "192.0.2.7"),
        ("10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"),
        ("10.0.0.1", "2001:db8::7", "2001:db8::7"),
        ("10.0.0.1", "::ffff:192.0.2.7", "192.0.2.7"),
        ("::ffff:10.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("2001:db8:ffff::1", "192.0.2.7", "192.0.2.7"),
        ("192.0.2.1", "6.6.6.6", "192.0.2.1"),  # no proxy of ours
        ("10.0.1.1", "6.6.6.6", "10.0.1.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "6.6.6.6, nonsense", "10.0.0.1"),
        ("10.0.0.1", "[::1", "::1"),
        ("10.0.0.1", ",".join(["6.6.6.6"] + ["10.0.0.2"] * 1000), "10.0.0.2"),
        ("", "6.6.6.6", ""),
    ],
)
def test_x_forwarded_for(peer: str, header: str, expected: str) -> None:
    assert client(peer, header) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("for=192.0.2.7", "192.0.2.7"),
        ('for="[2001:db8::7]:4711";proto=https;by=10.0.0.1', "2001:db8::7"),
        ("For=6.6.6.6, FOR=192.0.2.7;proto=http", "192.0.2.7"),
        ("for=6.6.6.6, proto=http;for=192.0.2.7, for=10.0.0.2", "192.0.2.7"),
        ('for="_hidden,for=6.6.6.6"', "10.0.0.1"),
        ("for=unknown", "10.0.0.1"),
        ("for=6.6.6.6, by=1.1.1.1", "10.0.0.1"),
        ('for="6.6.6.6', "10.0.0.1"),
        ("", "10.0.0.1"),
    ],
)
def test_forwarded(header: str, expected: str) -> None:
    assert client("10.0.0.1", header, "Forwarded") == expected


def test_nobody_is_trusted_by_default() -> None:
    assert client("127.0.0.1", "6.6.6.6", trusted=ProxySettings().trusted) == "127.0.0.1"


def test_only_the_chosen_header_counts() -> None:
    """A proxy adds to one, and passes the other on as the client has made it up."""
    environ = {"REMOTE_ADDR": "10.0.0.1", "HTTP_FORWARDED": "for=6.6.6.6", "HTTP_X_FORWARDED_FOR": "192.0.2.7"}
    assert ClientAddress(TRUSTED).of(environ) == "192.0.2.7"


@pytest.mark.parametrize("wrong", ["10.0.0.0/33", "proxy.example.com", ""])
def test_settings(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"expected an address or a network, such as 10.1.2.3 or 10.1.0.0/16"):
        ProxySettings(trusted=(wrong,))


def test_access_log_and_audit_say_the_same(caplog: pytest.LogCaptureFixture) -> None:
    seen = []

    class Endpoint:
        def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
            identity = Identity(user_id="u", user_name="ada", user_domain_id="d", user_domain_name="d", roles=())
            seen.append(initiator_of(req, identity).address)

    app = falcon.App(middleware=[ClientAddress(["127.0.0.1"]), AccessLogMiddleware("test", FrozenClock())])
    app.add_route("/x", Endpoint())
    with caplog.at_level(logging.INFO, "limes.access"):
        falcon.testing.TestClient(app).simulate_get(
            "/x", headers={"X-Forwarded-For": "6.6.6.6, 192.0.2.7"}, remote_addr="127.0.0.1"
        )
    assert seen == ["192.0.2.7"]
    assert caplog.records[0].getMessage().startswith('192.0.2.7 "GET /x" 200')
