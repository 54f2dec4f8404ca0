"""What the plugins' tests share."""

from typing import Any

import pytest

pytest.register_assert_rewrite("limes.backends.contract")

from limes.backends import DomainInfo, ProjectInfo  # noqa: E402 - the rewriting has to be asked for before the import
from limes.backends.loader import Backends, BackendSpec, load  # noqa: E402 - the rewriting has to be asked for before the import

STATIC_DISCOVERY = BackendSpec(
    "discovery",
    "static",
    "static",
    {"domains": [{"id": "d1", "name": "one", "projects": [{"id": "p1", "name": "alpha", "parent_id": "d1"}]}]},
    "method",
)

AZS = ("az-one", "az-two")


def load_quota(plugin: str, params: dict, name: str = "compute", **options: Any) -> Backends:
    """Loads one quota plugin, as from `services[0]`."""
    spec = BackendSpec("services[0]", name, plugin, params)
    return load([spec], [], STATIC_DISCOVERY, availability_zones=AZS, **options)


def load_capacity(plugin: str, params: dict, **options: Any) -> Backends:
    """Loads one capacity plugin, as from `capacitors[0]`."""
    spec = BackendSpec("capacitors[0]", "under-test", plugin, params)
    return load([], [spec], STATIC_DISCOVERY, availability_zones=AZS, **options)


@pytest.fixture
def project() -> ProjectInfo:
    return ProjectInfo("p1", "alpha", "d1", DomainInfo("d1", "one"))


@pytest.fixture
def other_project() -> ProjectInfo:
    return ProjectInfo("p2", "beta", "d1", DomainInfo("d1", "one"))


@pytest.fixture
def new_project() -> ProjectInfo:
    return ProjectInfo("p-new", "new", "d1", DomainInfo("d1", "one"))
