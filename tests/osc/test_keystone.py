"""With a real Keystone: every way to log in, names that are looked up there, and the token's own domain and project."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.osc.client import OpenStackClient, User
from tests.support.keystone import RealKeystone
from tests.support.keystone_seed import REGION
from tests.support.processes import ServerProcess, free_port, http_answers

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
CORES = "-f value -c Quota --resource cores"


@dataclass(frozen=True)
class Limes:
    """Its address, and the file that is its backend."""

    url: str
    backend: Path


@pytest.fixture(scope="module")
def limes(keystone: RealKeystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limes]:
    """Limes in Keystone's catalog, with a service `compute` whose backend is a file."""
    folder = tmp_path_factory.mktemp("limes")
    login = keystone.credentials("limes")
    address = f"127.0.0.1:{free_port()}"
    resources = {"cores": {"quota": 0, "usage": 2}, "ram": {"unit": "MiB", "quota": 0, "usage": 512}}
    backend = folder / "backend.json"
    params = {"area": "compute", "state_file": str(backend), "resources": resources}
    document = {
        "availability_zones": ["az-one"],
        "discovery": {"method": "list", "only_domains": "^(north|south)$"},
        "services": [{"service_type": "compute", "type": "static", "params": params}],
        "database": {"url": f"sqlite:///{folder}/limes.db"},
        "api": {"listen": address, "workers": 1},
        "collector": {"listen": f"127.0.0.1:{free_port()}"},
        "identity": {"keystone": {key: value for key, value in login.items() if key != "password"}},
    }
    (folder / "limes.yaml").write_text(yaml.safe_dump(document))
    env = {
        "LIMES_CONFIG": str(folder / "limes.yaml"),
        "LIMES_IDENTITY_PASSWORD": login["password"],
        "pythonpath": f"{ROOT}:{ROOT / 'plugins'}",
    }
    engine = Engine(document["database"]["url"])
    limes_migrations.upgrade(engine)
    engine.close()
    program = [sys.executable, "-m", "limes"]
    once = subprocess.run(
        [*program, "collect", "--once"], env={**os.environ, **env}, capture_output=True, text=True, timeout=200
    )
    assert once.returncode == 0, once.stdout + once.stderr
    before = keystone.endpoint("resources")
    ready = http_answers(f"http://{address}/healthcheck")
    with ServerProcess([*program, "api"], ready=ready, log=folder / "api.log", env=env):
        keystone.set_endpoint("resources", f"http://{address}")
        yield Limes(f"http://{address}", backend)
    keystone.set_endpoint("resources", before)


@pytest.fixture
def in_clouds_yaml(limes: Limes, keystone: RealKeystone, openstack: OpenStackClient) -> Iterator[Callable[..., User]]:
    """`in_clouds_yaml(auth, auth_type=...)` gives a user with that login in clouds.yaml."""
    file = openstack.home / "clouds.yaml"

    def user(auth: dict[str, Any], **more: Any) -> User:
        cloud = {"auth": {"auth_url": keystone.url, **auth}, "region_name": REGION, **more}
        file.write_text(yaml.safe_dump({"clouds": {"lab": cloud}}))
        return User(openstack, {"OS_CLOUD": "lab"})

    yield user
    file.unlink(missing_ok=True)


@pytest.fixture
def operator(in_clouds_yaml: Callable[..., User], keystone: RealKeystone) -> User:
    return in_clouds_yaml(keystone.credentials("operator"))


def of_domain(keystone: RealKeystone) -> dict[str, str]:
    """The login of north's admin for the domain."""
    login = keystone.credentials("north-admin")
    return {key: value for key, value in login.items() if not key.startswith("project_")} | {
        "domain_id": keystone.ids.domains["north"]
    }


def test_each_level_by_its_own_admin(
    in_clouds_yaml: Callable[..., User], keystone: RealKeystone, operator: User
) -> None:
    # names in other domains than the operator's own
    operator.must("domain set north --set compute/cores=100 --set compute/ram=1TiB")
    assert operator.must(f"domain show north {CORES}") == "100\n"
    operator.must(f"project set {keystone.ids.projects['munich']} --set compute/cores=0")

    # names that Keystone does not show to this user, but Limes does; the domain is the token's
    admin = in_clouds_yaml(of_domain(keystone))
    assert admin.must(f"domain show {CORES}") == "100\n"
    admin.must("project set berlin --set compute/cores=+40")
    listed = admin.must("project list -f value -c 'Project Name' --resource cores").split()
    assert sorted(listed) == ["berlin", "dresden", "hamburg"]
    assert "domain quota exceeded (at most 60)" in admin.refused("project set hamburg --set compute/cores=61")
    assert "there is no project 'munich'" in admin.refused("project show munich")

    # the token's own project
    member = in_clouds_yaml(keystone.credentials("berlin-member", "berlin"))
    assert member.must(f"project show {CORES}") == member.must(f"project show berlin {CORES}") == "40\n"
    [change] = member.json("project history --resource cores --limit 1")
    assert (change["by"], change["old"], change["new"]) == ("north-admin", 0, 40)
    assert "not allowed to" in member.refused("project set --set compute/cores=50")
    said = member.refused("project show dresden")
    assert "('dresden' was taken for an ID, as this user may not look up projects by name)" in said


def test_os_variables(limes: Limes, keystone: RealKeystone, openstack: OpenStackClient) -> None:
    login = keystone.credentials("auditor")
    env = {f"OS_{key.upper()}": value for key, value in login.items()}
    auditor = User(openstack, {**env, "OS_REGION_NAME": REGION, "OS_IDENTITY_API_VERSION": "3"})
    assert {one["domain_name"] for one in auditor.json("domain list")} == {"north", "south"}
    assert auditor.json("project show vienna --domain south --resource cores")[0]["usage"] == 2
    assert auditor.run("scrape error list").status == 0


def test_an_application_credential(in_clouds_yaml: Callable[..., User], keystone: RealKeystone) -> None:
    made = keystone.application_credential("berlin-admin", "berlin")
    auth = {"application_credential_id": made["id"], "application_credential_secret": made["secret"]}
    admin = in_clouds_yaml(auth, auth_type="v3applicationcredential")
    assert admin.json("project show --resource cores")[0]["usage"] == 2
    admin.must("project sync")


def test_where_limes_is(in_clouds_yaml: Callable[..., User], keystone: RealKeystone, limes: Limes) -> None:
    auth = keystone.credentials("operator")
    elsewhere = in_clouds_yaml(auth, region_name="nowhere")
    assert "where is Limes? Keystone's catalog has no service of type 'resources'" in elsewhere.refused("cluster show")
    assert elsewhere.run("cluster show", OS_LIMES_ENDPOINT=limes.url).status == 0
    assert (
        in_clouds_yaml(auth, region_name="nowhere", resources_endpoint_override=limes.url).run("cluster show").status
        == 0
    )


def test_names_that_are_none(operator: User) -> None:
    assert operator.refused("domain show nope") == "there is no domain 'nope'; there are: north, south\n"
    assert operator.refused("project show viena") == "there is no project 'viena'; did you mean vienna?\n"


def test_what_is_new_in_keystone(operator: User, keystone: RealKeystone) -> None:
    assert operator.json("project discover --domain north") == []
    bonn = keystone.create_project("bonn", "north")
    assert operator.json("project discover --domain north") == [{"project_id": bonn}]
    assert operator.json("domain discover") == []
    keystone.delete_project("bonn")


def test_a_backend_that_cannot_be_told(operator: User, limes: Limes) -> None:
    operator.must("domain set south --set compute/cores=10")
    limes.backend.unlink(missing_ok=True)
    limes.backend.mkdir()
    outcome = operator.run("project set vienna --set compute/cores=10")
    assert (outcome.status, outcome.out) == (0, "compute/cores: 0 -> 10 (+10)\n")
    assert "quotas have been accepted, but some error(s) occurred" in outcome.errors
    assert operator.must(f"project show vienna {CORES}") == "10\n"
