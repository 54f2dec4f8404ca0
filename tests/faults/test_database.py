"""The database crashes, and another one takes its place."""

import re
import socket
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import requests

from tests.faults.house import TOKEN, FaultHouse, eventually, longer
from tests.faults.load import Users
from tests.setup.needs import HAPROXY
from tests.support.limes_process import ROOT
from tests.support.machine import require
from tests.support.postgres_cluster import PostgresCluster
from tests.support.processes import ServerProcess, free_port, http_answers

GUIDE = ROOT / "docs" / "guides" / "two-hosts.md"


class Disasters:
    """Users are at work until the moment of the disaster, so that nothing of later hides what it has taken; and others
    during and after it, for whom it has to work again."""

    def __init__(self, house: FaultHouse) -> None:
        self.house = house
        self.accepted = 0
        self.failed = 0
        self.in_flight = 0
        self._start = 0

    def strike(self, disaster: Callable[[], None]) -> None:
        """Lets it happen once."""
        before, after = (Users(self.house, start=self._start + step) for step in (0, 10_000))
        self._start += 20_000
        with before.at_work():
            eventually("they are at work", lambda: before.accepted >= 40)
            before.stop()
            disaster()
        before.check_nothing_is_lost()
        with after.at_work():
            eventually("it works again", lambda: after.accepted >= 20)
        after.check_nothing_is_lost()
        self.accepted += before.accepted + after.accepted
        self.failed += before.failed + after.failed
        self.in_flight += sum(map(len, before.unknown.values()))


def test_the_database_crashes_and_starts_again(
    house: FaultHouse, cluster: PostgresCluster, rounds: int, report: Callable[..., None]
) -> None:
    disasters = Disasters(house)

    def crash() -> None:
        cluster.primary.crash()
        time.sleep(0.5)
        cluster.primary.start()

    for _ in range(rounds):
        disasters.strike(crash)
    house.check_recovery()
    report(crashes=rounds, accepted=disasters.accepted, failed=disasters.failed, in_flight=disasters.in_flight)


@longer
def test_users_go_on_while_the_database_crashes(
    house: FaultHouse, cluster: PostgresCluster, rounds: int, report: Callable[..., None]
) -> None:
    with Users(house).at_work() as users:
        for _ in range(rounds):
            time.sleep(1.5)
            cluster.primary.crash()
            time.sleep(0.5)
            cluster.primary.start()
        time.sleep(1.5)
    assert users.failed
    users.check_nothing_is_lost()
    house.check_recovery()
    report(crashes=rounds, accepted=users.accepted, failed=users.failed)


def test_the_database_hangs(house: FaultHouse, cluster: PostgresCluster, report: Callable[..., None]) -> None:
    """All of its processes are stopped while all of the API's threads work with it, and go on later."""
    with Users(house).at_work() as users:
        eventually("users are at work", lambda: users.accepted >= 5)
        cluster.primary.hang()
        began_at = time.monotonic()
        for _ in range(50):
            assert house.request("GET", "/healthcheck").status_code == 503
        seconds = time.monotonic() - began_at
        cluster.primary.go_on()
        accepted = users.accepted
        eventually("it works again", lambda: users.accepted >= accepted + 20)
    users.check_nothing_is_lost()
    house.check_recovery()
    report(accepted=users.accepted, failed=users.failed, seconds=seconds)


def test_fail_over_to_a_synchronous_standby(
    house: FaultHouse, cluster: PostgresCluster, rounds: int, report: Callable[..., None]
) -> None:
    disasters = Disasters(house)
    for _ in range(rounds):
        cluster.add_standby()
        disasters.strike(cluster.fail_over)
    house.check_recovery()
    report(fail_overs=rounds, accepted=disasters.accepted, failed=disasters.failed, in_flight=disasters.in_flight)


@longer
def test_commits_that_no_standby_confirms_are_not_acknowledged(
    house: FaultHouse, cluster: PostgresCluster, rounds: int, report: Callable[..., None]
) -> None:
    """The standby is gone, an administrator cancels what waits for it, which PostgreSQL then calls a success, and the
    primary dies before the standby is back: what it alone had is lost, and nobody was told that it was there."""
    cancelled, accepted, failed = 0, 0, 0
    for number in range(rounds):
        cluster.add_standby()
        with Users(house, start=1_000_000 * (number + 1)).at_work() as users:
            time.sleep(2)
            cluster.standby.crash()
            for _ in range(40):
                time.sleep(0.2)
                cancelled += len(cluster.primary.execute(_CANCEL))
            users.stop()
            cluster.primary.crash()
            cluster.primary, cluster.standby = cluster.standby, cluster.primary
            cluster.primary.start()
            cluster.primary.promote()
            cluster.primary.configure("synchronous_standby_names", "")
        users.check_nothing_is_lost()
        accepted += users.accepted
        failed += users.failed
    assert cancelled > 10
    report(accepted=accepted, failed=failed, cancelled=cancelled)


_CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


def documented_haproxy(house: FaultHouse, folder: Path) -> ServerProcess:
    """With the defaults of the guide, in front of the house's API."""
    (defaults,) = re.findall(r"^defaults\n.*?(?=^frontend)", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    address = f"127.0.0.1:{free_port()}"
    (hidden,) = set(re.findall(r"^    http-request deny .*\n", GUIDE.read_text(), re.MULTILINE))
    hosts = f"listen limes\n    bind {address}\n{hidden}    server limes1 {house.api_url.removeprefix('http://')}\n"
    file = folder / "haproxy.cfg"
    file.write_text(defaults.replace("log global", "log stdout format raw local0") + hosts)
    ready, log = http_answers(f"http://{address}/healthcheck"), folder / "haproxy.log"
    return ServerProcess([require(HAPROXY), "-db", "-f", file], ready=ready, log=log)


def health_checks(house: FaultHouse) -> int:
    text = house.request("GET", "/metrics").text
    counts = re.findall(
        r'^httpmux_response_duration_seconds_count{.*endpoint="/healthcheck".* (\S+)$', text, re.MULTILINE
    )
    return sum(int(float(count)) for count in counts)


def test_limes_answers_for_itself_while_the_database_is_away(
    house: FaultHouse, cluster: PostgresCluster, tmp_path: Path
) -> None:
    """Behind the documented HAProxy, and without a pause when the database is back."""
    with documented_haproxy(house, tmp_path) as proxy, requests.Session() as session:
        session.trust_env = False
        url = f"http://{re.findall('bind (.*)', (tmp_path / 'haproxy.cfg').read_text())[0]}"

        def ask(path: str = "/v1/domains") -> requests.Response:
            return session.get(url + path, headers={"X-Auth-Token": TOKEN}, timeout=200)

        assert ask().status_code == 200
        with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), 100) as client:
            client.sendall(b"GET /%6detrics HTTP/1.0\r\n\r\n")  # requests would write it as /metrics
            assert client.recv(12).endswith(b" 403"), "metrics are hidden, however they are spelt"
        cluster.primary.crash()
        checked = health_checks(house)
        eventually("HAProxy has asked", lambda: health_checks(house) >= checked + 5)
        assert ask("/healthcheck").status_code == 503
        refused = ask()
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5"), proxy.log_text()
        assert refused.text.startswith("the database does not answer")
        cluster.primary.start()
        assert ask().status_code == 200
