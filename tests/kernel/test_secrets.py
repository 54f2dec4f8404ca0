"""A server that tells back what it was sent, and a URL with a password in it: neither gets further than to us."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from limes.app.cli import main
from limes.kernel.outgoing import GuardedSession
from tests.kernel.askers import ASKERS, SECRET, Asker, whoever_asks
from tests.support.web_server import Answer, Request, WebServer, web_server

QUICKSTART = Path(__file__).parents[2] / "config" / "quickstart.yaml"


def echo(status: int, kind: str) -> Callable[[Request], Answer]:
    """Says what it was sent, as JSON or in plain words."""

    def answer(request: Request) -> Answer:
        told = f"{request.method} {request.path} with {dict(request.headers)} {request.body.decode()} was no good"
        if kind == "text/plain":
            return Answer(status, told.encode(), {"Content-Type": kind})
        return Answer(status, json.dumps({"error": {"code": status, "message": told}}).encode(), {"Content-Type": kind})

    return answer


@pytest.fixture(params=[(400, "application/json"), (403, "text/plain"), (500, "application/json"), (503, "text/plain")])
def server(request: pytest.FixtureRequest) -> Iterator[WebServer]:
    with web_server(echo(*request.param)) as running:
        yield running


@whoever_asks
def test_whoever_asks(asker: Asker, server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    asker.serve(server, server.answer)
    if asker is ASKERS["sign out"]:  # no failure, if Keystone says that the token is none
        server.answer = echo(500, "application/json")
    assert SECRET not in asker.fail(server, caplog, error=asker.refused)


def test_data_stay_as_they_are() -> None:
    """A token that is as short as a name, and what a document of an answer that is no error holds."""
    document = json.dumps({"user": "cloud-admin", "password": "policy", "token=x": 1}).encode()
    with web_server(lambda _: Answer(200, document)) as server:
        assert GuardedSession().get(server.url, headers={"X-Auth-Token": "cloud-admin"}).content == document


def test_error_documents_stay_documents() -> None:
    told = {"error": {"message": 'token="abc" and {"password": "x\\"y"}', "title": f"X-Auth-Token: {SECRET}"}}
    with web_server(lambda _: Answer(409, json.dumps(told).encode())) as server:
        answer = GuardedSession().get(server.url, headers={"X-Auth-Token": SECRET})
    assert answer.json()["error"]["title"] == "X-Auth-Token: ***"
    assert "abc" not in answer.text


@pytest.mark.parametrize(
    "command",
    [
        ("plugin", "test", "planted", "--project", "1a000000000000000000000000000001"),
        ("plugin", "get-usage", "planted", "1a000000000000000000000000000001"),
        ("plugin", "scan-capacity", "planted"),
        ("doctor",),
        ("doctor", "--json"),
    ],
)
def test_commands(
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With the port of discard, where nothing listens, and a password in each URL."""
    monkeypatch.chdir(tmp_path)
    url = f"http://limes:{SECRET}@127.0.0.1:9"
    document = yaml.safe_load(QUICKSTART.read_text())
    auth = {"auth": {"type": "token", "token": SECRET}}
    document["services"] = [
        *document["services"],
        {"service_type": "planted", "type": "network", "params": {"endpoint": url, **auth}},
    ]
    prometheus = {"api": {"url": url}, "queries": {"object-store": {"capacity": "1"}}}
    document["capacitors"] = [{"id": "planted", "type": "prometheus", "params": prometheus}]
    config = tmp_path / "limes.yaml"
    config.write_text(yaml.safe_dump(document))
    assert main([*command, "--config", str(config)]) != 0
    printed = capsys.readouterr()
    assert "127.0.0.1" in printed.out + printed.err
    assert SECRET not in printed.out + printed.err + caplog.text
