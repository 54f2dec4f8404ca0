"""Fixtures: a cloud of real services from PyPI around the session's Keystone, each started when it is first asked for.

They are shared by all tests of a session, so a test works in a project of its own, or puts back what it changes.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.integration.whole.house import House
from tests.support.cinder import RealCinder, start_cinder
from tests.support.glance import start_glance
from tests.support.keystone import RealKeystone
from tests.support.neutron import RealNeutron, start_neutron
from tests.support.nova import start_nova
from tests.support.nova_cloud import AGGREGATES, NovaCloud, NovaThings, make_things
from tests.support.openstack_client import OpenStackClient
from tests.support.postgres import PostgresServer
from tests.support.real import RealVenv
from tests.support.swift import RealSwift, start_swift

NOVA_PAGE_SIZE = 2
"""The most that Nova has on a page, so that three of anything are on two pages."""

OpenStackClients = Callable[[Mapping[str, str]], OpenStackClient]

CLUSTER = {
    "discovery": {"method": "list", "only_domains": "^east$"},
    "services": [
        {"service_type": "compute", "type": "compute", "params": {"with_subresources": True}},
        {"service_type": "network", "type": "network", "params": {"with_network_subresources": True}},
        {"service_type": "object-store", "type": "object-store", "params": {}},
        {
            "service_type": "placement",
            "type": "placement",
            "params": {
                "area": "compute",
                "resources": {"vcpus": "VCPU", "memory": "MEMORY_MB"},
                "quota": {"store": "placement"},
                "with_subresources": True,
            },
        },
        {
            "service_type": "volumev2",
            "type": "volumev2",
            "params": {"volume_types": ["fast", "slow"], "max_age": 0, "with_volume_subresources": True},
        },
    ],
    "capacitors": [
        {"id": "nova", "type": "nova", "params": {"hypervisor_selection": {"aggregate_name_pattern": "^vc-"}}},
        {
            "id": "cinder",
            "type": "cinder",
            "params": {
                "service": "volumev2",
                "volume_types": {
                    "fast": {"volume_backend_name": "fast", "default": True},
                    "slow": {"volume_backend_name": "slow"},
                },
            },
        },
    ],
    "subresource_lifetimes": {
        "resources": [{"resource": "(compute/instances|network/networks|placement/vcpus|volumev2/volumes.*)"}]
    },
}
"""What the cloud's Limes manages: one service for each kind of plugin, all found in Keystone's catalog."""


@pytest.fixture(scope="session")
def neutron(
    real_venv: RealVenv, keystone: RealKeystone, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealNeutron]:
    """This session's Neutron."""
    server = start_neutron(real_venv, tmp_path_factory.mktemp("neutron"), keystone.credentials("placement"))
    keystone.set_endpoint("network", server.url)
    yield server
    server.process.stop()


@pytest.fixture(scope="session")
def cinder(
    real_venv: RealVenv, keystone: RealKeystone, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealCinder]:
    """This session's Cinder, with the volume types `fast` (in az-one) and `slow` (in az-two)."""
    server = start_cinder(real_venv, tmp_path_factory.mktemp("cinder"), keystone.credentials("placement"))
    keystone.set_endpoint("block-storage", f"{server.url}/v3/%(project_id)s")
    server.make_types(keystone)
    yield server
    server.process.stop()


@pytest.fixture(scope="session")
def swift(real_venv: RealVenv, keystone: RealKeystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSwift]:
    """This session's Swift."""
    server = start_swift(real_venv, tmp_path_factory.mktemp("swift"), keystone.credentials("placement"))
    keystone.set_endpoint("object-store", f"{server.url}/v1/AUTH_%(project_id)s")
    yield server
    server.process.stop()


@pytest.fixture(scope="session")
def new_database(postgres: PostgresServer) -> Iterator[Callable[[], str]]:
    """Gives the URL of a further PostgreSQL database with each call, which stays for the session."""
    names: list[str] = []

    def make() -> str:
        names.append(postgres.create_database())
        return postgres.url(names[-1])

    yield make
    for name in names:
        postgres.drop_database(name)


@pytest.fixture(scope="session")
def cloud_house(
    keystone: RealKeystone, new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """A Limes that manages the cloud, of which only the Placement runs: it is the one that Nova uses."""
    house = House(tmp_path_factory.mktemp("cloud"), new_database(), keystone, CLUSTER)
    upgraded = house.command("db", "upgrade")
    assert upgraded.returncode == 0, upgraded.stderr
    house.start("placement")
    yield house
    house.stop()


@pytest.fixture(scope="session")
def _nova_things(
    real_venv: RealVenv,
    keystone: RealKeystone,
    neutron: RealNeutron,
    cloud_house: House,
    new_database: Callable[[], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[NovaThings]:
    """This session's Nova, with three hypervisors that are fakes, in aggregates in two AZs."""
    credentials = keystone.credentials("placement")
    with contextlib.ExitStack() as stack:
        glance = start_glance(real_venv, tmp_path_factory.mktemp("glance"), credentials)
        stack.callback(glance.process.stop)
        keystone.set_endpoint("image", glance.url)
        nova = start_nova(
            real_venv,
            tmp_path_factory.mktemp("nova"),
            credentials,
            new_database,
            placement_url=cloud_house.placement_url,
            hosts=[host for _, host in AGGREGATES.values()],
            page_size=NOVA_PAGE_SIZE,
        )
        stack.callback(nova.process.stop)
        keystone.set_endpoint("compute", nova.url)
        yield make_things(keystone)


@pytest.fixture(scope="module")
def nova(keystone: RealKeystone, cloud_house: House, _nova_things: NovaThings) -> Iterator[NovaCloud]:
    """The session's Nova, with its Placement in the catalog: other modules have another one there."""
    other = keystone.endpoint("placement")
    keystone.set_endpoint("placement", cloud_house.placement_url)
    yield NovaCloud(keystone, _nova_things)
    keystone.set_endpoint("placement", other)


@pytest.fixture(scope="module")
def openstack(real_venv: RealVenv, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenStackClients]:
    """`openstack(login)` gives an openstack client; `login` are a password login's parameters."""
    folder = tmp_path_factory.mktemp("openstack")
    with contextlib.ExitStack() as stack:

        def start(login: Mapping[str, str]) -> OpenStackClient:
            return stack.enter_context(contextlib.closing(OpenStackClient(real_venv, folder, login)))

        yield start
