"""The plugin `placement` on where usage is: our own Placement, a moment's answers that don't agree, and bad ones."""

from collections.abc import Iterator
from typing import Any

import pytest

from limes.backends import BackendError
from tests.backends.placement_cases import project_named, usages_for
from tests.backends.placement_zone_cases import ZoneCases, load
from tests.backends.quota_cases import report, used
from tests.backends.test_placement_ours import cloud  # noqa: F401 - a fixture
from tests.support.recorded import RecordedService

HOST, OTHER, AGGREGATE = (f"c0000000-0000-4000-8000-00000000000{n}" for n in range(3))
ALPHA = project_named("alpha")


class TestOurs(ZoneCases):
    """All of the cases."""


def version(*extensions: str) -> tuple[int, dict[str, Any]]:
    return 200, {"versions": [{"id": "v1.0", "extensions": list(extensions)}]}


def provider(uuid: str, name: str = "host", generation: int = 1) -> dict[Any, Any]:
    return {"uuid": uuid, "name": name, "root_provider_uuid": uuid, "generation": generation}


def group(**changes: Any) -> dict[Any, Any]:
    fields = {"consumer_type": "INSTANCE", "resource_provider_uuid": HOST, "resources": {"VCPU": 5}}
    return {"project_id": ALPHA.id, "root_provider_uuid": HOST, **fields, **changes}


@pytest.fixture
def recorded() -> Iterator[RecordedService]:
    """A Placement with the extension, one host and what a test puts into `answers`."""
    answers = {"groups": [group()], "version": version("usage_groups"), "listed": [provider(HOST)]}
    service = RecordedService(
        {
            ("GET", "/"): lambda request: answers["version"],
            ("GET", "/usage_groups"): lambda request: (200, {"usage_groups": answers["groups"]}),
            ("GET", "/resource_providers"): lambda request: (200, {"resource_providers": answers["listed"]}),
            ("GET", "/usages"): lambda request: (
                200,
                {"usages": usages_for(request, {"INSTANCE": {"VCPU": 9, "consumer_count": 1}})},
            ),
        }
    )
    service.answers = answers
    yield service
    service.close()


def test_one_request_for_each_project_and_what_all_share_is_kept(recorded: RecordedService) -> None:
    backend = load(recorded, {"az-one": AGGREGATE}, max_age=3600)
    for _ in range(5):
        assert used(backend, ALPHA) == {"cores": {"az-one": 5}}
    assert recorded.count("GET", "/usage_groups") == 5
    assert recorded.count("GET", "/") == 1
    assert recorded.count("GET", "/resource_providers") == 2  # all, and the members of the aggregate
    [asked] = {str(one.query) for one in recorded.asked if one.path == "/usage_groups"}
    assert ALPHA.id in asked


def test_a_provider_that_is_deleted_while_we_read(recorded: RecordedService) -> None:
    recorded.answers["groups"] = [group(), group(resource_provider_uuid=OTHER, resources={"VCPU": 2})]
    assert used(load(recorded, {"az-one": AGGREGATE}), ALPHA) == {"cores": {"az-one": 5, "unknown": 2}}


@pytest.mark.parametrize(
    "groups",
    [
        None,
        {},
        [5],
        [group(resources=None)],
        [group(resources={"VCPU": -1})],
        [group(resources={"VCPU": "5"})],
        [group(resource_provider_uuid=None)],
        [group(consumer_type=5)],
    ],
)
def test_malformed_groups_are_errors(recorded: RecordedService, groups: dict[Any, Any] | list[Any] | None) -> None:
    recorded.answers["groups"] = groups
    with pytest.raises(BackendError, match="GET /usage_groups: "):
        report(load(recorded, {"az-one": AGGREGATE}), ALPHA)


def test_consumers_without_uuids_are_errors(recorded: RecordedService) -> None:
    with pytest.raises(BackendError, match="consumer_uuid"):
        report(load(recorded, {"az-one": AGGREGATE}, with_subresources=True), ALPHA)


@pytest.mark.parametrize("listed", [None, [{}], [{**provider(HOST), "generation": "x"}]])
def test_malformed_providers_are_errors(recorded: RecordedService, listed: list[dict[Any, Any]] | None) -> None:
    recorded.answers["listed"] = listed
    with pytest.raises(BackendError, match="GET /resource_providers: "):
        report(load(recorded, {"az-one": AGGREGATE}), ALPHA)


@pytest.mark.parametrize(
    "document", [(404, {}), version(), version("quotas"), (200, {}), (200, {"versions": []}), (200, {"versions": [{}]})]
)
def test_without_the_extension_it_is_not_asked_for(recorded: RecordedService, document: tuple[Any, ...]) -> None:
    recorded.answers["version"] = document
    backend = load(recorded, {"az-one": AGGREGATE}, read_allocations=False)
    assert used(backend, ALPHA) == {"cores": {"any": 9}}
    assert recorded.count("GET", "/usage_groups") == 0


def test_without_zones_nothing_but_usages_is_asked_for(recorded: RecordedService) -> None:
    assert used(load(recorded, {}), ALPHA) == {"cores": {"any": 9}}
    assert [one.path for one in recorded.asked] == ["/usages"]
