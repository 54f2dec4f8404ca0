"""`limes placement import` from the OpenStack project's own Placement."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from limes.app.cli import main
from tests.placement.world import World, all_rows, claim, uuid_of
from tests.support.faulty_keystone import faulty_keystone
from tests.support.keystone import RealKeystone
from tests.support.rows import changes
from tests.support.upstream_placement import PlacementFactory, UpstreamPlacement

ROOT = Path(__file__).parents[3]
HOSTS, SERVERS = 6, 8

DIE_AFTER_WRITES = """
import os, signal, sys
from limes.placement.transfer import api
send, left = api.LocalApi.send, [int(sys.argv[1])]
def dying(self, *arguments, **more):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return send(self, *arguments, **more)
api.LocalApi.send = dying
from limes.app.cli import main
sys.exit(main(sys.argv[2:]))
"""


class Source:
    """A Placement of the OpenStack project, as an administrator fills it."""

    def __init__(self, url: str, token: str = "admin") -> None:
        self.url = url
        self._headers = {"X-Auth-Token": token}

    def must(self, method: str, path: str, body: Any = None, version: str = "1.38") -> Any:
        """A request that has to succeed."""
        headers = {**self._headers, "OpenStack-API-Version": f"placement {version}"}
        answer = requests.request(method, self.url + path, headers=headers, json=body, timeout=30)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def set(self, name: str, what: str, value: Any) -> None:
        """Replaces the inventories, traits or aggregates of a provider."""
        generation = self.must("GET", f"/resource_providers/{uuid_of(name)}")["generation"]
        body = {what: value, "resource_provider_generation": generation}
        self.must("PUT", f"/resource_providers/{uuid_of(name)}/{what}", body)

    def provider(self, name: str, parent: str | None = None, **inventories: Any) -> None:
        """A provider with inventory."""
        body = {"name": name, "uuid": uuid_of(name)} | ({"parent_provider_uuid": uuid_of(parent)} if parent else {})
        self.must("POST", "/resource_providers", body)
        self.set(name, "inventories", inventories)

    def allocate(self, name: str, project: str = "p1", kind: str = "INSTANCE", **parts: Any) -> None:
        """Allocations of a new consumer."""
        self.must("PUT", f"/allocations/{uuid_of(name)}", claim(None, project=project, kind=kind, **parts))

    def fill(self) -> None:
        """Nested trees, sharing providers, consumers of several types and projects, one of them over capacity."""
        self.must("PUT", "/resource_classes/CUSTOM_NPU")
        self.must("PUT", "/traits/CUSTOM_RACK")
        self.provider("share", DISK_GB={"total": 2000, "reserved": 10, "step_size": 5})
        self.set("share", "traits", ["MISC_SHARES_VIA_AGGREGATE"])
        self.set("share", "aggregates", [uuid_of("agg")])
        for number in range(HOSTS):
            host = f"h{number}"
            self.provider(host, MEMORY_MB={"total": 8192, "reserved": 512, "allocation_ratio": 1.5})
            self.set(host, "aggregates", [uuid_of("agg"), uuid_of(f"az{number % 2}")])
            self.provider(f"{host}n", host, VCPU={"total": 8, "allocation_ratio": 4.0}, PCPU={"total": 4})
            self.set(f"{host}n", "traits", ["HW_NUMA_ROOT", "CUSTOM_RACK"])
            self.provider(f"{host}g", f"{host}n", CUSTOM_NPU={"total": 2, "max_unit": 1})
        for number in range(SERVERS):
            host = f"h{number % HOSTS}"
            parts = {host: {"MEMORY_MB": 1024}, f"{host}n": {"VCPU": 2, "PCPU": 1}, "share": {"DISK_GB": 20}}
            self.allocate(f"s{number}", f"p{number % 3}", **parts)
        self.allocate("mig", "p1", "MIGRATION", h0n={"VCPU": 1}, h0g={"CUSTOM_NPU": 1})
        old = claim(None, h1n={"VCPU": 3})
        del old["consumer_type"]
        self.must("PUT", f"/allocations/{uuid_of('old')}", old, version="1.37")
        self.set("h2n", "inventories", {"VCPU": {"total": 1}, "PCPU": {"total": 4}})


@pytest.fixture(scope="module")
def filled(upstream_placement_factory: PlacementFactory) -> Source:
    """A source for tests that only read."""
    source = Source(upstream_placement_factory().url)
    source.fill()
    return source


@dataclass
class Command:
    """`limes placement import` into the database at `url`."""

    url: str
    config: Path
    capsys: Any

    def configure(self, **identity: Any) -> None:
        """Writes the configuration file."""
        document = {
            "availability_zones": ["az-one"],
            "discovery": {"method": "list"},
            "services": [
                {"service_type": "x", "type": "static", "params": {"area": "x", "resources": {"y": {"usage": 0}}}}
            ],
            "database": {"url": self.url},
            "identity": identity or {"method": "noauth"},
        }
        self.config.write_text(yaml.safe_dump(document))

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        state = str(self.config.parent / "state")
        code = main(["placement", "import", "--config", str(self.config), "--state", state, *arguments])
        out, err = self.capsys.readouterr()
        return code, out, err

    def killed_after(self, writes: int, *arguments: str) -> int:
        """Runs it in a process that dies by SIGKILL; answers its exit code."""
        command = [sys.executable, "-c", DIE_AFTER_WRITES, str(writes), "placement", "import"]
        env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}"}
        done = subprocess.run(
            [*command, "--config", str(self.config), "--state", str(self.config.parent / "state"), *arguments],
            env=env,
            capture_output=True,
            timeout=200,
        )
        return done.returncode


@pytest.fixture
def command(target_url: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("LIMES_CONFIG", "")
    command = Command(target_url, tmp_path / "limes.yaml", capsys)
    command.configure()
    return command


@pytest.fixture
def server(keystone: RealKeystone, upstream_placement_with_keystone: UpstreamPlacement) -> Iterator[Source]:
    """A source that validates tokens, with one provider of its own for this test."""
    source = Source(upstream_placement_with_keystone.url, keystone.project_token("placement", "service"))
    name = f"import-{uuid.uuid4()}"
    made = source.must("POST", "/resource_providers", {"name": name})
    yield source
    source.must("DELETE", f"/resource_providers/{made['uuid']}")


SUMMARY = f"{3 * HOSTS + 1} providers and {SERVERS + 2} consumers there, {3 * HOSTS + 1} and {SERVERS + 2} here"


def test_the_whole_cloud(filled: Source, command: Command, target: World) -> None:
    code, out, err = command("--from", filled.url, "--token", "admin")
    assert (code, out) == (0, f"{SUMMARY}: 0 differences.\n"), err
    assert "refused" not in err
    assert f"writing providers: {3 * HOSTS + 1}" in err.splitlines()
    # not only by the command's own word
    for path in (
        f"/resource_providers/{uuid_of('h2n')}/usages",
        f"/resource_providers/{uuid_of('h1n')}/traits",
        f"/resource_providers/{uuid_of('h1')}/aggregates",
        f"/resource_providers/{uuid_of('share')}/inventories",
        "/usages?project_id=p1",
        f"/allocations/{uuid_of('mig')}",
        f"/allocations/{uuid_of('old')}",
    ):
        assert plain(target.ok("GET", path, version="1.38")) == plain(filled.must("GET", path)), path
    query = (
        "/allocation_candidates?resources=MEMORY_MB:512,VCPU:1,DISK_GB:10&resources_N=CUSTOM_NPU:1&group_policy=none"
    )
    ours, theirs = target.ok("GET", query), filled.must("GET", query, version="1.39")
    assert len(theirs["allocation_requests"]) > 3

    def key(one: Any) -> list[Any]:
        return sorted((uuid, sorted(each["resources"].items())) for uuid, each in one["allocations"].items())

    assert sorted(map(key, ours["allocation_requests"])) == sorted(map(key, theirs["allocation_requests"]))

    before = all_rows(target.engine)
    assert command("--from", filled.url, "--token", "admin", "--prune")[0] == 0
    assert changes(before, all_rows(target.engine)) == {}


def plain(document: Any) -> Any:
    """Without generations, and lists in an order of their own."""
    if isinstance(document, dict):
        return {key: plain(value) for key, value in document.items() if "generation" not in key}
    return sorted(document) if isinstance(document, list) else document


def test_killed_in_the_middle(filled: Source, command: Command, target: World) -> None:
    arguments = ("--from", filled.url, "--token", "admin")
    for writes in (20, 10):
        assert command.killed_after(writes, *arguments) == -signal.SIGKILL
    half = all_rows(target.engine)
    assert 0 < sum(half["providers"].values()) < 3 * HOSTS + 1
    code, out, _ = command(*arguments)
    assert (code, out) == (0, f"{SUMMARY}: 0 differences.\n")


def test_a_difference_is_found_and_mended(filled: Source, command: Command, target: World) -> None:
    arguments = ("--from", filled.url, "--token", "admin")
    assert command(*arguments)[0] == 0
    target.ok("PUT", f"/allocations/{uuid_of('mig')}", claim(1, project="p1", kind="MIGRATION", h0n={"VCPU": 2}))
    before = all_rows(target.engine)
    code, out, _ = command(*arguments, "--verify-only")
    assert code == 1
    assert out.splitlines()[-1] == f"{SUMMARY}: 4 differences."
    document = json.loads(command(*arguments, "--verify-only", "--json")[1])
    assert document["differences"] == out.splitlines()[:-1]
    assert document["there"] == {"providers": 3 * HOSTS + 1, "consumers": SERVERS + 2}
    assert document["refused"] == []
    assert f"consumer {uuid_of('mig')}: resources: " in out
    assert f"provider {uuid_of('h0n')}: usages: {{'VCPU': 5, 'PCPU': 2}} there, {{'VCPU': 6, 'PCPU': 2}} here" in out
    assert f"provider {uuid_of('h0g')}: usages: {{'CUSTOM_NPU': 1}} there, {{'CUSTOM_NPU': 0}} here" in out
    assert changes(before, all_rows(target.engine)) == {}
    assert command(*arguments)[0] == 0


def test_with_the_configured_login(
    server: Source, command: Command, keystone: RealKeystone, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = keystone.credentials("limes")
    monkeypatch.setenv("LIMES_IDENTITY_PASSWORD", login.pop("password"))
    command.configure(keystone=login)
    code, out, err = command("--from", server.url)
    assert code == 0, out + err
    assert "0 differences" in out


@pytest.mark.parametrize("token", ["wrong", None])
def test_a_token_that_is_not_accepted(server: Source, command: Command, target: World, token: str | None) -> None:
    """Without --token, and without Keystone in the configuration, `admin` is what it would send."""
    before = all_rows(target.engine)
    code, out, err = command("--from", server.url, *(("--token", token) if token else ()))
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith(f"limes: GET {server.url}/resource_classes: HTTP 401")
    assert "wrong" not in err
    assert changes(before, all_rows(target.engine)) == {}


def test_nobody_there_and_no_placement_there(command: Command) -> None:
    with faulty_keystone() as faulty:
        assert command("--from", faulty.url, "--token", "t") == (
            1,
            "",
            f"limes: {faulty.url}: this is no Placement API\n",
        )
    code, out, err = command("--from", faulty.url, "--token", "t")
    assert (code, out) == (1, "")
    assert err.startswith(f"limes: GET {faulty.url}/: ")
    assert len(err.splitlines()) == 1
