"""What secrets look like, and what only looks a bit like one."""

import logging
import time
from typing import Literal

import pytest
from gunicorn.config import Config
from pydantic import BaseModel, Field, SecretStr

from limes.kernel import logs, redaction
from limes.kernel.errors import BackendError, ConfigError, NotFound
from limes.kernel.redaction import redact, secrets_of

FERNET = "gAAAAABn8Zk3" + "aB3-_xY9" * 20 + "=="


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cannot reach http://admin:p@ss@nova:8774/v2.1", "cannot reach http://admin:***@nova:8774/v2.1"),
        ("at amqps://limes:pw@mq/x and https://u:v@w", "at amqps://limes:***@mq/x and https://u:***@w"),
        ("https://0123456789abcdef0123@host/", "https://***@host/"),
        ("X-Auth-Token: abc, X-Other: 1", "X-Auth-Token: ***, X-Other: 1"),
        ("{'X-Subject-Token': 'abc', 'a': 1}", "{'X-Subject-Token': '***', 'a': 1}"),
        ("{b'X-Service-Token': b'abc'}", "{b'X-Service-Token': b'***'}"),
        ('curl -H "X-Storage-Token: abc" x', 'curl -H "X-Storage-Token: ***" x'),
        ("Authorization: Basic YWxhZGRpbjp4", "Authorization: ***"),
        ("proxy-authorization=Bearer abc", "proxy-authorization=***"),
        ("Cookie: limes-session=ours|a|b", "Cookie: ***"),
        ("sent bearer abc12345.xyz to it", "sent bearer *** to it"),
        (f"the token {FERNET} is unknown", "the token *** is unknown"),
        ("eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl!", "***!"),
        ('{"password": "a b\\"c", "user": "x"}', '{"password": "***", "user": "x"}'),
        ('{\\"adminPass\\": 1, \\"password\\": \\"abc\\"}', '{\\"adminPass\\": 1, \\"password\\": \\"***\\"}'),
        ("GET /x?token=abc&y=1", "GET /x?token=***&y=1"),
        ("db_password='a b' is wrong", "db_password='***' is wrong"),
        ("/v1/commitments/" + "0123456789ab" * 4, "/v1/commitments/***"),
    ],
)
def test_secrets_by_their_form(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a token is needed: header X-Auth-Token",
        "identity.keystone.password: missing",
        "username needs a password; environment: LIMES_IDENTITY_PASSWORD",
        "expected Bearer authentication",
        "postgresql://limes@db.example.com:5432/limes",
        "see https://docs.example.com/x?y=a@b.c",
        "project 1a000000000000000000000000000001 of 8f1c26b2a9b94b4b8b9f4d1f2c3d4e01",
        "sha256 " + "0123456789abcdef" * 4,
        "transfer_token: expected a string",
        "the key 'limits' is given twice",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    ["token" + "a_b-" * 25_000, "x-" * 50_000 + "token", '"token": "' * 10_000, "://a:" * 20_000, "eyJ" * 30_000],
)
def test_long_texts_take_no_longer_than_they_are_long(text: str) -> None:
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 10, "it is some 0.1 s; what grows by the square takes minutes"


def test_what_the_configuration_tells() -> None:
    redaction.know(["hunter22", "abc", "placement"])
    assert redact("hunter22 for abc in placement") == "*** for abc in placement"


class Inner(BaseModel):
    password: str = Field(repr=False)
    url: str = "https://me:of-url@host"


class Outer(BaseModel):
    inner: tuple[Inner, ...]
    key: SecretStr
    params: dict[str, object]


def test_secrets_of_models() -> None:
    params = {"auth": {"token": "of-params"}, "x": ["http://u:of%20list@h"], "name": "harmless"}
    model = Outer(inner=(Inner(password="of-field"),), key=SecretStr("of-secret"), params=params)
    assert set(secrets_of(model)) == {"of-field", "of-url", "of-secret", "of-params", "of%20list", "of list"}


def test_all_of_our_errors() -> None:
    text = "GET http://u:hunter22@h/"
    for error in (BackendError(text), NotFound(text), ConfigError([text])):
        assert "hunter22" not in f"{error} {error!r} {error.args}"
    assert ConfigError([text]).problems == ["GET http://u:***@h/"]


@pytest.mark.parametrize("style", ["plain", "json"])
def test_all_log_lines(style: Literal["plain", "json"], capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        logs.set_up(style)
        try:
            raise ValueError(f"with X-Auth-Token: {FERNET}")
        except ValueError:
            logging.getLogger("any").exception("from %s", "http://u:hunter22@h/")
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    printed = capsys.readouterr().err
    assert "ValueError" in printed
    assert "http://u:***@h/" in printed
    assert "hunter22" not in printed
    assert "gAAAA" not in printed


@pytest.mark.parametrize("style", ["plain", "json"])
def test_the_log_lines_of_gunicorn(style: Literal["plain", "json"], capsys: pytest.CaptureFixture[str]) -> None:
    own = {handler: handler.formatter for handler in logging.getLogger().handlers}
    log = logs.gunicorn_logger(style)(Config())
    try:
        log.error("from %s", "http://u:hunter22@h/")
    finally:
        log.error_log.handlers.clear()
        for handler, formatter in own.items():  # pytest's, which it has added to gunicorn's logger as well
            handler.setFormatter(formatter)
    written = capsys.readouterr().err
    assert "http://u:***@h/" in written
    assert "hunter22" not in written
