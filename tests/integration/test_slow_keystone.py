"""A real API with a Keystone that hangs: whatever clients wait for there, known tokens and health checks are answered."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
import yaml

from tests.auth.test_keystone_faults import settings_for
from tests.kernel.askers import logs_in
from tests.support.faulty_keystone import token_body
from tests.support.limes_process import limes_server, run_here
from tests.support.processes import free_port
from tests.support.web_server import Answer, Request, web_server

KNOWN = {"X-Auth-Token": "known"}
OWN = {"X-Limes-Dashboard": "1"}
ROLES = [{"id": "r", "name": "cloud_resource_admin"}]
THREADS, OF_EACH_KIND = 8, 6


class SlowKeystone:
    """Knows one token at once, and answers nothing else until `wake` is set."""

    def __init__(self) -> None:
        self.wake = threading.Event()

    def __call__(self, request: Request) -> Answer:
        if request.headers.get("X-Subject-Token") == "known" and request.method == "GET":
            return Answer(200, json.dumps(token_body(roles=ROLES)).encode())
        self.wake.wait(300)
        return Answer(404)


@pytest.fixture
def keystone() -> Iterator[tuple[str, SlowKeystone]]:
    slow = SlowKeystone()
    with web_server() as server:
        log_in = logs_in(server.url, slow)
        # everybody who signs in sends a password; Limes itself has its token from before
        server.answer = lambda request: slow(request) if b"of-somebody" in request.body else log_in(request)
        yield server.url, slow
        slow.wake.set()


@pytest.fixture
def api(tmp_path: Path, keystone: tuple[str, SlowKeystone]) -> Iterator[str]:
    """The address of an API with one worker."""
    url = f"http://127.0.0.1:{free_port()}"
    identity = settings_for(keystone[0], timeout=280).model_dump(mode="json", exclude_unset=True)
    identity["keystone"]["password"] = "our-own-password"
    document = {
        "availability_zones": ["az-one"],
        "discovery": {"method": "list"},
        "services": [{"service_type": "compute", "type": "static", "params": {"area": "c", "resources": {"cores": {}}}}],
        "database": {"url": f"sqlite:///{tmp_path}/limes.db"},
        "api": {
            "listen": url.removeprefix("http://"), "workers": 1, "threads": THREADS, "backend_timeout": 250
        },
        "identity": identity,
    }  # fmt: skip
    config = tmp_path / "limes.yaml"
    config.write_text(yaml.safe_dump(document))
    done = run_here("db", "upgrade", "--config", config)
    assert done.returncode == 0, done.stderr
    listen = url.removeprefix("http://")
    with limes_server("api", "--config", config, listen=listen, log=tmp_path / "api.log"):
        yield url


def _kinds(api: str) -> list[Callable[[int], requests.Response]]:
    """All that makes the API ask Keystone. Only the last one has a token."""
    session = f"{api}/ui/session"

    def password(number: int) -> requests.Response:
        body = {"method": "password", "user": f"u{number}", "user_domain": "d", "password": "of-somebody"}
        return requests.post(session, json=body, headers=OWN, timeout=400)

    def ask(method: str, url: str, headers: dict[str, str]) -> requests.Response:
        return requests.request(method, url, headers=headers, timeout=400)

    return [
        password,
        lambda n: ask("GET", f"{session}/scopes", OWN | {"X-Auth-Token": f"s{n}"}),
        lambda n: ask("GET", f"{api}/v1/domains", {"X-Auth-Token": f"a{n}"}),
        lambda n: ask("GET", session, OWN | {"Cookie": f"limes-session=ours|c{n}|c{n}"}),
        lambda n: ask("DELETE", session, OWN | {"X-Auth-Token": f"d{n}"}),
        lambda n: ask("POST", f"{api}/v1/domains/discover", KNOWN),
    ]


def test_known_tokens_and_health_checks_are_answered(api: str, keystone: tuple[str, SlowKeystone]) -> None:
    """Half of the threads wait for Keystone, and everybody else is told so."""
    _, slow = keystone
    assert requests.get(f"{api}/v1/domains", headers=KNOWN, timeout=200).status_code == 200
    refused = threading.Semaphore(0)
    early: list[tuple[int, str, str | None]] = []

    def run(kind: Callable[[int], requests.Response], number: int) -> int:
        answer = kind(number)
        if not slow.wake.is_set():
            early.append((answer.status_code, answer.text, answer.headers.get("Retry-After")))
            refused.release()
        return answer.status_code

    kinds = _kinds(api)
    with ThreadPoolExecutor(OF_EACH_KIND * len(kinds)) as pool:
        for number in range(OF_EACH_KIND):
            for kind in kinds:
                pool.submit(run, kind, number)
        try:
            for _ in range(OF_EACH_KIND * len(kinds) - THREADS // 2):
                assert refused.acquire(timeout=200), early
            for _ in range(5):
                assert requests.get(f"{api}/healthcheck", timeout=100).status_code == 200
                assert requests.get(f"{api}/v1/domains", headers=KNOWN, timeout=100).status_code == 200
            assert not refused.acquire(blocking=False)
            assert set(early) == {(503, "Keystone is slow, and too many requests wait for it; try again later\n", "5")}
        finally:
            slow.wake.set()
